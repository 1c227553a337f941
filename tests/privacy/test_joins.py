"""The check over all joins of fragments, on releases made by hand."""

import numpy as np
import pandas as pd
import pytest

from anoncore import AnonymizationError, Distorted, Exact, Fragment, GroupValues, Microdata, Partition, Release, privacy
from anoncore.base.errors import ReleaseError
from anoncore.privacy.common_attribute import common_attribute


def release_of(values, *groups, published=None, sensitive_values=None):
    """One fragment per list of groups, each with an attribute of its own and the class values."""
    frame = pd.DataFrame({f"q{i}": range(len(values)) for i in range(len(groups))} | {"c": list(values)})
    roles = {**dict.fromkeys(frame.columns[:-1], "quasi-identifier"), "c": "sensitive"}
    data = Microdata(frame, roles, sensitive_values={"c": sensitive_values} if sensitive_values else None)
    domain, codes = data.domain["c"], data.codes["c"]
    fragments = []
    for place, group in enumerate(groups):
        partition = Partition(np.array(group))
        own = Exact(data.domain[f"q{place}"], partition, data.codes[f"q{place}"])
        shown = Exact(domain, partition, codes)
        if published is not None:
            shown = Distorted(
                domain, partition, np.array([domain.code_of(v) for v in published], dtype=np.int32), codes
            )
        fragments.append(Fragment(f"F{place + 1}", partition, {f"q{place}": own, "c": shown}))
    return Release(data, tuple(fragments))


def as_sets(release):
    """The same with value sets in place of values."""
    fragments = []
    for fragment in release.fragments:
        domain, codes = release.data.domain["c"], release.data.codes["c"]
        sets = GroupValues(domain, fragment.partition, *fragment.partition.value_sets(codes, len(domain)))
        fragments.append(Fragment(fragment.name, fragment.partition, {**fragment.recodings, "c": sets}))
    return Release(release.data, tuple(fragments))


# F1: {x x y}, {y z z}; F2: {x y z}, {x y z}. Joins: 2 + 1 = 3, 3, 1 + 2 = 3, 3.
BY_HAND = release_of("xxyyzz", [0, 0, 0, 1, 1, 1], [0, 1, 0, 1, 0, 1])
# F1: {x x x y}, {y y z z}; F2: {x x y y}, {x y z z}. Joins: 6 + 2 = 8, 3 + 1 = 4, 2 * 2 = 4, 2 + 4 = 6.
UNEVEN = release_of("xxxyyyzz", [0, 0, 0, 0, 1, 1, 1, 1], [0, 0, 1, 0, 0, 1, 1, 1])


def test_pairs_by_hand():
    assert privacy.pair_levels(BY_HAND).tolist() == [[3, 3], [3, 3]]
    assert privacy.pair_levels(UNEVEN).tolist() == [[8, 4], [4, 6]]
    (found,) = privacy.joins(UNEVEN, k=4).joins
    assert found.fragments == ("F1", "F2")
    assert (found.n_joins, found.n_linked, found.n_broken, found.lowest, found.fewest_values) == (4, 4, 0, 4, 1)
    # The join of {y y z z} with {x x y y} has y only.
    assert found.largest_share == 1
    assert found.lowest_diversity == pytest.approx(1)


def test_what_breaks_k_or_l_is_counted_and_told():
    check = privacy.joins(UNEVEN, k=5, l=2)
    assert not check.holds
    assert (check.joins[0].n_broken, check.joins[0].n_uniform) == (2, 1)
    assert check.sentences[0] == (
        "Of 4 joins of groups of F1 and F2 on 'c' 2 break at least 5 rows and 1 have fewer than 2 values."
    )
    with pytest.raises(AnonymizationError, match=r"The fragments are not safe to join\. Of 4 joins"):
        privacy.require_safe_joins(UNEVEN, k=5)
    assert privacy.require_safe_joins(UNEVEN, k=4).holds
    assert "the smallest has 4 rows" in privacy.joins(UNEVEN, k=4).sentences[0]


def test_safe_joins_of_many_fragments_are_told_of_together():
    # Four fragments whose two classes have every value once: six pairs with 4 joins of 3 rows each.
    release = release_of("xxyyzz", *[[0, 1, 0, 1, 0, 1], [1, 0, 0, 1, 0, 1]] * 2)
    assert privacy.joins(release, k=3).sentences == (
        "Each of the 24 joins of groups of two of the fragments on 'c' that are not empty has at least 3 rows; "
        "the smallest has 3 rows.",
    )


def test_diversity_of_joined_rows_is_reported_for_what_it_is():
    # Joins have the shares 2/3 and 1/3, or 1/3 each: exp(entropy) is at least 3 / 2^(2/3).
    even = privacy.joins(BY_HAND, k=3, l=2)
    assert even.holds
    assert f"the smallest exp(entropy) is {3 / 2 ** (2 / 3):.4g}" in even.sentences[-1]
    assert "entropy and recursive diversity hold for the real rows" in even.sentences[-1]


def test_empty_joins_are_safe():
    release = release_of("xxyy", [0, 0, 1, 1], [1, 1, 0, 0])
    assert privacy.pair_levels(release).tolist() == [[0, 4], [4, 0]]
    (found,) = privacy.joins(release, k=4).joins
    assert (found.n_joins, found.n_linked, found.n_broken) == (4, 2, 0)


def test_unsafe_pairs_are_ranked():
    assert privacy.unsafe_pairs(UNEVEN).empty  # k is 2 where no algorithm promises another
    # The third class of F2 has a w alone, of which the second class of F1 has one row.
    release = release_of("xxxyyyzzw", [0, 0, 0, 0, 1, 1, 1, 1, 1], [0, 0, 1, 0, 0, 1, 1, 1, 2])
    found = privacy.unsafe_pairs(release)
    assert found.to_numpy().tolist() == [[1, 2, 5, 1, 1, 1]]


def test_before_and_after_a_change():
    # Rows y y z z z z as y y y z z z; F1 {0 1 2}, {3 4 5}, F2 {0 1 4}, {2 3 5}.
    release = release_of("yyzzzz", [0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 0, 1], published="yyyzzz")
    assert privacy.pair_levels(release, published=False).tolist() == [[5, 3], [3, 9]]
    assert privacy.pair_levels(release).tolist() == [[6, 3], [3, 6]]


def test_three_fragments_may_break_what_every_two_keep():
    # Classes {a b*5 c*5}, {a b*5 d*5}, {a c*5 d*5}: 26 rows in every pair, one row in all three.
    values = "a" + "b" * 10 + "c" * 10 + "d" * 10
    place = {value: [i for i, v in enumerate(values) if v == value] for value in "abcd"}

    def group(*taken):
        rows = [0] + [row for value in taken for row in place[value][:5]]
        return [0 if row in rows else 1 for row in range(len(values))]

    release = release_of(values, group("b", "c"), group("b", "d"), group("c", "d"))
    found = {one.fragments: one for one in privacy.joins(release, k=10).joins}
    assert [found[pair].n_broken for pair in (("F1", "F2"), ("F1", "F3"), ("F2", "F3"))] == [0, 0, 0]
    assert (found["F1", "F2", "F3"].n_broken, found["F1", "F2", "F3"].lowest) == (1, 1)
    assert found["F1", "F2", "F3"].n_joins == 8
    assert not privacy.joins(release, k=10).holds
    # One value is common to {a b c}, {a b d}, {a c d}, and to any two of them with the third fragment's other class,
    # {b c d}: a, b, c or d. Every two have two values.
    assert [one.n_uniform for one in privacy.joins(release, k=1, l=2).joins] == [0, 0, 0, 4]


def test_value_sets_are_judged_by_eta():
    # Classes of 3 rows: {x y} has the versions (1, 2), (2, 1), {x y z} only (1, 1, 1); each join has 3 rows.
    sets = as_sets(BY_HAND)
    assert privacy.joins(sets, k=3).delta == 0.5
    assert privacy.pair_levels(sets).tolist() == [[1, 1], [1, 1]]
    (found,) = privacy.joins(sets, k=4, delta=0.1).joins
    assert (found.n_broken, found.lowest, found.largest_share) == (4, 0, None)
    apart = as_sets(release_of("xxyy", [0, 0, 1, 1], [1, 1, 0, 0]))
    assert np.isnan(privacy.pair_levels(apart)).tolist() == [[True, False], [False, True]]


def test_values_that_are_protected_together_count_as_one():
    halves = [0, 0, 0, 0, 1, 1]
    assert privacy.joins(release_of("xyxyzz", halves, halves), k=1, l=2).joins[0].n_uniform == 1
    together = release_of("xyxyzz", halves, halves, sensitive_values={"x", "y"})
    assert privacy.joins(together, k=1, l=2).joins[0].n_uniform == 2


def test_two_values_that_are_protected_together_are_still_two_to_join_on():
    # F1 {x z}, {y z}, {y w}; F2 {y z}, {x z}, {y w}. x and y count as one value, but no row has both.
    release = release_of("xzyzyw", [0, 0, 1, 1, 2, 2], [1, 0, 0, 1, 2, 2], sensitive_values={"x", "y"})
    # {x z} and {y z} join in z alone, both ways round; {y z} and {y w} in y alone; {x z} and {y w} in nothing.
    (found,) = privacy.joins(release, k=1, l=2).joins
    assert (found.n_linked, found.n_uniform, found.fewest_values) == (7, 4, 1)


def test_without_a_common_attribute_there_is_nothing_to_join_on():
    assert common_attribute(BY_HAND) == "c"
    single = Release(BY_HAND.data, BY_HAND.fragments[:1])
    alone = [Fragment(f.name, f.partition, dict(list(f.recodings.items())[:1])) for f in BY_HAND.fragments]
    for release in (single, Release(BY_HAND.data, tuple(alone))):
        with pytest.raises(ReleaseError, match="no fragments that share an attribute"):
            privacy.joins(release)


def test_joins_that_are_all_empty_are_told_of():
    # Changed values: the classes of the first fragment publish x and y only, those of the second z only.
    groups = [0, 0, 1, 1], [0, 1, 0, 1]
    first, second = (release_of("xxyz", *groups, published=values) for values in ("xxyy", "zzzz"))
    release = Release(first.data, (first.fragments[0], second.fragments[1]))
    check = privacy.joins(release, k=2)
    assert check.holds
    assert [one.n_linked for one in check.joins] == [0]
    assert check.sentences == (
        "All 4 joins of groups of two of the fragments on 'c' are empty: no value stands in groups of more than one "
        "fragment.",
    )
