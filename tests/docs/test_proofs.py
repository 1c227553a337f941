"""Every statement on what a certificate proves names tests, and there are these tests."""

from __future__ import annotations

import re

from tests.contracts.source import ROOT

PAGE = ROOT / "docs" / "pages" / "explanation" / "certificates.md"
NAMED = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)`")


def test_the_tests_that_hold_a_statement_are_there() -> None:
    named = NAMED.findall(PAGE.read_text(encoding="utf-8"))
    assert len(named) > 15
    missing = [f"{file}::{name}" for file, name in named if f"def {name}(" not in (ROOT / file).read_text("utf-8")]
    assert missing == []


def test_every_statement_has_a_proof() -> None:
    text = PAGE.read_text(encoding="utf-8")
    statements = re.split(r"\n\*\*\d+\. ", text.split("## You say")[0])[1:]
    assert len(statements) == 12
    assert all(NAMED.search(one) for one in statements)
