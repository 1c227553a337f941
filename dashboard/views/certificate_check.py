"""The certificate of a release that was made elsewhere: what its tables show of it, and by whose key it is signed."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping, Sequence

import streamlit as st

from anoncore import AnonymizationError
from dashboard.board.opened import MOST_UNPACKED
from dashboard.markdown import escaped
from dashboard.serving import uploads


def certified(files: Sequence[tuple[str, bytes]]) -> list[tuple[str, bytes, Mapping[str, bytes]]]:
    """The certificates in zips, as a release is handed out: the name and text of each, and the files beside it."""
    found: list[tuple[str, bytes, Mapping[str, bytes]]] = []
    for _, content in files:
        try:
            with zipfile.ZipFile(io.BytesIO(content)) as archive:
                names = archive.namelist()
                own = [name for name in names if name.endswith("-certificate.json")]
                if len(own) == 1 and sum(one.file_size for one in archive.infolist()) <= MOST_UNPACKED:
                    beside = {name: archive.read(name) for name in names if name != own[0]}
                    found.append((own[0], archive.read(own[0]), beside))
        except (zipfile.BadZipFile, RuntimeError, NotImplementedError, OSError, EOFError, ValueError):
            continue
    return found


def draw(files: Sequence[tuple[str, bytes]], turn: int) -> None:
    """Offer to check the certificates that lie beside the tables; nothing where there are none."""
    certificates = certified(files)
    if not certificates:
        return
    keys = uploads.field(
        "Public keys that you trust",
        key=f"board-open-keys-{turn}",
        type=["pub"],
        accept_multiple_files=True,
        help="Files that the makers of certificates gave you; without one nobody's name is told.",
    )
    if not st.button("Check the certificate", key=f"board-open-check-{turn}"):
        return
    given = [(key.name, key.getvalue()) for key in keys or ()]
    for name, text, tables in certificates:
        try:
            st.markdown(f"**{escaped(name)}**: {escaped(told(text, tables, given))}")
        except AnonymizationError as error:
            st.warning(escaped(str(error)))


def told(text: bytes, tables: Mapping[str, bytes], keys: Sequence[tuple[str, bytes]]) -> str:
    """Who signed a certificate, and what the tables show of it, in two sentences.

    Raises AnonymizationError for what is no certificate, no table or no key.
    """
    # Verification takes half a second to import, for which the first page must not wait.
    from anoncore.publishing import Certificate, signed_by, verify
    from anoncore.publishing.signing.signing_keys import public_key_of

    signed = signed_by(text, [public_key_of(name, content) for name, content in keys])
    found = verify(Certificate.loads(text), tables)
    failing = [one.sentence for one in found.findings if one.outcome == "fails"]
    return " ".join([f"{signed.sentence[0].upper()}{signed.sentence[1:]}.", found.state, *failing[:3]])
