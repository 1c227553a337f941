"""A wide made-up table: many numeric measurements in correlated blocks, and a class that depends on a few of them."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from anoncore.datasets.data_files import number, read_csv, tables_folder
from anoncore.datasets.generated import ColumnValues, check_seed, check_size, value_column

DEFAULT_ROWS = 2_000
BLOCKS = 20
FEATURES = tuple(f"m{block + 1:02d}{letter}" for block in range(BLOCKS) for letter in "abc")
CORRELATION = 0.8
"""The correlation of two measurements of one block."""

_HEALTHY = "none"
_NOISE = 0.4


def load_wide(n_rows: int = DEFAULT_ROWS, seed: int = 0) -> pd.DataFrame:
    """People with an id, 60 measurements (whole numbers from 0 to 200) and a diagnosis.

    Two measurements of one block, such as m01a and m01b, correlate with 0.8; measurements of different blocks are
    independent. Six of the twenty blocks decide on the diagnosis, up to noise.

    Parameters
    ----------
    n_rows : int
        How many people, at least 1.
    seed : int
        At least 0; the same size and seed give the same table.

    Returns
    -------
    DataFrame
        The columns person-id, m01a, m01b, m01c, m02a and so on to m20c, and diagnosis.

    Raises
    ------
    DataError
        For fewer than one row and for a negative seed.
    """
    n_rows = check_size(n_rows)
    rng = np.random.default_rng(check_seed(seed))
    blocks = rng.standard_normal((n_rows, BLOCKS))
    own = rng.standard_normal((n_rows, BLOCKS, len(FEATURES) // BLOCKS))
    values = np.sqrt(CORRELATION) * blocks[:, :, None] + np.sqrt(1 - CORRELATION) * own
    numbers = np.clip(np.rint(100 + 25 * values.reshape(n_rows, -1)), 0, 200).astype(np.int64)
    frame = pd.DataFrame(numbers, columns=pd.Index(FEATURES))
    frame.insert(0, "person-id", rng.permutation(n_rows) + 1)
    frame["diagnosis"] = _diagnosis(blocks, rng)
    return frame


def _diagnosis(blocks: NDArray[np.float64], rng: np.random.Generator) -> ColumnValues:
    """The diagnosis with the highest score of each person: high blocks raise the score, and being healthy scores 0."""
    path = tables_folder() / "generated" / "wide" / "diagnosis.csv"
    lines = read_csv(path)[1:]
    scores = np.zeros((len(blocks), 1 + len(lines)))
    for column, (_, first, second, offset) in enumerate(lines, start=1):
        pair = [int(number(path, block)) - 1 for block in (first, second)]
        noise = _NOISE * rng.standard_normal(len(blocks))
        scores[:, column] = blocks[:, pair].sum(axis=1) + number(path, offset) + noise
    return value_column([_HEALTHY, *(diagnosis for diagnosis, *_ in lines)], np.argmax(scores, axis=1))
