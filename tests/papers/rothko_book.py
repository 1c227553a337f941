"""The experiments of `tests.papers.rothko` in the form that all papers' modules share."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pandas as pd

from dashboard.reproduction import Curve, Plot
from tests.papers import rothko, thrashing, thrashing_statements
from tests.papers.findings import Findings, curves, labels_of
from tests.papers.rothko_quality import QUICK_ROWS, classification_and_regression, pruning
from tests.papers.rothko_runs import Report


def reproduce(quick: bool, folder: Path, tables: int = 10) -> Findings:
    """Measure, judge and write everything."""
    found = Findings()
    report = Report(folder)
    memory = (250_000, 500_000, 1_000_000) if quick else (1_000_000, 2_000_000, 4_000_000, 8_000_000)
    rows, quality_rows, tables = (100_000, QUICK_ROWS, 1) if quick else (2_000_000, 100_000, tables)
    with found.study("8, 9", f"{memory[0]:,} to {memory[-1]:,} rows (paper: up to 10 million), k = 1,000", "0"):
        rothko.need(report, memory)
        thrashing_statements.judge(report)
    held, k = rothko.scaled(rows)
    sizes = f"{rows:,} rows (paper: 50,000,000), {held:,} in memory, k = {k}"
    with found.study("10-12", sizes, "0"):
        rothko.input_output(report, rows)
    with found.study("13-21", sizes, "0"):
        rothko.times(report, rows)
    with found.study("22-27", f"{quality_rows:,} rows, means of {tables} tables", f"0 to {tables - 1}"):
        classification_and_regression(report, quality_rows, tables)
    with found.study("28", f"{quality_rows:,} rows", "0"):
        pruning(report, quality_rows)
    statements = pd.DataFrame(report.statements)
    report.save("statements", statements)
    judged(statements, folder, found)
    return found


def judged(statements: pd.DataFrame, folder: Path, found: Findings) -> None:
    """The statements, and the main curves from the tables in the folder."""
    for one in statements.itertuples(index=False):
        found.said.add(
            one.figure, one.statement, one.holds, one.found, one.cause, one.tried, timed=one.timed, least=one.least,
            oracle=one.oracle,
        )  # fmt: skip
    tables = {path.stem: pd.read_csv(path) for path in folder.glob("figure*.csv")}
    needed = tables["figures-8-9"].pivot_table(index="rows", columns="algorithm", values="peak GB")
    found.plots.append(Plot("figure 8", "Peak memory over the rows", "rows", "peak GB", curves(needed)))
    limited = tables["figures-8-9-limited"]
    where = f"{thrashing.last()['limit MB']} MB of memory"
    for figure, measure, memory, title in (
        ("figure 8", "tables swapped", thrashing.SWAPS, f"Tables swapped in {where}"),
        ("figure 9", "seconds", thrashing.SWAPS, f"Seconds in {where}"),
        ("figure 9", "seconds", thrashing.SLOW, f"Seconds in {where}, 54 MB/s"),
    ):
        part = limited[limited["memory"] == memory]
        lines = part.pivot_table(index="rows", columns="algorithm", values=measure)
        found.plots.append(Plot(figure, title, "rows", measure, curves(lines)))
    for number, over in (("10", "F_CACHE"), ("11", "sample")):
        lines = tables[f"figure-{number}"].set_index(over)
        name = "RothkoTree" if number == "10" else "RothkoSampling"
        title = f"Whole tables read and written by {name}, beside the paper's model"
        found.plots.append(Plot(f"figure {number}", title, over, "tables", _beside_model(lines), log_x=True))
    lines = tables["figure-12"].pivot_table(index="rows", columns="algorithm", values="rows read and written")
    title = "Rows read and written as the table grows"
    found.plots.append(Plot("figure 12", title, "rows", "rows read and written", curves(lines), log_y=True))
    found.plots += _timed(tables["figures-13-21"])
    quality = tables["figures-22-27"]
    for number, part in quality.groupby("figure"):
        lines = part.pivot_table(index="sample", columns="k", values="value").rename(columns="k = {}".format)
        measure = "conditional entropy" if number < 25 else "root mean squared error"
        title = f"{measure.capitalize()} of {part['target'].iloc[0]} over the sample size"
        found.plots.append(Plot(f"figure {number}", title, "rows of the sample", measure, curves(lines), log_x=True))


def _timed(timed: pd.DataFrame) -> list[Plot]:
    """Figures 13 to 21: three algorithms in one plot, where the paper has a figure for each."""
    plots = []
    usual = timed[timed["k"] == timed["k"].mode()[0]]
    for figures, split, over in (("13-15", "median", "rows"), ("16-18", "median", "k"), ("19-21", "infogain", "rows")):
        part = usual if over == "rows" else timed[timed["rows"] == timed["rows"].max()]
        lines = part[part["split"] == split].pivot_table(index=over, columns="algorithm", values="cpu s")
        title = f"Processor seconds over {over}, {split}"
        shown = curves(lines)
        plots += [Plot(label, title, over, "seconds", shown, log_x=over == "k") for label in labels_of(figures)]
    return plots


def _beside_model(lines: pd.DataFrame) -> tuple[Curve, ...]:
    return tuple(replace(one, paper=one.name.endswith("(model)")) for one in curves(lines))
