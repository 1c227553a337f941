"""The tab Distributions: not only means, but how all people or groups fare."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import streamlit as st

from anoncore import AnonymizationError, Release, attacks, privacy, utility
from anoncore.base.texts import share_text
from anoncore.kernels.arrays import Floats
from anoncore.measures.criteria import N_QUERIES, usual_distance
from dashboard import compute
from dashboard.charts.compare import attribute_bars, curves
from dashboard.markdown import reason
from dashboard.palette import run_style
from dashboard.state import Run
from dashboard.views import parts


@dataclass(frozen=True)
class Spread:
    """One distribution: what is counted, over whom, and how its values are read."""

    title: str
    x: str
    of: str
    form: str
    values: Callable[[Run, str | None], Floats]
    needs_attribute: bool = False
    logarithmic: bool = False


def _sizes(run: Run, _attribute: str | None) -> Floats:
    run.release.require_people("A group counts the people in it")
    sizes = [part.partition.sizes[part.partition.group] for part in run.release.fragments]
    found: Floats = np.min(sizes, axis=0).astype(np.float64)
    return found


def _beliefs(run: Run, attribute: str | None) -> Floats:
    name = "attacks.attribute_disclosure"
    return compute.cached(name, run, attacks.attribute_disclosure, str(attribute)).belief


def _distances(run: Run, attribute: str | None) -> Floats:
    def distances(release: Release, name: str, ground: str) -> Floats:
        return np.asarray(privacy.emd(release, name, ground))  # type: ignore[arg-type]

    return compute.cached("privacy.emd", run, distances, str(attribute), usual_distance(run.release, str(attribute)))


def _risks(run: Run, _attribute: str | None) -> Floats:
    return compute.cached("attacks.reidentification", run, attacks.reidentification).risk


def _errors(run: Run, _attribute: str | None) -> Floats:
    found = compute.cached("utility.query_error", run, utility.query_error, N_QUERIES)
    return np.minimum(found.relative_error[~np.isnan(found.relative_error)], 1.0)


SPREADS = (
    Spread("Belief in one value", "largest probability of one value", "people", ".0%", _beliefs, needs_attribute=True),
    Spread("Distance from the table", "EMD from the table", "groups", ".2f", _distances, needs_attribute=True),
    Spread("Risk to be found", "probability to be found", "people", ".0%", _risks),
    Spread("Group size", "rows of the person's smallest group", "people", ",.0f", _sizes, logarithmic=True),
    Spread("Query error", "relative error (larger ones count as 100%)", "queries", ".0%", _errors),
)
LOSS = "Loss per attribute"


@st.fragment
@parts.says_why
def render(runs: list[Run], attribute: str | None) -> None:
    """Draw the tab."""
    spreads = {one.title: one for one in SPREADS if attribute is not None or not one.needs_attribute}
    chosen = parts.choice("What", [*spreads, LOSS], "compare-spread", "Which distribution is drawn.")
    if chosen == LOSS:
        _losses(runs)
        return
    spread = spreads[chosen]
    shown, values = [], []
    for run in runs:
        try:
            values.append(spread.values(run, attribute))
            shown.append(run)
        except AnonymizationError as error:
            st.caption(f"{parts.escaped(run.label)} is not drawn: {parts.escaped(reason(error))}")
    if shown:
        parts.chart(
            curves(
                values,
                [run.label for run in shown],
                [run_style(run.color_index) for run in shown],
                spread.x,
                spread.form,
                spread.logarithmic,
            ),
            key="compare-curves",
            caption=f"Each curve climbs to the right: how many of all {spread.of} have at most the value below.",
            alt="; ".join(f"{run.label}: median {np.median(one):.3g}" for run, one in zip(shown, values, strict=True)),
        )


def _losses(runs: list[Run]) -> None:
    shown, losses = [], []
    for run in runs:
        try:
            losses.append(compute.cached("utility.information_loss", run, utility.information_loss))
            shown.append(run)
        except AnonymizationError as error:
            st.caption(f"{parts.escaped(run.label)} is not drawn: {parts.escaped(reason(error))}")
    if not shown:
        return
    parts.chart(
        attribute_bars(
            [dict(one.per_attribute) for one in losses],
            [run.label for run in shown],
            [run_style(run.color_index) for run in shown],
        ),
        key="compare-losses",
        caption="Share of its domain that a cell covers, on average: 0% is exact, 100% says nothing.",
        alt="; ".join(f"{run.label}: {share_text(float(one))} in all" for run, one in zip(shown, losses, strict=True)),
    )
