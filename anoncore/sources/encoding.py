"""Bytes of a text file as UTF-8, whatever they were written in, read as a stream."""

from __future__ import annotations

import codecs
import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import BinaryIO

from anoncore.base.errors import DataError
from anoncore.sources.notes import Notes, shown

BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
WESTERN = "cp1252"
# Encodings that are told apart from Windows-1252 by the letters that they give. The other Latin ones (Windows-1250,
# ISO 8859-2, …) differ from it in so few letters that a guess would be wrong about as often as it is right.
OTHERS = {
    "cp850": "code page 850 (DOS, Western European)",
    "cp1251": "Windows-1251 (Cyrillic)",
    "koi8_r": "KOI8-R (Cyrillic)",
    "cp1253": "Windows-1253 (Greek)",
    "cp1255": "Windows-1255 (Hebrew)",
    "cp932": "Shift JIS (Japanese)",
    "euc_jp": "EUC-JP (Japanese)",
    "gb18030": "GB 18030 (Chinese)",
    "big5": "Big5 (Chinese)",
    "euc_kr": "EUC-KR (Korean)",
}
CONTROLS = bytes(set(range(32)) - set(b"\t\n\r\f\v\x1a"))
UNDEFINED_IN_1252 = b"\x81\x8d\x8f\x90\x9d"
# Text may hold a stray control character; of random bytes about one in nine is one.
CONTROL_SHARE_UTF8 = 0.3
CONTROL_SHARE_8BIT = 0.02
CHUNK_BYTES = 1 << 20
GUESSED_BYTES = 1 << 15
"""How much of the lines with other letters than ASCII is looked at to guess an encoding."""
FEWEST_LETTERS = 8
"""Bytes of other letters than ASCII from which on a guess is worth more than Windows-1252."""

OpenBytes = Callable[[], BinaryIO]
"""Opens the bytes of a file at their start, as often as they are read."""


@dataclass(frozen=True)
class Encoding:
    """How the bytes of a text file are read: the encoding, and the length of the byte order mark before the text."""

    name: str
    mark: int = 0


def text_encoding(opened: OpenBytes, table: str, given: str | None, notes: Notes) -> Encoding:
    """The encoding of a text file, which all of its bytes are checked against.

    In this order: `given`, if it is not None; what a byte order mark says (UTF-8, UTF-16, UTF-32); UTF-8; what
    charset-normalizer finds, if the bytes make no sense as Windows-1252; Windows-1252; Latin-1. What comes after UTF-8
    leaves a note. Raises DataError when the bytes are not text, or not text in the encoding given.
    """
    if given is not None:
        return _checked(opened, Encoding(given), table)
    with opened() as file:
        start = file.read(4)
    for mark, marked in BYTE_ORDER_MARKS:
        if start.startswith(mark):
            return _checked(opened, Encoding(marked, len(mark)), table)
    try:
        _check_controls(utf8_chunks(opened, Encoding("utf-8")), table)
    except UnicodeDecodeError as error:
        if _is_cut_short(opened, error):
            raise DataError(f"{shown(table)} ends in the middle of a character: it is incomplete or damaged.") from None
        return _of_other_letters(opened, table, notes)
    return Encoding("utf-8")


def utf8_chunks(opened: OpenBytes, encoding: Encoding) -> Iterator[bytes]:
    """The text as pieces of UTF-8 without a byte order mark. Raises UnicodeError and LookupError as Python does."""
    # Refuses encodings such as base64, which are none of text and have the decoders of the next line all the same.
    "a".encode(encoding.name)
    decoder = codecs.getincrementaldecoder(encoding.name)()
    is_utf8 = codecs.lookup(encoding.name).name == "utf-8"
    first = True
    with opened() as file:
        file.read(encoding.mark)
        while data := file.read(CHUNK_BYTES):
            text = decoder.decode(data)
            if is_utf8:
                yield data.removeprefix(codecs.BOM_UTF8) if first else data
            else:
                yield (text.removeprefix("\ufeff") if first else text).encode("utf-8")
            first = first and not text
        yield decoder.decode(b"", final=True).encode("utf-8")


class ChunkStream(io.RawIOBase):
    """Pieces of bytes as a file that is read once; `io.BufferedReader` makes it fast."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks, self._left = chunks, memoryview(b"")

    def readable(self) -> bool:
        """It is."""
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """Fill the buffer as far as the piece at hand goes; 0 at the end."""
        while not self._left:
            chunk = next(self._chunks, None)
            if chunk is None:
                return 0
            self._left = memoryview(chunk)
        taken = min(len(buffer), len(self._left))
        buffer[:taken] = self._left[:taken]
        self._left = self._left[taken:]
        return taken


def _checked(opened: OpenBytes, encoding: Encoding, table: str) -> Encoding:
    """The encoding, if all bytes are text in it."""
    try:
        _check_controls(utf8_chunks(opened, encoding), table)
    except LookupError:
        raise DataError(f"There is no text encoding called {shown(encoding.name)}; use for example utf-8.") from None
    except UnicodeError:
        raise DataError(
            f"{shown(table)} is not valid {encoding.name} text; it may be damaged or written in another encoding. "
            "Save it as UTF-8 and load it again."
        ) from None
    return encoding


def _check_controls(chunks: Iterator[bytes], table: str) -> None:
    """Raise DataError for a null character, or for too many control characters."""
    has_null, controls, size = False, 0, 0
    for chunk in chunks:
        found = _count(chunk, CONTROLS)
        has_null = has_null or (found > 0 and b"\0" in chunk)
        controls, size = controls + found, size + len(chunk)
    if has_null or controls > CONTROL_SHARE_UTF8 * size:
        raise _not_text(table)


def _is_cut_short(opened: OpenBytes, error: UnicodeDecodeError) -> bool:
    """Whether UTF-8 with other letters than ASCII ends inside a character."""
    if error.reason != "unexpected end of data":
        return False
    letters = size = 0
    with opened() as file:
        while data := file.read(CHUNK_BYTES):
            letters, size = letters + len(data) - _count(data, bytes(range(128))), size + len(data)
    return letters > len(error.object) - error.start


def _of_other_letters(opened: OpenBytes, table: str, notes: Notes) -> Encoding:
    """The encoding of bytes that are no UTF-8."""
    controls = undefined = size = 0
    sample = bytearray()
    with opened() as file:
        while data := file.read(CHUNK_BYTES):
            if b"\0" in data:
                raise _not_text(table)
            controls, size = controls + _count(data, CONTROLS), size + len(data)
            undefined += _count(data, UNDEFINED_IN_1252)
            if len(sample) < GUESSED_BYTES:
                sample += b"\n".join(line for line in data.splitlines() if not line.isascii()) + b"\n"
    if controls > CONTROL_SHARE_8BIT * size:
        raise _not_text(table)
    found = _guess(bytes(sample[:GUESSED_BYTES]))
    if found is not None and _decodes(opened, found):
        title = OTHERS[found]
    elif controls + undefined > CONTROL_SHARE_8BIT * size:
        raise _not_text(table)
    else:
        found = WESTERN if undefined == 0 else "latin-1"
        title = "Windows-1252 (Western European)" if undefined == 0 else "Latin-1 (Western European)"
    notes.say(
        f"Read as {title} because the file is not valid UTF-8; check letters with accents, "
        "and save the file as UTF-8 if they are wrong."
    )
    return Encoding(found)


def _guess(sample: bytes) -> str | None:
    """The one of the other encodings that a sample of the bytes is written in; None where Windows-1252 may be right."""
    if _count(sample, bytes(range(128, 256))) < FEWEST_LETTERS:
        return None
    # Loaded only where it is needed: most files are UTF-8.
    import charset_normalizer

    matches = charset_normalizer.from_bytes(
        sample, cp_isolation=[WESTERN, *OTHERS], preemptive_behaviour=False, enable_fallback=False
    )
    if any(WESTERN in (match.encoding, *match.could_be_from_charset) for match in matches):
        return None
    best = matches.best()
    return None if best is None else best.encoding


def _decodes(opened: OpenBytes, encoding: str) -> bool:
    try:
        for _ in utf8_chunks(opened, Encoding(encoding)):
            pass
    except UnicodeError:
        return False
    return True


def _count(data: bytes, wanted: bytes) -> int:
    return len(data) - len(data.translate(None, wanted))


def _not_text(table: str) -> DataError:
    return DataError(
        f"{shown(table)} is neither text nor a Parquet or Excel file, or it is damaged; "
        "save the table as CSV (UTF-8), Parquet or .xlsx."
    )
