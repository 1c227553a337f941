"""Random tables with groups, and requirements defined once more, slowly, on plain lists of values."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from hypothesis import strategies as st

from anoncore import Microdata, Partition


@dataclass(frozen=True)
class Grouped:
    """A sensitive column with groups. The frame's index repeats labels that look like positions of other rows."""

    values: list[Any]
    group: list[int]
    data: Microdata
    partition: Partition

    def members(self, group: int) -> list[Any]:
        return [value for value, number in zip(self.values, self.group, strict=True) if number == group]


def misleading_index(n_rows: int) -> list[int]:
    return [(n_rows - 1 - row) // 2 for row in range(n_rows)]


def grouped(values: Sequence[Any], group: Sequence[int], **tags: Any) -> Grouped:
    frame = pd.DataFrame({"s": pd.Series(list(values), dtype=object)})
    frame.index = pd.Index(misleading_index(len(frame)))
    kinds = {"s": "numeric"} if tags.pop("numeric", False) else {"s": "nominal"}
    data = Microdata(frame, roles={"s": "sensitive"}, kinds=kinds, **tags)
    return Grouped(list(values), list(group), data, Partition(np.array(group, dtype=np.int32)))


@st.composite
def random_groups(draw: st.DrawFn, values: Sequence[Any], **tags: Any) -> Grouped:
    """One to 14 rows with values of the list in up to four groups."""
    rows = draw(st.lists(st.sampled_from(list(values)), min_size=1, max_size=14))
    numbers = draw(st.lists(st.integers(0, 3), min_size=len(rows), max_size=len(rows)))
    dense = np.unique(numbers, return_inverse=True)[1]
    return grouped(rows, dense.tolist(), **tags)


def counted(values: Sequence[Any], protected: Collection[Any] | None = None) -> list[int]:
    """Counts of the values in a group, descending; rows outside a protected set are each a value of their own."""
    labels: list[Hashable] = [
        value if protected is None else ("protected" if value in protected else row) for row, value in enumerate(values)
    ]
    return sorted(Counter(labels).values(), reverse=True)


def plain_entropy(counts: Sequence[int]) -> float:
    shares = [count / sum(counts) for count in counts]
    return math.exp(-sum(share * math.log(share) for share in shares))


def plain_recursive(counts: Sequence[int], c: float, l: int) -> bool:
    return l == 1 or counts[0] < c * sum(counts[l - 1 :])


def shares(values: Sequence[Any], domain: Sequence[Any]) -> np.ndarray:
    return np.array([sum(value == one for value in values) for one in domain]) / len(values)
