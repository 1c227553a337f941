"""The cuts made again: by hand, all of them give the release's classes, and boxes and reasons are what rows say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings

from anoncore import AnonymizationError, Hierarchy, Microdata, Partition, Release, ReleaseError
from anoncore.algorithms import Anatomy, Mondrian
from anoncore.algorithms.mondrian_cuts import attempts, cut_steps
from anoncore.requirements import DistinctDiversity, FrequencyDiversity, KAnonymity, TCloseness
from tests.properties.strategies import tagged_tables

VARIANTS: list[dict[str, Any]] = [
    {},
    {"strict": True},
    {"split": "loss"},
    {"split": "infogain"},
    {"recoding": "regions"},
    {"requirements": (KAnonymity(k=2), DistinctDiversity(l=2))},
]


def release_of(frame: pd.DataFrame, **changes: Any) -> Release:
    roles = {name: "sensitive" if name == "ill" else "quasi-identifier" for name in frame}
    hierarchies = changes.pop("hierarchies", {})
    data = Microdata(frame, roles=roles, hierarchies=hierarchies)
    return Mondrian(**{"requirements": (KAnonymity(k=2),), **changes}).anonymize(data)


def test_by_hand():
    # The ages span the whole domain as the sexes do; age comes first and is cut between 22 and 44, where its median is.
    release = release_of(pd.DataFrame({"age": [44, 21, 22, 46], "sex": list("fmfm")}))
    found = cut_steps(release)
    assert found.steps == (0, 1, 2)
    whole, young, old = found.regions
    assert (whole.attribute, whole.sides, whole.is_final) == (0, (1, 2), False)
    assert sorted(young.rows.tolist()) == [1, 2]
    assert sorted(old.rows.tolist()) == [0, 3]
    assert young.is_final
    assert old.is_final
    assert (young.low.tolist(), young.high.tolist()) == ([0, 0], [1, 1])
    assert found.whole_after(0) == [0]
    assert found.whole_after(1) == [1, 2]
    tried = attempts(release, young.rows)
    assert [one.attribute for one in tried] == ["sex", "age"]
    assert tried[0].sizes == (1, 1)
    assert tried[1].where == "up to 21 | from 22"
    assert "k-anonymity" in tried[0].broken
    assert "at least 2 is asked" in tried[0].broken
    assert attempts(release, whole.rows)[0].broken == ""


def test_numbers_that_lie_at_one_place_of_the_axis_are_not_cut():
    # Above -3, the last two are 2^53 + 3 and 2^53 + 4 steps: one double.
    release = release_of(pd.DataFrame({"count": [-3] * 3 + [2**53] * 2 + [2**53 + 1] * 2, "sex": ["f"] * 7}))
    found = cut_steps(release, most=None)
    assert sorted(len(region.rows) for region in found.regions if region.is_final) == [3, 4]
    assert all(attempts(release, region.rows) == [] for region in found.regions if region.is_final)


def test_a_category_with_a_hierarchy_is_tried_into_the_children():
    towns = Hierarchy.from_nested({"north": ["A", "B"], "south": ["C", "D"]})
    release = release_of(pd.DataFrame({"town": list("AABBCCDD")}), hierarchies={"town": towns})
    (tried,) = attempts(release, np.arange(8))
    assert (tried.where, tried.sizes, tried.broken) == ("north | south", (4, 4), "")
    assert len(cut_steps(release).regions) == 7


def test_down_to_one_row_only_its_regions_are_cut():
    rng = np.random.default_rng(3)
    release = release_of(pd.DataFrame({"age": rng.integers(0, 90, 200), "pay": rng.integers(0, 900, 200)}))
    for row in (0, 77, 199):
        found = cut_steps(release, row)
        assert all(row in found.regions[number].rows for number in found.steps)
        last = found.regions[found.steps[-1]]
        assert last.is_final
        group = release.partition.group[row]
        assert sorted(last.rows.tolist()) == release.partition.rows(group).tolist()


def test_other_methods_have_no_such_cuts():
    data = Microdata(
        pd.DataFrame({"a": [1, 2], "ill": ["x", "y"]}), roles={"a": "quasi-identifier", "ill": "sensitive"}
    )
    with pytest.raises(ReleaseError, match="Only a release that Mondrian made"):
        cut_steps(Anatomy(l=2, seed=1).anonymize(data))


@pytest.mark.slow
@pytest.mark.parametrize("variant", VARIANTS)
@given(table=tagged_tables(max_rows=40))
@settings(max_examples=25)
def test_all_cuts_give_the_classes_of_the_release(variant: dict[str, Any], table: Any) -> None:
    data = table.microdata()
    if variant.get("split") == "infogain":
        variant = {**variant, "target": data.attributes[-1]}
    model = Mondrian(**{"requirements": (KAnonymity(k=2),), **variant})
    try:
        release = model.anonymize(data)
    except AnonymizationError:
        return
    found = cut_steps(release, most=None)
    classes = {frozenset(release.partition.rows(group).tolist()) for group in range(release.partition.n_groups)}
    final = [frozenset(region.rows.tolist()) for region in found.regions if region.is_final]
    assert len(found.steps) == len(found.regions)
    if data.people is None:
        assert set(final) == classes
    for region in found.regions:
        codes = np.column_stack([data.codes[name][region.rows] for name in found.names])
        assert (region.low <= codes.min(axis=0)).all()
        assert (codes.max(axis=0) <= region.high).all()
        if region.sides:
            rows = np.concatenate([found.regions[side].rows for side in region.sides])
            assert sorted(rows.tolist()) == sorted(region.rows.tolist())
            assert region.attribute is not None
            others = np.arange(len(found.names)) != region.attribute
            for side in region.sides:
                assert (found.regions[side].low[others] == region.low[others]).all()
        elif not model.uses_target and model.split == "median":
            assert all(one.broken for one in attempts(release, region.rows))


def plainly_tried(release: Release, rows: list[int], name: str, last: int) -> list[str]:
    """Which requirements fail on the two sides up to a code and above it, one side and requirement after the other."""
    codes = release.data.codes[name]
    sides = [[row for row in rows if codes[row] <= last], [row for row in rows if codes[row] > last]]
    failing = []
    for requirement in release.algorithm.requirements:
        for check in requirement.checks(release.data):
            levels = [check.levels(Partition(np.zeros(len(side), np.int32)), rows=np.array(side))[0] for side in sides]
            failing += [requirement.title] if not check.holds(np.array(levels)).all() else []
    return failing


@pytest.mark.parametrize("unit", [None, "who"])
def test_what_a_cut_breaks_is_what_the_rows_of_its_sides_say(unit):
    """Levels are told by counts; where a person has several rows, by the people of each side."""
    rng = np.random.default_rng(8)
    frame = pd.DataFrame({"age": rng.integers(0, 40, 90), "pay": rng.integers(0, 9, 90)})
    frame["ill"] = rng.choice(["cold", "flu", "gout", "mumps"], 90, p=[0.55, 0.25, 0.15, 0.05])
    frame["who"] = [f"p{row // 2}" for row in range(90)]
    roles = {"age": "quasi-identifier", "pay": "quasi-identifier", "ill": "sensitive", "who": "identifier"}
    data = Microdata(frame, roles=roles, unit=unit)
    asked = (KAnonymity(k=9), DistinctDiversity(l=3), FrequencyDiversity(l=1.4), TCloseness(t=0.25))
    release = Mondrian(requirements=asked).anonymize(data)
    n_broken = 0
    for region in cut_steps(release, most=None).regions:
        for tried in attempts(release, region.rows):
            codes = sorted(data.codes[tried.attribute][region.rows].tolist())
            possible = [last for last in set(codes[:-1]) if last < codes[-1]]
            sizes = [(sum(code <= last for code in codes), sum(code > last for code in codes)) for last in possible]
            assert max(min(pair) for pair in sizes) >= min(tried.sizes)
            (last,) = (one for one, pair in zip(possible, sizes, strict=True) if pair == tried.sizes)
            failing = plainly_tried(release, region.rows.tolist(), tried.attribute, last)
            assert tried.broken.split(":")[0] == (failing[0] if failing else "")
            n_broken += bool(failing)
    assert n_broken > 5
