"""Incognito: full-domain generalization, the same level of a hierarchy for all values of an attribute."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, product
from math import floor
from typing import Annotated, ClassVar
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt
from pydantic import Field

from anoncore.algorithms.base import Algorithm, Requirements, generalized_release
from anoncore.algorithms.full_domain.lattice import FrequencySet, Lattice, Node, require_searchable
from anoncore.algorithms.full_domain.refused_levels import refused_levels
from anoncore.base.errors import InfeasibleError, ReleaseError
from anoncore.base.progress import Progress, silent
from anoncore.kernels.rounding import ROUNDING
from anoncore.privacy.cell_knowledge import CellKnowledge
from anoncore.privacy.refusals import Refusals
from anoncore.release.openness import Minimality, Openness
from anoncore.release.partition import Partition
from anoncore.release.recoding import Generalized
from anoncore.release.release import Fragment, Release
from anoncore.requirements import CheckSet, KAnonymity, Requirement
from anoncore.table.microdata import Microdata

Grid = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class LatticeSearch:
    """What the search of the lattice found. A node of the lattice says the level of each quasi-identifier.

    Attributes
    ----------
    attributes : tuple of str
        The quasi-identifiers.
    heights : tuple of int
        The top level of each.
    minimal : tuple of tuple of int
        The nodes that satisfy the requirements and have none below them that does.
    levels : tuple of int
        The minimal node whose release has the least information loss.
    loss : float
        That loss, from 0 to 1.
    suppressed : int
        Number of rows that are suppressed at that node.
    n_nodes : int
        Number of nodes of the lattice.
    n_checked : int
        Number of nodes that were looked at.
    n_checked_parts : int
        Number of nodes of subsets of the quasi-identifiers that were looked at to rule out others.
    monotone : bool
        Whether every node above one that satisfies the requirements does so itself, as it does where all requirements
        are monotone and no row may be suppressed.
    """

    attributes: tuple[str, ...]
    heights: Node
    minimal: tuple[Node, ...]
    levels: Node
    loss: float
    suppressed: int
    n_nodes: int
    n_checked: int
    n_checked_parts: int
    monotone: bool


class Incognito(Algorithm):
    """Publishes each quasi-identifier at one level of its hierarchy, as low as the requirements allow.

    The lattice of levels is searched from below. All minimal nodes are found, and the one with the least information
    loss is published. Where the requirements are monotone under merging, a node is skipped if its part on fewer
    quasi-identifiers fails already. A quasi-identifier without hierarchy is published exactly or as `*`.

    `max_suppression` is the share of the rows that may be suppressed. Suppressed rows are one class in which every
    quasi-identifier is `*`. That class must satisfy the requirements like any other, and where it does not, further
    small classes join it.

    Notes
    -----
    Assumes: hierarchies that say how values are coarsened; the search skips nodes only for requirements that are
      monotone under merging.
    Cost: in the worst case a grouping for every node of the lattices of all sets of quasi-identifiers, the largest of
      which has the product of the hierarchies' levels as nodes; nodes above a found one or a failed part are spared.
    Use: readers need one level of detail for all rows, so that published values can be counted and compared directly.
    Avoid: there are many quasi-identifiers, or a few rare values would push a whole attribute up: Mondrian and local
      recoding then lose less.

    References
    ----------
    LeFevre, DeWitt and Ramakrishnan, Incognito, SIGMOD 2005, section 3; suppression as in Samarati, TKDE 2001.

    Examples
    --------
    At level 1, intervals of ten years, 44 and 58 would be alone. At level 2, of twenty years, nobody is:

    >>> import pandas as pd
    >>> from anoncore import Hierarchy, Microdata
    >>> from anoncore.algorithms import Incognito
    >>> from anoncore.requirements import KAnonymity
    >>> people = pd.DataFrame({"age": [21, 22, 33, 34, 44, 58]})
    >>> ages = Hierarchy.by_width(people["age"], width=10)
    >>> data = Microdata(people, roles={"age": "quasi-identifier"}, hierarchies={"age": ages})
    >>> incognito = Incognito(requirements=[KAnonymity(k=2)])
    >>> incognito.search(data).levels
    (2,)
    >>> incognito.anonymize(data).recoding("age").texts().tolist()
    ['20-39', '20-39', '20-39', '20-39', '40-59', '40-59']
    """

    name: ClassVar[str] = "incognito"
    title: ClassVar[str] = "Incognito"
    source: ClassVar[str] = "LeFevre, DeWitt and Ramakrishnan, SIGMOD 2005, section 3"
    family: ClassVar[str] = "full-domain generalization"
    summary: ClassVar[str] = (
        "Publishes every value of an attribute at the same level of its hierarchy, as finely as the requirements allow."
    )
    minimality: ClassVar[Minimality] = Minimality(
        Openness.DEPENDS,
        "Incognito publishes the combination of levels with the least loss, so readers know that each combination "
        "with less loss has a class that breaks a requirement. With l-diversity, t-closeness or variance "
        "diversity that tells about the sensitive values of the whole table together; with k-anonymity alone it "
        "is a matter of sizes, which everybody can count.",
    )

    requirements: Requirements = (KAnonymity(k=5),)
    max_suppression: Annotated[
        float,
        Field(ge=0, lt=1, title="Most suppressed", description="Share of the rows that may be suppressed."),
    ] = 0.0

    def promises(self, data: Microdata) -> tuple[Requirement, ...]:
        """The requirements, for the class of suppressed rows too."""
        return self.requirements

    def validate_data(self, data: Microdata) -> None:
        """Raise DataError for a lattice that is too large, InfeasibleError for a requirement that the table fails."""
        super().validate_data(data)
        require_searchable(data)

    def cell_knowledge(self, release: Release) -> CellKnowledge:
        """Nothing of a cell: that a lower level failed tells that some class of the whole table is too small."""
        return CellKnowledge(np.ones(release.partition.n_groups, dtype=np.bool_))

    def refusals(self, release: Release) -> Refusals:
        """The combinations of levels with less loss than the published one. Raises ReleaseError for suppression."""
        if self.max_suppression > 0:
            raise ReleaseError(
                "Where Incognito may suppress rows, a combination of levels with less loss may have been refused for "
                "several reasons, so what its readers learn from the refusal is not measured; choose no suppression."
            )
        return refused_levels(release, self.requirements)

    def search(self, data: Microdata, progress: Progress | None = None) -> LatticeSearch:
        """Find all minimal nodes of a table's lattice, and the best of them.

        Parameters
        ----------
        data : Microdata
            The table.
        progress : callable, optional
            Called with the share done and what is being done.

        Returns
        -------
        LatticeSearch
            The nodes, and how many were looked at.

        Raises
        ------
        DataError
            Where the lattice is too large to search.
        InfeasibleError
            Where no node satisfies the requirements.
        """
        return Search(self, data).run(progress)

    def _release(self, data: Microdata, progress: Progress) -> Release:
        search = Search(self, data)
        result = search.run(progress)
        lattice = search.lattice
        everything = range(len(lattice.names))
        groups = lattice.at(everything, result.levels)
        kept = search.kept(groups)
        partition = Partition(_groups_of_rows(data, lattice, result.levels, groups, kept))
        _SEARCHES[partition] = result
        recodings = dict(generalized_release(self, data, partition).fragments[0].recodings)
        for column, (name, level) in enumerate(zip(lattice.names, result.levels, strict=True)):
            levels = lattice.levels[column]
            node = levels.node[level][groups.group_codes[kept, column]]
            if not kept.all():
                node = np.append(node, np.int32(0))
            recodings[name] = Generalized(
                levels.domain, partition, "node", levels.tree.first[node], levels.tree.last[node], node=node
            )
        notes = [
            "Levels: "
            + ", ".join(
                f"{name} {level} of {height}"
                for name, level, height in zip(lattice.names, result.levels, result.heights, strict=True)
            )
            + "."
        ]
        if result.suppressed:
            share = result.suppressed / data.n_rows
            notes.append(
                f"{result.suppressed:,} of {data.n_rows:,} rows ({share:.2%}) are suppressed: all their "
                "quasi-identifiers are *, and they are one class."
            )
        suppressed = partition.n_groups - 1 if result.suppressed else None
        return Release(data, (Fragment("release", partition, recodings),), self, tuple(notes), suppressed)


_SEARCHES: WeakKeyDictionary[Partition, LatticeSearch] = WeakKeyDictionary()
"""The search that a partition came from, for as long as somebody holds the partition."""


def search_behind(release: Release, progress: Progress = silent) -> LatticeSearch:
    """The search that found the levels of a release, made again where it is not known any more.

    Raises ReleaseError where the release was not made by Incognito.
    """
    model = incognito_of(release)
    known = _SEARCHES.get(release.fragments[0].partition)
    return known if known is not None else model.search(release.data, progress)


def incognito_of(release: Release) -> Incognito:
    """The method of a release. Raises ReleaseError where it is not Incognito."""
    if not isinstance(release.algorithm, Incognito):
        raise ReleaseError("Only a release that Incognito made has a lattice of levels that can be shown.")
    return release.algorithm


class Search:
    """One search of one table."""

    def __init__(self, model: Incognito, data: Microdata) -> None:
        checks = CheckSet(model.requirements, data)
        self.model = model
        self.lattice = Lattice(data, checks)
        self.limit = floor(model.max_suppression * data.n_rows * (1 + ROUNDING))
        self.monotone = self.limit == 0 and all(requirement.is_monotone(data) for requirement in model.requirements)
        self.n_checked, self.n_checked_parts = 0, 0

    def run(self, progress: Progress | None) -> LatticeSearch:
        """Rule out nodes by their parts, then find the minimal ones among the rest."""
        report = progress if progress is not None else silent
        candidates = self._candidates(report)
        minimal = self._minimal(candidates, report)
        if not minimal:
            raise InfeasibleError(
                "No combination of levels satisfies the requirements, not even all quasi-identifiers as *; "
                "lower the requirements."
            )
        best = min(minimal, key=lambda node: (minimal[node][0], node))
        return LatticeSearch(
            attributes=self.lattice.names,
            heights=self.lattice.heights,
            minimal=tuple(sorted(minimal)),
            levels=best,
            loss=minimal[best][0],
            suppressed=minimal[best][1],
            n_nodes=self.lattice.n_nodes,
            n_checked=self.n_checked,
            n_checked_parts=self.n_checked_parts,
            monotone=self.monotone,
        )

    def _candidates(self, report: Progress) -> Grid:
        """The nodes of the whole lattice that no part on fewer attributes rules out, as a grid of levels."""
        heights, q = self.lattice.heights, len(self.lattice.names)
        alive: dict[tuple[int, ...], Grid] = {(): np.ones((), dtype=np.bool_)}
        if not self.monotone and self.lattice.checks.minimum_rows <= 1:
            return np.ones([height + 1 for height in heights], dtype=np.bool_)
        done, total = 0, 2**q
        for size in range(1, q + 1):
            grids: dict[tuple[int, ...], Grid] = {}
            for attributes in combinations(range(q), size):
                grid = np.ones([heights[a] + 1 for a in attributes], dtype=np.bool_)
                for axis in range(size):
                    smaller = attributes[:axis] + attributes[axis + 1 :]
                    grid &= np.expand_dims(alive[smaller], axis)
                if size < q:
                    self._keep_possible(attributes, grid)
                grids[attributes] = grid
                done += 1
                report(0.1 + 0.4 * done / total, f"Combinations of {size} quasi-identifiers")
            alive = grids
        return alive[tuple(range(q))]

    def _keep_possible(self, attributes: tuple[int, ...], grid: Grid) -> None:
        """Clear those nodes of a subset's grid that rule out every node above them in the whole lattice."""
        known: Grid = np.zeros_like(grid)
        sets = _KnownSets(len(self.lattice.base.weight))
        for node in _upwards(grid):
            if known[node] or not grid[node]:
                continue
            groups = self.lattice.at(attributes, node, sets.below(node))
            sets.keep(node, groups)
            self.n_checked_parts += 1
            if self._is_possible(groups):
                known[tuple(slice(level, None) for level in node)] = True
        grid &= known

    def _is_possible(self, groups: FrequencySet) -> bool:
        """A condition that a node satisfies if any node above it satisfies the requirements' consequences for it.

        Where all requirements are monotone and nothing may be suppressed: that every group satisfies them. Else: that
        no more rows are in groups that are too small for any requirement than may be suppressed.
        """
        if self.monotone:
            return bool(self.lattice.holding(groups).all())
        sizes = groups.sizes
        return int(sizes[sizes < self.lattice.checks.minimum_rows].sum()) <= self.limit

    def _minimal(self, candidates: Grid, report: Progress) -> dict[Node, tuple[float, int]]:
        """Minimal nodes with their loss and suppressed rows."""
        everything = range(len(self.lattice.names))
        passing: dict[Node, tuple[float, int]] = {}
        covered: Grid = np.zeros_like(candidates)
        sets = _KnownSets(len(self.lattice.base.weight))
        total, done = int(candidates.sum()), 0
        for node in _upwards(candidates):
            if not candidates[node]:
                continue
            done += 1
            if covered[node]:
                continue
            report(0.5 + 0.4 * done / total, f"{done:,} of {total:,} combinations of levels")
            groups = self.lattice.at(everything, node, sets.below(node))
            sets.keep(node, groups)
            self.n_checked += 1
            kept = self.kept(groups)
            sizes = groups.sizes
            suppressed = int(sizes[~kept].sum())
            if suppressed > self.limit:
                continue
            covered[tuple(slice(level, None) for level in node)] = True
            passing[node] = (self.loss(node, groups, kept), suppressed)
        return passing

    def kept(self, groups: FrequencySet) -> Grid:
        """Which groups are published as they are, bool (n_groups,); the others are suppressed and become one class.

        Where the suppressed groups do not satisfy the requirements together, the smallest others join them.
        """
        kept = self.lattice.holding(groups)
        sizes = groups.sizes
        if kept.all() or int(sizes[~kept].sum()) > self.limit:
            return kept
        for group in np.argsort(np.where(kept, sizes, np.iinfo(np.int64).max), kind="stable"):
            if self.lattice.holds_together(groups, ~kept) or int(sizes[~kept].sum()) > self.limit:
                break
            kept[group] = False
        return kept

    def loss(self, node: Node, groups: FrequencySet, kept: Grid) -> float:
        """Mean loss of a cell where the groups that are not kept are suppressed."""
        everything = range(len(self.lattice.names))
        sizes = groups.sizes
        losses = self.lattice.losses(everything, node, groups)
        top = sum(float(len(levels.domain) > 1) for levels in self.lattice.levels)
        total = float(sizes[kept] @ losses[kept]) + float(sizes[~kept].sum()) * top
        return total / (self.lattice.n_rows * len(self.lattice.names))


def _upwards(grid: Grid) -> Iterator[Node]:
    """All nodes of a grid, each after all nodes below it."""
    nodes = product(*(range(size) for size in grid.shape))
    return iter(sorted(nodes, key=sum))


class _KnownSets:
    """The frequency sets of nodes that were looked at, as long as a node directly above may be rolled up from them.

    Sets that are not much smaller than the table's own are not kept: rolling up the table's set costs about as much.
    """

    def __init__(self, n_entries: int) -> None:
        self.largest = n_entries // 4
        self.total = 0
        self.now: dict[Node, FrequencySet] = {}
        self.before: dict[Node, FrequencySet] = {}

    def keep(self, node: Node, groups: FrequencySet) -> None:
        """Remember a node's set; nodes come by ascending sum of their levels."""
        self._step_to(sum(node))
        if len(groups.weight) <= self.largest:
            self.now[node] = groups

    def below(self, node: Node) -> FrequencySet | None:
        """The smallest known set of a node directly below."""
        self._step_to(sum(node))
        axes = [axis for axis, level in enumerate(node) if level]
        known = [self.before.get((*node[:axis], node[axis] - 1, *node[axis + 1 :])) for axis in axes]
        return min(
            (groups for groups in known if groups is not None), key=lambda groups: len(groups.weight), default=None
        )

    def _step_to(self, total: int) -> None:
        if total > self.total:
            self.before = self.now if total == self.total + 1 else {}
            self.total, self.now = total, {}


def _groups_of_rows(
    data: Microdata, lattice: Lattice, node: Node, groups: FrequencySet, kept: Grid
) -> npt.NDArray[np.int32]:
    """Group of every row; the suppressed rows are the last group."""
    everything = range(len(lattice.names))
    codes = np.column_stack([data.codes[name] for name in lattice.names])
    index = np.searchsorted(
        lattice.keys(groups.group_codes, everything, node)[0], lattice.keys(codes, everything, node)[0]
    )
    number = np.where(kept, np.cumsum(kept) - 1, int(kept.sum())).astype(np.int32)
    return number[index]
