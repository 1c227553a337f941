"""Fuzzed certificates and published files: verification answers or refuses, and never says `holds` of what does not."""

from __future__ import annotations

import io
import json
from collections import Counter
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

from anoncore import Microdata, Release
from anoncore.algorithms import ALGORITHMS
from anoncore.publishing import Certificate, certify, verify
from anoncore.publishing.certification.strict_reading import read_strictly
from anoncore.publishing.export import write_tables
from anoncore.release.reading.published_table import PublishedTable
from tests.fuzz.case import Case, RefutedError
from tests.fuzz.mutations import CELLS, mutated_bytes, mutated_text, mutated_value

KEY = "k" * 64
METHODS: tuple[dict[str, Any], ...] = (
    {"name": "mondrian", "requirements": [{"name": "k-anonymity", "k": 3}, {"name": "distinct-diversity", "l": 2}]},
    {"name": "anatomy", "l": 2},
    {"name": "slicing", "l": 1.5, "sensitive_column_size": 1},
    {"name": "vertical-fragmentation", "k": 2, "l": 2},
)
FORMATS = ("csv", "parquet", "excel")


@cache
def made(place: int) -> tuple[Release, dict[str, pd.DataFrame]]:
    """A release of 40 people by one of the methods, and its tables."""
    rng = np.random.default_rng(place)
    frame = pd.DataFrame(
        {
            "name": [f"P{row}" for row in range(40)],
            "age": rng.integers(20, 50, 40),
            "town": rng.choice(["Rome", "=A", "Bonn"], 40),
            "illness": rng.choice(["flu", "cold", "gout", "{x, y}"], 40),
        }
    )
    roles = {"name": "identifier", "age": "quasi-identifier", "town": "quasi-identifier", "illness": "sensitive"}
    release = ALGORITHMS.build(METHODS[place]).anonymize(Microdata(frame, roles))
    return release, release.tables()


@cache
def certified(place: int, format_: str) -> tuple[str, bytes]:
    """The certificate of a release and its file."""
    release, tables = made(place)
    content = _written(tables, format_)
    return certify(release, KEY, {"file": content}, tables=tables).dumps(), content


def _written(tables: dict[str, pd.DataFrame], format_: Any) -> bytes:
    content = io.BytesIO()
    write_tables(tables, content, format_)
    return content.getvalue()


def certificate(case: Case) -> None:
    """A certificate or its file, changed; verified with and without hashes."""
    place, format_ = case.random.randrange(len(METHODS)), case.pick(FORMATS)
    text, content = certified(place, format_)
    kind = case.random.randrange(4)
    if kind == 0:
        text = mutated_text(case, text)
    elif kind == 1:
        values = json.loads(text)
        for _ in range(case.random.randint(1, 3)):
            values = mutated_value(case, values)
        try:
            text = json.dumps(values, default=repr)
        except ValueError:  # a whole number of thousands of digits
            text = mutated_text(case, text)
    elif kind == 2:
        content = mutated_bytes(case, content, 3)
    else:
        content = _written(_tampered(case, made(place)[1]), format_)
    case.keep("certificate", text.encode(errors="replace"))
    case.keep("file", content)
    loaded = Certificate.loads(text.encode(errors="replace"))
    hashes = case.keep("hashes", case.chance(0.6))
    key = "x" * 40 if case.chance(0.1) else KEY
    found = verify(loaded, {"file": content}, hashes, made(place)[0].data if case.chance(0.3) else None, key)
    _check_sizes(loaded, content, {one.check for one in found.findings if one.outcome == "holds"})
    if hashes and found.holds and kind >= 2 and _cells(content) != _cells(certified(place, format_)[1]):
        raise RefutedError("other tables pass for those that were certified")


def _tampered(case: Case, tables: dict[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    """Published tables with a cell changed or exchanged, or rows taken out or doubled."""
    changed = dict(tables)
    name = case.pick(list(tables))
    frame = tables[name].copy().astype(object)
    rows, columns = [case.random.randrange(len(frame)) for _ in range(2)], range(frame.shape[1])
    column = case.pick(columns)
    kind = case.random.randrange(4)
    if kind == 0:
        frame.iloc[rows[0], column] = case.pick(CELLS)
    elif kind == 1:
        frame.iloc[rows[0], column], frame.iloc[rows[1], column] = (
            frame.iloc[rows[1], column],
            frame.iloc[rows[0], column],
        )
    elif kind == 2:
        frame = frame.drop(index=frame.index[rows[0]])
    else:
        frame = pd.concat([frame, frame.iloc[rows]], ignore_index=True)
    changed[name] = frame.astype(str) if case.chance(0.7) else frame.infer_objects()
    return changed


def _cells(content: bytes) -> list[Any]:
    """Every table's rows as texts, in whatever order, groups without their numbers."""
    found = []
    for table in (one.table for one in read_strictly("file", content)[0]):
        names = [name for name in table.columns if name != "group"]
        found.append((names, Counter(zip(*(table.columns[name].cells for name in names), strict=True))))
    return sorted(found, key=repr)


def _check_sizes(loaded: Certificate, content: bytes, holding: set[str]) -> None:
    """A k-anonymity or distinct l-diversity that was said to hold, counted again in the file."""
    roles = {one.name: one.role for one in loaded.attributes}
    forms = {one.name: one.form for one in loaded.attributes}
    for asked in loaded.requirements:
        name, fields = asked.requirement.get("name"), asked.requirement
        if asked.label not in holding or name not in ("k-anonymity", "distinct-diversity"):
            continue
        for table in (one.table for one in read_strictly("file", content)[0]):
            if name == "distinct-diversity" and (
                asked.attribute not in table.columns or forms[asked.attribute] != "exact"
            ):
                continue
            for values in _groups(loaded, table, roles, forms, asked.attribute).values():
                level = len(values) if name == "k-anonymity" else len(set(values))
                least = fields.get("k", 5) if name == "k-anonymity" else fields.get("l", 2)
                if level < least:
                    raise RefutedError(f"{asked.label} is said to hold; a group has {level}")


def _groups(
    loaded: Certificate, table: PublishedTable, roles: dict[str, Any], forms: dict[str, Any], attribute: str | None
) -> dict[Any, list[str]]:
    names = [name for name in table.columns if roles.get(name) == "quasi-identifier" or forms.get(name) == "set"]
    if loaded.linked_by is not None:
        names = [loaded.linked_by]
    cells = {name: column.cells for name, column in table.columns.items()}
    found: dict[Any, list[str]] = {}
    for row in range(table.n_rows):
        value = cells[attribute][row] if attribute is not None else ""
        found.setdefault(tuple(cells[name][row] for name in names), []).append(value)
    return found
