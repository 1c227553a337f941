"""Compiling in processes of their own, so that it never holds up a page, in the order in which newcomers need it.

The compiler holds Python's lock for seconds, during which no page is answered. So the server itself compiles nothing:
what it needs that is not compiled on this machine is compiled next by a process beside it, whose code it then loads.
Where no such process runs, the server compiles after all.
"""

from __future__ import annotations

import importlib
import logging
import threading
from collections.abc import Callable, Sequence

from anoncore.front.warmup import tasks
from anoncore.front.warmup.worker import key_of, order_of
from anoncore.front.warmup.workshop import WORKERS, Workshop
from anoncore.kernels import compiled_code
from anoncore.kernels.compiled_code import Wanted
from dashboard.serving import quotas

FIRST_MODULES = ("anoncore.algorithms", "anoncore.search.keeping", "anoncore.measures.criteria")
"""What the first page needs."""
LATER_MODULES = ("plotly.graph_objects", "anoncore.publishing", "scipy.stats", "sklearn.tree")
"""What other pages need."""
HEAD_START = 5.0
"""How long the tasks wait at most for the first page to be drawn, which a visitor waits for while the server starts."""
EVERY_SECONDS = 0.3
"""How often a page that waits says so."""
TEXT = "Compiling for this machine, which happens once"

_logger = logging.getLogger(__name__)


class ServersWorkshop(Workshop):
    """Processes that compile for a server, of which pages and jobs ask what they need."""

    def __init__(self, command: Sequence[str] = (), n_workers: int = WORKERS) -> None:
        super().__init__(command, n_workers)
        self._waiting: set[int] = set()
        self._left: set[str] = set()

    def ask(self, wanted: Wanted) -> None:
        """Let something be compiled next, and wait until it is, or until it is clear that nobody will.

        A page waits for a moment only, then it ends and is drawn anew later (`redrawing.page_ends_early`).
        """
        key = key_of(wanted)
        try:
            order = order_of(wanted)
        except Exception:
            _logger.exception("%s has types that no other process can be told", wanted.name)
            return
        # Streamlit takes a second to import, and the processes are started before it is there.
        from dashboard.tasks import redrawing

        with self._changed:
            self._start()
            if not self._is_in_work(key):
                if key in self._left - self._asked.keys():
                    # It could not be compiled elsewhere when a page asked for it, so nobody is asked again.
                    return
                self._asked[key] = order
                self._changed.notify_all()
            if not redrawing.is_page():
                self._waiting.add(threading.get_ident())
            elif redrawing.may_end_early():
                if self._changed.wait_for(lambda: self._is_settled(key), EVERY_SECONDS):
                    return
                self._left.add(key)
                raise redrawing.NotReadyError(TEXT, lambda: self._is_settled(key))
        try:
            with redrawing.told(TEXT) as tell:
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

    def _is_settled(self, key: str) -> bool:
        """Whether something is compiled, or nobody is left who could."""
        return not self._workers or not (key in self._asked or self._is_in_work(key))


_lock = threading.Lock()
_workshop: ServersWorkshop | None = None
_drawn = threading.Event()


def start() -> ServersWorkshop:
    """Begin once per process; further calls return the same workshop."""
    global _workshop
    with _lock:
        if _workshop is None:
            _workshop = ServersWorkshop()
            compiled_code.compile_elsewhere(_workshop.ask)
            if not is_complete():
                threading.Thread(target=_begin_tasks, args=(_workshop,), name="warm-up", daemon=True).start()
            threading.Thread(target=load_modules, name="warm-up", daemon=True).start()
        return _workshop


def _begin_tasks(workshop: ServersWorkshop) -> None:
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
        quotas.set_aside()
