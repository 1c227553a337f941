"""The tabs In or out and Population of the page Attack."""

from __future__ import annotations

import time

import pandas as pd
import pytest

from anoncore import attacks
from anoncore.algorithms import Anatomy, Mondrian
from anoncore.base.texts import share_text
from anoncore.requirements import KAnonymity
from dashboard.charts.attacks import success_bars
from dashboard.charts.palette import run_style
from tests.dashboard.conftest import Visitor
from tests.dashboard.results import add_run, figure, metrics


def open_tab(visitor: Visitor, title: str) -> Visitor:
    visitor.open("attack")
    visitor.at.session_state["_attack"] = title
    visitor.at.session_state["tabs-attack"] = title
    return visitor.run()


def wait_for(visitor: Visitor, label: str, seconds: float = 90) -> dict[str, str]:
    end = time.monotonic() + seconds
    while label not in metrics(visitor):
        assert time.monotonic() < end, visitor.texts()
        time.sleep(0.2)
        visitor.run()
    return metrics(visitor)


@pytest.mark.slow
def test_a_question_is_put_to_a_release_of_the_others(visitor: Visitor) -> None:
    run = add_run(visitor, Mondrian(requirements=[KAnonymity(k=5)]))
    open_tab(visitor, "In or out")
    shown = wait_for(visitor, "Difference")
    members, others = run.data.split(control=0.2)
    found = attacks.inference(run.algorithm.anonymize(members), "illness", control=others)
    assert shown["In the table"] == share_text(found.members)
    assert shown["Not in the table"] == share_text(found.control)
    assert shown["Difference"] == f"{found.difference * 100:+.1f} points"
    assert list(figure(visitor, "outsiders-success")[0]["y"]) == pytest.approx(found.adversaries["members"].tolist())


@pytest.mark.slow
def test_reconstruction_says_what_was_memorized_of_people_in_the_table(visitor: Visitor) -> None:
    run = add_run(visitor, Mondrian(requirements=[KAnonymity(k=2)]))
    visitor.open("attack")
    visitor.at.session_state[f"outsiders-question-{run.id}"] = "memorization"
    open_tab(visitor, "In or out")
    shown = wait_for(visitor, "Memorized")
    members, others = run.data.split(control=0.2)
    found = attacks.memorization(run.algorithm.anonymize(members), "illness", control=others)
    assert shown["In the table"] == share_text(found.members)
    assert shown["Memorized"] == share_text(found.memorized)


@pytest.mark.slow
@pytest.mark.parametrize("method", [Mondrian(requirements=[KAnonymity(k=5)]), Anatomy(l=2, seed=1)])
@pytest.mark.parametrize("question", ["singling_out", "linkability"])
def test_each_question_without_people_outside(visitor: Visitor, method, question) -> None:
    run = add_run(visitor, method)
    visitor.open("attack")
    visitor.at.session_state[f"outsiders-question-{run.id}"] = question
    visitor.at.session_state[f"outsiders-who-{run.id}"] = "nobody"
    open_tab(visitor, "In or out")
    shown = wait_for(visitor, "In the table")
    found = getattr(attacks, question)(run.release)
    assert shown["In the table"] == share_text(found.members)
    assert "Difference" not in shown
    assert "Without a control part" in visitor.texts()


@pytest.mark.slow
def test_a_sampling_fraction_and_weights(visitor: Visitor) -> None:
    run = add_run(visitor, Mondrian(requirements=[KAnonymity(k=1)]))
    open_tab(visitor, "Population")
    shown = wait_for(visitor, "Unique people")
    found = attacks.population_uniqueness(run.release, fraction=0.1)
    assert shown["Unique people"] == share_text(found.share)
    assert shown["Average person"] == share_text(attacks.individual_risk(run.release, fraction=0.1).mean)
    assert found.method in visitor.texts()


def test_the_chart_has_a_bar_per_adversary_and_side() -> None:
    lines = {"members": [0.5, 0.4], "control": [0.3, 0.4]}
    frame = pd.DataFrame(
        lines | {f"{side}_{end}": lines[side] for side in ("members", "control") for end in ("low", "high")},
        index=["rules", "model"],
    )
    bars = success_bars(frame, 0.2, run_style(0)).data
    assert [list(bar.y) for bar in bars] == [[0.5, 0.4], [0.3, 0.4]]
    alone = success_bars(frame.assign(control=float("nan")), 0.2, run_style(0)).data
    assert len(alone) == 1
