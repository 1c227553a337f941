"""Methods that deal rows evenly: Stack & Deal step by step, and the boxes of sensitive-space fragmentation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd
import streamlit as st

from anoncore import Release, privacy
from anoncore.algorithms import SensitiveSpaceFragmentation, StackAndDeal
from anoncore.algorithms.closeness.sensitive_space import SensitiveFragmentation
from anoncore.algorithms.closeness.stack_and_deal import Stack
from anoncore.base.progress import Progress
from anoncore.base.texts import share_text
from anoncore.kernels.rounding import stays_within
from anoncore.search.choosing import largest_distance
from anoncore.utility import information_loss
from dashboard.charts.dealing import MOST_CLASSES, Cards, dealing, held, in_order, loss_by_attribute
from dashboard.charts.planes import Plane, bound_bars, box_map, intervals
from dashboard.elements import parts
from dashboard.elements.parts import Tile
from dashboard.markdown import escaped
from dashboard.session.workspace import Run
from dashboard.tasks import redrawing

MOST_COUNTED = 30
MOST_BOXES = 1_000
LIST_HEIGHT = 400


def stack_and_deal(run: Run) -> None:
    """Draw the steps: count, stack, deal round by round, compare the classes, hand out neighbours."""
    found = parts.soon("The cards are stacked again", run, _stacked)
    if found is not None:
        _walk(run, *found)


def _method(release: Release) -> StackAndDeal:
    assert isinstance(release.algorithm, StackAndDeal)
    return release.algorithm


def _stacked(release: Release) -> tuple[Stack, Cards]:
    stack = _method(release).stack_of(release.data)
    return stack, Cards.of(stack)


def stops(n_rounds: int) -> list[int]:
    """After how many rounds the deal is shown: the first three, half of them, all."""
    return sorted({min(place, n_rounds) for place in (1, 2, 3, -(-n_rounds // 2), n_rounds)})


@redrawing.part()
def _walk(run: Run, stack: Stack, cards: Cards) -> None:
    rounds = stops(cards.n_rounds)
    dealt = [f"Deal up to round {after}" for after in rounds[:-1]] + [f"Deal all {cards.n_rounds:,} rounds"]
    titles = ["Count the values", "Stack the cards", *dealt, "Compare the groups", "Hand out neighbours"]
    step = parts.steps(f"deal-{run.id}", titles)
    if step == 0:
        _counted(run, stack)
    elif step <= 1 + len(rounds):
        _dealt(run, stack, cards, 0 if step == 1 else rounds[step - 2])
    elif step == len(titles) - 2:
        _compared(run, cards)
    else:
        _neighbours(run)


def _counted(run: Run, stack: Stack) -> None:
    names = " and ".join(f"'{escaped(name)}'" for name in stack.multiplicity.attributes)
    cells = np.arange(len(stack.order))
    counts = stack.multiplicity.counts
    if len(cells) > MOST_COUNTED:
        cells = np.sort(np.argsort(-counts, kind="stable")[:MOST_COUNTED])
    texts = [" · ".join(stack.multiplicity.labels(int(cell))) for cell in cells]
    cut = f" Of {len(counts):,} the {MOST_COUNTED} most frequent are drawn." if len(cells) < len(counts) else ""
    what = "value" if len(stack.multiplicity.views) == 1 else "combination of values"
    parts.chart(
        in_order(texts, counts[cells], run.style),
        "deal-counts",
        f"Every row is a card that shows its {names}. Here is how many cards show each {what}, in the "
        f"attributes' own order.{cut}",
        f"Bar chart of the number of rows of each {what}; the most frequent has {counts.max():,} rows.",
    )


def _dealt(run: Run, stack: Stack, cards: Cards, after: int) -> None:
    classes, rounds = cards.dealt.shape[1], len(cards.dealt)
    how = "the most frequent on top" if _method(run.release).stack == "frequency" else "along the order of the values"
    shown = []
    if classes < cards.n_classes:
        shown.append(f"the first {classes} of {cards.n_classes:,} groups")
    if rounds < cards.n_rounds:
        shown.append(f"the first {rounds} of {cards.n_rounds:,} rounds")
    if len(cards.texts) < len(stack.order):
        shown.append(
            f"the {len(stack.order):,} runs of equal cards in {len(cards.texts)} colours, small neighbours as one"
        )
    cut = f" Drawn are {'; '.join(shown)}." if shown else ""
    if after == 0:
        text = f"Equal cards lie together, {how}. Nothing is dealt yet."
    else:
        dealt = min(after * cards.n_classes, stack.multiplicity.n_rows)
        text = (
            f"Cards are dealt from the top, one to each of the {cards.n_classes:,} groups in turn: "
            f"{dealt:,} of {stack.multiplicity.n_rows:,} cards so far. Colours are the values; faint bars are dealt."
        )
    parts.chart(
        dealing(cards, after),
        "deal-cards",
        text + cut,
        f"The stack of cards to the left and the cards of the first {classes} groups after {after} rounds.",
    )


def _compared(run: Run, cards: Cards) -> None:
    sizes = run.release.partition.sizes
    apart = np.ptp(cards.held, axis=0).max()
    low, high = int(sizes.min()), int(sizes.max())
    farthest = f"{float(parts.measured(run, largest_distance)):.4f}"
    sizes_text = f"{low:,}" if low == high else f"{low:,} or {high:,}"
    parts.tiles(
        [
            Tile("Groups", f"{cards.n_classes:,}", "Rows divided by k, rounded down."),
            Tile("Rows in each", sizes_text, "Sizes of two groups differ by 1 at most."),
            Tile("Largest EMD", farthest, "Of any group in any sensitive attribute, by its kind."),
        ]
    )
    cut = f" The first {MOST_CLASSES} of {cards.n_classes:,} are drawn." if cards.n_classes > MOST_CLASSES else ""
    parts.chart(
        held(cards),
        "deal-held",
        f"How many cards of each value the groups hold; dark means one more than light. No two "
        f"groups differ by more than 1 in any value: that is what makes them close to the table.{cut}",
        f"Heat map of the cards of each value in the groups; counts in a row differ by at most {apart}.",
    )


@dataclass(frozen=True, eq=False)
class Locality:
    """Information loss by attribute with rows dealt by chance and with neighbours, and the largest EMD of both."""

    names: tuple[str, ...]
    chance: npt.NDArray[np.float64]
    near: npt.NDArray[np.float64]
    distance: tuple[float, float]


def locality_of(release: Release, progress: Progress) -> Locality:
    """The release beside the one that differs only in locality."""
    algorithm = _method(release)
    other = algorithm.replace(locality=not algorithm.locality).anonymize(release.data, progress)
    chance, near = (other, release) if algorithm.locality else (release, other)
    losses = [information_loss(one).per_attribute for one in (chance, near)]
    names = tuple(losses[0])
    by_chance, by_nearness = (np.array([loss[name] for name in names]) for loss in losses)
    return Locality(names, by_chance, by_nearness, (largest_distance(chance), largest_distance(near)))


def _neighbours(run: Run) -> None:
    st.markdown(
        "Cards of one value are alike for privacy, so it does not matter which of them a group gets. With locality "
        "each group takes rows that lie near each other in the quasi-identifiers, and rows of equal cards change "
        "places as long as that narrows the published ranges. "
        + (
            "This release used locality."
            if _method(run.release).locality
            else "This release was dealt by chance; the other way is shown beside."
        )
    )
    found = parts.later("Dealing the other way", run, locality_of)
    if found is None:
        return
    before, after = float(found.chance.mean()), float(found.near.mean())
    lower = f"{1 - after / before:.0%} lower" if before > 0 and after < before else None
    near = "Information loss with locality."
    parts.tiles(
        [
            Tile("Loss by chance", share_text(before), "Information loss with equal cards dealt at random."),
            Tile("Loss with neighbours", share_text(after), near, lower, True if lower else None),
            Tile("EMD by chance", f"{found.distance[0]:.4f}", "Of the group farthest from the table; 0 to 1."),
            Tile("EMD with neighbours", f"{found.distance[1]:.4f}", "The same: no group changes its counts."),
        ]
    )
    parts.chart(
        loss_by_attribute(found.names, found.chance, found.near, run.style),
        "deal-losses",
        "Share of its domain that a published cell covers on average, by quasi-identifier.",
        f"Bar chart of the information loss by attribute: {before:.0%} on average by chance, {after:.0%} with "
        "neighbours.",
    )


def sensitive_space(run: Run) -> None:
    """Draw the boxes over the multiplicity matrix, their bounds, and the true distances."""
    found = parts.later("Fragmenting the sensitive space", run, fragmentation_of)
    if found is not None:
        _numbers(run, found)
        _boxes(run, found)


def fragmentation_of(release: Release) -> SensitiveFragmentation:
    """The fragmentation that the release was dealt from, with its bounds."""
    assert isinstance(release.algorithm, SensitiveSpaceFragmentation)
    found = release.algorithm.fragmentation_of(release)
    found.box_bounds  # noqa: B018 - computed here, in the background
    return found


def _numbers(run: Run, found: SensitiveFragmentation) -> None:
    assert isinstance(run.algorithm, SensitiveSpaceFragmentation)
    asked = run.algorithm.closeness(run.data)
    names, t = [str(one.attribute) for one in asked], np.array([one.t for one in asked])
    grounds = zip(names, asked, strict=True)
    true = np.array([float(parts.measured(run, privacy.emd, name, one.ground).max()) for name, one in grounds])
    tiles = [
        Tile("Boxes", f"{found.n_fragments:,}", "Fragments of the space of sensitive values; together they tile it."),
        Tile("Groups", f"{run.release.partition.n_groups:,}", "Each takes its share of every box."),
    ]
    for name, bound, distance, limit in zip(names, found.bounds, true, t, strict=True):
        told = (
            "Aggregate bound: no group with its exact share of every box is farther from the table. The largest true "
            f"EMD is {distance:.4f}."
        )
        note, holds = f"true {distance:.4f}, t = {limit:g}", bool(stays_within(distance, limit))
        tiles.append(Tile(f"Bound of {escaped(name)}", f"{bound:.4f}", told, note, holds))
    parts.tiles(tiles, min(len(tiles), 4))
    parts.chart(
        bound_bars(names, true, found.bounds, t, run.style),
        "space-bounds",
        "The bound holds for shares that are exact. Where counts do not divide, groups take a row more or "
        "less of a box, so every group is measured: its distance may lie above the bound, never above t (the mark).",
        "Bar chart per sensitive attribute of the aggregate bound, the largest true distance and t.",
    )


@redrawing.part()
def _boxes(run: Run, found: SensitiveFragmentation) -> None:
    names = list(found.multiplicity.attributes)
    single = len(names) == 1
    word = "interval" if single else "box"
    axes = (0, 0)
    if len(names) > 2:
        with st.container(horizontal=True):
            across = parts.choice("Across", names, f"space-across-{run.id}", "Sensitive attribute to the right.")
            rest = [name for name in names if name != across]
            up = parts.choice("Up", rest, f"space-up-{run.id}", "Sensitive attribute upwards.")
        axes = (names.index(across), names.index(up))
    elif not single:
        axes = (0, 1)
    left, right = parts.beside()
    with right:
        chosen = _list(run, found, word)
    style = run.style
    with left:
        if single:
            parts.chart(
                intervals(found, style, chosen),
                "space-intervals",
                f"Rows of each value of '{escaped(names[0])}' in its order; lines end the "
                f"{found.n_fragments:,} intervals. Every group takes its share of each interval.",
                f"Bar chart of {names[0]} cut into {found.n_fragments} intervals.",
            )
            return
        plane = Plane.of(found, *axes)
        over = (
            " There are more than two sensitive attributes: boxes are seen from the side and overlap."
            if len(names) > 2
            else ""
        )
        grouped = " Each cell joins neighbouring values." if max(plane.width) > 1 else ""
        parts.chart(
            box_map(plane, style, chosen),
            "space-map",
            "Grey: how many rows have each pair of values, darker where there are more. Lines: the "
            f"{found.n_fragments:,} boxes; every group takes its share of each.{over}{grouped}",
            f"Heat map of {plane.names[0]} and {plane.names[1]} with {found.n_fragments} boxes.",
        )


def _list(run: Run, found: SensitiveFragmentation, word: str) -> int:
    """The boxes with what each adds to the bounds; returns the chosen one."""
    names = found.multiplicity.attributes
    order = np.argsort(-found.box_bounds.sum(axis=1), kind="stable")[:MOST_BOXES]
    columns: dict[str, object] = {"rows": found.counts[order]}
    config = {"rows": parts.number(f"Rows in the {word}.", "localized", 50, "Rows")}
    for axis, (name, view) in enumerate(zip(names, found.multiplicity.views, strict=True)):
        ends = zip(*found.boxes[order, axis].T, strict=True)
        columns[f"range {axis}"] = [
            view.labels[a] if a == b else f"{view.labels[a]} to {view.labels[b]}" for a, b in ends
        ]
        columns[f"bound {axis}"] = found.box_bounds[order, axis]
        shown = escaped(name)
        config[f"range {axis}"] = st.column_config.TextColumn(name, help=f"Values of '{shown}' in the {word}.")
        adds = f"What the {word} adds to the aggregate bound of '{shown}'."
        config[f"bound {axis}"] = parts.number(adds, "%.4f", 65, "adds")
    chosen = parts.row_choice(
        pd.DataFrame(columns),
        order,
        f"space-{run.id}",
        config,
        LIST_HEIGHT,
        "List of the boxes, those that add most to the bounds first; the chosen one is marked in the figure.",
    )
    count = f"{len(order):,} of {found.n_fragments:,}" if len(order) < found.n_fragments else f"All {len(order):,}"
    plural = {"box": "boxes", "interval": "intervals"}[word]
    st.caption(f"{count} {plural}, those that add most to the bounds first. Click one to mark it in the figure.")
    return chosen
