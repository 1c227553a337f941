"""The tab Foreground knowledge: every number comes from the attack itself."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

import numpy as np
import pandas as pd
import pytest

from anoncore import Microdata, Release, attacks
from anoncore.algorithms import Algorithm, Anatomy, Mondrian, VerticalFragmentation
from anoncore.base.texts import share_text
from anoncore.requirements import KAnonymity
from dashboard.charts.attacks import group_people, leaking_sets, runs_compared, truth_histogram
from dashboard.charts.palette import run_style
from dashboard.closer.foreground_detail import examples, ranked_groups, read_facts, worlds_table
from tests.dashboard.conftest import Visitor
from tests.dashboard.results import ROLES, add_run, metrics, people, table_of

EPSILON = 0.2
T = TypeVar("T")


def _release() -> Release:
    data = Microdata(people(), ROLES)
    return Anatomy(l=2, seed=1).anonymize(data)


def _when_there(visitor: Visitor, probe: Callable[[], T], seconds: float = 120) -> T:
    """What the probe finds once the background work is done."""
    end = time.monotonic() + seconds
    while True:
        try:
            return probe()
        except (KeyError, StopIteration):
            if time.monotonic() > end:
                raise
            time.sleep(0.1)
            visitor.run()


def _found(release: Release) -> attacks.ForegroundKnowledge:
    return attacks.foreground_knowledge(release, "illness", epsilon=EPSILON)


def test_the_page_shows_what_the_attack_finds() -> None:
    visitor = Visitor()
    run = add_run(visitor, Anatomy(l=2, seed=1))
    visitor.open("attack")
    found = attacks.foreground_knowledge(run.release, "illness", r=2)
    assert _when_there(visitor, lambda: metrics(visitor)["Breached"]) == share_text(float(found.recall))
    assert metrics(visitor)["Above chance"] == share_text(float(found.excess))
    assert metrics(visitor)["Mean p(t:x)"] == share_text(float(found.mean_probability))
    assert metrics(visitor)["Attribute sets"] == str(found.n_sets)


@pytest.mark.parametrize(
    ("algorithm", "is_said"), [(Anatomy(l=2, seed=1), True), (Mondrian(requirements=[KAnonymity(k=5)]), False)]
)
def test_the_numbers_of_one_draw_are_said_to_be_of_one_draw(algorithm: Algorithm, is_said: bool) -> None:
    visitor = Visitor()
    add_run(visitor, algorithm)
    visitor.open("attack")
    _when_there(visitor, lambda: metrics(visitor)["Breached"])
    assert ("these are the numbers of one draw" in visitor.texts()) is is_said


def test_another_r_attacks_anew() -> None:
    visitor = Visitor()
    run = add_run(visitor, Anatomy(l=2, seed=1))
    visitor.open("attack")
    visitor.at.number_input(key=f"foreground-r-{run.id}").set_value(4.0)
    visitor.run()
    found = attacks.foreground_knowledge(run.release, "illness", r=4)
    assert _when_there(visitor, lambda: metrics(visitor)["Breached"]) == share_text(float(found.recall))


def test_fragments_with_groups_of_their_own_are_told_apart() -> None:
    visitor = Visitor()
    add_run(visitor, VerticalFragmentation(k=2, seed=0))
    visitor.open("attack")
    assert any("groups of their own" in item.value for item in visitor.at.info)


def _of_both(table: pd.DataFrame) -> pd.DataFrame:
    if len(table) < 2:
        raise KeyError("one of the runs is still being attacked")
    return table


def test_side_by_side_attacks_every_run_alike() -> None:
    visitor = Visitor()
    first = add_run(visitor, Mondrian(requirements=[KAnonymity(k=4)]))
    second = add_run(visitor, Anatomy(l=2, seed=1))
    visitor.at.session_state["_foreground"] = "Side by side"
    visitor.at.session_state["tabs-foreground"] = "Side by side"
    visitor.open("attack")
    table = _when_there(visitor, lambda: _of_both(table_of(visitor, "Release", "Breached")))
    assert table["Release"].tolist() == [second.label, first.label]
    expected = [float(attacks.foreground_knowledge(run.release, "illness", r=2).recall) for run in (second, first)]
    assert table["Breached"].tolist() == pytest.approx(expected)


def _typed(visitor: Visitor, *lines: str) -> None:
    visitor.at.session_state["_foreground"] = "Known facts"
    visitor.at.session_state["tabs-foreground"] = "Known facts"
    visitor.at.session_state["foreground-facts-illness"] = "\n".join(lines)
    visitor.open("attack")


def test_typed_facts_are_attacked_with() -> None:
    visitor = Visitor()
    run = add_run(visitor, Anatomy(l=2, seed=1))
    row = int(np.flatnonzero(run.data.frame["illness"] != "flu")[0]) + 1
    facts = (f"row {row} has not flu", "at most 10% where sex = f has _gout_")
    _typed(visitor, facts[0], "", facts[1])
    shown = _when_there(visitor, lambda: (metrics(visitor)["More given away"], metrics(visitor))[1])
    told = attacks.foreground_knowledge(run.release, "illness", r=2, facts=facts).with_facts
    assert told is not None
    assert shown["More given away"] == f"{told.n_more:,}"
    assert shown["By the facts alone"] == share_text(float(told.recall.baseline or 0))
    assert shown["Breached"] == share_text(float(told.recall)), "the tile below, with the facts"
    people_shown = table_of(visitor, "row", "without facts")
    assert people_shown["with facts"].tolist() == pytest.approx(told.people()["with facts"].tolist())


def test_a_line_that_is_no_fact_is_named() -> None:
    visitor = Visitor()
    add_run(visitor, Anatomy(l=2, seed=1))
    _typed(visitor, "row 1 has not flu", "everyone is ill", "nobody where height > 2 has flu")
    told = _when_there(visitor, lambda: next(iter([text for text in [visitor.texts()] if "Line 2" in text])))
    assert "Line 2: 'everyone is ill' is not understood as a fact; write it like 'row 12 has not disease = flu'" in told
    assert "Line 3: The fact 'nobody where height > 2 has flu' is about 'height', which is no quasi-identifier" in told
    _typed(visitor, "row 1 has _gout_", "row 1 has flu")
    told = _when_there(visitor, lambda: next(iter([text for text in [visitor.texts()] if "possible world:" in text])))
    assert "leaves no possible world: it contradicts what the release publishes" in told


@pytest.mark.slow
def test_facts_tell_also_where_nothing_is_learned() -> None:
    visitor = Visitor()
    run = add_run(visitor, Anatomy(l=2, seed=1))
    row = int(np.flatnonzero(run.data.frame["illness"] != "flu")[0]) + 1
    visitor.at.session_state["foreground-epsilon"] = "0.01"
    _typed(visitor, f"row {row} has not flu")
    shown = _when_there(visitor, lambda: metrics(visitor)["By the facts alone"])
    told = attacks.foreground_knowledge(run.release, "illness", r=2, epsilon=0.01, facts=[f"row {row} has not flu"])
    assert not told.learned
    assert shown == share_text(float(told.with_facts.recall)) != "0%"


def test_examples_of_facts_are_facts() -> None:
    data = Microdata(people(), ROLES)
    lines = examples(data, "illness")
    facts, refused = read_facts(data, "illness", lines)
    assert [str(fact) for fact in facts] == lines
    assert refused == []
    told = attacks.foreground_knowledge(_release(), "illness", epsilon=EPSILON, draws=0, facts=facts).with_facts
    assert told is not None
    assert told.is_true == (True, True, True)


def test_no_more_is_read_than_can_be_read_quickly() -> None:
    data = Microdata(people(), ROLES)
    facts, refused = read_facts(data, "illness", ["row 1 has not flu" + " " * 1_000, *["row 2 has not flu"] * 40])
    assert len(facts) == 30
    assert refused == [
        "Line 1: a fact has at most 500 letters; say it in fewer.",
        "Line 32: at most 30 facts are read; leave the others out.",
    ]


def test_groups_come_with_the_most_believed_person_first() -> None:
    release = _release()
    found = _found(release)
    run = add_run(Visitor(), Anatomy(l=2, seed=1))
    frame = ranked_groups(run, attacks.foreground_knowledge(run.release, "illness", epsilon=EPSILON))
    assert frame["highest"].round(3).is_monotonic_decreasing
    group = int(frame["group"].iloc[0])
    rows = run.release.partition.rows(group)
    assert frame["rows"].iloc[0] == len(rows)
    assert found.n_sets > 0


def test_worlds_weigh_what_the_people_are_believed() -> None:
    release = _release()
    found = _found(release)
    view = found.group(release, 0)
    table = worlds_table(view)
    people_first = np.argsort(-view.probability, kind="stable")
    for place, row in enumerate(people_first):
        holds = table[f"person {place + 1}"] == "x"
        assert table.loc[holds, "share"].sum() == pytest.approx(view.probability[row])
    assert table["share"].sum() == pytest.approx(1)


def test_figures_draw_the_numbers_of_the_result() -> None:
    release = _release()
    found = _found(release)
    style = run_style(0)
    bars = truth_histogram(found.own_probability, found.own_without_attack, found.r, style).data
    assert sum(bars[0].y) == pytest.approx(1)
    assert sum(bars[1].y) == pytest.approx(1)
    assert leaking_sets(found, style).data[0].x.tolist() == pytest.approx([one.recall for one in found.sets[:12]])
    view = found.group(release, 3)
    assert sorted(group_people(view, 2, style).data[0].x) == pytest.approx(sorted(view.probability))
    compared = runs_compared({"a": (found, style), "b": (found, run_style(1))})
    assert compared.data[1].x.tolist() == pytest.approx(
        [float(found.recall), float(found.flagged), float(found.mean_probability)]
    )
