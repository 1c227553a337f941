"""The command `anoncore verify`: re-check a certificate from the published files."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path

from anoncore.base.errors import DataError, ParameterError
from anoncore.base.progress import part_of
from anoncore.cli.destination import path_or_address
from anoncore.cli.key_files import read_key
from anoncore.cli.log import add_log_options, log
from anoncore.cli.text import add_strict_option, strict_code
from anoncore.publishing.certification import Certificate, Verification, verify
from anoncore.publishing.databases.stored_verification import stored_certificate, verify_stored
from anoncore.publishing.parts.part_certificate import CERTIFICATE_FILE
from anoncore.publishing.parts.part_files import PartFile
from anoncore.publishing.parts.part_verification import verify_parts
from anoncore.recipes.recipe import Recipe


def add_options(check: argparse.ArgumentParser) -> None:
    """Give the parser of the command its options."""
    check.epilog = (
        "Of a folder every file is looked at but the certificate: one that is not certified fails. Files that are not "
        "named are not looked at. Exit code: 0 if nothing fails, 1 if something does or cannot be read, 2 if asked "
        "wrongly."
    )
    check.add_argument(
        "certificate",
        type=path_or_address,
        help="certificate (JSON), or the folder of a large release or the address of a database (postgresql://), which "
        "have it in them",
    )
    check.add_argument(
        "files",
        type=path_or_address,
        nargs="*",
        help="published files, or a folder of them, or the database (default: those it names, in its own folder)",
    )
    check.add_argument("--table", metavar="NAME", help="name of the release in a database, or schema.name")
    check.add_argument(
        "--no-hashes", action="store_true", help="do not compare contents; only re-check what holds in the groups"
    )
    check.add_argument("--recipe", type=Path, help="recipe whose table should be the original one")
    check.add_argument("--key-file", type=Path, metavar="FILE", help="file with the key of the original table's hash")
    add_strict_option(check)
    add_log_options(check)
    check.set_defaults(command=_verify)


def _verify(arguments: argparse.Namespace) -> int:
    if (arguments.recipe is None) != (arguments.key_file is None):
        raise ParameterError("The original table is compared with --recipe and --key-file together.")
    path = arguments.certificate
    addresses = [one for one in (path, *arguments.files) if isinstance(one, str)]
    if addresses:
        return _told(arguments, _verified_database(arguments, addresses))
    if arguments.table is not None:
        raise ParameterError("--table names a release in a database; give the address of the database, too.")
    if path.is_dir():
        # A release in parts has its certificate among them.
        arguments.certificate = path / CERTIFICATE_FILE
    certificate = Certificate.load(arguments.certificate)
    if certificate.stored is not None:
        raise ParameterError("This is the certificate of tables in a database; name the database after it.")
    if certificate.parts is not None:
        return _told(arguments, _verified_parts(arguments, certificate))
    files = arguments.files or [arguments.certificate.parent / file.name for file in certificate.files]
    if not files:
        raise ParameterError("The certificate names no files; name the published files after it.")
    files = [one for file in files for one in _in_folder(file, arguments.certificate)]
    key = None if arguments.key_file is None else read_key(arguments.key_file)
    with log().progress() as report:
        report(0.0, "Reading the files")
        contents = _contents(files)
        data = None
        if arguments.recipe is not None:
            report(0.1, "Reading the original table")
            data = Recipe.load(arguments.recipe).microdata(as_published=True)
        verification = verify(certificate, contents, not arguments.no_hashes, data, key, part_of(report, 0.2, 1.0))
    return _told(arguments, verification)


def _verified_parts(arguments: argparse.Namespace, certificate: Certificate) -> Verification:
    """Check a release in parts, which lies in the certificate's own folder unless another one is named."""
    given = arguments.files or [arguments.certificate.parent]
    files = [one for file in given for one in _in_folder(file, arguments.certificate)]
    hidden = [one for one in files if one.name != CERTIFICATE_FILE]
    for number, file in enumerate(hidden):
        if any(file.name == other.name for other in hidden[:number]):
            raise ParameterError(f"Two files are called '{file.name}'; give them different names.")
    digest = None
    if arguments.recipe is not None:
        recipe, key = Recipe.load(arguments.recipe), read_key(arguments.key_file)
        digest = _digest_of(recipe, key)
    with log().progress() as report:
        return verify_parts(
            certificate, [PartFile(file.name, file) for file in files], not arguments.no_hashes, digest, report
        )


def _verified_database(arguments: argparse.Namespace, addresses: Sequence[str]) -> Verification:
    """Check a release in a database by the certificate that stands beside it, or by one in a file."""
    if len(addresses) > 1 or (arguments.files and isinstance(arguments.certificate, str)):
        raise ParameterError("Name one database, alone or after the file of the certificate.")
    if len(arguments.files) > 1:
        raise ParameterError("A release is in a database or in files; name the database alone after the certificate.")
    certificate = None if isinstance(arguments.certificate, str) else Certificate.load(arguments.certificate)
    if certificate is None and arguments.table is None:
        raise ParameterError("Name the release in the database with --table.")
    certificate = stored_certificate(addresses[0], arguments.table) if certificate is None else certificate
    data, key, digest = None, None, None
    if arguments.recipe is not None:
        recipe, key = Recipe.load(arguments.recipe), read_key(arguments.key_file)
        if certificate.parts is None:
            data = recipe.microdata(as_published=True)
        else:
            digest = _digest_of(recipe, key)
    with log().progress() as report:
        return verify_stored(
            addresses[0], arguments.table, certificate, not arguments.no_hashes, data, key, digest, report
        )


def _digest_of(recipe: Recipe, key: str) -> Callable[[Sequence[str]], str]:
    # DuckDB is loaded only where the original table is read.
    from anoncore.recipes.engine_choice import input_digest

    return lambda names: input_digest(recipe, key, names)


def _told(arguments: argparse.Namespace, verification: Verification) -> int:
    """Print the findings; gives the exit code."""
    if verification.breaking:
        print(verification.state)
    for finding in verification.findings:
        print(f"{finding.outcome}: {finding.sentence}")
    counts = [
        sum(finding.outcome == outcome for finding in verification.findings)
        for outcome in ("holds", "fails", "not checked")
    ]
    over = " over what is known" if verification.breaking else ""
    state = f"The certificate holds{over}" if verification.holds else "The certificate does not hold"
    print(f"{state}: of {sum(counts)} checks {counts[0]} hold, {counts[1]} fail, {counts[2]} could not be made.")
    return strict_code(arguments, verification.breaking) if verification.holds else 1


def _in_folder(file: Path, certificate: Path) -> list[Path]:
    """The file itself, or of a folder every file in it and below but the certificate."""
    if not file.is_dir():
        return [file]
    return [one for one in sorted(file.rglob("*")) if one.is_file() and one.resolve() != certificate.resolve()]


def _contents(files: Sequence[Path]) -> dict[str, bytes]:
    contents: dict[str, bytes] = {}
    for file in files:
        if file.name in contents:
            raise ParameterError(f"Two files are called '{file.name}'; give them different names.")
        try:
            contents[file.name] = file.read_bytes()
        except OSError as error:
            reason = (error.strerror or "it cannot be opened").lower()
            raise DataError(f"'{file.name}' cannot be read: {reason}.") from None
    return contents
