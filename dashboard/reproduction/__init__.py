"""What came out when the papers' experiments were run: per figure and table what it states and what is found here.

The files beside this module are written by `python -m tests.papers`; they hold numbers and sentences, no tables.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import Any, cast

FOLDER = Path(__file__).parent
REPRODUCED = "reproduced"
DIFFERENT = "reproduced with difference"
NOT_REPRODUCED = "not reproduced"
BY_HAND = "worked by hand"
TIMED = "holds in seconds only"
NOT_APPLICABLE = "not applicable"
VERDICTS = (REPRODUCED, DIFFERENT, NOT_REPRODUCED, TIMED, BY_HAND, NOT_APPLICABLE)
HOLDS = "holds"
IN_MOST = "holds in most cases"
FAILS = "does not hold"
JUDGEMENTS = (FAILS, IN_MOST, HOLDS)
"""What becomes of a statement, from the lowest step to the highest: all of its cases hold, more than half, or fewer."""


@dataclass(frozen=True)
class Statement:
    """One thing that a paper states: in how many of our cases it holds, and the numbers behind that.

    `reading`: how the paper was read where it can be read in several ways. `cause`: why it fails, where it does, and
    `tried`: the run that shows the cause. `by_hand`: only numbers of the paper or of its table are compared, nothing of
    this library is under test, so it does not count. `timed`: processor seconds are compared, which differ from run to
    run, so that a broken method can pass. `least`: the least effect that counts as one, where the text does not say it.
    `oracle`: what the numbers are counted from, so that the library does not judge itself.
    """

    text: str
    held: int
    cases: int
    found: str
    cause: str = ""
    reading: str = ""
    tried: str = ""
    by_hand: bool = False
    timed: bool = False
    least: str = ""
    oracle: str = ""

    @property
    def share(self) -> float:
        """Share of the cases in which it holds."""
        return self.held / self.cases

    @property
    def judgement(self) -> str:
        """One of `JUDGEMENTS`: it holds in all cases, in more than half of them, or not; of 0 cases it does not."""
        if self.held == self.cases > 0:
            return HOLDS
        return IN_MOST if 2 * self.held > self.cases else FAILS

    @property
    def judged(self) -> str:
        """The judgement with the number of cases, in words."""
        if self.cases == 1 or self.judgement == HOLDS:
            return self.judgement
        return f"holds in {self.held:,} of {self.cases:,}" if self.held else f"does not hold in any of {self.cases:,}"

    @property
    def is_explained(self) -> bool:
        """Whether it holds in all cases, or the cause is named together with the run that shows it."""
        return self.judgement == HOLDS or bool(self.cause and self.tried)


@dataclass(frozen=True)
class Mutant:
    """A broken version of what is under test, run on reduced sizes: the row's verdict, and the statements that fell.

    `fell` has for each statement that lost a step its text, its reading and what became of it.
    """

    name: str
    verdict: str
    fell: tuple[tuple[str, str, str], ...] = ()


@dataclass(frozen=True)
class Experiment:
    """Something that a paper wished for, as a question, what was measured, and the answer."""

    title: str
    question: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    answer: str
    run: str


@dataclass(frozen=True)
class Stated:
    """A statement about results in the paper's order: where it stands, what it says, and in which rows it is judged."""

    where: str
    text: str
    judged: tuple[str, ...]


@dataclass(frozen=True)
class Study:
    """One run behind some figures: on what, with which seeds, in how many seconds (unknown: None)."""

    figures: tuple[str, ...]
    sizes: str
    seed: str
    seconds: float | None


@dataclass(frozen=True)
class Curve:
    """One line of a plot; `paper`: as printed there, else ours."""

    name: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    paper: bool = False


@dataclass(frozen=True)
class Plot:
    """The main curves of a figure."""

    figure: str
    title: str
    x: str
    y: str
    curves: tuple[Curve, ...]
    log_y: bool = False
    log_x: bool = False


@dataclass(frozen=True)
class Entry:
    """One figure or table of a paper. `reason`: why nothing can be run for it.

    `settings`: what is set here otherwise than in the paper, or is not said there.
    """

    label: str
    shows: str
    statements: tuple[Statement, ...] = ()
    reason: str = ""
    mutants: tuple[Mutant, ...] = ()
    settings: str = ""

    @property
    def heading(self) -> str:
        """The label as a line begins with it."""
        return self.label[0].upper() + self.label[1:]

    @property
    def counted(self) -> tuple[Statement, ...]:
        """The statements that count: those under which something of the library is tried."""
        return tuple(one for one in self.statements if not one.by_hand)

    @property
    def verdict(self) -> str:
        """What follows from the statements, each of which is judged by itself.

        Reproduced: every statement holds in all of its cases. Reproduced with difference: every statement holds in more
        than half of its cases, and where one does not hold in all of them the cause is named, and a run that shows it.
        Not reproduced: anything else, so a single statement that does not hold is enough. Where processor seconds are
        compared, neither of the first two is said: the row holds in seconds only. What is compared by hand does not
        count. Where the paper can be read in several ways, each reading has its own verdict and the best one counts.
        """
        if not self.statements:
            return NOT_APPLICABLE
        by_reading = set(self.readings.values())
        return next((one for one in (REPRODUCED, TIMED, DIFFERENT, NOT_REPRODUCED) if one in by_reading), BY_HAND)

    @property
    def readings(self) -> dict[str, str]:
        """The verdict by reading; a statement that needs no reading counts in each.

        The only key is empty where there is one way to read the paper.
        """
        counted = self.counted
        names = list(dict.fromkeys(one.reading for one in counted if one.reading)) or [""] * bool(counted)
        return {name: _verdict([one for one in counted if one.reading in ("", name)]) for name in names}

    def breakers(self, statement: Statement) -> tuple[tuple[str, str], ...]:
        """The mutants under which the statement falls by a step at least, each with what becomes of it."""
        return tuple(
            (mutant.name, after)
            for mutant in self.mutants
            for text, reading, after in mutant.fell
            if (text, reading) == (statement.text, statement.reading)
        )

    @property
    def causes(self) -> tuple[str, ...]:
        """Why statements fail, each once."""
        return tuple(dict.fromkeys(one.cause for one in self.statements if one.share < 1 and one.cause))


def _verdict(statements: Sequence[Statement]) -> str:
    """The rule of `Entry.verdict` for one reading."""
    if any(one.judgement == FAILS or not one.is_explained for one in statements):
        return NOT_REPRODUCED
    if any(one.timed for one in statements):
        return TIMED
    return REPRODUCED if all(one.judgement == HOLDS for one in statements) else DIFFERENT


@dataclass(frozen=True)
class Result:
    """All of one paper. `mode`: "full" or "quick"; `seconds` of the whole run; `note`: what to know about it.

    `rows_seal` and `rest_seal` are hashes of the code of the experiments and of what it made: of the statements, runs
    and curves, and of everything else. A test makes them again, so that older or edited results do not pass.
    """

    name: str
    title: str
    source: str
    command: str
    mode: str
    date: str
    seconds: float
    note: str
    entries: tuple[Entry, ...]
    studies: tuple[Study, ...]
    plots: tuple[Plot, ...]
    experiments: tuple[Experiment, ...] = ()
    stated: tuple[Stated, ...] = ()
    rows_seal: str = ""
    rest_seal: str = ""

    @property
    def counts(self) -> dict[str, int]:
        """Entries per verdict."""
        return {verdict: sum(one.verdict == verdict for one in self.entries) for verdict in VERDICTS}

    def lines(self) -> list[dict[str, str]]:
        """Every statement by itself, as the lines of one table: what became of it, and under what it falls."""
        return [
            {
                "Figure or table": entry.heading,
                "It states": one.text,
                "Reading": one.reading,
                "Judgement": "by hand" if one.by_hand else one.judgement,
                "Cases": f"{one.held} of {one.cases}",
                "Here": one.found,
                "Least effect": one.least,
                "Counted from": one.oracle,
                "Falls under": "; ".join(f"{name} ({after})" for name, after in entry.breakers(one)),
                "Cause": one.cause,
                "Tried": one.tried,
                "Seconds": "yes" if one.timed else "",
                "Verdict of the row": entry.verdict,
            }
            for entry in self.entries
            for one in entry.statements
        ]

    def study_of(self, label: str) -> Study | None:
        """The run behind a figure."""
        return next((one for one in self.studies if label in one.figures), None)

    def save(self, folder: Path = FOLDER) -> Path:
        """Write it as `<name>.json`; what of an entry, a statement or a curve is as by default is left out."""
        path = folder / f"{self.name}.json"
        path.write_text(json.dumps(self.plain(), indent=0, ensure_ascii=False) + "\n", encoding="utf-8")
        return path

    def plain(self) -> dict[str, Any]:
        """Lists and dictionaries without what `of` fills in."""

        def kept(part: Any, top: bool = False) -> Any:
            if isinstance(part, tuple):
                return [kept(one) for one in part]
            if not is_dataclass(part):
                return part
            values = [(one.name, one.default, getattr(part, one.name)) for one in fields(part)]
            return {name: kept(value) for name, default, value in values if top or value != default}

        return cast("dict[str, Any]", kept(self, top=True))

    @classmethod
    def load(cls, path: Path) -> Result:
        """Read what `save` wrote."""
        return cls.of(json.loads(path.read_text(encoding="utf-8")))

    @classmethod
    def of(cls, read: Mapping[str, Any]) -> Result:
        """From plain lists and dictionaries."""
        entries = tuple(
            Entry(
                **{
                    **one,
                    "statements": tuple(Statement(**line) for line in one.get("statements", ())),
                    "mutants": tuple(_mutant(line) for line in one.get("mutants", ())),
                }
            )
            for one in read["entries"]
        )
        studies = tuple(Study(**{**one, "figures": tuple(one["figures"])}) for one in read["studies"])
        plots = tuple(
            Plot(**{**one, "curves": tuple(_curve(curve) for curve in one["curves"])}) for one in read["plots"]
        )
        experiments = tuple(
            Experiment(**{**one, "columns": tuple(one["columns"]), "rows": tuple(tuple(row) for row in one["rows"])})
            for one in read.get("experiments", ())
        )
        stated = tuple(Stated(**{**one, "judged": tuple(one["judged"])}) for one in read.get("stated", ()))
        parts = {"entries": entries, "studies": studies, "plots": plots, "experiments": experiments, "stated": stated}
        return cls(**{**read, **parts})


def _mutant(read: Mapping[str, Any]) -> Mutant:
    return Mutant(**{**read, "fell": tuple(tuple(one) for one in read.get("fell", ()))})


def _curve(read: Mapping[str, Any]) -> Curve:
    return Curve(read["name"], tuple(read["x"]), tuple(read["y"]), read.get("paper", False))


def shipped() -> list[Result]:
    """The results that come with the package, by title."""
    return sorted((Result.load(path) for path in FOLDER.glob("*.json")), key=lambda one: one.title)


def written() -> float:
    """When the newest of them was written, in seconds since 1970; 0 without any."""
    return max((path.stat().st_mtime for path in FOLDER.glob("*.json")), default=0.0)
