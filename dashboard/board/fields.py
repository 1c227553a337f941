"""What a form needs to know about the fields of an algorithm or requirement, read off the model itself."""

from __future__ import annotations

import types
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, Union, get_args, get_origin

import annotated_types as limits
from pydantic.fields import FieldInfo

from anoncore.base.model import Model, Stops
from anoncore.requirements import REQUIREMENTS, Requirement

Form = Literal[
    "integer",
    "number",
    "choice",
    "flag",
    "attribute",
    "attributes",
    "requirements",
    "numbers",
    "ends",
    "groups",
    "text",
]
SENSITIVE_FIELD = "attribute"
"""The field by which requirements name the attribute that they protect."""


@dataclass(frozen=True)
class FieldForm:
    """One field: how to ask for it, in which bounds, and what it starts with.

    `stops` are the values that a slider offers; a number without any is typed in.
    """

    name: str
    title: str
    help: str
    form: Form
    optional: bool
    default: Any
    low: float | None = None
    high: float | None = None
    options: tuple[Any, ...] = ()
    stops: tuple[float, ...] = ()

    @property
    def step(self) -> float:
        """A step that suits the bounds."""
        if self.form == "integer":
            return 1
        if self.high is not None and self.low is not None:
            return (self.high - self.low) / 20
        return 0.1


@cache
def field_forms(model: type[Model]) -> tuple[FieldForm, ...]:
    """The fields of a model, in their order."""
    return tuple(_field_form(name, info) for name, info in model.model_fields.items())


def _field_form(name: str, info: FieldInfo) -> FieldForm:
    plain, optional = _without_none(info.annotation)
    form, options = _form(plain)
    inner = get_args(get_args(plain)[1])[1:] if form == "numbers" else ()
    low, high = _bounds([*info.metadata, *inner], form)
    default = None if info.is_required() else info.get_default(call_default_factory=True)
    if info.is_required() and not optional:
        default = _first_value(form, low, high, options)
    title = info.title or name.replace("_", " ").capitalize()
    stops = next((one.values for one in info.metadata if isinstance(one, Stops)), ())
    return FieldForm(name, title, info.description or "", form, optional, default, low, high, options, stops)


def _without_none(annotation: Any) -> tuple[Any, bool]:
    if get_origin(annotation) in (Union, types.UnionType):
        kinds = [kind for kind in get_args(annotation) if kind is not type(None)]
        return (kinds[0] if len(kinds) == 1 else annotation), len(kinds) < len(get_args(annotation))
    return annotation, False


def _form(annotation: Any) -> tuple[Form, tuple[Any, ...]]:
    if get_origin(annotation) is Literal:
        return "choice", get_args(annotation)
    if annotation is bool:
        return "flag", ()
    if annotation is int:
        return "integer", ()
    if annotation is float:
        return "number", ()
    if annotation is str:
        return "attribute", ()
    if get_origin(annotation) is dict and get_args(annotation)[0] is str and _is_number(get_args(annotation)[1]):
        return "numbers", ()
    if annotation == dict[str, tuple[float | str, ...]]:
        return "ends", ()
    if annotation == tuple[str, ...]:
        return "attributes", ()
    if annotation == tuple[tuple[str, ...], ...]:
        return "groups", ()
    if get_origin(annotation) is tuple and _is_requirement(get_args(annotation)[0]):
        return "requirements", ()
    return "text", ()


def _is_number(annotation: Any) -> bool:
    return annotation is float or (get_args(annotation) or (None,))[0] is float


def _is_requirement(annotation: Any) -> bool:
    bare = get_args(annotation)[0] if get_args(annotation) else annotation
    return isinstance(bare, type) and issubclass(bare, Requirement)


def _bounds(metadata: Sequence[Any], form: Form) -> tuple[float | None, float | None]:
    """The closed bounds; an open one is moved inside by a step."""
    low: float | None = None
    high: float | None = None
    inside = 1.0 if form == "integer" else 0.01
    for limit in _single_limits(metadata):
        if isinstance(limit, limits.Ge | limits.Interval) and limit.ge is not None:
            low = float(limit.ge)  # type: ignore[arg-type]
        if isinstance(limit, limits.Le | limits.Interval) and limit.le is not None:
            high = float(limit.le)  # type: ignore[arg-type]
        if isinstance(limit, limits.Gt | limits.Interval) and limit.gt is not None:
            low = float(limit.gt) + inside  # type: ignore[arg-type]
        if isinstance(limit, limits.Lt | limits.Interval) and limit.lt is not None:
            high = float(limit.lt) - inside  # type: ignore[arg-type]
    return low, high


def _single_limits(metadata: Sequence[Any]) -> Iterator[Any]:
    """The limits, those inside another annotation included."""
    for limit in metadata:
        yield from _single_limits(limit.metadata) if isinstance(limit, FieldInfo) else (limit,)


def _first_value(form: Form, low: float | None, high: float | None, options: tuple[Any, ...]) -> Any:
    if form in ("integer", "number"):
        value = max(1.0 if low is None else low, 1.0)
        value = value if high is None else min(value, high)
        return int(value) if form == "integer" else value
    return {"choice": options[0] if options else None, "flag": False}.get(form)


def first_requirement() -> Requirement:
    """What a list of requirements starts with: one that fits every table."""
    kind = next((kind for kind in REQUIREMENTS.values() if kind.attribute_free), next(iter(REQUIREMENTS.values())))
    return build_requirement({"name": kind.name})


def build_requirement(values: Mapping[str, Any]) -> Requirement:
    """A requirement from its name and the fields that are known; others start as the form does."""
    kind = REQUIREMENTS[values["name"]]
    fields = {field.name: values.get(field.name, field.default) for field in field_forms(kind)}
    return kind(**fields)
