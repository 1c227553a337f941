"""Which form a release has: what it publishes of a group, and whether its fragments share their groups."""

from __future__ import annotations

from anoncore.base.number import ReleaseForm
from anoncore.release.recoding import Generalized
from anoncore.release.release import Release


def form_of(release: Release) -> ReleaseForm:
    """The form of a release.

    `generalization`: one table. `bucketization`: two tables with the same groups, one of which has sensitive attributes
    only. `slicing`: several tables with the same groups otherwise. `own partitions`: several tables with groups of
    their own, or each with regions of its own. `synthetic`: one table whose rows are nobody's.
    """
    if release.is_synthetic:
        return "synthetic"
    fragments = release.fragments
    if len(fragments) == 1:
        return "generalization"
    have_regions = [
        any(isinstance(recoding, Generalized) for recoding in fragment.recodings.values()) for fragment in fragments
    ]
    if not release.is_shared or all(have_regions):
        return "own partitions"
    sensitive = set(release.data.sensitive)
    is_split_once = len(fragments) == 2 and any(set(fragment.attributes) <= sensitive for fragment in fragments)
    return "bucketization" if is_split_once else "slicing"
