"""Broken versions of slicing, and the statements that each must break."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import numpy as np

from anoncore import Microdata, Partition, Release, attacks
from anoncore.algorithms import Algorithm, RandomBuckets, Slicing
from anoncore.algorithms.slicing import attribute_partition
from anoncore.algorithms.slicing.columns import sliced_release
from tests.papers import slicing, slicing_statements, theorems, worked
from tests.papers.broken import (
    EVERY,
    NEVER,
    RANDOM,
    Breaking,
    Broken,
    at_random,
    both,
    examples,
    grouped_by,
    never_splits,
    replaced,
)
from tests.papers.findings import Statements

FEWER_ROWS = 2_000
LEVELS = (("distinct", 5), ("distinct", 10), ("posterior", 2), ("posterior", 3))


def _members() -> Statements:
    """Sections 6 and 6.3 and figures 6 and 7 on Adult, for two bucket sizes."""
    study = slicing.Study.of(None, 2, 1, sizes=(50, 100))
    said = Statements()
    tables = [slicing.members(study), slicing.split_off(study, 1), slicing.beyond_the_paper(study)]
    slicing_statements.judge_members(study.data, *tables, said)
    return said


def _classifiers() -> Statements:
    """Figures 3 to 5 on part of Adult, two folds and two levels of each reading."""
    return _learned(FEWER_ROWS)


def _classifiers_of_all() -> Statements:
    """The same on all rows of Adult."""
    return _learned(None)


def _learned(rows: int | None) -> Statements:
    study = slicing.Study.of(rows, 2, 1, levels=LEVELS)
    tables = {
        "figures 3 and 4": slicing.classifiers_by_level(study),
        "figure 5": slicing.classifiers_by_columns(study),
        "same buckets": slicing.same_buckets(study),
        "generalization by split": slicing.generalization_by_split(study),
        "education": slicing.education(study),
        "own buckets": slicing.own_buckets(study),
    }
    said = Statements()
    slicing_statements.judge_classifiers(tables, said)
    return said


@contextmanager
def one_level() -> Iterator[None]:
    """Slicing takes every l for 1."""
    with patch.object(Slicing, "levels_of", lambda self, data: dict.fromkeys(data.sensitive, 1.0)):
        yield


@contextmanager
def single_columns() -> Iterator[None]:
    """Every attribute is a column of its own, whatever columns are asked for."""
    with both(*(patch.object(where, "sliced", _apart(where.sliced)) for where in (theorems, worked))):
        yield


def _apart(made: Any) -> Any:
    return lambda data, group, columns: made(data, group, [[name] for column in columns for name in column])


def posterior(change: Any) -> Breaking:
    """p(t, s) is something else."""
    true = attacks.sensitive_posterior
    return replaced(attacks, "sensitive_posterior", lambda release, name: change(true(release, name)))


@contextmanager
def columns_by_name() -> Iterator[None]:
    """Attributes are put into columns in the order of their names."""

    def by_name(data: Microdata, columns: int, size: int | None) -> Any:
        parts = np.array_split(np.array(sorted(data.attributes)), columns)
        return SimpleNamespace(columns=tuple(tuple(part.tolist()) for part in parts))

    with patch.object(theorems, "partition_attributes", by_name):
        yield


def medoids(choose: Callable[[Any, int], list[int]]) -> Breaking:
    """Attributes are clustered around other medoids."""
    return replaced(attribute_partition, "k_medoids", choose)


def chosen_alone(distance: Any, k: int) -> list[int]:
    """The attributes that are nearest to all others are medoids, whatever the other medoids are."""
    return sorted(np.argsort(distance.sum(axis=1), kind="stable")[:k].tolist())


def exchanged(one: str, other: str) -> Breaking:
    """Two techniques are swapped."""
    methods = slicing.methods

    def swapped(*of: Any, **about: Any) -> dict[str, Algorithm]:
        every = methods(*of, **about)
        return every | {one: every[other], other: every[one]}

    return replaced(slicing, "methods", swapped)


@contextmanager
def alike_together() -> Iterator[None]:
    """Rows that are alike share a bucket, whatever grouping is asked for."""

    def packed(self: RandomBuckets, data: Microdata, progress: Any) -> Release:
        group = np.empty(data.n_rows, dtype=np.int32)
        group[data.canonical_order] = np.arange(data.n_rows) // self.size
        return sliced_release(data, Partition(group), self.resolve_columns(data), self)

    with patch.object(RandomBuckets, "_release", packed):
        yield


@contextmanager
def always_random() -> Iterator[None]:
    """Rows are dealt at random, whatever grouping is asked for."""
    make = RandomBuckets._release

    def dealt(self: RandomBuckets, data: Microdata, progress: Any) -> Release:
        return make(self.model_copy(update={"grouping": "random"}), data, progress)

    with patch.object(RandomBuckets, "_release", dealt):
        yield


def association(change: Any) -> Breaking:
    """The association of two attributes is something else."""
    true = theorems.utility.association
    return replaced(theorems.utility, "association", lambda data: change(true(data)))


@contextmanager
def linked_anywhere() -> Iterator[None]:
    """Columns are linked at random over the whole table, whatever the buckets."""
    linked = Release.linked

    def anywhere(self: Release, rng: np.random.Generator) -> Any:
        shown = linked(self, rng)
        for fragment in self.fragments[1:]:
            names = list(fragment.attributes)
            shown[names] = shown[names].to_numpy()[rng.permutation(len(shown))]
        return shown

    with patch.object(Release, "linked", anywhere):
        yield


@contextmanager
def cells_linked() -> Iterator[None]:
    """Every cell is linked at random, also within a column."""
    linked = Release.linked

    def apart(self: Release, rng: np.random.Generator) -> Any:
        shown = linked(self, rng)
        return shown.assign(**{name: shown[name].to_numpy()[rng.permutation(len(shown))] for name in shown.columns})

    with patch.object(Release, "linked", apart):
        yield


@contextmanager
def other_groups() -> Iterator[None]:
    """Everybody is published in the bucket of the row before them."""
    groups = worked.published_groups
    with patch.object(worked, "published_groups", lambda name: np.roll(groups(name), 1).tolist()):
        yield


@contextmanager
def one_bucket() -> Iterator[None]:
    """All rows are published in one bucket."""
    made = worked.sliced
    with patch.object(worked, "sliced", lambda data, groups, columns: made(data, [0] * len(groups), columns)):
        yield


def lost(value: float) -> Breaking:
    """The two-way error is the same of every release."""
    return replaced(theorems.utility, "two_way_error", lambda release: value)


def found(**changes: Any) -> Breaking:
    """Fake tuples or matching buckets are something else."""
    true = attacks.membership

    def other(release: Any, *of: Any, **about: Any) -> Any:
        members = true(release, *of, **about)
        return replace(members, **{name: change(getattr(members, name)) for name, change in changes.items()})

    return replaced(attacks, "membership", other)


@contextmanager
def widest_only() -> Iterator[None]:
    """A bucket is cut by its widest attribute or not at all, whatever is asked for."""
    with patch.object(worked, "Slicing", lambda **fields: Slicing(**{**fields, "retry_splits": False})):
        yield


@contextmanager
def every_attribute() -> Iterator[None]:
    """Every attribute is tried, whatever is asked for."""
    with patch.object(worked, "Slicing", lambda **fields: Slicing(**{**fields, "retry_splits": True})):
        yield


@contextmanager
def most_frequent() -> Iterator[None]:
    """Every classifier guesses the most frequent value."""

    def guessed(release: Release, target: str, classifier: Any, folds: int, **about: Any) -> Any:
        majority = release.data.frame[target].value_counts(normalize=True).iloc[0]
        return _Guess(float(majority))

    with patch.object(slicing.utility, "classification", guessed):
        yield


class _Guess(float):
    """An accuracy that is that of guessing, also on the original data."""

    @property
    def baseline(self) -> float:
        return float(self)

    @property
    def majority(self) -> Any:
        return SimpleNamespace(accuracy=float(self))


def tenth(tuples: float) -> float:
    """A tenth of a number of tuples."""
    return float(tuples) / 10


def one_more(tuples: float) -> float:
    """One tuple more."""
    return float(tuples) + 1


EXAMPLES = examples(worked.slicing)
PROVEN = examples(theorems.slicing)
MEMBERS, CLASSIFIERS, CLASSIFIERS_OF_ALL = _members, _classifiers, _classifiers_of_all
LEARNED_ALIKE = "scikit-learn's tree and a plain naive Bayes"
MEDOIDS = ("the other columns are those of k-medoids",)
AHEAD = ("slicing > generalization",)
MUCH_BETTER = ("slicing is much better than generalization", "bucketization is much better than generalization")
OTHERS, COLUMNS, HIDDEN = (
    examples(part) for part in (theorems._sliced_and_others, theorems._columns, theorems._members)
)
"""Parts of PROVEN: section 2, section 4.1, and sections 4.2 and 5."""
MUTANTS = (
    Broken("slicing", NEVER, EXAMPLES, grouped_by(Slicing, never_splits), {"figure 1": ("buckets", "so they")}),
    Broken("slicing", RANDOM, EXAMPLES, grouped_by(Slicing, at_random), {"figure 1": ("buckets", "so they")}),
    Broken("slicing", "ignores l", EXAMPLES, one_level, {"figure 1": EVERY}),
    Broken("slicing", "only the widest attribute is tried", EXAMPLES, widest_only, {
        "figure 1": ("buckets are those that following the printed steps gives (every",),
    }),
    Broken("slicing", "every attribute is tried", EXAMPLES, every_attribute, {
        "figure 1": ("buckets are those that following the printed steps gives (only",),
    }),
    Broken("slicing", "every value is as probable", EXAMPLES, posterior(lambda p: np.full_like(p, 1 / p.shape[1])), {
        "table 1": ("(c)", "(f)"), "figure 1": ("and the sliced table",), "figure 2": ("a table is l-diverse",),
    }),
    Broken("slicing", "columns are ignored", EXAMPLES, single_columns, {"table 1": ("(f): t1",)}),
    Broken("slicing", "everybody is in another bucket", EXAMPLES, other_groups, {"table 1": ("(b)",)}),
    Broken("slicing", "all rows are one bucket", EXAMPLES, one_bucket, {
        "table 1": ("(c)", "(d)"), "figure 2": ("a table is l-diverse",),
    }),
    Broken("slicing", "zeros are published", PROVEN, posterior(lambda p: 0 * p), {
        "fact 1": EVERY, "section 2": ("bucketization is slicing",),
    }),
    Broken("slicing", "every value is as probable", PROVEN, posterior(lambda p: np.full_like(p, 1 / p.shape[1])), {
        "fact 1": EVERY, "section 2": ("bucketization is slicing",),
    }),
    Broken("slicing", "columns are ignored", OTHERS, single_columns, {
        "section 2": ("attributes of one column", "and columns of several"),
    }),
    Broken("slicing", "columns are ignored", HIDDEN, single_columns, {
        "section 4.2": EVERY, "section 5": ("a tuple of the table", "a bucket of k tuples"),
    }),
    Broken("slicing", "linking ignores buckets", OTHERS, linked_anywhere, {"section 2": ("columns are linked",)}),
    Broken("slicing", "linking ignores columns", OTHERS, cells_linked, {
        "section 2": ("attributes of one column", "columns are linked"),
    }),
    Broken("slicing", "nothing is lost", OTHERS, lost(0.0), {"section 2": ("with the same", "and columns of several")}),
    Broken("slicing", "every release loses as much", OTHERS, lost(0.1), {
        "section 2": ("with the same", "and columns of several"),
    }),
    Broken("slicing", "columns by name", COLUMNS, columns_by_name, {
        "section 4.1": ("with alpha = 1", "the sensitive column", *MEDOIDS),
    }),
    Broken("slicing", "associations are 0", COLUMNS, association(lambda phi: 0 * phi), {
        "section 4.1": ("the mean-square",),
    }),
    Broken("slicing", "associations are roots", COLUMNS, association(lambda phi: phi**0.5), {
        "section 4.1": ("the mean-square",),
    }),
    Broken("slicing", "medoids are the farthest attributes", COLUMNS, medoids(
        lambda distance, k: sorted(np.argsort(-distance.sum(axis=1), kind="stable")[:k].tolist())
    ), {"section 4.1": MEDOIDS}),
    Broken("slicing", "each medoid is chosen alone", COLUMNS, medoids(chosen_alone), {"section 4.1": MEDOIDS}),
    Broken("slicing", "fake tuples are ten times too few", HIDDEN, found(fake=tenth), {
        "section 5": ("a bucket of k tuples", "slicing with more"),
    }),
    Broken("slicing", "there is always a fake tuple", HIDDEN, found(
        fake=one_more
    ), {"section 5": ("the number of fake tuples", "a bucket of k tuples", "slicing with more")}),
    Broken("slicing", "everybody has one matching bucket", HIDDEN, found(matching_buckets=np.ones_like), {
        "section 4.2": EVERY, "section 5": ("a tuple of the table",),
    }),
    Broken("slicing", "associations are 0", MEMBERS, association(lambda phi: 0 * phi), {"section 6": ("OCC-15",)}),
    Broken("slicing", "fake tuples are ten times too few", MEMBERS, found(fake=tenth), {
        "figure 6": ("fake tuples are the combinations",),
    }),
    Broken("slicing", "nobody hides", MEMBERS, found(
        fake=lambda _: 0.0, histogram=lambda one: 0 * one,
    ), {
        "figure 6": ("fake tuples are the", "more fake tuples than", "more fake tuples in", "far more"),
        "section 6.3": ("a grouping can",),
    }),
    Broken("slicing", "everybody has one matching bucket", MEMBERS, found(matching_buckets=np.ones_like), {
        "section 6.3": ("in bucketized data",),
    }),
    Broken("slicing", "rows that are alike share a bucket", MEMBERS, alike_together, {
        "section 6.3": ("a grouping can", "and more that match"), "figure 7": ("OCC-7, p = 100, c = 2: 31,452",),
    }),
    Broken("slicing", "every grouping is random", MEMBERS, always_random, {
        "section 6.3": ("a grouping can", "and more that match"),
    }),
    Broken("slicing", "classifiers guess the most frequent value", CLASSIFIERS, most_frequent, {
        "figure 3": ("slicing > bucketization", LEARNED_ALIKE), "figure 4": (LEARNED_ALIKE,),
        "figure 5": ("accuracy changes only", LEARNED_ALIKE),
    }),
    Broken("slicing", "slicing and bucketization are swapped", CLASSIFIERS, exchanged("slicing", "bucketization"), {
        "figure 3": ("slicing > bucketization",),
    }),
    Broken("slicing", "classifiers guess the most frequent value", CLASSIFIERS_OF_ALL, most_frequent, {
        "figure 3": (*AHEAD, "bucketization is slightly worse"), "figure 4": MUCH_BETTER,
        "figure 5": ("slicing > generalization at every c",),
    }),
    Broken("slicing", "slicing and generalization are swapped", CLASSIFIERS_OF_ALL, exchanged(
        "slicing", "generalization"
    ), {
        "figure 3": AHEAD, "figure 4": MUCH_BETTER[:1], "figure 5": ("slicing > generalization at every c",),
    }),
    Broken("slicing", "bucketization and generalization are swapped", CLASSIFIERS_OF_ALL, exchanged(
        "bucketization", "generalization"
    ), {"figure 3": ("bucketization is slightly worse",), "figure 4": MUCH_BETTER[1:]}),
)  # fmt: skip
