"""What it costs to withstand attacks: methods alone and with `AttackSafe`, on Adult with occupation secret.

`python -m tests.benchmarks.withstood_attacks` prints a table in Markdown. Of each method it asks that nobody is given
away, and then the least share of people that can be reached in four rounds. The attack with foreground knowledge takes
minutes where groups are large, so it is withstood only where it is the strongest at first, and measured everywhere.
`--method` runs one method alone.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from anoncore import AnonymizationError, InfeasibleError, Microdata, Release, attacks, utility
from anoncore.algorithms import AttackSafe
from anoncore.algorithms.defence.attack_safe import SEEDS, TITLES, Breach
from tests.benchmarks.strongest_attacks import METHODS, tables

SECRET, R, EPSILON, ROUNDS = "occupation", 2.0, 0.02, 4
WITHOUT_FOREGROUND = ("attribute_disclosure", "definetti")
WITHSTOOD = {
    "Mondrian, k = 10": tuple(TITLES),
    "Local recoding, k = 10": tuple(TITLES),
    "Stack & Deal, k = 10": WITHOUT_FOREGROUND,
    "Anatomy, l = 3": WITHOUT_FOREGROUND,
}


def figures(release: Release) -> str:
    """What each attack gives away, deFinetti's with other seeds, and what the release costs, as cells of a table."""
    shares = [Breach.of(release, SECRET, attack, R, EPSILON, lambda share, text: None).share for attack in TITLES]
    beliefs = [attacks.definetti(release, SECRET, R, draws=0, seed=len(SEEDS) + seed).own_belief for seed in SEEDS]
    other, single = np.mean(beliefs, axis=0) > 1 / R + 1e-9, beliefs[0] > 1 / R + 1e-9
    given = [*shares, float(other.mean()), float(single.mean())]
    costs = float(utility.information_loss(release)), float(utility.two_way_error(release)), kept_association(release)
    return " | ".join(
        [f"{release.partition.n_groups:,}", *(f"{share:.2%}" for share in given), *map("{:.3f}".format, costs)]
    )


def kept_association(release: Release) -> float:
    """How much of phi squared of the secret and each known attribute, summed over these, is left in the release."""
    error = utility.association_error(release)
    released, original = (frame[SECRET].drop(SECRET).sum() for frame in (error.released, error.original))
    return float(released / original)


def withstanding(name: str, data: Microdata) -> tuple[float, Release]:
    """The release of which attacks give away fewest, and the share that was asked for."""
    safe = AttackSafe(method=METHODS[name], r=R, attacks=WITHSTOOD[name], epsilon=EPSILON, rounds=ROUNDS)
    try:
        return 0.0, safe.anonymize(data)
    except InfeasibleError as error:
        if error.nearest is None:
            raise
        return error.nearest, safe.replace(at_most=error.nearest).anonymize(data)


def main() -> None:
    """Print a line per method alone and with the attacks withstood."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--method", choices=list(WITHSTOOD), action="append")
    chosen = parser.parse_args().method or list(WITHSTOOD)
    given = ["single groups", "deFinetti", "foreground", "other seeds", "one seed"]
    heads = ["method", "groups", *given, "loss", "two-way error", "association", "seconds"]
    print(f"| {' | '.join(heads)} |")
    print("|---" * len(heads) + "|")
    data = next(tables())[1]
    for name in chosen:
        print(f"| {name} | {figures(METHODS[name].anonymize(data))} | |", flush=True)
        begin = time.perf_counter()
        try:
            at_most, release = withstanding(name, data)
        except AnonymizationError as error:
            print(f"| {name}: {error} |{' |' * (len(heads) - 1)}", flush=True)
            continue
        seconds = time.perf_counter() - begin
        print(f"| ... at most {at_most:.2%} | {figures(release)} | {seconds:.0f} |", flush=True)


if __name__ == "__main__":
    main()
