"""Broken versions of what the reproduction book tests: what a mutant is, how it is run, and ways to break a method.

A mutant breaks one thing: it never splits, deals rows at random, publishes zeros, ignores a parameter, swaps two
methods. It names the statements that it must break, and is run on the part of the book that makes them, on reduced
sizes; each of these statements must fall by a step at least, from holding in all cases to most of them, or to none or
few. So a statement that nothing can break is found out: it is not under test, and the book says "by hand" of it. What
compares processor seconds needs no mutant: a broken method can be as slow or as fast by chance.
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cache, wraps
from typing import Any
from unittest.mock import patch

import numpy as np

from anoncore import Hierarchy, Partition, Release
from anoncore.algorithms.base import Algorithm, generalized_release
from anoncore.algorithms.slicing.columns import sliced_release
from dashboard.reproduction import FAILS, JUDGEMENTS, Mutant, Statement
from tests.papers.findings import Statements

Part = Callable[[], Statements]
Breaking = Callable[[], AbstractContextManager[Any]]
NEVER, RANDOM = "never splits", "rows are dealt at random"
EVERY = ("",)
"""Every statement of a row that counts: all texts begin so."""


@cache
def unbroken(part: Part) -> Statements:
    """What the part says of the library as it is, found once."""
    return part()


def examples(function: Callable[[Statements], None]) -> Part:
    """A paper's worked examples as a part, which has the function's name."""

    @wraps(function)
    def run() -> Statements:
        said = Statements()
        function(said)
        return said

    return run


@dataclass(frozen=True)
class Fallen:
    """What a mutant did to one row: its verdict, the statements that fell, and those named that did not."""

    verdict: str
    fell: tuple[tuple[str, str, str], ...]
    survived: tuple[str, ...]


@dataclass(frozen=True)
class Broken:
    """One mutant of a paper: on which part it is run, and what must fall.

    `breaks` has for the label of each row the beginnings of the statements that it must break: each in every reading in
    which it holds, or in most cases, of the library as it is.
    """

    paper: str
    name: str
    part: Part
    breaking: Breaking = field(repr=False)
    breaks: Mapping[str, tuple[str, ...]]

    @property
    def labels(self) -> tuple[str, ...]:
        """The rows that it must cost something."""
        return tuple(self.breaks)

    def run(self) -> dict[str, Fallen]:
        """What becomes of each row that is named, in one run of the part; an exception is no result.

        Raises ValueError where a statement that is named does not hold, or not in most cases, of the library as it is,
        in any reading.
        """
        before = {label: self._due(label) for label in self.breaks}
        with contextlib.redirect_stdout(io.StringIO()):
            try:
                with self.breaking():
                    said = self.part()
            except Exception as error:
                said, nothing = Statements(), f"no result: {type(error).__name__}"
            else:
                nothing = "no result"
        return {label: self._fallen(label, due, said, nothing) for label, due in before.items()}

    def mutants(self) -> dict[str, Mutant]:
        """What the book says of it, by row."""
        return {label: Mutant(self.name, row.verdict, row.fell) for label, row in self.run().items()}

    def _due(self, label: str) -> list[Statement]:
        """The statements that are named, of the library as it is, in the readings in which they hold."""
        with contextlib.redirect_stdout(io.StringIO()):
            every = [one for one in unbroken(self.part).of(label) if not one.by_hand]
        due = []
        for beginning in self.breaks[label]:
            named = [one for one in every if one.text.startswith(beginning)]
            if not named:
                raise ValueError(f"{self.name}: nothing that is stated in {label} begins with '{beginning}'.")
            due += named
        holding = [one for one in due if one.judgement != FAILS]
        failing = sorted({one.text for one in due} - {one.text for one in holding})
        if failing:
            raise ValueError(f"{self.name}, {label}: does not hold unbroken, so nothing can break it: {failing}")
        return holding

    def _fallen(self, label: str, due: list[Statement], said: Statements, nothing: str) -> Fallen:
        after: dict[tuple[str, str], list[str]] = {}
        for one in said.of(label):
            after.setdefault((one.text, one.reading), []).append(one.judgement)
        fell = []
        for one in unbroken(self.part).of(label):
            worst = min(after.get((one.text, one.reading), [nothing]), key=_step)
            if not one.by_hand and _step(worst) < _step(one.judgement):
                fell.append((one.text, one.reading, worst))
        gone = {(text, reading) for text, reading, _ in fell}
        survived = tuple(one.text for one in due if (one.text, one.reading) not in gone)
        return Fallen(said.verdict(label) if said.of(label) else nothing, tuple(dict.fromkeys(fell)), survived)


def _step(judgement: str) -> int:
    """How high a judgement is; no result is below all of them."""
    return JUDGEMENTS.index(judgement) if judgement in JUDGEMENTS else -1


def grouped_by(algorithm: type[Algorithm], group: Callable[[Release], np.ndarray]) -> Callable[[], Any]:  # type: ignore[type-arg]
    """Make an algorithm publish the rows of its release in other groups."""
    made = algorithm._release

    def other(self: Any, data: Any, progress: Any) -> Release:
        release = made(self, data, progress)
        partition = Partition(np.unique(group(release), return_inverse=True)[1].astype(np.int32))
        if len(release.fragments) > 1:
            return sliced_release(data, partition, [one.attributes for one in release.fragments], self)
        return generalized_release(self, data, partition)

    return lambda: both(
        patch.object(algorithm, "_release", other), patch.object(algorithm, "promises", lambda self, data: ())
    )


@contextmanager
def both(*contexts: AbstractContextManager[Any]) -> Iterator[None]:
    """Several patches as one."""
    with ExitStack() as stack:
        for one in contexts:
            stack.enter_context(one)
        yield


def never_splits(release: Release) -> Any:
    """One group of all rows."""
    return np.zeros(release.data.n_rows, dtype=np.int64)


def at_random(release: Release) -> Any:
    """Groups of the same sizes, rows dealt at random."""
    return np.random.default_rng(0).permutation(release.partition.group)


@contextmanager
def flat_hierarchies() -> Iterator[None]:
    """No value has anything but * above it."""
    with patch.object(Hierarchy, "path_of", lambda self, value: ("*", "*")):
        yield


def replaced(target: Any, name: str, value: Any) -> Breaking:
    """Put something in the place of a module's or class's function."""
    return lambda: patch.object(target, name, value)
