"""The sections of a dossier that a certificate and its files give: what was counted, and what is only claimed."""

from __future__ import annotations

from collections.abc import Iterator

from anoncore.attacks.reidentification import DEFINITIONS
from anoncore.base.showing import printable
from anoncore.front.dossier.dossier_parts import (
    Adversaries,
    Attack,
    Column,
    Figure,
    Finder,
    Identifiability,
    NotTried,
    Parameter,
    People,
    Reached,
    Released,
    Sizes,
    Standing,
    Statement,
    TableOfRelease,
    Treatment,
)
from anoncore.front.dossier.measured_identifiability import ALONE_BEFORE, size_classes
from anoncore.front.dossier.measured_treatment import GIVEN_AWAY, LOST, policy_result
from anoncore.front.policy.judgement import Judgement
from anoncore.measures.criteria import CRITERIA
from anoncore.publishing.certification.certificate import Certificate
from anoncore.publishing.certification.finding import Verification
from anoncore.publishing.report.subject import parameter_text
from anoncore.recipes.typed_answers import Answers

NEEDS_ORIGINAL = "it needs the original table, which is not at hand"
ROWS_ONLY = "rows are counted here, and one person may have several"
SEVERAL_TABLES = "it takes a single table whose groups hide whose row is whose"
CLAIMED = "The certificate says: {}"
FORMS = {
    "exact": "published as it is",
    "changed": "published row by row, with some values changed",
    "set": "published as sets of values",
    "region": "generalized",
    None: "not published",
}
"""What becomes of a column, by its form in the certificate."""


def standing(verification: Verification, check: str) -> Standing:
    """How something that a certificate says came out in the files; what no check is about is only claimed."""
    outcomes = {finding.outcome for finding in verification.findings if finding.check == printable(check)}
    if "fails" in outcomes:
        return "fails"
    return "counted" if outcomes == {"holds"} else "claimed"


def _tables(certificate: Certificate, verification: Verification) -> Standing:
    """How the sizes of all tables together came out."""
    found = {standing(verification, f"groups of '{table.name}'") for table in certificate.tables}
    return "fails" if "fails" in found or verification.of("fails") else "counted" if found == {"counted"} else "claimed"


def released(certificate: Certificate, verification: Verification, answers: Answers, recipient: str) -> Released:
    """Section 1."""
    return Released(
        title=answers.title,
        purpose=answers.purpose,
        recipients=answers.recipients,
        policy_recipient=recipient,
        duration=answers.duration,
        controls=[*answers.controls],
        tables=[TableOfRelease(name=one.name, columns=one.columns, rows=one.rows) for one in certificate.tables],
        files=[one.name for one in certificate.files],
        sha256=certificate.sha256,
        standing=_tables(certificate, verification),
    )


def people(certificate: Certificate, answers: Answers) -> People:
    """Section 2; which columns the original had is a claim."""
    columns = [
        Column(name=one.name, role=one.role, treatment=FORMS[one.form], decided_by=answers.decided_by(one.name))
        for one in certificate.attributes
        if one.part_of is None
    ]
    parts = {one.part_of for one in certificate.attributes if one.part_of is not None}
    published = {*certificate.columns, *parts}
    unit = certificate.unit
    return People(
        rows=certificate.input.rows,
        people=None if unit is None else unit.people,
        counted="" if unit is None else f"Different people were counted by '{unit.column}'.",
        population=answers.population,
        sampling=answers.sampling,
        columns=columns,
        left_out=[one.name for one in columns if one.name not in published],
        as_it_is=[one.name for one in columns if one.role == "insensitive" and one.name in published],
        gives_away=[CLAIMED.format(one.sentence) for one in certificate.decided or ()],
        standing="claimed",
    )


def adversaries(certificate: Certificate, verification: Verification) -> Adversaries:
    """Section 3: attacks take the original table, so what they got is claimed."""
    lines, not_tried = [], []
    for tried in certificate.attacks or ():
        aims: set[str] = set()
        for one in tried.tried:
            lines.append(
                Attack(
                    attribute=tried.attribute,
                    aim=one.aim,
                    name=one.attack,
                    title=one.attack.replace("_", " "),
                    share=one.share,
                    measured=one.measured,
                    control=one.control,
                    compared_with=one.compared_with,
                    gain=max(one.share - one.control, 0.0),
                    is_strongest=one.aim not in aims,
                    standing="claimed",
                )
            )
            aims.add(one.aim)
        not_tried += [
            NotTried(attribute=tried.attribute, name=name.replace("_", " "), reason=CLAIMED.format(reason))
            for name, reason in tried.not_tried.items()
        ]
    if not certificate.attacks:
        reason = f"the certificate names no attack that was tried; {NEEDS_ORIGINAL}"
        not_tried.append(NotTried(attribute=None, name="every attack on secrets", reason=reason))
    return Adversaries(
        finders=[*_finders(certificate, verification)],
        attacks=lines,
        not_tried=not_tried,
        known_method=f"What readers learn who know the method was not measured: {NEEDS_ORIGINAL}.",
        earlier=[one.sentence for one in certificate.after or ()],
        notes=[],
        control="The certificate does not say whether people who are not in the release were at hand.",
    )


def _finders(certificate: Certificate, verification: Verification) -> Iterator[Finder]:
    """The prosecutor's chances follow from the groups of a single table; the others need the population."""
    known = [one.name for one in certificate.attributes if one.role == "quasi-identifier" and one.form is not None]
    for name, knows in DEFINITIONS.items():
        reason = "" if name == "prosecutor" else "it needs the population"
        reason = reason or ("" if len(certificate.tables) == 1 else SEVERAL_TABLES)
        reason = reason or ("" if certificate.unit is None else ROWS_ONLY)
        table = certificate.tables[0]
        found = standing(verification, f"groups of '{table.name}'")
        if reason or found != "counted" or not known:
            reason = reason or "the groups of the files could not be counted"
            yield Finder(adversary=name, knows=knows, standing="not measured", reason=reason)
            continue
        yield Finder(
            adversary=name,
            knows=f"{knows} Counted over {', '.join(known)}.",
            largest=1 / min(map(int, table.group_sizes)),
            mean=table.groups / table.rows,
            guess=1 / table.rows,
            standing="counted",
        )


def identifiability(certificate: Certificate, verification: Verification) -> Identifiability:
    """Section 4: levels and groups as they were counted in the files."""
    sizes = []
    for table in certificate.tables:
        found = standing(verification, f"groups of '{table.name}'")
        counts = {int(size): number for size, number in table.group_sizes.items()} if found == "counted" else {}
        classes = size_classes(counts) if counts else []
        sizes.append(Sizes(table=table.name, counted="rows", classes=classes, standing=found))
    uniques = [
        Figure(name=name, title=title, standing="not measured", reason=NEEDS_ORIGINAL)
        for name, title in (
            ("unique-rows-before", ALONE_BEFORE),
            ("population-uniques", "Unique in the population (estimated)"),
        )
    ]
    draws = f"How far other draws would lie from this one was not measured: {NEEDS_ORIGINAL}."
    return Identifiability(
        levels=[*_levels(certificate, verification)], sizes=sizes, uniques=uniques, draws=draws, spread=[], notes=[]
    )


def _levels(certificate: Certificate, verification: Verification) -> Iterator[Figure]:
    for one in certificate.requirements:
        found = standing(verification, one.label)
        sentences = [each.sentence for each in verification.findings if each.check == printable(one.label)]
        known = None if found == "fails" else one.reached
        yield Figure(
            name=str(one.requirement.get("name", "requirement")),
            title=one.label,
            attribute=one.attribute,
            value=known,
            text="" if known is None else f"{known:.6g}",
            meaning=f"Asked: {one.comparison} {one.asked:.6g}.",
            standing=found if known is not None or found == "fails" else "claimed",
            reason="" if found == "counted" else " ".join(dict.fromkeys(sentences)),
        )


def treatment(certificate: Certificate, answers: Answers) -> Treatment:
    """Section 5: how the release was made is a claim, and what it costs takes the original table."""
    method = certificate.method
    parameters = {} if method is None else method.parameters
    costs = [
        Figure(
            name=name,
            title=number.title,
            meaning=number.meaning,
            standing="not measured",
            reason=NEEDS_ORIGINAL,
        )
        for name, number in CRITERIA.items()
        if number.family == "cost"
    ]
    return Treatment(
        method="The certificate does not name the method." if method is None else method.title,
        summary="",
        source="" if method is None else method.source,
        parameters=[Parameter(title=name, value=parameter_text(value)) for name, value in parameters.items()],
        seed="" if method is None else method.seed,
        notes=[],
        rows_left_out=None,
        costs=costs,
        losses=[],
        lost_title=CRITERIA[LOST].title,
        given_away_title=CRITERIA[GIVEN_AWAY].title,
        considered=[],
        why_this_one=answers.choice.why_this_one,
        standing="claimed",
    )


def reached(verification: Verification, judgement: Judgement | None) -> Reached:
    """Section 6: what the verifier says of the certificate, and what the policy says of the files."""
    statements = [Statement(outcome=one.outcome, sentence=one.sentence) for one in verification.findings]
    policy = None if judgement is None else policy_result(judgement)
    return Reached(verdict=verification.state, statements=statements, policy=policy)
