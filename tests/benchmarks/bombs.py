"""A visitor uploads files that are made to take much: how long the server takes to answer others meanwhile.

    python -m tests.benchmarks.bombs [--size 1] [words of names ...]

Somebody else asks whether the server is healthy ten times a second. For each file, the seconds until the page says what
became of it and the largest wait of the others are printed; in the end the waits over all files, and the most memory
that the server itself held.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from pathlib import Path

from tests.dashboard import browser
from tests.security import bombs

PAUSE = 0.1
MOST_WAIT = 0.5
"""Seconds within which 95 of 100 answers come."""
PATIENCE = 120.0
"""Seconds after which a page that is still busy ends the command."""
NOTHING = "the page says nothing of it"


class Others:
    """Somebody who asks whether the server is healthy, again and again; `waits` are the seconds of each answer."""

    def __init__(self, address: str) -> None:
        self.address = f"{address}/_stcore/health"
        self.waits: list[float] = []
        self.failed = 0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._ask, daemon=True)
        self._thread.start()

    def _ask(self) -> None:
        while not self._ended.wait(PAUSE):
            begin = time.perf_counter()
            try:
                with urllib.request.urlopen(self.address, timeout=30) as answer:
                    answer.read()
            except OSError:
                self.failed += 1
            self.waits.append(time.perf_counter() - begin)

    def stop(self) -> None:
        """Ask no more."""
        self._ended.set()
        self._thread.join()


def made(name: str, size: float, folder: str) -> bytes:
    """The file, made by another process: what makes it may take more than what reads it."""
    path = Path(folder) / "bomb"
    words = ["-m", "tests.security.bombs", "--path", str(path), "--size", str(size), "--make", name]
    subprocess.run([sys.executable, *words], check=True)
    return path.read_bytes()


def upload(visitor: browser.Visitor, name: str, content: bytes) -> str:
    """Give the file to the page, and what the page says when nothing runs any more: a refusal, or that it was read."""
    visitor.upload(name, content)
    refused = visitor.page.get_by_test_id("stAlertContentError")
    if refused.count():
        return browser.as_read(refused.first.inner_text())
    return "read" if name in visitor.text() else NOTHING


def main() -> int:
    """Upload the files one after the other and print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("words", nargs="*", help="words of names; all of them without any")
    parser.add_argument("--size", type=float, default=1.0, help="share of the full size")
    given = parser.parse_args()
    chosen = [name for name in bombs.TABLES if not given.words or any(word in name for word in given.words)]
    lost = 0
    with (
        tempfile.TemporaryDirectory() as folder,
        browser.serving() as (address, process),
        browser.chrome() as chrome,
    ):
        visitor = browser.visitor(chrome, address)
        visitor.patience = PATIENCE
        visitor.open("table")
        others = Others(address)
        for number, name in enumerate(chosen):
            content = made(name, given.size, folder)
            first, begin = len(others.waits), time.perf_counter()
            said = upload(visitor, f"{number}-{bombs.named(name)}", content)
            seconds = time.perf_counter() - begin
            lost += said == NOTHING
            worst = max(others.waits[first:], default=0.0)
            print(
                f"{name:26} {len(content) / bombs.MB:8.2f} MB {seconds:6.1f} s, others {worst:5.2f} s  {said[:90]}",
                flush=True,
            )
        others.stop()
        status = Path(f"/proc/{process}/status").read_text(encoding="ascii")
    peak = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM")) / 1e6
    p95 = statistics.quantiles(others.waits, n=20)[-1]
    print(
        f"{len(others.waits):,} answers: median {statistics.median(others.waits):.3f} s, p95 {p95:.3f} s, "
        f"largest {max(others.waits):.2f} s; {others.failed} failed; the server held {peak:.2f} GB at most"
    )
    return int(p95 >= MOST_WAIT or others.failed > 0 or lost > 0)


if __name__ == "__main__":
    sys.exit(main())
