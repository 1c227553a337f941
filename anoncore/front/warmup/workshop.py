"""Processes that compile, and what they have to do: first what somebody waits for, then the tasks in their order."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import anoncore

WORKERS = 2
"""Processes that compile beside a server."""
NICENESS = 5
"""How far they stand back behind a server (Unix: 0 not at all, 19 most); visitors wait for what they do."""
IDLE_SECONDS = 120.0
"""How long a process is kept that has nothing to do."""

_logger = logging.getLogger(__name__)


def worker_command(niceness: int = NICENESS) -> list[str]:
    """The command that starts a process that compiles.

    It imports nothing from the folder in which somebody happens to be, and finds anoncore where this process did.
    """
    script = "import sys; sys.path.append(sys.argv[2]); from anoncore.front.warmup.worker import main; main()"
    return [sys.executable, "-P", "-c", script, str(niceness), str(Path(anoncore.__file__).parents[1])]


class Done(NamedTuple):
    """A task that was done by its name, what went wrong (or nothing), and how long it took."""

    task: str
    problem: str
    seconds: float


class Worker:
    """One process that compiles, the task that it does now and what it compiles now."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.task = ""
        self.compiles = ""

    def tell(self, order: dict[str, str]) -> None:
        """Send an order."""
        assert self.process.stdin is not None, "it was started with a pipe"
        self.process.stdin.write(json.dumps(order) + "\n")
        self.process.stdin.flush()

    def close(self) -> None:
        """End the process, which ends when it has no more input."""
        with suppress(OSError):
            assert self.process.stdin is not None, "it was started with a pipe"
            self.process.stdin.close()


class Workshop:
    """The processes that compile, of which no two compile the same function."""

    def __init__(self, command: Sequence[str] = (), n_workers: int = WORKERS) -> None:
        self._command = list(command) or worker_command()
        self._n_workers = n_workers
        self._changed = threading.Condition()
        self._orders: deque[dict[str, str]] = deque()
        self._asked: dict[str, dict[str, str]] = {}
        self._workers: list[Worker] = []
        self._is_broken = False
        self._is_closed = False
        self.done: list[Done] = []

    def do_tasks(self, names: Sequence[str] = ()) -> None:
        """Begin with these tasks, or with all that are not done on this machine."""
        with self._changed:
            self._orders.extend([{"task": name} for name in names] or [{"list": "tasks"}])
            self._start()

    def results(self, n_tasks: int) -> Iterator[Done]:
        """So many tasks, each as soon as it is done; fewer where no process is left that could do them."""
        n_told = 0
        while n_told < n_tasks:
            with self._changed:
                while len(self.done) == n_told:
                    if not self._workers:
                        return
                    self._changed.wait()
                found = self.done[n_told:]
            yield from found
            n_told += len(found)

    def close(self) -> None:
        """End all processes; what is asked for from now on is compiled by whoever asks."""
        with self._changed:
            self._is_closed = True
            workers = list(self._workers)
            self._changed.notify_all()
        for worker in workers:
            worker.close()

    def _is_in_work(self, key: str) -> bool:
        return any(worker.compiles == key for worker in self._workers)

    def _start(self) -> None:
        """Start the processes, unless they run or could not."""
        if self._workers or self._is_broken or self._is_closed:
            return
        try:
            for _ in range(self._n_workers):
                process = subprocess.Popen(
                    self._command,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    text=True,
                    encoding="utf-8",
                    creationflags=getattr(subprocess, "BELOW_NORMAL_PRIORITY_CLASS", 0),
                )
                worker = Worker(process)
                self._workers.append(worker)
                threading.Thread(target=self._serve, args=(worker,), name="workshop", daemon=True).start()
        except OSError:
            _logger.exception("No process that compiles could be started")
            self._is_broken = True

    def _serve(self, worker: Worker) -> None:
        """Answer one process until it ends."""
        assert worker.process.stdout is not None, "it was started with a pipe"
        with suppress(OSError, ValueError):
            for text in worker.process.stdout:
                order = self._next(worker, json.loads(text))
                if order is None:
                    break
                worker.tell(order)
        worker.close()
        worker.process.stdout.close()
        code = worker.process.wait()
        with self._changed:
            if worker in self._workers:
                self._workers.remove(worker)
            worker.compiles = ""
            if worker.task:
                self.done.append(Done(worker.task, f"its process ended with code {code}", 0.0))
            if code != 0 and not self._is_closed:
                _logger.error("A process that compiles ended with code %d", code)
                self._is_broken = True
            self._changed.notify_all()

    def _next(self, worker: Worker, answer: dict[str, Any]) -> dict[str, str] | None:
        """What a process does next; None: it is needed no longer."""
        begins = answer.get("begins", "")
        with self._changed:
            worker.compiles = ""
            if answer.get("problem"):
                _logger.warning("Something was not compiled beforehand: %s", answer["problem"])
            if "task" in answer:
                worker.task = ""
                self.done.append(Done(answer["task"], answer["problem"], answer["seconds"]))
            self._orders.extend({"task": name} for name in answer.get("tasks", ()))
            self._changed.notify_all()
            while not self._is_closed:
                if begins and not self._is_in_work(begins):
                    self._asked.pop(begins, None)
                    worker.compiles = begins
                    return {}
                if self._asked:
                    key = next(iter(self._asked))
                    worker.compiles = key
                    return self._asked.pop(key)
                if not begins and self._orders:
                    order = self._orders.popleft()
                    worker.task = order.get("task", "")
                    return order
                if not self._changed.wait(IDLE_SECONDS) and not begins and not self._orders:
                    self._workers.remove(worker)
                    return None
            return None
