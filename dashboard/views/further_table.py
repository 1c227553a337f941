"""A table that an attack needs besides the one that is anonymized, uploaded on the page where it is asked for."""

from __future__ import annotations

import streamlit as st

from anoncore import AnonymizationError, Microdata
from anoncore.sources import read_table
from dashboard import state
from dashboard.state import Run
from dashboard.views import parts
from dashboard.views.data import MOST_BYTES


def further_table(run: Run, label: str, key: str, help: str) -> tuple[str, Microdata] | None:
    """The uploaded table with the tags of the run's table, and what tells it from others; None until there is one."""
    file = st.file_uploader(label, type=["csv", "tsv", "txt", "parquet", "xlsx", "xlsm"], key=key, help=help)
    if file is None:
        return None
    held = state.session(f"{key}-table")
    if held is None or held[0] != (file.file_id, run.id):
        try:
            source = read_table(file.getvalue(), file.name, max_bytes=MOST_BYTES)
            held = ((file.file_id, run.id), run.data.with_same_tags(source.frame))
        except AnonymizationError as error:
            st.error(parts.escaped(str(error)))
            return None
        state.set_session(f"{key}-table", held)
    return file.file_id, held[1]
