"""What the site reads off the program itself: methods, requirements, measures, commands, and the files at the root.

A page asks for a piece by a comment of its own line, `<!-- methods -->` or `<!-- help: run -->`.
"""

from __future__ import annotations

import importlib
import inspect
import io
import os
import pkgutil
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import redirect_stdout
from pathlib import Path
from types import ModuleType, NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from pydantic.fields import FieldInfo

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from docstring_forms import FACTS, listed  # noqa: E402
from rooms import drawing  # noqa: E402
from shown_code import OUTPUT, ShownCode, notebook_pages, plotly_file  # noqa: E402

from anoncore.algorithms import ALGORITHMS, Algorithm  # noqa: E402
from anoncore.base.model import Model  # noqa: E402
from anoncore.base.number import Number  # noqa: E402
from anoncore.cli import main  # noqa: E402
from anoncore.datasets import tables as built_in_tables  # noqa: E402
from anoncore.measures.criteria import CRITERIA, FAMILIES, NUMBERS  # noqa: E402
from anoncore.measures.evaluation import MEASURES, MEASURES_OF_SEVERAL  # noqa: E402
from anoncore.release.openness import QUESTION  # noqa: E402
from anoncore.requirements import REQUIREMENTS, Requirement  # noqa: E402

AT_THE_ROOT = {"contributing.md": "CONTRIBUTING.md", "changes.md": "CHANGELOG.md"}
"""Pages of the site that lie at the root of the repository, where its readers look for them."""
SHOWN = ShownCode()
_ASKED = re.compile(r"^<!-- ([a-z]+)(?:: ([a-z]+))? -->$", re.MULTILINE)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that lie at the root of the repository, those of the notebooks, and what draws pictures."""
    for page, file in AT_THE_ROOT.items():
        files.append(File.generated(config, page, content=(ROOT / file).read_text(encoding="utf-8")))
    for file in [*notebook_pages(config, files), plotly_file(config)]:
        files.append(file)
    return files


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Put in what the page asks for, and run its code where the page shows outputs."""
    if OUTPUT in markdown:
        markdown = SHOWN.run(markdown, page.file.src_uri)
    return _ASKED.sub(lambda asked: PIECES[asked[1]](asked[2]), markdown)


def on_page_content(html: str, page: Page, **_: Any) -> str:
    """Put in the outputs of the page's code."""
    return SHOWN.fill(html, "../" * page.file.src_uri.count("/"))


def methods(_: str | None = None) -> str:
    """Every algorithm by family: what it does, its facts and its fields."""
    families: dict[str, list[type[Any]]] = {}
    for model in ALGORITHMS.values():
        families.setdefault(model.family, []).append(model)
    lines: list[str] = []
    for family, models in families.items():
        lines.append(f"## {family.capitalize()}\n")
        lines += [_section(model, "algorithms", "###") for model in models]
    return "\n".join(lines)


def requirements(_: str | None = None) -> str:
    """Every requirement: what it demands, its facts and its fields."""
    return "\n".join(_section(model, "requirements", "##") for model in REQUIREMENTS.values())


def measures(_: str | None = None) -> str:
    """The numbers by which releases are compared, those that functions tell besides, and every function."""
    lines = ["## Numbers on one scale\n", COMPARED]
    for family, title in FAMILIES.items():
        lines += [f"\n### {title}\n", _numbers(one for one in CRITERIA.values() if one.family == family)]
    lines += ["\n## Further numbers\n", TOLD, "", _numbers(one for one in NUMBERS.values() if one.name not in CRITERIA)]
    functions = []
    for name, function in {**MEASURES, **MEASURES_OF_SEVERAL}.items():
        package, _dot, short = name.partition(".")
        path = documented(importlib.import_module(f"anoncore.{package}"), short)
        functions.append((f"[`{name}`][{path}]", _first_paragraph(function)))
    lines += ["\n## Measures\n", FUNCTIONS, "", _table(("Name", "What it gives"), functions)]
    return "\n".join(lines)


def _numbers(numbers: Iterable[Number]) -> str:
    directions = {True: "higher", False: "lower", None: "neither"}
    rows = [
        (f"`{one.name}`", f"**{one.title}.** {one.meaning}", directions[one.higher_is_better], one.source)
        for one in numbers
    ]
    return _table(("Name", "What it says", "Better is", "Source"), rows)


COMPARED = """\
These names work in `anoncore evaluate --measure`, in sweeps and as targets. Those about a sensitive attribute take the
first one unless `--attribute` names another."""

TOLD = """\
These are part of what a measure gives, but they need a target, or only one form of releases has them."""

FUNCTIONS = """\
These names work in the `measures` of a recipe and in `anoncore evaluate --measure`. In Python each is a function of
`anoncore.privacy`, `anoncore.attacks` or `anoncore.utility`; its page tells the arguments."""


def command_help(command: str | None) -> str:
    """What `anoncore COMMAND --help` prints; without a command, `anoncore --help`."""
    os.environ.update(COLUMNS="88", NO_COLOR="1")
    printed = io.StringIO()
    try:
        with redirect_stdout(printed):
            main([*([command] if command else []), "--help"])
    except SystemExit as end:
        if end.code:
            raise
    return f"```text\n{printed.getvalue().rstrip()}\n```"


def tables(_: str | None = None) -> str:
    """The built-in tables."""
    rows = [(f"`{name}`", one.title, one.description) for name, one in built_in_tables().items()]
    return _table(("Name", "Title", "What it is"), rows)


def api(package: str | None) -> str:
    """The public names of a package from their docstrings: functions, then classes, then constants."""
    module = importlib.import_module("anoncore" if package in (None, "anoncore") else f"anoncore.{package}")
    names = [name for name in module.__all__ if name != "__version__"]

    def rank(name: str) -> tuple[int, str]:
        value = getattr(module, name)
        return (0 if inspect.isfunction(value) else 1 if inspect.isclass(value) else 2), name.lower()

    return "\n\n".join(f"::: {documented(module, name)}" for name in sorted(names, key=rank))


def documented(package: ModuleType, name: str) -> str:
    """The path by which a public name of a package is documented.

    A function that is called like its own file stands where it is defined, because the shorter path is the file's.
    """
    submodules = {one.name for one in pkgutil.iter_modules(package.__path__)}
    home = getattr(package, name).__module__ if name in submodules else package.__name__
    return f"{home}.{name}"


PIECES: Mapping[str, Callable[[str | None], str]] = {
    "api": api,
    "measures": measures,
    "methods": methods,
    "requirements": requirements,
    "help": command_help,
    "tables": tables,
    "rooms": lambda _: drawing(),
}


def _section(model: type[Model], package: str, heading: str) -> str:
    title = f"{model.title[0].upper()}{model.title[1:]}"
    summary = getattr(model, "summary", "")
    about = [
        f"{heading} {title} {{#{model.name}}}",
        f"`{model.name}` in recipes and on the command line, "
        f"[`{model.__name__}`][anoncore.{package}.{model.__name__}] in Python.",
        summary or _first_paragraph(model),
        "\n".join(_facts(model)),
        _table(
            ("Field", "Takes", "Default", "Meaning"),
            [
                (f"`{name}`", _takes(info), _default(info), info.description or "")
                for name, info in model.model_fields.items()
            ],
        ),
    ]
    return "\n\n".join(part for part in about if part) + "\n"


def _facts(model: type[Model]) -> list[str]:
    """The facts of the docstring as lines of a list; the source is that of the model."""
    text = listed(inspect.cleandoc(model.__doc__ or ""))
    facts = [line for line in text.splitlines() if re.match(rf"- \*\*({'|'.join(FACTS)}):\*\*", line)]
    told = [line for line in facts if not line.startswith("- **Source:")]
    if issubclass(model, Algorithm):
        told.append(f"- **{QUESTION}** {model.minimality.text}")
    return [*told, f"- **Source:** {model.source}."]


def _first_paragraph(described: object) -> str:
    return " ".join(inspect.cleandoc(described.__doc__ or "").split("\n\n")[0].split())


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    cells = [[cell.replace("|", "&#124;").replace("\n", " ") for cell in row] for row in (head, *rows)]
    lines = [f"| {' | '.join(row)} |" for row in cells]
    return "\n".join([lines[0], f"|{' --- |' * len(cells[0])}", *lines[1:]])


def _takes(info: FieldInfo) -> str:
    """What a field takes, e.g. `whole number, 1 or more`."""
    annotation = info.annotation
    if get_origin(annotation) in (Union, UnionType):
        rest = [part for part in get_args(annotation) if part is not NoneType]
        annotation = rest[0] if len(rest) == 1 else annotation
    if get_origin(annotation) is Literal:
        return " or ".join(f"`{choice}`" for choice in get_args(annotation))
    names: dict[Any, str] = {int: "whole number", float: "number", str: "text", bool: "true or false"}
    origin = get_origin(annotation) or annotation
    kind = names.get(annotation) or ("list" if origin in (tuple, list) else "table" if origin is dict else "value")
    words = {"ge": "{:g} or more", "gt": "above {:g}", "le": "at most {:g}", "lt": "below {:g}"}
    bounds = [
        text.format(bound)
        for rule in info.metadata
        for key, text in words.items()
        if (bound := getattr(rule, key, None)) is not None
    ]
    return ", ".join([kind, *bounds])


def _default(info: FieldInfo) -> str:
    if info.is_required():
        return "required"
    value = info.get_default(call_default_factory=True)
    if isinstance(value, tuple | list):
        return ", ".join(one.label() if isinstance(one, Requirement) else str(one) for one in value) or "none"
    return {None: "none", True: "`true`", False: "`false`"}.get(value) or f"`{value}`" if _is_plain(value) else "none"


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, str | int | float)
