"""How many people of a population fit each published class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from anoncore.base.errors import DataError
from anoncore.base.texts import listing, value_text
from anoncore.base.typed_values import value_key
from anoncore.kernels.arrays import Codes, Int64, record
from anoncore.kernels.grouping import dense_key, runs_from
from anoncore.kernels.guessing import Positions, Regions, count_inside
from anoncore.release.recoding import ColumnRegions, Generalized, GroupValues, Recoding
from anoncore.release.release import Fragment
from anoncore.table.domain import Domain, Kind
from anoncore.table.hierarchy import Hierarchy
from anoncore.table.microdata import Microdata, content_order


@record
class Points:
    """People as points between the codes of a released table, an axis per attribute; equal ones are one point.

    `below` and `above` int32 (n_points, n_axes) are the codes next to a value, `weight` int64 (n_points,) the people.
    `has_hierarchy` says of each axis whether a hierarchy was given; without one the only node above a value is `*`.
    """

    below: Codes
    above: Codes
    weight: Int64
    has_hierarchy: tuple[bool, ...]

    @classmethod
    def of(cls, population: Microdata, domains: Mapping[str, Domain], hierarchies: Mapping[str, Hierarchy]) -> Points:
        """The people of a population by the attributes of these domains, which are the released table's.

        Raises DataError where the population lacks one of the attributes.
        """
        lacking = [name for name in domains if name not in population.codes]
        if lacking:
            raise DataError(
                f"The population lacks the quasi-identifier {listing(lacking)}; "
                f"it has {listing(population.attributes, 30)}."
            )
        pairs = [neighbours(population, name, domain, hierarchies.get(name)) for name, domain in domains.items()]
        below, above = (np.column_stack([pair[side] for pair in pairs]) for side in (0, 1))
        columns = [column + 1 for side in (below, above) for column in side.T]
        key = dense_key(columns, population.n_rows)
        _, first, weight = np.unique(key, return_index=True, return_counts=True)
        points = [column[first] for column in columns]
        order = content_order(points, [int(column.max()) + 1 for column in points])
        has_hierarchy = tuple(name in hierarchies for name in domains)
        return cls(below[first][order], above[first][order], weight[order], has_hierarchy)

    def inside(self, cells: Sequence[tuple[Recoding, Int64]]) -> Int64:
        """People who fit published cells, a recoding per axis with the rows that are looked at, int64 (n,).

        A number fits a range that it lies in, whether or not it occurs in the table. A category fits a set that it is
        in, and a node that the hierarchy puts it below, again whether or not it occurs; the top of a hierarchy and `*`
        fit everybody.
        """
        found = regions(cells)
        low, high = found.low, found.high
        for axis, (recoding, _) in enumerate(cells):
            if isinstance(recoding, Generalized) and recoding.form == "node" and not self.has_hierarchy[axis]:
                last = len(recoding.domain) - 1
                is_any = (low[:, axis] == 0) & (high[:, axis] == last) & (last > 0)
                low[is_any, axis], high[is_any, axis] = -1, last + 1
        return count_inside(Positions(self.below, self.above), self.weight, found)


def population_sizes(
    fragment: Fragment,
    names: Sequence[str],
    rows: Int64,
    population: Microdata,
    hierarchies: Mapping[str, Hierarchy],
) -> Int64:
    """People of the population whose values fit the published cells of the given rows (see `Points`), int64 (n,)."""
    recodings = {name: fragment.recodings[name] for name in names}
    points = Points.of(population, {name: one.domain for name, one in recodings.items()}, hierarchies)
    return points.inside([(one, rows) for one in recodings.values()])


def neighbours(population: Microdata, name: str, domain: Domain, hierarchy: Hierarchy | None) -> tuple[Codes, Codes]:
    """For each person the table's codes next to their value, below and above; twice its code where the table has it."""
    of_population = population.domain[name]
    if domain.kind is Kind.NUMERIC and of_population.kind is Kind.NUMERIC and domain.is_date == of_population.is_date:
        known, values = _comparable(domain.values), _comparable(of_population.values)
        if known.dtype != values.dtype:
            # Python compares a whole number with a fraction, and dates of different units, without rounding either.
            known, values = known.astype(object), values.astype(object)
        below = np.searchsorted(known, values, side="right") - 1
        above = np.searchsorted(known, values, side="left")
        above[above == len(known)] = len(domain)
    else:
        by_key = {value_key(value): code for code, value in enumerate(domain.values)}
        by_text = {value_text(value): code for code, value in enumerate(domain.values)}
        below = np.array(
            [by_key.get(value_key(value), by_text.get(value_text(value), -1)) for value in of_population.values],
            np.int64,
        )
        above = below
    if of_population.has_missing:
        missing = domain.missing_code if domain.missing_code is not None else -1
        below, above = np.append(below, missing), np.append(above, missing)
    if hierarchy is not None:
        below, above = _below_nodes(of_population, domain, hierarchy, below, above)
    return below[population.codes[name]].astype(np.int32), above[population.codes[name]].astype(np.int32)


def _comparable(values: Sequence[Any]) -> npt.NDArray[Any]:
    """Ascending numbers or dates as they are held, dates without their time zone."""
    dated = [value.tz_convert(None) if isinstance(value, pd.Timestamp) and value.tz else value for value in values]
    return np.array(dated, object if dated and isinstance(dated[0], pd.Timestamp) else None)


def _below_nodes(
    of_population: Domain, domain: Domain, hierarchy: Hierarchy, below: Int64, above: Int64
) -> tuple[Int64, Int64]:
    """The neighbours of each value, but the first and last code of the lowest node above it where the table lacks it.

    A cell holds all codes of that node if and only if it is the node or lies above it. A value that the hierarchy does
    not list, and a missing one, lie below its top alone, unless the value is a number between two of the table.
    """
    tree = domain.tree
    if tree is None:
        return below, above
    nodes = zip(tree.level.tolist(), tree.labels, tree.first.tolist(), tree.last.tolist(), strict=True)
    spans = {(level, label): (first, last) for level, label, first, last in nodes if level > 0}
    nowhere = (-1, len(domain))
    top = (0, len(domain) - 1) if tree.level[0] == hierarchy.height else nowhere
    below, above = below.copy(), above.copy()
    for code, value in enumerate(of_population):
        if below[code] == above[code] >= 0:
            continue
        path = None if value is None else hierarchy.path_of(value)
        if path is not None:
            above_value = enumerate(path, start=1)
            below[code], above[code] = next((spans[node] for node in above_value if node in spans), nowhere)
        elif not 0 <= below[code] < above[code] < len(domain.values):
            below[code], above[code] = top
    return below, above


def regions(cells: Sequence[tuple[Recoding, Int64]]) -> Regions:
    """Published cells, an axis per recoding, of the rows that stand beside it, int64 (n,)."""
    bounds = [(recoding.bounds(), rows) for recoding, rows in cells]
    low, high = (np.column_stack([pair[side][rows] for pair, rows in bounds]) for side in (0, 1))
    sizes = np.zeros((len(cells[0][1]), len(cells)), np.int64)
    sets = {
        axis: set_of_rows
        for axis, (recoding, rows) in enumerate(cells)
        if (set_of_rows := _sets(recoding, rows)) is not None
    }
    for axis, (begin, end, _) in sets.items():
        sizes[:, axis] = end - begin
    start = _starts_of_sets(sizes)
    members = np.zeros(int(sizes.sum()), np.int32)
    for axis, (begin, end, values) in sets.items():
        width = end - begin
        members[runs_from(start[:, axis], width)] = values[runs_from(begin, width)]
    return Regions(low, high, start, members)


def sets_from(begin: Int64, sizes: Int64, members: Codes) -> tuple[Int64, Codes]:
    """The sets of these sizes that begin there in `members`, int64 (n_records, n_axes) both, as `regions` has them."""
    return _starts_of_sets(sizes), members[runs_from(begin.ravel(), sizes.ravel())]


def _starts_of_sets(sizes: Int64) -> Int64:
    """Where the sets of each record begin and where its last one ends, int64 (n_records, n_axes + 1)."""
    ends = np.cumsum(sizes).reshape(sizes.shape)
    return np.column_stack((ends[:, 0] - sizes[:, 0], ends))


def _sets(recoding: Recoding, rows: Int64) -> tuple[Int64, Int64, Codes] | None:
    """The members of all sets, and where each row's set begins and ends among them; None where cells are intervals."""
    if isinstance(recoding, ColumnRegions):
        recoding = recoding.classes
    if not isinstance(recoding, Generalized | GroupValues) or recoding.offsets is None or recoding.members is None:
        return None
    group = recoding.partition.group[rows]
    return recoding.offsets[group], recoding.offsets[group + 1], recoding.members
