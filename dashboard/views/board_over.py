"""The board over one level: which level, the work behind it, and what a click on a point chooses."""

from __future__ import annotations

import streamlit as st

from anoncore import Microdata
from dashboard.board import making
from dashboard.board.over import LEFT_OUT, Over, R, parameters, with_value
from dashboard.markdown import escaped
from dashboard.serving import audit
from dashboard.session import browser, state
from dashboard.session.wishes import AXES, Wishes
from dashboard.views.board_dialogs import draw_behind

NOW = "now"
POLL = 0.7
_JOB, _AXIS, _WEIGHT = "board-over-work", "board-over", "board-over-weight"


def choose(data: Microdata, wishes: Wishes) -> None:
    """Ask whether cells show the present numbers, or a line over one level."""
    own = parameters(wishes)
    levels = [axis for axis in AXES if axis == "k" or data.sensitive]
    titles = {
        NOW: "as asked now",
        **{axis: f"over {axis}" for axis in (*levels, *([R] if data.sensitive else []))},
        LEFT_OUT: f"over {data.people_word} left out",
        **{axis: f"over {title}" for axis, title in own.items()},
    }
    if browser.widget_value(_AXIS) not in titles:
        browser.set_widget_values({_AXIS: NOW})
    st.selectbox(
        "What cells show",
        list(titles),
        key=_AXIS,
        format_func=lambda axis: titles.get(axis, axis),
        label_visibility="collapsed",
        width=230,
        help="Every number over one level, with each method: what would another value cost?",
    )


def current(data: Microdata, wishes: Wishes) -> Over | None:
    """The lines that are asked for, begun where they are new; None where cells show the present numbers."""
    here, table, tags = state.workspace(), state.table(), state.tags()
    axis = st.session_state.get(_AXIS, NOW)
    held: Over | None = here.jobs.get(_JOB)
    is_held = held is not None and table is not None and held.is_about((table.digest, tags.digest), wishes, axis)
    if held is not None and not is_held:
        held.cancel()
        del here.jobs[_JOB]
    if axis == NOW or table is None:
        return None
    if held is None or not is_held:
        state.workspace().is_live = True
        held = here.jobs[_JOB] = Over(making.bench(), data, table, tags, wishes, axis=axis)
        held.start()
    held.wishes = wishes
    held.weight = st.session_state.get(_WEIGHT, held.weight)
    return held


def below(over: Over, version: int) -> None:
    """What stands below the lines: how far they are, the weight by which a k is chosen, and all points as a file."""
    if over.running:
        _watch(over, version)
    with st.container(horizontal=True, vertical_alignment="bottom", key="over-below"):
        if over.losses:
            st.slider(
                "Weight of distance beside loss",
                0.0,
                1.0,
                0.5,
                0.05,
                key=_WEIGHT,
                width=260,
                help="A ring marks the k of least cost C = w t + (1 - w) i: t is the largest distance of a group, i "
                "the information loss. Nothing is made anew when you change the weight.",
            )
        here = state.workspace()
        st.download_button(
            "Save the points",
            # It is made outside the page's thread, where nobody knows whose session it is.
            data=audit.taken_away(here.who, "points", lambda: _content(over)),
            file_name=f"over-{over.axis}.csv",
            mime="text/csv",
            key="over-save",
            on_click="ignore",
            help=f"A CSV file with a row for each release over {escaped(over.title)}.",
        )


def _content(over: Over) -> bytes:
    # What is published with takes half a second to import, for which the first page must not wait.
    from anoncore.publishing.export import csv_bytes, safe_cells

    return csv_bytes(safe_cells(over.frame()))


def take(found: dict[str, object]) -> None:
    """Ask for the value of the point that was clicked."""
    axis, value = str(found.get("axis")), found.get("value")
    held: Over | None = state.workspace().jobs.get(_JOB)
    if held is None or held.axis != axis or not isinstance(value, int | float) or float(value) not in held.values:
        return
    state.wish(with_value(state.current_wishes(), axis, float(value)))


@st.fragment(run_every=POLL, key="board-over-watch")
def _watch(over: Over, version: int) -> None:
    """Draw the page anew when another value was measured."""
    if over.version != version or not over.running:
        draw_behind()
    if over.job is not None:
        st.progress(over.job.fraction, text=f"Over {over.title}: {over.job.text}")
