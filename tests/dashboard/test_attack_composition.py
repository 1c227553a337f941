"""The tab Second release: every number is that of the attack, for another run and for a saved session."""

from __future__ import annotations

import numpy as np

from anoncore import attacks
from anoncore.algorithms import Anatomy, Mondrian
from anoncore.requirements import DistinctDiversity, KAnonymity
from dashboard.charts.composition import values_left
from dashboard.palette import run_style
from tests.dashboard.conftest import Visitor
from tests.dashboard.results import add_run, metrics, people

CLOSE = Mondrian(requirements=(KAnonymity(k=4), DistinctDiversity(l=3)))


def opened(visitor: Visitor) -> Visitor:
    """The visitor at the tab."""
    visitor.open("attack")
    visitor.at.session_state["_attack"] = "Second release"
    visitor.at.session_state["tabs-attack"] = "Second release"
    return visitor.run()


def test_without_a_second_release_it_says_what_to_do() -> None:
    visitor = Visitor()
    add_run(visitor, CLOSE)
    opened(visitor)
    assert any("There is no second release yet" in one.value for one in visitor.at.info)


def test_two_tables_are_joined_by_their_identifier_and_the_page_shows_the_attack() -> None:
    visitor = Visitor()
    frame = people()
    first = add_run(visitor, Anatomy(l=2, seed=1), frame.iloc[:160].reset_index(drop=True), name="first.csv")
    second = add_run(visitor, CLOSE, frame.iloc[80:].reset_index(drop=True), name="second.csv")
    opened(visitor)
    found = attacks.composition([second.release, first.release], "illness", by="name", l=3)
    shown = metrics(visitor)
    assert shown["Fewer than 3 values"] == f"{float(found.few):.1%}"
    assert shown["Believed above 1/3"] == f"{float(found.breach):.1%}"
    assert shown["Largest belief"] == f"{float(found.largest):.1%}"
    assert shown["Belief in the truth"] == f"{float(found.truth):.1%}"
    assert any("80 people are in both tables" in one.value for one in visitor.at.markdown)
    assert len(visitor.at.dataframe[0].value) == 50


def test_two_runs_of_one_table_need_no_column() -> None:
    visitor = Visitor()
    frame = people().drop(columns="name")
    roles = {"age": "quasi-identifier", "town": "quasi-identifier", "illness": "sensitive"}
    add_run(visitor, Anatomy(l=2, seed=1), frame, roles)
    add_run(visitor, CLOSE, frame, roles)
    opened(visitor)
    assert any("240 people are in both tables" in one.value for one in visitor.at.markdown)


def test_bars_count_the_people_with_each_number_of_values() -> None:
    alone, together = np.array([[2, 3, 3], [3, 3, 2]]), np.array([1, 3, 2])
    figure = values_left(["a", "b"], alone, together, [run_style(0), run_style(1)], 2)
    assert [bar.name for bar in figure.data] == ["a", "b", "together"]
    assert list(figure.data[0].x) == [1, 2, 3]
    assert np.allclose(figure.data[2].y, [1 / 3, 1 / 3, 1 / 3])
    assert np.allclose(figure.data[0].y, [0, 1 / 3, 2 / 3])
