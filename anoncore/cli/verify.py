"""The command `anoncore verify`: re-check a certificate from the published files."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from anoncore import publishing
from anoncore.base.errors import ParameterError
from anoncore.base.progress import part_of
from anoncore.base.texts import listing, quoted
from anoncore.cli.exit_codes import CLAIMED, DONE, FAILS, REFUSED, add_strict_option, judged_code, worst_code
from anoncore.cli.key_files import read_key
from anoncore.cli.log import add_log_options, log
from anoncore.cli.office_rules import add_policy_option, policy_json, policy_lines, policy_of
from anoncore.cli.output import add_flag, add_json_option, add_reach_options, file_or_address, named_file, tell
from anoncore.cli.plain_values import plain_value
from anoncore.cli.signing import SIGNATURE, add_trusted_option, read_trusted_keys, signature_findings
from anoncore.cli.table_file import columns_in
from anoncore.publishing.certification.certificate import Certificate, JoinedCertificate, file_text
from anoncore.publishing.certification.finding import Finding, Outcome, Verification
from anoncore.publishing.certification.published_rows import PartFile
from anoncore.publishing.parts.part_verification import files_of, verify_parts
from anoncore.publishing.signing.signers import certificate_file, signed_by, stored_text

if TYPE_CHECKING:
    from anoncore.front.policy.policy import Policy
    from anoncore.front.policy.published_rules import Verifying
    from anoncore.recipes.recipe import Recipe

WORDS: dict[Outcome, str] = {"holds": "holds", "fails": "fails", "claimed": "claimed, not checked"}
"""What each line of the output begins with: counted here and holds, counted here and fails, and only claimed."""


def add_options(check: argparse.ArgumentParser) -> None:
    """Give the parser of the command its options."""
    check.epilog = (
        "Of a folder everything is looked at but the certificate: what is not certified fails. Files that are not "
        f"named are not looked at. Exit code: {DONE} if all that the certificate claims was counted and holds, {FAILS} "
        f"if something fails, {CLAIMED} if something is only claimed, or holds only if nobody knows a published "
        f"column, {REFUSED} if something cannot be read or was asked wrongly."
    )
    check.add_argument(
        "certificate",
        type=file_or_address,
        help="certificate (JSON), or the folder of a large release or the address of a database (postgresql://), which "
        "have it in them",
    )
    check.add_argument(
        "files",
        type=file_or_address,
        nargs="*",
        help="published files, or a folder of them, or the database (default: those it names, in its own folder)",
    )
    check.add_argument("--table", metavar="NAME", help="name of the release in a database, or schema.name")
    add_flag(check, "--no-hashes", "do not compare contents; only re-check what holds in the groups")
    check.add_argument("--recipe", type=named_file, help="recipe whose table should be the original one")
    check.add_argument("--key-file", type=named_file, metavar="FILE", help="file with the key of the original's hash")
    add_reach_options(check)
    add_trusted_option(check)
    check.add_argument(
        "--known",
        action="append",
        metavar="COLUMNS",
        help="the columns that others know, as you take it: age,zip; again for more (default: those that the "
        "certificate names)",
    )
    add_policy_option(check, ", of which only what can be counted in the files counts")
    add_strict_option(check)
    add_json_option(check)
    add_log_options(check)
    check.set_defaults(command=_verify)


@dataclass(frozen=True)
class VerifiedRelease:
    """A release that was checked by its certificate, wherever both lie.

    `content` is the very text of the certificate that was verified: read once more, it could be another one.
    `verifying` checks another certificate by the same files; several tables of the same people have none.
    """

    content: bytes
    certificate: Certificate | JoinedCertificate
    verification: Verification
    verifying: Verifying | None = None


def _verify(arguments: argparse.Namespace) -> int:
    read_trusted_keys(arguments)
    policy = policy_of(arguments)
    if (arguments.recipe is None) != (arguments.key_file is None):
        raise ParameterError("The original table is compared with --recipe and --key-file together.")
    return _told(arguments, policy, verified_release(arguments))


def verified_release(arguments: argparse.Namespace) -> VerifiedRelease:
    """Check the release of `arguments.certificate` and `.files`: files, a folder of parts, or tables in a database.

    Of the others, `table`, `known`, `no_hashes`, `recipe` and `key_file` count. Raises AnonymizationError for what
    cannot be read or does not go together.
    """
    path = arguments.certificate
    addresses = [place for place in (path, *arguments.files) if isinstance(place, str)]
    return _verified_database(arguments, addresses) if addresses else _verified_files(arguments)


def _known(arguments: argparse.Namespace) -> list[str] | None:
    """The columns that a reader names as known."""
    return None if arguments.known is None else [name for name in columns_in(arguments.known) if name]


def _verified_files(arguments: argparse.Namespace) -> VerifiedRelease:
    """Check a release in files by its certificate."""
    path = arguments.certificate
    if arguments.table is not None:
        raise ParameterError("--table names a release in a database; give the address of the database, too.")
    # Of a folder the release is the folder, with its certificate among its files.
    given = arguments.files or ([path] if path.is_dir() else [])
    path = certificate_file(path)
    content = file_text(path)
    if content.startswith(b"PK"):
        # What lies in a zip beside its members is seen by nobody who unpacks it, and so is not certified either.
        raise ParameterError(f"{quoted(path.name)} is a zip; unpack it into an empty folder, and verify that folder.")
    if JoinedCertificate.is_one(content):
        return _verified_joined(arguments, given, path, content)
    certificate = Certificate.loads(content)
    if certificate.stored is not None:
        raise ParameterError("This is the certificate of tables in a database; name the database after it.")
    if certificate.parts is not None:
        found, verifying = _verified_parts(arguments, given or [path.parent], path, certificate)
        return VerifiedRelease(content, certificate, found, verifying)
    given = given or [path.parent / file.name for file in certificate.files]
    if not given:
        raise ParameterError("The certificate names no files; name the published files after it.")
    files, findings = _files(given, path, certificate)
    key = None if arguments.key_file is None else read_key(arguments.key_file)
    with log().progress() as report:
        report(0.0, "Reading the files")
        contents = _contents_of(files)
        data = None
        if arguments.recipe is not None:
            report(0.1, "Reading the original table")
            data = _recipe(arguments).microdata(as_published=True)
        hashes, known = not arguments.no_hashes, _known(arguments)
        found = publishing.verify(certificate, contents, hashes, data, key, known, part_of(report, 0.2, 1.0))
    found = Verification((*findings, *found.findings))
    return VerifiedRelease(
        content, certificate, found, lambda asked: publishing.verify(asked, contents, False, known=known)
    )


def _verified_joined(
    arguments: argparse.Namespace, given: Sequence[Path], path: Path, content: bytes
) -> VerifiedRelease:
    """Check several tables of the same people by their one certificate."""
    options = {"--recipe": arguments.recipe, "--policy": arguments.policy}
    named = [option for option, value in options.items() if value is not None]
    if named:
        raise ParameterError(f"{listing(named)}: this is the certificate of several tables, and that is for one.")
    certificate = JoinedCertificate.loads(content)
    given = given or [path.parent / file.name for one in certificate.tables.values() for file in one.files]
    files, findings = _files(given, path, None)
    with log().progress() as report:
        hashes, known = not arguments.no_hashes, _known(arguments)
        found = publishing.verify_joined(certificate, _contents_of(files), hashes, known, report)
    return VerifiedRelease(content, certificate, Verification((*findings, *found.findings)))


def _verified_parts(
    arguments: argparse.Namespace, given: Sequence[Path], path: Path, certificate: Certificate
) -> tuple[Verification, Verifying]:
    """Check a release in parts, which lies in the certificate's own folder unless another one is named; gives what was
    found, and what checks another certificate by the same parts.
    """
    files, findings = _files(given, path, None)
    digest = None
    if arguments.recipe is not None:
        recipe, key = _recipe(arguments), read_key(arguments.key_file)
        digest = _digest_of(recipe, key)
    parts, known = [PartFile(file.name, file) for file in files], _known(arguments)
    with log().progress() as report:
        found = verify_parts(certificate, parts, not arguments.no_hashes, digest, known, findings, report)
    return found, lambda asked: verify_parts(asked, parts, False, known=known)


def _verified_database(arguments: argparse.Namespace, addresses: Sequence[str]) -> VerifiedRelease:
    """Check a release in a database by the certificate that stands beside it, or by one in a file."""
    if len(addresses) > 1 or (arguments.files and isinstance(arguments.certificate, str)):
        raise ParameterError("Name one database, alone or after the file of the certificate.")
    if len(arguments.files) > 1:
        raise ParameterError("A release is in a database or in files; name the database alone after the certificate.")
    if isinstance(arguments.certificate, str) and arguments.table is None:
        raise ParameterError("Name the release in the database with --table.")
    address, table = addresses[0], arguments.table
    is_beside = isinstance(arguments.certificate, str)
    content = stored_text(address, table) if is_beside else file_text(arguments.certificate)
    certificate = Certificate.loads(content)
    data, key, digest = None, None, None
    if arguments.recipe is not None:
        recipe, key = _recipe(arguments), read_key(arguments.key_file)
        if certificate.parts is None:
            data = recipe.microdata(as_published=True)
        else:
            digest = _digest_of(recipe, key)
    with log().progress() as report:
        hashes, known = not arguments.no_hashes, _known(arguments)
        found = publishing.verify_stored(address, table, certificate, hashes, data, key, digest, known, report)

    def verifying(asked: Certificate) -> Verification:
        return publishing.verify_stored(address, table, asked, False, known=known)

    return VerifiedRelease(content, certificate, found, verifying)


def _recipe(arguments: argparse.Namespace) -> Recipe:
    # Recipes know every method, which takes long to import; most releases are checked without the original table.
    from anoncore.cli.recipe_file import load_recipe

    return load_recipe(arguments.recipe, arguments)


def _digest_of(recipe: Recipe, key: str) -> Callable[[Sequence[str]], str]:
    # DuckDB is loaded only where the original table is read.
    from anoncore.recipes.engine_choice import input_digest

    return lambda names: input_digest(recipe, key, names)


def _told(arguments: argparse.Namespace, policy: Policy | None, release: VerifiedRelease) -> int:
    """Print the findings, what is only claimed apart from what was counted, who signed, and what the policy says; gives
    the exit code.
    """
    verification = release.verification
    judgement = None
    if policy is not None and isinstance(release.certificate, Certificate) and release.verifying is not None:
        from anoncore.front.policy.published_rules import judge_files

        judgement = judge_files(policy, release.certificate, verification, release.verifying)
    signed = signed_by(release.content, arguments.trusted_key)
    verification = Verification((*verification.findings, *signature_findings(arguments, signed)))
    findings = [finding for outcome in WORDS for finding in verification.of(outcome)]
    lines = [f"{WORDS[finding.outcome]}: {finding.sentence}" for finding in findings]
    if not any(finding.check == SIGNATURE for finding in findings):
        lines.append(f"signature: {signed.sentence}.")
    results = {
        "holds": verification.holds,
        "state": verification.state,
        "findings": [plain_value(finding) for finding in findings],
        "signature": signed.sentence,
        **policy_json(judgement),
    }
    tell(arguments, [*lines, verification.state, *policy_lines(judgement)], results)
    return judged_code(arguments, worst_code(verification.code, DONE if judgement is None else judgement.exit_code))


def _files(given: Sequence[Path], certificate: Path, named: Certificate | None) -> tuple[list[Path], list[Finding]]:
    """The files that are given, those of folders among them, and what in a folder is not what the certificate names.

    Raises ParameterError for two files of one name.
    """
    files: list[Path] = []
    findings: list[Finding] = []
    names = None if named is None else {one.name for one in named.files}
    for path in given:
        if not path.is_dir():
            files.append(path)
            continue
        inside, wrong = files_of(path, certificate)
        files += inside
        findings += wrong
        for file in inside:
            if names is not None and file.name not in names:
                sentence = f"'{file.name}' is no file that the certificate names."
                findings.append(Finding(f"added '{file.name}'", "fails", sentence))
    for number, file in enumerate(files):
        if any(file.name == other.name for other in files[:number]):
            raise ParameterError(f"Two files are called '{file.name}'; give them different names.")
    return files, findings


def _contents_of(files: Sequence[Path]) -> dict[str, bytes]:
    """The contents of published files by name. Raises DataError for one that cannot be read."""
    return {file.name: PartFile(file.name, file).content for file in files}
