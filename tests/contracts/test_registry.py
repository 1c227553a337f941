"""What every registered algorithm and requirement brings along. A failure tells its author what is missing."""

from __future__ import annotations

import inspect
import typing
from typing import Any

import numpy as np
import pandas as pd
import pytest
from pydantic import ValidationError
from pydantic.fields import FieldInfo

from anoncore import DataError, InfeasibleError, Microdata, ParameterError, Partition, Release, privacy
from anoncore.algorithms import ALGORITHMS, Algorithm
from anoncore.base.model import Model, Registry
from anoncore.release.openness import Openness
from anoncore.requirements import REQUIREMENTS, Comparison, Requirement
from dashboard.elements.entries import Docstring
from tests.contracts.source import python_files
from tests.properties.published import content, rows
from tests.properties.subjects import build, subjects

SUBJECTS = "tests/properties/subjects.py"
REGISTRIES: tuple[Registry[Any], ...] = (ALGORITHMS, REQUIREMENTS)
MODELS = [pytest.param(model, id=name) for registry in REGISTRIES for name, model in registry.items()]
FIELDS = [
    pytest.param(model, field, id=f"{name}-{field}")
    for registry in REGISTRIES
    for name, model in registry.items()
    for field in model.model_fields
]
TESTED = "\n".join(
    path.read_text(encoding="utf-8")
    for path in python_files("tests")
    if path.name.startswith("test_") and path.parent.name not in ("contracts", "properties")
)


def example(model: type[Model]) -> Model:
    """The model with its defaults; a required number just above its lower bound."""
    required = {name: info for name, info in model.model_fields.items() if info.is_required()}
    return model(**{name: (lower_bound(info) or 0) + 1 for name, info in required.items()})


def is_numeric(info: FieldInfo) -> bool:
    parts = typing.get_args(info.annotation) or (info.annotation,)
    return bool({int, float} & set(parts))


def lower_bound(info: FieldInfo) -> float | None:
    for rule in info.metadata:
        for name in ("ge", "gt"):
            if getattr(rule, name, None) is not None:
                return getattr(rule, name)
    return None


def upper_bound(info: FieldInfo) -> float | None:
    for rule in info.metadata:
        for name in ("le", "lt"):
            if getattr(rule, name, None) is not None:
                return getattr(rule, name)
    return None


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


@pytest.mark.parametrize(("model", "field"), FIELDS)
def test_a_form_can_be_made_of_its_fields(model, field):
    info = model.model_fields[field]
    where = f"{model.__name__}.{field}"
    assert info.title, f"{where} needs Field(title=...)."
    assert info.description, f"{where} needs Field(description=...), one line of help."
    assert info.description.endswith("."), f"The description of {where} is a sentence."
    if is_numeric(info):
        assert lower_bound(info) is not None, f"{where} is a number and needs Field(ge=...) or Field(gt=...)."


@pytest.mark.parametrize(("model", "field"), FIELDS)
def test_values_outside_a_fields_range_are_refused_by_name(model, field):
    info = model.model_fields[field]
    bad: list[object] = [object()]
    low, high = lower_bound(info), upper_bound(info)
    bad += [low - 1] if low is not None else []
    bad += [high + 1] if high is not None else []
    bad += ["not a number", float("nan")] if is_numeric(info) else []
    for value in bad:
        with pytest.raises(ParameterError, match=rf"^{model.title.replace('(', '.').replace(')', '.')}: .*\b{field}\b"):
            example(model).replace(**{field: value})


@pytest.mark.parametrize("model", MODELS)
def test_what_it_writes_builds_it_again(model):
    written = example(model).to_dict()
    assert written["name"] == model.name
    assert registered(model).build(written) == example(model)
    for name, info in model.model_fields.items():
        if is_numeric(info):
            low, high = lower_bound(info) or 0, upper_bound(info)
            # A whole number where there is room for one, because some fields take no other.
            other = low + 1 if high is None or low + 1 < high else (low + high) / 2
            changed = example(model).replace(**{name: other})
            assert registered(model).build(changed.to_dict()) == changed


@pytest.mark.parametrize(("name", "parameters"), subjects())
def test_variants_survive_serialization_too(name, parameters):
    algorithm = build(name, parameters)
    assert ALGORITHMS.build(algorithm.to_dict()) == algorithm


@pytest.mark.parametrize("model", MODELS)
def test_it_is_frozen(model):
    frozen = example(model)
    for field in model.model_fields:
        with pytest.raises(ValidationError):
            setattr(frozen, field, getattr(frozen, field))


def people() -> pd.DataFrame:
    """Thirty people in a made-up order, with a missing cell in every column."""
    rng = np.random.default_rng(4)
    n = 30
    frame = pd.DataFrame(
        {
            "who": [f"who-{row}" for row in range(n)],
            "age": pd.array(rng.integers(20, 60, n), dtype="Int64"),
            "town": rng.choice(["Ulm", "Bonn", "Köln, Süd"], n),
            "pay": np.arange(n) % 6 * 100.0,
            "note": rng.choice(["x", "y"], n),
        },
        index=rng.integers(0, 5, n),
    )
    for place, name in enumerate(frame.columns):
        frame.iloc[place, place] = None if name != "age" else pd.NA
    return frame


ROLES = {
    "who": "identifier",
    "age": "quasi-identifier",
    "town": "quasi-identifier",
    "pay": "sensitive",
    "note": "insensitive",
}


@pytest.mark.parametrize("name", REQUIREMENTS)
def test_a_requirement_judges_groups(name):
    data = Microdata(people(), ROLES)
    requirement = example(REQUIREMENTS[name])
    assert isinstance(requirement, Requirement)
    assert isinstance(requirement.comparison, Comparison)
    assert requirement.parameter in type(requirement).model_fields
    assert requirement.title in requirement.label()
    partition = Partition(np.arange(data.n_rows) % 4)
    for check in requirement.checks(data):
        levels = check.levels(partition)
        assert levels.shape == (4,)
        assert np.isfinite(levels).all() or name == "recursive-diversity"
        assert check.holds(levels).dtype == bool


NOT_BY_GROUP = {
    "pram": "changes values by chance, which is measured and not promised",
    "random-buckets": "hides membership, which is measured and not promised",
    "slicing": "promises about people, who match several buckets, and checks that itself",
}


@pytest.mark.parametrize(("name", "parameters"), subjects())
def test_an_algorithm_makes_a_release_that_may_be_published(name, parameters):
    frame = people()
    data, algorithm = Microdata(frame, ROLES), build(name, parameters)
    reports: list[tuple[float, str]] = []
    try:
        release = algorithm.anonymize(data, progress=lambda share, text: reports.append((share, text)))
    except (DataError, InfeasibleError) as error:
        pytest.fail(f"{error} Choose parameters for '{name}' that suit 30 rows, in PARAMETERS of {SUBJECTS}.")
    assert isinstance(release, Release)
    assert release.algorithm == algorithm
    assert privacy.check(release, algorithm.promises(data)) == ()
    personal = () if algorithm.judged_by_groups else privacy.personal_guarantees(release)
    assert algorithm.promises(data) or name in NOT_BY_GROUP or personal, (
        f"{name} promises nothing, so that nothing is checked."
    )
    assert all(promise.holds for promise in personal)
    assert [share for share, _ in reports] == sorted(share for share, _ in reports)
    assert all(text for _, text in reports)
    assert reports[-1][0] == 1
    tables = release.tables()
    assert {column for table in tables.values() for column in table.columns} >= set(release.attributes)
    for table in tables.values():
        assert len(table) == len(frame)
        assert "who" not in table.columns
        assert not any("who-" in cell for row in rows(table) for cell in row)
    assert set(release.attributes) == {"age", "town", "pay", "note"}


@pytest.mark.slow
@pytest.mark.parametrize(("name", "parameters"), subjects())
def test_an_algorithm_publishes_nothing_of_the_original_order(name, parameters):
    frame = people()
    algorithm = build(name, parameters)
    release = algorithm.anonymize(Microdata(frame, ROLES))
    turned = algorithm.anonymize(Microdata(frame.iloc[::-1], ROLES))
    assert content(release) == content(turned)
