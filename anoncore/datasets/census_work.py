"""The census generator's conditional tables of work class, occupation and hours per week, and the draw of incomes.

Factors are odds ratios against the average person: 2 doubles the weight of a value before the row is scaled to 1.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from anoncore.datasets.census_figures import factors_of, figures_of, income_factors, value_groups, values_of
from anoncore.datasets.network import Codes, ConditionalTable, Figures, percentages, reweighted

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
