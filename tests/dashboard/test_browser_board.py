"""The board in a real browser: how many clicks a comparison takes, by keyboard, on a phone, and for screen readers."""

from __future__ import annotations

import json
import re
from importlib.resources import files
from io import BytesIO
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import pandas as pd
import pytest

from anoncore import Microdata
from anoncore.algorithms import Mondrian
from anoncore.measures.promise_marks import upwards
from anoncore.requirements import KAnonymity
from dashboard.board.wording import ROWS
from dashboard.closer.cells import PAGES
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


def choose_file(visitor: Visitor, inside: Any, name: str, content: bytes) -> None:
    """Choose a file by the button of the field that lies inside something."""
    with visitor.page.expect_file_chooser() as chooser:
        inside.get_by_test_id("stFileUploaderDropzone").first.locator("button").click()
    with visitor.run():
        chooser.value.set_files({"name": name, "mimeType": "text/csv", "buffer": content})


def open_cell(visitor: Visitor, row: str, column: int) -> None:
    """Click on the number of a cell of the board; columns count from 1."""
    visitor.act(visitor.page.locator(f"[data-key='{row}-c{column}']").click)


def uploaded(visitor: Visitor, another: str = "", rows: int = 600) -> int:
    """Upload a table on the board and have four methods compared; the number of clicks.

    `another`: the only attribute that others know, instead of those suggested.
    """
    clicks = 0

    def click(what: Any) -> None:
        nonlocal clicks
        clicks += 1
        visitor.act(what.click)

    visitor.open("")
    click(visitor.page.get_by_role("button", name="Census-like table"))
    # The click on the button of the field, and that on the file.
    clicks += 2
    choose_file(visitor, visitor.page, "people.csv", people(rows))
    visitor.see("What do others know, and what must they not learn?")
    if another:
        # The popover has closed with the choice of the file; the next click is the first that its fields hear of.
        known = visitor.page.get_by_test_id("stMultiSelect").filter(has_text="Known to others")
        visitor.act(known.get_by_role("button", name="Clear all").click)
        assert visitor.page.get_by_role("button", name="people.csv").count() == 1
        known.locator("input").fill(another)
        visitor.act(visitor.page.get_by_role("option", name=another, exact=True).click)
        known.locator("input").press("Escape")
    click(visitor.page.get_by_role("button", name="Compare four methods"))
    wait_for_numbers(visitor, 4)
    return clicks


def test_four_methods_are_compared_by_eight_clicks_and_published_and_a_synthetic_table_stands_beside_them(
    browse: Any,
) -> None:
    visitor = browse()
    assert uploaded(visitor) <= MOST_CLICKS
    methods = ["Mondrian", "Anatomy", "Slicing", "Stack & Deal"]
    assert columns_of(visitor) == methods
    assert board(visitor).locator("td.failed").count() == 0

    # Publishing says what does not hold in equal size.
    visitor.press("Publish …")
    dialog = visitor.page.get_by_role("dialog")
    dialog.get_by_text("Download the release").wait_for(timeout=60_000)
    dialog.get_by_text("This holds:").or_(dialog.get_by_text("Everything that was asked holds")).first.wait_for()
    for file in ("Certificate", "Recipe", "Report"):
        dialog.get_by_text(file).first.wait_for(timeout=20_000)
    close(visitor)

    add_made_up(visitor)
    assert columns_of(visitor) == [*methods, "made up"]
    rows = {
        line.locator(".label").inner_text(): line.locator("td.cell").nth(4)
        for line in board(visitor).locator("tbody tr").all()
    }
    # What asks for groups of people says why it does not answer; what compares shares has a number beside Mondrian's.
    assert "cannot be told" in rows["Asked"].inner_text()
    for label in ("Asked", "Hides among", "Distance", "Given away"):
        assert "the rows of this table are nobody's" in rows[label].inner_text().replace("The rows", "the rows")
    for label in ("Lost", "Still useful"):
        assert rows[label].locator(".number").count() == 1
    assert board(visitor).locator("tbody tr td.cell:nth-of-type(1).failed").count() == 0

    # What is taken off the board comes back by one step.
    visitor.remove_column("Anatomy")
    wait_for_numbers(visitor, 4)
    assert columns_of(visitor) == ["Mondrian", "Slicing", "Stack & Deal", "made up"]
    visitor.press("Undo", exact=False)
    wait_for_numbers(visitor, 5)
    assert columns_of(visitor) == [*methods, "made up"]

    # Its name tells how it was read; its numbers lead on to pages that show it.
    visitor.act(visitor.page.get_by_role("button", name="made up: see how this release was read").click)
    visitor.see("are compared with the 600 rows of the original by shares")
    visitor.act(dialog.get_by_role("button", name="Close").click)
    open_cell(visitor, "lost", 5)
    visitor.see("700 synthetic rows")


def columns_of(visitor: Visitor) -> list[str]:
    """The names above the columns of the board."""
    return [head.removesuffix(" ▾") for head in board(visitor).locator("th.column .method").all_inner_texts()]


def add_made_up(visitor: Visitor) -> None:
    """Open a table of rows that are nobody's as a release, and wait for its numbers."""
    made_up = pd.read_csv(BytesIO(people(700)), usecols=["age", "sex", "education", "diagnosis"])
    made_up = made_up.apply(lambda column: column.sample(frac=1, random_state=len(column.name)).to_numpy())
    dialog = visitor.page.get_by_role("dialog")
    n_before = board(visitor).locator("th.column").count()
    visitor.act(visitor.page.get_by_role("button", name="+ add release").click)
    visitor.act(dialog.get_by_text("A release made elsewhere").click)
    choose_file(visitor, dialog, "made up.csv", made_up.to_csv(index=False).encode())
    visitor.act(dialog.get_by_text("No, they are nobody's").click)
    visitor.act(dialog.get_by_role("button", name="Open on the board").click)
    wait_for_numbers(visitor, n_before + 1)


def test_of_a_published_table_alone_the_board_tells_how_much_is_lost_at_most(browse: Any) -> None:
    """Paler bars than those of a number that is known, and the words for those who do not see them."""
    frame = pd.read_csv(BytesIO(people())).drop(columns="name")
    known = ("age", "sex", "education")
    data = Microdata(frame, {**dict.fromkeys(known, "quasi-identifier"), "diagnosis": "sensitive"})
    published = Mondrian(requirements=[KAnonymity(k=5)]).anonymize(data).pandas_tables()["release"]
    visitor = browse()
    visitor.open("")
    visitor.press("Census-like table", exact=False)
    choose_file(visitor, visitor.page, "published.csv", published.to_csv(index=False).encode())
    visitor.see("What do others know, and what must they not learn?")
    visitor.press("It is a release already: judge it")
    lost = board(visitor).locator("td.lost")
    lost.locator(".number").wait_for(timeout=60_000)
    assert re.fullmatch(r"at most \d+\.\d%", lost.locator(".number").inner_text())
    assert "the original is not here, and it may be less" in lost.inner_text()
    assert "at most" in lost.get_by_role("img").get_attribute("aria-label")
    bars = lost.locator("svg rect").all()
    assert len(bars) == 4
    assert {bar.get_attribute("fill-opacity") for bar in bars} == {"0.35"}
    # Each bar has a name below it, cut where it has no more room.
    named, names = lost.locator("svg .tick").all_text_contents(), {*known, "diagnosis"}
    assert {one for one in names for name in named if one.startswith(name.rstrip("…"))} == names


def test_a_promise_is_moved_and_every_cell_is_reached_by_keyboard(browse: Any) -> None:
    from playwright.sync_api import expect

    visitor = browse()
    uploaded(visitor, rows=300)
    first = board(visitor).locator("tbody tr").nth(1).locator(".number").first
    before = first.inner_text()
    slider = visitor.page.locator(".st-key-level-k").get_by_role("slider")
    slider.focus()
    for _ in range(4):
        visitor.page.keyboard.press("ArrowRight")
    visitor.see("(asked: 25)")
    wait_for_numbers(visitor, 4)
    assert first.inner_text() != before

    # Whoever goes on moving while the page still draws an earlier step loses no step.
    for key in ["ArrowRight"] * 4 + ["ArrowLeft"] * 7 + ["ArrowRight"] * 2:
        visitor.page.keyboard.press(key)
        visitor.page.wait_for_timeout(120)
    visitor.see("(asked: 20)")
    assert "20" in visitor.page.locator(".st-key-level-k").inner_text()

    # Everything on the board can be reached by the key Tab alone.
    visitor.page.keyboard.press("Home")
    expect(board(visitor)).not_to_contain_text("asked: 20", timeout=30_000)
    wait_for_numbers(visitor, 4)
    wanted = {
        f"{name}-c{place}"
        for name in ("edit", "remove", "promise", "hides", "distance", "lost")
        for place in range(1, 5)
    }
    wanted.add("add")
    reached = set()
    slider.focus()
    for _ in range(80):
        if wanted <= reached:
            break
        visitor.page.keyboard.press("Tab")
        reached.add(
            visitor.page.evaluate(
                """() => { let at = document.activeElement;
                  while (at && at.shadowRoot && at.shadowRoot.activeElement) at = at.shadowRoot.activeElement;
                  return at && at.dataset ? at.dataset.key || '' : ''; }"""
            )
        )
    assert wanted <= reached


SHOWN = """() => {
  const roots = [...document.querySelectorAll('*')].map(node => node.shadowRoot).filter(Boolean);
  const table = roots.map(root => root.querySelector('table.board')).find(Boolean);
  const promises = document.querySelector('.st-key-promises');
  return {
    cells: [...table.rows].map(row => [...row.cells].map(cell => cell.innerText)),
    levels: [
      ...[...promises.querySelectorAll('input')].map(field => field.value),
      ...[...promises.querySelectorAll('[role=slider]')].map(slider => slider.getAttribute('aria-valuetext')),
    ],
  };
}"""
"""All that the board says: its rows with the heads of the columns, and the levels."""
FURTHER = "Average group size"
WINDOWS = {
    "table": ("button", "people.csv", "Your own table"),
    "decide": ("button", "columns left out", "until you decide on them"),
    "more": ("button", "+ more", "People left out, at most"),
    "adversary": ("button", "Adversary and rows", "Attribute that a model predicts"),
    "add": ("button", "+ add release", "What it does to the table"),
    "publish": ("button", "Publish …", "Download the release"),
    "method": ("button", "Mondrian: change the method", "Use for this release"),
    "opened": ("button", "made elsewhere: see how", "It stays as it was published"),
    "number": ("button", f"{FURTHER}, Mondrian", "More in the reference"),
}
"""What opens over the board: what opens it, by its role and name, and what stands in it."""


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


def over_the_board(visitor: Visitor) -> Any:
    """What lies over the board."""
    return visitor.page.get_by_test_id("stPopoverBody").or_(visitor.page.get_by_role("dialog"))


def opened(visitor: Visitor, window: str) -> Any:
    """Open what lies over the board; its content."""
    role, button, held = WINDOWS[window]
    visitor.act(visitor.page.get_by_test_id("stMain").get_by_role(role, name=button).first.click)
    over_the_board(visitor).get_by_text(held).first.wait_for(timeout=20_000)
    return over_the_board(visitor)


def close(visitor: Visitor) -> None:
    visitor.act(lambda: visitor.page.keyboard.press("Escape"))
    over_the_board(visitor).wait_for(state="detached", timeout=20_000)


def shown_adversary(visitor: Visitor) -> tuple[list[str], list[str]]:
    """What the fields of the adversary hold, and which rows are chosen."""
    content = opened(visitor, "adversary")
    content.get_by_role("button", name="Still useful").wait_for()
    fields = [field.input_value() for field in content.locator("input").all()]
    rows = [row.inner_text() for row in content.locator("button[aria-pressed=true],button[aria-checked=true]").all()]
    close(visitor)
    return fields, rows


def with_all_windows(visitor: Visitor) -> None:
    """A board of a small table over which everything can be opened: with columns that are left out, a further number as
    a row, and a release that was made elsewhere.
    """
    uploaded(visitor, "age", rows=150)
    # What was said of the table is kept, whatever was suggested.
    assert visitor.page.get_by_role("button", name="people.csv").inner_text().count("1 known") == 1
    further = opened(visitor, "adversary").get_by_test_id("stMultiSelect").filter(has_text="Further questions")
    further.locator("input").fill(FURTHER)
    visitor.act(visitor.page.get_by_role("option", name=FURTHER, exact=True).click)
    close(visitor)
    elsewhere = pd.read_csv(BytesIO(people(150)), usecols=["age", "diagnosis"]).to_csv(index=False).encode()
    dialog = opened(visitor, "add")
    visitor.act(dialog.get_by_text("A release made elsewhere").click)
    choose_file(visitor, dialog, "made elsewhere.csv", elsewhere)
    visitor.act(dialog.get_by_role("button", name="Open on the board").click)
    wait_for_numbers(visitor, 5)
    # Numbers that come later change the cells.
    visitor.rest()


def test_whatever_is_opened_and_closed_over_the_board_leaves_it_as_it_was(browse: Any) -> None:
    visitor = browse()
    with_all_windows(visitor)
    before = visitor.page.evaluate(SHOWN)
    assert len(before["levels"]) == 8
    held: list[tuple[list[str], list[str]]] = []
    for window in every_order_of_two(list(WINDOWS)):
        if window == "adversary":
            held.append(shown_adversary(visitor))
        else:
            opened(visitor, window)
            close(visitor)
        assert visitor.page.evaluate(SHOWN) == before, f"after {window}"
    rows = [row[0].split("\n")[0] for row in before["cells"][1:-1]]
    target = held[0][0][2]
    assert held == [(["2", "diagnosis", target, ""], rows)] * (len(WINDOWS) - 1)

    # A field that is moved changes what it is about, and nothing else.
    visitor.act(lambda: opened(visitor, "adversary").get_by_role("slider").press("ArrowRight"))
    visitor.see("more than 1/3")
    close(visitor)
    wait_for_numbers(visitor, 5)
    assert [row[0].split("\n")[0] for row in visitor.page.evaluate(SHOWN)["cells"][1:-1]] == rows
    assert f"predicting {target}" in board(visitor).inner_text()
    assert shown_adversary(visitor) == (["3", "diagnosis", target, ""], rows)


def first_number(row: str, cell: str) -> str:
    """What the page behind a cell shows first, by what the cell says."""
    return cell.split()[0] if row == "hides" else cell.removeprefix("at least ")


def first_shown(row: str, number: Any) -> str:
    """What the page behind a cell shows, in the words of the cell."""
    shown = number.inner_text()
    if row == "distance":
        return upwards(float(shown))
    return shown.split()[0] if row == "hides" else shown


def test_a_cell_of_every_row_and_column_leads_to_a_page_whose_first_number_is_its_own(browse: Any) -> None:
    """All cells are clicked without a browser in `test_closer`; here those of a row and of a column are told apart."""
    from playwright.sync_api import expect

    visitor = browse()
    uploaded(visitor, rows=300)
    # An estimate gives way to the number.
    visitor.rest()
    columns = columns_of(visitor)
    assert len(columns) == 4
    rows = [row for row in ROWS if row != "promise"]
    assert len(rows) >= len(columns)
    cells = {
        (row, place): board(visitor).locator(f"[data-key='{row}-c{place}']").inner_text()
        for row in rows
        for place in range(1, len(columns) + 1)
    }
    for step, row in enumerate(rows):
        place = step % len(columns) + 1
        cell = cells[row, place]
        open_cell(visitor, row, place)
        assert urlsplit(visitor.page.url).path == f"/{PAGES[row]}"
        expect(visitor.page.get_by_test_id("stSidebar").locator("input").first).to_have_value(
            re.compile(f"^{re.escape(columns[place - 1])}")
        )
        number = visitor.page.get_by_test_id("stMain").get_by_test_id("stMetricValue").first
        number.wait_for(timeout=60_000)
        # What is learned anew for the page comes above what stands there meanwhile.
        visitor.comes(lambda row=row, cell=cell, number=number: first_shown(row, number) == first_number(row, cell), 60)
        assert first_shown(row, number) == first_number(row, cell), (row, columns[place - 1])
        visitor.go("Board")
    open_cell(visitor, "promise", 1)
    visitor.see_heading("Privacy")
    visitor.go("Board")
    # The promise is kept or missed by the same numbers.
    promises = board(visitor).locator("tbody tr").filter(has_text="and what each release reaches").locator("td.cell")
    for place in range(1, len(columns) + 1):
        marks = promises.nth(place - 1).inner_text()
        k, t = first_number("hides", cells["hides", place]), cells["distance", place]
        if "secrets" not in cells["hides", place]:
            assert re.search(rf"k is {k}\b", marks)
        assert f"t is {t}" in marks


def wait_for_k(visitor: Visitor, k: int) -> None:
    from playwright.sync_api import expect

    slider = visitor.page.locator(".st-key-level-k").get_by_role("slider")
    expect(slider).to_have_attribute("aria-valuetext", f"{k} or more", timeout=20_000)
    visitor.settle()


def wait_for_entries(visitor: Visitor, number: int) -> None:
    """The browser's history has so many entries: a slider shows its number before the server has heard of it."""
    visitor.page.wait_for_function("number => history.length >= number", arg=number, timeout=20_000)
    visitor.settle()
    assert visitor.page.evaluate("history.length") == number


def test_back_and_forward_of_the_browser_are_undo_and_redo_and_still_lead_between_pages(browse: Any) -> None:
    visitor = browse()
    uploaded(visitor, rows=300)

    def go(step: Any) -> None:
        # Another step before the page has heard of this one would begin from the address of before.
        with visitor.run():
            step(wait_until="commit")

    first = visitor.page.evaluate("history.length")
    slider = visitor.page.locator(".st-key-level-k").get_by_role("slider")
    # Every change is one entry, and so is every page.
    for step, k in enumerate((12, 15), 1):
        slider.focus()
        visitor.page.keyboard.press("ArrowRight")
        wait_for_k(visitor, k)
        wait_for_entries(visitor, first + step)
        # What is moved on at once is one step with what came before.
        visitor.page.wait_for_timeout(1_000 * TOGETHER + 100)
    wait_for_numbers(visitor, 4)
    open_cell(visitor, "hides", 1)
    visitor.see_heading("Groups")
    wait_for_entries(visitor, first + 3)

    go(visitor.page.go_back)
    wait_for_k(visitor, 15)
    for k in (12, 10):
        go(visitor.page.go_back)
        wait_for_k(visitor, k)
    wait_for_numbers(visitor, 4)
    for k in (12, 15):
        go(visitor.page.go_forward)
        wait_for_k(visitor, k)
    go(visitor.page.go_forward)
    visitor.see_heading("Groups")

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
    visitor.press("Reset")
    visitor.see("No attribute is tagged yet")
    go(visitor.page.go_back)
    visitor.see("Go to the board")
    assert "No attribute is tagged yet" not in visitor.text()


def test_a_browser_that_is_slower_than_the_next_draw_takes_no_promise_back(browse: Any) -> None:
    # A new session draws the board again before such a browser shows it: fields that it was told about once would begin
    # with their defaults, and send them back as if somebody had chosen that nothing is promised.
    visitor = browse()
    visitor.open("groups")
    visitor.share_processors(90)
    session = visitor.page.context.new_cdp_session(visitor.page)

    def slow_down(rate: int) -> None:
        session.send("Emulation.setCPUThrottlingRate", {"rate": rate})

    slow_down(10)
    visitor.page.reload()
    visitor.page.wait_for_selector("h1", timeout=60_000)
    visitor.settle()
    visitor.go("Board")
    typed = {axis: visitor.page.get_by_role("spinbutton", name=f"{axis}, typed") for axis in "klct"}
    assert {axis: field.input_value() for axis, field in typed.items()} == {"k": "10", "l": "3", "c": "", "t": "0.3"}
    sliders = visitor.page.locator(".st-key-promises").get_by_role("slider")
    said = ["10 or more", "at most 1 in 3", "off", "at most 0.3"]
    assert [slider.get_attribute("aria-valuetext") for slider in sliders.all()] == said

    # What is published is the release of the column that was asked for, not the first of the list.
    slow_down(1)
    for method in ("Mondrian", "Anatomy", "Slicing", "Stack & Deal"):
        visitor.wait_for_release(method)
    slow_down(10)
    title = visitor.page.locator("[class*='st-key-board-answer-'] strong").first.inner_text()
    visitor.press("Publish …")
    dialog = visitor.page.get_by_role("dialog")
    dialog.get_by_text("Download the release").wait_for(timeout=120_000)
    visitor.settle()
    chosen = dialog.get_by_role("radio", checked=True).first.locator("xpath=ancestor::label")
    assert chosen.inner_text().startswith(title)


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
    uploaded(visitor, rows=150)
    found: dict[str, list[str]] = {}
    # In the dark only colors are others. A page is entered as the last one was left, as changing that takes long.
    schemes = [("light", ""), ("dark", ", runOnly: ['color-contrast']")]
    for route in ROUTES:
        visitor.go(route.title)
        # Streamlit's own note that a job is done has no name; it goes by itself.
        visitor.page.get_by_test_id("stToast").first.wait_for(state="detached", timeout=30_000)
        visitor.page.evaluate(axe)
        for scheme, rules in schemes:
            in_scheme(visitor, scheme)
            report = visitor.page.evaluate(f"axe.run(document, {{resultTypes: ['violations']{rules}}})")
            for fault in report["violations"]:
                if fault["impact"] in SERIOUS:
                    nodes = [json.dumps(node["target"]) + " " + node["html"][:120] for node in fault["nodes"][:3]]
                    found.setdefault(f"{route.title}, {scheme}: {fault['id']}", []).extend(nodes)
        schemes.reverse()
    assert found == {}, json.dumps(found, indent=1)
