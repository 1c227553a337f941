"""The frontier of a table: of every method the least cost at each level of risk, and what refining gained."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from anoncore.algorithms import Algorithm
from anoncore.base.arguments import checked
from anoncore.search.sweeping import Point, pareto


@checked
def frontiers(points: Sequence[Point], criterion: str, other_criterion: str) -> dict[str, tuple[int, ...]]:
    """Of every method the points that no other one of the same method beats in two criteria.

    Parameters
    ----------
    points : sequence of Point
        The points of a sweep.
    criterion : str
        Name of the first criterion.
    other_criterion : str
        Name of the second criterion.

    Returns
    -------
    dict of str to tuple of int
        The places of these points, by the name of the method, in order of the first criterion. Methods that have none
        with both numbers are left out.

    Examples
    --------
    >>> import pandas as pd
    >>> from anoncore import Microdata
    >>> from anoncore.search import candidates, frontiers, sweep
    >>> people = pd.DataFrame({"age": [21, 22, 23, 44, 45, 46], "disease": ["flu"] * 2 + ["cold"] * 4})
    >>> data = Microdata(people, roles={"age": "quasi-identifier", "disease": "sensitive"})
    >>> tried = candidates({"mondrian": {"k": [6, 3, 4]}}, data)
    >>> frontiers(sweep(data, tried, ["k", "information-loss"]), "k", "information-loss")
    {'mondrian': (1, 0, 2)}
    """
    found = {}
    for name in dict.fromkeys(point.algorithm.name for point in points):
        places = [place for place, point in enumerate(points) if point.algorithm.name == name]
        front = pareto([points[place] for place in places], criterion, other_criterion)
        unbeaten = [place for place, kept in zip(places, front, strict=True) if kept]
        if unbeaten:
            found[name] = tuple(sorted(unbeaten, key=lambda place: (points[place].values[criterion], place)))
    return found


@checked
def refined_pairs(points: Sequence[Point], criterion: str, other_criterion: str) -> tuple[tuple[int, int], ...]:
    """The points that differ in nothing but that rows moved between the finished classes (`refine`, `search_steps`).

    Parameters
    ----------
    points : sequence of Point
        The points of a sweep.
    criterion : str
        Name of the first criterion.
    other_criterion : str
        Name of the second criterion.

    Returns
    -------
    tuple of pairs of int
        The places of the point without and of the one with, where both have both numbers and these differ.

    Examples
    --------
    >>> import pandas as pd
    >>> from anoncore import Microdata
    >>> from anoncore.algorithms import Mondrian
    >>> from anoncore.requirements import KAnonymity
    >>> from anoncore.search import refined_pairs, sweep
    >>> people = pd.DataFrame({"age": [1, 2, 11, 12, 13, 30, 31], "town": list("aabbbab")})
    >>> data = Microdata(people, roles=dict.fromkeys(people, "quasi-identifier"))
    >>> plain = Mondrian(requirements=[KAnonymity(k=2)], split="median")
    >>> points = sweep(data, [plain, plain.replace(refine=True)], ["k", "information-loss"])
    >>> refined_pairs(points, "k", "information-loss")
    ((0, 1),)
    """
    asked = (criterion, other_criterion)
    there = {place: point for place, point in enumerate(points) if all(name in point.values for name in asked)}
    plain = {_without_refining(point.algorithm): place for place, point in there.items() if not _refines(point)}
    pairs = []
    for place, point in there.items():
        before = plain.get(_without_refining(point.algorithm)) if _refines(point) else None
        if before is None:
            continue
        without, refined = ([points[at].values[name] for name in asked] for at in (before, place))
        if not np.allclose(without, refined, rtol=1e-12, atol=0):
            pairs.append((before, place))
    return tuple(pairs)


def _refines(point: Point) -> bool:
    """Whether rows moved between the finished classes."""
    return bool(getattr(point.algorithm, "refine", False))


def _without_refining(algorithm: Algorithm) -> str:
    """What the method is asked for, but for its refinement."""
    return repr({name: value for name, value in algorithm.to_dict().items() if name not in ("refine", "search_steps")})
