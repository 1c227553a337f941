"""Fields for files: drawn for whoever may load files, and the sentence for everybody else."""

from __future__ import annotations

from typing import Any

import streamlit as st

from dashboard.markdown import escaped
from dashboard.serving import access, settings


def field(label: str, **options: Any) -> Any:
    """The file that the visitor gave, as `st.file_uploader` does; None for a visitor who may not load files."""
    refusal = access.refusal("upload")
    if refusal:
        st.caption(f"**{label}.** {escaped(refusal)}")
        return None
    return st.file_uploader(label, **options)


def most_bytes() -> int:
    """The largest file that is taken."""
    return settings.current().server.upload_megabytes << 20
