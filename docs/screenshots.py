"""The pictures of README and site, taken of the dashboard as it is: `.venv/bin/python docs/screenshots.py`.

It takes the extra `test`. The pictures are kept beside the pages as small files. Run it after the look of a page has
changed, and look at what it made.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import sync_playwright

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from anoncore import Answers, Dossier, Policy, anonymize, datasets  # noqa: E402
from tests.dashboard import browser  # noqa: E402
from tests.dashboard.browser import Visitor  # noqa: E402

FOLDER = ROOT / "docs" / "pages" / "assets"
WIDTH, HEIGHT, COLORS = 1280, 860, 128
"""The window, and how many colours a picture has: as many as the page needs, and few enough for a small file."""


def board(visitor: Visitor) -> None:
    """The board as a first visitor sees it."""


def over_the_map(visitor: Visitor) -> None:
    """The map of the board, where every release is a mark between what it protects and what it costs."""
    visitor.page.locator("[class*=st-key-board-map]").first.evaluate("node => node.scrollIntoView()")


def publish(visitor: Visitor) -> None:
    """The dialog that publishes."""
    visitor.page.get_by_role("button", name="Publish …").click()
    visitor.page.get_by_role("dialog").get_by_text("Everything that was asked holds").wait_for()
    visitor.settle()


def attack(visitor: Visitor) -> None:
    """The page that looks closer at what an adversary gets."""
    visitor.go("Attack")
    visitor.page.get_by_test_id("stProgress").wait_for(state="detached", timeout=120_000)
    visitor.page.mouse.move(WIDTH - 1, HEIGHT - 1)  # away from what explains itself under the pointer


def table(visitor: Visitor) -> None:
    """The page of the table."""
    visitor.go("Table")


def dossier(visitor: Visitor) -> None:
    """A dossier where it says which adversaries were considered, as it is read on a screen."""
    people = datasets.table("census").load(n_rows=2_000)
    release = anonymize(people, ["age", "sex", "education", "race"], secret="diagnosis", k=11, t=0.3)
    answers = Answers(title="Census of 2026", recipients="the university's statistics course")
    visitor.page.goto("about:blank")
    visitor.page.set_content(Dossier.of(release, Policy.load("ema-policy-0070"), answers).to_html())
    visitor.page.get_by_role("heading", level=2).nth(2).evaluate("node => node.scrollIntoView()")


SHOTS: dict[str, Callable[[Visitor], None]] = {
    "board": board,
    "map": over_the_map,
    "publish": publish,
    "attack": attack,
    "table": table,
    "dossier": dossier,
}
ON_PAPER = {"dossier"}
"""What is as light in the dark, because it is made to be printed."""


def taken(visitor: Visitor) -> bytes:
    """What stands in the window, as a PNG of few colours."""
    picture = Image.open(BytesIO(visitor.page.screenshot())).convert("RGB")
    small = picture.quantize(COLORS, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    content = BytesIO()
    small.save(content, "PNG", optimize=True)
    return content.getvalue()


def main(names: list[str]) -> None:
    """Take the pictures of these names, or all."""
    with sync_playwright() as play, browser.serving() as (address, _process):
        chrome: Any = play.chromium.launch(executable_path=browser.chromium(), args=browser.FLAGS)
        for name in names or SHOTS:
            for dark in (False,) if name in ON_PAPER else (False, True):
                visitor = browser.visitor(chrome, address, WIDTH, HEIGHT, dark)
                visitor.open("")
                visitor.page.locator("table.board .number").first.wait_for()
                visitor.settle()
                SHOTS[name](visitor)
                visitor.page.wait_for_timeout(1_000)
                content = taken(visitor)
                (FOLDER / f"{name}{'-dark' if dark else ''}.png").write_bytes(content)
                print(f"{name}{'-dark' if dark else ''}.png: {len(content) / 1024:.0f} kB")
                visitor.page.context.close()


if __name__ == "__main__":
    main(sys.argv[1:])
