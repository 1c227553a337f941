"""What `help` and an editor show of a model: its signature, and the section Parameters of its docstring."""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Mapping
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic.fields import FieldInfo

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
