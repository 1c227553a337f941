"""The command `anoncore warm-up`: compile beforehand whatever the first runs would have to wait for."""

from __future__ import annotations

import argparse
import time

from anoncore.cli.log import add_log_options, log
from anoncore.front.warmup.tasks import left_tasks, run_task, tasks
from anoncore.kernels.compiled_code import folder_of_all


def add_options(command: argparse.ArgumentParser) -> None:
    """Give the parser of the command its options."""
    command.add_argument("--again", action="store_true", help="also do what was done before on this machine")
    add_log_options(command)
    command.set_defaults(command=_warm_up)


def _warm_up(arguments: argparse.Namespace) -> int:
    every = tasks()
    wanted = every if arguments.again else left_tasks()
    n_failed = 0
    for place, task in enumerate(wanted, 1):
        begin = time.perf_counter()
        problem = run_task(task)
        seconds = time.perf_counter() - begin
        told = f"failed: {problem}" if problem else f"{seconds:.1f} s"
        if log().style == "json":
            log().tell_progress(place / len(wanted), f"{task.title} ({told})", seconds)
        elif problem or log().style != "quiet":
            print(f"[{place}/{len(wanted)}] {task.title} ({told})", flush=True)
        n_failed += bool(problem)
    if len(wanted) < len(every):
        print(f"{len(every) - len(wanted)} of {len(every)} were compiled before.")
    print(f"The compiled code lies in {folder_of_all().parent}.")
    return int(n_failed > 0)
