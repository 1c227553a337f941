"""The attack with one attribute set: what is learned from the groups of a release, and whom it gives away."""

from __future__ import annotations

import time
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from anoncore.attacks.foreground.sets import SetLeak, Signatures
from anoncore.attacks.foreground.solver import SetGroups, Solver, ValueGroups, solve
from anoncore.kernels.arrays import Floats
from anoncore.kernels.foreground_groups import GroupedRows, case_probabilities, mean_range, spread
from anoncore.kernels.rounding import ACCUMULATED, lies_above
from anoncore.release.partition import Partition
from anoncore.release.release import Release
from anoncore.table.microdata import SensitiveValues

Unreliable = Literal["overall", "uniform"]


@dataclass(frozen=True, eq=False)
class Target:
    """What is attacked: the values that need protection, in the groups as published and in the original rows.

    `true` int32 (n_rows,): code of the protected value that each row has, or any code from `n_values` on. `held[x]`:
    the groups that publish x. `shares` (n_values,): the published overall share of each; `fixed`: that of people with
    a rare signature.
    """

    attribute: str
    partition: Partition
    view: SensitiveValues
    n_values: int
    held: tuple[ValueGroups, ...]
    shares: Floats
    fixed: Floats

    @classmethod
    def of(cls, release: Release, attribute: str, unreliable: Unreliable = "overall") -> Target:
        """Count the published values by group."""
        release.data.require_sensitive(attribute)
        partition = release.partition
        view = release.data.sensitive_view(attribute)
        published = release.data.sensitive_view(attribute, release.published_codes(attribute)).codes
        n_values = view.size if view.unique < 0 else view.unique
        key = published.astype(np.int64) * partition.n_groups + partition.group
        pairs, n = np.unique(key, return_counts=True)
        value, group = np.divmod(pairs, partition.n_groups)
        edges = np.searchsorted(value, np.arange(n_values + 1))
        held = tuple(ValueGroups(group[a:b], n[a:b]) for a, b in pairwise(edges))
        shares = np.bincount(published, minlength=view.size)[:n_values] / partition.n_rows
        fixed = shares if unreliable == "overall" else np.full(n_values, 0.5)
        return cls(attribute, partition, view, n_values, held, shares, fixed)

    @property
    def true(self) -> npt.NDArray[np.int32]:
        """Code of each row's original value."""
        return self.view.codes

    @property
    def needs(self) -> npt.NDArray[np.bool_]:
        """Whether each row's value needs protection."""
        return self.true < self.n_values

    @property
    def could(self) -> npt.NDArray[np.bool_]:
        """Whether there is a protected value that the row does not have, so that it can be flagged without reason."""
        return ~self.needs if self.n_values == 1 else np.ones(len(self.true), dtype=np.bool_)

    def figures(self, own: Floats, other: Floats, r: float) -> tuple[float, float, float]:
        """Recall, share of the people flagged without reason, and mean probability of people's own values."""
        return (
            _mean(lies_above(own[self.needs], 1 / r, ACCUMULATED)),
            _mean(lies_above(other[self.could], 1 / r, ACCUMULATED)),
            _mean(own[self.needs]),
        )

    def random_worlds(self) -> tuple[Floats, Floats]:
        """p(t:x) of each row's own value, and the largest of any other, if every possible world is equally likely."""
        own, other = np.zeros(len(self.true)), np.zeros(len(self.true))
        share = np.zeros(self.partition.n_groups)
        for value, held in enumerate(self.held):
            share[held.groups] = held.n / self.partition.sizes[held.groups]
            has_value = self.true == value
            p = share[self.partition.group]
            own = np.where(has_value, p, own)
            other = np.where(has_value, other, np.maximum(other, p))
            share[held.groups] = 0
        return own, other


def _mean(values: npt.NDArray[Any]) -> float:
    return float(values.mean()) if len(values) else float("nan")


def attack_set(signatures: Signatures, target: Target, r: float, solver: Solver) -> tuple[SetLeak, Floats, Floats]:
    """Learn from one attribute set and attack with it alone.

    Gives what the set leaks, and for each row p(t:x) of its own value and the largest of any other value."""
    begin = time.perf_counter()
    partition, m = target.partition, len(signatures)
    groups = SetGroups.of(signatures, partition)
    rows = GroupedRows(partition.order, partition.starts, groups.entry_of_row, target.true)
    own, other = np.zeros(partition.n_rows), np.zeros(partition.n_rows)
    learned = np.zeros((m, target.n_values))
    ranges = np.zeros(target.n_values)
    steps, contradicted, converged, learning = 0, 0, True, time.perf_counter() - begin
    for x, held in enumerate(target.held):
        begin = time.perf_counter()
        cases, case = groups.cases(held)
        solution = solve(cases, signatures.rows, target.shares[x], target.fixed[x], solver)
        learning += time.perf_counter() - begin
        learned[:, x] = solution.shares[:m]
        steps, converged = steps + solution.steps, converged and solution.converged
        probabilities = case_probabilities(cases, solution.shares)
        contradicted += probabilities.contradicted
        spread(rows, held.groups, case, probabilities, x, own, other)
        ranges[x] = mean_range(solution.shares, groups.composition, groups.start, groups.classes)
    true = true_shares(signatures, target.view)[:, : target.n_values]
    recall, flagged, mean_probability = target.figures(own, other, r)
    leak = SetLeak(
        attributes=signatures.attributes,
        signatures=signatures.values,
        rows=signatures.rows,
        learned=learned,
        true=true,
        recall=recall,
        flagged=flagged,
        mean_probability=mean_probability,
        relative_error=_relative_error(learned, true),
        guessing_error=_relative_error(np.broadcast_to(target.shares, true.shape), true),
        mean_range=float(ranges.mean()),
        steps=steps,
        converged=converged,
        contradicted=contradicted,
        seconds=learning,
    )
    return leak, own, other


def true_shares(signatures: Signatures, view: SensitiveValues) -> Floats:
    """Share of each value among the original rows of each signature, (m, view.size)."""
    m, size = len(signatures), view.size
    key = signatures.classes.astype(np.int64) * size + view.codes
    count = np.bincount(key, minlength=(m + 1) * size).reshape(m + 1, size)
    shares: Floats = count[:m] / signatures.rows[:, None]
    return shares


def _relative_error(learned: Floats, true: Floats) -> float:
    known = true > 0
    return _mean(np.abs(learned - true)[known] / true[known])
