"""Pages that look closer at a release have the board's releases made, also those that are there only later."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from anoncore.algorithms import Mondrian
from anoncore.requirements import KAnonymity
from dashboard.board.bench import Bench
from tests.dashboard.conftest import Visitor
from tests.dashboard.results import ROLES, add_run, people

PAGES = ("groups", "publish")


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, threading.Event]]:
    """By the id of a column, what its release waits for."""
    gates = {f"c{number}": threading.Event() for number in (1, 2, 3)}
    make = Bench.make

    def make_later(self: Bench, attempt, report):
        while not gates[attempt.column].wait(0.02):
            report(0.1, "waiting")
        return make(self, attempt, report)

    monkeypatch.setattr(Bench, "make", make_later)
    yield gates
    for gate in gates.values():
        gate.set()


def asked(visitor: Visitor) -> Visitor:
    """The visitor with a small table and what the board asks first for one without a secret, cut to three columns."""
    visitor.upload("people.csv", people(60).to_csv(index=False).encode())
    visitor.tag(name=ROLES["name"], age=ROLES["age"], sex=ROLES["sex"])
    return visitor.ask("mondrian", "incognito", "optimal-recoding")


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES)
def test_releases_that_come_later_are_made_while_the_first_is_looked_at(
    visitor: Visitor, held: dict[str, threading.Event], page: str
) -> None:
    asked(visitor).open(page)
    assert "The releases of the board are being made" in visitor.texts()
    held["c1"].set()
    visitor.until(lambda: len(visitor.here.runs) == 1)
    assert "Mondrian" in visitor.texts()
    assert "are being made" not in visitor.run().texts()
    for column in ("c2", "c3"):
        held[column].set()
    visitor.until(lambda: len(visitor.here.runs) == 3)
    assert [option.split(" (")[0] for option in visitor.release_shown.options] == [
        "Mondrian",
        "Incognito",
        "Optimal recoding",
    ]
    assert not visitor.here.jobs["board"].is_busy


@pytest.mark.slow
def test_what_is_undone_on_a_closer_page_is_made_there(visitor: Visitor, held: dict[str, threading.Event]) -> None:
    for gate in held.values():
        gate.set()
    asked(visitor)
    first = visitor.here.history.now.wishes
    visitor.open("groups")
    visitor.until(lambda: len(visitor.here.runs) == 3)
    history = visitor.here.history
    history.step(type(history.now)(history.now.tags, first.with_level("k", 9)))
    visitor.until(lambda: "k = 9" in visitor.texts())
    history.undo()
    visitor.until(lambda: "k = 9" not in visitor.texts())


def test_a_saved_release_without_what_was_asked_is_shown_as_it_is(visitor: Visitor) -> None:
    run = add_run(visitor, Mondrian(requirements=(KAnonymity(k=6),)))
    visitor.open("groups")
    assert [held.id for held in visitor.here.runs] == [run.id]
