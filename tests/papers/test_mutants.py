"""Verdicts that can fail: every figure and table that is said to be reproduced loses that word to a broken library."""

from __future__ import annotations

import pytest

from dashboard import reproduction
from dashboard.reproduction import BY_HAND, REPRODUCED, TIMED
from tests.papers.mutants import MUTANTS, Broken
from tests.shared_data import require


@pytest.mark.slow
@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda one: f"{one.paper}: {one.name}: {one.labels[0]}")
def test_a_mutant_is_not_said_to_reproduce_the_paper(mutant: Broken):
    if mutant.paper == "t-closeness":
        require("heart.csv")
    if mutant.paper == "rothko" and "figure 24" in mutant.labels:
        require("census.csv.gz")
    if mutant.paper == "slicing":
        require("adult.csv")
    if mutant.paper == "vertical-fragmentation":
        require("musk.csv.gz")
    assert {label for label, verdict in mutant.verdicts().items() if verdict == REPRODUCED} == set()


@pytest.mark.parametrize("paper", [one.name for one in reproduction.shipped()])
def test_everything_that_is_reproduced_has_a_mutant_that_is_not(paper: str):
    result = next(one for one in reproduction.shipped() if one.name == paper)
    for entry in result.entries:
        if entry.verdict != REPRODUCED:
            continue
        assert any(one.verdict != REPRODUCED for one in entry.mutants), f"{paper}, {entry.label} has no mutant"
        assert any(one.paper == paper and entry.label in one.labels for one in MUTANTS), (paper, entry.label)


@pytest.mark.parametrize("paper", [one.name for one in reproduction.shipped()])
def test_what_differs_has_a_cause_and_the_run_that_shows_it(paper: str):
    result = next(one for one in reproduction.shipped() if one.name == paper)
    for entry in result.entries:
        for one in entry.statements:
            assert one.share == 1 or (one.cause and one.tried), f"{paper}, {entry.label}: {one.text}"
        assert entry.verdict not in (BY_HAND, TIMED) or not entry.mutants
