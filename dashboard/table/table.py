"""The page Table: which table it is, what each of its columns tells about a person, and the run over all rows."""

from __future__ import annotations

import streamlit as st

from anoncore import AnonymizationError, Microdata
from anoncore.base.texts import share_text, size_text
from anoncore.table.suggestions import uniqueness
from dashboard.elements import insensitive, routes, whose_rows
from dashboard.markdown import escaped
from dashboard.session import compute, state, tagging
from dashboard.session.loaded_table import LoadedTable
from dashboard.table import (
    all_rows,
    attribute_details,
    large_runs,
    safe_harbor,
    saved_sessions,
    table_choice,
    table_columns,
)

PREVIEW_COLUMNS = 200
PREVIEW_ROWS = 1_000


def render() -> None:
    """Draw the page."""
    table_choice.choose()
    table = state.table()
    if table is None:
        st.info("No table is loaded. Choose a built-in table or upload your own above.")
        return
    _about(table)
    table_columns.render(table)
    safe_harbor.render(table)
    data = _coded(table)
    attribute_details.render(table, data)
    all_rows.render(data)
    _first_rows(table)
    saved_sessions.render()


def _about(table: LoadedTable) -> None:
    """The name of the table, its size, and how it was read."""
    st.subheader(escaped(table.name))
    n_rows, n_columns = table.frame.shape
    n_missing = sum(summary.n_missing for summary in table_columns.summaries(table))
    missing = (
        f"{share_text(n_missing / (n_rows * n_columns))} of the cells are empty" if n_missing else "no cell is empty"
    )
    st.caption(f"{n_rows:,} rows, {n_columns:,} columns; {missing}; {size_text(table.n_bytes)} of memory.")
    if table.builtin:
        st.caption("**About this table.** " + " ".join(escaped(note) for note in table.notes))
    elif table.notes:
        st.info("**How the file was read**\n\n" + "\n".join(f"- {escaped(note)}" for note in table.notes))


def _coded(table: LoadedTable) -> Microdata | None:
    """The table as its tags read it, with what follows from them; None, and why, where it cannot be read so."""
    try:
        data = state.microdata()
    except AnonymizationError as error:
        st.error(escaped(f"{error} Until then no method can run."))
        return None
    whose_rows.ask(data)
    insensitive.propose(table, data)
    _what_follows(table, data)
    return data


def _what_follows(table: LoadedTable, data: Microdata) -> None:
    """What the tags mean for the people in the table, and where to go."""
    if not data.quasi_identifiers:
        told = tagging.word("quasi-identifier")
        st.warning(f"Tag at least one attribute as {told}: what an adversary may know about a person.")
        return
    key = (table.digest, state.tags().digest, data.quasi_identifiers)
    found = compute.kept("uniqueness", key, lambda: uniqueness(data))
    with st.container(border=True):
        st.markdown(
            f"**{found.sentence}** ({found.share:.0%}): whoever knows these values finds the person for certain.",
            help="A row is unique if no other row has the same values in all quasi-identifiers, and a person if nobody "
            "else's row has.",
        )
        if not data.sensitive:
            st.markdown("No attribute is sensitive. k-anonymity works so; other requirements need one.")
        sample = "" if large_runs.sampled() is None else ", and compare methods on the sample"
        routes.button("board", f"Go to the board{sample}", primary=True)


def _first_rows(table: LoadedTable) -> None:
    st.subheader("First rows")
    first = table.frame.iloc[:PREVIEW_ROWS, :PREVIEW_COLUMNS]
    st.dataframe(first, key=f"preview-{table.id}", height=320, alt="First rows of the table")
    n_rows, n_columns = table.frame.shape
    more = f" and {PREVIEW_COLUMNS:,} of {n_columns:,} columns" if n_columns > PREVIEW_COLUMNS else ""
    st.caption(f"The first {len(first):,} of {n_rows:,} rows{more}, as they were read.")
