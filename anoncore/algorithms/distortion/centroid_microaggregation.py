"""Centroid microaggregation: every cluster of near rows publishes its mean instead of its values."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Annotated, Any, Literal

import numpy as np
import numpy.typing as npt
from pydantic import Field

from anoncore.algorithms.base import Algorithm, Seed, changed_release
from anoncore.algorithms.closeness.locality import BlockRows, Places, QuasiSpace
from anoncore.base.progress import Progress, silent
from anoncore.kernels.arrays import Codes, Floats, Rows, record
from anoncore.kernels.grouping import distinct, put_at
from anoncore.kernels.rounding import ROUNDING
from anoncore.kernels.within_squares import People, Points, climb, nearest_clusters, runs_of_least_squares
from anoncore.release.openness import Minimality, Openness
from anoncore.release.partition import Partition
from anoncore.release.release import Release
from anoncore.requirements import KAnonymity, Requirement
from anoncore.table.domain import Domain, Kind
from anoncore.table.microdata import Microdata

GRID = np.pi * 1e7
"""Steps of the grid on which coordinates lie, for one standard deviation. The same numbers in another unit round
otherwise; on the grid they are the same again. Its step is no simple fraction, so that real values do not lie just
between two of its places.
"""
NEAR = 20
"""Near rows of each row that are listed."""
MOST_TREE_AXES = 16
"""Axes up to which a tree of points finds near rows quickly; of more, the directions that vary most are taken."""

Axes = list[tuple[Codes, Floats]]
"""Parts of the points, each with the axis and the coordinate of every code of an attribute; both (n_codes,)."""


@record
class SquareSpace:
    """The rows of a table as points, in an order of `rows` that does not depend on how the table is sorted.

    A number is standardised. Ordered categories are numbered by rank and standardised. A category has an axis of its
    own, and in a hierarchy one for every node above it, so that two values lie as far apart as the node that holds both
    is wide. A missing number lies at the mean, one standard deviation off on an axis of its own. The variance of every
    attribute is 1, so that squares are compared with those of the whole table.
    """

    data: Microdata
    rows: Rows

    @cached_property
    def points(self) -> Points:
        """The rows in this order, as kernels see them."""
        axes, values, n_axes = [], [], 0
        for name in self.data.require_quasi_identifiers():
            codes = self.data.codes[name][self.rows]
            for axis, coordinate in _axes(self.data.domain[name], np.bincount(self.data.codes[name])):
                used = np.unique(axis, return_inverse=True)[1].reshape(-1)
                axes.append(used[codes] + n_axes)
                values.append(np.rint(coordinate * GRID)[codes] / GRID)
                n_axes += int(used.max()) + 1
        # Of a table in which every attribute has one value in a hierarchy, nothing is left to measure.
        none = [np.zeros(len(self.rows))]
        value = np.column_stack(values or none)
        return Points(np.column_stack(axes or none).astype(np.int32), value, (value**2).sum(axis=1), max(n_axes, 1))

    def people(self, k: int) -> People:
        """Whose rows they are, in this order."""
        if self.data.people is None:
            return People(np.arange(len(self.rows)), np.ones(len(self.rows), np.bool_), k)
        person = self.data.people[self.rows].astype(np.int64)
        return People(person, np.bincount(person)[person] == 1, k)

    @property
    def is_one_number(self) -> bool:
        """Whether all rows lie on one axis."""
        return self.points.n_axes == 1 and self.points.axis.shape[1] == 1

    def near(self, blocks: Sequence[Rows]) -> Codes:
        """Some near rows of every row, all by their places in the order, int32 (n_rows, n_near).

        They are looked for in the row's block; of points with many axes along those that vary most.
        """
        from scipy.spatial import cKDTree

        wanted = max(min(NEAR, *(len(block) - 1 for block in blocks)), 0)
        near = np.zeros((len(self.rows), wanted), np.int32)
        for block in blocks if wanted else ():
            place = self._directions(block)
            found = np.asarray(cKDTree(place).query(place, wanted + 1)[1])
            # Where many rows lie at one point, a row need not be among its own near ones.
            is_own = found == np.arange(len(block))[:, None]
            is_own[~is_own.any(axis=1), -1] = True
            near[block] = block[found[~is_own]].reshape(len(block), wanted)
        return near

    def _directions(self, block: Rows) -> Floats:
        """Coordinates by which near rows are looked for, float (n, at most MOST_TREE_AXES)."""
        matrix = self._matrix(block)
        if matrix.shape[1] <= MOST_TREE_AXES:
            return np.asarray(matrix.toarray())
        # Axes with the largest variance say most; directions across them would have to be found by a decomposition,
        # whose result depends on the machine.
        mean = np.asarray(matrix.mean(axis=0)).ravel()
        variance = np.asarray(matrix.multiply(matrix).mean(axis=0)).ravel() - mean**2
        largest = np.sort(np.argsort(-variance, kind="stable")[:MOST_TREE_AXES])
        return np.asarray(matrix[:, largest].toarray())

    def joined(self, group: Rows, people: People) -> Rows:
        """Join every cluster with fewer than k people to the one with the nearest mean, the smallest first.

        `group` int64 (n_rows,) numbers the clusters without gaps, and so does what is returned.
        """
        held = np.bincount(np.unique(np.column_stack([group, people.person]), axis=0)[:, 0])
        if held.min() >= people.k:
            return group
        from scipy.sparse import csr_matrix

        n, rows = len(held), np.arange(len(group))
        ones = np.ones(len(group))
        totals = np.asarray((csr_matrix((ones, (group, rows)), (n, len(group))) @ self._matrix(rows)).toarray())
        sizes = np.bincount(group).astype(np.float64)
        there = np.ones(n, np.bool_)
        while there.sum() > 1 and held[there].min() < people.k:
            smallest = int(np.flatnonzero(there)[held[there].argmin()])
            there[smallest] = False
            others = np.flatnonzero(there)
            means = totals[others] / sizes[others, None]
            to = int(others[((means - totals[smallest] / sizes[smallest]) ** 2).sum(axis=1).argmin()])
            group = np.where(group == smallest, to, group)
            totals[to], sizes[to] = totals[to] + totals[smallest], sizes[to] + sizes[smallest]
            held[to] = len(distinct(people.person[group == to]))
        return np.unique(group, return_inverse=True)[1].reshape(-1)

    def _matrix(self, block: Rows) -> Any:
        """The points of some rows, as SciPy holds what is mostly 0: float (n, n_axes)."""
        from scipy.sparse import csr_matrix

        points = self.points
        width = points.axis.shape[1]
        starts = np.arange(0, len(block) * width + 1, width)
        parts = (points.value[block].ravel(), points.axis[block].ravel(), starts)
        return csr_matrix(parts, (len(block), points.n_axes))


def _axes(domain: Domain, counts: npt.NDArray[np.intp]) -> Axes:
    """Axis and coordinate of every code of an attribute whose codes occur so often."""
    share = np.zeros(len(domain))
    share[: len(counts)] = counts / counts.sum()
    if domain.kind is Kind.NOMINAL:
        return _axes_of_categories(domain, share)
    missing = domain.missing_code
    position = domain.steps.astype(np.float64) if domain.kind is Kind.NUMERIC else np.arange(len(domain), dtype=float)
    known = share.copy()
    if missing is not None:
        known[missing] = 0.0
    mean = float((known * position).sum() / known.sum()) if known.sum() > 0 else 0.0
    deviation = float(np.sqrt((known * (position - mean) ** 2).sum() / known.sum())) if known.sum() > 0 else 0.0
    value = (position - mean) / deviation if deviation > 0 else np.zeros(len(domain))
    if missing is None:
        return [(np.zeros(len(domain), np.int32), value)]
    value[missing] = 0.0
    is_missing: Floats = (np.arange(len(domain)) == missing).astype(np.float64)
    none = np.zeros(len(domain), np.int32)
    return [(none, value), (none, is_missing)]


def _axes_of_categories(domain: Domain, share: Floats) -> Axes:
    """An axis for every category, or for every node of the hierarchy, scaled so that the variance is 1."""
    if domain.tree is None:
        nodes: list[Codes] = [np.arange(len(domain), dtype=np.int32)]
        widths = [np.ones(len(domain))]
    else:
        tree = domain.tree
        width = (tree.last - tree.first).astype(np.float64)
        nodes, widths = [], []
        node = tree.leaf.copy()
        while (node > 0).any():
            # What a node is narrower than the one above it; the root is shared by all and has no axis.
            above = np.where(node > 0, tree.parent[node], 0)
            widths.append(np.where(node > 0, width[above] - width[node], 0.0))
            nodes.append(node)
            node = above.astype(np.int32)
    variance = 0.0
    for node, width in zip(nodes, widths, strict=True):
        held = np.bincount(node, weights=share)
        variance += float((share * width * (1 - held[node])).sum())
    scale = 1 / np.sqrt(variance) if variance > 0 else 0.0
    return [(node, np.sqrt(width) * scale) for node, width in zip(nodes, widths, strict=True)]


EFFORT = 50_000_000
"""Products of points that the search takes after the first climb, at most: about a second."""
EFFORT_PER_ROW = 40_000
"""The same for one row: small tables are searched through in less."""


class CentroidMicroaggregation(Algorithm):
    """Publishes the middle of each cluster of at least k people who are alike in place of their quasi-identifiers.

    MDAV finds the clusters: in turn the row farthest from the mean of those left, and the row farthest from it, take
    the nearest rows until the cluster holds k people. A search then changes the clusters as long as that lowers the sum
    of the squared distances from their means: rows move or change places, clusters are dissolved, and a few neighbours
    at a time are formed anew. Every attribute is scaled to the same variance. Where a table has a single
    quasi-identifier, and it is a number, the clusters are proven to have the least sum.

    Of numbers and dates a cluster publishes the mean of those known, as the nearest value that the table has, so that
    it publishes none that nobody has. Of ordered categories it publishes the median, of others the most frequent one.
    Clusters that publish the same are one class.

    All rows of a class are published alike, so it is k-anonymous. What is published is not true of single people: it is
    made for statistics, and is offered for comparison with methods whose cells are wider but true.

    Notes
    -----
    Assumes: readers ask for statistics and not for people; a mean says something, which it does of numbers.
    Cost: O(n^2 d / k) for n rows in a block and d quasi-identifiers by `nearest`, O(d n log n) by `halving`; the search
      takes at most about a second more, whatever the table's size, and what it takes until no row moves any more.
    Use: the release is to be compared with what statistical offices often do with numbers.
    Avoid: single rows must be true, or sensitive values are to be protected: it looks at sizes alone.

    References
    ----------
    Domingo-Ferrer and Mateo-Sanz, IEEE TKDE 14(1), 2002; MDAV: Hundepool et al., mu-Argus manual, 2003; one number:
    Hansen and Mukherjee, IEEE TKDE 15(4), 2003. The search is ours.

    Examples
    --------
    >>> import pandas as pd
    >>> from anoncore import Microdata
    >>> from anoncore.algorithms import CentroidMicroaggregation
    >>> people = pd.DataFrame({"age": [20, 21, 25, 44, 46, 60]})
    >>> data = Microdata(people, roles={"age": "quasi-identifier"})
    >>> release = CentroidMicroaggregation(k=3, seed=0).anonymize(data)
    >>> release.tables()["release"]["age"].tolist()
    [21, 21, 21, 46, 46, 46]
    """

    name = "centroid-microaggregation"
    title = "Centroid microaggregation"
    source = "Domingo-Ferrer and Mateo-Sanz, IEEE TKDE 2002"
    family = "distortion"
    group_word = "cluster"
    summary = "Clusters people who are alike and publishes the middle of each group for all of them."
    minimality = Minimality(
        Openness.NOT_OPEN,
        "Clusters follow the quasi-identifiers, chance among rows at equal distances, and the number of people alone; "
        "the sensitive values play no part, so knowing the method tells nothing about them.",
    )

    k: Annotated[int, Field(ge=1, title="k", description="Fewest people in a group.")] = 5
    clustering: Annotated[
        Literal["nearest", "halving"],
        Field(title="Clustering", description="Take nearest rows (MDAV), or halve the space of quasi-identifiers."),
    ] = "nearest"
    search: Annotated[
        Literal["climb", "none"],
        Field(title="Search", description="Change the groups as long as the squares within them fall, or leave them."),
    ] = "climb"
    block_rows: BlockRows = 10_000
    seed: Seed = None

    def clusters(self, data: Microdata, progress: Progress = silent) -> Partition:
        """The clusters whose middles are published, before those that publish the same become one class.

        Parameters
        ----------
        data : Microdata
            The table.
        progress : callable, optional
            Called with the share done and what is being done; it may raise CancelledError.

        Returns
        -------
        Partition
            The clusters, each with rows of at least k people.
        """
        neighbours = QuasiSpace.of(data, self.seed)
        space = SquareSpace(data, neighbours.order)
        people = space.people(self.k)
        # The numbers of all rows count from here on by their places in this order.
        if self.search == "climb" and space.is_one_number and data.people is None:
            by_value = np.argsort(space.points.value[:, 0], kind="stable")
            group = put_at(by_value, runs_of_least_squares(space.points.value[by_value, 0], self.k))
        else:
            group = self._found(neighbours, space, people, progress)
        return Partition(put_at(space.rows, group.astype(np.int32)))

    def _found(self, neighbours: QuasiSpace, space: SquareSpace, people: People, progress: Progress) -> Rows:
        """Clusters of neighbours, and what the search makes of them, int64 (n_rows,)."""
        n = len(space.rows)
        whole, place = np.zeros(n, dtype=np.int32), put_at(space.rows, np.arange(n))
        places = Places(whole, np.arange(n, dtype=np.int32))
        blocks = [np.sort(place[rows]) for rows in neighbours.blocks(whole, places, self.block_rows, self.k)]
        if self.clustering == "halving":
            places = Places(whole, (np.arange(n) % (n // self.k)).astype(np.int32))
            group = neighbours.hand_out(whole, places)[space.rows].astype(np.int64)
        else:
            group, first = np.empty(n, np.int64), 0
            for turn, block in enumerate(blocks):
                progress(0.6 * turn / len(blocks), "Clustering the nearest rows")
                first = nearest_clusters(space.points, block, people, group, first)
        group = space.joined(group, people)
        if self.search == "climb":
            progress(0.6, "Lowering the squares within the groups")
            seed, effort = int(neighbours.rng.integers(1, 2**31)), min(EFFORT, EFFORT_PER_ROW * n)
            climb(space.points, space.near(blocks), people, group, seed, effort)
        return group

    def promises(self, data: Microdata) -> tuple[Requirement, ...]:
        """k-anonymity."""
        return (KAnonymity(k=self.k),)

    def _release(self, data: Microdata, progress: Progress) -> Release:
        clusters = self.clusters(data, lambda share, text: progress(0.9 * share, text))
        names = data.quasi_identifiers
        middle = {name: _middle(data.domain[name], clusters, data.codes[name]) for name in names}
        note = f"{clusters.n_groups:,} groups publish their middles, which are not the values of their people."
        return changed_release(self, data, middle, (note,))


def _middle(domain: Domain, clusters: Partition, codes: Codes) -> Codes:
    """The code that every row's cluster publishes, int32 (n_rows,): missing where more than half of it is missing."""
    missing = domain.missing_code
    if not domain.values:
        return codes
    known = np.ones(len(codes), np.bool_) if missing is None else codes != missing
    n_known = np.bincount(clusters.group, weights=known, minlength=clusters.n_groups)
    if domain.kind is Kind.NUMERIC:
        sums = np.bincount(clusters.group[known], weights=domain.steps[codes[known]], minlength=clusters.n_groups)
        means = sums / np.maximum(n_known, 1)
        values = domain.steps[: len(domain.values)]
        above = np.clip(np.searchsorted(values, means), 1, max(len(values) - 1, 1))
        below = above - 1
        above = np.minimum(above, len(values) - 1)
        # Half way between two values it is the lower one, in whatever unit the numbers are written.
        is_below = means - values[below] <= (values[above] - values[below]) / 2 * (1 + ROUNDING)
        middle = np.where(is_below, below, above)
    else:
        counts = clusters.histogram(codes, len(domain))[:, : len(domain.values)]
        halves = counts.cumsum(axis=1) * 2 >= counts.sum(axis=1)[:, None]
        middle = counts.argmax(axis=1) if domain.kind is Kind.NOMINAL else halves.argmax(axis=1)
    if missing is not None:
        middle = np.where(2 * n_known < clusters.sizes, missing, middle)
    of_row: Codes = middle.astype(np.int32)[clusters.group]
    return of_row
