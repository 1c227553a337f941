"""Figures 8 and 9 of the Rothko paper, judged by what `tests.papers.thrashing` measured last."""

from __future__ import annotations

import numpy as np
import pandas as pd

from tests.papers.findings import listed
from tests.papers.rothko_runs import Report
from tests.papers.thrashing import ENOUGH, FINISHED, IN_MEMORY, MEGABYTE, NO_SWAP, SLOW, SWAPS, TASKS, last

MUCH = 2.0
"""Much longer is at least so many times as long (the paper gives no figure)."""
BYTES_OF_ROW = 44
"""A tuple of the paper's table."""
SYSTEM = "what the system counts of each process"
COMMAND = "python -m tests.papers.thrashing"


def judge(report: Report) -> None:
    """The statements about figures 8 and 9 by what was measured last."""
    measured = last()
    runs = pd.DataFrame(measured["runs"])
    runs["tables swapped"] = (runs["swapped in MB"] + runs["swapped out MB"]) * MEGABYTE / BYTES_OF_ROW / runs["rows"]
    report.save("figures-8-9-limited", runs)
    where = f"measured on {measured['date']} with {measured['limit MB']} MB by `{COMMAND}`"
    said, small = _wide(runs, SWAPS, "tables swapped"), _wide(runs, ENOUGH, "peak MB")[IN_MEMORY]
    fits = small <= measured["limit MB"]
    report.state(
        "8",
        "As soon as the table does not fit in memory, the in-memory algorithm thrashes: more than the whole table goes "
        "to swap space and back, and nothing while it fits.",
        np.where(fits, said[IN_MEMORY] == 0, said[IN_MEMORY] > 1),
        "; ".join(f"{name} swaps {listed(said[name], 1)} tables" for name in TASKS)
        + f" of {_counts(said.index)} rows; {where}",
        "where little more is needed than there is, little is swapped",
        f"`{COMMAND}`",
        least="nothing at all, and the whole table",
        oracle=SYSTEM,
    )
    alone = runs[runs["memory"] == NO_SWAP].pivot_table(
        index="rows", columns="algorithm", values="ended", aggfunc="first"
    )
    report.state(
        "8",
        "The scalable algorithms can be applied to larger tables: in the same memory and without swap space they end "
        "well, where the system ends the in-memory algorithm.",
        [
            *(alone[IN_MEMORY][~fits] != FINISHED),
            *(ended == FINISHED for name in TASKS[1:] for ended in alone[name]),
        ],
        "; ".join(f"{name} ends well for {_counts(alone.index[alone[name] == FINISHED])} rows" for name in TASKS)
        + f"; {where}",
        "what the run needs beside the rows takes all of the memory",
        f"`{COMMAND}`",
        least="every run ends as stated",
        oracle=SYSTEM,
    )
    fast, slow = (_wide(runs, memory, "seconds") / _wide(runs, ENOUGH, "seconds") for memory in (SWAPS, SLOW))
    report.state(
        "9",
        f"Then it takes much longer (at least {MUCH:g} times as long as with enough memory); a disk as slow as the "
        "paper's, 54 MB/s.",
        slow[IN_MEMORY][~fits] >= MUCH,
        "; ".join(f"{name} {listed(slow[name], 1)} times as long" for name in TASKS)
        + f" for {_counts(slow.index)} rows; with the disk of this machine "
        + "; ".join(f"{name} {listed(fast[name], 1)} times" for name in TASKS)
        + f"; {where}",
        "cuts from the root down read the rows in order, so that a disk of 54 MB/s makes it take the longer the more "
        "of the table does not fit, and the disk of this machine, which is many times as fast, makes little of it",
        f"`{COMMAND}`, memory: {SLOW}, beside {SWAPS}",
        timed=True,
        least="as stated",
        oracle="seconds by the clock",
    )


def _wide(runs: pd.DataFrame, memory: str, measure: str) -> pd.DataFrame:
    """A line per number of rows, a column per algorithm."""
    return runs[runs["memory"] == memory].pivot_table(index="rows", columns="algorithm", values=measure)


def _counts(rows: pd.Index) -> str:
    return ", ".join(f"{one:,}" for one in rows)
