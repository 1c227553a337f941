"""What anoncore asks of every algorithm, requirement and measure, its own ones included."""

from __future__ import annotations

import inspect
import re
import tempfile
import typing
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from pydantic import ValidationError
from pydantic.fields import FieldInfo

from anoncore import privacy
from anoncore.algorithms import ALGORITHMS, Algorithm, Anatomy, Mondrian, RandomBuckets, VerticalFragmentation
from anoncore.base.errors import AnonymizationError, DataError, InfeasibleError, ParameterError
from anoncore.base.model import Model
from anoncore.base.number import REGISTERED
from anoncore.base.random_numbers import fresh_seed
from anoncore.base.texts import listing, value_text
from anoncore.measures.criteria import NUMBERS, scores_in
from anoncore.publishing import Certificate, new_key, publish, verify
from anoncore.publishing.certification.certifying import content_hash
from anoncore.recipes.recipe import Recipe, without_seeds
from anoncore.release.partition import Partition
from anoncore.release.recoding import Distorted, Exact, GroupValues
from anoncore.release.release import Release
from anoncore.requirements import REQUIREMENTS, Comparison, KAnonymity, Requirement
from anoncore.table.microdata import Microdata

Problems = Iterator[str]
IDENTIFIED = "person number "
"""How the identifiers of the table of people begin; nothing published may hold it."""
ROLES = {
    "name": "identifier",
    "age": "quasi-identifier",
    "town": "quasi-identifier",
    "pay": "sensitive",
    "note": "insensitive",
}


class ExtensionError(AnonymizationError):
    """An algorithm, requirement or measure does not do what anoncore asks of each of them.

    Attributes
    ----------
    problems : tuple of str
        What is wrong, a sentence each; the message has all of them.

    Examples
    --------
    >>> from anoncore import extend
    >>> extend.ExtensionError("sorted-blocks", ("It needs a title.",)).problems
    ('It needs a title.',)
    """

    def __init__(self, name: str, problems: tuple[str, ...]) -> None:
        self.problems = problems
        super().__init__(f"{name} does not fit yet. {' '.join(problems)}")


def check(thing: Any, *examples: Any, **arguments: Any) -> None:
    """Ask of an algorithm, a requirement or a function of releases what anoncore asks of its own.

    An algorithm is run on a table of thirty people with missing cells: its releases keep what they promise, tell the
    truth, hold every row and no identifier, do not depend on the order of the rows, and can be certified and made again
    by a recipe. A requirement judges groups, and where it says that unions of good groups are good, random ones are. A
    function of releases answers or says why not for every form of release, with scores that are registered. Fields need
    what forms are made of.

    Parameters
    ----------
    thing : type or callable
        The class, or the function.
    *examples : Algorithm or Requirement
        What is tried of a class, where its defaults do not suit thirty people.
    **arguments : object
        What a function is asked with besides the release, where it has no defaults; `attribute` and `target` are given.

    Raises
    ------
    ExtensionError
        With a sentence for everything that is not as it should be.
    ParameterError
        For something that is neither of these.

    Notes
    -----
    Assumes: what passes on one table may fail on another; write tests of your own with a result by hand.
    Cost: seconds.
    Use: in a test of the package that brings the method.
    Avoid: it says nothing of whether a method is any good: compare it on the board.

    References
    ----------
    In the manner of scikit-learn's `check_estimator`.

    Examples
    --------
    >>> from anoncore import extend
    >>> from anoncore.algorithms import Mondrian
    >>> extend.check(Mondrian)
    """
    if isinstance(thing, type) and issubclass(thing, Algorithm | Requirement):
        problems = _of_model(thing, examples)
    elif inspect.isfunction(thing):
        problems = _of_function(thing, arguments)
    else:
        raise ParameterError(
            f"{value_text(thing)} is no algorithm, no requirement and no function of a release; give the class or the "
            "function itself, not one made of it."
        )
    sentences = tuple(dict.fromkeys(problems))
    if sentences:
        raise ExtensionError(thing.__name__, sentences)


def people() -> pd.DataFrame:
    """Thirty people in no order, with a missing cell in every column and labels that occur several times."""
    rng, n = np.random.default_rng(4), 30
    frame = pd.DataFrame(
        {
            "name": [f"{IDENTIFIED}{row}" for row in range(n)],
            "age": pd.array(rng.integers(20, 60, n), dtype="Int64"),
            "town": rng.choice(["Ulm", "Bonn", "Köln, Süd"], n),
            "pay": np.arange(n) % 6 * 100.0,
            "note": rng.choice(["x", "y"], n),
        },
        index=rng.integers(0, 5, n),
    )
    for place, name in enumerate(frame.columns):
        frame.iloc[place, place] = pd.NA if name == "age" else None
    return frame


def _of_model(model: type[Algorithm | Requirement], examples: tuple[Any, ...]) -> Problems:
    names = ("title", "source", *(("summary", "family") if issubclass(model, Algorithm) else ()))
    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", getattr(model, "name", "")):
        yield "Its `name` is in small letters with hyphens, such as 'sorted-blocks'."
        return
    lacks = [name for name in names if not getattr(model, name, "")]
    if lacks:
        yield f"It lacks {listing(lacks)}, which people read who choose and judge it."
    if not inspect.cleandoc(vars(model).get("__doc__") or ""):
        yield "It lacks a docstring that says what it does, which the reference shows."
    for name, field in model.model_fields.items():
        yield from _of_field(name, field)
    registry: Mapping[str, Any] = ALGORITHMS if issubclass(model, Algorithm) else REQUIREMENTS
    if model.name not in registry or registry[model.name] is not model:
        yield "It is not registered: put @extend.register above it."
        return
    if not examples:
        try:
            examples = (_example(model),)
        except AnonymizationError as error:
            yield f"It cannot be made with its defaults ({error}); give an example to `check`."
            return
    for example in examples:
        yield from _of_values(model, example)
        yield from _of_algorithm(example) if isinstance(example, Algorithm) else _of_requirement(example)


def _example(model: type[Model]) -> Model:
    """The model with its defaults, requirements that suit thirty people, and a required number above its bound."""
    fields: dict[str, Any] = {
        name: int(_bound(field, "ge", "gt") or 0) + 1
        for name, field in model.model_fields.items()
        if field.is_required() and _is_number(field)
    }
    if "requirements" in model.model_fields:
        fields["requirements"] = (KAnonymity(k=2),)
    if "seed" in model.model_fields:
        fields["seed"] = fresh_seed()
    return model(**fields)


def _is_number(field: FieldInfo) -> bool:
    return bool({int, float} & set(typing.get_args(field.annotation) or (field.annotation,)))


def _bound(field: FieldInfo, *names: str) -> float | None:
    bounds = (getattr(rule, name, None) for rule in field.metadata for name in names)
    return next((bound for bound in bounds if bound is not None), None)


def _of_field(name: str, field: FieldInfo) -> Problems:
    if not field.title:
        yield f"The field {name} needs Field(title=...), its name for people."
    if not (field.description or "").endswith("."):
        yield f"The field {name} needs Field(description=...), a sentence of help."
    if _is_number(field) and _bound(field, "ge", "gt") is None:
        yield f"The field {name} is a number and needs Field(ge=...) or Field(gt=...)."


def _of_values(model: type[Model], example: Any) -> Problems:
    """Values out of range are refused by name, and what is written builds the same again."""
    registry: Any = ALGORITHMS if issubclass(model, Algorithm) else REQUIREMENTS
    if registry.build(example.to_dict()) != example:
        yield "What `to_dict` writes does not build the same again."
    for name, field in model.model_fields.items():
        low, high = _bound(field, "ge", "gt"), _bound(field, "le", "lt")
        bad: list[object] = [object(), *(["not a number", float("nan")] if _is_number(field) else [])]
        bad += [low - 1] if low is not None else []
        bad += [high + 1] if high is not None else []
        for value in bad:
            try:
                example.replace(**{name: value})
            except ParameterError as error:
                if not str(error).startswith(f"{model.title}: ") or name not in re.findall(r"\w+", str(error)):
                    yield f"The error for {name} = {value!r} does not name the method and the field."
            else:
                yield f"The field {name} takes {value!r}, which is no value of it."
        if _is_number(field):
            # A whole number where there is room for one, because some fields take no other.
            above = (low or 0) + 1
            other = example.replace(**{name: above if high is None or above < high else ((low or 0) + high) / 2})
            if registry.build(other.to_dict()) != other:
                yield f"What `to_dict` writes of another {name} does not build the same again."
        with suppress(ValidationError):
            setattr(example, name, getattr(example, name))
            yield f"The field {name} can be changed afterwards; models are frozen."


def _of_requirement(requirement: Requirement) -> Problems:
    data, rng = Microdata(people(), ROLES), np.random.default_rng(1)
    if not isinstance(requirement.comparison, Comparison):
        yield "Its `comparison` is one of Comparison: AT_LEAST, AT_MOST or BELOW."
        return
    if requirement.parameter not in type(requirement).model_fields:
        yield f"Its `parameter` names a field, and {requirement.parameter!r} is none."
        return
    if requirement.title not in requirement.label():
        yield "Its label does not say its title."
    for _ in range(20):
        groups = Partition.alike([rng.integers(0, 3, data.n_rows, dtype=np.int32)])
        for condition in requirement.checks(data):
            levels = condition.levels(groups)
            holds = condition.holds(levels)
            if np.isnan(levels).any():
                yield "A level of it is no number; where there is none, an infinite one says so."
                return
            if levels.shape != (groups.n_groups,) or holds.dtype != bool:
                yield "Its levels are one number for each group."
                return
            if not requirement.is_monotone(data) or not holds.all():
                continue
            if not condition.holds(condition.levels(Partition(np.zeros(data.n_rows, dtype=np.int32)))).all():
                yield "It says that the union of groups that satisfy it satisfies it, and that is not so."
                return


def _of_algorithm(algorithm: Algorithm) -> Problems:
    frame = people()
    data = Microdata(frame, ROLES)
    reports: list[tuple[float, str]] = []
    try:
        release = algorithm.anonymize(data, progress=lambda share, text: reports.append((share, text)))
    except (DataError, InfeasibleError) as error:
        yield f"It refuses a table of thirty people ({error}); give an example to `check` that does not."
        return
    if not frame.equals(people()):
        yield "It changes the table that it is given."
    if release.algorithm != algorithm:
        yield "Its release names another algorithm."
    violations = privacy.check(release, algorithm.promises(data))
    yield from (f"It breaks its promise: {violation.sentence}" for violation in violations[:1])
    if not all(promise.holds for promise in privacy.personal_guarantees(release)):
        yield "What it promises of everybody does not hold."
    shares = [share for share, _ in reports]
    if shares != sorted(shares) or shares[-1] != 1:
        yield "Its progress goes from 0 to 1 and never back."
    if not all(text for _, text in reports):
        yield "Its progress says in words what is being done."
    lacking = sorted(set(data.attributes) - set(release.attributes))
    if lacking:
        yield f"Its release lacks {listing(lacking)}, which the roles do not leave out."
    yield from _of_release(release)
    yield from _of_order(algorithm, release)
    yield from _of_files(release)
    yield from _of_recipe(algorithm)


def _of_release(release: Release) -> Problems:
    """Every cell is true unless it is said to be distorted; every row is published, and nobody's name is."""
    for fragment in release.fragments:
        for attribute, recoding in fragment.recodings.items():
            if isinstance(recoding, Distorted) or (isinstance(recoding, GroupValues) and recoding.n_changed):
                continue
            codes, (low, high) = release.data.codes[attribute], recoding.bounds()
            wrong = (codes < low) | (codes > high)
            if isinstance(recoding, Exact):
                wrong |= recoding.codes != codes
            if wrong.any():
                yield f"A published cell of '{attribute}' does not hold the value of its row."
    published = release.tables()
    for table in published.values():
        if len(table) != release.data.n_rows and not release.is_synthetic:
            yield "A table that it publishes lacks rows; rows that are left out are a group of cells '*'."
        if any(IDENTIFIED in str(cell) for column in table for cell in table[column]):
            yield "It publishes an identifier."
    attributes = {column for table in published.values() for column in table.columns}
    if not set(release.attributes) <= attributes:
        yield f"It publishes no column {listing(sorted(set(release.attributes) - attributes))}."


def _of_order(algorithm: Algorithm, release: Release) -> Problems:
    """The order of the rows changes nothing, and neither does asking twice."""
    if not algorithm.is_repeatable or None in algorithm.seeds:
        return
    for rows, problem in (
        (people(), "The same table and seed give another release."),
        (people().sample(frac=1, random_state=7), "Its release depends on the order of the rows."),
    ):
        if content_hash(algorithm.anonymize(Microdata(rows, ROLES))) != content_hash(release):
            yield problem
            return


def _of_files(release: Release) -> Problems:
    """The release can be published, and what its certificate says is found in the files."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            certificate, *files = publish(release, folder, "release", new_key())
            read = verify(Certificate.load(certificate), {path.name: path.read_bytes() for path in files})
        except AnonymizationError as error:
            yield f"Its release cannot be published with a certificate: {error}"
            return
    yield from (f"Its certificate does not hold: {one.sentence}" for one in read.findings if one.outcome == "fails")


def _of_recipe(algorithm: Algorithm) -> Problems:
    """A recipe with it can be written and read again."""
    with tempfile.TemporaryDirectory() as folder:
        people().to_csv(Path(folder) / "people.csv", index=False)
        data = Microdata(people().reset_index(drop=True), ROLES)
        Recipe.of("people.csv", data, algorithm).save(Path(folder) / "recipe.toml")
        try:
            read = Recipe.load(Path(folder) / "recipe.toml")
        except AnonymizationError as error:
            yield f"A recipe of it cannot be read again: {error}"
            return
    # Seeds are never written: with one a reader could undo what was drawn.
    if without_seeds(read.algorithm.to_dict()) != without_seeds(algorithm.to_dict()):
        yield "A recipe of it names another algorithm or other parameters."


def _of_function(function: Callable[..., Any], arguments: Mapping[str, Any]) -> Problems:
    bare = inspect.unwrap(function)
    registered = next((one for one in REGISTERED.values() if inspect.unwrap(one.function) is bare), None)
    if registered is None:
        yield "It is not registered: put @extend.measure(...) with its numbers above it, or @extend.register."
        return
    if not inspect.cleandoc(function.__doc__ or ""):
        yield "It lacks a docstring that says what it measures, which the reference shows."
    refusals: list[AnonymizationError] = []
    releases = _releases()
    for form, release in releases.items():
        given = {"attribute": "pay", "target": "note"} | dict(arguments)
        taken = {name: given[name] for name in inspect.signature(function).parameters if name in given}
        first = [release] if registered.first_parameter == "releases" else release
        try:
            result = function(first, **taken)
        except AnonymizationError as error:
            refusals.append(error)  # it says why releases of this form have no such number
            continue
        except Exception as error:
            yield f"It fails for a {form} with {type(error).__name__}: {error}"
            continue
        for score in scores_in(result):
            if NUMBERS.get(score.name) != score.entry:
                yield f"It tells {score.name}, which its @measure does not name."
            low, high = score.bounds
            if (low is not None and score < low - 1e-9) or (high is not None and score > high + 1e-9):
                yield f"{score.title} is {float(score)} for a {form}, out of its bounds."
            if (score.baseline is None) == bool(score.entry.baseline):
                yield f"{score.title} has a baseline where its Number says none, or none where it says one."
    if len(refusals) == len(releases):
        yield f"It answers for no form of release, so nothing of it was checked: {refusals[0]}"


def _releases() -> dict[str, Release]:
    """One release of every form."""
    frame, seed = people(), fresh_seed()
    data = Microdata(frame, ROLES)
    made = Mondrian(requirements=(KAnonymity(k=5),)).anonymize(data)
    return {
        "generalization": made,
        "bucketization": Anatomy(l=2, seed=seed).anonymize(data),
        "slicing": RandomBuckets(size=6, seed=seed).anonymize(data),
        "fragmentation": VerticalFragmentation(k=3, seed=seed).anonymize(data),
        "synthetic table": Release.from_published(frame[["age", "town", "pay"]], original=data, rows="synthetic"),
    }
