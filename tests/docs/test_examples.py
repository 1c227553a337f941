"""Every example in a docstring of anoncore runs and answers what stands below it."""

from __future__ import annotations

import doctest
import importlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import anoncore

SAME = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
ROOT = Path(anoncore.__file__).parent


def examples() -> Iterator[doctest.DocTest]:
    """The examples of every docstring that has some, each docstring with a namespace of its own."""
    finder = doctest.DocTestFinder(exclude_empty=True)
    for path in sorted(ROOT.rglob("*.py")):
        if ">>> " in path.read_text(encoding="utf-8"):
            parts = path.relative_to(ROOT.parent).with_suffix("").parts
            module = importlib.import_module(".".join(part for part in parts if part != "__init__"))
            yield from (found for found in finder.find(module, globs={}) if found.examples)


@cache
def beginning(module: str) -> dict[str, Any]:
    """What the docstring of the package of a module makes, with which all examples of the package begin."""
    package = ".".join(module.split(".")[:2])
    text = importlib.import_module(package).__doc__ or ""
    example = doctest.DocTestParser().get_doctest(text, {}, package, None, None)
    doctest.DocTestRunner(optionflags=SAME).run(example, clear_globs=False)
    return example.globs


@pytest.mark.parametrize("example", list(examples()), ids=lambda example: example.name)
def test_an_example_answers_what_stands_below_it(
    example: doctest.DocTest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    example.globs.update(beginning(example.name))
    said: list[str] = []
    doctest.DocTestRunner(optionflags=SAME).run(example, out=said.append)
    assert not said, "".join(said)
