"""The figures of the census generator, read from its folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from anoncore.datasets.data_files import number, read_csv, read_toml, tables_folder, wrong
from anoncore.datasets.network import Figures


@dataclass(frozen=True)
class FigureTable:
    """Figures of shape (|parent 1|, ..., |parent p|, |values|), and the values that the last axis stands for."""

    values: tuple[str, ...]
    figures: Figures


def read_figures(path: Path, parents: Mapping[str, Sequence[str]], values: Sequence[str] | None = None) -> FigureTable:
    """The figures in a CSV file.

    `parents` gives the first columns of the file with all their values in order; the rows must be their combinations,
    the last parent changing fastest. The other columns are the values of the child, which must be `values` if given.
    Raises DataError that names the file for anything that does not fit.
    """
    header, *lines = read_csv(path)
    n_parents = len(parents)
    if header[:n_parents] != list(parents):
        raise wrong(path, f"its first columns must be {', '.join(parents)}")
    found = tuple(header[n_parents:])
    if values is not None and found != tuple(values):
        raise wrong(path, f"its values are {', '.join(found)}; they must be {', '.join(values)}")
    expected = list(product(*parents.values()))
    if len(lines) != len(expected):
        raise wrong(path, f"it has {len(lines)} rows of figures; it must have {len(expected)}")
    for line, combination in zip(lines, expected, strict=True):
        if tuple(line[:n_parents]) != combination:
            raise wrong(path, f"the row of {', '.join(line[:n_parents])} stands where {', '.join(combination)} must be")
    figures = np.array([[number(path, text) for text in line[n_parents:]] for line in lines], dtype=np.float64)
    return FigureTable(found, figures.reshape(*(len(labels) for labels in parents.values()), len(found)))


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
