"""Hierarchies from files in the form of ARX."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from anoncore import Microdata
from anoncore.base.errors import DataError
from anoncore.table.hierarchy_files import read_hierarchy
from tests.shared_data import FOLDER, needs


@pytest.mark.parametrize(
    "text",
    [
        "Bonn;DE;*\nKöln;DE;*\nLyon;FR;*\n",
        "Bonn,DE,*\r\nKöln,DE,*\r\n\r\nLyon,FR,*\r\n",
        '\ufeff"Bonn","DE","*"\n"Köln","DE","*"\n"Lyon","FR","*"',
    ],
)
def test_separators_line_ends_quotes_and_byte_order_mark(text: str, tmp_path: Path) -> None:
    (tmp_path / "city.csv").write_bytes(text.encode())
    wanted = {"Bonn": ("DE", "*"), "Köln": ("DE", "*"), "Lyon": ("FR", "*")}
    assert read_hierarchy(tmp_path / "city.csv").paths == wanted
    assert read_hierarchy(text.encode()).paths == wanted


def test_values_may_hold_the_other_separator() -> None:
    paths = read_hierarchy(b'"Lyon, FR";city;*\n"Bonn, DE";city;*\n').paths
    assert set(paths) == {"Lyon, FR", "Bonn, DE"}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "'h.csv' is empty"),
        (b"\n\n", "'h.csv' is empty"),
        (b"K\xf6ln,DE,*\n", "'h.csv' is not UTF-8"),
        (b'"Bonn,DE\n', "'h.csv' cannot be read as CSV"),
        (b"a,x,*\na,y,*\n", "'h.csv': The hierarchy lists the value 'a' twice"),
        (b"a,x,*\nb,*\n", "'h.csv': Every value of a hierarchy needs the same number"),
        (b"a,x,p,*\nb,x,q,*\n", "'h.csv': The hierarchy puts 'x' under both 'p' and 'q'"),
    ],
)
def test_what_is_no_hierarchy_is_refused_by_name(content: bytes, message: str) -> None:
    with pytest.raises(DataError, match=f"^{message}") as caught:
        read_hierarchy(content, "h.csv")
    assert "\n" not in str(caught.value)


def test_a_missing_file_is_named_without_its_folder(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"^The hierarchy 'gone\.csv' cannot be read: no such file"):
        read_hierarchy(tmp_path / "gone.csv")


@needs("hierarchies", "adult.csv")
@pytest.mark.parametrize("name", ["education", "age", "workclass"])
def test_hierarchies_of_a_public_table_fit_it(name: str) -> None:
    hierarchy = read_hierarchy(FOLDER / "hierarchies" / f"adult_hierarchy_{name}.csv")
    column = pd.read_csv(FOLDER / "adult.csv", usecols=[name])
    data = Microdata(column, roles={name: "quasi-identifier"}, hierarchies={name: hierarchy})
    assert data.domain[name].tree is not None
    assert {path[-1] for path in hierarchy.paths.values()} == {"*"}
