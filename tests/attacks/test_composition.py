"""Releases of overlapping people: by hand, against all possible worlds, against plain Bayes, and on Adult."""

from collections import Counter
from datetime import date
from decimal import Decimal
from fractions import Fraction
from itertools import chain

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anoncore import Fragment, Generalized, Microdata, Partition, Release, ReleaseError, attacks
from anoncore.algorithms import Anatomy, Mask, Mondrian, RandomBuckets, VerticalFragmentation
from anoncore.base.errors import ParameterError
from anoncore.requirements import DistinctDiversity, KAnonymity
from tests.attacks.naive_composition import joined, worlds
from tests.privacy.releases import adult, sliced

ROLES = {"name": "identifier", "age": "quasi-identifier", "disease": "sensitive"}


def hidden(names, diseases, groups):
    """People of one age each group cannot tell apart, with exact diseases: one generalized table."""
    frame = pd.DataFrame({"name": names, "age": 30, "disease": diseases}, index=np.arange(len(names)) * 3 + 7)
    data = Microdata(frame, ROLES)
    return sliced(data, np.unique(groups, return_inverse=True)[1], [["age", "disease"]])


def test_two_hospitals_by_hand():
    # Ann hides among flu, flu, gout here and among flu, cold there; the tables have 3 of 5 flu.
    first = hidden(["Ann", "Bob", "Cem"], ["flu", "flu", "gout"], [0, 0, 0])
    second = hidden(["Dan", "Ann"], ["cold", "flu"], [0, 0])
    found = attacks.composition([first, second], "disease", by="name", l=2)
    assert found.people.tolist() == ["Ann"]
    assert found.rows.tolist() == [[0], [1]]
    assert found.values == ("flu", "gout", "cold")
    assert found.prior.tolist() == pytest.approx([3 / 5, 1 / 5, 1 / 5])
    assert found.alone[:, 0].tolist() == [pytest.approx([2 / 3, 1 / 3, 0]), pytest.approx([1 / 2, 0, 1 / 2])]
    assert found.belief.tolist() == [[1, 0, 0]]
    assert found.possible.tolist() == [1]
    assert found.possible_alone.tolist() == [[2], [2]]
    assert (found.few, found.few.baseline) == (1, 0)
    assert (found.breach, found.breach.baseline) == (1, 1)
    assert (found.largest, found.largest.baseline) == (1, pytest.approx(0.6))
    assert (found.truth, found.truth.baseline) == (1, pytest.approx(0.6))
    assert found.notes == ()


def test_beliefs_multiply_over_the_prior():
    # Ann and Bob have flu or gout in both releases, each time beside others: 2/3 and 1/2, the tables half and half.
    first = hidden(["Ann", "x", "y", "z"], ["flu", "flu", "gout", "gout"], [0, 0, 0, 1])
    second = hidden(["Ann", "u", "v", "w"], ["flu", "gout", "flu", "gout"], [0, 0, 1, 1])
    found = attacks.composition([first, second], "disease", by="name")
    # p_a p_b / prior: 2/3 * 1/2 and 1/3 * 1/2, both over 1/2.
    assert found.belief[0] == pytest.approx([2 / 3, 1 / 3])


VALUES = ("flu", "gout", "cold")


@st.composite
def chained(draw):
    """Two tables whose groups share one person at most, and no two people link the same groups again."""
    names, first, second = iter(range(100)), [], []
    truth = {}
    for _ in range(draw(st.integers(1, 2))):
        person = next(names)
        groups = [[person] + [next(names) for _ in range(draw(st.integers(1, 3)))] for _ in range(2)]
        truth |= {one: draw(st.sampled_from(VALUES)) for one in chain(*groups)}
        first.append(groups[0])
        second.append(groups[1])
    return first, second, truth


@settings(max_examples=20)
@given(tables=chained())
def test_beliefs_equal_those_of_all_possible_worlds_where_groups_share_one_person(tables):
    first, second, truth = tables

    def release(groups):
        people = list(chain(*groups))
        number = [place for place, group in enumerate(groups) for _ in group]
        return hidden([f"p{one}" for one in people], [truth[one] for one in people], number)

    found = attacks.composition([release(first), release(second)], "disease", by="name")
    count = Counter(truth[one] for one in chain(*first, *second))
    prior = {value: Fraction(n, sum(count.values())) for value, n in count.items()}
    expected = worlds(
        *([(group, [truth[one] for one in group]) for group in table] for table in (first, second)), prior
    )
    for place, name in enumerate(found.people):
        person = int(name[1:])
        for code, value in enumerate(found.values):
            assert found.belief[place, code] == pytest.approx(float(expected.get((person, value), 0)), abs=1e-12)
        assert found.possible[place] == sum(expected.get((person, value), 0) > 0 for value in VALUES)


@pytest.mark.parametrize("seed", range(3))
def test_a_release_that_is_laid_beside_itself_tells_nothing_new(seed):
    rng = np.random.default_rng(seed)
    release = hidden([f"p{i}" for i in range(12)], rng.choice(VALUES, 12), np.arange(12) // 4)
    found = attacks.composition([release, release, release], "disease", by="name")
    assert found.belief == pytest.approx(found.alone[0])
    assert found.notes == (
        "12 people hide among the same people in several releases, which say the same of them; what is said again "
        "counts once.",
    )


def people(rng, n, start):
    """A table with a name and an identifier that tell people apart, and diseases that a second table may lack."""
    return pd.DataFrame(
        {
            "name": [f"p{start + i}" for i in range(n)],
            "age": rng.integers(20, 60, n),
            "town": rng.choice(list("ABC"), n),
            "sex": rng.choice(["f", "m"], n),
            "disease": rng.choice(["flu", "cold", "ulcer", "gout", None], n),
        }
    )


METHODS = {
    "generalization": Mondrian(requirements=[KAnonymity(k=4)]),
    "bucketization": Anatomy(l=2, seed=1),
    "slicing": RandomBuckets(size=8, attribute_columns=(("age", "town"), ("sex", "disease")), seed=1),
    "own partitions": VerticalFragmentation(k=3, class_attribute="disease", seed=1),
    "value sets": VerticalFragmentation(k=3, class_attribute="disease", enforce="dependency", l=2, seed=1),
    "distorted": Mask(k=3, l=2, seed=1),
}


def released(method, frame):
    roles = dict.fromkeys(["age", "town", "sex"], "quasi-identifier") | {"name": "identifier", "disease": "sensitive"}
    return METHODS[method].anonymize(Microdata(frame, roles))


@pytest.mark.parametrize("second", METHODS)
@pytest.mark.parametrize("first", METHODS)
def test_every_pair_of_forms_against_plain_bayes(first, second):
    rng = np.random.default_rng(7)
    whole = people(rng, 90, 0)
    tables = [whole.iloc[:60].sample(frac=1, random_state=1), whole.iloc[30:].sample(frac=1, random_state=2)]
    releases = [released(method, table) for method, table in zip((first, second), tables, strict=True)]
    _compare(releases, tables)


def test_three_releases_and_more_against_plain_bayes():
    rng = np.random.default_rng(8)
    whole = people(rng, 90, 0)
    tables = [whole.iloc[:70], whole.iloc[10:80], whole.iloc[20:], whole.iloc[5:75]]
    methods = ("bucketization", "generalization", "slicing", "distorted")
    found = _compare([released(method, table) for method, table in zip(methods, tables, strict=True)], tables)
    assert len(found.people) == 50


def _compare(releases, tables):
    found = attacks.composition(releases, "disease", by="name", l=3)
    shared = [name for name in tables[0]["name"] if all(name in set(other["name"]) for other in tables[1:])]
    assert found.people.tolist() == shared
    cells = [value if isinstance(value, str) else None for table in tables for value in table["disease"]]
    prior = {value: n / len(cells) for value, n in Counter(cells).items()}
    assert dict(zip(found.values, found.prior.tolist(), strict=True)) == pytest.approx(prior)
    posteriors = [attacks.sensitive_posterior(release, "disease") for release in releases]
    for place, name in enumerate(shared):
        alone = []
        for posterior, release, table in zip(posteriors, releases, tables, strict=True):
            belief = posterior[table["name"].tolist().index(name)]
            alone.append(
                {value: p for value, p in zip(release.data.domain["disease"], belief.tolist(), strict=True) if p}
            )
        expected = joined(alone, prior)
        left = set(alone[0]).intersection(*alone[1:])
        assert found.possible[place] == len(left)
        if expected is None:
            mean = {value: np.mean([one.get(value, 0) for one in alone]) for value in prior}
            expected = mean
        assert dict(zip(found.values, found.belief[place].tolist(), strict=True)) == pytest.approx(expected, abs=1e-9)
    assert found.few == pytest.approx(np.mean(found.possible < 3))
    assert found.breach == pytest.approx(np.mean(found.belief.max(axis=1) > 1 / 3 + 1e-9))
    return found


def test_who_a_row_is():
    def table(**columns):
        return Microdata(pd.DataFrame(columns), roles={"disease": "sensitive"})

    def whole(data):
        return sliced(data, np.zeros(data.n_rows, dtype=int), [["disease"]])

    first = whole(table(name=["Ann", "Ann", None], born=[1, 2, 3], disease=["flu", "gout", "flu"]))
    second = whole(table(born=[2.0, 9.0], name=["Ann", "Ann"], disease=["gout", "flu"]))
    both = attacks.composition([first, second], "disease", by=("name", "born"))
    assert both.people.tolist() == [("Ann", 2)]
    assert both.rows.tolist() == [[1], [0]]
    assert attacks.composition([first, second], "disease").people.tolist() == [0, 1]
    with pytest.raises(ParameterError, match="In table 1, 'name' does not tell the rows apart: 2 rows have 1"):
        attacks.composition([first, second], "disease", by="name")
    with pytest.raises(ParameterError, match="Table 1 has no column 'ssn'; it has 'name', 'born'"):
        attacks.composition([first, second], "disease", by="ssn")
    with pytest.raises(ParameterError, match="at least two releases, not 1"):
        attacks.composition([first], "disease")
    with pytest.raises(ParameterError, match="l must be at least 1"):
        attacks.composition([first, second], "disease", l=0.5)
    nobody = whole(table(name=["Zoe"], born=[5], disease=["flu"]))
    found = attacks.composition([first, nobody], "disease", by=("name", "born"))
    assert found.belief.shape == (0, 2)
    assert np.isnan(found.few)
    assert "Nobody is in all of these tables" in found.notes[0]


def test_values_that_changed_and_releases_that_contradict_each_other_are_told():
    first = hidden(["Ann", "Bob"], ["flu", "flu"], [0, 0])
    second = hidden(["Ann", "Cem"], ["gout", "cold"], [0, 0])
    found = attacks.composition([first, second], "disease", by="name")
    assert found.possible.tolist() == [0]
    assert found.belief[0] == pytest.approx([0.5, 0.25, 0.25])
    assert [note.split()[0] for note in found.notes] == ["1", "About"]


def test_a_generalized_attribute_is_refused():
    first = hidden(["Ann", "Bob"], ["flu", "gout"], [0, 0])
    partition = Partition(np.zeros(2, dtype=np.int32))
    data = first.data
    region = Generalized.of_rows(data.domain["disease"], partition, data.codes["disease"])
    coarse = Release(data, (Fragment("release", partition, {"disease": region}),))
    with pytest.raises(ReleaseError, match="single values are not published"):
        attacks.composition([first, coarse], "disease", by="name")


def test_two_samples_of_adult_that_share_5_000_people():
    """Each release keeps four occupations possible for everybody; together many people have fewer."""
    names = ["age", "workclass", "education", "marital-status", "race", "sex", "native-country"]
    plain = adult(names, "occupation")
    order = np.random.default_rng(1).permutation(plain.n_rows)
    samples = [order[:15_000], order[10_000:25_000]]
    method = Mondrian(requirements=[KAnonymity(k=5), DistinctDiversity(l=4)])
    releases = [method.anonymize(Microdata(plain.frame.iloc[rows], roles=plain.roles)) for rows in samples]
    found = attacks.composition(releases, "occupation", l=4)
    assert len(found.people) == 5_000
    assert sorted(found.people) == sorted(plain.frame.index[order[10_000:15_000]])
    assert found.few.baseline == 0
    assert found.possible_alone.min() >= 4
    assert 0.35 < found.few < 0.55
    assert found.truth > found.truth.baseline


def test_the_notes_say_that_rows_count_and_that_every_value_does():
    frame = pd.DataFrame({"name": ["Ann", "Ann", "Bob"], "age": [30, 31, 32], "disease": ["flu", "gout", "flu"]})
    release = Mondrian(requirements=[KAnonymity(k=2)]).anonymize(Microdata(frame, ROLES, unit="name"))
    with pytest.raises(ParameterError, match="does not tell the rows apart"):
        attacks.composition([release, release], "disease")
    found = attacks.composition([release, release], "disease", by="age")
    assert [note[:37] for note in found.notes[:1]] == ["Rows are counted here, not people: ea"]
    assert sum("Rows are counted" in note for note in found.notes) == 1
    data = Microdata(frame, {**ROLES, "age": "quasi-identifier"}, sensitive_values={"disease": ["gout"]})
    named = Mondrian(requirements=[KAnonymity(k=2)]).anonymize(data)
    (every, *_) = attacks.composition([named, named], "disease", by="age").notes
    assert every == "Every value of 'disease' counts here, also those that are not named as sensitive."


def test_a_unit_of_one_row_each_needs_no_note():
    frame = pd.DataFrame({"name": ["Ann", "Bob"], "age": [30, 31], "disease": ["flu", "gout"]})
    release = Mondrian(requirements=[KAnonymity(k=2)]).anonymize(Microdata(frame, ROLES, unit="name"))
    assert not any("Rows" in note for note in attacks.composition([release, release], "disease").notes)


@pytest.mark.parametrize(
    ("here", "there", "common"),
    [
        ([1, 2], [1.0, True], 1),
        ([0.5, "x"], [Decimal("0.5"), "0.5"], 1),
        ([date(2020, 1, 1), "x"], [pd.Timestamp(2020, 1, 1), "x"], 2),
        ([0.1, "x"], [Decimal("0.1"), "x"], 2),
    ],
)
def test_values_are_the_same_by_the_rule_of_tables(here, there, common):
    first = hidden(["Ann", "Bob"], here, [0, 0])
    second = hidden(["Ann", "Cem"], there, [0, 0])
    found = attacks.composition([first, second], "disease", by="name")
    assert found.possible.tolist() == [common]


def test_no_column_stands_for_the_row_labels_also_where_the_tables_have_a_unit():
    frame = pd.DataFrame({"name": ["Ann", "Ann", "Bob"], "age": 30, "disease": ["flu", "gout", "cold"]})
    release = sliced(Microdata(frame, ROLES, unit="name"), np.zeros(3, dtype=int), [["age", "disease"]])
    with pytest.raises(ParameterError, match="'name' does not tell the rows apart"):
        attacks.composition([release, release], "disease")
    assert attacks.composition([release, release], "disease", by=()).people.tolist() == [0, 1, 2]
