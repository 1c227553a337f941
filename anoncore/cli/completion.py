"""The command `anoncore completion`: what bash, zsh and fish need to complete commands, options and their values."""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from anoncore.algorithms import ALGORITHMS
from anoncore.front.policy.policy import PRESETS
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


@dataclass(frozen=True)
class Option:
    """An option of a command: its name, what follows it, and its help."""

    name: str
    takes_value: bool
    values: tuple[str, ...]
    text: str


@dataclass(frozen=True)
class Completed:
    """A command with what may follow it."""

    text: str
    options: tuple[Option, ...]
    values: tuple[str, ...]
    """Fixed values of its first argument."""


def completed_commands(commands: Mapping[str, Any]) -> dict[str, Completed]:
    """Every command with its options, read off the parsers themselves."""
    found = {}
    for name, command in commands.items():
        parser = argparse.ArgumentParser(add_help=False)
        parser.add_argument("--help", action="store_true", help="show what the command does")
        module = importlib.import_module(f"anoncore.cli.{command.module}")
        getattr(module, command.add_options)(parser)
        options: list[Option] = []
        values = NAMES.get(name, ())
        for action in parser._actions:
            choices = tuple(str(one) for one in action.choices or ())
            if not action.option_strings:
                values = values or choices
                continue
            long = action.option_strings[-1]
            options.append(Option(long, action.nargs != 0, VALUES.get(long, choices), _one_line(action.help or "")))
        found[name] = Completed(_one_line(command.text), tuple(options), values)
    return found


def _one_line(text: str) -> str:
    return " ".join(text.split()).partition(" (default:")[0].replace("%%", "%")


def _completion(arguments: argparse.Namespace) -> None:
    # The list of commands names this file, so it can only be read when the command runs.
    commands = completed_commands(importlib.import_module("anoncore.cli.command").COMMANDS)
    lines = {"bash": _bash, "zsh": _zsh, "fish": _fish}[arguments.shell](commands)
    print("\n".join(lines))


def _bash(commands: Mapping[str, Completed]) -> Iterator[str]:
    yield "_anoncore() {"
    yield '    local word="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}" command="${COMP_WORDS[1]}"'
    yield "    local words="
    yield "    if (( COMP_CWORD == 1 )); then"
    yield f'        words="{" ".join([*commands, "--help", "--version"])}"'
    yield "    else"
    yield '        case "$command $before" in'
    for name, command in commands.items():
        for option in command.options:
            if option.values:
                yield f'            "{name} {option.name}") words="{" ".join(option.values)}" ;;'
            elif option.takes_value:
                yield f'            "{name} {option.name}") return ;;'
    yield "        esac"
    yield '        if [[ -z "$words" ]]; then'
    yield '            case "$command $word" in'
    for name, command in commands.items():
        yield f'                "{name} -"*) words="{" ".join(option.name for option in command.options)}" ;;'
        if command.values:
            yield f'                "{name} "*) words="{" ".join(command.values)}" ;;'
    yield "            esac"
    yield "        fi"
    yield "    fi"
    yield '    [[ -n "$words" ]] && COMPREPLY=($(compgen -W "$words" -- "$word"))'
    yield "}"
    yield "complete -o default -F _anoncore anoncore"


def _zsh(commands: Mapping[str, Completed]) -> Iterator[str]:
    yield "#compdef anoncore"
    yield "_anoncore() {"
    yield "    if (( CURRENT == 2 )); then"
    yield "        local -a commands=("
    yield from (f"            {_quoted(f'{name}:{command.text}')}" for name, command in commands.items())
    yield "        )"
    yield "        _describe command commands"
    yield "        return"
    yield "    fi"
    yield '    case "$words[2] $words[CURRENT-1]" in'
    for name, command in commands.items():
        for option in command.options:
            if option.values:
                yield f'        "{name} {option.name}") compadd -- {" ".join(option.values)}; return ;;'
            elif option.takes_value:
                yield f'        "{name} {option.name}") _files; return ;;'
    yield "    esac"
    yield '    case "$words[2] $words[CURRENT]" in'
    for name, command in commands.items():
        yield f'        "{name} -"*)'
        yield "            local -a options=("
        for option in command.options:
            yield f"                {_quoted(f'{option.name}:{option.text}')}"
        yield "            )"
        yield "            _describe option options ;;"
        if command.values:
            yield f'        "{name} "*) compadd -- {" ".join(command.values)} ;;'
    yield "        *) _files ;;"
    yield "    esac"
    yield "}"
    yield "compdef _anoncore anoncore"


def _fish(commands: Mapping[str, Completed]) -> Iterator[str]:
    for name, command in commands.items():
        yield f"complete -c anoncore -n __fish_use_subcommand -f -a {name} -d {_quoted(command.text)}"
    for name, command in commands.items():
        seen = f"complete -c anoncore -n '__fish_seen_subcommand_from {name}'"
        if command.values:
            yield f"{seen} -f -a {_quoted(' '.join(command.values))}"
        for option in command.options:
            values = f" -x -a {_quoted(' '.join(option.values))}" if option.values else ""
            value = values or (" -r" if option.takes_value else "")
            yield f"{seen} -l {option.name.removeprefix('--')}{value} -d {_quoted(option.text)}"


def _quoted(text: str) -> str:
    """A text between single quotes, in which no shell looks for anything."""
    return "'" + text.replace("\\", "").replace("'", "’") + "'"
