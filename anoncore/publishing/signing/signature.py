"""The entry of a signature in a certificate, and the bytes that it covers."""

from __future__ import annotations

import base64
import json
from typing import Annotated, Any, Literal, NoReturn

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from anoncore.base.errors import DataError

FORM = (
    "Ed25519 (RFC 8032) over the UTF-8 bytes of this certificate as JSON, in which 'signatures' holds this entry alone "
    "and this entry has no 'value'. In that JSON the keys of every object are sorted by code point, no spaces or line "
    "ends stand between tokens, texts are written unescaped but for the quotation mark, the backslash and characters "
    "below U+0020, and numbers with the fewest digits that tell them apart, as Python's json module writes them."
)
"""What a signature covers, in words that stand in the signed file."""
FIELD = "signatures"


class Signature(BaseModel):
    """A signature: the public key in base64, when it was made (in UTC), what it covers, and its value in base64."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    algorithm: Literal["Ed25519"] = "Ed25519"
    key: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9+/]{43}=$")]
    made: Annotated[str, StringConstraints(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}[+]00:00$")]
    form: str = Field(default=FORM, max_length=2_000)
    value: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9+/]{86}==$")]

    @property
    def raw_key(self) -> bytes:
        """The 32 bytes of the public key."""
        return base64.b64decode(self.key)

    @property
    def raw_value(self) -> bytes:
        """The 64 bytes of the signature."""
        return base64.b64decode(self.value)


def fields_of(text: str | bytes) -> dict[str, Any]:
    """The fields of a certificate as they stand in its text, with numbers and texts as they are.

    Raises DataError for a text that is no JSON object, and for one that can be read in two ways: with a key twice, or
    with a number that JSON does not have.
    """
    try:
        written = text.decode("utf-8") if isinstance(text, bytes) else text
        found = json.loads(written, object_pairs_hook=_each_key_once, parse_constant=_no_number, parse_float=_finite)
    except (ValueError, RecursionError) as error:
        # Python's own reasons name lines and columns; of bytes that are no text they name nothing of use.
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise DataError(f"This certificate cannot be signed or checked for signatures, because {reason}.") from None
    if not isinstance(found, dict):
        raise DataError("This certificate cannot be signed or checked for signatures, because it is no JSON object.")
    return found


def _each_key_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {twice[:40]!a} stands twice in one object")
    return found


def _no_number(text: str) -> NoReturn:
    raise ValueError(f"{text} is no number of JSON")


def _finite(text: str) -> float:
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise ValueError(f"the number {text[:40]} is too large")
    return number


def covered(fields: dict[str, Any], entry: dict[str, Any]) -> bytes:
    """The bytes that a signature covers (`FORM`): those of a certificate with this entry alone, and without its value.

    Raises DataError for texts that UTF-8 cannot write.
    """
    unsigned = {name: value for name, value in entry.items() if name != "value"}
    content = {**fields, FIELD: [unsigned]}
    try:
        text = json.dumps(content, ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":"))
        return text.encode("utf-8")
    except UnicodeEncodeError:
        raise DataError("This certificate cannot be signed: it holds half a character (a lone surrogate).") from None
