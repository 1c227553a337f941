"""The page Closeness: ranked groups, the chosen one's distribution and the mass that moves, by ground distance."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from anoncore import Hierarchy, privacy
from anoncore.algorithms import Anatomy, Mondrian, SensitiveSpaceFragmentation, StackAndDeal
from anoncore.requirements import KAnonymity, TCloseness
from dashboard.session import state
from dashboard.session.loaded_table import LoadedTable
from dashboard.session.workspace import Run
from tests.dashboard.conftest import Visitor
from tests.dashboard.results import ROLES, add_run, figure, grid, metrics, people, put, tagged

PAIRS = {"age": "quasi-identifier", "town": "quasi-identifier", "illness": "sensitive", "visits": "sensitive"}


def frame() -> pd.DataFrame:
    return people()[list(PAIRS)]


def add_tree_run(visitor: Visitor) -> Run:
    """A run whose sensitive attribute has a hierarchy."""
    tags = tagged(people(), ROLES).changed(
        "hierarchies", "illness", Hierarchy.from_nested({"cough": ["flu", "cold"], "other": ["ulcer", "_gout_"]})
    )
    table = LoadedTable("tree", "tree.csv", people(), "tree", (), None, tags)
    here = state._workspaces.get(visitor.workspace)
    here.load(table, tags)
    model = Mondrian(requirements=(KAnonymity(k=8), TCloseness(t=0.5, ground="hierarchical")))
    return put(here, model, table, tags, model.anonymize(state._microdata.get(table, tags)))


def choose(visitor: Visitor, run: Run, attribute: str, ground: str, group: int) -> Visitor:
    fragment = run.release.fragments[0].name
    visitor.at.session_state[f"_closeness-{run.id}-{attribute}-{ground}-{fragment}"] = group
    return visitor.run()


@pytest.mark.slow
def test_without_a_release_the_page_makes_those_of_the_board(visitor: Visitor) -> None:
    visitor.open("closeness").until(lambda: visitor.here.runs)
    assert visitor.errors == []
    run = visitor.here.runs[0]
    assert run.column == "c1"
    assert run.label in visitor.texts()


def test_groups_are_ranked_by_their_distance(visitor: Visitor) -> None:
    run = add_run(visitor, Mondrian(requirements=(KAnonymity(k=6), TCloseness(t=0.6, ground="equal"))))
    visitor.open("closeness")
    distances = privacy.emd(run.release, "illness", "equal")
    listed = grid(visitor, "list-closeness")
    assert listed["distance"].is_monotonic_decreasing
    assert listed["distance"].to_numpy() == pytest.approx(distances[listed["group"]])
    assert listed["size"].tolist() == run.release.partition.sizes[listed["group"]].tolist()
    assert metrics(visitor)["t of illness (equal)"] == f"{distances.max():.4f}"
    assert [one.delta for one in visitor.at.metric if one.label.startswith("t of")] == ["asked at most 0.6: holds"]
    assert metrics(visitor)["EMD"] == f"{distances.max():.4f}"
    assert visitor.at.subheader[0].value == f"Group {distances.argmax()}"


def test_every_sensitive_attribute_has_its_own_t(visitor: Visitor) -> None:
    model = SensitiveSpaceFragmentation(t={"illness": 0.3, "visits": 0.15}, seed=0)
    run = add_run(visitor, model, frame(), PAIRS, "pairs.csv")
    visitor.open("closeness")
    found = metrics(visitor)
    assert found["t of illness (equal)"] == f"{privacy.emd(run.release, 'illness', 'equal').max():.4f}"
    assert found["t of visits (ordered)"] == f"{privacy.emd(run.release, 'visits', 'ordered').max():.4f}"
    notes = [one.delta for one in visitor.at.metric if one.label.startswith("t of")]
    assert notes == ["asked at most 0.3: holds", "asked at most 0.15: holds"]
    visitor.at.selectbox(key="closeness-attribute").set_value("visits")
    visitor.run()
    figure(visitor, "closeness-ordered")


def test_the_prefix_sums_are_drawn_below_the_shares(visitor: Visitor) -> None:
    run = add_run(visitor, StackAndDeal(k=12, seed=0), frame(), {**PAIRS, "illness": "insensitive"}, "visits.csv")
    visitor.open("closeness")
    choose(visitor, run, "visits", "ordered", 3)
    table, group, crossing = figure(visitor, "closeness-ordered")
    codes, size = run.data.codes["visits"], len(run.data.domain["visits"])
    inside = np.bincount(codes[run.release.partition.group == 3], minlength=size)
    whole = np.bincount(codes, minlength=size)
    assert group["y"] == pytest.approx(inside / inside.sum())
    assert table["y"] == pytest.approx(whole / whole.sum())
    sums = np.cumsum(inside / inside.sum() - whole / whole.sum())[:-1]
    assert crossing["y"][1:-1] == pytest.approx(sums)
    assert np.abs(sums).mean() == pytest.approx(privacy.emd(run.release, "visits", "ordered")[3])


def test_ribbons_lead_from_surplus_to_lack(visitor: Visitor) -> None:
    run = add_run(visitor, Mondrian(requirements=(KAnonymity(k=6),)))
    visitor.open("closeness")
    choose(visitor, run, "illness", "equal", 2)
    _, group, *ribbons = figure(visitor, "closeness-equal")
    plan = privacy.transport(run.release, "illness", 2, "equal")
    assert len(ribbons) == len(plan.mass)
    assert [float(ribbon["text"].split("%")[0]) for ribbon in ribbons] == pytest.approx(100 * plan.mass, abs=0.006)
    assert group["x"] == pytest.approx(plan.group)


def test_mass_turns_at_the_nodes_of_the_tree(visitor: Visitor) -> None:
    run = add_tree_run(visitor)
    visitor.open("closeness")
    choose(visitor, run, "illness", "hierarchical", 1)
    turns = figure(visitor, "closeness-hierarchical")[-1]
    cost = sum(float(row[2]) for row in turns["customdata"])
    assert cost == pytest.approx(privacy.emd(run.release, "illness", "hierarchical")[1])


def test_a_release_in_two_tables_is_measured_too(visitor: Visitor) -> None:
    run = add_run(visitor, Anatomy(l=2))
    visitor.open("closeness")
    assert metrics(visitor)["t of illness (equal)"] == f"{privacy.emd(run.release, 'illness', 'equal').max():.4f}"
    assert visitor.at.subheader[0].value.startswith("Group ")


def test_without_a_sensitive_attribute_it_says_so(visitor: Visitor) -> None:
    add_run(visitor, Mondrian(requirements=(KAnonymity(k=6),)), roles={**ROLES, "illness": "insensitive"})
    visitor.open("closeness")
    assert "no distance from the table can be measured" in visitor.texts()
