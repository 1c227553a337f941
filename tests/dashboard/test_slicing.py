"""Sliced releases on the pages Classes, Attack, Method and Privacy."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from anoncore import Microdata, attacks, privacy
from anoncore.algorithms import Anatomy, Mondrian, RandomBuckets, Slicing, VerticalFragmentation
from anoncore.algorithms.slicing.slicing import achieved_diversity
from anoncore.base.texts import share_text
from anoncore.requirements import KAnonymity
from dashboard.charts.attacks import likelihood_histogram, person_shares, tuple_bars
from dashboard.charts.palette import run_style
from dashboard.closer.class_detail import people_of, published_bucket
from dashboard.closer.matching import bucket_table
from tests.dashboard.conftest import Visitor
from tests.dashboard.results import add_run, figure, grid, metrics, people, table_of

COLUMNS = (("age", "sex", "visits"), ("town", "illness"))
SLICED = Slicing(l=1.2, attribute_columns=COLUMNS)
BUCKETS = RandomBuckets(size=12, columns=3, seed=1)
STYLE = run_style(0)


def _tab(visitor: Visitor, title: str) -> Visitor:
    visitor.open("attack")
    visitor.at.session_state["_attack"] = title
    visitor.at.session_state["tabs-attack"] = title
    return visitor.run()


def test_a_bucket_is_published_column_by_column(visitor: Visitor) -> None:
    run = add_run(visitor, SLICED)
    visitor.open("groups")
    visitor.at.session_state[f"_class-{run.id}-column 1"] = 2
    visitor.run()
    assert visitor.at.subheader[0].value == "Group 2"
    rows = run.data.frame[run.release.partition.group == 2]
    shown = table_of(visitor, ("column 1", "age"))
    for number, column in enumerate(COLUMNS, start=1):
        cells = shown[f"column {number}"].astype(str)
        assert sorted(map(tuple, cells[list(column)].to_numpy())) == sorted(
            map(tuple, rows[list(column)].astype(str).to_numpy())
        )
    original = grid(visitor, "class-people")
    assert original.index.tolist() == (rows.index[rows.index.get_indexer(original.index - 1)] + 1).tolist()
    assert original["age"].tolist() == run.data.frame["age"].iloc[original.index - 1].tolist()
    assert "column 1: age, sex, visits; column 2: town, illness" in visitor.texts()


def test_each_column_of_a_bucket_is_sorted_on_its_own() -> None:
    data = Microdata(
        pd.DataFrame({"age": [3, 1, 2], "ill": ["c", "a", "b"]}), {"age": "quasi-identifier", "ill": "sensitive"}
    )
    release = RandomBuckets(size=3, columns=2).anonymize(data)
    assert published_bucket(release, 0).to_numpy().tolist() == [[1, "a"], [2, "b"], [3, "c"]]
    assert people_of(release, 0).index.tolist() == [2, 3, 1]


def test_a_person_of_a_bucket_is_taken_to_the_attack(visitor: Visitor) -> None:
    run = add_run(visitor, SLICED)
    visitor.open("groups")
    first = int(grid(visitor, "class-people").index[0])
    assert visitor.has_button(f"What an adversary learns about row {first:,}")
    visitor.at.session_state[f"_person-{run.id}"] = first - 1
    _tab(visitor, "Matching buckets")
    assert visitor.at.number_input(key=f"matching-row-{run.id}").value == first


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", [SLICED, BUCKETS, Anatomy(l=2)], ids=lambda one: one.name)
def test_matching_buckets_of_a_person(visitor: Visitor, algorithm: Slicing) -> None:
    run = add_run(visitor, algorithm)
    _tab(visitor, "Matching buckets")
    for row in (0, 17):
        visitor.at.number_input(key=f"matching-row-{run.id}").set_value(row + 1)
        visitor.run()
        expected = attacks.matching_buckets(run.release, "illness", row)
        shown = next(table.value for table in visitor.at.dataframe if "p" in table.value.columns)
        assert shown["p"].sum() == pytest.approx(1)
        assert shown["f"].sort_index().tolist() == pytest.approx(expected.buckets["f"].tolist())
        assert shown["p"].is_monotonic_decreasing
        values = [name for name in shown if str(name).startswith("D: ")]
        assert shown[values].sum(axis=1).tolist() == pytest.approx([1] * len(shown))
        table, belief = figure(visitor, "matching-belief")
        assert dict(zip(belief["customdata"], belief["x"], strict=True)) == pytest.approx(
            expected.probability.to_dict()
        )
        found = metrics(visitor)
        assert found["Matching groups"] == str(len(expected.buckets))
        truth = expected.probability[run.data.frame["illness"].iloc[row]]
        assert found["Belief in the truth"] == share_text(truth)
        assert f"The truth: illness **{run.data.frame['illness'].iloc[row]}**" in visitor.texts()
    assert sum(table["x"]) == pytest.approx(1)


def test_the_person_at_most_risk_is_one_click_away(visitor: Visitor) -> None:
    run = add_run(visitor, SLICED)
    _tab(visitor, "Matching buckets").press("Person at most risk")
    largest = attacks.attribute_disclosure(run.release, "illness").largest
    assert metrics(visitor)["Largest belief"] == share_text(largest)


@pytest.mark.parametrize("algorithm", [Mondrian(requirements=(KAnonymity(k=4),)), VerticalFragmentation(k=2, seed=1)])
def test_without_shared_buckets_a_sentence_says_so(visitor: Visitor, algorithm: Mondrian) -> None:
    add_run(visitor, algorithm)
    _tab(visitor, "Matching buckets")
    assert "Matching buckets are the groups that a person may be in" in visitor.texts()


def test_fake_tuples_are_counted(visitor: Visitor) -> None:
    run = add_run(visitor, SLICED)
    _tab(visitor, "Membership")
    expected = attacks.membership(run.release)
    found = metrics(visitor)
    assert found["Fake tuples"] == f"{expected.fake:,.0f}"
    assert found["Belief in membership"] == share_text(expected.belief)
    assert f"All {expected.fake:,.0f} fake tuples were counted." in visitor.texts()
    original, fake = figure(visitor, "membership-finer")
    assert np.asarray(fake["y"]).tolist() == pytest.approx(expected.finer["fake"].tolist())
    assert np.asarray(original["y"]).tolist() == expected.finer["original"].tolist()
    visitor.at.selectbox(key=f"membership-attributes-{run.id}").set_value("quasi-identifiers only")
    visitor.run()
    known = attacks.membership(run.release, run.data.quasi_identifiers)
    assert metrics(visitor)["Fake tuples"] == f"{known.fake:,.0f}"


def test_bucketization_hides_nobody(visitor: Visitor) -> None:
    run = add_run(visitor, Anatomy(l=2))
    _tab(visitor, "Membership")
    visitor.at.selectbox(key=f"membership-attributes-{run.id}").set_value("quasi-identifiers only")
    visitor.run()
    assert metrics(visitor)["Fake tuples"] == "0"
    assert "This form of publishing hides nobody's presence." in visitor.texts()


def test_regions_and_joins_have_views_of_their_own(visitor: Visitor) -> None:
    run = add_run(visitor, Mondrian(requirements=(KAnonymity(k=4),)))
    _tab(visitor, "Membership")
    found = attacks.region_membership(run.release)
    assert metrics(visitor)["Mean belief"] == share_text(found.mean)
    assert sum(figure(visitor, "membership-regions")[0]["y"]) == pytest.approx(1)
    run = add_run(visitor, VerticalFragmentation(k=2, seed=1))
    _tab(visitor, "Membership")
    joined = attacks.join_likelihood(run.release)
    assert metrics(visitor)["Joined rows"] == f"{joined.total:,.0f}"
    shares = figure(visitor, "membership-likelihood")[0]["y"]
    assert sum(shares) == pytest.approx((joined.likelihood > 0).mean())


def test_what_is_kept_is_said_on_method_and_privacy(visitor: Visitor) -> None:
    run = add_run(visitor, SLICED)
    (promise,) = privacy.personal_guarantees(run.release)
    visitor.open("privacy")
    assert promise.sentence in visitor.texts()
    assert "Everything that was asked holds." in visitor.texts()
    visitor.open("method")
    assert promise.sentence in visitor.texts()
    assert metrics(visitor)["Reached l, posterior"] == f"{achieved_diversity(run.release, 'illness'):.4g}"
    assert metrics(visitor)["Reached l, distinct"] == f"{achieved_diversity(run.release, 'illness', 'distinct'):.4g}"
    assert "**Column 2**: town, illness" in visitor.texts()
    assert "given by hand" in visitor.texts()
    assert list(figure(visitor, "slicing-association")[0]["x"]) == [*COLUMNS[0], *COLUMNS[1]]


def test_clustered_columns_name_their_medoids(visitor: Visitor) -> None:
    run = add_run(visitor, BUCKETS)
    visitor.open("method")
    for medoid in BUCKETS.proposed_groups(run.data).centres:
        assert f"(around {medoid})" in visitor.texts()
    assert sum(figure(visitor, "slicing-sizes")[0]["y"]) == run.release.partition.n_groups
    visitor.open("privacy")
    assert "Nothing was asked of this release." in visitor.texts()


def test_the_list_of_buckets_is_cut_to_what_matters() -> None:
    data = Microdata(
        people(240)[["age", "sex", "illness"]],
        {"age": "quasi-identifier", "sex": "quasi-identifier", "illness": "sensitive"},
    )
    release = RandomBuckets(size=4, attribute_columns=(("sex",), ("age",), ("illness",)), seed=1).anonymize(data)
    found = attacks.matching_buckets(release, "illness", 3)
    shown = bucket_table(found)
    assert len(shown) == len(found.buckets)
    columns = [name for name in shown if name.startswith("D: ")]
    assert [name.removeprefix("D: ") for name in columns] == list(
        found.probability[found.probability > 0].sort_values(ascending=False, kind="stable").index
    )


def test_beliefs_about_many_numbers_are_binned() -> None:
    data = Microdata(pd.DataFrame({"pay": np.arange(200)}), {"pay": "sensitive"})
    belief = np.zeros(200)
    belief[:10] = 0.1
    drawn = person_shares(data.domain["pay"], belief, np.full(200, 1 / 200), STYLE)
    assert len(drawn.data[1].x) < 20
    assert sum(drawn.data[1].x) == pytest.approx(1)
    assert drawn.layout.xaxis.title.text == "probability"


def test_whiskers_stand_only_where_counts_are_estimated() -> None:
    counts = pd.DataFrame(
        {"original": [5, 3], "fake": [4.0, 2.0], "low": [3.0, 1.0], "high": [6.0, 2.5]},
        index=["at most 10", "more than 20"],
    )
    fake = tuple_bars(counts, STYLE).data[1]
    assert list(fake.x) == ["≤ 10", "> 20"]
    assert list(fake.error_y.array) == [2.0, 0.5]
    assert list(fake.error_y.arrayminus) == [1.0, 1.0]
    exact = counts.assign(low=counts["fake"], high=counts["fake"])
    assert tuple_bars(exact, STYLE).data[1].error_y.array is None


@pytest.mark.parametrize("values", [[0.0, 0.0], [1.0, 1.0], [1e-9, 1e-3, 0.0], [0.5]])
def test_likelihoods_lie_on_a_logarithmic_axis(values: list[float]) -> None:
    drawn = likelihood_histogram(np.array(values), 1e-4, STYLE, "likelihood")
    bars, guess = drawn.data
    assert sum(bars.y) == pytest.approx(np.mean(np.array(values) > 0))
    assert guess.x[0] == pytest.approx(-4)
    low, high = drawn.layout.xaxis.range
    assert low < -4 < high
