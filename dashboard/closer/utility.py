"""The page Utility: what the release costs in information, distributions, associations, answers and predictions."""

from __future__ import annotations

from typing import Any

import numpy as np
import streamlit as st

from anoncore import Kind, Release, utility
from anoncore.base.texts import share_text
from anoncore.measures.criteria import N_QUERIES
from anoncore.utility import Classification, InformationLoss, Outcome
from anoncore.utility.classifiers import CLASSIFIERS, ClassifierName
from dashboard.charts.attacks import Curve, curves
from dashboard.charts.layout import Axis
from dashboard.charts.maps import association_map
from dashboard.charts.palette import ORIGINAL
from dashboard.charts.utility import distribution, loss_bars, loss_histogram, published_shares, score_bars
from dashboard.closer import all_columns, one_person
from dashboard.elements import about, parts
from dashboard.elements.parts import Tile
from dashboard.markdown import escaped
from dashboard.session import browser, state
from dashboard.session.wishes import Wishes
from dashboard.session.workspace import Run

FOLDS = 10
MAJORITY = "#B9B9B9"
MOST_BINS = 40
EXPLAINED = (
    "measure:information_loss",
    "measure:average_group_size",
    "measure:discernibility",
    "measure:association_error",
    "measure:query_error",
    "measure:classification",
    "measure:conditional_entropy",
    "measure:rmse",
)
"""What the reference has of the numbers of this page."""


def render() -> None:
    """Draw the page."""
    run = parts.shown_run()
    if run is None:
        return
    parts.tabs(
        "utility-tab",
        {
            "Information loss": lambda: _lost(run),
            "Distributions": lambda: distributions(run, "utility"),
            "Associations": lambda: _associations(run),
            "Count queries": lambda: _queries(run),
            "Predictions": lambda: _predictions(run),
        },
    )
    about.several("What these numbers are", EXPLAINED, "utility")


def _lost(run: Run) -> None:
    """What is lost, by the measure that means the same for every form first, then by those of groups and cells."""
    if run.release.is_synthetic:
        # Nobody's rows are in no group, and no cell of theirs was made of a person's.
        parts.tiles(_pairs(run))
        all_columns.pairs()
        return
    loss = parts.attempt(run, utility.information_loss)
    _headline(run, loss)
    all_columns.pairs()
    _loss(run, loss)


def _pairs(run: Run) -> list[Tile]:
    """The two-way error, or the most that it can be."""
    lost = all_columns.two_way(run)
    return [Tile.of(lost, label=lost.title, note="0%: every pair is read right")]


def _headline(run: Run, loss: InformationLoss | None) -> None:
    size, pairs = parts.measured(run, utility.average_group_size), parts.measured(run, utility.discernibility)
    n = run.data.n_rows
    row = _pairs(run)
    if loss is not None:
        row.append(Tile.of(loss, more=loss.assumed, label=loss.title, note="0%: exact, 100%: nothing left"))
    smallest = f"{size.normalised:.2f} times the k asked for" if size.normalised is not None else "rows per group"
    alike = (
        f"{escaped(pairs.meaning)} Here {pairs:,.0f}, from {n:,} (every row alone) to {compact(float(n) ** 2)} (one "
        "group)."
    )
    row += [
        Tile(size.label, f"{size:,.1f} rows", f"{escaped(size.meaning)} Best is the k that was asked for.", smallest),
        Tile(pairs.title, compact(float(pairs)), alike, f"{pairs / n:,.1f} alike per row"),
    ]
    parts.tiles(row)


def compact(number: float) -> str:
    """A large number in thousands, millions or billions."""
    for limit, unit in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e4, "k")):
        if number >= limit:
            scale = 1e3 if unit == "k" else limit
            return f"{number / scale:,.3g} {unit}"
    return f"{number:,.0f}"


def _loss(run: Run, loss: InformationLoss | None) -> None:
    """Loss by attribute and by group."""
    if loss is None:
        return
    all_columns.losses()
    one_person.explain("lost")
    if float(loss) == 0:
        st.info(
            "Every quasi-identifier is published as it is, so no cell loses anything. What the cut link to the "
            "sensitive values costs is shown under Associations, Count queries and Predictions."
            if len(run.release.fragments) > 1
            else "Every quasi-identifier is published as it is, so no cell loses anything."
        )
        return
    style = run.style
    left, right = parts.beside()
    worst = max(loss.per_attribute, key=lambda name: loss.per_attribute[name])
    with left:
        parts.chart(
            loss_bars(loss.per_attribute, float(loss), style),
            "utility-loss-attributes",
            "How much of its domain a published cell covers on average, for each quasi-identifier. A range "
            "counts its width, a set its number of values; 0% is exact.",
            f"Bar chart of the information loss of {len(loss.per_attribute)} quasi-identifiers; "
            f"{worst} loses most, {share_text(loss.per_attribute[worst])}.",
        )
    with right:
        fragment = parts.fragment_choice(run.release, "utility-fragment")
        per_class = loss.per_class.get(fragment.name) if isinstance(loss.per_class, dict) else loss.per_class
        if per_class is None:
            st.info("This fragment publishes no quasi-identifier.")
            return
        parts.chart(
            loss_histogram(per_class, fragment.partition.sizes.astype(np.float64), style),
            "utility-loss-classes",
            "How the loss is spread over people: their share by the mean loss of their group.",
            f"Histogram of rows by information loss, up to {share_text(per_class.max())}.",
        )


@parts.fragment
def _associations(run: Run) -> None:
    """Association of every pair of attributes before and after."""
    error = parts.soon("Counting associations", run, utility.association_error, takes_long=True)
    if error is None:
        return
    maps = {"Difference": error.difference, "Original": error.original, "Release": error.released}
    left, right = parts.beside(1, 3)
    with left:
        parts.tiles([Tile(error.title, f"{error:.4f}", f"{escaped(error.meaning)} 0: all kept, 1: all lost.")])
        shown = parts.choice("Shown", list(maps), "utility-map", "Association before, after, or how it changed.")
        lost = error.difference.stack()
        pair = lost.index[int(np.argmin(lost.to_numpy()))]
        if lost.min() < 0:
            st.markdown(
                f"Most is lost between **{escaped(str(pair[0]))}** and **{escaped(str(pair[1]))}**: "
                f"{error.original.loc[pair]:.3f} before, {error.released.loc[pair]:.3f} after."
            )
    changed = shown == "Difference"
    with right:
        what = {
            "Difference": "Release minus original: vermillion is association lost, blue is association gained.",
            "Original": "In the original table.",
            "Release": "In the release, as its reader would estimate it.",
        }[shown]
        parts.chart(
            association_map(maps[shown], (), "phi squared", reach=None if changed else 1.0, difference=changed),
            "utility-associations",
            f"{what} Phi squared, from 0 (independent) to 1 (one attribute tells the other); numbers are cut "
            "into 10 intervals.",
            f"Heat map of the association of {len(error.original)} attributes: {shown.lower()}.",
        )


def _queries(run: Run) -> None:
    """How wrong counts from the release are."""
    error = parts.later("Answering queries", run, utility.query_error, N_QUERIES)
    if error is None:
        return
    left, right = parts.beside(1, 3)
    known = np.minimum(error.relative_error[~np.isnan(error.relative_error)], 1.0)
    with left:
        parts.tiles([Tile.of(error.median, note=None), Tile.of(error, value=share_text(error.mean), note=None)], 1)
    with right:
        parts.chart(
            curves({"queries": (Curve.of(known), run.style)}, "relative error of the answer", ".0%"),
            "utility-queries",
            f"{N_QUERIES:,} random questions such as: how many people of these ages and that sex have one of "
            f"these values of '{escaped(error.workload.sensitive)}'? {error.n_answered:,} match at least one "
            "row and count here; errors above 100% are drawn at 100%.",
            f"Curve of the relative error of {error.n_answered:,} count queries; the median is "
            f"{share_text(error.median)}.",
        )
    all_columns.spread("queries")


@parts.fragment
def distributions(run: Run, page: str) -> None:
    """Draw the choice of an attribute and its two distributions; `page` begins the keys of what is drawn."""
    names = list(run.release.attributes)
    usual = next((name for name in run.data.quasi_identifiers if name in names), names[0])
    name = parts.choice("Attribute", names, f"{page}-attribute", "Whose values are compared.", index=names.index(usual))
    axis = Axis.of(run.data.domain[name], MOST_BINS)
    original = axis.counts(run.data.codes[name]) / run.data.n_rows
    released = parts.soon("Estimating the shares of the release", run, _released_shares, name)
    if released is None:
        return
    moved = float(np.abs(original - released).sum()) / 2
    if run.release.is_synthetic:
        told = f"in the original table, and in the synthetic one. {share_text(moved)} of the rows lie in another bar."
    else:
        told = (
            "before, and after as a reader of the release would estimate it, who takes every value of a region for "
            f"equally likely. {share_text(moved)} of the rows land on another bar."
        )
    parts.chart(
        distribution(axis, original, released, run.style, ("original", "release")),
        f"{page}-distribution",
        f"'{escaped(name)}' {told}",
        f"Bar chart of the shares of {name} before and after; {share_text(moved)} of the rows move.",
    )


def _released_shares(release: Release, name: str) -> Any:
    return published_shares(release.recoding(name), Axis.of(release.data.domain[name], MOST_BINS))


def _predictions(run: Run) -> None:
    """Choose a target, see what the groups tell about it, train a classifier."""
    names = list(run.release.attributes)
    # What the board predicts; where that is not published, the last attribute.
    wishes = state.workspace().wishes or Wishes()
    usual = next((name for name in names if name == wishes.target_of(run.data)), names[-1])
    first, second = st.columns(2)
    with first:
        target = parts.choice(
            "Target", names, "utility-target", "Attribute that is to be predicted.", index=names.index(usual)
        )
    with second:
        classifier = parts.choice(
            "Classifier",
            list(CLASSIFIERS),
            "utility-classifier",
            "What learns from the release and is tested on original rows that it has not seen.",
            names=lambda one: CLASSIFIERS[one].title,
        )
    _classifier(run, target, classifier)
    all_columns.scores(target, FOLDS)
    if not run.release.is_synthetic:
        _homogeneity(run, target)


def train(run: Run, target: str, classifier: ClassifierName) -> None:
    """Let a classifier be trained for this target when the page is drawn."""
    name = f"trained-{run.id}"
    asked = browser.get(name, ())
    if (target, classifier) not in asked:
        browser.put(name, (*asked, (target, classifier)))


def _homogeneity(run: Run, target: str) -> None:
    """How alike the rows of a group are in the target."""
    row = []
    entropy = parts.attempt(run, utility.conditional_entropy, target)
    if entropy is not None:
        told = f"{escaped(entropy.meaning)} 0: the group tells it."
        row.append(Tile(entropy.title, f"{entropy:.3f} bits", told, f"whole table: {entropy.baseline:.3f} bits"))
    if run.data.domain[target].kind is Kind.NUMERIC:
        error = parts.attempt(run, utility.rmse, target)
        if error is not None:
            whole = f"whole table: {error.baseline:,.4g}"
            row.append(Tile(error.label, f"{error:,.4g}", escaped(error.meaning), whole))
    if row:
        parts.tiles(row, 3)


def _classifier(run: Run, target: str, classifier: ClassifierName) -> None:
    """Train on demand, in the background; a result stays for the run."""
    if (target, classifier) not in browser.get(f"trained-{run.id}", ()):
        st.button(
            f"Train a {CLASSIFIERS[classifier].title} for {escaped(target)}",
            on_click=train,
            args=(run, target, classifier),
            type="primary",
            help=f"{FOLDS}-fold cross-validation; takes some seconds and runs in the background.",
        )
        st.caption(
            "How well a model that learns from the release predicts original rows, beside one that learns from "
            "the original table and one that always guesses the most frequent value."
        )
        return
    title = CLASSIFIERS[classifier].title
    found = parts.later(f"Training a {title}", run, utility.classification, target, classifier, FOLDS)
    if found is not None:
        _scores(run, found, title)


def _scores(run: Run, found: Classification, title: str) -> None:
    outcomes: dict[str, tuple[Outcome, Any]] = {
        "trained on the original": (found.original, ORIGINAL),
        "trained on the release": (found.released, run.style),
        "most frequent value": (found.majority, MAJORITY),
    }
    target = escaped(found.target)
    f = [one.weighted_f for one, _ in outcomes.values()]
    help = "Harmonic mean of precision and recall of each value, weighted with its share: 1 is always right."
    beside = f"original table {f[0]:.2f}, guessing {f[2]:.2f}"
    parts.tiles([Tile(f"Weighted F for {target}", f"{f[1]:.2f}", help, beside)], 3)
    drawn = {
        "accuracy": f"Accuracy: share of held-out original rows whose '{target}' a {title} predicts right, "
        f"{FOLDS}-fold cross-validation.",
        "weighted F": "Weighted F: harmonic mean of precision and recall of each value, weighted with its share. It "
        "punishes a model that never predicts rare values.",
    }
    for place, (measure, caption) in zip(parts.beside(), drawn.items(), strict=True):
        scores = {
            name: (one.accuracy if measure == "accuracy" else one.weighted_f, look)
            for name, (one, look) in outcomes.items()
        }
        original, released, majority = (share_text(score) for score, _ in scores.values())
        with place:
            parts.chart(
                score_bars(scores, measure),
                f"utility-{measure.lower().replace(' ', '-')}",
                caption,
                f"{measure[0].upper()}{measure[1:]} {released} from the release, {original} from the original, "
                f"{majority} by guessing.",
            )
    _three_people(run, found)


def _three_people(run: Run, found: Classification) -> None:
    """Whose class the release makes a classifier miss, whose it leaves as it is, and whose it lets it see."""
    truth, domain = run.data.codes[found.target], run.data.domain[found.target]

    def predicted(row: int) -> str:
        codes, counts = np.unique(found.predicted[:, row], return_counts=True)
        told, original, true = (
            f"'{domain.text(int(code))}'" for code in (codes[np.argmax(counts)], found.from_original[row], truth[row])
        )
        times = f" in {counts.max()} of {counts.sum()} linkings" if len(codes) > 1 else ""
        return (
            f"The value of '{found.target}' is {true}; learned from this release it is predicted as {told}{times}, "
            f"and learned from the original table as {original}."
        )

    gained = (found.predicted == truth).mean(axis=0) - (found.from_original == truth)
    one_person.explain("predictable", values=gained, further=predicted)
