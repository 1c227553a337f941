"""Part of the page Table: a change of one tag, which is made only if the table can then be read."""

from __future__ import annotations

from anoncore import AnonymizationError, Hierarchy, Kind
from dashboard.session import state
from dashboard.session.loaded_table import Tags

_PROBLEM = "detail_problem"


def problem(name: str) -> str:
    """Why the last change of an attribute was refused; empty where it was not."""
    held = state.session(_PROBLEM)
    return held[1] if held is not None and held[0] == name else ""


def refuse(name: str, reason: object) -> None:
    """Keep the sentence that says why nothing was changed."""
    state.set_session(_PROBLEM, (name, f"{reason} Nothing was changed."))


def apply(name: str, part: str, value: object) -> None:
    """Set or remove one tag of the attribute if the table can be read so; else keep the reason."""
    try:
        change(name, part, value)
    except AnonymizationError as error:
        refuse(name, error)


def change(name: str, part: str, value: object) -> None:
    """Set or remove one tag of the attribute. Raises AnonymizationError if the table cannot be read so."""
    candidate = state.tags().changed(part, name, value)
    try:
        state.microdata(candidate)
    except AnonymizationError:
        candidate = _reordered(candidate, name)
        state.microdata(candidate)
    state.set_session(_PROBLEM, None)
    state.set_tags(candidate)


def _reordered(tags: Tags, name: str) -> Tags:
    """The tags without the order of an attribute whose order means nothing, so that it follows a new hierarchy."""
    is_new = isinstance(tags.hierarchies.get(name), Hierarchy) and tags.orders == state.tags().orders
    if not is_new or tags.kinds[name] != Kind.NOMINAL:
        return tags
    return tags.changed("orders", name, None)
