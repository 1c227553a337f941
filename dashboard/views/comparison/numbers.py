"""The tab Numbers: every criterion of every run, with differences to the baseline."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd
import streamlit as st

from anoncore import AnonymizationError
from anoncore.measures.criteria import CRITERIA, FAMILIES, Criterion, chosen
from anoncore.release.release import Release
from dashboard import about, compute
from dashboard.charts.compare import share_bars
from dashboard.palette import run_style
from dashboard.state import Run
from dashboard.views import parts
from dashboard.workspace import run_names

Numbers = dict[str, float | AnonymizationError]
NOT_THERE = "–"


def measured(run: Run, attribute: str | None) -> Numbers | None:
    """All criteria of a run, computed in the background; None, with progress on the page, until they are there."""

    def work(release: Release, progress: Callable[[float, str], None]) -> Numbers:
        found: Numbers = {}
        for place, one in enumerate(chosen()):
            progress(place / len(CRITERIA), one.title)
            try:
                found[one.name] = one.evaluate(release, attribute, compute.cache_of(run))
            except AnonymizationError as error:
                found[one.name] = error
        return found

    found: Numbers | None = parts.later(f"Measuring {run.label}", "criteria", run, _named(work), attribute or "")
    return found


def _named(work: Callable[..., Numbers]) -> Callable[..., Numbers]:
    def function(release: Release, _attribute: str, progress: Callable[[float, str], None]) -> Numbers:
        return work(release, progress)

    return function


def render(runs: list[Run], baseline: Run, attribute: str | None) -> None:
    """Draw the tab."""
    found = {run.id: measured(run, attribute) for run in {one.id: one for one in (*runs, baseline)}.values()}
    there = {id: numbers for id, numbers in found.items() if numbers is not None}
    shown = [run for run in runs if run.id in there]
    if not shown:
        return
    _bars(shown, there)
    base = there.get(baseline.id)
    for family, title in FAMILIES.items():
        st.markdown(f"**{title}**")
        # A table of the page wraps its texts; cells of a data grid cut them off.
        st.table(
            table(shown, there, base, baseline, [one for one in CRITERIA.values() if one.family == family]),
            hide_index=True,
            alt=f"{title}, for {', '.join(run.label for run in shown)}.",
        )
    st.caption(
        f"In brackets the difference to the baseline, {parts.escaped(baseline.label)}: better, worse or equal for the "
        f"one who publishes. {NOT_THERE} means that a release of this form has no such number."
    )
    about.several("What these numbers are", [f"criterion:{name}" for name in CRITERIA], "compare")


def table(
    runs: list[Run], found: dict[str, Numbers], base: Numbers | None, baseline: Run, criteria: list[Criterion]
) -> pd.DataFrame:
    """One line per criterion, one column per run."""
    names = run_names(runs)
    columns: dict[str, list[str]] = {"number": [one.title for one in criteria]}
    for run in runs:
        reference = None if run.id == baseline.id else base
        columns[parts.escaped(names[run.id])] = [cell(one, found[run.id][one.name], reference) for one in criteria]
    columns["meaning"] = [parts.escaped(one.meaning) for one in criteria]
    return pd.DataFrame(columns)


def cell(criterion: Criterion, value: float | AnonymizationError, base: Numbers | None) -> str:
    """A number with its difference to the baseline in words."""
    if isinstance(value, AnonymizationError):
        return NOT_THERE
    text = criterion.text(value)
    reference = base.get(criterion.name) if base is not None else None
    if reference is None or isinstance(reference, AnonymizationError):
        return text
    difference = criterion.text(abs(value - reference))
    if difference == criterion.text(0.0):
        return f"{text} (equal)"
    sign = "+" if value > reference else "−"
    return f"{text} ({sign}{difference}, {'better' if criterion.better(value, reference) else 'worse'})"


def _bars(runs: list[Run], found: dict[str, Numbers]) -> None:
    """All shares of all runs on one scale."""
    criteria = [
        one
        for one in CRITERIA.values()
        if one.form == "share" and any(isinstance(found[run.id][one.name], float) for run in runs)
    ]
    values = [
        [value if isinstance(value := found[run.id][one.name], float) else None for one in criteria] for run in runs
    ]
    parts.chart(
        share_bars(
            [one.title for one in criteria],
            values,
            [run.label for run in runs],
            [run_style(run.color_index) for run in runs],
        ),
        key="compare-shares",
        caption="All that is a share, on one scale; for each of them less is better. An error above 100% is drawn at "
        "100%. What a release of a form does not have is left out.",
        alt="; ".join(f"{run.label}: " + ", ".join(_texts(found[run.id], criteria)) for run in runs),
    )


def _texts(numbers: Numbers, criteria: list[Criterion]) -> list[str]:
    return [f"{one.title} {one.text(value)}" for one in criteria if isinstance(value := numbers[one.name], float)]
