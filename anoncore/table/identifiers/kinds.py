"""The 18 kinds of identifiers of HIPAA's safe harbor, and what mends a column that holds one."""

from __future__ import annotations

from enum import StrEnum

RULE = "45 CFR 164.514(b)(2)(i)"
"""Where the kinds are listed, under the letters A to R."""
OLDEST_TOLD = 89
"""The highest age in years that may stand by itself; all above share one group."""
MOST_YEARS = 150
"""Years that nobody reaches; larger numbers are no ages in years."""
FEW_PEOPLE = (
    "036",
    "059",
    "063",
    "102",
    "203",
    "556",
    "692",
    "790",
    "821",
    "823",
    "830",
    "831",
    "878",
    "879",
    "884",
    "890",
    "893",
)
"""First three digits of US ZIP codes whose areas together have 20,000 people or fewer, by the Census of 2000.

Published by the US Department of Health and Human Services in its Guidance Regarding Methods for De-identification of
Protected Health Information (26 November 2012). The rule asks for current figures of the Census Bureau.
"""


class Mend(StrEnum):
    """What is done to a column so that it holds an identifier no more."""

    DROP = "drop"
    PSEUDONYM = "pseudonym"
    YEAR = "year"
    THREE_DIGITS = "three digits"
    NINETY = "90+"
    OLDEST_YEARS = "oldest years"


ADVICE = {
    Mend.DROP: "Drop the column.",
    Mend.PSEUDONYM: "Drop the column, or put a random code that is derived from nothing in place of each value.",
    Mend.YEAR: "Keep the year alone.",
    Mend.THREE_DIGITS: "Keep the first three digits, and 000 where their area has 20,000 people or fewer.",
    Mend.NINETY: "Put all people above 89 into one group, 90+.",
    Mend.OLDEST_YEARS: "Put the years of birth of all people above 89 into one group.",
}
"""What each mend is, as a sentence."""

KINDS = {
    "A": "names",
    "B": "places smaller than a state",
    "C": "dates finer than a year, and ages above 89",
    "D": "telephone numbers",
    "E": "fax numbers",
    "F": "e-mail addresses",
    "G": "social security and national identity numbers",
    "H": "medical record numbers",
    "I": "health plan numbers",
    "J": "account numbers",
    "K": "certificate and licence numbers",
    "L": "vehicle identifiers and plates",
    "M": "device identifiers and serial numbers",
    "N": "URLs",
    "O": "IP addresses",
    "P": "biometric identifiers",
    "Q": "photographs of faces",
    "R": "other unique numbers, characteristics and codes",
}
"""The kinds in words, by their letter in the rule."""

MENDS = {letter: Mend.PSEUDONYM if letter in "HR" else Mend.DROP for letter in KINDS}
"""What mends a column of each kind unless less is lost by another mend."""
