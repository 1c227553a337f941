"""What a fragment publishes of an attribute: exact, generalized or distorted values, or only a group's value set."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import field, replace
from functools import cached_property, partial
from typing import Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from anoncore.base.arguments import checked_methods
from anoncore.base.random_numbers import drawn_along
from anoncore.base.showing import Lines, Shown
from anoncore.base.texts import MISSING_TEXT, joined_range
from anoncore.kernels.arrays import Bools, Codes, Floats, Int64, record
from anoncore.kernels.grouping import first_rows, numbered_sets, owners, runs_from, starts_of
from anoncore.release.partition import Partition
from anoncore.table.domain import Domain, Kind, set_text

Texts = npt.NDArray[np.object_]
GeneralizedForm = Literal["interval", "set", "node"]
FEW_CATEGORIES = 63
"""Most categories whose sets fit into the bits of one int64."""


@record
class Recoding(Shown, ABC):
    """How one attribute of a fragment is published. Its subclasses are the forms that there are.

    Attributes
    ----------
    domain : Domain
        The values of the attribute.
    partition : Partition
        The groups of the fragment, which arrays per group follow.

    Examples
    --------
    >>> import pandas as pd
    >>> from anoncore import Microdata
    >>> from anoncore.algorithms import Mondrian
    >>> from anoncore.requirements import KAnonymity
    >>> people = pd.DataFrame({"age": [21, 22, 44, 46], "disease": ["flu", "flu", "cold", "flu"]})
    >>> data = Microdata(people, roles={"age": "quasi-identifier", "disease": "sensitive"})
    >>> release = Mondrian(requirements=[KAnonymity(k=2)]).anonymize(data)
    >>> release.recoding("age").texts().tolist()
    ['21-22', '21-22', '44-46', '44-46']
    >>> release.recoding("disease").texts().tolist()
    ['flu', 'flu', 'cold', 'flu']
    """

    domain: Domain
    partition: Partition

    def _headline(self) -> str:
        return f"{type(self).__name__} cells of '{self.domain.name}'"

    def _lines(self) -> Lines:
        return [("values", self.domain._inline()), ("groups", self.partition._inline())]

    @abstractmethod
    def texts(self, rows: Int64 | None = None) -> Texts:
        """The published cells as texts.

        Parameters
        ----------
        rows : ndarray of int64, shape (any,), optional
            Numbers of rows; by default all rows in their original order.

        Returns
        -------
        ndarray of str objects, shape (n_rows,) or that of `rows`
            The cell of every row.
        """

    @abstractmethod
    def content(self) -> tuple[Codes, ...]:
        """Integer columns that order the rows by what is published, and by nothing else.

        Returns
        -------
        tuple of ndarray of int32, shape (n_rows,)
            The columns, the most important one first. Rows are equal in all of them where their cells are equal.
        """

    def group_content(self) -> tuple[Codes, ...] | None:
        """The columns of `content` by group, where all rows of a group share their cell.

        Returns
        -------
        tuple of ndarray of int32, shape (n_groups,), or None
            The columns; None where rows of a group differ.
        """
        return None

    @abstractmethod
    def bounds(self) -> tuple[Codes, Codes]:
        """The lowest and the highest code that each row's cell allows.

        Returns
        -------
        two ndarrays of int32, shape (n_rows,)
            The lowest codes and the highest ones, both included.
        """

    @abstractmethod
    def loss(self) -> Floats:
        """The mean information loss of a cell in each group.

        A range of numbers loses its width / width of the domain. A set of categories or a node of a hierarchy loses
        (its values - 1) / (domain size - 1).

        Returns
        -------
        ndarray of float, shape (n_groups,)
            From 0, the cells are exact, to 1, they allow every value.
        """

    @abstractmethod
    def mass(self, wanted: Bools) -> Floats:
        """The share of each group's rows that is expected to have one of the wanted values.

        Parameters
        ----------
        wanted : ndarray of bool, shape (domain size,)
            Whether each code is wanted.

        Returns
        -------
        ndarray of float, shape (n_groups,)
            The shares, from 0 to 1.
        """


@partial(checked_methods, left_out=("values",))
@record
class Exact(Recoding):
    """The values are published as they are given in `codes`.

    Attributes
    ----------
    domain : Domain
        The values of the attribute.
    partition : Partition
        The groups of the fragment.
    codes : ndarray of int32, shape (n_rows,)
        Code of each row's published value.

    Examples
    --------
    >>> from anoncore import Domain, Exact, Kind, Partition
    >>> domain = Domain("disease", Kind.NOMINAL, ("cold", "flu"))
    >>> exact = Exact(domain, Partition([0, 0, 1]), Partition([1, 0, 1]).group)
    >>> exact.texts().tolist()
    ['flu', 'cold', 'flu']
    >>> exact.loss().tolist()
    [0.0, 0.0]
    """

    codes: Codes

    def texts(self, rows: Int64 | None = None) -> Texts:
        """Published cell of every row, object (n_rows,), or of the given rows."""
        return self.domain.texts[self.codes if rows is None else self.codes[rows]]

    def content(self) -> tuple[Codes, ...]:
        """The codes."""
        return (self.codes,)

    def bounds(self) -> tuple[Codes, Codes]:
        """The codes themselves, as lowest and as highest ones."""
        return self.codes, self.codes

    def loss(self) -> Floats:
        """0 in every group: each cell is exact."""
        return np.zeros(self.partition.n_groups)

    def mass(self, wanted: Bools) -> Floats:
        """Share of each group's rows whose value is among the wanted codes."""
        hits = np.bincount(self.partition.group, weights=wanted[self.codes], minlength=self.partition.n_groups)
        return hits / self.partition.sizes


@partial(checked_methods, left_out=("values",))
@record
class Distorted(Exact):
    """Values of which some were changed before they were published.

    Attributes
    ----------
    domain : Domain
        The values of the attribute.
    partition : Partition
        The groups of the fragment.
    codes : ndarray of int32, shape (n_rows,)
        Code of each row's published value.
    original : ndarray of int32, shape (n_rows,)
        Code of each row's value in the table.

    Examples
    --------
    >>> import numpy as np
    >>> from anoncore import Distorted, Domain, Kind, Partition
    >>> domain = Domain("disease", Kind.NOMINAL, ("cold", "flu"))
    >>> published, original = np.array([0, 0, 1], dtype=np.int32), np.array([0, 1, 1], dtype=np.int32)
    >>> Distorted(domain, Partition([0, 0, 1]), published, original).n_changed
    1
    """

    original: Codes

    @property
    def n_changed(self) -> int:
        """Number of rows whose value was changed."""
        return int((self.codes != self.original).sum())

    def loss(self) -> Floats:
        """How far values were changed, on average in each group: a number by its distance / width of the domain, a
        category by 1.
        """
        if self.domain.kind is Kind.NUMERIC:
            far = np.abs(self.domain.shares[self.codes] - self.domain.shares[self.original])
        else:
            far = (self.codes != self.original).astype(np.float64)
        return np.bincount(self.partition.group, weights=far, minlength=self.partition.n_groups) / self.partition.sizes


@partial(checked_methods, left_out=("values",))
@record
class Generalized(Recoding):
    """One region per group, which every row of the group publishes: a range, a set, or a node of a hierarchy.

    Attributes
    ----------
    domain : Domain
        The values of the attribute.
    partition : Partition
        The groups of the fragment.
    form : {"interval", "set", "node"}
        What the regions are: all codes from `low` to `high`, the codes listed in `members`, or nodes of the hierarchy.
    low, high : ndarray of int32, shape (n_groups,)
        Lowest and highest code of each region, both included.
    offsets : ndarray of int64, shape (n_groups + 1,), or None
        Where the codes of each group's set begin in `members`.
    members : ndarray of int32, shape (offsets[-1],), or None
        The codes of the set of group g, ascending, are `members[offsets[g]:offsets[g + 1]]`.
    node : ndarray of int32, shape (n_groups,), or None
        Node of the domain's tree that each group publishes.

    Examples
    --------
    >>> import numpy as np
    >>> from anoncore import Domain, Generalized, Kind, Partition
    >>> domain = Domain("age", Kind.NUMERIC, (20, 30, 40))
    >>> ages = Generalized.of_rows(domain, Partition([0, 0, 1]), np.array([0, 1, 2], dtype=np.int32))
    >>> ages.group_texts.tolist()
    ['20-30', '40']
    >>> ages.loss().tolist()
    [0.5, 0.0]
    """

    form: GeneralizedForm
    low: Codes
    high: Codes
    offsets: Int64 | None = None
    members: Codes | None = None
    node: Codes | None = None

    @classmethod
    def of_rows(cls, domain: Domain, partition: Partition, codes: Codes) -> Generalized:
        """The tightest region of each group's rows: a range of numbers, a node where there is a hierarchy, else a set.

        Parameters
        ----------
        domain : Domain
            The values of the attribute.
        partition : Partition
            The groups.
        codes : ndarray of int32, shape (n_rows,)
            Code of each row's value.

        Returns
        -------
        Generalized
            The regions.
        """
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

    @classmethod
    def of_boxes(cls, domain: Domain, partition: Partition, boxes: Codes) -> Generalized:
        """The region of each group is a box that holds its rows: a range of codes, a node where there is a hierarchy.

        Parameters
        ----------
        domain : Domain
            The values of the attribute.
        partition : Partition
            The groups.
        boxes : ndarray of int32, shape (n_groups, 2)
            Lowest and highest code of each group's box, both included.

        Returns
        -------
        Generalized
            The regions.
        """
        low, high = boxes.T.copy()
        node = None if domain.tree is None else domain.tree.common_ancestor(low, high)
        return cls(domain, partition, "interval" if node is None else "node", low, high, node=node)

    def joined(self, partition: Partition, into: Codes) -> Generalized:
        """The same cells after groups were joined: each joined group has the smallest region that holds theirs.

        Parameters
        ----------
        partition : Partition
            The joined groups.
        into : ndarray of int32, shape (n_groups,)
            The joined group that each group now belongs to.

        Returns
        -------
        Generalized
            The regions of the joined groups.
        """
        low = np.full(partition.n_groups, len(self.domain), np.int32)
        high = np.zeros(partition.n_groups, np.int32)
        np.minimum.at(low, into, self.low)
        np.maximum.at(high, into, self.high)
        if self.node is not None and self.domain.tree is not None:
            tree = self.domain.tree
            node = tree.common_ancestor(low, high)
            return replace(self, partition=partition, low=tree.first[node], high=tree.last[node], node=node)
        if self.offsets is None or self.members is None:
            return replace(self, partition=partition, low=low, high=high)
        sets = Partition(np.repeat(into, np.diff(self.offsets)))
        offsets, members = sets.value_sets(self.members, len(self.domain))
        return replace(self, partition=partition, low=low, high=high, offsets=offsets, members=members)

    def chosen(self, partition: Partition, which: Codes | Int64) -> Generalized:
        """The same regions for other groups.

        Parameters
        ----------
        partition : Partition
            The groups.
        which : ndarray of int, shape (n_groups,)
            For each of these groups the one of this recoding whose region it has.

        Returns
        -------
        Generalized
            The regions of these groups.
        """
        same = replace(self, partition=partition, low=self.low[which], high=self.high[which])
        if self.node is not None:
            return replace(same, node=self.node[which])
        if self.offsets is None or self.members is None:
            return same
        sizes = np.diff(self.offsets)[which]
        at = runs_from(self.offsets[:-1][which], sizes)
        return replace(same, offsets=starts_of(sizes), members=self.members[at])

    @cached_property
    def sizes(self) -> Int64:
        """Number of domain values in each group's region, int64 (n_groups,)."""
        if self.offsets is not None:
            return np.diff(self.offsets)
        return (self.high - self.low + 1).astype(np.int64)

    def values(self, group: int) -> Codes:
        """The values that the region of one group allows.

        Parameters
        ----------
        group : int
            Number of the group.

        Returns
        -------
        ndarray of int32, shape (number of values,)
            Their codes, ascending.
        """
        if self.offsets is not None and self.members is not None:
            return self.members[self.offsets[group] : self.offsets[group + 1]]
        return np.arange(self.low[group], self.high[group] + 1, dtype=np.int32)

    @cached_property
    def group_texts(self) -> Texts:
        """Published cell of each group, object (n_groups,)."""
        texts, region = self.numbered_texts
        return texts[region]

    @cached_property
    def numbered_texts(self) -> tuple[Texts, Codes | Int64]:
        """Texts of regions, object (n_texts,), and the place of each group's text among them, int (n_groups,)."""
        if self.node is not None and self.domain.tree is not None:
            return np.array(self.domain.tree.labels, object), self.node
        region = pd.factorize(self._regions())[0]
        first = first_rows(region)
        if self.domain.kind is Kind.NUMERIC and self.form != "set":
            return self._range_texts(self.low[first], self.high[first]), region
        return np.array([self._set_text(group) for group in first.tolist()], object), region

    def _regions(self) -> Int64:
        """A number for each group; groups have the same number if they have the same region."""
        if self.offsets is None or self.members is None:
            return self.low.astype(np.int64) * len(self.domain) + self.high
        fit = len(self.domain) <= FEW_CATEGORIES
        return numbered_sets(self.offsets, self.members, np.int64(1) << self.members.astype(np.int64) if fit else None)

    def _set_text(self, group: int) -> str:
        """The published text of one group's region as a set, e.g. `{cold, flu}`, or a single value."""
        values = self.values(group)
        return self.domain.texts[values[0]] if len(values) == 1 else set_text(self.domain, values)

    def _range_texts(self, low: Codes, high: Codes) -> Texts:
        """The published texts of ranges of numbers, e.g. `20-29` or `20-29 or missing`."""
        or_missing = (high >= len(self.domain.values)) & (low < high)
        ends = (self.domain.texts[codes].tolist() for codes in (low, high - or_missing))
        texts = np.array([*map(joined_range, *ends)], object)
        texts[or_missing] += f" or {MISSING_TEXT}"
        return texts

    def texts(self, rows: Int64 | None = None) -> Texts:
        """Published cell of every row, object (n_rows,), or of the given rows."""
        return self.group_texts[self.partition.group if rows is None else self.partition.group[rows]]

    def content(self) -> tuple[Codes, ...]:
        """The content of each row's group."""
        return tuple(column[self.partition.group] for column in self.group_content())

    def group_content(self) -> tuple[Codes, ...]:
        """Bounds of each region, then the rank of its text, which tells sets of equal bounds apart."""
        if self.form != "set":
            return self.low, self.high
        texts, region = self.numbered_texts
        return self.low, self.high, _ranks(texts)[region]

    def bounds(self) -> tuple[Codes, Codes]:
        """Lowest and highest code of each row's region."""
        return self.low[self.partition.group], self.high[self.partition.group]

    def loss(self) -> Floats:
        """Width of each group's region as a share of the domain."""
        if len(self.domain) == 1:
            return np.zeros(self.partition.n_groups)
        if self.form == "interval" and self.domain.kind is Kind.NUMERIC:
            steps = self.domain.steps
            return (steps[self.high] - steps[self.low]) / self.domain.extent
        return (self.sizes - 1) / (len(self.domain) - 1)

    def mass(self, wanted: Bools) -> Floats:
        """Share of each region's values that are wanted: every value of a region counts as equally likely."""
        if self.offsets is not None and self.members is not None:
            prefix = starts_of(wanted[self.members])
            hits = prefix[self.offsets[1:]] - prefix[self.offsets[:-1]]
        else:
            prefix = starts_of(wanted)
            hits = prefix[self.high + 1] - prefix[self.low]
        share: Floats = hits / self.sizes
        return share


@record
class WrittenRegions(Generalized):
    """Regions that were read from a published table, with the texts that stood there.

    Readers tell regions apart that are written differently, even where they allow the same values of the table.

    Attributes
    ----------
    written : ndarray of str objects, shape (n_groups,)
        What was written of each group.
    """

    written: Texts = field(kw_only=True)

    @property
    def group_texts(self) -> Texts:
        """What was written of each group, object (n_groups,)."""
        return self.written

    def group_content(self) -> tuple[Codes, ...]:
        """Bounds of each region, then the rank of its text."""
        return self.low, self.high, _ranks(self.written)


@record
class ColumnRegions(Recoding):
    """A region per row: that of the row's class in `classes`, which has a partition of its own.

    This is how a column of a sliced table is generalized: the same value has the same region in every bucket.
    """

    classes: Generalized

    def texts(self, rows: Int64 | None = None) -> Texts:
        """Published cell of every row, object (n_rows,), or of the given rows."""
        return self.classes.texts(rows)

    def content(self) -> tuple[Codes, ...]:
        """The content of each row's class."""
        return self.classes.content()

    def bounds(self) -> tuple[Codes, Codes]:
        """Lowest and highest code of each row's region."""
        return self.classes.bounds()

    def loss(self) -> Floats:
        """Mean loss of the cells in each group."""
        return self._mean(self.classes.loss())

    def mass(self, wanted: Bools) -> Floats:
        """Mean over each group's rows of the share of the row's region that is wanted."""
        return self._mean(self.classes.mass(wanted))

    def _mean(self, of_class: Floats) -> Floats:
        of_row = of_class[self.classes.partition.group]
        sums = np.bincount(self.partition.group, weights=of_row, minlength=self.partition.n_groups)
        return sums / self.partition.sizes


@partial(checked_methods, left_out=("values",))
@record
class GroupValues(Recoding):
    """Only which values occur in each group is published, each of them at least once.

    The other rows of the group are ambiguous slots: any of its values may stand there.

    Attributes
    ----------
    domain : Domain
        The values of the attribute.
    partition : Partition
        The groups of the fragment.
    offsets : ndarray of int64, shape (n_groups + 1,)
        Where the codes of each group begin in `members`.
    members : ndarray of int32, shape (offsets[-1],)
        The codes published for group g, ascending, are `members[offsets[g]:offsets[g + 1]]`.
    original : ndarray of int32, shape (n_rows,), or None
        Code of each row's value in the table, where some values were left out of their group's set.

    References
    ----------
    Zakerzadeh, Aggarwal and Barker, vertical fragmentation, section on selectivity.

    Examples
    --------
    A group of three rows in which cold and flu occur has one ambiguous slot:

    >>> import numpy as np
    >>> from anoncore import Domain, GroupValues, Kind, Partition
    >>> domain = Domain("disease", Kind.NOMINAL, ("cold", "flu"))
    >>> values = GroupValues(domain, Partition([0, 0, 0]), np.array([0, 2]), np.array([0, 1], dtype=np.int32))
    >>> values.texts().tolist()
    ['{cold, flu}', '{cold, flu}', '{cold, flu}']
    >>> values.ambiguous.tolist()
    [1]
    """

    offsets: Int64
    members: Codes
    original: Codes | None = None

    @property
    def n_changed(self) -> int:
        """Number of rows whose value was left out of their group's set."""
        if self.original is None:
            return 0
        published = owners(self.sizes) * len(self.domain) + self.members
        return int(
            (~np.isin(self.partition.group.astype(np.int64) * len(self.domain) + self.original, published)).sum()
        )

    @cached_property
    def sizes(self) -> Int64:
        """Number of values published for each group, int64 (n_groups,)."""
        return np.diff(self.offsets)

    @cached_property
    def ambiguous(self) -> Int64:
        """Number of ambiguous slots of each group, int64 (n_groups,)."""
        return self.partition.sizes - self.sizes

    def values(self, group: int) -> Codes:
        """The values that are published for one group.

        Parameters
        ----------
        group : int
            Number of the group.

        Returns
        -------
        ndarray of int32, shape (number of values,)
            Their codes, ascending.
        """
        return self.members[self.offsets[group] : self.offsets[group + 1]]

    def version(self, rng: np.random.Generator, along: Int64 | None = None) -> Codes:
        """One of the tables that the sets allow, drawn at random.

        Parameters
        ----------
        rng : numpy.random.Generator
            Where the random numbers come from.
        along : ndarray of int64, shape (n_rows,), optional
            The rows in the order in which numbers are drawn for them; by default as they stand.

        Returns
        -------
        ndarray of int32, shape (n_rows,)
            A code per row: each value of a group stands in one of its rows, and the other rows have any of its values.
        """
        partition = self.partition
        along = np.arange(partition.n_rows) if along is None else along
        order = np.lexsort((drawn_along(along, rng), partition.group))
        group = partition.group[order]
        rank = np.arange(partition.n_rows) - partition.starts[group]
        drawn = np.where(rank < self.sizes[group], rank, (rng.random(partition.n_rows) * self.sizes[group]).astype(int))
        codes = np.empty(partition.n_rows, np.int32)
        codes[order] = self.members[self.offsets[group] + drawn]
        return codes

    @cached_property
    def group_texts(self) -> Texts:
        """Published cell of each group, object (n_groups,)."""
        texts = np.empty(self.partition.n_groups, object)
        for group in range(len(texts)):
            texts[group] = set_text(self.domain, self.values(group))
        return texts

    def texts(self, rows: Int64 | None = None) -> Texts:
        """Published cell of every row, object (n_rows,), or of the given rows."""
        return self.group_texts[self.partition.group if rows is None else self.partition.group[rows]]

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

    def mass(self, wanted: Bools) -> Floats:
        """The expected share if each value stands once and the ambiguous slots are spread evenly over the values."""
        prefix = starts_of(wanted[self.members])
        share: Floats = (prefix[self.offsets[1:]] - prefix[self.offsets[:-1]]) / self.sizes
        return share


def _ranks(texts: Texts) -> Codes:
    """The rank of each text among the different ones in alphabetical order, int32."""
    rank = {text: number for number, text in enumerate(sorted(set(texts)))}
    return np.array([rank[text] for text in texts], np.int32)
