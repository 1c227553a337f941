"""Hierarchies drawn up by hand: what empty cells mean, moving values, conflicts in words, and nothing typed is lost."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anoncore import DataError, Hierarchy
from anoncore.recipes.source import HierarchySpec
from anoncore.table.hierarchy_draft import HierarchyDraft

TOWNS = ("Bonn", "Köln", "Lyon", "Paris", "Ulm")
COUNTRIES = Hierarchy.from_nested({"Europe": {"Germany": ["Bonn", "Köln", "Ulm"], "France": ["Lyon", "Paris"]}})
LABELS = st.sampled_from(["", "A", "B", "C", "Bonn", "*"])
LINES = st.integers(1, 3).flatmap(
    lambda height: st.lists(st.tuples(*[LABELS] * height), min_size=1, max_size=len(TOWNS))
)


def test_a_draft_begins_with_an_empty_level_or_the_groups_of_a_hierarchy():
    empty = HierarchyDraft.of(TOWNS)
    assert empty.cells == (("",),) * 5
    assert empty.hierarchy().paths == dict.fromkeys(TOWNS, ("*",))
    assert HierarchyDraft.of(TOWNS, Hierarchy({town: [] for town in TOWNS})) == empty
    draft = HierarchyDraft.of(TOWNS, COUNTRIES)
    assert draft.cells[2] == ("France", "Europe")
    assert draft.hierarchy().paths == COUNTRIES.paths
    # Values that the hierarchy lacks wait for a group.
    assert HierarchyDraft.of((*TOWNS, "Oslo"), COUNTRIES).cells[-1] == ("", "")
    # A top that has a name of its own has a column of its own.
    named = Hierarchy.from_table([["Bonn", "Germany", "Europe"], ["Lyon", "France", "Europe"]])
    assert HierarchyDraft.of(("Bonn", "Lyon"), named).cells == (("Germany", "Europe"), ("France", "Europe"))


def test_values_are_grouped_and_what_is_left_stays_by_itself():
    draft = HierarchyDraft.of(TOWNS).grouped([0, 1, 4], " Germany ")
    assert draft.hierarchy().paths["Ulm"] == ("Germany", "*")
    assert draft.hierarchy().paths["Lyon"] == ("Lyon", "*")
    assert draft.members(1) == {"Germany": [0, 1, 4], "Lyon": [2], "Paris": [3]}
    raised = draft.grouped([2, 3], "France").raised().grouped([0, 2], "West", level=2)
    # One value of each country moves all of the country: a group lies in one group.
    assert set(raised.hierarchy().paths.values()) == {("Germany", "West", "*"), ("France", "West", "*")}
    assert raised.lowered().hierarchy().paths == draft.grouped([2, 3], "France").hierarchy().paths
    assert raised.lowered().lowered() == HierarchyDraft.of(TOWNS)


def test_a_moved_value_follows_its_new_group_on_the_levels_above():
    draft = HierarchyDraft.of(
        TOWNS, Hierarchy.from_nested({"E": {"DE": ["Bonn", "Köln"], "FR": ["Lyon"]}, "X": {"Y": ["Paris", "Ulm"]}})
    )
    moved = draft.grouped([4], "DE")
    assert moved.hierarchy().paths["Ulm"] == ("DE", "E", "*")
    # A new group stays where all its members were; members from two groups leave both.
    assert draft.grouped([0, 2], "new").hierarchy().paths["Lyon"] == ("new", "E", "*")
    assert draft.grouped([0, 3], "new").hierarchy().paths["Bonn"] == ("new", "new", "*")
    assert draft.parted([0]).hierarchy().paths["Bonn"] == ("Bonn", "Bonn", "*")
    assert draft.parted([0], level=2).hierarchy().paths["Bonn"] == ("DE", "E", "*")


def test_a_group_in_two_groups_is_named_with_a_value_the_level_and_what_to_do():
    draft = HierarchyDraft.of(TOWNS).grouped([0, 1], "Germany").raised().typed({0: {2: "North"}, 1: {2: "West"}})
    with pytest.raises(DataError) as caught:
        draft.hierarchy()
    assert str(caught.value) == (
        "Level 2 puts the group 'Germany' into both 'North' (at 'Bonn') and 'West' (at 'Köln'). Type the same on level "
        "2 for all values of 'Germany', or put them into different groups on level 1."
    )
    assert draft.cells[:2] == (("Germany", "North"), ("Germany", "West")), "what was typed is still there"
    for mended in (draft.typed({1: {2: " North "}}), draft.typed({1: {2: None}})):
        assert mended.members(2)["North"] == [0, 1]
        # That level only calls Germany otherwise, so it is no level of the hierarchy.
        assert mended.hierarchy().paths["Köln"] == ("Germany", "*")
    assert draft.members(1)["Germany"] == [0, 1], "the levels below the mistake still count"


def test_groups_need_a_name_and_members():
    with pytest.raises(DataError, match="no name; type what"):
        HierarchyDraft.of(TOWNS).grouped([1], "  ")
    with pytest.raises(DataError, match="No value is chosen for the group 'x'"):
        HierarchyDraft.of(TOWNS).grouped([], "x")
    with pytest.raises(DataError, match="no values"):
        HierarchyDraft.of(()).hierarchy()


def plain_labels(values, cells):
    """The groups of all levels by the definition, one value after the other; None where a group lies in two."""
    below = [(number,) for number in range(len(values))]
    texts = list(values)
    levels = []
    for level in range(len(cells[0])):
        now = []
        for key, text in zip(below, texts, strict=True):
            typed = {cells[other][level] for other in range(len(values)) if below[other] == key and cells[other][level]}
            if len(typed) > 1:
                return None
            now.append(typed.pop() if typed else text)
        texts, below = now, [(text,) for text in now]
        levels.append(now)
    return levels


@given(LINES)
@settings(max_examples=150)
def test_against_the_plain_definition(lines):
    values = TOWNS[: len(lines)]
    draft = HierarchyDraft(values, tuple(lines))
    expected = plain_labels(values, lines)
    if expected is None:
        with pytest.raises(DataError, match=r"^Level \d puts the group"):
            draft.hierarchy()
        return
    paths = draft.hierarchy().paths
    assert set(paths) == set(values), "every value has a path"
    sizes = [len(values)]
    kept = [labels for labels in expected if len(set(labels)) < min(sizes) and (sizes.append(len(set(labels))) is None)]
    for place, value in enumerate(values):
        assert paths[value][: len(kept)] == tuple(labels[place] for labels in kept)
    again = HierarchyDraft.of(values, draft.hierarchy())
    assert again.hierarchy().paths == paths


@given(LINES, st.data())
@settings(max_examples=100)
def test_grouping_a_whole_hierarchy_never_breaks_its_nesting(lines, data):
    draft = HierarchyDraft(TOWNS[: len(lines)], tuple(lines))
    if plain_labels(draft.values, lines) is None:
        return
    whole = HierarchyDraft.of(draft.values, draft.hierarchy())
    places = data.draw(st.lists(st.integers(0, len(lines) - 1), min_size=1, unique=True))
    grouped = whole.grouped(places, "new")
    assert grouped.members(1)["new"] == sorted(places)
    assert set(grouped.hierarchy().paths) == set(draft.values)
    assert whole.parted(places).hierarchy() is not None


def test_a_draft_and_a_recipe_keep_apart_what_python_takes_for_one_value():
    drawn = HierarchyDraft.of([True, 1, "1"]).grouped([0], "truth").grouped([1, 2], "number").hierarchy()
    assert [drawn.path_of(value)[0] for value in (True, 1, "1")] == ["truth", "number", "number"]
    again = HierarchySpec.of(drawn).build(pd.Series(dtype=object), Path())
    assert again.paths == drawn.paths
    assert again.paths != Hierarchy([(True, ["number"]), (1, ["truth"]), ("1", ["number"])]).paths
