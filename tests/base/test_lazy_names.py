"""Names of a package are imported when they are first used, and only those that its stub lists."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import anoncore

STUB = """
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lazy_people import rooms as rooms
    from lazy_people.ages import OLDEST as OLDEST
    from lazy_people.ages import YOUNGEST as YOUNGEST
"""
PACKAGE = """
from anoncore.base.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
"""


def test_a_name_is_imported_when_it_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "lazy_people"
    folder.mkdir()
    files = {
        "__init__.pyi": STUB,
        "__init__.py": PACKAGE,
        "rooms.py": "",
        "ages.py": "OLDEST, YOUNGEST, HIDDEN = 9, 1, 0",
    }
    for name, text in files.items():
        (folder / name).write_text(text, "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    people = importlib.import_module("lazy_people")
    assert people.__all__ == ["OLDEST", "YOUNGEST"]
    assert dir(people) == ["OLDEST", "YOUNGEST", "rooms"]
    assert "lazy_people.ages" not in sys.modules
    assert people.OLDEST == 9
    assert "lazy_people.ages" in sys.modules
    assert people.rooms.__name__ == "lazy_people.rooms"
    with pytest.raises(AttributeError, match="module 'lazy_people' has no attribute 'HIDDEN'"):
        people.HIDDEN  # noqa: B018  # looking it up is what is refused


@pytest.mark.parametrize("name", dir(anoncore))
def test_every_public_name_is_there(name: str) -> None:
    assert getattr(anoncore, name) is not None


def test_modules_that_users_call_are_attributes_but_come_not_with_all_names() -> None:
    modules = {"algorithms", "attacks", "datasets", "extend", "privacy", "requirements", "utility"}
    assert set(dir(anoncore)) - set(anoncore.__all__) == modules
    assert isinstance(anoncore.extend, ModuleType)


def test_the_package_alone_imports_neither_pandas_nor_numba() -> None:
    code = "import sys, anoncore; assert not {'pandas', 'numba', 'numpy'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
