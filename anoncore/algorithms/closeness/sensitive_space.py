"""Fragmenting the space of sensitive values: a closeness of its own for every sensitive attribute."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, ClassVar, Literal

import numpy as np
from pydantic import Field

from anoncore.algorithms.base import Algorithm, Seed, generalized_release
from anoncore.algorithms.closeness.locality import Places, QuasiSpace
from anoncore.algorithms.closeness.multiplicity import Multiplicity
from anoncore.algorithms.closeness.sensitive_fragmentation import CloseDeal, SensitiveFragmentation, largest_close_deal
from anoncore.base.errors import DataError, ReleaseError
from anoncore.base.progress import Progress
from anoncore.base.shared_work import digest, shared
from anoncore.base.texts import listing
from anoncore.kernels.arrays import Codes
from anoncore.release.openness import Minimality, Openness
from anoncore.release.partition import Partition
from anoncore.release.release import Release
from anoncore.requirements import KAnonymity, Requirement, TCloseness
from anoncore.table.domain import Kind
from anoncore.table.microdata import Microdata

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

    name: ClassVar[str] = "sensitive-space-fragmentation"
    title: ClassVar[str] = "Sensitive-space fragmentation"
    source: ClassVar[str] = "Thammanna Gowda 2023, t-closeness dissertation, chapter 4"
    family: ClassVar[str] = "generalization"
    summary: ClassVar[str] = (
        "Keeps every class close to the table in several sensitive attributes at once, each by a distance of its own."
    )
    minimality: ClassVar[Minimality] = Minimality(
        Openness.OPEN,
        "Classes take rows of each fragment of the sensitive values that are neighbours in the quasi-identifiers, "
        "so the classes depend on who has which sensitive value.",
    )

    t: Annotated[
        dict[str, Distance],
        Field(
            default_factory=dict,
            title="t per attribute",
            description="Largest EMD from the table, by sensitive attribute.",
        ),
    ]
    other_t: Annotated[
        Distance,
        Field(title="t of the others", description="Largest EMD of sensitive attributes that t does not name."),
    ] = 0.2
    sizing: Annotated[
        Literal["verified", "exact"],
        Field(title="Sizing", description="As many classes as pass, verified; or equal shares by the paper's divisor."),
    ] = "verified"
    k: Annotated[int, Field(ge=1, title="k", description="Fewest rows in a class.")] = 1
    grounds: Annotated[
        dict[str, Literal["ordered", "equal"]],
        Field(
            default_factory=dict,
            title="Ground distance",
            description="Per sensitive attribute; those not named: ordered if numeric or ordinal, equal if nominal.",
        ),
    ]
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
        return self.grounds.get(name, "equal" if data.domain[name].kind is Kind.NOMINAL else "ordered")

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
                "This release does not say from which fragments its classes were dealt; make it again by this method."
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
        note = f"{parts.n_fragments:,} fragments; {n_classes:,} classes with the exact share of each."
        return FINENESS[0], group, note

    def _verified(self, data: Microdata, space: QuasiSpace, progress: Progress) -> tuple[float, Codes, str]:
        wanted = self.closeness(data)
        deals: list[CloseDeal] = []
        for turn, fineness in enumerate(FINENESS):
            progress(0.05 + 0.1 * turn, "Fragmenting the sensitive space and looking for the most classes")
            parts = self.fragmentation(data, fineness)
            deals.append(largest_close_deal(parts, data, wanted, data.n_rows // self.k, space.order))
        most = max(deal.n_classes for deal in deals)
        fineness, best = next(pair for pair in zip(FINENESS, deals, strict=True) if pair[1].n_classes >= WORTH * most)
        group = self._filled(best, space, wanted, progress)
        note = f"{best.fragmentation.n_fragments:,} fragments; {best.n_classes:,} classes, each verified."
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
