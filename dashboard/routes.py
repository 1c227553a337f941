"""The pages, by name, and links to them that keep the workspace in the address."""

from __future__ import annotations

import importlib
import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import streamlit as st

from anoncore import AnonymizationError
from dashboard import state
from dashboard.markdown import escaped

_logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Route:
    """One page: the module `dashboard.views.<name>` renders it."""

    name: str
    title: str
    section: str
    help: str


ROUTES = (
    Route("data", "Data", "Prepare", "Load a table and see what is in it."),
    Route(
        "large",
        "Large table",
        "Prepare",
        "Explore a sample of a table on this machine, and run its recipe on all rows.",
    ),
    Route("attributes", "Attributes", "Prepare", "Say what each column tells about a person."),
    Route("anonymize", "Anonymize", "Prepare", "Choose a method and its parameters, and run it."),
    Route(
        "choose", "Choose k", "Prepare", "Weigh privacy loss against information loss over k, and take the best one."
    ),
    Route("classes", "Classes", "Judge", "The groups of rows that nobody can tell apart."),
    Route("before_after", "Before and after", "Judge", "Input rows beside output rows, and what became of values."),
    Route("method", "Method", "Judge", "How the release was made, step by step."),
    Route("privacy", "Privacy", "Judge", "What the release protects, and whether that is what was asked."),
    Route(
        "closeness", "Closeness", "Judge", "How far each class is from the table, and the mass that would have to move."
    ),
    Route("attack", "Attack", "Judge", "What an adversary gets who reads the whole release."),
    Route("utility", "Utility", "Judge", "What the release costs in information."),
    Route("explain", "Explain", "Judge", "Why it is not finer, and whether it would keep something more."),
    Route("compare", "Compare", "Explore", "Two to six runs side by side."),
    Route("sweep", "Sweep", "Explore", "Many methods and parameters at once, and what they trade for what."),
    Route("targets", "Choose", "Explore", "State what a release must reach, and find the one that costs least."),
    Route("export", "Export", "Publish", "Take the release, a certificate and a recipe with you."),
    Route("learn", "Learn", "Learn", "The attacks and the methods on small tables, step by step."),
    Route("reference", "Reference", "Learn", "What every method, requirement, attack and number is, and its source."),
    Route("book", "Reproduction", "Learn", "Every figure and table of the papers, held against our own runs."),
)
_BY_NAME = {route.name: route for route in ROUTES}


def page(name: str) -> Any:
    """The page of that name, as navigation and links want it."""
    route = _BY_NAME[name]
    return st.Page(_renderer(name), title=route.title, url_path=name, default=route is ROUTES[0], help=route.help)


def pages() -> dict[str, list[Any]]:
    """All pages by section, for the navigation."""
    sections: dict[str, list[Any]] = {}
    for route in ROUTES:
        sections.setdefault(route.section, []).append(page(route.name))
    return sections


def link(name: str, label: str | None = None, help: str | None = None) -> None:
    """Draw a link to a page, e.g. `routes.link("anonymize", "Run an algorithm")`."""
    st.page_link(page(name), label=label, help=help, query_params={state.URL_PARAMETER: state.workspace_id()})


def button(name: str, label: str, primary: bool = False, help: str | None = None) -> None:
    """Draw a button that leads to a page: for the one step that comes next."""
    if st.button(label, key=f"to-{name}", type="primary" if primary else "secondary", help=help):
        st.switch_page(page(name), query_params={state.URL_PARAMETER: state.workspace_id()})


def _renderer(name: str) -> Callable[[], None]:
    def render() -> None:
        view = importlib.import_module(f"dashboard.views.{name}")
        try:
            view.render()
        except AnonymizationError as error:
            st.error(escaped(str(error)))
            if name != "data":
                link("attributes", "Change how attributes are read")

    render.__name__ = name
    return render
