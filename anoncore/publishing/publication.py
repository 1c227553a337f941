"""A release as the files that belong together: its tables and their certificate, never the ones without the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from anoncore.attacks.strongest import Strongest
from anoncore.base.arguments import checked
from anoncore.base.shared_work import Cache
from anoncore.base.whole_files import replace_files
from anoncore.publishing.certification.certificate import CERTIFICATE, Certificate
from anoncore.publishing.certification.certifying import certify
from anoncore.publishing.certification.claimed_entries import Earlier
from anoncore.publishing.certification.published_rows import file_entries
from anoncore.publishing.export import ENDINGS, FileFormat, archive_bytes, file_contents, table_file
from anoncore.release.release import Release
from anoncore.requirements import Requirement


@checked
def release_files(
    release: Release,
    name: str,
    key: str,
    format: FileFormat = "csv",
    requirements: Sequence[Requirement] = (),
    tables: Mapping[str, Any] | None = None,
    after: Sequence[Certificate | Earlier] = (),
    cache: Cache | None = None,
    asked: Sequence[Requirement] = (),
    guessable_seed: bool = False,
    attacks: Sequence[Strongest] = (),
    zipped: bool = False,
) -> dict[str, bytes]:
    """Make the files of a release: its tables, and the certificate that names and describes them.

    Parameters
    ----------
    release : Release
        The release.
    name : str
        How the names of the files begin.
    key : str
        For the hash of the original table, such as `new_key` gives one; it is not written.
    format : {"csv", "parquet", "excel"}
        The format of the tables.
    requirements : sequence of Requirement
        Further conditions that the release has to keep.
    tables : mapping of str to DataFrame, LazyFrame, Arrow table or DuckDB relation, optional
        The published tables, where `Release.tables` was called already.
    after : sequence of Certificate or Earlier
        Certificates of earlier releases of the same people or some of them, which the new one names.
    cache : callable, optional
        What keeps results of the release, see `certify`.
    asked : sequence of Requirement
        What was asked of the release although its method does not promise it: it is certified where it holds.
    guessable_seed : bool
        Whether a release is certified whose random choices follow from a seed that others can guess, see `certify`.
    attacks : sequence of Strongest
        What attacks got from the release, which the certificate says.
    zipped : bool
        Whether a single table, too, is put into a zip.

    Returns
    -------
    dict of str to bytes
        The certificate and the file with the tables, by their names.

    Raises
    ------
    ReleaseError
        Where something that was promised or asked for does not hold.
    DataError
        For tables that the format cannot hold.

    Examples
    --------
    >>> from anoncore.publishing import new_key, release_files
    >>> list(release_files(release, "people", new_key()))
    ['people-certificate.json', 'people.csv']
    """
    tables = tables or release.pandas_tables()
    written = dict([table_file(name, tables, format, zipped)])
    certificate = certify(release, key, None, requirements, tables, after, cache, asked, guessable_seed, attacks)
    return _with_certificate(name, certificate, written)


def _with_certificate(name: str, certificate: Certificate, written: Mapping[str, bytes]) -> dict[str, bytes]:
    """The files of tables after the certificate, which names them; what was just written is not read again."""
    complete = certificate.model_copy(update={"files": file_entries(written)})
    return {f"{name}{CERTIFICATE}": complete.dumps().encode(), **written}


@checked
def release_archive(
    release: Release,
    name: str,
    key: str,
    format: FileFormat = "csv",
    cache: Cache | None = None,
    asked: Sequence[Requirement] = (),
    guessable_seed: bool = False,
) -> bytes:
    """One zip to hand out: every table as a file of its own (a workbook has all of them), and their certificate.

    Parameters
    ----------
    release : Release
        The release.
    name : str
        How the names of the files begin.
    key : str
        For the hash of the original table, such as `new_key` gives one; it is not written.
    format : {"csv", "parquet", "excel"}
        The format of the tables.
    cache : callable, optional
        What keeps results of the release, see `certify`.
    asked : sequence of Requirement
        What was asked of the release although its method does not promise it: it is certified where it holds.
    guessable_seed : bool
        Whether a release is certified whose random choices follow from a seed that others can guess, see `certify`.

    Returns
    -------
    bytes
        The zip.

    Raises
    ------
    ReleaseError
        Where something that was promised does not hold.
    DataError
        For tables that the format cannot hold.

    Examples
    --------
    >>> import io, zipfile
    >>> from anoncore.publishing import new_key, release_archive
    >>> zipfile.ZipFile(io.BytesIO(release_archive(release, "people", new_key()))).namelist()
    ['people-certificate.json', 'people.csv']
    """
    tables = release.pandas_tables()
    contents = file_contents(tables, format)
    is_one = len(contents) == 1
    files = {f"{name}{ENDINGS[format]}" if is_one else f"{name}-{one}": content for one, content in contents.items()}
    certificate = certify(release, key, tables=tables, cache=cache, asked=asked, guessable_seed=guessable_seed)
    return archive_bytes(_with_certificate(name, certificate, files).items())


@checked
def publish(
    release: Release,
    folder: str | Path,
    name: str,
    key: str,
    format: FileFormat = "csv",
    requirements: Sequence[Requirement] = (),
    guessable_seed: bool = False,
) -> list[Path]:
    """Write a release and its certificate, both or neither.

    Files of these names that are there are replaced. Where anything fails they stay what they were, and nothing new is
    left.

    Parameters
    ----------
    release : Release
        The release.
    folder : str or Path
        Where to write; it is made where it is missing.
    name : str
        How the names of the files begin.
    key : str
        For the hash of the original table, such as `new_key` gives one; it is not written.
    format : {"csv", "parquet", "excel"}
        The format of the tables.
    requirements : sequence of Requirement
        Further conditions that the release has to keep.
    guessable_seed : bool
        Whether a release is certified whose random choices follow from a seed that others can guess, see `certify`.

    Returns
    -------
    list of Path
        The certificate and the file with the tables.

    Raises
    ------
    ReleaseError
        Where something that was promised or asked for does not hold.
    DataError
        For tables that the format cannot hold, and where the files cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> from anoncore.publishing import new_key, publish
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     [path.name for path in publish(release, folder, "people", new_key())]
    ['people-certificate.json', 'people.csv']
    """
    files = release_files(release, name, key, format, requirements, guessable_seed=guessable_seed)
    contents = {Path(folder) / file: content for file, content in files.items()}
    replace_files(contents)
    return list(contents)
