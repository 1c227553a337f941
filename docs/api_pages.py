"""The reference of Python names: a page for each public name of a package, and an index of them by family.

A function and a class that are called alike, such as `membership` and its result `Membership`, share a page: file
systems that take no notice of capitals could not hold two.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File

from anoncore.algorithms import ALGORITHMS
from anoncore.requirements import REQUIREMENTS

FOLDER = "reference/python"
_HEADING = re.compile(r"^## (.+?)(?: \{ #[\w-]+ \})?$", re.MULTILINE)


def package_of(name: str) -> ModuleType:
    """The package of a page of the reference; `anoncore` is the top itself."""
    return importlib.import_module("anoncore" if name == "anoncore" else f"anoncore.{name}")


def public_names(package: ModuleType) -> list[str]:
    """The names that have a page: functions and classes, without regard to capitals in the order."""
    names = (name for name in package.__all__ if callable(getattr(package, name)) and not _is_alias(package, name))
    return sorted(names, key=lambda name: (name.lower(), name))


def pages_of(package: ModuleType) -> dict[str, list[str]]:
    """The names on each page by the name of its file: a function first, then the class that is called like it."""
    pages: dict[str, list[str]] = {}
    for name in sorted(public_names(package), key=lambda name: inspect.isclass(getattr(package, name))):
        alike = (page for page in pages if _plain(page) == _plain(name))
        pages.setdefault(next(alike, name), []).append(name)
    return dict(sorted(pages.items(), key=lambda page: page[0].lower()))


def files(config: MkDocsConfig, packages: Iterable[str]) -> list[File]:
    """The generated pages of some packages."""
    made = []
    for name in packages:
        for page, names in pages_of(package_of(name)).items():
            made.append(File.generated(config, f"{FOLDER}/{name}/{page}.md", content=_page(package_of(name), names)))
    return made


def with_pages(nav: list[Any]) -> list[Any]:
    """The navigation with the generated pages below the index of their package."""
    entries: list[Any] = []
    for entry in nav:
        (title, below), *_ = entry.items() if isinstance(entry, Mapping) else ((None, entry),)
        index = re.fullmatch(rf"{FOLDER}/(\w+)/index\.md", below) if isinstance(below, str) else None
        if isinstance(below, list):
            entries.append({title: with_pages(below)})
        elif index is not None:
            pages = [{page: f"{FOLDER}/{index[1]}/{page}.md"} for page in pages_of(package_of(index[1]))]
            entries.append({title: [below, *pages]})
        else:
            entries.append(entry)
    return entries


def index(name: str) -> str:
    """The public names of a package by family, each with a line that says what it is, and its constants."""
    package = package_of(name)
    home = {one: page for page, names in pages_of(package).items() for one in names}
    families: dict[str, list[str]] = {}
    for one in public_names(package):
        families.setdefault(_family(getattr(package, one), one), []).append(one)
    lines: list[str] = []
    for family in sorted(families, key=_place):
        lines += [f"## {family}\n", "| Name | What it is |", "| --- | --- |"]
        for one in families[family]:
            link = f"{home[one]}.md#{documented(package, one)}"
            lines.append(f"| [<code>{_breakable(one)}</code>]({link}) | {_line(getattr(package, one))} |")
        lines.append("")
    constants = [one for one in package.__all__ if one not in home and one != "__version__"]
    return "\n".join([*lines, _beginning(package), *(f"\n::: {documented(package, one)}\n" for one in constants)])


def documented(package: ModuleType, name: str) -> str:
    """The path by which a public name of a package is documented.

    A function that is called like its own file stands where it is defined, because the shorter path is the file's.
    """
    submodules = {one.name for one in pkgutil.iter_modules(package.__path__)}
    home = getattr(package, name).__module__ if name in submodules else package.__name__
    return f"{home}.{name}"


def _is_alias(package: ModuleType, name: str) -> bool:
    """Whether a name stands for a type, such as `Progress`, and is no class or function of its own."""
    value = getattr(package, name)
    return not (inspect.isfunction(value) or inspect.isclass(value))


def _breakable(name: str) -> str:
    """A name that may break between its words, where a phone has no room for it."""
    return re.sub(r"(?<=_)|(?<=[a-z])(?=[A-Z])", "<wbr>", name)


def _plain(name: str) -> str:
    return name.replace("_", "").lower()


def _page(package: ModuleType, names: Iterable[str]) -> str:
    shown = [
        f"::: {documented(package, name)}\n    options: {{heading_level: {level}}}\n"
        for level, name in enumerate(names, start=1)
    ]
    return "\n".join([*shown, _beginning(package)])


def _beginning(package: ModuleType) -> str:
    """What all examples of a package begin with, where its docstring says it."""
    told, _, code = inspect.cleandoc(package.__doc__ or "").partition("Examples\n--------\n")[2].partition("\n\n")
    return f"{told}\n\n```pycon\n{code}\n```\n" if code else ""


def _family(value: Any, name: str) -> str:
    if inspect.isfunction(value):
        return _section_of_attack(name) if value.__module__.startswith("anoncore.attacks") else "Functions"
    if issubclass(value, Exception):
        return "Errors"
    if value in ALGORITHMS.values():
        return str(value.family).capitalize()
    return "Requirements" if value in REQUIREMENTS.values() else "Classes"


def _section_of_attack(name: str) -> str:
    """The section of the explanation in which an attack is explained."""
    pages = sorted((Path(__file__).parent / "pages" / "explanation").glob("attacks*.md"))
    text = "".join(page.read_text(encoding="utf-8") for page in pages)
    explained = re.search(rf"\{{ #{name} \}}|`{name}`", text)
    above = _HEADING.findall(text[: explained.start()]) if explained else []
    return above[-1] if above else "Further functions"


def _place(family: str) -> tuple[int, str]:
    """Where a family stands in an index: what is called first, what it answers with last."""
    last = {"Further functions": 1, "Classes": 2, "Errors": 3}
    return last.get(family, 0), "" if family not in last else family


def _line(value: Any) -> str:
    """The first sentence of a docstring, on one line of a table."""
    text = " ".join(inspect.cleandoc(value.__doc__ or "").split("\n\n")[0].split())
    return text.replace("|", "&#124;")
