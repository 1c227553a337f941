"""Mondrian: people are points in a plane, which is cut at the median until a class would become too small."""

from __future__ import annotations

from typing import Literal

import streamlit as st

from anoncore import Release
from anoncore.algorithms import Mondrian
from anoncore.requirements import KAnonymity
from anoncore.utility import information_loss
from dashboard.charts.lessons import plane
from dashboard.elements import parts
from dashboard.elements.parts import Tile
from dashboard.learn.lessons.board import STYLE, Step, ask, data_of, pick, whole

TABLE = "rothko-synthetic"
PEOPLE = 60
PLANE = ("age", "salary")


def cut(k: int, recoding: Literal["rows", "regions"] = "regions") -> Release:
    """Sixty people cut by Mondrian at the median, with at least k in every class."""
    return Mondrian(requirements=(KAnonymity(k=k),), recoding=recoding).anonymize(data_of(TABLE, PLANE, PEOPLE))


def _draw(release: Release, key: str) -> None:
    sizes = release.partition.sizes
    parts.chart(
        plane(release, *PLANE, STYLE),
        key=key,
        caption=f"{PEOPLE} made-up people by age and salary. Everybody in a box is published with the box's ranges.",
        alt=f"{PEOPLE} points in a plane of age and salary, cut into {len(sizes)} boxes of {sizes.min()} or more.",
    )


def _tiles(release: Release) -> None:
    sizes, loss = release.partition.sizes, information_loss(release)
    parts.tiles(
        [
            Tile("Classes", f"{len(sizes)}", "Boxes into which the plane is cut."),
            Tile("Smallest class", f"{sizes.min()}", "People in the smallest box."),
            Tile("Blur", f"{float(loss):.0%}", "Part of each attribute's range that a published range covers."),
        ]
    )


def _uncut() -> None:
    st.markdown(
        "Every person is a point. Without any cut all are in one box: everybody is published with the whole range of "
        "ages and salaries. Nobody is found, and nothing is learned. **Cut the box once, at the median**: half of the "
        "people to either side."
    )
    cuts = pick("Cuts", ["no cut", "one cut"], "first", "Before and after the first cut.", 1)
    release = cut(PEOPLE if cuts == "no cut" else PEOPLE // 2)
    _draw(release, "lesson-first-cut")
    _tiles(release)
    before, after = information_loss(cut(PEOPLE)), information_loss(cut(PEOPLE // 2))
    ask(
        "what does one cut change?",
        f"Two classes of {cut(PEOPLE // 2).partition.sizes.min()} people instead of one of {PEOPLE}, and the blur "
        f"falls from {float(before):.0%} to {float(after):.0%}. Mondrian cuts the attribute that is spread most, "
        "so both sides become as narrow as they can.",
    )


def _again() -> None:
    st.markdown(
        "Now cut each box again, and those boxes again. Every box is cut where its own people lie, so boxes are "
        "narrow where many people are, and wide where few are. It looks like a painting by Mondrian: hence the name."
    )
    depth = whole("Rounds of cutting", 0, 4, 2, "depth", "Each round cuts every box once, as far as it can be.")
    release = cut(PEOPLE // 2**depth)
    _draw(release, "lesson-again")
    _tiles(release)
    ask(
        "why are some boxes larger than others?",
        f"Each of the {release.partition.n_groups} boxes holds about as many people "
        f"({release.partition.sizes.min()} to {release.partition.sizes.max()}), not as much room. Where people are "
        "few, a box must reach far to find them.",
    )


def _stop() -> None:
    st.markdown(
        "When to stop? **When a cut would leave fewer than k people on a side.** Small k: fine boxes, small crowds. "
        "Large k: large crowds, coarse boxes. You may also publish only the range of the people who are there."
    )
    left, right = st.columns(2)
    with left:
        k = whole("k", 2, 30, 5, "mondrian-k", "Fewest people in a class.")
    with right:
        form = pick("Published", ["whole boxes", "ranges of the people"], "form", "What each class is published with.")
    release = cut(k, "regions" if form == "whole boxes" else "rows")
    _draw(release, "lesson-stop")
    _tiles(release)
    small, large = float(information_loss(cut(2, "rows"))), float(information_loss(cut(20, "rows")))
    ask(
        "what does a larger k cost?",
        f"Blur: from {small:.0%} at k = 2 to {large:.0%} at k = 20 (ranges of the people). Now {k} people look "
        f"alike in every box at least, with a blur of {float(information_loss(release)):.0%}. Which k is right "
        "depends on who reads the release: the lines over k on the board weigh one against the other.",
    )


STEPS = (Step("One cut", _uncut), Step("Cut again", _again), Step("When to stop", _stop))
