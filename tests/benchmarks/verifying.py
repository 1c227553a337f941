"""Certifying and verifying a release beside what they are bounded by: the whole run, and one group-by of the same file.

    python -m tests.benchmarks.verifying --rows 1040000

A census-like table is read from a CSV file and cut by Mondrian (k = 10, l = 2). Certifying should take at most a third
of the CPU of the whole run, and a verification at most four times that of one DuckDB group-by over all columns of the
file. Everything takes turns in one process, in which whatever there is to compile was compiled before.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import process_time

import duckdb
import pandas as pd

from anoncore.cli import main as anoncore
from anoncore.datasets.rothko_synthetic import ATTRIBUTES, chunks
from anoncore.publishing import verify
from anoncore.publishing.certification import Certificate

RECIPE = """
[source]
path = "{table}"
[roles]
{roles}
[algorithm]
name = "mondrian"
requirements = [{{ name = "k-anonymity", k = 10 }}, {{ name = "distinct-diversity", l = 2 }}]
"""


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


def described(table: Path) -> Path:
    """The recipe of a table, beside it."""
    roles = "\n".join(f'{one} = "{"sensitive" if one == "car" else "quasi-identifier"}"' for one in ATTRIBUTES)
    recipe = table.with_suffix(".toml")
    recipe.write_text(RECIPE.format(table=table.name, roles=roles), encoding="utf-8")
    return recipe


def compared(recipe: Path, folder: Path, format: str, repetitions: int) -> None:
    """Print what certifying and verifying take in a format beside the run and the group-by."""
    turns = []
    for number in range(repetitions):
        bare = used(lambda number=number: run(recipe, folder / f"bare-{number}", format, "--no-certificate"))
        turns.append((bare, used(lambda number=number: run(recipe, folder / f"whole-{number}", format))))
    bare, whole = (median(column) for column in zip(*turns, strict=True))
    print(f"{format:8} run {bare:.2f} s of CPU, certified {whole:.2f} s: {1 - bare / whole:.0%} of the run")
    (certificate,) = (folder / "whole-0").glob("*-certificate.json")
    claims = Certificate.load(certificate)
    file = certificate.parent / claims.files[0].name
    names = ", ".join(f'"{name}"' for name in claims.tables[0].columns)
    rows = f"read_csv('{file}', all_varchar = true)" if format == "csv" else f"read_parquet('{file}')"

    def grouped() -> None:
        with duckdb.connect() as connection:
            connection.sql(f"SELECT {names}, count(*) FROM {rows} GROUP BY {names}").to_arrow_table()

    def verified() -> None:
        assert verify(claims, {file.name: file.read_bytes()}).holds

    verified()
    grouped()
    check, group = (
        median(column) for column in zip(*((used(verified), used(grouped)) for _ in range(repetitions)), strict=True)
    )
    print(f"{format:8} verify {check:.2f} s of CPU, group-by {group:.2f} s: {check / group:.1f} times", flush=True)


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
            described(work / f"{title}.csv")
        for format in ("csv", "parquet"):
            run(work / "few.toml", work / f"few-{format}", format)
            (work / format).mkdir()
            compared(work / "table.toml", work / format, format, asked.repetitions)


if __name__ == "__main__":
    main()
