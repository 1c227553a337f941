"""The page Data."""

from __future__ import annotations


def render() -> None:
    """Draw the page."""
