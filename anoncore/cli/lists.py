"""The commands that list what there is: algorithms, requirements, measures."""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Mapping
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

from pydantic.fields import FieldInfo

from anoncore.algorithms import ALGORITHMS, Algorithm
from anoncore.base.model import Model
from anoncore.cli.log import WIDTH
from anoncore.release.openness import QUESTION
from anoncore.requirements import REQUIREMENTS


def add_algorithms_options(command: argparse.ArgumentParser) -> None:
    """Make the parser's command the list of algorithms."""
    command.set_defaults(command=lambda _arguments: _print_models(ALGORITHMS))


def add_requirements_options(command: argparse.ArgumentParser) -> None:
    """Make the parser's command the list of requirements."""
    command.set_defaults(command=lambda _arguments: _print_models(REQUIREMENTS))


def _print_models(models: Mapping[str, type[Model]]) -> None:
    for position, (name, model) in enumerate(models.items()):
        summary = getattr(model, "summary", None) or (model.__doc__ or "").strip().split("\n\n")[0]
        print(f"{chr(10) if position else ''}{name}: {model.title}")
        print(textwrap.fill(" ".join(summary.split()), WIDTH, initial_indent="  ", subsequent_indent="  "))
        print(textwrap.fill(f"Source: {model.source}", WIDTH, initial_indent="  ", subsequent_indent="  "))
        if issubclass(model, Algorithm):
            told = f"{QUESTION} {model.minimality.text}"
            print(textwrap.fill(told, WIDTH, initial_indent="  ", subsequent_indent="  "))
            if model.why_unavailable():
                print(textwrap.fill(model.why_unavailable(), WIDTH, initial_indent="  ", subsequent_indent="  "))
        for field, info in model.model_fields.items():
            default = "" if info.is_required() else f", default {_default_text(info)}"
            line = f"{field} ({_type_text(info)}{default}): {info.description or ''}"
            print(textwrap.fill(line, WIDTH, initial_indent="    ", subsequent_indent="        "))


def _type_text(info: FieldInfo) -> str:
    """What a field takes, e.g. `whole number, 1 or more`."""
    annotation = info.annotation
    if get_origin(annotation) in (Union, UnionType):
        rest = [kind for kind in get_args(annotation) if kind is not NoneType]
        annotation = rest[0] if len(rest) == 1 else annotation
    if get_origin(annotation) is Literal:
        return " | ".join(str(choice) for choice in get_args(annotation))
    names: dict[Any, str] = {int: "whole number", float: "number", str: "text", bool: "true or false"}
    origin = get_origin(annotation) or annotation
    plain = "list" if origin in (tuple, list) else "table" if origin in (dict, Mapping) else "value"
    words = {"ge": "{} or more", "gt": "above {}", "le": "at most {}", "lt": "below {}"}
    ranges = [
        text.format(f"{getattr(item, key):g}")
        for key, text in words.items()
        for item in info.metadata
        if getattr(item, key, None) is not None
    ]
    return ", ".join([names.get(annotation, plain), *ranges])


def _default_text(info: FieldInfo) -> str:
    value = info.get_default(call_default_factory=True)
    if isinstance(value, tuple | list):
        return ", ".join(one.label() if hasattr(one, "label") else str(one) for one in value) or "none"
    names: dict[Any, str] = {None: "none", True: "true", False: "false"}
    return names[value] if value is None or isinstance(value, bool) else str(value)
