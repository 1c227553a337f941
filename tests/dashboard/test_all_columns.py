"""Closer looks at all columns of the board in one picture, and at one person in all of them."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TypeVar

import pytest

from anoncore import attacks, privacy, utility
from anoncore.algorithms import Anatomy, Mondrian, Sabre
from anoncore.base.texts import share_text
from anoncore.release.unchanged import unchanged
from anoncore.requirements import KAnonymity
from anoncore.utility.classifiers import CLASSIFIERS
from dashboard.charts.palette import run_style
from dashboard.charts.utility import attribute_bars
from dashboard.elements import parts
from dashboard.session import compute
from dashboard.tasks import jobs
from tests.dashboard.conftest import Visitor
from tests.dashboard.results import ROLES, add_run, figure, layout, metrics, people, table_of

T = TypeVar("T")


def _when_there(visitor: Visitor, probe: Callable[[], T], seconds: float = 120) -> T:
    end = time.monotonic() + seconds
    while True:
        try:
            return probe()
        except (AssertionError, StopIteration):
            if time.monotonic() > end:
                raise
            time.sleep(0.1)
            visitor.run()


@pytest.mark.slow
def test_pages_that_look_closer_draw_all_columns_first(visitor: Visitor) -> None:
    runs = [add_run(visitor, Mondrian(requirements=[KAnonymity(k=4)])), add_run(visitor, Sabre(t=0.4))]
    most = {
        ("privacy", "belief"): lambda release: attacks.attribute_disclosure(release, "illness").belief.max(),
        ("privacy", "risk"): lambda release: attacks.reidentification(release).risk.max(),
        ("closeness", "distance"): lambda release: privacy.emd(release, "illness", "equal").max(),
        ("groups", "sizes"): lambda release: release.partition.sizes.max(),
    }
    for (page, name), expected in most.items():
        visitor.open(page)
        traces = figure(visitor, f"all-{name}")
        assert [trace["name"] for trace in traces] == ["Mondrian", "SABRE"]
        for trace, run in zip(traces, runs, strict=True):
            assert max(trace["x"]) == pytest.approx(float(expected(run.release))), (page, run.label)
    for trace, run in zip(figure(visitor.open("utility"), "all-pairs"), runs, strict=True):
        pairs = utility.two_way_error(run.release).pairs
        told = dict(zip(trace["y"], trace["x"], strict=True))
        assert told["age × illness"] == pytest.approx(pairs.loc["age", "illness"])
        assert len(told) == len(pairs) * (len(pairs) - 1) / 2
    # What the cell of the board says comes first, what information loss says after it.
    charts = [chart.proto.id for chart in visitor.at.get("plotly_chart")]
    assert "all-pairs" in charts[0]
    assert "all-losses" in charts[1]
    traces = figure(visitor.open("utility"), "all-losses")
    for trace, run in zip(traces, runs, strict=True):
        assert list(trace["x"]) == pytest.approx(list(utility.information_loss(run.release).per_attribute.values()))
    visitor.at.session_state["_utility-tab"] = visitor.at.session_state["tabs-utility-tab"] = "Count queries"
    traces = _when_there(visitor.open("utility"), lambda: figure(visitor, "all-queries"))
    assert len(traces) == 2
    visitor.at.session_state["_utility-tab"] = visitor.at.session_state["tabs-utility-tab"] = "Predictions"
    *traces, original = _when_there(visitor.open("utility"), lambda: figure(visitor, "all-scores"))
    assert original["name"] == "original table"
    target = next(one.value for one in visitor.at.selectbox if one.key == "utility-target")
    for trace, run in zip(traces, runs, strict=True):
        found = [utility.classification_estimate(run.release, target, name, 10) for name in CLASSIFIERS]
        assert list(trace["x"]) == pytest.approx([one.value for one in found])
        assert list(trace["error_x"]["arrayminus"]) == pytest.approx([one.value - one.low for one in found])
        assert list(original["x"]) == pytest.approx([one.original for one in found])


def test_the_sizes_of_groups_are_counted_in_one_word(visitor: Visitor) -> None:
    """Rows where every row is a person, and people where a person may have several: in the chart as in the tiles."""
    visits, roles = people().assign(patient=[f"p{row // 2}" for row in range(240)]), {**ROLES, "patient": "identifier"}
    for frame, tags, unit, counted in ((people(), ROLES, None, "rows"), (visits, roles, "patient", "people")):
        for k in (2, 4):
            add_run(visitor, Mondrian(requirements=[KAnonymity(k=k)]), frame, tags, unit=unit)
        visitor.open("groups")
        axis = layout(visitor, "all-sizes")["xaxis"]["title"]["text"]
        assert axis == f"{counted} in the smallest group of each"
        assert f"how many of all {counted} have at most" in visitor.texts()
        assert metrics(visitor)["Smallest"].endswith(f" {counted}")


@pytest.mark.slow
def test_curves_of_a_large_table_follow_the_page(visitor: Visitor, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are the same, and are measured although both places of long work are taken."""
    add_run(visitor, Mondrian(requirements=[KAnonymity(k=4)]))
    add_run(visitor, Sabre(t=0.4))
    at_once = figure(visitor.open("privacy"), "all-belief")
    go_on = threading.Event()
    long = [jobs.start(lambda _: go_on.wait(180), "long", visitor.here.id) for _ in range(jobs.MAX_WORKERS)]
    monkeypatch.setattr(parts, "LARGE", 1)
    for run in visitor.here.runs:
        compute.forget(run)
    later = _when_there(visitor.open("privacy"), lambda: figure(visitor, "all-belief"))
    assert [trace["name"] for trace in later] == [trace["name"] for trace in at_once]
    assert all((one["x"] == other["x"]).all() for one, other in zip(at_once, later, strict=True))
    assert all(job.running for job in long)
    go_on.set()


def test_columns_whose_names_begin_alike_all_have_bars(visitor: Visitor) -> None:
    """Names of runs are cut in a legend; two that were cut to the same were one column of the picture."""
    asked = [KAnonymity(k=4)]
    add_run(visitor, Mondrian(requirements=asked))
    add_run(visitor, Mondrian(requirements=asked, split="loss"))
    add_run(visitor, Mondrian(requirements=asked, split="loss", refine=True))
    names = ["Mondrian", "Mondrian: split loss", "Mondrian: split loss, refine yes"]
    assert [trace["name"] for trace in figure(visitor.open("groups"), "all-sizes")] == [
        *names[:2],
        "Mondrian: split loss, ref…",
    ]
    assert [trace["name"] for trace in figure(visitor.open("utility"), "all-losses")] == [
        *names[:2],
        "Mondrian: split loss, ref…",
    ]
    long = {f"A name that is longer than a legend {end}": ({"age": 0.5}, run_style(0)) for end in "ab"}
    assert len({trace.name for trace in attribute_bars(long).data}) == 2


def test_a_single_column_is_not_drawn_twice(visitor: Visitor) -> None:
    add_run(visitor, Mondrian(requirements=[KAnonymity(k=4)]))
    charts = visitor.open("groups").at.get("plotly_chart")
    assert not any("all-sizes" in chart.proto.id for chart in charts)


def test_the_same_person_is_followed_through_all_runs(visitor: Visitor) -> None:
    runs = [add_run(visitor, Mondrian(requirements=[KAnonymity(k=4)])), add_run(visitor, Anatomy(l=2, seed=1))]
    visitor.open("one person")
    visitor.at.number_input(key="person-row").set_value(12)
    visitor.run()
    table = table_of(visitor, "attribute", "original")
    age = table.set_index("attribute").loc["age"]
    assert age["original"] == age[runs[1].label] == str(runs[0].data.frame["age"].iloc[11])
    for trace, run in zip(figure(visitor, "person-beliefs")[1:], runs, strict=True):
        expected = attacks.sensitive_posterior(run.release, "illness")[11]
        assert sorted(trace["x"]) == pytest.approx(sorted(expected))
    by_label = table.set_index("attribute")
    for run in runs:
        risk = attacks.individual_risk(run.release).risk[11]
        assert by_label.loc["found with", run.label] == share_text(float(risk))
    alone = _when_there(visitor, lambda: table_of(visitor, "release", "alone by")).set_index("release")
    releases = {"original": unchanged(runs[0].data), **{run.label: run.release for run in runs}}
    for name, release in releases.items():
        expected = attacks.special_uniques(release)
        told = "; ".join(" + ".join(names) for names in expected.of_row(11)) or "no three attributes"
        assert (alone.loc[name, "alone by"], alone.loc[name, "SUDA score"]) == (told, expected.score[11])


def test_releases_of_one_name_are_told_apart(visitor: Visitor) -> None:
    for seed in (1, 2):
        add_run(visitor, Anatomy(l=2, seed=seed))
    table = table_of(visitor.open("one person"), "attribute", "original")
    assert list(table)[2:] == ["Anatomy (l = 2)", "Anatomy (l = 2) (2)"]


def test_the_picture_of_sizes_says_that_buckets_hide_nobody(visitor: Visitor) -> None:
    add_run(visitor, Mondrian(requirements=[KAnonymity(k=4)]))
    add_run(visitor, Anatomy(l=2, seed=1))
    assert "The groups of Anatomy hide" in visitor.open("groups").texts()


def test_how_surely_a_row_is_found_is_not_said_where_one_person_may_have_several(visitor: Visitor) -> None:
    frame = people().assign(name=[f"Person {number // 2}" for number in range(240)])
    run = add_run(visitor, Mondrian(requirements=[KAnonymity(k=4)]), frame, unit="name")
    assert run.data.people is not None
    table = table_of(visitor.open("one person"), "attribute", "original").set_index("attribute")
    assert table.loc["found with", run.label] == "not measured"
