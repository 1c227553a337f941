"""Rothko on files: the same release as in memory, whatever the file, and in no order that the input decides."""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import closing
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from anoncore import CancelledError, DataError, Hierarchy, InfeasibleError, Microdata
from anoncore.algorithms import Mondrian, RothkoSampling, RothkoTree
from anoncore.engines.large_run import RunSettings, anonymize_table
from anoncore.engines.spool import Tags
from anoncore.requirements import DistinctDiversity, KAnonymity, TCloseness
from anoncore.sources.large_table import LargeTable

from .large_tables import ROLES, expected, people, published, run

TOWNS = Hierarchy.from_nested({"South": ["Ulm", "it's"], "Rhine": ["Bonn", "Köln, Süd"]})


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "people.parquet"
    people().to_parquet(path)
    return path


@pytest.mark.slow
@pytest.mark.parametrize("recoding", ["rows", "regions"])
@pytest.mark.parametrize(
    "requirements", [(KAnonymity(k=5),), (KAnonymity(k=4), DistinctDiversity(l=2)), (TCloseness(t=0.4),)]
)
@pytest.mark.parametrize("split", ["median", "infogain"])
def test_the_tree_publishes_what_mondrian_does(source, tmp_path, recoding, requirements, split):
    fields = {"requirements": requirements, "split": split, "target": "note", "recoding": recoding}
    data = Microdata(people(), ROLES, hierarchies={"town": TOWNS})
    release = Mondrian(**fields, strict=True).anonymize(data)
    found = run(
        source,
        RothkoTree(**fields, memory_rows=25, frontier_memory=0.01),
        tmp_path / "out",
        hierarchies={"town": lambda _: TOWNS},
    )
    assert published(tmp_path / "out") == expected(release)
    assert (found.n_rows, found.n_groups) == (400, release.partition.n_groups)
    assert (found.smallest, found.largest) == (release.partition.sizes.min(), release.partition.sizes.max())
    assert found.discernibility == (release.partition.sizes**2).sum()
    losses = [release.recoding(name).loss() @ release.partition.sizes / 400 for name in data.quasi_identifiers]
    assert found.information_loss == pytest.approx(np.mean(losses))


def test_the_tree_without_hierarchies_publishes_sets(source, tmp_path):
    run(source, RothkoTree((KAnonymity(k=6),), memory_rows=30), tmp_path / "out")
    release = Mondrian((KAnonymity(k=6),), strict=True).anonymize(Microdata(people(), ROLES))
    assert published(tmp_path / "out") == expected(release)


def test_only_some_sensitive_values_are_protected(source, tmp_path):
    requirements = (DistinctDiversity(l=3),)
    data = Microdata(people(), ROLES, sensitive_values={"ill": {"gout"}})
    run(source, RothkoTree(requirements, memory_rows=30), tmp_path / "out", sensitive_values={"ill": ["gout"]})
    assert published(tmp_path / "out") == expected(Mondrian(requirements, strict=True).anonymize(data))


@pytest.mark.slow
def test_every_kind_of_file_gives_the_same_release(tmp_path):
    # Numbers and texts alone: that is what SQLite and CSV know.
    frame = people().drop(columns=["since"])
    frame["age"] = frame["age"].astype("float64")
    roles = {name: role for name, role in ROLES.items() if name != "since"}
    frame.to_parquet(tmp_path / "people.parquet")
    frame.to_csv(tmp_path / "people.csv", index=False)
    (tmp_path / "folder" / "year=1").mkdir(parents=True)
    frame[:150].to_parquet(tmp_path / "folder" / "a.parquet")
    frame[150:].to_parquet(tmp_path / "folder" / "b.parquet")
    (tmp_path / "folder" / "_SUCCESS").touch()
    with closing(sqlite3.connect(tmp_path / "people.sqlite")) as database:
        frame.to_sql("people", database, index=False)
        database.execute("CREATE TABLE other (x)")
    with duckdb.connect(str(tmp_path / "people.duckdb")) as connection:
        connection.sql("CREATE TABLE people AS SELECT * FROM frame")
    algorithm = RothkoTree((KAnonymity(k=5),), memory_rows=40)
    release = expected(Mondrian((KAnonymity(k=5),), strict=True).anonymize(Microdata(frame, roles)))
    for name in ("people.parquet", "people.csv", "folder", "people.sqlite", "people.duckdb"):
        table = "people" if name.endswith("ite") else None
        run(tmp_path / name, algorithm, tmp_path / f"{name}-out", table=table, roles=roles)
        assert published(tmp_path / f"{name}-out") == release, name
    with pytest.raises(DataError, match=r"has the tables 'other', 'people'; name one as table"):
        run(tmp_path / "people.sqlite", algorithm, tmp_path / "out", roles=roles)
    with pytest.raises(DataError, match="has no table 'persons'; it has 'people'"):
        run(tmp_path / "people.duckdb", algorithm, tmp_path / "out", table="persons", roles=roles)


def test_the_sampling_keeps_its_requirements_and_repeats(source, tmp_path):
    requirements = (KAnonymity(k=4), DistinctDiversity(l=2))
    algorithm = RothkoSampling(requirements, memory_rows=80, sample_rows=60, seed=2)
    found = run(source, algorithm, tmp_path / "one")
    again = run(source, algorithm, tmp_path / "two")
    rows = published(tmp_path / "one")
    assert rows == published(tmp_path / "two")
    assert found.n_groups == again.n_groups
    assert found.smallest >= 4
    groups: dict[tuple[str, ...], set[str]] = {}
    for row in rows:
        groups.setdefault(row[:5], set()).add(row[5])
    assert min(map(len, groups.values())) >= 2
    assert found.counters.repartitions >= 1


def test_the_order_of_the_input_decides_nothing(tmp_path):
    frame = people()
    frame.to_parquet(tmp_path / "one.parquet")
    frame.sample(frac=1, random_state=1).to_parquet(tmp_path / "two.parquet")
    for name in ("one", "two"):
        run(tmp_path / f"{name}.parquet", RothkoTree((KAnonymity(k=5),), memory_rows=50), tmp_path / name)
    files = [sorted((tmp_path / name).glob("*.parquet")) for name in ("one", "two")]
    assert len(files[0]) == len(files[1]) > 3
    for one, two in zip(*files, strict=True):
        assert pq.read_table(one).equals(pq.read_table(two))
    assert "who" not in pq.read_table(files[0][0]).column_names


def test_a_class_larger_than_memory_is_sorted_too(tmp_path):
    frame = pd.DataFrame({"age": [30] * 300 + [40] * 20, "ill": ["gout", "flu", "cold"] * 106 + ["flu", "cold"]})
    frame.to_parquet(tmp_path / "in.parquet")
    roles = {"age": "quasi-identifier", "ill": "sensitive"}
    found = run(tmp_path / "in.parquet", RothkoTree((KAnonymity(k=9),), memory_rows=50), tmp_path / "out", roles=roles)
    assert (found.n_groups, found.largest) == (2, 300)
    cells = pq.read_table(tmp_path / "out" / "part-00000.parquet").column("ill").to_pylist()
    assert cells == sorted(cells)
    assert set(pq.read_table(tmp_path / "out").column("age").to_pylist()) == {"30", "40"}


def test_null_and_nan_are_missing_alike(tmp_path):
    weight = pa.array([1.0, None, float("nan"), 2.0, 3.0, 4.0])
    pq.write_table(pa.table({"weight": weight, "ill": ["a", "b", "c", "d", "e", "f"]}), tmp_path / "in.parquet")
    roles = {"weight": "quasi-identifier", "ill": "insensitive"}
    run(tmp_path / "in.parquet", RothkoTree((KAnonymity(k=2),), memory_rows=1), tmp_path / "out", roles=roles)
    cells = pq.read_table(tmp_path / "out").to_pandas().groupby("weight")["ill"].agg("".join)
    assert cells.map(sorted).to_dict() == {"1-3": ["a", "d", "e"], "4 or (missing)": ["b", "c", "f"]}


def test_the_summary_says_what_was_done_and_no_seed(source, tmp_path):
    run(source, RothkoSampling((KAnonymity(k=5),), memory_rows=100, seed=77), tmp_path / "out")
    summary = json.loads((tmp_path / "out" / "_release.json").read_text())
    assert summary["rows"] == 400
    assert summary["algorithm"]["name"] == "rothko-sampling"
    assert "seed" not in summary["algorithm"]


def test_progress_counts_rows_and_never_goes_back(source, tmp_path):
    reports: list[tuple[float, str]] = []
    anonymize_table(
        lambda workspace: LargeTable(source, workspace),
        Tags(roles=ROLES),
        RothkoTree((KAnonymity(k=5),), memory_rows=100),
        tmp_path / "out",
        RunSettings(progress=lambda share, text: reports.append((share, text))),
    )
    assert [share for share, _ in reports] == sorted(share for share, _ in reports)
    assert reports[0][1].startswith("Opening the table")
    assert any(text.startswith("400 of 400 rows coded") for _, text in reports)
    assert any(text.startswith("400 of 400 rows published") for _, text in reports)


def test_a_run_that_is_stopped_leaves_nothing(source, tmp_path):
    folder = tmp_path / "elsewhere"

    def stop(share: float, text: str) -> None:
        if "published" in text:
            raise CancelledError("stopped")

    with pytest.raises(CancelledError):
        anonymize_table(
            lambda workspace: LargeTable(source, workspace),
            Tags(roles=ROLES),
            RothkoTree((KAnonymity(k=5),), memory_rows=30),
            folder / "out",
            RunSettings(progress=stop),
        )
    assert list(folder.iterdir()) == []


@pytest.mark.skipif(os.name != "posix", reason="only POSIX systems have these permissions")
def test_rows_on_their_way_are_nobody_elses(source, tmp_path):
    modes: set[int] = set()

    def look(share: float, text: str) -> None:
        modes.update(path.stat().st_mode & 0o777 for path in tmp_path.glob(".out*.part"))

    anonymize_table(
        lambda workspace: LargeTable(source, workspace),
        Tags(roles=ROLES),
        RothkoTree((KAnonymity(k=5),), memory_rows=100),
        tmp_path / "out",
        RunSettings(progress=look),
    )
    assert modes == {0o700}
    assert (tmp_path / "out").stat().st_mode & 0o500 == 0o500


def test_what_is_there_is_replaced_only_on_demand(source, tmp_path):
    algorithm = RothkoTree((KAnonymity(k=5),))
    run(source, algorithm, tmp_path / "out")
    with pytest.raises(DataError, match="exists; choose another name"):
        run(source, algorithm, tmp_path / "out")
    anonymize_table(
        lambda workspace: LargeTable(source, workspace),
        Tags(roles=ROLES),
        algorithm.replace(requirements=(KAnonymity(k=400),)),
        tmp_path / "out",
        RunSettings(replace=True),
    )
    assert json.loads((tmp_path / "out" / "_release.json").read_text())["groups"] == 1
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_only_a_release_is_replaced(source, tmp_path):
    (tmp_path / "diary").mkdir()
    (tmp_path / "diary" / "today.txt").write_text("rain")
    for replace in (False, True):
        with pytest.raises(DataError, match=r"'.*diary' exists and holds no release"):
            anonymize_table(
                lambda workspace: LargeTable(source, workspace),
                Tags(roles=ROLES),
                RothkoTree((KAnonymity(k=5),)),
                tmp_path / "diary",
                RunSettings(replace=replace),
            )
    assert (tmp_path / "diary" / "today.txt").read_text() == "rain"


def test_what_cannot_be_done_is_said_as_in_memory(source, tmp_path):
    with pytest.raises(InfeasibleError, match="k = 401 is not possible"):
        run(source, RothkoTree((KAnonymity(k=401),)), tmp_path / "out")
    with pytest.raises(DataError, match="No attribute is tagged as quasi-identifier"):
        run(source, RothkoTree((KAnonymity(k=4),)), tmp_path / "out", roles={})
    with pytest.raises(DataError, match="roles names 'aeg', which the table lacks"):
        run(source, RothkoTree((KAnonymity(k=4),)), tmp_path / "out", roles={"aeg": "sensitive"})
    assert not (tmp_path / "out").exists()
