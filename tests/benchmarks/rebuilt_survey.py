"""A household survey made anew from what sdcMicro prints about its example table `testdata`, and its way to suppress.

The table itself comes only as a binary file of R. Printed are its size, the values of each key and how many people have
the rarest one, how many people have fewer than 2, 3 and 5 equals in two sets of keys, and how many different
combinations a third set has. A table of made-up households is changed step by step, house by house, until it fits these
numbers (`misfit`). What else the real table is like, above all who lives with whom, is not printed.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from anoncore.kernels.arrays import Codes

KEYS = ("urbrur", "roof", "walls", "water", "electcon", "relat", "sex")
HOUSE = 5
"""The first keys are those of the house, the same for all who live in it; the others are a person's own."""
N_PEOPLE = 4580
N_VALUES = (2, 5, 3, 8, 3, 9, 2)
RAREST = (646, 16, 50, 26, 107, 1, 2284)
"""How many people have the rarest value of each key."""
SEVEN, FIVE, CLASSES = (0, 1, 2, 3, 4, 5, 6), (0, 1, 2, 5, 6), (0, 1, 2, 3, 6)
FEW_EQUALS = {SEVEN: {2: 157, 3: 281, 5: 458}, FIVE: {2: 26, 3: 52, 5: 141}}
"""By set of keys: how many people are in classes below 2, 3 and 5."""
N_CLASSES = 93
"""Different combinations of the keys `CLASSES`."""
SDC_MICRO_CELLS = 293
"""Cells that sdcMicro prints to suppress for k = 3 in its own table, 0.914 %."""

Row = list[int]


@dataclass
class Counted:
    """The numbers of a table that sdcMicro prints, kept up to date as rows come and go."""

    classes: dict[tuple[int, ...], Counter[tuple[int, ...]]] = field(
        default_factory=lambda: {keys: Counter() for keys in (SEVEN, FIVE, CLASSES)}
    )
    few: dict[tuple[int, ...], Counter[int]] = field(default_factory=lambda: {keys: Counter() for keys in FEW_EQUALS})
    n_classes: int = 0
    values: list[Counter[int]] = field(default_factory=lambda: [Counter() for _ in KEYS])

    def change(self, row: Row, by: int) -> None:
        """Add a row (`by` 1) or take it away (-1)."""
        for keys, sizes in self.classes.items():
            cells = tuple(row[a] for a in keys)
            before = sizes[cells]
            sizes[cells] = after = before + by
            if keys == CLASSES:
                self.n_classes += (after > 0) - (before > 0)
                continue
            for k in FEW_EQUALS[keys]:
                self.few[keys][k] += (after if after < k else 0) - (before if before < k else 0)
        for a, value in enumerate(row):
            self.values[a][value] += by

    def differences(self) -> Iterator[tuple[str, int, int]]:
        """Every printed number: what it is, what this table has and what is printed."""
        for keys, printed in FEW_EQUALS.items():
            for k, wanted in printed.items():
                yield f"people in classes below {k}, {len(keys)} keys", self.few[keys][k], wanted
        yield f"combinations of {len(CLASSES)} keys", self.n_classes, N_CLASSES
        for a, wanted in enumerate(RAREST):
            found = min(self.values[a][value] for value in range(1, N_VALUES[a] + 1))
            yield f"people with the rarest value of {KEYS[a]}", found, wanted

    @property
    def misfit(self) -> int:
        """How far the numbers are from those printed, in all; a value that nobody has counts as much as 100 people."""
        return sum(abs(found - wanted) + 100 * (found == 0) for _, found, wanted in self.differences())


def made_up_households(
    rng: np.random.Generator, n_profiles: int = 48, power: float = 1.2
) -> tuple[list[Row], list[Codes]]:
    """People in households: a few kinds of houses, the first ones frequent, and who lives there; rows of each house."""
    profiles: list[tuple[int, ...]] = []
    while len(profiles) < n_profiles:
        wealth = rng.normal()
        town = 1 if rng.random() < 0.3 else 2
        roof = np.clip(round(3.5 + 0.8 * wealth + 0.7 * rng.normal()), 1, 5)
        walls = np.clip(round(2.3 + 0.4 * wealth + 0.4 * rng.normal()), 1, 3)
        water = np.clip(round(4 + 1.2 * wealth + 1.6 * rng.normal()), 1, 8)
        one = (town, int(roof), int(walls), int(water))
        if one not in profiles:
            profiles.append(one)
    share = 1 / np.arange(1, n_profiles + 1) ** power
    electricity = rng.dirichlet([2, 2, 0.3], size=n_profiles)
    rows: list[Row] = []
    houses: list[Codes] = []
    while len(rows) < N_PEOPLE:
        kind = int(rng.choice(n_profiles, p=share / share.sum()))
        house = [*profiles[kind], int(rng.choice(3, p=electricity[kind])) + 1]
        head = 1 if rng.random() < 0.8 else 2
        size = 1 + int(rng.poisson(4.0))
        people = [(1, head)]
        if size > 1 and rng.random() < 0.85:
            people.append((2, 3 - head))
        while len(people) < size:
            people.append((int(rng.choice(range(3, 10), p=OTHERS)), int(rng.integers(1, 3))))
        people = people[: N_PEOPLE - len(rows)]
        houses.append(np.arange(len(rows), len(rows) + len(people), dtype=np.int32))
        rows += [[*house, *person] for person in people]
    return rows, houses


OTHERS = (0.8, 0.05, 0.03, 0.06, 0.03, 0.0295, 0.0005)
"""Shares of the values 3 to 9 of `relat`, those who are neither the head of the household nor married to it."""


def rebuilt(seed: int, steps: int = 80_000) -> tuple[pd.DataFrame, Counted]:
    """A table of households that fits the printed numbers as nearly as annealing finds it, and its numbers."""
    rng = np.random.default_rng(seed)
    rows, houses = made_up_households(rng)
    counted = Counted()
    for row in rows:
        counted.change(row, 1)
    misfit = counted.misfit
    for step in range(steps):
        heat = 3.0 * (1 - step / steps) ** 2 + 0.05
        changes = dict(_changes(rng, rows, houses))
        before = {number: rows[number] for number in changes}
        _put(counted, rows, changes)
        now = counted.misfit
        if now <= misfit or rng.random() < math.exp((misfit - now) / heat):
            misfit = now
        else:
            _put(counted, rows, before)
        if not misfit:
            break
    return pd.DataFrame(rows, columns=list(KEYS)), counted


def _changes(rng: np.random.Generator, rows: list[Row], houses: list[Codes]) -> Iterator[tuple[int, Row]]:
    """New rows for those who live in one house, or for one person: another value, or those of another house."""
    kind = rng.random()
    if kind < 0.7:
        house = houses[int(rng.integers(len(houses)))]
        other = rows[int(houses[int(rng.integers(len(houses)))][0])]
        a = int(rng.integers(HOUSE))
        value = other[a] if kind < 0.36 else int(rng.integers(1, N_VALUES[a] + 1))
        for number in house.tolist():
            old = rows[number]
            yield number, [*other[:HOUSE], *old[HOUSE:]] if kind > 0.45 else [*old[:a], value, *old[a + 1 :]]
        return
    number = int(rng.integers(len(rows)))
    *house_keys, relation, sex = rows[number]
    if kind < 0.85:
        yield number, [*house_keys, relation, 3 - sex]
    elif relation > 2:
        yield number, [*house_keys, int(rng.choice(range(3, 10), p=OTHERS)), sex]


def _put(counted: Counted, rows: list[Row], changes: dict[int, Row]) -> None:
    """Replace rows by others."""
    for number, row in changes.items():
        counted.change(rows[number], -1)
        counted.change(row, 1)
        rows[number] = row


def as_sdcmicro_suppresses(codes: Codes, k: int) -> tuple[Codes, list[int]]:
    """The table after local suppression as sdcMicro describes it, slowly; -1 is a suppressed cell.

    Of classes of more than k rows only k take part. Round by round, every row that agrees with fewer than k rows loses
    one cell: of the attribute with most values among those in which it differs from a row that differs least from it.
    Returns the table, and how many rows lost a cell in each round.
    """
    n_values = [len(np.unique(column)) for column in codes.T]
    order = sorted(range(codes.shape[1]), key=lambda a: (-n_values[a], -a))
    place = pd.DataFrame(codes).groupby(list(range(codes.shape[1]))).cumcount().to_numpy()
    taking_part = np.flatnonzero(place < k)
    cells = codes[taking_part].copy()
    rounds: list[int] = []
    while len(few := _frequent_below(cells, k)):
        rounds.append(len(few))
        for row in few.tolist():
            differs = (cells != cells[row]) & (cells >= 0) & (cells[row] >= 0)
            distance = differs.sum(axis=1)
            nearest = differs[distance == distance[distance > 0].min(initial=codes.shape[1])].any(axis=0)
            lost = [a for a in order if nearest[a]] or [a for a in order if cells[row, a] >= 0]
            cells[row, lost[0]] = -1
    suppressed = codes.copy()
    suppressed[taking_part] = cells
    return suppressed, rounds


def _frequent_below(cells: Codes, k: int) -> Codes:
    """The rows that agree with fewer than k rows wherever neither cell is suppressed, the rarest first."""
    frequency = np.array([((cells == row) | (cells < 0) | (row < 0)).all(axis=1).sum() for row in cells])
    few = np.flatnonzero(frequency < k)
    ordered: Codes = few[np.argsort(frequency[few], kind="stable")].astype(np.int32)
    return ordered
