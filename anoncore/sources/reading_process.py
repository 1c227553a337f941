"""The process that `apart` starts: it reads one file from its input, writes the table to its output, and ends."""

from __future__ import annotations

import json
import os
import sys
from contextlib import suppress
from importlib import import_module
from typing import IO, Any

import pyarrow as pa

from anoncore.base import memory
from anoncore.base.errors import AnonymizationError
from anoncore.sources.notes import shown
from anoncore.sources.reader import base_name, read_table, table_sheets

LARGEST_FILE = 64 << 20
"""Bytes of a file that it may write: compiled code, and nothing of a table."""
BATCH_BYTES = 64 << 20


def main(stdin: IO[bytes], stdout: IO[bytes]) -> None:
    """Answer what is asked in the first line of the input, about the bytes that follow it."""
    order = json.loads(stdin.readline())
    limits = order["limits"]
    _limit(limits)
    content = stdin.read(order["bytes"])
    name = base_name(str(order["name"]))
    try:
        # What is read lies in memory already, and is no part of what the table takes.
        memory.limit_process(int(limits["memory"]))
        if order["asked"] == "sheets":
            _say(stdout, {"sheets": table_sheets(content, name, max_bytes=order["max_bytes"])})
            return
        if order["asked"] == "answer":
            module, _, function = order["function"].partition(":")
            _say(stdout, {"answer": getattr(import_module(module), function)(content, **order["about"])})
            return
        source = read_table(content, name, sheet=order["sheet"], max_bytes=order["max_bytes"])
        del content
        table = pa.Table.from_pandas(source.frame, preserve_index=False)
        about = {"name": source.name, "format": source.format, "notes": source.notes, "digest": source.digest}
        if table.nbytes > limits["result"]:
            raise MemoryError
    except AnonymizationError as error:
        _say(stdout, {"problem": str(error)})
        return
    except MemoryError:
        _say(stdout, {"problem": f"{shown(name)} does not fit into memory; take fewer rows or columns."})
        return
    _say(stdout, about)
    rows = max(1, BATCH_BYTES * max(table.num_rows, 1) // max(table.nbytes, 1))
    with pa.ipc.new_stream(pa.PythonFile(stdout, mode="w"), table.schema) as writer:
        writer.write_table(table, max_chunksize=rows)
    stdout.flush()


def _say(stream: IO[bytes], answer: dict[str, Any]) -> None:
    stream.write(json.dumps(answer).encode() + b"\n")
    stream.flush()


def _limit(limits: dict[str, float]) -> None:
    """Let the system end this process, where it can, also if nobody looks at it any more.

    Its memory is looked at from outside: Arrow reserves forty gigabytes of addresses for a wide table, of which it uses
    less than one.
    """
    with suppress(ImportError):
        import resource

        wanted = {"RLIMIT_CPU": int(limits["processor"]) + 2, "RLIMIT_CORE": 0, "RLIMIT_FSIZE": LARGEST_FILE}
        for kind, most in wanted.items():
            with suppress(AttributeError, ValueError, OSError):
                resource.setrlimit(getattr(resource, kind), (most, most))


if __name__ == "__main__":
    # What a library prints must not get between the bytes of the answer.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    main(sys.stdin.buffer, answers)
