"""The parts of a report that set several releases side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import isnan

import numpy as np

from anoncore import attacks, utility
from anoncore.base.errors import AnonymizationError
from anoncore.base.number import Number
from anoncore.kernels.arrays import Floats
from anoncore.measures.criteria import CRITERIA, FAMILIES
from anoncore.publishing.report.drawing import Series, bars, curves
from anoncore.publishing.report.rendering import Figure, Section, section
from anoncore.publishing.report.single import Numbers, query_errors
from anoncore.publishing.report.subject import Subject
from anoncore.publishing.report.treatments import parameter_text

NOT_THERE = "–"


@dataclass(frozen=True)
class Made:
    """A release in the list of those compared: its rows, its groups and the parameters that made it, as texts."""

    subject: Subject
    rows: str
    groups: str
    parameters: str


@dataclass(frozen=True)
class Cell:
    """A number of a release, and its difference to the baseline with the class that the difference has in the HTML."""

    text: str
    difference: str = ""
    state: str = ""


def legend(subjects: Sequence[Subject]) -> Section:
    """Which release has which colour, how it was made, and its groups."""
    return section("The releases", "releases.html", releases=[_made(one) for one in subjects])


def _made(subject: Subject) -> Made:
    release = subject.release
    algorithm = release.algorithm
    fields = [] if algorithm is None else [name for name in type(algorithm).model_fields if name != "seed"]
    shown = [f"{name} = {parameter_text(getattr(algorithm, name))}" for name in fields]
    parts = release.fragments[:1] if release.is_shared else release.fragments
    groups = NOT_THERE if release.is_synthetic else ", ".join(f"{part.partition.n_groups:,}" for part in parts)
    return Made(subject, f"{release.n_records:,}", groups, "; ".join(shown))


def promises(subjects: Sequence[Subject]) -> Section:
    """What each release was asked for and whether it holds, and what nobody asked for and fails badly."""
    return section("What holds, and what does not", "promises.html", subjects=subjects)


def numbers_side_by_side(subjects: Sequence[Subject], numbers: Sequence[Numbers]) -> Section:
    """Every number of every release, with its difference to the first."""
    families = []
    for family, title in FAMILIES.items():
        rows = []
        for one in (one for one in CRITERIA.values() if one.family == family):
            base = numbers[0][one.name]
            cells = [_cell(one, found[one.name], None if place == 0 else base) for place, found in enumerate(numbers)]
            rows.append((one.title, cells))
        families.append((title, rows))
    return section(
        "The numbers",
        "side_by_side.html",
        families=families,
        subjects=subjects,
        not_there=NOT_THERE,
        shares=_shares(subjects, numbers),
    )


def _cell(one: Number, value: float | AnonymizationError, base: float | AnonymizationError | None) -> Cell:
    if isinstance(value, AnonymizationError):
        return Cell(NOT_THERE)
    if base is None or isinstance(base, AnonymizationError):
        return Cell(one.text(value))
    difference = one.text(abs(value - base))
    if difference == one.text(0.0):
        return Cell(one.text(value), "equal", "soft")
    better = one.better(value, base)
    told = f"{'+' if value > base else '−'}{difference}, {'better' if better else 'worse'}"
    return Cell(one.text(value), told, "good" if better else "bad")


def meanings() -> Section:
    """What every number means, which direction is better, and who defined it."""
    return section("What the numbers mean", "meanings.html", numbers=CRITERIA.values())


def _shares(subjects: Sequence[Subject], numbers: Sequence[Numbers]) -> Figure:
    """All that is a share on one scale."""
    shown = [
        one
        for one in CRITERIA.values()
        if one.form == "share" and any(isinstance(found[one.name], float) for found in numbers)
    ]
    series = [
        Series(
            subject.label,
            np.array([value if isinstance(value := found[one.name], float) else np.nan for one in shown]),
            subject.style or 0,
        )
        for subject, found in zip(subjects, numbers, strict=True)
    ]
    alt = "; ".join(f"{one.name}: {', '.join(map(_share, one.values.tolist()))}" for one in series)
    drawing = bars([one.title for one in shown], series, lambda value: f"{value:.1%}", alt)
    return Figure(drawing, "All that is a share, on one scale; for each of them less is better.")


def _share(value: float) -> str:
    return NOT_THERE if isnan(value) else f"{value:.1%}"


def distributions(subjects: Sequence[Subject], attribute: str | None) -> Section:
    """Not only means: how all people, groups and queries fare."""
    drawn = [*_curves(subjects, attribute), *_losses(subjects)]
    return section(
        "Distributions",
        "distributions.html",
        figures=[one for one in drawn if isinstance(one, Figure)],
        missing=[reason for one in drawn if not isinstance(one, Figure) for reason in one],
    )


def _curves(subjects: Sequence[Subject], attribute: str | None) -> Iterator[Figure | list[str]]:
    def beliefs(one: Subject) -> Floats:
        return one.measure("attacks.attribute_disclosure", attacks.attribute_disclosure, attribute).belief

    def risks(one: Subject) -> Floats:
        return one.measure("attacks.reidentification", attacks.reidentification).risk

    people = "rows" if any(one.release.data.people_word == "rows" for one in subjects) else "people"
    if attribute is not None:
        yield _curve(subjects, beliefs, f"belief in one value of '{attribute}'", people)
    yield _curve(subjects, risks, "probability to be found", people)
    yield _curve(subjects, query_errors, "relative error of counting queries", "queries")


def _curve(subjects: Sequence[Subject], values: Callable[[Subject], Floats], x: str, of: str) -> Figure | list[str]:
    """The curves of all releases; where none has any, the reasons."""
    series, missing = [], []
    for one in subjects:
        try:
            series.append(Series(one.label, values(one), one.style or 0))
        except AnonymizationError as error:
            missing.append(f"{one.label} is not drawn: {error}")
    if not series:
        return missing
    alt = "; ".join(f"{one.name}: median {np.median(one.values):.3g}" for one in series)
    drawing = curves(series, x, of, lambda value: f"{value:.0%}", alt)
    told = f"How many of all {of} have at most the {x} below. {' '.join(missing)}"
    return Figure(drawing, told.strip())


def _losses(subjects: Sequence[Subject]) -> Iterator[Figure]:
    known = [one for one in subjects if one.release.data.quasi_identifiers and not one.release.is_synthetic]
    if not known:
        return
    losses = {id(one): one.measure("utility.information_loss", utility.information_loss) for one in known}
    names = list(dict.fromkeys(name for one in known for name in losses[id(one)].per_attribute))
    series = [
        Series(
            one.label,
            np.array(
                [losses[id(one)].per_attribute.get(name, np.nan) if id(one) in losses else np.nan for name in names]
            ),
            one.style or 0,
        )
        for one in subjects
    ]
    drawn = [one for one in series if not np.isnan(one.values).all()]
    alt = "; ".join(f"{one.name}: {np.nanmean(one.values):.1%} on average" for one in drawn)
    drawing = bars(names, series, lambda value: f"{value:.1%}", alt)
    yield Figure(drawing, "Share of its domain that a cell covers on average: 0% is exact, 100% says nothing.")
