"""Centroid microaggregation: every cluster of near rows publishes its mean instead of its values."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

import numpy as np
from pydantic import Field

from anoncore.algorithms.base import Algorithm, Seed
from anoncore.algorithms.closeness.microaggregation import Microaggregation
from anoncore.base.progress import Progress
from anoncore.kernels.arrays import Codes
from anoncore.kernels.rounding import ROUNDING
from anoncore.release.openness import Minimality, Openness
from anoncore.release.partition import Partition
from anoncore.release.recoding import Distorted, Exact, Recoding
from anoncore.release.release import Fragment, Release
from anoncore.requirements import KAnonymity, Requirement
from anoncore.table.domain import Domain, Kind
from anoncore.table.microdata import Microdata


class CentroidMicroaggregation(Algorithm):
    """Publishes the middle of each cluster of at least k near rows in place of its quasi-identifiers.

    MDAV finds the clusters: in turn the row farthest from the average of those left, and the row farthest from it, take
    the k - 1 nearest rows. Of numbers and dates a cluster publishes the mean of those known, as the nearest value that
    the table has, so that it publishes none that nobody has. Of ordered categories it publishes the median, of others
    the most frequent one. Clusters that publish the same are one class.

    All rows of a class are published alike, so it is k-anonymous. What is published is not true of single people: it is
    made for statistics, and is offered for comparison with methods whose cells are wider but true.

    Notes
    -----
    Assumes: readers ask for statistics and not for people; a mean says something, which it does of numbers.
    Cost: O(n^2 d / k) for n rows in a block and d quasi-identifiers by `nearest`, O(d n log n) by `halving`.
    Use: the release is to be compared with what statistical offices often do with numbers.
    Avoid: single rows must be true, or sensitive values are to be protected: it looks at sizes alone.

    References
    ----------
    Domingo-Ferrer and Mateo-Sanz, IEEE TKDE 14(1), 2002; MDAV: Hundepool et al., mu-Argus manual, 2003.

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
    counts_rows: ClassVar[str] = "its clusters are of k rows, whoever they belong to"
    minimality: ClassVar[Minimality] = Minimality(
        Openness.NOT_OPEN,
        "Clusters follow the quasi-identifiers, chance among rows at equal distances, and the number of rows alone; "
        "the sensitive values play no part, so knowing the method tells nothing about them.",
    )

    k: Annotated[int, Field(ge=1, title="k", description="Fewest rows in a cluster.")] = 5
    clustering: Annotated[
        Literal["nearest", "halving"],
        Field(title="Clustering", description="Take nearest rows (MDAV), or halve the space of quasi-identifiers."),
    ] = "nearest"
    block_rows: Annotated[
        int, Field(ge=100, title="Block size", description="Most rows that are compared with each other.")
    ] = 10_000
    seed: Seed = None

    def promises(self, data: Microdata) -> tuple[Requirement, ...]:
        """k-anonymity."""
        return (KAnonymity(k=self.k),)

    def _release(self, data: Microdata, progress: Progress) -> Release:
        method = Microaggregation(
            k=self.k, t=1.0, clustering=self.clustering, block_rows=self.block_rows, seed=self.seed
        )
        clusters = method.clusters(data, lambda share, text: progress(0.9 * share, text))
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
