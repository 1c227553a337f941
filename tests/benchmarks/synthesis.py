"""Epsilon beside k: marginal synthesis of Adult at several epsilons, and Mondrian, by the costs that all forms share.

Run: python -m tests.benchmarks.synthesis [--epsilon 1] [--attributes 6 14], with the extra dp. Every figure is of one
run; the noise is another one every time.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence

import pandas as pd

from anoncore import Microdata, Release, utility
from anoncore.algorithms import Algorithm, MarginalSynthesis, Mondrian
from anoncore.requirements import KAnonymity
from tests.shared_data import FOLDER

SIX = ("age", "sex", "race", "marital-status", "occupation", "salary-class")
ENDS = {
    "age": (17, 90),
    "hours-per-week": (1, 35, 40, 41, 60, 99),
    "capital-gain": (0, 1, 5_000, 15_000, 100_000),
    "capital-loss": (0, 1, 1_500, 2_500, 5_000),
}
"""Public ranges: those of the questionnaire, with zero and full weeks apart."""
SECRET = "salary-class"


def tagged(names: Sequence[str], frame: pd.DataFrame) -> Microdata:
    """These attributes, all known but the salary class."""
    roles = {name: "sensitive" if name == SECRET else "quasi-identifier" for name in names}
    return Microdata(frame[list(names)], roles)


def figures(release: Release) -> str:
    """Two-way error, median and mean error of counting queries, and the F-measure of a tree beside the original's."""
    queries = utility.query_error(release, 2_000, seed=0)
    learned = utility.classification(release, SECRET)
    return (
        f"two-way {float(utility.two_way_error(release)):.1%}, queries: median {float(queries.median):.1%}, mean "
        f"{float(queries):.1%}, F {float(learned.weighted_f):.3f} (original {float(learned.original.weighted_f):.3f})"
    )


def line(what: str, algorithm: Algorithm, data: Microdata) -> None:
    """Make a release and print what it costs."""
    begin = time.perf_counter()
    release = algorithm.anonymize(data)
    took = time.perf_counter() - begin
    print(f"{len(data.attributes):2} attributes, {what}: {took:.1f} s, {figures(release)}", flush=True)


def main() -> None:
    """Print a line for each release."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epsilon", type=float, nargs="+", default=[1.0])
    parser.add_argument("--attributes", type=int, nargs="+", default=[6, 14])
    parser.add_argument("--bins", type=int, default=16)
    parser.add_argument("--delta", type=float, default=1e-6)
    arguments = parser.parse_args()
    # The weight says nothing of a person, and almost every row has another one.
    frame = pd.read_csv(FOLDER / "adult.csv").drop(columns="fnlwgt")
    for number in arguments.attributes:
        names = (*SIX, *(name for name in frame.columns if name not in SIX))[:number]
        data = tagged(names, frame)
        line("Mondrian by loss, k = 10", Mondrian(requirements=[KAnonymity(k=10)], split="loss"), data)
        ranges = {name: ends for name, ends in ENDS.items() if name in names}
        for epsilon in arguments.epsilon:
            method = MarginalSynthesis(epsilon=epsilon, delta=arguments.delta, bins=arguments.bins, ranges=ranges)
            line(f"epsilon = {epsilon:g}", method, data)


if __name__ == "__main__":
    main()
