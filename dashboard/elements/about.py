"""Buttons beside a name that open its page in the reference."""

from __future__ import annotations

from collections.abc import Iterable

import streamlit as st

from dashboard.elements import entries, routes
from dashboard.session import browser, state

CHOICE = "reference"
WHAT = "What is this?"


def button(key: str, label: str = WHAT, place: str = "") -> None:
    """Draw a small button that opens the reference at an entry; `place` tells two for the same entry apart."""
    entry = entries.entries()[key]
    pressed = st.button(
        f":blue[{label}]",
        key=f"about-{place}-{key}",
        type="tertiary",
        on_click=browser.set_widget_values,
        args=({CHOICE: key},),
        help=f"{entry.title} in the reference: what it is, what it assumes, when to use it.",
    )
    if pressed:
        st.switch_page(routes.page("reference"), query_params=state.address())


def heading(title: str, key: str) -> None:
    """A subheader with the button beside it."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.subheader(title, width="content")
        button(key)


def several(label: str, keys: Iterable[str], place: str) -> None:
    """The names of several entries, each a button, folded away under a label."""
    with st.expander(label), st.container(horizontal=True):
        for key in keys:
            button(key, entries.entries()[key].title, place)
