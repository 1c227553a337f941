"""Why a release is not finer, against cutting every group by hand; and what would mend a requirement."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anoncore import Microdata
from anoncore.algorithms import Algorithm, Mask, Mondrian, Pram, RandomPartition
from anoncore.privacy import check
from anoncore.privacy.explain import explain, mending_sentences, what_if
from anoncore.release.partition import Partition
from anoncore.release.recoding import Distorted
from anoncore.release.release import Release
from anoncore.requirements import (
    DistinctDiversity,
    EntropyDiversity,
    FrequencyDiversity,
    KAnonymity,
    RecursiveDiversity,
    TCloseness,
)
from tests.privacy.releases import generalized, sliced, value_sets


def _data(n: int = 90, seed: int = 4) -> Microdata:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 60, n),
            "town": rng.choice(list("ABC"), n),
            "illness": rng.choice(["flu", "cold", "ulcer", "gout"], n, p=[0.4, 0.3, 0.2, 0.1]),
        }
    )
    return Microdata(frame, {"age": "quasi-identifier", "town": "quasi-identifier", "illness": "sensitive"})


def _keeps(data: Microdata, rows: np.ndarray, requirement: object) -> bool:
    """Whether these rows as a group keep a requirement, the rest being another group."""
    group = np.ones(data.n_rows, dtype=np.int32)
    group[rows] = 0
    if len(rows) == data.n_rows:
        group[:] = 0
    return all(one.holds(one.levels(Partition(group)))[0] for one in requirement.checks(data))  # type: ignore[attr-defined]


@settings(max_examples=25)
@given(st.integers(0, 500), st.integers(2, 9), st.sampled_from([1.5, 2.0]))
def test_what_forbids_a_cut_is_what_its_halves_fail(seed: int, k: int, l: float) -> None:
    data = _data(seed=seed)
    asked = (KAnonymity(k=k), FrequencyDiversity(l=l))
    release = RandomPartition(k=4, seed=seed).anonymize(data)
    found = explain(release, asked)
    partition = release.partition
    for group in range(partition.n_groups):
        rows = partition.rows(group)
        cuts = []
        for name in ("age", "town"):
            codes = np.sort(data.codes[name][rows])
            if codes[0] == codes[-1]:
                continue
            median = codes[(len(codes) - 1) // 2]
            last = median - 1 if median == codes[-1] else median
            left = data.codes[name][rows] <= last
            cuts.append((rows[left], rows[~left]))
        assert found.alike[group] == (not cuts)
        kept = [[_keeps(data, a, one) and _keeps(data, b, one) for one in asked] for a, b in cuts]
        assert found.free[group] == any(all(one) for one in kept)
        for place, binding in enumerate(found.bindings):
            assert binding.forbids[group] == (bool(cuts) and not any(one[place] for one in kept))


def test_no_group_of_mondrian_is_free_where_medians_are_all_it_tries() -> None:
    data = _data(400)
    release = Mondrian(requirements=[KAnonymity(k=5)]).anonymize(data)
    found = explain(release, release.algorithm.promises(data))  # type: ignore[union-attr]
    assert not found.free.any()
    assert (found.bindings[0].forbids | found.alike).all()
    assert found.bindings[0].worst == release.partition.sizes.min()
    tightest = found.bindings[0].tightest(3)
    assert release.partition.sizes[tightest].tolist() == sorted(release.partition.sizes)[:3]
    assert not found.together.any()


@pytest.mark.parametrize(
    "requirement",
    [
        KAnonymity(k=9),
        DistinctDiversity(l=4),
        FrequencyDiversity(l=3),
        TCloseness(t=0.05, ground="equal"),
        RecursiveDiversity(c=0.4, l=2),
    ],
    ids=lambda one: one.name,
)
def test_the_nearest_value_holds_and_the_next_stricter_does_not(requirement: object) -> None:
    release = Mondrian(requirements=[KAnonymity(k=5), DistinctDiversity(l=2)]).anonymize(_data(300))
    found = what_if(release, requirement)  # type: ignore[arg-type]
    assert not found.holds
    violated = check(release, [requirement])  # type: ignore[list-item]
    assert found.n_groups == len({one.group for one in violated})
    assert found.n_rows == sum({one.group: one.size for one in violated}.values())
    assert found.nearest is not None
    parameter = requirement.parameter  # type: ignore[attr-defined]
    assert what_if(release, requirement.replace(**{parameter: found.nearest})).holds  # type: ignore[attr-defined]
    stricter = 1 if isinstance(getattr(requirement, parameter), int) else 0.002
    sign = 1 if parameter in ("k", "l") else -1
    beyond = found.nearest + sign * stricter
    assert not what_if(release, requirement.replace(**{parameter: type(getattr(requirement, parameter))(beyond)})).holds  # type: ignore[attr-defined]
    assert f"= {found.nearest:g}" in mending_sentences(found, release)[0]


def test_suppressing_the_failing_groups_mends_what_compares_with_nothing_else() -> None:
    release = Mondrian(requirements=[KAnonymity(k=5)]).anonymize(_data(300))
    found = what_if(release, KAnonymity(k=8))
    assert found.suppressing
    failing = {one.group for one in found.violations}
    left = [size for group, size in enumerate(release.partition.sizes) if group not in failing]
    assert min(left) >= 8
    assert not what_if(release, KAnonymity(k=10_000)).suppressing


def test_merging_is_tried_on_the_groups_themselves() -> None:
    data = _data(300)
    release = Mondrian(requirements=[KAnonymity(k=5)]).anonymize(data)
    for requirement in (KAnonymity(k=8), KAnonymity(k=400), FrequencyDiversity(l=2)):
        found = what_if(release, requirement)
        rows = np.concatenate([release.partition.rows(one.group) for one in found.violations])
        assert found.merging == (len(found.violations) > 1 and _keeps(data, rows, requirement))


def test_merging_reads_what_is_published() -> None:
    # As published, the two classes have one illness each, all of them flu or cold; in the table all have the flu.
    frame = pd.DataFrame({"age": [20, 21, 30, 31, 40, 41], "illness": ["flu", "flu", "flu", "flu", "gout", "cold"]})
    data = Microdata(frame, {"age": "quasi-identifier", "illness": "sensitive"})
    cold, flu, gout = (data.domain["illness"].code_of(value) for value in ("cold", "flu", "gout"))
    release = generalized(data, [0, 0, 1, 1, 2, 2])
    fragment = release.fragments[0]

    def publishing(codes: list[int]) -> Release:
        distorted = Distorted(
            data.domain["illness"], fragment.partition, np.array(codes, dtype=np.int32), data.codes["illness"]
        )
        return replace(release, fragments=(replace(fragment, recodings={**fragment.recodings, "illness": distorted}),))

    diverse = DistinctDiversity(l=2)
    assert what_if(publishing([flu, flu, cold, cold, flu, gout]), diverse).merging
    assert not what_if(publishing([flu, flu, flu, flu, flu, gout]), diverse).merging
    # Published alike, though different in the table: merging the last class with another one of cold does not help.
    assert not what_if(publishing([flu, gout, cold, cold, cold, cold]), diverse).merging


@pytest.mark.parametrize("method", [Mask(k=3, l=2, seed=1), Pram(attributes="sensitive", change=0.9, seed=0)])
def test_merging_in_releases_that_change_values(method: Algorithm) -> None:
    release = method.anonymize(_data(40))
    published = release.published_codes("illness")
    for l in (2.1, 2.2, 2.3, 2.4, 2.5, 2.6, 2.7, 2.8, 2.9, 3.0):
        found = what_if(release, FrequencyDiversity(l=l))
        groups = sorted({one.group for one in found.violations})
        together = np.bincount(published[np.isin(release.partition.group, groups)])
        assert found.merging == (len(groups) > 1 and together.max() * l <= together.sum())


def test_a_group_of_two_tables_fails_once() -> None:
    frame = pd.DataFrame({"age": [20, 21, 30, 31], "ill": list("aabc"), "pay": list("xxyz")})
    data = Microdata(frame, {"age": "quasi-identifier", "ill": "sensitive", "pay": "sensitive"})
    found = what_if(sliced(data, [0, 0, 1, 1], [["age", "ill"], ["pay"]]), DistinctDiversity(l=2))
    assert (found.n_groups, found.n_rows, found.suppressing, found.merging) == (1, 2, True, False)


def test_sets_are_merged_to_the_set_of_all_their_values() -> None:
    frame = pd.DataFrame({"age": [20, 21, 30, 31], "ill": list("aaab")})
    data = Microdata(frame, {"age": "quasi-identifier", "ill": "sensitive"})
    release = generalized(data, [0, 0, 1, 1])
    fragment = release.fragments[0]
    recodings = {**fragment.recodings, "ill": value_sets(data, "ill", fragment.partition)}
    release = replace(release, fragments=(replace(fragment, recodings=recodings),))
    # {a} and {a, b} become {a, b}: two values, of which each may be anybody's; as rows, a would have three of four.
    assert what_if(release, FrequencyDiversity(l=3)).merging is False
    assert what_if(release, EntropyDiversity(l=2)).n_groups == 1
    assert what_if(release, DistinctDiversity(l=3)).merging is False
    assert what_if(release, FrequencyDiversity(l=2.5)).n_groups == 2


def test_groups_are_explained_by_what_is_published() -> None:
    release = Mask(k=3, l=2, seed=1).anonymize(_data(40))
    found = explain(release, [FrequencyDiversity(l=2.0)])
    published = release.partition.histogram(release.published_codes("illness"), 4)
    assert found.bindings[0].levels == pytest.approx(published.sum(axis=1) / published.max(axis=1))
    assert found.bindings[0].worst >= 2


def test_one_failing_group_is_told_as_one() -> None:
    release = Mondrian(requirements=[KAnonymity(k=5)]).anonymize(_data(300))
    found = replace(what_if(release, KAnonymity(k=8)), n_groups=1, n_rows=1, suppressing=True, merging=False)
    assert mending_sentences(found, release)[-1] == ("Withhold the one failing group: 1 row, 0.3% of the table.")


def test_what_holds_needs_no_mending() -> None:
    release = Mondrian(requirements=[KAnonymity(k=5)]).anonymize(_data(300))
    found = what_if(release, KAnonymity(k=5))
    assert found.holds
    assert mending_sentences(found, release) == ()
