"""Compiling in processes of their own, so that it never holds up a page, in the order in which newcomers need it.

The compiler holds Python's lock for seconds, during which no page is answered. So the server itself compiles nothing:
what it needs that is not compiled on this machine is compiled next by a process beside it, whose code it then loads.
Where no such process runs, the server compiles after all.
"""

from __future__ import annotations

import importlib
import json
import logging
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import anoncore
from anoncore.front.warmup import tasks
from anoncore.front.warmup.worker import key_of, order_of
from anoncore.kernels import compiled_code
from anoncore.kernels.compiled_code import Wanted
from dashboard.serving import garbage

FIRST_MODULES = ("anoncore.algorithms", "anoncore.search.keeping", "anoncore.measures.criteria")
"""What the first page needs."""
LATER_MODULES = ("plotly.graph_objects", "anoncore.publishing", "scipy.stats", "sklearn.tree")
"""What other pages need."""
WORKERS = 2
"""Processes that compile."""
NICENESS = 5
"""How far they stand back behind the server (Unix: 0 not at all, 19 most); visitors wait for what they do."""
IDLE_SECONDS = 120.0
"""How long a process is kept that has nothing to do."""
HEAD_START = 5.0
"""How long the tasks wait at most for the first page to be drawn, which a visitor waits for while the server starts."""
EVERY_SECONDS = 0.3
"""How often a page that waits says so."""
TEXT = "Compiling for this machine, which happens once"

_logger = logging.getLogger(__name__)


def worker_command() -> list[str]:
    """The command that starts a process that compiles.

    It imports nothing from the folder in which somebody happens to be, and finds anoncore where this process did.
    """
    script = "import sys; sys.path.append(sys.argv[2]); from anoncore.front.warmup.worker import main; main()"
    return [sys.executable, "-P", "-c", script, str(NICENESS), str(Path(anoncore.__file__).parents[1])]


class Worker:
    """One process that compiles, and what it compiles now."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
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
    """The processes that compile and what they have to do: first what somebody waits for, then the tasks."""

    def __init__(self, command: Sequence[str] = (), n_workers: int = WORKERS) -> None:
        self._command = list(command) or worker_command()
        self._n_workers = n_workers
        self._changed = threading.Condition()
        self._orders: deque[dict[str, str]] = deque()
        self._asked: dict[str, dict[str, str]] = {}
        self._workers: list[Worker] = []
        self._waiting: set[int] = set()
        self._left: set[str] = set()
        self._is_broken = False
        self._is_closed = False
        self.done: list[str] = []

    def do_tasks(self) -> None:
        """Begin with the tasks that are not done on this machine."""
        with self._changed:
            self._orders.append({"list": "tasks"})
            self._start()

    def ask(self, wanted: Wanted) -> None:
        """Let something be compiled next, and wait until it is, or until it is clear that nobody will.

        A page waits for a moment only, then it ends and is drawn anew later (`waiting.page_ends_early`).
        """
        key = key_of(wanted)
        try:
            order = order_of(wanted)
        except Exception:
            _logger.exception("%s has types that no other process can be told", wanted.name)
            return
        # Streamlit takes a second to import, and the processes are started before it is there.
        from dashboard.tasks import waiting

        with self._changed:
            self._start()
            if not self._is_in_work(key):
                if key in self._left - self._asked.keys():
                    # It could not be compiled elsewhere when a page asked for it, so nobody is asked again.
                    return
                self._asked[key] = order
                self._changed.notify_all()
            if not waiting.is_page():
                self._waiting.add(threading.get_ident())
            elif waiting.may_end_early():
                if self._changed.wait_for(lambda: self._is_settled(key), EVERY_SECONDS):
                    return
                self._left.add(key)
                raise waiting.NotReadyError(TEXT, lambda: self._is_settled(key))
        try:
            with waiting.told(TEXT) as tell:
                self._wait(key, tell)
        finally:
            with self._changed:
                self._waiting.discard(threading.get_ident())

    def _wait(self, key: str, tell: Callable[[], None]) -> None:
        """Wait until something is compiled, or until nobody is left who could, and say so again and again."""
        while True:
            with self._changed:
                if self._is_settled(key):
                    return
                self._changed.wait(EVERY_SECONDS)
            tell()

    def waiting(self) -> frozenset[int]:
        """The threads that wait for something to be compiled, but for those that draw pages."""
        with self._changed:
            return frozenset(self._waiting)

    def close(self) -> None:
        """End all processes; what is asked for from now on is compiled by whoever asks."""
        with self._changed:
            self._is_closed = True
            workers = list(self._workers)
            self._changed.notify_all()
        for worker in workers:
            worker.close()

    def _is_settled(self, key: str) -> bool:
        """Whether something is compiled, or nobody is left who could."""
        return not self._workers or not (key in self._asked or self._is_in_work(key))

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
                self.done.append(answer["task"])
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
                    return self._orders.popleft()
                if not self._changed.wait(IDLE_SECONDS) and not begins and not self._orders:
                    self._workers.remove(worker)
                    return None
            return None


_lock = threading.Lock()
_workshop: Workshop | None = None
_drawn = threading.Event()


def start() -> Workshop:
    """Begin once per process; further calls return the same workshop."""
    global _workshop
    with _lock:
        if _workshop is None:
            _workshop = Workshop()
            compiled_code.compile_elsewhere(_workshop.ask)
            if not is_complete():
                threading.Thread(target=_begin_tasks, args=(_workshop,), name="warm-up", daemon=True).start()
            threading.Thread(target=load_modules, name="warm-up", daemon=True).start()
        return _workshop


def _begin_tasks(workshop: Workshop) -> None:
    """Begin to compile once the first page is drawn: until then all processors work for it."""
    _drawn.wait(HEAD_START)
    workshop.do_tasks()


def is_complete() -> bool:
    """Whether all tasks were done on this machine, so that hardly anything is left to be compiled."""
    return tasks.is_done(tasks.EVERYTHING)


def is_cold() -> bool:
    """Whether processes beside this one still have much to compile, so that a page had better not ask for it itself."""
    return _workshop is not None and not is_complete()


def set_drawn() -> None:
    """Say that the first page has been drawn, so that there is time for what other pages need."""
    _drawn.set()


def stop() -> None:
    """End the processes that compile."""
    if _workshop is not None:
        _workshop.close()


def waiting() -> frozenset[int]:
    """The threads of this process that wait for something to be compiled."""
    return _workshop.waiting() if _workshop is not None else frozenset()


def load_modules() -> None:
    """Import what the first page needs, and once it is drawn, what others need, so that no visitor waits for it."""
    try:
        for module in FIRST_MODULES:
            importlib.import_module(module)
        _drawn.wait()
        compiled_code.load_compiler()
        for module in LATER_MODULES:
            importlib.import_module(module)
    except Exception:
        _logger.exception("Not everything could be imported beforehand")
    finally:
        garbage.set_aside()
