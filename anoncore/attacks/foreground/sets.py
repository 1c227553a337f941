"""Attribute sets whose signatures are frequent enough to learn from, level by level."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Protocol

import numpy as np
import pandas as pd

from anoncore.base.showing import Result
from anoncore.kernels.arrays import Codes, Floats, Int64, record
from anoncore.kernels.foreground_cases import refine
from anoncore.kernels.foreground_shares import LearnedShares, written_out
from anoncore.table.domain import Domain

DENSE = 4
"""Up to so many possible keys per row they are counted, which is faster than sorting the keys of the rows."""


class Coded(Protocol):
    """Rows of a table by the codes of their values: the table itself, or some of its rows."""

    @property
    def n_rows(self) -> int:
        """Number of rows."""

    @property
    def codes(self) -> Mapping[str, Codes]:
        """Codes of each attribute, int32 (n_rows,)."""

    @property
    def domain(self) -> Mapping[str, Domain]:
        """The values behind the codes."""


@record
class Signatures:
    """The reliable signatures of one attribute set: those with at least J rows.

    `classes` int32 (n_rows,): 0..m-1 for the reliable signatures, m for all other rows. `rows` int64 (m,) counts them,
    `values` int32 (m, number of attributes) are their codes.
    """

    attributes: tuple[str, ...]
    classes: Codes
    rows: Int64
    values: Codes

    def __len__(self) -> int:
        return len(self.rows)


@record
class SetLeak(Result):
    """What one attribute set gives away on its own.

    Attributes
    ----------
    attributes : tuple of str
        The attributes of the set.
    signatures : ndarray of int32, shape (m, n_attributes)
        Codes of its m reliable signatures.
    rows : ndarray of int64, shape (m,)
        Rows that have each signature.
    learned_shares, true_shares : LearnedShares
        p(s:x) by the release and by the original table, where they are not 0; `learned` and `true` have all of them.
    recall : float
        Share of the people with a protected value whose p(t:x) exceeds 1 / r by this set alone.
    flagged : float
        Share of the people with a p(t:x) above 1 / r for a value that they do not have.
    mean_probability : float
        Mean p(t:x) of people's own values.
    relative_error : float
        Mean of |learned - true| / true where true is above 0; NaN if it nowhere is.
    guessing_error : float
        The same for the overall share in place of what was learned.
    mean_range : float
        Largest minus smallest p(s:x) in a group, on average over groups and values.
    steps : int
        Steps of the solver over all values.
    converged : bool
        Whether the solver reached its tolerance.
    contradicted : int
        Groups that no possible world explains.
    seconds : float
        Time to learn.
    work : int
        What the attack with this set went through, whatever machine it ran on: entries of groups over all steps of the
        solver, and rows.

    Examples
    --------
    >>> import pandas as pd
    >>> from anoncore import Exact, Fragment, Microdata, Partition, Release, attacks
    >>> people = pd.DataFrame({"nation": list("JJJAAA"), "disease": ["flu"] * 3 + ["gout"] * 3})
    >>> data = Microdata(people, roles={"nation": "quasi-identifier", "disease": "sensitive"})
    >>> buckets = Partition([0, 0, 1, 1, 2, 2])
    >>> exact = {name: Exact(data.domain[name], buckets, data.codes[name]) for name in data.attributes}
    >>> release = Release(data, tuple(Fragment(name, buckets, {name: exact[name]}) for name in exact))
    >>> (leak,) = attacks.foreground_knowledge(release, "disease", epsilon=0.4).sets
    >>> leak.attributes, leak.rows.tolist(), leak.recall
    (('nation',), [3, 3], 1.0)
    """

    attributes: tuple[str, ...]
    signatures: Codes
    rows: Int64
    learned_shares: LearnedShares
    true_shares: LearnedShares
    recall: float
    flagged: float
    mean_probability: float
    relative_error: float
    guessing_error: float
    mean_range: float
    steps: int
    converged: bool
    contradicted: int
    seconds: float
    work: int

    @property
    def learned(self) -> Floats:
        """p(s:x) by the release, float (m, n_values)."""
        return written_out(self.learned_shares).T

    @property
    def true(self) -> Floats:
        """p(s:x) by the original table, float (m, n_values)."""
        return written_out(self.true_shares).T

    @property
    def label(self) -> str:
        """The attributes as text."""
        return ", ".join(self.attributes)


def everyone(data: Coded) -> Signatures:
    """The empty attribute set, which tells nobody apart."""
    codes = np.zeros(data.n_rows, np.int32)
    return Signatures((), codes, np.array([data.n_rows]), np.zeros((1, 0), np.int32))


def signatures_of(data: Coded, attributes: Sequence[str], minimum_rows: float) -> Signatures | None:
    """The reliable signatures of one attribute set; None if there are none."""
    signatures: Signatures | None = everyone(data)
    for name in attributes:
        signatures = None if signatures is None else _refined(signatures, data, name, minimum_rows)
    return signatures


def levels(
    data: Coded, names: Sequence[str], minimum_rows: float, max_size: int | None
) -> Iterator[tuple[Signatures, ...]]:
    """Attribute sets with a reliable signature, all of one size at a time.

    A signature is at most as frequent as any part of it, so a set is looked at only if all its subsets have one.
    """
    level: Mapping[tuple[str, ...], Signatures] = {(): everyone(data)}
    position = {name: i for i, name in enumerate(names)}
    for size in range(1, (len(names) if max_size is None else min(max_size, len(names))) + 1):
        next_level = {}
        for attributes, parent in level.items():
            for name in names[position[attributes[-1]] + 1 if attributes else 0 :]:
                wanted = (*attributes, name)
                if any(subset not in level for subset in combinations(wanted, size - 1)):
                    continue
                refined = _refined(parent, data, name, minimum_rows)
                if refined is not None:
                    next_level[wanted] = refined
        if not next_level:
            return
        yield tuple(next_level.values())
        level = next_level


def _refined(parent: Signatures, data: Coded, name: str, minimum_rows: float) -> Signatures | None:
    """Split the parent's signatures by one more attribute; rows without a reliable signature stay without one."""
    codes, size = data.codes[name], len(data.domain[name])
    m = len(parent)
    if m * size <= DENSE * len(codes):
        classes, kept, rows = refine(parent.classes, codes, m, size, minimum_rows)
    else:
        key = parent.classes.astype(np.int64) * size + codes
        number_of_key, unique = pd.factorize(key, sort=True)
        count = np.bincount(number_of_key)
        chosen = np.flatnonzero((count >= minimum_rows) & (unique < m * size))
        kept, rows = np.asarray(unique)[chosen], count[chosen]
        renumber = np.full(len(unique), len(kept), np.int32)
        renumber[chosen] = np.arange(len(kept), dtype=np.int32)
        classes = renumber[number_of_key]
    if len(kept) == 0:
        return None
    values = np.column_stack([parent.values[kept // size], (kept % size).astype(np.int32)])
    return Signatures((*parent.attributes, name), classes, rows, values)
