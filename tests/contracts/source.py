"""The files of the repository, as contracts see them."""

from __future__ import annotations

import ast
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("anoncore", "dashboard", "tests")


def python_files(*packages: str) -> list[Path]:
    """Every Python file of the packages, or of all."""
    return sorted(path for package in packages or PACKAGES for path in (ROOT / package).rglob("*.py"))


def short(path: Path) -> str:
    """The path as it is written in messages."""
    return path.relative_to(ROOT).as_posix()


def imported(path: Path) -> tuple[tuple[int, str], ...]:
    """Line and full name of every import, also of those inside functions and by `import_module` or `__import__`."""
    return _imports_of(path.read_text(encoding="utf-8"), path.relative_to(ROOT).parts[:-1])


@cache
def _imports_of(text: str, package: tuple[str, ...]) -> tuple[tuple[int, str], ...]:
    """The imports of a file of a package, found once for all contracts."""
    return tuple(_found_imports(text, package))


def _found_imports(text: str, package: tuple[str, ...]) -> Iterator[tuple[int, str]]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom):
            above = list(package[: len(package) - node.level + 1]) if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            for alias in node.names:
                yield node.lineno, f"{base}.{alias.name}"
        elif isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
            function = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if function in ("import_module", "__import__") and isinstance(node.args[0].value, str):
                yield node.lineno, node.args[0].value


def tracked() -> list[str]:
    """Paths that git tracks; skips the test where there is no git."""
    try:
        listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        return pytest.skip(f"git cannot list the files here: {error}")
    return listed.stdout.splitlines()
