"""What is registered is found by name, and whatever is wrong with a method of one's own is said in a sentence."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Annotated, Any

import numpy as np
import pandas as pd
import pytest
from pydantic import Field

from anoncore import Exact, Fragment, Microdata, ParameterError, Partition, Recipe, Release, ReleaseError, extend
from anoncore.algorithms import ALGORITHMS, Algorithm, Slicing, Suppression
from anoncore.algorithms.base import generalized_release
from anoncore.base import Number, Score
from anoncore.base import number as registry
from anoncore.measures import CRITERIA, MEASURES, NUMBERS, evaluate
from anoncore.publishing import Certificate, new_key, release_files, verify
from anoncore.release.openness import Openness
from anoncore.requirements import REQUIREMENTS, Comparison, KAnonymity, Requirement

DATA = Microdata(
    pd.DataFrame({"age": [20, 21, 40, 41], "disease": ["flu", "gout", "flu", "gout"]}),
    {"age": "quasi-identifier", "disease": "sensitive"},
)


@pytest.fixture(autouse=True)
def registries_as_before(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Whatever a test registers is forgotten after it."""
    for models in (ALGORITHMS, REQUIREMENTS):
        monkeypatch.setattr(models, "_models", dict(models._models))
    before = dict(registry.REGISTERED)
    yield
    registry.REGISTERED.clear()
    registry.REGISTERED.update(before)


def one_class(method: Algorithm, data: Microdata) -> Release:
    return generalized_release(method, data, Partition(np.zeros(data.n_rows, dtype=np.int32)))


class OneClass(Algorithm):
    """Everybody in one class."""

    name = "one-class"
    source = "nobody, 2026"
    summary = "Puts everybody into one class."

    k: Annotated[int, Field(ge=1, title="k", description="Fewest rows in a class.")] = 2

    def promises(self, data: Microdata) -> tuple[Requirement, ...]:
        return (KAnonymity(k=self.k),)

    def _release(self, data: Microdata, progress: Any) -> Release:
        return one_class(self, data)


def test_a_method_is_known_by_name_once_it_is_registered() -> None:
    assert "one-class" not in ALGORITHMS
    assert extend.register(OneClass) is OneClass
    assert ALGORITHMS.build({"name": "one-class", "k": 3}) == OneClass(k=3)
    extend.check(OneClass)
    inside = Suppression(method={"name": "one-class", "k": 2})  # type: ignore[arg-type]  # as a recipe holds it
    assert inside.method == OneClass(k=2)


def test_what_a_method_does_not_say_of_itself_has_a_safe_default() -> None:
    assert OneClass.title == "One class"
    assert OneClass.minimality.openness is Openness.OPEN
    assert "One class" in repr(OneClass().anonymize(DATA))


def test_a_recipe_of_it_is_read_again_where_it_is_registered(tmp_path: Any) -> None:
    pd.DataFrame({"age": [20, 21, 40, 41]}).to_csv(tmp_path / "people.csv", index=False)
    extend.register(OneClass)
    data = Microdata(pd.DataFrame({"age": [20, 21, 40, 41]}), {"age": "quasi-identifier"})
    Recipe.of(tmp_path / "people.csv", data, OneClass(k=4)).save(tmp_path / "recipe.toml")
    assert Recipe.load(tmp_path / "recipe.toml").run().release.partition.sizes.tolist() == [4]


class Lying(OneClass):
    """Publishes other values than people have."""

    name = "lying"

    def _release(self, data: Microdata, progress: Any) -> Release:
        partition = Partition(np.zeros(data.n_rows, dtype=np.int32))
        turned = {name: Exact(data.domain[name], partition, np.roll(data.codes[name], 1)) for name in data.attributes}
        return Release(data, (Fragment("release", partition, turned),), self)


class Ordered(OneClass):
    """Depends on the order of the rows."""

    name = "ordered"

    def _release(self, data: Microdata, progress: Any) -> Release:
        return generalized_release(self, data, Partition(np.arange(data.n_rows, dtype=np.int32) // 10))


class Backwards(OneClass):
    """Tells progress that goes back."""

    name = "backwards"

    def _release(self, data: Microdata, progress: Any) -> Release:
        progress(0.5, "half")
        progress(0.1, "less")
        return one_class(self, data)


class Unchecked(OneClass):
    """Goes round the check that every release gets."""

    name = "unchecked"

    def anonymize(self, data: Microdata, progress: Any = None) -> Release:
        report = progress or (lambda share, text: None)
        report(0.0, "Starting")
        release = generalized_release(self, data, Partition.alike([data.codes["age"]]))
        report(1.0, "Done")
        return release


class Careless(OneClass):
    """Forgets help, bounds and names."""

    name = "careless"
    source = summary = ""

    size: int = 3


class Picky(OneClass):
    """Refuses everything."""

    name = "picky"

    def validate_data(self, data: Microdata) -> None:
        from anoncore import DataError

        raise DataError("No table is good enough.")


@pytest.mark.parametrize(
    ("method", "sentences"),
    [
        (Lying, ["A published cell of 'age' does not hold the value of its row."]),
        (Ordered, ["Its release depends on the order of the rows."]),
        (Unchecked, ["It breaks its promise: "]),
        (Backwards, ["Its progress goes from 0 to 1 and never back."]),
        (
            Careless,
            [
                "It lacks 'source', 'summary', which people read who choose and judge it.",
                "The field size needs Field(title=...), its name for people.",
                "The field size needs Field(description=...), a sentence of help.",
                "The field size is a number and needs Field(ge=...) or Field(gt=...).",
            ],
        ),
        (
            Picky,
            [
                "It refuses a table of thirty people (No table is good enough.); give an example to `check` that does "
                "not."
            ],
        ),
    ],
    ids=lambda value: value.__name__ if isinstance(value, type) else "",
)
def test_what_is_wrong_with_a_method_is_said(method: type[Algorithm], sentences: list[str]) -> None:
    extend.register(method)
    with pytest.raises(extend.ExtensionError) as told:
        extend.check(method)
    for problem, sentence in zip(told.value.problems, sentences, strict=False):
        assert problem == sentence or (sentence.endswith(": ") and problem.startswith(sentence))
    assert len(told.value.problems) >= len(sentences)


def test_a_method_that_is_not_registered_is_told_how_to_be() -> None:
    with pytest.raises(extend.ExtensionError, match=r"It is not registered: put @extend\.register above it"):
        extend.check(OneClass)


class AtMost(Requirement):
    """No group of more than n people, which no union of groups keeps though it says so."""

    name = "at-most"
    title = "size at most"
    source = "nobody, 2026"
    comparison = Comparison.AT_LEAST
    level = KAnonymity.level
    level_name = "rows left"
    parameter = "n"
    attribute_free = True

    n: Annotated[float, Field(ge=0, title="n", description="Rows left.")] = 1.0


def test_a_requirement_that_is_not_as_monotone_as_it_says_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    extend.register(AtMost)
    extend.check(AtMost)
    checks = AtMost.checks

    class Turned:
        """A check that fails for large groups."""

        def levels(self, partition: Partition) -> Any:
            return 20.0 - partition.sizes

        def holds(self, levels: Any) -> Any:
            return levels >= 1.0

    monkeypatch.setattr(AtMost, "checks", lambda self, data: (Turned(),))
    with pytest.raises(extend.ExtensionError, match="It says that the union of groups that satisfy it satisfies it"):
        extend.check(AtMost)
    assert checks is not None


PEOPLE_COUNTED = Number(
    name="people-counted",
    title="People counted",
    template="People of the table.",
    family="cost",
    source="nobody, 2026",
    form="count",
    higher_is_better=True,
    bounds=(0.0, 10.0),
)


def people_counted(release: Release) -> Score:
    """Count the people of the table."""
    return Score(release.data.n_rows, PEOPLE_COUNTED)


def test_a_measure_is_a_criterion_with_its_number() -> None:
    assert extend.measure(PEOPLE_COUNTED)(people_counted) is people_counted
    name = f"{__name__.partition('.')[0]}.people_counted"
    assert MEASURES[name] is people_counted
    assert list(MEASURES)[-1] == name
    assert NUMBERS["people-counted"].measured_by == name
    assert list(CRITERIA)[-1] == "people-counted"
    assert evaluate(OneClass().anonymize(DATA), ["people-counted", "k"]) == {"people-counted": 4.0, "k": 4.0}
    with pytest.raises(extend.ExtensionError) as told:
        extend.check(people_counted)
    assert told.value.problems[0] == "People counted is 30.0 for a generalization, out of its bounds."


def test_a_measure_that_fails_or_names_no_number_is_told() -> None:
    def failing(release: Release) -> Score:
        """Fail for want of columns."""
        return Score(len(release.fragments[5].attributes), PEOPLE_COUNTED)

    def unnamed(release: Release) -> Score:
        """Tell a number that nobody declared."""
        return Score(1, PEOPLE_COUNTED)

    for function, sentence in (
        (failing, "It fails for a generalization with IndexError: tuple index out of range"),
        (unnamed, "It tells people-counted, which its @measure does not name."),
    ):
        extend.register(function)
        with pytest.raises(extend.ExtensionError) as told:
            extend.check(function)
        assert sentence in told.value.problems


@pytest.mark.parametrize(
    ("thing", "sentence"),
    [
        (len, "<built-in function len>"),
        (type("Nameless", (OneClass,), {"__doc__": "Nothing."}), "Nameless needs a `name`"),
        (lambda: None, "takes nothing first"),
        (lambda table: None, "takes 'table' first"),
        (type("Mondrian", (OneClass,), {"name": "mondrian"}), "The name 'mondrian' of"),
    ],
)
def test_what_cannot_be_registered_is_refused_with_what_to_do(thing: Any, sentence: str) -> None:
    with pytest.raises(ParameterError) as told:
        extend.register(thing)
    assert sentence in str(told.value)
    assert ALGORITHMS["mondrian"].__module__ == "anoncore.algorithms.mondrian"


def test_a_number_of_another_measure_is_not_replaced() -> None:
    with pytest.raises(ParameterError, match=r"Another measure tells a number 'k'; give that of tests\.people_counted"):
        extend.measure(replace(PEOPLE_COUNTED, name="k"))(people_counted)
    assert NUMBERS["k"].title == "Smallest group"
    assert "tests.people_counted" not in MEASURES


def test_a_measure_that_answers_for_no_release_was_not_checked() -> None:
    def refusing(release: Release) -> Score:
        """Refuse everything."""
        raise ReleaseError("This is never measured.")

    extend.register(refusing)
    with pytest.raises(extend.ExtensionError, match=r"It answers for no form of release.*This is never measured\."):
        extend.check(refusing)


def test_two_functions_of_one_name_in_one_package_are_refused() -> None:
    extend.register(people_counted)
    other = type(people_counted)(people_counted.__code__, people_counted.__globals__, "people_counted")
    other.__module__ = f"{__name__.partition('.')[0]}.elsewhere"
    with pytest.raises(ParameterError, match=r"both have a measure 'tests\.people_counted'; rename one"):
        extend.register(other)


def test_a_promise_about_people_is_a_claim_where_its_method_is_not_installed() -> None:
    people = pd.DataFrame({"age": [20, 21, 22, 40, 41, 42], "sex": list("fmfmfm"), "disease": list("abcabc")})
    data = Microdata(people, {"age": "quasi-identifier", "sex": "quasi-identifier", "disease": "sensitive"})
    files = release_files(Slicing(l=2, sensitive_column_size=1).anonymize(data), "sliced", new_key())
    certificate = Certificate.loads(files.pop("sliced-certificate.json"))
    assert certificate.method is not None
    elsewhere = certificate.model_copy(
        update={"method": certificate.method.model_copy(update={"name": "their-method"})}
    )
    for read, outcome in ((certificate, "holds"), (elsewhere, "claimed")):
        (finding,) = [one for one in verify(read, files).findings if one.check == "promise about 'disease'"]
        assert finding.outcome == outcome
    assert "this installation does not have it" in finding.sentence
