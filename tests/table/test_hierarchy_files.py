"""Hierarchies from files in the form of ARX."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anoncore import Hierarchy, Microdata
from anoncore.base.errors import DataError
from anoncore.table.hierarchy_defaults import calendar_hierarchy
from anoncore.table.hierarchy_files import hierarchy_text, read_hierarchy
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
        (b"a;" * 2_000, "'h.csv' has a line of more than 1000 levels"),
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


TEXTS = st.text(st.sampled_from('ab;,"\n\r\t *é\ufeff') | st.characters(codec="utf-8"), max_size=4)


@given(st.dictionaries(TEXTS, st.tuples(TEXTS, st.sampled_from(["x", "y;z", "u,v", '"'])), min_size=1, max_size=8))
@settings(max_examples=150)
def test_a_written_hierarchy_is_read_back(branches: dict[str, tuple[str, str]]) -> None:
    # One upper group per lower one, so that they nest.
    upper = dict(branches.values())
    hierarchy = Hierarchy({value: (low, upper[low], "*") for value, (low, _) in branches.items()})
    again = read_hierarchy(hierarchy_text(hierarchy).encode())
    assert again.paths == hierarchy.paths


def test_numbers_and_dates_come_back_as_texts_that_the_table_knows() -> None:
    column = pd.DataFrame(
        {"age": [21.0, 24.5, 30.0], "day": pd.to_datetime(["2020-01-01", "2020-01-09", "2021-03-04"])}
    )
    for hierarchy, name in (
        (Hierarchy.by_width(column["age"], 0.5), "age"),
        (calendar_hierarchy(column["day"]), "day"),
    ):
        again = read_hierarchy(hierarchy_text(hierarchy).encode())
        one, other = (
            Microdata(column, {"*": "insensitive"}, hierarchies={name: found}).domain[name].tree
            for found in (hierarchy, again)
        )
        assert one is not None
        assert other is not None
        assert one.labels == other.labels
        assert one.parent.tolist() == other.parent.tolist()


def test_values_that_a_file_cannot_tell_apart_are_named() -> None:
    assert hierarchy_text(Hierarchy({1: ["A"], "1": ["A"]})) == "1;A\n"
    with pytest.raises(DataError, match="Two values are written '1' and lie in different groups"):
        hierarchy_text(Hierarchy({1: ["A"], "1": ["B"]}))


def test_commas_in_quotes_do_not_tell_the_separator() -> None:
    paths = read_hierarchy(b'\n"[1, 2) x [3, 4)";"[1, 3) x [3, 5)";"*"\n').paths
    assert paths == {"[1, 2) x [3, 4)": ("[1, 3) x [3, 5)", "*")}
    assert read_hierarchy(b'5" pipe,long,*\n').paths == {'5" pipe': ("long", "*")}
