"""Sessions with finished runs, for the tests of the result pages."""

from __future__ import annotations

import base64
import json
import secrets
from dataclasses import replace
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

import numpy as np
import pandas as pd

from anoncore import Release
from anoncore.algorithms import Algorithm
from dashboard.session import state
from dashboard.session.loaded_table import LoadedTable, Tags, untagged
from dashboard.session.workspace import Run, Workspace, run_title
from tests.dashboard.conftest import Visitor

ROLES = {
    "name": "identifier",
    "age": "quasi-identifier",
    "sex": "quasi-identifier",
    "town": "quasi-identifier",
    "illness": "sensitive",
    "visits": "insensitive",
}


def people(n: int = 240) -> pd.DataFrame:
    """A small table with every role; town and illness hold characters that Markdown and HTML would take for markup."""
    rng = np.random.default_rng(7)
    return pd.DataFrame(
        {
            "name": [f"Person {number}" for number in range(n)],
            "age": rng.integers(18, 90, n),
            "sex": rng.choice(["f", "m"], n),
            "town": rng.choice(["A*b*", "<b>C</b>", "$D$", "E, F"], n),
            "illness": rng.choice(["flu", "cold", "ulcer", "_gout_"], n, p=[0.4, 0.3, 0.2, 0.1]),
            "visits": rng.integers(0, 40, n),
        }
    )


def tagged(frame: pd.DataFrame, roles: dict[str, str]) -> Tags:
    """The tags of a table with these roles."""
    tags = untagged(frame)
    for name, role in roles.items():
        tags = tags.changed("roles", name, role)
    return tags


def loaded(frame: pd.DataFrame, roles: dict[str, str], name: str) -> tuple[LoadedTable, Tags]:
    """A table of some name as the page Table loads it, and its tags."""
    # Tables of the same id count as the same one, whose codes are kept from the test before.
    content = sha256(frame.to_csv().encode("utf-8", "surrogatepass")).hexdigest()
    tags, id = tagged(frame, roles), f"test-{name}-{content}"
    return LoadedTable(id, name, frame, id, (), None, tags), tags


def add_run(
    visitor: Visitor,
    algorithm: Algorithm,
    frame: pd.DataFrame | None = None,
    roles: dict[str, str] | None = None,
    name: str = "people.csv",
    unit: str | None = None,
) -> Run:
    """Give the visitor a column with a release of the algorithm, and let pages that look closer show it."""
    here = state._workspaces.get(visitor.workspace)
    table, tags = loaded(people() if frame is None else frame, ROLES if roles is None else roles, name)
    tags = replace(tags, unit=unit)
    here.load(table, tags)
    data = state._microdata.get(table, tags)
    return put(here, algorithm, table, tags, algorithm.anonymize(data))


def put(here: Workspace, algorithm: Algorithm, table: LoadedTable, tags: Tags, release: Release) -> Run:
    """Give a workspace a column with this release, and let pages that look closer show it."""
    held = [run for run in here.runs if run.table is not None and run.table.digest == table.digest]
    run = Run(
        id=secrets.token_hex(8),
        label=run_title(algorithm),
        algorithm=algorithm,
        data=release.data,
        release=release,
        seconds=0.25,
        created=datetime.now(UTC),
        color_index=len(held),
        table_name=table.name,
        tags=tags,
        owner=here.id,
        table=table,
        column=f"c{len(held) + 1}",
    )
    here.show_on_board([*held, run])
    here.select_run(run.id)
    return run


def figure(visitor: Visitor, key: str) -> list[dict[str, Any]]:
    """The traces of the figure whose key begins so, with arrays as numpy arrays."""
    return [_decoded(trace) for trace in _drawn(visitor, key)["data"]]


def layout(visitor: Visitor, key: str) -> dict[str, Any]:
    """The layout of the figure whose key begins so."""
    found: dict[str, Any] = _drawn(visitor, key)["layout"]
    return found


def _drawn(visitor: Visitor, key: str) -> dict[str, Any]:
    for element in visitor.at.get("plotly_chart"):
        if f"-{key}" in element.proto.id:
            found: dict[str, Any] = json.loads(element.proto.spec)
            return found
    raise AssertionError(f"There is no chart {key!r}.")


def _decoded(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    if "bdata" not in value:
        return {name: _decoded(item) for name, item in value.items()}
    array = np.frombuffer(base64.b64decode(value["bdata"]), dtype=value["dtype"])
    return array.reshape([int(size) for size in value["shape"].split(",")]) if "shape" in value else array


def grid(visitor: Visitor, key: str) -> pd.DataFrame:
    """The table with selectable rows whose key begins so; Streamlit gives others no id."""
    return next(table.value for table in visitor.at.dataframe if f"-{key}" in table.proto.id)


def table_of(visitor: Visitor, *columns: object) -> pd.DataFrame:
    """The first table that begins with these columns."""
    return next(table.value for table in visitor.at.dataframe if tuple(table.value.columns[: len(columns)]) == columns)


def metrics(visitor: Visitor) -> dict[str, str]:
    """Numbers of the page by their label."""
    return {metric.label: metric.value for metric in visitor.at.metric}
