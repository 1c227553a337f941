"""Claims about published tables checked again the slow way: rows counted in dicts, definitions written out."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pandas as pd

from anoncore import Exact, Release
from anoncore.requirements import Requirement
from tests.fuzz.case import RefutedError
from tests.properties.published import cell, rows

Counts = Counter[str]
ROUNDING = 1e-12
"""Share of a limit by which a level may miss it, as the product allows it: no absolute slack, whatever the limit."""


def _recursive(counts: Counts, l: int) -> float:
    largest = sorted(counts.values(), reverse=True)
    tail = sum(largest[l - 1 :])
    return 0.0 if l <= 1 else largest[0] / tail if tail else math.inf


LEVELS: Mapping[str, Callable[[Counts, Any], bool]] = {
    "k-anonymity": lambda counts, asked: sum(counts.values()) >= asked.k,
    "distinct-diversity": lambda counts, asked: len(counts) >= asked.l,
    "frequency-diversity": lambda counts, asked: (
        sum(counts.values()) / max(counts.values()) >= asked.l * (1 - ROUNDING)
    ),
    "entropy-diversity": lambda counts, asked: math.exp(entropy(counts)) >= asked.l * (1 - ROUNDING),
    "recursive-diversity": lambda counts, asked: _recursive(counts, asked.l) < asked.c,
}
"""Whether one group's counts satisfy a requirement; `exact` has those that need more than the counts."""


def entropy(counts: Counts) -> float:
    """Shannon entropy in nats."""
    total = sum(counts.values())
    return -sum(count / total * math.log(count / total) for count in counts.values())


def check_promises(release: Release, requirements: Sequence[Requirement]) -> None:
    """Every promise on the groups that a reader of the tables sees. Raises RefutedError for one that is broken."""
    tables = release.tables()
    for requirement in requirements:
        holds = LEVELS.get(requirement.name)
        if holds is None:
            continue
        named = getattr(requirement, "attribute", None)
        attributes = [None] if requirement.attribute_free else [named] if named else list(release.data.sensitive)
        for attribute in attributes:
            if attribute in release.data.sensitive_values:
                continue
            for fragment in release.fragments:
                table = tables[fragment.name]
                if attribute is not None and not isinstance(fragment.recodings.get(attribute), Exact):
                    continue
                for key, counts in groups(release, table, attribute).items():
                    if not holds(counts, requirement):
                        raise RefutedError(f"{requirement.label()} fails in {fragment.name} {key}: {dict(counts)}")


def groups(release: Release, table: pd.DataFrame, attribute: str | None) -> dict[tuple[str, ...], Counts]:
    """Values of an attribute by the group that a reader sees: its number, or equal published quasi-identifiers."""
    names = list(table.columns)
    numbered = [place for place, name in enumerate(names) if name not in release.attributes]
    known = [place for place, name in enumerate(names) if name in release.data.quasi_identifiers and name != attribute]
    found: dict[tuple[str, ...], Counts] = defaultdict(Counter)
    for row in rows(table):
        key = tuple(row[place] for place in (numbered or known))
        found[key][row[names.index(attribute)] if attribute is not None else ""] += 1
    return found


def check_identifiers(release: Release, marks: Sequence[str]) -> None:
    """No cell or column name of a published table has anything of an identifier."""
    for table in release.tables().values():
        texts = {cell(value) for name in table.columns for value in table[name]} | {str(name) for name in table.columns}
        leaked = [text for text in texts for mark in marks if mark in text]
        if leaked or list(table.index) != list(range(len(table))):
            raise RefutedError(f"published: {leaked[:3]}, row labels {list(table.index)[:3]}")
