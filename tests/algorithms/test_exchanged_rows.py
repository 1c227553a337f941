"""Refined buckets and dealt classes: the same promise, never a larger two-way error, and sums as by counting."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anoncore import CancelledError, Microdata, Partition, privacy
from anoncore.algorithms import Anatomy, StackAndDeal
from anoncore.algorithms.bucketization.anatomy import _pairs, exchanged
from anoncore.algorithms.bucketization.bucketization import bucketized_release
from anoncore.base.progress import silent
from anoncore.kernels.anatomy import exchange_rows, expect
from anoncore.release.openness import Openness
from anoncore.utility import information_loss, two_way_error
from tests.benchmarks.mondrian import ARX_QUASI
from tests.shared_data import FOLDER, needs

ROLES = {"age": "quasi-identifier", "town": "quasi-identifier", "s": "sensitive"}


@st.composite
def tables(draw):
    n = 2 * draw(st.integers(3, 20))
    values = draw(st.integers(2, 5))
    frame = pd.DataFrame(
        {
            "age": draw(st.lists(st.integers(20, 26), min_size=n, max_size=n)),
            "town": draw(st.lists(st.sampled_from("uvwx"), min_size=n, max_size=n)),
            # No value has more than n / 2 rows.
            "s": [f"s{i % values}" for i in draw(st.permutations(range(n)))],
        }
    )
    return Microdata(frame, roles=ROLES, kinds={"age": "numeric"})


def plain_right(data, group, value):
    """Rows that a reader gets right of every pair of a quasi-identifier and the sensitive attribute, by counting."""
    total = 0.0
    sizes = np.bincount(group)
    for name in data.quasi_identifiers:
        for x in range(len(data.domain[name])):
            for s in np.unique(value):
                true = ((data.codes[name] == x) & (value == s)).sum()
                expected = sum(
                    ((group == g) & (data.codes[name] == x)).sum() * ((group == g) & (value == s)).sum() / size
                    for g, size in enumerate(sizes)
                )
                total += min(true, expected)
    return total


@settings(max_examples=20)
@given(tables(), st.integers(0, 5))
def test_what_exchanges_bring_is_what_counting_says(data, seed):
    partition, value = Anatomy(l=2, seed=seed).anonymize(data).partition, data.codes["s"]
    row = np.argsort(partition.group, kind="stable")
    codes = np.column_stack([data.codes[name] for name in data.quasi_identifiers])
    pairs, starts = _pairs(data, codes, value), partition.starts.astype(np.int64)
    bucket, rng = partition.group[row], np.random.default_rng(seed)
    before = expect(pairs, codes, starts, value[row], row)
    assert before == pytest.approx(plain_right(data, partition.group, value))
    places = np.arange(len(row))
    partner = np.array([rng.choice(places[value[row] == own]) for own in value[row]])
    mine, held = row.copy(), value[row]
    gained = exchange_rows(pairs, codes, starts, held, bucket, mine, partner)
    assert gained >= 0
    np.testing.assert_array_equal(value[mine], held)
    group = np.empty(len(row), dtype=np.int32)
    group[mine] = bucket
    assert before + gained == pytest.approx(plain_right(data, group, value))


def sensitive_counts(release):
    return release.partition.histogram(release.data.codes["s"], len(release.data.domain["s"]))


@pytest.mark.slow
@settings(max_examples=75)
@given(tables(), st.integers(2, 3), st.integers(0, 5))
def test_refined_buckets_keep_their_values_and_are_never_read_worse(data, l, seed):
    if np.bincount(data.codes["s"]).max() * l > data.n_rows:
        return
    model = Anatomy(l=l, seed=seed)
    plain, refined = model.anonymize(data), model.replace(refine=True).anonymize(data)
    np.testing.assert_array_equal(sensitive_counts(refined), sensitive_counts(plain))
    assert privacy.check(refined, model.promises(data)) == ()
    assert float(two_way_error(refined)) <= float(two_way_error(plain)) + 1e-12


@pytest.mark.slow
@settings(max_examples=75)
@given(
    tables(),
    st.integers(1, 4),
    st.sampled_from(["frequency", "value"]),
    st.booleans(),
    st.integers(0, 5),
)
def test_refined_classes_keep_their_counts_and_are_never_read_worse(data, k, stack, locality, seed):
    model = StackAndDeal(k=k, stack=stack, locality=locality, seed=seed)
    plain, refined = model.anonymize(data), model.replace(refine=True).anonymize(data)
    found = [sorted(sensitive_counts(one).tolist()) for one in (refined, plain)]
    assert found[0] == found[1]
    assert privacy.check(refined, model.promises(data)) == ()
    assert float(two_way_error(refined)) <= float(two_way_error(plain)) + 1e-12


@pytest.mark.slow
@settings(max_examples=75)
@given(tables(), st.integers(1, 4), st.sampled_from(["frequency", "value"]), st.integers(0, 5))
def test_with_several_secrets_refined_classes_reach_what_the_dealt_ones_do_and_are_never_read_worse(
    data, k, stack, seed
):
    several = Microdata(data.frame, ROLES | {"town": "sensitive"}, kinds={"age": "numeric"})
    model = StackAndDeal(k=k, stack=stack, seed=seed)
    plain, refined = model.anonymize(several), model.replace(refine=True).anonymize(several)
    for name in several.sensitive:
        most = (*(privacy.emd(release, name, ground="equal").max() for release in (refined, plain)),)
        assert most[0] <= most[1] + 1e-12
        shares = [
            (release.partition.histogram(several.codes[name], len(several.domain[name])).T / release.partition.sizes)
            .max()
            .item()
            for release in (refined, plain)
        ]
        assert shares[0] <= shares[1] + 1e-12
    assert sorted(refined.partition.sizes) == sorted(plain.partition.sizes)
    assert float(two_way_error(refined)) <= float(two_way_error(plain)) + 1e-12


def test_with_several_secrets_people_of_other_values_change_places_by_hand():
    # Nobody agrees with another in both secrets, so that nobody could change places with somebody alike. One of a and
    # one of b in each class are enough, and then both classes can be of one age.
    frame = pd.DataFrame({"age": [20, 60, 20, 60], "s": ["a", "b", "b", "a"], "u": ["w", "x", "y", "z"]})
    data = Microdata(frame, {"age": "quasi-identifier", "s": "sensitive", "u": "sensitive"}, kinds={"age": "numeric"})
    refined = StackAndDeal(k=2, locality=False, refine=True, seed=1).anonymize(data)
    assert information_loss(refined) == 0.0
    assert privacy.emd(refined, "s", ground="equal").max() == 0.0


def test_two_people_of_one_value_change_places_by_hand():
    # The buckets hold b and a, and a and c. With a young b beside an old a, a reader expects half a young b and half a
    # young c. When the two with a change places, the ages of a bucket are the same, and all four pairs are kept.
    frame = pd.DataFrame({"age": [20, 20, 60, 60], "s": ["a", "b", "a", "c"]})
    data = Microdata(frame, roles={"age": "quasi-identifier", "s": "sensitive"})
    model, before = Anatomy(l=2), Partition([1, 0, 0, 1])
    after = exchanged(data, before, "s", np.random.default_rng(0), silent)
    assert float(two_way_error(bucketized_release(model, data, "s", before))) == 0.25
    assert float(two_way_error(bucketized_release(model, data, "s", after))) == 0.0
    assert after.group.tolist() == [0, 0, 1, 1]


@pytest.mark.parametrize("model", [Anatomy(l=2, seed=3, refine=True), StackAndDeal(k=4, seed=3, refine=True)])
def test_the_order_of_the_rows_does_not_matter(model):
    rng = np.random.default_rng(8)
    frame = pd.DataFrame(
        {"age": rng.integers(20, 50, 90), "town": rng.choice(list("uvw"), 90), "s": rng.choice(list("xyz"), 90)}
    )
    groups = [
        _contents(one, model.anonymize(Microdata(one, roles=ROLES)).partition)
        for one in (frame, frame.iloc[rng.permutation(90)], frame.iloc[::-1])
    ]
    assert groups[0] == groups[1] == groups[2]


def _contents(frame, partition):
    """The rows of every group, in order."""
    return sorted(sorted(map(tuple, frame.iloc[partition.rows(g)].to_numpy())) for g in range(partition.n_groups))


@pytest.mark.parametrize("model", [Anatomy(l=2, refine=True), StackAndDeal(k=2, refine=True)])
def test_a_refinement_can_be_cancelled(model):
    frame = pd.DataFrame({"age": range(12), "town": list("uvw") * 4, "s": list("xy") * 6})
    said = []

    def stop(share, text):
        said.append(text)
        if text.startswith(("Exchanging rows of equal values", "Refining")):
            raise CancelledError("stopped")

    with pytest.raises(CancelledError):
        model.anonymize(Microdata(frame, roles=ROLES), stop)


def test_only_buckets_that_chance_deals_tell_nothing_to_readers_who_know_the_method():
    assert Anatomy(l=2).minimality_here.openness is Openness.NOT_OPEN
    assert Anatomy(l=2, refine=True).minimality_here is Anatomy.minimality
    assert Anatomy.minimality.openness is Openness.DEPENDS


@pytest.mark.slow
@needs("adult.csv")
def test_less_is_misread_on_adult():
    """A third less for buckets, and five percent less for classes that mirror the table, at the same promise."""
    frame = pd.read_csv(FOLDER / "adult.csv").head(30_162)
    data = Microdata(frame, roles={**dict.fromkeys(ARX_QUASI, "quasi-identifier"), "occupation": "sensitive"})
    for model, share in ((Anatomy(l=3, seed=1), 0.67), (StackAndDeal(k=5, seed=1), 0.955)):
        plain, refined = model.anonymize(data), model.replace(refine=True).anonymize(data)
        assert float(two_way_error(refined)) <= share * float(two_way_error(plain))
        assert float(information_loss(refined)) <= float(information_loss(plain))
