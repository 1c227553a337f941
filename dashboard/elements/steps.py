"""Stepping through a story: one step at a time, with Back and Next."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from dashboard.session import state


def choose(name: str, titles: Sequence[str]) -> int:
    """Draw Back, Next and where the reader is; returns the step, which the address keeps. Call it in a fragment."""
    key = f"step-{name}"
    returned = state.returned_place(key, 0)
    if returned is not None:
        state.set_session(key, returned)
    held = state.session(key)
    step = min((state.linked_place(key) or 0) if held is None else held, len(titles) - 1)
    state.link_place(key, step, 0)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            "Back", key=f"{key}-back", disabled=step == 0, on_click=_go, args=(key, step - 1), help="The step before."
        )
        st.button(
            "Next",
            key=f"{key}-next",
            type="primary",
            disabled=step == len(titles) - 1,
            on_click=_go,
            args=(key, step + 1),
            help="The next step.",
        )
        st.markdown(f"**Step {step + 1} of {len(titles)}: {titles[step]}**")
    return step


def _go(key: str, step: int) -> None:
    state.set_session(key, step)
