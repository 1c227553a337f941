"""The board over one level: which level, the work behind it, and what a click on a point chooses."""

from __future__ import annotations

import streamlit as st

from anoncore import Microdata
from dashboard import state
from dashboard.board.along import LEFT_OUT, Along
from dashboard.board.wishes import Wishes

NOW = "now"
POLL = 0.7
_JOB, _AXIS = "board-along", "board-over"


def choose(data: Microdata) -> None:
    """Ask whether cells show the present numbers, or a line over one level."""
    axes = [NOW, "k", *(["l", "c", "t"] if data.sensitive else []), LEFT_OUT]
    titles = {
        **{one: f"over {one}" for one in axes},
        NOW: "as asked now",
        LEFT_OUT: f"over {data.people_word} left out",
    }
    st.selectbox(
        "What cells show",
        axes,
        key=_AXIS,
        format_func=lambda one: titles.get(one, one),
        label_visibility="collapsed",
        width=190,
        help="Every number over one level, with each method: what would another value cost?",
    )


def current(data: Microdata, wishes: Wishes) -> Along | None:
    """The lines that are asked for, begun where they are new; None where cells show the present numbers."""
    here, table, tags = state.workspace(), state.table(), state.tags()
    axis = st.session_state.get(_AXIS, NOW)
    held: Along | None = here.jobs.get(_JOB)
    is_held = held is not None and table is not None and held.is_about(table, tags, wishes, axis)
    if held is not None and not is_held:
        held.cancel()
        del here.jobs[_JOB]
    if axis == NOW or table is None:
        return None
    if held is None or not is_held:
        state.set_live()
        held = here.jobs[_JOB] = Along(state.bench(), data, table, tags, wishes, axis)
        held.start()
    held.wishes = wishes
    return held


def take(found: dict[str, object]) -> None:
    """Ask for the value of the point that was clicked."""
    axis, value = str(found.get("axis")), found.get("value")
    held: Along | None = state.workspace().jobs.get(_JOB)
    if held is None or held.axis != axis or not isinstance(value, int | float) or float(value) not in held.values:
        return
    wishes = state.current_wishes()
    if axis == LEFT_OUT:
        state.wish(wishes.with_left_out(float(value)))
    else:
        state.wish(wishes.with_level(axis, int(value) if axis == "k" else float(value)))


@st.fragment(run_every=POLL, key="board-over-watch")
def watch(along: Along, version: int) -> None:
    """Draw the page anew when another value was measured."""
    if along.version != version or not along.running:
        st.rerun()
    if along.job is not None:
        st.progress(along.job.fraction, text=f"Over {along.title}: {along.job.text}")
