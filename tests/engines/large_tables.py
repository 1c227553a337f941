"""Runs on files for tests of the embedded engine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq

from anoncore import Release
from anoncore.algorithms.rothko.rothko import Rothko
from anoncore.engines.large_run import LargeRun, anonymize_table
from anoncore.engines.spool import Tags
from anoncore.sources.large_table import LargeTable


def people(n: int = 400) -> pd.DataFrame:
    """People with missing cells of every kind, a date and a name."""
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(
        {
            "who": [f"who-{row}" for row in range(n)],
            "age": pd.array(rng.integers(20, 60, n), dtype="Int64"),
            "weight": rng.normal(70, 9, n).round(1),
            "town": rng.choice(["Ulm", "Bonn", "Köln, Süd", "it's"], n),
            "since": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 40, n), unit="D"),
            "debt": rng.integers(-5, 6, n),
            "ill": rng.choice(["flu", "gout", "cold", "asthma"], n),
            "note": rng.choice(["x", "y"], n),
        }
    )
    for name in ("age", "weight", "town", "ill", "note"):
        frame.loc[rng.choice(n, n // 20, replace=False), name] = pd.NA if name == "age" else None
    return frame


ROLES = {
    "who": "identifier",
    **dict.fromkeys(("age", "weight", "town", "since", "debt"), "quasi-identifier"),
    "ill": "sensitive",
    "note": "insensitive",
}


def run(source: Path, algorithm: Rothko, output: Path, table: str | None = None, **tags: Any) -> LargeRun:
    """The algorithm on a file; `tags` default to ROLES."""
    return anonymize_table(
        lambda workspace: LargeTable(source, workspace, table=table),
        Tags(**{"roles": ROLES, **tags}),
        algorithm,
        output,
    )


def published(folder: Path) -> list[tuple[str, ...]]:
    """The published rows as texts, sorted."""
    files = sorted(folder.glob("*.parquet"))
    return texts(pd.concat([pq.read_table(file).to_pandas() for file in files]))


def expected(release: Release) -> list[tuple[str, ...]]:
    """The rows of a release in memory, likewise."""
    return texts(release.tables()["release"])


def texts(frame: pd.DataFrame) -> list[tuple[str, ...]]:
    cells = frame.astype(object).where(frame.notna(), None)
    return sorted(tuple(map(str, row)) for row in cells.itertuples(index=False))
