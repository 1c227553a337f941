"""What the two Rothko algorithms share: Mondrian's strict cuts, on rows that an engine holds."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import replace
from typing import Annotated

import numpy as np
from pydantic import Field, field_validator

from anoncore.algorithms.base import generalized_release
from anoncore.algorithms.mondrian import Mondrian
from anoncore.algorithms.rothko.rows import MemoryRows, Rows
from anoncore.algorithms.rothko.setting import Counters, Part, Setting
from anoncore.base.progress import Progress
from anoncore.kernels.arrays import Int32
from anoncore.release.partition import Partition
from anoncore.release.release import Release
from anoncore.table.microdata import Microdata

MEGABYTE = 1_000_000
RowsInMemory = Annotated[
    int, Field(ge=1, title="Rows in memory", description="Parts of at most so many rows are finished in memory.")
]


class Rothko(Mondrian):
    """Mondrian on rows that do not fit in memory at once: `parts` divides them until they do.

    Beside Mondrian's parameters it has how much of the table and of its counts may be in memory.
    """

    source = "LeFevre and DeWitt, Scalable Anonymization Algorithms for Large Data Sets, TR 1590, 2007"

    strict: Annotated[
        bool,
        Field(
            title="Strict",
            description=(
                "Always on: rows of equal values stay together. Which of them go to either side of a shared median "
                "cannot be told from counts or a sample."
            ),
        ),
    ] = True
    refine: Annotated[
        bool,
        Field(
            title="Refine",
            description="Always off: rows cannot move between groups that are not in memory at the same time.",
        ),
    ] = False
    memory_rows: RowsInMemory = 2_000_000

    frontier_memory: Annotated[
        float,
        Field(
            gt=0,
            allow_inf_nan=False,
            title="Frontier memory",
            description="Megabytes for the counts of the open nodes; beyond it the rows are divided into files.",
        ),
    ] = 256.0

    @property
    def frontier_bytes(self) -> int:
        """Bytes for frequency sets."""
        return int(self.frontier_memory * MEGABYTE)

    @field_validator("strict")
    @classmethod
    def _stays_strict(cls, strict: bool) -> bool:
        if not strict:
            raise ValueError("strict stays on: counts and samples cannot tell rows of a shared median apart.")
        return strict

    @field_validator("refine")
    @classmethod
    def _stays_unrefined(cls, refine: bool) -> bool:
        if refine:
            raise ValueError("refine stays off: groups that are not in memory at the same time cannot exchange rows.")
        return refine

    @abstractmethod
    def parts(self, setting: Setting, rows: Rows) -> Iterator[Part]:
        """The parts of the rows that fit in memory or are one class, from left to right."""

    @abstractmethod
    def account(self, counters: Counters) -> str:
        """What a run did, as one note."""

    def _release(self, data: Microdata, progress: Progress) -> Release:
        setting = Setting.of(self, data)
        columns = [data.codes[name] for name in data.quasi_identifiers]
        columns += [view.codes for view in setting.checks.views]
        if self.uses_target and self.target is not None:
            columns.append(data.codes[self.target])
        # In order of content a sample depends on the seed alone, not on the order of the input.
        order = data.canonical_order
        rows = np.stack([*(column[order] for column in columns), order.astype(np.int32)], axis=1)
        group = np.empty(data.n_rows, np.int32)
        boxes: list[Int32] = []
        done = n_groups = 0
        for part in self.parts(setting, MemoryRows(rows)):
            own = part.rows.rows  # type: ignore[attr-defined]
            of_row, of_part = setting.finished(own, part.region, part.is_class)
            group[own[:, -1]] = of_row + n_groups
            boxes.append(of_part)
            n_groups += int(of_row[-1]) + 1
            done += len(own)
            setting.counters.rows_read += len(own)
            progress(0.05 + 0.85 * done / data.n_rows, f"{done:,} of {data.n_rows:,} rows in their groups")
        partition = Partition(group)
        if self.recoding == "regions":
            release = self.with_regions(data, partition, np.concatenate(boxes))
        else:
            release = generalized_release(self, data, partition, ("Cells are the ranges of the rows present.",))
        return replace(release, notes=(*release.notes, self.account(setting.counters)))
