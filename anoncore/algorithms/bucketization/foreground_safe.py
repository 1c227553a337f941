"""ForegroundSafe: buckets that give nobody away to an adversary who learns from the release as a whole."""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from anoncore.algorithms.base import Seed
from anoncore.algorithms.bucketization.anatomy import Anatomy
from anoncore.algorithms.bucketization.bucketization import Bucketization, bucketized_release, only_sensitive
from anoncore.algorithms.bucketization.safe_buckets import Profiles, SafeBuckets
from anoncore.attacks.foreground import ForegroundKnowledge, foreground_knowledge
from anoncore.attacks.foreground.adversary import EPSILONS, Adversary, minimum_signature_rows
from anoncore.attacks.foreground.chosen_epsilon import chosen_epsilon
from anoncore.attacks.foreground.mining import Unreliable, true_shares
from anoncore.attacks.foreground.sets import Signatures, everyone, levels
from anoncore.base.errors import InfeasibleError
from anoncore.base.progress import Progress
from anoncore.base.shared_work import shared
from anoncore.kernels.arrays import Floats
from anoncore.kernels.foreground_safe import Knowledge
from anoncore.kernels.foreground_shares import written_out
from anoncore.kernels.rounding import ACCUMULATED, lies_above, stays_within
from anoncore.release.openness import Minimality, Openness
from anoncore.release.partition import Partition
from anoncore.release.release import Release
from anoncore.table.microdata import Microdata

ROUNDS = 16
"""Attacks on the release after which l counts as out of reach."""
LEAST_ALIKE = 4
"""People, times l, who share a profile on average where an epsilon that was not asked for is guarded against."""
MARGIN = 0.97
"""Part of the bound that mixed buckets are made for: what the adversary learns changes a little with every change."""


class ForegroundSafe(Bucketization):
    """Publishes quasi-identifiers and the sensitive attribute in two exact tables, joined by buckets of people who look
    alike.

    The foreground-knowledge attack looks at sets of attributes, and in each of them everybody has a signature. People
    with the same signature in all these sets share a profile. In a bucket of one profile everybody's probability p(t:x)
    of a value x is the share of x in the bucket, whatever the adversary has learned elsewhere. So buckets of l
    different values are dealt inside the profiles, and who is left over joins a bucket of the most similar profile in
    which p(t:x) stays within the bound for every attribute set.

    Then the attack itself is run, and buckets in which somebody exceeds (1 + tolerance) / l are joined with others
    until nobody does. This guards against the attack with these parameters, not against one that relies on rarer
    signatures. Where no epsilon is given, it is the one with which the attack lies farthest above its control on the
    buckets that Anatomy makes of the same table; or the next smaller one with which, on average, at least 4 l people
    share a profile. The notes say which one it is.

    Notes
    -----
    Assumes: the adversary learns as `foreground_knowledge` does, with the same epsilon, sigma and reading of rare
      signatures; one sensitive attribute, none of whose values has more than n / l rows.
    Cost: up to 16 rounds, each of which runs the attack on the whole release; where l cannot be reached, smaller ones
      are tried likewise.
    Use: exact values are to be published as by Anatomy, but the other buckets must not give anybody away.
    Avoid: people rarely look alike in the attribute sets of the attack: buckets grow, or l is not reached.

    References
    ----------
    foreground-knowledge paper, section 7 (form A-groups of tuples with similar global probabilities).

    Examples
    --------
    >>> import pandas as pd
    >>> from anoncore import Microdata, attacks
    >>> from anoncore.algorithms import ForegroundSafe
    >>> people = pd.DataFrame({"age": [21, 22, 23, 44, 45, 46], "disease": ["flu", "cold"] * 3})
    >>> data = Microdata(people, roles={"age": "quasi-identifier", "disease": "sensitive"})
    >>> release = ForegroundSafe(l=2, seed=0).anonymize(data)
    >>> attack = attacks.foreground_knowledge(release, "disease", r=2)
    >>> float(attack.breach_probability.max())
    0.5
    """

    name = "foreground-safe"
    title = "ForegroundSafe"
    source = "Wong, Fu, Wang, Xu and Yu 2009, section 7"
    summary = "Like Anatomy, but puts people together who look alike, so that the release as a whole gives nobody away."
    minimality = Minimality(
        Openness.OPEN,
        "Groups are dealt among people who look alike and joined until the foreground-knowledge attack fails, so "
        "the groups depend on who has which sensitive value.",
    )

    counts_rows = "the attack that it withstands weighs worlds in which each row is another person"

    l: Annotated[int, Field(ge=2, title="l", description="Nobody's protected value becomes more likely than 1/l.")] = 2
    tolerance: Annotated[
        float,
        Field(ge=0, allow_inf_nan=False, title="Tolerance", description="By what share 1/l may be exceeded."),
    ] = 0.0
    epsilon: Annotated[
        float | None,
        Field(
            gt=0,
            le=1,
            title="epsilon",
            description="Error that the adversary accepts; by default the one that gives most away in plain groups.",
        ),
    ] = None
    sigma: Annotated[
        float,
        Field(gt=0, le=1, title="sigma", description="Chance of a larger error that the adversary accepts."),
    ] = 0.9
    unreliable: Annotated[
        Literal["overall", "uniform", "both"],
        Field(
            title="Rare signatures",
            description="What the adversary takes for the share of people with rare values: overall, 1/2, or either.",
        ),
    ] = "overall"
    seed: Seed = None

    @property
    def _readings(self) -> tuple[Unreliable, ...]:
        return ("overall", "uniform") if self.unreliable == "both" else (self.unreliable,)

    @property
    def bound(self) -> float:
        """The largest p(t:x) that is allowed."""
        return (1 + self.tolerance) / self.l

    def _release(self, data: Microdata, progress: Progress) -> Release:
        result = self._search(data, progress)
        if isinstance(result, Release):
            return result
        raise self._infeasible(result, self._nearest(data, progress))

    def _search(self, data: Microdata, progress: Progress) -> Release | Floats:
        """A release that the attack finds safe; where there is none, everyone's largest p(t:x) in the last one that was
        tried.
        """
        if self.seed is None:
            return self._rounds(data, progress)
        # A run with a larger l that fails tries smaller ones, which other runs are about to try as well.
        return shared(data, (repr(self),), lambda: self._rounds(data, progress))

    def _rounds(self, data: Microdata, progress: Progress) -> Release | Floats:
        """The same, worked out here."""
        name = only_sensitive(data, self.title)
        names = [attribute for attribute in data.quasi_identifiers if attribute != name]
        progress(0.05, "Looking for people who look alike")
        epsilon, sets, profiles = self._guarded(data, name, names)
        making = self._started(data, name, sets, profiles, progress)
        for done in range(ROUNDS):
            progress(0.5 + 0.3 * done / ROUNDS, "Attacking the release")
            release = bucketized_release(self, data, name, Partition(making.group(data.n_rows)))
            attacks = [self._attack(release, name, epsilon, reading) for reading in self._readings]
            worst: Floats = np.max([attack.breach_probability for attack in attacks], axis=0)
            small = release.partition.sizes[release.partition.group] < self.l
            if stays_within(worst.max(), self.bound, ACCUMULATED) and not small.any():
                notes = self._notes(release, worst, profiles, epsilon)
                return bucketized_release(self, data, name, release.partition, notes)
            # Rows of buckets that are still too small count as given away, so that their buckets are widened too.
            worst[small] = 1.0
            knowledge = profiles.knowledge([_learned(attack, sets) for attack in attacks])
            if not self._widen(making, worst, knowledge, MARGIN ** (1 + done / 8)):
                break
        return worst

    def _started(
        self, data: Microdata, name: str, sets: list[Signatures], profiles: Profiles, progress: Progress
    ) -> SafeBuckets:
        """The buckets to begin with: people who look alike, then the others, judged by what the original table would
        teach.
        """
        rng = np.random.default_rng(self.seed)
        rows = data.canonical_order[rng.permutation(data.n_rows)]
        making = SafeBuckets(profiles, data.sensitive_view(name), self.l, rows)
        making.join_free_rows()
        making.place_leftovers(
            profiles.knowledge(self._original(data, name, sets)),
            self.bound * MARGIN,
            lambda share: progress(0.2 + 0.3 * share, "Placing people who find nobody like them"),
        )
        return making

    def _nearest(self, data: Microdata, progress: Progress) -> int | None:
        """The largest smaller l that halving the range finds and that holds; None if none holds."""
        low, high, holds = 2, self.l - 1, None
        while low <= high:
            l = (low + high + 1) // 2
            progress(0.85, f"Trying l = {l}")
            tried = self.replace(l=l)._search(data, lambda share, text: progress(0.85, text))
            low, high, holds = (l + 1, high, l) if isinstance(tried, Release) else (low, l - 1, holds)
        return holds

    def _guarded(self, data: Microdata, name: str, names: list[str]) -> tuple[float, list[Signatures], Profiles]:
        """The epsilon that is guarded against, its attribute sets, and who looks alike in all of them.

        That is the epsilon asked for, or the one that gives most away in plain buckets; a smaller one where people are
        so different to it that no buckets of people who look alike could be made.
        """
        for epsilon in self._candidates(data, name):
            minimum_rows = minimum_signature_rows(epsilon, self.sigma)
            sets = [signatures for level in levels(data, names, minimum_rows, None) for signatures in level]
            profiles = Profiles.of(sets or [everyone(data)], data.n_rows)
            if len(profiles.classes) * LEAST_ALIKE * self.l <= data.n_rows:
                break
        return epsilon, sets or [everyone(data)], profiles

    def _candidates(self, data: Microdata, name: str) -> list[float]:
        """The epsilons to guard against, the most dangerous first."""
        if self.epsilon is not None:
            return [self.epsilon]
        plain = Anatomy(l=self.l, seed=0).anonymize(data)
        best = chosen_epsilon(plain, Adversary(name, self.l, self.sigma, self._readings[0])).best
        largest = EPSILONS[0] if best is None else best.epsilon
        return [epsilon for epsilon in reversed(EPSILONS) if epsilon <= largest]

    def _attack(self, release: Release, name: str, epsilon: float, reading: Unreliable) -> ForegroundKnowledge:
        return foreground_knowledge(
            release, name, r=self.l, epsilon=epsilon, sigma=self.sigma, unreliable=reading, draws=0
        )

    def _widen(self, making: SafeBuckets, worst: Floats, knowledge: Knowledge, margin: float) -> bool:
        """Join further rows to the buckets in which someone exceeds the bound; returns whether a bucket grew."""
        failing = [
            bucket
            for bucket, rows in enumerate(making.buckets)
            if len(rows) and lies_above(worst[rows].max(), self.bound, ACCUMULATED)
        ]
        grown = False
        for bucket in failing:
            if len(making.buckets[bucket]):
                grown |= making.widen(bucket, knowledge, self.bound * margin, 2 * len(making.buckets[bucket]))
        return grown

    def _notes(self, release: Release, worst: Floats, profiles: Profiles, epsilon: float) -> tuple[str, ...]:
        group = release.partition.group
        order = np.lexsort((profiles.of_row, group))
        changes = np.diff(group[order], prepend=-1).astype(bool) | np.diff(profiles.of_row[order], prepend=-1).astype(
            bool
        )
        mixed = int((np.bincount(group[order][changes]) > 1).sum())
        return (
            f"The foreground-knowledge attack (epsilon {epsilon:g}, sigma {self.sigma:g}) gives nobody a "
            f"protected value at more than {worst.max():.4g}; {mixed:,} of {release.partition.n_groups:,} groups mix "
            "people who look different to it.",
        )

    def _infeasible(self, worst: Floats, nearest: int | None) -> InfeasibleError:
        people = int(lies_above(worst, self.bound, ACCUMULATED).sum())
        advice = "choose a larger tolerance" if nearest is None else f"l = {nearest} works, or a larger tolerance may"
        if self.unreliable == "both":
            advice += ", or guard against one reading of rare signatures only"
        return InfeasibleError(
            f"l = {self.l} with tolerance {self.tolerance:g} was not reached: the attack still gives {people:,} people "
            f"a protected value at more than {self.bound:.4g}, or they stay alone, and no further group helps them; "
            f"{advice}.",
            nearest=nearest,
        )

    def _original(self, data: Microdata, name: str, sets: list[Signatures]) -> list[list[Floats]]:
        """The shares of every signature in the original table, once for each reading of the rare signatures.

        What the adversary learns of a signature is the mean p(t:x) of its people. In a safe release that is at most the
        bound, so shares above it are cut off there.
        """
        view = data.sensitive_view(name)
        n_values = view.size if view.unique < 0 else view.unique
        overall = np.bincount(view.codes, minlength=view.size)[:n_values] / data.n_rows
        shares = [written_out(true_shares(signatures, view, n_values)).T for signatures in sets]
        fixed = [overall if reading == "overall" else np.full(n_values, 0.5) for reading in self._readings]
        return [[np.vstack([np.minimum(share, self.bound), rare]) for share in shares] for rare in fixed]


def _learned(attack: ForegroundKnowledge, sets: list[Signatures]) -> list[Floats]:
    """What an attack learned of the signatures of each set, with the shares of the rare ones last, in the order of the
    sets.
    """
    learned = {leak.attributes: leak.learned for leak in attack.sets} | {(): attack.overall_shares[np.newaxis]}
    return [np.vstack([learned[signatures.attributes], attack.fixed_shares]) for signatures in sets]
