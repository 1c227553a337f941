"""Fragmenting the space of sensitive values: a closeness of its own for every sensitive attribute."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from anoncore.algorithms.base import Algorithm, ClassSize, Seed, generalized_release
from anoncore.algorithms.closeness.locality import Multiplicity, Places, QuasiSpace
from anoncore.base.errors import DataError, ReleaseError
from anoncore.base.progress import Progress
from anoncore.base.shared_work import digest, shared
from anoncore.base.texts import listing
from anoncore.kernels.arrays import Codes, Floats, Int64, Rows, record
from anoncore.kernels.sensitive_space import EQUAL, ORDERED, Cells, farthest, find_fragmentation, first_close_deal
from anoncore.release.openness import Minimality, Openness
from anoncore.release.partition import Partition
from anoncore.release.release import Release
from anoncore.requirements import CheckSet, KAnonymity, Requirement, TCloseness
from anoncore.table.microdata import Microdata

LOWER, UPPER = 4, 5
"""Columns of the tree that hold a node's children."""
EVERY_NUMBER = 4_000
"""Up to this number of classes every number is tried; above it a quarter as many, spread evenly in proportion."""


@record
class SensitiveFragmentation:
    """Boxes that tile the array of `multiplicity`, made from a single box by cuts through a whole box each.

    `order` lists the cells so that every box is a run of them. `tree` is as
    `kernels.sensitive_space.find_fragmentation` gives it. `bounds`, float (d,), is the aggregate bound per attribute: a
    class with its exact share of every fragment is at most that far from the table. Source: t-closeness dissertation,
    sections 4.3 to 4.5.
    """

    multiplicity: Multiplicity
    cells: Cells
    order: Rows
    tree: Int64
    bounds: Floats

    @classmethod
    def search(
        cls, multiplicity: Multiplicity, t: Mapping[str, float], grounds: Mapping[str, str]
    ) -> SensitiveFragmentation:
        """Cut greedily until every aggregate bound is within its attribute's t.

        Each step takes the cut after which the bounds exceed their t least in total. A fragment adds to the bound of an
        attribute the largest distance from its sums per slice to any other distribution of the same mass over the
        slices that are occupied, measured in the whole attribute (`ordered` or `equal` ground distance).
        """
        kinds = [
            EQUAL if grounds[view.attribute] == "equal" or view.unique >= 0 else ORDERED for view in multiplicity.views
        ]
        cells = Cells(
            multiplicity.cells,
            multiplicity.counts / multiplicity.n_rows,
            multiplicity.sizes,
            np.array(kinds, np.int64),
        )
        limits = np.array([t[name] for name in multiplicity.attributes], np.float64)
        return cls(multiplicity, cells, *find_fragmentation(cells, limits))

    @cached_property
    def leaves(self) -> Rows:
        """Nodes of the tree that are fragments, int64 (n_fragments,)."""
        return np.flatnonzero(self.tree[:, 2] < 0)

    @property
    def n_fragments(self) -> int:
        """Number of fragments."""
        return len(self.leaves)

    @cached_property
    def of_row(self) -> Codes:
        """Fragment of every row, int32 (n_rows,)."""
        of_cell = np.empty(len(self.order), np.int32)
        for fragment, leaf in enumerate(self.leaves):
            of_cell[self.order[self.tree[leaf, 0] : self.tree[leaf, 1]]] = fragment
        return of_cell[self.multiplicity.of_row]

    @cached_property
    def counts(self) -> Rows:
        """Rows per fragment, int64 (n_fragments,)."""
        return np.bincount(self.of_row, minlength=self.n_fragments)

    @cached_property
    def boxes(self) -> Int64:
        """Lowest and highest code of each fragment per attribute, int64 (n_fragments, d, 2); they tile the space."""
        sizes = self.multiplicity.sizes
        region = np.zeros((len(self.tree), len(sizes), 2), np.int64)
        region[0, :, 1] = sizes - 1
        for node in np.flatnonzero(self.tree[:, 2] >= 0):
            lower, upper = self.tree[node, LOWER], self.tree[node, UPPER]
            axis, last = self.tree[node, 2], self.tree[node, 3]
            region[lower], region[upper] = region[node], region[node]
            region[lower, axis, 1], region[upper, axis, 0] = last, last + 1
        return region[self.leaves]

    @cached_property
    def box_bounds(self) -> Floats:
        """What each fragment adds to the aggregate bound of each attribute, float (n_fragments, d)."""
        room = np.zeros(int(self.multiplicity.sizes.max()))
        ends, d = self.tree[self.leaves, :2], len(self.multiplicity.views)
        return np.array(
            [[farthest(self.cells, self.order[first:end], axis, room) for axis in range(d)] for first, end in ends]
        )

    def path(self, axis: int) -> Rows:
        """The cells along a path through all fragments that enters each one near where it left the last, int64
        (n_cells,).

        Inside a fragment the cells run along `axis`, upwards or downwards depending on where the path arrives.
        """
        cells = self.multiplicity.cells
        d = cells.shape[1]
        upwards = np.ones(d, bool)
        axes = [*(other for other in range(d) if other != axis), axis]
        parts: list[Rows] = []
        waiting: list[tuple[str, int, int]] = [("visit", 0, 0)]
        while waiting:
            task, node, direction = waiting.pop()
            if task == "set":
                upwards[node] = bool(direction)
            elif self.tree[node, 2] < 0:
                inside = self.order[self.tree[node, 0] : self.tree[node, 1]]
                signs = np.where(upwards, 1, -1)
                parts.append(inside[np.lexsort([cells[inside, other] * signs[other] for other in axes])])
            else:
                cut = int(self.tree[node, 2])
                up = bool(upwards[cut])
                near, far = (LOWER, UPPER) if up else (UPPER, LOWER)
                waiting += [
                    ("set", cut, int(not up)),
                    ("visit", int(self.tree[node, far]), 0),
                    ("set", cut, int(up)),
                    ("visit", int(self.tree[node, near]), 0),
                ]
        return np.concatenate(parts)


@record
class CloseDeal:
    """A number of classes to which dealing `stack` (row numbers, int64 (n_rows,)) round-robin is close enough."""

    fragmentation: SensitiveFragmentation
    stack: Rows
    n_classes: int


def largest_close_deal(
    fragmentation: SensitiveFragmentation,
    data: Microdata,
    requirements: tuple[TCloseness, ...],
    most: int,
    rows: Rows,
) -> CloseDeal:
    """The deal with the most classes, at most `most`, all of which meet the requirements; one class always does.

    Rows are stacked fragment by fragment, so that a round-robin deal spreads every fragment evenly. On small tables
    every number of classes from `most` down is verified. On large ones it is numbers within 1% of each other, and then
    those between the last that failed and the first that passed. `rows` gives the order of rows with equal values.
    """
    checks = CheckSet(requirements, data)
    best = CloseDeal(fragmentation, rows, 1)
    for axis in range(len(fragmentation.multiplicity.views)):
        position = np.argsort(fragmentation.path(axis))
        stack = rows[np.argsort(position[fragmentation.multiplicity.of_row[rows]], kind="stable")]
        numbers = _numbers(most, best.n_classes)
        first_passing = first_close_deal(stack, checks.cells, checks.kernel, numbers)
        if first_passing < 0:
            continue
        n_classes = int(numbers[first_passing])
        # Between the last number that failed and the first that passed there may be larger ones that pass.
        if first_passing > 0:
            between = np.unique(
                np.linspace(n_classes, numbers[first_passing - 1] - 1, EVERY_NUMBER // 10).astype(np.int64)
            )
            falling = between[::-1].copy()
            n_classes = int(falling[first_close_deal(stack, checks.cells, checks.kernel, falling)])
        best = CloseDeal(fragmentation, stack, n_classes)
    return best


def _numbers(most: int, above: int) -> Rows:
    """Numbers of classes to try, descending from `most` to `above` + 1."""
    if most <= EVERY_NUMBER:
        return np.arange(most, above, -1, dtype=np.int64)
    spread = np.unique(np.geomspace(above, most, EVERY_NUMBER // 4).astype(np.int64))
    return spread[spread > above][::-1].copy()


Distance = Annotated[float, Field(ge=0, le=1)]

FINENESS = (1.0, 0.5, 0.25)
"""Shares of t down to which the space is fragmented for verified sizing: a finer fragmentation may spread better."""
WORTH = 0.98
"""Share of the most classes with which the coarser fragmentation is kept: it leaves more choice among neighbours."""
FINENESS_USED = "fineness"
"""What a release calls the fineness of the fragments from which its classes were dealt."""


class SensitiveSpaceFragmentation(Algorithm):
    """Cuts the space of all sensitive attributes into boxes and gives every class its share of each box.

    A box bounds how far apart its rows can lie. The sum of these bounds over the boxes, the aggregate bound, is the
    most that a class can be away from the table if it takes its exact share from each box. The space is cut greedily,
    always where the bounds then exceed their t least, until the bound of each attribute is within its t.

    `sizing` says how many classes are made. `exact` makes as many equal classes as the greatest common divisor of the
    counts of the boxes. The bound is then the guarantee, but on real tables the divisor is nearly always 1, which means
    one class. `verified` deals every box evenly over as many classes as pass, so that counts differ by at most one, and
    measures the true distances of every class; these are the guarantee. Both fill classes with neighbours in the space
    of the quasi-identifiers, and rows of one box change places as long as closeness holds.

    Notes
    -----
    Assumes: the values of a sensitive attribute have an order or are all equally far apart; the adversary knows the
      table's distribution.
    Cost: about O(f n d) for f boxes and O(n log n) for the classes.
    Use: several sensitive attributes need a closeness of their own each.
    Avoid: t is very small and the sizing `exact`: one class is what then often remains.

    References
    ----------
    Bagai, Weber and Thammanna Gowda; t-closeness dissertation, chapter 4.

    Examples
    --------
    >>> import pandas as pd
    >>> from anoncore import Microdata, privacy
    >>> from anoncore.algorithms import SensitiveSpaceFragmentation
    >>> people = pd.DataFrame({"age": [21, 22, 23, 44, 45, 46], "salary": [10, 20, 30, 40, 50, 60]})
    >>> data = Microdata(people, roles={"age": "quasi-identifier", "salary": "sensitive"})
    >>> release = SensitiveSpaceFragmentation(t={"salary": 0.2}, k=2, seed=0).anonymize(data)
    >>> release.partition.sizes.tolist()
    [2, 2, 2]
    >>> privacy.emd(release, "salary").round(3).tolist()
    [0.2, 0.2, 0.133]
    """

    name = "sensitive-space-fragmentation"
    title = "Sensitive-space fragmentation"
    source = "Thammanna Gowda 2023, t-closeness dissertation, chapter 4"
    family = "generalization"
    summary = (
        "Keeps every group close to the table in several sensitive attributes at once, each by a distance of its own."
    )
    minimality = Minimality(
        Openness.OPEN,
        "Groups take rows of each fragment of the sensitive values that are neighbours in the quasi-identifiers, "
        "so the groups depend on who has which sensitive value.",
    )

    t: Annotated[
        dict[str, Distance],
        Field(
            title="t per attribute",
            description="Largest EMD from the table, by sensitive attribute.",
        ),
    ] = Field(default_factory=dict)
    other_t: Annotated[
        Distance,
        Field(title="t of the others", description="Largest EMD of sensitive attributes that t does not name."),
    ] = 0.2
    sizing: Annotated[
        Literal["verified", "exact"],
        Field(title="Sizing", description="As many groups as pass, verified; or equal shares by the paper's divisor."),
    ] = "verified"
    k: ClassSize = 1
    grounds: Annotated[
        dict[str, Literal["ordered", "equal"]],
        Field(
            title="Ground distance",
            description="Per sensitive attribute; those not named: ordered if numeric or ordinal, equal if nominal.",
        ),
    ] = Field(default_factory=dict)
    seed: Seed = None

    def promises(self, data: Microdata) -> tuple[Requirement, ...]:
        """t-closeness of every sensitive attribute, and k-anonymity."""
        return (*self.closeness(data), KAnonymity(k=self.k))

    def closeness(self, data: Microdata) -> tuple[TCloseness, ...]:
        """The closeness that is asked of every sensitive attribute.

        Parameters
        ----------
        data : Microdata
            The table.

        Returns
        -------
        tuple of TCloseness
            One requirement per sensitive attribute.

        Raises
        ------
        DataError
            Where `t` or `grounds` name an attribute that is not sensitive.
        """
        names = data.require_sensitive()
        for name in (*self.t, *self.grounds):
            if name not in names:
                raise DataError(f"'{name}' is not tagged as sensitive; there is {listing(names)}.")
        return tuple(
            TCloseness(t=self.t.get(name, self.other_t), ground=self._ground(data, name), attribute=name)
            for name in names
        )

    def _ground(self, data: Microdata, name: str) -> Literal["ordered", "equal"]:
        return self.grounds.get(name, data.domain[name].ground)

    def fragmentation(self, data: Microdata, fineness: float = 1.0) -> SensitiveFragmentation:
        """The boxes into which the sensitive space of a table is cut.

        Parameters
        ----------
        data : Microdata
            The table.
        fineness : float
            The part of each t that the aggregate bounds may take, above 0 and at most 1.

        Returns
        -------
        SensitiveFragmentation
            The boxes and their bounds.
        """
        wanted = self.closeness(data)
        return SensitiveFragmentation.search(
            Multiplicity.of(data),
            {str(requirement.attribute): requirement.t * fineness for requirement in wanted},
            {str(requirement.attribute): requirement.ground for requirement in wanted},
        )

    def fragmentation_of(self, release: Release) -> SensitiveFragmentation:
        """The boxes from which the classes of a release of this method were dealt.

        Parameters
        ----------
        release : Release
            A release that this method made.

        Returns
        -------
        SensitiveFragmentation
            The boxes and their bounds.

        Raises
        ------
        ReleaseError
            Where the release does not say it, as one of another method, or one that an earlier version kept.
        """
        fineness = release.made_with.get(FINENESS_USED)
        if fineness is None:
            raise ReleaseError(
                "This release does not say from which fragments its groups were dealt; make it again by this method."
            )
        return self.fragmentation(release.data, fineness)

    def _release(self, data: Microdata, progress: Progress) -> Release:
        space = QuasiSpace.of(data, self.seed)
        if self.sizing == "exact":
            fineness, group, note = self._exact(data, space, progress)
        else:
            fineness, group, note = self._verified(data, space, progress)
        release = generalized_release(self, data, Partition(group), (note,))
        return replace(release, made_with={FINENESS_USED: fineness})

    def _exact(self, data: Microdata, space: QuasiSpace, progress: Progress) -> tuple[float, Codes, str]:
        progress(0.05, "Fragmenting the sensitive space")
        parts = self.fragmentation(data)
        n_classes = int(np.gcd.reduce(parts.counts))
        while data.n_rows // n_classes < self.k:
            n_classes = next(e for e in range(n_classes - 1, 0, -1) if n_classes % e == 0)
        group = self._filled(CloseDeal(parts, space.by_bucket(parts.of_row), n_classes), space, (), progress)
        note = f"{parts.n_fragments:,} fragments; {n_classes:,} groups with the exact share of each."
        return FINENESS[0], group, note

    def _verified(self, data: Microdata, space: QuasiSpace, progress: Progress) -> tuple[float, Codes, str]:
        wanted = self.closeness(data)
        deals: list[CloseDeal] = []
        for turn, fineness in enumerate(FINENESS):
            progress(0.05 + 0.1 * turn, "Fragmenting the sensitive space and looking for the most groups")
            parts = self.fragmentation(data, fineness)
            deals.append(largest_close_deal(parts, data, wanted, data.n_rows // self.k, space.order))
        most = max(deal.n_classes for deal in deals)
        fineness, best = next(pair for pair in zip(FINENESS, deals, strict=True) if pair[1].n_classes >= WORTH * most)
        group = self._filled(best, space, wanted, progress)
        note = f"{best.fragmentation.n_fragments:,} fragments; {best.n_classes:,} groups, each verified."
        return fineness, group, note

    def _filled(self, deal: CloseDeal, space: QuasiSpace, wanted: tuple[TCloseness, ...], progress: Progress) -> Codes:
        """Classes that take neighbours, for which it does not matter by which k their number was found."""
        if self.seed is None:
            return self._neighbours(deal, space, wanted, progress)
        key = (
            "sensitive space",
            self.seed,
            repr(wanted),
            deal.n_classes,
            digest(deal.fragmentation.of_row, deal.stack),
        )
        return shared(space.data, key, lambda: self._neighbours(deal, space, wanted, progress))

    def _neighbours(
        self, deal: CloseDeal, space: QuasiSpace, wanted: tuple[TCloseness, ...], progress: Progress
    ) -> Codes:
        """Classes that take neighbours; where some can't be made close so, those of the deal itself."""
        bucket = deal.fragmentation.of_row
        dealt = (np.arange(len(bucket)) % deal.n_classes).astype(np.int32)

        def report(done: float) -> None:
            progress(0.4 + 0.5 * done, "Exchanging rows")

        progress(0.35, "Handing out neighbours")
        group = space.hand_out(bucket, Places(bucket[deal.stack], dealt))
        group, excess = space.refine(group, bucket, wanted, rounds=2, report=report)
        if excess == 0:
            return group
        group[deal.stack] = dealt
        return space.refine(group, bucket, wanted, rounds=2, report=report)[0]
