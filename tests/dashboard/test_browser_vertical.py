"""A wide table in a real browser: loaded, cut into fragments, explained on the page Method, judged on Utility."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.dashboard import browser
from tests.dashboard.browser import Visitor

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(bool(browser.missing()), reason=f"no browser test here: {browser.missing()}"),
]


@pytest.fixture(scope="module")
def visitor(chrome: Any, address: str) -> Iterator[Visitor]:
    one = browser.visitor(chrome, address)
    yield one
    assert one.problems() == []
    assert one.foreign == []
    one.page.context.close()


def _enter(visitor: Visitor, label: str, number: str) -> None:
    field = visitor.page.get_by_label(label, exact=True).first
    with visitor.run():
        field.fill(number)
        field.press("Enter")


def _anonymize(visitor: Visitor, number: int) -> None:
    """Press Run, again if the page was being drawn and lost the click, and wait for the release."""
    wanted = f"Run {number} · Vertical fragmentation"
    for _ in range(4):
        visitor.page.get_by_role("button", name="Run", exact=True).click()
        visitor.page.wait_for_timeout(3_000)
        if wanted in visitor.text() or visitor.page.get_by_role("button", name="Cancel", exact=True).count():
            break
    visitor.see(wanted, 90)


def _charts(visitor: Visitor, number: int) -> None:
    visitor.page.wait_for_function(
        "number => [...document.querySelectorAll('[data-testid=\"stPlotlyChart\"]')].filter(c => c.offsetParent)"
        ".length === number",
        arg=number,
        timeout=20_000,
    )


def test_from_the_wide_table_to_its_fragments(visitor: Visitor) -> None:
    visitor.open()
    visitor.choose("Built-in table", "Measurements", exact=False)
    visitor.see("The attributes are tagged")
    visitor.go("Anonymize")
    visitor.see("Others may know 60 attributes")
    visitor.choose("Method", "Vertical fragmentation", exact=False)
    _enter(visitor, "k", "3")
    _anonymize(visitor, 1)

    visitor.go("Method")
    visitor.see("share nothing but diagnosis")
    visitor.see("They began with")
    _charts(visitor, 1)
    visitor.tab("Classes")
    visitor.see("Each fragment has classes of its own")
    _charts(visitor, 1)
    visitor.tab("Joins")
    visitor.see("every join is safe")
    visitor.see("0 of 1,600 joins drawn here are unsafe")
    _charts(visitor, 2)
    visitor.tab("Class values")
    visitor.see("In the run's colour: dependency", 60)
    _charts(visitor, 1)
    visitor.tab("Membership")
    visitor.see("the less a match tells")
    _charts(visitor, 1)
    visitor.tab("Unfragmented")
    visitor.see("Against whole rows with the same requirements", 90)
    _charts(visitor, 2)

    visitor.go("Classes")
    visitor.go("Method")
    visitor.see("Against whole rows with the same requirements")

    visitor.go("Utility")
    visitor.see("Information loss")
    visitor.tab("Associations")
    visitor.see("Association error", 60)

    # With l no class value is changed.
    visitor.go("Anonymize")
    visitor.page.get_by_text("More options").first.click()
    _enter(visitor, "l", "2")
    _anonymize(visitor, 2)
    visitor.go("Method")
    visitor.see("rows are cut into segments")
    visitor.tab("Joins")
    visitor.see("Here no class value is changed")
