"""How our own time grows: over rows, quasi-identifiers, k, classes and sensitive values."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from anoncore import Hierarchy, Microdata, Partition
from anoncore.algorithms import Algorithm, LocalRecoding, Mondrian
from anoncore.requirements import EntropyDiversity, KAnonymity, TCloseness
from anoncore.utility import information_loss

QUASI = ["age", "workclass", "education", "marital-status", "occupation", "race", "sex", "native-country"]
Table = tuple[str, list[str], list[list[str]]]


def cpu_seconds(work: Callable[[], object], repeats: int) -> str:
    """Median CPU time of some runs after one warm-up, with their range."""
    work()
    times = []
    for _ in range(repeats):
        began = time.process_time()
        work()
        times.append(time.process_time() - began)
    return f"{statistics.median(times):.3g} ({min(times):.3g}-{max(times):.3g})"


def curves(folder: Path, repeats: int) -> Iterator[Table]:
    """Title, header and lines of each curve."""
    adult = pd.read_csv(folder / "adult.csv", keep_default_na=False)
    trees = {
        name: Hierarchy.from_table(
            pd.read_csv(folder / "hierarchies" / f"adult_hierarchy_{name}.csv", header=None, keep_default_na=False)
        )
        for name in QUASI
    }
    cases = [(f"{n:,} rows", n, 7, 10) for n in (10_000, 30_000, 100_000, 300_000, 1_000_000)]
    cases += [(f"{d} quasi-identifiers", 100_000, d, 10) for d in (2, 4, 6, 8)]
    cases += [(f"k = {k}", 100_000, 7, k) for k in (2, 5, 20, 50, 200)]
    header = ["100,000 rows, 7 quasi-identifiers, k = 10, but", "method", "CPU s", "classes", "loss"]
    yield "Our own curves: anonymization", header, list(_anonymizations(adult, trees, cases, repeats))
    yield "Our own curves: checks on 1,000,000 rows", ["classes", "values", "check", "CPU s"], list(_checks(repeats))
    header = ["sensitive values", "requirement", "CPU s", "classes"]
    yield "Our own curves: Mondrian over sensitive values (100,000 rows)", header, list(_sensitive(adult, repeats))


def _anonymizations(
    adult: pd.DataFrame, trees: dict[str, Hierarchy], cases: list[tuple[str, int, int, int]], repeats: int
) -> Iterator[list[str]]:
    for label, n_rows, n_attributes, k in cases:
        frame = adult.iloc[np.random.default_rng(0).integers(0, len(adult), n_rows)]
        names = QUASI[:n_attributes]
        roles = dict.fromkeys(names, "quasi-identifier")
        plain = Microdata(frame[names], roles=roles)
        with_trees = Microdata(frame[names], roles=roles, hierarchies={name: trees[name] for name in names})
        wanted = [KAnonymity(k=k)]
        runs: list[tuple[str, Algorithm, Microdata]] = [
            ("Mondrian, median", Mondrian(requirements=wanted), plain),
            ("Mondrian, loss", Mondrian(requirements=wanted, split="loss"), plain),
            ("Local recoding", LocalRecoding(requirements=wanted), with_trees),
        ]
        for method, model, data in runs:
            release = model.anonymize(data)
            took = cpu_seconds(lambda model=model, data=data: model.anonymize(data), repeats)  # type: ignore[misc]
            yield [label, method, took, f"{release.partition.n_groups:,}", f"{float(information_loss(release)):.4f}"]


def _checks(repeats: int) -> Iterator[list[str]]:
    rng = np.random.default_rng(0)
    n_rows = 1_000_000
    for n_groups, n_values in ((100, 100), (10_000, 100), (200_000, 100), (10_000, 2), (10_000, 10), (10_000, 1_000)):
        group = np.append(np.arange(n_groups), rng.integers(0, n_groups, n_rows - n_groups))
        frame = pd.DataFrame({"secret": rng.integers(0, n_values, n_rows)})
        data = Microdata(frame, roles={"secret": "sensitive"})
        for check in (EntropyDiversity(l=2), TCloseness(t=0.2, ground="ordered"), TCloseness(t=0.2, ground="equal")):
            one = check.checks(data)[0]
            took = cpu_seconds(lambda one=one, group=group: one.levels(Partition(group)), repeats)  # type: ignore[misc]
            yield [f"{n_groups:,}", f"{n_values:,}", check.label(), took]


def _sensitive(adult: pd.DataFrame, repeats: int) -> Iterator[list[str]]:
    rng = np.random.default_rng(0)
    frame = adult.iloc[rng.integers(0, len(adult), 100_000)][QUASI[:7]].reset_index(drop=True)
    for n_values in (2, 10, 100, 1_000):
        frame["secret"] = rng.integers(0, n_values, len(frame))
        data = Microdata(frame, roles={**dict.fromkeys(QUASI[:7], "quasi-identifier"), "secret": "sensitive"})
        for wanted in (EntropyDiversity(l=1.5), TCloseness(t=0.3, ground="ordered")):
            model = Mondrian(requirements=[KAnonymity(k=10), wanted])
            release = model.anonymize(data)
            took = cpu_seconds(lambda model=model, data=data: model.anonymize(data), repeats)  # type: ignore[misc]
            yield [f"{n_values:,}", wanted.label(), took, f"{release.partition.n_groups:,}"]
