"""The head of the board: the table and who knows what of it, and steps back and forward."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

import streamlit as st

from anoncore import AnonymizationError, Microdata
from anoncore.base.texts import counted
from anoncore.measures.criteria import CRITERIA
from dashboard.board import unreleased
from dashboard.elements import parts, role_questions, routes
from dashboard.markdown import escaped, few
from dashboard.session import browser, state
from dashboard.session.loaded_table import LoadedTable, Tags
from dashboard.session.opened import opened_alone
from dashboard.session.tagging import LEFT_OUT, WORDS, is_role
from dashboard.table import table_columns, table_source
from dashboard.tasks import warmup
from dashboard.views import board_trials

MOST_NAMED = 3
POPOVER, DECIDE = "board-table", "board-decide"


def header(coded: Microdata | None) -> None:
    """Draw the line above everything: the table, undo and redo, and what is left out."""
    table = state.table()
    with st.container(horizontal=True, vertical_alignment="center", key="board-head"):
        st.title("anoncore", anchor=False, width="content")
        label = "Choose a table" if table is None else _label(table.name, len(table.frame), coded)
        seen = None if table is None else table.id
        if browser.get("board_table_seen", seen) != seen:
            # It would cover what is asked about the table that was chosen in it.
            browser.set_widget_values({POPOVER: False})
        browser.put("board_table_seen", seen)
        place = parts.popover(label, POPOVER)
        # A table that was asked for is loaded although its window was closed meanwhile.
        if place.open or browser.get(table_source.WANTED) is not None:
            with place:
                _choose()
        for forward, icon, what in ((False, ":material/undo:", "Undo"), (True, ":material/redo:", "Redo")):
            st.button(
                what,
                key=f"board-{what.lower()}",
                icon=icon,
                on_click=state.undo,
                args=(forward,),
                disabled=not state.can_undo(forward),
                help="Take the last change back." if not forward else "Make the change again that was taken back.",
            )
        if coded is not None:
            _decide(coded)
            board_trials.choose(coded, state.wishes(coded))
    if table is not None and table.drawn_from is not None:
        _of_a_sample(table, table.drawn_from)


def _of_a_sample(table: LoadedTable, n_all: int) -> None:
    """What the board is about where the table is a random sample of a larger one, and what was measured of all rows."""
    # The first page must not wait for what reads such tables.
    from dashboard.table import all_rows, large_runs

    with st.container(horizontal=True, vertical_alignment="center", key="board-sample"):
        st.caption(
            f"A random sample: {len(table.frame):,} of {n_all:,} rows. Every number here that does not say 'all "
            "rows', and what is published from here, is of a release of the sample alone.",
            width="content",
        )
        # Of a session that was saved, the page does not know where the whole table lies.
        if large_runs.sampled() is not None:
            help = "With your tags; method and parameters are chosen there."
            routes.link("table", "Make the release of all rows", help)
    run = large_runs.full_run()
    if run is not None and run.table_id == table.id and run.job.status == "done":
        numbers = [f"{CRITERIA[name].title} {CRITERIA[name].text(value)}" for name, value in run.numbers.items()]
        st.caption(
            f"Of the release of all {n_all:,} rows by {run.recipe.algorithm.title} in the folder "
            f"'{escaped(run.output.name)}': {'; '.join(numbers)}."
        )
        all_rows.say_verdict(run)


def _label(name: str, rows: int, coded: Microdata | None) -> str:
    if coded is None:
        return f"{escaped(name)} · {rows:,} rows · not tagged yet"
    people = f"{coded.n_people:,} {coded.people_word}"
    hidden = coded.sensitive
    secret = "nothing secret" if not hidden else f"{escaped(', '.join(hidden[:MOST_NAMED]))} secret"
    return f"{escaped(name)} · {people} · {len(coded.quasi_identifiers)} known · {secret}"


def _choose() -> None:
    """Another table: a built-in one, or a file."""
    table_source.ask_for_builtin("board-builtin")
    table_source.ask_for_file("board-upload")
    if browser.get("load_problem"):
        st.error(escaped(str(browser.get("load_problem"))))
    routes.link("table", "Look at the table, its tags and hierarchies")


def ask_for_tags(error: AnonymizationError) -> None:
    """Ask who knows what of a table that nobody has tagged, starting from what names and values suggest."""
    table = state.table()
    if table is None:
        st.info(escaped(str(error)))
        return
    if state.tags().roles:
        st.error(escaped(str(error)))
        routes.button("table", "Go to the tags")
        return
    st.subheader("What do others know, and what must they not learn?")
    if not warmup.is_cold():
        with suppress(AnonymizationError):
            st.markdown(escaped(" ".join(unreleased.sentences(state.microdata()))))
    st.markdown(
        "Say it once for this table, and four methods are compared at once. What is chosen below is only a suggestion "
        "from names and values; you know better what an adversary may have."
    )
    suggested = {one.attribute: one.role.value for one in table_columns.table_suggestions(table) if is_role(one)}
    names = [str(name) for name in table.frame.columns]
    chosen, twice = _role_fields(f"tags-{table.id}", names, suggested)
    unit = _whose(table, chosen["identifier"])
    left = [name for name in names if not any(name in held for held in chosen.values())]
    is_open = bool(twice) or not chosen["quasi-identifier"]
    if left:
        _say_left_out(left, len(names))
    with st.container(horizontal=True):
        st.button(
            "Compare four methods",
            type="primary",
            key="board-tag",
            disabled=is_open,
            on_click=_tag,
            args=(chosen, unit),
        )
        st.button(
            "It is a release already: judge it",
            key="board-judge",
            disabled=is_open,
            on_click=_judge,
            args=(chosen, unit, table),
            help="For a table that somebody published, whose original is not here: what it shows by itself.",
        )
    st.caption("Kinds, orders and hierarchies can be set on the page Table.")


def _role_fields(key: str, names: list[str], suggested: Mapping[str, str]) -> tuple[dict[str, list[str]], list[str]]:
    """A list of columns for each role, and the columns that are in two of them."""
    chosen: dict[str, list[str]] = {}
    for role, (label, help) in WORDS.items():
        if role == LEFT_OUT:
            continue
        chosen[role] = st.multiselect(
            label,
            names,
            default=[name for name in names if suggested.get(name) == role],
            help=help,
            key=f"{key}-{role}",
            # A step back leads here again, to what was chosen and not to what was suggested.
            persist_state="session",
        )
    twice = sorted({name for name in names if sum(name in held for held in chosen.values()) > 1})
    if twice:
        st.warning(f"{escaped(', '.join(twice))} is in two lists; leave each column in one.")
    return chosen, twice


def _whose(table: LoadedTable, identifiers: list[str]) -> str | None:
    """Ask whose rows they are where values of a column that names people repeat; the column, if it says so. A column
    that names nobody leaves the list.
    """
    found = role_questions.repeating_identifier(table, Tags(roles=dict.fromkeys(identifiers, "identifier")))
    if found is None:
        return None
    name, different, rows = found
    says_whose = st.radio(
        f"Are rows with the same {escaped(name)} one person? It has {different:,} different values in {rows:,} rows.",
        [True, False],
        index=None,
        key=f"tags-{table.id}-unit-{name}",
        persist_state="session",
        format_func=lambda yes: f"Yes, count people by '{escaped(name)}'" if yes else "No, every row is another person",
        horizontal=True,
    )
    if says_whose is False:
        identifiers.remove(name)
    return name if says_whose else None


def _say_left_out(left: Sequence[str], n_columns: int) -> None:
    """How many columns no release has, and which."""
    it = "it" if len(left) == 1 else "them"
    st.caption(
        f"{len(left):,} of {n_columns:,} columns {'is' if len(left) == 1 else 'are'} left out of every release until "
        f"you decide on {it}: {escaped(few(left, unreleased.MOST_NAMED))}."
    )


def _decide(coded: Microdata) -> None:
    """How many columns are left out because nobody decided on them; opened, which they are, and their roles."""
    table, left = state.table(), coded.left_out
    if table is None or not left:
        return
    # Of how many is said inside: identifiers are left out, too, so that here the columns would not add up.
    place = parts.popover(f"{counted(len(left), 'column')} left out", DECIDE)
    if not place.open:
        return
    with place:
        _say_left_out(left, len(table.frame.columns))
        undone = role_questions.would_do(table, coded)
        if undone:
            st.caption(undone)
        suggested = {one.attribute: one.role.value for one in table_columns.table_suggestions(table) if is_role(one)}
        chosen, twice = _role_fields(f"decide-{table.id}-{state.tags().digest[:8]}", list(left), suggested)
        st.button(
            "Decide",
            type="primary",
            key="board-decide-it",
            disabled=bool(twice) or not any(chosen.values()),
            on_click=_tag,
            args=(chosen,),
            help="Every release is made anew with these columns; undo takes it back.",
        )


def _tag(chosen: Mapping[str, Sequence[str]], unit: str | None = None) -> None:
    tags = state.tags()
    roles = {name: role for role, names in chosen.items() for name in names}
    state.set_tags(replace(tags, roles={**tags.roles, **roles}, unit=unit or tags.unit))
    browser.set_widget_values({DECIDE: False})


def _judge(chosen: Mapping[str, Sequence[str]], unit: str | None, table: LoadedTable) -> None:
    """Tag the table, and begin the board with the table itself as the only release."""
    _tag(chosen, unit)
    # Tags that do not fit the table are told on the board.
    with suppress(AnonymizationError):
        state.begin_board(opened_alone(table))
