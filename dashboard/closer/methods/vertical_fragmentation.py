"""Vertical fragmentation, step by step: the fragments, their classes, the joins, and what came of it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
import pandas as pd
import streamlit as st

from anoncore import Release
from anoncore.algorithms.vertical.attribute_fragments import AttributeFragments, fmrmr
from anoncore.algorithms.vertical.changes import class_changes
from anoncore.base.texts import share_text
from anoncore.privacy.common_attribute import common_attribute
from anoncore.utility import information_loss
from dashboard.charts.association import association_map
from dashboard.charts.classes import size_histogram
from dashboard.charts.palette import run_style
from dashboard.closer.methods import vertical_outcomes
from dashboard.closer.methods.vertical_outcomes import algorithm_of
from dashboard.elements import parts
from dashboard.elements.parts import Tile
from dashboard.markdown import escaped
from dashboard.session import compute
from dashboard.session.workspace import Run

MOST_NAMES = 60


def render(run: Run) -> None:
    """Draw the tabs."""
    common = escaped(common_attribute(run.release))
    safe = (
        "rows are cut into segments and classes are made so that joining two fragments keeps what was asked for."
        if algorithm_of(run.release).keeps_class_values(run.data)
        else "then class values are changed wherever joining two fragments would single out fewer than k rows."
    )
    st.markdown(
        f"The table is cut into fragments that share nothing but **{common}**, the class attribute. Each fragment is "
        f"made k-anonymous on its own; {safe}"
    )
    parts.tabs(
        "vertical-method",
        {
            "Fragments": partial(_fragments, run),
            "Classes": partial(_classes, run),
            "Joins": partial(vertical_outcomes.joins, run),
            "Class values": partial(vertical_outcomes.changes, run),
            "Membership": partial(vertical_outcomes.membership, run),
            "Unfragmented": partial(vertical_outcomes.comparison, run),
        },
    )


def _found(release: Release) -> AttributeFragments:
    return algorithm_of(release).resolve_fragments(release.data)


def _fragments(run: Run) -> None:
    """The mutual information of every pair and what it leads to."""
    found = compute.cached("vertical.fragments", run, _found)
    by_hand = algorithm_of(run.release).attribute_fragments is not None
    common = escaped(found.common)
    names = [name for name in found.information.index if name != found.common]
    inside, across = pair_means(found)
    parts.tiles(
        [
            Tile(
                "Fragments",
                f"{len(found.fragments)}",
                "Sets of attributes that are published together, each with the class attribute.",
                "given by hand" if by_hand else "chosen by FMRMR",
            ),
            Tile(
                "FMRMR",
                f"{found.fmrmr:.3f} nats",
                "Sum over the fragments of what an attribute tells of the class on average, less what two attributes "
                "tell of each other, each of itself included. Attributes are placed where it grows most.",
                "relevance less redundancy",
            ),
            Tile(
                "Pairs in one fragment",
                f"{inside:.3f} nats",
                "Mutual information of two different attributes, the mean over all pairs in the same fragment. "
                "Attributes that tell the same should be apart.",
                f"in different fragments: {across:.3f}",
            ),
        ]
    )
    left, right = st.columns([2, 3], gap="medium")
    with left:
        st.dataframe(fragment_table(found), hide_index=True, height="content", row_height=36)
        seeds = [escaped(seed) for seed in found.seeds if seed is not None]
        grown = f" They began with {' and '.join(seeds)} and grew by the attribute that adds most." if seeds else ""
        st.caption(
            "Of class: what an attribute tells of the class on average. Of each other: what any two attributes of the "
            f"fragment tell of one another, each with itself included, in nats.{grown}"
        )
        for number, members in enumerate(found.fragments, start=1):
            st.markdown(f"**Fragment {number}**: {_listed(members)}")
    with right:
        parts.chart(
            association_map(found.information, found.fragments, "mutual information (nats)", "fragment", found.seeds),
            key="vertical-information",
            caption="Mutual information of every pair of attributes; each frame is a fragment. Attributes that tell "
            f"the same should be in different frames. The last row is '{common}', which all fragments carry.",
            alt=f"Heat map of the mutual information of {len(names)} attributes in {len(found.fragments)} fragments.",
        )


def pair_means(found: AttributeFragments) -> tuple[float, float]:
    """Mean mutual information of two attributes in one fragment and in different ones, in nats; NaN without a pair."""
    names = [name for members in found.fragments for name in members]
    place = np.repeat(np.arange(len(found.fragments)), [len(members) for members in found.fragments])
    values = found.information.loc[names, names].to_numpy()
    same = place[:, None] == place
    different = ~np.eye(len(names), dtype=np.bool_)
    inside, across = values[same & different], values[~same]
    return float(inside.mean()) if inside.size else np.nan, float(across.mean())


def fragment_table(found: AttributeFragments) -> pd.DataFrame:
    """A line per fragment: how many attributes, what they tell of the class (V) and of each other (W), in nats."""
    relevance = [float(found.information.loc[list(names), found.common].mean()) for names in found.fragments]
    contribution = [fmrmr(found.information, found.common, [names]) for names in found.fragments]
    return pd.DataFrame(
        {
            "Fragment": range(1, len(relevance) + 1),
            "Attributes": [len(names) for names in found.fragments],
            "Of class": [round(one, 3) for one in relevance],
            "Of each other": [round(one - both, 3) for one, both in zip(relevance, contribution, strict=True)],
        }
    )


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(escaped(name) for name in names[:MOST_NAMES])
    return shown if len(names) <= MOST_NAMES else f"{shown} and {len(names) - MOST_NAMES} more"


@st.fragment
def _classes(run: Run) -> None:
    """Number and sizes of the classes of each fragment."""
    st.dataframe(compute.cached("vertical.classes", run, class_table), hide_index=True, height="content")
    st.caption(
        "Each fragment has classes of its own. Loss: how much of its domain a published cell covers on average. Values "
        "changed: class values that the fragment does not publish as they were."
    )
    fragment = parts.fragment_choice(run.release, "vertical-fragment")
    sizes = fragment.partition.sizes
    parts.chart(
        size_histogram(sizes, run_style(run.color_index), "class", "classes"),
        key="vertical-sizes",
        caption=f"Classes of {escaped(fragment.name)} by their number of rows; the page Classes shows each one.",
        alt=f"Histogram of {len(sizes):,} classes by size, from {sizes.min():,} to {sizes.max():,} rows.",
    )


def class_table(release: Release) -> pd.DataFrame:
    """A line per fragment: its classes, their sizes, loss, and class values changed."""
    loss, changed = information_loss(release).per_class, class_changes(release).per_fragment
    lines = []
    for fragment in release.fragments:
        sizes = fragment.partition.sizes
        own = loss[fragment.name] if isinstance(loss, dict) else loss
        lines.append(
            {
                "Fragment": fragment.name,
                "Attributes": len(fragment.attributes) - 1,
                "Classes": len(sizes),
                "Smallest": int(sizes.min()),
                "Median": float(np.median(sizes)),
                "Largest": int(sizes.max()),
                "Loss": share_text(float(own @ sizes) / sizes.sum()),
                "Values changed": changed[fragment.name],
            }
        )
    return pd.DataFrame(lines)
