"""The command line."""

from anoncore.cli.command import main

__all__ = ["main"]
