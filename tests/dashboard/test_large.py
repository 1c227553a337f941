"""The page Large table: a table on this machine, a sample of it as one's own, and the run over all rows."""

from __future__ import annotations

import json
import sqlite3
import threading
import time
import tomllib
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from anoncore import Hierarchy, Microdata
from anoncore.cli import main
from anoncore.engines import faults
from dashboard import large_runs, own_machine, state, tagging
from dashboard.views import large
from tests.dashboard.conftest import TIMEOUT, Visitor

WAIT = TIMEOUT


def people(n: int = 3_000) -> pd.DataFrame:
    rng = np.random.default_rng(4)
    return pd.DataFrame(
        {
            "who": [f"who-{row}" for row in range(n)],
            "age": rng.integers(18, 90, n),
            "town": rng.choice(["Ulm", "Bonn", "Köln"], n),
            "pay": rng.integers(10, 400, n) * 10,
            "ill": rng.choice(["flu", "gout", "cold", "ulcer"], n),
        }
    )


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "people.parquet"
    people().to_parquet(path, index=False)
    return path


def name_table(visitor: Visitor, path: object, rows: int = 400) -> Visitor:
    visitor.open("large table")
    visitor.at.text_input(key="large-path").set_value(str(path))
    visitor.at.number_input(key="large-size").set_value(rows)
    return visitor.run()


def take_sample(visitor: Visitor, path: Path, rows: int = 400) -> Visitor:
    name_table(visitor, path, rows).press("Take a sample")
    found = job_of(visitor, "large-sampling")
    if found is not None:
        assert found.job.wait(WAIT)
        visitor.run()
    return visitor


def job_of(visitor: Visitor, name: str) -> Any:
    return state._workspaces.get(visitor.workspace).jobs.get(name)


def tagged(visitor: Visitor, path: Path) -> Visitor:
    """On the page, with a sample of the table and its tags."""
    take_sample(visitor, path)
    roles = {"age": "quasi-identifier", "town": "quasi-identifier", "pay": "quasi-identifier", "ill": "sensitive"}
    return visitor.tag(who="identifier", **roles)


def finish(visitor: Visitor) -> Visitor:
    assert job_of(visitor, "large-run").job.wait(WAIT)
    return visitor.run()


def metric(visitor: Visitor, label: str) -> str:
    return next(str(item.value) for item in visitor.at.metric if item.label == label)


def test_a_sample_becomes_the_visitors_table(visitor: Visitor, source: Path) -> None:
    take_sample(visitor, source)
    assert visitor.errors == []
    here = state._workspaces.get(visitor.workspace)
    assert len(here.table.frame) == 400
    assert set(here.table.frame["who"]) <= set(people()["who"])
    assert (metric(visitor, "Rows of the table"), metric(visitor, "Rows in the sample")) == ("3,000", "400")
    assert metric(visitor, "One sampled row stands for") == "7.5 rows"
    assert "No attribute is tagged as quasi-identifier" in visitor.warnings[0]
    visitor.open("data")
    assert visitor.at.subheader[0].value.replace("\\", "") == "sample of people.parquet"
    assert any("400 of 3,000 rows, drawn at random" in str(item.value).replace("\\", "") for item in visitor.at.info)
    visitor.tag(age="quasi-identifier", ill="sensitive").open("anonymize")
    visitor.anonymize()
    assert here.runs[-1].data.n_rows == 400


def test_the_whole_table_is_released_and_its_requirement_holds(visitor: Visitor, source: Path) -> None:
    tagged(visitor, source)
    assert visitor.warnings == []
    visitor.press("Start")
    finish(visitor)
    assert visitor.errors == []
    release = source.with_name("people-release")
    assert "Released: 3,000 rows of people.parquet in " in visitor.texts()
    assert any(str(release) in str(item.value) for item in visitor.at.code)
    found = pq.read_table(release).to_pandas()
    assert len(found) == 3_000
    assert "who" not in found
    sizes = found.groupby(["age", "town", "pay"]).size()
    assert sizes.min() >= 5
    summary = json.loads((release / "_release.json").read_text())
    assert metric(visitor, "Smallest class") == f"{summary['smallest group']:,} rows"
    assert metric(visitor, "Parts") == f"{len(list(release.glob('*.parquet'))):,}"
    # It can be made again only on demand, and what holds something else is never replaced.
    assert not visitor.has_button("Start")
    visitor.at.toggle(key="large-replace").set_value(True)
    visitor.run()
    assert visitor.has_button("Start")
    visitor.press("Start")
    finish(visitor)
    assert "Released: 3,000 rows of people.parquet in " in visitor.texts()


def test_the_recipe_gives_the_same_release_on_the_command_line(visitor: Visitor, source: Path, tmp_path: Path) -> None:
    tagged(visitor, source)
    visitor.at.selectbox(key="large-method").set_value("rothko-tree")
    visitor.run()
    visitor.at.number_input(key="large.rothko-tree.requirements.1.k").set_value(40)
    visitor.run()
    text = next(str(item.value) for item in visitor.at.code if "[source]" in str(item.value))
    recipe = tomllib.loads(text)
    assert recipe["source"]["path"] == str(source)
    assert recipe["algorithm"]["requirements"][0]["k"] == 40
    visitor.press("Start")
    finish(visitor)
    (tmp_path / "again.toml").write_text(text, encoding="utf-8")
    arguments = ["--engine", "disk", "--output", str(tmp_path)]
    assert main(["run", str(tmp_path / "again.toml"), *arguments]) == 0
    made = [pq.read_table(tmp_path / f"{name}-release") for name in ("people", "again")]
    assert made[0].equals(made[1])


def test_the_parameters_of_a_run_on_the_sample_are_taken_over(visitor: Visitor, source: Path) -> None:
    tagged(visitor, source)
    assert not visitor.has_button("Parameters of the run shown")
    visitor.open("anonymize")
    visitor.at.number_input(key="parameter.mondrian.requirements.1.k").set_value(23)
    visitor.anonymize().open("large table").press("Parameters of the run shown")
    fields = [item.value for item in visitor.at.number_input if item.key.endswith(".k")]
    assert fields == [23]


def test_a_run_is_watched_cancelled_and_started_again(
    visitor: Visitor, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tagged(visitor, source)
    go, original = threading.Event(), large_runs.run_on_disk

    def slow(recipe: Any, output: Path, workspace: Any, progress: Any, replace: bool) -> Any:
        def heard(share: float, text: str) -> None:
            progress(share, text)
            if "published" in text:
                go.wait(WAIT)
                progress(share, text)

        return original(recipe, output, workspace, heard, replace)

    monkeypatch.setattr(large_runs, "run_on_disk", slow)
    visitor.press("Start")
    run = job_of(visitor, "large-run")
    assert run.job.running
    assert not visitor.has_button("Start")
    assert f"All 3,000 rows to {source.with_name('people-release')}" in visitor.texts()
    assert "the program takes" in visitor.texts()
    visitor.press("Cancel")
    assert "The run was cancelled; nothing of it is left." in visitor.texts()
    go.set()
    assert ends(lambda: [path.name for path in source.parent.iterdir()] == ["people.parquet"])
    visitor.press("Start")
    finish(visitor)
    assert "Released: 3,000 rows" in visitor.texts()


def ends(question: Callable[[], bool]) -> bool:
    end = time.monotonic() + WAIT
    while not question() and time.monotonic() < end:
        time.sleep(0.05)
    return question()


def test_intervals_of_the_sample_serve_all_rows(visitor: Visitor, source: Path) -> None:
    tagged(visitor, source)
    here = state._workspaces.get(visitor.workspace)
    data = Microdata(here.table.frame, here.tags.roles)
    here.tags = here.tags.changed("hierarchies", "pay", tagging.intervals_by_width(data.domain["pay"], 500.0, 2))
    towns = Hierarchy.from_nested({"South": ["Ulm"], "Rhine": ["Bonn", "Köln"]})
    here.tags = here.tags.changed("hierarchies", "town", towns)
    visitor.run()
    assert "The hierarchy or order of 'town' lists the values of the sample" in visitor.texts()
    visitor.press("Start")
    finish(visitor)
    assert visitor.errors == []
    found = pq.read_table(source.with_name("people-release")).to_pandas()
    assert len(found) == 3_000
    people(3_050).assign(town="Rom").to_parquet(source, index=False)
    visitor.at.toggle(key="large-replace").set_value(True)
    visitor.run().press("Start")
    finish(visitor)
    assert len(visitor.errors) == 1
    assert "'town': The hierarchy lacks 'Rom'" in visitor.errors[0]
    assert len(pq.read_table(source.with_name("people-release"))) == 3_000


def test_another_table_hides_the_run_but_keeps_it(visitor: Visitor, source: Path) -> None:
    tagged(visitor, source)
    visitor.press("Start")
    finish(visitor)
    visitor.upload("small.csv", people(50).to_csv(index=False).encode())
    visitor.open("large table")
    assert "Name a table above." in visitor.texts()
    assert "Released: 3,000 rows" in visitor.texts()


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("nothing.parquet", None, "There is no file and no folder"),
        ("book.xlsx", b"PK", "is no table that can be read piece by piece"),
        ("cut.db", b"SQLite format 3\0 and no more", "'cut.db' cannot be read: "),
        ("empty-folder", "folder", "holds no Parquet and no CSV files"),
    ],
)
def test_a_bad_path_is_one_sentence(visitor: Visitor, tmp_path: Path, name: str, content: Any, words: str) -> None:
    if content == "folder":
        (tmp_path / name).mkdir()
    elif content is not None:
        (tmp_path / name).write_bytes(content)
    name_table(visitor, tmp_path / name)
    assert len(visitor.errors) == 1
    assert words in visitor.errors[0]
    assert not visitor.has_button("Take a sample")


def test_a_path_is_written_from_the_top(visitor: Visitor) -> None:
    name_table(visitor, "people.parquet")
    assert visitor.errors == ["Write the whole path, such as /home/me/people.parquet."]


@pytest.mark.parametrize("name", ["cut.parquet", "latin.csv", "none.parquet"])
def test_a_damaged_file_is_one_sentence_and_the_table_stays(visitor: Visitor, source: Path, name: str) -> None:
    path = source.with_name(name)
    if name == "none.parquet":
        people()[:0].to_parquet(path)
    else:
        cut = source.read_bytes()[:5_000]
        path.write_bytes(cut if name == "cut.parquet" else b"age,town\n" + b"3,K\xf6ln\n" * 50)
    take_sample(visitor, path)
    assert len(visitor.errors) == 1
    assert f"'{name}' " in visitor.errors[0]
    assert len(state._workspaces.get(visitor.workspace).table.frame) == 45_222


def test_a_table_of_a_database_is_chosen(visitor: Visitor, tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "people.db")) as database:
        people(300).to_sql("people", database, index=False)
        people(200).to_sql("others", database, index=False)
    name_table(visitor, tmp_path / "people.db", rows=150)
    assert visitor.at.selectbox(key="large-table").options == ["others", "people"]
    visitor.at.selectbox(key="large-table").set_value("people")
    visitor.run().press("Take a sample")
    found = job_of(visitor, "large-sampling")
    if found is not None:
        assert found.job.wait(WAIT)
        visitor.run()
    assert metric(visitor, "Rows of the table") == "300"
    visitor.tag(age="quasi-identifier").press("Start")
    finish(visitor)
    assert len(pq.read_table(tmp_path / "people-release")) == 300


def test_a_folder_of_text_files_is_one_table_taken_whole(visitor: Visitor, tmp_path: Path) -> None:
    (tmp_path / "people").mkdir()
    for begin in range(0, 900, 300):
        people(900)[begin : begin + 300].to_csv(tmp_path / "people" / f"{begin}.csv", index=False)
    take_sample(visitor, tmp_path / "people", rows=5_000)
    assert metric(visitor, "Rows in the sample") == "900"
    assert metric(visitor, "One sampled row stands for") == "1 row"
    visitor.tag(age="quasi-identifier", who="identifier").press("Start")
    finish(visitor)
    assert len(pq.read_table(tmp_path / "people-release")) == 900


def test_a_disk_without_room_is_said_before_the_start(
    visitor: Visitor, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tagged(visitor, source)
    monkeypatch.setattr(large, "disk_usage", lambda _: type("Usage", (), {"free": 10_000}))
    visitor.run()
    assert len(visitor.warnings) == 1
    assert "for temporary files in" in visitor.warnings[0]
    assert "where 0.0 MB are free" in visitor.warnings[0]
    assert not visitor.has_button("Start")


def test_a_folder_that_cannot_be_written_is_one_sentence(visitor: Visitor, source: Path) -> None:
    tagged(visitor, source)
    (source.parent / "mine").mkdir()
    (source.parent / "mine" / "diary.txt").touch()
    for output, words in (
        (source.parent / "mine", "exists and holds no release"),
        (source.parent / "no" / "such", "There is no folder"),
        (source / "inside", "inside the table"),
        ("release", "Write the whole path"),
    ):
        visitor.at.text_input(key="large-output").set_value(str(output))
        visitor.run()
        assert len(visitor.warnings) == 1
        assert words in visitor.warnings[0] or "There is no folder" in visitor.warnings[0]
        assert not visitor.has_button("Start")
    assert (source.parent / "mine" / "diary.txt").exists()


def test_a_full_disk_is_one_sentence(visitor: Visitor, source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tagged(visitor, source)
    monkeypatch.setattr(faults, "disk_usage", lambda _: type("Usage", (), {"free": 10_000}))
    visitor.press("Start")
    finish(visitor)
    assert len(visitor.errors) == 1
    assert "needs about 0.0 GB on the disk of" in visitor.errors[0]
    assert not source.with_name("people-release").exists()


def test_what_the_whole_table_does_not_allow_is_one_sentence(visitor: Visitor, source: Path) -> None:
    tagged(visitor, source)
    key = "large.rothko-sampling.requirements.1.k"
    # More rows than the sample has are no problem, more than the table has are.
    for k, words in ((1_000, None), (3_001, "k = 3001 is not possible")):
        visitor.at.number_input(key=key).set_value(k)
        visitor.at.text_input(key="large-output").set_value(str(source.with_name(f"release-{k}")))
        visitor.run().press("Start")
        finish(visitor)
        if words is None:
            assert visitor.errors == []
            assert "Released: 3,000 rows of people.parquet in " in visitor.texts()
        else:
            assert [words in sentence for sentence in visitor.errors] == [True]


def test_a_column_that_the_table_has_lost_is_one_sentence(visitor: Visitor, source: Path) -> None:
    tagged(visitor, source)
    people().drop(columns="pay").to_parquet(source, index=False)
    visitor.press("Start")
    finish(visitor)
    assert len(visitor.errors) == 1
    assert "names 'pay', which the table lacks" in visitor.errors[0]


def test_a_server_for_others_reads_no_files(visitor: Visitor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(own_machine, "ADDRESSES", ("nowhere",))
    visitor.open("large table")
    assert "serves that machine alone" in str(visitor.at.info[0].value)
    assert len(visitor.at.text_input) == 0
    visitor.open("data")
    assert visitor.errors == []
