"""From `anoncore dashboard` to the first answers, on a machine that has compiled nothing and on one that has it all.

Run: python -m tests.benchmarks.first_start [--switches 21]. It drives headless Chromium. Each start is a server of its
own; "empty" gives it an empty folder for compiled code, "full" one that `anoncore warm-up` has filled. Wanted: the
server answers within 4 s, the board stands within 3 s of that, the title of a page stands less than 1 s after a switch
to it (p95, over all pages in their order), the first release of an uploaded table is judged within 30 s of the command,
and the server never needs 1 s for an answer.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from dashboard.elements.routes import ROUTES
from tests.benchmarks.board import ADULT, KNOWN, SECRET, choose
from tests.dashboard import browser

ROOT = browser.ROOT
COMMAND = [sys.executable, "-c", "import sys; from anoncore.cli import main; sys.exit(main())"]
PAGES = tuple(route.title for route in ROUTES[1:] + ROUTES[:1])
BOARD = """() => [...document.querySelectorAll('*')].some(
  one => one.shadowRoot && one.shadowRoot.querySelector('table.board'))"""
JUDGED = """() => {
  const root = [...document.querySelectorAll('*')].map(one => one.shadowRoot).find(
    one => one && one.querySelector('table.board'));
  if (!root) return false;
  const rows = [...root.querySelectorAll('tbody tr')].filter(
    row => !/Given away|Still useful/.test(row.querySelector('.label').textContent));
  const columns = Math.max(...rows.map(row => row.querySelectorAll('td').length));
  return [...Array(columns).keys()].some(
    place => rows.every(row => row.querySelectorAll('td')[place]
      && !/pending|failed/.test(row.querySelectorAll('td')[place].className)));
}"""
"""Whether some column has all of its quick numbers."""


class Probe(threading.Thread):
    """Asks the server for a sign of life ten times a second and remembers how long the slowest answer took."""

    def __init__(self, address: str) -> None:
        super().__init__(daemon=True)
        self.address = address
        self.times: list[float] = []
        self._over = threading.Event()

    def run(self) -> None:
        """Ask until it is over."""
        while not self._over.wait(0.1):
            begin = time.perf_counter()
            with suppress(OSError), urllib.request.urlopen(f"{self.address}/_stcore/health", timeout=60) as answer:
                answer.read()
            self.times.append(time.perf_counter() - begin)

    def worst(self) -> float:
        """End, and give the seconds of the slowest answer."""
        self._over.set()
        self.join()
        return max(self.times, default=0.0)


def told(text: str) -> None:
    """Print what was measured as soon as it is known."""
    print(f"  {text}", flush=True)


def environment(cache: Path) -> dict[str, str]:
    """That of a fresh installation whose compiled code lies in `cache`."""
    found = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {
        **found,
        "PYTHONPATH": str(ROOT),
        "NUMBA_CACHE_DIR": str(cache),
        "ANONCORE_SERVER_TOKEN": browser.TOKEN,
    }


@contextmanager
def started(cache: Path) -> Iterator[tuple[str, float, float]]:
    """A server by its command: its address, when the command was given, and the seconds until it answered."""
    port = browser._free_port()
    begin = time.perf_counter()
    process = subprocess.Popen(
        [*COMMAND, "dashboard", "--no-browser", "--port", str(port)],
        cwd=ROOT,
        env=environment(cache),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        address = f"http://127.0.0.1:{port}"
        browser._wait_until_healthy(address, process, 120)
        yield address, begin, time.perf_counter() - begin
    finally:
        end = time.perf_counter()
        process.send_signal(signal.SIGTERM)
        process.wait(60)
        told(f"the server ended {time.perf_counter() - end:.2f} s after it was told to")


def switches(chrome: Any, cache: Path, n: int) -> None:
    """The first answer, the first page, and switches of pages right after it."""
    with started(cache) as (address, begin, answered):
        visitor = browser.visitor(chrome, address, width=1440)
        visitor.page.goto(f"{address}/")
        visitor.page.wait_for_function(BOARD, timeout=120_000)
        stands = time.perf_counter() - begin
        told(f"the server answers after {answered:.2f} s, the board stands {stands - answered:.2f} s later")
        visitor.settle(120)
        probe = Probe(address)
        probe.start()
        times: dict[str, list[float]] = {"title": [], "all of it": []}
        for place in range(n):
            # The help of a link that was clicked would cover the next one.
            visitor.page.mouse.move(5, 600)
            visitor.go(PAGES[place % len(PAGES)])
            times["title"].append(visitor.titled)
            times["all of it"].append(visitor.seconds)
        for what, found in times.items():
            slowest = PAGES[int(np.argmax(found)) % len(PAGES)]
            told(
                f"{n} switches of pages, until {what} stands: median {np.median(found):.2f} s, "
                f"p95 {np.quantile(found, 0.95):.2f} s, worst {max(found):.2f} s ({slowest})"
            )
        told(f"slowest sign of life {probe.worst():.2f} s")
        visitor.page.context.close()


def first_release(chrome: Any, cache: Path) -> None:
    """From the command to the numbers of a release of an uploaded table, by somebody who loses no time."""
    frame = pd.read_csv(ADULT, skipinitialspace=True).dropna()[[*KNOWN, SECRET]]
    with started(cache) as (address, begin, _):
        visitor = browser.visitor(chrome, address, width=1440)
        visitor.open("")
        probe = Probe(address)
        probe.start()
        visitor.page.get_by_role("button", name="Census-like table").click()
        visitor.page.get_by_test_id("stFileUploaderDropzoneInput").first.set_input_files(
            {"name": "adult.csv", "mimeType": "text/csv", "buffer": frame.to_csv(index=False).encode()}
        )
        visitor.see("What do others know, and what must they not learn?", 60)
        uploaded = time.perf_counter() - begin
        for label, columns in (("Known to others", KNOWN), ("Secret", [SECRET]), ("Names the person", [])):
            choose(visitor, label, columns)
        visitor.page.get_by_role("button", name="Compare four methods").click()
        asked = time.perf_counter() - begin
        visitor.page.get_by_role("button", name="Compare four methods").wait_for(state="hidden")
        visitor.page.wait_for_function(JUDGED, timeout=600_000)
        judged = time.perf_counter() - begin
        told(
            f"uploaded after {uploaded:.1f} s, four methods asked for after {asked:.1f} s, first release judged "
            f"after {judged:.1f} s; slowest sign of life {probe.worst():.2f} s"
        )
        visitor.page.context.close()


def main() -> None:
    """Print the times."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--switches", type=int, default=21)
    parser.add_argument("--empty-only", action="store_true", help="measure the empty cache alone")
    arguments = parser.parse_args()
    if browser.missing():
        raise SystemExit(f"The benchmark drives a browser, but {browser.missing()}.")
    with tempfile.TemporaryDirectory(prefix="first-start-") as folder, browser.chrome() as chrome:
        # Python's own compiled files are part of an installation.
        subprocess.run(
            [sys.executable, "-c", "import dashboard.elements.routes"],
            cwd=ROOT,
            env=environment(Path(folder) / "other"),
        )
        print("empty", flush=True)
        switches(chrome, Path(folder) / "first", arguments.switches)
        first_release(chrome, Path(folder) / "second")
        if not arguments.empty_only:
            full = Path(folder) / "second"
            begin = time.perf_counter()
            subprocess.run([*COMMAND, "warm-up"], cwd=ROOT, env=environment(full), stdout=subprocess.DEVNULL)
            told(f"anoncore warm-up took {time.perf_counter() - begin:.0f} s for the rest")
            print("full", flush=True)
            switches(chrome, full, arguments.switches)
            first_release(chrome, full)


if __name__ == "__main__":
    main()
