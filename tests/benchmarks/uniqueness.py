"""Estimates of uniqueness against the truth: samples of a real population, by estimator and sampling fraction.

`python -m tests.benchmarks.uniqueness` prints the chapter of results.md; the population is ../shared/data's American
Community Survey of 2019.
"""

from __future__ import annotations

import argparse

import numpy as np
import pandas as pd

from anoncore.attacks.population_uniqueness import estimates
from anoncore.attacks.uniqueness_estimates import Classes, dankar
from tests.shared_data import FOLDER

COLUMNS = {
    "5 attributes": ["AGEP", "SEX", "MSP", "RAC1P", "EDU"],
    "7 attributes": ["AGEP", "SEX", "MSP", "RAC1P", "EDU", "NPF", "OWN_RENT"],
    "3 attributes": ["AGEP", "SEX", "RAC1P"],
}
FRACTIONS = (0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5)
NAMES = ("zayatz", "pitman", "snb", "dankar")


def errors(people: pd.DataFrame, columns: list[str], draws: int) -> pd.DataFrame:
    """The relative error of each estimate, a line per fraction and draw."""
    key = people.groupby(columns, sort=False).ngroup().to_numpy()
    true = int((np.bincount(key) == 1).sum())
    lines = []
    for fraction in FRACTIONS:
        for draw in range(draws):
            drawn = np.random.default_rng([draw, round(1000 * fraction)]).permutation(len(key))
            sizes = np.bincount(key[drawn[: round(len(key) * fraction)]])
            found = estimates(Classes.of(sizes[sizes > 0]), len(key))
            found["dankar"] = found[dankar(fraction, found["zayatz"], found["pitman"], found["snb"])]
            lines.append({"fraction": fraction, **{name: found[name] / true - 1 for name in NAMES}})
    return pd.DataFrame(lines).assign(true=true)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=200)
    draws = parser.parse_args().draws
    people = pd.read_csv(FOLDER / "acs_national_2019.csv.gz", dtype=str)
    print(f"| attributes | unique of {len(people):,} | sample | {' | '.join(NAMES)} |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    everything = []
    for title, columns in COLUMNS.items():
        found = errors(people, columns, draws)
        everything.append(found)
        true = int(found["true"].iloc[0])
        for fraction, part in found.groupby("fraction"):
            cells = []
            for name in NAMES:
                median, size = part[name].median(), part[name].abs().median()
                cells.append(f"{median:+.1%} ({size:.1%})")
            print(f"| {title} | {true:,} | {fraction:.0%} | {' | '.join(cells)} |")
        print(over_all(title, f"{true:,}", found))
    print(over_all("all three", "", pd.concat(everything)))


def over_all(title: str, true: str, found: pd.DataFrame) -> str:
    """The line with the medians over samples of all sizes."""
    over = found[list(NAMES)].abs().median()
    return f"| {title} | {true} | all | {' | '.join(f'({over[name]:.1%})' for name in NAMES)} |"


if __name__ == "__main__":
    main()
