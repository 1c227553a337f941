"""Which lines of several tables, joined by the groups that they share, are which row of the original."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import numpy as np

from anoncore.kernels.arrays import Bools, Codes, Int64, record
from anoncore.kernels.group_places import Places, exchange_at_random, exchange_in_chains
from anoncore.kernels.grouping import distinct, grouped_rows, owners, places_in, runs_from, starts_of
from anoncore.release.reading.alignment import Alignment, Classes, Fitting, align, dealt, differing
from anoncore.release.reading.read_columns import ReadColumn
from anoncore.release.reading.taken_places import taken_places

MOST_PAIRS = 20_000_000
"""Pairs of codes up to which lines are joined by exchanges."""
STEPS = 300
"""Exchanges at random that are tried for each line."""
MOST_LOOKED_AT = 300_000_000
"""Lines of the same group that are looked at for exchanges, which takes some seconds; with more of them, fewer
exchanges are tried."""
ROUNDS = 100
"""Rounds of chains of exchanges; most end much earlier."""
MOST_PLACES = 8_000_000
"""Places of rows in groups that are weighed at once; with more of them, one table decides."""


@record
class Wanted:
    """The rows that have lines to come: `first` and `second` are their codes in both tables, and `count` how many rows
    have these, int64 (n_classes,) each.
    """

    first: Int64
    second: Int64
    count: Int64

    def fits(self, first: Int64, second: Int64) -> bool:
        """Whether each code has as many rows as lines."""
        return all(
            np.array_equal(
                np.bincount(rows, weights=self.count), np.bincount(lines, minlength=rows.max(initial=-1) + 1)
            )
            for rows, lines in ((self.first, first), (self.second, second))
        )


def joined_in_groups(first: Int64, second: Int64, group: Int64, wanted: Wanted) -> Int64:
    """The line of the second table for each line of the first one, int64 (n_lines,), each in the same group.

    Parameters
    ----------
    first, second : ndarray of int64, shape (n_lines,)
        What the lines of each table show, as codes.
    group : ndarray of int64, shape (n_lines,)
        The group of the lines of both tables, ascending.
    wanted : Wanted
        The rows that there are.
    """
    n_lines = len(group)
    mixed = np.lexsort((np.random.default_rng(0).random(n_lines), group))
    other = second[mixed].astype(np.int32)
    excess = np.zeros((int(first.max()) + 1, int(second.max()) + 1), np.int32)
    np.add.at(excess, (first, other), 1)
    np.subtract.at(excess, (wanted.first, wanted.second), wanted.count.astype(np.int32))
    different, number = np.unique(group, return_inverse=True)
    by_first = grouped_rows(first, len(excess))
    places = Places(
        first.astype(np.int32),
        other,
        number.astype(np.int32),
        starts_of(np.bincount(number)),
        by_first[1],
        by_first[0],
        excess,
    )
    exchange_at_random(places, min(STEPS * n_lines, MOST_LOOKED_AT * len(different) // n_lines), 1)
    exchange_in_chains(places, ROUNDS)
    joined = np.empty(n_lines, np.int64)
    joined[np.lexsort((other, group))] = np.lexsort((second, group))
    return joined


def rows_of_pairs(first: Int64, second: Int64, wanted: Wanted) -> tuple[Int64, Bools]:
    """The class of rows for each pair of lines, int64 (n_lines,), and whether the pair is one of its rows, bool.

    Pairs that no row has are given to rows without a pair that agree with the line of the first table.
    """
    width = int(max(second.max(), wanted.second.max())) + 1
    known, asked = wanted.first * width + wanted.second, first * width + second
    by_key = np.argsort(known)
    place, is_known = places_in(known[by_key], asked)
    row = by_key[place]
    order = np.argsort(asked, kind="stable")
    rank = np.empty(len(asked), np.int64)
    rank[order] = np.arange(len(asked)) - np.searchsorted(asked[order], asked[order])
    is_own = is_known & (rank < wanted.count[row])
    over = wanted.count - np.bincount(row[is_own], minlength=len(known))
    left = owners(over)
    others = np.flatnonzero(~is_own)
    row[others[np.argsort(first[others], kind="stable")]] = left[np.argsort(wanted.first[left], kind="stable")]
    return row, is_own


@record
class JoinedTable:
    """One of the tables: its columns, and the group of each line, numbered alike in all tables."""

    columns: Mapping[str, ReadColumn]
    group: Int64


def align_joined(
    tables: Sequence[JoinedTable], codes: Mapping[str, Codes], n_rows: int, known: Collection[str]
) -> list[Alignment]:
    """Assign lines of every table to the rows of the original, so that all lines of a row are in one group.

    A place of a row is a group with, in every table, a line that allows the row's values. Which rows take which places
    is an integer program: every line is taken by as many rows as it stands for. Where its solution is not found in
    time, the lines of two tables of single values are joined by exchanges inside groups, which leaves few pairs that
    no row has; rows without a pair get one that differs in the table with fewer different values. Else the table with
    most different lines says which group a row is in, and lines of the others are joined with the rows of their group
    so that as many as possible agree.

    Parameters
    ----------
    tables : sequence of JoinedTable
        The tables, each with as many lines as the original has rows.
    codes : mapping of str to ndarray of int32, shape (n_rows,)
        The codes of the original.
    n_rows : int
        Rows of the original.
    known : collection of str
        The quasi-identifiers.

    Returns
    -------
    list of Alignment
        One for each table.
    """
    sides = [_Side.of(table, codes) for table in tables]
    rows = Classes.alike([side.rows.of for side in sides], n_rows)
    places = _places(sides, rows)
    if places is None:
        return _by_largest(tables, sides, codes, known, is_found=False)
    taken, is_found = taken_places([places.row, *places.line], [rows.sizes, *(side.lines.sizes for side in sides)])
    if taken is None:
        return _by_largest(tables, sides, codes, known, is_found=True)
    groups = places.group * len(rows) + places.row
    n_groups = np.bincount(places.row[np.unique(groups, return_index=True)[1]], minlength=len(rows))
    several = int(rows.sizes[n_groups > 1].sum())
    lacking = [0] * len(sides)
    if not is_found:
        exchanged = _exchanged(places, rows, sides, taken)
        if exchanged is None:
            return _by_largest(tables, sides, codes, known, is_found=False)
        places, taken, lacking = exchanged
    return [
        Alignment(
            dealt(rows, side.lines, places.row, places.line[number], taken), several, lacking[number], not any(lacking)
        )
        for number, side in enumerate(sides)
    ]


@record
class _Side:
    """One table: classes of rows alike in its attributes, of lines alike in cells and group, and what fits what."""

    rows: Classes
    lines: Classes
    group: Int64
    row: Int64
    line: Int64

    @classmethod
    def of(cls, table: JoinedTable, codes: Mapping[str, Codes]) -> _Side:
        fitting = Fitting(table.columns, codes)
        rows, cells = fitting.rows, fitting.lines
        lines = Classes.alike([cells.of, table.group], len(table.group))
        # What fits is found once for equal cells, whatever their groups.
        row, cell = fitting.pairs
        by_cell, begin = grouped_rows(cells.of[lines.first], len(cells))
        count = np.diff(begin)[cell]
        line = by_cell[runs_from(begin[cell], count)]
        return cls(rows, lines, table.group[lines.first], np.repeat(row, count), line)


@record
class _Places:
    """Places: the class of rows, the group, and a class of lines for each table, int64 (n_places,) each."""

    row: Int64
    group: Int64
    line: tuple[Int64, ...]

    def some(self, chosen: Int64 | Bools) -> _Places:
        return _Places(self.row[chosen], self.group[chosen], tuple(line[chosen] for line in self.line))


def _places(sides: Sequence[_Side], rows: Classes) -> _Places | None:
    """All places of all classes of rows; None where there are too many to weigh."""
    own = [side.rows.of[rows.first] for side in sides]
    sizes = []
    for side, of_row in zip(sides, own, strict=True):
        sizes.append(int(np.bincount(side.row, minlength=len(side.rows))[of_row].sum()))
    first = int(np.argmin(sizes))
    if sizes[first] > MOST_PLACES:
        return None
    everyone = np.arange(len(rows), dtype=np.int64)
    found = _Places(everyone, np.full(len(rows), -1, np.int64), tuple(everyone * 0 for _ in sides))
    for number in sorted(range(len(sides)), key=lambda number: (number != first, sizes[number])):
        extended = _extended(found, sides[number], own[number], number)
        if extended is None:
            return None
        found = extended
    return found


def _extended(found: _Places, side: _Side, own: Int64, number: int) -> _Places | None:
    """The places with the lines of one more table that are in their group."""
    any_group = bool(len(found.group)) and found.group[0] < 0
    n_groups = int(side.group.max()) + 1
    known = side.row if any_group else side.row * n_groups + side.group[side.line]
    wanted = own[found.row] if any_group else own[found.row] * n_groups + found.group
    order = np.argsort(known, kind="stable")
    begin, end = (np.searchsorted(known[order], wanted, side=end) for end in ("left", "right"))
    count = end - begin
    if int(count.sum()) > MOST_PLACES:
        return None
    line = side.line[order[runs_from(begin, count)]]
    repeated = found.some(owners(count))
    lines = tuple(line if place == number else one for place, one in enumerate(repeated.line))
    return _Places(repeated.row, side.group[line], lines)


def _exchanged(
    places: _Places, rows: Classes, sides: Sequence[_Side], taken: Int64
) -> tuple[_Places, Int64, list[int]] | None:
    """A place for every row, how many rows take each, and how many differ in the line of each table.

    None where there are not two tables of single values, or where these do not have the values of the rows. Rows keep
    the places that they took already.
    """
    if len(sides) != 2:
        return None
    # The table with fewer different values gives way, as a rule that of the sensitive attributes.
    main = int(np.argmax([len(side.rows) for side in sides]))
    both = [sides[main], sides[1 - main]]
    taken_lines = [places.line[main], places.line[1 - main]]
    left = rows.sizes - np.bincount(places.row, weights=taken, minlength=len(rows)).astype(np.int64)
    open_rows = np.flatnonzero(left)
    own = [side.rows.of[rows.first[open_rows]] for side in both]
    lines, groups, codes = [], [], []
    for side, of_taken in zip(both, taken_lines, strict=True):
        if len(side.line) != len(side.lines) or len(distinct(side.line)) != len(side.lines):
            return None
        shown = np.empty(len(side.lines), np.int64)
        shown[side.line] = side.row
        by_group = np.argsort(side.group, kind="stable")
        free = side.lines.sizes - np.bincount(of_taken, weights=taken, minlength=len(side.lines)).astype(np.int64)
        lines.append(np.repeat(by_group, free[by_group]))
        groups.append(side.group[lines[-1]])
        codes.append(shown[lines[-1]])
    wanted = Wanted(own[0], own[1], left[open_rows])
    if (
        not np.array_equal(groups[0], groups[1])
        or not wanted.fits(*codes)
        or len(both[0].rows) * len(both[1].rows) > MOST_PAIRS
    ):
        return None
    joined = joined_in_groups(codes[0], codes[1], groups[0], wanted)
    row, is_own = rows_of_pairs(codes[0], codes[1][joined], wanted)
    added = [lines[0], lines[1][joined]]
    moved = _Places(
        np.concatenate((places.row, open_rows[row])),
        np.concatenate((places.group, groups[0])),
        tuple(
            np.concatenate((place, more))
            for place, more in zip(places.line, (added if main == 0 else added[::-1]), strict=True)
        ),
    )
    lacking = [0, 0]
    lacking[1 - main] = int((~is_own).sum())
    return moved, np.concatenate((taken, np.ones(len(row), np.int64))), lacking


def _by_largest(
    tables: Sequence[JoinedTable],
    sides: Sequence[_Side],
    codes: Mapping[str, Codes],
    known: Collection[str],
    is_found: bool,
) -> list[Alignment]:
    """The table with most different lines says which group a row is in; the others follow as far as they agree."""
    main = int(np.argmax([len(side.lines) for side in sides]))
    of_main = align(tables[main].columns, codes, known)
    group = tables[main].group[of_main.line]
    aligned = []
    for number, table in enumerate(tables):
        if number == main:
            aligned.append(of_main)
            continue
        line = _within_groups(table, sides[number], group)
        changed = differing(table.columns, codes, line)
        aligned.append(Alignment(line, of_main.n_several, int(changed.sum())))
    is_found = is_found or not any(one.n_changed for one in aligned)
    return [replace(one, is_found=is_found) for one in aligned]


def _within_groups(table: JoinedTable, side: _Side, group: Int64) -> Int64:
    """The line of each row in its group: one that allows its values as far as there are any, else any."""
    classes = Classes.alike([side.rows.of, group], len(group))
    n_groups = int(table.group.max()) + 1
    known = side.row * n_groups + side.group[side.line]
    order = np.argsort(known, kind="stable")
    known, lines = known[order], side.line[order]
    free = side.lines.sizes.copy()
    row, line, flow = [], [], []
    for number, first in enumerate(classes.first.tolist()):
        key = side.rows.of[first] * n_groups + group[first]
        wanted = int(classes.sizes[number])
        for place in range(int(np.searchsorted(known, key)), int(np.searchsorted(known, key, side="right"))):
            amount = min(wanted, int(free[lines[place]]))
            if amount:
                free[lines[place]] -= amount
                wanted -= amount
                row.append(number)
                line.append(int(lines[place]))
                flow.append(amount)
    aligned = dealt(classes, side.lines, *(np.array(part, np.int64) for part in (row, line, flow)))
    left, unused = np.flatnonzero(aligned < 0), np.ones(len(table.group), np.bool_)
    unused[aligned[aligned >= 0]] = False
    spare = np.flatnonzero(unused)
    aligned[left[np.argsort(group[left], kind="stable")]] = spare[np.argsort(table.group[spare], kind="stable")]
    return aligned
