"""What the two Rothko algorithms share: Mondrian's strict cuts, on rows that an engine holds."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from anoncore.algorithms.base import generalized_release
from anoncore.algorithms.rothko.fields import RothkoFields
from anoncore.algorithms.rothko.finish import finish_rows
from anoncore.algorithms.rothko.rows import MemoryRows, Rows
from anoncore.algorithms.rothko.setting import Counters, Part, Setting
from anoncore.base.progress import Progress
from anoncore.kernels.arrays import Int32
from anoncore.release.partition import Partition
from anoncore.release.release import Release
from anoncore.table.microdata import Microdata


class Rothko(RothkoFields):
    """Mondrian on rows that do not fit in memory at once: `parts` divides them until they do."""

    source = "LeFevre and DeWitt, Scalable Anonymization Algorithms for Large Data Sets, TR 1590, 2007"

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
            of_row, of_part = finish_rows(setting, own, part.region, part.is_class)
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
