"""The search for classes: the optimum of small tables, never more lost than refined, stopped at any time."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from anoncore import CancelledError, Microdata, Partition, privacy, utility
from anoncore.algorithms import LocalRecoding, Mondrian, OptimalRecoding, RothkoTree, class_search
from anoncore.algorithms.base import generalized_release
from anoncore.algorithms.class_search import FEWEST_PARTS, searched
from anoncore.algorithms.refined_work import RefinedCells, Work
from anoncore.algorithms.refinement import order_of_rows, refined
from anoncore.base.errors import InfeasibleError
from anoncore.base.progress import silent
from anoncore.kernels.annealing import anneal, repair
from anoncore.requirements import CheckSet, DistinctDiversity, FrequencyDiversity, KAnonymity, TCloseness
from anoncore.requirements.requirement import Requirement
from tests.utility.plain_least_loss import is_close, is_diverse, least_loss, random_table


def loss_of(data, partition):
    return float(utility.information_loss(generalized_release(Mondrian(), data, partition)))


def work_of(data, partition, requirements):
    order = order_of_rows(data, partition)
    return Work.of(RefinedCells.of(data), CheckSet(requirements, data), order, partition.group[order])


def asked(number, data):
    """Requirements, and whether some rows keep those beyond k."""
    k = 2 + number % 3
    more = number // 3 % 3
    if more == 0:
        return k, (KAnonymity(k=k),), lambda rows: True
    if more == 1:
        return k, (KAnonymity(k=k), FrequencyDiversity(l=2)), is_diverse(data, 2)
    return k, (KAnonymity(k=k), TCloseness(t=0.5, ground="equal")), is_close(data, 0.5)


def compared(numbers):
    """Of random tables what is lost refined and searched on, and the least of all partitions."""
    for number in numbers:
        data = random_table(np.random.default_rng(number))
        k, requirements, holds = asked(number, data)
        model = Mondrian(requirements=requirements, split="loss", refine=True)
        try:
            before = model.anonymize(data)
        except InfeasibleError:
            continue
        after = model.replace(search_steps=1).anonymize(data)
        assert privacy.check(after, requirements) == ()
        losses = [float(utility.information_loss(release)) for release in (before, after)]
        yield *losses, float(least_loss(data, k, holds))


@pytest.mark.slow
def test_small_tables_lose_as_little_as_possible():
    for before, after, least in compared(range(9)):
        assert least - 1e-9 <= after <= before + 1e-12
        assert after == pytest.approx(least, abs=1e-9)


@pytest.mark.slow
def test_none_of_75_tables_loses_more_and_nearly_all_lose_the_least():
    # The benchmark of what is lost looks at 500.
    losses = np.array(list(compared(range(1_000, 1_075))))
    before, after, least = losses.T
    assert len(losses) > 60
    assert (after <= before + 1e-12).all()
    assert (after >= least - 1e-9).all()
    assert (after <= least + 1e-9).mean() > 0.99 > (before <= least + 1e-9).mean()


def test_a_class_is_divided_that_no_single_row_may_leave_by_hand():
    # The two of u may not leave alone. As a class of their own they lose nothing, and the others only two of three
    # towns: 2 cells of 1/2 instead of 4 cells of 1, of 12 cells.
    frame = pd.DataFrame({"town": list("wvuwwu"), "street": list("yzzyzz")})
    data, requirements = Microdata(frame, dict.fromkeys(frame, "quasi-identifier")), (KAnonymity(k=2),)
    start = Partition([1, 0, 0, 1, 0, 0])
    assert loss_of(data, refined(data, start, requirements, silent)) == pytest.approx(4 / 12)
    found = searched(data, start, requirements, 1, silent)
    assert loss_of(data, found) == pytest.approx(1 / 12)
    assert found.group.tolist() == [2, 1, 0, 2, 1, 0]


def city(n=300):
    rng = np.random.default_rng(4)
    frame = pd.DataFrame(
        {"age": rng.integers(20, 70, n), "town": rng.choice(list("uvwxyz"), n), "illness": rng.choice(list("abcde"), n)}
    )
    return frame, {"age": "quasi-identifier", "town": "quasi-identifier", "illness": "sensitive"}


@pytest.mark.parametrize(
    "requirements",
    [
        (KAnonymity(k=5),),
        (KAnonymity(k=3), DistinctDiversity(l=3)),
        (FrequencyDiversity(l=3),),
        (TCloseness(t=0.3, ground="equal"),),
    ],
    ids=lambda requirements: " ".join(one.label() for one in requirements),
)
@pytest.mark.parametrize("method", [Mondrian(split="loss", refine=True), LocalRecoding(refine=True)])
def test_less_is_lost_and_every_requirement_is_kept(method, requirements: tuple[Requirement, ...]):
    frame, roles = city(150)
    data = Microdata(frame, roles)
    model = method.replace(requirements=requirements)
    before, after = (one.anonymize(data) for one in (model, model.replace(search_steps=1)))
    assert privacy.check(after, requirements) == ()
    assert utility.information_loss(after) < utility.information_loss(before)


def test_people_are_counted_where_they_have_several_rows():
    frame, roles = city(120)
    frame["who"] = np.random.default_rng(2).integers(0, 70, 120)
    data = Microdata(frame, roles, unit="who")
    model = Mondrian(requirements=[KAnonymity(k=3), DistinctDiversity(l=2)], split="loss", refine=True, search_steps=1)
    before, after = (one.anonymize(data) for one in (model.replace(search_steps=0), model))
    assert privacy.check(after, model.requirements) == ()
    assert utility.information_loss(after) < utility.information_loss(before)


def test_the_same_steps_give_the_same_release_for_any_order_of_rows():
    frame, roles = city()
    model = Mondrian(requirements=[KAnonymity(k=3), DistinctDiversity(l=2)], split="loss", refine=True, search_steps=1)
    first, *others = (
        model.anonymize(Microdata(table, roles)).tables()["release"]
        for table in (frame, frame, frame.sample(frac=1, random_state=1).reset_index(drop=True))
    )
    for other in others:
        pd.testing.assert_frame_equal(first, other)


def test_its_progress_tells_the_best_so_far_and_how_far_it_is_above_the_least():
    frame, roles = city()
    data, reports = Microdata(frame, roles), []
    model = Mondrian(requirements=[KAnonymity(k=3)], split="loss", refine=True, search_steps=1)
    release = model.anonymize(data, lambda share, text: reports.append((share, text)))
    shares, texts = zip(*reports, strict=True)
    assert list(shares) == sorted(shares)
    assert any(text.startswith("Best so far: information loss 0.") for text in texts)
    least = utility.least_loss(data, k=3).bound
    above = float(utility.information_loss(release)) / least - 1
    assert f", at most {above:.0%} above the least" in next(text for text in reversed(texts) if text[:4] == "Best")


@pytest.mark.parametrize("share", [0.0, 0.3, 0.5, 0.95])
def test_where_it_is_cancelled_the_best_so_far_is_returned(share):
    frame, roles = city()
    data, requirements = Microdata(frame, roles), (KAnonymity(k=3), DistinctDiversity(l=2))
    start = Mondrian(requirements=requirements, split="loss", refine=True).anonymize(data).partition

    def stop(done, text):
        if done >= share:
            raise CancelledError(text)

    found = searched(data, start, requirements, 1, stop)
    assert privacy.check(generalized_release(Mondrian(), data, found), requirements) == ()
    assert loss_of(data, found) <= loss_of(data, start)
    if share == 0.95:
        assert loss_of(data, found) < loss_of(data, start)


def test_a_release_that_is_stopped_once_in_its_search_is_the_best_so_far():
    frame, roles = city()
    data, model = Microdata(frame, roles), Mondrian(split="loss", refine=True, search_steps=1)
    reports = []

    def stop_once(share, text):
        is_stopped = not any(before > 0.9 for before, _ in reports) and share > 0.9
        reports.append((share, text))
        if is_stopped:
            raise CancelledError(text)

    release = model.anonymize(data, stop_once)
    refined_loss = utility.information_loss(model.replace(search_steps=0).anonymize(data))
    assert next(text for share, text in reports if share > 0.9).startswith("Best so far")
    assert reports[-1][1] == "Done"
    assert utility.information_loss(release) < refined_loss
    assert utility.information_loss(model.anonymize(data)) <= utility.information_loss(release)


def test_refinement_itself_can_still_be_cancelled():
    frame, roles = city()

    def stop(done, text):
        raise CancelledError(text)

    with pytest.raises(CancelledError):
        Mondrian(refine=True, search_steps=1).anonymize(Microdata(frame, roles), stop)


def test_nothing_is_searched_where_nothing_is_lost():
    data = Microdata(pd.DataFrame({"age": [1, 1, 2, 2]}), {"age": "quasi-identifier"})
    reports = []
    start = Partition([0, 0, 1, 1])
    found = searched(data, start, (KAnonymity(k=2),), 1, lambda share, text: reports.append(text))
    assert found.group.tolist() == [0, 0, 1, 1]
    assert len(reports) < FEWEST_PARTS


def test_classes_that_are_not_refined_are_not_searched_on():
    frame, roles = city()
    data = Microdata(frame, roles)
    for method in (Mondrian(), RothkoTree(), LocalRecoding()):
        plain, same = (one.anonymize(data) for one in (method, method.replace(search_steps=1)))
        assert (plain.partition.group == same.partition.group).all()


@pytest.mark.slow
@pytest.mark.parametrize("requirements", [(KAnonymity(k=2),), (KAnonymity(k=4),), (FrequencyDiversity(l=2.5),)])
def test_what_classes_cover_and_lose_is_that_of_their_rows_after_steps(requirements):
    frame, roles = city()
    data = Microdata(frame, roles)
    start = Mondrian(requirements=requirements, split="loss").anonymize(data).partition
    work = work_of(data, start, requirements)
    classes, row_at = work.classes.with_empty(50), np.argsort(work.rows.places, axis=1).astype(np.int32)
    state = 1
    for heat in (0.5, 0.1, 0.0):
        state = anneal(work.rows, classes, row_at, heat, 100_000, state, work.checks.kernel)
        in_table = classes.group[np.argsort(work.order)]
        anew = work_of(data, Partition(np.unique(in_table, return_inverse=True)[1]), requirements)
        assert float(classes.size @ classes.loss) == pytest.approx(float(anew.classes.size @ anew.classes.loss))
        assert (np.bincount(classes.group, minlength=len(classes.size)) == classes.size).all()
        assert len(np.unique(classes.group)) == (classes.size > 0).sum()
        np.testing.assert_array_equal(classes.standing, classes.group[row_at])


def test_rows_of_classes_that_break_a_requirement_join_others():
    data = Microdata(pd.DataFrame({"age": [20, 21, 22, 40, 41, 60]}), {"age": "quasi-identifier"})
    work = work_of(data, Partition([0, 0, 1, 2, 2, 3]), (KAnonymity(k=2),))
    assert repair(work.rows, work.classes, work.checks.kernel)
    assert work.classes.group[np.argsort(work.order)].tolist() == [0, 0, 0, 2, 2, 2]
    alone = work_of(data, Partition([0, 1, 2, 3, 4, 5]), (KAnonymity(k=9),))
    assert not repair(alone.rows, alone.classes, alone.checks.kernel)


def test_searched_classes_are_refined_ones():
    # No single move is left: the steps at the end are those of `refined`.
    frame, roles = city()
    data, requirements = Microdata(frame, roles), (KAnonymity(k=3),)
    start = Mondrian(requirements=requirements, split="loss", refine=True).anonymize(data).partition
    found = searched(data, start, requirements, 1, silent)
    again = refined(data, found, requirements, silent)
    assert loss_of(data, again) == pytest.approx(loss_of(data, found), abs=1e-4)


def test_a_search_is_known_to_take_long_so_that_no_visitor_waits_behind_it():
    for kind in (Mondrian, LocalRecoding):
        assert not kind(refine=True).takes_long
        assert kind(refine=True, search_steps=1).takes_long
        assert not kind(search_steps=1).takes_long, "nothing is searched where nothing is refined"
    assert OptimalRecoding(recoding="ranges").takes_long
    assert not OptimalRecoding().takes_long


def test_the_search_ends_where_it_is_proven_that_nothing_less_can_be_lost(monkeypatch):
    taken = []
    real = class_search.anneal
    monkeypatch.setattr(class_search, "anneal", lambda *given: taken.append(given[4]) or real(*given))
    model = Mondrian(requirements=[KAnonymity(k=3)], split="loss", refine=True, search_steps=1)
    # Both classes span 2 of 25 years, and no three people span less.
    near = Microdata(pd.DataFrame({"age": [21, 22, 23, 44, 45, 46]}), {"age": "quasi-identifier"})
    assert utility.information_loss(model.anonymize(near)) == pytest.approx(utility.least_loss(near, 3).bound)
    assert taken == []
    # Four people in two classes of three is not possible, and the bound is below what is.
    far = Microdata(pd.DataFrame({"age": [21, 22, 23, 44]}), {"age": "quasi-identifier"})
    assert utility.information_loss(model.anonymize(far)) > utility.least_loss(far, 3).bound
    assert len(taken) == FEWEST_PARTS
