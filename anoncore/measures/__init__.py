"""Every number that can be told of a release, and what it means."""
