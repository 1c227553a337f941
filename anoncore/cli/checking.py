"""The command `anoncore check`: what a table gives away as it is."""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import Any

from anoncore.attacks.foreground.facts import Fact
from anoncore.base.progress import part_of
from anoncore.cli.exit_codes import CLAIMED, DONE, FAILS, REFUSED, add_strict_option, judged_code, worst_code
from anoncore.cli.identifiers import add_identifier_options, find_identifiers, identifiers_in, is_alone
from anoncore.cli.log import add_log_options, log
from anoncore.cli.office_rules import add_policy_option, policy_json, policy_lines, policy_of
from anoncore.cli.output import add_json_option, tell
from anoncore.cli.plain_values import plain_value
from anoncore.cli.table_file import add_table_options, columns_in, read_file, read_named, table_name, table_path
from anoncore.front.asked_requirements import NAMES
from anoncore.front.policy.judgement import Judgement
from anoncore.front.policy.release_rules import judge_release
from anoncore.front.question import Question
from anoncore.front.table_check import TableCheck
from anoncore.publishing.certification.tried_attacks import TriedAttacks
from anoncore.table.given_table import as_pandas

SPELLINGS = {"facts": "--fact", "synthetic_of": "--synthetic-of"}
"""The options that are called otherwise than the parameters of `anoncore.check`."""


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
        action="append",
        default=[],
        metavar="COLUMNS",
        help="columns that others may know of a person, with commas between them, again for more; a name with a comma "
        "stands in double quotes; may be left out with --identifiers",
    )
    command.add_argument(
        "--secret", action="append", default=[], metavar="COLUMNS", help="columns that nobody must learn, written alike"
    )
    command.add_argument(
        "--identifier",
        action="append",
        default=[],
        metavar="COLUMNS",
        help="columns that name people, left out of all numbers",
    )
    add_identifier_options(command)
    command.add_argument(
        "--unit",
        metavar="COLUMN",
        help="the column that says whose row it is, where one person may have several rows: "
        "k, l and t then count different people",
    )
    command.add_argument(
        "--require", action="append", default=[], metavar="NAME=NUMBER", help="what must hold, e.g. k=5; again for more"
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
        action="append",
        default=[],
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
    if is_alone(arguments):
        find_identifiers(arguments)
        return DONE
    # People to compare with are asked for by the policy as well, which the question knows nothing of.
    is_asked = policy is None or arguments.attacks is not None or arguments.synthetic_of is not None
    question = Question(
        unit=arguments.unit,
        require=tuple(arguments.require),
        foreground=arguments.foreground,
        facts=tuple(Fact.parse(text) for text in arguments.fact),
        attacks=arguments.attacks,
        control=arguments.control if is_asked else None,
        synthetic_of=arguments.synthetic_of,
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
            control=people if is_asked else None,
            synthetic_of=original,
        )
        judged = question.judge(frame, part_of(report, 0.3, 1.0))
        judgement = None
        if policy is not None:
            data = judged.release.data
            control = None if people is None else data.with_same_tags(people)
            # Of a table as it is, every column is published, whatever it is named as.
            judgement = judge_release(policy, judged.release, control=control, tables={"table": as_pandas(frame)})
        found = identifiers_in(arguments, frame) if arguments.identifiers else None
    is_synthetic = judged.release.is_synthetic
    for note in () if is_synthetic else judged.notes:
        log().note(note)
    lines = [*judged.sentences(table_name(arguments), str(arguments.synthetic_of)), *policy_lines(judgement)]
    results = _json(arguments, judged, judgement)
    if found is not None:
        lines, results = [*lines, *found.sentences()], {**results, "safe_harbor": found.to_dict()}
    tell(arguments, lines, results)
    required = FAILS if not judged.holds else CLAIMED if judged.requirements and judged.verdict.breaking else DONE
    return judged_code(arguments, worst_code(required, DONE if judgement is None else judgement.exit_code))


def _json(arguments: argparse.Namespace, judged: TableCheck, judgement: Judgement | None) -> dict[str, Any]:
    release, data = judged.release, judged.release.data
    return {
        "table": table_name(arguments),
        "verdict": judged.verdict.headline,
        "rows": release.n_records,
        "people": None if release.is_synthetic or data.people_word == "rows" else data.n_people,
        "groups": None if release.is_synthetic else release.partition.n_groups,
        "known": list(data.quasi_identifiers),
        "secret": list(data.sensitive),
        "identifiers": list(data.identifiers),
        "others": list(data.insensitive),
        "numbers": [plain_value(number) for number in judged.numbers],
        "attacks": [TriedAttacks.of(measured).model_dump() for measured in judged.attacks],
        "requirements": [plain_value(required) for required in judged.requirements],
        "holds": judged.holds,
        **policy_json(judgement),
    }
