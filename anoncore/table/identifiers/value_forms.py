"""How values look that are identifiers by themselves, whatever their column is called."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import AddressValueError, IPv6Address

from anoncore.table.identifiers import check_digits as checks
from anoncore.table.identifiers.kinds import MENDS, Mend

SURE = 0.2
"""Share of the values from which a column holds what hardly anything else looks like."""
HALF = 0.5
"""The same of what is told apart by its signs."""
LIKELY = 0.8
"""The same of what codes of other kinds may look like, too."""
DATES = "dates finer than a year"
MOST_ACCIDENTS = 1e-4
"""Chance with which other numbers may pass a check digit as often as those of a column do."""


@dataclass(frozen=True)
class ValueForm:
    """One form of identifiers: its letter in the rule, what it is in words, and how a value of it is written.

    `least` is the share of a column's values that must have the form, and `chance` how often a value that is written
    alike passes `holds` by accident. `in_numbers` forms occur in columns of whole numbers, too. `is_loose` forms count
    only beside others of their kind, or where the name of the column tells it.
    """

    letter: str
    what: str
    pattern: re.Pattern[str]
    holds: Callable[[str], bool] | None = None
    least: float = LIKELY
    chance: float = 0.0
    in_numbers: bool = False
    mend: Mend | None = None
    is_loose: bool = False

    def fits(self, text: str) -> bool:
        """Whether a text has the form and its check digits hold."""
        pattern = self.pattern
        if pattern.fullmatch(text) is None:
            return False
        # A pattern also takes letters and digits of other scripts, with which nobody computes a check digit.
        return self.holds is None or (text.isascii() and self.holds(text))

    def is_more_than_chance(self, n_fitting: int) -> bool:
        """Whether so many values can hardly pass the check digits by accident."""
        return n_fitting > 0 and self.chance**n_fitting <= MOST_ACCIDENTS

    @property
    def is_shape(self) -> bool:
        """Whether codes of other kinds may be written alike, so that the name of a column tells more."""
        return self.holds is None and self.least > SURE

    @property
    def mended_by(self) -> Mend:
        """What mends a column of it."""
        return MENDS[self.letter] if self.mend is None else self.mend


def _is_ipv6(text: str) -> bool:
    try:
        IPv6Address(text)
    except AddressValueError:
        return False
    return True


def _is_whole_date(text: str) -> bool:
    return 1 <= int(text[4:6]) <= 12 and 1 <= int(text[6:8]) <= 31


MONTH = (
    r"(?:j[aä]n|feb|f[eé]v|m[aä]r|mrt|maa|ma[iyg]|mei|apr|abr|avr|ju[nil]|giu|lug|aug|ao[uû]|ago|se[pt]|o[ck]t|out|ott"
    r"|nov|de[cz]|déc|dic|ene|gen)\w{0,7}\.?"
)
"""The names of months in seven languages, written out or cut."""
_DAY, _NUMBER_OF_MONTH, _YEAR = r"(?:0?[1-9]|[12]\d|3[01])", r"(?:0?[1-9]|1[0-2])", r"(?:1[89]|20)\d\d"
_NTH, _WEEKDAY = r"(?:st|nd|rd|th|er|\.|º|°)?", r"(?:[^\W\d_]{2,10}[.,]{0,2} )?"
_TIME = r"(?:[T ,:]+\d\d?[:.h]\d\d.*)?"
_DATES = (
    *(rf"{_YEAR}{sign}{_NUMBER_OF_MONTH}{sign}{_DAY}{_TIME}" for sign in ("-", "/", "[.]")),
    *(rf"{_DAY}{sign}{_NUMBER_OF_MONTH}{sign}(?:{_YEAR}|\d\d){_TIME}" for sign in ("-", "/", "[.]")),
    *(rf"{_NUMBER_OF_MONTH}{sign}{_DAY}{sign}(?:{_YEAR}|\d\d){_TIME}" for sign in ("-", "/")),
    rf"{_WEEKDAY}(?:{_DAY}{_NTH}[ /-]{{0,2}}(?:de )?)?{MONTH}[ ,/-]{{0,2}}(?:del? )?{_YEAR}{_TIME}",
    rf"{_WEEKDAY}{_DAY}[ ./-]{{1,2}}{MONTH}[ ./-]{{1,2}}\d\d",
    rf"{_WEEKDAY}{MONTH} {_DAY}{_NTH},? {_YEAR}{_TIME}",
    rf"{_YEAR}[-/]{_NUMBER_OF_MONTH}|{_NUMBER_OF_MONTH}[/-]{_YEAR}|{_YEAR}[ -]?Q[1-4]|Q[1-4][ /-]?{_YEAR}",
)
_STREETS = (
    r"\d+\w? .*\b(?:street|st|avenue|ave|road|rd|lane|ln|drive|dr|boulevard|blvd|court|ct|close|crescent)\.?(?:,.*)?",
    r".*\w(?:straße|strasse|str\.|weg|platz|allee|gasse|damm|ufer|straat|laan|plein|gracht|kade|singel) \d.*",
    r"\d+,? (?:bis |ter )?(?:rue|avenue|boulevard|place|chemin|impasse|allée|quai)\b.*",
    r"(?:calle|c/|avenida|avda\.?|plaza|paseo|camino|via|viale|piazza|corso|vicolo|rua|travessa|praça|largo)\b.*\d.*",
)
_PLATES = (
    r"[A-ZÄÖÜ]{1,3}[- ][A-Z]{1,2}(?:[- ]\d{1,4}|\d{3,4})[EH]?",
    r"[A-HJ-NP-TV-Z]{2}[- ]\d{3}[- ][A-HJ-NP-TV-Z]{2}",
    r"\d{4}[ -]?[BCDFGHJ-NPRSTV-Z]{3}",
    r"[A-Z]{2}\d{2} [A-Z]{3}",
    r"[A-Z]{2}-\d{2}-(?:\d{2}|[A-Z]{2})|\d{2}-(?:\d{2}-[A-Z]{2}|[A-Z]{2}-\d{2}|[A-Z]{2}-[A-Z]{2})",
    r"\d-[A-Z]{3}-\d{2}|\d{2}-[A-Z]{3}-\d|[A-Z]-\d{3}-[A-Z]{2}|[A-Z]{2}-\d{3}-[A-Z]",
)
_PHONES = (
    r"(?:\+|00)[1-9][\d ()./-]{6,18}\d",
    r"(?:1[-. ])?(?:\([2-9]\d\d\) ?|[2-9]\d\d[-. ])[2-9]\d\d[-. ]\d{4}(?: ?(?:x|ext\.?) ?\d+)?",
    r"0\d(?:[ .-]\d\d){4}",
    r"(?:\(0\d{1,4}\) ?|0\d{1,4} ?[ /] ?)[1-9](?:[\d ]{3,11}\d(?:-\d{1,4})?|[\d ]{1,2}\d-\d{1,4})",
    r"0\d{1,4}-[1-9][\d ]{3,11}\d",
    r"[6789]\d\d(?:(?:[ .-]\d{3}){2}|(?: \d\d){3})",
)
_TITLES = (
    r"(?:.*, )?(?:mrs?|ms|miss|dr|prof|herr|frau|mme|mlle|monsieur|madame|srta?|sra|sig(?:\.ra)?|dott(?:\.ssa)?|dhr"
    r"|mevr)\.? [^\W\d_].*"
)
_TITLES_INSIDE = r".*[ (](?:Herrn?|Frau|Mme|Mlle|(?:Mrs?|Ms|Dr|Prof|Dra|Sra?|Sig|Dott|Dhr|Mevr)\.) [A-ZÀ-Þ]\w.*"
_OCTET = r"(?:25[0-5]|2[0-4]\d|1?\d?\d)"
_VIN = r"(?=.*[A-Z])(?=.*\d)[A-HJ-NPR-Z\d]{8}[\dX][A-HJ-NPR-Z\d]{8}"
_ITALIAN = r"[A-Z]{6}[\dLMNP-V]{2}[A-EHLMPRST][\dLMNP-V]{2}[A-Z][\dLMNP-V]{3}[A-Z]"
_FRENCH = r"[12] ?\d\d ?\d\d ?(?:\d\d|2[AB]) ?\d{3} ?\d{3} ?\d\d"
_CARDS = r"(?:4\d{3}|5[1-5]\d\d|2[2-7]\d\d|6011|65\d\d)(?:[ -]?\d{4}){3}", r"3[47]\d\d[ -]?\d{6}[ -]?\d{5}"
_IMEI = r"(?!3[47])\d\d[- ]?\d{6}[- ]?\d{6}[- ]?\d"
_POSTAL = (
    r"[A-Z]{1,2}\d[A-Z\d]? \d[A-Z]{2}",
    r"[1-9]\d{3} ?[A-Z]{2}",
    r"[A-Z]\d[A-Z] \d[A-Z]\d",
    r"\d{4}-\d{3}",
    r"\d{5}-\d{3}",
)
_POSTAL_PLACES = (
    r"(?:(?:D|A|CH|F|I|E|B|NL|P)-)?(?:\d{5}|(?!1[89]|20)[1-9]\d{3}(?: ?[A-Z]{2})?|\d{4}-\d{3}) "
    r"(?!EUR|Euro|CHF|USD|Dollar|Liter|Meter|Gramm|Watt|Volt|St[uü]ck|Tage|Stunden|Schritte)[A-ZÀ-Þ][^\d]+",
    r"[A-Z][^\d,]*, ?[A-Z]{2},? \d{5}(?:-\d{4})?",
)
_MBI_LETTER = "[AC-HJKMNP-RT-Y]"
_MBI = rf"[1-9]{_MBI_LETTER}[0-9AC-HJKMNP-RT-Y]\d-?{_MBI_LETTER}[0-9AC-HJKMNP-RT-Y]\d-?{_MBI_LETTER}{{2}}\d\d"


def _either(*patterns: str) -> str:
    return "|".join(f"(?:{pattern})" for pattern in patterns)


FORMS: Sequence[ValueForm] = (
    ValueForm(
        "Q",
        "pictures",
        re.compile(_either(r"data:image/.*", r".+\.(?:jpe?g|png|gif|heic|tiff?|bmp|webp|dcm)"), re.IGNORECASE),
        None,
        SURE,
    ),
    ValueForm(
        "R",
        "universally unique identifiers",
        re.compile(r"\{?[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}\}?", re.IGNORECASE),
        None,
        SURE,
    ),
    ValueForm(
        "M",
        "network addresses of devices",
        re.compile(r"[\da-f]{2}(?:(?::[\da-f]{2}){5}|(?:-[\da-f]{2}){5})", re.IGNORECASE),
        None,
        SURE,
    ),
    ValueForm("M", "device identifiers", re.compile(r"\(01\)\d{14}.*"), None, SURE),
    ValueForm("O", "IP addresses", re.compile(rf"(?:{_OCTET}\.){{3}}{_OCTET}(?:/\d+)?")),
    ValueForm("O", "IP addresses", re.compile(r"(?=[^:]*+:[^:]*+:)[\da-f:.]+", re.IGNORECASE), _is_ipv6, SURE),
    ValueForm("C", DATES, re.compile(_either(*_DATES), re.IGNORECASE), None, SURE, mend=Mend.YEAR),
    ValueForm("C", DATES, re.compile(rf"{_YEAR}\d{{4}}"), _is_whole_date, 0.9, 0.05, True, Mend.YEAR),
    ValueForm(
        "J",
        "account numbers (IBAN)",
        re.compile(r"[A-Z]{2}\d{2}(?: ?[A-Z\d]){11,30}", re.IGNORECASE),
        checks.is_iban,
        SURE,
        0.01,
    ),
    ValueForm("L", "vehicle identification numbers", re.compile(_VIN), checks.is_vin, LIKELY, 0.1),
    ValueForm("G", "social security numbers", re.compile(r"(?!000|666|9)\d{3}-(?!00)\d\d-(?!0000)\d{4}"), None, SURE),
    ValueForm(
        "G",
        "British insurance numbers",
        re.compile(r"(?![DFIQUV])[A-Z](?![DFIQUVO])[A-Z](?: ?\d\d){3} ?[A-D]", re.IGNORECASE),
    ),
    ValueForm("G", "Italian tax codes", re.compile(_ITALIAN, re.IGNORECASE), checks.is_italian_tax_code, SURE, 0.04),
    ValueForm(
        "G",
        "French person numbers",
        re.compile(_FRENCH, re.IGNORECASE),
        checks.is_french_person_number,
        LIKELY,
        0.02,
        True,
    ),
    ValueForm(
        "G",
        "German pension numbers",
        re.compile(r"\d\d ?\d{6} ?[A-Z] ?\d\d ?\d", re.IGNORECASE),
        checks.is_german_pension_number,
        0.8,
        0.1,
    ),
    ValueForm(
        "G",
        "Spanish person numbers",
        re.compile(r"[XYZ]?-?\d{7,8}-?[A-Z]", re.IGNORECASE),
        checks.is_spanish_person_number,
        0.8,
        0.05,
    ),
    ValueForm(
        "G",
        "Brazilian person numbers",
        re.compile(r"\d{3}\.?\d{3}\.?\d{3}-?\d\d"),
        checks.is_brazilian_person_number,
        0.8,
        0.01,
        True,
    ),
    ValueForm(
        "G", "German tax numbers", re.compile(r"\d\d(?: ?\d{3}){3}"), checks.is_german_tax_number, LIKELY, 0.1, True
    ),
    ValueForm(
        "G",
        "Dutch person numbers",
        re.compile(r"\d{4}[. ]?\d\d[. ]?\d{3}"),
        checks.is_dutch_person_number,
        0.8,
        0.1,
        True,
    ),
    ValueForm(
        "G",
        "Portuguese tax numbers",
        re.compile(r"[1235689]\d\d(?: ?\d{3}){2}"),
        checks.is_portuguese_tax_number,
        0.8,
        0.1,
        True,
    ),
    ValueForm(
        "I",
        "German health plan numbers",
        re.compile(r"[A-Z]\d{9}", re.IGNORECASE),
        checks.is_german_health_number,
        LIKELY,
        0.1,
    ),
    ValueForm("I", "Medicare numbers", re.compile(_MBI, re.IGNORECASE)),
    ValueForm(
        "H", "NHS numbers", re.compile(r"\d{3}[ -]?\d{3}[ -]?\d{4}"), checks.is_british_health_number, LIKELY, 0.1, True
    ),
    ValueForm("J", "card numbers", re.compile(_either(*_CARDS)), checks.has_luhn, LIKELY, 0.1, True),
    ValueForm("M", "device numbers (IMEI)", re.compile(_IMEI), checks.has_luhn, LIKELY, 0.1, True),
    ValueForm("L", "vehicle plates", re.compile(_either(*_PLATES))),
    ValueForm("D", "telephone numbers", re.compile(_either(*_PHONES), re.IGNORECASE), None, HALF),
    ValueForm(
        "D",
        "telephone numbers",
        re.compile(r"0[1-9]\d{7,10}|[2-9]\d\d[2-9]\d{6}|[6789]\d{8}"),
        None,
        HALF,
        in_numbers=True,
        is_loose=True,
    ),
    ValueForm("B", "street addresses", re.compile(_either(*_STREETS), re.IGNORECASE | re.DOTALL), None, SURE),
    ValueForm("B", "postal codes", re.compile(_either(*_POSTAL), re.IGNORECASE)),
    ValueForm("B", "postal codes", re.compile(r"\d{5}-\d{4}"), mend=Mend.THREE_DIGITS),
    ValueForm("B", "postal codes with places", re.compile(_either(*_POSTAL_PLACES))),
    ValueForm("B", "coordinates", re.compile(r"[(\[]?-?\d{1,2}\.\d{2,} ?[,; ] ?-?\d{1,3}\.\d{2,}[)\]]?")),
    ValueForm("A", "names with a form of address", re.compile(_TITLES, re.IGNORECASE | re.DOTALL), None, SURE),
    ValueForm("A", "names with a form of address", re.compile(_TITLES_INSIDE, re.DOTALL), None, HALF),
    ValueForm("R", "digests", re.compile(r"[\da-f]{32}|[\da-f]{40}|[\da-f]{64}", re.IGNORECASE)),
)
"""All forms, those that are written most particularly first: a value counts for the first form that its column has."""

INSIDE: Mapping[str, tuple[str, str]] = {
    "F": ("e-mail addresses", r"[0-9A-Za-z_.+-]+@[0-9A-Za-z-]+\.[A-Za-z]"),
    "N": ("URLs", r"(?i)\b(?:https?|ftp)://|\bwww\.[0-9a-z]"),
}
"""Forms that are told from everything else also in the middle of a text: what they are, and how they are written."""

IDENTIFYING_LETTERS = frozenset("ADEFGHIJKLMNOQR")
"""Kinds that name a person by themselves; places and dates are what others know of one."""
