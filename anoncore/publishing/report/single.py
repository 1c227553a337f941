"""The parts of a report about one release: what holds, what an adversary gets, what it costs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import numpy as np

from anoncore import attacks, privacy, utility
from anoncore.base.errors import AnonymizationError
from anoncore.measures.criteria import CRITERIA, FAMILIES, usual_distance
from anoncore.publishing.report.drawing import Floats, Series, bars, histogram
from anoncore.publishing.report.markup import Markup, figure, items, joined, section, table, tag
from anoncore.publishing.report.subject import Subject
from anoncore.release.release import Release

TILES = ("k", "largest-belief", "believed-above-half", "reidentified-mean", "information-loss", "query-error")
JOINS = "Zakerzadeh, Aggarwal and Barker 2014, definition 4.1 and theorem 4.1"
NOTHING = "Nothing was asked of this release."
Numbers = dict[str, float | AnonymizationError]


def summary(subject: Subject, numbers: Numbers) -> Markup:
    """The numbers that matter most, each with what it says."""
    shown = []
    for name in TILES:
        value, one = numbers[name], CRITERIA[name]
        if isinstance(value, float):
            direction = "higher" if one.higher_is_better else "lower"
            title, meaning = tag("span", one.title), tag("span", f"{one.meaning} {direction.capitalize()} is better.")
            shown.append(tag("div", title, tag("b", one.text(value)), meaning, class_="tile"))
    release = subject.release
    sizes = "; ".join(
        f"{part.partition.n_groups:,} groups ({release.group_word}) of {part.partition.sizes.min():,} to "
        f"{part.partition.sizes.max():,} rows" + ("" if release.is_shared else f" in {part.name}")
        for part in (release.fragments[:1] if release.is_shared else release.fragments)
    )
    return section(
        "In short", tag("p", f"{release.data.n_rows:,} rows in {sizes}."), tag("div", *shown, class_="tiles")
    )


def holds(subject: Subject) -> Markup:
    """What was asked for or promised, by whose definition, and the level reached."""
    rows = [(_state(good), sentence, source) for good, sentence, source in statements(subject)]
    content = table(("State", "What was asked", "Definition"), rows) if rows else tag("p", NOTHING)
    return section("What holds", content)


def statements(subject: Subject) -> list[tuple[bool, str, str]]:
    """Every guarantee: whether it holds, its sentence, and whose definition it is."""
    release = subject.release
    found = [
        (one.holds, one.sentence, one.requirement.source)
        for one in subject.measure("privacy.guarantees", privacy.guarantees)
    ]
    source = "" if release.algorithm is None else release.algorithm.source
    personal = subject.measure("privacy.personal_guarantees", privacy.personal_guarantees)
    found += [(one.holds, one.sentence, source) for one in personal]
    if not release.is_shared:
        with suppress(AnonymizationError):  # without a common attribute there is nothing to join on
            joins = subject.measure("privacy.joins", privacy.joins)
            found.append((joins.holds, joins.sentences[0], JOINS))
    return found


def _state(good: bool) -> Markup:
    return tag("span", "holds" if good else "fails", class_="good" if good else "bad")


def reached(subject: Subject, attribute: str | None) -> Markup:
    """The worst level over all groups, whatever was asked, with group sizes and distances drawn."""
    profile = subject.measure("privacy.profile", privacy.profile)
    rows = [
        (
            one.title,
            one.attribute or "",
            _number(float(one)),
            "" if one.baseline is None else _number(one.baseline),
            f"{one.meaning} {'Higher' if one.higher_is_better else 'Lower'} is better.",
        )
        for one in profile.scores
    ]
    drawings = [_sizes(subject)]
    if attribute is not None and any(one.attribute == attribute for one in profile.scores):
        drawings.append(_distances(subject, attribute))
    return section(
        "Levels reached",
        tag("p", "The worst group decides. The whole table as one group is what no grouping can do better than."),
        table(("Level", "Of", "Worst group", "Whole table", "Meaning"), rows, numbers=(2, 3)),
        tag("div", *drawings, class_="figures"),
        items(profile.notes),
    )


def _number(value: float) -> str:
    if np.isinf(value):
        return "infinite"
    return f"{value:,.0f}" if value.is_integer() else f"{value:,.4g}"


def _sizes(subject: Subject) -> Markup:
    release = subject.release
    parts = release.fragments[:1] if release.is_shared else release.fragments
    sizes = np.concatenate([part.partition.sizes for part in parts]).astype(np.float64)
    median = float(np.median(sizes))
    drawing = histogram(
        sizes,
        "rows of a group",
        "groups",
        lambda value: f"{value:,.0f}",
        f"Group sizes, median {median:,.0f}.",
        subject.style or 0,
    )
    return figure(drawing, f"Sizes of the {len(sizes):,} groups; half of them have at most {median:,.0f} rows.")


def _distances(subject: Subject, attribute: str) -> Markup:
    ground = usual_distance(subject.release, attribute)
    profile = subject.measure("privacy.profile", privacy.profile)
    found = [
        one.attributes[attribute].levels[f"t-{ground}"] for one in profile.fragments if attribute in one.attributes
    ]
    distances = np.concatenate(found)
    drawing = histogram(
        distances,
        f"EMD of '{attribute}' from the table",
        "groups",
        lambda value: f"{value:.2f}",
        f"Distances of the groups from the table, largest {distances.max():.3f}.",
        subject.style or 0,
    )
    caption = f"How far each group's '{attribute}' is from the table's ({ground} distance, Li et al. 2007)."
    return figure(drawing, caption)


def adversary(subject: Subject, attribute: str | None) -> Markup:
    """What an adversary who knows the quasi-identifiers believes, and whom he finds."""
    parts: list[Markup] = []
    if attribute is not None:
        try:
            found = subject.measure("attacks.attribute_disclosure", attacks.attribute_disclosure, attribute)
            parts.append(_beliefs(found, subject.style or 0))
        except AnonymizationError as error:
            parts.append(tag("p", str(error)))
    risk = subject.measure("attacks.reidentification", attacks.reidentification)
    rows = [
        (one.model, f"{one.largest:.1%}", f"{one.mean:.1%}", f"{one.at_risk:.1%}", one.definition)
        for one in (risk.prosecutor, risk.journalist, risk.marketer)
    ]
    header = (
        "Adversary",
        "Largest risk",
        "Mean risk",
        f"Records above {risk.threshold:.0%}",
        "Definition (El Emam 2013)",
    )
    return section(
        "What an adversary gets",
        tag("p", "The adversary knows every quasi-identifier of everybody, and who is in the table."),
        *parts,
        tag("h3", "Finding people"),
        table(header, rows, numbers=(1, 2, 3)),
        items(risk.notes),
    )


def _beliefs(found: attacks.AttributeDisclosure, style: int) -> Markup:
    rows = [
        (one.title, f"{one:.1%}", f"{one.baseline:.1%}", one.meaning)
        for one in (found.largest, found.truth)
        if one.baseline is not None
    ]
    drawing = histogram(
        found.belief,
        f"belief in one value of '{found.attribute}'",
        "people",
        lambda value: f"{value:.0%}",
        f"Beliefs about '{found.attribute}', largest {found.largest:.1%}.",
        style,
    )
    caption = "How sure the adversary is of one value, person by person. Guessing from the whole table alone has "
    return joined(
        [
            tag("h3", f"Learning '{found.attribute}'"),
            table(("Number", "With the release", "Guessing", "Meaning"), rows, numbers=(1, 2)),
            figure(drawing, f"{caption}{found.largest.baseline or 0:.1%}."),
        ]
    )


def cost(subject: Subject) -> Markup:
    """What the release loses: per attribute, and for counting queries."""
    release = subject.release
    parts: list[Markup] = []
    if release.data.quasi_identifiers:
        loss = subject.measure("utility.information_loss", utility.information_loss)
        names = list(loss.per_attribute)
        values = np.array([loss.per_attribute[name] for name in names])
        drawing = bars(
            names, [Series("loss", values, subject.style or 0)], lambda value: f"{value:.1%}", _alt(names, values)
        )
        parts.append(figure(drawing, f"{loss.meaning} All attributes together: {float(loss):.1%}."))
    parts += list(_queries(subject, release))
    return section("What it costs", tag("div", *parts, class_="figures"))


def _alt(names: list[str], values: Floats) -> str:
    return "; ".join(f"{name} {value:.1%}" for name, value in zip(names, values.tolist(), strict=True))


def _queries(subject: Subject, release: Release) -> Iterator[Markup]:
    try:
        found: Any = subject.measure("utility.query_error", utility.query_error, 10_000)
    except AnonymizationError as error:
        yield tag("p", str(error), class_="soft")
        return
    errors = np.minimum(found.relative_error[~np.isnan(found.relative_error)], 1.0)
    drawing = histogram(
        errors,
        "relative error (larger ones count as 100%)",
        "queries",
        lambda value: f"{value:.0%}",
        f"Errors of counting queries, median {found.median:.1%}.",
        subject.style or 0,
    )
    yield figure(drawing, f"{found.meaning} Half of them are off by at most {found.median:.1%}.")


def all_numbers(numbers: Numbers) -> Markup:
    """Every number on the scale on which any releases are compared."""
    parts = []
    for family, title in FAMILIES.items():
        rows = []
        for one in CRITERIA.values():
            value = numbers[one.name]
            if one.family == family and isinstance(value, float):
                direction = "higher" if one.higher_is_better else "lower"
                rows.append((one.title, one.text(value), direction, one.meaning, one.source))
        if rows:
            header = ("Number", "Value", "Better", "Meaning", "Source")
            parts += [tag("h3", title), table(header, rows, numbers=(1,))]
    return section("All numbers", *parts)
