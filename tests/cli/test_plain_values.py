"""What `--json` prints: numbers, texts, lists and tables, whatever a measure gives."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import date
from typing import Any

import numpy as np
import pandas as pd
import pytest

from anoncore import Kind
from anoncore.base.showing import Shown
from anoncore.cli.plain_values import plain_value
from anoncore.requirements import TCloseness
from tests.contracts.test_showing import shown


def texts(tree: Any) -> Iterator[str]:
    """All texts in a tree of lists and dictionaries."""
    if isinstance(tree, str):
        yield tree
    for one in tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else ():
        yield from texts(one)


def test_single_values():
    values = [None, True, np.int32(3), np.float64(0.5), np.nan, np.inf, -np.inf, pd.NA, pd.NaT, Kind.NUMERIC]
    assert plain_value(values) == [None, True, 3, 0.5, None, "Infinity", "-Infinity", None, None, "numeric"]
    assert plain_value((pd.Timestamp("2024-05-31"), date(2024, 5, 31))) == ["2024-05-31T00:00:00", "2024-05-31"]
    assert plain_value(object()) == "object"


def test_arrays_and_tables():
    assert plain_value(np.array([[1.0, np.nan], [2.5, np.inf]])) == [[1.0, None], [2.5, "Infinity"]]
    frame = pd.DataFrame({"town": ["Ulm", None], "people": [3, 4]}, index=[7, 7])
    assert plain_value(frame) == [{"town": "Ulm", "people": 3}, {"town": None, "people": 4}]
    assert plain_value({1: {2.0}, "a": TCloseness(t=0.2)}) == {
        "1": [2.0],
        "a": {"name": "t-closeness", "t": 0.2, "ground": "equal"},
    }


@pytest.mark.slow
def test_every_result_becomes_json_without_the_text_of_an_object():
    for one in shown():
        tree = plain_value(one)
        assert json.loads(json.dumps(tree, allow_nan=False)) == tree
        if isinstance(one, Shown):
            # The text of an object that shows itself begins with its class and has several lines.
            assert not any(text.startswith(type(one).__name__) and "\n" in text for text in texts(tree))
        assert not any(" object at 0x" in text or "array(" in text for text in texts(tree))
