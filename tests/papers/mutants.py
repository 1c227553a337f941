"""Broken versions of what the reproduction book tests: each must cost its figures the verdict "reproduced".

    python -m tests.papers --rest

A mutant breaks one thing: it never splits, deals rows at random, publishes zeros, ignores its parameter, swaps two
methods or shuffles the sensitive attribute. It is run on the part of the book that is named with it, on reduced sizes;
a figure or table that is reproduced there must be so no more. What no mutant can break is not under test, and the book
says "worked by hand" of it. What compares processor seconds has no mutant either: a broken method can be as slow or as
fast by chance, so that such figures "hold in seconds only" and are not counted as reproduced.
"""

from __future__ import annotations

import contextlib
import io
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import cache, wraps
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import numpy as np

from anoncore import Hierarchy, Microdata, Partition, Release, attacks
from anoncore.algorithms import (
    Anatomy,
    Mondrian,
    RothkoSampling,
    RothkoTree,
    SensitiveSpaceFragmentation,
    Slicing,
    StackAndDeal,
    VerticalFragmentation,
)
from anoncore.algorithms.base import Algorithm, generalized_release
from anoncore.algorithms.closeness import sensitive_fragmentation
from anoncore.algorithms.closeness.multiplicity import Multiplicity
from anoncore.algorithms.rothko.setting import Setting
from anoncore.algorithms.slicing.columns import sliced_release
from anoncore.algorithms.vertical import enforcement, strategies
from anoncore.attacks.foreground import attack as foreground_attack
from anoncore.attacks.foreground import mining
from anoncore.privacy.selectivity import Selectivity
from anoncore.requirements import KAnonymity
from dashboard.reproduction import REPRODUCED, Mutant, Result
from tests.papers import rothko, rothko_quality, t_closeness, theorems, worked, worked_closeness
from tests.papers.findings import Findings, Statements
from tests.papers.rothko_runs import Report

Part = Callable[[], Statements]


@cache
def unbroken(part: Part) -> Statements:
    """What the part says of the library as it is, found once."""
    return part()


def examples(function: Callable[[Statements], None]) -> Part:
    """A paper's worked examples as a part, which has the function's name."""

    @wraps(function)
    def run() -> Statements:
        said = Statements()
        function(said)
        return said

    return run


@dataclass(frozen=True)
class Broken:
    """One mutant of a paper: on which part it is run, and the figures and tables that it must cost their verdict."""

    paper: str
    name: str
    labels: tuple[str, ...]
    part: Part
    breaking: Callable[[], AbstractContextManager[Any]] = field(repr=False)

    def verdicts(self) -> dict[str, str]:
        """The verdict on each figure or table of a library that is so broken; an exception is no reproduction."""
        with contextlib.redirect_stdout(io.StringIO()):
            judged = [label for label in self.labels if unbroken(self.part).verdict(label) == REPRODUCED]
            assert len(judged) == len(self.labels), f"{self.name}: only {judged} hold unbroken"
            try:
                with self.breaking():
                    said = self.part()
            except Exception as error:
                return dict.fromkeys(judged, f"no result: {type(error).__name__}")
        return {label: said.verdict(label) for label in judged}


def grouped_by(algorithm: type[Algorithm], group: Callable[[Release], np.ndarray]) -> Callable[[], Any]:  # type: ignore[type-arg]
    """Make an algorithm publish the rows of its release in other groups."""
    made = algorithm._release

    def other(self: Any, data: Any, progress: Any) -> Release:
        release = made(self, data, progress)
        partition = Partition(np.unique(group(release), return_inverse=True)[1].astype(np.int32))
        if len(release.fragments) > 1:
            return sliced_release(data, partition, [one.attributes for one in release.fragments], self)
        return generalized_release(self, data, partition)

    return lambda: both(
        patch.object(algorithm, "_release", other), patch.object(algorithm, "promises", lambda self, data: ())
    )


@contextmanager
def both(*contexts: AbstractContextManager[Any]) -> Iterator[None]:
    """Several patches as one."""
    with ExitStack() as stack:
        for one in contexts:
            stack.enter_context(one)
        yield


def never_splits(release: Release) -> Any:
    """One group of all rows."""
    return np.zeros(release.data.n_rows, dtype=np.int64)


def at_random(release: Release) -> Any:
    """Groups of the same sizes, rows dealt at random."""
    return np.random.default_rng(0).permutation(release.partition.group)


def _in_folder(run: Callable[[Report], None]) -> Part:
    def part() -> Statements:
        said = Statements()
        with tempfile.TemporaryDirectory() as folder:
            report = Report(Path(folder))
            run(report)
            for one in report.statements:
                said.add(str(one["figure"]), str(one["statement"]), one["holds"], str(one["found"]))
        return said

    return part


def _over_k() -> Statements:
    found = Findings()
    with tempfile.TemporaryDirectory() as folder:
        report = t_closeness.Report(Path(folder), found)
        t_closeness.over_k(report, {"Heart, two attributes": t_closeness.heart()})
    return found.said


def _needed(report: Report) -> None:
    rothko.need(report, (2_000_000, 4_000_000))


def _read(report: Report) -> None:
    rothko.read_by_sampling(report, 100_000, (4, 2, 1))


def _sampled(report: Report) -> None:
    rothko_quality.pruning(report, rothko_quality.QUICK_ROWS)


def _quality(report: Report) -> None:
    rothko_quality.classification_and_regression(report, rothko_quality.QUICK_ROWS, 1)


@contextmanager
def flat_hierarchies() -> Iterator[None]:
    """No value has anything but * above it."""
    with patch.object(Hierarchy, "path_of", lambda self, value: ("*", "*")):
        yield


@contextmanager
def shuffled_secrets() -> Iterator[None]:
    """Everybody has the sensitive value of the row before them."""
    load = worked.builtin

    def other(name: str) -> Microdata:
        data = load(name)
        frame = data.frame.copy()
        for secret in data.sensitive:
            frame[secret] = np.roll(frame[secret].to_numpy(), 1)
        kinds = {one: data.domain[one].kind for one in data.attributes}
        return Microdata(frame, roles=data.roles, kinds=kinds, sensitive_values=data.sensitive_values)

    with patch.object(worked, "builtin", other):
        yield


@contextmanager
def nothing_learned() -> Iterator[None]:
    """Every signature keeps the overall share."""
    solve = mining.solve

    def ignorant(cases: Any, held: Any, rows: Any, start: Any, *rest: Any) -> Any:
        found = solve(cases, held, rows, start, *rest)
        return replace(found, shares=np.repeat(start[:, None], len(rows) + 1, axis=1))

    with patch.object(mining, "solve", ignorant):
        yield


@contextmanager
def beliefs_of_groups_alone() -> Iterator[None]:
    """Every possible world is as likely, whatever is known."""
    worlds = attacks.possible_worlds

    def even(f: Any, n: int) -> Any:
        found = worlds(f, n)
        return replace(found, share=np.full(len(found.share), 1 / len(found.share)))

    with (
        patch.object(attacks, "group_probabilities", lambda f, n: np.full(len(f), n / len(f))),
        patch.object(attacks, "possible_worlds", even),
    ):
        yield


@contextmanager
def stacked_from_below() -> Iterator[None]:
    """The rarest value comes first."""
    stack_of = StackAndDeal.stack_of

    def reverse(self: StackAndDeal, data: Microdata) -> Any:
        stack = stack_of(self, data)
        return replace(stack, order=stack.order[::-1])

    with patch.object(StackAndDeal, "stack_of", reverse):
        yield


@contextmanager
def bounds_ignored() -> Iterator[None]:
    """The space of sensitive values is never cut."""
    find = worked_closeness.find_fragmentation
    with patch.object(worked_closeness, "find_fragmentation", lambda cells, t: find(cells, np.full(len(t), 1e9))):
        yield


@contextmanager
def no_counts() -> Iterator[None]:
    """The multiplicity matrix is all zeros."""
    with patch.object(Multiplicity, "counts", property(lambda self: np.zeros(len(self.cells), dtype=np.int64))):
        yield


@contextmanager
def no_salaries() -> Iterator[None]:
    """The synthetic table is made with salaries of 0."""
    load = worked.load_rothko
    with patch.object(worked, "load_rothko", lambda *one, **other: load(*one, **other).assign(salary=0)):
        yield


@contextmanager
def one_level() -> Iterator[None]:
    """Slicing takes every l for 1."""
    with patch.object(Slicing, "levels_of", lambda self, data: dict.fromkeys(data.sensitive, 1.0)):
        yield


@contextmanager
def one_k() -> Iterator[None]:
    """Every k is taken for 10."""
    with patch.object(rothko_quality, "KAnonymity", lambda k: KAnonymity(k=10)):
        yield


@contextmanager
def untested() -> Iterator[None]:
    """Requirements are always checked on the sample as it is."""
    run = rothko_quality.sampling_run

    def naive_run(data: Microdata, model: Any, naive: bool, **other: Any) -> Any:
        return run(data, model, naive=True, **other)

    with patch.object(rothko_quality, "sampling_run", naive_run):
        yield


@contextmanager
def swapped_methods() -> Iterator[None]:
    """What is run on disk is run in memory, and the other way round."""
    others = {"mondrian": "rothko-sampling", "rothko-sampling": "mondrian"}
    run = rothko.needed
    with patch.object(rothko, "needed", lambda task, rows: run(others[task], rows)):
        yield


@contextmanager
def counted_apart() -> Iterator[None]:
    """Rows are counted in a scan of their own before they are divided."""
    divide = Setting.divide

    def apart(self: Setting, rows: Any, tree: Any, accumulator: Any = None) -> Any:
        if accumulator is not None:
            self.scan(rows, accumulator)
        return divide(self, rows, tree)

    with patch.object(Setting, "divide", apart):
        yield


@contextmanager
def single_columns() -> Iterator[None]:
    """Every attribute is a column of its own, whatever columns are asked for."""
    made = theorems.sliced
    with patch.object(
        theorems, "sliced", lambda data, group, columns: made(data, group, [[n] for c in columns for n in c])
    ):
        yield


@contextmanager
def no_beliefs() -> Iterator[None]:
    """Nobody believes anything."""
    posterior = attacks.sensitive_posterior
    with patch.object(attacks, "sensitive_posterior", lambda release, name: 0 * posterior(release, name)):
        yield


@contextmanager
def columns_by_name() -> Iterator[None]:
    """Attributes are put into columns in the order of their names."""

    def by_name(data: Microdata, columns: int, size: int | None) -> Any:
        parts = np.array_split(np.array(sorted(data.attributes)), columns)
        return SimpleNamespace(columns=tuple(tuple(part.tolist()) for part in parts))

    with patch.object(theorems, "partition_attributes", by_name):
        yield


@contextmanager
def one_row_is_enough() -> Iterator[None]:
    """One tuple is taken for a sample that is large enough."""
    with patch.object(foreground_attack, "minimum_signature_rows", lambda epsilon, sigma: 1.0):
        yield


@contextmanager
def space_uncut() -> Iterator[None]:
    """The space of sensitive values is never cut."""
    find = sensitive_fragmentation.find_fragmentation
    with patch.object(
        sensitive_fragmentation, "find_fragmentation", lambda cells, t: find(cells, np.full(len(t), 1e9))
    ):
        yield


@contextmanager
def variance_reversed() -> Iterator[None]:
    """Classes that break variance diversity are taken for those that satisfy it."""
    holds = theorems._holds
    with patch.object(theorems, "_holds", lambda *of: not holds(*of)):
        yield


@contextmanager
def nothing_changed() -> Iterator[None]:
    """Class values stay as they are, whatever the joins."""

    def unchanged(counts: Any, *_: Any) -> Any:
        return counts

    with (
        patch.object(enforcement, "enforce", unchanged),
        patch.object(enforcement, "majority_values", unchanged),
        patch.object(strategies, "enforce", unchanged),
        patch.object(strategies, "majority_values", unchanged),
    ):
        yield


@contextmanager
def fragments_by_name() -> Iterator[None]:
    """Attributes are put into fragments in turn."""
    made = theorems.fragment_attributes

    def in_turn(data: Microdata, common: str, number: int) -> Any:
        names = data.quasi_identifiers
        return replace(made(data, common, number), fragments=tuple(names[place::number] for place in range(number)))

    with patch.object(theorems, "fragment_attributes", in_turn):
        yield


@contextmanager
def fragmented_without(name: str, value: Any) -> Iterator[None]:
    """A parameter of vertical fragmentation is ignored."""
    with patch.object(
        theorems, "VerticalFragmentation", lambda **fields: VerticalFragmentation(**{**fields, name: value})
    ):
        yield


@contextmanager
def no_eta() -> Iterator[None]:
    """eta is 0 for all classes."""
    counted = Selectivity.eta
    with patch.object(Selectivity, "eta", lambda *of: 0 * counted(*of)):
        yield


SLICED = examples(worked.slicing)
FOREGROUND = examples(worked.foreground)
CLOSENESS = examples(worked_closeness.closeness)
ROTHKO = examples(worked.rothko)
VERTICAL = examples(worked.vertical)
OVER_K = _over_k
QUALITY, PRUNING = _in_folder(_quality), _in_folder(_sampled)
NEEDED, READ = _in_folder(_needed), _in_folder(_read)
EXAMPLES = {
    "slicing": SLICED,
    "foreground-knowledge": FOREGROUND,
    "t-closeness": CLOSENESS,
    "rothko": ROTHKO,
    "vertical-fragmentation": VERTICAL,
}
"""The worked examples of each paper; `PROVEN`: what its text claims."""
ENFORCED, JOINED = examples(theorems.enforced), examples(theorems.joined)
PROVEN = {name: examples(judge) for name, judge in theorems.THEOREMS.items()}
NEVER, RANDOM = "never splits", "rows are dealt at random"
MUTANTS = (
    Broken("slicing", NEVER, ("figure 1",), SLICED, grouped_by(Slicing, never_splits)),
    Broken("slicing", RANDOM, ("figure 1",), SLICED, grouped_by(Slicing, at_random)),
    Broken("slicing", "ignores l", ("figure 1",), SLICED, one_level),
    Broken("foreground-knowledge", NEVER, ("table 1",), FOREGROUND, grouped_by(Anatomy, never_splits)),
    Broken(
        "foreground-knowledge", "sensitive values are shuffled", ("table 7",), FOREGROUND, shuffled_secrets
    ),
    Broken(
        "foreground-knowledge", "nothing is learned from other groups", ("table 2", "table 8"), FOREGROUND,
        nothing_learned,
    ),
    Broken(
        "foreground-knowledge", "every world is equally likely", ("table 3", "table 5"), FOREGROUND,
        beliefs_of_groups_alone,
    ),
    Broken("t-closeness", "hierarchies are flat", ("figure 2.3",), CLOSENESS, flat_hierarchies),
    Broken("t-closeness", NEVER, ("table 2.4", "table 2.5"), CLOSENESS, grouped_by(Anatomy, never_splits)),
    Broken("t-closeness", RANDOM, ("table 2.4", "table 2.5"), CLOSENESS, grouped_by(Anatomy, at_random)),
    Broken("t-closeness", "the rarest first", ("table 3.2", "table 5.3"), CLOSENESS, stacked_from_below),
    Broken("t-closeness", RANDOM, ("table 3.3",), CLOSENESS, grouped_by(StackAndDeal, at_random)),
    Broken(
        "t-closeness", NEVER, ("figure 4.1", "figure 4.8"), CLOSENESS,
        grouped_by(SensitiveSpaceFragmentation, never_splits),
    ),
    Broken("t-closeness", RANDOM, ("figure 4.1",), CLOSENESS, grouped_by(SensitiveSpaceFragmentation, at_random)),
    Broken("t-closeness", "bounds are ignored", ("figure 4.6",), CLOSENESS, bounds_ignored),
    Broken("t-closeness", "zeros are published", ("table 5.2",), CLOSENESS, no_counts),
    Broken("t-closeness", RANDOM, ("figure 6.1",), OVER_K, grouped_by(StackAndDeal, at_random)),
    Broken("rothko", "hierarchies are flat", ("figure 1",), ROTHKO, flat_hierarchies),
    Broken("rothko", NEVER, ("figure 2",), ROTHKO, grouped_by(Mondrian, never_splits)),
    Broken("rothko", RANDOM, ("figure 2",), ROTHKO, grouped_by(Mondrian, at_random)),
    Broken("rothko", "salaries are 0", ("figure 7",), ROTHKO, no_salaries),
    Broken("rothko", "two methods are swapped", ("figure 8",), NEEDED, swapped_methods),
    Broken("rothko", "rows are counted in a scan of their own", ("figure 11",), READ, counted_apart),
    Broken("rothko", "k is ignored", tuple(f"figure {n}" for n in range(23, 28)), QUALITY, one_k),
    Broken("rothko", "without the tests", ("figure 28",), PRUNING, untested),
    Broken(
        "vertical-fragmentation", "zeros are published", ("table 3",), VERTICAL,
        lambda: patch.object(worked, "versions", lambda size, values: 0),
    ),
    Broken("slicing", "zeros are published", ("fact 1",), PROVEN["slicing"], no_beliefs),
    Broken(
        "slicing", "columns are ignored", ("section 2", "section 4.2", "section 5"), PROVEN["slicing"], single_columns
    ),
    Broken("slicing", "columns by name", ("section 4.1",), PROVEN["slicing"], columns_by_name),
    Broken(
        "foreground-knowledge", "one tuple is enough", ("theorem 1", "algorithm 1"), PROVEN["foreground-knowledge"],
        one_row_is_enough,
    ),
    Broken(
        "t-closeness", RANDOM, ("section 3.6", "section 5.4"), PROVEN["t-closeness"],
        grouped_by(StackAndDeal, at_random),
    ),
    Broken("t-closeness", NEVER, ("chapter 6",), PROVEN["t-closeness"], grouped_by(StackAndDeal, never_splits)),
    Broken("t-closeness", "bounds are ignored", ("section 4.4",), PROVEN["t-closeness"], space_uncut),
    Broken(
        "t-closeness", RANDOM, ("section 4.5",), PROVEN["t-closeness"],
        grouped_by(SensitiveSpaceFragmentation, at_random),
    ),
    Broken(
        "rothko", RANDOM, ("section 2", "section 2.2"), PROVEN["rothko"], grouped_by(RothkoTree, at_random)
    ),
    Broken("rothko", RANDOM, ("section 3.2",), PROVEN["rothko"], grouped_by(RothkoSampling, at_random)),
    Broken("rothko", "answers are reversed", ("appendix",), PROVEN["rothko"], variance_reversed),
    Broken(
        "vertical-fragmentation", "nothing is changed", ("section 4.2.2", "algorithm 3", "algorithm 4"), ENFORCED,
        nothing_changed,
    ),
    Broken("vertical-fragmentation", "nothing is changed", ("theorem 4.1",), JOINED, nothing_changed),
    Broken(
        "vertical-fragmentation", "fragments in turn", ("algorithm 1",), ENFORCED,
        fragments_by_name,
    ),
    Broken(
        "vertical-fragmentation", "l is ignored", ("theorem 5.1",), JOINED,
        lambda: fragmented_without("l", None),
    ),
    Broken(
        "vertical-fragmentation", "always two fragments", ("section 5.1",), JOINED,
        lambda: fragmented_without("fragments", 2),
    ),
    Broken(
        "vertical-fragmentation", "zeros are published", ("appendix C",), ENFORCED, no_eta
    ),
)  # fmt: skip


def tried(result: Result) -> Result:
    """The result with the verdict that each mutant of its paper gets."""
    found: dict[str, list[Mutant]] = {}
    for one in MUTANTS:
        if one.paper == result.name:
            for label, verdict in one.verdicts().items():
                found.setdefault(label, []).append(Mutant(one.name, verdict))
    entries = tuple(replace(entry, mutants=tuple(found.get(entry.label, ()))) for entry in result.entries)
    return replace(result, entries=entries)
