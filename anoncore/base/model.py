"""Base of algorithms and requirements: frozen, validated values that serialize by name.

At the end stands what `help` and an editor show of a model: its signature, and the section Parameters of its docstring.
"""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import NoneType, UnionType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    ClassVar,
    Generic,
    Literal,
    Self,
    TypeVar,
    Union,
    dataclass_transform,
    get_args,
    get_origin,
)

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from anoncore.base.arguments import checked, checked_methods
from anoncore.base.errors import ParameterError
from anoncore.base.random_numbers import FRESH_BITS
from anoncore.base.texts import did_you_mean, listing, no_such, quoted

LARGEST_WHOLE = 2**63 - 1
"""The largest whole number of compiled code and of a recipe."""
LARGEST_SEED = (1 << FRESH_BITS) - 1
"""Seeds go into no compiled code as they are, and shorter ones could be guessed."""


if TYPE_CHECKING:
    TupleOf = Sequence
else:

    class TupleOf:
        """The type of a field that holds a tuple, `TupleOf[str]`, for which any sequence may be given.

        A type checker knows one type for what is given and what is held, so it reads a sequence.
        """

        def __class_getitem__(cls, item: Any) -> Any:
            """The tuple of items of that type, of any length."""
            return tuple[item, ...]


@dataclass(frozen=True)
class Stops:
    """Values of a number that a slider offers; any other value in its range may be given elsewhere."""

    values: tuple[float, ...]


@dataclass_transform(field_specifiers=(Field,))
class Model(BaseModel):
    """A frozen set of checked fields. Raises ParameterError with one sentence for a field outside its range.

    Each field carries its type, range and one-line help; forms, recipes and the command line are made from them.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)

    name: ClassVar[str]
    """Name in recipes and on the command line."""
    title: ClassVar[str]
    """Name for people; by default the name in words."""
    source: ClassVar[str] = ""
    """Where the method is defined; empty where nobody says it."""

    def __init__(self, *args: Any, **fields: Any) -> None:
        names = list(type(self).model_fields)
        if len(args) > len(names):
            raise ParameterError(f"{self.title} takes at most {len(names)} values: {', '.join(names)}.")
        for name, value in zip(names, args, strict=False):
            if name in fields:
                raise ParameterError(f"{self.title}: {name} is given twice.")
            fields[name] = value
        for name, value in fields.items():
            most = LARGEST_SEED if name == "seed" else LARGEST_WHOLE
            if isinstance(value, int) and abs(value) > most:
                raise ParameterError(f"{self.title}: {name} should be at most {most:,} in size.")
        try:
            super().__init__(**fields)
        except ValidationError as error:
            raise ParameterError(f"{self.title}: {_sentence(error, names)}") from None

    @classmethod
    def __pydantic_init_subclass__(cls, **settings: Any) -> None:
        super().__pydantic_init_subclass__(**settings)
        if "name" in vars(cls) and not hasattr(cls, "title"):
            cls.title = cls.name.replace("-", " ").capitalize()
        if vars(cls).get("__doc__"):
            cls.__doc__ = with_parameters(str(cls.__doc__), cls.model_fields)
        cls.__signature__ = signature_of(cls.model_fields)
        checked_methods(cls)

    def __dir__(self) -> list[str]:
        """The public names of the model, without those that every model of pydantic has."""
        classes = [kind for kind in type(self).__mro__ if kind not in BaseModel.__mro__]
        names = {name for kind in classes for name in vars(kind) if not name.startswith("_")}
        return sorted((names | set(type(self).model_fields)) - {"model_config"})

    def replace(self, **changes: Any) -> Self:
        """The same model with some fields changed, checked again."""
        fields = {name: getattr(self, name) for name in type(self).model_fields}
        return type(self)(**{**fields, **changes})

    @checked
    def to_dict(self, complete: bool = False) -> dict[str, Any]:
        """Plain values for a recipe: the registered name and the fields that differ from their defaults or lack one.

        With `complete` every field stands there that has a value, so that other defaults would change nothing.
        """
        values: dict[str, Any] = {"name": self.name}
        for field, info in type(self).model_fields.items():
            value = getattr(self, field)
            is_told = info.is_required() or value != info.get_default(call_default_factory=True)
            if is_told or (complete and value is not None):
                values[field] = as_plain(value, complete)
        return values


M = TypeVar("M", bound=Model)


class Registry(Mapping[str, type[M]], Generic[M]):
    """The registered models by name, in the order in which they were registered."""

    def __init__(self, what: str, base: type[M]) -> None:
        self.what, self._base = what, base
        self._models: dict[str, type[M]] = {}

    def register(self, *models: object) -> None:
        """Add those of these that are models of this kind; one that was defined again takes the place of the earlier.

        Raises ParameterError for a name that another model has.
        """
        for model in models:
            if not isinstance(model, type) or not issubclass(model, self._base) or not hasattr(model, "name"):
                continue
            known = self._models.get(model.name, model)
            if (known.__module__, known.__qualname__) != (model.__module__, model.__qualname__):
                raise ParameterError(
                    f"The name {quoted(model.name)} of {model.__module__}.{model.__qualname__} is that of "
                    f"{known.__module__}.{known.__qualname__}; give it another `name`."
                )
            self._models[model.name] = model

    def build(self, values: Mapping[str, Any]) -> M:
        """The model that `to_dict` wrote. Raises ParameterError for an unknown name."""
        fields = dict(values)
        if "name" not in fields:
            raise ParameterError(f"The {self.what} lacks a name; there is {listing(list(self), 40)}.")
        return self[fields.pop("name")](**fields)

    def __getitem__(self, name: str) -> type[M]:
        try:
            return self._models[name]
        except (KeyError, TypeError):  # a name of the wrong type is unknown too
            raise ParameterError(no_such(self.what, name, list(self._models))) from None

    def __contains__(self, name: object) -> bool:
        return name in self._models

    def __iter__(self) -> Iterator[str]:
        return iter(self._models)

    def __len__(self) -> int:
        return len(self._models)


def as_plain(value: Any, complete: bool) -> Any:
    """The value of a field as it is written down: models as their fields, and what holds several values alike."""
    if isinstance(value, Model):
        return value.to_dict(complete)
    if isinstance(value, tuple | list):
        return [as_plain(item, complete) for item in value]
    if isinstance(value, Mapping):
        return {str(key): as_plain(item, complete) for key, item in value.items()}
    return value


def _sentence(error: ValidationError, names: list[str]) -> str:
    first = error.errors()[0]
    field = ".".join(str(part) for part in first["loc"]) or "the fields"
    if first["type"] == "missing":
        return f"{field} is missing."
    if first["type"] == "extra_forbidden":
        return f"there is no field {field}; there is {', '.join(names) or 'none'}.{did_you_mean(field, names)}"
    return first["msg"].removeprefix("Value error, ") if first["type"] == "value_error" else wrong_value(first, field)


def wrong_value(error: ErrorDetails, field: str) -> str:
    """What pydantic says of the value of a field, as a sentence that begins with the field."""
    wanted = error["msg"].partition("Input should be ")[2]
    return f"{field} should be {wanted}, not {quoted(error['input'])}." if wanted else f"{field}: {error['msg']}."


Fields = Mapping[str, FieldInfo]

_LATER_SECTIONS = re.compile(r"^(?:Returns|Raises|Attributes|Notes|References|Examples)\n-+$", re.MULTILINE)
"""The sections that numpydoc puts below Parameters."""
WIDTH = 116
"""Characters of a line of the section."""
_BOUNDS = {"ge": "at least {:,.12g}", "gt": "above {:,.12g}", "le": "at most {:,.12g}", "lt": "below {:,.12g}"}


class _Type:
    """An annotation that reads in a signature as it stands here: without modules, validators and their addresses."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text


def signature_of(fields: Fields) -> inspect.Signature:
    """The signature of a model: its fields in order, with the types that may be given.

    Fields can be given by position until one without a default follows one that has a default.
    """
    parameters: list[inspect.Parameter] = []
    is_by_position = True
    for name, info in fields.items():
        default = inspect.Parameter.empty if info.is_required() else info.get_default(call_default_factory=True)
        if info.is_required() and parameters and parameters[-1].default is not inspect.Parameter.empty:
            is_by_position = False
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD if is_by_position else inspect.Parameter.KEYWORD_ONLY
        annotation = _Type(_type_text(info.annotation))
        parameters.append(inspect.Parameter(name, kind, default=default, annotation=annotation))
    return inspect.Signature(parameters)


def with_parameters(docstring: str, fields: Fields) -> str:
    """The docstring of a model with a numpydoc section Parameters made of its fields; as it is where it has one."""
    text = inspect.cleandoc(docstring)
    if not fields or re.search(r"^Parameters\n-+$", text, re.MULTILINE):
        return text
    later = _LATER_SECTIONS.search(text)
    end = later.start() if later else len(text)
    section = ["Parameters", "----------"]
    for name, info in fields.items():
        default = "" if info.is_required() else f", default {info.get_default(call_default_factory=True)!r}"
        section += [f"{name} : {_type_text(info.annotation, in_words=True)}{default}", *_meaning(name, info)]
    return "\n\n".join(part for part in (text[:end].rstrip(), "\n".join(section), text[end:]) if part)


def _meaning(name: str, info: FieldInfo) -> list[str]:
    """What is said of a field, as the indented lines of its entry."""
    title, description = info.title or "", info.description or ""
    is_said_by_name = title.lower() in ("", name.replace("_", " ").lower())
    bounds = [
        text.format(getattr(rule, key))
        for rule in info.metadata
        for key, text in _BOUNDS.items()
        if getattr(rule, key, None) is not None
    ]
    meaning = description if is_said_by_name else f"{title}: {description}"
    said = f"{meaning} {' and '.join(bounds).capitalize()}." if bounds else meaning
    return textwrap.wrap(said, WIDTH, initial_indent="    ", subsequent_indent="    ")


def _type_text(annotation: Any, in_words: bool = False) -> str:
    """A type as it stands in code, `Sequence[Requirement]`, or as numpydoc writes it, `sequence of Requirement`."""
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _type_text(inner[0], in_words)
    if origin is Literal:
        values = ", ".join(map(repr, inner))
        return f"{{{values}}}" if in_words else f"Literal[{values}]"
    is_said = in_words and (origin in (Union, UnionType, dict) or inner[1:] == (...,))
    texts = [_type_text(one, is_said) for one in inner]
    if origin in (Union, UnionType):
        return (" or " if in_words else " | ").join(texts)
    if origin is tuple and inner[1:] == (...,):
        return f"sequence of {texts[0]}" if in_words else f"Sequence[{texts[0]}]"
    if origin is dict and in_words:
        return f"dict of {texts[0]} to {texts[1]}"
    return f"{_name(origin)}[{', '.join(texts)}]" if inner else _name(annotation)


def _name(annotation: Any) -> str:
    return "None" if annotation in (None, NoneType) else getattr(annotation, "__name__", str(annotation))
