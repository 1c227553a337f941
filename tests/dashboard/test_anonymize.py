"""The page Anonymize: from parameters to a release, in the background."""

from __future__ import annotations

import threading
from collections.abc import Callable

import numpy as np
import pytest

from anoncore import Microdata, Partition, Release, privacy, utility
from anoncore.algorithms import ALGORITHMS, Anatomy, Suppression
from anoncore.algorithms.base import generalized_release
from anoncore.algorithms.synthesis import marginal_synthesis
from anoncore.base.progress import Progress
from anoncore.base.texts import share_text
from dashboard import runner, state
from dashboard.workspace import run_title
from tests.dashboard.conftest import Visitor
from tests.properties.subjects import EVERYWHERE

K = "parameter.mondrian.requirements.1.k"


def _metric(visitor: Visitor, label: str) -> str:
    return next(str(item.value) for item in visitor.at.metric if item.label == label)


def test_a_newcomer_presses_run_and_sees_what_came_out(visitor: Visitor) -> None:
    visitor.open("anonymize")
    assert "No release yet" in visitor.texts()
    visitor.anonymize()
    run = state._workspaces.get(visitor.workspace).runs[0]
    profile = privacy.profile(run.release)
    assert _metric(visitor, "k") == f"{int(profile.k)}"
    assert _metric(visitor, "l") == f"{int(profile.score('distinct-l'))}"
    assert _metric(visitor, "t") == f"{profile.score('t-equal'):.3f}"
    assert _metric(visitor, "Information loss") == share_text(utility.information_loss(run.release))
    assert _metric(visitor, "Groups") == f"{run.release.partition.n_groups:,}"
    assert [item.value for item in visitor.at.toast] == ["Run 1 · Mondrian \\(k = 5\\) is done\\."]


def test_a_changed_parameter_makes_a_second_run_beside_the_first(visitor: Visitor) -> None:
    visitor.open("anonymize").anonymize()
    visitor.at.number_input(key=K).set_value(100)
    visitor.run().anonymize()
    assert int(_metric(visitor, "k")) >= 100
    runs = next(item.value for item in visitor.at.dataframe if "Run" in item.value)
    assert runs["Run"].tolist() == ["2 · Mondrian (k = 100)", "1 · Mondrian (k = 5)"]
    assert runs["Loss"][0] > runs["Loss"][1]


def test_the_sidebar_chooses_the_run_that_is_shown(visitor: Visitor) -> None:
    visitor.open("anonymize").anonymize()
    visitor.at.number_input(key=K).set_value(50)
    visitor.run().anonymize()
    here = state._workspaces.get(visitor.workspace)
    visitor.at.selectbox(key="shown-run").set_value(here.runs[0].id)
    visitor.run()
    assert here.current == here.runs[0].id
    assert "Run 1 · Mondrian (k = 5)" in visitor.texts()
    visitor.press("Remove this run")
    assert [run.label for run in here.runs] == ["2 · Mondrian (k = 50)"]
    visitor.press("Remove this run")
    assert "No release yet" in visitor.texts()


@pytest.mark.slow
@pytest.mark.parametrize("name", EVERYWHERE)
def test_every_method_runs_with_its_defaults_or_says_why_not(visitor: Visitor, name: str) -> None:
    visitor.open("anonymize").choose(name)
    if visitor.warnings:
        assert not visitor.has_button("Run")
        assert visitor.warnings[0].endswith(".")
        return
    visitor.anonymize()
    if visitor.errors:
        assert "inside the program" not in visitor.errors[0]
        return
    (run,) = state._workspaces.get(visitor.workspace).runs
    assert type(run.algorithm) is ALGORITHMS[name]
    assert f"Run 1 · {run_title(run.algorithm)}" in visitor.texts()
    method = run.algorithm.method if isinstance(run.algorithm, Suppression) else run.algorithm
    assert run_title(run.algorithm).startswith(method.title)


def test_two_sensitive_attributes_are_explained_to_a_method_that_takes_one(visitor: Visitor) -> None:
    visitor.tag(income="sensitive").open("anonymize")
    visitor.choose("anatomy")
    assert "Anatomy protects one sensitive attribute, but 2 are tagged" in visitor.warnings[0]
    assert not visitor.has_button("Run")


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Runs that last until the gate is opened; they report progress in between."""
    opened = threading.Event()

    def slow(algorithm: Anatomy, data: Microdata, progress: Progress) -> Release:
        while not opened.wait(0.01):
            progress(0.5, "Halfway there")
        group = np.arange(data.n_rows, dtype=np.int32) // 1000
        group[group == group.max()] -= 1
        return generalized_release(algorithm, data, Partition(group))

    monkeypatch.setattr(ALGORITHMS["mondrian"], "_release", slow)
    monkeypatch.setattr(runner, "PATIENCE", 0.05)
    yield opened.set
    opened.set()


def _job(visitor: Visitor) -> runner.RunJob:
    return state._workspaces.get(visitor.workspace).jobs["run"]


def test_a_long_run_shows_progress_on_every_page_and_arrives(visitor: Visitor, gate: Callable[[], None]) -> None:
    visitor.open("anonymize").press("Run")
    assert visitor.has_button("Cancel")
    assert not visitor.has_button("Run")
    visitor.open("data")
    assert visitor.has_button("Cancel")
    job = _job(visitor)
    gate()
    assert job.job.wait(20)
    visitor.run()
    assert [run.label for run in state._workspaces.get(visitor.workspace).runs] == ["1 · Mondrian (k = 5)"]
    assert "is done" in visitor.at.toast[0].value
    assert not visitor.has_button("Cancel")


def test_a_run_is_cancelled_at_once_and_leaves_nothing(visitor: Visitor, gate: Callable[[], None]) -> None:
    visitor.open("anonymize").press("Run")
    visitor.press("Cancel")
    assert state._workspaces.get(visitor.workspace).runs == ()
    assert "The run was cancelled" in visitor.at.toast[0].value
    assert visitor.has_button("Run")


def test_tags_changed_during_a_run_do_not_reach_it(visitor: Visitor, gate: Callable[[], None]) -> None:
    visitor.open("anonymize").press("Run")
    visitor.tag(race="insensitive")
    job = _job(visitor)
    gate()
    assert job.job.wait(20)
    visitor.run()
    run = state._workspaces.get(visitor.workspace).runs[0]
    assert "race" in run.data.quasi_identifiers
    assert run.tags.roles["race"] == "quasi-identifier"


def test_a_run_that_fails_says_why_and_the_page_stays(visitor: Visitor, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*arguments: object) -> Release:
        raise ZeroDivisionError("bad kernel")

    with monkeypatch.context() as patched:
        patched.setattr(ALGORITHMS["mondrian"], "_release", broken)
        visitor.open("anonymize").anonymize()
        assert "Something went wrong inside the program (ZeroDivisionError: bad kernel)." in visitor.errors[0]
    visitor.anonymize()
    assert visitor.errors == []
    assert "Run 1 " in visitor.texts()


def test_a_method_whose_package_is_missing_says_how_to_install_it(
    visitor: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(marginal_synthesis, "is_installed", lambda: False)
    visitor.open("anonymize").choose("dp-marginals")
    assert visitor.warnings == ["Marginal synthesis needs OpenDP; install it with: pip install 'anoncore[dp]'."]
    assert visitor.at.select_slider(key="parameter.dp-marginals.epsilon").value == 1.0
