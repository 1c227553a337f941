"""A recipe as a notebook that makes the release again, cell by cell."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from anoncore.recipes.recipe import Recipe
from anoncore.recipes.script import script_parts

FORMAT, MINOR = 4, 5
"""The format of notebooks that every program of the last years reads."""


def python_notebook(recipe: Recipe, with_seed: bool = False) -> str:
    """The script of a recipe as a notebook (JSON) without outputs, in which each step is a cell and shows its result.

    Relative paths start at the notebook's folder. Seeds are left out unless asked for, as in `python_script`.
    """
    parts = script_parts(recipe, with_seed)
    steps = [
        (f"# {recipe.algorithm.title}\n\nMakes the release again that a recipe describes.", ()),
        ("", (*parts.imports, "HERE = Path()")),
        ("## The table and its tags", (*parts.table, "data")),
        ("## The release", (*parts.method, "release")),
        ("## What is published", ("tables = release.pandas_tables()", "next(iter(tables.values())).head(10)")),
        *([("## What was measured", (*parts.measures, "results"))] if parts.measures else []),
        ("## Write the tables and their certificate", parts.publishing),
    ]
    return notebook_text(_cells(steps))


def notebook_text(cells: Iterable[dict[str, Any]]) -> str:
    """The file of a notebook of these cells, which are numbered."""
    numbered = [{"id": f"cell-{number}", "metadata": {}, **cell} for number, cell in enumerate(cells, 1)]
    content = {
        "cells": numbered,
        "metadata": {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        },
        "nbformat": FORMAT,
        "nbformat_minor": MINOR,
    }
    return json.dumps(content, ensure_ascii=False, indent=1) + "\n"


def text_cell(text: str) -> dict[str, Any]:
    """A cell of text in Markdown."""
    return {"cell_type": "markdown", "source": text.splitlines(keepends=True)}


def code_cell(code: str) -> dict[str, Any]:
    """A cell of Python that was not run."""
    source = code.splitlines(keepends=True)
    return {"cell_type": "code", "execution_count": None, "outputs": [], "source": source}


def _cells(steps: Iterable[tuple[str, Iterable[str]]]) -> Iterator[dict[str, Any]]:
    for text, lines in steps:
        if text:
            yield text_cell(text)
        code = "\n".join(lines).strip()
        if code:
            yield code_cell(code)
