"""Certificates of releases in parts, re-checked from the files alone and without loading them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from anoncore.base.arguments import checked
from anoncore.base.errors import AnonymizationError, CancelledError, DataError
from anoncore.base.progress import Progress, part_of, silent
from anoncore.base.texts import listing
from anoncore.publishing.certification.certificate import Certificate
from anoncore.publishing.certification.decided_columns import asked_classes, decided_findings
from anoncore.publishing.certification.entries import Asked, ClassesShown, File, Part
from anoncore.publishing.certification.finding import Finding, Verification
from anoncore.publishing.certification.published_release import by_name
from anoncore.publishing.certification.rechecking import Recheck, judged
from anoncore.publishing.certification.verification import statement_finding
from anoncore.publishing.parts.part_certificate import CERTIFICATE_FILE, sizes_of_groups
from anoncore.publishing.parts.part_digests import PartDigester, joined_digest
from anoncore.publishing.parts.part_files import PartFile
from anoncore.publishing.parts.part_scan import Question, Scan, Split, scan_parts
from anoncore.requirements import REQUIREMENTS

HASHED = 0.25
"""Share of a verification that is over when the files are hashed, as a rule of thumb."""
Given = Sequence[PartFile]


@checked
def verify_folder(
    folder: str | Path,
    certificate: Certificate | None = None,
    hashes: bool = True,
    progress: Progress | None = None,
) -> Verification:
    """Re-check the certificate of a release in parts, as runs on disk and Spark write it, without loading the parts.

    Every file of the folder is looked at. The files have to be those that were written, byte by byte, under whatever
    names; groups and what they reach are worked out anew in one scan.

    Parameters
    ----------
    folder : str or Path
        The folder with the parts, wherever it was moved or copied to.
    certificate : Certificate, optional
        What the parts should be and show; by default the certificate that lies among them.
    hashes : bool
        Whether the contents must also be those that were certified.
    progress : callable, optional
        Called with the share done and a text; it may raise CancelledError to stop.

    Returns
    -------
    Verification
        Every check and how it came out.

    Raises
    ------
    DataError
        For a folder or a file that cannot be read, and for a certificate of a release that is not in parts.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import pandas as pd
    >>> from anoncore.cli import main
    >>> from anoncore.publishing import verify_folder
    >>> recipe = '''
    ... [source]
    ... path = "people.parquet"
    ... [roles]
    ... age = "quasi-identifier"
    ... disease = "sensitive"
    ... [algorithm]
    ... name = "rothko-tree"
    ... requirements = [{ name = "k-anonymity", k = 3 }]
    ... '''
    >>> people = pd.DataFrame({"age": [21, 22, 23, 44, 45, 46], "disease": ["flu"] * 2 + ["cold"] * 4})
    >>> with tempfile.TemporaryDirectory() as name:
    ...     folder = Path(name)
    ...     people.to_parquet(folder / "people.parquet")
    ...     _ = (folder / "people.toml").write_text(recipe)
    ...     words = ["run", f"{folder}/people.toml", "--engine", "disk", "--output", name, "--quiet"]
    ...     _ = main([*words, "--key-file", f"{folder}/key.txt"])
    ...     found = verify_folder(folder / "people-release")  # doctest: +ELLIPSIS
    Everything that was asked holds, but 1 thing that nobody asked for fails badly: largest belief 100%.
    ...
    >>> found.holds
    True
    """
    path = Path(folder)
    if not path.is_dir():
        raise DataError(f"There is no folder '{path}'.")
    certificate = Certificate.load(path / CERTIFICATE_FILE) if certificate is None else certificate
    files = [PartFile(one.name, one) for one in sorted(path.rglob("*")) if one.is_file()]
    return verify_parts(certificate, files, hashes, progress=progress)


def verify_parts(
    certificate: Certificate,
    files: Given,
    hashes: bool = True,
    input_digest: Callable[[Sequence[str]], str] | None = None,
    progress: Progress | None = None,
) -> Verification:
    """Re-check the certificate of a release in parts: which files there are, and what holds in their groups.

    A part is known by its content, whatever its name and wherever it lies. `input_digest` gives the keyed hash of some
    columns of the original table. Raises DataError for files that cannot be read.
    """
    if certificate.parts is None:
        raise DataError("This is no certificate of a release in parts.")
    tell = progress if progress is not None else silent
    files = [file for file in files if file.name != CERTIFICATE_FILE]
    findings: list[Finding] = []
    if hashes:
        parts, findings = _contents(certificate, files, part_of(tell, 0.0, HASHED))
    else:
        parts = [file for file in files if file.name.endswith(".parquet")]
        findings += list(_number_of_parts(certificate, parts))
    columns = certificate.tables[0].columns
    for file in parts:
        if file.schema.names != columns:
            sentence = f"'{file.name}' has the columns {listing(file.schema.names, 30)}, but {listing(columns, 30)} "
            findings.append(Finding(f"columns of '{file.name}'", "fails", f"{sentence}were certified."))
    complete = not any(
        one.outcome == "fails" and one.check.startswith(("missing", "added", "columns")) for one in findings
    )
    if complete and parts:
        findings += shown_findings(certificate, parts, hashes, part_of(tell, HASHED if hashes else 0.0, 0.95))
    elif not findings:
        findings.append(Finding("missing parts", "fails", "There is no part of the release in these files."))
    tell(0.95, "Comparing the original table")
    findings.append(input_finding(certificate, input_digest))
    tell(1.0, "Done")
    return Verification(tuple(findings))


def _contents(certificate: Certificate, files: Given, tell: Progress) -> tuple[list[PartFile], list[Finding]]:
    """The parts among the files, and how the files differ from those that were certified."""
    entries = {one.name: one for one in certificate.files}
    part_of_file = {one.file: one for one in certificate.parts or ()}
    left = dict(entries)
    matched: list[PartFile] = []
    unmatched: list[PartFile] = []
    for number, file in enumerate(files):
        tell(number / len(files), f"Hashing '{file.name}'")
        found = _same(file, left)
        if found is None:
            unmatched.append(file)
            continue
        del left[found.name]
        if found.name in part_of_file:
            matched.append(file)
    findings: list[Finding] = []
    for file in unmatched:
        entry = left.pop(file.name, None)
        if entry is None:
            findings.append(_added(file, certificate))
        elif file.name in part_of_file:
            findings.append(_changed(file, part_of_file[file.name], certificate))
            matched.append(file)
        else:
            sentence = f"'{file.name}' is not the file that was written: it has other bytes."
            findings.append(Finding(f"content of '{file.name}'", "fails", sentence))
    findings += [_missing(entry, part_of_file.get(entry.name)) for entry in left.values()]
    if certificate.sha256 != joined_digest([part.sha256 for part in certificate.parts or ()]):
        sentence = "The certificate does not fit itself: the hash of the table is not that of its parts together."
        findings.append(Finding("hash of the table", "fails", sentence))
    if not findings:
        rows = certificate.tables[0].rows
        n = len(part_of_file)
        parts = f"All {n:,} parts with their {rows:,} rows are" if n > 1 else f"The only part with its {rows:,} rows is"
        sentence = f"{parts} as written, byte by byte."
        findings.append(Finding("content of the parts", "holds", sentence))
    return matched, findings


def _same(file: PartFile, entries: dict[str, File]) -> File | None:
    """The certified file with the same content, that of the same name first."""
    ordered = [*([entries[file.name]] if file.name in entries else []), *entries.values()]
    for entry in ordered:
        if (entry.bytes, entry.sha256) == (file.digest.bytes, file.digest.sha256):
            return entry
    return None


def _added(file: PartFile, certificate: Certificate) -> Finding:
    twin = next((one for one in certificate.files if one.sha256 == file.digest.sha256), None)
    twice = "" if twin is None else f": it is '{twin.name}' once more"
    return Finding(f"added file '{file.name}'", "fails", f"'{file.name}' is no file that was certified{twice}.")


def _missing(entry: File, part: Part | None) -> Finding:
    rows = "" if part is None else f", a part with {part.rows:,} rows,"
    return Finding(f"missing file '{entry.name}'", "fails", f"'{entry.name}'{rows} is missing.")


def _changed(file: PartFile, part: Part, certificate: Certificate) -> Finding:
    """How a part differs from the one that was written."""
    check = f"content of '{file.name}'"
    columns = certificate.tables[0].columns
    if file.schema.names != columns:
        return Finding(check, "fails", f"'{file.name}' is not the part that was written: it has other columns.")
    if file.n_rows != part.rows:
        sentence = f"'{file.name}' has {file.n_rows:,} rows, but {part.rows:,} were certified."
        return Finding(check, "fails", sentence)
    digester = PartDigester(file.schema)
    for unit in file.units(columns):
        digester.add(unit)
    found = digester.close()
    changed = [name for name in columns if found[name] != part.column_sha256.get(name)]
    if changed:
        sentence = f"'{file.name}' is not as certified: values or the order of {listing(changed)} were changed."
    else:
        sentence = (
            f"'{file.name}' has the certified rows, but is not the file that was written, byte by byte: what else it "
            "may hold is not known."
        )
    return Finding(check, "fails", sentence)


def _number_of_parts(certificate: Certificate, parts: Given) -> Iterator[Finding]:
    rows, certified = sum(file.n_rows for file in parts), certificate.tables[0].rows
    if rows != certified:
        sentence = f"The parts have {rows:,} rows, but {certified:,} were certified."
        yield Finding("rows of the parts", "fails", sentence)


def shown_findings(certificate: Certificate, parts: Given, hashes: bool, tell: Progress) -> Iterator[Finding]:
    """What the groups of the parts show of the statements."""
    questions: dict[int, Question] = {}
    faults: dict[int, Recheck] = {}
    for place, asked in enumerate(certificate.requirements):
        if not asked.rechecked:
            continue
        try:
            requirement = REQUIREMENTS.build(asked.requirement)
        except AnonymizationError as error:
            faults[place] = Recheck(False, f"{asked.label} cannot hold: {error}")
            continue
        if (requirement.label(), requirement.threshold) != (asked.label, asked.asked):
            sentence = f"The certificate says '{asked.label}', but describes {requirement.label()}."
            faults[place] = Recheck(False, sentence)
            continue
        questions[place] = Question(requirement, asked.attribute)
    columns = set(certificate.tables[0].columns)
    classes = asked_classes(certificate)
    # What the certificate says of columns that the parts do not have cannot be worked out, and fails below.
    splits = [_split(one) for one in classes if set(one.columns) <= columns]
    try:
        scan = scan_parts(
            parts, by_name(certificate.attributes), list(questions.values()), progress=tell, splits=splits
        )
    except CancelledError:
        raise
    except AnonymizationError as error:
        yield Finding("statements", "fails", f"What was certified cannot hold: {error}")
        return
    if hashes:
        yield _groups(certificate, scan)
    for place, asked in enumerate(certificate.requirements):
        yield statement_finding(
            asked.label, asked, _recheck(asked, questions.get(place), scan, faults.get(place)), asked.reached
        )
    yield from decided_findings(certificate, lambda classes: scan.splits.get(_split(classes)))


def _split(classes: ClassesShown) -> Split:
    return tuple(classes.columns), classes.k


def _recheck(asked: Asked, question: Question | None, scan: Scan, fault: Recheck | None) -> Recheck | None:
    if question is None:
        return fault
    return judged(question.requirement, asked.attribute, scan.of(question))


def _groups(certificate: Certificate, scan: Scan) -> Finding:
    entry = certificate.tables[0]
    same = (scan.n_rows, len(scan.sizes), sizes_of_groups(scan)) == (entry.rows, entry.groups, entry.group_sizes)
    sentence = (
        f"The parts have {len(scan.sizes):,} groups together, of the sizes that were certified."
        if same
        else f"The parts have {len(scan.sizes):,} groups together, and their sizes are not those that the certificate "
        "names."
    )
    return Finding("groups", "holds" if same else "fails", sentence)


def input_finding(certificate: Certificate, input_digest: Callable[[Sequence[str]], str] | None) -> Finding:
    """Whether the original table, by its digest, is that of the certificate."""
    if input_digest is None:
        return Finding(
            "input", "not checked", "The original table is not checked: that takes the table and the key of its hash."
        )
    names = [one.name for one in certificate.attributes if one.form is not None]
    same = input_digest(names) == certificate.input.hmac_sha256
    sentence = (
        "The release was made of this table."
        if same
        else "This table and key are not those of the certificate: a value, a row, a column or the key differs."
    )
    return Finding("input", "holds" if same else "fails", sentence)
