"""Lessons are registered, can be walked through, and show what the library computes."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable

import numpy as np
import pytest

from anoncore import attacks, datasets, privacy
from anoncore.algorithms.vertical.changes import changes_by_strategy
from anoncore.privacy.selectivity import versions
from anoncore.utility import information_loss
from dashboard.elements import entries
from dashboard.learn import learn, lessons
from dashboard.learn.lessons import (
    boxes,
    closeness,
    dealing,
    diversity,
    hospitals,
    joins,
    linking,
    members,
    mondrian,
    moving,
    sampling,
    slicing,
    worlds,
)
from dashboard.learn.lessons.board import data_of, generalized
from dashboard.session import state
from tests.dashboard.conftest import Visitor
from tests.dashboard.results import metrics

NAMES = [lesson.name for lesson in learn.LESSONS]


def started(visitor: Visitor, name: str) -> Visitor:
    """The visitor at the first step of a lesson."""
    visitor.open("learn")
    box = next(item for item in visitor.at.selectbox if item.key == learn.CHOICE)
    box.set_value(learn.LESSONS[NAMES.index(name)])
    return visitor.run()


def stepped(visitor: Visitor, name: str, step: int) -> Visitor:
    """The visitor at a step, from 0."""
    started(visitor, name)
    for _ in range(step):
        visitor.press("Next")
    return visitor


def test_every_module_of_a_lesson_is_registered_and_has_its_parts():
    modules = {info.name for info in pkgutil.iter_modules(lessons.__path__)} - {"board"}
    assert modules == set(NAMES)
    assert len(NAMES) == len(modules)
    for lesson in learn.LESSONS:
        module = importlib.import_module(f"dashboard.learn.lessons.{lesson.name}")
        assert 2 <= len(module.STEPS) <= 6
        assert not datasets.table(module.TABLE).external
        assert 0 < lesson.minutes <= 5
        assert lesson.promise.endswith(".")
        assert lesson.attack.endswith(".")
        assert lesson.cure.endswith(".")
        assert set(lesson.entries) <= set(entries.entries())


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_every_step_draws_something_and_asks_a_question_with_an_answer(name: str, visitor: Visitor):
    started(visitor, name)
    steps = learn.load(learn.LESSONS[NAMES.index(name)]).STEPS
    for place, step in enumerate(steps):
        assert f"Step {place + 1} of {len(steps)}: {step.title}" in visitor.texts()
        assert visitor.at.get("plotly_chart") or visitor.at.dataframe
        assert "**Question:**" in visitor.texts()
        answer = next(box for box in visitor.at.expander if box.label == "Show the answer")
        assert len(answer.markdown[0].value) > 60
        if place + 1 < len(steps):
            visitor.press("Next")
    assert not visitor.has_button("Next")
    lesson = learn.LESSONS[NAMES.index(name)]
    assert f"**What was wrong:** {lesson.attack}" in visitor.texts()
    assert f"**What helps:** {lesson.cure}" in visitor.texts()


def test_load_this_table_opens_it_on_the_working_pages(visitor: Visitor):
    started(visitor, "linking").press("Load this table")
    assert state._workspaces.get(visitor.workspace).table.builtin == linking.TABLE
    assert visitor.at.title[0].value == "Table"


def test_linking_shows_the_people_who_fit_the_unique_share_and_the_risk(visitor: Visitor):
    found = linking.linked()
    started(visitor, "linking")
    assert metrics(visitor)["People who fit"] == f"{found.population_size[4]}" == "2"
    visitor.press("Next")
    assert f"with all 3 it is {linking.alone(10_000, linking.CENSUS):.1%}" in visitor.texts()
    visitor.press("Next")
    risk = linking.crowded(2)[2].prosecutor.largest
    assert metrics(visitor)["Largest risk"] == f"{risk:.0%}" == "50%"


def test_the_crowd_of_the_linking_lesson_comes_from_the_library(visitor: Visitor, monkeypatch: pytest.MonkeyPatch):
    stepped(visitor, "linking", 2)
    real: Callable[..., attacks.Reidentification] = attacks.reidentification

    def other(*arguments: object, **named: object) -> attacks.Reidentification:
        found = real(*arguments, **named)
        object.__setattr__(found, "class_size", np.full(7, 5))
        return found

    monkeypatch.setattr(attacks, "reidentification", other)
    assert metrics(visitor.run())["Smallest class"] == "5"


def test_diversity_shows_the_belief_before_and_after_the_cure(visitor: Visitor):
    release = diversity.paper()
    belief = attacks.attribute_disclosure(release, "disease").belief
    started(visitor, "diversity")
    assert metrics(visitor)["Largest belief"] == f"{belief[release.partition.rows(0)].max():.0%}" == "100%"
    visitor.press("Next")
    assert metrics(visitor)["She has fever"] == f"{1 - diversity.with_background(0.02, 0.3)[0]:.1%}" == "97.7%"
    visitor.press("Next")
    assert metrics(visitor)["Largest belief"] == "100%"
    next(item for item in visitor.at.slider if item.label == "l").set_value(2)
    visitor.run()
    assert metrics(visitor)["Fewest diseases"] == "2"
    assert metrics(visitor)["Classes"] == f"{diversity.diverse(2).n_groups}"


def test_closeness_shows_levels_beliefs_and_distances(visitor: Visitor):
    started(visitor, "closeness")
    assert metrics(visitor)["Different salaries"] == "3"
    visitor.press("Next")
    release = closeness.tested(10)
    code = release.data.domain["result"].code_of("positive")
    after = attacks.sensitive_posterior(release, "result")[0, code]
    assert metrics(visitor)["Belief after"] == f"{after:.0%}" == "50%"
    visitor.press("Next")
    distances = privacy.emd(generalized(data_of(closeness.TABLE, ("age",)), closeness.close(0.4)), "salary")
    assert metrics(visitor)["Largest"] == f"{distances.max():.3f}"
    assert f"{privacy.emd(closeness.paper(), 'salary')[0]:.3f} away" in visitor.texts()


def test_moving_shows_the_distances_of_the_papers_classes(visitor: Visitor):
    started(visitor, "moving")
    cost = privacy.transport(moving.three_levels((4, 1, 0)), "level", 0).cost
    # Class .8 .2 0, table 7/14 4/14 3/14: (3/10 + 3/14) / 2.
    assert metrics(visitor)["Distance (EMD)"] == f"{cost:.3f}" == f"{(0.3 + 3 / 14) / 2:.3f}"
    visitor.press("Next")
    assert metrics(visitor)["Class 1"] == f"{privacy.emd(moving.paper(), 'salary')[0]:.3f}" == "0.375"
    visitor.press("Next")
    assert "Hierarchical gives 0.444 and 0.333" in visitor.texts()


def test_the_moved_mass_comes_from_the_library(visitor: Visitor, monkeypatch: pytest.MonkeyPatch):
    stepped(visitor, "moving", 1)
    real: Callable[..., privacy.Transport] = privacy.transport
    monkeypatch.setattr(privacy, "transport", lambda release, attribute, group: real(release, attribute, 1))
    assert metrics(visitor.run())["Class 1"] == "0.167"


def test_mondrian_shows_the_classes_of_its_cuts(visitor: Visitor):
    started(visitor, "mondrian")
    assert metrics(visitor)["Classes"] == f"{mondrian.cut(30).partition.n_groups}" == "2"
    visitor.press("Next")
    assert metrics(visitor)["Classes"] == f"{mondrian.cut(15).partition.n_groups}" == "4"
    visitor.press("Next")
    release = mondrian.cut(5)
    assert metrics(visitor)["Smallest class"] == f"{release.partition.sizes.min()}"
    assert metrics(visitor)["Blur"] == f"{float(information_loss(release)):.0%}"


def test_slicing_shows_the_papers_matching_bucket_and_belief(visitor: Visitor):
    release = slicing.sliced("age, sex | zipcode, disease")
    started(visitor, "slicing")
    assert metrics(visitor)["Invented rows"] == f"{float(attacks.membership(release).fake):,.0f}"
    visitor.press("Next")
    found = attacks.matching_buckets(release, "disease", 0)
    assert metrics(visitor)["Matching buckets"] == f"{len(found.buckets)}" == "1"
    shown = next(item.value for item in visitor.at.dataframe if "product" in item.value.columns)
    assert shown["product"].tolist() == found.buckets["f"].tolist() == [0.125]
    visitor.press("Next")
    assert metrics(visitor)["This person"] == f"{found.probability.max():.0%}" == "50%"


def test_worlds_shows_the_papers_shares_and_weights(visitor: Visitor):
    started(visitor, "worlds")
    assert metrics(visitor)["Alex, by all groups"] == "100%"
    visitor.press("Next")
    learned = worlds.attacked(worlds.bucketized(worlds.TABLE)).distribution(worlds.bucketized(worlds.TABLE))
    assert learned["learned"].tolist() == pytest.approx([2 / 3, 0], abs=1e-9)
    assert "s1 has x with 67%, s2 with 0%" in visitor.texts()
    visitor.press("Next")
    found = attacks.possible_worlds((0.5, 0.5, 0.2, 0.2), 2)
    shown = next(item.value for item in visitor.at.dataframe if "weight" in item.value.columns)
    assert shown["weight"].tolist() == found.weight.tolist() == pytest.approx([0.16, *[0.04] * 4, 0.01])
    assert f"Now {found.probability[0]:.2%}" in visitor.texts()
    assert "Now 72.73%" in visitor.texts()
    visitor.press("Next")
    safe = worlds.attacked(worlds.regrouped("ForegroundSafe"))
    assert metrics(visitor)["Largest chance of x"] == f"{safe.breach_probability.max():.0%}" == "50%"


def test_the_possible_worlds_come_from_the_library(visitor: Visitor, monkeypatch: pytest.MonkeyPatch):
    stepped(visitor, "worlds", 2)
    real: Callable[..., attacks.PossibleWorlds] = attacks.possible_worlds
    monkeypatch.setattr(attacks, "possible_worlds", lambda f, n: real((0.5,) * 4, n))
    assert "Now 50.00%" in visitor.run().texts()


def test_sampling_grows_counts_prunes_and_finishes(visitor: Visitor):
    started(visitor, "sampling")
    assert metrics(visitor)["First cut, by everybody"] == f"{sampling.first_cut(sampling.PEOPLE)[1]:,.0f}"
    visitor.press("Next")
    # 5 of 200, and 1.96 standard deviations of a draw without replacement more: 9.1.
    assert metrics(visitor)["Needed without a test"] == "5"
    assert metrics(visitor)["Needed with the test"] == "10"
    visitor.press("Next")
    grown = sampling.growth(sampling.SAMPLE, 1.0, 1)
    assert metrics(visitor)["Too small"] == f"{(grown.sizes < sampling.K).sum()}" == f"{grown.undone + 10}"
    assert grown.sizes.sum() == sampling.PEOPLE
    cared = sampling.growth(sampling.SAMPLE, 1.0, 1, pruned=True)
    assert cared.sizes.min() >= sampling.K > grown.sizes.min()
    assert cared.undone == 10
    visitor.press("Next")
    release = sampling.released(sampling.SAMPLE, seed=1)
    assert metrics(visitor)["Classes"] == f"{release.partition.n_groups}"
    assert metrics(visitor)["Smallest class"] == f"{release.partition.sizes.min()}"


def with_parts(real: Callable[..., object], **other: object) -> Callable[..., object]:
    """A function that gives the result of the library with some parts of it replaced."""

    def function(*arguments: object, **named: object) -> object:
        found = real(*arguments, **named)
        for part, value in other.items():
            object.__setattr__(found, part, value)
        return found

    return function


CHANGED = [
    ("linking", 1, attacks, "reidentification", {"class_size": np.ones(10_000)}, "with all 3 it is 100.0%"),
    ("diversity", 0, attacks, "attribute_disclosure", {"belief": np.full(9, 0.25)}, "25%"),
    ("closeness", 1, attacks, "sensitive_posterior", lambda *_: np.full((1000, 2), 0.25), "25%"),
    ("closeness", 2, privacy, "emd", lambda *_: np.full(9, 0.321)[:4], "0.321"),
    ("mondrian", 0, mondrian, "information_loss", lambda _: 0.123, "12%"),
    ("sampling", 1, sampling, "rows_needed", lambda *_: 77, "77"),
    ("sampling", 3, sampling, "information_loss", lambda _: 0.123, "blur is 12.3% instead of 12.3%"),
    ("slicing", 0, attacks, "membership", {"fake": 77.0}, "77"),
    ("slicing", 2, attacks, "attribute_disclosure", {"largest": 0.77}, "77%"),
    ("dealing", 2, privacy, "emd", lambda *_: np.full(5, 0.4321), "0.4321"),
    ("boxes", 2, privacy, "emd", lambda *_: np.full(5, 0.4321), "the farthest are 0.432 and 0.432"),
    ("joins", 0, joins, "information_loss", lambda _: 0.123, "falls from 12% to 12%"),
    ("joins", 3, joins, "versions", lambda *_: 77, "77"),
    ("members", 1, attacks, "membership", {"fake": 77.0}, "77"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "step", "owner", "function", "change", "shown"), CHANGED)
def test_what_is_shown_changes_with_the_library(
    name: str,
    step: int,
    owner: object,
    function: str,
    change: object,
    shown: str,
    visitor: Visitor,
    monkeypatch: pytest.MonkeyPatch,
):
    stepped(visitor, name, step)
    assert shown not in metrics(visitor).values()
    assert shown not in visitor.texts()
    real = getattr(owner, function)
    monkeypatch.setattr(owner, function, with_parts(real, **change) if isinstance(change, dict) else change)
    visitor.run()
    assert shown in metrics(visitor).values() or shown in visitor.texts()


def test_dealing_shows_the_true_distances_and_the_printed_one(visitor: Visitor):
    stepped(visitor, "dealing", 2)
    distances = privacy.emd(dealing.dealt(), "salary")
    assert metrics(visitor)["Largest distance"] == f"{distances.max():.4f}" == "0.0169"
    assert metrics(visitor)["Largest difference"] == "1"
    visitor.press("Next")
    assert metrics(visitor)["Largest distance"] == f"{privacy.emd(dealing.dealt(stack='value'), 'salary').max():.4f}"
    assert "The paper prints 0.009778" in visitor.texts()


def test_boxes_shows_the_bounds_and_the_distances_reached(visitor: Visitor):
    stepped(visitor, "boxes", 1)
    found = boxes.method((0.2, 0.2)).fragmentation(data_of(boxes.TABLE))
    assert metrics(visitor)["Boxes"] == f"{found.n_fragments}"
    assert metrics(visitor)["Bound for Y"] == f"{found.bounds[1]:.3f}" == "0.175"
    visitor.press("Next")
    release = boxes.method((0.2, 0.2)).anonymize(data_of(boxes.TABLE))
    assert metrics(visitor)["Classes"] == f"{release.partition.n_groups}"
    assert (boxes.farthest(release) <= 0.2).all()


def test_joins_shows_the_unsafe_joins_before_and_after(visitor: Visitor):
    stepped(visitor, "joins", 1)
    before = privacy.joins(joins.fragmented(), published=False).joins[0]
    assert metrics(visitor)["Too few rows"] == f"{before.n_broken}" != "0"
    visitor.press("Next")
    assert metrics(visitor)["Unsafe joins left"] == f"{privacy.joins(joins.fragmented()).joins[0].n_broken}" == "0"
    changes = changes_by_strategy(joins.fragmented(), joins.K)
    assert metrics(visitor)["Diagnoses changed"] == f"{float(changes['dependency']):.0%}"
    visitor.press("Next")
    assert metrics(visitor)["Versions"] == f"{versions(5, 3)}" == f"{len(joins.fillings(5, 3))}" == "6"


def test_members_shows_the_invented_people(visitor: Visitor):
    started(visitor, "members")
    assert metrics(visitor)["Invented people"] == "0"
    visitor.press("Next")
    found = members.large("slicing", 20)
    assert metrics(visitor)["Invented people"] == f"{float(found.fake):,.0f}"
    visitor.press("Next")
    assert metrics(visitor)["Rows of the join"] == f"{members.fragments()[1].total:,.0f}"


def test_two_hospitals_give_cleo_away_though_each_keeps_two_diseases():
    found = hospitals.both()
    assert found.people.tolist() == ["Cleo", "Dora", "Emil", "Finn"]
    assert found.possible_alone.min() == 2
    assert found.possible.tolist() == [1, 2, 2, 2]
    assert found.values[int(found.belief[0].argmax())] == "flu"


@pytest.mark.slow
def test_two_hospitals_do_not_keep_l_together_unless_classes_are_much_larger_than_it_needs():
    for k, l in ((5, 4), (10, 6), (20, 4)):
        found = hospitals.overlapping(k, l, 500)
        assert len(found.people) == 500
        assert found.few.baseline == 0
        # With k = 20 every class of these samples has six diagnoses or more, and two classes have four in common.
        assert (found.few > 0) == (k < 20)
        assert (found.possible_alone.min() >= 6) == (k > 5)
