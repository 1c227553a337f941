"""Every exported name says what it is, what goes in and out of it and what can go wrong, and shows it by an example."""

from __future__ import annotations

import pytest

from tests.contracts.words import exported, exported_values, is_described_value, lacking

EXPORTED = exported()


@pytest.mark.parametrize("name", EXPORTED)
def test_an_exported_name_is_described_in_full(name: str):
    lacks = lacking(EXPORTED[name])
    assert not lacks, f"The docstring of {name} lacks: {'; '.join(lacks)}."


@pytest.mark.parametrize(("room", "name"), list(exported_values()))
def test_an_exported_value_is_followed_by_a_text_that_says_what_it_is(room: str, name: str):
    assert is_described_value(room, name), f"Write a text below the line that sets {name} of {room}."
