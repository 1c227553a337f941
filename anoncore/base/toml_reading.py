"""Files of TOML that an office writes, such as its policy: read whole, with one sentence for what is wrong."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Annotated, Any, ClassVar, Self, get_args

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from anoncore.base.arguments import checked_methods
from anoncore.base.errors import AnonymizationError, ParameterError
from anoncore.base.model import wrong_value
from anoncore.base.showing import printable
from anoncore.base.texts import did_you_mean, listing, quoted

LONGEST = 100_000
"""Characters of the longest file that is read."""
MOST_PARTS = 64
"""Parts of a key with dots between them: the reader of TOML takes as long as the square of their number."""


def _one_line(text: str) -> str:
    if printable(text) != text:
        raise ValueError("it is one line of printable text")
    return text.strip()


Line = Annotated[str, Field(strict=True, max_length=1_000), AfterValidator(_one_line)]
"""A text on one line, which may be empty."""


def read_text(
    file: Path, what: str, longest: int | None = LONGEST, refused: type[AnonymizationError] = ParameterError
) -> bytes:
    """The content of a file, cut after what is too long; `what` it is, such as `policy`.

    Raises `refused` for a file that cannot be read.
    """
    try:
        with file.open("rb") as opened:
            return opened.read(-1 if longest is None else longest + 1)
    except OSError as error:
        reason = (error.strerror or "it cannot be opened").lower()
        raise refused(f"The {what} {quoted(file.name)} cannot be read: {reason}.") from None


def toml_values(
    text: str | bytes,
    what: str,
    longest: int | None = LONGEST,
    refused: type[AnonymizationError] = ParameterError,
) -> dict[str, Any]:
    """The values in a text of TOML, in UTF-8 where it is bytes; `what` it is, such as `policy`.

    Raises `refused` for a text that is too long or no TOML.
    """
    if longest is not None and len(text) > longest:
        raise refused(f"The {what} is longer than {longest:,} characters, which none is.")
    try:
        text = text.decode("utf-8-sig") if isinstance(text, bytes) else text
    except UnicodeDecodeError:
        raise refused(f"The {what} is not UTF-8 text.") from None
    if any(key.count(".") >= MOST_PARTS for line in text.split("\n") for key in _keys(line)):
        raise refused(f"The {what} has a key of more than {MOST_PARTS} parts, which none has.")
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # ValueError: also a number of too many digits
        raise refused(printable(f"The {what} is not valid TOML: {error}.")) from None


def _keys(line: str) -> list[str]:
    """What may be a key in a line: all before its equals signs, or a header, cut at what stands between keys."""
    *before, last = line.split("=")
    is_header = last if not before or line.lstrip().startswith("[") else ""
    return re.split("[,{]", ",".join([*before, is_header]))


def wrong_key(error: ValidationError, what: str, kind: type[BaseModel]) -> str:
    """What is wrong with a file whose values make a model of that kind, in a sentence that names the key."""
    first = error.errors()[0]
    place = [str(part) for part in first["loc"] if not str(part).startswith(("constrained-", "function-"))]
    key = ".".join(place)
    if first["type"] == "extra_forbidden":
        *above, last = place
        for part in above:
            kind = _kind_of(kind.model_fields[part].annotation) if part in kind.model_fields else kind
        names = list(kind.model_fields)
        where = f"[{'.'.join(above)}]" if above else f"The {what}"
        sentence = f"{where} has no key {quoted(last)}; it has {listing(names, 20)}.{did_you_mean(last, names)}"
    elif first["type"] == "missing":
        sentence = f"The {what} lacks '{key}'; write it as {key} = \"...\"."
    elif first["type"] == "value_error":
        message = first["msg"].removeprefix("Value error, ")
        sentence = f"{what.capitalize()}: {f'{key}: ' if key else ''}{message}."
    else:
        sentence = f"{what.capitalize()}: {wrong_value(first, key)}"
    return printable(sentence)


@checked_methods
class TomlFile(BaseModel):
    """What people write into a file of TOML, checked; `_what` is how messages call such a file.

    Raises ParameterError with one sentence that names the key for what is wrong.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    _what: ClassVar[str]

    def __init__(self, **fields: Any) -> None:
        try:
            super().__init__(**fields)
        except ValidationError as error:
            raise ParameterError(wrong_key(error, self._what, type(self))) from None

    @classmethod
    def load(cls, file: str | Path) -> Self:
        """What a file of TOML holds.

        Parameters
        ----------
        file : str or Path
            The file.

        Returns
        -------
        object of this class
            What it holds.

        Raises
        ------
        ParameterError
            For a file that cannot be read, is no TOML or holds something else.
        """
        return cls.loads(read_text(Path(file), cls._what))

    @classmethod
    def loads(cls, text: str | bytes) -> Self:
        """What a text of TOML holds.

        Parameters
        ----------
        text : str or bytes
            The text, in UTF-8 where it is bytes.

        Returns
        -------
        object of this class
            What it holds.

        Raises
        ------
        ParameterError
            For a text that is no TOML or holds something else.
        """
        return cls(**toml_values(text, cls._what))


def _kind_of(annotation: Any) -> Any:
    """The model in an annotation such as `dict[str, Limit]`."""
    inner = get_args(annotation)
    return _kind_of(inner[-1 if inner[-1] is not ... else 0]) if inner else annotation
