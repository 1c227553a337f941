"""The mutants of all papers, and the parts of the book that they are run on. `broken` says what a mutant is.

python -m tests.papers --rest
"""

from __future__ import annotations

from dataclasses import replace

from dashboard.reproduction import Mutant, Result
from tests.papers import mutants_closeness, mutants_foreground, mutants_rothko, mutants_slicing, mutants_vertical
from tests.papers.broken import Broken, examples, unbroken

__all__ = ["COMPLETE", "EXAMPLES", "FILES", "MUTANTS", "PROVEN", "Broken", "examples", "tried", "unbroken"]

FILES = {
    "slicing": mutants_slicing,
    "foreground-knowledge": mutants_foreground,
    "t-closeness": mutants_closeness,
    "rothko": mutants_rothko,
    "vertical-fragmentation": mutants_vertical,
}
"""The file of each paper's mutants."""
EXAMPLES = {paper: file.EXAMPLES for paper, file in FILES.items()}
"""The worked examples of each paper; `PROVEN`: what its text claims."""
PROVEN = {paper: file.PROVEN for paper, file in FILES.items()}
MUTANTS: tuple[Broken, ...] = tuple(one for file in FILES.values() for one in file.MUTANTS)
COMPLETE: tuple[str, ...] = tuple(FILES)
"""The papers of which every statement that holds has a mutant, a least effect and an oracle."""


def tried(result: Result) -> Result:
    """The result with what each mutant of its paper breaks."""
    found: dict[str, list[Mutant]] = {}
    for one in MUTANTS:
        if one.paper == result.name:
            for label, mutant in one.mutants().items():
                found.setdefault(label, []).append(mutant)
    entries = tuple(replace(entry, mutants=tuple(found.get(entry.label, ()))) for entry in result.entries)
    return replace(result, entries=entries)
