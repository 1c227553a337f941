"""Which attack on attributes is strongest on the releases of each method, and what the release costs.

`python -m tests.benchmarks.strongest_attacks` prints a table in Markdown for four tables of people, beside
what each release costs by its two-way error.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator

import pandas as pd

from anoncore import AnonymizationError, Microdata, attacks, datasets, utility
from anoncore.algorithms import (
    Algorithm,
    Anatomy,
    ForegroundSafe,
    LocalRecoding,
    Mondrian,
    OptimalRecoding,
    Slicing,
    StackAndDeal,
    VerticalFragmentation,
)
from anoncore.requirements import DistinctDiversity, KAnonymity
from tests.shared_data import FOLDER

K = KAnonymity(k=10)
METHODS: dict[str, Algorithm] = {
    "Mondrian, k = 10": Mondrian(requirements=[K]),
    "Mondrian, k = 10, l = 3": Mondrian(requirements=[K, DistinctDiversity(l=3)]),
    "Optimal recoding, k = 10": OptimalRecoding(requirements=[K]),
    "Local recoding, k = 10": LocalRecoding(requirements=[K]),
    "Stack & Deal, k = 10": StackAndDeal(k=10, seed=1),
    "Anatomy, l = 3": Anatomy(l=3, seed=1),
    "ForegroundSafe, l = 3": ForegroundSafe(l=3, seed=1),
    "Slicing, l = 1.5": Slicing(l=1.5, columns=3),
    "Vertical fragmentation, k = 10": VerticalFragmentation(k=10),
}
ADULT = ["age", "workclass", "education", "marital-status", "race", "sex", "native-country", "relationship"]


def tables() -> Iterator[tuple[str, Microdata]]:
    """The tables, each with a secret."""
    adult = pd.read_csv(FOLDER / "adult.csv")[[*ADULT, "occupation"]]
    yield "Adult: occupation", _tagged(adult, "occupation")
    entry = datasets.table("census")
    people = entry.load(n_rows=20_000)
    yield "Census: diagnosis", _tagged(people[["age", "sex", "race", "education", "diagnosis"]], "diagnosis")
    acs = pd.read_csv(FOLDER / "acs_national_2019.csv.gz")
    known = ["AGEP", "SEX", "MSP", "RAC1P", "EDU", "HOUSING_TYPE", "PUMA"]
    yield "ACS: income decile", _tagged(acs[[*known, "PINCP_DECILE"]].astype({"PINCP_DECILE": str}), "PINCP_DECILE")
    heart = pd.read_csv(FOLDER / "heart_cleveland.csv")
    secret = heart.columns[-1]
    heart[secret] = heart[secret].astype(str)
    yield f"Heart: {secret}", _tagged(heart[[*heart.columns[:6], secret]], secret)


def _tagged(frame: pd.DataFrame, secret: str) -> Microdata:
    return Microdata(frame, dict.fromkeys(frame.columns.drop(secret), "quasi-identifier") | {secret: "sensitive"})


def main() -> None:
    """Print a line per table and method."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    print("| table | method | strongest attack | believed above 1/2 | its control | gain | two-way error | seconds |")
    print("|---|---|---|---|---|---|---|---|")
    for title, data in tables():
        for name, method in METHODS.items():
            try:
                release = method.anonymize(data)
            except AnonymizationError as error:
                print(f"| {title} | {name} | no release: {str(error)[:70]} | | | | | |", flush=True)
                continue
            begin = time.perf_counter()
            best = attacks.strongest(release, data.sensitive[0]).attribute
            seconds = time.perf_counter() - begin
            if best is None:
                print(f"| {title} | {name} | none applies | | | | | {seconds:.1f} |", flush=True)
                continue
            error = float(utility.two_way_error(release))
            print(
                f"| {title} | {name} | `{best.name}` | {best.share:.1%} | {best.control:.1%} | {float(best.gain):.1%} "
                f"| {error:.3f} | {seconds:.1f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
