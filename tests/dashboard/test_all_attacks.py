"""The tabs deFinetti and All attacks of the page Attack: every number comes from the attacks themselves."""

from __future__ import annotations

import time

import numpy as np
import pytest

from anoncore import attacks
from anoncore.algorithms import Anatomy, VerticalFragmentation
from anoncore.base.texts import share_text
from tests.dashboard.conftest import Visitor
from tests.dashboard.results import add_run, metrics, table_of


def tab(visitor: Visitor, title: str, seconds: float = 120) -> Visitor:
    """The tab once its numbers are there."""
    visitor.open("attack")
    visitor.at.session_state["_attack"] = title
    visitor.at.session_state["tabs-attack"] = title
    visitor.run()
    end = time.monotonic() + seconds
    while not (metrics(visitor) or visitor.at.warning):
        assert time.monotonic() < end, visitor.texts()
        time.sleep(0.1)
        visitor.run()
    return visitor


@pytest.mark.slow
def test_definetti_tells_what_the_attack_measured(visitor: Visitor) -> None:
    run = add_run(visitor, Anatomy(l=2, seed=1))
    numbers = metrics(tab(visitor, "deFinetti"))
    measured = attacks.definetti(run.release, "illness", 2.0)
    assert numbers["Breached"] == share_text(measured.recall)
    assert numbers["Above chance"] == share_text(measured.excess)
    assert numbers["Right guesses"] == share_text(measured.right)
    people = table_of(visitor, "Row", "Truth", "Without", "With")
    rows = people["Row"].to_numpy() - 1
    gain = measured.own_belief[rows] - measured.without_attack[rows]
    assert (np.diff(gain) <= 1e-12).all()
    assert gain[0] == pytest.approx(np.nanmax(measured.own_belief - measured.without_attack))
    assert people["Truth"].tolist() == run.data.frame["illness"].iloc[rows].tolist()


@pytest.mark.slow
def test_all_attacks_are_ranked_and_the_others_say_why(visitor: Visitor) -> None:
    run = add_run(visitor, Anatomy(l=2, seed=1))
    tab(visitor, "All attacks")
    measured = attacks.strongest(run.release, "illness", 2.0)
    listed = table_of(visitor, "Aim", "Attack", "Gets", "Control", "Above")
    assert listed["Attack"].tolist() == [one.title for one in measured.tried]
    assert listed["Gets"].tolist() == pytest.approx([one.share for one in measured.tried])
    assert listed["Above"].tolist() == pytest.approx([float(one.gain) for one in measured.tried])
    assert measured.attribute is not None
    assert metrics(visitor)[f"Somebody's secret: {measured.attribute.title}"] == share_text(measured.attribute.share)
    for reason in measured.not_tried.values():
        assert reason.split(";")[0].replace("'", "") in visitor.texts().replace("\\", "").replace("'", "")


@pytest.mark.slow
def test_definetti_says_why_fragments_are_not_attacked(visitor: Visitor) -> None:
    add_run(visitor, VerticalFragmentation(k=5))
    assert "groups of its own" in tab(visitor, "deFinetti").at.warning[0].value
