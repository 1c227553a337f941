"""Measures by name: which there are, how they are asked, what they answer."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

from anoncore import Release, privacy, utility
from anoncore.algorithms import Mondrian
from anoncore.base.errors import AnonymizationError, ParameterError
from anoncore.measures.evaluation import MEASURES, Measure
from anoncore.recipes.recipe import Recipe
from anoncore.recipes.source import Source
from anoncore.requirements import KAnonymity


@pytest.fixture(scope="module")
def release() -> Release:
    algorithm = Mondrian(requirements=[KAnonymity(k=10)])
    return Recipe(source=Source(builtin="census", rows=100), algorithm=algorithm).run().release


def test_measures_are_those_that_read_a_release() -> None:
    assert {"privacy.emd", "privacy.profile", "utility.information_loss", "utility.discernibility"} <= set(MEASURES)
    assert not any("." in name.partition(".")[2] or name.startswith("_") for name in MEASURES)


def required(name: str) -> list[str]:
    """Arguments that a measure cannot do without, besides the release."""
    parameters = list(inspect.signature(MEASURES[name]).parameters.values())[1:]
    return [one.name for one in parameters if one.default is one.empty]


OF_AN_ATTRIBUTE = [(name, *required(name)) for name in MEASURES if required(name) in (["attribute"], ["target"])]


@pytest.mark.parametrize(("name", "key"), OF_AN_ATTRIBUTE)
def test_every_measure_says_in_a_sentence_that_an_attribute_is_not_there(name: str, key: str, release: Release) -> None:
    with pytest.raises(AnonymizationError, match=r"nope.*nope") as caught:
        Measure(name, {key: "nope"}).evaluate(release)
    assert "\n" not in str(caught.value)


def test_a_measure_that_fails_says_which_one(release: Release) -> None:
    with pytest.raises(AnonymizationError, match=r"^utility\.rmse\(target='shoe'\): "):
        Measure("utility.rmse", {"target": "shoe"}).evaluate(release)


def test_answers_are_those_of_the_function(release: Release) -> None:
    asked = Measure("privacy.emd", {"attribute": "diagnosis", "ground": "equal"})
    np.testing.assert_array_equal(asked.evaluate(release), privacy.emd(release, "diagnosis", ground="equal"))
    assert asked.label == "privacy.emd(attribute='diagnosis', ground='equal')"
    assert Measure("utility.discernibility").evaluate(release) == utility.discernibility(release)


def test_requirements_are_given_as_they_are_written(release: Release) -> None:
    smallest = int(release.partition.sizes.min())
    asked = [{"name": "k-anonymity", "k": smallest + 1}]
    found = Measure("privacy.check", {"requirements": asked}).evaluate(release)
    assert found == privacy.check(release, [KAnonymity(k=smallest + 1)])
    assert len(found) == int((release.partition.sizes == smallest).sum())


def test_progress_goes_to_the_measures_that_report_it(release: Release) -> None:
    told: list[float] = []
    measure = Measure("utility.classification", {"target": "sex", "folds": 2, "repeats": 1})
    measure.evaluate(release, lambda fraction, _text: told.append(fraction))
    assert told
    assert all(0 <= fraction <= 1 for fraction in told)
    assert Measure("utility.discernibility").evaluate(release, lambda *_: told.clear())
    assert told


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("utility.gone", {}, "There is no measure 'utility.gone'; there is "),
        ("privacy.emd", {}, "privacy.emd needs 'attribute'"),
        ("privacy.emd", {"attribute": "a", "rows": 2}, "privacy.emd takes no 'rows'; it takes 'attribute'"),
        ("privacy.emd", {"attribute": "a", "ground": "far"}, "privacy.emd: ground should be 'ordered'.*, not 'far'"),
        ("privacy.check", {"requirements": [{"name": "gone"}]}, "no requirement 'gone'"),
        ("utility.query_error", {"n_queries": "many"}, "utility.query_error: n_queries should be a valid integer"),
    ],
)
def test_wrong_arguments_are_refused_before_there_is_a_release(name: str, arguments: Any, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        Measure(name, arguments)
