"""Which line of a published table is which row of the original: an assignment in which every cell allows its value."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cached_property

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_flow

from anoncore.kernels.arrays import Bools, Codes, Floats, Int64, record
from anoncore.kernels.grouping import dense_key, distinct, grouped_rows, owners, places_in, runs_from, starts_of
from anoncore.release.reading.read_columns import ReadColumn
from anoncore.table.domain import Kind

MOST_COMPARED = 2_500
"""Rows that are left over up to which the assignment with the fewest changes is found; more are paired by content."""


@record
class Alignment:
    """Which line is which row.

    Attributes
    ----------
    line : ndarray of int64, shape (n_rows,)
        The line of each row of the original; -1 where the table has none for it.
    n_several : int
        Rows that fit lines of several classes, so that another assignment is possible.
    n_changed : int
        Rows with a line that does not allow all of their values.
    is_found : bool
        False where there may be an assignment in which fewer rows differ, as it was too much to look for.
    """

    line: Int64
    n_several: int
    n_changed: int
    is_found: bool = True


@record
class Classes:
    """Rows or lines that are alike: `of` int64 (n,) is the class of each, `first` one of each class, `sizes` how many
    there are, int64 (n_classes,).
    """

    of: Int64
    first: Int64
    sizes: Int64

    @classmethod
    def alike(cls, columns: Sequence[Codes | Int64], n: int) -> Classes:
        """The classes of what is equal in all columns."""
        of = dense_key(columns, n)
        _, first, sizes = np.unique(of, return_index=True, return_counts=True)
        return cls(of, first.astype(np.int64), sizes.astype(np.int64))

    def __len__(self) -> int:
        return len(self.first)


def align(columns: Mapping[str, ReadColumn], codes: Mapping[str, Codes], known: Collection[str]) -> Alignment:
    """Assign the lines of a table to the rows of the original, of which there are at least as many.

    Rows and lines that are alike are counted once, and as many as possible are joined by a maximum flow in which every
    cell of a line allows its row's value. Rows that are left over get lines that fit but for columns that were changed,
    which show a value in more lines than there are rows with it; what is still left is joined so that as little as
    possible differs.

    Parameters
    ----------
    columns : mapping of str to ReadColumn
        The columns of the table.
    codes : mapping of str to ndarray of int32, shape (n_rows,)
        The codes of the original.
    known : collection of str
        The quasi-identifiers, which count as unchanged where any column may have been changed.

    Returns
    -------
    Alignment
        The assignment.
    """
    return _Aligning(Fitting(columns, codes), known).run()


class Fitting:
    """The rows of the original and the lines of one table as classes of what is alike, and which fit each other.

    Rows are alike that agree in all published attributes, and lines that agree in all cells. A *profile* is what rows
    have in attributes with regions, a *box* what lines show of them; single values make a *key* for both.
    """

    def __init__(self, columns: Mapping[str, ReadColumn], codes: Mapping[str, Codes]) -> None:
        self.columns = columns
        self.regions = {name: column for name, column in columns.items() if not column.is_exact}
        exact = {name: column for name, column in columns.items() if column.is_exact}
        self.codes = {name: codes[name] for name in columns}
        self.n_rows = len(next(iter(self.codes.values())))
        self.n_lines = len(next(iter(columns.values())).cell)
        both = [np.concatenate((codes[name], column.low[column.cell])) for name, column in exact.items()]
        key = dense_key(both, self.n_rows + self.n_lines)
        self.n_keys = int(key.max()) + 1
        self.profiles = Classes.alike([codes[name] for name in self.regions], self.n_rows)
        self.boxes = Classes.alike([column.cell for column in self.regions.values()], self.n_lines)
        self.rows = Classes.alike([self.profiles.of, key[: self.n_rows]], self.n_rows)
        self.lines = Classes.alike([self.boxes.of, key[self.n_rows :]], self.n_lines)
        self.profile, self.row_key = self.profiles.of[self.rows.first], key[: self.n_rows][self.rows.first]
        self.box, self.line_key = self.boxes.of[self.lines.first], key[self.n_rows :][self.lines.first]

    @cached_property
    def boxes_of_profiles(self) -> tuple[Int64, Int64]:
        """The pairs of a profile and a box that allows it."""
        allowed: dict[tuple[str, int], Bools] = {}
        of_profile = {name: self.codes[name][self.profiles.first] for name in self.regions}
        cells = {name: column.cell[self.boxes.first].tolist() for name, column in self.regions.items()}
        found = []
        for box in range(len(self.boxes)):
            fits: Bools | None = None
            for name, column in self.regions.items():
                cell = cells[name][box]
                if (name, cell) not in allowed:
                    allowed[name, cell] = column.allows(cell)[of_profile[name]]
                fits = allowed[name, cell] if fits is None else fits & allowed[name, cell]
            found.append(np.zeros(1, np.int64) if fits is None else np.flatnonzero(fits))
        sizes = [len(profiles) for profiles in found]
        return np.concatenate(found), owners(sizes)

    @cached_property
    def rows_in_boxes(self) -> tuple[Int64, Int64]:
        """The pairs of a class of rows and a box that allows their profile."""
        profile, box = self.boxes_of_profiles
        order, begin = grouped_rows(self.profile, len(self.profiles))
        count = np.diff(begin)[profile]
        return order[runs_from(begin[profile], count)], np.repeat(box, count)

    @cached_property
    def pairs(self) -> tuple[Int64, Int64]:
        """The pairs of a class of rows and a class of lines all of whose cells allow the rows' values."""
        row, box = self.rows_in_boxes
        wanted = box * self.n_keys + self.row_key[row]
        known = self.box * self.n_keys + self.line_key
        by_key = np.argsort(known)
        place, same = places_in(known[by_key], wanted)
        return row[same], by_key[place][same]


class _Aligning:
    """The rows and lines of one table while they are joined."""

    def __init__(self, fitting: Fitting, known: Collection[str]) -> None:
        self.known = known
        self.fitting, self.rows, self.lines = fitting, fitting.rows, fitting.lines
        self.columns, self.codes = fitting.columns, fitting.codes
        self.n_rows, self.n_lines = fitting.n_rows, fitting.n_lines

    def run(self) -> Alignment:
        row, line = self.fitting.pairs
        flow = _flow(row, line, self.rows.sizes, self.lines.sizes)
        pairs = row, line, flow
        names = self._unchanged_columns()
        if flow.sum() < min(self.n_rows, self.n_lines) and 0 < len(names) < len(self.columns):
            kept = Fitting({name: self.columns[name] for name in names}, self.codes)
            pairs = self._with_changed_values(kept, *pairs)
        boxes = distinct(row * len(self.fitting.boxes) + self.fitting.box[line]) // len(self.fitting.boxes)
        several = int(self.rows.sizes[np.bincount(boxes, minlength=len(self.rows)) > 1].sum())
        aligned = dealt(self.rows, self.lines, *pairs)
        self._join_rest(aligned, names)
        return Alignment(aligned, several, int(differing(self.columns, self.codes, aligned).sum()))

    def _with_changed_values(self, kept: Fitting, row: Int64, line: Int64, flow: Int64) -> tuple[Int64, Int64, Int64]:
        """The flow with more of it between rows and lines that need to fit in the columns of `kept` only.

        It goes on from the flow between rows and lines that fit in all columns, so that few of them have to give way.
        """
        sizes = len(self.rows), len(self.lines), len(kept.rows), len(kept.lines)
        begin = starts_of(sizes)
        source, sink = int(begin[4]), int(begin[4]) + 1
        rows, lines = np.arange(sizes[0]), begin[1] + np.arange(sizes[1])
        of_row = begin[2] + kept.rows.of[self.rows.first]
        of_line = begin[3] + kept.lines.of[self.lines.first]
        fitting = begin[2] + kept.pairs[0], begin[3] + kept.pairs[1]
        left = self.rows.sizes - np.bincount(row, weights=flow, minlength=sizes[0]).astype(np.int64)
        free = self.lines.sizes - np.bincount(line, weights=flow, minlength=sizes[1]).astype(np.int64)
        big = np.int64(self.n_rows)
        net = _net_flow(
            [
                (np.full(sizes[0], source), rows, left),
                (row, begin[1] + line, np.full(len(row), big)),
                (begin[1] + line, row, flow),
                (rows, of_row, np.full(sizes[0], big)),
                (*fitting, np.full(len(fitting[0]), big)),
                (of_line, lines, np.full(sizes[1], big)),
                (lines, np.full(sizes[1], sink), free),
            ],
            source,
            sink,
        )
        # What reaches a node may leave it in any order: units are put side by side there.
        units = _units(of_row, rows, _at(net, rows, of_row))
        over = _units(fitting[0], fitting[1], _at(net, *fitting))
        first = units[np.argsort(over, kind="stable")]
        second = _units(of_line, lines, _at(net, of_line, lines)) - begin[1]
        flow = flow + _at(net, row, begin[1] + line)
        if len(first) <= MOST_COMPARED:
            # So few are joined one by one, which finds the smallest changes.
            return row, line, flow
        ones = np.ones(len(first), np.int64)
        return np.concatenate((row, first)), np.concatenate((line, second)), np.concatenate((flow, ones))

    def _unchanged_columns(self) -> list[str]:
        """The columns that may be as they were: no single value is published for more rows than have it."""
        names = []
        for name, column in self.columns.items():
            if column.is_exact:
                size = len(column.domain)
                own, shown = (
                    np.bincount(codes, minlength=size) for codes in (self.codes[name], column.low[column.cell])
                )
                if (shown > own).any():
                    continue
            names.append(name)
        return names if len(names) < len(self.columns) else [name for name in names if name in self.known]

    def _join_rest(self, aligned: Int64, unchanged: Sequence[str]) -> None:
        """Give lines that are left over to the rows that differ least from them."""
        taken = np.zeros(self.n_lines, np.bool_)
        taken[aligned[aligned >= 0]] = True
        rows, lines = np.flatnonzero(aligned < 0), np.flatnonzero(~taken)
        if not len(lines) or not len(rows):
            return
        if max(len(rows), len(lines)) <= MOST_COMPARED:
            one, other = linear_sum_assignment(self._distances(rows, lines, unchanged))
        else:
            one = np.lexsort([self.codes[name][rows] for name in self.columns])[: len(lines)]
            other = np.lexsort([column.low[column.cell[lines]] for column in self.columns.values()])[: len(one)]
        aligned[rows[one]] = lines[other]

    def _distances(self, rows: Int64, lines: Int64, unchanged: Sequence[str]) -> Floats:
        """How much rows differ from lines, float (n_rows, n_lines): a number by its distance, a category by 1.

        A difference in an unchanged column counts more than any in all others.
        """
        total, weight = np.zeros((len(rows), len(lines))), 2.0 * len(self.columns)
        for name, column in self.columns.items():
            codes, cell = self.codes[name][rows], column.cell[lines]
            if column.is_exact and column.domain.kind is Kind.NUMERIC:
                shares = column.domain.shares
                total += np.abs(shares[codes][:, None] - shares[column.low[cell]][None, :])
            if column.is_exact and column.domain.kind is Kind.NUMERIC and name not in unchanged:
                continue
            different, place = np.unique(cell, return_inverse=True)
            allowed = np.array([column.allows(one) for one in different.tolist()])
            total += ~allowed[place][:, codes].T * (weight if name in unchanged else 1.0)
        return total


def differing(columns: Mapping[str, ReadColumn], codes: Mapping[str, Codes], aligned: Int64) -> Bools:
    """Whether the line of each row does not allow all of its values, bool (n_rows,); False for rows without a line."""
    wrong = np.zeros(len(aligned), np.bool_)
    rows = np.flatnonzero(aligned >= 0)
    for name, column in columns.items():
        own, cell = codes[name][rows], column.cell[aligned[rows]]
        wrong[rows] |= (own < column.low[cell]) | (own > column.high[cell])
        for number, one in enumerate(column.cells):
            if one.members is not None:
                with_it = cell == number
                wrong[rows[with_it]] |= ~column.allows(number)[own[with_it]]
    return wrong


def _flow(row: Int64, line: Int64, rows: Int64, lines: Int64) -> Int64:
    """How many rows of each class get lines of each class in a maximum flow, int64 (n_pairs,)."""
    source, sink = len(rows) + len(lines), len(rows) + len(lines) + 1
    edges = [
        (np.full(len(rows), source), np.arange(len(rows)), rows),
        (row, len(rows) + line, np.minimum(rows[row], lines[line])),
        (len(rows) + np.arange(len(lines)), np.full(len(lines), sink), lines),
    ]
    return np.maximum(_at(_net_flow(edges, source, sink), row, len(rows) + line), 0)


def _net_flow(edges: Sequence[tuple[Int64, Int64, Int64]], source: int, sink: int) -> csr_array:
    """The net flow along the edges, of which there is one per pair of nodes."""
    begin, end, capacity = (np.concatenate(part) for part in zip(*edges, strict=True))
    graph = csr_array((capacity.astype(np.int32), (begin, end)), shape=(sink + 1, sink + 1))
    return csr_array(maximum_flow(graph, source, sink).flow)


def _at(net: csr_array, begin: Int64, end: Int64) -> Int64:
    """The net flow from nodes to others, int64 (n_pairs,)."""
    if not len(begin):
        return np.zeros(0, np.int64)
    return np.asarray(net[begin, end]).ravel().astype(np.int64)


def dealt(rows: Classes, lines: Classes, row: Int64, line: Int64, flow: Int64) -> Int64:
    """The line of each row, int64 (n_rows,), -1 for none: `flow` rows of class `row` get lines of class `line`."""
    some = flow > 0
    row, line, flow = row[some], line[some], flow[some]
    aligned = np.full(len(rows.of), -1, np.int64)
    aligned[_taken(rows, row, flow)] = _taken(lines, line, flow)
    return aligned


def _units(node: Int64, other: Int64, flow: Int64) -> Int64:
    """The other end of each unit of a flow, units of one node side by side and nodes ascending."""
    order = np.argsort(node, kind="stable")
    return np.repeat(other[order], np.maximum(flow[order], 0))


def _taken(classes: Classes, chosen: Int64, count: Int64) -> Int64:
    """The next `count` members of each chosen class, so that nobody is taken twice; the count's order is kept."""
    order, begin = grouped_rows(classes.of, len(classes))
    by_class = np.argsort(chosen, kind="stable")
    sizes = count[by_class]
    before = np.cumsum(sizes) - sizes
    first = np.searchsorted(chosen[by_class], chosen[by_class])
    offset = np.empty(len(chosen), np.int64)
    offset[by_class] = before - before[first] if len(chosen) else 0
    return order[runs_from(begin[chosen] + offset, count)]
