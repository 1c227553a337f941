"""The attribute that all fragments publish, and the rows of each of its values in every class."""

from __future__ import annotations

import numpy as np

from anoncore.base.errors import ReleaseError
from anoncore.kernels.arrays import Bools, Floats, Int64
from anoncore.kernels.grouping import owners
from anoncore.release.recoding import Exact, GroupValues
from anoncore.release.release import Fragment, Release
from anoncore.table.microdata import Microdata


def common_attribute(release: Release) -> str:
    """The attribute on which the fragments can be joined, the first that all of them publish in single values or sets.

    Raises ReleaseError where there are fewer than two fragments or no such attribute.
    """
    if len(release.fragments) > 1:
        for name, recoding in release.fragments[0].recodings.items():
            recodings = [fragment.recodings.get(name) for fragment in release.fragments]
            if isinstance(recoding, Exact | GroupValues) and all(type(other) is type(recoding) for other in recodings):
                return name
    raise ReleaseError("The release has no fragments that share an attribute, so there is nothing to join them on.")


def original_counts(release: Release, fragment: Fragment, attribute: str) -> Int64:
    """Rows of each original value in each class of a fragment, int64 (n_groups, n_values)."""
    domain = release.data.domain[attribute]
    return fragment.partition.histogram(release.data.codes[attribute], len(domain))


def published_counts(fragment: Fragment, attribute: str) -> Int64:
    """Rows of each published value in each class, int64 (n_groups, n_values); where sets are published 1 per member."""
    recoding = fragment.recodings[attribute]
    if isinstance(recoding, GroupValues):
        counts = np.zeros((fragment.partition.n_groups, len(recoding.domain)), np.int64)
        counts[owners(recoding.sizes), recoding.members] = 1
        return counts
    codes, _ = recoding.bounds()
    return fragment.partition.histogram(codes, len(recoding.domain))


def expected_counts(fragment: Fragment, attribute: str) -> Floats:
    """Expected rows of each value in each class, float (n_groups, n_values).

    In a class that publishes the set of its values all versions count as equally likely, so each value has the same
    expectation: rows / values.
    """
    counts = published_counts(fragment, attribute).astype(np.float64)
    sizes: Floats = fragment.partition.sizes / counts.sum(axis=1)
    return counts * sizes[:, None]


def alike_values(data: Microdata, attribute: str) -> Bools:
    """Which values of an attribute count as one because they are protected together, bool (n_values,)."""
    domain = data.domain[attribute]
    alike = np.zeros(len(domain), np.bool_)
    alike[[domain.code_of(value) for value in data.sensitive_values.get(attribute, ())]] = True
    return alike
