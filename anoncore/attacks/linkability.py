"""Linkability: can two lists' entries about one person be linked better because the person is in a release?"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from math import nan
from typing import Any

import numpy as np
import numpy.typing as npt

from anoncore.attacks.control_figures import AttackNumbers, Figures, Tried, checked_queries, figures
from anoncore.attacks.control_people import People, attacked_attributes, control_of, members_of
from anoncore.attacks.fitting_secrets import Factor, beliefs, evidence_of
from anoncore.attacks.linked_records import Records
from anoncore.attacks.rows_counted import rows_counted
from anoncore.base.arguments import checked
from anoncore.base.errors import ParameterError, ReleaseError
from anoncore.base.extras import imported
from anoncore.base.number import measure
from anoncore.base.random_numbers import generator
from anoncore.base.texts import listing
from anoncore.kernels.arrays import Bools, Floats, Int64, record
from anoncore.kernels.grouping import distinct, owners
from anoncore.kernels.guessing import fitting_cells
from anoncore.kernels.rounding import ACCUMULATED
from anoncore.privacy.published import Cells, published_key
from anoncore.release.partition import Partition
from anoncore.release.recoding import Exact
from anoncore.release.release import Fragment, Release
from anoncore.table.microdata import Microdata

LINKABILITY = AttackNumbers.of(
    "linkability",
    "Linkability",
    "Share of the entries of one list that are rightly linked with their person's entry in another list",
    "How many of the links are right that the adversary holds for equally likely, of people in the table.",
    "How many of the people in the table have the right link among those that the adversary holds for likeliest.",
    "1 / entries of the other list: an entry that is picked at random.",
)
TREES = 10
LEAF = 5
"""Records of a leaf of the learner's trees, at least: the chance of a value is the share of these that have it."""
MOST_CLASSES = 20
"""Different values of an attribute that the learner tells apart; numbers with more are put into so many ranges."""
UNSEEN = 1e-3
"""The chance of a value that no record of the leaves has."""


@record
class Linkability(Figures):
    """How often two entries about one person are linked, of people who are in the release and of people who are not.

    Attributes
    ----------
    members : Score
        Share of right guesses about people who are in the table, beside what guessing without the release gets.
    control : Score
        The same about people who are not in it; NaN without a control part.
    difference : Score
        How much more often guesses are right about people in the table: what only the release tells of them. NaN
        without a control part.
    precision, recall : Score
        How many of the links are right that are held for likeliest, and how many people have their link among them.
    members_interval, control_interval, difference_interval : tuple of float
        95% intervals, of all adversaries at once: that several were tried is allowed for.
    adversary : str
        The best adversary: the one with the largest lower end of the interval of the difference, without a control part
        of that of the success.
    adversaries : DataFrame
        A line per adversary, with the figures above and the ends of their intervals.
    beats_guessing : bool
        Whether the success is surely above that of guessing.
    notes : tuple of str
        What to know of the numbers, in sentences.
    first, second : tuple of str
        The attributes of the two lists.
    n_entries : int
        Entries of each list.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from anoncore import Microdata, attacks
    >>> from anoncore.algorithms import Mondrian
    >>> from anoncore.requirements import KAnonymity
    >>> people = pd.DataFrame({"age": range(20, 60), "zip": np.random.default_rng(0).permutation(40)})
    >>> data = Microdata(people, roles=dict.fromkeys(people.columns, "quasi-identifier"))
    >>> members, others = data.split(control=0.5, seed=1)
    >>> raw = Mondrian(requirements=[KAnonymity(k=1)]).anonymize(members)
    >>> found = attacks.linkability(raw, known=(["age"], ["zip"]), control=others)
    >>> float(found.members), found.n_entries, found.beats_guessing
    (1.0, 20, True)
    """

    first: tuple[str, ...]
    second: tuple[str, ...]
    n_entries: int


@record
class _Links:
    """For each entry of the first list: how many of the second are likeliest, int64 (n,), and whether its own is."""

    candidates: Int64
    has_own: Bools

    @property
    def success(self) -> float:
        """Share of the entries that are rightly linked when one of the likeliest is picked at random."""
        return float(
            np.divide(self.has_own, self.candidates, where=self.candidates > 0, out=np.zeros(len(self.has_own))).mean()
        )

    @property
    def recall(self) -> float:
        """Share of the entries whose own is among the likeliest."""
        return float(self.has_own.mean())

    @property
    def precision(self) -> float:
        """Share of right links among all likeliest ones."""
        links = int(self.candidates.sum())
        return float(self.has_own.sum() / links) if links else nan


@measure(*LINKABILITY.all, title="Linkability")
@checked
def linkability(
    release: Release,
    known: Sequence[Collection[str]] | None = None,
    control: Microdata | None = None,
    n_queries: int = 2_000,
    seed: int = 0,
) -> Linkability:
    """How often two entries about one person are linked by means of a release.

    The adversary has two lists about the same people. One has some attributes, the other one others, and nothing says
    which entries belong together. The release, which has both kinds of attributes, may tell. An attack names an entry
    of the second list for each one of the first. What succeeds as often with people who are not in the table is
    knowledge about people in general. Three adversaries try, each from what is published alone:

    - rules from the release: the likeliest partner by the published cells that both entries fit, where columns share
      groups by way of the groups, and where fragments have groups of their own by way of what they share.
    - nearest neighbour: entries are linked where the same published record is nearest to both, as anonymeter does. Of
      records equally near each time the same one is taken. Their `recall` is anonymeter's success rate, which does not
      count wrong links.
    - learned model: extremely randomized trees of scikit-learn, which learn from the published records what somebody
      with the values of the first list has in the second.

    Parameters
    ----------
    release : Release
        The release that the adversaries read.
    known : pair of collections of str, optional
        The attributes of the first list and of the second. By default the published attributes in two halves, in column
        order.
    control : Microdata, optional
        People who are not in the release, drawn as those were who are in it; see `Microdata.split`.
    n_queries : int
        Most entries of a list.
    seed : int
        Says which people are drawn and how what is alike is told apart.

    Returns
    -------
    Linkability
        The success on both, their difference with intervals, and every adversary.

    Raises
    ------
    ReleaseError
        Where the release does not publish an attribute.
    DataError
        For a control part that lacks attributes.
    ParameterError
        For lists that share attributes, for numbers out of range, and a control part that is the released table.

    Notes
    -----
    Assumes: the adversary knows true values, in two lists of the same people.
    Cost: people times records for the nearest neighbour; pairs of entries for the others.
    Use: somebody asks for the second question of the Article 29 Working Party.
    Avoid: the lists share an attribute that names people: then nobody needs the release.

    References
    ----------
    Giomi, Boenisch, Wehmeyer and Tasnadi, A unified framework for quantifying privacy risk in synthetic data, PETS
    2023; Article 29 Working Party, Opinion 05/2014; Newcombe, Statistics in Medicine 1998 (interval of the difference).

    Examples
    --------
    Who publishes age and postcode of everybody links a list of ages with one of postcodes:

    >>> import numpy as np
    >>> import pandas as pd
    >>> from anoncore import Microdata, attacks
    >>> from anoncore.algorithms import Mondrian
    >>> from anoncore.requirements import KAnonymity
    >>> people = pd.DataFrame({"age": range(20, 60), "zip": np.random.default_rng(0).permutation(40)})
    >>> data = Microdata(people, roles=dict.fromkeys(people.columns, "quasi-identifier"))
    >>> members, others = data.split(control=0.5, seed=1)
    >>> for k in (1, 10):
    ...     release = Mondrian(requirements=[KAnonymity(k=k)]).anonymize(members)
    ...     print(round(attacks.linkability(release, known=(["age"], ["zip"]), control=others).members, 2))
    1.0
    0.1
    """
    first, second = _lists(release, known)
    rng = generator(seed)
    most = min(
        checked_queries(n_queries), release.data.n_rows, release.data.n_rows if control is None else control.n_rows
    )
    names = (*first, *second)
    groups = [members_of(release, names, most, rng)]
    if control is not None:
        groups.append(control_of(release, control, names, most, rng))
    notes = list(rows_counted(release))
    found = {"rules from the release": [_by_rules(release, first, second, one) for one in groups]}
    try:
        records = Records.of(release, names, rng)
    except ReleaseError as error:
        notes.append(f"Nearest neighbour and learned model have no records: {error}")
    else:
        found["nearest neighbour"] = [_by_nearest(records, first, second, one) for one in groups]
        found["learned model"] = _learned(records, first, second, groups, seed)
    tried = [
        Tried.of(adversary, [one.success for one in links], [most] * len(links), links[0].precision, links[0].recall)
        for adversary, links in found.items()
    ]
    best = figures(LINKABILITY, tried, 1 / most, {}, notes)
    return Linkability(**vars(best), first=first, second=second, n_entries=most)


def _lists(release: Release, known: Sequence[Collection[str]] | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The attributes of both lists. Raises ParameterError for what are no two lists of different attributes."""
    if known is None:
        if len(release.attributes) < 2:
            raise ParameterError("Two lists need two published attributes at least; the release has one.")
        half = (len(release.attributes) + 1) // 2
        return release.attributes[:half], release.attributes[half:]
    if len(known) != 2:
        raise ParameterError(f"Give the attributes of two lists, such as (['age'], ['zip', 'sex']), not {len(known)}.")
    first, second = (attacked_attributes(release, list(one)) for one in known)
    both = [name for name in first if name in second]
    if both:
        raise ParameterError(
            f"Both lists have {listing(both)}; give lists without a common attribute, as what is common links them "
            "already."
        )
    return first, second


def _by_nearest(records: Records, first: tuple[str, ...], second: tuple[str, ...], people: People) -> _Links:
    """Entries with the same nearest record."""
    one, other = (records.of_attributes(names).nearest(people.of(names))[0] for names in (first, second))
    often = np.bincount(other, minlength=len(records.priority))
    return _Links(often[one], one == other)


def _learned(
    records: Records, first: tuple[str, ...], second: tuple[str, ...], groups: list[People], seed: int
) -> list[_Links]:
    """Entries of the second list whose values are most above their usual share given the values of the first."""
    trees = imported("sklearn.ensemble", "Linkability")
    known, wanted = records.of_attributes(first), records.of_attributes(second)
    classes = [_Classes.of(wanted, axis) for axis in range(len(second))]
    answers = np.column_stack([one.of_records for one in classes])
    learner = trees.ExtraTreesClassifier(n_estimators=TREES, min_samples_leaf=LEAF, random_state=seed)
    learner.fit(known.features().astype(np.float32), answers if len(second) > 1 else answers[:, 0])
    found = []
    for people in groups:
        chances = learner.predict_proba(known.features_of(people).astype(np.float32))
        shown = wanted.features_of(people)
        scores = np.zeros((len(people), len(people)), np.float32)
        for axis, one in enumerate(classes):
            of_axis = chances[axis] if len(second) > 1 else chances
            here = one.of_values(shown[:, axis])
            lift = np.log(np.maximum(of_axis, UNSEEN) / np.maximum(one.shares, UNSEEN)).astype(np.float32)
            # A value that no record has speaks for nobody.
            scores += np.column_stack((lift, np.zeros(len(lift), np.float32)))[:, here]
        found.append(_likeliest(scores))
    return found


@record
class _Classes:
    """The values of an attribute as a learner tells them apart: those that occur, or ranges of numbers."""

    limits: Floats | None
    values: Floats
    of_records: Int64
    shares: Floats

    @classmethod
    def of(cls, records: Records, axis: int) -> _Classes:
        values = records.features()[:, axis]
        limits = None
        if records.is_number[axis] and len(distinct(values)) > MOST_CLASSES:
            limits = np.unique(np.quantile(values, np.arange(1, MOST_CLASSES) / MOST_CLASSES))
            values = np.searchsorted(limits, values, side="right").astype(np.float64)
        different, number, count = np.unique(values, return_inverse=True, return_counts=True)
        return cls(limits, different, number.astype(np.int64), count / len(values))

    def of_values(self, values: Floats) -> Int64:
        """The class of each value, int64; the number of classes for one that does not occur."""
        if self.limits is not None:
            values = np.searchsorted(self.limits, values, side="right").astype(np.float64)
        place = np.searchsorted(self.values, values).clip(0, len(self.values) - 1)
        return np.where(self.values[place] == values, place, len(self.values))


def _likeliest(scores: npt.NDArray[np.float32]) -> _Links:
    """The best columns of each line, where the column of a line's number is its own."""
    likeliest = scores == scores.max(axis=1, keepdims=True)
    return _Links(likeliest.sum(axis=1), np.diagonal(likeliest))


def _by_rules(release: Release, first: tuple[str, ...], second: tuple[str, ...], people: People) -> _Links:
    """The entries that are likeliest together, by P(both) / P(one) / P(other); none where no cell fits both."""
    one, other = people.of(first), people.of(second)
    _, of_one, line = np.unique(np.column_stack((one.below, one.above)), axis=0, return_index=True, return_inverse=True)
    _, of_other, column, often = np.unique(
        np.column_stack((other.below, other.above)), axis=0, return_index=True, return_inverse=True, return_counts=True
    )
    scores = _scores(release, one.some(of_one), other.some(of_other))
    line, column = line.reshape(-1), column.reshape(-1)
    best = scores.max(axis=1)
    likeliest = (scores >= (best * (1 - ACCUMULATED))[:, None]) & (best > 0)[:, None]
    return _Links((likeliest @ often.astype(np.int64))[line], likeliest[line, column])


def _scores(release: Release, one: People, other: People) -> Floats:
    """P(both) / P(other), float (n_one, n_other), for the entries of both lists."""
    known = {*one.names, *other.names}
    joined = len(release.fragments) == 1 or release.is_shared

    def shown(fragment: Fragment) -> tuple[int, int]:
        of_one, of_other = (sum(name in fragment.recodings for name in part.names) for part in (one, other))
        return min(of_one, of_other), of_one + of_other

    lead = max(release.fragments, key=shown)
    if not joined and not shown(lead)[0]:
        return _by_common(release, one, other)
    whole = Partition(np.zeros(release.n_records, np.int32))
    partition = release.partition if joined and len(release.fragments) > 1 else whole
    names = [name for name in lead.attributes if name in known]
    cells = Cells.of(partition, published_key(lead, names))
    left, right = (_weights(release, lead, cells, partition, people, others=joined) for people in (one, other))
    both = (left.multiply(cells.count.astype(np.float64)) @ right.T).toarray()
    alone = np.asarray(right @ cells.count.astype(np.float64)).reshape(-1)
    return np.divide(both, alone, out=np.zeros_like(both), where=alone > 0)


def _weights(release: Release, lead: Fragment, cells: Cells, partition: Partition, people: People, others: bool) -> Any:
    """How likely each cell of the leading column shows a person's values, as a sparse matrix (n_people, n_cells).

    Where the other columns share its groups, a cell counts by what they show of the person in its group.
    """
    from scipy.sparse import csr_array

    shown = Factor.in_cells(lead, [name for name in people.names if name in lead.recodings], cells)
    begin, cell = fitting_cells(people.of(shown.names).positions, shown.regions)
    weight = 1 / shown.allowed[cell]
    if others:
        factors = []
        for fragment in release.fragments:
            rest = [name for name in people.names if name in fragment.recodings and name not in lead.recodings]
            if fragment is not lead and rest:
                factors.append(Factor.of(fragment, rest, partition))
        if factors:
            person = owners(np.diff(begin))
            weight = weight * _in_groups(factors, people, partition.n_groups)[person, cells.group[cell]]
    return csr_array((weight, cell, begin), shape=(len(people), len(cells)))


def _in_groups(factors: list[Factor], people: People, n_groups: int) -> Floats:
    """How likely the other columns show a person's values in each group, float (n_people, n_groups)."""
    product = np.ones((len(people), n_groups))
    for factor in factors:
        factor.weigh(people, product)
    return product


def _by_common(release: Release, one: People, other: People) -> Floats:
    """P(both) / P(one) / P(other) by an attribute that the fragments of both lists publish: the sum over its values of
    P(value given one) P(value given other) / P(value). Zeros where they have none in common.
    """
    nothing = np.zeros((len(one), len(other)))
    of_one, of_other = (
        [fragment for fragment in release.fragments if set(people.names) & set(fragment.attributes)]
        for people in (one, other)
    )
    common = [
        name
        for name in release.attributes
        if any(isinstance(fragment.recodings.get(name), Exact) for fragment in of_one)
        and any(isinstance(fragment.recodings.get(name), Exact) for fragment in of_other)
    ]
    if not common:
        return nothing
    name = common[0]
    table = np.bincount(release.published_codes(name), minlength=len(release.data.domain[name])) / release.data.n_rows
    sides = []
    for people in (one, other):
        belief = np.zeros((len(people), len(table)))

        def use(numbers: Int64, found: Floats, belief: Floats = belief) -> None:
            belief[numbers] = found

        beliefs(evidence_of(release, name, people.names), people, table, use)
        sides.append(belief)
    scores: Floats = (sides[0] / np.where(table > 0, table, 1.0)) @ sides[1].T
    return scores
