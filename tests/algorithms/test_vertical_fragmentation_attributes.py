"""Which attributes go into which fragment."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anoncore import DataError, Microdata
from anoncore.algorithms.vertical.attribute_fragments import fragment_attributes, fragments_by_data, given_fragments
from anoncore.datasets import table


def random_table(seed, n_attributes=5, n=40):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({f"q{i}": rng.integers(0, 4, n) for i in range(n_attributes)})
    frame["c"] = rng.choice(list("abc"), n)
    return Microdata(frame, {**dict.fromkeys(frame.columns[:-1], "quasi-identifier"), "c": "sensitive"})


def plain_fmrmr(information, fragments):
    """V and W written out, pair by pair."""
    total = 0.0
    for names in fragments:
        relevance = sum(information.loc["c", j] for j in names) / len(names)
        redundancy = sum(information.loc[k, j] for k in names for j in names) / len(names) ** 2
        total += relevance - redundancy
    return total


def plain_greedy(information, names, number):
    """Algorithm 1 of the paper, from minus infinity, without incremental sums."""
    chosen = list(max(combinations(names, 2), key=lambda pair: information.loc[pair]))
    while len(chosen) < number:
        left = [name for name in names if name not in chosen]
        chosen.append(max(left, key=lambda name: min(information.loc[name, seed] for seed in chosen)))
    fragments = [[seed] for seed in chosen]
    left = [name for name in names if name not in chosen]
    while left:
        before = plain_fmrmr(information, fragments)
        best = (-np.inf, None, None)
        for name in left:
            for place in range(number):
                after = [[*members, name] if i == place else members for i, members in enumerate(fragments)]
                contribution = plain_fmrmr(information, after) - before
                if contribution > best[0] + 1e-12:
                    best = (contribution, name, place)
        fragments[best[2]].append(best[1])
        left.remove(best[1])
    return {frozenset(members) for members in fragments}


def test_a_worked_example():
    # a and b are equal and have the most information, so they are the seeds. c comes next: it offers the same to either
    # fragment, so it goes to the first. d equals c, so it goes to the other one.
    rng = np.random.default_rng(1)
    a, c = rng.integers(0, 4, 200), rng.integers(0, 2, 200)
    frame = pd.DataFrame({"a": a, "b": a, "c": c, "d": c, "class": rng.choice(["x", "y"], 200)})
    data = Microdata(frame, {**dict.fromkeys("abcd", "quasi-identifier"), "class": "sensitive"})
    found = fragment_attributes(data, "class")
    assert found.seeds == ("a", "b")
    assert found.fragments == (("a", "c"), ("b", "d"))
    assert found.placed["attribute"].tolist() == ["c", "d"]
    assert found.placed["fragment"].tolist() == [0, 1]


@pytest.mark.slow
@settings(max_examples=30)
@given(st.integers(0, 10_000), st.integers(2, 4))
def test_the_greedy_search_is_that_of_the_paper(seed, number):
    data = random_table(seed)
    found = fragment_attributes(data, "c", number)
    assert {frozenset(names) for names in found.fragments} == plain_greedy(
        found.information, data.quasi_identifiers, number
    )
    assert sorted(name for names in found.fragments for name in names) == sorted(data.quasi_identifiers)
    assert found.fmrmr == pytest.approx(plain_fmrmr(found.information, found.fragments))
    # The contributions add up from the seeds to the whole.
    seeds = plain_fmrmr(found.information, [[seed] for seed in found.seeds])
    assert found.fmrmr == pytest.approx(seeds + found.placed["contribution"].sum())


def test_it_ends_although_contributions_are_negative():
    # The seeds have an entropy of ln 2 each; every other attribute has much more and nothing to do with them.
    rng = np.random.default_rng(0)
    seed = rng.choice(["x", "y"], 1_000)
    frame = pd.DataFrame({"a": seed, "b": seed} | {f"q{i}": rng.choice(list("abcdefghijkl"), 1_000) for i in range(4)})
    frame["c"] = "same"
    data = Microdata(frame, {**dict.fromkeys(frame.columns[:-1], "quasi-identifier"), "c": "sensitive"})
    found = fragment_attributes(data, "c")
    assert found.seeds == ("a", "b")
    assert (found.placed["contribution"] < 0).any()
    assert sum(map(len, found.fragments)) == 6


def test_other_attributes_are_placed_after_the_quasi_identifiers():
    data = random_table(3)
    roles = {"q0": "insensitive", "q1": "sensitive", **dict.fromkeys(["q2", "q3", "q4"], "quasi-identifier")}
    other = Microdata(data.frame, {**roles, "c": "sensitive"})
    found = fragment_attributes(other, "c")
    assert set(found.placed["attribute"][-2:]) == {"q0", "q1"}
    assert all(set(names) & {"q2", "q3", "q4"} for names in found.fragments)


def test_blocks_of_three_correlated_measurements_ask_for_three_fragments_or_more():
    entry = table("wide")
    data = Microdata(entry.load(n_rows=1_000), entry.roles, entry.kinds)
    by_data = fragment_attributes(data, "diagnosis", None)
    assert len(by_data.fragments) >= 3
    assert len(by_data.fragments) == fragments_by_data(by_data.information, "diagnosis", data.quasi_identifiers)
    # With three fragments, no two measurements of a block of three share one.
    for names in fragment_attributes(data, "diagnosis", 3).fragments:
        assert len({name[:3] for name in names}) == len(names)


def test_fragments_by_hand():
    data = random_table(0)
    found = given_fragments(data, "c", [["q0", "q1"], ["q2", "q3", "q4"]])
    assert found.fragments == (("q0", "q1"), ("q2", "q3", "q4"))
    assert found.seeds == (None, None)


@pytest.mark.parametrize(
    ("fragments", "message"),
    [
        ([["q0", "q1"], ["q2", "q3", "x"]], "name 'x', which the table lacks"),
        ([["q0", "q1", "c"], ["q2", "q3", "q4"]], "'c' is the class attribute and part of every fragment"),
        ([["q0", "q1"], ["q1", "q2", "q3", "q4"]], "share 'q1'"),
        ([["q0", "q1"], ["q2", "q3"]], "No fragment has 'q4'"),
        ([["q0", "q1", "q2", "q3", "q4"], []], "needs a quasi-identifier; this one has nothing"),
    ],
)
def test_fragments_by_hand_that_do_not_fit(fragments, message):
    with pytest.raises(DataError, match=message):
        given_fragments(random_table(0), "c", fragments)


def test_too_few_quasi_identifiers():
    with pytest.raises(DataError, match="3 fragments need as many quasi-identifiers, but the table has 2"):
        fragment_attributes(random_table(0, n_attributes=2), "c", 3)
