"""Attribute sets whose signatures are frequent enough to learn from, level by level."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt
import pandas as pd

from anoncore.table.microdata import Codes, Microdata

Floats = npt.NDArray[np.float64]
Int64 = npt.NDArray[np.int64]
DENSE = 4
"""Keys per row up to which they are counted in place instead of sorted."""


@dataclass(frozen=True, eq=False)
class Signatures:
    """The reliable signatures of one attribute set: those with at least J rows.

    `classes` int32 (n_rows,): 0..m-1 for the reliable signatures, m for all other rows. `rows` int64 (m,) counts them,
    `values` int32 (m, number of attributes) are their codes.
    """

    attributes: tuple[str, ...]
    classes: Codes
    rows: Int64
    values: Codes

    def __len__(self) -> int:
        return len(self.rows)


@dataclass(frozen=True, eq=False)
class SetLeak:
    """What one attribute set gives away on its own.

    `signatures` int32 (m, number of attributes): codes of its reliable signatures; `rows` int64 (m,) how many rows each
    has; `learned` and `true` float (m, n_values): p(s:x) by the release and by the original table. `recall`, `flagged`
    and `mean_probability` are the attack's figures with this set alone. `relative_error`: mean of |learned - true| /
    true where true > 0 (NaN if nowhere), `guessing_error` the same for the overall share in place of learned.
    `mean_range`: mean over groups and values of the largest minus the smallest p(s:x) in a group. `steps` of the solver
    over all values; `seconds` to learn; `contradicted` groups that no world explains.
    """

    attributes: tuple[str, ...]
    signatures: Codes
    rows: Int64
    learned: Floats
    true: Floats
    recall: float
    flagged: float
    mean_probability: float
    relative_error: float
    guessing_error: float
    mean_range: float
    steps: int
    converged: bool
    contradicted: int
    seconds: float

    @property
    def label(self) -> str:
        """The attributes as text."""
        return ", ".join(self.attributes)


def everyone(data: Microdata) -> Signatures:
    """The empty attribute set, which tells nobody apart."""
    codes = np.zeros(data.n_rows, dtype=np.int32)
    return Signatures((), codes, np.array([data.n_rows]), np.zeros((1, 0), dtype=np.int32))


def signatures_of(data: Microdata, attributes: Sequence[str], minimum_rows: float) -> Signatures | None:
    """The reliable signatures of one attribute set; None if there are none."""
    found: Signatures | None = everyone(data)
    for name in attributes:
        found = None if found is None else _refined(found, data, name, minimum_rows)
    return found


def levels(
    data: Microdata, names: Sequence[str], minimum_rows: float, max_size: int | None
) -> Iterator[tuple[Signatures, ...]]:
    """Attribute sets with a reliable signature, all of one size at a time.

    A signature is at most as frequent as any part of it, so a set is looked at only if all its subsets have one.
    """
    level: Mapping[tuple[str, ...], Signatures] = {(): everyone(data)}
    place = {name: i for i, name in enumerate(names)}
    for size in range(1, (len(names) if max_size is None else min(max_size, len(names))) + 1):
        found = {}
        for attributes, parent in level.items():
            for name in names[place[attributes[-1]] + 1 if attributes else 0 :]:
                wanted = (*attributes, name)
                if any(part not in level for part in combinations(wanted, size - 1)):
                    continue
                refined = _refined(parent, data, name, minimum_rows)
                if refined is not None:
                    found[wanted] = refined
        if not found:
            return
        yield tuple(found.values())
        level = found


def _refined(parent: Signatures, data: Microdata, name: str, minimum_rows: float) -> Signatures | None:
    """The parent's signatures split by one more attribute; rows that are unreliable already stay so."""
    codes, size = data.codes[name], len(data.domain[name])
    m = len(parent)
    key = parent.classes.astype(np.int64) * size + codes
    if (m + 1) * size <= DENSE * len(key):
        count = np.bincount(key, minlength=(m + 1) * size)
        kept = np.flatnonzero(count[: m * size] >= minimum_rows)
        renumber = np.full(len(count), len(kept), dtype=np.int32)
        renumber[kept] = np.arange(len(kept), dtype=np.int32)
        classes, rows = renumber[key], count[kept]
    else:
        place, unique = pd.factorize(key, sort=True)
        count = np.bincount(place)
        chosen = np.flatnonzero((count >= minimum_rows) & (unique < m * size))
        kept, rows = np.asarray(unique)[chosen], count[chosen]
        renumber = np.full(len(unique), len(kept), dtype=np.int32)
        renumber[chosen] = np.arange(len(kept), dtype=np.int32)
        classes = renumber[place]
    if len(kept) == 0:
        return None
    values = np.column_stack([parent.values[kept // size], (kept % size).astype(np.int32)])
    return Signatures((*parent.attributes, name), classes, rows, values)
