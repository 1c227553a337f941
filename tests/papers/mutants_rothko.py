"""Broken versions of Mondrian, RothkoTree and RothkoSampling, and the statements that each must break."""

from __future__ import annotations

import copy
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd

from anoncore import Microdata, Release
from anoncore.algorithms import Mondrian, RothkoSampling, RothkoTree
from anoncore.algorithms.rothko import confident_checks, rothko_sampling
from anoncore.algorithms.rothko.setting import Part as TablePart
from anoncore.algorithms.rothko.setting import Setting
from anoncore.requirements import KAnonymity, VarianceDiversity
from tests.papers import (
    rothko,
    rothko_quality,
    rothko_runs,
    theorems_rothko,
    thrashing,
    thrashing_statements,
    worked,
)
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
    replaced,
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
                why = {name: str(one[name]) for name in ("cause", "tried", "least", "oracle")}
                said.add(
                    str(one["figure"]), str(one["statement"]), one["holds"], str(one["found"]),
                    timed=bool(one["timed"]), **why,
                )  # fmt: skip
        return said

    return part


def _needed(report: Report) -> None:
    rothko.need(report, (2_000_000, 5_000_000))


def _read(report: Report) -> None:
    rothko.read_by_sampling(report, 100_000, (4, 2, 1))


def _scanned(report: Report) -> None:
    rothko.input_output(report, 50_000)


def _timed(report: Report) -> None:
    rothko.times(report, 50_000)


def _sampled(report: Report) -> None:
    rothko_quality.pruning(report, rothko_quality.QUICK_ROWS, "ab")


def _printed(report: Report) -> None:
    rothko_quality.pruning(report, rothko_quality.PAPER_ROWS, "a", (100, 1000, 10_000))


def _quality(report: Report) -> None:
    rothko_quality.classification_and_regression(report, rothko_quality.QUICK_ROWS, 1)


def synthetic_with(**columns: Callable[[pd.DataFrame], Any]) -> Callable[[], AbstractContextManager[Any]]:
    """The synthetic table is made with other columns."""
    load = worked.load_rothko
    return replaced(worked, "load_rothko", lambda *one, **other: load(*one, **other).assign(**columns))


def run_with(module: Any, name: str, **fields: Any) -> Callable[[], AbstractContextManager[Any]]:
    """A method takes other values for some fields, whatever is asked for."""
    method = getattr(module, name)
    return replaced(module, name, lambda requirements=(), **asked: method(
        **{"requirements": requirements, **asked, **fields}
    ))  # fmt: skip


def variance_of(factor: float) -> Callable[[], AbstractContextManager[Any]]:
    """So many times the variance is required."""
    return replaced(theorems_rothko, "VarianceDiversity", lambda v: VarianceDiversity(v=factor * v))


def one_k() -> AbstractContextManager[Any]:
    """Every k is taken for 10."""
    return patch.object(rothko_quality, "KAnonymity", lambda k: KAnonymity(k=10))


@contextmanager
def untested() -> Iterator[None]:
    """Requirements are always checked on the sample as it is."""
    run = rothko_quality.sampling_run

    def naive_run(data: Microdata, model: Any, naive: bool, **other: Any) -> Any:
        return run(data, model, naive=True, **other)

    with patch.object(rothko_quality, "sampling_run", naive_run):
        yield


@contextmanager
def tests_reversed() -> Iterator[None]:
    """With the tests is without them, and the other way round."""
    run = rothko_quality.sampling_run

    def other_run(data: Microdata, model: Any, naive: bool, **other: Any) -> Any:
        return run(data, model, naive=not naive, **other)

    with patch.object(rothko_quality, "sampling_run", other_run):
        yield


needed = cache(rothko.needed)
"""What a run takes, measured once: each is a process of its own for many seconds."""


@contextmanager
def swapped_methods() -> Iterator[None]:
    """What is run on disk is run in memory, and the other way round."""
    others = {"mondrian": "rothko-sampling", "rothko-sampling": "mondrian"}
    with patch.object(rothko, "needed", lambda task, rows: needed(others[task], rows)):
        yield


def measured_once(part: Part) -> Part:
    """The part with processes that are measured once."""

    def run() -> Statements:
        if rothko.needed is not MEASURE:
            return part()
        with patch.object(rothko, "needed", needed):
            return part()

    return run


MEASURE = rothko.needed


def thrashing_of(names: dict[str, str], factor: float) -> Callable[[], AbstractContextManager[Any]]:
    """The last measurement of thrashing with other names of methods, and so much of what was swapped and how it ended.

    Nothing of it can be run again here: it takes hours, and a machine that may be starved of memory.
    """

    def other() -> dict[str, Any]:
        measured = copy.deepcopy(thrashing.last())
        for run in measured["runs"]:
            run["algorithm"] = names.get(run["algorithm"], run["algorithm"])
            for swapped in ("swapped in MB", "swapped out MB"):
                run[swapped] *= factor
        return measured

    return replaced(thrashing_statements, "last", other)


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


def undivided(setting: Setting, *of: Any) -> Iterator[TablePart]:
    """All rows are one class, whatever the requirements allow."""
    rows, region = of[-2:]
    return iter([TablePart(rows, region, is_class=True)])


def no_confident_cut() -> AbstractContextManager[Any]:
    """The sample never gives a cut."""
    return patch.object(rothko_sampling, "sample_splits", lambda *_: np.zeros((0, 4), dtype=np.int64))


def sampled_with(module: Any, rows: int) -> Callable[[], AbstractContextManager[Any]]:
    """Every sample has so many rows, whatever is asked for."""
    run = module.sampling_run

    def other_run(data: Microdata, model: Any, **other: Any) -> Any:
        return run(data, model.replace(sample_rows=rows, memory_rows=max(rows, model.memory_rows)), **other)

    return replaced(module, "sampling_run", other_run)


def by_target(release: Release) -> Any:
    """Classes of equal targets, which peeks at what is to be predicted."""
    return release.data.codes[release.algorithm.target or release.data.quasi_identifiers[0]]  # type: ignore[union-attr]


EXAMPLES = examples(worked.rothko)
PROVEN = examples(theorems_rothko.rothko)
QUALITY, PRUNING, PRINTED = _in_folder(_quality), _in_folder(_sampled), _in_folder(_printed)
NEEDED, READ = measured_once(_in_folder(_needed)), _in_folder(_read)
SCANNED, TIMES = _in_folder(_scanned), _in_folder(_timed)
THRASHED = _in_folder(thrashing_statements.judge)
SWAPPED = {"mondrian": "rothko-sampling", "rothko-sampling": "mondrian"}
BY_K, LARGER, CHOSEN = "From reasonable samples on", "A larger sample", "Cuts are chosen"
MINIMAL = dict.fromkeys(("figure 15", "figure 18", "figure 21"), ("The partitions of RothkoSampling",))
LESS, DECREASE, ALIKE = "The tests lead", "Pruning and non-minimality", "The same cells"


def quality(*beginnings: str) -> dict[str, tuple[str, ...]]:
    """Statements about figures 22 to 27; that k matters more than samples does not hold of C2, figure 22."""
    every = {f"figure {number}": beginnings for number in range(22, 28)}
    every["figure 22"] = tuple(one for one in beginnings if one != BY_K)
    return {label: some for label, some in every.items() if some}


def _of(name: str, part: Part, breaking: Any, breaks: dict[str, tuple[str, ...]]) -> Broken:
    return Broken("rothko", name, part, breaking, breaks)


MUTANTS = (
    _of("hierarchies are flat", EXAMPLES, flat_hierarchies, {"figure 1": EVERY}),
    _of(NEVER, EXAMPLES, grouped_by(Mondrian, never_splits), {"figure 2": EVERY}),
    _of(RANDOM, EXAMPLES, grouped_by(Mondrian, at_random), {"figure 2": EVERY}),
    _of("salaries are 0", EXAMPLES, synthetic_with(salary=lambda _: 0), {"figure 7": ("every attribute",)}),
    _of(
        "everybody has a commission", EXAMPLES, synthetic_with(commission=lambda _: 20_000),
        {"figure 7": ("no commission",)},
    ),
    _of(
        "the loan is not subtracted", EXAMPLES, synthetic_with(R7=lambda frame: frame["R7"] + 0.2 * frame["loan"]),
        {"figure 7": ("R7 is",)},
    ),
    _of("everybody is in class A", EXAMPLES, synthetic_with(C7=lambda _: "A"), {"figure 7": ("R7 is",)}),
    _of("two methods are swapped", NEEDED, swapped_methods, {"figure 8": EVERY}),
    _of(
        "nothing is held in memory", NEEDED, replaced(rothko, "needed", lambda *_: {"peak GB": 0.0, "cpu s": 0.0}),
        {"figure 8": EVERY},
    ),
    _of("two methods are swapped", THRASHED, thrashing_of(SWAPPED, 1), {"figure 8": EVERY}),
    _of("nothing is swapped", THRASHED, thrashing_of({}, 0), {"figure 8": ("As soon as",)}),
    _of(RANDOM, PROVEN, grouped_by(RothkoTree, at_random), {"section 2": EVERY, "section 2.2": EVERY}),
    _of(NEVER, PROVEN, grouped_by(RothkoTree, never_splits), {"section 2": EVERY, "section 2.2": EVERY}),
    _of(
        "requirements are ignored", PROVEN, run_with(theorems_rothko, "RothkoTree", requirements=(KAnonymity(k=2),)),
        {"section 2": EVERY},
    ),
    _of(
        "always medians", PROVEN, run_with(theorems_rothko, "RothkoTree", split="median", target=None),
        {"section 2": EVERY},
    ),
    _of(
        "regions of the rows present", PROVEN, run_with(theorems_rothko, "RothkoTree", recoding="rows"),
        {"section 2.2": EVERY},
    ),
    _of(RANDOM, PROVEN, grouped_by(RothkoSampling, at_random), {"section 3.2": ("what the sampling",)}),
    _of(NEVER, PROVEN, grouped_by(RothkoSampling, never_splits), {"section 3.2": ("and it cuts",)}),
    _of(
        "every split passes", PROVEN, replaced(confident_checks, "rows_needed", lambda *_: 1), {"section 3.1": EVERY}
    ),
    _of(
        "no split passes", PROVEN, replaced(confident_checks, "rows_needed", lambda k, n, *_: n + 1),
        {"section 3.1": EVERY},
    ),
    _of(
        "the share in the sample is enough", PROVEN,
        replaced(confident_checks, "rows_needed", lambda k, n, population, *_: max(-(-n * k // population), 1)),
        {"section 3.1": EVERY},
    ),
    _of("v is taken for 0", PROVEN, variance_of(0), {"appendix": ("and it is broken",)}),
    _of("v is ten times as large", PROVEN, variance_of(10), {"appendix": ("variance diversity is monotone",)}),
    _of(
        "variance diversity always holds", PROVEN, replaced(theorems_rothko, "_holds", lambda *of: True),
        {"appendix": ("and it is broken",)},
    ),
    _of("rows are counted in a scan of their own", READ, counted_apart, {
        "figure 11": ("For a wide range of sample sizes the table is read",)
    }),
    _of("every sample has 1,000 rows", READ, sampled_with(rothko, 1_000), {"figure 11": EVERY}),
    _of("no cut is confident", READ, no_confident_cut, {
        "figure 11": ("For a wide range of sample sizes the table is read",)
    }),
    _of(NEVER, READ, replaced(rothko_runs, "sampling_parts", undivided), {"figure 11": EVERY}),
    _of("RothkoTree never splits", SCANNED, replaced(rothko_runs, "tree_parts", undivided), {
        "figure 10": EVERY, "figure 12": ("RothkoTree",)
    }),
    _of("RothkoSampling never splits", SCANNED, replaced(rothko_runs, "sampling_parts", undivided), {
        "figure 11": EVERY, "figure 12": ("RothkoSampling reads",)
    }),
    _of("F_CACHE is ignored", SCANNED, run_with(rothko, "RothkoTree", frontier_memory=1e-9), {
        "figure 10": ("Increasing F_CACHE", "As many tables"),
    }),
    _of(NEVER, TIMES, replaced(rothko_runs, "sampling_parts", undivided), MINIMAL),
    _of("k is taken for 1", TIMES, replaced(rothko, "KAnonymity", lambda k: KAnonymity(k=1)), MINIMAL),
    _of("k is ten times as large", TIMES, replaced(rothko, "KAnonymity", lambda k: KAnonymity(k=10 * k)), MINIMAL),
    _of("k is ignored", QUALITY, one_k, quality(BY_K, LARGER, CHOSEN)),
    _of(NEVER, QUALITY, grouped_by(RothkoSampling, never_splits), quality(BY_K, LARGER, CHOSEN)),
    _of(RANDOM, QUALITY, grouped_by(RothkoSampling, at_random), quality(BY_K, CHOSEN)),
    _of("classes by the target", QUALITY, grouped_by(RothkoSampling, by_target), quality(BY_K, LARGER)),
    _of(
        "samples are ignored", QUALITY,
        run_with(rothko_quality, "RothkoSampling", memory_rows=rothko_quality.QUICK_ROWS), quality(BY_K, LARGER),
    ),
    _of(
        "the target is ignored", QUALITY, run_with(rothko_quality, "RothkoSampling", split="median", target=None),
        quality(CHOSEN),
    ),
    _of("without the tests", PRUNING, untested, {"figure 28": (LESS,)}),
    _of("tests and no tests are swapped", PRUNING, tests_reversed, {"figure 28": (LESS,)}),
    _of("no cut is confident", PRUNING, no_confident_cut, {"figure 28": (LESS, DECREASE)}),
    _of("every sample has 100 rows", PRUNING, sampled_with(rothko_quality, 100), {"figure 28": (DECREASE,)}),
    _of("no cut is confident", PRINTED, no_confident_cut, {"figure 28": (LESS, DECREASE, ALIKE)}),
)  # fmt: skip
