"""What one browser session holds: values of widgets, what is open on a page, and the places in its address."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

_COLUMN, _ROW, _NAMED = "column", "cell", "named_cell"


def is_history_navigation() -> bool:
    """Whether the page is drawn because the visitor went back or forward in the browser.

    A change may be on its way while the address still names the step before it, so the address alone does not tell.
    """
    context = get_script_run_ctx(suppress_warning=True)
    return context is not None and context.is_history_navigation


def get(name: str, default: Any = None) -> Any:
    """A value that only this browser session has, such as which editor is open."""
    return st.session_state.get(f"_{name}", default)


def put(name: str, value: Any) -> None:
    """Keep a value for this browser session."""
    st.session_state[f"_{name}"] = value


def editor_turn() -> int:
    """How often the editors of columns were made anew; part of their keys."""
    turn: int = get("editor_turn", 0)
    return turn


def renew_editors() -> None:
    """Make the editors of columns anew, which else keep what was typed into them."""
    put("editor_turn", editor_turn() + 1)


@dataclass(frozen=True, eq=False)
class Editor:
    """A table that is edited, between two fresh starts: the key of its widget, what it started from, and what all edits
    have made of that.
    """

    key: str
    base: Any
    value: Any

    @property
    def edits(self) -> Mapping[Any, Mapping[str, Any]]:
        """The cells that were edited, by the places of their rows."""
        found: Mapping[Any, Mapping[str, Any]] = widget_value(self.key, {}).get("edited_rows", {})
        return found


def editor(kind: str, name: str, value: Any, base: Callable[[], Any]) -> Editor:
    """The editor of that name; a new one whenever another value came from elsewhere, or it was off the page. The key of
    its widget begins with the `kind`.
    """
    held: Editor | None = get(f"{name}-editor")
    if held is None or held.value != value or widget_value(held.key) is None:
        number = get("editors", 0) + 1
        put("editors", number)
        held = Editor(f"{kind}-{number}", base(), value)
        put(f"{name}-editor", held)
    return held


def keep_edited(name: str, held: Editor, value: Any) -> None:
    """Note what the edits have made of a value, so that the editor goes on with it."""
    put(f"{name}-editor", replace(held, value=value))


def give_way() -> None:
    """End this draw of the page here if the visitor has changed something since it began; called while it waits."""
    # Streamlit looks for such a change whenever the state of a session is read.
    get("")


def widget_value(key: str, default: Any = None) -> Any:
    """The value of a widget by its key; for callbacks."""
    return st.session_state.get(key, default)


def set_widget_values(values: Mapping[str, Any]) -> None:
    """Set widgets by key; only before they are drawn, as callbacks do."""
    for key, value in values.items():
        st.session_state[key] = value


def widget_showing(name: str, value: Any, choices: Collection[Any] = ()) -> str:
    """The key of a widget that shows a value which something else may have changed; only before it is drawn.

    A widget that shows the value already keeps its key. Where it must show another value, or offer other `choices`, it
    becomes another widget with a new key. Where the widget says its choices in words, these belong to `choices`: the
    browser names a choice by its words, and one that is no longer said so would become the first. Until the browser has
    received the change, every request that it sends still holds the earlier value, which looks as if somebody had
    chosen it again. With a new key such a request is about the earlier widget, and callbacks ignore it (`is_on_page`).
    The key is new also where an earlier value comes back: Streamlit sends no value for a key that the browser already
    has, so the field would be shown empty.

    The widget needs a `persist_state`. Without it, Streamlit tells the browser a value only in the draw that set it. A
    browser that is slower than the next draw never hears of it, shows the default, and sends that back as if somebody
    had chosen it.
    """
    offered = tuple(choices)
    turn, offered_before = get(f"showing-{name}", (0, offered))
    key = f"{name}-{turn}"
    if key not in st.session_state or st.session_state[key] != value or offered_before != offered:
        turn += 1
        key = f"{name}-{turn}"
        st.session_state[key] = value
    put(f"showing-{name}", (turn, offered))
    return key


def is_on_page(key: str) -> bool:
    """Whether a key that `widget_showing` gave is still that of the widget; callbacks ignore earlier ones."""
    name, _, turn = key.rpartition("-")
    return bool(get(f"showing-{name}", (0, ()))[0] == int(turn))


def drop_widgets(prefix: str) -> None:
    """Forget the widgets whose key begins so; they start anew from their defaults."""
    for key in [key for key in st.session_state if str(key).startswith(prefix)]:
        del st.session_state[key]


def linked_place(key: str) -> int | None:
    """The place among its options that the address asks for a choice, or None."""
    text = st.query_params.get(_link_name(key), "")
    return int(text) if text.isdecimal() and len(text) < 6 else None


def returned_place(key: str, usual: int) -> int | None:
    """The place of a choice to which the visitor went back or forward in the browser, None where they did not."""
    if not is_history_navigation():
        return None
    place = linked_place(key)
    return usual if place is None else place


def link_place(key: str, place: int, usual: int) -> None:
    """Put the place of what is chosen into the address, so that the same view can be opened again.

    The address never holds names or values of a table, so a choice is a number there under a name that tells nothing.
    """
    name = _link_name(key)
    if place == usual:
        if name in st.query_params:
            del st.query_params[name]
    elif st.query_params.get(name) != str(place):
        st.query_params[name] = str(place)


def named_cell() -> tuple[str, str] | None:
    """The column of the board and the row, perhaps empty, whose closer look the address names; None where it names none
    or this one is shown.
    """
    column, row = st.query_params.get(_COLUMN, ""), st.query_params.get(_ROW, "")
    return None if not column or (column, row) == get(_NAMED) else (column, row)


def name_cell(column: str, row: str = "") -> dict[str, str]:
    """Let the address that is shown be taken for that of a cell, and say what an address of it holds."""
    put(_NAMED, (column, row))
    return {_COLUMN: column, **({_ROW: row} if row else {})}


def name_column(column: str) -> None:
    """Let the address of a closer look name another column."""
    if _COLUMN in st.query_params:
        st.query_params.update(name_cell(column, st.query_params.get(_ROW, "")))


def leave_cell() -> None:
    """Let the address name no cell any more, as something else is shown than what a click on it opens."""
    if _ROW in st.query_params:
        name_cell(st.query_params.get(_COLUMN, ""))
        del st.query_params[_ROW]


def _link_name(key: str) -> str:
    return "v" + sha256(key.encode()).hexdigest()[:6]
