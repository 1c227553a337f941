"""Certifying: what holds of a release is worked out from the tables that are published of it."""

from __future__ import annotations

import json
import platform
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any

import numpy as np
import pandas as pd

from anoncore import privacy
from anoncore.attacks.strongest import Strongest
from anoncore.base.arguments import checked
from anoncore.base.errors import AnonymizationError, DataError, ReleaseError
from anoncore.base.shared_work import Cache, kept_results
from anoncore.base.texts import is_missing, listing, quoted, value_text
from anoncore.base.version import __version__
from anoncore.measures import verdict
from anoncore.measures.verdict import guarantees_of, insensitive_columns
from anoncore.privacy.joins import JOINS_SOURCE
from anoncore.privacy.tag_leaks import TagLeak
from anoncore.publishing.certification import entries
from anoncore.publishing.certification.attribute_entries import attribute_entries
from anoncore.publishing.certification.certificate import UNSIGNED, Certificate, earlier_of
from anoncore.publishing.certification.certified_tables import ReadRelease, read_files, two_spellings
from anoncore.publishing.certification.claimed_entries import (
    Earlier,
    PreparedColumns,
    TriedAttacks,
    require_drawn_seeds,
    seed_entry,
    seed_sentences,
)
from anoncore.publishing.certification.claims import recheck_joins, recheck_people
from anoncore.publishing.certification.counting import Counted
from anoncore.publishing.certification.digests import TableContent, joined_hash, ordered_hash
from anoncore.publishing.certification.further_columns import ShownClasses, classes_entry, decided_entries
from anoncore.publishing.certification.input_hash import input_hash
from anoncore.publishing.certification.published_release import PublishedRelease, by_name, with_role
from anoncore.publishing.certification.published_rows import file_entries
from anoncore.publishing.certification.questions import Judged, Question
from anoncore.publishing.certification.scan import Scan
from anoncore.publishing.certification.written_cells import distinct_cells, published_as, written_as
from anoncore.publishing.export import FileFormat
from anoncore.recipes.recipe import without_seeds
from anoncore.release.reading.published_table import PublishedTable, cell_name
from anoncore.release.release import Release, ReleaseMethod
from anoncore.requirements import Requirement
from anoncore.requirements.requirement import COMPARISON_WORDS
from anoncore.table.given_table import as_pandas
from anoncore.table.microdata import Microdata
from anoncore.table.relations import Split

PEOPLE = (
    "One person may have several rows. Different people were counted when the release was made; the column that says "
    "whose row it is stays with whoever made it. A group has at least as many rows as people."
)
PSEUDONYMS = (
    "One person may have several rows. Different people were counted by their pseudonyms when the release was made; "
    "who they are, only the holder of the key can tell. A group has at least as many rows as people."
)
INPUT = (
    "HMAC-SHA-256 of the table's content without identifiers, in whatever order of rows. Its key stays with whoever "
    "made the release: with a plain hash a reader could test guesses of the original table."
)
EXACT_ROWS = (
    "The number of rows of the original stands here without noise, and so does its keyed hash; what is promised of "
    "everybody is about the files, not about this certificate."
)


@checked
def certify(
    release: Release,
    key: str,
    files: Mapping[str, bytes] | None = None,
    requirements: Sequence[Requirement] = (),
    tables: Mapping[str, Any] | None = None,
    after: Sequence[Certificate | Earlier] = (),
    cache: Cache | None = None,
    asked: Sequence[Requirement] = (),
    guessable_seed: bool = False,
    attacks: Sequence[Strongest] = (),
) -> Certificate:
    """State what holds of a release, what its algorithm promises and what else is asked for, with hashes of its files.

    Parameters
    ----------
    release : Release
        The release.
    key : str
        For the hash of the original table, such as `new_key` gives one; it is not written.
    files : mapping of str to bytes, optional
        The written files by name, whose hashes are taken.
    requirements : sequence of Requirement
        Further conditions that the release has to keep.
    tables : mapping of str to DataFrame, LazyFrame, Arrow table or DuckDB relation, optional
        The published tables, where `Release.tables` was called already.
    after : sequence of Certificate or Earlier
        Certificates of earlier releases of the same people or some of them, which this one names.
    cache : callable, optional
        `cache(name, function, *arguments)` gives `function(release, *arguments)` and may keep it, so that what was
        measured before is not measured again.
    asked : sequence of Requirement
        What was asked of the release although its method does not promise it: it is certified where it holds.
    guessable_seed : bool
        Whether a release is certified although its random choices follow from a seed that was given and that others
        can guess. The certificate then says so.
    attacks : sequence of Strongest
        What attacks got from the release, see `attacks.strongest`. The certificate names them, with what they got and
        which could not be tried; that is a claim, as it takes the original table.

    Returns
    -------
    Certificate
        What holds, by whose definition.

    Raises
    ------
    ReleaseError
        Where something that was promised or asked for does not hold, and for a seed that can be guessed.
    DataError
        For a column name that files cannot keep apart, and for files that are not what is written of the tables.

    Examples
    --------
    >>> from anoncore.publishing import certify, new_key
    >>> certificate = certify(release, new_key())
    >>> certificate.requirements[0].label, certificate.tables[0].group_sizes
    ('k-anonymity (k = 3)', {'3': 2})
    """
    measure = kept_results(release, cache)
    require_drawn_seeds(release.algorithm, guessable_seed)
    personal = measure("privacy.personal_guarantees", privacy.personal_guarantees)
    if not personal:
        release.require_people("A certificate states what is promised of people or holds of groups of them")
    require_clear_names(release.attributes)
    _require_clear_values(release)
    frames = {name: as_pandas(table) for name, table in tables.items()} if tables else release.pandas_tables()
    cells = distinct_cells(frames)
    shown = tuple(published_as(cells))
    attributes = attribute_entries(release, shown)
    group = _group_column(release, shown)
    published = PublishedRelease(shown, by_name(attributes), group)
    prepared = PreparedColumns.of(release.data, release.attributes)
    unit = _unit(release.data)
    guarantees = guarantees_of(requirements, measure)
    guarantees += tuple(_also_holding(asked, guarantees, measure))
    leaks, over_all = insensitive_columns(release, [one.requirement for one in guarantees], measure)
    splits = [(one.columns, one.k) for one in (over_all, *(leak.split for leak in leaks)) if one is not None]
    questions = [Question(one.requirement, one.attribute) for one in guarantees]
    shown_ones = [one for one in questions if unit is None and not one.hidden_reason(published.attributes)]
    counted = Counted([[one] for one in shown], published.attributes, group, shown_ones, splits=splits)
    sizes = counted.sizes()
    stated = [
        _asked(counted, guarantee, question, unit)
        for guarantee, question in zip(guarantees, questions, strict=True)
        if guarantee.requirement not in asked
        or question not in shown_ones
        or question.judged(counted.levels(question)).holds
    ]
    method = None if release.algorithm is None else method_entry(release.algorithm)
    people = [_personal(published, method, release.numbers != "text", one) for one in personal]
    joins = _joins(release, published, measure)
    written = written_as(frames, cells)
    _require_one_spelling(published, written)
    tried = [TriedAttacks.of(one) for one in attacks]
    found = verdict(release, requirements, measure)
    described = [
        _table(published, table, scan, {format: exact[place] for format, exact in written.items()})
        for place, (table, scan) in enumerate(zip(shown, sizes, strict=True))
    ]
    hashed = [name for name in release.data.attributes if prepared is None or name not in prepared.columns]
    synthetic = [EXACT_ROWS] if release.is_synthetic else []
    certificate = certificate_of(
        release.algorithm,
        (leaks, over_all),
        after,
        [*not_checked(stated, people, joins), *synthetic],
        [one.sentence for one in (*tried, *(prepared.findings if prepared is not None else ()))],
        counted.classes,
        input=entries.InputTable(
            rows=release.data.n_rows, hmac_sha256=input_hash(release.data, key, hashed), about=INPUT
        ),
        attributes=attributes,
        tables=described,
        linked_by=group,
        sha256=described[0].sha256 if group is None and len(described) == 1 else joined_hash(shown, group),
        requirements=stated,
        people=people,
        joins=joins,
        files=file_entries(files or {}),
        written={format: ordered_hash(exact, group) for format, exact in written.items()} if group else None,
        unit=unit,
        attacks=tried or None,
        breaking=found.breaking or None,
        not_asked=[one.sentence for one in found.not_asked] or None,
        numbers=None if release.numbers == "text" else release.numbers,
        prepared=prepared,
    )
    read = read_files(certificate, files) if files else ReadRelease((), ())
    for one in (*read.findings, *read.as_written):
        if one.outcome == "fails":
            raise DataError(
                f"There is no certificate for a file that is not what is written of these tables: {one.sentence}"
            )
    return certificate


def certificate_of(
    algorithm: ReleaseMethod | None,
    insensitive: tuple[Sequence[TagLeak], Split | None],
    after: Sequence[Certificate | Earlier],
    unshown: Sequence[str],
    claims: Sequence[str] = (),
    shown: ShownClasses | None = None,
    **fields: Any,
) -> Certificate:
    """A certificate of these fields, with all that every one says in the same way.

    `insensitive` are the columns that break what is promised and the classes of all of them, of which the files have
    what `shown` says; `unshown` and `claims` are sentences on what files do not show.
    """
    earlier = [earlier_of(one) for one in after]
    return Certificate(
        made=datetime.now(UTC).isoformat(timespec="seconds"),
        software=_software_versions(algorithm),
        method=None if algorithm is None else method_entry(algorithm),
        not_checked=[*unshown, *(one.sentence for one in earlier), *claims, *seed_sentences(algorithm), UNSIGNED],
        after=earlier or None,
        decided=decided_entries(insensitive[0], shown),
        over_all=classes_entry(insensitive[1], shown),
        **fields,
    )


def _unit(data: Microdata) -> entries.Unit | None:
    """By what different people were counted, where one may have several rows."""
    if data.people is None or data.unit is None:
        return None
    return entries.Unit(column=data.unit, people=data.n_people, about=PEOPLE if data.pseudonym is None else PSEUDONYMS)


def _software_versions(algorithm: ReleaseMethod | None) -> dict[str, str]:
    """The versions of anoncore, of what it runs on, and of what made the release beside it."""
    made_with = () if algorithm is None else algorithm.packages
    return {
        "anoncore": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "pandas": pd.__version__,
        **{name: version(name) for name in made_with if find_spec(name) is not None},
    }


def content_hash(release: Release) -> str:
    """The hash that a certificate of the release has: it tells its tables, whatever the order of rows and groups."""
    shown = tuple(PublishedTable.of(name, frame) for name, frame in release.pandas_tables().items())
    return joined_hash(shown, _group_column(release, shown))


def require_clear_names(names: Iterable[str]) -> None:
    """Raise DataError for a column name that looks guarded: files cannot keep it apart from another one."""
    unclear = [name for name in names if cell_name(name) != name]
    if unclear:
        raise DataError(
            f"Columns named {listing(unclear)} cannot be told from ones that a spreadsheet guards with an apostrophe; "
            "rename them."
        )


def _require_clear_values(release: Release) -> None:
    """Raise DataError for sensitive values that files write alike: readers see one value where several were counted.

    A file has no types, so 1 and the text "1" look the same in it, and so do a missing cell and an empty text. Whatever
    was promised by counting them as two would not hold for its readers.
    """
    for name in release.attributes:
        if name not in release.data.sensitive:
            continue
        seen: dict[str, Any] = {}
        for value in release.data.domain[name]:
            other = seen.setdefault("" if is_missing(value) else value_text(value), value)
            if other is not value:
                alike = " and ".join(
                    "a missing cell" if is_missing(one) else f"{value_text(one)!r} ({type(one).__name__})"
                    for one in (other, value)
                )
                raise DataError(
                    f"There is no certificate for {quoted(name)}: files write its values {alike} alike, but they were "
                    "counted as different ones. Make them the same in the table, and run again."
                )


def _require_one_spelling(published: PublishedRelease, written: Mapping[FileFormat, Sequence[PublishedTable]]) -> None:
    """Raise DataError where a format writes a known value in two ways, by which its readers tell rows of a group apart:
    what is missing and an empty text, or "=A" and "'=A", which is how files guard it.
    """
    for format, tables in written.items():
        for table, exact in zip(published.tables, tables, strict=True):
            for name in with_role(published.attributes, table.columns):
                if pair := two_spellings(exact.columns[name], table.columns[name]):
                    raise DataError(
                        f"There is no certificate for {quoted(name)}: {pair} are counted as one value in files, but in "
                        f"the format '{format}' they tell rows apart. Make them the same in the table, and run again."
                    )


def _group_column(release: Release, tables: Sequence[PublishedTable]) -> str | None:
    """The column that joins the tables: the one that is no attribute."""
    if len(tables) < 2 or not release.is_shared:
        return None
    known = {*release.data.roles, *(name for one in release.number_columns.values() for name in one.names)}
    return next(name for name in tables[0].columns if name not in known)


def method_entry(algorithm: ReleaseMethod) -> entries.Method:
    """How a release was made, without any seed."""
    parameters = without_seeds(algorithm.to_dict())
    name = parameters.pop("name")
    return entries.Method(
        name=name,
        title=algorithm.title,
        source=algorithm.source,
        parameters=json.loads(json.dumps(parameters)),
        seed=seed_entry(algorithm),
        group_word=algorithm.group_word,
    )


def _table(
    published: PublishedRelease, table: PublishedTable, scan: Scan, written: Mapping[FileFormat, PublishedTable]
) -> entries.Table:
    sizes, group = scan.group_sizes, published.group
    content = TableContent(table, group)
    cells = {format: TableContent(exact, group, is_ordered=True) for format, exact in written.items()}
    return entries.Table(
        name=table.name,
        columns=list(table.columns),
        rows=table.n_rows,
        groups=sum(sizes.values()),
        group_sizes=sizes,
        sha256=content.sha256,
        column_sha256=content.column_sha256,
        written={
            format: entries.Written(sha256=one.sha256, column_sha256=one.column_sha256) for format, one in cells.items()
        },
    )


def _asked(
    counted: Counted, guarantee: privacy.Guarantee, question: Question, unit: entries.Unit | None
) -> entries.Asked:
    _require(guarantee)
    if unit is not None:
        reached = None if np.isinf(guarantee.reached) else guarantee.reached
        reason = unit.hidden_reason([name for name, one in counted.attributes.items() if one.form is not None])
        return asked_entry(question, reached, reason).model_copy(update={"rechecked": False})
    if reason := question.hidden_reason(counted.attributes):
        return asked_entry(question, reason=reason)
    return asked_entry(question, _holding(question.judged(counted.levels(question))).reached)


def _require(statement: privacy.Guarantee | privacy.PersonalGuarantee) -> None:
    if not statement.holds:
        raise ReleaseError(f"There is no certificate for what does not hold: {statement.sentence}")


def asked_entry(question: Question, reached: float | None = None, reason: str = "") -> entries.Asked:
    """The entry of a requirement, with the level that is reached where tables show it, else with why they do not."""
    requirement = question.requirement
    return entries.Asked(
        requirement=json.loads(json.dumps(requirement.to_dict())),
        label=requirement.label(),
        source=requirement.source,
        attribute=question.attribute,
        comparison=COMPARISON_WORDS[requirement.comparison],
        asked=requirement.threshold,
        reached=reached,
        rechecked=reached is not None,
        reason=reason,
    )


def _also_holding(
    asked: Sequence[Requirement], promised: Sequence[privacy.Guarantee], measure: Cache
) -> Iterator[privacy.Guarantee]:
    """What else was asked of a release and holds in it."""
    known = {(one.requirement, one.attribute) for one in promised}
    for requirement in dict.fromkeys(asked):
        try:
            found = [one for one in guarantees_of([requirement], measure) if one.requirement == requirement]
        except AnonymizationError:  # it cannot be asked of this table
            continue
        yield from (one for one in found if one.holds and (one.requirement, one.attribute) not in known)


def _holding(found: Judged) -> Judged:
    """What the files show. Raises ReleaseError where readers count something else than holds in the release."""
    if not found.holds:
        raise ReleaseError(f"There is no certificate for what its readers count otherwise: {found.sentence}")
    return found


def _personal(
    published: PublishedRelease, method: entries.Method | None, has_numbers: bool, guarantee: privacy.PersonalGuarantee
) -> entries.Personal:
    _require(guarantee)
    attribute = None if guarantee.hidden else guarantee.attribute
    promised = f"What is promised of everybody's {quoted(attribute)} holds with {guarantee.asked:g} asked."
    entry = entries.Personal(
        attribute=attribute,
        asked=guarantee.asked,
        source="" if method is None else method.source,
        sentence=guarantee.sentence if attribute is None else promised,
        rechecked=False,
        reason=guarantee.hidden,
    )
    found = recheck_people(published, method, has_numbers, entry)
    if isinstance(found, str):
        return entry.model_copy(update={"reason": found})
    return entry.model_copy(update={"rechecked": True, "sentence": _holding(found).sentence})


def _joins(release: Release, published: PublishedRelease, measure: Cache) -> entries.Joins | None:
    if release.is_shared:
        return None
    try:
        check = measure("privacy.joins", privacy.joins)
    except ReleaseError:  # the fragments share nothing to be joined on
        return None
    if not check.holds:
        raise ReleaseError(f"There is no certificate for fragments that are not safe to join: {check.sentences[0]}")
    entry = entries.Joins(
        common=check.common, k=check.k, l=check.l, delta=check.delta, source=JOINS_SOURCE, rechecked=False
    )
    _holding(recheck_joins(published, entry))
    return entry.model_copy(update={"rechecked": True})


def not_checked(
    asked: Iterable[entries.Asked], people: Iterable[entries.Personal] = (), joins: entries.Joins | None = None
) -> list[str]:
    """What held when the release was made and the files do not show, in sentences."""
    stated: list[tuple[str, entries.Statement]] = [(one.label, one) for one in asked]
    stated += [(f"The {one.check}", one) for one in people if not one.is_shown_by_none]
    stated += [] if joins is None else [(f"Joins on {quoted(joins.common)}", joins)]
    return [
        *(promise.sentence for promise in people if promise.is_shown_by_none),
        *(
            f"{what} held when the release was made, but the files alone do not show it: {one.reason}."
            for what, one in stated
            if not one.rechecked
        ),
    ]
