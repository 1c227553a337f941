"""Mondrian: multidimensional generalization by recursive partitioning."""

from __future__ import annotations

from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, field
from os import cpu_count
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from anoncore.algorithms.base import ByRequirements, generalized_release
from anoncore.algorithms.class_search import Refine, SearchSteps, improved
from anoncore.algorithms.refused_cuts import refused_cuts
from anoncore.base.compile_time import Pool
from anoncore.base.errors import DataError
from anoncore.base.progress import Progress, part_of
from anoncore.base.texts import listing
from anoncore.kernels.arrays import Bytes, Floats, Int32, Int64
from anoncore.kernels.attributes import Attributes
from anoncore.kernels.checking import KernelChecks, KernelPeople
from anoncore.kernels.grouping import put_at
from anoncore.kernels.mondrian import Partitioning, grow, spare_for
from anoncore.kernels.sweep import INFOGAIN, LOSS, MEDIAN, REGRESSION, Search
from anoncore.privacy.cell_knowledge import CellKnowledge
from anoncore.privacy.refusals import Refusals
from anoncore.release.openness import Minimality, Openness
from anoncore.release.partition import Partition
from anoncore.release.recoding import Generalized
from anoncore.release.release import Release
from anoncore.requirements import CheckSet
from anoncore.table.domain import Kind, kernel_attributes
from anoncore.table.microdata import Microdata

CRITERIA = {"median": MEDIAN, "infogain": INFOGAIN, "regression": REGRESSION, "loss": LOSS}
SMALL_TASK = 20_000
"""Rows from which a node is split as a task of its own; smaller ones are grown to their leaves in one go."""


class Mondrian(ByRequirements):
    """Cuts the quasi-identifier space into boxes that each satisfy all requirements, as long as a cut is allowable.

    `split` chooses the cut. `median` takes the widest attribute relative to its domain and cuts it at its median; if
    that is not allowable it takes the next widest, and last any other threshold, so that no allowable cut remains.
    `infogain` takes the cut with the largest gain of information (bits) about the class `target`, or that of `median`
    where no gain reaches `min_gain`. `regression` takes the cut with the least squared error of the numeric `target`.
    `loss` takes the cut with the lowest information loss afterwards, over all attributes and thresholds.

    Categories with a hierarchy are cut into the children of a node, others along the attribute's order. Unless
    `strict`, rows that share the median value may go to either side where no clean cut there is allowable. `recoding`
    says what is published of a box: the ranges of the rows that lie in it (`rows`), or the box itself (`regions`), so
    that all boxes together cover the domain.

    With `refine`, rows move between the finished classes while the information loss falls. Class by class, a row leaves
    for the class near it where it costs least, if its own class saves more than that and both still satisfy all
    requirements. Rows that share what widens their class leave it together, two rows of two classes exchange their
    places, and a class whose rows can all join others at less than it loses is dissolved. So the release never loses
    more than without, and after `split="loss"` often a sixth to a fifth less. With `search_steps`, a search for classes
    that lose still less follows: it begins with classes that prices of the rows suggest, as `least_loss` makes them,
    and takes so many millions of random steps from there, ever fewer of which cost something. Its progress tells how
    much the best release so far loses, and how far that is at most above the least possible. A `progress` that raises
    CancelledError once meanwhile ends the search with the best classes so far. The same table and number of steps give
    the same release.

    The classes do not depend on the order of the rows. Of attributes that are equally wide the first column is cut. Of
    the two thresholds beside the median value the one with the more even sides is taken, and if both are as even, the
    median value goes to the lower side. Where rows that share it may go to either side, their other values decide. As a
    last resort the first column with an allowable threshold is cut at its most even one. Cuts whose gain, loss or
    squared error per row (in units of the target's range) differ by less than 1e-10 count as equal: the first column is
    cut, at its lowest threshold. A missing number lies one mean step above the largest, also as a target, and a missing
    class is a class of its own.

    Notes
    -----
    Assumes: what others know are the quasi-identifiers; against what is published beside them the requirements protect,
      each against what it is made for.
    Cost: O(d n log n) for n rows, d quasi-identifiers and the median; O(d^2 n log n) for the loss; with `refine`
      O(d^2 n) more in each of a few rounds, and what the requirements cost for every move; with `search_steps` half a
      second more per million of them, and several where requirements take long to check.
    Use: nothing speaks for another method: it takes any requirement, keeps all values true, and is fast.
    Avoid: there are dozens of quasi-identifiers (vertical fragmentation keeps more), or one level of detail must hold
      for all rows (Incognito).

    References
    ----------
    LeFevre et al., Mondrian, ICDE 2006; Workload-aware anonymization, KDD 2006; LeFevre and DeWitt, Rothko (TR 1590),
    section 1.2. The search after refining: Kirkpatrick, Gelatt and Vecchi, Optimization by simulated annealing, Science
    1983.

    Examples
    --------
    The widest gap lies between 22 and 44, and two rows remain on either side:

    >>> import pandas as pd
    >>> from anoncore import Microdata
    >>> from anoncore.algorithms import Mondrian
    >>> from anoncore.requirements import KAnonymity
    >>> people = pd.DataFrame({"age": [44, 21, 22, 46], "disease": ["cold", "flu", "flu", "flu"]})
    >>> data = Microdata(people, roles={"age": "quasi-identifier", "disease": "sensitive"})
    >>> release = Mondrian(requirements=[KAnonymity(k=2)]).anonymize(data)
    >>> print(release.tables()["release"].to_string(index=False))
      age disease
    21-22     flu
    21-22     flu
    44-46    cold
    44-46     flu
    """

    name = "mondrian"
    title = "Mondrian"
    source = "LeFevre et al., ICDE 2006 and KDD 2006; LeFevre and DeWitt 2007, section 1.2"
    family = "generalization"
    summary = (
        "Coarsens the quasi-identifiers into ranges and sets, as finely as the requirements allow; other values stay."
    )
    minimality = Minimality(
        Openness.DEPENDS,
        "Mondrian cuts a group wherever the requirements allow it, so readers know that every cut of a group that "
        "was left whole would have broken a requirement. With l-diversity, t-closeness or variance diversity that "
        "tells about the sensitive values. With k-anonymity alone cuts depend on sizes, which everybody can "
        "count; then only people who agree in all quasi-identifiers and are divided between two groups (which "
        "`strict` never does) are divided by the order of their other values. With `refine`, readers also know that "
        "no row could move to another group with less loss: where requirements look at sensitive values, a move that "
        "was left out may have been refused because of them.",
    )

    split: Annotated[
        Literal["median", "infogain", "regression", "loss"],
        Field(title="Split", description="What a cut optimizes: balance, a class, a number, or information loss."),
    ] = "median"
    target: Annotated[
        str | None,
        Field(title="Target", description="Attribute to predict, for the splits infogain and regression."),
    ] = None
    strict: Annotated[
        bool,
        Field(title="Strict", description="Keep rows of equal values together, so that boxes do not overlap."),
    ] = False
    min_gain: Annotated[
        float,
        Field(ge=0, allow_inf_nan=False, title="Smallest gain", description="Below this gain (bits): median."),
    ] = 0.01
    recoding: Annotated[
        Literal["rows", "regions"],
        Field(title="Recoding", description="Publish the ranges of the rows present, or the whole boxes."),
    ] = "rows"

    refine: Refine = False
    search_steps: SearchSteps = 0

    @property
    def takes_long(self) -> bool:
        """Where it searches on after refining."""
        return self.refine and self.search_steps > 0

    @property
    def uses_target(self) -> bool:
        """Whether the split looks at the target."""
        return self.split in ("infogain", "regression")

    def validate_data(self, data: Microdata) -> None:
        """Raise DataError for a target that does not fit, InfeasibleError for a requirement that the table fails."""
        super().validate_data(data)
        if self.refine and self.recoding == "regions":
            raise DataError(
                "Rows that move between groups leave the boxes that were cut; publish the ranges of the rows present "
                "(recoding = rows), or do not refine."
            )
        if not self.uses_target:
            return
        if self.target is None:
            raise DataError(
                f"The split '{self.split}' needs a target; name the attribute that should stay predictable."
            )
        if self.target in data.left_out:
            data.require_domain(self.target)
        if self.target not in data.domain:
            raise DataError(
                f"There is no attribute '{self.target}' to predict; the table has {listing(data.attributes)}."
            )
        if self.split == "regression" and data.domain[self.target].kind is not Kind.NUMERIC:
            raise DataError(f"The target '{self.target}' is not numeric; use the split 'infogain' for a class.")

    def _release(self, data: Microdata, progress: Progress) -> Release:
        growth = Growth.of(self, data)
        growth.run(part_of(progress, 0.0, 0.5) if self.refine else progress)
        partition = Partition(growth.groups())
        if self.refine:
            partition = improved(data, partition, self.requirements, self.search_steps, part_of(progress, 0.5, 0.95))
        if self.recoding == "rows":
            return generalized_release(self, data, partition, ("Cells are the ranges of the rows present.",))
        return self.with_regions(data, partition, growth.regions[np.flatnonzero(growth.starts)])

    def refusals(self, release: Release) -> Refusals | None:
        """The cuts that readers of a release know to have been refused; None of refined classes, which no cut made."""
        return None if self.refine else refused_cuts(release, self.requirements, self.split, self.strict)

    def cell_knowledge(self, release: Release) -> CellKnowledge | None:
        """That a cell is the lowest node of its rows and could not be cut; of whole boxes nothing.

        Of a refined class only that its cell is the lowest node.
        """
        checks = CheckSet(self.requirements, release.data)
        everywhere = np.ones(release.partition.n_groups, np.bool_)
        if self.recoding == "regions":
            return CellKnowledge(everywhere)
        if self.refine:
            return CellKnowledge(everywhere, is_lowest=True)
        # Where requirements look at secrets, a cut may have been refused though all sides are large.
        return CellKnowledge(everywhere, is_lowest=True, some_below=0 if checks.views else checks.kernel.minimum_rows)

    def with_regions(self, data: Microdata, partition: Partition, regions: Int32) -> Release:
        """The release whose cells are given boxes instead of the ranges of the rows present.

        Parameters
        ----------
        data : Microdata
            The table.
        partition : Partition
            The classes.
        regions : ndarray of int32, shape (n_groups, n_quasi_identifiers, 2)
            Lowest and highest code of each class's box, both included.

        Returns
        -------
        Release
            The release.
        """
        boxes = {
            name: Generalized.of_boxes(data.domain[name], partition, regions[:, column])
            for column, name in enumerate(data.quasi_identifiers)
        }
        notes = ("Cells are the boxes of the partition tree; they cover the whole domain.",)
        return generalized_release(self, data, partition, notes, boxes)


def xlogx_of(model: Mondrian, most_rows: int) -> Floats:
    """x log2 x for numbers of rows up to this one, float (most_rows + 1,), where the cuts of a method need it."""
    counted = np.arange(most_rows + 1 if model.split == "infogain" else 2, dtype=np.float64)
    return counted * np.log2(np.maximum(counted, 1))


def search_of(
    model: Mondrian,
    data: Microdata,
    checks: CheckSet,
    most_rows: int,
    content: Int64,
    people: KernelPeople | None,
) -> Search:
    """What the kernels search for in nodes of at most `most_rows` rows; `content` orders rows that share a median.

    Only the domains and roles of the table are read. The columns of the kernels' rows are the quasi-identifiers, the
    cells of the sensitive attributes, the target where the split uses one, and the number of the row.
    """
    target, n_classes = np.zeros(1), 0
    if model.uses_target and model.target is not None:
        domain = data.domain[model.target]
        target, n_classes = domain.shares, len(domain)
    return Search(
        criterion=CRITERIA[model.split],
        strict=model.strict,
        min_gain=model.min_gain,
        n_attributes=len(data.quasi_identifiers),
        n_sensitive=len(checks.views),
        n_classes=n_classes,
        target=target,
        xlogx=xlogx_of(model, most_rows),
        content=content,
        people=people,
    )


@dataclass(eq=False)
class Growth:
    """One run of the kernels: the rows as columns of codes, moved about until every node is a leaf."""

    rows: Int32
    regions: Int32
    attributes: Attributes
    search: Search
    checks: KernelChecks
    spare: Int32 = field(init=False)
    starts: Bytes = field(init=False)

    def __post_init__(self) -> None:
        self.spare = spare_for(self.rows)
        self.starts = np.zeros(len(self.rows), np.uint8)

    @classmethod
    def of(cls, model: Mondrian, data: Microdata) -> Growth:
        """The whole table as one node that is not cut yet."""
        names = data.quasi_identifiers
        checks = CheckSet(model.requirements, data)
        columns = [data.codes[name] for name in names] + list(checks.cells.T)
        if model.uses_target and model.target is not None:
            columns.append(data.codes[model.target])
        content = np.zeros((0, 0), np.int64) if model.strict else data.content_words
        search = search_of(model, data, checks, data.n_rows, content, checks.people)
        rows = np.empty((data.n_rows, len(columns) + 1), np.int32)
        for number, column in enumerate(columns):
            rows[:, number] = column
        rows[:, -1] = np.arange(data.n_rows)
        regions = np.empty((data.n_rows if model.recoding == "regions" else 0, len(names), 2), np.int32)
        regions[:1, :, 0] = 0
        regions[:1, :, 1] = [len(data.domain[name]) - 1 for name in names]
        return cls(rows, regions, kernel_attributes([data.domain[name] for name in names]), search, checks.kernel)

    def run(self, progress: Progress) -> None:
        """Split large nodes one by one, and hand small ones to the pool, until all rows are in leaves."""
        n = len(self.rows)
        done = 0
        if n <= SMALL_TASK:
            # A single task: threads would take longer than the work where many small tables are cut one by one.
            self._task(0, n, SMALL_TASK)
            return
        with Pool(cpu_count()) as pool:
            running: set[Future[list[tuple[int, int]]]] = {pool.submit(self._task, 0, n, SMALL_TASK)}
            try:
                while running:
                    finished, running = wait(running, return_when=FIRST_COMPLETED)
                    for task in finished:
                        for lo, hi in task.result():
                            if lo < hi:
                                running.add(pool.submit(self._task, lo, hi, SMALL_TASK))
                            done += max(lo - hi, 0)
                    progress(0.05 + 0.85 * done / n, f"{done:,} of {n:,} rows in their groups")
            finally:
                for task in running:
                    task.cancel()

    def cut_once(self, lo: int, hi: int) -> list[tuple[int, int]]:
        """Cut the node of rows lo..hi-1; returns its sides as (lo, hi), none if it is a leaf."""
        nodes = self._task(lo, hi, 0)
        return nodes if nodes[0] != (hi, lo) else []

    def _task(self, lo: int, hi: int, small: int) -> list[tuple[int, int]]:
        """The nodes that remain of one node, as (lo, hi); rows that are finished come back as (hi, lo).

        A node of more than `small` rows is cut once, a smaller one down to its leaves.
        """
        table = Partitioning(self.rows, self.spare, self.regions, self.starts)
        ends = grow(table, lo, hi, small, self.attributes, self.search, self.checks).tolist()
        return list(zip([lo, *ends[:-1]], ends, strict=True)) if ends else [(hi, lo)]

    def groups(self) -> Int32:
        """Group of every row in original order."""
        return put_at(self.rows[:, -1], np.cumsum(self.starts, dtype=np.int32) - 1)
