"""The commands `anoncore keygen` and `anoncore sign`, and what `anoncore verify` says of signatures."""

from __future__ import annotations

import argparse
import getpass
import sys

from anoncore.base.errors import ParameterError
from anoncore.base.whole_files import replace_files
from anoncore.cli.exit_codes import DONE
from anoncore.cli.log import add_log_options
from anoncore.cli.output import REPEATED, add_flag, file_or_address, named_file
from anoncore.publishing.certification.finding import Finding
from anoncore.publishing.signing.signature import (
    PUBLIC,
    clear_name,
    ed25519,
    fingerprint,
    has_passphrase,
    new_keys,
    read_private_key,
    trusted_keys,
)
from anoncore.publishing.signing.signers import CHECK_STANDS, SignedBy, change_in_database, change_in_file, sign
from anoncore.sources.addresses import shown_address

SIGNATURE = "signature"
"""The name of the check whether somebody signed."""


def add_keygen_options(command: argparse.ArgumentParser) -> None:
    """Give the parser of the command `keygen` its options."""
    command.epilog = (
        "Keep the private key, and its passphrase elsewhere. Give the public one to those who check certificates, in "
        "some other way than the releases, and let them compare its fingerprint with you."
    )
    command.add_argument(
        "--name",
        required=True,
        help="whose key it is, as readers will be told: 'signed by NAME's key'",
    )
    command.add_argument(
        "--output",
        type=named_file,
        required=True,
        metavar="FILE",
        help=f"file of the private key, which nobody but its owner may read; the public one gets {PUBLIC} behind it. "
        "Files that are there are never replaced",
    )
    add_flag(command, "--passphrase", "ask for a passphrase that protects the private key")
    _add_passphrase_file(command)
    add_log_options(command)
    command.set_defaults(command=_keygen)


def add_sign_options(command: argparse.ArgumentParser) -> None:
    """Give the parser of the command `sign` its options."""
    command.epilog = (
        f"{CHECK_STANDS} The signature goes into the certificate, which stays in its place and can be signed by "
        "several keys. Whatever is changed in it afterwards is noticed."
    )
    command.add_argument(
        "certificate",
        type=file_or_address,
        help="certificate (JSON), or a folder or zip that has it in it, or the address of a database (postgresql://)",
    )
    command.add_argument("--key", type=named_file, required=True, metavar="KEY", help="private key that `keygen` wrote")
    command.add_argument("--table", metavar="NAME", help="name of the release in a database, or schema.name")
    _add_passphrase_file(command)
    add_log_options(command)
    command.set_defaults(command=_sign)


def _add_passphrase_file(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--passphrase-file",
        type=named_file,
        metavar="FILE",
        help="file whose first line is the passphrase of the key (default: it is asked for where one is needed)",
    )


def add_trusted_option(check: argparse.ArgumentParser) -> None:
    """Give a command that checks certificates the option --trusted-key."""
    check.add_argument(
        "--trusted-key",
        **REPEATED,
        type=named_file,
        metavar="KEY",
        help=f"public key that you trust, or a folder of such keys (*{PUBLIC}), again for more: the certificate must "
        "be signed by one of them",
    )


def read_trusted_keys(arguments: argparse.Namespace) -> None:
    """Read the keys of --trusted-key before anything else is done; raises ParameterError for what is no such key."""
    if arguments.trusted_key:
        ed25519()
        arguments.trusted_key = trusted_keys(arguments.trusted_key)


def signature_findings(arguments: argparse.Namespace, found: SignedBy) -> list[Finding]:
    """What signatures show: that the one holds which the reader asked for, or that it or another one fails.

    A signature covers the certificate, and through its hashes the contents of the tables. Where these were not
    compared, nobody knows whether the signer ever saw these tables.
    """
    if found.is_broken or (arguments.trusted_key and not found.is_trusted):
        return [Finding(SIGNATURE, "fails", f"{found.sentence}.")]
    if not arguments.trusted_key:
        return []
    if arguments.no_hashes:
        sentence = f"The certificate is {found.sentence}, but the contents of the tables were not compared with it."
        return [Finding(SIGNATURE, "claimed", sentence)]
    return [Finding(SIGNATURE, "holds", f"{found.sentence}.")]


def _keygen(arguments: argparse.Namespace) -> int:
    private, public = arguments.output, arguments.output.with_name(arguments.output.name + PUBLIC)
    for path in (private, public):
        if path.exists():
            raise ParameterError(
                f"'{path}' exists, and keys are never replaced: nobody could sign with the old one again. Choose "
                "another --output."
            )
    clear_name(arguments.name)
    passphrase = _passphrase(arguments, asked=arguments.passphrase, twice=True)
    content, key = new_keys(arguments.name, passphrase)
    replace_files({private: content, public: key.line.encode()}, private=[private])
    print(f"Written: {private} (private: keep it, and give it to nobody)")
    print(f"Written: {public} (public: give it to those who check what you sign)")
    print(f"Fingerprint of {key.name}'s key: {fingerprint(key.raw)}")
    return DONE


def _sign(arguments: argparse.Namespace) -> int:
    place = arguments.certificate
    if isinstance(place, str) != (arguments.table is not None):
        raise ParameterError("--table names a release in a database; give the address of the database with it.")
    # Before anything is asked or read: a wrong key is the commonest mistake.
    passphrase = _passphrase(arguments, asked=has_passphrase(arguments.key), twice=False)
    key = read_private_key(arguments.key, passphrase)

    def signed(text: bytes) -> str:
        return sign(text, arguments.key, passphrase)

    if isinstance(place, str):
        change_in_database(place, arguments.table, signed)
        written = f"{shown_address(place)} ({arguments.table})"
    else:
        written = str(change_in_file(place, signed))
    print(f"Signed: {written}, with the key {fingerprint(key.public_key().public_bytes_raw())}")
    return DONE


def _passphrase(arguments: argparse.Namespace, asked: bool, twice: bool) -> str | None:
    """The passphrase of a key: of the file that was named, else as it is typed where one is asked for."""
    if arguments.passphrase_file is not None:
        try:
            lines = arguments.passphrase_file.read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError):
            lines = []
        if not lines or not lines[0]:
            raise ParameterError(
                f"'{arguments.passphrase_file}' cannot be read, or its first line holds no passphrase."
            )
        return str(lines[0])
    if not asked:
        return None
    if not sys.stdin.isatty():
        raise ParameterError("There is no terminal to ask for the passphrase on; give it with --passphrase-file.")
    given = getpass.getpass("Passphrase of the key: ")
    if twice and getpass.getpass("The same again: ") != given:
        raise ParameterError("The two passphrases differ; try again.")
    return given
