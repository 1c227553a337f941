"""Finishing a part: the same kernel as Mondrian's grows its rows in memory to the leaves."""

from __future__ import annotations

import numpy as np

from anoncore.algorithms.rothko.setting import Setting
from anoncore.kernels.arrays import Int32
from anoncore.kernels.mondrian import Partitioning, grow, spare_for


def finish_rows(setting: Setting, rows: Int32, region: Int32, is_class: bool) -> tuple[Int32, Int32]:
    """Group (n_rows,) of each row as the rows then stand, and the groups' boxes (n_groups, n_attributes, 2).

    `rows`, int32 (n_rows, width + 1), are moved so that groups follow each other; their last column moves along. Boxes
    are made only where the algorithm publishes them. `is_class`: all rows are one group.
    """
    n = len(rows)
    wants_boxes = setting.model.recoding == "regions"
    boxes = np.empty((n if wants_boxes else 0, *region.shape), np.int32)
    boxes[:1] = region
    starts = np.zeros(n, np.uint8)
    if is_class:
        starts[0] = 1
    else:
        table = Partitioning(rows, spare_for(rows), boxes, starts)
        # The kernel reads where sensitive values are counted, all others their codes.
        rows[:, setting.sensitive] += setting.kernel_checks.count_start[:-1]
        grow(table, 0, n, n, setting.attributes, setting.search, setting.kernel_checks)
        rows[:, setting.sensitive] -= setting.kernel_checks.count_start[:-1]
    group = np.cumsum(starts, dtype=np.int32) - 1
    return group, boxes[np.flatnonzero(starts)] if wants_boxes else boxes
