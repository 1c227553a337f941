"""How much memory a run on disk needs, and what of it is in memory at a time so that it keeps to a limit."""

from __future__ import annotations

from anoncore.algorithms.rothko.rothko import Rothko
from anoncore.algorithms.rothko.rothko_tree import RothkoTree
from anoncore.base.errors import DataError
from anoncore.base.texts import size_text
from anoncore.engines.table_profile import TableProfile
from anoncore.kernels.arrays import record

PROGRAM = 400_000_000
"""Bytes of Python, the libraries that are loaded, and memory that these keep once it was used."""
READ_AHEAD = 160_000_000
"""Bytes of the rows that are read, coded and divided at a time, and of what DuckDB keeps of them."""
VALUE_BYTES = 180
"""Bytes of one of the different values of a coded column."""
ROW_BYTES, CELL_BYTES = 80, 28
"""Bytes of a row of a part while it is finished, beside those of each of its columns."""
LEAST_ROWS = 50_000
"""Rows of a part that should fit into memory: with fewer the table is divided into too many files."""
COUNTED = (256_000_000, 128_000_000, 64_000_000)
"""Bytes of the groups that are counted for a certificate before they are spilled, as they are tried in turn."""
FRONTIER = 8
"""The share of a limit that the counts of open nodes may take."""
CERTIFYING = 80_000_000
"""Bytes of what counts groups, however few there are."""
GROUP_BYTES = 70
"""Bytes of a group in a certificate's scan: its size, and what it reaches of everything that is asked."""


@record
class MemoryPlan:
    """What a run has in memory at a time, and the bytes that it needs for that.

    Parts of at most `memory_rows` rows are finished by `workers` threads. `frontier` bytes hold counts of open nodes
    where these decide, and `counted` bytes groups while they are counted for a certificate.
    """

    memory_rows: int
    workers: int
    frontier: int
    counted: int
    needed: int

    @property
    def sentence(self) -> str:
        """What is needed, as a sentence."""
        return f"This run needs at most about {size_text(self.needed)} of memory."


def memory_plan(profile: TableProfile, algorithm: Rothko, workers: int, limit: int) -> MemoryPlan:
    """The plan of a run: as the algorithm and the number of workers say, or less so that it keeps to a limit in bytes.

    First fewer groups are counted in memory, then parts become smaller, and in the end fewer threads work. Raises
    DataError where all that is not enough.
    """
    values, columns = sum(map(len, profile.domain.values())), len(profile.attributes)
    base, row = PROGRAM + VALUE_BYTES * values, ROW_BYTES + CELL_BYTES * columns
    n_groups = profile.n_rows // max(one.minimum_rows() for one in algorithm.requirements)
    frontier = min(algorithm.frontier_bytes, limit // FRONTIER) if isinstance(algorithm, RothkoTree) else 0
    needed = 0
    for threads in range(workers, 0, -1):
        rows = algorithm.memory_rows
        while rows >= min(LEAST_ROWS, algorithm.memory_rows):
            part = min(rows, profile.n_rows) * row
            for counted in COUNTED:
                certifying = CERTIFYING + GROUP_BYTES * n_groups + min(counted, profile.n_rows * row) + part
                needed = base + max(READ_AHEAD + frontier + threads * part, certifying)
                if needed <= limit:
                    return MemoryPlan(rows, threads, frontier, counted, needed)
            rows //= 2
    raise DataError(
        f"This table needs at least {size_text(needed)} of memory, for {values:,} different values in coded columns "
        f"and at most {n_groups:,} groups, but may take {size_text(limit)}; give it more (--memory), or round values."
    )
