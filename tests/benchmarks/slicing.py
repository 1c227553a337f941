"""Slicing on Adult: time at the paper's levels, over rows, and beside the check that starts anew at every split.

Run: python -m tests.benchmarks.slicing. Times are CPU seconds, wall seconds in brackets.
"""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import numpy as np
import pandas as pd

from anoncore import Microdata, Partition, attacks
from anoncore.algorithms import RandomBuckets, Slicing
from anoncore.algorithms.slicing.columns import sliced_release
from anoncore.algorithms.slicing.slicing import achieved_diversity
from tests.algorithms.plain_slicing import PlainSlicing

DATA = Path(__file__).parents[3] / "shared" / "data"
SENSITIVE = "occupation"
OCC_7 = ["age", "workclass", "education", "marital-status", "race", "sex"]
LEVELS = [("distinct", 5), ("distinct", 8), ("distinct", 10), ("posterior", 2), ("posterior", 3)]

PEOPLE = 40
"""People on whom the plain check is timed."""

T = TypeVar("T")


def timed(work: Callable[[], T]) -> tuple[T, float, str]:
    """The result, its CPU seconds, and both times as text."""
    cpu, wall = time.process_time(), time.perf_counter()
    result = work()
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    return result, cpu, f"{cpu:6.2f} s ({wall:.2f})"


def microdata(frame: pd.DataFrame, known: list[str]) -> Microdata:
    roles = {**dict.fromkeys(known, "quasi-identifier"), SENSITIVE: "sensitive"}
    return Microdata(frame[[*known, SENSITIVE]], roles=roles)


def model(diversity: str, l: float, columns: int, **fields: object) -> Slicing:
    return Slicing(l=l, columns=columns, diversity=diversity, sensitive_column_size=2, **fields)


def over_levels(adult: pd.DataFrame) -> None:
    """Both data sets of the paper at its levels, and at those that its definition can reach."""
    for title, known in (("OCC-7", OCC_7), ("OCC-15", [name for name in adult.columns if name != SENSITIVE])):
        data = microdata(adult, known)
        for columns in (2, 3, 5):
            for diversity, l in LEVELS:
                slicing = model(diversity, l, columns)
                release, _, text = timed(lambda slicing=slicing, data=data: slicing.anonymize(data))
                n_buckets = release.partition.n_groups
                print(f"{title:>6}, c = {columns}, {diversity:>9} l = {l:>2}: {text}, {n_buckets:,} buckets")


def over_rows(adult: pd.DataFrame) -> None:
    """Bootstrapped rows of OCC-7, as they are and with every age moved by up to 2 years."""
    rng = np.random.default_rng(0)
    for moved in (False, True):
        for diversity, l in (("distinct", 5), ("posterior", 2), ("posterior", 3)):
            times: dict[int, float] = {}
            slicing = model(diversity, l, 2)
            for n in (50_000, 100_000, 200_000):
                frame = adult.iloc[rng.integers(0, len(adult), n)].reset_index(drop=True)
                frame["age"] += rng.integers(-2, 3, n) * moved
                data = microdata(frame, OCC_7)
                release, times[n], text = timed(lambda data=data, slicing=slicing: slicing.anonymize(data))
                print(
                    f"{n:>9,} rows{', ages moved' if moved else ''}, {diversity} l = {l}: {text}, "
                    f"{release.partition.n_groups:,} buckets"
                )
            growth = math.log2(times[200_000] / times[50_000]) / 2
            print(f"          grows as n^{growth:.2f}")


def anew_at_every_split(data: Microdata, slicing: Slicing) -> tuple[list[list[int]], int]:
    """The paper's algorithm with the whole table checked at every split, by the compiled posterior; its buckets, and
    how often it checked.
    """
    columns = slicing.resolve_columns(data)
    plain = PlainSlicing(data, columns, slicing.l, slicing.diversity == "distinct")
    queue, final, checks = deque([list(range(data.n_rows))]), [], 0
    group = np.empty(data.n_rows, dtype=np.int32)
    while queue:
        bucket = queue.popleft()
        for sides in plain.splits(bucket):
            for number, rows in enumerate([*final, *queue, *sides]):
                group[rows] = number
            release = sliced_release(data, Partition(group.copy()), columns)
            checks += 1
            if achieved_diversity(release, SENSITIVE, slicing.diversity) >= slicing.l - 1e-6:
                queue.extend(sides)
                break
        else:
            final.append(bucket)
    return final, checks


def beside_naive(adult: pd.DataFrame) -> None:
    """2,000 rows: incremental, whole table anew by compiled code, and the paper's check in plain Python."""
    data = microdata(adult.iloc[np.random.default_rng(0).permutation(len(adult))[:2_000]], OCC_7)
    for diversity, l in (("posterior", 2), ("distinct", 8)):
        slicing = model(diversity, l, 2)
        slicing.anonymize(data)
        release, ours, text = timed(lambda slicing=slicing: slicing.anonymize(data))
        print(f"2,000 rows of OCC-7, {diversity} l = {l}: {release.partition.n_groups:,} buckets, incremental {text}")
        (buckets, checks), theirs, text = timed(lambda slicing=slicing: anew_at_every_split(data, slicing))
        found = {tuple(release.partition.rows(bucket)) for bucket in range(release.partition.n_groups)}
        same = found == {tuple(sorted(bucket)) for bucket in buckets}
        print(f"  {checks:,} checks of the whole table by compiled code {text}: {theirs / ours:,.0f} times as long,")
        print(f"  {'the same buckets' if same else 'OTHER BUCKETS'}")
        plain = PlainSlicing(data, slicing.resolve_columns(data), l, diversity == "distinct")
        _, cpu, _ = timed(lambda plain=plain, buckets=buckets: [plain.probabilities(t, buckets) for t in range(PEOPLE)])
        one = cpu / PEOPLE * data.n_rows
        print(f"  one check as figure 2 has it, in plain Python: about {one:,.0f} s (timed on {PEOPLE} people)")


def membership(adult: pd.DataFrame) -> None:
    """Counting and estimating fake tuples in random and spread buckets of 100."""
    for title, known in (("OCC-7", OCC_7), ("OCC-15", [name for name in adult.columns if name != SENSITIVE])):
        data = microdata(adult, known)
        for columns in (2, 5):
            for grouping in ("random", "spread"):
                buckets = RandomBuckets(size=100, columns=columns, grouping=grouping, seed=0)
                release, _, dealt = timed(lambda buckets=buckets, data=data: buckets.anonymize(data))
                found, _, text = timed(lambda release=release: attacks.membership(release))
                low, high = found.interval
                print(
                    f"{title:>6}, c = {columns}, {grouping} buckets in {dealt}: {found.fake:.4g} fake tuples "
                    f"({'exact' if found.exact else f'{low:.4g} to {high:.4g}'}) in {text}"
                )


def main() -> None:
    """Print the whole benchmark."""
    adult = pd.read_csv(DATA / "adult.csv")
    model("posterior", 2, 2).anonymize(microdata(adult.iloc[:500], OCC_7))
    over_levels(adult)
    over_rows(adult)
    beside_naive(adult)
    membership(adult)


if __name__ == "__main__":
    main()
