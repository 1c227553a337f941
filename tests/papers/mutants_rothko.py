"""Broken versions of Mondrian, RothkoTree and RothkoSampling, and the statements that each must break."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

from anoncore import Microdata
from anoncore.algorithms import Mondrian, RothkoSampling, RothkoTree
from anoncore.algorithms.rothko.setting import Setting
from anoncore.requirements import KAnonymity
from tests.papers import rothko, rothko_quality, theorems, worked
from tests.papers.broken import (
    EVERY,
    NEVER,
    RANDOM,
    Broken,
    Part,
    at_random,
    examples,
    flat_hierarchies,
    grouped_by,
    never_splits,
)
from tests.papers.findings import Statements
from tests.papers.rothko_runs import Report


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


def _needed(report: Report) -> None:
    rothko.need(report, (2_000_000, 4_000_000))


def _read(report: Report) -> None:
    rothko.read_by_sampling(report, 100_000, (4, 2, 1))


def _sampled(report: Report) -> None:
    rothko_quality.pruning(report, rothko_quality.QUICK_ROWS)


def _quality(report: Report) -> None:
    rothko_quality.classification_and_regression(report, rothko_quality.QUICK_ROWS, 1)


@contextmanager
def no_salaries() -> Iterator[None]:
    """The synthetic table is made with salaries of 0."""
    load = worked.load_rothko
    with patch.object(worked, "load_rothko", lambda *one, **other: load(*one, **other).assign(salary=0)):
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
def variance_reversed() -> Iterator[None]:
    """Classes that break variance diversity are taken for those that satisfy it."""
    holds = theorems._holds
    with patch.object(theorems, "_holds", lambda *of: not holds(*of)):
        yield


EXAMPLES = examples(worked.rothko)
PROVEN = examples(theorems.rothko)
QUALITY, PRUNING = _in_folder(_quality), _in_folder(_sampled)
NEEDED, READ = _in_folder(_needed), _in_folder(_read)
MUTANTS = (
    Broken("rothko", "hierarchies are flat", EXAMPLES, flat_hierarchies, {"figure 1": EVERY}),
    Broken("rothko", NEVER, EXAMPLES, grouped_by(Mondrian, never_splits), {"figure 2": EVERY}),
    Broken("rothko", RANDOM, EXAMPLES, grouped_by(Mondrian, at_random), {"figure 2": EVERY}),
    Broken("rothko", "salaries are 0", EXAMPLES, no_salaries, {"figure 7": ("every attribute",)}),
    Broken("rothko", "two methods are swapped", NEEDED, swapped_methods, {"figure 8": EVERY}),
    Broken(
        "rothko", "rows are counted in a scan of their own", READ, counted_apart,
        {"figure 11": ("For a wide range of sample sizes the table is read",)},
    ),
    Broken("rothko", "k is ignored", QUALITY, one_k, {f"figure {n}": ("From reasonable",) for n in range(23, 28)}),
    Broken("rothko", "without the tests", PRUNING, untested, {"figure 28": ("The tests lead",)}),
    Broken("rothko", RANDOM, PROVEN, grouped_by(RothkoTree, at_random), {"section 2": EVERY, "section 2.2": EVERY}),
    Broken("rothko", RANDOM, PROVEN, grouped_by(RothkoSampling, at_random), {"section 3.2": EVERY}),
    Broken("rothko", "answers are reversed", PROVEN, variance_reversed, {"appendix": EVERY}),
)  # fmt: skip
