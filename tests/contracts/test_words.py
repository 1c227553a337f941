"""Every exported name says what it is, what goes in and out of it and what can go wrong, and shows it by an example."""

from __future__ import annotations

import re

import pytest

from tests.contracts.source import ROOT, tracked
from tests.contracts.words import exported, exported_values, is_described_value, lacking

EXPORTED = exported()


@pytest.mark.parametrize("name", EXPORTED)
def test_an_exported_name_is_described_in_full(name: str):
    lacks = lacking(EXPORTED[name])
    assert not lacks, f"The docstring of {name} lacks: {'; '.join(lacks)}."


@pytest.mark.parametrize(("room", "name"), list(exported_values()))
def test_an_exported_value_is_followed_by_a_text_that_says_what_it_is(room: str, name: str):
    assert is_described_value(room, name), f"Write a text below the line that sets {name} of {room}."


def test_shares_are_written_in_one_way():
    """A share is 5.6% wherever somebody reads one, in code as in prose."""
    apart = re.compile(r"[0-9}] %(?![\w({])")
    readable = [name for name in tracked() if name.endswith((".py", ".js", ".md")) and not name.startswith("tests/")]
    found = [
        f"{name}:{number}"
        for name in readable
        for number, line in enumerate((ROOT / name).read_text(encoding="utf-8").splitlines(), 1)
        if apart.search(line)
    ]
    assert found == []
