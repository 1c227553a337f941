"""Random fragments with groups of their own and a common attribute, as plain lists, and the releases made of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np
import pandas as pd

from anoncore import Distorted, Fragment, Generalized, GroupValues, Microdata, Partition, Release

from .joins import Filled, fillings
from .tables import groups

COMMON = "c"


@dataclass(frozen=True)
class Fragments:
    """The true common values, and of each fragment the published ones, the group of each row, and what it tells alone.

    That is a number that is known of people and published as a range.
    """

    values: list[Any]
    published: list[list[Any]]
    group: list[list[int]]
    known: list[list[int]]

    def classes(self, published: bool = True) -> list[list[Filled]]:
        """The common values of the rows of each class of each fragment."""
        shown = self.published if published else [self.values] * len(self.group)
        return [
            [[value for value, g in zip(values, group, strict=True) if g == number] for number in range(max(group) + 1)]
            for values, group in zip(shown, self.group, strict=True)
        ]

    def ways(self, sets: bool, published: bool = True) -> list[list[list[Filled]]]:
        """Every way to fill each class of each fragment; only one where values are published row by row."""
        if not sets:
            return [[[one] for one in each] for each in self.classes(published)]
        return [[fillings(sorted(set(one), key=str), len(one)) for one in each] for each in self.classes(published)]

    def alike(self, place: int) -> list[list[int]]:
        """For each group of a fragment all those with the same range of numbers, which nobody can tell apart."""
        rows = [
            [row for row, g in enumerate(self.group[place]) if g == group]
            for group in range(max(self.group[place]) + 1)
        ]
        ranges = [
            (min(self.known[place][row] for row in one), max(self.known[place][row] for row in one)) for one in rows
        ]
        return [[other for other, found in enumerate(ranges) if found == own] for own in ranges]

    def data(self) -> Microdata:
        own = {f"q{place}": known for place, known in enumerate(self.known)}
        frame = pd.DataFrame({COMMON: pd.Series(self.values, dtype=object)} | own)
        return Microdata(frame, {COMMON: "sensitive", **dict.fromkeys(own, "quasi-identifier")})

    def release(self, sets: bool) -> Release:
        """Fragments that publish the common attribute row by row, or its values class by class."""
        data = self.data()
        domain, original = data.domain[COMMON], data.codes[COMMON]
        fragments = []
        for place, (values, group) in enumerate(zip(self.published, self.group, strict=True)):
            partition = Partition(np.array(group, dtype=np.int32))
            codes = np.array([domain.code_of(value) for value in values], dtype=np.int32)
            shown: Distorted | GroupValues = Distorted(domain, partition, codes, original)
            if sets:
                shown = GroupValues(domain, partition, *partition.value_sets(codes, len(domain)), original)
            own = Generalized.of_rows(data.domain[f"q{place}"], partition, data.codes[f"q{place}"])
            fragments.append(Fragment(f"F{place + 1}", partition, {f"q{place}": own, COMMON: shown}))
        return Release(data, tuple(fragments))


def random_fragments(random: Random, sizes: Sequence[int] = (1, 3, 4, 5)) -> Fragments:
    """Two or three fragments of a few rows with up to three common values, of which some were changed."""
    n = random.choice(sizes)
    values = [random.choice(["x", "y", None][: random.choice([1, 3, 3])]) for _ in range(n)]
    group = [groups(random, random.choice(["random", "random", "each-alone", "one-class"]), n)]
    group += [groups(random, random.choice(["random", "one-class"]), n) for _ in range(random.choice([1, 1, 2]))]
    published = [[random.choice(values) if random.random() < 0.2 else value for value in values] for _ in group]
    known = [[random.choice([1, 2, 3]) for _ in range(n)] for _ in group]
    return Fragments(values, published, group, known)
