"""Many releases at once: candidates, sweeps over parameters, the cheapest one that keeps targets, the choice of k."""

from anoncore.search.candidates import Ranges, candidates
from anoncore.search.choosing import Choice, choose_k, largest_distance, largest_k, tried_values
from anoncore.search.finer import finer_candidates
from anoncore.search.found import Search, Target
from anoncore.search.frontier import frontiers, refined_pairs
from anoncore.search.keeping import axes
from anoncore.search.sweeping import Point, pareto, sweep
from anoncore.search.targets import default_candidates, search

__all__ = [
    "Choice",
    "Point",
    "Ranges",
    "Search",
    "Target",
    "axes",
    "candidates",
    "choose_k",
    "default_candidates",
    "finer_candidates",
    "frontiers",
    "largest_distance",
    "largest_k",
    "pareto",
    "refined_pairs",
    "search",
    "sweep",
    "tried_values",
]


def __dir__() -> list[str]:
    """The public names, without the modules that they come from."""
    return __all__
