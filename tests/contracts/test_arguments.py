"""The whole public API with wrong kinds of arguments: only errors of anoncore, each with a next step."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import anoncore
from anoncore import (
    AnonymizationError,
    Hierarchy,
    Microdata,
    ParameterError,
    Recipe,
    algorithms,
    attacks,
    datasets,
    measures,
    privacy,
    publishing,
    requirements,
    search,
    sources,
    utility,
)
from anoncore.algorithms import ALGORITHMS, Anatomy, Mondrian, Slicing
from anoncore.base.arguments import NEXT_STEPS, checked, wanted_of
from anoncore.base.showing import Result
from anoncore.privacy.explain import explain
from anoncore.requirements import REQUIREMENTS, KAnonymity
from anoncore.table.suggestions import suggest
from anoncore.table.summary import summarize

ROOMS: tuple[ModuleType, ...] = (
    anoncore,
    privacy,
    attacks,
    utility,
    search,
    measures,
    publishing,
    requirements,
    algorithms,
    datasets,
    sources,
)
PEOPLE = pd.DataFrame(
    {"who": list("abcdef"), "age": [21, 22, 23, 44, 45, 46], "ill": ["flu", "cold", "flu", "gout", "flu", "cold"]}
)
ROLES = {"who": "identifier", "age": "quasi-identifier", "ill": "sensitive"}


@cache
def data() -> Microdata:
    return Microdata(PEOPLE, ROLES)


@cache
def releases() -> tuple[Any, ...]:
    methods = (Mondrian(requirements=[KAnonymity(k=2)]), Anatomy(l=2, seed=1), Slicing(l=1.5))
    return tuple(method.anonymize(data()) for method in methods)


WRONG: tuple[Any, ...] = (
    None,
    True,
    -1,
    3,
    2.5,
    float("nan"),
    "",
    "age",
    "no such thing",
    b"bytes",
    object(),
    [],
    ["age"],
    [3],
    [None],
    (1, "age"),
    {},
    {"age": 3},
    {3: "age"},
    {"age", "ill"},
    PEOPLE,
    PEOPLE["age"],
    pl.DataFrame({"age": [1]}),
    np.arange(3),
    np.zeros((2, 2)),
    KAnonymity,
    KAnonymity(k=2),
    [KAnonymity],
    Mondrian,
    Mondrian(),
    Path("no such file"),
    iter([1]),
    pd.NA,
    pd.Timestamp("2020-01-01"),
    complex(1, 2),
)


def public_functions() -> Iterator[tuple[str, Callable[..., Any]]]:
    for room in ROOMS:
        for name in room.__all__:
            value = getattr(room, name)
            if inspect.isfunction(value):
                yield f"{room.__name__}.{name}", value
    yield "explain", explain
    yield "suggest", suggest
    yield "summarize", summarize


def public_methods() -> Iterator[tuple[str, Callable[..., Any]]]:
    """The methods of objects that users have, each bound to the first object that has it."""
    mondrian, anatomy, slicing = releases()
    owners = [
        data(),
        data().domain["age"],
        Hierarchy.from_nested({"part": ["flu", "cold", "gout"]}),
        mondrian.partition,
        *mondrian.fragments,
        *(recoding for release in releases() for part in release.fragments for recoding in part.recodings.values()),
        mondrian,
        slicing,
        privacy.profile(mondrian),
        attacks.attribute_disclosure(mondrian, "ill"),
        attacks.foreground_knowledge(anatomy, "ill"),
        Recipe.loads('source = {builtin = "census", rows = 30}\nalgorithm = {name = "mondrian"}'),
        search.Target("k", 2),
        *(kind() for kind in (*ALGORITHMS.values(), *REQUIREMENTS.values()) if not required(kind)),
    ]
    seen = set()
    for owner in owners:
        for name in dir(type(owner)):
            function = function_of(getattr(type(owner), name, None))
            if not name.startswith("_") and name not in LEFT_OUT and is_ours(function) and function not in seen:
                seen.add(function)
                yield f"{type(owner).__name__}.{name}", getattr(owner, name)


LEFT_OUT = ("save", "values")
"""What would write files wherever it is told to, and what a recoding is asked once for every group."""


def required(kind: Any) -> bool:
    return any(field.is_required() for field in kind.model_fields.values())


def function_of(member: Any) -> Any:
    return getattr(member, "__func__", member)


def is_ours(function: Any) -> bool:
    return inspect.isfunction(function) and function.__module__.startswith("anoncore")


def constructors() -> Iterator[tuple[str, Callable[..., Any]]]:
    for room in ROOMS:
        for name in room.__all__:
            value = getattr(room, name)
            if isinstance(value, type) and is_given_by_users(value):
                yield f"{room.__name__}.{name}", value


def is_given_by_users(kind: type) -> bool:
    if issubclass(kind, BaseException) or inspect.isabstract(kind) or issubclass(kind, Result):
        return False
    return kind.__name__ in GIVEN_BY_USERS or kind in (*ALGORITHMS.values(), *REQUIREMENTS.values())


GIVEN_BY_USERS = (
    "Distorted",
    "Exact",
    "Fragment",
    "Generalized",
    "GroupValues",
    "Hierarchy",
    "Microdata",
    "Partition",
    "Recipe",
    "Release",
    "Target",
)


@cache
def called() -> dict[str, Callable[..., Any]]:
    return dict([*public_functions(), *public_methods(), *constructors()])


def right(name: str) -> Any:
    """Something of the right kind for most parameters of that name, so that the other ones are reached."""
    mondrian = releases()[0]
    fitting = {
        "release": mondrian,
        "releases": list(releases()[:2]),
        "data": data(),
        "attribute": "ill",
        "target": "ill",
        "frame": PEOPLE,
        "known": ["age"],
        "requirements": [KAnonymity(k=2)],
        "algorithms": [Mondrian(requirements=[KAnonymity(k=2)])],
        "criteria": ["k"],
        "key": "key",
        "name": "age",
        "group": 0,
        "row": 0,
        "n": 1,
        "f": [0.5, 0.5],
        "domain": data().domain["age"],
        "partition": mondrian.partition,
        "codes": data().codes["age"],
        "recodings": mondrian.fragments[0].recodings,
        "fragments": mondrian.fragments,
        "fragment": mondrian.fragments[0],
        "files": {},
        "values": [1, 2],
        "roles": ROLES,
        "rng": np.random.default_rng(1),
    }
    return fitting.get(name)


def takes(function: Callable[..., Any]) -> list[inspect.Parameter]:
    skipped = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
    if isinstance(function, type) and function in (*ALGORITHMS.values(), *REQUIREMENTS.values()):
        fields = function.model_fields  # type: ignore[attr-defined]
        return [inspect.Parameter(field, inspect.Parameter.KEYWORD_ONLY, default=None) for field in fields]
    return [one for one in inspect.signature(function).parameters.values() if one.kind not in skipped]


def is_right_array(function: Callable[..., Any], parameter: inspect.Parameter, value: Any) -> bool:
    """Whether an array is what the function wants; which numbers are in it is another question than its kind."""
    if not isinstance(value, np.ndarray):
        return False
    code = getattr(function, "__func__", function.__init__ if isinstance(function, type) else function)
    hints = typing.get_type_hints(inspect.unwrap(code))
    wanted = wanted_of(hints[parameter.name]) if parameter.name in hints else None
    return wanted is None or wanted.accepts(value)


def assert_only_our_errors(name: str, function: Callable[..., Any], arguments: dict[str, Any]) -> None:
    try:
        function(**arguments)
    except AnonymizationError as error:
        text = str(error)
        assert text.endswith((".", ")", "…", "?")) or "'" in text, f"{name}: {text}"
    except Exception as error:
        raise AssertionError(f"{name}({arguments}) raises {type(error).__name__}: {error}") from error


def calls() -> Iterator[tuple[str, Callable[..., Any], inspect.Parameter, dict[str, Any]]]:
    """Every parameter of every public function, method and constructor, with fitting arguments for the others."""
    for subjects in (public_functions, public_methods, constructors):
        for name, function in subjects():
            parameters = takes(function)
            for parameter in parameters:
                needed = [one for one in parameters if one is not parameter and one.default is inspect.Parameter.empty]
                yield name, function, parameter, {one.name: right(one.name) for one in needed}


@pytest.mark.slow
def test_every_parameter_refuses_each_wrong_kind_with_a_sentence(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    wrong = []
    for name, function, parameter, others in calls():
        for value in WRONG:
            if is_right_array(function, parameter, value):
                continue
            try:
                assert_only_our_errors(name, function, {**others, parameter.name: value})
            except AssertionError as error:
                wrong.append(str(error)[:300])
    assert wrong == [], "\n".join([f"{len(wrong)} calls", *wrong])


@cache
def every_call() -> list[Any]:
    return list(calls())


KINDS_OF_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.floats(-5, 5) | st.text(max_size=4) | st.binary(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=2) | st.tuples(inner)
    ),
    max_leaves=4,
)


@pytest.mark.slow
@settings(max_examples=200)
@given(data=st.data())
def test_random_values_are_refused_with_a_sentence_or_taken(data, tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("calls"))
        name, function, parameter, others = data.draw(st.sampled_from(every_call()))
        assert_only_our_errors(name, function, {**others, parameter.name: data.draw(KINDS_OF_VALUES)})


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (
            lambda: Mondrian().anonymize(PEOPLE),
            r"needs Microdata .* not a DataFrame: Microdata\(frame, roles=",
        ),
        (lambda: privacy.profile(data()), r"profile needs a Release .* not Microdata: Mondrian\(.*\.anonymize\(data\)"),
        (lambda: privacy.check(releases()[0], KAnonymity(k=2)), "not a KAnonymity: put it into a list"),
        (
            lambda: privacy.check(releases()[0], [KAnonymity]),
            r"without the class KAnonymity: call the class",
        ),
        (lambda: privacy.profile(releases()[0], l="2"), "a whole number as l, not '2': give one such as 5"),
        (lambda: data().with_quasi_identifiers("age"), r"a list of names as names, not 'age': give a list such as"),
        (lambda: Microdata(PEOPLE, ["age"]), r"entries by name as roles, not a list: give a dictionary"),
        (lambda: attacks.composition(releases()[0], "ill"), "put it into a list"),
        (lambda: utility.information_loss(releases), "not a _lru_cache_wrapper: Mondrian"),
        (lambda: releases()[0].fragment_of(3), "a name as attribute, not 3: give it as a text in quotes"),
        (lambda: releases()[0].partition.rows("a"), "a whole number as group, not 'a'"),
        (
            lambda: privacy.emd(releases()[0], "ill", "order"),
            "ground is 'order'; use one of 'ordered', 'interval', 'equal', 'hierarchical'. Did you mean 'ordered'",
        ),
        (
            lambda: attacks.strongest(releases()[0], "ill", aims=["attribute", "secrets"]),
            "aims is 'secrets'; use one of 'identity', 'attribute', 'membership'",
        ),
        (lambda: sources.read_table(b"a\n1\n", decimal=";"), "decimal is ';'; use one of '.', ','"),
    ],
)
def test_a_mistake_gets_a_next_step(call, sentence):
    with pytest.raises(ParameterError, match=sentence):
        call()


def test_a_sentence_tells_no_value_of_a_table():
    with pytest.raises(ParameterError) as caught:
        Mondrian().anonymize(PEOPLE)
    assert "gout" not in str(caught.value)


def test_every_kind_that_is_asked_for_has_a_next_step():
    asked = set()
    for room in ROOMS:
        for name in room.__all__:
            function = getattr(room, name)
            if inspect.isfunction(function):
                hints = typing.get_type_hints(inspect.unwrap(function))
                hints.pop("return", None)
                asked |= {word for hint in hints.values() if (wanted := wanted_of(hint)) for word in wanted.words[:1]}
    plain = {word for word in asked if not word.startswith("a list of ") and word != "a class"}
    assert plain - set(NEXT_STEPS) == set(), "Say in NEXT_STEPS how one comes by it."


def test_what_is_right_is_passed_on_as_it_is():
    @checked
    def add(first: int, second: float = 0.5, *more: Any, **named: Any) -> tuple[Any, ...]:
        return first, second, more, named

    assert add(np.int64(3), 2, "x", any="y") == (3, 2, ("x",), {"any": "y"})
    with pytest.raises(ParameterError, match="add needs a whole number as first, not True"):
        add(True)
    with pytest.raises(TypeError, match="missing 1 required"):
        add()


@pytest.mark.parametrize("hint", [Sequence[int], Sequence[float], Sequence[bool], Sequence[str]])
@pytest.mark.parametrize(
    "array",
    [
        np.array([1, 2]),
        np.array([1.5, np.nan]),
        np.array([True]),
        np.array(["a", "b"]),
        np.array([1, "a"], dtype=object),
        np.array([[1, 2]]),
        np.array([1, 2], dtype=">i4"),
        np.array([]),
        pd.Series([1, 2], index=[7, 8]),
        pd.Series([1, None], dtype="Int64"),
        pd.Series([1, "a"]),
    ],
    ids=lambda array: f"{type(array).__name__} of {array.dtype}",
)
def test_an_array_is_taken_where_a_list_of_its_entries_is(hint: Any, array: Any):
    assert wanted_of(hint).accepts(array) == wanted_of(hint).accepts(array.tolist())
