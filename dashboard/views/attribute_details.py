"""Part of the page Attributes: order, hierarchy and protected values of one attribute."""

from __future__ import annotations

import streamlit as st

from anoncore import DataError, Domain, Kind, Microdata, Role
from dashboard import state, tagging
from dashboard.markdown import escaped
from dashboard.state import LoadedTable
from dashboard.views import attribute_changes, attribute_hierarchy

MOST_ORDERED = 500
MOST_LISTED = 1_000


def render(table: LoadedTable, data: Microdata) -> None:
    """Draw the choice of an attribute and what can be set for it."""
    st.subheader("One attribute in detail")
    if data.attributes and state.widget_value("detail-attribute") not in data.attributes:
        # Nothing could be chosen while no column had a role, and the box would keep that.
        state.set_widget_values({"detail-attribute": data.attributes[0]})
    name = st.selectbox(
        "Attribute",
        data.attributes,
        key="detail-attribute",
        persist_state="session",
        help="Those that a release may have: neither identifiers nor columns that are left out.",
        width=420,
    )
    if name is None:
        return
    domain = data.domain[name]
    # The role and the kind stand beside the list: an option of the list that is called otherwise keeps its old name.
    st.caption(f"{data.roles[name].value}, {domain.kind.value}, {len(domain.values):,} values.")
    problem = attribute_changes.problem(name)
    if problem:
        st.error(escaped(problem))
    key = f"{table.id}-{state.session('editor_turn', 0)}-{name}"
    left, right = st.columns(2, gap="large")
    with left:
        if data.roles[name] is Role.SENSITIVE:
            _protected_values(key, name, domain)
        _order(key, name, domain)
    with right:
        attribute_hierarchy.choose(table, data, key, name)
    attribute_hierarchy.details(table, data, key, name)


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
    attribute_changes.apply(name, "sensitive_values", values or None)


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
        attribute_changes.refuse(name, error)
        return
    attribute_changes.apply(name, "orders", order)


def _sort(name: str, domain: Domain) -> None:
    attribute_changes.apply(name, "orders", tagging.natural_order(domain))


def _reverse(name: str, domain: Domain) -> None:
    attribute_changes.apply(name, "orders", tuple(reversed(domain.values)))
