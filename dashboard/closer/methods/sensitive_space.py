"""Sensitive-space fragmentation: the boxes over the multiplicity matrix, their bounds, and the true distances."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from anoncore import Release, privacy
from anoncore.algorithms import SensitiveSpaceFragmentation
from anoncore.algorithms.closeness.sensitive_space import SensitiveFragmentation
from anoncore.kernels.rounding import stays_within
from anoncore.requirements import TCloseness
from dashboard.charts.palette import run_style
from dashboard.charts.sensitive_space import Plane, bound_bars, box_map, intervals
from dashboard.elements import parts
from dashboard.elements.parts import Tile
from dashboard.markdown import escaped
from dashboard.session import compute
from dashboard.session.workspace import Run

MOST_BOXES = 1_000
LIST_HEIGHT = 400


def render(run: Run) -> None:
    """Draw the boxes and what they promise."""
    found = parts.later("Fragmenting the sensitive space", "sensitive.fragmentation", run, fragmentation_of)
    if found is None:
        return
    _numbers(run, found)
    _boxes(run, found)


def fragmentation_of(release: Release) -> SensitiveFragmentation:
    """The fragmentation that the release was dealt from, with its bounds."""
    algorithm = release.algorithm
    assert isinstance(algorithm, SensitiveSpaceFragmentation)
    found = algorithm.fragmentation_of(release)
    found.box_bounds  # noqa: B018 - computed here, in the background
    return found


def _closeness(run: Run) -> tuple[TCloseness, ...]:
    algorithm = run.algorithm
    assert isinstance(algorithm, SensitiveSpaceFragmentation)
    return algorithm.closeness(run.data)


def _numbers(run: Run, found: SensitiveFragmentation) -> None:
    words = parts.plural(run.release.group_word)
    asked = _closeness(run)
    names = [str(one.attribute) for one in asked]
    true = np.array(
        [float(compute.cached("privacy.emd", run, privacy.emd, str(one.attribute), one.ground).max()) for one in asked]
    )
    t = np.array([one.t for one in asked])
    tiles = [
        Tile("Boxes", f"{found.n_fragments:,}", "Fragments of the space of sensitive values; together they tile it."),
        Tile(words.capitalize(), f"{run.release.partition.n_groups:,}", "Each takes its share of every box."),
    ]
    tiles += [
        Tile(
            f"Bound of {escaped(name)}",
            f"{bound:.4f}",
            f"Aggregate bound: no class with its exact share of every box is farther from the table. The largest true "
            f"EMD is {distance:.4f}.",
            f"true {distance:.4f}, t = {limit:g}",
            bool(stays_within(distance, limit)),
        )
        for name, bound, distance, limit in zip(names, found.bounds, true, t, strict=True)
    ]
    for start in range(0, len(tiles), 4):
        parts.tiles(tiles[start : start + 4], min(len(tiles), 4))
    parts.chart(
        bound_bars(names, true, found.bounds, t, run_style(run.color_index)),
        key="space-bounds",
        caption="The bound holds for shares that are exact. Where counts do not divide, classes take a row more or "
        "less of a box, so every class is measured: its distance may lie above the bound, never above t (the mark).",
        alt="Bar chart per sensitive attribute of the aggregate bound, the largest true distance and t.",
    )


@st.fragment
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
    left, right = st.columns([1, 1], gap="medium")
    with right:
        chosen = _list(run, found, word)
    style = run_style(run.color_index)
    with left:
        if single:
            parts.chart(
                intervals(found, style, chosen),
                key="space-intervals",
                caption=f"Rows of each value of '{escaped(names[0])}' in its order; lines end the "
                f"{found.n_fragments:,} intervals. Every class takes its share of each interval.",
                alt=f"Bar chart of {names[0]} cut into {found.n_fragments} intervals.",
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
            key="space-map",
            caption="Grey: how many rows have each pair of values, darker where there are more. Lines: the "
            f"{found.n_fragments:,} boxes; every class takes its share of each.{over}{grouped}",
            alt=f"Heat map of {plane.names[0]} and {plane.names[1]} with {found.n_fragments} boxes.",
        )


def _list(run: Run, found: SensitiveFragmentation, word: str) -> int:
    """The boxes with what each adds to the bounds; returns the chosen one."""
    names = found.multiplicity.attributes
    order = np.argsort(-found.box_bounds.sum(axis=1), kind="stable")[:MOST_BOXES]
    columns: dict[str, object] = {"rows": found.counts[order]}
    number = st.column_config.NumberColumn
    config = {"rows": number("Rows", help=f"Rows in the {word}.", format="localized", width=50)}
    for axis, (name, view) in enumerate(zip(names, found.multiplicity.views, strict=True)):
        low, high = found.boxes[order, axis, 0], found.boxes[order, axis, 1]
        columns[f"range {axis}"] = [
            view.labels[a] if a == b else f"{view.labels[a]} to {view.labels[b]}"
            for a, b in zip(low, high, strict=True)
        ]
        columns[f"bound {axis}"] = found.box_bounds[order, axis]
        shown = escaped(name)
        config[f"range {axis}"] = st.column_config.TextColumn(name, help=f"Values of '{shown}' in the {word}.")
        config[f"bound {axis}"] = number(
            "adds", help=f"What the {word} adds to the aggregate bound of '{shown}'.", format="%.4f", width=65
        )
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
