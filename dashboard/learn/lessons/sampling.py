"""Rothko: a table that does not fit in memory is cut by a sample, counted once, and mended where the sample erred."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import streamlit as st

from anoncore import Release
from anoncore.algorithms import Mondrian, RothkoSampling
from anoncore.algorithms.rothko.confident_checks import rows_needed
from anoncore.algorithms.rothko.partition_tree import PartitionTree
from anoncore.algorithms.rothko.rothko_sampling import Sampling, counted, grown, prune
from anoncore.algorithms.rothko.rows import MemoryRows
from anoncore.algorithms.rothko.setting import Node, Setting, Statistics
from anoncore.requirements import KAnonymity
from anoncore.utility import information_loss
from dashboard.charts.lessons import boxes_in_plane, share_bars
from dashboard.elements import parts
from dashboard.elements.parts import Tile
from dashboard.learn.lessons.board import STYLE, Step, ask, data_of, pick, whole

TABLE = "rothko-synthetic"
PEOPLE, K, SAMPLE = 2_000, 50, 200
PLANE = ("age", "salary")
CARE = {"with the test": 0.05, "without": 1.0}
"""Chance of a wrong cut that is borne, shared by two sides; at 1 a sample is taken for the table."""


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


def _draw(found: Growth, key: str, caption: str, failing: npt.NDArray[np.bool_] | None = None) -> None:
    data = data_of(TABLE, PLANE, PEOPLE)
    points = np.stack([data.domain[name].positions[found.sample[:, axis]] for axis, name in enumerate(PLANE)], axis=1)
    parts.chart(
        boxes_in_plane(data, PLANE, points, found.boxes, STYLE, failing),
        key=key,
        caption=caption,
        alt=f"{len(points)} sampled people in a plane of age and salary, cut into {len(found.boxes)} boxes.",
    )


def _sizes(key: str, most: int = 300) -> tuple[int, int]:
    left, right = st.columns(2)
    with left:
        sample = whole("People in the sample", 60, most, SAMPLE, f"{key}-size", "As many as fit in memory.")
    with right:
        seed = whole("Which sample", 1, 9, 1, f"{key}-seed", "Another draw of as many people.")
    return sample, seed


def _sample() -> None:
    st.markdown(
        f"Mondrian looks at everybody for each cut. Now think of a table too large for the memory: here {PEOPLE:,} "
        "people, of whom only a few hundred fit. Reading all of them again for every cut would take for ever. **So "
        "draw a sample, and cut where the sample says.**"
    )
    sample, seed = _sizes("sampling-first")
    _draw(
        growth(sample, seed=seed),
        "lesson-tree-first",
        f"The sample, cut into boxes. In every box must be {K} of all {PEOPLE:,} people, not of the sample.",
    )
    name, at = first_cut(sample, seed)
    _, truth = first_cut(PEOPLE)
    parts.tiles(
        [
            Tile("First cut, by the sample", f"{at:,.0f}", f"The largest {name} on the lower side."),
            Tile("First cut, by everybody", f"{truth:,.0f}", "Where Mondrian cuts that sees all people."),
        ],
        columns=3,
    )
    ask(
        "how far off is a cut that a sample chose?",
        f"Not far: by this sample the first cut is at {name} {at:,.0f}, by everybody at {truth:,.0f}. That makes the "
        "boxes a little uneven, nothing worse. But is a box large enough for the crowd that was promised? For that "
        "the sample is only a guess.",
    )


def _grow() -> None:
    st.markdown(
        f"**Grow while you are sure.** {K} of {PEOPLE:,} people is one in {PEOPLE // K}. A box with just one in "
        f"{PEOPLE // K} of the sample may hold more or fewer than {K} of all. A *hypothesis test* asks for more: a "
        "cut is made only where each side has so many that a mistake is unlikely (5%)."
    )
    sample = whole("People in the sample", 60, 300, SAMPLE, "sampling-grow", "As many as fit in memory.")
    care = pick("Cut", list(CARE), "sampling-care", "With the test, or as if the sample were the table.")
    found = growth(sample, CARE[care])
    _draw(found, "lesson-tree-grow", "Boxes of the tree that was grown on the sample.")
    plain, tested = (rows_needed(K, sample, PEOPLE, alpha, 2) for alpha in (1.0, CARE["with the test"]))
    parts.tiles(
        [
            Tile("Boxes", f"{len(found.boxes)}", "Parts into which the sample is cut."),
            Tile("Needed without a test", f"{plain}", f"Sampled people: {K} of {PEOPLE:,} in proportion."),
            Tile("Needed with the test", f"{tested}", "Sampled people on each side of a cut."),
        ]
    )
    careful, bold = (len(growth(sample, alpha).boxes) for alpha in CARE.values())
    ask(
        "why are there fewer boxes with the test?",
        f"In proportion {plain} of {sample} sampled people would do; the test wants {tested}. So it stops earlier, "
        f"at {careful} boxes instead of {bold}. A cut that is not made now can be made later, in memory. A cut that "
        "was wrong must be undone.",
    )


def _prune() -> None:
    st.markdown(
        "**One pass over everybody** counts how many people are in each box. Now the truth is known. A box with fewer "
        f"than {K} is *pruned*: its cut is undone, and all that was cut after it."
    )
    left, right = st.columns(2)
    with left:
        care = pick("Grown", list(CARE), "sampling-grown", "With the test, or as if the sample were the table.", 1)
    with right:
        when = pick("Shown", ["before pruning", "after"], "sampling-pruned", "Before and after the cure.")
    seed = whole("Which sample", 1, 9, 1, "sampling-prune-seed", "Another draw of as many people.")
    found = growth(SAMPLE, CARE[care], seed, when == "after")
    failing = found.sizes < K
    _draw(found, "lesson-tree-prune", f"Vermillion: boxes with fewer than {K} of all {PEOPLE:,} people.", failing)
    parts.tiles(
        [
            Tile("Boxes", f"{len(found.boxes)}", "Parts into which all people are divided."),
            Tile("Smallest box", f"{found.sizes.min()}", f"People of all {PEOPLE:,} in it."),
            Tile("Too small", f"{failing.sum()}", f"Boxes with fewer than {K} people."),
        ]
    )
    undone = {
        name: sum(growth(SAMPLE, alpha, one, True).undone for one in range(1, 10)) for name, alpha in CARE.items()
    }
    after = min(int(growth(SAMPLE, alpha, one, True).sizes.min()) for alpha in CARE.values() for one in range(1, 10))
    ask(
        "does the sample ever put anybody's privacy at risk?",
        f"No. The promise is checked on everybody: in all nine samples no box is left with fewer than {after} "
        f"people. The test only saves work: without it {undone['without']} boxes of the nine trees are too small, with "
        f"it {undone['with the test']}.",
    )


def _finish() -> None:
    st.markdown(
        "**Finish.** Each part that now fits in memory is cut on by Mondrian itself, with all of its people. Parts "
        "that are still too large get a sample of their own. What is lost against Mondrian that sees everything?"
    )
    sample, seed = _sizes("sampling-finish")
    release, whole_table = released(sample, seed=seed), exact()
    losses = [float(information_loss(one)) for one in (whole_table, release)]
    parts.chart(
        share_bars(
            ["Mondrian, all in memory", f"Rothko, {sample} in memory"],
            losses,
            STYLE,
            "blur: part of the range that a cell covers",
        ),
        key="lesson-sampling-loss",
        caption="How coarse the published values are.",
        alt=f"Bars: {losses[0]:.1%} for Mondrian, {losses[1]:.1%} for Rothko.",
    )
    parts.tiles(
        [
            Tile("Classes", f"{release.partition.n_groups}", "Of the release."),
            Tile("Classes of Mondrian", f"{whole_table.partition.n_groups}", "With all people in memory."),
            Tile("Smallest class", f"{release.partition.sizes.min()}", f"Never fewer than {K}."),
        ]
    )
    ask(
        "what does a small memory cost?",
        f"No privacy: the smallest class has {release.partition.sizes.min()} people, {K} were promised. And hardly any "
        f"detail: the blur is {losses[1]:.1%} instead of {losses[0]:.1%}. So tables of millions of rows can be "
        "anonymized on a small computer.",
    )


STEPS = (
    Step("Ask a sample", _sample),
    Step("Grow while you are sure", _grow),
    Step("Count everybody, and prune", _prune),
    Step("Finish in memory", _finish),
)
