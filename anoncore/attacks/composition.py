"""What several releases of overlapping people tell together."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import field, replace
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from anoncore.attacks.posterior import (
    MOST_ENTRIES,
    SignaturePosterior,
    side_by_side,
    signature_posterior,
    table_distribution,
)
from anoncore.attacks.rows_counted import rows_counted
from anoncore.base.arguments import checked
from anoncore.base.errors import ParameterError
from anoncore.base.number import RISK, measure
from anoncore.base.score import Score
from anoncore.base.showing import Result
from anoncore.base.texts import listing
from anoncore.base.typed_values import Key, value_key
from anoncore.kernels.arrays import Bools, Floats, Int64, record
from anoncore.kernels.grouping import numbered_inside_groups
from anoncore.kernels.rounding import ACCUMULATED, lies_above, lies_below
from anoncore.privacy.published import Entries
from anoncore.release.release import Release
from anoncore.table.domain import Domain
from anoncore.table.microdata import Microdata

By = str | Sequence[str] | None
PEOPLE_AT_ONCE = 50_000
"""People, at most, whose beliefs are looked at together."""

FEW_VALUES = replace(
    RISK,
    name="composition-few-values",
    title="Few values left together",
    template=(
        "Share of the people who are in all releases and have fewer than {l} possible values of {attribute} once the "
        "releases are laid side by side."
    ),
    source="Ganta, Kasiviswanathan and Smith, KDD 2008",
    baseline="the largest such share that one of the releases leaves alone.",
    of_attribute=True,
)
JOINT_BREACH = replace(
    FEW_VALUES,
    name="composition-breach",
    title="Believed too surely together",
    template=(
        "Share of the people who are in all releases of whom the releases together make some value of {attribute} more "
        "likely than 1/{l}."
    ),
)
JOINT_LARGEST = replace(
    FEW_VALUES,
    name="composition-largest",
    title="Largest joint belief",
    template="How sure the releases together make an adversary at most of anyone's value of {attribute}.",
    unit="probability",
    baseline="the share of the most frequent value in the tables: what guessing gets.",
)
JOINT_TRUTH = replace(
    FEW_VALUES,
    name="composition-truth",
    title="Joint belief in the truth",
    template=(
        "Probability that the releases together give to people's true value of {attribute}, on average over those who "
        "are in all of them."
    ),
    unit="probability",
    baseline="the share of people's true value in the tables, on average: what guessing gets.",
)


@record
class Composition(Result):
    """What releases of overlapping people tell together about the people who are in all of them.

    Attributes
    ----------
    attribute : str
        The sensitive attribute that is guessed.
    people : Index
        Who is in all releases, by what says who they are, shape (n_shared,), in the row order of the first release.
    rows : ndarray of int64, shape (n_releases, n_shared)
        The row of each of these people in the table of each release.
    values : tuple of object
        The m values of the attribute that occur in any of the tables; None for a missing one.
    prior : ndarray of float, shape (m,)
        How frequent each value is in all tables together: what guessing has.
    possible : ndarray of int64, shape (n_shared,)
        How many values all releases together leave possible; 0 where they contradict each other.
    possible_alone : ndarray of int64, shape (n_releases, n_shared)
        How many values each release alone leaves possible.
    few : Score
        Share of these people with fewer than l possible values, beside the worst single release.
    breach : Score
        Share of these people about whom some joint belief exceeds 1 / l, beside the worst single release.
    largest : Score
        The largest joint belief about any of them, beside that of the guesser.
    truth : Score
        The joint belief in people's true values on average, beside that of the guesser.
    notes : tuple of str
        What to know of the numbers, in sentences.

    Examples
    --------
    >>> import pandas as pd
    >>> from anoncore import Microdata, attacks
    >>> from anoncore.algorithms import Mondrian
    >>> from anoncore.requirements import KAnonymity
    >>> roles = {"name": "identifier", "age": "quasi-identifier", "disease": "sensitive"}
    >>> first = pd.DataFrame({"name": ["Ann", "Bob"], "age": [30, 31], "disease": ["flu", "gout"]})
    >>> second = pd.DataFrame({"name": ["Ann", "Cem"], "age": [30, 58], "disease": ["flu", "cold"]})
    >>> crowd = Mondrian(requirements=[KAnonymity(k=2)])
    >>> releases = [crowd.anonymize(Microdata(table, roles)) for table in (first, second)]
    >>> found = attacks.composition(releases, "disease", by="name")
    >>> found.people.tolist(), found.possible_alone.tolist(), found.possible.tolist()
    (['Ann'], [[2], [2]], [1])
    """

    attribute: str
    people: pd.Index
    rows: Int64
    values: tuple[Any, ...]
    prior: Floats
    possible: Int64
    possible_alone: Int64
    few: Score
    breach: Score
    largest: Score
    truth: Score
    notes: tuple[str, ...]
    _together: Together = field(repr=False)

    @cached_property
    def alone(self) -> Floats:
        """The belief in each value that each release alone gives, float (n_releases, n_shared, m)."""
        dense = np.zeros((len(self.rows), len(self.people), len(self.values)))
        for part in self._together.parts():
            dense[:, part.people[part.person], part.code] = part.alone
        return dense

    @cached_property
    def belief(self) -> Floats:
        """The belief in each value that all releases give together, float (n_shared, m)."""
        dense = np.zeros((len(self.people), len(self.values)))
        for part in self._together.parts():
            dense[part.people[part.person], part.code] = part.belief
        return dense


@measure(FEW_VALUES, JOINT_BREACH, JOINT_LARGEST, JOINT_TRUTH, title="Several releases together")
@checked
def composition(releases: Sequence[Release], attribute: str, by: By = None, l: float = 2.0) -> Composition:
    """Lay releases of overlapping people side by side: what they tell together about those who are in all of them.

    Each release alone may keep its promise, and all of them together may not: a person who hides among four diseases
    here and four others there has what both have in common. The adversary finds the person's group in every release,
    as in `sensitive_posterior`, and strikes out every value that one of them rules out. For the others, Bayes' rule
    says p(s | all) in proportion to prior(s) times the product of p_i(s) / prior(s) over the releases i, that is, for
    two releases, to p_a(s) p_b(s) / prior(s). What a release shows of the others in a person's group then tells nothing
    about what another release shows, given the person's own value: releases are independent. The prior is the share of
    each value in all tables together.

    That is exact where the person is the only one whom the groups share. Where groups of two releases are the same set
    of people and tell the same, the second one is no news and counts once. Where groups share some people and others
    not, independence is an assumption for the beliefs; the possible values need none.

    Parameters
    ----------
    releases : sequence of Release
        Two releases or more, of any forms. Their tables may have other columns, roles and values.
    attribute : str
        The sensitive attribute that is guessed; every release publishes its single values.
    by : str or sequence of str, optional
        The column, or the columns together, that say who a row is, in every table; they need not be published. An
        empty sequence stands for the labels of the rows. By default the unit of the tables if they have one, else the
        labels of the rows.
    l : float
        The diversity that the figures are about, at least 1.

    Returns
    -------
    Composition
        Beliefs and possible values of everybody who is in all tables, together and by each release alone.

    Raises
    ------
    ParameterError
        For fewer than two releases, a column that a table lacks, rows of one table that it does not tell apart, or an l
        below 1.
    ReleaseError
        Where a release does not publish single values of the attribute.

    Notes
    -----
    Assumes: the adversary knows the quasi-identifiers of a person, that they are in all tables, and that their value is
      the same in all of them; releases were made independently of each other.
    Cost: that of `sensitive_posterior` for each release, then O(n m) for n shared people and m values.
    Use: the same people, or some of them, are published a second time, by you or by somebody else.
    Avoid: the attribute of a person has changed between the releases: their common value may then be nobody's.

    References
    ----------
    Ganta, Kasiviswanathan and Smith, Composition attacks and auxiliary information in data privacy, KDD 2008
    (intersection attack).

    Examples
    --------
    Ann is a patient of two hospitals. The first says flu or gout, the second flu or cold:

    >>> import pandas as pd
    >>> from anoncore import Microdata, attacks
    >>> from anoncore.algorithms import Mondrian
    >>> from anoncore.requirements import KAnonymity
    >>> roles = {"name": "identifier", "age": "quasi-identifier", "disease": "sensitive"}
    >>> first = pd.DataFrame({"name": ["Ann", "Bob"], "age": [30, 31], "disease": ["flu", "gout"]})
    >>> second = pd.DataFrame({"name": ["Ann", "Cem"], "age": [30, 58], "disease": ["flu", "cold"]})
    >>> crowd = Mondrian(requirements=[KAnonymity(k=2)])
    >>> releases = [crowd.anonymize(Microdata(table, roles)) for table in (first, second)]
    >>> found = attacks.composition(releases, "disease", by="name")
    >>> dict(zip(found.values, found.belief[0].tolist()))
    {'flu': 1.0, 'gout': 0.0, 'cold': 0.0}
    """
    releases = tuple(releases)
    if len(releases) < 2:
        raise ParameterError(f"A composition needs at least two releases, not {len(releases)}.")
    if not l >= 1:
        raise ParameterError(f"l must be at least 1, not {l}.")
    for release in releases:
        release.require_people("What several releases tell together is told of people who are in each of them")
        release.fragment_of(attribute)
    people, rows = _shared_people([release.data for release in releases], by)
    values, codes = _common_values([release.data.domain[attribute] for release in releases])
    counts = [release.data.n_rows for release in releases]
    tables = np.zeros((len(releases), len(values)))
    for number, release in enumerate(releases):
        tables[number, codes[number]] = table_distribution(release, attribute)
    prior: Floats = np.average(tables, axis=0, weights=counts)
    together = Together(
        tuple(signature_posterior(release, attribute) for release in releases),
        tuple(codes),
        rows,
        prior,
        _same_people(releases, rows),
    )
    true = np.array([codes[i][release.data.codes[attribute][rows[i]]] for i, release in enumerate(releases)])
    figures = _Figures.of(together, true[0])
    scores = _scores(figures, prior, true[0], {"attribute": f"'{attribute}'", "l": f"{l:g}"}, l)
    return Composition(
        attribute=attribute,
        people=people,
        rows=rows,
        values=values,
        prior=prior,
        possible=figures.possible,
        possible_alone=figures.possible_alone,
        few=scores[0],
        breach=scores[1],
        largest=scores[2],
        truth=scores[3],
        notes=(*_counted(releases, attribute), *_notes(attribute, true, figures.possible, figures.news)),
        _together=together,
    )


def _shared_people(tables: Sequence[Microdata], by: By) -> tuple[pd.Index, Int64]:
    """Who is in all tables, and their row in each, int64 (n_tables, n_shared), in the row order of the first table."""
    rows_of = [_rows_of_people(data, by, number) for number, data in enumerate(tables, 1)]
    shared = list(rows_of[0])
    for other in rows_of[1:]:
        shared = [person for person in shared if person in other]
    rows = np.array([list(map(of.__getitem__, shared)) for of in rows_of], np.int64)
    people = pd.Index(shared, tupleize_cols=True)
    return people, rows


def _rows_of_people(data: Microdata, by: By, number: int) -> dict[Hashable, int]:
    """The row of each person of a table, by what says who they are; rows that lack some of it are nobody's.

    Raises ParameterError for a column that the table lacks, or where several rows are one person's.
    """
    unit = [] if data.unit is None else [data.unit]
    names = unit if by is None else [by] if isinstance(by, str) else list(by)
    lacking = [name for name in names if name not in data.given.columns]
    if lacking:
        there = listing(data.given.columns, 30)
        raise ParameterError(f"Table {number} has no column {listing(lacking)}; it has {there}.")
    columns = [data.given.column(name) for name in names] if names else [data.frame.index.to_series()]
    known = ~np.any([column.isna().to_numpy() for column in columns], axis=0)
    cells = [column[known].tolist() for column in columns]
    people: list[Hashable] = cells[0] if len(cells) == 1 else list(zip(*cells, strict=True))
    rows = dict(zip(people, np.flatnonzero(known).tolist(), strict=True))
    if len(rows) < len(people):
        what = listing(names) if names else "the labels of its rows"
        raise ParameterError(
            f"In table {number}, {what} does not tell the rows apart: {len(people):,} rows have {len(rows):,} "
            "different values. Choose the columns that together belong to one person and to one row."
        )
    return rows


def _common_values(domains: Sequence[Domain]) -> tuple[tuple[Any, ...], list[Int64]]:
    """All values of some domains, and the position of each domain's codes among them."""
    values: dict[Key, Any] = {}
    for domain in domains:
        for value in domain:
            values.setdefault(value_key(value), value)
    place = {key: number for number, key in enumerate(values)}
    codes = [np.array([place[value_key(value)] for value in domain], np.int64) for domain in domains]
    return tuple(values.values()), codes


def _same_people(releases: Sequence[Release], rows: Int64) -> Bools:
    """Whether the group of each person is the same set of people in a release as in an earlier one, bool (n_releases,
    n_releases, n_shared): the later release first.
    """
    same = np.zeros((len(releases), *rows.shape), np.bool_)
    groups = [
        (release.partition.group[rows[number]], release.partition.sizes) if release.is_shared else None
        for number, release in enumerate(releases)
    ]
    for later, group in enumerate(groups):
        for earlier, before in enumerate(groups[:later]):
            if group is None or before is None:
                continue
            pair, _, _, shared = numbered_inside_groups(group[0], before[0])
            same[later, earlier] = (shared[pair] == group[1][group[0]]) & (shared[pair] == before[1][before[0]])
    return same


@record
class Part:
    """The beliefs about some people, one entry per person and value that some release gives a belief above 0.

    `people` int64 (n_some,) are their numbers. Per entry, by person and value: `person` int64, the place among the
    people, `code` int64, the value, `alone` float (n_releases, n_entries), the beliefs of the releases, and `belief`
    float, the joint one. `news` bool (n_releases, n_some) says whether each release says something new.
    """

    people: Int64
    person: Int64
    code: Int64
    alone: Floats
    belief: Floats
    news: Bools

    @property
    def can_be(self) -> Bools:
        """Whether all releases leave the value possible, bool (n_entries,)."""
        return np.asarray((self.alone > 0).all(axis=0))

    def largest(self, values: Floats) -> Floats:
        """The largest number of each person, float (n_some,), of one per entry."""
        largest: Floats = np.maximum.reduceat(values, np.searchsorted(self.person, np.arange(len(self.people))))
        return largest

    def count(self, chosen: Bools) -> Int64:
        """How many entries of each person are chosen, int64 (n_some,)."""
        return np.bincount(self.person[chosen], minlength=len(self.people)).astype(np.int64)


@record
class Together:
    """The beliefs of several releases about the people who are in all of them.

    `beliefs` has those of each release, `codes` int64 (n_codes,) for each the number of its codes among all values,
    `rows` int64 (n_releases, n_shared) the rows of the people, and `prior` float (m,) the share of each value. `same`
    is what `_same_people` gives.
    """

    beliefs: tuple[SignaturePosterior, ...]
    codes: tuple[Int64, ...]
    rows: Int64
    prior: Floats
    same: Bools

    def parts(self) -> Iterator[Part]:
        """All people, some after the other: those of whom the releases say the same follow each other."""
        signatures = [one.signature[rows] for one, rows in zip(self.beliefs, self.rows, strict=True)]
        order = np.lexsort(signatures[::-1])
        begin, step = 0, PEOPLE_AT_ONCE
        while begin < len(order):
            people = order[begin : begin + step]
            found = [self._entries(number, one[people]) for number, one in enumerate(signatures)]
            entries = [one for one in found if one is not None]
            if len(entries) < len(found):
                step = len(people) // 2
                continue
            yield self._part(people, entries)
            begin += len(people)

    def _entries(self, number: int, signatures: Int64) -> Entries | None:
        """What a release says of some people; None where that is too much to look at together."""
        different, of_person = np.unique(signatures, return_inverse=True)
        entries = self.beliefs[number].leading(different)
        is_all = len(entries) == len(different) and int(entries.sizes[of_person].sum()) <= MOST_ENTRIES
        return entries.some(of_person) if is_all or len(signatures) == 1 else None

    def _part(self, people: Int64, found: list[Entries]) -> Part:
        own = [codes[one.code] for one, codes in zip(found, self.codes, strict=True)]
        person, code, alone = side_by_side(found, own)
        news = np.ones((len(found), len(people)), np.bool_)
        for later, earlier in combinations(reversed(range(len(found))), 2):
            differs = ~np.isclose(alone[later], alone[earlier], rtol=0, atol=ACCUMULATED)
            says_the_same = np.bincount(person, weights=differs, minlength=len(people)) == 0
            news[later] &= ~(self.same[later, earlier][people] & says_the_same)
        part = Part(people, person, code, alone, np.zeros(len(person)), news)
        return replace(part, belief=self._joint(part))

    def _joint(self, part: Part) -> Floats:
        """The joint belief of each entry: by Bayes' rule, or the mean where the releases contradict each other."""
        can_be = part.can_be
        of_prior = np.log(self.prior[part.code])
        logarithms = np.where(can_be, of_prior, -np.inf)
        for release, is_news in zip(part.alone, part.news, strict=True):
            evidence = np.log(release, out=np.zeros_like(release), where=can_be) - of_prior
            logarithms += np.where(is_news[part.person] & can_be, evidence, 0.0)
        is_open = part.count(can_be)[part.person] > 0
        # The largest weight becomes 1, so that products of many small beliefs do not vanish.
        largest = np.where(is_open, part.largest(logarithms)[part.person], 0.0)
        weights = np.exp(logarithms - largest)
        total = np.bincount(part.person, weights=weights, minlength=len(part.people))[part.person]
        return np.where(is_open, weights / np.where(is_open, total, 1.0), part.alone.mean(axis=0))


@record
class _Figures:
    """What is counted of each person: possible values, strongest beliefs, belief in the truth, and what was news."""

    possible: Int64
    possible_alone: Int64
    largest: Floats
    largest_alone: Floats
    truth: Floats
    news: Bools

    @classmethod
    def of(cls, together: Together, true: Int64) -> _Figures:
        """Look at all people; `true` int64 (n_shared,) are their values."""
        shape = together.rows.shape
        found = cls(
            possible=np.zeros(shape[1], np.int64),
            possible_alone=np.zeros(shape, np.int64),
            largest=np.zeros(shape[1]),
            largest_alone=np.zeros(shape),
            truth=np.zeros(shape[1]),
            news=np.ones(shape, np.bool_),
        )
        for part in together.parts():
            found.possible[part.people] = part.count(part.can_be)
            found.largest[part.people] = part.largest(part.belief)
            for number, alone in enumerate(part.alone):
                found.possible_alone[number, part.people] = part.count(alone > 0)
                found.largest_alone[number, part.people] = part.largest(alone)
            is_true = part.code == true[part.people[part.person]]
            found.truth[part.people[part.person[is_true]]] = part.belief[is_true]
            found.news[:, part.people] = part.news
        return found


def _scores(
    figures: _Figures, prior: Floats, true: Int64, words: dict[str, str], l: float
) -> tuple[Score, Score, Score, Score]:
    """Few values, breach, largest belief and belief in the truth; NaN where nobody is in all tables."""
    few_alone = [_share(lies_below(one, l)) for one in figures.possible_alone]
    breach_alone = [_share(lies_above(one, 1 / l, ACCUMULATED)) for one in figures.largest_alone]
    few = _share(lies_below(figures.possible, l))
    breach = _share(lies_above(figures.largest, 1 / l, ACCUMULATED))
    largest = float(figures.largest.max()) if len(figures.largest) else float("nan")
    return (
        Score(few, FEW_VALUES, baseline=max(few_alone), words=words),
        Score(breach, JOINT_BREACH, baseline=max(breach_alone), words=words),
        Score(largest, JOINT_LARGEST, baseline=float(prior.max()), words=words),
        Score(_share(figures.truth), JOINT_TRUTH, baseline=_share(prior[true]), words=words),
    )


def _share(values: Any) -> float:
    return float(np.mean(values)) if len(values) else float("nan")


def _counted(releases: Sequence[Release], attribute: str) -> tuple[str, ...]:
    """What the figures count that the tags of the tables would have otherwise, in sentences."""
    notes = [note for release in releases for note in rows_counted(release)]
    if any(attribute in release.data.sensitive_values for release in releases):
        notes.append(f"Every value of '{attribute}' counts here, also those that are not named as sensitive.")
    return tuple(dict.fromkeys(notes))


def _notes(attribute: str, true: Int64, possible: Int64, news: Bools) -> tuple[str, ...]:
    notes = []
    if true.shape[1] == 0:
        notes.append("Nobody is in all of these tables, so the releases tell nothing about anybody together.")
    changed = int((true != true[0]).any(axis=0).sum())
    if changed:
        notes.append(
            f"{changed:,} people have another value of '{attribute}' in another table. The attack takes their value to "
            "be the same everywhere, and may strike out the true one."
        )
    contradicted = int((possible == 0).sum())
    if contradicted:
        notes.append(
            f"About {contradicted:,} people the releases contradict each other: no value is possible in all. Their "
            "joint belief is the mean of what each release says."
        )
    repeated = int((~news).any(axis=0).sum())
    if repeated:
        notes.append(
            f"{repeated:,} people hide among the same people in several releases, which say the same of them; what is "
            "said again counts once."
        )
    return tuple(notes)
