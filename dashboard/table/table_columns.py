"""Part of the page Table: a row per column of the table, with what it tells about a person."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pandas as pd
import streamlit as st

from anoncore.base.texts import counted
from anoncore.table.preparation import MOST_DAYS
from anoncore.table.suggestions import Suggestion, suggest
from anoncore.table.summary import ColumnSummary, summarize
from dashboard.elements import role_questions
from dashboard.markdown import escaped
from dashboard.session import browser, compute, state, tagging
from dashboard.session.loaded_table import LoadedTable
from dashboard.session.tagging import WORDS


def render(table: LoadedTable) -> None:
    """Draw the roles and kinds of all columns, with what is suggested."""
    for place, (role, (label, meaning)) in zip(st.columns(len(WORDS)), WORDS.items(), strict=True):
        term = "" if role == tagging.LEFT_OUT else f" ({role})"
        place.caption(f"**{label}**{term}  \n{meaning}")
    suggestions = table_suggestions(table)
    _suggestion_bar(table, suggestions)
    _editor(table, suggestions)
    _unit(table)
    _prepared(table)


def summaries(table: LoadedTable) -> tuple[ColumnSummary, ...]:
    """What is in each column, computed once per table."""
    return compute.kept("summaries", (table.digest,), lambda: summarize(table.frame))


def table_suggestions(table: LoadedTable) -> tuple[Suggestion, ...]:
    """Suggested roles, computed once per table."""
    return compute.kept("suggestions", (table.digest,), lambda: suggest(table.frame, summaries(table)))


def _suggestion_bar(table: LoadedTable, suggestions: tuple[Suggestion, ...]) -> None:
    """How to begin with an untagged table; one click away, never by itself."""
    tags = state.tags()
    counts = Counter(suggestion.role.value for suggestion in suggestions if tagging.is_role(suggestion))
    wanted = tagging.with_suggestions(tags, suggestions)
    untouched = not tags.roles
    parts = [f"{label} ({counts[role]})" for role, (label, _) in WORDS.items() if counts[role]]
    with st.container(horizontal=True, vertical_alignment="center"):
        if untouched:
            what = ", ".join(parts) or "nothing that needs protection"
            st.markdown(f"No attribute is tagged yet. Names and values suggest: {what}. Check the reasons below.")
        st.button(
            "Use suggestions",
            type="primary" if untouched and parts else "secondary",
            on_click=_use_suggestions,
            args=(suggestions,),
            disabled=tags.roles == wanted.roles,
            help="Set every role that the list suggests. You can change each one afterwards.",
        )
        st.button(
            "Reset",
            on_click=state.retag,
            args=(table.suggested,),
            disabled=tags.digest == table.suggested.digest,
            help="Back to how the table was loaded: roles, kinds, orders and hierarchies.",
        )


def _use_suggestions(suggestions: tuple[Suggestion, ...]) -> None:
    state.retag(tagging.with_suggestions(state.tags(), suggestions))


def _editor(table: LoadedTable, suggestions: tuple[Suggestion, ...]) -> None:
    """Roles and kinds of all attributes; the base stays the same while the editor lives."""
    tags = state.tags()
    editor = browser.editor(
        "attribute-editor",
        "attributes",
        (table.id, tags.roles, tags.kinds),
        lambda: tagging.editor_base(tags, summaries(table), suggestions),
    )
    base = editor.base

    def edited() -> None:
        changed = tagging.fold(state.tags(), base, editor.edits)
        browser.keep_edited("attributes", editor, (table.id, changed.roles, changed.kinds))
        state.set_tags(changed)

    config = st.column_config
    st.data_editor(
        base,
        key=editor.key,
        on_change=edited,
        hide_index=True,
        height=min(35 * (len(base) + 1) + 3, 560),
        disabled=[str(name) for name in base if name not in (tagging.CHOSEN, tagging.ROLE, tagging.KIND)],
        column_config={
            tagging.CHOSEN: config.CheckboxColumn(width=70, help="Tick several columns to give them one role."),
            tagging.NAME: config.TextColumn(width=130),
            tagging.ROLE: config.SelectboxColumn(
                width=135,
                options=tagging.ROLES,
                required=True,
                help="What the attribute tells about a person.",
                format_func=lambda role: WORDS[str(role)][0],
            ),
            tagging.KIND: config.SelectboxColumn(
                width=90,
                options=tagging.KINDS,
                required=True,
                help="numeric: numbers or dates. ordinal: categories with a rank. nominal: categories without one.",
            ),
            tagging.EXAMPLES: config.TextColumn(width=130, help="The most frequent values."),
            tagging.VALUES: config.NumberColumn(width=60, format="localized", help="How many different values occur."),
            tagging.MISSING: config.NumberColumn(width=65, format="%.1f%%", help="Share of empty cells."),
            tagging.BARS: config.BarChartColumn(
                width=90, y_min=0, help="Rows per range of numbers, or per value for the 20 most frequent."
            ),
            tagging.SINGLE: config.NumberColumn(
                width=60,
                format="localized",
                help="Rows whose value no other row has, where every row counts, also of the same person.",
            ),
            tagging.HINT: config.TextColumn(width=420, help="A role that names and values suggest, and why."),
        },
        alt="Role and kind of every column, with its values and what is suggested",
    )
    _several(tagging.chosen_names(base, editor.edits))
    st.caption("Double-click a role or a kind to change it. Suggestions are hints; you know better what others know.")


def _several(names: tuple[str, ...]) -> None:
    """A button per role for the columns whose boxes are ticked."""
    if not names:
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="several"):
        st.markdown(f"{counted(len(names), 'column')} ticked:", width="content")
        for role, (label, meaning) in WORDS.items():
            st.button(label, key=f"several-{role}", on_click=role_questions.tag, args=(names, role), help=meaning)


def _unit(table: LoadedTable) -> None:
    """Which column says whose row it is, so that people are counted."""
    tags = state.tags()
    options = tagging.unit_options(tags)
    if len(options) == 1:
        return
    key = f"unit-{table.id}-{tags.unit}"
    is_open = role_questions.repeating_identifier(table, tags) is not None
    nobody = "Not said yet: rows are counted" if is_open else "Every row is another person"
    st.selectbox(
        "Whose row is it?",
        options,
        index=options.index(tags.unit),
        format_func=lambda name: nobody if name is None else name,
        key=key,
        on_change=lambda: role_questions.count_people_by(browser.widget_value(key)),
        help="The identifier that is the same in all rows of a person. Then k, l and t count different people, not "
        "rows. The column is never published.",
    )


def _prepared(table: LoadedTable) -> None:
    """Draw what is done to dates and to the unit before the table is read, where people have several rows."""
    tags = state.tags()
    if tags.unit is None:
        return
    shown = escaped(tags.unit)
    key = f"{table.id}-{tags.unit}"
    dates = [name for name in tags.kinds if pd.api.types.is_datetime64_any_dtype(table.frame[name].dtype)]
    if dates:
        with st.container(horizontal=True, vertical_alignment="bottom"):
            st.multiselect(
                "Shift dates",
                dates,
                default=[name for name in tags.shifted if name in dates],
                key=f"shifted-{key}",
                on_change=_shift,
                args=(key,),
                help="All these dates of a person are shifted by one random number of days, so that the time between "
                "them stays as it is. Who knows these times may still find a person.",
            )
            st.number_input(
                "By up to so many days",
                min_value=1,
                max_value=MOST_DAYS,
                value=tags.most_days,
                key=f"days-{key}",
                on_change=_shift,
                args=(key,),
                help="Either way, every number of days as likely as any other, 0 included.",
            )
    st.toggle(
        f"Publish a pseudonym in place of '{shown}'",
        value=tags.is_pseudonym,
        key=f"pseudonym-{key}",
        on_change=_publish,
        args=(key,),
        help="Readers then see which rows are those of one person, but not whose they are. Rows that are joined find "
        "people more easily, which every verdict counts. The key is taken away with the recipe, and is not for "
        "publication.",
    )


def _shift(key: str) -> None:
    tags = state.tags()
    shifted = tuple(browser.widget_value(f"shifted-{key}", ()))
    state.set_tags(replace(tags, shifted=shifted, most_days=int(browser.widget_value(f"days-{key}", tags.most_days))))


def _publish(key: str) -> None:
    state.set_tags(replace(state.tags(), is_pseudonym=bool(browser.widget_value(f"pseudonym-{key}", False))))
