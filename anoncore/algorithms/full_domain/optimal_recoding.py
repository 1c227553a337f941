"""Optimal recoding: full-domain generalization with suppression, and the proof that no combination loses less."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from functools import cached_property
from math import floor
from typing import Annotated, ClassVar
from weakref import WeakKeyDictionary

import numpy as np
from pydantic import Field

from anoncore.algorithms.base import Algorithm, Requirements
from anoncore.algorithms.full_domain.incognito import Incognito
from anoncore.algorithms.full_domain.lattice import Lattice, Levels, Node, require_searchable
from anoncore.algorithms.full_domain.published_levels import release_at
from anoncore.algorithms.full_domain.refused_levels import TIE, refused_levels
from anoncore.base.errors import CancelledError, InfeasibleError, ReleaseError
from anoncore.base.progress import Progress, silent
from anoncore.kernels.arrays import Bools, Bytes, Codes, Floats, Int64, Words
from anoncore.kernels.incognito import holding
from anoncore.kernels.optimal_recoding import (
    LevelTables,
    coarser_groups,
    joined_entries,
    published_loss,
)
from anoncore.kernels.rounding import ROUNDING
from anoncore.privacy.cell_knowledge import CellKnowledge
from anoncore.privacy.refusals import Refusals
from anoncore.release.openness import Minimality, Openness
from anoncore.release.partition import Partition
from anoncore.release.release import Release
from anoncore.requirements import CheckSet, KAnonymity, Requirement
from anoncore.table.keys import dense_key
from anoncore.table.microdata import Microdata

MOST_NODES = 5_000_000
"""Nodes of the largest lattice whose lower bounds are written down."""
WORTH_KEEPING = 0.7
"""Groups are kept for coarser combinations where there are at most this share of those that they were made of."""
SMALL_SIZE = 1_000
"""Rows of the largest group whose answer is looked up where nothing but sizes count."""
ROOM = 30
"""How many groups are kept for coarser combinations, as a multiple of those of the exact values."""


class Course(IntEnum):
    """What became of a combination of levels in a search.

    Attributes
    ----------
    BOUNDED : int
        Not looked at, because it would not lose less than the best one even if no row were suppressed.
    RULED_OUT : int
        Not looked at, because of a combination above it: that one fails, or so many rows are in too small classes
        there that suppressing them below loses too much.
    FAILED : int
        Looked at, and the promise does not hold at it, or too many rows would be suppressed.
    POSSIBLE : int
        Looked at, and the promise holds at it.
    OPEN : int
        Not looked at, because the search was ended before: it may lose less than the best one so far.
    """

    BOUNDED = 0
    RULED_OUT = 1
    FAILED = 2
    POSSIBLE = 3
    OPEN = 4


@dataclass(frozen=True)
class Optimum:
    """The best combination of levels that a search found, and how far from the least loss it may be.

    Attributes
    ----------
    attributes : tuple of str
        The quasi-identifiers.
    heights : tuple of int
        The top level of each.
    levels : tuple of int
        The published level of each.
    loss : float
        The information loss of the release, from 0 to 1.
    suppressed : int
        Number of rows that are suppressed.
    bound : float
        No combination of levels loses less than this; the loss itself where it is proven to be the least.
    n_nodes : int
        Number of combinations of levels.
    n_checked : int
        Number of combinations at which the table was grouped.
    course : ndarray of uint8
        What became of every combination (`Course`), with an axis per quasi-identifier over its levels.

    Examples
    --------
    >>> from anoncore.algorithms.full_domain.optimal_recoding import Optimum
    >>> found = Optimum(("age",), (3,), (2,), loss=0.42, suppressed=0, bound=0.4, n_nodes=4, n_checked=2)
    >>> found.optimal, round(found.gap, 3)
    (False, 0.05)
    """

    attributes: tuple[str, ...]
    heights: Node
    levels: Node
    loss: float
    suppressed: int
    bound: float
    n_nodes: int
    n_checked: int
    course: Bytes = field(default_factory=lambda: np.zeros(0, dtype=np.uint8), compare=False, repr=False)

    @property
    def optimal(self) -> bool:
        """Whether no combination of levels loses less."""
        return self.loss <= self.bound

    @property
    def gap(self) -> float:
        """By which share of it the loss is above the bound at most; 0 where it is the least."""
        if self.optimal:
            return 0.0
        return self.loss / self.bound - 1 if self.bound > 0 else np.inf


class OptimalRecoding(Algorithm):
    """Publishes each quasi-identifier at one level of its hierarchy, with the least information loss there is.

    At a combination of levels, rows with equal generalized quasi-identifiers are a class. Classes that break a
    requirement are suppressed: they become one class in which every quasi-identifier is `*`. Where that class itself
    breaks a requirement, the smallest other classes join it. At most the share `max_suppression` of the rows may be
    suppressed. Of all combinations at which that is enough, the one that loses least is published, which `Incognito`
    with suppression need not find: it publishes the best of the combinations that have none below them, and a coarser
    combination may lose less because it suppresses fewer rows.

    Combinations are looked at from the top of the lattice down, after one that loses little was found by always
    lowering the level that pays most. Every combination has a lower bound: the loss if no row were suppressed. Rows
    in classes smaller than any requirement allows are in such classes at all finer combinations too, so that what
    suppressing them costs is added to the bounds of these. A combination whose bound is above the least loss known is
    left out. Where too many rows are in such classes, everything below is ruled out: coarser classes are never smaller.
    Without suppression and with requirements that are monotone under merging the same is done where any class breaks
    any requirement. All other requirements, which a coarser class may break though finer ones satisfy them, rule out
    nothing but their own combination.

    A search that has grouped the table `most_checked` times ends with the best combination it has. The notes then
    say by how much at most its loss is above the least.

    Notes
    -----
    Assumes: hierarchies that say how values are coarsened; that loss is the mean share of the domain that a cell
      covers.
    Cost: O(d n) for every combination looked at, over n different rows and d quasi-identifiers at most; usually a few
      percent of the combinations are looked at.
    Use: readers need one level of detail for all rows, and it shall be the finest on average that the promise allows.
    Avoid: readers need no common level of detail: Mondrian and local recoding then lose much less.

    References
    ----------
    Samarati, IEEE TKDE 2001 (full-domain generalization with suppression); Kohlmayer, Prasser, Eckert, Kemper and Kuhn,
    Flash, PASSAT 2012 (an optimal node of the lattice); Hart, Nilsson and Raphael, IEEE TSSC 1968 (search by a lower
    bound).

    Examples
    --------
    At intervals of ten years, 75 is alone. One person is no class of two, so the smallest class, 58 and 59, is
    suppressed with them. Intervals of twenty years would lose more:

    >>> import pandas as pd
    >>> from anoncore import Hierarchy, Microdata
    >>> from anoncore.algorithms import OptimalRecoding
    >>> from anoncore.requirements import KAnonymity
    >>> people = pd.DataFrame({"age": [21, 22, 23, 33, 34, 34, 58, 59, 75]})
    >>> ages = Hierarchy.by_width(people["age"], width=10)
    >>> data = Microdata(people, roles={"age": "quasi-identifier"}, hierarchies={"age": ages})
    >>> release = OptimalRecoding(requirements=[KAnonymity(k=2)], max_suppression=0.4).anonymize(data)
    >>> release.recoding("age").texts().tolist()
    ['20-29', '20-29', '20-29', '30-39', '30-39', '30-39', '*', '*', '*']
    """

    name: ClassVar[str] = "optimal-recoding"
    title: ClassVar[str] = "Optimal recoding"
    source: ClassVar[str] = "Samarati, IEEE TKDE 2001; Kohlmayer et al., PASSAT 2012"
    family: ClassVar[str] = "full-domain generalization"
    summary: ClassVar[str] = (
        "Publishes every value of an attribute at the same level of its hierarchy, with the least loss there is; "
        "a few people may be suppressed for it."
    )
    minimality: ClassVar[Minimality] = Minimality(
        Openness.DEPENDS,
        "Optimal recoding publishes the combination of levels with the least loss, so readers know that each "
        "combination which would lose less has classes that break a requirement. With l-diversity, t-closeness or "
        "variance diversity that tells about the sensitive values of the whole table together; with k-anonymity alone "
        "it is a matter of sizes, which everybody can count.",
    )

    requirements: Requirements = (KAnonymity(k=5),)
    max_suppression: Annotated[
        float,
        Field(ge=0, lt=1, title="Most suppressed", description="Share of the rows that may be suppressed."),
    ] = 0.04
    most_checked: Annotated[
        int,
        Field(
            ge=1,
            le=1_000_000,
            title="Most combinations",
            description="Group the table at this many combinations of levels at most; then publish the best so far.",
        ),
    ] = 20_000

    def promises(self, data: Microdata) -> tuple[Requirement, ...]:
        """The requirements, for the class of suppressed rows too."""
        return self.requirements

    def validate_data(self, data: Microdata) -> None:
        """Raise DataError for a lattice that is too large, InfeasibleError for a requirement that the table fails."""
        super().validate_data(data)
        require_searchable(data, MOST_NODES)

    def cell_knowledge(self, release: Release) -> CellKnowledge:
        """Nothing of a cell: that a lower level lost more tells of the whole table."""
        return CellKnowledge(np.ones(release.partition.n_groups, dtype=np.bool_))

    def refusals(self, release: Release) -> Refusals:
        """The combinations of levels with less loss than the published one. Raises ReleaseError for suppression."""
        if self.max_suppression > 0:
            raise ReleaseError(
                "Where rows may be suppressed, a combination of levels with less loss may have been refused for "
                "several reasons, so what readers learn from the refusal is not measured; choose no suppression."
            )
        return refused_levels(release, self.requirements)

    @property
    def incognito(self) -> Incognito:
        """The method that finds all combinations with none below them that keep the same promise."""
        return Incognito(requirements=self.requirements, max_suppression=self.max_suppression)

    def search(self, data: Microdata, progress: Progress | None = None) -> Optimum:
        """Find the combination of levels that loses least.

        Parameters
        ----------
        data : Microdata
            The table.
        progress : callable, optional
            Called with the share done and what is being done. If it raises CancelledError after a combination that
            keeps the promise was found, the best one so far is returned.

        Returns
        -------
        Optimum
            The combination, and how far from the least loss it may be.

        Raises
        ------
        DataError
            Where the lattice is too large to search.
        InfeasibleError
            Where no combination satisfies the requirements.
        CancelledError
            Where `progress` raises it before any combination was found.
        """
        return BestFirst(self, data).run(progress if progress is not None else silent)

    def _release(self, data: Microdata, progress: Progress) -> Release:
        search = BestFirst(self, data)
        found = search.run(progress)
        groups = search.groups(np.array(found.levels))
        partition, published = _classes(data, search, found, groups)
        _OPTIMA[partition] = found
        codes = groups.codes[published]
        return release_at(self, data, search.lattice, found.levels, partition, codes, found.suppressed, _notes(found))


_OPTIMA: WeakKeyDictionary[Partition, Optimum] = WeakKeyDictionary()
"""What a search found of the partition that came from it, for as long as somebody holds the partition."""


def optimum_behind(release: Release, progress: Progress = silent) -> Optimum:
    """What the search for a release found, searched again where it is not known any more.

    Raises ReleaseError where the release was not made by OptimalRecoding.
    """
    if not isinstance(release.algorithm, OptimalRecoding):
        raise ReleaseError("Only a release that optimal recoding made has a proven optimum.")
    known = _OPTIMA.get(release.fragments[0].partition)
    return known if known is not None else release.algorithm.search(release.data, progress)


@dataclass(frozen=True, eq=False)
class Groups:
    """The groups of a node; `codes`, `word`, `rows`, `starts`, `sensitive` and `weight` are as in the kernels."""

    node: Int64
    codes: Codes
    word: Words
    rows: Int64
    starts: Int64
    sensitive: Codes
    weight: Int64


@dataclass(frozen=True)
class Found:
    """A node at which the promise holds, what it loses, and how many rows are suppressed for it."""

    node: Node
    loss: float
    suppressed: int


class BestFirst:
    """One search of one table.

    `bounds` float, with an axis per attribute: the loss at every node if no row is suppressed. `more` float of the same
    shape: what the node loses beyond that at least, by what is known of the nodes above it. `course` as in `Optimum`.
    """

    def __init__(self, model: OptimalRecoding, data: Microdata) -> None:
        checks = CheckSet(model.requirements, data)
        self.model = model
        self.lattice = Lattice(data, checks, MOST_NODES)
        self.limit = floor(model.max_suppression * data.n_rows * (1 + ROUNDING))
        self.monotone = self.limit == 0 and all(requirement.is_monotone(data) for requirement in model.requirements)
        self.heights = np.array(self.lattice.heights, dtype=np.int64)
        self.tables = _tables(self.lattice.levels)
        self.top = sum(float(len(levels.domain) > 1) for levels in self.lattice.levels)
        self.n_cells = data.n_rows * len(self.heights)
        base = self.lattice.base
        codes = np.ascontiguousarray(base.group_codes)
        word = np.zeros(len(codes), dtype=np.uint64)
        for column, begin in enumerate(self.tables.begin):
            word += self.tables.salt[begin + codes[:, column]]
        nothing = np.zeros_like(self.heights)
        self.known = [Groups(nothing, codes, word, base.sizes, base.starts, base.sensitive, base.weight)]
        self.known_nodes, self.known_sizes = nothing[None], np.array([len(codes)])
        self.bounds = self._bounds(data)
        self.more = np.zeros_like(self.bounds)
        self.course = np.full(self.bounds.shape, Course.BOUNDED, dtype=np.uint8)
        self.best: Found | None = None
        self.n_checked, self.n_kept = 0, 0
        # Where nothing but sizes count, a group is one entry, and these are the entries of any groups.
        self._places, self._no_values = np.arange(len(codes) + 1), np.zeros(len(codes), dtype=np.int32)

    def _bounds(self, data: Microdata) -> Floats:
        """The loss at every node if no row is suppressed, with an axis per attribute."""
        bounds: Floats = np.zeros(())
        for name, levels in zip(self.lattice.names, self.lattice.levels, strict=True):
            counts = np.bincount(data.codes[name], minlength=len(levels.domain))
            bounds = np.add.outer(bounds, levels.loss @ counts / self.n_cells)
        return bounds

    def run(self, progress: Progress) -> Optimum:
        """Look at nodes from the top down, and at none that cannot lose less than the best one."""
        try:
            self._descend(progress)
            self._look_below(progress)
        except CancelledError:
            if self.best is None:
                raise
        if self.best is None:
            raise InfeasibleError(
                "No combination of levels satisfies the requirements, not even all quasi-identifiers as *; "
                "lower the requirements."
            )
        best, lattice = self.best, self.lattice
        unseen = self.course == Course.BOUNDED
        left = unseen & (self.bounds + self.more < best.loss - TIE)
        self.course[unseen & ~left & (self.bounds < best.loss - TIE)] = Course.RULED_OUT
        self.course[left] = Course.OPEN
        bound = float((self.bounds + self.more)[left].min()) if left.any() else best.loss
        return Optimum(
            lattice.names,
            lattice.heights,
            best.node,
            best.loss,
            best.suppressed,
            bound,
            lattice.n_nodes,
            self.n_checked,
            self.course,
        )

    def _descend(self, progress: Progress) -> None:
        """Begin with a node that loses little: from the top, always down the level that lowers the loss most.

        What is left out is left out by the least loss that is known, so that a good node at the start saves much. The
        exact values have the lowest bound of all, so that they are looked at first.
        """
        self._look_at(np.zeros_like(self.heights), progress)
        lowest, nodes = np.inf, [self.heights]
        while nodes and not self._is_enough():
            found = [one for one in (self._look_at(node, progress) for node in nodes) if one is not None]
            best = min(found, key=lambda one: one.loss, default=None)
            if best is None or best.loss >= lowest:
                return
            lowest, at = best.loss, np.array(best.node, dtype=np.int64)
            nodes = [at - step for step in np.eye(len(at), dtype=np.int64) if (at >= step).all()]

    def _look_below(self, progress: Progress) -> None:
        """Look at all nodes that may still be the best, from the top down, of one height those of the highest bound."""
        height: Int64 = np.zeros((), dtype=np.int64)
        for top in self.lattice.heights:
            height = np.add.outer(height, np.arange(top + 1))
        bounds, more, course = (array.reshape(-1) for array in (self.bounds, self.more, self.course))
        most = np.inf if self.best is None else self.best.loss + TIE
        candidates = np.flatnonzero(bounds <= most)
        order = candidates[np.lexsort((-np.round(bounds[candidates], 12), -height.reshape(-1)[candidates]))]
        unseen = int(Course.BOUNDED)
        for number in order:
            if course[number] != unseen or (self.best and bounds[number] + more[number] > self.best.loss + TIE):
                continue
            if self._is_enough():
                return
            self._look_at(np.array(np.unravel_index(number, self.bounds.shape), dtype=np.int64), progress)

    def _is_enough(self) -> bool:
        """Whether the table was grouped as often as it may be, and there is something to publish."""
        return self.best is not None and self.n_checked >= self.model.most_checked

    def _look_at(self, node: Int64, progress: Progress) -> Found | None:
        """Group the table at a node that was not looked at: what it loses, and what that says of all nodes below it."""
        at = tuple(node.tolist())
        if self.course[at] != Course.BOUNDED:
            return None
        progress(0.05 + 0.85 * self.n_checked / (self.n_checked + 200), f"{self.n_checked:,} combinations looked at")
        groups = self.groups(node)
        found, below = self.found(groups), self.more[tuple(slice(None, level + 1) for level in at)]
        np.maximum(below, self._lost_below(groups), out=below)
        self.course[at] = Course.FAILED if found is None else Course.POSSIBLE
        if found is not None and (self.best is None or self._is_better(found, self.best)):
            self.best = found
        return found

    def _is_better(self, one: Found, other: Found) -> bool:
        """Whether a node loses less; of nodes that lose the same, whether its bound is lower."""
        if abs(one.loss - other.loss) > TIE:
            return one.loss < other.loss
        return (round(self.bounds[one.node], 12), one.node) < (round(self.bounds[other.node], 12), other.node)

    def _lost_below(self, groups: Groups) -> float:
        """What every node from this one down loses beyond its bound at least; infinite where none can be published.

        Rows in groups that are too small for any requirement are in such groups at every node below too, where they are
        suppressed. What is published of them here loses at least what it would lose below, so that suppressing them
        there costs at least what it costs here.
        """
        if not self._is_possible(groups):
            return np.inf
        small = groups.rows < self.lattice.checks.minimum_rows
        published = published_loss(self.tables, groups.codes, groups.rows, small, groups.node)
        return max(0.0, float(groups.rows[small].sum() * self.top - published) / self.n_cells)

    def found(self, groups: Groups) -> Found | None:
        """What is published at a node; None where too many rows would be suppressed."""
        if not self._is_possible(groups):
            return None
        kept = self.kept(groups)
        suppressed = int(groups.rows[~kept].sum())
        if suppressed > self.limit:
            return None
        return Found(tuple(groups.node.tolist()), self.loss(groups, kept), suppressed)

    def groups(self, node: Int64) -> Groups:
        """The groups at a node, made of the fewest known groups of a node below it."""
        self.n_checked += 1
        lies_below = (self.known_nodes <= node).all(axis=1)
        below = self.known[int(np.argmin(np.where(lies_below, self.known_sizes, np.iinfo(np.int64).max)))]
        number, finer, word, rows = coarser_groups(self.tables, below.codes, below.word, below.rows, below.node, node)
        codes = below.codes[finer]
        n_combinations = len(self.lattice.combinations)
        if n_combinations == 1:
            entries = self._places[: len(rows) + 1], self._no_values[: len(rows)], rows
        else:
            entries = joined_entries(number, len(rows), below.starts, below.sensitive, below.weight, n_combinations)
        groups = Groups(node, codes, word, rows, *entries)
        if len(rows) <= WORTH_KEEPING * len(below.rows):
            self._keep(groups)
        return groups

    def _keep(self, groups: Groups) -> None:
        """Keep groups for nodes above theirs; where they become too many, the oldest are forgotten, never the exact."""
        self.known.append(groups)
        self.known_nodes = np.vstack((self.known_nodes, groups.node))
        self.known_sizes = np.append(self.known_sizes, len(groups.rows))
        self.n_kept += len(groups.weight)
        while self.n_kept > ROOM * len(self.known[0].weight) and len(self.known) > 2:
            self.n_kept -= len(self.known.pop(1).weight)
            self.known_nodes, self.known_sizes = (
                np.delete(one, 1, axis=0) for one in (self.known_nodes, self.known_sizes)
            )

    def _is_possible(self, groups: Groups) -> bool:
        """A condition that every node satisfies which lies above one that satisfies it, and every node that can be
        published.
        """
        if self.monotone:
            return bool(self.holding(groups).all())
        return int(groups.rows[groups.rows < self.lattice.checks.minimum_rows].sum()) <= self.limit

    def holding(self, groups: Groups) -> Bools:
        """Whether each group satisfies every requirement, bool (n_groups,)."""
        one = self.lattice
        if len(one.combinations) > 1:
            return holding(one.checks, one.combinations, one.person, groups.sensitive, groups.weight, groups.starts)
        return self._sizes_hold(groups.rows)

    def _sizes_hold(self, rows: Int64) -> Bools:
        """Whether groups of so many rows satisfy every requirement, where nothing but sizes count."""
        holds: Bools = self._small_size_holds[np.minimum(rows, SMALL_SIZE)]
        large = np.flatnonzero(rows > SMALL_SIZE)
        if len(large):
            holds[large] = self._asked(rows[large])
        return holds

    @cached_property
    def _small_size_holds(self) -> Bools:
        """Whether a group satisfies every requirement, for 0 to SMALL_SIZE rows."""
        return self._asked(np.arange(SMALL_SIZE + 1))

    def _asked(self, rows: Int64) -> Bools:
        """What the requirements say of groups of so many rows."""
        one, same = self.lattice, np.zeros(len(rows), dtype=np.int32)
        return holding(one.checks, one.combinations, one.person, same, rows, np.arange(len(rows) + 1))

    def kept(self, groups: Groups) -> Bools:
        """Which groups are published as they are, bool (n_groups,); the others are suppressed and become one class.

        Where the suppressed groups do not satisfy the requirements together, the smallest others join them.
        """
        kept = self.holding(groups)
        if kept.all() or int(groups.rows[~kept].sum()) > self.limit or self._hold_together(groups, ~kept):
            return kept
        # Groups of equal size join by their values, so that the order in which groups were met decides nothing.
        order = np.lexsort((*self.cells(groups)[::-1], np.where(kept, groups.rows, np.iinfo(np.int64).max)))
        for group in order[: kept.sum()]:
            kept[group] = False
            if self._hold_together(groups, ~kept) or int(groups.rows[~kept].sum()) > self.limit:
                break
        return kept

    def _hold_together(self, groups: Groups, chosen: Bools) -> bool:
        """Whether the chosen groups satisfy every requirement as one."""
        one = self.lattice
        if len(one.combinations) == 1:
            return bool(self._sizes_hold(groups.rows[chosen].sum(keepdims=True))[0])
        inside = np.flatnonzero(np.repeat(chosen, np.diff(groups.starts)))
        # The entries of a person have to follow each other, wherever their groups are.
        order = inside[np.argsort(groups.sensitive[inside], kind="stable")]
        sensitive, weight = groups.sensitive[order], groups.weight[order]
        return bool(holding(one.checks, one.combinations, one.person, sensitive, weight, np.array([0, len(order)]))[0])

    def loss(self, groups: Groups, kept: Bools) -> float:
        """Mean loss of a cell where the groups that are not kept are suppressed."""
        published = published_loss(self.tables, groups.codes, groups.rows, kept, groups.node)
        return float(published + groups.rows[~kept].sum() * self.top) / self.n_cells

    def cells(self, groups: Groups) -> list[Codes]:
        """The first code of the generalized value of each group, int32 (n_groups,) per attribute."""
        levels = zip(self.lattice.levels, groups.node, strict=True)
        return [one.first[level][groups.codes[:, a]] for a, (one, level) in enumerate(levels)]


def _tables(levels: tuple[Levels, ...]) -> LevelTables:
    """The levels of all attributes as the kernels read them."""
    # A random word for every value; any fixed seed does, because the words decide nothing but what is equal.
    rng = np.random.default_rng(20)
    words = [rng.integers(0, 2**64, len(one.domain), dtype=np.uint64)[one.first].ravel() for one in levels]
    return LevelTables(
        loss=np.concatenate([one.loss.ravel() for one in levels]),
        salt=np.concatenate(words),
        begin=np.cumsum([0, *(one.first.size for one in levels[:-1])]).astype(np.int64),
        size=np.array([len(one.domain) for one in levels], dtype=np.int64),
    )


def _classes(data: Microdata, search: BestFirst, found: Optimum, groups: Groups) -> tuple[Partition, Int64]:
    """The classes at the levels that were found, the suppressed rows last, and the group of each of the others."""
    lattice, kept = search.lattice, search.kept(groups)
    levels = zip(lattice.names, lattice.levels, found.levels, strict=True)
    cells = [one.first[level][data.codes[name]] for name, one, level in levels]
    # The groups and the rows are numbered together, so that equal combinations of cells have equal numbers.
    of_groups = search.cells(groups)
    together = [np.concatenate(pair) for pair in zip(of_groups, cells, strict=True)]
    number = dense_key(together, len(groups.codes) + data.n_rows)
    order = np.lexsort(of_groups[::-1])
    order = order[kept[order]]
    place = np.full(len(groups.codes), len(order), dtype=np.int32)
    place[order] = np.arange(len(order))
    of_number = np.empty(len(groups.codes), dtype=np.int32)
    of_number[number[: len(groups.codes)]] = place
    return Partition(of_number[number[len(groups.codes) :]]), order


def _notes(found: Optimum) -> tuple[str, ...]:
    """What is proven of the levels.

    How many combinations were looked at is not published: it depends on which of them break the promise, and so would
    tell readers about the sensitive values.
    """
    if found.optimal:
        return (f"Optimal: of {found.n_nodes:,} combinations of levels none loses less.",)
    if np.isfinite(found.gap):
        proven = f"of {found.n_nodes:,} combinations of levels none loses less than {found.bound:.4f}"
        return (f"At most {found.gap:.2%} above the optimum: {proven}.",)
    return ()
