"""The page Groups: the groups of the release, and one of them up close."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import streamlit as st

from anoncore import Fragment, Generalized, GroupValues, utility
from anoncore.base.texts import share_text
from anoncore.kernels.arrays import Int64
from anoncore.privacy import Profile
from anoncore.utility import InformationLoss
from dashboard.charts.groups import bin_label, size_bins, size_histogram
from dashboard.closer import all_columns, class_detail, one_person
from dashboard.elements import parts
from dashboard.elements.parts import Tile, number
from dashboard.markdown import escaped
from dashboard.session import browser
from dashboard.session.workspace import Run

LIST_HEIGHT = 330
MOST_SHOWN = 4_000
MOST_CHARACTERS = 60


@dataclass(frozen=True)
class Order:
    """One way to sort the list: by a column, worst first where one is worse than the other."""

    label: str
    column: str
    ascending: bool


ORDERS = (
    Order("smallest first", "size", True),
    Order("largest first", "size", False),
    Order("farthest from the table first", "distance", False),
    Order("largest share of one value first", "max_share", False),
    Order("fewest different values first", "distinct", True),
    Order("largest information loss first", "loss", False),
    Order("by number", "group", True),
)


@dataclass(frozen=True)
class Lens:
    """What the reader looks at: a sensitive attribute and its ground distance, the order, the sizes (low..high)."""

    attribute: str | None
    ground: str | None
    order: Order
    sizes: tuple[int, int] | None


def render() -> None:
    """Draw the page."""
    run = parts.shown_run("Groups are made of people's rows")
    if run is not None:
        all_columns.spread("sizes")
        one_person.explain("hides")
        _browse(run)


@parts.fragment
def _browse(run: Run) -> None:
    fragment = parts.fragment_choice(run.release, "class-fragment")
    profile = parts.profile(run)
    loss = parts.attempt(run, utility.information_loss)
    part = next((one for one in profile.fragments if one.fragment == fragment.name), profile.fragments[0])
    people = run.release.people_per_group(fragment)
    _sizes(run, people, int(fragment.partition.sizes.min()))
    left, right = parts.beside(3, 2)
    with right:
        sizes = _histogram(run, people)
    with left:
        boxes = st.columns(2)
        attribute = ground = None
        if part.attributes:
            with boxes[0]:
                attribute = parts.choice(
                    "Sensitive attribute", list(part.attributes), "class-attribute", "Whose values are looked at."
                )
            ground = parts.usual_ground(run, attribute, list(part.attributes[attribute].distance))
        frame = levels(fragment, profile, loss, attribute, ground)
        with boxes[len(part.attributes) > 1]:
            order = parts.choice(
                "Order",
                [one for one in ORDERS if one.column in frame],
                "class-order",
                "What comes first in the list; a click on a column's head sorts what is listed.",
                names=lambda one: one.label,
            )
        lens = Lens(attribute, ground, order, sizes)
        group = _list(run, fragment, frame, lens)
    _detail(run, fragment, group, frame.iloc[group], lens)


def levels(
    fragment: Fragment, profile: Profile, loss: InformationLoss | None, attribute: str | None, ground: str | None
) -> pd.DataFrame:
    """One row per group: group, size, and for the sensitive attribute distinct, entropy, max_share and distance; the
    mean information loss of its quasi-identifiers where the release has one."""
    part = next((one for one in profile.fragments if one.fragment == fragment.name), profile.fragments[0])
    columns: dict[str, npt.NDArray[np.generic]] = {"group": np.arange(len(part.size)), "size": part.size}
    known = part.attributes.get(attribute or "")
    if known is not None:
        columns |= {"distinct": known.distinct, "entropy": known.entropy, "max_share": known.max_share}
        if ground in known.distance:
            columns["distance"] = known.distance[ground]
    per_class = None if loss is None else loss.per_class
    if isinstance(per_class, dict):
        per_class = per_class.get(fragment.name)
    return pd.DataFrame(columns if per_class is None else columns | {"loss": per_class})


def listed(frame: pd.DataFrame, sizes: tuple[int, int] | None) -> pd.DataFrame:
    """Only the groups of low..high rows; all of them where no sizes are given."""
    return frame if sizes is None else frame[frame["size"].between(*sizes)]


def shown(frame: pd.DataFrame, order: Order, most: int = MOST_SHOWN) -> pd.DataFrame:
    """The first groups by the order (ties by number), at most `most`."""
    return frame.sort_values(order.column, ascending=order.ascending, kind="stable").head(most).reset_index(drop=True)


def _sizes(run: Run, sizes: Int64, fewest_rows: int) -> None:
    """How many groups there are and how large they are; where people are counted, also the fewest rows."""
    counted = run.release.counted_word
    smallest = f"{counted.capitalize()} of the smallest group: the k that is reached."
    half = f"Half of the groups have at most so many {counted}."
    parts.tiles(
        [
            Tile("Smallest", f"{sizes.min():,} {counted}", smallest),
            Tile("Groups", f"{len(sizes):,}", "Number of groups: sets of rows that look alike."),
            Tile("Median", f"{np.median(sizes):,.0f} {counted}", half),
            Tile("Largest", f"{sizes.max():,} {counted}", f"{counted.capitalize()} of the largest group."),
        ]
    )
    if counted != "rows":
        st.caption(
            escaped(
                f"Different people are counted by '{run.data.unit}': {run.release.table_size}. No group has fewer "
                f"than {fewest_rows:,} rows or {sizes.min():,} people."
            )
        )


def _histogram(run: Run, sizes: Int64) -> tuple[int, int] | None:
    """The histogram of sizes; a clicked bar keeps only its sizes in the list."""
    counted = run.release.counted_word
    edges = size_bins(sizes)
    name = f"class-bar-{run.id}"
    key = f"class-sizes-{run.id}-{browser.get(f'{name}-round', 0)}"
    parts.chart(
        size_histogram(sizes, run.style, counted),
        key,
        f"How many groups have how many {counted}. Click a bar to list only these.",
        f"Histogram of the sizes of {len(sizes):,} groups, from {sizes.min():,} to {sizes.max():,} {counted}.",
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
    points = parts.selected(key, "points")
    browser.put(name, int(points[0]["point_index"]) if points else None)


def _clear_bar(name: str) -> None:
    browser.put(name, None)
    browser.put(f"{name}-round", browser.get(f"{name}-round", 0) + 1)


def _list(run: Run, fragment: Fragment, frame: pd.DataFrame, lens: Lens) -> int:
    """The list; returns the chosen group, the first one until another is chosen."""
    possible = listed(frame, lens.sizes)
    few = shown(possible, lens.order)
    groups = few["group"].to_numpy()
    of = f" of '{escaped(lens.attribute)}'" if lens.attribute else ""
    far = f"Earth mover's distance{of} from the table ({lens.ground} distance)."
    columns = {
        "group": st.column_config.NumberColumn(
            "No.", help="Number of the group; it is not published.", pinned=True, width=55
        ),
        "size": number("People who look alike.", "localized", 55, run.release.counted_word.capitalize()),
        "distinct": number(f"Different values{of} (distinct l).", "%d", 60, "Values"),
        "max_share": number(f"Share of the most frequent value{of}.", "percent", 80, "Top share"),
        "distance": number(far, "%.3f", 60, "EMD"),
        "loss": number("Information lost in the quasi-identifiers.", "percent", 70, "Loss"),
        "entropy": None,
    }
    for name in run.data.quasi_identifiers:
        told = f"What every row of the group shows as '{escaped(name)}'."
        columns[f"region: {name}"] = st.column_config.TextColumn(name, help=told)
    chosen = parts.row_choice(
        with_regions(few, fragment, run.data.quasi_identifiers),
        groups,
        f"class-{run.id}-{fragment.name}",
        columns,
        LIST_HEIGHT,
        "List of groups; the chosen one is shown below.",
        f"class-list-{run.id}-{fragment.name}-{lens.order.column}-{lens.order.ascending}-{lens.sizes}",
    )
    count = f"{len(few):,} of {len(possible):,}" if len(few) < len(possible) else f"All {len(possible):,}"
    st.caption(f"{count} groups, {lens.order.label}. Click a row to see that group below.")
    return chosen


def with_regions(frame: pd.DataFrame, fragment: Fragment, attributes: tuple[str, ...]) -> pd.DataFrame:
    """The list with a text column per generalized attribute, long ones cut; columns are `region: attribute`."""
    texts = {}
    for name in attributes:
        recoding = fragment.recodings.get(name)
        if isinstance(recoding, Generalized | GroupValues):
            texts[f"region: {name}"] = [_cut(text) for text in recoding.group_texts[frame["group"]]]
    return frame.assign(**texts)


def _cut(text: str) -> str:
    return text if len(text) <= MOST_CHARACTERS else text[: MOST_CHARACTERS - 1] + "…"


def _detail(run: Run, fragment: Fragment, group: int, of_group: pd.Series[Any], lens: Lens) -> None:
    st.subheader(f"Group {group}")
    row = [
        Tile(run.release.counted_word.capitalize(), f"{of_group['size']:,.0f}", "People in this group who look alike.")
    ]
    if lens.attribute is not None:
        of = f"of '{escaped(lens.attribute)}' in this group"
        row += [
            Tile("Values", f"{of_group['distinct']:.0f}", f"Different values {of} (distinct l)."),
            Tile("Entropy l", f"{of_group['entropy']:.2f}", f"As diverse as so many equally frequent values {of}."),
            Tile("Top share", share_text(of_group["max_share"]), f"Share of the most frequent value {of}."),
        ]
    if "distance" in of_group:
        row.append(
            Tile("EMD", f"{of_group['distance']:.3f}", f"Distance from the whole table ({lens.ground}), 0 to 1.")
        )
    if "loss" in of_group:
        meaning = "Share of its domain that a quasi-identifier's cell covers."
        row.append(Tile("Loss", share_text(of_group["loss"]), meaning))
    parts.tiles(row)
    left, right = parts.beside()
    if lens.attribute is not None:
        with left:
            class_detail.sensitive_chart(run, fragment, group, lens.attribute)
    with right:
        class_detail.place_chart(run, fragment, group)
    class_detail.rows_tables(run, fragment, group)
