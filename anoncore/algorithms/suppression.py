"""Suppression: a few outlying rows are left out, so that the cells of all others become finer."""

from __future__ import annotations

from dataclasses import replace
from math import floor
from typing import Annotated

import numpy as np
from pydantic import Field, SerializeAsAny

from anoncore.algorithms.base import AS_METHOD, Algorithm, require_groups
from anoncore.algorithms.mondrian import Mondrian
from anoncore.base.errors import AnonymizationError, CancelledError, DataError
from anoncore.base.progress import Progress
from anoncore.kernels.arrays import Bools, Codes, Floats, Int64, record
from anoncore.kernels.grouping import distinct, put_at
from anoncore.kernels.rounding import ROUNDING, lies_below
from anoncore.privacy.check import check
from anoncore.release.openness import Minimality, Openness
from anoncore.release.recoding import Generalized
from anoncore.release.release import Release
from anoncore.release.suppressed_rows import with_suppressed
from anoncore.requirements import Requirement
from anoncore.table.domain import Kind
from anoncore.table.microdata import Microdata
from anoncore.table.part import published_beside
from anoncore.utility.loss import information_loss

EQUAL_DIGITS = 9
"""Digits after the point in which scores must differ to count as different."""


def relief(release: Release) -> Floats:
    """By how much the information loss of a row's class falls if it is left out alone, with its own, float (n_rows,).

    In units of cells of one quasi-identifier. Rows of a class that share the lowest or the highest value of an
    attribute, or a category, narrow the class only together, so each of them has its part of what all of them save.
    The release is one table of generalized quasi-identifiers.
    """
    (fragment,) = release.fragments
    data, partition = release.data, fragment.partition
    score = np.zeros(data.n_rows)
    for name in data.quasi_identifiers:
        recoding = fragment.recodings[name]
        if isinstance(recoding, Generalized) and len(recoding.domain) > 1:
            runs = _Runs.of(partition.group, data.codes[name])
            saved = _narrower(recoding, runs)
            others = partition.sizes[runs.group] - runs.counts
            score[runs.order] += np.repeat(saved * others / runs.counts, runs.counts)
            score += recoding.loss()[partition.group]
    return np.round(score, EQUAL_DIGITS)


@record
class _Runs:
    """The rows of each group that share a code, by group and then by code.

    `order` int64 (n_rows,) lists the rows run by run; `group`, `code` and `counts` (n_runs,) say whose run it is, which
    code it has, and how many rows. `first` and `last` bool (n_runs,) say whether it is the first or last of its group.
    """

    order: Int64
    group: Codes
    code: Codes
    counts: Int64
    first: Bools
    last: Bools

    @classmethod
    def of(cls, group: Codes, codes: Codes) -> _Runs:
        order = np.lexsort((codes, group))
        groups, ordered = group[order], codes[order]
        begins = np.flatnonzero(np.concatenate(([True], (groups[1:] != groups[:-1]) | (ordered[1:] != ordered[:-1]))))
        group_of = groups[begins]
        change = group_of[1:] != group_of[:-1]
        return cls(
            order,
            group_of,
            ordered[begins],
            np.diff(np.append(begins, len(order))),
            np.concatenate(([True], change)),
            np.concatenate((change, [True])),
        )


def _narrower(recoding: Generalized, runs: _Runs) -> Floats:
    """How much narrower the tightest region of a group becomes without a run, as a share of the domain, (n_runs,)."""
    saved = np.zeros(len(runs.code))
    several = ~(runs.first & runs.last)
    if recoding.form == "set":
        return np.where(several, 1 / (len(recoding.domain) - 1), 0.0)
    low, high = runs.code[runs.first], runs.code[runs.last]
    begins, ends = np.flatnonzero(runs.first), np.flatnonzero(runs.last)
    more = begins < ends
    begins, ends, low, high = begins[more], ends[more], low[more], high[more]
    before = _width(recoding, low, high)
    saved[begins] += before - _width(recoding, runs.code[begins + 1], high)
    saved[ends] += before - _width(recoding, low, runs.code[ends - 1])
    return saved


def _width(recoding: Generalized, low: Codes, high: Codes) -> Floats:
    """The share of the domain that the smallest regions from low to high cover, as `Generalized.loss` counts it."""
    domain = recoding.domain
    if recoding.form == "node" and domain.tree is not None:
        node = domain.tree.common_ancestor(low, high)
        low, high = domain.tree.first[node], domain.tree.last[node]
    elif recoding.form == "interval" and domain.kind is Kind.NUMERIC:
        width: Floats = domain.shares[high] - domain.shares[low]
        return width
    share: Floats = (high - low) / (len(domain) - 1)
    return share


FAMILY = "generalization"


Method = Annotated[
    SerializeAsAny[Algorithm],
    AS_METHOD,
    Field(title="Method", description="Generalizing algorithm that publishes the other rows."),
]


class Suppression(Algorithm):
    """Leaves out a few outlying rows, where the cells of the others then become so much finer that loss falls overall.

    Any generalizing algorithm is run first on all rows and then, round by round, without those that widen the cells of
    their classes most: those whose absence alone would lower the information loss of their class most. The release
    with the least information loss is published. A row that is left out counts as lost completely, loss 1, so the
    release is never worse than that of the algorithm alone: where leaving out rows does not pay, none is left out.

    Rows that are left out stay in the table as one class in which every quasi-identifier may have any value; their
    other values are published. That class satisfies the requirements like every other, and a release in which it would
    not is not considered. So no row is missing from a count, and t-closeness is measured for every class against the
    distribution of the whole table, which readers see. `Incognito` does the same with rows that it suppresses itself.

    `max_suppression` is the share of the rows that may be left out. Where one person may have several rows, no more
    than this share of the rows is left out, and no more than this share of the people have such a row.

    Notes
    -----
    Assumes: a few rows are far from all others in what is known of them.
    Cost: that of the algorithm, `rounds` + 1 times.
    Use: a few outliers, or a requirement that few rows stand in the way of, make cells wide for everybody.
    Avoid: rare people are those whom the table is about: they are the first to be left out.

    References
    ----------
    Samarati, IEEE TKDE 2001, section 4: generalization with a limit of suppressed rows; the rows are chosen here.

    Examples
    --------
    Classes of at least three people are 20-40 and 60-80, a third of the whole range each. Without the youngest, the
    oldest and one more, who are a class of their own, all other ages are exact. Ten thirds become three lost rows:

    >>> import pandas as pd
    >>> from anoncore import Microdata, utility
    >>> from anoncore.algorithms import Mondrian, Suppression
    >>> from anoncore.requirements import KAnonymity
    >>> people = pd.DataFrame({"age": [20, 40, 40, 40, 40, 60, 60, 60, 60, 80]})
    >>> data = Microdata(people, roles={"age": "quasi-identifier"})
    >>> mondrian = Mondrian(requirements=[KAnonymity(k=3)])
    >>> round(float(utility.information_loss(mondrian.anonymize(data))), 3)
    0.333
    >>> release = Suppression(method=mondrian, max_suppression=0.3).anonymize(data)
    >>> release.tables()["release"]["age"].tolist()
    ['20-80', '20-80', '20-80', '40', '40', '40', '60', '60', '60', '60']
    >>> round(float(utility.information_loss(release)), 3)
    0.3
    """

    name = "suppression"
    title = "Suppression"
    source = "Samarati, IEEE TKDE 2001, section 4"
    family = FAMILY
    summary = (
        "Lets any generalizing method leave out a few outlying people, so that all others are published more finely."
    )
    minimality = Minimality(
        Openness.DEPENDS,
        "What readers learn who know the method that publishes the other rows, they learn here too. Besides, they know "
        "that people were left out because their quasi-identifiers lay far from those of others in their group, and "
        "that leaving out fewer or more rows would have lost more. Rows are chosen by their quasi-identifiers in "
        "groups of that method, so with k-anonymity alone this depends on sizes and quasi-identifiers; with "
        "l-diversity, t-closeness or variance diversity the groups, and so the choice, depend on who has which "
        "sensitive value, and so does whether the group of those left out keeps the requirements.",
    )

    method: Method = Mondrian()
    max_suppression: Annotated[
        float,
        Field(ge=0, lt=1, title="Most left out", description="Share of the rows that may be left out."),
    ] = 0.02
    rounds: Annotated[
        int, Field(ge=1, le=50, title="Rounds", description="Steps in which rows are left out; more find better ones.")
    ] = 8

    def promises(self, data: Microdata) -> tuple[Requirement, ...]:
        """What the method promises, for the class of rows that are left out too."""
        return self.method.promises(data)

    def require_countable(self, data: Microdata) -> None:
        """Raise DataError where one person may have several rows and the method can only count rows."""
        self.method.require_countable(data)

    def validate_data(self, data: Microdata) -> None:
        """Raise DataError for a method that does not generalize, and what the method raises."""
        if self.method.family != FAMILY or isinstance(self.method, Suppression):
            raise DataError(
                f"{self.method.title} publishes no table in which a row can be left out; choose an algorithm that "
                "generalizes, such as Mondrian."
            )
        require_groups(self.method)
        self.method.validate_data(data)

    def _release(self, data: Microdata, progress: Progress) -> Release:
        limit = _Limit.of(data, self.max_suppression)
        best = self._made(data, _within(progress, 0, self.rounds + 1))
        published = np.ones(data.n_rows, np.bool_)
        least, release = float(information_loss(best)), best
        for number in range(1, self.rounds + 1):
            first = limit.first(relief(release), published, limit.rows * number // self.rounds)
            if not len(first):
                continue
            published[first] = False
            report = _within(progress, number, self.rounds + 1)
            try:
                release = self._made(published_beside(data, np.flatnonzero(published)), report)
            except CancelledError:
                raise
            except AnonymizationError:
                break
            whole = with_suppressed(release, data, published)
            loss = float(information_loss(whole))
            if lies_below(loss, least) and not check(whole, self.promises(data)):
                least, best = loss, whole
        return replace(best, algorithm=self, notes=(*best.notes, _note(best)))

    def _made(self, data: Microdata, progress: Progress) -> Release:
        """The release of the method, without the note on people that the whole release gets once."""
        release = self.method.anonymize(data, progress)
        return replace(release, notes=tuple(note for note in release.notes if note != release.data.unit_note))


@record
class _Limit:
    """How many rows may be left out, of how many people, and the place of each row in order of content."""

    rows: int
    people: int
    place: Int64
    data: Microdata

    @classmethod
    def of(cls, data: Microdata, share: float) -> _Limit:
        place = put_at(data.canonical_order, np.arange(data.n_rows))
        rows, people = (floor(share * count * (1 + ROUNDING)) for count in (data.n_rows, data.n_people))
        return cls(rows, people, place, data)

    def first(self, score: Floats, published: Bools, rows: int) -> Int64:
        """The rows with the highest scores that are left out next, so that at most so many rows are left out.

        `score` float (published.sum(),) belongs to the rows that are still published. Of equal scores the first rows by
        content are taken.
        """
        still = np.flatnonzero(published)
        chosen = still[np.lexsort((self.place[still], -score))]
        room = rows - int((~published).sum())
        people = self.data.people
        if people is not None:
            # Rows of people who have a row left out already are always allowed, others until there are too many people.
            gone = np.zeros(self.data.n_people, np.bool_)
            gone[people[~published]] = True
            person = people[chosen]
            is_new = ~gone[person]
            _, first = np.unique(person, return_index=True)
            counts = np.zeros(len(chosen), np.int64)
            counts[first] = is_new[first]
            rank = np.empty(self.data.n_people, np.int64)
            rank[person[first]] = np.cumsum(counts)[first]
            chosen = chosen[~is_new | (rank[person] <= self.people - int(gone.sum()))]
        return chosen[: max(room, 0)]


def _within(progress: Progress, number: int, steps: int) -> Progress:
    """Progress of one step among equal ones."""
    before = f"Without outlying rows, round {number} of {steps - 1}: " if number else ""
    return lambda share, text: progress(0.95 * (number + share) / steps, before + text)


def _note(release: Release) -> str:
    """How many rows are left out, in a sentence."""
    data, left_out = release.data, release.suppressed_rows
    n_rows = int(left_out.sum())
    if not n_rows:
        return "No row is left out: that would not have lowered the information loss."
    of_people = ""
    if data.people is not None:
        of_people = f", of {len(distinct(data.people[left_out])):,} of {data.n_people:,} people,"
    return (
        f"{n_rows:,} of {data.n_rows:,} rows ({n_rows / data.n_rows:.2%}){of_people} are left out: every "
        "quasi-identifier may have any value in them, and they are one group."
    )
