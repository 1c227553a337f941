"""Optimal recoding against the whole lattice by brute force, and by hand."""

from __future__ import annotations

import pickle
from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anoncore import (
    CancelledError,
    DataError,
    Hierarchy,
    InfeasibleError,
    Microdata,
    Partition,
    ReleaseError,
    privacy,
)
from anoncore.algorithms import Incognito, Mondrian, OptimalRecoding
from anoncore.algorithms.full_domain import best_first, optimal_recoding
from anoncore.algorithms.full_domain.best_first import Course
from anoncore.algorithms.full_domain.lattice_map import node_facts, search_map
from anoncore.algorithms.full_domain.optimal_recoding import optimum_behind
from anoncore.requirements import (
    CheckSet,
    DistinctDiversity,
    EntropyDiversity,
    FrequencyDiversity,
    KAnonymity,
    RecursiveDiversity,
    TCloseness,
    VarianceDiversity,
)
from anoncore.utility import information_loss
from tests.algorithms.test_incognito import HEIGHTS, NAMES, REQUIREMENTS, labels, loss, tables

SHARES = [0.0, 0.1, 0.3, 0.6, 0.99]
MORE = [
    *REQUIREMENTS,
    (EntropyDiversity(l=1.8),),
    (RecursiveDiversity(c=2, l=2),),
    (KAnonymity(k=3), TCloseness(t=0.2)),
]


def cheapest_choices(model, data):
    """Every node at which the promise can be kept, with the rows to suppress that lose least, and its loss."""
    checks = CheckSet(model.requirements, data).checks

    def holds(rows):
        one = Partition(np.zeros(len(rows), dtype=np.int32))
        return all(check.holds(check.levels(one, rows=np.array(rows)))[0] for check in checks)

    found = {}
    for node in product(*(range(height + 1) for height in HEIGHTS)):
        groups: dict[tuple[str, ...], list[int]] = {}
        for row, key in enumerate(labels(data, node)):
            groups.setdefault(key, []).append(row)
        good = [rows for rows in groups.values() if holds(rows)]
        failing = [row for rows in groups.values() if not holds(rows) for row in rows]
        nothing = loss(data, node)
        added = {key: loss(data, node, rows) - nothing for key, rows in enumerate([*good, failing])}
        choices = []
        for number in range(len(good) + 1 if failing else 1):
            for chosen in combinations(range(len(good)), number):
                rows = [*failing, *(row for one in chosen for row in good[one])]
                if len(rows) <= model.max_suppression * data.n_rows and (not rows or holds(rows)):
                    choices.append((nothing + added[len(good)] + sum(added[one] for one in chosen), rows))
        if choices:
            found[node] = min(choices, key=lambda choice: choice[0])
    return found


def agrees_with_brute_force(data, requirements, share):
    """Whether the search finds the least loss of the whole lattice, and the release has it."""
    model = OptimalRecoding(requirements=requirements, max_suppression=share)
    nodes = cheapest_choices(model, data)
    if not nodes:
        with pytest.raises(InfeasibleError):
            model.anonymize(data)
        return
    losses = {node: lost for node, (lost, _) in nodes.items()}
    found = model.search(data)
    assert found.optimal
    assert found.gap == 0
    assert found.loss == pytest.approx(min(losses.values()))
    assert losses[found.levels] == pytest.approx(found.loss)
    if sum(abs(lost - found.loss) < 1e-9 for lost, _ in nodes.values()) == 1:
        assert loss(data, found.levels, np.flatnonzero(model.anonymize(data).suppressed_rows)) == pytest.approx(
            found.loss
        )
    release = model.anonymize(data)
    assert information_loss(release) == pytest.approx(found.loss)
    assert release.suppressed_rows.sum() == found.suppressed
    assert privacy.check(release, requirements) == ()
    published = np.flatnonzero(~release.suppressed_rows)
    for place, name in enumerate(NAMES):
        cells = release.recoding(name).texts()[published].tolist()
        wanted = [labels(data, found.levels)[row][place] for row in published]
        assert len(set(cells)) == len(set(wanted)) == len(set(zip(cells, wanted, strict=True)))


@pytest.mark.slow
@settings(max_examples=60)
@given(data=tables(), requirements=st.sampled_from(MORE), share=st.sampled_from(SHARES))
def test_the_optimum_is_that_of_the_whole_lattice(data, requirements, share):
    agrees_with_brute_force(data, requirements, share)


@pytest.mark.slow
@settings(max_examples=30)
@given(data=tables(several_rows=True), requirements=st.sampled_from(REQUIREMENTS), share=st.sampled_from(SHARES))
def test_the_optimum_is_that_of_the_whole_lattice_where_people_are_counted(data, requirements, share):
    model = OptimalRecoding(requirements=requirements, max_suppression=share)
    nodes = cheapest_choices(model, data)
    if nodes:
        expected = min(lost for lost, _ in nodes.values())
        assert model.search(data).loss == pytest.approx(expected)
        assert privacy.check(model.anonymize(data), requirements) == ()


def ages(values, **more):
    frame = pd.DataFrame({"age": values, **more})
    roles = {"age": "quasi-identifier"} | dict.fromkeys(more, "sensitive")
    return Microdata(frame, roles=roles, hierarchies={"age": Hierarchy.by_width(frame["age"], width=10)})


def test_suppressing_one_row_less_by_coarser_levels_pays_by_hand():
    # Levels: values, tens, twenties, *. Six different ages: values of k = 2 suppress everything but 33, loss 4 of 6.
    # Tens suppress 44 and 58: two cells are *, loss 1 each; 21-22 and 33-33 are nodes of 2 and 1 of 5 values: 1/4 * 2
    # and 0. Twenties suppress nobody: 20-39 holds 3 of the 5 values, loss 2/4 for four rows, 40-59 two, 1/4 for two.
    data = ages([21, 22, 33, 33, 44, 58])
    wanted = (KAnonymity(k=2),)
    free = OptimalRecoding(requirements=wanted, max_suppression=0.9).search(data)
    assert (free.levels, free.suppressed) == ((1,), 2)
    assert free.loss == pytest.approx((2 * 0.25 + 2 * 1) / 6)
    third = OptimalRecoding(requirements=wanted, max_suppression=0.2).search(data)
    assert (third.levels, third.suppressed) == ((2,), 0)
    assert third.loss == pytest.approx((4 * 0.5 + 2 * 0.25) / 6)


def test_those_classes_are_suppressed_that_lose_least_by_hand():
    # Only the exact ages and * are there. The one of 1 is alone with a, so somebody has to be suppressed with them. The
    # people of 2 or of 3 have a and b, which leaves more than half with a, and so do both: all seven would be left out.
    # With those of 4 it is a, b and c: three of seven cells are *.
    frame = pd.DataFrame({"age": [1, 2, 2, 3, 3, 4, 4], "illness": list("aababbc")})
    data = Microdata(frame, {"age": "quasi-identifier", "illness": "sensitive"})
    model = OptimalRecoding(requirements=(FrequencyDiversity(l=2),), max_suppression=0.99)
    found = model.search(data)
    assert (found.levels, found.suppressed, found.optimal) == ((0,), 3, True)
    assert found.loss == pytest.approx(3 / 7)
    release = model.anonymize(data)
    assert release.recoding("age").texts().tolist() == ["*", "2", "2", "3", "3", "*", "*"]
    assert any(note.endswith("none loses less, whichever of its groups are suppressed.") for note in release.notes)
    facts = node_facts(release, (0,))
    assert (facts.suppressed, facts.loss) == (3, pytest.approx(found.loss))


def test_the_cheapest_class_joins_one_that_is_too_small_by_hand():
    # Six values, so that a step is 1/5. Tens: 1 and 1 lose nothing, 18-19 and 31-32 lose 1/5 in each row, and 95 is
    # alone. With k = 2 the smallest classes would all do; that of 18-19 loses 2 * 4/5 more, and that of 1 twice 1.
    data = ages([1, 1, 18, 19, 31, 32, 95])
    model = OptimalRecoding(requirements=(KAnonymity(k=2),), max_suppression=0.7)
    release = model.anonymize(data)
    assert release.suppressed_rows.tolist() == [False, False, True, True, False, False, True]
    assert information_loss(release) == pytest.approx((2 * 1 / 5 + 3) / 7)


@pytest.mark.parametrize("most", [1, 3, 500])
def test_choices_that_were_not_tried_leave_it_open(most, monkeypatch):
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"age": [1, *(np.arange(40) // 2 + 2)], "illness": ["a", *(["a", "b"] * 18), *"bcbc"]})
    frame["age"] = rng.permutation(99)[frame["age"]]
    data = Microdata(frame, {"age": "quasi-identifier", "illness": "sensitive"})
    monkeypatch.setattr(best_first, "MOST_CHOICES", most)
    found = OptimalRecoding(requirements=(FrequencyDiversity(l=2),), max_suppression=0.99).search(data)
    assert found.bound <= 3 / 41 + 1e-12
    assert found.optimal == (found.loss == pytest.approx(3 / 41)) == (most == 500)


def test_incognito_with_suppression_may_lose_more_and_never_less():
    # Incognito ends at the lowest levels at which suppression is enough, which here suppress almost everything.
    data = ages([21, 22, 23, 24, 25, 25, 31, 32, 33, 34])
    wanted = (KAnonymity(k=2),)
    lowest = Incognito(requirements=wanted, max_suppression=0.9).search(data)
    best = OptimalRecoding(requirements=wanted, max_suppression=0.9).search(data)
    assert lowest.levels == (0,)
    assert best.levels == (1,)
    assert best.loss < lowest.loss


def test_a_stopped_search_says_how_far_from_the_optimum_it_may_be():
    frame = pd.DataFrame(np.random.default_rng(1).integers(0, 5, (60, 4)), columns=list("abcd"))
    data = Microdata(frame, roles=dict.fromkeys(frame.columns, "quasi-identifier"))
    wanted = (KAnonymity(k=3),)
    best = OptimalRecoding(requirements=wanted, max_suppression=0.9).search(data)
    assert best.optimal
    model = OptimalRecoding(requirements=wanted, max_suppression=0.9, most_checked=2)
    found = model.search(data)
    assert not found.optimal
    assert found.bound <= best.loss <= found.loss
    assert found.gap == pytest.approx(found.loss / found.bound - 1)
    assert f"At most {found.gap:.2%} above the optimum" in model.anonymize(data).notes[1]
    assert best.loss * (1 + found.gap) >= found.loss


def test_a_stopped_search_publishes_no_bound_that_depends_on_secrets():
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.integers(0, 5, (60, 4)), columns=list("abcd")).assign(s=rng.integers(0, 6, 60))
    data = Microdata(frame, roles=dict.fromkeys("abcd", "quasi-identifier") | {"s": "sensitive"})
    wanted = (KAnonymity(k=3), DistinctDiversity(l=3))
    model = OptimalRecoding(requirements=wanted, max_suppression=0.0, most_checked=2)
    found, release = model.search(data), model.anonymize(data)
    assert not found.optimal
    assert found.gap > 0
    # What is published is the same sentence whatever the sensitive values are, without a number of the search.
    assert release.notes[1] == optimal_recoding.CUT_SHORT
    assert not any(character.isdigit() for character in optimal_recoding.CUT_SHORT)
    with pytest.raises(ReleaseError, match="allow more combinations"):
        model.refusals(release)
    assert model.replace(most_checked=10_000).refusals(model.replace(most_checked=10_000).anonymize(data)) is not None


def test_progress_ends_when_the_search_does():
    frame = pd.DataFrame(np.random.default_rng(1).integers(0, 2, (100, 10)), columns=list("abcdefghij"))
    data = Microdata(frame, roles=dict.fromkeys(frame.columns, "quasi-identifier"))
    told = []
    found = OptimalRecoding(requirements=(KAnonymity(k=3),), max_suppression=0.3).search(
        data, lambda share, _: told.append(share)
    )
    assert found.n_checked == len(told) > 300
    assert told == sorted(told)
    assert told[0] < 0.1
    # Half of the way is told about when half of the combinations were looked at.
    halfway = next(place for place, share in enumerate(told) if share > 0.5)
    assert 0.2 < halfway / len(told) < 0.8
    assert told[-1] > 0.7


def test_a_cancelled_search_returns_the_best_so_far():
    frame = pd.DataFrame(np.random.default_rng(1).integers(0, 5, (60, 4)), columns=list("abcd"))
    data = Microdata(frame, roles=dict.fromkeys(frame.columns, "quasi-identifier"))
    calls = []

    def stop(share, text):
        calls.append(share)
        if len(calls) > 3:
            raise CancelledError("stopped")

    model = OptimalRecoding(requirements=(KAnonymity(k=3),), max_suppression=0.9)
    found = model.search(data, stop)
    assert not found.optimal
    assert 0 < found.loss <= 1
    with pytest.raises(CancelledError):
        model.anonymize(data, stop)

    def at_once(share, text):
        raise CancelledError("stopped")

    with pytest.raises(CancelledError):
        model.search(data, at_once)


def test_groups_that_are_forgotten_are_made_again(monkeypatch):
    frame = pd.DataFrame(np.random.default_rng(2).integers(0, 4, (80, 5)), columns=list("abcde"))
    data = Microdata(frame, roles=dict.fromkeys(frame.columns, "quasi-identifier"))
    model = OptimalRecoding(requirements=(KAnonymity(k=4),), max_suppression=0.1)
    expected = model.search(data)
    monkeypatch.setattr(best_first, "ROOM", 0)
    assert model.search(data) == expected


@pytest.mark.parametrize("share", [0.0, 0.2])
def test_the_order_of_the_rows_does_not_matter(share):
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(
        {"age": rng.integers(20, 60, 60), "b": rng.choice(list("uv"), 60), "s": rng.choice(["x", "y"], 60)}
    )
    roles = {"age": "quasi-identifier", "b": "quasi-identifier", "s": "sensitive"}
    trees = {"age": Hierarchy.by_width(frame["age"], width=10)}
    model = OptimalRecoding(requirements=(KAnonymity(k=3), DistinctDiversity(l=2)), max_suppression=share)
    published = [
        model.anonymize(Microdata(one, roles=roles, hierarchies=trees)).tables()["release"]
        for one in (frame, frame.iloc[rng.permutation(60)])
    ]
    pd.testing.assert_frame_equal(*published)


def test_a_requirement_that_merging_may_break_rules_out_nothing_but_its_own_combination():
    frame = pd.DataFrame({"age": [20, 20, 31, 31, 42, 42], "pay": [1.0, 9.0, 1.0, 9.0, 4.0, 5.0]})
    data = Microdata(
        frame,
        roles={"age": "quasi-identifier", "pay": "sensitive"},
        hierarchies={"age": Hierarchy.by_width(frame["age"], width=10)},
    )
    found = OptimalRecoding(requirements=(VarianceDiversity(v=10.0),), max_suppression=0.0).search(data)
    assert found.levels == (3,)
    assert found.optimal


def test_too_large_a_lattice_is_refused():
    frame = pd.DataFrame(np.arange(72).reshape(3, 24) % 7, columns=[f"q{i}" for i in range(24)])
    data = Microdata(frame, roles=dict.fromkeys(frame.columns, "quasi-identifier"))
    with pytest.raises(DataError, match="more than 5,000,000"):
        OptimalRecoding(requirements=(KAnonymity(k=2),)).anonymize(data)


@pytest.mark.slow
@settings(max_examples=30)
@given(data=tables(), requirements=st.sampled_from(MORE), share=st.sampled_from(SHARES), most=st.integers(1, 40))
def test_the_course_of_a_search_is_true_of_every_combination(data, requirements, share, most):
    model = OptimalRecoding(requirements=requirements, max_suppression=share, most_checked=most)
    nodes = cheapest_choices(model, data)
    if not nodes:
        return
    found = search_map(model.anonymize(data))
    optimum = found.optimum
    assert sum(found.count(one) for one in Course) == found.loss.size == optimum.n_nodes
    assert optimum.course[found.chosen] == Course.POSSIBLE
    assert (found.count(Course.OPEN) == 0) == optimum.optimal
    for node in np.ndindex(found.loss.shape):
        course = optimum.course[node]
        assert found.loss[node] == pytest.approx(loss(data, node))
        if course in (Course.POSSIBLE, Course.FAILED):
            assert (course == Course.POSSIBLE) == (node in nodes)
        elif course == Course.RULED_OUT:
            assert node not in nodes or nodes[node][0] >= optimum.loss - 1e-9
        else:
            assert (found.loss[node] < optimum.loss - 1e-12) == (course == Course.OPEN)
    assert optimum.bound <= min(lost for lost, _ in nodes.values()) + 1e-12


@pytest.mark.parametrize("share", [0.0, 0.4])
def test_its_own_search_is_drawn_and_any_combination_looked_at_up_close(share):
    data = ages([21, 22, 33, 33, 44, 58])
    model = OptimalRecoding(requirements=(KAnonymity(k=2),), max_suppression=share)
    release = model.anonymize(data)
    found = search_map(release)
    assert found.chosen == model.search(data).levels
    assert found.excerpt() == [(0,), (1,), (2,), (3,)]
    facts = node_facts(release, found.chosen)
    assert facts.anonymous
    assert facts.suppressed == release.suppressed_rows.sum()
    assert facts.loss == pytest.approx(float(information_loss(release)))


def test_of_a_large_lattice_what_was_looked_at_is_drawn():
    frame = pd.DataFrame(np.random.default_rng(1).integers(0, 5, (60, 9)), columns=list("abcdefghi"))
    data = Microdata(frame, roles=dict.fromkeys(frame.columns, "quasi-identifier"))
    found = search_map(OptimalRecoding(requirements=(KAnonymity(k=3),), max_suppression=0.9).anonymize(data))
    drawn = found.excerpt()
    assert len(drawn) == 160 < found.loss.size
    looked_at = [node for node in drawn if found.optimum.course[node] in (Course.POSSIBLE, Course.FAILED)]
    assert len(looked_at) >= min(60, found.count(Course.POSSIBLE))


def test_the_optimum_behind_a_release_is_known_or_searched_again(monkeypatch):
    data = ages([21, 22, 33, 33, 44, 58])
    release = OptimalRecoding(requirements=(KAnonymity(k=2),)).anonymize(data)
    again = optimum_behind(pickle.loads(pickle.dumps(release)))
    monkeypatch.setattr(best_first.BestFirst, "run", lambda *_: pytest.fail("the search was made before"))
    assert optimum_behind(release) == again
    with pytest.raises(ReleaseError, match="Only a release that optimal recoding made"):
        optimum_behind(Mondrian(requirements=(KAnonymity(k=2),)).anonymize(data))


def test_what_readers_learn_is_said_without_suppression_only():
    data = ages([21, 22, 33, 33, 44, 58])
    model = OptimalRecoding(requirements=(KAnonymity(k=2),), max_suppression=0.0)
    assert model.refusals(model.anonymize(data)) is not None
    with pytest.raises(ReleaseError, match="choose no suppression"):
        model.replace(max_suppression=0.1).refusals(model.anonymize(data))
