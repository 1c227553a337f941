"""Who may import whom: rooms lie in layers, imports go down only, and files do not import each other in a circle."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from tests.contracts.source import ROOT, imported, python_files, short

LAYERS = (
    ("cli",),
    ("front",),
    ("publishing", "search"),
    ("recipes",),
    ("engines", "measures"),
    ("algorithms",),
    ("utility",),
    ("attacks",),
    ("privacy",),
    ("requirements",),
    ("release",),
    ("sources", "datasets"),
    ("table",),
    ("kernels",),
    ("base",),
)
"""The rooms of anoncore from the top down. A room imports from rooms of lower layers; those of one layer stay apart."""

PAGE_LAYERS = (
    ("app", "guarded_app"),
    ("views",),
    ("closer",),
    ("learn", "table"),
    ("elements",),
    ("board", "process"),
    ("session",),
    ("tasks",),
    ("charts", "serving"),
    ("markdown", "reproduction"),
)
"""The same of dashboard: its rooms, and the files at its root."""

LAYER_OF = {room: layer for layer, rooms in enumerate(LAYERS) for room in rooms}
PAGE_LAYER_OF = {room: layer for layer, rooms in enumerate(PAGE_LAYERS) for room in rooms}

OUTSIDE = {
    "anoncore": ("streamlit", "plotly", "dashboard", "tests"),
    "dashboard": ("tests",),
    "dashboard/charts": ("streamlit",),
}
"""No module of the key imports a module of the values, at the top or inside a function."""


def uses(name: str, package: str) -> bool:
    return name == package or name.startswith(f"{package}.")


def ways_up(path: Path) -> list[str]:
    """The imports of a file of a package that do not lead to its own room or to a lower layer of the package."""
    package, room = path.relative_to(ROOT).with_suffix("").parts[:2]
    layer_of = {"anoncore": LAYER_OF, "dashboard": PAGE_LAYER_OF}[package]
    wrong = []
    for line, name in imported(path):
        parts = name.split(".")
        if parts[0] != package or len(parts) < 2:
            continue
        other = parts[1]
        if other == "__version__" or other == room:
            continue
        if other not in layer_of or layer_of[other] <= layer_of[room]:
            wrong.append(f"{short(path)}:{line} imports {name}")
    return wrong


def test_the_root_holds_rooms_and_nothing_else() -> None:
    root = ROOT / "anoncore"
    rooms = {path.name for path in root.iterdir() if (path / "__init__.py").is_file()}
    assert rooms == set(LAYER_OF), "A room that is new needs its layer in LAYERS; one that is gone leaves it."
    assert sorted(path.name for path in root.glob("*.py")) == ["__init__.py", "__main__.py"]


def test_the_page_is_made_of_rooms_too() -> None:
    root = ROOT / "dashboard"
    rooms = {path.parent.name for path in root.glob("*/__init__.py")}
    files = {path.stem for path in root.glob("*.py")} - {"__init__"}
    assert files == {"app", "guarded_app", "markdown"}
    assert rooms | files == set(PAGE_LAYER_OF), "A room that is new needs its layer in PAGE_LAYERS."


@pytest.mark.slow
def test_rooms_of_the_page_import_from_lower_layers_only() -> None:
    paths = [path for path in python_files("dashboard") if path.parent.name != "dashboard" or path.stem != "__init__"]
    wrong = [way for path in paths for way in ways_up(path)]
    assert not wrong, "\n".join(wrong)


@pytest.mark.slow
@pytest.mark.parametrize("room", sorted(LAYER_OF))
def test_a_room_imports_from_lower_layers_only(room: str) -> None:
    wrong = [one for path in python_files(f"anoncore/{room}") for one in ways_up(path)]
    assert not wrong, "\n".join(wrong)


@pytest.mark.slow
@pytest.mark.parametrize("layer", OUTSIDE)
def test_the_core_knows_no_page_and_charts_know_no_widgets(layer: str) -> None:
    wrong = [
        f"{short(path)}:{line} imports {name}"
        for path in python_files(layer)
        for line, name in imported(path)
        for package in OUTSIDE[layer]
        if uses(name, package)
    ]
    assert not wrong, "\n".join(wrong)


def test_no_two_files_of_a_layer_or_of_neighbours_share_a_telling_name() -> None:
    """Kernels are named for the algorithm that they serve; every other name stands once in anoncore."""
    seen: dict[str, str] = {}
    twice = []
    for path in python_files("anoncore"):
        if path.stem == "__init__" or path.relative_to(ROOT).parts[1] == "kernels":
            continue
        if path.stem in seen:
            twice.append(f"{short(path)} and {seen[path.stem]}")
        seen[path.stem] = short(path)
    assert not twice, "Two files of one name are hard to tell apart: " + "; ".join(twice)


def circles(files: list[Path]) -> list[list[str]]:
    """Files that import each other, directly or through others: every strongly connected set of more than one."""
    modules = {".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path for path in files}
    rows, columns = [], []
    place = {module: number for number, module in enumerate(modules)}
    for module, path in modules.items():
        for _, name in imported(path):
            target = name if name in modules else name.rpartition(".")[0]
            if target in modules and target != module:
                rows.append(place[module])
                columns.append(place[target])
    graph = csr_array((np.ones(len(rows)), (rows, columns)), shape=(len(modules), len(modules)))
    _, labels = connected_components(graph, directed=True, connection="strong")
    members = [[module for module in modules if labels[place[module]] == label] for label in set(labels)]
    return [sorted(names) for names in members if len(names) > 1]


@pytest.mark.slow
def test_no_files_import_each_other_in_a_circle() -> None:
    found = circles([path for path in python_files("anoncore", "dashboard") if path.parent.name != "anoncore"])
    assert found == [], f"Move what they share to a file below both: {found}"


def test_a_circle_of_files_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    room = tmp_path / "anoncore" / "table"
    room.mkdir(parents=True)
    for name, text in {
        "first": "from anoncore.table.second import x",
        "second": "def later():\n    from anoncore.table import third",
        "third": "if TYPE_CHECKING:\n    from anoncore.table.first import y",
        "fourth": "from anoncore.table.first import y",
    }.items():
        (room / f"{name}.py").write_text(text, encoding="utf-8")
    for module in ("tests.contracts.source", __name__):
        monkeypatch.setattr(f"{module}.ROOT", tmp_path)
    assert circles(sorted(room.glob("*.py"))) == [
        ["anoncore.table.first", "anoncore.table.second", "anoncore.table.third"]
    ]


@pytest.mark.parametrize(
    ("room", "text", "is_wrong"),
    [
        ("kernels", "from anoncore.table.domain import Domain", True),
        ("kernels", "import anoncore.table", True),
        ("kernels", "def later():\n    from anoncore import table", True),
        ("kernels", "if TYPE_CHECKING:\n    from anoncore.table.domain import Domain", True),
        ("kernels", "importlib.import_module('anoncore.table.domain')", True),
        ("kernels", "from anoncore import Microdata", True),
        ("engines", "from anoncore.measures import evaluation", True),
        ("kernels", "from anoncore.base import errors\nfrom anoncore.kernels import sweep", False),
        ("engines", "from anoncore import __version__\nimport numpy", False),
    ],
)
def test_every_way_up_is_found(
    room: str, text: str, is_wrong: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "anoncore" / room / "module.py"
    source.parent.mkdir(parents=True)
    source.write_text(text, encoding="utf-8")
    for module in ("tests.contracts.source", __name__):
        monkeypatch.setattr(f"{module}.ROOT", tmp_path)
    assert bool(ways_up(source)) == is_wrong


def test_the_reading_of_imports_finds_lazy_and_relative_ones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = tmp_path / "anoncore" / "sub" / "module.py"
    source.parent.mkdir(parents=True)
    source.write_text(
        "import os.path\n"
        "from .. import release\n"
        "from .sibling import thing\n"
        "def later():\n    import streamlit as st\n    from plotly import graph_objects\n"
        "    importlib.import_module('dashboard.app')\n    __import__('x')\n",
        encoding="utf-8",
    )
    monkeypatch.setattr("tests.contracts.source.ROOT", tmp_path)
    assert {name for _, name in imported(source)} == {
        "os.path",
        "anoncore.release",
        "anoncore.sub.sibling.thing",
        "streamlit",
        "plotly.graph_objects",
        "dashboard.app",
        "x",
    }
    assert ROOT.joinpath("anoncore").is_dir()
