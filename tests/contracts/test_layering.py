"""Who may import whom."""

import pytest

from tests.contracts.source import ROOT, imported, python_files, short

FORBIDDEN = {
    "anoncore": ("streamlit", "plotly", "dashboard", "datasets", "tests"),
    "datasets": ("streamlit", "plotly", "dashboard", "tests"),
    "dashboard": ("tests",),
    "dashboard/charts": ("streamlit",),
}
"""No module of the key imports a module of the values, at the top or inside a function."""

ALLOWED = {
    "anoncore/cli.py": ("dashboard.launch",),
    "anoncore/recipe_source.py": ("datasets.table",),
}
"""`anoncore dashboard` hands over to the dashboard's own launcher; a recipe may name a built-in table."""


def uses(name, package):
    return name == package or name.startswith(f"{package}.")


@pytest.mark.parametrize("layer", FORBIDDEN)
def test_no_layer_imports_one_above_it(layer):
    wrong = [
        f"{short(path)}:{line} imports {name}"
        for path in python_files(layer)
        for line, name in imported(path)
        for package in FORBIDDEN[layer]
        if uses(name, package) and name not in ALLOWED.get(short(path), ())
    ]
    assert not wrong, "\n".join(wrong)


def test_the_reading_of_imports_finds_lazy_and_relative_ones(tmp_path, monkeypatch):
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
