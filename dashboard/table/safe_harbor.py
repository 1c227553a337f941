"""Part of the page Table: identifiers of HIPAA's safe harbor in the columns, each with a click that mends it."""

from __future__ import annotations

import streamlit as st

from anoncore import AnonymizationError, Kind, Role
from anoncore.privacy import IdentifierFinding, IdentifiersFound
from anoncore.table.identifiers.finder import identifiers_of
from anoncore.table.identifiers.kinds import Mend
from anoncore.table.identifiers.mends import mending_hierarchy
from dashboard.markdown import escaped
from dashboard.session import browser, compute, state
from dashboard.session.loaded_table import LoadedTable, Tags
from dashboard.table import attribute_hierarchy, table_columns

LABELS = {Mend.YEAR: "Group by year", Mend.THREE_DIGITS: "Group by three digits", Mend.NINETY: "Group into 90+"}
"""What the button of a mend that groups values says."""
LEVEL_NOTE = (
    "A grouping becomes the column's hierarchy. Methods may still publish finer values where a group has them: judge "
    "the release, or make the column coarse before you load the table."
)
MOST_SHOWN = 40


def render(table: LoadedTable) -> None:
    """Draw the question and, where it is asked, what was found, what mends it, and what cannot be seen."""
    asked = st.toggle(
        "Look for the identifiers of HIPAA's safe harbor",
        key=f"safe-harbor-{table.id}",
        help="The 18 kinds of 45 CFR 164.514(b)(2)(i), by names and values of the columns. It never says that the rule "
        "is met: what cannot be seen stands below.",
    )
    if not asked:
        return
    found = found_in(table)
    with st.container(border=True):
        st.markdown(escaped(found.headline))
        for one in found.findings[:MOST_SHOWN]:
            with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                st.markdown(f"- {escaped(one.sentence)}", width="content")
                _button(one, found)
            problem = attribute_hierarchy.problem(one.column)
            if problem:
                st.error(escaped(problem))
        if len(found.findings) > MOST_SHOWN:
            st.caption(f"And {len(found.findings) - MOST_SHOWN:,} more, which `anoncore check --identifiers` prints.")
        if any(one.mend in LABELS for one in found.findings):
            st.caption(LEVEL_NOTE)
        cannot = "\n".join(f"- {escaped(one)}" for one in found.cannot_see)
        st.caption(f"**What cannot be seen**\n\n{cannot}")


def found_in(table: LoadedTable) -> IdentifiersFound:
    """The identifiers of a table, looked for once."""
    summaries = table_columns.summaries(table)
    return compute.kept("identifiers", (table.digest,), lambda: identifiers_of(table.frame, summaries))


def _button(finding: IdentifierFinding, found: IdentifiersFound) -> None:
    key = f"mend-{finding.letter}-{finding.column}"
    if finding.mend in LABELS:
        st.button(LABELS[finding.mend], key=key, on_click=_group, args=(finding, found))
        return
    is_tagged = state.tags().roles.get(finding.column) == Role.IDENTIFIER
    st.button("Tag as identifier", key=key, on_click=_tag, args=(finding.column,), disabled=is_tagged)


def _tag(column: str) -> None:
    _set(state.tags().changed("roles", column, Role.IDENTIFIER.value))


def _group(finding: IdentifierFinding, found: IdentifiersFound) -> None:
    """Give a column the groups of its mend as hierarchy; it becomes a quasi-identifier where nobody decided on it."""
    name, tags = finding.column, state.tags()
    if name not in tags.roles:
        tags = tags.changed("roles", name, Role.QUASI_IDENTIFIER.value)
    if finding.mend is Mend.THREE_DIGITS:
        # Areas with few people share a group, however far their numbers lie apart.
        tags = tags.changed("kinds", name, Kind.NOMINAL.value).changed("orders", name, None)
    try:
        values = state.microdata(tags).domain[name].values
        groups = mending_hierarchy(values, finding.mend, found.few_people, found.year)
        tags = tags.changed("hierarchies", name, groups)
        state.microdata(tags)
    except AnonymizationError as error:
        attribute_hierarchy.refuse(name, error)
        return
    _set(tags)


def _set(tags: Tags) -> None:
    state.set_tags(tags)
    # The editor of the roles starts anew from the changed tags.
    browser.renew_editors()
