"""What Rothko's paper proves or claims in sections 2, 3 and the appendix, tried on small random tables.

Classes are held against Mondrian written plainly over lists of rows, requirements against their definitions, regions
against random points of the domain. All of it is counted from the published classes and the original table.
"""

from __future__ import annotations

from collections import Counter
from itertools import pairwise, product

import numpy as np
from scipy.stats import hypergeom

from anoncore import Generalized, Microdata, Partition, Release
from anoncore.algorithms import RothkoSampling, RothkoTree
from anoncore.algorithms.rothko import confident_checks
from anoncore.requirements import (
    CheckSet,
    DistinctDiversity,
    EntropyDiversity,
    FrequencyDiversity,
    KAnonymity,
    Requirement,
    TCloseness,
    VarianceDiversity,
)
from tests.algorithms.plain_mondrian import PlainMondrian, Row
from tests.papers.findings import Statements, listed
from tests.papers.plain_requirements import satisfied, variance
from tests.papers.theorems import DRAWN, made, people

COUNTABLE: list[tuple[Requirement, ...]] = [
    (KAnonymity(k=3),),
    (KAnonymity(k=2), DistinctDiversity(l=2)),
    (EntropyDiversity(l=1.7),),
    (FrequencyDiversity(l=1.5),),
    (KAnonymity(k=3), TCloseness(t=0.4, ground="equal")),
]
"""What frequency sets serve."""
MIN_GAIN = 0.01
"""Bits that a cut by information gain must bring."""
POWER = 0.5
"""A test that is worth the sample lets a side of ten times k through at least so often."""


def rothko(said: Statements) -> None:
    """What sections 2, 3 and the appendix claim."""
    rng = np.random.default_rng(9)
    same, tiles, holds, split_up = [], [], [], []
    for turn in range(DRAWN):
        data, requirements = people(rng, int(rng.integers(20, 60))), COUNTABLE[turn % len(COUNTABLE)]
        split = ("median", "infogain")[turn // len(COUNTABLE) % 2]
        fields = {"requirements": requirements, "split": split, "target": "sex" if split == "infogain" else None}
        expected = plain_classes(data, requirements, split)
        found = made(RothkoTree(**fields, memory_rows=7, frontier_memory=float(rng.choice([1e-4, 1.0]))), data)
        if expected is None or len(expected) < 2:
            continue
        same.append(found is not None and classes_of(found) == expected)
        tiles.append(_tiles(made(RothkoTree(**fields, memory_rows=7, recoding="regions"), data), rng))
        sampled = made(RothkoSampling(**fields, memory_rows=9, sample_rows=8, alpha=0.5, seed=turn), data)
        if sampled is not None:
            holds.append(_all_satisfied(sampled, requirements))
            split_up.append(sampled.partition.n_groups > 1)
    said.add(
        "section 2",
        "frequency sets choose the splits of the algorithm in memory, for k-anonymity and l-diversity",
        same,
        f"{len(same)} random tables that can be cut: the classes of Mondrian, one by one",
        least="the very same classes, at least two of them",
        oracle="Mondrian written plainly over lists of rows, requirements by their definitions",
    )
    said.add(
        "section 2.2",
        "the rules from the root to the leaves cover the whole domain, and no point twice",
        tiles,
        f"{len(tiles)} random tables, 50 points of the domain each",
        least="at least two rules, each point and each row in exactly one, and the row in that of its class",
        oracle="published regions, random points of the domain, the rows of the original table",
    )
    said.add(
        "section 3.2",
        "what the sampling publishes always satisfies the requirements, whatever the tests let pass",
        holds,
        f"{len(holds)} random tables, samples of 8 rows, alpha = 0.5",
        least="every class of every table",
        oracle="requirements by their definitions on the rows of each published class",
    )
    said.add(
        "section 3.2",
        "and it cuts tables that can be cut",
        split_up,
        f"{len(split_up)} random tables that Mondrian cuts",
        least="at least two classes of each",
        oracle="published classes",
    )
    _tests(said)
    _monotone(said)


def plain_classes(data: Microdata, requirements: tuple[Requirement, ...], split: str) -> Counter[frozenset[int]] | None:
    """The classes of rows by Mondrian written plainly, or None where the whole table breaks a requirement."""
    names = [*data.quasi_identifiers, "s0"]
    columns = [data.codes[name].tolist() for name in names]
    rows: list[Row] = list(zip(*columns, range(data.n_rows), strict=True))
    secrets = data.frame["s0"].tolist()

    def allowed(some: list[Row]) -> bool:
        return all(satisfied(one, [secrets[row[-1]] for row in some], secrets) for one in requirements)

    if not allowed(rows):
        return None
    place = names.index("sex")
    domains = [data.domain[name] for name in data.quasi_identifiers]
    plain = PlainMondrian(domains, allowed, split, True, MIN_GAIN, target=lambda row: float(row[place]))
    return Counter(_content(data, [row[-1] for row in group]) for group in plain.groups(rows))


def classes_of(release: Release) -> Counter[frozenset[int]]:
    """The classes of a release in the form of `plain_classes`."""
    group = np.asarray(release.partition.group)
    return Counter(_content(release.data, np.flatnonzero(group == one).tolist()) for one in np.unique(group))


def _content(data: Microdata, rows: list[int]) -> frozenset[int]:
    """The content of a class; rows that are alike stand for each other."""
    return frozenset(Counter(map(tuple, data.frame.iloc[rows].astype(str).to_numpy().tolist())).items())


def _all_satisfied(release: Release, requirements: tuple[Requirement, ...]) -> bool:
    secrets, group = release.data.frame["s0"].to_numpy(), np.asarray(release.partition.group)
    return all(
        satisfied(requirement, secrets[group == one].tolist(), secrets.tolist())
        for one in np.unique(group)
        for requirement in requirements
    )


def _tests(said: Statements) -> None:
    """Section 3.1: what the test for k lets pass."""
    wrong, right = [], []
    population = 100_000
    for k, n in product((10, 100, 1_000), (1_000, 5_000, 25_000)):
        least = confident_checks.rows_needed(k, n, population, 0.05, 2)
        wrong.append(float(hypergeom.sf(least - 1, population, k - 1, n)))
        right.append(float(hypergeom.sf(least - 1, population, 10 * k, n)))
    said.add(
        "section 3.1",
        "a split of which a side has less than k rows is made with a probability of alpha at most",
        (np.array(wrong) <= 0.05) & (np.array(right) >= POWER),
        f"by the exact distribution of the sample {listed(wrong)} for k = 10, 100 and 1,000, 1,000 to 25,000 of "
        f"100,000 rows; sides of 10 k rows pass with {min(right):.2f} at least",
        "the test takes the share in the sample for normal, which it is not where few rows of a side are drawn",
        "the experiment 'Exact tests for sampling'",
        least=f"sides of 10 k rows pass with a probability of {POWER:g} at least, so that refusing all is no test",
        oracle="the hypergeometric distribution of the rows that are drawn of a side",
    )


def _monotone(said: Statements) -> None:
    """The appendix: variance diversity of two classes and of their union."""
    rng = np.random.default_rng(9)
    merged, refused = [], []
    while len(merged) < DRAWN:
        data, v = people(rng, 40, kinds=6), float(rng.uniform(150, 320))
        check, secrets = CheckSet([VarianceDiversity(v=v)], data), data.frame["s0"].to_numpy()
        one, other = rng.random(40) < 0.4, rng.random(40) < 0.5
        parts = [np.flatnonzero(one), np.flatnonzero(~one & other)]
        alike = np.flatnonzero(secrets == secrets[0])
        if min(map(len, (*parts, alike))) == 0:
            continue
        refused.append(not _holds(check, data, alike))
        if all(variance(secrets[rows].tolist()) >= v for rows in parts):
            merged.append(all(_holds(check, data, rows) for rows in (*parts, np.concatenate(parts))))
    said.add(
        "appendix",
        "variance diversity is monotone: two classes that satisfy it satisfy it together",
        merged,
        f"{len(merged)} pairs of classes of random tables that satisfy it",
        least="all three answers of the library are yes where the variances say so",
        oracle="variances of the classes' numbers by their definition",
    )
    said.add(
        "appendix",
        "and it is broken by a class whose values are all alike",
        refused,
        f"{len(refused)} classes of one value",
        least="every such class, whose variance is 0",
        oracle="classes of rows with one value",
    )


def _holds(check: CheckSet, data: Microdata, rows: np.ndarray) -> bool:  # type: ignore[type-arg]
    """Whether the library says that a class of these rows, some but not all of the table, satisfies the requirement."""
    group = np.zeros(data.n_rows, dtype=np.int32)
    group[rows] = 1
    if len(rows) in (0, data.n_rows):
        return False
    partition = Partition(group)
    return all(bool(one.holds(one.levels(partition))[1]) for one in check.checks)


def _tiles(release: Release | None, rng: np.random.Generator) -> bool:
    """Whether random points of the domain lie in one of several regions each, and every row in that of its class."""
    if release is None or release.partition.n_groups < 2:
        return False
    data, inside, own = release.data, None, None
    for name in data.quasi_identifiers:
        recoding, point = release.recoding(name), rng.integers(0, len(data.domain[name]), 50)
        covers, of_rows = _covered(recoding, point), _covered(recoding, data.codes[name])
        inside, own = (covers, of_rows) if inside is None or own is None else (inside & covers, own & of_rows)
    assert inside is not None
    assert own is not None
    group = np.asarray(release.partition.group)
    once = (inside.sum(axis=0) == 1).all() and (own.sum(axis=0) == 1).all()
    return bool(once and own[group, np.arange(data.n_rows)].all())


def _covered(cells: Generalized, codes: np.ndarray) -> np.ndarray:  # type: ignore[type-arg]
    """Which regions hold which codes, bool (n_groups, n_codes)."""
    low, high = cells.low, cells.high
    if cells.node is not None and cells.domain.tree is not None:
        low, high = cells.domain.tree.first[cells.node], cells.domain.tree.last[cells.node]
    if cells.offsets is None or cells.members is None:
        found: np.ndarray = (low[:, None] <= codes) & (codes <= high[:, None])  # type: ignore[type-arg]
        return found
    sets = [cells.members[begin:end] for begin, end in pairwise(cells.offsets.tolist())]
    return np.array([np.isin(codes, one) for one in sets])
