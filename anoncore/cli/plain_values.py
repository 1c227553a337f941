"""Results of measures as JSON holds them: numbers, texts, lists and tables, and never the text of a Python object."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import fields, is_dataclass
from datetime import date
from enum import Enum
from math import isfinite, isnan
from numbers import Integral, Real
from typing import Any

import numpy as np
import pandas as pd

from anoncore.base.model import Model
from anoncore.base.texts import value_text


def plain_value(value: object) -> Any:
    """The value in JSON: scores and other numbers as numbers, arrays as lists, results as tables of their fields.

    What is missing or no number is null, what is infinite the text `Infinity` or `-Infinity`, because JSON has no such
    numbers. Of a class that holds no fields only its name is told.
    """
    if value is None or isinstance(value, bool | str):
        return value
    if value is pd.NA or value is pd.NaT:
        return None
    if isinstance(value, np.generic):
        return plain_value(value.item())
    if isinstance(value, Enum):
        return plain_value(value.value)
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        return _number(float(value))
    if isinstance(value, date):
        return value.isoformat()
    return _several(value)


def _number(value: float) -> float | str | None:
    if isfinite(value):
        return value
    return None if isnan(value) else "Infinity" if value > 0 else "-Infinity"


def _several(value: object) -> Any:
    if isinstance(value, np.ndarray):
        return plain_value(value.tolist())
    if isinstance(value, pd.DataFrame):
        return [plain_value(row) for row in value.to_dict("records")]
    if isinstance(value, pd.Series):
        return plain_value(value.tolist())
    if isinstance(value, Model):
        return plain_value(value.to_dict(complete=True))
    if isinstance(value, Mapping):
        return {name if isinstance(name, str) else value_text(name): plain_value(one) for name, one in value.items()}
    if isinstance(value, Collection):
        return [plain_value(one) for one in value]
    if is_dataclass(value):
        return {one.name: plain_value(getattr(value, one.name)) for one in fields(value) if one.repr}
    return type(value).__name__
