"""What a certificate claims, judged by what is counted in its tables.

The certificate is a claim, and whoever wrote it may have written it to deceive. What can be counted is counted,
whatever it says of that; what cannot be counted is a claim, and why is worked out here and not taken from it.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from anoncore import privacy
from anoncore.base.errors import AnonymizationError, CancelledError, ReleaseError
from anoncore.base.texts import listing, quoted
from anoncore.kernels.arrays import Floats
from anoncore.kernels.rounding import ACCUMULATED, lies_below, reaches
from anoncore.privacy.wildcards import CellsAlike, matching_guarantee
from anoncore.publishing.certification.certificate import Certificate
from anoncore.publishing.certification.counting import Counted
from anoncore.publishing.certification.entries import Asked, Joins, Method, Personal
from anoncore.publishing.certification.finding import Finding, claimed, either, fails
from anoncore.publishing.certification.published_release import PublishedRelease, with_role
from anoncore.publishing.certification.published_rows import names_of
from anoncore.publishing.certification.questions import MOST_NAMED, Judged, Level, Question
from anoncore.release.release import Release
from anoncore.requirements import (
    DistinctDiversity,
    EntropyDiversity,
    FrequencyDiversity,
    KAnonymity,
    RecursiveDiversity,
)
from anoncore.table.hierarchy import ROOT

if TYPE_CHECKING:
    from anoncore.algorithms import Algorithm

T = TypeVar("T")
SECRET = "sensitive"
HIDDEN_PEOPLE = "which rows of the tables belong to one person is what the release hides"
UNKNOWN_METHOD = "only the method that promises it can count it, and this installation does not have it"
HIDDEN_SUPPRESSION = "numbers stand in place of cells that are suppressed"
OF_DIFFERENT_VALUES = DistinctDiversity | EntropyDiversity | FrequencyDiversity | RecursiveDiversity
LOOK_ALIKE = str.maketrans(
    "ΑΒΕΖΗΙΚΜΝΟΡΤΥΧαιονρυχАВЕКМНОРСТУХІЈЅаеорсухіјѕԁԛԝӏһı\u3164\u115f\u1160\u2800\u2010\u2011\u2012\u2013\u2014\u2212",
    "ABEZHIKMNOPTYXaiovpuxABEKMHOPCTYXIJSaeopcyxijsdqwlhi    ------",
)
"""Greek, Cyrillic and Turkish letters, blanks that Unicode takes for letters, and dashes, as what they look like."""
UNSEEN = dict.fromkeys(
    (0x307, 0x34F, 0x17B4, 0x17B5, *range(0x180B, 0x1810), *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))
)
"""Marks on letters that nobody sees: those that choose a variant of a sign, and a dot on what has one."""
STOPS = " .,;:"
MOSTLY_DIFFERENT = 0.5
"""A column with different texts in more than this share of its rows looks like names or remarks, not like a secret."""


def requirement_findings(certificate: Certificate, counted: Counted) -> Iterator[Finding]:
    """Every requirement, counted where the tables show it."""
    if not with_role(counted.attributes, certificate.columns):
        sentence = "The certificate takes no column for known: it holds only if nobody knows anything of anybody."
        yield claimed("known columns", sentence)
    statements: list[Asked | Personal] = [*certificate.requirements, *certificate.people]
    joins = certificate.joins
    asks_of_joins = joins is not None and (joins.k > 1 or joins.l > 1)
    if not asks_of_joins and not any(_asks_for_something(one, counted) for one in statements):
        sentence = "The certificate asks for nothing: nothing was counted, and nobody is said to be protected."
        yield claimed("requirements", sentence)
    yield from _names_alike(counted)
    yield from _like_names(certificate, counted)
    for asked in certificate.requirements:
        try:
            yield from _asked(certificate, asked, counted)
        except CancelledError:
            raise
        except AnonymizationError as error:
            # A table need not fit its certificate, nor a certificate itself.
            yield fails(asked.label, f"{asked.label} cannot hold: {error}")


def _asks_for_something(statement: Asked | Personal, counted: Counted) -> bool:
    """Whether not everybody who is alone in a group would have what is stated."""
    if isinstance(statement, Personal):
        return statement.asked > 1 or statement.is_shown_by_none
    try:
        question = Question.of(statement)
        return bool(question.hidden_reason(counted.attributes)) or not counted.holds_for_anybody_alone(question)
    except AnonymizationError:
        return True  # which is found below


def _asked(certificate: Certificate, asked: Asked, counted: Counted) -> Iterator[Finding]:
    question = Question.of(asked)
    requirement, label = question.requirement, asked.label
    described, described_attribute = requirement.label(), getattr(requirement, "attribute", None)
    if (label, asked.asked) != (described, requirement.threshold):
        yield fails(label, f"The certificate says {quoted(label)}, but describes {described}.")
        return
    if described_attribute not in (None, asked.attribute):
        about = f"is about {quoted(asked.attribute)}, but describes {quoted(described_attribute)}"
        yield fails(label, f"The certificate says that {label} {about}.")
        return
    reason = question.hidden_reason(counted.attributes)
    if reason:
        yield claimed(label, f"{label}: {reason}.")
        return
    if certificate.unit is not None:
        # A group has at most as many people as rows, and where they have different values the rows do. So what more
        # people or more values never break fails for people where it fails for rows; rows show nothing else.
        found = question.judged(counted.levels(question)) if requirement.monotone_for_people else None
        if found is not None and not found.holds:
            yield fails(label, found.sentence)
        else:
            yield claimed(label, f"{label}: {certificate.unit.hidden_reason(certificate.columns)}.")
        return
    found = question.judged(counted.levels(question))
    told = _by_definition(counted, question) + (_secrets(counted) if found.holds and question.attribute is None else "")
    found = replace(found, sentence=found.sentence + told)
    if found.holds and not counted.is_given and not _agrees(asked, found):
        yield fails(label, f"{found.sentence} The certificate says {asked.reached:.6g}.")
        return
    yield either(label, found.holds, found.sentence)
    if not found.holds:
        return
    if counted.further:
        yield from _if_known(question, counted.levels(question, True), counted.further)
    yield from _if_not_joined(question, counted.levels_alone(question), counted.is_given)
    yield from _if_read_alike(question, counted.texts(question.attribute or ""))
    yield from _if_defined_otherwise(question, counted)


def _by_definition(counted: Counted, question: Question) -> str:
    """What the certificate decides of how an attribute is counted, which readers have to agree with."""
    attribute = counted.attributes.get(question.attribute or "")
    if attribute is None:
        return ""
    told = ""
    if attribute.protected is not None:
        only = listing(attribute.protected, MOST_NAMED)
        is_or_are = "is" if len(attribute.protected) == 1 else "are"
        told += f" Of {quoted(attribute.name)}, only {only} {is_or_are} said to need protection, and every row with"
        told += " another value counts as a value of its own."
    ground = getattr(question.requirement, "ground", "")
    if ground == "hierarchical":
        told += f" How far values of {quoted(attribute.name)} are from each other is by the certificate's hierarchy."
    if ground == "ordered" and attribute.values is not None:
        order = listing(attribute.values, MOST_NAMED)
        told += (
            f" How far values of {quoted(attribute.name)} are from each other is by the certificate's order: {order}."
        )
    return told


def _secrets(counted: Counted) -> str:
    """That secrets are secret, with their names: whoever wrote the certificate chose what it calls a secret."""
    names = dict.fromkeys(name for rows in counted.tables for name in names_of(rows))
    secrets = with_role(counted.attributes, names, SECRET)
    return f" This supposes that nobody knows {listing(secrets, MOST_NAMED)}." if secrets else ""


def _if_defined_otherwise(question: Question, counted: Counted) -> Iterator[Finding]:
    """A claim where a requirement holds only by what the certificate says of which values are secret or near to others.

    Whoever wrote it may have named a rare value as the only secret, or levels of a hierarchy that part no values and
    only make all distances small.
    """
    attribute = counted.attributes.get(question.attribute or "")
    if attribute is None:
        return
    label, name = question.requirement.label(), quoted(attribute.name)
    changes: list[tuple[str, object, str]] = []
    if attribute.protected is not None:
        only = listing(attribute.protected, MOST_NAMED)
        said = f"if no other values of {name} than {only} need protection; of all values,"
        changes.append(("protected", None, said))
    if getattr(question.requirement, "ground", "") == "hierarchical" and attribute.hierarchy is not None:
        said = f"by levels of the certificate's hierarchy of {name} that part no values; without them,"
        changes.append(("hierarchy", parting_levels(attribute.hierarchy), said))
    for field, value, said in changes:
        if value != getattr(attribute, field):
            changed = counted.redefined(attribute.model_copy(update={field: value}))
            found = question.judged(changed.levels(question))
            if not found.holds:
                yield claimed(label, f"{label} holds only {said} {found.sentence}")


def parting_levels(lines: Sequence[Sequence[str]]) -> list[list[str]]:
    """The lines of a hierarchy without the levels that part the values as the level below does; values stand first."""
    nodes = [*zip(*lines, strict=True)]
    pairs = [(len({*low}), len({*high}), len({*zip(low, high, strict=True)})) for low, high in pairwise(nodes)]
    parting = [0, *(level for level, numbers in enumerate(pairs, 1) if len({*numbers}) > 1)]
    # A single value is parted from nothing, and a hierarchy has one level above it all the same.
    levels = parting if len(parting) > 1 else [0, len(nodes) - 1]
    return [[line[level] for level in levels] for line in lines]


def _names_alike(counted: Counted) -> Iterator[Finding]:
    """A claim for two columns of a table whose names read alike, so that who names one may mean the other."""
    for rows in counted.tables:
        first: dict[str, str] = {}
        for name in names_of(rows):
            other = first.setdefault(as_read(name), name)
            if other != name:
                sentence = f"Columns {other!r} and {name!r} of one table read alike; what is said of them holds only if"
                yield claimed("names of columns", f"{sentence} nobody takes one for the other.")


def _like_names(certificate: Certificate, counted: Counted) -> Iterator[Finding]:
    """A claim for every text that the certificate calls a secret, asks nothing of, and that is nearly everybody's own:
    whoever wrote it may have called names or remarks a secret.
    """
    asked = {one.attribute for one in certificate.requirements} | {one.attribute for one in certificate.people}
    for rows in counted.tables:
        for name in with_role(counted.attributes, names_of(rows), SECRET):
            if name in asked or counted.attributes[name].type == "number":
                continue
            n_values, n_rows = counted.different(rows, name), sum(part.n_rows for part in rows)
            if n_values > max(MOSTLY_DIFFERENT * n_rows, 1):
                what = f"{n_values:,} different texts in {n_rows:,} rows, as names or remarks have"
                sentence = f"{quoted(name)} is called a secret of which nothing is asked, and has {what}; what holds"
                yield claimed(f"values of {quoted(name)}", f"{sentence} holds only if nobody knows them.")


def _agrees(asked: Asked, found: Judged) -> bool:
    """Whether the level that was counted is the one that the certificate names, if it names one."""
    if asked.reached is None or found.reached is None:
        return True
    # The tables order values and groups in their own way, which adds the terms of a level in another order.
    return abs(found.reached - asked.reached) <= ACCUMULATED * max(abs(asked.reached), abs(asked.asked))


def _if_known(question: Question, levels: Sequence[Level], others: frozenset[str]) -> Iterator[Finding]:
    """A claim where a requirement holds only if nobody knows the columns that are neither known nor secret."""
    found = question.judged(levels)
    if found.holds:
        return
    failing = [level for level in levels if not level.holds]
    names = list(dict.fromkeys(name for level in failing for name in level.over if name in others)) or sorted(others)
    label, told, is_one = question.requirement.label(), listing(names, MOST_NAMED), len(names) == 1
    breaking = f"{told}, published by decision, {'breaks' if is_one else 'break'} {label}"
    if isinstance(question.requirement, KAnonymity):
        # It imports every attack; most certificates leave nobody to be found.
        from anoncore.measures.verdict import columns_find

        k = question.requirement.k
        below = [int(level.levels[level.levels < k].sum()) for level in failing]
        rows = [int(level.levels.sum()) for level in failing]
        place = below.index(max(below))
        breaking = columns_find(names, True, below[place], rows[place], k)
    which = "which is published as it is; with it" if is_one else "which are published as they are; with them"
    yield claimed(label, f"{label} holds only if nobody knows {told}, {which}, {found.sentence}", breaking)


def _if_not_joined(question: Question, levels: Sequence[Level], is_given: bool) -> Iterator[Finding]:
    """What becomes of sizes in a table whose known columns tell rows apart inside the groups that join the tables."""
    label, found = question.requirement.label(), question.judged(levels) if levels else None
    if found is None or found.holds:
        return
    if is_given:
        yield fails(label, found.sentence)
    else:
        yield claimed(label, f"{label} holds only of the groups that join the tables; inside them, {found.sentence}")


def _if_read_alike(question: Question, texts: Collection[str] | None) -> Iterator[Finding]:
    """A claim where values that are counted as different read alike, so that a person takes them for one."""
    if not texts or not isinstance(question.requirement, OF_DIFFERENT_VALUES):
        return
    first: dict[str, str] = {}
    for text in sorted(texts):
        other = first.setdefault(as_read(text), text)
        if other != text:
            name, label = question.attribute, question.requirement.label()
            sentence = (
                f"{label} counts {other!r} and {text!r} of {quoted(name)} as two values, which read alike; it holds"
            )
            yield claimed(f"values of {quoted(name)}", f"{sentence} only if they are two.")
            return


def as_read(text: str) -> str:
    """What is read in a text: small letters, look-alikes as one, no unseen marks, and no stops or spaces around it."""
    folded = unicodedata.normalize("NFKC", text).translate(LOOK_ALIKE).casefold().translate(LOOK_ALIKE)
    seen = "".join(one for one in folded.translate(UNSEEN) if unicodedata.category(one) not in ("Cf", "Cc", "Co", "Cn"))
    return " ".join(seen.split()).strip(STOPS)


def attack_findings(certificate: Certificate) -> Iterator[Finding]:
    """What attacks got, as the maker of the release says: nothing of it can be counted."""
    for measured in certificate.attacks or ():
        yield claimed(f"attacks on {quoted(measured.attribute)}", measured.sentence)


def people_findings(certificate: Certificate, published: PublishedRelease) -> Iterator[Finding]:
    """Every promise about persons and the joins, counted where the tables show it."""
    for promise in certificate.people:
        found = recheck_people(published, certificate.method, certificate.numbers is not None, promise)
        if isinstance(found, str):
            what = promise.sentence.rstrip(".") if promise.is_shown_by_none else f"The {promise.check}"
            yield claimed(promise.check, f"{what}: {found}.")
            continue
        yield either(promise.check, found.holds, found.sentence)
        if found.holds and promise.sentence != found.sentence:
            # What was counted need not be what the certificate says of it.
            yield claimed(promise.check, f"The certificate says: {promise.sentence}")
    if certificate.joins is not None:
        joined = recheck_joins(published, certificate.joins)
        yield either(f"joins on {quoted(certificate.joins.common)}", joined.holds, joined.sentence)


def recheck_people(
    published: PublishedRelease, method: Method | None, has_numbers: bool, promise: Personal
) -> Judged | str:
    """Check a promise about every person as the adversary would; why that cannot be done where the tables hide it.

    Where they hide which quasi-identifiers belong together, everybody who fits the tables is looked at: the promise
    holds if it does for all of them, and fails if it must fail for one. `has_numbers` says that numbers stand for
    ranges.
    """
    attribute = promise.attribute
    if promise.is_shown_by_none:
        return promise.reason
    if attribute is None and has_numbers:
        return HIDDEN_SUPPRESSION
    if attribute is None:
        return _said(promise.sentence, lambda: _recheck_matches(published, promise.asked))
    if method is None:
        return HIDDEN_PEOPLE
    # Importing every method takes long, and most certificates promise nothing that one of them has to count.
    from anoncore.algorithms import ALGORITHMS

    if method.name not in ALGORITHMS:
        return UNKNOWN_METHOD

    def work() -> Judged | str:
        release = published.people()
        if release is None:
            return HIDDEN_PEOPLE
        algorithm = ALGORITHMS.build({"name": method.name, **method.parameters})
        if not published.tells_people:
            return _bounded(release, algorithm, attribute, promise.asked)
        guarantees = algorithm.personal_guarantees(release)
        kept = next((guarantee for guarantee in guarantees if guarantee.attribute == attribute), None)
        return HIDDEN_PEOPLE if kept is None else Judged(kept.holds, kept.sentence, kept.reached)

    return _said(promise.sentence, work)


def _recheck_matches(published: PublishedRelease, asked: float) -> Judged:
    """Count for every published row the rows that agree with it wherever neither cell is suppressed."""
    if len(published.tables) > 1:
        raise ReleaseError("the quasi-identifiers stand in several tables.")
    (table,) = published.tables
    known = [table.columns[name] for name in with_role(published.attributes, table.columns)]
    is_star = [np.array([text == ROOT for text in column.texts], dtype=np.bool_) for column in known]
    codes = np.column_stack([column.codes for column in known])
    suppressed = np.column_stack([star[column.codes] for star, column in zip(is_star, known, strict=True)])
    alike = CellsAlike.of_rows(codes, suppressed)[0]
    found = matching_guarantee(alike, asked)
    return Judged(found.holds, found.sentence, found.reached)


def _bounded(release: Release, algorithm: Algorithm, attribute: str, asked: float) -> Judged | str:
    """Judge the promise by everybody who fits: it holds if it does for all and fails if it must for one."""
    diversity = getattr(algorithm, "diversity", None)
    if diversity not in ("posterior", "distinct"):
        return HIDDEN_PEOPLE
    from anoncore.attacks.fitting_people import level_bounds

    domain = release.data.domain[attribute]
    protected = [domain.code_of(value) for value in release.data.sensitive_values.get(attribute, ())]

    def level(probability: Floats) -> Floats:
        """1 / the likeliest value, or how many values are possible; a protected set counts as one."""
        if diversity == "distinct":
            possible = probability > 0
            counts = possible.sum(axis=1)
            return counts - (
                possible[:, protected].sum(axis=1) - possible[:, protected].any(axis=1) if protected else 0
            )
        likeliest = probability[:, protected].sum(axis=1) if protected else probability.max(axis=1)
        return np.divide(1.0, likeliest, out=np.full(len(likeliest), np.inf), where=likeliest > 0)

    bounds = level_bounds(release, attribute, level)
    what = f"{algorithm.title} with {diversity} diversity, l = {asked:g}"
    if bounds is not None and lies_below(bounds.high, asked, 2 * ACCUMULATED):
        return Judged(False, f"{what}, fails: someone in the tables has at most {bounds.high:.4g}, whoever that is.")
    if bounds is not None and reaches(bounds.low, asked, 2 * ACCUMULATED):
        return Judged(True, f"{what}, holds: everybody who fits the tables has at least {bounds.low:.4g}.")
    return HIDDEN_PEOPLE


def recheck_joins(published: PublishedRelease, asked: Joins) -> Judged:
    """Check the joins of published groups of different tables."""

    def work() -> Judged:
        check = privacy.joins(published.joined(asked.common), asked.k, asked.l, asked.delta)
        return Judged(check.holds, check.sentences[0])

    return _said(f"Joins on {quoted(asked.common)}", work)


def _said(what: str, work: Callable[[], T]) -> T | Judged:
    """Do the work; where a table no longer fits its certificate, the statement fails with the reason."""
    try:
        return work()
    except AnonymizationError as error:
        return Judged(False, f"{what.rstrip('.')} cannot hold: {error}")
