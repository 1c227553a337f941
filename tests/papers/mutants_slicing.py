"""Broken versions of slicing, and the statements that each must break."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import numpy as np

from anoncore import Microdata, attacks
from anoncore.algorithms import Slicing
from tests.papers import theorems, worked
from tests.papers.broken import EVERY, NEVER, RANDOM, Broken, at_random, examples, grouped_by, never_splits


@contextmanager
def one_level() -> Iterator[None]:
    """Slicing takes every l for 1."""
    with patch.object(Slicing, "levels_of", lambda self, data: dict.fromkeys(data.sensitive, 1.0)):
        yield


@contextmanager
def single_columns() -> Iterator[None]:
    """Every attribute is a column of its own, whatever columns are asked for."""
    made = theorems.sliced
    with patch.object(
        theorems, "sliced", lambda data, group, columns: made(data, group, [[n] for c in columns for n in c])
    ):
        yield


@contextmanager
def no_beliefs() -> Iterator[None]:
    """Nobody believes anything."""
    posterior = attacks.sensitive_posterior
    with patch.object(attacks, "sensitive_posterior", lambda release, name: 0 * posterior(release, name)):
        yield


@contextmanager
def columns_by_name() -> Iterator[None]:
    """Attributes are put into columns in the order of their names."""

    def by_name(data: Microdata, columns: int, size: int | None) -> Any:
        parts = np.array_split(np.array(sorted(data.attributes)), columns)
        return SimpleNamespace(columns=tuple(tuple(part.tolist()) for part in parts))

    with patch.object(theorems, "partition_attributes", by_name):
        yield


EXAMPLES = examples(worked.slicing)
PROVEN = examples(theorems.slicing)
MUTANTS = (
    Broken("slicing", NEVER, EXAMPLES, grouped_by(Slicing, never_splits), {"figure 1": ("buckets are those",)}),
    Broken("slicing", RANDOM, EXAMPLES, grouped_by(Slicing, at_random), {"figure 1": ("buckets are those",)}),
    Broken("slicing", "ignores l", EXAMPLES, one_level, {"figure 1": EVERY}),
    Broken("slicing", "zeros are published", PROVEN, no_beliefs, {"fact 1": EVERY}),
    Broken(
        "slicing", "columns are ignored", PROVEN, single_columns,
        {"section 2": ("attributes of one column",), "section 4.2": EVERY, "section 5": ("the number of fake",)},
    ),
    Broken("slicing", "columns by name", PROVEN, columns_by_name, {"section 4.1": ("with alpha = 1",)}),
)  # fmt: skip
