"""Every number that is told of a release stands once in the registry; every reader gets the same words and value."""

from __future__ import annotations

import inspect
import pkgutil
import re
from collections.abc import Iterator, Mapping
from dataclasses import fields, replace
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd
import pytest

import anoncore
from anoncore import AnonymizationError, Microdata, Release, ReleaseError, attacks, privacy, utility
from anoncore.algorithms import ALGORITHMS, Anatomy, LocalRecoding, Mondrian, RandomBuckets, VerticalFragmentation
from anoncore.algorithms.vertical.changes import class_changes
from anoncore.base.number import ALSO_SYNTHETIC, Number
from anoncore.base.score import Score
from anoncore.measures.criteria import CRITERIA, NUMBERS, evaluate, scores_in
from anoncore.measures.evaluation import MEASURES, MEASURES_OF_SEVERAL, Measure
from anoncore.release.form import form_of
from anoncore.requirements import REQUIREMENTS, KAnonymity
from anoncore.utility.loss import INFORMATION_LOSS

WHERE = "the @measure of its function"
REQUIRED = [{"name": "k-anonymity", "k": 2}]
ARGUMENTS: dict[str, Any] = {
    "attribute": "illness",
    "group": 0,
    "k": 2,
    "requirements": REQUIRED,
    "row": 0,
    "target": "pay",
}
"""What measures are asked with on the sample releases where an argument has no default."""
SHORT = {"folds": 2, "repeats": 1}
QUICK: dict[str, dict[str, Any]] = {"utility.classification": SHORT, "utility.classification_estimate": SHORT}
"""Further arguments with which the work is short."""
WORDS = [field.name for field in fields(Number)]


@cache
def releases() -> dict[str, Release]:
    """One release of every form, of a table of 120 people with an ordered and a nominal sensitive attribute."""
    rng = np.random.default_rng(5)
    n = 120
    frame = pd.DataFrame(
        {
            "age": rng.integers(20, 50, n),
            "town": rng.choice(list("ABC"), n),
            "sex": rng.choice(["f", "m"], n),
            "illness": rng.choice(["flu", "cold", "ulcer", "gout"], n),
            "pay": rng.integers(1, 6, n),
        }
    )
    roles = dict.fromkeys(["age", "town", "sex"], "quasi-identifier") | {"illness": "sensitive"}
    data = Microdata(frame, {**roles, "*": "insensitive"})
    columns = (("age", "town", "pay"), ("sex", "illness"))
    return {
        "generalization": Mondrian(requirements=[KAnonymity(k=5)]).anonymize(data),
        "bucketization": Anatomy(l=2, seed=1).anonymize(data),
        "slicing": RandomBuckets(size=12, attribute_columns=columns, seed=1).anonymize(data),
        "own partitions": VerticalFragmentation(k=3, class_attribute="illness", seed=1).anonymize(data),
        "synthetic": Release.from_published(
            frame.assign(age=frame["age"].iloc[::-1].to_numpy()).head(90), original=data, rows="synthetic"
        ),
    }


def asked(name: str, release: Release, extra: Mapping[str, Any] | None = None) -> object:
    """The result of a measure on a release, or the error that says why it has none."""
    parameters = list(inspect.signature(MEASURES[name]).parameters.values())[1:]
    needed = [one.name for one in parameters if one.default is one.empty]
    arguments = {name: ARGUMENTS[name] for name in needed if name in ARGUMENTS} | QUICK.get(name, {})
    arguments |= extra or {}
    try:
        return Measure(name, arguments).evaluate(release)
    except AnonymizationError as error:
        return error


@cache
def told() -> dict[str, list[tuple[str, Score]]]:
    """Every score of every public function, by form of the release: the function's name and the score."""
    found: dict[str, list[tuple[str, Score]]] = {}
    for form, release in releases().items():
        found[form] = [(name, score) for name in MEASURES for score in scores_in(asked(name, release))]
        if form != "synthetic":
            together = attacks.composition([release, releases()["generalization"]], "illness")
            found[form] += [("attacks.composition", score) for score in scores_in(together)]
        if form == "generalization":
            recoded = LocalRecoding(requirements=[KAnonymity(k=5)]).anonymize(release.data)
            scores = scores_in(attacks.refinement(recoded, "illness"))
            found[form] += [("attacks.refinement", score) for score in scores]
        if form == "own partitions":
            name = "algorithms.class_changes"
            found[form] += [(name, score) for score in scores_in(class_changes(release))]
    return found


def fault(number: Number) -> str:
    """What is wrong with a number that a function tells; empty where the registry has it with the same words."""
    known = NUMBERS.get(number.name)
    if known is None:
        return f"{number.name} ({number.title!r}) is no registered number; add its entry to {WHERE}."
    for word in WORDS:
        if getattr(known, word) != getattr(number, word):
            mine, theirs = getattr(number, word), getattr(known, word)
            return f"{number.name} has a second {word}: {mine!r}, but the registry says {theirs!r}."
    return ""


def declared() -> Iterator[tuple[str, Number]]:
    """Every number that a module of anoncore declares, with the module's name; one without a name is no number yet."""
    for module in pkgutil.walk_packages(anoncore.__path__, "anoncore."):
        if module.name.startswith("anoncore.engines") or module.name.endswith("__main__"):
            continue
        for value in vars(import_module(module.name)).values():
            if isinstance(value, Number) and value.name:
                yield module.name, value


def test_the_samples_have_every_form() -> None:
    assert {form: form_of(release) for form, release in releases().items()} == {form: form for form in ALSO_SYNTHETIC}


OF_RECORDS = {
    "attacks.inference",
    "attacks.linkability",
    "attacks.memorization",
    "attacks.singling_out",
    "attacks.strongest",
    "privacy.personal_guarantees",
    "utility.association_error",
    "utility.classification",
    "utility.classification_estimate",
    "utility.query_error",
    "utility.two_way_error",
}
"""Measures that need no row to be a person's."""


@pytest.mark.parametrize("name", MEASURES)
def test_a_measure_of_people_says_why_it_refuses_rows_that_are_nobodys(name: str) -> None:
    extra = {"requirements": REQUIRED} if name == "privacy.guarantees" else {}
    found = asked(name, releases()["synthetic"], extra)
    if name in OF_RECORDS:
        assert not isinstance(found, AnonymizationError), found
    else:
        assert isinstance(found, ReleaseError)
        assert "and the rows of this table are nobody's: it is synthetic. What it gives away is measured by" in str(
            found
        )


def _as_taken(name: str, several: list[Release]) -> list[Release] | dict[str, Release]:
    """Releases as a measure takes them: one after the other, or by the names of their tables."""
    annotation = str(inspect.signature(MEASURES_OF_SEVERAL[name]).parameters["releases"].annotation)
    return {str(place): one for place, one in enumerate(several)} if annotation.startswith("Mapping") else several


@pytest.mark.parametrize("name", MEASURES_OF_SEVERAL)
def test_a_measure_of_several_releases_refuses_rows_that_are_nobodys(name: str) -> None:
    both = [releases()["generalization"], releases()["synthetic"]]
    with pytest.raises(ReleaseError, match="nobody's"):
        MEASURES_OF_SEVERAL[name](_as_taken(name, both), "illness")


@pytest.mark.slow
@pytest.mark.parametrize("form", ALSO_SYNTHETIC)
def test_every_score_of_every_function_is_registered_with_the_same_words(form: str) -> None:
    faults = [f"{name}: {text}" for name, score in told()[form] if (text := fault(score.entry))]
    assert not faults, "\n".join(faults)


def test_every_number_that_is_declared_is_registered_with_the_same_words() -> None:
    faults = sorted({f"{module}: {text}" for module, number in declared() if (text := fault(number))})
    assert not faults, "\n".join(faults)


def test_a_number_that_lacks_its_entry_or_has_another_title_is_named() -> None:
    unknown = fault(replace(INFORMATION_LOSS, name="beauty", title="Beauty"))
    assert unknown.startswith(
        "beauty ('Beauty') is no registered number; add its entry to the @measure of its function"
    )
    second = fault(replace(INFORMATION_LOSS, title="Loss"))
    assert second == "information-loss has a second title: 'Loss', but the registry says 'Information loss'."
    turned = fault(replace(INFORMATION_LOSS, higher_is_better=True))
    assert turned == "information-loss has a second higher_is_better: True, but the registry says False."


@pytest.mark.slow
def test_every_entry_is_told_by_its_function_for_each_form_that_it_names() -> None:
    seen = {(form, name, score.name) for form, scores in told().items() for name, score in scores}
    measured = {
        (form, CRITERIA[name].measured_by, name)
        for form, release in releases().items()
        for name, value in evaluate(release).items()
        if isinstance(value, float)
    }
    for number in NUMBERS.values():
        if number.name in ("t-ordered", "t-interval", "t-hierarchical"):
            continue  # of attributes with an order, numbers or a hierarchy; tests/privacy/test_profile.py has both
        if number.name in ("found-by-intervals", "found-by-shifted-date"):
            continue  # of tables whose dates were shifted; tests/attacks/test_shifted_dates.py has them in every form
        forms = {
            form for form, name, told_as in seen | measured if (name, told_as) == (number.measured_by, number.name)
        }
        stated = set(number.release_forms)
        assert forms == stated, f"{number.name}: {sorted(forms)} have it, its entry says {sorted(stated)}."


@pytest.mark.parametrize("form", ALSO_SYNTHETIC)
def test_a_criterion_and_a_score_of_one_name_are_one_number(form: str) -> None:
    numbers = evaluate(releases()[form], attribute="illness")
    for name, score in told()[form]:
        value = numbers.get(score.name)
        usual = CRITERIA[score.name].measured_by == name if score.name in CRITERIA else False
        if usual and isinstance(value, float):
            assert value == pytest.approx(float(score)), f"{score.name} is {value} as a criterion, {score} as a score."


@pytest.mark.parametrize("form", ALSO_SYNTHETIC)
def test_a_score_lies_in_its_bounds_and_has_the_baseline_that_its_entry_tells(form: str) -> None:
    for name, score in told()[form]:
        value, what = float(score), f"{name}: {score.name} is {float(score)}"
        for low, high in (score.bounds, score.entry.bounds):
            assert np.isnan(value) or low is None or value >= low - 1e-9, f"{what}, below {low}."
            assert np.isnan(value) or high is None or value <= high + 1e-9, f"{what}, above {high}."
        assert (score.baseline is not None) == bool(score.entry.baseline), f"{what}; its entry tells no such baseline."
        assert "{" not in score.meaning


@pytest.mark.parametrize("name", NUMBERS)
def test_an_entry_says_everything(name: str) -> None:
    number = NUMBERS[name]
    assert number.name == name
    assert re.fullmatch(r"[a-z]+(-[a-z]+)*", name)
    assert number.meaning.endswith("."), f"The meaning of {name} is a sentence."
    told_baseline = f"The baseline is {number.baseline}"
    assert not number.baseline or re.fullmatch(r"The baseline is [0-9a-z].+\.", told_baseline), (
        f"{told_baseline!r} is no sentence; write the rest of it as the baseline of {name}."
    )
    assert number.title[:1].isupper() or number.title.startswith("t ("), f"The title of {name} begins with a capital."
    assert number.source
    assert number.release_forms
    assert (number.higher_is_better is not None) or name not in CRITERIA, f"{name} needs a direction to be compared by."
    known = {*MEASURES, *MEASURES_OF_SEVERAL, *REQUIREMENTS, *ALGORITHMS}
    assert (number.documented_by or number.measured_by) in known, f"The reference has no page that explains {name}."


@pytest.mark.parametrize("package", [privacy, utility, attacks], ids=lambda package: package.__name__)
def test_every_public_function_of_releases_is_registered(package: ModuleType) -> None:
    registered = {inspect.unwrap(function) for function in (*MEASURES.values(), *MEASURES_OF_SEVERAL.values())}
    for name in package.__all__:
        function = getattr(package, name)
        if inspect.isfunction(function) and next(iter(inspect.signature(function).parameters), "").startswith(
            "release"
        ):
            assert inspect.unwrap(function) in registered, f"{name} lacks its @measure; see CONTRIBUTING.md."


def test_no_two_numbers_have_one_title() -> None:
    titles = [number.title for number in NUMBERS.values()]
    assert sorted(set(titles)) == sorted(titles)
