"""Parts of a page that are drawn again without the rest of it, and how such a part has the whole page drawn anew."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, NoReturn, ParamSpec

import streamlit as st
from streamlit.runtime.scriptrunner import RerunData, RerunException, get_script_run_ctx

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
