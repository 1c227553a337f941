"""Mondrian cuts people in a plane into boxes, and Rothko does so by a sample where they do not fit in memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from anoncore import Release
from anoncore.algorithms import Mondrian, RothkoSampling
from anoncore.algorithms.rothko.confident_checks import rows_needed
from anoncore.algorithms.rothko.partition_tree import PartitionTree
from anoncore.algorithms.rothko.rothko_sampling import Sampling, counted, grown, prune
from anoncore.algorithms.rothko.rows import MemoryRows
from anoncore.algorithms.rothko.setting import Node, Setting, Statistics
from anoncore.requirements import KAnonymity
from anoncore.utility import information_loss
from dashboard.charts.planes import boxes_in_plane, released_boxes
from dashboard.learn.lesson_parts import STYLE, Lesson, Question, as_published, chart, data_of, figures, share_chart

TABLE = "rothko-synthetic"
FEW = 60
PLANE = ("age", "salary")

MONDRIAN = Lesson.named("mondrian")


def cut(k: int, recoding: Literal["rows", "regions"] = "regions") -> Release:
    """Sixty people cut by Mondrian at the median, with at least k in every class."""
    return Mondrian(requirements=(KAnonymity(k=k),), recoding=recoding).anonymize(data_of(TABLE, PLANE, FEW))


def _draw(release: Release, key: str) -> None:
    sizes, loss = release.partition.sizes, information_loss(release)
    chart(
        released_boxes(release, PLANE, STYLE),
        key,
        f"{FEW} made-up people by age and salary. Everybody in a box is published with the box's ranges.",
        f"{FEW} points in a plane of age and salary, cut into {len(sizes)} boxes of {sizes.min()} or more.",
        as_published(release).drop_duplicates("group")[["group", *PLANE]].assign(people=sizes),
    )
    figures(
        ("Groups", f"{len(sizes)}", "Boxes into which the plane is cut."),
        ("Smallest group", f"{sizes.min()}", "People in the smallest box."),
        ("Blur", f"{float(loss):.0%}", "Part of each attribute's range that a published range covers."),
    )


@MONDRIAN.step
def _uncut(cuts: str) -> Question:
    release = cut(FEW if cuts == "no cut" else FEW // 2)
    _draw(release, "first-cut")
    before, after = information_loss(cut(FEW)), information_loss(cut(FEW // 2))
    return (
        "what does one cut change?",
        f"Two groups of {cut(FEW // 2).partition.sizes.min()} people instead of one of {FEW}, and the blur "
        f"falls from {float(before):.0%} to {float(after):.0%}. Mondrian cuts the attribute that is spread most, "
        "so both sides become as narrow as they can.",
    )


@MONDRIAN.step
def _again(depth: int) -> Question:
    release = cut(FEW // 2**depth)
    _draw(release, "again")
    return (
        "why are some boxes larger than others?",
        f"Each of the {release.partition.n_groups} boxes holds about as many people "
        f"({release.partition.sizes.min()} to {release.partition.sizes.max()}), not as much room. Where people are "
        "few, a box must reach far to find them.",
    )


@MONDRIAN.step
def _stop(k: int, form: str) -> Question:
    release = cut(k, "regions" if form == "whole boxes" else "rows")
    _draw(release, "stop")
    small, large = float(information_loss(cut(2, "rows"))), float(information_loss(cut(20, "rows")))
    return (
        "what does a larger k cost?",
        f"Blur: from {small:.0%} at k = 2 to {large:.0%} at k = 20 (ranges of the people). Now {k} people look "
        f"alike in every box at least, with a blur of {float(information_loss(release)):.0%}. Which k is right "
        "depends on who reads the release: the lines over k on the board weigh one against the other.",
    )


PEOPLE, K, SAMPLE = 2_000, 50, 200
CARE = {"with the test": 0.05, "without": 1.0}
"""Chance of a wrong cut that is borne, shared by two sides; at 1 a sample is taken for the table."""

SAMPLING = Lesson.named("sampling")


def method(sample: int, alpha: float, seed: int) -> RothkoSampling:
    """The algorithm with as many rows in memory as in the sample."""
    return RothkoSampling(
        requirements=(KAnonymity(k=K),),
        memory_rows=sample,
        sample_rows=sample,
        growth="confident",
        alpha=min(alpha, 0.5),
        seed=seed,
    )


@dataclass(frozen=True, eq=False)
class Growth:
    """A tree grown on a sample, before or after pruning, and how many of all people are in each node."""

    sample: npt.NDArray[np.int32]
    tree: PartitionTree
    nodes: dict[int, Node]
    undone: int

    @property
    def boxes(self) -> npt.NDArray[np.int32]:
        """Lowest and highest code of each leaf, (n_leaves, 2, 2)."""
        return np.stack([self.tree.region[leaf] for leaf in self.tree.leaves()])

    @property
    def sizes(self) -> npt.NDArray[np.int64]:
        """People of the whole table in each leaf."""
        return np.array([self.nodes[leaf].size if leaf in self.nodes else 0 for leaf in self.tree.leaves()])


def growth(sample: int, alpha: float = 0.05, seed: int = 0, pruned: bool = False) -> Growth:
    """The first tree of a run: grown on a sample, counted by a pass over all people, pruned if asked for."""
    data = data_of(TABLE, PLANE, PEOPLE)
    setting = Setting.of(method(sample, alpha, seed), data)
    order = data.canonical_order
    rows = MemoryRows(np.stack([*(data.codes[name][order] for name in PLANE), order.astype(np.int32)], axis=1))
    chosen = Sampling(sample, alpha, False, True, np.random.default_rng(seed))
    tree = grown(setting, chosen, rows, setting.region)
    statistics = Statistics(setting, tree, list(tree.leaves()))
    setting.scan(rows, statistics)
    nodes = counted(statistics, tree)
    if pruned:
        prune(setting, tree, nodes)
    return Growth(rows.sample(sample, np.random.default_rng(seed)), tree, nodes, setting.counters.prunes)


def first_cut(sample: int, seed: int = 0) -> tuple[str, float]:
    """The attribute of the first cut and the largest value of its lower side."""
    found = growth(sample, seed=seed).tree
    below = found.region[found.children[0][0]]
    axis = int(np.flatnonzero((below != found.region[0]).any(axis=1))[0])
    data = data_of(TABLE, PLANE, PEOPLE)
    return PLANE[axis], float(data.domain[PLANE[axis]].positions[below[axis, 1]])


def released(sample: int, alpha: float = 0.05, seed: int = 0) -> Release:
    """What the algorithm publishes."""
    return method(sample, alpha, seed).anonymize(data_of(TABLE, PLANE, PEOPLE))


def exact() -> Release:
    """What Mondrian publishes that has all people in memory."""
    return Mondrian(requirements=(KAnonymity(k=K),), strict=True).anonymize(data_of(TABLE, PLANE, PEOPLE))


def _draw_growth(found: Growth, key: str, caption: str, failing: npt.NDArray[np.bool_] | None = None) -> None:
    data = data_of(TABLE, PLANE, PEOPLE)
    points = np.stack([data.domain[name].positions[found.sample[:, axis]] for axis, name in enumerate(PLANE)], axis=1)
    chart(
        boxes_in_plane(data, PLANE, points, found.boxes, STYLE, failing),
        key,
        caption,
        f"{len(points)} sampled people in a plane of age and salary, cut into {len(found.boxes)} boxes.",
    )


@SAMPLING.step
def _sample(sample: int, seed: int) -> Question:
    _draw_growth(
        growth(sample, seed=seed),
        "tree-first",
        f"The sample, cut into boxes. In every box must be {K} of all {PEOPLE:,} people, not of the sample.",
    )
    name, at = first_cut(sample, seed)
    _, truth = first_cut(PEOPLE)
    figures(
        ("First cut, by the sample", f"{at:,.0f}", f"The largest {name} on the lower side."),
        ("First cut, by everybody", f"{truth:,.0f}", "Where Mondrian cuts that sees all people."),
        columns=3,
    )
    return (
        "how far off is a cut that a sample chose?",
        f"Not far: by this sample the first cut is at {name} {at:,.0f}, by everybody at {truth:,.0f}. That makes the "
        "boxes a little uneven, nothing worse. But is a box large enough for the crowd that was promised? For that "
        "the sample is only a guess.",
    )


@SAMPLING.step
def _grow(sample: int, care: str) -> Question:
    found = growth(sample, CARE[care])
    _draw_growth(found, "tree-grow", "Boxes of the tree that was grown on the sample.")
    plain, tested = (rows_needed(K, sample, PEOPLE, alpha, 2) for alpha in (1.0, CARE["with the test"]))
    figures(
        ("Boxes", f"{len(found.boxes)}", "Parts into which the sample is cut."),
        ("Needed without a test", f"{plain}", f"Sampled people: {K} of {PEOPLE:,} in proportion."),
        ("Needed with the test", f"{tested}", "Sampled people on each side of a cut."),
    )
    careful, bold = (len(growth(sample, alpha).boxes) for alpha in CARE.values())
    return (
        "why are there fewer boxes with the test?",
        f"In proportion {plain} of {sample} sampled people would do; the test wants {tested}. So it stops earlier, "
        f"at {careful} boxes instead of {bold}. A cut that is not made now can be made later, in memory. A cut that "
        "was wrong must be undone.",
    )


@SAMPLING.step
def _prune(care: str, when: str, seed: int) -> Question:
    found = growth(SAMPLE, CARE[care], seed, when == "after")
    failing = found.sizes < K
    _draw_growth(found, "tree-prune", f"Vermillion: boxes with fewer than {K} of all {PEOPLE:,} people.", failing)
    figures(
        ("Boxes", f"{len(found.boxes)}", "Parts into which all people are divided."),
        ("Smallest box", f"{found.sizes.min()}", f"People of all {PEOPLE:,} in it."),
        ("Too small", f"{failing.sum()}", f"Boxes with fewer than {K} people."),
    )
    undone = {
        name: sum(growth(SAMPLE, alpha, one, True).undone for one in range(1, 10)) for name, alpha in CARE.items()
    }
    after = min(int(growth(SAMPLE, alpha, one, True).sizes.min()) for alpha in CARE.values() for one in range(1, 10))
    return (
        "does the sample ever put anybody's privacy at risk?",
        f"No. The promise is checked on everybody: in all nine samples no box is left with fewer than {after} "
        f"people. The test only saves work: without it {undone['without']} boxes of the nine trees are too small, with "
        f"it {undone['with the test']}.",
    )


@SAMPLING.step
def _finish(sample: int, seed: int) -> Question:
    release, whole_table = released(sample, seed=seed), exact()
    losses = [float(information_loss(one)) for one in (whole_table, release)]
    share_chart(
        ["Mondrian, all in memory", f"Rothko, {sample} in memory"],
        losses,
        "blur: part of the range that a cell covers",
        "sampling-loss",
        "How coarse the published values are.",
    )
    figures(
        ("Groups", f"{release.partition.n_groups}", "Of the release."),
        ("Groups of Mondrian", f"{whole_table.partition.n_groups}", "With all people in memory."),
        ("Smallest group", f"{release.partition.sizes.min()}", f"Never fewer than {K}."),
    )
    return (
        "what does a small memory cost?",
        f"No privacy: the smallest group has {release.partition.sizes.min()} people, {K} were promised. And hardly any "
        f"detail: the blur is {losses[1]:.1%} instead of {losses[0]:.1%}. So tables of millions of rows can be "
        "anonymized on a small computer.",
    )
