"""Which classes of two fragments join to too few rows, before class values were changed and after."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd

from anoncore.base.arguments import checked
from anoncore.base.number import measure
from anoncore.base.showing import Result
from anoncore.kernels.arrays import Bools, Floats, record
from anoncore.kernels.grouping import grouped_rows
from anoncore.privacy.join_blocks import Classes, Rule, blocks
from anoncore.privacy.joins import JoinSetting
from anoncore.release.release import Release

Places = npt.NDArray[np.int64]


@measure(title="Joins of all pairs of groups")
@checked
def pair_levels(release: Release, first: int = 0, second: int = 1, published: bool = True) -> Floats:
    """Rows of the join of every class of one fragment with every class of another.

    Parameters
    ----------
    release : Release
        A release of fragments with partitions of their own.
    first : int
        Position of one fragment in the release.
    second : int
        Position of the other fragment.
    published : bool
        Whether to join the published class values; if not, the original ones.

    Returns
    -------
    ndarray of float, shape (n_groups of the first, n_groups of the second)
        Rows of each join, 0 where no value is common. Where classes publish sets of values: eta, NaN where no value is
        common.

    Raises
    ------
    ReleaseError
        Where the fragments have no common attribute.

    Notes
    -----
    Assumes: the adversary joins classes of two fragments on the attribute that they share.
    Cost: one product of matrices, a row per class; the result has a cell per pair.
    Use: every pair of two fragments is to be looked at.
    Avoid: classes are many: `unsafe_pairs` and `worst_joins` list the few that matter.

    References
    ----------
    Zakerzadeh, Aggarwal and Barker, vertical fragmentation, definitions 4.1 and 4.5.

    Examples
    --------
    The method gave both people of a class the same disease. Two classes of the same one join to 2 * 2 rows:

    >>> import pandas as pd
    >>> from anoncore import Microdata, privacy
    >>> from anoncore.algorithms import VerticalFragmentation
    >>> people = pd.DataFrame({"age": [21, 22, 41, 42], "zip": list("ABBA"), "disease": ["flu", "cold", "flu", "gout"]})
    >>> data = Microdata(people, roles={"age": "quasi-identifier", "zip": "quasi-identifier", "disease": "sensitive"})
    >>> method = VerticalFragmentation(k=2, attribute_fragments=[["age"], ["zip"]], enforce="naive")
    >>> release = method.anonymize(data)
    >>> privacy.pair_levels(release)
    array([[0., 4.],
           [4., 0.]])
    """
    setting = JoinSetting.of(release)
    sides = setting.classes(release, published)
    return _shown(setting, setting.rule.levels(sides[first], sides[second]))


@measure(title="Unsafe pairs of groups")
@checked
def unsafe_pairs(
    release: Release, first: int = 0, second: int = 1, published: bool = True, most: int = 1000
) -> pd.DataFrame:
    """The pairs of classes of two fragments whose join breaks k or delta, the lowest first.

    Parameters
    ----------
    release : Release
        A release of fragments with partitions of their own.
    first : int
        Position of one fragment in the release.
    second : int
        Position of the other fragment.
    published : bool
        Whether to join the published class values; if not, the original ones.
    most : int
        Pairs that are listed at most.

    Returns
    -------
    DataFrame
        One line per pair: `first class` and `second class`, `first rows` and `second rows`, `common values`, and
        `level`, the joined rows or eta. With the original class values, `published level` is the level after the
        changes: 0 rows, or NaN for eta, where nothing is common.

    Raises
    ------
    ReleaseError
        Where the fragments have no common attribute.

    Notes
    -----
    Assumes: the adversary joins classes of two fragments on the attribute that they share.
    Cost: one product of matrices, a row per class.
    Use: it is asked which pairs of classes give people away.
    Avoid: only their number is wanted: see `joins`.

    References
    ----------
    Zakerzadeh, Aggarwal and Barker, vertical fragmentation, definitions 4.1 and 4.5.

    Examples
    --------
    Before the method changed them, the young and the people of A had only the flu in common, one row each, which makes
    a join of 1 row. After the changes nothing is common:

    >>> import pandas as pd
    >>> from anoncore import Microdata, privacy
    >>> from anoncore.algorithms import VerticalFragmentation
    >>> people = pd.DataFrame({"age": [21, 22, 41, 42], "zip": list("ABBA"), "disease": ["flu", "cold", "flu", "gout"]})
    >>> data = Microdata(people, roles={"age": "quasi-identifier", "zip": "quasi-identifier", "disease": "sensitive"})
    >>> method = VerticalFragmentation(k=2, attribute_fragments=[["age"], ["zip"]], enforce="naive")
    >>> release = method.anonymize(data)
    >>> pairs = privacy.unsafe_pairs(release, published=False)
    >>> pairs[["first class", "second class", "level", "published level"]]
       first class  second class  level  published level
    0            0             0    1.0              0.0
    1            1             1    1.0              0.0
    """
    setting = JoinSetting.of(release)
    sides = setting.classes(release, published)
    first_classes, second_classes = sides[first], sides[second]
    rows, columns, levels = _lowest(setting.rule, first_classes, second_classes, most)
    frame = pd.DataFrame(
        {
            "first class": rows,
            "second class": columns,
            "first rows": release.fragments[first].partition.sizes[rows],
            "second rows": release.fragments[second].partition.sizes[columns],
            "common values": ((first_classes.values[rows] > 0) & (second_classes.values[columns] > 0)).sum(axis=1),
            "level": levels,
        }
    )
    if not published:
        after = setting.classes(release, True)
        chosen, row = np.unique(rows, return_inverse=True)
        published_levels = _shown(setting, setting.rule.levels(after[first].take(chosen), after[second]))
        frame["published level"] = published_levels[row, columns]
    return frame


def _lowest(rule: Rule, classes: Classes, other: Classes, most: int) -> tuple[Places, Places, Floats]:
    """The unsafe joins with the lowest levels, at most `most` of them: the class on either side, and the level."""
    # Equal classes are joined only once; the lowest joins are then spelled out for all classes that are equal.
    kinds, members = _kinds(classes)
    others, other_members = _kinds(other)
    cells = []
    for block in blocks(kinds, others):
        levels = rule.levels(kinds.take(block), others)
        unsafe = np.argwhere(rule.broken(levels))
        broken = levels[unsafe[:, 0], unsafe[:, 1]]
        nearest = np.argsort(broken, kind="stable")[:most]
        cells.append(np.column_stack((unsafe[nearest] + [block.start, 0], broken[nearest])))
    cells_of_kinds = np.concatenate(cells)
    lines: list[Floats] = [np.zeros((0, 3))]
    n_found = 0
    for kind, other_kind, level in cells_of_kinds[np.argsort(cells_of_kinds[:, 2], kind="stable")].tolist():
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
    """Each different class once, and for each the positions of the classes that are equal to it."""
    kinds, kind = classes.distinct()
    order, starts = grouped_rows(kind)
    return kinds, np.split(order, starts[1:-1])


@record
class WorstJoins(Result):
    """The classes of two fragments that had most unsafe joins before class values were changed, before and after.

    Attributes
    ----------
    first : ndarray of int64, shape (n,)
        Classes of the one fragment, the worst first.
    second : ndarray of int64, shape (m,)
        Classes of the other fragment, the worst first.
    before, after : ndarray of float, shape (n, m)
        Rows of each join (0 where nothing is common) or eta (NaN where nothing is common), by the original and by the
        published class values.
    broken_before, broken_after : ndarray of bool, shape (n, m)
        Which joins break the threshold.
    threshold : float
        k in rows, or delta.
    by_eta : bool
        Whether the levels are eta rather than rows.
    n_broken : int
        Pairs of classes of the two fragments that were unsafe before.
    n_joins : int
        All pairs of classes of the two fragments.

    Examples
    --------
    >>> import pandas as pd
    >>> from anoncore import Microdata, privacy
    >>> from anoncore.algorithms import VerticalFragmentation
    >>> people = pd.DataFrame({"age": [21, 22, 41, 42], "zip": list("ABBA"), "disease": ["flu", "cold", "flu", "gout"]})
    >>> data = Microdata(people, roles={"age": "quasi-identifier", "zip": "quasi-identifier", "disease": "sensitive"})
    >>> method = VerticalFragmentation(k=2, attribute_fragments=[["age"], ["zip"]], enforce="naive")
    >>> release = method.anonymize(data)
    >>> worst = privacy.worst_joins(release)
    >>> worst.threshold, worst.n_broken, worst.n_joins
    (2.0, 2, 4)
    """

    first: Places
    second: Places
    before: Floats
    after: Floats
    broken_before: Bools
    broken_after: Bools
    threshold: float
    by_eta: bool
    n_broken: int
    n_joins: int


@measure(title="Groups with the worst joins")
@checked
def worst_joins(release: Release, first: int = 0, second: int = 1, most: int = 40) -> WorstJoins:
    """The classes of two fragments with most unsafe joins before class values were changed, then those with the lowest.

    Parameters
    ----------
    release : Release
        A release of fragments with partitions of their own.
    first : int
        Position of one fragment in the release.
    second : int
        Position of the other fragment.
    most : int
        Classes of either fragment that are shown at most.

    Returns
    -------
    WorstJoins
        The levels of the joins of these classes, before and after the changes.

    Raises
    ------
    ReleaseError
        Where the fragments have no common attribute.

    Notes
    -----
    Assumes: the adversary joins classes of two fragments on the attribute that they share.
    Cost: one product of matrices, a row per class.
    Use: what was changed for safe joins is to be drawn, before and after.
    Avoid: every pair is wanted: see `pair_levels`.

    References
    ----------
    Zakerzadeh, Aggarwal and Barker, vertical fragmentation, definitions 4.1 and 4.5.

    Examples
    --------
    Two joins had a single row before the changes:

    >>> import pandas as pd
    >>> from anoncore import Microdata, privacy
    >>> from anoncore.algorithms import VerticalFragmentation
    >>> people = pd.DataFrame({"age": [21, 22, 41, 42], "zip": list("ABBA"), "disease": ["flu", "cold", "flu", "gout"]})
    >>> data = Microdata(people, roles={"age": "quasi-identifier", "zip": "quasi-identifier", "disease": "sensitive"})
    >>> method = VerticalFragmentation(k=2, attribute_fragments=[["age"], ["zip"]], enforce="naive")
    >>> release = method.anonymize(data)
    >>> worst = privacy.worst_joins(release)
    >>> worst.before.tolist(), worst.after.tolist()
    ([[1.0, 2.0], [2.0, 1.0]], [[0.0, 4.0], [4.0, 0.0]])
    """
    setting = JoinSetting.of(release)
    sides = setting.classes(release, False)
    first_classes, second_classes = sides[first], sides[second]
    rows, n_broken = _worst(setting.rule, first_classes, second_classes, most)
    columns, _ = _worst(setting.rule, second_classes, first_classes.take(rows), most)
    before = setting.rule.levels(first_classes.take(rows), second_classes.take(columns))
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
        n_joins=len(first_classes) * len(second_classes),
    )


def _worst(rule: Rule, classes: Classes, others: Classes, most: int) -> tuple[Places, int]:
    """Positions of the classes with most unsafe joins, then with the lowest level; and how many joins are unsafe."""
    kinds, kind = classes.distinct()
    other_kinds = others.distinct()[0]
    unsafe, lowest = np.zeros(len(kinds)), np.full(len(kinds), np.inf)
    for block in blocks(kinds, other_kinds):
        levels = rule.levels(kinds.take(block), other_kinds)
        unsafe[block] = rule.broken(levels) @ other_kinds.weight
        lowest[block] = levels.min(axis=1)
    return np.lexsort((lowest[kind], -unsafe[kind]))[:most], round(float(unsafe @ kinds.weight))


def _shown(setting: JoinSetting, levels: Floats) -> Floats:
    """Replace the infinite level of joins without a common value by 0 rows, or by NaN where the level is eta."""
    return np.where(np.isinf(levels), 0.0 if setting.delta is None else np.nan, levels)
