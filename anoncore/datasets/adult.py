"""The Adult ("Census Income") data set, records without missing values."""

from __future__ import annotations

import pandas as pd

from anoncore.datasets.attributes import EDUCATION, EDUCATION_ORDER, MARITAL_STATUS, OCCUPATION, RELATIONSHIP, WORKCLASS
from anoncore.datasets.catalog import (
    INSENSITIVE,
    NOMINAL,
    NUMERIC,
    ORDINAL,
    QUASI_IDENTIFIER,
    SENSITIVE,
    Table,
    Taxonomy,
)
from anoncore.datasets.public import fetch, load_public, select_columns, stripped_text

NUMBERS = ("age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week")
COLUMNS = (
    "age",
    "workclass",
    "fnlwgt",
    "education",
    "education-num",
    "marital-status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "capital-gain",
    "capital-loss",
    "hours-per-week",
    "native-country",
    "salary-class",
)

# Columbia, Hong, Trinadad and South (most likely South Korea: nearly all its people are Asian) are the data's words.
COUNTRY: Taxonomy = {
    "Americas": {
        "North America": ["United-States", "Canada", "Mexico"],
        "Central America": ["El-Salvador", "Guatemala", "Honduras", "Nicaragua"],
        "Caribbean": ["Cuba", "Dominican-Republic", "Haiti", "Jamaica", "Puerto-Rico", "Trinadad&Tobago"],
        "South America": ["Columbia", "Ecuador", "Peru"],
    },
    "Europe": {
        "British Isles": ["England", "Ireland", "Scotland"],
        "Western Europe": ["France", "Germany", "Holand-Netherlands"],
        "Southern Europe": ["Greece", "Italy", "Portugal", "Yugoslavia"],
        "Eastern Europe": ["Hungary", "Poland"],
    },
    "Asia and Pacific": {
        "East Asia": ["China", "Hong", "Japan", "South", "Taiwan"],
        "South-east Asia": ["Cambodia", "Laos", "Philippines", "Thailand", "Vietnam"],
        "South and West Asia": ["India", "Iran"],
        "Pacific": ["Outlying-US(Guam-USVI-etc)"],
    },
}


def load_adult() -> pd.DataFrame:
    """Adult: 45,222 rows, 15 columns, no missing value.

    The local file has the training part first; OpenML's form is brought to the same names, values and cleaning but
    keeps its own row order. Raises DataError if there is neither a file nor a download.
    """
    return load_public("Adult", "adult.csv", COLUMNS, _download)


def _download() -> pd.DataFrame:
    frame = fetch("adult", 2).rename(columns={"class": "salary-class"})
    frame = select_columns(frame, COLUMNS, "OpenML's data set adult")
    texts = {column: stripped_text(frame[column]) for column in COLUMNS if column not in NUMBERS}
    texts["salary-class"] = texts["salary-class"].str.rstrip(".")
    return frame.assign(**texts).dropna().astype(dict.fromkeys(NUMBERS, "int64"))


ADULT = Table(
    name="adult",
    title="Adult (45,222 rows)",
    description=(
        "The benchmark of the anonymization literature: people from the 1994 census of the United States with their "
        "work, education and whether they earn more than 50,000 dollars. Records with missing values are left out."
    ),
    source="Becker and Kohavi, Adult, UCI Machine Learning Repository, 1996, doi 10.24432/C5XW20, CC BY 4.0.",
    load=load_adult,
    roles={
        "age": QUASI_IDENTIFIER,
        "workclass": QUASI_IDENTIFIER,
        "fnlwgt": INSENSITIVE,
        "education": QUASI_IDENTIFIER,
        "education-num": INSENSITIVE,
        "marital-status": QUASI_IDENTIFIER,
        "occupation": QUASI_IDENTIFIER,
        "relationship": INSENSITIVE,
        "race": QUASI_IDENTIFIER,
        "sex": QUASI_IDENTIFIER,
        "capital-gain": INSENSITIVE,
        "capital-loss": INSENSITIVE,
        "hours-per-week": INSENSITIVE,
        "native-country": INSENSITIVE,
        "salary-class": SENSITIVE,
    },
    kinds={
        **dict.fromkeys(COLUMNS, NOMINAL),
        **dict.fromkeys(NUMBERS, NUMERIC),
        "education": ORDINAL,
        "salary-class": ORDINAL,
    },
    orders={"education": EDUCATION_ORDER, "salary-class": ("<=50K", ">50K")},
    taxonomies={
        "workclass": WORKCLASS,
        "education": EDUCATION,
        "marital-status": MARITAL_STATUS,
        "occupation": OCCUPATION,
        "relationship": RELATIONSHIP,
        "native-country": COUNTRY,
    },
    external=True,
)
