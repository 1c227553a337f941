"""Figures 8 and 9 of the Rothko paper: in-memory Mondrian in less memory than its table needs, beside the runs on disk.

    python -m tests.papers.thrashing [--limit 700] [--rows 1000000 2000000 4000000 8000000] [--patience 300]

Every run is a process of its own: once with all memory of the machine, and in a control group with `--limit` megabytes
of memory: without swap space, where the system ends a process that needs more; with a swap file, as the paper had it;
and with a swap file on a disk no faster than the paper's. Only these processes may use the swap
file; the group and the file are removed at the end. What was measured is kept in `thrashing.json` beside this module,
and the book judges figures 8 and 9 by it. It needs Linux with version 1 of the control groups of memory, the rights of
root, and as much memory free that nobody else has to swap; anywhere else it says what is missing and what was measured
last. Source: LeFevre and DeWitt, Rothko (TR 1590), section 5.2 (512 MB, up to 10 million rows, median, k = 1,000).
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

MEGABYTE = 1_000_000
MEASURED = Path(__file__).with_suffix(".json")
IN_MEMORY = "mondrian"
TASKS = (IN_MEMORY, "rothko-tree", "rothko-sampling")
ROWS = (1_000_000, 2_000_000, 4_000_000, 8_000_000)
LIMIT = 700
"""Megabytes: the paper's 512 for the rows, and what Python and the compiled kernels take before there are any."""
ENOUGH, NO_SWAP, SWAPS, SLOW = "all memory", "limited, no swap", "limited, swap", "limited, swap, slow disk"
DISK = 54 * MEGABYTE
"""Bytes that the paper's disk reads in a second (figure 6)."""
FINISHED = "finished"
GROUPS, DISKS = Path("/sys/fs/cgroup/memory"), Path("/sys/fs/cgroup/blkio")
SWAP = 4_000 * MEGABYTE
PAGE = 4096


def missing() -> str:
    """What this machine lacks for the experiment, in a sentence; empty if nothing."""
    if not (GROUPS / "memory.limit_in_bytes").exists() or not (DISKS / "blkio.throttle.read_bps_device").exists():
        return "It needs Linux with version 1 of the control groups of memory and disks, in /sys/fs/cgroup."
    if os.geteuid() != 0:
        return "It needs the rights of root, to make a control group and a swap file."
    if Path("/proc/swaps").read_text(encoding="ascii").count("\n") > 1:
        return "There is swap space in use already, so that its pages could be anybody's."
    lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    free = next(int(line.split()[1]) for line in lines if line.startswith("MemAvailable")) * 1024
    return "" if free > 2 * SWAP else f"It needs {2 * SWAP / 1e9:.0f} GB of free memory, so that nobody else swaps."


def last() -> dict[str, Any]:
    """What was measured last: date, limit, and a line per run."""
    found: dict[str, Any] = json.loads(MEASURED.read_text(encoding="utf-8"))
    return found


@contextmanager
def group(limit: int, memory: str) -> Iterator[Path]:
    """A control group with so many bytes of memory or all of it, and with swap space or none."""
    own = next(
        (line.split(":")[2] for line in _read("/proc/self/cgroup").splitlines() if line.split(":")[1] == "memory"), "/"
    )
    above = GROUPS / own.strip("/")
    own_group = (above if above.is_dir() else GROUPS) / f"anoncore-thrashing-{os.getpid()}"
    own_group.mkdir()
    try:
        if memory != ENOUGH:
            (own_group / "memory.limit_in_bytes").write_text(str(limit), encoding="ascii")
        if memory == NO_SWAP:
            (own_group / "memory.memsw.limit_in_bytes").write_text(str(limit), encoding="ascii")
        yield own_group
    finally:
        (own_group / "memory.force_empty").write_text("0", encoding="ascii")
        own_group.rmdir()


@contextmanager
def disk(folder: Path, memory: str) -> Iterator[Path]:
    """A control group with the disk of the folder, as fast as it is or as the paper's."""
    own_group = DISKS / f"anoncore-thrashing-{os.getpid()}"
    own_group.mkdir()
    try:
        if memory == SLOW:
            device = folder.stat().st_dev
            for way in ("read", "write"):
                limit = f"{os.major(device)}:{os.minor(device)} {DISK}"
                (own_group / f"blkio.throttle.{way}_bps_device").write_text(limit, encoding="ascii")
        yield own_group
    finally:
        own_group.rmdir()


@contextmanager
def swap_file(folder: Path) -> Iterator[None]:
    """A swap file while the context lasts."""
    path = folder / "swap"
    with path.open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, SWAP)
    path.chmod(0o600)
    subprocess.run(["mkswap", str(path)], check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["swapon", str(path)], check=True)
    try:
        yield
    finally:
        subprocess.run(["swapoff", str(path)], check=True)
        path.unlink()


def _read(path: str) -> str:
    return Path(path).read_text(encoding="ascii")


def swapped() -> tuple[int, int]:
    """Bytes read from and written to swap space since the system began."""
    counted = dict(line.split() for line in _read("/proc/vmstat").splitlines())
    return int(counted["pswpin"]) * PAGE, int(counted["pswpout"]) * PAGE


def run(task: str, source: Path, limit: int, memory: str, patience: float) -> dict[str, Any]:
    """One run in a group of its own: seconds, bytes swapped, and how it ended."""
    with (
        tempfile.TemporaryDirectory(dir=source.parent) as folder,
        group(limit, memory) as own_group,
        disk(source.parent, memory) as own_disk,
    ):
        command = [sys.executable, "-m", "tests.papers.thrashing", "--child", task, str(source), folder]
        before, begun = swapped(), time.perf_counter()

        def enter() -> None:
            for one in (own_group, own_disk):
                (one / "cgroup.procs").write_text(str(os.getpid()), encoding="ascii")

        child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, preexec_fn=enter)
        try:
            answer, _ = child.communicate(timeout=patience)
            ended = FINISHED if child.returncode == 0 else f"ended by the system (signal {-child.returncode})"
        except subprocess.TimeoutExpired:
            child.kill()
            answer, _ = child.communicate()
            ended = f"stopped after {patience:.0f} s"
        except BaseException:
            # A group can only be removed when nothing runs in it any more.
            child.kill()
            child.wait()
            raise
        seconds, after = time.perf_counter() - begun, swapped()
        peak = int((own_group / "memory.max_usage_in_bytes").read_text(encoding="ascii"))
    return {
        "seconds": round(seconds, 2),
        "swapped in MB": round((after[0] - before[0]) / MEGABYTE, 1),
        "swapped out MB": round((after[1] - before[1]) / MEGABYTE, 1),
        "peak MB": round(peak / MEGABYTE, 1),
        "ended": ended,
        **(json.loads(answer) if ended == FINISHED else {}),
    }


def child(task: str, source: Path, folder: Path) -> None:
    """One run in this process; prints processor seconds, page faults and bytes read from disk."""
    from anoncore import Microdata
    from anoncore.algorithms import ALGORITHMS, Mondrian
    from anoncore.datasets.rothko_synthetic import ATTRIBUTES
    from anoncore.engines.large_run import anonymize_table
    from anoncore.engines.spool import Tags
    from anoncore.requirements import KAnonymity
    from anoncore.sources.large_table import LargeTable

    roles, requirements = dict.fromkeys(ATTRIBUTES, "quasi-identifier"), (KAnonymity(k=1000),)
    if task == "mondrian":
        import pandas as pd

        groups = Mondrian(requirements, strict=True).anonymize(Microdata(pd.read_parquet(source), roles)).partition
        found = {"groups": groups.n_groups}
    else:
        seed = {"seed": 0} if task == "rothko-sampling" else {}
        model = ALGORITHMS[task](requirements=requirements, memory_rows=125_000, **seed)
        made = anonymize_table(lambda work: LargeTable(source, work), Tags(roles), model, folder / "out")
        found = {"groups": made.n_groups}
    used = resource.getrusage(resource.RUSAGE_SELF)
    read = dict(line.split(": ") for line in _read("/proc/self/io").splitlines())["read_bytes"]
    found["cpu s"] = round(used.ru_utime + used.ru_stime, 2)
    found["page faults from disk"] = used.ru_majflt
    found["read MB"] = round(int(read) / MEGABYTE, 1)
    print(json.dumps(found))


def measure(rows: tuple[int, ...], limit: int, patience: float, folder: Path) -> list[dict[str, Any]]:
    """Every task on every size, with and without swap."""
    from tests.benchmarks.rothko import generate

    lines = []
    for n in rows:
        generate(n, folder / f"{n}.parquet")
    for task in TASKS:  # compiled once where nothing is limited, so that memory and times are those of the run
        with tempfile.TemporaryDirectory(dir=folder) as own:
            command = [sys.executable, "-m", "tests.papers.thrashing", "--child", task]
            subprocess.run([*command, str(folder / f"{rows[0]}.parquet"), own], check=True, stdout=subprocess.DEVNULL)
    with swap_file(folder):
        for memory in (ENOUGH, NO_SWAP, SWAPS, SLOW):
            for task in TASKS:
                for n in rows:
                    found = run(task, folder / f"{n}.parquet", limit * MEGABYTE, memory, patience)
                    lines.append({"algorithm": task, "rows": n, "memory": memory, **found})
                    print(json.dumps(lines[-1]), flush=True)
    return lines


def main() -> None:
    """Measure and keep, or say what is missing and what was measured last."""
    if sys.argv[1:2] == ["--child"]:
        child(sys.argv[2], Path(sys.argv[3]), Path(sys.argv[4]))
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--limit", type=int, default=LIMIT, help=f"megabytes of memory ({LIMIT})")
    parser.add_argument("--rows", type=int, nargs="+", default=ROWS, help="sizes of the table")
    parser.add_argument("--patience", type=float, default=300, help="seconds after which a run is stopped")
    parser.add_argument("--folder", type=Path, help="where tables and the swap file are made (default: a new folder)")
    arguments = parser.parse_args()
    lack = missing()
    if lack:
        measured = last()
        print(f"Not run here. {lack} Measured on {measured['date']} with {measured['limit MB']} MB:")
        for line in measured["runs"]:
            print(json.dumps(line))
        return
    # Whoever ends it still gets the swap file and the groups removed.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("Stopped."))
    with tempfile.TemporaryDirectory(dir=arguments.folder, prefix="thrashing-") as folder:
        runs = measure(tuple(arguments.rows), arguments.limit, arguments.patience, Path(folder))
    date = datetime.datetime.now(tz=datetime.UTC).date().isoformat()
    found = {"date": date, "limit MB": arguments.limit, "runs": runs}
    MEASURED.write_text(json.dumps(found, indent=0) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
