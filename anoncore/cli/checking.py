"""The command `anoncore check`: what a table gives away as it is."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import Any

from anoncore.attacks.foreground.facts import Fact
from anoncore.base.errors import DataError, ParameterError
from anoncore.base.progress import part_of
from anoncore.cli.exit_codes import CLAIMED, DONE, FAILS, REFUSED, add_strict_option, judged_code, worst_code
from anoncore.cli.log import add_log_options, log
from anoncore.cli.office_rules import add_policy_option, policy_json, policy_lines, policy_of
from anoncore.cli.output import REPEATED, add_flag, add_json_option, tell
from anoncore.cli.plain_values import plain_value
from anoncore.cli.table_file import add_table_options, columns_in, read_file, read_named, table_name, table_path
from anoncore.front.asked_requirements import NAMES
from anoncore.front.question import Question
from anoncore.front.table_check import TableCheck
from anoncore.privacy import IdentifiersFound, identifiers
from anoncore.publishing.certification.claimed_entries import TriedAttacks
from anoncore.table.identifiers.kinds import FEW_PEOPLE

SPELLINGS = {"facts": "--fact", "synthetic_of": "--synthetic-of"}
"""The options that are called otherwise than the parameters of `anoncore.check`."""
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
)
"""Options of `anoncore check` that ask something about the columns that --known names."""


def add_options(command: argparse.ArgumentParser) -> None:
    """Give the parser of the command its options."""
    command.epilog = (
        f"What --require knows: {', '.join(NAMES)}. l is distinct-l; t is t-ordered for numbers, else t-equal. The "
        f"exit code is {FAILS} where a requirement or a rule of the policy fails, {CLAIMED} where a rule could not be "
        "measured and where all of them hold unless somebody knows a column that is not named, "
        f"{REFUSED} where the table could not be judged."
    )
    add_table_options(command)
    command.add_argument(
        "--known",
        **REPEATED,
        metavar="COLUMNS",
        help="columns that others may know of a person, with commas between them, again for more; a name with a comma "
        "stands in double quotes; may be left out with --identifiers, and with --policy, where all that are not named "
        "otherwise are then taken for known",
    )
    command.add_argument(
        "--secret", **REPEATED, metavar="COLUMNS", help="columns that nobody must learn, written alike"
    )
    command.add_argument(
        "--identifier", **REPEATED, metavar="COLUMNS", help="columns that name people, left out of all numbers"
    )
    _add_identifier_options(command)
    command.add_argument(
        "--unit",
        metavar="COLUMN",
        help="the column that says whose row it is, where one person may have several rows: "
        "k, l and t then count different people",
    )
    command.add_argument(
        "--require", **REPEATED, metavar="NAME=NUMBER", help="what must hold, e.g. k=5; again for more"
    )
    command.add_argument(
        "--foreground",
        type=float,
        metavar="R",
        help="also run the attack by foreground knowledge, in which a belief above 1/R is a breach; it may "
        "take seconds",
    )
    command.add_argument(
        "--attacks",
        type=float,
        metavar="R",
        help="also try every attack that applies, in which a belief above 1/R gives a value away; it may take a minute "
        "for a large table",
    )
    command.add_argument(
        "--fact",
        **REPEATED,
        metavar="SENTENCE",
        help="what the adversary of --foreground knows from elsewhere, e.g. 'row 12 has not flu' or 'at least 10%% "
        "where age < 30 has flu'; again for more",
    )
    command.add_argument(
        "--synthetic-of",
        type=table_path,
        metavar="ORIGINAL",
        help="the table is synthetic, made of this one: costs and, with --control, what it gives away",
    )
    command.add_argument(
        "--control",
        type=table_path,
        metavar="TABLE",
        help="people who are not in the table, or not in the original of a synthetic one, to attack it with",
    )
    add_policy_option(command)
    add_strict_option(command)
    add_json_option(command)
    add_log_options(command)
    command.set_defaults(command=_check)


def _check(arguments: argparse.Namespace) -> int:
    policy = policy_of(arguments)
    if _asks_for_identifiers_alone(arguments):
        _find_identifiers(arguments)
        return DONE
    question = Question(
        unit=arguments.unit,
        require=tuple(arguments.require),
        foreground=arguments.foreground,
        facts=tuple(Fact.parse(text) for text in arguments.fact),
        attacks=arguments.attacks,
        control=arguments.control,
        synthetic_of=arguments.synthetic_of,
        policy=policy,
        spelling=lambda parameter: SPELLINGS.get(parameter, f"--{parameter}"),
    )
    with log().progress() as report:
        report(0.0, "Reading the table")
        frame = read_named(arguments)[1]
        original = None if arguments.synthetic_of is None else read_file(arguments.synthetic_of)
        people = None if arguments.control is None else read_file(arguments.control)
        names = [str(name) for name in (frame if original is None else original).columns]
        question = replace(
            question,
            known=tuple(columns_in(arguments.known, names)),
            secret=tuple(columns_in(arguments.secret, names)),
            identifier=tuple(columns_in(arguments.identifier, names)),
            control=people,
            synthetic_of=original,
        )
        judged = question.judge(frame, part_of(report, 0.3, 1.0))
        found = _identifiers_in(arguments, frame) if arguments.identifiers else None
    is_synthetic = judged.release.is_synthetic
    for note in () if is_synthetic else judged.notes:
        log().note(note)
    lines = [*judged.sentences(table_name(arguments), str(arguments.synthetic_of)), *policy_lines(judged.judgement)]
    results = _json(arguments, judged)
    if found is not None:
        lines, results = [*lines, *found.sentences()], {**results, "safe_harbor": found.to_dict()}
    tell(arguments, lines, results)
    judgement = judged.judgement
    required = FAILS if not judged.holds else CLAIMED if judged.requirements and judged.verdict.breaking else DONE
    return judged_code(arguments, worst_code(required, DONE if judgement is None else judgement.exit_code))


def _json(arguments: argparse.Namespace, judged: TableCheck) -> dict[str, Any]:
    release, data = judged.release, judged.release.data
    return {
        "table": table_name(arguments),
        "verdict": judged.verdict.headline,
        "rows": release.n_records,
        "people": None if release.is_synthetic or data.people_word == "rows" else data.n_people,
        "groups": None if release.is_synthetic else release.partition.n_groups,
        "known": data.quasi_identifiers,
        "secret": data.sensitive,
        "identifiers": data.identifiers,
        "others": data.insensitive,
        "numbers": [plain_value(number) for number in judged.numbers],
        "attacks": [TriedAttacks.of(measured).model_dump() for measured in judged.attacks],
        "requirements": [plain_value(required) for required in judged.requirements],
        "holds": judged.holds,
        **policy_json(judged.judgement),
    }


def _add_identifier_options(command: argparse.ArgumentParser) -> None:
    """Give the parser of the command the options that find identifiers."""
    add_flag(
        command,
        "--identifiers",
        "find which columns hold identifiers of the 18 kinds of HIPAA's safe harbor, by names and values, with "
        "what mends them and what cannot be seen; needs no --known",
    )
    command.add_argument(
        "--few-people",
        type=Path,
        metavar="FILE",
        help="for --identifiers: text file with the first three digits of the ZIP codes whose areas have 20,000 people "
        "or fewer, with spaces, commas or line ends between them (default: the published list by the Census of 2000)",
    )


def _asks_for_identifiers_alone(arguments: argparse.Namespace) -> bool:
    """Whether identifiers are all that is asked for. Raises ParameterError where options do not go together."""
    if arguments.few_people is not None and not arguments.identifiers:
        raise ParameterError("--few-people is for --identifiers; add it, or leave --few-people out.")
    if arguments.known or arguments.policy:
        return False
    if not arguments.identifiers:
        raise ParameterError(
            "Name columns that others may know with --known, or ask for --policy or --identifiers, which need none."
        )
    idle = next((name for name in NEED_KNOWN if getattr(arguments, name)), None)
    if idle is not None:
        raise ParameterError(f"--{idle.replace('_', '-')} needs --known; name the columns that others may know.")
    return True


def _find_identifiers(arguments: argparse.Namespace) -> None:
    """Read the table, find its identifiers, and print them."""
    with log().progress() as report:
        report(0.0, "Reading the table")
        frame = read_named(arguments)[1]
        report(0.6, "Looking for identifiers")
        found = _identifiers_in(arguments, frame)
    name = table_name(arguments)
    tell(arguments, [name, *found.sentences()], {"table": name, "safe_harbor": found.to_dict()})


def _identifiers_in(arguments: argparse.Namespace, frame: Any) -> IdentifiersFound:
    """The identifiers of a table that is read already."""
    return identifiers(frame, FEW_PEOPLE if arguments.few_people is None else _few_people(arguments.few_people))


def _few_people(file: Path) -> tuple[str, ...]:
    try:
        text = file.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise DataError(f"'{file}' is no text; write three digits per area into a text file.") from None
    return tuple(text.replace(",", " ").split())
