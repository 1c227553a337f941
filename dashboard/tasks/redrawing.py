"""Drawing a page again: parts of it without the rest, the whole anew from a part, and at its end what it waits for.

A page that waits says for what, and lets its visitor go elsewhere.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from functools import wraps
from typing import Any, NoReturn, ParamSpec

import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.runtime.scriptrunner import RerunData, RerunException, get_script_run_ctx

from anoncore.base.shared_work import Memo

P = ParamSpec("P")


def part(every: float | None = None, key: str | None = None) -> Callable[[Callable[P, object]], Callable[P, None]]:
    """Let a function draw a part of a page, which is drawn again alone where something is done in it, and every `every`
    seconds.

    Its place is a container that belongs to the page. When a part begins anew, Streamlit drops what it drew before and
    the browser has not been sent yet. Without the container, what the page draws below the part would be sent without
    what stands above it, and the browser would show an empty page ("Bad delta path index").
    """

    def placed(draw: Callable[P, object]) -> Callable[P, None]:
        @wraps(draw)
        def drawn(*args: P.args, **kwargs: P.kwargs) -> None:
            with st.container(key=key and f"part-{key}"):
                again(*args, **kwargs)

        again: Any = st.fragment(draw, run_every=every, key=key)
        return drawn

    return placed


def draw_page() -> NoReturn:
    """Draw the whole page anew, from a part of it.

    What the visitor has asked for meanwhile is done after that. `st.rerun` would replace it instead, and a step back or
    forward in the browser would be lost.
    """
    context = get_script_run_ctx()
    assert context is not None, "only a page that is being drawn has parts"
    raise RerunException(
        RerunData(
            query_string=context.query_string,
            page_script_hash=context.page_script_hash,
            cached_message_hashes=context.cached_message_hashes,
            context_info=context.context_info,
        )
    )


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


@part(POLL)
def _poll(wait: NotReadyError) -> None:
    if wait.is_ready():
        draw_page()
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
