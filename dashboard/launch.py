"""Start the page in this process, so that ending it ends the server too."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
APP = HERE / "app.py"
SETTINGS = (HERE / ".streamlit" / "config.toml", HERE.parent / ".streamlit" / "config.toml")
"""Where the settings lie: beside the app in an installed package, one folder up in the source tree."""


def launch(argv: Sequence[str] = ()) -> int:
    """Serve the dashboard until it is stopped; returns the exit code.

    `argv` are further options of `streamlit run`, such as `--server.port 8600` or `--server.headless true`; they count
    more than the settings that come with the program, and those more than the visitor's own.
    """
    from streamlit.web import cli

    settings = next((path for path in SETTINGS if path.is_file()), None)
    options = [] if settings is None else list(_options(tomllib.loads(settings.read_text("utf-8"))))
    given = {argument.split("=")[0] for argument in argv}
    kept = [part for option in options if option[0] not in given for part in option]
    try:
        cli.main(["run", str(APP), *kept, *argv], prog_name="anoncore dashboard", standalone_mode=False)
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else 1
    return 0


def _options(settings: Mapping[str, Any], prefix: str = "--") -> Iterator[tuple[str, str]]:
    """Settings as command line options; a list gives one option per entry."""
    for name, value in settings.items():
        if isinstance(value, Mapping):
            yield from _options(value, f"{prefix}{name}.")
        elif isinstance(value, list):
            yield from ((prefix + name, str(entry)) for entry in value)
        else:
            yield prefix + name, str(value).lower() if isinstance(value, bool) else str(value)
