"""A griffe extension: facts of a docstring become a list, fields of checked models its parameters."""

from __future__ import annotations

import importlib
import re
from typing import Any

import griffe

from anoncore.algorithms import ALGORITHMS, Algorithm
from anoncore.base.model import signature_of, with_parameters
from anoncore.release.openness import QUESTION
from anoncore.requirements import REQUIREMENTS

FACTS = ("Assumes", "Cost", "Use", "Avoid", "Source")
RECORD = "anoncore.kernels.arrays.record"
"""What makes dataclasses of arrays, which have the fields of a dataclass as parameters."""
_BEGIN = re.compile(rf"({'|'.join(FACTS)}): ")


class DocstringForms(griffe.Extension):
    """Turns every fact into an entry of a list, and tells the fields of algorithms and requirements as parameters."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Rewrite the docstring of one object."""
        if obj.docstring is not None:
            obj.docstring.value = listed(obj.docstring.value)

    def on_class_instance(self, *, cls: griffe.Class, **_: Any) -> None:
        """Let griffe know a record for the dataclass that it is."""
        for decorator in cls.decorators:
            if decorator.callable_path == RECORD:
                decorator.value = griffe.ExprName("dataclasses.dataclass")

    def on_class(self, *, cls: griffe.Class, **_: Any) -> None:
        """Say of a checked model what it is made with; in the source that stands with its fields."""
        model = getattr(importlib.import_module(cls.module.path), cls.name, None)
        fields = getattr(model, "model_fields", {})
        if not fields or cls.docstring is None:
            return
        asked = [griffe.Parameter("self", kind=griffe.ParameterKind.positional_or_keyword)]
        for parameter in signature_of(fields).parameters.values():
            default = None if parameter.default is parameter.empty else repr(parameter.default)
            kind = griffe.ParameterKind[parameter.kind.name.lower()]
            asked.append(
                griffe.Parameter(parameter.name, annotation=repr(parameter.annotation), kind=kind, default=default)
            )
        cls.set_member("__init__", griffe.Function("__init__", parameters=griffe.Parameters(*asked)))
        cls.docstring.value = _with_recipe_name(with_parameters(cls.docstring.value, fields), model)


def _with_recipe_name(text: str, model: Any) -> str:
    """The docstring, and what a recipe calls the model and what readers learn who know the method."""
    if model.__dict__.get("name") not in {*ALGORITHMS, *REQUIREMENTS}:
        return text
    parameters, notes = "\nParameters\n----------\n", "\nNotes\n-----\n"
    text = text.replace(parameters, f"\nIn recipes and on the command line: `{model.name}`.\n{parameters}", 1)
    if not issubclass(model, Algorithm):
        return text
    return text.replace(notes, f"{notes}- **{QUESTION}** {model.minimality.text}\n", 1)


def listed(text: str) -> str:
    """The text with every fact as one line of a list, set off from a paragraph before it by an empty line."""
    lines: list[str] = []
    in_fact = False
    for line in text.splitlines():
        begin = _BEGIN.match(line)
        if begin:
            if lines and not in_fact and lines[-1].strip("- "):
                lines.append("")
            lines.append(f"- **{begin[1]}:** {line[begin.end() :]}")
        elif in_fact and line.startswith("  "):
            lines[-1] += f" {line.strip()}"
        else:
            lines.append(line)
        in_fact = begin is not None or (in_fact and line.startswith("  "))
    return "\n".join(lines)
