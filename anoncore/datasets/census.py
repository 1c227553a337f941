"""The census-like table: people of any number, drawn from a small Bayesian network.

    sex -> age -> education -> work class -> occupation -> hours per week -> income -> salary class
    sex, age -> marital status, diagnosis          race -> country

The figures are data, read from a folder. No row describes a real person.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import ArrayLike, NDArray

from anoncore.base.errors import DataError
from anoncore.base.pandas_versions import TEXT
from anoncore.datasets.data_files import number, read_csv, read_toml, tables_folder, wrong
from anoncore.datasets.generated import ColumnValues, check_seed, check_size, value_column

Codes = NDArray[np.int64]
Figures = NDArray[np.float64]

_TOLERANCE = 1e-6


def percentages(rows: ArrayLike) -> Figures:
    """Rows of percentages as probabilities, shape kept; DataError for a negative figure or a row that is not 100."""
    figures = np.asarray(rows, dtype=np.float64)
    totals = figures.sum(axis=-1)
    if (figures < 0).any() or not np.allclose(totals, 100.0, atol=_TOLERANCE):
        raise DataError(
            f"Every row of percentages must be non-negative and sum to 100; the sums are {totals.tolist()}."
        )
    return figures / 100.0


def reweighted(probabilities: Figures, factors: Figures) -> Figures:
    """Probabilities times factors (odds ratios against an average person), each row scaled back to sum to 1.

    The two arrays broadcast against each other; the last axis is the value that is drawn.
    """
    weights = probabilities * factors
    totals = weights.sum(axis=-1, keepdims=True)
    if (totals <= 0).any():
        raise DataError("The factors leave a row of the conditional table without any possible value.")
    return np.asarray(weights / totals)


@dataclass(frozen=True)
class ConditionalTable:
    """P(child | parents), shape (|parent 1|, ..., |parent p|, |values|), every row summing to 1."""

    child: str
    parents: tuple[str, ...]
    values: tuple[object, ...]
    probabilities: Figures

    def __post_init__(self) -> None:
        shape = self.probabilities.shape
        if len(shape) != len(self.parents) + 1 or shape[-1] != len(self.values):
            raise DataError(
                f"The table of '{self.child}' has the shape {shape}; it needs one axis per parent "
                f"({len(self.parents)}) and one of {len(self.values)} values."
            )
        if not np.allclose(self.probabilities.sum(axis=-1), 1.0, atol=_TOLERANCE):
            raise DataError(f"A row of the table of '{self.child}' does not sum to 1.")

    def draw(self, rng: np.random.Generator, codes: Mapping[str, Codes], n_rows: int) -> Codes:
        """One code into `values` per row, shape (n_rows,), given the codes of the parents."""
        n_values = len(self.values)
        flat = self.probabilities.reshape(-1, n_values)
        configuration = self._configuration(codes, n_rows)
        # Stacking the cumulative rows one above the other turns the draw of all rows into one binary search.
        cumulative = np.cumsum(flat, axis=1)
        cumulative[:, -1] = 1.0
        ladder = (cumulative + np.arange(len(flat))[:, None]).ravel()
        found = np.searchsorted(ladder, rng.random(n_rows) + configuration, side="right")
        return np.asarray(np.minimum(found - configuration * n_values, n_values - 1), dtype=np.int64)

    def _configuration(self, codes: Mapping[str, Codes], n_rows: int) -> Codes:
        if not self.parents:
            return np.zeros(n_rows, dtype=np.int64)
        sizes = self.probabilities.shape[:-1]
        return np.asarray(np.ravel_multi_index([codes[parent] for parent in self.parents], sizes), dtype=np.int64)


def draw_network(
    tables: Sequence[ConditionalTable], groups: Mapping[str, tuple[str, Codes]], n_rows: int, rng: np.random.Generator
) -> dict[str, Codes]:
    """Draw all tables in their order, parents first.

    `groups` maps a derived parent (such as an age band) to the child it is read from and the group of each of its
    codes. Returns the codes of children and derived parents, each of shape (n_rows,).
    """
    codes: dict[str, Codes] = {}
    for table in tables:
        codes[table.child] = table.draw(rng, codes, n_rows)
        for derived, (origin, group) in groups.items():
            if origin == table.child:
                codes[derived] = group[codes[origin]]
    return codes


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


HOURS = np.arange(1, 91)
# People report hours in round numbers, and fewer of them the longer the week.
_ROUND_HOURS_FACTOR = 8.0
_OVERTIME_DECAY = 0.95

# Median yearly income in US dollars of an average person at 40 hours.
_MEDIAN_INCOME = 30_000.0
_INCOME_SPREAD = 0.42
_INCOME_HOURS_ELASTICITY = 0.9
_INCOME_STEP = 100


def education_levels() -> Codes:
    """The number of the level that each value of education belongs to, shape (16,)."""
    level_of = {
        value: level for level, values in enumerate(value_groups()["education-level"].values()) for value in values
    }
    return np.array([level_of[value] for value in values_of("education")])


def _workclass() -> Figures:
    by_level = percentages(figures_of("workclass").figures)[:, None, :]
    return reweighted(by_level, factors_of("workclass", "age-band")[None, :, :])


def _occupation() -> Figures:
    by_level_and_sex = percentages(figures_of("occupation").figures)[:, :, None, :]
    return reweighted(by_level_and_sex, factors_of("occupation", "workclass")[None, None, :, :])


def _schedule() -> Figures:
    by_occupation = percentages(figures_of("schedule").figures)[:, None, None, :]
    factors = factors_of("schedule", "sex")[:, None, :] * factors_of("schedule", "age-band")[None, :, :]
    return reweighted(by_occupation, factors[None, :, :, :])


def _hours_given_schedule() -> Figures:
    """P(hours | schedule), shape (7, 90)."""
    weight = np.where(HOURS % 5 == 0, _ROUND_HOURS_FACTOR, 1.0) * _OVERTIME_DECAY ** np.maximum(HOURS - 50, 0)
    within = np.array([(fewest <= HOURS) & (most >= HOURS) for fewest, most in value_groups()["schedule"].values()])
    return np.asarray(within * weight / (within * weight).sum(axis=1, keepdims=True))


@cache
def work_tables() -> tuple[ConditionalTable, ...]:
    """The tables of the attributes that describe work, parents first."""
    return (
        ConditionalTable("workclass", ("education-level", "age-band"), values_of("workclass"), _workclass()),
        ConditionalTable("occupation", ("education-level", "sex", "workclass"), values_of("occupation"), _occupation()),
        ConditionalTable("schedule", ("occupation", "sex", "age-band"), values_of("schedule"), _schedule()),
        ConditionalTable("hours-per-week", ("schedule",), tuple(HOURS.tolist()), _hours_given_schedule()),
    )


def draw_income(codes: dict[str, Codes], rng: np.random.Generator) -> NDArray[np.int64]:
    """Yearly income in US dollars, shape (n_rows,): log-normal around a median given by the codes of the parents.

    Unpaid workers have none. The parents are education, occupation, age band, sex, work class and hours per week.
    """
    factors = income_factors()
    hours_factor = (HOURS / 40.0) ** _INCOME_HOURS_ELASTICITY
    median = _MEDIAN_INCOME * factors["education"][codes["education"]] * factors["occupation"][codes["occupation"]]
    median *= (
        factors["age-band"][codes["age-band"]] * factors["sex"][codes["sex"]] * factors["workclass"][codes["workclass"]]
    )
    median *= hours_factor[codes["hours-per-week"]]
    income = median * np.exp(_INCOME_SPREAD * rng.standard_normal(len(median)))
    return np.asarray(np.rint(income / _INCOME_STEP) * _INCOME_STEP, dtype=np.int64)


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


DEFAULT_ROWS = 45_222
SALARY_THRESHOLD = 50_000

_DRAWN = (
    "age",
    "workclass",
    "education",
    "marital-status",
    "occupation",
    "race",
    "sex",
    "hours-per-week",
    "native-country",
    "diagnosis",
)


def load_census(n_rows: int = DEFAULT_ROWS, seed: int = 0) -> pd.DataFrame:
    """A table of made-up people, one row each.

    Parameters
    ----------
    n_rows : int
        How many people, at least 1.
    seed : int
        At least 0; the same size and seed give the same table.

    Returns
    -------
    DataFrame
        The columns person-id, name, age (years), workclass, education, marital-status, occupation, race, sex,
        hours-per-week (hours), native-country, income (US dollars a year), salary-class (`>50K` exactly where income is
        above 50,000), diagnosis.

    Raises
    ------
    DataError
        For fewer than one row and for a negative seed.

    Examples
    --------
    >>> from anoncore.datasets.census import load_census
    >>> load_census(n_rows=3)["person-id"].tolist()
    ['P000001', 'P000002', 'P000003']
    """
    n_rows = check_size(n_rows)
    rng = np.random.default_rng(check_seed(seed))
    tables = [*people_tables(), *work_tables()]
    groups = {"age-band": ("age", age_bands()), "education-level": ("education", education_levels())}
    codes = draw_network(tables, groups, n_rows, rng)
    income = draw_income(codes, rng)
    drawn = {table.child: value_column(table.values, codes[table.child]) for table in tables if table.child in _DRAWN}

    columns: dict[str, object] = {"person-id": _person_ids(n_rows), "name": _names(codes["sex"], rng)}
    columns |= {name: drawn[name] for name in _DRAWN[:-1]}
    columns["income"] = income
    columns["salary-class"] = value_column(("<=50K", ">50K"), (income > SALARY_THRESHOLD).astype(np.int64))
    columns["diagnosis"] = drawn["diagnosis"]
    return pd.DataFrame(columns)


def _person_ids(n_rows: int) -> ColumnValues:
    """P000001, P000002 and so on, with more digits from a million people on."""
    width = max(6, len(str(n_rows)))
    numbers = pc.cast(pa.array(np.arange(1, n_rows + 1)), pa.string())
    identifiers: ColumnValues = pd.array(
        pc.binary_join_element_wise("P", pc.utf8_lpad(numbers, width, "0"), ""), dtype=TEXT
    )
    return identifiers


def _names(sex: Codes, rng: np.random.Generator) -> ColumnValues:
    """A first name that fits the sex and a last name, drawn independently of each other, in one text."""
    names = read_toml(census_file("names.toml"))
    men, women, last_names = names["men"], names["women"], names["last"]
    full_names = [f"{first} {last}" for first in men + women for last in last_names]
    first = np.where(sex == 0, rng.integers(0, len(men), len(sex)), len(men) + rng.integers(0, len(women), len(sex)))
    return value_column(full_names, first * len(last_names) + rng.integers(0, len(last_names), len(sex)))
