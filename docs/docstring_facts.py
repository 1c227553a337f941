"""A griffe extension: the facts at the end of a docstring (Assumes, Cost, Use, Avoid, Source) become a list."""

from __future__ import annotations

import re
from typing import Any

import griffe

FACTS = ("Assumes", "Cost", "Use", "Avoid", "Source", "Parameters")
_BEGIN = re.compile(rf"^({'|'.join(FACTS)}): ", re.MULTILINE)


class DocstringFacts(griffe.Extension):
    """Turns every line that begins with the word of a fact into an entry of a list, the word in bold."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Rewrite the docstring of one object."""
        if obj.docstring is not None:
            obj.docstring.value = listed(obj.docstring.value)


def listed(text: str) -> str:
    """The text with its facts as entries of a list, set off from the paragraph before by an empty line."""
    first = _BEGIN.search(text)
    if first is None:
        return text
    before, facts = text[: first.start()].rstrip(), text[first.start() :]
    lines = [line.strip() if line.startswith("  ") else line for line in facts.splitlines()]
    return f"{before}\n\n" + _BEGIN.sub(r"- **\1:** ", "\n".join(lines))
