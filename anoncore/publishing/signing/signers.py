"""Certificates signed wherever they stand (a file, the folder of a large run, a zip, a database), and by whose key."""

from __future__ import annotations

import base64
import io
import json
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from anoncore.base.arguments import checked
from anoncore.base.errors import DataError
from anoncore.base.extras import MissingPackageError
from anoncore.base.texts import counted, listing, quoted
from anoncore.base.whole_files import replace_file
from anoncore.publishing.certification.certificate import (
    CERTIFICATE,
    CERTIFICATE_FILE,
    UNSIGNED,
    Certificate,
    JoinedCertificate,
    file_text,
)
from anoncore.publishing.databases.stored_release import stored_release
from anoncore.publishing.export import archive_bytes
from anoncore.publishing.signing.signature import (
    FIELD,
    FORM,
    PublicKey,
    Signature,
    covered,
    ed25519,
    fields_of,
    fingerprint,
    read_private_key,
    trusted_keys,
)

NOBODY = "nobody signed: whoever made the tables can have made this certificate"
CHECK_STANDS = "A signature says who made the certificate; what the certificate says is checked all the same."
MOST = 100
"""No certificate has more signatures: each takes time to check."""
Change = Callable[[bytes], str]
MOST_BYTES = 1 << 30


@dataclass(frozen=True)
class SignedBy:
    """Who signed a certificate.

    Attributes
    ----------
    state : {"trusted", "untrusted", "unsigned", "broken", "not checked"}
        `trusted`: at least one signature by a key that is trusted. `untrusted`: only by other keys. `broken`: a
        signature does not fit the certificate. `not checked`: it is signed, and cryptography is not installed.
    sentence : str
        The same for people, without a full stop.
    names : tuple of str
        The names of the trusted keys by which it is signed.

    Examples
    --------
    >>> from anoncore.publishing import signed_by
    >>> signed_by("{}").sentence
    'nobody signed: whoever made the tables can have made this certificate'
    """

    state: Literal["trusted", "untrusted", "unsigned", "broken", "not checked"]
    sentence: str
    names: tuple[str, ...] = ()

    @property
    def is_broken(self) -> bool:
        """Whether a signature does not fit."""
        return self.state == "broken"

    @property
    def is_trusted(self) -> bool:
        """Whether a trusted key signed."""
        return self.state == "trusted"


@checked
def sign(certificate: str | bytes, key: str | Path, passphrase: str | None = None) -> str:
    """Sign a certificate with a private key.

    The signature covers the whole certificate in one canonical form, which it names. A certificate may have signatures
    of several keys; an earlier one of the same key gives way.

    Parameters
    ----------
    certificate : str or bytes
        The text of the certificate.
    key : str or Path
        The file of the private key, such as `anoncore keygen` writes one.
    passphrase : str, optional
        The passphrase of the key.

    Returns
    -------
    str
        The text of the certificate with the signature in it.

    Raises
    ------
    DataError
        For a text that is no certificate, and for one whose signatures do not fit it.
    ParameterError
        For a file that holds no private key or that others can read, for another passphrase, and where the package
        cryptography is not installed.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from anoncore.cli import main
    >>> from anoncore.publishing import certify, new_key, sign, signed_by
    >>> certificate = certify(release, new_key())
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = main(["keygen", "--name", "Ann", "--output", f"{folder}/ann.key", "--quiet"])  # doctest: +ELLIPSIS
    ...     signed = sign(certificate.dumps(), f"{folder}/ann.key")
    ...     found = signed_by(signed, [f"{folder}/ann.key.pub"])
    Written: ...
    >>> found.state, found.names
    ('trusted', ('Ann',))
    """
    kind = JoinedCertificate if JoinedCertificate.is_one(certificate) else Certificate
    kind.loads(certificate)
    fields = fields_of(certificate)
    if signed_by(certificate).is_broken:
        raise DataError("This certificate was changed after it was signed; take the one that was, or certify anew.")
    private = read_private_key(Path(key), passphrase)
    coded = base64.b64encode(private.public_key().public_bytes_raw()).decode()
    others = fields.pop(FIELD, None) or []
    fields["not_checked"] = [one for one in fields["not_checked"] if one != UNSIGNED]
    made = datetime.now(UTC).isoformat(timespec="seconds")
    entry = {"algorithm": "Ed25519", "key": coded, "made": made, "form": FORM}
    entry["value"] = base64.b64encode(private.sign(covered(fields, entry))).decode()
    complete = {**fields, FIELD: [*(one for one in others if one["key"] != coded), entry]}
    text = json.dumps(complete, ensure_ascii=False, indent=2, allow_nan=False) + "\n"
    kind.loads(text)
    return text


@checked
def signed_by(certificate: str | bytes, trusted: Sequence[str | Path | PublicKey] = ()) -> SignedBy:
    """By whose key a certificate is signed.

    Only keys that the reader trusts have names: what a certificate says of itself names nobody. A signature says who
    made a certificate and replaces no check of what it says.

    Parameters
    ----------
    certificate : str or bytes
        The text of the certificate.
    trusted : sequence of str or Path
        Files of public keys that are trusted, or folders of such files.

    Returns
    -------
    SignedBy
        Who signed it.

    Raises
    ------
    DataError
        For a text that can be read in two ways, and for signatures that are none.
    ParameterError
        For a file that holds no public key, and where keys are to be looked for and the package cryptography is not
        installed.

    Examples
    --------
    >>> from anoncore.publishing import signed_by
    >>> signed_by("{}").state
    'unsigned'
    """
    given = [one for one in trusted if isinstance(one, PublicKey)]
    keys = (*given, *trusted_keys([Path(one) for one in trusted if not isinstance(one, PublicKey)]))
    fields = fields_of(certificate)
    entries = fields.get(FIELD)
    if entries is None or entries == []:
        return SignedBy("unsigned", NOBODY)
    signatures = _signatures(entries)
    try:
        ed25519()
    except MissingPackageError as error:
        if trusted:
            raise
        return SignedBy("not checked", f"signed, and by whom is not checked. {str(error).rstrip('.')}")
    names = {key.raw: key.name for key in keys}
    for entry, signature in zip(entries, signatures, strict=True):
        if signature.form != FORM or not signature.fits(covered(fields, entry)):
            who = names.get(signature.raw_key)
            whose = f"{who}'s key" if who else f"the key {fingerprint(signature.raw_key)}"
            changed = "does not fit: the certificate was changed after it was signed, or never was"
            return SignedBy("broken", f"the signature that names {whose} {changed}")
    trusting = tuple(dict.fromkeys(names[one.raw_key] for one in signatures if one.raw_key in names))
    if trusting:
        whose = " and ".join(f"{name}'s" for name in trusting)
        others = len(signatures) - len(trusting)
        more = f", and by {counted(others, 'key')} that you don't trust" if others else ""
        return SignedBy("trusted", f"signed by {whose} key{'s' if len(trusting) > 1 else ''}{more}", trusting)
    if len(signatures) == 1:
        return SignedBy("untrusted", f"signed by a key that you don't trust ({fingerprint(signatures[0].raw_key)})")
    return SignedBy("untrusted", f"signed by {len(signatures):,} keys that you don't trust")


def _signatures(entries: object) -> list[Signature]:
    """The signatures of a certificate. Raises DataError for what is none, and for two of one key."""
    if not isinstance(entries, list) or len(entries) > MOST:
        raise DataError(f"The signatures of this certificate are no list of at most {MOST} signatures.")
    try:
        found = [Signature.model_validate(one, strict=True) for one in entries]
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise DataError(f"A signature of this certificate is none ({where[:60]!a}: {first['msg']}).") from None
    if len({one.key for one in found}) < len(found):
        raise DataError("Two signatures of this certificate name one key.")
    return found


def certificate_file(place: Path) -> Path:
    """The file of the certificate at a place, which may be the folder of a release.

    Raises DataError for a folder in which no certificate lies, or several ones do.
    """
    if not place.is_dir():
        return place
    if (place / CERTIFICATE_FILE).is_file():
        return place / CERTIFICATE_FILE
    found = sorted(place.glob(f"*{CERTIFICATE}"))
    if len(found) != 1:
        there = f"has {listing([one.name for one in found])}" if found else "has no certificate"
        raise DataError(f"The folder {quoted(place.name)} {there}; name the file of the certificate.")
    return found[0]


def change_in_file(place: Path, change: Change) -> Path:
    """Replace the certificate in a file, a folder or a zip by what is made of it; gives the file that was written."""
    path = certificate_file(place)
    content = file_text(path)
    is_zip = content.startswith(b"PK")
    replace_file(path, changed_zip(path.name, content, change) if is_zip else change(content).encode())
    return path


def changed_zip(name: str, content: bytes, change: Change) -> bytes:
    """A zip of a release, as the dashboard hands it out, with another certificate."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = archive.infolist()
            own = [one.filename for one in members if one.filename.endswith(CERTIFICATE)]
            if not own:
                beside = "name the file of the certificate, which lies beside it"
                raise DataError(f"{quoted(name)} is a zip without a certificate; {beside}.")
            if len(own) > 1:
                raise DataError(f"{quoted(name)} has several certificates; unpack it, and name one of them.")
            if sum(one.file_size for one in members) > MOST_BYTES:
                raise DataError(f"{quoted(name)} would unpack to more than 1 GB; unpack it, and sign in its folder.")
            return archive_bytes(
                (one.filename, change(archive.read(one)).encode() if one.filename == own[0] else archive.read(one))
                for one in members
            )
    except (zipfile.BadZipFile, RuntimeError, OSError):
        raise DataError(f"{quoted(name)} is damaged: this zip cannot be read.") from None


def stored_text(address: str, name: str) -> bytes:
    """The text of the certificate that stands beside a release in a database. Raises DataError where there is none."""
    with stored_release(address, name) as release:
        return release.required_text().encode()


def change_in_database(address: str, name: str, change: Change) -> None:
    """Replace the certificate of a release in a database, in one transaction, by what is made of it."""
    with stored_release(address, name) as release:
        text = change(release.required_text().encode())
        release.cursor.execute(f"UPDATE {release.place(release.certificate)} SET certificate = $1", (text,))
        release.connection.commit()
