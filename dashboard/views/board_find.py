"""Find better: the button that tries other methods under the promise of the board, and what it has found."""

from __future__ import annotations

import streamlit as st

from dashboard.board import making
from dashboard.board.finding import TRIED, Candidate, Finding
from dashboard.session import state
from dashboard.session.wishes import Wishes
from dashboard.views.board_dialogs import draw_behind

POLL = 0.7
HELP = (
    f"Tries {len(TRIED)} methods and settings under the same promise, those that have lost least first. Each is a mark "
    "on the map below, and the best stands here."
)
_JOB = "board-find"


def current(wishes: Wishes) -> Finding | None:
    """The search under what is asked now; one for something else is ended and forgotten."""
    here, table = state.workspace(), state.table()
    held: Finding | None = here.jobs.get(_JOB)
    if held is None or table is None or held.is_about((table.digest, state.tags().digest), wishes):
        return held
    held.cancel()
    del here.jobs[_JOB]
    return None


def button(finding: Finding | None) -> None:
    """Start, stop or go on with the search."""
    if finding is not None and finding.running:
        st.button(f"Stop ({finding.n_tried} of {len(TRIED)} tried)", key="board-find-stop", on_click=_stop, help=HELP)
        return
    is_done = finding is not None and finding.n_tried == len(TRIED)
    st.button(
        "Nothing more to try" if is_done else "Find better",
        key="board-find",
        on_click=_start,
        disabled=is_done,
        help=HELP,
    )


def show_best(best: Candidate | None) -> None:
    """The way to make a column of the best that was found."""
    st.button("Show it as a column", key="board-find-show", on_click=_show, args=(best,))


@st.fragment(run_every=POLL, key="board-find-watch")
def watch(finding: Finding, version: int) -> None:
    """Draw the page anew when something was tried."""
    if finding.version != version or not finding.running:
        draw_behind()


def _start() -> None:
    here, table, data = state.workspace(), state.table(), state.microdata()
    assert table is not None, "the board draws no button without a table"
    state.workspace().is_live = True
    wishes = state.wishes(data)
    finding = current(wishes) or Finding(making.bench(), data, table, state.tags(), wishes)
    here.jobs[_JOB] = finding
    finding.start()


def _stop() -> None:
    held: Finding | None = state.workspace().jobs.get(_JOB)
    if held is not None:
        held.cancel()


def _show(best: Candidate) -> None:
    state.wish(state.current_wishes().with_column(best.method, best.fields))
    state.workspace().is_live = True
