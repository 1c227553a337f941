"""Hierarchies that nobody has to draw up: dates by the calendar, codes by their beginning, coordinates by a grid."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Sequence, Sized
from datetime import date, datetime
from fractions import Fraction
from itertools import pairwise
from numbers import Integral
from typing import Any

import numpy as np
import pandas as pd

from anoncore.base.errors import DataError
from anoncore.base.texts import is_missing, listing, quoted, value_text
from anoncore.base.typed_values import Key, preferred, sorted_values, value_key
from anoncore.table.hierarchy import ROOT, Hierarchy
from anoncore.table.intervals import bins_by_width, is_finite_number

CALENDAR: dict[str, Callable[[date], str]] = {
    "day": lambda moment: f"{moment.year:04}-{moment.month:02}-{moment.day:02}",
    "month": lambda moment: f"{moment.year:04}-{moment.month:02}",
    "quarter": lambda moment: f"{moment.year:04} Q{(moment.month + 2) // 3}",
    "year": lambda moment: f"{moment.year:04}",
    "decade": lambda moment: f"{moment.year // 10 * 10:04}-{moment.year // 10 * 10 + 9:04}",
}
"""What a date is called at each level of the calendar, from the finest to the coarsest."""
GRID = (0.01, 0.1, 1.0, 10.0)
"""Usual widths of the cells of a grid, in degrees; one degree of latitude is about 111 km."""
SHARES = (0.01, 0.05, 0.2)
"""Usual shares of the rows below which a value counts as rare, level by level."""
OTHER = "other"
"""The group of the rare values."""
_COORDINATE = r"([-+]?\d+(?:\.\d+)?)"
COORDINATES = re.compile(rf"[(\[]?\s*+{_COORDINATE}(?:\s*+[,;]\s*+| \s*+){_COORDINATE}\s*+[)\]]?")
"""A text of two coordinates, such as `52.52, 13.40` or `(52.52 13.40)`, without spaces around it."""
LONGEST_PAIR = 200
"""Characters that a text of two coordinates has at most."""


def calendar_hierarchy(values: Iterable[Any], levels: Iterable[str] = tuple(CALENDAR)) -> Hierarchy:
    """Group dates by day, month, quarter, year and decade.

    A level at which nothing is joined is left out, such as the days of dates without a time.

    Parameters
    ----------
    values : iterable of date, Timestamp or str
        The dates; a text is a date as ISO 8601 writes it, such as `1987-03-01`. Missing ones are passed over.
    levels : iterable of str
        Which of `"day"`, `"month"`, `"quarter"`, `"year"` and `"decade"` there are, in any order.

    Returns
    -------
    Hierarchy
        The hierarchy of the different dates, with `*` on top.

    Raises
    ------
    DataError
        Where a value is no date, there is none, or a level has another name.

    Examples
    --------
    >>> from anoncore.table.hierarchy_defaults import calendar_hierarchy
    >>> births = calendar_hierarchy(["1987-03-01", "1987-03-15", "1987-09-02", "1981-11-30", "1991-11-30"])
    >>> births.path_of("1987-03-15")
    ('1987-03', '1987', '1980-1989', '*')
    """
    wanted = set(levels)
    unknown = sorted(str(level) for level in wanted - set(CALENDAR))
    if unknown or not wanted:
        what = f"not {listing(unknown)}" if unknown else "at least one of them"
        raise DataError(f"The levels of a calendar are {listing(list(CALENDAR))}, {what}.")
    different = _different(values)
    moments = [_moment(value) for value in different]
    return joining(different, [[CALENDAR[level](one) for one in moments] for level in CALENDAR if level in wanted])


def prefix_hierarchy(values: Iterable[Any], kept: Iterable[int] | None = None) -> Hierarchy:
    """Group codes, such as postal codes, by their first characters: 80331 becomes 8033*, 803**, 80***, 8****.

    Whole numbers are filled up with zeros on the left to the longest of them, because a postal code that a program read
    as a number has lost its leading zeros. A text that is shorter than a prefix stays by itself.

    Parameters
    ----------
    values : iterable of str or int
        The codes. Missing ones are passed over.
    kept : iterable of int, optional
        How many characters the levels keep, such as 4, 3, 2; by default one fewer at every level. A level at which
        nothing is joined is left out.

    Returns
    -------
    Hierarchy
        The hierarchy of the different codes, with `*` on top.

    Raises
    ------
    DataError
        Where a value is neither a text nor a whole number from 0, there is none, or `kept` has a number below 1.

    Examples
    --------
    >>> from anoncore.table.hierarchy_defaults import prefix_hierarchy
    >>> prefix_hierarchy(["80331", "80333", "80469", "20095"], kept=[4, 2]).path_of("80331")
    ('8033*', '80***', '*')
    """
    different = _different(values)
    texts = _codes(different)
    longest = max(map(len, texts))
    lengths = (
        range(1, longest)
        if kept is None
        else _ascending(kept, _is_length, "A level keeps 1 character or more of a code")
    )
    levels = [
        [text[:length] + "*" * (longest - length) if len(text) >= length else text for text in texts]
        for length in reversed(lengths)
        if length < longest
    ]
    return joining(different, levels)


def grid_hierarchy(values: Iterable[Any], widths: Iterable[float] = GRID) -> Hierarchy:
    """Group coordinates by the cell of a grid that they lie in; the cells of a level lie whole in those of the next.

    The cells begin at multiples of their width, so that the grids of latitude and longitude, and those of two tables,
    fit together.

    Parameters
    ----------
    values : iterable of float or str
        Latitudes or longitudes, or texts of both, such as `52.52, 13.40`. Missing ones are passed over.
    widths : iterable of float
        Width of the cells per level, in the unit of the values. Each one is a multiple of the next smaller one. A level
        at which nothing is joined is left out.

    Returns
    -------
    Hierarchy
        The hierarchy of the different coordinates, with `*` on top.

    Raises
    ------
    DataError
        Where a value is no coordinate, there is none, or the widths do not fit.

    Examples
    --------
    >>> from anoncore.table.hierarchy_defaults import grid_hierarchy
    >>> grid_hierarchy([52.52, 52.57, 52.01, 48.14], widths=[0.1, 1]).path_of(52.52)
    ('[52.5, 52.6)', '[52, 53)', '*')
    >>> grid_hierarchy(["52.52, 13.40", "52.57, 13.44"], widths=[0.1]).path_of("52.52, 13.40")
    ('[52.5, 52.6) × [13.4, 13.5)', '*')
    """
    steps = _grid_steps(widths)
    different = _different(values)
    if not any(isinstance(value, str) for value in different):
        return joining(different, [_cells(different, step) for step in steps])
    pairs = [_pair(value) for value in different]
    levels = []
    for step in steps:
        south, west = (_cells([pair[axis] for pair in pairs], step) for axis in (0, 1))
        levels.append([f"{first} × {second}" for first, second in zip(south, west, strict=True)])
    return joining(different, levels)


def frequency_hierarchy(values: Iterable[Any], shares: Iterable[float] = SHARES) -> Hierarchy:
    """Join the rare values of a category as `other`: below 1% of the rows at level 1, below 5% at level 2, and so on.

    At least the two rarest values are joined, and more until `other` is no longer rare itself.

    Parameters
    ----------
    values : iterable
        The values of the rows, repeats included. Missing ones are passed over.
    shares : iterable of float
        Share of the rows, above 0 and below 1, below which a value is rare, per level. A level at which nothing is
        joined is left out.

    Returns
    -------
    Hierarchy
        The hierarchy of the different values, with `*` on top.

    Raises
    ------
    DataError
        Where there is no value, or a share is not between 0 and 1.

    Examples
    --------
    >>> from anoncore.table.hierarchy_defaults import frequency_hierarchy
    >>> towns = frequency_hierarchy(["Ulm"] * 90 + ["Bonn"] * 6 + ["Trier"] * 4, shares=[0.1])
    >>> towns.path_of("Trier"), towns.path_of("Ulm")
    (('other', '*'), ('Ulm', '*'))
    """
    limits = _ascending(shares, _is_share, "A share of the rows lies above 0 and below 1")
    rows_of: dict[Key, int] = {}
    forms = _counted(values)
    for value, count in forms:
        rows_of[value_key(value)] = rows_of.get(value_key(value), 0) + count
    different = _different(value for value, _ in forms)
    rows = [rows_of[value_key(value)] for value in different]
    levels = []
    for share in limits:
        rare = _rarest(rows, share * sum(rows))
        if len(rare) == len(rows):
            break  # This level, and those above it, would say no more than the top.
        levels.append([OTHER if place in rare else value_text(value) for place, value in enumerate(different)])
    return joining(different, levels)


def letter_hierarchy(values: Iterable[Any]) -> Hierarchy:
    """Group texts by their first letter, whatever its case or accent: Ärzte and arm both lie in A.

    Texts that begin with a digit lie in `0-9`, those without letters and digits in `other`. It only makes sense for
    many names, such as those of towns, that nothing else groups.

    Parameters
    ----------
    values : iterable of str
        The texts. Missing ones are passed over.

    Returns
    -------
    Hierarchy
        The hierarchy of the different texts, with `*` on top.

    Raises
    ------
    DataError
        Where there is no value.

    Examples
    --------
    >>> from anoncore.table.hierarchy_defaults import letter_hierarchy
    >>> letter_hierarchy(["Ulm", "Überlingen", "Bonn"]).path_of("Überlingen")
    ('U', '*')
    """
    different = _different(values)
    return joining(different, [[_letter(value_text(value)) for value in different]])


def neighbour_hierarchy(values: Sequence[Any], fanout: int = 2) -> Hierarchy:
    """Join neighbours of an ordered category level by level: `low` and `medium` become `low to medium`.

    Parameters
    ----------
    values : sequence
        The different values in their order. Missing ones are passed over.
    fanout : int
        How many neighbours each level joins.

    Returns
    -------
    Hierarchy
        The hierarchy of these values, with `*` on top.

    Raises
    ------
    DataError
        Where there is no value, or `fanout` is below 2.

    Examples
    --------
    >>> from anoncore.table.hierarchy_defaults import neighbour_hierarchy
    >>> neighbour_hierarchy(["none", "low", "medium", "high", "worst"]).path_of("low")
    ('none to low', 'none to high', '*')
    """
    if isinstance(fanout, bool) or not isinstance(fanout, int) or fanout < 2:
        raise DataError(f"Each level must join at least 2 groups of the level below, not {quoted(fanout)}.")
    ordered = [_plain(value) for value in values if not is_missing(value)]
    _require_some(ordered)
    levels = []
    width = fanout
    while width < len(ordered):
        runs = [ordered[start : start + width] for start in range(0, len(ordered), width)]
        levels.append([label for run in runs for label in [_run_text(run)] * len(run)])
        width *= fanout
    return joining(ordered, levels)


def _ascending(levels: Iterable[Any], fits: Callable[[Any], bool], rule: str) -> list[Any]:
    """The numbers that make the levels, ascending; raises DataError with the rule where one does not fit."""
    given = list(levels)
    if not given:
        raise DataError(f"{rule}; name at least one.")
    for number in given:
        if not fits(number):
            raise DataError(f"{rule}, not {quoted(number)}.")
    return sorted(set(given))


def _is_length(number: Any) -> bool:
    return isinstance(number, Integral) and is_finite_number(number) and int(number) >= 1


def _is_share(number: Any) -> bool:
    return is_finite_number(number) and 0 < number < 1


def _is_width(number: Any) -> bool:
    return is_finite_number(number) and number > 0


def joining(values: Sequence[Any], levels: Iterable[Sequence[str]]) -> Hierarchy:
    """The hierarchy of the levels that join something, with `*` on top."""
    groups = len(values)
    kept = []
    for labels in levels:
        if len(set(labels)) < groups:
            groups = len(set(labels))
            kept.append(labels)
    return Hierarchy((value, (*(labels[place] for labels in kept), ROOT)) for place, value in enumerate(values))


def _different(values: Iterable[Any]) -> list[Any]:
    """The different values that are not missing, sorted, whatever order they came in."""
    known: dict[Key, list[Any]] = {}
    for value, _ in _counted(values):
        known.setdefault(value_key(value), []).append(value)
    _require_some(known)
    return sorted_values(preferred(same) for same in known.values())


def _counted(values: Iterable[Any]) -> list[tuple[Any, int]]:
    """The values that are not missing and how often they occur; equal values of two types stand twice."""
    try:
        counts = Counter((type(value), value) for value in values)
    except TypeError as error:
        raise DataError(f"The values cannot be compared ({error}); turn them into text first.") from None
    return [(_plain(value), count) for (_, value), count in counts.items() if not is_missing(value)]


def _require_some(values: Sized) -> None:
    if not values:
        raise DataError("A hierarchy needs at least one value that is not missing.")


def _plain(value: Any) -> Any:
    if isinstance(value, np.datetime64):
        return pd.Timestamp(value)
    return value.item() if isinstance(value, np.generic) else value


def _moment(value: Any) -> date:
    """The date, or the point in time, of a value."""
    try:
        if isinstance(value, str):
            return datetime.fromisoformat(value.strip())
        if isinstance(value, date):
            return value
    except ValueError:
        pass
    raise DataError(
        f"A calendar needs dates, such as 1987-03-01, not {quoted(value_text(value))}; correct the value, or choose "
        "another hierarchy."
    )


def _codes(values: Sequence[Any]) -> list[str]:
    """The texts of codes, whole numbers with leading zeros."""
    texts = [_code(value) for value in values]
    width = max((len(text) for text, value in zip(texts, values, strict=True) if not isinstance(value, str)), default=0)
    return [
        text if isinstance(value, str) else text.rjust(width, "0") for text, value in zip(texts, values, strict=True)
    ]


def _code(value: Any) -> str:
    if isinstance(value, str):
        return value
    if is_finite_number(value):
        number = Fraction(str(value))
        if number.denominator == 1 and number >= 0:
            return str(number.numerator)
    raise DataError(
        f"The beginning of a code is that of a text or of a whole number from 0, not of {quoted(value_text(value))}."
    )


def _grid_steps(widths: Iterable[float]) -> list[float]:
    steps = _ascending(widths, _is_width, "The cells of a grid have widths above 0")
    for finer, coarser in pairwise(steps):
        if Fraction(str(coarser)) % Fraction(str(finer)):
            raise DataError(
                f"The cells of width {quoted(coarser)} cut through those of width {quoted(finer)}; choose widths of "
                "which each is a multiple of the next smaller one."
            )
    return steps


def _cells(coordinates: Sequence[Any], width: float) -> list[str]:
    """The text of the interval of this width that each coordinate lies in."""
    numbers, intervals, text = bins_by_width(coordinates, width, None)
    cell_of = {number: text(cell, cell, []) for number, cell in zip(numbers, intervals, strict=True)}
    return [cell_of[coordinate] for coordinate in coordinates]


def _pair(value: Any) -> tuple[float, float]:
    match = COORDINATES.fullmatch(value.strip()) if isinstance(value, str) and len(value) <= LONGEST_PAIR else None
    if match is None:
        raise DataError(
            f"A grid needs numbers, or texts of two numbers such as '52.52, 13.40', not {quoted(value_text(value))}."
        )
    return float(match[1]), float(match[2])


def _rarest(rows: Sequence[int], least: float) -> set[int]:
    """The places of the values that `other` takes in: all below `least` rows, and more until it has so many itself."""
    rare: set[int] = set()
    joined = 0
    for place in sorted(range(len(rows)), key=lambda place: (rows[place], place)):
        if rows[place] >= least and joined >= least and len(rare) > 1:
            break
        rare.add(place)
        joined += rows[place]
    return rare


def _letter(text: str) -> str:
    apart = unicodedata.normalize("NFKD", text)
    first = next((letter for letter in apart if letter.isalnum()), "")
    return "0-9" if first.isdigit() else first.upper()[:1] or OTHER


def _run_text(values: Sequence[Any]) -> str:
    first, last = value_text(values[0]), value_text(values[-1])
    return first if len(values) == 1 else f"{first} to {last}"
