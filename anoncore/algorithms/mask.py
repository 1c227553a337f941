"""Mask: k-anonymity, then sensitive values changed in the groups that would give someone away."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from pydantic import Field, model_validator

from anoncore.algorithms.base import Algorithm, Seed, generalized_release
from anoncore.algorithms.bucketization.bucketization import only_sensitive
from anoncore.algorithms.mondrian import Mondrian
from anoncore.base.errors import InfeasibleError
from anoncore.base.progress import Progress, part_of
from anoncore.kernels.arrays import Codes, Floats, Int64, Rows
from anoncore.release.openness import Minimality, Openness
from anoncore.release.recoding import Distorted
from anoncore.release.release import Release
from anoncore.requirements import FrequencyDiversity, KAnonymity, Requirement
from anoncore.table.microdata import Microdata, SensitiveValues


class Mask(Algorithm):
    """Makes the table k-anonymous by Mondrian, then changes sensitive values in the groups that are not l-diverse.

    Let V be the groups in which a value that needs protection has a share above 1/l, and L another (l - 1) |V| groups,
    drawn at random (all others where there are fewer). For each group of V a share is drawn from those of L. Rows of
    the group with a value that is too frequent get another value, drawn by its frequency in the table, until the group
    has that share. Nobody sees which groups were changed, so the minimality of the generalization gives nothing away.

    Where every value needs protection, the share of a group is that of its most frequent value. The notes of the
    release say how many sensitive values were changed.

    Notes
    -----
    Assumes: the adversary knows that groups are as small as the requirement allows and draws conclusions from it; one
      sensitive attribute, some of whose published values may be wrong.
    Cost: O(d n log n) for Mondrian on d quasi-identifiers, then O(m) for each changed value of m.
    Use: conclusions from the minimality of a release are feared.
    Avoid: every published value must be true: Mondrian with l-diversity changes none.

    References
    ----------
    Wong, Fu, Wang and Pei, Minimality attack in privacy preserving data publishing, VLDB 2007, section 6 (MASK);
    foreground-knowledge paper, section 5.2.

    Examples
    --------
    Both of the young have the flu, so one of their values is changed:

    >>> import pandas as pd
    >>> from anoncore import Microdata
    >>> from anoncore.algorithms import Mask
    >>> people = pd.DataFrame({"age": [21, 22, 44, 46], "disease": ["flu", "flu", "cold", "HIV"]})
    >>> data = Microdata(people, roles={"age": "quasi-identifier", "disease": "sensitive"})
    >>> release = Mask(k=2, l=2, seed=0).anonymize(data)
    >>> release.recoding("disease").n_changed
    1
    >>> release.notes
    ("1 of 4 values of 'disease' (25.00%) were changed, in 1 of 2 groups.",)
    """

    name = "mask"
    title = "Mask"
    source = "Wong, Fu, Wang and Pei, VLDB 2007, section 6"
    family = "generalization with distortion"
    summary = (
        "Coarsens the quasi-identifiers to groups of k, then changes sensitive values where a group gives someone away."
    )
    minimality = Minimality(
        Openness.DEPENDS,
        "It was made against this attack: its groups come from k-anonymity alone, which does not look at the "
        "sensitive values, and chance decides which values are changed. What remains is that people who agree in "
        "all quasi-identifiers and are divided between two groups are divided by the order of their other values.",
    )

    k: Annotated[int, Field(ge=2, title="k", description="Smallest number of rows in a group.")] = 5
    l: Annotated[int, Field(ge=2, title="l", description="No protected value has a share above 1/l of a group.")] = 2
    seed: Seed = None

    @model_validator(mode="after")
    def _rows_for_l(self) -> Mask:
        if self.k < self.l:
            raise ValueError(
                f"k = {self.k} is below l = {self.l}: one row of a group of k is more than 1/l of it; choose k at "
                "least l."
            )
        return self

    def promises(self, data: Microdata) -> tuple[Requirement, ...]:
        """k rows in a group, and no protected value above 1/l of them as published."""
        return KAnonymity(k=self.k), FrequencyDiversity(l=float(self.l), attribute=only_sensitive(data, self.title))

    def _release(self, data: Microdata, progress: Progress) -> Release:
        name = only_sensitive(data, self.title)
        inner = Mondrian(requirements=(KAnonymity(k=self.k),))
        partition = inner.anonymize(data, part_of(progress, 0.0, 0.7)).partition
        progress(0.75, "Changing sensitive values")
        view = data.sensitive_view(name)
        counts = partition.histogram(view.codes, view.size)
        if view.unique >= 0:
            counts = counts[:, : view.unique]
        rng = np.random.default_rng(self.seed)
        # From content order, so that a seed changes the same rows for any order of the table.
        members = data.canonical_order[np.argsort(partition.group[data.canonical_order], kind="stable")]
        largest = counts.max(axis=1)
        violating = np.flatnonzero(largest * self.l > partition.sizes)
        shares = self._reference_shares(largest / partition.sizes, violating, rng)
        codes = data.codes[name].copy()
        replacement = _Replacement.of(data, name, view, rng)
        for group, share in zip(violating.tolist(), shares.tolist(), strict=True):
            rows = members[partition.starts[group] : partition.starts[group + 1]]
            replacement.lower(codes, rows[rng.permutation(len(rows))], self._limit(len(rows), share, view))
        distorted = Distorted(data.domain[name], partition, codes, data.codes[name])
        changed, n = distorted.n_changed, data.n_rows
        note = (
            f"{changed:,} of {n:,} values of '{name}' ({changed / n:.2%}) were changed, in {len(violating):,} of "
            f"{partition.n_groups:,} groups."
        )
        return generalized_release(self, data, partition, (note,), {name: distorted})

    def _reference_shares(self, shares: Floats, violating: Int64, rng: np.random.Generator) -> Floats:
        """One share per violating group, drawn from those of the set L; 1/l for all where no group satisfies
        l-diversity.
        """
        others = np.setdiff1d(np.arange(len(shares)), violating)
        wanted = min((self.l - 1) * len(violating), len(others))
        if wanted == 0:
            return np.full(len(violating), 1 / self.l)
        chosen: Floats = rng.choice(shares[rng.choice(others, wanted, replace=False)], len(violating))
        return chosen

    def _limit(self, size: int, share: float, view: SensitiveValues) -> int:
        """How many rows one value may have in a group of this size: as near to the share as 1/l allows."""
        limit = min(round(share * size), size // self.l)
        return limit if view.unique >= 0 else max(limit, -(-size // view.size))

    def validate_data(self, data: Microdata) -> None:
        """Raise DataError for other than one sensitive attribute, InfeasibleError for k or l that the table fails."""
        super().validate_data(data)
        name = only_sensitive(data, self.title)
        view = data.sensitive_view(name)
        if view.unique >= 0 or _fills(view.size, self.k, self.l):
            return
        nearest = max((l for l in range(1, self.l) if _fills(view.size, self.k, l)), default=1)
        advice = f"choose l at most {nearest}" if nearest > 1 else "choose another sensitive attribute or method"
        raise InfeasibleError(
            f"l = {self.l} is not possible: '{name}' has {view.size} values, too few to fill a group of any size from "
            f"{self.k} rows on with none above 1/{self.l}; {advice}.",
            nearest=nearest if nearest > 1 else None,
        )


def _fills(n_values: int, k: int, l: int) -> bool:
    """Whether groups of every size from k on can be filled with n values, none of which has more than 1/l."""
    return all(-(-size // n_values) <= size // l for size in range(k, max(k, 2 * l * n_values) + 1))


class _Replacement:
    """Draws new values for rows whose value is too frequent in their group."""

    def __init__(self, view: SensitiveValues, of_code: Codes, weights: Floats, rng: np.random.Generator) -> None:
        self.view, self.of_code, self.weights, self.rng = view, of_code, weights, rng

    @classmethod
    def of(cls, data: Microdata, name: str, view: SensitiveValues, rng: np.random.Generator) -> _Replacement:
        """New values come by their frequency in the table, from all values or from those without protection."""
        codes = np.arange(len(data.domain[name]), dtype=np.int32)
        of_code = data.sensitive_view(name, codes).codes
        weights = np.bincount(data.codes[name], minlength=len(codes)).astype(np.float64)
        if view.unique >= 0:
            weights[of_code != view.unique] = 0
        return cls(view, of_code, weights, rng)

    def lower(self, codes: Codes, rows: Rows, limit: int) -> None:
        """Change values of these rows (in random order) until no protected one has more than `limit` rows."""
        seen = self.of_code[codes[rows]]
        counts = np.bincount(seen, minlength=self.view.size)
        if self.view.unique >= 0:
            # So low that values without need of protection never reach the limit, also after many were added.
            counts[self.view.unique] = np.iinfo(np.int64).min // 2
        for row, value in zip(rows.tolist(), seen.tolist(), strict=True):
            if counts[value] <= limit:
                continue
            counts[value] -= 1
            open_values = np.where(counts[self.of_code] < limit, self.weights, 0.0)
            new = self.rng.choice(len(open_values), p=open_values / open_values.sum())
            counts[self.of_code[new]] += 1
            codes[row] = new
