"""Mondrian: its cuts one by one over two attributes, why each was made, and why a region stays whole."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from anoncore import Release
from anoncore.algorithms.mondrian_cuts import Attempt, CutSteps, Region, attempts, cut_steps, mondrian_of
from anoncore.base.texts import counted, listing, plural
from anoncore.kernels.arrays import Int64
from dashboard.charts.layout import Axis
from dashboard.charts.planes import CutPlane, Rectangles, cut_map
from dashboard.elements import parts
from dashboard.markdown import escaped
from dashboard.session import browser
from dashboard.session.workspace import Run
from dashboard.tasks import redrawing

LARGEST, ONE_CLASS = "all regions, the largest first", "one group, from the whole table down"
MOST_NAMED = 6
OPTIMIZED = {
    "infogain": "Of all allowed cuts the method takes the one that tells most about '{target}', and where none tells "
    "enough the one at a median. Here that is a cut of '{name}'.",
    "regression": "Of all allowed cuts the method takes the one after which the mean of each side is nearest to the "
    "values of '{target}'. Here that is a cut of '{name}'.",
    "loss": "Of all allowed cuts the method takes the one after which least information is lost. Here that is a cut of "
    "'{name}'.",
}
"""Why a cut was made, by what the method optimizes."""


@redrawing.part()
def mondrian(run: Run) -> None:
    """Draw the cuts one by one over two attributes, why each was made, and why a region stays whole."""
    release, names = run.release, list(run.data.quasi_identifiers)
    if len(names) < 2:
        st.info("The cuts are drawn over two quasi-identifiers; this table has one.")
        return
    places = st.columns(4, vertical_alignment="bottom")
    across, up = parts.two_quasi_identifiers(run, names, "cuts", places)
    with places[2]:
        what = parts.choice("Follow", [LARGEST, ONE_CLASS], "cuts-follow", "Which cuts are shown one after the other.")
    with places[3]:
        row = _row_of_class(run) if what == ONE_CLASS else None
    found = parts.soon("The cuts are made again", run, cut_steps, row)
    if found is None:
        return
    step = _step(f"{run.id}-{what}-{row}", len(found.steps))
    region = found.regions[found.steps[step]]
    left, right = parts.beside(2, 1)
    with left:
        _map(run, found, step, across, up)
    with right:
        tried = _attempts(run, region, row, step)
        if tried is not None:
            _why(run, found, region, tried, (across, up))
    _tried(tried or [])
    if what == LARGEST and not all(one.is_final or one.sides for one in found.regions):
        n_cuts = release.partition.n_groups - 1
        smallest = min(len(found.regions[number].rows) for number in found.steps)
        st.caption(
            f"These are the first {len(found.steps):,} steps; the table was cut about {n_cuts:,} times in all. All "
            f"further ones divide regions of at most {smallest:,} rows: follow one group to see them."
        )


def _attempts(run: Run, region: Region, row: int | None, step: int) -> list[Attempt] | None:
    """What every attribute offers in the region of a step; None while that is tried in a large one."""
    if len(region.rows) < parts.LARGE:
        return attempts(run.release, region.rows)

    def tried(release: Release, _row: int | None, _step: int) -> list[Attempt]:
        return attempts(release, region.rows)

    return parts.soon("What every attribute offers is tried", run, tried, row, step)


def _row_of_class(run: Run) -> int:
    """A row of the class that is followed."""
    partition = run.release.partition
    usual = browser.get(f"class-{run.id}-release")
    number = st.number_input(
        "Group",
        min_value=0,
        max_value=partition.n_groups - 1,
        value=int(np.argmax(partition.sizes)) if usual is None else int(usual),
        key=f"cuts-class-{run.id}",
        help="Number of the group, as on the page Groups; the largest one unless another was chosen there.",
        width=140,
    )
    return int(partition.rows(int(number))[0])


def _step(name: str, n_steps: int) -> int:
    """Back, a slider and Next; returns the step, counted from 0."""
    key = f"cuts-step-{name}"
    if n_steps == 1:
        return 0
    held = browser.widget_value(key, 1)
    back, slider, ahead = st.columns([1, 8, 1], vertical_alignment="bottom")
    for place, label, to in ((back, "Back", held - 1), (ahead, "Next", held + 1)):
        place.button(
            label,
            key=f"{key}-{label.lower()}",
            type="primary" if to > held else "secondary",
            disabled=not 1 <= to <= n_steps,
            on_click=browser.set_widget_values,
            args=({key: to},),
            width="stretch",
            help="The step before." if to < held else "The next step.",
        )
    return int(
        slider.slider("Step", 1, n_steps, key=key, persist_state="session", help="One region is looked at in each.") - 1
    )


def _map(run: Run, found: CutSteps, step: int, across: str, up: str) -> None:
    number = found.steps[step]
    region = found.regions[number]
    there = found.whole_after(step + 1)
    plane = plane_of(run.release, found, number, there, (across, up))
    n_regions = f"{len(there):,} {plural('region', len(there))}"
    what = (
        f"The region of {counted(len(region.rows), 'row')} stays whole."
        if region.is_final
        else f"Filled: the {len(region.sides)} sides of the cut that was just made."
    )
    parts.chart(
        cut_map(plane),
        "cuts-map",
        f"Grey: the rows of the table, darker where there are more. Thin lines: the {n_regions} after this "
        f"step. Regions that were cut by other attributes lie over each other here. {what}",
        f"Map of {across} and {up} with {n_regions}. {what}",
    )


def plane_of(release: Release, found: CutSteps, number: int, there: list[int], names: tuple[str, str]) -> CutPlane:
    """The map's data: counts of all rows, the regions that are there, and the sides of the one that was looked at."""
    data, region = release.data, found.regions[number]
    x, y = (Axis.of(data.domain[name]) for name in names)
    counts = x.pairs(y, *(data.codes[name] for name in names))
    sides = region.sides or (number,)
    sizes = [counted(len(found.regions[side].rows), "row") for side in sides]
    labels = [f"side {place}: {size}" for place, size in enumerate(sizes, start=1)]
    if region.is_final:
        labels = [f"stays whole: {counted(len(region.rows), 'row')}"]
    edges = [_rectangles(found, one, (x, y), names) for one in (there, list(sides))]
    different = np.unique(np.column_stack(edges[0]), axis=0)
    return CutPlane(x, y, counts, tuple(different.T), edges[1], labels)


def _rectangles(found: CutSteps, numbers: list[int], axes: tuple[Axis, Axis], names: tuple[str, str]) -> Rectangles:
    edges = []
    for axis, name in zip(axes, names, strict=True):
        a, middles = found.names.index(name), _middles(axis)
        regions = [found.regions[number] for number in numbers]
        # Boxes cover whole steps between neighbouring values, so that no gap is drawn between two sides of a cut.
        edges += [middles[[int(one.low[a]) for one in regions]], middles[[int(one.high[a]) + 1 for one in regions]]]
    return edges[0], edges[1], edges[2], edges[3]


def _middles(axis: Axis) -> np.ndarray:
    """Where the step of each value begins, half-way from the value before, and last where all end."""
    places = axis.coordinates
    inner = (places[1:] + places[:-1]) / 2
    return np.concatenate(([axis.edges[0]], inner, [axis.edges[-1]]))


def _why(run: Run, found: CutSteps, region: Region, tried: list[Attempt], shown: tuple[str, str]) -> None:
    """Why the cut was made or why there is none."""
    if region.attribute is None:
        st.markdown(f"**This region of {counted(len(region.rows), 'row')} stays whole.**")
        st.markdown(escaped(whole_sentence(run.release, region.rows, tried)))
    else:
        name = found.names[region.attribute]
        sizes = " and ".join(f"{len(found.regions[side].rows):,}" for side in region.sides)
        st.markdown(f"**A region of {len(region.rows):,} rows is cut by {escaped(name)}**, into sides of {sizes} rows.")
        st.markdown(escaped(cut_sentence(run.release, found, region, tried)))
        if name not in shown:
            st.markdown(
                f"'{escaped(name)}' is on neither axis, so the sides lie over each other here; choose it as an "
                "axis to see the cut."
            )


def _tried(tried: list[Attempt]) -> None:
    """What every attribute offers at its median."""
    if not tried:
        return
    frame = pd.DataFrame(
        {
            "Attribute": [one.attribute for one in tried],
            "Width": [one.width for one in tried],
            "Cut": [one.where for one in tried],
            "Rows": [" | ".join(f"{size:,}" for size in one.sizes[:MOST_NAMED]) for one in tried],
            "Allowed": [one.broken or "yes" for one in tried],
        }
    )
    allowed = "Whether every requirement holds on all sides, or which fails."
    columns = {
        "Width": parts.percent("Share of the domain that the rows span.", None),
        "Allowed": st.column_config.TextColumn(help=allowed),
    }
    alt = "The cut at the median of every attribute of this region, and whether it is allowed."
    parts.table(frame, "cuts-tried", alt, "content", columns)
    st.caption(
        "What each attribute offers at its median, or by the children of its hierarchy, the widest first: the share of "
        "its domain that the region's rows span, the sides, and what a side would break."
    )


def cut_sentence(release: Release, found: CutSteps, region: Region, tried: list[Attempt]) -> str:
    """Why this cut was made and no other."""
    model = mondrian_of(release)
    assert region.attribute is not None
    name = found.names[region.attribute]
    if model.split != "median":
        return OPTIMIZED[model.split].format(target=model.target, name=name)
    own = next(one for one in tried if one.attribute == name)
    wider = [one for one in tried if one.width > own.width + 1e-9]
    text = f"The method tries the widest attribute first. The rows span {own.width:.0%} of the domain of '{name}'"
    if not wider:
        alike = sum(abs(one.width - own.width) <= 1e-9 for one in tried)
        text += ", more than of any other attribute" if alike == 1 else f", as much as of {alike - 1} others"
    if wider:
        text += f"; {listing([one.attribute for one in wider])} span more, but no cut at the median is allowed there"
    made = sorted(len(found.regions[side].rows) for side in region.sides)
    if own.broken:
        return f"{text}. A clean cut at the median is not allowed either, so another place on '{name}' was taken."
    if made != sorted(own.sizes):
        return f"{text}. It is cut beside the median."
    return f"{text}. It is cut at the median: {own.where}."


def whole_sentence(release: Release, rows: Int64, tried: list[Attempt]) -> str:
    """Why no cut of the region is made."""
    if not tried:
        return "All its rows agree in every quasi-identifier, so there is nothing to cut."
    broken = sorted({one.broken.split(":")[0] for one in tried if one.broken})
    if not broken:
        return "A side of every cut would have too few rows or break a requirement."
    return (
        f"Every cut would leave a side that breaks a requirement ({', '.join(broken)}). For each attribute in which "
        f"the {len(rows):,} rows differ, the list says what the cut at the median would break."
    )
