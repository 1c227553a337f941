"""Releases in parts at size: run, certificate and verification beside one plain read of the parts, and three forgeries.

    python -m tests.benchmarks.parts --rows 1000000 --k 100
    python -m tests.benchmarks.parts --rows 50000000 --k 1000 --folder /scratch

Every step runs in a process of its own, so that its peak of memory is its own; then plain reads and verifications take
turns in one process. A verification should take at most about twice a plain read, and less than 2 GB.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import perf_counter, process_time

import pyarrow as pa
import pyarrow.parquet as pq

from anoncore.datasets.rothko_synthetic import ATTRIBUTES, chunks
from anoncore.publishing import verify_folder

CHUNK = 1 << 20
RECIPE = """
[source]
path = "table.parquet"
[roles]
{roles}
[algorithm]
name = "{algorithm}"
memory_rows = 1_000_000
requirements = [
    {{ name = "k-anonymity", k = {k} }},
    {{ name = "distinct-diversity", l = 2 }},
    {{ name = "t-closeness", t = 0.6, ground = "ordered" }},
]
"""
MEASURED = """
import resource, runpy, sys
sys.argv = sys.argv[1:]
try:
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
finally:
    used = resource.getrusage(resource.RUSAGE_SELF)
    print(f"{used.ru_utime + used.ru_stime:.1f} s CPU, {used.ru_maxrss / 1e6:.2f} GB", file=sys.stderr)
"""


def make_table(path: Path, n_rows: int) -> None:
    """Write the synthetic table of the Rothko paper."""
    writer = None
    for frame in chunks(n_rows, CHUNK, 0, ["C2"]):
        table = pa.Table.from_pandas(frame, preserve_index=False).replace_schema_metadata(None)
        writer = writer or pq.ParquetWriter(path, table.schema)
        writer.write_table(table)
    assert writer is not None
    writer.close()


def timed(what: str, *words: str, expected: int = 0) -> tuple[float, str]:
    """Run anoncore with some words; prints and gives seconds, and what it printed."""
    begin = perf_counter()
    done = subprocess.run([sys.executable, "-c", MEASURED, "anoncore", *words], capture_output=True, text=True)
    seconds = perf_counter() - begin
    used = done.stderr.strip().splitlines()[-1]
    assert done.returncode == expected, done.stderr + done.stdout
    print(f"{what:32} {seconds:7.1f} s, {used}", flush=True)
    return seconds, done.stdout


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
    pq.write_table(
        table.set_column(table.schema.get_field_index("car"), "car", pa.array(cells, table.column("car").type)), part
    )
    _, said = timed("verify, one changed cell", "verify", str(folder), expected=1)
    assert f"'{part.name}' is not as certified: values or the order of 'car' were changed" in said, said
    part.unlink()
    _, said = timed("verify, one missing part", "verify", str(folder), expected=1)
    assert f"'{part.name}', a part with" in said, said
    part.write_bytes(kept)
    shutil.copy(part, folder / "part-99999.parquet")
    _, said = timed("verify, one added part", "verify", str(folder), expected=1)
    assert "'part-99999.parquet' is no file that was certified" in said, said
    (folder / "part-99999.parquet").unlink()


def main() -> None:
    """Make the table, run, verify and forge."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--k", type=int, default=100)
    parser.add_argument("--algorithm", choices=["rothko-tree", "rothko-sampling"], default="rothko-tree")
    parser.add_argument("--table", type=Path, help="a table that was made before, for the same number of rows")
    parser.add_argument("--folder", type=Path, help="where to work (default: the system's temporary folder)")
    parser.add_argument("--repetitions", type=int, default=5, help="how often a plain read and a verification compare")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=asked.folder) as name:
        work = Path(name)
        if asked.table is None:
            make_table(work / "table.parquet", asked.rows)
        else:
            (work / "table.parquet").symlink_to(asked.table.resolve())
        known = [one for one in ATTRIBUTES if one != "car"]
        roles = "\n".join([*(f'{one} = "quasi-identifier"' for one in known), 'car = "sensitive"'])
        recipe = work / "table.toml"
        recipe.write_text(RECIPE.format(roles=roles, algorithm=asked.algorithm, k=asked.k), encoding="utf-8")
        words = ["run", str(recipe), "--engine", "disk", "--quiet"]
        bare, _ = timed("run without certificate", *words, "--no-certificate", "--output", str(work / "bare"))
        whole, _ = timed("run with certificate and report", *words, "--report", "--output", str(work / "out"))
        folder = Path(shutil.move(work / "out" / "table-release", work / "elsewhere"))
        size = sum(one.stat().st_size for one in folder.iterdir())
        print(f"{len(list(folder.glob('*.parquet')))} parts of {size / 1e6:.0f} MB, moved to another folder")
        print(f"run {whole / bare:.2f} x the run without a certificate")
        _, said = timed("verify", "verify", str(folder))
        print(said.splitlines()[-1])
        compared(folder, asked.repetitions)
        forgeries(folder)


if __name__ == "__main__":
    main()
