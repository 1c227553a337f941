"""Worked examples of the dissertation on t-closeness as tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from anoncore.datasets.catalog import (
    IDENTIFIER,
    NOMINAL,
    NUMERIC,
    ORDINAL,
    QUASI_IDENTIFIER,
    SENSITIVE,
    Table,
    Taxonomy,
)
from anoncore.datasets.worked import made_up_ages, rows, spread, zipcode_taxonomy

_SOURCE = "Thammanna Gowda, Methods to Achieve t-Closeness for Privacy Preserving Data Publishing, dissertation, 2023"

_JOB: Taxonomy = {"Professional": ["Engineer", "Lawyer"], "Artist": ["Dancer", "Writer"]}
_RAW_ZIPCODES = ("47602", "47677", "47678", "47705", "47707", "47773", "47905", "47906", "47909")
_PATIENT_ZIPCODES = ("47602", "47605", "47607", "47673", "47677", "47678", "47905", "47906", "47909")

TABLE_2_1 = Table(
    name="t-closeness-table-2.1",
    title="t-Closeness, table 2.1 (9 rows)",
    description="A hospital's raw table, with the names and social security numbers that must never be published.",
    source=f"{_SOURCE}, table 2.1.",
    load=rows(
        ("name", "ssn", "zipcode", "age", "sex", "disease"),
        ("Scofield", "111-11-1111", "47677", 29, "M", "Bronchitis"),
        ("Linc", "222-22-2222", "47602", 25, "M", "Heart Disease"),
        ("Sara", "333-33-3333", "47678", 27, "F", "Pneumonia"),
        ("Henry", "444-44-4444", "47905", 43, "M", "Flu"),
        ("Bagwell", "555-55-5555", "47909", 40, "F", "Pneumonia"),
        ("Bellick", "666-66-6666", "47906", 47, "M", "Cancer"),
        ("John", "777-77-7777", "47705", 30, "M", "Heart Disease"),
        ("Nika", "888-88-8888", "47773", 35, "F", "Cancer"),
        ("Sucre", "999-99-9999", "47707", 32, "M", "Cold"),
    ),
    roles={
        "name": IDENTIFIER,
        "ssn": IDENTIFIER,
        "zipcode": QUASI_IDENTIFIER,
        "age": QUASI_IDENTIFIER,
        "sex": QUASI_IDENTIFIER,
        "disease": SENSITIVE,
    },
    kinds={"zipcode": ORDINAL, "age": NUMERIC, "sex": NOMINAL, "disease": NOMINAL},
    orders={"zipcode": _RAW_ZIPCODES},
    taxonomies={
        "zipcode": zipcode_taxonomy(_RAW_ZIPCODES),
        "disease": {
            "Respiratory": ["Bronchitis", "Pneumonia", "Flu", "Cold"],
            "Long-term": ["Heart Disease", "Cancer"],
        },
    },
)

TABLE_2_6 = Table(
    name="t-closeness-table-2.6",
    title="t-Closeness, table 2.6 (9 rows)",
    description="The external table with names that an adversary joins with the patients of table 2.7.",
    source=f"{_SOURCE}, table 2.6 and figure 2.3.",
    load=rows(
        ("name", "job", "age", "sex"),
        ("Aaron", "Writer", 29, "M"),
        ("Bob", "Engineer", 22, "M"),
        ("Cindy", "Writer", 47, "F"),
        ("Daisy", "Lawyer", 38, "F"),
        ("Eion", "Dancer", 52, "M"),
        ("Felicity", "Engineer", 47, "F"),
        ("Gavin", "Dancer", 30, "M"),
        ("Haley", "Lawyer", 36, "F"),
        ("Igram", "Dancer", 52, "M"),
    ),
    roles={"name": IDENTIFIER, "job": QUASI_IDENTIFIER, "age": QUASI_IDENTIFIER, "sex": QUASI_IDENTIFIER},
    kinds={"job": NOMINAL, "age": NUMERIC, "sex": NOMINAL},
    taxonomies={"job": _JOB},
)

TABLE_2_7 = Table(
    name="t-closeness-table-2.7",
    title="t-Closeness, table 2.7 (7 rows)",
    description="Patients whose job, age and sex can be joined with the external table 2.6.",
    source=f"{_SOURCE}, table 2.7 and figure 2.3.",
    load=rows(
        ("job", "age", "sex", "disease"),
        ("Engineer", 29, "M", "Bronchitis"),
        ("Writer", 22, "M", "Heart Disease"),
        ("Lawyer", 36, "M", "Pneumonia"),
        ("Engineer", 43, "F", "Flu"),
        ("Dancer", 52, "M", "Pneumonia"),
        ("Writer", 47, "F", "Cancer"),
        ("Dancer", 30, "M", "Heart Disease"),
    ),
    roles={"job": QUASI_IDENTIFIER, "age": QUASI_IDENTIFIER, "sex": QUASI_IDENTIFIER, "disease": SENSITIVE},
    kinds={"job": NOMINAL, "age": NUMERIC, "sex": NOMINAL, "disease": NOMINAL},
    taxonomies={
        "job": _JOB,
        "disease": {"Respiratory": ["Bronchitis", "Pneumonia", "Flu"], "Long-term": ["Heart Disease", "Cancer"]},
    },
)

TABLE_2_8 = Table(
    name="t-closeness-table-2.8",
    title="t-Closeness, table 2.8 (9 rows)",
    description=(
        "Patients whose 3-anonymous version (table 2.9) has a class in which everyone has heart disease: k-anonymity "
        "alone does not protect them."
    ),
    source=f"{_SOURCE}, tables 2.8 and 2.9.",
    load=rows(
        ("zipcode", "age", "sex", "disease"),
        ("47677", 29, "M", "Heart Disease"),
        ("47602", 25, "M", "Heart Disease"),
        ("47678", 27, "M", "Heart Disease"),
        ("47905", 43, "F", "Flu"),
        ("47909", 52, "M", "Heart Disease"),
        ("47906", 47, "F", "Fever"),
        ("47605", 30, "M", "Heart Disease"),
        ("47673", 36, "F", "Fever"),
        ("47607", 32, "M", "Fever"),
    ),
    roles={"zipcode": QUASI_IDENTIFIER, "age": QUASI_IDENTIFIER, "sex": QUASI_IDENTIFIER, "disease": SENSITIVE},
    kinds={"zipcode": ORDINAL, "age": NUMERIC, "sex": NOMINAL, "disease": NOMINAL},
    orders={"zipcode": _PATIENT_ZIPCODES},
    taxonomies={
        "zipcode": zipcode_taxonomy(_PATIENT_ZIPCODES),
        "disease": {"Infection": ["Flu", "Fever"], "Heart": ["Heart Disease"]},
    },
)

TABLE_2_10 = Table(
    name="t-closeness-table-2.10",
    title="t-Closeness, table 2.10 (9 rows)",
    description=(
        "Salaries and diseases whose 3-diverse version (table 2.11) has a class with low salaries and stomach "
        "diseases only: diversity does not see that values are alike."
    ),
    source=f"{_SOURCE}, tables 2.10 and 2.11.",
    load=rows(
        ("zipcode", "age", "salary", "disease"),
        ("47677", 29, 3_000, "Gastric Ulcer"),
        ("47602", 25, 4_000, "Gastritis"),
        ("47678", 27, 5_000, "Stomach Cancer"),
        ("47905", 43, 6_000, "Gastritis"),
        ("47909", 52, 11_000, "Flu"),
        ("47906", 47, 8_000, "Bronchitis"),
        ("47605", 30, 7_000, "Bronchitis"),
        ("47673", 36, 9_000, "Pneumonia"),
        ("47607", 32, 10_000, "Stomach Cancer"),
    ),
    roles={"zipcode": QUASI_IDENTIFIER, "age": QUASI_IDENTIFIER, "salary": SENSITIVE, "disease": SENSITIVE},
    kinds={"zipcode": ORDINAL, "age": NUMERIC, "salary": NUMERIC, "disease": NOMINAL},
    orders={"zipcode": _PATIENT_ZIPCODES},
    taxonomies={
        "zipcode": zipcode_taxonomy(_PATIENT_ZIPCODES),
        "disease": {
            "Stomach disease": ["Gastric Ulcer", "Gastritis", "Stomach Cancer"],
            "Respiratory disease": ["Flu", "Bronchitis", "Pneumonia"],
        },
    },
)

# Section 3.5, in the order of table 3.2 (descending frequency).
SALARY_FREQUENCIES = {
    70_000: 42,
    75_000: 39,
    85_000: 37,
    55_000: 31,
    50_000: 24,
    65_000: 20,
    80_000: 17,
    60_000: 16,
    90_000: 15,
    95_000: 9,
}
# Chapter 3, data set 1: six values that the text does not name.
DATASET_1_FREQUENCIES = {"v1": 167, "v2": 153, "v3": 127, "v4": 103, "v5": 91, "v6": 89}
# Figure 4.1: how many of the 400 records have x_i (row) and y_j (column).
FIGURE_4_1_COUNTS = ((20, 20, 100), (0, 40, 40), (40, 20, 60), (40, 0, 20))


def _with_frequencies(column: str, frequencies: Mapping[Any, int]) -> pd.DataFrame:
    values = spread(list(frequencies), list(frequencies.values()))
    ids = [f"R{number:03d}" for number in range(1, len(values) + 1)]
    return pd.DataFrame({"record": ids, "age": made_up_ages(len(values)), column: values})


def _load_salaries() -> pd.DataFrame:
    return _with_frequencies("salary", SALARY_FREQUENCIES)


def _load_dataset_1() -> pd.DataFrame:
    return _with_frequencies("S", DATASET_1_FREQUENCIES)


def _load_figure_4_1() -> pd.DataFrame:
    counts = {
        (f"x{i}", f"y{j}"): count
        for i, row in enumerate(FIGURE_4_1_COUNTS, start=1)
        for j, count in enumerate(row, start=1)
    }
    frame = _with_frequencies("pair", counts)
    x, y = zip(*frame.pop("pair"), strict=True)
    return frame.assign(X=list(x), Y=list(y))


SALARIES = Table(
    name="t-closeness-salaries",
    title="t-Closeness, section 3.5 (250 salaries)",
    description=(
        "The employees of the Stack & Deal example. The text gives the frequencies of the salaries only; the ages "
        "and the order of the rows are made up."
    ),
    source=f"{_SOURCE}, section 3.5, table 3.2.",
    load=_load_salaries,
    roles={"record": IDENTIFIER, "age": QUASI_IDENTIFIER, "salary": SENSITIVE},
    kinds={"age": NUMERIC, "salary": NUMERIC},
)

DATASET_1 = Table(
    name="t-closeness-dataset-1",
    title="t-Closeness, data set 1 (730 rows)",
    description=(
        "The theoretical data of figure 3.1: six sensitive values with given frequencies, ordered from the most to "
        "the least frequent. The ages are made up."
    ),
    source=f"{_SOURCE}, section 3.6.",
    load=_load_dataset_1,
    roles={"record": IDENTIFIER, "age": QUASI_IDENTIFIER, "S": SENSITIVE},
    kinds={"age": NUMERIC, "S": ORDINAL},
    orders={"S": tuple(DATASET_1_FREQUENCIES)},
)

FIGURE_4_1 = Table(
    name="t-closeness-figure-4.1",
    title="t-Closeness, figure 4.1 (400 rows)",
    description="Two sensitive attributes with the multiplicity matrix of figure 4.1. The ages are made up.",
    source=f"{_SOURCE}, figure 4.1.",
    load=_load_figure_4_1,
    roles={"record": IDENTIFIER, "age": QUASI_IDENTIFIER, "X": SENSITIVE, "Y": SENSITIVE},
    kinds={"age": NUMERIC, "X": ORDINAL, "Y": ORDINAL},
    orders={"X": ("x1", "x2", "x3", "x4"), "Y": ("y1", "y2", "y3")},
)

_TABLE_5_1_PAIRS = "a2b1 a2b1 a2b3 a1b2 a2b2 a2b3 a1b2 a2b1 a2b3 a1b1 a2b1 a1b1 a2b3 a2b1 a1b2"


def _load_table_5_1() -> pd.DataFrame:
    pairs = _TABLE_5_1_PAIRS.split()
    return pd.DataFrame(
        {
            "record": [f"R{number:02d}" for number in range(1, len(pairs) + 1)],
            "age": made_up_ages(len(pairs)),
            "S_A": [pair[:2] for pair in pairs],
            "S_B": [pair[2:] for pair in pairs],
        }
    )


TABLE_5_1 = Table(
    name="t-closeness-table-5.1",
    title="t-Closeness, table 5.1 (15 rows)",
    description=(
        "Two sensitive attributes for Stack & Deal over combinations of values. The text names no quasi-identifier; "
        "the ages are made up."
    ),
    source=f"{_SOURCE}, tables 5.1 to 5.3.",
    load=_load_table_5_1,
    roles={"record": IDENTIFIER, "age": QUASI_IDENTIFIER, "S_A": SENSITIVE, "S_B": SENSITIVE},
    kinds={"age": NUMERIC, "S_A": ORDINAL, "S_B": ORDINAL},
    orders={"S_A": ("a1", "a2"), "S_B": ("b1", "b2", "b3")},
)

T_CLOSENESS_TABLES = (
    TABLE_2_1,
    TABLE_2_6,
    TABLE_2_7,
    TABLE_2_8,
    TABLE_2_10,
    SALARIES,
    DATASET_1,
    FIGURE_4_1,
    TABLE_5_1,
)

# Tables 2.9 and 2.11 (the text prints one zip code of the third class as 479**, which is 476**).
T_CLOSENESS_GROUPS = {
    "t-closeness-table-2.8": (0, 0, 0, 1, 1, 1, 2, 2, 2),
    "t-closeness-table-2.10": (0, 0, 0, 1, 1, 1, 2, 2, 2),
}
