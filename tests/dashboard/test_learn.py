"""Lessons are registered, can be walked through, and show what the library computes."""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Callable
from html import escape
from itertools import product
from math import exp, log, prod, sinh
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anoncore import attacks, datasets, privacy
from anoncore.algorithms import ALGORITHMS, Anatomy, ForegroundSafe
from anoncore.algorithms.vertical.changes import changes_by_strategy
from anoncore.privacy.selectivity import versions
from anoncore.utility import information_loss
from dashboard.elements import about
from dashboard.learn import buckets, crowds, cuts, dealing, joins, learn, lesson_parts, noise
from dashboard.learn.lesson_parts import Lesson, data_of, generalized
from dashboard.session import loaded_table, session_file, state
from dashboard.session.wishes import AXES
from tests.dashboard.conftest import Visitor
from tests.dashboard.results import metrics

NAMES = [lesson.name for lesson in learn.LESSONS]


def stepped(visitor: Visitor, name: str, step: int) -> Visitor:
    """The visitor at a step, from 0, by its link."""
    visitor.at.query_params["lesson"] = f"{name}.{step + 1}"
    return visitor.open("learn")


def started(visitor: Visitor, name: str) -> Visitor:
    """The visitor at the first step of a lesson."""
    return stepped(visitor, name, 0)


def slide(visitor: Visitor, label: str, value: float) -> Visitor:
    """Move a slider."""
    next(item for item in visitor.at.slider if item.label == label).set_value(value)
    return visitor.run()


def test_every_lesson_is_registered_and_has_its_parts():
    names = [info.name for info in pkgutil.iter_modules([str(Path(learn.__file__).parent)])]
    modules = [importlib.import_module(f"dashboard.learn.{name}") for name in names]
    written = [one for module in modules for one in vars(module).values() if isinstance(one, Lesson)]
    assert sorted(written, key=lambda one: one.name) == sorted(learn.LESSONS, key=lambda one: one.name)
    for lesson in learn.LESSONS:
        assert 2 <= len(lesson.steps) <= 6
        assert not datasets.table(lesson.table).external
        assert 0 < lesson.minutes <= 5
        assert lesson.promise.endswith(".")
        assert lesson.attack.endswith(".")
        assert lesson.cure.endswith(".")
        assert set(lesson.entries) <= set(about.entries())
        assert len(lesson.steps) == len(lesson.texts)
        assert set(lesson.methods) <= set(ALGORITHMS)
        assert set(lesson.levels) <= set(AXES)
        for step in lesson.steps:
            for asked in step.fields.values():
                values = asked["value"] if isinstance(asked["value"], list) else [asked["value"]]
                low, high, _ = asked.get("range", (0, 0, 0))
                assert all(
                    value in asked["options"] if "options" in asked else low <= value <= high for value in values
                )


def test_the_file_of_lessons_names_the_numbers_and_people_of_the_pictures():
    texts = {lesson.name: " ".join(step.text for step in lesson.steps) for lesson in learn.LESSONS}
    assert f"on {crowds.PEOPLE:,} people; {crowds.POSITIVE} are positive" in texts["closeness"]
    assert f"{cuts.K} of {cuts.PEOPLE:,} people is one in {cuts.PEOPLE // cuts.K}." in texts["sampling"]
    assert texts["joins"].startswith(f"{joins.PEOPLE} people, four attributes")
    assert f"{joins.K} rows always look alike" in texts["joins"]
    assert f"with {joins.MANY:,} people" in texts["members"]
    assert f"have {noise.ILLNESS.lower()}" in texts["privacy"]
    assert f"but one of them, {noise.PERSON}," in texts["privacy"]
    assert f"knows the other {noise.PEOPLE - 1} by heart" in texts["privacy"]
    options = {
        (lesson.name, name): about["options"]
        for lesson in learn.LESSONS
        for step in lesson.steps
        for name, about in step.fields.items()
        if "options" in about
    }
    assert options["slicing", "cut"] == list(buckets.CUTS)
    assert [buckets.row_of(person) for person in options["slicing", "person"]] == list(range(8))
    assert options["hospitals", "name"] == buckets.both().people.tolist()
    assert options["worlds", "method"] == [Anatomy.title, ForegroundSafe.title]
    assert options["sampling", "care"] == list(cuts.CARE)
    assert options["joins", "cure"] == list(joins.CURES)
    assert options["members", "form"] == list(joins.SMALL)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_every_step_draws_something_and_asks_a_question_with_an_answer(name: str, visitor: Visitor):
    started(visitor, name)
    steps = learn.LESSONS[NAMES.index(name)].steps
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
    assert state._workspaces.get(visitor.workspace).table.builtin == crowds.PATIENTS
    assert visitor.at.title[0].value == "Table"


def test_linking_shows_the_people_who_fit_the_unique_share_and_the_risk(visitor: Visitor):
    found = crowds.linked()
    started(visitor, "linking")
    assert metrics(visitor)["People who fit"] == f"{found.population_size[4]}" == "2"
    visitor.press("Next")
    assert f"with all 3 it is {crowds.alone(10_000, crowds.CENSUS):.1%}" in visitor.texts()
    visitor.press("Next")
    risk = crowds.crowded(2)[2].prosecutor.largest
    assert metrics(visitor)["Largest risk"] == f"{risk:.0%}" == "50%"


def test_the_crowd_of_the_linking_lesson_comes_from_the_library(visitor: Visitor, monkeypatch: pytest.MonkeyPatch):
    stepped(visitor, "linking", 2)
    real: Callable[..., attacks.Reidentification] = attacks.reidentification

    def other(*arguments: object, **named: object) -> attacks.Reidentification:
        found = real(*arguments, **named)
        object.__setattr__(found, "class_size", np.full(7, 5))
        return found

    monkeypatch.setattr(attacks, "reidentification", other)
    assert metrics(visitor.run())["Smallest group"] == "5"


def test_diversity_shows_the_belief_before_and_after_the_cure(visitor: Visitor):
    release = lesson_parts.as_in_paper(crowds.IN_CLASSES)
    belief = attacks.attribute_disclosure(release, "disease").belief
    started(visitor, "diversity")
    assert metrics(visitor)["Largest belief"] == f"{belief[release.partition.rows(0)].max():.0%}" == "100%"
    visitor.press("Next")
    assert metrics(visitor)["She has fever"] == f"{1 - crowds.with_background(0.02, 0.3)[0]:.1%}" == "97.7%"
    visitor.press("Next")
    assert metrics(visitor)["Largest belief"] == "100%"
    slide(visitor, "l", 2)
    assert metrics(visitor)["Fewest diseases"] == "2"
    assert metrics(visitor)["Groups"] == f"{crowds.diverse(2).n_groups}"


def test_closeness_shows_levels_beliefs_and_distances(visitor: Visitor):
    started(visitor, "closeness")
    assert metrics(visitor)["Different salaries"] == "3"
    visitor.press("Next")
    release = crowds.tested(10)
    code = release.data.domain["result"].code_of("positive")
    after = attacks.sensitive_posterior(release, "result")[0, code]
    assert metrics(visitor)["Belief after"] == f"{after:.0%}" == "50%"
    visitor.press("Next")
    distances = privacy.emd(generalized(data_of(crowds.TABLE, ("age",)), crowds.close(0.4)), "salary")
    assert metrics(visitor)["Largest"] == f"{distances.max():.3f}"
    assert f"{privacy.emd(lesson_parts.as_in_paper(crowds.TABLE), 'salary')[0]:.3f} away" in visitor.texts()


def test_moving_shows_the_distances_of_the_papers_classes(visitor: Visitor):
    started(visitor, "moving")
    cost = privacy.transport(crowds.three_levels((4, 1, 0)), "level", 0).cost
    # Class .8 .2 0, table 7/14 4/14 3/14: (3/10 + 3/14) / 2.
    assert metrics(visitor)["Distance (EMD)"] == f"{cost:.3f}" == f"{(0.3 + 3 / 14) / 2:.3f}"
    visitor.press("Next")
    assert (
        metrics(visitor)["Group 1"]
        == f"{privacy.emd(lesson_parts.as_in_paper(crowds.TABLE), 'salary')[0]:.3f}"
        == "0.375"
    )
    visitor.press("Next")
    assert "Hierarchical gives 0.444 and 0.333" in visitor.texts()


def test_the_moved_mass_comes_from_the_library(visitor: Visitor, monkeypatch: pytest.MonkeyPatch):
    stepped(visitor, "moving", 1)
    real: Callable[..., privacy.Transport] = privacy.transport
    monkeypatch.setattr(privacy, "transport", lambda release, attribute, group: real(release, attribute, 1))
    assert metrics(visitor.run())["Group 1"] == "0.167"


def test_mondrian_shows_the_classes_of_its_cuts(visitor: Visitor):
    started(visitor, "mondrian")
    assert metrics(visitor)["Groups"] == f"{cuts.cut(30).partition.n_groups}" == "2"
    visitor.press("Next")
    assert metrics(visitor)["Groups"] == f"{cuts.cut(15).partition.n_groups}" == "4"
    visitor.press("Next")
    release = cuts.cut(5)
    assert metrics(visitor)["Smallest group"] == f"{release.partition.sizes.min()}"
    assert metrics(visitor)["Blur"] == f"{float(information_loss(release)):.0%}"


def test_slicing_shows_the_papers_matching_bucket_and_belief(visitor: Visitor):
    release = buckets.sliced("age, sex | zipcode, disease")
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
    learned = buckets.attacked(buckets.bucketized(buckets.KINDS)).distribution(buckets.bucketized(buckets.KINDS))
    assert learned["learned"].tolist() == pytest.approx([2 / 3, 0], abs=1e-9)
    assert "s1 has x with 67%, s2 with 0%" in visitor.texts()
    visitor.press("Next")
    found = attacks.possible_worlds((0.5, 0.5, 0.2, 0.2), 2)
    shown = next(item.value for item in visitor.at.dataframe if "weight" in item.value.columns)
    assert shown["weight"].tolist() == found.weight.tolist() == pytest.approx([0.16, *[0.04] * 4, 0.01])
    assert f"Now {found.probability[0]:.2%}" in visitor.texts()
    assert "Now 72.73%" in visitor.texts()
    visitor.press("Next")
    safe = buckets.attacked(buckets.regrouped("ForegroundSafe"))
    assert metrics(visitor)["Largest chance of x"] == f"{safe.breach_probability.max():.0%}" == "50%"


def test_the_possible_worlds_come_from_the_library(visitor: Visitor, monkeypatch: pytest.MonkeyPatch):
    stepped(visitor, "worlds", 2)
    real: Callable[..., attacks.PossibleWorlds] = attacks.possible_worlds
    monkeypatch.setattr(attacks, "possible_worlds", lambda f, n: real((0.5,) * 4, n))
    assert "Now 50.00%" in visitor.run().texts()


def test_sampling_grows_counts_prunes_and_finishes(visitor: Visitor):
    started(visitor, "sampling")
    assert metrics(visitor)["First cut, by everybody"] == f"{cuts.first_cut(cuts.PEOPLE)[1]:,.0f}"
    visitor.press("Next")
    # 5 of 200, and 1.96 standard deviations of a draw without replacement more: 9.1.
    assert metrics(visitor)["Needed without a test"] == "5"
    assert metrics(visitor)["Needed with the test"] == "10"
    visitor.press("Next")
    grown = cuts.growth(cuts.SAMPLE, 1.0, 1)
    assert metrics(visitor)["Too small"] == f"{(grown.sizes < cuts.K).sum()}" == f"{grown.undone + 10}"
    assert grown.sizes.sum() == cuts.PEOPLE
    cared = cuts.growth(cuts.SAMPLE, 1.0, 1, pruned=True)
    assert cared.sizes.min() >= cuts.K > grown.sizes.min()
    assert cared.undone == 10
    visitor.press("Next")
    release = cuts.released(cuts.SAMPLE, seed=1)
    assert metrics(visitor)["Groups"] == f"{release.partition.n_groups}"
    assert metrics(visitor)["Smallest group"] == f"{release.partition.sizes.min()}"


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
    ("mondrian", 0, cuts, "information_loss", lambda _: 0.123, "12%"),
    ("sampling", 1, cuts, "rows_needed", lambda *_: 77, "77"),
    ("sampling", 3, cuts, "information_loss", lambda _: 0.123, "blur is 12.3% instead of 12.3%"),
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
    found = dealing.method((0.2, 0.2)).fragmentation(data_of(dealing.SPACE))
    assert metrics(visitor)["Boxes"] == f"{found.n_fragments}"
    assert metrics(visitor)["Bound for Y"] == f"{found.bounds[1]:.3f}" == "0.175"
    visitor.press("Next")
    release = dealing.method((0.2, 0.2)).anonymize(data_of(dealing.SPACE))
    assert metrics(visitor)["Groups"] == f"{release.partition.n_groups}"
    assert (dealing.farthest(release) <= 0.2).all()


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
    found = joins.large("slicing", 20)
    assert metrics(visitor)["Invented people"] == f"{float(found.fake):,.0f}"
    visitor.press("Next")
    assert metrics(visitor)["Rows of the join"] == f"{joins.fragments()[1].total:,.0f}"


def test_two_hospitals_give_cleo_away_though_each_keeps_two_diseases():
    found = buckets.both()
    assert found.people.tolist() == ["Cleo", "Dora", "Emil", "Finn"]
    assert found.possible_alone.min() == 2
    assert found.possible.tolist() == [1, 2, 2, 2]
    assert found.values[int(found.belief[0].argmax())] == "flu"


@pytest.mark.slow
def test_two_hospitals_do_not_keep_l_together_unless_classes_are_much_larger_than_it_needs():
    for k, l in ((5, 4), (10, 6), (20, 4)):
        found = buckets.overlapping(k, l, 500)
        assert len(found.people) == 500
        assert found.few.baseline == 0
        # With k = 20 every class of these samples has six diagnoses or more, and two classes have four in common.
        assert (found.few > 0) == (k < 20)
        assert (found.possible_alone.min() >= 6) == (k > 5)


def test_privacy_shows_the_noisy_answers_by_hand(visitor: Visitor):
    assert noise.counts() == (2, 1)
    # q = 1/2: a third of the answers is exact, and every step away from the truth halves the chance.
    assert noise.chances(2, log(2)).tolist() == pytest.approx([2.0 ** -abs(answer - 2) / 3 for answer in range(-3, 7)])
    started(visitor, "privacy")
    # (1 - 1/e) / (1 + 1/e) = 0.4621, 1 / sinh(1) = 0.8509, e = 2.7183.
    assert metrics(visitor) == {"Exact answer": "46.2%", "Mean noise": "0.85", "Largest ratio": "2.72"}
    assert "2 comes with 46.2% if she is, and with 17.0% if she is not" in visitor.texts()
    slide(visitor, "Epsilon", 2.0)
    # (1 - e^-2) / (1 + e^-2) = 0.7616, 1 / sinh(2) = 0.2757, e^2 = 7.389.
    assert metrics(visitor) == {"Exact answer": "76.2%", "Mean noise": "0.28", "Largest ratio": "7.39"}


@pytest.mark.parametrize("epsilon", [0.1, 0.7, 1.0, 3.0])
def test_noise_is_laplaces_in_whole_numbers_and_keeps_epsilon(epsilon: float):
    far = range(-500, 501)
    weights = [exp(-epsilon * abs(answer)) for answer in far]
    plain = {answer: weight / sum(weights) for answer, weight in zip(far, weights, strict=True)}
    assert noise.chances(0, epsilon).tolist() == pytest.approx([plain[answer] for answer in range(-3, 7)])
    assert sum(abs(answer) * chance for answer, chance in plain.items()) == pytest.approx(1 / sinh(epsilon))
    inside, outside = noise.chances(2, epsilon), noise.chances(1, epsilon)
    assert max((inside / outside).max(), (outside / inside).max()) == pytest.approx(exp(epsilon))


@pytest.mark.slow
def test_the_noise_of_the_lesson_is_that_of_the_method():
    opendp = pytest.importorskip("opendp.prelude")
    opendp.enable_features("contrib")
    space = opendp.atom_domain(T=int), opendp.absolute_distance(T=int)
    # A scale of 1 / epsilon is what OpenDP's Laplace noise of whole numbers needs for epsilon, and no smaller one.
    assert opendp.m.make_laplace(*space, scale=2.0).map(1) == pytest.approx(0.5)
    half = opendp.discrete_laplacian_scale_to_accuracy(scale=2.0, alpha=0.05)
    q = exp(-0.5)
    # P(|noise| >= a) = 2 q^a / (1 + q).
    assert 2 * q**half / (1 + q) <= 0.05 < 2 * q ** (half - 1) / (1 + q)


def test_privacy_shows_how_far_an_answer_can_move_a_belief(visitor: Visitor):
    stepped(visitor, "privacy", 1)
    # Odds 1 become e at most: e / (1 + e) = 73.1%, and 1 / (1 + e) = 26.9% at least.
    assert metrics(visitor) == {"Odds before": "1.00", "Odds at most": "2.72", "Belief at most": "73.1%"}
    assert "ends between 26.9% and 73.1%" in visitor.texts()
    slide(visitor, "Belief before", 0.2)
    # Odds 1/4 become e/4 = 0.6796 at most: 40.5%; and 1/(4e) = 0.092 at least: 8.4%.
    assert metrics(visitor) == {"Odds before": "0.25", "Odds at most": "0.68", "Belief at most": "40.5%"}
    assert "ends between 8.4% and 40.5%" in visitor.texts()


@given(st.floats(0.01, 0.99), st.floats(0.1, 3.0))
def test_no_answer_moves_the_odds_by_more_than_epsilon_allows(before: float, epsilon: float):
    inside, outside = noise.chances(2, epsilon), noise.chances(1, epsilon)
    bayes = before * inside / (before * inside + (1 - before) * outside)
    assert noise.believed(before, inside / outside) == pytest.approx(bayes)
    change = np.log(bayes / (1 - bayes)) - log(before / (1 - before))
    assert np.abs(change) == pytest.approx(np.full(10, epsilon))


def test_privacy_adds_epsilons_up(visitor: Visitor):
    stepped(visitor, "privacy", 2)
    shown = metrics(visitor)
    # Four answers of 0.5 are 2 together: e^2 / (1 + e^2) = 88.1%; shared, each has 0.125: 1 / sinh(0.125) = 7.98.
    assert (shown["Epsilon in all"], shown["Belief at most"], shown["Mean noise, if shared"]) == ("2", "88.1%", "7.98")
    assert "1/10 = 0.1, so its noise is 10.0 on average instead of 0.9" in visitor.texts()
    slide(visitor, "Answers", 3)
    # p = 1 / (1 + e^-0.5) = 0.6225: p^3 + 3 p^2 (1 - p) = 0.6801.
    assert metrics(visitor)["Right guesses"] == "68.0%"
    assert metrics(visitor)["Epsilon in all"] == "1.5"


@pytest.mark.parametrize(("n", "epsilon"), [(1, 1.0), (2, 1.0), (3, 0.5), (4, 0.5)])
def test_the_best_guess_from_several_answers_weighs_all_of_them(n: int, epsilon: float):
    answers = range(-60, 64)
    with_her, without = ([exp(-epsilon * abs(answer - count)) for answer in answers] for count in (2, 1))
    whole = sum(with_her)
    # What matters of an answer is its ratio, which takes two values only: so all answers of one ratio are one.
    ratios: dict[float, list[float]] = {}
    for one, other in zip(with_her, without, strict=True):
        chances = ratios.setdefault(round(one / other, 9), [0.0, 0.0])
        chances[0] += one / whole
        chances[1] += other / whole
    assert len(ratios) == 2
    right = 0.0
    for several in product(ratios.values(), repeat=n):
        inside, outside = (prod(chances[place] for chances in several) for place in (0, 1))
        right += max(inside, outside) / 2
    assert noise.guessed(n, epsilon) == pytest.approx(right)


def test_the_overview_lists_what_each_lesson_teaches_and_what_is_done(visitor: Visitor):
    visitor.open("learn")
    n_steps = sum(len(lesson.steps) for lesson in learn.LESSONS)
    assert f"**0 of {n_steps} steps are done**" in visitor.texts()
    for lesson in learn.LESSONS:
        assert visitor.has_button(learn.TITLES[lesson.name])
        assert lesson.promise in visitor.texts()
        assert f"{lesson.minutes} minutes, 0 of {len(lesson.steps)} done" in visitor.texts()
    visitor.press("2. All alike and l-diversity")
    assert "Step 1 of 3: Everybody in the group is alike" in visitor.texts()
    assert visitor.here.steps_done == frozenset()
    visitor.at.session_state["answer-diversity.1"] = True
    visitor.run()
    assert visitor.here.steps_done == {"diversity.1"}
    next(item for item in visitor.at.selectbox if item.key == learn.CHOICE).set_value(learn.OVERVIEW)
    visitor.run()
    assert f"**1 of {n_steps} steps are done**" in visitor.texts()
    assert "4 minutes, 1 of 3 done ✓ ○ ○" in visitor.texts()


def test_a_saved_session_keeps_what_is_done(visitor: Visitor):
    visitor.here.steps_done = frozenset({"linking.1", "privacy.3"})
    content = session_file.save(visitor.here)
    visitor.here.steps_done = frozenset({"linking.2"})
    session_file.restore(visitor.here, session_file.read(content, loaded_table.builtin_table, state._microdata.get))
    assert visitor.here.steps_done == {"linking.1", "linking.2", "privacy.3"}


@pytest.mark.parametrize("link", ["linking.4", "linking.0", "linking", "nothing.1", "linking.1.1", "LINKING.1"])
def test_a_link_that_names_no_step_opens_the_overview(link: str, visitor: Visitor):
    visitor.at.query_params["lesson"] = link
    visitor.open("learn")
    assert "A step is done once" in visitor.texts()


def test_a_link_opens_its_step_and_is_offered_to_copy(visitor: Visitor):
    stepped(visitor, "joins", 2)
    assert "Step 3 of 4: Three cures" in visitor.texts()
    assert [one.value for one in visitor.at.code] == ["?lesson=joins.3"]
    assert "lesson" not in visitor.at.query_params
    visitor.press("Back")
    assert [one.value for one in visitor.at.code] == ["?lesson=joins.2"]


def test_a_lesson_is_tried_on_the_loaded_table_as_a_step_that_can_be_undone(visitor: Visitor):
    visitor.ask("anatomy", l=3)
    before = visitor.here.wishes
    stepped(visitor, "closeness", 2).press("Try this on your own table")
    asked = visitor.here.wishes
    assert [column.method for column in asked.columns] == ["mondrian"]
    assert dict(asked.levels) == {"k": 2, "t": 0.4}
    assert visitor.here.table.builtin == "census"
    assert any(button.label == "Publish …" for button in visitor.at.button)
    visitor.here.history.undo()
    assert visitor.here.wishes == before


def test_a_table_on_which_nobody_decided_is_asked_for_its_tags_first(visitor: Visitor):
    visitor.upload("people.csv", b"age,illness\n30,flu\n31,cold\n40,flu\n41,gout\n")
    stepped(visitor, "diversity", 2).press("Try this on your own table")
    assert dict(visitor.here.wishes.levels) == {"k": 2, "l": 2}
    assert not any(button.label == "Publish …" for button in visitor.at.button)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_worksheet_has_the_questions_and_then_the_answers_of_the_page(name: str, visitor: Visitor):
    lesson = learn.BY_NAME[name]
    questions, solutions = learn.worksheet(lesson).split('<div class="solutions">')
    assert "<table" in questions
    assert questions.count(learn.LINE) >= 2 * len(lesson.steps)
    assert "http" not in questions + solutions
    assert "<script" not in questions + solutions
    for place, step in enumerate(lesson.steps):
        stepped(visitor, name, place)
        asked = next(one.value for one in visitor.at.markdown if one.value.startswith("**Question:** "))
        asked = learn._text(asked.removeprefix("**Question:** "))[3:-4]
        answer = learn._text(visitor.at.expander[0].markdown[0].value)
        assert asked[0].upper() + asked[1:] in questions
        assert escape(step.title) in questions
        assert answer in solutions
        assert answer not in questions


def test_a_worksheet_prints_the_table_of_the_lesson():
    questions = learn.worksheet(noise.PRIVACY).split('<div class="solutions">')[0]
    for name, age, sex, diagnosis in noise.patients().itertuples(index=False):
        row = rf"<td>{name}</td>\s*<td>{age}</td>\s*<td>{sex}</td>\s*<td>{diagnosis}</td>"
        assert re.search(row, re.sub(r"<td [^>]*>", "<td>", questions))
    assert (
        "Epsilon: <b>1.0</b>; Exact answer: <b>46.2%</b>; Mean noise: <b>0.85</b>; Largest ratio: <b>2.72</b>"
        in questions
    )


@pytest.mark.slow
@pytest.mark.parametrize("known_alone", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_every_lesson_can_be_tried_on_a_table_of_ones_own(name: str, known_alone: bool, visitor: Visitor):
    rows = "".join(f"{20 + row},{row % 3},{['flu', 'cold', 'gout', 'ulcer'][row % 4]}\n" for row in range(60))
    visitor.upload("people.csv", f"age,town,illness\n{rows}".encode())
    roles = {"age": "quasi-identifier", "town": "quasi-identifier", "illness": "sensitive"}
    visitor.tag(**{column: "quasi-identifier" if known_alone else role for column, role in roles.items()})
    lesson = learn.BY_NAME[name]
    stepped(visitor, name, len(lesson.steps) - 1).press("Try this on your own table")
    asked = visitor.here.wishes
    assert [column.method for column in asked.columns] == lesson.methods
    assert dict(asked.levels) == lesson.levels
    assert any(button.label == "Publish …" for button in visitor.at.button)
