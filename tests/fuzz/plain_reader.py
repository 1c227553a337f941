"""What published files say about people, read and counted with plain pandas: the judge of what a verifier says.

Nothing of the code under test is used. Of a certificate only the claims are read: the roles of columns, and what is
said to hold. All else is counted in the cells.
"""

from __future__ import annotations

import io
import json
import math
import re
import warnings
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from tests.fuzz.plain_links import (
    Tables,
    claimed_k,
    hierarchical_distances,
    joined_inside,
    joined_tables,
    names_alike,
    order_fault,
    seen,
)

SLACK = 1e-9


def tables_of(files: Mapping[str, bytes]) -> Tables:
    """Every table of some files, cells as texts; parts with the same columns are one table."""
    found = [frame for name, content in sorted(files.items()) for frame in _tables(name, content)]
    together: dict[tuple[str, ...], Tables] = {}
    for frame in found:
        together.setdefault(tuple(frame.columns), []).append(frame)
    parquet = all(name.endswith((".parquet", ".json")) for name in files)
    joined: Tables = []
    for frames in together.values():
        joined += [pd.concat(frames, ignore_index=True)] if parquet else frames
    return joined


def _tables(name: str, content: bytes) -> Iterator[pd.DataFrame]:
    if name.endswith(".json"):
        return
    if content.startswith(b"PAR1"):
        yield _texts(pd.read_parquet(io.BytesIO(content)))
    elif content.startswith(b"PK"):
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            if "xl/workbook.xml" not in archive.namelist():
                for member in archive.namelist():
                    yield from _tables(member, archive.read(member))
                return
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            sheets = pd.read_excel(io.BytesIO(content), sheet_name=None, dtype=str, keep_default_na=False)
        yield from (_texts(sheet) for sheet in sheets.values())
    else:
        yield _texts(pd.read_csv(io.BytesIO(content), dtype=str, keep_default_na=False, na_filter=False))


def _texts(frame: pd.DataFrame) -> pd.DataFrame:
    texts = frame.astype(object).where(frame.notna(), "").map(str)
    texts.columns = [str(name) for name in texts.columns]
    return texts


def false_statements(certificate: str | bytes, files: Mapping[str, bytes] | Tables) -> list[str]:
    """Whatever a certificate claims of its people and the cells refute, a sentence each."""
    claims = json.loads(certificate)
    tables = tables_of(files) if isinstance(files, Mapping) else files
    attributes = claims.get("attributes", ())
    roles = {one["name"]: one["role"] for one in attributes}
    lines = {one["name"]: one["hierarchy"] for one in attributes if one.get("hierarchy")}
    group = _group(claims, tables)
    told = []
    for asked in claims.get("requirements") or ():
        fault = _fault(asked, tables, roles, group, lines)
        if fault:
            told.append(f"{asked.get('label')} of {asked.get('attribute')}: {fault}")
    alike = names_alike([*dict.fromkeys(name for frame in tables for name in frame)])
    if alike is not None:
        told.append(f"the columns {alike[0]!a} and {alike[1]!a} read alike")
    # A database keeps no order of rows.
    order = "" if claims.get("stored") is not None else order_fault(tables, group)
    return [*told, *([order] if order else []), *_joins_faults(claims, tables, roles, group)]


def _joins_faults(
    claims: Mapping[str, Any], tables: Tables, roles: Mapping[str, str], group: str | None
) -> Iterator[str]:
    """What claims say of groups, of single tables or of joins, and rows refute that a column joins."""
    joins = claims.get("joins") or {}
    if joins and _number(joins.get("k"), 0) < 2 and _number(joins.get("l"), 0) < 2:
        yield f"joins of at least {joins.get('k')} rows and {joins.get('l')} values promise nothing"
    for frame in () if group is None else joined_inside(tables, group):
        for asked in claims.get("requirements") or ():
            fault = _fault(asked, [frame], roles, None, {})
            if fault:
                yield f"joined inside groups, {asked.get('label')} of {asked.get('attribute')}: {fault}"
    for frame, is_key in joined_tables(tables, joins.get("common")) if group is None else ():
        known = [name for name in frame if roles.get(name) != "sensitive"]
        smallest = min(frame.groupby(known, sort=False).size(), default=None) if known else None
        if smallest is not None and smallest < claimed_k(claims):
            yield f"joined by a shared column, a class has {smallest} rows"
        for asked in claims.get("requirements") or () if is_key else ():
            fault = _fault(asked, [frame], roles, None, {})
            if fault:
                yield f"joined by a shared key, {asked.get('label')} of {asked.get('attribute')}: {fault}"


def _group(claims: Mapping[str, Any], tables: Tables) -> str | None:
    """The column by which two or more tables are really joined."""
    group = claims.get("linked_by")
    there = [frame for frame in tables if group in frame]
    return group if group is not None and len(there) > 1 and len(there) == len(tables) else None


def _fault(
    asked: Mapping[str, Any],
    tables: Tables,
    roles: Mapping[str, str],
    group: str | None,
    lines: Mapping[str, Sequence[Sequence[str]]],
) -> str:
    fields = asked.get("requirement") or {}
    name, attribute = fields.get("name"), asked.get("attribute")
    # What a reader is told may stand in any of these places.
    numbers = [float(one) for one in re.findall(r"-?\d+(?:\.\d+)?", str(asked.get("label")))]
    if name == "k-anonymity":
        k = max([_number(fields.get("k"), 0), _number(asked.get("asked"), 0), *numbers])
        smallest = min((min(_sizes(frame, roles, group)) for frame in _with_known(tables, roles, group)), default=None)
        return f"a class has {smallest}" if smallest is not None and smallest < k else ""
    worst = [
        level
        for frame in tables
        if attribute in frame
        for level in _levels(name, fields, frame, attribute, roles, group, lines.get(attribute, ()))
    ]
    if not worst:
        return ""
    if name == "t-closeness":
        t = min([_number(fields.get("t"), 1), _number(asked.get("asked"), 1)])
        return f"a class has at least {max(worst):.4g}" if max(worst) > t + SLACK else ""
    if name == "beta-likeness":
        beta = min([_number(fields.get("beta"), math.inf), _number(asked.get("asked"), math.inf)])
        return f"a class has {max(worst):.4g}" if max(worst) > beta + SLACK else ""
    if name == "recursive-diversity":
        return f"a class has {max(worst):.4g}" if max(worst) >= _number(fields.get("c"), math.inf) + SLACK else ""
    l = max([_number(fields.get("l"), 1), _number(asked.get("asked"), 1)])
    return f"a class has {min(worst):.4g}" if min(worst) < l * (1 - SLACK) else ""


def _number(value: Any, other: float) -> float:
    return float(value) if isinstance(value, int | float) else other


def _known(frame: pd.DataFrame, roles: Mapping[str, str], group: str | None) -> list[str]:
    """The columns by which a reader may find somebody: all but the secrets, and but the number that joins tables."""
    return [name for name in frame if roles.get(name) != "sensitive" and name != group]


def _with_known(tables: Tables, roles: Mapping[str, str], group: str | None) -> Tables:
    if group is not None:
        # A joined table with what is known and what is secret tells by itself whose secret is whose.
        both = [frame for frame in tables if _known(frame, roles, group) and _secrets(frame, roles)]
        return both or tables
    return [frame for frame in tables if _known(frame, roles, None)] or tables


def _secrets(frame: pd.DataFrame, roles: Mapping[str, str]) -> list[str]:
    return [name for name in frame if roles.get(name) == "sensitive"]


def _keys(frame: pd.DataFrame, roles: Mapping[str, str], group: str | None) -> list[str]:
    known = _known(frame, roles, group)
    return ([group] if group is not None else []) + (known if _secrets(frame, roles) or group is None else [])


def _sizes(frame: pd.DataFrame, roles: Mapping[str, str], group: str | None) -> list[int]:
    keys = _keys(frame, roles, group)
    return frame.groupby(keys, sort=False).size().tolist() if keys else [len(frame)]


def _levels(
    name: Any,
    fields: Mapping[str, Any],
    frame: pd.DataFrame,
    attribute: str,
    roles: Mapping[str, str],
    group: str | None,
    lines: Sequence[Sequence[str]],
) -> list[float]:
    """What every class of a table reaches of a diversity, or at least is away from the table; empty where not known."""
    keys = [one for one in _keys(frame, roles, group) if one != attribute]
    # A person takes values for one that differ in nothing that is seen.
    frame = frame.assign(**{attribute: frame[attribute].map(seen)})
    if name != "distinct-diversity" and _holds_sets(frame[attribute]):
        return []
    whole = frame[attribute].value_counts(normalize=True)
    classes = [part[attribute] for _, part in frame.groupby(keys, sort=False)] if keys else [frame[attribute]]
    counts = [part.value_counts(normalize=True) for part in classes]
    if name == "distinct-diversity":
        return [float(len(_members(one))) for one in counts]
    if name == "frequency-diversity":
        return [1 / float(one.max()) for one in counts]
    if name == "entropy-diversity":
        return [math.exp(-sum(p * math.log(p) for p in one)) for one in counts]
    if name == "recursive-diversity":
        l = int(_number(fields.get("l"), 2))
        rest = [sum(sorted(one, reverse=True)[l - 1 :]) for one in counts]
        return [float(one.max()) / below if below else math.inf for one, below in zip(counts, rest, strict=True)]
    if name == "beta-likeness":
        return [float((one / whole.reindex(one.index)).max()) - 1 for one in counts]
    if name == "t-closeness" and fields.get("ground", "equal") in ("equal", "ordered", "interval"):
        # No distance between different values is smaller than that of neighbours, which bounds every ground from below.
        step = 1 if fields.get("ground", "equal") == "equal" else max(len(whole) - 1, 1)
        return [sum(abs(one.reindex(whole.index, fill_value=0) - whole)) / 2 / step for one in counts]
    if name == "t-closeness" and fields.get("ground") == "hierarchical":
        return hierarchical_distances(counts, whole, [[seen(text) for text in line] for line in lines])
    return []


def _holds_sets(cells: pd.Series) -> bool:
    return bool(cells.str.fullmatch(r"\{.*\}").all())


def _members(counts: pd.Series) -> set[str]:
    """The values of a class; those of its sets where it has only such."""
    texts = [str(one) for one in counts.index]
    if all(one.startswith("{") and one.endswith("}") for one in texts):
        return {member.strip() for one in texts for member in one[1:-1].split(",")}
    return set(texts)
