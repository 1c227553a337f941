"""The page Method draws Incognito's lattice, the search for the optimum and Mondrian's cuts as they are made."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from anoncore import Hierarchy, Microdata, utility
from anoncore.algorithms import Incognito, Mondrian, OptimalRecoding, Suppression
from anoncore.algorithms.full_domain.best_first import Course
from anoncore.algorithms.full_domain.lattice_map import lattice_map, search_map
from anoncore.algorithms.mondrian_cuts import attempts, cut_steps
from anoncore.base.texts import share_text
from anoncore.requirements import DistinctDiversity, KAnonymity
from dashboard.charts.palette import run_style
from dashboard.closer.lattice import Drawing, lattice_chart, level_table, levels_text
from dashboard.closer.mondrian import cut_sentence, plane_of, whole_sentence
from dashboard.session import state
from tests.dashboard.conftest import Visitor
from tests.dashboard.results import ROLES, add_run, figure, metrics, people

K6 = (KAnonymity(k=6),)


def chart(visitor: Visitor, key: str) -> list[dict[str, Any]]:
    """The traces of a figure; the lattice is searched in the background first."""
    for _ in range(40):
        try:
            return figure(visitor, key)
        except AssertionError:
            visitor.run()
    return figure(visitor, key)


def test_the_lattice_is_drawn_with_the_published_levels_marked(visitor: Visitor) -> None:
    run = add_run(visitor, Incognito(requirements=K6))
    visitor.open("method")
    traces = {trace["name"]: trace for trace in chart(visitor, "lattice-")}
    lattice = lattice_map(run.release)
    every, anonymous = lattice.counts()
    assert metrics(visitor)["Combinations of levels"] == str(every.sum())
    assert metrics(visitor)["Anonymous"] == str(anonymous.sum())
    assert metrics(visitor)["Published"] == levels_text(lattice.chosen)
    assert len(traces["not anonymous"]["x"]) == every.sum() - anonymous.sum()
    assert [float(y) for y in traces["published"]["y"]] == [sum(lattice.chosen)]
    assert "**Published.**" in visitor.texts()


def test_the_search_for_the_optimum_is_drawn_as_it_went(visitor: Visitor) -> None:
    run = add_run(visitor, OptimalRecoding(requirements=K6, max_suppression=0.1))
    visitor.open("method")
    traces = {trace["name"]: trace for trace in chart(visitor, "lattice-")}
    found = search_map(run.release)
    shown = metrics(visitor)
    assert shown["Combinations of levels"] == f"{found.optimum.n_nodes:,}"
    assert shown["Looked at"] == str(found.count(Course.FAILED) + found.count(Course.POSSIBLE))
    assert shown["Left out by bound"] == str(found.count(Course.BOUNDED))
    assert shown["Ruled out"] == str(found.count(Course.RULED_OUT))
    assert shown["Published"] == levels_text(found.chosen)
    assert len(traces["looked at: promise holds"]["x"]) == found.count(Course.POSSIBLE) - 1
    assert len(traces["left out by its bound"]["x"]) == found.count(Course.BOUNDED)
    assert [float(y) for y in traces["published"]["y"]] == [sum(found.chosen)]
    assert "**Published.**" in visitor.texts()


def test_another_combination_is_shown_up_close(visitor: Visitor) -> None:
    run = add_run(visitor, Incognito(requirements=K6))
    visitor.open("method")
    chart(visitor, "lattice-")
    visitor.at.selectbox(key=f"lattice-node-{run.id}").set_value((0, 0, 0))
    visitor.run()
    assert "**Not anonymous.**" in visitor.texts()
    groups = run.data.frame[["age", "sex", "town"]].value_counts()
    assert f"the table has {len(groups):,} groups, the smallest of {groups.min():,} row" in visitor.texts()
    failing = int(groups[groups < 6].sum())
    assert f"break a requirement: {failing:,} rows" in visitor.texts()


def test_levels_are_told_in_words() -> None:
    frame = people().drop(columns="name")
    data = Microdata(
        frame,
        roles={name: role for name, role in ROLES.items() if name != "name"},
        hierarchies={"age": Hierarchy.by_width(frame["age"], width=40)},
    )
    release = Incognito(requirements=K6).anonymize(data)
    table = level_table(release, (1, 0, 1)).set_index("Attribute")
    assert table.loc["age", "Level"].startswith("1 of ")
    assert table.loc["sex", "Shown"] == "f, m"
    assert table.loc["town", "Shown"] == "*"


def test_edges_lead_to_direct_generalizations(visitor: Visitor) -> None:
    run = add_run(visitor, Incognito(requirements=K6))
    lattice = lattice_map(run.release)
    drawing = Drawing.of(lattice, lattice.excerpt())
    chart = lattice_chart(lattice, drawing, run_style(0), lattice.chosen)
    edges = next(trace for trace in chart.data if trace.name == "edges")
    rises = np.asarray(edges.y).reshape(-1, 3)
    assert (rises[:, 1] - rises[:, 0] == 1).all()
    assert len(rises) == sum(len(lattice.above(node)) for node in drawing.nodes)


def test_cuts_are_gone_through_step_by_step(visitor: Visitor) -> None:
    run = add_run(visitor, Mondrian(requirements=K6))
    visitor.open("method")
    found = cut_steps(run.release)
    whole = found.regions[0]
    name = found.names[whole.attribute or 0]
    assert f"A region of 240 rows is cut by {name}" in visitor.texts()
    traces = figure(visitor, "cuts-map")
    assert traces[0]["customdata"].sum() == 240
    assert len(traces) == 2 + len(whole.sides)
    visitor.press("Next")
    second = found.regions[found.steps[1]]
    assert f"A region of {len(second.rows):,} rows is cut by" in visitor.texts()
    visitor.press("Back")
    assert "A region of 240 rows is cut by" in visitor.texts()


def test_one_class_is_followed_until_it_stays_whole(visitor: Visitor) -> None:
    run = add_run(visitor, Mondrian(requirements=(KAnonymity(k=6), DistinctDiversity(l=2))))
    visitor.open("method")
    visitor.at.selectbox(key="cuts-follow").set_value("one group, from the whole table down")
    visitor.run()
    visitor.at.number_input(key=f"cuts-class-{run.id}").set_value(3)
    visitor.run()
    rows = run.release.partition.rows(3)
    slider = visitor.at.slider[0]
    slider.set_value(slider.max)
    visitor.run()
    assert f"This region of {len(rows)} rows stays whole" in visitor.texts()
    assert whole_sentence(run.release, rows, attempts(run.release, rows)) in visitor.texts()
    assert "breaks a requirement" in visitor.texts()


def test_regions_of_a_step_tile_the_plane_of_two_attributes(visitor: Visitor) -> None:
    run = add_run(visitor, Mondrian(requirements=K6), roles={"age": "quasi-identifier", "visits": "quasi-identifier"})
    found = cut_steps(run.release)
    for step in range(len(found.steps)):
        there = found.whole_after(step + 1)
        plane = plane_of(run.release, found, found.steps[step], there, ("age", "visits"))
        left, right, bottom, top = plane.regions
        whole = (plane.x.edges[-1] - plane.x.edges[0]) * (plane.y.edges[-1] - plane.y.edges[0])
        covered = ((right - left) * (top - bottom)).sum()
        # Regions that share their median lie over each other there, so they may cover a little more than the plane.
        assert covered >= whole * (1 - 1e-9)
    first = cut_sentence(run.release, found, found.regions[0], attempts(run.release, found.regions[0].rows))
    assert "tries the widest attribute first" in first


@pytest.mark.parametrize("split", ["loss", "infogain"])
def test_other_splits_say_what_they_optimize(visitor: Visitor, split: str) -> None:
    target = "illness" if split == "infogain" else None
    add_run(visitor, Mondrian(requirements=K6, split=split, target=target))
    visitor.open("method")
    assert visitor.errors == []
    assert "Of all allowed cuts the method takes the one" in visitor.texts()


def test_steps_are_kept_apart_by_run(visitor: Visitor) -> None:
    first = add_run(visitor, Mondrian(requirements=K6))
    visitor.open("method")
    visitor.press("Next")
    add_run(visitor, Mondrian(requirements=(KAnonymity(k=9),)))
    visitor.run()
    assert "A region of 240 rows is cut by" in visitor.texts()
    state._workspaces.get(visitor.workspace).current = first.id
    visitor.run()
    assert "A region of 240 rows is cut by" not in visitor.texts()


def test_leaving_people_out_is_told_step_by_step_with_what_it_does_to_all_others(visitor: Visitor) -> None:
    frame = people()
    frame.loc[:14, "age"] = np.arange(15) * 1_000
    run = add_run(visitor, Suppression(method=Mondrian(requirements=(KAnonymity(k=10),)), max_suppression=0.1), frame)
    visitor.open("method")
    shown, left_out = metrics(visitor), run.release.suppressed_rows
    assert shown["Left out"] == "12"
    assert shown["Share left out"] == share_text(12 / 240) == "5.0%"
    # The mean over all rows, of which those left out have lost everything.
    loss = float(utility.information_loss(run.release))
    assert shown["Loss of all"] == share_text(loss)
    assert shown["Loss of the others"] == share_text((loss * 240 - left_out.sum()) / (240 - left_out.sum()))
    assert "up to 24 of them" in visitor.texts()


def test_where_leaving_people_out_does_not_pay_that_is_said(visitor: Visitor) -> None:
    add_run(visitor, Suppression(method=Mondrian(requirements=K6), max_suppression=0.01))
    visitor.open("method")
    assert "nobody is left out" in visitor.texts()
    assert "Left out" not in metrics(visitor)
