"""Incognito: the lattice, what is anonymous in it, and one combination up close."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from anoncore import Release
from anoncore.algorithms.full_domain.lattice import Node
from anoncore.algorithms.full_domain.lattice_map import LatticeMap, Nodes, lattice_map, node_facts
from anoncore.base.progress import Progress
from anoncore.base.texts import share_text
from anoncore.table.hierarchy_levels import Levels
from dashboard.charts.lattice import Drawing, lattice_chart, levels_text
from dashboard.charts.palette import run_style
from dashboard.elements import parts
from dashboard.elements.parts import Tile
from dashboard.markdown import escaped
from dashboard.session import browser, compute
from dashboard.session.workspace import Run

MOST_NAMED = 5
KEY = "lattice-node"


def render(run: Run) -> None:
    """Draw the lattice and the chosen combination of levels."""
    lattice = parts.later("Drawing up the lattice", "incognito.lattice", run, _lattice)
    if lattice is not None:
        _story(run, lattice)


def _lattice(release: Release, progress: Progress) -> LatticeMap:
    return lattice_map(release, progress)


@st.fragment
def _story(run: Run, lattice: LatticeMap) -> None:
    drawing = Drawing.of(lattice, lattice.excerpt())
    every, anonymous = lattice.counts()
    parts.tiles(
        [
            Tile("Combinations of levels", f"{every.sum():,}", "One level for each quasi-identifier: the lattice."),
            Tile(
                "Anonymous",
                f"{anonymous.sum():,}",
                "Combinations at which the requirements hold, because they do at it or at one below it.",
                f"{anonymous.sum() / every.sum():.0%} of all",
            ),
            Tile(
                "None below",
                f"{len(lattice.minimal):,}",
                "Anonymous combinations with no anonymous one below them. The search ends at them.",
            ),
            Tile(
                "Published",
                levels_text(lattice.chosen),
                f"The one with the least loss: its levels of {escaped(', '.join(lattice.names))}.",
            ),
        ]
    )
    picture(
        run,
        lattice,
        drawing,
        partial(lattice_chart, lattice, drawing, run_style(run.color_index)),
        partial(_name, lattice),
        _caption(lattice, drawing),
        f"Lattice of {every.sum():,} combinations of levels, of which {anonymous.sum():,} are anonymous; "
        f"{len(drawing.nodes):,} are drawn. Published: {levels_text(lattice.chosen)}.",
    )


def picture(
    run: Run,
    lattice: Nodes,
    drawing: Drawing,
    chart: Callable[[Node], go.Figure],
    names: Callable[[Node], str],
    caption: str,
    alt: str,
) -> None:
    """The lattice, and beside it the combination of levels that is chosen in it."""
    nodes = list(drawing.nodes)
    left, right = st.columns([3, 2], gap="medium")
    with right:
        shown = parts.choice(
            "Combination of levels",
            nodes,
            f"{KEY}-{run.id}",
            "Which one is shown up close; a click on a mark of the figure chooses it as well.",
            names=names,
            index=nodes.index(lattice.chosen),
        )
        _details(run, lattice, shown)
    with left:
        key = f"lattice-{run.id}"
        parts.chart(
            chart(shown),
            key=key,
            caption=caption,
            alt=alt,
            on_select=partial(_clicked, key, f"{KEY}-{run.id}", nodes),
        )


def _caption(lattice: LatticeMap, drawing: Drawing) -> str:
    every, _ = lattice.counts()
    text = (
        "Each mark is a combination of levels, in the order of "
        f"{escaped(', '.join(lattice.names))}. Lines lead up to the combinations with one attribute a level "
        "higher; within a height the loss grows to the right. Click a mark to see it up close."
    )
    n_left = int(every.sum()) - len(drawing.nodes)
    if n_left:
        text += (
            f" {n_left:,} combinations are left out: drawn are the published one with its neighbours, the border "
            "between anonymous and not where least is lost, the lowest one and the highest one. On the left stands how "
            "many of each height are drawn."
        )
    if not lattice.is_certain:
        text += (
            " The search does not look at combinations above an anonymous one; here some of these may fail, and their "
            "details say so."
        )
    return text


def _name(lattice: LatticeMap, node: Node) -> str:
    state_of_node = "anonymous" if lattice.anonymous[node] else "not anonymous"
    return f"{levels_text(node)}: {state_of_node}, loss {share_text(lattice.loss[node])}"


def _clicked(key: str, choice: str, nodes: list[Node]) -> None:
    points = browser.widget_value(key, {}).get("selection", {}).get("points", [])
    if not points or points[0].get("customdata") is None:
        return
    number = points[0]["customdata"]
    browser.set_widget_values({choice: nodes[int(number[0] if isinstance(number, list) else number)]})


def _details(run: Run, lattice: Nodes, node: Node) -> None:
    """What the table looks like at a node, and what each attribute shows there."""
    facts = compute.cached("incognito.node", run, node_facts, node)
    word = "Published" if node == lattice.chosen else "Anonymous" if facts.anonymous else "Not anonymous"
    n_rows = run.data.n_rows
    failing = (
        "no row"
        if not facts.failing
        else f"{parts.counted(facts.failing, 'row')} ({share_text(facts.failing / n_rows)})"
    )
    st.markdown(
        f"**{word}.** At these levels the table has {parts.counted(facts.n_groups, 'group')}, the smallest of "
        f"{parts.counted(facts.smallest, 'row')}. In groups that break a requirement: {failing}. "
        + (
            f"Suppressed: {parts.counted(facts.suppressed, 'row')}. The information loss is {share_text(facts.loss)}."
            if facts.anonymous
            else f"The information loss would be {share_text(facts.loss)}."
        )
    )
    st.dataframe(
        level_table(run.release, node),
        hide_index=True,
        height="content",
        key="lattice-levels",
        alt="What each quasi-identifier shows at its level.",
    )
    st.caption(
        "What each quasi-identifier shows at its level; level 0 is the value itself, the highest one says nothing."
    )


def level_table(release: Release, node: Node) -> pd.DataFrame:
    """A line per quasi-identifier: its level, how many different cells there are, and what they say."""
    rows = []
    for name, level in zip(release.data.quasi_identifiers, node, strict=True):
        levels = Levels.of(release.data.domain[name])
        labels = list(dict.fromkeys(levels.tree.labels[one] for one in levels.node[level]))
        shown = ", ".join(labels[:MOST_NAMED]) + (
            f" and {len(labels) - MOST_NAMED:,} more" if len(labels) > MOST_NAMED else ""
        )
        rows.append({"Attribute": name, "Level": f"{level} of {levels.height}", "Cells": len(labels), "Shown": shown})
    return pd.DataFrame(rows)
