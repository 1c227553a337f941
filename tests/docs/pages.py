"""The pages of the site as tests see them: their code blocks in order, and how each kind of block is run."""

from __future__ import annotations

import doctest
import io
import re
import shlex
import tomllib
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anoncore import Answers, JoinedRecipe, Policy, Recipe
from anoncore.cli import main

NO_RECIPES: dict[str, Callable[[str], object]] = {
    "policy.toml": Policy.loads,
    "answers.toml": Answers.loads,
    "hospital.toml": JoinedRecipe.loads,
}
"""Files of TOML that are no recipes, and what reads them."""
ROOT = Path(__file__).parents[2]
PAGES = ROOT / "docs" / "pages"
NOT_RUN = re.compile(r"<!-- not run: .+ -->")
_FENCE = re.compile(r"^(?P<indent> *)```(?P<language>\w*)(?P<rest>[^\n`]*)\n(?P<code>.*?)^(?P=indent)```$", re.M | re.S)
_TITLE = re.compile(r'title="([^"]+)"')
_SECONDS = re.compile(r"\d+\.\d+ s\b")
_SAME = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, the file that it is to be (or none), and where it stands.

    `follows` says that nothing stands between it and the block before, so that it shows what that printed.
    """

    language: str
    file: str | None
    code: str
    page: Path
    line: int
    is_run: bool
    follows: bool

    @property
    def where(self) -> str:
        """Page and line, for messages."""
        return f"{self.page.relative_to(ROOT).as_posix()}:{self.line}"


def pages() -> list[Path]:
    """Every page of the site that lies in its folder."""
    return sorted(PAGES.rglob("*.md"))


def blocks(page: Path) -> list[Block]:
    """The fenced blocks of a page, in order."""
    text = page.read_text(encoding="utf-8")
    found, end = [], 0
    for match in _FENCE.finditer(text):
        between = text[end : match.start()]
        indent = len(match["indent"])
        title = _TITLE.search(match["rest"])
        found.append(
            Block(
                language=match["language"],
                file=title[1] if title else None,
                code="".join(line[indent:] or "\n" for line in match["code"].splitlines(keepends=True)),
                page=page,
                line=text[: match.start()].count("\n") + 1,
                is_run=not NOT_RUN.search(between.strip().rpartition("\n")[2]),
                follows=not between.strip(),
            )
        )
        end = match.end()
    return found


class PageRun:
    """Runs the blocks of one page, one after the other, in the working directory; Python shares one namespace."""

    def __init__(self) -> None:
        self.names: dict[str, Any] = {"__name__": "__main__"}
        self.printed = ""

    def run(self, block: Block) -> None:
        """Run one block. Raises AssertionError, naming page and line, where it does not do what the page says."""
        if block.language == "text" and block.file is None:
            if block.follows and block.is_run:
                self._compare(block)
            return
        if not block.is_run:
            return
        if block.file is not None:
            Path(block.file).parent.mkdir(parents=True, exist_ok=True)
            Path(block.file).write_text(block.code, encoding="utf-8")
        if block.language == "python":
            self._python(block)
        elif block.language == "toml" and block.file in NO_RECIPES:
            NO_RECIPES[block.file](block.code)
        elif block.language == "toml":
            # A page may show a part of a recipe; the rest is the least there is.
            least = {"source": {"builtin": "census"}, "algorithm": {"name": "mondrian"}}
            Recipe.from_dict(least | tomllib.loads(block.code), folder=Path())
        elif block.language == "sh":
            self._shell(block)

    def _python(self, block: Block) -> None:
        # Empty lines before the code, so that a traceback names the line of the page.
        code = compile("\n" * block.line + block.code, str(block.page), "exec")
        with redirect_stdout(io.StringIO()) as printed:
            exec(code, self.names)
        self.printed = printed.getvalue()

    def _shell(self, block: Block) -> None:
        self.printed = ""
        for command in block.code.replace("\\\n", " ").splitlines():
            program, *arguments = shlex.split(command, comments=True) or [""]
            if not program:
                continue
            assert program == "anoncore", f"{block.where}: '{command}' cannot be run here; say why: <!-- not run: -->"
            with redirect_stdout(io.StringIO()) as printed, redirect_stderr(io.StringIO()) as told:
                code = main(arguments)
            assert not code, f"{block.where}: '{command}' ended with {code}: {printed.getvalue()}{told.getvalue()}"
            self.printed += printed.getvalue()

    def _compare(self, block: Block) -> None:
        shown, printed = (_SECONDS.sub("some s", text) for text in (block.code, self.printed))
        checker = doctest.OutputChecker()
        assert checker.check_output(shown, printed, _SAME), (
            f"{block.where}: {checker.output_difference(doctest.Example('', shown), printed, _SAME)}"
        )
