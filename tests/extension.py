"""The package of the page "Bring your own method", written from the page and installed in a folder."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.pages import PAGES, ROOT, Block, blocks

PAGE = PAGES / "how-to" / "own-method.md"


def files() -> list[Block]:
    """The blocks of the page that are files."""
    return [block for block in blocks(PAGE) if block.file is not None]


def installed(folder: Path) -> dict[str, str]:
    """Write the files of the page and install its package; gives the environment of programs that have it.

    Skips the test where pip or hatchling, which install it, are not there.
    """
    for tool in ("pip", "hatchling"):
        if importlib.util.find_spec(tool) is None:
            pytest.skip(f"{tool}, which installs packages, is not installed")
    for block in files():
        (folder / str(block.file)).write_text(block.code, encoding="utf-8")
    (folder / "people.csv").write_text("age,disease\n" + "".join(f"{20 + row},flu\n" for row in range(9)), "utf-8")
    options = ["--no-index", "--no-deps", "--no-build-isolation", "--quiet", "--disable-pip-version-check"]
    command = [sys.executable, "-m", "pip", "install", *options, "--target", str(folder / "site"), str(folder)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    return os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), str(folder / "site")])}
