"""Hierarchies of a sample, said so that they serve all rows: by their form, which values that it lacks fit into too."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from datetime import date
from pathlib import Path
from typing import Any

import pandas as pd

from anoncore import AnonymizationError, Hierarchy
from anoncore.base.texts import value_text
from anoncore.recipes.source import HierarchySpec
from anoncore.table.hierarchy_defaults import CALENDAR

_INTERVAL = re.compile(r"\[(?P<low>[^,]+), (?P<high>[^,]+)\)|(?P<first>-?\d+)(?:-| to )(?P<last>-?\d+)")
FANOUTS = range(2, 21)


def full_spec(hierarchy: Hierarchy, column: pd.Series[Any]) -> HierarchySpec:
    """How the hierarchy of a sample's column is made for all rows.

    Intervals of equal width, or of equally many rows, and ready-made hierarchies of dates, codes, coordinates and first
    letters are made anew from the values of the whole table; any other hierarchy is given by its values. Takes up to
    some seconds for tens of thousands of different numbers.
    """
    if pd.api.types.is_numeric_dtype(column.dtype) and not pd.api.types.is_bool_dtype(column.dtype):
        lowest = list(dict.fromkeys(path[0] for path in hierarchy.paths.values()))
        width = _width(lowest[0])
        candidates = [] if width is None else [HierarchySpec(width=width)]
        for candidate in [*candidates, HierarchySpec(quantiles=len(lowest))]:
            fanouts = FANOUTS if _lowest(_made(candidate, column)) == _lowest(hierarchy) else ()
            for fanout in fanouts:
                spec = candidate.replace(fanout=fanout)
                made = _made(spec, column)
                if made is not None and made.paths == hierarchy.paths:
                    return spec
    for spec in _ready_made(hierarchy):
        made = _made(spec, column)
        if made is not None and made.paths == hierarchy.paths:
            return spec
    return HierarchySpec.of(hierarchy)


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


def _lowest(hierarchy: Hierarchy | None) -> dict[Any, str] | None:
    return None if hierarchy is None else {value: path[0] for value, path in hierarchy.paths.items()}


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
