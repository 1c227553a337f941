"""The command `anoncore`: start the dashboard, run recipes, verify and evaluate releases, list what there is."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Sequence

from anoncore import __version__, cli_evaluate, cli_lists, cli_papers, cli_run, cli_sweep, cli_verify
from anoncore.errors import AnonymizationError, ParameterError, RecipeError

FAILED, MISUSED, STOPPED = 1, 2, 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns 0 when it is done, 1 when it could not be done, 2 when it was asked for wrongly."""
    arguments = _parser().parse_args(argv)
    try:
        return int(arguments.command(arguments) or 0)
    except BrokenPipeError:
        # The reader, such as `head`, has seen enough; Python would complain once more when it closes the stream.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (RecipeError, ParameterError) as error:
        return _fail(error, MISUSED)
    except (AnonymizationError, OSError, MemoryError) as error:
        return _fail(error, FAILED)
    except KeyboardInterrupt:
        return _fail("Stopped.", STOPPED)


def _fail(reason: object, code: int) -> int:
    text = " ".join(str(reason).split()) or "There is not enough memory for this table."
    print(f"anoncore: {text}", file=sys.stderr)
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="anoncore",
        description="Anonymize tables with people in them and see what a release protects and what it costs.",
    )
    parser.add_argument("--version", action="version", version=f"anoncore {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="command")

    text = "Serve the dashboard on this machine and open it in the browser."
    page = commands.add_parser("dashboard", help=text, description=text)
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
    page.set_defaults(command=_dashboard)

    for add in (
        cli_run.add_command,
        cli_verify.add_command,
        cli_evaluate.add_command,
        cli_sweep.add_command,
        cli_papers.add_commands,
        cli_lists.add_commands,
    ):
        add(commands)
    return parser


def _port(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 65_535:
        raise argparse.ArgumentTypeError(f"{text!r} is no port; use a number from 1 to 65535")
    return int(text)


def _dashboard(arguments: argparse.Namespace) -> int:
    options = []
    if arguments.port is not None:
        options += ["--server.port", str(arguments.port)]
    hosts = list(arguments.allow_host)
    if arguments.address is not None:
        options += ["--server.address", arguments.address]
        hosts.append(arguments.address)
    if hosts:
        for host in dict.fromkeys([*hosts, "127.0.0.1", "localhost"]):
            options += ["--server.allowedHosts", host]
    if arguments.no_browser:
        options += ["--server.headless", "true"]
    # The core does not know the page that is built on it; only this command looks it up.
    return int(importlib.import_module("dashboard.launch").launch(options))
