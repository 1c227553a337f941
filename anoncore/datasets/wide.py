"""A wide made-up table: many numeric measurements in correlated blocks, and a class that depends on a few of them."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from anoncore.datasets.catalog import (
    IDENTIFIER,
    NOMINAL,
    NUMERIC,
    QUASI_IDENTIFIER,
    SENSITIVE,
    Table,
    check_seed,
    check_size,
    value_column,
)

DEFAULT_ROWS = 2_000
BLOCKS = 20
FEATURES = tuple(f"m{block + 1:02d}{letter}" for block in range(BLOCKS) for letter in "abc")
DIAGNOSES = ("none", "anaemia", "gout", "goitre")
CORRELATION = 0.8
"""Of two measurements of one block."""

# A diagnosis is drawn to the people in whom its two blocks are high; the offsets make it rarer from left to right.
_BLOCKS_OF = ((0, 1), (2, 3), (4, 5))
_OFFSETS = (-1.3, -1.8, -2.5)
_NOISE = 0.4


def load_wide(n_rows: int = DEFAULT_ROWS, seed: int = 0) -> pd.DataFrame:
    """`n_rows` people with an id, 60 measurements (whole numbers from 0 to 200) and a diagnosis.

    Measurements of a block, such as m01a, m01b, m01c, correlate with 0.8; blocks are independent, and six of the twenty
    decide on the diagnosis, up to noise. Raises DataError for fewer than one row or a negative seed.
    """
    n_rows = check_size(n_rows)
    rng = np.random.default_rng(check_seed(seed))
    blocks = rng.standard_normal((n_rows, BLOCKS))
    own = rng.standard_normal((n_rows, BLOCKS, len(FEATURES) // BLOCKS))
    values = np.sqrt(CORRELATION) * blocks[:, :, None] + np.sqrt(1 - CORRELATION) * own
    numbers = np.clip(np.rint(100 + 25 * values.reshape(n_rows, -1)), 0, 200).astype(np.int64)
    frame = pd.DataFrame(numbers, columns=pd.Index(FEATURES))
    frame.insert(0, "person-id", rng.permutation(n_rows) + 1)
    frame["diagnosis"] = value_column(DIAGNOSES, _diagnosis(blocks, rng))
    return frame


def _diagnosis(blocks: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.int64]:
    """The diagnosis with the highest score; none has score 0."""
    scores = np.zeros((len(blocks), len(DIAGNOSES)))
    for place, (pair, offset) in enumerate(zip(_BLOCKS_OF, _OFFSETS, strict=True), start=1):
        scores[:, place] = blocks[:, pair].sum(axis=1) + offset + _NOISE * rng.standard_normal(len(blocks))
    return np.argmax(scores, axis=1)


WIDE = Table(
    name="wide",
    title="Measurements (2,000 rows, 60 features)",
    description=(
        "Made-up people with 60 laboratory measurements in 20 correlated blocks and a diagnosis that depends on six of "
        "them: a table too wide to be generalized as a whole."
    ),
    source="Generated: normal numbers in blocks of three that correlate with 0.8.",
    load=load_wide,
    roles={"person-id": IDENTIFIER, **dict.fromkeys(FEATURES, QUASI_IDENTIFIER), "diagnosis": SENSITIVE},
    kinds={**dict.fromkeys(FEATURES, NUMERIC), "diagnosis": NOMINAL},
)
