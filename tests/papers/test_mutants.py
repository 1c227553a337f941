"""Statements that can fail: each that holds falls by a step at least under a broken library, and the book says so."""

from __future__ import annotations

import os
from itertools import pairwise
from unittest.mock import patch

import pytest

from dashboard import reproduction
from dashboard.reproduction import (
    BY_HAND,
    DIFFERENT,
    FAILS,
    HOLDS,
    NOT_APPLICABLE,
    REPRODUCED,
    Entry,
    Result,
    Statement,
)
from tests.papers.broken import Broken, Statements
from tests.papers.mutants import COMPLETE, MUTANTS
from tests.papers.test_quick_book import NEEDED
from tests.shared_data import require

every_paper = pytest.mark.parametrize("paper", [one.name for one in reproduction.shipped()])


def shipped(paper: str) -> Result:
    return next(one for one in reproduction.shipped() if one.name == paper)


LONG = {
    ("foreground-knowledge", "section 5.1"),
    ("foreground-knowledge", "table 1"),
    ("foreground-knowledge", "theorem 1"),
    ("rothko", "figure 8"),
    ("rothko", "figure 10"),
    ("rothko", "figure 11"),
    ("rothko", "figure 15"),
    ("rothko", "figure 22"),
    ("rothko", "figure 28"),
    ("rothko", "section 2"),
    ("slicing", "fact 1"),
    ("slicing", "figure 3"),
    ("slicing", "section 2"),
    ("slicing", "section 6"),
    ("t-closeness", "figure 3.1"),
    ("t-closeness", "figure 3.2"),
    ("t-closeness", "figure 6.1"),
    ("t-closeness", "section 3.6"),
    ("vertical-fragmentation", "figure 1"),
    ("vertical-fragmentation", "figure 2"),
    ("vertical-fragmentation", "theorem 4.1"),
}
"""Papers and first rows of the parts that take three seconds or more; they are broken where the book is made."""


def first_of_each_part() -> list[Broken]:
    """One mutant of each part that is not long; all of them run where the book is made."""
    parts = {(one.paper, one.part): one for one in reversed(MUTANTS)}
    return [one for one in parts.values() if (one.paper, one.labels[0]) not in LONG]


TRIED = MUTANTS if os.environ.get("ANONCORE_MUTANTS") == "all" else first_of_each_part()
"""The mutants that are run here. `python -m tests.papers --rest` runs all, and what they did ships with the book."""


@pytest.mark.slow
@pytest.mark.parametrize("mutant", TRIED, ids=lambda one: f"{one.paper}: {one.name}: {one.labels[0]}")
def test_no_statement_survives_a_mutant_that_is_to_break_it(mutant: Broken):
    require(*NEEDED[mutant.paper])
    assert {label: row.survived for label, row in mutant.run().items() if row.survived} == {}


def can_fall(entry: Entry) -> list[Statement]:
    """The statements that need a mutant: they count, they hold in all or most cases, and not in seconds."""
    return [one for one in entry.counted if one.judgement != FAILS and not one.timed]


@every_paper
def test_whatever_is_reproduced_has_a_mutant_under_which_a_statement_falls(paper: str):
    for entry in shipped(paper).entries:
        if entry.verdict == REPRODUCED or (entry.verdict == DIFFERENT and paper in COMPLETE):
            assert any(one.fell for one in entry.mutants), f"{paper}, {entry.label} has no mutant"
            assert any(one.fell and one.verdict != entry.verdict for one in entry.mutants), f"{paper}, {entry.label}"


@every_paper
def test_every_statement_that_holds_falls_under_a_mutant_and_says_what_it_is_counted_from(paper: str):
    if paper not in COMPLETE:
        pytest.skip(f"the mutants of {paper} are not complete")
    for entry in shipped(paper).entries:
        seen = [(one.text, one.reading) for one in entry.statements]
        assert len(set(seen)) == len(seen), f"{paper}, {entry.label} has a statement twice"
        # Where a paper is read in several ways, mutants are run in one of them.
        broken = {one.text for one in entry.statements if entry.breakers(one)}
        for one in can_fall(entry):
            assert one.text in broken, f"{paper}, {entry.label}: no mutant breaks '{one.text}'"
            assert one.least, f"{paper}, {entry.label}: no least effect of '{one.text}'"
        for one in entry.counted:
            assert one.oracle, f"{paper}, {entry.label}: '{one.text}' does not say what is counted"


@every_paper
def test_what_differs_has_a_cause_and_the_run_that_shows_it(paper: str):
    for entry in shipped(paper).entries:
        for one in entry.statements:
            assert one.is_explained, f"{paper}, {entry.label}: {one.text}"
        assert entry.verdict not in (BY_HAND, NOT_APPLICABLE) or not entry.mutants


def part() -> Statements:
    """Two rows about a list that `broken_list` breaks."""
    said = Statements()
    said.add("figure 1", "it is in order", [a < b for a, b in pairwise(LIST)])
    said.add("figure 1", "it is not empty", len(LIST) > 0)
    said.add("figure 2", "it has the numbers to three", LIST == [1, 2, 3], by_hand=True)
    said.add("figure 2", "all are above 1", [one > 1 for one in LIST], cause="1 is not", tried="the list")
    for said.reading, least in (("from 1", 1), ("from 2", 2)):
        said.add("figure 3", "all are counted", min(LIST, default=0) >= least, cause="1 is left out", tried="the list")
        said.add("figure 3", "it begins with 5", LIST[:1] == [5], cause="it begins with 1", tried="the list")
    return said


LIST = [1, 2, 3]


def breaking(to: list[int] | None) -> Broken:
    return Broken(
        "small",
        "another list",
        part,
        lambda: patch(f"{__name__}.LIST", to),
        {"figure 1": ("it is in order",), "figure 2": ("",)},
    )


@pytest.mark.parametrize(
    ("to", "order", "above"),
    [
        ([1, 2, 3], None, None),
        ([1, 3, 2], FAILS, None),
        ([1, 1, 2], FAILS, FAILS),
        ([], FAILS, FAILS),
        (None, "no result: TypeError", "no result: TypeError"),
    ],
)
def test_a_mutant_says_of_each_statement_whether_it_fell(to: list[int] | None, order: str | None, above: str | None):
    found = breaking(to).run()
    for label, text, after in (("figure 1", "it is in order", order), ("figure 2", "all are above 1", above)):
        assert (text, "", after) in found[label].fell or after is None, found
        assert found[label].survived == ((text,) if after is None else ())
    assert not any("numbers to three" in text for text, _, _ in found["figure 2"].fell)
    assert breaking([1, 2, 3]).mutants()["figure 1"].verdict == REPRODUCED


def test_a_statement_is_due_in_the_readings_in_which_it_holds_and_has_to_hold_in_one():
    for to, survived in (([1, 3, 2], ("all are counted",)), ([0, 3, 2], ())):
        mutant = Broken("small", "odd", part, lambda to=to: patch(f"{__name__}.LIST", to), {"figure 3": ("all are",)})
        assert mutant.run()["figure 3"].survived == survived
    with pytest.raises(ValueError, match=r"\['it begins with 5'\]"):
        Broken("small", "odd", part, lambda: patch(f"{__name__}.LIST", [1]), {"figure 3": ("",)}).run()


def test_a_mutant_names_statements_that_there_are_and_that_hold():
    with pytest.raises(ValueError, match="begins with 'it is odd'"):
        Broken("small", "odd", part, lambda: patch(f"{__name__}.LIST", []), {"figure 1": ("it is odd",)}).run()
    entry = Entry("figure 1", "", part().of("figure 1"))
    assert [one.judgement for one in entry.statements] == [HOLDS, HOLDS]
