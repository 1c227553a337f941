"""How often the 95 % interval of an estimate holds the exact number, how wide it is, and what it costs.

Run: python -m tests.benchmarks.estimates [--tables adult,some,census,large,heart] [--methods mondrian,...]. Wanted: at
least 90 of 100. Every method is asked for five combinations of k, l and t, and what is impossible is left out.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from anoncore import AnonymizationError, Microdata, Release, attacks, utility
from anoncore.base import Estimate
from anoncore.datasets.census import load_census
from anoncore.kernels.rounding import ACCUMULATED, lies_above
from anoncore.search.keeping import keeping, possible_instead

DATA = Path(__file__).parents[3] / "shared" / "data"
ADULT = ["age", "workclass", "education", "marital-status", "race", "sex", "native-country", "salary-class"]
ADULT += ["hours-per-week", "capital-gain"]
OTHERS = ["age", "workclass", "occupation", "marital-status", "relationship", "race", "sex", "native-country"]
OTHERS += ["hours-per-week"]
CENSUS = ["age", "workclass", "education", "marital-status", "race", "sex", "native-country", "hours-per-week"]
HEART = ["age", "sex", "trestbps", "chol", "fbs", "thalach", "exang"]
METHODS = ("mondrian", "anatomy", "slicing", "stack-and-deal", "incognito", "injector", "random-buckets", "sabre")
LEVELS: tuple[dict[str, float], ...] = (
    {"k": 10.0, "l": 3.0},
    {"k": 5.0, "l": 2.0},
    {"k": 25.0, "l": 4.0},
    {"k": 10.0, "t": 0.3},
    {"k": 10.0, "l": 3.0, "t": 0.2},
)
BOUNDS = (2.0, 3.0, 5.0)
EPSILON = 0.01
LARGEST_LATTICE = 8
"""Attributes from which Incognito takes too long."""


@dataclass(frozen=True)
class Case:
    """One exact number and its estimate, with the CPU seconds of both."""

    measure: str
    name: str
    exact: float
    estimate: Estimate
    seconds: tuple[float, float]

    @property
    def holds(self) -> bool:
        """Whether the interval holds the exact number, but for rounding."""
        return self.estimate.low - 1e-9 <= self.exact <= self.estimate.high + 1e-9


def tagged(frame: pd.DataFrame, known: list[str], secret: str) -> Microdata:
    return Microdata(frame[[*known, secret]], dict.fromkeys(known, "quasi-identifier") | {secret: "sensitive"})


def tables(wanted: list[str]) -> Iterator[tuple[str, Microdata]]:
    """The tables that are asked for."""
    adult = pd.read_csv(DATA / "adult.csv", skipinitialspace=True).dropna()
    if "adult" in wanted:
        yield "Adult", tagged(adult, ADULT, "occupation")
    if "some" in wanted:
        some = adult.sample(25_000, random_state=1)
        yield "25,000 of Adult", tagged(some, OTHERS, "education")
    if "census" in wanted:
        frame = load_census()
        yield "Census-like", tagged(frame, CENSUS, "diagnosis")
    if "large" in wanted:
        yield "Census-like, 250,000", tagged(load_census(250_000), CENSUS, "diagnosis")
    if "heart" in wanted:
        yield "Heart", tagged(pd.read_csv(DATA / "heart.csv"), HEART, "cp")


def releases(wanted: list[str], methods: list[str]) -> Iterator[tuple[str, Release]]:
    """Releases of all tables that the methods can make, with a name."""
    for table, data in tables(wanted):
        for method in methods:
            if method == "incognito" and len(data.quasi_identifiers) > LARGEST_LATTICE:
                continue
            for level in LEVELS:
                name = f"{table}, {method}, " + " ".join(f"{axis} {value:g}" for axis, value in level.items())
                try:
                    algorithm = keeping(method, {}, level, (), data)
                    algorithm = possible_instead(algorithm, data) or algorithm
                    seeded = {"seed": 1} if "seed" in type(algorithm).model_fields else {}
                    release = algorithm.replace(**seeded).anonymize(data)
                except AnonymizationError as error:
                    print(f"{name}: {str(error)[:80]}", flush=True)
                    continue
                yield name, release


def timed(work: Callable[[], Estimate]) -> tuple[Estimate, float]:
    begin = time.process_time()
    return work(), time.process_time() - begin


def given(name: str, release: Release, seed: int) -> Iterator[Case]:
    """The breach for several r: one exact attack tells them all."""
    (secret,) = release.data.sensitive
    begin = time.process_time()
    own = attacks.foreground_knowledge(release, secret, epsilon=EPSILON, draws=0).own_probability
    seconds = time.process_time() - begin
    own = own[~np.isnan(own)]
    for r in BOUNDS:
        found, cost = timed(lambda r=r: attacks.foreground_knowledge_estimate(release, secret, r, EPSILON, seed=seed))  # type: ignore[misc]
        exact = float(lies_above(own, 1 / r, ACCUMULATED).mean())
        yield Case("given away", f"{name}, r {r:g}", exact, found, (cost, seconds))


def useful(name: str, release: Release, seed: int) -> Iterator[Case]:
    """The weighted F of a tree that predicts the secret, and of one that predicts what is known to others."""
    for target in (release.data.sensitive[0], "marital-status" if "marital-status" in release.attributes else "sex"):
        begin = time.process_time()
        exact = utility.classification(release, target, seed=seed).weighted_f
        seconds = time.process_time() - begin
        found, cost = timed(lambda target=target: utility.classification_estimate(release, target, seed=seed))  # type: ignore[misc]
        yield Case("still useful", f"{name}, {target}", exact, found, (cost, seconds))


def told(cases: list[Case], measure: str) -> str:
    """One line on all cases of a measure in which something was left to guess."""
    guessed = [one for one in cases if one.measure == measure and not one.estimate.is_exact]
    exact = [one for one in cases if one.measure == measure and one.estimate.is_exact]
    if not guessed:
        return f"{measure}: all {len(exact)} exact"
    half = np.array([(one.estimate.high - one.estimate.low) / 2 for one in guessed])
    error = np.array([abs(one.estimate.value - one.exact) for one in guessed])
    cost, whole = np.median([one.seconds for one in guessed], axis=0)
    return (
        f"{measure}: the interval holds {sum(one.holds for one in guessed)} of {len(guessed)}; half of its width is "
        f"{100 * np.median(half):.1f} points (nine of ten: {100 * np.quantile(half, 0.9):.1f}), the error "
        f"{100 * np.median(error):.1f}; CPU {cost:.2f} s for {whole:.2f} s. Exact at once: "
        f"{sum(one.holds for one in exact)} of {len(exact)} right"
    )


def main() -> None:
    """Print every case, and the sums."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--tables", default="adult,some,census,large,heart")
    parser.add_argument("--methods", default=",".join(METHODS))
    asked = parser.parse_args()
    cases: list[Case] = []
    for number, (name, release) in enumerate(releases(asked.tables.split(","), asked.methods.split(","))):
        for of in (given, useful):
            try:
                for case in of(name, release, number):
                    cases.append(case)
                    found, sign = case.estimate, "" if case.holds else "  MISSED"
                    print(
                        f"{case.measure}: {case.name}: {case.exact:.4f}, {found.value:.4f} ({found.low:.4f} to "
                        f"{found.high:.4f}) {found.how}; CPU {case.seconds[0]:.2f} of {case.seconds[1]:.2f} s{sign}",
                        flush=True,
                    )
            except AnonymizationError as error:
                print(f"{name}: {str(error)[:100]}", flush=True)
    for measure in ("given away", "still useful"):
        print(told(cases, measure))


if __name__ == "__main__":
    main()
