"""The command `anoncore dashboard`: serve the page on this machine."""

from __future__ import annotations

import argparse
import runpy
from pathlib import Path

import anoncore
from anoncore.base.errors import AnonymizationError
from anoncore.base.extras import require

PACKAGE = Path(anoncore.__file__).resolve().parent
FOLDERS = (PACKAGE / "_page" / "dashboard", PACKAGE.parent / "dashboard")
"""Where the page lies: inside an installed package, or beside the package in the source tree."""


def add_options(page: argparse.ArgumentParser) -> None:
    """Give the parser of the command its options."""
    page.add_argument(
        "--config", metavar="FILE", help="TOML file of settings, for a server that is run for others (anoncore.toml)"
    )
    page.add_argument(
        "--check-config",
        action="store_true",
        help="check the settings of --config and of the environment, print them without secrets, and serve nothing",
    )
    page.add_argument(
        "--digest",
        type=Path,
        metavar="FILE",
        help="print the digest by which the record of --config names a file that somebody took away, and serve nothing",
    )
    page.add_argument("--port", type=_port, help="port to listen on (default: 8501, or the next free one)")
    page.add_argument("--address", help="address to listen on (default: 127.0.0.1, this machine alone)")
    page.add_argument(
        "--allow-host",
        action="append",
        default=[],
        metavar="NAME",
        help="further name under which the page may be asked for; needed with an address like 0.0.0.0",
    )
    page.add_argument("--no-browser", action="store_true", help="do not open the browser")
    page.set_defaults(command=_serve)


def _port(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 65_535:
        raise argparse.ArgumentTypeError(f"{text!r} is no port; use a number from 1 to 65535")
    return int(text)


def _serve(arguments: argparse.Namespace) -> int:
    require("The dashboard", "streamlit", "plotly", extra="dashboard")
    given: dict[str, object] = {}
    if arguments.port is not None:
        given["server.port"] = arguments.port
    if arguments.address is not None:
        given["server.address"] = arguments.address
    if arguments.allow_host:
        given["server.allowed_hosts"] = tuple(arguments.allow_host)
    serve = runpy.run_path(str(page_folder() / "process" / "launch.py"))["serve"]
    return int(
        serve(
            arguments.config,
            given,
            is_headless=arguments.no_browser or bool(arguments.config),
            only_check=arguments.check_config,
            **({} if arguments.digest is None else {"digest_of": arguments.digest}),
        )
    )


def page_folder() -> Path:
    """The folder of the page's app. Raises AnonymizationError where the installation has none."""
    for folder in FOLDERS:
        if (folder / "app.py").is_file():
            return folder
    raise AnonymizationError(f"The dashboard's files are missing: there is no '{FOLDERS[0]}'. Install anoncore again.")
