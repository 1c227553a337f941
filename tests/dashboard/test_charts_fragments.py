"""Figures of fragments hold the numbers they are given."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go
import pytest

from anoncore import privacy
from anoncore.algorithms import VerticalFragmentation
from anoncore.attacks import JoinLikelihood, join_likelihood
from dashboard.charts.attacks import likelihood_histogram
from dashboard.charts.maps import NOTHING, SAFE, UNSAFE, join_map, level_texts
from dashboard.charts.palette import run_style
from tests.privacy.test_join_pairs import BY_HAND, rare_classes

STYLE = run_style(2)
RELEASE = VerticalFragmentation(k=6, seed=0).anonymize(rare_classes(3))


def test_joins_are_told_apart_before_and_after() -> None:
    found = privacy.worst_joins(BY_HAND)
    before, after = (join_map(found, published, ("F1", "F2")) for published in (False, True))
    cells = before.data[0]
    # Before: 1, 4, 6 rows and none, 8, 4, of which 1 is below k = 2; classes are numbered from 1, the worst first.
    assert cells.z.tolist() == [[UNSAFE, SAFE, SAFE], [NOTHING, SAFE, SAFE]]
    assert list(cells.y) == ["2", "1"]
    assert list(cells.x) == ["3", "1", "2"]
    assert cells.customdata[0].tolist() == ["1 joined row", "4 joined rows", "6 joined rows"]
    assert cells.customdata[1][0] == "no common class value"
    assert after.data[0].z.tolist() == [[SAFE, SAFE, SAFE], [NOTHING, SAFE, SAFE]]
    assert {trace.name for trace in before.data[1:]} == {"too few joined rows", "safe", "nothing in common"}


def test_eta_is_told_as_such() -> None:
    assert level_texts(np.array([[np.nan, 0.25, 0.0]]), by_eta=True).tolist() == [
        ["no common class value", "eta 0.25", "eta 0"]
    ]


def drawn(found: JoinLikelihood) -> go.Figure:
    return likelihood_histogram(found.likelihood, float(found.mean.baseline or 0), STYLE, "likelihood")


def test_everybody_with_a_match_is_in_the_histogram() -> None:
    found = join_likelihood(RELEASE)
    bars, line = drawn(found).data
    assert bars.y.sum() == pytest.approx(1 - float(found.unmatched))
    assert 10 ** bars.x[0] >= found.likelihood[found.likelihood > 0].min() * 0.5
    assert 10 ** line.x[0] == pytest.approx(found.mean.baseline)


def test_one_likelihood_for_all_still_has_a_width() -> None:
    # The quasi-identifiers are in one class each, so every person has the same.
    found = join_likelihood(VerticalFragmentation(k=120, seed=0).anonymize(rare_classes(0)))
    assert len(set(found.likelihood.tolist())) < 10
    figure = drawn(found)
    assert figure.data[0].y.sum() == pytest.approx(1 - float(found.unmatched))
    assert figure.layout.xaxis.range[0] < figure.layout.xaxis.range[1]
