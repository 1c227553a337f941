"""Beside every page: the table, the run that is shown, and what can be done with it."""

from __future__ import annotations

import streamlit as st

from dashboard import runner, state
from dashboard.markdown import escaped
from dashboard.palette import COLOR_NAMES, run_style

__all__ = ["escaped", "render"]

_RUN = "shown-run"


def render(page: str) -> None:
    """Draw the table's name, a run on its way, and the choice of the run shown."""
    table = state.table()
    if table is not None:
        st.caption("Table")
        st.markdown(f"**{escaped(table.name)}**  \n{len(table.frame):,} rows, {table.frame.shape[1]} columns")
    if runner.active() is not None and page != "anonymize":
        runner.progress()
    runs = state.runs()
    if not runs:
        return
    current = state.current_run()
    labels = {run.id: run.label for run in runs}
    state.set_widget_values({_RUN: current.id if current is not None else runs[-1].id})
    st.selectbox(
        "Run shown",
        list(labels),
        format_func=lambda run_id: labels.get(run_id, "?"),
        key=_RUN,
        on_change=_select,
        help="Classes, Privacy, Utility and Export show this run. A run keeps the table and tags it was made with.",
    )
    if current is not None:
        style = run_style(current.color_index)
        st.caption(f"In charts: {COLOR_NAMES[style.color]}, {style.symbol}. Table: {escaped(current.table_name)}.")
    st.button("Remove this run", on_click=_remove, help="Forget this release; it cannot be brought back.")


def _select() -> None:
    state.select_run(state.widget_value(_RUN))


def _remove() -> None:
    state.remove_run(state.widget_value(_RUN))
