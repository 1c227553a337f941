"""Texts for the page: those that came from a visitor's table made safe, and errors in the words of the page."""

from __future__ import annotations

from collections.abc import Mapping

from anoncore import AnonymizationError
from anoncore.release.reading.published_values import ADVICE
from anoncore.release.release import ASK_INSTEAD
from anoncore.utility.two_way import AT_MOST
from anoncore.utility.two_way_bound import OR_VALUES

IN_PAGE_WORDS: Mapping[str, str] = {
    'say rows="synthetic" for a table whose rows are nobody\'s': "open it again and say that its rows are nobody's",
    ADVICE: "Open it beside the table that it was made of to see this.",
    OR_VALUES: "",
    AT_MOST: "The board tells how large it can be at most.",
    ASK_INSTEAD: "What it gives away is asked on the page Attack, In or out, with people who are not in the table.",
}
"""What people do here instead of what a program in Python is told to do."""
SPECIAL = frozenset("\\`*_{}[]()#+-.!|<>$:~&")


def escaped(text: str) -> str:
    """A text as it is, on one line, wherever the page expects Markdown: no emphasis, formulas, links or colours."""
    return "".join(f"\\{letter}" if letter in SPECIAL else letter for letter in " ".join(text.split()))


def reason(error: AnonymizationError) -> str:
    """Why something cannot be had, in the words of the page."""
    text = str(error)
    for told, here in IN_PAGE_WORDS.items():
        text = text.replace(told, here)
    return text
