"""Part of the board: the certificate of a release that was made elsewhere, checked apart from the server."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from anoncore import AnonymizationError
from dashboard.markdown import escaped
from dashboard.pages.certificates import certified
from dashboard.serving import uploads
from dashboard.session import state
from dashboard.tasks import reading


def draw(files: Sequence[tuple[str, bytes]], turn: int) -> None:
    """Offer to check the certificates that lie beside the tables; nothing where there are none."""
    certificates = certified(files)
    if not certificates:
        return
    keys = uploads.field(
        "Public keys that you trust",
        key=f"board-open-keys-{turn}",
        type=["pub"],
        accept_multiple_files=True,
        help="Files that the makers of certificates gave you; without one nobody's name is told.",
    )
    if not st.button("Check the certificate", key=f"board-open-check-{turn}"):
        return
    given = {key.name: key.getvalue().decode(errors="replace") for key in keys or ()}
    for name, content in certificates:
        about = {"name": name, "keys": given}
        try:
            found = reading.answer(
                "dashboard.pages.certificates:told_of_zip", content, name, state.workspace_id(), state.make_room, about
            )
            st.markdown(f"**{escaped(name)}**: {escaped(found)}")
        except AnonymizationError as error:
            st.warning(escaped(str(error)))
