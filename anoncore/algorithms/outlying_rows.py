"""Which rows widen the cells of their classes: those that should be left out first."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from anoncore.kernels.arrays import Bools, Codes, Floats, Int64
from anoncore.release.recoding import Generalized
from anoncore.release.release import Release
from anoncore.table.domain import Kind

EQUAL_DIGITS = 9
"""Digits after the point in which scores must differ to count as different."""


def relief(release: Release) -> Floats:
    """By how much the information loss of a row's class falls if it is left out alone, with its own, float (n_rows,).

    In units of cells of one quasi-identifier. Rows of a class that share the lowest or the highest value of an
    attribute, or a category, narrow the class only together, so each of them has its part of what all of them save.
    The release is one table of generalized quasi-identifiers.
    """
    (fragment,) = release.fragments
    data, partition = release.data, fragment.partition
    score = np.zeros(data.n_rows)
    for name in data.quasi_identifiers:
        recoding = fragment.recodings[name]
        if isinstance(recoding, Generalized) and len(recoding.domain) > 1:
            runs = _Runs.of(partition.group, data.codes[name])
            saved = _narrower(recoding, runs)
            others = partition.sizes[runs.group] - runs.counts
            score[runs.order] += np.repeat(saved * others / runs.counts, runs.counts)
            score += recoding.loss()[partition.group]
    return np.round(score, EQUAL_DIGITS)


@dataclass(frozen=True, eq=False)
class _Runs:
    """The rows of each group that share a code, by group and then by code.

    `order` int64 (n_rows,) lists the rows run by run; `group`, `code` and `counts` (n_runs,) say whose run it is, which
    code it has, and how many rows. `first` and `last` bool (n_runs,) say whether it is the first or last of its group.
    """

    order: Int64
    group: Codes
    code: Codes
    counts: Int64
    first: Bools
    last: Bools

    @classmethod
    def of(cls, group: Codes, codes: Codes) -> _Runs:
        order = np.lexsort((codes, group))
        groups, ordered = group[order], codes[order]
        begins = np.flatnonzero(np.concatenate(([True], (groups[1:] != groups[:-1]) | (ordered[1:] != ordered[:-1]))))
        group_of = groups[begins]
        change = group_of[1:] != group_of[:-1]
        return cls(
            order,
            group_of,
            ordered[begins],
            np.diff(np.append(begins, len(order))),
            np.concatenate(([True], change)),
            np.concatenate((change, [True])),
        )


def _narrower(recoding: Generalized, runs: _Runs) -> Floats:
    """How much narrower the tightest region of a group becomes without a run, as a share of the domain, (n_runs,)."""
    saved = np.zeros(len(runs.code))
    several = ~(runs.first & runs.last)
    if recoding.form == "set":
        return np.where(several, 1 / (len(recoding.domain) - 1), 0.0)
    low, high = runs.code[runs.first], runs.code[runs.last]
    begins, ends = np.flatnonzero(runs.first), np.flatnonzero(runs.last)
    more = begins < ends
    begins, ends, low, high = begins[more], ends[more], low[more], high[more]
    before = _width(recoding, low, high)
    saved[begins] += before - _width(recoding, runs.code[begins + 1], high)
    saved[ends] += before - _width(recoding, low, runs.code[ends - 1])
    return saved


def _width(recoding: Generalized, low: Codes, high: Codes) -> Floats:
    """The share of the domain that the smallest regions from low to high cover, as `Generalized.loss` counts it."""
    domain = recoding.domain
    if recoding.form == "node" and domain.tree is not None:
        node = domain.tree.common_ancestor(low, high)
        low, high = domain.tree.first[node], domain.tree.last[node]
    elif recoding.form == "interval" and domain.kind is Kind.NUMERIC:
        width: Floats = domain.shares[high] - domain.shares[low]
        return width
    share: Floats = (high - low) / (len(domain) - 1)
    return share
