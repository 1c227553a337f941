"""Keyed pseudonyms: a person's id replaced by a text that only the holder of a key can make from it."""

from __future__ import annotations

import base64
import binascii
import hmac
import os
import secrets
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from anoncore.base.errors import DataError, ParameterError
from anoncore.base.texts import quoted
from anoncore.base.typed_values import LONGEST_EXPONENT

KEY_BYTES = 32
"""Bytes of a fresh key, as many as SHA-256 has (RFC 2104, section 3)."""
FEWEST_KEY_BYTES = 16
"""A shorter key could be found by trying keys on the id of one person who is known."""
PSEUDONYM_BYTES = 10
"""80 bits are 16 letters and digits; two of 10^7 people get the same ones with a probability of 4 * 10^-11."""
LARGEST_FLOAT = 2.0**53
"""From here on a double is no longer the whole number that was written, so that two ids may have become one."""
PSEUDONYM = "^[A-Z2-7]{16}$"
"""What every pseudonym looks like, as Arrow takes it."""
MOST_KEY_FILE_BYTES = 10_000
NOT_PUBLIC = "# NOT FOR PUBLICATION: whoever has this key finds in a release everybody whose id they know."
"""The first line of a key file."""


@dataclass(frozen=True)
class Pseudonyms:
    """Replaces ids by keyed pseudonyms: the same id gets the same pseudonym in every table that has the key.

    A pseudonym is HMAC-SHA256 of the id, its first 80 bits in base32 (A to Z and 2 to 7, so that no 0 is taken for an O
    and no 1 for an I). Without the key nobody can make the pseudonym of an id, nor try all ids; with it, anybody can.
    It is still an identifier: all rows of a person have it, in every release that is made with the same key.

    Ids are one id where their texts are the same: 12, 12.0 and "12" are, "012" is another one.

    Parameters
    ----------
    key : bytes
        The secret, at least 16 bytes; `fresh` draws one.

    Raises
    ------
    ParameterError
        For a key that is too short.

    References
    ----------
    Krawczyk, Bellare and Canetti, HMAC, RFC 2104. ENISA, Pseudonymisation techniques and best practices, 2019, section
    5.1: message authentication codes.

    Examples
    --------
    >>> import pandas as pd
    >>> from anoncore.table.pseudonyms import Pseudonyms
    >>> pseudonyms = Pseudonyms(b"a key that is kept apart")
    >>> visits, people = pd.Series([12, 12, 7]), pd.Series(["7", "12", None])
    >>> in_visits, in_people = pseudonyms.of(visits), pseudonyms.of(people)
    >>> bool(in_visits[0] == in_visits[1] == in_people[1]), bool(in_visits[2] == in_people[0])
    (True, True)
    """

    key: bytes = field(repr=False)

    def __post_init__(self) -> None:
        if len(self.key) < FEWEST_KEY_BYTES:
            raise ParameterError(
                f"The key of pseudonyms has {len(self.key)} bytes, and {FEWEST_KEY_BYTES} are the least; leave it out "
                "and a fresh one is drawn."
            )

    @classmethod
    def fresh(cls) -> Pseudonyms:
        """Pseudonyms with a key of 256 bits from the system's entropy."""
        return cls(secrets.token_bytes(KEY_BYTES))

    def of(self, values: pd.Series[Any]) -> pd.Series[Any]:
        """The pseudonym of every id; a missing id stays missing.

        Parameters
        ----------
        values : Series, shape (n_rows,)
            Ids of people: texts, numbers, or dates.

        Returns
        -------
        Series of str, shape (n_rows,)
            Pseudonyms of 16 letters and digits, with the index and name of `values`.

        Raises
        ------
        DataError
            For values that are no ids: truths, numbers of no certain size and others that have no text of their own.
        """
        try:
            codes, different = pd.factorize(values)
        except TypeError:
            raise DataError(
                f"{_column(values)} holds values that are no ids, such as lists; name another one."
            ) from None
        made = np.array([*(self._pseudonym(value, values) for value in different), None], dtype=object)
        return pd.Series(made[codes], index=values.index, name=values.name, dtype=object)

    def _pseudonym(self, value: Any, column: pd.Series[Any]) -> str:
        text = id_text(value)
        if text is None:
            raise DataError(
                f"{_column(column)} has the value {quoted(value)}, which is no id that every file writes alike; turn "
                "the column into whole numbers or text."
            )
        digest = hmac.digest(self.key, text.encode("utf-8", "surrogatepass"), "sha256")
        return base64.b32encode(digest[:PSEUDONYM_BYTES]).decode("ascii")

    def derived(self, purpose: bytes) -> bytes:
        """A secret of 256 bits for some purpose, which tells nothing of the key."""
        return hmac.digest(self.key, purpose, "sha256")

    @property
    def file_text(self) -> str:
        """What stands in the file of the key."""
        return f"{NOT_PUBLIC}\n{self.key.hex()}\n"

    def write(self, path: Path, published: Path | None = None) -> None:
        """Write the key to a file of its own that nobody but its owner can read.

        Parameters
        ----------
        path : Path
            The file, which must not exist yet: a key that is overwritten is lost.
        published : Path, optional
            A folder that is published, in which no key may lie.

        Raises
        ------
        ParameterError
            For a file that exists or would lie in the folder that is published, and where it cannot be written.
        """
        require_apart(path, published)
        try:
            with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                file.write(self.file_text.encode("ascii"))
        except FileExistsError:
            raise ParameterError(
                f"{quoted(path.name)} exists, and a key is never overwritten; name another file."
            ) from None
        except OSError as error:
            reason = (error.strerror or "unknown reason").lower()
            raise ParameterError(
                f"The key {quoted(path.name)} cannot be written: {reason}; name another file."
            ) from None

    @classmethod
    def kept(cls, path: Path, published: Path | None = None, is_written: bool = True) -> Pseudonyms:
        """The pseudonyms of the key in a file; where there is none, a fresh key, which is written to it.

        Parameters
        ----------
        path : Path
            The file.
        published : Path, optional
            A folder that is published, in which no key may lie.
        is_written : bool
            Whether a fresh key is written.

        Raises
        ------
        ParameterError
            As `read` and `write` do.
        """
        require_apart(path, published)
        if path.exists():
            return cls.read(path)
        fresh = cls.fresh()
        if is_written:
            fresh.write(path, published)
        return fresh

    @classmethod
    def read(cls, path: Path) -> Pseudonyms:
        """The pseudonyms of the key in a file that `write` wrote.

        Raises
        ------
        ParameterError
            For a file that cannot be read, that holds no such key, or that others can read.
        """
        try:
            with path.open("rb") as file:
                lines = file.read(MOST_KEY_FILE_BYTES).decode("ascii").splitlines()
            if os.name == "posix" and path.stat().st_mode & 0o077:
                raise ParameterError(
                    f"{quoted(path.name)} can be read by others, who can then undo pseudonyms; take their rights away "
                    f"(chmod 600 {path.name}), or make a new key."
                )
            key = binascii.unhexlify(lines[1]) if len(lines) == 2 and lines[0] == NOT_PUBLIC else b""
        except OSError as error:
            reason = (error.strerror or "unknown reason").lower()
            raise ParameterError(f"The key {quoted(path.name)} cannot be read: {reason}.") from None
        except ValueError as error:
            if isinstance(error, ParameterError):
                raise
            key = b""
        if not key:
            raise ParameterError(f"{quoted(path.name)} holds no key of pseudonyms; name the file that `run` wrote.")
        return cls(key)


def require_apart(path: Path, published: Path | None) -> None:
    """Raise ParameterError for the file of a key that would lie in a folder that is published."""
    if published is not None and path.resolve().is_relative_to(published.resolve()):
        raise ParameterError(
            f"The key {quoted(path.name)} would lie in the folder {quoted(published.resolve().name)}, which is "
            "published; name a file outside of it."
        )


def id_text(value: Any) -> str | None:
    """The text that an id has in every file, so that 12, 12.0 and "12" are one id; None for a value that is no id.

    A truth is none, and neither is a fraction or a number that is too large for its type to be exact.
    """
    value = value.item() if isinstance(value, np.generic) and not isinstance(value, np.datetime64) else value
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < LARGEST_FLOAT else None
    if isinstance(value, Decimal):
        is_exact = value.is_finite() and abs(value.adjusted()) < LONGEST_EXPONENT
        whole = Fraction(value) if is_exact else Fraction(1, 2)
        return str(whole.numerator) if whole.denominator == 1 else None
    return value.isoformat() if hasattr(value, "isoformat") else None


def _column(values: pd.Series[Any]) -> str:
    return "The column" if values.name is None else f"'{values.name}'"
