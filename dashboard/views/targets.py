"""The page Choose: state what a release must reach, and see which method and parameters do it at least cost."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from anoncore import Microdata
from anoncore.measures.criteria import CRITERIA, Criterion
from anoncore.search.found import Search, Target
from anoncore.search.sweeping import Point
from anoncore.search.targets import default_candidates
from dashboard import about, routes, runner, state, trials
from dashboard.charts.trials import trade_off
from dashboard.markdown import escaped
from dashboard.trials import Trial
from dashboard.views import parts
from dashboard.workspace import run_title

NAME = "targets"
POLL = 1.0
MOST_TARGETS = 5
MOST_LEFT_OUT = 20.0
FIRST = ("k", "t")
_ENTRIES = "targets"


def render() -> None:
    """Draw the page."""
    data = parts.tagged_table()
    if data is None:
        return
    left, right = st.columns([2, 4], gap="large")
    with left:
        targets, spare, attribute = _form(data)
        _start(data, targets, spare, attribute, _left_out())
        about.several("What these numbers are", [f"criterion:{name}" for name in CRITERIA], "targets")
    with right:
        trial = trials.current(NAME)
        if trial is None:
            st.info(
                "State on the left what the release must reach and what should be spared. Methods and parameters are "
                "then tried in the background; the cheapest release that keeps every target is shown, or the nearest "
                "miss, and what each target costs."
            )
        elif trial.running:
            _live(spare)
        else:
            _draw(trial, targets, spare)


def _form(data: Microdata) -> tuple[list[Target], str, str | None]:
    known = [one for one in CRITERIA.values() if data.sensitive or not one.of_attribute]
    entries: list[dict[str, Any]] = state.forms().setdefault(
        _ENTRIES,
        [
            {"id": i, "name": name, "limit": CRITERIA[name].first_limit}
            for i, name in enumerate(FIRST)
            if CRITERIA[name] in known
        ],
    )
    st.markdown("**The release must have**")
    targets = [_target(entry, known) for entry in entries]
    st.selectbox(
        "Add a target",
        [one.name for one in known],
        index=None,
        key="targets-add",
        placeholder="Add a target …",
        label_visibility="collapsed",
        format_func=_title,
        disabled=len(entries) >= MOST_TARGETS,
        on_change=_add,
        args=(entries,),
    )
    costs = [one.name for one in known if one.family == "cost"]
    spare = parts.choice("Spare", costs, "targets-spare", "What should cost least among all that fit.", names=_title)
    attribute = None
    if len(data.sensitive) > 1:
        attribute = parts.choice(
            "Sensitive attribute", list(data.sensitive), "targets-attribute", "What the targets are about."
        )
    return targets, spare, attribute


def _target(entry: dict[str, Any], known: list[Criterion]) -> Target:
    one = CRITERIA[entry["name"]]
    key = f"target-{entry['id']}"
    if state.widget_value(key) is None:
        state.set_widget_values({key: entry["limit"]})
    with st.container(border=True):
        box, button = st.columns([4, 1], vertical_alignment="bottom")
        with box:
            limit = st.number_input(
                f"{one.title} {'at least' if one.higher_is_better else 'at most'}",
                min_value=0.0,
                max_value=one.bounds[1] if one.form == "share" else None,
                step=0.05 if one.form != "count" else 1.0,
                format="%g",
                key=key,
                help=f"{one.meaning} As a number, 1 being 100%." if one.form == "share" else one.meaning,
                persist_state="session",
            )
        with button:
            st.button(
                "✕",
                key=f"target-{entry['id']}-remove",
                type="tertiary",
                on_click=_remove,
                args=(entry["id"],),
                help="Remove this target.",
            )
    entry["limit"] = float(limit)
    return Target(one.name, float(limit))


def _add(entries: list[dict[str, Any]]) -> None:
    name = state.widget_value("targets-add")
    if name is not None:
        number = max((entry["id"] for entry in entries), default=-1) + 1
        entries.append({"id": number, "name": name, "limit": CRITERIA[name].first_limit})
        state.set_widget_values({"targets-add": None})


def _remove(number: int) -> None:
    state.forms()[_ENTRIES] = [entry for entry in state.forms()[_ENTRIES] if entry["id"] != number]


def _left_out() -> float:
    """The share of the rows that may be left out."""
    percent = st.number_input(
        "People left out at most, percent",
        min_value=0.0,
        max_value=MOST_LEFT_OUT,
        value=0.0,
        step=0.5,
        format="%g",
        key="targets-left-out",
        help="The best releases of methods that coarsen values are tried once more without those who are like nobody "
        "else, so that all others are told more finely. 0: nobody is left out.",
        persist_state="session",
    )
    return float(percent) / 100


def _start(data: Microdata, targets: list[Target], spare: str, attribute: str | None, left_out: float) -> None:
    trial = trials.current(NAME)
    running = trial is not None and trial.running
    algorithms = default_candidates(data, targets, attribute)
    st.caption(
        f"{len(algorithms):,} releases of {len({one.name for one in algorithms})} methods will be tried, and then the "
        "best of them once more, refined."
    )
    pressed = st.button("Search", type="primary", width="stretch", key="targets-start", disabled=running or not targets)
    if pressed:
        names = list(dict.fromkeys([*(one.criterion for one in targets), spare]))
        trials.start(NAME, data, algorithms, names, attribute, targets, spare, left_out)
        state.forms()["targets-asked"] = (tuple(targets), spare)
        st.rerun()


@st.fragment(run_every=POLL, key="targets-live")
def _live(spare: str) -> None:
    trial = trials.current(NAME)
    if trial is None or not trial.running:
        st.rerun()
    st.progress(len(trial.points) / max(len(trial.algorithms), 1), text=trial.progress)
    st.button("Cancel", key="targets-cancel", on_click=trial.cancel, help="Stop; what is measured stays.")
    _draw(trial, [], spare)


def _draw(trial: Trial, targets: list[Target], spare: str) -> None:
    asked, spared = state.forms().get("targets-asked", ((), spare))
    if targets and (tuple(targets), spare) != (asked, spared):
        st.warning("The targets have changed since this search; press Search to search again.")
    points = trial.found()
    found = Search(tuple(asked), spared, points, len(trial.algorithms) - len(points))
    if not trial.running and found.n_left:
        st.warning(escaped(trial.problem) or f"Stopped: {trial.progress}, so a better one may exist.")
        st.button("Go on", key="targets-resume", on_click=trial.go_on, help="Try the others as well.")
    if found.best is not None:
        _card("Cheapest release that keeps every target", found, found.best, trial)
    elif found.nearest is not None and not trial.running:
        st.warning("No release that was tried keeps every target.")
        _card("Nearest miss", found, found.nearest, trial)
    if found.points and not trial.running:
        _costs(found)
    if found.points and asked:
        labels = [run_title(point.algorithm) for point in points]
        x = asked[0].of
        parts.chart(
            trade_off(points, labels, x, CRITERIA[spared], state.board_colors()),
            key="targets-chart",
            caption=f"All {len(points):,} releases that were tried, over the first target and what is spared.",
            alt=f"{len(points):,} releases over {x.title} and {CRITERIA[spared].title}.",
        )


def _card(title: str, found: Search, point: Point, trial: Trial) -> None:
    with st.container(border=True):
        st.markdown(f"**{title}: {escaped(run_title(point.algorithm))}**")
        tiles = []
        for target in found.targets:
            value = point.values.get(target.criterion)
            holds = target.shortfall(value) == 0
            shown = "–" if value is None else target.of.text(value)
            sign = "at least" if target.of.higher_is_better else "at most"
            note = f"asked {sign} {target.of.text(target.limit)}"
            tiles.append(parts.Tile(target.of.title, shown, target.of.meaning, note, holds))
        spare = CRITERIA[found.spare]
        tiles.append(parts.Tile(spare.title, spare.text(point.values[spare.name]), spare.meaning, "to be spared"))
        parts.tiles(tiles, max(len(tiles), 3))
        key = f"targets-open-{'best' if point is found.best else 'nearest'}"
        if st.button("Open as a run", key=key, help="Make this release again and show it on all pages."):
            runner.start(point.algorithm, trial.data)
            st.switch_page(routes.page("anonymize"), query_params=state.address())


def _costs(found: Search) -> None:
    """What each target costs: the cheapest release if it were dropped."""
    spare = CRITERIA[found.spare]
    if found.costliest is not None:
        st.markdown(f"The target that costs most is **{escaped(found.costliest.text)}**.")
    st.dataframe(
        costs_table(found),
        hide_index=True,
        key="targets-costs",
        alt=f"For each target the cheapest release without it, by {spare.title}.",
    )
    st.caption("Without one target, keeping all the others: the cheapest release that was tried.")


def costs_table(found: Search) -> pd.DataFrame:
    """One line per target: what the cheapest release without it costs, and which it is."""
    spare = CRITERIA[found.spare]
    rows = []
    for target, point in found.without.items():
        rows.append(
            {
                "without the target": target.text,
                spare.title: "–" if point is None else spare.text(point.values[spare.name]),
                "release": "none keeps the others" if point is None else run_title(point.algorithm),
            }
        )
    return pd.DataFrame(rows)


def _title(name: str) -> str:
    return CRITERIA[name].title
