"""ForegroundSafe: the attack itself as oracle, on small tables and on Adult beside Anatomy."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anoncore import CancelledError, DataError, InfeasibleError, Microdata, attacks
from anoncore.algorithms import Anatomy, ForegroundSafe
from anoncore.algorithms.bucketization.safe_buckets import PureBuckets
from anoncore.base.errors import ParameterError
from anoncore.kernels.foreground_safe import deal_alike
from anoncore.utility import query_error
from tests.privacy.releases import adult
from tests.requirements.tables import misleading_index

LOW = {"Preschool", "1st-4th", "5th-6th", "7th-8th"}
QUASI = ["age", "workclass", "marital-status", "occupation", "race", "sex", "native-country", "salary-class"]
READINGS = {"overall": ["overall"], "uniform": ["uniform"], "both": ["overall", "uniform"]}


def people(seed, n=80, protected=(), values="xyzuv", skew=0.0):
    """A table in which job and town say something about the sensitive value, the more the larger `skew`."""
    rng = np.random.default_rng(seed)
    town, job = rng.choice(["a", "b", "c"], n), rng.choice(["k", "m"], n)
    s = rng.choice(list(values), n)
    s = np.where((job == "k") & (rng.random(n) < skew), "x", s)
    frame = pd.DataFrame({"town": town, "job": job, "s": s}, index=pd.Index(misleading_index(n)))
    roles = {"town": "quasi-identifier", "job": "quasi-identifier", "s": "sensitive"}
    return Microdata(frame, roles=roles, sensitive_values={"s": set(protected)} if protected else {})


def attacked(release, model):
    """The largest p(t:x) of the attack with the model's own parameters, in each of its readings."""
    found = [
        attacks.foreground_knowledge(
            release, "s", r=model.l, epsilon=model.epsilon, sigma=model.sigma, unreliable=reading, draws=0
        )
        for reading in READINGS[model.unreliable]
    ]
    assert all(one.converged for one in found)
    return max(float(one.breach_probability.max()) for one in found)


@pytest.mark.slow
@settings(max_examples=30)
@given(
    seed=st.integers(0, 10**6),
    l=st.sampled_from([2, 3]),
    tolerance=st.sampled_from([0.0, 0.1]),
    rows=st.sampled_from([5, 15, 30]),
    unreliable=st.sampled_from(["overall", "uniform", "both"]),
    protected=st.sampled_from([(), ("x",), ("x", "y")]),
    skew=st.sampled_from([0.0, 0.2, 0.5]),
)
def test_the_attack_finds_nobody(seed, l, tolerance, rows, unreliable, protected, skew):
    data = people(seed, protected=protected, skew=skew)
    epsilon = float(np.sqrt(np.log(2 / 0.9) / (2 * rows)))
    model = ForegroundSafe(l=l, tolerance=tolerance, epsilon=epsilon, unreliable=unreliable, seed=seed)
    try:
        release = model.anonymize(data)
    except InfeasibleError as error:
        check_refusal(model, data, error)
        return
    assert attacked(release, model) <= (1 + tolerance) / l + 1e-9
    view = data.sensitive_view("s")
    for group in range(release.partition.n_groups):
        codes = view.codes[release.partition.rows(group)]
        protected_ones = codes[codes != view.unique]
        assert len(codes) >= l
        assert len(set(protected_ones.tolist())) == len(protected_ones)


def check_refusal(model, data, error):
    """A nearest l is below the one asked for, and holds."""
    assert str(error).endswith(".")
    if error.nearest is None:
        return
    assert 2 <= error.nearest < model.l
    if "was not reached" in str(error):
        nearest = model.replace(l=int(error.nearest))
        assert attacked(nearest.anonymize(data), nearest) <= nearest.bound + 1e-9


def test_people_of_one_kind_share_buckets_where_their_values_allow_it():
    """Without leftovers every bucket has l rows of one job and town, however much job says."""
    frame = pd.DataFrame(
        [("k", "a", s) for s in "xy" * 6] + [("m", "a", s) for s in "uv" * 6] + [("m", "b", s) for s in "xv" * 5],
        columns=["job", "town", "s"],
    ).sample(frac=1, random_state=0)
    data = Microdata(frame, roles={"job": "quasi-identifier", "town": "quasi-identifier", "s": "sensitive"})
    release = ForegroundSafe(epsilon=0.3, sigma=0.9, seed=2).anonymize(data)
    assert release.partition.sizes.tolist() == [2] * 17
    for group in range(17):
        assert len(frame.iloc[release.partition.rows(group)][["job", "town"]].drop_duplicates()) == 1
    assert "0 of 17 groups mix" in release.notes[0]


def majority():
    """Two thirds of the 60 people with job k have x, and none of the 300 others."""
    frame = pd.DataFrame({"job": ["k"] * 60 + ["m"] * 300, "s": ["x"] * 40 + ["y"] * 320})
    roles = {"job": "quasi-identifier", "s": "sensitive"}
    return Microdata(frame, roles=roles, sensitive_values={"s": {"x"}})


def test_people_who_find_nobody_like_them_are_hidden_among_others():
    """With J = 160 the adversary learns about job m alone. The 20 people of job k who have x and find no partner of
    their kind go to buckets of job m, larger than 2 until the odds of the others there outweigh theirs.
    """
    data, model = majority(), ForegroundSafe(epsilon=0.05, seed=0)
    release = model.anonymize(data)
    assert attacked(release, model) <= 0.5 + 1e-9
    anatomy = Anatomy(l=2, seed=0).anonymize(data)
    assert attacks.foreground_knowledge(anatomy, "s", epsilon=0.05).recall > 0.5
    group = release.partition.group
    kinds = data.frame["job"].groupby(group).nunique().to_numpy()
    assert (kinds == 2).sum() == 20
    assert (release.partition.sizes[kinds == 2] > 2).all()
    assert (release.partition.sizes[kinds == 1] == 2).all()


def test_what_nobody_can_hide_is_refused():
    """With J = 40 he learns of job k as well, that most people have x."""
    with pytest.raises(InfeasibleError, match="20 people a protected value") as refused:
        ForegroundSafe(epsilon=0.1, seed=0).anonymize(majority())
    assert refused.value.nearest is None
    assert "choose a larger tolerance" in str(refused.value)


def test_the_nearest_l_of_a_refusal_was_tried():
    data = people(1, n=200, protected=("x",), skew=0.2)
    model = ForegroundSafe(l=3, epsilon=0.15, seed=0)
    with pytest.raises(InfeasibleError, match="l = 2 works") as refused:
        model.anonymize(data)
    assert attacked(model.replace(l=int(refused.value.nearest)).anonymize(data), model.replace(l=2)) <= 0.5 + 1e-9


@settings(max_examples=20)
@given(seed=st.integers(0, 10**6), l=st.integers(2, 4), unique=st.sampled_from([-1, 3]))
def test_buckets_of_one_profile_hold_different_values(seed, l, unique):
    rng = np.random.default_rng(seed)
    profile = np.sort(rng.integers(0, 5, 60))
    starts = np.searchsorted(profile, np.arange(6))
    values = rng.integers(0, 4, 60).astype(np.int32)
    bucket = deal_alike(np.arange(60), starts, values, 4, unique, l)
    for number in range(bucket.max() + 1):
        rows = np.flatnonzero(bucket == number)
        bound = values[rows][values[rows] != unique]
        assert len(rows) == l
        assert len(set(profile[rows].tolist())) == 1
        assert len(set(bound.tolist())) == len(bound)
    for begin, end in pairwise(starts):
        left = values[begin:end][bucket[begin:end] < 0]
        kinds = len(set(left[left != unique].tolist())) + int((left == unique).sum())
        assert kinds < l


def test_without_reliable_signatures_it_needs_what_anatomy_needs():
    """Small tables: nothing is learned, everyone is alike, and whatever Anatomy can do is possible."""
    for seed in range(40):
        data = people(seed, n=5 + seed % 7, values="xyzuvw")
        largest = data.n_rows // int(data.frame["s"].value_counts().max())
        if largest < 3:
            with pytest.raises(InfeasibleError, match="l = 3 is not possible") as refused:
                ForegroundSafe(l=3, seed=0).anonymize(data)
            assert refused.value.nearest == (largest if largest == 2 else None)
            continue
        assert set(ForegroundSafe(l=3, seed=0).anonymize(data).partition.sizes.tolist()) <= {3, 4, 5}


def test_refusals_say_what_to_change():
    data = people(3)
    with pytest.raises(DataError, match="sensitive"):
        ForegroundSafe().anonymize(Microdata(data.frame, roles={"town": "quasi-identifier"}))
    with pytest.raises(ParameterError, match="tolerance"):
        ForegroundSafe(tolerance=-0.1)
    with pytest.raises(ParameterError, match="unreliable"):
        ForegroundSafe(unreliable="neither")

    def stop(share, text):
        if "Attacking" in text:
            raise CancelledError("stopped")

    with pytest.raises(CancelledError):
        ForegroundSafe().anonymize(data, progress=stop)


def adult_education(q, protected=LOW):
    plain = adult(QUASI[:q], "education")
    return Microdata(plain.frame, roles=plain.roles, sensitive_values={"education": protected} if protected else {})


@pytest.mark.slow
@pytest.mark.parametrize(("q", "l", "largest"), [(5, 2, 2.01), (5, 4, 4.05), (8, 2, 2.05), (8, 4, 4.5)])
def test_adult_beside_anatomy(q, l, largest):
    """Nobody is breached where Anatomy gives most away, in buckets hardly larger, and queries are answered better."""
    data = adult_education(q)
    models = {Anatomy: Anatomy(l=l, seed=1), ForegroundSafe: ForegroundSafe(l=l, epsilon=0.01, seed=1)}
    releases = {name: model.anonymize(data) for name, model in models.items()}
    found = {
        name: attacks.foreground_knowledge(one, "education", r=l, epsilon=0.01, draws=0)
        for name, one in releases.items()
    }
    assert found[Anatomy].recall > 0.8
    assert found[ForegroundSafe].recall == 0
    assert found[ForegroundSafe].flagged == 0
    assert found[ForegroundSafe].breach_probability.max() <= 1 / l + 1e-9
    assert releases[ForegroundSafe].partition.sizes.mean() < largest
    errors = {model: query_error(one, n_queries=1_000) for model, one in releases.items()}
    assert errors[ForegroundSafe] < errors[Anatomy]


def test_adult_with_either_reading():
    data = adult_education(5)
    release = ForegroundSafe(l=4, epsilon=0.01, unreliable="both", seed=3).anonymize(data)
    for reading in ("overall", "uniform"):
        found = attacks.foreground_knowledge(release, "education", r=4, epsilon=0.01, unreliable=reading, draws=0)
        assert (found.recall, found.flagged) == (0, 0)


@pytest.mark.slow
def test_adult_where_every_value_needs_protection():
    data = adult_education(5, protected=None)
    release = ForegroundSafe(epsilon=0.01, seed=1).anonymize(data)
    found = attacks.foreground_knowledge(release, "education", epsilon=0.01, draws=0)
    assert (found.recall, found.flagged) == (0, 0)
    assert release.partition.sizes.mean() < 2.05
    with pytest.raises(InfeasibleError, match="choose l at most 3") as refused:
        ForegroundSafe(l=4, epsilon=0.01).anonymize(data)
    assert refused.value.nearest == 3


@settings(max_examples=50)
@given(
    described=st.lists(
        st.tuples(st.integers(0, 3), st.sets(st.integers(0, 150), min_size=1, max_size=4)), min_size=1, max_size=25
    ),
    steps=st.lists(st.tuples(st.integers(0, 30), st.sets(st.integers(0, 150), max_size=60)), max_size=12),
)
def test_the_first_bucket_of_every_profile_without_some_values_is_offered(described, steps):
    """Buckets come profile by profile; those that are taken away are not offered again."""
    described = sorted(described, key=lambda one: one[0])
    pure = PureBuckets(((profile, sum(1 << value for value in values)) for profile, values in described), 151)
    kinds: dict[int, dict[frozenset[int], list[int]]] = {}
    for number, (profile, values) in enumerate(described):
        kinds.setdefault(profile, {}).setdefault(frozenset(values), []).append(number)
    for bucket, held in [(-1, set()), *steps]:
        pure.forget(bucket)
        for by_values in kinds.values():
            for numbers in by_values.values():
                if bucket in numbers:
                    numbers.remove(bucket)
        expected = {}
        for profile, by_values in kinds.items():
            fitting = [numbers[0] for values, numbers in by_values.items() if numbers and values.isdisjoint(held)]
            if fitting:
                expected[profile] = fitting[0]
        found = pure.without(sum(1 << value for value in held))
        assert {int(pure.profile[kind]): pure.first_of(int(kind)) for kind in found} == expected
