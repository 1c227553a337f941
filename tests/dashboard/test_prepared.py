"""Shifted dates and pseudonyms on the page Table: chosen, kept by sessions, taken away with recipe and key."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest

from anoncore import AnonymizationError, Recipe
from anoncore.algorithms import Mondrian
from anoncore.recipes.engine_choice import on_disk
from anoncore.recipes.saved_releases import saved_releases
from anoncore.requirements import KAnonymity
from anoncore.table.preparation import secret_pseudonyms
from anoncore.table.pseudonyms import NOT_PUBLIC
from dashboard.session import loaded_table, session_file, state
from dashboard.session.loaded_table import LoadedTable, Tags, untagged
from dashboard.session.workspace import MicrodataStore, Workspace
from dashboard.views import takeaway
from tests.dashboard.conftest import Visitor
from tests.dashboard.results import put

VISITS = pd.DataFrame(
    {
        "patient": [f"Patient {row // 2}" for row in range(40)],
        "age": [20 + 7 * row % 40 for row in range(40)],
        "admitted": pd.date_range("2024-01-01", periods=40, freq="9D"),
        "diagnosis": ["flu", "cold", "ulcer", "gout"] * 10,
    }
)
CSV = VISITS.to_csv(index=False).encode()
ROLES = {"patient": "identifier", "age": "quasi-identifier", "diagnosis": "sensitive", "admitted": "insensitive"}
TABLE = LoadedTable("id", "visits.csv", VISITS, "digest", (), None, untagged(VISITS))
TAGS = replace(untagged(VISITS), roles=ROLES, unit="patient", shifted=("admitted",), most_days=9, is_pseudonym=True)
METHOD = Mondrian(requirements=(KAnonymity(k=4),))


def test_nothing_is_offered_before_somebody_says_whose_rows_they_are(visitor: Visitor) -> None:
    visitor.upload("visits.csv", CSV).open("table").tag(**ROLES)
    assert not [one for one in visitor.at.toggle if "pseudonym" in one.label]
    visitor.press("Count people by 'patient'")
    assert [one.label for one in visitor.at.toggle if "pseudonym" in one.label] == [
        "Publish a pseudonym in place of 'patient'"
    ]
    (dates,) = [one for one in visitor.at.multiselect if one.label == "Shift dates"]
    assert dates.options == ["admitted"]
    assert visitor.errors == []


def test_what_is_chosen_is_done(visitor: Visitor) -> None:
    visitor.upload("visits.csv", CSV).open("table").tag(**ROLES).press("Count people by 'patient'")
    next(one for one in visitor.at.multiselect if one.label == "Shift dates").select("admitted").run()
    next(one for one in visitor.at.number_input if one.label == "By up to so many days").set_value(12).run()
    next(one for one in visitor.at.toggle if "pseudonym" in one.label).set_value(True).run()
    tags = state._workspaces.get(visitor.workspace).tags
    assert (tags.shifted, tags.most_days, tags.publishes_pseudonym) == (("admitted",), 12, True)
    data = state._microdata.get(state._workspaces.get(visitor.workspace).table, tags)
    assert data.pseudonym == "patient"
    assert data.shifts.most == 12
    visitor.make().open("board")
    assert visitor.errors == []
    assert "joins the rows of a person" in visitor.texts()


def test_the_table_is_prepared_in_the_same_way_whenever_it_is_coded() -> None:
    first, second = MicrodataStore().get(TABLE, TAGS), MicrodataStore().get(TABLE, TAGS)
    assert first.frame.equals(second.frame)
    other = MicrodataStore().get(TABLE, replace(TAGS, secret=Tags().secret))
    assert not first.frame["patient"].equals(other.frame["patient"])
    assert TAGS.digest != replace(TAGS, most_days=8).digest != replace(TAGS, secret=Tags().secret).digest
    assert TAGS.secret not in repr(TAGS)


def test_a_session_keeps_what_was_prepared(tmp_path) -> None:
    here, there = Workspace("one"), Workspace("two")
    here.load(TABLE, TAGS)
    data = MicrodataStore().get(TABLE, TAGS)
    put(here, METHOD, TABLE, TAGS, METHOD.anonymize(data))
    content = session_file.save(here)
    session_file.restore(there, session_file.read(content, loaded_table.builtin_table, MicrodataStore().get))
    assert (there.tags.shifted, there.tags.most_days, there.tags.is_pseudonym) == (("admitted",), 9, True)
    assert there.tags.secret == TAGS.secret
    (run,) = there.runs
    assert run.data.frame["admitted"].tolist() == data.frame["admitted"].tolist()
    assert run.data.shifts.days.tolist() == data.shifts.days.tolist()
    (tmp_path / "visits.session").write_bytes(content)
    (release,) = saved_releases(tmp_path / "visits.session")
    assert release.data.frame["patient"].tolist() == data.frame["patient"].tolist()


@pytest.mark.slow
def test_a_session_without_it_has_no_secret() -> None:
    here, there = Workspace("one"), Workspace("two")
    plain = replace(TAGS, shifted=(), is_pseudonym=False)
    here.load(TABLE, plain)
    session_file.restore(
        there, session_file.read(session_file.save(here), loaded_table.builtin_table, MicrodataStore().get)
    )
    assert not there.tags.is_prepared


@pytest.mark.parametrize("secret", ["no hex", "00", 7])
def test_a_session_with_a_bad_secret_is_refused(secret: object) -> None:
    with pytest.raises((AnonymizationError, ValueError, TypeError)):
        session_file._tags(
            Recipe.loads(session_file._recipe(METHOD, TAGS)), TABLE, {"secret": secret}
        ) and MicrodataStore().get(TABLE, replace(TAGS, secret=str(secret)))


def test_recipe_and_key_are_taken_away(visitor: Visitor) -> None:
    here = Workspace("one")
    here.load(TABLE, TAGS)
    data = MicrodataStore().get(TABLE, TAGS)
    run = put(here, METHOD, TABLE, TAGS, METHOD.anonymize(data))
    recipe = Recipe.of("visits.csv", run.data, METHOD)
    assert (recipe.dates["admitted"].shift, list(recipe.pseudonyms)) == (9, ["patient"])
    assert TAGS.secret not in recipe.dumps()
    paper = takeaway._pseudonym_key(run)
    assert paper.make().splitlines() == [NOT_PUBLIC, secret_pseudonyms(bytes.fromhex(TAGS.secret)).key.hex()]
    assert "not-for-publication" in paper.ending


def test_all_rows_are_never_published_without_what_was_chosen() -> None:
    recipe = Recipe({"path": "visits.csv"}, METHOD, roles=ROLES, unit="patient", **TAGS.preparations)
    with pytest.raises(AnonymizationError, match="Only the engine memory shifts dates"):
        on_disk(recipe)
