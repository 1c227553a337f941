"""How many class values the fragments do not publish as they were, by each strategy."""

from __future__ import annotations

import numpy as np

from anoncore.algorithms.vertical.strategies import STRATEGIES, enforced_counts
from anoncore.base.number import Number, measure
from anoncore.base.score import Score
from anoncore.privacy.common_attribute import common_attribute, original_counts
from anoncore.release.recoding import Distorted, Exact, GroupValues
from anoncore.release.release import Release

CLASS_CHANGES = Number(
    name="class-changes",
    title="Class values changed",
    template="Share of the values of {common} in all fragments that are not published as they were.",
    family="cost",
    source="Zakerzadeh, Aggarwal and Barker, vertical fragmentation, appendix D.I",
    form="share",
    unit="share of class values",
    higher_is_better=False,
    bounds=(0.0, 1.0),
    baseline="0: fragments whose class values are all published as they were.",
    release_forms=("own partitions",),
    documented_by="vertical-fragmentation",
)


class ClassChanges(Score):
    """Share of the class values in all fragments that were changed or are no longer published for their class.

    `number` of them in all fragments, `total` class values in all fragments, `per_fragment` the number by fragment
    name, `sentence` for people.
    """

    number: int
    total: int
    per_fragment: dict[str, int]

    @property
    def sentence(self) -> str:
        """The number and share, in words."""
        return f"{self.number:,} of {self.total:,} class values in the fragments were changed ({float(self):.2%})."


@measure(CLASS_CHANGES)
def class_changes(release: Release) -> ClassChanges:
    """Class values changed to make joins safe, counted in every fragment.

    A distorted value counts if it differs from the original. Where a class publishes the set of its values, each row
    counts whose original value is not in the set. Raises ReleaseError where the fragments have no common attribute.
    Source: Zakerzadeh, Aggarwal and Barker, vertical fragmentation, appendix D.I (distortion of class values).
    """
    common = common_attribute(release)
    per_fragment = {}
    for fragment in release.fragments:
        recoding = fragment.recodings[common]
        per_fragment[fragment.name] = recoding.n_changed if isinstance(recoding, Distorted | GroupValues) else 0
    return _changes(release, common, per_fragment)


def changes_by_strategy(release: Release, k: int, delta: float = 0.5, seed: int | None = 0) -> dict[str, ClassChanges]:
    """What each strategy changes, or would change, in the classes of the release so that joins keep k (or delta).

    The strategy that made the release, if any, is counted as it is; the others start from the original class values.
    Raises ReleaseError where the fragments have no common attribute.
    """
    common = common_attribute(release)
    made = _strategy_of(release, common)
    partitions = [fragment.partition for fragment in release.fragments]
    before = [original_counts(release, fragment, common) for fragment in release.fragments]
    changes: dict[str, ClassChanges] = {}
    for strategy in STRATEGIES:
        if strategy == made:
            changes[strategy] = class_changes(release)
            continue
        after = enforced_counts(release.data, common, partitions, strategy, k, delta, seed)
        falls = [
            int(np.maximum(original - published, 0).sum()) for original, published in zip(before, after, strict=True)
        ]
        names = [fragment.name for fragment in release.fragments]
        changes[strategy] = _changes(release, common, dict(zip(names, falls, strict=True)))
    return changes


def _strategy_of(release: Release, common: str) -> str | None:
    """The strategy that changed the class values of the release; None where they are as they were."""
    if all(type(fragment.recodings[common]) is Exact for fragment in release.fragments):
        return None
    return getattr(release.algorithm, "enforce", None)


def _changes(release: Release, common: str, per_fragment: dict[str, int]) -> ClassChanges:
    number, total = sum(per_fragment.values()), release.data.n_rows * len(release.fragments)
    return ClassChanges(
        number / total,
        CLASS_CHANGES,
        baseline=0.0,
        words={"common": f"'{common}'"},
        number=number,
        total=total,
        per_fragment=per_fragment,
    )
