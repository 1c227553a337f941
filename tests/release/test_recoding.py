import numpy as np
import pandas as pd
import pytest

from anoncore import Distorted, Exact, Generalized, GroupValues, Hierarchy, Microdata, Partition


def recoded(values, group, dtype=None, **settings):
    named = {what: {"x": given} for what, given in settings.items()}
    data = Microdata(pd.DataFrame({"x": pd.Series(values, dtype=dtype)}), {"x": "insensitive"}, **named)
    return Generalized.of_rows(data.domain["x"], Partition(np.array(group)), data.codes["x"])


def wanted(recoding, *values):
    mask = np.zeros(len(recoding.domain), dtype=bool)
    mask[[recoding.domain.code_of(value) for value in values]] = True
    return mask


def test_numbers_become_ranges():
    # Values 0 to 100; domain 0, 10, 40, 100.
    recoding = recoded([10, 40, 0, 100, 40], [0, 0, 1, 1, 2])
    assert recoding.form == "interval"
    assert recoding.group_texts.tolist() == ["10-40", "0-100", "40"]
    assert recoding.texts().tolist() == ["10-40", "10-40", "0-100", "0-100", "40"]
    assert recoding.loss() == pytest.approx([0.3, 1.0, 0.0])
    assert recoding.sizes.tolist() == [2, 4, 1]
    assert recoding.values(1).tolist() == [0, 1, 2, 3]
    low, high = recoding.bounds()
    assert (low.tolist(), high.tolist()) == ([1, 1, 0, 0, 2], [2, 2, 3, 3, 2])
    assert recoding.mass(wanted(recoding, 10, 100)) == pytest.approx([1 / 2, 2 / 4, 0])


def test_ranges_with_missing_values():
    # Domain 1, 3, missing; missing lies at 5, so the span is 4.
    recoding = recoded([1, 3, 1, None, 3, None, None], [0, 0, 1, 1, 2, 2, 3])
    assert recoding.group_texts.tolist() == ["1-3", "1-3 or (missing)", "3 or (missing)", "(missing)"]
    assert recoding.loss() == pytest.approx([0.5, 1, 0.5, 0])


def test_a_range_of_dates():
    days = pd.to_datetime(["2020-01-01", "2020-01-03", "2020-01-05"])
    recoding = recoded(days, [0, 0, 1])
    assert recoding.group_texts.tolist() == ["2020-01-01 to 2020-01-03", "2020-01-05"]
    assert recoding.loss() == pytest.approx([0.5, 0])


def test_categories_become_sets_of_those_present():
    recoding = recoded(["a", "c", "b", "b", None], [0, 0, 1, 1, 0])
    assert recoding.form == "set"
    assert recoding.group_texts.tolist() == ["{a, c, (missing)}", "b"]
    assert recoding.sizes.tolist() == [3, 1]
    assert recoding.loss() == pytest.approx([2 / 3, 0])
    assert recoding.mass(wanted(recoding, "a", "b")) == pytest.approx([1 / 3, 1])
    assert [bound.tolist() for bound in recoding.bounds()] == [[0, 0, 1, 1, 0], [3, 3, 1, 1, 3]]


@pytest.mark.parametrize("n_values", [1, 2, 62, 63, 64, 65, 200])
def test_every_set_has_its_own_text_and_rank_however_many_categories(n_values):
    rng = np.random.default_rng(n_values)
    names = np.array([f"v{code:03}" for code in range(n_values)])
    values = np.concatenate([names, names[[0, -1, 0, -1]], rng.choice(names, 300)])
    group = np.concatenate([np.zeros(n_values), [1, 2, 3, 3], rng.integers(4, 200, 300)])
    recoding = recoded(values, np.unique(group, return_inverse=True)[1])
    sets = [sorted(set(values[recoding.partition.group == one])) for one in range(recoding.partition.n_groups)]
    texts = ["{" + ", ".join(one) + "}" if len(one) > 1 else one[0] for one in sets]
    assert recoding.group_texts.tolist() == texts
    assert recoding.group_content()[-1].tolist() == np.unique(texts, return_inverse=True)[1].tolist()


def test_members_of_a_set_that_would_mislead_stand_in_quotes():
    recoding = recoded(["a, b", 'say "x"', "c{d}", "plain"], [0, 0, 0, 0])
    assert recoding.group_texts.tolist() == ['{"a, b", "c{d}", plain, "say ""x"""}']
    assert recoded(["a, b"], [0]).group_texts.tolist() == ["a, b"]


def test_categories_with_a_hierarchy_become_nodes():
    hierarchy = Hierarchy.from_nested({"Asia": ["China", "India"], "Europe": ["Greece", "Italy"]})
    values = ["China", "India", "Greece", "China", "Italy", None]
    recoding = recoded(values, [0, 0, 1, 2, 2, 3], hierarchies=hierarchy)
    assert recoding.form == "node"
    assert recoding.group_texts.tolist() == ["Asia", "Greece", "*", "(missing)"]
    # Five values with missing; missing joins at the top only.
    assert recoding.loss() == pytest.approx([1 / 4, 0, 1, 0])
    assert recoding.sizes.tolist() == [2, 1, 5, 1]
    assert recoding.mass(wanted(recoding, "China", "Greece")) == pytest.approx([1 / 2, 1, 2 / 5, 0])


def test_numbers_with_a_hierarchy_become_its_intervals():
    numbers = [20, 25, 31, 39]
    recoding = recoded(numbers, [0, 0, 1, 1], hierarchies=Hierarchy.by_width(numbers, 10))
    assert recoding.group_texts.tolist() == ["20-29", "30-39"]
    assert recoding.loss() == pytest.approx([1 / 3, 1 / 3])


def test_an_interval_of_categories_names_all_of_them():
    data = Microdata(pd.DataFrame({"x": ["a", "b", "c"]}), {"*": "insensitive"})
    group = Partition(np.array([0, 0, 1]))
    low, high = np.array([0, 2], dtype=np.int32), np.array([2, 2], dtype=np.int32)
    recoding = Generalized(data.domain["x"], group, "interval", low, high)
    assert recoding.group_texts.tolist() == ["{a, b, c}", "c"]
    assert recoding.loss() == pytest.approx([1, 0])


def test_a_constant_attribute_loses_nothing():
    for values in ([7, 7], ["a", "a"], [None, None]):
        recoding = recoded(pd.Series(values, dtype=object), [0, 1])
        assert recoding.loss().tolist() == [0, 0]
    assert recoded([7, 7], [0, 0]).loss().tolist() == [0]


def test_values_beyond_double_precision_have_a_loss():
    assert recoded([2**53, 2**53 + 1], [0, 0]).loss().tolist() == [1]


def test_exact_and_distorted_values():
    data = Microdata(pd.DataFrame({"x": ["a", "b", "b", "a"]}), {"*": "insensitive"})
    domain, codes = data.domain["x"], data.codes["x"]
    partition = Partition(np.array([0, 0, 0, 1]))
    exact = Exact(domain, partition, codes)
    assert exact.texts().tolist() == ["a", "b", "b", "a"]
    assert exact.loss().tolist() == [0, 0]
    assert exact.mass(wanted(exact, "b")) == pytest.approx([2 / 3, 0])
    changed = Distorted(domain, partition, np.array([1, 1, 1, 0], dtype=np.int32), codes)
    assert changed.n_changed == 1
    assert changed.texts().tolist() == ["b", "b", "b", "a"]


def test_group_values_tell_only_which_values_occur():
    # The example of vertical fragmentation: five rows, three values, two ambiguous slots.
    data = Microdata(pd.DataFrame({"x": ["flu", "pneumonia", "dyspepsia", "pneumonia", "flu"]}), {"*": "insensitive"})
    partition = Partition(np.zeros(5, dtype=np.int32))
    recoding = GroupValues(data.domain["x"], partition, *partition.value_sets(data.codes["x"], 3))
    assert recoding.ambiguous.tolist() == [2]
    assert recoding.group_texts.tolist() == ["{dyspepsia, flu, pneumonia}"]
    assert recoding.loss().tolist() == [1]
    # Each value stands once, the other two slots may hold any of the three: 5/3 rows expected of each.
    assert recoding.mass(wanted(recoding, "flu")) == pytest.approx([(1 + 2 / 3) / 5])
    assert [bound.tolist() for bound in recoding.bounds()] == [[0] * 5, [2] * 5]
