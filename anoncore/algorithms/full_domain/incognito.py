"""Incognito: full-domain generalization, the same level of a hierarchy for all values of an attribute."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from anoncore.algorithms.base import ByRequirements, MostSuppressed
from anoncore.algorithms.full_domain.best_first import NO_LEVELS, Found, GroupedTable, Groups
from anoncore.algorithms.full_domain.border import Border, lowest, upwards
from anoncore.algorithms.full_domain.lattice import Lattice, Node, require_searchable
from anoncore.algorithms.full_domain.published_levels import release_at
from anoncore.algorithms.full_domain.refused_levels import TIE, refused_levels
from anoncore.base.errors import InfeasibleError, ReleaseError
from anoncore.base.progress import Progress, silent
from anoncore.base.shared_work import cached
from anoncore.kernels.arrays import Bools
from anoncore.privacy.cell_knowledge import CellKnowledge
from anoncore.privacy.refusals import Refusals
from anoncore.release.openness import Minimality, Openness
from anoncore.release.release import Release
from anoncore.requirements import CheckSet
from anoncore.table.microdata import Microdata


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


class Incognito(ByRequirements):
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
        "with less loss has a group that breaks a requirement. With l-diversity, t-closeness or variance "
        "diversity that tells about the sensitive values of the whole table together; with k-anonymity alone it "
        "is a matter of sizes, which everybody can count.",
    )

    max_suppression: MostSuppressed = 0.0

    def validate_data(self, data: Microdata) -> None:
        """Raise DataError for a lattice that is too large, InfeasibleError for a requirement that the table fails."""
        super().validate_data(data)
        require_searchable(data)

    def cell_knowledge(self, release: Release) -> CellKnowledge:
        """Nothing of a cell: that a lower level failed tells that some class of the whole table is too small."""
        return CellKnowledge(np.ones(release.partition.n_groups, np.bool_))

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
        return release_at(self, search, search.run(progress))


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


class Search(GroupedTable):
    """One search of one table; `n_tested` and `n_tested_parts` count the nodes that were looked at."""

    def __init__(self, model: Incognito, data: Microdata) -> None:
        lattice = Lattice(data, CheckSet(model.requirements, data))
        super().__init__(data, model.requirements, model.max_suppression, 0, lattice)
        self.n_tested, self.n_tested_parts = 0, 0

    def run(self, progress: Progress | None) -> LatticeSearch:
        """Find the minimal nodes and the best of them."""
        report = progress if progress is not None else silent
        candidates = self._candidates(report)
        if self.monotone:
            minimal = {node: Found(node, float(self.lattice.lost[node]), 0) for node in lowest(candidates)}
        else:
            minimal = self._minimal(candidates, report)
        if not minimal:
            raise InfeasibleError(NO_LEVELS)
        # Of combinations with the same loss the first is taken, whatever order of adding up its loss comes from.
        least = min(found.loss for found in minimal.values())
        best = minimal[min(node for node, found in minimal.items() if found.loss <= least + TIE)]
        return LatticeSearch(
            attributes=self.lattice.names,
            heights=self.lattice.heights,
            minimal=tuple(sorted(minimal)),
            levels=best.node,
            loss=best.loss,
            suppressed=best.suppressed,
            n_nodes=self.lattice.n_nodes,
            n_checked=self.n_tested,
            n_checked_parts=self.n_tested_parts,
            monotone=self.monotone,
        )

    def _candidates(self, report: Progress) -> Bools:
        """The nodes that satisfy the requirements, where every node above one that does so too; otherwise those that
        may: no more rows than may be suppressed are in groups that are too small for any requirement.
        """
        border = Border([height + 1 for height in self.lattice.heights])

        def is_possible(node: Node) -> bool:
            share = (0.8 if self.monotone else 0.4) * border.share_known
            report(0.1 + share, f"{border.n_tested:,} combinations of levels looked at")
            self._count(node)
            if self.monotone:
                return self.lattice.every_group_holds(node)
            return self.lattice.rows_in_small_groups(node) <= self.limit

        if self.monotone or self.lattice.checks.minimum_rows > 1:
            return border.find(is_possible)
        return ~border.holding

    def _count(self, node: Node) -> None:
        """Count a node among those that were looked at."""
        tops = zip(node, self.lattice.heights, strict=True)
        if any(level == height > 0 for level, height in tops):
            self.n_tested_parts += 1
        else:
            self.n_tested += 1

    def _minimal(self, candidates: Bools, report: Progress) -> dict[Node, Found]:
        """Minimal nodes with what is published at them."""
        passing: dict[Node, Found] = {}
        covered: Bools = np.zeros_like(candidates)
        total = int(candidates.sum())
        for done, node in enumerate(upwards(candidates)):
            if covered[node]:
                continue
            report(0.5 + 0.4 * done / total, f"{done:,} of {total:,} combinations of levels")
            self._count(node)
            found = self._outcome(node)
            if found is not None:
                covered[tuple(slice(level, None) for level in node)] = True
                passing[node] = found
        return passing

    def _outcome(self, node: Node) -> Found | None:
        """What is published at a node; None where more rows would be suppressed than may be."""
        failing = self.lattice.failing_entries(node)
        suppressed = self.lattice.rows_of(failing)
        if suppressed > self.limit:
            return None
        if suppressed == 0 or self.lattice.hold_together(failing):
            return Found(node, self.lattice.loss_where(node, failing), suppressed)
        # The suppressed rows are no class that may be published, so further groups join them.
        return self.found(self.groups(np.array(node)))

    def _cheapest(self, groups: Groups, kept: Bools, most: float) -> tuple[Bools | None, float]:
        """None: of all choices of further groups to suppress, Incognito takes the smallest groups."""
        return None, np.inf
