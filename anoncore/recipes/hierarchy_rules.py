"""Hierarchies said by the rule that makes them, so that they serve other rows too and no value of the table is told."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from datetime import date
from pathlib import Path
from typing import Any

import pandas as pd

from anoncore.base.errors import AnonymizationError
from anoncore.base.texts import is_missing, value_text
from anoncore.recipes.source import HierarchySpec
from anoncore.table.hierarchy import Hierarchy
from anoncore.table.hierarchy_defaults import CALENDAR, SHARES

_INTERVAL = re.compile(r"\[(?P<low>[^,]+), (?P<high>[^,]+)\)|(?P<first>-?\d+)(?:-| to )(?P<last>-?\d+)")
FANOUTS = range(2, 21)


def spec_by_rule(hierarchy: Hierarchy, column: pd.Series[Any]) -> HierarchySpec:
    """How a hierarchy is made of the values of its column: by a rule wherever one makes it.

    Rules are intervals of equal width or of equally many rows, and the ready-made hierarchies of dates, codes,
    coordinates, first letters and rare values. A rule counts where it gives every value of the column its path. Takes
    up to some seconds for tens of thousands of different numbers.

    Parameters
    ----------
    hierarchy : Hierarchy
        The hierarchy.
    column : Series, shape (n_rows,)
        The values of the attribute.

    Returns
    -------
    HierarchySpec
        The rule; where there is none, the values with their paths, those alone which the column has.

    Examples
    --------
    >>> import pandas as pd
    >>> from anoncore.recipes.hierarchy_rules import spec_by_rule
    >>> from anoncore.table.hierarchy_defaults import prefix_hierarchy
    >>> codes = pd.Series(["80331", "80333", "80469", "20095"])
    >>> spec_by_rule(prefix_hierarchy(codes, kept=[4, 2]), codes).prefix
    (4, 2)
    """
    if pd.api.types.is_numeric_dtype(column.dtype) and not pd.api.types.is_bool_dtype(column.dtype):
        lowest = list(dict.fromkeys(path[0] for path in hierarchy.paths.values()))
        width = _width(lowest[0])
        candidates = [] if width is None else [HierarchySpec(width=width)]
        for candidate in [*candidates, HierarchySpec(quantiles=len(lowest))]:
            fanouts = FANOUTS if _makes(_made(candidate, column), hierarchy, levels=1) else ()
            for fanout in fanouts:
                spec = candidate.replace(fanout=fanout)
                if _makes(_made(spec, column), hierarchy):
                    return spec
    for spec in _ready_made(hierarchy):
        if _makes(_made(spec, column), hierarchy):
            return spec
    return _by_values(hierarchy, column)


def _by_values(hierarchy: Hierarchy, column: pd.Series[Any]) -> HierarchySpec:
    """The paths of the values that the column has."""
    values = {value for value in column.unique().tolist() if not is_missing(value)}
    levels = [[value, *hierarchy.paths[value]] for value in hierarchy.leaves if value in values]
    return HierarchySpec(levels=levels) if levels else HierarchySpec.of(hierarchy)


def _makes(made: Hierarchy | None, hierarchy: Hierarchy, levels: int | None = None) -> bool:
    """Whether what a rule made gives every value the path that the hierarchy does, up to a level or the top."""
    if made is None or (levels is None and made.height != hierarchy.height):
        return False
    return all(
        value in hierarchy.paths and path[:levels] == hierarchy.paths[value][:levels]
        for value, path in made.paths.items()
    )


def _ready_made(hierarchy: Hierarchy) -> Iterator[HierarchySpec]:
    """The ready-made forms whose levels may be those of the hierarchy, by the labels of its longest value."""
    value = max(hierarchy.paths, key=lambda value: len(value_text(value)))
    labels = hierarchy.paths[value][:-1]
    if not labels:
        return
    with suppress(ValueError):
        day = date.fromisoformat(value_text(value)[:10])
        levels = [level for level, name in CALENDAR.items() if name(day) in labels]
        if len(levels) == len(labels):
            yield HierarchySpec.model_validate({"calendar": levels})
    lengths = [len(label.rstrip("*")) for label in labels]
    if all(lengths):
        yield HierarchySpec(prefix=tuple(lengths))
    widths = [_width(label.partition(" × ")[0]) for label in labels]
    known = [width for width in widths if width is not None]
    if len(known) == len(widths):
        yield HierarchySpec(grid=tuple(known))
    yield HierarchySpec(first_letter=True)
    yield HierarchySpec(rare=SHARES)


def _made(spec: HierarchySpec, column: pd.Series[Any]) -> Hierarchy | None:
    numbers = column.dropna()
    try:
        if spec.width is None and spec.quantiles is None:
            return spec.build(numbers, Path())
        if spec.width is not None:
            return Hierarchy.by_width(numbers.unique().tolist(), spec.width, spec.fanout)
        return Hierarchy.by_quantile(numbers.tolist(), spec.quantiles or 1, spec.fanout)
    except AnonymizationError:
        return None


def _width(label: str) -> float | None:
    """The width of an interval by its text."""
    match = _INTERVAL.fullmatch(label)
    if match is None:
        return None
    low, high, first, last = match.group("low", "high", "first", "last")
    try:
        width = float(high) - float(low) if low is not None else int(last) - int(first) + 1.0
    except ValueError:
        return None
    # 0.3 - 0.2 is not 0.1: the width is what has as few digits.
    return float(f"{width:.12g}") if width > 0 else None
