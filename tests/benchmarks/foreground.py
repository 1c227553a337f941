"""The foreground-knowledge attack on Adult: time to mine, against enumeration, of count queries; the defence.

Run: python -m tests.benchmarks.foreground. Times are CPU seconds, wall seconds in brackets.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from itertools import combinations
from math import comb
from pathlib import Path
from typing import TypeVar

import numpy as np
import pandas as pd

from anoncore import Fragment, InfeasibleError, Microdata, Release, attacks
from anoncore.algorithms import Anatomy, ForegroundSafe, Incognito, Injector, Mask, Mondrian, Slicing
from anoncore.algorithms.base import Algorithm
from anoncore.attacks import group_probabilities
from anoncore.release.recoding import Exact
from anoncore.requirements import KAnonymity, TCloseness
from anoncore.table.hierarchy_files import read_hierarchy
from anoncore.utility import query_error

DATA = Path(__file__).parents[3] / "shared" / "data"
QUASI = ["age", "workclass", "marital-status", "occupation", "race", "sex", "native-country", "salary-class"]
SENSITIVE = "education"
LOW = {"Preschool", "1st-4th", "5th-6th", "7th-8th"}
LONGEST = 10.0
"""Seconds after which enumeration is not tried on a larger group."""

T = TypeVar("T")


def timed(work: Callable[[], T]) -> tuple[T, float, str]:
    """The result, its CPU seconds, and both times as text."""
    cpu, wall = time.process_time(), time.perf_counter()
    result = work()
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    return result, cpu, f"{cpu:7.3f} s ({wall:.3f})"


def microdata(frame: pd.DataFrame, q: int) -> Microdata:
    """Adult with the first q quasi-identifiers, the low educations protected, and ARX's hierarchies."""
    names = QUASI[:q]
    return Microdata(
        frame[[*names, SENSITIVE]],
        roles=dict.fromkeys(names, "quasi-identifier") | {SENSITIVE: "sensitive"},
        sensitive_values={SENSITIVE: LOW},
        hierarchies={name: read_hierarchy(DATA / "hierarchies" / f"adult_hierarchy_{name}.csv") for name in names},
    )


def mining(adult: pd.DataFrame) -> None:
    """All attribute sets mined and everyone's probability, on releases of Anatomy and of t-closeness."""
    print("Attack on the whole release: every attribute set and everyone's largest p(t:x)")
    for q, limit in ((5, 3), (8, 20)):
        data = microdata(adult, q)
        closeness = Incognito(requirements=(TCloseness(t=0.2, ground="equal"),))
        for model, r in ((Anatomy(l=2, seed=1), 2), (Anatomy(l=10, seed=1), 10), (closeness, 2)):
            release = model.anonymize(data)
            for reading in ("overall", "uniform"):
                for solver in ("fixed-point", "newton") if model is not closeness else ("fixed-point",):
                    found, _, text = timed(
                        lambda release=release, r=r, reading=reading, solver=solver: attacks.foreground_knowledge(
                            release, SENSITIVE, r=r, epsilon=0.01, unreliable=reading, solver=solver, draws=0
                        )
                    )
                    aim = f", wanted below {limit} s" if r == 2 and isinstance(model, Anatomy) else ""
                    print(
                        f"  QI size {q}, {model.title}, r = {r}, {reading}, {solver}: {found.n_sets} attribute sets "
                        f"{text}{aim}{'' if found.converged else ', NOT CONVERGED'}"
                    )


def enumerated(f: Sequence[float], n: int) -> list[float]:
    """p(t:x) by the definition: every possible world, one by one."""
    total, with_x = 0.0, [0.0] * len(f)
    everyone_else = 1.0
    for one in f:
        everyone_else *= 1 - one
    odds = [one / (1 - one) for one in f]
    for people in combinations(range(len(f)), n):
        weight = everyone_else
        for person in people:
            weight *= odds[person]
        total += weight
        for person in people:
            with_x[person] += weight
    return [one / total for one in with_x]


def beside_enumeration() -> None:
    """One group of N people with 5 N / 12 x, by polynomials and by enumeration until that takes too long."""
    print("\nOne group of people who all look different, by polynomials and by enumeration")
    last = 0.0
    for size in (6, 12, 16, 20, 23, 24, 28, 32, 36, 48, 60, 240, 1_000):
        n = 8 if size == 23 else round(size * 25 / 60)
        f = np.random.default_rng(size).uniform(0.01, 0.6, size)
        found, _, _ = timed(lambda f=f, n=n: [group_probabilities(f, n) for _ in range(20)])
        _, cpu, _ = timed(lambda f=f, n=n: [group_probabilities(f, n) for _ in range(20)])
        line = f"  N = {size:>5}, n = {n:>3}: {comb(size, n):.3g} worlds, polynomials {cpu / 20 * 1000:.3f} ms"
        if last * comb(size, n) < LONGEST:
            worlds, seconds, _ = timed(lambda f=f, n=n: enumerated(f.tolist(), n))
            last = seconds / comb(size, n)
            far = float(np.abs(np.array(worlds) - found[0]).max())
            line += f", enumeration {seconds * 1000:,.1f} ms, largest difference {far:.1e}"
        else:
            line += f", enumeration would take {last * comb(size, n) / 3600:,.3g} h"
        print(line)


def fragmented(release: Release) -> Release:
    """The people of an Anatomy release in three vertical fragments with a shared partition."""
    data, partition = release.data, release.partition
    names = list(data.quasi_identifiers)
    parts = [names[:2], names[2:], [SENSITIVE]]
    recodings = [{name: Exact(data.domain[name], partition, data.codes[name]) for name in part} for part in parts]
    return Release(data, tuple(Fragment(f"part {i}", partition, one) for i, one in enumerate(recodings)))


def queries(adult: pd.DataFrame) -> None:
    """10,000 count queries on each form of release."""
    print("\n10,000 count queries, wanted below 10 s")
    data = microdata(adult, 5)
    anatomy = Anatomy(l=2, seed=1).anonymize(data)
    slicing = Slicing(l=2, columns=3, diversity="distinct", sensitive_column_size=2)
    models: dict[str, Algorithm] = {
        "bucketization (Injector)": Injector(l=2, seed=1),
        "bucketization (ForegroundSafe)": ForegroundSafe(l=2, epsilon=0.01, seed=1),
        "generalization to regions (Mondrian)": Mondrian(requirements=(KAnonymity(k=5),)),
        "generalization with distortion (Mask)": Mask(k=2, l=2, seed=1),
        "full-domain generalization (Incognito)": Incognito(requirements=(TCloseness(t=0.2, ground="equal"),)),
        "slicing": slicing,
    }
    releases = {"bucketization (Anatomy)": anatomy, "vertical fragments": fragmented(anatomy)}
    for name, model in models.items():
        releases[name] = model.anonymize(data)
    for name, release in releases.items():
        error, _, text = timed(lambda release=release: query_error(release))
        print(f"  {name}: {text}, mean error {error.mean:.4f}, median {error.median:.4f}")


def defence(adult: pd.DataFrame) -> None:
    """ForegroundSafe beside Anatomy."""
    print("\nForegroundSafe beside Anatomy, under the same attack with r = l")
    for q in (5, 8):
        data = microdata(adult, q)
        for l in (2, 4, 10):
            models = (
                Anatomy(l=l, seed=1),
                ForegroundSafe(l=l, epsilon=0.01, seed=1),
                ForegroundSafe(l=l, epsilon=0.01, unreliable="both", seed=1),
            )
            for model in models:
                name = model.title + (", either reading" if getattr(model, "unreliable", "") == "both" else "")
                begin = time.process_time()
                try:
                    release, _, text = timed(lambda model=model, data=data: model.anonymize(data))
                except InfeasibleError as error:
                    print(f"  QI size {q}, l = {l}, {name} ({time.process_time() - begin:.2f} s): {error}")
                    continue
                overall, uniform = (
                    attacks.foreground_knowledge(release, SENSITIVE, r=l, epsilon=0.01, unreliable=reading, draws=0)
                    for reading in ("overall", "uniform")
                )
                error = query_error(release)
                print(
                    f"  QI size {q}, l = {l}, {name}: {text}, recall {overall.recall:.4f} (uniform "
                    f"{uniform.recall:.4f}), flagged {overall.flagged:.4f}, mean p {overall.mean_probability:.4f}, "
                    f"mean group {release.partition.sizes.mean():.3f}, largest {release.partition.sizes.max()}, query "
                    f"error {error.mean:.4f} (median {error.median:.4f})"
                )


def main() -> None:
    """Print the whole benchmark."""
    adult = pd.read_csv(DATA / "adult.csv")
    warm = Anatomy(l=2, seed=1).anonymize(microdata(adult.iloc[:9_000], 2))
    for solver in ("fixed-point", "newton"):
        attacks.foreground_knowledge(warm, SENSITIVE, epsilon=0.01, solver=solver, draws=0)
    beside_enumeration()
    mining(adult)
    queries(adult)
    defence(adult)


if __name__ == "__main__":
    main()
