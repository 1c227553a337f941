"""A certificate, re-checked from the published files alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from anoncore.base.arguments import checked
from anoncore.base.errors import AnonymizationError, CancelledError, DataError, ParameterError
from anoncore.base.progress import Progress, part_of, silent
from anoncore.base.texts import did_you_mean, listing, plural, quoted
from anoncore.publishing.certification.certificate import Certificate
from anoncore.publishing.certification.certified_tables import ReadRelease, read_files
from anoncore.publishing.certification.claimed_entries import earlier_findings, seed_findings
from anoncore.publishing.certification.claims import attack_findings, people_findings, requirement_findings
from anoncore.publishing.certification.counting import Counted, Tables
from anoncore.publishing.certification.finding import Finding, Verification, either, fails
from anoncore.publishing.certification.further_columns import asked_classes, decided_findings, linked_findings
from anoncore.publishing.certification.input_hash import input_hash
from anoncore.publishing.certification.links import inside_findings, link_findings
from anoncore.publishing.certification.published_release import by_name, with_role
from anoncore.publishing.certification.questions import countable
from anoncore.publishing.certification.scan import Scan
from anoncore.table.microdata import Microdata


@checked
def verify(
    certificate: Certificate,
    files: Mapping[str, bytes],
    hashes: bool = True,
    data: Microdata | None = None,
    key: str | None = None,
    known: Sequence[str] | None = None,
    progress: Progress | None = None,
) -> Verification:
    """Re-check a certificate from the published files alone, in any of the formats that are written.

    The certificate is a claim, the files are the evidence: files are read strictly, whoever made them, and groups,
    levels and joins are counted anew, whatever the certificate says of them. With the original table and the key of its
    hash, the input is compared as well.

    Parameters
    ----------
    certificate : Certificate
        What the files should be and show.
    files : mapping of str to bytes
        The published files by name.
    hashes : bool
        Whether the contents must also be those that were certified.
    data : Microdata, optional
        The original table.
    key : str, optional
        The key with which the original table was hashed.
    known : sequence of str, optional
        The columns that a reader takes for known, in place of those that the certificate names.
    progress : callable, optional
        Called with the share done and a text; it may raise CancelledError to stop.

    Returns
    -------
    Verification
        Every check and how it came out.

    Raises
    ------
    DataError
        For a file that cannot be read as a table, and for the certificate of a release in parts or in a database.
    ParameterError
        For a known column that is not published.

    Examples
    --------
    A file in which someone changed a value is not the one that was certified:

    >>> from anoncore.publishing import Certificate, new_key, release_files, verify
    >>> files = release_files(release, "people", new_key())
    >>> certificate = Certificate.loads(files.pop("people-certificate.json"))
    >>> verify(certificate, files).holds
    True
    >>> verify(certificate, {"people.csv": files["people.csv"].replace(b"flu", b"gout")}).holds
    False
    """
    if certificate.stored is not None:
        raise DataError("This certificate is that of a release in a database: check it with verify_stored.")
    if certificate.parts is not None:
        raise DataError("This certificate is that of a release in parts: check it with verify_folder.")

    digest = None if data is None or key is None else digest_with(data, key)
    return judged_release(
        certificate, lambda claims, tell: read_files(claims, files, hashes, tell), hashes, digest, known, progress
    )


InputDigest = Callable[[Sequence[str]], str]
"""Gives the keyed hash of some columns of the original table."""
READ = 0.4
"""Share of a verification that is over when everything is read, as a rule of thumb."""


def judged_release(
    certificate: Certificate,
    read: Callable[[Certificate, Progress], ReadRelease],
    hashes: bool,
    input_digest: InputDigest | None,
    known: Sequence[str] | None,
    progress: Progress | None,
) -> Verification:
    """Judge what a certificate claims by what is read, whether in files, in parts of a large run or in a database."""
    tell = progress or silent
    certificate, is_given = with_known(certificate, known)
    tell(0.0, "Reading the tables")
    release = read(certificate, part_of(tell, 0.0, READ))
    findings = [*release.findings]
    if release.tables:
        findings += counted_findings(certificate, release.tables, hashes, is_given, part_of(tell, READ, 0.95))
    findings += attack_findings(certificate)
    prepared = certificate.prepared
    findings += [] if prepared is None else prepared.findings
    findings += [] if certificate.method is None else seed_findings(certificate.method.seed)
    findings += earlier_findings(certificate.after or ())
    findings += release.as_written
    tell(0.95, "Comparing the original table")
    if input_digest is not None:
        made_anew = [] if prepared is None else prepared.columns
        # The certificate names the columns that were hashed; the table may have been tagged otherwise since.
        hashed = [one.name for one in certificate.attributes if one.role != "identifier" and one.part_of is None]
        names = [name for name in hashed if name not in made_anew]
        apart = f"; not compared: {listing(made_anew, 30)}" if made_anew else ""
        bad = "This table and key are not those of the certificate: a value, a row, a column or the key differs."
        is_same = input_digest(names) == certificate.input.hmac_sha256
        findings.append(either("input", is_same, f"The release was made of this table{apart}.", bad))
    tell(1.0, "Done")
    return Verification(tuple(findings))


def with_known(certificate: Certificate, known: Sequence[str] | None) -> tuple[Certificate, bool]:
    """The certificate with the columns for known that a reader names, and whether there are any.

    Others of those that the certificate calls known count as nobody's. Raises ParameterError for a column that is not
    published.
    """
    if known is None:
        return certificate, False
    published = {*certificate.columns} - {certificate.linked_by}
    parts = {one.name: one.part_of for one in certificate.attributes}
    wrong = [name for name in known if name not in published | {*parts.values()}]
    if wrong:
        raise ParameterError(
            f"There is no published column {listing(wrong)} to be known; there is {listing(sorted(published), 30)}."
            f"{did_you_mean(wrong[0], sorted(published))}"
        )
    if not known:
        raise ParameterError("Name at least one column that is known.")
    attributes = []
    for one in certificate.attributes:
        role = one.role
        if one.name in published:
            is_known = one.name in known or parts[one.name] in known
            role = "quasi-identifier" if is_known else "insensitive" if role == "quasi-identifier" else role
        attributes.append(one.model_copy(update={"role": role}))
    return certificate.model_copy(update={"attributes": attributes}), True


def counted_findings(
    certificate: Certificate, tables: Tables, hashes: bool = True, is_given: bool = False, tell: Progress = silent
) -> Iterator[Finding]:
    """What the certified tables, in their order, show of a certificate, wherever their rows lie; see `Counted`."""
    # What the certificate says of columns that the tables do not have cannot be worked out, and fails below.
    columns, attributes = certificate.columns, by_name(certificate.attributes)
    asked = [] if is_given else asked_classes(certificate)
    classes = [one for one in asked if {*one.columns} <= {*columns}]
    others = () if is_given else with_role(attributes, columns, "insensitive")
    splits = [one.split for one in classes]
    questions, group = countable(certificate), certificate.linked_by
    counted = Counted(tables, attributes, group, questions, frozenset(others), splits, is_given, tell)
    try:
        sizes = counted.sizes()
    except CancelledError:
        raise
    except AnonymizationError as error:
        yield fails("groups", f"What was certified cannot hold: {error}")
        return
    if hashes and not is_given:
        yield from _groups(certificate, sizes)
    found = [*requirement_findings(certificate, counted), *linked_findings(certificate, counted)]
    if counted.published is not None:
        found += people_findings(certificate, counted.published)
        if group is None:
            apart = {entry.name: one for entry, one in zip(certificate.tables, counted.published.tables, strict=True)}
            common = None if certificate.joins is None else certificate.joins.common
            found += link_findings(apart, dict.fromkeys(apart, certificate), common, "links between tables")
        else:
            found += inside_findings(counted.published, certificate)
    elif certificate.people or certificate.joins or certificate.linked_by:
        sentence = "A release in parts is one table, of which nothing else can be promised than its groups show."
        found.append(fails("statements", sentence))
    yield from found
    if not is_given:
        yield from decided_findings(certificate, counted.classes, any(one.breaking for one in found))


def digest_with(data: Microdata, key: str) -> InputDigest:
    """The keyed hash of columns of a table in memory; an empty text where it lacks one of them."""
    return lambda names: input_hash(data, key, names) if set(names) <= set(data.given.columns) else ""


def _groups(certificate: Certificate, scans: Sequence[Scan]) -> Iterator[Finding]:
    """Compare the numbers of groups by size that the certificate names with those of the tables."""
    for entry, scan in zip(certificate.tables, scans, strict=True):
        sizes = scan.group_sizes
        n_groups = sum(sizes.values())
        same = (scan.n_rows, sizes, entry.groups) == (entry.rows, entry.group_sizes, n_groups)
        groups = f"{quoted(entry.name)} has {n_groups:,} {plural('group', n_groups)}"
        bad = f"{groups}, and their sizes are not those that the certificate names."
        yield either(f"groups of {quoted(entry.name)}", same, f"{groups}, of the sizes that were certified.", bad)
