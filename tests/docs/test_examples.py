"""Every example in a docstring of anoncore runs and answers what stands below it."""

from __future__ import annotations

import doctest
import importlib
from collections.abc import Iterator
from pathlib import Path

import pytest

import anoncore

SAME = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
ROOT = Path(anoncore.__file__).parent


def examples() -> Iterator[doctest.DocTest]:
    """The examples of every docstring that has some, each docstring with an empty namespace of its own."""
    finder = doctest.DocTestFinder(exclude_empty=True)
    for path in sorted(ROOT.rglob("*.py")):
        if ">>> " in path.read_text(encoding="utf-8"):
            parts = path.relative_to(ROOT.parent).with_suffix("").parts
            module = importlib.import_module(".".join(part for part in parts if part != "__init__"))
            yield from (found for found in finder.find(module, globs={}) if found.examples)


@pytest.mark.parametrize("example", list(examples()), ids=lambda example: example.name)
def test_an_example_answers_what_stands_below_it(
    example: doctest.DocTest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    said: list[str] = []
    doctest.DocTestRunner(optionflags=SAME).run(example, out=said.append)
    assert not said, "".join(said)
