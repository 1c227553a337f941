"""The command `anoncore warm-up`: compile beforehand whatever the first runs would have to wait for."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from os import cpu_count

from anoncore.base.errors import ParameterError
from anoncore.cli.log import add_log_options, log
from anoncore.front.warmup.tasks import Task, left_tasks, run_task, tasks
from anoncore.front.warmup.workshop import Done, Workshop, worker_command
from anoncore.kernels.compiled_code import folder_of_all

MOST_PROCESSES = 4
"""More of them would wait for one another, as most methods share what takes longest."""


def add_options(command: argparse.ArgumentParser) -> None:
    """Give the parser of the command its options."""
    command.add_argument("--again", action="store_true", help="also do what was done before on this machine")
    command.add_argument(
        "--processes",
        type=int,
        default=min(cpu_count() or 1, MOST_PROCESSES),
        metavar="N",
        help="processes that compile at a time (%(default)s here); each takes about 0.5 GB of memory",
    )
    add_log_options(command)
    command.set_defaults(command=_warm_up)


def _warm_up(arguments: argparse.Namespace) -> int:
    if arguments.processes < 1:
        raise ParameterError(f"--processes is {arguments.processes}; it takes at least 1 process to compile.")
    every = tasks()
    wanted = every if arguments.again else left_tasks()
    titles = {task.name: task.title for task in wanted}
    n_failed = 0
    for place, done in enumerate(_done(wanted, arguments.processes), 1):
        title = titles[done.task]
        told = f"failed: {done.problem}" if done.problem else f"{done.seconds:.1f} s"
        if log().style == "json":
            log().tell_progress(place / len(wanted), f"{title} ({told})", done.seconds)
        elif done.problem or log().style != "quiet":
            print(f"[{place}/{len(wanted)}] {title} ({told})", flush=True)
        n_failed += bool(done.problem)
    if len(wanted) < len(every):
        print(f"{len(every) - len(wanted)} of {len(every)} were compiled before.")
    print(f"The compiled code lies in {folder_of_all().parent}.")
    return int(n_failed > 0)


def _done(wanted: Sequence[Task], n_processes: int) -> Iterator[Done]:
    """Each task as soon as it is done, by so many processes beside this one.

    This process does all tasks where one is enough, and those that are left when all others have ended.
    """
    left = {task.name: task for task in wanted}
    if n_processes > 1 and len(left) > 1:
        with closing(Workshop(worker_command(niceness=0), n_processes)) as workshop:
            workshop.do_tasks(list(left))
            for done in workshop.results(len(left)):
                del left[done.task]
                yield done
    for task in left.values():
        begin = time.perf_counter()
        problem = run_task(task)
        yield Done(task.name, problem, time.perf_counter() - begin)
