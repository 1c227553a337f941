"""Lessons and the reference in a real browser: by Next from attack to cure, into the reference, onto the data page."""

from __future__ import annotations

import re
from typing import Any

import pytest

from anoncore import datasets
from dashboard.learn import crowds, learn
from tests.dashboard import browser
from tests.dashboard.browser import Visitor

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(bool(browser.missing()), reason=f"no browser test here: {browser.missing()}"),
]


@pytest.fixture
def visitor(browse: Any) -> Visitor:
    """A visitor on a laptop."""
    found: Visitor = browse(width=1280, height=800)
    return found


def walk(visitor: Visitor, name: str) -> None:
    """Go through a lesson that is open, answer by answer, to its end."""
    lesson = next(one for one in learn.LESSONS if one.name == name)
    steps = lesson.steps
    for place, step in enumerate(steps, start=1):
        visitor.see(f"Step {place} of {len(steps)}: {step.title}")
        page = visitor.page
        page.get_by_text("Show the answer").first.click()
        assert (
            page.evaluate("document.querySelector('[data-testid=stMain]').scrollWidth") <= page.viewport_size["width"]
        )
        if place < len(steps):
            visitor.press("Next")
    visitor.see(lesson.cure)


def test_two_lessons_a_word_looked_up_and_a_table_loaded(visitor: Visitor) -> None:
    visitor.open("learn")
    visitor.press("1. Linking and k-anonymity")
    walk(visitor, "linking")
    visitor.choose("Lesson", "All lessons")
    visitor.see("4 minutes, 3 of 3 done ✓ ✓ ✓")
    visitor.press("1. Linking and k-anonymity")
    visitor.press("Next lesson")
    visitor.press("Next lesson")
    walk(visitor, "closeness")

    visitor.press("More on t-closeness")
    visitor.see_heading("Reference")
    visitor.see("When to use it")
    visitor.see(
        "The distribution of the sensitive values in every group is at most t away from that of the whole table."
    )
    assert re.search(r"[?&]v[0-9a-f]{6}=\d+", visitor.page.url)
    visitor.go("Learn")
    visitor.see("Step 3 of 3")
    visitor.press("Load this table")
    visitor.see_heading("Table")
    visitor.see(datasets.table(crowds.TABLE).title)
    visitor.go("Groups")
    visitor.see(f"rows of {datasets.table(crowds.TABLE).title}")

    visitor.go("Reference")
    box = visitor.page.get_by_test_id("stSelectbox").filter(has_text="Look up").locator("input")
    box.click()
    box.fill("deal")
    visitor.act(visitor.page.get_by_role("option", name="Method: Stack & Deal").click)
    visitor.see("Stacks the rows by sensitive value")
    visitor.reload()
    visitor.see("Stacks the rows by sensitive value")


def test_reloading_keeps_the_step_and_parameters_are_played_with(visitor: Visitor) -> None:
    visitor.open("learn")
    visitor.choose("Lesson", "6. Rothko grows on a sample")
    visitor.press("Next")
    visitor.see("Step 2 of")
    visitor.reload()
    visitor.see("Step 2 of")
    visitor.press("Back")
    visitor.see("Step 1 of")
    visitor.reload()
    visitor.see("Step 1 of")
    for _ in range(2):
        visitor.press("Next")
    visitor.see("Count everybody, and prune")
    before = visitor.page.get_by_test_id("stMetricValue").all_inner_texts()
    assert before[2] == "10"
    after_each = visitor.page.get_by_role("radio", name="after").or_(visitor.page.get_by_text("after", exact=True))
    visitor.act(after_each.first.click)
    after = visitor.page.get_by_test_id("stMetricValue").all_inner_texts()
    assert after[2] == "0"


def test_a_link_opens_a_step_for_somebody_else_and_a_worksheet_is_printed(visitor: Visitor, browse: Any) -> None:
    visitor.open("learn")
    visitor.choose("Lesson", "14. Noise and differential privacy")
    visitor.press("Next")
    visitor.see("Step 2 of 3: What to believe of her")
    visitor.page.get_by_role("button", name="For a class").click()
    link = visitor.page.get_by_test_id("stCode").inner_text().strip()
    assert link.endswith("/learn?lesson=privacy.2")
    with visitor.page.expect_download() as download:
        visitor.page.get_by_role("button", name="Worksheet to print").first.click()
    assert download.value.suggested_filename == "privacy.html"
    own = _workspace(visitor)
    student: Visitor = browse(after=visitor, width=1280, height=800)
    student.page.goto(link)
    student.see("Step 2 of 3: What to believe of her")
    assert _workspace(student) != own


def _workspace(visitor: Visitor) -> str:
    """The workspace in the address of a visitor."""
    found = re.search(r"workspace=([^&]+)", visitor.page.url)
    assert found
    return found[1]


@pytest.mark.parametrize("name", [lesson.name for lesson in learn.LESSONS])
def test_a_worksheet_is_a_page_of_questions_and_one_of_solutions(name: str, chrome: Any) -> None:
    page = chrome.new_page()
    page.set_content(learn.worksheet(learn.BY_NAME[name]))
    printed = page.pdf(prefer_css_page_size=True)
    page.close()
    assert len(re.findall(rb"/Type\s*/Page\b", printed)) == 2
