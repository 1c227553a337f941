"""Slicing's views, six releases side by side, and a search beside a reader who clicks, in headless Chromium on Adult.

Run: python -m tests.benchmarks.explore. S = occupation; times are from the click until all is painted.
"""

from __future__ import annotations

import statistics
import time
from collections import defaultdict

from anoncore import datasets
from tests.dashboard import browser
from tests.dashboard.browser import Visitor

ADDED = ("ForegroundSafe", "SABRE")
"""The methods that stand on the board beside those with which it begins."""
KNOWN = ("age", "workclass", "education", "marital-status", "race", "sex")
REPEATS = 3


def tagged(visitor: Visitor) -> None:
    """Load Adult's OCC-7, with occupation as the sensitive attribute."""
    frame = datasets.table("adult").load()[[*KNOWN, "occupation"]]
    visitor.upload("occ-7.csv", frame.to_csv(index=False).encode())
    visitor.go("Table")
    with visitor.run():
        visitor.page.get_by_role("button", name="Use suggestions").click()
    visitor.edit_cell("attribute-editor", column=1, row=len(KNOWN), left=180, option="Secret", held="sensitive")


def made(visitor: Visitor) -> None:
    """Make the releases; slicing gets three columns, and occupation one that has only one other attribute."""
    visitor.go("Board")
    visitor.page.locator("[data-key='edit-c3']").click()
    dialog = visitor.page.get_by_role("dialog")
    dialog.get_by_text("More options").first.click()
    entered(visitor, "Sensitive column", "2")
    entered(visitor, "Columns", "3")
    with visitor.run():
        dialog.get_by_role("button", name="Use for this release").click()
    for method in ADDED:
        visitor.column(method)
    visitor.wait_for_release("Slicing")


def entered(visitor: Visitor, label: str, value: str) -> None:
    """Type a number and press Enter."""
    box = visitor.page.get_by_role("spinbutton", name=label, exact=True)
    box.fill(value)
    with visitor.run():
        box.press("Enter")


def slicing_views(visitor: Visitor, times: dict[str, list[float]]) -> None:
    """The pages that show slicing, each twice after a first look."""
    visitor.go("Classes")
    visitor.show_release("Slicing")
    for look in range(REPEATS):
        first = " (first)" if look == 0 else ""
        for page in ("Classes", "Method", "Privacy", "Attack"):
            visitor.go(page)
            times[f"slicing: {page}{first}"].append(visitor.seconds)
        for tab in ("Matching buckets", "Membership", "Foreground knowledge"):
            begin = time.perf_counter()
            with visitor.run():
                visitor.page.get_by_role("tab", name=tab, exact=True).click()
            visitor.settle()
            times[f"slicing: tab {tab}{first}"].append(time.perf_counter() - begin)


def side_by_side(visitor: Visitor, times: dict[str, list[float]]) -> None:
    """One person in six releases, and the pages that draw all of them first."""
    for _ in range(REPEATS):
        visitor.go("Table")
        for page in ("One person", "Classes", "Closeness", "Utility"):
            visitor.go(page)
            times[f"six releases: {page}"].append(visitor.seconds)


def searched(visitor: Visitor, times: dict[str, list[float]]) -> None:
    """The search for a better release while the reader goes from page to page."""
    visitor.go("Board")
    begin = time.perf_counter()
    visitor.press("Find better")
    while time.perf_counter() - begin < 12:
        for page in ("Table", "Utility"):
            visitor.go(page)
            times["page switch during the search"].append(visitor.seconds)
    visitor.go("Board")
    visitor.see("Nothing more to try", 300)
    times["search for a better release"].append(time.perf_counter() - begin)


def main() -> None:
    """Print the table."""
    if browser.missing():
        raise SystemExit(f"The benchmark drives a browser, but {browser.missing()}.")
    times: dict[str, list[float]] = defaultdict(list)
    with browser.server() as address, browser.chrome() as chrome:
        visitor = browser.visitor(chrome, address, height=1400)
        visitor.open()
        tagged(visitor)
        made(visitor)
        slicing_views(visitor, times)
        side_by_side(visitor, times)
        searched(visitor, times)
    for what, seconds in times.items():
        print(f"{what:>44}: {statistics.median(seconds):.2f} s (worst {max(seconds):.2f}, {len(seconds)} times)")


if __name__ == "__main__":
    main()
