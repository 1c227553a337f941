"""The foreground-knowledge attack on whole releases: the paper's examples, a naive twin, and Adult."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from anoncore import (
    CancelledError,
    DataError,
    Distorted,
    Fragment,
    Microdata,
    Partition,
    Release,
    ReleaseError,
    attacks,
)
from anoncore.algorithms import Anatomy, Incognito
from anoncore.base.errors import ParameterError
from anoncore.datasets import published_groups
from anoncore.measures.evaluation import MEASURES
from anoncore.requirements import TCloseness
from anoncore.table.hierarchy_files import read_hierarchy
from tests.attacks.naive_worlds import float_worlds, updated
from tests.privacy.releases import adult, builtin, sliced
from tests.requirements.tables import misleading_index
from tests.shared_data import require

LOW = {"Preschool", "1st-4th", "5th-6th", "7th-8th"}
FEW_ROWS = 0.6
"""With sigma 0.9 signatures of two rows are relied upon (J = 1.1)."""


def bucketized(data, group):
    return sliced(data, group, [list(data.quasi_identifiers), list(data.sensitive)])


def paper(name):
    return bucketized(builtin(name), published_groups(name))


@pytest.mark.parametrize("solver", ["fixed-point", "newton"])
def test_example_2(solver):
    found = attacks.foreground_knowledge(paper("foreground-table-8"), "X", epsilon=FEW_ROWS, solver=solver)
    assert found.sets[0].learned[:, 0] == pytest.approx([2 / 3, 0], abs=1e-6)
    assert found.sets[0].true[:, 0] == pytest.approx([2 / 3, 0])
    assert found.breach_probability == pytest.approx([1, 0, 0.5, 0.5, 0, 0], abs=1e-6)
    assert found.converged
    assert found.breached.tolist() == [True, False, False, False, False, False]
    # t1 is breached of t1 and t3; the three others without x are not flagged.
    assert found.recall == pytest.approx(0.5)
    assert found.flagged == 0
    assert found.own_without_attack[:4] == pytest.approx([0.5, np.nan, 0.5, np.nan], nan_ok=True)
    assert found.mean_probability == pytest.approx(0.75, abs=1e-6)
    assert (found.recall.baseline, found.flagged.baseline, found.mean_probability.baseline) == (0, 0, 0.5)


def test_table_1_gives_alex_away():
    found = attacks.foreground_knowledge(paper("foreground-table-1"), "disease", epsilon=0.7)
    alex = found.group(paper("foreground-table-1"), 0, value="Heart Disease")
    assert alex.probability[0] > 0.99
    assert alex.without_attack == 0.5
    assert alex.signatures == ("American", "Japanese")


@st.composite
def releases(draw):
    n = draw(st.integers(2, 14))
    columns = {name: draw(st.lists(st.sampled_from(["u", "v", "w", None]), min_size=n, max_size=n)) for name in "abc"}
    few, many = (
        st.lists(st.sampled_from(["x", "y", "z"]), min_size=n, max_size=n),
        st.permutations("xyzabcdefghijk"[:n]),
    )
    columns["s"] = draw(st.one_of(few, many))
    assume("x" in columns["s"])
    frame = pd.DataFrame(columns, dtype=object, index=pd.Index(misleading_index(n)))
    only = {"s": {"x"}} if draw(st.booleans()) else {}
    roles = dict.fromkeys("abc", "quasi-identifier") | {"s": "sensitive"}
    data = Microdata(frame, roles=roles, sensitive_values=only)
    group = np.unique(draw(st.lists(st.integers(0, 4), min_size=n, max_size=n)), return_inverse=True)[1]
    return bucketized(data, group)


@pytest.mark.slow
@settings(max_examples=30)
@given(
    release=releases(),
    rows=st.sampled_from([1.5, 2.5, 4.5]),
    unreliable=st.sampled_from(["overall", "uniform", "group"]),
    solver=st.sampled_from(["fixed-point", "newton"]),
    at_least=st.booleans(),
)
def test_attack_against_its_definition(release, rows, unreliable, solver, at_least):
    """Every set with a frequent signature is used, its shares reproduce themselves, and the rest follows from them."""
    data, group = release.data, release.partition.group.tolist()
    epsilon = np.sqrt(np.log(2 / 0.9) / (2 * rows))
    found = attacks.foreground_knowledge(
        release, "s", epsilon=epsilon, unreliable=unreliable, solver=solver, at_least=at_least, draws=0
    )
    view = data.sensitive_view("s")
    n_values = 1 if data.sensitive_values else view.size
    own, other = np.zeros(data.n_rows), np.zeros(data.n_rows)
    expected_sets, ranges = set(), []
    for size in (1, 2, 3):
        for attributes in combinations("abc", size):
            signatures = list(zip(*(data.codes[name].tolist() for name in attributes), strict=True))
            reliable = {one for one in signatures if signatures.count(one) >= rows}
            if not reliable:
                continue
            expected_sets.add(attributes)
            leak = next(one for one in found.sets if one.attributes == attributes)
            assert {tuple(one) for one in leak.signatures.tolist()} == reliable
            for x in range(n_values):
                counts = [
                    sum(view.codes[row] == x for row in np.flatnonzero(np.equal(group, g)))
                    for g in range(max(group) + 1)
                ]
                overall = 0.5 if unreliable == "uniform" else float((view.codes == x).mean())
                of_group = [count / group.count(g) for g, count in enumerate(counts)]
                fixed = of_group if unreliable == "group" else [overall] * len(counts)
                shares = {tuple(s): float(f) for s, f in zip(leak.signatures.tolist(), leak.learned[:, x], strict=True)}
                for signature, again in updated(signatures, group, counts, shares, fixed).items():
                    assert again == pytest.approx(shares[signature], abs=1e-6)
                for g in range(max(group) + 1):
                    people = np.flatnonzero(np.equal(group, g))
                    p = float_worlds([shares.get(signatures[row], fixed[g]) for row in people], counts[g])
                    believed = [shares.get(signatures[row], fixed[g]) for row in people]
                    ranges.append(max(believed) - min(believed))
                    for row, one in zip(people, p, strict=True):
                        side = own if view.codes[row] == x else other
                        side[row] = max(side[row], one)
    assert {one.attributes for one in found.sets} == expected_sets
    if expected_sets:
        assert found.breach_probability == pytest.approx(np.maximum(own, other), abs=1e-6)
        needs = view.codes < n_values
        assert found.own_probability[needs] == pytest.approx(own[needs], abs=1e-6)
        assert np.isnan(found.own_probability[~needs]).all()
        assert found.mean_range == pytest.approx(np.mean(ranges), abs=1e-6)
        near = np.abs(np.maximum(own, other) - 0.5) < 1e-6
        assert found.breached[near].tolist() == [at_least] * int(near.sum()) or not near.any()
        above = found.breach_probability >= 0.5 - 5e-10 if at_least else found.breach_probability > 0.5 + 5e-10
        assert found.breached.tolist() == above.tolist()
        sure = own[needs] >= 0.5 - 5e-10 if at_least else own[needs] > 0.5 + 5e-10
        if needs.any() and not (np.abs(own[needs] - 0.5) < 1e-6).any():
            assert found.recall == pytest.approx(sure.mean())


@settings(max_examples=25)
@given(seed=st.integers(0, 10_000), size=st.integers(2, 5))
def test_newton_and_fixed_point_agree(seed, size):
    rng = np.random.default_rng(seed)
    signature = rng.integers(0, 4, 600)
    has_x = rng.random(600) < np.array([0.05, 0.15, 0.3, 0.5])[signature]
    frame = pd.DataFrame({"q": signature.astype(str), "s": np.where(has_x, "x", "y")})
    data = Microdata(frame, roles={"q": "quasi-identifier", "s": "sensitive"}, sensitive_values={"s": {"x"}})
    release = bucketized(data, np.unique(rng.integers(0, 600 // size, 600), return_inverse=True)[1])
    plain, newton = (
        attacks.foreground_knowledge(release, "s", epsilon=0.1, solver=solver) for solver in ("fixed-point", "newton")
    )
    assert plain.converged
    assert newton.converged
    assert newton.sets[0].learned == pytest.approx(plain.sets[0].learned, abs=1e-6)


def test_rare_signatures_count_with_the_overall_share_one_half_or_that_in_their_group():
    # Group 0: a frequent and a rare signature, one x among them; groups 1 and 2 teach that nobody else of "s" has x.
    frame = pd.DataFrame({"q": ["s", "rare", "s", "s", "s", "s"], "d": ["y", "x", "y", "z", "y", "z"]})
    data = Microdata(frame, roles={"q": "quasi-identifier", "d": "sensitive"}, sensitive_values={"d": {"x"}})
    release = bucketized(data, [0, 0, 1, 1, 2, 2])
    # In the group of two, one of whom has x, its share is 1/2 as well.
    for reading, fixed in (("overall", 1 / 6), ("uniform", 0.5), ("group", 0.5)):
        found = attacks.foreground_knowledge(release, "d", epsilon=FEW_ROWS, unreliable=reading)
        view = found.group(release, 0)
        assert view.f[1] == pytest.approx(fixed)
        assert view.signatures == ("s", "rare (rare)")
        # f of "s" solves f = p / 5 with p = f (1 - g) / (f (1 - g) + (1 - f) g).
        f, g = view.f[0], fixed
        assert f == pytest.approx(f * (1 - g) / (f * (1 - g) + (1 - f) * g) / 5, abs=1e-9)
        assert view.probability.sum() == pytest.approx(1)


def test_the_share_in_the_own_group_differs_from_group_to_group():
    # Rare people r1..r5 in a group of three with one x and a group of two with one x, each with a frequent person.
    signatures = ["s", "r1", "r2", "s", "r3", "s", "s"]
    frame = pd.DataFrame({"q": signatures, "d": ["y", "x", "z", "x", "y", "y", "z"]})
    data = Microdata(frame, roles={"q": "quasi-identifier", "d": "sensitive"}, sensitive_values={"d": {"x"}})
    release = bucketized(data, [0, 0, 0, 1, 1, 2, 2])
    found = attacks.foreground_knowledge(release, "d", epsilon=FEW_ROWS, unreliable="group")
    three, two = found.group(release, 0), found.group(release, 1)
    assert three.f[1:] == pytest.approx([1 / 3, 1 / 3])
    assert two.f[1] == pytest.approx(1 / 2)
    # The share of "s" solves 4 f = p(in three) + p(in two), its odds o against the odds 1/2 and 1 of the others.
    f = three.f[0]
    o = f / (1 - f)
    assert 4 * f == pytest.approx(o / (o + 1 / 2 + 1 / 2) + o / (o + 1), abs=1e-9)
    assert np.isnan(found.fixed_shares).all()
    assert found.mean_range == pytest.approx((abs(f - 1 / 3) + abs(f - 1 / 2)) / 3)


def test_at_least_counts_a_belief_of_exactly_one_half():
    release = paper("foreground-table-5")
    strict, wide = (attacks.foreground_knowledge(release, "X", epsilon=FEW_ROWS, at_least=one) for one in (False, True))
    assert strict.recall == strict.flagged == 0
    assert wide.recall == wide.flagged == 1
    assert wide.recall.baseline == 1
    assert wide.breached.all()
    assert not strict.breached.any()


def test_distorted_values_mislead_the_adversary_but_do_not_count_as_true():
    data = builtin("foreground-table-8")
    partition = Partition(np.array(published_groups("foreground-table-8"), dtype=np.int32))
    codes = data.codes["X"].copy()
    codes[0], codes[1] = codes[1], codes[0]
    exact = sliced(data, partition.group, [["signature"], ["X"]])
    distorted = Distorted(data.domain["X"], partition, codes, data.codes["X"])
    release = Release(data, (exact.fragments[0], Fragment("sensitive", partition, {"X": distorted})))
    found = attacks.foreground_knowledge(release, "X", epsilon=FEW_ROWS)
    # The groups publish the same counts, so the adversary believes the same; t1 has x in truth, whatever is published.
    assert found.breach_probability == pytest.approx([1, 0, 0.5, 0.5, 0, 0], abs=1e-6)
    assert found.own_probability[0] == pytest.approx(1, abs=1e-6)


def test_nothing_reliable_leaves_equally_likely_worlds():
    release = paper("foreground-table-5")
    found = attacks.foreground_knowledge(release, "X")
    assert (found.n_sets, found.n_all, found.learned) == (0, 0, False)
    # Nothing was measured, which is not the same as that nobody is given away.
    for score in (found.recall, found.flagged, found.mean_probability, found.control, found.excess):
        assert np.isnan(score)
    assert found.recall.baseline == 0
    assert found.breach_probability == pytest.approx([0.5] * 4)
    assert found.leading_set.tolist() == [-1] * 4
    assert "nothing was learned" in found.notes[0]
    assert found.group(release, 0).probability == pytest.approx([0.5] * 4)


def test_what_the_page_shows_is_what_the_attack_found():
    release = paper("foreground-table-8")
    found = attacks.foreground_knowledge(release, "X", epsilon=FEW_ROWS)
    for group in range(3):
        view = found.group(release, group)
        assert view.probability == pytest.approx(found.breach_probability[view.rows], abs=1e-9)
        worlds = attacks.possible_worlds(view.f, view.n)
        assert worlds.probability == pytest.approx(view.probability, abs=1e-9)
    table = found.distribution(release)
    assert table["signature"].tolist() == ["s1", "s2"]
    assert table["learned"].tolist() == pytest.approx([2 / 3, 0], abs=1e-6)
    assert table["true"].tolist() == pytest.approx([2 / 3, 0])
    assert found.ranking()["attributes"].tolist() == ["signature"]


def test_the_order_of_the_rows_does_not_matter():
    data = builtin("slicing-table-1")
    group = [0, 0, 0, 0, 1, 1, 1, 1]
    shuffled = np.random.default_rng(3).permutation(8)
    other = Microdata(data.frame.iloc[shuffled], roles=data.roles)
    first = attacks.foreground_knowledge(bucketized(data, group), "disease", epsilon=FEW_ROWS)
    second = attacks.foreground_knowledge(bucketized(other, np.array(group)[shuffled]), "disease", epsilon=FEW_ROWS)
    assert second.breach_probability == pytest.approx(first.breach_probability[shuffled], abs=1e-6)


def test_errors_name_what_to_change():
    release = paper("foreground-table-8")
    with pytest.raises(ParameterError, match="r must be at least 1"):
        attacks.foreground_knowledge(release, "X", r=0.5)
    with pytest.raises(ParameterError, match="epsilon must be above 0"):
        attacks.foreground_knowledge(release, "X", epsilon=0)
    with pytest.raises(ParameterError, match="max_size"):
        attacks.foreground_knowledge(release, "X", max_size=0)
    with pytest.raises(ParameterError, match="unreliable is 'half'; use one of 'overall', 'uniform', 'group'"):
        attacks.foreground_knowledge(release, "X", unreliable="half")
    with pytest.raises(DataError, match="no attribute 'Y'"):
        attacks.foreground_knowledge(release, "Y")
    data = release.data
    one, two = (Partition(np.array(group, dtype=np.int32)) for group in ([0] * 6, [0, 0, 0, 1, 1, 1]))
    own = Release(
        data, (sliced(data, one.group, [["signature"]]).fragments[0], sliced(data, two.group, [["X"]]).fragments[0])
    )
    with pytest.raises(ReleaseError, match="groups of its own"):
        attacks.foreground_knowledge(own, "X")
    found = attacks.foreground_knowledge(release, "X", epsilon=FEW_ROWS)
    with pytest.raises(ParameterError, match="not a protected value"):
        found.group(release, 0, value="y")
    with pytest.raises(ParameterError, match="numbered 0 to 2"):
        found.group(release, 3)


def test_progress_reports_and_may_cancel():
    release = paper("foreground-table-8")
    seen = []
    attacks.foreground_knowledge(
        release, "X", epsilon=FEW_ROWS, progress=lambda share, text: seen.append((share, text))
    )
    assert [text for _, text in seen] == [
        *(f"Making control {draw} of 3" for draw in (1, 2, 3)),
        "1 attribute sets learned",
    ]
    assert sorted(seen) == seen
    assert seen[-1][0] == 1

    def stop(share, text):
        raise CancelledError("stopped")

    with pytest.raises(CancelledError):
        attacks.foreground_knowledge(release, "X", epsilon=FEW_ROWS, progress=stop)


def test_recipes_can_ask_for_it():
    assert MEASURES["attacks.foreground_knowledge"] is attacks.foreground_knowledge


@pytest.mark.slow
@pytest.mark.parametrize(
    ("l", "reading", "recall", "flagged", "mean"),
    [
        (2, "overall", 0.85, 0.023, 0.69),
        (2, "uniform", 0.87, 0.022, 0.887),
        (4, "overall", 0.98, 0.10, 0.36),
        (4, "uniform", 0.96, 0.09, 0.69),
    ],
)
def test_anatomy_on_adult(l, reading, recall, flagged, mean):
    """Five quasi-identifiers, education before 9th grade; bands around figures measured by another implementation."""
    names = ["age", "workclass", "marital-status", "occupation", "race"]
    plain = adult(names, "education")
    data = Microdata(plain.frame, roles=plain.roles, sensitive_values={"education": LOW})
    release = Anatomy(l=l, seed=1).anonymize(data)
    asked = {"r": l, "epsilon": 0.01, "unreliable": reading, "draws": 0}
    found = attacks.foreground_knowledge(release, "education", **asked)
    assert found.minimum_rows == pytest.approx(3992.5, abs=0.1)
    assert found.n_sets == 11
    assert found.converged
    assert found.recall == pytest.approx(recall, abs=0.03)
    assert found.flagged == pytest.approx(flagged, abs=0.01)
    assert found.mean_probability == pytest.approx(mean, abs=0.03)
    newton = attacks.foreground_knowledge(release, "education", solver="newton", **asked)
    for one, twin in zip(found.sets, newton.sets, strict=True):
        assert twin.attributes == one.attributes
        assert twin.learned == pytest.approx(one.learned, abs=1e-6)


def test_large_mixed_groups_have_one_solution():
    """t-closeness makes groups of hundreds. There an iteration that jumps too boldly ends where nothing solves."""
    folder = require("hierarchies")
    names = ["age", "workclass", "marital-status", "occupation", "race", "sex"]
    plain = adult(names, "education")
    data = Microdata(
        plain.frame,
        roles=plain.roles,
        sensitive_values={"education": LOW},
        hierarchies={name: read_hierarchy(folder / f"adult_hierarchy_{name}.csv") for name in names},
    )
    release = Incognito(requirements=(TCloseness(t=0.2, ground="equal"),)).anonymize(data)
    first, second = (
        attacks.foreground_knowledge(
            release, "education", epsilon=0.01, unreliable="uniform", solver=solver, max_size=1, draws=0
        )
        for solver in ("fixed-point", "newton")
    )
    for one in first.sets:
        twin = next(other for other in second.sets if other.attributes == one.attributes)
        assert twin.learned == pytest.approx(one.learned, abs=1e-6)
    married = next(one for one in first.sets if one.attributes == ("marital-status",))
    assert married.learned.max() > 0.01
