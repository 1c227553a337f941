"""Fragmenting the sensitive space: bounds against enumeration, greedy cuts replayed, verified and exact sizing."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anoncore import CancelledError, DataError, Microdata, ParameterError, ReleaseError, privacy
from anoncore.algorithms import SensitiveSpaceFragmentation
from anoncore.algorithms.closeness.locality import Multiplicity
from anoncore.algorithms.closeness.sensitive_space import SensitiveFragmentation
from anoncore.datasets import table
from anoncore.kernels.sensitive_space import EQUAL, ORDERED, Cells, farthest, find_fragmentation
from anoncore.publishing import packed, unpacked
from tests.privacy.releases import generalized
from tests.shared_data import needs

from .close_tables import close_tables, contents, plain_ordered, shuffled

needs_heart = needs("heart.csv")


def cells_of(matrix, ground=(ORDERED, ORDERED)) -> Cells:
    matrix = np.array(matrix, dtype=float)
    place = np.argwhere(matrix > 0)
    return Cells(
        place.astype(np.int32),
        matrix[tuple(place.T)] / matrix.sum(),
        np.array(matrix.shape, dtype=np.int64),
        np.array(ground, dtype=np.int64),
    )


def bound(cells: Cells, members, axis: int) -> float:
    members = np.array(members, dtype=np.int64)
    return farthest(cells, members, axis, np.zeros(int(cells.size.max())))


def distance(p, q, ground: int) -> float:
    if ground == EQUAL:
        return float(np.abs(np.subtract(p, q)).sum() / 2)
    return float(np.abs(np.cumsum(np.subtract(p, q)))[:-1].sum() / (len(p) - 1))


# The matrix of figure 4.6 has row sums .5 and .5, column sums .3 and .7; this is one that gives its numbers.
FIGURE_4_6 = [[0.1, 0.4], [0.2, 0.3]]


@pytest.mark.slow
def test_a_split_can_raise_one_bound_while_it_lowers_the_other_as_in_figure_4_6():
    cells = cells_of(FIGURE_4_6)
    assert [bound(cells, range(4), axis) for axis in (0, 1)] == pytest.approx([0.5, 0.7])
    left, right = [0, 2], [1, 3]
    assert bound(cells, left, 0) + bound(cells, right, 0) == pytest.approx(0.6)
    assert bound(cells, left, 1) + bound(cells, right, 1) == 0
    order, tree, bounds = find_fragmentation(cells, np.array([1.0, 0.5]))
    assert bounds == pytest.approx([0.6, 0.0])
    assert sorted(map(sorted, (order[:2].tolist(), order[2:].tolist()))) == [left, right]
    assert (tree[:, 2] < 0).sum() == 2


@pytest.mark.slow
@pytest.mark.parametrize("t", [(1.0, 1.0), (0.5, 0.7)])
def test_a_bound_that_is_reached_is_within_t(t):
    assert len(find_fragmentation(cells_of(FIGURE_4_6), np.array(t))[1]) == 1


@settings(max_examples=30)
@given(
    sums=st.lists(st.integers(1, 6), min_size=1, max_size=5),
    gap=st.integers(0, 2),
    ground=st.sampled_from([ORDERED, EQUAL]),
)
def test_a_fragments_bound_is_the_largest_distance_to_any_vector_of_its_mass(sums, gap, ground):
    """Distances are convex, so the largest is reached with all mass at one slice; other vectors are no farther."""
    m = len(sums) + gap + 1
    vector = np.zeros(m)
    vector[gap : gap + len(sums)] = np.array(sums) / (sum(sums) + 3)
    share = vector[vector > 0]
    cells = Cells(
        np.flatnonzero(vector)[:, None].astype(np.int32), share, np.array([m]), np.array([ground], dtype=np.int64)
    )
    corners = [np.where(np.arange(m) == code, share.sum(), 0.0) for code in np.flatnonzero(vector)]
    found = bound(cells, range(len(share)), 0)
    assert found == pytest.approx(max(distance(corner, vector, ground) for corner in corners))
    mixed = np.random.default_rng(0).dirichlet(np.ones(len(share)), 20) * share.sum()
    for weights in mixed:
        other = np.zeros(m)
        other[vector > 0] = weights
        assert distance(other, vector, ground) <= found + 1e-9


@settings(max_examples=20)
@given(
    seed=st.integers(0, 9999),
    shape=st.sampled_from([(3, 4), (5, 2), (1, 4), (2, 3, 2)]),
    t=st.sampled_from([0.3, 0.1, 0.02, 0.0]),
    nominal=st.booleans(),
)
def test_every_cut_is_the_one_that_leaves_least_excess(seed, shape, t, nominal):
    rng = np.random.default_rng(seed)
    matrix = rng.integers(0, 4, shape) * (rng.random(shape) < 0.7)
    matrix.flat[0] += 1
    grounds = [ORDERED] * len(shape)
    grounds[-1] = EQUAL if nominal else ORDERED
    cells = cells_of(matrix, grounds)
    limits = np.full(len(shape), t) * np.arange(1, len(shape) + 1)
    order, tree, bounds = find_fragmentation(cells, limits)

    def total(parts):
        return np.array([sum(bound(cells, part, axis) for part in parts) for axis in range(len(shape))])

    def excess(parts):
        return np.maximum(total(parts) - limits, 0).sum()

    parts = [list(range(len(cells.share)))]
    for node in range(1, len(tree), 2):
        assert (total(parts) > limits).any()
        options = []
        for place, part in enumerate(parts):
            for axis in range(len(shape)):
                codes = sorted({int(cells.code[cell, axis]) for cell in part})
                for last in codes[:-1]:
                    lower = [cell for cell in part if cells.code[cell, axis] <= last]
                    upper = [cell for cell in part if cells.code[cell, axis] > last]
                    options.append(excess([*parts[:place], *parts[place + 1 :], lower, upper]))
        lower, upper = (set(order[tree[child, 0] : tree[child, 1]].tolist()) for child in (node, node + 1))
        parts = [part for part in parts if set(part) != lower | upper]
        parts += [sorted(lower), sorted(upper)]
        assert excess(parts) <= min(options) + 1e-9
    assert bounds == pytest.approx(total(parts), abs=1e-9)
    assert (bounds <= limits + 1e-9).all()


@settings(max_examples=30)
@given(data=close_tables(most=40, sensitive=2), t=st.sampled_from([0.4, 0.15, 0.05, 0.0]))
def test_the_boxes_tile_the_space_and_hold_their_cells(data, t):
    parts = SensitiveSpaceFragmentation(other_t=t).fragmentation(data)
    sizes = parts.multiplicity.sizes
    covered = np.zeros(sizes, dtype=int)
    for low, high in parts.boxes.transpose(0, 2, 1):
        covered[tuple(slice(a, b + 1) for a, b in zip(low, high, strict=True))] += 1
    assert (covered == 1).all()
    codes = parts.multiplicity.cells[parts.multiplicity.of_row]
    mine = parts.boxes[parts.of_row]
    assert ((mine[:, :, 0] <= codes) & (codes <= mine[:, :, 1])).all()
    assert parts.counts.sum() == data.n_rows
    for axis in range(2):
        assert sorted(parts.path(axis)) == list(range(len(parts.order)))
        fragment = np.empty(len(parts.order), dtype=int)
        fragment[parts.multiplicity.of_row] = parts.of_row
        along = fragment[parts.path(axis)]
        assert (np.diff(along) != 0).sum() == parts.n_fragments - 1


@settings(max_examples=20)
@given(data=close_tables(most=12, sensitive=2), t=st.sampled_from([0.5, 0.3, 0.1]), repeat=st.integers(2, 4))
def test_no_conforming_class_is_farther_than_the_aggregate_bounds(data, t, repeat):
    """The table repeated: a class with 1/repeat of every fragment exists, drawn at its worst or at random."""
    frame = pd.concat([data.frame] * repeat, ignore_index=True)
    kinds = {name: data.domain[name].kind for name in data.attributes}
    whole = Microdata(frame, roles=data.roles, kinds=kinds)
    grounds = {"pay": "ordered", "illness": "equal"}
    parts = SensitiveFragmentation.search(Multiplicity.of(whole), {"pay": t, "illness": t}, grounds)
    assert (parts.bounds <= t + 1e-9).all()
    rng = np.random.default_rng(0)
    for attempt in range(6):
        codes = whole.codes["pay"] if attempt % 2 else whole.codes["illness"]
        key = rng.random(len(frame)) if attempt > 3 else codes * (1 if attempt < 2 else -1)
        taken = []
        for fragment in range(parts.n_fragments):
            rows = np.flatnonzero(parts.of_row == fragment)
            taken += rows[np.argsort(key[rows], kind="stable")][: len(rows) // repeat].tolist()
        for axis, name in enumerate(parts.multiplicity.attributes):
            size = len(whole.domain[name])
            p = np.bincount(whole.codes[name][taken], minlength=size) / len(taken)
            q = np.bincount(whole.codes[name], minlength=size) / len(frame)
            if size > 1:
                assert distance(p, q, EQUAL if grounds[name] == "equal" else ORDERED) <= parts.bounds[axis] + 1e-9


@settings(max_examples=25)
@given(data=close_tables(most=40, sensitive=2), t=st.sampled_from([0.4, 0.15, 0.05]))
def test_the_bounds_of_the_boxes_add_up_to_the_aggregate_bounds(data, t):
    parts = SensitiveSpaceFragmentation(other_t=t).fragmentation(data)
    assert parts.box_bounds.shape == (parts.n_fragments, 2)
    assert parts.box_bounds.sum(axis=0) == pytest.approx(parts.bounds, abs=1e-9)


@settings(max_examples=25)
@given(data=close_tables(most=40), t=st.sampled_from([0.4, 0.15, 0.05]), sizing=st.sampled_from(["verified", "exact"]))
def test_a_release_tells_the_fragmentation_that_it_was_dealt_from(data, t, sizing):
    model = SensitiveSpaceFragmentation(other_t=t, sizing=sizing, seed=0)
    release = model.anonymize(data)
    again = unpacked(*packed(release), data, model)
    for one in (release, again):
        parts = model.fragmentation_of(one)
        assert release.notes[0].startswith(f"{parts.n_fragments:,} fragments;")
        # Every class has its share of each box, as nearly as whole rows allow.
        held = release.partition.histogram(parts.of_row, parts.n_fragments)
        assert (held.max(axis=0) - held.min(axis=0)).max() <= 1


def test_the_fragmentation_is_the_finer_one_where_two_deal_the_first_classes_alike():
    # So few people fit a deal from three boxes as well as one from four.
    frame = pd.DataFrame({"age": [4, 4, 7, 6, 0], "pay": [0, 1, 0, 0, 1], "illness": list("dadbb")})
    roles = {"age": "quasi-identifier", "pay": "sensitive", "illness": "sensitive"}
    model = SensitiveSpaceFragmentation(other_t=0.25, seed=0)
    release = model.anonymize(Microdata(frame, roles))
    assert release.notes == ("4 fragments; 2 groups, each verified.",)
    assert model.fragmentation_of(release).n_fragments == 4


def test_a_release_of_another_method_has_no_fragmentation():
    frame = pd.DataFrame({"age": range(40), "x": [1, 2, 3, 4] * 10})
    data = Microdata(frame, roles={"age": "quasi-identifier", "x": "sensitive"})
    lumped = generalized(data, data.codes["x"])
    with pytest.raises(ReleaseError, match="does not say from which fragments"):
        SensitiveSpaceFragmentation(other_t=0.05).fragmentation_of(lumped)


def test_exact_sizing_makes_the_50_classes_of_20_rows_of_figure_4_8():
    counts = {(0, 0): 250, (0, 1): 100, (1, 0): 350, (1, 1): 300}
    pairs = [pair for pair, count in counts.items() for _ in range(count)]
    frame = pd.DataFrame(pairs, columns=["x", "y"]).assign(age=np.arange(1000) % 60)
    data = Microdata(frame, roles={"age": "quasi-identifier", "x": "sensitive", "y": "sensitive"})
    release = SensitiveSpaceFragmentation(other_t=0.0, sizing="exact").anonymize(data)
    assert set(release.partition.sizes) == {20}
    assert release.partition.n_groups == 50
    assert privacy.emd(release, "x").max() == pytest.approx(0)


@settings(max_examples=30)
@given(
    data=close_tables(most=40), t=st.sampled_from([0.5, 0.2, 0.08, 0.0]), sizing=st.sampled_from(["verified", "exact"])
)
def test_no_class_is_beyond_its_t(data, t, sizing):
    limits = {"pay": t, "illness": min(1.0, 2 * t)} if len(data.sensitive) == 2 else {"pay": t}
    model = SensitiveSpaceFragmentation(t=limits, sizing=sizing, seed=1)
    release = model.anonymize(data)
    size = len(data.domain["pay"])
    whole = np.bincount(data.codes["pay"], minlength=size)
    for row in release.partition.histogram(data.codes["pay"], size):
        assert plain_ordered(row, whole) <= t + 1e-9
    if "illness" in limits:
        assert privacy.emd(release, "illness", ground="equal").max() <= limits["illness"] + 1e-9
    if sizing == "exact":
        parts = model.fragmentation(data)
        held = release.partition.histogram(parts.of_row, parts.n_fragments)
        assert (held == held[0]).all()
        assert release.partition.n_groups == np.gcd.reduce(parts.counts)


@settings(max_examples=20)
@given(data=close_tables(most=40), k=st.integers(1, 10))
def test_verified_sizing_deals_fragments_evenly_and_keeps_k(data, k):
    k = min(k, data.n_rows)
    model = SensitiveSpaceFragmentation(other_t=0.3, k=k, seed=0)
    release = model.anonymize(data)
    assert release.partition.sizes.min() >= k
    assert np.ptp(release.partition.sizes) <= 1
    even = []
    for fineness in (1.0, 0.5, 0.25):
        parts = model.fragmentation(data, fineness)
        even.append(np.ptp(release.partition.histogram(parts.of_row, parts.n_fragments), axis=0).max() <= 1)
    assert any(even)


def test_row_order_does_not_matter():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"age": rng.integers(0, 50, 200), "x": rng.integers(0, 9, 200), "y": rng.integers(0, 9, 200)})
    data = Microdata(frame, roles={"age": "quasi-identifier", "x": "sensitive", "y": "sensitive"})
    model = SensitiveSpaceFragmentation(seed=2)
    assert contents(model.anonymize(data)) == contents(model.anonymize(shuffled(data, 1)))


def test_names_and_distances_are_checked():
    frame = pd.DataFrame({"age": range(4), "x": [1, 2, 3, 4], "y": list("abab")})
    data = Microdata(frame, roles={"age": "quasi-identifier", "x": "sensitive", "y": "sensitive"})
    with pytest.raises(DataError, match="'age' is not tagged as sensitive"):
        SensitiveSpaceFragmentation(t={"age": 0.1}).anonymize(data)
    with pytest.raises(ParameterError):
        SensitiveSpaceFragmentation(t={"x": 1.5})
    chosen = SensitiveSpaceFragmentation(t={"x": 0.1}).closeness(data)
    assert [(one.attribute, one.t, one.ground) for one in chosen] == [("x", 0.1, "ordered"), ("y", 0.2, "equal")]
    asked = SensitiveSpaceFragmentation(grounds={"y": "ordered"}).closeness(data)
    assert asked[1].ground == "ordered"


def test_it_stops_when_asked():
    frame = pd.DataFrame({"age": range(50), "x": range(50)})
    data = Microdata(frame, roles={"age": "quasi-identifier", "x": "sensitive"})

    def stop(done: float, text: str) -> None:
        if done > 0.3:
            raise CancelledError("stop")

    with pytest.raises(CancelledError):
        SensitiveSpaceFragmentation().anonymize(data, stop)


@needs_heart
def test_heart_gets_at_least_120_classes_where_exact_sizing_gets_one():
    heart = table("heart")
    data = Microdata(heart.load(), roles=heart.roles, kinds=heart.kinds, orders=heart.orders)
    model = SensitiveSpaceFragmentation(t={"trestbps": 0.1, "chol": 0.1}, seed=0)
    release = model.anonymize(data)
    assert release.partition.n_groups >= 120
    for name in ("trestbps", "chol"):
        assert privacy.emd(release, name, ground="ordered").max() <= 0.1 + 1e-9
    assert model.replace(sizing="exact").anonymize(data).partition.n_groups == 1


def test_missing_values_take_part():
    frame = pd.DataFrame({"age": range(40), "x": [1.0, 2.0, None, 4.0] * 10})
    data = Microdata(frame, roles={"age": "quasi-identifier", "x": "sensitive"})
    release = SensitiveSpaceFragmentation(t={"x": 0.0}).anonymize(data)
    assert release.partition.n_groups == 10
    assert all(sorted(data.codes["x"][release.partition.rows(g)]) == [0, 1, 2, 3] for g in range(10))


def test_three_attributes_are_kept_close():
    frame = pd.DataFrame(list(product(range(4), range(3), range(5))), columns=["x", "y", "z"]).assign(age=1)
    data = Microdata(
        pd.concat([frame] * 4, ignore_index=True),
        roles={"age": "quasi-identifier", **dict.fromkeys("xyz", "sensitive")},
    )
    release = SensitiveSpaceFragmentation(other_t=0.15, seed=0).anonymize(data)
    assert max(privacy.emd(release, name).max() for name in "xyz") <= 0.15 + 1e-9
    assert release.partition.n_groups > 10
