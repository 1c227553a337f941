"""The releases of the board's columns: the board asks for them, and so do the pages that look closer at one."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter

import streamlit as st

from anoncore import AnonymizationError, Microdata
from anoncore.algorithms import Algorithm
from anoncore.search.keeping import asked, keeping
from dashboard.board import shipped
from dashboard.board.bench import Attempt, Bench, Known
from dashboard.board.facts import Measure
from dashboard.session import browser, state
from dashboard.session.opened import Opened
from dashboard.session.wishes import Wishes
from dashboard.session.workspace import Run
from dashboard.tasks import redrawing

PATIENCE = 1.3
"""Seconds that a change waits for its releases before the page is drawn without them."""
LOOK = 0.05
"""Seconds after which such a wait looks whether the visitor has changed something else meanwhile."""
POLL = 0.4
DIALOG = "board_dialog"
"""Where the browser session holds what was asked to open over the board."""
_BENCH = "board"


@dataclass(frozen=True)
class Made:
    """What became of each column by its id: an attempt, or a sentence that says why its method takes no such promise.

    `version` is that of the `bench` when the attempts were read.
    """

    bench: Bench
    attempts: dict[str, Attempt]
    problems: dict[str, str]
    version: int


def attempt_of(run: Run) -> Attempt | None:
    """What the board knows of a release of one of its columns."""
    return next((one for one in bench().wanted if one.run is not None and one.run.id == run.id), None)


def bench() -> Bench:
    """The releases behind the board of this visitor."""
    here = state.workspace()
    with here.lock:
        found: Bench = here.jobs.get(_BENCH) or here.jobs.setdefault(_BENCH, Bench(here))
        return found


def leave_board(for_a_release: bool) -> None:
    """Stop the board's slow measures: another page is looked at, and may have work of its own.

    The releases are still made for pages that show one of them. What lies over the board does so no more when the
    visitor comes back.
    """
    browser.put(DIALOG, None)
    found: Bench | None = state.workspace().jobs.get(_BENCH)
    if found is not None and for_a_release:
        found.stop_measuring()
    elif found is not None:
        found.rest()


def make(wishes: Wishes, data: Microdata, measures: tuple[Measure, ...] = (), patience: float = PATIENCE) -> Made:
    """Let the releases of the columns be made and measured, and wait so many seconds at most for those that take a
    fraction of a second.
    """
    table, tags = state.table(), state.tags()
    assert table is not None, "there is no tagged table without a table"
    wanted: dict[str, Algorithm | Opened] = {}
    problems: dict[str, str] = {}
    for column in wishes.columns:
        try:
            wanted[column.id] = column.opened or keeping(
                column.method, column.fields, wishes.levels, wishes.more, data, wishes.left_out
            )
        except AnonymizationError as error:
            problems[column.id] = str(error)
    made_by, colors = bench(), {column.id: column.color for column in wishes.columns}
    promise, secret, known = asked(wishes.levels, wishes.more, data), wishes.secret_of(data), _known(wishes, measures)
    attempts = made_by.wish(wanted, colors, data, table, tags, secret, promise, measures, known)
    end = perf_counter() + patience
    while not made_by.wait(LOOK) and perf_counter() < end:
        browser.give_way()
    version = -1
    while version != made_by.version:
        # What comes between both lines is shown by the next turn.
        version = made_by.version
        there = [attempts[column.id].run for column in wishes.columns if column.id in attempts]
        state.workspace().show_on_board([run for run in there if run is not None])
    return Made(made_by, attempts, problems, version)


def _known(wishes: Wishes, measures: tuple[Measure, ...]) -> dict[str, Known]:
    """What is known of columns that ship with the program, so that what is made here says what they have said; without
    those that somebody asked to be drawn anew.
    """
    here, table, tags = state.workspace(), state.table(), state.tags()
    assert table is not None, "there is no tagged table without a table"
    return {
        column: Known(shipped.SEED, {key: numbers[str(key[0])] for key, _, _ in measures if key[0] in numbers})
        for column, numbers in shipped.unchanged(table, tags, wishes).items()
        if column not in here.drawn_anew
    }


def has_known_seed(run: Run) -> bool:
    """Whether the release of a column was drawn with a seed that others know, though nobody asked for one."""
    attempt = attempt_of(run)
    return attempt is not None and attempt.has_known_seed


def draw_anew(run: Run) -> None:
    """Let the release of a column be drawn anew with a seed that nobody knows."""
    state.workspace().drawn_anew |= {run.column}


def draw_behind() -> None:
    """Draw the board anew because something new is known, unless a dialog lies over it: what somebody is choosing or
    typing there would be gone. Closing the dialog draws the board.
    """
    asked = browser.get(DIALOG)
    if asked is None or asked[0] == "open":
        redrawing.draw_page()


def make_for_a_closer_look() -> bool:
    """Let the releases be made for a page that shows them; whether it has to wait until one is there.

    The page is drawn anew when another one is there. Raises AnonymizationError where the table is not tagged.
    """
    n_before = sum(map(state.is_of_table, state.runs()))
    if n_before and state.workspace().wishes is None:
        # A saved session has brought releases and nothing that is asked.
        return False
    data = state.microdata()
    data.require_quasi_identifiers()
    state.workspace().is_live = True
    made = make(state.wishes(data), data, patience=0.0 if n_before else PATIENCE)
    is_busy, is_there = made.bench.is_busy, bool(state.runs())
    if is_busy or made.bench.version != made.version:
        _watch(made.bench, made.version, is_there)
    return is_busy and not is_there


@redrawing.part(POLL, "making-watch")
def _watch(bench: Bench, version: int, is_there: bool) -> None:
    """Draw the page anew when something new is known; where no release is there yet, say that they are made."""
    # A page that shows a release is drawn anew once, when all are there: what somebody clicks meanwhile may be lost.
    if not bench.is_busy or (bench.version != version and not is_there):
        redrawing.draw_page()
    if not is_there:
        st.info("The releases of the board are being made; this takes a moment.")
