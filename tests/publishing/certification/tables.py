"""Releases to certify, written in every format, and ways to tamper with what was written."""

from __future__ import annotations

import io
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest

from anoncore import InfeasibleError, Microdata, Release
from anoncore.publishing import Certificate, certify
from anoncore.publishing.certification.input_hash import new_key
from anoncore.publishing.export import write_tables
from tests.properties.subjects import build

FORMATS = ("csv", "parquet", "excel")
KEY = new_key()
ROLES = {
    "name": "identifier",
    "age": "quasi-identifier",
    "town": "quasi-identifier",
    "since": "quasi-identifier",
    "illness": "sensitive",
    "visits": "insensitive",
}


@cache
def people(n: int = 120) -> Microdata:
    """People with numbers, dates, awkward texts and missing values in every role."""
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(
        {
            "name": [f"Person {number}" for number in range(n)],
            "age": rng.integers(20, 60, n),
            "town": rng.choice(["=A", "B, C", "007", '"D"', "-E"], n),
            "since": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 90, n), unit="D"),
            "illness": rng.choice(["flu", "cold", "{x, y}", "+gout", None], n, p=[0.3, 0.3, 0.2, 0.15, 0.05]),
            "visits": np.where(rng.random(n) < 0.1, np.nan, rng.integers(0, 9, n) / 2),
        }
    )
    return Microdata(frame, roles=ROLES)


@cache
def released(name: str, parameters: tuple[tuple[str, Any], ...]) -> Release:
    """The people's release by one algorithm; the test is skipped where they allow none."""
    try:
        return build(name, dict(parameters)).anonymize(people())
    except InfeasibleError as error:
        return pytest.skip(f"not possible on this table: {error}")


def written(tables: dict[str, pd.DataFrame], format: str) -> dict[str, bytes]:
    """The tables as one file, by its name."""
    content = io.BytesIO()
    write_tables(tables, content, format)  # type: ignore[arg-type]
    return {f"release.{format}": content.getvalue()}


def certificate(release: Release, **more: Any) -> Certificate:
    """The certificate as it is read back from its text."""
    return Certificate.loads(certify(release, KEY, **more).dumps())


def changed_cell(tables: dict[str, pd.DataFrame]) -> str:
    """Another value of a column in one cell of the last table; returns the column."""
    frame, column = _last(tables)
    values = frame[column]
    other = next(value for value in values.unique() if not pd.isna(value) and value != values.iloc[0])
    frame[column] = [other, *values.iloc[1:]]
    return column


def dropped_row(tables: dict[str, pd.DataFrame]) -> str:
    """Leave out the last row of the last table; returns the table's name."""
    name = list(tables)[-1]
    tables[name] = tables[name].iloc[:-1]
    return name


def swapped_values(tables: dict[str, pd.DataFrame]) -> str:
    """Exchange two different values of a column between rows that differ elsewhere too; returns the column."""
    frame, column = _last(tables)
    rest = frame.drop(columns=column).map(str).agg("|".join, axis=1)
    values = list(frame[column])
    other = next(
        row
        for row in range(len(values))
        if rest.iloc[row] != rest.iloc[0] and values[row] != values[0] and not pd.isna(values[row])
    )
    values[0], values[other] = values[other], values[0]
    frame[column] = values
    return column


def _last(tables: dict[str, pd.DataFrame]) -> tuple[pd.DataFrame, str]:
    name = list(tables)[-1]
    tables[name] = tables[name].copy()
    several = [column for column in tables[name].columns if len(set(tables[name][column])) > 1 and column != "group"]
    return tables[name], several[-1]
