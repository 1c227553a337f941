"""The code that a paper's results come from, and the seals by which they show that they are its results.

A seal is a hash of the code that made a part of the results and of this part itself. So it breaks where the code
changes and the results do not, where older results come back, and where two versions of them are merged or edited.
Formatting, comments and docstrings do not count, nor does code that the paper's rows do not reach. The library does
not count either: what the rows say of it is tested by the quick book.
"""

from __future__ import annotations

import ast
import hashlib
import json
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from dashboard.reproduction import Entry, Result
from tests.papers import broken, mutants
from tests.papers.contents import PAPERS
from tests.papers.mutants import EXAMPLES, FILES, PROVEN
from tests.papers.wishes import WISHES

TOP = Path(__file__).parents[2]
OURS = "tests"
"""The package whose code is followed."""
Definition = tuple[str, str]
"""A module and a name at its top level."""
Code = dict[Definition, list[ast.stmt]]


@dataclass(frozen=True)
class Module:
    """What a file defines and imports at its top level, and the text of the data beside it (empty without any)."""

    definitions: dict[str, list[ast.stmt]]
    imports: dict[str, Definition]
    data: str


@cache
def module(name: str) -> Module:
    """The module of this name as it is written."""
    path = TOP.joinpath(*name.split("."))
    path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    tree = ast.parse(path.read_text(encoding="utf-8"))
    definitions: dict[str, list[ast.stmt]] = {}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names = [node.name]
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = [part.id for target in targets for part in ast.walk(target) if isinstance(part, ast.Name)]
        else:
            continue
        for defined in names:
            definitions.setdefault(defined, []).append(node)
    imports = {
        alias.asname or alias.name: (node.module, alias.name)
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == OURS
        for alias in node.names
    }
    data = path.with_suffix(".json")
    return Module(definitions, imports, data.read_text(encoding="utf-8") if data.exists() else "")


def reached(roots: Iterable[Definition], only: Collection[str] = ()) -> Code:
    """Everything of our own that the roots use, directly or by what they use; `only` of these modules, if any."""
    code: Code = {}
    waiting = list(roots)
    while waiting:
        name = waiting.pop()
        if name in code or (only and name[0] not in only):
            continue
        code[name] = module(name[0]).definitions[name[1]]
        for statement in code[name]:
            waiting += _used(name[0], statement)
    return code


def _used(here: str, statement: ast.stmt) -> list[Definition]:
    """Definitions of our own that are named in a statement."""
    used = []
    for node in ast.walk(statement):
        if isinstance(node, ast.Name):
            used.append(_resolved(here, node.id))
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            source, name = module(here).imports.get(node.value.id, ("", ""))
            if source and _resolved(source, name) is None:
                used.append(_resolved(f"{source}.{name}", node.attr))
    return [definition for definition in used if definition is not None]


def _resolved(here: str, name: str) -> Definition | None:
    """Where what has this name in a module is defined; None for a variable, a module, and what is not ours."""
    if name in module(here).definitions:
        return here, name
    source, other = module(here).imports.get(name, ("", ""))
    return _resolved(source, other) if source else None


def plain(node: object) -> object:
    """A syntax tree as nested lists, the same in every version of Python; without docstrings."""
    if isinstance(node, list):
        return [plain(part) for part in node]
    if not isinstance(node, ast.AST):
        return ascii(node)
    fields = dict(ast.iter_fields(node))
    if isinstance(node, ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node) is not None:
        fields["body"] = node.body[1:]
    left = {name: value for name, value in fields.items() if value is not None and value != [] and name != "ctx"}
    return [type(node).__name__, *([name, plain(value)] for name, value in left.items())]


def sealed(result: Result, rows: bool = True) -> Result:
    """The result with the seals that it should have; without `rows` the seal of its rows stays as it is."""
    rows_seal = _seal(code_of_rows(result.name), _rows(result)) if rows else result.rows_seal
    return replace(result, rows_seal=rows_seal, rest_seal=_seal(code_of_rest(result.name), _rest(result)))


def code_of_rows(paper: str) -> Code:
    """What the statements, runs and curves of a paper come from: its experiments, examples and theorems."""
    experiments = next(item.module for item in PAPERS if item.name == paper)
    return reached([(f"tests.papers.{experiments}", "reproduce"), _named(EXAMPLES[paper]), _named(PROVEN[paper])])


def code_of_rest(paper: str) -> Code:
    """What the verdicts of mutants, and the experiments that the paper wished for come from.

    What these use of other files makes the rows as well.
    """
    files = (broken.__name__, FILES[paper].__name__)
    roots = [(own, name) for own in files for name in module(own).definitions]
    roots += [(mutants.__name__, "tried"), _named(Entry), *(_named(wish) for wish in WISHES.get(paper, ()))]
    return reached(roots, only={source for source, _ in roots})


def _named(function: Callable[..., object]) -> Definition:
    return function.__module__, function.__name__


@cache
def _text(statement: ast.stmt) -> str:
    return json.dumps(plain(statement))


def _seal(code: Code, content: object) -> str:
    """A hash of the code, of the data that lies beside it, and of the content."""
    data = [module(name).data for name in sorted({name for name, _ in code})]
    text = json.dumps([sorted([*name, *map(_text, statements)] for name, statements in code.items()), data, content])
    return hashlib.sha256(text.encode()).hexdigest()


def _rows(result: Result) -> list[object]:
    """What only a run of the rows can say."""
    made = result.plain()
    rows = [[entry["label"], entry.get("statements", [])] for entry in made["entries"]]
    return [rows, *(made[name] for name in ("mode", "date", "seconds", "note", "studies", "plots"))]


def _rest(result: Result) -> list[object]:
    """Everything else."""
    made = result.plain()
    entries = [{name: value for name, value in entry.items() if name != "statements"} for entry in made["entries"]]
    return [entries, *(made[name] for name in ("name", "title", "source", "command", "stated", "experiments"))]
