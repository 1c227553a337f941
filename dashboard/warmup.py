"""Get ready in the background, so that the first run and the first measure do not wait for compilers and imports."""

from __future__ import annotations

import importlib
import logging
import threading
from collections.abc import Callable

from dashboard import garbage

MODULES = ("plotly.graph_objects", "anoncore.privacy", "anoncore.attacks", "anoncore.utility", "sklearn.tree")

_logger = logging.getLogger(__name__)
_lock = threading.Lock()
_thread: threading.Thread | None = None
_ready = threading.Event()


def start() -> threading.Thread:
    """Begin once per process; further calls return the same thread."""
    global _thread
    with _lock:
        if _thread is None:
            _thread = threading.Thread(target=_warm_up, name="warm-up", daemon=True)
            _thread.start()
        return _thread


def is_ready() -> bool:
    """Whether the first method runs without waiting for the compiler."""
    return _ready.is_set()


def _run(names: list[str]) -> None:
    """Compile or load the kernels by anonymizing a small made-up table with what the forms start with."""
    from anoncore import AnonymizationError, Microdata, datasets
    from anoncore.algorithms import ALGORITHMS
    from dashboard.fields import field_forms

    entry = datasets.table("census")
    data = Microdata(entry.load(n_rows=300), entry.roles, entry.kinds, entry.orders)
    for name in names:
        try:
            kind = ALGORITHMS[name]
            kind(**{field.name: field.default for field in field_forms(kind)}).anonymize(data)
        except AnonymizationError as error:
            _logger.debug("%s was not warmed up: %s", name, error)
        except Exception:
            # One method that fails must not leave the others cold.
            _logger.exception("%s was not warmed up", name)


def _warm_up(run: Callable[[list[str]], None] = _run) -> None:
    """What is needed first comes first: the method that newcomers start with, the measures, the other methods."""
    try:
        from anoncore.algorithms import ALGORITHMS
        from dashboard.first_method import first_method

        first = first_method()
        run([first])
        _ready.set()
        for module in MODULES:
            importlib.import_module(module)
        garbage.set_aside()
        run([name for name in ALGORITHMS if name != first])
    except Exception:
        _logger.exception("The warm-up failed; the first run will take longer")
    finally:
        _ready.set()
        garbage.set_aside()
