"""Which engine a recipe gets, and the command that runs it on disk."""

from __future__ import annotations

import json
import os
import shutil
import socket
import sqlite3
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest

from anoncore import Microdata, Recipe, RecipeError, utility
from anoncore.algorithms import Mondrian, RothkoTree
from anoncore.base import memory
from anoncore.cli import main
from anoncore.engines.large_run import Cluster
from anoncore.publishing import Certificate
from anoncore.recipes import engine_choice
from anoncore.recipes.engine_choice import choose_engine, memory_needed, on_disk, run_on_disk
from anoncore.requirements import KAnonymity
from tests.engines.large_tables import ROLES, expected, people, published

TREE = 'name = "rothko-tree"\nmemory_rows = 50\nrequirements = [{name = "k-anonymity", k = 5}]'
SAMPLING = 'name = "rothko-sampling"\nmemory_rows = 90\nseed = 3\nrequirements = [{name = "k-anonymity", k = 5}]'


def write_recipe(folder: Path, algorithm: str = TREE, source: str = 'path = "people.parquet"', more: str = "") -> Path:
    people().to_parquet(folder / "people.parquet")
    roles = "\n".join(f'{name} = "{role}"' for name, role in ROLES.items())
    path = folder / "people.toml"
    path.write_text(f"{more}\n[source]\n{source}\n[roles]\n{roles}\n[algorithm]\n{algorithm}\n", encoding="utf-8")
    return path


def test_the_engine_goes_by_size_and_free_memory(tmp_path, monkeypatch):
    recipe = Recipe.load(write_recipe(tmp_path))
    # 400 rows of 8 columns at 120 bytes a cell, of nine tenths of what is free
    needed = memory_needed(tmp_path / "people.parquet")
    assert needed == 400 * 8 * 120
    assert choose_engine(recipe).engine == "memory"
    monkeypatch.setattr(engine_choice, "free_memory", lambda: needed / 0.9 + 1)
    assert choose_engine(recipe).engine == "memory"
    monkeypatch.setattr(engine_choice, "free_memory", lambda: needed / 0.9 - 1)
    chosen = choose_engine(recipe)
    assert chosen.engine == "disk"
    assert chosen.reason.startswith("'people.parquet' needs about 0.0 GB in memory, and 0.0 GB are free: it is read")
    assert choose_engine(recipe, "memory").engine == "memory"


def test_a_file_that_the_reader_refuses_goes_to_disk(tmp_path, monkeypatch):
    recipe = Recipe.load(write_recipe(tmp_path))
    monkeypatch.setattr(engine_choice, "UNPACKED_LIMIT", 1000)
    assert choose_engine(recipe).engine == "disk"


@pytest.mark.parametrize(("ending", "separator"), [("csv", ","), ("tsv", "\t"), ("csv", ";"), ("csv.gz", ",")])
@pytest.mark.parametrize("times", [1, 60])
def test_folders_and_text_count_by_their_cells(tmp_path, ending, separator, times):
    frame = pd.concat([people()] * times)
    (tmp_path / "folder").mkdir()
    frame[:100].to_csv(tmp_path / "folder" / f"a.{ending}", index=False, sep=separator)
    frame[100:].to_csv(tmp_path / "folder" / f"b.{ending}", index=False, sep=separator)
    # A separator inside quotes counts as one between cells.
    assert memory_needed(tmp_path / "folder") == pytest.approx((len(frame) + 2) * 8 * 120, rel=0.05)


def test_a_damaged_file_needs_nothing_that_is_known(tmp_path):
    (tmp_path / "people.csv.gz").write_bytes(b"\x1f\x8bno gzip")
    assert memory_needed(tmp_path / "people.csv.gz") == 0
    assert memory_needed(tmp_path / "missing.csv") == 0


def test_a_built_in_table_stays_in_memory(tmp_path):
    recipe = Recipe.load(write_recipe(tmp_path, source='builtin = "rothko-synthetic"\nrows = 100'))
    assert choose_engine(recipe).engine == "memory"
    with pytest.raises(RecipeError, match="A built-in table is made in memory"):
        choose_engine(recipe, "disk")


def test_strict_mondrian_runs_as_the_tree(tmp_path):
    recipe = Recipe.load(
        write_recipe(tmp_path, 'name = "mondrian"\nstrict = true\nrequirements = [{name = "k-anonymity", k = 7}]')
    )
    assert on_disk(recipe) == RothkoTree((KAnonymity(k=7),))
    run_on_disk(recipe, tmp_path / "out")
    data = Microdata(people(), ROLES)
    assert published(tmp_path / "out") == expected(Mondrian((KAnonymity(k=7),), strict=True).anonymize(data))


@pytest.mark.parametrize(
    ("algorithm", "advice"),
    [
        ('name = "mondrian"', "set strict = true"),
        ('name = "mondrian"\nstrict = true\nrefine = true', "refine = false"),
        ('name = "anatomy"\nl = 2', "or rothko-tree, or force"),
    ],
)
def test_other_algorithms_say_what_to_do(tmp_path, algorithm, advice):
    with pytest.raises(RecipeError, match=advice):
        on_disk(Recipe.load(write_recipe(tmp_path, algorithm)))


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", [TREE, SAMPLING])
def test_the_command_says_which_engine_it_took(tmp_path, monkeypatch, capsys, algorithm):
    monkeypatch.setattr(engine_choice, "free_memory", lambda: 1000)
    recipe = write_recipe(tmp_path, algorithm, more='measures = ["utility.discernibility"]')
    words = ["run", str(recipe), "--output", str(tmp_path / "results")]
    if algorithm == SAMPLING:
        assert main(words) == 2
        assert "random choices follow from a seed that was given" in capsys.readouterr().err
        assert not (tmp_path / "results").exists()
        words.append("--guessable-seed")
    assert main(words) == 0
    said = capsys.readouterr()
    assert "▕" not in said.err + said.out
    assert "it is read piece by piece. Engine: disk (DuckDB), algorithm: Rothko" in said.err
    assert "utility.discernibility' are measured in memory only, and left out" in said.err
    assert ("the recipe holds a seed" in said.err) == (algorithm == SAMPLING)
    assert "400 rows in " in said.out
    assert "k-anonymity (k = 5) holds over what is known: the worst published group has" in said.out
    folder = tmp_path / "results" / "people-release"
    assert len(published(folder)) == 400
    assert main(words) == 2
    assert "exists; choose another --output, or add --force" in capsys.readouterr().err
    assert main([*words, "--force"]) == 0


def test_a_run_on_disk_measures_the_two_way_error_where_the_recipe_asks_for_it(tmp_path, capsys):
    recipe = write_recipe(tmp_path, more='measures = ["utility.two_way_error", "utility.discernibility"]')
    words = ["run", str(recipe), "--engine", "disk", "--json", "--report", "--output", str(tmp_path / "results")]
    assert main(words) == 0
    said = capsys.readouterr()
    assert "'utility.discernibility' are measured in memory only, and left out" in said.err
    assert "utility.two_way_error" not in said.err
    measured = json.loads(said.out)["measures"]["utility.two_way_error"]
    release = Mondrian((KAnonymity(k=5),), strict=True).anonymize(Microdata(people(), ROLES))
    assert measured == pytest.approx(float(utility.two_way_error(release)))
    (report,) = (tmp_path / "results").glob("*-report.html")
    assert "Two-way error" in report.read_text()
    assert "The two-way error was not measured" not in report.read_text()


def test_a_run_on_disk_names_an_earlier_release_in_its_certificate(tmp_path, capsys):
    recipe = write_recipe(tmp_path)
    words = ["run", str(recipe), "--engine", "memory"]
    assert main([*words, "--output", str(tmp_path / "earlier")]) == 0
    (certificate,) = (tmp_path / "earlier").glob("*.json")
    words = ["run", str(recipe), "--engine", "disk", "--output", str(tmp_path / "later"), "--after", str(certificate)]
    assert main(words) == 0
    found = Certificate.load(tmp_path / "later" / "people-release" / "_certificate.json")
    assert found.after is not None
    assert found.after[0].sha256 == Certificate.load(certificate).sha256
    session = ["--after-release", str(tmp_path / "session"), "--by", "who"]
    capsys.readouterr()
    assert main([*words[:-3], str(tmp_path / "third"), *words[-2:], *session]) == 2
    assert capsys.readouterr().err.startswith("anoncore: --after-release lays an earlier release beside")


@pytest.mark.slow
def test_a_large_run_is_certified_and_verified_from_another_folder(tmp_path, capsys):
    recipe, key = write_recipe(tmp_path), tmp_path / "key.txt"
    words = ["run", str(recipe), "--engine", "disk", "--output", str(tmp_path / "out"), "--key-file", str(key)]
    assert main(words) == 0
    said = capsys.readouterr().out
    folder = tmp_path / "out" / "people-release"
    assert f"check it with: anoncore verify {folder})" in said
    assert oct(key.stat().st_mode)[-3:] == "600"
    elsewhere = Path(shutil.move(folder, tmp_path / "elsewhere"))
    shutil.move(elsewhere / "_certificate.json", tmp_path / "certificate.json")
    words = ["verify", str(tmp_path / "certificate.json"), str(elsewhere)]
    assert main([*words, "--recipe", str(recipe), "--key-file", str(key)]) == 3, "a column is insensitive"
    said = capsys.readouterr().out
    assert "holds: k-anonymity (k = 5) holds over " in said
    assert "holds: The release was made of this table." in said
    assert "fails:" not in said
    (elsewhere / "part-00002.parquet").unlink()
    assert main(words) == 1
    assert "fails: 'part-00002.parquet', a part with " in capsys.readouterr().out
    assert main(["verify", str(elsewhere)]) == 2
    assert "The folder 'elsewhere' has no certificate" in capsys.readouterr().err


def test_a_run_whose_certificate_fails_leaves_no_release_and_no_key(tmp_path, capsys):
    recipe = write_recipe(tmp_path)
    frame = people()
    frame.loc[:3, "ill"] = ""
    frame.to_parquet(tmp_path / "people.parquet")
    recipe.write_text(recipe.read_text().replace("k = 5}", 'k = 5}, {name = "distinct-diversity", l = 2}'))
    words = [
        "run",
        str(recipe),
        "--engine",
        "disk",
        "--output",
        str(tmp_path / "out"),
        "--key-file",
        str(tmp_path / "key"),
    ]
    assert main(words) == 2
    assert "missing cells and its empty texts alike" in capsys.readouterr().err
    assert not (tmp_path / "key").exists()
    assert list((tmp_path / "out").iterdir()) == []
    assert main([*words, "--no-certificate"]) == 2
    assert "--key-file keeps the key of the certificate" in capsys.readouterr().err
    assert main([*words[:-2], "--no-certificate"]) == 0
    assert not (tmp_path / "out" / "people-release" / "_certificate.json").exists()


def after_release(tmp_path: Path) -> list[str]:
    """The recipe, and an option that needs the table in memory: an earlier release to lay beside the new one."""
    recipe, earlier = str(write_recipe(tmp_path)), tmp_path / "earlier"
    assert main(["run", recipe, "--engine", "disk", "--output", str(earlier)]) == 0
    certificate = earlier / "people-release" / "_certificate.json"
    return [recipe, "--after", str(certificate), "--after-release", str(tmp_path / "earlier.session")]


@pytest.mark.parametrize("engine", ["disk", "spark"])
def test_an_option_that_a_large_run_cannot_honour_is_refused_by_name(tmp_path, capsys, engine):
    words = ["run", *after_release(tmp_path), "--engine", engine, "--output", str(tmp_path / "out")]
    capsys.readouterr()
    assert main(words) == 2
    said = capsys.readouterr().err
    assert said.startswith("anoncore: --after-release ")
    assert f"or use --engine memory. The engine is {engine}." in said
    assert not (tmp_path / "out").exists()


def test_an_option_is_refused_too_where_the_size_of_the_table_chose_the_engine(tmp_path, monkeypatch, capsys):
    words = ["run", *after_release(tmp_path), "--output", str(tmp_path / "out")]
    monkeypatch.setattr(engine_choice, "free_memory", lambda: 1000)
    capsys.readouterr()
    assert main(words) == 2
    said = capsys.readouterr().err
    assert said.startswith("anoncore: --after-release ")
    assert "The engine is disk. 'people.parquet' needs about" in said
    assert not (tmp_path / "out").exists()


def test_a_workspace_is_refused_in_memory_and_told_where_the_size_chose_it(tmp_path, capsys):
    words = ["run", str(write_recipe(tmp_path)), "--workspace", str(tmp_path / "work")]
    assert main([*words, "--output", str(tmp_path / "one"), "--engine", "memory"]) == 2
    assert "leave it out with --engine memory" in capsys.readouterr().err
    assert main([*words, "--output", str(tmp_path / "two")]) == 0
    assert "--workspace is not used" in capsys.readouterr().err


def test_bounds_are_published_in_memory_only(tmp_path, capsys):
    recipe = write_recipe(tmp_path, more='numbers = "bounds"')
    words = ["run", str(recipe), "--output", str(tmp_path / "out.parquet"), "--engine"]
    assert main([*words, "disk"]) == 2
    assert "publishes ranges of numbers as text, not as bounds" in capsys.readouterr().err
    assert main([*words, "memory"]) == 0
    assert list(pd.read_parquet(tmp_path / "out.parquet"))[:2] == ["age_low", "age_high"]


@pytest.mark.slow
def test_the_engine_can_be_forced(tmp_path, capsys):
    recipe, workspace = write_recipe(tmp_path), tmp_path / "scratch"
    arguments = ["run", str(recipe), "--engine", "disk", "--workspace", str(workspace)]
    assert main([*arguments, "--output", str(tmp_path / "on-disk.parquet")]) == 0
    assert list(workspace.iterdir()) == []
    assert main(["run", str(recipe), "--engine", "memory", "--output", str(tmp_path / "in-memory.parquet")]) == 0
    in_memory = pd.read_parquet(tmp_path / "in-memory.parquet")
    assert len(published(tmp_path / "on-disk.parquet")) == len(in_memory) == 400
    assert main([*arguments, "--output", str(tmp_path / "out.csv")]) == 2
    assert "writes a folder of Parquet files" in capsys.readouterr().err


@pytest.mark.parametrize("output", ["people.parquet", "people.parquet/out.parquet"])
def test_the_table_itself_is_never_replaced(tmp_path, capsys, output):
    recipe = write_recipe(tmp_path)
    shutil.move(tmp_path / "people.parquet", tmp_path / "one.parquet")
    (tmp_path / "people.parquet").mkdir()
    shutil.move(tmp_path / "one.parquet", tmp_path / "people.parquet" / "one.parquet")
    arguments = ["run", str(recipe), "--engine", "disk", "--force", "--output", str(tmp_path / output)]
    assert main(arguments) == 2
    assert "would lie inside the table that it is made of" in capsys.readouterr().err
    assert [path.name for path in (tmp_path / "people.parquet").iterdir()] == ["one.parquet"]


def test_hierarchies_orders_and_values_of_the_recipe_are_kept(tmp_path):
    more = """
[kinds]
town = "nominal"
[orders]
note = ["y", "x"]
[sensitive_values]
ill = ["gout"]
[hierarchies.age]
width = 10
start = 20
[hierarchies.town]
taxonomy = {South = ["Ulm", "it's"], Rhine = ["Bonn", "Köln, Süd"]}
[hierarchies.debt]
quantiles = 4
"""
    requirement = '{name = "k-anonymity", k = 5}, {name = "distinct-diversity", l = 3}'
    path = write_recipe(tmp_path, f'name = "rothko-tree"\nmemory_rows = 30\nrequirements = [{requirement}]\n{more}')
    recipe = Recipe.load(path)
    run_on_disk(recipe, tmp_path / "out")
    assert published(tmp_path / "out") == expected(recipe.run().release)


def test_folders_and_databases_are_read_in_memory_too(tmp_path):
    recipe = write_recipe(tmp_path, source='path = "folder"')
    (tmp_path / "folder").mkdir()
    shutil.copy(tmp_path / "people.parquet", tmp_path / "folder" / "one.parquet")
    by_folder = Recipe.load(recipe).run().release
    assert expected(by_folder) == expected(RothkoTree((KAnonymity(k=5),)).anonymize(Microdata(people(), ROLES)))
    with closing(sqlite3.connect(tmp_path / "people.db")) as database:
        people().drop(columns="since").to_sql("people", database, index=False)
    recipe = write_recipe(tmp_path, source='path = "people.db"\ntable = "people"')
    text = recipe.read_text(encoding="utf-8").replace('since = "quasi-identifier"\n', "")
    recipe.write_text(text, encoding="utf-8")
    assert len(Recipe.load(recipe).run().release.tables()["release"]) == 400
    assert os.path.exists(tmp_path / "people.db")


@pytest.mark.parametrize(
    ("limit", "used", "stale"),
    [
        ("memory.max", "memory.current", "inactive_file"),
        ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes", "total_inactive_file"),
    ],
)
def test_a_container_limits_the_free_memory(tmp_path, monkeypatch, limit, used, stale):
    monkeypatch.setattr(memory, "MEMORY_GROUP", tmp_path)
    on_machine = memory.free_memory()
    (tmp_path / limit).parent.mkdir(exist_ok=True)
    (tmp_path / limit).write_text("max\n")
    (tmp_path / used).write_text("2000\n")
    (tmp_path / used).with_name("memory.stat").write_text(f"anon 100\n{stale} 400\nactive_file 50\n")
    assert memory.free_memory() > 0.5 * on_machine
    (tmp_path / limit).write_text("5000\n")
    assert memory.free_memory() == 3400


TOKEN = "Zm9yLW5vYm9keQ"


@pytest.mark.parametrize(
    "master",
    [
        f"sc://:15002/;use_ssl=true;token={TOKEN}",
        f"sc://127.0.0.1:1/;use_ssl=true;token={TOKEN}",
        f"sc://127.0.0.1:1/;token={TOKEN}==",
        f"sc://127.0.0.1:1/;{TOKEN}",
        f"sc://127.0.0.1:1/;X-Key={TOKEN}",
        f"sc://127.0.0.1:1/;x-key={TOKEN}%0a",
        f"sc://127.0.0.1:1;token={TOKEN}",
        f"sc://127.0.0.1;token={TOKEN}",
        f"sc://[::1/;token={TOKEN}",
        f"sc://127.0.0.1:port/;token={TOKEN}",
        f"sc://ann:{TOKEN}@127.0.0.1:1/",
        f"SC://127.0.0.1:1/;token={TOKEN}",
        f"https://ann:{TOKEN}@127.0.0.1/;token={TOKEN}?token={TOKEN}",
        f"https://127.0.0.1/?token={TOKEN}",
    ],
)
def test_no_error_about_an_address_tells_its_token(master):
    builder = SimpleNamespace(remote=lambda url: SimpleNamespace(getOrCreate=ConnectSession))
    cluster = Cluster(master, {"spark.ssl.keyPassword": TOKEN})
    with pytest.raises(RecipeError) as error:
        engine_choice._spark_session(builder, cluster)
    assert TOKEN not in str(error.value)
    assert TOKEN not in repr(cluster)
    assert error.value.__cause__ is None
    assert error.value.__suppress_context__ or error.value.__context__ is None


def test_what_spark_tells_of_an_address_has_no_token(monkeypatch):
    monkeypatch.setenv("SPARK_REMOTE", "sc://elsewhere/;token=other-token")
    monkeypatch.setenv("SPARK_CONNECT_AUTHENTICATE_TOKEN", "third-token")
    cluster = Cluster(
        "sc://h:1/;use_ssl=true;user_id=ann;token=a%2Bb/c;x-key=a%2Bb",
        {"spark.ssl.keyPassword": "pw-9", "spark.x": "y"},
    )
    told = "ann true y: token=a%2Bb/c or a+b/c, x-key a+b, other-token, third-token, pw-9"
    assert cluster.without_secrets(told) == "ann true y: token=*** or ***, x-key ***, ***, ***, ***"
    assert Cluster("spark://h:1").without_secrets(told.replace("other-", "").replace("third-", "")).count("***") == 0


def test_the_value_of_a_secret_option_is_not_repeated():
    builder = SimpleNamespace(remote=lambda url: SimpleNamespace(getOrCreate=ConnectSession))
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"sc://127.0.0.1:{server.getsockname()[1]}"
        with pytest.raises(RecipeError, match=r"start the server with --conf spark\.ssl\.keyPassword\.$"):
            engine_choice._spark_session(builder, Cluster(address, {"spark.ssl.keyPassword": TOKEN}))


class ConnectSession:
    """What a session of Spark Connect does with options: it sets those of SQL, and passes over the others."""

    def __init__(self) -> None:
        self.set: dict[str, str] = {}
        self.conf = SimpleNamespace(isModifiable=lambda name: name.startswith("spark.sql."), set=self.set.__setitem__)


def test_options_that_a_session_of_spark_connect_cannot_set_are_refused_by_name():
    session, asked = ConnectSession(), []
    builder = SimpleNamespace(remote=lambda url: asked.append(url) or SimpleNamespace(getOrCreate=lambda: session))
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"sc://127.0.0.1:{server.getsockname()[1]}/;user_id=ann"
        options = {"spark.sql.shuffle.partitions": "3"}
        assert engine_choice._spark_session(builder, Cluster(address, options)) is session
        assert (asked, session.set) == ([address], options)
        with pytest.raises(
            RecipeError, match=r"spark.executor.memory: a session .* start the server with --conf spark"
        ):
            engine_choice._spark_session(builder, Cluster(address, {"spark.executor.memory": "4g"}))

        def missing(url: str) -> None:
            raise ImportError("[PACKAGE_NOT_INSTALLED] grpcio >= 1.48.1 must be installed")

        with pytest.raises(RecipeError, match=r"pip install 'anoncore\[spark-connect\]' \(\[PACKAGE"):
            engine_choice._spark_session(SimpleNamespace(remote=missing), Cluster(address))
    with pytest.raises(RecipeError, match=r"No server of Spark Connect answers at 127\.0\.0\.1:"):
        engine_choice._spark_session(builder, Cluster(address))
    with pytest.raises(RecipeError, match="names no server of Spark Connect; write sc://host:15002"):
        engine_choice._spark_session(builder, Cluster("sc://:99"))


FAILED = """An exception was thrown from the Python worker:
Traceback (most recent call last):
  File "worker.py", line 4207, in invoke_udf
    func, profiler = read_udfs(
                     ^^^^^^^^^^
{}"""


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "[TABLE_OR_VIEW_NOT_FOUND] There is none.\nJVM stacktrace:\n  at a.b",
            "[TABLE_OR_VIEW_NOT_FOUND] There is none.",
        ),
        (FAILED.format("ValueError: too many\n  values"), "ValueError: too many"),
        (FAILED.format(""), "An exception was thrown from the Python worker:"),
        (
            FAILED.format("ModuleNotFoundError: No module named 'anoncore'"),
            "ModuleNotFoundError: No module named 'anoncore', for the Python of the machines that do the work. Install "
            "anoncore on all of them, and name the Python that has it by setting PYSPARK_PYTHON.",
        ),
    ],
)
def test_what_spark_died_of_is_told(text, told):
    assert engine_choice.reason_of(text) == told
