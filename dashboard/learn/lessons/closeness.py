"""Closeness: similarity and skewness, t-closeness, and the earth mover's distance by hand."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pandas as pd

from anoncore import Microdata, Partition, Release, attacks, privacy
from anoncore.algorithms import Mondrian
from anoncore.privacy import Transport
from anoncore.requirements import DistinctDiversity, KAnonymity, TCloseness
from dashboard.charts.closeness import along_order, from_surplus_to_lack, through_tree
from dashboard.learn.lessons.board import (
    STYLE,
    Lesson,
    Question,
    as_in_paper,
    as_published,
    ask_for,
    beside,
    chart,
    class_chart,
    data_of,
    figures,
    generalized,
    say,
    table,
)

TABLE = "t-closeness-table-2.10"
SALARY = "salary"
PEOPLE, CLASS, POSITIVE = 1_000, 20, 20
"""The made-up test: people in all, in the class that is looked at, and with a positive result in all."""

CLOSENESS = Lesson.named("closeness")


@CLOSENESS.step
def _similar(group: int) -> Question:
    group -= 1
    release = as_in_paper(TABLE)
    (check,) = DistinctDiversity(l=3, attribute=SALARY).checks(release.data)
    levels = check.levels(release.partition)
    left, right = beside(3, 2)
    with left:
        frame = as_published(release)
        table(frame, "The people in three groups.", np.flatnonzero(frame["group"] == group + 1).tolist())
        figures(("Different salaries", f"{levels[group]:.0f}", "In this group: what l-diversity counts."))
    with right:
        class_chart(release, SALARY, group, "similar-shares")
    salaries = release.data.domain[SALARY].positions[release.data.codes[SALARY]]
    first = salaries[release.partition.rows(0)]
    return (
        "what do you know of everybody in group 1?",
        f"Salaries from {first.min():,.0f} to {first.max():,.0f}, while the table goes up to "
        f"{salaries.max():,.0f}: all of them earn little. And all three diseases are diseases of the stomach. The "
        "values differ, their meaning does not: the **similarity attack**. Diversity counts values, it does not "
        "know which are close.",
    )


def tested(positive: int) -> Release:
    """A thousand people, twenty of them positive in all; a class of twenty has so many of them."""
    result = np.zeros(PEOPLE, dtype=bool)
    result[:positive] = True
    result[CLASS : CLASS + POSITIVE - positive] = True
    frame = pd.DataFrame({"age": np.arange(PEOPLE) // 10, "result": np.where(result, "positive", "negative")})
    data = Microdata(frame, {"age": "quasi-identifier", "result": "sensitive"})
    return generalized(data, Partition((np.arange(PEOPLE) >= CLASS).astype(np.int32)))


@CLOSENESS.step
def _skewed(positive: int) -> Question:
    release = tested(positive)
    found = attacks.sensitive_posterior(release, "result")
    code = release.data.domain["result"].code_of("positive")
    before = float((release.data.codes["result"] == code).mean())
    after = float(np.asarray(found)[0, code])
    class_chart(release, "result", 0, "skewed-shares")
    figures(
        ("Belief before", f"{before:.0%}", "Positive, for anybody: the share in the table."),
        ("Belief after", f"{after:.0%}", "Positive, for anybody in this group."),
        ("Times as likely", f"{after / before:.0f}", "Belief after divided by belief before."),
        columns=3,
    )
    return (
        "both results occur. Is anything wrong?",
        f"Everybody in the group was positive with {before:.0%}; after reading the release it is {after:.0%}, "
        f"{after / before:.0f} times as much. This is the **skewness attack**: the group is far from the table. "
        "Diversity is blind to it, with 19 positive people as with 1.",
    )


def close(t: float) -> Partition:
    """The people in classes of at least two rows whose salaries are t-close to the table's."""
    requirements = (KAnonymity(k=2), TCloseness(t=t, ground="ordered", attribute=SALARY))
    return Mondrian(requirements=requirements).anonymize(data_of(TABLE, ("age",))).partition


@CLOSENESS.step
def _close(t: float) -> Question:
    release = generalized(data_of(TABLE, ("age",)), close(t))
    distances = privacy.emd(release, SALARY, "ordered")
    before = privacy.emd(as_in_paper(TABLE), SALARY, "ordered")
    left, right = beside(3, 2)
    with left:
        table(as_published(release), f"The people in groups within {t:g} of the table.")
    with right:
        table(
            pd.DataFrame(
                {"group": np.arange(len(distances)) + 1, "rows": release.partition.sizes, "distance": distances}
            ),
            "Distance of each group from the table.",
        )
        figures(
            ("Groups", f"{len(distances)}", "More groups: finer values."),
            ("Largest", f"{distances.max():.3f}", "Of any group from the table; at most t."),
        )
    return (
        "what happens to the groups when t gets smaller?",
        f"With t = {t:g} there are {len(distances)}, the farthest {distances.max():.3f} from the table. The group of "
        f"the badly paid in the first step is {before[0]:.3f} away: below that, its like cannot be published. Rows "
        "must be mixed with better paid ones until knowing the group tells hardly more than knowing the table. The "
        "price is coarser ages.",
    )


LEVELS = ("low", "middle", "high")

MOVING = Lesson.named("moving")


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


@MOVING.step
def _heaps(low: int, middle: int, high: int) -> Question:
    if low + middle + high == 0:
        ask_for("Give the group at least one row.")
    plan = privacy.transport(three_levels((low, middle, high)), "level", 0)
    left, right = beside(5, 4)
    with left:
        chart(
            along_order(plan, STYLE, "the group"),
            "heaps",
            "Above: shares in the group and in the table, which holds the group and nine more rows, three of "
            "each level. Below: how much earth crosses from one level to the next.",
            f"Two distributions over three levels, {plan.cost:.3f} apart.",
        )
    with right:
        table(moves(plan), "The moves.")
        figures(("Distance (EMD)", f"{plan.cost:.3f}", "The sum of the work of all moves."))
        say("Work = mass × distance. From low to high is the whole way, 1; to the neighbour it is half of it.")
    return (
        "when is the distance 0, and when is it largest?",
        f"Now it is {plan.cost:.3f}. It is 0 when the group has as many of each level as the table, say 2, 2 and "
        "2; it is largest when all rows sit at one end, because then earth must go the whole way. This is the "
        "**earth mover's distance**, EMD.",
    )


@MOVING.step
def _salaries(group: int) -> Question:
    group -= 1
    plan = privacy.transport(as_in_paper(TABLE), "salary", group)
    chart(
        along_order(plan, STYLE, f"group {group + 1}"),
        "salaries",
        "Above: shares in the group and in the table. Below: earth that crosses between neighbours.",
        f"Two distributions over nine salaries, {plan.cost:.3f} apart.",
    )
    costs = [privacy.transport(as_in_paper(TABLE), "salary", other).cost for other in range(3)]
    figures(
        *(
            (f"Group {other}", f"{cost:.3f}", "Earth mover's distance from the table.")
            for other, cost in enumerate(costs, start=1)
        )
    )
    return (
        "all three groups have three different salaries. Why are their distances so different?",
        f"Group 1 has the three lowest, so all its earth must travel up: {costs[0]:.3f}. Group 2 is spread over "
        f"the whole range, so earth goes to near neighbours only: {costs[1]:.3f}.",
    )


@MOVING.step
def _grounds(ground: Literal["equal", "hierarchical"], group: int) -> Question:
    group -= 1
    plan = privacy.transport(as_in_paper(TABLE), "disease", group, ground)
    draw = from_surplus_to_lack if ground == "equal" else through_tree
    chart(
        draw(plan, STYLE, f"group {group + 1}"),
        "grounds",
        "Bars: shares in the group and in the table (grey). Beside them: the mass that moves.",
        f"Two distributions over diseases, {plan.cost:.3f} apart.",
    )
    left, right = beside(3, 2)
    with left:
        table(moves(plan), "The moves.")
    with right:
        figures(("Distance (EMD)", f"{plan.cost:.3f}", "The sum of the work of all moves."))
    equal = [privacy.emd(as_in_paper(TABLE), "disease", "equal")[one] for one in range(3)]
    tree = [privacy.emd(as_in_paper(TABLE), "disease", "hierarchical")[one] for one in range(3)]
    return (
        "which of the two notices that group 1 has stomach diseases only?",
        f"Equal does not: it gives {equal[0]:.3f} to group 1 and {equal[2]:.3f} to group 3, though group 1 has three "
        f"stomach diseases and group 3 is mixed. Hierarchical gives {tree[0]:.3f} and {tree[2]:.3f}: earth that stays "
        "inside the stomach is cheap, earth that must go to the lungs is not.",
    )
