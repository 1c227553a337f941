"""Columns that are published by decision and undo a tag: what they give away, and how to mend it with one click."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from anoncore import Microdata, privacy
from anoncore.privacy.tag_leaks import TagLeak, table_leaks
from anoncore.table.relations import Relation
from dashboard.elements import routes
from dashboard.markdown import escaped, few
from dashboard.session import browser, compute, state, tagging
from dashboard.session.loaded_table import LoadedTable
from dashboard.session.workspace import Run

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
    state.set_tags(tagging.with_role(state.tags(), columns, role))
    # The editor of the page Table starts anew from the changed tags.
    browser.renew_editors()


def _tagged_since(run: Run, column: str) -> bool:
    return state.tags().roles.get(column) != run.tags.roles.get(column)
