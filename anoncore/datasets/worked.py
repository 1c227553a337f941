"""Small parts of which the worked examples of the papers are made."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd

from anoncore.datasets.catalog import Taxonomy


def rows(columns: Sequence[str], *records: tuple[object, ...]) -> Callable[[], pd.DataFrame]:
    """A loader that gives a fresh table of the records, one per row."""
    return lambda: pd.DataFrame(list(records), columns=list(columns))


def spread(values: Sequence[object], counts: Sequence[int]) -> list[object]:
    """Each value as often as its count says, in a fixed order that keeps equal values apart."""
    stacked = [value for value, count in zip(values, counts, strict=True) for _ in range(count)]
    # A stride without a common factor visits every position once.
    stride = next(step for step in range(97, 97 + len(stacked)) if np.gcd(step, len(stacked)) == 1)
    return [stacked[position * stride % len(stacked)] for position in range(len(stacked))]


def made_up_ages(n_rows: int) -> list[int]:
    """Ages from 20 to 64 for examples whose text gives no quasi-identifier, the same at every call."""
    return [20 + 37 * row % 45 for row in range(n_rows)]


def zipcode_taxonomy(codes: Sequence[str]) -> Taxonomy:
    """Five-digit codes below their first four digits (`4767*`), and those below their first three (`476**`)."""
    taxonomy: dict[str, dict[str, list[str]]] = {}
    for code in sorted(set(codes)):
        taxonomy.setdefault(f"{code[:3]}**", {}).setdefault(f"{code[:4]}*", []).append(code)
    return taxonomy
