"""The best releases of a search once more: which are tried, that they count, and that they only ever win."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from anoncore import Microdata, ParameterError
from anoncore.algorithms import Mondrian, OptimalRecoding, StackAndDeal, Suppression
from anoncore.requirements import KAnonymity
from anoncore.search import Target, candidates, default_candidates, finer_candidates, search
from anoncore.search.found import Search
from anoncore.search.sweeping import Point

K10 = (Target("k", 10),)


def _data(n: int = 200) -> Microdata:
    rng = np.random.default_rng(4)
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 80, n),
            "pay": rng.integers(1, 40, n),
            "town": rng.choice(list("ABCD"), n),
            "illness": rng.choice(["flu", "cold", "ulcer", "gout"], n),
        }
    )
    return Microdata(frame, dict.fromkeys(["age", "pay", "town"], "quasi-identifier") | {"illness": "sensitive"})


def _point(algorithm, k: float, cost: float) -> Point:
    return Point(algorithm, {"k": k, "two-way-error": cost}, {}, 0.1)


def _mondrian(k: int, **more) -> Mondrian:
    return Mondrian(requirements=[KAnonymity(k=k)], **more)


def test_of_each_method_the_two_cheapest_that_may_win_are_refined():
    points = (
        _point(_mondrian(10), 10, 0.2),
        _point(_mondrian(12), 12, 0.21),
        _point(_mondrian(15), 15, 0.22),
        _point(_mondrian(5), 5, 0.1),  # misses the target, but is the cheapest without it
        _point(StackAndDeal(k=10, seed=1), 10, 0.6),  # even 60 % less would cost more than the best
        _point(OptimalRecoding(requirements=[KAnonymity(k=10)]), 10, 0.3),
    )
    found = finer_candidates(Search(K10, "two-way-error", points))
    assert found == tuple(_mondrian(k, refine=True, **more) for k in (10, 12, 5) for more in ({}, {"split": "loss"}))


def test_what_was_tried_and_what_is_refined_is_not_tried_again():
    points = tuple(_point(_mondrian(10, refine=refine), 10, 0.2) for refine in (False, True))
    (finer,) = finer_candidates(Search(K10, "two-way-error", points))
    assert finer == _mondrian(10, refine=True, split="loss")


def test_local_recoding_is_dealt_as_well_where_secrets_are_protected():
    starts = [
        [(one.start, one.refine) for one in default_candidates(_data(), targets, methods=["local-recoding"])]
        for targets in (K10, (*K10, Target("t", 0.3)))
    ]
    assert starts == [[("levels", False)], [("levels", False), ("deal", True)]]


def test_where_people_may_be_left_out_the_best_releases_are_tried_without_some():
    optimal = OptimalRecoding(requirements=[KAnonymity(k=10)], max_suppression=0.0)
    points = (_point(_mondrian(10), 10, 0.2), _point(optimal, 10, 0.21))
    found = finer_candidates(Search(K10, "two-way-error", points), left_out=0.03)
    refined = _mondrian(10, refine=True, split="loss")
    assert Suppression(method=refined, max_suppression=0.03) in found
    assert optimal.replace(max_suppression=0.03) in found
    assert len(found) == 4


@pytest.mark.slow
def test_a_search_without_candidates_of_its_own_refines_the_best_and_counts_them():
    data, seen = _data(), {}
    found = search(data, K10, take=lambda place, point: seen.__setitem__(place, point))
    tried = default_candidates(data, K10)
    assert len(seen) == len(found.points) > len(tried)
    assert [seen[place] for place in range(len(seen))] == list(found.points)
    assert found.n_left == 0
    refined = [point for point in found.points if getattr(point.algorithm, "refine", False)]
    assert refined
    assert all(point in found.points[len(tried) :] for point in refined)
    kept = [point for point in found.points if not found.missed(point)]
    assert found.best.values["two-way-error"] == min(point.values["two-way-error"] for point in kept)
    plain = search(data, K10, algorithms=[one.replace() for one in tried])
    assert found.best.values["two-way-error"] <= plain.best.values["two-way-error"]


def test_optimal_and_locally_suppressed_releases_are_tried_at_what_is_asked_for_alone():
    tried = default_candidates(_data(), K10)
    for name in ("optimal-recoding", "local-suppression"):
        (one,) = [algorithm for algorithm in tried if algorithm.name == name]
        assert one.requirements == (KAnonymity(k=10),)
    assert not [one for one in default_candidates(_data(), []) if one.name == "optimal-recoding"]


def test_an_earlier_search_counts_and_a_share_is_a_share():
    data = _data()
    first = search(data, K10, algorithms=candidates({"mondrian": {"k": [10]}}, data))
    later = search(data, K10, algorithms=candidates({"mondrian": {"k": [50]}}, data), after=first)
    assert later.points[0] is first.points[0]
    assert later.best is first.best
    assert later.n_left == 0
    with pytest.raises(ParameterError, match="left_out is a share"):
        search(data, K10, left_out=1.0)
