"""The maker of a recipe: a recipe of a stranger reads and writes what lies in its own folder, and asks nobody."""

from __future__ import annotations

import ast
import os
import socket
from pathlib import Path

import pytest

from anoncore.base.errors import RecipeError
from anoncore.cli import main
from anoncore.recipes.reach import require_within_reach
from anoncore.recipes.recipe import Recipe

ROOT = Path(__file__).resolve().parents[2]
ROWS = "age,town,ill\n" + "".join(f"{20 + row},{'ab'[row % 2]},{'xyz'[row % 3]}\n" for row in range(24))
RECIPE = """
format = 2
{measures}
[source]
path = {source!r}
[roles]
age = "quasi-identifier"
ill = "sensitive"
{rest}
[algorithm]
name = "mondrian"
requirements = [{{ name = "k-anonymity", k = 2 }}]
"""


PRESENCE = '{{ name = "delta-presence", population = "{place}" }}'


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Somebody's home with a private table, keys, and a folder that a stranger sent."""
    folder = tmp_path / "home"
    (folder / "sent" / ".ssh").mkdir(parents=True)
    (folder / ".ssh").mkdir()
    for place in ("private.csv", "sent/people.csv", "sent/.ssh/hidden.csv"):
        (folder / place).write_text(ROWS)
    (folder / "private" / "part").mkdir(parents=True)
    (folder / "private" / "part" / "one.csv").write_text(ROWS)
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.chdir(folder / "sent")

    def connect(*asked: object) -> None:
        raise AssertionError(f"the recipe asked another machine: {asked}")

    monkeypatch.setattr(socket, "getaddrinfo", connect)
    monkeypatch.setattr(socket, "create_connection", connect)
    return folder


def written(home: Path, source: str = "people.csv", rest: str = "", measures: str = "") -> Path:
    path = home / "sent" / "recipe.toml"
    path.write_text(RECIPE.format(source=source, rest=rest, measures=measures))
    return path


def everything(home: Path) -> dict[str, bytes]:
    return {str(path.relative_to(home)): path.read_bytes() for path in home.rglob("*") if path.is_file()}


def outside(home: Path) -> list[str]:
    """Ways to name what is not the stranger's."""
    (home / "sent" / "link.csv").symlink_to(home / "private.csv")
    (home / "sent" / "linked").symlink_to(home / "private")
    (home / "sent" / "mixed").mkdir()
    (home / "sent" / "mixed" / "one.csv").write_text(ROWS)
    (home / "sent" / "mixed" / "two.csv").symlink_to(home / "private.csv")
    (home / "sent" / "twice").symlink_to("link.csv")
    return [
        "../private.csv",
        "./../private.csv",
        "../sent/../private.csv",
        "mixed/../../private.csv",
        str(home / "private.csv"),
        "/" + str(home / "private.csv"),
        "/proc/self/environ",
        "/dev/stdin",
        "../private",
        "link.csv",
        "twice",
        "linked",
        "linked/part/one.csv",
        "mixed",
        ".ssh/hidden.csv",
        "./.ssh/../.ssh/hidden.csv",
        "..",
        "../.ssh",
    ]


ADDRESSES = [
    "postgresql://elsewhere.example/clinic",
    "postgres://ann:secret@10.0.0.7/clinic",
    "POSTGRESQL://elsewhere.example/clinic",
    "s3://bucket/people.parquet",
    "gs://bucket/people.parquet",
    "abfs://container/people.parquet",
    "http://169.254.169.254/latest/meta-data.csv",
    "https://elsewhere.example/people.csv",
    "file:///etc/passwd",
    "ftp://elsewhere.example/people.csv",
    "github://owner:repo@/people.csv",
    "memory://people.csv",
]


def test_no_recipe_reads_outside_its_folder(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    places = [*outside(home), *ADDRESSES]
    before = everything(home)
    for place in places:
        recipe = written(home, place)
        table = ' table = "visits"' if place.lower().startswith("postgres") else ""
        recipe.write_text(
            recipe.read_text().replace(f"path = {place!r}", f"path = {place!r}{table and chr(10) + table}")
        )
        for command in (["run", str(recipe), "--output", "out"], ["evaluate", str(recipe)], ["report", str(recipe)]):
            assert main(command) == 2, (place, command)
            said = capsys.readouterr()
            assert "--allow-" in said.err, (place, said.err)
            assert "secret" not in said.err, "a password is not repeated"
        assert main(["sweep", str(recipe), "--try", "mondrian k=2"]) == 2
        capsys.readouterr()
    (home / "sent" / "recipe.toml").unlink()
    assert everything(home) == before


@pytest.mark.parametrize(
    ("measures", "rest"),
    [
        ("", '[hierarchies]\ntown = "{place}"'),
        ('measures = [{{ name = "attacks.population_uniqueness", population = {{ path = "{place}" }} }}]', ""),
        ("", '[output]\npath = "{place}"'),
        (
            'measures = [{{ name = "privacy.check", requirements = [{population}] }}]'.replace(
                "{population}", PRESENCE
            ),
            "",
        ),
    ],
)
def test_no_part_of_a_recipe_names_what_is_outside(
    home: Path, measures: str, rest: str, capsys: pytest.CaptureFixture[str]
) -> None:
    places = outside(home)
    if "[output]" in rest:
        places = [*places, "../.ssh/authorized_keys2.csv", "~/../../.ssh/x", "linked/new.csv", ".profile", "../new"]
    before = everything(home)
    for place in places:
        recipe = written(home, rest=rest.format(place=place), measures=measures.format(place=place))
        assert main(["run", str(recipe)]) == 2, place
        assert "outside its own folder or hidden there" in capsys.readouterr().err
    (home / "sent" / "recipe.toml").unlink()
    assert everything(home) == before
    assert not list(home.glob(".ssh/*"))


def test_no_population_of_a_method_lies_outside(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for place in [*outside(home), *ADDRESSES]:
        recipe = written(home)
        asked = PRESENCE.format(place=place)
        recipe.write_text(recipe.read_text().replace("requirements = [", f"requirements = [{asked}, "))
        for command in (["run", str(recipe), "--output", "out"], ["evaluate", str(recipe)], ["report", str(recipe)]):
            assert main(command) == 2, (place, command)
            said = capsys.readouterr().err
            assert "outside its own folder or hidden there" in said or "should be a file and no address" in said, place
            assert "secret" not in said, "a password is not repeated"


def test_what_the_command_line_allows_is_read_and_written(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    recipe = written(home, "../private.csv", '[output]\npath = "../release.csv"')
    assert main(["run", str(recipe), "--allow-path", "../private.csv"]) == 2
    assert f"--allow-path {home / 'release.csv'}" in capsys.readouterr().err
    options = ["--allow-path", "../private.csv", "--allow-path", str(home / "release.csv")]
    assert main(["run", str(recipe), *options]) == 0
    assert (home / "release.csv").is_file()
    assert main(["evaluate", str(recipe), "--allow-path", ".."]) == 0
    assert main(["run", str(recipe), "--allow-path", "..", "--force", "--output", "elsewhere"]) == 0
    # A folder is no longer allowed by the name with which another one begins.
    assert main(["evaluate", str(recipe), "--allow-path", "../priv"]) == 2


def test_a_recipe_in_its_own_folder_needs_nothing(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / "sent" / "towns.csv").write_text("a;north\nb;south\n")
    (home / "sent" / "same.csv").symlink_to("people.csv")
    (home / "sent" / "deep" / "er").mkdir(parents=True)
    for source in ("people.csv", "./people.csv", "deep/er/../../people.csv", "same.csv", str(home / "sent/people.csv")):
        rest = '[hierarchies]\ntown = "towns.csv"\n[output]\npath = "made/release.csv"'
        recipe = written(home, source, rest)
        assert main(["run", str(recipe), "--force"]) == 0
        assert (home / "sent" / "made" / "release.csv").is_file()
    monkeypatch.chdir(home)
    assert main(["run", "sent/recipe.toml", "--force"]) == 0
    # The whole way to the folder may be a link, as on systems where /tmp is one.
    (home / "way").symlink_to(home / "sent")
    assert main(["run", "way/recipe.toml", "--force"]) == 0
    # Hidden folders above it, such as those of temporary work, hide nothing.
    hidden = home / ".cache" / "work"
    hidden.parent.mkdir()
    os.rename(home / "sent", hidden)
    text = (hidden / "recipe.toml").read_text().replace(str(home / "sent"), str(hidden))
    (hidden / "recipe.toml").write_text(text)
    assert main(["evaluate", str(hidden / "recipe.toml")]) == 0


@pytest.mark.parametrize(
    ("address", "allowed", "is_allowed"),
    [
        ("s3://bucket/people.parquet", "s3://bucket/people.parquet", True),
        ("s3://bucket/a/people.parquet", "s3://bucket/a", True),
        ("s3://bucket/a/people.parquet", "s3://bucket/a/", True),
        ("s3://bucket/a/people.parquet", "s3://bucket", True),
        ("s3://bucket/ab/people.parquet", "s3://bucket/a", False),
        ("s3://bucket2/people.parquet", "s3://bucket", False),
        ("s3://bucket/a/../b/people.parquet", "s3://bucket/a", False),
        ("s3://bucket/a/%2E%2e/b/people.parquet", "s3://bucket/a", False),
        ("gs://bucket/people.parquet", "s3://bucket", False),
        ("https://office.example/people.csv", "https://office.example/", True),
        ("https://office.example:443/people.csv", "https://office.example/", True),
        ("https://office.example:8443/people.csv", "https://office.example/", False),
        ("http://office.example/people.csv", "https://office.example/", False),
        ("https://office.example.evil/people.csv", "https://office.example", False),
        ("https://office.example@evil.example/people.csv", "https://office.example", False),
        ("postgresql://ann@db.example/clinic", "postgresql://db.example/clinic", True),
        ("postgres://ann@db.example:5432/clinic", "postgresql://db.example/clinic", True),
        ("postgresql://db.example/clinic?sslmode=require", "postgresql://db.example/clinic", True),
        ("postgresql://db.example/clinic?host=evil.example", "postgresql://db.example/clinic", False),
        ("postgresql://db.example/clinic?hostaddr=10.0.0.7", "postgresql://db.example/clinic", False),
        ("postgresql://db.example/clinic?service=other", "postgresql://db.example/clinic", False),
        ("postgresql://db.example/clinic?passfile=/home/x", "postgresql://db.example/clinic", False),
        ("postgresql://db.example,evil.example/clinic", "postgresql://db.example/clinic", False),
        ("postgresql://db.example/clinic2", "postgresql://db.example/clinic", False),
        ("postgresql://db.example/other", "postgresql://db.example/clinic", False),
        ("postgresql://db.example:99999/clinic", "postgresql://db.example/clinic", False),
    ],
)
def test_an_address_is_allowed_with_what_lies_below_it(address: str, allowed: str, is_allowed: bool) -> None:
    source = {"path": address, **({"table": "visits"} if address.startswith("postgres") else {})}
    recipe = Recipe(source=source, algorithm={"name": "anatomy", "l": 2})
    if is_allowed:
        require_within_reach(recipe, addresses=[allowed])
    else:
        with pytest.raises(RecipeError, match=r"--allow-address|leave that out of the address"):
            require_within_reach(recipe, addresses=[allowed])
    with pytest.raises(RecipeError):
        require_within_reach(recipe)


def test_a_first_recipe_says_how_it_is_run(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    os.rename(home / "private.csv", home / "my people.csv")
    assert main(["init", "people.csv"]) == 0
    assert "then: anoncore run people.toml)" in capsys.readouterr().out
    assert main(["init", "../my people.csv", "--output", "other.toml"]) == 0
    said = capsys.readouterr().out
    assert f"then: anoncore run other.toml --allow-path '{home / 'my people.csv'}')" in said
    assert main(["evaluate", "other.toml"]) == 2
    assert main(["evaluate", "other.toml", "--allow-path", str(home / "my people.csv")]) == 0


def test_every_command_that_runs_recipes_holds_them_to_their_folder() -> None:
    """Only commands that print recipes load them without looking at what they name."""
    printing = {
        "reports.py": ["_script"],
        "recipe_check.py": ["_recipe"],
        "recipe_file.py": ["read_any_recipe", "read_recipe", "load_any_recipe", "load_recipe"],
    }
    found: dict[str, list[str]] = {}
    for path in sorted((ROOT / "anoncore" / "cli").glob("*.py")):
        for function in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(function, ast.FunctionDef) and _loads(function):
                found.setdefault(path.name, []).append(function.name)
    assert found == printing


def _loads(function: ast.FunctionDef) -> bool:
    return any(_reads_recipe(node) for node in ast.walk(function))


def _reads_recipe(node: ast.AST) -> bool:
    """Whether an expression is one of the functions that read a recipe."""
    if isinstance(node, ast.Attribute):
        names = {one.id for one in ast.walk(node.value) if isinstance(one, ast.Name)}
        return bool(names & {"Recipe", "JoinedRecipe"}) and node.attr in ("load", "loads", "from_dict")
    return isinstance(node, ast.Name) and node.id in ("read_recipe", "read_any_recipe")
