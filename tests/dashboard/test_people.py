"""People instead of rows on the pages: the question on Attributes, its proposal, and what the results say."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from anoncore import Microdata
from anoncore.algorithms import Mondrian
from anoncore.requirements import KAnonymity
from dashboard import session_file, state, tagging
from dashboard.loaded_table import LoadedTable, untagged
from dashboard.views.class_detail import group_shares
from dashboard.workspace import MicrodataStore, Workspace
from tests.dashboard.conftest import Visitor

RNG = np.random.default_rng(3)
VISITS = pd.DataFrame(
    {
        "patient": [f"Patient {person}" for person in RNG.integers(0, 20, 80)],
        "age": RNG.integers(20, 60, 80),
        "diagnosis": RNG.choice(["flu", "cold", "ulcer"], 80),
    }
)
CSV = VISITS.to_csv(index=False).encode()
ROLES = {"patient": "identifier", "age": "quasi-identifier", "diagnosis": "sensitive"}


def test_a_repeated_identifier_is_proposed_and_taken_with_one_click(visitor: Visitor) -> None:
    visitor.upload("visits.csv", CSV).open("attributes")
    assert "Whose row is it?" not in [box.label for box in visitor.at.selectbox], "nothing is an identifier yet"
    visitor.tag(**ROLES)
    people = VISITS["patient"].nunique()
    assert f"'patient' has {people} different values in 80 rows." in visitor.texts()
    (box,) = [box for box in visitor.at.selectbox if box.label == "Whose row is it?"]
    assert box.options == ["Every row is another person", "patient"]
    visitor.press("Count people by 'patient'")
    assert state._workspaces.get(visitor.workspace).tags.unit == "patient"
    assert "different values in 80 rows." not in visitor.texts()
    assert f"of {people} people are unique in this attribute" in visitor.texts()


def test_results_speak_of_people(visitor: Visitor) -> None:
    visitor.upload("visits.csv", CSV).open("attributes").tag(**ROLES).press("Count people by 'patient'")
    visitor.open("anonymize").anonymize().open("classes")
    assert f"80 rows ({VISITS['patient'].nunique()} people) of visits.csv" in visitor.texts()
    assert "Different people are counted by 'patient'" in visitor.texts()
    assert any(metric.label == "Smallest" and metric.value.endswith(" people") for metric in visitor.at.metric)
    assert visitor.errors == []


def test_a_session_keeps_whose_rows_they_are() -> None:
    tags = replace(untagged(VISITS), roles=ROLES, unit="patient")
    assert tags.digest != replace(tags, unit=None).digest
    table = LoadedTable("id", "visits.csv", VISITS, "digest", (), None, untagged(VISITS))
    here, there = Workspace("one"), Workspace("two")
    here.load(table, tags)
    data = MicrodataStore().get(table, tags)
    here.add_run(
        Mondrian(requirements=(KAnonymity(k=4),)),
        Mondrian(requirements=(KAnonymity(k=4),)).anonymize(data),
        0.5,
        tags,
        table,
    )
    content = session_file.save(here)
    session_file.restore(there, session_file.read(content, state.builtin_table, MicrodataStore().get))
    assert there.tags.unit == "patient"
    (run,) = there.runs
    assert run.data.unit == "patient"
    assert run.data.people.tolist() == data.people.tolist()


def test_only_identifiers_may_say_whose_row_it_is() -> None:
    tags = replace(untagged(VISITS), roles=ROLES)
    assert tagging.unit_options(tags) == [None, "patient"]
    assert tagging.unit_options(replace(tags, unit="age")) == [None, "patient", "age"]
    assert tagging.unit_proposal(tags, {}) is None
    assert tagging.unit_proposal(tags, {"patient": (20, 80)})[0] == "patient"
    assert tagging.unit_proposal(replace(tags, unit="patient"), {"patient": (20, 80)}) is None


def test_shares_in_a_class_are_those_of_its_people() -> None:
    frame = pd.DataFrame({"who": [*"AAABCD"], "age": [20, 20, 20, 20, 60, 60], "illness": [*"fffcfc"]})
    data = Microdata(frame, {"age": "quasi-identifier", "illness": "sensitive"}, unit="who")
    release = Mondrian(requirements=(KAnonymity(k=2),)).anonymize(data)
    # A comes three times with f: of the two people of the class of 20 one has f and one c, as in the whole table.
    shares = group_shares(release, release.fragments[0], int(release.partition.group[0]), "illness")
    assert shares.group.tolist() == shares.table.tolist() == [0.5, 0.5]
