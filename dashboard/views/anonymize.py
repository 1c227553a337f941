"""The page Anonymize."""

from __future__ import annotations


def render() -> None:
    """Draw the page."""
