"""The record: who did what, with digests from which nothing can be guessed."""

from __future__ import annotations

import base64
import json
from hashlib import sha256
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

from dashboard.serving import audit, settings
from dashboard.serving.settings import Audit, Kept, Settings

KEY, OTHER = (base64.b64encode(bytes([number]) * 32).decode() for number in (1, 2))
GUESSES = [f"age,ill\n20,{ill}\n" for ill in ("flu", "cold", "gout", "HIV")]


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(settings, "_used", Settings(audit=Audit(str(tmp_path / "audit.jsonl"), KEY)))
    return tmp_path / "audit.jsonl"


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("ascii").splitlines()]


def digests(guess: str) -> set[str]:
    """What somebody without the key can make of a guess."""
    plain = sha256(guess.encode()).hexdigest()
    return {plain, sha256(plain.encode()).hexdigest(), sha256(bytes.fromhex(plain)).hexdigest()}


def test_no_guess_of_a_table_is_found_in_the_record(path: Path) -> None:
    table = SimpleNamespace(
        digest=sha256(GUESSES[3].encode()).hexdigest(), frame=pd.DataFrame({"age": [20]}), builtin=None
    )
    audit.record("loaded", "ann", **audit.of_table(table))
    run = SimpleNamespace(algorithm=None, opened=SimpleNamespace(digest=table.digest), table=table)
    audit.record("opened a session", "ann", tables=[audit.of_table(table)], runs=1)
    assert audit.taken_away("ann", "release", lambda: GUESSES[3], **audit.of_run(run))() == GUESSES[3]
    text = path.read_text("ascii")
    for guess in GUESSES:
        for digest in digests(guess):
            assert digest not in text
    loaded, opened, taken = lines(path)
    # The same table is the same in every line, and the file that was taken away has its own.
    assert loaded["table"] == opened["tables"][0]["table"] == taken["table"] == taken["opened"]
    assert loaded["table"] == taken["digest"] == audit.keyed(table.digest)


def test_each_key_gives_other_digests_and_that_of_workspaces_does_without_one(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = sha256(b"rows").hexdigest()
    own = audit.keyed(plain)
    file = str(path)
    monkeypatch.setattr(settings, "_used", Settings(audit=Audit(file, OTHER)))
    other = audit.keyed(plain)
    monkeypatch.setattr(settings, "_used", Settings(audit=Audit(file), workspaces=Kept(key=KEY)))
    assert audit.keyed(plain) == own
    assert len({plain, own, other}) == 3


def test_a_digest_inside_a_text_is_keyed_too(path: Path) -> None:
    digest = sha256(GUESSES[3].encode()).hexdigest()
    run = SimpleNamespace(algorithm=None, opened=SimpleNamespace(digest=f"alone {digest}"), table=None)
    audit.record("took away", "ann", **audit.of_run(run))
    assert digest not in path.read_text("ascii")
    (line,) = lines(path)
    assert line["opened"] == f"alone {audit.keyed(digest)}"


def test_what_is_no_digest_stays_as_it_is(path: Path) -> None:
    audit.record("ran", "ann", table="builtin:census", method={"name": "mondrian", "k": 5}, rows=3, share=0.5)
    (line,) = lines(path)
    assert (line["table"], line["method"], line["rows"]) == ("builtin:census", {"name": "mondrian", "k": 5}, 3)
