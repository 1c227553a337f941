"""Groups of attributes: the proposal is shown and can be changed, and the chart shows what it was made from."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pandas as pd
import pytest

from anoncore.algorithms import RandomBuckets, Slicing, VerticalFragmentation
from dashboard.charts.maps import (
    MOST_LABELS,
    MOST_UPRIGHT,
    association_map,
    ordered_names,
    pair_values,
    strongest_pair,
)
from dashboard.elements.attribute_groups import ALSO, NAME, PLACE, editor_base, fold
from dashboard.session import state
from dashboard.session.workspace import Workspace
from tests.dashboard.conftest import Visitor
from tests.dashboard.results import figure

NAMES = ["age", "sex", "town", "illness"]
GROUPS = (("age", "town"), ("sex", "illness"))


def _here(visitor: Visitor) -> Workspace:
    return state._workspaces.get(visitor.workspace)


def _entered(visitor: Visitor, kind: Any) -> dict[str, Any]:
    return _here(visitor).forms[f"board-c1-{kind.name}"]


def _open(visitor: Visitor, kind: Any, field: str) -> Visitor:
    visitor.open("board").ask(kind.name, l=2)
    visitor.at.session_state["_board_dialog"] = ("method", "c1")
    visitor.run()
    assert not any("association" in chart.proto.id for chart in visitor.at.get("plotly_chart"))
    visitor.at.session_state[f"board-c1-{kind.name}.{field}.panel"] = True
    return visitor.run()


def _shown(visitor: Visitor) -> pd.DataFrame:
    return next(table.value for table in visitor.at.dataframe if PLACE in table.value.columns)


def test_the_base_has_a_line_per_attribute_group_by_group() -> None:
    base = editor_base((("age", "town"), ("town", "illness")), NAMES, "column")
    assert base[NAME].tolist() == ["age", "town", "illness", "sex"]
    assert base[PLACE].fillna("").tolist() == ["column 1", "column 1", "column 2", ""]
    assert base[ALSO].tolist() == [[], ["column 2"], [], []]


def test_edits_move_share_and_take_out_attributes() -> None:
    base = editor_base(GROUPS, NAMES, "column")
    assert base[NAME].tolist() == ["age", "town", "sex", "illness"]
    assert fold(base, {}, NAMES, "column") == GROUPS
    assert fold(base, {2: {PLACE: "column 1"}}, NAMES, "column") == (("age", "sex", "town"), ("illness",))
    assert fold(base, {"0": {PLACE: "column 10"}}, NAMES, "column") == (("town",), ("sex", "illness"), ("age",))
    assert fold(base, {0: {ALSO: ["column 2", "column 3"]}}, NAMES, "column") == (
        ("age", "town"),
        ("age", "sex", "illness"),
        ("age",),
    )
    assert fold(base, {0: {PLACE: None}}, NAMES, "column") == (("town",), ("sex", "illness"))
    everything = {0: {PLACE: "column 2"}, 1: {PLACE: "column 2"}}
    assert fold(base, everything, NAMES, "column") == (("age", "sex", "town", "illness"),)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "field", "word"),
    [
        (Slicing, "attribute_columns", "column"),
        (RandomBuckets, "attribute_columns", "column"),
        (VerticalFragmentation, "attribute_fragments", "fragment"),
    ],
)
def test_the_proposal_is_shown_and_follows_the_other_fields(visitor: Visitor, kind: Any, field: str, word: str) -> None:
    _open(visitor, kind, field)
    data = state._microdata.get(_here(visitor).table, _here(visitor).tags)
    count = "columns" if word == "column" else "fragments"
    for number in (2, 3):
        visitor.at.number_input(key=f"board-c1-{kind.name}.{count}").set_value(number)
        visitor.run()
        shown = _shown(visitor)
        groups = kind(**{count: number}).proposed_groups(data).groups
        assert len(groups) == number
        assert dict(zip(shown[NAME], shown[PLACE], strict=True)) == {
            name: f"{word} {place}" for place, group in enumerate(groups, 1) for name in group
        }
        assert _entered(visitor, kind)[field] is None
    assert f"The {word}s that the method chooses" in visitor.texts()
    cells = figure(visitor, "attribute-groups-map")[0]
    assert list(cells["x"])[: len(groups[0])] == list(groups[0])
    assert ALSO in shown.columns


@pytest.mark.slow
def test_groups_by_hand_are_run_and_can_be_dropped(visitor: Visitor) -> None:
    _open(visitor, Slicing, "attribute_columns")
    names = list(_shown(visitor)[NAME])
    groups = (tuple(name for name in names if name != "diagnosis"), ("diagnosis",))
    _entered(visitor, Slicing)["attribute_columns"] = groups
    visitor.run()
    assert "Columns by hand: 2 in use." in visitor.texts()
    assert _shown(visitor).set_index(NAME).loc["diagnosis", PLACE] == "column 2"
    visitor.press("Use for this release")
    end = time.monotonic() + 60
    while not _here(visitor).runs:
        assert time.monotonic() < end
        visitor.run()
    run = _here(visitor).runs[-1]
    assert set(run.release.fragments[1].attributes) == {"diagnosis"}
    visitor.at.session_state["_board_dialog"] = ("method", "c1")
    visitor.run()
    visitor.at.session_state["board-c1-slicing.attribute_columns.panel"] = True
    visitor.run()
    visitor.press("Use the proposal again")
    assert _entered(visitor, Slicing)["attribute_columns"] is None
    assert "Columns by hand: 2 in use." not in visitor.texts()


@pytest.mark.slow
def test_what_another_table_lacks_is_forgotten(visitor: Visitor) -> None:
    _open(visitor, Slicing, "attribute_columns")
    _entered(visitor, Slicing)["attribute_columns"] = (("age", "shoe size"), ("diagnosis",))
    visitor.run()
    assert _entered(visitor, Slicing)["attribute_columns"] is None
    assert visitor.errors == []


@pytest.mark.slow
def test_a_proposal_that_fails_says_why(visitor: Visitor) -> None:
    _open(visitor, Slicing, "attribute_columns")
    visitor.at.number_input(key="board-c1-slicing.columns").set_value(40)
    visitor.run()
    assert any("40 columns need as many attributes" in warning for warning in visitor.warnings)


def _association(n: int) -> pd.DataFrame:
    names = [f"a{number}" for number in range(n)]
    values = np.random.default_rng(1).uniform(0, 0.6, (n, n))
    values = (values + values.T) / 2
    np.fill_diagonal(values, 1.0)
    return pd.DataFrame(values, index=names, columns=names)


def test_the_map_orders_pairs_by_group_and_leaves_the_diagonal_out() -> None:
    found = _association(4)
    groups = [("a2", "a0"), ("a0", "a3")]
    assert ordered_names(found, groups) == ["a2", "a0", "a0", "a3", "a1"]
    values = pair_values(found, ["a2", "a0", "a0"])
    assert values[0, 1] == found.loc["a2", "a0"]
    assert np.isnan(values[[0, 1, 2, 1], [0, 1, 2, 2]]).all()
    drawn = association_map(found, groups, "phi squared", "column", ("a2", None))
    cells = drawn.data[0]
    assert list(cells.x) == ["a2", "a0", "a0 (2)", "a3", "a1"]
    assert np.allclose(cells.z, np.sqrt(cells.customdata), equal_nan=True)
    assert [(shape.x0, shape.x1) for shape in drawn.layout.shapes] == [(-0.5, 1.5), (1.5, 3.5)]
    assert drawn.layout.xaxis.ticktext[0] == "<b>a2</b>"
    assert drawn.layout.xaxis.ticktext[1] == "a0"


@pytest.mark.parametrize("n", [1, 2, MOST_UPRIGHT, MOST_UPRIGHT + 1, MOST_LABELS + 1, 166])
def test_the_map_bears_any_number_of_attributes(n: int) -> None:
    found = _association(n)
    half = max(n // 2, 1)
    groups = [tuple(found.index[:half]), tuple(found.index[half:])][: 1 + (n > 1)]
    drawn = association_map(found, groups, "phi squared", "column")
    assert drawn.layout.xaxis.showticklabels == (n <= MOST_UPRIGHT)
    assert drawn.layout.yaxis.showticklabels == (n <= MOST_LABELS)
    assert [note.text for note in drawn.layout.annotations] == (["column 1", "column 2"] if n > MOST_LABELS else [])
    assert drawn.layout.height < 1000
    assert np.isfinite(drawn.data[0].zmax)


def test_the_strongest_pair_is_named() -> None:
    found = _association(3)
    found.loc["a0", "a2"] = found.loc["a2", "a0"] = 0.9
    assert strongest_pair(found) == "The strongest pair is a0 and a2 with 0.9."
    assert strongest_pair(found.iloc[:1, :1]) == "There is no pair of attributes."
