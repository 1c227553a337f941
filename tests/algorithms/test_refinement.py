"""Refined classes: by hand, no single move left that would lower the loss, and every requirement kept."""

from __future__ import annotations

from contextlib import contextmanager
from unittest import mock

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anoncore import (
    AnonymizationError,
    CancelledError,
    DataError,
    Hierarchy,
    Microdata,
    ParameterError,
    Partition,
    privacy,
)
from anoncore.algorithms import LocalRecoding, Mondrian, RothkoTree, refinement
from anoncore.algorithms.base import generalized_release
from anoncore.algorithms.refined_work import LEAST_SAVED, RefinedCells, _classes, _rows
from anoncore.algorithms.refinement import _at_once, _second_part, order_of_rows, refined
from anoncore.base.progress import silent
from anoncore.kernels.refining import CHANGED, EVERYTHING, NEAR_CHANGED, refine_classes
from anoncore.requirements import (
    BetaLikeness,
    CheckSet,
    DistinctDiversity,
    EntropyDiversity,
    FrequencyDiversity,
    KAnonymity,
    TCloseness,
    VarianceDiversity,
)
from anoncore.utility import information_loss
from tests.benchmarks.mondrian import ARX_QUASI, hierarchy
from tests.requirements.tables import misleading_index
from tests.shared_data import FOLDER, needs

TREE = {"low": ["a", "b"], "high": {"odd": ["c"], "even": ["d", "e"]}}
NAMES = ("age", "town", "grade")
REQUIREMENTS = [
    (KAnonymity(k=2),),
    (KAnonymity(k=3),),
    (DistinctDiversity(l=2),),
    (FrequencyDiversity(l=1.5), KAnonymity(k=2)),
    (EntropyDiversity(l=1.6),),
    (TCloseness(t=0.35),),
    (BetaLikeness(beta=0.7),),
    (KAnonymity(k=2), TCloseness(t=0.4, ground="equal")),
]
METHODS = [
    Mondrian(),
    Mondrian(split="loss"),
    Mondrian(strict=True),
    Mondrian(split="infogain", target="s"),
    LocalRecoding(),
    LocalRecoding(most_nodes=1),
]


@st.composite
def tables(draw, several_rows=False, most=18):
    n = draw(st.integers(4, most))
    columns = {
        "age": st.integers(20, 29) | st.none(),
        "town": st.sampled_from(["u", "v", "w", None]),
        "grade": st.sampled_from("abcde"),
        "s": st.sampled_from("xyz"),
    }
    cells = {name: draw(st.lists(values, min_size=n, max_size=n)) for name, values in columns.items()}
    frame = pd.DataFrame({name: pd.Series(values, dtype=object) for name, values in cells.items()})
    frame["age"] = frame["age"].astype("Float64")
    frame.index = pd.Index(misleading_index(n))
    roles = dict.fromkeys(NAMES, "quasi-identifier") | {"s": "sensitive"}
    if several_rows:
        frame["who"] = draw(st.lists(st.integers(0, 2 * n // 3), min_size=n, max_size=n))
    trees = {"grade": Hierarchy.from_nested(TREE)} if draw(st.booleans()) else {}
    return Microdata(
        frame, roles=roles, kinds={"age": "numeric"}, hierarchies=trees, unit="who" if several_rows else None
    )


@contextmanager
def in_parts(is_apart):
    """Let tables of two classes be refined in two parts, as only large ones are."""
    with mock.patch.object(refinement, "MANY_CLASSES", 2 if is_apart else refinement.MANY_CLASSES):
        yield


def loss_of(data, group):
    partition = Partition(np.unique(group, return_inverse=True)[1].astype(np.int32))
    return float(information_loss(generalized_release(Mondrian(), data, partition)))


def holds(data, requirements, group):
    partition = Partition(np.unique(group, return_inverse=True)[1].astype(np.int32))
    return all(one.holds(one.levels(partition)).all() for one in CheckSet(requirements, data).checks)


def best_move(data, requirements, group):
    """The least loss after any single allowed move, by trying every row in every other class."""
    least = loss_of(data, group)
    for row in range(data.n_rows):
        for target in np.unique(group):
            moved = group.copy()
            moved[row] = target
            if holds(data, requirements, moved):
                least = min(least, loss_of(data, moved))
    return least


@pytest.mark.slow
@settings(max_examples=30)
@given(
    data=tables(), requirements=st.sampled_from(REQUIREMENTS), method=st.sampled_from(METHODS), is_apart=st.booleans()
)
def test_no_single_move_is_left_that_saves_anything(data, requirements, method, is_apart):
    try:
        plain = method.replace(requirements=requirements).anonymize(data)
    except AnonymizationError:
        return
    with in_parts(is_apart):
        group = refined(data, plain.partition, requirements, silent).group
    assert holds(data, requirements, group)
    # A last round may still have saved a little, after which none follows.
    assert best_move(data, requirements, group) >= loss_of(data, group) - LEAST_SAVED - 1e-9


@pytest.mark.slow
@settings(max_examples=100)
@given(
    data=tables(most=40),
    requirements=st.sampled_from(REQUIREMENTS),
    method=st.sampled_from(METHODS),
    is_apart=st.booleans(),
)
def test_refined_releases_keep_what_is_asked_and_never_lose_more(data, requirements, method, is_apart):
    try:
        plain = method.replace(requirements=requirements).anonymize(data)
    except AnonymizationError:
        return
    with in_parts(is_apart):
        release = method.replace(requirements=requirements, refine=True).anonymize(data)
    assert privacy.check(release, requirements) == ()
    assert information_loss(release) <= information_loss(plain) + 1e-12


@pytest.mark.slow
@settings(max_examples=20)
@given(
    data=tables(several_rows=True),
    requirements=st.sampled_from(REQUIREMENTS),
    method=st.sampled_from(METHODS[:2]),
    is_apart=st.booleans(),
)
def test_people_are_counted_where_they_have_several_rows(data, requirements, method, is_apart):
    try:
        plain = method.replace(requirements=requirements).anonymize(data)
    except AnonymizationError:
        return
    with in_parts(is_apart):
        group = refined(data, plain.partition, requirements, silent).group
    assert holds(data, requirements, group)
    assert loss_of(data, group) <= loss_of(data, plain.partition.group) + 1e-12


def test_a_row_moves_to_the_class_that_it_fits_by_hand():
    # 30 stands in the class 20-30 of three people, which would be 20-21 without it; the other class becomes 30-41
    # instead of 40-41. Before: 3 cells of 10/21 and 2 of 1/21; after: 2 of 1/21 and 3 of 11/21. That does not pay. With
    # 38 instead of 30 it does: before 3 * 18 + 2 * 1, after 2 * 1 + 3 * 3 in units of 1/21.
    for third, expected in ((30, [[20, 21, 30], [40, 41]]), (38, [[20, 21], [38, 40, 41]])):
        ages = [20, 21, third, 40, 41]
        data = Microdata(pd.DataFrame({"age": ages}), roles={"age": "quasi-identifier"})
        found = refined(data, Partition([0, 0, 0, 1, 1]), (KAnonymity(k=2),), silent).group
        assert [[age for age, own in zip(ages, found, strict=True) if own == c] for c in np.unique(found)] == expected


def test_a_class_between_two_others_is_dissolved_by_hand():
    # 20-20 and 40-40 have two people each, 22 and 38 are a class of 16/20: with the others, two classes of 2/20 each.
    ages = [20, 20, 22, 38, 40, 40]
    data = Microdata(pd.DataFrame({"age": ages}), roles={"age": "quasi-identifier"})
    found = refined(data, Partition([0, 0, 1, 1, 2, 2]), (KAnonymity(k=2),), silent)
    assert found.n_groups == 2
    assert found.group.tolist() == [0, 0, 0, 1, 1, 1]


def test_rows_that_share_what_widens_their_class_leave_together_by_hand():
    # Without one of the two 40s the class 20-40 is no narrower; without both it is 20-21. Alone, neither row saves more
    # by leaving a class of 20/21 than it costs to join one of 1/21: 20 before, and 2 * 1 + 21 - 1 = 21 after.
    ages = [20, 21, 20, 40, 40, 41, 41, 40]
    data = Microdata(pd.DataFrame({"age": ages}), roles={"age": "quasi-identifier"})
    found = refined(data, Partition([0, 0, 0, 0, 0, 1, 1, 1]), (KAnonymity(k=3),), silent).group
    assert found.tolist() == [0, 0, 0, 1, 1, 1, 1, 1]


def test_a_node_below_that_of_the_class_leaves_together_by_hand():
    # d and e are together the node "even": only when both left is the first class a node lower than the root.
    grades = list("aabdebde")
    data = Microdata(
        pd.DataFrame({"grade": grades, "n": range(8)}),
        roles={"grade": "quasi-identifier"},
        hierarchies={"grade": Hierarchy.from_nested(TREE)},
    )
    found = refined(data, Partition([0, 0, 0, 0, 0, 0, 1, 1]), (KAnonymity(k=2),), silent).group
    assert found.tolist() == [0, 0, 0, 1, 1, 0, 1, 1]


def test_rows_of_two_full_classes_exchange_their_places_by_hand():
    # Each class has as many people as it must, so that nobody can leave alone.
    ages = [20, 21, 41, 40, 42, 22]
    data = Microdata(pd.DataFrame({"age": ages}), roles={"age": "quasi-identifier"})
    found = refined(data, Partition([0, 0, 0, 1, 1, 1]), (KAnonymity(k=3),), silent).group
    assert found.tolist() == [0, 0, 1, 1, 1, 0]


@pytest.mark.slow
@settings(max_examples=75)
@given(data=tables(most=40), requirements=st.sampled_from(REQUIREMENTS), method=st.sampled_from(METHODS))
def test_what_classes_cover_and_lose_is_that_of_their_rows_after_every_round(data, requirements, method):
    try:
        plain = method.replace(requirements=requirements).anonymize(data)
    except AnonymizationError:
        return
    checks, cells = CheckSet(requirements, data), RefinedCells.of(data)
    order = order_of_rows(data, plain.partition)
    rows = _rows(cells, checks, order)
    classes = _classes(rows, cells.domains, plain.partition.group[order], int(checks.kernel.count_start[-1]))
    for scope in (EVERYTHING, CHANGED, NEAR_CHANGED, EVERYTHING):
        before = float(classes.loss @ classes.size)
        saved = refine_classes(rows, classes, 0, len(classes.size), scope, checks.kernel)
        assert saved == pytest.approx(before - float(classes.loss @ classes.size), abs=1e-9)
        anew = _classes(rows, cells.domains, classes.group, int(checks.kernel.count_start[-1]))
        used = np.unique(classes.group, return_index=True)
        mine = used[0][np.argsort(used[1])]
        np.testing.assert_allclose(classes.loss[mine], anew.loss, atol=1e-9)
        for name in ("low", "high", "node", "bits", "size", "tallies"):
            np.testing.assert_array_equal(getattr(classes, name)[mine], getattr(anew, name))
        np.testing.assert_array_equal(classes.standing, _at_places(rows.places, classes.group))


def _at_places(places, group):
    standing = np.empty_like(places)
    for one, own in zip(standing, places, strict=True):
        one[own] = group
    return standing


def test_a_move_that_would_break_a_requirement_is_not_made():
    ages, secret = [20, 21, 38, 40, 41], ["x", "x", "y", "x", "y"]
    data = Microdata(pd.DataFrame({"age": ages, "s": secret}), roles={"age": "quasi-identifier", "s": "sensitive"})
    wanted = (DistinctDiversity(l=2),)
    assert refined(data, Partition([0, 0, 0, 1, 1]), wanted, silent).group.tolist() == [0, 0, 0, 1, 1]


def test_variance_diversity_is_kept_too():
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"age": rng.integers(20, 60, 80), "pay": rng.normal(10, 3, 80).round(1)})
    data = Microdata(frame, roles={"age": "quasi-identifier", "pay": "sensitive"})
    wanted = (KAnonymity(k=3), VarianceDiversity(v=4.0))
    release = Mondrian(requirements=wanted, split="median", refine=True).anonymize(data)
    assert privacy.check(release, wanted) == ()


@pytest.mark.parametrize("is_apart", [False, True])
@pytest.mark.parametrize("method", [Mondrian(split="loss"), Mondrian(), LocalRecoding()])
def test_the_order_of_the_rows_does_not_matter(method, is_apart):
    rng = np.random.default_rng(8)
    frame = pd.DataFrame(
        {"age": rng.integers(20, 50, 90), "town": rng.choice(list("uvw"), 90), "s": rng.choice(list("xyz"), 90)}
    )
    roles = {"age": "quasi-identifier", "town": "quasi-identifier", "s": "sensitive"}
    model = method.replace(requirements=(KAnonymity(k=3), DistinctDiversity(l=2)), refine=True)
    with in_parts(is_apart):
        published = [
            model.anonymize(Microdata(one, roles=roles)).tables()["release"]
            for one in (frame, frame.iloc[rng.permutation(90)], frame.iloc[::-1])
        ]
    pd.testing.assert_frame_equal(published[0], published[1])
    pd.testing.assert_frame_equal(published[0], published[2])


def test_what_does_not_fit_refinement_says_so():
    data = Microdata(pd.DataFrame({"age": [1, 2, 3, 4]}), roles={"age": "quasi-identifier"})
    wanted = (KAnonymity(k=2),)
    with pytest.raises(DataError, match="do not refine"):
        Mondrian(requirements=wanted, recoding="regions", refine=True).anonymize(data)
    with pytest.raises(ParameterError, match="refine stays off"):
        RothkoTree(requirements=wanted, refine=True)

    def stop(share, text):
        if text.startswith("Refining"):
            raise CancelledError("stopped")

    with pytest.raises(CancelledError):
        Mondrian(requirements=wanted, refine=True).anonymize(data, stop)
    for method in (Mondrian(requirements=wanted, refine=True), LocalRecoding(requirements=wanted, refine=True)):
        assert method.refusals(method.anonymize(data)) is None
        knowledge = method.cell_knowledge(method.anonymize(data))
        assert knowledge.is_lowest
        assert (knowledge.some_below, knowledge.all_below, knowledge.takes_all) == (0, 0, False)


def test_rows_join_classes_of_the_other_part_by_hand():
    # The only class of the first part is that of 20, 21 and 38. 38 joins 40 and 41, and then 41 joins the two of 42:
    # what is lost is 2 * 1 + 2 * 2 + 3 * 1 in units of 1/22; with 41 it would be 2 * 1 + 3 * 3.
    ages = [20, 21, 38, 40, 41, 42, 42]
    data = Microdata(pd.DataFrame({"age": ages}), roles={"age": "quasi-identifier"})
    with in_parts(True):
        found = refined(data, Partition([0, 0, 0, 1, 1, 2, 2]), (KAnonymity(k=2),), silent).group
    assert found.tolist() == [0, 0, 1, 1, 2, 2, 2]
    assert _second_part(np.array([[0], [1], [2], [3]]), np.array([0, 0, 1, 1])).tolist() == [False, False, True, True]


def test_classes_that_all_cover_everything_are_halved_too():
    codes = np.tile(np.array([[0], [9]], dtype=np.int32), (6, 1))
    second = _second_part(codes, np.repeat(np.arange(6, dtype=np.int32), 2))
    assert second.tolist() == [False] * 6 + [True] * 6


def test_what_stops_one_part_stops_the_other_and_is_told():
    def failing(progress):
        raise ValueError("what went wrong")

    def endless(progress):
        while True:
            progress(0.5, "still at it")

    with pytest.raises(ValueError, match="what went wrong"):
        _at_once([endless, failing], silent)

    def stop(share, text):
        raise CancelledError("stopped by the visitor")

    with pytest.raises(CancelledError, match="stopped by the visitor"):
        _at_once([endless, endless], stop)


ADULT = [
    (False, 5, 0.0148, 0.0125),
    (False, 10, 0.0295, 0.0246),
    (True, 5, 0.0136, 0.0118),
    (True, 10, 0.0264, 0.0228),
]


@pytest.mark.slow
@needs("hierarchies", "adult.csv")
@pytest.mark.parametrize(("in_order", "k", "before", "at_most"), ADULT)
def test_less_is_lost_on_adult(in_order, k, before, at_most):
    """The first 30,162 rows with eight quasi-identifiers, categories in the order of ARX's hierarchies or in none."""
    frame = pd.read_csv(FOLDER / "adult.csv").head(30_162)
    orders = {name: hierarchy(name).leaves for name in ARX_QUASI if name != "age"} if in_order else {}
    data = Microdata(frame, roles=dict.fromkeys(ARX_QUASI, "quasi-identifier"), orders=orders)
    model = Mondrian(requirements=(KAnonymity(k=k),), split="loss")
    assert information_loss(model.anonymize(data)) == pytest.approx(before, abs=5e-5)
    release = model.replace(refine=True).anonymize(data)
    assert information_loss(release) <= at_most
    assert release.partition.sizes.min() >= k
