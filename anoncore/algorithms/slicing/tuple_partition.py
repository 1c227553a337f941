"""Tuple partitioning: the tables that the slicing kernels work on, made from columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from anoncore.base.memory import require_memory
from anoncore.base.shared_work import cached
from anoncore.kernels.arrays import Codes, Floats, Int64, record
from anoncore.kernels.attributes import Attributes
from anoncore.kernels.checking import KernelChecks
from anoncore.kernels.grouping import (
    dense_key,
    first_rows,
    numbered_inside_groups,
    order_by_nearness,
    owners,
    places_in,
    put_at,
    runs_from,
    starts_of,
)
from anoncore.kernels.slicing import Masses, Signatures, new_masses
from anoncore.kernels.slicing_buckets import DONE, Buckets, Guards, split_buckets
from anoncore.release.overlap import links
from anoncore.requirements import CheckSet, Requirement
from anoncore.table.domain import kernel_attributes
from anoncore.table.microdata import Microdata

ENTRY_BYTES = 48
"""Bytes of memory per entry, which is a sensitive value that a signature can have, at the most that tables take."""
Cells = dict[str, tuple[Codes, ...]]
"""What a column publishes of each attribute, as integer columns (n_rows,) that are equal where the cells are."""


@record
class _Factor:
    """The rows by what one column, or one link between overlapping columns, shows of the quasi-identifiers.

    `key` is a number per row, and `power` says whether the share of the rows with it is multiplied (1, a column) or
    divided (-1, a link).
    """

    key: Int64
    power: int
    is_shown: bool
    is_sensitive: bool


@record
class _Beliefs:
    """What can be believed about one sensitive attribute: the signature of every row, the value of every entry of a
    signature, and for the kernels their table and the cells of the rows, int32 (n_rows, n_cells), that it counts.

    Rows are in an order of their own, and signatures are numbered in it: what one bucket needs lies together there.
    """

    signature: Int64
    entry_code: Int64
    table: Signatures
    cells: Codes

    @classmethod
    def of(cls, data: Microdata, columns: Sequence[Cells], sensitive: str, order: Int64) -> _Beliefs:
        factors = _factors(data, columns, sensitive, order)
        signature = dense_key((factor.key for factor in factors), data.n_rows)
        first = first_rows(signature)
        values, n_protected = sensitive_codes(data, sensitive)
        values = values[order]
        shown = [factor for factor in factors if factor.is_shown]
        pairs = [_Pairs.of(factor.key, values) for factor in factors if factor.is_sensitive]
        of_signature = [factor.key[first] for factor in factors if factor.is_sensitive]
        n_entries = int(np.bincount(pairs[0].key // pairs[0].n_values)[of_signature[0]].sum())
        require_memory(
            n_entries * ENTRY_BYTES,
            f"Slicing {data.n_rows:,} rows whose '{sensitive}' could be any of {values.max() + 1:,} values",
            f"round or group the values of '{sensitive}', or take fewer rows",
        )
        entry_start, entry_code, entry_pairs = _entries(pairs, of_signature)
        table = Signatures(
            first_factor=0,
            power=np.array([0 if factor.is_sensitive else factor.power for factor in shown], np.int64),
            pair_power=np.array([factor.power for factor in factors if factor.is_sensitive], np.int64),
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
        return cls(signature, entry_code, table, np.column_stack(cells).astype(np.int32))


@dataclass(eq=False)
class TupleSearch:
    """Buckets of a sliced table, split one after another while every person keeps the l of each sensitive attribute and
    every bucket the requirements.

    Each attribute has sums of its own, so beliefs about one are bounded whatever is known of the others, and so is the
    belief in any combination of values. `group` and `probability` may be read between steps. Source: Li et al.,
    slicing, sections 3.2 and 4.3.
    """

    beliefs: tuple[_Beliefs, ...]
    order: Int64
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
        checks, names = CheckSet(requirements, data), data.quasi_identifiers
        known = [data.codes[name] for name in names]
        # It is the same whatever is asked of the buckets.
        order = cached(data, "order by nearness", names, lambda: order_by_nearness(known, data.n_rows), most=1)
        beliefs = tuple(_Beliefs.of(data, columns, name, order) for name in levels)
        rows = np.column_stack(
            [codes[order] for codes in known]
            + [one.cells for one in beliefs]
            + [checks.cells[order], order.astype(np.int32)]
        )
        begins = len(names) + starts_of(one.cells.shape[1] for one in beliefs)
        tables = tuple(
            one.table._replace(first_factor=begin) for one, begin in zip(beliefs, begins[:-1].tolist(), strict=True)
        )
        queue = np.zeros((2, 2 * data.n_rows), np.int64)
        queue[1, 0] = data.n_rows
        starts = np.zeros(data.n_rows, np.uint8)
        starts[0] = 1
        search = cls(
            beliefs,
            order,
            tables,
            tuple(map(new_masses, tables)),
            Buckets(rows, np.empty_like(rows), starts, queue, np.array([0, 1, 0], np.int64)),
            checks.kernel,
            kernel_attributes([replace(data.domain[name], tree=None) for name in names]),
            Guards(np.array(list(levels.values()), np.float64), distinct, retry, data.content_words, int(begins[-1])),
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
        return put_at(self.buckets.rows[:, -1], np.cumsum(self.buckets.begins, dtype=np.int32) - 1)

    def probability(self) -> Floats:
        """p(t, s) of the first sensitive attribute as kept so far, (n_rows, n_values), by the codes of the values that
        need protection, then the others.

        For the distinct check the number of buckets in which each value is possible, as a share.
        """
        first = self.beliefs[0]
        mass = np.zeros((len(first.table.codes), int(first.entry_code.max()) + 1))
        of_entry = owners(np.diff(first.table.entry_start))
        mass[of_entry, first.entry_code] = self.masses[0].high
        return (mass / mass.sum(axis=1, keepdims=True))[put_at(self.order, first.signature)]


def _factors(data: Microdata, columns: Sequence[Cells], sensitive: str, order: Int64) -> list[_Factor]:
    """Columns that show a quasi-identifier or the sensitive attribute, and the links between them, of the rows in an
    order.
    """
    known = set(data.quasi_identifiers)
    factors = []
    shared = [({name: columns[link.column][name] for name in link.attributes}, -1) for link in links(columns)]
    for cells, power in [*((column, 1) for column in columns), *shared]:
        names = sorted(known & cells.keys(), key=data.quasi_identifiers.index)
        if names or sensitive in cells:
            key = dense_key((codes[order] for name in names for codes in cells[name]), data.n_rows)
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


@record
class _Pairs:
    """The pairs of a cell and a sensitive value that occur, by `key` = cell * n_values + value, ascending."""

    of_row: Int64
    key: Int64
    n_values: int

    @classmethod
    def of(cls, cell: Int64, values: Int64) -> _Pairs:
        n_values = int(values.max()) + 1
        of_row, of_pair, value, _ = numbered_inside_groups(cell, values)
        return cls(of_row, of_pair * n_values + value, n_values)

    def of_cells(self, cells: Int64) -> tuple[Int64, Int64]:
        """All pairs of the given cells: for each pair, the index of its cell among the given ones, and the number of
        the pair.
        """
        begin = np.searchsorted(self.key, cells * self.n_values)
        sizes = np.searchsorted(self.key, (cells + 1) * self.n_values) - begin
        return owners(sizes), runs_from(begin, sizes)


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
        number, possible = places_in(factor_pairs.key, key)
        pair_of_entry = [numbers[possible] for numbers in (*pair_of_entry, number)]
        owner, value = owner[possible], value[possible]
    start = starts_of(np.bincount(owner, minlength=len(cells[0])))
    return start, value, np.column_stack(pair_of_entry).astype(np.int32)
