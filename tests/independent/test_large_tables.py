"""What the disk engine writes, read from its files alone and checked from plain lists against its table."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from anoncore import Hierarchy
from anoncore.algorithms import RothkoSampling, RothkoTree
from anoncore.engines.large_run import LargeRun
from anoncore.requirements import BetaLikeness, DistinctDiversity, EntropyDiversity, KAnonymity, Requirement, TCloseness
from tests.engines.large_tables import run

from . import cells, definitions
from .mondrian import PlainMondrian
from .tables import TOWNS, WORK, Table
from .test_mondrian import all_hold

ROLES = {
    "who": "identifier",
    **dict.fromkeys(("age", "town", "work", "born"), "quasi-identifier"),
    "secret": "sensitive",
    "*": "insensitive",
}
KINDS = {"age": "numeric", "town": "nominal", "work": "nominal", "born": "numeric", "secret": "nominal"}
REQUIREMENTS: list[tuple[Requirement, ...]] = [
    (KAnonymity(k=6),),
    (KAnonymity(k=3), DistinctDiversity(l=3)),
    (KAnonymity(k=3), BetaLikeness(beta=0.8)),
    (EntropyDiversity(l=2.1), TCloseness(t=0.44, ground="equal")),
]


class Visitors(Table):
    """People of whom a day is known too, as its ordinal."""

    quasi = ("age", "town", "work", "born")


def visitors(seed: int, n: int, numbered: bool) -> Visitors:
    """A table with missing cells in every column; `numbered` rows have a number of their own that is published."""
    random = Random(f"large {seed}")

    def draw(values: Sequence[Any], missing: float) -> list[Any]:
        return [None if random.random() < missing else random.choice(values) for _ in range(n)]

    columns = {
        "who": [f"who-{random.randrange(10**9)}" for _ in range(n)],
        "age": draw([-3.0, 0.5, *map(float, range(20, 60))], 0.05),
        "town": draw(TOWNS, 0.05),
        "work": draw(list(WORK), 0.05),
        "born": draw([float(date(2020, 1, 1).toordinal() + day) for day in range(40)], 0.05),
        "secret": draw(["flu", "cold", "gout", "ulcer"], 0.05),
        "note": draw(["x", "y"], 0.05),
    }
    if numbered:
        columns["number"] = random.sample(range(n), n)
    return Visitors(columns, [0] * n, {"work": WORK}, frozenset({"age", "born"}))


def arrow(table: Table, rows: Sequence[int]) -> pa.Table:
    """The rows of a table in this order, its days as days."""
    columns = {name: [values[row] for row in rows] for name, values in table.columns.items()}
    days = [None if day is None else date.fromordinal(int(day)) for day in columns["born"]]
    return pa.table(columns | {"born": pa.array(days, type=pa.date32()).cast(pa.timestamp("us"))})


def released(folder: Path) -> list[dict[str, Any]]:
    """All rows of all files of a release."""
    return [row for file in sorted(folder.glob("*.parquet")) for row in pq.read_table(file).to_pylist()]


def fits(table: Table, name: str, text: str, value: Any) -> bool:
    if name in table.numeric:
        return cells.fits_range(text, value)
    return cells.fits_node(text, value, table.paths[name]) if name in table.paths else cells.fits_set(text, value)


def classes(table: Visitors, rows: list[dict[str, Any]]) -> Visitors:
    """The table with the published class of each row, once every row is seen to be published once and truly."""
    assert sorted(row["number"] for row in rows) == list(range(table.n_rows))
    by_number = {row["number"]: row for row in rows}
    names: dict[tuple[str, ...], int] = {}
    group = []
    for row in table.rows():
        shown = by_number[row["number"]]
        assert set(shown) == set(row) - {"who"}
        assert all(fits(table, name, shown[name], row[name]) for name in table.quasi), (shown, row)
        assert all(shown[name] == row[name] for name in ("secret", "note")), (shown, row)
        group.append(names.setdefault(tuple(shown[name] for name in table.quasi), len(names)))
    return replace(table, group=group)


def check_numbers(table: Visitors, folder: Path, made: LargeRun) -> None:
    """A run and the summary of its release tell what the rows have; the summary has four digits of the loss."""
    told = json.loads((folder / "_release.json").read_text(encoding="utf-8"))
    sizes = [len(rows) for rows in table.groups()]
    assert (told["rows"], told["groups"]) == (table.n_rows, len(sizes))
    assert (told["smallest group"], told["largest group"]) == (min(sizes), max(sizes))
    assert told["discernibility"] == sum(size**2 for size in sizes)
    assert made.information_loss == pytest.approx(definitions.information_loss(table, "generalized"))
    assert told["information loss"] == round(made.information_loss, 4)


ALGORITHMS = [
    partial(RothkoTree, memory_rows=11, frontier_memory=0.001),
    partial(RothkoTree, memory_rows=60),
    partial(RothkoTree, memory_rows=10_000),
    partial(RothkoSampling, memory_rows=40, sample_rows=30, seed=1),
    partial(RothkoSampling, memory_rows=90, sample_rows=90, growth="confident", seed=2),
]


@pytest.mark.slow
@pytest.mark.parametrize("requirements", REQUIREMENTS)
@pytest.mark.parametrize("recoding", ["rows", "regions"])
def test_every_row_is_published_once_in_a_class_that_holds(tmp_path, requirements, recoding):
    table = visitors(1, 260, numbered=True)
    source = tmp_path / "people.parquet"
    pq.write_table(arrow(table, range(table.n_rows)), source)
    by_memory = []
    for place, make in enumerate(ALGORITHMS):
        folder = tmp_path / f"out-{place}"
        algorithm = make(requirements=requirements, recoding=recoding)
        made = run(source, algorithm, folder, roles=ROLES, kinds=KINDS, hierarchies={"work": lambda _: Hierarchy(WORK)})
        rows = released(folder)
        found = classes(table, rows)
        by_memory.append(sorted(rows, key=lambda row: row["number"]))
        assert len(found.groups()) > 3
        assert all(all_hold(requirements, found, group) for group in found.groups())
        if recoding == "rows":
            check_numbers(found, folder, made)
        for file in folder.iterdir():
            assert b"who-" not in file.read_bytes()
    assert by_memory[0] == by_memory[1] == by_memory[2]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_the_tree_makes_the_classes_of_the_plain_definition(tmp_path, seed):
    requirements = REQUIREMENTS[seed % len(REQUIREMENTS)]
    table = visitors(seed, 70, numbered=True)
    source = tmp_path / "people.parquet"
    pq.write_table(arrow(table, range(table.n_rows)), source)
    algorithm = RothkoTree(requirements=requirements, memory_rows=9)
    run(source, algorithm, tmp_path / "out", roles=ROLES, kinds=KINDS, hierarchies={"work": lambda _: Hierarchy(WORK)})
    found = classes(table, released(tmp_path / "out"))
    plain = PlainMondrian(table, partial(all_hold, requirements, table), strict=True)
    assert sorted(map(sorted, found.groups())) == sorted(map(sorted, plain.groups()))
    for rows in found.groups():
        for name in table.numeric:
            check_tight(found, name, rows, released(tmp_path / "out"))


def check_tight(table: Visitors, name: str, rows: list[int], published: list[dict[str, Any]]) -> None:
    """A range ends at numbers that somebody in the class has."""
    numbers = {row["number"] for row in (table.rows()[row] for row in rows)}
    (text,) = {row[name] for row in published if row["number"] in numbers}
    low, high = definitions.region(table, name, rows)
    ends = cells.bounds(text.removesuffix(" or (missing)"))
    if ends is not None:
        assert cells.as_number(ends[0]) == low
        assert text.endswith("(missing)") or cells.as_number(ends[1]) == high


@pytest.mark.parametrize("numbered", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_the_order_of_the_rows_does_not_show(tmp_path, numbered):
    table = visitors(2, 200, numbered)
    orders = [list(range(200)), list(reversed(range(200))), Random(0).sample(range(200), 200)]
    found = []
    for place, order in enumerate(orders):
        source, folder = tmp_path / f"in-{place}.parquet", tmp_path / f"out-{place}"
        pq.write_table(arrow(table, order), source)
        algorithm = RothkoTree(requirements=(KAnonymity(k=5),), memory_rows=25)
        run(source, algorithm, folder, roles=ROLES, kinds=KINDS, hierarchies={"work": lambda _: Hierarchy(WORK)})
        found.append([file.read_bytes() for file in sorted(folder.glob("*.parquet"))])
    assert len(found[0]) > 1
    assert found[0] == found[1] == found[2]


@pytest.mark.slow
def test_a_csv_file_and_a_folder_of_files_are_published_as_one_table(tmp_path):
    table = visitors(3, 150, numbered=True)
    # A blank cell of a CSV file is a missing one, and a day would be read as a text.
    towns = [None if town is None else town.strip() or "Ulm" for town in table.columns["town"]]
    days = [float(day or 0) for day in table.columns["born"]]
    table = replace(table, columns=table.columns | {"town": towns, "born": days})
    plain = pa.table(table.columns)
    pyarrow.csv.write_csv(plain, tmp_path / "people.csv")
    (tmp_path / "people").mkdir()
    for place, low in enumerate(range(0, 150, 40)):
        pq.write_table(plain.slice(low, 40), tmp_path / "people" / f"{place}.parquet")
    for name in ("people.csv", "people"):
        folder = tmp_path / f"{name}-out"
        algorithm = RothkoTree(requirements=(KAnonymity(k=4),), memory_rows=20)
        made = run(
            tmp_path / name,
            algorithm,
            folder,
            roles=ROLES,
            kinds=KINDS,
            hierarchies={"work": lambda _: Hierarchy(WORK)},
        )
        found = classes(table, released(folder))
        assert min(map(len, found.groups())) >= 4
        check_numbers(found, folder, made)
