"""A page that waits says so where it is being drawn, and takes that back; threads that draw nothing say nothing."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from anoncore import attacks
from dashboard.tasks import redrawing
from tests.dashboard.conftest import Visitor


def _page() -> None:
    import streamlit as st

    from dashboard.tasks import redrawing

    with redrawing.told("Compiling") as tell:
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
    assert not redrawing.is_page()
    with redrawing.told("Compiling") as tell:
        tell()


def _early() -> None:
    import streamlit as st

    from dashboard.tasks import redrawing

    with redrawing.page_ends_early():
        st.title("above")
        assert redrawing.may_end_early()
        try:
            if not st.session_state.get("is_there"):
                raise redrawing.NotReadyError("Compiling", lambda: bool(st.session_state.get("is_there")))
        except Exception:
            st.error("nobody takes it for an error")
        st.header("below")
    assert not redrawing.may_end_early()


def test_a_page_that_would_wait_ends_and_is_drawn_whole_once_it_need_not() -> None:
    page = AppTest.from_function(_early).run()
    assert not page.exception
    assert ([one.value for one in page.title], [one.value for one in page.caption]) == (["above"], ["Compiling"])
    assert not page.error
    assert not page.header
    page.session_state["is_there"] = True
    page.run()
    assert ([one.value for one in page.header], list(page.caption)) == (["below"], [])


def test_a_lesson_that_needs_the_compiler_stands_with_its_title_and_comes_later(
    visitor: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    measure: Callable[..., object] = attacks.reidentification

    def compiling(*arguments: object, **named: object) -> object:
        raise redrawing.NotReadyError("Compiling", lambda: False)

    monkeypatch.setattr(attacks, "reidentification", compiling)
    visitor.at.query_params["lesson"] = "linking.1"
    visitor.open("learn")
    assert [one.value for one in visitor.at.title] == ["Learn"]
    assert "Compiling" in [one.value for one in visitor.at.caption]
    monkeypatch.setattr(attacks, "reidentification", measure)
    visitor.run()
    assert "Compiling" not in [one.value for one in visitor.at.caption]
    assert "People who fit" in [one.label for one in visitor.at.metric]
