"""What the adversary believes: the paper's example, a naive oracle on random tables, and every form of release."""

import tracemalloc
from importlib import import_module

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anoncore import Distorted, Exact, Fragment, Generalized, Microdata, Partition, Release, attacks
from anoncore.algorithms import Anatomy
from anoncore.base.errors import ReleaseError
from anoncore.release.recoding import ColumnRegions
from anoncore.requirements import TCloseness
from tests.attacks.naive_posterior import bucket_posterior
from tests.privacy.releases import adult, builtin, fragment, generalized, sliced, value_sets
from tests.requirements.tables import misleading_index

BUCKETS = (0, 0, 0, 0, 1, 1, 1, 1)


def belief(release, row, attribute="disease"):
    """The non-zero beliefs about one row, by value."""
    p = attacks.sensitive_posterior(release, attribute)[row]
    domain = release.data.domain[attribute]
    return {domain[code]: pytest.approx(p[code]) for code in np.flatnonzero(p)}


def test_table_1f_of_the_slicing_paper():
    release = sliced(builtin("slicing-table-1"), BUCKETS, [["age", "sex"], ["zipcode", "disease"]])
    # t1 = (22, M, 47906) is only in the first bucket, where zip code 47906 goes with dyspepsia and flu.
    assert belief(release, 0) == {"dyspepsia": 0.5, "flu": 0.5}
    assert bucket_posterior(release, "disease")[1][0].tolist() == [1, 0]
    assert attacks.sensitive_posterior(release, "disease").max() == pytest.approx(0.5)


def test_table_1c_bucketization_is_2_diverse():
    release = sliced(builtin("slicing-table-1"), BUCKETS, [["age", "sex", "zipcode"], ["disease"]])
    assert belief(release, 0) == {"dyspepsia": 0.25, "flu": 0.5, "bronchitis": 0.25}
    assert attacks.sensitive_posterior(release, "disease").max() == pytest.approx(0.5)


def test_table_1b_generalization_is_the_distribution_in_the_group():
    release = generalized(builtin("slicing-table-1"), BUCKETS)
    assert belief(release, 0) == {"dyspepsia": 0.25, "flu": 0.5, "bronchitis": 0.25}
    assert belief(release, 7) == {"flu": 0.25, "dyspepsia": 0.5, "gastritis": 0.25}


@st.composite
def sliced_tables(draw, generalize=False):
    """A random table of four quasi-identifiers and S, in two to four columns, S with zero to two others."""
    n_rows = draw(st.integers(1, 14))
    cell = st.sampled_from(["a", "b", "c", None])
    names = ["q0", "q1", "q2", "q3", "s"]
    frame = pd.DataFrame(
        {name: pd.Series(draw(st.lists(cell, min_size=n_rows, max_size=n_rows)), dtype=object) for name in names}
    )
    frame.index = pd.Index(misleading_index(n_rows))
    roles = dict.fromkeys(names, "quasi-identifier") | {"s": "sensitive"}
    roles |= draw(st.sampled_from([{}, {"q3": "insensitive"}]))
    data = Microdata(frame, roles=roles)
    group = np.unique(draw(st.lists(st.integers(0, 3), min_size=n_rows, max_size=n_rows)), return_inverse=True)[1]
    alpha, c = draw(st.integers(1, 3)), draw(st.integers(2, 4))
    rest = names[: 5 - alpha]
    cuts = sorted(draw(st.sets(st.integers(1, len(rest)), max_size=min(c - 2, len(rest) - 1))) - {len(rest)})
    columns = [rest[begin:end] for begin, end in zip([0, *cuts], [*cuts, len(rest)], strict=True)]
    columns.append(names[5 - alpha :])
    if not generalize:
        return sliced(data, group, columns)
    partition = Partition(group.astype(np.int32))
    wide = set(draw(st.lists(st.sampled_from(names[:4]), max_size=3)))
    parts = (
        fragment(data, "+".join(one), partition, [x for x in one if x not in wide], [x for x in one if x in wide])
        for one in columns
    )
    return Release(data, tuple(parts))


@settings(max_examples=30)
@given(sliced_tables())
def test_sliced_tables_against_the_definition(release):
    expected, _ = bucket_posterior(release, "s")
    found = attacks.sensitive_posterior(release, "s")
    np.testing.assert_allclose(found, expected, atol=1e-9, rtol=0)
    np.testing.assert_allclose(found.sum(axis=1), 1, atol=1e-9)


@settings(max_examples=20)
@given(sliced_tables(generalize=True))
def test_generalized_columns_match_by_their_published_cell(release):
    np.testing.assert_allclose(attacks.sensitive_posterior(release, "s"), bucket_posterior(release, "s")[0], atol=1e-9)


@settings(max_examples=30)
@given(sliced_tables(), st.randoms(use_true_random=False))
def test_row_order_does_not_matter(release, random):
    order = list(range(release.data.n_rows))
    random.shuffle(order)
    data = Microdata(release.data.frame.iloc[order], roles=release.data.roles)
    columns = [part.attributes for part in release.fragments]
    other = sliced(data, release.partition.group[order], columns)
    first, second = (attacks.sensitive_posterior(one, "s") for one in (release, other))
    np.testing.assert_allclose(second, first[order], atol=1e-12)


def test_overlapping_regions_do_not_blur_the_group_of_a_person():
    frame = pd.DataFrame({"age": [20, 40, 30, 50], "s": list("aabc")}, index=[0, 0, 0, 0])
    data = Microdata(frame, roles={"age": "quasi-identifier", "s": "sensitive"})
    release = generalized(data, [0, 0, 1, 1])  # 20-40 and 30-50 both cover 30 and 40
    assert belief(release, 1, "s") == {"a": 1.0}
    assert belief(release, 2, "s") == {"b": 0.5, "c": 0.5}


def test_exact_quasi_identifiers_beside_the_values_give_the_person_away():
    data = builtin("slicing-table-1")
    partition = Partition(np.zeros(8, dtype=np.int32))
    release = Release(data, (fragment(data, "release", partition, ["sex", "disease"], ["age", "zipcode"]),))
    assert belief(release, 0) == {"dyspepsia": 0.75, "flu": 0.25}  # the four men


@st.composite
def mixed_tables(draw):
    """A random table in one fragment, whose quasi-identifiers are exact, one region per group, or one per row."""
    n_rows = draw(st.integers(1, 12))
    names = ["q0", "q1", "q2", "s"]
    cells = st.lists(st.sampled_from(["a", "b", "c"]), min_size=n_rows, max_size=n_rows)
    frame = pd.DataFrame({name: draw(cells) for name in names})
    data = Microdata(frame, roles=dict.fromkeys(names, "quasi-identifier") | {"s": "sensitive"})

    def groups():
        numbers = draw(st.lists(st.integers(0, 2), min_size=n_rows, max_size=n_rows))
        return Partition(np.unique(numbers, return_inverse=True)[1])

    partition = groups()
    recodings = {}
    for name in names:
        domain, codes = data.domain[name], data.codes[name]
        form = "exact" if name == "s" else draw(st.sampled_from(["exact", "group", "row"]))
        if form == "exact":
            recodings[name] = Exact(domain, partition, codes)
        elif form == "group":
            recodings[name] = Generalized.of_rows(domain, partition, codes)
        else:
            recodings[name] = ColumnRegions(domain, partition, Generalized.of_rows(domain, groups(), codes))
    return Release(data, (Fragment("release", partition, recodings),))


@settings(max_examples=30)
@given(mixed_tables())
def test_rows_of_a_group_are_told_apart_by_every_cell_that_is_published(release):
    found = attacks.sensitive_posterior(release, "s")
    texts = [release.recoding(name).texts() for name in release.data.quasi_identifiers]
    alike = release.partition.group[:, None] == release.partition.group
    for cells in texts:
        alike &= cells[:, None] == cells
    has_value = np.eye(len(release.data.domain["s"]))[release.data.codes["s"]]
    np.testing.assert_allclose(found, alike @ has_value / alike.sum(axis=1, keepdims=True), atol=1e-12)


def test_published_values_are_what_the_adversary_sees():
    data = Microdata(pd.DataFrame({"a": [1, 2], "s": ["x", "y"]}), roles={"a": "quasi-identifier", "s": "sensitive"})
    partition = Partition(np.array([0, 1]))
    changed = Distorted(data.domain["s"], partition, np.array([1, 1], dtype=np.int32), data.codes["s"])
    known = Exact(data.domain["a"], partition, data.codes["a"])
    release = Release(data, (Fragment("release", partition, {"a": known, "s": changed}),))
    assert belief(release, 0, "s") == {"y": 1.0}


def two_partitions(second):
    frame = pd.DataFrame({"a": [1, 2, 3, 4, 5, 6], "b": [1, 1, 2, 2, 3, 3], "s": list("xxyyzx")})
    data = Microdata(frame, roles={"a": "quasi-identifier", "b": "quasi-identifier", "s": "sensitive"})
    first, second = Partition(np.array([0, 0, 0, 1, 1, 1])), Partition(np.array(second))
    return Release(data, (fragment(data, "1", first, ["s"], ["a"]), fragment(data, "2", second, ["s"], ["b"])))


def test_partitions_of_their_own_are_independent_evidence():
    release = two_partitions([0, 0, 1, 1, 0, 1])
    # q = (1/2, 1/3, 1/6). Row 0: D1 = (2/3, 1/3, 0), D2 = (2/3, 0, 1/3): only x is possible.
    assert belief(release, 0, "s") == {"x": 1.0}
    # Row 2: D1 = (2/3, 1/3, 0), D2 = (1/3, 2/3, 0): q * D1/q * D2/q = (4/9, 2/3, 0), normalized.
    assert belief(release, 2, "s") == {"x": 0.4, "y": 0.6}


def test_contradicting_fragments_fall_back_to_their_mean():
    release = two_partitions([0, 0, 1, 1, 0, 1])
    data, (first, second) = release.data, release.fragments
    codes = {0: np.array([0, 0, 0, 1, 2, 1]), 1: np.array([2, 2, 1, 1, 2, 1])}
    parts = [
        Fragment(
            part.name,
            part.partition,
            {"s": Distorted(data.domain["s"], part.partition, codes[i].astype(np.int32), data.codes["s"])},
        )
        for i, part in enumerate((first, second))
    ]
    assert belief(Release(data, tuple(parts)), 0, "s") == {"x": 0.5, "z": 0.5}


def dense_distances(release, ground):
    """The distances of beliefs from the table with every value written out."""
    data, p = release.data, attacks.sensitive_posterior(release, "s")
    size = p.shape[1]
    (check,) = TCloseness(t=1, ground=ground).checks(data)
    first, last, weight = check.reference[size + 1 :].reshape(-1, 3).T
    surplus = np.zeros((len(p), size + 1))
    surplus[:, 1:] = np.cumsum(p - check.reference[:size] / data.n_rows, axis=1)
    return np.abs(surplus[:, last.astype(int) + 1] - surplus[:, first.astype(int)]) @ weight


@st.composite
def releases_of_any_form(draw):
    if draw(st.booleans()):
        return draw(st.one_of(sliced_tables(), mixed_tables()))
    return two_partitions(np.unique(draw(st.lists(st.integers(0, 2), min_size=6, max_size=6)), return_inverse=True)[1])


@settings(max_examples=25)
@given(releases_of_any_form(), st.integers(1, 6))
def test_beliefs_of_a_few_people_at_once_are_those_of_all_together(release, most):
    p = attacks.sensitive_posterior(release, "s")
    true = release.data.codes["s"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(import_module("anoncore.attacks.posterior"), "MOST_ENTRIES", most)
        np.testing.assert_allclose(attacks.sensitive_posterior(release, "s"), p, atol=1e-12)
        found = attacks.attribute_disclosure(release, "s")
        np.testing.assert_allclose(found.belief, p.max(axis=1), atol=1e-12)
        np.testing.assert_allclose(found.confidence, p[np.arange(len(p)), true], atol=1e-12)
        distance = attacks.posterior_emd(release, "s")
    np.testing.assert_allclose(distance, dense_distances(release, "equal"), atol=1e-12)


@settings(max_examples=20)
@given(mixed_tables(), st.integers(1, 6))
def test_joint_beliefs_of_a_few_people_at_once_are_those_of_all_together(release, most):
    p, true = attacks.sensitive_posterior(release, "s"), release.data.codes["s"]
    whole = attacks.composition([release, release], "s")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(import_module("anoncore.attacks.posterior"), "MOST_ENTRIES", most)
        patch.setattr(import_module("anoncore.attacks.composition"), "MOST_ENTRIES", most)
        found = attacks.composition([release, release], "s")
        np.testing.assert_allclose(found.alone, [p, p], atol=1e-12)
        np.testing.assert_allclose(found.belief, whole.belief, atol=1e-12)
    assert found.possible.tolist() == (p > 0).sum(axis=1).tolist()
    np.testing.assert_allclose(whole.belief.sum(axis=1), 1, atol=1e-12)
    assert float(found.truth) == pytest.approx(whole.belief[np.arange(len(p)), true].mean())
    assert float(found.largest) == pytest.approx(whole.belief.max())


def test_many_groups_and_values_take_no_table_of_both():
    # 1,000 groups of 5,000 values would be 40 MB as a table.
    n = 10_000
    frame = pd.DataFrame({"a": np.arange(n), "s": np.arange(n) // 2})
    data = Microdata(frame, roles={"a": "quasi-identifier", "s": "sensitive"})
    release = generalized(data, np.arange(n) // 10)
    tracemalloc.start()
    try:
        assert float(attacks.attribute_disclosure(release, "s").largest) == pytest.approx(0.2)
        attacks.posterior_emd(release, "s")
        together = attacks.composition([release, release], "s")
        assert (together.possible == 5).all()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 20_000_000


def test_a_value_set_is_believed_evenly():
    data = builtin("fragmentation-table-3")
    partition = Partition(np.array([0, 0, 0, 1, 1], dtype=np.int32))
    sets = {"disease": value_sets(data, "disease", partition)}
    ages = fragment(data, "release", partition, (), ["age", "sex"]).recodings
    alone = Release(data, (Fragment("release", partition, {**ages, **sets}),))
    assert belief(alone, 0) == {"flu": 1 / 3, "pneumonia": 1 / 3, "dyspepsia": 1 / 3}
    assert belief(alone, 4) == {"pneumonia": 0.5, "flu": 0.5}
    # All are (23, M), so with the values in a table of their own nobody's bucket is known.
    beside = Release(data, (Fragment("known", partition, ages), Fragment("sensitive", partition, sets)))
    assert belief(beside, 0) == {"flu": 5 / 12, "pneumonia": 5 / 12, "dyspepsia": 1 / 6}


def test_the_attribute_asked_for_is_never_known():
    data = builtin("slicing-table-1")
    release = sliced(data, BUCKETS, [["age", "sex"], ["zipcode", "disease"]])
    # Zip code itself: (22, M) is in the first bucket, which has 47906 and 47905 twice each.
    assert belief(release, 0, "zipcode") == {"47905": 0.5, "47906": 0.5}


def test_values_that_are_not_published_cannot_be_believed():
    release = generalized(builtin("slicing-table-1"), BUCKETS)
    with pytest.raises(ReleaseError, match="'age' is generalized"):
        attacks.sensitive_posterior(release, "age")
    with pytest.raises(ReleaseError, match="does not publish 'salary'"):
        attacks.sensitive_posterior(release, "salary")


@pytest.mark.parametrize("l", [2, 7])
def test_anatomy_on_adult_keeps_every_belief_within_1_over_l(l):
    names = ["age", "workclass", "education", "marital-status", "race", "sex"]
    data = adult(names, "occupation")
    release = Anatomy(l=l, seed=3).anonymize(data)
    found = attacks.sensitive_posterior(release, "occupation")
    assert found.shape == (data.n_rows, 14)
    assert found.max() <= 1 / l + 1e-9
    # The definition for a few rows: buckets that hold the exact tuple, weighted by its share of each.
    histogram = release.partition.histogram(data.codes["occupation"], 14) / release.partition.sizes[:, None]
    values = np.column_stack([data.codes[name] for name in names])
    for row in (0, 17, 4_321, 45_000):
        alike = np.bincount(release.partition.group[(values == values[row]).all(axis=1)], minlength=len(histogram))
        weight = alike / release.partition.sizes
        np.testing.assert_allclose(found[row], weight @ histogram / weight.sum(), atol=1e-12)


def test_disclosure_sums_beliefs_up_beside_guessing():
    release = generalized(builtin("slicing-table-1"), BUCKETS)
    found = attacks.attribute_disclosure(release, "disease")
    np.testing.assert_allclose(found.belief, 0.5)
    np.testing.assert_allclose(found.confidence, [0.25, 0.5, 0.5, 0.25, 0.25, 0.5, 0.5, 0.25])
    assert (found.largest, found.largest.baseline) == (0.5, 3 / 8)
    assert found.truth == pytest.approx(3 / 8)
    # dyspepsia 3/8, flu 3/8, bronchitis and gastritis 1/8: the sum of squares.
    assert found.truth.baseline == pytest.approx(20 / 64)
    assert not found.breached(2).any()
    assert found.breached(2.1).all()


def test_disclosure_of_a_protected_set_is_about_the_set():
    data = builtin("slicing-table-1", sensitive_values={"disease": {"flu", "bronchitis"}})
    found = attacks.attribute_disclosure(generalized(data, BUCKETS), "disease")
    np.testing.assert_allclose(found.belief, [0.75] * 4 + [0.25] * 4)
    np.testing.assert_allclose(found.confidence, [np.nan, 0.75, 0.75, 0.75, 0.25, np.nan, np.nan, np.nan])
    assert found.largest.baseline == pytest.approx(0.5)
    assert found.baseline.sum() == pytest.approx(1)
