"""anoncore beside other Python tools: the same machine, run and data (Adult), and our own curves, as tables.

Run: python -m tests.benchmarks.peers [--limit SECONDS] [--repeats N] [--rows N ...] [--markdown FILE] [--no-curves].
The other tools (dependency group "peers") need older numpy and pandas: they get an environment of their own, made in
the temporary folder at the first run. Each measurement is a process of its own, one after the other.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from tests.benchmarks.curves import Table, curves
from tests.benchmarks.page import write_chapter
from tests.benchmarks.peer_task import OUT_OF_TIME

ROOT = Path(__file__).parents[2]
DATA = ROOT.parent / "shared" / "data"
PATIENCE = 12
"""Seconds of wall time that a task may take per second of CPU time that it may take, on a busy machine."""
COMPARISONS: dict[str, list[tuple[str, str]]] = {
    "Mondrian, k = 10, from the frame to the published table": [
        ("anoncore", "anoncore mondrian median"),
        ("anoncore, split = loss", "anoncore mondrian loss"),
        ("anoncore, coded table to classes", "anoncore mondrian classes"),
        ("anonypy", "anonypy mondrian"),
        ("anonymity-api", "anonymity-api mondrian"),
    ],
    "Generalization to nodes of hierarchies, k = 10": [
        ("anoncore local recoding", "anoncore local-recoding"),
        ("anoncore Incognito, 5 % suppressed", "anoncore incognito"),
        ("anjana, 5 % suppressed", "anjana full-domain"),
    ],
    "Check of k": [("anoncore", "anoncore k"), ("pycanon", "pycanon k")],
    "Check of distinct l (occupation)": [("anoncore", "anoncore l"), ("pycanon", "pycanon l")],
    "Check of t, equal distance (14 occupations)": [("anoncore", "anoncore t equal"), ("pycanon", "pycanon t equal")],
    "Check of t, ordered distance (96 values of hours)": [
        ("anoncore", "anoncore t ordered"),
        ("pycanon", "pycanon t ordered"),
    ],
}


@dataclass(frozen=True)
class Measured:
    """One line of the table; `outcome` is what the process printed, or None with the `reason`."""

    comparison: str
    tool: str
    rows: int
    outcome: dict[str, Any] | None
    reason: str = ""

    @property
    def seconds(self) -> float:
        """Median CPU time: other work on the machine disturbs it least."""
        return statistics.median(self.outcome["cpu"]) if self.outcome else float("nan")


def peer_folder() -> Path:
    """Where the other tools' environment stands."""
    return Path(tempfile.gettempdir()) / "anoncore-peers"


def python_of(folder: Path) -> Path:
    """The Python of an environment."""
    return folder / "Scripts" / "python.exe" if os.name == "nt" else folder / "bin" / "python"


def peer_python() -> Path:
    """The Python that has the other tools; made where it is not there yet."""
    wanted = tomllib.loads((ROOT / "pyproject.toml").read_text())["dependency-groups"]["peers"]
    folder = peer_folder()
    python = python_of(folder)
    done = folder / "installed.json"
    if not done.exists() or json.loads(done.read_text()) != wanted:
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", *wanted], check=True)
        done.write_text(json.dumps(wanted))
    return python


def bootstrapped(adult: pd.DataFrame, n_rows: int) -> pd.DataFrame:
    """Rows drawn with replacement, age moved by up to two years."""
    rng = np.random.default_rng(0)
    frame = adult.iloc[rng.integers(0, len(adult), n_rows)].reset_index(drop=True)
    frame["age"] += rng.integers(-2, 3, n_rows)
    return frame


def run(python: Path, task: str, table: Path, limit: float, repeats: int) -> tuple[dict[str, Any] | None, str]:
    """What a task took, or None and why there is nothing."""
    script = Path(__file__).with_name("peer_task.py")
    command = [str(python), str(script), task, str(table), str(DATA / "hierarchies"), str(repeats), str(int(limit))]
    environment = {**os.environ, "PYTHONPATH": str(ROOT) if task.startswith("anoncore") else ""}
    try:
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, check=False, timeout=PATIENCE * limit
        )
    except subprocess.TimeoutExpired:
        return None, f"not in {PATIENCE * limit:,.0f} s of wall time"
    if done.returncode == OUT_OF_TIME:
        return None, f"not in {limit:,.0f} s of CPU"
    if done.returncode:
        return None, f"failed: {(done.stderr.strip().splitlines() or ['no message'])[-1][:80]}"
    return json.loads(done.stdout.strip().splitlines()[-1]), ""


def measure(rows: list[int], limit: float, repeats: int) -> Iterator[Measured]:
    """Every tool on every number of rows; one that did not finish is not tried on more rows."""
    adult = pd.read_csv(DATA / "adult.csv", keep_default_na=False)
    peers = peer_python()
    gave_up: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as folder:
        for n_rows in sorted(rows):
            table = Path(folder) / f"adult-{n_rows}.csv"
            bootstrapped(adult, n_rows).to_csv(table, index=False)
            for comparison, tools in COMPARISONS.items():
                for tool, task in tools:
                    if task in gave_up:
                        yield Measured(comparison, tool, n_rows, None, f"{gave_up[task]} with fewer rows")
                        continue
                    python = Path(sys.executable) if task.startswith("anoncore") else peers
                    outcome, reason = run(python, task, table, limit, repeats)
                    if outcome is None:
                        gave_up[task] = reason
                    yield Measured(comparison, tool, n_rows, outcome, reason)


def spread(values: list[float]) -> str:
    """Median, with the range of the repeats where there are several."""
    text = f"{statistics.median(values):.3g}"
    return text if len(values) == 1 else f"{text} ({min(values):.3g}-{max(values):.3g})"


def line(one: Measured, base: float) -> list[str]:
    """The cells of one line; `base` is the time of anoncore's first line of the comparison."""
    if one.outcome is None:
        return [one.tool, f"{one.rows:,}", one.reason, "", "", "", ""]
    result = ""
    if "loss" in one.outcome:
        result = f"loss {one.outcome['loss']:.4f}, {one.outcome['classes']:,.0f} classes"
    elif "level" in one.outcome:
        result = f"{one.outcome['level']:.6g}"
    times = f"{one.seconds / base:,.3g}x"
    wall, cpu = spread(one.outcome["wall"]), spread(one.outcome["cpu"])
    return [one.tool, f"{one.rows:,}", cpu, wall, times, f"{one.outcome['memory']:,.0f}", result]


HEADER = ["tool", "rows", "CPU s", "wall s", "time beside ours", "memory MB", "result"]


def sections(measured: list[Measured]) -> Iterator[tuple[str, list[list[str]]]]:
    """Title and lines of each comparison."""
    for comparison in COMPARISONS:
        lines = []
        own: dict[int, float] = {}
        for one in measured:
            if one.comparison == comparison:
                own.setdefault(one.rows, one.seconds)
                lines.append(line(one, own[one.rows]))
        yield comparison, lines


def as_markdown(header: list[str], lines: list[list[str]]) -> str:
    rows = [header, ["---"] * len(header), *lines]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in rows)


def as_text(header: list[str], lines: list[list[str]]) -> str:
    widths = [max(len(row[column]) for row in [header, *lines]) for column in range(len(header))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in [header, *lines]
    )


def load() -> str:
    """What else the machine did while this was measured."""
    return f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown"


def main() -> None:
    """Print the tables, and write them as Markdown where asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--limit", type=float, default=170, help="CPU seconds that a task may take")
    parser.add_argument("--repeats", type=int, default=5, help="runs of a task that takes less than 10 s")
    parser.add_argument("--rows", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--markdown", type=Path, help="file for the tables as Markdown")
    parser.add_argument("--no-curves", action="store_true", help="leave out our own curves")
    arguments = parser.parse_args()
    if not DATA.exists():
        raise SystemExit("The data folder ../shared/data is absent; the benchmark needs its adult.csv.")
    load_before = load()
    measured: list[Measured] = []
    own: list[Table] = []

    def pages() -> list[Table]:
        return [*((title, HEADER, lines) for title, lines in sections(measured)), *own]

    def write() -> str:
        """The page as far as it is measured; returns what it was measured on."""
        machine = (
            f"{os.cpu_count()} cores, {platform.system()} {platform.machine()}, Python {platform.python_version()}"
        )
        about = f"Measured on {machine}; load at the start {load_before}, at the end {load()}."
        if arguments.markdown is not None:
            tables = [f"## {title}\n\n{as_markdown(header, lines)}" for title, header, lines in pages()]
            write_chapter(arguments.markdown, "\n\n".join([PREFACE, about, *tables]))
        return about

    for one in measure(arguments.rows, arguments.limit, arguments.repeats):
        print("  ".join(line(one, one.seconds)), flush=True)
        measured.append(one)
        write()
    if not arguments.no_curves:
        own += curves(DATA, arguments.repeats)
    about = write()
    for title, header, lines in pages():
        print(f"\n{title}\n{as_text(header, lines)}")
    print(f"\n{about}")


PREFACE = """# Beside other tools

`python -m tests.benchmarks.peers --markdown tests/benchmarks/results.md` makes this chapter. Adult with 45,222 rows,
bootstrapped to the given number (age moved by up to two years); quasi-identifiers age, workclass, education,
marital-status, occupation, race and sex for the anonymizations, workclass, education, marital-status, race and sex for
the checks.

Times run from the DataFrame to the published table, or to the checked level; the line "coded table to classes" leaves
out the coding of the table before and the published texts after. Each tool in a process of its own, ours after a first
run on 2,000 rows that loads compiled code. Several runs: the median (fastest-slowest); a task of more than 10 s runs
once. The factor compares CPU times. Memory is the peak beyond the loaded table. Loss is the mean over all cells of
(range or set size - 1) / (domain size - 1), computed alike for every tool; a suppressed row counts 1. anonymity-api
cuts numbers only and gets categories as whole numbers. Checks of the same agree."""


if __name__ == "__main__":
    main()
