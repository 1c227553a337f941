"""Entry of the browser page: which pages there are, whose workspace this is, and which run is shown."""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
if str(HERE.parent) not in sys.path:
    # Streamlit puts the folder of this file on the path; the packages lie beside it.
    sys.path.insert(0, str(HERE.parent))

import streamlit as st  # noqa: E402

from dashboard.board import making  # noqa: E402
from dashboard.closer import cells  # noqa: E402
from dashboard.elements import routes  # noqa: E402
from dashboard.markdown import escaped  # noqa: E402
from dashboard.process import launch  # noqa: E402
from dashboard.serving import access  # noqa: E402
from dashboard.session import compute, state  # noqa: E402
from dashboard.tasks import redrawing, warmup  # noqa: E402


def main() -> None:
    """Draw the frame around every page, then the page."""
    launch.begin_beside_pages()
    if not access.admit():
        st.navigation(routes.pages(), position="hidden")
        st.set_page_config(page_title="anoncore", page_icon=str(HERE / "icon.svg"))
        return
    state.follow_address()
    compute.begin_page()
    chosen = st.navigation(routes.pages(), position="top")
    if chosen.url_path in routes.MOVED:
        chosen.run()
    route = routes.route(chosen.url_path or routes.ROUTES[0].name)
    if route.name != routes.sections()[route.section][0].name:
        # The entry of a section leads to that of its pages on which the visitor is, so that it is marked as current.
        chosen = st.navigation(routes.pages(route.name), position="top")
    st.set_page_config(
        page_title=f"{route.title} · anoncore",
        page_icon=str(HERE / "icon.svg"),
        layout="wide",
        initial_sidebar_state="auto",
    )
    st.html(HERE / "page.css")
    if route.section in routes.OF_A_RELEASE or access.is_signed_in():
        with st.sidebar:
            _table()
            access.render()
    if state.is_lost(route.name):
        st.warning(
            "The workspace in this address is gone, because the program was restarted or other work took its place. "
            "A new one was started with the first built-in table."
        )
    if state.is_foreign(route.name):
        st.error("The workspace in this address belongs to somebody else, so it is not shown. This one is yours.")
    routes.tabs(route.name)
    if route.name != "board":
        making.leave_board(route.section in routes.OF_A_RELEASE)
        st.title(route.title)
        if route.section in routes.OF_A_RELEASE:
            cells.follow_address(route.name)
    chosen.run()
    if redrawing.is_drawn_whole():
        compute.end_page()
    # At the end of a page, so that an interrupted drawing keeps it for the next.
    here = state.workspace()
    while here.notices:
        st.toast(escaped(here.notices[0]))
        del here.notices[0]
    warmup.set_drawn()


def _table() -> None:
    """The loaded table and its size, beside the pages."""
    table = state.table()
    if table is not None:
        st.caption("Table")
        st.markdown(f"**{escaped(table.name)}**  \n{len(table.frame):,} rows, {table.frame.shape[1]} columns")


main()
