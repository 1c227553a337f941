"""The tab Known method of the page Attack, and what Method and Reference say of readers who know a method."""

from __future__ import annotations

import time

import numpy as np
import pytest

from anoncore import attacks
from anoncore.algorithms import ALGORITHMS, Anatomy, LocalRecoding, Mondrian, Slicing
from anoncore.base.texts import share_text
from anoncore.release.openness import QUESTION
from anoncore.requirements import FrequencyDiversity, KAnonymity
from dashboard.charts.attacks import GAIN_LABELS, gain_bars, gain_shares
from dashboard.charts.palette import run_style
from dashboard.elements import about
from tests.dashboard.conftest import Visitor
from tests.dashboard.results import add_run, figure, metrics, table_of


def known_method(visitor: Visitor) -> Visitor:
    visitor.open("attack")
    visitor.at.session_state["_attack"] = "Known method"
    visitor.at.session_state["tabs-attack"] = "Known method"
    return visitor.run()


def wait_for(visitor: Visitor, text: str, seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while text not in visitor.texts():
        assert time.monotonic() < end, visitor.texts()
        time.sleep(0.1)
        visitor.run()


@pytest.mark.slow
def test_numbers_people_and_their_beliefs(visitor: Visitor) -> None:
    run = add_run(visitor, Mondrian(requirements=[FrequencyDiversity(l=2)]))
    known_method(visitor)
    wait_for(visitor, "The readers know everybody's quasi-identifiers")
    found = attacks.minimality(run.release, "illness")
    numbers = metrics(visitor)
    assert numbers["Right guesses"] == share_text(found.right)
    assert numbers["Lift"] == f"{found.lift * 100:+.1f} points"
    assert numbers["Exposed"] == share_text(found.exposed)
    assert numbers["Largest belief"] == share_text(found.largest)
    assert figure(visitor, "known-method-gain")[0]["x"].sum() == pytest.approx(1.0)
    people = table_of(visitor, "Row", "Believed")
    rises = found.gain[people["Row"] - 1]
    assert (np.diff(rises) <= 1e-12).all()
    assert rises[0] == pytest.approx(found.gain.max())
    assert people["Without"].tolist() == pytest.approx(found.without[people["Row"] - 1].tolist())
    assert f"{found.n_refusals:,} refusals of the method tell something" in visitor.texts()


def test_with_k_alone_nothing_is_learned(visitor: Visitor) -> None:
    add_run(visitor, Mondrian(requirements=[KAnonymity(k=5)]))
    known_method(visitor)
    wait_for(visitor, "Nothing is learned.")
    assert metrics(visitor)["Lift"] == "+0.0 points"


@pytest.mark.slow
def test_local_recoding_tells_which_class_people_are_in(visitor: Visitor) -> None:
    run = add_run(visitor, LocalRecoding(requirements=[KAnonymity(k=3)]))
    known_method(visitor)
    wait_for(visitor, "Here the readers know one person's quasi-identifiers")
    found = attacks.refinement(run.release, "illness")
    numbers = metrics(visitor)
    assert numbers["Located"] == share_text(found.located)
    assert numbers["Breached"] == share_text(found.recall)
    assert numbers["Ruled out"] == share_text(found.ruled_out)
    assert numbers["Refused groups"] == f"{found.n_refused:,}"
    assert found.notes[0] in visitor.texts()


def test_a_method_that_is_not_open_says_why_and_one_that_is_not_followed_too(visitor: Visitor) -> None:
    add_run(visitor, Anatomy(l=2, seed=1))
    known_method(visitor)
    assert "Not open." in visitor.texts()
    assert not metrics(visitor)
    add_run(visitor, Slicing(l=1.2))
    known_method(visitor)
    assert "Open." in visitor.texts()
    end = time.monotonic() + 60
    while not visitor.at.warning:
        assert time.monotonic() < end
        visitor.run()
    assert "Slicing does not tell it" in visitor.at.warning[0].value


def test_reference_and_method_say_it_of_every_method(visitor: Visitor) -> None:
    for name, model in ALGORITHMS.items():
        assert about.entries()[f"algorithm:{name}"].minimality == model.minimality.text
    run = add_run(visitor, Mondrian())
    visitor.open("method")
    assert f"**{QUESTION}** {type(run.algorithm).minimality.text}" in visitor.texts()


def test_people_are_counted_once_by_the_change_of_belief() -> None:
    gain = np.array([-0.5, -0.1, -0.01, 0.0, 0.004, 0.01, 0.1, 0.3, 0.7, 1.0])
    shares = gain_shares(gain)
    assert (shares * 10).round().tolist() == [1, 1, 1, 2, 1, 1, 1, 2]
    bars = gain_bars(gain, run_style(0)).data[0]
    assert list(bars.y) == list(GAIN_LABELS)
    assert bars.x.sum() == pytest.approx(1.0)
