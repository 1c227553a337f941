"""Mondrian makes the classes of its plain definition, whatever chooses the cut, on random tables."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import partial
from random import Random
from typing import Any

import pytest

from anoncore import InfeasibleError
from anoncore.algorithms import Mondrian
from anoncore.requirements import (
    BetaLikeness,
    DistinctDiversity,
    EntropyDiversity,
    FrequencyDiversity,
    KAnonymity,
    RecursiveDiversity,
    Requirement,
    TCloseness,
    VarianceDiversity,
)

from . import definitions
from .mondrian import PlainMondrian
from .tables import SEEDS, SHAPES, TOWNS, Table, tables

GOALS = {
    "infogain": lambda random: random.choice(["A", "A", "B", None]),
    "regression": lambda random: random.choice([None, 1.0, 2.0, 2.5, 9.0]),
}
MORE = [
    (KAnonymity(k=1),),
    (KAnonymity(k=2),),
    (KAnonymity(k=3), DistinctDiversity(l=2)),
    (FrequencyDiversity(l=1.5),),
    (EntropyDiversity(l=1.6), KAnonymity(k=2)),
    (RecursiveDiversity(c=1.7, l=2),),
    (BetaLikeness(beta=0.9), KAnonymity(k=2)),
    (TCloseness(t=0.31, ground="equal"), KAnonymity(k=2)),
]


def holds(requirement: Requirement, table: Table, rows: list[int]) -> bool:
    """A requirement by its plain level; the levels of these tables lie nowhere near the thresholds but at them."""
    fields = requirement.model_dump()
    level = definitions.REQUIREMENTS[requirement.name](fields)(table, rows)
    if isinstance(requirement, TCloseness):
        return level <= requirement.t
    if isinstance(requirement, BetaLikeness):
        return level <= requirement.beta + 1e-9
    if isinstance(requirement, RecursiveDiversity):
        return level < requirement.c
    return level >= next(fields[name] - 1e-9 for name in ("k", "l", "v") if name in fields)


def all_hold(requirements: tuple[Requirement, ...], table: Table, rows: list[int]) -> bool:
    return all(holds(one, table, rows) for one in requirements)


def case(numbers: str, seed: int, split: str) -> tuple[Random, Table, tuple[Requirement, ...]]:
    """Up to two dozen people, of whom some have all their values in common."""
    random = Random(f"mondrian {numbers} {seed} {split}")
    table = random.choice([one for one in tables(numbers) if one.n_rows > 1])
    rows = random.sample(range(table.n_rows), min(table.n_rows, random.choice([6, 12, 20])))
    rows += random.choices(rows, k=random.choice([0, 4]))
    columns = {name: [values[row] for row in rows] for name, values in table.columns.items()}
    if random.random() < 0.5:
        columns["town"] = [random.choice(TOWNS[:4]) for _ in rows]
    if split in GOALS:
        columns["goal"] = [GOALS[split](random) for _ in rows]
    numeric = table.numeric | {"goal"} if split == "regression" else table.numeric
    requirements = random.choice(MORE)
    if table.secret in numeric and random.random() < 0.3 and set(columns[table.secret]) != {None}:
        requirements = (VarianceDiversity(v=0.6), KAnonymity(k=2))
    return random, replace(table, columns=columns, group=[0] * len(rows), numeric=numeric), requirements


def classes(table: Table, groups: list[list[int]]) -> Counter[Any]:
    """The classes by the content of their rows, as rows of equal content may be exchanged."""
    content = [tuple(map(str, row.values())) for row in table.rows()]
    return Counter(tuple(sorted(content[row] for row in rows)) for rows in groups)


@pytest.mark.slow
@pytest.mark.parametrize("seeds", SEEDS)
@pytest.mark.parametrize("split", ["median", "infogain", "regression", "loss"])
@pytest.mark.parametrize("numbers", SHAPES)
def test_the_classes_are_those_of_the_definition(seeds, split, numbers):
    for seed in seeds:
        random, table, requirements = case(numbers, seed, split)
        strict, min_gain = random.random() < 0.3, random.choice([0.01, 0.0, 0.3])
        given = {"target": "goal", "min_gain": min_gain} if split in GOALS else {}
        method = Mondrian(requirements=requirements, split=split, strict=strict, **given)
        allowed = partial(all_hold, requirements, table)
        told = (method, table)
        if not allowed(list(range(table.n_rows))):
            with pytest.raises(InfeasibleError):
                method.anonymize(table.data())
            continue
        plain = PlainMondrian(table, allowed, split, "goal", strict, min_gain)
        found = method.anonymize(table.data()).partition.group.tolist()
        groups = [[row for row, g in enumerate(found) if g == group] for group in range(max(found) + 1)]
        assert classes(table, groups) == classes(table, plain.groups()), told
