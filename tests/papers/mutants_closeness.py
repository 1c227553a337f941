"""Broken versions of t-closeness's methods, and the statements that each must break."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from anoncore import Microdata, Release, privacy
from anoncore.algorithms import Anatomy, RandomPartition, SensitiveSpaceFragmentation, StackAndDeal
from anoncore.algorithms.closeness import sensitive_space
from anoncore.algorithms.closeness.locality import Multiplicity
from anoncore.datasets import table
from anoncore.privacy import levels
from tests.papers import t_closeness, theorems, worked_closeness
from tests.papers.broken import (
    EVERY,
    NEVER,
    RANDOM,
    Breaking,
    Broken,
    at_random,
    both,
    examples,
    flat_hierarchies,
    grouped_by,
    never_splits,
    replaced,
)
from tests.papers.findings import Findings, Statements


class _Unsaved(t_closeness.Report):
    """A report that writes nothing."""

    def save(self, name: str, frame: pd.DataFrame, figure: go.Figure) -> None:
        """Leave the table and its plot."""


def _tables() -> dict[str, Microdata]:
    entry = table("t-closeness-dataset-1")
    first = Microdata(entry.load(), roles=entry.roles, kinds=entry.kinds, orders=entry.orders)
    binned = t_closeness.heart_in_bins()
    return {"Heart, cholesterol in bins": binned, "Data set 1": first, "Heart, two attributes": t_closeness.heart()}


def _over_k() -> Statements:
    found = Findings()
    t_closeness.over_k(_Unsaved(Path(), found), _tables())
    return found.said


SPACED = "ten equally spaced bins"
TIMES = 4
"""Random partitions per k and group."""


def _among_random() -> Statements:
    """Figures 3.1, 3.2 and 5.1 with few random partitions."""
    found = Findings()
    report, tables = _Unsaved(Path(), found), _tables()
    t_closeness.against_groups(report, "3.1", tables["Data set 1"], "", TIMES)
    readings = {
        t_closeness.ORDERED: (tables["Heart, cholesterol in bins"], t_closeness.ORDERED),
        SPACED: (tables["Heart, cholesterol in bins"], t_closeness.INTERVAL),
        "order of the stack": (t_closeness.heart_in_bins(stacked=True), t_closeness.ORDERED),
    }
    for name, (data, reading) in readings.items():
        found.said.reading = name
        t_closeness.against_groups(report, "3.2", data, "", TIMES, reading)
    t_closeness.with_two_attributes(report, TIMES)
    return found.said


MANY_TIMES = 70
"""Random partitions per k of group D, of which few are closer than Stack & Deal."""


def _among_uniform() -> Statements:
    """Figure 3.2 with many random partitions of group D, and one of each other group, in two readings."""
    found = Findings()
    report, data, drawn = _Unsaved(Path(), found), t_closeness.heart_in_bins(), t_closeness.drawn
    few = lambda data, k, group, times: drawn(data, k, group, times if group == "D" else 1)  # noqa: E731
    with patch.object(t_closeness, "drawn", few):
        for name, reading in ((t_closeness.ORDERED, t_closeness.ORDERED), (SPACED, t_closeness.INTERVAL)):
            found.said.reading = name
            t_closeness.against_groups(report, "3.2", data, "", MANY_TIMES, reading)
    return found.said


def _zeros(release: Release, *of: Any, **about: Any) -> Any:
    return np.zeros(release.partition.n_groups)


def no_distance() -> Any:
    """Every class is as far from the table as the table itself."""
    return both(
        patch.object(privacy, "emd", _zeros), patch.object(levels, "emd", _zeros),
        patch.object(t_closeness.privacy, "closeness", lambda *of, **about: 0.0),
    )  # fmt: skip


@contextmanager
def tenfold_t() -> Iterator[None]:
    """t is taken for ten times as much."""

    def lenient(t: dict[str, float], **fields: Any) -> SensitiveSpaceFragmentation:
        return SensitiveSpaceFragmentation(t={name: min(1.0, 10 * one) for name, one in t.items()}, **fields)

    with (
        patch.object(worked_closeness, "SensitiveSpaceFragmentation", lenient),
        patch.object(theorems, "SensitiveSpaceFragmentation", lenient),
    ):
        yield


def two_merged(release: Release) -> Any:
    """The first two classes are one."""
    group = release.partition.group.copy()
    group[group == 1] = 0
    return group


def one_moved(release: Release) -> Any:
    """Two rows of the last class stand in the first one."""
    group = release.partition.group.copy()
    group[np.flatnonzero(group == group.max())[:2]] = 0
    return group


def stack_cut(release: Release) -> Any:
    """Every class has rows that follow each other in the stack."""
    stack = np.lexsort([release.data.codes[name] for name in release.data.sensitive])
    group = np.empty(len(stack), dtype=np.int64)
    group[stack] = np.repeat(np.arange(release.partition.n_groups), release.partition.sizes)
    return group


@contextmanager
def other_classes() -> Iterator[None]:
    """Everybody is published in the class of the row before them."""
    made = worked_closeness.generalized
    with patch.object(worked_closeness, "generalized", lambda data, groups: made(data, np.roll(groups, 1).tolist())):
        yield


@contextmanager
def single_class() -> Iterator[None]:
    """All rows are published in one class."""
    made = worked_closeness.generalized
    with patch.object(worked_closeness, "generalized", lambda data, groups: made(data, [0] * len(groups))):
        yield


@contextmanager
def half_bounds() -> Iterator[None]:
    """Aggregate bounds are half of what they are."""
    find, other = worked_closeness.find_fragmentation, sensitive_space.find_fragmentation

    def halved(cells: Any, t: Any, found: Any = find) -> Any:
        order, tree, bound = found(cells, t)
        return order, tree, bound / 2

    with (
        patch.object(worked_closeness, "find_fragmentation", halved),
        patch.object(sensitive_space, "find_fragmentation", lambda cells, t: halved(cells, t, other)),
    ):
        yield


@contextmanager
def frequencies_ignored() -> Iterator[None]:
    """Random partitions do not keep the frequencies of sensitive values, whatever is asked for."""
    draw = RandomPartition.draw

    def any_frequencies(self: RandomPartition, *of: Any) -> Any:
        return draw(self.model_copy(update={"uniform_frequencies": False}), *of)

    with patch.object(RandomPartition, "draw", any_frequencies):
        yield


@contextmanager
def one_k() -> Iterator[None]:
    """Classes are dealt for k = 10, whatever k is."""
    dealt = t_closeness.dealt
    with patch.object(t_closeness, "dealt", lambda data, k, *of: dealt(data, 10, *of)):
        yield


def loss(value: Any) -> Breaking:
    """The information loss is something else."""
    return replaced(theorems.utility, "information_loss", value)


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
    find = sensitive_space.find_fragmentation
    with patch.object(sensitive_space, "find_fragmentation", lambda cells, t: find(cells, np.full(len(t), 1e9))):
        yield


EXAMPLES = examples(worked_closeness.closeness)
PROVEN = examples(theorems.closeness)
OVER_K, AMONG_RANDOM, AMONG_UNIFORM = _over_k, _among_random, _among_uniform
CLOSEST, FRAGMENTS, CONFORMING, LOSSES = (
    examples(part) for part in (theorems._closest, theorems._fragments, theorems._conforming, theorems._over_k)
)
"""Parts of PROVEN: chapter 7, sections 4.4 and 4.5, section 4.4.2, and chapter 6."""
DEALT = ("the sizes", "so do the frequencies", "there are floor")
MUTANTS = (
    Broken("t-closeness", "hierarchies are flat", EXAMPLES, flat_hierarchies, {"figure 2.3": EVERY}),
    Broken(
        "t-closeness", NEVER, EXAMPLES, grouped_by(Anatomy, never_splits), {"table 2.4": EVERY, "table 2.5": EVERY}
    ),
    Broken(
        "t-closeness", RANDOM, EXAMPLES, grouped_by(Anatomy, at_random), {"table 2.4": EVERY, "table 2.5": EVERY}
    ),
    Broken("t-closeness", "everybody is in another class", EXAMPLES, other_classes, {
        "table 2.9": EVERY, "table 2.11": ("zip codes", "every class has three values of disease"),
    }),
    Broken("t-closeness", "all rows are one class", EXAMPLES, single_class, {
        "table 2.9": EVERY, "table 2.11": EVERY,
    }),
    Broken("t-closeness", "the rarest first", EXAMPLES, stacked_from_below, {"table 3.2": EVERY, "table 5.3": EVERY}),
    Broken("t-closeness", RANDOM, EXAMPLES, grouped_by(StackAndDeal, at_random), {
        "table 3.3": EVERY, "table 3.4": ("distances along",),
    }),
    Broken("t-closeness", "every distance is 0", EXAMPLES, no_distance, {"figure 4.1": EVERY}),
    Broken("t-closeness", "t is taken tenfold", EXAMPLES, tenfold_t, {"figure 4.1": EVERY}),
    Broken(
        "t-closeness", NEVER, EXAMPLES, grouped_by(SensitiveSpaceFragmentation, never_splits),
        {"figure 4.1": EVERY, "figure 4.8": EVERY},
    ),
    Broken("t-closeness", RANDOM, EXAMPLES, grouped_by(SensitiveSpaceFragmentation, at_random), {
        "figure 4.1": EVERY, "figure 4.8": EVERY,
    }),
    Broken("t-closeness", "bounds are ignored", EXAMPLES, bounds_ignored, {"figure 4.6": EVERY}),
    Broken("t-closeness", "bounds are halved", EXAMPLES, half_bounds, {"figure 4.6": EVERY}),
    Broken("t-closeness", "zeros are published", EXAMPLES, no_counts, {"table 5.2": EVERY}),
    Broken("t-closeness", RANDOM, OVER_K, grouped_by(StackAndDeal, at_random), {
        "figure 6.1": (
            "Heart, two attributes: it is that", "Data set 1: it is that", "Heart, cholesterol in bins: it is that",
        ),
    }),
    Broken("t-closeness", "every distance is 0", OVER_K, no_distance, {
        "figure 6.1": (
            "Heart, two attributes: the privacy", "Data set 1: the privacy", "Heart, cholesterol in bins: the privacy",
        ),
    }),
    Broken("t-closeness", "k is ignored", OVER_K, one_k, {
        "figure 6.1": (
            "Heart, two attributes: the privacy", "Data set 1: the privacy", "Heart, cholesterol in bins: the privacy",
        ),
    }),
    Broken("t-closeness", "every distance is 0", AMONG_RANDOM, no_distance, {
        "figure 3.1": ("Group A", "Group B", "Group C"), "figure 3.2": ("Group A", "Group B", "Group C"),
        "figure 5.1": ("With restricted",),
    }),
    Broken("t-closeness", RANDOM, AMONG_RANDOM, grouped_by(StackAndDeal, at_random), {
        "figure 3.1": ("Group A", "Group B", "Group C"), "figure 3.2": ("Group A", "Group B", "Group C"),
    }),
    Broken("t-closeness", "the stack is cut, not dealt", AMONG_RANDOM, grouped_by(StackAndDeal, stack_cut), {
        "figure 3.1": ("Group A", "Group B", "Group C"), "figure 3.2": ("Group A", "Group B", "Group C"),
        "figure 5.1": ("With restricted",),
    }),
    Broken("t-closeness", "random partitions keep no frequencies", AMONG_UNIFORM, frequencies_ignored, {
        "figure 3.2": ("Group D: for every k",),
    }),
    Broken("t-closeness", "every distance is 0", AMONG_UNIFORM, no_distance, {"figure 3.2": ("Group D: for every k",)}),
    Broken("t-closeness", RANDOM, PROVEN, grouped_by(StackAndDeal, at_random), {
        "section 3.6": ("so do the frequencies",), "section 5.4": ("so do the frequencies",),
    }),
    Broken("t-closeness", "two classes are one", PROVEN, grouped_by(StackAndDeal, two_merged), {
        "section 3.6": ("the sizes", "there are floor"), "section 5.4": ("the sizes", "there are floor"),
    }),
    Broken("t-closeness", "two rows are moved", PROVEN, grouped_by(StackAndDeal, one_moved), {
        "section 3.6": ("the sizes", "there are floor"), "section 5.4": ("the sizes", "there are floor"),
    }),
    Broken("t-closeness", NEVER, PROVEN, grouped_by(StackAndDeal, never_splits), {
        "section 3.6": DEALT, "section 5.4": DEALT, "chapter 6": EVERY, "chapter 7": EVERY,
    }),
    Broken("t-closeness", "information loss is the size of classes", LOSSES, loss(
        lambda release: float(release.partition.sizes.mean())
    ), {"chapter 6": EVERY}),
    Broken("t-closeness", "nothing is lost", LOSSES, loss(lambda release: 0.0), {"chapter 6": EVERY}),
    Broken("t-closeness", "every distance is 0", CLOSEST, no_distance, {"chapter 7": EVERY}),
    Broken("t-closeness", "every distance is 0", FRAGMENTS, no_distance, {"section 4.5": ("the method serves",)}),
    Broken("t-closeness", "bounds are ignored", FRAGMENTS, space_uncut, {"section 4.4": EVERY}),
    Broken("t-closeness", "bounds are halved", FRAGMENTS, half_bounds, {"section 4.4": EVERY}),
    Broken("t-closeness", "t is taken tenfold", FRAGMENTS, tenfold_t, {"section 4.5": ("the method serves",)}),
    Broken("t-closeness", NEVER, FRAGMENTS, grouped_by(SensitiveSpaceFragmentation, never_splits), {
        "section 4.5": EVERY,
    }),
    Broken("t-closeness", RANDOM, FRAGMENTS, grouped_by(SensitiveSpaceFragmentation, at_random), {
        "section 4.5": ("the method serves",),
    }),
    Broken("t-closeness", NEVER, CONFORMING, grouped_by(SensitiveSpaceFragmentation, never_splits), {
        "section 4.4.2": EVERY,
    }),
    Broken("t-closeness", RANDOM, CONFORMING, grouped_by(SensitiveSpaceFragmentation, at_random), {
        "section 4.4.2": ("in the example",),
    }),
)  # fmt: skip
