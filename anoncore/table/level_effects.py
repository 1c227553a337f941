"""What each level of a hierarchy would do to the groups of rows that nobody can tell apart."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral

import numpy as np

from anoncore.base.errors import DataError
from anoncore.base.texts import quoted
from anoncore.kernels.arrays import Codes
from anoncore.kernels.grouping import dense_key
from anoncore.table.domain import Domain
from anoncore.table.hierarchy import Hierarchy
from anoncore.table.microdata import Microdata
from anoncore.table.relations import smallest_and_below


@dataclass(frozen=True)
class LevelEffect:
    """What is left to tell apart if one attribute alone is generalized to a level.

    Attributes
    ----------
    level : int
        The level; 0 are the values themselves.
    n_values : int
        How many different values the attribute has on this level, missing included.
    smallest : int
        Rows, or people, of the smallest class: rows that are equal in all quasi-identifiers.
    n_below : int
        Rows in classes of fewer than k rows, or people.
    share_below : float
        These rows as a share of all rows, from 0 to 1.
    """

    level: int
    n_values: int
    smallest: int
    n_below: int
    share_below: float


def level_effects(
    data: Microdata, attribute: str, k: int, hierarchy: Hierarchy | None = None
) -> tuple[LevelEffect, ...]:
    """How the smallest class and the rows below k change with the level of one attribute, all others left as they are.

    Parameters
    ----------
    data : Microdata
        The table. Where one person may have several rows, classes are counted by people.
    attribute : str
        The attribute that is generalized; it counts as a quasi-identifier whatever its role.
    k : int
        The size that a class should have.
    hierarchy : Hierarchy, optional
        The hierarchy whose levels are tried; by default that of the attribute.

    Returns
    -------
    tuple of LevelEffect
        One per level, from level 0 to the top; level 0 alone where there is no hierarchy.

    Raises
    ------
    DataError
        Where the table lacks the attribute, k is below 1, or the hierarchy lacks a value.

    Notes
    -----
    Cost: O(n) per level for n rows, and O(n) per quasi-identifier once.

    Examples
    --------
    >>> import pandas as pd
    >>> from anoncore import Hierarchy, Microdata
    >>> from anoncore.table.level_effects import level_effects
    >>> people = pd.DataFrame({"age": [21, 24, 35, 38], "sex": ["f", "f", "m", "f"]})
    >>> data = Microdata(people, {"age": "quasi-identifier", "sex": "quasi-identifier"})
    >>> for effect in level_effects(data, "age", k=2, hierarchy=Hierarchy.by_width(people["age"], 10)):
    ...     print(effect.level, effect.n_values, effect.smallest, effect.n_below)
    0 4 1 4
    1 2 1 2
    2 1 1 1
    """
    domain = data.require_domain(attribute)
    if isinstance(k, bool) or not isinstance(k, Integral) or k < 1:
        raise DataError(f"A group has at least 1 row, so k must be a whole number, 1 or more, not {quoted(k)}.")
    tree = hierarchy if hierarchy is not None else data.hierarchies.get(attribute)
    codes = data.codes[attribute]
    others = dense_key((data.codes[name] for name in data.quasi_identifiers if name != attribute), data.n_rows)
    effects = []
    for level, group_of in enumerate(level_groups(domain, tree)):
        size = int(group_of.max(initial=-1)) + 1
        classes = dense_key([others * size + group_of[codes]], data.n_rows)
        smallest, rows_below = smallest_and_below(classes, k, data.people)
        effects.append(LevelEffect(level, size, smallest, rows_below, rows_below / data.n_rows))
    return tuple(effects)


def level_groups(domain: Domain, hierarchy: Hierarchy | None) -> list[Codes]:
    """The number of the group that each code of an attribute lies in, int32 (size,), per level from 0 to the top."""
    levels = [np.arange(len(domain), dtype=np.int32)]
    if hierarchy is None:
        return levels
    paths = hierarchy.paths_of(domain)
    for level in range(hierarchy.height):
        numbers: dict[str, int] = {}
        groups = [numbers.setdefault(path[level], len(numbers)) for path in paths]
        if domain.has_missing:
            # Missing joins the others at the top, and is a group of its own below it.
            groups.append(0 if level == hierarchy.height - 1 else len(numbers))
        levels.append(np.array(groups, dtype=np.int32))
    return levels
