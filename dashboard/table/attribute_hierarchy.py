"""Part of the page Table: the hierarchy of one attribute, ready-made, from a file or by hand, and what it does."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import streamlit as st

from anoncore import AnonymizationError, DataError, Domain, Hierarchy, Kind, Microdata, Role
from anoncore.base.typed_values import Key, ValueMapping, value_key
from anoncore.table.hierarchy_defaults import (
    CALENDAR,
    GRID,
    SHARES,
    calendar_hierarchy,
    frequency_hierarchy,
    grid_hierarchy,
    neighbour_hierarchy,
    prefix_hierarchy,
)
from anoncore.table.hierarchy_draft import HierarchyDraft
from anoncore.table.hierarchy_files import hierarchy_text
from anoncore.table.hierarchy_proposals import (
    USUAL_GROUPS,
    HierarchyForm,
    default_hierarchy,
    fitting_forms,
    usual_width,
    values_of_rows,
)
from anoncore.table.level_effects import level_effects
from dashboard.charts.utility import hierarchy_levels
from dashboard.elements import parts
from dashboard.markdown import escaped
from dashboard.serving import access
from dashboard.session import browser, compute, state, tagging
from dashboard.session.loaded_table import LoadedTable, Tags, hierarchy_digest
from dashboard.table import hierarchy_editor as editor
from dashboard.tasks import reading

TITLES = {
    HierarchyForm.CALENDAR: "calendar",
    HierarchyForm.PREFIX: "first characters",
    HierarchyForm.GRID: "grid",
    HierarchyForm.WIDTH: "equal width",
    HierarchyForm.QUANTILES: "equal number of rows",
    HierarchyForm.NEIGHBOURS: "neighbours",
    HierarchyForm.FREQUENCY: "rare values together",
    HierarchyForm.LETTER: "first letter",
}
FORM_OF = {title: form for form, title in TITLES.items()}
MOST_LENGTHS = 12
SHARE_OPTIONS = (0.01, 0.02, 0.05, 0.1, 0.2)
GRID_OPTIONS = (0.001, *GRID)
_PROBLEM = "detail_problem"
NONE, BUILTIN, HAND, FILE = "none", "came with the table", "by hand", "from a file"
MOST_EDITED = 1_000
MOST_FILE_BYTES = 20 << 20
USUAL_K = 5


@dataclass(frozen=True, eq=False)
class Held:
    """What is typed for an attribute, the digest of the hierarchy that the table uses, and why that is another one."""

    draft: HierarchyDraft
    digest: str
    problem: str = ""


def choose(table: LoadedTable, data: Microdata, key: str, name: str) -> None:
    """Draw the choice of where the hierarchy comes from, with the parameters of the chosen form."""
    st.markdown("**Hierarchy**", help="Ever coarser groups of values. Methods generalize along it where there is one.")
    domain = data.domain[name]
    builtin = table.suggested.hierarchies.get(name) if table.builtin else None
    titles = [TITLES[form] for form in fitting_forms(domain)]
    options = [NONE, *([BUILTIN] if builtin else []), *titles, HAND, FILE]
    widget = f"hierarchy-{key}"
    if browser.widget_value(widget) is None:
        browser.set_widget_values({widget: _source(table, name, data.hierarchies.get(name), builtin, options)})
    st.pills(
        "Hierarchy",
        options,
        key=widget,
        required=True,
        wrap=True,
        label_visibility="collapsed",
        on_change=_choose_source,
        args=(widget, table, name, data, builtin),
    )
    source = browser.widget_value(widget)
    if source in FORM_OF:
        _draw_ready_made(FORM_OF[source], key, name, data)
    elif source == FILE:
        _file(key, table, name)
    elif source == NONE:
        st.caption("No hierarchy: numbers become ranges, categories become sets of values.")


def details(table: LoadedTable, data: Microdata, key: str, name: str) -> None:
    """Draw the groups of every value, to be changed by hand, beside what each level does to the classes."""
    source = browser.widget_value(f"hierarchy-{key}")
    current, domain = data.hierarchies.get(name), data.domain[name]
    if source == NONE or (current is None and source != HAND) or not domain.values:
        return
    with st.container(border=True):
        left, right = st.columns([3, 2], gap="large")
        with left:
            st.markdown("**Groups**")
            _groups(table, data, key, name)
        with right:
            st.markdown("**What each level does**")
            _effects(table, data, key, name)
            _download(name, key, current)


def _groups(table: LoadedTable, data: Microdata, key: str, name: str) -> None:
    domain = data.domain[name]
    if len(domain.values) > MOST_EDITED:
        st.caption(
            f"{len(domain.values):,} values are too many to be grouped one by one here. Download the file, change it "
            "in a spreadsheet, and choose *from a file*."
        )
        return
    held = _held(table, name, domain, data.hierarchies.get(name))
    if held.problem:
        st.error(escaped(held.problem))
    rows = np.bincount(data.codes[name], minlength=len(domain))[: len(domain.values)].tolist()
    editor.draw(key, domain, rows, held.draft, lambda draft: _keep(table, name, f"hierarchy-{key}", draft))


def _held(table: LoadedTable, name: str, domain: Domain, current: Hierarchy | None) -> Held:
    """What is typed so far; the table's own hierarchy where that came from elsewhere since."""
    held: Held | None = state.forms().get(_place("draft", table, name))
    if held is None or held.digest != _digest(current) or _keys(held.draft.values) != _keys(domain.values):
        return Held(HierarchyDraft.of(domain.values, current), _digest(current))
    if held.draft.values == domain.values:
        return held
    # The groups put the values into another order.
    cells = ValueMapping(zip(held.draft.values, held.draft.cells, strict=True))
    draft = HierarchyDraft(domain.values, tuple(cells[value] for value in domain.values))
    return Held(draft, held.digest, held.problem)


def _keys(values: Sequence[Any]) -> set[Key]:
    return {value_key(value) for value in values}


def _keep(table: LoadedTable, name: str, widget: str, draft: HierarchyDraft) -> None:
    """Keep what was typed, and let the table use it if it is a hierarchy that the table takes."""
    problem = ""
    try:
        hierarchy = draft.hierarchy()
        change(name, "hierarchies", hierarchy if hierarchy.height > 1 else None)
    except AnonymizationError as error:
        problem = f"{error} What you typed stays here; until it fits, the table keeps the groups from before."
    digest = _digest(state.tags().hierarchies.get(name))
    state.forms()[_place("draft", table, name)] = Held(draft, digest, problem)
    state.forms()[_place("source", table, name)] = HAND
    browser.set_widget_values({widget: HAND})


def _effects(table: LoadedTable, data: Microdata, key: str, name: str) -> None:
    current, domain = data.hierarchies.get(name), data.domain[name]
    if current is None:
        st.caption("Nothing is grouped yet. Choose values that belong together and name their group.")
        return
    levels = hierarchy_levels(current, domain)
    config = st.column_config
    columns: dict[str, Any] = {
        "Level": config.NumberColumn(width=50),
        "Groups": config.NumberColumn(
            width=60, format="localized", help="Different values that are left on the level."
        ),
    }
    known = data.roles[name] is Role.QUASI_IDENTIFIER
    if known:
        k = st.number_input(
            "k",
            min_value=2,
            max_value=1_000,
            value=USUAL_K,
            key="level-effects-k",
            persist_state="session",
            width=160,
            help="How many rows should look alike at least.",
        )
        effects = compute.kept(
            "level_effects",
            (table.digest, state.tags().digest, name, k),
            lambda: level_effects(data, name, int(k)),
        )
        below = f"Below {k}"
        levels.insert(2, "Fewest alike", [effect.smallest for effect in effects])
        levels.insert(3, below, [100 * effect.share_below for effect in effects])
        counted = "people" if data.people is not None else "rows"
        columns["Fewest alike"] = config.NumberColumn(
            width=105, format="localized", help=f"How many {counted} look alike at least."
        )
        columns[below] = config.NumberColumn(
            width=80,
            format="%.1f%%",
            help=f"Share of the rows that look like fewer than {k} {counted}, their own included.",
        )
    if len(domain.values) > MOST_EDITED:
        columns["Called"] = config.TextColumn(width="large")
    else:
        levels = levels.drop(columns="Called")  # the groups stand beside it, value by value
    with st.container(key=f"levels-{key}"):
        parts.table(levels, f"level-table-{key}", "Levels of the hierarchy", columns=columns)
    if known:
        st.caption(
            f"If '{escaped(name)}' alone is published on a level, and the other quasi-identifiers as they are. Level 0 "
            "are the values themselves; the last level is all of them."
        )
    else:
        st.caption("Level 0 are the values themselves. Tag it as known to others to see how many rows look alike then.")


def _download(name: str, key: str, current: Hierarchy | None) -> None:
    if current is None:
        return
    try:
        content, problem = hierarchy_text(current), ""
    except DataError as error:
        content, problem = "", str(error)
    stem = re.sub(r"[^0-9A-Za-z]+", "-", name).strip("-").lower() or "attribute"
    parts.download(
        "Download as file",
        "hierarchy",
        lambda: content,
        f"hierarchy-{stem}-not-for-publication.csv",
        "text/csv",
        f"download-hierarchy-{key}",
        disabled=bool(problem),
        help=escaped(problem)
        or "A line per value: the value, then its groups up to the top. *from a file* reads it back. It holds every "
        "value of the column, so keep it, and don't publish it.",
    )


def _source(
    table: LoadedTable, name: str, current: Hierarchy | None, builtin: Hierarchy | None, options: list[str]
) -> str:
    """Where the present hierarchy came from."""
    kept = state.forms().get(_place("source", table, name))
    held: Held | None = state.forms().get(_place("draft", table, name))
    if kept == HAND and held is not None and held.digest == _digest(current):
        return HAND
    if current is None:
        return NONE
    if current is builtin:
        return BUILTIN
    return kept if kept in options and kept != NONE else FILE


def _choose_source(widget: str, table: LoadedTable, name: str, data: Microdata, builtin: Hierarchy | None) -> None:
    source = browser.widget_value(widget)
    state.forms()[_place("source", table, name)] = source
    if source == NONE:
        apply(name, "hierarchies", None)
    elif source == BUILTIN:
        apply(name, "hierarchies", builtin)
    elif source == HAND:
        current = state.tags().hierarchies.get(name)
        state.forms()[_place("draft", table, name)] = _held(table, name, data.domain[name], current)
    elif source in FORM_OF:
        take_default(FORM_OF[source], name, data)


def _file(key: str, table: LoadedTable, name: str) -> None:
    turn = browser.get("hierarchy_turn", 0)
    file = access.upload_field(
        "CSV without header: a value, then its ever coarser groups, per line",
        key=f"hierarchy-file-{turn}-{key}",
        max_upload_size=20,
        help="The form of ARX's hierarchy files, e.g. `Bachelors;Undergraduate;Higher education;*`.",
    )
    if file is None:
        return
    browser.put("hierarchy_turn", turn + 1)
    try:
        if file.size > MOST_FILE_BYTES:
            raise DataError(f"'{file.name}' is larger than 20 MB, the most that is taken for a hierarchy.")
        paths = reading.answer(
            "anoncore.table.hierarchy_files:hierarchy_paths",
            file.getvalue(),
            file.name,
            state.workspace_id(),
            state.make_room,
            {"name": file.name},
        )
        change(name, "hierarchies", Hierarchy(paths))
        state.forms().pop(_place("draft", table, name), None)
    except AnonymizationError as error:
        refuse(name, error)
    st.rerun()


def _digest(hierarchy: Hierarchy | None) -> str:
    return hierarchy_digest(hierarchy) if hierarchy is not None else ""


def _place(what: str, table: LoadedTable, name: str) -> str:
    return f"hierarchy-{what}-{table.id}-{name}"


def problem(name: str) -> str:
    """Why the last change of an attribute was refused; empty where it was not."""
    held = browser.get(_PROBLEM)
    return held[1] if held is not None and held[0] == name else ""


def refuse(name: str, reason: object) -> None:
    """Keep the sentence that says why nothing was changed."""
    browser.put(_PROBLEM, (name, f"{reason} Nothing was changed."))


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
    browser.put(_PROBLEM, None)
    state.set_tags(candidate)


def _reordered(tags: Tags, name: str) -> Tags:
    """The tags without the order of an attribute whose order means nothing, so that it follows a new hierarchy."""
    is_new = isinstance(tags.hierarchies.get(name), Hierarchy) and tags.orders == state.tags().orders
    if not is_new or tags.kinds[name] != Kind.NOMINAL:
        return tags
    return tags.changed("orders", name, None)


def _draw_ready_made(form: HierarchyForm, key: str, name: str, data: Microdata) -> None:
    """The parameters of a form; a change makes the hierarchy anew."""
    domain = data.domain[name]
    keys = {part: f"{form.value}-{part}-{key}" for part in ("levels", "size", "fanout")}
    change: dict[str, Any] = {"on_change": _set_form, "args": (form, keys, name, data)}
    if form is HierarchyForm.CALENDAR:
        _pills("Levels", list(CALENDAR), list(CALENDAR), keys["levels"], str, change)
    elif form is HierarchyForm.PREFIX:
        lengths = _lengths(domain)
        _pills("Characters that the levels keep", lengths, lengths, keys["levels"], str, change)
    elif form is HierarchyForm.GRID:
        _pills("Width of the cells in degrees", list(GRID_OPTIONS), list(GRID), keys["levels"], "{:g}".format, change)
    elif form is HierarchyForm.FREQUENCY:
        shares = list(SHARE_OPTIONS)
        _pills("Rare: below this share of the rows", shares, list(SHARES), keys["levels"], "{:.0%}".format, change)
    elif form is not HierarchyForm.LETTER:
        left, right = st.columns(2)
        with left:
            _size(form, domain, keys["size"], change)
        right.number_input(
            "Joined per level",
            min_value=2,
            max_value=20,
            value=2,
            key=keys["fanout"],
            persist_state="session",
            help="How many neighbours each level above joins.",
            **change,
        )


def _pills(
    label: str, options: list[Any], usual: list[Any], key: str, text: Callable[[Any], str], change: dict[str, Any]
) -> None:
    st.pills(
        label,
        options,
        selection_mode="multi",
        wrap=True,
        default=usual,
        key=key,
        format_func=text,
        persist_state="session",
        help="One level each. A level at which nothing is joined is left out.",
        **change,
    )


def _lengths(domain: Domain) -> list[int]:
    longest = max(len(domain.text(code)) for code in range(len(domain.values)))
    return list(range(min(longest - 1, MOST_LENGTHS), 0, -1))


def _size(form: HierarchyForm, domain: Domain, key: str, change: dict[str, Any]) -> None:
    if form is HierarchyForm.WIDTH:
        st.number_input(
            "Width",
            min_value=tagging.smallest_width(domain),
            value=usual_width(domain),
            key=key,
            persist_state="session",
            help="How wide the intervals of level 1 are, in the unit of the attribute.",
            **change,
        )
    elif form is HierarchyForm.QUANTILES:
        st.number_input(
            "Intervals",
            min_value=2,
            max_value=1_000,
            value=USUAL_GROUPS,
            key=key,
            persist_state="session",
            help="How many intervals level 1 has; each holds about the same number of rows.",
            **change,
        )


def _set_form(form: HierarchyForm, keys: dict[str, str], name: str, data: Microdata) -> None:
    domain = data.domain[name]
    levels = list(browser.widget_value(keys["levels"]) or [])
    fanout = int(browser.widget_value(keys["fanout"], 2) or 2)
    size = browser.widget_value(keys["size"])
    makers: dict[HierarchyForm, Callable[[], Hierarchy]] = {
        HierarchyForm.CALENDAR: lambda: calendar_hierarchy(domain.values, levels),
        HierarchyForm.PREFIX: lambda: prefix_hierarchy(domain.values, levels),
        HierarchyForm.GRID: lambda: grid_hierarchy(domain.values, levels),
        HierarchyForm.FREQUENCY: lambda: frequency_hierarchy(values_of_rows(data, name), levels),
        HierarchyForm.NEIGHBOURS: lambda: neighbour_hierarchy(domain.values, fanout),
        HierarchyForm.WIDTH: lambda: tagging.intervals_by_width(domain, float(size or usual_width(domain)), fanout),
        HierarchyForm.QUANTILES: lambda: tagging.intervals_by_quantile(data, name, int(size or USUAL_GROUPS), fanout),
    }
    _set(name, makers[form])


def take_default(form: HierarchyForm, name: str, data: Microdata) -> None:
    """Give the attribute the usual hierarchy of a form."""
    _set(name, lambda: default_hierarchy(data, name, form))


def _set(name: str, make: Callable[[], Hierarchy]) -> None:
    try:
        hierarchy = make()
    except AnonymizationError as error:
        refuse(name, error)
        return
    apply(name, "hierarchies", hierarchy)
