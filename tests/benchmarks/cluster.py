"""A large table by disk and by a standalone cluster of Spark, also with a worker killed: seconds, memory, one release.

    python -m tests.benchmarks.cluster --rows 200000
    python -m tests.benchmarks.cluster --rows 20000000 --folder /scratch

The census-like table is written in pieces of a million rows. Every run is a process of its own; for Spark a master and
its workers of one processor each are started on 127.0.0.1 and ended afterwards. In `killed` one of two workers is
killed as soon as the rows are coded. Every release is compared with the one before it: what the certificates state, and
the content of the parts, whatever their order. Memory is the peak of what the processes of a run take together (PSS, of
which shared pages are counted once), looked at twice a second. Spark needs Java 17 or later.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import psutil
import pyarrow as pa
import pyarrow.parquet as pq

from anoncore.datasets import table
from anoncore.engines.input_digest import table_digest
from anoncore.sources.large_table import LargeTable
from tests.engines.spark_cluster import OPTIONS, Cluster, stated

PIECE = 1_000_000
LOOK = 0.5
CERTIFYING = 0.75
"""Share of a run from which on its parts are certified."""
KNOWN = ("age", "sex", "education", "race", "workclass", "marital-status", "hours-per-week", "native-country")
SECRET, FREE = "diagnosis", "salary-class"
RECIPE = """
[source]
path = "table"
[roles]
{roles}
[algorithm]
name = "rothko-tree"
memory_rows = {memory_rows}
requirements = [
    {{ name = "k-anonymity", k = {k} }},
    {{ name = "distinct-diversity", l = 3 }},
    {{ name = "t-closeness", t = 0.5 }},
]
"""
RUNS = ("disk", "spark-2", "killed", "spark-1")
SPARK = {**OPTIONS, "spark.executor.memory": "1g", "spark.driver.memory": "1g", "spark.sql.shuffle.partitions": "16"}


@dataclass
class Measured:
    """What a run took: seconds in all and until its parts were written, and the peaks of memory in bytes.

    `memory` has that of the run itself with Spark's driver, that of the master and the workers, and that of all.
    """

    seconds: float
    written: float
    memory: dict[str, int]
    groups: str


class Memory(threading.Thread):
    """Looks at what processes and all that they started take, until it is told to stop."""

    def __init__(self, here: int, workers: list[int]) -> None:
        super().__init__(daemon=True)
        self.roots = {"here": [here], "workers": workers}
        self.peak = {"here": 0, "workers": 0, "all": 0}
        self.over = threading.Event()

    def run(self) -> None:
        while not self.over.wait(LOOK):
            now = {name: sum(map(_taken, roots)) for name, roots in self.roots.items()}
            now["all"] = sum(now.values())
            self.peak = {name: max(most, now[name]) for name, most in self.peak.items()}


def _taken(root: int) -> int:
    """Bytes that a process and its descendants take, shared pages divided among those who share them."""
    with suppress(psutil.Error):
        process = psutil.Process(root)
        return sum(map(_own, [process, *process.children(recursive=True)]))
    return 0


def _own(process: psutil.Process) -> int:
    with suppress(psutil.Error, OSError):
        return int(process.memory_full_info().pss)
    return 0


def make_table(folder: Path, n_rows: int) -> None:
    """Write the table in pieces, each drawn by a seed of its own."""
    folder.mkdir()
    for number, begin in enumerate(range(0, n_rows, PIECE)):
        frame = table("census").load(n_rows=min(PIECE, n_rows - begin), seed=number)
        rows = pa.Table.from_pandas(frame, preserve_index=False).replace_schema_metadata(None)
        pq.write_table(rows, folder / f"piece-{number:04d}.parquet", row_group_size=PIECE // 4)


def write_recipe(path: Path, k: int, memory_rows: int) -> None:
    """The recipe of all runs: eight known attributes, a secret one, a free one, and nothing of the others."""
    columns = table("census").load(n_rows=1).columns
    role = {**dict.fromkeys(KNOWN, "quasi-identifier"), SECRET: "sensitive", FREE: "insensitive"}
    roles = "\n".join(f'{name} = "{role.get(name, "identifier")}"' for name in columns)
    path.write_text(RECIPE.format(roles=roles, k=k, memory_rows=memory_rows), encoding="utf-8")


@contextmanager
def cluster_of(run: str, work: Path) -> Iterator[Cluster | None]:
    """The cluster that a run needs, ended afterwards."""
    if run == "disk":
        yield None
        return
    folder = work / f"cluster-{run}"
    folder.mkdir()
    with closing(Cluster(folder, workers=1 if run == "spark-1" else 2, worker_memory="1g")) as found:
        yield found


def measured(run: str, work: Path, output: Path, events: Path | None = None, tasks: int = 0) -> Measured:
    """One run as a process of its own; Spark records it in the folder `events`, with so many tasks in a job."""
    options = dict(SPARK)
    if events is not None:
        events.mkdir()
        options |= {"spark.sql.files.minPartitionNum": str(tasks), "spark.sql.shuffle.partitions": str(tasks)}
        options |= {"spark.sql.adaptive.coalescePartitions.enabled": "false"}
        options |= {"spark.eventLog.enabled": "true", "spark.eventLog.dir": events.as_uri()}
        options |= {"spark.eventLog.rolling.enabled": "false", "spark.eventLog.compress": "false"}
    shared = work / f"shared-{run}"
    shared.mkdir()
    words = [str(work / "table.toml"), "--output", str(output), "--workspace", str(shared)]
    words += ["--key-file", str(work / "key.txt"), "--log-json", "--allow-path", str((work / "table").resolve())]
    with cluster_of(run, work) as cluster:
        begin = time.perf_counter()
        if cluster is None:
            command = [sys.executable, "-m", "anoncore", "run", "--engine", "disk", *words]
            process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        else:
            process = cluster.run(*words, options=options)
        memory = Memory(process.pid, [one.pid for one in cluster.processes] if cluster is not None else [])
        memory.start()
        if run == "killed" and cluster is not None:
            while not list(shared.glob("*/*/rows/_SUCCESS")):
                assert process.poll() is None, process.communicate()[1][-3_000:]
                time.sleep(0.05)
            print(f"{'':10} worker killed after {time.perf_counter() - begin:.0f} s", flush=True)
            cluster.kill(cluster.workers[0])
        try:
            said, told = process.communicate()
            seconds = time.perf_counter() - begin
        finally:
            process.kill()
            memory.over.set()
            memory.join()
    assert process.returncode == 0, told[-3_000:]
    records = [json.loads(line) for line in told.splitlines() if line.startswith("{")]
    written = next((one["seconds"] for one in records if one.get("share", 0) >= CERTIFYING), seconds)
    return Measured(seconds, written, memory.peak, said.splitlines()[0])


def content(folder: Path, workspace: Path) -> str:
    """A digest of the published rows, whatever their order and their parts."""
    with closing(LargeTable(folder, workspace)) as found:
        return table_digest(found, "content", found.names)


@dataclass
class Recorded:
    """Jobs that overlapped: what they are called, when they ran in seconds, and the seconds of their tasks in turn."""

    name: str
    begin: float
    end: float
    tasks: list[float]


def recorded(events: Path) -> tuple[float, list[Recorded]]:
    """The seconds of a run, and its jobs, from the file in which Spark writes them."""
    stages: dict[int, Recorded] = {}
    tasks: dict[int, list[tuple[float, float]]] = {}
    ends = [0.0, 0.0]
    with events.open(encoding="utf-8") as lines:
        for event in map(json.loads, lines):
            kind = event["Event"]
            if kind in ("SparkListenerApplicationStart", "SparkListenerApplicationEnd"):
                ends[kind.endswith("End")] = event["Timestamp"] / 1000
            elif kind == "SparkListenerTaskEnd":
                times = event["Task Info"]
                seconds = (times["Launch Time"] / 1000, times["Finish Time"] / 1000)
                tasks.setdefault(event["Stage ID"], []).append(seconds)
            elif kind == "SparkListenerStageCompleted":
                told = event["Stage Info"]
                span = told["Submission Time"] / 1000, told["Completion Time"] / 1000
                stages[told["Stage ID"]] = Recorded(told["Stage Name"], *span, [])
    found: list[Recorded] = []
    for number, stage in sorted(stages.items(), key=lambda one: one[1].begin):
        own = [end - begin for begin, end in sorted(tasks.get(number, []))]
        if found and stage.begin < found[-1].end:
            found[-1].end = max(found[-1].end, stage.end)
            found[-1].tasks += own
        else:
            found.append(Recorded(stage.name, stage.begin, stage.end, own))
    return ends[1] - ends[0], found


def simulated(seconds: float, jobs: list[Recorded], processors: int) -> float:
    """Seconds of the run if its tasks had had so many processors."""
    alone = seconds - sum(job.end - job.begin for job in jobs)
    for job in jobs:
        free = [0.0] * processors
        for task in job.tasks:
            free[free.index(min(free))] += task
        alone += max(free)
    return alone


def tell_jobs(events: Path, processors: list[int]) -> None:
    """Print where the seconds of a run went, and those of a simulation."""
    seconds, jobs = recorded(events)
    longest = sorted(jobs, key=lambda job: job.begin - job.end)[:8]
    for job in sorted(longest, key=lambda job: job.begin):
        print(f"{'':10} {job.end - job.begin:6.1f} s in {len(job.tasks)} tasks: {job.name[:60]}")
    rest = sum(job.end - job.begin for job in jobs) - sum(job.end - job.begin for job in longest)
    print(f"{'':10} {rest:6.1f} s in {len(jobs) - len(longest)} other jobs; {seconds:.1f} s in all")
    told = ", ".join(f"{simulated(seconds, jobs, n):.0f} s with {n}" for n in processors)
    print(f"{'':10} simulated by its tasks: {told} processors", flush=True)


def main() -> None:
    """Make the table, run, compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--k", type=int, default=100)
    parser.add_argument("--memory-rows", type=int, default=500_000)
    parser.add_argument("--runs", nargs="+", choices=RUNS, default=RUNS)
    parser.add_argument("--table", type=Path, help="the folder that --keep wrote, with the same number of rows")
    parser.add_argument("--keep", type=Path, help="only write the table, to this folder")
    parser.add_argument("--folder", type=Path, help="where to work (default: the system's temporary folder)")
    parser.add_argument("--processors", nargs="+", type=int, help="tell where seconds went, and simulate so many")
    asked = parser.parse_args()
    if asked.keep is not None:
        make_table(asked.keep, asked.rows)
        return
    print(f"{asked.rows:,} rows, k = {asked.k}, memory_rows = {asked.memory_rows:,}, load {os.getloadavg()[0]:.1f}")
    with tempfile.TemporaryDirectory(dir=asked.folder) as name:
        work = Path(name)
        if asked.table is None:
            make_table(work / "table", asked.rows)
        else:
            (work / "table").symlink_to(asked.table.resolve())
        write_recipe(work / "table.toml", asked.k, asked.memory_rows)
        before: tuple[object, ...] | None = None
        for run in asked.runs:
            output = work / f"{run}.parquet"
            events = work / f"events-{run}" if asked.processors and run != "disk" else None
            one = measured(run, work, output, events, max(asked.processors or [0]))
            taken = {name: f"{most / 1e9:.2f} GB" for name, most in one.memory.items()}
            print(
                f"{run:10} {one.seconds:7.1f} s, of which {one.written:.1f} s until the parts were written; "
                f"{taken['here']} where the run starts, {taken['workers']} of the cluster, {taken['all']} in all",
                flush=True,
            )
            print(f"{'':10} {one.groups}", flush=True)
            if events is not None:
                tell_jobs(next(events.iterdir()), asked.processors)
            found = (stated(output), content(output, work))
            if before is not None:
                assert found[0] == before[0], f"The certificate of {run} states something else."
                assert found[1] == before[1], f"The rows of {run} are others."
                print(f"{'':10} the same certificate and the same rows as the run before", flush=True)
            before = found


if __name__ == "__main__":
    main()
