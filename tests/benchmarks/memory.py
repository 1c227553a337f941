"""Mondrian in memory beside one pass over the same bytes, and where its time goes.

Run: python -m tests.benchmarks.memory [--rows 1000000 10000000] [--k 10]. A pass copies the matrix of codes that
Mondrian moves about, in as many threads as there are processors. The table is that of Rothko's paper (figure 7).
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from math import log2
from typing import TypeVar

import numpy as np
import numpy.typing as npt
import pandas as pd

from anoncore import Microdata
from anoncore.algorithms import Mondrian
from anoncore.algorithms.base import generalized_release
from anoncore.algorithms.mondrian import Growth
from anoncore.base.progress import silent
from anoncore.datasets.rothko_synthetic import ATTRIBUTES, chunks
from anoncore.release.partition import Partition
from anoncore.requirements import KAnonymity

R = TypeVar("R")


def seconds(work: Callable[[], R]) -> tuple[R, float]:
    """What the work gives, and the wall seconds that it takes."""
    begun = time.perf_counter()
    result = work()
    return result, time.perf_counter() - begun


def one_pass(rows: npt.NDArray[np.int32]) -> float:
    """Seconds of copying the matrix once, in all processors at once; the fastest of three."""
    target = np.zeros_like(rows)
    n_threads = os.cpu_count() or 1
    ends = np.linspace(0, len(rows), n_threads + 1).astype(int)

    def copy(number: int) -> None:
        piece = slice(ends[number], ends[number + 1])
        np.copyto(target[piece], rows[piece])

    with ThreadPoolExecutor(n_threads) as pool:
        return min(seconds(lambda: list(pool.map(copy, range(n_threads))))[1] for _ in range(3))


def measure(model: Mondrian, n: int) -> None:
    """Print what Mondrian's steps take on so many rows."""
    data = Microdata(pd.concat(chunks(n, 1_000_000), ignore_index=True), dict.fromkeys(ATTRIBUTES, "quasi-identifier"))
    growth, laid_out = seconds(lambda: Growth.of(model, data))
    copied, size = one_pass(growth.rows), growth.rows.nbytes
    _, cut = seconds(lambda: growth.run(silent))
    groups, numbered = seconds(lambda: Partition(growth.groups()))
    _, published = seconds(lambda: generalized_release(model, data, groups))
    levels = log2(groups.n_groups)
    print(f"{n:,} rows, {groups.n_groups:,} classes, {size / 1e6:,.0f} MB of codes")
    for what, took in (
        ("one pass over the codes", copied),
        ("codes laid out row by row", laid_out),
        ("cuts", cut),
        ("rows numbered by class", numbered),
        ("ranges of every class", published),
    ):
        print(f"  {what:<28} {took:>8.3f} s  {took / copied:>6.1f} passes")
    share = cut / copied / levels
    print(f"  the cuts take {share:.2f} passes for each of {levels:.1f} levels of the tree", flush=True)


def main() -> None:
    """Print the whole benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000_000, 10_000_000])
    parser.add_argument("--k", type=int, default=10)
    options = parser.parse_args()
    model = Mondrian(requirements=(KAnonymity(k=options.k),), strict=True)
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors, k = {options.k}")
    # The first table is small: what is compiled or loaded for it must not be counted for the others.
    for n in (50_000, *options.rows):
        measure(model, n)


if __name__ == "__main__":
    main()
