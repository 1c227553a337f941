"""What is asked about the roles of a table's columns, each answered with one click.

Whose rows they are, where one person may have several and nobody decided; until then rows are counted. And which
columns that are published by decision, or would be, undo a tag, what they give away, and how to mend it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import streamlit as st

from anoncore import Microdata, privacy
from anoncore.privacy.tag_leaks import TagLeak, table_leaks
from anoncore.table.people import repeated_identifiers
from anoncore.table.relations import Relation
from dashboard.elements import routes
from dashboard.markdown import escaped, few
from dashboard.session import compute, state, tagging
from dashboard.session.loaded_table import LoadedTable, Tags
from dashboard.session.workspace import Run


def repeating_identifier(table: LoadedTable, tags: Tags) -> tuple[str, int, int] | None:
    """The identifier by which one person may have several rows, its different values and the rows that have one; None
    where none repeats, or somebody said by which column people are counted.
    """
    if tags.unit is not None:
        return None
    identifiers = tuple(name for name in tagging.unit_options(tags) if name is not None)
    found = compute.kept(
        "repeated_identifiers", (table.digest, identifiers), lambda: repeated_identifiers(table.frame, identifiers)
    )
    return next(((name, *counts) for name, counts in found.items()), None)


def ask_whose_rows(place: str = "page") -> None:
    """Ask whose rows those of the loaded table are, where an identifier repeats; the answer is one click.

    `place` tells two questions apart that are open at a time, such as on a page and in a dialog over it.
    """
    table = state.table()
    found = None if table is None else repeating_identifier(table, state.tags())
    if found is None:
        return
    name, different, rows = found
    shown = escaped(name)
    with st.container(border=True, key=f"whose-rows-{place}"):
        st.markdown(
            f"**Are rows with the same {shown} one person? Then choose '{shown}' as whose row it is.** It has "
            f"{different:,} different values in {rows:,} rows. Until you say whose a row is, rows are counted and "
            "nothing is said of people."
        )
        with st.container(horizontal=True, gap="small"):
            st.button(
                f"Count people by '{shown}'",
                type="primary",
                key=f"whose-rows-{place}-unit",
                on_click=count_people_by,
                args=(name,),
                help="All rows with one value are those of one person. The column is never published.",
            )
            st.button(
                "Every row is another person",
                key=f"whose-rows-{place}-none",
                on_click=_count_rows,
                args=(name,),
                help=f"'{shown}' names nobody then: it loses its role and is left out of every release.",
            )


def whose_rows_are_open(run: Run, place: str = "page") -> bool:
    """Whether it stands open whose the rows of a run are; then it is asked, and nothing is said of people before."""
    if run.data.people_word == "people":
        return False
    if state.is_of_table(run):
        ask_whose_rows(place)
    else:
        st.info(
            "Rows were counted in this release, and whose they are was said only afterwards, or of another table. Make "
            "it anew: what it does for people is told then."
        )
        routes.link("board", "Go to the board")
    return True


def count_people_by(name: str | None) -> None:
    """Count people by a column from now on; None: every row is another person."""
    tags = state.tags()
    state.set_tags(replace(tags, unit=name, is_pseudonym=tags.is_pseudonym and name is not None))


def _count_rows(name: str) -> None:
    """Take a column for no name of people, so that every row is another person."""
    state.set_tags(state.tags().changed("roles", name, None))


MOST_NAMED = 8


def mend(run: Run) -> None:
    """Draw the columns of a run that undo a tag, each with the tag that would protect it, or to be left out.

    What they do is said by the verdict.
    """
    leaks = _leaks(run)
    here = state.table()
    if not leaks or run.table is None or here is None or here.digest != run.table.digest:
        return
    with st.container(border=True):
        st.markdown("**Columns that break what was asked.** They are published because their role says so.")
        for leak in leaks:
            with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                st.markdown(f"'{escaped(leak.column)}'", width="content")
                _tag_buttons(leak, run.id)
        changed = [leak.column for leak in leaks if _tagged_since(run, leak.column)]
        if changed:
            names = ", ".join(f"'{escaped(name)}'" for name in changed)
            st.info(f"The tags of {names} have changed since this release was made. Make it anew, and publish that.")
            routes.link("board", "Go to the board")


def propose(table: LoadedTable, data: Microdata) -> None:
    """Draw the columns of a table that undo a tag, with the tag that would protect each of them."""
    if not data.quasi_identifiers and not data.sensitive:
        return
    leaks = compute.kept("tag_leaks", (table.digest, state.tags().digest), lambda: table_leaks(data))
    telling = [leak for leak in leaks if leak.relations]
    for leak in telling:
        with st.container(border=True):
            st.markdown(f":material/warning: {escaped(leak.sentence)}")
            with st.container(horizontal=True, gap="small"):
                _tag_buttons(leak, "table")
    rows = {leak.column: leak.split.n_below for leak in leaks if not leak.relations and leak.split is not None}
    if rows:
        st.caption(
            f"Insensitive columns that make rows unique, alone or together with each other: {_counted(rows)}. The "
            "number of such rows stands behind each column. No method changes that, because these columns are "
            f"published as they are. Tag those that others may know as {tagging.word('quasi-identifier')}."
        )


def would_do(table: LoadedTable, data: Microdata) -> str:
    """What columns on which nobody decided would undo if they were published as they are, in a sentence or two."""

    def found() -> tuple[TagLeak, ...]:
        return table_leaks(data.publishing(data.left_out))

    leaks = compute.kept("left_out_leaks", (table.digest, state.tags().digest), found)
    undecided = [leak for leak in leaks if not leak.is_decided]
    told = list(dict.fromkeys(_tells(leak.relations[0]) for leak in undecided if leak.relations))[:MOST_NAMED]
    unique = {leak.column: leak.split.n_below for leak in undecided if leak.split is not None and leak.split.n_below}
    if len(unique) == 1:
        told += [f"'{escaped(name)}' makes {count:,} rows unique" for name, count in unique.items()]
    elif unique:
        told.append(f"these make rows unique, alone or together with each other: {_counted(unique)}")
    they, are = ("it", "it is") if len(data.left_out) == 1 else ("they", "they are")
    return f"Published as {are}, {they} would undo the promise: {'; '.join(told)}." if told else ""


def _counted(rows: Mapping[str, int]) -> str:
    """Columns with how many rows each makes unique."""
    return few([f"{escaped(name)} ({count:,})" for name, count in rows.items()], MOST_NAMED)


def _tells(relation: Relation) -> str:
    """Which columns give away another one."""
    telling = " and ".join(f"'{escaped(name)}'" for name in relation.telling)
    return f"{telling} {'tells' if len(relation.telling) == 1 else 'tell'} '{escaped(relation.told)}'"


def _leaks(run: Run) -> tuple[TagLeak, ...]:
    if run.release.is_synthetic:  # no column tells anything of a person there
        return ()
    found: tuple[TagLeak, ...] = compute.cached("privacy.tag_leaks", run, privacy.tag_leaks)
    return found


def _tag_buttons(leak: TagLeak, place: str) -> None:
    present = state.tags().roles.get(leak.column)
    proposed = leak.proposed.value
    st.button(
        f"Tag it as {tagging.word(proposed)}",
        key=f"tag-{place}-{leak.column}-{proposed}",
        on_click=tag,
        args=([leak.column], proposed),
        disabled=present == proposed,
        help="The next release protects it like the column that it tells.",
    )
    st.button(
        "Leave it out",
        key=f"tag-{place}-{leak.column}-none",
        on_click=tag,
        args=([leak.column], None),
        disabled=present is None,
        help="It loses its role, and no release has it.",
    )


def tag(columns: Sequence[str], role: str | None) -> None:
    """Give columns of the loaded table a role, or take it from them, in one step that can be undone."""
    state.retag(tagging.with_role(state.tags(), columns, role))


def _tagged_since(run: Run, column: str) -> bool:
    return state.tags().roles.get(column) != run.tags.roles.get(column)
