"""Ten visitors at once, each with a table of their own: how long pages take, whether anything crosses over, memory.

    python -m tests.benchmarks.sessions [--visitors 10] [--minutes 10] [--pause 8]

Each visitor has a headless Chromium and uploads a table whose values carry the visitor's mark. They come in one after
another; when all are in, each asks for another k, waits for a release of the board and goes from page to page with a
pause of so many seconds on average between two clicks. The browsers run on the same cores. A mark of somebody else on
any page is reported and makes the command fail.
"""

from __future__ import annotations

import argparse
import random
import re
import statistics
import threading
import time
from collections import defaultdict
from collections.abc import Collection, Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from tests.dashboard import browser
from tests.dashboard.browser import Visitor

METHODS = ("Mondrian", "Anatomy", "Slicing", "Stack & Deal")
"""The columns of the board."""
PAGES = (
    *("Table", "Groups", "Method", "Privacy", "Closeness", "Attack", "Utility", "Explain"),
    *("One person", "Publish", "Learn", "Reference"),
)
# Not page interactions: a new browser loads the whole application; a release lasts as its method and the queue before.
STARTED, FINISHED = "first page", "release judged"
NO_INTERACTION = frozenset({STARTED, FINISHED})
KEEP_MINUTES = 0.2
PATIENCE = 120.0
"""Seconds after which a page that is not there counts as a problem.

Browsers wait for each other on the same processors. How long is in the figures, and `serving` tells how much of the
work was the server's.
"""


def table(mark: str, seed: int) -> pd.DataFrame:
    """A table of 2,000 to 4,000 people in which every text carries the mark."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2_000, 4_001))
    return pd.DataFrame(
        {
            "age": rng.integers(18, 90, n),
            "sex": rng.choice(["f", "m"], n),
            "town": rng.choice([f"{mark}town{place}" for place in range(12)], n),
            "job": rng.choice([f"{mark}job{place}" for place in range(8)], n),
            "illness": rng.choice([f"{mark}ill{place}" for place in range(9)], n),
        }
    )


class Door:
    """Visitors come in one at a time and start together."""

    def __init__(self, visitors: int) -> None:
        self.turn = threading.Lock()
        self.all_in = threading.Barrier(visitors)


class Script:
    """What one visitor does for so many seconds from when all are in."""

    def __init__(self, number: int, address: str, seconds: float, pause: float, door: Door) -> None:
        self.mark = f"zq{number}z"
        self.number, self.address, self.pause = number, address, pause
        self.lasts, self.end, self.door = seconds, 0.0, door
        self.random = random.Random(number)
        self.seconds: dict[str, list[float]] = defaultdict(list)
        self.problems: list[str] = []
        self.asked: list[int] = []

    def run(self) -> None:
        """Everything, with what went wrong kept as sentences."""
        try:
            with browser.chrome() as chrome:
                with self.door.turn:
                    visitor = browser.visitor(chrome, self.address)
                    visitor.share_processors(PATIENCE)
                    self._come_in(visitor)
                self.door.all_in.wait()
                self.end = time.monotonic() + self.lasts
                self._work(visitor)
                self.problems += [*visitor.problems(), *visitor.foreign]
                visitor.page.context.close()
        except Exception as error:
            self.door.all_in.abort()
            self.problems.append(f"visitor {self.number}: {type(error).__name__}: {str(error)[:300]}")

    def _come_in(self, visitor: Visitor) -> None:
        begin = time.perf_counter()
        visitor.open()
        self.seconds[STARTED].append(time.perf_counter() - begin)
        visitor.upload(f"{self.mark}.csv", table(self.mark, self.number).to_csv(index=False).encode())
        visitor.see(f"{self.mark}.csv")
        visitor.go("Table")
        visitor.press("Use suggestions")

    def _work(self, visitor: Visitor) -> None:
        for method in self._methods():
            self._pause()
            visitor.go("Board")
            self.seconds["Board"].append(visitor.seconds)
            self.asked.append(self.random.choice([k for k in range(3, 10) if k not in self.asked[-1:]]))
            begin = time.perf_counter()
            visitor.ask(k=self.asked[-1])
            self.seconds["k"].append(visitor.seconds)
            visitor.wait_for_release(method)
            self.seconds[FINISHED].append(time.perf_counter() - begin)
            visitor.go("Groups")
            begin = time.perf_counter()
            visitor.show_release(method)
            self.seconds["Release shown"].append(time.perf_counter() - begin)
            for page in self.random.sample(PAGES, 6):
                self._pause()
                visitor.go(page)
                self.seconds[page].append(visitor.seconds)
                self._check(visitor, page)
                if time.monotonic() > self.end:
                    return

    def _methods(self) -> Iterator[str]:
        while time.monotonic() < self.end:
            yield self.random.choice(METHODS)

    def _pause(self) -> None:
        time.sleep(self.random.uniform(0.5, 1.5) * self.pause)

    def _check(self, visitor: Visitor, page: str) -> None:
        text = visitor.page.content()
        foreign = set(re.findall(r"zq\d+z", text)) - {self.mark}
        if foreign:
            self.problems.append(f"visitor {self.number} saw {sorted(foreign)} on {page}")
        if page in ("Table", "Groups") and f"{self.mark}.csv" not in text:
            self.problems.append(f"visitor {self.number} did not see the own table on {page}")
        self._check_release(visitor, page)

    def _check_release(self, visitor: Visitor, page: str) -> None:
        shown = self._k_shown(visitor)
        if shown is not None and shown != self.asked[-1]:
            self.problems.append(f"visitor {self.number} was shown k = {shown} on {page}, asked for {self.asked[-1]}")

    def _k_shown(self, visitor: Visitor) -> int | None:
        """The k in the name of the release that the page shows; None for a page of none, and a method without k."""
        box = visitor.page.get_by_test_id("stSelectbox").filter(has_text="Release shown").locator("input").first
        found = re.search(r"\bk = (\d+)", box.input_value()) if box.count() else None
        return None if found is None else int(found[1])


def memory(pid: int) -> float:
    """Resident memory of a process in MB."""
    status = Path(f"/proc/{pid}/status").read_text("ascii")
    return int(re.findall(r"VmRSS:\s+(\d+) kB", status)[0]) / 1024


def visits(address: str, visitors: int, minutes: float, pause: float) -> list[Script]:
    """All visitors' scripts, done."""
    door = Door(visitors)
    scripts = [Script(number, address, minutes * 60, pause, door) for number in range(visitors)]
    threads = [threading.Thread(target=one.run) for one in scripts]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    return scripts


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--visitors", type=int, default=10)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--pause", type=float, default=8.0)
    options = parser.parse_args()
    if browser.missing():
        raise SystemExit(f"The benchmark drives browsers, but {browser.missing()}.")
    with browser.serving(ANONCORE_KEEP_MINUTES=str(KEEP_MINUTES)) as (address, pid):
        empty = memory(pid)
        # One visitor first: compiled code, imports and built-in tables are not the visitors' memory.
        problems = [problem for one in visits(address, 1, 1.5, 1.0) for problem in one.problems]
        time.sleep(60)
        start = memory(pid)
        scripts = visits(address, options.visitors, options.minutes, options.pause)
        during = memory(pid)
        time.sleep(90)
        after = memory(pid)
    problems += [problem for one in scripts for problem in one.problems]
    print_times(scripts, problems)
    print(f"memory: {empty:.0f} MB empty, {start:.0f} MB after one visitor, {during:.0f} MB at the end of all,")
    print(f"        {after:.0f} MB after they left ({after / start - 1:+.0%} of that after one visitor)")
    if problems:
        raise SystemExit(1)


def print_times(scripts: list[Script], problems: list[str], apart: Collection[str] = NO_INTERACTION) -> None:
    """Seconds from click to painted by page, and what went wrong; those `apart` are no answers to a click."""
    seconds: dict[str, list[float]] = defaultdict(list)
    for one in scripts:
        for page, found in one.seconds.items():
            seconds[page] += found
    seconds["all pages and controls"] = [
        second for what, found in seconds.items() if what not in apart for second in found
    ]
    for page, found in seconds.items():
        if found:
            middle, p95 = statistics.median(found), float(np.percentile(found, 95))
            print(f"{page:>22}: median {middle:.2f} s, p95 {p95:.2f}, worst {max(found):.2f}, {len(found)} times")
    print(f"{sum(len(one.asked) for one in scripts)} changes of k by {len(scripts)} visitors; {len(problems)} problems")
    for problem in problems:
        print(f"  {problem}")


if __name__ == "__main__":
    main()
