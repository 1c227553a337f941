"""Shifted dates: who is found by intervals, which a shift keeps, and by a true date that lies near a published one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from anoncore.base.arguments import checked
from anoncore.base.errors import ParameterError, ReleaseError
from anoncore.base.number import Number, measure
from anoncore.base.progress import Progress, silent
from anoncore.base.score import Score
from anoncore.base.showing import Result
from anoncore.base.texts import listing
from anoncore.kernels.arrays import Bools, Codes, Floats, Int64, record
from anoncore.kernels.grouping import dense_key, distinct, grouped_rows
from anoncore.privacy.published import published_key
from anoncore.release.recoding import Distorted
from anoncore.release.release import Fragment, Release
from anoncore.table.domain import Domain
from anoncore.table.microdata import DateShifts, Microdata
from anoncore.table.people import alike_people, distinct_pairs

FOUND_BY_INTERVALS = Number(
    name="found-by-intervals",
    title="Found by intervals",
    template="Share of the people whose rows are found by the intervals between their dates, which a shift keeps.",
    family="adversary",
    source="the worst case for shifted dates: intervals survive (Hripcsak et al., JAMIA 2016)",
    form="share",
    unit="probability",
    higher_is_better=False,
    bounds=(0.0, 1.0),
    baseline="1 / people: somebody who is picked at random.",
)
FOUND_BY_DATE = replace(
    FOUND_BY_INTERVALS,
    name="found-by-shifted-date",
    title="Found by a shifted date",
    template=(
        "Share of the people looked for whose rows are found by what is known of one row and by its true dates, from "
        "which the published ones lie no farther than dates were shifted."
    ),
)
DAY = 86_400_000
"""Milliseconds of a day, in which dates are compared."""
NO_DATE = np.iinfo(np.int64).min


@record
class ShiftedDates(Result):
    """What readers get who know the true dates of people whose published dates were shifted.

    Attributes
    ----------
    intervals : Score or None
        Share of the people who are found by their intervals alone; None where the dates are published as ranges, which
        tell no interval.
    within : Score
        Share of the people looked for who are found by one row: by the known values beside its dates, and by dates no
        farther from the true ones than they may be.
    by_intervals : ndarray of float, shape (n_people,)
        Probability with which each person is found by their intervals; that of guessing for those without any.
    by_date : ndarray of float, shape (n_people,)
        Probability with which each person is found by the one of their rows that tells most; NaN for those who were not
        looked for.
    columns : tuple of str
        The shifted columns that readers are taken to know, which are all but the sensitive ones.
    most : int
        Most days by which dates were shifted.
    notes : tuple of str
        What to know of the numbers, in sentences.

    Examples
    --------
    >>> import pandas as pd
    >>> from anoncore import attacks
    >>> from anoncore.release.unchanged import unchanged
    >>> from anoncore.table.preparation import DateShift, prepared
    >>> days = pd.to_datetime(["2024-01-01", "2024-01-02", "2024-02-02"])
    >>> stays = pd.DataFrame({"came": days[[0, 0]], "left": days[[1, 2]]})
    >>> table = prepared(stays, dict.fromkeys(stays, DateShift(shift=30)))
    >>> data = table.microdata(roles={"*": "quasi-identifier"})
    >>> attacks.shifted_dates(unchanged(data)).by_intervals.tolist()
    [1.0, 1.0]
    """

    intervals: Score | None
    within: Score
    by_intervals: Floats
    by_date: Floats
    columns: tuple[str, ...]
    most: int
    notes: tuple[str, ...]


@measure(FOUND_BY_INTERVALS, FOUND_BY_DATE, title="Shifted dates")
@checked
def shifted_dates(release: Release, most: int = 2_000, progress: Progress | None = None) -> ShiftedDates:
    """Find people by dates that were shifted by one random number of days per person.

    A shift keeps every interval between two dates of a person. A reader who knows the true dates looks for the rows
    with the same intervals: in all rows of a person where a pseudonym joins them, else in single rows, which have
    intervals where they have several dates. And a published date lies no farther from the true one than dates were
    shifted: a reader who knows one row of a person looks for rows with the same published values beside the dates, in
    which every date lies so near, and all of them as far from the true ones as each other.

    Parameters
    ----------
    release : Release
        A release of a table that `anoncore.table.preparation.prepared` made.
    most : int
        The most people who are looked for by a date; of more people, a part that is spread evenly over the table.
    progress : callable, optional
        Called with the share done and a text; it may raise CancelledError to stop.

    Returns
    -------
    ShiftedDates
        The shares of the people who are found, beside guessing, and the probability of each person.

    Raises
    ------
    ReleaseError
        Where no dates were shifted, or none of them is both known and published; where rows are nobody's.
    ParameterError
        For fewer than one person to look for.

    Notes
    -----
    Assumes: the adversary knows the true dates of a person and that the person is in the table, and by how many days
      dates were shifted at most; every shift is as likely as any other. Not when the dates were collected: the first
      and last dates of a table tell more of a shift where that is known.
    Cost: O(n log n) for intervals; O(n) per person looked for, less where values beside the dates tell rows apart.
    Use: dates were shifted, and it must be known whether that hides anybody.
    Avoid: dates are coarsened instead; then they are quasi-identifiers like others, see `reidentification`.

    References
    ----------
    Hripcsak et al., Preserving temporal relations in clinical data while maintaining privacy, JAMIA 23, 2016. Emam,
    Guide to the De-Identification of Personal Health Information, 2013, chapter 20: sequences of dates.

    Examples
    --------
    Ann was there for three days, Bob for ten and Cem for ten; shifting tells Bob and Cem apart no more than guessing
    one of the two does, and hides Ann not at all:

    >>> import pandas as pd
    >>> from anoncore import attacks
    >>> from anoncore.release.unchanged import unchanged
    >>> from anoncore.table.preparation import DateShift, prepared
    >>> from anoncore.table.pseudonyms import Pseudonyms
    >>> visits = pd.DataFrame(
    ...     {
    ...         "name": ["Ann", "Ann", "Bob", "Bob", "Cem", "Cem"],
    ...         "day": pd.to_datetime(["2024-01-01", "2024-01-04", *["2024-01-01", "2024-01-11"] * 2]),
    ...     }
    ... )
    >>> table = prepared(visits, {"day": DateShift(shift=30, by="name")}, {"name": Pseudonyms.fresh()})
    >>> found = attacks.shifted_dates(unchanged(table.microdata(roles={"day": "quasi-identifier"})))
    >>> sorted(found.by_intervals.tolist()), round(float(found.intervals), 3)
    ([0.5, 0.5, 1.0], 0.667)
    """
    release.require_people("Whose dates were shifted is asked of people's rows")
    if most < 1:
        raise ParameterError(f"most is how many people are looked for, at least 1, not {most}.")
    data = release.data
    if data.shifts is None:
        raise ReleaseError("No dates of this table were shifted.")
    names = [name for name in data.shifts.columns if name in release.attributes and name not in data.sensitive]
    if not names:
        raise ReleaseError(
            f"The shifted dates {listing(data.shifts.columns)} are not published, or are secret: nobody is taken to "
            "know them."
        )
    report = silent if progress is None else progress
    report(0.0, "Comparing intervals")
    person = np.arange(data.n_rows, dtype=np.int32) if data.people is None else data.people
    chance = 1 / data.n_people
    by_intervals, has_intervals = np.full(data.n_people, chance), False
    parts = [(part, [name for name in names if name in part.recodings]) for part in release.fragments]
    parts = [(part, shown) for part, shown in parts if shown]
    for part, shown in parts:
        if all(_is_exact(part, name) for name in shown):
            has_intervals = True
            joined = data.pseudonym in part.recodings
            by_intervals = np.maximum(by_intervals, _by_intervals(_published(part, shown), person, joined, chance))
    looked_for = _looked_for(data, person, most)
    by_date = np.full(data.n_people, np.nan)
    for number, (part, shown) in enumerate(parts):

        def looked(share: float, number: int = number) -> None:
            report((number + share) / len(parts), "Looking for people by a date")

        found = _by_date(data, part, shown, person, looked_for, looked)
        by_date[looked_for] = np.fmax(by_date[looked_for], found)
    within = Score(float(by_date[looked_for].mean()), FOUND_BY_DATE, baseline=chance)
    intervals = Score(float(by_intervals.mean()), FOUND_BY_INTERVALS, baseline=chance) if has_intervals else None
    return ShiftedDates(
        intervals,
        within,
        by_intervals,
        by_date,
        tuple(names),
        data.shifts.most,
        _notes(data, has_intervals, len(looked_for)),
    )


def _is_exact(fragment: Fragment, name: str) -> bool:
    """Whether every cell of a column is the one date that its row was shifted to."""
    low, high = fragment.recodings[name].bounds()
    return bool((low == high).all()) and not isinstance(fragment.recodings[name], Distorted)


def _notes(data: Microdata, has_intervals: bool, n_looked_for: int) -> tuple[str, ...]:
    notes = []
    if not has_intervals:
        notes.append("The dates are published as ranges or were changed once more, so that nobody reads intervals.")
    elif data.people is not None and data.pseudonym is None:
        notes.append("Nothing joins the rows of a person, so that intervals are those inside single rows.")
    if n_looked_for < data.n_people:
        notes.append(f"{n_looked_for:,} of {data.n_people:,} people were looked for by a date.")
    return tuple(notes)


def _moments(domain: Domain) -> Int64:
    """The milliseconds at which the date of each code lies, int64 (size,); NO_DATE for a missing one."""
    known = [round(pd.Timestamp(value).timestamp() * 1_000) for value in domain.values]
    return np.array([*known, *[NO_DATE] * domain.has_missing], dtype=np.int64)


def _published(fragment: Fragment, names: Sequence[str]) -> Int64:
    """The published moments of exact dates, int64 (n_rows, n_columns)."""
    recodings = [fragment.recodings[name] for name in names]
    return np.stack([_moments(one.domain)[one.bounds()[0]] for one in recodings], axis=1)


def _by_intervals(moments: Int64, person: Codes, is_joined: bool, chance: float) -> Floats:
    """The probability with which each person is found by their intervals, float (n_people,)."""
    n_rows = len(moments)
    unit = person if is_joined else np.arange(n_rows, dtype=np.int32)
    is_known = moments != NO_DATE
    first = np.full(int(unit.max()) + 1, np.iinfo(np.int64).max)
    np.minimum.at(first, unit, np.where(is_known, moments, np.iinfo(np.int64).max).min(axis=1))
    since = np.where(is_known, moments - first[unit][:, None], -1)
    content = dense_key((np.unique(column, return_inverse=True)[1].reshape(-1) for column in since.T), n_rows)
    has_interval = np.bincount(unit, weights=is_known.sum(axis=1)) > 1
    if is_joined:
        found = np.where(has_interval, 1 / alike_people(person, content), chance)
        return np.asarray(found, dtype=np.float64)
    alike = distinct_pairs(person, content.astype(np.int32), int(content.max()) + 1)[content]
    best = np.full(int(person.max()) + 1, chance)
    np.maximum.at(best, person, np.where(has_interval, 1 / alike, chance))
    return best


def _looked_for(data: Microdata, person: Codes, most: int) -> Int64:
    """The people who are looked for: everybody, or a part that does not depend on the order of the rows."""
    if data.n_people <= most:
        return np.arange(data.n_people)
    _, first = np.unique(person[data.canonical_order], return_index=True)
    by_content = np.argsort(first, kind="stable")
    return np.sort(by_content[np.linspace(0, data.n_people - 1, most).astype(np.int64)])


def _by_date(
    data: Microdata,
    fragment: Fragment,
    names: Sequence[str],
    person: Codes,
    looked_for: Int64,
    looked: Callable[[float], None],
) -> Floats:
    """The probability with which each of some people is found by one of their rows, float (n_looked_for,)."""
    assert data.shifts is not None
    cells = [_Cells.of(fragment, name) for name in names]
    true = [_true(data, name, data.shifts) for name in names]
    beside = [name for name in fragment.attributes if name in data.quasi_identifiers and name not in names]
    key = published_key(fragment, beside)
    order, starts = grouped_rows(key)
    rows_of, ends = grouped_rows(person, data.n_people)
    best = np.zeros(len(looked_for))
    for number, one in enumerate(looked_for.tolist()):
        looked(number / len(looked_for))
        for row in rows_of[ends[one] : ends[one + 1]].tolist():
            others = order[starts[key[row]] : starts[key[row] + 1]]
            near = _near(cells, [int(moments[row]) for moments in true], others, data.shifts.most)
            candidates = person[others[near]]
            best[number] = max(best[number], 1 / len(distinct(candidates)))
    return best


@record
class _Cells:
    """The first and last moment of each published cell, int64 (n_rows,), and whether it may and must be missing."""

    low: Int64
    high: Int64
    may_be_missing: Bools
    is_missing: Bools

    @classmethod
    def of(cls, fragment: Fragment, name: str) -> _Cells:
        recoding = fragment.recodings[name]
        domain = recoding.domain
        low, high = recoding.bounds()
        moments, last = _moments(domain), len(domain.values) - 1
        may_be_missing = high > last
        first, final = (moments[np.minimum(codes, max(last, 0))] for codes in (low, high))
        return cls(first, final, may_be_missing, low > last)


def _true(data: Microdata, name: str, shifts: DateShifts) -> Int64:
    """The true moments of a column, int64 (n_rows,)."""
    moments = _moments(data.domain[name])[data.codes[name]]
    return np.where(moments == NO_DATE, NO_DATE, moments - shifts.days * DAY)


def _near(cells: Sequence[_Cells], true: Sequence[int], rows: Int64, most: int) -> Bools:
    """Which of some rows may be those of dates that were all shifted by one number of days, bool (len(rows),)."""
    low, high = np.full(len(rows), -most * DAY), np.full(len(rows), most * DAY)
    fits = np.ones(len(rows), dtype=np.bool_)
    for cell, moment in zip(cells, true, strict=True):
        if moment == NO_DATE:
            fits &= cell.may_be_missing[rows]
        else:
            fits &= ~cell.is_missing[rows]
            low = np.maximum(low, cell.low[rows] - moment)
            high = np.minimum(high, cell.high[rows] - moment)
    # Some whole number of days lies between both.
    return fits & (-(-low // DAY) <= high // DAY)
