"""The entry of a signature in a certificate, and the bytes that it covers."""

from __future__ import annotations

import base64
import json
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from anoncore.base.errors import DataError
from anoncore.publishing.plain_json import plain_json

FORM = (
    "Ed25519 (RFC 8032) over the UTF-8 bytes of this certificate as JSON, in which 'signatures' holds this entry alone "
    "and this entry has no 'value'. In that JSON the keys of every object are sorted by code point, no spaces or line "
    "ends stand between tokens, texts are written unescaped but for the quotation mark, the backslash and characters "
    "below U+0020, and numbers with the fewest digits that tell them apart, as Python's json module writes them."
)
"""What a signature covers, in words that stand in the signed file."""
FIELD = "signatures"
COMPLAINT = "This certificate cannot be signed or checked for signatures, because {}."


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

    Raises DataError for a text that is no JSON object, and for one that can be read in two ways.
    """
    found = plain_json(text, COMPLAINT)
    if not isinstance(found, dict):
        raise DataError(COMPLAINT.format("it is no JSON object"))
    return found


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
