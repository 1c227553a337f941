"""The frontier of a table by hand: the least of each method, and what refining gained."""

from __future__ import annotations

from anoncore.algorithms import LocalSuppression, Mondrian
from anoncore.requirements import KAnonymity
from anoncore.search import frontiers, refined_pairs
from anoncore.search.sweeping import Point

K, LOSS = "k", "information-loss"


def point(method, k, loss, refine=False):
    algorithm = method(requirements=[KAnonymity(k=k)])
    algorithm = algorithm.replace(refine=True) if refine else algorithm
    values = {} if loss is None else {K: float(k), LOSS: loss}
    return Point(algorithm, values, {}, 0.1, "" if values else "not possible")


POINTS = [
    point(Mondrian, 10, 0.3),
    point(Mondrian, 5, 0.2),
    point(Mondrian, 4, 0.25),  # larger classes lose less, so nobody needs this one
    point(Mondrian, 10, 0.27, refine=True),
    point(Mondrian, 5, 0.2, refine=True),
    point(LocalSuppression, 5, 0.1),
    point(LocalSuppression, 10, None),
]


def test_of_every_method_what_no_other_of_it_beats():
    assert frontiers(POINTS, K, LOSS) == {"mondrian": (1, 4, 3), "local-suppression": (5,)}


def test_what_refining_gained_is_the_way_between_two_points():
    assert refined_pairs(POINTS, K, LOSS) == ((0, 3),)
