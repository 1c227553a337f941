"""The fourth section of a dossier: levels, groups by size and who is unique, measured of a release."""

from __future__ import annotations

from collections.abc import Iterator

from anoncore import attacks, privacy
from anoncore.base.errors import AnonymizationError
from anoncore.base.texts import share_text
from anoncore.front.dossier.dossier_parts import Figure, Identifiability, SizeClass, Sizes, Spread
from anoncore.front.dossier.measured_release import MeasuredRelease
from anoncore.privacy.published import fragments_of
from anoncore.release.release import Release
from anoncore.release.unchanged import unchanged

SIZE_LIMITS = ((1, 1), (2, 2), (3, 4), (5, 10), (11, 19), (20, None))
"""Sizes of groups that are counted together: 11 is the least that the EMA, Health Canada and CMS take."""
ALONE_BEFORE = "Rows that were alone in the original table"
NO_SHARE = "the share of the population that is in the table was not given"


def identifiability(measured: MeasuredRelease, draws: str, spread: list[Spread]) -> Identifiability:
    """Section 4; `draws` and `spread` say whether the method draws at random, and how far other draws lie apart."""
    release, notes = measured.release, []
    levels: list[Figure] = []
    try:
        profile = measured.results("privacy.profile", privacy.profile)
    except AnonymizationError as error:
        title = "Levels of the worst group"
        levels.append(Figure(name="levels", title=title, standing="not measured", reason=measured.say(str(error))))
    else:
        levels = [measured.figure(one, one.attribute) for one in profile.scores]
        notes = [measured.say(note) for note in profile.notes]
    return Identifiability(
        levels=levels, sizes=[*_sizes(release)], uniques=[*_uniques(measured)], draws=draws, spread=spread, notes=notes
    )


def _sizes(release: Release) -> Iterator[Sizes]:
    if release.is_synthetic:
        return
    for part in fragments_of(release, None):
        counts: dict[int, int] = {}
        for size in release.people_per_group(part).tolist():
            counts[size] = counts.get(size, 0) + 1
        word = release.counted_word
        yield Sizes(
            table="all tables" if release.is_shared and len(release.fragments) > 1 else part.name,
            counted="people" if word == "people" else "rows",
            classes=size_classes(counts),
            standing="measured",
        )


def size_classes(counts: dict[int, int]) -> list[SizeClass]:
    """Groups by size, of the number of groups of each size; sizes that no group has are told as well."""
    found = []
    for low, high in SIZE_LIMITS:
        inside = {size: number for size, number in counts.items() if size >= low and (high is None or size <= high)}
        sizes = f"{low} or more" if high is None else f"{low}" if high == low else f"{low} to {high}"
        members = sum(size * number for size, number in inside.items())
        found.append(SizeClass(sizes=sizes, groups=sum(inside.values()), members=members))
    return found


def _uniques(measured: MeasuredRelease) -> Iterator[Figure]:
    """Who is alone by what others may know: in the original, in the release, and in the population."""
    release = measured.release
    try:
        release.require_original("Who was alone is counted in the original table")
        before = unchanged(release.data).partition.sizes
    except AnonymizationError as error:
        reason = measured.say(str(error))
        yield Figure(name="unique-rows-before", title=ALONE_BEFORE, standing="not measured", reason=reason)
    else:
        yield _share("unique-rows-before", ALONE_BEFORE, float((before == 1).sum()) / release.data.n_rows)
    name, title = "unique-rows-published", "Rows that are alone by what is published"
    try:
        risk = measured.results("attacks.reidentification", attacks.reidentification)
    except AnonymizationError as error:
        yield Figure(name=name, title=title, standing="not measured", reason=measured.say(str(error)))
    else:
        yield _share(name, title, float((risk.class_size == 1).mean()))
    yield _population(measured)


def _population(measured: MeasuredRelease) -> Figure:
    title, fraction = "Unique in the population (estimated)", measured.answers.sampled_share
    reason = NO_SHARE
    if fraction is not None:
        try:
            found = attacks.population_uniqueness(measured.release, fraction)
        except AnonymizationError as error:
            reason = measured.say(str(error))
        else:
            figure = measured.figure(found.share)
            return figure.model_copy(update={"title": title, "meaning": f"{figure.meaning} {found.method}"})
    return Figure(name="population-uniques", title=title, standing="not measured", reason=reason)


def _share(name: str, title: str, share: float) -> Figure:
    return Figure(name=name, title=title, value=share, text=share_text(share), standing="measured")
