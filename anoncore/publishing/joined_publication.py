"""Several tables of the same people: their files with one certificate, and this re-checked from the files alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from anoncore import privacy
from anoncore.base.arguments import checked
from anoncore.base.errors import AnonymizationError, CancelledError, ParameterError, ReleaseError
from anoncore.base.progress import Progress, part_of, silent
from anoncore.base.texts import did_you_mean, listing, quoted
from anoncore.privacy.joined_people import JoinedTables
from anoncore.publishing.certification.certificate import CERTIFICATE, UNSIGNED, Certificate, JoinedCertificate
from anoncore.publishing.certification.certified_tables import read_files
from anoncore.publishing.certification.finding import Finding, Verification, claimed, either, fails
from anoncore.publishing.certification.links import link_findings, published_as_release
from anoncore.publishing.certification.published_release import by_name
from anoncore.publishing.certification.questions import Question
from anoncore.publishing.certification.verification import judged_release, with_known
from anoncore.publishing.export import FileFormat
from anoncore.publishing.publication import release_files
from anoncore.release.reading.published_table import PublishedTable
from anoncore.release.release import Release
from anoncore.requirements import KAnonymity

JOIN = "join"
"""What the checks of the joined tables are called."""
UNLINKED = (
    "The tables publish nothing that says which rows are one person's, so that what is said of their join cannot be "
    "counted in them."
)


@checked
def joined_files(
    releases: Mapping[str, Release],
    name: str,
    key: str,
    format: FileFormat = "csv",
    by: str | None = None,
    guessable_seed: bool = False,
) -> dict[str, bytes]:
    """Make the files of several tables of the same people, and the one certificate that describes them and their join.

    Parameters
    ----------
    releases : mapping of str to Release
        The release of each table by the table's name, as `privacy.joined` takes them.
    name : str
        How the names of the files begin.
    key : str
        For the hashes of the original tables, such as `new_key` gives one; it is not written.
    format : {"csv", "parquet", "excel"}
        The format of the tables.
    by : str, optional
        The column that says whose row it is, in every table; by default the unit of the tables.
    guessable_seed : bool
        Whether releases are certified whose random choices follow from a seed that others can guess, see `certify`.

    Returns
    -------
    dict of str to bytes
        The certificate and a file for each table, by their names.

    Raises
    ------
    ReleaseError
        Where something that was promised of a table does not hold, alone or, where all tables publish pseudonyms of
        the person, joined by them.
    DataError
        For tables that the format cannot hold.

    Examples
    --------
    >>> from anoncore.publishing import joined_files, new_key
    >>> patients = pd.DataFrame({"id": list("abcd"), "age": [20, 21, 40, 41]})
    >>> visits = pd.DataFrame({"id": list("abcd"), "year": [2001, 2002, 2011, 2012]})
    >>> method = Mondrian(requirements=[KAnonymity(k=2)])
    >>> releases = {
    ...     "patients": method.anonymize(Microdata(patients, {"age": "quasi-identifier"}, unit="id")),
    ...     "visits": method.anonymize(Microdata(visits, {"year": "quasi-identifier"}, unit="id")),
    ... }
    >>> list(joined_files(releases, "hospital", new_key()))
    ['hospital-certificate.json', 'hospital-patients.csv', 'hospital-visits.csv']
    """
    joined = privacy.joined(releases, by)
    is_linked = all(joined.by in release.attributes for release in releases.values())
    broken = [one for one in joined.guarantees() if not one.holds]
    if is_linked and broken:
        raise ReleaseError(
            f"There is no certificate for tables that readers join to more than each promises: {broken[0].fragment}: "
            f"{broken[0].sentence}"
        )
    written: dict[str, bytes] = {}
    certificates = {}
    for table, release in releases.items():
        files = release_files(release, f"{name}-{table}", key, format, guessable_seed=guessable_seed)
        certificates[table] = Certificate.loads(files.pop(f"{name}-{table}{CERTIFICATE}"))
        written |= files
    unshown = [] if is_linked else [UNLINKED, *(f"{one.fragment}, joined: {one.sentence}" for one in broken)]
    certificate = JoinedCertificate(
        by=joined.by,
        is_linked=is_linked,
        people=joined.n_people,
        k=int(joined.k),
        tables=certificates,
        not_checked=[*unshown, UNSIGNED],
    )
    wrong = _rechecked(certificate, written, True, dict.fromkeys(certificate.tables), silent).of("fails")
    if wrong:
        raise ReleaseError(f"There is no certificate for what its readers count otherwise: {wrong[0].sentence}")
    return {f"{name}{CERTIFICATE}": certificate.dumps().encode(), **written}


@checked
def verify_joined(
    certificate: JoinedCertificate,
    files: Mapping[str, bytes],
    hashes: bool = True,
    known: Sequence[str] | None = None,
    progress: Progress | None = None,
) -> Verification:
    """Re-check the certificate of several tables from the published files alone.

    Every table is checked by its own certificate, as `verify` does. Then the tables are joined by the pseudonyms in
    the files, and what each certificate promises is counted once more in the joined classes: the certificate is a
    claim, and the files are the evidence. Where no pseudonyms are published, the join is a claim.

    Parameters
    ----------
    certificate : JoinedCertificate
        What the files should be and show.
    files : mapping of str to bytes
        The published files by name.
    hashes : bool
        Whether the contents must also be those that were certified.
    known : sequence of str, optional
        The columns that a reader takes for known, in every table that has them, in place of those that its certificate
        names. In a table that has none of them, those of its certificate count.
    progress : callable, optional
        Called with the share done and a text; it may raise CancelledError to stop.

    Returns
    -------
    Verification
        Every check and how it came out; those of one table begin with its name.

    Raises
    ------
    DataError
        For a file that cannot be read as a table.
    ParameterError
        For a known column that no table publishes, and for the pseudonyms that join the tables.

    Examples
    --------
    >>> from anoncore import Microdata, privacy
    >>> from anoncore.publishing import JoinedCertificate, joined_files, new_key, verify_joined
    >>> patients = pd.DataFrame({"id": list("abcd"), "age": [20, 21, 40, 41]})
    >>> visits = pd.DataFrame({"id": list("abcd"), "year": [2001, 2002, 2011, 2012]})
    >>> method = Mondrian(requirements=[KAnonymity(k=2)])
    >>> releases = {
    ...     "patients": method.anonymize(Microdata(patients, {"age": "quasi-identifier"}, pseudonym="id")),
    ...     "visits": method.anonymize(Microdata(visits, {"year": "quasi-identifier"}, pseudonym="id")),
    ... }
    >>> files = joined_files(releases, "hospital", new_key())
    >>> certificate = JoinedCertificate.loads(files.pop("hospital-certificate.json"))
    >>> found = verify_joined(certificate, files)
    >>> [(one.check, one.outcome) for one in found.findings if one.check.startswith("join")][:2]
    [('join: k', 'holds'), ("join: k-anonymity (k = 2) of 'patients'", 'holds')]
    """
    return _rechecked(certificate, files, hashes, _known_in(certificate, known), progress or silent)


def _rechecked(
    certificate: JoinedCertificate,
    files: Mapping[str, bytes],
    hashes: bool,
    known_in: Mapping[str, list[str] | None],
    tell: Progress,
) -> Verification:
    """What the files show of every table and of their join, over what a reader calls known in each table."""
    named = {file.name for one in certificate.tables.values() for file in one.files}
    findings = [
        fails(f"file {quoted(name)}", f"{quoted(name)} is no file that the certificate names.")
        for name in files
        if name not in named
    ]
    tables: dict[str, PublishedTable] = {}
    for place, (name, one) in enumerate(certificate.tables.items()):
        share = part_of(tell, 0.8 * place / len(certificate.tables), 0.8 * (place + 1) / len(certificate.tables))
        own = {file.name: files[file.name] for file in one.files if file.name in files}
        if len(own) < len(one.files):
            missing = listing([file.name for file in one.files if file.name not in files])
            findings.append(fails(f"{name}: files", f"{name}: {missing} is missing."))
            continue
        release = read_files(one, own, hashes, share)
        found = judged_release(one, lambda *_, read=release: read, hashes, None, known_in[name], share)
        findings += [
            replace(finding, check=f"{name}: {finding.check}", sentence=f"{name}: {finding.sentence}")
            for finding in found.findings
        ]
        for (rows,) in release.tables:
            if isinstance(rows, PublishedTable):
                tables[name] = rows
    tell(0.9, "Joining the tables")
    if len(tables) == len(certificate.tables):
        findings += _join_findings(certificate, tables, known_in)
    tell(1.0, "Done")
    return Verification(tuple(findings))


def _known_in(certificate: JoinedCertificate, known: Sequence[str] | None) -> dict[str, list[str] | None]:
    """The columns of each table that a reader calls known; None where those count that its certificate names.

    Raises ParameterError for what is no such column.
    """
    if known is None:
        return dict.fromkeys(certificate.tables)
    if not known:
        raise ParameterError("Name at least one column that is known.")
    if certificate.is_linked and certificate.by in known:
        raise ParameterError(f"{quoted(certificate.by)} joins the tables, and is counted as that; leave it out.")
    columns = {
        name: {*one.columns, *(entry.part_of for entry in one.attributes if entry.part_of is not None)}
        for name, one in certificate.tables.items()
    }
    shown = sorted({column for names in columns.values() for column in names} - {certificate.by})
    wrong = [name for name in known if name not in shown]
    if wrong:
        raise ParameterError(
            f"No table has a published column {listing(wrong)} to be known; there is {listing(shown, 30)}."
            f"{did_you_mean(wrong[0], shown)}"
        )
    return {name: [one for one in known if one in names] or None for name, names in columns.items()}


def _join_findings(
    certificate: JoinedCertificate, tables: Mapping[str, PublishedTable], known_in: Mapping[str, list[str] | None]
) -> Iterator[Finding]:
    """What the tables show of their join, over what a reader calls known where there is such a thing."""
    own = certificate.by if certificate.is_linked else None
    yield from link_findings(tables, certificate.tables, own, f"{JOIN}: other columns")
    if not certificate.is_linked:
        sentence = f"Joined by {quoted(certificate.by)}, people are in groups of at least {certificate.k:,}. {UNLINKED}"
        yield claimed(JOIN, sentence)
        return
    is_given = any(known_in.values())
    taken = {name: with_known(one, known_in[name])[0] for name, one in certificate.tables.items()}
    try:
        releases = {name: published_as_release(table, taken[name]) for name, table in tables.items()}
        joined = privacy.joined(releases, certificate.by)
    except CancelledError:
        raise
    except AnonymizationError as error:
        yield fails(JOIN, f"What was certified of the join cannot hold: {error}")
        return
    # Cells that differ in the release may be written alike, as ranges with one midpoint are: classes are larger then.
    same = joined.n_people == certificate.people and (is_given or joined.k >= certificate.k)
    said = f"The certificate says {certificate.people:,} people in groups of at least {certificate.k:,}."
    yield either(f"{JOIN}: k", same, joined.sentences[0], f"{joined.sentences[0]} {said}")
    for name, one in taken.items():
        yield from _promise_findings(name, one, joined, is_given)


def _promise_findings(name: str, certificate: Certificate, joined: JoinedTables, is_given: bool) -> Iterator[Finding]:
    """What is promised of one table, counted in the joined classes; `is_given` where a reader says what is known."""
    attributes = by_name(certificate.attributes)
    for asked in certificate.requirements:
        check = f"{JOIN}: {asked.label} of {quoted(name)}"
        try:
            question = Question.of(asked)
            reason = question.hidden_reason(attributes)
            if reason:
                yield claimed(check, f"{name}, joined: {asked.label}: {reason}.")
                continue
            wanted = question.requirement
            found = [one for one in joined.guarantees({name: [wanted]}) if one.attribute == question.attribute]
        except CancelledError:
            raise
        except AnonymizationError as error:
            yield fails(check, f"{name}, joined: {asked.label} cannot hold: {error}")
            continue
        holds = bool(found) and all(one.holds for one in found)
        told = " ".join(one.sentence for one in found) or f"{asked.label} is about no secret of the table."
        yield either(check, holds, f"{name}, joined: {told}")
        if holds and not is_given and isinstance(wanted, KAnonymity) and joined.k_all < wanted.k:
            yield claimed(check, f"{name}, joined: {asked.label} holds only over what is known. {joined.sentences[-1]}")
