"""Forged releases that are described to the last hash, and say something false of people by what tables tell together.

Each puts original rows, or rows of classes that hide nothing, in place of those of a genuine release.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from anoncore.publishing import write_tables
from tests.fuzz.case import Case
from tests.fuzz.forgery import ANEW, EDITS, ON_FILES, DoesNotFitError, Edit, Forgery, _requirement, edit
from tests.fuzz.honest import CERTIFICATE, ENDINGS, FORMATS, Folder, people
from tests.publishing.certification.forging import restated

__all__ = ["ANEW", "EDITS", "ON_FILES"]
K = {"name": "k-anonymity", "k": 5}
UNSEEN_MARKS = ("\ufe00", "\ufe0f", "\U000e0100", "\U000e01ef", "\u034f", "\u180b", "\u180d", "\u17b4", "\u17b5")
NAMES_ALIKE = (("zip", "zip\u200b"), ("town", "Town"), ("age", "age\ufe0f"), ("since", "s\u0456nce"))
GONE = (
    *("decided", "over_all", "breaking", "not_asked", "written", "joins", "unit", "prepared", "attacks", "numbers"),
    *("after", "signatures"),
)
"""Fields of the genuine certificate that say something of the genuine release alone."""


def forged_people(function: Edit) -> Edit:
    """Add an edit that puts other tables in place of the genuine ones."""
    edit(function)
    name = function.__name__.strip("_")
    ON_FILES.add(name)
    ANEW.add(name)
    return function


def _described(
    case: Case,
    folder: Folder,
    tables: Mapping[str, pd.DataFrame],
    roles: Mapping[str, str],
    requirements: Sequence[tuple[Mapping[str, Any], str | None]],
    group: str | None = None,
    **more: Any,
) -> Folder:
    """A folder of these tables, with a certificate that fits them; `more` are further fields of it or of attributes."""
    if folder.is_in_parts:
        raise DoesNotFitError
    claims = {name: value for name, value in folder.claims.items() if name not in GONE}
    attributes = {name: frame[name] for frame in tables.values() for name in frame if name != group}
    claims["attributes"] = [
        _attribute(name, roles[name], cells) | more.get(name, {}) for name, cells in attributes.items()
    ]
    claims["requirements"] = [
        _requirement(fields, attribute, True, "") | {"reached": None} for fields, attribute in requirements
    ]
    claims |= {"method": None, "people": [], "not_checked": [], "joins": more.get("joins")}
    restated(claims, tables, group)
    format: Any = case.pick(FORMATS)
    content = io.BytesIO()
    write_tables(tables, content, format)
    name = f"people{'.zip' if len(tables) > 1 and format != 'excel' else ENDINGS[format]}"
    digest = hashlib.sha256(content.getvalue()).hexdigest()
    claims["files"] = [{"name": name, "bytes": len(content.getvalue()), "sha256": digest}]
    return Folder(CERTIFICATE, {name: content.getvalue(), CERTIFICATE: b""}, "forged people").claiming(claims)


def _attribute(name: str, role: str, cells: pd.Series) -> dict[str, Any]:
    is_number = pd.api.types.is_numeric_dtype(cells)
    values = None if is_number or role != "sensitive" else sorted(set(cells))
    return {
        "name": name,
        "role": role,
        "kind": "numeric" if is_number else "nominal",
        "type": "number" if is_number else "text",
        "form": "exact",
        "values": values,
        "hierarchy": None,
        "protected": None,
        "part_of": None,
    }


def _sorted(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.sort_values([*frame], kind="stable").reset_index(drop=True)


def _in_classes(case: Case) -> pd.DataFrame:
    """People in known classes of fifteen, all of whom have one illness, and a number of their own each."""
    frame = people()[["age", "illness"]].sort_values("illness", ignore_index=True)
    number = np.random.default_rng(case.random.randrange(10**6)).permutation(len(frame))
    return frame.assign(age=20 + 10 * (np.arange(len(frame)) // 15), illness=np.repeat([*"abcd"], 15), number=number)


@forged_people
def _rows_in_one_order(case: Case, folder: Folder) -> Forgery:
    """Row i of every table, or of every group of it, is one person."""
    frame = people()[["age", "town", "illness"]].sort_values("illness", ignore_index=True)
    # Each group has four people of the sorted table, who have at least two illnesses.
    frame["group"] = (np.arange(len(frame)) % 15).astype(np.int32)
    frame = frame.sample(frac=1, random_state=case.random.randrange(10**6))
    roles = {"age": "quasi-identifier", "town": "quasi-identifier", "illness": "sensitive"}
    l = {"name": "distinct-diversity", "l": 2}
    if case.chance(0.6):
        frame = frame.sort_values("group", kind="stable", ignore_index=True)
        known, secret = frame[["group", "age", "town"]], frame[["group", "illness"]]
        forged = _described(case, folder, {"known": known, "secret": secret}, roles, [(l, "illness")], group="group")
    else:
        frame = frame.assign(age=frame["age"] // 20 * 20).reset_index(drop=True)
        forged = _described(
            case, folder, {"known": frame[["age"]], "secret": frame[["illness"]]}, roles, [(K, None), (l, "illness")]
        )
    return Forgery(forged, ("row i of every table is one person",))


@forged_people
def _numbers_inside_groups(case: Case, folder: Folder) -> Forgery:
    """A number of each person of a group stands in both tables, under one name or two."""
    frame = people()[["age", "illness"]].sort_values("illness", ignore_index=True)
    frame = frame.assign(group=(np.arange(len(frame)) % 15).astype(np.int32), seat=np.arange(len(frame)) // 15)
    name, role = case.pick(("seat", "place")), case.pick(("sensitive", "sensitive", "insensitive"))
    tables = {
        "known": _sorted(frame[["group", "age", "seat"]]),
        "secret": _sorted(frame[["group", "illness", "seat"]].rename(columns={"seat": name})),
    }
    roles = {"age": "quasi-identifier", "illness": "sensitive", "seat": role, name: role}
    forged = _described(
        case, folder, tables, roles, [({"name": "distinct-diversity", "l": 2}, "illness")], group="group"
    )
    return Forgery(forged, (f"'seat' and '{name}', called {role}, number the people of each group",))


@forged_people
def _joins_that_promise_nothing(case: Case, folder: Folder) -> Forgery:
    """Original rows in two tables that share a secret, and a promise of joins that none can break."""
    frame = people()
    left, right = _sorted(frame[["age", "illness"]]), _sorted(frame[["town", "illness"]])
    roles = {"age": "quasi-identifier", "town": "quasi-identifier", "illness": "sensitive"}
    k, l, delta = case.pick(((1, 1, None), (-5, 0, None), (0, 0, 1.0), (1, -1, 0.5), (1000, 2, 1e9), (1, 1, -1.0)))
    joins = {"common": "illness", "k": k, "l": l, "delta": delta, "source": "x", "rechecked": True, "reason": ""}
    forged = _described(case, folder, {"left": left, "right": right}, roles, [], joins=joins)
    return Forgery(forged, (f"joins of at least {k} rows and {l} values, delta {delta}",))


@forged_people
def _protects_values_of_own_choice(case: Case, folder: Folder) -> Forgery:
    frame = _in_classes(case)[["age", "illness"]]
    frame.loc[0, "illness"] = "rare"
    fields = case.pick(
        (
            {"name": "distinct-diversity", "l": 2},
            {"name": "frequency-diversity", "l": 3.0},
            {"name": "entropy-diversity", "l": 3.0},
            {"name": "recursive-diversity", "c": 1.0, "l": 2},
        )
    )
    roles = {"age": "quasi-identifier", "illness": "sensitive"}
    protected = {"protected": case.pick((["rare"], ["rare"], ["rare"], [], ["no such value"]))}
    forged = _described(
        case, folder, {"people": _sorted(frame)}, roles, [(K, None), (fields, "illness")], illness=protected
    )
    return Forgery(forged, (f"{fields} protects {protected['protected']}",))


@forged_people
def _a_hierarchy_of_own_choice(case: Case, folder: Folder) -> Forgery:
    """Classes of one illness each, which a hierarchy calls near to the table."""
    frame = _in_classes(case)[["age", "illness"]]
    padding = [f"all {level}" for level in range(case.pick((0, 1, 60)))]
    lines = [[value, "all", *padding, "*"] for value in "abcd"]
    fields = {"name": "t-closeness", "t": case.pick((0.1, 0.4)), "ground": "hierarchical"}
    roles = {"age": "quasi-identifier", "illness": "sensitive"}
    forged = _described(
        case,
        folder,
        {"people": _sorted(frame)},
        roles,
        [(K, None), (fields, "illness")],
        illness={"hierarchy": lines},
    )
    return Forgery(forged, (f"{fields} by {len(padding)} more levels",))


@forged_people
def _a_key_called_secret(case: Case, folder: Folder) -> Forgery:
    """Two tables that are not joined, and share a number that everybody has alone."""
    frame = _in_classes(case)
    other = case.pick(("number", "remark"))
    left = _sorted(frame[["age", "number"]])
    right = _sorted(frame[["number", "illness"]].rename(columns={"number": other}))
    role = case.pick(("sensitive", "sensitive", "insensitive"))
    roles = {"age": "quasi-identifier", "illness": "sensitive", "number": role, other: role}
    l = {"name": "distinct-diversity", "l": 4}
    forged = _described(case, folder, {"left": left, "right": right}, roles, [(K, None), (l, "illness")])
    return Forgery(forged, (f"'number' of the one and '{other}' of the other table are one key, called {role}",))


@forged_people
def _marks_that_nobody_sees(case: Case, folder: Folder) -> Forgery:
    """One illness in every class, counted as several by marks that no font draws."""
    frame = _in_classes(case)[["age", "illness"]]
    marks = ["", *case.random.sample(UNSEEN_MARKS, case.random.randint(1, 3))]
    frame["illness"] = [f"{value}{marks[row % len(marks)]}" for row, value in enumerate(frame["illness"])]
    name = case.pick(("distinct-diversity", "frequency-diversity", "entropy-diversity"))
    fields = {"name": name, "l": len(marks) if name == "distinct-diversity" else 0.9 * len(marks)}
    roles = {"age": "quasi-identifier", "illness": "sensitive"}
    forged = _described(case, folder, {"people": _sorted(frame)}, roles, [(K, None), (fields, "illness")])
    return Forgery(forged, (f"{fields} by {marks!a}",))


@forged_people
def _columns_that_read_alike(case: Case, folder: Folder) -> Forgery:
    """Original values in a column that looks as if it were another one, which is empty."""
    frame = people()
    shown, raw = case.pick(NAMES_ALIKE)
    frame = pd.DataFrame({shown: "*", raw: frame["age"], "illness": frame["illness"]})
    roles = {shown: "quasi-identifier", raw: "sensitive", "illness": "sensitive"}
    forged = _described(case, folder, {"people": _sorted(frame)}, roles, [(K, None)])
    return Forgery(forged, (f"{raw!a} has what {shown!a} hides",))
