"""Membership disclosure where fragments have groups of their own: how likely a person's record is in their join."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np
import numpy.typing as npt

from anoncore.base.score import Score
from anoncore.privacy.common_attribute import common_attribute, expected_counts
from anoncore.release.release import Release

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class JoinLikelihood:
    """Likelihood of membership of every person of the table, float (n_rows,) in original row order.

    `joined` float (n_rows,) is the number of rows (expected ones, where classes publish value sets) in the join of the
    person's classes on `common`, `total` that of the join of the whole fragments, most of them fake. `largest` and
    `mean` are those of the likelihood (baseline: a random class of each fragment), `unmatched` is the share of the
    people whose classes join to nothing because of changed class values.
    """

    common: str
    likelihood: Floats
    joined: Floats
    total: float
    largest: Score
    mean: Score
    unmatched: Score


def join_likelihood(release: Release) -> JoinLikelihood:
    """How likely the join of fragments holds the record of a person whose class in each fragment is known.

    Rows of the join of the person's classes / rows of the join of the fragments: the chance that a random row of the
    join is one of the rows that fit the person. It is computed from the rows per class value of each class; the join,
    with up to n^m rows, is never made. Where a class publishes the set of its values, all ways to fill its other rows
    count as equally likely. Raises ReleaseError where the fragments have no common attribute.

    Assumes: the adversary knows a person's class in every fragment and joins the fragments on their common attribute.
    Cost: O(n v) for n people and v common values, never with the joined rows.
    Use: fragments have partitions of their own and share an attribute.
    Avoid: the fragments share their buckets: see `membership`.
    Source: Zakerzadeh, Aggarwal and Barker, vertical fragmentation, section 5.1.
    """
    common = common_attribute(release)
    counts = [expected_counts(fragment, common) for fragment in release.fragments]
    of_person = np.ones((release.data.n_rows, counts[0].shape[1]))
    for fragment, one in zip(release.fragments, counts, strict=True):
        of_person *= one[fragment.partition.group]
    joined: Floats = of_person.sum(axis=1)
    total = float(np.prod([one.sum(axis=0) for one in counts], axis=0).sum())
    likelihood = joined / total if total > 0 else np.zeros(len(joined))
    baseline = 1 / prod(fragment.partition.n_groups for fragment in release.fragments)
    return JoinLikelihood(
        common=common,
        likelihood=likelihood,
        joined=joined,
        total=total,
        largest=_likelihood("largest", likelihood.max(), baseline, "of the person for whom it is largest"),
        mean=_likelihood("mean", likelihood.mean(), baseline, "on average over all people of the table"),
        unmatched=Score(
            float((joined == 0).mean()),
            name="unmatched",
            title="People without a match",
            unit="share of people",
            bounds=(0.0, 1.0),
            baseline=0.0,
            meaning="Share of the people whose classes join to no row, as class values were changed.",
        ),
    )


def _likelihood(which: str, value: float, baseline: float, whose: str) -> Score:
    return Score(
        value,
        name=f"membership-likelihood-{which}",
        title=f"{which.capitalize()} likelihood of membership",
        unit="probability",
        higher_is_better=False,
        bounds=(0.0, 1.0),
        baseline=baseline,
        meaning=f"Share of the joined rows that fit a person, {whose}.",
    )
