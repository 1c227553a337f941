"""The contract of exit codes: whatever is wrong with a command is a sentence with a next step and ends alike."""

from __future__ import annotations

import re
from contextlib import chdir
from pathlib import Path

import pandas as pd
import pytest

from anoncore.cli import main
from anoncore.cli.exit_codes import CLAIMED, DONE, FAILS, REFUSED, STOPPED

ROLES = 'age = "quasi-identifier"\nzip = "quasi-identifier"\ndisease = "sensitive"'
ALGORITHM = 'name = "mondrian"\nrequirements = [{name = "k-anonymity", k = 2}]'
SOURCE = 'path = "people.csv"'
RUN = "run {} --output out"
SWEEP = "sweep good.toml --try 'mondrian k=2'"


@pytest.fixture
def folder(written: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of all mistakes, which none of them changes, as the working folder."""
    monkeypatch.chdir(written)
    return written


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a table, recipes good and bad, and files that are broken."""
    folder = tmp_path_factory.mktemp("mistakes")
    with chdir(folder):
        write_files()
    return folder


def write_files() -> None:
    """Write what the mistakes are about into the working folder."""
    people = {"age": [20, 21, 30, 31], "zip": ["1", "1", "2", "2"], "disease": list("abcd"), "town": list("wxyz")}
    pd.DataFrame({name: values * 5 for name, values in people.items()}).to_csv("people.csv", index=False)
    recipe("good.toml")
    recipe("first.toml", first="format = 1")
    recipe("key.toml", first='format = 2\nmeassures = ["utility.information_loss"]')
    recipe("measure.toml", first='format = 2\nmeasures = ["utility.information_los"]')
    recipe("infeasible.toml", algorithm=ALGORITHM.replace("k = 2", "k = 50"))
    recipe("algorithm.toml", algorithm='name = "mondrain"')
    recipe("field.toml", algorithm=f'{ALGORITHM}\nspilt = "median"')
    recipe("requirement.toml", algorithm=ALGORITHM.replace("k-anonymity", "k-anonymty"))
    recipe("gone.toml", source='path = "gone.csv"')
    recipe("builtin.toml", source='builtin = "censsus"')
    recipe("outside.toml", source='path = "/etc/hostname"')
    recipe("column.toml", roles=f'agee = "quasi-identifier"\n{ROLES}')
    recipe("role.toml", roles='age = "quasi-identifer"')
    recipe("bad/unquoted.toml", algorithm="name = mondrian")
    Path("broken.csv").write_text('a,b\n"1,2\n', encoding="utf-8")
    Path("empty.csv").touch()
    Path("empty").mkdir()
    Path("bad.json").write_text("{}", encoding="utf-8")


def recipe(
    name: str, first: str = "format = 2", source: str = SOURCE, roles: str = ROLES, algorithm: str = ALGORITHM
) -> None:
    """Write a recipe of these parts."""
    Path(name).parent.mkdir(exist_ok=True)
    text = f"{first}\n[source]\n{source}\n[roles]\n{roles}\n[algorithm]\n{algorithm}\n"
    Path(name).write_text(text, encoding="utf-8")


def ended(words: str) -> int:
    """The exit code of a command, also where the command line is not understood."""
    quoted = re.findall(r"'([^']*)'|(\S+)", words)
    try:
        return main([first or second for first, second in quoted])
    except SystemExit as end:
        return int(end.code or 0)


MISTAKES = [
    ("", "the following arguments are required: command"),
    ("rnu good.toml", "There is no command 'rnu'; did you mean 'run'?"),
    ("check people.csv --known age --requier k=5", "There is no option '--requier'; did you mean '--require'?"),
    ("run good.toml --format cvs", "invalid choice: 'cvs' (choose from 'csv', 'parquet', 'excel')"),
    ("recipe good.toml more.toml", "unrecognized arguments: more.toml"),
    ("check people.csv", "Name columns that others may know with --known"),
    ("check --known age", "Name a table: a file, - for the standard input, or a built-in one by --table census."),
    ("check s3://bucket/people.csv --known age", "name the address as source.path of a recipe"),
    ("init gone.csv --output new.toml", "There is no file 'gone.csv'; check its name and folder."),
    ("hierarchy gone.csv", "There is no file 'gone.csv'; check its name and folder."),
    ("check gone.csv --known age", "There is no file 'gone.csv'; check its name and folder."),
    ("check empty.csv --known age", "'empty.csv' is empty; load a file with column names"),
    ("check broken.csv --known age", "is never closed; close it, or load the complete file."),
    ("check empty --known age", "The folder 'empty' holds no Parquet and no CSV files."),
    ("check good.toml --known age", "is a recipe and not a table; make its release with: anoncore run good.toml"),
    ("check people.csv --known agee", "the table has no column 'agee'; it has 'age', 'zip'"),
    ("check people.csv --known agee", "Did you mean 'age'?"),
    ("check people.csv --known age --require j=5", "is no requirement; write one of k, l"),
    ("check people.csv --known age --table x", "--table is for a database, and 'people.csv' is none"),
    ("check --table adlt --known age", "Did you mean 'adult'?"),
    ("check --table censsus --known age", "There is no built-in table 'censsus'; there are census, rothko-synthetic,"),
    ("init people.csv --output good.toml", "'good.toml' exists; choose another --output, or add --force"),
    ("init - --output new.toml", "A recipe names the file of its table, which the standard input has not"),
    ("hierarchy people.csv --column zpi", "The table has no column 'zpi'; it has 'age', 'zip', 'disease', 'town'. Did"),
    (RUN.format("none.toml"), "The recipe 'none.toml' cannot be read: no such file or directory."),
    (RUN.format("people.csv"), "is a table and not a recipe; make a recipe of it with: anoncore init people.csv"),
    (RUN.format("bad/unquoted.toml"), "The recipe is not valid TOML"),
    (RUN.format("gone.toml"), "There is no file 'gone.csv'"),
    (RUN.format("builtin.toml"), "There is no built-in table 'censsus'; there are census, rothko-synthetic,"),
    (RUN.format("outside.toml"), "allow it with --allow-path /etc/hostname"),
    (RUN.format("key.toml"), "A recipe has no key 'meassures'"),
    (RUN.format("measure.toml"), "Did you mean 'utility.information_loss'?"),
    (RUN.format("algorithm.toml"), "There is no algorithm 'mondrain'; did you mean 'mondrian'?"),
    (RUN.format("field.toml"), "Mondrian: there is no field spilt; there is requirements, split"),
    (RUN.format("requirement.toml"), "There is no requirement 'k-anonymty'; did you mean 'k-anonymity'?"),
    (RUN.format("column.toml"), "roles names 'agee', which the table lacks; it has 'age'"),
    (RUN.format("role.toml"), "use one of 'identifier', 'quasi-identifier'"),
    (RUN.format("infeasible.toml"), "k = 50 is not possible"),
    ("run good.toml --output x.cvs", "The ending of 'x.cvs' is not known; use '.csv', '.parquet', '.xlsx', '.zip'."),
    ("run good.toml --output x.zip --format excel", "'x.zip' is not known"),
    ("run good.toml --output -", "has no certificate beside it; add --no-certificate, or name a file."),
    ("run good.toml --output out --after -", "'-' is no file, and this one needs a name and a place"),
    ("evaluate infeasible.toml", "k = 50 is not possible"),
    ("evaluate good.toml --measure information-los", "Did you mean 'information-loss'?"),
    ("evaluate good.toml --measure t --attribute diseas", "There is no attribute 'diseas'; the table has 'age'"),
    ("sweep good.toml --target distinct-l=2 --attribute diseas", "Did you mean 'disease'?"),
    ("report good.toml --attribute diseas", "Did you mean 'disease'?"),
    ("sweep good.toml", "Say what to try with --try 'mondrian k=2,5,10'"),
    (f"{SWEEP} --criteria two-way-eror", "There is no criterion 'two-way-eror'; did you mean 'two-way-error'?"),
    ("sweep good.toml --target tt=2", "There is no criterion 'tt'; did you mean 't'?"),
    ("sweep good.toml --try 'mondrian min_gian=2'", "Did you mean 'min_gain'?"),
    (f"{SWEEP} --output - --json", "both write to the standard output; leave one of them out."),
    ("report infeasible.toml", "k = 50 is not possible"),
    ("script people.csv", "make a recipe of it with: anoncore init people.csv"),
    ("recipe", "Name a recipe to check and print, or ask for --schema"),
    ("verify none.json", "The certificate 'none.json' cannot be read: no such file or directory."),
    ("verify bad.json", "This is no certificate of a release"),
    ("verify -", "'-' is no file, and this one needs a name and a place; write its path"),
    ("sign bad.json --key none.key", "The key 'none.key' cannot be read: no such file or directory."),
    ("algorithms mondrain", "There is no algorithm 'mondrain'; did you mean 'mondrian'?"),
    ("requirements k-anonymty", "There is no requirement 'k-anonymty'; did you mean 'k-anonymity'?"),
    ("completion tcsh", "invalid choice: 'tcsh'"),
    ("dashboard --port x", "'x' is no port; use a number from 1 to 65535"),
]


@pytest.mark.parametrize(("words", "says"), MISTAKES, ids=lambda text: str(text)[:48])
def test_a_mistake_is_a_sentence_and_nothing_is_done(
    folder: Path, words: str, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = sorted(path.name for path in folder.rglob("*"))
    assert ended(words) == REFUSED
    out, err = capsys.readouterr()
    assert says in err
    assert (out, sorted(path.name for path in folder.rglob("*"))) == ("", before)


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ("check people.csv --known age,zip,town --secret disease --require k=5", DONE),
        ("check people.csv --known age,zip --secret disease,town --require k=50", FAILS),
        ("check people.csv --known zip --secret disease --require k=10", CLAIMED),
        ("check people.csv --known zip --secret disease --require k=10 --strict", FAILS),
        ("check people.csv --known zip --secret disease", DONE),
        ("sweep good.toml --target k=5 --spare information-loss --try 'mondrian k=5'", DONE),
        ("sweep good.toml --target k=50 --spare information-loss --try 'mondrian k=5'", FAILS),
        ("evaluate good.toml infeasible.toml --measure k", FAILS),
        ("run first.toml --output out", FAILS),
    ],
)
def test_what_is_done_ends_by_what_holds(folder: Path, words: str, code: int) -> None:
    assert ended(words) == code


def test_what_is_stopped_keeps_its_code(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("anoncore.cli.evaluate.load_recipe", stop)
    assert ended("evaluate good.toml") == STOPPED
