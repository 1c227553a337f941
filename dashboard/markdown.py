"""Texts for the page: those that came from a visitor's table made safe, and errors in the words of the page."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, count

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

JOINER = "\u2060"
"""A mark without width, which no address has inside."""
BEGUN = re.compile(r"https?:(?=//)|www(?=\.)|@(?=[-\w])|:(?=[a-z])", re.IGNORECASE)
"""Beginnings of addresses and of icons, which Markdown looks for in finished text, where backslashes are gone."""


def escaped(text: str) -> str:
    """A text as it is, on one line, wherever the page expects Markdown: no emphasis, formulas, links or colours.

    Names, values, captions, files and whatever else comes from a table, a recipe or a visitor reach a page through this
    function alone. Addresses get a mark without width, so that none of them becomes a link.
    """
    broken = BEGUN.sub(lambda found: found[0] + JOINER, " ".join(text.split()))
    return "".join(f"\\{letter}" if letter in SPECIAL else letter for letter in broken)


def distinct(names: Iterable[str]) -> list[str]:
    """The names, with a number behind each that was there before."""
    found: dict[str, None] = {}
    for name in names:
        numbered = chain([name], (f"{name} ({number})" for number in count(2)))
        found[next(one for one in numbered if one not in found)] = None
    return list(found)


def few(texts: Sequence[str], most: int, between: str = ", ") -> str:
    """The first of many texts, and how many there are more."""
    shown = between.join(texts[:most])
    return shown if len(texts) <= most else f"{shown} and {len(texts) - most:,} more"


def reason(error: AnonymizationError) -> str:
    """Why something cannot be had, in the words of the page."""
    return in_page_words(str(error))


def in_page_words(text: str) -> str:
    """A sentence of the library in the words of the page."""
    for told, here in IN_PAGE_WORDS.items():
        text = text.replace(told, here)
    return text
