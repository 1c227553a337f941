"""A table that an attack needs besides the one that is anonymized, uploaded on the page where it is asked for."""

from __future__ import annotations

import streamlit as st

from anoncore import AnonymizationError, Microdata
from dashboard.elements import parts
from dashboard.serving import audit, quotas, uploads
from dashboard.session import state
from dashboard.session.state import Run
from dashboard.tasks import reading


def further_table(run: Run, label: str, key: str, help: str) -> tuple[str, Microdata] | None:
    """The uploaded table with the tags of the run's table, and what tells it from others; None until there is one."""
    file = uploads.field(label, type=["csv", "tsv", "txt", "parquet", "xlsx", "xlsm"], key=key, help=help)
    if file is None:
        return None
    held = state.session(f"{key}-table")
    if held is None or held[0] != (file.file_id, run.id):
        try:
            source = reading.table(
                file.getvalue(), file.name, uploads.most_bytes(), state.workspace_id(), state.make_room
            )
            quotas.require_rows(len(source.frame), f"'{file.name}'")
            audit.record("loaded", state.workspace().who, table=source.digest, rows=len(source.frame), beside=True)
            held = ((file.file_id, run.id), run.data.with_same_tags(source.frame))
        except AnonymizationError as error:
            st.error(parts.escaped(str(error)))
            return None
        state.set_session(f"{key}-table", held)
    return file.file_id, held[1]
