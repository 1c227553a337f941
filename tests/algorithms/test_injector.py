"""Injector: rules against counting, buckets against every assignment of their values."""

from __future__ import annotations

from itertools import combinations, permutations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anoncore import DataError, InfeasibleError, Microdata, privacy
from anoncore.algorithms import Injector
from anoncore.algorithms.bucketization.injector import NegativeRules, fewest_valid_values, mine_negative_rules
from anoncore.release.partition import Partition
from anoncore.requirements import DistinctDiversity, FrequencyDiversity
from tests.privacy.releases import adult
from tests.requirements.tables import misleading_index

LOW = {"Preschool", "1st-4th", "5th-6th", "7th-8th"}
QUASI = ["town", "job", "age"]


def people(seed, n=60, protected=(), values="xyzuv"):
    """A table in which some sensitive values never occur with some towns and jobs."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "town": rng.choice(["a", "b", "c"], n),
            "job": rng.choice(["k", "m"], n),
            "age": rng.integers(0, 5, n),
            "s": rng.choice(list(values), n),
        },
        index=pd.Index(misleading_index(n)),
    )
    never = (frame["town"] == "a") & (frame["s"] == "x") | (frame["job"] == "k") & (frame["s"] == "y")
    frame.loc[never, "s"] = "z"
    roles = dict.fromkeys(QUASI, "quasi-identifier") | {"s": "sensitive"}
    protected = set(protected) & set(frame["s"])
    return Microdata(frame, roles=roles, sensitive_values={"s": protected} if protected else {})


def counted_rules(data, size, confidence, expectation, protected):
    """Every rule of the definition: pattern -> forbidden labels, by counting rows one by one."""
    rows = list(data.frame[[*QUASI, "s"]].itertuples(index=False, name=None))
    label = {value: "x" if value in protected else "other" for value in "xyzuv"} if protected else None
    seen = [row[-1] if label is None else label[row[-1]] for row in rows]
    wanted = {"x"} if protected else set(seen)
    found = {}
    for width in range(1, size + 1):
        for places in combinations(range(len(QUASI)), width):
            for pattern in {tuple(row[place] for place in places) for row in rows}:
                matching = [s for row, s in zip(rows, seen, strict=True) if tuple(row[p] for p in places) == pattern]
                for value in wanted:
                    expected = len(matching) * seen.count(value) / len(rows)
                    if expected > expectation and 1 - matching.count(value) / len(matching) >= confidence - 1e-9:
                        found.setdefault((places, pattern), set()).add(value)
    return found


@settings(max_examples=25)
@given(
    seed=st.integers(0, 10**6),
    size=st.integers(1, 3),
    confidence=st.sampled_from([1.0, 0.9]),
    protected=st.sampled_from([(), ("x",)]),
)
def test_rules_are_those_of_the_definition(seed, size, confidence, protected):
    data = people(seed, protected=protected)
    rules = mine_negative_rules(data, "s", confidence, 0.9, size)
    expected = counted_rules(data, size, confidence, 0.9, protected)
    view = data.sensitive_view("s")
    names = ["x"] if protected else list(data.domain["s"])
    allowed = rules.allows(np.arange(len(names), dtype=np.int32))
    rows = list(data.frame[QUASI].itertuples(index=False, name=None))
    for number, row in enumerate(rows):
        forbidden = set()
        for (places, pattern), values in expected.items():
            if tuple(row[place] for place in places) == pattern:
                forbidden |= values
        assert {name for name, fine in zip(names, allowed[number], strict=True) if not fine} == forbidden
    # Every listed rule is one of them, and together they forbid as much as all.
    texts = {
        (tuple(QUASI[p] for p in places), tuple(str(v) for v in pattern), view.labels[names.index(value)])
        for (places, pattern), values in expected.items()
        for value in values
    }
    listed = {(rule.attributes, rule.values, rule.excluded) for rule in rules.rules}
    assert listed <= texts
    for number, row in enumerate(rows):
        own = dict(zip(QUASI, map(str, row), strict=True))
        follows = {
            excluded for attributes, pattern, excluded in listed if tuple(own[name] for name in attributes) == pattern
        }
        wanted = {view.labels[value] for value in np.flatnonzero(~allowed[number])}
        assert follows == wanted


def valid_by_permutation(rows, values, forbidden):
    """Numbers of valid values per row, from every assignment of the bucket's values; None if there is none."""
    valid = [set() for _ in rows]
    for order in permutations(range(len(rows))):
        if all(values[j] not in forbidden[i] for i, j in zip(range(len(rows)), order, strict=True)):
            for i, j in enumerate(order):
                valid[i].add(j)
    return [len(one) for one in valid] if valid[0] else None


def forbidden_sets(rules, size):
    allowed = rules.allows(np.arange(size, dtype=np.int32))
    return [set(np.flatnonzero(~row).tolist()) for row in allowed]


@settings(max_examples=20)
@given(seed=st.integers(0, 10**6), l=st.sampled_from([2, 3]), protected=st.sampled_from([(), ("x",), ("x", "y")]))
def test_everyone_has_l_values_that_no_rule_forbids(seed, l, protected):
    data = people(seed, protected=protected)
    model = Injector(l=l, seed=seed)
    try:
        release = model.anonymize(data)
    except InfeasibleError:
        return
    partition, view = release.partition, data.sensitive_view("s")
    forbidden = forbidden_sets(model.rules(data), view.size)
    for group in range(partition.n_groups):
        rows = partition.rows(group).tolist()
        values = [int(view.codes[row]) for row in rows]
        protected_values = [value for value in values if value != view.unique]
        assert len(set(protected_values)) == len(protected_values)
        valid = valid_by_permutation(rows, values, [forbidden[row] for row in rows])
        assert valid is not None
        assert min(valid) >= l
    assert privacy.check(release, [FrequencyDiversity(l=l), DistinctDiversity(l=l)]) == ()
    assert np.array_equal(np.sort(release.partition.order), np.arange(data.n_rows))


@settings(max_examples=30)
@given(size=st.integers(1, 6), data=st.data())
def test_valid_values_against_every_assignment(size, data):
    table = Microdata(
        pd.DataFrame({"q": ["a"] * size, "s": list("abcdef"[:size])}), roles={"q": "quasi-identifier", "s": "sensitive"}
    )
    forbids = data.draw(st.lists(st.integers(0, 2**size - 1), min_size=size, max_size=size))
    rules = NegativeRules((), np.array(forbids, dtype=np.uint64)[:, None])
    partition = Partition(np.zeros(size, dtype=np.int32))
    expected = valid_by_permutation(range(size), range(size), forbidden_sets(rules, size))
    found = fewest_valid_values(partition, table.sensitive_view("s"), rules)
    assert found.tolist() == [-1 if expected is None else min(expected)]


def test_a_person_is_not_put_with_a_value_that_the_table_rules_out():
    # Nobody in town a has x, though 2 of 8 would be expected; so x goes with the people of town b.
    frame = pd.DataFrame({"town": ["a"] * 4 + ["b"] * 4, "s": ["y", "y", "z", "z", "x", "x", "x", "u"]})
    data = Microdata(frame, roles={"town": "quasi-identifier", "s": "sensitive"})
    model = Injector(l=2, seed=0)
    assert "town = a => not x (0 found, 1.5 expected)" in [rule.sentence for rule in model.rules(data).rules]
    with pytest.raises(InfeasibleError):
        model.anonymize(data)  # three x, one other person of town b
    relaxed = Injector(l=2, min_expectation=1.5, seed=0).anonymize(data)
    assert relaxed.partition.sizes.tolist() == [2] * 4


def test_what_cannot_be_done_says_why():
    data = people(0)
    with pytest.raises(InfeasibleError, match="choose l at most"):
        Injector(l=30).anonymize(data)
    with pytest.raises(InfeasibleError, match="may have"):
        Injector(l=2, min_confidence=0.2, min_expectation=0.0).anonymize(data)
    twice = Microdata(data.frame, roles={"town": "quasi-identifier", "job": "sensitive", "s": "sensitive"})
    with pytest.raises(DataError, match="Injector protects one sensitive attribute"):
        Injector().anonymize(twice)


def test_a_seed_gives_the_same_for_any_order_of_rows():
    data = people(4, n=90)
    shuffled = np.random.default_rng(0).permutation(90)
    other = Microdata(data.frame.iloc[shuffled], roles=data.roles)
    model = Injector(l=2, min_expectation=3.0, seed=5)
    contents = []
    for one in (data, other):
        release = model.anonymize(one)
        group = release.partition.group
        buckets = one.frame.assign(bucket=group).groupby("bucket")
        contents.append(sorted(tuple(sorted(rows.astype(str).agg("|".join, axis=1))) for _, rows in buckets))
    assert contents[0] == contents[1]


@pytest.mark.parametrize(("l", "collapsed"), [(2, True), (10, True), (2, False)])
def test_adult(l, collapsed):
    names = ["age", "workclass", "marital-status", "occupation", "race"]
    plain = adult(names, "education")
    data = Microdata(plain.frame, roles=plain.roles, sensitive_values={"education": LOW} if collapsed else {})
    model = Injector(l=l, seed=1)
    release = model.anonymize(data)
    assert set(release.partition.sizes) <= {l, l + 1}
    rules = model.rules(data)
    assert (fewest_valid_values(release.partition, data.sensitive_view("education"), rules) >= l).all()
    assert f"{len(rules.rules):,} negative rules" in release.notes[0]
