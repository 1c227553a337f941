"""No page about one release keeps anybody waiting for what takes seconds of a large table."""

from __future__ import annotations

import threading
from types import ModuleType

import pytest

from anoncore.algorithms import Algorithm, Mondrian, Slicing, StackAndDeal
from anoncore.requirements import DistinctDiversity, KAnonymity
from dashboard.closer import before_after, dealing, explain, mondrian, one_person, privacy, slicing, utility
from dashboard.elements import parts
from dashboard.views import publish, takeaway
from tests.dashboard.conftest import Visitor
from tests.dashboard.results import add_run

ALGORITHM = Mondrian(requirements=(KAnonymity(k=6), DistinctDiversity(l=2)))


def _written(visitor: Visitor) -> str:
    return "\n".join([visitor.texts(), *(metric.label for metric in visitor.at.metric)])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("page", "algorithm", "module", "measure", "told", "shown"),
    [
        ("explain", ALGORITHM, explain, "_explained", "Why it is not finer", "The groups that bind"),
        ("one person", ALGORITHM, one_person, "person_view", "What ", "What an adversary may look for"),
        ("before and after", ALGORITHM, before_after, "changes_of", "Cells are compared", "Rows before and after"),
        ("before and after", ALGORITHM, before_after, "_joint", "Pairs of values are counted", "Before: share of the"),
        ("before and after", ALGORITHM, utility, "_released_shares", "Estimating the shares", "land on another bar"),
        ("privacy", ALGORITHM, privacy, "original_risk", "Counting who is found", "(prosecutor risk)"),
        ("method", ALGORITHM, mondrian, "cut_steps", "The cuts are made again", "**A region of 240 rows is cut by"),
        ("method", ALGORITHM, mondrian, "attempts", "What every attribute offers", "**A region of 240 rows is cut by"),
        ("method", Slicing(l=2), slicing, "proposal", "The columns are clustered again", "(around "),
        ("method", Slicing(l=2), slicing, "achieved_diversity", "The values of everybody", "Reached l, distinct"),
        ("method", Slicing(l=2), slicing, "_original_association", "Counting associations", "Phi squared of every"),
        ("method", StackAndDeal(k=6), dealing, "_stacked", "The cards are stacked again", "how many cards show each"),
        ("publish", ALGORITHM, publish, "previews", "The first rows are looked up", "The first 50 of 240 rows"),
        ("publish", ALGORITHM, takeaway, "value_mapping", "What became what is counted", "What became what, value"),
    ],
)
@pytest.mark.parametrize("is_large", [True, False])
def test_a_large_table_keeps_no_page_waiting(
    page: str,
    algorithm: Algorithm,
    module: ModuleType,
    measure: str,
    told: str,
    shown: str,
    is_large: bool,
    visitor: Visitor,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What takes a second of a large table is measured in the background, and the page says so until it is there; of a
    small one it is there with the page.
    """
    go_on, measured = threading.Event(), getattr(module, measure)

    def held(*asked: object) -> object:
        assert go_on.wait(60)
        return measured(*asked)

    held.__module__, held.__qualname__ = measured.__module__, measured.__qualname__
    monkeypatch.setattr(module, measure, held)
    add_run(visitor, algorithm)
    if is_large:
        monkeypatch.setattr(parts, "LARGE", 1)
        visitor.open(page)
        visitor.until(lambda: any(bar.proto.text.startswith(told) for bar in visitor.at.get("progress")))
        assert shown not in _written(visitor)
        go_on.set()
        visitor.until(lambda: shown in _written(visitor))
    else:
        go_on.set()
        visitor.open(page)
        assert shown in _written(visitor)
        assert not visitor.at.get("progress")
