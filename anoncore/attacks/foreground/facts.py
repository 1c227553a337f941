"""Background knowledge as facts: sentences about one person, or about how many people of a kind have a value."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor

import numpy as np
import pandas as pd

from anoncore.base.arguments import checked_methods
from anoncore.base.errors import DataError, ParameterError
from anoncore.base.showing import Lines, Shown
from anoncore.base.texts import listing
from anoncore.kernels.arrays import Bools, Floats
from anoncore.table.domain import Domain, Kind
from anoncore.table.microdata import Microdata

EXAMPLES = (
    "'row 12 has not disease = flu', 'nobody where age < 30 has disease = gout' or "
    "'at least 10% where sex = female has disease = flu'"
)
ROUNDING = 1e-9
"""Part of a person by which a share of people may miss a whole number of them."""
_QUOTED = re.compile(r'"[^"]*"')
_SPACES = re.compile(r"\s++")
_PERSON = re.compile(r"row (?P<row>[0-9]++) has (?P<lacks>not |no )?", re.IGNORECASE)
_GROUP = re.compile(
    r"(?P<bound>nobody|everybody|at least|at most|exactly)(?: (?P<share>[0-9.]++)(?P<percent> ?%)?)? where ",
    re.IGNORECASE,
)
_HAS = re.compile(r" ha(?:s|ve) ", re.IGNORECASE)
_COMPARISON = re.compile(r"(?P<name>[^=<>!≤≥≠]++)(?P<operator><=|>=|!=|=|<|>|≤|≥|≠)(?P<value>.++)")
_WRITTEN = {"≤": "<=", "≥": ">=", "≠": "!="}
_TELLS_APART = re.compile(r"\s(?:and|has|have|where)\s|[=<>!≤≥≠]|^(?:not|no)\s|^\s|\s$", re.IGNORECASE)
_AND = re.compile(r" and ", re.IGNORECASE)


@checked_methods
@dataclass(frozen=True)
class Fact(Shown):
    """One thing that an adversary knows beside the release: of one person, or of all people of a kind.

    It says which shares of these people have a value of the sensitive attribute, at least and at most. Of a single
    person that is all or nothing.

    Attributes
    ----------
    value : str
        Text of the sensitive value.
    row : int, optional
        Number of the person's row in the original table, counted from 1; None for a fact about people of a kind.
    where : str
        Which people it is about, by comparisons of quasi-identifiers that are joined by `and`, such as
        `age < 30 and sex = female`: `=`, `!=`, and for numbers, dates and ordered categories also `<`, `<=`, `>` and
        `>=` (or `≠`, `≤`, `≥`). Empty for a fact about one person. A value or name with ` and `, ` has ` or an
        operator in it stands in double quotes.
    least : float
        Share of these people who have the value at least, from 0 to 1.
    most : float
        Share of them who have it at most.
    attribute : str
        The sensitive attribute; empty where it is the one that is attacked.

    Raises
    ------
    ParameterError
        For shares that are none, and for a fact about nobody or about a person and a kind at once.

    Notes
    -----
    Shares are those of the people in the table. Their bounds are rounded to whole people: up for `least`, down for
    `most`, to the nearest number where both are equal.

    Examples
    --------
    >>> from anoncore import attacks
    >>> fact = attacks.Fact.parse("at least 10% where age < 30 has flu")
    >>> fact.where, fact.value, fact.least, fact.most
    ('age < 30', 'flu', 0.1, 1.0)
    >>> str(attacks.Fact("flu", row=12, most=0.0))
    'row 12 has not flu'
    """

    value: str
    row: int | None = None
    where: str = ""
    least: float = 0.0
    most: float = 1.0
    attribute: str = ""

    def __post_init__(self) -> None:
        if (self.row is None) != bool(self.where):
            raise ParameterError("A fact is either about one row or about the people of a condition; give one of them.")
        if self.row is not None and self.row < 1:
            raise ParameterError(f"Rows are counted from 1; there is no row {self.row}.")
        if not 0 <= self.least <= self.most <= 1:
            raise ParameterError(
                f"A fact is about shares from 0 to 1, the least first; given were {self.least} and {self.most}."
            )
        if self.row is not None and (self.least, self.most) not in ((0, 0), (1, 1)):
            raise ParameterError("One person has a value or has it not: give least and most as 1, or both as 0.")

    @classmethod
    def parse(cls, text: str) -> Fact:
        """Read a fact from a sentence.

        Parameters
        ----------
        text : str
            `row 12 has flu`, `row 12 has not flu`, or one of `nobody`, `everybody`, `at least 10%`, `at most 10%` and
            `exactly 10%`, followed by `where`, a condition, `has` and a value. The value may have its attribute before
            it: `disease = flu`.

        Returns
        -------
        Fact
            What it says.

        Raises
        ------
        ParameterError
            For a sentence that is none of these.
        """
        sentence = _spaced(text)
        plain = _masked(sentence)
        person, group = _PERSON.match(plain), _GROUP.match(plain)
        has = list(_HAS.finditer(plain, group.end() - 1)) if group is not None else []
        start = person.end() if person is not None else has[-1].end() if has else len(plain)
        if start == len(plain) or (has and group is not None and has[-1].start() <= group.end()):
            raise ParameterError(f"{text.strip()!r} is not understood as a fact; write it like {EXAMPLES}.")
        attribute, value = _secret(sentence[start:], plain[start:])
        if person is not None:
            share = 0.0 if person["lacks"] else 1.0
            return cls(value, int(person["row"]), "", share, share, attribute)
        assert group is not None, "there is no condition without a group"
        least, most = _bounds(group, text)
        return cls(value, None, sentence[group.end() : has[-1].start()], least, most, attribute)

    def __str__(self) -> str:
        value = in_quotes(self.value)
        secret = f"{in_quotes(self.attribute)} = {value}" if self.attribute else value
        if self.row is not None:
            return f"row {self.row} has {'' if self.most else 'not '}{secret}"
        if self.most == 0:
            bound = "nobody"
        elif self.least == 1:
            bound = "everybody"
        elif self.least == self.most:
            bound = f"exactly {_percent(self.least)}"
        else:
            parts = [f"at least {_percent(self.least)}"] * (self.least > 0)
            parts += [f"at most {_percent(self.most)}"] * (self.most < 1)
            bound = " and ".join(parts) or "at least 0%"
        return f"{bound} where {self.where} has {secret}"

    def _headline(self) -> str:
        return "Fact about a person" if self.row is not None else "Fact about people of a kind"

    def _lines(self) -> Lines:
        return []

    def code(self, data: Microdata, attribute: str) -> int:
        """The code of the value.

        Parameters
        ----------
        data : Microdata
            The table.
        attribute : str
            The sensitive attribute that is attacked.

        Returns
        -------
        int
            The value's code in the attribute's domain.

        Raises
        ------
        DataError
            Where the fact is about another attribute, or about a value that does not occur.
        """
        if self.attribute not in ("", attribute):
            raise DataError(f"The fact '{self}' is about '{self.attribute}', and the attack is on '{attribute}'.")
        domain = data.require_domain(attribute)
        codes = np.flatnonzero(_equals(domain, self.value))
        if len(codes) == 0:
            raise DataError(
                f"The fact '{self}' names no value of '{attribute}'; there is {listing(domain.texts.tolist())}."
            )
        return int(codes[0])

    def people(self, data: Microdata) -> Bools:
        """Which people it is about.

        Parameters
        ----------
        data : Microdata
            The table.

        Returns
        -------
        ndarray of bool, shape (n_rows,)
            Whether each row is meant.

        Raises
        ------
        DataError
            Where the row does not exist, or nobody is like that; and where the condition is not understood.
        """
        if self.row is not None:
            if self.row > data.n_rows:
                raise DataError(f"The fact '{self}' is about a row that does not exist; there are {data.n_rows:,}.")
            return np.arange(1, data.n_rows + 1) == self.row
        meant = np.ones(data.n_rows, np.bool_)
        for name, operator, value in self._comparisons(data.require_quasi_identifiers()):
            meant &= _compared(self, data.domain[name], operator, value)[data.codes[name]]
        if not meant.any():
            raise DataError(f"The fact '{self}' is about nobody: no row of the table is like that.")
        return meant

    def counts(self, n_people: int) -> tuple[int, int]:
        """How many of so many people have the value, at least and at most.

        Parameters
        ----------
        n_people : int
            People whom the fact is about.

        Returns
        -------
        tuple of int
            The bounds as whole people.
        """
        if self.least == self.most:
            nearest = floor(self.least * n_people + 0.5)
            return nearest, nearest
        return ceil(self.least * n_people - ROUNDING), floor(self.most * n_people + ROUNDING)

    def _comparisons(self, known: Sequence[str]) -> list[tuple[str, str, str]]:
        where = _spaced(self.where)
        plain = _masked(where)
        ends = [found.span() for found in _AND.finditer(plain)]
        starts, stops = [0, *(end for _, end in ends)], [*(start for start, _ in ends), len(plain)]
        comparisons = []
        for start, stop in zip(starts, stops, strict=True):
            found = _COMPARISON.fullmatch(plain, start, stop)
            if found is None or not (found["name"].strip() and found["value"].strip()):
                raise DataError(
                    f"In the fact '{self}' the part '{where[start:stop]}' compares nothing; write it like 'age < 30'."
                )
            name, value = (_unquoted(where[slice(*found.span(part))]) for part in ("name", "value"))
            if name not in known:
                raise DataError(
                    f"The fact '{self}' is about '{name}', which is no quasi-identifier; those are {listing(known)}."
                )
            comparisons.append((name, _WRITTEN.get(found["operator"], found["operator"]), value))
        return comparisons


def _spaced(text: str) -> str:
    """A sentence with single spaces, but for what stands in quotes."""
    parts = text.strip().split('"')
    return '"'.join(part if number % 2 else _SPACES.sub(" ", part) for number, part in enumerate(parts))


def _masked(sentence: str) -> str:
    """The sentence without what stands in quotes, which neither ends a condition nor begins a value."""
    return _QUOTED.sub(lambda quote: "\0" * len(quote[0]), sentence)


def _percent(share: float) -> str:
    return f"{100 * share:.6f}".rstrip("0").rstrip(".") + "%"


def in_quotes(text: str) -> str:
    """A name or value as a fact has it: in double quotes where it would be taken for something else without them."""
    return f'"{text}"' if _TELLS_APART.search(text) else text


def facts_of(facts: Sequence[Fact | str]) -> tuple[Fact, ...]:
    """Facts, those that are sentences read."""
    return tuple(Fact.parse(fact) if isinstance(fact, str) else fact for fact in facts)


def _bounds(group: re.Match[str], text: str) -> tuple[float, float]:
    bound = " ".join(group["bound"].lower().split())
    if bound in ("nobody", "everybody"):
        if group["share"] is not None:
            raise ParameterError(f"{text.strip()!r} has a share behind '{bound}'; leave one of them out.")
        return (0.0, 0.0) if bound == "nobody" else (1.0, 1.0)
    try:
        share = float(group["share"] or "")
    except ValueError:
        raise ParameterError(f"{text.strip()!r} lacks the share behind '{bound}'; write it like 10%.") from None
    share = share / 100 if group["percent"] else share
    if not 0 <= share <= 1:
        raise ParameterError(f"{text.strip()!r} has a share beyond 100%; write it like 10%.")
    return {"at least": (share, 1.0), "at most": (0.0, share), "exactly": (share, share)}[bound]


def _secret(sentence: str, plain: str) -> tuple[str, str]:
    """Attribute, empty where none is given, and value."""
    end = plain.find("=")
    name, value = sentence[:end].strip(), sentence[end + 1 :].strip()
    # A value such as <=50K has the sign of a comparison in it.
    if end > 0 and name and value and name[-1] not in "<>!":
        return _unquoted(name), _unquoted(value)
    return "", _unquoted(sentence)


def _unquoted(text: str) -> str:
    text = text.strip()
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] == '"' else text


def _equals(domain: Domain, value: str) -> Bools:
    """Whether each code has this text, or is this number."""
    equal: Bools = domain.texts == value
    if not equal.any() and domain.kind is Kind.NUMERIC and (place := _place(domain, value)) is not None:
        places = domain.positions
        equal = places == place
        equal[len(domain.values) :] = False
    return equal


def _compared(fact: Fact, domain: Domain, operator: str, value: str) -> Bools:
    """Whether each code compares so with the value; a missing one only differs from it."""
    equal = _equals(domain, value)
    if operator in ("=", "!="):
        if not equal.any():
            raise DataError(
                f"The fact '{fact}' names no value of '{domain.name}'; there is {listing(domain.texts.tolist())}."
            )
        return equal if operator == "=" else ~equal
    if domain.kind is Kind.NOMINAL:
        raise DataError(
            f"The fact '{fact}' asks for an order of '{domain.name}', whose values have none; compare them with = "
            "or !=."
        )
    places: Floats = domain.positions
    place = float(places[np.flatnonzero(equal)[0]]) if equal.any() else _place(domain, value)
    if place is None:
        raise DataError(f"The fact '{fact}' compares '{domain.name}' with '{value}', which is no value of its kind.")
    compared: Bools = {"<": places < place, "<=": places <= place, ">": places > place, ">=": places >= place}[operator]
    compared[len(domain.values) :] = False
    return compared


def _place(domain: Domain, value: str) -> float | None:
    """Where a number or date lies among the positions of the domain; None where it is neither."""
    if domain.kind is not Kind.NUMERIC:
        return None
    try:
        return pd.Timestamp(value).timestamp() / 86_400 if domain.is_date else float(value)
    except ValueError:
        return None
