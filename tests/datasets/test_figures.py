"""Tables of figures in CSV files: their shape, and the sentence that a file gets which does not fit."""

from __future__ import annotations

from pathlib import Path

import pytest

from anoncore.base.errors import DataError
from anoncore.datasets.census import read_figures

PARENTS = {"sex": ("f", "m"), "age": ("young", "old")}
RIGHT = "sex,age,x,y,z\nf,young,1,2,3\nf,old,4,5,6\nm,young,7,8,9\nm,old,10,11,12.5\n"


def test_figures_have_one_axis_per_parent_and_one_for_the_values(tmp_path: Path) -> None:
    path = tmp_path / "figures.csv"
    path.write_text(RIGHT, "utf-8")
    found = read_figures(path, PARENTS)
    assert found.values == ("x", "y", "z")
    assert found.figures.tolist() == [[[1, 2, 3], [4, 5, 6]], [[7, 8, 9], [10, 11, 12.5]]]
    path.write_text("x,y\n40,60\n", "utf-8")
    assert read_figures(path, {}, ("x", "y")).figures.tolist() == [40, 60]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("sex,age", "age,sex", "its first columns must be sex, age"),
        ("x,y,z", "x,z,y", "its values are x, z, y; they must be x, y, z"),
        ("m,old,10,11,12.5\n", "", "it has 3 rows of figures; it must have 4"),
        ("m,young", "m,older", "the row of m, older stands where m, young must be"),
        ("12.5", "many", "'many' is not a number"),
    ],
)
def test_figures_that_do_not_fit_are_refused(tmp_path: Path, old: str, new: str, message: str) -> None:
    path = tmp_path / "figures.csv"
    path.write_text(RIGHT.replace(old, new), "utf-8")
    with pytest.raises(DataError, match=message):
        read_figures(path, PARENTS, ("x", "y", "z"))
