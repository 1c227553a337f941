"""What to choose where slicing cannot keep an l: other columns, a smaller l, or the reason why no column helps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from anoncore.algorithms.slicing.attribute_partition import partition_attributes
from anoncore.algorithms.slicing.tuple_partition import sensitive_codes
from anoncore.base.errors import DataError
from anoncore.kernels.arrays import record
from anoncore.kernels.grouping import dense_key, occurring_pairs
from anoncore.kernels.rounding import ACCUMULATED, reaches
from anoncore.requirements.worth import SURE_L
from anoncore.table.microdata import Microdata
from anoncore.utility.associations import association

MOST_COLUMNS = 12
"""Numbers of columns that are tried at most; sizes of the sensitive column are halved, which finds the largest."""


@dataclass(frozen=True)
class Offer:
    """Parameters with which slicing keeps an l, or why there are none.

    `changes` are the parameters to set, empty where nothing helps, and `advice` says in words what they do.
    """

    advice: str
    changes: Mapping[str, Any] = field(default_factory=dict)


@record
class OneBucket:
    """The sliced table with all rows in one bucket, in which only what stands beside a sensitive value tells of it."""

    data: Microdata
    attribute: str
    distinct: bool

    def reached(self, beside: Sequence[str]) -> float:
        """The l that everybody has where these attributes share the column of the sensitive one.

        Each further attribute divides the rows further, so it never raises l.
        """
        values, n_protected = sensitive_codes(self.data, self.attribute)
        known = [name for name in beside if name in self.data.quasi_identifiers and name != self.attribute]
        cell = dense_key((self.data.codes[name] for name in known), self.data.n_rows)
        rows_of = np.bincount(cell)
        cells, codes, counts = occurring_pairs(cell, values)
        if self.distinct:
            return float(np.bincount(cells).min())
        protected = codes < n_protected
        shares = counts[protected] / rows_of[cells[protected]]
        return 1 / float(shares.max())

    def keeps(self, beside: Sequence[str], l: float) -> bool:
        """Whether everybody has l with these attributes beside the sensitive one."""
        return bool(reaches(self.reached(beside), l, ACCUMULATED))

    def most_beside(self, ranked: Sequence[str], l: float) -> int:
        """How many of the attributes, the first ones first, may stand beside the sensitive one; -1 for none at all."""
        low, high = -1, len(ranked)
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if self.keeps(ranked[:middle], l) else (low, middle - 1)
        return low


def find_offer(
    data: Microdata,
    attribute: str,
    l: float,
    distinct: bool,
    columns: Sequence[Sequence[str]],
    by_hand: bool,
    intervals: int,
) -> Offer:
    """The parameters that keep the l that was asked for, or else the largest that any columns keep.

    `columns` are those that do not keep it. Where they were made by hand, attributes that tell too much of the
    sensitive one move into a column of their own. Otherwise, of the ways to keep l, the one with most attributes beside
    the sensitive one is offered: a smaller sensitive column (`sensitive_column_size`), or more columns, of which at
    most twelve numbers are tried. Generalized columns keep no larger l than the sensitive attribute in a column of its
    own.
    """
    bucket = OneBucket(data, attribute, distinct)
    best = bucket.reached([])
    wanted = l if bucket.keeps([], l) else int(best * 100 + 1e-6) / 100
    if wanted <= (1 if distinct else SURE_L):
        return Offer(_no_way(data, attribute, best, distinct))
    phi = association(data, intervals)
    correlation = dict(zip(phi.columns, phi.loc[attribute].to_numpy(dtype=np.float64).tolist(), strict=True))
    ranked = sorted((name for name in data.attributes if name != attribute), key=lambda name: -correlation[name])
    all_names = [name for column in columns for name in column]
    if by_hand and len(set(all_names)) == len(all_names):
        changes, beside = _moved_apart(bucket, wanted, columns, ranked)
    else:
        changes, beside = _clustered_apart(bucket, wanted, columns, ranked, intervals)
    lowered = wanted < l
    if lowered:
        changes["l"] = wanted
    with_what = f"beside {', '.join(beside)} alone" if beside else "in a column of its own"
    titles = {"sensitive_column_size": "sensitive column", "columns": "columns", "l": "l"}
    settings = ", ".join(f"{titles[name]} = {value}" for name, value in changes.items() if value and name in titles)
    first = f"at most l = {wanted:g} can be kept" if lowered else f"l = {wanted:g} can be kept"
    return Offer(f"{first} with '{attribute}' {with_what}{f' ({settings})' if settings else ''}", changes)


def offer_for_several(data: Microdata, levels: Mapping[str, float], distinct: bool, own: Mapping[str, float]) -> Offer:
    """Columns that keep the l of several sensitive attributes: each in a column of its own, with a smaller l where even
    that does not keep it.

    `levels` has the l of each; `own` are those that the method was given by name.
    """
    best = {name: OneBucket(data, name, distinct).reached([]) for name in levels}
    failing = [name for name, wanted in levels.items() if not reaches(best[name], wanted, ACCUMULATED)]
    short = {name: int(best[name] * 100 + 1e-6) / 100 for name in failing}
    lost = next((name for name, reached in short.items() if reached <= (1 if distinct else SURE_L)), None)
    if lost is not None:
        return Offer(_no_way(data, lost, best[lost], distinct))
    rest = tuple(name for name in data.attributes if name not in levels)
    changes: dict[str, Any] = {
        "attribute_columns": (rest, *((name,) for name in levels)),
        "sensitive_column_size": None,
    }
    if not short:
        return Offer("what was asked for can be kept with every sensitive attribute in a column of its own", changes)
    changes["levels"] = {**own, **short}
    said = ", ".join(f"l = {reached:g} for '{name}'" for name, reached in short.items())
    return Offer(f"at most {said} can be kept, with every sensitive attribute in a column of its own", changes)


def _moved_apart(
    bucket: OneBucket, l: float, columns: Sequence[Sequence[str]], ranked: Sequence[str]
) -> tuple[dict[str, Any], list[str]]:
    """Columns by hand that keep l, without some attributes beside the sensitive one, and those that stay there."""
    own = next(column for column in columns if bucket.attribute in column)
    known = [name for name in ranked if name in own and name in bucket.data.quasi_identifiers]
    beside = known[: bucket.most_beside(known, l)]
    moved = tuple(name for name in own if name in known and name not in beside)
    left = tuple(name for name in own if name not in moved)
    others = tuple(tuple(column) for column in columns if column is not own)
    return {"attribute_columns": (*others, *((moved,) if moved else ()), left)}, [
        name for name in left if name != bucket.attribute
    ]


def _clustered_apart(
    bucket: OneBucket, l: float, columns: Sequence[Sequence[str]], ranked: Sequence[str], intervals: int
) -> tuple[dict[str, Any], list[str]]:
    """Parameters of the clustering that keep l, and what then stands beside the sensitive attribute."""
    data, attribute = bucket.data, bucket.attribute
    n_columns = max(2, min(len(columns), len(ranked) + 1))
    # The other columns need an attribute each.
    possible = ranked[: len(ranked) + 1 - n_columns]
    size = bucket.most_beside(possible, l)
    best: tuple[dict[str, Any], list[str]] = (
        {"sensitive_column_size": size + 1, "columns": n_columns, "attribute_columns": None},
        list(ranked[:size]),
    )
    for number in range(n_columns + 1, min(n_columns + MOST_COLUMNS, len(ranked) + 1) + 1):
        try:
            clustered = partition_attributes(data, number, None, intervals).columns
        except DataError:
            break
        column = next(one for one in clustered if attribute in one)
        beside = [name for name in column if name != attribute]
        if len(beside) > len(best[1]) and bucket.keeps(beside, l):
            best = {"columns": number, "sensitive_column_size": None, "attribute_columns": None}, beside
    return best


def _no_way(data: Microdata, attribute: str, best: float, distinct: bool) -> str:
    if distinct:
        return f"the table cannot be sliced with '{attribute}': it has one value only"
    view = data.sensitive_view(attribute)
    counts = np.bincount(view.codes, minlength=view.size)
    if view.unique >= 0:
        counts[view.unique] = 0
    label = view.labels[int(np.argmax(counts))]
    return (
        f"the table cannot be sliced with '{attribute}': {label!r} has {1 / best:.1%} of its rows, so whatever the "
        "columns are, an adversary is nearly certain of it"
    )
