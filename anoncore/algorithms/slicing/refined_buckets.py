"""Refinement of sliced tables: rows change places between buckets, so that a reader links more values as they were."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np

from anoncore.algorithms.refinement import content_ranks
from anoncore.algorithms.slicing.tuple_partition import TupleSearch
from anoncore.base.progress import Progress
from anoncore.kernels.arrays import Codes, Floats, Int64
from anoncore.kernels.grouping import dense_key, grouped_rows, put_at, starts_of
from anoncore.kernels.slicing_exchanges import LINES, Limits, Linked, Partners, exchange_between_buckets
from anoncore.release.partition import Partition
from anoncore.release.release import Release
from anoncore.table.microdata import Microdata
from anoncore.utility.reconstruction import Reader, pairs_of

SEED = 19
"""Of the random numbers by which partners are drawn: any fixed one does, so that equal tables have equal releases."""
MOST_ROUNDS = 60
"""Exchanges that are tried for every row at most."""
LEAST_GAINED = 1e-4
"""Share of the rows, as a mean over the pairs of attributes, that a round must bring right for another one to follow,
as a mean over one round with each kind of partner."""
MOST_ROWS = 20_000
"""Rows of the largest bucket that exchanges any: in a larger one a single row changes little and costs much."""
LARGE = 50
"""Rows of the largest bucket that is looked through row by row; of larger ones the rows with each value are counted."""
MOST_TALLIED = 256
"""Values of an attribute up to which the rows of large buckets with each value are counted."""
MOST_CHANGES = 20_000_000_000
"""Changes of expected frequencies after which no further round begins: about a minute, on tables with very many
attributes, rows, or rows of a bucket."""
DENSE = 4
"""Cells of a table of two attributes per row of the data up to which all of them are written down."""
PLACES_AT_ONCE = 2_000
"""Places that the kernel goes through before progress is told."""


def refined_buckets(
    release: Release, search: TupleSearch, columns: Sequence[Sequence[str]], progress: Progress
) -> Partition:
    """The buckets after rows have changed places, each time so that a reader's joint frequencies come nearer.

    In each round every row tries an exchange with a row of another bucket that is like some row of its own bucket: that
    has the same cell in one column, or the same value of one attribute. The exchange stays where the frequencies of the
    pairs of attributes that no column shows together come nearer to the table's, and everybody keeps the l-diversity of
    the search. The sizes of the buckets stay as they are. Rounds are repeated until they bring next to nothing.

    Where columns share attributes or show generalized values, exchanges are judged as if each value were shown exactly
    and linked at random; so the caller has to compare both releases in the end.
    """
    data = release.data
    names = [name for name in release.attributes if name in {*data.quasi_identifiers, *data.sensitive}]
    together = {frozenset(pair) for column in columns for pair in combinations(column, 2)}
    apart = [pair for pair in combinations(range(len(names)), 2) if {names[at] for at in pair} not in together]
    if not apart or release.partition.n_groups == 1:
        return release.partition
    number = _in_order(data, search)
    row = search.buckets.rows[:, -1].astype(np.int64)
    codes = np.column_stack([data.codes[name] for name in names])
    numbered = put_at(number, codes)
    keys = [_members(key, number) for key in _keys(data, columns, names)]
    starts = np.append(np.flatnonzero(search.buckets.begins), data.n_rows).astype(np.int64)
    sizes = np.diff(starts)
    bucket = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)
    at = number[row]
    linked = _linked(release, names, apart, numbered, _tallies(release, names, numbered, bucket, at))
    place = put_at(at, np.arange(data.n_rows))
    (table,), (kept,) = search.tables, search.masses
    masses = kept._replace(
        counts=np.zeros((len(kept.counts), LINES), np.int32),
        pair_counts=np.zeros((len(kept.pair_counts), LINES), np.int32),
    )
    limits = Limits(float(search.guards.l[0]), search.guards.distinct, MOST_ROWS)
    moving = sizes[sizes <= MOST_ROWS].astype(np.float64)
    # Every place expects something else of every pair of attributes; what stays is checked against whole buckets.
    changes = 8 * len(apart) * float((moving * np.minimum(moving, LARGE)).sum()) + 8 * float((moving**2).sum())
    rounds = min(MOST_ROUNDS, 1 + int(MOST_CHANGES / (changes + 1)))
    rng, gained = np.random.default_rng(SEED), np.zeros(rounds)
    enough = LEAST_GAINED * len(apart) * data.n_rows
    for turn in range(rounds):
        draws = rng.random((data.n_rows, 2))
        partners = Partners(*keys[turn % len(keys)], draws)
        search.sum_anew()
        for begin in range(0, data.n_rows, PLACES_AT_ONCE):
            progress((turn + begin / data.n_rows) / rounds, f"Exchanging rows between groups, round {turn + 1}")
            gained[turn] += exchange_between_buckets(
                linked,
                search.buckets.rows,
                starts,
                bucket,
                at,
                place,
                partners,
                table,
                masses,
                limits,
                begin,
                min(begin + PLACES_AT_ONCE, data.n_rows),
            )
        if turn + 1 >= len(keys) and gained[turn + 1 - len(keys) : turn + 1].mean() <= enough:
            break
    return Partition(search.group)


def _in_order(data: Microdata, search: TupleSearch) -> Int64:
    """A number for every row, int64 (n_rows,), by content and then by bucket, and the rows of each bucket put in order.

    So the order of the input decides nothing: rows of equal content are told apart by the bucket that they are in.
    """
    rank = put_at(data.canonical_order, content_ranks(data))
    group = search.group
    number = put_at(np.lexsort((group, rank)), np.arange(data.n_rows))
    rows = search.buckets.rows
    rows[:] = rows[np.lexsort((number[rows[:, -1]], group[rows[:, -1]]))]
    return number


def _keys(data: Microdata, columns: Sequence[Sequence[str]], names: Sequence[str]) -> Iterator[Int64]:
    """By what rows are alike: in turn the cell of each column, and the value of each attribute."""
    for column in columns:
        yield dense_key((data.codes[name] for name in column if name in names), data.n_rows)
    for name in names:
        yield data.codes[name].astype(np.int64)


def _members(key: Int64, number: Int64) -> tuple[Int64, Int64, Int64]:
    """The key of every row by its number, where the rows of each key begin, and these rows."""
    numbered = put_at(number, key)
    rows, start = grouped_rows(numbered)
    return numbered, start, rows


def _tallies(
    release: Release, names: Sequence[str], codes: Codes, bucket: Codes, row: Int64
) -> tuple[Int64, Int64, Codes]:
    """Where the values of each attribute are counted, the line of each bucket, and how many rows have each value."""
    sizes = [len(release.data.domain[name]) for name in names]
    begin = starts_of(size if size <= MOST_TALLIED else 0 for size in sizes)
    is_large = np.bincount(bucket) > LARGE
    line = np.where(is_large, np.cumsum(is_large) - 1, -1).astype(np.int64)
    tally = np.zeros((int(is_large.sum()), int(begin[-1])), np.int32)
    counted = is_large[bucket]
    for a, first in enumerate(begin[:-1]):
        if begin[a + 1] > first:
            np.add.at(tally, (line[bucket[counted]], first + codes[row[counted], a]), 1)
    return begin, line, tally


def _linked(
    release: Release,
    names: Sequence[str],
    apart: Sequence[tuple[int, int]],
    codes: Codes,
    tallies: tuple[Int64, Int64, Codes],
) -> Linked:
    """The pairs of attributes that no column shows together, and what a reader expects of them now."""
    data, reader = release.data, Reader(release)
    sizes = [len(data.domain[name]) for name in names]
    # The attribute with more values comes first: the lists of what occurs with each of its values are then short.
    pairs = [pair if sizes[pair[0]] >= sizes[pair[1]] else pair[::-1] for pair in apart]
    starts, values, cells, begin, width = [np.zeros(1, np.int64)], list[Codes](), list[Floats](), [], []
    n_cells, n_codes = 0, 0
    for a, b in pairs:
        is_dense = sizes[a] * sizes[b] <= DENSE * data.n_rows
        if is_dense:
            x, y = (each.ravel().astype(np.int32) for each in np.indices((sizes[a], sizes[b])))
            key = data.codes[names[a]].astype(np.int64) * sizes[b] + data.codes[names[b]]
            counts = np.bincount(key, minlength=len(x))
            begin.append(n_cells)
        else:
            x, y, counts = pairs_of(data.codes[names[a]], data.codes[names[b]])
            starts.append(n_cells + np.searchsorted(x, np.arange(sizes[a] + 1)))
            begin.append(n_codes)
            n_codes += sizes[a] + 1
        width.append(sizes[b] if is_dense else 0)
        values.append(y)
        cells.append(np.stack((counts.astype(np.float64), reader.expected(names[a], names[b], x, y))))
        n_cells += len(x)
    true, expected = np.concatenate(cells, axis=1)
    return Linked(
        first=np.array([a for a, _ in pairs], np.int64),
        second=np.array([b for _, b in pairs], np.int64),
        codes=np.ascontiguousarray(codes, np.int32),
        tallied=tallies[0],
        tally_of=tallies[1],
        tally=tallies[2],
        width=np.array(width, np.int64),
        begin=np.array(begin, np.int64),
        start=np.concatenate(starts[1:] or starts).astype(np.int64),
        value=np.concatenate(values).astype(np.int32),
        true=np.ascontiguousarray(true),
        expected=np.ascontiguousarray(expected),
    )
