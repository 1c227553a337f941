"""What the site reads off the program itself: methods, requirements, measures, commands, and the files at the root.

A page asks for a piece by a comment of its own line, `<!-- methods -->` or `<!-- help: run -->`.
"""

from __future__ import annotations

import importlib
import inspect
import io
import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import api_pages  # noqa: E402
from docstring_forms import listed  # noqa: E402
from rooms import drawing  # noqa: E402
from shown_code import OUTPUT, ShownCode, notebook_pages, plotly_file  # noqa: E402

import anoncore  # noqa: E402
from anoncore.algorithms import ALGORITHMS  # noqa: E402
from anoncore.base.model import Model  # noqa: E402
from anoncore.base.number import Number  # noqa: E402
from anoncore.cli import main  # noqa: E402
from anoncore.datasets import tables as built_in_tables  # noqa: E402
from anoncore.measures.criteria import CRITERIA, FAMILIES, NUMBERS  # noqa: E402
from anoncore.measures.evaluation import MEASURES, MEASURES_OF_SEVERAL  # noqa: E402
from anoncore.requirements import REQUIREMENTS  # noqa: E402

AT_THE_ROOT = {"contributing.md": "CONTRIBUTING.md", "changes.md": "CHANGELOG.md"}
"""Pages of the site that lie at the root of the repository, where its readers look for them."""
API_INDEX = re.compile(rf"{api_pages.FOLDER}/\w+/index\.md$")
SHOWN = ShownCode()
_SAMPLE = re.compile(r"^\[`(.+)`\]\((docs/samples/.+)\)$", re.MULTILINE)
_ASKED = re.compile(r"^<!-- ([a-z]+)(?:: ([a-z]+))? -->$", re.MULTILINE)


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Put the pages of Python names into the navigation, and say of which version the site is."""
    config.nav = api_pages.with_pages(config.nav or [])
    config.copyright = f"anoncore {anoncore.__version__}. MIT licence."
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages of the root of the repository, of the notebooks and of Python names, and what draws pictures."""
    packages = [file.src_uri.split("/")[-2] for file in files if API_INDEX.match(file.src_uri)]
    for page, file in AT_THE_ROOT.items():
        content = _SAMPLE.sub(_shown_sample, (ROOT / file).read_text(encoding="utf-8"))
        files.append(File.generated(config, page, content=content))
    for file in [*notebook_pages(config, files), *api_pages.files(config, packages), plotly_file(config)]:
        files.append(file)
    return files


def _shown_sample(link: re.Match[str]) -> str:
    """The file that a line links, as a block of its own: the site has no other place for it."""
    language = "diff" if link[2].endswith(".diff") else "python"
    return f'```{language} title="{link[1]}"\n{(ROOT / link[2]).read_text(encoding="utf-8")}```'


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Put in what the page asks for, and run its code where the page shows outputs."""
    if OUTPUT in markdown:
        markdown = SHOWN.run(markdown, page.file.src_uri)
    return _ASKED.sub(lambda asked: PIECES[asked[1]](asked[2]), markdown)


def on_page_content(html: str, page: Page, **_: Any) -> str:
    """Put in the outputs of the page's code."""
    return SHOWN.fill(html, "../" * page.file.src_uri.count("/"))


def methods(_: str | None = None) -> str:
    """Every algorithm by family: what it does, and when to take it."""
    families: dict[str, list[type[Any]]] = {}
    for model in ALGORITHMS.values():
        families.setdefault(model.family, []).append(model)
    lines: list[str] = []
    for family, models in families.items():
        lines.append(f"## {family.capitalize()}\n")
        lines += [_section(model, "algorithms", "###") for model in models]
    return "\n".join(lines)


def requirements(_: str | None = None) -> str:
    """Every requirement: what it demands, and when to take it."""
    return "\n".join(_section(model, "requirements", "##") for model in REQUIREMENTS.values())


def numbers(_: str | None = None) -> str:
    """The numbers by which releases are compared, by what they tell."""
    lines: list[str] = []
    for family, title in FAMILIES.items():
        lines += [f"\n## {title}\n", _numbers(one for one in CRITERIA.values() if one.family == family)]
    return "\n".join(lines)


def further_numbers(_: str | None = None) -> str:
    """The numbers by which releases are not compared."""
    return _numbers(one for one in NUMBERS.values() if one.name not in CRITERIA)


def measures(_: str | None = None) -> str:
    """Every function that measures a release."""
    functions = []
    for name, function in {**MEASURES, **MEASURES_OF_SEVERAL}.items():
        package, _dot, short = name.partition(".")
        path = api_pages.documented(importlib.import_module(f"anoncore.{package}"), short)
        functions.append((f"[`{name}`][{path}]", _first_paragraph(function)))
    return _table(("Name", "What it gives"), functions)


def _numbers(numbers: Iterable[Number]) -> str:
    directions = {True: "higher", False: "lower", None: "neither"}
    rows = [
        (f"`{one.name}`", f"**{one.title}.** {one.meaning}", directions[one.higher_is_better], one.source)
        for one in numbers
    ]
    return _table(("Name", "What it says", "Better is", "Source"), rows)


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
    return f"```console\n{printed.getvalue().rstrip()}\n```"


def tables(_: str | None = None) -> str:
    """The built-in tables."""
    rows = [(f"`{name}`", one.title, one.description) for name, one in built_in_tables().items()]
    return _table(("Name", "Title", "What it is"), rows)


PIECES: Mapping[str, Callable[[str | None], str]] = {
    "api": lambda package: api_pages.index(str(package)),
    "further": further_numbers,
    "measures": measures,
    "numbers": numbers,
    "methods": methods,
    "requirements": requirements,
    "help": command_help,
    "tables": tables,
    "rooms": lambda _: drawing(),
}


def _section(model: type[Model], package: str, heading: str) -> str:
    about = [
        f"{heading} {model.title[0].upper()}{model.title[1:]} {{#{model.name}}}",
        getattr(model, "summary", "") or _first_paragraph(model),
        "\n".join(_facts(model)),
        f"`{model.name}` in recipes; [fields, ranges and defaults][anoncore.{package}.{model.__name__}].",
    ]
    return "\n\n".join(part for part in about if part) + "\n"


def _facts(model: type[Model]) -> list[str]:
    """When to take the model and when not, as lines of a list, and where it comes from."""
    text = listed(inspect.cleandoc(model.__doc__ or ""))
    facts = [line for line in text.splitlines() if re.match(r"- \*\*(Use|Avoid):\*\*", line)]
    words = {"- **Use:** ": "- **Take it if:** ", "- **Avoid:** ": "- **Rather not if:** "}
    for fact, said in words.items():
        facts = [line.replace(fact, said) for line in facts]
    return [*facts, f"- **Source:** {model.source}."]


def _first_paragraph(described: object) -> str:
    return " ".join(inspect.cleandoc(described.__doc__ or "").split("\n\n")[0].split())


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    cells = [[cell.replace("|", "&#124;").replace("\n", " ") for cell in row] for row in (head, *rows)]
    lines = [f"| {' | '.join(row)} |" for row in cells]
    return "\n".join([lines[0], f"|{' --- |' * len(cells[0])}", *lines[1:]])
