"""A page that waits says so where it is being drawn, and takes that back; threads that draw nothing say nothing."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest

from dashboard import waiting


def _page() -> None:
    import streamlit as st

    from dashboard import waiting

    with waiting.told("Compiling") as tell:
        if st.session_state.get("is_slow"):
            tell()
            tell()
            if st.session_state.get("is_stuck"):
                st.stop()
    st.title("done")


def test_a_page_says_that_it_waits_and_takes_it_back() -> None:
    page = AppTest.from_function(_page)
    page.session_state["is_slow"] = page.session_state["is_stuck"] = True
    page.run()
    assert [one.value for one in page.caption] == ["Compiling"]
    page.session_state["is_stuck"] = False
    page.run()
    assert [one.value for one in page.caption] == []
    assert page.title[0].value == "done"


def test_a_page_that_need_not_wait_says_nothing() -> None:
    page = AppTest.from_function(_page).run()
    assert [one.value for one in page.caption] == []
    assert page.title[0].value == "done"


def test_a_thread_that_draws_no_page_says_nothing() -> None:
    assert not waiting.is_page()
    with waiting.told("Compiling") as tell:
        tell()
