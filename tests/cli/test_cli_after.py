"""An earlier release of the same people at hand: its certificate and the saved session in which it was made."""

from __future__ import annotations

import html
import json
from pathlib import Path

import pandas as pd
import pytest

from anoncore import Microdata, attacks
from anoncore.algorithms import Algorithm, Anatomy, Mondrian
from anoncore.cli import main
from anoncore.publishing import Certificate, new_key, publish
from anoncore.recipes.saved_releases import saved_releases
from anoncore.requirements import DistinctDiversity, KAnonymity
from dashboard.session import session_file
from dashboard.session.workspace import Workspace
from tests.dashboard.results import ROLES, loaded, people, put

METHODS = [Anatomy(l=2), Mondrian(requirements=(KAnonymity(k=4),))]
LATER = Mondrian(requirements=(KAnonymity(k=4), DistinctDiversity(l=3)))


def _saved(folder: Path, algorithm: Algorithm, frame: pd.DataFrame) -> tuple[Path, Path]:
    """A session with two releases of the table, and the certificate of the second one."""
    here = Workspace("one")
    table, tags = loaded(frame, ROLES, "earlier.csv")
    here.load(table, tags)
    data = Microdata(frame, tags.roles)
    release = algorithm.anonymize(data)
    for one in (Mondrian(requirements=(KAnonymity(k=9),)).anonymize(data), release):
        assert isinstance(one.algorithm, Algorithm)
        put(here, one.algorithm, table, tags, one)
    (folder / "session.anoncore").write_bytes(session_file.save(here))
    certificate, _ = publish(release, folder, "earlier", new_key())
    return folder / "session.anoncore", certificate


def _recipe(folder: Path, frame: pd.DataFrame) -> Path:
    """A recipe of a release of the table with k = 4 and three different illnesses in every class."""
    frame.to_csv(folder / "later.csv", index=False)
    roles = "\n".join(f'{name} = "{role}"' for name, role in ROLES.items())
    asked = '{name = "k-anonymity", k = 4}, {name = "distinct-diversity", l = 3}'
    text = f'[source]\npath = "later.csv"\n[roles]\n{roles}\n[algorithm]\nname = "mondrian"\nrequirements = [{asked}]\n'
    (folder / "later.toml").write_text(text, encoding="utf-8")
    return folder / "later.toml"


@pytest.mark.parametrize("algorithm", METHODS, ids=lambda one: one.name)
def test_the_certificate_says_what_both_releases_tell(
    tmp_path: Path, algorithm: Algorithm, capsys: pytest.CaptureFixture[str]
) -> None:
    frame = people()
    first, second = frame.iloc[:160].reset_index(drop=True), frame.iloc[80:].reset_index(drop=True)
    session, named = _saved(tmp_path, algorithm, first)
    words = ["run", str(_recipe(tmp_path, second)), "--output", str(tmp_path / "out"), "--after", str(named)]
    assert main([*words, "--after-release", str(session), "--by", "name", "--report"]) == 0
    certificate = Certificate.load(tmp_path / "out" / "later-release-certificate.json")
    (entry,) = certificate.after or []
    later = LATER.anonymize(Microdata(second, ROLES))
    found = attacks.composition([later, saved_releases(session)[1]], "illness", by="name", l=3)
    (figures,) = entry.together or []
    assert (entry.people, entry.by, figures.attribute, figures.l) == (80, ["name"], "illness", 3)
    assert figures.few == float(found.few) > 0
    assert figures.few_alone == found.few.baseline
    assert (figures.largest, figures.guessing) == (float(found.largest), found.largest.baseline)
    said = f"80 people are in both tables by 'name'; {float(found.few):.1%} of them have fewer than 3 possible values"
    assert said in capsys.readouterr().out
    assert any(said in sentence for sentence in certificate.not_checked)
    report = html.unescape((tmp_path / "out" / "later-release-report.html").read_text(encoding="utf-8"))
    assert "Earlier releases" in report
    assert said in report
    assert main(["verify", str(tmp_path / "out" / "later-release-certificate.json")]) == 3, "a column is insensitive"


def test_what_does_not_go_together_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    frame = people()
    session, named = _saved(tmp_path, METHODS[1], frame)
    words = ["run", str(_recipe(tmp_path, frame)), "--output", str(tmp_path / "out")]
    broken, foreign = tmp_path / "broken.anoncore", tmp_path / "foreign.json"
    broken.write_bytes(b"no session")
    text = json.loads(named.read_text(encoding="utf-8"))
    foreign.write_text(json.dumps({**text, "sha256": "0" * 64}), encoding="utf-8")
    for more, sentence in (
        (["--after-release", session], "--after-release needs --after"),
        (["--after", named, "--by", "name"], "--by is for --after-release"),
        (["--after", named, "--after-release", session], "Say by which columns"),
        (["--after", named, "--after-release", session, "--by", "number"], "has no column 'number'"),
        (["--after", named, "--after-release", session, "--by", "town"], "does not tell the rows apart"),
        (["--after", named, "--after-release", broken, "--by", "name"], "This is not a session file"),
        (["--after", named, "--after-release", tmp_path / "none", "--by", "name"], "'none' cannot be read"),
        (["--after", foreign, "--after-release", session, "--by", "name"], "None of the 2 releases that were saved"),
    ):
        assert main([*words, *map(str, more)]) != 0, sentence
        assert sentence in capsys.readouterr().err
        assert not (tmp_path / "out").exists()


def test_nobody_in_both_is_said_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    frame = people()
    session, named = _saved(tmp_path, METHODS[1], frame.iloc[:120].reset_index(drop=True))
    words = ["run", str(_recipe(tmp_path, frame.iloc[120:])), "--output", str(tmp_path / "out"), "--after", str(named)]
    assert main([*words, "--after-release", str(session), "--by", "name"]) == 0
    assert "0 people are in both tables by 'name'." in capsys.readouterr().out
    (entry,) = Certificate.load(tmp_path / "out" / "later-release-certificate.json").after or []
    assert (entry.people, entry.together) == (0, [])
    capsys.readouterr()
    assert main(["verify", str(tmp_path / "out" / "later-release-certificate.json")]) == 3
    told = [
        line for line in capsys.readouterr().out.splitlines() if line.startswith("claimed, not checked: This release")
    ]
    assert len(told) == 1
    assert f"(SHA-256 '{Certificate.load(named).sha256[:12]}' …)" in told[0]
    assert told[0].endswith("0 people are in both tables by 'name'.")
