"""Numbers per attribute: one for each sensitive one, or the ends of the ranges of each numeric one, as a list."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import streamlit as st

from anoncore import Microdata
from anoncore.base.texts import value_text
from anoncore.table.domain import Domain, Kind
from dashboard.board.fields import FieldForm

Ends = Mapping[str, Sequence[float | str]]
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


def draw_ends(
    field: FieldForm, key: str, value: Ends | None, names: Sequence[str], data: Microdata | None, seed: Seed
) -> dict[str, tuple[float | str, ...]]:
    """Ask for the ends of each attribute that has numbers or dates; those left empty are not in the result.

    What a field shows while it is empty is what is taken then: the smallest and the largest value of the table.
    """
    asked = [name for name in names if data is None or data.domain[name].kind is Kind.NUMERIC]
    if not asked:
        return {}
    st.markdown(f"**{field.title}**", help=field.help)
    st.caption("Where a field is empty, the smallest and the largest value of the table are taken as they are.")
    found: dict[str, tuple[float | str, ...]] = {}
    for name, column in zip(asked, places(len(asked)), strict=True):
        place = f"{key}.{name}"
        seed(place, text_of((value or {}).get(name, ())))
        with column:
            text = st.text_input(
                name,
                key=place,
                persist_state="page",
                help="The smallest and the largest, or all ends of the ranges, with commas between them.",
                placeholder="" if data is None else own_ends(data.domain[name]),
            )
        ends = read(text)
        if ends:
            found[name] = ends
    return found


def own_ends(domain: Domain) -> str:
    """The smallest and the largest value of the table, as they would be written; empty where there is none."""
    if not domain.values:
        return ""
    return ", ".join(value_text(value) for value in (domain.values[0], domain.values[-1]))


def text_of(ends: Sequence[float | str]) -> str:
    """Ends as they are written."""
    return ", ".join(value_text(end) for end in ends)


def read(text: str) -> tuple[float | str, ...]:
    """Ends as they were written: numbers where they are numbers, else texts, such as dates."""
    return tuple(_end(part.strip()) for part in text.split(",") if part.strip())


def _end(text: str) -> float | str:
    try:
        number = float(text)
    except ValueError:
        return text
    # A text that is no number is refused later, in a sentence that names the attribute.
    return number if abs(number) < float("inf") else text
