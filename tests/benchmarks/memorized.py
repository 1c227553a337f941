"""How much releases remember of the very people in them: `python -m tests.benchmarks.memorized`.

Tables of 300 people of Adult are published in several ways, and a secret of everybody in them, and of as many people
who are not, is guessed from each release (`attacks.memorization`). One table says little, as its interval is wide: the
lines are means over tables of different people, with 95% intervals from how they differ. Of a table the adversary
counts who is the best on the other tables, as the best of three on the same one would seem to remember something by
chance. The marginal synthesis needs the extra `dp` and takes about six seconds a table.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator

import numpy as np
import pandas as pd
from scipy.stats import t

from anoncore import Microdata, Release, attacks
from anoncore.algorithms import MarginalSynthesis, Mondrian
from anoncore.requirements import KAnonymity
from tests.shared_data import require

KNOWN, SECRET = ("age", "hours-per-week", "education"), "occupation"
PEOPLE, SEED, BINS = 300, 3, 100
EPSILONS = (0.1, 1.0, 10.0)

Method = Callable[[Microdata, pd.DataFrame], Release]
"""Makes a release of people, or of strangers' rows in their place."""


def mondrian(k: int) -> Method:
    """Mondrian's groups of at least k; k = 1 publishes everybody as they are."""
    return lambda people, _strangers: Mondrian(requirements=[KAnonymity(k=k)]).anonymize(people)


def marginals(epsilon: float) -> Method:
    """Rows drawn from noisy counts, in which every age and number of hours has a count of its own."""
    return lambda people, _strangers: MarginalSynthesis(epsilon=epsilon, bins=BINS).anonymize(people)


def rows_of_strangers(people: Microdata, strangers: pd.DataFrame) -> Release:
    """Rows of other people, drawn as these were."""
    return Release.from_published({"rows": strangers}, original=people, rows="synthetic")


METHODS: dict[str, Method] = {
    "the rows themselves": mondrian(1),
    "other people's rows": rows_of_strangers,
    **{f"Mondrian, k = {k}": mondrian(k) for k in (5, 10, 50)},
    **{f"marginal synthesis, epsilon = {epsilon:g}": marginals(epsilon) for epsilon in EPSILONS},
}


def parts(n_tables: int) -> Iterator[tuple[Microdata, Microdata, pd.DataFrame]]:
    """People of a table, people who are not in it, and strangers; nobody is in two of them."""
    frame = pd.read_csv(require("adult.csv"))[[*KNOWN, SECRET]].sample(frac=1, random_state=SEED)
    roles = dict.fromkeys(KNOWN, "quasi-identifier") | {SECRET: "sensitive"}
    for number in range(n_tables):
        rows = frame.iloc[2 * PEOPLE * number : 2 * PEOPLE * (number + 1)].reset_index(drop=True)
        people, others = Microdata(rows, roles).split(control=0.5, seed=number)
        # Strangers come from the end of the table, which no part above reaches.
        strangers = frame.iloc[len(frame) - PEOPLE * (number + 1) : len(frame) - PEOPLE * number]
        yield people, others, strangers.reset_index(drop=True)


def memorized(release: Release, others: Microdata) -> list[float]:
    """What each adversary gets of people in the table above others, as a share of what is wrong about others."""
    tried = attacks.memorization(release, SECRET, others).adversaries
    return list((tried["members"] - tried["control"]) / (1 - tried["control"]))


def of_the_best_elsewhere(by_adversary: np.ndarray) -> np.ndarray:
    """Of each table (row) the adversary (column) who is the best on all other tables."""
    elsewhere = by_adversary.sum(axis=0) - by_adversary
    return by_adversary[np.arange(len(by_adversary)), elsewhere.argmax(axis=1)]


def main() -> None:
    """Print a line per way to publish: what was memorized, on average over tables, and its interval."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=24)
    parser.add_argument("--method", choices=list(METHODS), action="append")
    arguments = parser.parse_args()
    print("| published | memorized | 95% interval of the mean | tables |")
    print("|---|---|---|---|")
    for name in arguments.method or METHODS:
        by_adversary = np.array(
            [
                memorized(METHODS[name](people, strangers), others)
                for people, others, strangers in parts(arguments.tables)
            ]
        )
        shares = of_the_best_elsewhere(by_adversary)
        # Tables of different people are independent draws, so their spread is that of the mean.
        half = t.ppf(0.975, len(shares) - 1) * shares.std(ddof=1) / np.sqrt(len(shares))
        print(
            f"| {name} | {shares.mean():.3f} | {shares.mean() - half:.3f} to {shares.mean() + half:.3f} |"
            f" {len(shares)} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
