"""Bytes of a text file as UTF-8, whatever they were written in."""

from __future__ import annotations

import codecs

from anoncore.base.errors import DataError
from anoncore.sources.notes import Notes, shown

BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
CONTROLS = bytes(set(range(32)) - set(b"\t\n\r\f\v\x1a"))
UNDEFINED_IN_1252 = b"\x81\x8d\x8f\x90\x9d"
# Text may hold a stray control character; of random bytes about one in nine is one.
CONTROL_SHARE_UTF8 = 0.3
CONTROL_SHARE_8BIT = 0.02


def to_utf8(data: bytes, table: str, encoding: str | None, notes: Notes) -> bytes:
    """Recode text to UTF-8 without a byte order mark.

    Tried in this order: `encoding` if given, a byte order mark (UTF-8, UTF-16, UTF-32), UTF-8, Windows-1252, Latin-1;
    the last two leave a note. Raises DataError when the bytes are not text or not text in the encoding given.
    """
    if encoding is not None:
        return _checked(_recode(data, encoding, table), table)
    for mark, marked in BYTE_ORDER_MARKS:
        if data.startswith(mark):
            body = data[len(mark) :]
            return _checked(_recode(body, marked, table), table)
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        return _from_8bit(data, table, error, notes)
    return _checked(data, table)


def _recode(data: bytes, encoding: str, table: str) -> bytes:
    try:
        text = data.decode(encoding)
        return text.removeprefix("\ufeff").encode("utf-8")
    except LookupError:
        raise DataError(f"There is no text encoding called {shown(encoding)}; use for example utf-8.") from None
    except UnicodeError:
        raise DataError(
            f"{shown(table)} is not valid {encoding} text; it may be damaged or written in another encoding. "
            "Save it as UTF-8 and load it again."
        ) from None


def _from_8bit(data: bytes, table: str, error: UnicodeDecodeError, notes: Notes) -> bytes:
    cut_short = error.end == len(data) and error.reason == "unexpected end of data"
    if cut_short and not data[: error.start].isascii():
        raise DataError(f"{shown(table)} ends in the middle of a character: it is incomplete or damaged.")
    if b"\0" in data or _share(data, CONTROLS + UNDEFINED_IN_1252) > CONTROL_SHARE_8BIT:
        raise _not_text(table)
    encoding, title = ("cp1252", "Windows-1252") if _share(data, UNDEFINED_IN_1252) == 0 else ("latin-1", "Latin-1")
    notes.say(
        f"Read as {title} (Western European) because the file is not valid UTF-8; check letters with accents, "
        "and save the file as UTF-8 if they are wrong."
    )
    return data.decode(encoding).encode("utf-8")


def _checked(data: bytes, table: str) -> bytes:
    if b"\0" in data or _share(data, CONTROLS) > CONTROL_SHARE_UTF8:
        raise _not_text(table)
    return data


def _share(data: bytes, wanted: bytes) -> float:
    return (len(data) - len(data.translate(None, wanted))) / max(len(data), 1)


def _not_text(table: str) -> DataError:
    return DataError(
        f"{shown(table)} is neither text nor a Parquet or Excel file, or it is damaged; "
        "save the table as CSV (UTF-8), Parquet or .xlsx."
    )
