"""What the vertical-fragmentation paper proves or claims, tried on small random tables and class-value counts.

Releases are judged by their published tables alone: people are in one class where a table shows the same cells for
them, and joins are made row by row. Counts of class values are enumerated.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations_with_replacement, product
from math import comb, log, prod

import numpy as np
import pandas as pd

from anoncore import Microdata, Release, attacks, privacy
from anoncore.algorithms import VerticalFragmentation
from anoncore.algorithms.vertical import strategies
from anoncore.algorithms.vertical.attribute_fragments import fragment_attributes
from anoncore.privacy.join_blocks import RowRule, SelectivityRule
from anoncore.privacy.selectivity import Selectivity
from tests.algorithms.test_vertical_fragmentation_attributes import plain_greedy, random_table
from tests.algorithms.test_vertical_fragmentation_joins import all_joins, plain_eta
from tests.papers.findings import Statements
from tests.papers.theorems import DRAWN, NEAR, made

DELTA = 0.9
FEWER = 0.9
"""Fewer class values are at most so many times as many (the paper gives no figure)."""
RARER = 0.9
"""The likelihood falls where it becomes at most so many times as large."""
TOGETHER = 5
"""Fragmentations whose changed class values are counted together: a single one may change as many either way."""

Counts = Sequence[np.ndarray]  # type: ignore[type-arg]


def vertical(said: Statements) -> None:
    """Theorems 4.1 and 5.1, algorithms 1, 3 and 4, section 5.1 and the appendix."""
    enforced(said)
    joined(said)


def plain_information(data: Microdata) -> pd.DataFrame:
    """Mutual information of every two attributes in nats, by its definition, value by value."""
    names, n = list(data.attributes), data.n_rows
    found = pd.DataFrame(0.0, index=names, columns=names)
    for one, other in combinations_with_replacement(names, 2):
        xs, ys = data.frame[one].tolist(), data.frame[other].tolist()
        joint, left, right = Counter(zip(xs, ys, strict=True)), Counter(xs), Counter(ys)
        bits = sum(c / n * log(c * n / (left[x] * right[y])) for (x, y), c in joint.items())
        found.loc[one, other] = found.loc[other, one] = bits
    return found


def enforced(said: Statements) -> None:
    """The algorithms, on class values as they are counted in each class."""
    rng = np.random.default_rng(10)
    greedy = []
    for seed in range(10):
        data = random_table(seed)
        found = fragment_attributes(data, "c", 2).fragments
        plain = plain_greedy(plain_information(data), data.quasi_identifiers, 2)
        greedy.append({frozenset(names) for names in found} == plain)
    said.add(
        "algorithm 1",
        "fragments are those of the printed steps (from minus infinity: from 0 they never end where all are negative)",
        greedy,
        "10 random tables of five attributes",
        least="the very same fragments",
        oracle="mutual information by its definition from the table, the steps followed pair by pair",
    )
    safe, squared, fewer, enough, more = [], [], [], [], []
    changes: list[tuple[int, int]] = []
    kept_values: list[tuple[int, int]] = []
    for _ in range(DRAWN):
        k, counts = _fragmentation(rng)
        changed = strategies.enforce(counts, RowRule(k), np.random.default_rng(0))
        naive = strategies.majority_values(counts)
        safe.append(_same_rows(counts, changed) and all(size == 0 or size >= k for size in _join_sizes(changed)))
        sizes = _join_sizes(naive)
        squared.append(
            _same_rows(counts, naive) and _one_value_each(naive) and all(not size or size >= k * k for size in sizes)
        )
        changes.append((_n_changed(counts, changed), _n_changed(counts, naive)))
        kept = strategies.enforce(counts, SelectivityRule(k, DELTA), np.random.default_rng(0))
        enough.append(_own_values(counts, kept) and _least_eta(k, counts, kept) >= DELTA - NEAR)
        kept_values.append((_n_published(kept), _n_published(naive)))
    for begin in range(0, DRAWN, TOGETHER):
        ours, theirs = np.sum(changes[begin : begin + TOGETHER], axis=0)
        fewer.append(bool(0 < ours <= FEWER * theirs))
        ours, theirs = np.sum(kept_values[begin : begin + TOGETHER], axis=0)
        more.append(bool(FEWER * ours >= theirs > 0))
    tables = f"{DRAWN} random fragmentations"
    said.oracle = "class values counted before and after, every join of two classes enumerated"
    said.add(
        "algorithm 3",
        "no two classes join to 1 to k - 1 rows afterwards",
        safe,
        tables,
        least="every join, where each class keeps its rows",
    )
    said.add(
        "algorithm 3",
        "it changes fewer class values than the naive strategy",
        fewer,
        f"{sum(one for one, _ in changes)} against {sum(one for _, one in changes)} in {tables}, "
        f"{TOGETHER} counted together",
        least=f"some, but at most {FEWER:g} times as many",
    )
    said.add(
        "section 4.2.2",
        "where every class has one class value, classes cannot be joined or join to at least k^2 rows",
        squared,
        tables,
        least="every join, where each class keeps its rows",
    )
    said.add(
        "algorithm 4",
        "eta of any two classes with a common value is delta at least",
        enough,
        f"{tables}, delta = {DELTA:g}",
        least="every pair, where each class publishes one at least of its own values and no other",
        oracle="eta by enumeration of all versions of both classes",
    )
    said.add(
        "algorithm 4",
        "it publishes more values than one for each class",
        more,
        f"{sum(one for one, _ in kept_values)} against {sum(one for _, one in kept_values)} in {tables}, "
        f"{TOGETHER} counted together",
        least=f"the naive strategy publishes at most {FEWER:g} times as many",
    )
    said.oracle = ""
    _eta(said, rng)


def _eta(said: Statements, rng: np.random.Generator) -> None:
    """Appendix C."""
    eta, plain_etas, as_printed = [], [], []
    for _ in range(DRAWN):
        sizes, k = rng.integers(2, 7, 2), int(rng.integers(1, 14))
        values = [int(rng.integers(1, size + 1)) for size in sizes]
        common = int(rng.integers(1, min(values) + 1))
        ours = Selectivity(k).eta(*(np.array([one]) for one in (sizes[0], values[0], sizes[1], values[1], common)))[0]
        plain = plain_eta(k, (int(sizes[0]), values[0]), (int(sizes[1]), values[1]), common=common)
        plain_etas.append(plain)
        eta.append(abs(ours - plain) < NEAR)
        joins = prod(comb(size - 1, number - 1) for size, number in zip(sizes.tolist(), values, strict=True))
        as_printed.append(pairs_of_vectors(k, sizes.tolist(), values, common) / joins)
    apart = np.abs(np.array(as_printed) - np.array(plain_etas)) > NEAR
    said.add(
        "appendix C",
        "eta can be counted without making all joins",
        eta,
        f"{DRAWN} pairs of classes, all joins made, eta from {min(plain_etas):.2f} to {max(plain_etas):.2f}. "
        "Definition 4.4 counts versions of both classes, and it holds here. "
        "Appendix C.II counts vectors (A, B) of the common values by its conditions 1 to 5, of which one stands for "
        f"several versions or for none: its count gives another share for {apart.sum()} of these pairs, up to "
        f"{max(as_printed):.2f}, where a share is at most 1",
        least="the very same share",
        oracle="eta by enumeration of all versions of both classes",
    )


def pairs_of_vectors(k: int, sizes: Sequence[int], values: Sequence[int], common: int) -> int:
    """The pairs (A, B) that appendix C.II of the vertical-fragmentation paper counts, by its conditions 1 to 5.

    By hand: two classes of 3 rows and 2 values, both common, have the vectors (1, 1), (1, 2) and (2, 1). For k = 3 all
    pairs but (1, 1) with itself are counted: 8, where there are only 2 * 2 pairs of versions.
    """
    each = []
    for size, number in zip(sizes, values, strict=True):
        spare = size - number
        every = product(range(1, spare + 2), repeat=common)
        each.append([one for one in every if sum(one) <= common + spare])
    return sum(sum(a * b for a, b in zip(one, other, strict=True)) >= k for one, other in product(*each))


def joined(said: Statements) -> None:
    """Theorems 4.1 and 5.1 and section 5.1 on releases, whose joins are made row by row."""
    rng = np.random.default_rng(11)
    agree, both, diverse, rarer, counted = [], [], [], [], []
    answers = []
    for _ in range(DRAWN):
        data, k = wide(rng, 60), int(rng.integers(2, 5))
        for enforce in ("dependency", "naive"):
            release = VerticalFragmentation(k=k, fragments=2, enforce=enforce, seed=0).anonymize(data)
            classes = published_classes(release)
            both.append(_are_cut(classes) and min(_sizes(joined_values(classes))) >= k)
            for least in (k, k * k, 4 * k):
                plainly = min(_sizes(joined_values(classes))) >= least
                answers.append(plainly)
                agree.append(privacy.joins(release, k=least).holds == plainly)
        found = made(VerticalFragmentation(k=k, l=2, fragments=2, seed=0), data)
        if found is not None:
            classes = published_classes(found)
            joins = joined_values(classes)
            diverse.append(_are_cut(classes) and all(sum(one.values()) >= k and len(one) >= 2 for one in joins))
        likely = []
        for m in (2, 3):
            release = VerticalFragmentation(k=k, fragments=m, seed=0).anonymize(data)
            plainly = plain_likelihood(published_classes(release))
            counted.append(abs(float(attacks.join_likelihood(release).mean) - plainly) < NEAR)
            likely.append(plainly)
        rarer.append(0 < likely[1] <= RARER * likely[0])
    said.oracle = "classes by equal cells of the published tables, joined row by row on the published class value"
    said.add(
        "theorem 4.1",
        "fragments cannot be joined below k if the sum of products of the frequencies is 0 or at least k for each pair",
        both,
        f"{len(both)} releases, joined row by row",
        least="every join, in releases of which each fragment has several classes",
    )
    said.add(
        "theorem 4.1",
        "the sums tell which releases can be joined below a given number of rows",
        agree,
        f"{len(agree)} questions about these releases for k, 4 k and k^2 rows, {sum(answers)} of them with the answer "
        "that they cannot",
        least="the same answer to each",
    )
    said.add(
        "theorem 5.1",
        "chunks join to neither less than k rows nor less than l values",
        diverse,
        f"{len(diverse)} releases with l = 2, joined row by row",
        least="every join, in releases of which each fragment has several classes",
    )
    said.add(
        "section 5.1",
        "the likelihood that a subject's record is in the data falls with the number of fragments",
        rarer,
        f"mean over the rows of {len(rarer)} releases in 2 and 3 fragments",
        least=f"with three fragments at most {RARER:g} times that with two",
    )
    said.add(
        "section 5.1",
        "it is the number of rows that a person's classes join to, of all rows of the join",
        counted,
        f"{len(counted)} releases",
        least="the very same mean",
    )
    said.oracle = ""


def wide(rng: np.random.Generator, n: int) -> Microdata:
    """Six numbers, of which every second one tells the class, and a class of three values."""
    label = rng.integers(0, 3, n)
    frame = pd.DataFrame({f"q{i}": rng.integers(0, 60, n) + 20 * label * (i % 2) for i in range(6)})
    frame["c"] = np.array(list("xyz"))[label]
    return Microdata(frame, {**dict.fromkeys(frame.columns[:-1], "quasi-identifier"), "c": "sensitive"})


def published_classes(release: Release) -> list[pd.DataFrame]:
    """Of each fragment a line per person: the class, which is what the cells of their row show, and the class value."""
    made_of = []
    for fragment in release.fragments:
        texts = {name: recoding.texts() for name, recoding in fragment.recodings.items()}
        shown = pd.DataFrame({name: texts[name] for name in texts if name != "c"})
        classes = shown.groupby(list(shown), sort=False).ngroup()
        made_of.append(pd.DataFrame({"class": classes.to_numpy(), "c": texts["c"]}))
    return made_of


def _are_cut(fragments: Sequence[pd.DataFrame]) -> bool:
    return len(fragments) > 1 and all(len(set(one["class"])) > 1 for one in fragments)


def joined_values(fragments: Sequence[pd.DataFrame]) -> list[Counter[str]]:
    """Rows per class value of every pair of classes of two fragments that the join has, made row by row."""
    one, other = fragments
    both = one.merge(other, on="c")
    return [Counter(rows["c"].tolist()) for _, rows in both.groupby(["class_x", "class_y"])]


def _sizes(joins: Sequence[Counter[str]]) -> list[int]:
    return [sum(one.values()) for one in joins]


def plain_likelihood(fragments: Sequence[pd.DataFrame]) -> float:
    """Mean over the people of the share of the join's rows that fit them; people are told by their order."""
    rows = fragments[0].rename(columns={"class": "class 0"})
    for number, one in enumerate(fragments[1:], 1):
        rows = rows.merge(one.rename(columns={"class": f"class {number}"}), on="c")
    names = [name for name in rows.columns if name != "c"]
    fitting = rows.groupby(names).size()
    own = pd.MultiIndex.from_arrays([one["class"] for one in fragments])
    return float(fitting.reindex(own, fill_value=0).mean() / len(rows))


def _fragmentation(rng: np.random.Generator) -> tuple[int, list[np.ndarray]]:  # type: ignore[type-arg]
    """k, and class-value counts of the classes of two fragments, every class with at least k rows.

    A class has most rows of one value and few of the others, so that two classes often join below k.
    """
    k, n_values = int(rng.integers(4, 10)), int(rng.integers(3, 5))
    counts = []
    for _ in range(2):
        own = rng.choice([0, 0, 0, 1, 2], (int(rng.integers(2, 7)), n_values))
        own[np.arange(len(own)), rng.integers(0, n_values, len(own))] += np.maximum(k - own.sum(axis=1), 0)
        counts.append(own.astype(np.int64))
    return k, counts


def _same_rows(before: Counts, after: Counts) -> bool:
    """Whether every class has as many rows as before."""
    return all(
        one.shape == other.shape and bool((one.sum(axis=1) == other.sum(axis=1)).all())
        for one, other in zip(before, after, strict=True)
    )


def _one_value_each(counts: Counts) -> bool:
    return all(bool(((one > 0).sum(axis=1) == 1).all()) for one in counts)


def _own_values(before: Counts, shown: Counts) -> bool:
    """Whether every class publishes one of its values at least, and none that it does not have."""
    return all(
        bool((other > 0).any(axis=1).all() and not ((other > 0) & (one == 0)).any())
        for one, other in zip(before, shown, strict=True)
    )


def _n_published(counts: Counts) -> int:
    """Pairs of a class and a value that it publishes."""
    return sum(int((one > 0).sum()) for one in counts)


def _join_sizes(counts: Counts) -> list[int]:
    return [sum(join) for join in all_joins(counts)]


def _n_changed(before: Counts, after: Counts) -> int:
    """Class values that are published otherwise."""
    return sum(int(np.maximum(one - other, 0).sum()) for one, other in zip(before, after, strict=True))


def _least_eta(k: int, counts: Counts, kept: Counts) -> float:
    """The least eta of two classes of different fragments that have a published value in common, by enumeration."""
    least = 1.0
    for (one, mine), (other, theirs) in product(
        *(list(zip(a, b, strict=True)) for a, b in zip(counts, kept, strict=True))
    ):
        common = int(((mine > 0) & (theirs > 0)).sum())
        if common:
            sizes = [(int(rows.sum()), int((shown > 0).sum())) for rows, shown in ((one, mine), (other, theirs))]
            least = min(least, plain_eta(k, *sizes, common=common))
    return least
