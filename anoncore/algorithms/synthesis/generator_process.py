"""The other end of `noisy_marginals`: start the process, pass on its progress, and end it where nobody wants it."""

from __future__ import annotations

import io
import json
import queue
import subprocess
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from anoncore.algorithms.synthesis import noisy_marginals
from anoncore.base.errors import AnonymizationError
from anoncore.base.progress import Progress
from anoncore.kernels.arrays import Codes

NEEDED = ("Marginal synthesis", "opendp", "mbi", "polars")
"""What needs which packages."""
EVERY_SECONDS = 0.2
"""How often the one who waits is asked whether the table is still wanted."""

Answer = dict[str, Any]


def generated(cells: Codes, order: Mapping[str, Any], progress: Progress) -> npt.NDArray[np.int32]:
    """The cells of a table made of `cells`, int32 (rows, attributes), by `noisy_marginals` in a process of its own.

    The process ends when it is done, where `progress` raises CancelledError, and where this one ends. Raises
    AnonymizationError for what goes wrong in it.
    """
    # -P: it imports nothing from the folder in which somebody happens to be.
    command = [sys.executable, "-P", str(Path(noisy_marginals.__file__))]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, close_fds=True
    )
    assert process.stdin is not None, "it was started with a pipe"
    assert process.stdout is not None, "it was started with a pipe"
    answers: queue.SimpleQueue[Answer] = queue.SimpleQueue()
    # Pipes are read and written beside this thread, which asks every moment whether the table is still wanted.
    for work in ((_send, process.stdin, cells, order), (_listen, process.stdout, answers)):
        threading.Thread(target=work[0], args=work[1:], name="marginal synthesis", daemon=True).start()
    try:
        return _awaited(answers, progress)
    finally:
        process.kill()
        process.wait()


def _awaited(answers: queue.SimpleQueue[Answer], progress: Progress) -> npt.NDArray[np.int32]:
    share, text = 0.0, "Starting OpenDP"
    while True:
        progress(share, text)
        with suppress(queue.Empty):
            answer = answers.get(timeout=EVERY_SECONDS)
            if "problem" in answer:
                raise AnonymizationError(f"OpenDP made no table: {answer['problem']}.")
            if "made" in answer:
                return np.asarray(answer["made"])
            share, text = max(share, float(answer["share"])), str(answer["text"])


def _send(stream: IO[bytes], cells: Codes, order: Mapping[str, Any]) -> None:
    content = io.BytesIO()
    np.save(content, cells, allow_pickle=False)
    # A process that ended early says so by ending; what it did not read any more is of no use.
    with suppress(OSError, ValueError), stream:
        stream.write(json.dumps(order).encode() + b"\n")
        stream.write(content.getbuffer())


def _listen(stream: IO[bytes], answers: queue.SimpleQueue[Answer]) -> None:
    with suppress(OSError, ValueError), stream:
        while line := stream.readline():
            answer: Answer = json.loads(line)
            if "table" in answer:
                answer = {"made": np.load(io.BytesIO(stream.read(int(answer["table"]))), allow_pickle=False)}
            answers.put(answer)
    answers.put({"problem": "its process ended, for example because there was not enough memory"})
