"""The page Board: what is asked is said once, and every method stands beside the others under it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

from anoncore import AnonymizationError, Microdata, Release
from anoncore.algorithms import Suppression
from anoncore.base.texts import share_text
from anoncore.measures import Answer
from anoncore.measures.verdict import Mend
from dashboard.board import facts, grid, making, shipped, unreleased
from dashboard.board.answer import answer
from dashboard.board.bench import Attempt, Bench
from dashboard.board.facts import Judged
from dashboard.board.finding import Finding
from dashboard.board.wording import PAGES, Asked, OfAllRows, Shown, attacks_on, cell_of
from dashboard.elements import role_questions, verdicts
from dashboard.markdown import escaped
from dashboard.session import browser, state
from dashboard.session.wishes import LEAST_L, MOST_COLUMNS, Column, Wishes, most_frequent, told_apart
from dashboard.session.workspace import Run
from dashboard.tasks import redrawing, warmup
from dashboard.views import board_dialogs as dialogs
from dashboard.views import board_map, board_promises, board_table, board_trials

POLL, LATER_POLL, LOOK = 0.4, 1.5, 2.0
FIRST_SECONDS = 5
"""So long after something else was wished for, most numbers come; then the page is drawn less often."""


def render() -> None:
    """Draw the page."""
    try:
        data = state.microdata()
        data.require_quasi_identifiers()
    except AnonymizationError as error:
        board_table.header(None)
        board_table.ask_for_tags(error)
        return
    wishes = state.wishes(data)
    board_table.header(data)
    if data.people_word != "people":
        role_questions.ask_whose_rows()
    place = st.container(key="board-answer")
    board_promises.promises(wishes, data)
    wishes = state.wishes(data)
    shown, bench, version = _columns(wishes, data)
    asked = Asked(
        wishes.levels,
        wishes.r,
        wishes.secret_of(data),
        wishes.target_of(data),
        wishes.hidden,
        data.people_word,
        wishes.numbers,
        "" if wishes.policy is None else wishes.policy.name,
        data.attacked_word,
    )
    finding = board_trials.search(wishes)
    version_found = 0 if finding is None else finding.version
    best = None if finding is None else finding.best
    found = answer(shown, asked, data.left_out, None if best is None else (best.title, best.lost))
    has_room = len(wishes.columns) < MOST_COLUMNS
    with place:
        _answer(found, finding, has_room)
    over = board_trials.lines(data, wishes)
    version_over = 0 if over is None else over.version
    grid.draw(grid.model(shown, asked, has_room, over, found), _clicked)
    grid.keep_given({column.id: cell_of("given", column, asked, attacks_on(shown)) for column in shown})
    if over is not None:
        board_trials.below(over, version_over)
    _as_it_is(data)
    _hints(wishes, data, bench)
    # What came since the columns were read is not among them, whether or not more is to come.
    if bench is not None and (bench.is_busy or bench.version != version):
        redrawing.part(POLL if bench.seconds < FIRST_SECONDS else LATER_POLL, "board-watch")(_watch)(
            bench, version, bench.doing
        )
    elif bench is not None and bench.lacks_late_numbers:
        _look(bench, version)
    if finding is not None and finding.running:
        board_trials.watch_search(finding, version_found)
    asked_for = browser.get(making.DIALOG)
    if asked_for is not None:
        dialogs.render(asked_for, data, wishes, bench)
    board_map.render(shown, bench, wishes, data, finding, over)


def _answer(found: Answer, finding: Finding | None, has_room: bool) -> None:
    """Which release to publish and why, or what stands in the way, with the ways to a better one and to its files."""
    with st.container(horizontal=True, vertical_alignment="center", key=f"board-answer-{found.tone}"):
        title = f" **{escaped(found.title)}**" if found.title else ""
        space = " " if found.end.startswith(" ") else ""
        with st.container(width="stretch", gap=None):
            st.markdown(f"{escaped(found.begin)}{title}{space}{escaped(found.end)}")
            if found.better:
                st.markdown(escaped(found.better))
            if found.more:
                st.caption(escaped(" ".join(found.more)))
        _mend(found.mend)
        if found.better and has_room and finding is not None:
            board_trials.show_best(finding.best)
        # What is to be done next stands out: publishing where the answer names a release, else looking for one.
        is_good = found.tone == "good"
        board_trials.find_button(finding, "secondary" if is_good else "primary")
        st.button(
            "Publish …",
            key="board-publish",
            type="primary" if is_good else "secondary",
            on_click=dialogs.publish,
            args=(found.column,),
            help="What a release holds, what does not hold, and the files to take away.",
        )


def _mend(mend: Mend) -> None:
    """A button for each way to remove what stands in the way of what is asked."""
    if mend.columns:
        label = f"{mend.leaving_out[0].upper()}{mend.leaving_out[1:]}"
        told = "Without a role no release has it, and all are made anew."
        given = (mend.columns, None)
        st.button(escaped(label), key="board-mend-columns", on_click=role_questions.tag, args=given, help=told)
    if mend.levels:
        label = f"{mend.asking[0].upper()}{mend.asking[1:]}"
        told = "Asks this of every release; it can be taken back."
        st.button(label, key="board-mend-levels", on_click=_ask_for, args=(mend.levels,), help=told)


def _ask_for(levels: Mapping[str, float]) -> None:
    wishes = state.current_wishes()
    for axis, level in levels.items():
        wishes = wishes.with_level(axis, level)
    state.workspace().is_live = True
    state.wish(wishes)


def _as_it_is(data: Microdata) -> None:
    """What the table gives away before any release: it ships for the first table, and others wait for the compiler."""
    table = state.table()
    assert table is not None, "there is no tagged table without a table"
    said = shipped.as_it_is(table, state.tags())
    if said is None and not warmup.is_cold():
        said = unreleased.sentences(data)
    if said:
        st.caption(escaped(" ".join(said)))


def _columns(wishes: Wishes, data: Microdata) -> tuple[list[Shown], Bench | None, int]:
    """What each column shows: from what ships with the program where that is asked, else from releases made here; and
    the version of these.
    """
    table, tags = state.table(), state.tags()
    assert table is not None, "there is no tagged table without a table"
    secret, target = wishes.secret_of(data), wishes.target_of(data)
    kept = wishes.asked_of(data)
    ready = shipped.columns(table, tags, wishes) if not state.workspace().is_live else None
    if ready is not None:
        return _named(ready, wishes), None, 0
    measures = facts.measures(secret, wishes.r, target, wishes.numbers, wishes.levels.get("k"), wishes.policy)
    made = making.make(wishes, data, measures)
    shown = [
        _shown(column, made.attempts.get(column.id), made.problems.get(column.id, ""), kept, measures, wishes, data)
        for column in wishes.columns
    ]
    return _named(shown, wishes), made.bench, made.version


def _named(shown: Sequence[Shown], wishes: Wishes) -> list[Shown]:
    """The columns with names that tell those of one method apart."""
    names = told_apart(wishes.columns)
    return [replace(one, name=names[one.id]) for one in shown]


def _shown(
    column: Column,
    attempt: Attempt | None,
    problem: str,
    kept: tuple[Any, ...],
    measures: Sequence[facts.Measure],
    wishes: Wishes,
    data: Microdata,
) -> Shown:
    """One column as far as it is known."""
    if attempt is not None:
        problem = attempt.problem
    known = Shown(
        column.id, column.title, column.color, _own(column, attempt), "pending", is_opened=bool(column.opened)
    )
    if attempt is None or problem:
        return replace(known, status="failed", problem=data.in_words(problem))
    quick, marks = attempt.quick.get(wishes.secret_of(data)), attempt.marks.get(kept)
    if attempt.run is None or quick is None or marks is None:
        takes_long = attempt.algorithm is not None and attempt.algorithm.takes_long
        return replace(known, doing=attempt.job.text) if takes_long and attempt.job is not None else known
    slow = {str(key[0]): replace(attempt.slow[key]) for key, _, _ in measures if key in attempt.slow}
    own = known.own + _rows_left_out(attempt.run.release)
    judged = Judged.of(verdicts.verdict_of(attempt.run))
    of_all = _of_all_rows(attempt.run, data)
    return replace(known, own=own, status="ready", marks=marks, judged=judged, quick=quick, slow=slow, of_all=of_all)


def _of_all_rows(run: Run, data: Microdata) -> OfAllRows | None:
    """What was measured of all rows, where the table is a sample of them and they were released as in this column."""
    if run.table is None or run.table.drawn_from is None:
        return None
    # The first page must not wait for what reads such tables.
    from dashboard.table import large_runs

    of_all = large_runs.of_all_rows(run)
    if of_all is None:
        return None
    # Of several secrets it is the largest distance of all.
    numbers = {name: value for name, value in of_all.numbers.items() if name != "t" or len(data.sensitive) == 1}
    return OfAllRows(of_all.n_rows, numbers)


def _own(column: Column, attempt: Attempt | None) -> str:
    """What is special about a column, in a few words."""
    if attempt is None or attempt.run is None:
        return column.own()
    if column.opened is not None:
        return " ".join((f"{column.own()}.", *attempt.run.release.notes))
    return column.own(attempt.run.algorithm if attempt.is_adapted else None)


def _rows_left_out(release: Release) -> str:
    """How many rows are left out, as an addition to what a column of the board says of its method."""
    n_rows = 0 if release.is_synthetic else int(release.suppressed_rows.sum())
    if n_rows:
        return f", {n_rows:,} rows left out ({share_text(n_rows / release.data.n_rows)})"
    return ", nobody left out" if isinstance(release.algorithm, Suppression) else ""


def _clicked() -> None:
    """Answer a click in the table."""
    found = grid.event()
    kind, column = found.get("type"), str(found.get("column", ""))
    wishes = state.current_wishes()
    if kind == "remove":
        state.wish(wishes.without_column(column))
    elif kind == "edit":
        # What was entered there before may have been undone since.
        state.forget_form(f"board-{column}-")
        state.forget_form(f"board-method-{column}-")
        browser.put(making.DIALOG, ("method", column))
    elif kind == "add":
        browser.put(making.DIALOG, ("add", ""))
    elif kind == "level":
        board_trials.take(found)
    elif kind == "open" and wishes.column(column) is not None:
        state.workspace().is_live = True
        row = str(found.get("row"))
        if row.startswith(facts.NUMBER):
            browser.put(making.DIALOG, ("about", row.removeprefix(facts.NUMBER)))
        elif row in PAGES:
            grid.keep_clicked(row, column, wishes)
            browser.put(making.DIALOG, ("open", column, row))


def _hints(wishes: Wishes, data: Microdata, bench: Bench | None) -> None:
    """What no method can promise, and what the numbers are about where they were not made here."""
    if data.sensitive:
        name, share = most_frequent(data)
        if 1 / share < max(wishes.levels.get("l", LEAST_L), LEAST_L):
            st.caption(
                f"One value of '{escaped(name)}' is that of {share_text(share)} of all {data.people_word}, so there "
                f"are groups in which somebody who guesses it is right at least as often: no l above {1 / share:.3g} "
                "can be promised."
            )
    if bench is None:
        st.caption(
            "These releases of the built-in table were made beforehand and ship with the program. Change anything and "
            "they are made anew on this machine."
        )


@redrawing.part(LOOK, "board-look")
def _look(bench: Bench, version: int) -> None:
    """Let be worked out what nobody waits for, while the page is there, and draw it anew when more is known."""
    bench.look()
    if bench.version != version or not bench.lacks_late_numbers:
        making.draw_behind()


def _watch(bench: Bench, version: int, doing: tuple[str, ...]) -> None:
    """Draw the page anew when something new is known."""
    bench.look()
    if bench.version != version or bench.doing != doing or not bench.is_busy:
        making.draw_behind()
    for title, job in bench.long_work:
        st.progress(job.fraction, text=f"{title}: {job.text}")
    if bench.waits_for_compiler:
        st.caption(f"{warmup.TEXT}. The next releases need none of it.")
