"""The part of `anoncore check` that finds identifiers of HIPAA's safe harbor."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from anoncore.base.errors import DataError, ParameterError
from anoncore.cli.log import log
from anoncore.cli.output import tell
from anoncore.cli.table_file import read_named, table_name
from anoncore.privacy import IdentifiersFound, identifiers
from anoncore.table.identifiers.kinds import FEW_PEOPLE

NEED_KNOWN = (
    "secret",
    "identifier",
    "unit",
    "require",
    "foreground",
    "attacks",
    "fact",
    "synthetic_of",
    "control",
    "policy",
)
"""Options of `anoncore check` that ask something about columns that others may know."""


def add_identifier_options(command: argparse.ArgumentParser) -> None:
    """Give the parser of the command the options that find identifiers."""
    command.add_argument(
        "--identifiers",
        action="store_true",
        help="find which columns hold identifiers of the 18 kinds of HIPAA's safe harbor, by names and values, with "
        "what mends them and what cannot be seen; needs no --known",
    )
    command.add_argument(
        "--few-people",
        type=Path,
        metavar="FILE",
        help="for --identifiers: text file with the first three digits of the ZIP codes whose areas have 20,000 people "
        "or fewer, with spaces, commas or line ends between them (default: the published list by the Census of 2000)",
    )


def is_alone(arguments: argparse.Namespace) -> bool:
    """Whether identifiers are all that is asked for. Raises ParameterError where options do not go together."""
    if arguments.few_people is not None and not arguments.identifiers:
        raise ParameterError("--few-people is for --identifiers; add it, or leave --few-people out.")
    if arguments.known:
        return False
    if not arguments.identifiers:
        raise ParameterError("Name columns that others may know with --known, or find identifiers with --identifiers.")
    idle = next((name for name in NEED_KNOWN if getattr(arguments, name)), None)
    if idle is not None:
        raise ParameterError(f"--{idle.replace('_', '-')} needs --known; name the columns that others may know.")
    return True


def find_identifiers(arguments: argparse.Namespace) -> None:
    """Read the table, find its identifiers, and print them."""
    with log().progress() as report:
        report(0.0, "Reading the table")
        frame = read_named(arguments)[1]
        report(0.6, "Looking for identifiers")
        found = identifiers_in(arguments, frame)
    name = table_name(arguments)
    tell(arguments, [name, *found.sentences()], {"table": name, "safe_harbor": found.to_dict()})


def identifiers_in(arguments: argparse.Namespace, frame: Any) -> IdentifiersFound:
    """The identifiers of a table that is read already."""
    return identifiers(frame, FEW_PEOPLE if arguments.few_people is None else _few_people(arguments.few_people))


def _few_people(file: Path) -> tuple[str, ...]:
    try:
        text = file.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise DataError(f"'{file}' is no text; write three digits per area into a text file.") from None
    return tuple(text.replace(",", " ").split())
