"""The best releases of a search once more: refined, and with a few people left out."""

from __future__ import annotations

from collections.abc import Iterator

from anoncore.algorithms import Algorithm, Mondrian, Suppression
from anoncore.base.arguments import checked
from anoncore.measures.criteria import CRITERIA
from anoncore.search.found import Search
from anoncore.search.keeping import can_leave_out
from anoncore.search.sweeping import Point

MOST_REFINED = 2
"""Releases of each method that are tried once more, the cheapest of those that miss the targets by least."""
MOST_SAVED = 0.6
"""Share of the cost of a release that the same one refined saves at most, by what was ever seen: where even that much
less would cost more than the best release, it is not tried.
"""


@checked
def finer_candidates(found: Search, left_out: float = 0.0) -> tuple[Algorithm, ...]:
    """What is worth a try after a search: its best releases refined, and with a few people left out.

    These keep the same promises at less cost, but take longer, so that only the few that may still win are named: of
    every method the two cheapest releases that keep the targets, and the cheapest ones without each of the targets, so
    that what a target costs is a comparison of equals.

    Parameters
    ----------
    found : Search
        What a search of the table has found.
    left_out : float
        Share of the rows that may be left out by methods that coarsen values; 0 leaves out nobody.

    Returns
    -------
    tuple of Algorithm
        The candidates, none of which the search has tried.

    Examples
    --------
    >>> import pandas as pd
    >>> from anoncore import Microdata
    >>> from anoncore.search import Target, candidates, finer_candidates, search
    >>> people = pd.DataFrame({"age": [21, 22, 23, 44, 45, 46], "disease": ["flu"] * 2 + ["cold"] * 4})
    >>> data = Microdata(people, roles={"age": "quasi-identifier", "disease": "sensitive"})
    >>> tried = candidates({"mondrian": {"k": [2]}}, data)
    >>> found = search(data, [Target("k", 2)], algorithms=tried)
    >>> [(algorithm.split, algorithm.refine) for algorithm in finer_candidates(found)]
    [('median', True), ('loss', True)]
    """
    tried = {repr(point.algorithm) for point in found.points}
    finer: dict[str, Algorithm] = {}
    for point in _rivals(found):
        for algorithm in _variants(point.algorithm, left_out):
            if repr(algorithm) not in tried:
                finer.setdefault(repr(algorithm), algorithm)
    return tuple(finer.values())


def _rivals(found: Search) -> Iterator[Point]:
    """The releases of a search whose finer versions may win."""
    criterion = CRITERIA[found.spare]
    turned = -1 if criterion.higher_is_better else 1
    kept = sorted(found.least_short, key=lambda point: turned * point.values[found.spare])
    if not kept:
        return
    best = kept[0].values[found.spare]
    taken: dict[str, int] = {}
    for point in kept:
        name = point.algorithm.name
        can_win = criterion.higher_is_better or point.values[found.spare] * (1 - MOST_SAVED) <= best
        if can_win and taken.setdefault(name, 0) < MOST_REFINED:
            taken[name] += 1
            yield point
    yield from (point for point in found.without.values() if point is not None)


def _variants(algorithm: Algorithm, left_out: float) -> Iterator[Algorithm]:
    """The method refined, and either of them with a share of the rows left out."""
    refined = [algorithm.replace(refine=True)] if _can_refine(algorithm) else []
    # Cuts that save most give the classes that can be refined furthest.
    if refined and isinstance(algorithm, Mondrian) and algorithm.split == "median":
        refined.append(algorithm.replace(refine=True, split="loss"))
    yield from refined
    if not left_out or isinstance(algorithm, Suppression) or not can_leave_out(algorithm.name):
        return
    if "max_suppression" in type(algorithm).model_fields:
        yield algorithm.replace(max_suppression=left_out)
    else:
        yield Suppression(method=(refined or [algorithm])[-1], max_suppression=left_out)


def _can_refine(algorithm: Algorithm) -> bool:
    """Whether the method can refine its classes or buckets and was not asked to."""
    return "refine" in type(algorithm).model_fields and not getattr(algorithm, "refine", False)
