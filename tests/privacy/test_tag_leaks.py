"""Columns that undo a tag: what is found, with which numbers, and what the tags decide."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anoncore import Microdata, Role, privacy
from anoncore.algorithms import Anatomy, Mondrian, Slicing
from anoncore.kernels.grouping import dense_key
from anoncore.privacy.tag_leaks import CodedClasses, _smallest_that_split, table_leaks
from anoncore.requirements import DistinctDiversity, KAnonymity
from anoncore.table.relations import smallest_and_below
from tests.privacy.releases import builtin, generalized
from tests.shared_data import require

KNOWN = ("age", "workclass", "education", "marital-status", "race", "sex", "native-country")
SCHOOL = pd.DataFrame(
    {"degree": list("AABBCCAABBCC"), "years": [10, 10, 13, 13, 16, 16] * 2, "town": list("xyxyxyxyxyxy")}
)


def mondrian(k):
    return Mondrian(requirements=[KAnonymity(k=k)])


def published(release, columns):
    """Sizes of the classes that readers of the published table see, told apart by further columns."""
    table = release.tables()["release"]
    return table.groupby([*release.data.quasi_identifiers, *columns], dropna=False, observed=True).size()


def test_years_that_say_the_degree():
    data = Microdata(SCHOOL, roles={"degree": "quasi-identifier", "*": "insensitive"})
    release = mondrian(12).anonymize(data)
    years, town = privacy.tag_leaks(release)
    assert (years.column, years.role, years.proposed) == ("years", Role.QUASI_IDENTIFIER, Role.QUASI_IDENTIFIER)
    assert {(one.telling, one.told) for one in years.relations} == {(("years",), "degree"), (("degree",), "years")}
    assert (years.split.smallest, years.split.smallest_before, years.split.n_below) == (4, 12, 12)
    assert years.sentence == (
        "'years' is published by decision and tells 'degree' of every row (guessing: 33%): with it the smallest "
        "group has 4 rows instead of 12, and 12 of 12 rows are in groups of fewer than k = 12. Tag "
        "'years' as a quasi-identifier, or leave it out of the release."
    )
    assert (town.column, town.relations, town.split.smallest) == ("town", (), 6)


def test_who_knows_all_but_the_secrets_sees_the_classes_of_all_columns():
    data = Microdata(SCHOOL, roles={"degree": "quasi-identifier", "years": "sensitive", "town": "insensitive"})
    release = mondrian(12).anonymize(data)
    split = privacy.all_but_secrets(release)
    assert (split.columns, split.k, split.smallest_before, split.smallest, split.n_below) == (("town",), 12, 12, 6, 12)
    assert privacy.all_but_secrets(release, k=6).n_below == 0
    alone = Microdata(SCHOOL, roles={"degree": "quasi-identifier"})
    assert privacy.all_but_secrets(mondrian(12).anonymize(alone)) is None
    assert privacy.tag_leaks(mondrian(12).anonymize(alone)) == ()


def test_a_column_that_follows_from_a_secret_is_proposed_as_a_secret():
    disease = ["flu", "cold", "gout", "ulcer"] * 10
    kind = ["lung" if one in ("flu", "cold") else "other" for one in disease]
    frame = pd.DataFrame({"age": range(40), "disease": disease, "kind": kind})
    data = Microdata(frame, roles={"age": "quasi-identifier", "disease": "sensitive", "*": "insensitive"})
    (leak,) = (one for one in privacy.tag_leaks(mondrian(4).anonymize(data)) if one.relations)
    assert (leak.column, leak.role, leak.relations[0].told) == ("kind", Role.SENSITIVE, "kind")
    assert "Tag 'kind' as sensitive" in leak.sentence


def test_columns_that_single_people_out_only_together():
    rows = [(a, b, c) for a in range(2) for b in range(2) for c in range(2)] * 3
    frame = pd.DataFrame(rows, columns=["a", "b", "c"]).assign(age=range(24))
    data = Microdata(frame, roles={"age": "quasi-identifier", "*": "insensitive"})
    leaks = privacy.tag_leaks(mondrian(24).anonymize(data), k=6)
    assert {one.split.columns for one in leaks} == {("a", "b", "c")}, "two make groups of 6, three of 3"
    leaks = privacy.tag_leaks(mondrian(24).anonymize(data), k=7)
    assert {one.split.columns for one in leaks} == {("b", "c")}
    assert {one.split.smallest for one in leaks} == {6}


def test_what_is_published_beside_a_column_cannot_be_given_away_by_it():
    frame = SCHOOL.assign(disease=list("fcgufcgufcgu"))
    roles = {"degree": "quasi-identifier", "town": "quasi-identifier", "disease": "sensitive"}
    assert privacy.tag_leaks(Anatomy(l=2).anonymize(Microdata(frame, {**roles, "*": "insensitive"}))) == ()
    apart = Slicing(l=1, attribute_columns=[["degree", "town"], ["years", "disease"]])
    (leak,) = privacy.tag_leaks(apart.anonymize(Microdata(frame, {**roles, "*": "insensitive"})))
    assert (leak.column, leak.split) == ("years", None), "years joins the two columns of the sliced table again"


def test_without_an_insensitive_column_nothing_is_found():
    data = Microdata(SCHOOL, roles=dict.fromkeys(SCHOOL, "quasi-identifier"))
    assert privacy.tag_leaks(mondrian(2).anonymize(data)) == ()
    assert table_leaks(data) == ()


def test_without_a_promised_k_unique_rows_count():
    frame = SCHOOL.assign(visits=range(12), disease=list("fcgufcgufcgu"))
    data = Microdata(
        frame,
        roles={"degree": "quasi-identifier", "disease": "sensitive", "years": "quasi-identifier", "*": "insensitive"},
    )
    release = Mondrian(requirements=[DistinctDiversity(l=3)]).anonymize(data)
    leak = next(one for one in privacy.tag_leaks(release) if one.column == "visits")
    assert (leak.split.k, leak.split.n_below) == (2, 12)
    assert "12 of 12 rows are unique" in leak.sentence


@st.composite
def tables(draw):
    n_rows = draw(st.integers(4, 40))
    column = st.lists(st.integers(0, 2), min_size=n_rows, max_size=n_rows)
    frame = pd.DataFrame({name: draw(column) for name in ("q1", "q2", "x1", "x2", "x3")})
    group = draw(st.lists(st.integers(0, 3), min_size=n_rows, max_size=n_rows))
    return Microdata(frame, roles={"q1": "quasi-identifier", "q2": "quasi-identifier", "*": "insensitive"}), group


@pytest.mark.slow
@settings(max_examples=50)
@given(tables(), st.integers(2, 6))
def test_every_column_that_makes_classes_smaller_is_named(case, k):
    data, group = case
    release = generalized(data, pd.factorize(np.array(group))[0])
    leaks = {one.column: one for one in privacy.tag_leaks(release, k)}
    before, over_all = published(release, []), published(release, ["x1", "x2", "x3"])
    split = privacy.all_but_secrets(release, k)
    assert (split.smallest, split.n_below) == (over_all.min(), over_all[over_all < k].sum())
    for leak in leaks.values():
        after = published(release, list(leak.split.columns))
        assert (leak.split.smallest_before, leak.split.smallest) == (before.min(), after.min())
        assert leak.split.n_below_before == before[before < k].sum()
        assert leak.split.n_below == after[after < k].sum()
        assert leak.relations or leak.split.n_below > leak.split.n_below_before
    # Once every named column is gone, no set of the others leaves more rows in small classes.
    harmless = [name for name in ("x1", "x2", "x3") if name not in leaks]
    for count in range(1, len(harmless) + 1):
        for together in combinations(harmless, count):
            after = published(release, list(together))
            assert after[after < k].sum() == before[before < k].sum(), together


def left_after_dropping(group, columns, k, people):
    """The plain twin: columns are dropped first to last as long as the others still leave more rows below k."""

    def below(names):
        key = dense_key((group, *(columns[name] for name in names)), len(group))
        return smallest_and_below(key, k, people)[1]

    def splits_more(names):
        return below(names) > below([])

    names = list(columns)
    if not splits_more(names):
        return ()
    for name in columns:
        others = [other for other in names if other != name]
        if splits_more(others):
            names = others
    return tuple(names)


@settings(max_examples=100)
@given(st.integers(1, 30), st.integers(1, 7), st.integers(2, 6), st.booleans(), st.integers(0, 10**6))
def test_the_smallest_set_is_the_one_that_dropping_columns_leaves(n_rows, n_columns, k, counts_people, seed):
    generator = np.random.default_rng(seed)
    group = generator.integers(0, 2, n_rows)
    columns = {f"x{place}": generator.integers(0, 2, n_rows).astype(np.int32) for place in range(n_columns)}
    people = generator.integers(0, n_rows, n_rows).astype(np.int32) if counts_people else None
    expected = left_after_dropping(group, columns, k, people)
    classes = CodedClasses(group, columns, k, people)
    ((_, before),) = classes.sizes([()])
    assert _smallest_that_split(classes, list(columns), before) == expected


def test_adult_education_num_undoes_education():
    require("adult.csv")
    release = mondrian(5).anonymize(builtin("adult"))
    leaks = {one.column: one for one in privacy.tag_leaks(release)}
    leak = leaks["education-num"]
    after = published(release, ["education-num"])
    assert published(release, []).min() == 5
    assert (leak.relations[0].told, leak.relations[0].share) == ("education", 1.0)
    assert (leak.split.smallest, leak.split.n_below) == (after.min(), after[after < 5].sum())
    assert leak.split.smallest == 1
    assert leak.split.n_below > 7_000
    assert all(one.is_decided for one in leaks.values()), "the built-in table tags them insensitive"
    assert not leaks["fnlwgt"].relations, "a column of different values tells nothing"


def test_eight_columns_of_adult_undo_a_tag():
    release = mondrian(5).anonymize(
        Microdata(
            pd.read_csv(require("adult.csv")), roles={**(dict.fromkeys(KNOWN, "quasi-identifier")), "*": "insensitive"}
        )
    )
    assert len(privacy.tag_leaks(release)) == 8


def test_where_a_unit_is_given_people_are_counted():
    visits = pd.DataFrame(
        {"who": list("aabbccdd"), "age": [30, 30, 31, 31, 32, 32, 33, 33], "ward": [1, 1, 2, 2, 1, 1, 2, 2]}
    )
    data = Microdata(visits, roles={"age": "quasi-identifier", "*": "insensitive"}, unit="who")
    (leak,) = privacy.tag_leaks(mondrian(4).anonymize(data))
    assert (leak.split.smallest_before, leak.split.smallest, leak.split.n_below) == (4, 2, 8)
    assert "has 2 people instead of 4, and 8 of 8 rows are in groups of fewer than 4 people" in leak.finding
