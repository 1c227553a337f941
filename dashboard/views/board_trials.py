"""What the board tries in the background: its columns over one level, and other methods under its promise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import streamlit as st

from anoncore import Microdata
from anoncore.search.keeping import keeping
from dashboard.board import making
from dashboard.board.finding import TRIED, Candidate, Finding
from dashboard.board.over import LEFT_OUT, Over, R, parameters, with_value
from dashboard.elements import parts
from dashboard.markdown import escaped
from dashboard.session import browser, state
from dashboard.session.wishes import AXES, Wishes
from dashboard.tasks import redrawing

NOW = "now"
POLL = 0.7
FIND_HELP = (
    f"Tries {len(TRIED)} methods and settings under the same promise, those that have lost least first. Each is a mark "
    "on the map below, and the best stands here."
)
_OVER, _FIND = "board-over-work", "board-find"
_AXIS, _WEIGHT = "board-over", "board-over-weight"


def _current(name: str, is_about: Callable[[Any, tuple[str, str]], bool]) -> Any:
    """The trials of that name that are about what is asked now; those about something else are ended and forgotten."""
    here = state.workspace()
    trials = here.jobs.get(name)
    if trials is None or (here.table is not None and is_about(trials, (here.table.digest, here.tags.digest))):
        return trials
    trials.cancel()
    del here.jobs[name]
    return None


def choose(data: Microdata, wishes: Wishes) -> None:
    """Ask whether cells show the present numbers, or a line over one level."""
    own = parameters(wishes)
    levels = [axis for axis in AXES if axis == "k" or data.sensitive]
    titles = {
        NOW: "At these levels",
        **{axis: f"What if {axis} changes?" for axis in (*levels, *([R] if data.sensitive else []))},
        LEFT_OUT: f"What if {data.people_word} are left out?",
        **{axis: f"What if {title} changes?" for axis, title in own.items()},
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


def lines(data: Microdata, wishes: Wishes) -> Over | None:
    """The lines that are asked for, begun where they are new; None where cells show the present numbers."""
    here, axis = state.workspace(), st.session_state.get(_AXIS, NOW)
    over: Over | None = _current(_OVER, lambda trials, digests: trials.is_about(digests, wishes, axis))
    if axis == NOW or here.table is None:
        return None
    if over is None:
        here.is_live = True
        over = here.jobs[_OVER] = Over(making.bench(), data, here.table, here.tags, wishes, axis=axis)
        over.start()
    over.wishes = wishes
    over.weight = st.session_state.get(_WEIGHT, over.weight)
    return over


def below(over: Over, version: int) -> None:
    """What stands below the lines: how far they are, the weight by which a k is chosen, and all points as a file."""
    if over.running:
        _watch_lines(over, version)
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
        parts.download(
            "Save the points",
            "points",
            lambda: _content(over),
            f"over-{over.axis}.csv",
            "text/csv",
            "over-save",
            help=f"A CSV file with a row for each release over {escaped(over.title)}.",
        )


def _content(over: Over) -> bytes:
    # What is published with takes half a second to import, for which the first page must not wait.
    from anoncore.publishing.export import csv_bytes, safe_cells

    return csv_bytes(safe_cells(over.frame()))


def take(found: dict[str, object]) -> None:
    """Ask for the value of the point that was clicked."""
    axis, value = str(found.get("axis")), found.get("value")
    over: Over | None = state.workspace().jobs.get(_OVER)
    if over is None or over.axis != axis or not isinstance(value, int | float) or float(value) not in over.values:
        return
    state.wish(with_value(state.current_wishes(), axis, float(value)))


@redrawing.part(POLL, "board-over-watch")
def _watch_lines(over: Over, version: int) -> None:
    """Draw the page anew when another value was measured."""
    if over.version != version or not over.running:
        making.draw_behind()
    if over.job is not None:
        st.progress(over.job.fraction, text=f"Over {over.title}: {over.job.text}")


def search(wishes: Wishes) -> Finding | None:
    """The search for a better release under what is asked now, where one was begun."""
    finding: Finding | None = _current(_FIND, lambda trials, digests: trials.is_about(digests, wishes))
    return finding


def find_button(finding: Finding | None, kind: Literal["primary", "secondary"]) -> None:
    """Start, stop or go on with the search."""
    if finding is not None and finding.running:
        st.button(
            f"Stop ({finding.n_tried} of {len(TRIED)} tried)", key="board-find-stop", on_click=_stop, help=FIND_HELP
        )
        return
    is_done = finding is not None and finding.n_tried == len(TRIED)
    st.button(
        "Nothing more to try" if is_done else "Find better",
        key="board-find",
        type=kind,
        on_click=_start,
        disabled=is_done,
        help=FIND_HELP,
    )


def show_best(best: Candidate | None) -> None:
    """The way to make a column of the best that was found."""
    st.button("Show it on the board", key="board-find-show", on_click=_show, args=(best,))


@redrawing.part(POLL, "board-find-watch")
def watch_search(finding: Finding, version: int) -> None:
    """Draw the page anew when something was tried."""
    if finding.version != version or not finding.running:
        making.draw_behind()


def _start() -> None:
    here, data = state.workspace(), state.microdata()
    assert here.table is not None, "the board draws no button without a table"
    here.is_live = True
    wishes = state.wishes(data)
    finding = search(wishes) or Finding(making.bench(), data, here.table, here.tags, wishes)
    here.jobs[_FIND] = finding
    finding.start()


def _stop() -> None:
    finding: Finding | None = state.workspace().jobs.get(_FIND)
    if finding is not None:
        finding.cancel()


def _show(best: Candidate) -> None:
    here, data = state.workspace(), state.microdata()
    assert here.table is not None, "the board draws no button without a table"
    wishes = state.current_wishes().with_column(best.method, best.fields)
    algorithm = keeping(best.method, best.fields, wishes.levels, wishes.more, data, wishes.left_out)
    # The column shows the release that was found, and not another one of its method.
    making.bench().draw_with(best.seed, wishes.columns[-1].id, algorithm, here.table, here.tags)
    state.wish(wishes)
    here.is_live = True
