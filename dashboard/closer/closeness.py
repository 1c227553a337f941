"""The page Closeness: how far each group is from the table, and the mass that would have to move."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from anoncore import Release, privacy
from anoncore.base.texts import share_text
from anoncore.kernels.arrays import Floats, Int64
from anoncore.privacy import Guarantee, Profile, Transport
from anoncore.requirements import TCloseness
from dashboard.charts.closeness import MOST_LEAVES, MOST_ROWS, along_order, from_surplus_to_lack, through_tree
from dashboard.charts.palette import RunStyle, run_style
from dashboard.closer import all_columns, three_people
from dashboard.closer.privacy import GROUND_NAMES
from dashboard.elements import about, parts
from dashboard.elements.class_list import MOST_SHOWN
from dashboard.elements.parts import Tile
from dashboard.markdown import escaped
from dashboard.session import compute
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


def render() -> None:
    """Draw the page."""
    run = parts.shown_run("The distance is that of groups of people from the table")
    if run is None:
        return
    profile = parts.profile(run)
    measured = {name: one for part in reversed(profile.fragments) for name, one in part.attributes.items()}
    names = [name for name in run.data.sensitive if name in measured]
    if not names:
        st.info("No sensitive attribute is published value by value, so no distance from the table can be measured.")
        return
    asked = [
        one
        for one in compute.cached("privacy.guarantees", run, privacy.guarantees)
        if isinstance(one.requirement, TCloseness)
    ]
    grounds = {
        name: [
            ground for ground in GROUND_NAMES if ground in measured[name].distance or (name, ground) in _wanted(asked)
        ]
        for name in names
    }
    all_columns.spread("distance", names[0])
    three_people.explain("distance", names[0])
    _reached(run, profile, grounds, _wanted(asked))
    _browse(run, profile, grounds)


def _wanted(asked: list[Guarantee]) -> dict[tuple[str | None, str], Guarantee]:
    """The strictest t that was asked for, by attribute and ground distance."""
    by_strictness = sorted(asked, key=lambda one: -one.asked)
    return {(one.attribute, one.requirement.ground): one for one in by_strictness}  # type: ignore[attr-defined]


def _reached(
    run: Run, profile: Profile, grounds: dict[str, list[str]], wanted: dict[tuple[str | None, str], Guarantee]
) -> None:
    """t per sensitive attribute, and per ground distance that was asked for: reached against asked."""
    word = run.release.group_word
    row = []
    for name, known in grounds.items():
        promised = [ground for ground in known if (name, ground) in wanted]
        for ground in promised or [parts.usual_ground(run, name, known)]:
            label = f"t of {escaped(name)} ({ground})"
            promise = wanted.get((name, ground))
            if promise is not None:
                verdict = "holds" if promise.holds else "does not hold"
                note = f"asked at most {promise.asked:.4g}: {verdict}"
                help = f"{escaped(promise.sentence)} Reached by {word} {promise.group}."
                row.append(Tile(label, f"{promise.reached:.4f}", help, note, promise.holds))
            else:
                score = profile.score(f"t-{ground}", name)
                help = f"{escaped(score.meaning)} Reached by {word} {score.group}."
                row.append(Tile(label, f"{score:.4f}", help))
    for start in range(0, len(row), 4):
        parts.tiles(row[start : start + 4], max(min(len(row), 4), 2))
    about.button("requirement:t-closeness", "What is t-closeness?")


@st.fragment
@parts.says_why
def _browse(run: Run, profile: Profile, grounds: dict[str, list[str]]) -> None:
    with st.container(horizontal=True):
        lens = _lens(run, profile, grounds)
    left, right = st.columns([1, 2], gap="medium")
    with left:
        distances = compute.cached(
            "closeness.emd",
            run,
            privacy.emd,
            lens.attribute,
            lens.ground,
            None if run.release.is_shared else lens.fragment,
        )
        sizes = next(part.size for part in profile.fragments if part.fragment == lens.fragment)
        group = _list(run, distances, sizes, lens)
    with right:
        _detail(run, distances, int(sizes[group]), group, lens)


def _lens(run: Run, profile: Profile, grounds: dict[str, list[str]]) -> Lens:
    attribute = parts.choice(
        "Sensitive attribute", list(grounds), "closeness-attribute", "Whose distribution is compared with the table's."
    )
    ground = parts.choice(
        "Ground distance",
        grounds[attribute],
        f"closeness-ground-{run.id}-{attribute}",
        "How far apart two values are: what it costs to move mass from one to the other.",
        names=lambda one: GROUND_NAMES[one],
        index=grounds[attribute].index(parts.usual_ground(run, attribute, grounds[attribute])),
    )
    fragments = [part.fragment for part in profile.fragments if attribute in part.attributes]
    fragment = parts.choice("Fragment", fragments, "closeness-fragment", "Each fragment has groups of its own.")
    return Lens(attribute, ground, fragment)


def _list(run: Run, distances: Floats, sizes: Int64, lens: Lens) -> int:
    """The groups, the farthest first; returns the chosen one, the farthest until another is chosen."""
    word, words = run.release.group_word, parts.plural(run.release.group_word)
    groups = np.argsort(-distances, kind="stable")[:MOST_SHOWN]
    count = (
        f"The {len(groups):,} farthest of {len(distances):,}"
        if len(groups) < len(distances)
        else f"All {len(groups):,}"
    )
    st.caption(f"{count} {words}, the farthest first; half lie within {np.median(distances):.4f}. Click one to see it.")
    number = st.column_config.NumberColumn
    return parts.row_choice(
        pd.DataFrame({"group": groups, "size": sizes[groups], "distance": distances[groups]}),
        groups,
        f"closeness-{run.id}-{lens.attribute}-{lens.ground}-{lens.fragment}",
        {
            "group": number("No.", help=f"Number of the {word}; it is not published.", width=55),
            "size": number("Rows", help="People who look alike.", format="localized", width=50),
            "distance": number(
                "EMD",
                help=f"Earth mover's distance from the whole table ({lens.ground} distance).",
                format="%.4f",
                width=70,
            ),
        },
        LIST_HEIGHT,
        f"List of {words}, the farthest from the table first; the chosen one is shown beside it.",
    )


def _detail(run: Run, distances: Floats, size: int, group: int, lens: Lens) -> None:
    word = run.release.group_word
    fragment = None if run.release.is_shared else lens.fragment
    plan = compute.cached("privacy.transport", run, _transport, lens.attribute, group, lens.ground, fragment)
    moved = float(plan.mass.sum())
    mean = plan.cost / moved if moved > 0 else 0.0
    st.subheader(f"{word.capitalize()} {group}")
    parts.tiles(
        [
            Tile("EMD", f"{distances[group]:.4f}", "Mass that moves times the mean distance it moves; 0 to 1."),
            Tile("Moves", share_text(moved), f"Share of the {word}'s rows whose value would have to be another."),
            Tile("How far", f"{mean:.3f}", "How far the mass moves on average; 1 is the farthest there is."),
            Tile("Rows", f"{size:,}", f"People in this {word} who look alike."),
        ]
    )
    if plan.cost == 0:
        st.info(f"Nothing moves: {word} {group} has exactly the table's distribution.")
    name = f"{word} {group}"
    parts.chart(
        FIGURES[lens.ground if plan.tree is not None or lens.ground != "hierarchical" else "equal"](
            plan, run_style(run.color_index), name
        ),
        key=f"closeness-{lens.ground}",
        caption=_caption(plan, lens, name),
        alt=f"Distribution of {lens.attribute} in {name} beside the table's, and the {share_text(moved)} of its mass "
        f"that moves; the distance is {plan.cost:.4f}.",
    )


def _transport(release: Release, attribute: str, group: int, ground: str, fragment: str | None) -> Transport:
    return privacy.transport(release, attribute, group, ground, fragment)  # type: ignore[arg-type]


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
