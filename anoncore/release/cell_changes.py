"""What became of the cells of a table: which are published as they are, coarser, not at all, changed or unlinked."""

from __future__ import annotations

from enum import StrEnum

import numpy as np

from anoncore.kernels.arrays import Bools, Bytes, Codes
from anoncore.kernels.grouping import owners
from anoncore.release.recoding import ColumnRegions, Generalized, GroupValues, Recoding
from anoncore.release.release import Fragment, Release


class Change(StrEnum):
    """What became of one cell.

    KEPT: its value is published in its row. GENERALIZED: a region of several values that holds it. SUPPRESSED: a region
    of all values of the attribute, which says nothing. REPLACED: something that its value does not belong to. UNLINKED:
    the cell stands in another table than the row's first attributes, and nothing says which of its lines belongs to the
    row.
    """

    KEPT = "kept"
    GENERALIZED = "generalized"
    SUPPRESSED = "suppressed"
    REPLACED = "replaced"
    UNLINKED = "unlinked"


CHANGES = tuple(Change)
"""The changes in the order of the numbers by which `cell_changes` tells them."""


def main_fragment(release: Release) -> Fragment:
    """The fragment whose lines stand for the rows: the one with most quasi-identifiers, of equal ones the first."""
    known = set(release.data.quasi_identifiers)
    return max(release.fragments, key=lambda fragment: len(known & set(fragment.attributes)))


def publishing_fragment(release: Release, attribute: str) -> Fragment:
    """The fragment in which a row's cell is looked up: the main one where it has the attribute, else the first."""
    main = main_fragment(release)
    return main if attribute in main.recodings else release.fragment_of(attribute)


def cell_changes(release: Release, attribute: str) -> Bytes:
    """What became of each row's cell of a published attribute, as numbers of `CHANGES`, uint8 (n_rows,).

    A cell of another fragment is still linked where all rows of its group have the same cell there.
    """
    release.require_people("What became of a cell is asked of people's rows")
    fragment = publishing_fragment(release, attribute)
    recoding, codes = fragment.recodings[attribute], release.data.codes[attribute]
    low, high = recoding.bounds()
    several = low < high
    result = np.where(several, CHANGES.index(Change.GENERALIZED), CHANGES.index(Change.KEPT)).astype(np.uint8)
    result[several & _allows_all(recoding)] = CHANGES.index(Change.SUPPRESSED)
    result[~_allows(recoding, codes)] = CHANGES.index(Change.REPLACED)
    if fragment is not main_fragment(release):
        result[~_same_in_group(release, fragment, recoding)] = CHANGES.index(Change.UNLINKED)
    return result


def _sets_of(recoding: Recoding) -> Generalized | GroupValues | None:
    """The recoding that has the regions of the rows; None where single values are published."""
    if isinstance(recoding, ColumnRegions):
        return recoding.classes
    return recoding if isinstance(recoding, Generalized | GroupValues) else None


def _allows_all(recoding: Recoding) -> Bools:
    """Whether each row's cell allows every value of the attribute, bool (n_rows,)."""
    sets = _sets_of(recoding)
    if sets is None:
        return np.zeros(recoding.partition.n_rows, np.bool_)
    everything: Bools = sets.sizes == len(recoding.domain)
    return everything[sets.partition.group]


def _allows(recoding: Recoding, codes: Codes) -> Bools:
    """Whether each row's cell allows the row's value, bool (n_rows,)."""
    low, high = recoding.bounds()
    between: Bools = (low <= codes) & (codes <= high)
    sets = _sets_of(recoding)
    if sets is None or sets.offsets is None or sets.members is None:
        return between
    size = len(recoding.domain)
    allowed = owners(np.diff(sets.offsets)) * size + sets.members
    return np.isin(sets.partition.group.astype(np.int64) * size + codes, allowed)


def _same_in_group(release: Release, fragment: Fragment, recoding: Recoding) -> Bools:
    """Whether all rows of a row's group have the same cell in a fragment that shares its groups, bool (n_rows,)."""
    if not release.is_shared:
        return np.zeros(release.data.n_rows, np.bool_)
    partition = fragment.partition
    same = np.ones(partition.n_groups, np.bool_)
    for column in recoding.content():
        low, high = partition.extent(np.ascontiguousarray(column))
        same &= low == high
    return same[partition.group]
