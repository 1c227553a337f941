"""SABRE: buckets of close sensitive values, and classes that draw from every bucket in proportion."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field

from anoncore.algorithms.base import Algorithm, Seed, generalized_release
from anoncore.algorithms.closeness.buckets import Buckets
from anoncore.algorithms.closeness.locality import Places, QuasiSpace
from anoncore.base.errors import DataError
from anoncore.base.progress import Progress
from anoncore.base.shared_work import digest, shared
from anoncore.kernels.arrays import Codes
from anoncore.kernels.proportions import halve
from anoncore.release.openness import Minimality, Openness
from anoncore.release.partition import Partition
from anoncore.release.release import Release
from anoncore.requirements import KAnonymity, Requirement, TCloseness
from anoncore.requirements.t_closeness import Ground
from anoncore.table.microdata import Microdata

SHARES = (1.0, 0.8, 0.6, 0.45, 0.3, 0.2, 0.1)
"""Shares of t that the buckets may take; the rest is left for counts that do not halve evenly."""
WORTH = 0.9
"""Share of the most classes with which fewer buckets are kept: they leave more choice among neighbours."""


class Sabre(Algorithm):
    """Puts close sensitive values into buckets and gives every class its share of each bucket.

    A bucket is a range of the attribute's order, or a subtree of its hierarchy. Buckets are split greedily until any
    class that draws from them in proportion is t-close, whichever rows it takes. Then the table is halved bucket by
    bucket, again and again, as long as both halves stay t-close in the worst case; an odd count makes the halves differ
    by a row. How much of t the buckets may take is chosen so that few buckets give many classes. Classes take rows that
    are neighbours in the space of the quasi-identifiers.

    Notes
    -----
    Assumes: one sensitive attribute with an order, a hierarchy, or values that are all equally far apart; the adversary
      knows the table's distribution.
    Cost: O(n m) for m values and O(d n log n) for the classes.
    Use: t-closeness in one sensitive attribute is asked for, and information loss is to be low.
    Avoid: several sensitive attributes need protection (Stack & Deal, sensitive-space fragmentation).

    References
    ----------
    Cao, Karras, Kalnis and Tan, SABRE, VLDB Journal 20(1), 2011; t-closeness dissertation, section 2.6.5.

    Examples
    --------
    >>> import pandas as pd
    >>> from anoncore import Microdata, privacy
    >>> from anoncore.algorithms import Sabre
    >>> people = pd.DataFrame({"age": [21, 22, 23, 44, 45, 46], "salary": [10, 20, 30, 40, 50, 60]})
    >>> data = Microdata(people, roles={"age": "quasi-identifier", "salary": "sensitive"})
    >>> release = Sabre(t=0.2, seed=0).anonymize(data)
    >>> release.partition.sizes.tolist()
    [3, 3]
    >>> bool(privacy.emd(release, "salary").max() <= 0.2)
    True
    """

    name: ClassVar[str] = "sabre"
    title: ClassVar[str] = "SABRE"
    source: ClassVar[str] = "Cao, Karras, Kalnis and Tan, VLDB Journal 2011; t-closeness dissertation, section 2.6.5"
    family: ClassVar[str] = "generalization"
    summary: ClassVar[str] = (
        "Groups close sensitive values into buckets and gives every class its share of each, so that none stands out."
    )
    minimality: ClassVar[Minimality] = Minimality(
        Openness.OPEN,
        "Classes take rows of each bucket of sensitive values that are neighbours in the quasi-identifiers, so "
        "the classes depend on who has which sensitive value.",
    )

    t: Annotated[float, Field(ge=0, le=1, title="t", description="Largest EMD from the table, 0 to 1.")] = 0.2
    ground: Annotated[Ground, Field(title="Ground distance", description="How far apart two sensitive values are.")] = (
        "ordered"
    )
    k: Annotated[int, Field(ge=1, title="k", description="Fewest rows in a class.")] = 1
    seed: Seed = None

    def promises(self, data: Microdata) -> tuple[Requirement, ...]:
        """t-closeness and k-anonymity."""
        return TCloseness(t=self.t, ground=self.ground, attribute=self._attribute(data)), KAnonymity(k=self.k)

    def _attribute(self, data: Microdata) -> str:
        names = data.require_sensitive()
        if len(names) > 1:
            raise DataError(
                f"SABRE protects one sensitive attribute, but {len(names)} are tagged ({', '.join(names)}); use "
                "Stack & Deal or sensitive-space fragmentation for several."
            )
        return names[0]

    def buckets(self, data: Microdata, share: float = 1.0) -> Buckets:
        """The buckets of a table's sensitive values.

        Parameters
        ----------
        data : Microdata
            The table.
        share : float
            The part of t that the buckets may take, above 0 and at most 1.

        Returns
        -------
        Buckets
            The buckets, whose bound on the distance is at most `share` times t.
        """
        return Buckets.within(data, data.sensitive_view(self._attribute(data)), self.ground, self.t * share)

    def _release(self, data: Microdata, progress: Progress) -> Release:
        options: list[tuple[Buckets, Places]] = []
        for turn, share in enumerate(SHARES):
            progress(0.05 + 0.05 * turn, "Making buckets and halving")
            buckets = self.buckets(data, share)
            bucket, group = halve(buckets.proportions, buckets.counts, self.t, self.k)
            options.append((buckets, Places(bucket, group)))
        most = max(places.n_classes for _, places in options)
        best, places = next(option for option in options if option[1].n_classes >= WORTH * most)
        group = self._drawn(data, best.of_row, places, progress)
        note = f"{best.n_buckets:,} buckets of sensitive values; {places.n_classes:,} classes."
        return generalized_release(self, data, Partition(group), (note,))

    def _drawn(self, data: Microdata, bucket: Codes, places: Places, progress: Progress) -> Codes:
        """Classes of neighbours, for which it does not matter by which t and k their places were found."""

        def drawn() -> Codes:
            space = QuasiSpace.of(data, self.seed)
            group = space.hand_out(bucket, places, lambda done: progress(0.4 + 0.2 * done, "Drawing neighbours"))
            return space.refine(group, bucket, report=lambda done: progress(0.6 + 0.3 * done, "Exchanging rows"))[0]

        if self.seed is None:
            return drawn()
        return shared(data, ("sabre", self.seed, digest(bucket, places.bucket, places.group)), drawn)
