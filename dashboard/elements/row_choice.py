"""A list of which one row is always chosen, and stays so over page switches."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from anoncore.kernels.arrays import Int64
from dashboard.session import state


def draw(frame: pd.DataFrame, ids: Int64, name: str, columns: dict[str, Any], height: int, alt: str) -> int:
    """Draw the list; returns the id of the chosen row, the first one until another is chosen.

    `ids` int64 (len(frame),) tells the rows apart, whatever their order; `name` is the list's own.
    """
    kept, key = f"chosen-{name}", f"list-{name}"
    chosen = state.session(kept)
    if chosen is None or chosen not in ids:
        chosen = int(ids[0])
    st.dataframe(
        frame,
        hide_index=True,
        height=height,
        key=key,
        on_select=partial(_clicked, kept, key, ids),
        selection_mode="single-row-required",
        selection_default={"selection": {"rows": [_first_selected(key, ids, chosen)]}},
        column_config=columns,
        alt=alt,
    )
    return int(chosen)


def _first_selected(key: str, ids: Int64, chosen: int) -> int:
    """The row that is selected when the list is first drawn; a list whose default changes is sent anew as a whole."""
    held = state.session(f"default-{key}")
    if held is None or state.widget_value(key) is None:
        held = int(np.flatnonzero(ids == chosen)[0])
        state.set_session(f"default-{key}", held)
    return int(held)


def _clicked(kept: str, key: str, ids: Int64) -> None:
    rows = state.widget_value(key, {}).get("selection", {}).get("rows", [])
    if rows and rows[0] < len(ids):
        state.set_session(kept, int(ids[rows[0]]))
