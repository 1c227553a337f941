"""Figures of the census generator: work class, occupation, hours per week, income.

Percentages and factors are made up for this table; their shape follows published marginals of working populations.
A factor is an odds ratio against the average person: 2 doubles the weight of a value before the row is scaled to 1.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from anoncore.datasets.network import Codes, ConditionalTable, Figures, percentages, reweighted

# Levels of education: no diploma, high school, some college, bachelor, graduate.
EDUCATION_LEVELS = np.array([0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 2, 2, 3, 4, 4, 4])

WORKCLASS_VALUES = (
    "Private",
    "Self-emp-not-inc",
    "Self-emp-inc",
    "Federal-gov",
    "State-gov",
    "Local-gov",
    "Without-pay",
)
_WORKCLASS_BY_EDUCATION_LEVEL = (
    (84.0, 8.0, 1.8, 1.0, 1.2, 3.7, 0.3),
    (79.5, 8.0, 2.9, 2.7, 2.1, 4.6, 0.2),
    (76.0, 7.0, 3.2, 3.9, 4.0, 5.8, 0.1),
    (69.5, 7.2, 5.2, 4.1, 5.0, 8.9, 0.1),
    (51.0, 12.0, 7.5, 5.0, 9.4, 15.0, 0.1),
)
_WORKCLASS_AGE_FACTORS = (
    (1.15, 0.25, 0.20, 0.30, 0.60, 0.60, 3.0),
    (1.10, 0.30, 0.25, 0.50, 1.20, 0.60, 1.0),
    (1.05, 0.80, 0.70, 0.90, 1.00, 0.90, 0.5),
    (0.97, 1.10, 1.20, 1.15, 1.00, 1.20, 0.5),
    (0.90, 1.40, 1.70, 1.20, 1.05, 1.20, 1.5),
    (0.80, 2.60, 2.20, 0.60, 0.90, 0.90, 5.0),
)

OCCUPATION_VALUES = (
    "Exec-managerial",
    "Prof-specialty",
    "Tech-support",
    "Adm-clerical",
    "Sales",
    "Craft-repair",
    "Machine-op-inspct",
    "Transport-moving",
    "Handlers-cleaners",
    "Farming-fishing",
    "Other-service",
    "Priv-house-serv",
    "Protective-serv",
    "Armed-Forces",
)
# One pair of rows per level of education: men, women.
_OCCUPATION_BY_EDUCATION_LEVEL_AND_SEX = (
    (
        (3.5, 0.8, 0.3, 2.5, 6.0, 25.0, 15.0, 13.0, 13.9, 9.0, 9.0, 0.1, 1.8, 0.1),
        (4.0, 1.5, 0.5, 14.0, 15.0, 3.0, 18.0, 1.2, 5.0, 1.8, 31.0, 4.6, 0.4, 0.0),
    ),
    (
        (8.0, 1.7, 1.2, 5.5, 9.5, 29.0, 12.5, 12.0, 8.8, 4.7, 4.0, 0.0, 2.9, 0.2),
        (8.5, 2.8, 1.7, 34.0, 13.0, 2.4, 9.0, 1.3, 2.6, 0.8, 21.5, 1.7, 0.7, 0.0),
    ),
    (
        (13.5, 6.5, 5.2, 9.0, 13.5, 22.0, 6.5, 7.0, 5.5, 2.4, 4.2, 0.0, 4.5, 0.2),
        (12.0, 10.0, 5.5, 40.0, 11.5, 1.5, 2.6, 0.6, 1.2, 0.4, 13.0, 0.6, 1.1, 0.0),
    ),
    (
        (28.0, 28.0, 4.8, 7.0, 18.0, 5.5, 1.3, 1.4, 0.8, 1.2, 1.5, 0.0, 2.4, 0.1),
        (21.0, 38.0, 4.0, 18.0, 11.0, 0.8, 0.8, 0.2, 0.4, 0.3, 4.6, 0.3, 0.6, 0.0),
    ),
    (
        (27.0, 57.0, 1.6, 2.6, 6.5, 1.6, 0.4, 0.5, 0.2, 0.6, 0.7, 0.0, 1.2, 0.1),
        (18.0, 67.0, 1.9, 6.5, 3.8, 0.2, 0.2, 0.0, 0.1, 0.1, 1.7, 0.2, 0.3, 0.0),
    ),
)
_OCCUPATION_WORKCLASS_FACTORS = (
    (1.0, 0.75, 1.0, 0.95, 1.15, 1.05, 1.2, 1.05, 1.15, 0.7, 1.0, 1.3, 0.25, 0.0),
    (1.2, 1.00, 0.3, 0.30, 1.30, 1.60, 0.3, 0.90, 0.20, 5.0, 0.6, 0.0, 0.05, 0.0),
    (2.5, 1.00, 0.2, 0.50, 2.00, 1.00, 0.2, 0.50, 0.10, 2.0, 0.3, 0.0, 0.05, 0.0),
    (1.3, 1.20, 1.8, 1.80, 0.10, 0.90, 0.4, 0.60, 0.50, 0.2, 0.5, 0.0, 3.00, 15.0),
    (1.1, 1.70, 1.6, 1.50, 0.10, 0.50, 0.3, 0.40, 0.30, 0.3, 1.1, 0.0, 5.00, 0.0),
    (0.8, 1.90, 0.6, 1.10, 0.10, 0.70, 0.2, 1.20, 0.60, 0.3, 1.2, 0.0, 8.00, 0.0),
    (0.1, 0.30, 0.2, 1.50, 1.00, 0.50, 0.8, 0.60, 1.50, 8.0, 0.8, 0.5, 0.00, 0.0),
)

# Weekly schedules, as first and last hour.
_SCHEDULES = ((1, 19), (20, 34), (35, 39), (40, 40), (41, 49), (50, 50), (51, 90))
_SCHEDULE_BY_OCCUPATION = (
    (1.5, 4.5, 4.0, 42.0, 15.0, 17.0, 16.0),
    (4.0, 9.5, 6.5, 46.0, 11.0, 12.0, 11.0),
    (2.5, 9.0, 7.0, 60.0, 9.5, 7.0, 5.0),
    (4.5, 14.5, 13.0, 58.0, 5.5, 3.0, 1.5),
    (5.5, 16.5, 6.5, 36.0, 12.5, 12.0, 11.0),
    (1.0, 4.0, 3.5, 61.0, 13.5, 9.5, 7.5),
    (0.8, 4.2, 5.0, 69.0, 10.5, 6.0, 4.5),
    (2.0, 6.5, 4.0, 46.0, 13.0, 13.0, 15.5),
    (5.0, 16.0, 7.0, 58.0, 6.5, 4.5, 3.0),
    (4.0, 9.0, 5.0, 30.0, 10.0, 13.0, 29.0),
    (8.5, 30.0, 11.5, 40.0, 4.5, 3.0, 2.5),
    (19.0, 34.0, 9.0, 27.0, 4.0, 3.5, 3.5),
    (2.0, 6.0, 3.0, 55.0, 13.0, 8.0, 13.0),
    (0.0, 1.0, 1.0, 52.0, 14.0, 14.0, 18.0),
)
_SCHEDULE_SEX_FACTORS = (
    (0.6, 0.6, 0.7, 1.05, 1.20, 1.25, 1.35),
    (1.6, 1.6, 1.4, 0.95, 0.75, 0.65, 0.50),
)
_SCHEDULE_AGE_FACTORS = (
    (14.0, 6.0, 1.2, 0.35, 0.15, 0.10, 0.10),
    (2.50, 2.4, 1.3, 0.85, 0.70, 0.60, 0.50),
    (0.50, 0.7, 0.9, 1.05, 1.10, 1.10, 1.05),
    (0.45, 0.6, 0.9, 1.05, 1.15, 1.20, 1.20),
    (0.70, 0.8, 1.0, 1.05, 0.95, 0.95, 1.00),
    (8.00, 4.5, 1.6, 0.45, 0.40, 0.40, 0.60),
)
HOURS = np.arange(1, 91)
# People report hours in round numbers, and fewer of them the longer the week.
_ROUND_HOURS_FACTOR = 8.0
_OVERTIME_DECAY = 0.95

# Median yearly income in US dollars of an average person at 40 hours, and factors of the median.
_MEDIAN_INCOME = 30_000.0
_INCOME_SPREAD = 0.42
_INCOME_EDUCATION = np.array(
    [0.62, 0.66, 0.69, 0.73, 0.75, 0.78, 0.80, 0.83, 1.00, 1.10, 1.18, 1.20, 1.55, 1.80, 2.60, 2.30]
)
_INCOME_OCCUPATION = np.array([1.35, 1.20, 1.15, 0.90, 1.05, 1.08, 0.92, 0.98, 0.78, 0.70, 0.65, 0.50, 1.15, 1.05])
_INCOME_AGE = np.array([0.45, 0.62, 0.92, 1.12, 1.18, 0.95])
_INCOME_SEX = np.array([1.08, 0.88])
_INCOME_WORKCLASS = np.array([1.00, 0.92, 1.35, 1.10, 0.98, 1.00, 0.00])
_INCOME_HOURS_ELASTICITY = 0.9
_INCOME_STEP = 100


def _workclass() -> Figures:
    by_level = percentages(_WORKCLASS_BY_EDUCATION_LEVEL)[:, None, :]
    return reweighted(by_level, np.array(_WORKCLASS_AGE_FACTORS)[None, :, :])


def _occupation() -> Figures:
    by_level_and_sex = percentages(_OCCUPATION_BY_EDUCATION_LEVEL_AND_SEX)[:, :, None, :]
    return reweighted(by_level_and_sex, np.array(_OCCUPATION_WORKCLASS_FACTORS)[None, None, :, :])


def _schedule() -> Figures:
    by_occupation = percentages(_SCHEDULE_BY_OCCUPATION)[:, None, None, :]
    factors = np.array(_SCHEDULE_SEX_FACTORS)[:, None, :] * np.array(_SCHEDULE_AGE_FACTORS)[None, :, :]
    return reweighted(by_occupation, factors[None, :, :, :])


def _hours_given_schedule() -> Figures:
    """P(hours | schedule), shape (7, 90)."""
    weight = np.where(HOURS % 5 == 0, _ROUND_HOURS_FACTOR, 1.0) * _OVERTIME_DECAY ** np.maximum(HOURS - 50, 0)
    within = np.array([(first <= HOURS) & (last >= HOURS) for first, last in _SCHEDULES])
    return np.asarray(within * weight / (within * weight).sum(axis=1, keepdims=True))


def work_tables() -> list[ConditionalTable]:
    """The tables of the attributes that describe work, parents first."""
    return [
        ConditionalTable("workclass", ("education-level", "age-band"), WORKCLASS_VALUES, _workclass()),
        ConditionalTable("occupation", ("education-level", "sex", "workclass"), OCCUPATION_VALUES, _occupation()),
        ConditionalTable("schedule", ("occupation", "sex", "age-band"), _SCHEDULES, _schedule()),
        ConditionalTable("hours-per-week", ("schedule",), tuple(HOURS.tolist()), _hours_given_schedule()),
    ]


def draw_income(codes: dict[str, Codes], rng: np.random.Generator) -> NDArray[np.int64]:
    """Yearly income in US dollars, shape (n_rows,): log-normal around a median given by the codes of the parents.

    Unpaid workers have none. The parents are education, occupation, age band, sex, work class and hours per week.
    """
    hours_factor = (HOURS / 40.0) ** _INCOME_HOURS_ELASTICITY
    median = _MEDIAN_INCOME * _INCOME_EDUCATION[codes["education"]] * _INCOME_OCCUPATION[codes["occupation"]]
    median *= _INCOME_AGE[codes["age-band"]] * _INCOME_SEX[codes["sex"]] * _INCOME_WORKCLASS[codes["workclass"]]
    median *= hours_factor[codes["hours-per-week"]]
    income = median * np.exp(_INCOME_SPREAD * rng.standard_normal(len(median)))
    return np.asarray(np.rint(income / _INCOME_STEP) * _INCOME_STEP, dtype=np.int64)
