"""Beside every page: the table, the run that is shown, and what can be done with it."""

from __future__ import annotations

import streamlit as st

from dashboard import runner, state
from dashboard.markdown import escaped
from dashboard.palette import COLOR_NAMES, run_style
from dashboard.state import Run
from dashboard.views import parts
from dashboard.workspace import MAX_RUNS, run_names

__all__ = ["escaped", "render"]

_RUN = "shown-run"
MOST_CHARACTERS = 80


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
    labels = run_names(runs)
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
        place = parts.popover(
            "Name or pin this run", "run-name", help="How it is called, and whether new runs may push it out."
        )
        if place.open:
            with place:
                _name(current)
    st.button("Remove this run", on_click=_remove, help="Forget this release; it cannot be brought back.")


def _name(run: Run) -> None:
    """Another name for a run, and a pin."""
    key, pin = f"label-{run.id}", f"pin-{run.id}"
    state.set_widget_values({key: run.label, pin: run.pinned})
    st.text_input(
        "Name",
        key=key,
        max_chars=MOST_CHARACTERS,
        on_change=lambda: _rename(run.id, key),
        help="How lists, charts and reports call the run. An empty name changes nothing.",
    )
    st.toggle(
        "Pin",
        key=pin,
        on_change=lambda: state.change_run(run.id, pinned=bool(state.widget_value(pin))),
        help=f"A session keeps {MAX_RUNS} runs; a new one pushes out the oldest that is not pinned.",
    )


def _rename(run_id: str, key: str) -> None:
    label = str(state.widget_value(key) or "").strip()
    if label:
        state.change_run(run_id, label=label)


def _select() -> None:
    # The progress of a run asks for itself with all that the browser shows. A browser that has yet to take in the run
    # that is done would bring back the one before it; whoever chooses a run has the whole page drawn.
    if not state.is_drawn_in_part():
        state.select_run(state.widget_value(_RUN))


def _remove() -> None:
    state.remove_run(state.widget_value(_RUN))
