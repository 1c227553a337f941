"""Fuzzed parameters of algorithms, requirements and measures, by the way of a recipe and by that of a form."""

from __future__ import annotations

import json
from typing import Any

from anoncore.algorithms import ALGORITHMS, Algorithm
from anoncore.base.model import Model
from anoncore.measures.evaluation import MEASURES, Measure
from anoncore.requirements import REQUIREMENTS, Requirement
from dashboard.board.fields import FieldForm, build_requirement, field_forms
from dashboard.elements.forms import json_value, text_value
from dashboard.session.workspace import run_title
from tests.fuzz.case import Case, RefutedError
from tests.fuzz.mutations import NAMES, mutated_text, nested, scalar
from tests.fuzz.tables import small_table


def parameters(case: Case) -> None:
    """Fields of a model with values of right and wrong types."""
    kind = case.random.randrange(4)
    if kind == 0:
        model = case.keep("algorithm", case.pick(list(ALGORITHMS.values())))
        _check_model(case, model(**case.keep("fields", form_fields(case, model))))
    elif kind == 1:
        name = case.pick(list(REQUIREMENTS))
        entry = {"name": name, "#": 1, **form_fields(case, REQUIREMENTS[name])}
        _check_model(case, build_requirement(case.keep("entry", entry)))
    elif kind == 2:
        registry: Any = case.pick((ALGORITHMS, REQUIREMENTS))
        name = case.pick(list(registry)) if case.chance(0.95) else scalar(case)
        fields = {case.pick(_names(registry, name)): wild(case) for _ in range(case.random.randint(0, 3))}
        _check_model(case, registry.build(case.keep("fields", {"name": name, **fields})))
    else:
        name = case.pick(list(MEASURES)) if case.chance(0.95) else str(case.pick(NAMES))
        arguments = {
            case.pick(("attribute", "ground", "n_queries", "seed", "k", "l", "delta", "requirements", "r")): wild(case)
            for _ in range(case.random.randint(0, 2))
        }
        Measure(name, case.keep("arguments", {"name": name, **arguments}) and arguments)


def _names(registry: Any, name: Any) -> list[str]:
    known = list(registry[name].model_fields) if isinstance(name, str) and name in registry else []
    return [*known, *known, "no such field", "requirements"]


def wild(case: Case) -> Any:
    """A value of any type, requirements included."""
    if case.chance(0.2):
        return [{"name": case.pick(list(REQUIREMENTS)), case.pick(("k", "l", "t", "c")): scalar(case)}]
    return nested(case, 2)


def form_fields(case: Case, model: type[Model]) -> dict[str, Any]:
    """What a form gives: numbers inside the bounds it shows or just outside, choices, texts that are to be JSON."""
    fields = {}
    for field in field_forms(model):
        if case.chance(0.5):
            fields[field.name] = _entered(case, field)
        elif field.form == "requirements":
            fields[field.name] = _requirements(case)
        elif field.default is not None:
            fields[field.name] = field.default
    return fields


def _entered(case: Case, field: FieldForm) -> Any:
    low = field.low if field.low is not None else -3
    if field.form == "integer":
        return case.pick((None, int(low), int(low) + 1, int(low) - 1, 7, 10**9, 2**53 - 1))
    if field.form == "number":
        high = 3.0 if field.high is None else field.high
        return case.pick((None, low, low + field.step, high, (low + high) / 2, high + 1, 1e-12))
    if field.form == "choice":
        return case.pick((*field.options, "other"))
    if field.form == "flag":
        return case.chance(0.5)
    if field.form == "attribute":
        return case.pick((None, "", "age", "illness", "no such attribute"))
    if field.form == "requirements":
        return _requirements(case)
    if field.form == "numbers":
        return case.pick(({}, {"illness": 0.3}, {"no": 0.1}, {"illness": 7.0}, None))
    if field.form == "groups":
        return case.pick((None, (), (("age",), ("town", "illness")), (("age",), ("age",)), ((),), (("no",), ("town",))))
    text = case.pick(
        (text_value(field.default), "", "{", "[1, 2]", '{"name": "mondrian"}', '{"a": "b"}', "NaN", "[[]]")
    )
    return json_value(field, mutated_text(case, text, 2) if case.chance(0.4) else text)


def _requirements(case: Case) -> tuple[Any, ...]:
    found = []
    for _ in range(case.pick((1, 1, 1, 2, 0))):
        name = case.pick(list(REQUIREMENTS))
        number = {
            field.name: case.pick((1, 2, 2, 3, 0.5, 1.2, 0.9))
            for field in field_forms(REQUIREMENTS[name])
            if field.form in ("integer", "number")
        }
        found.append(build_requirement({"name": name, **number}))
    return tuple(found)


def _check_model(case: Case, model: Model) -> None:
    """What was taken can be written as a recipe, read again, named, and asked of a table."""
    registry: Any = ALGORITHMS if isinstance(model, Algorithm) else REQUIREMENTS
    values = model.to_dict()
    again = registry.build(values)
    if again.to_dict() != values or again != model:
        raise RefutedError(f"{values} reads as {again.to_dict()}")
    json.dumps(values, allow_nan=False)
    if isinstance(model, Requirement):
        model.label()
        return
    run_title(model)
    model.validate_data(small_table(case))
