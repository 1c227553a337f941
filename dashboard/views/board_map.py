"""The map of the board: every release of the table that was made so far by two of the board's rows, and the frontier of
those that keep what is asked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isnan

import streamlit as st

from anoncore import Microdata, Release
from anoncore.measures.promise_marks import Mark
from anoncore.requirements import Requirement
from anoncore.search.frontier import refined_pairs
from anoncore.search.sweeping import Point
from dashboard.board import facts
from dashboard.board.bench import Attempt, Bench
from dashboard.board.finding import Finding
from dashboard.board.over import Over
from dashboard.board.wording import ROWS, Shown, first_line, keeps
from dashboard.charts.palette import run_style
from dashboard.charts.trade_off import Axis, Tried, frontier, trade_off
from dashboard.elements import parts
from dashboard.session import compute, state
from dashboard.session.wishes import Wishes
from dashboard.session.workspace import Run
from dashboard.tasks import redrawing
from dashboard.views.board_dialogs import draw_behind

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
        str(key[0]): attempt.slow[key].exact or attempt.slow[key].estimate
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
        draw_behind()


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
