"""The reproduction book: all papers, or one.

    python -m tests.papers [--quick | --rest] [--paper NAME] [--out FOLDER]

Writes tables (CSV) and plots (HTML) to a folder and prints a verdict for every figure, table and theorem. The full
mode replaces the numbers that the dashboard shows on its page Reproduction; the quick one, on reduced sizes, leaves
them as they are. With `--rest` the rows stay as they are too, and only what is said about them is made again. A test
says which of the commands has to be run for which paper after the code has changed. Needs the public tables (see
`datasets`).
"""

from __future__ import annotations

import argparse
import contextlib
import tempfile
from pathlib import Path

from dashboard import reproduction
from tests.papers.book import reproduce, rest_of, summary
from tests.papers.contents import PAPERS


def main() -> None:
    """Run the papers one after the other."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.papers", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="reduced sizes: minutes for all papers")
    parser.add_argument("--paper", choices=[paper.name for paper in PAPERS], help="one paper only")
    parser.add_argument("--out", type=Path, help="folder for tables and plots (default: a new one)")
    parser.add_argument("--rest", action="store_true", help="all but the rows: mutants, experiments, titles")
    arguments = parser.parse_args()
    folder = arguments.out or Path(tempfile.mkdtemp(prefix="papers-"))
    results = []
    for paper in PAPERS:
        if arguments.paper not in (None, paper.name):
            continue
        if arguments.rest:
            shipped = next(one for one in reproduction.shipped() if one.name == paper.name)
            result = rest_of(paper, shipped)
            result.save()
            for entry in result.entries:
                for mutant in entry.mutants:
                    print(f"{paper.title}, {entry.label}, {mutant.name}: {mutant.verdict}", flush=True)
                    for text, _, after in mutant.fell:
                        print(f"    {after}: {text}", flush=True)
            continue
        own = folder / paper.name
        own.mkdir(parents=True, exist_ok=True)
        print(f"{paper.title}: running", flush=True)
        with (own / "log.txt").open("w", encoding="utf-8") as log, contextlib.redirect_stdout(log):
            result = reproduce(paper, arguments.quick, own)
        result.save(own)
        if not arguments.quick:
            result.save()
        print(summary(result), flush=True)
        results.append(result)
    if not results:
        return
    print(f"\n{sum(one.seconds for one in results):,.0f} s in all. Tables, plots and logs are in {folder}")


if __name__ == "__main__":
    main()
