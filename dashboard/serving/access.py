"""Who a visitor is and what they may do, where the server asks for a sign-in; elsewhere everybody may do everything.

The provider's claims come with the cookie that Streamlit signs, so a visitor cannot write them. Rights are looked up
anew whenever they are asked for, so that they end when the sign-in does.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Literal

import streamlit as st
from streamlit import runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx

from anoncore import DataError
from dashboard.markdown import escaped
from dashboard.serving import settings

Right = Literal["look", "upload", "paths"]
RIGHTS: tuple[Right, ...] = ("look", "upload", "paths")
CLOCK_SECONDS = 300.0
"""How far the provider's clock may be ahead of this machine's."""
MOST_UPLOADERS = 4_096
SHOWN_DIGITS = 8
"""Of the digest of issuer and subject, those that stand behind a name that the person may have chosen."""
SENTENCES: Mapping[Right, str] = {
    "look": "may not use this server",
    "upload": "may look at the built-in tables and try everything on them, and may not load other tables or sessions",
    "paths": "may not name paths of the machine on which this server runs",
}


@dataclass(frozen=True)
class Person:
    """A visitor. `id` is empty, and so is `name`, where nobody is asked to sign in.

    `name` is the address that the provider vouches for. Where it vouches for none, it is a name that the person may
    have chosen, followed by the first digits of `id`, which nobody can choose.
    """

    id: str
    name: str
    rights: frozenset[Right]

    def may(self, right: Right) -> bool:
        """Whether they have the right."""
        return right in self.rights


ANYBODY = Person("", "", frozenset(RIGHTS))
_uploaders: dict[str, bool] = {}


def claims() -> dict[str, Any]:
    """What the provider says of this visitor; empty before they have signed in."""
    found = st.user.to_dict()
    return found if found.get("is_logged_in") else {}


def person() -> Person | None:
    """The visitor of this session; None for one who has yet to sign in, or whose sign-in has become too old."""
    found = settings.current()
    if not found.has_sign_in:
        return ANYBODY
    return person_of(claims(), found, time.time())


def person_of(claims: Mapping[str, Any], found: settings.Settings, now: float) -> Person | None:
    """The person of these claims at a time (seconds since 1970), None where they do not tell one or are too old."""
    subject, issuer, issued = claims.get("sub"), claims.get("iss"), claims.get("iat")
    if not isinstance(subject, str) or not subject or not isinstance(issuer, str):
        return None
    if isinstance(issued, bool) or not isinstance(issued, int | float):
        return None
    if not now - 3_600 * found.sign_in.hours <= issued <= now + CLOCK_SECONDS:
        return None
    rights = frozenset(
        right for right in RIGHTS if any(_fits(entry, claims, found) for entry in getattr(found.rights, right))
    )
    # Whoever may load a table may look at it.
    if rights:
        rights |= {"look"}
    digest = sha256(f"{issuer}\n{subject}".encode()).hexdigest()
    # Names that people choose themselves may be another's; the audit log must still tell whose act it was.
    chosen = str(claims.get("preferred_username") or claims.get("name") or subject)
    name = _email(claims, found) or f"{chosen} ({digest[:SHOWN_DIGITS]})"
    return Person(digest, name, rights)


def _fits(entry: str, claims: Mapping[str, Any], found: settings.Settings) -> bool:
    """Whether an entry of the rights is about the person of these claims."""
    if entry == "*":
        return True
    if ":" in entry:
        claim, _, wanted = entry.partition(":")
        if claim == "email":
            # However an address is named, it counts only where the provider vouches for it.
            return _fits(wanted, claims, found) if "@" in wanted else False
        value = claims.get(claim)
        return wanted in value if isinstance(value, list) else isinstance(value, str) and value == wanted
    email = _email(claims, found)
    if entry.startswith("*@"):
        return email.rpartition("@")[2] == entry[2:].lower() and bool(email)
    return email == entry.lower() and bool(email)


def _email(claims: Mapping[str, Any], found: settings.Settings) -> str:
    """The person's address in small letters; empty where the provider does not vouch for it."""
    value, is_verified = claims.get("email"), claims.get("email_verified")
    if not isinstance(value, str) or value.count("@") != 1:
        return ""
    is_doubtful = is_verified is not True if found.sign_in.require_verified_email else is_verified is False
    return "" if is_doubtful else value.lower()


def may(right: Right) -> bool:
    """Whether the visitor of this session has the right."""
    here = person()
    return here is not None and here.may(right)


def refusal(right: Right) -> str:
    """The sentence for a visitor without the right; empty for one who has it."""
    here = person()
    if here is None:
        return "Your sign-in has ended; load the page again and sign in."
    return "" if here.may(right) else f"{here.name} {SENTENCES[right]}; ask those who run this server."


def require(right: Right) -> None:
    """Raise DataError, with the sentence, for a visitor without the right."""
    sentence = refusal(right)
    if sentence:
        from dashboard.serving import audit

        here = person()
        audit.record("refused", here.name if here is not None else "", right=right)
        raise DataError(sentence)


def admit() -> bool:
    """Let the visitor in, or draw the page on which they sign in or learn that they may not; whether they are in."""
    here = person()
    _note_session(here is not None and here.may("upload"))
    if here is not None and here.may("look"):
        return True
    st.title("anoncore")
    if here is None:
        st.markdown("Sign in to go on. Your tables, and what you make of them, are seen by nobody else who signs in.")
        if st.button("Sign in", type="primary", key="sign-in"):
            st.login()
        return False
    st.error(escaped(refusal("look")))
    sign_out_button()
    return False


def sign_out_button() -> None:
    """Draw the button that ends the sign-in."""
    if st.button("Sign out", key="sign-out", help="End the sign-in in this browser; your workspace stays."):
        st.logout()


def render() -> None:
    """Draw who is signed in, and the button that ends the sign-in; nothing where nobody signs in."""
    here = person()
    if here is None or not here.id:
        return
    st.caption("Signed in as")
    st.markdown(f"**{escaped(here.name)}**")
    if not here.may("upload"):
        st.caption("You may look: built-in tables, and no tables of your own.")
    sign_out_button()


def _note_session(may_upload: bool) -> None:
    """Remember whether this browser session may upload; the gate, which sees only its id, asks for it."""
    context = get_script_run_ctx(suppress_warning=True)
    if context is None:
        return
    _uploaders[context.session_id] = may_upload
    if len(_uploaders) > MOST_UPLOADERS and runtime.exists():
        is_there = runtime.get_instance().is_active_session
        for gone in [session for session in list(_uploaders) if not is_there(session)]:
            _uploaders.pop(gone, None)


def session_may_upload(session: str) -> bool:
    """Whether the browser session of this id may upload files."""
    return _uploaders.get(session, False)
