"""Measures of the group sizes alone."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from anoncore.base.errors import ParameterError
from anoncore.base.score import Score
from anoncore.release.partition import Partition
from anoncore.release.release import Release
from anoncore.requirements import KAnonymity


class GroupScore(Score):
    """A measure of groups; `per_fragment` has one number per fragment, or per shared partition (its first fragment).

    Where fragments have partitions of their own the score is the mean over the fragments.
    """

    per_fragment: dict[str, float]


class AverageGroupSize(GroupScore):
    """Mean rows per group; `normalised` is C_AVG = rows / groups / k, at best 1 (None where no `k` is known)."""

    k: int | None
    normalised: float | None


def discernibility(release: Release) -> GroupScore:
    """Sum over the groups of their size squared: each row costs the number of rows it cannot be told apart from.

    From n (every row alone) to n squared (one group).

    Assumes: each row costs the size of its group, however wide its values are.
    Cost: O(g) for g groups.
    Use: large groups are to weigh more than small ones.
    Avoid: methods with exact values are compared with generalizing ones.
    Source: Bayardo and Agrawal, ICDE 2005.
    """
    n = release.data.n_rows
    per_fragment = _per_fragment(release, lambda partition: float(np.square(partition.sizes).sum()))
    return GroupScore(
        float(np.mean(list(per_fragment.values()))),
        name="discernibility",
        title="Discernibility",
        unit="pairs of rows",
        higher_is_better=False,
        bounds=(float(n), float(n) ** 2),
        baseline=float(n),
        meaning="Sum of the squared group sizes: how many pairs of rows can no longer be told apart.",
        per_fragment=per_fragment,
    )


def average_group_size(release: Release, k: int | None = None) -> AverageGroupSize:
    """Rows per group, and the same divided by k, which says how far the groups exceed the size asked for.

    `k`: smallest group size asked for; if left out, that of the release's algorithm. Raises ParameterError for k < 1.

    Parameters: `k` smallest size asked for, none: that of the release's algorithm.
    Assumes: a group is what cannot be told apart, however wide its values are.
    Cost: O(1) per partition.
    Use: groups are to be compared with the size that was asked for.
    Avoid: methods with exact values are compared with generalizing ones: a group costs nothing of the kind there.
    Source: LeFevre et al., Mondrian, ICDE 2006, section 4 (C_AVG).
    """
    if k is not None and k < 1:
        raise ParameterError(f"k must be at least 1, not {k}.")
    k = k if k is not None else _promised_k(release)
    per_fragment = _per_fragment(release, lambda partition: partition.n_rows / partition.n_groups)
    mean = float(np.mean(list(per_fragment.values())))
    return AverageGroupSize(
        mean,
        name="average-group-size",
        title="Average group size",
        unit="rows",
        higher_is_better=False,
        bounds=(1.0, float(release.data.n_rows)),
        baseline=1.0,
        meaning=f"Rows per {release.group_word} on average.",
        per_fragment=per_fragment,
        k=k,
        normalised=mean / k if k is not None else None,
    )


def _per_fragment(release: Release, measure: Callable[[Partition], float]) -> dict[str, float]:
    fragments = release.fragments[:1] if release.is_shared else release.fragments
    return {fragment.name: measure(fragment.partition) for fragment in fragments}


def _promised_k(release: Release) -> int | None:
    if release.algorithm is None:
        return None
    promised = release.algorithm.promises(release.data)
    return max((one.k for one in promised if isinstance(one, KAnonymity)), default=None)
