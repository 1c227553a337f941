"""Figures of protection and cost hold the numbers they are given."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from anoncore import Exact, Generalized, Microdata, Partition
from anoncore.table.summary import summarize
from dashboard.charts.attacks import Curve, belief_histogram, curves, ranked, risk_bars, share_at_most
from dashboard.charts.layout import Axis
from dashboard.charts.maps import association_map
from dashboard.charts.palette import ORIGINAL, run_style
from dashboard.charts.utility import (
    distribution,
    loss_bars,
    loss_histogram,
    published_shares,
    score_bars,
    table_distribution,
)

STYLE = run_style(1)


def test_ranked_values_are_quantiles() -> None:
    values = np.random.default_rng(0).random(5000)
    shares, drawn = ranked(values)
    assert len(shares) == 200
    assert (drawn[0], drawn[-1]) == (values.min(), values.max())
    assert shares[-1] == 1
    assert all((values <= value).mean() == pytest.approx(share) for share, value in zip(shares, drawn, strict=True))
    assert ranked(np.array([3.0, 1.0]))[1].tolist() == [1.0, 3.0]


def test_distance_curve_has_the_line_of_t() -> None:
    figure = curves({"distance": (Curve.of(np.array([0.1, 0.3, 0.2])), STYLE)}, "EMD", ".2f", asked=0.25)
    assert list(figure.data[0].x) == [0.1, 0.1, 0.2, 0.3]
    assert figure.data[0].y == pytest.approx([0, 1 / 3, 2 / 3, 1])
    assert list(figure.data[1].x) == [0.25, 0.25]
    assert figure.data[0].line.dash == STYLE.dash
    assert len(curves({"distance": (Curve.of(np.array([0.1])), STYLE)}, "EMD", ".2f").data) == 1
    assert share_at_most(np.array([0.1, 0.25, 0.3]), 0.25) == pytest.approx(2 / 3)


def test_beliefs_are_shares_of_rows_beside_the_guess() -> None:
    figure = belief_histogram(np.array([0.5, 0.5, 0.25, 1.0]), 0.3, STYLE)
    drawn = {round(x, 2): y for x, y in zip(figure.data[0].x, figure.data[0].y, strict=True) if y}
    assert drawn == {0.26: 0.25, 0.5: 0.5, 0.98: 0.25}
    assert set(figure.data[1].x) == {0.3}


def test_risks_stand_beside_the_original() -> None:
    figure = risk_bars(["worst", "mean"], np.array([0.1, 0.05]), np.array([1.0, 0.6]), STYLE)
    assert list(figure.data[0].x) == [1.0, 0.6]
    assert list(figure.data[1].x) == [0.1, 0.05]
    assert figure.data[0].marker.color == ORIGINAL


def test_loss_bars_are_sorted() -> None:
    figure = loss_bars({"age": 0.1, "zip": 0.5, "sex": 0.3}, 0.3, STYLE)
    assert list(figure.data[0].y) == ["zip", "sex", "age"]
    assert list(figure.data[0].x) == [0.5, 0.3, 0.1]
    assert set(figure.data[1].x) == {0.3}


def test_loss_histogram_weighs_groups_with_their_rows() -> None:
    figure = loss_histogram(np.array([0.0, 0.5, 1.0]), np.array([5.0, 3.0, 2.0]), STYLE, bins=2)
    assert list(figure.data[0].y) == pytest.approx([0.5, 0.5])
    assert figure.data[0].customdata[:, 0].tolist() == [1, 2]
    exact = loss_histogram(np.zeros(3), np.ones(3), STYLE, bins=2)
    assert sum(exact.data[0].y) == pytest.approx(1)


@pytest.mark.parametrize("kind", ["numeric", "nominal"])
def test_published_shares_spread_regions_evenly(kind: str) -> None:
    frame = pd.DataFrame({"a": [1, 2, 3, 4, 4, 4] if kind == "numeric" else list("abcddd")})
    data = Microdata(frame, {"a": "insensitive"}, kinds={"a": kind})
    domain, codes = data.domain["a"], data.codes["a"]
    partition = Partition(np.array([0, 0, 0, 1, 1, 1], dtype=np.int32))
    axis = Axis.of(domain)
    exact = published_shares(Exact(domain, partition, codes), axis)
    assert exact.tolist() == pytest.approx(frame["a"].value_counts(normalize=True, sort=False).sort_index().tolist())
    spread = published_shares(Generalized.of_rows(domain, partition, codes), axis)
    assert spread == pytest.approx([1 / 6, 1 / 6, 1 / 6, 1 / 2])
    figure = distribution(axis, exact, spread, STYLE, ("original", "release"))
    assert list(figure.data[0].y) == pytest.approx(exact)
    assert list(figure.data[1].y) == pytest.approx(spread)


def test_association_maps_hide_the_diagonal() -> None:
    values = np.array([[1.0, 0.2], [0.2, 1.0]])
    frame = pd.DataFrame(values, ["a", "b"], ["a", "b"])
    cells = association_map(frame, (), "phi", reach=1.0).data[0]
    assert np.isnan(cells.z[0, 0])
    assert cells.customdata[0, 1] == pytest.approx(0.2)
    assert cells.z[0, 1] == pytest.approx(0.2**0.5)
    assert (cells.zmin, cells.zmax) == (0, 1)
    lost = association_map(frame - 0.4, (), "phi", difference=True).data[0]
    assert (lost.zmin, lost.zmax) == pytest.approx((-0.2, 0.2))
    assert lost.z[0, 1] == pytest.approx(-0.2)
    assert values[0, 0] == 1.0


def test_scores_carry_their_values() -> None:
    (bars,) = score_bars({"original": (0.8, ORIGINAL), "release": (0.75, STYLE)}, "accuracy").data
    assert list(bars.y) == ["original", "release"]
    assert list(bars.x) == [0.8, 0.75]
    assert bars.texttemplate == "%{x:.1%}"
    assert list(bars.marker.color) == [ORIGINAL, STYLE.color]


def test_labels_of_days_have_room_and_none_is_written_over_another() -> None:
    days = pd.Series(pd.date_range("1924-07-15", periods=900, freq="40D"), name="born")
    (summary,) = summarize(days.to_frame())
    # Two labels of 24 letters are all that half a page holds; short ones have seven.
    assert table_distribution(summary).layout.xaxis.nticks == 2
    (ages,) = summarize(pd.DataFrame({"age": np.arange(900) % 80}))
    assert table_distribution(ages).layout.xaxis.nticks == 7
    domain = Microdata(days.where(days.index % 9 > 0).to_frame(), {"born": "quasi-identifier"}).domain["born"]
    axis = Axis.of(domain)
    assert axis.tick_texts[-1] == "(missing)"
    assert axis.tick_values[-1] - axis.tick_values[-2] > (axis.edges[-1] - axis.edges[0]) / 12
    shares = np.full(axis.n_bins, 1 / axis.n_bins)
    drawn = distribution(axis, shares, shares, STYLE, ("original", "release"))
    assert drawn.layout.xaxis.tickangle == -40
    assert drawn.layout.margin.l > 100
