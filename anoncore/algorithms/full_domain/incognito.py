"""Incognito: full-domain generalization, the same level of a hierarchy for all values of an attribute."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from math import floor
from typing import Annotated

import numpy as np
import numpy.typing as npt
from pydantic import Field

from anoncore.algorithms.base import Algorithm, Requirements
from anoncore.algorithms.full_domain.border import Border, lowest, upwards
from anoncore.algorithms.full_domain.lattice import FrequencySet, Lattice, Node, require_searchable
from anoncore.algorithms.full_domain.published_levels import release_at
from anoncore.algorithms.full_domain.refused_levels import TIE, refused_levels
from anoncore.base.errors import InfeasibleError, ReleaseError
from anoncore.base.progress import Progress, silent
from anoncore.base.shared_work import cached
from anoncore.kernels.arrays import Int32
from anoncore.kernels.rounding import ROUNDING
from anoncore.privacy.cell_knowledge import CellKnowledge
from anoncore.privacy.refusals import Refusals
from anoncore.release.openness import Minimality, Openness
from anoncore.release.partition import Partition
from anoncore.release.release import Release
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
        Number of nodes that were looked at in which every quasi-identifier tells something.
    n_checked_parts : int
        Number of nodes that were looked at in which some quasi-identifiers are `*`: those of fewer quasi-identifiers.
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

    All minimal nodes of the lattice of levels are found, and the one with the least information loss is published.
    Where the requirements are monotone under merging, a node that satisfies them tells that all nodes above it do, and
    a node that fails tells that all below it fail, also those in which further quasi-identifiers are published: the
    table is grouped only where neither is known yet. A quasi-identifier without hierarchy is published exactly or as
    `*`.

    `max_suppression` is the share of the rows that may be suppressed. Suppressed rows are one class in which every
    quasi-identifier is `*`. That class must satisfy the requirements like any other, and where it does not, further
    small classes join it.

    Notes
    -----
    Assumes: hierarchies that say how values are coarsened; the search skips nodes only for requirements that are
      monotone under merging.
    Cost: in the worst case a grouping of the table for every node of the lattice, of which there are as many as the
      product of the hierarchies' levels; nodes above one that holds and below one that fails are spared.
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

    name = "incognito"
    title = "Incognito"
    source = "LeFevre, DeWitt and Ramakrishnan, SIGMOD 2005, section 3"
    family = "full-domain generalization"
    summary = (
        "Publishes every value of an attribute at the same level of its hierarchy, as finely as the requirements allow."
    )
    minimality = Minimality(
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
        return tuple(self.requirements)

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
        groups = lattice.at(result.levels)
        kept = search.kept(groups)
        partition = Partition(_groups_of_rows(data, lattice, result.levels, groups, kept))
        cached(partition, "search", (), lambda: result)
        codes = groups.group_codes[kept]
        return release_at(self, data, lattice, result.levels, partition, codes, result.suppressed)


def search_behind(release: Release, progress: Progress = silent) -> LatticeSearch:
    """The search that found the levels of a release; it is kept with the partition, and made again for any other.

    Raises ReleaseError where the release was not made by Incognito.
    """
    search = partial(incognito_of(release).search, release.data, progress)
    return cached(release.fragments[0].partition, "search", (), search)


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
        """Find the minimal nodes and the best of them."""
        report = progress if progress is not None else silent
        minimal = self._lowest(report) if self.monotone else self._minimal(self._candidates(report), report)
        if not minimal:
            raise InfeasibleError(
                "No combination of levels satisfies the requirements, not even all quasi-identifiers as *; "
                "lower the requirements."
            )
        # Of combinations with the same loss the first is taken, whatever order of adding up its loss comes from.
        least = min(loss for loss, _ in minimal.values())
        best = min(node for node, (loss, _) in minimal.items() if loss <= least + TIE)
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

    def _lowest(self, report: Progress) -> dict[Node, tuple[float, int]]:
        """Minimal nodes with their loss, where every node above one that satisfies the requirements does so too."""
        border = Border([height + 1 for height in self.lattice.heights])

        def holds(node: Node) -> bool:
            report(0.1 + 0.8 * border.share_known, f"{border.n_tested:,} combinations of levels looked at")
            self._count(node)
            return self.lattice.every_group_holds(node)

        holding = border.find(holds)
        return {node: (self.lattice.loss_of_rows(node), 0) for node in lowest(holding)}

    def _candidates(self, report: Progress) -> Grid:
        """The nodes that may satisfy the requirements: no more rows than may be suppressed are in groups that are too
        small for any of them.
        """
        sizes = [height + 1 for height in self.lattice.heights]
        if self.lattice.checks.minimum_rows <= 1:
            return np.ones(sizes, dtype=np.bool_)
        border = Border(sizes)

        def possible(node: Node) -> bool:
            report(0.1 + 0.4 * border.share_known, f"{border.n_tested:,} combinations of levels looked at")
            self._count(node)
            return self.lattice.rows_in_small_groups(node) <= self.limit

        return border.find(possible)

    def _count(self, node: Node) -> None:
        """Count a node among those that were looked at."""
        tops = zip(node, self.lattice.heights, strict=True)
        if any(level == height > 0 for level, height in tops):
            self.n_checked_parts += 1
        else:
            self.n_checked += 1

    def _minimal(self, candidates: Grid, report: Progress) -> dict[Node, tuple[float, int]]:
        """Minimal nodes with their loss and suppressed rows."""
        passing: dict[Node, tuple[float, int]] = {}
        covered: Grid = np.zeros_like(candidates)
        total = int(candidates.sum())
        for done, node in enumerate(upwards(candidates)):
            if covered[node]:
                continue
            report(0.5 + 0.4 * done / total, f"{done:,} of {total:,} combinations of levels")
            self._count(node)
            outcome = self._outcome(node)
            if outcome is not None:
                covered[tuple(slice(level, None) for level in node)] = True
                passing[node] = outcome
        return passing

    def _outcome(self, node: Node) -> tuple[float, int] | None:
        """Loss and suppressed rows of a node; None where more rows would be suppressed than may be."""
        failing = self.lattice.failing_entries(node)
        suppressed = self.lattice.rows_of(failing)
        if suppressed > self.limit:
            return None
        if suppressed == 0 or self.lattice.hold_together(failing):
            return self.lattice.loss_where(node, failing), suppressed
        # The suppressed rows are no class that may be published, so further groups join them.
        groups = self.lattice.at(node)
        kept = self.kept(groups)
        suppressed = int(groups.sizes[~kept].sum())
        return (self.loss(node, groups, kept), suppressed) if suppressed <= self.limit else None

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
        sizes = groups.sizes
        losses = self.lattice.losses(node, groups)
        top = sum(float(len(levels.domain) > 1) for levels in self.lattice.levels)
        total = float(sizes[kept] @ losses[kept]) + float(sizes[~kept].sum()) * top
        return total / (self.lattice.n_rows * len(self.lattice.names))


def _groups_of_rows(data: Microdata, lattice: Lattice, node: Node, groups: FrequencySet, kept: Grid) -> Int32:
    """Group of every row; the suppressed rows are the last group."""
    codes = np.column_stack([data.codes[name] for name in lattice.names])
    index = np.searchsorted(lattice.keys(groups.group_codes, node)[0], lattice.keys(codes, node)[0])
    number = np.where(kept, np.cumsum(kept) - 1, int(kept.sum())).astype(np.int32)
    return number[index]
