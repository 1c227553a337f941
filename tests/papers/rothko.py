"""Figures 8 to 28 of the Rothko paper at scaled sizes, ours beside what the paper states.

    python -m tests.papers.rothko --output DIR [--quick]

The paper has 50 million rows of which 2 million fit in memory and k = 1,000; here R rows, R / 25 in memory and
k = R / 50,000, so that the trees have the same shape. Reads and writes are counted in rows of the whole table, times in
processor seconds (of this machine). Figures 22 to 28 have the paper's 100,000 rows unless --quick. Linux only.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from itertools import chain
from pathlib import Path

import numpy as np
import pandas as pd
import plotly.express as px
import pyarrow as pa
import pyarrow.parquet as pq

from anoncore import Microdata
from anoncore.algorithms import Mondrian, RothkoSampling, RothkoTree
from anoncore.datasets.rothko_synthetic import ATTRIBUTES, chunks
from anoncore.requirements import KAnonymity
from tests.papers.findings import listed
from tests.papers.rothko_io import sampling_io, tree_height, tree_io
from tests.papers.rothko_quality import classification_and_regression, pruning
from tests.papers.rothko_runs import Report, sampling_run, synthetic, tree_run

PAPER_ROWS, PAPER_MEMORY, PAPER_K = 50_000_000, 2_000_000, 1000
PIECE = 100_000
"""Rows of the table that are made at a time."""
CACHES = (1, 2, 4, 8, 16, 32)
ROWS = "rows that are read and written, counted by the rows themselves"
CLASSES = "the rows of every class"
SECONDS = "processor seconds"
LEAST_SLOPE = 0.05
"""Gigabytes per million rows by which what memory holds must grow at least."""
IO_COLUMNS = ("read", "read (model)", "written", "written (model)")


def frontier(data, groups: int, classes: int = 1) -> float:  # type: ignore[no-untyped-def]
    """Megabytes that hold the largest frequency set of so many whole tables."""
    return groups * max(len(data.domain[name]) for name in data.quasi_identifiers) * 4 * classes / 1e6


def scaled(rows: int) -> tuple[int, int]:
    """Rows in memory and k for so many rows."""
    return rows * PAPER_MEMORY // PAPER_ROWS, max(rows * PAPER_K // PAPER_ROWS, 2)


def need(report: Report, sizes: tuple[int, ...]) -> None:
    """Figures 8 and 9: what the in-memory algorithm takes as rows grow, beside the run on disk."""
    lines = []
    for task in ("mondrian", "rothko-sampling"):
        for rows in sizes:
            lines.append({"algorithm": task, "rows": rows, **needed(task, rows)})
    found = pd.DataFrame(lines)
    report.save("figures-8-9", found, px.line(found, x="rows", y="peak GB", color="algorithm", markers=True))
    peaks = found.pivot_table(index="rows", columns="algorithm", values="peak GB")
    slope = np.polyfit(peaks.index, peaks["mondrian"], 1)[0] * 1e6
    flat = np.polyfit(peaks.index, peaks["rothko-sampling"], 1)[0] * 1e6
    report.state(
        "8",
        "The in-memory algorithm outgrows memory with the rows; a scalable one does not.",
        slope >= LEAST_SLOPE and slope > 4 * max(flat, 0.0) and bool((peaks > 0).all(axis=None)),
        f"{slope:.2f} GB per million rows in memory, {flat:.2f} GB on disk with 125,000 rows in memory",
        least=f"{LEAST_SLOPE:g} GB per million rows, and four times what is needed on disk",
        oracle="the largest memory of a process of its own, by the system",
    )


def needed(task: str, rows: int) -> dict[str, float]:
    """What one run takes in a process of its own."""
    command = [sys.executable, "-m", "tests.papers.rothko", "--child", task, str(rows)]
    found: dict[str, float] = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout)
    return found


def write(rows: int, file: Path) -> None:
    """The table in a file, made piece by piece so that it never is in memory as a whole."""
    pieces = (pa.Table.from_pandas(frame, preserve_index=False) for frame in chunks(rows, PIECE))
    first = next(pieces)
    with pq.ParquetWriter(file, first.schema) as writer:
        for piece in chain([first], pieces):
            writer.write_table(piece)


def need_child(task: str, rows: int) -> None:
    """One run in this process; prints its peak memory and time."""
    from anoncore.engines.large_run import anonymize_table
    from anoncore.engines.spool import Tags
    from anoncore.sources.large_table import LargeTable

    begun = time.process_time()
    if task == "mondrian":
        Mondrian((KAnonymity(k=1000),), strict=True).anonymize(synthetic(rows))
    else:
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder) / "table.parquet"
            write(rows, source)
            model = RothkoSampling((KAnonymity(k=1000),), memory_rows=125_000, seed=0)
            roles = dict.fromkeys(ATTRIBUTES, "quasi-identifier")
            anonymize_table(lambda work: LargeTable(source, work), Tags(roles), model, Path(folder) / "out")
    status = Path("/proc/self/status").read_text(encoding="ascii")
    peak = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM"))
    print(json.dumps({"peak GB": peak * 1024 / 1e9, "cpu s": time.process_time() - begun}))


def input_output(report: Report, rows: int) -> None:
    """Figures 10 to 12: tables read and written, counted and by the model of section 4."""
    data = synthetic(rows)
    memory, k = scaled(rows)
    lines = []
    for cache in CACHES:
        model = RothkoTree((KAnonymity(k=k),), memory_rows=memory, frontier_memory=frontier(data, cache))
        found = tree_run(data, model)
        expected = tree_io(1.0, rows, memory, cache)
        lines.append((cache, found.read, expected.reads, found.written, expected.writes, found.counters.scans))
    tree = pd.DataFrame(lines, columns=["F_CACHE", *IO_COLUMNS, "scans"])
    report.save("figure-10", tree, px.line(tree.melt("F_CACHE"), x="F_CACHE", y="value", color="variable"))
    for what in ("read", "written"):
        tables = tree[what].tolist()
        report.state(
            "10",
            f"Increasing F_CACHE reduces what is {what}, less and less.",
            tables == sorted(tables, reverse=True)
            and tables[0] - tables[1] >= 1
            and tables[0] - tables[1] > tables[-2] - tables[-1],
            f"tables {what}: {', '.join(f'{one:.2f}' for one in tables)}",
            least="never more with a larger one; at least a table less at the first step, fewer at the last",
            oracle=ROWS,
        )
    # With memory for all counts every scan is one of the whole table, and there is one for each level.
    levels, height = int(tree["scans"].iloc[-1]), tree_height(rows, memory)
    report.state(
        "10",
        "As many tables are read as the model says (at most a tenth more or less).",
        (tree["read"] / tree["read (model)"] - 1).abs() <= 0.1,
        f"{', '.join(f'{one:.1f}' for one in tree['read'])} tables read, by the model "
        f"{', '.join(f'{one:.0f}' for one in tree['read (model)'])}",
        f"the model halves the rows at each of {height} levels; medians of values that many rows share do not, so that "
        f"{levels} levels are scanned until every part fits in memory, though only some rows are left in the last one",
        f"`figure-10-distinct`, three attributes of which no two rows share a value: {distinct_values(report, rows)} "
        "tables read",
        least="as stated",
        oracle=ROWS + "; the model of section 4",
    )
    report.state(
        "10",
        "The model bounds what is written (sets shrink on the way down, so that more fit than it says).",
        (tree["written"] <= tree["written (model)"] + 1e-9) & (tree["written"] >= tree["written (model)"] / 2),
        f"at most {(tree['written'] - tree['written (model)']).max():+.2f} tables off",
        "sets shrink on the way down, so that more of them fit into memory and rows are written less often",
        "`figure-10`",
        least="at least half of what the model says is written",
        oracle=ROWS + "; the model of section 4",
    )
    read_by_sampling(report, rows)
    scale_up(report, rows)


def read_by_sampling(report: Report, rows: int, parts: Sequence[int] = (16, 8, 4, 2, 1)) -> None:
    """Figure 11: tables read and written by RothkoSampling, over the size of the sample, such parts of the memory."""
    data, (memory, k) = synthetic(rows), scaled(rows)
    lines = []
    for share in parts:
        model = RothkoSampling((KAnonymity(k=k),), memory_rows=memory // share, seed=0, growth="confident")
        found = sampling_run(data, model)
        expected = sampling_io(1.0, rows, memory // share, k)
        as_asked = set(found.samples) == {memory // share} and found.smallest >= k
        lines.append((memory // share, found.read, expected.reads, found.written, expected.writes, as_asked))
    sample = pd.DataFrame(lines, columns=["sample", *IO_COLUMNS, "as asked"])
    asked = sample.pop("as asked")
    report.save("figure-11", sample, px.line(sample.melt("sample"), x="sample", y="value", color="variable"))
    small = (
        "samples of a few hundred rows leave parts larger than memory or no confident cut, so that rows are divided or "
        "scanned once more"
    )
    for what, times in (("written", 1), ("read", 3)):
        report.state(
            "11",
            f"For a wide range of sample sizes the table is {what} {'once' if times == 1 else 'three times'}.",
            ((sample[what] - times).abs() < 0.5) & asked,
            f"{sample[what].min():.2f} to {sample[what].max():.2f} times, samples of {sample['sample'].min():,} to "
            f"{sample['sample'].max():,} rows",
            small,
            "`figure-11`: only the smallest samples are read and written more often",
            least="half a table more or less, with samples of the size that was asked for and classes of k rows",
            oracle=ROWS + "; rows that are drawn",
        )


def distinct_values(report: Report, rows: int) -> str:
    """Figure 10 where medians halve the rows: the tables read by cache, in words."""
    rng = np.random.default_rng(0)
    names = ("salary", "hvalue", "loan")
    frame = pd.DataFrame({name: rng.permutation(rows) for name in names})
    data, (memory, k) = Microdata(frame, dict.fromkeys(names, "quasi-identifier")), scaled(rows)
    lines = []
    for cache in CACHES:
        found = tree_run(
            data, RothkoTree((KAnonymity(k=k),), memory_rows=memory, frontier_memory=frontier(data, cache))
        )
        lines.append((cache, found.read, tree_io(1.0, rows, memory, cache).reads))
    read = pd.DataFrame(lines, columns=["F_CACHE", "read", "read (model)"])
    report.save("figure-10-distinct", read)
    return ", ".join(f"{one:.1f}" for one in read["read"])


def scale_up(report: Report, rows: int) -> None:
    """Figure 12: rows read and written as the table grows."""
    memory, k = scaled(rows)
    lines = []
    for part in (rows // 8, rows // 4, rows // 2, rows):
        less = synthetic(part)
        for cache in (1, 8):
            model = RothkoTree((KAnonymity(k=k),), memory_rows=memory, frontier_memory=frontier(less, cache))
            found, expected = tree_run(less, model), tree_io(part, part, memory, cache)
            lines.append((part, f"tree, F_CACHE {cache}", (found.read + found.written) * part, sum(expected)))
        found = sampling_run(less, RothkoSampling((KAnonymity(k=k),), memory_rows=memory, seed=0))
        lines.append((part, "sampling", (found.read + found.written) * part, sum(sampling_io(part, part, memory, k))))
    grown = pd.DataFrame(lines, columns=["rows", "algorithm", "rows read and written", "by the model"])
    report.save("figure-12", grown, px.line(grown, x="rows", y="rows read and written", color="algorithm"))
    wide = grown.pivot_table(index="rows", columns="algorithm", values="rows read and written")
    models = grown.pivot_table(index="rows", columns="algorithm", values="by the model")
    modelled = models["tree, F_CACHE 8"] / models["sampling"]
    report.state(
        "12",
        "RothkoTree reads and writes substantially more than RothkoSampling (at least 1.3 times).",
        wide["tree, F_CACHE 8"] >= 1.3 * wide["sampling"],
        "; ".join(
            f"{listed((wide[name] / wide['sampling']).tolist(), 1)} times as much with {name.removeprefix('tree, ')}"
            for name in ("tree, F_CACHE 8", "tree, F_CACHE 1")
        ),
        f"where a table is {wide.index[0] / memory:.0f} times the memory the paper's own model says "
        f"{modelled.iloc[0]:.2f} times",
        "`figure-12`, column by the model",
        least="as stated",
        oracle=ROWS,
    )
    for name, statement in (
        (
            "tree, F_CACHE 1",
            "RothkoTree does not scale linearly: more is read and written for a row of a larger table.",
        ),
        ("sampling", "RothkoSampling reads and writes a row of a larger table as often (at most a tenth more)."),
    ):
        often = wide[name] / wide.index
        report.state(
            "12",
            statement,
            bool(often.is_monotonic_increasing and often.iloc[-1] > 1.5 * often.iloc[0])
            if name != "sampling"
            else bool(often.max() <= 1.1 * often.min() and often.min() >= 2.5),
            f"{listed(often.tolist(), 1)} times for {', '.join(f'{part:,}' for part in wide.index)} rows",
            least="1.5 times from the smallest table to the largest" if name != "sampling" else "two reads and a write",
            oracle=ROWS,
        )


def times(report: Report, rows: int) -> None:
    """Figures 13 to 21: processor seconds over rows and k, median and information gain."""
    memory, k = scaled(rows)
    lines, minimal = [], dict[str, list[bool]](median=[], infogain=[])
    cases = [("median", part, k) for part in (rows // 4, rows // 2, rows)]
    cases += [("median", rows, other) for other in (k // 2 or 1, 5 * k, 25 * k)]
    cases += [("infogain", part, k) for part in (rows // 4, rows // 2, rows)]
    for split, part, own_k in cases:
        data = synthetic(part, target="C2")
        fields = {"requirements": (KAnonymity(k=own_k),), "split": split, "target": "C2", "memory_rows": memory}
        for cache in (1, 8 if split == "median" else 4):
            # One set of a table has 130,001 to 1.3 million codes; with the class three numbers each.
            megabytes = frontier(data, cache, 3 if split == "infogain" else 1)
            found = tree_run(data, RothkoTree(**fields, frontier_memory=megabytes))
            lines.append((split, part, own_k, f"tree, F_CACHE {cache}", found.seconds, found.groups))
        found = sampling_run(data, RothkoSampling(**fields, seed=0))
        lines.append((split, part, own_k, "sampling", found.seconds, found.groups))
        minimal[split].append(found.groups > 1 and found.smallest >= own_k and found.is_minimal(own_k))
    timed = pd.DataFrame(lines, columns=["split", "rows", "k", "algorithm", "cpu s", "groups"])
    plot = px.line(timed[timed["k"] == k], x="rows", y="cpu s", color="algorithm", facet_col="split", markers=True)
    report.save("figures-13-21", timed, plot)
    wide = timed.pivot_table(index=["split", "rows", "k"], columns="algorithm", values="cpu s")
    named = {"13": ("median", "tree, F_CACHE 1"), "14": ("median", "tree, F_CACHE 8")}
    named |= {"19": ("infogain", "tree, F_CACHE 1"), "20": ("infogain", "tree, F_CACHE 4")}
    for figure, (split, name) in named.items():
        own = wide.loc[split]
        times = own[name] / own["sampling"]
        report.state(
            figure,
            f"RothkoSampling takes less processor time than this RothkoTree ({split}, {name}).",
            times > 1,
            f"{times.min():.1f} to {times.max():.1f} times",
            "with many frequency sets in memory the tree is scanned seldom, and drawing and testing samples costs more",
            f"`figures-13-21`, {name}",
            timed=True,
            least="less in each case",
            oracle=SECONDS,
        )
    for figure, name in (("16", "tree, F_CACHE 1"), ("17", "tree, F_CACHE 8"), ("18", "sampling"), ("15", "sampling")):
        own = timed[(timed["split"] == "median") & (timed["algorithm"] == name)]
        over = "k" if figure != "15" else "rows"
        own = own[own["rows"] == rows] if over == "k" else own[own["k"] == k]
        own = own.sort_values(over)
        seconds = own["cpu s"].to_numpy()
        falls, grows = seconds[:-1] > seconds[1:], bool((seconds[:-1] < seconds[1:]).all())
        report.state(
            figure,
            f"A smaller k leads to more computation ({name})."
            if over == "k"
            else "RothkoSampling scales to larger tables: time grows with the rows, no faster than in proportion.",
            falls if over == "k" else grows and seconds[-1] / seconds[0] < 1.5 * 4,
            ", ".join(f"{one[0]:,}: {one[1]:.2f} s" for one in own[[over, "cpu s"]].to_numpy().tolist()),
            "most of the time is spent before nodes are as small as k",
            "`figures-13-21`",
            timed=True,
            least="more at each step to a smaller k" if over == "k" else "1.5 times the rows' growth at most",
            oracle=SECONDS,
        )
    for figure, split in (("15", "median"), ("18", "median"), ("21", "infogain")):
        report.state(
            figure,
            f"The partitions of RothkoSampling are minimal ({split}).",
            minimal[split],
            f"no class can be cut further in {sum(minimal[split])} of {len(minimal[split])} runs",
            "a part larger than memory had no confident cut",
            "`figures-13-21`",
            least="several classes, each of k rows, and no cut of any of them leaves k rows on both sides",
            oracle="every cut of " + CLASSES,
        )
    gain = (
        timed[timed["algorithm"] == "sampling"]
        .pivot_table(index=["rows", "k"], columns="split", values="cpu s")
        .dropna()
    )
    report.state(
        "21",
        "Information gain takes more processor time than the median (RothkoSampling).",
        gain["infogain"] > gain["median"],
        f"{(gain['infogain'] / gain['median']).median():.1f} times",
        timed=True,
        least="more in each case",
        oracle=SECONDS,
    )


def main() -> None:
    """Print and write everything."""
    if sys.argv[1:2] == ["--child"]:
        need_child(sys.argv[2], int(sys.argv[3]))
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, help="folder for tables and plots (default: a new one)")
    parser.add_argument("--quick", action="store_true", help="smaller tables: a few minutes")
    parser.add_argument("--tables", type=int, default=10, help="tables that are averaged (the paper: 10; --quick: 2)")
    arguments = parser.parse_args()
    folder = arguments.output or Path(tempfile.mkdtemp(prefix="rothko-"))
    folder.mkdir(parents=True, exist_ok=True)
    report = Report(folder)
    quick = arguments.quick
    need(report, (1_000_000, 2_000_000, 3_000_000) if quick else (1_000_000, 2_000_000, 4_000_000, 8_000_000))
    input_output(report, 250_000 if quick else 2_000_000)
    times(report, 250_000 if quick else 2_000_000)
    classification_and_regression(report, 20_000 if quick else 100_000, tables=2 if quick else arguments.tables)
    pruning(report, 20_000 if quick else 100_000)
    report.save("statements", pd.DataFrame(report.statements))
    print(f"\nTables and plots are in {folder}")


if __name__ == "__main__":
    main()
