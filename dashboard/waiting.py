"""A page that waits says for what, and lets its visitor go elsewhere meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.runtime.scriptrunner import get_script_run_ctx


def is_page() -> bool:
    """Whether this thread draws a page."""
    return get_script_run_ctx(suppress_warning=True) is not None


@contextmanager
def told(text: str) -> Iterator[Callable[[], None]]:
    """Inside this block, call what it gives again and again: it writes the text where the page is being drawn.

    Drawing anything ends the run of a page whose visitor has gone elsewhere. In a thread that draws no page it does
    nothing.
    """
    if not is_page():
        yield lambda: None
        return
    places: list[DeltaGenerator] = []

    def tell() -> None:
        if not places:
            places.append(st.empty())
        places[0].caption(text)

    yield tell
    if places:
        places[0].empty()
