"""The groups of an attribute's values by hand: choose values and name their group, or type into a line per value."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from anoncore import DataError, Domain
from anoncore.base.pandas_versions import TEXT
from anoncore.table.hierarchy_draft import HierarchyDraft
from dashboard.markdown import escaped
from dashboard.session import browser, tagging

VALUE, ROWS = "Value", "Rows"
MOST_HEIGHT = 420
MOST_LEVELS = 12

Keep = Callable[[HierarchyDraft], None]


def draw(key: str, domain: Domain, rows: Sequence[int], draft: HierarchyDraft, keep: Keep) -> None:
    """Show the draft and let it be changed; `keep` gets it after every change, before the page is drawn anew.

    `rows` says how many rows have each value.
    """
    level = _level(key, draft)
    _grouping(key, domain, draft, level, keep)
    _table(key, domain, rows, draft, keep)
    with st.container(horizontal=True):
        st.button(
            "Add a level",
            key=f"raise-{key}",
            on_click=lambda: keep(draft.raised()),
            disabled=draft.n_levels >= MOST_LEVELS,
            help="A coarser level above the others: its groups join whole groups of the level below.",
        )
        st.button(
            "Remove the top level" if draft.n_levels > 1 else "Remove all groups",
            key=f"lower-{key}",
            on_click=lambda: keep(draft.lowered()),
            disabled=draft == HierarchyDraft.of(draft.values),
        )


def _level(key: str, draft: HierarchyDraft) -> int:
    """The level whose groups are being made."""
    if draft.n_levels == 1:
        return 1
    widget = f"group-level-{key}-{draft.n_levels}"
    if browser.widget_value(widget) is None:
        browser.set_widget_values({widget: 1})
    st.segmented_control(
        "Level to group on",
        range(1, draft.n_levels + 1),
        key=widget,
        required=True,
        format_func=lambda level: f"Level {level}",
        help="Level 1 groups the values themselves; each level above groups the groups of the level below.",
    )
    return int(browser.widget_value(widget))


def _grouping(key: str, domain: Domain, draft: HierarchyDraft, level: int, keep: Keep) -> None:
    try:
        below = draft.members(level - 1) if level > 1 else {}
    except DataError:
        st.caption(f"Level {level} can be grouped once the levels below it fit together.")
        return
    places = list(below.values()) if level > 1 else [[place] for place in range(len(draft.values))]
    texts = list(below) if level > 1 else [domain.text(place) for place in range(len(draft.values))]
    chosen, name = f"group-members-{key}-{level}", f"group-name-{key}-{level}"

    def members() -> list[int]:
        return [place for option in browser.widget_value(chosen, []) for place in places[option]]

    def group() -> None:
        try:
            keep(draft.grouped(members(), browser.widget_value(name, ""), level))
        except DataError as error:
            browser.put(f"group-problem-{key}", str(error))
            return
        start_again()

    def part() -> None:
        keep(draft.parted(members(), level))
        start_again()

    def start_again() -> None:
        browser.put(f"group-problem-{key}", None)
        browser.set_widget_values({chosen: [], name: ""})

    with st.form(f"group-{key}-{level}", border=False):
        st.multiselect(
            "Values that belong together" if level == 1 else f"Groups of level {level - 1} that belong together",
            range(len(places)),
            key=chosen,
            format_func=lambda option: tagging.line_of(texts[option]) if option < len(texts) else "?",
            placeholder="Choose values" if level == 1 else "Choose groups",
        )
        st.text_input(
            "Name of the group",
            key=name,
            placeholder="A new group, or one that there is",
            help="What is published instead of the values.",
        )
        with st.container(horizontal=True):
            st.form_submit_button("Group them", type="primary", on_click=group)
            st.form_submit_button(
                "Take them out", on_click=part, help="The chosen ones leave their groups and stay by themselves."
            )
    problem = browser.get(f"group-problem-{key}")
    if problem:
        st.error(escaped(problem))


def _table(key: str, domain: Domain, rows: Sequence[int], draft: HierarchyDraft, keep: Keep) -> None:
    editor = browser.editor("hierarchy-editor", f"hierarchy-{key}", draft, lambda: draft)

    def edited() -> None:
        changed = fold(editor.base, editor.edits)
        browser.keep_edited(f"hierarchy-{key}", editor, changed)
        keep(changed)

    base = editor_base(editor.base, domain, rows)
    config = st.column_config
    columns: dict[str, Any] = {
        VALUE: config.TextColumn(width=130),
        ROWS: config.NumberColumn(width=65, format="localized", help="How many rows have the value."),
    }
    for level in range(1, draft.n_levels + 1):
        help_text = "The group of the value." if level == 1 else f"The group of the group on level {level - 1}."
        columns[_column(level)] = config.TextColumn(width=130, help=f"{help_text} Empty: it stays by itself.")
    st.data_editor(
        base,
        key=editor.key,
        on_change=edited,
        hide_index=True,
        height=min(35 * (len(base) + 1) + 3, MOST_HEIGHT),
        disabled=[VALUE, ROWS],
        column_config=columns,
        alt=f"The groups of every value of {domain.name}, a column per level",
    )
    st.caption("Click a cell twice to type, or paste a block of cells. An empty cell stays with its group.")


def editor_base(draft: HierarchyDraft, domain: Domain, rows: Sequence[int]) -> pd.DataFrame:
    """The table to start from: a line per value, in the attribute's order, and a column per level."""
    frame = pd.DataFrame(
        {VALUE: [tagging.line_of(domain.text(place)) for place in range(len(draft.values))], ROWS: list(rows)}
    )
    for level in range(1, draft.n_levels + 1):
        frame[_column(level)] = pd.Series([line[level - 1] for line in draft.cells], dtype=TEXT)
    return frame


def fold(base: HierarchyDraft, edited_rows: Mapping[Any, Mapping[str, Any]]) -> HierarchyDraft:
    """The draft after all edits since the table showed `base`."""
    levels = {_column(level): level for level in range(1, base.n_levels + 1)}
    return base.typed(
        {
            int(place): {levels[column]: text for column, text in edits.items() if column in levels}
            for place, edits in edited_rows.items()
            if int(place) < len(base.cells)
        }
    )


def _column(level: int) -> str:
    return f"Level {level}"
