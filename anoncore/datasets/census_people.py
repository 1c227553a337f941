"""The census generator's conditional tables of sex, age, education, marital status, race, country and diagnosis."""

from __future__ import annotations

from functools import cache

import numpy as np

from anoncore.datasets.census_figures import PARENTS, census_file, figures_of, value_groups
from anoncore.datasets.data_files import number
from anoncore.datasets.network import Codes, ConditionalTable, Figures, percentages

AGES = np.arange(17, 91)


def age_bands() -> Codes:
    """The number of the band that each of AGES lies in, shape (74,)."""
    starts = [first for first, _ in value_groups()["age-band"].values()]
    return np.searchsorted(starts, AGES, side="right") - 1


@cache
def people_tables() -> tuple[ConditionalTable, ...]:
    """The tables of the attributes that do not depend on work, parents first."""
    return (
        _percentages("sex"),
        ConditionalTable("age", PARENTS["age"], tuple(AGES.tolist()), _age_given_sex()),
        *map(_percentages, ("education", "marital-status", "race", "native-country", "diagnosis")),
    )


def _percentages(child: str) -> ConditionalTable:
    table = figures_of(child)
    return ConditionalTable(child, PARENTS[child], table.values, percentages(table.figures))


def _age_given_sex() -> Figures:
    """P(age | sex), shape (2, 74): straight lines between the ages whose density is written down."""
    table = figures_of("age")
    written = [number(census_file("age.csv"), age) for age in table.values]
    density = np.array([np.interp(AGES, written, row) for row in table.figures])
    return np.asarray(density / density.sum(axis=1, keepdims=True))
