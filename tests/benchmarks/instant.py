"""Every measure of how soon an answer stands, by one command: from an empty cache to tables larger than memory.

Run: python -m tests.benchmarks.instant [--only 1 3 6]. The parts are

1. compiling: Mondrian; Anatomy, Slicing and Stack & Deal; all methods and attacks (at most 3, 4 and 12 units)
2. the dashboard's first answers while everything is compiled (server within 4 s, upload judged within 30 s)
3. the foreground-knowledge attack on Adult with 10 quasi-identifiers (at most 3 s for a release)
4. the F-measure of four releases of Adult by a tree and naive Bayes, 10 folds (at most 15 s)
5. the search for a method on Adult, and Incognito with 12 quasi-identifiers (at most 30 and 20 s)
6. Stack & Deal with locality and microaggregation (at most 0.5 s on Adult, 8 s for 1,000,000 rows)
7. the end of a server that is told to end
8. Mondrian in memory beside one pass over the same bytes, and Rothko on 50,000,000 rows (25 s, 1 GB)

Parts 3 and 4 are measured here, once everything that they need is compiled; the others are commands of their own that
this one calls. Part 8 writes 5 GB to a temporary folder and removes them.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable

from anoncore import attacks, utility
from anoncore.algorithms import Algorithm, Anatomy, Mondrian, Slicing, StackAndDeal
from anoncore.release.release import Release
from anoncore.requirements import KAnonymity
from tests.benchmarks.search import TWELVE, adult

SECRET = "occupation"
KNOWN = tuple(name for name in TWELVE if name not in (SECRET, "education-num"))
METHODS: dict[str, Algorithm] = {
    "Mondrian, k = 10": Mondrian(requirements=(KAnonymity(k=10),)),
    "Anatomy, l = 5": Anatomy(l=5),
    "Slicing, l = 3": Slicing(l=3, sensitive_column_size=1),
    "Stack & Deal, k = 10": StackAndDeal(k=10, seed=0),
}
"""The four releases of Adult that are attacked and learned from."""


def told(what: str, work: Callable[[], object]) -> None:
    """Do the work and print what it took."""
    wall, processor = time.perf_counter(), time.process_time()
    work()
    wall, processor = time.perf_counter() - wall, time.process_time() - processor
    print(f"  {what:<44} {wall:>7.2f} s, {processor:>7.2f} s of CPU", flush=True)


def each_release(work: Callable[[Release], object]) -> None:
    """Do the work for all four releases of Adult, twice for each: the first time may compile and is not counted."""
    data = adult(KNOWN, SECRET)
    for name, model in METHODS.items():
        release = model.anonymize(data)
        work(release)
        told(name, lambda release=release: work(release))  # type: ignore[misc]


def attack(release: Release) -> object:
    """The foreground-knowledge attack with all sets of attributes."""
    return attacks.foreground_knowledge(release, attribute=SECRET)


def learn(release: Release) -> object:
    """F-measures of both classifiers."""
    return [utility.classification(release, SECRET, kind, folds=10, repeats=1) for kind in ("tree", "naive-bayes")]


def command(*arguments: str) -> None:
    """Run a module of Python in a process of its own, which prints what it measures."""
    done = subprocess.run([sys.executable, "-m", *arguments], check=False)
    if done.returncode:
        print(f"  {arguments[0]} ended with {done.returncode}", flush=True)


def on_disk() -> None:
    """Mondrian in memory, and Rothko on a table that memory need not hold."""
    command("tests.benchmarks.memory")
    with tempfile.TemporaryDirectory(prefix="anoncore-instant-") as folder:
        command("tests.benchmarks.rothko", "--rows", "50000000", "--k", "1000", "--folder", f"{folder}/rothko")


PARTS: dict[int, tuple[str, Callable[[], None]]] = {
    1: (
        "Compiling",
        lambda: command(
            "tests.benchmarks.compiling",
            *("--only", "mondrian", "anatomy, slicing, stack-and-deal", "all methods and attacks"),
        ),
    ),
    2: ("The dashboard's first answers", lambda: command("tests.benchmarks.first_start")),
    3: ("The foreground-knowledge attack", lambda: each_release(attack)),
    4: ("F-measures of a tree and naive Bayes", lambda: each_release(learn)),
    5: ("Searches", lambda: command("tests.benchmarks.search")),
    6: ("Neighbouring rows", lambda: command("tests.benchmarks.groups", "--rows", "1000000")),
    7: (
        "The end of a server",
        lambda: command("pytest", "-n", "0", "-q", "--durations", "0", "tests/dashboard/test_ending.py", "-m", ""),
    ),
    8: ("Large tables", on_disk),
}
"""What is measured, by number: a title and what to do."""


def main() -> None:
    """Measure the parts that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", type=int, nargs="+", choices=sorted(PARTS), default=sorted(PARTS), help="these parts")
    for number in parser.parse_args().only:
        title, work = PARTS[number]
        print(f"{number}. {title} (load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors)", flush=True)
        work()


if __name__ == "__main__":
    main()
