"""By whose key the certificate of a release is signed, and what one proves that nobody signed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from anoncore import AnonymizationError
from anoncore.publishing.signing.signature import (
    PUBLIC,
    fingerprint,
    has_passphrase,
    read_private_key,
    read_public_key,
)
from anoncore.publishing.signing.signers import CHECK_STANDS, sign
from dashboard.markdown import escaped
from dashboard.serving import own_machine

KEY, PASSPHRASE = "publish-signing-key", "publish-signing-passphrase"
NOBODY = (
    "Nobody signs this certificate: it proves what the tables show to everybody who checks it, and not who made it. "
    "Whoever has the tables could have made it."
)


@dataclass(frozen=True)
class Signer:
    """Who signs: a private key on this machine, its passphrase, and whose key it is, for people."""

    key: Path
    passphrase: str | None
    whose: str

    def signed(self, certificate: str) -> str:
        """A certificate with the signature in it."""
        return sign(certificate, self.key, self.passphrase)


def choose() -> Signer | None:
    """Ask for the key and say by whose key the certificate is signed; None where nobody signs it.

    A private key belongs on its owner's machine, so that a page for others asks for none.
    """
    if not own_machine.is_served_alone():
        st.caption(
            f"{NOBODY} To sign it, take it away and run `anoncore sign` where your key lies; a private key does not "
            "belong on a server."
        )
        return None
    with st.expander("Sign the certificate"):
        path = st.text_input(
            "File of your private key",
            key=KEY,
            persist_state="session",
            placeholder="nobody signs",
            help="A file on this machine that `anoncore keygen` wrote. It is read when you take the release away.",
        ).strip()
        found, problem = _signer(path) if path else (None, "")
        if problem:
            st.warning(escaped(problem))
        st.caption(escaped(CHECK_STANDS))
    st.caption(NOBODY if found is None else f"The certificate is signed by {escaped(found.whose)}.")
    return found


def _signer(path: str) -> tuple[Signer | None, str]:
    """Who signs with the key in a file, or why nobody can."""
    try:
        key = own_machine.whole_path(path)
        passphrase = None
        if has_passphrase(key):
            passphrase = st.text_input("Passphrase of the key", key=PASSPHRASE, type="password") or None
            if passphrase is None:
                return None, "The key has a passphrase; type it."
        raw = read_private_key(key, passphrase).public_key().public_bytes_raw()
    except AnonymizationError as error:
        return None, str(error)
    return Signer(key, passphrase, _whose(key, raw)), ""


def _whose(key: Path, raw: bytes) -> str:
    """Whose key it is by the public key beside it, and the fingerprint that readers compare."""
    name = "your"
    try:
        public = read_public_key(key.with_name(key.name + PUBLIC))
        name = f"{public.name}'s" if public.raw == raw else name
    except AnonymizationError:
        pass
    return f"{name} key ({fingerprint(raw)})"
