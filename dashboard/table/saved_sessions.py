"""Part of the page Table: save the session to one file, and open one again."""

from __future__ import annotations

import streamlit as st

from anoncore import AnonymizationError
from anoncore.base.texts import listing
from dashboard.markdown import escaped
from dashboard.serving import audit, uploads
from dashboard.session import browser, state
from dashboard.session.workspace import Workspace
from dashboard.table import table_source

FILE_NAME = "session.anoncore"
_TURN, _PROBLEM = "session_turn", "session_problem"


def render() -> None:
    """Draw the expander."""
    problem = browser.get(_PROBLEM)
    # The file is made outside the page's thread, where nobody knows whose session it is.
    here = state.workspace()
    with st.expander("Save this session, or open a saved one", expanded=bool(problem)):
        if problem:
            st.error(escaped(problem))
        left, right = st.columns(2, gap="large")
        with left:
            st.download_button(
                "Save this session",
                data=audit.taken_away(here.who, "session", lambda: _content(here)),
                file_name=FILE_NAME,
                mime="application/octet-stream",
                key="save-session",
                on_click="ignore",
                help="One file with the table, its tags, and the board with its releases, to go on later or "
                "on another machine.",
            )
            st.caption("The file holds the original table and the seeds of the releases. Keep it as safe as the table.")
            _unrepeatable()
        with right:
            file = uploads.field(
                "Open a saved session",
                type=["anoncore"],
                key=f"session-upload-{browser.get(_TURN, 0)}",
                help="Its table, its tags and its board replace those of now.",
            )
            if file is not None:
                with st.spinner("Opening the session …"):
                    _open(file.getvalue())


def _unrepeatable() -> None:
    """Say which releases the file cannot bring back, because nothing can draw the same noise twice."""
    drawn = {
        run.algorithm.title for run in state.runs() if run.algorithm is not None and not run.algorithm.is_repeatable
    }
    if drawn:
        st.caption(
            f"Tables of {escaped(listing(sorted(drawn)))} are not in it, and no seed makes them again: opened, the "
            "board draws other ones. Take the tables themselves away on the page Publish first."
        )


def _content(here: Workspace) -> bytes:
    try:
        # It takes half a second to import, for which no page must wait that only might save.
        from dashboard.session import session_file

        return session_file.save(here)
    except AnonymizationError as error:
        # The browser is waiting for a file: it gets the sentence in one.
        return str(error).encode()


def _open(content: bytes) -> None:
    """Open the session and draw the whole page anew, with what went wrong."""

    def load() -> None:
        n_runs = state.open_session(content)
        state.workspace().notices.append(
            f"The session is open; {n_runs} {'release' if n_runs == 1 else 'releases'} came with it."
        )

    browser.put(_PROBLEM, table_source.problem_of(load, "session", "Nothing was changed."))
    browser.put(_TURN, browser.get(_TURN, 0) + 1)
    st.rerun()
