"""Columns without a role are left out everywhere; what insensitive ones do, published by decision, every page says."""

from __future__ import annotations

import pandas as pd

from anoncore.algorithms import Mondrian
from anoncore.requirements import KAnonymity
from dashboard.board import facts, wording
from dashboard.elements import verdicts
from dashboard.session import state
from dashboard.views import takeaway
from tests.dashboard.conftest import Visitor
from tests.dashboard.results import add_run

ALGORITHM = Mondrian(requirements=(KAnonymity(k=6),))
ROLES = {"age": "quasi-identifier", "degree": "quasi-identifier"}
DECIDED = {**ROLES, "years": "insensitive", "note": "insensitive"}
BREAKING = "'years', 'note', published by decision, find everybody: 24 of 24 rows lie in groups of fewer than k = 6"


def pupils() -> pd.DataFrame:
    return pd.DataFrame(
        {"age": range(20, 44), "degree": ["none", "school", "college"] * 8, "years": [8, 12, 16] * 8, "note": range(24)}
    )


def downloads(visitor: Visitor) -> dict[str, bool]:
    """Whether each file can be taken, by the label of its button."""
    return {button.proto.label: not button.proto.disabled for button in visitor.at.download_button}


def test_what_nobody_decided_on_is_in_no_file(visitor: Visitor) -> None:
    run = add_run(visitor, ALGORITHM, pupils(), ROLES)
    visitor.open("publish")
    assert all(downloads(visitor).values())
    assert list(run.release.tables()["release"]) == ["age", "degree"]
    assert "Left out because nobody decided on them: years, note." in visitor.texts()
    assert takeaway.recipe(run).roles == ROLES
    assert "Everything that was asked holds." in visitor.texts()


def test_every_face_gives_the_one_verdict_on_a_column_that_is_published_by_decision(visitor: Visitor) -> None:
    run = add_run(visitor, ALGORITHM, pupils(), DECIDED)
    headline = f"Everything that was asked holds over what is known; {BREAKING}."
    assert verdicts.verdict_of(run).headline == headline
    visitor.open("publish")
    (shown,) = [one for one in visitor.errors if one.startswith("**Everything")]
    assert shown.startswith(f"**{headline}**")
    assert not visitor.at.success, "the good half is never green alone"
    assert any("'years' is published by decision and tells 'degree'" in one for one in visitor.errors)
    # The first line of its column on the board says the same.
    judged = facts.Judged.of(facts.verdict_of(run, ()))
    words, tone = wording.first_line(facts.marks(run, run.promises), judged)
    assert (words, tone) == (f"Keeps all that is asked over what is known; {BREAKING}", "bad")
    assert not wording.keeps(facts.marks(run, run.promises), judged)


def test_what_left_out_columns_would_do_is_said_where_they_are_decided_on(visitor: Visitor) -> None:
    add_run(visitor, ALGORITHM, pupils(), ROLES)
    here = state._workspaces.get(visitor.workspace)
    visitor.open("board")
    visitor.at.session_state["board-decide"] = True
    visitor.run()
    assert "2 of 4 columns are left out of every release until you decide on them: years, note." in visitor.texts()
    assert (
        "Published as they are, they would undo the promise: 'years' tells 'degree'; 'note' makes 24 rows unique."
        in visitor.texts()
    )
    fields = {one.label: one for one in visitor.at.multiselect}
    for label, chosen in (("Known to others", []), ("Names the person", []), ("Published as it is", ["note"])):
        fields[label].set_value(chosen)
    visitor.run()
    visitor.press("Decide")
    assert here.tags.roles == {**ROLES, "note": "insensitive"}
    assert state._microdata.get(here.table, here.tags).left_out == ("years",)
    visitor.press("Undo")
    assert here.tags.roles == ROLES
    here.jobs["board"].cancel()


def test_the_answer_of_the_board_leaves_out_what_stands_in_its_way(visitor: Visitor) -> None:
    add_run(visitor, ALGORITHM, pupils(), DECIDED)
    visitor.open("board")
    assert "None of these keeps all that you ask." in visitor.texts()
    visitor.press("Leave out 'years', 'note'")
    here = state._workspaces.get(visitor.workspace)
    assert here.tags.roles == ROLES
    visitor.press("Undo")
    assert here.tags.roles == DECIDED
    here.jobs["board"].cancel()


def test_a_tag_from_the_page_needs_another_release(visitor: Visitor) -> None:
    add_run(visitor, ALGORITHM, pupils(), DECIDED)
    visitor.open("publish")
    visitor.press("Tag it as known to others")
    here = state._workspaces.get(visitor.workspace)
    tagged = [name for name in ("years", "note") if here.tags.roles[name] == "quasi-identifier"]
    assert len(tagged) == 1
    # The releases are made anew with it, and the one that is shown protects it.
    shown = next(run for run in here.runs if run.id == here.current)
    assert tagged[0] in shown.data.quasi_identifiers


def test_the_page_attributes_proposes_the_tag(visitor: Visitor) -> None:
    add_run(visitor, ALGORITHM, pupils(), DECIDED)
    visitor.open("table")
    assert "'years' is published by decision and tells 'degree' of every row" in visitor.texts()
    assert "Insensitive columns that make rows unique" in visitor.texts()
    visitor.press("Tag it as known to others")
    assert "tells 'degree'" not in visitor.texts()
    here = state._workspaces.get(visitor.workspace)
    here.set_tags(here.tags.changed("roles", "note", None))
    visitor.run()
    assert "Insensitive columns that make rows unique" not in visitor.texts(), "it is left out"


def test_of_a_built_in_table_nothing_is_published_that_the_visitor_did_not_decide(visitor: Visitor) -> None:
    here = state._workspaces.get(visitor.workspace)
    data = state._microdata.get(here.table, here.tags)
    assert data.left_out == ("hours-per-week", "native-country", "income", "salary-class")
    assert (data.people_word, data.n_people) == ("people", data.n_rows)
    visitor.open("board")
    assert (
        "the 4 columns on which nobody decided (hours-per-week, native-country, income, salary-class) counted as"
        in (visitor.texts())
    )
