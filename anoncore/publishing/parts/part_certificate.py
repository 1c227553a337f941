"""Certificates of releases that were made piece by piece: what their files show, found in one scan of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
import pyarrow as pa

from anoncore.base.errors import DataError, ReleaseError
from anoncore.base.progress import Progress
from anoncore.base.texts import listing, quoted
from anoncore.engines.table_profile import MOST_VALUES, TableProfile
from anoncore.kernels.arrays import Floats
from anoncore.measures.verdict import (
    Failing,
    Promise,
    Verdict,
    asks_for_distance,
    asks_for_size,
    breaking_columns,
    distant,
    nearly_certain,
    over_what_is_known,
    people_found,
    verdict_in_words,
)
from anoncore.privacy.tag_leaks import UNIQUE, TagLeak, leaks_of_classes, split_by_all
from anoncore.publishing.certification.attribute_entries import described
from anoncore.publishing.certification.certificate import CERTIFICATE_FILE, Certificate
from anoncore.publishing.certification.certifying import asked_entry, certificate_of, not_checked, require_clear_names
from anoncore.publishing.certification.claimed_entries import Earlier, require_drawn_seeds
from anoncore.publishing.certification.digests import joined_digest
from anoncore.publishing.certification.entries import Attribute, InputTable, Part, Table
from anoncore.publishing.certification.published_release import by_name
from anoncore.publishing.certification.published_rows import PartFile
from anoncore.publishing.certification.questions import Question
from anoncore.publishing.certification.scan import TABLE, PartClasses, Scan, scan_rows
from anoncore.release.reading.published_table import cell_text
from anoncore.requirements import FrequencyDiversity, Requirement, TCloseness
from anoncore.requirements.k_anonymity import largest_k
from anoncore.table.domain import Kind
from anoncore.table.microdata import Kinds, Role
from anoncore.table.relations import Split

if TYPE_CHECKING:
    from anoncore.engines.large_run import WrittenParts

INPUT_IN_PARTS = (
    "HMAC-SHA-256 of the sum of keyed hashes (SipHash-2-4) of the table's rows without identifiers, in whatever order "
    "of rows. Its key stays with whoever made the release: with a plain hash a reader could test guesses of the "
    "original table."
)
NOT_RELATED = (
    "Whether these columns tell each other was not looked at, because together they have more than {most:,} different "
    "values: {names}."
)
NOT_COUNTED = "What groups give away of {names} was not looked at: there are more than {most:,} different values."


@dataclass(frozen=True, eq=False)
class CertifiedParts:
    """A certificate of a folder, the scan that it was made of, and the verdict on the release.

    `profile` is the original table as requirements see it, `leaks` are the insensitive columns that break what is
    promised.
    """

    certificate: Certificate
    scan: Scan
    verdict: Verdict
    profile: TableProfile
    leaks: tuple[TagLeak, ...] = ()


def certify_parts(
    folder: Path,
    written: WrittenParts,
    kinds: Kinds,
    after: Sequence[Certificate | Earlier] = (),
    progress: Progress | None = None,
    guessable_seed: bool = False,
) -> CertifiedParts:
    """State what the Parquet files of a folder show, as `certify` does of a release in memory.

    The folder has the rows of the parts as they were written or as a database gave them back, and `kinds` are those
    that were given for the columns. All but what `written` says of the original table is worked out from the files.
    Raises ReleaseError where something that was asked for does not hold in them and for a seed that can be guessed, and
    DataError for values that readers cannot tell apart.
    """
    profile, algorithm, related = written.profile, written.algorithm, written.related
    require_drawn_seeds(algorithm, guessable_seed)
    files = [PartFile(path.name, path) for path in sorted(folder.glob("*.parquet"))]
    require_clear_names(profile.attributes)
    attributes = _attributes(profile, files[0].schema, kinds)
    known = by_name(attributes)
    asked = [Question(one, check.attribute) for one in algorithm.requirements for check in one.checks(profile)]
    # Looked at although nobody may have asked: the largest belief, and the distance from the table.
    more = [ask(known[name]) for name in profile.sensitive for ask in (belief_question, distance_question)]
    scan = scan_rows(files, known, asked, more, digested=True, progress=progress, memory=written.counted)
    attributes = [_with_values(one, scan) for one in attributes]
    found = [one.judged(scan.of(one)) for one in asked]
    wrong = next((one for one in found if not one.holds), None)
    if wrong is not None:
        raise ReleaseError(f"There is no certificate for what does not hold: {wrong.sentence}")
    entries = [asked_entry(question, one.reached) for question, one in zip(asked, found, strict=True)]
    leaks, over_all = _insensitive_columns(files, written)
    failing = tuple(_not_asked(scan, algorithm.requirements, attributes))
    breaking = breaking_columns(leaks, over_all, profile.people_word)
    promises = [_promise(scan, one, breaking) for one in asked]
    together = "; ".join(" and ".join(f"{quoted(name)}" for name in names) for names in related.passed_over)
    uncounted = listing([name for name in profile.sensitive if name not in scan.values], 8)
    unshown = [(NOT_RELATED, together), (NOT_COUNTED, uncounted)]
    parts = [_part(file, scan) for file in files]
    content = joined_digest([part.sha256 for part in parts])
    certificate = certificate_of(
        algorithm,
        (leaks, over_all),
        after,
        [*(one.format(most=MOST_VALUES, names=names) for one, names in unshown if names), *not_checked(entries)],
        input=InputTable(rows=profile.n_rows, hmac_sha256=written.input_digest, about=INPUT_IN_PARTS),
        attributes=attributes,
        tables=[_table(scan, parts, content)],
        linked_by=None,
        sha256=content,
        requirements=entries,
        people=[],
        joins=None,
        files=[PartFile(path.name, path).entry for path in sorted(folder.iterdir()) if path.name != CERTIFICATE_FILE],
        not_asked=[profile.in_words(one.sentence) for one in failing] or None,
        parts=parts,
        breaking=breaking or None,
    )
    verdict = verdict_in_words(profile, promises, failing, breaking, leaks)
    return CertifiedParts(certificate, scan, verdict, profile, leaks)


def _promise(scan: Scan, question: Question, breaking: str) -> Promise:
    """What was asked and is reached, for people."""
    requirement = question.requirement
    found = question.judged(scan.of(question), is_told=False)
    sentence = over_what_is_known(found.sentence) if breaking else found.sentence
    return Promise(found.holds, sentence, requirement.source)


def _insensitive_columns(files: Sequence[PartFile], written: WrittenParts) -> tuple[tuple[TagLeak, ...], Split | None]:
    """The columns that break what is promised, and the classes for readers who know all of them, as of a release in
    memory; the parts are read only where there are such columns.
    """
    profile, algorithm = written.profile, written.algorithm
    if not profile.insensitive:
        return (), None
    classes = PartClasses(files, profile.quasi_identifiers, largest_k(algorithm.promises(profile), UNIQUE))
    leaks = leaks_of_classes(profile, classes, written.related.relations)
    return leaks, split_by_all(classes, profile.insensitive) if leaks else None


def belief_question(attribute: Attribute) -> Question:
    """What asks every group for the largest share of one value: its level is 1 / that share."""
    return Question(FrequencyDiversity(l=2, attribute=attribute.name), attribute.name)


def distance_question(attribute: Attribute) -> Question:
    """What asks every group how far it is from the table, by the distance that fits the attribute."""
    ground: Literal["equal", "ordered"] = "equal" if attribute.kind == "nominal" else "ordered"
    return Question(TCloseness(t=1, ground=ground, attribute=attribute.name), attribute.name)


def _attributes(profile: TableProfile, schema: pa.Schema, kinds: Kinds) -> list[Attribute]:
    entries = []
    for name, role in profile.roles.items():
        if role is Role.IDENTIFIER:
            entries.append(Attribute(name=name, role="identifier"))
        elif role is Role.QUASI_IDENTIFIER:
            entries.append(described(profile, name, "region"))
        else:
            entries.append(_exact(profile, name, role, schema.field(name).type, kinds.get(name)))
    return entries


def _exact(profile: TableProfile, name: str, role: Role, stored: pa.DataType, kind: Kind | str | None) -> Attribute:
    """A column that is published as it is. One that nobody asked about is known by its type alone."""
    if name not in profile.domain:
        is_date = pa.types.is_date(stored) or pa.types.is_timestamp(stored)
        is_number = pa.types.is_integer(stored) or pa.types.is_floating(stored) or pa.types.is_decimal(stored)
        chosen = Kind(kind or (Kind.NUMERIC if is_date or is_number else Kind.NOMINAL))
        read_as: Literal["number", "date", "text"] = "date" if is_date else "number"
        read_as = read_as if chosen is Kind.NUMERIC else "text"
        return Attribute(name=name, role=role.value, kind=chosen.value, type=read_as, form="exact")
    domain = profile.domain[name]
    if domain.has_missing and "" in domain.values:
        raise DataError(
            f"There is no certificate for {quoted(name)}: files write its missing cells and its empty texts alike, but "
            "they were counted as different ones. Make them the same in the table, and run again."
        )
    return described(profile, name, "exact")


def _with_values(attribute: Attribute, scan: Scan) -> Attribute:
    """A sensitive attribute of categories with its published values, also where no requirement is about it."""
    if attribute.name not in scan.values or attribute.kind == "numeric" or attribute.values is not None:
        return attribute
    values = scan.values[attribute.name].profile.domain[attribute.name].values
    return attribute.model_copy(update={"values": [cell_text(value) for value in values]})


def beliefs(scan: Scan, attribute: Attribute) -> Floats:
    """The largest share of one value of an attribute in every group."""
    return np.concatenate([1.0 / one.levels for one in scan.of(belief_question(attribute))])


def secrets_of(scan: Scan, attributes: Iterable[Attribute]) -> list[Attribute]:
    """The sensitive attributes whose values were counted; what is asked about need not be tagged as sensitive."""
    return [one for one in attributes if one.role == "sensitive" and one.name in scan.values]


def guess_of(scan: Scan, name: str) -> float:
    """The largest belief of whoever guesses from the published table as a whole."""
    view = scan.values[name].profile.sensitive_view(name)
    counts = view.counts[:1] if view.unique >= 0 else view.counts
    return float(counts.max() / scan.n_rows)


def _not_asked(scan: Scan, wanted: Sequence[Requirement], attributes: Iterable[Attribute]) -> Iterator[Failing]:
    """What nobody asked for and fails badly, by the same levels as for a release in memory."""
    secrets = secrets_of(scan, attributes)
    for one in secrets:
        yield from nearly_certain(one.name, beliefs(scan, one), guess_of(scan, one.name), scan.sizes)
    if not asks_for_size(wanted):
        yield from people_found(1.0 / scan.sizes, 1.0 / scan.n_rows, scan.sizes)
    for one in secrets:
        if not asks_for_distance(wanted, one.name):
            worst = max(level.worst for level in scan.of(distance_question(one)))
            yield from distant(one.name, worst)


def _part(file: PartFile, scan: Scan) -> Part:
    return Part(file=file.name, **scan.contents[file.name]._asdict())


def _table(scan: Scan, parts: Sequence[Part], content: str) -> Table:
    names = list(parts[0].column_sha256)
    return Table(
        name=TABLE,
        columns=names,
        rows=scan.n_rows,
        groups=len(scan.sizes),
        group_sizes=scan.group_sizes,
        sha256=content,
        column_sha256={name: joined_digest([part.column_sha256[name] for part in parts]) for name in names},
    )
