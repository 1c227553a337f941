"""What a fragment publishes of an attribute: exact, generalized or distorted values, or only a group's value set."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Literal

import numpy as np
import numpy.typing as npt

from anoncore.base.texts import MISSING_TEXT, range_text
from anoncore.kernels.arrays import Codes, Floats
from anoncore.release.partition import Partition
from anoncore.table.domain import Domain, Kind, set_text

Texts = npt.NDArray[np.object_]
GeneralizedForm = Literal["interval", "set", "node"]
FEW_CATEGORIES = 63
"""Categories of which a set is the bits of one number."""


@dataclass(frozen=True, eq=False)
class Recoding(ABC):
    """One attribute of a fragment. Per-group arrays follow the fragment's partition."""

    domain: Domain
    partition: Partition

    @abstractmethod
    def texts(self) -> Texts:
        """Published cell of every row, object (n_rows,)."""

    @abstractmethod
    def content(self) -> tuple[Codes, ...]:
        """Integer columns (n_rows,) that order rows by what is published and nothing else."""

    def group_content(self) -> tuple[Codes, ...] | None:
        """The content by group, (n_groups,) each, where all rows of a group share it; None where they do not."""
        return None

    @abstractmethod
    def bounds(self) -> tuple[Codes, Codes]:
        """Lowest and highest code that each row's cell allows, two int32 (n_rows,)."""

    @abstractmethod
    def loss(self) -> Floats:
        """Mean information loss of a cell in each group, float (n_groups,), 0 exact to 1 nothing left.

        A range of numbers: its width / width of the domain. A set of categories or a node of a hierarchy: (its values
        - 1) / (domain size - 1).
        """

    @abstractmethod
    def mass(self, wanted: npt.NDArray[np.bool_]) -> Floats:
        """Expected share of each group's rows whose value is among the wanted codes (bool (domain size,))."""


@dataclass(frozen=True, eq=False)
class Exact(Recoding):
    """Original values: `codes` int32 (n_rows,)."""

    codes: Codes

    def texts(self) -> Texts:
        """Published cell of every row, object (n_rows,)."""
        return self.domain.texts[self.codes]

    def content(self) -> tuple[Codes, ...]:
        """The codes."""
        return (self.codes,)

    def bounds(self) -> tuple[Codes, Codes]:
        """The codes, twice."""
        return self.codes, self.codes

    def loss(self) -> Floats:
        """0 in every group: each cell is exact."""
        return np.zeros(self.partition.n_groups)

    def mass(self, wanted: npt.NDArray[np.bool_]) -> Floats:
        """Share of each group's rows whose value is among the wanted codes."""
        hits = np.bincount(self.partition.group, weights=wanted[self.codes], minlength=self.partition.n_groups)
        return hits / self.partition.sizes


@dataclass(frozen=True, eq=False)
class Distorted(Exact):
    """Values of which some were changed: `codes` are the published ones, `original` what they were."""

    original: Codes

    @property
    def n_changed(self) -> int:
        """Number of rows whose value was changed."""
        return int((self.codes != self.original).sum())


@dataclass(frozen=True, eq=False)
class Generalized(Recoding):
    """One region per group.

    `low` and `high` int32 (n_groups,) bound its codes (included). By `form` the region is the whole interval, the set
    `members[offsets[g]:offsets[g + 1]]`, or the hierarchy node `node[g]`.
    """

    form: GeneralizedForm
    low: Codes
    high: Codes
    offsets: npt.NDArray[np.int64] | None = None
    members: Codes | None = None
    node: Codes | None = None

    @classmethod
    def of_rows(cls, domain: Domain, partition: Partition, codes: Codes) -> Generalized:
        """The tightest region of each group's rows: a range of numbers, a hierarchy node, or a set of categories."""
        if domain.tree is not None:
            low, high = partition.extent(codes)
            node = domain.tree.common_ancestor(low, high)
            return cls(domain, partition, "node", domain.tree.first[node], domain.tree.last[node], node=node)
        if domain.kind is Kind.NUMERIC:
            return cls(domain, partition, "interval", *partition.extent(codes))
        offsets, members = partition.value_sets(codes, len(domain))
        return cls(
            domain, partition, "set", members[offsets[:-1]], members[offsets[1:] - 1], offsets=offsets, members=members
        )

    @cached_property
    def sizes(self) -> npt.NDArray[np.int64]:
        """Number of domain values in each group's region, int64 (n_groups,)."""
        if self.offsets is not None:
            return np.diff(self.offsets)
        return (self.high - self.low + 1).astype(np.int64)

    def values(self, group: int) -> Codes:
        """Codes of one group's region, ascending."""
        if self.offsets is not None and self.members is not None:
            return self.members[self.offsets[group] : self.offsets[group + 1]]
        return np.arange(self.low[group], self.high[group] + 1, dtype=np.int32)

    @cached_property
    def group_texts(self) -> Texts:
        """Published cell of each group, object (n_groups,)."""
        if self.node is not None and self.domain.tree is not None:
            return np.array(self.domain.tree.labels, dtype=object)[self.node]
        texts, region = self._different_texts
        return texts[region]

    @cached_property
    def _different_texts(self) -> tuple[Texts, npt.NDArray[np.intp]]:
        """The published cells of the different regions, and which region each group has."""
        _, first, region = np.unique(self._regions(), return_index=True, return_inverse=True)
        texts = np.empty(len(first), dtype=object)
        for place, group in enumerate(first.tolist()):
            texts[place] = self._region_text(group)
        return texts, region

    def _regions(self) -> npt.NDArray[np.int64]:
        """A number for each group that is equal where the regions are."""
        if self.offsets is None or self.members is None:
            return self.low.astype(np.int64) * len(self.domain) + self.high
        if len(self.domain) <= FEW_CATEGORIES:
            return np.bitwise_or.reduceat(np.int64(1) << self.members.astype(np.int64), self.offsets[:-1])
        known: dict[bytes, int] = {}
        sets = (self.members[begin:end].tobytes() for begin, end in pairwise(self.offsets.tolist()))
        return np.array([known.setdefault(one, len(known)) for one in sets], dtype=np.int64)

    def _region_text(self, group: int) -> str:
        domain, low, high = self.domain, int(self.low[group]), int(self.high[group])
        if low == high:
            return domain.text(low)
        if domain.kind is not Kind.NUMERIC or self.form == "set":
            return set_text(domain, self.values(group))
        if high != domain.missing_code:
            return range_text(domain[low], domain[high])
        return f"{range_text(domain[low], domain[high - 1])} or {MISSING_TEXT}"

    def texts(self) -> Texts:
        """Published cell of every row, object (n_rows,)."""
        return self.group_texts[self.partition.group]

    def content(self) -> tuple[Codes, ...]:
        """The content of each row's group."""
        return tuple(column[self.partition.group] for column in self.group_content())

    def group_content(self) -> tuple[Codes, ...]:
        """Bounds of each region, then the rank of its text, which tells sets of equal bounds apart."""
        if self.form != "set":
            return self.low, self.high
        texts, region = self._different_texts
        return self.low, self.high, _ranks(texts)[region]

    def bounds(self) -> tuple[Codes, Codes]:
        """Lowest and highest code of each row's region."""
        return self.low[self.partition.group], self.high[self.partition.group]

    def loss(self) -> Floats:
        """Width of each group's region as a share of the domain."""
        if len(self.domain) == 1:
            return np.zeros(self.partition.n_groups)
        if self.form == "interval" and self.domain.kind is Kind.NUMERIC:
            positions = self.domain.positions
            return (positions[self.high] - positions[self.low]) / self.domain.span
        return (self.sizes - 1) / (len(self.domain) - 1)

    def mass(self, wanted: npt.NDArray[np.bool_]) -> Floats:
        """Share of each region's values that are wanted: every value of a region counts as equally likely."""
        if self.offsets is not None and self.members is not None:
            prefix = np.concatenate(([0], np.cumsum(wanted[self.members])))
            hits = prefix[self.offsets[1:]] - prefix[self.offsets[:-1]]
        else:
            prefix = np.concatenate(([0], np.cumsum(wanted)))
            hits = prefix[self.high + 1] - prefix[self.low]
        share: Floats = hits / self.sizes
        return share


@dataclass(frozen=True, eq=False)
class ColumnRegions(Recoding):
    """A region per row: that of its class in `classes`, which has a partition of its own.

    So a column of a sliced table is generalized: the same value has the same region in every bucket of `partition`.
    """

    classes: Generalized

    def texts(self) -> Texts:
        """Published cell of every row, object (n_rows,)."""
        return self.classes.texts()

    def content(self) -> tuple[Codes, ...]:
        """The content of each row's class."""
        return self.classes.content()

    def bounds(self) -> tuple[Codes, Codes]:
        """Lowest and highest code of each row's region."""
        return self.classes.bounds()

    def loss(self) -> Floats:
        """Mean loss of the cells in each group."""
        return self._mean(self.classes.loss())

    def mass(self, wanted: npt.NDArray[np.bool_]) -> Floats:
        """Mean over each group's rows of the share of the row's region that is wanted."""
        return self._mean(self.classes.mass(wanted))

    def _mean(self, of_class: Floats) -> Floats:
        of_row = of_class[self.classes.partition.group]
        sums = np.bincount(self.partition.group, weights=of_row, minlength=self.partition.n_groups)
        return sums / self.partition.sizes


@dataclass(frozen=True, eq=False)
class GroupValues(Recoding):
    """Only which values occur in a group: `members[offsets[g]:offsets[g + 1]]`, each at least once.

    The other rows of the group are ambiguous slots: any of its values may stand there (vertical fragmentation, section
    on selectivity). Where values were left out, `original` has what the rows had, int32 (n_rows,).
    """

    offsets: npt.NDArray[np.int64]
    members: Codes
    original: Codes | None = None

    @property
    def n_changed(self) -> int:
        """Number of rows whose value was left out of their group's set."""
        if self.original is None:
            return 0
        published = np.repeat(np.arange(len(self.sizes)), self.sizes) * len(self.domain) + self.members
        return int(
            (~np.isin(self.partition.group.astype(np.int64) * len(self.domain) + self.original, published)).sum()
        )

    @cached_property
    def sizes(self) -> npt.NDArray[np.int64]:
        """Number of values published for each group, int64 (n_groups,)."""
        return np.diff(self.offsets)

    @cached_property
    def ambiguous(self) -> npt.NDArray[np.int64]:
        """Number of ambiguous slots of each group, int64 (n_groups,)."""
        return self.partition.sizes - self.sizes

    def values(self, group: int) -> Codes:
        """Codes published for one group, ascending."""
        return self.members[self.offsets[group] : self.offsets[group + 1]]

    def version(self, rng: np.random.Generator) -> Codes:
        """One way to fill the rows, int32 (n_rows,): each value of a group once, the other rows at random."""
        partition = self.partition
        order = np.lexsort((rng.random(partition.n_rows), partition.group))
        group = partition.group[order]
        rank = np.arange(partition.n_rows) - partition.starts[group]
        drawn = np.where(rank < self.sizes[group], rank, (rng.random(partition.n_rows) * self.sizes[group]).astype(int))
        codes = np.empty(partition.n_rows, dtype=np.int32)
        codes[order] = self.members[self.offsets[group] + drawn]
        return codes

    @cached_property
    def group_texts(self) -> Texts:
        """Published cell of each group, object (n_groups,)."""
        texts = np.empty(self.partition.n_groups, dtype=object)
        for group in range(len(texts)):
            texts[group] = set_text(self.domain, self.values(group))
        return texts

    def texts(self) -> Texts:
        """Published cell of every row, object (n_rows,)."""
        return self.group_texts[self.partition.group]

    def content(self) -> tuple[Codes, ...]:
        """The rank of each row's text."""
        return (self.group_content()[0][self.partition.group],)

    def group_content(self) -> tuple[Codes, ...]:
        """The rank of each group's text."""
        return (_ranks(self.group_texts),)

    def bounds(self) -> tuple[Codes, Codes]:
        """Lowest and highest code that occurs in each row's group."""
        group = self.partition.group
        return self.members[self.offsets[:-1]][group], self.members[self.offsets[1:] - 1][group]

    def loss(self) -> Floats:
        """(Values in the set - 1) / (domain size - 1) of each group."""
        return (self.sizes - 1) / max(len(self.domain) - 1, 1)

    def mass(self, wanted: npt.NDArray[np.bool_]) -> Floats:
        """Expected share when each value stands once and the ambiguous slots are spread evenly over the values."""
        prefix = np.concatenate(([0], np.cumsum(wanted[self.members])))
        share: Floats = (prefix[self.offsets[1:]] - prefix[self.offsets[:-1]]) / self.sizes
        return share


def _ranks(texts: Texts) -> Codes:
    rank = {text: place for place, text in enumerate(sorted(set(texts)))}
    return np.array([rank[text] for text in texts], dtype=np.int32)
