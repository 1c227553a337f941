"""Tuple partitioning: the tables that the slicing kernels work on, made from columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from anoncore.kernels.arrays import Codes, Floats, Int64, runs_from, starts_of
from anoncore.kernels.attributes import Attributes
from anoncore.kernels.checking import KernelChecks
from anoncore.kernels.slicing import Masses, Signatures, new_masses
from anoncore.kernels.slicing_buckets import DONE, Buckets, Guards, split_buckets
from anoncore.release.overlap import links
from anoncore.requirements import CheckSet, Requirement
from anoncore.table.kernel_attributes import kernel_attributes
from anoncore.table.keys import dense_key
from anoncore.table.microdata import Microdata

Cells = dict[str, tuple[Codes, ...]]
"""What a column publishes of each attribute, as integer columns (n_rows,) that are equal where the cells are."""


@dataclass(frozen=True, eq=False)
class _Factor:
    """The rows by what one column, or one link between overlapping columns, shows of the quasi-identifiers.

    `key` is a number per row, and `power` says whether the share of the rows with it is multiplied (1, a column) or
    divided (-1, a link).
    """

    key: Int64
    power: int
    is_shown: bool
    is_sensitive: bool


@dataclass(frozen=True, eq=False)
class _Beliefs:
    """What can be believed about one sensitive attribute: the signature of every row, the value of every entry of a
    signature, and for the kernels their table and the cells of the rows, int64 (n_rows, n_cells), that it counts.
    """

    signature: Int64
    entry_code: Int64
    table: Signatures
    cells: Int64

    @classmethod
    def of(cls, data: Microdata, columns: Sequence[Cells], sensitive: str) -> _Beliefs:
        factors = _factors(data, columns, sensitive)
        signature = dense_key((factor.key for factor in factors), data.n_rows)
        _, first = np.unique(signature, return_index=True)
        values, n_protected = sensitive_codes(data, sensitive)
        shown = [factor for factor in factors if factor.is_shown]
        pairs = [_Pairs.of(factor.key, values) for factor in factors if factor.is_sensitive]
        entry_start, entry_code, entry_pairs = _entries(
            pairs, [factor.key[first] for factor in factors if factor.is_sensitive]
        )
        table = Signatures(
            first_factor=0,
            power=np.array([0 if factor.is_sensitive else factor.power for factor in shown], dtype=np.int64),
            pair_power=np.array([factor.power for factor in factors if factor.is_sensitive], dtype=np.int64),
            codes=np.column_stack([factor.key[first] for factor in shown]).astype(np.int32),
            entry_start=entry_start,
            pairs=entry_pairs,
            protected=entry_code < n_protected,
            factor_start=starts_of(int(factor.key.max()) + 1 for factor in shown),
            pair_start=starts_of(len(of_factor.key) for of_factor in pairs),
            code_start=starts_of(np.concatenate([np.bincount(factor.key[first]) for factor in shown])),
            with_code=np.concatenate([np.argsort(factor.key[first], kind="stable") for factor in shown]).astype(
                np.int32
            ),
        )
        cells = [factor.key for factor in shown] + [of_factor.of_row for of_factor in pairs]
        return cls(signature, entry_code, table, np.column_stack(cells))


@dataclass(eq=False)
class TupleSearch:
    """Buckets of a sliced table, split one after another while every person keeps the l of each sensitive attribute and
    every bucket the requirements.

    Each attribute has sums of its own, so beliefs about one are bounded whatever is known of the others, and so is the
    belief in any combination of values. `group` and `probability` may be read between steps. Source: Li et al.,
    slicing, sections 3.2 and 4.3.
    """

    beliefs: tuple[_Beliefs, ...]
    tables: tuple[Signatures, ...]
    masses: tuple[Masses, ...]
    buckets: Buckets
    checks: KernelChecks
    attributes: Attributes
    guards: Guards

    @classmethod
    def of(
        cls,
        data: Microdata,
        columns: Sequence[Cells],
        levels: Mapping[str, float],
        distinct: bool,
        retry: bool,
        requirements: Sequence[Requirement] = (),
    ) -> TupleSearch:
        """One bucket with all rows. `columns` are the cells of each column, sensitive values exact; `levels` has the l
        of every sensitive attribute.
        """
        beliefs = tuple(_Beliefs.of(data, columns, name) for name in levels)
        checks, names = CheckSet(requirements, data), data.quasi_identifiers
        rows = np.column_stack(
            [data.codes[name] for name in names]
            + [one.cells for one in beliefs]
            + [checks.cells, np.arange(data.n_rows)]
        ).astype(np.int32)
        begins = len(names) + starts_of(one.cells.shape[1] for one in beliefs)
        tables = tuple(
            one.table._replace(first_factor=begin) for one, begin in zip(beliefs, begins[:-1].tolist(), strict=True)
        )
        queue = np.zeros((2, 2 * data.n_rows), dtype=np.int64)
        queue[1, 0] = data.n_rows
        starts = np.zeros(data.n_rows, dtype=np.uint8)
        starts[0] = 1
        search = cls(
            beliefs,
            tables,
            tuple(map(new_masses, tables)),
            Buckets(rows, np.empty_like(rows), starts, queue, np.array([0, 1, 0], dtype=np.int64)),
            checks.kernel,
            kernel_attributes([replace(data.domain[name], tree=None) for name in names]),
            Guards(
                np.array(list(levels.values()), dtype=np.float64), distinct, retry, data.content_words, int(begins[-1])
            ),
        )
        search.sum_anew()
        return search

    def step(self, budget: int, anew: bool = False) -> bool:
        """Work off the queue until about `budget` rows and signatures were visited; returns whether some are left."""
        return split_buckets(
            self.buckets, self.tables, self.masses, self.checks, self.attributes, self.guards, budget, anew
        )

    def sum_anew(self) -> None:
        """Forget the sums that were kept from split to split, and compute them from all buckets."""
        self.step(0, anew=True)

    @property
    def done(self) -> int:
        """Rows in buckets that are final."""
        return int(self.buckets.places[DONE])

    @property
    def group(self) -> Codes:
        """The bucket of every row so far, int32 (n_rows,) in original order."""
        group = np.empty(len(self.buckets.rows), dtype=np.int32)
        group[self.buckets.rows[:, -1]] = np.cumsum(self.buckets.begins, dtype=np.int32) - 1
        return group

    def probability(self) -> Floats:
        """p(t, s) of the first sensitive attribute as kept so far, (n_rows, n_values), by the codes of the values that
        need protection, then the others.

        For the distinct check the number of buckets in which each value is possible, as a share.
        """
        first = self.beliefs[0]
        mass = np.zeros((len(first.table.codes), int(first.entry_code.max()) + 1))
        of_entry = np.repeat(np.arange(len(mass)), np.diff(first.table.entry_start))
        mass[of_entry, first.entry_code] = self.masses[0].high
        return (mass / mass.sum(axis=1, keepdims=True))[first.signature]


def _factors(data: Microdata, columns: Sequence[Cells], sensitive: str) -> list[_Factor]:
    """Columns that show a quasi-identifier or the sensitive attribute, and the links between them."""
    known = set(data.quasi_identifiers)
    factors = []
    shared = [({name: columns[link.column][name] for name in link.attributes}, -1) for link in links(columns)]
    for cells, power in [*((column, 1) for column in columns), *shared]:
        names = sorted(known & cells.keys(), key=data.quasi_identifiers.index)
        if names or sensitive in cells:
            key = dense_key((codes for name in names for codes in cells[name]), data.n_rows)
            factors.append(
                _Factor(key, power, bool(names) and (power > 0 or sensitive not in cells), sensitive in cells)
            )
    return factors


def sensitive_codes(data: Microdata, sensitive: str) -> tuple[Int64, int]:
    """Codes that put the protected values first (a protected set is one value), and their number."""
    codes, size = data.codes[sensitive].astype(np.int64), len(data.domain[sensitive])
    protected = data.sensitive_values.get(sensitive)
    if protected is None:
        return codes, size
    recode = np.arange(1, size + 1)
    recode[[data.domain[sensitive].code_of(value) for value in protected]] = 0
    return np.unique(recode, return_inverse=True)[1][codes], 1


@dataclass(frozen=True, eq=False)
class _Pairs:
    """The pairs of a cell and a sensitive value that occur, by `key` = cell * n_values + value, ascending."""

    of_row: Int64
    key: Int64
    n_values: int

    @classmethod
    def of(cls, cell: Int64, values: Int64) -> _Pairs:
        n_values = int(values.max()) + 1
        key, of_row = np.unique(cell * n_values + values, return_inverse=True)
        return cls(of_row, key, n_values)

    def of_cells(self, cells: Int64) -> tuple[Int64, Int64]:
        """All pairs of the given cells: for each pair, the index of its cell among the given ones, and the number of
        the pair.
        """
        begin = np.searchsorted(self.key, cells * self.n_values)
        sizes = np.searchsorted(self.key, (cells + 1) * self.n_values) - begin
        return np.repeat(np.arange(len(cells)), sizes), runs_from(begin, sizes)


def _entries(pairs: Sequence[_Pairs], cells: Sequence[Int64]) -> tuple[Int64, Int64, Codes]:
    """Where the entries of each signature begin, the sensitive value of each entry, and the numbers of its pairs.

    An entry is a sensitive value that a signature can have; `cells` are the signatures' cells in each column that shows
    it.
    """
    owner, pair = pairs[0].of_cells(cells[0])
    value = pairs[0].key[pair] % pairs[0].n_values
    pair_of_entry = [pair]
    for factor_pairs, cell in zip(pairs[1:], cells[1:], strict=True):
        key = cell[owner] * factor_pairs.n_values + value
        number = np.minimum(np.searchsorted(factor_pairs.key, key), len(factor_pairs.key) - 1)
        possible = factor_pairs.key[number] == key
        pair_of_entry = [numbers[possible] for numbers in (*pair_of_entry, number)]
        owner, value = owner[possible], value[possible]
    start = np.searchsorted(owner, np.arange(len(cells[0]) + 1))
    return start, value, np.column_stack(pair_of_entry).astype(np.int32)
