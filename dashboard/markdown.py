"""Text that came from a visitor's table, made safe to write on the page."""

from __future__ import annotations

SPECIAL = frozenset("\\`*_{}[]()#+-.!|<>$:~&")


def escaped(text: str) -> str:
    """A text as it is, on one line, wherever the page expects Markdown: no emphasis, formulas, links or colours."""
    return "".join(f"\\{letter}" if letter in SPECIAL else letter for letter in " ".join(text.split()))
