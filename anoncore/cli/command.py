"""The command `anoncore`: start the dashboard, run recipes, verify and evaluate releases, list what there is."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
import warnings
from collections.abc import Sequence
from typing import NamedTuple, NoReturn

from anoncore.base.errors import AnonymizationError, UndecidedError
from anoncore.base.extensions import load_extensions
from anoncore.base.showing import printable
from anoncore.base.version import __version__
from anoncore.cli.exit_codes import DONE, FAILS, REFUSED, STOPPED
from anoncore.cli.log import Log, log_of


class Parser(argparse.ArgumentParser):
    """A parser that repeats what it does not understand without what gives rights to whoever reads it."""

    def refuse_name(self, what: str, name: str, names: Sequence[str]) -> NoReturn:
        """Say that a name does not exist, and which one is probably meant, and end."""
        # Only a mistake waits for this import.
        from anoncore.base.texts import no_such

        self.error(no_such(what, name, names))

    def error(self, message: str) -> NoReturn:
        """Say what is wrong with the command, and end."""
        # Only a mistake waits for this import.
        from anoncore.sources.addresses import without_parameters

        super().error(without_parameters(message))


class Command(NamedTuple):
    """One command: the module of this package that runs it, the function that adds its options, and its help."""

    module: str
    add_options: str
    text: str


COMMANDS = {
    "dashboard": Command("page", "add_options", "Serve the dashboard on this machine and open it in the browser."),
    "init": Command(
        "first_recipe",
        "add_init_options",
        "Write a first recipe for a table: proposed roles, kinds, hierarchies and a method, with the reasons.",
    ),
    "hierarchy": Command(
        "first_recipe",
        "add_hierarchy_options",
        "Propose hierarchies for the columns of a table, print one level by level, write it, or check one.",
    ),
    "check": Command(
        "checking",
        "add_options",
        "Judge a table as it is: unique rows, k, l, t and what an adversary learns from it, without changing anything.",
    ),
    "run": Command(
        "run",
        "add_options",
        "Make the release that a recipe describes, write its tables and their certificate and print a summary.",
    ),
    "verify": Command(
        "verify",
        "add_options",
        "Re-check a certificate from the published files alone: their content, and what holds in their groups.",
    ),
    "keygen": Command(
        "signing",
        "add_keygen_options",
        "Make a pair of keys: a private one to sign certificates with, and a public one for those who check them.",
    ),
    "sign": Command("signing", "add_sign_options", "Sign a certificate, so that readers know who made it."),
    "evaluate": Command(
        "evaluate", "add_options", "Make the releases of recipes and print numbers about them; no table is written."
    ),
    "sweep": Command(
        "sweep",
        "add_options",
        "Make many releases of one table, measure each, and tell which are unbeaten or keep the targets.",
    ),
    "report": Command(
        "reports",
        "add_report_options",
        "Make the releases of one to six recipes and write one report (HTML): of one, or all side by side.",
    ),
    "dossier": Command(
        "dossiers",
        "add_options",
        "Write what a person reads, prints and signs before a table leaves the house, from a recipe or a certificate.",
    ),
    "script": Command(
        "reports",
        "add_script_options",
        "Print a recipe as a short Python script or notebook that makes its release again.",
    ),
    "recipe": Command(
        "recipe_check", "add_options", "Check a recipe and print it with all values, or print the schemas of files."
    ),
    "policy": Command(
        "office_rules",
        "add_options",
        "Check and print the rules of an office, list those that come with the program, or print their schema.",
    ),
    "algorithms": Command("lists", "add_algorithms_options", "List the algorithms with their fields."),
    "requirements": Command("lists", "add_requirements_options", "List the requirements with their fields."),
    "completion": Command(
        "completion", "add_options", "Print what a shell needs to complete commands and options of anoncore."
    ),
    "warm-up": Command(
        "warming",
        "add_options",
        "Compile all methods and measures now, once on this machine, so that nobody waits for it later.",
    ),
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns its exit code, one of `exit_codes`. Ends the program where the command is not known."""
    given = sys.argv[1:] if argv is None else list(argv)
    # What is wrong with extensions is known before there is a log to say it in.
    with warnings.catch_warnings(record=True, category=RuntimeWarning) as left_out:
        arguments = _parsed(given)
    with log_of(arguments, _command_in(given) or "") as log:
        for warning in left_out:
            log.warn(str(warning.message))
        code = _run(arguments, log)
        log.end(code)
    return code


def _run(arguments: argparse.Namespace, log: Log) -> int:
    try:
        return int(arguments.command(arguments) or DONE)
    except BrokenPipeError:
        # The reader, such as `head`, has seen enough; Python would complain once more when it closes the stream.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    except (AnonymizationError, OSError, MemoryError) as error:
        log.error(printable(" ".join(str(error).split())) or "There is not enough memory for this table.")
        return FAILS if isinstance(error, UndecidedError) else REFUSED
    except KeyboardInterrupt:
        log.error("Stopped.")
        return STOPPED


def _command_in(given: Sequence[str]) -> str | None:
    """The command that is asked for."""
    return next((word for word in given if not word.startswith("-")), None)


def _parsed(given: Sequence[str]) -> argparse.Namespace:
    """The command with its options; only the command that is asked for has any.

    What a command needs takes seconds to import, so it is imported when that command is asked for and not to print the
    version or the list of commands.
    """
    parser = Parser(
        prog="anoncore",
        description="Anonymize tables with people in them and see what a release protects and what it costs.",
    )
    parser.add_argument("--version", action="version", version=f"anoncore {__version__}")
    parsers = parser.add_subparsers(title="commands", required=True, metavar="command")
    asked, asked_parser = _command_in(given), parser
    if asked is not None and asked not in COMMANDS:
        parser.refuse_name("command", asked, list(COMMANDS))
    for name, command in COMMANDS.items():
        options = parsers.add_parser(name, help=command.text, description=command.text)
        if name == asked:
            load_extensions()
            module = importlib.import_module(f"anoncore.cli.{command.module}")
            getattr(module, command.add_options)(options)
            asked_parser = options
    arguments, not_understood = parser.parse_known_args(given)
    if not_understood:
        option = not_understood[0].partition("=")[0]
        if option.startswith("-"):
            names = [name for name in asked_parser._option_string_actions if name.startswith("--")]
            asked_parser.refuse_name("option", option, names)
        asked_parser.error(f"unrecognized arguments: {' '.join(not_understood)}")
    return arguments
