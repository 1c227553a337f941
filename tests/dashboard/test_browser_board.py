"""The board in a real browser: how many clicks a comparison takes, by keyboard, on a phone, and for screen readers."""

from __future__ import annotations

import json
import re
from importlib.resources import files
from io import BytesIO
from typing import Any

import numpy as np
import pandas as pd
import pytest

from anoncore import Microdata
from anoncore.algorithms import Mondrian
from anoncore.requirements import KAnonymity
from dashboard.board.grid import DRAWN
from dashboard.elements.routes import ROUTES
from dashboard.session.wishes import TOGETHER
from tests.dashboard import browser
from tests.dashboard.browser import Visitor

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(bool(browser.missing()), reason=f"no browser test here: {browser.missing()}"),
]
MOST_CLICKS = 8
SERIOUS = ("serious", "critical")


def people(n: int = 600) -> bytes:
    draw = np.random.default_rng(8)
    return (
        pd.DataFrame(
            {
                "name": [f"Person {place}" for place in range(n)],
                "age": draw.integers(18, 90, n),
                "sex": draw.choice(["female", "male"], n),
                "education": draw.choice(["school", "college", "university", "none"], n),
                "diagnosis": draw.choice(["flu", "asthma", "ulcer", "gout", "burn", "cold"], n),
            }
        )
        .to_csv(index=False)
        .encode()
    )


def board(visitor: Visitor) -> Any:
    return visitor.page.locator("table.board")


def wait_for_numbers(visitor: Visitor, columns: int, seconds: float = 240) -> None:
    """Wait until no cell is waited for."""
    visitor.page.wait_for_function(
        """(columns) => {
          const place = [...document.querySelectorAll('*')].map(one => one.shadowRoot).find(
            root => root && root.querySelector('table.board'));
          return place && place.querySelectorAll('th.column').length === columns
            && !place.querySelector('.waiting') && place.querySelectorAll('.number').length >= columns;
        }""",
        arg=columns,
        timeout=seconds * 1000,
    )


def uploaded(visitor: Visitor, another: str = "", rows: int = 600) -> int:
    """Upload a table on the board and have four methods compared; the number of clicks.

    `another`: the only attribute that others know, instead of those suggested.
    """
    clicks = 0

    def click(what: Any) -> None:
        nonlocal clicks
        clicks += 1
        what.click()

    visitor.open("")
    click(visitor.page.get_by_role("button", name="Census-like table"))
    with visitor.page.expect_file_chooser() as chooser:
        click(visitor.page.get_by_test_id("stFileUploaderDropzone").locator("button"))
    clicks += 1
    chooser.value.set_files({"name": "people.csv", "mimeType": "text/csv", "buffer": people(rows)})
    visitor.see("What do others know, and what must they not learn?")
    if another:
        # The popover has closed with the choice of the file; the next click is the first that its fields hear of.
        known = visitor.page.get_by_test_id("stMultiSelect").filter(has_text="Known to others")
        known.get_by_role("button", name="Clear all").click()
        visitor.settle()
        assert visitor.page.get_by_role("button", name="people.csv").count() == 1
        known.locator("input").fill(another)
        visitor.page.get_by_role("option", name=another, exact=True).click()
        known.locator("input").press("Escape")
        visitor.settle()
    click(visitor.page.get_by_role("button", name="Compare four methods"))
    wait_for_numbers(visitor, 4)
    return clicks


def test_four_methods_on_an_uploaded_table_take_at_most_eight_clicks(browse: Any) -> None:
    visitor = browse()
    assert uploaded(visitor) <= MOST_CLICKS
    heads = board(visitor).locator("th.column .method").all_inner_texts()
    assert [head.removesuffix(" ▾") for head in heads] == ["Mondrian", "Anatomy", "Slicing", "Stack & Deal"]
    assert board(visitor).locator("td.failed").count() == 0


def test_a_synthetic_table_is_opened_beside_mondrian_and_says_which_rows_make_no_sense(browse: Any) -> None:
    visitor = browse()
    uploaded(visitor)
    made_up = pd.read_csv(BytesIO(people(700)), usecols=["age", "sex", "education", "diagnosis"])
    made_up = made_up.apply(lambda column: column.sample(frac=1, random_state=len(column.name)).to_numpy())
    visitor.page.get_by_role("button", name="+ add release").click()
    visitor.page.get_by_role("dialog").get_by_text("A release made elsewhere").click()
    with visitor.page.expect_file_chooser() as chooser:
        visitor.page.get_by_role("dialog").get_by_test_id("stFileUploaderDropzone").locator("button").click()
    content = made_up.to_csv(index=False).encode()
    chooser.value.set_files({"name": "made up.csv", "mimeType": "text/csv", "buffer": content})
    visitor.settle()
    visitor.page.get_by_role("dialog").get_by_text("No, they are nobody's").click()
    visitor.settle()
    visitor.page.get_by_role("button", name="Open on the board").click()
    wait_for_numbers(visitor, 5)
    heads = board(visitor).locator("th.column .method").all_inner_texts()
    assert [heads[0], heads[4]] == ["Mondrian ▾", "made up ▾"]
    rows = {
        line.locator(".label").inner_text(): line.locator("td.cell").nth(4)
        for line in board(visitor).locator("tbody tr").all()
    }
    # What asks for groups of people says why it does not answer; what compares shares has a number beside Mondrian's.
    assert "cannot be told" in rows["Promise"].inner_text()
    for label in ("Promise", "Hides among", "Distance", "Given away"):
        assert "the rows of this table are nobody's" in rows[label].inner_text().replace("The rows", "the rows")
    for label in ("Lost", "Still useful"):
        assert rows[label].locator(".number").count() == 1
    assert board(visitor).locator("tbody tr td.cell:nth-of-type(1).failed").count() == 0

    # Its name tells how it was read; its numbers lead on to pages that show it.
    visitor.page.get_by_role("button", name="made up: see how this release was read").click()
    visitor.see("are compared with the 600 rows of the original by shares")
    visitor.page.get_by_role("dialog").get_by_role("button", name="Close").click()
    rows["Lost"].locator(".number").click()
    visitor.see("700 synthetic rows")


def test_of_a_published_table_alone_the_board_tells_how_much_is_lost_at_most(browse: Any) -> None:
    """Paler bars than those of a number that is known, and the words for those who do not see them."""
    frame = pd.read_csv(BytesIO(people())).drop(columns="name")
    known = ("age", "sex", "education")
    data = Microdata(frame, {**dict.fromkeys(known, "quasi-identifier"), "diagnosis": "sensitive"})
    published = Mondrian(requirements=[KAnonymity(k=5)]).anonymize(data).pandas_tables()["release"]
    visitor = browse()
    visitor.open("")
    visitor.page.get_by_role("button", name="Census-like table").click()
    with visitor.page.expect_file_chooser() as chooser:
        visitor.page.get_by_test_id("stFileUploaderDropzone").locator("button").click()
    content = published.to_csv(index=False).encode()
    chooser.value.set_files({"name": "published.csv", "mimeType": "text/csv", "buffer": content})
    visitor.see("What do others know, and what must they not learn?")
    visitor.page.get_by_role("button", name="It is a release already: judge it").click()
    lost = board(visitor).locator("tbody tr").filter(has_text="Lost").locator("td.cell")
    lost.locator(".number").wait_for(timeout=60_000)
    assert re.fullmatch(r"at most \d+\.\d%", lost.locator(".number").inner_text())
    assert "the original is not here, and it may be less" in lost.inner_text()
    assert "at most" in lost.get_by_role("img").get_attribute("aria-label")
    bars = lost.locator("svg rect").all()
    assert len(bars) == 4
    assert {bar.get_attribute("fill-opacity") for bar in bars} == {"0.35"}


def test_what_is_said_of_an_uploaded_table_is_kept(browse: Any) -> None:
    visitor = browse()
    uploaded(visitor, "age")
    assert visitor.page.get_by_role("button", name="people.csv").inner_text().count("1 known") == 1


def test_a_promise_is_moved_by_keyboard_and_every_cell_leads_on(browse: Any) -> None:
    from playwright.sync_api import expect

    visitor = browse()
    uploaded(visitor)
    first = board(visitor).locator("tbody tr").nth(1).locator(".number").first
    before = first.inner_text()
    slider = visitor.page.locator(".st-key-board-k").get_by_role("slider")
    slider.focus()
    for _ in range(4):
        visitor.page.keyboard.press("ArrowRight")
    visitor.see("you ask for 25")
    wait_for_numbers(visitor, 4)
    assert first.inner_text() != before

    # Whoever goes on moving while the page still draws an earlier step loses no step.
    for key in ["ArrowRight"] * 4 + ["ArrowLeft"] * 7 + ["ArrowRight"] * 2:
        visitor.page.keyboard.press(key)
        visitor.page.wait_for_timeout(120)
    visitor.see("you ask for 20")
    wait_for_numbers(visitor, 4)
    assert "20" in visitor.page.locator(".st-key-board-k").inner_text()

    # Everything on the board can be reached by the key Tab alone.
    visitor.page.keyboard.press("Home")
    expect(board(visitor)).not_to_contain_text("you ask for 20", timeout=30_000)
    wait_for_numbers(visitor, 4)
    reached = set()
    slider.focus()
    for _ in range(80):
        visitor.page.keyboard.press("Tab")
        reached.add(
            visitor.page.evaluate(
                """() => { let at = document.activeElement;
                  while (at && at.shadowRoot && at.shadowRoot.activeElement) at = at.shadowRoot.activeElement;
                  return at && at.dataset ? at.dataset.key || '' : ''; }"""
            )
        )
    wanted = {f"{name}-c{place}" for name in ("edit", "remove", "hides", "distance", "lost") for place in range(1, 5)}
    assert wanted | {"add"} <= reached

    visitor.page.locator("[data-key='distance-c2']").click()
    visitor.see_heading("Closeness")
    visitor.see("Anatomy")
    visitor.go("Board")
    wait_for_numbers(visitor, 4)


WINDOWS = {
    "table": ("people.csv", "Your own table"),
    "more": ("+ more", "People left out, at most"),
    "adversary": ("Adversary and rows", "Attribute that a model predicts"),
    "add": ("+ add release", "What it does to the table"),
    "publish": ("Publish …", "Download the release"),
}
"""What opens over the board: the button that opens it, and what stands in it."""


def every_order_of_two(names: list[str]) -> list[str]:
    """A walk that begins and ends with the first name and in which every one follows every other once."""
    left = {one: [other for other in names if other != one] for one in names}
    walk, stack = list[str](), [names[0]]
    while stack:
        if left[stack[-1]]:
            stack.append(left[stack[-1]].pop())
        else:
            walk.append(stack.pop())
    return walk[::-1]


def opened(visitor: Visitor, window: str) -> Any:
    """Open what lies over the board; its content."""
    button, held = WINDOWS[window]
    visitor.page.get_by_test_id("stMain").get_by_role("button", name=button).first.click()
    content = visitor.page.get_by_test_id("stPopoverBody").or_(visitor.page.get_by_role("dialog"))
    content.get_by_text(held).first.wait_for(timeout=20_000)
    return content


def close(visitor: Visitor) -> None:
    visitor.page.keyboard.press("Escape")
    content = visitor.page.get_by_test_id("stPopoverBody").or_(visitor.page.get_by_role("dialog"))
    content.wait_for(state="detached", timeout=20_000)
    visitor.settle()


def shown_adversary(visitor: Visitor) -> tuple[list[str], list[str]]:
    """What the fields of the adversary hold, and which rows are chosen."""
    content = opened(visitor, "adversary")
    content.get_by_role("button", name="Still useful").wait_for()
    # A field that has just come shows for a frame what it would hold by default.
    visitor.settle()
    fields = [field.input_value() for field in content.locator("input").all()]
    rows = [row.inner_text() for row in content.locator("button[aria-pressed=true],button[aria-checked=true]").all()]
    close(visitor)
    return fields, rows


def test_whatever_is_opened_and_closed_over_the_board_leaves_it_as_it_was(browse: Any) -> None:
    from playwright.sync_api import expect

    visitor = browse()
    uploaded(visitor, rows=150)
    # Numbers that come later change the text.
    for later in ("the exact number follows", DRAWN):
        expect(board(visitor)).not_to_contain_text(later, timeout=60_000)
    before = board(visitor).inner_text()
    held: dict[str, tuple[list[str], list[str]]] = {}
    for window in every_order_of_two(list(WINDOWS)):
        if window == "adversary":
            held[str(len(held))] = shown_adversary(visitor)
        else:
            opened(visitor, window)
            close(visitor)
        expect(board(visitor)).to_have_text(before, use_inner_text=True, timeout=20_000)
    rows = [line.inner_text() for line in board(visitor).locator("tbody .label").all()]
    target = held["0"][0][2]
    assert list(held.values()) == [(["2", "diagnosis", target, ""], rows)] * 4

    # A field that is moved changes what it is about, and nothing else.
    opened(visitor, "adversary").get_by_role("slider").press("ArrowRight")
    visitor.see("more than 1/3")
    close(visitor)
    wait_for_numbers(visitor, 4)
    assert [line.inner_text() for line in board(visitor).locator("tbody .label").all()] == rows
    assert f"predicts {target}" in board(visitor).inner_text()
    assert shown_adversary(visitor) == (["3", "diagnosis", target, ""], rows)


def test_columns_are_added_changed_and_removed(browse: Any) -> None:
    visitor = browse()
    uploaded(visitor)
    visitor.page.locator("[data-key='add']").click()
    dialog = visitor.page.get_by_role("dialog")
    dialog.get_by_text("What it does to the table").wait_for()
    added = board(visitor).locator("th.column").nth(4)
    visitor.click_until_shown(dialog.get_by_role("button", name="Add to the board"), added)
    wait_for_numbers(visitor, 5)
    visitor.page.locator("[data-key='remove-c2']").click()
    wait_for_numbers(visitor, 4)
    assert "Anatomy" not in board(visitor).locator("thead").inner_text()
    visitor.page.get_by_role("button", name="Undo").click()
    wait_for_numbers(visitor, 5)


def wait_for_k(visitor: Visitor, k: int) -> None:
    from playwright.sync_api import expect

    expect(visitor.page.locator(".st-key-board-k")).to_contain_text(f"{k}", timeout=20_000)
    visitor.settle()


def wait_for_entries(visitor: Visitor, number: int) -> None:
    """The browser's history has so many entries: a slider shows its number before the server has heard of it."""
    visitor.page.wait_for_function("number => history.length >= number", arg=number, timeout=20_000)
    visitor.settle()
    assert visitor.page.evaluate("history.length") == number


def test_back_and_forward_of_the_browser_are_undo_and_redo_and_still_lead_between_pages(browse: Any) -> None:
    visitor = browse()
    uploaded(visitor)
    first = visitor.page.evaluate("history.length")
    slider = visitor.page.locator(".st-key-board-k").get_by_role("slider")
    # Every change is one entry, and so is every page.
    for step, k in enumerate((12, 15), 1):
        slider.focus()
        visitor.page.keyboard.press("ArrowRight")
        wait_for_k(visitor, k)
        wait_for_entries(visitor, first + step)
        # What is moved on at once is one step with what came before.
        visitor.page.wait_for_timeout(1_000 * TOGETHER + 100)
    wait_for_numbers(visitor, 4)
    visitor.page.locator("[data-key='hides-c1']").click()
    visitor.see_heading("Classes")
    wait_for_entries(visitor, first + 3)

    visitor.page.go_back(wait_until="commit")
    wait_for_k(visitor, 15)
    for k in (12, 10):
        visitor.page.go_back(wait_until="commit")
        wait_for_k(visitor, k)
    wait_for_numbers(visitor, 4)
    for k in (12, 15):
        visitor.page.go_forward(wait_until="commit")
        wait_for_k(visitor, k)
    visitor.page.go_forward(wait_until="commit")
    visitor.see_heading("Classes")

    # Changes that follow each other faster than their addresses are all kept.
    visitor.go("Board")
    wait_for_k(visitor, 15)
    slider.focus()
    for _ in range(3):
        visitor.page.keyboard.press("ArrowRight")
    wait_for_k(visitor, 30)
    wait_for_numbers(visitor, 4)
    wait_for_k(visitor, 30)

    # Tags are steps on every page.
    visitor.go("Table")
    visitor.page.get_by_role("button", name="Reset", exact=True).click()
    visitor.see("No attribute is tagged yet")
    visitor.page.go_back(wait_until="commit")
    visitor.see("Go to the board")
    assert "No attribute is tagged yet" not in visitor.text()


def test_a_browser_that_is_slower_than_the_next_draw_takes_no_promise_back(browse: Any) -> None:
    # A new session draws the board again before such a browser shows it: fields that it was told about once would begin
    # with their defaults, and send them back as if somebody had chosen that nothing is promised.
    visitor = browse()
    visitor.open("classes")
    visitor.page.context.new_cdp_session(visitor.page).send("Emulation.setCPUThrottlingRate", {"rate": 10})
    visitor.page.reload()
    visitor.page.wait_for_selector("h1", timeout=60_000)
    visitor.settle()
    visitor.go("Board")
    typed = {axis: visitor.page.get_by_role("spinbutton", name=f"{axis}, typed") for axis in "klct"}
    assert {axis: field.input_value() for axis, field in typed.items()} == {"k": "10", "l": "3", "c": "", "t": "0.3"}
    sliders = visitor.page.locator(".st-key-promises").get_by_role("slider")
    assert [slider.get_attribute("aria-valuetext") for slider in sliders.all()] == ["10", "3", "off", "0.3"]

    # What is published is the release of the column that was asked for, not the first of the list.
    title = visitor.page.locator("[class*='st-key-board-answer-'] strong").first.inner_text()
    visitor.page.get_by_role("button", name="Publish …").click()
    dialog = visitor.page.get_by_role("dialog")
    dialog.get_by_text("Download the release").wait_for(timeout=120_000)
    visitor.settle()
    chosen = dialog.get_by_role("radio", checked=True).first.locator("xpath=ancestor::label")
    assert chosen.inner_text().startswith(title)


def test_publishing_says_what_does_not_hold_in_equal_size(browse: Any) -> None:
    visitor = browse()
    uploaded(visitor)
    visitor.page.get_by_role("button", name="Publish …").click()
    dialog = visitor.page.get_by_role("dialog")
    dialog.get_by_text("Download the release").wait_for(timeout=60_000)
    assert dialog.get_by_text("This holds:").or_(dialog.get_by_text("Everything that was asked holds")).count()
    for file in ("Certificate", "Recipe", "Report"):
        dialog.get_by_text(file).first.wait_for(timeout=20_000)


def test_on_a_phone_the_columns_are_swiped_and_nothing_overflows(browse: Any) -> None:
    visitor = browse(width=390, height=844)
    visitor.open("")
    assert visitor.page.evaluate("document.documentElement.scrollWidth") <= 390
    assert not visitor.page.get_by_test_id("stSidebar").is_visible() or (
        visitor.page.get_by_test_id("stSidebar").get_attribute("aria-expanded") == "false"
    )
    swiped = board(visitor).evaluate(
        "table => { const place = table.parentElement; place.scrollLeft = 400; return place.scrollLeft; }"
    )
    assert swiped > 100
    # The question stays in sight beside the column that is swiped to.
    question = board(visitor).locator("th.question").first.bounding_box()
    assert question["x"] >= 0


def in_scheme(visitor: Any, scheme: str) -> None:
    """The page in light or dark, once it is painted so."""
    visitor.page.emulate_media(color_scheme=scheme)
    visitor.page.wait_for_function(f"() => {IS_DARK} === {'true' if scheme == 'dark' else 'false'}")
    visitor.settle()


IS_DARK = (
    "getComputedStyle(document.querySelector('.stApp')).backgroundColor.match(/\\d+/g).slice(0, 3)"
    ".every(part => Number(part) < 100)"
)


def test_no_page_has_a_serious_fault_for_those_who_cannot_see_or_point(browse: Any) -> None:
    axe = (files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8")
    visitor = browse()
    uploaded(visitor)
    found: dict[str, list[str]] = {}
    for route in ROUTES:
        visitor.go(route.title)
        # Streamlit's own note that a job is done has no name; it goes by itself.
        visitor.page.get_by_test_id("stToast").first.wait_for(state="detached", timeout=30_000)
        visitor.page.evaluate(axe)
        # In the dark only colors are others.
        for scheme, rules in (("light", ""), ("dark", ", runOnly: ['color-contrast']")):
            in_scheme(visitor, scheme)
            report = visitor.page.evaluate(f"axe.run(document, {{resultTypes: ['violations']{rules}}})")
            for fault in report["violations"]:
                if fault["impact"] in SERIOUS:
                    nodes = [json.dumps(node["target"]) + " " + node["html"][:120] for node in fault["nodes"][:3]]
                    found.setdefault(f"{route.title}, {scheme}: {fault['id']}", []).extend(nodes)
        in_scheme(visitor, "light")
    assert found == {}, json.dumps(found, indent=1)


def test_a_first_visit_publishes_the_release_that_the_answer_names(browse: Any) -> None:
    visitor = browse()
    visitor.open("")
    visitor.see("Publish Stack & Deal: everybody hides among 10 or more")
    visitor.page.get_by_role("button", name="Publish …").click()
    dialog = visitor.page.get_by_role("dialog")
    dialog.get_by_text("Everything that was asked holds").wait_for(timeout=60_000)
    assert "Stack & Deal" in dialog.locator("label:has(input:checked)").first.inner_text()
