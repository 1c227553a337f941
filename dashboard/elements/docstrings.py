"""Reads a docstring of numpydoc form: the text before its sections, and the sections by their titles."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from dataclasses import dataclass

SECTIONS = (
    "Parameters",
    "Returns",
    "Raises",
    "Attributes",
    "Notes",
    "References",
    "Examples",
)
"""The sections that a docstring may have, in this order."""
_TITLE = re.compile(rf"^({'|'.join(SECTIONS)})\n-+\n", re.MULTILINE)


@dataclass(frozen=True)
class Described:
    """A name of a section with its type, as far as it is given, and what is said of it."""

    name: str
    type: str
    meaning: str


@dataclass(frozen=True)
class Docstring:
    """A docstring in parts: the text before the first section, and the text of each section by its title."""

    text: str
    sections: Mapping[str, str]

    @classmethod
    def of(cls, docstring: str | None) -> Docstring:
        """The parts of a docstring as it stands in the source; of None they are empty."""
        text, *rest = _TITLE.split(inspect.cleandoc(docstring or ""))
        return cls(text.strip(), {title: body.strip("\n ") for title, body in zip(rest[::2], rest[1::2], strict=True)})

    def described(self, title: str) -> tuple[Described, ...]:
        """The names that a section lists, each with the indented text below it; several names may share a line."""
        found: list[Described] = []
        for head, body in re.findall(r"^(\S.*)\n?((?:\s*\n|[ ]+.*\n?)*)", self.sections.get(title, ""), re.MULTILINE):
            names, given, kind = head.partition(" : ")
            meaning = "\n\n".join(" ".join(paragraph.split()) for paragraph in re.split(r"\n\s*\n", body.strip()))
            # Without a type the line is a type itself, as under Returns, where commas belong to it.
            found += [Described(name, kind.strip(), meaning) for name in (names.split(", ") if given else [head])]
        return tuple(found)
