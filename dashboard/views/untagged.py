"""Columns that undo a tag: what they give away, and the decision on each of them before anything is published."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from anoncore import Microdata, Role, privacy
from anoncore.privacy.tag_leaks import TagLeak, table_leaks
from dashboard import compute, routes, state
from dashboard.markdown import escaped
from dashboard.state import LoadedTable, Run

MOST_NAMED = 8


def published(run: Run) -> tuple[str, ...]:
    """The columns of a run that shall be published as they are, by decision."""
    kept = state.forms_of(run).get(_place(run), [])
    return tuple(leak.column for leak in _open(run) if leak.column in kept)


def undecided(run: Run) -> tuple[str, ...]:
    """The columns of a run that undo a tag and on which nobody decided."""
    chosen = published(run)
    return tuple(leak.column for leak in _open(run) if leak.column not in chosen)


def decide(run: Run) -> None:
    """Draw what the columns give away, each with a decision: tag it, leave it out, or publish it as it is."""
    leaks = _open(run)
    if not leaks:
        return
    st.subheader("Columns that undo a tag")
    st.caption(
        "Decide on each of these columns before you download anything: publish it as it is, or change its tag and run "
        "the method again. The certificate and the recipe record that a column is published by decision."
    )
    for leak in leaks:
        with st.container(border=True):
            # The verdict above has the numbers of a column that tells or is told; the others have only one sentence.
            st.markdown(f"**{escaped(leak.column)}**" if leak.relations else escaped(leak.finding))
            with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                key = f"publish-untagged-{run.id}-{leak.column}"
                if state.widget_value(key) is None:
                    state.set_widget_values({key: leak.column in published(run)})
                st.checkbox(
                    f"Publish '{leak.column}' as it is",
                    key=key,
                    on_change=_keep,
                    args=(run, leak.column, key),
                )
                _tag_buttons(leak, f"{run.id}", run.table)
    changed = [leak.column for leak in leaks if _tagged_since(run, leak.column)]
    if changed:
        names = ", ".join(f"'{escaped(name)}'" for name in changed)
        st.info(f"The tags of {names} have changed since this run. Run the method again, and publish the new release.")
        routes.link("anonymize", "Go to Anonymize")


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
                _tag_buttons(leak, "table", table)
    rows = {leak.column: leak.split.n_below for leak in leaks if not leak.relations and leak.split is not None}
    if rows:
        named = ", ".join(f"{escaped(name)} ({count:,})" for name, count in list(rows.items())[:MOST_NAMED])
        more = f" and {len(rows) - MOST_NAMED} more" if len(rows) > MOST_NAMED else ""
        st.caption(
            f"Insensitive columns that make rows unique, alone or together with each other: {named}{more}. The number "
            "of such rows stands behind each column. No method changes that, because these columns are published as "
            "they are. Tag those that others may know as quasi-identifier."
        )


def _open(run: Run) -> tuple[TagLeak, ...]:
    if run.release.is_synthetic:  # no column tells anything of a person there
        return ()
    leaks = compute.cached("privacy.tag_leaks", run, privacy.tag_leaks)
    return tuple(leak for leak in leaks if not leak.is_settled)


def _place(run: Run) -> str:
    return f"publish-untagged-{run.id}"


def _keep(run: Run, column: str, key: str) -> None:
    kept: Sequence[Any] = [name for name in state.forms_of(run).get(_place(run), []) if name != column]
    state.forms_of(run)[_place(run)] = [*kept, column] if state.widget_value(key) else list(kept)


def _tag_buttons(leak: TagLeak, place: str, table: LoadedTable | None) -> None:
    here = state.table()
    if table is None or here is None or here.digest != table.digest:
        return
    for role, title, help in (
        (leak.proposed, f"Tag it as {leak.proposed.value}", "The next run protects it like the column that it tells."),
        (Role.IDENTIFIER, "Leave it out", "Its role becomes identifier: no release has it."),
    ):
        st.button(
            title,
            key=f"tag-{place}-{leak.column}-{role.value}",
            on_click=_tag,
            args=(leak.column, role.value),
            disabled=state.tags().roles.get(leak.column) == role.value,
            help=help,
        )


def _tag(column: str, role: str) -> None:
    state.set_tags(state.tags().changed("roles", column, role))
    # The editor of the page Attributes starts anew from the changed tags.
    state.set_session("editor_turn", state.session("editor_turn", 0) + 1)


def _tagged_since(run: Run, column: str) -> bool:
    here = state.table()
    same = here is not None and run.table is not None and here.digest == run.table.digest
    return same and state.tags().roles.get(column) != run.tags.roles.get(column)
