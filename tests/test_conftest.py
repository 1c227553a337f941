"""The switch that makes skipped browser tests fail."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TESTS = """
import pytest

@pytest.mark.browser
def test_in_a_browser():
    pytest.skip("no browser here")

def test_elsewhere():
    pytest.skip("not here")
"""


def outcome(folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    (folder / "test_sample.py").write_text(TESTS, encoding="utf-8")
    (folder / "pytest.ini").write_text("[pytest]\nmarkers = browser\n", encoding="utf-8")
    (folder / "conftest.py").write_text((ROOT / "tests" / "conftest.py").read_text("utf-8"), encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(folder)]
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "ANONCORE"))}
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, env=inherited | environment, check=False)


@pytest.mark.slow
def test_skipped_browser_tests_fail_only_where_a_browser_is_promised(tmp_path: Path) -> None:
    relaxed = outcome(tmp_path)
    assert relaxed.returncode == 0
    assert "2 skipped" in relaxed.stdout
    strict = outcome(tmp_path, ANONCORE_REQUIRE_BROWSER="1")
    assert strict.returncode == 1
    assert "1 failed, 1 skipped" in strict.stdout
    assert "no browser here" in strict.stdout


@pytest.mark.slow
def test_skipped_tests_are_counted_by_reason(tmp_path: Path) -> None:
    told = outcome(tmp_path).stdout
    assert "skipped, by reason" in told
    assert "    1  no browser here" in told
    assert "    1  not here" in told
