"""Methods that publish other values than people have: middles of clusters by hand, and the probabilities of PRAM."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anoncore import DataError, Hierarchy, InfeasibleError, Microdata, attacks, privacy, utility
from anoncore.algorithms import CentroidMicroaggregation, Pram


def tagged(frame, **kinds):
    roles = {name: "sensitive" if name == "ill" else "quasi-identifier" for name in frame}
    return Microdata(frame, roles, kinds=kinds)


def test_the_middles_of_two_clusters_by_hand():
    # The young: mean 22, nearest of 20, 21, 25 is 21; the old: mean 50, nearest of 44, 46, 60 is 46. Of towns the most
    # frequent one, of degrees the middle one.
    people = pd.DataFrame(
        {
            "age": [20, 21, 25, 44, 46, 60],
            "town": ["Ulm", "Ulm", "Bonn", "Kiel", "Bonn", "Bonn"],
            "degree": ["none", "school", "school", "school", "master", "master"],
        }
    )
    roles = dict.fromkeys(people, "quasi-identifier")
    data = Microdata(people, roles, kinds={"degree": "ordinal"}, orders={"degree": ["none", "school", "master"]})
    release = CentroidMicroaggregation(k=3, seed=0).anonymize(data)
    table = release.tables()["release"]
    assert table.to_numpy().tolist() == [[21, "Ulm", "school"]] * 3 + [[46, "Bonn", "master"]] * 3
    # (1 + 0 + 4 + 2 + 0 + 14) / 40 / 6 of the ages, and 2 of 6 towns, and 2 of 6 degrees.
    assert float(utility.information_loss(release)) == pytest.approx((21 / 240 + 2 / 6 + 2 / 6) / 3)


def test_a_mean_half_way_between_two_values_is_the_lower_one_in_every_unit():
    for unit in (1e-9, 0.1, 1, 3, 1e9):
        data = tagged(pd.DataFrame({"age": [unit * 1, unit * 2]}))
        assert set(CentroidMicroaggregation(k=2, seed=0).anonymize(data).tables()["release"]["age"]) == {unit * 1}


def test_a_cluster_publishes_missing_where_most_of_it_is():
    data = tagged(pd.DataFrame({"age": [None, None, 30.0], "town": [None, "Ulm", "Ulm"]}))
    table = CentroidMicroaggregation(k=3, seed=0).anonymize(data).tables()["release"]
    assert table["age"].isna().all()
    assert set(table["town"]) == {"Ulm"}
    nothing = tagged(pd.DataFrame({"age": pd.array([None, None], dtype="Int64"), "town": ["Ulm", "Bonn"]}))
    assert CentroidMicroaggregation(k=2, seed=0).anonymize(nothing).tables()["release"]["age"].isna().all()


@pytest.mark.slow
@settings(max_examples=30)
@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 3)), min_size=4, max_size=40), st.integers(1, 4))
def test_classes_are_unions_of_clusters_with_their_middles(rows, k):
    data = tagged(pd.DataFrame(rows, columns=["a", "b"]))
    release = CentroidMicroaggregation(k=k, seed=3).anonymize(data)
    clusters = CentroidMicroaggregation(k=k, seed=3).clusters(data)
    published = release.recoding("a").codes
    values = np.unique([a for a, _ in rows])
    for number in range(clusters.n_groups):
        members = clusters.rows(number)
        assert len(set(release.partition.group[members].tolist())) == 1
        mean = np.mean([rows[row][0] for row in members])
        nearest = np.abs(values - mean)
        assert nearest[published[members[0]]] == pytest.approx(nearest.min())
    assert privacy.profile(release).k >= k


def test_too_few_people_are_refused():
    with pytest.raises(InfeasibleError, match="k = 5 is not possible"):
        CentroidMicroaggregation(k=5).anonymize(tagged(pd.DataFrame({"age": [1, 2, 3]})))


def table(n=3000, seed=1):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "age": rng.integers(20, 60, n),
            "town": rng.choice(["Ulm", "Bonn", "Kiel"], n, p=[0.7, 0.299, 0.001]),
            "ill": rng.choice(["flu", "gout"], n, p=[0.9, 0.1]),
        }
    )


@pytest.mark.parametrize("change", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("level", [0, 1, 2, 9])
def test_the_matrix_is_invariant(change, level):
    frame = table()
    data = Microdata(
        frame,
        {"age": "quasi-identifier", "town": "quasi-identifier", "ill": "sensitive"},
        hierarchies={"age": Hierarchy.by_width(frame["age"], width=10)},
    )
    pram = Pram(change=change, level=level)
    for name in ("age", "town", "ill"):
        matrix = pram.transition(data, name)
        shares = np.bincount(data.codes[name]) / data.n_rows
        assert matrix.sum(axis=1) == pytest.approx(np.ones(len(shares)))
        assert shares @ matrix == pytest.approx(shares)
        assert (matrix >= 0).all()


def test_values_move_as_often_as_the_matrix_says():
    data = tagged(table())
    pram = Pram(attributes="both", change=0.4, seed=5)
    release = pram.anonymize(data)
    for name in ("age", "town", "ill"):
        matrix = pram.transition(data, name)
        size = len(matrix)
        moves = np.zeros((size, size))
        np.add.at(moves, (data.codes[name], release.recoding(name).codes), 1)
        expected = np.bincount(data.codes[name])[:, None] * matrix
        # Six standard deviations of a count, and one more for counts near 0.
        assert (np.abs(moves - expected) <= 6 * np.sqrt(expected) + 1).all()


@settings(max_examples=30)
@given(st.lists(st.integers(0, 30), min_size=2, max_size=60), st.integers(0, 3), st.integers(0, 10_000))
def test_no_move_of_probability_zero_ever_happens(ages, level, seed):
    frame = pd.DataFrame({"age": ages})
    data = Microdata(frame, {"age": "quasi-identifier"}, hierarchies={"age": Hierarchy.by_width(frame["age"], width=5)})
    for change in (0.5, 1.0):
        pram = Pram(change=change, level=level, seed=seed)
        published = pram.anonymize(data).recoding("age").codes
        assert (pram.transition(data, "age")[data.codes["age"], published] > 0).all()


def test_the_release_is_measured_by_the_same_attacks():
    data = tagged(table(400))
    for method in (Pram(change=0.5, seed=2), CentroidMicroaggregation(k=5, seed=2)):
        release = method.anonymize(data)
        assert 0 < float(utility.two_way_error(release)) < 1
        assert attacks.sensitive_posterior(release, "ill").sum(axis=1) == pytest.approx(np.ones(400))
        assert 0 < attacks.reidentification(release).prosecutor.largest <= 1
        assert attacks.membership(release) is not None


def test_pram_needs_an_attribute_to_draw_anew():
    data = Microdata(pd.DataFrame({"a": [1, 2]}), {"a": "quasi-identifier"})
    with pytest.raises(DataError, match="No attribute is tagged as sensitive"):
        Pram(attributes="sensitive").anonymize(data)
