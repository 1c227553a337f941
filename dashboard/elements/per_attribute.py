"""One number per sensitive attribute."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import streamlit as st

from dashboard.board.fields import FieldForm

IN_A_LINE = 3

Seed = Callable[[str, Any], None]


def draw(field: FieldForm, key: str, value: Mapping[str, float] | None, names: Sequence[str], seed: Seed) -> Any:
    """Ask for a number for each attribute; those left empty are not in the result."""
    entered: dict[str, float] = {}
    if not names:
        return entered
    st.markdown(f"**{field.title}**", help=field.help)
    for name, column in zip(names, places(len(names)), strict=True):
        place = f"{key}.{name}"
        seed(place, (value or {}).get(name))
        with column:
            number = st.number_input(
                name,
                min_value=field.low,
                max_value=field.high,
                step=field.step,
                format="%g",
                key=place,
                persist_state="page",
                help=field.help,
                placeholder="as the others",
            )
        if number is not None:
            entered[name] = float(number)
    return entered


def places(count: int) -> list[Any]:
    """Where so many fields go, a few beside each other."""
    found: list[Any] = []
    for start in range(0, count, IN_A_LINE):
        found += st.columns(min(count, IN_A_LINE))[: count - start]
    return found
