"""Stack & Deal: near-optimal t-closeness by dealing rows, stacked by sensitive value, round-robin to the classes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from math import ceil
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from anoncore.algorithms.base import Algorithm, Seed, generalized_release
from anoncore.algorithms.closeness.locality import Multiplicity, Places, QuasiSpace
from anoncore.algorithms.joined_groups import with_joined_groups
from anoncore.algorithms.refinement import swapped
from anoncore.base.progress import Progress, part_of
from anoncore.kernels.arrays import Codes, Int64, Rows, record
from anoncore.kernels.grouping import put_at, starts_of
from anoncore.release.openness import Minimality, Openness
from anoncore.release.partition import Partition
from anoncore.release.release import Release
from anoncore.requirements import CheckSet, Comparison, FrequencyDiversity, KAnonymity, Requirement, TCloseness
from anoncore.table.domain import Kind
from anoncore.table.microdata import Microdata
from anoncore.utility.two_way import two_way_error

LARGER = 1.25
"""By how much the classes grow that are dealt next where too many of those dealt break a requirement."""
MOST_FAILING = 0.1
"""Share of the classes that may break a requirement, and are joined with others for it."""


@record
class Stack:
    """The rows stacked by sensitive values, and the classes that dealing them round-robin makes.

    Attributes
    ----------
    multiplicity : Multiplicity
        How often each combination of sensitive values occurs.
    order : ndarray of int64, shape (n_cells,)
        The combinations (cells of `multiplicity`) from the top of the stack to its bottom.
    n_classes : int
        Number of classes to which the rows are dealt.
    """

    multiplicity: Multiplicity
    order: Rows
    n_classes: int

    @cached_property
    def begins(self) -> Rows:
        """Where each combination begins in the stack, and the end of the stack, int64 (n_cells + 1,)."""
        return starts_of(self.multiplicity.counts[self.order])

    def class_counts(self, most: int | None = None) -> Rows:
        """Rows of each stacked combination in each class (or in the first `most`), int64 (n_classes, n_cells)."""
        shown = self.n_classes if most is None else min(most, self.n_classes)
        lower, number = self.begins[None, :], np.arange(shown)[:, None]
        before = (lower - number + self.n_classes - 1) // self.n_classes
        return np.diff(before, axis=1)

    def cards(self, rounds: int, classes: int) -> Rows:
        """The stacked combination that each of the first classes gets in each of the first rounds, int64 (rounds,
        classes).

        A round gives one row to every class in turn; -1 stands where none is left.
        """
        position = np.arange(rounds)[:, None] * self.n_classes + np.arange(min(classes, self.n_classes))[None, :]
        combination = np.searchsorted(self.begins, position, side="right") - 1
        return np.where(position < self.begins[-1], combination, -1)


class StackAndDeal(Algorithm):
    """Stacks the rows by sensitive value and deals them round-robin to floor(n / k) classes, one row to each in turn.

    Sizes of any two classes differ by at most one, and so do their counts of any value or, with several sensitive
    attributes, of any combination of values. `stack` says how rows are stacked. `frequency` puts the most frequent
    value first. `value` follows the attribute's order, so that any two classes also differ by at most one row in every
    range that starts at the lowest value, and their ordered distance is at most (1 - 1 / floor(n / k)) / k. Several
    attributes are stacked in a snake through their values.

    With `locality`, classes get those rows of a sensitive value that are their neighbours in the space of the
    quasi-identifiers: the counts stay the same and the information loss is much lower. Without it, chance decides.

    With `refine`, rows of the same sensitive value then change places between classes near each other as long as that
    lowers the information loss. The counts stay the same, and with them the closeness. With several sensitive
    attributes few rows agree in all of them. Rows of any values then change places as well, as long as every class
    stays as near to the table in each attribute, and no value gets more frequent in it, as in the worst of the dealt
    classes. Classes that were refined are published only where their two-way error is lower.

    Notes
    -----
    Assumes: the adversary knows the table's distribution; classes of k people hide who is who.
    Cost: O(d n log n), without locality O(n log n); with `refine` O(d^2 n) more in each of a few rounds.
    Use: closeness to the table is to be as good as classes of size k allow, also for several sensitive attributes
      together.
    Avoid: a given t must be met (Sabre, sensitive-space fragmentation), or little information loss counts more than
      closeness.

    References
    ----------
    t-closeness dissertation, chapters 3 and 5.

    Examples
    --------
    Three of six have the flu. Three classes of two are dealt, and each gets one of them:

    >>> import pandas as pd
    >>> from anoncore import Microdata
    >>> from anoncore.algorithms import StackAndDeal
    >>> people = pd.DataFrame({"age": [21, 22, 23, 44, 45, 46], "disease": ["flu", "cold"] * 3})
    >>> data = Microdata(people, roles={"age": "quasi-identifier", "disease": "sensitive"})
    >>> release = StackAndDeal(k=2, seed=0).anonymize(data)
    >>> release.partition.histogram(data.codes["disease"], size=2).tolist()
    [[1, 1], [1, 1], [1, 1]]
    """

    name = "stack-and-deal"
    title = "Stack & Deal"
    source = "Thammanna Gowda 2023, t-closeness dissertation, chapters 3 and 5"
    family = "generalization"
    summary = (
        "Deals people to groups like cards, so that every group mirrors the table's sensitive values almost exactly."
    )
    minimality = Minimality(
        Openness.DEPENDS,
        "How many rows of a sensitive value a group gets does not depend on who has it. With `locality` the rows "
        "of one value are dealt to neighbours in the quasi-identifiers, so the groups depend on who has which "
        "value; without it chance decides, unless `refine` lets rows change places.",
    )

    k: Annotated[
        int, Field(ge=1, title="k", description="Fewest rows in a group; groups have k rows or little more.")
    ] = 5
    stack: Annotated[
        Literal["frequency", "value"],
        Field(
            title="Stack", description="Most frequent value first, or along the attribute's order (ordered EMD <= 1/k)."
        ),
    ] = "frequency"
    locality: Annotated[
        bool,
        Field(
            title="Locality", description="Give groups neighbouring rows: the same closeness, less information loss."
        ),
    ] = True
    refine: Annotated[
        bool,
        Field(
            title="Refine",
            description="Afterwards exchange people between groups that stay as close to the table, as long as less "
            "is lost by it.",
        ),
    ] = False
    seed: Seed = None

    def promises(self, data: Microdata) -> tuple[Requirement, ...]:
        """k-anonymity and, for one sensitive attribute stacked by value, the bound on its ordered distance.

        The bound is one of rows, so it is not promised where people are counted.
        """
        promised: tuple[Requirement, ...] = (KAnonymity(k=self.k),)
        names = data.require_sensitive()
        if self.stack == "frequency" or len(names) > 1 or data.n_rows < self.k or data.people is not None:
            return promised
        bound = (1 - 1 / (data.n_rows // self.k)) / self.k
        return (*promised, TCloseness(t=bound, ground="ordered", attribute=names[0]))

    def stack_of(self, data: Microdata) -> Stack:
        """How the rows of a table are stacked.

        Parameters
        ----------
        data : Microdata
            The table.

        Returns
        -------
        Stack
            The stack and the number of classes.

        Raises
        ------
        DataError
            Where no attribute is sensitive.
        InfeasibleError
            Where the table has fewer than k rows.
        """
        self.validate_data(data)
        multiplicity = Multiplicity.of(data)
        order = frequency_order(multiplicity) if self.stack == "frequency" else value_order(multiplicity, self.k)
        return Stack(multiplicity, order, data.n_rows // self.k)

    def outline(self, data: Microdata) -> Release | None:
        """The release dealt by chance; None where chance deals anyway, and where others may have other numbers."""
        # Rows of one bucket change places, and the values of a bucket are the same only where each value is protected.
        if not (self.locality or self.refine) or data.sensitive_values or (self.refine and len(data.sensitive) > 1):
            return None
        return self.replace(locality=False, refine=False).anonymize(data)

    def _release(self, data: Microdata, progress: Progress) -> Release:
        progress(0.02, "Stacking by sensitive value")
        stack = self.stack_of(data)
        rank = np.argsort(stack.order).astype(np.int32)
        bucket = rank[stack.multiplicity.of_row]
        dealt = (np.arange(data.n_rows) % stack.n_classes).astype(np.int32)
        space = QuasiSpace.of(data, self.seed)
        progress(0.1, "Dealing to the groups")
        if self.locality:
            places = Places(np.repeat(rank[stack.order], np.diff(stack.begins)), dealt)
            group = space.hand_out(bucket, places, lambda done: progress(0.1 + 0.4 * done, "Dealing to neighbours"))
            group, _ = space.refine(group, bucket, report=lambda done: progress(0.5 + 0.35 * done, "Exchanging rows"))
        else:
            group = put_at(space.by_bucket(bucket), dealt)
        release = generalized_release(self, data, Partition(group))
        return self._refined(release, bucket, progress) if self.refine else release

    def _refined(self, release: Release, bucket: Codes, progress: Progress) -> Release:
        """The release, or the one of the lowest two-way error after rows have changed places, where that is lower."""
        data, promises = release.data, self.promises(release.data)
        partition = swapped(data, release.partition, bucket, promises, part_of(progress, 0.85, 0.9))
        releases = [release, generalized_release(self, data, partition)]
        if len(data.sensitive) > 1:
            asked, all_alike = (*promises, *_reached(data, release.partition)), np.zeros_like(bucket)
            partition = swapped(data, partition, all_alike, asked, part_of(progress, 0.9, 0.95))
            releases.append(generalized_release(self, data, partition))
        return min(releases, key=two_way_error)


def _reached(data: Microdata, partition: Partition) -> list[Requirement]:
    """What all classes reach of closeness and of the largest share of a value, of every sensitive attribute."""
    reached: list[Requirement] = []
    for name in data.sensitive:
        wanted: list[Requirement] = [TCloseness(t=1, attribute=name), FrequencyDiversity(l=1, attribute=name)]
        if data.domain[name].kind is not Kind.NOMINAL:
            wanted.append(TCloseness(t=1, ground="ordered", attribute=name))
        for requirement in wanted:
            (condition,) = requirement.checks(data)
            levels = condition.levels(partition)
            worst = levels.min() if requirement.comparison is Comparison.AT_LEAST else levels.max()
            reached.append(requirement.replace(**{requirement.parameter: float(worst)}))
    return reached


def frequency_order(multiplicity: Multiplicity) -> Rows:
    """Cells by descending count; ties: one attribute, higher index first; several, first then second index."""
    index = np.arange(len(multiplicity.cells))
    return np.lexsort((-index if len(multiplicity.views) == 1 else index, -multiplicity.counts))


def value_order(multiplicity: Multiplicity, k: int) -> Rows:
    """Cells along the order of their values, int64 (n_cells,); several attributes in a snake.

    All attributes but the last are cut into about (2k)^(1/d) strips of equal mass; the last runs up and down in turn.
    """
    cells, d = multiplicity.cells, len(multiplicity.views)
    strips = ceil((2 * k) ** (1 / d))
    keys: list[Int64] = []
    turn = np.zeros(len(cells), np.int64)
    for axis in range(d):
        key = cells[:, axis].astype(np.int64)
        if axis < d - 1:
            mass = np.bincount(key, weights=multiplicity.counts, minlength=int(multiplicity.sizes[axis]))
            middle = (np.cumsum(mass) - mass / 2) / multiplicity.n_rows
            key = np.minimum((middle * strips).astype(np.int64), strips - 1)[key]
        keys.append(np.where(turn % 2 == 0, key, -key))
        turn = turn + key
    first = cells[:, 0].astype(np.int64)
    return np.lexsort((first, *reversed(keys)))


def dealt(data: Microdata, requirements: Sequence[Requirement], progress: Progress) -> Partition:
    """The smallest classes that dealing makes of which nearly all satisfy the requirements; the others are joined.

    Parameters
    ----------
    data : Microdata
        The table.
    requirements : sequence of Requirement
        What every class has to satisfy; the whole table satisfies it.
    progress : callable
        Called with the share done and what is being done.

    Returns
    -------
    Partition
        The classes.

    Raises
    ------
    DataError
        Where no attribute is sensitive.
    """
    checks = CheckSet(requirements, data)
    is_ordered = any(isinstance(one, TCloseness) and one.ground == "ordered" for one in requirements)
    # Any fixed seed does: it only decides which of equally near rows a class takes.
    model = StackAndDeal(k=checks.kernel.minimum_rows, stack="value" if is_ordered else "frequency", seed=0)
    while True:
        # What rows of a value a class takes changes no count.
        partition = model.replace(locality=False).anonymize(data).partition
        holds = np.ones(partition.n_groups, np.bool_)
        for condition in checks.checks:
            holds &= condition.holds(condition.levels(partition))
        if np.mean(~holds) <= MOST_FAILING or model.k == data.n_people:
            break
        model = model.replace(k=min(ceil(model.k * LARGER), data.n_people))
    release = model.anonymize(data, progress)
    return release.partition if holds.all() else with_joined_groups(release, requirements).partition
