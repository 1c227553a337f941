"""The figures of the census generator, read from its folder."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from anoncore.datasets.data_files import number, read_csv, read_toml, tables_folder, wrong
from anoncore.datasets.figures import FigureTable, read_figures
from anoncore.datasets.network import Figures

PARENTS = {
    "sex": (),
    "age": ("sex",),
    "education": ("age-band",),
    "marital-status": ("sex", "age-band"),
    "race": (),
    "native-country": ("race",),
    "diagnosis": ("sex", "age-band"),
    "workclass": ("education-level",),
    "occupation": ("education-level", "sex"),
    "schedule": ("occupation",),
}
"""The attributes that have a file of percentages (of densities: age), and what the rows of that file stand for."""


def census_file(name: str) -> Path:
    """A file of the census generator's folder."""
    return tables_folder() / "generated" / "census" / name


@cache
def value_groups() -> Mapping[str, Mapping[str, Any]]:
    """Bands of ages (first and last), levels of education (their values), schedules (fewest and most weekly hours)."""
    return read_toml(census_file("groups.toml"))


def values_of(attribute: str) -> tuple[str, ...]:
    """The values of an attribute, band, level or schedule in the order of their codes."""
    groups = value_groups()
    return tuple(groups[attribute]) if attribute in groups else figures_of(attribute).values


@cache
def figures_of(child: str) -> FigureTable:
    """The percentages of an attribute, one axis per parent in PARENTS; rows of densities in the case of age."""
    known = tuple(value_groups()[child]) if child in value_groups() else None
    return read_figures(census_file(f"{child}.csv"), {name: values_of(name) for name in PARENTS[child]}, known)


def factors_of(child: str, parent: str) -> Figures:
    """Odds ratios of the values of an attribute against the average person, shape (|parent|, |values|)."""
    path = census_file(f"{child}-factors-{parent}.csv")
    return read_figures(path, {parent: values_of(parent)}, figures_of(child).values).figures


@cache
def income_factors() -> Mapping[str, Figures]:
    """By how much the values of an attribute multiply the median income, shape (|values|,) for each attribute."""
    path = census_file("income-factors.csv")
    found: dict[str, dict[str, float]] = {}
    for attribute, value, factor in read_csv(path)[1:]:
        found.setdefault(attribute, {})[value] = number(path, factor)
    for attribute, factors in found.items():
        if tuple(factors) != values_of(attribute):
            raise wrong(path, f"'{attribute}' must have one factor for each of {', '.join(values_of(attribute))}")
    return {attribute: np.array(list(factors.values()), dtype=np.float64) for attribute, factors in found.items()}
