"""A process that compiles for another one, which gives its orders on the standard input.

Orders and answers are lines of JSON. It does one order at a time: a task by its name, or one function for arguments of
given types. Before it compiles anything within a task it asks whether it may, so that no two processes compile the
same, and does first what somebody waits for. It ends at once when its input ends, which also happens when the process
that started it is killed.
"""

from __future__ import annotations

import importlib
import json
import os
import pickle
import queue
import signal
import sys
import threading
import time
from base64 import b64decode, b64encode
from contextlib import suppress
from typing import IO, Any

from anoncore.front.warmup.tasks import left_tasks, run_task, tasks
from anoncore.kernels import compiled_code
from anoncore.kernels.compiled_code import Wanted


def order_of(wanted: Wanted) -> dict[str, str]:
    """The order to compile one function. Raises an error where its types cannot be sent to another process."""
    arguments = b64encode(pickle.dumps(wanted.arguments)).decode("ascii")
    return {"module": wanted.module, "name": wanted.name, "arguments": arguments}


def key_of(wanted: Wanted) -> str:
    """What tells a function for arguments of given types from all others."""
    return f"{wanted.module}.{wanted.name} {wanted.arguments}"


class Line:
    """The two ends of the pipes: orders come in, answers go out."""

    def __init__(self, orders: IO[str], answers: IO[str]) -> None:
        self._orders, self._answers = orders, answers
        self._waiting: queue.SimpleQueue[dict[str, str]] = queue.SimpleQueue()

    def listen(self) -> None:
        """Take orders until there are no more, then end the process, whatever it does."""
        with suppress(OSError, ValueError):
            for text in self._orders:
                self._waiting.put(json.loads(text))
        with compiled_code.nothing_half_written():
            os._exit(0)

    def ask(self, **answer: Any) -> dict[str, str]:
        """Send an answer and wait for the next order."""
        self._answers.write(json.dumps(answer) + "\n")
        self._answers.flush()
        return self._waiting.get()

    def may(self, wanted: Wanted) -> None:
        """Wait until this may be compiled, and meanwhile compile what others wait for."""
        problem = ""
        while "module" in (order := self.ask(begins=key_of(wanted), problem=problem)):
            problem = compile_ordered(order)


def work(line: Line) -> None:
    """Do orders for ever."""
    done: dict[str, Any] = {}
    while True:
        order = line.ask(**done)
        if "task" in order:
            begin = time.perf_counter()
            problem = do_task(order["task"], line)
            done = {"task": order["task"], "problem": problem, "seconds": time.perf_counter() - begin}
        elif "list" in order:
            done = {"tasks": [task.name for task in left_tasks()]}
        else:
            done = {"problem": compile_ordered(order)}


def do_task(name: str, line: Line) -> str:
    """Do a task and remember that it is done; what went wrong, or nothing."""
    compiled_code.compile_elsewhere(line.may)
    try:
        return run_task(next(task for task in tasks() if task.name == name))
    finally:
        compiled_code.compile_elsewhere(None)


def compile_ordered(order: dict[str, str]) -> str:
    """Compile one function for arguments of given types; what went wrong, or nothing."""
    try:
        function: Any = importlib.import_module(order["module"])
        for name in order["name"].split("."):
            function = getattr(function, name)
        # The types come from the process that started this one, through a pipe that nobody else can write to.
        arguments = pickle.loads(b64decode(order["arguments"]))
        compiled_code.compile_for(function, arguments)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""


def main() -> None:
    """Stand back behind all other work, and serve until nobody is there to be served."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(os, "nice"):
        with suppress(OSError):
            os.nice(int(sys.argv[1]))
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    # Whatever a library prints must not come between the answers.
    os.dup2(2, 1)
    line = Line(sys.stdin, answers)
    threading.Thread(target=line.listen, name="orders", daemon=True).start()
    work(line)
