"""The census-like table: people of any number, drawn from a small Bayesian network.

    sex -> age -> education -> work class -> occupation -> hours per week -> income -> salary class
    sex, age -> marital status, diagnosis          race -> country

The figures are data (see `census_figures`). No row describes a real person.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from anoncore.datasets.census_figures import census_file
from anoncore.datasets.census_people import age_bands, people_tables
from anoncore.datasets.census_work import draw_income, education_levels, work_tables
from anoncore.datasets.data_files import read_toml
from anoncore.datasets.generated import ColumnValues, check_seed, check_size, value_column
from anoncore.datasets.network import Codes, draw_network

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
        pc.binary_join_element_wise("P", pc.utf8_lpad(numbers, width, "0"), ""), dtype="str"
    )
    return identifiers


def _names(sex: Codes, rng: np.random.Generator) -> ColumnValues:
    """A first name that fits the sex and a last name, drawn independently of each other, in one text."""
    names = read_toml(census_file("names.toml"))
    men, women, last_names = names["men"], names["women"], names["last"]
    full_names = [f"{first} {last}" for first in men + women for last in last_names]
    first = np.where(sex == 0, rng.integers(0, len(men), len(sex)), len(men) + rng.integers(0, len(women), len(sex)))
    return value_column(full_names, first * len(last_names) + rng.integers(0, len(last_names), len(sex)))
