"""What a certificate claims, judged by what is counted in its tables.

The certificate is a claim, and whoever wrote it may have written it to deceive. What can be counted is counted,
whatever it says of that; what cannot be counted is a claim, and why is worked out here and not taken from it.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from anoncore.base.errors import AnonymizationError, CancelledError
from anoncore.base.texts import listing
from anoncore.kernels.rounding import ACCUMULATED
from anoncore.measures.verdict import columns_find
from anoncore.publishing.certification.certificate import Certificate
from anoncore.publishing.certification.counting import Counted
from anoncore.publishing.certification.entries import Asked, Personal
from anoncore.publishing.certification.finding import Finding, either
from anoncore.publishing.certification.judging import (
    MOST_NAMED,
    UNSHOWABLE,
    Judged,
    Question,
    hidden_reason,
    judged,
    people_check,
    question_of,
    recheck_joins,
    recheck_people,
    unit_reason,
)
from anoncore.publishing.certification.published_release import Level, PublishedRelease, by_name, with_role
from anoncore.requirements import (
    DistinctDiversity,
    EntropyDiversity,
    FrequencyDiversity,
    KAnonymity,
    RecursiveDiversity,
)

OF_DIFFERENT_VALUES = DistinctDiversity | EntropyDiversity | FrequencyDiversity | RecursiveDiversity
LOOK_ALIKE = str.maketrans(
    "ΑΒΕΖΗΙΚΜΝΟΡΤΥΧαιονρυχАВЕКМНОРСТУХІЈЅаеорсухіјѕԁԛԝӏһ\u3164\u115f\u1160\u2800",
    "ABEZHIKMNOPTYXaiovpuxABEKMHOPCTYXIJSaeopcyxijsdqwlh    ",
)
"""Greek and Cyrillic letters, and blanks that Unicode takes for letters, as the Latin ones that they look like."""


def countable(certificate: Certificate) -> list[Question]:
    """The questions that the tables can answer."""
    found = []
    for asked in certificate.requirements:
        try:
            question = question_of(asked)
        except AnonymizationError:
            continue
        if not hidden_reason(by_name(certificate.attributes), question):
            found.append(question)
    return found


def requirement_findings(certificate: Certificate, counted: Counted) -> Iterator[Finding]:
    """Every requirement, counted where the tables show it."""
    if not with_role(counted.attributes, certificate.columns):
        sentence = "The certificate takes no column for known: it holds only if nobody knows anything of anybody."
        yield Finding("known columns", "claimed", sentence)
    statements: list[Asked | Personal] = [*certificate.requirements, *certificate.people]
    if not any(_asks_for_something(one, counted) for one in statements) and certificate.joins is None:
        sentence = "The certificate asks for nothing: nothing was counted, and nobody is said to be protected."
        yield Finding("requirements", "claimed", sentence)
    for asked in certificate.requirements:
        try:
            yield from _asked(certificate, asked, counted)
        except CancelledError:
            raise
        except AnonymizationError as error:
            # A table need not fit its certificate, nor a certificate itself.
            yield Finding(asked.label, "fails", f"{asked.label} cannot hold: {error}")


def _asks_for_something(statement: Asked | Personal, counted: Counted) -> bool:
    """Whether not everybody who is alone in a group would have what is stated."""
    if isinstance(statement, Personal):
        return statement.asked > 1 or statement.reason in UNSHOWABLE
    try:
        question = question_of(statement)
        is_hidden = hidden_reason(counted.attributes, question)
        return bool(is_hidden) or not counted.holds_for_anybody_alone(question)
    except AnonymizationError:
        return True  # which is found below


def _asked(certificate: Certificate, asked: Asked, counted: Counted) -> Iterator[Finding]:
    question = question_of(asked)
    label, described = asked.label, question.requirement.label()
    if (label, asked.asked) != (described, question.requirement.threshold):
        sentence = f"The certificate says '{label}', but describes {described}."
        yield Finding(label, "fails", sentence)
        return
    described_attribute = getattr(question.requirement, "attribute", None)
    if described_attribute not in (None, asked.attribute):
        sentence = (
            f"The certificate says that {label} is about '{asked.attribute}', but describes '{described_attribute}'."
        )
        yield Finding(label, "fails", sentence)
        return
    reason = hidden_reason(counted.attributes, question)
    if reason:
        yield claim(label, label, reason)
        return
    if certificate.unit is not None:
        # A group has at most as many people as rows, and where they have different values the rows do. So what more
        # people or more values never break fails for people where it fails for rows; rows show nothing else.
        found = judged(question, counted.levels(question)) if question.requirement.monotone_for_people else None
        if found is not None and not found.holds:
            yield Finding(label, "fails", found.sentence)
        else:
            yield claim(label, label, unit_reason(certificate.unit.column, certificate.columns))
        return
    found = judged(question, counted.levels(question))
    found = replace(found, sentence=found.sentence + _by_definition(counted, question))
    if found.holds and not counted.is_given and not _agrees(asked, found):
        yield Finding(label, "fails", f"{found.sentence} The certificate says {asked.reached:.6g}.")
        return
    yield either(label, found.holds, found.sentence)
    if not found.holds:
        return
    if counted.further:
        yield from _if_known(question, counted.levels(question, True), counted.further)
    yield from _if_not_joined(question, counted.levels_alone(question), counted.is_given)
    yield from _if_read_alike(question, counted.texts(question.attribute or ""))


def _by_definition(counted: Counted, question: Question) -> str:
    """What the certificate decides of how an attribute is counted, which readers have to agree with."""
    attribute = counted.attributes.get(question.attribute or "")
    if attribute is None:
        return ""
    told = ""
    if attribute.protected is not None:
        told += f" Of '{attribute.name}', only {listing(attribute.protected, MOST_NAMED)} are said to need protection."
    ground = getattr(question.requirement, "ground", "")
    if ground == "hierarchical":
        told += f" How far values of '{attribute.name}' are from each other is by the certificate's hierarchy."
    if ground == "ordered" and attribute.values is not None:
        order = listing(attribute.values, MOST_NAMED)
        told += f" How far values of '{attribute.name}' are from each other is by the certificate's order: {order}."
    return told


def _agrees(asked: Asked, found: Judged) -> bool:
    """Whether the level that was counted is the one that the certificate names, if it names one."""
    if asked.reached is None or found.reached is None:
        return True
    # The tables order values and groups in their own way, which adds the terms of a level in another order.
    return abs(found.reached - asked.reached) <= ACCUMULATED * max(abs(asked.reached), abs(asked.asked))


def _if_known(question: Question, levels: Sequence[Level], others: frozenset[str]) -> Iterator[Finding]:
    """A claim where a requirement holds only if nobody knows the columns that are neither known nor secret."""
    found = judged(question, levels)
    if found.holds:
        return
    failing = [level for level in levels if not level.holds]
    names = list(dict.fromkeys(name for level in failing for name in level.over if name in others)) or sorted(others)
    label, told, is_one = question.requirement.label(), listing(names, MOST_NAMED), len(names) == 1
    breaking = f"{told}, published by decision, {'breaks' if is_one else 'break'} {label}"
    if isinstance(question.requirement, KAnonymity):
        k = question.requirement.k
        below = [int(level.levels[level.levels < k].sum()) for level in failing]
        rows = [int(level.levels.sum()) for level in failing]
        place = below.index(max(below))
        breaking = columns_find(names, True, below[place], rows[place], k)
    which = "which is published as it is; with it" if is_one else "which are published as they are; with them"
    sentence = f"{label} holds only if nobody knows {told}, {which}, {found.sentence}"
    yield Finding(label, "claimed", sentence, breaking)


def _if_not_joined(question: Question, levels: Sequence[Level], is_given: bool) -> Iterator[Finding]:
    """What becomes of sizes in a table whose known columns tell rows apart inside the groups that join the tables."""
    if not levels:
        return
    found = judged(question, levels)
    if found.holds:
        return
    label = question.requirement.label()
    if is_given:
        yield Finding(label, "fails", found.sentence)
        return
    sentence = f"{label} holds only of the groups that join the tables; inside them, {found.sentence}"
    yield Finding(label, "claimed", sentence)


def _if_read_alike(question: Question, texts: Collection[str] | None) -> Iterator[Finding]:
    """A claim where values that are counted as different read alike, so that a person takes them for one."""
    if not texts or not isinstance(question.requirement, OF_DIFFERENT_VALUES):
        return
    first: dict[str, str] = {}
    for text in sorted(texts):
        other = first.setdefault(as_read(text), text)
        if other != text:
            label = question.requirement.label()
            sentence = (
                f"{label} counts {other!r} and {text!r} of '{question.attribute}' as two values, which read alike; it "
                "holds only if they are two"
            )
            yield Finding(f"values of '{question.attribute}'", "claimed", f"{sentence}.")
            return


def as_read(text: str) -> str:
    """What a person reads in a text: small letters, look-alikes as one, no unseen marks and no spaces at the ends."""
    folded = unicodedata.normalize("NFKC", text).translate(LOOK_ALIKE).casefold().translate(LOOK_ALIKE)
    seen = "".join(one for one in folded if unicodedata.category(one) not in ("Cf", "Cc", "Co", "Cn"))
    return " ".join(seen.split())


def claim(check: str, what: str, reason: str) -> Finding:
    """The finding of what cannot be counted."""
    return Finding(check, "claimed", f"{what}: {reason}.")


def attack_findings(certificate: Certificate) -> Iterator[Finding]:
    """What attacks got, as the maker of the release says: nothing of it can be counted."""
    for measured in certificate.attacks or ():
        yield Finding(f"attacks on '{measured.attribute}'", "claimed", measured.sentence)


def people_findings(certificate: Certificate, published: PublishedRelease) -> Iterator[Finding]:
    """Every promise about persons and the joins, counted where the tables show it."""
    for promise in certificate.people:
        check = people_check(promise)
        found = recheck_people(published, certificate.method, certificate.numbers is not None, promise)
        if isinstance(found, str):
            yield claim(check, promise.sentence.rstrip(".") if found in UNSHOWABLE else f"The {check}", found)
            continue
        yield either(check, found.holds, found.sentence)
        if found.holds and promise.sentence != found.sentence:
            # What was counted need not be what the certificate says of it.
            yield Finding(check, "claimed", f"The certificate says: {promise.sentence}")
    if certificate.joins is not None:
        joined = recheck_joins(published, certificate.joins)
        yield either(f"joins on '{certificate.joins.common}'", joined.holds, joined.sentence)
