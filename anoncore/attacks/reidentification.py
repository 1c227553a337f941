"""The risk that people are found in a release by their quasi-identifiers."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce

import numpy as np

from anoncore.base.arguments import checked
from anoncore.base.errors import DataError, ParameterError
from anoncore.base.number import RISK, measure
from anoncore.base.score import Score
from anoncore.base.showing import Result
from anoncore.kernels.arrays import Codes, Floats, Int64, record
from anoncore.kernels.grouping import first_rows
from anoncore.kernels.rounding import lies_above
from anoncore.privacy.linked_rows import linked_k
from anoncore.privacy.published import published_key
from anoncore.release.population import population_sizes
from anoncore.release.release import Fragment, Release
from anoncore.table.microdata import Microdata
from anoncore.table.people import distinct_pairs

REIDENTIFIED_LARGEST = replace(
    RISK,
    name="reidentified-largest",
    title="Most findable person",
    template="Probability with which the person at most risk is found by the quasi-identifiers (prosecutor's risk).",
    source="El Emam, 2013",
    unit="probability",
    baseline="1 / rows: a record that is picked at random.",
)
REIDENTIFIED_MEAN = replace(
    RISK,
    name="reidentified-mean",
    title="Records found",
    template="Share of the people looked for whose record is found by the quasi-identifiers (prosecutor's risk).",
    source="El Emam, 2013",
    unit="probability",
    baseline="1 / rows: a record that is picked at random.",
)
PROSECUTOR_AT_RISK = replace(
    RISK,
    name="prosecutor-at-risk",
    title="Records at prosecutor risk",
    template="Share of the records that the prosecutor finds with a probability above {threshold}.",
    source="El Emam, 2013",
    unit="share of records",
    baseline="1 where picking a record at random exceeds the threshold, else 0.",
)
JOURNALIST_LARGEST = replace(
    REIDENTIFIED_LARGEST,
    name="journalist-largest",
    title="Largest journalist risk",
    template="How likely the journalist finds the person at most risk, not knowing who is in the table.",
    baseline="1 / people of the population: one who is picked at random.",
)
JOURNALIST_MEAN = replace(
    JOURNALIST_LARGEST,
    name="journalist-mean",
    title="Mean journalist risk",
    template="How likely the journalist is right about a record, on average, not knowing who is in the table.",
)
JOURNALIST_AT_RISK = replace(
    PROSECUTOR_AT_RISK,
    name="journalist-at-risk",
    title="Records at journalist risk",
    template="Share of the records that the journalist finds with a probability above {threshold}.",
    baseline="1 where picking one of the population at random exceeds the threshold, else 0.",
)
MARKETER_LARGEST = replace(
    JOURNALIST_LARGEST,
    name="marketer-largest",
    title="Largest marketer risk",
    template="How likely the marketer links the person at most risk rightly with a list of the population.",
)
MARKETER_MEAN = replace(
    JOURNALIST_LARGEST,
    name="marketer-mean",
    title="Mean marketer risk",
    template="Share of the records that the marketer is expected to link rightly with a list of the population.",
)
MARKETER_AT_RISK = replace(
    JOURNALIST_AT_RISK,
    name="marketer-at-risk",
    title="Records at marketer risk",
    template="Share of the records that the marketer links rightly with a probability above {threshold}.",
)
_NUMBERS = {
    "prosecutor": (REIDENTIFIED_LARGEST, REIDENTIFIED_MEAN, PROSECUTOR_AT_RISK),
    "journalist": (JOURNALIST_LARGEST, JOURNALIST_MEAN, JOURNALIST_AT_RISK),
    "marketer": (MARKETER_LARGEST, MARKETER_MEAN, MARKETER_AT_RISK),
}
"""The largest, mean and at-risk figures of each adversary."""


@record
class Risk(Result):
    """The risk of being found by one kind of adversary, beside what picking people at random gets.

    Attributes
    ----------
    model : str
        The kind of adversary: prosecutor, journalist or marketer.
    definition : str
        What this adversary knows, and how the figures are made.
    largest : Score
        The risk of the person at most risk.
    mean : Score
        The average over the records: the share of them that the adversary is expected to find.
    at_risk : Score
        Share of the records whose risk exceeds the threshold.

    Examples
    --------
    >>> import pandas as pd
    >>> from anoncore import Microdata, attacks
    >>> from anoncore.algorithms import Mondrian
    >>> from anoncore.requirements import KAnonymity
    >>> people = pd.DataFrame({"age": [21, 22, 23, 44, 45, 46], "disease": ["flu"] * 2 + ["cold"] * 4})
    >>> data = Microdata(people, roles={"age": "quasi-identifier", "disease": "sensitive"})
    >>> release = Mondrian(requirements=[KAnonymity(k=3)]).anonymize(data)
    >>> risk = attacks.reidentification(release).prosecutor
    >>> risk.model, round(risk.largest, 3), float(risk.at_risk)
    ('prosecutor', 0.333, 1.0)
    """

    model: str
    definition: str
    largest: Score
    mean: Score
    at_risk: Score


@record
class Reidentification(Result):
    """The risk that people are found by their quasi-identifiers, under three kinds of adversary.

    A class is the records of a fragment with equal published quasi-identifiers.

    Attributes
    ----------
    prosecutor : Risk
        The adversary looks for one person of whom they know that the table has a record.
    journalist : Risk
        The adversary looks for anyone and does not know who is in the table.
    marketer : Risk
        The adversary links every record with a list of the population.
    threshold : float
        The risk above which a record counts as at risk.
    class_size : ndarray of int64, shape (n_rows,)
        Records in the class of each record (f), in original row order. Where one person may have several rows: the
        different people of the smallest class that has a row of the record's person.
    population_size : ndarray of int64, shape (n_rows,)
        People of the population that fit the class of each record (F).
    risk : ndarray of float, shape (n_rows,)
        1 / f of each record.
    group_risk : ndarray of float, shape (n_groups,)
        The largest risk in each group of the first fragment with quasi-identifiers.
    notes : tuple of str
        What to know of the numbers, in sentences.

    Examples
    --------
    >>> import pandas as pd
    >>> from anoncore import Microdata, attacks
    >>> from anoncore.algorithms import Mondrian
    >>> from anoncore.requirements import KAnonymity
    >>> people = pd.DataFrame({"age": [21, 22, 23, 44, 45, 46], "disease": ["flu"] * 2 + ["cold"] * 4})
    >>> data = Microdata(people, roles={"age": "quasi-identifier", "disease": "sensitive"})
    >>> release = Mondrian(requirements=[KAnonymity(k=3)]).anonymize(data)
    >>> found = attacks.reidentification(release)
    >>> found.class_size.tolist(), found.group_risk.round(3).tolist()
    ([3, 3, 3, 3, 3, 3], [0.333, 0.333])
    """

    prosecutor: Risk
    journalist: Risk
    marketer: Risk
    threshold: float
    class_size: Int64
    population_size: Int64
    risk: Floats
    group_risk: Floats
    notes: tuple[str, ...]


@record
class _Classes:
    """Equivalence classes of one fragment: the class of each row, and the records f and people F of each class."""

    of_row: Int64
    records: Int64
    people: Int64

    @property
    def mean_class(self) -> float:
        """Classes / sum of F: how likely somebody of the population who fits a class is the one looked for."""
        return len(self.records) / float(self.people.sum())


@measure(
    REIDENTIFIED_MEAN,
    REIDENTIFIED_LARGEST,
    PROSECUTOR_AT_RISK,
    JOURNALIST_LARGEST,
    JOURNALIST_MEAN,
    JOURNALIST_AT_RISK,
    MARKETER_LARGEST,
    MARKETER_MEAN,
    MARKETER_AT_RISK,
    title="Re-identification",
)
@checked
def reidentification(release: Release, population: Microdata | None = None, threshold: float = 0.2) -> Reidentification:
    """How likely people are found in a release by their quasi-identifiers: prosecutor, journalist and marketer risk.

    A class is the records of a fragment with equal published quasi-identifiers, in whatever group. Exact values count
    as they are, so bucketized people are as exposed as their tuples are rare. Where several fragments publish
    quasi-identifiers, each record has the risk of the fragment that tells most.

    Where one person may have several rows (`Microdata.unit`), f counts the different people of a class, and every
    person counts once, with the smallest class that has one of their rows. Where a pseudonym joins these rows, f counts
    the people whose rows are all the same (`privacy.linked_k`), if these are fewer.

    Somebody of the population fits a class if each of their values fits the published cell, whether or not the table
    has that value: a number lies in the range, a category is in the set or the hierarchy puts it below the node, and a
    missing value is published beside the others. The top of a hierarchy fits everybody. Where one table has numbers and
    the other one texts, only values with equal texts fit. A class counts at least its own records.

    Parameters
    ----------
    release : Release
        The release in which people are looked for.
    population : Microdata, optional
        The table that the journalist's target and the marketer's list come from; by default the table itself.
    threshold : float
        Risk, from 0 to 1, above which a record counts as at risk.

    Returns
    -------
    Reidentification
        The risk of each record, and the largest and mean risk under each adversary.

    Raises
    ------
    ParameterError
        For a threshold outside 0 to 1.
    DataError
        For a population without the quasi-identifiers, or with several rows of one person.

    Notes
    -----
    Assumes: the adversary knows the quasi-identifiers: of one person who is in the table (prosecutor), of one in the
      population (journalist), of a list of people (marketer).
    Cost: O(n log n), with a population the work to find who fits each class.
    Use: rules or an authority ask for a risk per record.
    Avoid: what is learned about sensitive values counts: a record need not be found for that.

    References
    ----------
    El Emam, Guide to the De-Identification of Personal Health Information, 2013; El Emam and Dankar, JAMIA 2008.

    Examples
    --------
    Every record looks like two others. In a population with six people of each age range it looks like six:

    >>> import pandas as pd
    >>> from anoncore import Microdata, attacks
    >>> from anoncore.algorithms import Mondrian
    >>> from anoncore.requirements import KAnonymity
    >>> people = pd.DataFrame({"age": [21, 22, 23, 44, 45, 46], "disease": ["flu"] * 2 + ["cold"] * 4})
    >>> data = Microdata(people, roles={"age": "quasi-identifier", "disease": "sensitive"})
    >>> release = Mondrian(requirements=[KAnonymity(k=3)]).anonymize(data)
    >>> round(attacks.reidentification(release).prosecutor.largest, 3)
    0.333
    >>> town = Microdata(pd.concat([people, people]), roles={"age": "quasi-identifier", "disease": "sensitive"})
    >>> round(attacks.reidentification(release, population=town).journalist.largest, 3)
    0.167
    """
    release.require_people("This attack finds people's rows")
    if not 0 <= threshold <= 1:
        raise ParameterError(f"The risk threshold is a probability from 0 to 1, not {threshold}.")
    known = release.data.quasi_identifiers
    release.require_linked(known)
    fragments = [fragment for fragment in release.fragments if set(known) & set(fragment.attributes)] or [
        release.fragments[0]
    ]
    people = None if population is None or population is release.data else population
    if people is not None and people.people is not None:
        raise DataError(f"The population has several rows of one person ('{people.unit}'); give it one row per person.")
    classes = [
        _classes(release, fragment, [name for name in fragment.attributes if name in known], people)
        for fragment in fragments
    ]
    class_size = reduce(np.minimum, (grouped.records[grouped.of_row] for grouped in classes))
    # The same array where there is no other table, so that it is not held twice.
    population_size = class_size
    if people is not None:
        population_size = reduce(np.minimum, (grouped.people[grouped.of_row] for grouped in classes))
    own = release.data.people
    once: Int64 | slice = slice(None)
    if own is not None:
        class_size = _of_person(class_size, own)
        population_size = class_size if people is None else _of_person(population_size, own)
        once = np.unique(own, return_index=True)[1]
        linked_rows = linked_k(release)
        if linked_rows.pseudonym is not None:
            class_size = np.minimum(class_size, linked_rows.alike[own])
            population_size = class_size if people is None else population_size
    risk = 1 / class_size
    linked = risk if people is None else 1 / population_size
    mean_journalist = max(float(linked[once].mean()), *(grouped.mean_class for grouped in classes))
    chance = 1 / (release.data.n_people if people is None else people.n_rows)
    partition = fragments[0].partition
    return Reidentification(
        prosecutor=_risk("prosecutor", risk[once], float(risk[once].mean()), 1 / release.data.n_people, threshold),
        journalist=_risk("journalist", linked[once], mean_journalist, chance, threshold),
        marketer=_risk("marketer", linked[once], float(linked[once].mean()), chance, threshold),
        threshold=threshold,
        class_size=class_size,
        population_size=population_size,
        risk=risk,
        group_risk=np.maximum.reduceat(risk[partition.order], partition.starts[:-1]),
        notes=_notes(release, fragments, people),
    )


def _of_person(sizes: Int64, own: Codes) -> Int64:
    """The smallest size of all rows of a row's person, int64 (n_rows,)."""
    smallest = np.full(int(own.max()) + 1, np.iinfo(np.int64).max)
    np.minimum.at(smallest, own, sizes)
    return smallest[own]


def _classes(release: Release, fragment: Fragment, names: list[str], population: Microdata | None) -> _Classes:
    of_row, own = published_key(fragment, names), release.data.people
    records = np.bincount(of_row)
    if own is not None:
        records = distinct_pairs(own, of_row.astype(np.int32), len(records))
    if population is None:
        return _Classes(of_row, records, records)
    if not names:
        return _Classes(of_row, records, np.maximum(records, population.n_rows))
    people = population_sizes(fragment, names, first_rows(of_row), population, release.data.hierarchies)
    return _Classes(of_row, records, np.maximum(records, people))


def _notes(release: Release, fragments: list[Fragment], population: Microdata | None) -> tuple[str, ...]:
    notes = []
    if population is None:
        notes.append(
            "No population was given, so the table itself is taken for it: the journalist's risk is the prosecutor's."
        )
    else:
        notes.append(
            f"The population has {population.n_rows:,} people; a group counts at least its own records among them."
        )
    if release.data.people is not None:
        notes.append(
            f"Different people are counted by '{release.data.unit}'. A person with several rows counts once, with the "
            f"smallest group that has one of their rows. {_of_several_rows(release)}"
        )
    if not set(release.data.quasi_identifiers) & set(release.attributes):
        notes.append("No quasi-identifier is published, so nobody can be told apart.")
    elif len(fragments) > 1:
        notes.append(
            "The quasi-identifiers are published in several fragments; each record counts with the one that tells most."
        )
    return tuple(notes)


def _of_several_rows(release: Release) -> str:
    """What becomes of people for those who know several of their rows."""
    if release.data.pseudonym in release.attributes:
        name = release.data.pseudonym
        return f"The pseudonym '{name}' joins rows: people hide among those whose rows are all the same."
    return (
        "Whoever knows several rows of a person may look for those whom their groups share, which these numbers leave "
        "out."
    )


DEFINITIONS = {
    "prosecutor": (
        "The adversary looks for one person of whom they know that the table has a record: 1 / f, f the records of the "
        "person's group. Largest: 1 / min f. Mean: groups / records."
    ),
    "journalist": (
        "The adversary looks for anyone and does not know who is in the table: 1 / F, F the people of the population "
        "who fit the group. Largest: 1 / min F. Mean: the larger of groups / sum of F and the mean of 1 / F."
    ),
    "marketer": (
        "The adversary links every record with a list of the population and counts hits: a link is right with 1 / F. "
        "Mean: the share of records that they are expected to link rightly, the sum of f / F over groups / records."
    ),
}


def _risk(model: str, risk: Floats, mean: float, baseline: float, threshold: float) -> Risk:
    def above(values: Floats) -> float:
        return float(lies_above(values, threshold).mean())

    largest_risk, mean_risk, at_risk = _NUMBERS[model]
    chance_above, words = above(np.array([baseline])), {"threshold": f"{threshold:g}"}
    return Risk(
        model=model,
        definition=DEFINITIONS[model],
        largest=Score(risk.max(), largest_risk, baseline=baseline),
        mean=Score(mean, mean_risk, baseline=baseline),
        at_risk=Score(above(risk), at_risk, baseline=chance_above, words=words),
    )
