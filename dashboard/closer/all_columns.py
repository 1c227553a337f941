"""What pages that look closer draw first: how all people, groups or queries fare in every column of the board."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from anoncore import AnonymizationError, CancelledError, Release, attacks, privacy, utility
from anoncore.base.progress import Progress, part_of
from anoncore.base.texts import rows_for_people, share_text
from anoncore.kernels.arrays import Floats
from anoncore.measures.answer import and_list, hidden_among
from anoncore.measures.criteria import N_QUERIES
from anoncore.measures.promise_marks import has_buckets
from anoncore.utility import ClassificationEstimate, TwoWayError, TwoWayErrorBound
from anoncore.utility.classifiers import CLASSIFIERS
from dashboard.charts.attacks import Curve, curves
from dashboard.charts.utility import WRONG, attribute_bars, scores_compared
from dashboard.elements import parts
from dashboard.markdown import escaped
from dashboard.session import state
from dashboard.session.workspace import Run, column_names

T = TypeVar("T")
MOST_PAIRS = 10
"""Pairs of attributes that are drawn, so that every bar can be read."""


@dataclass(frozen=True)
class Spread:
    """One distribution: what is counted, over whom, and how its values are read."""

    title: str
    x: str
    of: str
    form: str
    values: Callable[[Run, str], Floats | None]
    logarithmic: bool = False


def _sizes(run: Run, _attribute: str) -> Floats:
    run.release.require_people("A group counts the people in it")
    return hidden_among(run.release).astype(np.float64)


def distances(run: Run, attribute: str) -> Floats:
    """How far each group is from the table, as the board measures it."""
    return np.asarray(parts.measured(run, privacy.emd, attribute, run.release.data.domain[attribute].ground))


def _errors(run: Run, _attribute: str) -> Floats | None:
    found = parts.later(f"Queries on {run.label}", run, utility.query_error, N_QUERIES)
    return None if found is None else np.minimum(found.relative_error[~np.isnan(found.relative_error)], 1.0)


SPREADS = {
    "belief": Spread(
        "belief in one value",
        "largest probability of one value",
        "people",
        ".0%",
        lambda run, attribute: parts.measured(run, attacks.attribute_disclosure, attribute).belief,
    ),
    "distance": Spread("distance from the table", "EMD from the table", "groups", ".2f", distances),
    "risk": Spread(
        "risk to be found",
        "probability to be found",
        "people",
        ".0%",
        lambda run, _: parts.measured(run, attacks.reidentification).risk,
    ),
    "sizes": Spread("group sizes", "people in the smallest group of each", "people", ",.0f", _sizes, logarithmic=True),
    "queries": Spread("query errors", "relative error (larger ones count as 100%)", "queries", ".0%", _errors),
}


def spread(name: str, attribute: str = "") -> None:
    """Draw how one of `SPREADS` is spread in all columns that have it, where there are two at least."""
    about = SPREADS[name]
    measured = _of_columns(lambda run: _curve(run, name, attribute))
    if len(measured) < 2:
        return
    first = next(iter(measured.values()))[0]
    # The tiles of the page Groups count rows as well, where every row is a person.
    in_words = rows_for_people if name == "sizes" and first.release.counted_word == "rows" else first.data.in_words
    shown = {label: (curve, run.style) for label, (run, curve) in measured.items()}
    hiding = first.data.in_words(_of_buckets([run for run, _ in measured.values()])) if name == "sizes" else ""
    parts.chart(
        curves(shown, in_words(about.x), about.form, about.logarithmic),
        f"all-{name}",
        in_words(
            f"All releases of the board. Each curve climbs to the right: how many of all {about.of} have at most the "
            "value below."
        )
        + hiding,
        f"{about.title.capitalize()}: "
        + "; ".join(f"{name}: median {curve.median:.3g}" for name, (curve, _) in shown.items()),
    )


def _curve(run: Run, name: str, attribute: str) -> Curve | None:
    """How one of `SPREADS` is spread in a column; None where it has none, and while it is not measured yet."""
    about = SPREADS[name]
    if name == "queries":
        values = about.values(run, attribute)
        return None if values is None else Curve.of(values)

    def curve_of(_release: Release, _name: str, _attribute: str) -> Curve | None:
        with suppress(AnonymizationError):
            values = about.values(run, attribute)
            return None if values is None else Curve.of(values)
        return None

    return parts.soon(f"{about.title.capitalize()} of {run.label}", run, curve_of, name, attribute)


def _of_buckets(runs: list[Run]) -> str:
    """That buckets hide nobody, of the releases that have some."""
    names = [run.title for run in runs if has_buckets(run.release)]
    if not names:
        return ""
    return (
        f" The groups of {and_list(names)} hide whose secret is whose, and not who somebody is, as "
        "what others know is published exactly."
    )


def two_way(run: Run) -> TwoWayError | TwoWayErrorBound:
    """The two-way error of a release, or the most that it can be where the original is not here."""
    if run.data.knows_rows:
        return parts.measured(run, utility.two_way_error)
    return parts.measured(run, utility.two_way_error_bound)


def pairs() -> None:
    """Draw the two-way error of the pairs of attributes that are told worst, in all columns that publish both."""
    measured = _of_columns(_of_pairs)
    named = dict.fromkeys(pair for _, errors in measured.values() for pair in errors)
    worst = sorted(named, key=lambda pair: -max(errors.get(pair, 0.0) for _, errors in measured.values()))
    if not worst:
        return
    shown = worst[:MOST_PAIRS]
    drawn = {
        label: ({pair: errors.get(pair, np.nan) for pair in shown}, run.style)
        for label, (run, errors) in measured.items()
    }
    which = f"the {len(shown)} of {len(worst)} pairs of columns" if len(shown) < len(worst) else "every pair of columns"
    parts.chart(
        attribute_bars(drawn, WRONG),
        "all-pairs",
        f"All releases of the board, {which}{' that are told worst' if len(shown) < len(worst) else ''}: the share of "
        "the rows that stand in the wrong place when the table is counted by both. The number above is the mean over "
        "all pairs.",
        "; ".join(
            f"{label}: {shown[0]} {share_text(errors.get(shown[0], 0.0))}" for label, (_, errors) in measured.items()
        ),
    )


def _of_pairs(run: Run) -> dict[str, float]:
    """The error of each pair of attributes, once."""
    errors = two_way(run).pairs
    names, numbers = list(errors.columns), errors.to_numpy()
    return {f"{names[a]} × {names[b]}": float(numbers[a, b]) for b in range(len(names)) for a in range(b)}


def losses() -> None:
    """Draw the information loss of every attribute in all columns that have it, where there are two at least."""
    measured = _of_columns(lambda run: parts.measured(run, utility.information_loss))
    if len(measured) < 2:
        return
    parts.chart(
        attribute_bars({label: (dict(loss.per_attribute), run.style) for label, (run, loss) in measured.items()}),
        "all-losses",
        "All releases of the board: the share of its domain that a cell covers, on average. 0% is exact, 100% "
        "says nothing.",
        "; ".join(f"{label}: {share_text(float(loss))} in all" for label, (_, loss) in measured.items()),
    )


def scores(target: str, folds: int) -> None:
    """Draw how well all classifiers predict an attribute from all columns, where there are two at least."""
    measured = _of_columns(lambda run: parts.later(f"Training on {run.label}", run, _estimates, target, folds))
    if len(measured) < 2:
        return
    shown = {label: (found, run.style) for label, (run, found) in measured.items()}
    titles = [one.title for one in CLASSIFIERS.values()]
    parts.chart(
        scores_compared([title[0].upper() + title[1:] for title in titles], shown),
        "all-scores",
        f"All releases of the board: how well what learns from each predicts '{escaped(target)}' of original rows that "
        "it has not seen, from a few trainings each, with their intervals. 1 is always right.",
        "; ".join(
            f"{name}: " + ", ".join(f"{title} {one.value:.2f}" for title, one in zip(titles, found, strict=True))
            for name, (found, _) in shown.items()
        ),
    )


def _estimates(
    release: Release, target: str, folds: int, progress: Progress
) -> tuple[ClassificationEstimate, ...] | None:
    """A first answer of every classifier; None where none of them can learn from the release."""
    found = []
    for place, name in enumerate(CLASSIFIERS):
        report = part_of(progress, place / len(CLASSIFIERS), (place + 1) / len(CLASSIFIERS))
        try:
            found.append(utility.classification_estimate(release, target, name, folds, progress=report))
        except CancelledError:
            raise
        except AnonymizationError:
            return None
    return tuple(found)


def _of_columns(measured: Callable[[Run], T | None]) -> dict[str, tuple[Run, T]]:
    """What is measured of the columns by name, without those that are not measured yet or have no such number."""
    found = []
    for run in state.runs():
        with suppress(AnonymizationError):
            value = measured(run)
            if value is not None:
                found.append((run, value))
    names = column_names([run for run, _ in found])
    return {names[run.id]: (run, value) for run, value in found}
