import copy
import pickle
from dataclasses import replace
from typing import Annotated, ClassVar, Literal

import pytest
from pydantic import Field, ValidationError

from anoncore import ParameterError
from anoncore.algorithms import ALGORITHMS, Anatomy
from anoncore.algorithms.base import Algorithm, Requirements
from anoncore.base.model import Model, Registry
from anoncore.base.number import Number
from anoncore.base.score import Score
from anoncore.requirements import REQUIREMENTS, FrequencyDiversity, KAnonymity, TCloseness, VarianceDiversity


class Example(Model):
    """A model with a field of every form."""

    name: ClassVar[str] = "example"
    title: ClassVar[str] = "Example"
    source: ClassVar[str] = "made up"

    size: Annotated[int, Field(ge=1, title="Size", description="A size.")]
    share: Annotated[float, Field(gt=0, le=1, title="Share", description="A share.")] = 0.5
    mode: Annotated[Literal["a", "b"], Field(title="Mode", description="A mode.")] = "a"
    columns: Annotated[tuple[tuple[str, ...], ...], Field(max_length=2, title="Columns", description="Columns.")] = ()
    limits: Annotated[dict[str, float], Field(title="Limits", description="Limits.")] = Field(default_factory=dict)
    requirements: Requirements = (KAnonymity(k=2),)


EXAMPLES = Registry("example", Model)
EXAMPLES.register(Example, Model, 3)


def test_fields_may_be_given_by_place_or_name():
    assert KAnonymity(7) == KAnonymity(k=7)
    assert TCloseness(0.1, "ordered").ground == "ordered"


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: KAnonymity(k=0), "k-anonymity: k should be greater than or equal to 1, not 0."),
        (lambda: KAnonymity(k="x"), "k-anonymity: k should be a valid integer, unable to parse .*, not 'x'."),
        (lambda: KAnonymity(k=2.5), "k-anonymity: k should be a valid integer, got .* fractional part, not 2.5."),
        (lambda: KAnonymity(k=None), "k-anonymity: k should be a valid integer, not None."),
        (lambda: KAnonymity(size=3), "k-anonymity: there is no field size; there is k."),
        (lambda: KAnonymity(1, 2), "k-anonymity takes at most 1 values: k."),
        (lambda: KAnonymity(1, k=2), "k-anonymity: k is given twice."),
        (lambda: VarianceDiversity(), "variance diversity: v is missing."),
        (lambda: FrequencyDiversity(l=float("nan")), "l should be a finite number, not nan."),
        (lambda: FrequencyDiversity(l=float("inf")), "l should be a finite number, not inf."),
        (
            lambda: TCloseness(ground="sorted"),
            "ground should be 'ordered', 'interval', 'equal' or 'hierarchical', not 'sorted'.",
        ),
        (lambda: Example(1, columns=((), (), ())), "Example: columns: Tuple should have at most 2 items .* not 3."),
        (lambda: Example(1, requirements=[3]), "requirements.0 should be .* Requirement, not 3."),
        (lambda: Example(1, requirements=[{"name": "k"}]), "Example: There is no requirement 'k'; there is '"),
        (lambda: Example(1, requirements=[{"k": 3}]), "Example: The requirement lacks a name; there is '"),
        (lambda: Example(1, requirements=[{"name": "k-anonymity", "k": 0}]), "k-anonymity: k should be greater"),
        (lambda: KAnonymity(k=2).replace(k=-1), "k should be greater than or equal to 1, not -1."),
    ],
)
def test_a_bad_field_gets_one_sentence(make, sentence):
    with pytest.raises(ParameterError, match=sentence):
        make()


def test_models_are_frozen_values():
    requirement = KAnonymity(k=3)
    with pytest.raises(ValidationError):
        requirement.k = 4
    assert requirement == KAnonymity(k=3)
    assert hash(requirement) == hash(KAnonymity(k=3))
    assert requirement.replace(k=4) == KAnonymity(k=4)
    assert requirement.k == 3


def test_a_model_serializes_what_differs_from_its_defaults():
    assert KAnonymity().to_dict() == {"name": "k-anonymity"}
    assert Anatomy(l=3).to_dict() == {"name": "anatomy", "l": 3}
    assert VarianceDiversity(v=2).to_dict() == {"name": "variance-diversity", "v": 2}


@pytest.mark.parametrize(
    "model",
    [
        Example(1),
        Example(
            size=2,
            share=0.25,
            mode="b",
            columns=(("a", "b"), ("c",)),
            limits={"a": 0.5},
            requirements=(KAnonymity(k=3), TCloseness(t=0.1, ground="ordered", attribute="s")),
        ),
        Example(size=1, requirements=KAnonymity(k=9)),
    ],
)
def test_what_a_model_writes_builds_it_again(model):
    values = model.to_dict()
    assert EXAMPLES.build(values) == model
    assert pickle.loads(pickle.dumps(model)) == model


def test_plain_values_hold_no_models_or_tuples():
    values = Example(2, columns=(("a",),), requirements=(KAnonymity(k=3),)).to_dict()
    assert values == {
        "name": "example",
        "size": 2,
        "columns": [["a"]],
        "requirements": [{"name": "k-anonymity", "k": 3}],
    }


def test_a_registry_knows_its_models_by_name():
    assert list(EXAMPLES) == ["example"]
    assert EXAMPLES["example"] is Example
    assert "example" in EXAMPLES
    assert "other" not in EXAMPLES
    assert len(EXAMPLES) == 1
    with pytest.raises(ParameterError, match="There is no example 'x'; there is 'example'"):
        EXAMPLES["x"]
    with pytest.raises(ParameterError, match="There is no algorithm 'magic'; there is"):
        ALGORITHMS.build({"name": "magic"})
    assert Algorithm not in ALGORITHMS.values()
    assert REQUIREMENTS["k-anonymity"] is KAnonymity


LOSS = Number(
    name="loss",
    title="Loss",
    template="How much of a {group} is lost.",
    family="cost",
    source="made up",
    unit="share",
    higher_is_better=False,
    bounds=(0, 1),
)


def test_a_score_is_a_number_that_knows_what_it_means():
    score = Score(0.25, LOSS)
    assert score + 1 == 1.25
    assert (score.name, score.title, score.unit, score.bounds) == ("loss", "Loss", "share", (0, 1))
    assert (score.higher_is_better, score.baseline, score.meaning) == (False, None, "How much of a group is lost.")


def test_a_release_narrows_what_a_score_says():
    score = Score(4.0, LOSS, bounds=(1, 9), unit="rows", words={"group": "bucket {l}"})
    assert (score.bounds, score.unit, score.meaning) == ((1, 9), "rows", "How much of a bucket {l} is lost.")
    assert LOSS.meaning == "How much of a group is lost."


def test_a_meaning_has_only_words_that_are_known_without_a_release():
    with pytest.raises(ValueError, match=r"loss has no usual word for beauty"):
        replace(LOSS, template="How much {beauty} a {group} has.")


class Breakdown(Score):
    """A score with parts."""

    parts: dict[str, float]


def test_a_score_survives_copies_and_caches():
    score = Breakdown(0.5, LOSS, baseline=0.75, words={"group": "bucket"}, parts={"a": 0.5})
    for again in (copy.copy(score), copy.deepcopy(score), pickle.loads(pickle.dumps(score))):
        assert again == score
        assert type(again) is Breakdown
        assert vars(again) == vars(score)


def test_a_model_that_is_defined_again_takes_the_place_of_the_earlier():
    registry = Registry("example", Model)
    registry.register(Example)
    again = type("Example", (Example,), {"__module__": Example.__module__, "__qualname__": Example.__qualname__})
    registry.register(again)
    assert registry["example"] is again
    assert list(registry) == ["example"]


def test_two_models_of_one_name_are_refused():
    registry = Registry("example", Model)
    registry.register(Example)
    other = type("Other", (Example,), {"__module__": "elsewhere"})
    with pytest.raises(ParameterError, match=r"The name 'example' of elsewhere\.Other is that of .*Example; give it"):
        registry.register(other)
    assert registry["example"] is Example
