"""Rows that agree where a suppressed cell stands for any value: whose rows they can be, and how frequent they are."""

from __future__ import annotations

import numpy as np

from anoncore.kernels.arrays import Bools, Codes, Int64, Words, record
from anoncore.kernels.grouping import starts_of
from anoncore.kernels.local_suppression import add_matches
from anoncore.privacy.guarantees import PersonalGuarantee
from anoncore.release.partition import Partition


@record
class CellsAlike:
    """Rows with the same cells as classes.

    Attributes
    ----------
    codes : ndarray of int32, shape (n_classes, n_attributes)
        What stands in each cell; anything where it is suppressed.
    suppressed : ndarray of bool, shape (n_classes, n_attributes)
        Whether each cell is suppressed, so that it stands for any value.
    rows : ndarray of int64, shape (n_classes,)
        Rows of each class.
    """

    codes: Codes
    suppressed: Bools
    rows: Int64

    @classmethod
    def of_rows(cls, codes: Codes, suppressed: Bools) -> tuple[CellsAlike, Codes]:
        """The classes of rows, and the number of each row's class, int32 (n_rows,)."""
        beyond = codes.max(axis=0) + np.int32(1)
        partition = Partition.alike(list(np.where(suppressed, beyond, codes).T))
        first = partition.first_rows
        return cls(np.ascontiguousarray(codes[first]), suppressed[first], partition.sizes), partition.group


def agreeing_rows(asked: CellsAlike, among: CellsAlike) -> Int64:
    """How many rows of `among` agree with a row of each class of `asked` in all cells that neither suppresses.

    With the own values of people as `asked` and a release as `among`, these are the published rows that can be
    theirs. The other way round, they are the people whose row a published one can be. With the release as both, they
    are the frequencies that sdcMicro counts (`freqCalc`), each row itself among them.

    Parameters
    ----------
    asked, among : CellsAlike
        Classes whose codes have the same meaning.

    Returns
    -------
    ndarray of int64, shape (n_classes of asked,)
        Numbers of rows.

    References
    ----------
    Templ, Kowarik and Meindl, Journal of Statistical Software 67(4), 2015 (frequencies of keys with missing values);
    Gionis, Mazza and Tassa, k-Anonymization revisited, ICDE 2008 ((1, k)-, (k, 1)- and (k, k)-anonymity).
    """
    salt, begin = words_of(asked.codes, among.codes)
    counts = np.zeros(len(asked.rows), np.int64)
    others = _patterns(among.suppressed)
    for mask, members in _patterns(asked.suppressed):
        found = np.zeros(len(members), np.int64)
        for other, candidates in others:
            compared = ~(mask | other)
            weights = among.rows[candidates]
            add_matches(asked.codes, among.codes, salt, begin, compared, members, candidates, weights, found)
        counts[members] = found
    return counts


def matching_guarantee(published: CellsAlike, asked: float) -> PersonalGuarantee:
    """Whether every published row agrees with so many rows, itself among them, in all cells that neither suppresses."""
    reached = int(agreeing_rows(published, published).min())
    state = "holds" if reached >= asked else "fails"
    sentence = (
        f"Counting a suppressed cell as any value {state}: every published row agrees with at least {reached:,} "
        f"row{'' if reached == 1 else 's'}, itself among them, wherever neither cell is suppressed (asked: at least "
        f"{asked:g})."
    )
    return PersonalGuarantee(None, asked, reached, reached >= asked, sentence)


def words_of(*tables: Codes) -> tuple[Words, Int64]:
    """A random word for every code of each attribute, and where the words of each attribute begin."""
    sizes = np.max([codes.max(axis=0, initial=0) for codes in tables], axis=0).astype(np.int64) + 1
    # Any fixed seed does, because the words decide nothing but what is equal.
    salt = np.random.default_rng(20).integers(0, 2**64, int(sizes.sum()), dtype=np.uint64)
    return salt, starts_of(sizes[:-1])


def _patterns(suppressed: Bools) -> list[tuple[Bools, Int64]]:
    """The different sets of suppressed attributes, and the classes that have each."""
    patterns = Partition.alike(list(suppressed.T.astype(np.int32)))
    members = [patterns.rows(number).astype(np.int64) for number in range(patterns.n_groups)]
    return [(suppressed[rows[0]], rows) for rows in members]
