"""Random partitions: what closeness and loss chance reaches, to measure a method against."""

from __future__ import annotations

from typing import Annotated

import numpy as np
import numpy.typing as npt
from pydantic import Field

from anoncore.algorithms.base import Algorithm, ClassSize, Seed, generalized_release
from anoncore.algorithms.closeness.locality import Multiplicity, QuasiSpace
from anoncore.base.progress import Progress
from anoncore.kernels.arrays import Codes, Rows
from anoncore.kernels.grouping import put_at
from anoncore.kernels.random_partition import log_partitions, mix, random_sizes
from anoncore.release.openness import Minimality, Openness
from anoncore.release.partition import Partition
from anoncore.release.release import Release
from anoncore.requirements import KAnonymity, Requirement
from anoncore.table.microdata import Microdata

Table = npt.NDArray[np.bool_]

MIXING = 20
"""Exchanges tried per cell of the table of extra rows when both sizes and frequencies are even."""


class RandomPartition(Algorithm):
    """Puts rows into classes of at least k rows by chance, as a reference for t-closeness.

    The two options make the four groups of the dissertation. A, neither option: a partition drawn uniformly from all
    partitions into classes of k rows or more. B, `equal_sizes`: one drawn uniformly from those into floor(n / k)
    classes whose sizes differ by at most one. C, both options: the counts of every sensitive value (or combination of
    values) in two classes differ by at most one too, and a random walk over all such tables of counts decides which
    class has the extra row. D, only `uniform_frequencies`: the number of classes is that of a partition drawn from all
    those possible, then the extra rows of every value at random, and moved where a class would have fewer than k rows.

    Notes
    -----
    Assumes: nothing about people who are alike: classes are drawn without a look at the quasi-identifiers.
    Cost: O(n k) for group A, O(n log n) otherwise.
    Use: a method's closeness is to be compared with what chance reaches.
    Avoid: a release is to be published: its classes have no people who are alike, so almost every cell covers its whole
      domain.

    References
    ----------
    t-closeness dissertation, sections 3.6 and 5.5 (partitions are drawn uniformly from all of a group).

    Examples
    --------
    Seven rows make two classes of three rows or more:

    >>> import pandas as pd
    >>> from anoncore import Microdata
    >>> from anoncore.algorithms import RandomPartition
    >>> data = Microdata(pd.DataFrame({"age": range(20, 27)}), roles={"age": "quasi-identifier"})
    >>> release = RandomPartition(k=3, seed=0).anonymize(data)
    >>> sorted(release.partition.sizes.tolist())
    [3, 4]
    """

    name = "random-partition"
    title = "Random partition"
    source = "Thammanna Gowda 2023, t-closeness dissertation, section 3.6"
    family = "generalization"
    summary = "Puts people into groups by chance: a reference that every method should beat."
    minimality = Minimality(
        Openness.NOT_OPEN,
        "Groups are drawn by chance, at most with a look at how often each sensitive value occurs, and the "
        "quasi-identifiers play no part. If two people of a group had each other's value, the same groups would be "
        "drawn with the same probability.",
    )

    k: ClassSize = 5
    equal_sizes: Annotated[
        bool, Field(title="Equal sizes", description="Sizes of two groups differ by at most one row.")
    ] = True
    uniform_frequencies: Annotated[
        bool,
        Field(title="Uniform frequencies", description="Counts of a sensitive value differ by at most one per group."),
    ] = False
    seed: Seed = None

    def promises(self, data: Microdata) -> tuple[Requirement, ...]:
        """k-anonymity."""
        return (KAnonymity(k=self.k),)

    def validate_data(self, data: Microdata) -> None:
        """Raise DataError without a sensitive attribute where frequencies are asked for, InfeasibleError if k > n."""
        super().validate_data(data)
        if self.uniform_frequencies:
            data.require_sensitive()

    def _release(self, data: Microdata, progress: Progress) -> Release:
        progress(0.1, "Drawing groups")
        space = QuasiSpace.of(data, self.seed)
        bucket = Multiplicity.of(data).of_row if self.uniform_frequencies else np.zeros(data.n_rows, np.int32)
        return generalized_release(self, data, Partition(self.draw(bucket, space.order, space.rng)))

    def draw(self, bucket: Codes, rows: Rows, rng: np.random.Generator) -> Codes:
        """Draw a class for every row.

        Parameters
        ----------
        bucket : ndarray of int32, shape (n_rows,)
            The combination of sensitive values of each row, as a number.
        rows : ndarray of int64, shape (n_rows,)
            The row numbers in random order.
        rng : numpy.random.Generator
            Where the random numbers come from.

        Returns
        -------
        ndarray of int32, shape (n_rows,)
            Number of each row's class.
        """
        n = len(rows)
        if not self.uniform_frequencies:
            if self.equal_sizes:
                return put_at(rows, (np.arange(n) % (n // self.k)).astype(np.int32))
            sizes = _any_sizes(n, self.k, rng)
            return put_at(rows, np.repeat(np.arange(len(sizes), dtype=np.int32), sizes))
        counts = np.bincount(bucket)
        most = n // self.k
        n_classes = most if self.equal_sizes else _number_of_classes(counts, self.k, rng)
        # Every class has counts // n_classes rows of a value; the rest of each value goes to classes one by one.
        extra = _even_extras(counts, n_classes, rng) if self.equal_sizes else _extras(counts, n_classes, self.k, rng)
        held = extra + (counts // n_classes)[:, None]
        classes = np.tile(np.arange(n_classes, dtype=np.int32), len(counts))
        return put_at(rows[np.argsort(bucket[rows], kind="stable")], np.repeat(classes, held.reshape(-1)))


def _any_sizes(n: int, k: int, rng: np.random.Generator) -> Rows:
    """Sizes of the classes of a uniformly drawn partition of n rows into classes of at least k.

    Cutting randomly ordered rows into these sizes is uniform over partitions. Classes beyond 4k + 100 rows are left
    out: their probability is below any that could be met.
    """
    log_count, log_factorial = log_partitions(n, k, min(n, 4 * k + 100))
    return random_sizes(log_count, log_factorial, k, rng.random(n // k))


def _number_of_classes(counts: Rows, k: int, rng: np.random.Generator) -> int:
    """How many classes a partition has that is drawn from all those of uniform frequencies and at least k rows.

    Each number is as likely as it has partitions: per value the ways to choose the classes with one row more, and to
    share the rows out, over the orders of the classes; of these the part whose classes all have k rows, by a saddle
    point for classes that take their extra rows independently of each other.
    """
    log_weights = np.array([_log_partitions(counts, e, k) for e in range(1, int(counts.sum()) // k + 1)])
    weights = np.exp(log_weights - log_weights.max())
    return 1 + int(rng.choice(len(weights), p=weights / weights.sum()))


def _log_partitions(counts: Rows, e: int, k: int) -> float:
    """The logarithm of the number of partitions into e classes, up to one constant for all e."""
    from scipy.special import gammaln

    each, left = counts // e, counts % e
    ways = gammaln(e + 1) - gammaln(left + 1) - gammaln(e - left + 1)
    shared = left * gammaln(each + 2) + (e - left) * gammaln(each + 1)
    log_ways = float((ways - shared).sum() - gammaln(e + 1))
    needed = k - int(each.sum())
    if needed <= 0:
        return log_ways
    # Of the extra rows of one class: how likely each number of them is.
    chance = np.ones(1)
    for share in left[left > 0] / e:
        chance = np.convolve(chance, [1 - share, share])
    enough = np.arange(needed, len(chance))
    tilts = np.linspace(-40.0, 40.0, 1601)[:, None]
    log_terms = np.log(chance[enough]) + tilts * enough
    highest = log_terms.max(axis=1)
    log_sums = highest + np.log(np.exp(log_terms - highest[:, None]).sum(axis=1))
    return log_ways + float((e * log_sums - left.sum() * tilts[:, 0]).min())


def _even_extras(counts: Rows, n_classes: int, rng: np.random.Generator) -> Table:
    """Which class has an extra row of which value, (n_values, n_classes), sizes differing by at most one."""
    left = counts % n_classes
    extra = np.zeros((len(counts), n_classes), bool)
    load = np.zeros(n_classes, np.int64)
    for value in rng.permutation(len(counts)):
        chosen = np.lexsort((rng.random(n_classes), load))[: left[value]]
        extra[value, chosen] = True
        load[chosen] += 1
    mix(extra, MIXING * extra.size, int(rng.integers(2**31)))
    return extra


def _extras(counts: Rows, n_classes: int, k: int, rng: np.random.Generator) -> Table:
    """Which class has an extra row of which value, (n_values, n_classes), where every class has at least k rows."""
    left = counts % n_classes
    extra = np.zeros((len(counts), n_classes), bool)
    for value, number in enumerate(left):
        extra[value, rng.permutation(n_classes)[:number]] = True
    sizes = extra.sum(axis=0) + (counts // n_classes).sum()
    while sizes.min() < k:
        small, large = int(sizes.argmin()), int(sizes.argmax())
        value = rng.choice(np.flatnonzero(extra[:, large] & ~extra[:, small]))
        extra[value, large], extra[value, small] = False, True
        sizes[large] -= 1
        sizes[small] += 1
    return extra
