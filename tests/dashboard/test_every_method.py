"""The result pages draw the release of every registered method."""

from __future__ import annotations

from typing import Any

import pytest

from anoncore.front.contract import ROLES, people
from tests.dashboard.conftest import Visitor
from tests.dashboard.results import add_run
from tests.properties.subjects import build, subjects

TABS = ("Distributions", "Associations", "Count queries", "Predictions")


@pytest.mark.slow
@pytest.mark.parametrize(("name", "parameters"), subjects(turn=1))
def test_every_method_is_judged_on_every_page(visitor: Visitor, name: str, parameters: dict[str, Any]) -> None:
    add_run(visitor, build(name, parameters), people(), ROLES)
    for page in ("groups", "privacy", "publish", "utility"):
        visitor.open(page)
        assert visitor.faults == []
        assert visitor.at.metric or page == "publish"
    for tab in TABS:
        visitor.at.session_state["tabs-utility-tab"] = tab
        visitor.run()
        assert visitor.faults == []
