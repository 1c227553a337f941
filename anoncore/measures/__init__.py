"""Every number that is told of a release: what it is, said once, and how it is asked for by name."""

from anoncore.measures.criteria import CRITERIA, FAMILIES, evaluate
from anoncore.measures.evaluation import MEASURES, MEASURES_OF_SEVERAL, Measure
from anoncore.measures.registry import NUMBERS, title_of
from anoncore.measures.verdict import Failing, Promise, Verdict, verdict

__all__ = [
    "CRITERIA",
    "FAMILIES",
    "MEASURES",
    "MEASURES_OF_SEVERAL",
    "NUMBERS",
    "Failing",
    "Measure",
    "Promise",
    "Verdict",
    "evaluate",
    "title_of",
    "verdict",
]
