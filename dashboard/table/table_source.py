"""Reading the file or the place that a visitor names, and making it the table."""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import pandas as pd
import streamlit as st

from anoncore import AnonymizationError, DataError, Microdata, datasets
from anoncore.recipes.source import load_source
from anoncore.sources.table_files import DATABASES
from dashboard.markdown import escaped
from dashboard.serving import access, audit, quotas, settings
from dashboard.session import browser, state
from dashboard.session.workspace import Run
from dashboard.table.table_place import TablePlace
from dashboard.tasks import reading

MOST_SHEETS_IN_SIGHT = 8
WANTED = "wanted_builtin"
"""Where the browser session holds which built-in table is to be loaded, and how many rows of it."""
_logger = logging.getLogger(__name__)


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
        source = reading.table_at(path, access.most_upload_bytes(), state.workspace_id(), state.make_room)
        state.load_frame(source.frame, asked.name, source.digest, source.notes)


def ask_for_builtin(place: str) -> None:
    """Ask for another built-in table, and load the one that is wanted; `place` tells two fields apart."""
    tables, table = datasets.tables(), state.table()
    # A field of its own for each table: a small window closes with the choice, before the browser has heard that a
    # field is empty now, and with its next word the field would ask for the table of before.
    key = f"{place}-{table.id if table is not None else 'none'}"
    browser.set_widget_values({key: table.builtin if table is not None else None})
    st.selectbox(
        "Built-in table",
        list(tables),
        format_func=lambda name: tables[name].title,
        key=key,
        placeholder="Your own table is loaded",
        on_change=lambda: want_builtin(browser.widget_value(key)),
        help="Made-up tables, worked examples of the papers, and public data. Attributes come tagged.",
    )
    wanted = browser.get(WANTED)
    if wanted is not None:
        with st.spinner(f"Loading {tables[wanted[0]].title} …"):
            attempt(lambda: state.load_builtin(*wanted), WANTED, None)


def want_builtin(name: str | None, n_rows: int | None = None) -> None:
    """Let a built-in table be loaded with the next drawing of a field for it; in a callback."""
    browser.put(WANTED, None if name is None else (name, n_rows))


def ask_for_file(place: str) -> None:
    """Ask for a file of the visitor's own, and make it the table; `place` tells two fields apart."""
    turn = browser.get(f"{place}_turn", 0)
    file = access.upload_field(
        "Your own table: CSV, TSV, Parquet or Excel",
        key=f"{place}-{turn}",
        help="One row per person, column names first. The file stays on this machine.",
    )
    if file is not None:
        _take_upload(file, f"{place}-sheet-{turn}", f"{place}_turn", turn + 1)


def _take_upload(file: Any, key: str, request: str, answered: object) -> None:
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
    held = browser.get("upload_sheets")
    if held is None or held[0] != file_id:
        sheets: tuple[str, ...] = ()
        problem = ""
        try:
            with suppress(MemoryError):
                sheets = reading.sheets(
                    content, name, access.most_upload_bytes(), state.workspace_id(), state.make_room
                )
        except AnonymizationError as error:
            problem = str(error)
        held = (file_id, sheets, problem)
        browser.put("upload_sheets", held)
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
    source = reading.table(
        content, name, access.most_upload_bytes(), state.workspace_id(), state.make_room, sheet=sheet
    )
    # Two sheets of a file are two tables, so the digest of the file alone would mix up what is computed for them.
    digest = source.digest if sheet is None else sha256(f"{source.digest}:{sheet}".encode()).hexdigest()
    state.load_frame(source.frame, source.name, digest, source.notes, sheet)


def attempt(load: Callable[[], object], request: str, answered: object) -> None:
    """Load, keep the sentence of what went wrong, and draw the whole page anew.

    The request counts as answered only afterwards: a click on the way interrupts the loading and starts it again.
    """
    problem = problem_of(load, "table", "The table below is still the one from before.")
    browser.put("load_problem", problem)
    browser.put(request, answered)
    st.rerun()


def problem_of(load: Callable[[], object], thing: str, unchanged: str) -> str | None:
    """Load a table or a session; what went wrong, followed by the sentence that says what stays, None where nothing."""
    try:
        load()
    except AnonymizationError as error:
        return f"{error} {unchanged}"
    except MemoryError:
        return f"The {thing} does not fit into memory; take a smaller one. {unchanged}"
    except Exception as error:
        _logger.exception("A %s could not be loaded", thing)
        return f"The {thing} could not be loaded ({type(error).__name__}). {unchanged}"
    return None


def further_table(run: Run, label: str, key: str, help: str) -> tuple[str, Microdata] | None:
    """The uploaded table with the tags of the run's table, and what tells it from others; None until there is one."""
    file = access.upload_field(label, type=["csv", "tsv", "txt", "parquet", "xlsx", "xlsm"], key=key, help=help)
    if file is None:
        return None
    held = browser.get(f"{key}-table")
    if held is None or held[0] != (file.file_id, run.id):
        try:
            source = reading.table(
                file.getvalue(), file.name, access.most_upload_bytes(), state.workspace_id(), state.make_room
            )
            quotas.require_rows(len(source.frame), f"'{file.name}'")
            audit.record("loaded", state.workspace().who, table=source.digest, rows=len(source.frame), beside=True)
            held = ((file.file_id, run.id), run.data.with_same_tags(source.frame))
        except AnonymizationError as error:
            st.error(escaped(str(error)))
            return None
        browser.put(f"{key}-table", held)
    return file.file_id, held[1]
