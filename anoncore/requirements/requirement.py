"""What a requirement is: one level per group, compared with one threshold, the same in the search and in the check."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from anoncore.base.model import Model
from anoncore.kernels.arrays import Codes, Floats
from anoncore.kernels.checking import KernelChecks, counts_level, group_levels, holds
from anoncore.release.partition import Partition
from anoncore.table.microdata import Microdata, SensitiveValues


class Comparison(IntEnum):
    """How a level must lie to the threshold (floating-point levels within 1e-9)."""

    AT_LEAST = 0
    AT_MOST = 1
    BELOW = 2


class Requirement(Model):
    """A condition on every group of a release.

    A requirement sees statistics of one group, never the table: the group's size and, unless `attribute_free`, the
    counts of one sensitive attribute's values. `level` is a compiled function of these (see `level_function`), in the
    unit of the threshold; the split test of the search kernels and the final check call the same one.
    """

    comparison: ClassVar[Comparison]
    level: ClassVar[Any]
    level_name: ClassVar[str]
    """What the level is called, e.g. "distinct values"."""
    parameter: ClassVar[str]
    """Field that holds the threshold."""
    attribute_free: ClassVar[bool] = False
    monotone_under_merging: ClassVar[bool] = True
    """Whether the union of two groups that satisfy it satisfies it; then a group that fails has no good split."""
    monotone_under_suppression: ClassVar[bool] = True
    """Whether withholding other groups leaves a group's level as it is."""

    @property
    def threshold(self) -> float:
        """What the level is compared with."""
        return float(getattr(self, self.parameter))

    def reference(self, data: Microdata, values: SensitiveValues) -> Floats:
        """Numbers that the level function needs besides the counts, such as the table's distribution."""
        return np.zeros(1)

    def minimum_rows(self) -> int:
        """No group with fewer rows satisfies the requirement."""
        return 1

    def checks(self, data: Microdata) -> tuple[Check, ...]:
        """The requirement on this table: one check per sensitive attribute that it covers.

        Raises DataError where the attribute is missing or of the wrong kind.
        """
        if self.attribute_free:
            return (Check(self, None, np.zeros(1)),)
        names = data.require_sensitive(getattr(self, "attribute", None))
        views = [data.sensitive_view(name) for name in names]
        return tuple(Check(self, view, self.reference(data, view)) for view in views)

    def label(self) -> str:
        """The requirement as a reader writes it, e.g. `k-anonymity (k = 5)`."""
        fields = [f"{name} = {value}" for name, value in self if name != "attribute"]
        attribute = getattr(self, "attribute", None)
        return f"{self.title} ({', '.join(fields)})" + (f" on '{attribute}'" if attribute else "")


@dataclass(frozen=True, eq=False)
class Check:
    """A requirement on one sensitive attribute of one table (`values` is None where it needs only the size)."""

    requirement: Requirement
    values: SensitiveValues | None
    reference: Floats

    @property
    def attribute(self) -> str | None:
        """The sensitive attribute, or None."""
        return self.values.attribute if self.values is not None else None

    def levels(self, partition: Partition, codes: Codes | None = None) -> Floats:
        """Level of every group, float (n_groups,); `codes`: published values in place of the original ones."""
        if self.values is None:
            seen, size, unique = np.zeros(partition.n_rows, dtype=np.int32), 1, -1
        else:
            seen, size, unique = self.values.codes if codes is None else codes, self.values.size, self.values.unique
        address = self.requirement.level.address
        return group_levels(partition.order, partition.starts, seen, size, address, unique, self.reference)

    def holds(self, levels: Floats) -> npt.NDArray[np.bool_]:
        """Whether each level meets the threshold."""
        return holds(levels, self.requirement.threshold, int(self.requirement.comparison))

    def table_level(self, n_rows: int) -> float:
        """Level of the whole table as one group: no partition can have all groups beyond it."""
        counts = np.zeros(1, dtype=np.int64) if self.values is None else self.values.counts
        unique = -1 if self.values is None else self.values.unique
        return float(counts_level(counts, n_rows, self.requirement.level.address, unique, self.reference))


class CheckSet:
    """All checks of a search, laid out for kernels: sensitive codes as columns, checks as arrays."""

    def __init__(self, requirements: Sequence[Requirement], data: Microdata) -> None:
        self.checks = tuple(check for requirement in requirements for check in requirement.checks(data))
        views: dict[str, SensitiveValues] = {}
        for check in self.checks:
            if check.values is not None:
                views.setdefault(check.values.attribute, check.values)
        self.views = tuple(views.values())

    @cached_property
    def kernel(self) -> KernelChecks:
        """The arrays that `all_hold` reads."""
        places = {view.attribute: place for place, view in enumerate(self.views)}
        references = [check.reference for check in self.checks]
        return KernelChecks(
            address=np.array([check.requirement.level.address for check in self.checks], dtype=np.int64),
            column=np.array([places.get(check.attribute or "", -1) for check in self.checks], dtype=np.int64),
            threshold=np.array([check.requirement.threshold for check in self.checks], dtype=np.float64),
            comparison=np.array([int(check.requirement.comparison) for check in self.checks], dtype=np.int64),
            reference=np.concatenate([*references, np.zeros(0)]),
            reference_start=np.cumsum([0, *(len(reference) for reference in references)]).astype(np.int64),
            stride=np.zeros(len(self.checks), dtype=np.int64),
            unique=np.array([view.unique for view in self.views], dtype=np.int64),
            count_start=np.cumsum([0, *(view.size for view in self.views)]).astype(np.int64),
            minimum_rows=max([check.requirement.minimum_rows() for check in self.checks], default=1),
        )
