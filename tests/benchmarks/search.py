"""Choosing a method on Adult by targets, and Incognito's search with many quasi-identifiers.

Run: python -m tests.benchmarks.search [--plain]. Wanted on two cores: a first release that keeps every target within
5 s, the cheapest one within 30 s, the best releases once more refined included, and Incognito with 12 quasi-identifiers
within 20 s. With `--plain` every candidate is also made and measured by itself, which takes minutes, and the answer of
the search without refining has to be the same. Times are those of a second run: compiling does not count.
"""

from __future__ import annotations

import argparse
import time

from anoncore import Microdata, datasets
from anoncore.algorithms import Algorithm, Incognito
from anoncore.datasets.public import data_folder
from anoncore.requirements import KAnonymity, TCloseness
from anoncore.search.sweeping import Point, measure
from anoncore.search.targets import Search, Target, default_candidates, search
from anoncore.table.hierarchy_files import read_hierarchy

KNOWN = ("age", "workclass", "education", "marital-status", "race", "sex")
SECRET = "occupation"
TARGETS = (Target("k", 10), Target("t", 0.3))
SPARED = "two-way-error"
TWELVE = (
    "age",
    "workclass",
    "education",
    "marital-status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "native-country",
    "salary-class",
    "hours-per-week",
    "education-num",
)
WITH_FILE = [name for name in TWELVE if name not in ("relationship", "hours-per-week", "education-num")]


def adult(known: tuple[str, ...], secret: str | None = None, hierarchies: bool = False) -> Microdata:
    """Adult with these quasi-identifiers; `hierarchies`: with those that ARX ships for it."""
    entry = datasets.table("adult")
    roles = dict.fromkeys(entry.roles, "insensitive")
    roles |= {name: "quasi-identifier" for name in known if name != secret}
    if secret is not None:
        roles[secret] = "sensitive"
    if not hierarchies:
        return Microdata(entry.load(), roles, entry.kinds, entry.orders)
    # These hierarchies have an order of their own, in which the values of a group stand together.
    folder = data_folder() / "hierarchies"
    files = {name: read_hierarchy(folder / f"adult_hierarchy_{name}.csv") for name in WITH_FILE}
    return Microdata(entry.load(), roles, hierarchies=files)


def choose(data: Microdata, tried: tuple[Algorithm, ...] | None) -> tuple[Search, float, float]:
    """One search, the seconds until a release kept every target, and those until the answer; by default with the best
    releases once more refined.
    """
    begin = time.perf_counter()
    good: list[float] = []
    found = search(data, TARGETS, SPARED, tried, better=lambda _: good.append(time.perf_counter() - begin))
    return found, min(good, default=float("nan")), time.perf_counter() - begin


def choosing(plain: bool) -> None:
    """Print the time of a search over all methods."""
    data = adult(KNOWN, SECRET)
    tried = default_candidates(data, TARGETS)
    for algorithm in {one.name: one for one in tried}.values():
        measure(data, algorithm, [*(target.criterion for target in TARGETS), SPARED])
    choose(data, None)
    for what, candidates in (("alone", tried), ("and the best of them refined", None)):
        found, first, whole = choose(adult(KNOWN, SECRET), candidates)
        assert found.best is not None
        print(
            f"Choose, {len(found.points)} releases of {len({one.name for one in tried})} methods {what}: first good "
            f"one {first:.1f} s, answer {whole:.1f} s ({found.best.algorithm.title}, {found.best.values[SPARED]:.3f})"
        )
    if not plain:
        return
    begin = time.perf_counter()
    names = [*(target.criterion for target in TARGETS), SPARED]
    points: list[Point] = [measure(data, one, names) for one in tried]
    seconds = time.perf_counter() - begin
    every = Search(TARGETS, SPARED, tuple(points))
    found, _, whole = choose(data, tried)
    assert every.best is not None
    assert found.best is not None
    assert every.best.algorithm == found.best.algorithm
    print(f"Every release by itself, one after the other: {seconds:.1f} s, {seconds / whole:.1f} times as long")


def lattices() -> None:
    """Print the times of Incognito's searches with 12 quasi-identifiers."""
    k = KAnonymity(k=10)
    cases = {
        "12 attributes without hierarchies": (adult(TWELVE), Incognito(requirements=(k,))),
        "9 of 12 attributes with hierarchies": (adult(TWELVE, hierarchies=True), Incognito(requirements=(k,))),
        "the same, up to 5 % suppressed": (
            adult(TWELVE, hierarchies=True),
            Incognito(requirements=(k,), max_suppression=0.05),
        ),
        "the same, occupation secret, t = 0.3": (
            adult(TWELVE, SECRET, hierarchies=True),
            Incognito(requirements=(k, TCloseness(t=0.3, ground="equal"))),
        ),
    }
    Incognito(requirements=(k,)).search(adult(KNOWN))
    for name, (data, model) in cases.items():
        begin = time.perf_counter()
        found = model.search(data)
        seconds = time.perf_counter() - begin
        looked = found.n_checked + found.n_checked_parts
        print(f"Incognito, {name}: {seconds:.2f} s, {looked:,} of {found.n_nodes:,} combinations looked at")


def main() -> None:
    """Print all times."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--plain", action="store_true", help="also make and measure every candidate by itself")
    arguments = parser.parse_args()
    lattices()
    choosing(arguments.plain)


if __name__ == "__main__":
    main()
