"""What a first visit shows on screens of any width, from a phone to a desk: loaded once, and then made wider."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from dashboard.board.wording import ROWS
from tests.dashboard import browser
from tests.dashboard.browser import Visitor

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(bool(browser.missing()), reason=f"no browser test here: {browser.missing()}"),
]
PHONE = (390, 844)


@pytest.fixture(scope="module")
def newcomer(chrome: Any, address: str, profiles: list[Any]) -> Iterator[Visitor]:
    """Somebody who came first by a phone."""
    found = browser.visitor(chrome, address, *PHONE, profile=profiles.pop() if profiles else None)
    found.open("")
    yield found
    assert found.problems() == []
    assert found.foreign == []
    profiles.append(browser.forget(found))


def at(visitor: Visitor, width: int, height: int) -> Any:
    """The board on a screen of so many pixels."""
    visitor.page.set_viewport_size({"width": width, "height": height})
    if not visitor.board.count():
        visitor.open("")
    visitor.settle()
    return visitor.board


def test_on_a_phone_the_columns_are_swiped_and_nothing_overflows(newcomer: Visitor) -> None:
    board = at(newcomer, *PHONE)
    assert newcomer.page.evaluate("document.documentElement.scrollWidth") <= PHONE[0]
    sidebar = newcomer.page.get_by_test_id("stSidebar")
    assert not sidebar.is_visible() or sidebar.get_attribute("aria-expanded") == "false"
    swiped = board.evaluate(
        "table => { const place = table.parentElement; place.scrollLeft = 400; return place.scrollLeft; }"
    )
    assert swiped > 100
    # The question stays in sight beside the column that is swiped to.
    assert board.locator("th.question").first.bounding_box()["x"] >= 0


def test_at_1440_by_900_pixels_one_picture_says_what_to_publish_and_shows_all_down_to_what_is_lost(
    newcomer: Visitor,
) -> None:
    board = at(newcomer, 1440, 900)
    lost = board.locator("tr").filter(has_text="counted by two columns").bounding_box()
    assert lost["y"] + lost["height"] <= 900
    (head,) = board.locator("th.best").all_inner_texts()
    assert {"Stack & Deal ▾", "Publish this one", "Keeps all that is asked, loses least"} <= set(head.split("\n"))
    assert board.locator("td.best").count() == len(ROWS)
    for axis in "klct":
        is_seen, text = label_of_level(newcomer, axis)
        assert is_seen == text, axis


def label_of_level(visitor: Visitor, axis: str) -> tuple[str, str]:
    """What is seen of the label of a level, and all of it."""
    label = visitor.page.locator(f".st-key-level-{axis} [data-testid='stWidgetLabel'] p").first
    seen = label.evaluate(
        """paragraph => {
          const box = paragraph.getBoundingClientRect(), text = document.createTreeWalker(paragraph, 4).nextNode();
          return [...text.data].filter((_, place) => {
            const range = document.createRange();
            range.setStart(text, place);
            range.setEnd(text, place + 1);
            const letter = range.getBoundingClientRect();
            return letter.bottom <= box.bottom + 2 && letter.right <= box.right + 1;
          }).join('');
        }"""
    )
    return seen.strip(), label.inner_text()


def test_at_1280_pixels_the_head_is_one_line_and_labels_and_what_is_said_in_cells_are_readable_whole(
    newcomer: Visitor,
) -> None:
    board = at(newcomer, 1280, 900)
    boxes = [part.bounding_box() for part in newcomer.page.locator(".st-key-board-head > *").all()]
    middles = [box["y"] + box["height"] / 2 for box in boxes]
    assert max(middles) - min(middles) < 5
    assert max(box["x"] + box["width"] for box in boxes) <= 1280
    for axis in "klct":
        is_seen, text = label_of_level(newcomer, axis)
        assert is_seen == text, axis
    cut = board.evaluate(
        """table => [...table.querySelectorAll('.number, .beside, .sub, .why, .help')].filter(
          text => text.scrollWidth > text.clientWidth + 1 || text.scrollHeight > text.clientHeight + 1
            || getComputedStyle(text).webkitLineClamp !== 'none').map(text => text.innerText)"""
    )
    assert cut == []
    given = board.locator("td.given").all_inner_texts()
    assert all("attacks tried" in text and "by chance" in text for text in given)
    assert [("not tried: knowing the method" in text) for text in given] == [False, True, True, True]


def test_a_first_visit_publishes_the_release_that_the_answer_names(newcomer: Visitor) -> None:
    from playwright.sync_api import expect

    # From here on the releases are no longer those that ship, and the board says more of them.
    at(newcomer, 1440, 900)
    newcomer.see(
        "Publish Stack & Deal: of the releases that keep all that you ask, it loses least: counted by two columns, "
        "21.0% of the rows are in the wrong place"
    )
    newcomer.press("Publish …")
    dialog = newcomer.page.get_by_role("dialog")
    dialog.get_by_text("Everything that was asked holds").wait_for(timeout=60_000)
    # A choice is drawn a moment before the browser has heard which one is chosen.
    expect(dialog.locator("label:has(input:checked)").first).to_contain_text("Stack & Deal")
    newcomer.act(lambda: newcomer.page.keyboard.press("Escape"))
    dialog.wait_for(state="detached", timeout=20_000)


def test_at_1024_pixels_no_label_of_a_level_breaks_and_no_empty_sidebar_is_left(newcomer: Visitor) -> None:
    from playwright.sync_api import expect

    at(newcomer, 1024, 768)
    for axis in "klct":
        label = newcomer.page.locator(f".st-key-level-{axis}").get_by_test_id("stWidgetLabel").first
        assert label.bounding_box()["height"] < 32, axis
        # Where there is no room for the term of the field, all of it goes.
        is_seen, text = label_of_level(newcomer, axis)
        assert is_seen == text.partition(" ·")[0], axis
    sidebar = newcomer.page.get_by_test_id("stSidebar")
    newcomer.go("Groups")
    expect(sidebar).to_be_visible(timeout=30_000)
    newcomer.go("Learn")
    expect(sidebar).to_be_hidden(timeout=30_000)
