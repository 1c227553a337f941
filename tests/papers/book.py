"""The reproduction book: every figure and table of every paper with its verdict."""

from __future__ import annotations

import datetime
import importlib
import time
from dataclasses import replace
from pathlib import Path

from dashboard.reproduction import HOLDS, Entry, Result, Study
from tests.papers.contents import Paper
from tests.papers.findings import Findings, labels_of
from tests.papers.mutants import EXAMPLES, PROVEN, tried, unbroken
from tests.papers.sources import sealed
from tests.papers.stated import STATED
from tests.papers.wishes import wished


def reproduce(paper: Paper, quick: bool, folder: Path) -> Result:
    """Run a paper's experiments and worked examples; tables and plots go to the folder."""
    begun = time.perf_counter()
    folder.mkdir(parents=True, exist_ok=True)
    found = importlib.import_module(f"tests.papers.{paper.module}").reproduce(quick, folder)
    examples(paper, found)
    result = assembled(paper, found, quick, time.perf_counter() - begun)
    return result if quick else sealed(replace(tried(result), experiments=wished(paper.name)))


def rest_of(paper: Paper, shipped: Result) -> Result:
    """A shipped result with all that no run of its rows says made again: mutants, experiments, and what there is.

    Raises ValueError where the paper has other rows today.
    """
    if [entry.label for entry in shipped.entries] != [item.label for item in paper.items]:
        raise ValueError(f"{paper.title} has other rows today, which have to be run: leave out --rest.")
    entries = tuple(
        replace(entry, shows=item.shows, reason=item.reason, settings=item.settings)
        for entry, item in zip(shipped.entries, paper.items, strict=True)
    )
    result = replace(
        shipped, title=paper.title, source=paper.source, stated=STATED[paper.name], entries=entries,
        experiments=wished(paper.name),
    )  # fmt: skip
    return sealed(tried(result), rows=False)


def examples(paper: Paper, found: Findings) -> None:
    """Add what the library makes of the paper's worked examples, and of its theorems on small random tables."""
    for part, sizes, seed in (
        (EXAMPLES[paper.name], "the paper's example, or all of the public table", "0 where drawn"),
        (PROVEN[paper.name], "small random tables", "fixed, one for each statement"),
    ):
        begun = time.perf_counter()
        said = unbroken(part)
        labels = tuple(dict.fromkeys(label for figure, _ in said.lines for label in labels_of(figure)))
        found.studies.append(Study(labels, sizes, seed, round(time.perf_counter() - begun, 2)))
        found.said.extend(said)


def assembled(paper: Paper, found: Findings, quick: bool, seconds: float, date: str = "", note: str = "") -> Result:
    """The result in the paper's order; raises ValueError where a statement is about no figure or a figure has none."""
    labels = {item.label for item in paper.items}
    strange = {label for figure, _ in found.said.lines for label in labels_of(figure)} - labels
    if strange:
        raise ValueError(f"{paper.title}: nothing is called {', '.join(sorted(strange))}.")
    entries = []
    for item in paper.items:
        statements = found.said.of(item.label)
        if bool(statements) == bool(item.reason):
            raise ValueError(f"{paper.title}, {item.label}: needs either statements or a reason why there are none.")
        entries.append(Entry(item.label, item.shows, statements, item.reason, settings=item.settings))
    return Result(
        name=paper.name,
        title=paper.title,
        source=paper.source,
        command=f"python -m tests.papers --paper {paper.name}" + (" --quick" if quick else ""),
        mode="quick" if quick else "full",
        date=date or datetime.datetime.now(tz=datetime.UTC).date().isoformat(),
        seconds=round(seconds, 1),
        note=note,
        entries=tuple(entries),
        studies=tuple(found.studies),
        plots=tuple(found.plots),
        stated=STATED[paper.name],
    )


def summary(result: Result) -> str:
    """Verdict counts, then one line per figure or table, and one for each statement that does not hold in all cases."""
    counts = ", ".join(f"{count} {verdict}" for verdict, count in result.counts.items())
    lines = [f"{result.title}: {counts}; {result.seconds:,.0f} s ({result.mode})"]
    for entry in result.entries:
        why = entry.reason or "; ".join(entry.causes)
        lines.append(f"  {entry.label}: {entry.verdict}" + (f" ({why})" if why else ""))
        lines += [f"    {one.judged}: {one.text}" for one in entry.counted if one.judgement != HOLDS]
    return "\n".join(lines)
