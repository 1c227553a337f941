"""How many files of the core and the dashboard run when k is changed on the board.

Run: python -m tests.benchmarks.entered_files [--calls]. A visitor without a browser moves the slider of k on the board
of the built-in table, whose releases are made here. A file counts when one of its functions is called between the move
and the page on which every column has its numbers: in any thread, and in the thread that draws alone. The import of a
module is no call. What happens once as the page starts has happened before, as another k was asked for first. The
attacks, the classifier and what is worked out only while somebody looks answer at once; each is a path of its own.
Of compiled loops the outermost is seen.
"""

from __future__ import annotations

import argparse
import inspect
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Any
from unittest.mock import patch

from streamlit.runtime.scriptrunner import get_script_run_ctx

from dashboard.board import facts
from dashboard.process import launch
from dashboard.serving import own_token
from dashboard.session import state
from dashboard.tasks import jobs
from tests.dashboard.conftest import TIMEOUT, Visitor

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("anoncore", "dashboard")
FIRST, THEN = 15, 20
"""The k that makes the board work here, and the one that it is changed to."""
GIVEN = {"learned": True, "value": 0.05, "guess": 0.1, "control": 0.02, "excess": 0.03}
PREDICTED = {"value": 0.5, "original": 0.6, "guess": 0.3}
SLOW = {
    "about_given_away": {**GIVEN, "is_exact": True},
    "given_away": GIVEN,
    "about_predictable": {**PREDICTED, "is_exact": True},
    "predictable": PREDICTED,
    "about_the_strongest": {},
    "by_the_strongest": {},
    "least_lost": {},
    "of_other_draws": {},
}
"""What the slow measures of `dashboard.board.facts` answer here."""


class Calls:
    """Calls of the functions of each file, by its path from the root of the repository, while `is_counting`: `of` all
    threads, and `of_page`, the thread that draws.
    """

    def __init__(self) -> None:
        self.of: Counter[str] = Counter()
        self.of_page: Counter[str] = Counter()
        self.is_counting = False
        self._paths: dict[str, str] = {}

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        """Count one call; what `sys.setprofile` calls."""
        code = frame.f_code
        # The bodies of modules and classes have no local variables of their own.
        if event != "call" or not self.is_counting or not code.co_flags & inspect.CO_NEWLOCALS:
            return
        path = self._paths.get(code.co_filename)
        if path is None:
            path = ""
            with suppress(ValueError):
                path = Path(code.co_filename).relative_to(ROOT).as_posix()
            self._paths[code.co_filename] = path
        if path.startswith(PACKAGES):
            self.of[path] += 1
            if get_script_run_ctx(suppress_warning=True) is not None:
                self.of_page[path] += 1


@contextmanager
def quick_pages() -> Iterator[None]:
    """Slow measures answer at once, nothing is begun beside the pages, and the page is drawn for whoever started it."""
    stubs = {name: lambda *_, facts=answer, **__: dict(facts) for name, answer in SLOW.items()}
    with (
        patch.multiple(facts, **stubs),
        patch.object(launch, "begin_beside_pages", lambda: None),
        patch.object(own_token, "is_checked", lambda: True),
    ):
        yield


def change_k(visitor: Visitor, k: int) -> None:
    """Move the slider of k and draw the board until every column has its numbers."""
    next(slider for slider in visitor.at.select_slider if slider.key.startswith("board-k-")).set_value(k)
    visitor.run()
    end = time.monotonic() + TIMEOUT
    while visitor.here.jobs["board"].is_busy:
        if time.monotonic() > end:
            raise SystemExit(f"The releases for k = {k} were not there after {TIMEOUT} s.")
        time.sleep(0.05)
    visitor.run()


def counted() -> Calls:
    """The calls from a change of k until its numbers stand on the page."""
    calls = Calls()
    # Threads that are already there keep their own profile function, so it is set before the first one starts.
    threading.setprofile(calls)
    sys.setprofile(calls)
    try:
        with quick_pages():
            visitor = Visitor()
            change_k(visitor, FIRST)
            calls.is_counting = True
            change_k(visitor, THEN)
            calls.is_counting = False
            if len(visitor.here.runs) < len(visitor.here.wishes.columns):
                raise SystemExit(f"Only {len(visitor.here.runs)} columns have a release for k = {THEN}.")
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
        for here in state._workspaces.all():
            here.close()
        jobs.cancel_all(0.0)
    return calls


def main() -> None:
    """Print how many files ran, of the core and of the dashboard, and which."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--calls",
        action="store_true",
        help="print how often each file was entered as well, by all threads and by the page's",
    )
    options = parser.parse_args()
    calls = counted()
    for who, of in (("all threads", calls.of), ("the page's thread", calls.of_page)):
        told = " and ".join(f"{sum(path.startswith(f'{name}/') for path in of)} of {name}" for name in PACKAGES)
        print(f"k = {FIRST} -> {THEN}, {who}: {len(of)} files entered, {told}")
    for path in sorted(calls.of):
        print(f"{calls.of[path]:>9,} {calls.of_page[path]:>9,} {path}" if options.calls else f"  {path}")


if __name__ == "__main__":
    main()
