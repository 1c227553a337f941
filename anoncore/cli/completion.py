"""The command `anoncore completion`: what bash, zsh and fish need to complete commands, options and their values."""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Mapping
from typing import Any

import shtab

from anoncore.algorithms import ALGORITHMS
from anoncore.front.policy import PRESETS
from anoncore.measures.criteria import CRITERIA
from anoncore.measures.evaluation import MEASURES
from anoncore.requirements import REQUIREMENTS

SHELLS = ("bash", "zsh", "fish")
VALUES = {
    "--measure": (*CRITERIA, *MEASURES),
    "--criteria": tuple(CRITERIA),
    "--policy": PRESETS,
    "--spare": tuple(CRITERIA),
    "--try": tuple(ALGORITHMS),
    "--target": tuple(f"{name}=" for name in CRITERIA),
}
"""Values of options that are no choices, because more may stand behind them."""
NAMES = {"algorithms": tuple(ALGORITHMS), "requirements": tuple(REQUIREMENTS), "policy": PRESETS}
"""Values of the first argument of commands that look a name up."""


def add_options(command: argparse.ArgumentParser) -> None:
    """Give the parser of the command its options."""
    command.epilog = (
        'bash: eval "$(anoncore completion bash)" in ~/.bashrc. zsh: the same with zsh in ~/.zshrc, after compinit. '
        "fish: anoncore completion fish > ~/.config/fish/completions/anoncore.fish. All of it is fixed text; nothing "
        "runs while you type."
    )
    command.add_argument("shell", choices=SHELLS)
    command.set_defaults(command=_completion)


def completed_commands(commands: Mapping[str, Any]) -> argparse.ArgumentParser:
    """A parser of every command with its options and all values that shells offer; it parses nothing."""
    parser = argparse.ArgumentParser(prog="anoncore")
    parser.add_argument("--version", action="store_true", help="show which version it is")
    parsers = parser.add_subparsers()
    for name, command in commands.items():
        options = parsers.add_parser(name, help=command.text)
        getattr(importlib.import_module(f"anoncore.cli.{command.module}"), command.add_options)(options)
        for action in options._actions:
            values = VALUES.get(action.option_strings[-1]) if action.option_strings else NAMES.get(name)
            action.choices = action.choices or values
            if action.nargs != 0 and not action.choices:
                action.complete = shtab.FILE  # type: ignore[attr-defined]
    return parser


def _completion(arguments: argparse.Namespace) -> None:
    # The list of commands names this file, so it can only be read when the command runs.
    commands = importlib.import_module("anoncore.cli.command").COMMANDS
    print(shtab.complete(completed_commands(commands), arguments.shell))
