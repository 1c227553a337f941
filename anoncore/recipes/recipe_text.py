"""The TOML text of a recipe: read from a file, as plain values, and as what makes a recipe of these."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from anoncore.base.arguments import checked_methods
from anoncore.base.errors import RecipeError
from anoncore.base.extensions import load_extensions
from anoncore.base.toml_reading import read_text, toml_values


def recipe_text(path: str | Path) -> bytes:
    """The text in the file of a recipe. Raises RecipeError where it cannot be read."""
    return read_text(Path(path), "recipe", None, RecipeError)


def recipe_values(text: str | bytes) -> dict[str, Any]:
    """The keys of a recipe with plain values. Raises RecipeError where the text is no TOML."""
    load_extensions()
    return toml_values(text, "recipe", None, RecipeError)


@checked_methods
class FromText(ABC):
    """A recipe that is written as a text of TOML."""

    @classmethod
    @abstractmethod
    def from_dict(cls, values: Mapping[str, Any], folder: Path | None = None) -> Self:
        """The recipe of plain values; relative paths start at the folder."""

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """The recipe in a TOML file.

        Parameters
        ----------
        path : str or Path
            The file. Relative paths in the recipe start at its folder.

        Returns
        -------
        object of this class
            The recipe.

        Raises
        ------
        RecipeError
            Where the file cannot be read, or holds no recipe.
        """
        return cls.from_dict(recipe_values(recipe_text(path)), Path(path).parent)

    @classmethod
    def loads(cls, text: str, folder: Path | None = None) -> Self:
        """The recipe in a TOML text.

        Parameters
        ----------
        text : str
            The text.
        folder : Path, optional
            Where relative paths start; by default in the working directory.

        Returns
        -------
        object of this class
            The recipe.

        Raises
        ------
        RecipeError
            Where the text is no TOML, or holds no recipe.
        """
        return cls.from_dict(recipe_values(text), folder)
