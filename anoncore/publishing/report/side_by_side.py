"""The parts of a report that set several releases side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from anoncore import attacks, utility
from anoncore.base.errors import AnonymizationError
from anoncore.measures.criteria import CRITERIA, FAMILIES, Criterion
from anoncore.publishing.report.drawing import Floats, Series, bars, curves, swatch
from anoncore.publishing.report.markup import Markup, figure, items, section, table, tag
from anoncore.publishing.report.single import NOTHING, Numbers, statements
from anoncore.publishing.report.subject import Subject
from anoncore.publishing.report.treatments import parameter_text

NOT_THERE = "–"


def legend(subjects: Sequence[Subject]) -> Markup:
    """Which release has which colour, how it was made, and its groups."""
    rows = []
    for one in subjects:
        algorithm = one.release.algorithm
        fields = [] if algorithm is None else [name for name in type(algorithm).model_fields if name != "seed"]
        shown = [f"{name} = {parameter_text(getattr(algorithm, name))}" for name in fields]
        parts = one.release.fragments[:1] if one.release.is_shared else one.release.fragments
        groups = ", ".join(f"{part.partition.n_groups:,}" for part in parts)
        name = tag("span", swatch(one.style), tag("b", one.label), " (baseline)" if one is subjects[0] else "")
        rows.append((name, one.table, f"{one.release.data.n_rows:,}", groups, "; ".join(shown)))
    return section("The releases", table(("Release", "Table", "Rows", "Groups", "Parameters"), rows, numbers=(2, 3)))


def promises(subjects: Sequence[Subject]) -> Markup:
    """What each release was asked for and whether it holds."""
    parts = []
    for one in subjects:
        sentences = [sentence for _, sentence, _ in statements(one)]
        parts += [tag("h3", swatch(one.style), one.label), items(sentences or [NOTHING])]
    return section("What holds", *parts)


def numbers_side_by_side(subjects: Sequence[Subject], numbers: Sequence[Numbers]) -> Markup:
    """Every number of every release, with its difference to the first."""
    parts: list[Markup] = []
    for family, title in FAMILIES.items():
        rows = []
        for one in (one for one in CRITERIA.values() if one.family == family):
            base = numbers[0][one.name]
            cells = [_cell(one, found[one.name], None if place == 0 else base) for place, found in enumerate(numbers)]
            rows.append((one.title, *cells))
        header = ("Number", *(tag("span", swatch(one.style), one.label) for one in subjects))
        parts += [tag("h3", title), table(header, rows, numbers=range(1, len(subjects) + 1))]
    note = (
        f"Below a number is its difference to {subjects[0].label}, the baseline. {NOT_THERE}: a release of this form "
        "has no such number."
    )
    return section("The numbers", *parts, tag("p", note, class_="soft"), _shares(subjects, numbers))


def _cell(one: Criterion, value: float | AnonymizationError, base: float | AnonymizationError | None) -> Markup | str:
    if isinstance(value, AnonymizationError):
        return NOT_THERE
    if base is None or isinstance(base, AnonymizationError):
        return one.text(value)
    difference = one.text(abs(value - base))
    if difference == one.text(0.0):
        return tag("span", one.text(value), tag("br"), tag("span", "equal", class_="soft"))
    better = one.better(value, base)
    sign = "+" if value > base else "−"
    told = tag("span", f"{sign}{difference}, {'better' if better else 'worse'}", class_="good" if better else "bad")
    return tag("span", one.text(value), tag("br"), told)


def meanings() -> Markup:
    """What every number means, which direction is better, and who defined it."""
    rows = [
        (one.title, one.meaning, "higher" if one.higher_is_better else "lower", one.source) for one in CRITERIA.values()
    ]
    return section("What the numbers mean", table(("Number", "Meaning", "Better", "Source"), rows))


def _shares(subjects: Sequence[Subject], numbers: Sequence[Numbers]) -> Markup:
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
    alt = "; ".join(f"{one.name}: {', '.join(f'{value:.1%}' for value in one.values)}" for one in series)
    drawing = bars([one.title for one in shown], series, lambda value: f"{value:.1%}", alt)
    return figure(drawing, "All that is a share, on one scale; for each of them less is better.")


def distributions(subjects: Sequence[Subject], attribute: str | None) -> Markup:
    """Not only means: how all people, groups and queries fare."""
    return section("Distributions", tag("div", *_curves(subjects, attribute), _losses(subjects), class_="figures"))


def _curves(subjects: Sequence[Subject], attribute: str | None) -> Iterator[Markup]:
    def beliefs(one: Subject) -> Floats:
        found: Floats = one.measure("attacks.attribute_disclosure", attacks.attribute_disclosure, attribute).belief
        return found

    def risks(one: Subject) -> Floats:
        found: Floats = one.measure("attacks.reidentification", attacks.reidentification).risk
        return found

    def errors(one: Subject) -> Floats:
        found: Floats = one.measure("utility.query_error", utility.query_error, 10_000).relative_error
        return np.minimum(found[~np.isnan(found)], 1.0)

    if attribute is not None:
        yield _curve(subjects, beliefs, f"belief in one value of '{attribute}'", "people")
    yield _curve(subjects, risks, "probability to be found", "people")
    yield _curve(subjects, errors, "relative error of counting queries", "queries")


def _curve(subjects: Sequence[Subject], values: Callable[[Subject], Floats], x: str, of: str) -> Markup:
    series, missing = [], []
    for one in subjects:
        try:
            series.append(Series(one.label, values(one), one.style or 0))
        except AnonymizationError as error:
            missing.append(f"{one.label} is not drawn: {error}")
    if not series:
        return items(missing)
    alt = "; ".join(f"{one.name}: median {np.median(one.values):.3g}" for one in series)
    drawing = curves(series, x, of, lambda value: f"{value:.0%}", alt)
    told = f"How many of all {of} have at most the {x} below. {' '.join(missing)}"
    return figure(drawing, told.strip())


def _losses(subjects: Sequence[Subject]) -> Markup:
    known = [one for one in subjects if one.release.data.quasi_identifiers]
    if not known:
        return Markup("")
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
    alt = "; ".join(f"{one.name}: {np.nanmean(one.values):.1%} on average" for one in series)
    drawing = bars(names, series, lambda value: f"{value:.1%}", alt)
    return figure(drawing, "Share of its domain that a cell covers on average: 0% is exact, 100% says nothing.")
