"""t-closeness methods on Adult and Heart: classes, information loss, closeness and time, side by side.

Run: python -m tests.benchmarks.t_closeness (needs adult.csv and heart.csv in the data folder).
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pandas as pd

from anoncore import Microdata, privacy
from anoncore.algorithms import (
    Algorithm,
    Microaggregation,
    Mondrian,
    RandomPartition,
    Sabre,
    SensitiveSpaceFragmentation,
    StackAndDeal,
)
from anoncore.datasets import table
from anoncore.release.partition import Partition
from anoncore.requirements import KAnonymity, TCloseness
from anoncore.utility import information_loss

QUASI = ["age", "workclass", "education", "marital-status", "occupation", "race", "sex"]
HOURS = "hours-per-week"
T = 0.1


def adult(n_rows: int | None = None) -> Microdata:
    """Adult with hours-per-week as the sensitive attribute; other sizes are drawn from it, ages moved by up to 2."""
    frame = table("adult").load()[[*QUASI, HOURS]]
    if n_rows is not None:
        rng = np.random.default_rng(0)
        frame = frame.iloc[rng.integers(0, len(frame), n_rows)].reset_index(drop=True)
        frame["age"] += rng.integers(-2, 3, n_rows)
    return Microdata(frame, roles={**dict.fromkeys(QUASI, "quasi-identifier"), HOURS: "sensitive"})


def heart() -> Microdata:
    """Heart with blood pressure and cholesterol as the sensitive attributes."""
    entry = table("heart")
    return Microdata(entry.load(), roles=entry.roles, kinds=entry.kinds, orders=entry.orders)


def timed(work: Callable[[], object]) -> tuple[object, float, float]:
    """Result, wall seconds and processor seconds of one call."""
    wall, processor = time.perf_counter(), time.process_time()
    result = work()
    return result, time.perf_counter() - wall, time.process_time() - processor


def smallest_k(data: Microdata, stack: str) -> int:
    """The smallest k from which on Stack & Deal reaches t (the counts do not depend on the rows dealt)."""
    k = 2
    while True:
        release = StackAndDeal(k=k, stack=stack, locality=False, seed=0).anonymize(data)
        if privacy.emd(release, HOURS).max() <= T:
            return k
        k += 1


def methods(data: Microdata) -> list[tuple[str, Algorithm]]:
    """Every method at t = 0.1, by a readable name."""
    close = TCloseness(t=T, ground="ordered")
    listed: list[tuple[str, Algorithm]] = []
    for stack in ("frequency", "value"):
        k = smallest_k(data, stack)
        for locality in (False, True):
            name = f"Stack & Deal, {stack}, k = {k}, {'locality' if locality else 'no locality'}"
            listed.append((name, StackAndDeal(k=k, stack=stack, locality=locality, seed=0)))
    listed += [
        ("Random partition, k = 6", RandomPartition(k=6, seed=0)),
        ("Sensitive space, verified", SensitiveSpaceFragmentation(t={HOURS: T}, seed=0)),
        ("Sensitive space, exact", SensitiveSpaceFragmentation(t={HOURS: T}, sizing="exact", seed=0)),
        ("SABRE", Sabre(t=T, seed=0)),
        ("SABRE, k = 5", Sabre(t=T, k=5, seed=0)),
    ]
    for variant in ("merge", "swap", "t-first"):
        for label, options in (
            ("halving", {}),
            ("MDAV in blocks of 10,000", {"clustering": "nearest"}),
            ("MDAV", {"clustering": "nearest", "block_rows": 100_000}),
        ):
            name = f"Microaggregation, {variant}, k = 5, {label}"
            listed.append((name, Microaggregation(k=5, t=T, variant=variant, seed=0, **options)))
    for split in ("median", "loss"):
        listed.append((f"Mondrian, {split}", Mondrian(requirements=[close], split=split)))
        listed.append((f"Mondrian, {split}, k = 5", Mondrian(requirements=[close, KAnonymity(k=5)], split=split)))
    return listed


def over_methods() -> pd.DataFrame:
    """One line per method on Adult at t = 0.1, ordered distance."""
    small = adult(2_000)
    lines = []
    for name, model in methods(data := adult()):
        model.anonymize(small)
        release, wall, processor = timed(lambda model=model: model.anonymize(data))
        partition = release.partition
        lines.append(
            {
                "method": name,
                "classes": partition.n_groups,
                "rows": f"{partition.sizes.min()}-{partition.sizes.max()}",
                "largest EMD": round(float(privacy.emd(release, HOURS).max()), 4),
                "information loss": round(float(information_loss(release)), 4),
                "wall s": round(wall, 2),
                "processor s": round(processor, 2),
            }
        )
    return pd.DataFrame(lines)


def snake_deal(data: Microdata) -> int:
    """Most classes of a plain deal of Heart: rows in snake order over strips of one attribute, dealt round-robin."""
    best = 0
    checks = [TCloseness(t=T, ground="ordered", attribute=name).checks(data)[0] for name in ("trestbps", "chol")]
    pressure, chol = data.codes["trestbps"].astype(int), data.codes["chol"].astype(int)
    strip = np.minimum(data.frame["trestbps"].rank(pct=True).to_numpy() * 6, 5).astype(int)
    order = np.lexsort((pressure, np.where(strip % 2 == 0, chol, -chol), strip))
    for n_classes in range(2, 400):
        group = np.empty(data.n_rows, dtype=np.int32)
        group[order] = np.arange(data.n_rows) % n_classes
        if all(check.levels(Partition(group)).max() <= T for check in checks):
            best = n_classes
    return best


def over_heart() -> None:
    """Verified beside exact sizing, and the plain yardstick."""
    data = heart()
    for sizing in ("verified", "exact"):
        model = SensitiveSpaceFragmentation(t={"trestbps": T, "chol": T}, sizing=sizing, seed=0)
        model.anonymize(data)
        release, wall, processor = timed(lambda model=model: model.anonymize(data))
        reached = [float(privacy.emd(release, name).max()) for name in ("trestbps", "chol")]
        print(
            f"Heart, {sizing}: {release.partition.n_groups} classes of {data.n_rows:,} rows, largest EMD "
            f"{reached[0]:.4f} and {reached[1]:.4f}, loss {float(information_loss(release)):.3f}, {wall:.2f} s wall, "
            f"{processor:.2f} s processor; {release.notes[0]}"
        )
    print(f"Heart, plain snake-order deal: {snake_deal(data)} classes")


def over_sizes() -> None:
    """Growth with the number of rows, as the exponent of n between neighbouring sizes (processor time)."""
    sizes = (22_611, 45_222, 90_444, 180_888)
    for model in (
        SensitiveSpaceFragmentation(t={HOURS: T}, seed=0),
        Sabre(t=T, seed=0),
        Microaggregation(k=5, t=T, seed=0),
    ):
        took = []
        for n_rows in sizes:
            data = adult(n_rows)
            took.append(min(timed(lambda model=model, data=data: model.anonymize(data))[2] for _ in range(2)))
        grown = [np.log2(later / sooner) for sooner, later in pairwise(took)]
        print(
            f"{model.title}: "
            + ", ".join(f"{n:,} rows {seconds:.2f} s" for n, seconds in zip(sizes, took, strict=True))
            + "; exponents "
            + ", ".join(f"{exponent:.2f}" for exponent in grown)
        )


def over_a_million() -> None:
    """Stack & Deal on 1,000,000 rows."""
    data = adult(1_000_000)
    for locality in (False, True):
        model = StackAndDeal(k=10, stack="value", locality=locality, seed=0)
        release, wall, processor = timed(lambda model=model: model.anonymize(data))
        print(
            f"Stack & Deal, 1,000,000 rows, {'locality' if locality else 'no locality'}: {wall:.2f} s wall, "
            f"{processor:.2f} s processor, loss {float(information_loss(release)):.3f}"
        )


def main() -> None:
    """Print the whole benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", action="store_true", help="also measure growth and 1,000,000 rows")
    arguments = parser.parse_args()
    print(over_methods().to_string(index=False))
    over_heart()
    if arguments.sizes:
        over_sizes()
        over_a_million()


if __name__ == "__main__":
    main()
