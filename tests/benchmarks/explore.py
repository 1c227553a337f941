"""Slicing's views, six runs compared, and a sweep beside a reader who clicks, in headless Chromium on Adult.

Run: python -m tests.benchmarks.explore. S = occupation; times are from the click until all is painted.
"""

from __future__ import annotations

import statistics
import time
from collections import defaultdict

from anoncore import datasets
from tests.dashboard import browser
from tests.dashboard.browser import Visitor

METHODS = ("Mondrian", "Anatomy", "Slicing", "Stack", "ForegroundSafe", "SABRE")
KNOWN = ("age", "workclass", "education", "marital-status", "race", "sex")
SWEPT = {
    "sweep-mondrian-k": "2, 3, 5, 10, 20, 50",
    "sweep-mondrian-l": "1.5, 2, 2.5, 3",
    "sweep-anatomy-l": "2, 3, 4, 5, 6",
    "sweep-slicing-l": "1.5, 2, 2.5, 3",
    "sweep-slicing-columns": "3, 4, 5",
    "sweep-stack-and-deal-k": "2-20",
}
"""6 x 4 + 5 + 4 x 3 + 19 = 60 releases."""
REPEATS = 3


def tagged(visitor: Visitor) -> None:
    """Load Adult's OCC-7, with occupation as the sensitive attribute."""
    frame = datasets.table("adult").load()[[*KNOWN, "occupation"]]
    visitor.upload("occ-7.csv", frame.to_csv(index=False).encode())
    visitor.go("Attributes")
    with visitor.run():
        visitor.page.get_by_role("button", name="Use suggestions").click()
    visitor.edit_cell("attribute-editor", column=1, row=len(KNOWN), left=180, option="sensitive")


def made(visitor: Visitor, number: int, method: str) -> None:
    """Make a release with what the form starts with; slicing gets occupation a column of its own."""
    visitor.go("Anonymize")
    if number > 1:
        visitor.choose("Method", method, exact=False)
    if method == "Slicing":
        visitor.page.get_by_text("More options").first.click()
        entered(visitor, "Sensitive column", "2")
        entered(visitor, "Columns", "3")
    with visitor.run():
        visitor.page.get_by_role("button", name="Run", exact=True).click()
    visitor.see(f"Run {number} ·", seconds=120)


def entered(visitor: Visitor, label: str, value: str) -> None:
    """Type a number and press Enter."""
    box = visitor.page.get_by_role("spinbutton", name=label, exact=True)
    box.fill(value)
    with visitor.run():
        box.press("Enter")


def slicing_views(visitor: Visitor, times: dict[str, list[float]]) -> None:
    """The pages that show slicing, each twice after a first look."""
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


def compared(visitor: Visitor, times: dict[str, list[float]]) -> None:
    """Six runs of six methods side by side, once measured."""
    visitor.go("Compare")
    box = visitor.page.get_by_test_id("stMultiSelect").first
    for _ in range(len(METHODS) - 3):
        box.locator("input").click()
        with visitor.run():
            visitor.page.get_by_role("option").first.click()
    visitor.page.keyboard.press("Escape")
    visitor.see("What it costs", seconds=180)
    visitor.page.get_by_text("Measuring").first.wait_for(state="detached", timeout=180_000)
    for _ in range(REPEATS):
        visitor.go("Data")
        visitor.go("Compare")
        times["compare six runs: redrawn"].append(visitor.seconds)
        for tab in ("One person", "Numbers"):
            with visitor.run():
                visitor.page.get_by_role("tab", name=tab, exact=True).click()
            times[f"compare six runs: tab {tab}"].append(visitor.seconds)


def swept(visitor: Visitor, times: dict[str, list[float]]) -> None:
    """A sweep of 60 releases while the reader goes from page to page."""
    visitor.go("Sweep")
    for key, value in SWEPT.items():
        field = visitor.page.locator(f".st-key-{key} input")
        field.fill(value)
        with visitor.run():
            field.press("Enter")
    box = visitor.page.get_by_test_id("stMultiSelect").nth(1)
    box.locator("input").fill("Foreground breach")
    with visitor.run():
        visitor.page.get_by_role("option", name="Foreground breach").first.click()
    visitor.page.keyboard.press("Escape")
    visitor.see("60 releases will be made")
    begin = time.perf_counter()
    with visitor.run():
        visitor.page.get_by_role("button", name="Start", exact=True).click()
    while time.perf_counter() - begin < 12:
        for page in ("Data", "Attributes", "Utility"):
            visitor.go(page)
            times["page switch during the sweep"].append(visitor.seconds)
    visitor.go("Sweep")
    visitor.page.get_by_text("releases measured").wait_for(state="detached", timeout=300_000)
    times["sweep of 60 releases, four criteria"].append(time.perf_counter() - begin)


def main() -> None:
    """Print the table."""
    if browser.missing():
        raise SystemExit(f"The benchmark drives a browser, but {browser.missing()}.")
    times: dict[str, list[float]] = defaultdict(list)
    with browser.server() as address, browser.chrome() as chrome:
        visitor = browser.visitor(chrome, address, height=1400)
        visitor.open()
        tagged(visitor)
        order = sorted(METHODS, key=lambda method: method == "Slicing")
        for number, method in enumerate(order, start=1):
            made(visitor, number, method)
        slicing_views(visitor, times)
        compared(visitor, times)
        swept(visitor, times)
    for what, seconds in times.items():
        print(f"{what:>44}: {statistics.median(seconds):.2f} s (worst {max(seconds):.2f}, {len(seconds)} times)")


if __name__ == "__main__":
    main()
