"""How edits of the page Table become tags: pure functions, no widgets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from anoncore import DataError, Domain, Hierarchy, Kind, Microdata, Role
from anoncore.base.texts import listing
from anoncore.table.hierarchy_proposals import values_of_rows
from anoncore.table.suggestions import Suggestion
from anoncore.table.summary import ColumnSummary
from dashboard.session.loaded_table import Tags

NAME, ROLE, KIND, EXAMPLES, VALUES = "Attribute", "Role", "Kind", "Examples", "Values"
MISSING, BARS, SINGLE, HINT = "Missing", "Distribution", "Unique", "Suggestion"
LEFT_OUT = "left out"
"""What stands in place of the role of an attribute on which nobody decided."""
CHOSEN = "Tick"
"""The boxes by which several attributes are chosen at once."""
WORDS: Mapping[str, tuple[str, str]] = {
    "quasi-identifier": (
        "Known to others",
        "What somebody may know of a person and look up: age, town, job. Published coarser, or apart from secrets.",
    ),
    "sensitive": (
        "Secret",
        "What nobody must learn about a person: an illness, an income. l and t are asked of it.",
    ),
    "identifier": ("Names the person", "A name, an e-mail address, the number of a card. Never published."),
    "insensitive": (
        "Published as it is",
        "Neither known to others nor secret, and you decide so. What it gives away is judged.",
    ),
    LEFT_OUT: ("Left out", "Nobody decided yet, or nobody needs it. Never published."),
}
"""What the roles are called on every page, and what they mean."""
ROLES = list(WORDS)
KINDS = [kind.value for kind in Kind]
LINE_BREAK = "⏎"
MOST_INTERVALS = 10_000


def word(role: str) -> str:
    """What a role is called inside a sentence."""
    return WORDS[role][0].lower()


def editor_base(tags: Tags, summaries: Sequence[ColumnSummary], suggestions: Sequence[Suggestion]) -> pd.DataFrame:
    """The table that the editor starts from: one line per attribute."""
    return pd.DataFrame(
        {
            NAME: [summary.name for summary in summaries],
            ROLE: [tags.roles.get(summary.name, LEFT_OUT) for summary in summaries],
            KIND: [str(tags.kinds[summary.name]) for summary in summaries],
            CHOSEN: False,
            EXAMPLES: [", ".join(summary.examples) for summary in summaries],
            VALUES: [summary.n_distinct for summary in summaries],
            MISSING: [100 * summary.n_missing / max(summary.n_rows, 1) for summary in summaries],
            BARS: [list(summary.bin_counts) for summary in summaries],
            SINGLE: [summary.n_single for summary in summaries],
            HINT: [
                f"{word(suggestion.role.value)}: {suggestion.reason}" if is_role(suggestion) else suggestion.reason
                for suggestion in suggestions
            ],
        }
    )


def is_role(suggestion: Suggestion) -> bool:
    """Whether something speaks for the role; that nothing does is no decision to publish an attribute as it is."""
    return suggestion.role is not Role.INSENSITIVE


def fold(tags: Tags, base: pd.DataFrame, edited_rows: Mapping[Any, Mapping[str, Any]]) -> Tags:
    """The tags after all edits since the editor showed `base`; a cell set back to its base value counts as base.

    An attribute that becomes numeric loses its value order, which numbers have of their own.
    """
    roles, kinds = dict(tags.roles), dict(tags.kinds)
    for place, (name, role, kind) in enumerate(zip(base[NAME], base[ROLE], base[KIND], strict=True)):
        edits = edited_rows.get(place, edited_rows.get(str(place), {}))
        roles[name] = edits.get(ROLE) or role
        if roles[name] == LEFT_OUT:
            del roles[name]
        kinds[name] = edits.get(KIND) or kind
    orders = {name: order for name, order in tags.orders.items() if kinds[name] != Kind.NUMERIC}
    return replace(tags, roles=roles, kinds=kinds, orders=orders)


def chosen_names(base: pd.DataFrame, edited_rows: Mapping[Any, Mapping[str, Any]]) -> tuple[str, ...]:
    """The attributes whose boxes are ticked in the editor."""
    ticked = {int(place) for place, edits in edited_rows.items() if edits.get(CHOSEN)}
    return tuple(name for place, name in enumerate(base[NAME]) if place in ticked)


def with_role(tags: Tags, names: Sequence[str], role: str | None) -> Tags:
    """The tags with one role for several attributes; None, or `LEFT_OUT`, takes theirs from them."""
    for name in names:
        tags = tags.changed("roles", name, None if role == LEFT_OUT else role)
    return tags


def with_suggestions(tags: Tags, suggestions: Sequence[Suggestion]) -> Tags:
    """The tags with every role as suggested; where no role is, what was decided stays."""
    suggested = {one.attribute: one.role.value for one in suggestions if is_role(one)}
    return replace(tags, roles={**tags.roles, **suggested})


def unit_options(tags: Tags) -> list[str | None]:
    """The columns that may say whose row it is: none, the identifiers, and the one that is chosen."""
    identifiers = [name for name, role in tags.roles.items() if role == Role.IDENTIFIER]
    chosen = [] if tags.unit is None else [tags.unit]
    return [None, *dict.fromkeys([*identifiers, *chosen])]


def order_text(domain: Domain) -> str:
    """The values of an attribute in order, one per line."""
    return "\n".join(line_of(domain.text(code)) for code in range(len(domain.values)))


def line_of(text: str) -> str:
    """A value on one line: line breaks become a visible mark."""
    return text.replace("\r\n", LINE_BREAK).replace("\n", LINE_BREAK).replace("\r", LINE_BREAK)


def parse_order(text: str, domain: Domain) -> tuple[Any, ...]:
    """The values that the lines of a text name. Raises DataError unless each value occurs exactly once."""
    by_line: dict[str, Any] = {}
    for code, value in enumerate(domain.values):
        by_line.setdefault(line_of(domain.text(code)), value)
    lines = [line for line in text.split("\n") if line in by_line or line.strip()]
    found = [line if line in by_line else line.strip() for line in lines]
    unknown = [line for line in found if line not in by_line]
    if unknown:
        raise DataError(f"'{domain.name}' has no value {listing(unknown, 3)}; keep one value of the column per line.")
    there = Counter(found)
    twice = sorted(line for line, times in there.items() if times > 1)
    if twice:
        raise DataError(f"The order of '{domain.name}' lists {listing(twice, 3)} more than once; keep one line each.")
    lacking = [line for line in by_line if line not in there]
    if lacking:
        raise DataError(f"The order of '{domain.name}' lacks {listing(lacking, 3)}; give every value a line.")
    return tuple(by_line[line] for line in found)


def natural_order(domain: Domain) -> tuple[Any, ...]:
    """The values sorted by the first number in their text where all have one, else alphabetically."""
    numbers = pd.Series([domain.text(code) for code in range(len(domain.values))]).str.extract(r"(-?\d+(?:\.\d+)?)")[0]
    places = list(range(len(domain.values)))
    if numbers.notna().all():
        keys = numbers.astype("float64").tolist()
        return tuple(domain.values[place] for place in sorted(places, key=lambda place: keys[place]))
    return tuple(domain.values[place] for place in sorted(places, key=lambda place: domain.text(place).lower()))


def smallest_width(domain: Domain) -> float:
    """The width below which there would be too many intervals to draw a tree of."""
    known = domain.positions[: len(domain.values)]
    return float(known[-1] - known[0]) / MOST_INTERVALS


def intervals_by_width(domain: Domain, width: float, fanout: int) -> Hierarchy:
    """Intervals of equal width over an attribute's numbers."""
    if width < smallest_width(domain):
        raise DataError(f"A width of {width:g} makes more than {MOST_INTERVALS:,} intervals; choose a larger one.")
    return Hierarchy.by_width(domain.values, width, fanout)


def intervals_by_quantile(data: Microdata, name: str, groups: int, fanout: int) -> Hierarchy:
    """Intervals that hold about the same number of rows each."""
    return Hierarchy.by_quantile(values_of_rows(data, name), groups, fanout)
