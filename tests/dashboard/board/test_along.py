"""The board over one level: what is made at every value, and the lines that cells draw of it."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType

import numpy as np
import pandas as pd
import pytest

from anoncore import CancelledError, Microdata
from anoncore.search.keeping import asked, keeping
from dashboard.board import facts, grid
from dashboard.board.along import LEFT_OUT, Along
from dashboard.board.bench import Bench
from dashboard.board.facts import Mark
from dashboard.board.grid import Asked, Shown, SlowFacts, model
from dashboard.board.wishes import Wishes
from dashboard.loaded_table import LoadedTable, Tags
from dashboard.workspace import Workspace

ROLES = {"age": "quasi-identifier", "town": "quasi-identifier", "illness": "sensitive"}
LEVELS = MappingProxyType({"k": 4, "t": 0.5})
GIVEN = {"learned": True, "value": 0.25, "guess": 0.1, "control": 0.02, "low": 0.2, "high": 0.3, "how": "of some"}


@pytest.fixture(autouse=True)
def quick_measures(monkeypatch):
    monkeypatch.setattr(facts, "about_given_away", lambda release, secret, r, progress: GIVEN)
    told = {"value": 0.5, "original": 0.6, "guess": 0.3}
    monkeypatch.setattr(facts, "about_predictable", lambda release, target, progress: told)


def along(axis="k", methods=("mondrian",), levels=LEVELS, n=120) -> Along:
    draw = np.random.default_rng(2)
    frame = pd.DataFrame(
        {
            "age": draw.integers(20, 60, n),
            "town": draw.choice(["Ulm", "Bonn", "Kiel"], n),
            "illness": draw.choice(["flu", "cold", "gout"], n),
        }
    )
    table = LoadedTable("t", "people", frame, "digest", (), None, Tags(roles=ROLES))
    wishes = Wishes(levels)
    for method in methods:
        wishes = wishes.with_column(method)
    return Along(Bench(Workspace("here")), Microdata(frame, ROLES), table, table.suggested, wishes, axis)


def worked(found: Along) -> None:
    """Both passes, in this thread."""
    found._work(found._made, quietly)
    found._work(found._estimated, quietly)


def quietly(share: float, text: str) -> None:
    assert 0 <= share <= 1


def test_a_point_has_the_numbers_of_the_release_that_a_column_would_show_there():
    found = along()
    worked(found)
    # There are 120 people, so no k of 200 is tried; 4 is the present value.
    assert found.values == (2, 3, 4, 5, 10, 20, 50, 100)
    for k in (2, 10):
        algorithm = keeping("mondrian", {}, {"k": k, "t": 0.5}, (), found.data)
        release = algorithm.anonymize(found.data)
        point = found.at("c1", k)
        assert point is not None
        assert point.quick["smallest"] == min(release.partition.sizes)
        assert [mark.asked for mark in point.marks] == [str(k), "0.50"]
        assert {mark.state for mark in point.marks} == {"kept"}
        assert point.slow["given"] == GIVEN
    assert len(asked({"k": 2, "t": 0.5}, (), found.data)) == 2


def test_what_cannot_be_kept_has_no_point_and_no_impossible_l_is_tried():
    found = along("l", ("anatomy",), MappingProxyType({"l": 2}))
    # The most frequent of three illnesses is that of more than a third.
    assert max(found.values) < 3
    apart = along("t", ("mondrian",), MappingProxyType({"k": 100}))
    worked(apart)
    assert all(apart.at("c1", value) is not None for value in apart.values)
    impossible = along("k", ("mondrian",), MappingProxyType({"k": 4, "l": 2.9}))
    worked(impossible)
    assert impossible.at("c1", 4) is None


def test_a_method_that_has_no_such_level_is_made_once(monkeypatch):
    found = along("k", ("anatomy",), MappingProxyType({"k": 4, "l": 2}))
    make, made = found.bench.make, []
    monkeypatch.setattr(found.bench, "make", lambda *given: made.append(given) or make(*given))
    worked(found)
    assert len(made) == 1
    lost = {found.at("c1", value).quick["lost"]["value"] for value in found.values}
    assert len(lost) == 1
    assert [found.at("c1", value).marks[0].asked for value in (2, 50)] == ["2", "50"]


def test_the_present_value_comes_first_and_what_is_there_stays_when_it_is_stopped():
    found = along()

    def stop(share: float, text: str) -> None:
        if len(found.points) == 3:
            raise CancelledError("Enough.")

    with pytest.raises(CancelledError):
        found._work(found._made, stop)
    assert [value for _, value in found.points] == [4, 3, 5]


def test_lines_stay_where_only_the_level_itself_changes():
    found = along()
    about = (found.table, found.tags)
    assert found.is_about(*about, found.wishes.with_level("k", 50), "k")
    assert not found.is_about(*about, found.wishes.with_level("t", 0.2), "k")
    assert not found.is_about(*about, found.wishes.with_column("anatomy"), "k")
    assert not found.is_about(*about, found.wishes, "t")
    out = along(LEFT_OUT)
    assert (out.now, out.values[0], out.text(0.05)) == (0.0, 0.0, "5%")
    assert out.is_about(*(out.table, out.tags), out.wishes.with_left_out(0.05), LEFT_OUT)


def test_cells_draw_lines_on_one_scale_with_the_present_value_marked():
    found = along("k", ("mondrian", "stack-and-deal"))
    worked(found)
    mark = Mark("k", "kept", "4", "A sentence.", "4")
    columns = [
        Shown(one.id, one.title, 0, "", "ready", "", (mark,), found.at(one.id, 4).quick, {})
        for one in found.wishes.columns
    ]
    drawn = model(columns, Asked(LEVELS, 2, "illness", "illness"), True, found)
    rows = {row["id"]: row for row in drawn["rows"]}
    lost = rows["lost"]
    assert (lost["kind"], lost["help"], lost["axis"]["now"], lost["axis"]["over"]) == ("over", "over k", 2, "k")
    expected = [[found.at(one.id, value).quick["lost"]["value"] for value in found.values] for one in columns]
    assert [cell["line"] for cell in lost["cells"]] == expected
    assert lost["axis"]["most"] == max(map(max, expected))
    assert (
        lost["cells"][0]["text"]
        == grid.model(columns, Asked(LEVELS, 2, "illness", "illness"), True)["rows"][4]["cells"][0]["text"]
    )
    assert rows["given"]["cells"][0]["line"] == [0.25] * 8
    attacked = [replace(one, slow={"given": SlowFacts(exact=GIVEN)}) for one in columns]
    beside = model(attacked, Asked(LEVELS, 2, "illness", "illness"), True, found)["rows"][3]["cells"][0]
    assert (beside["text"], beside["sub"]) == ("25.0%", "by chance 2.0%; now, at k = 4; click a point to choose it")
    assert rows["promise"]["cells"][0]["sub"] == "all is kept at k: each of 8 values"
    # What nothing was made of stays as it is.
    other = Shown("c9", "Opened", 0, "", "ready", "", (mark,), columns[0].quick, {})
    cell = model([other], Asked(LEVELS, 2, "illness", "illness"), True, found)["rows"][4]["cells"][0]
    assert cell["drawn"] is False
