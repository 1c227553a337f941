"""What must not be published at all, looked for in the tables that a release publishes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import pandas as pd

from anoncore.front.policy.judgement import JudgedRule
from anoncore.front.policy.sections import Refuse
from anoncore.front.policy.wording import REFUSED_IDENTIFIERS, REFUSED_TEXT, column_key
from anoncore.privacy import identifiers
from anoncore.table.identifiers.column_values import ColumnValues
from anoncore.table.summary import summarize_column

NOT_LOOKED_FOR = "not looked for"
NOT_PUBLISHED = "not published"

Tables = Mapping[str, pd.DataFrame]
"""The published tables by name."""


def identifiers_in(tables: Tables) -> list[str]:
    """The identifiers of HIPAA's safe harbor in published tables, a phrase each."""
    found = [one for table in tables.values() for one in identifiers(table).findings]
    return list(dict.fromkeys(f"{one.what or one.kind} in '{one.column}'" for one in found))


def judged_columns(refuse: Refuse, published: Sequence[str]) -> Iterator[JudgedRule]:
    """A line for every column that is refused; `published` are the names of all columns that readers get.

    A name that differs in case or in spaces alone is the same column.
    """
    by_name = {_folded(name): name for name in published}
    for column in refuse.columns:
        key, rule = column_key(column), f"'{column}' is not published"
        there = by_name.get(_folded(column))
        if there is None:
            yield JudgedRule(key, rule, None, NOT_PUBLISHED, "no column is called so", "kept")
        else:
            yield JudgedRule(key, rule, None, NOT_PUBLISHED, f"'{there}' is published", "broken")


def judged_contents(refuse: Refuse, tables: Tables) -> Iterator[JudgedRule]:
    """A line each for free text and for identifiers, where they are refused."""
    if refuse.free_text:
        found = [
            str(name)
            for table in tables.values()
            for name, column in table.items()
            if ColumnValues(column, summarize_column(column)).is_free_text
        ]
        yield _found("refuse.free_text", REFUSED_TEXT, [f"'{name}'" for name in dict.fromkeys(found)])
    if refuse.identifiers is not None:
        yield _found("refuse.identifiers", REFUSED_IDENTIFIERS, identifiers_in(tables))


def _found(key: str, rule: str, found: Sequence[str]) -> JudgedRule:
    if found:
        return JudgedRule(key, rule, None, NOT_PUBLISHED, f"found: {', '.join(found)}", "broken")
    return JudgedRule(key, rule, None, NOT_PUBLISHED, "none was found by names and values", "kept")


def _folded(name: str) -> str:
    return "".join(name.casefold().split())
