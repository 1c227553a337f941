"""The map of the board: every release of the table that was made so far by two of the board's rows, and the frontier of
those that keep what is asked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from typing import Literal

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from anoncore import Microdata, Release
from anoncore.algorithms import Algorithm
from anoncore.base.texts import share_text
from anoncore.measures.promise_marks import Mark
from anoncore.requirements import Requirement
from anoncore.search.frontier import refined_pairs
from anoncore.search.sweeping import Point
from dashboard.board import facts, making
from dashboard.board.bench import Attempt, Bench
from dashboard.board.finding import Finding
from dashboard.board.over import Over
from dashboard.board.wording import ROWS, Shown, first_line, keeps
from dashboard.charts.layout import broken, figure, line
from dashboard.charts.palette import ORIGINAL, RunStyle, run_style
from dashboard.elements import parts
from dashboard.session import compute, state
from dashboard.session.wishes import Wishes
from dashboard.session.workspace import Run
from dashboard.tasks import redrawing

FINE_TICKS = 0.05
"""Axes that end below this share have ticks with a decimal, as two of them would be the same without."""
MISSED_OPACITY = 0.45


@dataclass(frozen=True)
class Axis:
    """A row of the board as an axis: its name there, what is measured and in which form."""

    title: str
    measured: str
    form: Literal["share", "number", "count"]
    more_is_better: bool = False

    @property
    def label(self) -> str:
        """What stands beside the axis."""
        return f"{self.title} ({self.measured}): {'more' if self.more_is_better else 'less'} is better"

    def text(self, value: float) -> str:
        """A number of the axis as the cells of the row write it."""
        return {"share": share_text(value), "number": f"{value:.2f}", "count": f"{value:,.0f}"}[self.form]

    def cost(self, value: float) -> float:
        """The number so that less is better."""
        return -value if self.more_is_better else value


@dataclass(frozen=True)
class Tried:
    """One release: name, its numbers to the right and upwards, its style where a column of the board shows it, and its
    method.

    `verdict` says how it fares with what is asked, and `keeps` whether all of that is known to hold.
    """

    label: str
    x: float
    y: float
    style: RunStyle | None = None
    algorithm: Algorithm | None = None
    keeps: bool = True
    verdict: str = ""

    @property
    def key(self) -> tuple[str, float, float]:
        """What tells it from others: what it is asked for, and both numbers."""
        return repr(self.algorithm), round(self.x, 12), round(self.y, 12)

    def told(self, right: Axis, up: Axis) -> str:
        """Both numbers with the names of their rows."""
        return f"{right.title.lower()} {right.text(self.x)}, {up.title.lower()} {up.text(self.y)}"


def frontier(tried: Sequence[Tried], right: Axis, up: Axis) -> list[Tried]:
    """Of the releases that keep what is asked those that no other of these beats in both; the best by `right` first."""
    keeping = [one for one in tried if one.keeps]
    found: list[Tried] = []
    for one in sorted(keeping, key=lambda each: (right.cost(each.x), up.cost(each.y))):
        if not found or up.cost(one.y) < up.cost(found[-1].y):
            found.append(one)
    return found


def trade_off(
    tried: Sequence[Tried],
    right: Axis,
    up: Axis,
    gains: Sequence[tuple[int, int]] = (),
    edges: Sequence[float | None] = (None, None),
) -> go.Figure:
    """Every release as a mark, columns of the board in their colours, those that do not keep what is asked hollow or
    pale; and the frontier of those that do.

    `gains` are the places of two releases each that differ in nothing but that the second one was refined, `edges` the
    numbers to the right and upwards that no release is below, where they are known.
    """
    best = frontier(tried, right, up)
    traces = []
    if best:
        x, y = np.array([(one.x, one.y) for one in best]).T
        traces.append(line(x, y, "best that keeps all that is asked", width=1.5, dash="dot", shape="hv"))
    if gains:
        ends = np.array([[(tried[place].x, tried[place].y) for place in pair] for pair in gains]).transpose(2, 1, 0)
        x, y = (broken(*side) for side in ends)
        traces.append(line(x, y, "gained by refining", width=2.5))
    before = [one for one in tried if one.style is None]
    for group, name in (
        ([one for one in before if not one.keeps], "tried before, not known to keep it"),
        ([one for one in before if one.keeps], "tried before"),
        *(([one], one.label) for one in tried if one.style is not None),
    ):
        if group:
            traces.append(_marks(group, name, right, up))
    result = figure(*traces, x=right.label, y=up.label, height=330, legend=True)
    for draw, edge, angle in ((result.add_vline, edges[0], -90), (result.add_hline, edges[1], 0)):
        if edge is not None:
            draw(edge, line={"color": ORIGINAL, "width": 1.5, "dash": "dash"}, annotation_text="least possible")
            result.layout.annotations[-1].textangle = angle
    for update, axis, values in (
        (result.update_xaxes, right, [one.x for one in tried]),
        (result.update_yaxes, up, [one.y for one in tried]),
    ):
        # From below zero to above the largest, so that no mark is cut by an axis.
        top = max([*values, 0.01 if axis.form == "share" else 0.1])
        ticks = {"share": ".0%" if top > FINE_TICKS else ".1%", "number": "", "count": ",d"}[axis.form]
        update(tickformat=ticks, range=(-0.05 * top, 1.07 * top), zeroline=False)
    return result


def _marks(group: Sequence[Tried], name: str, right: Axis, up: Axis) -> go.Scatter:
    """The marks of releases that look alike."""
    style, keeps = group[0].style, group[0].keeps
    color = ORIGINAL if style is None else style.color
    symbol = "circle" if style is None else style.symbol
    return go.Scatter(
        x=[one.x for one in group],
        y=[one.y for one in group],
        mode="markers",
        marker={
            "color": color,
            "symbol": symbol if keeps else f"{symbol}-open",
            "size": 8 if style is None else 13,
            "opacity": MISSED_OPACITY if style is None and not keeps else 1,
            "line": {
                "color": ORIGINAL if style is None else style.outline if keeps else color,
                "width": 1.2 if keeps else 2,
            },
        },
        name=name,
        text=[one.label for one in group],
        customdata=[[one.told(right, up), one.verdict] for one in group],
        hovertemplate="%{text}<br>%{customdata[0]}<br>%{customdata[1]}<extra></extra>",
    )


POLL = 1.0
AXES: Mapping[str, Axis] = {
    "hides": Axis(ROWS["hides"][0], "size of the smallest group", "count", more_is_better=True),
    "distance": Axis(ROWS["distance"][0], "largest EMD", "number"),
    "given": Axis(ROWS["given"][0], "share of those with a secret", "share"),
    "lost": Axis(ROWS["lost"][0], "two-way error", "share"),
    "information": Axis("Information loss", "share of its domain that a cell covers", "share"),
    "predictable": Axis(ROWS["predictable"][0], "F-measure", "number", more_is_better=True),
}
"""The rows of the board that are a number, as axes."""
ABOUT_SECRETS = ("distance", "given")
ESTIMATED = ("given", "predictable")
"""Those that are estimated at first."""
NOT_JUDGED = "Not judged by what is asked now"
Numbers = Mapping[str, float]
Judgement = tuple[tuple[Mark, ...], facts.Judged]
"""How what is asked fares in a release, and the verdict on it."""


@dataclass(frozen=True)
class Map:
    """What the map is about: both axes by the names of their rows, what is asked of all, and of which attributes."""

    right: str
    up: str
    asked: tuple[Requirement, ...]
    secret: str | None
    target: str | None
    r: int
    k: float | None

    def tried(
        self, label: str, numbers: Numbers, color: int | None, algorithm: object, keeps: bool, verdict: str
    ) -> Iterator[Tried]:
        """The release on the map, where both of its numbers are there."""
        x, y = numbers.get(self.right), numbers.get(self.up)
        if x is not None and y is not None:
            style = None if color is None else run_style(color)
            yield Tried(label, x, y, style, algorithm, keeps, verdict)  # type: ignore[arg-type]


def render(
    shown: Sequence[Shown],
    bench: Bench | None,
    wishes: Wishes,
    data: Microdata,
    finding: Finding | None = None,
    over: Over | None = None,
) -> None:
    """Draw every release that was tried so far by two rows of the board."""
    secret = wishes.secret_of(data)
    rows = [row for row in AXES if secret is not None or row not in ABOUT_SECRETS]
    runs = {run.column: run for run in state.runs()}
    if not any(one.status == "ready" for one in shown) and not runs:
        return
    st.subheader("What each release trades for what")
    with st.container(horizontal=True):
        up = _axis("Upwards", rows, "distance" if secret is not None else "hides", "board-map-up")
        right = _axis("To the right", rows, "lost", "board-map-right")
    asked = wishes.asked_of(data)
    if bench is None and "information" in (right, up):
        # What ships with the program has no bound, which takes a while to prove.
        state.workspace().is_live = True
        st.rerun()
    about = Map(right, up, asked, secret, wishes.target_of(data), wishes.r, wishes.levels.get("k"))
    elsewhere, is_busy = _elsewhere(bench, about)
    tried = [*_columns(shown, runs, about), *elsewhere]
    tried += _trials(finding, over, about, {one.key for one in tried})
    if not tried:
        st.caption("No release has both numbers yet.")
    else:
        _draw(tried, about, _least(shown))
    if is_busy:
        _watch(bench, about)


def _axis(label: str, rows: Sequence[str], usual: str, key: str) -> str:
    return parts.choice(
        label, rows, key, "Any row of the board.", names=lambda row: AXES[row].title, index=rows.index(usual)
    )


def _least(shown: Sequence[Shown]) -> float | None:
    """The information loss that no classes of the size that is asked for are below, where it is known."""
    slow = [(one.slow or {}).get("least") for one in shown]
    bounds = [number.facts["bound"] for number in slow if number is not None and number.facts]
    return max(bounds, default=None)


def _draw(tried: Sequence[Tried], about: Map, least: float | None) -> None:
    right, up = AXES[about.right], AXES[about.up]
    gains = gained(tried, about)
    line = frontier(tried, right, up)
    named = [one for one in tried if one.style is not None]
    named += [one for one in line if one not in named]
    told = [f"{one.label}: {one.told(right, up)}, {one.verdict}" for one in named]
    corner = f"{'top' if up.more_is_better else 'bottom'} {'right' if right.more_is_better else 'left'}"
    if not about.asked:
        joined = "Nothing is asked, so the dotted line joins the best of all releases."
    elif line:
        joined = (
            "The dotted line joins the best of those that keep all that is asked; hollow marks miss some of it or are "
            "not known to keep it."
        )
    else:
        joined = "No release here is known to keep all that is asked, so no line joins the best."
    refined = " A bold line is what refining gained." if gains else ""
    edges = [least if name == "information" else None for name in (about.right, about.up)]
    if edges != [None, None]:
        refined += f" No release with groups of {about.k:,g} lies beyond the dashed edge: that is proven."
    if about.right in ESTIMATED or about.up in ESTIMATED:
        refined += " Where a number is still an estimate, the worse end of its interval is drawn."
    parts.chart(
        trade_off(tried, right, up, gains, edges),
        key="board-map",
        caption="Every release of this table tried so far; towards the corner at "
        f"the {corner} is better in both. {joined}{refined} Columns of the board have their colours.",
        alt=f"{len(tried):,} releases. {'; '.join(told)}",
    )


def gained(tried: Sequence[Tried], about: Map) -> tuple[tuple[int, int], ...]:
    """The places of releases that differ in nothing but `refine`, the one without first."""
    # Where no method was asked to refine, which is mostly so, nothing need be compared.
    if not any(getattr(one.algorithm, "refine", False) for one in tried):
        return ()
    there = [place for place, one in enumerate(tried) if one.algorithm is not None]
    points = [_as_point(tried[place], about) for place in there]
    return tuple((there[one], there[other]) for one, other in refined_pairs(points, about.right, about.up))


def _as_point(one: Tried, about: Map) -> Point:
    assert one.algorithm is not None, "only releases of a known method are compared"
    return Point(one.algorithm, {about.right: one.x, about.up: one.y}, {}, 0.0)


def _columns(shown: Sequence[Shown], runs: Mapping[str, Run], about: Map) -> Iterator[Tried]:
    """The columns of the board, with the numbers of their cells."""
    for one in shown:
        if one.status != "ready" or one.quick is None:
            continue
        slow = {name: number.facts for name, number in (one.slow or {}).items()}
        run = runs.get(one.id)
        algorithm = None if run is None else run.algorithm
        yield from about.tried(
            one.named,
            numbers(one.quick, slow),
            one.color,
            algorithm,
            one.keeps,
            first_line(one.marks, one.judged)[0],
        )


def _elsewhere(bench: Bench | None, about: Map) -> tuple[list[Tried], bool]:
    """What columns of the board showed before, as far as that is measured and judged; and whether more is to come."""
    found, is_busy = list[Tried](), False
    on_board = {run.id for run in state.runs()}
    for attempt in () if bench is None else bench.attempts:
        run = attempt.run
        if run is None or run.id in on_board or not state.is_of_table(run):
            continue
        # One after the other, so that this work fills no queue, and after that of the columns.
        may_begin = not is_busy and bench is not None and not bench.is_busy
        quick, judgement, is_coming = _known(run, attempt, about, may_begin)
        is_busy |= is_coming
        if quick is None:
            continue
        verdict = NOT_JUDGED if judgement is None else first_line(*judgement)[0]
        slow = _slow(attempt, about)
        is_kept = judgement is not None and keeps(*judgement)
        found += about.tried(run.label, numbers(quick, slow), None, run.algorithm, is_kept, verdict)
    return found, is_busy


def _known(
    run: Run, attempt: Attempt, about: Map, may_begin: bool
) -> tuple[facts.Facts | None, Judgement | None, bool]:
    """The quick facts and the judgement of a run that no column shows, and whether they are still to come.

    What is missing is worked out in the background, where that may begin.
    """
    found: tuple[facts.Facts, Judgement] | None = compute.known("board.map", run, about.secret, about.asked)
    if found is not None:
        return *found, False
    quick = attempt.quick.get(about.secret)
    if not may_begin:
        return quick, None, True

    def measure(_: Release, secret: str | None, asked: tuple[Requirement, ...]) -> tuple[facts.Facts, Judgement]:
        return facts.quick(run, secret), (facts.marks(run, asked), facts.Judged.of(facts.verdict_of(run, asked)))

    later = compute.later("board.map", run, measure, about.secret, about.asked)
    return *(later.value or (quick, None)), later.status == "running"


def _slow(attempt: Attempt, about: Map) -> Mapping[str, facts.Facts | None]:
    """The slow numbers of a release for the present adversary and target, as far as they were measured."""
    return {
        str(key[0]): attempt.slow[key].facts
        for key, _, _ in facts.measures(about.secret, about.r, about.target)
        if key in attempt.slow
    }


def numbers(quick: facts.Facts, slow: Mapping[str, facts.Facts | None]) -> Numbers:
    """The numbers of a release by the names of the rows; of those that it does not have, none.

    Of an estimate it is the worse end of the interval: no release is best by what its exact number may undo.
    """
    found = {
        "hides": quick.get("smallest"),
        "distance": quick["distance"].get("largest"),
        "lost": quick["lost"].get("value"),
        "information": quick["lost"].get("information"),
        **{name: None if told is None else _worst(name, told) for name, told in slow.items()},
    }
    return {name: float(value) for name, value in found.items() if value is not None and not isnan(value)}


def _worst(name: str, told: facts.Facts) -> float | None:
    more_is_better = name in AXES and AXES[name].more_is_better
    found: float | None = told.get("low" if more_is_better else "high", told.get("value"))
    return found


@redrawing.part(POLL, "board-map-watch")
def _watch(bench: Bench | None, about: Map) -> None:
    """Draw the page anew when what no column shows is measured and judged."""
    if not _elsewhere(bench, about)[1]:
        making.draw_behind()


def _trials(
    finding: Finding | None, over: Over | None, about: Map, known: set[tuple[str, float, float]]
) -> Iterator[Tried]:
    """What "Find better" has tried under the same promise, and the points of the lines over a level."""
    named = [] if finding is None else [(candidate.title, candidate.trial) for candidate in finding.candidates]
    named += [] if over is None else over.titled
    for title, trial in named:
        verdict, is_kept = first_line(trial.marks, trial.judged)[0], keeps(trial.marks, trial.judged)
        for tried in about.tried(title, numbers(trial.quick, trial.slow), None, trial.algorithm, is_kept, verdict):
            if tried.key not in known:
                known.add(tried.key)
                yield tried
