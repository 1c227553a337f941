"""Part of the page Table: distribution, order, hierarchy and protected values of one column."""

from __future__ import annotations

import streamlit as st

from anoncore import DataError, Domain, Kind, Microdata, Role
from anoncore.table.suggestions import uniqueness
from anoncore.table.summary import ColumnSummary
from dashboard.charts.utility import table_distribution
from dashboard.elements import parts
from dashboard.markdown import escaped
from dashboard.session import browser, compute, state, tagging
from dashboard.session.loaded_table import LoadedTable
from dashboard.table import attribute_hierarchy, table_columns

MOST_ORDERED = 500
MOST_LISTED = 1_000


def render(table: LoadedTable, data: Microdata | None) -> None:
    """Draw the choice of a column, its distribution, and what can be set for it where the tags can be read."""
    st.subheader("One column in detail")
    by_name = {summary.name: summary for summary in table_columns.summaries(table)}
    if not by_name:
        return
    if browser.widget_value("detail-attribute") not in by_name:
        known = data.attributes if data is not None else ()
        browser.set_widget_values({"detail-attribute": next(iter(known or by_name))})
    name = st.selectbox("Column", list(by_name), key="detail-attribute", persist_state="session", width=420)
    if name is None:
        return
    key = f"{table.id}-{browser.editor_turn()}-{name}"
    left, right = st.columns(2, gap="large")
    with left:
        _distribution(by_name[name])
    if data is None:
        return
    if name not in data.attributes:
        right.caption("This column is not published, so there is nothing to set; give it a role above first.")
        return
    domain = data.domain[name]
    with left:
        if data.roles[name] is Role.SENSITIVE:
            _protected_values(key, name, domain)
        _order(key, name, domain)
    with right:
        # The role and the kind stand beside the list: an option that is called otherwise keeps its old name.
        st.caption(f"{tagging.WORDS[data.roles[name].value][0]}, {domain.kind.value}, {len(domain.values):,} values.")
        st.caption(escaped(_singled_out(table, data, name)))
        problem = attribute_hierarchy.problem(name)
        if problem:
            st.error(escaped(problem))
        attribute_hierarchy.choose(table, data, key, name)
    attribute_hierarchy.details(table, data, key, name)


def _distribution(summary: ColumnSummary) -> None:
    if summary.n_distinct == 0:
        st.info("Every cell of this column is empty.")
        return
    parts.chart(
        table_distribution(summary),
        key="distribution",
        caption=escaped(_told(summary)),
        alt=f"Distribution of {summary.name}",
    )


def _told(summary: ColumnSummary) -> str:
    shown, known = summary.n_in_bins, summary.n_rows - summary.n_missing
    if shown < known:
        few = len(summary.bin_counts)
        return f"The {few} most frequent of {summary.n_distinct:,} values; they are {shown / known:.0%} of the rows."
    extent = f", {summary.lowest} to {summary.highest}" if summary.lowest != summary.highest else ""
    empty = f"; {summary.n_missing:,} cells are empty" if summary.n_missing else ""
    return f"{summary.n_distinct:,} different values in {known:,} rows{extent}{empty}."


def _singled_out(table: LoadedTable, data: Microdata, name: str) -> str:
    """How many rows or people a column singles out, alone and with what others know."""
    known = [one for one in data.quasi_identifiers if one != name]

    def count(*wanted: str) -> int:
        # In the order of the columns: the page counts the same of all that others know.
        names = tuple(one for one in data.attributes if one in wanted)
        key = (table.digest, state.tags().digest, names)
        return compute.kept("uniqueness", key, lambda: uniqueness(data, names)).n_unique

    alone = f"Alone it singles out {count(name):,} of {data.n_people:,} {data.people_word}"
    if not known:
        return f"{alone}."
    return f"{alone}; what else others know, {count(*known):,} without it and {count(*known, name):,} with it."


def _protected_values(key: str, name: str, domain: Domain) -> None:
    st.markdown("**Values that need protection**")
    if len(domain.values) > MOST_LISTED:
        st.caption(f"Every value is protected; with {len(domain.values):,} values none can be chosen here.")
        return
    widget = f"protected-{key}"
    texts = {code: tagging.line_of(domain.text(code)) for code in range(len(domain.values))}
    chosen = state.tags().sensitive_values.get(name, ())
    browser.set_widget_values({widget: [domain.code_of(value) for value in chosen]})
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
    values = tuple(domain.values[code] for code in browser.widget_value(widget, []))
    attribute_hierarchy.apply(name, "sensitive_values", values or None)


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
        order = tagging.parse_order(browser.widget_value(widget, ""), domain)
    except DataError as error:
        attribute_hierarchy.refuse(name, error)
        return
    attribute_hierarchy.apply(name, "orders", order)


def _sort(name: str, domain: Domain) -> None:
    attribute_hierarchy.apply(name, "orders", tagging.natural_order(domain))


def _reverse(name: str, domain: Domain) -> None:
    attribute_hierarchy.apply(name, "orders", tuple(reversed(domain.values)))
