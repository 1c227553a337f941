"""A short slice of the fuzzer that is always the same, and proof that the fuzzer sees what it looks for."""

from __future__ import annotations

import time
from dataclasses import replace

import pandas as pd
import pytest

from anoncore import DataError, Microdata
from anoncore.algorithms import Mondrian
from anoncore.requirements import DistinctDiversity, EntropyDiversity, KAnonymity, RecursiveDiversity
from tests.fuzz.case import Case, RefutedError, run_case, sentence_fault
from tests.fuzz.plain import check_identifiers, check_promises
from tests.fuzz.targets import TARGETS, shares

SLICE = {
    "csv": 250,
    "parquet": 250,
    "excel": 60,
    "recipe": 150,
    "hierarchy": 300,
    "parameters": 300,
    "certificate": 40,
    "release": 40,
    "sameness": 40,
}


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS)
def test_nothing_but_the_librarys_own_sentences_comes_out(target):
    # Time is not looked at here: the first call of every kernel compiles it.
    outcomes = [run_case(TARGETS[target], target, 0, number, seconds=300) for number in range(SLICE[target])]
    found = [f"{one.case}: {one.said}\n{one.detail}\n{one.inputs}" for one in outcomes if one.state == "finding"]
    assert not found, "\n".join(found)
    taken = sum(one.state == "passed" for one in outcomes)
    assert 0.05 * len(outcomes) < taken < 0.95 * len(outcomes), "inputs should be taken and refused in turn"


def test_an_input_is_the_same_every_time():
    inputs = []
    for _ in range(2):
        case = Case("csv", 3, 5)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("tests.fuzz.files.read_table", _refuse)
            with pytest.raises(DataError):
                TARGETS["csv"](case)
        inputs.append(case.inputs)
    assert inputs[0] == inputs[1]
    assert inputs[0]["file"]


def _refuse(*_arguments, **_options):
    raise DataError("No.")


def _fail(kind: type[BaseException], text: str):
    def target(_case: Case) -> None:
        raise kind(text)

    return target


@pytest.mark.parametrize(
    ("target", "state"),
    [
        (lambda _case: None, "passed"),
        (_fail(DataError, "This is wrong; do that."), "refused"),
        (_fail(DataError, "keyerror: x"), "finding"),
        (_fail(DataError, "x" * 5_000 + "."), "finding"),
        (_fail(KeyError, "x"), "finding"),
        (_fail(MemoryError, ""), "finding"),
        (_fail(RefutedError, "it does not hold"), "finding"),
        (lambda _case: pd.Series([1]).rolling(1).apply(lambda _x: 1 / 0), "finding"),
    ],
)
def test_what_counts_as_a_finding(target, state):
    assert run_case(target, "x", 1, 1).state == state


def test_work_without_end_is_a_finding():
    def endless(_case: Case) -> None:
        while True:
            time.process_time()

    outcome = run_case(endless, "x", 1, 1, seconds=0.2)
    assert outcome.state == "finding"
    assert outcome.said.startswith("hang")


def test_every_message_is_a_sentence():
    assert sentence_fault("The table is empty.") == ""
    assert sentence_fault("nothing at the end") != ""
    assert sentence_fault(" ") != ""


def test_the_inputs_are_shared_out():
    counts = shares(list(TARGETS), 100_000)
    assert sum(counts.values()) == 100_000
    assert min(counts.values()) > 1_000


REQUIREMENTS = (KAnonymity(k=3), DistinctDiversity(l=2), EntropyDiversity(l=1.5), RecursiveDiversity(c=4.0, l=2))


@pytest.fixture
def release():
    frame = pd.DataFrame({"name": list("abcdefghijkl"), "age": [1, 2, 3, 4] * 3, "ill": list("uvuvuvuvuvuv")})
    roles = {"name": "identifier", "age": "quasi-identifier", "ill": "sensitive"}
    return Mondrian(requirements=REQUIREMENTS[:2]).anonymize(Microdata(frame, roles))


def test_a_kept_promise_passes_the_plain_check(release):
    check_promises(release, REQUIREMENTS[:2])
    check_identifiers(release, ["no such text"])


@pytest.mark.parametrize(
    "broken", [KAnonymity(k=13), DistinctDiversity(l=3), EntropyDiversity(l=2.5), RecursiveDiversity(c=0.5, l=2)]
)
def test_a_broken_promise_does_not(release, broken):
    with pytest.raises(RefutedError):
        check_promises(release, [broken])


def test_a_published_identifier_is_seen(release):
    view = replace(release)
    with pytest.raises(RefutedError):
        check_identifiers(view, ["u"])
