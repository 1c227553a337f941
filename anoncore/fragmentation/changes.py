"""How many class values the fragments do not publish as they were."""

from __future__ import annotations

from anoncore.fragmentation.common import common_attribute
from anoncore.recoding import Distorted, GroupValues
from anoncore.release import Release
from anoncore.score import Score


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
    number, total = sum(per_fragment.values()), release.data.n_rows * len(release.fragments)
    return ClassChanges(
        number / total,
        name="class-changes",
        title="Class values changed",
        unit="share of class values",
        higher_is_better=False,
        bounds=(0.0, 1.0),
        baseline=0.0,
        meaning=f"Share of the values of '{common}' in all fragments that are not published as they were.",
        number=number,
        total=total,
        per_fragment=per_fragment,
    )
