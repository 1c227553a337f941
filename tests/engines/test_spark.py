"""Rothko on Spark in its local mode with two workers: the same release as on one machine."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from anoncore import DataError, InfeasibleError, Microdata, utility
from anoncore.algorithms import Mondrian, RothkoSampling, RothkoTree
from anoncore.cli import main
from anoncore.engines.large_run import RunSettings, anonymize_table
from anoncore.engines.spool import Tags
from anoncore.publishing import Certificate
from anoncore.requirements import DistinctDiversity, KAnonymity
from anoncore.sources import read_table
from anoncore.sources.large_table import LargeTable

from .large_tables import ROLES, expected, people, published, run
from .test_one_reader import MODEL, SPARK, TEXTS, check_domains, check_on_disk, in_memory, written

pyspark = pytest.importorskip("pyspark", reason="pyspark is not installed; the extra 'spark' brings it")
if shutil.which("java") is None:
    pytest.skip("Spark needs Java, which is not installed", allow_module_level=True)

from anoncore.engines.spark_run import SparkTable, anonymize_on_spark, open_on_spark  # noqa: E402

ROOT = Path(__file__).parents[2]

pytestmark = [pytest.mark.filterwarnings("default"), pytest.mark.slow]


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("spark") / "people.parquet"
    frame = people(600)
    # Spark has no nanoseconds.
    frame["since"] = frame["since"].astype("datetime64[us]")
    frame.to_parquet(path, index=False)
    return path


@pytest.mark.parametrize("recoding", ["rows", "regions"])
def test_the_tree_gives_mondrians_release(session, source, tmp_path, recoding):
    requirements = (KAnonymity(k=5), DistinctDiversity(l=2))
    model = RothkoTree(requirements, memory_rows=100, recoding=recoding)
    # Counting a pair takes Spark a job, so that pairs are counted once, of a column of each kind.
    two_way = recoding == "rows"
    roles = {**ROLES, "age": "identifier", "debt": "identifier"} if two_way else ROLES
    frame = session.read.parquet(str(source)).repartition(3)
    found = anonymize_on_spark(frame, Tags(roles=roles), model, tmp_path / "out", RunSettings(two_way=two_way))
    counters = found.counters
    data = Microdata(pd.read_parquet(source), roles)
    release = Mondrian(requirements, strict=True, recoding=recoding).anonymize(data)
    assert published(tmp_path / "out") == expected(release)
    if two_way:
        assert float(found.two_way_error) == pytest.approx(float(utility.two_way_error(release)))
    assert counters.repartitions == 1
    # One scan for each level: 600 rows, 300, 150.
    assert counters.scans == 3


def test_the_sampling_gives_the_embedded_engines_release(session, source, tmp_path):
    model = RothkoSampling((KAnonymity(k=6),), memory_rows=200, sample_rows=150, seed=4)
    counters = anonymize_on_spark(session.read.parquet(str(source)), Tags(roles=ROLES), model, tmp_path / "spark")
    embedded = run(source, model, tmp_path / "embedded")
    assert published(tmp_path / "spark") == published(tmp_path / "embedded")
    assert counters.counters.repartitions == embedded.counters.repartitions == 1


def test_parts_that_are_put_together_again_are_sampled_as_on_disk(session, source, tmp_path):
    """Without care cuts turn out wrong, and what is left is larger than memory, so that it is sampled once more."""
    model = RothkoSampling(
        (KAnonymity(k=70),), memory_rows=100, sample_rows=40, seed=4, alpha=0.5, split="loss", growth="confident"
    )
    spark = anonymize_on_spark(session.read.parquet(str(source)), Tags(roles=ROLES), model, tmp_path / "spark")
    embedded = run(source, model, tmp_path / "embedded")
    assert published(tmp_path / "spark") == published(tmp_path / "embedded")
    assert spark.counters.prunes == embedded.counters.prunes > 0
    assert spark.counters.repartitions > 1


def test_a_recipe_runs_on_spark_as_on_disk(session, source, tmp_path, capsys):
    roles = "\n".join(f'{name} = "{role}"' for name, role in ROLES.items())
    requirements = '{name = "k-anonymity", k = 5}, {name = "t-closeness", t = 0.6}'
    algorithm = f'name = "rothko-tree"\nmemory_rows = 200\nrequirements = [{requirements}]'
    recipe = tmp_path / "people.toml"
    recipe.write_text(f'[source]\npath = "{source}"\n[roles]\n{roles}\n[algorithm]\n{algorithm}\n', encoding="utf-8")
    key = tmp_path / "key.txt"
    said, stated, summaries, checked = [], [], [], []
    for engine in ("spark", "disk"):
        output = tmp_path / f"{engine}.parquet"
        words = ["run", str(recipe), "--engine", engine, "--output", str(output), "--key-file", str(key)]
        words += ["--mapping", "--report", "--allow-path", str(source)]
        assert main(words) == 0
        told = capsys.readouterr()
        said.append([line for line in told.out.splitlines() if not line.startswith("Written")])
        certificate = Certificate.load(output / "_certificate.json")
        (table,) = certificate.tables
        stated.append(
            (
                certificate.requirements,
                certificate.attributes,
                certificate.input,
                certificate.not_asked,
                certificate.decided,
                certificate.breaking,
                (table.rows, table.groups, table.group_sizes),
            )
        )
        summaries.append(json.loads((output / "_release.json").read_text()))
        named = ["--recipe", str(recipe), "--key-file", str(key), "--allow-path", str(source)]
        # All that was counted holds, but whoever knows the note, which is published by decision, tells people apart.
        assert main(["verify", str(output), *named]) == 3
        checked.append(capsys.readouterr().out.splitlines())
        assert not [line for line in checked[-1] if line.startswith("fails:")]
        assert "holds: The release was made of this table." in checked[-1]
        assert [line.partition(", which")[0] for line in checked[-1] if line.startswith("claimed, not checked:")] == [
            f"claimed, not checked: {name} holds only if nobody knows 'note'"
            for name in ("k-anonymity (k = 5)", "t-closeness (t = 0.6, ground = equal)")
        ]
        if engine == "spark":
            assert "Engine: Spark, algorithm: Rothko (tree)" in told.err
            assert main(words) == 2
            assert main([*words, "--force"]) == 0
            capsys.readouterr()
    assert published(tmp_path / "spark.parquet") == published(tmp_path / "disk.parquet")
    assert said[0] == said[1]
    assert checked[0] == checked[1]
    endings = ("-mapping-not-for-publication.csv", "-report.html")
    spark, disk = ([(tmp_path / f"{engine}{ending}").read_text() for ending in endings] for engine in ("spark", "disk"))
    assert spark[0] == disk[0]
    assert [line.replace("spark", "disk") for line in spark[1].splitlines() if "Made " not in line] == [
        line for line in disk[1].splitlines() if "Made " not in line
    ]
    assert stated[0] == stated[1]
    assert summaries[0]["information loss"] == pytest.approx(summaries[1]["information loss"])
    for summary in summaries:
        del summary["information loss"]
    assert summaries[0] == summaries[1]


@pytest.mark.skipif(os.environ.get("ANONCORE_SPARK") != "all", reason="it takes half a minute: ANONCORE_SPARK=all")
def test_the_command_needs_no_environment_that_is_activated(source, tmp_path):
    roles = "\n".join(f'{name} = "{role}"' for name, role in ROLES.items())
    algorithm = 'name = "rothko-tree"\nrequirements = [{name = "k-anonymity", k = 5}]'
    recipe = tmp_path / "people.toml"
    recipe.write_text(f'[source]\npath = "{source}"\n[roles]\n{roles}\n[algorithm]\n{algorithm}\n', encoding="utf-8")
    # The first Python that Spark finds knows no package.
    first = tmp_path / "first"
    first.mkdir()
    (first / "python3").write_text(f'#!/bin/sh\nexec "{sys.executable}" -S "$@"\n', encoding="utf-8")
    (first / "python3").chmod(0o755)
    variables = {name: value for name, value in os.environ.items() if name != "PYSPARK_PYTHON"}
    variables |= {"PATH": f"{first}{os.pathsep}{os.environ['PATH']}", "SPARK_LOCAL_IP": "127.0.0.1"}
    for engine in ("spark", "disk"):
        words = ["run", str(recipe), "--engine", engine, "--output", str(tmp_path / f"{engine}.parquet")]
        words += ["--allow-path", str(source)]
        # By default Spark makes 200 parts of whatever it groups.
        words += ["--spark-option", "spark.sql.shuffle.partitions=2"] if engine == "spark" else []
        command = [sys.executable, "-m", "anoncore", *words]
        ended = subprocess.run(command, cwd=ROOT, env=variables, capture_output=True, text=True, check=False)
        assert ended.returncode == 0, ended.stderr[-3_000:]
        assert "FutureWarning" not in ended.stderr
    assert published(tmp_path / "spark.parquet") == published(tmp_path / "disk.parquet")


def test_combinations_of_values_are_estimated_counted_and_drawn(session, source):
    table, frame = SparkTable(session.read.parquet(str(source))), pd.read_parquet(source)
    names = ["age", "town"]
    sizes = frame.groupby(names, dropna=False).size()
    assert table.about(names) == pytest.approx(len(sizes), rel=0.1)
    found = table.joint(names)
    assert found.num_columns == 3
    assert sorted(found.column(2).to_pylist()) == sorted(sizes)
    assert 60 < table.some_rows(names, 120).num_rows < 200
    assert table.some_rows(names, 1_000).num_rows == 600


def test_what_cannot_be_done_is_said_as_in_memory(session, source, tmp_path):
    with pytest.raises(InfeasibleError, match="k = 601 is not possible"):
        anonymize_on_spark(
            session.read.parquet(str(source)), Tags(roles=ROLES), RothkoTree((KAnonymity(k=601),)), tmp_path / "o"
        )
    assert not (tmp_path / "o").exists()


@pytest.mark.parametrize("name", SPARK)
def test_a_text_file_is_on_spark_what_it_is_in_memory_and_on_disk(session: Any, tmp_path: Path, name: str) -> None:
    path = written(tmp_path, SPARK[name])
    check_on_disk(path, tmp_path)
    frame = open_on_spark(session, path, tmp_path)
    check_domains(in_memory(path), SparkTable(frame))
    attributes = tuple(frame.columns)
    roles = {**dict.fromkeys(attributes, "insensitive"), **dict.fromkeys(attributes[:3], "quasi-identifier")}
    release = expected(MODEL.anonymize(Microdata(read_table(path).frame, roles)))
    anonymize_table(lambda workspace: LargeTable(path, workspace), Tags(roles=roles), MODEL, tmp_path / "disk")
    anonymize_on_spark(frame, Tags(roles=roles), MODEL, tmp_path / "spark", RunSettings(tmp_path))
    assert published(tmp_path / "disk") == release
    assert published(tmp_path / "spark") == release


def test_spark_says_which_names_it_does_not_tell_apart(session: Any, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="Spark takes the names 'a', 'A' for one; rename the columns"):
        open_on_spark(session, written(tmp_path, TEXTS["upper and lower case"]), tmp_path)
