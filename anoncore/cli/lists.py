"""The commands that list what there is, algorithms and requirements, and say all of one."""

from __future__ import annotations

import argparse
import inspect
import re
import textwrap
from collections.abc import Iterator
from functools import partial
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

from pydantic.fields import FieldInfo

from anoncore.algorithms import ALGORITHMS, Algorithm
from anoncore.base.model import Model, Registry
from anoncore.cli.log import WIDTH
from anoncore.cli.output import add_json_option, tell
from anoncore.cli.plain_values import plain_value
from anoncore.release.openness import QUESTION
from anoncore.requirements import REQUIREMENTS, Requirement

LIMITS = {"ge": "{} or more", "gt": "above {}", "le": "at most {}", "lt": "below {}"}
"""What a number of a field is held to, by the names that pydantic has for it."""


def add_algorithms_options(command: argparse.ArgumentParser) -> None:
    """Make the parser's command the list of algorithms."""
    _add_options(command, ALGORITHMS)


def add_requirements_options(command: argparse.ArgumentParser) -> None:
    """Make the parser's command the list of requirements."""
    _add_options(command, REQUIREMENTS)


def _add_options(command: argparse.ArgumentParser, registry: Registry[Any]) -> None:
    command.add_argument("name", nargs="?", help=f"the {registry.what} of which all is said (default: all in short)")
    add_json_option(command)
    command.set_defaults(command=partial(_print, registry))


def _print(registry: Registry[Any], arguments: argparse.Namespace) -> None:
    models = registry if arguments.name is None else {arguments.name: registry[arguments.name]}
    blocks = ("\n".join(_lines(registry[name], is_alone=arguments.name is not None)) for name in models)
    tell(arguments, ["\n\n".join(blocks)], {name: _described(registry[name]) for name in models})


def _lines(model: type[Algorithm | Requirement], is_alone: bool) -> Iterator[str]:
    """What is said of a model, line by line; of one that is alone also when it is of use, and in longer lines."""
    yield f"{model.name}: {model.title}"
    texts = [_summary(model), f"Source: {model.source}"]
    if is_alone:
        texts += [f"{fact}: {text}" for fact, text in _facts(model).items()]
    if issubclass(model, Algorithm):
        texts += [f"{QUESTION} {model.minimality.text}", model.why_unavailable()]
    for text in filter(None, texts):
        yield _filled(text, "  ", "  ")
    for field, info in model.model_fields.items():
        default = "" if info.is_required() else f", default {_default_text(info)}"
        yield _filled(f"{field} ({_type_text(info)}{default}): {info.description or ''}", "    ", "        ")


def _filled(text: str, first: str, later: str) -> str:
    return textwrap.fill(text, WIDTH, initial_indent=first, subsequent_indent=later)


def _described(model: type[Algorithm | Requirement]) -> dict[str, Any]:
    """The same as JSON has it, by the names that the model has for it."""
    described: dict[str, Any] = {"title": model.title, "summary": _summary(model), "source": model.source}
    described |= {fact.lower(): text for fact, text in _facts(model).items()}
    if issubclass(model, Algorithm):
        described |= {"family": model.family, "minimality": model.minimality.text}
        described["unavailable"] = model.why_unavailable() or None
    described["fields"] = {field: _field(info) for field, info in model.model_fields.items()}
    return described


def _field(info: FieldInfo) -> dict[str, Any]:
    annotation = _annotation(info)
    return {
        "type": _type_name(annotation),
        "required": info.is_required(),
        "default": None if info.is_required() else plain_value(info.get_default(call_default_factory=True)),
        "choices": list(get_args(annotation)) if get_origin(annotation) is Literal else None,
        **dict(_limits(info)),
        "description": info.description or "",
    }


def _summary(model: type[Model]) -> str:
    """The first sentences that are said of a model."""
    return " ".join((getattr(model, "summary", None) or inspect.getdoc(model) or "").split("\n\n")[0].split())


def _facts(model: type[Model]) -> dict[str, str]:
    """What the Notes of a model's docstring say, by their first words."""
    notes = (inspect.getdoc(model) or "").partition("Notes\n-----\n")[2].partition("\n\n")[0]
    parts = re.split(r"^(Assumes|Cost|Use|Avoid): ", notes, flags=re.MULTILINE)
    return {fact: " ".join(text.split()) for fact, text in zip(parts[1::2], parts[2::2], strict=True)}


def _annotation(info: FieldInfo) -> Any:
    """The type of a field where it is given."""
    annotation = info.annotation
    if get_origin(annotation) in (Union, UnionType):
        given = [kind for kind in get_args(annotation) if kind is not NoneType]
        annotation = given[0] if len(given) == 1 else annotation
    return annotation


def _type_name(annotation: Any) -> str:
    if get_origin(annotation) is Literal:
        return "text"
    names: dict[Any, str] = {int: "whole number", float: "number", str: "text", bool: "true or false"}
    origin = get_origin(annotation) or annotation
    return names.get(origin, "list" if origin in (tuple, list) else "table" if _is_mapping(origin) else "value")


def _is_mapping(origin: Any) -> bool:
    return isinstance(origin, type) and hasattr(origin, "keys")


def _type_text(info: FieldInfo) -> str:
    """What a field takes, e.g. `whole number, 1 or more`."""
    annotation = _annotation(info)
    if get_origin(annotation) is Literal:
        return " | ".join(str(choice) for choice in get_args(annotation))
    return ", ".join([_type_name(annotation), *(LIMITS[limit].format(f"{value:g}") for limit, value in _limits(info))])


def _limits(info: FieldInfo) -> Iterator[tuple[str, float]]:
    """What a field is held to, by the names of LIMITS."""
    for limit in LIMITS:
        for item in info.metadata:
            if getattr(item, limit, None) is not None:
                yield limit, getattr(item, limit)


def _default_text(info: FieldInfo) -> str:
    value = info.get_default(call_default_factory=True)
    if isinstance(value, tuple | list):
        return ", ".join(item.label() if hasattr(item, "label") else str(item) for item in value) or "none"
    names: dict[Any, str] = {None: "none", True: "true", False: "false"}
    return names[value] if value is None or isinstance(value, bool) else str(value)
