"""A release that was kept comes back exactly, of every method; parts that do not fit are refused."""

from __future__ import annotations

import json
from dataclasses import fields
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anoncore import DataError, Microdata
from anoncore.recipes.release_file import packed, unpacked
from anoncore.release.recoding import Recoding
from tests.properties.subjects import build, subjects
from tests.publishing.certification.tables import people, released


def _same(one: Any, other: Any) -> None:
    assert type(one) is type(other)
    for field in fields(one):
        first, second = getattr(one, field.name), getattr(other, field.name)
        if isinstance(first, np.ndarray):
            assert np.array_equal(first, second)
        elif isinstance(first, Recoding):
            _same(first, second)
        elif field.name == "partition":
            assert np.array_equal(first.group, second.group)
        elif field.name != "domain":
            assert first == second


@pytest.mark.parametrize(("name", "parameters"), subjects(turn=0))
def test_every_release_comes_back(name: str, parameters: dict[str, Any]) -> None:
    release = released(name, tuple(parameters.items()))
    twin = Microdata(people().frame, people().roles)
    description, arrays = packed(release)
    again = unpacked(json.loads(json.dumps(description)), arrays, twin, release.algorithm)
    assert again.notes == release.notes
    assert again.is_shared == release.is_shared
    assert [one.name for one in again.fragments] == [one.name for one in release.fragments]
    for one, other in zip(release.fragments, again.fragments, strict=True):
        assert one.attributes == other.attributes
        assert np.array_equal(one.partition.group, other.partition.group)
        for attribute in one.attributes:
            _same(one.recodings[attribute], other.recodings[attribute])
            assert list(one.recodings[attribute].texts()) == list(other.recodings[attribute].texts())


def _damaged(value: Any, steps: list[int], new: Any) -> Any:
    """The description with one entry, found by going down, replaced."""
    if isinstance(value, dict) and value and steps:
        key = sorted(value)[steps[0] % len(value)]
        return {**value, key: _damaged(value[key], steps[1:], new)}
    if isinstance(value, list) and value and steps:
        at = steps[0] % len(value)
        return [*value[:at], _damaged(value[at], steps[1:], new), *value[at + 1 :]]
    return new


@given(
    st.lists(st.integers(0, 9), min_size=1, max_size=8),
    st.sampled_from([None, -1, 0, 3, 10**9, "x", [], {}, "<i8", "node", "Exact", 1.5]),
    st.integers(0, 50),
    st.binary(max_size=12),
)
@settings(max_examples=75)
def test_damaged_parts_are_refused_or_make_a_whole_release(
    steps: list[int], new: Any, place: int, content: bytes
) -> None:
    data = people()
    description, arrays = packed(build("mondrian", {}).anonymize(data))
    changed = list(arrays)
    if place < len(changed):
        changed[place] = content
    try:
        found = unpacked(_damaged(description, steps, new), changed, data, None)
    except DataError:
        return
    for fragment in found.fragments:
        for recoding in fragment.recodings.values():
            assert len(recoding.texts()) == data.n_rows


def test_another_table_is_refused() -> None:
    data = people()
    description, arrays = packed(build("mondrian", {}).anonymize(data))
    shorter = Microdata(data.frame.head(20), data.roles)
    with pytest.raises(DataError, match="does not fit its table"):
        unpacked(description, arrays, shorter, None)
