"""What a click on a cell of the board opens: the page that looks closer, which shows first the number of the cell."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

import streamlit as st

from anoncore import Microdata
from dashboard.board import grid
from dashboard.board.facts import CLASSIFIER
from dashboard.board.wording import PAGES
from dashboard.session import browser, state
from dashboard.session.wishes import Wishes
from dashboard.session.workspace import Run

TABS = MappingProxyType({"given": "Foreground knowledge", "lost": "Information loss", "predictable": "Predictions"})
"""The tab that is open there, where the page has several."""


def follow_address(page: str) -> None:
    """Show the column and the cell that the address of a page names, where it was opened in another tab, or the visitor
    went back. Call it before anything of the page is drawn.

    Of a column that is no longer on the board, the page says so.
    """
    named, wishes = browser.named_cell(), state.workspace().wishes
    if named is None or wishes is None:
        return
    column, row = named
    run = next((run for run in state.runs() if run.column == column), None)
    if run is None:
        if wishes.column(column) is None:
            st.info("The release that this address names is no longer on the board; another one is shown.")
        return
    browser.name_cell(column, row)
    state.select_run(run.id)
    if PAGES.get(row) == page:
        grid.keep_clicked(row, column, wishes)
        enter(row, run, wishes, run.data)


def enter(row: str, run: Run, wishes: Wishes, data: Microdata) -> str:
    """Let the page behind a row ask what the board asks (adversary, attributes, classifier), and return its name.

    Call it before anything of that page is drawn.
    """
    # The board, which is the first page, imports neither of them.
    from dashboard.closer import foreground, utility

    secret, target = wishes.secret_of(data), wishes.target_of(data)
    shown: dict[str, Any] = {}
    if secret is not None:
        shown |= dict.fromkeys(("privacy-attribute", "closeness-attribute", "class-attribute"), secret)
    if row == "given" and secret is not None:
        shown |= foreground.asked_on_board(run, secret, wishes.r)
    if row == "predictable" and target is not None:
        shown |= {"utility-target": target, "utility-classifier": CLASSIFIER}
        utility.train(run, target, CLASSIFIER)
    if row in TABS:
        name = {"given": "attack"}.get(row, "utility-tab")
        tab = TABS[row]
        if row == "given" and grid.given_by_another(run, wishes) is not None:
            tab = "All attacks"
        browser.put(name, tab)
        shown[f"tabs-{name}"] = tab
    browser.set_widget_values(shown)
    return PAGES[row]
