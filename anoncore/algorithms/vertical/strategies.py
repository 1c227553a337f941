"""The three ways to change class values so that joins of classes of different fragments are safe."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt

from anoncore.algorithms.vertical.enforcement import enforce, majority_values
from anoncore.kernels.arrays import Int64
from anoncore.privacy.join_blocks import ChangeRule, RowRule, SelectivityRule
from anoncore.release.partition import Partition
from anoncore.table.microdata import Microdata

Strategy = Literal["naive", "dependency", "selectivity"]
STRATEGIES: tuple[Strategy, ...] = ("naive", "dependency", "selectivity")


def enforced_counts(
    data: Microdata,
    common: str,
    partitions: Sequence[Partition],
    strategy: Strategy,
    k: int,
    delta: float,
    seed: int | None,
) -> list[Int64]:
    """Rows per class value in each class of each fragment after the changes, int64 (n_groups, n_values) each.

    `selectivity` has 0 for a value that the class no longer publishes. Classes are numbered by their first row in
    content order while they are changed, so that the order of the table changes nothing.
    """
    codes, size = data.codes[common], len(data.domain[common])
    orders = [_content_ranks(data, partition) for partition in partitions]
    counts = [partition.histogram(codes, size)[order] for partition, order in zip(partitions, orders, strict=True)]
    if strategy == "naive":
        changed = majority_values(counts)
    else:
        rule: ChangeRule = RowRule(k) if strategy == "dependency" else SelectivityRule(k, delta)
        changed = enforce(counts, rule, np.random.default_rng(seed))
    return [of_fragment[np.argsort(order)] for of_fragment, order in zip(changed, orders, strict=True)]


def _content_ranks(data: Microdata, partition: Partition) -> npt.NDArray[np.intp]:
    """The groups in the order of their first rows, where the table is sorted by content."""
    first = np.full(partition.n_groups, data.n_rows)
    np.minimum.at(first, partition.group[data.canonical_order], np.arange(data.n_rows))
    return np.argsort(first)
