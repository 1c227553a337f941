"""The page starts in this process with the settings that come with the program."""

from __future__ import annotations

import os
import threading
import tomllib
from pathlib import Path

import pytest

from dashboard.process import launch

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def ready(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Nothing is compiled beside these tests; whether it would have begun."""
    begun = threading.Event()
    monkeypatch.setattr(launch, "_get_ready", begun.set)
    return begun


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[tuple[list[str], Path]]:
    """What Streamlit is asked to run, and in which folder; it runs nothing."""
    seen: list[tuple[list[str], Path]] = []
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("streamlit.web.cli.main", lambda args, **_: seen.append((args, Path(os.getcwd()))))
    return seen


def test_it_runs_the_app_where_its_settings_are_found(
    started: list[tuple[list[str], Path]], ready: threading.Event
) -> None:
    assert launch.launch(["--server.port", "8600"]) == 0
    assert ready.wait(10), "compiling begins with the server"
    arguments, folder = started[0]
    assert arguments == ["run", str(ROOT / "dashboard" / "guarded_app.py"), "--server.port", "8600"]
    assert (folder / ".streamlit" / "config.toml").is_file()


def test_an_installed_package_leaves_the_working_directory(
    started: list[tuple[list[str], Path]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / ".streamlit").mkdir()
    (tmp_path / ".streamlit" / "config.toml").write_text("")
    monkeypatch.setattr(launch, "HERE", tmp_path)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    assert launch.launch() == 0
    assert started[0][1] == elsewhere


def test_the_exit_code_is_passed_on(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def stop(args: list[str], **_: object) -> None:
        raise SystemExit(3)

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("streamlit.web.cli.main", stop)
    assert launch.launch() == 3


def test_the_settings_keep_the_page_on_this_machine() -> None:
    settings = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text("utf-8"))
    assert settings["server"]["address"] == "127.0.0.1"
    assert set(settings["server"]["allowedHosts"]) == {"127.0.0.1", "localhost"}
    assert settings["server"]["maxUploadSize"] == 200
    assert settings["server"]["enableXsrfProtection"]
    assert settings["server"]["enableCORS"]
    assert not settings["browser"]["gatherUsageStats"]
    assert settings["client"]["showErrorDetails"] == "none"
    assert settings["theme"]["light"].keys() == settings["theme"]["dark"].keys()
