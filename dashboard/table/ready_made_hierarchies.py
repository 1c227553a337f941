"""Part of the page Table: a ready-made hierarchy with its parameters, made anew with every change of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from anoncore import AnonymizationError, Domain, Hierarchy, Microdata
from anoncore.table.hierarchy_defaults import (
    CALENDAR,
    GRID,
    SHARES,
    calendar_hierarchy,
    frequency_hierarchy,
    grid_hierarchy,
    neighbour_hierarchy,
    prefix_hierarchy,
)
from anoncore.table.hierarchy_proposals import (
    USUAL_GROUPS,
    HierarchyForm,
    default_hierarchy,
    usual_width,
    values_of_rows,
)
from dashboard.session import state, tagging
from dashboard.table import attribute_changes

TITLES = {
    HierarchyForm.CALENDAR: "calendar",
    HierarchyForm.PREFIX: "first characters",
    HierarchyForm.GRID: "grid",
    HierarchyForm.WIDTH: "equal width",
    HierarchyForm.QUANTILES: "equal number of rows",
    HierarchyForm.NEIGHBOURS: "neighbours",
    HierarchyForm.FREQUENCY: "rare values together",
    HierarchyForm.LETTER: "first letter",
}
FORM_OF = {title: form for form, title in TITLES.items()}
MOST_LENGTHS = 12
SHARE_OPTIONS = (0.01, 0.02, 0.05, 0.1, 0.2)
GRID_OPTIONS = (0.001, *GRID)


def draw(form: HierarchyForm, key: str, name: str, data: Microdata) -> None:
    """The parameters of a form; a change makes the hierarchy anew."""
    domain = data.domain[name]
    keys = {part: f"{form.value}-{part}-{key}" for part in ("levels", "size", "fanout")}
    change: dict[str, Any] = {"on_change": _set_form, "args": (form, keys, name, data)}
    if form is HierarchyForm.CALENDAR:
        _pills("Levels", list(CALENDAR), list(CALENDAR), keys["levels"], str, change)
    elif form is HierarchyForm.PREFIX:
        lengths = _lengths(domain)
        _pills("Characters that the levels keep", lengths, lengths, keys["levels"], str, change)
    elif form is HierarchyForm.GRID:
        _pills("Width of the cells in degrees", list(GRID_OPTIONS), list(GRID), keys["levels"], "{:g}".format, change)
    elif form is HierarchyForm.FREQUENCY:
        shares = list(SHARE_OPTIONS)
        _pills("Rare: below this share of the rows", shares, list(SHARES), keys["levels"], "{:.0%}".format, change)
    elif form is not HierarchyForm.LETTER:
        left, right = st.columns(2)
        with left:
            _size(form, domain, keys["size"], change)
        right.number_input(
            "Joined per level",
            min_value=2,
            max_value=20,
            value=2,
            key=keys["fanout"],
            persist_state="session",
            help="How many neighbours each level above joins.",
            **change,
        )


def _pills(
    label: str, options: list[Any], usual: list[Any], key: str, text: Callable[[Any], str], change: dict[str, Any]
) -> None:
    st.pills(
        label,
        options,
        selection_mode="multi",
        wrap=True,
        default=usual,
        key=key,
        format_func=text,
        persist_state="session",
        help="One level each. A level at which nothing is joined is left out.",
        **change,
    )


def _lengths(domain: Domain) -> list[int]:
    longest = max(len(domain.text(code)) for code in range(len(domain.values)))
    return list(range(min(longest - 1, MOST_LENGTHS), 0, -1))


def _size(form: HierarchyForm, domain: Domain, key: str, change: dict[str, Any]) -> None:
    if form is HierarchyForm.WIDTH:
        st.number_input(
            "Width",
            min_value=tagging.smallest_width(domain),
            value=usual_width(domain),
            key=key,
            persist_state="session",
            help="How wide the intervals of level 1 are, in the unit of the attribute.",
            **change,
        )
    elif form is HierarchyForm.QUANTILES:
        st.number_input(
            "Intervals",
            min_value=2,
            max_value=1_000,
            value=USUAL_GROUPS,
            key=key,
            persist_state="session",
            help="How many intervals level 1 has; each holds about the same number of rows.",
            **change,
        )


def _set_form(form: HierarchyForm, keys: dict[str, str], name: str, data: Microdata) -> None:
    domain = data.domain[name]
    levels = list(state.widget_value(keys["levels"]) or [])
    fanout = int(state.widget_value(keys["fanout"], 2) or 2)
    size = state.widget_value(keys["size"])
    makers: dict[HierarchyForm, Callable[[], Hierarchy]] = {
        HierarchyForm.CALENDAR: lambda: calendar_hierarchy(domain.values, levels),
        HierarchyForm.PREFIX: lambda: prefix_hierarchy(domain.values, levels),
        HierarchyForm.GRID: lambda: grid_hierarchy(domain.values, levels),
        HierarchyForm.FREQUENCY: lambda: frequency_hierarchy(values_of_rows(data, name), levels),
        HierarchyForm.NEIGHBOURS: lambda: neighbour_hierarchy(domain.values, fanout),
        HierarchyForm.WIDTH: lambda: tagging.intervals_by_width(domain, float(size or usual_width(domain)), fanout),
        HierarchyForm.QUANTILES: lambda: tagging.intervals_by_quantile(data, name, int(size or USUAL_GROUPS), fanout),
    }
    _set(name, makers[form])


def take_default(form: HierarchyForm, name: str, data: Microdata) -> None:
    """Give the attribute the usual hierarchy of a form."""
    _set(name, lambda: default_hierarchy(data, name, form))


def _set(name: str, make: Callable[[], Hierarchy]) -> None:
    try:
        hierarchy = make()
    except AnonymizationError as error:
        attribute_changes.refuse(name, error)
        return
    attribute_changes.apply(name, "hierarchies", hierarchy)
