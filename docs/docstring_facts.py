"""A griffe extension: the facts of a docstring (Assumes, Cost, Use, Avoid, Source) become a list."""

from __future__ import annotations

import re
from typing import Any

import griffe

FACTS = ("Assumes", "Cost", "Use", "Avoid", "Source")
_BEGIN = re.compile(rf"({'|'.join(FACTS)}): ")


class DocstringFacts(griffe.Extension):
    """Turns every line that begins with the word of a fact into an entry of a list, the word in bold."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Rewrite the docstring of one object."""
        if obj.docstring is not None:
            obj.docstring.value = listed(obj.docstring.value)


def listed(text: str) -> str:
    """The text with every fact as one line of a list, set off from a paragraph before it by an empty line."""
    lines: list[str] = []
    in_fact = False
    for line in text.splitlines():
        begin = _BEGIN.match(line)
        if begin:
            if lines and not in_fact and lines[-1].strip("- "):
                lines.append("")
            lines.append(f"- **{begin[1]}:** {line[begin.end() :]}")
        elif in_fact and line.startswith("  "):
            lines[-1] += f" {line.strip()}"
        else:
            lines.append(line)
        in_fact = begin is not None or (in_fact and line.startswith("  "))
    return "\n".join(lines)
