"""What a recipe says about columns that are prepared before the table is tagged: shifted dates, and pseudonyms."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, TypeVar

import pandas as pd
from pydantic import Field

from anoncore.base.errors import AnonymizationError, RecipeError
from anoncore.base.model import Model
from anoncore.base.texts import quoted
from anoncore.recipes.source import FilePath
from anoncore.table.preparation import DateShift, PreparedTable, prepared
from anoncore.table.pseudonyms import Pseudonyms

M = TypeVar("M", bound=Model)
KEY_FILE = "pseudonyms.key"
"""The usual file of a key, which tables of the same people share."""


class PseudonymKey(Model):
    """A person's id is published as a pseudonym that is made with the key in a file.

    Where the file is not there it is made, with a fresh key, for its owner alone. Tables of the same people that have
    the same key have the same pseudonyms.
    """

    title = "pseudonym"

    key: Annotated[FilePath, Field(description="File of the key, relative to the recipe. It is never published.")] = (
        KEY_FILE
    )


def by_column(key: str, values: Any, kind: type[M]) -> dict[str, M]:
    """The entry of each column, made of plain values. Raises RecipeError for what is none."""
    if not isinstance(values, Mapping):
        raise RecipeError(f"{key} should be a table, not {quoted(values)}.")
    entries = {}
    for name, value in values.items():
        if not isinstance(value, kind | Mapping):
            example = "{shift = 30}" if kind is DateShift else "{}"
            raise RecipeError(f"{key}.{name} should be a table such as {example}, not {quoted(value)}.")
        try:
            entries[str(name)] = kind(**value) if isinstance(value, Mapping) else value
        except AnonymizationError as error:
            raise RecipeError(f"{key}.{name}: {error}") from None
    return entries


def entries_written(entries: Mapping[str, Model]) -> dict[str, dict[str, Any]]:
    """The entries as plain values."""
    return {
        name: {field: getattr(one, field) for field in type(one).model_fields if getattr(one, field) is not None}
        for name, one in entries.items()
    }


def prepared_frame(
    frame: pd.DataFrame,
    dates: Mapping[str, DateShift],
    pseudonyms: Mapping[str, PseudonymKey],
    unit: str | None,
    folder: Path,
    published: Path | None,
    is_written: bool = True,
    shift_seed: int | None = None,
) -> PreparedTable:
    """The table of a recipe in `folder`, prepared as the recipe says.

    A key that is not there is drawn, and written unless `is_written` is false. Raises ParameterError where it would lie
    in `published`, the folder that the release goes to, and DataError for what does not fit the table. `shift_seed`
    draws the numbers of days, by default the system's entropy does.
    """
    keys = {name: Pseudonyms.kept(folder / one.key, published, is_written) for name, one in pseudonyms.items()}
    return prepared(frame, dates, keys, unit, shift_seed)
