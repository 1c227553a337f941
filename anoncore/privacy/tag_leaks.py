"""Insensitive columns that undo what a release protects: they tell a protected column, are told by one, or single
people out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from anoncore.base.arguments import checked
from anoncore.base.number import measure
from anoncore.base.showing import Result
from anoncore.kernels.arrays import Codes, Int64
from anoncore.kernels.grouping import dense_key
from anoncore.release.recoding import Exact
from anoncore.release.release import Release
from anoncore.requirements.k_anonymity import largest_k
from anoncore.table.microdata import Microdata, Role
from anoncore.table.relations import Relation, Split, close_relations, smallest_and_below

SAMPLE = 10_000
"""Rows on which pairs of columns are tried first; what they seem to tell is then counted on all rows."""
UNIQUE = 2
"""The k where none is promised: a row that stands alone is found for certain."""


@dataclass(frozen=True)
class TagLeak(Result):
    """A column that nobody protects, and what it gives away of what the tags protect.

    Attributes
    ----------
    column : str
        The insensitive column, published as it is.
    is_decided : bool
        Whether somebody gave it the role `insensitive`; nobody did where a table that was made elsewhere publishes it.
    relations : tuple of Relation
        How far it tells tagged columns and they tell it, the closest first; only what is told of nearly all rows.
    role : Role or None
        Role of the tagged column to which it is closest; None without relations.
    split : Split or None
        What becomes of the published classes with it; None where no class is there to hide in.
    n_rows : int
        Rows of the table.
    is_of_table : bool
        Whether it is about the table itself, before any release.
    counted : str
        What the sizes of classes count: row, or person where the table says whose row it is.

    Examples
    --------
    >>> import pandas as pd
    >>> from anoncore import Microdata, privacy
    >>> from anoncore.algorithms import Mondrian
    >>> from anoncore.requirements import KAnonymity
    >>> people = pd.DataFrame({"degree": list("AABBCC"), "years": [10, 10, 13, 13, 16, 16]})
    >>> data = Microdata(people, roles={"degree": "quasi-identifier", "years": "insensitive"})
    >>> (leak,) = privacy.tag_leaks(Mondrian(requirements=[KAnonymity(k=6)]).anonymize(data))
    >>> leak.column, leak.relations[0].told, leak.relations[0].share, leak.split.smallest, leak.split.n_below
    ('years', 'degree', 1.0, 2, 6)
    """

    column: str
    is_decided: bool
    relations: tuple[Relation, ...]
    role: Role | None
    split: Split | None
    n_rows: int
    is_of_table: bool = False
    counted: str = "row"

    @property
    def proposed(self) -> Role:
        """The role that would protect the column."""
        return Role.SENSITIVE if self.role is Role.SENSITIVE else Role.QUASI_IDENTIFIER

    @property
    def advice(self) -> str:
        """What to do, as a sentence without its end: to tag the column, or to leave it out."""
        return f"tag '{self.column}' as {_article(self.proposed)}, or leave it out of the release"

    @property
    def finding(self) -> str:
        """What the column gives away, with its numbers, in a sentence for people."""
        state = "is published by decision" if self.is_decided else "has no role, is published"
        told = [f" and {_told(self.column, one)}" for one in self.relations[:1]] or [" as it is"]
        return f"'{self.column}' {state}{told[0]}{self._consequence()}."

    @property
    def sentence(self) -> str:
        """The finding and the advice."""
        return f"{self.finding} {self.advice[0].upper()}{self.advice[1:]}."

    def _consequence(self) -> str:
        if self.split is not None and self.split.n_below > self.split.n_below_before:
            return _split_text(self.split, self)
        if self.role is Role.SENSITIVE:
            return ": whoever learns the one learns of the other, and nothing protects it"
        return ": whoever knows or reads the one has the other, however that is protected"


@measure()
@checked
def tag_leaks(release: Release, k: int | None = None) -> tuple[TagLeak, ...]:
    """Find insensitive columns that a release publishes and that undo what it protects.

    A column is found if it tells a tagged column, or a tagged column tells it, of nearly all rows (alone, or two of
    them together): then whoever knows the one has the other. It is also found if it leaves more rows in classes of
    fewer than k, alone or as one of a smallest set of columns that together do so: classes that readers tell apart by
    these columns are smaller than promised.

    Parameters
    ----------
    release : Release
        What is published.
    k : int, optional
        Rows that a class should have; by default the largest k that was promised, else 2, which counts unique rows.

    Returns
    -------
    tuple of TagLeak
        One entry per column, those that tell or are told first.

    Notes
    -----
    Assumes: an adversary knows every quasi-identifier and whatever follows from it.
    Cost: O(n) per pair of a free and a tagged column and n rows, and O(n) per set of columns that is tried.
    Use: before a release is published, to see what an insensitive column undoes.
    Avoid: no column is insensitive; then there is nothing to find. In a release that was read without its original only
      the sizes of classes are looked at: what one column tells of another is said by the original's rows.

    References
    ----------
    Goodman and Kruskal, JASA 1954, lambda: the share of wrong guesses that another column puts right.

    Examples
    --------
    Years at school say the degree, so six people of one class are told apart in pairs:

    >>> import pandas as pd
    >>> from anoncore import Microdata, privacy
    >>> from anoncore.algorithms import Mondrian
    >>> from anoncore.requirements import KAnonymity
    >>> people = pd.DataFrame({"degree": list("AABBCC"), "years": [10, 10, 13, 13, 16, 16]})
    >>> data = Microdata(people, roles={"degree": "quasi-identifier", "years": "insensitive"})
    >>> (leak,) = privacy.tag_leaks(Mondrian(requirements=[KAnonymity(k=6)]).anonymize(data))
    >>> print(leak.advice)
    tag 'years' as a quasi-identifier, or leave it out of the release
    """
    release.require_people("Whether a column undoes a tag is asked of people's rows")
    data, free = release.data, _free(release)
    if not free:
        return ()
    # What one column tells of another is read from original rows, which published tables alone do not show.
    relations = [one for one in _relations(data, free) if _undoes(release, one, free)] if data.knows_rows else []
    splits: dict[str, Split] = {}
    for classes, names in _tables(release, k):
        for name, split in _splits(classes, names, relations).items():
            if name not in splits or split.n_below > splits[name].n_below:
                splits[name] = split
    return _leaks(data, free, relations, splits)


@measure()
@checked
def all_but_secrets(release: Release, k: int | None = None) -> Split | None:
    """Say what becomes of the classes for readers who know every published column of a person but the secrets.

    Parameters
    ----------
    release : Release
        What is published.
    k : int, optional
        Rows that a class should have; by default the largest k that was promised, else 2, which counts unique rows.

    Returns
    -------
    Split or None
        The classes with and without the insensitive columns, in the table with most rows in classes of fewer than k.
        None where no table has quasi-identifiers with insensitive columns beside them, as where rows of several tables
        are joined by groups.

    Notes
    -----
    Assumes: an adversary knows every published value of a person except the sensitive ones.
    Cost: O(n) per insensitive column and n rows.
    Use: beside the k of what is known, to see what publishing columns as they are does to it.
    Avoid: no column is insensitive; then it is the k of the quasi-identifiers.

    References
    ----------
    Samarati and Sweeney 1998, k-anonymity, with every published column but the secrets as quasi-identifier.

    Examples
    --------
    >>> import pandas as pd
    >>> from anoncore import Microdata, privacy
    >>> from anoncore.algorithms import Mondrian
    >>> from anoncore.requirements import KAnonymity
    >>> people = pd.DataFrame({"age": [21, 22, 23, 24], "town": list("aabc"), "disease": ["flu", "cold"] * 2})
    >>> roles = {"age": "quasi-identifier", "town": "insensitive", "disease": "sensitive"}
    >>> release = Mondrian(requirements=[KAnonymity(k=4)]).anonymize(Microdata(people, roles))
    >>> split = privacy.all_but_secrets(release)
    >>> split.smallest_before, split.smallest, split.n_below
    (4, 1, 4)
    """
    release.require_people("The size of a group counts the people in it")
    found = [split_by_all(classes, names) for classes, names in _tables(release, k)]
    return max(found, key=lambda one: (one.n_below, -one.smallest), default=None)


def split_by_all(classes: VisibleClasses, names: tuple[str, ...]) -> Split:
    """What becomes of classes whose rows are told apart by all of these columns."""
    (smallest_before, before), (smallest, below) = classes.sizes([(), names])
    return Split(names, classes.k, smallest, smallest_before, below, before)


def _free(release: Release) -> tuple[str, ...]:
    # A pseudonym is no value that somebody knows of a person: what it joins is counted by `linked_k`.
    hidden = release.data.pseudonym
    return tuple(name for name in release.data.insensitive if name in release.attributes and name != hidden)


def _tables(release: Release, k: int | None) -> Iterator[tuple[CodedClasses, tuple[str, ...]]]:
    """The classes that readers see in each table where rows are not joined by groups, and the table's free columns."""
    data, free = release.data, _free(release)
    wanted = k if k is not None else largest_k(release.promises, UNIQUE)
    for fragment in () if release.is_shared and len(release.fragments) > 1 else release.fragments:
        known = [fragment.recodings[name] for name in fragment.attributes if name in data.quasi_identifiers]
        columns: dict[str, Codes | Int64] = {
            name: dense_key(fragment.recodings[name].content(), data.n_rows)
            for name in free
            if name in fragment.recodings
        }
        if known and columns:
            group = dense_key((codes for one in known for codes in one.content()), data.n_rows)
            yield CodedClasses(group, columns, wanted, data.people), tuple(columns)


def table_leaks(data: Microdata) -> tuple[TagLeak, ...]:
    """Insensitive columns of a table that undo a tag, whatever a method does with the tagged ones.

    All rows count as one class, as if nothing were published of the quasi-identifiers; what makes rows unique then does
    so in every release.
    """
    free = tuple(name for name in data.insensitive if name != data.pseudonym)
    if not free:
        return ()
    relations = _relations(data, free)
    everyone = np.zeros(data.n_rows, np.int64)
    classes = CodedClasses(everyone, {name: data.codes[name] for name in free}, UNIQUE, data.people)
    splits = _splits(classes, free, relations)
    return _leaks(data, free, relations, splits, is_of_table=True)


class VisibleClasses(Protocol):
    """The classes that a reader sees, wherever their rows are, and what becomes of them with further columns.

    `k` is the number of rows that a class should have.
    """

    k: int

    def sizes(self, sets: Iterable[tuple[str, ...]]) -> Iterator[tuple[int, int]]:
        """For each set of columns the size of the smallest class and the rows in classes of fewer than k, where rows
        are told apart by these columns too. Sets are asked for one by one, and no more of them than are used.
        """


class CodedClasses:
    """Classes in memory: the number of each row's class, the columns' codes, and whose row each is."""

    def __init__(self, group: Int64, columns: Mapping[str, Codes | Int64], k: int, people: Codes | None = None) -> None:
        self.k, self._columns, self._people = k, columns, people
        self._group = dense_key((group,), len(group))
        self._last: tuple[tuple[str, ...], Int64] = ((), self._group)

    def sizes(self, sets: Iterable[tuple[str, ...]]) -> Iterator[tuple[int, int]]:
        """The sizes, of which those of a set that extends the one before take the fewest steps."""
        n_rows = len(self._group)
        for names in sets:
            before, key = self._last
            if names[: len(before)] != before:
                before, key = (), self._group
            more = [self._columns[name] for name in names[len(before) :]]
            if more:
                key = dense_key((key, *more), n_rows)
            self._last = names, key
            yield smallest_and_below(key, self.k, self._people)


def leaks_of_classes(data: Microdata, classes: VisibleClasses, relations: Sequence[Relation]) -> tuple[TagLeak, ...]:
    """As `tag_leaks`, of a release that is one table and whose rows are not in memory.

    `data` need not have rows either, and `relations` are those of its free columns.
    """
    return _leaks(data, data.insensitive, relations, _splits(classes, data.insensitive, relations))


def _relations(data: Microdata, free: tuple[str, ...]) -> list[Relation]:
    step = -(-data.n_rows // SAMPLE)
    # By content, so that the order of the rows in the file says nothing about which of them are tried.
    sample = data.canonical_order[::step] if step > 1 else np.arange(data.n_rows)
    return close_relations(data.codes, free, (*data.quasi_identifiers, *data.sensitive), sample)


def _undoes(release: Release, relation: Relation, free: tuple[str, ...]) -> bool:
    """Whether a relation tells readers more than what stands beside the column in the same tables.

    A quasi-identifier that is published exactly in every table of the column is no secret, nor can the column give it
    away.
    """
    columns = {name for name in (*relation.telling, relation.told) if name in free}
    known = [name for name in (*relation.telling, relation.told) if name in release.data.quasi_identifiers]
    beside = [part for part in release.fragments if columns & part.recodings.keys()]
    shown = all(type(part.recodings.get(name)) is Exact for name in known for part in beside)
    return not known or not shown


def _splits(classes: VisibleClasses, names: tuple[str, ...], relations: Sequence[Relation]) -> dict[str, Split]:
    """The columns that leave more rows in classes below k, each with the smallest set in which it does so.

    Columns of a relation are told with the others of it, whether they do so or not.
    """
    sets: dict[str, tuple[str, ...]] = {}
    for one in relations:
        together = tuple(name for name in (*one.telling, one.told) if name in names)
        for name in together:
            sets.setdefault(name, together)
    alone = {name: (name,) for name in names if name not in sets}
    asked = list(dict.fromkeys([(), *sets.values(), *alone.values()]))
    found = dict(zip(asked, classes.sizes(asked), strict=True))
    smallest, before = found[()]

    def split(together: tuple[str, ...], sizes: tuple[int, int]) -> Split:
        return Split(together, classes.k, sizes[0], smallest, sizes[1], before)

    splits = {name: split(together, found[together]) for name, together in sets.items()}
    splits |= {name: split(one, found[one]) for name, one in alone.items() if found[one][1] > before}
    rest = [name for name in alone if name not in splits]
    while together := _smallest_that_split(classes, rest, before):
        sizes = next(iter(classes.sizes([together])))
        splits |= dict.fromkeys(together, split(together, sizes))
        rest = [name for name in rest if name not in together]
    return splits


def _smallest_that_split(classes: VisibleClasses, names: Sequence[str], before: int) -> tuple[str, ...]:
    """Columns that together leave more rows in classes below k, of which none can be spared; none if all do not.

    They are those that remain where the columns are dropped first to last as long as the others still do so. As a
    further column never makes a class larger, each of them is found from the last column backwards: it is the first
    with which those that are kept already, and all behind it, do so. `before` are the rows in classes below k without
    any of them.
    """
    first, below = 0, before
    kept: tuple[str, ...] = ()
    while below == before:
        backwards = list(reversed(names[first:]))
        tried = ((*kept, *backwards[: place + 1]) for place in range(len(backwards)))
        place = next((place for place, (_, rows) in enumerate(classes.sizes(tried)) if rows > before), None)
        if place is None:
            return ()
        kept = (*kept, backwards[place])
        first = len(names) - place
        below = next(iter(classes.sizes([kept])))[1]
    return kept


def _leaks(
    data: Microdata,
    free: tuple[str, ...],
    relations: Sequence[Relation],
    splits: Mapping[str, Split],
    is_of_table: bool = False,
) -> tuple[TagLeak, ...]:
    leaks = []
    for name in free:
        own = [one for one in relations if name in (*one.telling, one.told)]
        own.sort(key=lambda one: (len(one.telling), -one.strength))
        if own or name in splits:
            tagged = [other for one in own[:1] for other in (*one.telling, one.told) if other not in free]
            role = data.roles[tagged[0]] if tagged else None
            leaks.append(
                TagLeak(
                    column=name,
                    is_decided=name not in data.undecided,
                    relations=tuple(own),
                    role=role,
                    split=splits.get(name),
                    n_rows=data.n_rows,
                    is_of_table=is_of_table,
                    counted="row" if data.people is None else "person",
                )
            )
    return tuple(sorted(leaks, key=lambda one: not one.relations))


def _told(column: str, relation: Relation) -> str:
    """What the column tells or what tells it, as the rest of a sentence that begins with the column."""
    others = [f"'{name}'" for name in relation.telling if name != column]
    of = "every row" if relation.share == 1 else f"{np.floor(1000 * relation.share) / 10:g}% of the rows"
    guessing = f"(guessing: {relation.guessing:.0%})"
    if column == relation.told:
        return f"follows from {' and '.join(others)} in {of} {guessing}"
    together = f", together with {' and '.join(others)}," if others else ""
    return f"tells{together} '{relation.told}' of {of} {guessing}"


def _split_text(split: Split, leak: TagLeak) -> str:
    others = [f"'{name}'" for name in split.columns if name != leak.column]
    together = f"with it and {', '.join(others)}" if others else "with it"
    people = leak.counted == "person"
    fewer = f"{split.k} people" if people else f"k = {split.k}"
    below = "unique" if split.k == UNIQUE and not people else f"in groups of fewer than {fewer}"
    rows = f"{split.n_below:,} of {leak.n_rows:,} rows are {below}"
    if leak.is_of_table:
        return f": {together} {rows}, whatever is done to what is tagged"
    before = f", and {split.n_below_before:,} without it" if split.n_below_before else ""
    size = f"{split.smallest:,} {leak.counted if split.smallest == 1 else 'people' if people else 'rows'}"
    return f": {together} the smallest group has {size} instead of {split.smallest_before:,}, and {rows}{before}"


def _article(role: Role) -> str:
    return "sensitive" if role is Role.SENSITIVE else "a quasi-identifier"
