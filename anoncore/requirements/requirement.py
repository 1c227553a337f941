"""What a requirement is: one level per group, compared with one threshold, the same in the search and in the check."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import IntEnum
from functools import cached_property
from math import ceil
from typing import Any, ClassVar

import numpy as np

from anoncore.base.errors import ParameterError
from anoncore.base.model import Model
from anoncore.kernels.arrays import Bools, Codes, Floats, Int64, Rows, record
from anoncore.kernels.checking import KernelChecks, KernelPeople, counts_level, group_levels, people_and_pairs
from anoncore.kernels.grouping import numbered_inside_groups, starts_of
from anoncore.kernels.rounding import ROUNDING, lies_below, reaches, stays_within
from anoncore.release.partition import Partition
from anoncore.release.release import Fragment
from anoncore.table.microdata import Microdata, SensitiveValues


class Comparison(IntEnum):
    """How the level of a group must lie to the threshold of a requirement.

    Levels that differ from it by less than a share of 1e-12 of it, as rounding may, count as equal to it.

    Attributes
    ----------
    AT_LEAST : int
        The level is the threshold or above it.
    AT_MOST : int
        The level is the threshold or below it.
    BELOW : int
        The level is below the threshold.

    Examples
    --------
    >>> from anoncore.requirements import Comparison, KAnonymity, TCloseness
    >>> KAnonymity.comparison is Comparison.AT_LEAST, TCloseness.comparison is Comparison.AT_MOST
    (True, True)
    """

    AT_LEAST = 0
    AT_MOST = 1
    BELOW = 2


COMPARED = {Comparison.AT_LEAST: reaches, Comparison.AT_MOST: stays_within, Comparison.BELOW: lies_below}
"""Whether levels meet a threshold."""
COMPARISON_WORDS = {Comparison.AT_LEAST: "at least", Comparison.AT_MOST: "at most", Comparison.BELOW: "below"}


class Requirement(Model):
    """A condition on every group of a release.

    A requirement sees statistics of one group, never the table: the number of its people and, unless it is
    `attribute_free`, how many of them have each value of one sensitive attribute. Its `level` is a compiled function of
    these numbers, in the unit of the threshold. The search for groups and the final check call the same function, so
    that they cannot disagree.

    Every row is another person unless the table has a `unit`. Then a person with several rows in a group counts once,
    and once with each value that they have there.

    Examples
    --------
    >>> from anoncore.requirements import FrequencyDiversity
    >>> requirement = FrequencyDiversity(l=2, attribute="disease")
    >>> requirement.label()
    "frequency l-diversity (l = 2.0) on 'disease'"
    >>> requirement.threshold, requirement.minimum_rows()
    (2.0, 2)
    """

    comparison: ClassVar[Comparison]
    level: ClassVar[Any]
    level_name: ClassVar[str]
    """What the level is called, e.g. "distinct values"."""
    beyond: ClassVar[str] = ""
    """What a group has whose level is infinite, so that no threshold is kept; `{of}` stands for its attribute."""
    parameter: ClassVar[str]
    """Field that holds the threshold."""
    fewest_people: ClassVar[str] = ""
    """Field that says below how many people no group satisfies it, rounded up; empty where one person may do so."""
    attribute_free: ClassVar[bool] = False
    monotone_under_merging: ClassVar[bool] = True
    """Whether the union of two groups that satisfy it satisfies it; then a group that fails has no good split."""
    monotone_for_people: ClassVar[bool] = False
    """Whether that is so too where groups share people; shares of people can rise when such groups are joined."""
    counts_alone: ClassVar[bool] = True
    """Whether the counts of a group are all that its level needs, so that a search for groups can evaluate it."""
    monotone_under_suppression: ClassVar[bool] = True
    """Whether withholding other groups leaves a group's level as it is."""

    @property
    def threshold(self) -> float:
        """What the level is compared with."""
        return float(getattr(self, self.parameter))

    def reference(self, data: Microdata, values: SensitiveValues) -> Floats:
        """Numbers that the level function needs besides the counts of a group, such as the table's distribution.

        Parameters
        ----------
        data : Microdata
            The table.
        values : SensitiveValues
            The sensitive attribute that the requirement is checked on.

        Returns
        -------
        ndarray of float, shape (any,)
            The numbers, in the order that the level function expects.
        """
        return np.zeros(1)

    def minimum_rows(self) -> int:
        """The number of people below which no group satisfies the requirement; every row is one without a unit."""
        fewest = getattr(self, self.fewest_people) if self.fewest_people else 1
        return ceil(fewest - ROUNDING * fewest)

    def is_monotone(self, data: Microdata) -> bool:
        """Whether in this table the union of two groups that satisfy it satisfies it.

        Parameters
        ----------
        data : Microdata
            The table.

        Returns
        -------
        bool
            `monotone_under_merging`; where one person may have several rows, `monotone_for_people` as well.
        """
        return self.monotone_under_merging and (data.people is None or self.monotone_for_people)

    def checks(self, data: Microdata) -> tuple[Check, ...]:
        """The requirement on one table.

        Parameters
        ----------
        data : Microdata
            The table.

        Returns
        -------
        tuple of Check
            One check per sensitive attribute that the requirement covers; one in all where it needs only sizes.

        Raises
        ------
        DataError
            Where the attribute is missing or of the wrong kind.
        """
        if self.attribute_free:
            return (Check(self, None, np.zeros(1), data.people),)
        names = data.require_sensitive(getattr(self, "attribute", None))
        views = [data.sensitive_view(name) for name in names]
        return tuple(Check(self, view, self.reference(data, view), data.people) for view in views)

    def reached_text(self, level: float, text: str, attribute: str | None) -> str:
        """What a group has, in words, e.g. `1 different value of 'disease'`.

        Parameters
        ----------
        level : float
            The level of the group.
        text : str
            The level as a text, in as many digits as are wanted.
        attribute : str or None
            The sensitive attribute that the level is about, None where it is only about sizes.

        Returns
        -------
        str
            The end of a sentence that begins with 'The group has'.
        """
        if self.beyond and np.isinf(level):
            return self.beyond.format(of=_of(attribute))
        return f"{self.level_name}{_of(attribute)} {text}"

    def asked_text(self, text: str) -> str:
        """What is asked of a group, in words that fit those of `reached_text`, e.g. `at least 5`.

        Parameters
        ----------
        text : str
            The threshold as a text, in as many digits as are wanted.

        Returns
        -------
        str
            The words that follow 'asked:'.
        """
        return f"{COMPARISON_WORDS[self.comparison]} {text}"

    def label(self) -> str:
        """The requirement as a reader writes it, e.g. `k-anonymity (k = 5)`."""
        fields = [f"{name} = {value}" for name, value in self if name != "attribute"]
        attribute = getattr(self, "attribute", None)
        return f"{self.title} ({', '.join(fields)})" + (f" on '{attribute}'" if attribute else "")


def _of(attribute: str | None) -> str:
    return "" if attribute is None else f" of '{attribute}'"


@record
class Check:
    """A requirement on one sensitive attribute of one table.

    Attributes
    ----------
    requirement : Requirement
        The requirement.
    values : SensitiveValues or None
        The sensitive attribute; None where the requirement needs only sizes.
    reference : ndarray of float, shape (any,)
        What the level function needs besides the counts of a group.
    people : ndarray of int32, shape (n_rows,), or None
        Number of each row's person where one person may have several rows; None where every row is a person.

    Examples
    --------
    Three diseases occur, but only one of them in the second group:

    >>> import pandas as pd
    >>> from anoncore import Microdata, Partition
    >>> from anoncore.requirements import DistinctDiversity
    >>> data = Microdata(pd.DataFrame({"disease": ["flu", "cold", "HIV", "flu"]}), roles={"disease": "sensitive"})
    >>> (check,) = DistinctDiversity(l=2).checks(data)
    >>> levels = check.levels(Partition([0, 0, 0, 1]))
    >>> levels.tolist(), check.holds(levels).tolist()
    ([3.0, 1.0], [True, False])
    """

    requirement: Requirement
    values: SensitiveValues | None
    reference: Floats
    people: Codes | None = None

    @property
    def attribute(self) -> str | None:
        """The sensitive attribute, or None."""
        return self.values.attribute if self.values is not None else None

    def levels(self, partition: Partition, codes: Codes | None = None, rows: Rows | None = None) -> Floats:
        """The level that every group reaches.

        Parameters
        ----------
        partition : Partition
            The groups.
        codes : ndarray of int32, shape (n_rows,), optional
            Published values in place of the original ones.
        rows : ndarray of int64, shape (n_rows of the partition,), optional
            The table's rows that the partition is about; by default all.

        Returns
        -------
        ndarray of float, shape (n_groups,)
            The levels, in the unit of the requirement's threshold.
        """
        size, unique, address = 1, -1, self.requirement.level.address
        if self.values is None:
            seen = np.zeros(partition.n_rows, np.int32)
        else:
            seen, size, unique = self.values.codes if codes is None else codes, self.values.size, self.values.unique
            seen = seen if rows is None else seen[rows]
        if self.people is None:
            # Without a sensitive attribute all rows count alike, in whatever order.
            seen = seen if self.values is None else seen[partition.order]
            counted = partition.sizes, partition.starts, seen
        else:
            person = self.people if rows is None else self.people[rows]
            counted = people_and_pairs(partition.order, partition.starts, person, seen)
        return group_levels(*counted, size, address, unique, self.reference)

    def published_levels(self, fragment: Fragment) -> Floats:
        """The level of every group of a fragment, where the requirement is about no sensitive attribute.

        Parameters
        ----------
        fragment : Fragment
            What is published of the groups.

        Returns
        -------
        ndarray of float, shape (n_groups,)
            The levels, in the unit of the requirement's threshold.
        """
        return self.levels(fragment.partition)

    def holds(self, levels: Floats) -> Bools:
        """Whether levels meet the threshold.

        Parameters
        ----------
        levels : ndarray of float, shape (n_groups,)
            Levels of groups.

        Returns
        -------
        ndarray of bool, shape (n_groups,)
            One answer per level.
        """
        return COMPARED[self.requirement.comparison](levels, self.requirement.threshold)

    def table_level(self, n_rows: int, counts: Int64 | None = None) -> float:
        """The level of the whole table as one group. No partition has all its groups beyond it.

        That is so where the requirement is monotone in the table (`Requirement.is_monotone`).

        Parameters
        ----------
        n_rows : int
            Number of rows of the table.
        counts : ndarray of int64, shape (n_values,), optional
            Rows of these with each sensitive value; by default those of the table.

        Returns
        -------
        float
            The level.
        """
        if self.people is not None:
            return float(self.levels(Partition(np.zeros(n_rows, np.int32)))[0])
        if counts is None:
            counts = np.zeros(1, np.int64) if self.values is None else self.values.counts
        unique = -1 if self.values is None else self.values.unique
        return float(counts_level(counts, n_rows, self.requirement.level.address, unique, self.reference))


def hold_together(checks: Iterable[Check], rows: Rows) -> bool:
    """Whether rows of the table, int64 (any,), satisfy every check as one group."""
    together = Partition(np.zeros(len(rows), np.int32))
    return all(bool(check.holds(check.levels(together, rows=rows))[0]) for check in checks)


class CheckSet:
    """All checks of a search, laid out for the kernels: sensitive codes as columns, checks as arrays.

    Parameters
    ----------
    requirements : sequence of Requirement
        The conditions that every group must satisfy.
    data : Microdata
        The table.

    Attributes
    ----------
    checks : tuple of Check
        The checks of all requirements, one after the other.
    views : tuple of SensitiveValues
        The sensitive attributes that they read, each once.

    Raises
    ------
    ParameterError
        For a requirement that needs more than the counts of a group.

    Examples
    --------
    >>> import pandas as pd
    >>> from anoncore import Microdata
    >>> from anoncore.requirements import CheckSet, DistinctDiversity, KAnonymity
    >>> data = Microdata(pd.DataFrame({"disease": ["flu", "cold", "HIV", "flu"]}), roles={"disease": "sensitive"})
    >>> checks = CheckSet([KAnonymity(k=2), DistinctDiversity(l=2)], data)
    >>> len(checks.checks), [view.attribute for view in checks.views]
    (2, ['disease'])
    """

    def __init__(self, requirements: Sequence[Requirement], data: Microdata) -> None:
        for requirement in requirements:
            if not requirement.counts_alone:
                raise ParameterError(
                    f"{requirement.label()} cannot be asked of groups while they are looked for, whose own people "
                    "alone are counted; methods in memory join groups until it holds, and privacy.check judges it."
                )
        self.checks = tuple(check for requirement in requirements for check in requirement.checks(data))
        views: dict[str, SensitiveValues] = {}
        for check in self.checks:
            if check.values is not None:
                views.setdefault(check.values.attribute, check.values)
        self.views = tuple(views.values())
        self._n_rows = data.n_rows

    @cached_property
    def cells(self) -> Codes:
        """Where the sensitive values of each row stand among the counts of all values, int32 (n_rows, n_views)."""
        cells = np.empty((self._n_rows, len(self.views)), np.int32)
        for column, view in enumerate(self.views):
            cells[:, column] = view.codes + self.kernel.count_start[column]
        return cells

    @cached_property
    def people(self) -> KernelPeople | None:
        """Whose rows these are and which pairs of a person and a sensitive value they have, for the kernels.

        None where every row is another person.
        """
        person = next((check.people for check in self.checks if check.people is not None), None)
        if person is None:
            return None
        pairs, n_pairs = np.zeros((len(person), len(self.views)), np.int32), 0
        for column, view in enumerate(self.views):
            number, *_, rows = numbered_inside_groups(person, view.codes)
            pairs[:, column] = number + n_pairs
            n_pairs += len(rows)
        return KernelPeople(person, pairs, int(person.max()) + 1, n_pairs)

    @cached_property
    def kernel(self) -> KernelChecks:
        """The checks as the arrays that the kernel `all_hold` reads."""
        column_of = {view.attribute: column for column, view in enumerate(self.views)}
        references = [check.reference for check in self.checks]
        return KernelChecks(
            address=np.array([check.requirement.level.address for check in self.checks], np.int64),
            column=np.array([column_of.get(check.attribute or "", -1) for check in self.checks], np.int64),
            threshold=np.array([check.requirement.threshold for check in self.checks], np.float64),
            comparison=np.array([int(check.requirement.comparison) for check in self.checks], np.int64),
            reference=np.concatenate([*references, np.zeros(0)]),
            reference_start=starts_of(len(reference) for reference in references),
            stride=np.zeros(len(self.checks), np.int64),
            unique=np.array([view.unique for view in self.views], np.int64),
            count_start=starts_of(view.size for view in self.views),
            minimum_rows=max([check.requirement.minimum_rows() for check in self.checks], default=1),
        )
