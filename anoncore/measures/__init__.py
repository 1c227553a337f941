"""Every number that is told of a release: what it is, said once, and how it is asked for by name."""

from anoncore.measures.answer import Answer, answer
from anoncore.measures.criteria import CRITERIA, FAMILIES, NUMBERS, evaluate, value_of
from anoncore.measures.evaluation import MEASURES, MEASURES_OF_SEVERAL, Measure
from anoncore.measures.verdict import Failing, Promise, Verdict, verdict

__all__ = [
    "CRITERIA",
    "FAMILIES",
    "MEASURES",
    "MEASURES_OF_SEVERAL",
    "NUMBERS",
    "Answer",
    "Failing",
    "Measure",
    "Promise",
    "Verdict",
    "answer",
    "evaluate",
    "value_of",
    "verdict",
]


def __dir__() -> list[str]:
    """The public names, without the modules that they come from."""
    return __all__
