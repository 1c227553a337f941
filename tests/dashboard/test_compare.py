"""The page Compare: numbers, distributions and one person, run beside run."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

import pandas as pd
import pytest

from anoncore import attacks, privacy, utility
from anoncore.algorithms import Anatomy, Mondrian, Sabre
from anoncore.measures.criteria import CRITERIA, evaluate
from anoncore.requirements import KAnonymity
from dashboard import state
from dashboard.views.comparison import original
from dashboard.views.comparison.numbers import cell
from tests.dashboard.conftest import Visitor
from tests.dashboard.results import add_run, figure, table_of

T = TypeVar("T")


def _tab(visitor: Visitor, name: str) -> None:
    visitor.at.session_state["_compare"] = name
    visitor.at.session_state["tabs-compare"] = name


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


def test_one_run_is_not_enough(visitor: Visitor) -> None:
    add_run(visitor, Anatomy(l=2, seed=1))
    visitor.open("compare")
    assert "Two releases are needed" in visitor.texts()


def test_every_number_is_that_of_the_run_with_its_difference(visitor: Visitor) -> None:
    first = add_run(visitor, Mondrian(requirements=[KAnonymity(k=4)]))
    second = add_run(visitor, Anatomy(l=2, seed=1))
    visitor.open("compare")
    numbers, others = evaluate(first.release), evaluate(second.release)
    line = _when_there(visitor, lambda: _line(visitor, "Smallest group"))
    # At first against the table as it is.
    plain = {"k": first.data.frame.groupby(list(first.data.quasi_identifiers)).size().min()}
    assert line.tolist()[1:3] == [cell(CRITERIA["k"], one["k"], plain) for one in (numbers, others)]
    visitor.at.selectbox(key="compare-baseline").set_value(first.id)
    visitor.run()
    line = _when_there(visitor, lambda: _line(visitor, "Smallest group"))
    assert line.iloc[1] == f"{numbers['k']:,.0f}"
    assert line.iloc[2].startswith(f"{others['k']:,.0f} (")
    assert line.iloc[2].endswith("worse)")
    shares = {
        trace["name"]: dict(zip(trace["y"], trace["x"], strict=True)) for trace in figure(visitor, "compare-shares")
    }
    assert shares[second.label]["Largest belief"] == pytest.approx(others["largest-belief"])
    assert shares[first.label]["Information loss"] == pytest.approx(numbers["information-loss"])


def _line(visitor: Visitor, number: str) -> pd.Series:
    """The line of a number, once every run has its column; a run that is still being measured has none."""
    compared = len(visitor.at.multiselect(key="compare-runs").value)
    found = [table.value for table in visitor.at.table if "number" in table.value.columns]
    line = next(table.set_index("number", drop=False).loc[number] for table in found if number in list(table["number"]))
    assert len(line) == 2 + compared
    return line


def test_releases_of_one_name_are_told_apart(visitor: Visitor) -> None:
    for seed in (1, 2):
        add_run(visitor, Anatomy(l=2, seed=seed))
    visitor.open("compare")
    line = _when_there(visitor, lambda: _line(visitor, "Smallest group"))
    assert [name.replace("\\", "") for name in line.index] == [
        "number",
        "Anatomy (l = 2)",
        "Anatomy (l = 2) (2)",
        "meaning",
    ]
    assert visitor.at.multiselect(key="compare-runs").options == ["Anatomy (l = 2)", "Anatomy (l = 2) (2)"]


def test_what_is_compared_and_with_what_outlives_a_reload(visitor: Visitor) -> None:
    visitor.make("mondrian", "stack-and-deal").open("compare")
    first, second = visitor.here.runs
    visitor.at.selectbox(key="compare-baseline").set_value(first.id)
    visitor.run()
    again = type(visitor)(visitor.workspace).open("compare")
    assert again.at.selectbox(key="compare-baseline").value == first.id
    assert again.at.multiselect(key="compare-runs").value == [first.id, second.id]


def test_the_columns_of_the_board_are_compared_and_followed(visitor: Visitor) -> None:
    made = [add_run(visitor, Mondrian(requirements=[KAnonymity(k=k)])) for k in (2, 3, 4, 5, 6)]
    here = state._workspaces.get(visitor.workspace)
    columns = made[:4]
    here.show_on_board(columns)
    picker = visitor.open("compare").at.multiselect(key="compare-runs")
    assert picker.value == [run.id for run in columns]
    # Where a column shows another release, that one is compared in its place.
    visitor.at.multiselect(key="compare-runs").set_value([columns[0].id, columns[2].id])
    visitor.run()
    newer = replace(columns[2], id="newer")
    here.show_on_board([*columns[:2], newer, columns[3]])
    assert visitor.run().at.multiselect(key="compare-runs").value == [columns[0].id, newer.id]


def test_the_original_table_is_a_release_that_changes_nothing(visitor: Visitor) -> None:
    run = add_run(visitor, Mondrian(requirements=[KAnonymity(k=4)]))
    found = evaluate(original.of(run).release)
    assert found["largest-belief"] == 1.0
    assert found["information-loss"] == found["two-way-error"] == 0.0


def test_pages_that_look_closer_draw_all_columns_first(visitor: Visitor) -> None:
    runs = [add_run(visitor, Mondrian(requirements=[KAnonymity(k=4)])), add_run(visitor, Sabre(t=0.4))]
    most = {
        ("privacy", "belief"): lambda release: attacks.attribute_disclosure(release, "illness").belief.max(),
        ("privacy", "risk"): lambda release: attacks.reidentification(release).risk.max(),
        ("closeness", "distance"): lambda release: privacy.emd(release, "illness", "equal").max(),
        ("classes", "sizes"): lambda release: release.partition.sizes.max(),
    }
    for (page, name), expected in most.items():
        visitor.open(page)
        traces = figure(visitor, f"all-{name}")
        assert [trace["name"] for trace in traces] == [run.label for run in runs]
        for trace, run in zip(traces, runs, strict=True):
            assert max(trace["x"]) == pytest.approx(float(expected(run.release))), (page, run.label)
    traces = figure(visitor.open("utility"), "all-losses")
    for trace, run in zip(traces, runs, strict=True):
        assert list(trace["x"]) == pytest.approx(list(utility.information_loss(run.release).per_attribute.values()))
    visitor.at.session_state["_utility-tab"] = visitor.at.session_state["tabs-utility-tab"] = "Count queries"
    traces = _when_there(visitor.open("utility"), lambda: figure(visitor, "all-queries"))
    assert len(traces) == 2


def test_a_single_column_is_not_drawn_twice(visitor: Visitor) -> None:
    add_run(visitor, Mondrian(requirements=[KAnonymity(k=4)]))
    charts = visitor.open("classes").at.get("plotly_chart")
    assert not any("all-sizes" in chart.proto.id for chart in charts)


def test_the_same_person_is_followed_through_all_runs(visitor: Visitor) -> None:
    runs = [add_run(visitor, Mondrian(requirements=[KAnonymity(k=4)])), add_run(visitor, Anatomy(l=2, seed=1))]
    _tab(visitor, "One person")
    visitor.open("compare")
    visitor.at.number_input(key="compare-row").set_value(12)
    visitor.run()
    table = table_of(visitor, "attribute", "original")
    age = table.set_index("attribute").loc["age"]
    assert age["original"] == age[runs[1].label] == str(runs[0].data.frame["age"].iloc[11])
    for trace, run in zip(figure(visitor, "compare-beliefs")[1:], runs, strict=True):
        expected = attacks.sensitive_posterior(run.release, "illness")[11]
        assert sorted(trace["x"]) == pytest.approx(sorted(expected))


def test_a_difference_is_said_in_words() -> None:
    assert cell(CRITERIA["k"], 5.0, {"k": 3.0}) == "5 (+2, better)"
    assert cell(CRITERIA["information-loss"], 0.2, {"information-loss": 0.1}) == "20.0% (+10.0%, worse)"
    assert cell(CRITERIA["k"], 5.0, {"k": 5.0}) == "5 (equal)"
    assert cell(CRITERIA["k"], 5.0, None) == "5"
