"""The same promises asked of every method: what it takes over, and what follows from what it promises."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anoncore import AnonymizationError, Microdata, ParameterError, Partition, privacy
from anoncore.algorithms import ALGORITHMS, Mondrian, Slicing, Suppression
from anoncore.measures.promise_marks import is_promised
from anoncore.requirements import (
    DistinctDiversity,
    EntropyDiversity,
    FrequencyDiversity,
    KAnonymity,
    RecursiveDiversity,
    TCloseness,
)
from anoncore.search.keeping import asked, can_leave_out, keeping, possible_instead, promises_alike
from tests.properties.subjects import EVERYWHERE

LEVELS = {"k": 4, "l": 2, "t": 0.6}


@pytest.fixture(scope="module")
def data() -> Microdata:
    draw = np.random.default_rng(5)
    people = pd.DataFrame(
        {
            "age": draw.integers(20, 60, 240),
            "town": draw.choice(list("ABCDE"), 240),
            "illness": draw.choice(["flu", "cold", "gout", "burn"], 240),
        }
    )
    return Microdata(people, roles={"age": "quasi-identifier", "town": "quasi-identifier", "illness": "sensitive"})


@pytest.mark.parametrize("name", EVERYWHERE)
def test_what_a_method_is_said_to_promise_holds_in_its_release(name, data):
    if name == "foreground-safe":
        algorithm = keeping(name, {"tolerance": 1.0}, LEVELS, (), data)
    else:
        algorithm = keeping(name, {}, LEVELS, (), data)
    algorithm = possible_instead(algorithm, data) or algorithm
    try:
        release = algorithm.anonymize(data)
    except AnonymizationError:
        pytest.skip("this method has no release of so small a table")
    for wanted in asked(LEVELS, (), data):
        if is_promised(wanted, algorithm.promises(data), data):
            judged = [one for one in privacy.guarantees(release, [wanted]) if one.requirement == wanted]
            assert judged
            assert all(one.holds for one in judged)


@pytest.mark.parametrize("name", ALGORITHMS)
def test_people_may_be_left_out_by_every_method_where_that_makes_sense(name, data):
    plain = keeping(name, {}, LEVELS, (), data)
    found = keeping(name, {}, LEVELS, (), data, 0.05)
    if name in ("incognito", "optimal-recoding"):
        assert found == plain.replace(max_suppression=0.05)
    elif name == "suppression":
        assert found == plain
        assert found.promises(data) == asked(LEVELS, (), data)
    elif can_leave_out(name):
        assert plain.family == "generalization"
        assert found == Suppression(method=plain, max_suppression=0.05)
        assert found.promises(data) == plain.promises(data)
    else:
        without_regions = (
            "bucketization",
            "slicing",
            "fragmentation",
            "generalization with distortion",
            "distortion",
            "synthesis",
            "defence",
        )
        assert plain.family in without_regions
        assert found == plain


def test_methods_with_requirements_take_all_of_them_and_others_their_own_levels(data):
    more = (EntropyDiversity(l=1.5),)
    mondrian = keeping("mondrian", {"strict": True}, LEVELS, more, data)
    assert mondrian.strict
    assert mondrian.requirements == (
        KAnonymity(k=4),
        FrequencyDiversity(l=2),
        TCloseness(t=0.6, ground="equal"),
        *more,
    )
    anatomy = keeping("anatomy", {}, LEVELS, more, data)
    assert anatomy.l == 2
    dealt = keeping("stack-and-deal", {}, LEVELS, (), data)
    assert dealt.k == 4
    # Its own l is about what is believed of each person, which bounds in each bucket alone do not give. Its k would be
    # that of buckets, in which everybody is found who is known.
    sliced = keeping("slicing", {}, LEVELS, more, data)
    assert (sliced.l, sliced.requirements) == (2, (TCloseness(t=0.6, ground="equal"), *more))
    assert keeping("slicing", {"l": 1.5}, {}, (), data) == Slicing(l=1.5)
    closeness = keeping("sensitive-space-fragmentation", {}, LEVELS, (), data)
    assert (closeness.k, closeness.t, closeness.other_t) == (1, {}, 0.6) or closeness.k == 4
    # What nobody asks for stays what the method itself has.
    assert keeping("anatomy", {"l": 3}, {"k": 4}, (), data).l == 3


def test_a_c_asks_for_recursive_diversity_in_the_place_of_the_bound_by_one_over_l(data):
    levels = {"k": 4, "l": 2, "c": 3.0, "t": 0.6}
    recursive = RecursiveDiversity(c=3.0, l=2)
    assert asked(levels, (), data) == (KAnonymity(k=4), recursive, TCloseness(t=0.6, ground="equal"))
    assert asked({"c": 1.5}, (), data) == (RecursiveDiversity(c=1.5, l=2),)
    assert keeping("mondrian", {}, levels, (), data).requirements == asked(levels, (), data)
    # A method with an l of its own keeps that, and is judged by what was asked.
    sliced = keeping("slicing", {}, levels, (), data)
    assert (sliced.l, sliced.requirements) == (2, (recursive, TCloseness(t=0.6, ground="equal")))
    assert keeping("anatomy", {}, levels, (), data).l == 2


def test_levels_of_secrets_stand_for_nothing_without_a_secret():
    plain = Microdata(pd.DataFrame({"age": [21, 22, 23, 44]}), roles={"age": "quasi-identifier"})
    assert asked(LEVELS, (), plain) == (KAnonymity(k=4),)
    assert keeping("mondrian", {}, LEVELS, (), plain).requirements == (KAnonymity(k=4),)


def test_a_method_that_needs_requirements_says_so(data):
    with pytest.raises(ParameterError, match="Mondrian needs something to keep; ask for k, l or t"):
        keeping("mondrian", {}, {}, (), data)


def test_only_parameters_that_nobody_asked_for_may_change(data):
    wide = Microdata(
        # Age tells the illness, and the usual columns publish both together.
        pd.DataFrame({"age": list(range(8)) * 2, "rank": range(16), "illness": list("abcdefgh") * 2}),
        roles={"age": "quasi-identifier", "rank": "quasi-identifier", "illness": "sensitive"},
    )
    wanted = Slicing(l=2)
    instead = possible_instead(wanted, wide)
    assert instead is not None
    assert instead.l == wanted.l
    assert instead != wanted
    assert promises_alike(wanted, instead)
    assert not promises_alike(wanted, instead.replace(l=3))
    assert not promises_alike(wanted, Mondrian(requirements=[KAnonymity(k=2)]))
    assert instead.anonymize(wide).fragments
    impossible = Mondrian(requirements=[FrequencyDiversity(l=50)])
    assert possible_instead(impossible, data) is None
    assert possible_instead(Mondrian(requirements=[KAnonymity(k=2)]), data) is None


LEVEL = st.integers(2, 4)


@given(counts=st.lists(st.integers(0, 6), min_size=2, max_size=5), l=LEVEL, other=LEVEL)
def test_one_diversity_implies_another_only_where_every_group_says_so(counts, l, other):
    # A group with these counts keeps the promise; then it must keep whatever the promise is said to imply.
    total = sum(counts)
    if total == 0:
        return
    shares = [count / total for count in counts if count]
    held = {
        DistinctDiversity: lambda level: len(shares) >= level,
        FrequencyDiversity: lambda level: max(shares) <= 1 / level + 1e-12,
        EntropyDiversity: lambda level: -sum(p * np.log(p) for p in shares) >= np.log(level) - 1e-12,
    }
    data = Microdata(pd.DataFrame({"q": [1, 2], "s": ["a", "b"]}), roles={"q": "quasi-identifier", "s": "sensitive"})
    for promise, wanted in itertools.product(held, held):
        if is_promised(wanted(l=other), [promise(l=l)], data) and held[promise](l):
            assert held[wanted](other)


def test_promises_about_other_attributes_or_distances_imply_nothing(data):
    assert is_promised(TCloseness(t=0.3), [TCloseness(t=0.2)], data)
    assert not is_promised(TCloseness(t=0.3), [TCloseness(t=0.4)], data)
    assert not is_promised(TCloseness(t=0.3), [TCloseness(t=0.2, ground="ordered")], data)
    assert not is_promised(DistinctDiversity(l=2), [DistinctDiversity(l=2, attribute="town")], data)
    assert is_promised(DistinctDiversity(l=2, attribute="illness"), [DistinctDiversity(l=2)], data)
    assert not is_promised(KAnonymity(k=5), [KAnonymity(k=4)], data)
    assert is_promised(RecursiveDiversity(c=3, l=2), [RecursiveDiversity(c=2, l=3)], data)
    assert not is_promised(RecursiveDiversity(c=3, l=3), [RecursiveDiversity(c=2, l=2)], data)


@pytest.fixture(scope="module")
def two_secrets() -> Microdata:
    """A table with a secret number and a secret category."""
    draw = np.random.default_rng(7)
    people = pd.DataFrame(
        {
            "age": draw.integers(20, 60, 200),
            "income": draw.permutation(np.arange(200)),
            "religion": draw.choice(["none", "catholic", "muslim"], 200),
        }
    )
    return Microdata(people, roles={"age": "quasi-identifier", "income": "sensitive", "religion": "sensitive"})


def test_a_t_is_asked_of_each_secret_by_the_distance_that_fits_it(data, two_secrets):
    of_income = TCloseness(t=0.3, ground="ordered", attribute="income")
    of_religion = TCloseness(t=0.3, ground="equal", attribute="religion")
    assert asked({"t": 0.3}, (), two_secrets) == (of_income, of_religion)
    algorithm = keeping("mondrian", {}, {"k": 5, "t": 0.3}, (), two_secrets)
    assert algorithm.requirements == (KAnonymity(k=5), of_income, of_religion)
    # By the distance in which any two of 200 incomes are 1 apart, no class of less than 140 people is close.
    assert algorithm.anonymize(two_secrets).partition.n_groups > 4
    # Where all secrets are of one kind, one requirement is about all of them.
    assert asked({"t": 0.3}, (), data) == (TCloseness(t=0.3, ground="equal"),)


@given(
    st.lists(st.integers(0, 3), min_size=2, max_size=12), st.integers(1, 3), st.sampled_from(["ordered", "interval"])
)
def test_groups_that_are_close_where_all_values_are_one_apart_are_close_by_any_distance(numbers, size, ground):
    people = pd.DataFrame({"age": range(len(numbers)), "pay": numbers})
    data = Microdata(people, roles={"age": "quasi-identifier", "pay": "sensitive"})
    groups = Partition(np.arange(len(numbers)) // size)
    of_equal, of_ground = (TCloseness(t=0.5, ground=one).checks(data)[0].levels(groups) for one in ("equal", ground))
    assert (of_ground <= of_equal + 1e-12).all()
    assert is_promised(TCloseness(t=0.3, ground=ground), (TCloseness(t=0.3, ground="equal"),), data)
    assert not is_promised(TCloseness(t=0.3, ground="equal"), (TCloseness(t=0.3, ground=ground),), data)
