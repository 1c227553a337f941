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
from dashboard.serving import settings, sign_ins

Right = Literal["look", "upload", "paths"]
RIGHTS: tuple[Right, ...] = ("look", "upload", "paths")
CLOCK_SECONDS = 300.0
"""How far the provider's clock may be ahead of this machine's."""
MOST_VISITS = 4_096
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


@dataclass(frozen=True)
class Visit:
    """Whose a browser session is, and whether they may upload."""

    person: str
    may_upload: bool


ANYBODY = Person("", "", frozenset(RIGHTS))
_visits: dict[str, Visit] = {}


def claims() -> dict[str, Any]:
    """What the provider says of this visitor; empty before they have signed in."""
    found = st.user.to_dict()
    return found if found.get("is_logged_in") else {}


def cookies() -> Mapping[str, str]:
    """The cookies with which this visitor's page was opened."""
    return st.context.cookies.to_dict()


def person() -> Person | None:
    """The visitor of this session; None for one who has yet to sign in, or whose sign-in has become too old."""
    found = settings.current()
    if not found.has_sign_in:
        return ANYBODY
    here = person_of(claims(), found, time.time())
    listed = sign_ins.of(cookies())
    # The claims are those of the cookie with which the page was opened; signing out ends it in every tab.
    return here if here is not None and listed is not None and listed.person in ("", here.id) else None


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
        return email.rpartition("@")[2] == _in_small_letters(entry[2:]) and bool(email)
    return email == _in_small_letters(entry) and bool(email)


def _email(claims: Mapping[str, Any], found: settings.Settings) -> str:
    """The person's address in small letters; empty where the provider does not vouch for it."""
    value, is_verified = claims.get("email"), claims.get("email_verified")
    if not isinstance(value, str) or value.count("@") != 1 or not value.isprintable() or " " in value:
        return ""
    # Providers that need not vouch may still say that they do not: false, "false", 0, or whatever else is no yes.
    is_vouched_for = is_verified is True
    is_silent = not found.sign_in.require_verified_email and (is_verified is None or is_verified in ("true", 1))
    return _in_small_letters(value) if is_vouched_for or is_silent else ""


def _in_small_letters(address: str) -> str:
    """An address with its ASCII letters small: the Kelvin sign and others would become letters of somebody else's."""
    return "".join(letter.lower() if letter.isascii() else letter for letter in address)


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
    _note_session(here)
    if here is not None and here.may("look"):
        return True
    st.title("anoncore")
    if here is None:
        st.markdown("Sign in to go on. Your tables, and what you make of them, are seen by nobody else who signs in.")
        if st.button("Sign in", type="primary", key="sign-in"):
            st.login()
        return False
    # It brings the library, which takes seconds, and the gate needs this module before the server can answer.
    from dashboard.markdown import escaped

    st.error(escaped(refusal("look")))
    sign_out_button()
    return False


def sign_out_button() -> None:
    """Draw the button that ends the sign-in."""
    if st.button("Sign out", key="sign-out", help="End the sign-in in this browser; your workspace stays."):
        st.logout()


def is_signed_in() -> bool:
    """Whether there is somebody who can end a sign-in."""
    here = person()
    return here is not None and bool(here.id)


def render() -> None:
    """Draw who is signed in, and the button that ends the sign-in; nothing where nobody signs in."""
    here = person()
    if here is None or not here.id:
        return
    from dashboard.markdown import escaped

    st.caption("Signed in as")
    st.markdown(f"**{escaped(here.name)}**")
    if not here.may("upload"):
        st.caption("You may look: built-in tables, and no tables of your own.")
    sign_out_button()


def _note_session(here: Person | None) -> None:
    """Remember whose browser session this is; the gate, which sees only its id, asks for it."""
    if here is not None and here.id and sign_ins.name(cookies(), here.id, here.name):
        from dashboard.serving import audit

        audit.record("signed in", here.name, rights=sorted(here.rights))
    context = get_script_run_ctx(suppress_warning=True)
    if context is None:
        return
    _visits[context.session_id] = Visit("" if here is None else here.id, here is not None and here.may("upload"))
    if len(_visits) > MOST_VISITS and runtime.exists():
        is_there = runtime.get_instance().is_active_session
        for gone in [session for session in list(_visits) if not is_there(session)]:
            _visits.pop(gone, None)


def visit(session: str) -> Visit | None:
    """Whose the browser session of this id is; None for one that no page was drawn for."""
    return _visits.get(session)


def sessions_of(person: str) -> list[str]:
    """The browser sessions of a person."""
    return [session for session, found in list(_visits.items()) if found.person == person]


def upload_field(label: str, **options: Any) -> Any:
    """The file that the visitor gave, as `st.file_uploader` does; None for a visitor who may not load files."""
    from dashboard.markdown import escaped

    sentence = refusal("upload")
    if sentence:
        st.caption(f"**{label}.** {escaped(sentence)}")
        return None
    return st.file_uploader(label, **options)


def most_upload_bytes() -> int:
    """The largest file that is taken."""
    return settings.current().server.upload_megabytes << 20
