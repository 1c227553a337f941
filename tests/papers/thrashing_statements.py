"""Figures 8 and 9 of the Rothko paper, judged by what `tests.papers.thrashing` measured last."""

from __future__ import annotations

import numpy as np
import pandas as pd

from tests.papers.findings import listed
from tests.papers.rothko_runs import Report
from tests.papers.thrashing import ENOUGH, FINISHED, IN_MEMORY, MEGABYTE, NO_SWAP, SLOW, SWAPS, TASKS, last

MUCH, SELDOM = 2.0, 0.5
"""Much longer is at least so many times as long; a scalable algorithm swaps less than such a part of its table (the
paper gives no figures)."""
BYTES_OF_ROW = 44
"""A tuple of the paper's table."""
COMMAND = "python -m tests.papers.thrashing"


def judge(report: Report) -> None:
    """The statements about figures 8 and 9 by what was measured last."""
    measured = last()
    runs = pd.DataFrame(measured["runs"])
    runs["tables swapped"] = (runs["swapped in MB"] + runs["swapped out MB"]) * MEGABYTE / BYTES_OF_ROW / runs["rows"]
    report.save("figures-8-9-limited", runs)
    where = f"measured on {measured['date']} with {measured['limit MB']} MB by `{COMMAND}`"
    swapped_ = _wide(runs, SWAPS, "tables swapped")
    fits = _wide(runs, ENOUGH, "peak MB")[IN_MEMORY] <= measured["limit MB"]
    ended = runs[(runs["memory"] == NO_SWAP) & (runs["ended"] != FINISHED)]
    report.state(
        "8",
        "As soon as the table does not fit in memory, the in-memory algorithm thrashes: it swaps more than the whole "
        "table, and a scalable algorithm in the same memory less than half of it.",
        [
            *np.where(fits, swapped_[IN_MEMORY] == 0, swapped_[IN_MEMORY] > 1).tolist(),
            *(bool((swapped_[name] < SELDOM).all()) for name in TASKS[1:]),
        ],
        "; ".join(f"{name} swaps {listed(swapped_[name], 1)} tables" for name in TASKS)
        + f" of {_counts(swapped_.index)} rows; without swap space the system ends "
        + " and ".join(f"{name} from {part['rows'].min():,} rows on" for name, part in ended.groupby("algorithm"))
        + f"; {where}",
        "a run in so little memory holds the interpreter and its code beside the rows",
        f"`{COMMAND}`",
    )
    for memory, disk_ in ((SWAPS, "this disk"), (SLOW, "a disk as slow as the paper's, 54 MB/s")):
        times = _wide(runs, memory, "seconds") / _wide(runs, ENOUGH, "seconds")
        report.state(
            "9",
            f"Then it takes much longer (at least {MUCH:g} times as long as with enough memory), and a scalable "
            f"algorithm does not; on {disk_}.",
            [
                *(times[IN_MEMORY][~fits] >= MUCH).tolist(),
                *(bool((times[name] < MUCH).all()) for name in TASKS[1:]),
            ],
            "; ".join(f"{name} {listed(times[name], 1)} times as long" for name in TASKS)
            + f" for {_counts(times.index)} rows; {where}",
            "where little more is needed than there is, little is swapped, and this disk is many times as fast as the "
            "paper's",
            f"`{COMMAND}`, column memory: {SLOW} beside {SWAPS}",
            timed=True,
        )


def _wide(runs: pd.DataFrame, memory: str, measure: str) -> pd.DataFrame:
    """A line per number of rows, a column per algorithm."""
    return runs[runs["memory"] == memory].pivot_table(index="rows", columns="algorithm", values=measure)


def _counts(rows: pd.Index) -> str:
    return ", ".join(f"{one:,}" for one in rows)
