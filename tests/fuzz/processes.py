"""Inputs spread over processes that may hang, die or run out of memory."""

from __future__ import annotations

import multiprocessing
import queue
import re
import resource
import time
from collections import deque
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.fuzz.case import SECONDS, Outcome, run_case
from tests.fuzz.targets import TARGETS

CHUNK = 50
STUCK_SECONDS = 6 * SECONDS
"""Compiled code lets no signal through; a process that stands still so long is ended."""
MEMORY = 8 << 30
SHOWN_FINDINGS = 60
TOLD_EVERY = 5_000


@dataclass
class Tally:
    """Inputs of one target and what became of them; `seconds` are those of its process."""

    inputs: int = 0
    passed: int = 0
    refused: int = 0
    findings: int = 0
    seconds: float = 0.0

    @classmethod
    def of(cls, parts: Iterable[Tally]) -> Tally:
        """The sum."""
        total = cls()
        for part in parts:
            for name in vars(total):
                setattr(total, name, getattr(total, name) + getattr(part, name))
        return total

    def add(self, state: str) -> None:
        """Count one input."""
        self.inputs += 1
        self.passed += state == "passed"
        self.refused += state == "refused"
        self.findings += state == "finding"


class Worker:
    """A process that takes chunks of numbers and answers with outcomes."""

    def __init__(self, seed: int) -> None:
        context = multiprocessing.get_context("spawn")
        self.chunks: Any = context.Queue()
        self.outcomes: Any = context.Queue()
        self.process = context.Process(target=_work, args=(seed, self.chunks, self.outcomes), daemon=True)
        self.process.start()
        self.name, self.left = "", deque[int]()
        self.since = time.monotonic()

    def give(self, name: str, numbers: Iterable[int]) -> None:
        """Hand over numbers of a target; only to an idle worker."""
        self.name, self.left = name, deque(numbers)
        self.since = time.monotonic()
        self.chunks.put((name, list(self.left)))

    @property
    def is_stuck(self) -> bool:
        """Whether it died or has not answered for long."""
        return bool(self.left) and (
            not self.process.is_alive() or time.monotonic() - self.since > STUCK_SECONDS + 60 * (not self._began)
        )

    _began = False

    def take(self) -> list[tuple[Outcome, float]]:
        """The outcomes since the last call."""
        found = []
        with suppress(queue.Empty):
            while True:
                outcome, seconds = self.outcomes.get_nowait()
                found.append((outcome, seconds))
                self.left.popleft()
                self.since, self._began = time.monotonic(), True
        return found

    def end(self) -> None:
        """Stop the process."""
        self.process.kill()
        self.process.join()


def _work(seed: int, chunks: Any, outcomes: Any) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    while True:
        name, numbers = chunks.get()
        for number in numbers:
            started = time.monotonic()
            outcome = run_case(TARGETS[name], name, seed, number)
            if outcome.state == "finding":
                # The first call of a compiled function takes its time; what is true happens again.
                outcome = run_case(TARGETS[name], name, seed, number)
            if outcome.state == "finding":
                outcome = _portable(outcome)
            outcomes.put((outcome, time.monotonic() - started))


def _portable(outcome: Outcome) -> Outcome:
    """Inputs as bytes or text, which any process can take over."""
    inputs = {name: value if isinstance(value, bytes) else _written(value) for name, value in outcome.inputs.items()}
    return Outcome(outcome.case, outcome.state, outcome.said, outcome.detail, inputs)


def _written(value: Any) -> str:
    try:
        return repr(value)
    except ValueError as error:  # a whole number of thousands of digits
        return f"not written: {error}"


def fuzz(plan: Mapping[str, range], seed: int, jobs: int, output: Path) -> dict[str, Tally]:
    """Run the numbers of every target; findings are printed and written with their inputs into a folder."""
    tallies = {name: Tally() for name in plan}
    waiting = deque(
        (name, numbers[start : start + CHUNK])
        for name, numbers in plan.items()
        for start in range(0, len(numbers), CHUNK)
    )
    workers = [Worker(seed) for _ in range(max(1, min(jobs, len(waiting))))]
    kinds: dict[str, int] = {}
    started, told = time.monotonic(), 0
    while waiting or any(worker.left for worker in workers):
        for place, worker in enumerate(workers):
            for outcome, seconds in worker.take():
                tally = tallies[worker.name]
                tally.add(outcome.state)
                tally.seconds += seconds
                if outcome.state == "finding":
                    _write(outcome, output, kinds)
            if worker.is_stuck:
                worker.end()
                number = worker.left.popleft()
                waiting.appendleft((worker.name, worker.left))  # type: ignore[arg-type]
                said = "the process died" if worker.process.exitcode != -9 else "hang in compiled code, or killed"
                tallies[worker.name].add("finding")
                _write(Outcome(f"{worker.name}-{seed}-{number}", "finding", said), output, kinds)
                worker = workers[place] = Worker(seed)
            if not worker.left and waiting:
                worker.give(*waiting.popleft())
        done = Tally.of(tallies.values())
        if done.inputs >= told + TOLD_EVERY:
            told = done.inputs
            print(f"{told:,} inputs, {done.findings} findings, {time.monotonic() - started:,.0f} s", flush=True)
        time.sleep(0.02)
    for worker in workers:
        worker.end()
    return tallies


def _write(outcome: Outcome, output: Path, kinds: dict[str, int]) -> None:
    """Print a finding, briefly where there were many of its kind, and keep its inputs."""
    last = re.sub(r"\d+", "#", (outcome.detail.strip().splitlines() or [outcome.said])[-1])[:100]
    kinds[last] = kinds.get(last, 0) + 1
    if kinds[last] > SHOWN_FINDINGS:
        return
    output.mkdir(parents=True, exist_ok=True)
    target, seed, number = outcome.case.rsplit("-", 2)
    rerun = f"python -m tests.fuzz --target {target} --seed {seed} --only {number}"
    lines = [rerun, "", outcome.said, "", outcome.detail]
    for name, value in outcome.inputs.items():
        if isinstance(value, bytes):
            (output / f"{outcome.case}.{name}").write_bytes(value)
            lines.append(f"{name}: {outcome.case}.{name}")
        else:
            lines.append(f"{name} = {value}")
    (output / f"{outcome.case}.txt").write_text("\n".join(lines), encoding="utf-8", errors="backslashreplace")
    if kinds[last] <= 2:
        print(f"FINDING {outcome.case}: {outcome.said[:300]!a}\n    {rerun}", flush=True)
