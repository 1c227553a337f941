"""The board: what is asked of every release, the releases that are made for it, and what its cells show."""
