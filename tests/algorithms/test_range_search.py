"""Optimal ranges against every set of cut points, the bound of a search that was ended, and by hand."""

from __future__ import annotations

from itertools import combinations, pairwise, product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anoncore import CancelledError, Hierarchy, InfeasibleError, Microdata, Partition, ReleaseError, privacy
from anoncore.algorithms import OptimalRecoding
from anoncore.algorithms.full_domain.lattice_map import search_map
from anoncore.kernels.optimal_recoding import least_losses
from anoncore.requirements import BetaLikeness, CheckSet, DistinctDiversity, FrequencyDiversity, KAnonymity, TCloseness
from anoncore.utility import information_loss

TREE = {"low": ["a", "c"], "high": ["b"]}
REQUIREMENTS = [
    (KAnonymity(k=2),),
    (KAnonymity(k=3),),
    (KAnonymity(k=2), FrequencyDiversity(l=2)),
    (DistinctDiversity(l=2),),
    (BetaLikeness(beta=0.7),),
    (KAnonymity(k=2), TCloseness(t=0.3, ground="equal")),
]
SHARES = [0.0, 0.2, 0.5]


@st.composite
def tables(draw):
    n = draw(st.integers(4, 9))
    columns = {
        "age": st.sampled_from([20, 21, 25, 33, 60, None]),
        "grade": st.sampled_from("abc"),
        "town": st.sampled_from("uv"),
        "s": st.sampled_from("xyz"),
    }
    frame = pd.DataFrame({name: draw(st.lists(values, min_size=n, max_size=n)) for name, values in columns.items()})
    frame["age"] = frame["age"].astype("Float64")
    roles = dict.fromkeys(["age", "grade", "town"], "quasi-identifier") | {"s": "sensitive"}
    trees = {"grade": Hierarchy.from_nested(TREE)} if draw(st.booleans()) else {}
    return Microdata(frame, roles, kinds={"age": "numeric"}, hierarchies=trees)


def ranges_of(size):
    """Every way to cut codes into ranges, each as the first and the last code of the range of every code."""
    for n_cuts in range(size):
        for cuts in combinations(range(1, size), n_cuts):
            ends = list(pairwise((0, *cuts, size)))
            yield [(first, end - 1) for first, end in ends for _ in range(first, end)]


def least_by_brute_force(data, requirements, share):
    """The least loss of all sets of ranges and of all choices of further classes to suppress; None where none holds."""
    checks = CheckSet(requirements, data).checks
    names = data.quasi_identifiers
    where = [data.domain[name].shares for name in names]
    codes = [data.codes[name].tolist() for name in names]
    full = sum(len(data.domain[name]) > 1 for name in names)

    def holds(rows):
        together = Partition(np.zeros(len(rows), dtype=np.int32))
        return all(check.holds(check.levels(together, rows=np.array(rows)))[0] for check in checks)

    least = None
    for chosen in product(*(list(ranges_of(len(data.domain[name]))) for name in names)):
        groups: dict[tuple[tuple[int, int], ...], list[int]] = {}
        for row in range(data.n_rows):
            cell = tuple(ranges[own[row]] for ranges, own in zip(chosen, codes, strict=True))
            groups.setdefault(cell, []).append(row)
        lost = {cell: sum(at[high] - at[low] for at, (low, high) in zip(where, cell, strict=True)) for cell in groups}
        good = [cell for cell, rows in groups.items() if holds(rows)]
        failing = [row for cell, rows in groups.items() if cell not in good for row in rows]
        for number in range(len(good) + 1 if failing else 1):
            for joined in combinations(good, number):
                suppressed = [*failing, *(row for cell in joined for row in groups[cell])]
                if len(suppressed) > share * data.n_rows + 1e-9 or (suppressed and not holds(suppressed)):
                    continue
                total = sum(lost[cell] * len(groups[cell]) for cell in good if cell not in joined)
                loss = (total + full * len(suppressed)) / (data.n_rows * len(names))
                least = loss if least is None else min(least, loss)
    return least


@pytest.mark.slow
@settings(max_examples=50)
@given(
    data=tables(),
    requirements=st.sampled_from(REQUIREMENTS),
    share=st.sampled_from(SHARES),
    most_checked=st.sampled_from([1, 20, 40]),
)
def test_the_optimum_is_that_of_all_sets_of_cuts_and_no_bound_is_above_it(data, requirements, share, most_checked):
    model = OptimalRecoding(requirements=requirements, max_suppression=share, recoding="ranges")
    least = least_by_brute_force(data, requirements, share)
    if least is None:
        with pytest.raises(InfeasibleError):
            model.anonymize(data)
        return
    found = model.search(data)
    assert found.optimal
    assert found.loss == pytest.approx(least)
    release = model.anonymize(data)
    assert information_loss(release) == pytest.approx(least)
    assert release.suppressed_rows.sum() == found.suppressed
    assert privacy.check(release, requirements) == ()
    ended = model.replace(most_checked=most_checked).search(data)
    assert ended.bound <= least + 1e-9
    assert least <= ended.loss + 1e-9
    assert ended == model.replace(most_checked=most_checked).search(data)


def people(**columns):
    return Microdata(pd.DataFrame(columns), dict.fromkeys(columns, "quasi-identifier"))


def test_ranges_by_hand():
    # Classes of two or more: 20-21 and 30-31 lose 1 of 11 each, 30 alone in a decade would be no class.
    data = people(age=[20, 21, 30, 31])
    model = OptimalRecoding(requirements=[KAnonymity(k=2)], max_suppression=0.0, recoding="ranges")
    release = model.anonymize(data)
    assert release.recoding("age").texts().tolist() == ["20-21", "20-21", "30-31", "30-31"]
    assert information_loss(release) == pytest.approx(1 / 11)
    found = model.search(data)
    assert (found.cuts, found.n_cuts, found.optimal) == (((2,),), 3, True)
    assert release.notes[0].startswith("Optimal: no ranges lose less")


def test_ranges_are_the_same_for_all_rows():
    rng = np.random.default_rng(4)
    data = people(age=rng.integers(20, 60, 200), pay=rng.integers(0, 30, 200), town=rng.choice(list("uvw"), 200))
    model = OptimalRecoding(requirements=[KAnonymity(k=4)], recoding="ranges", most_checked=300)
    release = model.anonymize(data)
    published = ~release.suppressed_rows
    for name in data.quasi_identifiers:
        low, high = (bounds[published] for bounds in release.recoding(name).bounds())
        ends = sorted(set(zip(low.tolist(), high.tolist(), strict=True)))
        assert all(high < low for (_, high), (low, _) in pairwise(ends))
    found = model.search(data)
    assert found.n_checked >= 300
    assert not found.optimal
    assert 0 < found.bound < found.loss
    assert release.notes[0].startswith(f"At most {found.gap:.2%} above the optimum: no ranges lose less than")
    shuffled = data.frame.sample(frac=1, random_state=1)
    again = model.anonymize(Microdata(shuffled, data.roles))
    pd.testing.assert_frame_equal(release.tables()["release"], again.tables()["release"])


@pytest.mark.slow
def test_a_stopped_search_publishes_the_best_so_far_with_its_bound():
    rng = np.random.default_rng(5)
    data = people(age=rng.integers(20, 40, 60), pay=rng.integers(0, 10, 60))
    model = OptimalRecoding(requirements=[KAnonymity(k=3)], max_suppression=0.0, recoding="ranges")

    def stopping_after(calls):
        left = iter(range(calls))

        def report(share: float, text: str) -> None:
            if next(left, None) is None:
                raise CancelledError(text)

        return report

    with pytest.raises(CancelledError):
        model.search(data, stopping_after(1))
    best = model.search(data)
    for calls in (10, 500):
        found = model.search(data, stopping_after(calls))
        assert found.bound <= best.loss + 1e-9
        assert best.loss <= found.loss + 1e-9


def test_what_is_known_of_levels_is_not_told_of_ranges():
    data = people(age=[20, 21, 30, 31])
    release = OptimalRecoding(requirements=[KAnonymity(k=2)], max_suppression=0.0, recoding="ranges").anonymize(data)
    with pytest.raises(ReleaseError, match="no combination of levels"):
        search_map(release)
    with pytest.raises(ReleaseError, match="not measured"):
        release.algorithm.refusals(release)


def plain_least(codes, rows, group, ends, share, k):
    """What each combination of values loses at least, by trying all runs of blocks."""
    losses = np.zeros(len(codes))
    for i, g in enumerate(group):
        members = [j for j, other in enumerate(group) if other == g]
        for a, blocks in enumerate(ends):
            runs = [
                share[a][last] - share[a][first]
                for first, last in product([low for low, _ in blocks], [high for _, high in blocks])
                if first <= codes[i][a] <= last and sum(rows[j] for j in members if first <= codes[j][a] <= last) >= k
            ]
            losses[i] += min(runs, default=np.inf)
    return losses


@settings(max_examples=30)
@given(seed=st.integers(0, 10_000), k=st.integers(1, 6))
def test_the_least_losses_are_those_of_all_runs_of_blocks(seed, k):
    rng = np.random.default_rng(seed)
    n, sizes = int(rng.integers(1, 14)), (5, 3)
    codes = np.column_stack([rng.integers(0, size, n) for size in sizes]).astype(np.int32)
    rows, n_groups = rng.integers(1, 3, n), int(rng.integers(1, 4))
    group = rng.integers(0, n_groups, n).astype(np.int32)
    share = [np.sort(rng.random(size)) for size in sizes]
    ends = []
    for size in sizes:
        cuts = (0, *(np.flatnonzero(rng.random(size - 1) < 0.6) + 1).tolist(), size)
        ends.append([(low, high - 1) for low, high in pairwise(cuts)])
    each = [[block for block in blocks for _ in range(block[0], block[1] + 1)] for blocks in ends]
    first, last = (np.array([block[end] for one in each for block in one], dtype=np.int32) for end in (0, 1))
    begin = np.array([0, sizes[0]])
    found = least_losses(codes, rows, group, n_groups, begin, first, last, np.concatenate(share), k)
    np.testing.assert_allclose(found, plain_least(codes, rows, group, ends, share, k))
