"""The page Closeness: how far each group is from the table, and the mass that would have to move."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from anoncore import privacy
from anoncore.base.texts import share_text
from anoncore.kernels.arrays import Floats, Int64
from anoncore.privacy import Guarantee, Profile, Transport
from anoncore.requirements import TCloseness
from dashboard.charts.groups import MOST_LEAVES, MOST_ROWS, along_order, from_surplus_to_lack, through_tree
from dashboard.charts.palette import RunStyle
from dashboard.closer import all_columns, one_person
from dashboard.closer.groups import MOST_SHOWN
from dashboard.closer.privacy import GROUND_NAMES, ground_choice, levels_of
from dashboard.elements import about, parts
from dashboard.elements.parts import Tile
from dashboard.markdown import escaped
from dashboard.session.workspace import Run

LIST_HEIGHT = 420
FIGURES: dict[str, Callable[[Transport, RunStyle, str], go.Figure]] = {
    "ordered": along_order,
    "equal": from_surplus_to_lack,
    "hierarchical": through_tree,
}


@dataclass(frozen=True)
class Lens:
    """What the reader looks at; `fragment` names whose groups they are."""

    attribute: str
    ground: str
    fragment: str

    def arguments(self, run: Run) -> tuple[str, str, str | None]:
        """As measures of the distance take them."""
        return self.attribute, self.ground, None if run.release.is_shared else self.fragment


def render() -> None:
    """Draw the page."""
    run = parts.shown_run("The distance is that of groups of people from the table")
    if run is None:
        return
    profile = parts.profile(run)
    measured = levels_of(run, profile)
    if not measured:
        st.info("No sensitive attribute is published value by value, so no distance from the table can be measured.")
        return
    wanted = _wanted(parts.measured(run, privacy.guarantees))
    grounds = {
        name: [ground for ground in GROUND_NAMES if ground in measured[name].distance or (name, ground) in wanted]
        for name in measured
    }
    first = next(iter(measured))
    all_columns.spread("distance", first)
    one_person.explain("distance", first)
    _reached(run, profile, grounds, wanted)
    _browse(run, profile, grounds)


def _wanted(guarantees: Sequence[Guarantee]) -> dict[tuple[str | None, str], Guarantee]:
    """The strictest t that was asked for, by attribute and ground distance."""
    by_strictness = sorted(guarantees, key=lambda one: -one.asked)
    return {
        (one.attribute, one.requirement.ground): one for one in by_strictness if isinstance(one.requirement, TCloseness)
    }


def _reached(
    run: Run, profile: Profile, grounds: dict[str, list[str]], wanted: dict[tuple[str | None, str], Guarantee]
) -> None:
    """t per sensitive attribute, and per ground distance that was asked for: reached against asked."""
    row = []
    for name, known in grounds.items():
        promised = [ground for ground in known if (name, ground) in wanted]
        for ground in promised or [parts.usual_ground(run, name, known)]:
            label = f"t of {escaped(name)} ({ground})"
            promise = wanted.get((name, ground))
            if promise is not None:
                verdict = "holds" if promise.holds else "does not hold"
                note = f"asked at most {promise.asked:.4g}: {verdict}"
                help = f"{escaped(promise.sentence)} Reached by group {promise.group}."
                row.append(Tile(label, f"{promise.reached:.4f}", help, note, promise.holds))
            else:
                score = profile.score(f"t-{ground}", name)
                help = f"{escaped(score.meaning)} Reached by group {score.group}."
                row.append(Tile(label, f"{score:.4f}", help))
    parts.tiles(row, max(min(len(row), 4), 2))
    about.button("requirement:t-closeness", "What is t-closeness?")


@parts.fragment
def _browse(run: Run, profile: Profile, grounds: dict[str, list[str]]) -> None:
    with st.container(horizontal=True):
        attribute = parts.choice(
            "Sensitive attribute",
            list(grounds),
            "closeness-attribute",
            "Whose distribution is compared with the table's.",
        )
        ground = ground_choice(run, attribute, grounds[attribute], f"closeness-ground-{run.id}-{attribute}")
        fragments = [part.fragment for part in profile.fragments if attribute in part.attributes]
        fragment = parts.choice("Fragment", fragments, "closeness-fragment", "Each fragment has groups of its own.")
    lens = Lens(attribute, ground, fragment)
    left, right = parts.beside(1, 2)
    with left:
        distances = parts.measured(run, privacy.emd, *lens.arguments(run))
        sizes = next(part.size for part in profile.fragments if part.fragment == lens.fragment)
        group = _list(run, distances, sizes, lens)
    with right:
        _detail(run, distances, int(sizes[group]), group, lens)


def _list(run: Run, distances: Floats, sizes: Int64, lens: Lens) -> int:
    """The groups, the farthest first; returns the chosen one, the farthest until another is chosen."""
    groups = np.argsort(-distances, kind="stable")[:MOST_SHOWN]
    count = (
        f"The {len(groups):,} farthest of {len(distances):,}"
        if len(groups) < len(distances)
        else f"All {len(groups):,}"
    )
    st.caption(f"{count} groups, the farthest first; half lie within {np.median(distances):.4f}. Click one to see it.")
    far = f"Earth mover's distance from the whole table ({lens.ground} distance)."
    return parts.row_choice(
        pd.DataFrame({"group": groups, "size": sizes[groups], "distance": distances[groups]}),
        groups,
        f"closeness-{run.id}-{lens.attribute}-{lens.ground}-{lens.fragment}",
        {
            "group": parts.number("Number of the group; it is not published.", width=55, label="No."),
            "size": parts.number("People who look alike.", "localized", 50, run.release.counted_word.capitalize()),
            "distance": parts.number(far, "%.4f", 70, "EMD"),
        },
        LIST_HEIGHT,
        "List of groups, the farthest from the table first; the chosen one is shown beside it.",
    )


def _detail(run: Run, distances: Floats, size: int, group: int, lens: Lens) -> None:
    attribute, ground, fragment = lens.arguments(run)
    plan = parts.measured(run, privacy.transport, attribute, group, ground, fragment)
    moved = float(plan.mass.sum())
    mean = plan.cost / moved if moved > 0 else 0.0
    st.subheader(f"Group {group}")
    parts.tiles(
        [
            Tile("EMD", f"{distances[group]:.4f}", "Mass that moves times the mean distance it moves; 0 to 1."),
            Tile("Moves", share_text(moved), "Share of the group's rows whose value would have to be another."),
            Tile("How far", f"{mean:.3f}", "How far the mass moves on average; 1 is the farthest there is."),
            Tile(run.release.counted_word.capitalize(), f"{size:,}", "People in this group who look alike."),
        ]
    )
    if plan.cost == 0:
        st.info(f"Nothing moves: group {group} has exactly the table's distribution.")
    name = f"group {group}"
    draw = FIGURES[lens.ground if plan.tree is not None or lens.ground != "hierarchical" else "equal"]
    parts.chart(
        draw(plan, run.style, name),
        f"closeness-{lens.ground}",
        _caption(plan, lens, name),
        f"Distribution of {lens.attribute} in {name} beside the table's, and the {share_text(moved)} of its mass "
        f"that moves; the distance is {plan.cost:.4f}.",
    )


def _caption(plan: Transport, lens: Lens, name: str) -> str:
    attribute, count = escaped(lens.attribute), len(plan.values)
    if lens.ground == "ordered":
        return (
            f"Above: '{attribute}' in {name} and in the whole table. Below: the mass that moves from each value to the "
            f"next until both are alike, up where the line is above zero. The coloured area, divided by the "
            f"{count - 1:,} steps, is the EMD."
        )
    if plan.tree is None:
        cut = f" Of {count:,} values the {MOST_ROWS - 1} that differ most have a row." if count > MOST_ROWS else ""
        return (
            f"Left: '{attribute}' in {name} and in the whole table. Right: mass goes from values that {name} has too "
            f"often to those it has too rarely. The width of all bands together is the EMD.{cut}"
        )
    cut = (
        f" Of {count:,} values at most {MOST_LEAVES} rows are shown, the others as groups."
        if count > MOST_LEAVES
        else ""
    )
    return (
        f"Left: '{attribute}' in {name} and in the whole table. Right: mass that is too much climbs the hierarchy and "
        f"comes down where it lacks. It turns at the circles; the number beside one is mass times height, and their "
        f"sum is the EMD.{cut}"
    )
