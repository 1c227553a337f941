"""Local recoding: every class at its own combination of hierarchy levels."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from math import prod
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from anoncore.algorithms.base import ByRequirements, generalized_release
from anoncore.algorithms.class_search import Refine, SearchSteps, improved
from anoncore.algorithms.closeness.stack_and_deal import dealt
from anoncore.algorithms.full_domain.best_first import level_tables
from anoncore.algorithms.full_domain.lattice import nodes_by_loss
from anoncore.algorithms.full_domain.refused_levels import refused_groups
from anoncore.algorithms.mondrian import Mondrian
from anoncore.base.errors import DataError, InfeasibleError, ReleaseError
from anoncore.base.progress import Progress, part_of, silent
from anoncore.kernels.arrays import Codes, Floats, Int64
from anoncore.kernels.grouping import dense_key
from anoncore.kernels.local_recoding import LatticeRows, count_placed, place_rows
from anoncore.privacy.cell_knowledge import CellKnowledge
from anoncore.privacy.refusals import Refusals
from anoncore.release.openness import Minimality, Openness
from anoncore.release.partition import Partition
from anoncore.release.release import Release
from anoncore.requirements import CheckSet
from anoncore.requirements.requirement import hold_together
from anoncore.table.hierarchy_levels import Levels
from anoncore.table.microdata import Microdata
from anoncore.utility.loss import information_loss

NODES_AT_ONCE = 64
"""Nodes of the lattice that the kernel tries before progress is told."""


class LocalRecoding(ByRequirements):
    """Publishes each class at its own levels of the hierarchies, as low as the requirements allow.

    The combinations of levels (nodes of the lattice) are tried by ascending information loss of a cell, averaged over
    the table. At each node the rows that have no class yet are grouped by their generalized quasi-identifiers, and
    every group that satisfies all requirements becomes a class. Rows that are left after the last node join the class
    that becomes coarser least, and further classes until the requirements hold. What is published is the lowest node of
    the hierarchy that holds a class's values. A quasi-identifier without hierarchy is exact, or in a class with all
    values, of which the ones present are published.

    A lattice of more than `most_nodes` nodes is searched along one path from exact to coarsest. The attribute that goes
    up a level next is the one by which most rows get a class per added loss or, where no row gets one, the one that
    adds least loss.

    With `refine`, rows move between the finished classes while the information loss falls, as they do for `Mondrian`,
    and with `search_steps` a search for classes that lose still less follows, which is that of `Mondrian`.

    `start` says what classes are refined: those of the lowest levels (`levels`), those that the cuts of `Mondrian` with
    the lowest loss make (`cuts`), or the smallest ones that mirror the sensitive values of the table well enough, dealt
    as by `StackAndDeal` (`deal`). The first come nearest to the least loss where hierarchies are deep and nothing but k
    is asked for, the second where there are numbers without hierarchies, the third where classes have to be close to
    the table. `best` publishes whichever of them loses least. All but `levels` are always refined.

    Notes
    -----
    Assumes: hierarchies that say how values are coarsened; a value may be published in different detail in different
      classes.
    Cost: O(d n) per node of the lattice, over the rows that are left; at most `most_nodes` nodes, or one path from
      exact to coarsest. Refining takes longer than that, and `best` refines up to three times.
    Use: hierarchies carry the meaning of the values, and rare ones shall not cost the common ones their detail.
    Avoid: readers need one level of detail for all rows (Incognito), or the quasi-identifiers have no hierarchies
      (Mondrian).

    References
    ----------
    Prasser, Eicher, Spengler, Bild and Kuhn, Flexible data anonymization using ARX, Software: Practice and Experience
    2020 (local recoding: generalize, keep the classes that hold, repeat with the rest); lattice and levels: LeFevre et
    al., Incognito, SIGMOD 2005.

    Examples
    --------
    The younger four keep intervals of ten years, though 44 and 58 need one of twenty:

    >>> import pandas as pd
    >>> from anoncore import Hierarchy, Microdata
    >>> from anoncore.algorithms import LocalRecoding
    >>> from anoncore.requirements import KAnonymity
    >>> people = pd.DataFrame({"age": [21, 22, 33, 34, 44, 58]})
    >>> ages = Hierarchy.by_width(people["age"], width=10)
    >>> data = Microdata(people, roles={"age": "quasi-identifier"}, hierarchies={"age": ages})
    >>> release = LocalRecoding(requirements=[KAnonymity(k=2)]).anonymize(data)
    >>> release.recoding("age").texts().tolist()
    ['20-29', '20-29', '30-39', '30-39', '40-59', '40-59']
    """

    name = "local-recoding"
    title = "Local recoding"
    source = "Prasser et al., Software: Practice and Experience 2020"
    family = "generalization"
    summary = (
        "Publishes every group at its own levels of the hierarchies, so that rare values cost the common ones nothing."
    )
    minimality = Minimality(
        Openness.DEPENDS,
        "Local recoding makes a group at the first combination of levels where it satisfies the requirements, so "
        "readers know of every finer group of its people that it broke one. With l-diversity, t-closeness or "
        "variance diversity that tells about the sensitive values; with k-anonymity alone it is a matter of "
        "sizes, which tells readers who know everybody's values nothing, and others in which group a person is, as "
        "refinement measures. With `refine`, and with another start than levels, no finer group is known "
        "to have been refused, but readers know that no row could move to another group with less loss.",
    )

    most_nodes: Annotated[
        int,
        Field(
            ge=0,
            le=100_000,
            title="Most combinations",
            description="Try all combinations of levels up to this many; beyond, follow one path through them.",
        ),
    ] = 20_000
    refine: Refine = False
    start: Annotated[
        Literal["levels", "cuts", "deal", "best"],
        Field(
            title="Start",
            description="Begin with the lowest levels, with cuts that save most, or with dealing by sensitive value, "
            "and refine that; or take the best of the three.",
        ),
    ] = "levels"
    search_steps: SearchSteps = 0

    def validate_data(self, data: Microdata) -> None:
        """Raise DataError where rows are to be dealt and nothing is asked of a sensitive attribute."""
        super().validate_data(data)
        if self.start == "deal" and not CheckSet(self.requirements, data).views:
            raise DataError(
                "Dealing serves requirements of a sensitive attribute, and none is given; add one such as "
                "t-closeness, or choose another start."
            )

    def refusals(self, release: Release) -> Refusals | None:
        """The groups that did not become classes; None of refined classes, to which that no longer applies.

        Raises ReleaseError where the lattice was not tried as a whole.
        """
        if self._refines:
            return None
        search = _Search.of(self, release.data)
        if search.n_nodes > self.most_nodes:
            raise ReleaseError(
                "The combinations of levels were tried along one path, which itself depends on the sensitive values, "
                "so what readers learn from refused groups is not measured; allow more combinations."
            )
        search.try_all(silent)
        return refused_groups(release, self.requirements, len(search.left))

    def cell_knowledge(self, release: Release) -> CellKnowledge:
        """That no child of a cell could be a class, and that finer classes took all rows that fit them.

        The class of the rows that were left over tells none of it, and of refined classes only the first is known for
        the node that is published.
        """
        if self._refines:
            return CellKnowledge(np.ones(release.partition.n_groups, np.bool_), is_lowest=True)
        search = _Search.of(self, release.data)
        is_whole = search.n_nodes <= self.most_nodes
        if is_whole:
            search.try_all(silent)
        else:
            search.walk(silent)
        applies = np.ones(release.partition.n_groups, np.bool_)
        applies[release.partition.group[search.left]] = False
        only_sizes = is_whole and not search.checks.views
        return CellKnowledge(
            applies,
            is_lowest=True,
            all_below=search.checks.kernel.minimum_rows if only_sizes else 0,
            takes_all=True,
            by_loss=is_whole,
        )

    @property
    def takes_long(self) -> bool:
        """Where it searches on after refining."""
        return self._refines and self.search_steps > 0

    @property
    def _refines(self) -> bool:
        """Whether rows move between the classes."""
        return self.refine or self.start != "levels"

    def _release(self, data: Microdata, progress: Progress) -> Release:
        if self.start != "best":
            return self._begun_with(self.start, data, progress)
        others = ("cuts", "deal") if CheckSet(self.requirements, data).views else ("cuts",)
        releases = [self._begun_with("levels", data, part_of(progress, 0.0, 0.3))]
        for number, start in enumerate(others):
            share = 0.3 + 0.65 * number / len(others)
            # Of requirements that a union may break, one start may be able to keep what another cannot.
            with suppress(InfeasibleError):
                releases.append(self._begun_with(start, data, part_of(progress, share, share + 0.65 / len(others))))
        # Of equal losses the first, so that rounding in another unit of the numbers chooses no other.
        return min(releases, key=lambda release: round(float(information_loss(release)), 9))

    def _begun_with(self, start: str, data: Microdata, whole_progress: Progress) -> Release:
        """The release whose classes begin as `start` says."""
        progress = part_of(whole_progress, 0.0, 0.5) if self._refines else whole_progress
        notes: tuple[str, ...] = ()
        if start == "cuts":
            partition = Mondrian(requirements=self.requirements, split="loss").anonymize(data, progress).partition
        elif start == "deal":
            partition = dealt(data, self.requirements, progress)
        else:
            partition, notes = self._of_levels(data, progress)
        if self._refines:
            partition = improved(
                data, partition, self.requirements, self.search_steps, part_of(whole_progress, 0.5, 0.95)
            )
        return generalized_release(self, data, partition, notes)

    def _of_levels(self, data: Microdata, progress: Progress) -> tuple[Partition, tuple[str, ...]]:
        """The classes at the lowest levels that hold, and how they were searched."""
        search = _Search.of(self, data)
        if search.n_nodes <= self.most_nodes:
            search.try_all(progress)
            how = f"All {search.n_nodes:,} combinations of levels were tried."
        else:
            search.walk(progress)
            how = f"Of {search.n_nodes:,} combinations of levels, one path was tried."
        left = len(search.left)
        search.join_rest()
        partition = Partition.alike([search.group])
        joined = f"{left:,} rows that were left over became one group, with others where the requirements ask for it."
        return partition, (how, joined) if left else (how,)


@dataclass(eq=False)
class _Search:
    """The rows that have no class yet (`left`), and the class of every other row (`group`)."""

    data: Microdata
    levels: tuple[Levels, ...]
    rows: LatticeRows
    checks: CheckSet
    group: Codes
    left: Int64
    n_groups: int = 0
    heights: Int64 = field(init=False)

    def __post_init__(self) -> None:
        self.heights = np.array([levels.height for levels in self.levels], np.int64)

    @classmethod
    def of(cls, model: LocalRecoding, data: Microdata) -> _Search:
        names = data.quasi_identifiers
        checks = CheckSet(model.requirements, data)
        levels = tuple(Levels.of(data.domain[name]) for name in names)
        tables = level_tables([one.first for one in levels], [one.loss for one in levels])
        rows = LatticeRows(
            codes=np.ascontiguousarray(np.column_stack([data.codes[name] for name in names])),
            cells=checks.cells,
            salt=tables.salt,
            begin=tables.begin,
            size=tables.size,
            people=checks.people,
        )
        return cls(data, levels, rows, checks, np.full(data.n_rows, -1, np.int32), np.arange(data.n_rows))

    @property
    def n_nodes(self) -> int:
        """Combinations of levels."""
        return prod(int(height) + 1 for height in self.heights)

    def mean_losses(self) -> list[Floats]:
        """The mean loss at each level of a cell of the rows that are left, per attribute."""
        left = self.rows.codes[self.left]
        return [
            levels.loss @ (np.bincount(left[:, a], minlength=len(levels.domain)) / len(left))
            for a, levels in enumerate(self.levels)
        ]

    def place(self, nodes: Int64) -> None:
        """Give a class to every row that gets one at these nodes, which are tried in turn."""
        n_left, self.n_groups = place_rows(
            self.rows, nodes, self.left, len(self.left), self.group, self.n_groups, self.checks.kernel
        )
        self.left = self.left[:n_left]

    def try_all(self, progress: Progress) -> None:
        """Try every node by ascending mean loss; of equal ones, the lower level of the first attribute comes first."""
        nodes = nodes_by_loss(self.levels, list(self.rows.codes.T))
        n, begin = len(self.group), 0
        while begin < len(nodes) and len(self.left):
            self.place(nodes[begin : begin + NODES_AT_ONCE])
            begin += NODES_AT_ONCE
            progress(0.05 + 0.85 * min(begin / len(nodes), 1), f"{n - len(self.left):,} of {n:,} rows in their groups")

    def walk(self, progress: Progress) -> None:
        """Follow one path through the lattice, on which one attribute goes up a level at each step."""
        node, n = np.zeros(len(self.levels), np.int64), len(self.group)
        self.place(node[None])
        while len(self.left) and (node < self.heights).any():
            node[self._next_attribute(node)] += 1
            self.place(node[None])
            share = float(node.sum() / self.heights.sum())
            progress(0.05 + 0.85 * share, f"{n - len(self.left):,} of {n:,} rows in their groups")

    def _next_attribute(self, node: Int64) -> int:
        """The attribute whose next level places most rows per added loss or, where no row is placed, adds the least
        loss.
        """
        means = self.mean_losses()
        best, chosen = (-1.0, -np.inf), -1
        for a in np.flatnonzero(node < self.heights):
            above = node.copy()
            above[a] += 1
            added = round(float(means[a][above[a]] - means[a][node[a]]), 12)
            if added <= 0:
                return int(a)
            worth = (round(count_placed(self.rows, above, self.left, self.checks.kernel) / added, 9), -added)
            if worth > best:
                best, chosen = worth, int(a)
        return chosen

    def join_rest(self) -> None:
        """Make one class of the rows that are left and of those classes that this coarsens least, until the checks
        hold.
        """
        rest = self.left
        if len(rest):
            self._number_by_content()
        while 0 < len(rest) < len(self.group) and not hold_together(self.checks.checks, rest):
            joining = np.flatnonzero(self.group == self._cheapest(rest))
            self.group[joining] = -1
            rest = np.concatenate((rest, joining))
        self.group[rest] = self.n_groups

    def _number_by_content(self) -> None:
        """Number the classes by their first row in order of content, so that the order of the input decides nothing."""
        placed = self.data.canonical_order[self.group[self.data.canonical_order] >= 0]
        self.group[placed] = dense_key((self.group[placed],), len(placed))

    def _cheapest(self, rest: Int64) -> int:
        """The class that can join `rest` at the least loss added to the cells of both; of equal ones the first."""
        placed = np.flatnonzero(self.group >= 0)
        ids, number = np.unique(self.group[placed], return_inverse=True)
        classes = Partition(number.astype(np.int32))
        added = np.zeros(len(ids))
        for a, levels in enumerate(self.levels):
            low, high = classes.extent(np.ascontiguousarray(self.rows.codes[placed, a]))
            own = self.rows.codes[rest, a]
            before = self._loss(levels, low, high) * classes.sizes
            joint = self._loss(levels, np.minimum(low, own.min()), np.maximum(high, own.max()))
            added += joint * (classes.sizes + len(rest)) - before
        return int(ids[np.argmin(np.round(added, 9))])

    @staticmethod
    def _loss(levels: Levels, low: Codes, high: Codes) -> Floats:
        tree = levels.tree
        node = tree.common_ancestor(low, high)
        return (tree.last[node] - tree.first[node]) / max(len(levels.domain) - 1, 1)
