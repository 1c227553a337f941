"""Random count queries, as the literature poses them to bucketized and generalized tables."""

from __future__ import annotations

from functools import cached_property
from math import ceil
from typing import Any

import numpy as np

from anoncore.base.arguments import checked_methods
from anoncore.base.errors import ParameterError
from anoncore.base.showing import Shown
from anoncore.base.texts import listing
from anoncore.kernels.arrays import Bytes, Int64, record
from anoncore.kernels.grouping import starts_of
from anoncore.kernels.queries import draw_accepted
from anoncore.table.microdata import Microdata

BLOCK = 512
"""Queries that are answered at once: a block of predicates fits into a core's cache."""


@checked_methods
@record
class QueryWorkload(Shown):
    """Random count queries: how many rows have a value of set 1 in attribute 1, a value of set 2 in attribute 2, ...

    Each query constrains some of the quasi-identifiers, drawn at random, and the sensitive attribute. Each set has b =
    ceil(domain size * selectivity^(1 / (dimensions + 1))) random values (missing is a value), so that about the share
    `selectivity` of a table with independent, uniform attributes matches. The queries come in blocks that are drawn
    when needed, always the same for a seed.

    Attributes
    ----------
    data : Microdata
        The table that is asked about.
    quasi_identifiers : tuple of str
        The quasi-identifiers that queries may constrain.
    sensitive : str
        The sensitive attribute that every query constrains.
    n_queries : int
        Number of queries, at least 1.
    dimensions : int
        Quasi-identifiers that a query constrains.
    selectivity : float
        Share of the rows that a query should match, above 0 and at most 1.
    seed : int
        Makes the queries repeatable, at least 0.

    Raises
    ------
    ParameterError
        For a number out of range.

    References
    ----------
    Xiao and Tao, Anatomy, VLDB 2006, section 6.

    Examples
    --------
    A quarter of the rows should match, so each of two attributes accepts the root of that, half of its two values:

    >>> import pandas as pd
    >>> from anoncore import Microdata, utility
    >>> people = pd.DataFrame({"age": [20, 20, 60, 60], "disease": ["flu", "flu", "cold", "cold"]})
    >>> data = Microdata(people, roles={"age": "quasi-identifier", "disease": "sensitive"})
    >>> workload = utility.QueryWorkload(data, ("age",), "disease", n_queries=3, dimensions=1, selectivity=0.25, seed=0)
    >>> workload.set_sizes.tolist(), [len(values) for values in workload.predicates(0).values()]
    ([1, 1], [1, 1])
    """

    data: Microdata
    quasi_identifiers: tuple[str, ...]
    sensitive: str
    n_queries: int
    dimensions: int
    selectivity: float
    seed: int

    def __post_init__(self) -> None:
        if self.n_queries < 1:
            raise ParameterError(f"The number of queries must be at least 1, not {self.n_queries}.")
        if not 1 <= self.dimensions <= len(self.quasi_identifiers):
            raise ParameterError(
                f"A query constrains 1 to {len(self.quasi_identifiers)} of the published quasi-identifiers "
                f"({listing(self.quasi_identifiers)}), not {self.dimensions}."
            )
        if not 0 < self.selectivity <= 1:
            raise ParameterError(f"The selectivity is a share above 0 and at most 1, not {self.selectivity:g}.")
        if self.seed < 0:
            raise ParameterError(f"The seed must be at least 0, not {self.seed}.")

    @property
    def attributes(self) -> tuple[str, ...]:
        """The quasi-identifiers, then the sensitive attribute: in this order their values stand in a block."""
        return (*self.quasi_identifiers, self.sensitive)

    @cached_property
    def starts(self) -> Int64:
        """Where each attribute's values begin in a block, int64 (n_attributes + 1,)."""
        return starts_of(len(self.data.domain[name]) for name in self.attributes)

    @cached_property
    def set_sizes(self) -> Int64:
        """Values b that a predicate accepts, int64 (n_attributes,)."""
        share = self.selectivity ** (1 / (self.dimensions + 1))
        return np.array([max(1, ceil(size * share - 1e-9)) for size in np.diff(self.starts)], np.int64)

    @property
    def n_blocks(self) -> int:
        """Number of blocks."""
        return -(-self.n_queries // BLOCK)

    def block(self, index: int) -> Bytes:
        """Draw the predicates of one block of queries.

        Parameters
        ----------
        index : int
            Number of the block; it begins with query `index * BLOCK`.

        Returns
        -------
        ndarray of uint8, shape (n_places, number of queries)
            1 where a query accepts a value; the places are the values of all attributes, one attribute after the other.
        """
        width = min(BLOCK, self.n_queries - index * BLOCK)
        rng = np.random.default_rng((self.seed, index))
        chosen = np.ones((width, len(self.attributes)), np.bool_)
        order = rng.random((width, len(self.quasi_identifiers))).argsort(axis=1).argsort(axis=1)
        chosen[:, :-1] = order < self.dimensions
        chance = rng.random(int((chosen @ self.set_sizes).sum()))
        return draw_accepted(chosen, self.starts, self.set_sizes, chance)

    def predicates(self, query: int) -> dict[str, list[Any]]:
        """The values that one query accepts, by attribute.

        An attribute is left out where the query does not constrain it.

        Parameters
        ----------
        query : int
            Number of the query, from 0.

        Returns
        -------
        dict of str to list
            The accepted values of each attribute that the query constrains; all of them, where b is the domain size.

        Raises
        ------
        ParameterError
            For a query that does not exist.
        """
        if not 0 <= query < self.n_queries:
            raise ParameterError(f"Queries are numbered 0 to {self.n_queries - 1}, not {query}.")
        accept = self.block(query // BLOCK)[:, query % BLOCK]
        sets = {}
        for number, name in enumerate(self.attributes):
            codes = np.flatnonzero(accept[self.starts[number] : self.starts[number + 1]])
            if len(codes) == self.set_sizes[number]:
                sets[name] = [self.data.domain[name][int(code)] for code in codes]
        return sets
