"""What several published tables tell together, found with plain pandas: by the order of rows and by equal cells."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from itertools import combinations, pairwise
from typing import Any

import pandas as pd

Tables = list[pd.DataFrame]
UNSEEN = frozenset(
    (0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180B, 0x180C, 0x180D, 0x180F, 0x2800, 0x3164, 0xFFA0)
) | frozenset((*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)))
"""Characters that are letters or marks by their category, and that no font draws."""
LOOK_ALIKE = str.maketrans("авекмнорстухіѕјαειικνορτυχ", "abekmhopctyxisjaeiiknoptux")
"""Small Cyrillic and Greek letters, and the Latin ones that they look like."""
KEY_SHARE = 0.5
"""A column with more different values than this share of the rows tells rows apart."""


def seen(text: str) -> str:
    """A text without what nobody sees: formats, controls, unassigned characters, spaces at the ends and between."""
    shown = "".join(one for one in unicodedata.normalize("NFKC", text) if not _is_unseen(one))
    return " ".join(shown.casefold().translate(LOOK_ALIKE).split())


def _is_unseen(one: str) -> bool:
    return ord(one) in UNSEEN or (unicodedata.category(one) in ("Cf", "Cc", "Co", "Cn") and not one.isspace())


def names_alike(names: Sequence[str]) -> tuple[str, str] | None:
    """Two different names of columns that read alike."""
    first: dict[str, str] = {}
    for name in names:
        other = first.setdefault(seen(name), name)
        if other != name:
            return other, name
    return None


def order_fault(tables: Tables, group: str | None) -> str:
    """Why the order of rows tells which rows of several tables are one person; empty where content alone gives it.

    Sorted rows have the values of their first column in one and the same order in every group, whichever that is.
    """
    for frame in tables if len(tables) > 1 else ():
        names = [name for name in frame if name != group]
        if not names:
            continue
        followed: dict[str, set[str]] = {}
        for _, part in frame.groupby(group, sort=False) if group is not None else ((None, frame),):
            cells = part[names[0]].tolist()
            for before, after in pairwise(cells):
                if before != after:
                    followed.setdefault(after, set()).add(before)
        try:
            TopologicalSorter(followed).prepare()
        except CycleError:
            return f"rows are not sorted by '{names[0]}', so that row i of every table can be one person"
    return ""


def joined_tables(tables: Tables, common: str | None = None) -> Iterator[tuple[pd.DataFrame, bool]]:
    """The rows of every two tables that agree in a column, and whether that column tells rows apart.

    That is `common`, a column of the same name, or one of nearly the same values that are nearly all different.
    """
    for left, right in combinations(tables, 2):
        for one, other in ((one, other) for one in left for other in right):
            is_key = _is_key(left[one]) and _is_key(right[other]) and _overlap(left[one], right[other])
            if not is_key and not (one == other and one == common):
                continue
            drawn = [left.drop(columns=one) if is_key else left, right.drop(columns=other)]
            if set(drawn[0]) & set(drawn[1]):
                continue
            keyed = [drawn[0].assign(_key=left[one].to_numpy()), drawn[1].assign(_key=right[other].to_numpy())]
            yield keyed[0].merge(keyed[1], on="_key").drop(columns="_key"), is_key


def joined_inside(tables: Tables, group: str) -> Iterator[pd.DataFrame]:
    """The rows of every two tables that agree in the group and in a column that has the same values in every group."""
    for left, right in combinations(tables, 2):
        for one, other in ((one, other) for one in left for other in right if group not in (one, other)):
            keys = [
                frame[[group, name]].set_axis(["group", "key"], axis=1) for frame, name in ((left, one), (right, other))
            ]
            rows = [sorted(map(tuple, key.to_numpy().tolist())) for key in keys]
            if rows[0] != rows[1] or len(set(rows[0])) == left[group].nunique():
                continue
            apart = [left.drop(columns=[group, one]), right.drop(columns=[group, other])]
            if not set(apart[0]) & set(apart[1]):
                yield (
                    pd.concat([apart[0], keys[0]], axis=1)
                    .merge(pd.concat([apart[1], keys[1]], axis=1))
                    .drop(columns=["group", "key"])
                )


def _is_key(cells: pd.Series) -> bool:
    return cells.nunique() > KEY_SHARE * len(cells) and len(cells) > 1


def _overlap(left: pd.Series, right: pd.Series) -> bool:
    return len(set(left) & set(right)) > KEY_SHARE * max(left.nunique(), right.nunique())


def hierarchical_distances(
    classes: Sequence[pd.Series], whole: pd.Series, lines: Sequence[Sequence[str]]
) -> list[float]:
    """The earth mover's distance of each class from the table by a hierarchy without the levels that join nothing.

    `classes` and `whole` are shares by value. Moving between two values costs the height at which they meet.
    """
    paths = {line[0]: [*line] for line in lines}
    height = max(map(len, paths.values()), default=0)
    values = [value for value in whole.index if value in paths]
    if len(values) < len(whole) or any(len(path) != height for path in paths.values()):
        return []
    levels = [tuple(paths[value][level] for value in values) for level in range(height)]
    levels = [one for place, one in enumerate(levels) if place == 0 or len(set(one)) < len(set(levels[place - 1]))]
    if len(set(levels[-1])) > 1:
        levels.append(("*",) * len(values))
    step = 1 / max(len(levels) - 1, 1)
    found = []
    for shares in classes:
        gap = shares.reindex(values, fill_value=0) - whole.reindex(values)
        # Every edge of the tree carries what lies below it too much, half a step of height up and as much down.
        found.append(sum(float(gap.groupby(list(level)).sum().abs().sum()) * step / 2 for level in levels[:-1]))
    return found


def claimed_k(claims: Mapping[str, Any]) -> int:
    """The largest k that a certificate claims of groups or of their joins."""
    asked = [one.get("requirement") or {} for one in claims.get("requirements") or ()]
    sizes = [one.get("k") for one in asked if one.get("name") == "k-anonymity"] + [(claims.get("joins") or {}).get("k")]
    return max([int(one) for one in sizes if isinstance(one, int | float)], default=0)
