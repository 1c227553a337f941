"""What a tab asks for that shows an attack on secrets: which secret, and from which belief on it is given away."""

from __future__ import annotations

import streamlit as st

from dashboard.elements import parts
from dashboard.session import state
from dashboard.session.workspace import Run


def attacked(run: Run, name: str, why: str) -> str | None:
    """The sensitive attribute that somebody chose; None, and the reason on the page, where none can be attacked.

    `name` tells the tabs apart, and `why` is what needs rows of people, as half a sentence.
    """
    names = [attribute for attribute in run.data.sensitive if attribute in run.release.attributes]
    if not names:
        st.info("The attack is on a sensitive attribute, and this release publishes none.")
        return None
    if parts.says_why_nobodys(run, why):
        return None
    return parts.choice("Sensitive attribute", names, f"{name}-attribute-{run.id}", "What the adversary is after.")


def board_r(run: Run) -> float:
    """The r of the board, so that both tell the same; else the method's own l, and 2 without one."""
    wishes = state.workspace().wishes
    if wishes is not None:
        return float(wishes.r)
    asked = getattr(run.algorithm, "l", None)
    return float(asked) if isinstance(asked, int | float) and asked > 1 else 2.0
