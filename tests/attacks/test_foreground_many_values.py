"""The foreground-knowledge attack on secrets of very many values: each value is attacked as it is alone."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anoncore import AnonymizationError, Microdata, attacks
from anoncore.algorithms import Anatomy, Mondrian, StackAndDeal
from anoncore.kernels.foreground_alike import first_like
from anoncore.kernels.foreground_cases import cases_of, compositions
from anoncore.requirements import KAnonymity
from anoncore.search.keeping import keeping
from tests.attacks.test_foreground import bucketized


def many_values(seed, n, n_values, size, only=None):
    """Buckets of about `size` people of whom two attributes are known, and who share `n_values` secrets."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"a": rng.integers(0, 3, n), "b": rng.integers(0, 4, n)}).astype(str)
    frame["s"] = [f"v{i % n_values:05}" for i in rng.permutation(n)]
    data = Microdata(
        frame,
        roles={"a": "quasi-identifier", "b": "quasi-identifier", "s": "sensitive"},
        sensitive_values={} if only is None else {"s": {only}},
    )
    return bucketized(data, np.unique(rng.integers(0, n // size, n), return_inverse=True)[1])


def check_that_each_is_learned_alone(seed, n, n_values, size, unreliable, solver):
    asked = {"epsilon": 0.25, "draws": 0, "unreliable": unreliable, "solver": solver}
    together = attacks.foreground_knowledge(many_values(seed, n, n_values, size), "s", **asked)
    believed, steps = np.full(n, np.nan), np.zeros(together.n_sets, np.int64)
    for x, value in enumerate(together.values):
        alone = attacks.foreground_knowledge(many_values(seed, n, n_values, size, only=value), "s", **asked)
        by_set = {leak.attributes: leak for leak in alone.sets}
        for place, leak in enumerate(together.sets):
            own = by_set[leak.attributes]
            assert leak.learned[:, x].tolist() == own.learned[:, 0].tolist()
            assert leak.true[:, x].tolist() == own.true[:, 0].tolist()
            steps[place] += own.steps
        has_it = ~np.isnan(alone.own_probability)
        believed[has_it] = alone.own_probability[has_it]
    assert together.n_sets > 0
    assert together.own_probability.tolist() == believed.tolist()
    assert [leak.steps for leak in together.sets] == steps.tolist()


@pytest.mark.parametrize("solver", ["fixed-point", "newton"])
def test_each_value_of_many_is_learned_as_if_it_were_the_only_one(solver):
    check_that_each_is_learned_alone(0, 24, 24, 3, "overall", solver)


@pytest.mark.slow
@settings(max_examples=6)
@given(
    seed=st.integers(0, 10_000),
    n_values=st.sampled_from([20, 60]),
    size=st.integers(2, 5),
    unreliable=st.sampled_from(["overall", "uniform", "group"]),
    solver=st.sampled_from(["fixed-point", "newton"]),
)
def test_each_value_of_any_is_learned_as_if_it_were_the_only_one(seed, n_values, size, unreliable, solver):
    check_that_each_is_learned_alone(seed, 60, n_values, size, unreliable, solver)


def test_errors_are_those_of_all_signatures_and_values():
    found = attacks.foreground_knowledge(many_values(1, 60, 20, 4), "s", epsilon=0.25, draws=0)
    for leak in found.sets:
        known = leak.true > 0
        for shares, error in (
            (leak.learned, leak.relative_error),
            (found.overall_shares[None, :], leak.guessing_error),
        ):
            assert error == pytest.approx((np.abs(shares - leak.true)[known] / leak.true[known]).mean())


def test_what_is_learned_takes_memory_in_proportion_to_the_rows():
    release = many_values(0, 4_000, 4_000, 4)
    (leak, *_) = attacks.foreground_knowledge(release, "s", epsilon=0.05, draws=0).sets
    assert len(leak.learned_shares.shares) <= release.partition.sizes.max() * 4_000
    assert len(leak.true_shares.shares) <= 4_000
    assert leak.learned.shape == leak.true.shape == (len(leak.rows), 4_000)


def problems(groups, classes, secrets, rows):
    """Which value each of the values poses the same problem as; `groups` are lists of row numbers."""
    order, starts = np.concatenate(groups), np.cumsum([0, *map(len, groups)])
    n_values, m = max(secrets) + 1, len(rows)
    key = sorted((secrets[row], number) for number, group in enumerate(groups) for row in group)
    pairs = sorted(set(key))
    n = np.array([key.count(pair) for pair in pairs])
    value, group = np.array(pairs).T
    found = compositions(order, starts, np.array(classes, np.int32), m + 1)
    cases, held, _ = cases_of(found, m + 1, group, n, np.searchsorted(value, np.arange(n_values + 1)))
    shares = np.bincount(secrets) / len(secrets)
    return first_like(cases, held, np.array(rows), shares, shares).tolist()


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        # Both groups have a signature of two people and one of three: the names alone differ.
        ([2, 3, 2, 3], [0, 0, 0, 0]),
        # In the second group both signatures have two people, in the third the larger one comes first.
        ([2, 3, 2, 2], [0, 0, 2, 2]),
        ([2, 3, 3, 2], [0, 0, 2, 2]),
    ],
)
def test_values_pose_the_same_problem_if_the_names_of_signatures_alone_differ(rows, expected):
    assert problems([[0, 1], [2, 3]], [0, 1, 2, 3], [0, 1, 2, 3], rows) == expected


def test_values_that_differ_in_anything_else_pose_problems_of_their_own():
    rows = [9, 9, 9, 9]
    # A value twice in its group; one in two groups; one in a group in which everybody looks alike.
    assert problems([[0, 1, 2], [3, 4, 5]], [0, 1, 1, 2, 3, 3], [0, 0, 1, 2, 3, 4], rows) == [0, 1, 1, 1, 1]
    assert problems([[0, 1], [2, 3]], [0, 1, 2, 3], [0, 1, 0, 2], rows) == [0, 1, 1]
    assert problems([[0, 1], [2, 3]], [0, 1, 2, 2], [0, 1, 2, 3], rows) == [0, 0, 2, 2]
    # The rare signature, of class 4, has no share of its own.
    assert problems([[0, 1], [2, 3]], [0, 1, 2, 4], [0, 1, 2, 3], rows) == [0, 0, 2, 2]


def all_distinct(signatures, groups):
    """A release in which one attribute is known and every person has another secret."""
    frame = pd.DataFrame({"q": signatures, "s": np.arange(len(signatures))}).astype(str)
    data = Microdata(frame, roles={"q": "quasi-identifier", "s": "sensitive"})
    return bucketized(data, groups)


@pytest.mark.parametrize(("r", "breached"), [(2.0, 480), (3.0, 520)])
def test_the_first_answer_where_everybody_has_another_secret_by_hand(r, breached):
    """480 groups have one person of each of a, b and c, and 20 have one of b and two of c.

    So there are 480 rows of a, 500 of b and 520 of c. A secret of one person says most of the rarest signature: shares
    are most likely with all secrets of the 480 groups at a, and with those of the other groups at c, who are 520 / 2
    rows for each person of c there, with 1/2 for each of the two.
    """
    release = all_distinct(["a", "b", "c"] * 480 + ["b", "c", "c"] * 20, np.arange(1_500) // 3)
    assert attacks.foreground_knowledge(release, "s", r, draws=1).recall == breached / 1_500
    first = attacks.foreground_knowledge_estimate(release, "s", r)
    assert first.value == pytest.approx(breached / 1_500)
    assert first.low <= breached / 1_500 <= first.high < breached / 1_500 + 0.01


@pytest.mark.slow
@settings(max_examples=20)
@given(
    rows=st.lists(st.integers(160, 900), min_size=2, max_size=4),
    size=st.integers(2, 5),
    r=st.sampled_from([1.5, 2.0, 3.0, 4.0]),
    seed=st.integers(0, 10_000),
)
def test_the_first_answer_where_everybody_has_another_secret(rows, size, r, seed):
    """The signature with the fewest rows for each of its people in a group has all secrets of the group."""
    signatures = np.random.default_rng(seed).permutation(np.repeat(np.arange(len(rows)), rows))
    groups = np.arange(len(signatures)) // size
    n_breached = 0
    for group in range(groups[-1] + 1):
        found, people = np.unique(signatures[groups == group], return_counts=True)
        share = [Fraction(rows[signature], int(n)) for signature, n in zip(found, people, strict=True)]
        has_it = sum(int(n) for one, n in zip(share, people, strict=True) if one == min(share))
        n_breached += has_it if has_it < r else 0
    exact = n_breached / len(signatures)
    release = all_distinct(signatures, groups)
    assert attacks.foreground_knowledge(release, "s", r, draws=1).recall == pytest.approx(exact)
    first = attacks.foreground_knowledge_estimate(release, "s", r)
    assert first.low <= exact <= first.high
    assert first.high - first.low < 0.02


METHODS = {
    "mondrian": lambda seed: Mondrian(requirements=[KAnonymity(k=4)]),
    "anatomy": lambda seed: Anatomy(l=3, seed=seed),
    "stack-and-deal": lambda seed: StackAndDeal(k=5, seed=seed),
}


@pytest.mark.slow
@pytest.mark.parametrize("method", [*METHODS, "slicing"])
def test_the_first_interval_holds_the_exact_number_with_rare_and_common_values(method):
    held = []
    for seed in range(16):
        rng = np.random.default_rng(seed)
        n = int(rng.choice([60, 200, 800]))
        frame = pd.DataFrame({f"q{i}": rng.integers(0, 3 + i, n) for i in range(1 + seed % 3)})
        secrets = [np.arange(n), np.arange(n) // 2, np.arange(n) // 8, np.arange(n) % 8][seed % 4]
        # Half of the secrets follow from the first attribute, with noise.
        order = np.argsort(frame["q0"] + rng.normal(size=n) if rng.random() < 0.5 else rng.random(n))
        frame.loc[order, "s"] = secrets
        roles = {name: "sensitive" if name == "s" else "quasi-identifier" for name in frame}
        data = Microdata(frame.astype({"s": int}).astype({"s": str}), roles)
        made = keeping(method, {}, {"k": 4, "l": 3}, (), data, 0.0) if method == "slicing" else METHODS[method](seed)
        try:
            release = made.anonymize(data)
        except AnonymizationError:
            continue
        for r in (2.0, 3.0):
            first = attacks.foreground_knowledge_estimate(release, "s", r)
            if first.learned:
                held.append(first.low <= attacks.foreground_knowledge(release, "s", r, draws=1).recall <= first.high)
    assert len(held) >= 20
    assert np.mean(held) >= 0.95
