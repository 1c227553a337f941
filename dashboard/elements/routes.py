"""The pages, by name, and links to them that keep the workspace in the address."""

from __future__ import annotations

import importlib
import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import streamlit as st

from anoncore import AnonymizationError
from dashboard.markdown import escaped, reason
from dashboard.session import state
from dashboard.tasks import redrawing

_logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Route:
    """One page: the module of its name renders it, in the room of its section."""

    name: str
    title: str
    section: str
    help: str


ROUTES = (
    Route("board", "Board", "Board", "Say what you ask for, and see every method side by side."),
    Route("table", "Table", "Table", "Load a table, and say what each of its columns tells about a person."),
    Route("groups", "Groups", "Look closer", "The groups of rows that nobody can tell apart."),
    Route(
        "before_after", "Before and after", "Look closer", "What the release changed: rows, distributions, and pairs."
    ),
    Route("privacy", "Privacy", "Look closer", "What the release protects, and whether that is what was asked."),
    Route(
        "closeness",
        "Closeness",
        "Look closer",
        "How far each group is from the table, and the mass that would have to move.",
    ),
    Route("attack", "Attack", "Look closer", "What an adversary gets who reads the whole release."),
    Route("utility", "Utility", "Look closer", "What the release costs in information."),
    Route("explain", "Explain", "Look closer", "Why it is not finer, and whether it would keep something more."),
    Route("method", "Method", "Look closer", "How the release was made, step by step."),
    Route("one_person", "One person", "Look closer", "What every release tells about the same row."),
    Route("publish", "Publish", "Publish", "Take the release, a certificate and a recipe with you."),
    Route("learn", "Learn", "Learn", "The attacks and the methods on small tables, step by step."),
    Route(
        "reference",
        "Reference",
        "Reference",
        "What every method, requirement, attack and number is, and its source.",
    ),
    Route("book", "Reproduction", "Reproduction", "Every figure and table of the papers, held against our own runs."),
)
ROOMS = {"Table": "table", "Look closer": "closer", "Learn": "learn", "Reference": "learn"}
"""The rooms of the sections' pages, all others have `views`: Streamlit takes a folder `pages` for a list of its own."""
OF_A_RELEASE = frozenset({"Look closer", "Publish"})
"""The sections whose pages show releases of the board."""
MOVED = {
    **dict.fromkeys(("anonymize", "compare", "sweep", "targets", "choose"), "board"),
    **dict.fromkeys(("data", "attributes", "large"), "table"),
    "export": "publish",
    "classes": "groups",
}
"""The pages of before by the names in their addresses, and those that do now what they did."""
_BY_NAME = {route.name: route for route in ROUTES}


def route(name: str) -> Route:
    """What is known of a page by its name, which is its path in the address."""
    return _BY_NAME[name]


def page(name: str) -> Any:
    """The page of that name, as links want it."""
    return _page(route(name), route(name).title, "hidden")


def pages(current: str = "") -> list[Any]:
    """All pages for the navigation, which shows one entry per section: the current page of it, else its first one."""
    entries = {section: group[0].name for section, group in sections().items()}
    if current:
        entries[route(current).section] = current
    return [
        _page(one, one.section, "visible") if entries[one.section] == one.name else _page(one, one.title, "hidden")
        for one in ROUTES
    ] + [st.Page(_follow(name), title=name, url_path=name, visibility="hidden") for name in MOVED]


def sections() -> dict[str, list[Route]]:
    """The pages by the entry of the navigation under which they stand."""
    found: dict[str, list[Route]] = {}
    for one in ROUTES:
        found.setdefault(one.section, []).append(one)
    return found


def tabs(current: str) -> None:
    """Draw links to the pages of the same section, where there are several."""
    group = sections()[route(current).section]
    if len(group) > 1:
        with st.container(horizontal=True, gap="small", key="section-tabs"):
            for one in group:
                link(one.name, f"**{one.title}**" if one.name == current else one.title, one.help)


def _page(one: Route, title: str, visibility: Literal["visible", "hidden"]) -> Any:
    return st.Page(
        _renderer(one.name),
        title=title,
        url_path=one.name,
        default=one is ROUTES[0],
        visibility=visibility,
    )


def link(name: str, label: str | None = None, help: str | None = None) -> None:
    """Draw a link to a page, e.g. `routes.link("board", "Go to the board")`."""
    st.page_link(page(name), label=label, help=help, query_params=state.address())


def button(name: str, label: str, primary: bool = False, help: str | None = None) -> None:
    """Draw a button that leads to a page: for the one step that comes next."""
    if st.button(label, key=f"to-{name}", type="primary" if primary else "secondary", help=help):
        st.switch_page(page(name), query_params=state.address())


def _follow(name: str) -> Callable[[], None]:
    """Lead from the address of a page of before to the one that does now what it did."""

    def follow() -> None:
        st.switch_page(page(MOVED[name]), query_params=state.address())

    follow.__name__ = name
    return follow


def function_of(place: str) -> Callable[..., None]:
    """A function of the room of closer looks, as `module:function`; it is loaded only where it is shown."""
    module, _, name = place.partition(":")
    found: Callable[..., None] = getattr(importlib.import_module(f"dashboard.closer.{module}"), name)
    return found


def _renderer(name: str) -> Callable[[], None]:
    def render() -> None:
        view = importlib.import_module(f"dashboard.{ROOMS.get(route(name).section, 'views')}.{name}")
        try:
            with redrawing.page_ends_early():
                view.render()
        except AnonymizationError as error:
            st.error(escaped(reason(error)))
            if name != "table":
                link("table", "Change how attributes are read")

    render.__name__ = name
    return render
