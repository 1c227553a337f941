"""Releases in parts at size: run, certificate and verification beside plain copies of the table, and what grows how.

    python -m tests.benchmarks.parts --rows 1000000 --k 100 --forge
    python -m tests.benchmarks.parts --rows 10000000 100000000 --k 1000 10 --algorithm rothko-sampling --folder /scratch

Every step runs in a process of its own, so that its peak of memory is its own. The table is copied by DuckDB and by
pyarrow, before the runs and after them, and the faster way is what runs are compared with. A run should take at most
twice a plain copy, with a certificate four times, and no step more than 2 GB; from one size to the next nothing should
take longer than the rows grow. With `--forge`, plain reads of the parts and verifications take turns in one process,
and three forgeries have to be refused.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from statistics import median
from time import perf_counter, process_time

import pyarrow as pa
import pyarrow.parquet as pq

from anoncore.datasets.rothko_synthetic import ATTRIBUTES, chunks
from anoncore.publishing import verify_folder
from anoncore.sources.parquet import write_rows

CHUNK = 1 << 20
RATIOS = {"run": 2.0, "certified run": 4.0}
"""Plain copies that a step should take at most."""
RECIPE = """
[source]
path = "table.parquet"
[roles]
{roles}
[algorithm]
name = "{algorithm}"
memory_rows = {memory_rows}
requirements = [
    {{ name = "k-anonymity", k = {k} }},
    {{ name = "distinct-diversity", l = 2 }},
    {{ name = "t-closeness", t = 0.6, ground = "ordered" }},
]
"""
MEASURED = """
import json, resource, runpy, sys
sys.argv = sys.argv[1:]
try:
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
finally:
    used = resource.getrusage(resource.RUSAGE_SELF)
    print(json.dumps([used.ru_utime + used.ru_stime, used.ru_maxrss * 1024]), file=sys.stderr)
"""
COPIES = {
    "DuckDB": """
import sys, duckdb
database = duckdb.connect()
database.execute("SET preserve_insertion_order = false")
database.execute(f"COPY (FROM '{sys.argv[1]}') TO '{sys.argv[2]}' (FORMAT parquet)")
""",
    "pyarrow": """
import sys, pyarrow.parquet as pq
with pq.ParquetFile(sys.argv[1]) as source, pq.ParquetWriter(sys.argv[2], source.schema_arrow) as target:
    for group in range(source.num_row_groups):
        target.write_table(source.read_row_group(group))
""",
}


@dataclass(frozen=True)
class Step:
    """What a process took: seconds, seconds of CPU and the peak of its memory in bytes, and what it printed."""

    seconds: float
    cpu: float
    peak: int
    said: str = ""


def make_table(path: Path, n_rows: int) -> None:
    """Write the synthetic table of the Rothko paper."""
    writer = None
    for frame in chunks(n_rows, CHUNK, 0, ["C2"]):
        table = pa.Table.from_pandas(frame, preserve_index=False).replace_schema_metadata(None)
        writer = writer or pq.ParquetWriter(path, table.schema)
        writer.write_table(table)
    assert writer is not None
    writer.close()


def timed(what: str, *words: str, expected: int = 0, code: str = MEASURED) -> Step:
    """Run anoncore with some words, or the code with them; prints and gives what it took."""
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), perf_counter()
    module = ["anoncore"] if code == MEASURED else []
    done = subprocess.run([sys.executable, "-c", code, *module, *words], capture_output=True, text=True)
    seconds, after = perf_counter() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    assert done.returncode == expected, done.stderr + done.stdout
    cpu, peak = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, 0
    if code == MEASURED:
        cpu, peak = json.loads(done.stderr.strip().splitlines()[-1])
    memory = f", {peak / 1e9:.2f} GB" if peak else ""
    print(f"  {what:32} {seconds:7.1f} s, {cpu:6.1f} s CPU{memory} (load {os.getloadavg()[0]:.1f})", flush=True)
    return Step(seconds, cpu, peak, done.stdout)


def copied(table: Path, target: Path) -> dict[str, Step]:
    """The table copied in both ways."""
    found = {}
    for name, code in COPIES.items():
        found[name] = timed(f"plain copy by {name}", str(table), str(target), code=code)
        target.unlink()
    return found


def fastest(copies: Sequence[dict[str, Step]]) -> tuple[str, Step]:
    """The faster way of copying, by its median of seconds, and the medians of what it took."""
    name = min(COPIES, key=lambda one: median(turn[one].seconds for turn in copies))
    seconds, cpu = (median(getattr(turn[name], what) for turn in copies) for what in ("seconds", "cpu"))
    return name, Step(seconds, cpu, 0)


def plain_read(folder: Path) -> None:
    """Read every row group of every part and keep none."""
    for path in sorted(folder.glob("*.parquet")):
        file = pq.ParquetFile(path)
        for group in range(file.num_row_groups):
            file.read_row_group(group)


def used(work: Callable[[Path], object], folder: Path) -> tuple[float, float]:
    """Seconds and CPU seconds of this process that some work on a folder takes."""
    begin, cpu = perf_counter(), process_time()
    work(folder)
    return perf_counter() - begin, process_time() - cpu


def compared(folder: Path, repetitions: int) -> None:
    """Read the parts and verify them in turns, in one process; prints the medians and their ratios.

    What else the machine does changes from one moment to the next, so that only what is measured in turns compares.
    """
    assert verify_folder(folder).holds  # and whatever there is to compile is compiled
    turns = [(*used(plain_read, folder), *used(verify_folder, folder)) for _ in range(repetitions)]
    read, read_cpu, checked, checked_cpu = (median(column) for column in zip(*turns, strict=True))
    print(f"{'plain read of the parts':32} {read:7.2f} s, {read_cpu:.2f} s CPU")
    print(f"{'verification alone':32} {checked:7.2f} s, {checked_cpu:.2f} s CPU")
    print(f"verification {checked / read:.2f} x a plain read, {checked_cpu / read_cpu:.2f} x its CPU", flush=True)


def forgeries(folder: Path) -> None:
    """Change a cell, leave a part out, add one: each must be refused with its name."""
    part = sorted(folder.glob("*.parquet"))[0]
    kept = part.read_bytes()
    table = pq.read_table(part)
    cells = table.column("car").to_pylist()
    cells[len(cells) // 2] += 1
    changed = table.set_column(table.schema.get_field_index("car"), "car", pa.array(cells, table.column("car").type))
    write_rows(part, changed.schema, [changed])
    said = timed("verify, one changed cell", "verify", str(folder), expected=1).said
    assert f"'{part.name}' is not as certified: values or the order of 'car' were changed" in said, said
    part.unlink()
    said = timed("verify, one missing part", "verify", str(folder), expected=1).said
    assert f"'{part.name}', a part with" in said, said
    part.write_bytes(kept)
    shutil.copy(part, folder / "part-99999.parquet")
    said = timed("verify, one added part", "verify", str(folder), expected=1).said
    assert "'part-99999.parquet' is no file that was certified" in said, said
    (folder / "part-99999.parquet").unlink()


def measured(asked: argparse.Namespace, table: Path, work: Path, k: int) -> dict[str, Step]:
    """A run without and with a certificate, and its verification."""
    known = [one for one in ATTRIBUTES if one != "car"]
    roles = "\n".join([*(f'{one} = "quasi-identifier"' for one in known), 'car = "sensitive"'])
    recipe = work / "table.toml"
    fields = {"roles": roles, "algorithm": asked.algorithm, "k": k, "memory_rows": asked.memory_rows}
    recipe.write_text(RECIPE.format(**fields).replace("table.parquet", table.name), encoding="utf-8")
    # A table that was made before lies elsewhere, where a recipe reads nothing unless it is allowed to.
    words = ["run", str(recipe), "--engine", "disk", "--quiet", "--allow-path", str(table.resolve())]
    words += ["--memory", asked.memory] if asked.memory else []
    steps = {"run": timed("run without a certificate", *words, "--no-certificate", "--output", str(work / "bare"))}
    shutil.rmtree(work / "bare")
    certified = [*words, "--key-file", str(work / "key.txt"), "--output", str(work / "out")]
    steps["certified run"] = timed("run with a certificate", *certified)
    folder = Path(shutil.move(work / "out" / "table-release", work / "elsewhere"))
    size = sum(one.stat().st_size for one in folder.iterdir())
    print(f"  {len(list(folder.glob('*.parquet')))} parts of {size / 1e6:.0f} MB, moved to another folder")
    steps["verification"] = timed("verify", "verify", str(folder))
    print(f"  {steps['verification'].said.splitlines()[-1]}")
    if asked.forge:
        compared(folder, asked.repetitions)
        forgeries(folder)
    shutil.rmtree(folder)
    (work / "key.txt").unlink()
    return steps


def main() -> None:
    """Make the tables, copy, run and verify."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000_000])
    parser.add_argument("--k", type=int, nargs="+", default=[100])
    parser.add_argument("--algorithm", choices=["rothko-tree", "rothko-sampling"], default="rothko-tree")
    parser.add_argument("--memory-rows", type=int, default=1_000_000, help="rows of a part (%(default)s)")
    parser.add_argument("--memory", help="what a run may take, such as 1GB")
    parser.add_argument("--table", type=Path, nargs="+", default=[], help="tables that were made before, in this order")
    parser.add_argument("--folder", type=Path, help="where to work (default: the system's temporary folder)")
    parser.add_argument("--forge", action="store_true", help="forge the release, and compare with plain reads of it")
    parser.add_argument("--repetitions", type=int, default=5, help="how often a plain read and a verification compare")
    asked = parser.parse_args()
    print(f"{os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}, {asked.algorithm}")
    before: dict[tuple[int, str], tuple[int, Step]] = {}
    with tempfile.TemporaryDirectory(dir=asked.folder) as name:
        work = Path(name)
        for rows, given in zip_longest(asked.rows, asked.table):
            table = work / f"table-{rows}.parquet"
            if given is None:
                make_table(table, rows)
            else:
                table.symlink_to(given.resolve())
            print(f"{rows:,} rows, {table.stat().st_size / 1e6:.0f} MB", flush=True)
            copies, found = [copied(table, work / "copy.parquet")], {}
            for k in asked.k:
                print(f" k = {k}", flush=True)
                found[k] = measured(asked, table, work, k)
                copies.append(copied(table, work / "copy.parquet"))
            way, copy = fastest(copies)
            print(f" beside a plain copy by {way}: {copy.seconds:.1f} s, {copy.cpu:.1f} s CPU")
            for k, steps in found.items():
                for what, step in steps.items():
                    line = (
                        f"  k = {k}: {what} {step.seconds / copy.seconds:.2f} x the time, {step.cpu / copy.cpu:.2f} x "
                    )
                    line += "the CPU" + (f" (at most {RATIOS[what]:.0f})" if what in RATIOS else "")
                    if (k, what) in before:
                        fewer, earlier = before[k, what]
                        growth = [
                            f"{step.seconds / earlier.seconds:.1f} x the time",
                            f"{step.cpu / earlier.cpu:.1f} x the CPU",
                        ]
                        line += f"; {' and '.join(growth)} of {rows / fewer:.0f} x fewer rows"
                    print(line, flush=True)
                    before[k, what] = (rows, step)
            table.unlink()


if __name__ == "__main__":
    main()
