"""Beside the pages: the table, and the release at which those look closer."""

from __future__ import annotations

import streamlit as st

from dashboard.charts.palette import COLOR_NAMES, run_style
from dashboard.markdown import escaped
from dashboard.session import browser, state
from dashboard.session.workspace import run_names

__all__ = ["choose_release", "escaped", "render"]

_RUN = "shown-run"


def render() -> None:
    """Draw the table's name and size."""
    table = state.table()
    if table is not None:
        st.caption("Table")
        st.markdown(f"**{escaped(table.name)}**  \n{len(table.frame):,} rows, {table.frame.shape[1]} columns")


def choose_release() -> None:
    """Draw the choice of the release at which a page looks closer, among those of the board that are there."""
    runs = state.runs()
    if not runs:
        return
    current = state.current_run() or runs[0]
    labels = run_names(runs)
    browser.set_widget_values({_RUN: current.id})
    st.selectbox(
        "Release shown",
        list(labels),
        format_func=lambda run_id: labels.get(run_id, "?"),
        key=_RUN,
        on_change=_select,
        help="The columns of the board: these pages look closer at one of them.",
    )
    style = run_style(current.color_index)
    st.caption(f"In charts: {COLOR_NAMES[style.color]}, {style.symbol}.")


def _select() -> None:
    # A part of the page that draws itself asks with all that the browser shows. A browser that has yet to take in
    # another release would bring back the one before it; whoever chooses one has the whole page drawn.
    if not browser.is_drawn_in_part():
        state.select_run(browser.widget_value(_RUN))
