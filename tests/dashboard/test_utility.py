"""The page Utility shows the measures' own numbers and computes only what is open."""

from __future__ import annotations

import time

import numpy as np
import pytest

from anoncore import utility
from anoncore.algorithms import Algorithm, Anatomy, Mondrian
from anoncore.base.texts import share_text
from anoncore.requirements import KAnonymity
from dashboard.closer.utility import compact
from dashboard.session import compute
from dashboard.session.wishes import Wishes
from tests.dashboard.conftest import Visitor
from tests.dashboard.results import ROLES, add_run, figure, metrics, people

ALGORITHM = Mondrian(requirements=(KAnonymity(k=6),))
TABS = ("Information loss", "Distributions", "Associations", "Count queries", "Predictions")


def _tab(visitor: Visitor, name: str) -> Visitor:
    visitor.at.session_state["_utility-tab"] = name
    visitor.at.session_state["tabs-utility-tab"] = name
    return visitor.run()


def _wait(visitor: Visitor, chart: str, seconds: float = 60) -> list[dict[str, object]]:
    end = time.monotonic() + seconds
    while True:
        try:
            return figure(visitor, chart)
        except AssertionError:
            if time.monotonic() > end:
                raise
            time.sleep(0.1)
            visitor.run()


def test_loss_is_that_of_the_release(visitor: Visitor) -> None:
    run = add_run(visitor, ALGORITHM)
    visitor.open("utility")
    loss = utility.information_loss(run.release)
    found = metrics(visitor)
    assert found["Information loss"] == share_text(loss)
    assert found["Average size"] == f"{run.data.n_rows / run.release.partition.n_groups:,.1f} rows"
    assert found["Discernibility"] == f"{np.square(run.release.partition.sizes).sum():,}"
    bars, mean = figure(visitor, "utility-loss-attributes")
    assert dict(zip(bars["customdata"], bars["x"], strict=True)) == pytest.approx(loss.per_attribute)
    assert mean["x"] == pytest.approx([loss] * len(mean["x"]))
    assert sum(figure(visitor, "utility-loss-classes")[0]["y"]) == pytest.approx(1)


def test_only_the_open_tab_is_computed(visitor: Visitor, monkeypatch: pytest.MonkeyPatch) -> None:
    add_run(visitor, ALGORITHM)
    asked: list[str] = []
    cached = compute.cached
    monkeypatch.setattr(compute, "cached", lambda name, *rest: asked.append(name) or cached(name, *rest))
    visitor.open("utility")
    assert "utility.association_error" not in asked
    _tab(visitor, "Associations")
    assert "utility.association_error" in asked
    visitor.open("privacy").open("utility")
    figure(visitor, "utility-associations")


def test_distributions_before_and_after(visitor: Visitor) -> None:
    run = add_run(visitor, ALGORITHM)
    _tab(visitor.open("utility"), "Distributions")
    visitor.at.selectbox(key="utility-attribute").set_value("sex")
    visitor.run()
    before, after = figure(visitor, "utility-distribution")
    shares = run.data.frame["sex"].value_counts(normalize=True)
    assert dict(zip(before["x"], before["y"], strict=True)) == pytest.approx(shares.to_dict())
    assert sum(after["y"]) == pytest.approx(1)


def test_associations_before_after_and_changed(visitor: Visitor) -> None:
    run = add_run(visitor, ALGORITHM)
    _tab(visitor.open("utility"), "Associations")
    error = utility.association_error(run.release)
    assert metrics(visitor)["Association error"] == f"{error:.4f}"
    cells = figure(visitor, "utility-associations")[0]["customdata"]
    off = ~np.eye(len(cells), dtype=bool)
    assert cells[off] == pytest.approx(error.difference.to_numpy()[off])
    visitor.at.selectbox(key="utility-map").set_value("Original")
    visitor.run()
    assert figure(visitor, "utility-associations")[0]["customdata"][off] == pytest.approx(
        error.original.to_numpy()[off]
    )


def test_count_queries_arrive(visitor: Visitor) -> None:
    run = add_run(visitor, ALGORITHM)
    _tab(visitor.open("utility"), "Count queries")
    _wait(visitor, "utility-queries")
    error = utility.query_error(run.release, 10_000)
    assert metrics(visitor)["Median error"] == share_text(error.median)


def test_a_classifier_is_trained_on_demand_and_kept(visitor: Visitor) -> None:
    run = add_run(visitor, ALGORITHM)
    _tab(visitor.open("utility"), "Predictions")
    # What the board predicts, which is no secret.
    assert visitor.at.selectbox(key="utility-target").value == Wishes().target_of(run.data) != "illness"
    visitor.at.selectbox(key="utility-target").set_value("illness")
    visitor.run()
    entropy = utility.conditional_entropy(run.release, "illness")
    assert metrics(visitor)["Conditional entropy"] == f"{entropy:.3f} bits"
    visitor.at.selectbox(key="utility-classifier").set_value("naive-bayes")
    visitor.run().press("Train a naive Bayes for illness")
    bars = _wait(visitor, "utility-accuracy")
    found = utility.classification(run.release, "illness", "naive-bayes", 10)
    accuracies = [found.original.accuracy, found.accuracy, found.majority.accuracy]
    assert list(bars[0]["x"]) == pytest.approx(accuracies)
    visitor.open("privacy").open("utility")
    figure(visitor, "utility-weighted-f")


def test_a_numeric_target_has_an_error_and_a_sentence_where_no_classifier_fits(visitor: Visitor) -> None:
    frame = people(240)
    frame["visits"] = np.arange(240)
    run = add_run(visitor, ALGORITHM, frame, name="many.csv")
    _tab(visitor.open("utility"), "Predictions")
    visitor.at.selectbox(key="utility-target").set_value("visits")
    visitor.run()
    assert metrics(visitor)["RMSE"] == f"{utility.rmse(run.release, 'visits'):,.4g}"
    visitor.press("Train a decision tree for visits")
    end = time.monotonic() + 30
    while not visitor.warnings and time.monotonic() < end:
        visitor.run()
    assert "choose a target of at most 100" in visitor.warnings[0]


@pytest.mark.slow
@pytest.mark.parametrize("tab", TABS)
@pytest.mark.parametrize("algorithm", [ALGORITHM, Anatomy(l=2)], ids=["generalized", "bucketized"])
def test_every_tab_is_drawn(visitor: Visitor, algorithm: Algorithm, tab: str) -> None:
    add_run(visitor, algorithm)
    _tab(visitor.open("utility"), tab)


@pytest.mark.slow
@pytest.mark.parametrize("tab", TABS)
def test_without_sensitive_attribute_every_tab_has_a_sentence_at_least(visitor: Visitor, tab: str) -> None:
    add_run(visitor, ALGORITHM, roles={**ROLES, "illness": "insensitive"})
    _tab(visitor.open("utility"), tab)


def test_large_numbers_are_short() -> None:
    assert [compact(number) for number in (950, 12_000, 1_250_000, 3e9, 1e12)] == [
        "950",
        "12 k",
        "1.25 M",
        "3 G",
        "1 T",
    ]
