"""A page that waits says for what, and lets its visitor go elsewhere."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.runtime.scriptrunner import get_script_run_ctx

from anoncore.base.shared_work import Memo
from dashboard.tasks import redrawing

POLL = 0.5
PATIENCE = 0.3
"""Seconds that a page waits for what is being computed for another one before it ends without it."""
TEXT = "What this page needs is being computed already"

_drawing = threading.local()


class NotReadyError(BaseException):
    """A page cannot be drawn further yet; `is_ready` says whether it can, and `text` what it waits for.

    It is no error of the program, so nothing that takes care of errors must take it.
    """

    def __init__(self, text: str, is_ready: Callable[[], bool]) -> None:
        super().__init__(text)
        self.text, self.is_ready = text, is_ready


@contextmanager
def page_ends_early() -> Iterator[None]:
    """Draw a page inside this block: where it would have to wait it ends there, with a line that says for what, and is
    drawn anew when it need not wait any more.

    So nobody waits for a page to which they have gone before they can go on to another one.
    """
    _drawing.page, _drawing.is_whole = True, True
    try:
        yield
    except NotReadyError as wait:
        _drawing.is_whole = False
        _poll(wait)
    finally:
        _drawing.page = False


def is_drawn_whole() -> bool:
    """Whether the page that this thread drew last did not end early."""
    return bool(getattr(_drawing, "is_whole", True))


def may_end_early() -> bool:
    """Whether this thread draws a page that may end with `NotReadyError`."""
    return bool(getattr(_drawing, "page", False))


@redrawing.part(POLL)
def _poll(wait: NotReadyError) -> None:
    if wait.is_ready():
        redrawing.draw_page()
    st.caption(wait.text)


def session_id() -> str:
    """The browser session for which this thread draws a page; empty where it draws none."""
    context = get_script_run_ctx(suppress_warning=True)
    return "" if context is None else str(context.session_id)


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


def memo(most: int, kept_errors: tuple[type[Exception], ...] = ()) -> Memo:
    """Values for pages. A page waits for a moment only for what another thread makes, as its visitor could go nowhere
    else meanwhile.
    """
    return Memo(most, kept_errors, _wait_for_a_moment)


def _wait_for_a_moment(future: Future[Any]) -> None:
    try:
        future.exception(PATIENCE if may_end_early() else None)
    except TimeoutError:
        raise NotReadyError(TEXT, future.done) from None
