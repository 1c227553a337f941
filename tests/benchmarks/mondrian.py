"""Mondrian on Adult: time over rows, every requirement, and information loss, beside a peer from PyPI.

Run: python -m tests.benchmarks.mondrian [--peer]. `--peer` adds anonypy 0.2.1 (pip install anonypy), about a minute.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

from anoncore import Hierarchy, Microdata, Release
from anoncore.algorithms import Algorithm, LocalRecoding, Mondrian
from anoncore.requirements import (
    DistinctDiversity,
    EntropyDiversity,
    FrequencyDiversity,
    KAnonymity,
    RecursiveDiversity,
    Requirement,
    TCloseness,
    VarianceDiversity,
)
from anoncore.utility import information_loss

DATA = Path(__file__).parents[3] / "shared" / "data"
QUASI = ["age", "workclass", "education", "marital-status", "occupation", "race", "sex"]
ARX_QUASI = ["sex", "age", "race", "marital-status", "education", "native-country", "workclass", "salary-class"]


def seconds(work: Callable[[], object], repeats: int = 5) -> float:
    """Median wall time after one warm-up run."""
    work()
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        work()
        times.append(time.perf_counter() - begin)
    return statistics.median(times)


def fresh_run(model: Algorithm, data: Microdata) -> Release:
    """One run that may not reuse what an earlier one left with the table."""
    data.__dict__.pop("content_words", None)
    return model.anonymize(data)


def hierarchy(name: str) -> Hierarchy:
    path = DATA / "hierarchies" / f"adult_hierarchy_{name}.csv"
    return Hierarchy.from_table(pd.read_csv(path, header=None, keep_default_na=False))


def over_rows(adult: pd.DataFrame) -> float:
    """Time over bootstrapped rows (age +-2); returns the time of the original table."""
    rng = np.random.default_rng(0)
    model = Mondrian(requirements=[KAnonymity(k=10)])
    times: dict[int, float] = {}
    for n in (len(adult), 100_000, 1_000_000):
        frame = adult
        if n != len(adult):
            frame = adult.iloc[rng.integers(0, len(adult), n)].reset_index(drop=True)
            frame["age"] += rng.integers(-2, 3, n)
        data = Microdata(frame, roles={**dict.fromkeys(QUASI, "quasi-identifier"), "salary-class": "sensitive"})
        times[n] = seconds(lambda data=data: fresh_run(model, data))  # type: ignore[misc]
        groups = model.anonymize(data).partition.n_groups
        print(f"median, k = 10, {n:>9,} rows: {times[n]:.3f} s, {groups:,} classes")
    print(f"growth from 100,000 to 1,000,000 rows: {times[1_000_000] / times[100_000]:.1f}x")
    return times[len(adult)]


def over_requirements(adult: pd.DataFrame) -> None:
    """Every requirement, with occupation or hours-per-week as the sensitive attribute."""
    job, hours = "occupation", "hours-per-week"
    names = [name for name in QUASI if name != job]
    roles = {**dict.fromkeys(names, "quasi-identifier"), job: "sensitive", hours: "sensitive"}
    data = Microdata(adult, roles=roles, hierarchies={job: hierarchy(job)})
    k = KAnonymity(k=10)
    cases: list[list[Requirement]] = [
        [k],
        [DistinctDiversity(l=5, attribute=job)],
        [FrequencyDiversity(l=4, attribute=job)],
        [EntropyDiversity(l=5, attribute=job)],
        [RecursiveDiversity(c=2, l=3, attribute=job)],
        [TCloseness(t=0.2, ground="equal", attribute=job)],
        [TCloseness(t=0.2, ground="hierarchical", attribute=job)],
        [TCloseness(t=0.2, ground="ordered", attribute=hours)],
        [VarianceDiversity(v=60, attribute=hours)],
        [k, EntropyDiversity(l=4, attribute=job), TCloseness(t=0.2, ground="ordered", attribute=hours)],
    ]
    for requirements in cases:
        for split in ("median", "loss"):
            model = Mondrian(requirements=requirements, split=split)
            took = seconds(lambda model=model: fresh_run(model, data), 3)  # type: ignore[misc]
            label = ", ".join(requirement.label() for requirement in requirements)
            print(f"{split:>6}: {took:.3f} s, {model.anonymize(data).partition.n_groups:,} classes: {label}")


def over_losses(adult: pd.DataFrame) -> None:
    """Information loss per cell of ranges and value sets, beside what ARX's local recoding reaches in nodes."""
    orders = {name: hierarchy(name).leaves for name in ARX_QUASI if name != "age"}
    data = Microdata(adult.head(30_162), roles=dict.fromkeys(ARX_QUASI, "quasi-identifier"), orders=orders)
    for k, arx in ((5, 0.0403), (10, 0.0536)):
        for split in ("median", "loss"):
            model = Mondrian(requirements=[KAnonymity(k=k)], split=split)
            loss = information_loss(model.anonymize(data))
            took = seconds(lambda model=model: fresh_run(model, data))  # type: ignore[misc]
            print(f"{split:>6}, k = {k:>2}: loss {loss:.4f} in {took:.3f} s (ARX 3.9.2 local recoding: {arx} in nodes)")


def over_losses_in_nodes(adult: pd.DataFrame) -> None:
    """Information loss per cell where values are published as nodes of ARX's hierarchies only, age too."""
    trees = {name: hierarchy(name) for name in ARX_QUASI}
    data = Microdata(adult.head(30_162), roles=dict.fromkeys(ARX_QUASI, "quasi-identifier"), hierarchies=trees)
    for k, arx in ((5, 0.0403), (10, 0.0536)):
        wanted = [KAnonymity(k=k)]
        for label, model in (
            ("local recoding", LocalRecoding(requirements=wanted)),
            ("local recoding, one path", LocalRecoding(requirements=wanted, most_nodes=0)),
            ("Mondrian, loss", Mondrian(requirements=wanted, split="loss")),
        ):
            loss = information_loss(model.anonymize(data))
            took = seconds(lambda model=model: fresh_run(model, data))  # type: ignore[misc]
            print(f"{label}, k = {k:>2}: loss {loss:.4f} in nodes in {took:.3f} s (ARX 3.9.2 local recoding: {arx})")


def beside_peer(adult: pd.DataFrame, ours: float) -> None:
    """anonypy's Mondrian on the same table."""
    import anonypy

    frame = adult[[*QUASI, "salary-class"]].copy()
    for name in frame.columns.difference(["age"]):
        frame[name] = frame[name].astype("category")
    begin = time.perf_counter()
    rows = anonypy.Preserver(frame, QUASI, "salary-class").anonymize_k_anonymity(k=10)
    theirs = time.perf_counter() - begin
    print(
        f"anonypy 0.2.1, {len(adult):,} rows: {theirs:.1f} s, {len(rows):,} lines; ours is {theirs / ours:,.0f}x faster"
    )


def main() -> None:
    """Print the whole benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peer", action="store_true", help="also time anonypy 0.2.1")
    arguments = parser.parse_args()
    if not DATA.exists():
        raise SystemExit("The data folder ../shared/data is absent; the benchmark needs its adult.csv.")
    adult = pd.read_csv(DATA / "adult.csv")
    ours = over_rows(adult)
    over_requirements(adult)
    over_losses(adult)
    over_losses_in_nodes(adult)
    if arguments.peer:
        beside_peer(adult, ours)


if __name__ == "__main__":
    main()
