"""Two public tables of measurements: Musk (166 features of molecules) and Heart (patients of a heart clinic)."""

from __future__ import annotations

import pandas as pd

from anoncore.base.errors import DataError
from anoncore.datasets.catalog import (
    IDENTIFIER,
    INSENSITIVE,
    NOMINAL,
    NUMERIC,
    ORDINAL,
    QUASI_IDENTIFIER,
    SENSITIVE,
    Table,
)
from anoncore.datasets.public import fetch, load_public, select_columns, stripped_text

MUSK_FEATURES = tuple(f"f{number}" for number in range(1, 167))
MUSK_COLUMNS = ("molecule_name", "conformation_name", *MUSK_FEATURES, "class")
HEART_COLUMNS = (
    "age",
    "sex",
    "cp",
    "trestbps",
    "chol",
    "fbs",
    "restecg",
    "thalach",
    "exang",
    "oldpeak",
    "slope",
    "ca",
    "thal",
    "target",
)
_HEART_CATEGORIES = ("sex", "cp", "fbs", "restecg", "exang", "slope", "thal", "target")
_MUSK_CLASSES = {"1": "musk", "0": "non-musk", "musk": "musk", "non-musk": "non-musk"}


def load_musk() -> pd.DataFrame:
    """Musk, version 1 then version 2: 7,074 rows, two identifiers, 166 integer features, class `musk` or `non-musk`.

    Raises DataError if there is neither a file nor a download.
    """
    return load_public("Musk", "musk.csv", MUSK_COLUMNS, _download_musk)


def load_heart() -> pd.DataFrame:
    """Heart: 1,025 rows, 14 numeric columns; many rows occur several times.

    OpenML has the 303 rows from which the file with 1,025 rows was made; a download gives those. Raises DataError if
    there is neither a file nor a download.
    """
    return load_public("Heart", "heart.csv", HEART_COLUMNS, _download_heart)


def _download_musk() -> pd.DataFrame:
    frame = pd.concat([_musk_part("clean1"), _musk_part("musk")], ignore_index=True)
    for column in ("molecule_name", "conformation_name"):
        frame[column] = stripped_text(frame[column])
    return frame


def _musk_part(name: str) -> pd.DataFrame:
    """One version of Musk from OpenML with the column names and values of the file."""
    frame = select_columns(fetch(name, 1).rename(columns=str.lower), MUSK_COLUMNS, f"OpenML's data set {name}")
    written = stripped_text(frame["class"]).str.lower().str.replace(r"\.0*$", "", regex=True)
    unknown = written[~written.isin(list(_MUSK_CLASSES))]
    if len(unknown):
        raise DataError(f"OpenML's data set {name} has the unknown class '{unknown.iloc[0]}'")
    return frame.astype(dict.fromkeys(MUSK_FEATURES, "int64")).assign(**{"class": written.map(_MUSK_CLASSES)})


def _download_heart() -> pd.DataFrame:
    frame = select_columns(fetch("heart-disease", 1), HEART_COLUMNS, "OpenML's data set heart-disease")
    whole = [column for column in HEART_COLUMNS if column != "oldpeak"]
    return frame.astype("float64").astype(dict.fromkeys(whole, "int64"))


MUSK = Table(
    name="musk",
    title="Musk (7,074 rows, 166 features)",
    description=(
        "Shapes of molecules, described by 166 numbers, and whether experts smell musk: the high-dimensional table of "
        "the vertical-fragmentation paper."
    ),
    source="Chapman and Jain, Musk (versions 1 and 2), UCI Machine Learning Repository, 1994, CC BY 4.0.",
    load=load_musk,
    roles={
        "molecule_name": IDENTIFIER,
        "conformation_name": IDENTIFIER,
        **dict.fromkeys(MUSK_FEATURES, QUASI_IDENTIFIER),
        "class": SENSITIVE,
    },
    kinds={**dict.fromkeys(MUSK_FEATURES, NUMERIC), "class": NOMINAL},
    external=True,
)

HEART = Table(
    name="heart",
    title="Heart (1,025 rows)",
    description=(
        "Patients examined for heart disease: age, sex, tests, resting blood pressure (trestbps) and cholesterol "
        "(chol). Only 302 of the rows are distinct."
    ),
    source=(
        "Janosi, Steinbrunn, Pfisterer and Detrano, Heart Disease, UCI Machine Learning Repository, 1988, "
        "doi 10.24432/C52P4X, CC BY 4.0, in the form published by D. Lapp."
    ),
    load=load_heart,
    roles={
        **dict.fromkeys(HEART_COLUMNS, QUASI_IDENTIFIER),
        "trestbps": SENSITIVE,
        "chol": SENSITIVE,
        "target": INSENSITIVE,
    },
    kinds={**dict.fromkeys(HEART_COLUMNS, NUMERIC), **dict.fromkeys(_HEART_CATEGORIES, NOMINAL), "ca": ORDINAL},
    orders={"ca": (0, 1, 2, 3, 4)},
    external=True,
)
