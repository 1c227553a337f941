"""RothkoSampling: Mondrian on a sample, for tables that do not fit in memory."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from anoncore.algorithms.base import Seed
from anoncore.algorithms.mondrian import xlogx_of
from anoncore.algorithms.rothko.confident_checks import confident_checks
from anoncore.algorithms.rothko.fields import MemoryRows
from anoncore.algorithms.rothko.partition_tree import PartitionTree
from anoncore.algorithms.rothko.rothko import Rothko
from anoncore.algorithms.rothko.rothko_tree import unsuited
from anoncore.algorithms.rothko.rows import Rows
from anoncore.algorithms.rothko.setting import Counters, Node, Part, Setting, Statistics
from anoncore.algorithms.rothko.tree_growth import tree_parts
from anoncore.kernels.arrays import Int32, Int64, record
from anoncore.kernels.attributes import HIERARCHY
from anoncore.kernels.checking import KernelChecks, all_hold
from anoncore.kernels.compiler import kernel
from anoncore.kernels.rothko import sample_splits
from anoncore.release.openness import Minimality, Openness
from anoncore.release.release import Release

FILLED = 0.9
"""Share of the memory that a part should fill by the sample's estimate, so that few parts are divided once more."""


@record
class Sampling:
    """How samples are drawn and used.

    `size` rows are drawn, and tests have the level `alpha`. `until_memory` says whether cutting ends as soon as the
    parts should fit in memory, `by_tree` whether RothkoTree can take over.
    """

    size: int
    alpha: float
    until_memory: bool
    by_tree: bool
    generator: np.random.Generator


def sampling_parts(setting: Setting, sampling: Sampling, rows: Rows, region: Int32) -> Iterator[Part]:
    """The parts of a table that fit in memory or are final, from left to right.

    Rows are counted while they are divided, and parts below a node that turns out wrong are put together again. Where
    no split is confident, or all splits turn out wrong, the rows go to RothkoTree if it can take them (`by_tree`).
    Otherwise they are one class, which may be larger than necessary. Source: Rothko (TR 1590), sections 3 and 3.2.
    """
    counters = setting.counters
    if rows.n_rows <= setting.model.memory_rows:
        yield Part(rows, region, is_class=False)
        return
    tree = grown(setting, sampling, rows, region)
    parts = divided(setting, rows, tree) if len(tree) > 1 else [(0, rows)]
    if not tree.children[0]:
        ((_, rows),) = parts
        if sampling.by_tree:
            counters.handed_to_tree += 1
            yield from tree_parts(setting, rows, region)
        else:
            counters.minimal = False
            yield Part(rows, region, is_class=True)
        return
    for leaf, part in parts:
        yield from sampling_parts(setting, sampling, part, tree.region[leaf])


def divided(setting: Setting, rows: Rows, tree: PartitionTree) -> list[tuple[int, Rows]]:
    """The rows of each leaf that is left of the tree once all rows are counted, from left to right."""
    statistics = Statistics(setting, tree, list(tree.leaves()))
    parts = list(setting.divide(rows, tree, statistics))
    prune(setting, tree, counted(statistics, tree))
    left = set(tree.leaves())

    def leaf_above(node: int) -> int:
        while node not in left:
            node = tree.parent[node]
        return node

    found = []
    for leaf, together in groupby(parts, lambda part: leaf_above(part[0])):
        first, *others = (part for _, part in together)
        found.append((leaf, first.joined(others)))
    return found


def grown(setting: Setting, sampling: Sampling, rows: Rows, region: Int32) -> PartitionTree:
    """The tree that the sample supports, grown until its leaves should fit in memory, or all the way."""
    model = setting.model
    n, population = min(sampling.size, rows.n_rows), rows.n_rows
    sample = np.ascontiguousarray(rows.sample(n, sampling.generator))
    sample[:, setting.sensitive] += setting.kernel_checks.count_start[:-1]
    setting.counters.rows_read += population
    search = setting.search._replace(xlogx=xlogx_of(model, n))
    small = int(FILLED * model.memory_rows * n / population) if sampling.until_memory else 0
    checks = confident_checks(setting.checks, n, population, sampling.alpha, _most_sides(setting))
    splits = sample_splits(sample, np.empty_like(sample), small, rows.most_leaves, setting.attributes, search, checks)
    tree = PartitionTree(setting.attributes, region)
    for node, kind, attribute, value in splits.tolist():
        tree.split(node, kind, attribute, value)
    return tree


def _most_sides(setting: Setting) -> int:
    """The most sides that a split can have: two, or the most children of a hierarchy's node."""
    starts, nodes = setting.attributes.child_start, 2
    for a in np.flatnonzero(setting.attributes.form == HIERARCHY).tolist():
        begin, end = setting.attributes.node_start[a : a + 2]
        nodes = max(nodes, int(np.diff(starts[begin + a : end + a + 1]).max(initial=0)))
    return nodes


def counted(statistics: Statistics, tree: PartitionTree) -> dict[int, Node]:
    """Size and counts of every node that has rows, from what was counted of the leaves."""
    nodes = statistics.nodes()
    # Children have larger numbers than their parents, so that from the last node on theirs are counted already.
    for node in range(len(tree) - 1, -1, -1):
        below = [nodes[child] for child in tree.children[node] if child in nodes]
        if below:
            totals = np.sum([child_node.totals for child_node in below], axis=0)
            nodes[node] = Node(sum(child_node.size for child_node in below), below[0].low, below[0].high, totals)
    return nodes


def prune(setting: Setting, tree: PartitionTree, nodes: dict[int, Node]) -> None:
    """Make the parent of every node that violates a requirement a leaf, and count these nodes."""
    n_bins = int(setting.kernel_checks.count_start[-1])
    for node in range(len(tree) - 1, 0, -1):
        if node in nodes and not node_holds(setting.kernel_checks, nodes[node].totals[:n_bins], nodes[node].size):
            setting.counters.prunes += 1
            tree.prune(tree.parent[node])


@kernel
def node_holds(checks: KernelChecks, counts: Int64, size: int) -> bool:
    """Whether the counts of a node satisfy every check."""
    return all_hold(checks, counts, size)


class RothkoSampling(Rothko):
    """Mondrian (strict) for tables larger than memory, with the first cuts chosen on a sample.

    While a part of the table is larger than memory, it is cut where every side passes a hypothesis test for every
    requirement on the sample; the sides share the level `alpha`. Then one pass divides the rows and counts those of
    every node, and cuts that turn out wrong are undone: their parts are put together again. Each part goes on alone.
    So the requirements hold exactly, and parts that fit in memory are finished exactly. A part without a confident cut
    is handed to RothkoTree. Where that does not apply, it stays one class, and the notes of the release say so. All
    splits and requirements of Mondrian may be used.

    Notes
    -----
    Assumes: simple random samples of the rows can be drawn, and a part of `memory_rows` rows fits in memory.
    Cost: rows read |R| (2 p + 1) and written |R| p times for p divisions (section 4), beside the work in memory.
    Use: a table does not fit in memory, also for regression, loss and variance diversity.
    Avoid: the table fits in memory (Mondrian), or the very partition of Mondrian is wanted (RothkoTree).

    References
    ----------
    LeFevre and DeWitt, Rothko (TR 1590), section 3.

    Examples
    --------
    Six rows of which three fit in memory are cut by a sample, and every class has at least two rows:

    >>> import pandas as pd
    >>> from anoncore import Microdata
    >>> from anoncore.algorithms import RothkoSampling
    >>> from anoncore.requirements import KAnonymity
    >>> people = pd.DataFrame({"age": [21, 22, 23, 44, 45, 46]})
    >>> data = Microdata(people, roles={"age": "quasi-identifier"})
    >>> release = RothkoSampling(requirements=[KAnonymity(k=2)], memory_rows=3, seed=0).anonymize(data)
    >>> release.recoding("age").group_texts.tolist()
    ['21-23', '44-46']
    """

    name = "rothko-sampling"
    title = "Rothko (sampling)"
    summary = (
        "Mondrian for tables larger than memory: cuts by a sample first, checks every row, then finishes each part."
    )
    minimality = Minimality(
        Openness.DEPENDS,
        "Apart from the first cuts, which a sample decides, its groups are those of Mondrian with `strict`: "
        "readers know that every cut of a group that was left whole would have broken a requirement. With "
        "l-diversity, t-closeness or variance diversity that tells about the sensitive values; with k-anonymity "
        "alone cuts depend on sizes, which everybody can count.",
    )

    # Smaller parts cost no further scan here, because one division by the tree of the sample makes all of them: a
    # quarter of the rows that the tree by counts keeps in memory takes the same time and a quarter less memory.
    memory_rows: MemoryRows = 500_000

    alpha: Annotated[
        float,
        Field(gt=0, le=0.5, title="alpha", description="Chance of a wrong cut that a test on the sample may take."),
    ] = 0.05
    sample_rows: Annotated[
        int,
        Field(ge=1, title="Rows in the sample", description="Size of a sample; at most the rows in memory."),
    ] = 200_000
    growth: Annotated[
        Literal["memory", "confident"],
        Field(
            title="Growth",
            description="Cut by the sample until parts should fit in memory, or as far as the tests are confident.",
        ),
    ] = "memory"
    seed: Seed = None

    def refusals(self, release: Release) -> None:
        """Nothing: where a sample gave no confident cut, a class may be left whole though a cut was allowed."""

    def cell_knowledge(self, release: Release) -> None:
        """Nothing, for the same reason."""

    def parts(self, setting: Setting, rows: Rows) -> Iterator[Part]:
        """The parts of the rows that fit in memory or are one class."""
        sampling = Sampling(
            size=min(self.sample_rows, self.memory_rows),
            alpha=self.alpha,
            until_memory=self.growth == "memory",
            by_tree=unsuited(self) is None,
            generator=np.random.default_rng(self.seed),
        )
        return sampling_parts(setting, sampling, rows, setting.region)

    def account(self, counters: Counters) -> str:
        """Minimality, prunes and divisions."""
        minimal = (
            "No allowable cut is left in any group"
            if counters.minimal
            else "A part larger than memory had no confident cut, so an allowable one may be left"
        )
        return (
            f"{minimal}; {counters.prunes:,} nodes of the samples' trees violated a requirement and were undone, "
            f"{counters.repartitions:,} divisions of the rows, {counters.handed_to_tree:,} parts finished by counts."
        )
