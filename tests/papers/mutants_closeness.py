"""Broken versions of t-closeness's methods, and the statements that each must break."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from anoncore import Microdata
from anoncore.algorithms import Anatomy, SensitiveSpaceFragmentation, StackAndDeal
from anoncore.algorithms.closeness import sensitive_fragmentation
from anoncore.algorithms.closeness.multiplicity import Multiplicity
from tests.papers import t_closeness, theorems, worked_closeness
from tests.papers.broken import (
    EVERY,
    NEVER,
    RANDOM,
    Broken,
    at_random,
    examples,
    flat_hierarchies,
    grouped_by,
    never_splits,
)
from tests.papers.findings import Findings, Statements


def _over_k() -> Statements:
    found = Findings()
    with tempfile.TemporaryDirectory() as folder:
        report = t_closeness.Report(Path(folder), found)
        t_closeness.over_k(report, {"Heart, two attributes": t_closeness.heart()})
    return found.said


@contextmanager
def stacked_from_below() -> Iterator[None]:
    """The rarest value comes first."""
    stack_of = StackAndDeal.stack_of

    def reverse(self: StackAndDeal, data: Microdata) -> Any:
        stack = stack_of(self, data)
        return replace(stack, order=stack.order[::-1])

    with patch.object(StackAndDeal, "stack_of", reverse):
        yield


@contextmanager
def bounds_ignored() -> Iterator[None]:
    """The space of sensitive values is never cut."""
    find = worked_closeness.find_fragmentation
    with patch.object(worked_closeness, "find_fragmentation", lambda cells, t: find(cells, np.full(len(t), 1e9))):
        yield


@contextmanager
def no_counts() -> Iterator[None]:
    """The multiplicity matrix is all zeros."""
    with patch.object(Multiplicity, "counts", property(lambda self: np.zeros(len(self.cells), dtype=np.int64))):
        yield


@contextmanager
def space_uncut() -> Iterator[None]:
    """The space of sensitive values is never cut."""
    find = sensitive_fragmentation.find_fragmentation
    with patch.object(
        sensitive_fragmentation, "find_fragmentation", lambda cells, t: find(cells, np.full(len(t), 1e9))
    ):
        yield


EXAMPLES = examples(worked_closeness.closeness)
PROVEN = examples(theorems.closeness)
MUTANTS = (
    Broken("t-closeness", "hierarchies are flat", EXAMPLES, flat_hierarchies, {"figure 2.3": EVERY}),
    Broken(
        "t-closeness", NEVER, EXAMPLES, grouped_by(Anatomy, never_splits), {"table 2.4": EVERY, "table 2.5": EVERY}
    ),
    Broken(
        "t-closeness", RANDOM, EXAMPLES, grouped_by(Anatomy, at_random), {"table 2.4": EVERY, "table 2.5": EVERY}
    ),
    Broken("t-closeness", "the rarest first", EXAMPLES, stacked_from_below, {"table 3.2": EVERY, "table 5.3": EVERY}),
    Broken("t-closeness", RANDOM, EXAMPLES, grouped_by(StackAndDeal, at_random), {"table 3.3": EVERY}),
    Broken(
        "t-closeness", NEVER, EXAMPLES, grouped_by(SensitiveSpaceFragmentation, never_splits),
        {"figure 4.1": EVERY, "figure 4.8": EVERY},
    ),
    Broken("t-closeness", RANDOM, EXAMPLES, grouped_by(SensitiveSpaceFragmentation, at_random), {"figure 4.1": EVERY}),
    Broken("t-closeness", "bounds are ignored", EXAMPLES, bounds_ignored, {"figure 4.6": EVERY}),
    Broken("t-closeness", "zeros are published", EXAMPLES, no_counts, {"table 5.2": EVERY}),
    Broken(
        "t-closeness", RANDOM, _over_k, grouped_by(StackAndDeal, at_random),
        {"figure 6.1": ("Heart, two attributes: it is that",)},
    ),
    Broken(
        "t-closeness", RANDOM, PROVEN, grouped_by(StackAndDeal, at_random),
        {"section 3.6": ("so do the frequencies",), "section 5.4": ("so do the frequencies",)},
    ),
    Broken("t-closeness", NEVER, PROVEN, grouped_by(StackAndDeal, never_splits), {"chapter 6": EVERY}),
    Broken("t-closeness", "bounds are ignored", PROVEN, space_uncut, {"section 4.4": EVERY}),
    Broken(
        "t-closeness", RANDOM, PROVEN, grouped_by(SensitiveSpaceFragmentation, at_random),
        {"section 4.5": ("the method serves",)},
    ),
)  # fmt: skip
