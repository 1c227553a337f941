"""Reading ahead and working in threads while the order of batches is kept.

Both are used with `contextlib.closing`, so that no thread still reads when what it reads from is closed.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")

AHEAD = 4
"""Batches that are worked on at a time."""


def in_threads(function: Callable[[T], R], items: Iterable[T]) -> Generator[R, None, None]:
    """Apply a function to every item in threads, and give the results in order.

    A few items are worked on while the caller has the result before.
    """
    running: deque[Future[R]] = deque()
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        try:
            for item in items:
                running.append(pool.submit(function, item))
                if len(running) >= AHEAD:
                    yield running.popleft().result()
            while running:
                yield running.popleft().result()
        finally:
            for future in running:
                future.cancel()
            if isinstance(items, Generator):
                items.close()


def read_ahead(items: Iterator[T]) -> Generator[T, None, None]:
    """Give the items in order; a thread takes the next one while the caller has the one before."""
    end = object()
    with ThreadPoolExecutor(1) as pool:
        waiting: Future[T | object] = pool.submit(next, items, end)
        while (item := waiting.result()) is not end:
            waiting = pool.submit(next, items, end)
            yield item  # type: ignore[misc]
