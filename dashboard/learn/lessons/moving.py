"""The earth mover's distance: a heap is shovelled into the shape of another, and the work is counted."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from anoncore import Microdata, Partition, Release, privacy
from anoncore.privacy import Transport
from dashboard.charts.closeness import along_order, from_surplus_to_lack, through_tree
from dashboard.elements import parts
from dashboard.elements.parts import Tile
from dashboard.learn.lessons.board import STYLE, Step, ask, data_of, generalized, pick, published, table, whole

TABLE = "t-closeness-table-2.10"
LEVELS = ("low", "middle", "high")


def paper() -> Release:
    """The people in the three classes of the paper."""
    return generalized(data_of(TABLE), published(TABLE))


def moves(plan: Transport) -> pd.DataFrame:
    """The moves of a plan: from, to, the mass, how far, and the work."""
    return pd.DataFrame(
        {
            "from": [plan.values[code] for code in plan.source],
            "to": [plan.values[code] for code in plan.target],
            "mass": plan.mass,
            "distance": plan.distance,
            "work": plan.mass * plan.distance,
        }
    )


def three_levels(counts: tuple[int, int, int]) -> Release:
    """A class with so many rows of each level, and nine others with three rows of each."""
    levels = np.repeat(LEVELS, counts).tolist() + list(LEVELS) * 3
    frame = pd.DataFrame({"age": np.arange(len(levels)), "level": levels})
    roles = {"age": "quasi-identifier", "level": "sensitive"}
    data = Microdata(frame, roles, kinds={"level": "ordinal"}, orders={"level": LEVELS})
    return generalized(data, Partition((np.arange(len(levels)) >= sum(counts)).astype(np.int32)))


def _heaps() -> None:
    st.markdown(
        "Think of shares as **heaps of earth**. A class has some rows low, some middle, some high; the table has its "
        "own. How much earth must be moved, and how far, to turn the class into the table?"
    )
    columns = st.columns(3)
    counts = []
    for column, level, usual in zip(columns, LEVELS, (4, 1, 0), strict=True):
        with column:
            counts.append(whole(f"Rows {level}", 0, 6, usual, f"heap-{level}", f"Rows of the class that are {level}."))
    if sum(counts) == 0:
        st.info("Give the class at least one row.")
        return
    plan = privacy.transport(three_levels((counts[0], counts[1], counts[2])), "level", 0)
    left, right = st.columns([5, 4], gap="medium")
    with left:
        parts.chart(
            along_order(plan, STYLE, "the class"),
            key="lesson-heaps",
            caption="Above: shares in the class and in the table, which holds the class and nine more rows, three of "
            "each level. Below: how much earth crosses from one level to the next.",
            alt=f"Two distributions over three levels, {plan.cost:.3f} apart.",
        )
    with right:
        table(moves(plan), "The moves.")
        parts.tiles([Tile("Distance (EMD)", f"{plan.cost:.3f}", "The sum of the work of all moves.")])
        st.caption("Work = mass × distance. From low to high is the whole way, 1; to the neighbour it is half of it.")
    ask(
        "when is the distance 0, and when is it largest?",
        f"Now it is {plan.cost:.3f}. It is 0 when the class has as many of each level as the table, say 2, 2 and "
        "2; it is largest when all rows sit at one end, because then earth must go the whole way. This is the "
        "**earth mover's distance**, EMD.",
    )


def _salaries() -> None:
    st.markdown(
        "The same with the nine salaries of the last lesson. Salaries have an **order**: moving earth to the next "
        "salary is cheap, moving it from the lowest to the highest costs most."
    )
    group = int(pick("Class", ["1", "2", "3"], "moved", "The class that is turned into the table.")) - 1
    plan = privacy.transport(paper(), "salary", group)
    parts.chart(
        along_order(plan, STYLE, f"class {group + 1}"),
        key="lesson-salaries",
        caption="Above: shares in the class and in the table. Below: earth that crosses between neighbours.",
        alt=f"Two distributions over nine salaries, {plan.cost:.3f} apart.",
    )
    costs = [privacy.transport(paper(), "salary", other).cost for other in range(3)]
    parts.tiles(
        [
            Tile(f"Class {other + 1}", f"{cost:.3f}", "Earth mover's distance from the table.")
            for other, cost in enumerate(costs)
        ]
    )
    ask(
        "all three classes have three different salaries. Why are their distances so different?",
        f"Class 1 has the three lowest, so all its earth must travel up: {costs[0]:.3f}. Class 2 is spread over "
        f"the whole range, so earth goes to near neighbours only: {costs[1]:.3f}.",
    )


def _grounds() -> None:
    st.markdown(
        "How far two values are apart is yours to say. **Equal**: any two diseases are as far apart. "
        "**Hierarchical**: two diseases of the stomach are closer to each other than to one of the lungs."
    )
    ground = pick("Distance of two diseases", ["equal", "hierarchical"], "ground", "How far apart two diseases are.")
    group = int(pick("Class", ["1", "2", "3"], "ground-class", "The class that is turned into the table.")) - 1
    plan = privacy.transport(paper(), "disease", group, "equal" if ground == "equal" else "hierarchical")
    draw = from_surplus_to_lack if ground == "equal" else through_tree
    parts.chart(
        draw(plan, STYLE, f"class {group + 1}"),
        key="lesson-grounds",
        caption="Bars: shares in the class and in the table (grey). Beside them: the mass that moves.",
        alt=f"Two distributions over diseases, {plan.cost:.3f} apart.",
    )
    left, right = st.columns([3, 2], gap="medium")
    with left:
        table(moves(plan), "The moves.")
    with right:
        parts.tiles([Tile("Distance (EMD)", f"{plan.cost:.3f}", "The sum of the work of all moves.")])
    equal = [privacy.emd(paper(), "disease", "equal")[one] for one in range(3)]
    tree = [privacy.emd(paper(), "disease", "hierarchical")[one] for one in range(3)]
    ask(
        "which of the two notices that class 1 has stomach diseases only?",
        f"Equal does not: it gives {equal[0]:.3f} to class 1 and {equal[2]:.3f} to class 3, though class 1 has three "
        f"stomach diseases and class 3 is mixed. Hierarchical gives {tree[0]:.3f} and {tree[2]:.3f}: earth that stays "
        "inside the stomach is cheap, earth that must go to the lungs is not.",
    )


STEPS = (
    Step("Two heaps of earth", _heaps),
    Step("Along an order: salaries", _salaries),
    Step("Other ways to say how far", _grounds),
)
