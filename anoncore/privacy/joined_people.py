"""Several tables of the same people: what a reader has who joins them by the person."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property

import numpy as np
import pandas as pd

from anoncore.base.arguments import checked, checked_methods
from anoncore.base.errors import DataError, ParameterError, ReleaseError
from anoncore.base.number import measure
from anoncore.base.score import Score
from anoncore.base.showing import Lines, Result, SizesDrawn
from anoncore.base.texts import did_you_mean, listing, quoted, value_text
from anoncore.kernels.arrays import Codes, Int64, record
from anoncore.kernels.grouping import dense_key, distinct
from anoncore.privacy.guarantees import Guarantee, asked_of, judged
from anoncore.privacy.levels import grounds
from anoncore.privacy.linked_rows import LINKED_K
from anoncore.privacy.profile import Profile, WorstLevel, profile
from anoncore.release.partition import Partition
from anoncore.release.recoding import ColumnRegions, Exact, Generalized, GroupValues, Recoding
from anoncore.release.release import Fragment, Release
from anoncore.requirements import Comparison, Requirement
from anoncore.table.microdata import Role
from anoncore.table.people_classes import LinkedRows, linked_classes, people_in_tables


@checked_methods
@record
class JoinedTables(SizesDrawn, Result):
    """Several tables of the same people, as a reader has them who links all rows of a person.

    Attributes
    ----------
    by : str
        The column that says whose row it is, in every table.
    classes : ndarray of int32, shape (n_people,)
        The class of each person, from 0 without gaps: those of one class show the same rows, each as often, in every
        table, over what is known.
    releases : mapping of str to Release
        Each table as such a reader has it: its published rows in groups that are the classes of their people, which are
        a quasi-identifier of their own. Its people are counted, whatever its own unit is. So privacy and attacks are
        measured on it as on any release; what it costs is that of the releases that were joined.
    k : Score
        People of the smallest class.
    k_alone : dict of str to int
        People of the smallest class of each table by its single rows; a join never has more.
    k_all : int
        The same for a reader who knows all that is published of a person but the secrets.
    sentences : tuple of str
        What was counted and what was assumed, for people.

    Examples
    --------
    Each table alone has two people in every class. Joined, Ann is the only one of 20-29 with a visit to ward A:

    >>> import pandas as pd
    >>> from anoncore import Microdata, Release, privacy
    >>> patients = pd.DataFrame({"id": list("abcd"), "age": ["20-29", "20-29", "30-39", "30-39"]})
    >>> visits = pd.DataFrame({"id": list("acbd"), "ward": list("AABB"), "diagnosis": ["flu", "cold", "flu", "cold"]})
    >>> roles = {"id": "identifier", "age": "quasi-identifier"}
    >>> first = Release.from_published(patients, roles)
    >>> roles = {"id": "identifier", "ward": "quasi-identifier", "diagnosis": "sensitive"}
    >>> second = Release.from_published(visits, roles)
    >>> joined = privacy.joined({"patients": first, "visits": second}, by="id")
    >>> float(joined.k), joined.k_alone, joined.classes.tolist()
    (1.0, {'patients': 2, 'visits': 2}, [0, 1, 2, 3])
    """

    by: str
    classes: Codes
    releases: Mapping[str, Release]
    k: Score
    k_alone: dict[str, int]
    k_all: int
    sentences: tuple[str, ...]
    _asked: Mapping[str, Sequence[Requirement]] = field(repr=False)
    _class_of_row: Mapping[str, Codes] = field(repr=False)

    @property
    def n_people(self) -> int:
        """Number of different people in all tables together."""
        return len(self.classes)

    @cached_property
    def profiles(self) -> Mapping[str, Profile]:
        """The levels of each table in the joined classes; people count once with every value that they have there."""
        return {name: profile(release) for name, release in self.releases.items()}

    @property
    def l(self) -> WorstLevel | None:  # noqa: E743  # the field's own name for diversity
        """The frequency l of the worst class: no value is held by more than 1 / l of its people.

        Who has several values holds each of them. None where no table publishes single values of a secret.
        """
        return min(self._scores("frequency-l"), default=None)

    @property
    def t(self) -> WorstLevel | None:
        """The largest distance of a class, or of the rows in it that show the same, from the people of the table.

        The distance is ordered for numbers and ranked categories and equal for others. None where no table publishes
        single values of a secret.
        """
        return max(
            (
                one
                for name in self._views
                for release in self._views[name]
                for one in profile(release).scores
                if one.attribute is not None and one.name == f"t-{grounds(release, one.attribute)[0]}"
            ),
            default=None,
        )

    def guarantees(self, requirements: Mapping[str, Sequence[Requirement]] | None = None) -> tuple[Guarantee, ...]:
        """What the worst class reaches of what was promised of each table.

        A requirement is judged on the people of every class, with all values that they have, and on those rows of a
        class that show the same; the worse of both counts.

        Parameters
        ----------
        requirements : mapping of str to sequence of Requirement, optional
            What is asked of each table; by default what its method promises and was asked for.

        Returns
        -------
        tuple of Guarantee
            One entry per table, requirement and sensitive attribute; its `fragment` is the name of the table.

        Raises
        ------
        ParameterError
            For a table that is not among the joined ones.
        """
        asked = self._asked if requirements is None else requirements
        unknown = [name for name in asked if name not in self.releases]
        if unknown:
            raise ParameterError(f"There is no table {listing(unknown)}; there is {listing(list(self.releases))}.")
        worst = []
        for name, required in asked.items():
            views = (judged(release, required) for release in self._views[name])
            worst += [min(guarantees, key=_kept_level) for guarantees in zip(*views, strict=True)]
        return tuple(worst)

    def frame(self) -> pd.DataFrame:
        """One line per class.

        Returns
        -------
        DataFrame
            The class, its people, how many rows each of them has in every table, and the frequency l of every sensitive
            attribute, NaN where the people of the class have no row in its table.
        """
        n_classes = int(self.classes.max()) + 1
        people = np.bincount(self.classes, minlength=n_classes)
        columns: dict[str, object] = {"class": np.arange(n_classes), "people": people}
        for name, release in self.releases.items():
            partition = release.partition
            of_group = self._class_of_row[name][partition.first_rows]
            rows = np.zeros(n_classes, dtype=np.int64)
            rows[of_group] = partition.sizes // people[of_group]
            columns[f"rows in {name}"] = rows
            for attribute, levels in self.profiles[name].fragments[0].attributes.items():
                frequency = np.full(n_classes, np.nan)
                frequency[of_group] = levels.frequency
                columns[f"{name}, {attribute}: frequency l"] = frequency
        return pd.DataFrame(columns)

    def _headline(self) -> str:
        return f"JoinedTables: {self.n_people:,} people in {listing(list(self.releases))}"

    def _lines(self) -> Lines:
        levels = [(one.label, one._inline()) for one in (self.k, self.l, self.t) if one is not None]
        return [*levels, *(("note", sentence) for sentence in self.sentences)]

    def _group_sizes(self) -> tuple[str, Int64]:
        return "people per class", np.bincount(self.classes)

    def _scores(self, name: str) -> Iterator[WorstLevel]:
        for one in self.profiles.values():
            yield from (score for score in one.scores if score.name == name)

    @cached_property
    def _views(self) -> Mapping[str, tuple[Release, ...]]:
        """Each table by classes, and where rows of a class differ also by what the rows show."""
        views = {}
        for name, release in self.releases.items():
            finer = Partition.alike([release.partition.group, _shown(release, KNOWN, self.by)])
            is_same = finer.n_groups == release.partition.n_groups
            views[name] = (release,) if is_same else (release, _regrouped(release, finer))
        return views


@measure(title="Joined tables")
@checked
def joined(releases: Mapping[str, Release], by: str | None = None) -> JoinedTables:
    """Join releases of several tables of the same people by the person: what is left of what each of them protects.

    Each table alone may keep its promise, and all of them together may not: a person among five by age and sex and
    among five by ward and year may be the only one with both. A reader who links the rows of a person, as a pseudonym
    that is the same in all tables lets them, knows of everybody which rows they have in each table. So people are in
    one class if they show the same rows over the quasi-identifiers, each as often, in every table; nobody hides among
    others. How many rows somebody has, and that somebody has none, is known too.

    - k is the number of people of the smallest class. It is never larger than that of one of the tables.
    - l and t of a secret are about the people of a class who have rows in its table: no value is held by more than 1/l
      of them, where who has several values holds each of them.
    - Without such a link a reader gets at most this: it is the cautious reading of tables that publish no pseudonym.

    Parameters
    ----------
    releases : mapping of str to Release
        The release of each table by the table's name: two or more, each published as one table.
    by : str, optional
        The column that says whose row it is, in every table; it need not be published. By default the unit of the
        tables.

    Returns
    -------
    JoinedTables
        The classes of people, k, l and t over them, and each table as a reader of all has it.

    Raises
    ------
    ParameterError
        For fewer than two releases, and where no column is named and the tables do not have one unit.
    DataError
        For a table that lacks the column, and for rows that do not say whose they are.
    ReleaseError
        For a release that is published as several tables, whose rows are not linked to people, or as rows of nobody.

    Notes
    -----
    Assumes: the reader links all rows of a person and knows every quasi-identifier in all tables.
    Cost: O(n log n) for n rows in all tables.
    Use: two tables or more with the same people are published, with a pseudonym or without.
    Avoid: the same table is published again: see `attacks.composition`.

    References
    ----------
    Nergiz, Clifton and Nergiz, Multirelational k-anonymity, IEEE TKDE 21, 2009, section 3: people are told apart by
    their rows in all tables. Terrovitis et al., VLDB 2008, for people who are known by a set of items.

    Examples
    --------
    >>> import pandas as pd
    >>> from anoncore import Microdata, privacy
    >>> from anoncore.algorithms import Mondrian
    >>> from anoncore.requirements import KAnonymity
    >>> patients = pd.DataFrame({"patient": [1, 2, 3, 4], "age": [20, 22, 40, 44]})
    >>> visits = pd.DataFrame({"patient": [1, 2, 3, 4], "day": [1, 9, 2, 8], "ill": ["flu", "gout", "cold", "flu"]})
    >>> method = Mondrian(requirements=[KAnonymity(k=2)])
    >>> first = method.anonymize(Microdata(patients, {"age": "quasi-identifier"}, unit="patient"))
    >>> roles = {"day": "quasi-identifier", "ill": "sensitive"}
    >>> second = method.anonymize(Microdata(visits, roles, unit="patient"))
    >>> joined = privacy.joined({"patients": first, "visits": second})
    >>> float(joined.k), float(joined.l)
    (1.0, 1.0)
    >>> [guarantee.holds for guarantee in joined.guarantees()]
    [False, False]
    """
    for name, release in releases.items():
        if not isinstance(release, Release):
            given = quoted(value_text(release))
            raise ParameterError(
                f"joined needs a release for the table {quoted(str(name))}, not {given}; make one with a method's "
                "anonymize, or read one with Release.from_published."
            )
        release.require_people("Tables are joined by the people whose rows they have")
    if len(releases) < 2:
        raise ParameterError(f"A join needs at least two tables, not {len(releases)}.")
    by = _unit_of(releases) if by is None else by
    for name, release in releases.items():
        _require_whole(name, release)
    columns = [_column(name, release, by) for name, release in releases.items()]
    ids, people = people_in_tables(columns, list(releases))
    known, all_shown = (
        {name: _shown(release, roles, by) for name, release in releases.items()} for roles in (KNOWN, BUT_SECRETS)
    )
    classes = _classes(known, people, len(ids))
    class_of_row = {name: classes[numbers] for name, numbers in zip(releases, people, strict=True)}
    views = {
        name: _as_joined(name, release, by, numbers, class_of_row[name])
        for (name, release), numbers in zip(releases.items(), people, strict=True)
    }
    alone = {name: _smallest_alone(view, known[name]) for name, view in views.items()}
    k = Score(np.bincount(classes).min(), LINKED_K, baseline=float(len(ids)))
    k_all = int(np.bincount(_classes(all_shown, people, len(ids))).min())
    asked = {name: asked_of(release) for name, release in releases.items()}
    n_shared = int((np.bincount(np.concatenate([distinct(numbers) for numbers in people])) > 1).sum())
    sentences = tuple(_sentences(by, releases, alone, int(k), k_all, len(ids), n_shared))
    return JoinedTables(by, classes, views, k, alone, k_all, sentences, asked, class_of_row)


def _kept_level(guarantee: Guarantee) -> float:
    """The level that is reached, the less the worse."""
    at_least = guarantee.requirement.comparison is Comparison.AT_LEAST
    return guarantee.reached if at_least else -guarantee.reached


CLASS = "joined class"
"""What the quasi-identifier is called that holds the class of a row's person."""
KNOWN = (Role.QUASI_IDENTIFIER,)
BUT_SECRETS = (Role.QUASI_IDENTIFIER, Role.INSENSITIVE)


def _unit_of(releases: Mapping[str, Release]) -> str:
    units = {release.data.unit for release in releases.values()}
    (unit,) = units if len(units) == 1 else (None,)
    if unit is None:
        raise ParameterError("Nobody said whose rows these are; name the column that says so in every table as `by`.")
    return unit


def _require_whole(name: str, release: Release) -> None:
    """Raise ReleaseError for a release whose published rows are not each one person's."""
    if len(release.fragments) > 1:
        tables = listing([fragment.name for fragment in release.fragments])
        raise ReleaseError(
            f"'{name}' is published as {tables}, and which of their rows are one person's is what that hides; to join "
            "it by the person, make it by a method that publishes one table, such as Mondrian."
        )
    for attribute, recoding in release.fragments[0].recodings.items():
        if isinstance(recoding, GroupValues):
            raise ReleaseError(
                f"'{name}' publishes '{attribute}' as sets of a group, and not whose each value is; to join it by the "
                "person, make it by a method that publishes one table, such as Mondrian."
            )


def _column(name: str, release: Release, by: str) -> pd.Series:
    columns = release.data.given.columns
    if by not in columns:
        raise DataError(
            f"'{name}' has no column '{by}' that says whose row it is; it has {listing(columns, 30)}."
            f"{did_you_mean(by, columns)}"
        )
    return release.data.given.column(by)


def _shown(release: Release, roles: Sequence[Role], by: str) -> Codes:
    """A number for what each published row shows of the attributes with these roles, int32 (n_rows,)."""
    recodings = release.fragments[0].recodings
    names = [name for name in recodings if name != by and release.data.roles[name] in roles]
    columns = (column for name in names for column in recodings[name].content())
    return dense_key(columns, release.data.n_rows).astype(np.int32)


def _classes(shown: Mapping[str, Codes], people: Sequence[Int64], n_people: int) -> Codes:
    rows = [LinkedRows(numbers, one) for numbers, one in zip(people, shown.values(), strict=True)]
    return linked_classes(rows, n_people)


def _as_joined(name: str, release: Release, by: str, people: Int64, class_of_row: Codes) -> Release:
    """A table as a reader of all tables has it: its people counted, and their classes its groups, which are known."""
    partition = Partition.alike([class_of_row])
    known = CLASS
    while known in release.data.given.columns:
        known += "_"
    data = release.data.with_classes(by, people, known, partition.group)
    joined_class = {known: Exact(data.domain[known], partition, partition.group)}
    (fragment,) = release.fragments
    named = Fragment(name, partition, {**fragment.recodings, **joined_class})
    return _regrouped(Release(data, (named,), notes=release.notes, numbers=release.numbers), partition)


def _regrouped(release: Release, partition: Partition) -> Release:
    """The same published rows in other groups."""
    (fragment,) = release.fragments
    recodings = {name: _of_rows(recoding, partition) for name, recoding in fragment.recodings.items()}
    return replace(release, fragments=(Fragment(fragment.name, partition, recodings),))


def _of_rows(recoding: Recoding, partition: Partition) -> Recoding:
    """The same cell in every row, whatever the groups are."""
    if isinstance(recoding, Generalized):
        return ColumnRegions(recoding.domain, partition, recoding)
    return replace(recoding, partition=partition)


def _smallest_alone(view: Release, shown: Codes) -> int:
    """People of the smallest class of a table by its single rows."""
    fragment = Fragment("alone", Partition.alike([shown]), {})
    return int(view.people_per_group(fragment).min())


def _sentences(
    by: str,
    releases: Mapping[str, Release],
    alone: Mapping[str, int],
    k: int,
    k_all: int,
    n_people: int,
    n_shared: int,
) -> Iterator[str]:
    parts = ", ".join(f"{count:,} in '{name}'" for name, count in alone.items())
    yield (
        f"Joined by '{by}', the {n_people:,} people of {listing(list(releases), 30)} are in groups of at least {k:,}; "
        f"by single rows of one table they are in groups of at least {parts}."
    )
    known = "; ".join(
        f"in '{name}' {listing(release.data.quasi_identifiers, 30) or 'how many rows they have'}"
        for name, release in releases.items()
    )
    yield (
        f"It is assumed that a reader links all rows of a person in all tables, and knows {known}. Whoever cannot link "
        "them gets no more."
    )
    if n_shared == 0:
        yield f"Nobody has rows in two of the tables by '{by}': is it the same person's number in each of them?"
    if k_all < k:
        published = (
            f"{listing(names, 30)} of '{name}'"
            for name, release in releases.items()
            if (names := [one for one in release.attributes if one in release.data.insensitive and one != by])
        )
        yield (
            f"Whoever also knows {' and '.join(published)}, published by decision, has groups of at least {k_all:,}."
        )
