"""What the name of a column says that it holds, where its values may be that."""

from __future__ import annotations

import re

from anoncore.table.column_words import PEOPLE, ROLES, says_whose_row
from anoncore.table.identifiers.column_values import FEWEST_SHARE, HALF, ColumnValues
from anoncore.table.identifiers.kind_words import KindWords, core_words
from anoncore.table.identifiers.words import KIND_WORDS, LOGINS, NAMES

FEWEST = 3
"""Different values below which a column may only tell kinds of things apart."""
FEWEST_KEYS = 10
"""Different values of a key that is one of more than kinds of things, where each is in several rows."""
FEWEST_PEOPLE = 20
"""Different values from which a column whose name says whose row it is numbers people."""
SHORTEST_CODE, LONGEST_AMOUNT = 4, 7
"""Digits of the shortest number that is a code and no amount, and those that amounts seldom have more than."""
MOST = 0.9
LEAST_ADDRESS = 2**24
"""The least number that stands for an IP address outside of reserved networks."""
_DIGIT = re.compile(r"[0-9]")
_FOUR_DIGITS = re.compile(r"[0-9](?:[^0-9]*+[0-9]){3}")
_FIVE_DIGITS = re.compile(r"[0-9](?:[^0-9]*+[0-9]){4}")
_DIGITS = {"D": _FIVE_DIGITS, "E": _FIVE_DIGITS, "K": _FOUR_DIGITS, "M": _FOUR_DIGITS}
"""Digits that a value of a kind has at least: a driving licence is no `Apache-2.0`, and a device no `Tablet 10`."""
_SIGNS = {"F": "@", "N": ".", "O": ".:", "P": "0123456789./", "Q": "0123456789./"}
"""Signs of which the addresses and files of a kind have one."""
_DIGEST = re.compile(r"[0-9a-fA-F]{32,128}")


def named_kind(values: ColumnValues) -> str | None:
    """The letter of the kind that a column's name tells; None where it tells none, or its values cannot be that."""
    for name in (KindWords.name_outright, KindWords.name):
        for letter, words in KIND_WORDS.items():
            if letter != "R" and name(words, values.words) and _may_be(letter, values):
                return letter
    if not _numbers_people(values):
        return None
    is_called = says_whose_row(values.name) or _says_who(values)
    return "A" if is_called and values.is_text and values.share_where(_DIGIT.search) < HALF else "R"


def is_called_peoples_names(values: ColumnValues) -> bool:
    """Whether a column's name says that it holds people's names, however few, and most of its texts have no digits."""
    is_called = KIND_WORDS["A"].name(values.words) and _may_be("A", values)
    return is_called and values.share_where(_DIGIT.search) < HALF


def _may_be(letter: str, values: ColumnValues) -> bool:
    if letter in "PQ" and values.is_bytes:
        return True
    if values.is_few(FEWEST):
        return False
    words = KIND_WORDS[letter]
    if letter in "AB":
        is_plain = words.name_outright(values.words) or not NAMES.isdisjoint(values.words)
        return values.is_text and (is_plain or not values.is_few(FEWEST_KEYS))
    if not values.is_text and (not values.is_whole or letter in "PQ"):
        return False
    if letter == "O" and values.is_whole:
        return bool(values.numbers[0].max(initial=0) >= LEAST_ADDRESS)
    if not words.name_outright(values.words) and values.is_few(FEWEST_KEYS):
        return False  # a key of kinds of things, such as accounts
    if values.is_whole and not words.name_plainly(values.words) and not _are_codes(values):
        return False  # an amount, such as what is on an account
    signs = _SIGNS.get(letter)
    if signs is not None:
        return values.share_where(lambda text: any(map(text.__contains__, signs)) or _DIGEST.fullmatch(text)) >= HALF
    return values.share_where(_DIGITS.get(letter, _DIGIT).search) >= HALF


def _are_codes(values: ColumnValues) -> bool:
    """Whether whole numbers are all equally long or nearly all very long, as codes are and amounts are not."""
    numbers, rows = values.numbers
    lengths = {len(str(int(number))) for number in (numbers.min(), numbers.max())}
    is_long = bool(rows[numbers >= 10**LONGEST_AMOUNT].sum() >= MOST * rows.sum())
    return is_long or (len(lengths) == 1 and min(lengths) >= SHORTEST_CODE)


def _numbers_people(values: ColumnValues) -> bool:
    """Whether a column is called a key and has as many values as keys, or says whose row it is."""
    summary, words = values.summary, values.words
    if not values.is_text and not values.is_whole:
        return False
    is_code = KIND_WORDS["R"].name(words) and (values.is_text or _are_codes(values))
    is_key = KIND_WORDS["R"].name_outright(words) or is_code or says_whose_row(values.name) or _says_who(values)
    # A key of few values, each in many rows, is one of kinds of things, such as a ward.
    n_distinct, share = summary.n_distinct, summary.distinct_share
    if is_key and n_distinct > 1 and (share >= HALF or (n_distinct >= FEWEST_KEYS and share >= FEWEST_SHARE)):
        return True
    return is_key and (PEOPLE | LOGINS | ROLES).names(words) and summary.n_distinct >= FEWEST_PEOPLE


def _says_who(values: ColumnValues) -> bool:
    """Whether a column is called by what somebody does who treats people or stands by them."""
    return ROLES.names(values.words) and not core_words(values.words)
