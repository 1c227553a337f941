"""The tab Second release: every number is that of the attack, for another run and for a saved session."""

from __future__ import annotations

import numpy as np
import pytest

from anoncore import attacks
from anoncore.algorithms import Anatomy, Mondrian
from anoncore.base.texts import share_text
from anoncore.requirements import DistinctDiversity, KAnonymity
from dashboard.charts.attacks import values_left
from dashboard.charts.palette import run_style
from dashboard.markdown import escaped
from dashboard.session import session_file, state
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


@pytest.mark.slow
def test_two_tables_are_joined_by_their_identifier_and_the_page_shows_the_attack() -> None:
    visitor = Visitor()
    frame = people()
    earlier = Visitor()
    first = add_run(earlier, Anatomy(l=2, seed=1), frame.iloc[:160].reset_index(drop=True), name="first.csv")
    second = add_run(visitor, CLOSE, frame.iloc[80:].reset_index(drop=True), name="second.csv")
    opened(visitor)
    box = next(one for one in visitor.at.file_uploader if one.label == "Saved session with the other release")
    box.set_value(("earlier.anoncore", session_file.save(earlier.here), "application/octet-stream"))
    visitor.run()
    found = attacks.composition([second.release, first.release], "illness", by="name", l=3)
    shown = metrics(visitor)
    assert shown["Fewer than 3 values"] == share_text(float(found.few))
    assert shown["Believed above 1/3"] == share_text(float(found.breach))
    assert shown["Largest belief"] == share_text(float(found.largest))
    assert shown["Belief in the truth"] == share_text(float(found.truth))
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


def test_two_runs_of_one_table_with_a_unit_are_compared_row_by_row() -> None:
    visitor = Visitor()
    frame = people().assign(name=[f"Person {number // 2}" for number in range(240)])
    for method in (Mondrian(requirements=(KAnonymity(k=4),)), CLOSE):
        add_run(visitor, method, frame, unit="name")
    opened(visitor)
    assert any("240 people are in both tables" in one.value for one in visitor.at.markdown)
    assert any("Rows are counted here, not people" in one.value for one in visitor.at.caption)


@pytest.mark.slow
def test_a_release_of_a_saved_session_is_laid_beside_the_one_shown() -> None:
    earlier, visitor = Visitor(), Visitor()
    frame = people()
    first = add_run(earlier, CLOSE, frame.iloc[80:].reset_index(drop=True), name="earlier.csv")
    content = session_file.save(state._workspaces.get(earlier.workspace))
    second = add_run(visitor, Anatomy(l=2, seed=1), frame.iloc[:160].reset_index(drop=True), name="later.csv")
    opened(visitor)
    given(visitor, b"no session")
    assert any("This is not a session file" in one.value for one in visitor.at.error)
    given(visitor, content)
    assert not visitor.at.error
    # As in the certificate, l is the larger one of what the two releases promise.
    found = attacks.composition([second.release, first.release], "illness", by="name", l=3)
    shown = metrics(visitor)
    assert shown["Fewer than 3 values"] == share_text(float(found.few))
    assert shown["Largest belief"] == share_text(float(found.largest))
    assert any(
        "80 people are in both tables" in one.value and escaped("earlier.csv (saved session)") in one.value
        for one in visitor.at.markdown
    )
    assert [run.table_name for run in state._workspaces.get(visitor.workspace).runs] == ["later.csv"]
    given(visitor, b"no session")
    (error,) = visitor.at.error
    assert "This is not a session file" in error.value
    assert metrics(visitor) == shown


def given(visitor: Visitor, content: bytes) -> None:
    """Give the tab a file as the saved session."""
    (box,) = (one for one in visitor.at.file_uploader if one.label == "Saved session with the other release")
    box.set_value(("session.anoncore", content, "application/octet-stream"))
    visitor.run()


def test_the_bars_of_both_releases_and_of_both_together_differ_in_colour() -> None:
    values = np.array([1, 2])
    for first, second in ((0, 1), (1, 2), (1, 3), (4, 5)):
        bars = values_left({"a": (values, run_style(first)), "b": (values, run_style(second))}, values, 2).data
        assert len({bar.marker.color for bar in bars}) == 3


def test_of_several_other_releases_the_chosen_one_is_laid_beside() -> None:
    visitor = Visitor()
    runs = [add_run(visitor, one) for one in (Anatomy(l=2, seed=1), Mondrian(requirements=(KAnonymity(k=5),)), CLOSE)]
    opened(visitor)
    for other in (*runs[:2], runs[0]):
        (box,) = (one for one in visitor.at.selectbox if one.label == "Second release")
        box.set_value(other.id)
        visitor.run()
        found = attacks.composition([runs[2].release, other.release], "illness", by="name", l=3)
        assert metrics(visitor)["Belief in the truth"] == share_text(float(found.truth))
        assert any(escaped(other.label) in one.value for one in visitor.at.markdown)


def test_bars_count_the_people_with_each_number_of_values() -> None:
    alone, together = np.array([[2, 3, 3], [3, 3, 2]]), np.array([1, 3, 2])
    figure = values_left({"a": (alone[0], run_style(0)), "b": (alone[1], run_style(1))}, together, 2)
    assert [bar.name for bar in figure.data] == ["a", "b", "together"]
    assert list(figure.data[0].x) == [1, 2, 3]
    assert np.allclose(figure.data[2].y, [1 / 3, 1 / 3, 1 / 3])
    assert np.allclose(figure.data[0].y, [0, 1 / 3, 2 / 3])
