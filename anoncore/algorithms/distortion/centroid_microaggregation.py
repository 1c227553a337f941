"""Centroid microaggregation: every cluster of near rows publishes its mean instead of its values."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

import numpy as np
from pydantic import Field

from anoncore.algorithms.base import Algorithm, Seed
from anoncore.algorithms.closeness.locality import Places, QuasiSpace
from anoncore.algorithms.distortion.square_space import SquareSpace
from anoncore.base.progress import Progress, silent
from anoncore.kernels.arrays import Codes, Rows
from anoncore.kernels.rounding import ROUNDING
from anoncore.kernels.within_squares import People, climb, nearest_clusters, runs_of_least_squares
from anoncore.release.openness import Minimality, Openness
from anoncore.release.partition import Partition
from anoncore.release.recoding import Distorted, Exact, Recoding
from anoncore.release.release import Fragment, Release
from anoncore.requirements import KAnonymity, Requirement
from anoncore.table.domain import Domain, Kind
from anoncore.table.microdata import Microdata

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

    name: ClassVar[str] = "centroid-microaggregation"
    title: ClassVar[str] = "Centroid microaggregation"
    source: ClassVar[str] = "Domingo-Ferrer and Mateo-Sanz, IEEE TKDE 2002"
    family: ClassVar[str] = "distortion"
    group_word: ClassVar[str] = "cluster"
    summary: ClassVar[str] = "Clusters people who are alike and publishes the middle of each cluster for all of them."
    minimality: ClassVar[Minimality] = Minimality(
        Openness.NOT_OPEN,
        "Clusters follow the quasi-identifiers, chance among rows at equal distances, and the number of people alone; "
        "the sensitive values play no part, so knowing the method tells nothing about them.",
    )

    k: Annotated[int, Field(ge=1, title="k", description="Fewest people in a cluster.")] = 5
    clustering: Annotated[
        Literal["nearest", "halving"],
        Field(title="Clustering", description="Take nearest rows (MDAV), or halve the space of quasi-identifiers."),
    ] = "nearest"
    search: Annotated[
        Literal["climb", "none"],
        Field(
            title="Search", description="Change the clusters as long as the squares within them fall, or leave them."
        ),
    ] = "climb"
    block_rows: Annotated[
        int, Field(ge=100, title="Block size", description="Most rows that are compared with each other.")
    ] = 10_000
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
            group = np.empty(data.n_rows, dtype=np.int64)
            group[by_value] = runs_of_least_squares(space.points.value[by_value, 0], self.k)
        else:
            group = self._found(neighbours, space, people, progress)
        of_row = np.empty(data.n_rows, dtype=np.int32)
        of_row[space.rows] = group
        return Partition(of_row)

    def _found(self, neighbours: QuasiSpace, space: SquareSpace, people: People, progress: Progress) -> Rows:
        """Clusters of neighbours, and what the search makes of them, int64 (n_rows,)."""
        n = len(space.rows)
        whole, place = np.zeros(n, dtype=np.int32), np.empty(n, dtype=np.int64)
        place[space.rows] = np.arange(n)
        places = Places(whole, np.arange(n, dtype=np.int32))
        blocks = [np.sort(place[rows]) for rows in neighbours.blocks(whole, places, self.block_rows, self.k)]
        if self.clustering == "halving":
            places = Places(whole, (np.arange(n) % (n // self.k)).astype(np.int32))
            group = neighbours.hand_out(whole, places)[space.rows].astype(np.int64)
        else:
            group, first = np.empty(n, dtype=np.int64), 0
            for turn, block in enumerate(blocks):
                progress(0.6 * turn / len(blocks), "Clustering the nearest rows")
                first = nearest_clusters(space.points, block, people, group, first)
        group = space.joined(group, people)
        if self.search == "climb":
            progress(0.6, "Lowering the squares within the clusters")
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
        partition = Partition.alike(list(middle.values()))
        recodings: dict[str, Recoding] = {
            name: Distorted(data.domain[name], partition, middle[name], data.codes[name])
            if name in middle
            else Exact(data.domain[name], partition, data.codes[name])
            for name in data.attributes
        }
        note = f"{clusters.n_groups:,} clusters publish their middles, which are not the values of their people."
        return Release(data, (Fragment("release", partition, recodings),), self, (note,))


def _middle(domain: Domain, clusters: Partition, codes: Codes) -> Codes:
    """The code that every row's cluster publishes, int32 (n_rows,): missing where more than half of it is missing."""
    missing = domain.missing_code
    if not domain.values:
        return codes
    known = np.ones(len(codes), dtype=np.bool_) if missing is None else codes != missing
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
