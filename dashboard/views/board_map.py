"""The map of the board: every release of the table that was made so far, cost against risk, and the frontier."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import streamlit as st

from anoncore import Release
from anoncore.base.texts import share_text
from anoncore.search.frontier import refined_pairs
from anoncore.search.sweeping import Point
from dashboard import compute, state, trials
from dashboard.board import facts
from dashboard.board.bench import Bench
from dashboard.board.grid import Shown
from dashboard.charts.trade_off import Tried, trade_off, unbeaten
from dashboard.palette import run_style
from dashboard.state import Run
from dashboard.views import parts
from dashboard.workspace import run_title

POLL = 1.0
COST = "two-way-error"
TRUTH = "belief-in-truth"
SIZE = "k"
TRIALS = ("sweep", "targets")


def render(shown: Sequence[Shown], bench: Bench | None, secret: str | None) -> None:
    """Draw every release that was tried so far, cost against risk."""
    elsewhere, is_busy = _runs(secret)
    tried = [*_columns(shown, secret), *_before(bench, secret), *elsewhere]
    tried = [*tried, *_searched(secret, {one.key for one in tried})]
    if not tried:
        return
    st.subheader("What each release trades for what")
    words = "risk to be found in the smallest group" if secret is None else "mean belief in the true secret"
    gains = gained(tried)
    told = [one for one in tried if one.style is not None]
    told += [one for one in unbeaten(tried) if one not in told]
    refined = " A bold line is what refining gained." if gains else ""
    parts.chart(
        trade_off(tried, words, gains),
        key="board-map",
        caption="Every release of this table tried so far, here, on other pages and in searches; towards the corner at "
        "the bottom left is better in both. The dotted line is the frontier: the least cost at each risk found so far."
        f"{refined} Columns of the board have their colours.",
        alt=f"{len(tried):,} releases. "
        + "; ".join(f"{one.label}: lost {share_text(one.cost)}, {words} {share_text(one.risk)}" for one in told),
    )
    if is_busy:
        _watch(secret)


def gained(tried: Sequence[Tried]) -> tuple[tuple[int, int], ...]:
    """The places of releases that differ in nothing but `refine`, the one without first."""
    there = [place for place, one in enumerate(tried) if one.algorithm is not None]
    points = [_as_point(tried[place]) for place in there]
    return tuple((there[one], there[other]) for one, other in refined_pairs(points, COST, TRUTH))


def _as_point(one: Tried) -> Point:
    assert one.algorithm is not None, "only releases of a known method are compared"
    return Point(one.algorithm, {COST: one.cost, TRUTH: one.risk}, {}, 0.0)


def _columns(shown: Sequence[Shown], secret: str | None) -> Iterator[Tried]:
    """The columns of the board."""
    runs = {run.column: run for run in state.runs() if run.column}
    for one in shown:
        point = _point(one.quick, secret) if one.status == "ready" else None
        if point is not None:
            run = runs.get(one.id)
            yield Tried(one.title, *point, run_style(one.color), None if run is None else run.algorithm)


def _before(bench: Bench | None, secret: str | None) -> Iterator[Tried]:
    """What columns of the board showed before."""
    current = {run.id for run in state.runs() if run.column}
    for attempt in () if bench is None else bench.attempts:
        if attempt.run is None or attempt.run.id in current or not state.is_of_table(attempt.run):
            continue
        point = _point(attempt.quick.get(secret), secret)
        if point is not None:
            yield Tried(attempt.run.label, *point, algorithm=attempt.run.algorithm)


def _runs(secret: str | None) -> tuple[list[Tried], bool]:
    """Runs of other pages as far as they are measured, and whether others are being measured."""
    tried, is_busy = list[Tried](), False
    for run in state.runs():
        if run.column or not state.is_of_table(run):
            continue
        later = _measured(run, secret)
        is_busy |= later.status == "running"
        point = _point(later.value, secret) if later.status == "done" else None
        if point is not None:
            tried.append(Tried(run.label, *point, algorithm=run.algorithm))
    return tried, is_busy


def _measured(run: Run, secret: str | None) -> compute.Later:
    """The quick facts of a run that no column shows, worked out in the background."""

    def measure(_: Release, about: str | None) -> facts.Facts:
        return facts.quick(run, about)

    return compute.later("board.map", run, measure, secret)


@st.fragment(run_every=POLL, key="board-map-watch")
def _watch(secret: str | None) -> None:
    """Draw the page anew when the runs of other pages are measured."""
    if not _runs(secret)[1]:
        st.rerun()


def _searched(secret: str | None, known: set[tuple[str, float, float]]) -> Iterator[Tried]:
    """What was tried on the pages Sweep and Choose, where that was measured by cost and this risk."""
    for trial in (trials.current(name) for name in TRIALS):
        if trial is None or (secret is not None and (trial.attribute or trial.data.sensitive[0]) != secret):
            continue
        for point in trial.found():
            risk = point.values.get(SIZE if secret is None else TRUTH)
            if risk is None or COST not in point.values:
                continue
            risk = 1 / max(risk, 1.0) if secret is None else risk
            one = Tried(run_title(point.algorithm), point.values[COST], risk, algorithm=point.algorithm)
            if one.key not in known:
                known.add(one.key)
                yield one


def _point(quick: facts.Facts | None, secret: str | None) -> tuple[float, float] | None:
    """Cost and risk of a release: how sure an adversary is of the truth on average, or without a secret, how surely
    the least hidden person is found.
    """
    if quick is None or "value" not in quick["lost"]:
        return None
    # Synthetic rows hide nobody among others, and nobody is believed to have one of them.
    least = quick.get("smallest")
    risk = (None if least is None else 1 / max(int(least), 1)) if secret is None else quick["belief"].get("truth")
    return None if risk is None else (quick["lost"]["value"], float(risk))
