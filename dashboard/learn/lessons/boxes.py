"""Fragmenting the sensitive space: two secrets at once, a closeness of its own for each."""

from __future__ import annotations

from typing import Literal

import numpy as np
import streamlit as st

from anoncore import Release, privacy
from anoncore.algorithms import SensitiveSpaceFragmentation
from dashboard.charts.sensitive_space import Plane, bound_bars, box_map
from dashboard.elements import parts
from dashboard.elements.parts import Tile
from dashboard.learn.lessons.board import STYLE, Step, ask, data_of, pick, slider

TABLE = "t-closeness-figure-4.1"
SECRETS = ("X", "Y")


def method(t: tuple[float, float], sizing: Literal["verified", "exact"] = "verified") -> SensitiveSpaceFragmentation:
    """The method with a distance for each of the two secrets."""
    return SensitiveSpaceFragmentation(t=dict(zip(SECRETS, t, strict=True)), grounds={}, sizing=sizing, seed=0)


def farthest(release: Release) -> np.ndarray:
    """The largest distance of any class in each of the two secrets, float (2,)."""
    return np.array([privacy.emd(release, name, "ordered").max() for name in SECRETS])


def _map(t: tuple[float, float], key: str) -> int:
    found = method(t).fragmentation(data_of(TABLE))
    parts.chart(
        box_map(Plane.of(found, 0, 1), STYLE),
        key=key,
        caption="How many of the 400 people have each pair of secrets; boxes are framed.",
        alt=f"A grid of four by three counts, cut into {found.n_fragments} boxes.",
    )
    return found.n_fragments


def _limits(key: str) -> tuple[float, float]:
    left, right = st.columns(2)
    with left:
        across = slider("t of X", 0.05, 1.0, 0.2, f"{key}-x", "Largest distance of a class in X.")
    with right:
        up = slider("t of Y", 0.05, 1.0, 0.2, f"{key}-y", "Largest distance of a class in Y.")
    return across, up


def _plane() -> None:
    st.markdown(
        "Now every person has **two secrets**, X and Y: say a salary and a diagnosis, in order from low to high. "
        "The table counts who has which pair. Classes must be close to the table in **both**, and one may matter "
        "more than the other."
    )
    _map((1.0, 1.0), "lesson-plane")
    counts = Plane.of(method((1.0, 1.0)).fragmentation(data_of(TABLE)), 0, 1).counts
    ask(
        "would it be enough to deal like cards by X alone?",
        f"No: of the {counts[:, 0].sum()} people with x1, {counts[2, 0]} have y3, but of the {counts[:, 1].sum()} "
        f"with x2 it is {counts[2, 1]}. A class with the right shares of X may have quite wrong ones of Y.",
    )


def _cut() -> None:
    st.markdown(
        "**Cut the plane into boxes.** People of one box are taken as if they were alike. That errs by as much as "
        "the box is wide; the error of all boxes together is the *bound*. Cut on until each bound is within its t."
    )
    t = _limits("boxes")
    boxes = _map(t, "lesson-boxes")
    bounds = method(t).fragmentation(data_of(TABLE)).bounds
    parts.tiles(
        [
            Tile("Boxes", f"{boxes}", "Into which the plane is cut."),
            Tile("Bound for X", f"{bounds[0]:.3f}", "No class with its exact share of every box is farther away."),
            Tile("Bound for Y", f"{bounds[1]:.3f}", "No class with its exact share of every box is farther away."),
        ]
    )
    one, other = (method(limits).fragmentation(data_of(TABLE)) for limits in ((0.05, 1.0), (1.0, 0.05)))
    ask(
        "how are boxes cut if X must be very close and Y need not?",
        f"Narrow in X, high in Y. With t of 0.05 for X and 1 for Y there are {one.n_fragments} boxes, with bounds "
        f"{one.bounds[0]:.2f} and {one.bounds[1]:.2f}; the other way round {other.n_fragments}, with "
        f"{other.bounds[0]:.2f} and {other.bounds[1]:.2f}. Try it with the sliders.",
    )


def _fill() -> None:
    st.markdown(
        "**Deal every box evenly to the classes**, as in the last lesson. *Exact*: every class gets the same "
        "number from each box, as many classes as that allows. *Verified*: nearly the same number, and every class "
        "is measured."
    )
    t = _limits("fill")
    sizings: list[Literal["verified", "exact"]] = ["verified", "exact"]
    sizing = pick("Sizing", sizings, "sizing", "How many classes are made.")
    algorithm = method(t, sizing)
    release = algorithm.anonymize(data_of(TABLE))
    found = farthest(release)
    bounds = algorithm.fragmentation(data_of(TABLE)).bounds
    parts.chart(
        bound_bars(SECRETS, found, bounds, np.array(t), STYLE),
        key="lesson-bounds",
        caption="The largest distance of any class, the bound of the boxes, and t. Without exact shares a class "
        "may pass the bound; it is measured, and never passes t.",
        alt=f"Bars of the largest distances, {found[0]:.3f} and {found[1]:.3f}.",
    )
    sizes = release.partition.sizes
    parts.tiles(
        [
            Tile("Classes", f"{len(sizes)}", "More classes: finer values."),
            Tile("Smallest class", f"{sizes.min()}", "People in the smallest class."),
        ],
        columns=3,
    )
    both = {one: method(t, one).anonymize(data_of(TABLE)).partition.n_groups for one in ("exact", "verified")}
    ask(
        "what does measuring win?",
        f"Exact shares allow {both['exact']} classes, measured ones {both['verified']}: smaller classes with finer "
        f"values, and none is farther away than asked ({t[0]:g} in X, {t[1]:g} in Y; the farthest are "
        f"{found[0]:.3f} and {found[1]:.3f}). What is stopped is what lesson 3 showed, now for two secrets at once.",
    )


STEPS = (Step("Two secrets", _plane), Step("Cut into boxes", _cut), Step("Deal every box", _fill))
