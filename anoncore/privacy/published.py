"""What a release publishes of a sensitive attribute, group by group."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from anoncore.base.errors import ParameterError, ReleaseError
from anoncore.kernels.arrays import Codes
from anoncore.release.partition import Partition
from anoncore.release.recoding import Exact, GroupValues
from anoncore.release.release import Fragment, Release
from anoncore.table.microdata import SensitiveValues


def fragments_of(release: Release, attribute: str | None) -> tuple[Fragment, ...]:
    """The fragments whose groups say something about an attribute, or about group sizes where it is None.

    Fragments that share one partition count once. Raises ReleaseError if no fragment publishes the attribute.
    """
    if attribute is not None:
        first = release.fragment_of(attribute)
        publishing = tuple(fragment for fragment in release.fragments if attribute in fragment.recodings)
        return (first,) if release.is_shared else publishing
    return release.fragments[:1] if release.is_shared else release.fragments


def publishing_fragment(release: Release, attribute: str, fragment: str | None = None) -> Fragment:
    """The fragment of that name among those that publish the attribute; without a name the first of them.

    Raises ParameterError for a fragment that does not publish it, ReleaseError if none does.
    """
    publishing = fragments_of(release, attribute)
    names = [candidate.name for candidate in publishing]
    if fragment is not None and fragment not in names:
        raise ParameterError(f"No fragment {fragment!r} publishes '{attribute}'; {', '.join(names)} does.")
    return publishing[names.index(fragment) if fragment is not None else 0]


def published_values(fragment: Fragment, attribute: str) -> tuple[Partition, Codes]:
    """The single values that a fragment publishes, as codes (n_values,), and the partition that puts them in groups.

    Where rows have values there is one per row. Where a group has only a set, each value of the set counts once, as any
    row of the group may have any of them. Raises ReleaseError for an attribute that is generalized.
    """
    recoding = fragment.recodings[attribute]
    if isinstance(recoding, Exact):
        return fragment.partition, recoding.codes
    if isinstance(recoding, GroupValues):
        groups = np.arange(fragment.partition.n_groups, dtype=np.int32)
        return Partition(np.repeat(groups, recoding.sizes)), recoding.members
    raise ReleaseError(f"'{attribute}' is generalized in this release; its single values are not published.")


def published_view(release: Release, fragment: Fragment, attribute: str) -> tuple[Partition, SensitiveValues]:
    """What a fragment publishes of a sensitive attribute, as requirements count it, and the partition of its values.

    The values of a set are nobody's in particular, so that no people are counted by them. Raises ReleaseError for an
    attribute that is generalized.
    """
    partition, codes = published_values(fragment, attribute)
    view = release.data.sensitive_view(attribute, codes)
    return partition, view if isinstance(fragment.recodings[attribute], Exact) else replace(view, people=None)


def has_single_values(fragment: Fragment, attribute: str) -> bool:
    """Whether the fragment publishes single values of the attribute, so that `published_values` can read them."""
    return isinstance(fragment.recodings[attribute], Exact | GroupValues)
