"""The two-way error: how far the joint frequencies that a reader reconstructs lie from those of the table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
import numpy.typing as npt
import pandas as pd

from anoncore.base.errors import ReleaseError
from anoncore.base.number import Number
from anoncore.base.score import Score
from anoncore.kernels.arrays import Codes, Floats, Int64
from anoncore.kernels.two_way import linked_frequencies, rectangle_frequencies, region_totals
from anoncore.release.partition import Partition
from anoncore.release.recoding import ColumnRegions, Exact, Generalized, GroupValues, Recoding
from anoncore.release.release import Fragment, Release
from anoncore.table.keys import occurring_pairs
from anoncore.utility.regions import Regions, regions_of

TOLERANCE = 1e-9
"""Share of the rows below which rows that are left over come from rounding."""
MOST_CELLS = 4_000_000
"""Pairs of regions, or entries of a table of codes, that are held at once."""

TWO_WAY_ERROR = Number(
    name="two-way-error",
    title="Two-way error",
    template=(
        "Share of the rows that lie in the wrong place in a table of two attributes reconstructed from the release, on "
        "average over all pairs."
    ),
    family="cost",
    source="total variation distance of two-way margins",
    measured_by="utility.two_way_error",
    form="share",
    unit="share of rows",
    higher_is_better=False,
    bounds=(0.0, 1.0),
    baseline="0: the original table.",
)


class TwoWayError(Score):
    """Mean distance between the joint frequencies of two attributes in the table and in the release, from 0 to 1.

    Attributes
    ----------
    pairs : DataFrame
        The distance of every pair, attributes by attributes; 0 between an attribute and itself.

    Examples
    --------
    >>> import pandas as pd
    >>> from anoncore import Microdata, utility
    >>> from anoncore.algorithms import Anatomy
    >>> people = pd.DataFrame({"age": [20, 60], "sex": ["f", "m"], "disease": ["flu", "cold"]})
    >>> data = Microdata(people, roles={"age": "quasi-identifier", "sex": "quasi-identifier", "disease": "sensitive"})
    >>> utility.two_way_error(Anatomy(l=2).anonymize(data)).pairs
             age  sex  disease
    age      0.0  0.0      0.5
    sex      0.0  0.0      0.5
    disease  0.5  0.5      0.0
    """

    pairs: pd.DataFrame


def two_way_error(release: Release) -> TwoWayError:
    """How far the joint frequencies that a reader reconstructs from a release lie from those of the table.

    For every pair of published quasi-identifiers and sensitive attributes, the shares of rows with each pair of values
    are compared: the table's with those that a reader expects who takes all values of a region for equally likely, and
    all links between the rows of one group as well. The distance of a pair is the total variation distance, half the
    sum of the absolute differences: the share of rows that would have to move. The error is the mean over the pairs. It
    is an exact expectation, not one random reconstruction, and it means the same for every form of release.

    Parameters
    ----------
    release : Release
        The release that is judged.

    Returns
    -------
    TwoWayError
        The mean distance, from 0 (all pairs kept) to 1 (nothing left), with the distance of every pair.

    Raises
    ------
    ReleaseError
        If fewer than two quasi-identifiers and sensitive attributes are published.

    Notes
    -----
    Assumes: a reader has nothing but the release and knows the domains. They link fragments with groups of their own by
      the first attribute that both publish, rows whose value is left over at random, and take fragments that share none
      for independent.
    Cost: O(n log m) per pair of attributes with m values.
    Use: releases of different forms are to be compared by one cost.
    Avoid: one attribute counts alone: see `information_loss`; one question: see `query_error`, `classification`.

    References
    ----------
    Total variation distance of two-way margins, as in the evaluation of synthetic tables (McKenna et al., Journal of
    Privacy and Confidentiality 2021).

    Examples
    --------
    One class of all four people hides that the young have the flu. A reader expects each of the four combinations once,
    and two of four rows lie in the wrong place:

    >>> import pandas as pd
    >>> from anoncore import Microdata, utility
    >>> from anoncore.algorithms import Mondrian
    >>> from anoncore.requirements import KAnonymity
    >>> people = pd.DataFrame({"age": [20, 20, 60, 60], "disease": ["flu", "flu", "cold", "cold"]})
    >>> data = Microdata(people, roles={"age": "quasi-identifier", "disease": "sensitive"})
    >>> float(utility.two_way_error(Mondrian(requirements=[KAnonymity(k=2)]).anonymize(data)))
    0.0
    >>> float(utility.two_way_error(Mondrian(requirements=[KAnonymity(k=4)]).anonymize(data)))
    0.5
    """
    wanted = {*release.data.quasi_identifiers, *release.data.sensitive}
    names = [name for name in release.attributes if name in wanted]
    if len(names) < 2:
        raise ReleaseError(
            "The release publishes fewer than two quasi-identifiers and sensitive attributes; the two-way error needs "
            "a pair."
        )
    reader = _Reader(release)
    pairs = pd.DataFrame(0.0, index=names, columns=names)
    for first, second in combinations(names, 2):
        pairs.loc[first, second] = pairs.loc[second, first] = reader.distance(first, second)
    distances = pairs.to_numpy()[np.triu_indices(len(names), 1)]
    return TwoWayError(float(distances.mean()), TWO_WAY_ERROR, baseline=0.0, pairs=pairs)


@dataclass(frozen=True, eq=False)
class _Column:
    """One attribute as a fragment publishes it: the region of every row, and which codes a region allows.

    `group` is the partition whose groups are the regions; None where the regions vary inside a group.
    """

    of_row: Codes
    regions: Regions
    n_codes: int
    group: Partition | None
    is_exact: bool

    @property
    def n_regions(self) -> int:
        return len(self.regions.sizes)

    @cached_property
    def groups_of_codes(self) -> dict[int, tuple[Int64, Codes, Int64]]:
        """By the id of a partition: where the groups of each code begin, the groups, and the rows of each."""
        return {}

    def by_code(self, partition: Partition) -> tuple[Int64, Codes, Int64]:
        """The groups in which each code lies, ascending, and in how many rows."""
        known = self.groups_of_codes.get(id(partition))
        if known is None:
            code, group, count = _pairs(self.of_row, partition.group, self.n_regions, partition.n_groups)
            starts = np.searchsorted(code, np.arange(self.n_regions + 1))
            known = self.groups_of_codes[id(partition)] = starts.astype(np.int64), group, count
        return known


def _column(recoding: Recoding) -> _Column:
    n_codes = len(recoding.domain)
    if isinstance(recoding, Generalized | GroupValues):
        partition = recoding.partition
        return _Column(partition.group, regions_of(recoding), n_codes, partition, False)
    if isinstance(recoding, ColumnRegions):
        classes = recoding.classes
        return _Column(classes.partition.group, regions_of(classes), n_codes, None, False)
    codes, _ = recoding.bounds()
    every = np.arange(n_codes + 1, dtype=np.int64)
    alone = Regions(every, every[:-1], every[:-1], np.ones(n_codes, dtype=np.int64))
    return _Column(codes, alone, n_codes, None, True)


class _Reader:
    """A reader of the release, who reconstructs the joint frequencies of pairs of attributes."""

    def __init__(self, release: Release) -> None:
        self.release = release
        self.data = release.data
        self.columns: dict[tuple[str, str], _Column] = {}

    def column(self, fragment: Fragment, name: str) -> _Column:
        key = (fragment.name, name)
        if key not in self.columns:
            self.columns[key] = _column(fragment.recodings[name])
        return self.columns[key]

    def distance(self, first: str, second: str) -> float:
        """Total variation distance of the pair's joint frequencies."""
        if len(self.data.domain[first]) < len(self.data.domain[second]):
            # The sweep goes along the attribute with more values; the sums of the other one are then short.
            first, second = second, first
        together = next((one for one in self.release.fragments if {first, second} <= set(one.recodings)), None)
        if together is not None and self._is_kept(together, first, second):
            return 0.0
        x, y, counts = _pairs(
            self.data.codes[first],
            self.data.codes[second],
            len(self.data.domain[first]),
            len(self.data.domain[second]),
        )
        if together is not None:
            expected = self._of_rows(self.column(together, first), self.column(together, second), x, y)
        else:
            expected = self._across(first, second, x, y)
        # Both sides have as many rows, so what one has too much lies where the other has too little.
        return max(0.0, 1.0 - float(np.minimum(counts, expected).sum()) / self.data.n_rows)

    def _is_kept(self, fragment: Fragment, first: str, second: str) -> bool:
        recodings = (fragment.recodings[first], fragment.recodings[second])
        return all(
            isinstance(recoding, Exact) and np.array_equal(recoding.codes, self.data.codes[name])
            for name, recoding in zip((first, second), recodings, strict=True)
        )

    def _of_rows(self, one: _Column, other: _Column, x: Codes, y: Codes) -> Floats:
        """Expected rows where the cells of a row belong together."""
        if one.group is not None and one.group is other.group:
            regions = np.arange(one.n_regions, dtype=np.int32)
            return _spread(one, other, regions, regions, one.group.sizes, x, y)
        return _spread(one, other, *_pairs(one.of_row, other.of_row, one.n_regions, other.n_regions), x, y)

    def _across(self, first: str, second: str, x: Codes, y: Codes) -> Floats:
        """Expected rows where no fragment publishes both attributes."""
        fragments = self.release.fragment_of(first), self.release.fragment_of(second)
        one, other = self.column(fragments[0], first), self.column(fragments[1], second)
        if not self.release.is_shared:
            return self._joined(fragments, one, other, x, y)
        if one.group is not None or other.group is not None:
            # All rows of a group have the same region, so it does not matter which of them are linked.
            return self._of_rows(one, other, x, y)
        partition = self.release.partition
        if one.is_exact and other.is_exact:
            return linked_frequencies(x, y, *one.by_code(partition), *other.by_code(partition), partition.sizes)
        expected = np.zeros(len(x))
        for cells, others, weight in _linked(one, other, partition):
            expected += _spread(one, other, cells, others, weight, x, y)
        return expected

    def _joined(self, fragments: tuple[Fragment, Fragment], one: _Column, other: _Column, x: Codes, y: Codes) -> Floats:
        """Expected rows where fragments with groups of their own are joined by an attribute that both publish."""
        shared = next((name for name in fragments[0].recodings if name in fragments[1].recodings), None)
        if shared is None:
            totals = [_totals(column) for column in (one, other)]
            return totals[0][x] * totals[1][y] / self.data.n_rows
        links = [self.column(fragment, shared) for fragment in fragments]
        own, foreign = _totals(links[0]), _totals(links[1])
        paired = np.minimum(own, foreign)
        shares = [np.divide(paired, total, out=np.zeros_like(total), where=total > 0) for total in (own, foreign)]
        weight = np.divide(shares[0] * shares[1], paired, out=np.zeros_like(own), where=paired > 0)
        expected = np.zeros(len(x))
        left = [_totals(column) for column in (one, other)]
        step = max(1, MOST_CELLS // max(one.n_codes, other.n_codes, len(x)))
        for begin in range(0, len(own), step):
            codes = slice(begin, min(begin + step, len(own)))
            mine = _by_link(one, links[0], codes.start, codes.stop)
            theirs = _by_link(other, links[1], codes.start, codes.stop)
            expected += np.einsum("ij,ij,j->i", mine[x], theirs[y], weight[codes])
            left[0] -= mine @ shares[0][codes]
            left[1] -= theirs @ shares[1][codes]
        n_left = self.data.n_rows - float(paired.sum())
        # Changed values may leave more rows of a link in one fragment than in the other; those are linked at random.
        return expected + left[0][x] * left[1][y] / n_left if n_left > TOLERANCE * self.data.n_rows else expected


def _pairs(one: Codes, other: Codes, n_one: int, n_other: int) -> tuple[Codes, Codes, Int64]:
    """The combinations that occur, sorted, as codes, and the rows of each."""
    first, second, counts = occurring_pairs(one, other, n_one, n_other)
    return first.astype(np.int32), second.astype(np.int32), counts.astype(np.int64)


def _spread(
    one: _Column,
    other: _Column,
    cells: Codes,
    others: Codes,
    weight: npt.NDArray[np.int64] | Floats,
    x: Codes,
    y: Codes,
) -> Floats:
    """Expected rows at each pair of codes where each pair of regions is spread evenly over its values."""
    a, b = one.regions, other.regions
    return rectangle_frequencies(
        x,
        y,
        a.offsets,
        a.low,
        a.high,
        a.sizes,
        b.offsets,
        b.low,
        b.high,
        b.sizes,
        cells,
        others,
        weight.astype(np.float64),
        one.n_codes,
        other.n_codes,
    )


def _linked(one: _Column, other: _Column, partition: Partition) -> Iterator[tuple[Codes, Codes, Floats]]:
    """Every two regions of a group with the rows that link them, n_a n_b / size, in parts that memory can hold."""
    mine, theirs = (
        _pairs(partition.group, column.of_row, partition.n_groups, column.n_regions) for column in (one, other)
    )
    starts = [np.searchsorted(side[0], np.arange(partition.n_groups + 1)) for side in (mine, theirs)]
    widths = [np.diff(start) for start in starts]
    products = np.cumsum(widths[0] * widths[1])
    begin = 0
    while begin < partition.n_groups:
        before = products[begin - 1] if begin else 0
        end = max(begin + 1, int(np.searchsorted(products, before + MOST_CELLS, side="right")))
        rows = np.arange(starts[0][begin], starts[0][end])
        width = widths[1][mine[0][rows]]
        first = np.repeat(rows, width)
        within = np.arange(len(first)) - np.repeat(np.cumsum(width) - width, width)
        second = starts[1][mine[0][first]] + within
        weight = mine[2][first] * theirs[2][second] / partition.sizes[mine[0][first]]
        yield mine[1][first], theirs[1][second], weight
        begin = end


def _totals(column: _Column) -> Floats:
    """Expected rows with each code, float (n_codes,)."""
    rows = np.bincount(column.of_row, minlength=column.n_regions).astype(np.float64)
    every = np.arange(column.n_regions, dtype=np.int32)
    regions = column.regions
    sums = region_totals(
        regions.offsets,
        regions.low,
        regions.high,
        regions.sizes,
        every,
        np.zeros_like(every),
        rows,
        (column.n_codes, 1),
    )
    totals: Floats = sums[:, 0]
    return totals


def _by_link(column: _Column, link: _Column, begin: int, end: int) -> Floats:
    """Expected rows with each code and each code of the linking attribute from `begin` to before `end`."""
    cells, others, counts = _pairs(column.of_row, link.of_row, column.n_regions, link.n_regions)
    regions = link.regions
    weight = counts / regions.sizes[others]
    n_runs = np.diff(regions.offsets)[others]
    run = np.repeat(regions.offsets[others], n_runs)
    run += np.arange(len(run)) - np.repeat(np.cumsum(n_runs) - n_runs, n_runs)
    low, high = np.maximum(regions.low[run], begin), np.minimum(regions.high[run], end - 1)
    width = np.maximum(high - low + 1, 0)
    place = np.repeat(np.arange(len(run)), width)
    code = low[place] + np.arange(len(place)) - np.repeat(np.cumsum(width) - width, width)
    cell = np.repeat(np.arange(len(cells)), n_runs)[place]
    own = column.regions
    return region_totals(
        own.offsets,
        own.low,
        own.high,
        own.sizes,
        cells[cell],
        (code - begin).astype(np.int32),
        weight[cell],
        (column.n_codes, end - begin),
    )
