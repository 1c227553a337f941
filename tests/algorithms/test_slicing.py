"""Slicing as a user meets it: the paper's tables, columns, sentences for what does not fit, and the Adult table."""

import numpy as np
import pandas as pd
import pytest

from anoncore import Microdata, Partition, Release, attacks, privacy, utility
from anoncore.algorithms import Mondrian, Slicing
from anoncore.algorithms.base import generalized_release
from anoncore.algorithms.slicing.columns import sliced_release
from anoncore.algorithms.slicing.slicing import achieved_diversity
from anoncore.base.errors import CancelledError, DataError, InfeasibleError, ParameterError, ReleaseError
from anoncore.release.recoding import ColumnRegions, Exact
from anoncore.requirements import DistinctDiversity, FrequencyDiversity, KAnonymity
from tests.privacy.releases import adult, builtin

BUCKETS = Partition(np.array([0, 0, 0, 0, 1, 1, 1, 1]))
TWO_COLUMNS = (("age", "sex"), ("zipcode", "disease"))
OCC_7 = ("age", "workclass", "education", "marital-status", "race", "sex")


def published(release):
    """The buckets of every column, as sorted lists of its cells."""
    return {
        name: sorted(
            sorted(map(tuple, rows.drop(columns="group").astype(str).to_numpy().tolist()))
            for _, rows in frame.groupby("group")
        )
        for name, frame in release.tables().items()
    }


@pytest.fixture
def table():
    return builtin("slicing-table-1")


def test_table_1a_is_one_column(table):
    (frame,) = sliced_release(table, BUCKETS, [table.attributes]).tables().values()
    pd.testing.assert_frame_equal(
        frame.sort_values(list(frame)).reset_index(drop=True),
        table.frame.sort_values(list(frame)).reset_index(drop=True),
        check_dtype=False,
    )


def test_table_1b_is_the_generalization_of_the_buckets(table):
    cells = generalized_release(Mondrian(), table, BUCKETS).tables()["release"]
    assert set(zip(cells["age"], cells["sex"], cells["zipcode"], strict=True)) == {
        ("22-52", "{F, M}", "4790*"),
        ("54-64", "{F, M}", "4730*"),
    }
    assert cells.groupby("age").size().tolist() == [4, 4]


def test_table_1c_is_bucketization(table):
    cells = published(sliced_release(table, BUCKETS, [("age", "sex", "zipcode"), ("disease",)]))
    assert cells["column 1"][0] == [
        ("22", "F", "47906"),
        ("22", "M", "47906"),
        ("33", "F", "47905"),
        ("52", "F", "47905"),
    ]
    assert cells["column 2"] == [
        [("bronchitis",), ("dyspepsia",), ("flu",), ("flu",)],
        [("dyspepsia",), ("dyspepsia",), ("flu",), ("gastritis",)],
    ]


def test_tables_1d_and_1e_are_one_attribute_per_column(table):
    cells = published(sliced_release(table, BUCKETS, [(name,) for name in table.attributes]))
    # The multisets of table 1(d): 22:2, 33:1, 52:1 and so on.
    assert cells["column 1"] == [[("22",), ("22",), ("33",), ("52",)], [("54",), ("60",), ("60",), ("64",)]]
    assert cells["column 2"] == [[("F",), ("F",), ("F",), ("M",)], [("F",), ("M",), ("M",), ("M",)]]
    assert cells["column 3"] == [
        [("47302",), ("47302",), ("47304",), ("47304",)],
        [("47905",), ("47905",), ("47906",), ("47906",)],
    ]


def test_table_1f_and_its_worked_example(table):
    release = sliced_release(table, BUCKETS, TWO_COLUMNS)
    cells = published(release)
    assert cells["column 1"][1] == [("54", "M"), ("60", "M"), ("60", "M"), ("64", "F")]
    assert cells["column 2"][1] == [
        ("47905", "bronchitis"),
        ("47905", "flu"),
        ("47906", "dyspepsia"),
        ("47906", "flu"),
    ]
    # t1 = (22, M, 47906): f_1 = 0.25, f_2 = 0.5, only in the first bucket, dyspepsia or flu.
    found = attacks.matching_buckets(release, "disease", 0)
    assert found.buckets.index.tolist() == [0]
    assert found.buckets.loc[0].to_dict() == {"size": 4, "column 1": 0.25, "column 2": 0.5, "f": 0.125, "p": 1}
    assert found.values.loc[0][found.values.loc[0] > 0].to_dict() == {"dyspepsia": 0.5, "flu": 0.5}
    assert achieved_diversity(release, "disease") == pytest.approx(2)


def test_matching_buckets_agree_with_the_posterior():
    data = adult(OCC_7, "occupation")
    release = Slicing(l=3, columns=3, sensitive_column_size=2).anonymize(data)
    posterior = attacks.sensitive_posterior(release, "occupation")
    for row in (0, 17, 4_321):
        found = attacks.matching_buckets(release, "occupation", row)
        assert found.own in found.buckets.index
        assert found.buckets["p"].sum() == pytest.approx(1)
        assert found.probability.to_numpy() == pytest.approx(posterior[row], abs=1e-12)


@pytest.mark.parametrize("l", [1.5, 2])
@pytest.mark.parametrize("columns", [TWO_COLUMNS, (("age", "sex", "zipcode"), ("disease",))])
def test_buckets_of_the_paper_are_found(table, columns, l):
    release = Slicing(l=l, attribute_columns=columns).anonymize(table)
    assert achieved_diversity(release, "disease") >= l - 1e-6
    assert release.partition.n_groups >= 2
    assert [fragment.attributes for fragment in release.fragments] == list(columns)
    assert release.group_word == "bucket"


def test_the_sensitive_column_comes_last(table):
    model = Slicing(attribute_columns=[["disease", "zipcode"], ["age", "sex"]])
    assert model.resolve_columns(table) == (("age", "sex"), ("disease", "zipcode"))


def test_more_columns_never_lower_what_one_bucket_reaches(table):
    one = Partition(np.zeros(8, dtype=np.int32))
    reached = [
        achieved_diversity(sliced_release(table, one, columns), "disease")
        for columns in ([table.attributes], TWO_COLUMNS, [(name,) for name in table.attributes])
    ]
    assert reached == [pytest.approx(1), pytest.approx(2), pytest.approx(8 / 3)]


@pytest.mark.parametrize(
    ("columns", "diversity", "feasible"),
    [
        # Women are adm-clerical in 25.4% of the rows, everybody prof-specialty in 13.3%.
        ([[*OCC_7[:5]], ["sex", "occupation"]], "posterior", 3.94),
        ([[*OCC_7], ["occupation"]], "posterior", 7.51),
        ([[*OCC_7[:5]], ["sex", "occupation"]], "distinct", 13),
    ],
)
def test_an_l_that_one_bucket_fails_names_the_largest_that_it_reaches(columns, diversity, feasible):
    data = adult(OCC_7, "occupation")
    with pytest.raises(InfeasibleError, match="with all rows in one group, 'occupation'") as error:
        Slicing(l=14, diversity=diversity, attribute_columns=columns).anonymize(data)
    assert error.value.nearest == pytest.approx(feasible, abs=0.02)
    Slicing(l=error.value.nearest, diversity=diversity, attribute_columns=columns).validate_data(data)


def test_sentences_for_columns_that_do_not_fit(table):
    def error(**fields):
        with pytest.raises((DataError, ReleaseError)) as caught:
            Slicing(**fields).validate_data(table)
        return str(caught.value)

    assert "No column has 'sex'" in error(attribute_columns=[["age"], ["zipcode", "disease"]])
    assert "'job'" in error(attribute_columns=[["age", "job"], ["disease"]])
    assert "each once" in error(attribute_columns=[["age", "age"], ["sex", "zipcode", "disease"]])
    assert "none" in error(attribute_columns=[["age", "sex", "zipcode", "disease"], []])
    assert "in a ring" in error(attribute_columns=[["age", "sex"], ["sex", "zipcode"], ["zipcode", "age", "disease"]])
    assert "has 4" in error(columns=5)
    assert "do not fit 4 attributes" in error(columns=3, sensitive_column_size=3)
    overlapping = [["age", "sex"], ["sex", "zipcode", "disease"]]
    assert "'sex' stands in several columns" in error(
        attribute_columns=overlapping, column_requirements=[KAnonymity(k=2)]
    )
    with pytest.raises(ParameterError, match="l should be"):
        Slicing(l=0.5)


def test_a_table_without_a_sensitive_attribute_is_refused():
    data = Microdata(
        pd.DataFrame({"age": [1, 2], "a": ["x", "y"]}), roles={"age": "quasi-identifier", "*": "insensitive"}
    )
    with pytest.raises(DataError, match="sensitive"):
        Slicing(l=1).anonymize(data)


def test_only_the_protected_values_are_bounded():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"age": rng.integers(20, 60, 300), "s": rng.choice(["flu", "HIV", "cold"], 300, p=[0.8, 0.1, 0.1])}
    )
    roles = {"age": "quasi-identifier", "s": "sensitive"}
    with pytest.raises(InfeasibleError):
        Slicing(l=3).anonymize(Microdata(frame, roles=roles))
    data = Microdata(frame, roles=roles, sensitive_values={"s": ["HIV"]})
    release = Slicing(l=3).anonymize(data)
    code = data.domain["s"].code_of("HIV")
    assert release.partition.n_groups > 5
    assert attacks.sensitive_posterior(release, "s")[:, code].max() <= 1 / 3 + 1e-9
    both = Slicing(l=2, diversity="distinct").anonymize(
        Microdata(frame, roles=roles, sensitive_values={"s": ["HIV", "cold"]})
    )
    assert achieved_diversity(both, "s", "distinct") == 2


@pytest.mark.slow
def test_column_generalization_gives_every_column_value_the_required_rows():
    data = adult(OCC_7, "occupation")
    requirements = [KAnonymity(k=50), DistinctDiversity(l=5)]
    model = Slicing(l=2.5, columns=3, sensitive_column_size=2, column_requirements=requirements)
    release = model.anonymize(data)
    for fragment in release.fragments:
        regions = {name: one for name, one in fragment.recodings.items() if isinstance(one, ColumnRegions)}
        assert set(regions) == set(fragment.attributes) - {"occupation"}
        texts = pd.DataFrame({name: one.texts() for name, one in regions.items()})
        texts["occupation"] = data.frame["occupation"].to_numpy()
        by_value = texts.groupby(list(regions))["occupation"]
        assert by_value.size().min() >= 50
        assert by_value.nunique().min() >= 5
        codes = np.column_stack([data.codes[name] for name in regions])
        low, high = (np.column_stack([one.bounds()[side] for one in regions.values()]) for side in (0, 1))
        assert ((low <= codes) & (codes <= high)).all()
        # Regions do not overlap: equal values always have equal cells.
        assert len(pd.DataFrame(codes).drop_duplicates()) == len(
            pd.DataFrame(np.hstack([codes, low])).drop_duplicates()
        )
    assert achieved_diversity(release, "occupation") >= 2.5 - 1e-6
    assert 0 < utility.information_loss(release) < 1
    assert utility.association_error(release) < 0.2
    assert 0 < utility.query_error(release, n_queries=100) < 1


def test_generalized_columns_keep_the_association_within_the_column():
    """A column's cells are linked row by row, so only what the regions blur is lost."""
    rng = np.random.default_rng(1)
    age = rng.integers(0, 40, 4_000)
    frame = pd.DataFrame({"age": age, "income": age + rng.integers(0, 3, 4_000), "s": rng.integers(0, 4, 4_000)})
    data = Microdata(frame, roles={"age": "quasi-identifier", "income": "quasi-identifier", "s": "sensitive"})
    columns = [("age", "income"), ("s",)]
    release = Slicing(l=2, attribute_columns=columns, column_requirements=[KAnonymity(k=20)]).anonymize(data)
    kept = utility.association_error(release).released.loc["age", "income"]
    assert kept > 0.5 * utility.association(data).loc["age", "income"]


def test_a_generalized_column_of_its_own_gives_away_what_all_of_a_region_have():
    # The young have ages 20-23 and all of them HIV; one bucket alone would show it in 4 of 8 rows.
    people = pd.DataFrame(
        {"age": [20, 21, 22, 23, 60, 61, 62, 63], "disease": ["HIV"] * 4 + ["flu", "flu", "gout", "gout"]}
    )
    roles = {"age": "quasi-identifier", "disease": "sensitive"}
    data = Microdata(people, roles=roles)
    slicing = Slicing(l=2, columns=1, column_requirements=[KAnonymity(k=4)])
    with pytest.raises(InfeasibleError, match=r"makes somebody's value 100% likely \(l = 1\)"):
        slicing.anonymize(data)


def test_one_column_is_judged_like_what_is_published_of_it():
    people = pd.DataFrame(
        {"age": [20, 21, 22, 23, 60, 61, 62, 63], "disease": ["HIV", "flu"] * 2 + ["flu", "gout"] * 2}
    )
    roles = {"age": "quasi-identifier", "disease": "sensitive"}
    data = Microdata(people, roles=roles)
    release = Slicing(l=2, columns=1, column_requirements=[KAnonymity(k=4)]).anonymize(data)
    again = Release.from_published(release.tables(), roles, original=data)
    for one in (release, again):
        assert one.partition.sizes.tolist() == [4, 4]
        np.testing.assert_allclose(attacks.sensitive_posterior(one, "disease").max(axis=1), 0.5)
    pd.testing.assert_frame_equal(privacy.profile(release).frame(), privacy.profile(again).frame())
    together = attacks.composition([release, again], "disease")
    assert together.possible.tolist() == [2] * 8
    hard = Slicing(l=2, columns=1, column_requirements=[KAnonymity(k=4)], requirements=[KAnonymity(k=5)])
    with pytest.raises(InfeasibleError, match=r"no buckets that could hide people.*has size 4"):
        hard.anonymize(data)


def test_exact_values_stay_and_columns_keep_their_rows():
    data = adult(OCC_7, "occupation")
    release = Slicing(l=2, columns=2, sensitive_column_size=2).anonymize(data)
    assert release.fragments[-1].attributes == ("sex", "occupation")
    assert all(isinstance(release.recoding(name), Exact) for name in data.attributes)
    linked = release.linked(np.random.default_rng(0))
    for column in release.fragments:
        names = list(column.attributes)
        left, right = linked[names].value_counts(), data.frame[names].value_counts()
        assert left.sort_index().equals(right.sort_index())
    assert utility.association_error(release).difference.loc["sex", "occupation"] == pytest.approx(0, abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize(("diversity", "l"), [("distinct", 5), ("distinct", 8), ("distinct", 10), ("posterior", 3)])
def test_adult_at_the_papers_levels(diversity, l):
    data = adult(OCC_7, "occupation")
    release = Slicing(l=l, columns=5, diversity=diversity, sensitive_column_size=2).anonymize(data)
    assert achieved_diversity(release, "occupation", diversity) >= l - 1e-6
    assert release.partition.n_groups > 500


def test_one_try_per_bucket_splits_less():
    data = adult(OCC_7, "occupation")
    model = Slicing(l=8, diversity="distinct", sensitive_column_size=2)
    once = model.replace(retry_splits=False).anonymize(data)
    assert once.partition.n_groups < model.anonymize(data).partition.n_groups


def test_row_order_and_labels_do_not_matter():
    data = adult(OCC_7, "occupation")
    order = np.random.default_rng(5).permutation(800)
    frame = data.frame.iloc[:800]
    model = Slicing(l=2.5, columns=3, sensitive_column_size=2)
    first = model.anonymize(Microdata(frame, roles=data.roles))
    second = model.anonymize(Microdata(frame.iloc[order], roles=data.roles))
    assert published(first) == published(second)


def test_a_requirement_of_a_column_that_the_table_fails():
    with pytest.raises(InfeasibleError, match="is not possible"):
        Slicing(l=1, column_requirements=[FrequencyDiversity(l=4)]).anonymize(builtin("slicing-table-1"))


def test_work_can_be_cancelled():
    def stop(fraction, text):
        if fraction > 0.05:
            raise CancelledError("stopped")

    with pytest.raises(CancelledError):
        Slicing(l=2, sensitive_column_size=2).anonymize(adult(OCC_7, "occupation"), stop)


def test_posterior_distance_from_the_table(table):
    """Two people of table 1(f) by hand: t1 is dyspepsia or flu, in the table 3/8 each, the others 1/8."""
    release = sliced_release(table, BUCKETS, TWO_COLUMNS)
    assert attacks.posterior_emd(release, "disease", "equal")[0] == pytest.approx(2 / 8)
    generalized = generalized_release(Mondrian(), table, BUCKETS)
    for ground in ("equal", "ordered", "hierarchical"):
        per_group = privacy.emd(generalized, "disease", ground)
        assert attacks.posterior_emd(generalized, "disease", ground) == pytest.approx(per_group[BUCKETS.group])
    with pytest.raises(ParameterError, match="ground is 'far'; use one of 'ordered'"):
        attacks.posterior_emd(release, "disease", "far")
