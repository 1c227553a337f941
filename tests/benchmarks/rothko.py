"""Rothko on tables larger than memory: time, processor time and peak memory beside one plain read and write.

    python -m tests.benchmarks.rothko --rows 10000000 --k 1000 10 --folder /tmp/rothko

Generates the table of the paper (figure 7) as one Parquet file in `--folder`, and runs every variant in a process of
its own. Peak memory is VmHWM of that process. The folder is removed at the end unless `--keep` is given. Linux only.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from anoncore.datasets.rothko_synthetic import ATTRIBUTES, chunks

VARIANTS = ("rothko-sampling", "rothko-tree")
CHUNK_ROWS = 1_000_000


def generate(rows: int, file: Path) -> None:
    """Write the table chunk by chunk; nothing if it is there with so many rows."""
    if file.exists() and pq.read_metadata(file).num_rows == rows:
        return
    writer = None
    for frame in chunks(rows, CHUNK_ROWS):
        chunk = pa.Table.from_pandas(frame, preserve_index=False)
        writer = writer or pq.ParquetWriter(file, chunk.schema)
        writer.write_table(chunk)
    if writer is not None:
        writer.close()


def plain_copy(source: Path, target: Path) -> dict[str, object]:
    """Read and write the file once, batch by batch."""
    with pq.ParquetFile(source) as file, pq.ParquetWriter(target, file.schema_arrow) as writer:
        for batch in file.iter_batches(CHUNK_ROWS):
            writer.write_batch(batch)
    return {}


def anonymize(source: Path, target: Path, variant: str, k: int) -> dict[str, object]:
    """One run on disk."""
    from anoncore.algorithms import ALGORITHMS
    from anoncore.engines.large_run import anonymize_table
    from anoncore.engines.spool import Tags
    from anoncore.requirements import KAnonymity
    from anoncore.sources.large_table import LargeTable

    seed = {"seed": 1} if variant == "rothko-sampling" else {}
    run = anonymize_table(
        lambda workspace: LargeTable(source, workspace),
        Tags(roles=dict.fromkeys(ATTRIBUTES, "quasi-identifier")),
        ALGORITHMS[variant](requirements=(KAnonymity(k=k),), **seed),
        target,
    )
    return {"groups": run.n_groups, "loss": round(run.information_loss, 4), "note": run.notes[-1]}


def child(arguments: list[str]) -> None:
    """Do one task in this process and print what it took as JSON."""
    task, source, target, k = arguments[0], Path(arguments[1]), Path(arguments[2]), int(arguments[3])
    begun = time.perf_counter()
    found = plain_copy(source, target) if task == "copy" else anonymize(source, target, task, k)
    wall = time.perf_counter() - begun
    used = resource.getrusage(resource.RUSAGE_SELF)
    status = Path("/proc/self/status").read_text(encoding="ascii")
    peak = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM"))
    print(json.dumps({"wall": wall, "cpu": used.ru_utime + used.ru_stime, "peak": peak * 1024, **found}))


def measured(task: str, source: Path, target: Path, k: int = 0) -> dict[str, object]:
    """What a task took in a process of its own."""
    command = [sys.executable, "-m", "tests.benchmarks.rothko", "--child", task, str(source), str(target), str(k)]
    result = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout)
    if target.is_dir():
        shutil.rmtree(target)
    else:
        target.unlink()
    return result


def main() -> None:
    if sys.argv[1:2] == ["--child"]:
        child(sys.argv[2:])
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[10_000_000])
    parser.add_argument("--k", type=int, nargs="+", default=[1000, 10])
    parser.add_argument("--variant", nargs="+", choices=VARIANTS, default=VARIANTS)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--keep", action="store_true")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
    heads = f"{'task':<16} {'wall s':>7} {'x copy':>7} {'cpu s':>7} {'peak GB':>8} {'groups':>10}  loss"
    print(f"{'rows':>12} {'k':>5} {heads}")
    for rows in options.rows:
        source = options.folder / f"rothko-{rows}.parquet"
        generate(rows, source)
        copy = measured("copy", source, options.folder / "copy.parquet")
        print(f"{rows:>12,} {'':>5} {'plain copy':<16} {copy['wall']:>7.1f} {1:>7.1f} {copy['cpu']:>7.1f}", flush=True)
        for k in options.k:
            for variant in options.variant:
                one = measured(variant, source, options.folder / "release", k)
                print(
                    f"{rows:>12,} {k:>5} {variant:<16} {one['wall']:>7.1f} {one['wall'] / copy['wall']:>7.1f} "
                    f"{one['cpu']:>7.1f} {one['peak'] / 1e9:>8.2f} {one['groups']:>10,}  {one['loss']}  "
                    f"(load {os.getloadavg()[0]:.1f})",
                    flush=True,
                )
                print(f"{'':>20}{one['note']}", flush=True)
        if not options.keep:
            source.unlink()
    if not options.keep:
        shutil.rmtree(options.folder)


if __name__ == "__main__":
    main()
