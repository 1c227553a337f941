"""Which attributes belong together: the proposal of a method, and a table in which each can be put elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from anoncore import AnonymizationError
from anoncore.algorithms.attribute_proposal import AttributeProposal
from dashboard.board.fields import FieldForm
from dashboard.charts.maps import association_map, strongest_pair
from dashboard.elements import parts
from dashboard.markdown import escaped
from dashboard.session import browser
from dashboard.session.browser import Editor

Groups = tuple[tuple[str, ...], ...]
Propose = Callable[[], AttributeProposal | None]
Keep = Callable[[Groups | None], None]

NAME, PLACE, ALSO = "Attribute", "Group", "Also in"
SPARE = 3
"""Empty groups that are offered beyond those there are."""
MOST_HEIGHT = 420


def draw(
    field: FieldForm, key: str, value: Groups | None, names: Sequence[str], propose: Propose, keep: Keep
) -> Groups | None:
    """Show the groups and let them be changed; None where they are those that the method proposes.

    The proposal is asked for only while the panel is open. `keep` gets the groups after an edit, before the page is
    drawn anew. Groups that name what the table lacks are forgotten.
    """
    if value is not None and not {name for group in value for name in group} <= set(names):
        value = None
    if value is not None:
        st.caption(f"{field.title}: {len(value)} in use.")
    panel = st.expander(field.title, key=f"{key}.panel", on_change="rerun")
    if panel.open:
        with panel:
            _panel(field, key, value, names, propose, keep)
    return value


def _panel(
    field: FieldForm, key: str, value: Groups | None, names: Sequence[str], propose: Propose, keep: Keep
) -> None:
    try:
        proposal = propose()
    except AnonymizationError as error:
        st.warning(escaped(str(error)))
        proposal = None
    proposed = () if proposal is None else proposal.groups
    current = proposed if value is None else value
    if proposal is not None:
        names = [name for name in names if any(name in group for group in (*proposed, *current))]
    word = "group" if proposal is None else proposal.word
    editor = browser.editor("attribute-groups", key, current, lambda: editor_base(current, names, word))

    def edited() -> None:
        groups = fold(editor.base, editor.edits, names, word)
        browser.keep_edited(key, editor, groups)
        keep(groups if groups and groups != proposed else None)

    left, right = st.columns([2, 3], gap="medium")
    with left:
        if value is None:
            st.markdown(f"**The {word}s that the method chooses**" if proposed else "**The method chooses**")
        else:
            st.markdown(f"**The {word}s by hand**: parameters that the proposal follows from do not count.")
        _table(field, editor, word, proposal is not None and proposal.may_overlap, edited)
        st.button(
            "Use the proposal again",
            key=f"{key}.reset",
            on_click=keep,
            args=(None,),
            disabled=value is None,
            help="Forget what was changed here; the method decides by its other parameters.",
        )
    if proposal is not None:
        with right:
            _map(key, proposal, current, by_hand=value is not None)


def editor_base(groups: Groups, names: Sequence[str], word: str) -> pd.DataFrame:
    """The table to start from: a line per attribute, group by group, with the first of its groups and the others."""
    places = {name: [place for place, group in enumerate(groups, 1) if name in group] for name in names}
    order = sorted(names, key=lambda name: (places[name] or [len(groups) + 1])[0])
    return pd.DataFrame(
        {
            NAME: order,
            PLACE: [f"{word} {places[name][0]}" if places[name] else None for name in order],
            ALSO: [[f"{word} {place}" for place in places[name][1:]] for name in order],
        }
    )


def fold(base: pd.DataFrame, edited_rows: Mapping[Any, Mapping[str, Any]], names: Sequence[str], word: str) -> Groups:
    """The groups after all edits since the table showed `base`, each in the order of the names, empty ones left out."""
    members: dict[int, set[str]] = {}
    for place, (name, group, also) in enumerate(zip(base[NAME], base[PLACE], base[ALSO], strict=True)):
        edits = edited_rows.get(place, edited_rows.get(str(place), {}))
        first, others = edits.get(PLACE, group), edits.get(ALSO, also)
        for label in (*([first] if isinstance(first, str) else []), *(others or [])):
            members.setdefault(int(label.removeprefix(word)), set()).add(name)
    return tuple(tuple(name for name in names if name in members[number]) for number in sorted(members))


def _table(field: FieldForm, editor: Editor, word: str, may_overlap: bool, edited: Callable[[], None]) -> None:
    count = max(len(editor.value) + SPARE, 2)
    options = [f"{word} {number}" for number in range(1, min(count, len(editor.base)) + 1)]
    config = st.column_config
    columns: dict[str, Any] = {
        NAME: config.TextColumn(width=112),
        PLACE: config.SelectboxColumn(word.capitalize(), width=86, options=options, help=field.help),
        ALSO: config.MultiselectColumn(
            width=96, options=options, help=f"Further {word}s that publish the attribute as well; they then overlap."
        ),
    }
    if not may_overlap:
        columns[ALSO] = None
    st.data_editor(
        editor.base,
        key=editor.key,
        on_change=edited,
        hide_index=True,
        height=min(35 * (len(editor.base) + 1) + 3, MOST_HEIGHT),
        disabled=[NAME],
        column_config=columns,
        alt=f"The {word} of every attribute",
    )
    st.caption(f"Click a {word} twice to put the attribute elsewhere; an unused {word} starts a new one.")


def _map(key: str, proposal: AttributeProposal, current: Groups, by_hand: bool) -> None:
    centres = () if by_hand else proposal.centres
    named = ", ".join(escaped(name) for name in centres if name)
    built = f", built around the {proposal.centre_word}s {named}" if named else ""
    parts.chart(
        association_map(proposal.association, current, proposal.measure, proposal.word, centres),
        f"attribute-groups-map-{key}",
        f"{proposal.measure[0].upper()}{proposal.measure[1:]} of every pair of attributes. {proposal.meaning} "
        f"Framed: the {proposal.word}s{built}.",
        f"Heat map of {proposal.measure} of {len(proposal.association)} attributes in {len(current)} "
        f"{proposal.word}s. {strongest_pair(proposal.association)}",
    )
