"""Part of the page Table: which table it is: built-in, a file, or by its path or address, whole or a sample of it."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from anoncore import AnonymizationError, datasets
from dashboard.elements import parts
from dashboard.markdown import escaped
from dashboard.serving import access, own_machine
from dashboard.session import browser, state
from dashboard.table import large_runs
from dashboard.table.table_place import TablePlace, known_tables
from dashboard.table.table_source import attempt, load_place, take_upload
from dashboard.tasks import redrawing

MOST_GENERATED = 1_000_000
POLL = 0.5
_CHOICE, _ROWS, _UPLOAD = "builtin-table", "generated-rows", "upload"
_PLACE, _PLACE_TABLE, _SIZE = "place", "place-table", "sample-rows"


def choose() -> None:
    """Ask for another table."""
    if large_runs.take_sample():
        st.rerun()
    with st.container(border=True):
        left, right = st.columns(2, gap="large")
        with left:
            _choose_builtin()
            if own_machine.may_use_paths():
                _at_an_address()
            else:
                st.caption(escaped(access.refusal("paths")) or own_machine.NOT_ALONE)
        with right:
            _upload()
    problem = browser.get("load_problem")
    if problem:
        st.error(escaped(problem))


def _choose_builtin() -> None:
    table = state.table()
    entries = datasets.tables()
    asked = browser.get("asked_builtin")
    if asked is None:
        browser.set_widget_values({_CHOICE: table.builtin if table is not None else None})
    name = st.selectbox(
        "Built-in table",
        list(entries),
        format_func=lambda key: entries[key].title,
        key=_CHOICE,
        placeholder="Your own table is loaded",
        on_change=_ask_builtin,
        help="Made-up tables, worked examples of the papers, and public data. Attributes come tagged.",
    )
    if name is not None and entries[name].generated and table is not None:
        if asked is None:
            browser.set_widget_values({_ROWS: len(table.frame)})
        st.number_input(
            "Rows to make up",
            min_value=10,
            max_value=MOST_GENERATED,
            step=5_000,
            key=_ROWS,
            on_change=_ask_builtin,
            help="This table is generated, so it can have any number of rows. The same number gives the same table.",
        )
    if asked is not None:
        with st.spinner(f"Loading {entries[asked[0]].title} …"):
            attempt(lambda: state.load_builtin(*asked), "asked_builtin", None)


def _ask_builtin() -> None:
    name = browser.widget_value(_CHOICE)
    if name is None:
        return
    table = state.table()
    same = table is not None and table.builtin == name
    browser.put("asked_builtin", (name, browser.widget_value(_ROWS) if same else None))


def _upload() -> None:
    turn = browser.get("upload_turn", 0)
    file = access.upload_field(
        "Your own table: CSV, TSV, Parquet or Excel",
        key=f"{_UPLOAD}-{turn}",
        help="One row per person, column names first. The file stays on this machine.",
    )
    if file is not None:
        take_upload(file, f"sheet-{turn}", "upload_turn", turn + 1)


def _at_an_address() -> None:
    """A table that lies elsewhere, or on this machine, by its name: all of it, or a sample to try methods on."""
    drawn = large_runs.sampling()
    with st.expander("A table by its path or address", expanded=drawn is not None):
        text = st.text_input(
            "Path or address",
            key=_PLACE,
            persist_state="session",
            placeholder="/data/people.parquet",
            help="A Parquet or CSV file, a folder of such files, or a DuckDB or SQLite database; or s3://, gs://, "
            "abfs://, https:// or postgresql://. It is read with the rights of the program. Leave passwords out: the "
            "program takes them from its environment.",
        )
        size = st.number_input(
            "Rows in the sample",
            min_value=100,
            max_value=large_runs.MOST_SAMPLED,
            value=large_runs.SAMPLE_ROWS,
            step=10_000,
            key=_SIZE,
            persist_state="session",
            help="Drawn at random, every row with the same chance. A smaller table is taken whole.",
        )
        source = _source(text) if text.strip() else None
        if drawn is not None and drawn.job.running:
            _drawing()
            return
        with st.container(horizontal=True):
            if st.button("Load it", key="load-place", disabled=source is None, help="All rows become your table."):
                browser.put("asked_place", source)
            if st.button(
                "Take a sample",
                key="large-sample",
                disabled=source is None,
                help="A random sample becomes your table, so that every page works on it; then the same is done to "
                "all rows, piece by piece, so that they never have to fit into memory.",
            ):
                large_runs.draw_sample(source or TablePlace(Path()), int(size))
                st.rerun()
        if drawn is not None and drawn.job.status == "failed":
            st.error(escaped(drawn.job.error))
    asked = browser.get("asked_place")
    if asked is not None:
        with st.spinner(f"Fetching {escaped(asked.name)} …"):
            attempt(lambda: load_place(asked), "asked_place", None)


def _source(text: str) -> TablePlace | None:
    """The table that is named, or the sentence that says why there is none."""
    try:
        place = own_machine.whole_place(text)
        tables = known_tables(place)
    except (AnonymizationError, OSError) as error:
        why = str(error) if isinstance(error, AnonymizationError) else f"'{text}' cannot be read: {error.strerror}."
        st.error(escaped(why))
        return None
    if not tables:
        return TablePlace(place)
    return TablePlace(place, parts.choice("Table of the database", tables, _PLACE_TABLE, "It has several tables."))


@redrawing.part(POLL, "large-drawing")
def _drawing() -> None:
    drawn = large_runs.sampling()
    if drawn is None:
        redrawing.draw_page()
    parts.follow(drawn.job, "large-sample-cancel", "Keep the table that is loaded.")
