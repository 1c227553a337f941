"""Suppression: how many rows were left out of the release of another method, and what that did to the others."""

from __future__ import annotations

import streamlit as st

from anoncore import utility
from anoncore.algorithms import Suppression
from anoncore.base.texts import share_text
from dashboard.elements import parts, routes
from dashboard.elements.parts import Tile
from dashboard.markdown import escaped
from dashboard.session import compute
from dashboard.session.workspace import Run


def render(run: Run) -> None:
    """Say what was done round by round, and set those left out beside all others."""
    algorithm = run.algorithm
    assert isinstance(algorithm, Suppression)
    rows, left_out = run.data.n_rows, int(run.release.suppressed_rows.sum())
    inner = escaped(algorithm.method.title)
    allowed = int(algorithm.max_suppression * rows)
    st.markdown(
        f"1. {inner} made a release of all {rows:,} rows.\n"
        "2. In each group some people differ from the others so much that the cells of everybody in it become wide. In "
        f"{parts.counted(algorithm.rounds, 'round')} the rows for which this is worst were left out, up to {allowed:,} "
        f"of them, and {inner} made a release of the rest each time.\n"
        "3. Of all these releases the one that loses least was published. Each row left out counts as lost completely, "
        "so leaving out rows has to pay for itself."
    )
    if not left_out:
        st.info(f"Here it did not pay: nobody is left out, and the release is that of {inner} alone.")
        return
    loss = float(compute.cached("utility.information_loss", run, utility.information_loss))
    others = max(loss * rows - left_out, 0.0) / (rows - left_out)
    parts.tiles(
        [
            Tile("Left out", f"{left_out:,}", "Rows in which others' knowledge is published as any value."),
            Tile(
                "Share left out",
                share_text(left_out / rows),
                "Of all rows.",
                f"asked: at most {share_text(algorithm.max_suppression)}",
            ),
            Tile("Loss of the others", share_text(others), "Information loss of the rows that are not left out."),
            Tile("Loss of all", share_text(loss), "Information loss, those left out counted as lost completely."),
        ]
    )
    routes.link("before_after", "See who is left out")
