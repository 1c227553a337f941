"""Small random tables with tags."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from anoncore import Hierarchy, Microdata
from tests.fuzz.case import Case

TOWNS = ("Rome", "Bonn", "=A", "'=A", "B, C", "007", "", "größe", "two\nlines", "(missing)", "*", "'\tx", "\tx")
MIXED = (1, "1", 1.0, True, "True", 0, False, "0", 2.5, "2.5", None, "x")
ILLNESSES = ("flu", "cold", "{x, y}", "+gout", "NaN", "(missing)", "a, b", 'say "x"')


def small_frame(case: Case) -> pd.DataFrame:
    """1 to 40 rows: an identifier, numbers, dates, categories, one or two secrets, with gaps and odd labels."""
    rng = case.generator()
    n = case.pick((1, 2, 3, 6, 12, 12, 25, 40))
    most = case.pick((1, 2, 4, 8))
    columns: dict[str, Any] = {"name": [f"Person-{row}-of-file" for row in range(n)]}
    makers = {
        "age": lambda: rng.integers(20, 20 + case.pick((1, 3, 60)), n),
        "town": lambda: rng.choice(np.array(TOWNS[: most + 2], dtype=object), n),
        "since": lambda: pd.Timestamp("2020-01-31") + pd.to_timedelta(rng.integers(0, 40, n), unit="D"),
        "weight": lambda: np.where(rng.random(n) < 0.2, np.nan, rng.normal(size=n).round(case.pick((0, 3)))),
        "huge": lambda: rng.choice([case.pick((-1e300, -1e140, -3.0)), 0.0, 1e-300, 2.0**53], n),
        "member": lambda: rng.random(n) < 0.5,
        "code": lambda: pd.Categorical(rng.choice(list("xyz"), n), categories=list("zyxw"), ordered=case.chance(0.5)),
        "nothing": lambda: [None] * n,
        "mixed": lambda: _mixed(rng, n),
    }
    for name in case.random.sample(
        [one for one in makers if one != "huge" or case.chance(0.2)], case.random.randint(1, 4)
    ):
        columns[name] = makers[name]()
    columns["illness"] = rng.choice(np.array(ILLNESSES[: max(most, 2)], dtype=object), n)
    if case.chance(0.3):
        columns["pay"] = _pay(case, rng.integers(1, 1 + 2 * most, n))
    frame = pd.DataFrame(columns)
    if case.chance(0.3):
        frame.loc[rng.random(n) < 0.3, "illness"] = None
    return frame.set_axis(case.pick((range(n), [7] * n, [f"row {row}" for row in range(n)])))


def _pay(case: Case, steps: np.ndarray) -> np.ndarray:
    """Whole and broken numbers, tiny ones, and ones that lie close together far from zero."""
    return case.pick((steps * 100, steps * 100, steps / 10, steps / 10**6, steps + 2**45, steps / 10**6 + 1))


def _mixed(rng: np.random.Generator, n: int) -> list[Any]:
    """Values that look alike and are not, or are and do not look it."""
    return [MIXED[place] for place in rng.integers(0, len(MIXED), n)]


def small_table(case: Case, frame: pd.DataFrame | None = None) -> Microdata:
    """A small random table, tagged; some attributes have hierarchies, some secrets are protected in part."""
    frame = small_frame(case) if frame is None else frame
    case.keep("frame", frame.to_dict("list"))
    roles = {"name": "identifier", "illness": "sensitive"}
    for name in frame.columns[1:]:
        roles.setdefault(str(name), "sensitive" if name == "pay" and case.chance(0.7) else _role(case))
    if case.chance(0.97):
        roles[str(frame.columns[1])] = "quasi-identifier"
    else:
        roles["illness"] = "insensitive"
    hierarchies, protected = {}, {}
    if "age" in frame and case.chance(0.3):
        hierarchies["age"] = Hierarchy.by_width(frame["age"], case.pick((1, 5, 30)), case.pick((2, 3)))
    if "town" in frame and case.chance(0.3):
        towns = sorted(set(frame["town"]))
        hierarchies["town"] = Hierarchy.from_nested({"A": towns[:1], **({"B": towns[1:]} if towns[1:] else {})})
    if "mixed" in frame and case.chance(0.5):
        labels = {value: "number" if isinstance(value, int | float) else "text" for value in MIXED if value is not None}
        hierarchies["mixed"] = Hierarchy({value: (label,) for value, label in labels.items()})
    present = frame["illness"].dropna().unique().tolist()
    if roles["illness"] == "sensitive" and present and case.chance(0.2):
        protected["illness"] = case.random.sample(present, case.random.randint(1, len(present)))
    case.keep(
        "tags", {"roles": roles, "hierarchies": {k: v.paths for k, v in hierarchies.items()}, "protected": protected}
    )
    return Microdata(frame, roles, hierarchies=hierarchies, sensitive_values=protected)


def _role(case: Case) -> str:
    return case.pick(("quasi-identifier", "quasi-identifier", "quasi-identifier", "insensitive"))
