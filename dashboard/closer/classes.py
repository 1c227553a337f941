"""The page Classes: the groups of the release, and one of them up close."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from anoncore import Fragment, utility
from anoncore.base.texts import share_text
from anoncore.kernels.arrays import Int64
from dashboard.charts.classes import bin_label, size_bins, size_histogram
from dashboard.charts.palette import run_style
from dashboard.closer import all_columns, class_detail, three_people
from dashboard.elements import class_list, parts
from dashboard.elements.class_list import Order
from dashboard.elements.parts import Tile
from dashboard.markdown import escaped
from dashboard.session import browser
from dashboard.session.workspace import Run

LIST_HEIGHT = 330


@dataclass(frozen=True)
class Lens:
    """What the reader looks at: a sensitive attribute and its ground distance, the order, the sizes (low..high)."""

    attribute: str | None
    ground: str | None
    order: Order
    sizes: tuple[int, int] | None


def render() -> None:
    """Draw the page."""
    run = parts.shown_run("Classes are made of people's rows")
    if run is not None:
        all_columns.spread("sizes")
        three_people.explain("hides")
        _browse(run)


@st.fragment
@parts.says_why
def _browse(run: Run) -> None:
    fragment = parts.fragment_choice(run.release, "class-fragment")
    profile = parts.profile(run)
    loss = parts.attempt("utility.information_loss", run, utility.information_loss)
    part = next((one for one in profile.fragments if one.fragment == fragment.name), profile.fragments[0])
    _sizes(run, run.release.people_per_group(fragment), int(fragment.partition.sizes.min()))
    left, right = st.columns([3, 2], gap="medium")
    with right:
        sizes = _histogram(run, run.release.people_per_group(fragment))
    with left:
        boxes = st.columns(2)
        attribute = ground = None
        if part.attributes:
            with boxes[0]:
                attribute = parts.choice(
                    "Sensitive attribute", list(part.attributes), "class-attribute", "Whose values are looked at."
                )
            ground = parts.usual_ground(run, attribute, list(part.attributes[attribute].distance))
        frame = class_list.levels(fragment, profile, loss, attribute, ground)
        with boxes[len(part.attributes) > 1]:
            order = parts.choice(
                "Order",
                class_list.orders(frame),
                "class-order",
                "What comes first in the list; a click on a column's head sorts what is listed.",
                names=lambda one: one.label,
            )
        group = _list(run, fragment, frame, Lens(attribute, ground, order, sizes))
    levels = frame.iloc[int(np.flatnonzero(frame.index == group)[0])]
    _detail(run, fragment, group, levels, Lens(attribute, ground, order, sizes))


def _sizes(run: Run, sizes: Int64, fewest_rows: int) -> None:
    """How many groups there are and how large they are; where people are counted, also the fewest rows."""
    counted = run.release.counted_word
    word, words = run.release.group_word, parts.plural(run.release.group_word)
    parts.tiles(
        [
            Tile(
                "Smallest",
                f"{sizes.min():,} {counted}",
                f"{counted.capitalize()} of the smallest {word}: the k that is reached.",
            ),
            Tile(words.capitalize(), f"{len(sizes):,}", f"Number of {words}: sets of rows that look alike."),
            Tile(
                "Median", f"{np.median(sizes):,.0f} {counted}", f"Half of the {words} have at most so many {counted}."
            ),
            Tile("Largest", f"{sizes.max():,} {counted}", f"{counted.capitalize()} of the largest {word}."),
        ]
    )
    if counted != "rows":
        st.caption(
            escaped(
                f"Different people are counted by '{run.data.unit}': {run.release.table_size}. No {word} has fewer "
                f"than {fewest_rows:,} rows or {sizes.min():,} people."
            )
        )


def _histogram(run: Run, sizes: Int64) -> tuple[int, int] | None:
    """The histogram of sizes; a clicked bar keeps only its sizes in the list."""
    counted = run.release.counted_word
    word, words = run.release.group_word, parts.plural(run.release.group_word)
    edges = size_bins(sizes)
    name = f"class-bar-{run.id}"
    key = f"class-sizes-{run.id}-{browser.get(f'{name}-round', 0)}"
    parts.chart(
        size_histogram(sizes, run_style(run.color_index), word, words, counted),
        key=key,
        caption=f"How many {words} have how many {counted}. Click a bar to list only these.",
        alt=f"Histogram of the sizes of {len(sizes):,} {words}, from {sizes.min():,} to {sizes.max():,} {counted}.",
        on_select=partial(_bar_clicked, name, key),
    )
    bar = browser.get(name)
    if bar is None or bar >= len(edges) - 1:
        return None
    low, high = int(edges[bar]), int(edges[bar + 1]) - 1
    label = f"Listed: {bin_label(low, high)} {counted}. Show all sizes again"
    st.button(label, key=f"{name}-clear", on_click=_clear_bar, args=(name,))
    return low, high


def _bar_clicked(name: str, key: str) -> None:
    points = browser.widget_value(key, {}).get("selection", {}).get("points", [])
    browser.put(name, int(points[0]["point_index"]) if points else None)


def _clear_bar(name: str) -> None:
    browser.put(name, None)
    browser.put(f"{name}-round", browser.get(f"{name}-round", 0) + 1)


def _list(run: Run, fragment: Fragment, frame: pd.DataFrame, lens: Lens) -> int:
    """The list; returns the chosen group, the first one until another is chosen."""
    word, words = run.release.group_word, parts.plural(run.release.group_word)
    listed = class_list.listed(frame, lens.sizes)
    shown = class_list.shown(listed, lens.order)
    groups = shown["group"].to_numpy()
    name = f"class-{run.id}-{fragment.name}"
    chosen = browser.get(name)
    if chosen not in groups:
        chosen = int(groups[0])
    key = f"class-list-{run.id}-{fragment.name}-{lens.order.column}-{lens.order.ascending}-{lens.sizes}"
    st.dataframe(
        class_list.with_regions(shown, fragment, run.data.quasi_identifiers),
        hide_index=True,
        height=LIST_HEIGHT,
        key=key,
        on_select=partial(_row_clicked, name, key, groups),
        selection_mode="single-row-required",
        selection_default={"selection": {"rows": [_first_selected(key, groups, chosen)]}},
        column_config=_columns(word, lens, run.data.quasi_identifiers),
        alt=f"List of {words}; the chosen one is shown below.",
    )
    count = f"{len(shown):,} of {len(listed):,}" if len(shown) < len(listed) else f"All {len(listed):,}"
    st.caption(f"{count} {words}, {lens.order.label}. Click a row to see that {word} below.")
    return int(chosen)


def _first_selected(key: str, groups: Int64, chosen: int) -> int:
    """The row that is selected when the list is first drawn; a list whose default changes is sent anew as a whole."""
    held = browser.get("class-list-default")
    if held is None or held[0] != key or browser.widget_value(key) is None:
        held = (key, int(np.flatnonzero(groups == chosen)[0]))
        browser.put("class-list-default", held)
    return held[1]


def _row_clicked(name: str, key: str, groups: Int64) -> None:
    rows = browser.widget_value(key, {}).get("selection", {}).get("rows", [])
    if rows and rows[0] < len(groups):
        browser.put(name, int(groups[rows[0]]))


def _columns(word: str, lens: Lens, regions: tuple[str, ...]) -> dict[str, Any]:
    """Heads, formats and meanings of the list's columns."""
    number = st.column_config.NumberColumn
    of = f" of '{escaped(lens.attribute)}'" if lens.attribute else ""
    return {
        "group": number("No.", help=f"Number of the {word}; it is not published.", pinned=True, width=55),
        "size": number("Rows", help="People who look alike.", format="localized", width=55),
        "distinct": number("Values", help=f"Different values{of} (distinct l).", format="%d", width=60),
        "max_share": number("Top share", help=f"Share of the most frequent value{of}.", format="percent", width=80),
        "distance": number(
            "EMD", help=f"Earth mover's distance{of} from the table ({lens.ground} distance).", format="%.3f", width=60
        ),
        "loss": number("Loss", help="Information lost in the quasi-identifiers.", format="percent", width=70),
        "entropy": None,
    } | {
        f"region: {name}": st.column_config.TextColumn(
            name, help=f"What every row of the {word} shows as '{escaped(name)}'."
        )
        for name in regions
    }


def _detail(run: Run, fragment: Fragment, group: int, levels: pd.Series[Any], lens: Lens) -> None:
    word = run.release.group_word
    st.subheader(f"{word.capitalize()} {group}")
    row = [Tile("Rows", f"{levels['size']:,.0f}", f"People in this {word} who look alike.")]
    if lens.attribute is not None:
        of = f"of '{escaped(lens.attribute)}' in this {word}"
        row += [
            Tile("Values", f"{levels['distinct']:.0f}", f"Different values {of} (distinct l)."),
            Tile("Entropy l", f"{levels['entropy']:.2f}", f"As diverse as so many equally frequent values {of}."),
            Tile("Top share", share_text(levels["max_share"]), f"Share of the most frequent value {of}."),
        ]
    if "distance" in levels:
        row.append(Tile("EMD", f"{levels['distance']:.3f}", f"Distance from the whole table ({lens.ground}), 0 to 1."))
    if "loss" in levels:
        row.append(
            Tile("Loss", share_text(levels["loss"]), "Share of its domain that a quasi-identifier's cell covers.")
        )
    parts.tiles(row)
    left, right = st.columns(2, gap="medium")
    if lens.attribute is not None:
        with left:
            class_detail.sensitive_chart(run, fragment, group, lens.attribute)
    with right:
        class_detail.place_chart(run, fragment, group)
    class_detail.rows_tables(run, fragment, group)
