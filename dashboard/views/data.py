"""The page Data: choose or upload a table, and see what is in it."""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import pandas as pd
import streamlit as st

from anoncore import AnonymizationError, DataError, datasets
from anoncore.base.texts import share_text, size_text
from anoncore.recipes.source import load_source
from anoncore.sources.table_files import DATABASES
from anoncore.table.summary import ColumnSummary, summarize
from dashboard import compute, own_machine, reading, routes, state
from dashboard.charts import tables as charts
from dashboard.charts.layout import as_text
from dashboard.markdown import escaped
from dashboard.serving import access, quotas, settings, uploads
from dashboard.state import LoadedTable
from dashboard.table_place import TablePlace, known_tables
from dashboard.views import session

PREVIEW_COLUMNS = 200
PREVIEW_ROWS = 1_000
MOST_GENERATED = 1_000_000
MOST_SHEETS_IN_SIGHT = 8
_logger = logging.getLogger(__name__)
_CHOICE, _ROWS, _UPLOAD = "builtin-table", "generated-rows", "upload"
_PLACE, _PLACE_TABLE = "place", "place-table"


def render() -> None:
    """Draw the page."""
    with st.container(border=True):
        left, right = st.columns(2, gap="large")
        with left:
            _choose_builtin()
        with right:
            _upload()
    problem = state.session("load_problem")
    if problem:
        st.error(escaped(problem))
    table = state.table()
    if table is None:
        st.info("No table is loaded. Choose a built-in table or upload your own above.")
        return
    summaries = column_summaries(table)
    _facts(table, summaries)
    _next_steps(table)
    _columns(table, summaries)
    st.subheader("First rows")
    first = table.frame.iloc[:PREVIEW_ROWS, :PREVIEW_COLUMNS]
    st.dataframe(first, key=f"preview-{table.id}", height=320, alt="First rows of the table")
    n_rows, n_columns = table.frame.shape
    more = f" and {PREVIEW_COLUMNS:,} of {n_columns:,} columns" if n_columns > PREVIEW_COLUMNS else ""
    st.caption(f"The first {len(first):,} of {n_rows:,} rows{more}, as they were read.")
    session.render()


def column_summaries(table: LoadedTable) -> tuple[ColumnSummary, ...]:
    """What is in each column, computed once per table."""
    return compute.kept("summaries", (table.digest,), lambda: summarize(table.frame))


def _choose_builtin() -> None:
    table = state.table()
    entries = datasets.tables()
    asked = state.session("asked_builtin")
    if asked is None:
        state.set_widget_values({_CHOICE: table.builtin if table is not None else None})
    name = st.selectbox(
        "Built-in table",
        list(entries),
        format_func=lambda key: entries[key].title,
        key=_CHOICE,
        placeholder="Choose one to replace your file",
        on_change=_ask_builtin,
        help="Made-up tables, worked examples of the papers, and public data. Attributes come tagged.",
    )
    if name is not None and entries[name].generated and table is not None:
        if asked is None:
            state.set_widget_values({_ROWS: len(table.frame)})
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
    name = state.widget_value(_CHOICE)
    if name is None:
        return
    table = state.table()
    same = table is not None and table.builtin == name
    state.set_session("asked_builtin", (name, state.widget_value(_ROWS) if same else None))


def _upload() -> None:
    turn = state.session("upload_turn", 0)
    file = uploads.field(
        "Your own table: CSV, TSV, Parquet or Excel",
        key=f"{_UPLOAD}-{turn}",
        help="One row per person, column names first. The file stays on this machine.",
    )
    if file is None:
        if own_machine.may_use_paths():
            _at_an_address()
            routes.link(
                "large",
                "Take a sample of a larger table on this machine",
                f"For tables beyond {uploads.most_bytes() >> 20:,} MB.",
            )
        else:
            st.caption(own_machine.NOT_ALONE)
        return
    take_upload(file, f"sheet-{turn}", "upload_turn", turn + 1)


def _at_an_address() -> None:
    """A table that lies elsewhere, or on this machine, by its name."""
    with st.expander("A table by its path or address"):
        text = st.text_input(
            "Path or address",
            key=_PLACE,
            persist_state="session",
            placeholder="postgresql://ann@db.example/clinic",
            help="A path of this machine, or s3://, gs://, abfs://, https:// or postgresql://. It is read with the "
            "rights of the program. Leave passwords out: the program takes them from its environment.",
        )
        source = None
        if text.strip():
            try:
                place = own_machine.whole_place(text)
                tables = known_tables(place) if isinstance(place, str) else ()
            except AnonymizationError as error:
                st.error(escaped(str(error)))
            else:
                chosen = st.selectbox("Table of the database", tables, key=_PLACE_TABLE) if tables else None
                source = TablePlace(place, chosen)
        if st.button("Load it", key="load-place", disabled=source is None):
            state.set_session("asked_place", source)
    asked = state.session("asked_place")
    if asked is not None:
        with st.spinner(f"Fetching {escaped(asked.name)} …"):
            attempt(lambda: load_place(asked), "asked_place", None)


def load_place(asked: TablePlace) -> None:
    """Read a table by its path or address, and make it the table. Raises DataError and keeps the previous one."""
    if settings.current().has_sign_in:
        access.require("paths")
    with asked.brought_here() as here:
        path = Path(str(here.path))
        if path.is_dir() or path.suffix.lower() in DATABASES:
            with quotas.loading(state.make_room):
                frame = load_source(here, Path())
            # Equal values under other names are another table.
            cells = pd.util.hash_pandas_object(frame, index=False).to_numpy().tobytes()
            digest = sha256(repr(list(frame.columns)).encode() + cells).hexdigest()
            state.load_frame(frame, asked.name, digest, ())
            return
        source = reading.table_at(path, uploads.most_bytes(), state.workspace_id(), state.make_room)
        state.load_frame(source.frame, asked.name, source.digest, source.notes)


def take_upload(file: Any, key: str, request: str, answered: object) -> None:
    """Read a file of the page's upload field; where it is a workbook of several sheets, ask first for one of them."""
    sheets, problem = _sheets(file.getvalue(), file.name, file.file_id)
    if problem:
        attempt(partial(_refuse, problem), request, answered)
    sheet = None
    if len(sheets) > 1:
        sheet = _choose_sheet(sheets, key, file.name)
        if sheet is None:
            return
    with st.spinner("Reading the file …"):
        attempt(lambda: load_upload(file.getvalue(), file.name, sheet), request, answered)


def _sheets(content: bytes, name: str, file_id: str) -> tuple[tuple[str, ...], str]:
    """The sheets of an uploaded workbook, looked up once; none for other files. Where they cannot be read, why: the
    table would fail in the same way, after as long again.
    """
    held = state.session("upload_sheets")
    if held is None or held[0] != file_id:
        sheets: tuple[str, ...] = ()
        problem = ""
        try:
            with suppress(MemoryError):
                sheets = reading.sheets(content, name, uploads.most_bytes(), state.workspace_id(), state.make_room)
        except AnonymizationError as error:
            problem = str(error)
        held = (file_id, sheets, problem)
        state.set_session("upload_sheets", held)
    return held[1], held[2]


def _refuse(problem: str) -> None:
    raise DataError(problem)


def _choose_sheet(sheets: tuple[str, ...], key: str, name: str) -> str | None:
    label = f"{escaped(name)} has {len(sheets)} sheets. Which one is the table?"
    if len(sheets) <= MOST_SHEETS_IN_SIGHT:
        return st.pills(label, sheets, key=key, format_func=escaped, wrap=True)
    return st.selectbox(label, sheets, index=None, key=key, placeholder="Choose a sheet")


def load_upload(content: bytes, name: str, sheet: str | None = None) -> None:
    """Read an uploaded file, or one sheet of it, and make it the table.

    Raises DataError and keeps the previous table if that fails.
    """
    access.require("upload")
    source = reading.table(content, name, uploads.most_bytes(), state.workspace_id(), state.make_room, sheet=sheet)
    if sheet is None:
        state.load_frame(source.frame, source.name, source.digest, source.notes)
        return
    # Two sheets of a file are two tables, so the digest of the file alone would mix up what is computed for them.
    digest = sha256(f"{source.digest}:{sheet}".encode()).hexdigest()
    loaded = state.load_frame(source.frame, source.name, digest, source.notes)
    state.workspace().load(replace(loaded, sheet=sheet), loaded.suggested)


def attempt(load: Callable[[], object], request: str, answered: object) -> None:
    """Load, keep the sentence of what went wrong, and draw the whole page anew.

    The request counts as answered only afterwards: a click on the way interrupts the loading and starts it again.
    """
    problem = None
    try:
        load()
    except AnonymizationError as error:
        problem = f"{error} The table below is still the one from before."
    except MemoryError:
        problem = "The table does not fit into memory; take fewer rows. The table below is still the one from before."
    except Exception as error:
        _logger.exception("A table could not be loaded")
        problem = f"The table could not be loaded ({type(error).__name__}); the one below is still the one from before."
    state.set_session("load_problem", problem)
    state.set_session(request, answered)
    st.rerun()


def _facts(table: LoadedTable, summaries: tuple[ColumnSummary, ...]) -> None:
    st.subheader(escaped(table.name))
    missing = sum(summary.n_missing for summary in summaries)
    cells = len(table.frame) * max(len(summaries), 1)
    tiles = st.columns(4)
    tiles[0].metric("Rows", f"{len(table.frame):,}", border=True, help="Rows of the table.")
    tiles[1].metric("Columns", f"{len(summaries):,}", border=True, help="Attributes of a person.")
    tiles[2].metric(
        "Missing cells",
        share_text(missing / cells) if missing else "none",
        border=True,
        help=f"{missing:,} of {cells:,} cells are empty. Missing is treated as a value of its own.",
    )
    tiles[3].metric("Memory", size_text(table.n_bytes), border=True, help="What the table takes in this program.")
    if table.builtin:
        st.caption("**About this table.** " + " ".join(escaped(note) for note in table.notes))
    elif table.notes:
        st.info("**How the file was read**\n\n" + "\n".join(f"- {escaped(note)}" for note in table.notes))


def _next_steps(table: LoadedTable) -> None:
    tagged = bool(state.tags().roles)
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        if tagged:
            routes.button("board", "Go to the board", primary=True)
            routes.button("attributes", "See the tags")
            st.markdown("The attributes are tagged, so the board can make releases straight away.")
        else:
            routes.button("attributes", "Go to Attributes", primary=True)
            st.markdown("Next, say which columns identify people and which must not be learned.")


@st.fragment(key="columns-of-the-table")
def _columns(table: LoadedTable, summaries: tuple[ColumnSummary, ...]) -> None:
    """The list of columns with the distribution of the selected one beside it."""
    st.subheader("Columns")
    left, right = st.columns([3, 2], gap="medium")
    with left:
        event = st.dataframe(
            profile_frame(summaries),
            key=f"columns-{table.id}",
            hide_index=True,
            height=min(36 * (len(summaries) + 1) + 2, 430),
            on_select="rerun",
            selection_mode="single-row",
            column_config=_profile_columns(),
            alt="Type, number of values, missing cells and distribution of every column",
        )
        st.caption("Select a row to see the values of that column.")
    chosen = event["selection"]["rows"]
    summary = summaries[chosen[0] if chosen and chosen[0] < len(summaries) else _first_interesting(summaries)]
    with right:
        st.markdown(f"**{escaped(summary.name)}**")
        if summary.n_distinct == 0:
            st.info("Every cell of this column is empty.")
            return
        st.plotly_chart(
            as_text(charts.distribution(summary)),
            key="distribution",
            config={"displayModeBar": False},
            alt=f"Distribution of {summary.name}",
        )
        st.caption(_distribution_caption(summary))


def profile_frame(summaries: tuple[ColumnSummary, ...]) -> pd.DataFrame:
    """One line per column: type, distinct values, missing share in percent, rows per bin."""
    return pd.DataFrame(
        {
            "Column": [summary.name for summary in summaries],
            "Type": [summary.type for summary in summaries],
            "Values": [summary.n_distinct for summary in summaries],
            "Missing": [100 * summary.n_missing / max(summary.n_rows, 1) for summary in summaries],
            "Distribution": [list(summary.bin_counts) for summary in summaries],
        }
    )


def _profile_columns() -> dict[str, Any]:
    config = st.column_config
    return {
        "Column": config.TextColumn(width=115),
        "Type": config.TextColumn(width=95, help="What the cells hold."),
        "Values": config.NumberColumn(width=75, format="localized", help="How many different values occur."),
        "Missing": config.NumberColumn(width=70, format="%.1f%%", help="Share of empty cells."),
        "Distribution": config.BarChartColumn(
            width=100, y_min=0, help="Rows per range of numbers, or per value for the 20 most frequent."
        ),
    }


def _first_interesting(summaries: tuple[ColumnSummary, ...]) -> int:
    """The first column whose values repeat."""
    for place, summary in enumerate(summaries):
        if 1 < summary.n_distinct <= 200 and summary.distinct_share < 0.1:
            return place
    return 0


def _distribution_caption(summary: ColumnSummary) -> str:
    shown, known = summary.n_in_bins, summary.n_rows - summary.n_missing
    if shown < known:
        few = len(summary.bin_counts)
        return f"The {few} most frequent of {summary.n_distinct:,} values; they are {shown / known:.0%} of the rows."
    extent = f", {summary.lowest} to {summary.highest}" if summary.lowest != summary.highest else ""
    empty = f"; {summary.n_missing:,} cells are empty" if summary.n_missing else ""
    return f"{summary.n_distinct:,} different values in {known:,} rows{extent}{empty}."
