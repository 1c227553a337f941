"""An office's rules as data: what a release has to keep before it leaves the house, and whether it does."""
