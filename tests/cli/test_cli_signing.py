"""The commands keygen and sign, and what verify says of whose key signed."""

from __future__ import annotations

import json
import os
import stat
import zipfile
from pathlib import Path

import pytest

from anoncore.cli import main
from anoncore.publishing import new_key, release_archive
from anoncore.recipes.recipe import Recipe
from tests.fuzz.honest import in_parts

pytest.importorskip("cryptography", reason="cryptography is not installed; the extra 'sign' has it")

RECIPE = """
[source]
builtin = "census"
rows = 300
[algorithm]
name = "anatomy"
l = 3
"""
NOBODY = "nobody signed: whoever made the tables can have made this certificate"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with the keys of two people."""
    for name in ("Ann", "Bob"):
        assert main(["keygen", "--name", name, "--output", str(tmp_path / name), "--quiet"]) == 0
    return tmp_path


def released(place: Path) -> Path:
    (place / "census.toml").write_text(RECIPE)
    assert main(["run", str(place / "census.toml"), "--output", str(place / "out"), "--quiet"]) == 0
    return place / "out"


def verified(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, str]:
    capsys.readouterr()
    code = main(["verify", *map(str, words), "--quiet"])
    return code, capsys.readouterr().out


def test_keys_are_written_for_their_owner_alone_and_never_replaced(place, capsys):
    if os.name == "posix":
        assert stat.S_IMODE((place / "Ann").stat().st_mode) == 0o600
    before = (place / "Ann").read_bytes()
    assert main(["keygen", "--name", "Ann", "--output", str(place / "Ann")]) == 2
    assert "keys are never replaced" in capsys.readouterr().err
    (place / "Ann").rename(place / "moved")
    assert main(["keygen", "--name", "Ann", "--output", str(place / "Ann")]) == 2
    assert not (place / "Ann").exists()
    assert (place / "moved").read_bytes() == before


def test_who_signed_a_release_is_told_and_can_be_asked_for(place, capsys):
    folder = released(place)
    assert verified(capsys, folder)[0] == 0
    assert f"signature: {NOBODY}." in verified(capsys, folder)[1]
    code, said = verified(capsys, folder, "--trusted-key", place / "Ann.pub")
    assert (code, f"fails: {NOBODY}." in said) == (1, True)
    assert "The certificate does not hold: 1 statement of" in said

    assert main(["sign", str(folder), "--key", str(place / "Ann"), "--quiet"]) == 0
    code, said = verified(capsys, folder, "--trusted-key", place / "Ann.pub")
    assert (code, "holds: signed by Ann's key." in said) == (0, True)
    assert verified(capsys, folder, "--trusted-key", place)[0] == 0
    code, said = verified(capsys, folder)
    assert (code, "signature: signed by a key that you don't trust (SHA256:" in said) == (0, True)
    code, said = verified(capsys, folder, "--trusted-key", place / "Bob.pub")
    assert (code, "fails: signed by a key that you don't trust" in said) == (1, True)


def test_a_signature_replaces_no_check(place, capsys):
    folder = released(place)
    (file,) = folder.glob("*.json")
    claims = json.loads(file.read_text())
    claims["requirements"][0] |= {"asked": 4.0, "label": "frequency l-diversity (l = 4.0)"}
    claims["requirements"][0]["requirement"]["l"] = 4.0
    file.write_text(json.dumps(claims))
    assert main(["sign", str(file), "--key", str(place / "Ann"), "--quiet"]) == 0
    code, said = verified(capsys, folder, "--trusted-key", place / "Ann.pub")
    assert code == 1
    assert "holds: signed by Ann's key." in said
    assert "The certificate does not hold" in said


def test_a_change_after_the_signature_fails_for_everybody(place, capsys):
    folder = released(place)
    assert main(["sign", str(folder), "--key", str(place / "Ann"), "--quiet"]) == 0
    (file,) = folder.glob("*.json")
    claims = json.loads(file.read_text())
    claims["made"] = "2020-01-01T00:00:00+00:00"
    file.write_text(json.dumps(claims))
    for words in ((), ("--trusted-key", place / "Ann.pub"), ("--trusted-key", place / "Bob.pub")):
        code, said = verified(capsys, folder, *words)
        assert code == 1
        assert "does not fit: the certificate was changed after it was signed" in said
        assert "The certificate does not hold" in said
    assert main(["sign", str(folder), "--key", str(place / "Bob")]) == 2
    assert "was changed after it was signed" in capsys.readouterr().err


@pytest.mark.slow
def test_the_certificate_of_a_large_run_is_signed_in_its_folder(place, capsys):
    folder = place / "people-release"
    folder.mkdir()
    in_parts().write(folder)
    assert main(["sign", str(folder), "--key", str(place / "Ann"), "--quiet"]) == 0
    code, said = verified(capsys, folder, "--trusted-key", place / "Ann.pub")
    assert (code, "holds: signed by Ann's key." in said) == (0, True)


def test_a_zip_is_signed_as_it_is_handed_out(place, capsys):
    (place / "census.toml").write_text(RECIPE)
    release = Recipe.load(place / "census.toml").run().release
    file = place / "people.zip"
    file.write_bytes(release_archive(release, "people", new_key()))
    with zipfile.ZipFile(file) as archive:
        before = {name: archive.read(name) for name in archive.namelist()}
    assert main(["sign", str(file), "--key", str(place / "Ann"), "--quiet"]) == 0
    with zipfile.ZipFile(file) as archive:
        after = {name: archive.read(name) for name in archive.namelist()}
        archive.extractall(place / "unpacked")
    assert list(after) == list(before)
    assert [name for name in after if after[name] != before[name]] == ["people-certificate.json"]
    assert verified(capsys, place / "unpacked", "--trusted-key", place / "Ann.pub")[0] == 0


def test_a_passphrase_comes_from_a_file(place, capsys):
    (place / "words").write_text("correct horse\n")
    words = ["--output", str(place / "eve"), "--passphrase-file", str(place / "words"), "--quiet"]
    assert main(["keygen", "--name", "Eve", *words]) == 0
    folder = released(place)
    signing = ["sign", str(folder), "--key", str(place / "eve"), "--quiet"]
    assert main(signing) == 2
    assert "give it with --passphrase-file" in capsys.readouterr().err
    (place / "other").write_text("wrong\n")
    assert main([*signing, "--passphrase-file", str(place / "other")]) == 2
    assert "has another passphrase" in capsys.readouterr().err
    assert main([*signing, "--passphrase-file", str(place / "words")]) == 0
    assert verified(capsys, folder, "--trusted-key", place / "eve.pub")[0] == 0


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["sign", "{out}", "--key", "{place}/Ann.pub"], "is a public key"),
        (["sign", "{out}", "--key", "{place}/none"], "cannot be read"),
        (["sign", "{place}", "--key", "{place}/Ann"], "has no certificate"),
        (["sign", "{out}", "--key", "{place}/Ann", "--table", "x"], "--table names a release in a database"),
        (["sign", "postgresql://nowhere/x", "--key", "{place}/Ann"], "--table names a release in a database"),
        (["sign", "{place}/census.toml", "--key", "{place}/Ann"], "This is no certificate"),
        (["verify", "{out}", "--trusted-key", "{place}/Ann"], "is a private key"),
        (["verify", "{out}", "--trusted-key", "{out}"], "has no public keys"),
        (["keygen", "--name", " ", "--output", "{place}/x"], "is no name"),
        (["keygen", "--name", "X", "--output", "{place}/x", "--passphrase-file", "{place}/none"], "no passphrase"),
    ],
)
def test_what_is_asked_wrongly_gets_a_sentence_and_changes_nothing(place, capsys, words, says):
    out = released(place)
    before = {path: path.read_bytes() for path in place.rglob("*") if path.is_file()}
    capsys.readouterr()
    assert main([word.format(out=out, place=place) for word in words]) in (1, 2)
    assert says in capsys.readouterr().err
    assert {path: path.read_bytes() for path in place.rglob("*") if path.is_file()} == before
