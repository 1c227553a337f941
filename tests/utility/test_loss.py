"""Information loss, discernibility and group size: hand-made tables, algebra, a slow oracle."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anoncore import DataError, Fragment, Generalized, Microdata, Partition, Release
from anoncore.algorithms import Mondrian
from anoncore.base.errors import ParameterError
from anoncore.requirements import KAnonymity
from anoncore.utility import average_group_size, discernibility, information_loss
from tests.utility.releases import (
    adult,
    fragment,
    generalized,
    linked_fragments,
    published_values,
    random_data,
    random_releases,
    sliced,
)


@pytest.fixture
def six_people() -> Microdata:
    frame = pd.DataFrame(
        {
            "age": [20, 30, 40, 60, 60, 120],
            "town": ["A", "B", "A", "C", "D", "E"],
            "ill": ["flu", "flu", "cold", "cold", "flu", "cold"],
        }
    )
    return Microdata(frame, roles={"age": "quasi-identifier", "town": "quasi-identifier", "ill": "sensitive"})


def test_loss_by_hand(six_people: Microdata) -> None:
    # Ages 20-40, 60-60, 120: 20/100, 0, 0. Towns {A, B}, {C, D}, E of five: 1/4, 1/4, 0.
    loss = information_loss(generalized(six_people, [0, 0, 0, 1, 1, 2]))
    assert loss.per_attribute == {"age": pytest.approx(0.1), "town": pytest.approx(5 / 6 * 0.25)}
    np.testing.assert_allclose(loss.per_class, [0.225, 0.125, 0.0])
    assert float(loss) == pytest.approx((0.1 + 5 / 24) / 2)
    assert loss.higher_is_better is False
    assert loss.bounds == (0.0, 1.0)


def test_a_wide_region_costs_its_width_not_its_rows(six_people: Microdata) -> None:
    partition = Partition(np.zeros(6, dtype=np.int32))
    whole = generalized(six_people, [0] * 6)
    recodings = dict(whole.fragments[0].recodings)
    low, high = np.array([1], dtype=np.int32), np.array([3], dtype=np.int32)
    recodings["age"] = Generalized(six_people.domain["age"], partition, "interval", low, high)
    loss = information_loss(Release(six_people, (Fragment("release", partition, recodings),)))
    assert loss.per_attribute == {"age": pytest.approx(0.3), "town": 1.0}


def test_bucketization_loses_nothing(six_people: Microdata) -> None:
    loss = information_loss(sliced(six_people, [0, 0, 1, 1, 2, 2], [["age", "town"], ["ill"]]))
    assert loss == 0
    assert loss.per_attribute == {"age": 0, "town": 0}


def test_what_is_withheld_is_lost(six_people: Microdata) -> None:
    partition = Partition(np.array([0, 0, 0, 1, 1, 2], dtype=np.int32))
    loss = information_loss(Release(six_people, (fragment(six_people, "part", partition, ["ill"], ["age"]),)))
    assert loss.per_attribute == {"age": pytest.approx(0.1), "town": 1.0}
    np.testing.assert_allclose(loss.per_class, [0.6, 0.5, 0.5])
    assert float(loss) == pytest.approx(0.55)


def test_fragments_with_their_own_groups_average_over_all_their_cells(six_people: Microdata) -> None:
    first = Partition(np.array([0, 0, 0, 1, 1, 2], dtype=np.int32))
    second = Partition(np.array([0, 0, 0, 1, 1, 1], dtype=np.int32))
    parts = (fragment(six_people, "one", first, ["ill"], ["age"]), fragment(six_people, "two", second, [], ["town"]))
    loss = information_loss(Release(six_people, parts))
    # Towns {A, B} and {C, D, E}: 1/4 and 2/4.
    assert float(loss) == pytest.approx((0.1 + 0.375) / 2)
    assert isinstance(loss.per_class, dict)
    np.testing.assert_allclose(loss.per_class["one"], [0.2, 0, 0])
    np.testing.assert_allclose(loss.per_class["two"], [0.25, 0.5])


def test_loss_needs_a_quasi_identifier() -> None:
    data = Microdata(pd.DataFrame({"ill": ["flu", "cold"]}), roles={"ill": "sensitive"})
    with pytest.raises(DataError, match="quasi-identifier"):
        information_loss(sliced(data, [0, 0], [["ill"]]))


@given(random_releases())
@settings(max_examples=25)
def test_loss_equals_the_mean_over_cells(release: Release) -> None:
    data = release.data
    losses = []
    for name in data.quasi_identifiers:
        domain = data.domain[name]
        part = release.fragment_of(name)
        numeric = name == "age"
        for row in range(data.n_rows):
            codes = published_values(release, name, row, part)
            if numeric:
                wide, whole = domain.positions[codes[-1]] - domain.positions[codes[0]], domain.span
            else:
                wide, whole = len(codes) - 1, len(domain) - 1
            losses.append(wide / whole if whole else 0.0)
    loss = information_loss(release)
    assert float(loss) == pytest.approx(np.mean(losses))
    assert np.mean(list(loss.per_attribute.values())) == pytest.approx(float(loss))
    if not isinstance(loss.per_class, dict):
        assert loss.per_class @ release.partition.sizes / data.n_rows == pytest.approx(float(loss))


@pytest.mark.slow
@given(random_data(), st.data())
@settings(max_examples=20)
def test_merging_groups_never_lowers_loss_or_discernibility(data: Microdata, draw: st.DataObject) -> None:
    fine = draw.draw(st.lists(st.integers(0, 4), min_size=data.n_rows, max_size=data.n_rows))
    fine = np.unique(fine, return_inverse=True)[1]
    coarse = generalized(data, (fine // 2).tolist())
    release = generalized(data, fine.tolist())
    assert information_loss(coarse) >= information_loss(release) - 1e-12
    assert discernibility(coarse) >= discernibility(release)
    assert average_group_size(coarse) >= average_group_size(release)


@given(random_data())
@settings(max_examples=30)
def test_extremes(data: Microdata) -> None:
    n = data.n_rows
    one, alone = generalized(data, [0] * n), generalized(data, list(range(n)))
    assert information_loss(alone) == 0
    for name, loss in information_loss(one).per_attribute.items():
        assert loss == pytest.approx(1.0 if len(data.domain[name]) > 1 else 0.0)
    assert discernibility(one) == n * n == discernibility(one).bounds[1]
    assert discernibility(alone) == n == discernibility(alone).bounds[0]
    assert average_group_size(one) == n
    assert average_group_size(alone) == 1


def test_group_measures_by_hand(six_people: Microdata) -> None:
    release = generalized(six_people, [0, 0, 0, 1, 1, 2])
    assert discernibility(release) == 9 + 4 + 1
    assert average_group_size(release) == 2
    assert average_group_size(release).normalised is None
    assert average_group_size(release, k=4).normalised == 0.5
    with pytest.raises(ParameterError, match="k must be at least 1, not 0"):
        average_group_size(release, k=0)


def test_fragments_with_their_own_groups_average_their_group_measures(six_people: Microdata) -> None:
    frame = six_people.frame.assign(work=["clerk", "boss"] * 3, pay=range(6))
    data = Microdata(
        frame,
        roles={"age": "quasi-identifier", "town": "quasi-identifier", "work": "quasi-identifier", "*": "insensitive"},
    )
    first, second = (Partition(np.array(ids, dtype=np.int32)) for ids in ([0, 0, 0, 1, 1, 1], [0] * 6))
    release = linked_fragments(data, first, second, "exact")
    assert discernibility(release).per_fragment == {"one": 18, "two": 36}
    assert discernibility(release) == 27
    assert average_group_size(release) == 4.5


def test_k_of_the_algorithm_normalises(six_people: Microdata) -> None:
    size = average_group_size(Mondrian(requirements=[KAnonymity(k=2)]).anonymize(six_people))
    assert size.k == 2
    assert size.normalised == float(size) / 2


def test_mondrian_on_adult_loses_more_with_larger_groups() -> None:
    data = adult(["age", "education", "race", "sex"], "salary-class")
    losses = [information_loss(Mondrian(requirements=[KAnonymity(k=k)]).anonymize(data)) for k in (5, 50, 500)]
    assert 0 < losses[0] < losses[1] < losses[2] < 1
