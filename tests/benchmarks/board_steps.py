"""Every step behind one change of k on the board, without a browser: release, quick numbers and first slow numbers.

Run: python -m tests.benchmarks.board_steps [--rows 1000000] [--k 10 11] [--changes 4]. For each k, and each of the four
columns that the board begins with, the CPU seconds of every step are printed, one step after another; what columns or
settings share counts for the first that asks for it. Then the board's own releases and jobs (`Bench`) go through
`--changes` changes of k: seconds and CPU seconds until the quick numbers and the first slow ones of all columns stand.
The table is a generated census with eight known attributes and the occupation as secret, as in `board`.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import psutil

from anoncore import AnonymizationError, Microdata, attacks, privacy, utility
from anoncore.datasets.census import load_census
from anoncore.search.keeping import keeping
from dashboard.board import facts
from dashboard.board.bench import Attempt, Bench
from dashboard.session import compute
from dashboard.session.loaded_table import LoadedTable, Tags
from dashboard.session.wishes import Wishes, first_wishes
from dashboard.session.workspace import Run, Workspace
from tests.benchmarks.board import LARGE, SECRET

POLL = 0.01


class Board:
    """A table, what is asked of it first, and the releases behind its board."""

    def __init__(self, n_rows: int) -> None:
        roles = {**dict.fromkeys(LARGE, "quasi-identifier"), SECRET: "sensitive"}
        frame = load_census(n_rows)[[*LARGE, SECRET]]
        self.data = Microdata(frame, roles)
        self.table = LoadedTable("census", "census", frame, "census", (), None, Tags(roles=roles))
        self.bench = Bench(Workspace("here"))
        self.wishes = first_wishes(self.data)

    def measures(self) -> tuple[facts.Measure, ...]:
        """The slow numbers of the board."""
        wishes, data = self.wishes, self.data
        return facts.measures(wishes.secret_of(data), wishes.r, wishes.target_of(data), (), wishes.levels.get("k"))

    def attempts(self, k: int) -> list[Attempt]:
        """What the columns ask for, as nobody has made it yet."""
        wishes = self.wishes.with_level("k", k)
        return [
            Attempt(
                column.id,
                column.color,
                keeping(column.method, column.fields, wishes.levels, (), self.data),
                self.data,
                self.table,
                self.table.suggested,
            )
            for column in wishes.columns
        ]

    def wish(self, wishes: Wishes) -> None:
        """Ask for it as the page does."""
        self.wishes = wishes
        wanted = {one.id: keeping(one.method, one.fields, wishes.levels, (), self.data) for one in wishes.columns}
        colors = {one.id: one.color for one in wishes.columns}
        asked, secret, tags = wishes.asked_of(self.data), wishes.secret_of(self.data), self.table.suggested
        self.bench.wish(wanted, colors, self.data, self.table, tags, secret, asked, self.measures())

    def wait(self) -> tuple[float, float]:
        """Seconds until the quick numbers, and until the first slow numbers, of all columns stand."""
        begin, quick = time.perf_counter(), 0.0
        asked, secret = self.wishes.asked_of(self.data), self.wishes.secret_of(self.data)
        cells = facts.of_cells(self.measures())
        while True:
            wanted = [one for one in self.bench.wanted if not one.problem]
            is_quick = all(one.run is not None and secret in one.quick and asked in one.marks for one in wanted)
            quick = quick or (time.perf_counter() - begin if is_quick else 0.0)
            slow = [one.slow.get(key) for one in wanted for key, _, _ in cells]
            if quick and all(one is not None and (one.estimate is not None or one.is_done) for one in slow):
                return quick, time.perf_counter() - begin
            time.sleep(POLL)


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    """What the work gives, and its CPU seconds; None where no release has it."""
    begin = time.process_time()
    try:
        value = work()
    except AnonymizationError:
        value = None
    return value, time.process_time() - begin


def steps(board: Board, attempt: Attempt) -> dict[str, float]:
    """CPU seconds of every step of a column, in the order of the board."""
    seconds: dict[str, float] = {}
    run, seconds["release"] = timed(lambda: board.bench.make(attempt, lambda share, text: None))
    quick_numbers: dict[str, Callable[[Run], Any]] = {
        "distance": lambda run: compute.cached(
            "privacy.emd", run, privacy.emd, SECRET, board.data.domain[SECRET].ground
        ),
        "two-way error": lambda run: compute.cached("utility.two_way_error", run, utility.two_way_error),
        "beliefs": lambda run: compute.cached(
            "attacks.attribute_disclosure", run, attacks.attribute_disclosure, SECRET
        ),
        "rest of the quick ones": lambda run: facts.quick(run, SECRET),
    }
    for name, work in quick_numbers.items():
        _, seconds[name] = timed(lambda work=work: work(run))  # type: ignore[misc]
    asked = board.wishes.asked_of(board.data)
    _, seconds["marks"] = timed(lambda: facts.marks(run, asked))
    _, seconds["verdict"] = timed(lambda: facts.verdict_of(run, asked))
    for key, estimate, _ in board.measures():
        if estimate is not None:
            _, seconds[f"{key[0]}, estimate"] = timed(
                lambda key=key, estimate=estimate: estimate(  # type: ignore[misc]
                    run.release, *key[1:], progress=lambda share, text: None
                )
            )
    compute.forget(run)
    return seconds


def print_steps(board: Board, k: int) -> None:
    """A table of the steps, a column of it for each column of the board."""
    attempts = board.attempts(k)
    found = [steps(board, replace(attempt, slow={}, quick={}, marks={})) for attempt in attempts]
    names = [attempt.algorithm.title for attempt in attempts if attempt.algorithm is not None]
    print(f"| k = {k}, CPU s | {' | '.join(names)} | all |")
    print("| --- |" + " --- |" * (len(names) + 1))
    for step in found[0]:
        values = [one[step] for one in found]
        print(f"| {step} | {' | '.join(f'{value:.2f}' for value in values)} | {sum(values):.2f} |", flush=True)
    sums = [sum(one.values()) for one in found]
    print(f"| all | {' | '.join(f'{value:.2f}' for value in sums)} | {sum(sums):.2f} |", flush=True)


def print_changes(board: Board, n_changes: int) -> None:
    """How long changes of k take with the board's jobs, beside each other."""
    for k in range(20, 20 + n_changes):
        begin = time.process_time()
        board.wish(board.wishes.with_level("k", k))
        quick, first = board.wait()
        cpu = time.process_time() - begin
        print(f"k = {k}: quick numbers {quick:.2f} s, first slow numbers {first:.2f} s, {cpu:.2f} s of CPU", flush=True)
    board.bench.cancel()


def main() -> None:
    """Print the steps, then the changes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--k", type=int, nargs="*", default=[10, 11])
    parser.add_argument("--changes", type=int, default=4)
    arguments = parser.parse_args()
    board = Board(arguments.rows)
    for k in arguments.k:
        print_steps(board, k)
    print_changes(board, arguments.changes)
    print(f"Memory at the end: {psutil.Process().memory_info().rss / 1e9:.2f} GB.")


if __name__ == "__main__":
    main()
