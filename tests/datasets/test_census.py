"""The census-like table: shape, determinism, and attributes that depend on each other."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import mutual_info_score

from anoncore.base.errors import DataError
from anoncore.datasets import table
from anoncore.datasets.catalog import taxonomy_values
from anoncore.datasets.census import AGES, DEFAULT_ROWS, age_bands, load_census, people_tables, work_tables

COLUMNS = [
    "person-id",
    "name",
    "age",
    "workclass",
    "education",
    "marital-status",
    "occupation",
    "race",
    "sex",
    "hours-per-week",
    "native-country",
    "income",
    "salary-class",
    "diagnosis",
]


@pytest.fixture(scope="module")
def census() -> pd.DataFrame:
    return load_census()


def binned(column: pd.Series) -> pd.Series:
    return pd.qcut(column, 10, labels=False, duplicates="drop") if pd.api.types.is_numeric_dtype(column) else column


def test_shape_and_columns(census):
    assert census.shape == (45_222, 14) == (DEFAULT_ROWS, len(COLUMNS))
    assert list(census.columns) == COLUMNS
    assert not census.isna().any().any()


@pytest.mark.parametrize("n_rows", [1, 2, 1000, 120_000])
def test_any_size(n_rows):
    frame = load_census(n_rows=n_rows, seed=3)
    assert len(frame) == n_rows
    assert frame["person-id"].is_unique
    assert list(frame.index) == list(range(n_rows))


def test_the_same_seed_gives_the_same_table_and_another_does_not():
    pd.testing.assert_frame_equal(load_census(500, seed=7), load_census(500, seed=7))
    assert (
        not load_census(500, seed=7)
        .drop(columns="person-id")
        .equals(load_census(500, seed=8).drop(columns="person-id"))
    )


@pytest.mark.parametrize(("n_rows", "seed"), [(0, 0), (-5, 0), (10.5, 0), (True, 0), (10, -1), (10, "a")])
def test_sizes_and_seeds_that_make_no_sense_are_refused(n_rows, seed):
    with pytest.raises(DataError, match="generated table needs a whole"):
        load_census(n_rows, seed=seed)


def test_values_stay_in_their_domains(census):
    assert census["age"].between(17, 90).all()
    assert {17, 90} <= set(census["age"])
    assert census["hours-per-week"].between(1, 90).all()
    assert (census["income"] >= 0).all()
    assert set(census["diagnosis"]) == set(taxonomy_values(table("census").taxonomies["diagnosis"]))
    distinct = {"education": 16, "workclass": 7, "marital-status": 7, "occupation": 14, "race": 5, "sex": 2}
    assert census[list(distinct)].nunique().to_dict() == distinct
    assert census["person-id"].str.fullmatch(r"P\d{6}").all()
    assert census["name"].str.fullmatch(r"[A-Z][a-z]+ [A-Z][a-z]+").all()


def test_the_salary_class_says_whether_the_income_is_above_50000(census):
    assert ((census["salary-class"] == ">50K") == (census["income"] > 50_000)).all()
    assert 0.2 < (census["salary-class"] == ">50K").mean() < 0.35
    assert (census.loc[census["workclass"] == "Without-pay", "income"] == 0).all()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("age", "diagnosis"),
        ("sex", "diagnosis"),
        ("age", "education"),
        ("age", "marital-status"),
        ("sex", "marital-status"),
        ("education", "workclass"),
        ("education", "occupation"),
        ("sex", "occupation"),
        ("workclass", "occupation"),
        ("race", "native-country"),
        ("occupation", "hours-per-week"),
        ("sex", "hours-per-week"),
        ("education", "salary-class"),
        ("occupation", "salary-class"),
        ("age", "salary-class"),
        ("sex", "salary-class"),
        ("hours-per-week", "salary-class"),
    ],
)
def test_attributes_depend_on_each_other_far_more_than_by_chance(census, one, other):
    a, b = binned(census[one]), binned(census[other])
    shuffled = np.random.default_rng(0).permutation(b.to_numpy())
    assert mutual_info_score(a, b) > 3 * mutual_info_score(a, shuffled) + 0.004


def test_what_is_not_meant_to_depend_does_not(census):
    shuffled = np.random.default_rng(0).permutation(census["sex"].to_numpy())
    assert mutual_info_score(census["race"], census["sex"]) < 3 * mutual_info_score(census["race"], shuffled) + 0.0005


def test_every_conditional_table_sums_to_one():
    for conditional in (*people_tables(), *work_tables()):
        assert (conditional.probabilities >= 0).all(), conditional.child
        assert conditional.probabilities.sum(axis=-1) == pytest.approx(1.0), conditional.child


def test_parents_come_before_their_children():
    known = {"age-band", "education-level"}
    for conditional in (*people_tables(), *work_tables()):
        assert set(conditional.parents) <= known, conditional.child
        known.add(conditional.child)


def test_age_bands_start_where_they_say():
    bands = [AGES[age_bands() == band] for band in range(6)]
    assert [(ages.min(), ages.max()) for ages in bands] == [(17, 18), (19, 24), (25, 34), (35, 49), (50, 64), (65, 90)]


def test_shares_match_the_written_figures(census):
    women_over_65 = census[(census["sex"] == "Female") & (census["age"] >= 65)]
    assert (women_over_65["marital-status"] == "Widowed").mean() == pytest.approx(0.47, abs=0.06)
    young_men = census[(census["sex"] == "Male") & census["age"].between(25, 34)]
    assert (young_men["diagnosis"] == "Influenza").mean() == pytest.approx(0.22, abs=0.03)


def test_a_health_attribute_is_what_needs_protection():
    roles = table("census").roles
    assert [c for c in COLUMNS if roles[c] == "sensitive"] == ["diagnosis"]
    assert [c for c in COLUMNS if roles[c] == "identifier"] == ["person-id", "name"]
    assert [c for c in COLUMNS if roles[c] == "quasi-identifier"] == (
        ["age", "workclass", "education", "marital-status", "occupation", "race", "sex"]
    )
