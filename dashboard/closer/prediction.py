"""What can still be predicted from the release: entropy and error inside the groups, trained classifiers."""

from __future__ import annotations

import streamlit as st

from anoncore import Kind, utility
from anoncore.base.texts import share_text
from anoncore.utility import Classification
from anoncore.utility.classifiers import CLASSIFIERS
from dashboard.charts.palette import ORIGINAL, RunStyle, run_style
from dashboard.charts.utility import score_bars
from dashboard.elements import parts
from dashboard.elements.parts import Tile
from dashboard.session import state
from dashboard.session.state import Run

FOLDS = 10
MAJORITY = "#B9B9B9"


def draw(run: Run) -> None:
    """Choose a target, see what the groups tell about it, train a classifier."""
    names = list(run.release.attributes)
    usual = next((name for name in run.data.sensitive if name in names), names[-1])
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
    if not run.release.is_synthetic:
        _homogeneity(run, target)


def train(run: Run, target: str, classifier: str) -> None:
    """Let a classifier be trained for this target when the page is drawn."""
    name = f"trained-{run.id}"
    asked = state.session(name, ())
    if (target, classifier) not in asked:
        state.set_session(name, (*asked, (target, classifier)))


def _homogeneity(run: Run, target: str) -> None:
    """How alike the rows of a group are in the target."""
    row = []
    entropy = parts.attempt("utility.conditional_entropy", run, utility.conditional_entropy, target)
    if entropy is not None:
        row.append(
            Tile(
                entropy.title,
                f"{entropy:.3f} bits",
                f"{parts.escaped(entropy.meaning)} 0: the {run.release.group_word} tells it.",
                f"whole table: {entropy.baseline:.3f} bits",
            )
        )
    if run.data.domain[target].kind is Kind.NUMERIC:
        error = parts.attempt("utility.rmse", run, utility.rmse, target)
        if error is not None:
            row.append(
                Tile(error.label, f"{error:,.4g}", parts.escaped(error.meaning), f"whole table: {error.baseline:,.4g}")
            )
    if row:
        parts.tiles(row, 3)


def _classifier(run: Run, target: str, classifier: str) -> None:
    """Train on demand, in the background; a result stays for the run."""
    if (target, classifier) not in state.session(f"trained-{run.id}", ()):
        st.button(
            f"Train a {CLASSIFIERS[classifier].title} for {parts.escaped(target)}",
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
    found = parts.later(
        f"Training a {CLASSIFIERS[classifier].title}",
        "utility.classification",
        run,
        utility.classification,
        target,
        classifier,
        FOLDS,
    )
    if found is not None:
        _scores(run, found, classifier)


def _scores(run: Run, found: Classification, classifier: str) -> None:
    title = CLASSIFIERS[classifier].title
    names = ["trained on the original", "trained on the release", "most frequent value"]
    colors: list[RunStyle | str] = [ORIGINAL, run_style(run.color_index), MAJORITY]
    outcomes = [found.original, found.released, found.majority]
    target = parts.escaped(found.target)
    f = [one.weighted_f for one in outcomes]
    help = "Harmonic mean of precision and recall of each value, weighted with its share: 1 is always right."
    beside = f"original table {f[0]:.2f}, guessing {f[2]:.2f}"
    parts.tiles([Tile(f"Weighted F for {target}", f"{f[1]:.2f}", help, beside)], 3)
    left, right = st.columns(2, gap="medium")
    with left:
        parts.chart(
            score_bars(names, [one.accuracy for one in outcomes], colors, "accuracy"),
            key="utility-accuracy",
            caption=f"Accuracy: share of held-out original rows whose '{target}' a {title} predicts right, "
            f"{FOLDS}-fold cross-validation.",
            alt=f"Accuracy {share_text(found.released.accuracy)} from the release, "
            f"{share_text(found.original.accuracy)} from the original, "
            f"{share_text(found.majority.accuracy)} by guessing.",
        )
    with right:
        parts.chart(
            score_bars(names, [one.weighted_f for one in outcomes], colors, "weighted F"),
            key="utility-weighted-f",
            caption="Weighted F: harmonic mean of precision and recall of each value, weighted with its share. It "
            "punishes a model that never predicts rare values.",
            alt=f"Weighted F {share_text(found.released.weighted_f)} from the release, "
            f"{share_text(found.original.weighted_f)} from the original, "
            f"{share_text(found.majority.weighted_f)} by guessing.",
        )
