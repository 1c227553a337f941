"""The version of the program, in one place that every room may read."""

__version__ = "0.1.0"
