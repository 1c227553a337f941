"""The board in headless Chromium on Adult, ten known attributes and four columns: from a moved slider to what is drawn.

Run: python -m tests.benchmarks.board [--changes 50]. The sliders of k, l and t are moved up and down at random, by a
fixed seed; about two thirds of the settings are new, the others were seen before. Wanted (p95): numbers within 1 s,
first estimates within 2.5 s, exact numbers within 20 s.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from tests.dashboard import browser
from tests.dashboard.browser import Visitor

ADULT = Path(__file__).parents[3] / "shared" / "data" / "adult.csv"
KNOWN = ["age", "workclass", "education", "marital-status", "race", "sex", "native-country", "salary-class"]
KNOWN += ["hours-per-week", "capital-gain"]
SECRET = "occupation"
SEED = 7
STEPS = {"k": (0, 9), "l": (0, 3), "t": (-2, 4)}
"""How far each slider is moved down and up from where it stands first: to levels that the methods can keep here."""
QUICK = """(text) => {
  const root = [...document.querySelectorAll('*')].map(one => one.shadowRoot).find(
    one => one && one.querySelector('table.board'));
  if (!root) return false;
  const rows = [...root.querySelectorAll('tbody tr')];
  const quick = rows.filter(row => !/Given away|Still useful/.test(row.querySelector('.label').textContent));
  return quick.every(row => !row.querySelector('td.pending')) && rows[0].textContent !== text;
}"""
NO_WAITING = """() => {
  const root = [...document.querySelectorAll('*')].map(one => one.shadowRoot).find(
    one => one && one.querySelector('table.board'));
  return root && !root.querySelector('td.pending');
}"""
NO_ESTIMATE = NO_WAITING.replace("td.pending", "td.pending, td.estimate")


def opened(visitor: Visitor) -> None:
    """The board of Adult, with everything on it."""
    frame = pd.read_csv(ADULT, skipinitialspace=True).dropna()[[*KNOWN, SECRET]]
    visitor.open("")
    visitor.page.get_by_role("button", name="Census-like table").click()
    visitor.page.get_by_test_id("stFileUploaderDropzoneInput").first.set_input_files(
        {"name": "adult.csv", "mimeType": "text/csv", "buffer": frame.to_csv(index=False).encode()}
    )
    visitor.see("What do others know, and what must they not learn?", 60)
    for label, wanted in (("Known to others", KNOWN), ("Secret", [SECRET]), ("Names the person", [])):
        choose(visitor, label, wanted)
    visitor.page.get_by_role("button", name="Compare four methods").click()
    visitor.page.wait_for_function(NO_ESTIMATE, timeout=300_000)


def choose(visitor: Visitor, label: str, wanted: list[str]) -> None:
    """Let a list of columns be exactly these."""
    box = visitor.page.get_by_test_id("stMultiSelect").filter(has_text=label).first
    field = box.locator("input").first
    clear = box.get_by_role("button", name="Clear all")
    if clear.count():
        clear.click()
        visitor.settle()
    for name in wanted:
        field.fill(name)
        visitor.page.get_by_role("option", name=name, exact=True).first.click()
    field.press("Escape")
    visitor.settle()


def moves(n: int) -> list[tuple[str, str]]:
    """Which slider is moved, and by which key."""
    generator = np.random.default_rng(SEED)
    at = dict.fromkeys(STEPS, 0)
    found = []
    for _ in range(n):
        axis = str(generator.choice(list(STEPS), p=[0.5, 0.25, 0.25]))
        lowest, highest = STEPS[axis]
        is_up = at[axis] == lowest or (at[axis] < highest and bool(generator.random() < 0.6))
        at[axis] += 1 if is_up else -1
        found.append((axis, "ArrowRight" if is_up else "ArrowLeft"))
    return found


def change(visitor: Visitor, axis: str, key: str, exact: bool) -> tuple[float, float, float]:
    """Move the slider of k, l or t by a key; seconds until the quick, the first slow and the exact numbers stand."""
    page = visitor.page
    root: Any = page.locator("table.board tbody tr").first
    before = root.text_content()
    begin = time.perf_counter()
    page.locator(f".st-key-board-{axis}").get_by_role("slider").press(key)
    page.wait_for_function(QUICK, arg=before, timeout=60_000)
    quick = time.perf_counter() - begin
    if not exact:
        return quick, np.nan, np.nan
    page.wait_for_function(NO_WAITING, timeout=300_000)
    first = time.perf_counter() - begin
    page.wait_for_function(NO_ESTIMATE, timeout=300_000)
    return quick, first, time.perf_counter() - begin


def main() -> None:
    """Print the times."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--changes", type=int, default=50)
    parser.add_argument("--exact", type=int, default=5, help="changes after which the slow numbers are waited for")
    arguments = parser.parse_args()
    if browser.missing():
        raise SystemExit(f"The benchmark drives a browser, but {browser.missing()}.")
    with browser.server() as address, browser.chrome() as chrome:
        visitor = browser.visitor(chrome, address, width=1440)
        begin = time.perf_counter()
        visitor.open("")
        print(f"The board that ships stands after {time.perf_counter() - begin:.2f} s.")
        opened(visitor)
        times = []
        for place, (axis, key) in enumerate(moves(arguments.changes)):
            times.append(change(visitor, axis, key, place < arguments.exact))
            print(f"  {axis} {key}: " + ", ".join(f"{one:.2f}" for one in times[-1]), flush=True)
    found = np.array(times)
    for column, what in enumerate(("numbers", "first slow numbers", "exact numbers")):
        known = found[:, column][~np.isnan(found[:, column])]
        if len(known):
            print(
                f"{what:>20}: median {np.median(known):.2f} s, p95 {np.quantile(known, 0.95):.2f} s, "
                f"worst {known.max():.2f} s of {len(known)} changes"
            )


if __name__ == "__main__":
    main()
