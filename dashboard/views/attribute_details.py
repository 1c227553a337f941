"""Part of the page Attributes: order, hierarchy and protected values of one attribute."""

from __future__ import annotations

from typing import Any

import streamlit as st

from anoncore import AnonymizationError, DataError, Domain, Hierarchy, Kind, Microdata, Role
from anoncore.table.hierarchy_files import read_hierarchy
from dashboard import state, tagging
from dashboard.charts.tables import hierarchy_levels
from dashboard.markdown import escaped
from dashboard.state import LoadedTable

NONE, BUILTIN, INTERVALS, FILE = "none", "came with the table", "intervals", "from a file"
EQUAL_WIDTH, EQUAL_ROWS = "equal width", "equal number of rows"
MOST_ORDERED = 500
MOST_LISTED = 1_000
MOST_FILE_BYTES = 20 << 20


def render(table: LoadedTable, data: Microdata) -> None:
    """Draw the choice of an attribute and what can be set for it."""
    st.subheader("One attribute in detail")
    name = st.selectbox(
        "Attribute",
        data.attributes,
        key="detail-attribute",
        persist_state="session",
        format_func=lambda name: (
            f"{name} ({data.roles[name]}, {data.domain[name].kind})" if name in data.roles else name
        ),
        help="Identifiers are left out: they are never published.",
        width=420,
    )
    if name is None:
        return
    problem = state.session("detail_problem")
    if problem is not None and problem[0] == name:
        st.error(escaped(problem[1]))
    domain = data.domain[name]
    key = f"{table.id}-{state.session('editor_turn', 0)}-{name}"
    left, right = st.columns(2, gap="large")
    with left:
        if data.roles[name] is Role.SENSITIVE:
            _protected_values(key, name, domain)
        _order(key, name, domain)
    with right:
        _hierarchy(table, data, key, name)


def _apply(name: str, part: str, value: object) -> None:
    """Set or remove one tag of the attribute if the table can be read so; else keep the reason."""
    candidate = state.tags().changed(part, name, value)
    try:
        state.microdata(candidate)
    except AnonymizationError as error:
        state.set_session("detail_problem", (name, f"{error} Nothing was changed."))
        return
    state.set_session("detail_problem", None)
    state.set_tags(candidate)


def _protected_values(key: str, name: str, domain: Domain) -> None:
    st.markdown("**Values that need protection**")
    if len(domain.values) > MOST_LISTED:
        st.caption(f"Every value is protected; with {len(domain.values):,} values none can be chosen here.")
        return
    widget = f"protected-{key}"
    texts = {code: tagging.line_of(domain.text(code)) for code in range(len(domain.values))}
    chosen = state.tags().sensitive_values.get(name, ())
    state.set_widget_values({widget: [domain.code_of(value) for value in chosen]})
    st.multiselect(
        "Values that need protection",
        list(texts),
        format_func=lambda code: texts.get(code, "?"),
        key=widget,
        label_visibility="collapsed",
        placeholder="Every value",
        on_change=_set_protected,
        args=(widget, name, domain),
    )
    st.caption("Empty: every value must not be learned. Otherwise only the chosen ones, counted as one value.")


def _set_protected(widget: str, name: str, domain: Domain) -> None:
    values = tuple(domain.values[code] for code in state.widget_value(widget, []))
    _apply(name, "sensitive_values", values or None)


def _order(key: str, name: str, domain: Domain) -> None:
    st.markdown("**Order of the values**")
    if domain.kind is Kind.NUMERIC:
        first, last = domain.text(0), domain.text(max(len(domain.values) - 1, 0))
        st.caption(
            f"Numbers have their own order: {escaped(first)} to {escaped(last)}."
            if domain.values
            else "There are no values."
        )
        return
    if len(domain.values) > MOST_ORDERED:
        st.caption(
            f"{len(domain.values):,} values are sorted alphabetically; only up to {MOST_ORDERED} can be ordered."
        )
        return
    digest = hash(domain.values)
    widget = f"order-{key}-{digest}"
    st.text_area(
        "One value per line, lowest first",
        value=tagging.order_text(domain),
        key=widget,
        height=min(28 * len(domain.values) + 40, 300),
        on_change=_set_order,
        args=(widget, name, domain),
        help="Move lines to change the order; press Ctrl+Enter to apply. Ranges and ordered distances follow it.",
    )
    with st.container(horizontal=True):
        st.button("Sort", key=f"sort-{key}", on_click=_sort, args=(name, domain), help="By number, else by letter.")
        st.button("Reverse", key=f"reverse-{key}", on_click=_reverse, args=(name, domain))
    if domain.kind is Kind.NOMINAL:
        st.caption("Tagged nominal: the order has no meaning, but ranges of categories are cut along it.")


def _set_order(widget: str, name: str, domain: Domain) -> None:
    try:
        order = tagging.parse_order(state.widget_value(widget, ""), domain)
    except DataError as error:
        state.set_session("detail_problem", (name, f"{error} Nothing was changed."))
        return
    _apply(name, "orders", order)


def _sort(name: str, domain: Domain) -> None:
    _apply(name, "orders", tagging.natural_order(domain))


def _reverse(name: str, domain: Domain) -> None:
    _apply(name, "orders", tuple(reversed(domain.values)))


def _hierarchy(table: LoadedTable, data: Microdata, key: str, name: str) -> None:
    st.markdown("**Hierarchy**", help="Ever coarser groups of values. Methods generalize along it where there is one.")
    domain = data.domain[name]
    current = data.hierarchies.get(name)
    builtin = table.suggested.hierarchies.get(name) if table.builtin else None
    options = [NONE, *([BUILTIN] if builtin else []), *([INTERVALS] if _has_intervals(domain) else []), FILE]
    widget = f"hierarchy-{key}"
    if state.widget_value(widget) is None:
        state.set_widget_values({widget: _source(current, builtin, state.forms().get(widget), options)})
    st.segmented_control(
        "Hierarchy",
        options,
        key=widget,
        required=True,
        label_visibility="collapsed",
        on_change=_choose_source,
        args=(widget, name, data, builtin),
    )
    source = state.widget_value(widget)
    if source == INTERVALS:
        _interval_form(key, name, data)
    elif source == FILE:
        _hierarchy_file(key, name)
    if current is None:
        st.caption("No hierarchy: numbers become ranges, categories become sets of values.")
        return
    st.dataframe(
        hierarchy_levels(current, domain),
        key=f"levels-{key}",
        hide_index=True,
        column_config={
            "Level": st.column_config.NumberColumn(width=50),
            "Groups": st.column_config.NumberColumn(width=60, format="localized"),
            "Called": st.column_config.TextColumn(width="large"),
        },
        alt="Levels of the hierarchy",
    )
    st.caption("Level 0 are the values themselves; each level above joins groups of the level below.")


def _has_intervals(domain: Domain) -> bool:
    return domain.kind is Kind.NUMERIC and not domain.is_date and len(domain.values) > 1


def _source(current: Hierarchy | None, builtin: Hierarchy | None, kept: str | None, options: list[str]) -> str:
    """Where the present hierarchy came from."""
    if current is None:
        return NONE
    if current is builtin:
        return BUILTIN
    return kept if kept in options and kept != NONE else FILE


def _choose_source(widget: str, name: str, data: Microdata, builtin: Hierarchy | None) -> None:
    source = state.widget_value(widget)
    state.forms()[widget] = source
    if source == NONE:
        _apply(name, "hierarchies", None)
    elif source == BUILTIN:
        _apply(name, "hierarchies", builtin)
    elif source == INTERVALS:
        domain = data.domain[name]
        _apply(name, "hierarchies", tagging.intervals_by_width(domain, tagging.usual_width(domain), 2))


def _interval_form(key: str, name: str, data: Microdata) -> None:
    domain = data.domain[name]
    keys = {part: f"{part}-{key}" for part in ("method", "width", "groups", "fanout")}
    change: dict[str, Any] = {"on_change": _set_intervals, "args": (keys, name, data)}
    method = st.radio(
        "Intervals of",
        [EQUAL_WIDTH, EQUAL_ROWS],
        key=keys["method"],
        horizontal=True,
        persist_state="session",
        **change,
    )
    left, right = st.columns(2)
    if method == EQUAL_WIDTH:
        left.number_input(
            "Width",
            min_value=tagging.smallest_width(domain),
            value=tagging.usual_width(domain),
            key=keys["width"],
            persist_state="session",
            help="How wide the intervals of level 1 are, in the unit of the attribute.",
            **change,
        )
    else:
        left.number_input(
            "Intervals",
            min_value=2,
            max_value=1_000,
            value=8,
            key=keys["groups"],
            persist_state="session",
            help="How many intervals level 1 has; each holds about the same number of rows.",
            **change,
        )
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


def _set_intervals(keys: dict[str, str], name: str, data: Microdata) -> None:
    domain = data.domain[name]
    fanout = int(state.widget_value(keys["fanout"], 2) or 2)
    try:
        if state.widget_value(keys["method"]) == EQUAL_ROWS:
            groups = int(state.widget_value(keys["groups"], 8) or 8)
            hierarchy = tagging.intervals_by_quantile(data, name, groups, fanout)
        else:
            width = float(state.widget_value(keys["width"]) or tagging.usual_width(domain))
            hierarchy = tagging.intervals_by_width(domain, width, fanout)
    except AnonymizationError as error:
        state.set_session("detail_problem", (name, f"{error} Nothing was changed."))
        return
    _apply(name, "hierarchies", hierarchy)


def _hierarchy_file(key: str, name: str) -> None:
    turn = state.session("hierarchy_turn", 0)
    file = st.file_uploader(
        "CSV without header: a value, then its ever coarser groups, per line",
        key=f"hierarchy-file-{turn}-{key}",
        max_upload_size=20,
        help="The form of ARX's hierarchy files, e.g. `Bachelors;Undergraduate;Higher education;*`.",
    )
    if file is None:
        return
    state.set_session("hierarchy_turn", turn + 1)
    try:
        if file.size > MOST_FILE_BYTES:
            raise DataError(f"'{file.name}' is larger than 20 MB, the most that is taken for a hierarchy.")
        _apply(name, "hierarchies", read_hierarchy(file.getvalue(), file.name))
    except AnonymizationError as error:
        state.set_session("detail_problem", (name, f"{error} Nothing was changed."))
    st.rerun()
