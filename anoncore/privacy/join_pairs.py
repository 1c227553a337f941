"""Which classes of two fragments join to too few rows, before class values were changed and after."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from anoncore.privacy.join_blocks import Classes, Floats, Rule, blocks
from anoncore.privacy.joins import JoinSetting
from anoncore.release.release import Release

Places = npt.NDArray[np.int64]


def pair_levels(release: Release, first: int = 0, second: int = 1, published: bool = True) -> Floats:
    """Rows of the join of every class of one fragment with every class of another, (n_groups, n_groups); 0 for none.

    Where value sets are published: eta, NaN where no value is common. `first` and `second` are places of fragments.

    Parameters: `first` place of one fragment; `second` place of the other; `published` false: with the original class
      values.
    Assumes: the adversary joins classes of two fragments on the attribute that they share.
    Cost: one product of matrices, a row per class; the result has a cell per pair.
    Use: every pair of two fragments is to be looked at.
    Avoid: classes are many: `unsafe_pairs` and `worst_joins` list the few that matter.
    Source: Zakerzadeh, Aggarwal and Barker, vertical fragmentation, definitions 4.1 and 4.5.
    """
    setting = JoinSetting.of(release)
    sides = setting.classes(release, published)
    return _shown(setting, setting.rule.levels(sides[first], sides[second]))


def unsafe_pairs(
    release: Release, first: int = 0, second: int = 1, published: bool = True, most: int = 1000
) -> pd.DataFrame:
    """The pairs of classes whose join breaks k or delta, the lowest first: class of either fragment, rows of both,
    common values, and `level`, the joined rows or eta. At most `most` lines. `published` False: by the original class
    values; `published level` is then the level after the changes (0 rows, or NaN for eta, where nothing is common).

    Parameters: `first` place of one fragment; `second` place of the other; `published` false: with the original class
      values; `most` lines at most.
    Assumes: the adversary joins classes of two fragments on the attribute that they share.
    Cost: one product of matrices, a row per class.
    Use: it is asked which pairs of classes give people away.
    Avoid: only their number is wanted: see `joins`.
    Source: Zakerzadeh, Aggarwal and Barker, vertical fragmentation, definitions 4.1 and 4.5.
    """
    setting = JoinSetting.of(release)
    sides = setting.classes(release, published)
    one, other = sides[first], sides[second]
    rows, columns, levels = _lowest(setting.rule, one, other, most)
    frame = pd.DataFrame(
        {
            "first class": rows,
            "second class": columns,
            "first rows": release.fragments[first].partition.sizes[rows],
            "second rows": release.fragments[second].partition.sizes[columns],
            "common values": ((one.values[rows] > 0) & (other.values[columns] > 0)).sum(axis=1),
            "level": levels,
        }
    )
    if not published:
        after = setting.classes(release, True)
        chosen, place = np.unique(rows, return_inverse=True)
        published_levels = _shown(setting, setting.rule.levels(after[first].take(chosen), after[second]))
        frame["published level"] = published_levels[place, columns]
    return frame


def _lowest(rule: Rule, one: Classes, other: Classes, most: int) -> tuple[Places, Places, Floats]:
    """Classes of either side and level of the unsafe joins of the lowest levels, at most so many."""
    kinds, members = _kinds(one)
    others, other_members = _kinds(other)
    cells = []
    for part in blocks(kinds, others):
        levels = rule.levels(kinds.take(part), others)
        places = np.argwhere(rule.broken(levels))
        broken = levels[places[:, 0], places[:, 1]]
        nearest = np.argsort(broken, kind="stable")[:most]
        cells.append(np.column_stack((places[nearest] + [part.start, 0], broken[nearest])))
    found = np.concatenate(cells)
    lines: list[Floats] = [np.zeros((0, 3))]
    n_found = 0
    for kind, other_kind, level in found[np.argsort(found[:, 2], kind="stable")].tolist():
        if n_found >= most:
            break
        second = other_members[int(other_kind)][:most]
        first = members[int(kind)][: -(-most // len(second))]
        pairs = np.stack(np.meshgrid(first, second, indexing="ij"), axis=-1)
        lines.append(np.column_stack((pairs.reshape(-1, 2), np.full(pairs.size // 2, level))))
        n_found += len(lines[-1])
    together = np.concatenate(lines)[:most]
    together = together[np.lexsort((together[:, 1], together[:, 0], together[:, 2]))]
    return together[:, 0].astype(np.int64), together[:, 1].astype(np.int64), together[:, 2]


def _kinds(classes: Classes) -> tuple[Classes, list[Places]]:
    """Each different class once, and the places of those that are like it."""
    kinds, place = classes.distinct()
    order = np.argsort(place, kind="stable")
    return kinds, np.split(order, np.cumsum(np.bincount(place))[:-1])


@dataclass(frozen=True, eq=False)
class WorstJoins:
    """The classes of two fragments with most unsafe joins before class values were changed.

    `first` (n,) and `second` (m,) are classes of either fragment, the worst first; `before` and `after` float (n, m)
    their joined rows (0: nothing in common) or eta (NaN: nothing in common) by the original and by the published class
    values; `broken_before` and `broken_after` bool (n, m) say which break `threshold`, k or delta. `n_broken` of all
    `n_joins` pairs of classes of the two fragments were unsafe before.
    """

    first: Places
    second: Places
    before: Floats
    after: Floats
    broken_before: npt.NDArray[np.bool_]
    broken_after: npt.NDArray[np.bool_]
    threshold: float
    by_eta: bool
    n_broken: int
    n_joins: int


def worst_joins(release: Release, first: int = 0, second: int = 1, most: int = 40) -> WorstJoins:
    """The `most` classes of either fragment with most unsafe joins before, then those with the lowest safe joins.

    `first` and `second` are places of fragments. Raises ReleaseError where the fragments have no common attribute.

    Parameters: `first` place of one fragment; `second` place of the other; `most` classes of either at most.
    Assumes: the adversary joins classes of two fragments on the attribute that they share.
    Cost: one product of matrices, a row per class.
    Use: what was changed for safe joins is to be drawn, before and after.
    Avoid: every pair is wanted: see `pair_levels`.
    Source: Zakerzadeh, Aggarwal and Barker, vertical fragmentation, definitions 4.1 and 4.5.
    """
    setting = JoinSetting.of(release)
    sides = setting.classes(release, False)
    one, other = sides[first], sides[second]
    rows, n_broken = _worst(setting.rule, one, other, most)
    columns, _ = _worst(setting.rule, other, one.take(rows), most)
    before = setting.rule.levels(one.take(rows), other.take(columns))
    published = setting.classes(release, True)
    after = setting.rule.levels(published[first].take(rows), published[second].take(columns))
    return WorstJoins(
        first=rows,
        second=columns,
        before=_shown(setting, before),
        after=_shown(setting, after),
        broken_before=setting.rule.broken(before),
        broken_after=setting.rule.broken(after),
        threshold=setting.rule.threshold,
        by_eta=setting.delta is not None,
        n_broken=n_broken,
        n_joins=len(one) * len(other),
    )


def _worst(rule: Rule, classes: Classes, others: Classes, most: int) -> tuple[Places, int]:
    """Places of the classes with most unsafe joins, then with the lowest level; how many joins are unsafe in all."""
    kinds, place = classes.distinct()
    other_kinds = others.distinct()[0]
    unsafe, lowest = np.zeros(len(kinds)), np.full(len(kinds), np.inf)
    for part in blocks(kinds, other_kinds):
        levels = rule.levels(kinds.take(part), other_kinds)
        unsafe[part] = rule.broken(levels) @ other_kinds.weight
        lowest[part] = levels.min(axis=1)
    return np.lexsort((lowest[place], -unsafe[place]))[:most], round(float(unsafe @ kinds.weight))


def _shown(setting: JoinSetting, levels: Floats) -> Floats:
    """Levels with what stands for a join of nothing."""
    return np.where(np.isinf(levels), 0.0 if setting.delta is None else np.nan, levels)
