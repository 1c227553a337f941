"""Which classes join to too few rows before and after class values were changed, and what each strategy changes."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anoncore import Microdata, privacy
from anoncore.algorithms import VerticalFragmentation
from anoncore.algorithms.vertical.changes import changes_by_strategy, class_changes
from tests.privacy.test_joins import release_of


def rare_classes(seed, n=120):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({f"q{i}": rng.integers(0, 90, n) for i in range(4)})
    frame["c"] = rng.choice(list("abcdefgh"), n, p=[0.3, 0.2, 0.1, 0.1, 0.1, 0.1, 0.05, 0.05])
    return Microdata(frame, {**dict.fromkeys(frame.columns[:-1], "quasi-identifier"), "c": "sensitive"})


# F1: {x x x y}, {y y z z w}; F2: {x x y y}, {x y z z}, {w}, and the row of w is published as z.
GROUPS = ([0, 0, 0, 0, 1, 1, 1, 1, 1], [0, 0, 1, 0, 0, 1, 1, 1, 2])
BY_HAND = release_of("xxxyyyzzw", *GROUPS, published="xxxyyyzzz")


def test_the_worst_joins_by_hand():
    # k is 2 where no algorithm promises another: {y y z z w} and {w} join to one row before, to 3 rows of z after.
    found = privacy.worst_joins(BY_HAND)
    assert (found.n_broken, found.n_joins, found.threshold, found.by_eta) == (1, 6, 2, False)
    assert found.first.tolist() == [1, 0]
    assert found.second.tolist() == [2, 0, 1]
    assert found.before.tolist() == [[1, 4, 6], [0, 8, 4]]
    assert found.after.tolist() == [[3, 4, 8], [0, 8, 4]]
    assert found.broken_before.tolist() == [[True, False, False], [False, False, False]]
    assert not found.broken_after.any()
    assert privacy.worst_joins(BY_HAND, most=1).before.tolist() == [[1]]


def test_unsafe_pairs_tell_what_became_of_them():
    assert privacy.unsafe_pairs(BY_HAND).empty
    found = privacy.unsafe_pairs(BY_HAND, published=False)
    assert found.to_numpy().tolist() == [[1, 2, 5, 1, 1, 1, 3]]
    assert found.columns[-1] == "published level"


@pytest.mark.slow
@settings(max_examples=15)
@given(st.integers(0, 1_000), st.sampled_from(["naive", "dependency", "selectivity"]))
def test_they_are_those_of_the_whole_matrix(seed, enforce):
    release = VerticalFragmentation(k=6, enforce=enforce, seed=seed).anonymize(rare_classes(seed))
    threshold = 6 if enforce != "selectivity" else 0.5
    before, after = (privacy.pair_levels(release, published=published) for published in (False, True))
    linked = ~np.isnan(before) if enforce == "selectivity" else before > 0
    broken = linked & (before < threshold - 1e-9)
    found = privacy.worst_joins(release, most=5)
    assert found.n_broken == broken.sum()
    assert found.n_joins == before.size
    # Sums of a part of the matrix may be added up in another order than those of the whole one.
    np.testing.assert_allclose(found.before, before[np.ix_(found.first, found.second)], rtol=1e-12)
    np.testing.assert_allclose(found.after, after[np.ix_(found.first, found.second)], rtol=1e-12)
    np.testing.assert_array_equal(found.broken_before, broken[np.ix_(found.first, found.second)])
    assert not found.broken_after.any()
    assert broken.sum(axis=1)[found.first].tolist() == sorted(broken.sum(axis=1), reverse=True)[:5]
    few = privacy.unsafe_pairs(release, published=False, most=3)
    assert len(few) == min(3, broken.sum())
    assert few["level"].tolist() == pytest.approx(sorted(before[broken].tolist())[:3], rel=1e-12)
    assert broken[few["first class"], few["second class"]].all()
    pairs = privacy.unsafe_pairs(release, published=False)
    assert len(pairs) == broken.sum()
    places = pairs["first class"], pairs["second class"]
    np.testing.assert_allclose(pairs["level"], before[places], rtol=1e-12)
    np.testing.assert_allclose(pairs["published level"], after[places], rtol=1e-12)


@pytest.mark.parametrize("enforce", ["naive", "dependency", "selectivity"])
def test_what_each_strategy_changes_is_what_its_release_changes(enforce):
    data = rare_classes(3)
    release = VerticalFragmentation(k=6, enforce=enforce, seed=1).anonymize(data)
    found = changes_by_strategy(release, k=6, seed=1)
    assert list(found) == ["naive", "dependency", "selectivity"]
    for strategy, changes in found.items():
        made = VerticalFragmentation(k=6, enforce=strategy, seed=1).anonymize(data)
        assert changes.number == class_changes(made).number
        assert changes.per_fragment == class_changes(made).per_fragment
        assert changes.total == 2 * data.n_rows
    assert found["naive"].number > found["dependency"].number > 0


def test_without_changes_every_strategy_starts_from_what_is_published():
    release = VerticalFragmentation(k=4, l=2, seed=0).anonymize(rare_classes(0))
    found = changes_by_strategy(release, k=4)
    assert class_changes(release).number == 0
    # Joins are safe already, so only the naive way changes anything.
    assert found["naive"].number > 0
    assert found["dependency"].number == 0
