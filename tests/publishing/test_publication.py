"""A release is written with its certificate or not at all, in the library and by the command."""

from __future__ import annotations

import re
from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from anoncore import Microdata, ReleaseError
from anoncore.algorithms import Mondrian
from anoncore.base.errors import DataError
from anoncore.cli import main
from anoncore.publishing import Certificate, certify, publish, release_files, verify
from anoncore.requirements import KAnonymity
from tests.cli.test_cli import ANATOMY, write_recipe

PEOPLE = pd.DataFrame({"age": [39, 50, 28, 41], "job": ["clerk", None, "=a", "cook"]})
DATA = Microdata(PEOPLE, roles={"age": "quasi-identifier", "job": "insensitive"})
RELEASE = Mondrian(requirements=[KAnonymity(k=2)]).anonymize(DATA)
KEY = "k" * 64


def everything(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("format", ["csv", "parquet", "excel"])
def test_a_release_is_published_with_its_certificate_or_not_at_all(tmp_path: Path, format: Any) -> None:
    proof, table = publish(RELEASE, tmp_path / "out", "people", KEY, format)
    found = verify(Certificate.load(proof), {table.name: table.read_bytes()})
    assert not found.of("fails")
    assert found.findings[0].sentence == "'release' has the 4 rows that were certified."
    before = everything(tmp_path)
    for folder in ("out", "more"):
        with pytest.raises(ReleaseError, match="no certificate for what does not hold"):
            publish(RELEASE, tmp_path / folder, "people", KEY, format, requirements=[KAnonymity(k=99)])
    assert everything(tmp_path) == before
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize("format", ["csv", "parquet", "excel"])
@pytest.mark.parametrize("role", ["sensitive", "insensitive"])
def test_decimals_with_an_exponent_have_a_certificate(format: Any, role: str) -> None:
    amounts = [Decimal("1E+16"), Decimal("-3E+20"), Decimal("1E+2"), Decimal("5E-7"), None] * 2
    people = pd.DataFrame({"age": range(10), "amount": pd.Series(amounts, dtype=object)})
    data = Microdata(people, roles={"age": "quasi-identifier", "amount": role})
    release = Mondrian(requirements=[KAnonymity(k=2)]).anonymize(data)
    (_, proof), (name, table) = release_files(release, "people", KEY, format).items()
    assert not verify(Certificate.loads(proof), {name: table}).of("fails")
    if format == "csv":
        assert {b"10000000000000000", b"-300000000000000000000", b"100"} <= set(re.split(rb"[,\r\n]+", table))


def test_files_that_say_more_than_the_release_have_no_certificate() -> None:
    (_, content), (name, table) = release_files(RELEASE, "people", KEY).items()
    assert Certificate.loads(content).files[0].name == name
    more = table.replace(b"age", b"name,age", 1).replace(b"\r\n2", b"\r\nAnna,2")
    for changed in (table + b"Anna", b"\xef\xbb\xbf" + table, more, table.replace(b"'=a", b"=a")):
        with pytest.raises(DataError, match="There is no certificate for a file that is not what is written"):
            certify(RELEASE, KEY, {name: changed})


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ["", ANATOMY], ids=["one-table", "joined-tables"])
@pytest.mark.parametrize("failing", ["certify", "report", "value_mapping", "replace"])
def test_a_run_that_fails_leaves_nothing_new_and_what_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: str, algorithm: str
) -> None:
    recipe = write_recipe(tmp_path, algorithm) if algorithm else write_recipe(tmp_path)
    words = ["run", recipe, "--output", str(tmp_path / "out"), "--report", "--mapping", "--force"]
    assert main([*words, "--key-file", str(tmp_path / "key")]) == 0
    before = everything(tmp_path)

    def fails(*_words: Any, **_more: Any) -> None:
        raise DataError("It fails.")

    module = "anoncore.publishing.publication" if failing == "certify" else "anoncore.cli.run"
    if failing == "replace":
        monkeypatch.setattr("anoncore.base.whole_files.os.replace", lambda *_: (_ for _ in ()).throw(OSError(28, "x")))
    else:
        monkeypatch.setattr(f"{module}.{failing}", fails)
    assert main([*words, "--key-file", str(tmp_path / "other" / "key")]) == 2
    words[words.index(str(tmp_path / "out"))] = str(tmp_path / "new" / "folder")
    assert main([*words, "--key-file", str(tmp_path / "other" / "key")]) == 2
    assert everything(tmp_path) == before
    assert not (tmp_path / "new").exists()
    assert not (tmp_path / "other").exists()
