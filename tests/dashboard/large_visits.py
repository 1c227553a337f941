"""What visitors do who take a sample of a table, and the table they name."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from dashboard.session import state
from tests.dashboard.conftest import TIMEOUT, Visitor

WAIT = TIMEOUT


def people(n: int = 3_000) -> pd.DataFrame:
    rng = np.random.default_rng(4)
    return pd.DataFrame(
        {
            "who": [f"who-{row}" for row in range(n)],
            "age": rng.integers(18, 90, n),
            "town": rng.choice(["Ulm", "Bonn", "Köln"], n),
            "pay": rng.integers(10, 400, n) * 10,
            "ill": rng.choice(["flu", "gout", "cold", "ulcer"], n),
        }
    )


def name_table(visitor: Visitor, path: object, rows: int = 400) -> Visitor:
    visitor.open("table")
    visitor.at.text_input(key="place").set_value(str(path))
    visitor.at.number_input(key="sample-rows").set_value(rows)
    return visitor.run()


def take_sample(visitor: Visitor, path: Path, rows: int = 400) -> Visitor:
    name_table(visitor, path, rows).press("Take a sample")
    found = job_of(visitor, "large-sampling")
    if found is not None:
        assert found.job.wait(WAIT)
        visitor.run()
    return visitor


def job_of(visitor: Visitor, name: str) -> Any:
    return state._workspaces.get(visitor.workspace).jobs.get(name)


def tagged(visitor: Visitor, path: Path) -> Visitor:
    """On the page, with a sample of the table and its tags."""
    take_sample(visitor, path)
    roles = {"age": "quasi-identifier", "town": "quasi-identifier", "pay": "quasi-identifier", "ill": "sensitive"}
    return visitor.tag(who="identifier", **roles)


def finish(visitor: Visitor) -> Visitor:
    assert job_of(visitor, "large-run").job.wait(WAIT)
    return visitor.run()


def metric(visitor: Visitor, label: str) -> str:
    return next(str(item.value) for item in visitor.at.metric if item.label == label)


def ends(question: Callable[[], bool]) -> bool:
    end = time.monotonic() + WAIT
    while not question() and time.monotonic() < end:
        time.sleep(0.05)
    return question()
