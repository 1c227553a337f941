"""Closeness in a real browser: choose k, walk through the deal, and look at the mass that moves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from datasets.public import data_folder
from tests.dashboard import browser
from tests.dashboard.browser import Visitor

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(bool(browser.missing()), reason=f"no browser test here: {browser.missing()}"),
]
ADULT = data_folder() / "adult.csv"


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with browser.server() as found:
        yield found


@pytest.fixture(scope="module")
def chrome() -> Iterator[Any]:
    with browser.chrome() as found:
        yield found


@pytest.fixture
def visit(chrome: Any, address: str) -> Iterator[Any]:
    """Start visitors; at the end none has seen an exception and none has asked another machine for anything."""
    visitors: list[Visitor] = []

    def start() -> Visitor:
        visitors.append(browser.visitor(chrome, address, height=1200))
        return visitors[-1]

    yield start
    for one in visitors:
        assert one.problems() == []
        assert one.foreign == []
        one.page.context.close()


def _press(visitor: Visitor, label: str) -> None:
    with visitor.run():
        visitor.page.get_by_role("button", name=label, exact=True).click()


def _no_problem(visitor: Visitor) -> None:
    assert visitor.problems() == []
    assert visitor.page.get_by_test_id("stAlertContentError").count() == 0


def _load(visitor: Visitor, title: str) -> None:
    """Load a built-in table, which comes tagged."""
    visitor.choose("Built-in table", title, exact=False)
    visitor.see_heading(title)


def test_from_the_choice_of_k_to_the_mass_that_moves(visit: Any) -> None:
    visitor = visit()
    visitor.open()
    _load(visitor, "t-Closeness, section 3.5 (250 salaries)")
    visitor.go("Choose k")
    _press(visitor, "Try every k")
    visitor.see("Best k", 60)
    before = visitor.page.get_by_role("button", name="Use k =").inner_text()
    slider = visitor.page.get_by_role("slider").first
    slider.focus()
    with visitor.run():
        slider.press("Home")
    after = visitor.page.get_by_role("button", name="Use k =").inner_text()
    assert before != after
    k = after.split("k = ")[1].split(" ")[0]
    visitor.page.get_by_role("button", name="Use k =").click()
    visitor.see_heading("Anonymize")
    visitor.settle()
    visitor.see("Stack & Deal")
    assert visitor.page.get_by_role("spinbutton", name="k", exact=True).input_value() == k
    _press(visitor, "Run")
    visitor.see("Run 1 · Stack & Deal")

    visitor.go("Method")
    visitor.see("Step 1 of")
    count = int(visitor.text().split("Step 1 of ")[1].split(":")[0])
    for step in range(2, count + 1):
        _press(visitor, "Next")
        visitor.see(f"Step {step} of {count}")
        _no_problem(visitor)
    visitor.see("Loss with neighbours")
    _press(visitor, "Back")
    visitor.see("Compare the classes")

    visitor.go("Closeness")
    visitor.see("t of salary (ordered)")
    number = visitor.cell("list-closeness", 0, 2)
    with visitor.run():
        visitor.choose_row("list-closeness", 2)
    visitor.see_heading(f"Equivalence class {number}")
    visitor.choose("Ground distance", "equal", exact=False)
    visitor.see("too often")
    assert visitor.page.locator("[class*='st-key-closeness-equal'] svg").count() > 0


def test_two_sensitive_attributes_and_their_boxes(visit: Any) -> None:
    visitor = visit()
    visitor.open()
    _load(visitor, "t-Closeness, figure 4.1 (400 rows)")
    visitor.go("Anonymize")
    visitor.choose("Method", "Sensitive-space fragmentation", exact=False)
    _press(visitor, "Run")
    visitor.see("Run 1 · Sensitive-space fragmentation")
    visitor.go("Method")
    visitor.see("Bound of X")
    visitor.see("Bound of Y")
    _no_problem(visitor)
    with visitor.run():
        visitor.choose_row("list-space", 1)
    assert visitor.page.locator("[class*='st-key-space-map'] svg").count() > 0
    visitor.go("Closeness")
    visitor.see("t of X (ordered)")
    visitor.see("t of Y (ordered)")
    visitor.choose("Sensitive attribute", "Y")
    visitor.see("'Y' in equivalence class")


@pytest.mark.skipif(not ADULT.exists(), reason="../shared/data is absent")
def test_the_views_of_adult(visit: Any) -> None:
    visitor = visit()
    visitor.open()
    _load(visitor, "Adult (45,222 rows)")
    visitor.go("Anonymize")
    visitor.choose("Method", "Stack & Deal", exact=False)
    _press(visitor, "Run")
    visitor.see("Run 1 · Stack & Deal", 60)
    seconds: dict[str, float] = {}
    for title in ("Closeness", "Method"):
        visitor.go(title)
        seconds[title] = visitor.seconds
    _press(visitor, "Next")
    seconds["a step"] = visitor.seconds
    visitor.go("Closeness")
    with visitor.run():
        visitor.choose_row("list-closeness", 3)
    seconds["a class"] = visitor.seconds
    print("seconds on Adult:", {name: round(value, 2) for name, value in seconds.items()})
    _no_problem(visitor)
