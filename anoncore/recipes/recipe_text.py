"""The TOML text of a recipe: read from a file, and read as plain values."""

from __future__ import annotations

from pathlib import Path
from typing import Any

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
