"""The board over one level: what is made at every value, and the lines that cells draw of it."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType

import numpy as np
import pandas as pd
import pytest

from anoncore import CancelledError, Microdata
from anoncore.search.choosing import choose_k
from anoncore.search.keeping import asked, keeping
from dashboard.board import facts, grid
from dashboard.board.bench import Bench
from dashboard.board.facts import Mark, Slow
from dashboard.board.grid import model
from dashboard.board.over import LEFT_OUT, Over, R, parameters, with_value
from dashboard.board.wording import Asked, Shown
from dashboard.session.loaded_table import LoadedTable, Tags
from dashboard.session.wishes import Wishes
from dashboard.session.workspace import Workspace

ROLES = {"age": "quasi-identifier", "town": "quasi-identifier", "illness": "sensitive"}
LEVELS = MappingProxyType({"k": 4, "t": 0.5})
GIVEN = {"learned": True, "value": 0.25, "guess": 0.1, "control": 0.02, "low": 0.2, "high": 0.3, "how": "of some"}


@pytest.fixture(autouse=True)
def quick_measures(monkeypatch):
    monkeypatch.setattr(facts, "about_given_away", lambda release, secret, r, progress: GIVEN)
    told = {"value": 0.5, "original": 0.6, "guess": 0.3}
    monkeypatch.setattr(facts, "about_predictable", lambda release, target, progress: told)


def over(axis="k", methods=("mondrian",), levels=LEVELS, n=120) -> Over:
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
    return Over(Bench(Workspace("here")), Microdata(frame, ROLES), table, table.suggested, wishes, axis=axis)


def worked(found: Over) -> None:
    """Both passes, in this thread."""
    found._work(found._quick, quietly)
    found._work(found._estimated, quietly)


def quietly(share: float, text: str) -> None:
    assert 0 <= share <= 1


def test_a_point_has_the_numbers_of_the_release_that_a_column_would_show_there():
    found = over()
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
    found = over("l", ("anatomy",), MappingProxyType({"l": 2}))
    # The most frequent of three illnesses is that of more than a third.
    assert max(found.values) < 3
    apart = over("t", ("mondrian",), MappingProxyType({"k": 100}))
    worked(apart)
    assert all(apart.at("c1", value) is not None for value in apart.values)
    impossible = over("k", ("mondrian",), MappingProxyType({"k": 4, "l": 2.9}))
    worked(impossible)
    assert impossible.at("c1", 4) is None


def test_a_method_that_has_no_such_level_is_made_once(monkeypatch):
    found = over("k", ("anatomy",), MappingProxyType({"k": 4, "l": 2}))
    make, made = found.bench.make, []
    monkeypatch.setattr(found.bench, "make", lambda *given: made.append(given) or make(*given))
    worked(found)
    assert len(made) == 1
    lost = {found.at("c1", value).quick["lost"]["value"] for value in found.values}
    assert len(lost) == 1
    assert [found.at("c1", value).marks[0].asked for value in (2, 50)] == ["2", "50"]


def test_the_present_value_comes_first_and_what_is_there_stays_when_it_is_stopped():
    found = over()

    def stop(share: float, text: str) -> None:
        if len(found.trials) == 3:
            raise CancelledError("Enough.")

    with pytest.raises(CancelledError):
        found._work(found._quick, stop)
    assert [value for _, value in found.trials] == [4, 3, 5]


def test_lines_stay_where_only_the_level_itself_changes():
    found = over()
    digests = (found.table.digest, found.tags.digest)
    assert found.is_about(digests, found.wishes.with_level("k", 50), "k")
    assert not found.is_about(digests, found.wishes.with_level("t", 0.2), "k")
    assert not found.is_about(digests, found.wishes.with_column("anatomy"), "k")
    assert not found.is_about(digests, found.wishes, "t")
    out = over(LEFT_OUT)
    assert (out.now, out.values[0], out.text(0.05)) == (0.0, 0.0, "5%")
    assert out.is_about(digests, out.wishes.with_left_out(0.05), LEFT_OUT)


def test_cells_draw_lines_on_one_scale_with_the_present_value_marked():
    found = over("k", ("mondrian", "stack-and-deal"))
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
    attacked = [replace(one, slow={"given": Slow(exact=GIVEN)}) for one in columns]
    beside = model(attacked, Asked(LEVELS, 2, "illness", "illness"), True, found)["rows"][3]["cells"][0]
    assert (beside["text"], beside["beside"]) == ("25.0%", "by chance 2.0%")
    assert beside["sub"] == "now, at k = 4; click a point to choose it"
    # The line is of foreground knowledge, and the number beside it may be of another attack, which is named once.
    single = {"title": "single groups", "value": 0.5, "control": 0.1, "is_foreground": False, "tried": 2}
    by_another = [replace(one, slow={"given": Slow(exact=GIVEN), "strongest": Slow(exact=single)}) for one in attacked]
    for lines, sub in (
        (found.trials, "now, at k = 4; click a point to choose it"),
        ({key: replace(trial, slow={}) for key, trial in found.trials.items()}, "by single groups, the strongest"),
    ):
        found.trials = lines
        other = model(by_another, Asked(LEVELS, 2, "illness", "illness"), True, found)["rows"][3]["cells"][0]
        assert other["text"] == "50.0%"
        assert other["sub"].startswith(sub)
        assert f"{other['beside']}; {other['sub']}".count("by single groups") == 1
        assert other["beside"].endswith("by chance 10.0%")
    dealt = rows["lost"]["cells"][1]
    assert found.at("c2", 4).quick["is_drawn"]
    assert dealt["sub"].endswith("; every point is a draw of its own")
    assert not rows["lost"]["cells"][0]["sub"].endswith("of its own"), "Mondrian draws nothing"
    seeded = tuple(replace(one, fields={"seed": 1}) for one in found.wishes.columns)
    given = replace(found, wishes=replace(found.wishes, columns=seeded))
    assert not given.is_drawn_anew("c2"), "its points have the one seed that somebody gave"
    assert rows["promise"]["cells"][0]["sub"] == "all is kept at k: each of 8 values"
    # While values are still to come, nothing is said of all of them.
    partly = replace(found, trials={key: trial for key, trial in found.trials.items() if key[1] in (5, 10)})
    rows = {row["id"]: row for row in model(columns, Asked(LEVELS, 2, "illness", "illness"), True, partly)["rows"]}
    assert rows["promise"]["cells"][0]["sub"] == "all is kept at k: 5, 10 so far"
    # What nothing was made of stays as it is.
    other = Shown("c9", "Opened", 0, "", "ready", "", (mark,), columns[0].quick, {})
    cell = model([other], Asked(LEVELS, 2, "illness", "illness"), True, found)["rows"][4]["cells"][0]
    assert cell["drawn"] is False


def test_over_r_nothing_is_made_anew_and_each_r_is_attacked(monkeypatch):
    found = over(R)
    make, made, asked_r = found.bench.make, [], []
    monkeypatch.setattr(found.bench, "make", lambda *given: made.append(given) or make(*given))

    def given(release, secret, r, progress):
        asked_r.append(r)
        return {**GIVEN, "value": 1 / r}

    monkeypatch.setattr(facts, "about_given_away", given)
    worked(found)
    assert (found.now, found.values) == (2, tuple(range(2, 11)))
    assert len(made) == 1
    assert sorted(asked_r) == list(range(2, 11))
    assert [found.at("c1", r).slow["given"]["value"] for r in (2, 4)] == [0.5, 0.25]


def test_a_parameter_of_a_method_is_varied_around_its_value_in_the_columns_that_have_it():
    # Slicing has columns of attributes, Mondrian has none.
    found = over("columns", ("slicing", "mondrian"), MappingProxyType({"l": 2}))
    assert parameters(found.wishes)["columns"] == "columns of Slicing"
    assert "max_suppression" not in parameters(found.wishes.with_column("incognito"))
    assert (found.now, found.values, found.title) == (2, (1, 2, 4, 8), "columns of Slicing")
    worked(found)
    # Three attributes make no four columns, and with a single one the method keeps no l, so that it takes two instead.
    trials = [found.at("c1", number) for number in found.values]
    assert [trial and trial.algorithm.columns for trial in trials] == [2, 2, None, None]
    same = {found.at("c2", number).quick["groups"] for number in found.values}
    assert len(same) == 1
    then = with_value(found.wishes, "columns", 4.0)
    assert [dict(column.fields) for column in then.columns] == [{"columns": 4}, {}]
    # The values stay where they are when one of them is chosen.
    assert found.is_about((found.table.digest, found.tags.digest), then, "columns")
    found.wishes = then
    assert (found.now, found.values) == (4, (1, 2, 4, 8))


def test_the_k_of_least_distance_and_loss_is_that_of_the_library_and_the_weight_moves_it():
    found = over("k", ("stack-and-deal", "anatomy"), MappingProxyType({"k": 4, "l": 2}))
    found.wishes = found.wishes.with_fields("c1", "stack-and-deal", {"seed": 3})
    worked(found)
    ks = [int(value) for value in found.values if found.at("c1", value) is not None]
    for weight in (0.0, 0.5, 1.0):
        found.weight = weight
        costs = {
            k: weight * found.at("c1", k).quick["distance"]["largest"] + (1 - weight) * found.losses["c1", k]
            for k in ks
        }
        assert found.choice("c1").best == min(ks, key=lambda k: (round(costs[k], 12), k))
    expected = choose_k(found.data, 0.5, ks, keeping("stack-and-deal", {"seed": 3}, {"k": 4}, (), found.data))
    assert [found.losses["c1", k] for k in ks] == pytest.approx(expected.information_loss)
    assert [found.at("c1", k).quick["distance"]["largest"] for k in ks] == pytest.approx(expected.t)
    # Buckets have no k, so there is none to choose.
    assert found.choice("c2") is None
    found.weight = 0.0
    mark = Mark("k", "kept", "4", "A sentence.", "4")
    column = Shown("c1", "Stack & Deal", 0, "", "ready", "", (mark,), found.at("c1", 4).quick, {})
    rows = {row["id"]: row for row in model([column], Asked(LEVELS, 2, "illness", "illness"), True, found)["rows"]}
    # Without distance the smallest k loses least, and it is the end of what was tried.
    assert rows["lost"]["cells"][0]["ring"] == 0
    told = rows["lost"]["cells"][0]["sub"]
    assert told == "ring: distance and loss together are least at k = 2, the smallest tried; now, at k = 4"
    assert "ring" not in rows["hides"]["cells"][0]
    # As long as more values are to come, none is an end of what was tried.
    del found.trials["c1", found.values[-1]]
    rows = {row["id"]: row for row in model([column], Asked(LEVELS, 2, "illness", "illness"), True, found)["rows"]}
    told = rows["lost"]["cells"][0]["sub"]
    assert told == "ring: distance and loss together are least at k = 2 so far; now, at k = 4"


@pytest.mark.slow
def test_all_points_are_a_table():
    found = over("t", ("mondrian",), MappingProxyType({"k": 4}))
    worked(found)
    frame = found.frame()
    assert frame["t"].tolist() == list(found.values)
    assert frame["two-way error"].tolist() == [found.at("c1", t).quick["lost"]["value"] for t in found.values]
    assert set(frame["given away, at least (estimate)"]) == {0.25}
    assert set(frame["given away by chance (estimate)"]) == {0.02}
