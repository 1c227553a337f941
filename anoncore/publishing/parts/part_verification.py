"""Certificates of releases in parts, re-checked from the files alone and without loading them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

from anoncore.base.arguments import checked
from anoncore.base.errors import DataError
from anoncore.base.pipeline import in_threads
from anoncore.base.progress import Progress
from anoncore.base.texts import listing, quoted
from anoncore.engines.output_folder import SUMMARY, summary_text
from anoncore.publishing.certification.certificate import CERTIFICATE_FILE, Certificate
from anoncore.publishing.certification.certified_tables import ReadRelease, content_finding
from anoncore.publishing.certification.digests import PartDigester, content_difference, joined_digest
from anoncore.publishing.certification.entries import Part
from anoncore.publishing.certification.finding import Finding, Verification, claimed, fails
from anoncore.publishing.certification.published_rows import PartFile
from anoncore.publishing.certification.strict_reading import parquet_fault
from anoncore.publishing.certification.verification import InputDigest, judged_release

PART_NAME = re.compile(r"part-\d{5}\.parquet")
Given = Sequence[PartFile]


@checked
def verify_folder(
    folder: str | Path,
    certificate: Certificate | None = None,
    hashes: bool = True,
    known: Sequence[str] | None = None,
    progress: Progress | None = None,
) -> Verification:
    """Re-check the certificate of a release in parts, as runs on disk and Spark write it, without loading the parts.

    Everything in the folder is looked at. The files have to be those that were written, and to hold nothing but the
    rows of the release; groups and what they reach are worked out anew in one scan.

    Parameters
    ----------
    folder : str or Path
        The folder with the parts, wherever it was moved or copied to.
    certificate : Certificate, optional
        What the parts should be and show; by default the certificate that lies among them.
    hashes : bool
        Whether the contents must also be those that were certified.
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
        For a folder or a file that cannot be read, and for a certificate of a release that is not in parts.
    ParameterError
        For a known column that is not published.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
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
    >>> with tempfile.TemporaryDirectory() as name:
    ...     folder = Path(name)
    ...     people.to_parquet(folder / "people.parquet")
    ...     _ = (folder / "people.toml").write_text(recipe)
    ...     words = ["run", f"{folder}/people.toml", "--engine", "disk", "--output", name, "--quiet"]
    ...     _ = main([*words, "--key-file", f"{folder}/key.txt"])
    ...     found = verify_folder(folder / "people-release")  # doctest: +ELLIPSIS
    Everything that was asked holds. Not asked for, and not protected: largest belief 100%.
    ...
    >>> found.holds
    True
    """
    path = Path(folder)
    if not path.is_dir():
        raise DataError(f"There is no folder '{path}'.")
    own = path / CERTIFICATE_FILE
    certificate = Certificate.load(own) if certificate is None else certificate
    files, findings = files_of(path, own)
    given = [PartFile(one.name, one) for one in files]
    return verify_parts(certificate, given, hashes, known=known, found=findings, progress=progress)


def verify_parts(
    certificate: Certificate,
    files: Given,
    hashes: bool = True,
    input_digest: InputDigest | None = None,
    known: Sequence[str] | None = None,
    found: Sequence[Finding] = (),
    progress: Progress | None = None,
) -> Verification:
    """Re-check the certificate of a release in parts: which files there are, what they hold, what their groups show.

    `input_digest` gives the keyed hash of some columns of the original table, and `found` are findings on the folder
    that the files lie in. Raises DataError for files that cannot be read.
    """
    if certificate.parts is None:
        raise DataError("This is no certificate of a release in parts.")

    def read(claims: Certificate, tell: Progress) -> ReadRelease:
        parts = [file for file in files if PART_NAME.fullmatch(file.name)]
        fitting = [file for file in parts if file.names == claims.tables[0].columns]
        findings = [
            *found,
            *_names(claims, files),
            *_read_strictly(claims, files, parts, tell),
            *_columns(claims, parts),
        ]
        rows, certified = sum(file.n_rows for file in parts), claims.tables[0].rows
        if hashes:
            findings += _contents(claims, files, fitting)
        elif rows != certified:
            sentence = f"The parts have {rows:,} rows, but {certified:,} were certified."
            findings.append(fails("rows of the parts", sentence))
        is_complete = not any(one.check.startswith(("missing", "added", "columns")) for one in findings)
        return ReadRelease(findings, [fitting] if is_complete else [])

    return judged_release(certificate, read, hashes, input_digest, known, progress)


def _columns(certificate: Certificate, parts: Given) -> Iterator[Finding]:
    """Whether there are parts, and all of them have rows and the columns that were certified."""
    columns = certificate.tables[0].columns
    if not parts:
        yield fails("missing parts", "There is no part of the release in these files.")
    for file in parts:
        if file.n_rows == 0:
            sentence = f"{quoted(file.name)} has no rows: nothing but its name says anything."
            yield fails(f"content of {quoted(file.name)}", sentence)
        if file.names != columns:
            had = f"{quoted(file.name)} has the columns {listing(file.names, 30)}"
            yield fails(f"columns of {quoted(file.name)}", f"{had}, but {listing(columns, 30)} were certified.")


def _names(certificate: Certificate, files: Given) -> Iterator[Finding]:
    """Whether there are the parts that the certificate names, and beside them nothing but their summary."""
    entries = {one.name: one for one in certificate.files}
    part_of_file = {one.file: one for one in certificate.parts or ()}
    allowed = {name for name in part_of_file if PART_NAME.fullmatch(name)} | ({SUMMARY} & {*entries})
    for name in [*entries, *part_of_file]:
        if name not in allowed:
            sentence = (
                f"The certificate names {quoted(name)}, which is no part of a release, and nothing else is published."
            )
            yield fails(f"added file {quoted(name)}", sentence)
    for file in files:
        if file.name not in allowed:
            twin = next((one for one in certificate.files if one.sha256 == file.entry.sha256), None)
            twice = "" if twin is None else f": it is {quoted(twin.name)} once more"
            yield fails(f"added file {quoted(file.name)}", f"{quoted(file.name)} is no file that was certified{twice}.")
    for name in sorted(allowed - {file.name for file in files}):
        part = part_of_file.get(name)
        rows = "" if part is None else f", a part with {part.rows:,} rows,"
        yield fails(f"missing file {quoted(name)}", f"{quoted(name)}{rows} is missing.")


def _read_strictly(certificate: Certificate, files: Given, parts: Given, tell: Progress) -> Iterator[Finding]:
    """What files hold besides the rows of the release, whatever their hashes are."""

    def fault_of(file: PartFile) -> str:
        if file in parts:
            # The rows of an only part that is read in one piece are read once, for this and for what is counted.
            is_read_once = len(parts) == 1 and file.is_one_piece and file.names == certificate.tables[0].columns
            rows = file.whole if is_read_once else None
            return str(file.read(lambda: parquet_fault(file.source, rows)))
        return _summary_fault(certificate, file.content) if file.name == SUMMARY else ""

    with closing(in_threads(fault_of, files)) as faults:
        for number, (file, fault) in enumerate(zip(files, faults, strict=True)):
            tell(number / len(files), f"Reading {quoted(file.name)}")
            check = f"content of {quoted(file.name)}"
            if certificate.version == 1 and fault and (file.name == SUMMARY or "is not written as" in fault):
                yield claimed(check, f"{quoted(file.name)} {fault}; an earlier version wrote it in its own way.")
            elif fault:
                yield fails(check, f"{quoted(file.name)} {fault}.")


def _summary_fault(certificate: Certificate, content: bytes) -> str:
    """Where the summary of a run says something else than the certificate does, or more; empty where it does not."""
    method, table = certificate.method, certificate.tables[0]
    sizes = {int(size): n for size, n in table.group_sizes.items()}
    expected = {
        "anoncore": certificate.software.get("anoncore"),
        "algorithm": None if method is None else {"name": method.name, **method.parameters},
        "rows": table.rows,
        "groups": table.groups,
        "smallest group": min(sizes, default=0),
        "largest group": max(sizes, default=0),
        "information loss": None,
        "discernibility": sum(n * size**2 for size, n in sizes.items()),
    }
    try:
        loss = json.loads(content)["information loss"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return "is no summary of a run"
    is_loss = isinstance(loss, float | int) and 0 <= loss <= 1 and round(loss, 4) == loss
    written = summary_text(expected | {"information loss": loss}).encode()
    return "" if is_loss and content == written else "says something else than the certificate, or more"


def _contents(certificate: Certificate, files: Given, parts: Given) -> Iterator[Finding]:
    """How the files differ from those that were certified."""
    part_of_file = {one.file: one for one in certificate.parts or ()}
    entries = {one.name: one for one in certificate.files}
    is_changed = False
    for file in files:
        name, part = file.name, part_of_file.get(file.name) if file in parts else None
        # A known hash says nothing of the number of rows, which the certificate may state otherwise.
        is_other = part is not None and file.n_rows != part.rows
        if is_other or entries.get(name, file.entry) != file.entry:
            is_changed = True
            other = f"{quoted(name)} is not the file that was written: it has other bytes."
            yield fails(f"content of {quoted(name)}", other if part is None else _changed(file, part))
    content = joined_digest([part.sha256 for part in certificate.parts or ()])
    if {certificate.sha256, certificate.tables[0].sha256} != {content}:
        sentence = "The certificate does not fit itself: the hash of the table is not that of its parts together."
        yield fails("hash of the table", sentence)
    elif not is_changed:
        yield content_finding(certificate.tables[0], "")


def _changed(file: PartFile, part: Part) -> str:
    """How a part with the certified columns differs from the one that was written."""
    digester = PartDigester(file.schema)
    for unit in file.units(file.names):
        digester.add(unit)
    name = quoted(file.name)
    same = (
        f"{name} has the certified rows, but is not the file that was written, byte by byte: what else it may hold is "
        "not known."
    )

    def changed(names: str) -> str:
        return f"{name} is not as certified: values or the order of {names} were changed."

    return content_difference(file.name, part, digester.close(), changed, same) or same


def files_of(folder: Path, certificate: Path) -> tuple[list[Path], list[Finding]]:
    """The files of a folder but the certificate, by name, and a finding for every link and folder in it.

    A link leads to whatever lies where it points, and a folder has a name and times of its own.
    Raises DataError for a folder that cannot be read.
    """
    files, findings = [], []
    try:
        entries = sorted(folder.iterdir())
        own = certificate.resolve()
        for entry in entries:
            if entry.is_symlink():
                findings.append(_added(entry, "link, and what it leads to was not published"))
            elif entry.is_dir():
                findings.append(_added(entry, "folder, and nothing in a release has one"))
            elif not entry.is_file():
                findings.append(_added(entry, "thing that is no file"))
            elif entry.resolve() != own:
                files.append(entry)
    except OSError as error:
        reason = (error.strerror or "it cannot be opened").lower()
        raise DataError(f"The folder '{folder}' cannot be read: {reason}.") from None
    return files, findings


def _added(entry: Path, what: str) -> Finding:
    return fails(f"added {quoted(entry.name)}", f"{quoted(entry.name)} is a {what}.")
