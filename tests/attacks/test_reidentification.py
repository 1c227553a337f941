"""Re-identification risks: by hand, against published tables, and against a population counted one by one."""

import datetime as dt

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anoncore import Generalized, Hierarchy, Microdata, Partition, Release, attacks
from anoncore.algorithms import Anatomy
from anoncore.base.errors import DataError, ParameterError
from tests.privacy.releases import adult, builtin, fragment, generalized, sliced
from tests.requirements.tables import misleading_index

few = settings(max_examples=20)
KNOWN = {"age": "quasi-identifier", "sex": "quasi-identifier"}


def people(ages, sexes, **more):
    return Microdata(pd.DataFrame({"age": ages, "sex": list(sexes), **more}), roles=KNOWN)


def test_prosecutor_risk_by_hand():
    # Classes of 4, 2 and 1 records.
    data = people([20, 21, 22, 23, 50, 51, 70], "MMMMFFM")
    found = attacks.reidentification(generalized(data, [0, 0, 0, 0, 1, 1, 2]), threshold=0.4)
    assert found.class_size.tolist() == [4, 4, 4, 4, 2, 2, 1]
    assert found.group_risk.tolist() == [0.25, 0.5, 1.0]
    assert (found.prosecutor.largest, found.prosecutor.mean) == (1.0, pytest.approx(3 / 7))
    assert found.prosecutor.at_risk == pytest.approx(3 / 7)
    for risk in (found.prosecutor, found.journalist, found.marketer):
        assert risk.largest.baseline == risk.mean.baseline == pytest.approx(1 / 7)
        assert risk.at_risk.baseline == 0
        assert (risk.largest, risk.mean) == (found.prosecutor.largest, found.prosecutor.mean)
        assert risk.definition


def test_a_risk_of_exactly_the_threshold_is_not_above_it():
    release = generalized(people([20] * 5, "MMMMM"), [0] * 5)
    assert attacks.reidentification(release, threshold=0.2).prosecutor.at_risk == 0
    assert attacks.reidentification(release, threshold=0.19).prosecutor.at_risk == 1


def test_without_a_population_the_table_is_taken_and_said():
    release = generalized(people([20, 21, 50, 51], "MMFF"), [0, 0, 1, 1])
    alone = attacks.reidentification(release)
    assert "the table itself is taken" in alone.notes[0]
    np.testing.assert_array_equal(alone.population_size, alone.class_size)
    assert attacks.reidentification(release, release.data).notes == alone.notes


def test_journalist_and_marketer_by_hand():
    # 20-22 M: 2 records, 4 people (21 counts, though the table has no 21); 50-52 F: 2 records, 8 people.
    release = generalized(people([20, 22, 50, 52], "MMFF"), [0, 0, 1, 1])
    population = people([20, 22, 21, 21, 23, 50, 52, 51, 51, 51, 51, 51, 51, 20], "MMMMMFFFFFFFFF")
    found = attacks.reidentification(release, population)
    assert found.population_size.tolist() == [4, 4, 8, 8]
    assert found.journalist.largest == 0.25
    assert found.journalist.mean == pytest.approx(max(2 / 12, (2 / 4 + 2 / 8) / 4))
    assert found.marketer.mean == pytest.approx((2 / 4 + 2 / 8) / 4)
    assert found.journalist.mean.baseline == pytest.approx(1 / 14)
    assert found.prosecutor.largest == 0.5
    assert found.journalist.at_risk == pytest.approx(0.5)


def test_a_population_that_lacks_the_table_counts_at_least_the_records():
    release = generalized(people([20, 22], "MM"), [0, 0])
    assert attacks.reidentification(release, people([90], "F")).population_size.tolist() == [2, 2]


def test_groups_with_equal_cells_are_one_class():
    found = attacks.reidentification(generalized(people([20, 30, 20, 30], "MMMM"), [0, 0, 1, 1]))
    assert found.class_size.tolist() == [4] * 4
    assert found.group_risk.tolist() == [0.25, 0.25]


def test_sets_of_equal_bounds_are_different_classes():
    data = Microdata(pd.DataFrame({"city": list("abcac")}), roles={"city": "quasi-identifier"})
    found = attacks.reidentification(generalized(data, [0, 0, 0, 1, 1]))
    assert found.class_size.tolist() == [3, 3, 3, 2, 2]


def test_buckets_leave_exact_tuples_as_exposed_as_they_are_rare():
    data = builtin("slicing-table-1")
    found = attacks.reidentification(Anatomy(l=2, seed=0).anonymize(data))
    assert found.class_size.tolist() == [1] * 8
    assert found.prosecutor.mean == 1.0


def test_each_column_of_a_sliced_table_is_a_table_of_its_own():
    data = builtin("slicing-table-1")
    release = sliced(data, [0] * 4 + [1] * 4, [["sex"], ["zipcode", "disease"], ["age"]])
    found = attacks.reidentification(release)
    # Two are 22 and two are 60, all others have an age of their own; zip codes come in pairs.
    assert found.class_size.tolist() == [2, 2, 1, 1, 1, 2, 2, 1]
    assert "in several fragments" in found.notes[1]


def test_partitions_of_their_own_count_by_the_fragment_that_tells_most():
    data = people([20, 30, 40, 50], "MMFF")
    first, second = Partition(np.array([0, 0, 0, 0])), Partition(np.array([0, 0, 1, 1]))
    release = Release(data, (fragment(data, "1", first, (), ["age"]), fragment(data, "2", second, (), ["sex"])))
    assert attacks.reidentification(release).class_size.tolist() == [2] * 4


def test_the_journalist_is_not_less_sure_than_the_marketer_where_fragments_tell_of_different_people():
    # The first person is told by the age alone, the second one by the sex: each is found with certainty.
    data = people([20, 30, 30], "MFM")
    release = sliced(data, [0, 0, 0], [["age"], ["sex"]])
    found = attacks.reidentification(release)
    assert found.class_size.tolist() == [1, 1, 2]
    assert found.prosecutor.mean == found.journalist.mean == found.marketer.mean == pytest.approx(2.5 / 3)


def test_without_quasi_identifiers_nobody_can_be_told_apart():
    data = Microdata(pd.DataFrame({"s": list("abcd")}), roles={"s": "sensitive"})
    found = attacks.reidentification(generalized(data, [0, 0, 1, 1]), people([1], "M"))
    assert found.risk.tolist() == [0.25] * 4
    assert "nobody can be told apart" in found.notes[-1]


def test_classes_of_adult_are_those_of_the_published_table():
    names = ["age", "workclass", "sex"]
    data = adult(names, "occupation")
    group = np.unique(data.codes["age"] // 10 * 2 + data.codes["sex"], return_inverse=True)[1]
    release = generalized(data, group)
    sizes = release.tables()["release"].groupby(names).size()
    found = attacks.reidentification(release)
    assert found.prosecutor.largest == pytest.approx(1 / sizes.min())
    assert found.prosecutor.mean == pytest.approx(len(sizes) / data.n_rows)
    assert sorted(found.class_size) == sorted(np.repeat(sizes, sizes))


TREE = Hierarchy.from_nested({"west": ["a", "b"], "east": ["c", "d"]})


def region_holds(recoding, group, value, domain):
    """Whether one published cell covers a value, by the plain meaning of intervals, sets and nodes."""
    inside = [domain[int(code)] for code in recoding.values(group)]
    if recoding.form == "node" and recoding.group_texts[group] == "*":
        return True
    if recoding.form == "node" and recoding.group_texts[group] in ("west", "east"):
        return value is not None and TREE.path_of(value)[0] == recoding.group_texts[group]
    if value is None or recoding.form != "interval":
        return value in inside
    numbers = [one for one in inside if one is not None]
    return bool(numbers) and numbers[0] <= value <= numbers[-1]


@st.composite
def samples(draw):
    """A generalized table and a population that has values of its own."""

    def frame(n_rows, ages, cities, regions):
        columns = {"age": ages, "city": cities, "region": regions}
        drawn = {
            name: draw(st.lists(st.sampled_from(values), min_size=n_rows, max_size=n_rows))
            for name, values in columns.items()
        }
        drawn["age"] = pd.Series(drawn["age"], dtype="float64")
        return pd.DataFrame(drawn).set_axis(misleading_index(n_rows))

    tags = {
        "roles": dict.fromkeys(["age", "city", "region"], "quasi-identifier"),
        "kinds": {"age": "numeric", "city": "nominal", "region": "nominal"},
        "hierarchies": {"region": TREE},
    }
    n_rows = draw(st.integers(1, 8))
    data = Microdata(frame(n_rows, [10.0, 30.0, 50.0, None], ["x", "y", "z", None], list("abc")), **tags)
    population = Microdata(
        frame(draw(st.integers(1, 300)), [5, 10, 20, 30, 50, 60, None], ["x", "z", "u", None], list("abcd")), **tags
    )
    group = np.unique(draw(st.lists(st.integers(0, 2), min_size=n_rows, max_size=n_rows)), return_inverse=True)[1]
    return generalized(data, group), population


@pytest.mark.slow
@few
@given(samples())
def test_the_population_is_counted_as_one_by_one(sample):
    release, population = sample
    found = attacks.reidentification(release, population)
    recodings = release.fragments[0].recodings
    columns = {name: [population.domain[name][code] for code in population.codes[name]] for name in recodings}
    persons = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    for row, group in enumerate(release.partition.group):
        inside = sum(
            all(region_holds(one, group, person[name], one.domain) for name, one in recodings.items())
            for person in persons
        )
        assert found.population_size[row] == max(inside, found.class_size[row])
    assert found.marketer.mean <= found.journalist.mean + 1e-12
    assert found.journalist.largest <= found.prosecutor.largest + 1e-12


def test_dates_and_intervals_of_categories_fit_by_value():
    days = pd.to_datetime(["2020-01-01", "2020-03-01"])
    data = Microdata(pd.DataFrame({"born": days}), roles={"born": "quasi-identifier"})
    release = generalized(data, [0, 0])
    other = pd.to_datetime(["2020-02-01", "2020-03-02", "2019-12-31", "2020-01-01", "2020-02-29"])
    population = Microdata(pd.DataFrame({"born": other}), roles={"born": "quasi-identifier"})
    assert attacks.reidentification(release, population).population_size.tolist() == [3, 3]
    assert isinstance(release.fragments[0].recodings["born"], Generalized)
    assert data.domain["born"][0].date() == dt.date(2020, 1, 1)


def test_values_that_only_the_population_has_fit_the_nodes_above_them():
    """Nobody from d is in the table, but east is c, d and e; and * is everybody, also whom the hierarchy lacks."""
    roles = {"region": "quasi-identifier"}
    tree = Hierarchy.from_nested({"west": ["a", "b"], "east": ["c", "d", "e"]})
    data = Microdata(pd.DataFrame({"region": list("ceab")}), roles=roles, hierarchies={"region": tree})
    population = Microdata(pd.DataFrame({"region": [*"cddeebxyz", None]}), roles=roles)
    by_region = attacks.reidentification(generalized(data, [0, 0, 1, 1]), population)
    assert by_region.population_size.tolist() == [5, 5, 2, 2]
    everybody = attacks.reidentification(generalized(data, [0, 0, 0, 0]), population)
    assert everybody.population_size.tolist() == [10] * 4


def test_bad_input_is_one_sentence():
    release = generalized(people([20], "M"), [0])
    with pytest.raises(ParameterError, match="from 0 to 1, not 2"):
        attacks.reidentification(release, threshold=2)
    other = Microdata(pd.DataFrame({"age": [1]}), {"*": "insensitive"})
    with pytest.raises(DataError, match="lacks the quasi-identifier 'sex'; it has 'age'"):
        attacks.reidentification(release, other)
