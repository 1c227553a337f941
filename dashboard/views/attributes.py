"""The page Attributes."""

from __future__ import annotations


def render() -> None:
    """Draw the page."""
