"""Whose rows they are: where one person may have several and nobody decided, rows are counted, and this is asked."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from anoncore import Microdata
from anoncore.table.people import repeated_identifiers
from dashboard.elements import routes
from dashboard.markdown import escaped
from dashboard.session import compute, state
from dashboard.session.loaded_table import LoadedTable, Tags
from dashboard.session.tagging import unit_options
from dashboard.session.workspace import Run


def repeating(table: LoadedTable, tags: Tags) -> tuple[str, int, int] | None:
    """The identifier by which one person may have several rows, its different values and the rows that have one; None
    where none repeats, or somebody said by which column people are counted.
    """
    if tags.unit is not None:
        return None
    identifiers = tuple(name for name in unit_options(tags) if name is not None)
    found = compute.kept(
        "repeated_identifiers", (table.digest, identifiers), lambda: repeated_identifiers(table.frame, identifiers)
    )
    return next(((name, *counts) for name, counts in found.items()), None)


def ask(data: Microdata, place: str = "page") -> bool:
    """Ask whose rows those of the loaded table are, where that stands open for `data`; the answer is one click. Whether
    it was asked.

    `place` tells two questions apart that are open at a time, such as on a page and in a dialog over it.
    """
    table = state.table()
    found = None if table is None or data.people_word == "people" else repeating(table, state.tags())
    if found is None:
        return False
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
                on_click=count_by,
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
    return True


def stands_open(run: Run, place: str = "page") -> bool:
    """Whether it stands open whose the rows of a run are; then it is asked, and nothing is said of people before."""
    if run.data.people_word == "people":
        return False
    if state.is_of_table(run):
        ask(run.data, place)
    else:
        st.info(
            "Rows were counted in this release, and whose they are was said only afterwards, or of another table. Make "
            "it anew: what it does for people is told then."
        )
        routes.link("board", "Go to the board")
    return True


def count_by(name: str | None) -> None:
    """Count people by a column from now on; None: every row is another person."""
    tags = state.tags()
    state.set_tags(replace(tags, unit=name, is_pseudonym=tags.is_pseudonym and name is not None))


def _count_rows(name: str) -> None:
    """Take a column for no name of people, so that every row is another person."""
    state.set_tags(state.tags().changed("roles", name, None))
