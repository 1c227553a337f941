"""Certifying and verifying a release beside what they are bounded by: the whole run, and one group-by of the same file.

    python -m tests.benchmarks.verifying --rows 1040000

A census-like table is read from a CSV file and cut by Mondrian in memory, put into buckets by Anatomy, which publishes
two tables that are joined (l = 2), and cut by rothko-tree on disk (l = 2).
Certifying should take at most a third of the CPU of the whole run, and a verification at most four times that of one
DuckDB group-by over all columns of the files. Everything takes turns in one process, in which whatever there is to
compile was compiled before.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import tempfile
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from time import process_time

import duckdb
import pandas as pd

from anoncore.cli import main as anoncore
from anoncore.datasets.rothko_synthetic import ATTRIBUTES, chunks
from anoncore.publishing import Certificate, Verification, verify, verify_folder

RECIPE = """
[source]
path = "{table}"
[roles]
{roles}
[algorithm]
{method}
"""
CUT = """name = "{}"
requirements = [{{ name = "k-anonymity", k = {} }}, {{ name = "distinct-diversity", l = 2 }}]"""
BUCKETS = """name = "anatomy"
l = 2"""


def used(work: Callable[[], object]) -> float:
    """CPU seconds that some work takes."""
    begin = process_time()
    work()
    return process_time() - begin


def run(recipe: Path, folder: Path, format: str, *words: str) -> None:
    """Make a release without a word on the terminal."""
    asked = [
        "run",
        str(recipe),
        "--engine",
        "memory",
        "--quiet",
        "--force",
        "--format",
        format,
        "--output",
        str(folder),
    ]
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        assert anoncore([*asked, *words]) == 0


def described(table: Path, method: str) -> Path:
    """The recipe of a table by a method, beside it."""
    roles = "\n".join(f'{one} = "{"sensitive" if one == "car" else "quasi-identifier"}"' for one in ATTRIBUTES)
    recipe = table.with_suffix(".toml")
    recipe.write_text(RECIPE.format(table=table.name, roles=roles, method=method), encoding="utf-8")
    return recipe


def compared(recipe: Path, folder: Path, format: str, repetitions: int) -> None:
    """Print what certifying and verifying take in a format beside the run and the group-by."""
    turns = []
    for number in range(repetitions):
        bare = used(lambda number=number: run(recipe, folder / f"bare-{number}", format, "--no-certificate"))
        turns.append((bare, used(lambda number=number: run(recipe, folder / f"whole-{number}", format))))
    bare, whole = (median(column) for column in zip(*turns, strict=True))
    title = f"{folder.name}, {format}"
    print(f"{title:20} run {bare:.2f} s of CPU, certified {whole:.2f} s: {1 - bare / whole:.0%} of the run")
    (certificate,) = (folder / "whole-0").glob("*-certificate.json")
    claims = Certificate.load(certificate)
    file = certificate.parent / claims.files[0].name
    files = [file]
    if file.suffix == ".zip":
        with zipfile.ZipFile(file) as archive:
            files = [Path(archive.extract(name, folder)) for name in archive.namelist()]
    kind = "read_csv('{}', all_varchar = true)" if format == "csv" else "read_parquet('{}')"
    rows = [kind.format(one) for one in files]
    beside_group_by(title, claims, lambda: verify(claims, {file.name: file.read_bytes()}), rows, repetitions)


def in_parts(table: Path, k: int, repetitions: int) -> None:
    """Print what verifying takes of a release in parts beside the group-by."""
    folder = table.parent / f"parts-{k}"
    words = [
        "run",
        str(described(table, CUT.format("rothko-tree", k))),
        "--engine",
        "disk",
        "--quiet",
        "--output",
        str(folder),
    ]
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        assert anoncore(words) == 0
    (certificate,) = folder.glob("*/_certificate.json")
    rows = [f"read_parquet('{certificate.parent}/*.parquet')"]
    claims = Certificate.load(certificate)
    beside_group_by(f"parts, k = {k}", claims, lambda: verify_folder(certificate.parent), rows, repetitions)


def beside_group_by(
    title: str, claims: Certificate, verified: Callable[[], Verification], rows: Sequence[str], repetitions: int
) -> None:
    """Print what a verification takes beside one group-by over all columns of each table."""
    tables = [", ".join(f'"{name}"' for name in one.columns) for one in claims.tables]

    def grouped() -> None:
        with duckdb.connect() as connection:
            for names, table in zip(tables, rows, strict=True):
                connection.sql(f"SELECT {names}, count(*) FROM {table} GROUP BY {names}").to_arrow_table()

    assert not verified().of("fails")
    grouped()
    check, group = (
        median(column) for column in zip(*((used(verified), used(grouped)) for _ in range(repetitions)), strict=True)
    )
    print(f"{title:20} verify {check:.2f} s of CPU, group-by {group:.2f} s: {check / group:.1f} times", flush=True)


def main() -> None:
    """Make the table and compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_040_000)
    parser.add_argument("--repetitions", type=int, default=3)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        table = pd.concat(list(chunks(asked.rows, 1 << 20, 0, ["C2"])))[list(ATTRIBUTES)]
        for title, rows in (("few", 5_000), ("table", asked.rows)):
            table.head(rows).to_csv(work / f"{title}.csv", index=False)
        for name, method in (("one table", CUT.format("mondrian", 10)), ("joined", BUCKETS)):
            few, whole = (described(work / f"{title}.csv", method) for title in ("few", "table"))
            for format in ("csv", "parquet"):
                run(few, work / f"few {name}, {format}", format)
                compared(whole, work / format / name, format, asked.repetitions)
        for k in (10, 100, 1_000):
            in_parts(work / "table.csv", k, asked.repetitions)


if __name__ == "__main__":
    main()
