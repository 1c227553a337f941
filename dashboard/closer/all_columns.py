"""What pages that look closer draw first: how all people, groups or queries fare in every column of the board."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from anoncore import AnonymizationError, Release, attacks, privacy, utility
from anoncore.base.texts import share_text
from anoncore.kernels.arrays import Floats
from anoncore.measures.answer import and_list, hidden_among
from anoncore.measures.criteria import N_QUERIES, usual_distance
from anoncore.measures.promise_marks import has_buckets
from anoncore.utility import InformationLoss
from dashboard.charts.palette import run_style
from dashboard.charts.privacy import attribute_bars, curves
from dashboard.elements import parts
from dashboard.session import compute, state
from dashboard.session.workspace import Run

T = TypeVar("T")


@dataclass(frozen=True)
class Spread:
    """One distribution: what is counted, over whom, and how its values are read."""

    title: str
    x: str
    of: str
    form: str
    values: Callable[[Run, str | None], Floats | None]
    logarithmic: bool = False


def _sizes(run: Run, _attribute: str | None) -> Floats:
    run.release.require_people("A group counts the people in it")
    return hidden_among(run.release).astype(np.float64)


def _beliefs(run: Run, attribute: str | None) -> Floats:
    name = "attacks.attribute_disclosure"
    return compute.cached(name, run, attacks.attribute_disclosure, str(attribute)).belief


def _distances(run: Run, attribute: str | None) -> Floats:
    def distances(release: Release, name: str, ground: str) -> Floats:
        return np.asarray(privacy.emd(release, name, ground))  # type: ignore[arg-type]

    return compute.cached("privacy.emd", run, distances, str(attribute), usual_distance(run.release, str(attribute)))


def _risks(run: Run, _attribute: str | None) -> Floats:
    return compute.cached("attacks.reidentification", run, attacks.reidentification).risk


def _errors(run: Run, _attribute: str | None) -> Floats | None:
    found = parts.later(f"Queries on {run.label}", "utility.query_error", run, utility.query_error, N_QUERIES)
    return None if found is None else np.minimum(found.relative_error[~np.isnan(found.relative_error)], 1.0)


SPREADS = {
    "belief": Spread("belief in one value", "largest probability of one value", "people", ".0%", _beliefs),
    "distance": Spread("distance from the table", "EMD from the table", "groups", ".2f", _distances),
    "risk": Spread("risk to be found", "probability to be found", "people", ".0%", _risks),
    "sizes": Spread("group sizes", "people in the smallest group of each", "people", ",.0f", _sizes, logarithmic=True),
    "queries": Spread("query errors", "relative error (larger ones count as 100%)", "queries", ".0%", _errors),
}


def spread(name: str, attribute: str | None = None) -> None:
    """Draw how one of `SPREADS` is spread in all columns that have it, where there are two at least."""
    about = SPREADS[name]
    measured = _of_columns(lambda run: about.values(run, attribute))
    if len(measured) < 2:
        return
    labels = [run.label for run, _ in measured]
    parts.chart(
        curves(
            [values for _, values in measured],
            labels,
            [run_style(run.color_index) for run, _ in measured],
            measured[0][0].data.in_words(about.x),
            about.form,
            about.logarithmic,
        ),
        key=f"all-{name}",
        caption=measured[0][0].data.in_words(
            f"All columns of the board. Each curve climbs to the right: how many of all {about.of} have at most the "
            f"value below.{_of_buckets([run for run, _ in measured]) if name == 'sizes' else ''}"
        ),
        alt=f"{about.title.capitalize()}: "
        + "; ".join(f"{run.label}: median {np.median(values):.3g}" for run, values in measured),
    )


def _of_buckets(runs: list[Run]) -> str:
    """That buckets hide nobody, of the releases that have some."""
    names = [run.title for run in runs if has_buckets(run.release)]
    if not names:
        return ""
    return (
        f" The groups of {and_list(names)} are buckets: they hide whose secret is whose, and not who somebody is, as "
        "what others know is published exactly."
    )


def losses() -> None:
    """Draw the information loss of every attribute in all columns that have it, where there are two at least."""

    def loss_of(run: Run) -> InformationLoss:
        return compute.cached("utility.information_loss", run, utility.information_loss)

    measured = _of_columns(loss_of)
    if len(measured) < 2:
        return
    parts.chart(
        attribute_bars(
            [dict(loss.per_attribute) for _, loss in measured],
            [run.label for run, _ in measured],
            [run_style(run.color_index) for run, _ in measured],
        ),
        key="all-losses",
        caption="All columns of the board: the share of its domain that a cell covers, on average. 0% is exact, 100% "
        "says nothing.",
        alt="; ".join(f"{run.label}: {share_text(float(loss))} in all" for run, loss in measured),
    )


def _of_columns(measured: Callable[[Run], T | None]) -> list[tuple[Run, T]]:
    """What is measured of the columns, without those that are not measured yet or whose form has no such number."""
    found = []
    for run in state.runs():
        with suppress(AnonymizationError):
            value = measured(run)
            if value is not None:
                found.append((run, value))
    return found
