"""The board in headless Chromium on Adult, ten known attributes and four columns: from a moved slider to what is drawn.

Run: python -m tests.benchmarks.board [--changes 50] [--rows 1000000]. With --rows, the table is a generated census of
nine columns instead, with eight known ones, and the memory of the server and its processes is printed. Each change is
printed with the CPU seconds of the server until the last of its times. The sliders of k, l and t are moved up and down
at random, by a fixed seed; about two thirds of the settings are new, the others were seen before. Wanted (p95): numbers
within 1 s, first estimates within 2.5 s, exact numbers within 20 s.
"""

from __future__ import annotations

import argparse
import tempfile
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import psutil

from anoncore.datasets.census import load_census
from tests.dashboard import browser
from tests.dashboard.browser import Visitor

ADULT = Path(__file__).parents[3] / "shared" / "data" / "adult.csv"
KNOWN = ["age", "workclass", "education", "marital-status", "race", "sex", "native-country", "salary-class"]
KNOWN += ["hours-per-week", "capital-gain"]
SECRET = "occupation"
LARGE = ["age", "workclass", "education", "marital-status", "race", "sex", "hours-per-week", "native-country"]
"""The known columns of the generated census; its secret is the occupation, too."""
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


class Memory:
    """The most memory (proportional, bytes) that a server and its processes held together, looked at each 0.2 s."""

    def __init__(self, pid: int) -> None:
        self.most = self.most_alone = 0
        self._server = psutil.Process(pid)
        threading.Thread(target=self._watch, daemon=True).start()

    def _watch(self) -> None:
        with suppress(psutil.NoSuchProcess):
            while True:
                alone = self._server.memory_full_info().pss
                together = alone
                for child in self._server.children(recursive=True):
                    with suppress(psutil.Error):
                        together += child.memory_full_info().pss
                self.most, self.most_alone = max(self.most, together), max(self.most_alone, alone)
                time.sleep(0.2)


def cpu_seconds(pid: int) -> float:
    """CPU seconds that a server has taken so far: what other processes do hardly changes them."""
    times = psutil.Process(pid).cpu_times()
    return float(times.user + times.system)


def written(folder: Path, n_rows: int) -> tuple[Path, list[str]]:
    """The table as CSV in the folder, and which columns are known to others."""
    path = folder / "table.csv"
    if n_rows:
        load_census(n_rows)[[*LARGE, SECRET]].to_csv(path, index=False)
        return path, LARGE
    pd.read_csv(ADULT, skipinitialspace=True).dropna()[[*KNOWN, SECRET]].to_csv(path, index=False)
    return path, KNOWN


def opened(visitor: Visitor, path: Path, known: list[str], exact: bool) -> None:
    """The board of the table, with everything on it; how long each step took is printed."""
    visitor.open("")
    visitor.page.get_by_role("button", name="Census-like table").click()
    begin = time.perf_counter()
    visitor.page.get_by_test_id("stFileUploaderDropzoneInput").first.set_input_files(path)
    visitor.see("What do others know, and what must they not learn?", 300)
    print(f"The table is read after {time.perf_counter() - begin:.2f} s.", flush=True)
    for label, wanted in (("Known to others", known), ("Secret", [SECRET]), ("Names the person", [])):
        choose(visitor, label, wanted)
    begin = time.perf_counter()
    visitor.page.get_by_role("button", name="Compare four methods").click()
    for what, script in (("number or an estimate", NO_WAITING), ("exact number", NO_ESTIMATE))[: 1 + exact]:
        visitor.page.wait_for_function(script, timeout=900_000)
        print(f"Every cell has its {what} after {time.perf_counter() - begin:.2f} s.", flush=True)


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
    page.locator(f".st-key-level-{axis}").get_by_role("slider").press(key)
    page.wait_for_function(QUICK, arg=before, timeout=300_000)
    quick = time.perf_counter() - begin
    page.wait_for_function(NO_WAITING, timeout=900_000)
    first = time.perf_counter() - begin
    if not exact:
        return quick, first, np.nan
    page.wait_for_function(NO_ESTIMATE, timeout=900_000)
    return quick, first, time.perf_counter() - begin


def main() -> None:
    """Print the times."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--changes", type=int, default=50)
    parser.add_argument("--exact", type=int, default=5, help="changes after which the slow numbers are waited for")
    parser.add_argument("--rows", type=int, default=0, help="rows of a generated census; 0 for Adult")
    arguments = parser.parse_args()
    if browser.missing():
        raise SystemExit(f"The benchmark drives a browser, but {browser.missing()}.")
    with (
        tempfile.TemporaryDirectory() as folder,
        browser.serving() as (address, pid),
        browser.chrome() as chrome,
    ):
        path, known = written(Path(folder), arguments.rows)
        memory = Memory(pid)
        visitor = browser.visitor(chrome, address, width=1440)
        begin = time.perf_counter()
        visitor.open("")
        print(f"The board that ships stands after {time.perf_counter() - begin:.2f} s.")
        opened(visitor, path, known, arguments.exact > 0)
        times = []
        for place, (axis, key) in enumerate(moves(arguments.changes)):
            cpu = cpu_seconds(pid)
            times.append(change(visitor, axis, key, place < arguments.exact))
            told = ", ".join(f"{one:.2f}" for one in times[-1])
            print(f"  {axis} {key}: {told}; {cpu_seconds(pid) - cpu:.2f} s of CPU", flush=True)
        print(f"Memory: server {memory.most_alone / 1e9:.2f} GB, with its processes {memory.most / 1e9:.2f} GB.")
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
