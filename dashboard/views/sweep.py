"""The page Sweep: many methods and parameters at once, and what they trade for what."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd
import streamlit as st

from anoncore import Microdata, ParameterError
from anoncore.algorithms import ALGORITHMS, Algorithm
from anoncore.base.number_lists import numbers_from_text
from anoncore.measures.criteria import CRITERIA
from anoncore.search.candidates import Ranges, axes, candidates
from anoncore.search.sweeping import FIRST_CRITERIA, Point, pareto
from dashboard import about, routes, runner, state, trials
from dashboard.charts.trials import trade_off
from dashboard.markdown import escaped
from dashboard.method_guide import in_order
from dashboard.trials import Trial
from dashboard.views import parts
from dashboard.workspace import run_title

NAME = "sweep"
POLL = 2.0
MOST_CANDIDATES = 400
VALUES_WIDTH = 165
FIRST_METHODS = ("mondrian", "anatomy", "slicing", "stack-and-deal")
FIRST_VALUES = {
    "k": "2, 5, 10, 20, 50",
    "l": "2, 3, 4",
    "t": "0.1, 0.2, 0.3",
    "size": "10, 20, 50",
    "epsilon": "0.5, 1, 2",
    "columns": "",
}
X, Y = "sweep-x", "sweep-y"


def render() -> None:
    """Draw the page."""
    data = parts.tagged_table()
    if data is None:
        return
    left, right = st.columns([2, 3], gap="medium")
    with left:
        _form(data)
        about.several("What these numbers are", [f"criterion:{name}" for name in CRITERIA], "sweep")
    with right:
        trial = trials.current(NAME)
        if trial is None:
            st.info(
                "Every combination of the values on the left is made and measured, in the background. Each becomes a "
                "mark here; the dotted line joins those that no other beats."
            )
        else:
            _results()


def _form(data: Microdata) -> None:
    """Which methods, which values, which criteria."""
    names = in_order()
    start = [name for name in FIRST_METHODS if name in names and (data.sensitive or name == "mondrian")]
    chosen = _multi("Methods", names, "sweep-methods", start, lambda name: ALGORITHMS[name].title, "What is tried.")
    ranges: dict[str, dict[str, list[float]]] = {}
    problem = ""
    for name in chosen:
        known = [axis for axis in axes(ALGORITHMS[name]) if axis in FIRST_VALUES or axis == "delta"]
        ranges[name] = {}
        problem = ALGORITHMS[name].why_unavailable() or problem
        if not known:
            continue
        st.caption(ALGORITHMS[name].title)
        # Inputs as wide as a list of values; what has no room in a line goes below.
        with st.container(horizontal=True):
            texts = {axis: _values_of(name, axis) for axis in known}
        for axis, text in texts.items():
            try:
                ranges[name][axis] = numbers_from_text(text)
            except ParameterError as error:
                problem = f"{ALGORITHMS[name].title}, {axis}: {error}"
    attribute = None
    if len(data.sensitive) > 1:
        attribute = parts.choice(
            "Sensitive attribute", list(data.sensitive), "sweep-attribute", "What l and t are about."
        )
    criteria = _multi(
        "Measured by",
        list(CRITERIA),
        "sweep-criteria",
        [name for name in FIRST_CRITERIA if data.sensitive or not CRITERIA[name].of_attribute],
        lambda name: CRITERIA[name].title,
        "The numbers that every release is measured by; at least two.",
    )
    _start(data, ranges, criteria, attribute, problem)


def _values_of(name: str, axis: str) -> str:
    """The values of one parameter, as they are entered."""
    key = f"sweep-{name}-{axis}"
    if state.widget_value(key) is None:
        state.set_widget_values({key: FIRST_VALUES.get(axis, "") if axis in _started(name) else ""})
    return st.text_input(
        axis,
        key=key,
        persist_state="session",
        placeholder="default",
        width=VALUES_WIDTH,
        help="Values, such as 2, 5, 10 or 2-20 step 3; empty: not varied.",
    )


def _started(name: str) -> tuple[str, ...]:
    """The axes that are varied before anything is entered: one level of protection each, if it can be the method's own.

    A k that is asked of slicing besides is one of its buckets, which hide no rows.
    """
    known, own = axes(ALGORITHMS[name]), ALGORITHMS[name].model_fields
    levels = [axis for axis in ("k", "l", "t", "size", "epsilon") if axis in known]
    varied = sorted(levels, key=lambda axis: axis not in own)
    return tuple(varied[:1])


def _multi(
    label: str, options: list[str], key: str, start: list[str], names: Callable[[str], str], help: str
) -> list[str]:
    held = state.widget_value(key)
    if held is None or any(one not in options for one in held):
        state.set_widget_values({key: start})
    return st.multiselect(label, options, key=key, format_func=names, help=help, persist_state="session", wrap=True)


def _start(data: Microdata, ranges: Ranges, criteria: list[str], attribute: str | None, problem: str) -> None:
    """How many releases that makes, and the buttons."""
    algorithms: tuple[Algorithm, ...] = ()
    if not problem:
        try:
            algorithms = candidates(ranges, data, attribute)
        except ParameterError as error:
            problem = str(error)
    if not problem and len(algorithms) > MOST_CANDIDATES:
        problem = f"These are {len(algorithms):,} releases; at most {MOST_CANDIDATES} are tried at a time."
    if not problem and len(criteria) < 2:
        problem = "Choose at least two criteria."
    if problem:
        st.warning(escaped(problem))
    elif algorithms:
        st.caption(f"{len(algorithms):,} releases will be made.")
    trial = trials.current(NAME)
    running = trial is not None and trial.running
    if st.button(
        "Start", type="primary", width="stretch", disabled=bool(problem) or not algorithms or running, key="sweep-start"
    ):
        trials.start(NAME, data, algorithms, criteria, attribute)
        st.rerun()


def _results() -> None:
    trial = trials.current(NAME)
    if trial is not None and trial.running:
        _live()
    elif trial is not None:
        _draw(trial)


@st.fragment(run_every=POLL, key="sweep-live")
def _live() -> None:
    trial = trials.current(NAME)
    if trial is None or not trial.running:
        st.rerun()
    _draw(trial)


def _draw(trial: Trial) -> None:
    points = trial.found()
    if trial.running:
        st.progress(len(points) / max(len(trial.algorithms), 1), text=trial.progress)
        st.button("Cancel", key="sweep-cancel", on_click=trial.cancel, help="Stop; what is measured stays.")
    elif not trial.is_done:
        st.warning(escaped(trial.problem) or f"Stopped: {trial.progress}.")
        st.button("Go on", key="sweep-resume", on_click=trial.go_on, help="Measure the others as well.")
    boxes = st.columns(2)
    with boxes[0]:
        x = parts.choice("Across", list(trial.criteria), X, "Criterion of the horizontal axis.", names=_title)
    with boxes[1]:
        y = parts.choice("Up", list(trial.criteria), Y, "Criterion of the vertical axis.", names=_title, index=1)
    if not points:
        return
    labels = [run_title(point.algorithm) for point in points]
    front = pareto(points, x, y)
    if not any(x in point.values and y in point.values for point in points):
        st.info(
            f"No release has both numbers, {CRITERIA[x].title} and {CRITERIA[y].title}, so there is nothing to draw. "
            "The table below has those that there are; measure by others, or draw others here."
        )
    else:
        _chart(points, labels, x, y, front)
    _chosen(trial, points, labels)
    _table(trial, points, labels, front)


def _chart(points: tuple[Point, ...], labels: list[str], x: str, y: str, front: Any) -> None:
    parts.chart(
        trade_off(points, labels, CRITERIA[x], CRITERIA[y], state.board_colors()),
        key=f"sweep-chart-{state.session('sweep-round', 0)}",
        caption="Each mark is one release. Faded ones are beaten: another release is at least as good in both and "
        "better in one. A thin line joins what no other release of the same method beats, a bold one what refining its "
        "classes gained. Click a mark to open its release as a run.",
        alt=f"{len(points):,} releases over {CRITERIA[x].title} and {CRITERIA[y].title}; {int(front.sum())} unbeaten.",
        on_select=_clicked,
    )


def _table(trial: Trial, points: tuple[Point, ...], labels: list[str], front: Any) -> None:
    st.dataframe(
        table(points, labels, trial.criteria, front),
        hide_index=True,
        key="sweep-table",
        column_config={
            "unbeaten": st.column_config.CheckboxColumn("Unbeaten", help="In the two criteria drawn above.", width=70),
            "seconds": st.column_config.NumberColumn("Seconds", format="%.2f", width=75, help="What the method took."),
        },
        alt="All releases with their numbers.",
    )
    refused = refusals(points, labels)
    if refused:
        st.markdown("\n".join(["**Not possible with this table**", "", *(f"- {one}" for one in refused)]))


def refusals(points: tuple[Point, ...], labels: list[str]) -> list[str]:
    """Why there is no release of some candidates, each reason once with all that have it."""
    found: dict[str, list[str]] = {}
    for point, label in zip(points, labels, strict=True):
        if point.error:
            found.setdefault(point.error, []).append(label)
    return [f"{escaped('; '.join(names))}: {escaped(error)}" for error, names in found.items()]


def _title(name: str) -> str:
    return CRITERIA[name].title


def table(points: tuple[Point, ...], labels: list[str], criteria: tuple[str, ...], front: object) -> pd.DataFrame:
    """One line per candidate: its numbers, dashes where there is no release."""
    columns: dict[str, list[object]] = {"release": list(labels), "unbeaten": list(front)}  # type: ignore[call-overload]
    for name in criteria:
        one = CRITERIA[name]
        columns[one.title] = [one.text(point.values[name]) if name in point.values else "–" for point in points]
    columns["seconds"] = [point.seconds for point in points]
    return pd.DataFrame(columns)


def _clicked() -> None:
    event = state.widget_value(f"sweep-chart-{state.session('sweep-round', 0)}", {})
    marks = event.get("selection", {}).get("points", [])
    if marks and marks[0].get("customdata"):
        state.set_session("sweep-point", int(marks[0]["customdata"][0]))


def _chosen(trial: Trial, points: tuple[Point, ...], labels: list[str]) -> None:
    place = state.session("sweep-point")
    if place is None or place >= len(points):
        return
    point = points[place]
    with st.container(border=True):
        st.markdown(f"**{escaped(labels[place])}**")
        st.caption(
            ", ".join(f"{CRITERIA[name].title}: {CRITERIA[name].text(value)}" for name, value in point.values.items())
        )
        if st.button("Open as a run", key="sweep-open", help="Make this release again and show it on all pages."):
            runner.start(point.algorithm, trial.data)
            st.switch_page(routes.page("anonymize"), query_params=state.address())
