"""Special uniques: who is alone already by few of the known attributes."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from math import prod

import numpy as np

from anoncore.base.arguments import checked
from anoncore.base.errors import DataError, ParameterError
from anoncore.base.number import RISK, measure
from anoncore.base.progress import Progress, part_of, silent
from anoncore.base.score import Score
from anoncore.base.showing import Result
from anoncore.kernels.arrays import Bools, Codes, Floats, Int64, record
from anoncore.privacy.published import published_key
from anoncore.release.release import Release
from anoncore.release.unchanged import unchanged

SPECIAL_UNIQUES = replace(
    RISK,
    name="special-uniques",
    title="Special uniques",
    template="Share of the rows that are alone in the release by few of the known attributes already.",
    source="Elliot, Manning and Ford, 2002 (SUDA)",
    unit="share of rows",
    baseline="the same share in the original table.",
    short="Special uniques",
)


@record
class SpecialUniques(Result):
    """The minimal sets of known attributes by which each row is alone.

    A set is minimal where the row is not alone by any part of it.

    Attributes
    ----------
    share : Score
        Share of the rows that are alone by at most `size` attributes, beside that in the original table.
    size : int
        The most attributes of a set that was tried.
    sets : tuple of tuple of str
        The sets of attributes by which somebody is alone, small ones first.
    rows : tuple of ndarray of int64
        For each of these sets, the rows that it is minimal for, counted from 0.
    smallest : ndarray of int64, shape (n_rows,)
        Attributes of the smallest set of each row; 0 where it is not alone by at most `size`.
    score : ndarray of float, shape (n_rows,)
        SUDA's score of each row: the more and the smaller its sets, the higher; 0 without any.

    Examples
    --------
    >>> import pandas as pd
    >>> from anoncore import Microdata, attacks
    >>> from anoncore.algorithms import Mondrian
    >>> from anoncore.requirements import KAnonymity
    >>> people = pd.DataFrame({"sex": list("ffmm"), "job": ["nurse", "judge", "nurse", "nurse"]})
    >>> data = Microdata(people, roles=dict.fromkeys(people, "quasi-identifier"))
    >>> release = Mondrian(requirements=[KAnonymity(k=1)]).anonymize(data)
    >>> found = attacks.special_uniques(release)
    >>> found.of_row(0), found.of_row(1), found.of_row(2)
    ([('sex', 'job')], [('job',)], [])
    """

    share: Score
    size: int
    sets: tuple[tuple[str, ...], ...]
    rows: tuple[Int64, ...]
    smallest: Int64
    score: Floats

    def of_row(self, row: int) -> list[tuple[str, ...]]:
        """The minimal sets of attributes by which a row is alone.

        Parameters
        ----------
        row : int
            The row, counted from 0.

        Returns
        -------
        list of tuple of str
            The sets, small ones first; empty where the row is not alone.
        """
        return [names for names, rows in zip(self.sets, self.rows, strict=True) if row in rows]


@measure(SPECIAL_UNIQUES, title="Special uniques")
@checked
def special_uniques(release: Release, size: int = 3, progress: Progress | None = None) -> SpecialUniques:
    """Find the rows that are alone already by few of the known attributes.

    A row that is alone by age, town and job together is one of many. A row that is alone by its job alone is special:
    whoever knows a little of the person finds it, and it is likely to be alone in the population as well. For every
    set of at most `size` known attributes the rows are sought that are alone by what is published of it, and by no part
    of it. As SUDA has it, a minimal set of s attributes gives a row the score (n - s) (n - s - 1) ... (n - m), where n
    is the number of known attributes and m the smaller of `size` and n - 1; the scores of its sets are added up.

    Parameters
    ----------
    release : Release
        The release. Where several fragments publish known attributes, the sets of each of them count.
    size : int
        The most attributes of a set, at least 1.
    progress : callable, optional
        Called with the share done and a text; it may raise CancelledError to stop.

    Returns
    -------
    SpecialUniques
        The minimal sets, the rows that each singles out, and the score of each row.

    Raises
    ------
    ParameterError
        For a size below 1.
    DataError
        Without quasi-identifiers.

    Notes
    -----
    Assumes: the adversary knows some quasi-identifiers of a person, and that the person is in the table.
    Cost: O(n) for each set of attributes; 8 attributes have 92 sets of at most 3.
    Use: single rows are to be looked at before a table is published, as they stand out.
    Avoid: everybody is alone by few attributes: then all of them need to be coarser.

    References
    ----------
    Elliot, Manning and Ford, A computational algorithm for handling the special uniques problem, 2002; Manning, Haglin
    and Keane, A recursive search algorithm for statistical disclosure assessment (SUDA2), 2008. The score is that of
    sdcMicro's handbook.

    Examples
    --------
    There is one judge, and one woman who is a nurse:

    >>> import pandas as pd
    >>> from anoncore import Microdata, attacks
    >>> from anoncore.release.unchanged import unchanged
    >>> people = pd.DataFrame({"sex": list("ffmm"), "job": ["nurse", "judge", "nurse", "nurse"]})
    >>> data = Microdata(people, roles=dict.fromkeys(people, "quasi-identifier"))
    >>> found = attacks.special_uniques(unchanged(data))
    >>> found.smallest.tolist(), float(found.share)
    ([2, 1, 0, 0], 0.5)
    """
    release.require_people("Who is alone by few attributes is asked of people's rows")
    if size < 1:
        raise ParameterError(f"size is the most attributes that are looked at together, at least 1, not {size}.")
    known = release.data.require_quasi_identifiers()
    if not any(name in known for name in release.attributes):
        raise DataError("The release publishes no quasi-identifier, so nobody is alone by them.")
    report = silent if progress is None else progress
    original = _minimal_sets(unchanged(release.data), size, part_of(report, 0.0, 0.5))
    minimal = _minimal_sets(release, size, part_of(report, 0.5, 1.0))
    sets = sorted(minimal, key=lambda names: (len(names), names))
    smallest, score = np.zeros(release.data.n_rows, np.int64), np.zeros(release.data.n_rows)
    for names in reversed(sets):
        smallest[minimal[names]] = len(names)
        score[minimal[names]] += _score(len(names), size, len(known))
    before = np.zeros(release.data.n_rows, np.bool_)
    for alone in original.values():
        before |= alone
    return SpecialUniques(
        share=Score(float((smallest > 0).mean()), SPECIAL_UNIQUES, baseline=float(before.mean())),
        size=size,
        sets=tuple(sets),
        rows=tuple(np.flatnonzero(minimal[names]) for names in sets),
        smallest=smallest,
        score=score,
    )


def _minimal_sets(release: Release, size: int, progress: Progress) -> dict[tuple[str, ...], Bools]:
    """Each set of at most `size` known attributes by which somebody is alone, and the rows for which it is minimal."""
    names = [name for name in release.data.quasi_identifiers if name in release.attributes]
    by_size = [list(combinations(names, n)) for n in range(1, min(size, len(names)) + 1)]
    total, done = sum(map(len, by_size)), 0
    minimal: dict[tuple[str, ...], Bools] = {}
    alone_before: dict[tuple[str, ...], Bools] = {}
    for sets in by_size:
        alone_now = {}
        for attributes in sets:
            progress(done / total, "Looking for rows that are alone")
            alone = np.zeros(release.data.n_rows, np.bool_)
            for fragment in release.fragments:
                if {*attributes} <= {*fragment.attributes}:
                    alone |= _alone(published_key(fragment, attributes), release.data.people)
            is_minimal = alone.copy()
            for part in combinations(attributes, len(attributes) - 1):
                if part:
                    # Who is alone by a part of these is alone by all of them, if one fragment publishes all.
                    alone |= alone_before[part]
                    is_minimal &= ~alone_before[part]
            if is_minimal.any():
                minimal[attributes] = is_minimal
            alone_now[attributes] = alone
            done += 1
        alone_before = alone_now
    return minimal


def _alone(key: Int64, people: Codes | None) -> Bools:
    """Whether nobody else has the key of each row, bool (n_rows,)."""
    if people is None:
        return np.bincount(key)[key] == 1
    # A person may have several rows: all rows with the key are of one person where the first and the last one are.
    n_keys = int(key.max()) + 1
    first, last = np.full(n_keys, len(key)), np.full(n_keys, -1)
    np.minimum.at(first, key, people)
    np.maximum.at(last, key, people)
    return (first == last)[key]


def _score(n_attributes: int, size: int, n_known: int) -> int:
    """What a minimal set of some attributes adds to SUDA's score of a row."""
    return prod(n_known - i for i in range(n_attributes, min(size, n_known - 1) + 1))
