"""Tuple partitioning for several sensitive attributes, or under requirements that every bucket must satisfy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from anoncore.algorithms.slicing.tuple_partition import Cells, TupleSearch
from anoncore.kernels.arrays import Codes
from anoncore.kernels.attributes import Attributes
from anoncore.kernels.checking import KernelChecks
from anoncore.kernels.slicing import Masses, Signatures
from anoncore.kernels.slicing_buckets import DONE, Buckets
from anoncore.kernels.slicing_guarded import Guards, split_guarded_buckets
from anoncore.requirements import CheckSet, Requirement
from anoncore.table.microdata import Microdata


@dataclass(eq=False)
class GuardedSearch:
    """Buckets of a sliced table, split while every person keeps the l of each sensitive attribute and every bucket the
    requirements.

    Each attribute has sums of its own, so beliefs about one are bounded whatever is known of the others, and so is the
    belief in any combination of values. Source: Li et al., slicing, sections 3.2 and 4.3.
    """

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
        requirements: Sequence[Requirement],
    ) -> GuardedSearch:
        """One bucket with all rows. `levels` has the l of every sensitive attribute."""
        single = [TupleSearch.of(data, columns, name, l, distinct, retry) for name, l in levels.items()]
        checks = CheckSet(requirements, data)
        n_known = len(data.quasi_identifiers)
        cells = [one.buckets.rows[:, n_known:-1] for one in single]
        begins = n_known + np.cumsum([0, *(block.shape[1] for block in cells)])
        views = [view.codes[:, None] for view in checks.views]
        first = single[0].buckets
        rows = np.ascontiguousarray(
            np.hstack([first.rows[:, :n_known], *cells, *views, first.rows[:, -1:]]), dtype=np.int32
        )
        return cls(
            tables=tuple(
                one.table._replace(first_factor=int(begin)) for one, begin in zip(single, begins[:-1], strict=True)
            ),
            masses=tuple(one.masses for one in single),
            buckets=first._replace(rows=rows, spare=np.empty_like(rows)),
            checks=checks.kernel,
            attributes=single[0].attributes,
            guards=Guards(
                np.array(list(levels.values()), dtype=np.float64),
                distinct,
                retry,
                data.content_words,
                int(begins[-1]),
            ),
        )

    def step(self, budget: int) -> bool:
        """Work off the queue until about `budget` rows and signatures were visited; returns whether some are left."""
        return split_guarded_buckets(
            self.buckets, self.tables, self.masses, self.checks, self.attributes, self.guards, budget, False
        )

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
