"""People among whom each person hides where readers join rows: by a pseudonym that all rows of a person have."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from anoncore.base.arguments import checked
from anoncore.base.number import Number, measure
from anoncore.base.score import Score
from anoncore.base.showing import Result
from anoncore.base.texts import counted
from anoncore.kernels.arrays import Int64, record
from anoncore.kernels.grouping import dense_key
from anoncore.release.release import Fragment, Release
from anoncore.table.people import alike_people, distinct_pairs

LINKED_K = Number(
    name="linked-k",
    title="Fewest people alike by joined rows",
    template="Fewest people whose rows nobody tells apart by what is known of all rows that readers can join.",
    family="protection",
    source="Nergiz, Clifton and Nergiz, ICDE 2007",
    form="count",
    unit="people",
    higher_is_better=True,
    bounds=(1.0, None),
    baseline="the people of the original table: all of them as one group.",
    short="joined k",
)


@record
class LinkedPeople(Result):
    """Among how many people each person hides, by what is known of all of their rows that readers join.

    Attributes
    ----------
    k : Score
        The smallest number of people who are alike.
    alike : ndarray of int64, shape (n_people,)
        People, the person included, whose rows are like each person's; people are numbered as in `Microdata.people`,
        or as rows where every row is another person.
    pseudonym : str or None
        The published column that joins the rows of a person; None where none does, so that rows are told apart one by
        one.

    Examples
    --------
    >>> import pandas as pd
    >>> from anoncore import Microdata, privacy
    >>> from anoncore.algorithms import Mondrian
    >>> from anoncore.requirements import KAnonymity
    >>> visits = pd.DataFrame({"patient": list("AABBCC"), "age": [20, 60, 21, 61, 22, 22]})
    >>> data = Microdata(visits, {"age": "quasi-identifier"}, pseudonym="patient")
    >>> found = privacy.linked_k(Mondrian(requirements=[KAnonymity(k=2)]).anonymize(data))
    >>> found.alike.tolist(), found.n_below(2)
    ([2, 2, 1], 1)
    """

    k: Score
    alike: Int64
    pseudonym: str | None

    def n_below(self, k: int) -> int:
        """How many people hide among fewer than k.

        Parameters
        ----------
        k : int
            The number of people that somebody should hide among.

        Returns
        -------
        int
            People for whom that fails.
        """
        return int((self.alike < k).sum())

    def finding(self, k: int) -> str:
        """What joining does to k, in half a sentence.

        Parameters
        ----------
        k : int
            The number of people that somebody should hide among.

        Returns
        -------
        str
            What joins rows and how many people it finds; empty where everybody hides among k, or no rows are joined.
        """
        below = self.n_below(k)
        if self.pseudonym is None or not below:
            return ""
        return (
            f"'{self.pseudonym}', a pseudonym, joins the rows of a person: by all of them somebody hides among "
            f"{counted(int(self.k), 'person')}, and {below:,} of {len(self.alike):,} people hide among fewer than {k:,}"
        )


@measure(LINKED_K)
@checked
def linked_k(release: Release) -> LinkedPeople:
    """Count among how many people each person hides, where readers join all rows that have one pseudonym.

    Without a published pseudonym rows stay apart, and people are counted who have a row that looks the same. With one,
    a reader who knows the quasi-identifiers of all rows of a person looks for whoever has just these rows. People are
    alike where they have equally many rows of each content, in whatever order; a group that joins the rows of several
    tables is content, too.

    Parameters
    ----------
    release : Release
        What is published.

    Returns
    -------
    LinkedPeople
        Among how many people each person hides, in the table where they are fewest.

    Raises
    ------
    ReleaseError
        Where the rows of the release are nobody's.

    Notes
    -----
    Assumes: the adversary knows every quasi-identifier of every row of a person, and that they are in the table.
    Cost: O(n log n) for n rows.
    Use: several rows of one person are published with something that joins them.
    Avoid: rows cannot be joined; then it counts people of single rows, as `reidentification` does.

    References
    ----------
    Samarati and Sweeney 1998, k-anonymity, of records that are all rows of a person. Nergiz, Clifton and Nergiz,
    Multirelational k-anonymity, ICDE 2007, section 3: a person's record is what all their tuples tell together.

    Examples
    --------
    Every row looks like another person's row, and Cem alone has two visits in one class:

    >>> import pandas as pd
    >>> from anoncore import Microdata, privacy
    >>> from anoncore.algorithms import Mondrian
    >>> from anoncore.requirements import KAnonymity
    >>> visits = pd.DataFrame({"patient": list("AABBCC"), "age": [20, 60, 21, 61, 22, 22]})
    >>> data = Microdata(visits, {"age": "quasi-identifier"}, pseudonym="patient")
    >>> release = Mondrian(requirements=[KAnonymity(k=2)]).anonymize(data)
    >>> float(privacy.profile(release).k), float(privacy.linked_k(release).k)
    (2.0, 1.0)
    """
    release.require_people("Among how many people somebody hides is asked of people's rows")
    alike = np.min([_alike(release, fragment) for fragment in release.fragments], axis=0)
    score = Score(float(alike.min()), LINKED_K, baseline=float(release.data.n_people))
    return LinkedPeople(score, alike, release.data.pseudonym if _is_joined(release) else None)


def _is_joined(release: Release) -> bool:
    return release.data.pseudonym in release.attributes


def _alike(release: Release, fragment: Fragment) -> Int64:
    """People who are like each in one table, int64 (n_people,)."""
    data = release.data
    known = [fragment.recodings[name] for name in fragment.attributes if name in data.quasi_identifiers]
    columns = [codes for one in known for codes in one.content()]
    joined = data.pseudonym in fragment.recodings
    if joined and release.is_shared and len(release.fragments) > 1:
        columns.append(fragment.partition.group)
    content = dense_key(columns, data.n_rows)
    person = np.arange(data.n_rows, dtype=np.int32) if data.people is None else data.people
    if joined:
        return alike_people(person, content)
    sizes = distinct_pairs(person, content.astype(np.int32), int(content.max()) + 1)[content]
    smallest = np.full(data.n_people, data.n_people, dtype=np.int64)
    np.minimum.at(smallest, person, sizes)
    return smallest


def groups_below(release: Release, k: int) -> Iterator[tuple[Fragment, int, int]]:
    """The groups of the tables with a pseudonym that have a row of somebody who hides among fewer than k people.

    Each comes with its fragment, its number, and among how many the person hides who hides among fewest.
    """
    data = release.data
    if data.people is None or not _is_joined(release):
        return
    for fragment in release.fragments:
        if data.pseudonym in fragment.recodings:
            alike = _alike(release, fragment)
            smallest = np.full(fragment.partition.n_groups, data.n_people, dtype=np.int64)
            np.minimum.at(smallest, fragment.partition.group, alike[data.people])
            for group in np.flatnonzero(smallest < k).tolist():
                yield fragment, group, int(smallest[group])
