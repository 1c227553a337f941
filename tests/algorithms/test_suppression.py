"""Rows that are left out: by hand, scores from their definition, never worse than without, promises of all rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anoncore import (
    AnonymizationError,
    DataError,
    Generalized,
    Hierarchy,
    InfeasibleError,
    Microdata,
    ParameterError,
    Partition,
    Recipe,
    attacks,
    privacy,
    utility,
)
from anoncore.algorithms import Anatomy, Incognito, LocalRecoding, Mondrian, Slicing, StackAndDeal, Suppression
from anoncore.algorithms.suppression import relief
from anoncore.datasets import table
from anoncore.publishing import certify, new_key, packed, unpacked
from anoncore.recipes.script import python_script
from anoncore.recipes.source import Source
from anoncore.requirements import BetaLikeness, DistinctDiversity, FrequencyDiversity, KAnonymity, TCloseness
from anoncore.search.candidates import seeded
from anoncore.table.part import published_beside, rows_of
from tests.algorithms.close_tables import close_tables, shuffled
from tests.properties.published import content
from tests.shared_data import needs, require

some = settings(max_examples=20)
AGES = [20, 40, 40, 40, 40, 60, 60, 60, 60, 80]


def ages(values=AGES):
    return Microdata(pd.DataFrame({"age": values}), {"age": "quasi-identifier"})


def three(share):
    return Suppression(method=Mondrian(requirements=[KAnonymity(k=3)]), max_suppression=share)


def test_the_youngest_and_the_oldest_are_left_out_first_and_one_more_makes_a_class():
    data = ages()
    alone = Mondrian(requirements=[KAnonymity(k=3)]).anonymize(data)
    # The classes 20-40 and 60-80 have five rows of 1/3 each. Without the youngest four others save 1/3; without those
    # four that are 40 one other saves 1/3, which is 1/12 for each of them. Every row saves its own 1/3 besides.
    assert relief(alone) == pytest.approx([5 / 3, *[5 / 12] * 8, 5 / 3], abs=1e-9)
    release = three(0.3).anonymize(data)
    assert release.suppressed_rows.tolist() == [True, True, *[False] * 7, True]
    assert release.recoding("age").texts().tolist() == ["20-80", "20-80", *["40"] * 3, *["60"] * 4, "20-80"]
    assert utility.information_loss(release) == pytest.approx(3 / 10)
    assert release.notes[-1] == (
        "3 of 10 rows (30.00%) are left out: every quasi-identifier may have any value in them, and they are one group."
    )


@pytest.mark.parametrize("share", [0, 0.09, 0.29])
def test_nobody_is_left_out_where_too_few_may_be_for_a_class(share):
    release = three(share).anonymize(ages())
    assert not release.suppressed_rows.any()
    assert release.suppressed_group is None
    assert utility.information_loss(release) == pytest.approx(1 / 3)
    assert release.notes[-1] == "No row is left out: that would not have lowered the information loss."


def test_nobody_is_left_out_where_it_does_not_pay():
    assert not three(0.5).anonymize(ages([20, 20, 20, 60, 60, 60])).suppressed_rows.any()


def plain_relief(release):
    """The score of every row from its definition: the class again without the rows that share its value."""
    data, partition = release.data, release.partition
    score = np.zeros(data.n_rows)
    for name in data.quasi_identifiers:
        recoding = release.recoding(name)
        if len(recoding.domain) == 1:
            continue
        for row in range(data.n_rows):
            group = partition.group[row]
            members = partition.rows(group)
            codes = data.codes[name][members]
            same = codes == data.codes[name][row]
            score[row] += recoding.loss()[group]
            if not same.all():
                before, after = (
                    float(
                        Generalized.of_rows(recoding.domain, Partition(np.zeros(len(rest), np.int32)), rest).loss()[0]
                    )
                    for rest in (codes, codes[~same])
                )
                score[row] += (before - after) * (~same).sum() / same.sum()
    return score


@some
@given(close_tables(), st.sampled_from([2, 3, 5]))
def test_the_score_is_that_of_its_definition(data, k):
    if data.n_rows < k:
        return
    for method in (Mondrian, LocalRecoding):
        release = method(requirements=[KAnonymity(k=k)]).anonymize(data)
        if method is Mondrian:
            assert relief(release) == pytest.approx(plain_relief(release), abs=1e-8)
        assert len(relief(release)) == data.n_rows


REQUIREMENTS = {
    "k": [KAnonymity(k=3)],
    "k and l": [KAnonymity(k=2), DistinctDiversity(l=2)],
    "frequency": [FrequencyDiversity(l=2)],
    "k and beta": [KAnonymity(k=2), BetaLikeness(beta=0.7)],
    "k and t": [KAnonymity(k=2), TCloseness(t=0.3)],
}


@pytest.mark.slow
@pytest.mark.parametrize("wanted", REQUIREMENTS)
@given(data=close_tables(sensitive=1), share=st.sampled_from([0.1, 0.3, 0.6]), local=st.booleans())
@some
def test_never_worse_than_without_within_the_limit_and_promises_hold_for_all_rows(wanted, data, share, local):
    method = (LocalRecoding if local else Mondrian)(requirements=REQUIREMENTS[wanted])
    try:
        alone = method.anonymize(data)
    except InfeasibleError:
        with pytest.raises(InfeasibleError):
            Suppression(method=method).anonymize(data)
        return
    release = Suppression(method=method, max_suppression=share, rounds=4).anonymize(data)
    left_out = release.suppressed_rows
    assert left_out.sum() <= share * data.n_rows
    assert utility.information_loss(release) <= utility.information_loss(alone) + 1e-12
    assert privacy.check(release, REQUIREMENTS[wanted]) == ()
    assert release.partition.n_rows == data.n_rows
    for name in data.quasi_identifiers:
        recoding = release.recoding(name)
        low, high = recoding.bounds()
        codes = data.codes[name]
        assert ((low <= codes) & (codes <= high)).all()
        if left_out.any():
            assert recoding.sizes[release.suppressed_group] == len(recoding.domain)
            if len(recoding.domain) > 1:
                assert recoding.loss()[release.suppressed_group] == pytest.approx(1)
    if not left_out.any():
        assert content(release) == content(alone)


@pytest.mark.slow
@given(data=close_tables(sensitive=1), seed=st.integers(0, 9))
@some
def test_the_order_of_the_rows_does_not_matter(data, seed):
    if data.n_rows < 3:
        return
    turned = shuffled(data, seed)
    for method in (Mondrian(requirements=[KAnonymity(k=3)]), LocalRecoding(requirements=[KAnonymity(k=2)])):
        one, other = (
            Suppression(method=method, max_suppression=0.4, rounds=3).anonymize(table) for table in (data, turned)
        )
        assert content(one) == content(other)
        assert one.suppressed_rows.sum() == other.suppressed_rows.sum()


def test_closeness_of_the_published_rows_is_measured_against_the_whole_table():
    frame = pd.DataFrame({"age": [1, 2, 3, 4], "illness": ["flu", "flu", "cold", "gout"]})
    data = Microdata(frame, {"age": "quasi-identifier", "illness": "sensitive"})
    rows = np.array([0, 1, 2])
    whole = Partition(np.zeros(3, np.int32))
    (check,) = TCloseness(t=0.1).checks(published_beside(data, rows))
    # Shares 2/3 and 1/3 beside 1/2, 1/4 and 1/4.
    assert check.levels(whole) == pytest.approx([1 / 4])
    (check,) = TCloseness(t=0.1).checks(rows_of(data, rows))
    assert check.levels(whole) == pytest.approx([0])


@given(seed=st.integers(0, 10**6), share=st.sampled_from([0.1, 0.3, 0.5]))
@some
def test_where_people_have_several_rows_both_rows_and_people_stay_within_the_limit(seed, share):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(8, 40))
    frame = pd.DataFrame(
        {"who": rng.integers(0, n // 2, n), "age": rng.integers(0, 50, n), "pay": rng.integers(0, 9, n)}
    )
    data = Microdata(frame, {"age": "quasi-identifier", "pay": "quasi-identifier"}, unit="who")
    try:
        release = Suppression(method=Mondrian(requirements=[KAnonymity(k=3)]), max_suppression=share).anonymize(data)
    except InfeasibleError:
        return
    left_out = release.suppressed_rows
    assert left_out.sum() <= share * n
    assert frame["who"][left_out].nunique() <= share * data.n_people
    assert frame.groupby(release.partition.group)["who"].nunique().min() >= 3
    assert release.notes.count(data.unit_note) == 1


@pytest.mark.parametrize("method", [Anatomy(l=2), Slicing(), Incognito(), three(0.1)])
def test_a_method_without_cells_to_widen_is_refused(method):
    data = Microdata(
        pd.DataFrame({"age": AGES, "ill": list("ab") * 5}), {"age": "quasi-identifier", "ill": "sensitive"}
    )
    with pytest.raises(DataError, match="publishes no table in which a row can be left out"):
        Suppression(method=method).anonymize(data)


def test_what_readers_learn_who_know_it_is_said_and_not_measured():
    frame = pd.DataFrame({"age": AGES, "ill": list("ab") * 5})
    data = Microdata(frame, {"age": "quasi-identifier", "ill": "sensitive"})
    release = three(0.3).anonymize(data)
    assert "were left out" in Suppression.minimality.reason
    with pytest.raises(AnonymizationError, match="not measured"):
        attacks.minimality(release, "ill")


def test_a_recipe_and_a_session_bring_it_back():
    algorithm = three(0.3)
    assert (
        Recipe.from_dict(Recipe(source=Source(builtin="census"), algorithm=algorithm).to_dict()).algorithm == algorithm
    )
    release = algorithm.anonymize(ages())
    description, arrays = packed(release)
    again = unpacked(description, arrays, release.data, algorithm)
    assert again.suppressed_rows.tolist() == release.suppressed_rows.tolist()
    with pytest.raises(DataError):
        unpacked({**description, "suppressed_group": 99}, arrays, release.data, algorithm)


def test_rows_that_incognito_suppresses_are_known_too():
    frame = pd.DataFrame({"town": ["Ulm"] * 4 + ["Bonn"] * 4 + ["Kiel", "Köln"]})
    data = Microdata(frame, {"town": "quasi-identifier"})
    release = Incognito(requirements=[KAnonymity(k=2)], max_suppression=0.2).anonymize(data)
    assert release.suppressed_rows.tolist() == [False] * 8 + [True] * 2
    assert not Incognito(requirements=[KAnonymity(k=1)]).anonymize(data).suppressed_rows.any()
    assert replace(release, suppressed_group=None).suppressed_rows.sum() == 0


def test_on_the_census_two_percent_lower_the_loss():
    census = table("census")
    data = Microdata(census.load(n_rows=4_000), census.roles, census.kinds, census.orders)
    method = Mondrian(requirements=[KAnonymity(k=50)])
    release = Suppression(method=method).anonymize(data)
    assert 50 <= release.suppressed_rows.sum() <= 80
    assert utility.information_loss(release) < 0.97 * utility.information_loss(method.anonymize(data))


@pytest.mark.slow
@needs("adult.csv")
def test_on_adult_two_percent_lower_the_loss_by_a_sixth():
    require("adult.csv")
    adult = table("adult")
    roles = {**adult.roles, "hours-per-week": "quasi-identifier", "native-country": "quasi-identifier"}
    roles |= {"occupation": "sensitive", "salary-class": "insensitive"}
    trees = {name: Hierarchy.from_nested(tree) for name, tree in adult.taxonomies.items()}
    data = Microdata(adult.load()[list(roles)], roles, adult.kinds, adult.orders, trees)
    method = Mondrian(requirements=[KAnonymity(k=50)])
    release = Suppression(method=method).anonymize(data)
    assert release.suppressed_rows.sum() <= 0.02 * data.n_rows
    assert utility.information_loss(release) < 5 / 6 * utility.information_loss(method.anonymize(data))
    assert privacy.check(release, [KAnonymity(k=50)]) == ()


def test_a_seed_of_the_method_inside_is_a_seed_and_never_published():
    frame = pd.DataFrame({"age": AGES, "ill": list("ab") * 5})
    data = Microdata(frame, {"age": "quasi-identifier", "ill": "sensitive"})
    algorithm = Suppression(method=StackAndDeal(k=2, seed=11))
    assert algorithm.seeds == (11,)
    assert Suppression(method=StackAndDeal(k=2)).seeds == (None,)
    assert three(0.1).seeds == ()
    certificate = certify(algorithm.anonymize(data), new_key(), guessable_seed=True)
    assert "seed" not in certificate.method.parameters["method"]
    assert certificate.method.seed.startswith("given by whoever made the release")
    assert "11" not in certificate.method.seed
    recipe = Recipe(source=Source(builtin="census"), algorithm=algorithm)
    assert "seed=" not in python_script(recipe)
    assert "The seed is left out" in python_script(recipe)
    drawn = seeded(Suppression(method=StackAndDeal(k=2)))
    assert isinstance(drawn.method.seed, int)
    assert seeded(three(0.1)) == three(0.1)


def test_more_rounds_than_anybody_can_wait_for_are_refused():
    with pytest.raises(ParameterError, match="ounds"):
        Suppression(method=Mondrian(), rounds=51)
