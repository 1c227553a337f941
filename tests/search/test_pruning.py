"""A search that measures only what matters finds what measuring everything finds, and works out common steps once."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anoncore import Microdata, datasets
from anoncore.algorithms import Algorithm, Anatomy, ForegroundSafe, Microaggregation, Mondrian, Sabre, StackAndDeal
from anoncore.algorithms import SensitiveSpaceFragmentation as Fragmentation
from anoncore.algorithms.closeness.locality import QuasiSpace
from anoncore.measures.criteria import CRITERIA, evaluate
from anoncore.requirements import KAnonymity, TCloseness
from anoncore.search.candidates import candidates
from anoncore.search.sweeping import NOT_NEEDED, OUTLINED, Point, measure, sweep
from anoncore.search.targets import Search, Standing, Target, default_candidates, search
from tests.shared_data import needs

QUICK = ("k", "t", "two-way-error")
SLOW = ("query-error", "foreground-excess")


def _data(n: int = 120) -> Microdata:
    rng = np.random.default_rng(8)
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 80, n),
            "town": rng.choice(list("ABCD"), n),
            "illness": rng.choice(["flu", "cold", "ulcer", "gout", "asthma"], n, p=[0.3, 0.3, 0.2, 0.1, 0.1]),
        }
    )
    return Microdata(frame, {"age": "quasi-identifier", "town": "quasi-identifier", "illness": "sensitive"})


def _tried(data: Microdata) -> tuple[Algorithm, ...]:
    ranges = {"mondrian": {"k": [2, 3, 5, 12, 30]}, "anatomy": {"l": [2, 3]}, "stack-and-deal": {"k": [3, 6, 40]}}
    return candidates(ranges, data)


def _answers(found: Search) -> list[tuple[Algorithm, float] | None]:
    """The answers of a search: the best, what each target costs, and the nearest miss where there is no best."""
    points = [found.best, *found.without.values(), None if found.best is not None else found.nearest]
    return [None if point is None else (point.algorithm, point.values[found.spare]) for point in points]


def test_the_slow_criteria_of_these_tests_are_marked_slow() -> None:
    assert [CRITERIA[name].is_slow for name in (*QUICK, *SLOW)] == [False] * 3 + [True] * 2


@pytest.mark.slow
@pytest.mark.parametrize("spare", ["two-way-error", "query-error"])
@pytest.mark.parametrize(
    "targets",
    [
        (),
        (Target("k", 5),),
        (Target("k", 5), Target("t", 0.35)),
        (Target("k", 5), Target("foreground-excess", 0.2)),
        (Target("k", 31), Target("t", 0.05), Target("foreground-excess", 0.0)),
        (Target("k", 500), Target("t", 0.2)),
        (Target("foreground-excess", 0.5), Target("foreground-excess", 0.1)),
    ],
    ids=lambda targets: " and ".join(target.criterion for target in targets) or "none",
)
def test_a_search_answers_what_measuring_everything_answers(targets: tuple[Target, ...], spare: str) -> None:
    data = _data()
    tried = _tried(data)
    names = list(dict.fromkeys([*(target.criterion for target in targets), spare]))
    every = sweep(data, tried, names)
    expected = Search(targets, spare, tuple(point for point in every if point is not None))
    seen: dict[int, Point] = {}
    improved: list[float] = []
    found = search(
        data,
        targets,
        spare,
        tried,
        take=lambda place, point: seen.__setitem__(place, point),
        better=lambda point: improved.append(point.values[spare]),
    )
    assert _answers(found) == _answers(expected)
    assert found.costliest == expected.costliest
    assert [point.algorithm for point in found.points] == list(tried)
    assert [seen[place] for place in range(len(tried))] == list(found.points)
    assert improved == sorted(improved, reverse=True)
    assert improved[-1:] == ([] if found.best is None else [found.best.values[spare]])
    for point, whole in zip(found.points, expected.points, strict=True):
        assert point.values == pytest.approx({name: whole.values[name] for name in point.values})
        left_out = {name for name, reason in point.missing.items() if reason == NOT_NEEDED}
        assert point.algorithm.name == "stack-and-deal" or all(CRITERIA[name].is_slow for name in left_out)
        assert set(point.values) | left_out | set(whole.missing) == set(whole.values) | set(whole.missing)


@pytest.mark.slow
@needs("adult.csv")
def test_on_adult_a_search_of_all_methods_answers_what_measuring_everything_answers() -> None:
    targets = (Target("k", 10), Target("t", 0.3))
    entry = datasets.table("adult")
    known = ("age", "workclass", "education", "marital-status", "race", "sex")
    roles = dict.fromkeys(entry.roles, "insensitive") | dict.fromkeys(known, "quasi-identifier")
    frame = entry.load().sample(1000, random_state=2).reset_index(drop=True)
    data = Microdata(frame, roles | {"occupation": "sensitive"}, entry.kinds, entry.orders)
    tried = default_candidates(data, targets)
    names = [*(target.criterion for target in targets), "two-way-error"]
    points = [measure(data, one, names) for one in tried]
    expected = Search(targets, "two-way-error", tuple(points))
    found = search(data, targets, "two-way-error", tried)
    assert _answers(found) == _answers(expected)
    assert found.costliest == expected.costliest
    for point, whole in zip(found.points, expected.points, strict=True):
        assert point.values == {name: whole.values[name] for name in point.values}
        assert point.error == whole.error


def test_slow_numbers_of_releases_that_cannot_win_are_not_taken() -> None:
    data = _data()
    targets = (Target("k", 5), Target("t", 0.35))
    tried = candidates({"mondrian": {"k": [60, 2, 3]}}, data)
    found = search(data, targets, "query-error", tried, workers=1)
    assert found.best is found.points[0]
    for point in found.points[1:]:
        assert point.values["k"] < 5
        assert point.values["t"] > 0.35
        assert point.missing == {"query-error": NOT_NEEDED}


figures = st.tuples(st.integers(0, 4), st.integers(0, 4), st.integers(0, 4))


@pytest.mark.slow
@settings(max_examples=100)
@given(st.lists(figures, min_size=1, max_size=12), st.permutations(range(3)), st.integers(0, 3))
def test_whatever_the_numbers_are_none_that_matters_is_left_out(
    rows: list[tuple[int, int, int]], order: Sequence[int], limit: int
) -> None:
    """Numbers are taken of candidates one after the other in any order of the criteria, all of them slow."""
    names = ("k", "t", "two-way-error")
    targets = (Target("k", float(limit)), Target("t", limit / 4))
    standing = Standing(targets, "two-way-error")
    every = []
    for place, row in enumerate(rows):
        whole = {"k": float(row[0]), "t": row[1] / 4, "two-way-error": row[2] / 4}
        values: dict[str, float] = {}
        for name in (names[i] for i in order):
            if standing.needs(values, name):
                values[name] = whole[name]
        missing = {name: NOT_NEEDED for name in names if name not in values}
        standing.add(place, Point(Anatomy(), values, missing, 0.0))
        every.append(Point(Anatomy(), whole, {}, 0.0))
    found, expected = standing.found(len(rows)), Search(targets, "two-way-error", tuple(every))

    def place_of(search: Search, point: Point | None) -> int | None:
        return None if point is None else search.points.index(point)

    assert place_of(found, found.best) == place_of(expected, expected.best)
    for target in targets:
        assert place_of(found, found.without[target]) == place_of(expected, expected.without[target])
    if expected.best is None:
        assert place_of(found, found.nearest) == place_of(expected, expected.nearest)


def test_what_is_asked_for_is_tried_first_and_then_every_method_in_turn() -> None:
    data = _data()
    targets = [Target("k", 5), Target("t", 0.35)]
    tried = default_candidates(data, targets, methods=("mondrian", "sabre", "anatomy"))
    seen: list[int] = []

    def stop() -> bool:
        return len(seen) >= 6

    places: list[int] = []
    # With several workers, those that began later may end first.
    take = lambda place, _: (seen.append(place), places.append(place))  # noqa: E731
    search(data, targets, algorithms=tried, take=take, stop=stop, workers=1)
    exact = [
        place
        for place, one in enumerate(tried)
        if {(type(promise).__name__, promise.threshold) for promise in one.promises(data)}
        == {("KAnonymity", 5), ("TCloseness", 0.35)}
    ]
    assert {tried[place].name for place in exact} == {"mondrian", "sabre"}
    assert set(exact) <= set(places)


@pytest.mark.parametrize("stack", ["frequency", "value"])
def test_an_outline_has_the_numbers_of_the_release(stack: str) -> None:
    data = _data()
    for k in (2, 3, 7, 50):
        algorithm = StackAndDeal(k=k, stack=stack, seed=3)
        outline = algorithm.outline(data)
        assert outline is not None
        assert evaluate(outline, OUTLINED) == evaluate(algorithm.anonymize(data), OUTLINED)
    assert StackAndDeal(locality=False).outline(data) is None
    assert Mondrian().outline(data) is None
    some = Microdata(data.frame, data.roles, sensitive_values={"illness": {"flu"}})
    assert StackAndDeal().outline(some) is None
    several = Microdata(data.frame, dict.fromkeys(data.frame, "sensitive") | {"age": "quasi-identifier"})
    assert StackAndDeal().outline(several) is not None
    assert StackAndDeal(refine=True).outline(several) is None


def test_a_release_that_cannot_win_is_not_made(monkeypatch: pytest.MonkeyPatch) -> None:
    data = _data()
    made: list[int] = []
    hand_out = QuasiSpace.hand_out

    def noted(space: QuasiSpace, *arguments: object, **named: object) -> object:
        made.append(1)
        return hand_out(space, *arguments, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(QuasiSpace, "hand_out", noted)
    targets = (Target("k", 10), Target("t", 0.3))
    tried = [Mondrian(requirements=[KAnonymity(k=10), TCloseness(t=0.3)]), StackAndDeal(k=2, seed=0)]
    found = search(data, targets, algorithms=tried, workers=1)
    assert not made
    assert set(found.points[1].values) == {"k", "t"}
    assert found.points[1].missing == {"two-way-error": NOT_NEEDED}
    assert found.points[1].made


def test_candidates_of_a_search_draw_alike() -> None:
    tried = default_candidates(_data(), [Target("k", 5)])
    seeds = {one.seed for one in tried if "seed" in type(one).model_fields}  # type: ignore[attr-defined]
    assert len(seeds) == 1
    assert seeds != {one.seed for one in default_candidates(_data(), [Target("k", 5)]) if "seed" in vars(one)}  # type: ignore[attr-defined]


SHARING = [
    *(Sabre(k=k, t=t, ground="equal", seed=4) for k, t in product((2, 3), (0.3, 0.4))),
    *(Fragmentation(k=k, other_t=t, seed=4) for k, t in product((2, 3), (0.3, 0.4))),
    *(Microaggregation(k=4, t=t, ground="equal", seed=4) for t in (0.2, 0.3, 0.4)),
    *(Microaggregation(k=4, t=t, ground="equal", variant="swap", seed=4) for t in (0.2, 0.3)),
    *(Microaggregation(k=4, t=0.3, ground="equal", clustering="nearest", seed=4) for _ in range(1)),
    *(ForegroundSafe(l=l, seed=4) for l in (2, 3, 4)),
    Sabre(k=2, t=0.3, ground="equal", seed=5),
]


def test_releases_are_those_of_single_runs_though_steps_are_shared() -> None:
    data = _data()
    names = ["k", "t", "two-way-error", "information-loss"]
    for point in sweep(data, SHARING, names, workers=3):
        assert point is not None
        alone = measure(data, point.algorithm, names)
        assert point.values == alone.values
        assert point.error == alone.error


def test_steps_in_common_are_worked_out_once(monkeypatch: pytest.MonkeyPatch) -> None:
    data = _data()
    made: list[int] = []
    hand_out = QuasiSpace.hand_out

    def counted(space: QuasiSpace, *arguments: object, **named: object) -> object:
        made.append(1)
        return hand_out(space, *arguments, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(QuasiSpace, "hand_out", counted)
    tried = [Microaggregation(k=4, t=t, ground="equal", seed=4) for t in (0.2, 0.3, 0.4)]
    sweep(data, tried, ["k"])
    assert len(made) == 1
    sweep(data, [one.replace(seed=None) for one in tried], ["k"])
    assert len(made) == 4


def test_a_release_is_measured_quick_numbers_first() -> None:
    data = _data()
    asked: list[tuple[str, tuple[str, ...]]] = []

    def needed(values: object, name: str) -> bool:
        asked.append((name, tuple(values)))  # type: ignore[call-overload]
        return name != "foreground-excess"

    names = ["foreground-excess", "query-error", "k", "two-way-error"]
    point = measure(data, Mondrian(requirements=[KAnonymity(k=5)]), names, needed=needed)
    assert asked == [("foreground-excess", ("k", "two-way-error")), ("query-error", ("k", "two-way-error"))]
    assert list(point.values) == ["query-error", "k", "two-way-error"]
    assert point.missing == {"foreground-excess": NOT_NEEDED}
