"""The head of the board: the table and who knows what of it, steps back and forward, and the way to publish."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import streamlit as st

from anoncore import AnonymizationError, Microdata, datasets
from dashboard import routes, state
from dashboard.board.opened import opened_alone
from dashboard.markdown import escaped
from dashboard.serving import uploads
from dashboard.state import LoadedTable
from dashboard.views import attributes, data, parts

MOST_NAMED = 3
POPOVER = "board-table"


def header(coded: Microdata | None) -> None:
    """Draw the line above everything: the table, undo and redo, publish."""
    table = state.table()
    with st.container(horizontal=True, vertical_alignment="center", key="board-head"):
        label = "Choose a table" if table is None else _label(table.name, len(table.frame), coded)
        seen = None if table is None else table.id
        if state.session("board_table_seen", seen) != seen:
            # It would cover what is asked about the table that was chosen in it.
            state.set_widget_values({POPOVER: False})
        state.set_session("board_table_seen", seen)
        place = parts.popover(label, POPOVER)
        # A table that was asked for is loaded although its window was closed meanwhile.
        if place.open or state.session("board_wants") is not None:
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
            st.button(
                "Publish …",
                key="board-publish",
                type="primary",
                on_click=_publish,
                help="What a release holds, what does not hold, and the files to take away.",
            )


def _publish() -> None:
    state.set_live()
    state.set_session("board_dialog", ("publish", ""))


def _label(name: str, rows: int, coded: Microdata | None) -> str:
    if coded is None:
        return f"{escaped(name)} · {rows:,} rows · not tagged yet"
    people = f"{coded.n_people:,} {coded.people_word}"
    hidden = coded.sensitive
    secret = "nothing secret" if not hidden else f"{escaped(', '.join(hidden[:MOST_NAMED]))} secret"
    return f"{escaped(name)} · {people} · {len(coded.quasi_identifiers)} known · {secret}"


def _choose() -> None:
    """Another table: a built-in one, or a file."""
    tables = datasets.tables()
    table = state.table()
    # A field of its own for each table: the popover closes with the choice, before the browser has heard that a field
    # is empty now, and with its next word the field would ask for the table of before.
    key = f"board-builtin-{table.id if table is not None else 'none'}"
    state.set_widget_values({key: table.builtin if table is not None else None})
    st.selectbox(
        "Built-in table",
        list(tables),
        key=key,
        format_func=lambda name: tables[name].title,
        placeholder="Your own table is loaded",
        on_change=_ask_builtin,
        args=(key,),
    )
    wanted = state.session("board_wants")
    if wanted is not None:
        with st.spinner(f"Loading {tables[wanted].title} …"):
            data.attempt(lambda: state.load_builtin(wanted), "board_wants", None)
    turn = state.session("board_upload_turn", 0)
    file = uploads.field(
        "Your own table: CSV, TSV, Parquet or Excel",
        key=f"board-upload-{turn}",
        help="One row per person, column names first. The file stays on this machine.",
    )
    if file is not None:
        data.take_upload(file, f"board-sheet-{turn}", "board_upload_turn", turn + 1)
    if state.session("load_problem"):
        st.error(escaped(str(state.session("load_problem"))))
    with st.container(horizontal=True):
        routes.link("data", "Look at the table")
        routes.link("attributes", "Tag it, edit its hierarchies")


def _ask_builtin(key: str) -> None:
    state.set_session("board_wants", state.widget_value(key))


def ask_for_tags(error: AnonymizationError) -> None:
    """Ask who knows what of a table that nobody has tagged, starting from what names and values suggest."""
    table = state.table()
    if table is None:
        st.info(escaped(str(error)))
        return
    tags = state.tags()
    if any(role != "insensitive" for role in tags.roles.values()):
        st.error(escaped(str(error)))
        routes.button("attributes", "Go to the tags")
        return
    st.subheader("What do others know, and what must they not learn?")
    st.markdown(
        "Say it once for this table, and four methods are compared at once. What is chosen below is only a suggestion "
        "from names and values; you know better what an adversary may have."
    )
    suggested = {one.attribute: one.role.value for one in attributes.table_suggestions(table)}
    names = [str(name) for name in table.frame.columns]
    chosen: dict[str, list[str]] = {}
    for role, label, help in (
        ("quasi-identifier", "Known to others", "What somebody may know of a person and look up: age, town, job."),
        ("sensitive", "Secret", "What nobody must learn about a person: an illness, an income."),
        ("identifier", "Names the person", "Left out of every release: name, e-mail address, number of a card."),
    ):
        chosen[role] = st.multiselect(
            label,
            names,
            default=[name for name in names if suggested.get(name) == role],
            help=help,
            key=f"tags-{role}-{table.id}",
        )
    twice = sorted({name for name in names if sum(name in held for held in chosen.values()) > 1})
    if twice:
        st.warning(f"{escaped(', '.join(twice))} is in two lists; leave each column in one.")
    is_open = bool(twice) or not chosen["quasi-identifier"]
    with st.container(horizontal=True):
        st.button(
            "Compare four methods",
            type="primary",
            key="board-tag",
            disabled=is_open,
            on_click=_tag,
            args=(chosen,),
        )
        st.button(
            "It is a release already: judge it",
            key="board-judge",
            disabled=is_open,
            on_click=_judge,
            args=(chosen, table),
            help="For a table that somebody published, whose original is not here: what it shows by itself.",
        )
    st.caption(
        "Every other column is published as it is. Kinds, orders and hierarchies can be set on the page Attributes."
    )


def _tag(chosen: dict[str, list[str]]) -> None:
    tags: Any = state.tags()
    for role, names in chosen.items():
        for name in names:
            tags = tags.changed("roles", name, role)
    state.set_tags(tags)


def _judge(chosen: dict[str, list[str]], table: LoadedTable) -> None:
    """Tag the table, and begin the board with the table itself as the only release."""
    _tag(chosen)
    # Tags that do not fit the table are told on the board.
    with suppress(AnonymizationError):
        state.begin_board(opened_alone(table))
