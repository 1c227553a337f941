"""What every registered algorithm and requirement brings along. A failure tells its author what is missing."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

from anoncore import Microdata, Partition, extend
from anoncore.algorithms import ALGORITHMS, Algorithm
from anoncore.base.model import Model, Registry
from anoncore.front.contract import ROLES, people
from anoncore.release.openness import Openness
from anoncore.requirements import REQUIREMENTS
from dashboard.elements.about import Docstring
from tests.contracts.source import python_files
from tests.properties.subjects import EVERYWHERE, build, subjects

REGISTRIES: tuple[Registry[Any], ...] = (ALGORITHMS, REQUIREMENTS)
MODELS = [pytest.param(model, id=name) for registry in REGISTRIES for name, model in registry.items()]
TESTED = "\n".join(
    path.read_text(encoding="utf-8")
    for path in python_files("tests")
    if path.name.startswith("test_") and path.parent.name not in ("contracts", "properties")
)


def registered(model: type[Model]) -> Registry[Any]:
    return ALGORITHMS if issubclass(model, Algorithm) else REQUIREMENTS


@pytest.mark.parametrize("model", MODELS)
def test_it_says_what_it_is_and_where_it_comes_from(model):
    own = inspect.cleandoc(model.__dict__.get("__doc__") or "")
    assert len(own.splitlines()) >= 2, f"{model.__name__} needs a docstring of its own."
    references = Docstring.of(own).sections.get("References")
    assert references, f"The docstring of {model.__name__} needs References, with paper and section."
    assert model.source, f"{model.__name__}.source names where the method is defined."
    assert model.title, f"{model.__name__}.title is its name for people."
    assert model.name == model.name.lower().replace(" ", "-").replace("_", "-")
    assert registered(model)[model.name] is model
    if issubclass(model, Algorithm):
        assert model.summary.endswith("."), f"{model.__name__}.summary is one plain sentence for people who choose."
        assert model.family
        assert model.group_word


@pytest.mark.parametrize("name", ALGORITHMS)
def test_a_method_says_whether_it_is_open_to_readers_who_know_it(name):
    model = ALGORITHMS[name]
    assert "minimality" in vars(model), (
        f"{model.__name__} needs minimality: whether its groups depend on who has which sensitive value, and why."
    )
    assert isinstance(model.minimality.openness, Openness)
    assert len(model.minimality.reason.split()) >= 15, f"{model.__name__}.minimality says why, in whole sentences."
    assert model.minimality.reason.endswith(".")


@pytest.mark.parametrize("model", MODELS)
def test_a_test_file_mentions_it(model):
    assert model.__name__ in TESTED, f"No file tests/**/test_*.py mentions {model.__name__}; add its test."


@pytest.mark.parametrize("name", REQUIREMENTS)
def test_a_requirement_passes_the_public_contract(name):
    extend.check(REQUIREMENTS[name])


@pytest.mark.parametrize("name", [name for name in REQUIREMENTS if name != "recursive-diversity"])
def test_the_levels_of_a_requirement_are_finite_in_groups_of_seven(name):
    data, model = Microdata(people(), ROLES), REQUIREMENTS[name]
    required = {field: 1 for field, info in model.model_fields.items() if info.is_required()}
    for condition in model(**required).checks(data):
        assert np.isfinite(condition.levels(Partition(np.arange(data.n_rows) % 4))).all()


def first_quick() -> list[Any]:
    """The subjects, of which only the first of each method is quick."""
    names = [subject.values[0] for subject in subjects()]
    return [
        pytest.param(*subject.values, id=subject.id, marks=[pytest.mark.slow] if name in names[:place] else [])
        for place, (name, subject) in enumerate(zip(names, subjects(), strict=True))
    ]


@pytest.mark.parametrize(("name", "parameters"), first_quick())
def test_a_method_passes_the_public_contract(name, parameters):
    extend.check(ALGORITHMS[name], build(name, parameters))


@pytest.mark.parametrize("name", EVERYWHERE)
def test_a_method_promises_something_of_groups_or_says_why_not(name):
    (subject, *_) = [one for one in subjects() if one.values[0] == name]
    promises = build(*subject.values).promises(Microdata(people(), ROLES))
    assert promises or name in NOT_BY_GROUP, f"{name} promises nothing, so that nothing is checked."


NOT_BY_GROUP = {
    "pram": "changes values by chance, which is measured and not promised",
    "random-buckets": "hides membership, which is measured and not promised",
    "slicing": "promises about people, who match several buckets, and checks that itself",
}
