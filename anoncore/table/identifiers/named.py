"""What the name of a column says that it holds, where its values may be that."""

from __future__ import annotations

import re

from anoncore.table.column_words import PEOPLE
from anoncore.table.identifiers.column_values import ColumnValues
from anoncore.table.identifiers.words import KIND_WORDS

FEWEST, FEWEST_SHARE = 3, 0.05
"""Different values, and their share of the rows, below both of which a column only tells kinds of things apart."""
FEWEST_KEYS = 10
"""Different values of a key that is one of more than kinds of things, where each is in several rows."""
FEWEST_PEOPLE = 20
"""Different values from which a column whose name says whose row it is numbers people."""
SHORTEST_CODE = 4
"""Digits of the shortest number that is a code and no amount."""
HALF = 0.5
LEAST_ADDRESS = 2**24
"""The least number that stands for an IP address outside of reserved networks."""
_DIGITS, _FIVE_DIGITS = re.compile("[0-9]"), re.compile(r"[0-9](?:[^0-9]*+[0-9]){4}")
_SIGNS = {"F": "@", "N": ".", "O": ".:"}
"""Signs of which the addresses of a kind have one."""
_DIGEST = re.compile(r"[0-9a-fA-F]{32,128}")


def named_kind(values: ColumnValues) -> str | None:
    """The letter of the kind that a column's name tells; None where it tells none, or its values cannot be that."""
    for letter, words in KIND_WORDS.items():
        if letter != "R" and words.name(values.words) and _may_be(letter, values):
            return letter
    return "R" if _numbers_people(values) else None


def _may_be(letter: str, values: ColumnValues) -> bool:
    if letter in "PQ" and values.is_bytes:
        return True
    if values.is_few(FEWEST, FEWEST_SHARE):
        return False
    if letter in "ABPQ":
        return values.is_text
    if not values.is_text and not values.is_whole:
        return False
    if letter == "O" and values.is_whole:
        return bool(values.numbers[0].max(initial=0) >= LEAST_ADDRESS)
    if values.is_whole and not KIND_WORDS[letter].name_plainly(values.words) and not _are_codes(values):
        return False  # an amount, such as what is on an account
    signs = _SIGNS.get(letter)
    if signs is not None:
        return values.share_where(lambda text: any(map(text.__contains__, signs)) or _DIGEST.fullmatch(text)) >= HALF
    digits = _FIVE_DIGITS if letter in "DE" else _DIGITS
    return values.share_where(digits.search) >= HALF


def _are_codes(values: ColumnValues) -> bool:
    """Whether whole numbers are all equally long, as codes are and amounts are not."""
    lengths = {len(str(int(number))) for number in (values.numbers[0].min(), values.numbers[0].max())}
    return len(lengths) == 1 and min(lengths) >= SHORTEST_CODE


def _numbers_people(values: ColumnValues) -> bool:
    """Whether a column is called a key and has as many values as keys, or says whose row it is."""
    summary, words = values.summary, values.words
    if not values.is_text and not values.is_whole:
        return False
    is_key = KIND_WORDS["R"].name(words) or bool(words and all(map(PEOPLE.has, words)))
    # A key of few values, each in many rows, is one of kinds of things, such as a ward.
    n_distinct, share = summary.n_distinct, summary.distinct_share
    if is_key and n_distinct > 1 and (share >= HALF or (n_distinct >= FEWEST_KEYS and share >= FEWEST_SHARE)):
        return True
    return is_key and PEOPLE.names(words) and summary.n_distinct >= FEWEST_PEOPLE
