"""What the docstring of an exported name has to say, and what it lacks."""

from __future__ import annotations

import ast
import builtins
import dataclasses
import enum
import importlib
import inspect
import textwrap
import types
import typing
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from pydantic import BaseModel

import anoncore
from anoncore.algorithms import ALGORITHMS
from anoncore.base.model import Model
from anoncore.measures.evaluation import MEASURES, MEASURES_OF_SEVERAL
from anoncore.requirements import REQUIREMENTS
from dashboard.elements.about import Described, Docstring

ROOMS = (
    "anoncore",
    "anoncore.algorithms",
    "anoncore.requirements",
    "anoncore.privacy",
    "anoncore.attacks",
    "anoncore.utility",
    "anoncore.datasets",
    "anoncore.measures",
    "anoncore.sources",
    "anoncore.search",
    "anoncore.publishing",
    "anoncore.publishing.report",
    "anoncore.base",
)
"""The packages whose `__all__` is what others call."""
FROM_PAPERS = frozenset(
    (*ALGORITHMS.values(), *REQUIREMENTS.values(), *MEASURES.values(), *MEASURES_OF_SEVERAL.values())
)
"""Methods, requirements and measures: someone defined them, and References says where."""


def exported() -> dict[str, object]:
    """Every function and class that a room exports, by its full name, e.g. `anoncore.privacy.emd`."""
    found: dict[str, object] = {}
    for room in ROOMS:
        package = importlib.import_module(room)
        for name in getattr(package, "__all__", ()):
            thing = getattr(package, name)
            if _is_called(thing):
                found[f"{room}.{name}"] = thing
    return found


def _is_called(thing: object) -> bool:
    """Whether it is a class or a function, also one that keeps what it answered (`functools.cache`)."""
    return inspect.isclass(thing) or inspect.isfunction(inspect.unwrap(thing) if callable(thing) else thing)


def exported_values() -> Iterator[tuple[str, str]]:
    """Room and name of everything exported that is no function, class or module: registries and aliases of types."""
    for room in ROOMS:
        package = importlib.import_module(room)
        for name in getattr(package, "__all__", ()):
            value = getattr(package, name)
            if not _is_called(value) and not inspect.ismodule(value) and name != "__version__":
                yield room, name


def is_described_value(room: str, name: str) -> bool:
    """Whether a text follows the assignment of the name, in the room or in the module that it is imported from."""
    file = Path(inspect.getsourcefile(importlib.import_module(room)) or "")
    stub = file.with_suffix(".pyi")
    # Where names are imported when they are first used, they stand in the stub.
    tree = ast.parse((stub if stub.is_file() else file).read_text(encoding="utf-8"))
    for before, after in zip(tree.body, tree.body[1:], strict=False):
        targets = before.targets if isinstance(before, ast.Assign) else [getattr(before, "target", None)]
        if any(isinstance(target, ast.Name) and target.id == name for target in targets):
            return isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)
    homes = [
        node.module
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for one in node.names
        if one.name == name
    ]
    return any(is_described_value(home, name) for home in homes if home)


def lacking(thing: object) -> list[str]:
    """What the docstring of a function or class lacks, each as half a sentence."""
    assert callable(thing)
    thing = inspect.unwrap(thing)
    docstring = Docstring.of(thing.__dict__.get("__doc__") if inspect.isclass(thing) else thing.__doc__)
    lacks = ["a summary that is a sentence"] if not docstring.text.split("\n\n")[0].endswith(".") else []
    lacks += _of_class(thing, docstring) if inspect.isclass(thing) else _of_function(thing, docstring)
    errors = {one.name for one in docstring.described("Raises")}
    lacks += [f"{name} under Raises" for name in sorted(_raised(thing) - errors)]
    lacks += ["References"] if thing in FROM_PAPERS and not docstring.sections.get("References") else []
    lacks += ["an example (>>>) under Examples"] if ">>> " not in docstring.sections.get("Examples", "") else []
    return lacks


def _of_function(function: Callable[..., object], docstring: Docstring) -> list[str]:
    described = {one.name.lstrip("*"): one for one in docstring.described("Parameters")}
    signature = inspect.signature(function)
    asked = [name for name in signature.parameters if name not in ("self", "cls")]
    lacks = [f"{name} under Parameters" for name in asked if not _says(described.get(name))]
    lacks += [f"no {name} under Parameters: there is none" for name in described if name not in asked]
    gives = signature.return_annotation not in (None, "None")
    returned = docstring.described("Returns")
    if gives and not (returned and all(_says(one) for one in returned)):
        lacks.append("Returns")
    hint = _hints(function).get("return")
    if gives and _is_array(hint) and returned and "shape (" not in f"{returned[0].name} {returned[0].type}":
        lacks.append("the shape of what it returns")
    return lacks


def _of_class(kind: type, docstring: Docstring) -> list[str]:
    lacks = []
    described = {one.name: one for title in ("Parameters", "Attributes") for one in docstring.described(title)}
    if issubclass(kind, BaseModel):
        lacks += [
            f"{name} under Attributes or in its Field(description=...)"
            for name, info in kind.model_fields.items()
            if not info.description and not _says(described.get(name))
        ]
    else:
        lacks += [f"{name} under Attributes" for name in _fields(kind) if not _says(described.get(name))]
        hints = _hints(kind)
        for name in _fields(kind):
            if _is_array(hints.get(name)) and name in described and "shape (" not in described[name].type:
                lacks.append(f"the shape of {name}")
        if "__init__" in vars(kind) and not dataclasses.is_dataclass(kind):
            asked = list(inspect.signature(kind).parameters)
            lacks += [f"{name} under Parameters" for name in asked if not _says(described.get(name))]
    for name, method in _methods(kind):
        own = Docstring.of(method.__doc__)
        if len(inspect.signature(method).parameters) > int(not inspect.ismethod(method)):
            lacks += [f"in {name}(): {what}" for what in _of_function(method, own)]
    return lacks


def _fields(kind: type) -> list[str]:
    """Names that an object of the class has, besides those of methods and properties."""
    if issubclass(kind, enum.Enum):
        return list(kind.__members__)
    if dataclasses.is_dataclass(kind):
        return [field.name for field in dataclasses.fields(kind) if not field.name.startswith("_")]
    return [name for name in inspect.get_annotations(kind) if not name.startswith("_")]


def _methods(kind: type) -> Iterator[tuple[str, Callable[..., object]]]:
    """Public methods that the class defines itself; what it overrides is described where it comes from."""
    for name, member in vars(kind).items():
        above = [base for base in kind.__mro__[1:] if name in vars(base)]
        if name.startswith("_") or above or not isinstance(member, types.FunctionType | classmethod | staticmethod):
            continue
        yield name, getattr(kind, name)


def _says(described: Described | None) -> bool:
    return described is not None and described.meaning.endswith((".", ":")) and len(described.meaning) > 5


def _hints(thing: Callable[..., object]) -> dict[str, object]:
    """The types of parameters and fields; none where a module imports one of them only for the checker of types."""
    try:
        return typing.get_type_hints(thing)
    except NameError:
        return {}


def _is_array(hint: object) -> bool:
    return typing.get_origin(hint) is np.ndarray or hint is np.ndarray


def _raised(thing: object) -> set[str]:
    """Names of the errors that a function, or the making of an object, raises itself.

    Counted are lines of its own and of functions of its module that it calls by name.
    """
    if inspect.isclass(thing):
        if issubclass(thing, Model):
            return set()  # every model checks its fields alike, which Model says
        makers = [vars(thing).get(name) for name in ("__init__", "__post_init__")]
        return set().union(*(_raised_by(maker, set()) for maker in makers if inspect.isfunction(maker)))
    return _raised_by(thing, set())


def _raised_by(function: object, seen: set[object]) -> set[str]:
    if not inspect.isfunction(function):
        return set()
    function = inspect.unwrap(function)  # what checks the kinds of arguments stands around the function
    if function in seen:
        return set()
    seen.add(function)
    if function.__code__.co_filename == "<string>":  # made by dataclass
        return set()
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and isinstance(node.exc.func, ast.Name):
            error = function.__globals__.get(node.exc.func.id, getattr(builtins, node.exc.func.id, None))
            if isinstance(error, type) and issubclass(error, anoncore.AnonymizationError):
                found.add(node.exc.func.id)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            called = function.__globals__.get(node.func.id)
            if inspect.isfunction(called) and called.__module__ == function.__module__:
                found |= _raised_by(called, seen)
    return found
