"""Microaggregation: clusters of near rows that are k-anonymous and t-close."""

from __future__ import annotations

from functools import cached_property
from math import ceil
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from anoncore.algorithms.base import Algorithm, Seed, generalized_release
from anoncore.algorithms.closeness.locality import BlockRows, GroundDistance, Multiplicity, Places, QuasiSpace
from anoncore.base.errors import DataError
from anoncore.base.progress import Progress
from anoncore.base.shared_work import shared
from anoncore.kernels.arrays import Codes, Floats, Rows, record
from anoncore.kernels.grouping import put_at, starts_of
from anoncore.kernels.nearest import centers, draw_strata, mdav, merge_until_close
from anoncore.kernels.rounding import ROUNDING, stays_within
from anoncore.release.openness import Minimality, Openness
from anoncore.release.partition import Partition
from anoncore.release.release import Release
from anoncore.requirements import CheckSet, KAnonymity, Requirement, TCloseness
from anoncore.requirements.t_closeness import Ground, ground_reference
from anoncore.table.microdata import Microdata

STEP = 1.02
"""Factor by which the number of strata grows from one try to the next, where that is more than one stratum."""


@record
class Strata:
    """The rows, sorted by sensitive value and cut into `size` runs; `of_row`, int32 (n_rows,), is the run of every row.

    Each stratum has `n_clusters` rows; the middle one also has the `extra` rows that are left over.
    """

    of_row: Codes
    size: int
    n_clusters: int
    extra: int

    @property
    def middle(self) -> int:
        """The stratum that may have extra rows."""
        return self.size // 2

    @cached_property
    def places(self) -> Places:
        """What every cluster takes: one row of each stratum, the first `extra` clusters two of the middle one."""
        held = np.full(self.size, self.n_clusters)
        held[self.middle] += self.extra
        bucket = np.repeat(np.arange(self.size, dtype=np.int32), held)
        begins = starts_of(held)[:-1]
        return Places(bucket, ((np.arange(len(bucket)) - begins[bucket]) % self.n_clusters).astype(np.int32))

    @classmethod
    def within(cls, data: Microdata, attribute: str, ground: Ground, t: float, k: int, rows: Rows) -> Strata:
        """The fewest strata, at least k, whose clusters are t-close whichever row they take of each.

        The paper's bound, (n - k) / (2 (n - 1) k), assumes that every value occurs once. Here the bound is
        `worst_distance`, which is the same in that case and otherwise counts equal values as they are. `rows` gives the
        order of rows with equal values.
        """
        values = data.sensitive_view(attribute)
        n = data.n_rows
        codes = values.codes[rows]
        reference = ground_reference(data, values, ground)
        along_order = ground in ("ordered", "interval") and values.unique < 0
        wanted = k
        if ground == "ordered" and along_order and values.size == n > 1:
            wanted = max(k, ceil(n / (2 * (n - 1) * t + 1)))
        while True:
            n_clusters = n // wanted
            size = n // n_clusters
            extra = n - size * n_clusters
            worst = worst_distance(reference, values.size, size, n_clusters, extra, along_order)
            if stays_within(worst, t, ROUNDING / 2):
                break
            wanted = min(max(size + 1, ceil(size * STEP)), n)
        stratum = np.repeat(np.arange(size, dtype=np.int32), _held(size, n_clusters, extra))
        return cls(put_at(rows[np.argsort(codes, kind="stable")], stratum), size, n_clusters, extra)


def _held(size: int, n_clusters: int, extra: int) -> Rows:
    held = np.full(size, n_clusters)
    held[size // 2] += extra
    return held


def worst_distance(
    reference: Floats, n_values: int, size: int, n_clusters: int, extra: int, along_order: bool = True
) -> float:
    """The largest distance from the table of a cluster that takes one row of each stratum, or two of the middle one.

    Along the order, a prefix of the values cuts at most one stratum. The distance is largest if that stratum's row lies
    at one of its two ends, so the bound is reached. For other ground distances each edge is taken at its worst, which
    may be more than any cluster reaches.
    """
    kinds = [np.ones(size)]
    if extra > 0:
        kinds.append(np.ones(size))
        kinds[1][size // 2] = 2
    if extra == n_clusters:
        kinds = kinds[1:]
    begins = starts_of(_held(size, n_clusters, extra))
    edges = reference[n_values + 1 :].reshape(-1, 3)
    below = np.concatenate(([0], np.cumsum(reference[:n_values]))).astype(np.int64)
    first, last = below[edges[:, 0].astype(np.int64)], below[edges[:, 1].astype(np.int64) + 1]
    return max(_worst(taken, begins, first, last, edges[:, 2], along_order) for taken in kinds)


def _worst(taken: Floats, begins: Rows, first: Rows, last: Rows, weight: Floats, along_order: bool) -> float:
    """The largest distance of a cluster that takes `taken` rows of each stratum.

    The edges separate the sorted rows from `first` to `last` from the others.
    """
    total = taken.sum()
    before = np.concatenate(([0.0], np.cumsum(taken)))
    cut = np.searchsorted(begins, last, "right") - 1
    sure = np.maximum(before[cut] - before[np.searchsorted(begins, first, "left")], 0.0)
    high_cut = np.searchsorted(begins, last, "left")
    possible = before[high_cut] - before[np.searchsorted(begins, first, "right") - 1]
    # In units of 1 / (total * n) the surplus of an edge is a whole number.
    n = begins[-1]
    share = (last - first) * total
    least, most = weight * np.abs(sure * n - share), weight * np.abs(possible * n - share)
    if not along_order:
        return float(np.maximum(least, most).sum() / total / n)
    size = len(taken)
    whole = begins[cut] == last
    stratum = np.minimum(cut, size - 1)
    low = np.bincount(stratum[~whole], weights=least[~whole], minlength=size)
    high = np.bincount(stratum[~whole], weights=most[~whole], minlength=size)
    return float((least[whole].sum() + np.maximum(low, high).sum()) / total / n)


ALL_CLUSTERS = 10_000
"""Up to this many clusters all are compared when merging; above it those that are near in number."""
REACH = 500
"""How far away in number clusters are compared where there are more of them."""
ROUNDS = 3
"""Rounds of exchanges between clusters that are free to take any row."""


class Microaggregation(Algorithm):
    """Makes clusters of at least k near rows, each t-close in every sensitive attribute.

    `variant` says how clusters become close. `merge` clusters by the quasi-identifiers alone, then merges the cluster
    that is farthest from the table with its nearest neighbour until all are t-close. `swap` (k-anonymity first)
    exchanges rows of a new cluster for others that lower its distance while it is not t-close, and merges what remains.
    `t-first` cuts the rows, sorted by sensitive value, into as many strata as t needs, and takes one row of each into
    every cluster; it needs one sensitive attribute, whose categories it ranks by the attribute's order.

    `clustering` says how near rows are found. `nearest` is MDAV as in the source, which takes the rows nearest to a far
    one. Tables above `block_rows` rows are first cut into blocks that each mirror the table as the variant needs.
    `halving` cuts the space of the quasi-identifiers in halves as Stack & Deal does, in time O(d n log n), and
    exchanges rows. On Adult it is faster than `nearest` and loses less information.

    Notes
    -----
    Assumes: a distance between people that makes sense in the quasi-identifiers; t-first needs one sensitive attribute
      with an order.
    Cost: O(n^2 d / k) by `nearest` on n rows in a block, O(d n log n) by `halving`.
    Use: both k-anonymity and t-closeness are asked for, and classes of similar size suit.
    Avoid: other requirements than these two are needed, or the table is large and the clustering is `nearest`.

    References
    ----------
    Soria-Comas, Domingo-Ferrer, Sanchez and Martinez, IEEE TKDE 27(11), 2015; t-closeness dissertation, section 2.6.5.

    Examples
    --------
    Clusters of the young and the old would be 1/3 away from the salaries of all, which t = 0.4 allows and t = 0.2 does
    not:

    >>> import pandas as pd
    >>> from anoncore import Microdata
    >>> from anoncore.algorithms import Microaggregation
    >>> people = pd.DataFrame({"age": [21, 22, 44, 46], "salary": [10, 20, 30, 40]})
    >>> data = Microdata(people, roles={"age": "quasi-identifier", "salary": "sensitive"})
    >>> for t in (0.4, 0.2):
    ...     release = Microaggregation(k=2, t=t, seed=0).anonymize(data)
    ...     print(t, sorted(release.recoding("age").group_texts))
    0.4 ['21-22', '44-46']
    0.2 ['21-46']
    """

    name = "microaggregation"
    title = "Microaggregation"
    source = "Soria-Comas et al., IEEE TKDE 2015; t-closeness dissertation, section 2.6.5"
    family = "generalization"
    group_word = "cluster"
    summary = "Clusters people who are alike and makes every group mirror the table's sensitive values well enough."
    minimality = Minimality(
        Openness.OPEN,
        "Clusters are merged, exchanged or dealt until each is t-close, so readers know that smaller or nearer "
        "groups would have been too far from the table.",
    )

    k: Annotated[int, Field(ge=1, title="k", description="Fewest rows in a group.")] = 5
    t: Annotated[float, Field(ge=0, le=1, title="t", description="Largest EMD from the table, 0 to 1.")] = 0.2
    variant: Annotated[
        Literal["merge", "swap", "t-first"],
        Field(title="Variant", description="How groups get close: merged, by swapping rows, or drawn from strata."),
    ] = "merge"
    ground: GroundDistance = "ordered"
    clustering: Annotated[
        Literal["halving", "nearest"],
        Field(title="Clustering", description="Halve the space of quasi-identifiers, or take nearest rows (slow)."),
    ] = "halving"
    block_rows: BlockRows = 10_000
    seed: Seed = None

    def promises(self, data: Microdata) -> tuple[Requirement, ...]:
        """k-anonymity and t-closeness of every sensitive attribute."""
        return KAnonymity(k=self.k), self._closeness

    @property
    def _closeness(self) -> TCloseness:
        return TCloseness(t=self.t, ground=self.ground)

    def validate_data(self, data: Microdata) -> None:
        """Raise DataError where strata meet several sensitive attributes, InfeasibleError if k > n."""
        super().validate_data(data)
        if self.variant == "t-first" and len(data.sensitive) > 1:
            raise DataError(
                f"The variant t-first sorts by one sensitive attribute, but {len(data.sensitive)} are tagged "
                f"({', '.join(data.sensitive)}); use merge or swap."
            )

    def _release(self, data: Microdata, progress: Progress) -> Release:
        space = QuasiSpace.of(data, self.seed)
        progress(0.05, "Clustering")
        if self.variant == "t-first":
            strata = Strata.within(data, data.sensitive[0], self.ground, self.t, self.k, space.order)
            group = self._drawn(strata, space, progress)
            note = f"{strata.size} strata of sensitive values, one row of each in a group."
            return generalized_release(self, data, Partition(group), (note,))
        group = self._clustered(space, progress)
        progress(0.8, "Merging groups")
        merged = self._merged(group, space)
        note = f"{int(group.max()) + 1:,} groups, {merged.n_groups:,} after merging."
        return generalized_release(self, data, merged, (note,))

    def _drawn(self, strata: Strata, space: QuasiSpace, progress: Progress) -> Codes:
        """One row of every stratum per cluster."""
        if self.clustering == "halving":
            group = space.hand_out(strata.of_row, strata.places)
            return space.refine(
                group, strata.of_row, report=lambda done: progress(0.3 + 0.5 * done, "Exchanging rows")
            )[0]
        places = strata.places
        blocks = space.blocks(strata.of_row, places, self.block_rows, self.k)
        group = np.empty(space.data.n_rows, np.int32)
        first = 0
        for turn, rows in enumerate(blocks):
            first = draw_strata(space.kernel, rows, strata.of_row, strata.size, strata.middle, group, first)
            progress(0.1 + 0.7 * (turn + 1) / len(blocks), "Drawing from the strata")
        return group

    def _clustered(self, space: QuasiSpace, progress: Progress) -> Codes:
        """Clusters by neighbourhood; for `swap` with their rows exchanged as far as that makes them close."""
        if self.seed is None:
            return self._neighbours(space, progress)
        # Only an exchange knows of t: clusters that are merged later are the same for every t.
        closeness = repr(self._closeness) if self.variant == "swap" else ""
        key = ("microaggregation", self.seed, self.k, self.clustering, self.block_rows, closeness)
        return shared(space.data, key, lambda: self._neighbours(space, progress))

    def _neighbours(self, space: QuasiSpace, progress: Progress) -> Codes:
        """Clusters of neighbours, worked out here."""
        n = space.data.n_rows
        swap = self.variant == "swap"
        wanted: tuple[Requirement, ...] = (self._closeness,) if swap else ()
        whole = np.zeros(n, np.int32)
        if self.clustering == "halving":
            dealt = (np.arange(n) % (n // self.k)).astype(np.int32)
            group = space.hand_out(whole, Places(whole, dealt))
            return space.refine(
                group, whole, wanted, ROUNDS, lambda done: progress(0.3 + 0.4 * done, "Exchanging rows")
            )[0]
        checks = CheckSet(wanted, space.data)
        bucket = Multiplicity.of(space.data).of_row if swap else whole
        blocks = space.blocks(bucket, Places(np.sort(bucket), np.arange(n, dtype=np.int32)), self.block_rows, self.k)
        group = np.empty(n, np.int32)
        first = 0
        for turn, rows in enumerate(blocks):
            first = mdav(space.kernel, rows, self.k, checks.cells, checks.kernel, group, first)
            progress(0.1 + 0.7 * (turn + 1) / len(blocks), "Clustering the nearest rows")
        return group

    def _merged(self, group: Codes, space: QuasiSpace) -> Partition:
        """Merge clusters that are not t-close."""
        checks = CheckSet((self._closeness,), space.data)
        partition = Partition(group)
        averages = centers(space.kernel, space.by_bucket(group), partition.starts)
        counts = np.hstack([partition.histogram(view.codes, view.size) for view in checks.views]).astype(np.int32)
        reach = partition.n_groups if partition.n_groups <= ALL_CLUSTERS else REACH
        into = merge_until_close(space.attributes, averages, partition.sizes.copy(), counts, checks.kernel, reach)
        return Partition.alike([into[group]])
