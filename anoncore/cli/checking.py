"""The command `anoncore check`: what a table gives away as it is."""

from __future__ import annotations

import argparse
import csv
import json
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from anoncore import attacks, privacy, utility
from anoncore.attacks.control_figures import Figures
from anoncore.base.errors import AnonymizationError, ParameterError
from anoncore.base.progress import Progress, part_of
from anoncore.base.score import Score
from anoncore.base.showing import clean, printable
from anoncore.base.texts import listing, share_text, value_text
from anoncore.cli.log import add_log_options, log
from anoncore.cli.plain_values import plain_value
from anoncore.cli.table_file import add_table_options, read_named
from anoncore.cli.text import SINGULAR, add_strict_option, attack_lines, strict_code
from anoncore.measures import Verdict, verdict
from anoncore.measures.kept_results import KeptResults
from anoncore.measures.verdict import over_what_is_known
from anoncore.privacy.check import COMPARISON_WORDS, counted_text, level_texts, published_levels
from anoncore.privacy.levels import grounds
from anoncore.privacy.tag_leaks import UNIQUE
from anoncore.publishing.certification.tried_attacks import TriedAttacks
from anoncore.release.release import Release
from anoncore.release.unchanged import unchanged
from anoncore.requirements import (
    BetaLikeness,
    DistinctDiversity,
    EntropyDiversity,
    FrequencyDiversity,
    KAnonymity,
    RecursiveDiversity,
    Requirement,
    TCloseness,
)
from anoncore.requirements.t_closeness import Ground
from anoncore.sources.reader import read_table
from anoncore.table.microdata import Microdata, Role

FORMS: dict[str, Callable[[Any], Requirement]] = {
    "k": lambda value: KAnonymity(k=value),
    "l": lambda value: DistinctDiversity(l=value),
    "distinct-l": lambda value: DistinctDiversity(l=value),
    "entropy-l": lambda value: EntropyDiversity(l=value),
    "frequency-l": lambda value: FrequencyDiversity(l=value),
    "recursive-c": lambda value: RecursiveDiversity(c=value),
    "beta": lambda value: BetaLikeness(beta=value),
    "t-equal": lambda value: TCloseness(t=value, ground="equal"),
    "t-ordered": lambda value: TCloseness(t=value, ground="ordered"),
    "t-interval": lambda value: TCloseness(t=value, ground="interval"),
}
"""What may be required, by name; `t` is the one of them that fits the kind of each attribute."""
NAMES = (*FORMS, "t")
SHOWN_COLUMNS = 8
"""Columns by which a group is named."""


def add_options(command: argparse.ArgumentParser) -> None:
    """Give the parser of the command its options."""
    command.epilog = (
        f"What --require knows: {', '.join(NAMES)}. l is distinct-l; t is t-ordered for "
        "numbers, else t-equal. The exit code is 1 where a requirement fails, 2 where the table could not be judged."
    )
    add_table_options(command)
    command.add_argument(
        "--known",
        action="append",
        required=True,
        metavar="COLUMNS",
        help="columns that others may know of a person, with commas between them, again for more; a name with a comma "
        "stands in double quotes",
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
        type=Path,
        metavar="ORIGINAL",
        help="the table is synthetic, made of this one: costs and, with --control, what it gives away",
    )
    command.add_argument(
        "--control",
        type=Path,
        metavar="TABLE",
        help="people who are not in the table, or not in the original of a synthetic one, to attack it with",
    )
    add_strict_option(command)
    command.add_argument("--json", action="store_true", help="print one JSON object")
    add_log_options(command)
    command.set_defaults(command=_check)


@dataclass(frozen=True)
class Number:
    """One number of the table with what it means, and the values of the group in which it is reached."""

    name: str
    title: str
    attribute: str | None
    value: float
    text: str
    baseline: float | None
    sentence: str
    group: dict[str, Any] | None = None


@dataclass(frozen=True)
class Required:
    """Whether a requirement holds on one attribute, in how many groups it does not, and the worst of them."""

    requirement: str
    attribute: str | None
    holds: bool
    level: float
    failing_groups: int
    failing_rows: int
    group: dict[str, Any]
    sentence: str


def _check(arguments: argparse.Namespace) -> int:
    try:
        return _judge(arguments)
    except BrokenPipeError:
        raise
    except (AnonymizationError, OSError) as error:
        # 1 says that a requirement fails, and nothing else.
        raise ParameterError(str(error)) from error


def _judge(arguments: argparse.Namespace) -> int:
    if arguments.control is not None and arguments.synthetic_of is None and arguments.attacks is None:
        raise ParameterError(
            "--control has people to attack a table with; add --attacks R, or --synthetic-of ORIGINAL for a synthetic "
            "table."
        )
    if arguments.fact and arguments.foreground is None:
        raise ParameterError("--fact tells the adversary of --foreground what else is known; ask for --foreground too.")
    asked = [_asked(text) for text in arguments.require]
    facts = [attacks.Fact.parse(text) for text in arguments.fact]
    with log().progress() as report:
        report(0.0, "Reading the table")
        frame = read_named(arguments)[1]
        release = _synthetic(arguments, frame) if arguments.synthetic_of else unchanged(_tagged(arguments, frame))
        data = release.data
        report(0.3, "Judging the table")
        required = [requirement for name, value in asked for requirement in _required(release, name, value)]
        results = KeptResults(release)
        tried: list[attacks.Strongest] = []
        if release.is_synthetic:
            numbers = list(_numbers_without_people(release, _control(arguments, data)))
        else:
            numbers = list(_numbers(release, required, arguments.foreground, facts, results))
            if arguments.attacks is not None:
                control = _control(arguments, data)
                tried = _strongest(release, arguments.attacks, control, part_of(report, 0.5, 1.0))
        whole = verdict(release, required, results)
        verdicts = [one for requirement in required for one in _verdicts(release, requirement)]
        report(1.0, "Done")
    if data.unit_note and not release.is_synthetic:
        log().note(data.unit_note)
    if arguments.json:
        print(json.dumps(_json(arguments, release, whole, numbers, tried, verdicts), indent=2, allow_nan=False))
    else:
        for line in _lines(arguments, release, whole, numbers, tried, verdicts):
            print(line)
    return strict_code(arguments, whole.breaking) if all(one.holds for one in verdicts) else 1


def _synthetic(arguments: argparse.Namespace, frame: Any) -> Release:
    """A synthetic table beside its original. Raises ParameterError for options that ask for groups of people."""
    for option, given in (
        ("--require", arguments.require),
        ("--foreground", arguments.foreground),
        ("--attacks", arguments.attacks),
    ):
        if given:
            raise ParameterError(
                f"{option} asks for groups of people, and the rows of a synthetic table are nobody's; leave it out, "
                "and give --control."
            )
    data = _tagged(arguments, read_table(arguments.synthetic_of).frame)
    return Release.from_published(frame, original=data, rows="synthetic")


def _control(arguments: argparse.Namespace, data: Microdata) -> Microdata | None:
    """The people who are not in the table; None where none are given."""
    return None if arguments.control is None else data.with_same_tags(read_table(arguments.control).frame)


def _numbers_without_people(release: Release, control: Microdata | None) -> Iterator[Number]:
    """What a synthetic table costs and, beside people who are not in its original, what it gives away."""
    error = utility.query_error(release) if release.data.sensitive else None
    for score in (utility.two_way_error(release), utility.association_error(release)):
        yield _number(score)
    if error is not None:
        yield from (_number(score) for score in (error, error.median))
    if control is None:
        return
    yield from _attacked(attacks.singling_out(release, control=control), None)
    yield from _attacked(attacks.linkability(release, control=control), None)
    for name in release.data.sensitive:
        yield from _attacked(attacks.inference(release, name, control=control), name)


def _attacked(found: Figures, attribute: str | None) -> Iterator[Number]:
    """The success on both sides and the difference, with its interval."""
    low, high = found.difference_interval
    for score in (found.members, found.control):
        yield _of(attribute, _number(score))
    difference = _number(found.difference)
    interval = f" 95% interval {low:+.1%} to {high:+.1%}, by the adversary '{found.adversary}'."
    yield _of(attribute, replace(difference, sentence=f"{difference.sentence}{interval}"))


def _asked(text: str) -> tuple[str, int | float]:
    """A requirement's name and number. Raises ParameterError for anything else."""
    name, equals, number = (part.strip() for part in text.partition("="))
    if name not in NAMES or not equals:
        raise ParameterError(
            f"--require {text!r} is no requirement; write one of {', '.join(NAMES)} with a number, as k=5."
        )
    try:
        value = float(number)
    except ValueError:
        raise ParameterError(f"--require {text!r} needs a number, such as {name}=5; {number!r} is none.") from None
    if not math.isfinite(value):
        raise ParameterError(f"--require {text!r} needs a finite number, such as {name}=5.")
    return name, int(value) if value.is_integer() else value


def _columns(texts: Sequence[str], names: Sequence[str], option: str) -> list[str]:
    """The columns that an option names. Raises ParameterError for one that the table lacks."""
    found: list[str] = []
    for text in texts:
        # The name of a column stands for that column, whatever is in it.
        parts = [text] if text in names else next(csv.reader([text], skipinitialspace=True), [])
        for part in parts:
            name = part if part in names else part.strip()
            if name not in names:
                raise ParameterError(f"{option}: the table has no column {name!r}; it has {listing(names, 40)}.")
            found.append(name)
    return list(dict.fromkeys(found))


def _tagged(arguments: argparse.Namespace, frame: Any) -> Microdata:
    names = [str(name) for name in frame.columns]
    roles: dict[str, Role] = {}
    for option, texts, role in (
        ("--known", arguments.known, Role.QUASI_IDENTIFIER),
        ("--secret", arguments.secret, Role.SENSITIVE),
        ("--identifier", arguments.identifier, Role.IDENTIFIER),
    ):
        for name in _columns(texts, names, option):
            if name in roles:
                raise ParameterError(f"The column {name!r} stands under {option} and under another option; keep one.")
            roles[name] = role
    if arguments.unit is not None:
        _columns([arguments.unit], names, "--unit")
        if roles.get(arguments.unit, Role.IDENTIFIER) is not Role.IDENTIFIER:
            raise ParameterError(f"The column {arguments.unit!r} says whose row it is; name it under --unit alone.")
    # Nothing can be left out of a table that is there: what is not named is published.
    data = Microdata(frame, roles=dict(roles), unit=arguments.unit)
    return data.publishing(data.left_out) if data.left_out else data


def _values(release: Release, group: int) -> dict[str, Any]:
    """The known values that the rows of a group have in common."""
    data, row = release.data, release.partition.order[release.partition.starts[group]]
    return {name: list(data.domain[name])[data.codes[name][row]] for name in data.quasi_identifiers}


def _group_text(values: dict[str, Any]) -> str:
    shown = [
        f"{clean(name)} = {'missing' if value is None else clean(value_text(value))}"
        for name, value in list(values.items())[:SHOWN_COLUMNS]
    ]
    rest = len(values) - len(shown)
    return ", ".join([*shown, *([f"and {rest} more columns"] if rest else [])])


def _number(score: Score, group: dict[str, Any] | None = None) -> Number:
    attribute = getattr(score, "attribute", None)
    value, text = float(score), score.entry.text(float(score))
    sentence = score.meaning
    if math.isnan(value):
        text = "not measured"
    if math.isinf(value):
        text, sentence = "none", f"No number is large enough: in some group only one value of '{attribute}' is left."
    return Number(score.name, score.title, attribute, value, text, score.baseline, sentence, group)


def _numbers(
    release: Release,
    required: Sequence[Requirement],
    r: float | None,
    facts: Sequence[attacks.Fact],
    results: KeptResults,
) -> Iterator[Number]:
    data, partition = release.data, release.partition
    people = release.people_per_group(release.fragments[0])
    alone = int(partition.sizes[people == 1].sum())
    yield Number(
        "unique-rows",
        "Unique rows",
        None,
        alone,
        f"{alone:,} of {data.n_rows:,} ({share_text(alone / data.n_rows)})",
        None,
        "Rows of people whom nobody else equals in the known columns: who knows these finds the row for certain.",
    )
    for worst in results("privacy.profile", privacy.profile).scores:
        yield _number(worst, _values(release, worst.group))
        if worst.name == "k":
            yield _over_all(release, required)
    found = results("attacks.reidentification", attacks.reidentification)
    yield from (_number(score) for score in (found.prosecutor.largest, found.prosecutor.mean, found.prosecutor.at_risk))
    for name in data.sensitive:
        disclosure = results("attacks.attribute_disclosure", attacks.attribute_disclosure, name)
        for score in (disclosure.largest, disclosure.truth):
            yield _of(name, _number(score))
        if r is not None:
            about = [fact for fact in facts if fact.attribute in ("", name)]
            attack = attacks.foreground_knowledge(release, name, r=r, facts=about)
            for score in (attack.recall, attack.control, attack.excess, attack.flagged):
                number = _of(name, _number(score))
                yield number if attack.learned else replace(number, sentence=attack.notes[-1])
            if attack.with_facts is not None:
                yield from _with_facts(name, attack.with_facts)


def _with_facts(name: str, attack: attacks.ForegroundWithFacts) -> Iterator[Number]:
    """What the attack gets of an attribute that knows facts too."""
    for score in (attack.recall, attack.excess, attack.flagged):
        number = _of(name, _number(score))
        yield replace(number, name=f"{number.name}-with-facts", title=f"{number.title} with the facts")


def _strongest(release: Release, r: float, control: Microdata | None, progress: Progress) -> list[attacks.Strongest]:
    """Every attack that applies, on each sensitive attribute. Raises ParameterError where there is none."""
    names = release.data.sensitive
    if not names:
        raise ParameterError("--attacks is about a secret column; name it with --secret.")
    return [
        attacks.strongest(
            release,
            name,
            r=r,
            control=control,
            progress=part_of(progress, number / len(names), (number + 1) / len(names)),
        )
        for number, name in enumerate(names)
    ]


def _over_all(release: Release, required: Sequence[Requirement]) -> Number:
    """The k for those who know every published column of a person but the secrets."""
    k = max((one.k for one in required if isinstance(one, KAnonymity)), default=UNIQUE)
    split = privacy.all_but_secrets(release, max(k, UNIQUE))
    people = release.people_per_group(release.fragments[0])
    words, smallest = release.counted_word, int(people.min()) if split is None else split.smallest
    below = int(release.partition.sizes[people < max(k, UNIQUE)].sum()) if split is None else split.n_below
    return Number(
        "k-all",
        "k over all columns but the secrets",
        None,
        smallest,
        f"{smallest:,} {words if smallest != 1 else SINGULAR[words]}",
        None,
        f"{below:,} of {release.data.n_rows:,} rows lie in classes of fewer than {max(k, UNIQUE)} for those who know "
        "every column of a person but the secrets.",
    )


def _of(attribute: str | None, number: Number) -> Number:
    return Number(number.name, number.title, attribute, number.value, number.text, number.baseline, number.sentence)


def _required(release: Release, name: str, value: float) -> Iterator[Requirement]:
    if name != "k" and not release.data.sensitive:
        raise ParameterError(f"--require {name}={value} is about a secret column; name it with --secret.")
    if name != "t":
        yield FORMS[name](value)
        return
    for attribute in release.data.sensitive:
        ground: Ground = "ordered" if "ordered" in grounds(release, attribute) else "equal"
        yield TCloseness(t=value, ground=ground, attribute=attribute)


def _verdicts(release: Release, requirement: Requirement) -> Iterator[Required]:
    fragment, partition = release.fragments[0], release.partition
    people = release.people_per_group(fragment)
    for condition in requirement.checks(release.data):
        levels = published_levels(release, fragment, condition)
        failing = np.flatnonzero(~condition.holds(levels))
        is_least = COMPARISON_WORDS[requirement.comparison] == "at least"
        worst = int(levels.argmin() if is_least else levels.argmax())
        values, rows = _values(release, worst), int(partition.sizes[failing].sum())
        size = counted_text(release, int(people[worst]), int(partition.sizes[worst]))
        where = f"the group with {_group_text(values)} ({size})"
        reached, bound = level_texts(float(levels[worst]), requirement.threshold)
        text = requirement.reached_text(float(levels[worst]), reached, condition.attribute)
        asks = f"{COMPARISON_WORDS[requirement.comparison]} {bound}"
        sentence = (
            f"{requirement.label()} fails in {len(failing):,} of {partition.n_groups:,} groups ({rows:,} of "
            f"{partition.n_rows:,} rows): {where} has {text}, and {asks} is asked."
            if len(failing)
            else f"{requirement.label()} holds: at worst {where} has {text}, and {asks} is asked."
        )
        holds, level = not len(failing), float(levels[worst])
        yield Required(requirement.label(), condition.attribute, holds, level, len(failing), rows, values, sentence)


def _lines(
    arguments: argparse.Namespace,
    release: Release,
    whole: Verdict,
    numbers: Sequence[Number],
    tried: Sequence[attacks.Strongest],
    verdicts: Sequence[Required],
) -> Iterator[str]:
    data = release.data
    how = "judged as they are"
    if not release.is_synthetic:
        yield printable(whole.headline)
    if release.is_synthetic:
        how = f"compared with the {data.n_rows:,} rows of {clean(str(arguments.synthetic_of))}"
    yield f"{clean(str(arguments.table))}: {release.table_size}, {how}"
    if release.is_synthetic and arguments.control is None:
        yield "  What it gives away needs people who are not in the original: give a table of some with --control."
    if release.is_synthetic:
        yield from (f"  {printable(note)}" for note in release.notes)
    for title, names in (
        ("Known to others", data.quasi_identifiers),
        ("Nobody must learn", data.sensitive),
        ("Left out, because they name people: do not publish", data.identifiers),
        ("Published, and taken for neither known nor secret", data.insensitive),
    ):
        if names:
            yield f"  {title}: {', '.join(clean(name) for name in names)}"
    shown: dict[str, Any] | None = None
    for number in numbers:
        of = f" of '{clean(number.attribute)}'" if number.attribute is not None else ""
        where = ""
        if number.group is not None:
            again = number.group == shown
            where = " In the same group." if again else f" In the group with {_group_text(number.group)}."
            shown = number.group
        yield f"{data.in_words(number.title)}{of}: {number.text}"
        yield f"  {data.in_words(printable(number.sentence))}{where}"
    for measured in tried:
        first, *rest = map(data.in_words, attack_lines(measured))
        yield first
        yield from (f"  {line}" for line in rest)
    for one in verdicts:
        sentence = over_what_is_known(one.sentence) if whole.breaking else one.sentence
        yield f"Required: {printable(sentence)}"


def _json(
    arguments: argparse.Namespace,
    release: Release,
    whole: Verdict,
    numbers: Sequence[Number],
    tried: Sequence[attacks.Strongest],
    verdicts: Sequence[Required],
) -> dict[str, Any]:
    data = release.data
    return {
        "table": str(arguments.table),
        "verdict": whole.headline,
        "rows": release.n_records,
        "people": None if release.is_synthetic or data.people_word == "rows" else data.n_people,
        "groups": None if release.is_synthetic else release.partition.n_groups,
        "known": list(data.quasi_identifiers),
        "secret": list(data.sensitive),
        "identifiers": list(data.identifiers),
        "others": list(data.insensitive),
        "numbers": [plain_value(one) for one in numbers],
        "attacks": [TriedAttacks.of(measured).model_dump() for measured in tried],
        "requirements": [plain_value(one) for one in verdicts],
        "holds": all(one.holds for one in verdicts),
    }
