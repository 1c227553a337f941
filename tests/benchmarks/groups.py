"""Stack & Deal and microaggregation on Adult and on larger tables drawn from it: time, growth, and what they lose.

Run: python -m tests.benchmarks.groups [--rows 100000 1000000]. Every method runs once before it is timed, so that no
time is spent on compiling. The factor beside the seconds compares them with Mondrian's on the same table in the same
run; the growth is the power of the number of rows with which the time grows from the table before. Data: adult.csv.
"""

from __future__ import annotations

import argparse
import os
import time
from math import log

from anoncore import Microdata
from anoncore.algorithms import Algorithm, Microaggregation, Mondrian, StackAndDeal
from anoncore.requirements import KAnonymity
from anoncore.utility import information_loss
from tests.benchmarks.t_closeness import adult

K, T = 5, 0.2
METHODS: dict[str, Algorithm] = {
    "Mondrian": Mondrian(requirements=(KAnonymity(k=K),)),
    "Stack & Deal with locality": StackAndDeal(k=K, seed=0),
    "Stack & Deal without locality": StackAndDeal(k=K, locality=False, seed=0),
    "microaggregation, merge": Microaggregation(k=K, t=T, variant="merge", seed=0),
    "microaggregation, swap": Microaggregation(k=K, t=T, variant="swap", seed=0),
    "microaggregation, t-first": Microaggregation(k=K, t=T, variant="t-first", seed=0),
}


def timed(model: Algorithm, data: Microdata, repeats: int) -> tuple[float, float, float, int]:
    """Wall and processor seconds of the fastest run, its information loss and its number of classes."""
    fastest, processor = float("inf"), float("inf")
    for _ in range(repeats):
        wall, used = time.perf_counter(), time.process_time()
        release = model.anonymize(data)
        wall, used = time.perf_counter() - wall, time.process_time() - used
        fastest, processor = min(fastest, wall), min(processor, used)
    return fastest, processor, float(information_loss(release)), release.partition.n_groups


def main() -> None:
    """Print the whole benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="*", default=[100_000, 1_000_000])
    options = parser.parse_args()
    small = adult(2_000)
    for model in METHODS.values():
        model.anonymize(small)
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors; k = {K}, t = {T}")
    print(
        f"{'rows':>10} {'method':<30} {'wall s':>8} {'cpu s':>8} {'x Mondrian':>11} {'growth':>7} {'classes':>9}  loss"
    )
    before: dict[str, tuple[int, float]] = {}
    for rows in (None, *options.rows):
        data = adult(rows)
        beside = 0.0
        for name, model in METHODS.items():
            wall, processor, loss, classes = timed(model, data, 3 if data.n_rows <= 100_000 else 1)
            beside = beside or wall
            growth = ""
            if name in before and before[name][0] != data.n_rows:
                n, took = before[name]
                growth = f"{log(wall / took) / log(data.n_rows / n):.2f}"
            before[name] = data.n_rows, wall
            print(
                f"{data.n_rows:>10,} {name:<30} {wall:>8.3f} {processor:>8.3f} {wall / beside:>11.1f} {growth:>7} "
                f"{classes:>9,}  {loss:.4f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
