"""What people can use, one thing a line: public names, methods, numbers, commands and what the pages offer.

Run: python -m tests.benchmarks.features > before.txt on one commit, and on another one:
python -m tests.benchmarks.features before.txt, which prints what was lost (-) and what is new (+), and ends with 1
where something was lost. Of pages it lists what the source says: routes, rows of the board, titles of dialogs, and the
labels of what a visitor presses, chooses or reads as a heading; labels that are put together while a page runs have an
ellipsis for each part.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import inspect
import pkgutil
import sys
from collections.abc import Iterator
from pathlib import Path

import anoncore
from anoncore.algorithms import ALGORITHMS
from anoncore.cli.command import COMMANDS
from anoncore.measures.criteria import CRITERIA, NUMBERS
from anoncore.measures.evaluation import MEASURES
from anoncore.requirements import REQUIREMENTS
from dashboard.elements.routes import ROUTES

ROOT = Path(__file__).resolve().parents[2]
LABELLED = frozenset(
    {
        "button",
        "checkbox",
        "download_button",
        "expander",
        "file_uploader",
        "form_submit_button",
        "header",
        "link_button",
        "metric",
        "multiselect",
        "number_input",
        "pills",
        "popover",
        "radio",
        "segmented_control",
        "select_slider",
        "selectbox",
        "slider",
        "subheader",
        "text_area",
        "text_input",
        "title",
        "toggle",
        "Tile",
    }
)
"""Functions whose first argument a visitor reads as the name of a thing."""


def features() -> Iterator[str]:
    """Everything, in no order."""
    yield from public_names()
    for what, models in (("method", ALGORITHMS), ("requirement", REQUIREMENTS)):
        for name, model in models.items():
            yield f"{what} {name}: {model.title}"
            yield from (f"{what} {name}.{field}" for field in model.model_fields)
    yield from (f"number {number.name}: {number.title}" for number in NUMBERS.values())
    yield from (f"row of the board {name}" for name in CRITERIA)
    yield from (f"measure {name}" for name in MEASURES)
    yield from options()
    yield from (f"page {route.name}: {route.title}, {route.section}" for route in ROUTES)
    for path in sorted((ROOT / "dashboard").rglob("*.py")):
        yield from labels(path)


def public_names() -> Iterator[str]:
    """What packages export, with the members of classes and the parameters of functions."""
    homes = [anoncore.__name__]
    homes += [one.name for one in pkgutil.walk_packages(anoncore.__path__, f"{anoncore.__name__}.") if one.ispkg]
    for home in homes:
        package = importlib.import_module(home)
        for name in getattr(package, "__all__", ()):
            value, full = getattr(package, name), f"{home}.{name}"
            yield f"name {full}"
            if inspect.isclass(value):
                members = {member for kind in value.__mro__ if in_package(kind) for member in vars(kind)}
                yield from (f"name {full}.{member}" for member in members if not member.startswith("_"))
            elif inspect.isfunction(value):
                yield from (f"name {full}({parameter})" for parameter in inspect.signature(value).parameters)


def in_package(kind: type) -> bool:
    """Whether a class is our own."""
    return kind.__module__.partition(".")[0] == anoncore.__name__


def options() -> Iterator[str]:
    """Every command with its options and what they may be."""
    for name, command in COMMANDS.items():
        parser = argparse.ArgumentParser(add_help=False)
        module = importlib.import_module(f"anoncore.cli.{command.module}")
        getattr(module, command.add_options)(parser)
        yield f"command {name}"
        for action in parser._actions:
            called = action.option_strings or [action.dest]
            yield from (f"command {name} {one}" for one in called)
            yield from (f"command {name} {called[-1]} {choice}" for choice in action.choices or ())


def labels(path: Path) -> Iterator[str]:
    """The labels in a file of the dashboard, without the file: what moves to another one is not lost."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.Call):
            continue
        function = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        first = node.args[0] if node.args else None
        if function == "tabs" and isinstance(first, ast.List):
            yield from (f"tab {text_of(one)}" for one in first.elts)
        elif function == "dialog" and first is not None:
            yield f"dialog {text_of(first)}"
        elif function in LABELLED and isinstance(first, ast.Constant | ast.JoinedStr):
            yield f"label {text_of(first)}"


def text_of(node: ast.expr) -> str:
    """A text as it is written, with an ellipsis for what is put in as the page runs."""
    if isinstance(node, ast.JoinedStr):
        return "".join(text_of(part) for part in node.values)
    return str(node.value) if isinstance(node, ast.Constant) else "…"


def main() -> int:
    """Print the list, or how it differs from that of another commit."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", nargs="?", type=Path, help="what this printed on another commit")
    before = parser.parse_args().before
    found = set(features())
    if before is None:
        print("\n".join(sorted(found)))
        return 0
    known = set(before.read_text(encoding="utf-8").splitlines())
    lost = sorted(known - found)
    for sign, lines in (("-", lost), ("+", sorted(found - known))):
        for line in lines:
            print(sign, line)
    print(f"{len(found):,} things, {len(known):,} before, {len(lost):,} lost")
    return int(bool(lost))


if __name__ == "__main__":
    sys.exit(main())
