"""What every paper's module yields: statements with what is found, the runs behind them, and the main curves."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from textwrap import fill

import numpy as np
import pandas as pd

from dashboard.reproduction import Curve, Entry, Plot, Statement, Study


def labels_of(figure: str) -> tuple[str, ...]:
    """The labels that a short form means: "1a" and "1(c)" figure 1, "13-15" figures 13 to 15, "table 2" itself."""
    if not figure[0].isdigit():
        return (figure,)
    found: list[str] = []
    for part in figure.split(", "):
        first, _, last = part.partition("-")
        if last.isdigit():
            found += [f"figure {number}" for number in range(int(first), int(last) + 1)]
        else:
            found.append(f"figure {re.match(r'[0-9.]+', first).group()}")  # type: ignore[union-attr]
    return tuple(found)


@dataclass
class Statements:
    """What a paper states, beside what came out; `reading` and `oracle` are those of the statements to come."""

    lines: list[tuple[str, Statement]] = field(default_factory=list)
    reading: str = ""
    oracle: str = ""

    def add(
        self,
        figure: str,
        statement: str,
        holds: object,
        detail: str = "",
        cause: str = "",
        tried: str = "",
        by_hand: bool = False,
        timed: bool = False,
        least: str = "",
        oracle: str = "",
    ) -> None:
        """One statement; a series says for each case whether it holds, and of an empty one none does.

        `cause`, and `tried`, the run that shows it, are kept where it does not hold. `by_hand`: nothing of the library
        is under test. `timed`: processor seconds are compared. `least`: the least effect, where the statement does not
        say it. `oracle`: what is counted, and from what, without the library's intermediate results.
        """
        cases = np.atleast_1d(np.asarray(holds, dtype=np.bool_))
        if not cases.size:
            cases = np.zeros(1, dtype=np.bool_)
        held, all_hold = int(cases.sum()), bool(cases.all())
        text, reading = statement.rstrip("."), self.reading
        why = ("", reading, "") if all_hold else (cause, reading, tried)
        counted_from = oracle or ("" if by_hand else self.oracle)
        line = Statement(text, held, cases.size, detail, *why, by_hand, timed, least, counted_from)
        self.lines.append((figure, line))

    def extend(self, other: Statements) -> None:
        """Take another's lines too."""
        self.lines += other.lines

    def verdict(self, label: str) -> str:
        """The verdict on one figure or table."""
        return Entry(label, "", self.of(label)).verdict

    def of(self, label: str) -> tuple[Statement, ...]:
        """The statements about one figure or table."""
        return tuple(one for figure, one in self.lines if label in labels_of(figure))

    def table(self) -> pd.DataFrame:
        """One line per statement."""
        return pd.DataFrame(
            [
                {
                    "figure": figure,
                    "reading": one.reading,
                    "statement": one.text,
                    "found": one.judgement,
                    "cases": f"{one.held} of {one.cases}",
                    "detail": one.found,
                    "cause": one.cause,
                }
                for figure, one in self.lines
            ]
        )

    def text(self) -> str:
        """For a terminal."""
        lines = []
        for figure, one in self.lines:
            where = figure + (f", {one.reading}" if one.reading else "")
            cases = f"{one.held} of {one.cases} cases; " if one.cases > 1 else ""
            cause = f" Likely cause: {one.cause.rstrip('.')}." if one.cause else ""
            line = f"[{one.judgement}] {where}: {one.text}. Found: {cases}{one.found}.{cause}"
            lines.append(fill(line, 116, subsequent_indent="    "))
        return "\n".join(lines)


@dataclass
class Findings:
    """All that one paper's module found."""

    said: Statements = field(default_factory=Statements)
    studies: list[Study] = field(default_factory=list)
    plots: list[Plot] = field(default_factory=list)

    @contextmanager
    def study(self, figures: str, sizes: str, seed: str) -> Iterator[None]:
        """Time a run that is behind these figures (labels with semicolons between them)."""
        begun = time.perf_counter()
        yield
        labels = tuple(label for one in figures.split("; ") for label in labels_of(one))
        self.studies.append(Study(labels, sizes, seed, round(time.perf_counter() - begun, 2)))


def curve(name: object, x: Iterable[object], y: Iterable[object], paper: bool = False) -> Curve:
    """A line of plain numbers, short enough for a small file."""
    return Curve(str(name), _plain(x), _plain(y), paper)


def curves(frame: pd.DataFrame) -> tuple[Curve, ...]:
    """A line per column over the index."""
    parts = ((name, column.dropna()) for name, column in frame.items())
    return tuple(curve(name, column.index, column) for name, column in parts)


def _plain(values: Iterable[object]) -> tuple[float, ...]:
    return tuple(float(f"{float(one):.5g}") for one in values)  # type: ignore[arg-type]


def listed(values: Sequence[float] | pd.Series, digits: int = 3) -> str:
    """Numbers in one line."""
    return ", ".join(f"{value:.{digits}f}" for value in values)
