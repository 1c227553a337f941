"""The command `anoncore policy`, and the option --policy of commands that judge releases by an office's rules."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import anoncore
from anoncore.base.errors import ParameterError
from anoncore.cli.output import add_flag, add_json_option, print_json, tell
from anoncore.front.policy import PRESETS

if TYPE_CHECKING:
    from anoncore.front.policy.judgement import Judgement
    from anoncore.front.policy.policy import Policy


def add_policy_option(command: argparse.ArgumentParser, more: str = "") -> None:
    """Give a command that judges releases the option --policy; `more` says what is special of the command."""
    command.add_argument(
        "--policy",
        metavar="FILE|PRESET",
        help="the rules of an office (TOML), or one of those that come with the program "
        f"({', '.join(PRESETS)}): a line for each rule, whether it is kept{more}",
    )


def policy_of(arguments: argparse.Namespace) -> Policy | None:
    """The policy that was asked for. Raises ParameterError for one that cannot be read."""
    return None if arguments.policy is None else anoncore.Policy.load(arguments.policy)


def policy_lines(judgement: Judgement | None) -> Sequence[str]:
    """What a policy says, line by line; nothing without a policy."""
    return () if judgement is None else judgement.sentences


def policy_json(judgement: Judgement | None) -> dict[str, Any]:
    """The same as JSON has it, for the object that a command prints; nothing without a policy."""
    return {} if judgement is None else {"policy": judgement.to_dict()}


def add_options(command: argparse.ArgumentParser) -> None:
    """Give the parser of the command its options."""
    command.epilog = (
        "A policy is given to check, run, sweep and verify with --policy. What it says is what was asked and what was "
        "measured, and never that a law is met."
    )
    command.add_argument(
        "policy", nargs="?", help="the file or preset that is checked and printed (default: the list of presets)"
    )
    add_flag(command, "--schema", "print the JSON schema of policies instead")
    add_json_option(command)
    command.set_defaults(command=_policy)


def _policy(arguments: argparse.Namespace) -> None:
    if arguments.schema:
        if arguments.policy is not None:
            raise ParameterError("Name a policy to check and print, or ask for --schema, but not both.")
        print_json(anoncore.Policy.schema())
        return
    if arguments.policy is None:
        presets = anoncore.Policy.presets()
        tell(arguments, [f"{name}: {purpose}" for name, purpose in presets.items()], presets)
        return
    policy = anoncore.Policy.load(arguments.policy)
    tell(arguments, policy.to_toml().splitlines(), policy.to_dict())
