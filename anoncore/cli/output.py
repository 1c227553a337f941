"""What commands take and give: files, `-` for the standard streams, and results as lines or as one JSON object."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from anoncore.base.errors import ParameterError
from anoncore.base.whole_files import replace_files
from anoncore.cli.log import log
from anoncore.sources.addresses import is_address

STREAM = Path("-")
"""What stands for the standard input or output where a file is named."""
STANDARD_INPUT = "standard input"
"""What messages call a file that came on the standard input."""


def is_stream(path: Path | str | None) -> bool:
    """Whether a path stands for the standard input or output."""
    return path == STREAM


def named_file(text: str) -> Path:
    """The path of a file. Raises ArgumentTypeError for `-`, where what is read or written needs a name and a place."""
    if text == str(STREAM):
        raise argparse.ArgumentTypeError("'-' is no file, and this one needs a name and a place; write its path")
    return Path(text)


def path_or_address(text: str) -> Path | str:
    """What was written on the command line: a path, or an address as it is."""
    return text if is_address(text) else Path(text)


def file_or_address(text: str) -> Path | str:
    """The same for what is no standard stream. Raises ArgumentTypeError for `-`."""
    return text if is_address(text) else named_file(text)


def standard_input() -> bytes:
    """All that comes on the standard input, which can be read once."""
    return sys.stdin.buffer.read()


def require_free(file: Path, force: bool) -> None:
    """Require that a file may be written. Raises ParameterError for one that is there, unless it may be replaced."""
    if not is_stream(file) and file.exists() and not force:
        raise ParameterError(f"'{file}' exists; choose another --output, or add --force to replace it.")


def write_file(file: Path, content: bytes) -> None:
    """Write a file whole, with the folders that it needs, or give it on the standard output."""
    if not is_stream(file):
        replace_files({file: content})
        return
    sys.stdout.flush()
    sys.stdout.buffer.write(content)
    sys.stdout.buffer.flush()


REPEATED: dict[str, Any] = {"action": "append", "default": []}
"""How an option is taken that may be given again for more."""


def add_reach_options(command: argparse.ArgumentParser) -> None:
    """Give the command the options that say what recipes may read and write outside their own folder."""
    command.add_argument(
        "--allow-path",
        **REPEATED,
        type=Path,
        metavar="PATH",
        help="file or folder outside the recipe's own folder that it may read and write, again for more",
    )
    command.add_argument(
        "--allow-address",
        **REPEATED,
        type=_address,
        metavar="ADDRESS",
        help="address that the recipe may read and write, with all below it, such as s3://bucket/people; again for "
        "more",
    )


def _address(text: str) -> str:
    if not is_address(text):
        raise argparse.ArgumentTypeError(
            f"{text!r} is no address; write one such as s3://bucket/people, or a path with --allow-path"
        )
    return text


def add_flag(command: argparse.ArgumentParser, name: str, text: str) -> None:
    """Add an option without a value, and what the help says of it."""
    command.add_argument(name, action="store_true", help=text)


def add_json_option(command: argparse.ArgumentParser) -> None:
    """Give a command that prints results the option --json."""
    add_flag(command, "--json", "print one JSON object, and nothing else, on the output")


def require_one_output(arguments: argparse.Namespace) -> None:
    """Require that one thing alone goes to the standard output. Raises ParameterError for a file and --json."""
    if is_stream(arguments.output) and arguments.json:
        raise ParameterError("--json and --output - both write to the standard output; leave one of them out.")


def print_json(results: Mapping[str, Any]) -> None:
    """Print results as one JSON object."""
    print(json.dumps(results, indent=2, allow_nan=False))


def tell(arguments: argparse.Namespace, lines: Iterable[str], results: Mapping[str, Any]) -> None:
    """Print results: as one JSON object with --json, else line by line.

    Where a file goes to the standard output, nothing else does, and the lines are notes on the error stream.
    """
    if getattr(arguments, "json", False):
        print_json(results)
        return
    is_taken = is_stream(getattr(arguments, "output", None))
    for line in lines:
        if is_taken:
            log().note(line)
        else:
            print(line)
