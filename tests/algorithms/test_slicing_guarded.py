"""Slicing with several sensitive attributes and requirements in every bucket: the same buckets as a naive check."""

from collections import Counter
from math import log

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anoncore import Microdata, Partition, attacks, privacy
from anoncore.algorithms import Slicing
from anoncore.algorithms.slicing.columns import sliced_release
from anoncore.algorithms.slicing.slicing import achieved_diversity
from anoncore.algorithms.slicing.tuple_partition import TupleSearch
from anoncore.base import memory
from anoncore.base.errors import DataError, InfeasibleError
from anoncore.kernels.rounding import reaches
from anoncore.requirements import BetaLikeness, DistinctDiversity, FrequencyDiversity, KAnonymity, TCloseness
from tests.algorithms.plain_slicing import PlainSlicing
from tests.privacy.releases import adult

COLUMNS = [
    [["age", "q1"], ["q2", "s"], ["u"]],
    [["age", "q1", "q2"], ["s", "u"]],
    [["age"], ["q1", "s"], ["q2", "u"]],
    [["age", "q2", "u"], ["q1", "s"]],
]


def distance(own, whole):
    """Half the sum of the differences of shares."""
    return sum(abs(own[x] / own.total() - whole[x] / whole.total()) for x in whole) / 2


def is_alike(values, whole, beta):
    """No share q of a value with the share p of the table is above p (1 + min(beta, -ln p))."""
    shares = {value: count / whole.total() for value, count in whole.items()}
    return all(
        count / len(values) <= shares[value] * (1 + min(beta, -log(shares[value]))) + 1e-9
        for value, count in Counter(values).items()
    )


REQUIREMENTS = {
    KAnonymity(k=3): lambda values, whole: len(values["s"]) >= 3,
    TCloseness(t=0.3, ground="equal", attribute="u"): lambda values, whole: (
        distance(Counter(values["u"]), whole["u"]) <= 0.3 + 1e-9
    ),
    BetaLikeness(beta=0.7, attribute="u"): lambda values, whole: is_alike(values["u"], whole["u"], 0.7),
    DistinctDiversity(l=2, attribute="s"): lambda values, whole: len(set(values["s"])) >= 2,
    FrequencyDiversity(l=1.5): lambda values, whole: all(
        max(Counter(values[name]).values()) <= len(values[name]) / 1.5 + 1e-9 for name in values
    ),
}


class PlainGuarded(PlainSlicing):
    """Figure 2's check of every sensitive attribute by itself, and the requirements' definitions in every bucket."""

    def __init__(self, data, columns, levels, distinct, retry, requirements):
        super().__init__(data, columns, 1, distinct, retry)
        self.checks = [PlainSlicing(data, columns, l, distinct, retry, sensitive=name) for name, l in levels.items()]
        self.requirements = [REQUIREMENTS[one] for one in requirements]
        self.values = {name: data.codes[name].tolist() for name in data.sensitive}

    def holds(self, buckets):
        whole = {name: Counter(values) for name, values in self.values.items()}
        inside = [{name: [values[row] for row in bucket] for name, values in self.values.items()} for bucket in buckets]
        kept = all(one(values, whole) for one in self.requirements for values in inside)
        return kept and all(check.holds(buckets) for check in self.checks)


@st.composite
def tables(draw):
    """Up to 14 rows with two sensitive attributes."""
    n = draw(st.integers(2, 14))
    frame = pd.DataFrame({name: [draw(st.sampled_from("abc")) for _ in range(n)] for name in ("q1", "q2")})
    frame["age"] = [draw(st.sampled_from([20, 21, 30, 31, 60])) for _ in range(n)]
    frame["s"] = [draw(st.sampled_from("vwxy")) for _ in range(n)]
    frame["u"] = [draw(st.sampled_from("123")) for _ in range(n)]
    roles = dict.fromkeys(("age", "q1", "q2"), "quasi-identifier") | dict.fromkeys("su", "sensitive")
    return Microdata(frame[["age", "q1", "q2", "s", "u"]], roles=roles)


@pytest.mark.slow
@settings(max_examples=40)
@given(
    tables(),
    st.sampled_from(COLUMNS),
    st.sampled_from([{"s": 1, "u": 1}, {"s": 2, "u": 1.5}, {"s": 1.5, "u": 1}, {"s": 2, "u": 2}]),
    st.sets(st.sampled_from(list(REQUIREMENTS)), max_size=2),
    st.booleans(),
    st.booleans(),
)
def test_every_split_as_the_naive_checks_decide(data, columns, levels, requirements, distinct, retry):
    cells = [{name: (data.codes[name],) for name in column} for column in columns]
    search = TupleSearch.of(data, cells, levels, distinct, retry, tuple(requirements))
    plain = PlainGuarded(data, columns, levels, distinct, retry, requirements)
    more = True
    for buckets in plain.steps():
        assert more
        more = search.step(1)
        found = {frozenset(np.flatnonzero(search.group == bucket).tolist()) for bucket in np.unique(search.group)}
        assert found == {frozenset(bucket) for bucket in buckets}
    assert not search.step(1)
    assert search.done == data.n_rows


def two_secrets():
    """Adult with an occupation and an education to protect."""
    data = adult(("age", "workclass", "marital-status", "race", "sex"), "occupation")
    whole = adult(("age", "workclass", "marital-status", "race", "sex", "education"), "occupation")
    roles = {**data.roles, "education": "sensitive"}
    return Microdata(whole.frame, roles=roles, kinds={"age": "numeric"})


@pytest.mark.parametrize(
    "columns",
    [
        (("age", "workclass", "marital-status", "race", "sex"), ("occupation", "education")),
        (("age", "workclass", "marital-status", "race"), ("sex", "occupation"), ("education",)),
    ],
    ids=["together", "apart"],
)
def test_both_secrets_of_adult_keep_their_own_l(columns):
    data = two_secrets()
    release = Slicing(l=3, levels={"education": 2}, attribute_columns=columns).anonymize(data)
    reached = {name: achieved_diversity(release, name) for name in data.sensitive}
    assert reached["occupation"] >= 3 - 1e-6
    assert 2 - 1e-6 <= reached["education"] < 3
    found = privacy.personal_guarantees(release)
    assert {(one.attribute, one.asked, one.holds) for one in found} == {
        ("occupation", 3, True),
        ("education", 2, True),
    }
    alone = Slicing(l=3, attribute_columns=columns).replace(levels={"education": 1}).anonymize(data)
    assert alone.partition.n_groups >= release.partition.n_groups
    assert release.partition.n_groups > 100
    # What is bounded for each attribute is bounded for each combination of their values too.
    assert attacks.sensitive_posterior(release, "education").max() <= 1 / 2 + 1e-6


def test_requirements_hold_in_every_bucket():
    data = adult(("age", "workclass", "race", "sex"), "occupation")
    columns = (("age", "workclass", "race"), ("sex", "occupation"))
    wanted = [KAnonymity(k=20), TCloseness(t=0.4, ground="equal")]
    release = Slicing(l=2, attribute_columns=columns, requirements=wanted).anonymize(data)
    assert release.partition.sizes.min() >= 20
    assert privacy.emd(release, "occupation", ground="equal").max() <= 0.4 + 1e-9
    assert all(one.holds for one in privacy.guarantees(release))
    assert {type(one.requirement) for one in privacy.guarantees(release)} == {KAnonymity, TCloseness}
    free = Slicing(l=2, attribute_columns=columns).anonymize(data)
    assert privacy.emd(free, "occupation", ground="equal").max() > 0.4
    assert free.partition.n_groups > release.partition.n_groups > 10


def test_the_sensitive_column_of_a_given_size_holds_all_sensitive_attributes():
    data = two_secrets()
    columns = Slicing(l=1, columns=2, sensitive_column_size=3).resolve_columns(data)
    assert set(columns[-1]) >= {"occupation", "education"}
    assert len(columns[-1]) == 3
    with pytest.raises(DataError, match="holds all 2 sensitive attributes"):
        Slicing(l=1, columns=2, sensitive_column_size=1).resolve_columns(data)


def test_an_l_that_one_bucket_fails_is_offered_with_columns_that_keep_it():
    data = two_secrets()
    model = Slicing(
        l=2, attribute_columns=(("age", "workclass"), ("marital-status", "race", "sex", "occupation", "education"))
    )
    with pytest.raises(InfeasibleError, match="column of its own") as caught:
        model.anonymize(data)
    mended = model.replace(**caught.value.instead)
    release = mended.anonymize(data)
    assert all(one.holds for one in privacy.personal_guarantees(release))
    high = Slicing(l=5, attribute_columns=mended.attribute_columns)
    with pytest.raises(InfeasibleError, match=r"at most l = 3\.05 for 'education'") as caught:
        high.anonymize(data)
    assert caught.value.instead["levels"] == {"education": 3.05}
    assert all(one.holds for one in privacy.personal_guarantees(high.replace(**caught.value.instead).anonymize(data)))


def test_levels_of_what_is_not_sensitive_and_requirements_that_the_table_fails_are_refused():
    data = adult(("age", "race"), "occupation")
    with pytest.raises(DataError, match="'age' is not tagged as sensitive"):
        Slicing(l=2, levels={"age": 2}).anonymize(data)
    with pytest.raises(InfeasibleError, match="choose l at most"):
        Slicing(l=1, requirements=[FrequencyDiversity(l=50)]).anonymize(data)


def test_the_l_of_one_attribute_may_be_named():
    data = adult(("age", "race"), "occupation")
    columns = (("age", "race"), ("occupation",))
    named = Slicing(l=1, levels={"occupation": 4}, attribute_columns=columns).anonymize(data)
    plain = Slicing(l=4, attribute_columns=columns).anonymize(data)
    assert (named.partition.group == plain.partition.group).all()
    assert reaches(
        achieved_diversity(sliced_release(data, Partition(named.partition.group), columns), "occupation"), 4, 1e-9
    )
    with pytest.raises(InfeasibleError) as caught:
        Slicing(l=1, levels={"occupation": 9}, attribute_columns=columns).anonymize(data)
    changes = caught.value.instead
    assert "l" not in changes
    assert changes["levels"]["occupation"] < 9
    Slicing(l=1, **changes).anonymize(data)


@pytest.mark.slow
def test_more_possible_values_than_memory_holds_are_refused_before_they_are_made(monkeypatch):
    """Beside nothing that is known, everybody may have every value: a secret that is another number for each of 3,000
    people makes nine million possibilities.
    """
    n = 3_000
    draw = np.random.default_rng(0)
    frame = pd.DataFrame({"age": draw.integers(0, 90, n), "town": draw.integers(0, 9**6, n), "pay": np.arange(n)})
    data = Microdata(frame, {"age": "quasi-identifier", "town": "quasi-identifier", "pay": "sensitive"})
    slicing = Slicing(l=3, attribute_columns=[["age", "town"], ["pay"]])
    monkeypatch.setattr(memory, "free_memory", lambda: n * n * 48 - 1)
    with pytest.raises(DataError) as error:
        slicing.anonymize(data)
    assert str(error.value).startswith(
        "Slicing 3,000 rows whose 'pay' could be any of 3,000 values needs about 432.0 MB of memory, but only 432.0 MB "
        "are free; round or group the values of 'pay', or take fewer rows."
    )
    monkeypatch.setattr(memory, "free_memory", lambda: n * n * 48)
    assert slicing.anonymize(data).partition.n_groups > 1
