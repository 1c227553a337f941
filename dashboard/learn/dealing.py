"""Classes that look like the whole table: Stack & Deal for one secret, boxes for two."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pandas as pd

from anoncore import Microdata, Release, privacy
from anoncore.algorithms import SensitiveSpaceFragmentation, StackAndDeal
from anoncore.algorithms.closeness.stack_and_deal import Stack
from dashboard.charts.dealing import Cards, dealing, held, in_order
from dashboard.charts.planes import Plane, bound_bars, box_map
from dashboard.learn.lesson_parts import STYLE, Lesson, Question, beside, chart, data_of, figures, generalized, table

TABLE = "t-closeness-salaries"
SALARY = "salary"
K = 50

DEALING = Lesson.named("dealing")


def dealt(k: int = K, stack: Literal["frequency", "value"] = "frequency") -> Release:
    """The paper's 250 employees dealt to classes of k."""
    return StackAndDeal(k=k, stack=stack, seed=0).anonymize(data_of(TABLE))


def stacked(k: int = K) -> Stack:
    """How the employees are stacked, the most frequent salary first."""
    return StackAndDeal(k=k).stack_of(data_of(TABLE))


def along_the_stack() -> Microdata:
    """The employees with salaries in the order of the stack, along which the paper measures."""
    stack = stacked()
    texts = [stack.multiplicity.labels(int(cell))[0] for cell in stack.order]
    data = data_of(TABLE)
    by_text = dict(zip(data.domain[SALARY].texts, data.domain[SALARY].values, strict=False))
    order = tuple(by_text[text] for text in texts)
    return Microdata(data.frame, data.roles, kinds={SALARY: "ordinal"}, orders={SALARY: order})


@DEALING.step
def _cards() -> Question:
    stack = stacked()
    counts = stack.multiplicity.counts
    texts = [stack.multiplicity.labels(cell)[0] for cell in range(len(counts))]
    chart(
        in_order(texts, counts, STYLE),
        "cards",
        "How many cards show each salary.",
        f"Bars of the number of cards of {len(counts)} salaries, at most {counts.max()}.",
        pd.DataFrame([counts], columns=texts),
    )
    top = texts[int(np.argmax(counts))]
    return (
        f"five groups of {K} are wanted. How many cards of {top} should each have?",
        f"There are {counts.max()} of them, so {counts.max() / 5:g} on average: some groups get "
        f"{counts.max() // 5}, some one more. If that holds for every salary, every group looks like the company.",
    )


@DEALING.step
def _deal(after: int) -> Question:
    cards = Cards.of(stacked())
    chart(
        dealing(cards, after),
        "deal",
        "Left: the stack, faint where cards are gone. Right: the cards of each group, a colour per salary.",
        f"The stack and the cards of {cards.n_classes} groups after {after} rounds.",
    )
    return (
        "why can no group get two cards more of a salary than another?",
        f"Equal cards lie together in the stack, and each round gives one card to every one of the {cards.n_classes} "
        "groups. So a run of equal cards is handed out evenly; only its first and its last round may be incomplete.",
    )


@DEALING.step
def _compare(k: int) -> Question:
    release = dealt(k)
    distances = privacy.emd(release, SALARY, "ordered")
    cards = Cards.of(stacked(k))
    chart(
        held(cards),
        "held",
        "Cards of each salary in each group; dark means one more than light.",
        f"Counts of the salaries in {cards.held.shape[0]} groups.",
    )
    figures(
        ("Groups", f"{release.partition.n_groups}", "250 divided by k, rounded down."),
        ("Largest difference", f"{int(np.ptp(cards.held, axis=0).max())}", "Of two groups in any salary."),
        ("Largest distance", f"{distances.max():.4f}", "Of any group from the company."),
    )
    small, large = (float(privacy.emd(dealt(one), SALARY, "ordered").max()) for one in (10, K))
    return (
        "what does a smaller k cost?",
        f"Closeness: with k = {K} the farthest group is {large:.4f} away, with k = 10 it is {small:.4f}. One card "
        "too many weighs more in a small group. Still, both are far closer than groups cut by age would be.",
    )


@DEALING.step
def _order(stack: Literal["frequency", "value"]) -> Question:
    distances = {one: privacy.emd(dealt(stack=one), SALARY, "ordered") for one in ("frequency", "value")}
    frame = pd.DataFrame({"group": np.arange(len(distances[stack])) + 1, "distance": distances[stack]})
    left, right = beside()
    with left:
        table(frame.astype({"distance": float}).round(6), "Distance of each group.")
    with right:
        figures(("Largest distance", f"{distances[stack].max():.4f}", "Of any group from the company."))
    other = along_the_stack()
    printed = privacy.emd(generalized(other, dealt().partition), SALARY, "ordered").max()
    return (
        "which order brings the groups closer?",
        f"Along the salaries: {distances['value'].max():.4f} instead of {distances['frequency'].max():.4f}. A card "
        "too many is then made up for by its neighbour, and earth moves one step only. (The paper prints "
        f"{printed:.6f} for the first: it measures along the stack instead of along the salaries.)",
    )


SPACE = "t-closeness-figure-4.1"
SECRETS = ("X", "Y")

BOXES = Lesson.named("boxes")


def method(t: tuple[float, float], sizing: Literal["verified", "exact"] = "verified") -> SensitiveSpaceFragmentation:
    """The method with a distance for each of the two secrets."""
    return SensitiveSpaceFragmentation(t=dict(zip(SECRETS, t, strict=True)), grounds={}, sizing=sizing, seed=0)


def farthest(release: Release) -> np.ndarray:
    """The largest distance of any class in each of the two secrets, float (2,)."""
    return np.array([privacy.emd(release, name, "ordered").max() for name in SECRETS])


def _map(t: tuple[float, float], key: str) -> int:
    found = method(t).fragmentation(data_of(SPACE))
    plane = Plane.of(found, 0, 1)
    chart(
        box_map(plane, STYLE),
        key,
        "How many of the 400 people have each pair of secrets; boxes are framed.",
        f"A grid of four by three counts, cut into {found.n_fragments} boxes.",
        pd.DataFrame(plane.counts, columns=plane.labels[0]).assign(Y=plane.labels[1]),
    )
    return found.n_fragments


@BOXES.step
def _plane() -> Question:
    _map((1.0, 1.0), "plane")
    counts = Plane.of(method((1.0, 1.0)).fragmentation(data_of(SPACE)), 0, 1).counts
    return (
        "would it be enough to deal like cards by X alone?",
        f"No: of the {counts[:, 0].sum()} people with x1, {counts[2, 0]} have y3, but of the {counts[:, 1].sum()} "
        f"with x2 it is {counts[2, 1]}. A group with the right shares of X may have quite wrong ones of Y.",
    )


@BOXES.step
def _cut(across: float, up: float) -> Question:
    t = (across, up)
    boxes = _map(t, "boxes")
    bounds = method(t).fragmentation(data_of(SPACE)).bounds
    figures(
        ("Boxes", f"{boxes}", "Into which the plane is cut."),
        ("Bound for X", f"{bounds[0]:.3f}", "No group with its exact share of every box is farther away."),
        ("Bound for Y", f"{bounds[1]:.3f}", "No group with its exact share of every box is farther away."),
    )
    one, other = (method(limits).fragmentation(data_of(SPACE)) for limits in ((0.05, 1.0), (1.0, 0.05)))
    return (
        "how are boxes cut if X must be very close and Y need not?",
        f"Narrow in X, high in Y. With t of 0.05 for X and 1 for Y there are {one.n_fragments} boxes, with bounds "
        f"{one.bounds[0]:.2f} and {one.bounds[1]:.2f}; the other way round {other.n_fragments}, with "
        f"{other.bounds[0]:.2f} and {other.bounds[1]:.2f}. Try it with the sliders.",
    )


@BOXES.step
def _fill(across: float, up: float, sizing: Literal["verified", "exact"]) -> Question:
    t = (across, up)
    algorithm = method(t, sizing)
    release = algorithm.anonymize(data_of(SPACE))
    found = farthest(release)
    bounds = algorithm.fragmentation(data_of(SPACE)).bounds
    chart(
        bound_bars(SECRETS, found, bounds, np.array(t), STYLE),
        "bounds",
        "The largest distance of any group, the bound of the boxes, and t. Without exact shares a group "
        "may pass the bound; it is measured, and never passes t.",
        f"Bars of the largest distances, {found[0]:.3f} and {found[1]:.3f}.",
    )
    sizes = release.partition.sizes
    figures(
        ("Groups", f"{len(sizes)}", "More groups: finer values."),
        ("Smallest group", f"{sizes.min()}", "People in the smallest group."),
        columns=3,
    )
    both = {one: method(t, one).anonymize(data_of(SPACE)).partition.n_groups for one in ("exact", "verified")}
    return (
        "what does measuring win?",
        f"Exact shares allow {both['exact']} groups, measured ones {both['verified']}: smaller groups with finer "
        f"values, and none is farther away than asked ({t[0]:g} in X, {t[1]:g} in Y; the farthest are "
        f"{found[0]:.3f} and {found[1]:.3f}). What is stopped is what lesson 3 showed, now for two secrets at once.",
    )
