"""A policy turned against published files: only what can be counted in them counts, whatever their certificate says."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from anoncore.base.errors import AnonymizationError
from anoncore.base.showing import printable
from anoncore.base.texts import quoted
from anoncore.front.policy.group_requirements import requirement_of_limit
from anoncore.front.policy.judgement import JudgedRule, Judgement, Status
from anoncore.front.policy.measure_limits import NO_SECRET
from anoncore.front.policy.refused_contents import NOT_LOOKED_FOR, NOT_PUBLISHED, judged_columns
from anoncore.front.policy.sections import Limit
from anoncore.front.policy.wording import REFUSED_IDENTIFIERS, REFUSED_TEXT, rules_in_words
from anoncore.publishing.certification.certificate import Certificate
from anoncore.publishing.certification.entries import Asked, Attribute
from anoncore.publishing.certification.finding import Finding, Verification
from anoncore.publishing.certification.published_release import by_name, with_role
from anoncore.requirements import KAnonymity, RecursiveDiversity, Requirement
from anoncore.requirements.requirement import COMPARISON_WORDS
from anoncore.search.keeping import USUAL_L

if TYPE_CHECKING:
    from anoncore.front.policy.policy import Policy

Verifying = Callable[[Certificate], Verification]
"""Checks a certificate by the published files, wherever they lie."""
KNOWN = "known columns"
"""The check that tells where a certificate takes no column for known."""
NOT_COUNTED = "it cannot be counted in the published files: it needs the original table, or an attack"
OTHER_FILES = "the files are not those that the certificate names"


def judge_files(policy: Policy, certificate: Certificate, found: Verification, verifying: Verifying) -> Judgement:
    """What a policy says of published files.

    What it asks of groups is put to the files by the verifier, in place of what the certificate says was asked.
    `found` is how the certificate itself came out.
    """
    rules = rules_in_words(policy)
    questions = {key: tuple(_asked(policy, key, certificate)) for key in rules if not key.startswith("refuse.")}
    asked = list({each.label: each for several in questions.values() for each in several}.values())
    counted: Sequence[Finding] = ()
    if asked:
        counted = verifying(certificate.model_copy(update={"requirements": asked})).findings
    lines: list[JudgedRule] = []
    for key, several in questions.items():
        if not several:
            reason = NOT_COUNTED if key.startswith("risks.") or _has_secret(certificate) else NO_SECRET
            lines.append(JudgedRule(key, rules[key], None, "", "", "not measured", reason=reason))
        lines += [_line(key, rules[key], each, counted, certificate) for each in several]
    lines += _refused(policy, certificate, bool(found.of("fails")))
    return Judgement(policy.name, policy.source, policy.context.sentence, tuple(lines))


def _has_secret(certificate: Certificate) -> bool:
    return bool(with_role(by_name(certificate.attributes), certificate.columns, "sensitive"))


def _asked(policy: Policy, key: str, certificate: Certificate) -> Iterator[Asked]:
    """What a rule asks of the groups in the files, for each secret that it is about; nothing where they cannot say."""
    attributes = by_name(certificate.attributes)
    secrets: Sequence[str | None] = with_role(attributes, certificate.columns, "sensitive")
    section, _, name = key.partition(".")
    is_one_table = len(certificate.tables) == 1 and certificate.linked_by is None
    for attribute in (None,) if name in ("k", "reidentified-largest") else secrets:
        of = attributes.get(attribute or "")
        try:
            if section == "levels":
                requirement = _of_level(policy, name, of, is_one_table)
            else:
                requirement = _of_limit(name, policy.risks[name], of, is_one_table)
        except AnonymizationError:  # a limit that no group can be asked for
            requirement = None
        if requirement is not None:
            yield _entry(requirement, attribute)


def _of_level(policy: Policy, axis: str, of: Attribute | None, is_one_table: bool) -> Requirement | None:
    levels, attribute = policy.levels, None if of is None else of.name
    value = getattr(levels, axis)
    if axis == "k":
        return KAnonymity(k=value)
    if axis == "c":
        return RecursiveDiversity(c=value, l=int(levels.l or USUAL_L), attribute=attribute)
    if axis == "largest_belief":
        return _of_limit("largest-belief", Limit(at_most=value), of, is_one_table)
    return _of_limit({"l": "frequency-l"}.get(axis, axis), _level_limit(axis, float(value)), of, is_one_table)


def _of_limit(name: str, limit: Limit, of: Attribute | None, is_one_table: bool) -> Requirement | None:
    attribute, kind = (None, None) if of is None else (of.name, of.kind)
    return requirement_of_limit(name, limit, attribute, kind, is_one_table)


def _level_limit(axis: str, value: float) -> Limit:
    return Limit(at_most=value) if axis == "t" else Limit(at_least=value)


def _entry(requirement: Requirement, attribute: str | None) -> Asked:
    return Asked(
        rechecked=True,
        requirement=requirement.to_dict(),
        label=requirement.label(),
        source=requirement.source,
        attribute=attribute,
        comparison=COMPARISON_WORDS[requirement.comparison],
        asked=requirement.threshold,
        reached=None,
    )


def _line(key: str, rule: str, asked: Asked, counted: Sequence[Finding], certificate: Certificate) -> JudgedRule:
    """How a rule came out, by all that the verifier found of it; what is only claimed is not kept."""
    found = [one for one in counted if one.check == printable(asked.label)]
    claims = [one for one in counted if one.check == KNOWN] + [one for one in found if one.outcome == "claimed"]
    failing = [one for one in found if one.outcome == "fails"]
    told = [one for one in found if one.outcome == "holds"]
    status: Status = "kept"
    columns: tuple[str, ...] = ()
    if failing:
        status = "broken"
    elif claims or not told:
        free = with_role(by_name(certificate.attributes), certificate.columns, "insensitive")
        breaking = " ".join(one.breaking for one in claims)
        columns = tuple(name for name in free if quoted(name) in breaking)
        is_unless = bool(columns) and all(one.breaking for one in claims)
        status, columns = ("only if nobody knows", columns) if is_unless else ("not measured", ())
    reasons = [one.sentence for one in failing or claims] or ([] if told else [OTHER_FILES])
    reached = " ".join(one.sentence for one in told).rstrip(".")
    limit = f"{asked.comparison} {asked.asked:.6g}"
    return JudgedRule(
        key, rule, asked.attribute, limit, "" if failing else reached, status, columns, " ".join(reasons), asked.asked
    )


def _refused(policy: Policy, certificate: Certificate, has_failed: bool) -> Iterator[JudgedRule]:
    """What must not be published, by the columns that the certificate names, which are those of files that it fits."""
    parts = [one.part_of for one in certificate.attributes if one.part_of is not None]
    for line in judged_columns(policy.refuse, [*certificate.columns, *parts]):
        is_unsure = has_failed and line.status == "kept"
        key, rule = line.key, line.rule
        yield JudgedRule(key, rule, None, NOT_PUBLISHED, "", "not measured", reason=OTHER_FILES) if is_unsure else line
    asked: Mapping[str, tuple[bool, str]] = {
        "refuse.free_text": (policy.refuse.free_text, REFUSED_TEXT),
        "refuse.identifiers": (policy.refuse.identifiers is not None, REFUSED_IDENTIFIERS),
    }
    for key, (is_asked, rule) in asked.items():
        if is_asked:
            yield JudgedRule(key, rule, None, NOT_PUBLISHED, "", "not measured", reason=NOT_LOOKED_FOR)
