"""The attack with one attribute set: what is learned from the groups of a release, and whom it gives away."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import replace
from functools import cached_property
from os import cpu_count
from typing import Any, Literal, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from anoncore.attacks.foreground.sets import SetLeak, Signatures
from anoncore.attacks.foreground.solver import FULL, Precision, Solution, Solver, check_wanted, solve, stop_when
from anoncore.kernels.arrays import Bools, Floats, Int32, Int64, record
from anoncore.kernels.foreground_cases import Cases, Occurrences, cases_of, compositions
from anoncore.kernels.foreground_groups import Beliefs, PublishedValues, beliefs, mean_range
from anoncore.kernels.foreground_shares import LearnedShares, positions
from anoncore.kernels.foreground_worlds import OF_GROUP
from anoncore.kernels.grouping import grouped_rows, looked_up, owners, starts_of
from anoncore.kernels.rounding import ACCUMULATED, lies_above
from anoncore.release.partition import Partition
from anoncore.release.release import Release
from anoncore.table.microdata import SensitiveValues

WAITING = 8
"""Attribute sets per core that are attacked with, or wait to be."""
LOOK = 0.2
"""Seconds after which whoever waits for an attribute set looks whether it is still wanted."""

Unreliable = Literal["overall", "uniform", "group"]


@record
class Target:
    """What is attacked: the values that need protection, in the groups as published and in the original rows.

    `true` int32 (n_rows,): code of the protected value that each row has, or any code from `n_values` on. `published`:
    the values of the groups. `shares` (n_values,): the published overall share of each value; `fixed`: that of people
    with a rare signature, OF_GROUP where it is that in their own group.
    """

    attribute: str
    partition: Partition
    view: SensitiveValues
    n_values: int
    published: PublishedValues
    shares: Floats
    fixed: Floats

    @classmethod
    def of(
        cls, release: Release, attribute: str, unreliable: Unreliable = "overall", source: Int64 | None = None
    ) -> Target:
        """Count the published values by group; `source` int64 (n_rows,) says whose secret each row gets instead."""
        release.data.require_sensitive(attribute)
        partition = release.partition
        view = release.data.sensitive_view(attribute)
        published = release.data.sensitive_view(attribute, release.published_codes(attribute)).codes
        if source is not None:
            view, published = replace(view, codes=view.codes[source]), published[source]
        n_values = view.size if view.unique < 0 else view.unique
        key = published.astype(np.int64) * partition.n_groups + partition.group
        pair, n = np.unique(key, return_counts=True)
        value, group = np.divmod(pair, partition.n_groups)
        protected = value < n_values
        value, group, n = value[protected], group[protected], n[protected]
        by_group = published_values(
            partition.order, partition.starts, view.codes[partition.order], value, group, n, n_values
        )
        shares = np.bincount(published, minlength=view.size)[:n_values] / partition.n_rows
        fixed = shares if unreliable == "overall" else np.full(n_values, 0.5 if unreliable == "uniform" else OF_GROUP)
        return cls(attribute, partition, view, n_values, by_group, shares, fixed)

    @property
    def true(self) -> Int32:
        """Code of each row's original value."""
        return self.view.codes

    @property
    def needs(self) -> Bools:
        """Whether each row's value needs protection."""
        return self.true < self.n_values

    @property
    def in_order(self) -> Bools:
        """The same by position."""
        return self.needs[self.partition.order]

    @property
    def could(self) -> Bools:
        """Whether there is a protected value that the row does not have, so that it can be flagged without reason."""
        return ~self.needs if self.n_values == 1 else np.ones(len(self.true), np.bool_)

    @cached_property
    def n_needing(self) -> int:
        """Number of rows whose value needs protection."""
        return int(self.needs.sum())

    @cached_property
    def n_could(self) -> int:
        """Number of rows that can be flagged without reason."""
        return int(self.could.sum())

    def attacked(self, signatures: Signatures, limit: float, solver: Solver, precision: Precision) -> SetAttack:
        """The attack with one attribute set, see `attack_set`."""
        return attack_set(signatures, self, limit, solver, precision)

    def figures(self, own: Floats, other: Floats, limit: float) -> tuple[float, float, float]:
        """Recall and share flagged without reason, by beliefs above the limit, and the mean belief in own values."""
        return (
            _mean(lies_above(own[self.needs], limit, ACCUMULATED)),
            _mean(lies_above(other[self.could], limit, ACCUMULATED)),
            _mean(own[self.needs]),
        )

    def random_worlds(self) -> tuple[Floats, Floats]:
        """p(t:x) of each row's own value, and the largest of any other, if every possible world is equally likely."""
        published, group, n_groups = self.published, self.partition.group, self.partition.n_groups
        value = owners(np.diff(published.value_start))
        share = published.n / self.partition.sizes[published.group]
        # Before the shares stand two of 0, which are the largest ones of a group that publishes too few values.
        before = np.repeat(np.arange(n_groups), 2)
        of_pair = np.concatenate((before, published.group))
        value_of_pair = np.concatenate((np.full(2 * n_groups, -1), value))
        share_of_pair = np.concatenate((np.zeros(2 * n_groups), share))
        order = np.lexsort((share_of_pair, of_pair))
        last = np.cumsum(np.bincount(of_pair, minlength=n_groups)) - 1
        largest, second = order[last], order[last - 1]
        is_own = value_of_pair[largest][group] == self.true
        other = np.where(is_own, share_of_pair[second][group], share_of_pair[largest][group])
        wanted = self.true.astype(np.int64) * n_groups + group
        return looked_up(value * n_groups + published.group, share, wanted), other


def published_values(
    order: Int64, starts: Int64, true: Int32, value: Int64, group: Int64, n: Int64, n_values: int
) -> PublishedValues:
    """Rows by group, and the values of the groups: `n[p]` rows of group `group[p]` have `value[p]`, values ascending.

    `true` int32 (len(order),), by position.
    """
    pairs, pair_start = grouped_rows(group, len(starts) - 1)
    return PublishedValues(
        order=order,
        starts=starts,
        true=true,
        value_start=starts_of(np.bincount(value, minlength=n_values)),
        group=group,
        n=n,
        pair_start=pair_start,
        pairs=pairs,
        pair_value=value[pairs],
        pair_n=n[pairs],
    )


def _mean(values: npt.NDArray[Any]) -> float:
    return float(values.mean()) if len(values) else float("nan")


@record
class SetAttack:
    """The attack with one attribute set on one target: the beliefs about every row, its work (see `SetLeak.work`), and
    what the set leaks, which is computed when it is asked for.
    """

    beliefs: Beliefs
    work: int
    leak: Callable[[], SetLeak]


class Attempt(Protocol):
    """What the attack with one attribute set gives: the beliefs about every row, and its work (see `SetLeak.work`)."""

    @property
    def beliefs(self) -> Beliefs:
        """The beliefs, by position."""

    @property
    def work(self) -> int:
        """What the solver went through."""


Attack = TypeVar("Attack")
Attack_co = TypeVar("Attack_co", covariant=True)


class Attacked(Protocol[Attack_co]):
    """What can be attacked with one attribute set after the other."""

    def attacked(self, signatures: Signatures, limit: float, solver: Solver, precision: Precision) -> Attack_co:
        """The attack with one attribute set; a belief above `limit` is a breach."""


class PeopleAttacked(Attacked[Attempt], Protocol):
    """The same of people of whom one knows whose value needs protection."""

    @property
    def in_order(self) -> Bools:
        """Whether the value of each row needs protection, by position."""


def attack_sets(
    sets: Iterable[tuple[float, Signatures]],
    targets: Sequence[Attacked[Attack]],
    limit: float,
    solver: Solver,
    precision: Precision = FULL,
    still: Callable[[], object] = lambda: None,
) -> Iterator[tuple[float, list[Attack]]]:
    """Attack each target with one attribute set after the other, on all processors: what comes with each set, and what
    it gives, target by target.

    Of a large table one set takes ten seconds, in which `still` is called again and again: what it raises ends the
    attack. The next sets are looked for while the last ones are still attacked with. Few sets wait at a time, because
    each holds two numbers for every person of every target.
    """
    n_cores = cpu_count() or 1
    stopped = threading.Event()
    pool = ThreadPoolExecutor(n_cores, initializer=stop_when, initargs=(stopped.is_set,))
    running: deque[tuple[float, list[Future[Attack]]]] = deque()
    try:
        for share, signatures in sets:
            tasks = [pool.submit(target.attacked, signatures, limit, solver, precision) for target in targets]
            running.append((share, tasks))
            if len(running) * len(targets) > WAITING * n_cores:
                done, tasks = running.popleft()
                yield done, [_result(task, still) for task in tasks]
        while running:
            done, tasks = running.popleft()
            yield done, [_result(task, still) for task in tasks]
    finally:
        stopped.set()
        pool.shutdown(cancel_futures=True)


def _result(task: Future[Attack], still: Callable[[], object]) -> Attack:
    """What a task gives; until it is there, `still` is called every LOOK seconds."""
    while not wait([task], LOOK).done:
        still()
    return task.result()


def attack_set(
    signatures: Signatures, target: Target, limit: float, solver: Solver, precision: Precision = FULL
) -> SetAttack:
    """Learn from one attribute set and attack with it alone. A belief above `limit` is a breach."""
    begin = time.perf_counter()
    published, m = target.published, len(signatures)
    groups = compositions(published.order, published.starts, signatures.classes, m + 1)
    check_wanted()
    cases, held, occurrence_of_pair = cases_of(groups, m + 1, published.group, published.n, published.value_start)
    check_wanted()
    solution = solve(cases, held, signatures.rows, target.shares, target.fixed, solver, precision)
    learning = time.perf_counter() - begin
    check_wanted()
    found = beliefs(published, signatures.classes, groups, cases, held, occurrence_of_pair, solution.shares, limit)
    work = work_of(cases, held, solution.steps, target.n_values) + m * solution.steps + len(target.true)

    def leak() -> SetLeak:
        apart = mean_range(published, groups, solution.shares)
        return set_leak(signatures, target, solution, found, apart, learning, work)

    return SetAttack(found, work, leak)


def set_leak(
    signatures: Signatures,
    target: Target,
    solution: Solution,
    found: Beliefs,
    apart: float,
    seconds: float,
    work: int,
) -> SetLeak:
    """What was learned with one attribute set beside the truth, and whom it gives away; `apart` is the mean range."""
    true = true_shares(signatures, target.view, target.n_values)
    learned_error, guessing_error = _relative_errors(solution.shares, true, target.shares)
    return SetLeak(
        attributes=signatures.attributes,
        signatures=signatures.values,
        rows=signatures.rows,
        learned_shares=solution.shares,
        true_shares=true,
        recall=_share(found.breached, target.n_needing),
        flagged=_share(found.flagged, target.n_could),
        mean_probability=_share(found.believed, target.n_needing),
        relative_error=learned_error,
        guessing_error=guessing_error,
        mean_range=apart,
        steps=solution.steps,
        converged=solution.converged,
        contradicted=found.contradicted,
        seconds=seconds,
        work=work,
    )


def work_of(cases: Cases, held: Occurrences, steps: int, n_values: int) -> int:
    """Entries of groups, times their people with the value, that all steps of the solver go through together."""
    first, last = cases.composition[held.case], cases.composition[held.case] + 1
    of_all_values = int(((cases.start[last] - cases.start[first]) * cases.n[held.case]).sum())
    return of_all_values * steps // n_values


def true_shares(signatures: Signatures, view: SensitiveValues, n_values: int) -> LearnedShares:
    """Share of each of the first `n_values` values among the original rows of each signature."""
    m = len(signatures)
    here = (signatures.classes < m) & (view.codes < n_values)
    key, count = np.unique(view.codes[here].astype(np.int64) * m + signatures.classes[here], return_counts=True)
    value, classes = np.divmod(key, m)
    size = np.bincount(value, minlength=n_values)
    at = np.cumsum(size) - size
    shares = count / signatures.rows[classes]
    return LearnedShares(m, at, at, size, classes.astype(np.int32), shares, np.zeros(n_values), np.arange(n_values))


def _share(part: float, whole: int) -> float:
    return part / whole if whole else float("nan")


def _relative_errors(learned: LearnedShares, true: LearnedShares, guess: Floats) -> tuple[float, float]:
    """Mean of |share - true| / true where true is above 0, of the learned shares and of the overall ones `guess`."""
    keys, wanted = (
        owners(one.size) * one.m + one.classes[positions(one.classes_at, one.size)] for one in (learned, true)
    )
    shares = looked_up(keys, learned.shares[positions(learned.at, learned.size)], wanted)
    return (
        _mean(np.abs(shares - true.shares) / true.shares),
        _mean(np.abs(guess[wanted // true.m] - true.shares) / true.shares),
    )
