"""Attributes put into fragments: much about the class and little of the same in each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from anoncore.algorithms.vertical.mutual_information import BINS, mutual_information
from anoncore.base.errors import DataError
from anoncore.base.texts import listing
from anoncore.kernels.arrays import Floats, record
from anoncore.table.microdata import Microdata

MOST_FRAGMENTS = 8
LEAST_GAIN = 0.05
"""Where the data choose how many fragments there are, each further one must raise the mean of V - W' by this share."""


@record
class AttributeFragments:
    """Fragments of attributes without the common attribute, and what they were made from.

    `seeds[i]` is the attribute that fragment i began with (None: given by hand). `information` is the mutual
    information in nats of all attributes and the common one. `placed` is a frame of the steps of the greedy search:
    attribute, fragment, contribution.
    """

    common: str
    fragments: tuple[tuple[str, ...], ...]
    seeds: tuple[str | None, ...]
    information: pd.DataFrame
    placed: pd.DataFrame

    @property
    def fmrmr(self) -> float:
        """FMRMR of the fragments in nats: the sum of relevance - redundancy."""
        return fmrmr(self.information, self.common, self.fragments)


def fmrmr(information: pd.DataFrame, common: str, fragments: Sequence[Sequence[str]]) -> float:
    """Sum over the fragments of V - W, in nats.

    V is the mean information of the fragment's attributes about the common one, W the mean over all ordered pairs of
    the fragment's attributes (each with itself included) of their mutual information. Source: Zakerzadeh, Aggarwal and
    Barker, vertical fragmentation, section 3.2.
    """
    total = 0.0
    for names in fragments:
        members = list(names)
        relevance = information.loc[members, common].to_numpy().mean()
        total += float(relevance - information.loc[members, members].to_numpy().mean())
    return total


def fragment_attributes(
    data: Microdata, common: str, fragments: int | None = 2, bins: int = BINS
) -> AttributeFragments:
    """Greedy fragments of large FMRMR.

    The first two fragments start with the two quasi-identifiers of the largest mutual information, as they are least
    wanted together. Each further one starts with the quasi-identifier whose smallest information about the seeds so far
    is largest. Then, step by step, the quasi-identifier and fragment with the largest contribution (FMRMR after -
    before, which may be negative) are put together; of equal pairs the first. Other attributes follow by the same rule
    after all quasi-identifiers, which should be spread first. Without `fragments` see `fragments_by_data`. Raises
    DataError for fewer quasi-identifiers than fragments. Source: Zakerzadeh, Aggarwal and Barker, vertical
    fragmentation, section 4.1 and algorithm 1 (there the largest contribution starts at 0, which never ends once all
    are negative).
    """
    known = data.quasi_identifiers
    wanted = 2 if fragments is None else fragments
    if len(known) < wanted:
        raise DataError(
            f"{wanted} fragments need as many quasi-identifiers, but the table has {len(known)}; "
            "choose fewer fragments or tag more attributes."
        )
    information = mutual_information(data, bins=bins)
    if fragments is None:
        fragments = fragments_by_data(information, common, known)
    search = _Search.of(information, common, _seeds(information, known, fragments))
    search.place(known)
    search.place(data.attributes)
    return search.result()


def given_fragments(
    data: Microdata, common: str, by_hand: Sequence[Sequence[str]], bins: int = BINS
) -> AttributeFragments:
    """Fragments made by hand; attributes that are no quasi-identifiers may be left out and are placed by contribution.

    Raises DataError for a fragment without a quasi-identifier, an attribute that is unknown, the common one or in two
    fragments, and for a quasi-identifier in none.
    """
    names = [name for fragment in by_hand for name in fragment]
    unknown = [name for name in dict.fromkeys(names) if name not in data.attributes]
    if unknown:
        raise DataError(
            f"The fragments name {listing(unknown)}, which the table lacks or never publishes; "
            f"it has {listing(data.attributes, 30)}."
        )
    if common in names:
        raise DataError(f"'{common}' is the class attribute and part of every fragment; leave it out of the fragments.")
    twice = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    if twice:
        raise DataError(f"Fragments share {listing(twice)}; put each attribute into one fragment.")
    for fragment in by_hand:
        if not set(fragment) & set(data.quasi_identifiers):
            raise DataError(
                f"A fragment needs a quasi-identifier; this one has {listing(list(fragment)) or 'nothing'}."
            )
    left_out = [name for name in data.quasi_identifiers if name not in names]
    if left_out:
        raise DataError(f"No fragment has {listing(left_out)}; put every quasi-identifier into a fragment.")
    information = mutual_information(data, bins=bins)
    search = _Search.of(information, common, by_hand)
    search.place(data.attributes)
    return search.result(seeded=False)


def fragments_by_data(information: pd.DataFrame, common: str, known: Sequence[str]) -> int:
    """A number of fragments from 2 to 8: one more as long as that raises the mean of V - W' by 5% of its size.

    W' leaves out the information of an attribute with itself, because that would always speak for few, large fragments.
    """
    most = min(MOST_FRAGMENTS, len(known))
    chosen, best = 2, -np.inf
    for number in range(2, most + 1):
        search = _Search.of(information, common, _seeds(information, known, number))
        search.place(known)
        offered = search.mean_without_self()
        if number > 2 and offered < best + LEAST_GAIN * abs(best):
            break
        chosen, best = number, offered
    return chosen


def _seeds(information: pd.DataFrame, known: Sequence[str], number: int) -> list[list[str]]:
    pairs = information.loc[list(known), list(known)].to_numpy(copy=True)
    np.fill_diagonal(pairs, -np.inf)
    if number == 1:
        return [[known[int(np.argmax(pairs.max(axis=1)))]]]
    chosen = list(np.unravel_index(int(np.argmax(pairs)), pairs.shape))
    while len(chosen) < number:
        nearest = pairs[:, chosen].min(axis=1)
        nearest[chosen] = -np.inf
        chosen.append(np.intp(np.argmax(nearest)))
    return [[known[int(index)]] for index in chosen]


@dataclass(eq=False)
class _Search:
    """Fragments that grow; sums per fragment give every contribution without looking at pairs again.

    `relevance` and `pairs` (n_fragments,) sum the members' information about the common attribute and about each other,
    `across` (n_fragments, n_names) that of every attribute about the members.
    """

    information: pd.DataFrame
    common: str
    members: list[list[str]]
    relevance: Floats
    pairs: Floats
    across: Floats
    steps: list[tuple[str, int, float]]

    @classmethod
    def of(cls, information: pd.DataFrame, common: str, begin: Sequence[Sequence[str]]) -> _Search:
        m = len(begin)
        search = cls(
            information, common, [[] for _ in begin], np.zeros(m), np.zeros(m), np.zeros((m, len(information))), []
        )
        for fragment, names in enumerate(begin):
            for name in names:
                search._add(name, fragment)
        return search

    def _add(self, name: str, fragment: int) -> None:
        attribute = self.information.columns.get_loc(name)
        values = self.information.to_numpy()
        self.relevance[fragment] += values[attribute, self.information.columns.get_loc(self.common)]
        self.pairs[fragment] += 2 * self.across[fragment, attribute] + values[attribute, attribute]
        self.across[fragment] += values[attribute]
        self.members[fragment].append(name)

    def place(self, names: Sequence[str]) -> None:
        """Place those of the names that are in no fragment yet, the largest contribution first."""
        placed = {name for members in self.members for name in members} | {self.common}
        left = [name for name in names if name not in placed]
        while left:
            contribution = self._contributions(left)
            index, fragment = np.unravel_index(int(np.argmax(contribution)), contribution.shape)
            self.steps.append((left[index], int(fragment), float(contribution[index, fragment])))
            self._add(left.pop(int(index)), int(fragment))

    def _contributions(self, names: Sequence[str]) -> Floats:
        """FMRMR after adding each name to each fragment, less that before, (n_names, n_fragments)."""
        indices = self.information.columns.get_indexer(pd.Index(names))
        values = self.information.to_numpy()
        own, about = values[indices, indices], values[indices, self.information.columns.get_loc(self.common)]
        size = np.array([len(members) for members in self.members])
        before = self.relevance / size - self.pairs / size**2
        relevance = (self.relevance + about[:, None]) / (size + 1)
        redundancy = (self.pairs + 2 * self.across[:, indices].T + own[:, None]) / (size + 1) ** 2
        contribution: Floats = relevance - redundancy - before
        return contribution

    def mean_without_self(self) -> float:
        """Mean over the fragments of V - W', W' the mean over pairs of different attributes (0 for a single one)."""
        values = []
        for members in self.members:
            block = self.information.loc[members, members].to_numpy()
            size = len(members)
            redundancy = (block.sum() - np.trace(block)) / max(size * (size - 1), 1)
            values.append(self.information.loc[members, self.common].to_numpy().mean() - redundancy)
        return float(np.mean(values))

    def result(self, seeded: bool = True) -> AttributeFragments:
        """The fragments, each in the table's order."""
        rank = {name: number for number, name in enumerate(self.information.columns)}
        return AttributeFragments(
            common=self.common,
            fragments=tuple(tuple(sorted(members, key=rank.__getitem__)) for members in self.members),
            seeds=tuple(members[0] if seeded else None for members in self.members),
            information=self.information,
            placed=pd.DataFrame(self.steps, columns=["attribute", "fragment", "contribution"]),
        )
