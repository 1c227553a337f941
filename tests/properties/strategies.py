"""Random small tables of every kind of column, for property tests."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
from hypothesis import strategies as st

from anoncore import Hierarchy, Microdata

AWKWARD_LABELS = (
    "plain",
    "a, b",
    'say "x"',
    "{c}",
    "two\nlines",
    "größe",
    "日本",
    "",
    " padded ",
    "=1+1",
    "(missing)",
    "NaN",
    "1-2",
    "*",
    "7",
)
NAMES = ("age", "group", "group_", "a, b", 'say "x"', "two\nlines", "größe", "0", "index", "release", "")
IDENTIFIER = "person-of-row-"
"""Every cell of an identifier begins with it, and nothing else does."""

_numbers = st.sampled_from([-3, 0, 1, 2, 3, 5, 8, 40, 41, 10**6, 2**53, 2**53 + 1])
_fractions = st.sampled_from([-2.5, 0.1, 0.3, 0.5, 1.0, 7.25, 1e-9, 1e15])
_labels = st.sampled_from(AWKWARD_LABELS) | st.text(max_size=4)
_days = st.integers(0, 400).map(lambda day: pd.Timestamp("2020-01-01") + pd.Timedelta(days=day))
_pools: dict[str, tuple[st.SearchStrategy[Any], str | None]] = {
    "int64": (_numbers, None),
    "Int64": (_numbers, "missing"),
    "float64": (_fractions, "missing"),
    "bool": (st.booleans(), None),
    "boolean": (st.booleans(), "missing"),
    "str": (_labels, "missing"),
    "category": (_labels, "missing"),
    "datetime64[ns]": (_days, "missing"),
    "object": (_labels | _numbers, "missing"),
}


@st.composite
def columns(draw: st.DrawFn, n_rows: int, values: int = 5, even: bool = False) -> pd.Series:
    """A column of one of the types of `_pools` with at most `values` different values; some have missing cells.

    `even`: all values about equally often.
    """
    dtype = draw(st.sampled_from(sorted(_pools)))
    pool, missing = _pools[dtype]
    known = draw(
        st.lists(pool, min_size=values // 4 if dtype not in ("bool", "boolean") else 1, max_size=values, unique_by=repr)
    )
    choices = [*known, None] if missing and draw(st.booleans()) else known
    if missing and not even and draw(st.sampled_from([False] * 9 + [True])):
        choices = [None]
    cells = [choices[row % len(choices)] for row in range(n_rows)]
    if not even:
        cells = draw(st.lists(st.sampled_from(choices), min_size=n_rows, max_size=n_rows))
    if dtype == "category":
        order = draw(st.permutations(known))
        return pd.Series(pd.Categorical(cells, categories=order, ordered=draw(st.booleans())))
    return pd.Series(cells, dtype=dtype)


@st.composite
def tables(draw: st.DrawFn, min_rows: int = 1, max_rows: int = 40, max_columns: int = 5) -> pd.DataFrame:
    """A table of 1 to `max_columns` columns with awkward names and cells, and an index whose labels may repeat."""
    n_rows = draw(st.integers(min_rows, max_rows))
    names = draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=max_columns, unique=True))
    frame = pd.concat([draw(columns(n_rows)).rename(name) for name in names], axis=1)
    return frame.set_axis(draw(_indexes(n_rows)))


def _indexes(n_rows: int) -> st.SearchStrategy[pd.Index]:
    repeating = st.lists(st.integers(0, 3), min_size=n_rows, max_size=n_rows).map(pd.Index)
    return st.just(pd.RangeIndex(n_rows)) | repeating | st.just(pd.Index([f"row {row}" for row in range(n_rows)]))


@dataclass(frozen=True)
class TaggedTable:
    """A table and its tags, from which Microdata are made; also of its rows in another order."""

    frame: pd.DataFrame
    roles: dict[str, str]
    kinds: dict[str, str] = field(default_factory=dict)
    hierarchies: dict[str, Hierarchy] = field(default_factory=dict)

    def microdata(self) -> Microdata:
        """The table as Microdata."""
        return Microdata(self.frame, self.roles, kinds=self.kinds, hierarchies=self.hierarchies)

    def reordered(self, rows: list[int]) -> TaggedTable:
        """The same rows in another order, under index labels that tell nothing."""
        return replace(self, frame=self.frame.iloc[rows].set_axis(np.zeros(len(rows), dtype=int)))


@st.composite
def tagged_tables(draw: st.DrawFn, min_rows: int = 1, max_rows: int = 40) -> TaggedTable:
    """A table with at least one quasi-identifier, mostly one sensitive attribute and often an identifier.

    The sensitive attribute has more values than the others, so that diversity is often possible. Some attributes have
    a hierarchy.
    """
    frame = draw(tables(min_rows, max_rows, max_columns=4))
    names = list(frame.columns)
    roles = {names[0]: "quasi-identifier"}
    for name in names[1:]:
        roles[name] = draw(st.sampled_from(["quasi-identifier", "quasi-identifier", "insensitive"]))
    if draw(st.sampled_from([True, True, True, False])):
        even = draw(st.sampled_from([True, True, False]))
        frame["illness"] = draw(columns(len(frame), values=12, even=even)).set_axis(frame.index)
        roles["illness"] = "sensitive"
    if draw(st.booleans()):
        frame.insert(0, "who", [f"{IDENTIFIER}{row}" for row in range(len(frame))])
        roles["who"] = "identifier"
    plain = Microdata(frame, roles)
    hierarchies = {}
    for name in plain.quasi_identifiers:
        if draw(st.sampled_from([False, False, True])) and plain.domain[name].values:
            hierarchies[name] = draw(hierarchies_of(list(plain.domain[name].values), plain.domain[name].kind))
    return TaggedTable(frame, roles, hierarchies=hierarchies)


@st.composite
def hierarchies_of(draw: st.DrawFn, values: list[Any], kind: str) -> Hierarchy:
    """A hierarchy of the given values in which neighbours are grouped, so that no order tears a group."""
    if kind == "numeric":
        return Hierarchy.by_quantile(values, draw(st.integers(1, 4)), draw(st.integers(2, 3)))
    cut = draw(st.integers(0, len(values)))
    parts = [part for part in (values[:cut], values[cut:]) if part]
    taxonomy: dict[str, Any] = {f"part {number}": part for number, part in enumerate(parts)}
    if draw(st.booleans()) and len(parts) == 2:
        taxonomy = {"upper": {"part 0": parts[0]}, "part 1": parts[1]}
    return Hierarchy.from_nested(taxonomy)


def microdata(min_rows: int = 1, max_rows: int = 40) -> st.SearchStrategy[Microdata]:
    """Random Microdata, see `tagged_tables`."""
    return tagged_tables(min_rows, max_rows).map(TaggedTable.microdata)
