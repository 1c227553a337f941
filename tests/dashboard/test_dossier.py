"""The dossier in the dialog Publish, and the policy in force on the board."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from anoncore import Answers, Policy, Recipe
from anoncore.cli import main
from dashboard.board import grid
from dashboard.board.by_policy import ByPolicy
from dashboard.session import session_file, state
from dashboard.session.workspace import Workspace
from dashboard.tasks import jobs
from dashboard.views import takeaway
from dashboard.views.dossier import DossierTask
from tests.dashboard.conftest import TIMEOUT, Visitor
from tests.dashboard.results import ROLES, loaded, people

TABLE = people().drop(columns="visits")
KNOWN = {name: role for name, role in ROLES.items() if name != "visits"}
OURS = Policy(name="Ours", levels={"k": 5}, risks={"reidentified-largest": {"at_most": 0.2}})
STRICT = Policy(name="Ours", levels={"k": 40}, refuse={"columns": ["visits", "town"]})


def on_the_board(visitor: Visitor, policy: Policy) -> Visitor:
    """Two releases of the small table on the board, judged by a policy, whose rules have all come out."""
    visitor.here.load(*loaded(TABLE, KNOWN, "people.csv"))
    visitor.ask("mondrian", "anatomy", k=5, t=0.4)
    history = visitor.here.history
    assert history is not None
    history.now = replace(history.now, wishes=replace(history.now.wishes, policy=policy))
    visitor.open("board")
    end = time.monotonic() + TIMEOUT
    while len(visitor.here.runs) < 2 or visitor.here.jobs["board"].is_busy:
        assert time.monotonic() < end
        time.sleep(0.05)
        visitor.run()
    return visitor.run()


def publish(visitor: Visitor) -> Visitor:
    visitor.at.session_state["_board_dialog"] = ("publish", "c1")
    return visitor.run()


def downloads(visitor: Visitor) -> set[str]:
    return {button.proto.label for button in visitor.at.download_button}


def enter(visitor: Visitor, **texts: str) -> Visitor:
    for key, text in texts.items():
        visitor.at.text_input(key=f"dossier-{key.replace('__', '-')}").set_value(text)
    return visitor.run()


@pytest.mark.slow
def test_what_is_typed_is_in_the_dossier_the_recipe_and_the_session(
    visitor: Visitor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(on_the_board(visitor, OURS))
    assert "Ours: keeps all 2 rules" in visitor.texts()
    enter(visitor, title="Admissions of 2025", controls__0__="A contract.", roles_decided_by__0__who="the board")
    enter(visitor, signatures__0__name="A. Steward")
    answers = Answers(
        title="Admissions of 2025",
        controls=["A contract."],
        roles_decided_by={"*": "the board"},
        signatures=[{"name": "A. Steward"}],
    )
    assert visitor.here.answers == answers
    # An empty line waits below each that is filled.
    assert visitor.at.text_input(key="dossier-signatures-1-name").value == ""
    visitor.press("Make the dossier")
    task: DossierTask = visitor.here.jobs["dossier"]
    assert task.job.wait(TIMEOUT)
    visitor.run()
    assert {"Dossier (HTML)", "Dossier (JSON)"} <= downloads(visitor)
    page, text = task.job.value
    told = json.loads(text)
    assert told["released"]["title"] == "Admissions of 2025"
    assert "A. Steward" in page
    assert (told["reached"]["policy"]["name"], told["reached"]["policy"]["status"]) == ("Ours", "kept")
    chosen, other = told["treatment"]["considered"]
    assert chosen["is_chosen"]
    assert other["label"].startswith("Anatomy")
    assert other["reason"] == "It misses k and t."
    shown = visitor.here.jobs["board"].wanted[1].quick
    assert other["lost"] == next(iter(shown.values()))["lost"]["value"]
    # The downloaded recipe has the same answers, and the command line prints them.
    TABLE.to_csv(tmp_path / "people.csv", index=False)
    monkeypatch.chdir(tmp_path)
    Path("people.toml").write_text(recipe_of(visitor))
    assert Recipe.load("people.toml").dossier == answers
    assert main(["dossier", "people.toml", "--draws", "0", "--quiet"]) in (0, 3)
    printed = json.loads(Path("dossier.json").read_text())
    for section in ("title", "controls", "purpose"):
        assert printed["released"][section] == told["released"][section]
    assert printed["decisions"]["signatures"] == told["decisions"]["signatures"]
    assert {one["decided_by"] for one in printed["people"]["columns"]} == {"the board"}
    # Whoever types on has to make it anew; the session file keeps what is typed, and the policy.
    enter(visitor, title="Admissions")
    assert visitor.has_button("Make the dossier")
    assert "Dossier (HTML)" not in downloads(visitor)
    saved = session_file.read(session_file.save(visitor.here), lambda *_: None, state._microdata.get)  # type: ignore[arg-type, return-value]
    other_here = Workspace("other")
    session_file.restore(other_here, saved)
    assert other_here.answers == visitor.here.answers != answers
    assert other_here.wishes is not None
    assert other_here.wishes.policy == OURS
    other_here.load(*loaded(people(30), ROLES, "others.csv"))
    assert other_here.answers == Answers(), "what was said of one table is not said of another"


def recipe_of(visitor: Visitor) -> str:
    here, usual = visitor.here, state.workspace
    state.workspace = lambda: here  # type: ignore[assignment]
    try:
        return takeaway.recipe(here.runs[0]).dumps()
    finally:
        state.workspace = usual  # type: ignore[assignment]


@pytest.mark.slow
def test_a_dossier_can_be_cancelled(visitor: Visitor) -> None:
    publish(on_the_board(visitor, OURS))
    visitor.here.jobs["dossier"] = DossierTask((visitor.here.runs[0].id,), jobs.Job("Dossier"))
    visitor.run()
    visitor.press("Cancel")
    assert visitor.here.jobs["dossier"].job.status == "cancelled"
    assert visitor.has_button("Make the dossier")


@pytest.mark.slow
def test_a_column_says_which_rule_it_breaks_and_the_answer_names_none_that_does(
    visitor: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    models: list[Any] = []
    monkeypatch.setattr(grid, "draw", lambda model, _: models.append(model))
    on_the_board(visitor, OURS)
    mondrian, anatomy = (column["policy"] for column in models[-1]["columns"])
    assert (mondrian["text"], mondrian["tone"]) == ("Ours: keeps all 2 rules", "good")
    assert anatomy["text"].startswith("Ours: breaks groups of at least 5 people (k)")
    assert anatomy["tone"] == "bad"
    assert "Publish **Mondrian**" in visitor.texts()
    assert any("▲ policy: 5" in one.proto.body for one in visitor.at.get("html"))
    on_the_board(visitor, STRICT)
    assert models[-1]["columns"][0]["policy"]["tone"] == "bad"
    assert "it breaks Ours: groups of at least 40 people (k)" in visitor.texts()
    assert "Publish **" not in visitor.texts()


def test_a_judgement_in_a_few_words() -> None:
    def rule(status: str, name: str = "a rule", reached: str = "", columns: tuple[str, ...] = ()) -> dict[str, Any]:
        return {"status": status, "rule": name, "reached": reached, "columns": columns, "sentence": f"{status}: {name}"}

    def words(*rules: dict[str, Any]) -> tuple[str, str]:
        found = ByPolicy.of("Ours", {"rules": list(rules)})
        return found.text, found.tone

    assert (ByPolicy.of("Ours", None).text, ByPolicy.of("Ours", None).tone) == ("Ours: not measured yet", "plain")
    assert words(rule("kept")) == ("Ours: keeps its rule", "good")
    assert words(*[rule("kept")] * 5) == ("Ours: keeps all 5 rules", "good")
    broken = [rule("broken", f"r{place}", f"{place}") for place in range(3)]
    assert words(rule("kept"), *broken) == ("Ours: breaks r0: 0; r1: 1 and 1 more", "bad")
    assert ByPolicy.of("Ours", {"rules": [rule("kept"), broken[0]]}).all == "broken: r0\nkept: a rule"
    unless = rule("only if nobody knows", columns=("fnlwgt",))
    assert words(rule("kept"), unless) == ("Ours: keeps 1 of 2 rules, 1 only if nobody knows 'fnlwgt'", "warn")
    unknown = rule("not measured", "an attack")
    assert words(rule("kept"), unknown, unknown) == (
        "Ours: keeps 1 of 3 rules, not measured: an attack and 1 more",
        "warn",
    )
