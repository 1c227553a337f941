"""A table on this machine on the page Table: a sample of it as one's own, and the run over all rows."""

from __future__ import annotations

import dataclasses
import json
import shlex
import sqlite3
import threading
import tomllib
from contextlib import closing
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from anoncore import Hierarchy, Microdata
from anoncore.cli import main
from dashboard.session import state, tagging
from dashboard.table import large_runs
from tests.dashboard.conftest import Visitor
from tests.dashboard.large_visits import WAIT, ends, finish, job_of, metric, name_table, people, tagged, take_sample

pytestmark = pytest.mark.slow


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A table on disk."""
    path = tmp_path / "people.parquet"
    people().to_parquet(path, index=False)
    return path


def test_a_sample_becomes_the_visitors_table(visitor: Visitor, source: Path) -> None:
    take_sample(visitor, source)
    assert visitor.errors == []
    here = state._workspaces.get(visitor.workspace)
    assert len(here.table.frame) == 400
    assert set(here.table.frame["who"]) <= set(people()["who"])
    assert (metric(visitor, "Rows of the table"), metric(visitor, "Rows in the sample")) == ("3,000", "400")
    assert metric(visitor, "One sampled row stands for") == "7.5 rows"
    assert "No attribute is tagged as quasi-identifier" in visitor.warnings[-1]
    visitor.open("table")
    assert visitor.at.subheader[0].value.replace("\\", "") == "sample of people.parquet"
    assert any("400 of 3,000 rows, drawn at random" in str(item.value).replace("\\", "") for item in visitor.at.info)
    visitor.tag(age="quasi-identifier", ill="sensitive").make()
    assert here.runs[-1].data.n_rows == 400


def test_the_board_says_that_its_numbers_are_of_a_sample(visitor: Visitor, source: Path) -> None:
    said = "A random sample: 400 of 3,000 rows. Every number here"
    tagged(visitor, source).open("board")
    assert any(one.value.startswith(said) for one in visitor.at.caption)
    visitor.upload("people.csv", people().to_csv(index=False).encode()).open("board")
    assert not any("random sample" in one.value for one in visitor.at.caption)


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
    assert metric(visitor, "Smallest group") == f"{summary['smallest group']:,}"
    assert metric(visitor, "Parts") == f"{len(list(release.glob('*.parquet'))):,}"
    # The numbers of all rows, counted here from the files, stand on the board as well.
    shares = found.groupby(["age", "town", "pay"])["ill"].value_counts(normalize=True).unstack(fill_value=0.0)
    of_all = found["ill"].value_counts(normalize=True)
    counted = {
        "Smallest group": f"{sizes.min():,}",
        "Distance (t)": f"{(shares - of_all).clip(lower=0).sum(axis=1).max():.3f}",
        "Largest belief": f"{shares.to_numpy().max():.1%}",
        "Records found": f"{len(sizes) / 3_000:.1%}",
    }
    assert {name: metric(visitor, name) for name in counted} == counted
    visitor.open("board")
    said = next(one.value for one in visitor.at.caption if one.value.startswith("Of the release of all 3,000 rows by "))
    assert all(f"{name} {value}" in said for name, value in counted.items())
    visitor.open("table")
    # It can be made again only on demand, and what holds something else is never replaced.
    assert not visitor.has_button("Start")
    visitor.at.toggle(key="large-replace").set_value(True)
    visitor.run()
    assert visitor.has_button("Start")
    visitor.press("Start")
    finish(visitor)
    assert "Released: 3,000 rows of people.parquet in " in visitor.texts()


def test_a_column_that_breaks_what_was_asked_is_shown(visitor: Visitor, tmp_path: Path) -> None:
    people().assign(born=lambda frame: 2026 - frame["age"]).to_parquet(tmp_path / "people.parquet", index=False)
    take_sample(visitor, tmp_path / "people.parquet")
    visitor.tag(who="identifier", age="quasi-identifier", pay="quasi-identifier", ill="sensitive")
    visitor.tag(born="insensitive")
    visitor.open("table")
    visitor.press("Start")
    finish(visitor)
    (shown,) = visitor.errors
    assert shown.startswith("Everything that was asked holds over what is known; 'born', published by decision, ")
    # Where the board shows the k of that run, what undoes it stands beside it.
    visitor.open("board")
    assert any("Smallest group" in one.value for one in visitor.at.caption)
    assert shown in visitor.errors


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


def test_the_line_for_a_terminal_holds_the_name_as_one_word(visitor: Visitor, tmp_path: Path) -> None:
    stem = "people $(touch hit) `x`; 'y"
    people().to_parquet(tmp_path / f"{stem}.parquet", index=False)
    tagged(visitor, tmp_path / f"{stem}.parquet")
    line = next(str(item.value) for item in visitor.at.code if "anoncore run" in str(item.value))
    assert shlex.split(line)[:5] == ["anoncore", "run", f"{stem}.toml", "--engine", "disk"]


def test_the_parameters_of_a_run_on_the_sample_are_taken_over(visitor: Visitor, source: Path) -> None:
    tagged(visitor, source)
    assert not visitor.has_button("Parameters of the release shown")
    visitor.make(k=23).open("table").press("Parameters of the release shown")
    fields = [item.value for item in visitor.at.number_input if item.key.endswith(".k")]
    assert fields == [23]


@pytest.mark.slow
def test_a_run_is_watched_cancelled_and_started_again(
    visitor: Visitor, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tagged(visitor, source)
    go, original = threading.Event(), large_runs.run_on_disk

    def slow(recipe: Any, output: Path, settings: Any) -> Any:
        def heard(share: float, text: str) -> None:
            settings.progress(share, text)
            if "published" in text:
                go.wait(WAIT)
                settings.progress(share, text)

        return original(recipe, output, dataclasses.replace(settings, progress=heard))

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


def test_intervals_of_the_sample_serve_all_rows(visitor: Visitor, source: Path) -> None:
    tagged(visitor, source)
    here = state._workspaces.get(visitor.workspace)
    data = Microdata(here.table.frame, here.tags.roles)
    here.set_tags(here.tags.changed("hierarchies", "pay", tagging.intervals_by_width(data.domain["pay"], 500.0, 2)))
    towns = Hierarchy.from_nested({"South": ["Ulm"], "Rhine": ["Bonn", "Köln"]})
    here.set_tags(here.tags.changed("hierarchies", "town", towns))
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
    visitor.open("table")
    assert "Run on all rows" not in visitor.texts()
    assert "Released: 3,000 rows" in visitor.texts()


def test_a_table_of_a_database_is_chosen(visitor: Visitor, tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "people.db")) as database:
        people(300).to_sql("people", database, index=False)
        people(200).to_sql("others", database, index=False)
    name_table(visitor, tmp_path / "people.db", rows=150)
    assert visitor.at.selectbox(key="place-table").options == ["others", "people"]
    visitor.at.selectbox(key="place-table").set_value("people")
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
