"""The worked examples hold the figures that the papers print."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from anoncore.base.errors import DataError
from anoncore.datasets import published_groups, table, tables


def load(name):
    return table(name).load()


def groups_of(name):
    frame = load(name)
    return [part for _, part in frame.groupby(np.array(published_groups(name)), sort=True)]


def test_published_groups_fit_their_tables():
    for name in tables():
        try:
            groups = published_groups(name)
        except DataError:
            continue
        assert len(groups) == len(load(name)), name
        assert set(groups) == set(range(max(groups) + 1)), name
    with pytest.raises(DataError, match="'census' has no published groups"):
        published_groups("census")


def test_slicing_table_1_and_its_worked_example():
    first, second = groups_of("slicing-table-1")
    # Table 1(d) prints the multisets of both buckets.
    assert Counter(first["age"]) == {22: 2, 33: 1, 52: 1}
    assert Counter(first["sex"]) == {"M": 1, "F": 3}
    assert Counter(first["zipcode"]) == {"47905": 2, "47906": 2}
    assert Counter(first["disease"]) == {"dyspepsia": 1, "flu": 2, "bronchitis": 1}
    assert Counter(second["age"]) == {54: 1, 60: 2, 64: 1}
    assert Counter(second["sex"]) == {"M": 3, "F": 1}
    assert Counter(second["zipcode"]) == {"47302": 2, "47304": 2}
    assert Counter(second["disease"]) == {"flu": 1, "dyspepsia": 2, "gastritis": 1}
    # t1 = (22, M, 47906, dyspepsia): f_1 = 0.25, f_2 = 0.5 in its bucket.
    assert first.iloc[0].tolist() == [22, "M", "47906", "dyspepsia"]
    assert ((first["age"] == 22) & (first["sex"] == "M")).mean() == 0.25
    assert Counter(first.loc[first["zipcode"] == "47906", "disease"]) == {"dyspepsia": 1, "flu": 1}


def test_foreground_table_1_is_published_2_diverse():
    frame = load("foreground-table-1")
    assert frame["name"].dropna().tolist() == ["Alex", "Bob"]
    assert frame["nationality"].tolist() == ["American", "Japanese", "Japanese", "Japanese", "French", "Japanese"]
    sensitive = [part["disease"].tolist() for part in groups_of("foreground-table-1")]
    assert sensitive == [["Heart Disease", "Flu"], ["Flu", "Stomach Virus"], ["HIV", "Diabetes"]]


def test_foreground_table_5_has_two_of_four_with_x():
    frame = load("foreground-table-5")
    assert frame["signature"].tolist() == ["s1", "s1", "s2", "s2"]
    assert (frame["X"] == "x").sum() == 2


def test_foreground_table_8_is_table_7_and_each_group_is_2_diverse():
    frame = load("foreground-table-8")
    assert Counter(zip(frame["signature"], frame["X"] == "x", strict=True)) == {
        ("s1", True): 2,
        ("s1", False): 1,
        ("s2", False): 3,
    }
    groups = groups_of("foreground-table-8")
    assert [part["signature"].tolist() for part in groups] == [["s1", "s2"], ["s1", "s1"], ["s2", "s2"]]
    assert [(part["X"] == "x").sum() for part in groups] == [1, 1, 0]
    assert all(part["X"].value_counts(normalize=True).max() <= 0.5 for part in groups)
    # f_1 = [1 + 2 * 1/2] / 3 = 2/3 with f_2 = 0, the solution of example 2.
    assert frame.loc[frame["signature"] == "s1", "X"].eq("x").mean() == pytest.approx(2 / 3)


def test_t_closeness_raw_table_and_linking():
    assert load("t-closeness-table-2.1").shape == (9, 6)
    assert load("t-closeness-table-2.1")["ssn"].is_unique
    people, patients = load("t-closeness-table-2.6"), load("t-closeness-table-2.7")
    assert (len(people), len(patients)) == (9, 7)
    linked = people.merge(patients, on=["job", "age", "sex"])
    assert dict(zip(linked["name"], linked["disease"], strict=True)) == {
        "Cindy": "Cancer",
        "Eion": "Pneumonia",
        "Gavin": "Heart Disease",
        "Igram": "Pneumonia",
    }


def test_t_closeness_3_anonymous_classes():
    classes = groups_of("t-closeness-table-2.8")
    assert [len(part) for part in classes] == [3, 3, 3]
    assert set(classes[0]["disease"]) == {"Heart Disease"}, "the homogeneity attack on Bob"
    assert [sorted(part["age"]) for part in classes] == [[25, 27, 29], [43, 47, 52], [30, 32, 36]]
    assert all(zipcode.startswith("4790") for zipcode in classes[1]["zipcode"])


def test_t_closeness_3_diverse_classes():
    classes = groups_of("t-closeness-table-2.10")
    assert [sorted(part["salary"]) for part in classes] == [
        [3_000, 4_000, 5_000],
        [6_000, 8_000, 11_000],
        [7_000, 9_000, 10_000],
    ]
    stomach = set(table("t-closeness-table-2.10").taxonomies["disease"]["Stomach disease"])
    assert set(classes[0]["disease"]) == stomach, "the similarity attack"
    assert all(part["disease"].nunique() == 3 for part in classes)


def test_salaries_of_section_3_5():
    frame = load("t-closeness-salaries")
    assert len(frame) == 250
    thousands = {70: 42, 75: 39, 85: 37, 55: 31, 50: 24, 65: 20, 80: 17, 60: 16, 90: 15, 95: 9}
    assert frame["salary"].value_counts().to_dict() == {1000 * salary: count for salary, count in thousands.items()}
    assert not frame["salary"].is_monotonic_increasing
    assert not frame["salary"].is_monotonic_decreasing


def test_dealing_the_salaries_gives_table_3_3():
    salaries = load("t-closeness-salaries")["salary"]
    stacked = [salary for salary, count in salaries.value_counts().items() for _ in range(count)]
    classes = [Counter(stacked[first::5]) for first in range(5)]
    in_order = list(salaries.value_counts().index)
    assert [classes[0][salary] for salary in in_order] == [9, 8, 7, 6, 5, 4, 3, 4, 3, 1]
    assert [classes[4][salary] for salary in in_order] == [8, 8, 7, 6, 5, 4, 4, 3, 3, 2]


def test_data_set_1_of_the_experiments():
    frame = load("t-closeness-dataset-1")
    assert len(frame) == 730
    assert sorted(frame["S"].value_counts(), reverse=True) == [167, 153, 127, 103, 91, 89]


def test_figure_4_1_has_the_printed_matrix():
    frame = load("t-closeness-figure-4.1")
    assert len(frame) == 400
    shares = frame.groupby(["X", "Y"]).size().unstack(fill_value=0) / 400
    printed = [[0.05, 0.05, 0.25], [0.0, 0.1, 0.1], [0.1, 0.05, 0.15], [0.1, 0.0, 0.05]]
    assert shares.to_numpy().tolist() == printed
    assert shares.sum(axis=1).tolist() == pytest.approx([0.35, 0.2, 0.3, 0.15])
    assert shares.sum(axis=0).tolist() == pytest.approx([0.25, 0.2, 0.55])


def test_table_5_1_has_the_multiplicities_of_table_5_2():
    frame = load("t-closeness-table-5.1")
    assert len(frame) == 15
    counts = Counter(zip(frame["S_A"], frame["S_B"], strict=True))
    assert counts == {("a1", "b1"): 2, ("a1", "b2"): 3, ("a2", "b1"): 5, ("a2", "b2"): 1, ("a2", "b3"): 4}
    assert frame.loc[3, ["S_A", "S_B"]].tolist() == ["a1", "b2"], "record 4"
    assert frame.loc[14, ["S_A", "S_B"]].tolist() == ["a1", "b2"], "record 15"


def test_fragmentation_table_3():
    frame = load("fragmentation-table-3")
    assert frame["disease"].value_counts().to_dict() == {"flu": 2, "pneumonia": 2, "dyspepsia": 1}
    assert frame[["age", "sex"]].drop_duplicates().to_numpy().tolist() == [[23, "M"]]


def test_rothko_figure_2_has_the_regions_of_the_tree():
    asian = set(table("rothko-figure-2").taxonomies["nationality"]["Asian"])
    young_asian, young_european, older = groups_of("rothko-figure-2")
    assert (young_asian["age"] <= 40).all()
    assert set(young_asian["nationality"]) <= asian
    assert (young_european["age"] <= 40).all()
    assert not set(young_european["nationality"]) & asian
    assert (older["age"] > 40).all()
    assert load("rothko-figure-2")["age"].median() == 40, "the threshold of the root"
    assert all(len(part) >= 3 for part in (young_asian, young_european, older))
