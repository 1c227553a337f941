"""Tables whose rows are nobody's: read beside their original, compared by shares, attacked as records."""

from collections import Counter
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anoncore import DataError, Exact, Hierarchy, Microdata, Release, ReleaseError, attacks, utility
from anoncore.algorithms import Mondrian, Pram
from anoncore.measures import evaluate, verdict
from anoncore.publishing import certify, packed
from anoncore.publishing.report import Subject, report
from anoncore.release.cell_changes import cell_changes
from anoncore.release.form import form_of
from anoncore.release.mapping import value_mapping
from anoncore.release.unchanged import unchanged
from anoncore.requirements import KAnonymity
from anoncore.utility import learning_estimate

ROLES = {"age": "quasi-identifier", "town": "quasi-identifier", "disease": "sensitive"}


def people(n, seed=0, ages=(20, 60)):
    rng = np.random.default_rng(seed)
    age = rng.integers(*ages, n)
    often = np.where(age[:, None] < 40, [0.7, 0.2, 0.1], [0.1, 0.3, 0.6])
    disease = np.array(["flu", "cold", "gout"])[(rng.random(n)[:, None] > often.cumsum(axis=1)).sum(axis=1)]
    return pd.DataFrame({"age": age, "town": rng.choice(list("ABCD"), n), "disease": disease})


def synthetic(published, data):
    return Release.from_published(published, original=data, rows="synthetic")


def plain_two_way_error(original, published):
    """Half of the sum of the absolute differences of the shares of all pairs of values, the mean over the pairs."""
    found = []
    for pair in combinations(original.columns, 2):
        ours, theirs = (Counter(zip(*(frame[name] for name in pair), strict=True)) for frame in (original, published))
        found.append(
            sum(abs(ours[key] / len(original) - theirs[key] / len(published)) for key in ours.keys() | theirs.keys())
            / 2
        )
    return sum(found) / len(found)


cells = st.tuples(st.sampled_from([1, 2, 2.5, 9]), st.sampled_from("abcd"), st.sampled_from(["x", "y"]))


@given(st.lists(cells, min_size=1, max_size=12), st.lists(cells, min_size=1, max_size=20))
def test_the_two_way_error_is_that_of_the_definition_whatever_the_rows_and_values(original, published):
    frames = [pd.DataFrame(rows, columns=["age", "town", "disease"]) for rows in (original, published)]
    data = Microdata(frames[0], ROLES)
    release = synthetic(frames[1], data)
    assert float(utility.two_way_error(release)) == pytest.approx(plain_two_way_error(*frames))


@given(st.lists(cells, min_size=3, max_size=20), st.lists(cells, min_size=1, max_size=12))
def test_answers_to_queries_are_counts_of_the_rows_by_their_share(original, published):
    frames = [pd.DataFrame(rows, columns=["age", "town", "disease"]) for rows in (original, published)]
    release = synthetic(frames[1], Microdata(frames[0], ROLES))
    found = utility.query_error(release, n_queries=5, selectivity=0.5)
    for query in range(5):
        accepted = found.workload.predicates(query)
        counts = [
            np.logical_and.reduce([frame[name].isin(values) for name, values in accepted.items()]).sum()
            for frame in frames
        ]
        assert found.actual[query] == counts[0]
        assert found.estimate[query] == pytest.approx(counts[1] * len(original) / len(published))


@pytest.mark.parametrize("method", [Mondrian(requirements=[KAnonymity(k=4)]), Pram(seed=1)], ids=lambda one: one.name)
def test_regions_and_values_are_compared_as_if_the_rows_were_peoples(method):
    """Costs that look at shares do not depend on whose row is whose."""
    data = Microdata(people(120), ROLES)
    made = method.anonymize(data)
    release = synthetic(made.tables()["release"], data)
    assert release.data is data
    assert float(utility.two_way_error(release)) == pytest.approx(float(utility.two_way_error(made)))
    assert float(utility.query_error(release, 300)) == pytest.approx(float(utility.query_error(made, 300)))
    expected = utility.association_error(made)
    assert float(utility.association_error(release)) == pytest.approx(float(expected))


def test_a_copy_costs_nothing():
    frame = people(150)
    release = synthetic(frame.sample(frac=1, random_state=1), Microdata(frame, ROLES))
    numbers = evaluate(release, ["two-way-error", "query-error", "median-query-error", "association-error"])
    assert numbers == dict.fromkeys(numbers, 0.0)


def test_independent_draws_lose_what_two_attributes_have_in_common():
    """All young people have the flu. Of four equally likely pairs of values two never occur: half of the rows move."""
    frame = pd.DataFrame({"age": [20, 20, 60, 60], "disease": ["flu", "flu", "cold", "cold"]})
    data = Microdata(frame, {"age": "quasi-identifier", "disease": "sensitive"})
    independent = pd.DataFrame(
        [(age, disease) for age in (20, 60) for disease in ("flu", "cold")] * 3, columns=["age", "disease"]
    )
    release = synthetic(independent, data)
    assert float(utility.two_way_error(release)) == 0.5
    assert float(utility.association_error(release)) == 1.0
    assert float(utility.query_error(release, n_queries=50, selectivity=0.25)) == 0.5


@pytest.mark.parametrize("classifier", ["tree", "naive-bayes", "knn"])
def test_a_classifier_learns_all_published_rows_and_is_tried_on_the_original(classifier):
    old = pd.DataFrame({"age": [20] * 10 + [60] * 10, "disease": ["flu"] * 10 + ["cold"] * 10})
    data = Microdata(old, {"age": "quasi-identifier", "disease": "sensitive"})
    turned = pd.DataFrame({"age": [20] * 7 + [60] * 7, "disease": ["cold"] * 7 + ["flu"] * 7})
    for published, right in ((old, 1.0), (turned, 0.0)):
        found = utility.classification(synthetic(published, data), "disease", classifier, folds=5)
        assert found.accuracy == found.weighted_f == right
        assert found.fold_accuracy.tolist() == [[right] * 5]
        assert (found.original.accuracy, found.majority.accuracy) == (1.0, 0.5)


def test_what_is_learned_is_the_table_and_not_its_length_or_order():
    frame = people(300)
    data = Microdata(frame, ROLES)
    published = people(200, seed=5)
    released = utility.classification(synthetic(published, data), "disease", folds=3).released
    shuffled = synthetic(published.sample(frac=1, random_state=2), data)
    pd.testing.assert_frame_equal(
        utility.classification(shuffled, "disease", folds=3).released.confusion, released.confusion
    )
    from_elsewhere = Microdata(published, ROLES)
    trained = utility.classification(synthetic(published, from_elsewhere), "disease", "knn", folds=3)
    assert trained.accuracy > trained.original.accuracy, "it is tried on the rows that it has learned"


def test_the_estimate_is_exact_where_one_training_is_enough():
    release = synthetic(people(200, seed=5), Microdata(people(300), ROLES))
    exact = utility.classification(release, "disease")
    found = utility.classification_estimate(release, "disease")
    assert found.low == found.value == found.high == exact.weighted_f


def test_the_estimate_from_a_sample_holds_the_exact_number(monkeypatch):
    release = synthetic(people(3_000, seed=5), Microdata(people(4_000), ROLES))
    exact = utility.classification(release, "disease")
    monkeypatch.setattr(learning_estimate, "LARGEST_TRAINING", {"tree": 5_000})
    monkeypatch.setattr(learning_estimate, "SAMPLED_TRAINING", {"tree": 3_000})
    held = []
    for seed in range(10):
        found = utility.classification_estimate(release, "disease", seed=seed)
        assert found.how == "from 3 trainings on 1,500 of 4,000 rows"
        held.append(found.low <= exact.weighted_f <= found.high)
    assert sum(held) >= 9


def wide(n, seed):
    """People who are alone with what is known of them: an age, a town and a wage."""
    rng = np.random.default_rng(seed)
    return people(n, seed).assign(wage=rng.integers(0, 100_000, n), zip=rng.integers(0, 1_000, n))


WIDE = {**ROLES, "wage": "quasi-identifier", "zip": "quasi-identifier"}


def found_by(release, control):
    return (
        attacks.inference(release, "disease", control=control),
        attacks.singling_out(release, control=control),
        attacks.linkability(release, known=(["age", "town", "wage"], ["zip", "disease"]), control=control),
    )


def test_a_copy_gives_people_away_far_beyond_those_who_are_not_in_it():
    data = Microdata(wide(800, 0), WIDE)
    members, others = data.split(control=0.5, seed=1)
    release = synthetic(members.frame.sample(frac=1, random_state=3), members)
    for found, least in zip(found_by(release, others), (0.95, 0.95, 0.9), strict=True):
        assert found.members >= least
        assert found.difference_interval[0] > 0.3
        assert found.beats_guessing


def away_from_zero(seed):
    """How many of the three attacks have an interval without 0 on a release of people who are in neither part."""
    parts = [Microdata(wide(400, 10 * seed + place), WIDE) for place in range(2)]
    found = found_by(synthetic(wide(500, 10 * seed + 9), parts[0]), parts[1])
    return sum(not one.difference_interval[0] <= 0 <= one.difference_interval[1] for one in found)


def test_other_peoples_rows_give_nobody_away():
    assert away_from_zero(1) == 0


@pytest.mark.slow
def test_intervals_around_other_peoples_rows_hold_zero_as_often_as_they_say():
    assert sum(map(away_from_zero, range(20))) <= 0.05 * 3 * 20 + 2


@pytest.mark.slow
def test_attacks_do_not_see_the_order_of_the_published_rows():
    data, others = (Microdata(wide(200, seed), WIDE) for seed in (0, 1))
    published = wide(150, 2)
    first, second = (
        found_by(synthetic(frame, data), others) for frame in (published, published.sample(frac=1, random_state=4))
    )
    for one, other in zip(first, second, strict=True):
        pd.testing.assert_frame_equal(one.adversaries, other.adversaries)


def test_the_original_itself_is_no_control_part():
    data = Microdata(people(30), ROLES)
    release = synthetic(pd.DataFrame({"age": [19.5, 20], "town": ["A", "Z"], "disease": ["flu", "flu"]}), data)
    assert release.data is not data
    with pytest.raises(Exception, match="The control part is the released table itself"):
        attacks.inference(release, "disease", control=data)


def test_values_that_the_original_lacks_get_a_place_among_its_own():
    frame = pd.DataFrame({"age": [20, 40], "grade": ["low", "high"], "town": ["Ulm", "Bonn"]})
    data = Microdata(frame, dict.fromkeys(frame, "quasi-identifier"), orders={"grade": ["low", "high"]})
    published = pd.DataFrame(
        {"age": ["30", "20-39", "45.5"], "grade": ["low", "top", "low"], "town": ["Ulm", None, "X"]}
    )
    release = synthetic(published, data)
    assert list(release.data.domain["age"]) == [20, 30, 40, 45.5]
    assert list(release.data.domain["grade"]) == ["low", "high", "top"]
    assert list(release.data.domain["town"]) == ["Bonn", "Ulm", "X", None]
    assert [release.data.domain["age"][code] for code in release.data.codes["age"]] == [20, 40]
    assert sorted(release.tables()["release"]["age"]) == ["20-39", "30", "45.5"]
    assert data.domain["age"].values == (20, 40)
    assert release.notes == (
        "No row of the table stands for a person; its 3 rows are compared with the 2 rows of the original by shares.",
        "2 of 3 cells of 'age' hold numbers that the original lacks, such as '30'; none of its rows is where they are.",
        "1 of 3 cells of 'grade' hold values that the original lacks, such as 'top'; none of its rows is where they "
        "are.",
        "1 of 3 cells of 'town' hold values that the original lacks, such as 'X'; none of its rows is where they are.",
    )


def test_a_missing_cell_is_a_value_unless_it_was_suppressed():
    data = Microdata(
        pd.DataFrame({"age": [20, 40], "town": ["Ulm", "Bonn"]}), {"age": "quasi-identifier", "*": "insensitive"}
    )
    published = pd.DataFrame({"age": [None, 40], "town": ["Ulm", "Ulm"]})
    assert list(synthetic(published, data).data.domain["age"]) == [20, 40, None]
    hidden = Release.from_published(published, original=data, rows="synthetic", missing="suppressed")
    assert hidden.data is data
    assert not isinstance(hidden.recoding("age"), Exact)


def test_nodes_of_a_hierarchy_are_read_and_new_values_need_a_place_in_it():
    towns = Hierarchy.from_nested({"south": ["Ulm"], "west": ["Bonn", "Trier"]})
    frame = pd.DataFrame({"age": [20, 40], "town": ["Ulm", "Bonn"]})
    data = Microdata(frame, dict.fromkeys(frame, "quasi-identifier"), hierarchies={"town": towns})
    release = synthetic(pd.DataFrame({"age": [20, 40], "town": ["Trier", "west"]}), data)
    assert set(release.data.domain["town"]) == {"Ulm", "Bonn", "Trier"}
    assert sorted(release.tables()["release"]["town"]) == ["Trier", "west"]
    with pytest.raises(DataError, match=r"'town'.*Rom"):
        synthetic(pd.DataFrame({"town": ["Rom"]}), data)


def test_published_rows_come_back_as_they_were():
    frame, published = people(40), people(30, seed=3, ages=(10, 80))
    back = synthetic(published, Microdata(frame, ROLES)).tables()["release"]
    pd.testing.assert_frame_equal(back, published.sort_values(list(back), ignore_index=True), check_dtype=False)


def test_polars_tables_come_back_as_polars_tables():
    pl = pytest.importorskip("polars")
    release = synthetic(
        pl.DataFrame({"age": [1.5, 2.0]}), Microdata(pl.DataFrame({"age": [1, 2, 2]}), {"age": "sensitive"})
    )
    assert release.tables()["release"].equals(pl.DataFrame({"age": [1.5, 2.0]}))


@pytest.mark.parametrize(
    ("published", "sentence"),
    [
        (pd.DataFrame({"age": [20], "shoe": [43]}), "columns 'shoe', which the original lacks"),
        (pd.DataFrame({"name": ["x"]}), "has no attribute of the original"),
        (pd.DataFrame({"age": ["old"]}), "Column 'age' of the table 'release' holds 'old' in row 1"),
        (pd.DataFrame({"age": ["200-300"]}), "no range or set that allows any"),
        ({"a": pd.DataFrame({"age": [20]}), "b": pd.DataFrame({"town": ["A"]})}, "a synthetic release is one table"),
    ],
)
def test_what_cannot_be_read_is_said(published, sentence):
    data = Microdata(people(20).assign(name=range(20)), {**ROLES, "name": "identifier"})
    with pytest.raises(DataError, match=sentence):
        synthetic(published, data)


def test_a_synthetic_table_needs_its_original():
    with pytest.raises(DataError, match="give the table that it is compared with as `original`"):
        Release.from_published(people(5), ROLES, rows="synthetic")


def test_more_rows_than_the_original_are_read_as_nobodys_if_somebody_says_so():
    data = Microdata(people(5), ROLES)
    with pytest.raises(DataError, match='say rows="synthetic" for a table whose rows are nobody\'s'):
        Release.from_published(people(6), original=data)
    assert synthetic(people(6), data).n_records == 6


def test_identifiers_are_left_out():
    frame = people(20).assign(name=[f"p{row}" for row in range(20)])
    release = synthetic(frame, Microdata(frame, {**ROLES, "name": "identifier"}))
    assert release.attributes == ("age", "town", "disease")
    assert "The table publishes 'name', an identifier; it is left out of all numbers." in release.notes


def test_what_asks_for_groups_of_people_refuses():
    release = synthetic(people(10), Microdata(people(20), ROLES))
    assert form_of(release) == "synthetic"
    assert (release.n_records, release.table_size) == (10, "10 synthetic rows")
    asked = (
        lambda: release.partition,
        lambda: release.suppressed_rows,
        lambda: release.people_per_group(release.fragments[0]),
        lambda: value_mapping(release),
        lambda: cell_changes(release, "age"),
        lambda: packed(release),
        lambda: certify(release, "0" * 64),
    )
    for ask in asked:
        with pytest.raises(ReleaseError, match="and the rows of this table are nobody's: it is synthetic"):
            ask()


def test_the_verdict_is_never_good_without_people():
    release = synthetic(people(10), Microdata(people(20), ROLES))
    assert verdict(release).headline == "Nothing was asked of this release."
    found = verdict(release, [KAnonymity(k=3)])
    assert not found.is_good
    assert (found.held, found.failed) == ((), ())
    assert found.headline == (
        "What was asked is about groups of people and cannot be judged: the rows of this table are nobody's."
    )
    assert found.unjudged == (
        "k-anonymity (k = 3) cannot be judged: it asks for groups of people, and the rows of this table are nobody's.",
    )


def test_reports_tell_what_is_known_of_it_alone_and_beside_others():
    data = Microdata(people(60), ROLES)
    one = Subject("made up", synthetic(people(40, seed=2), data))
    text = report([one])
    assert "40 synthetic rows, beside an original of 60 rows" in text
    assert "No row of the table stands for a person" in text
    assert "Two-way error" in text
    both = report([Subject("as it is", unchanged(data)), one])
    assert "made up is not drawn: What is believed of a person follows from the group that holds their row" in both
