"""Every number of privacy, risk and loss that a report shows is that of the plain definitions, rounded."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from random import Random
from statistics import median

import pytest

from anoncore import InfeasibleError, Release
from anoncore.algorithms import Mondrian
from anoncore.measures.criteria import CRITERIA
from anoncore.privacy.levels import LEVELS
from anoncore.publishing.report import Subject, report
from anoncore.requirements import DistinctDiversity, EntropyDiversity, KAnonymity, RecursiveDiversity, TCloseness

from . import definitions, membership, population
from .pages import MINUS, NOT_THERE, Page, shows, shows_four_digits
from .tables import SHAPES, Table, tables

Made = tuple[Table, str]
"""The groups of a release, and whether it is generalized or bucketized."""
TITLES = {one.title: name for name, one in CRITERIA.items()}
HIGHER = {"k", "distinct-l", "entropy-l", "frequency-l"}
"""Levels of which the worst group has the lowest."""
ASKED = [
    KAnonymity(k=2),
    DistinctDiversity(l=2),
    EntropyDiversity(l=1.2),
    RecursiveDiversity(c=2.3, l=2),
    TCloseness(t=0.45, ground="equal"),
]


def criterion(name: str, table: Table, form: str) -> float | None:
    """A number of a release by its plain definition; None for one whose second definition is elsewhere."""
    if name in definitions.CRITERIA:
        return definitions.CRITERIA[name](table, form)
    if name == "membership-belief" and form == "bucketized" and table.n_rows < 10:
        names = [*table.quasi, table.secret]
        return membership.fake_tuples(table.rows(), table.group, [table.quasi, [table.secret]], names).belief
    return None


def check_numbers(page: Page, table: Table, form: str) -> None:
    lines = page.lines("Number", "Value")
    assert set(definitions.CRITERIA) <= {TITLES[line[0]] for line in lines}
    for title, text, *_ in [*lines, *page.tiles]:
        expected = criterion(TITLES[title], table, form)
        assert expected is None or shows(text, expected), (title, text, expected)


def check_levels(page: Page, table: Table) -> None:
    """The worst group's level and that of the whole table, whatever was asked."""
    names = {one.title: name for name, one in LEVELS.items()}
    lines = page.lines("Level", "Of")
    assert [line[1] for line in lines] == ["", *["secret"] * (len(lines) - 1)]
    assert {names.get(line[0], "k") for line in lines} >= {"k", *(name for name in LEVELS if name[0] != "t"), "t-equal"}
    for title, _, worst, whole, _ in lines:
        name = names.get(title, "k")
        level = definitions.LEVELS.get(name, definitions.size)
        levels = [level(table, rows) for rows in table.groups()]
        expected = min(levels) if name in HIGHER else max(levels)
        assert shows_four_digits(worst, expected), (name, worst, expected)
        expected = level(table, list(definitions.everything(table)))
        assert shows_four_digits(whole, expected), (name, whole, expected)


def check_adversary(page: Page, table: Table, form: str) -> None:
    beliefs = definitions.beliefs(table, form)
    secrets = definitions.secrets(table, definitions.everything(table))
    whole = {value: count / table.n_rows for value, count in Counter(secrets).items()}
    expected = {
        "Largest belief": (max(max(one.values()) for one in beliefs), max(whole.values())),
        "Belief in the truth": (
            definitions.mean([one[secret] for one, secret in zip(beliefs, secrets, strict=True)]),
            definitions.mean([whole[secret] for secret in secrets]),
        ),
    }
    lines = page.lines("Number", "With the release")
    assert {line[0] for line in lines} == set(expected)
    for title, found, guessing, _ in lines:
        assert shows(found, expected[title][0]), (title, found)
        assert shows(guessing, expected[title][1]), (title, guessing)
    published = population.generalized(table) if form == "generalized" else population.exact(table, table.quasi)
    risks = population.risks([published], table.n_rows, None)
    lines = page.lines("Adversary", "Largest risk", "Mean risk", "Records above 20%")
    assert [line[0] for line in lines] == ["prosecutor", "journalist", "marketer"]
    for _, largest, mean, above, _ in lines:
        assert shows(largest, 1 / min(risks.records))
        assert shows(mean, risks.prosecutor)
        assert shows(above, definitions.mean([1 / size > 0.2 for size in risks.records]))


def check_drawings(page: Page, table: Table, form: str) -> None:
    """What captions and descriptions of drawings say in numbers."""
    sizes = [len(rows) for rows in table.groups()]
    told = " | ".join(page.sentences)
    n_groups, half = re.findall(r"Sizes of the ([\d,]+) groups; half of them have at most ([\d,]+) rows", told)[0]
    assert shows(n_groups, len(sizes))
    assert shows(half, median(sizes))
    (whole,) = re.findall(r"All attributes together: ([\d.]+%)", told)
    assert shows(whole, definitions.information_loss(table, form))
    losses = next(label for label in page.labels if label.startswith("age "))
    for name, text in re.findall(r"(\w+) ([\d.]+%)", losses):
        cells = [len(rows) * definitions.cell_loss(table, name, rows) for rows in table.groups() if len(rows) > 1]
        expected = 0.0 if form == "bucketized" else sum(cells) / table.n_rows
        assert shows(text, expected), (name, text)
    (largest,) = re.findall(r"Distances of the groups from the table, largest ([\d.]+)\.", " | ".join(page.labels))
    assert shows(largest, definitions.CRITERIA["t"](table, form))
    assert not re.search(r"\bnan\b", " | ".join([told, *page.labels]))


def cases(numbers: str) -> list[Table]:
    return [table for table in tables(numbers) if table.n_rows > 1][::15]


@pytest.mark.slow
@pytest.mark.parametrize("numbers", SHAPES)
def test_a_report_of_one_release(numbers):
    for table in cases(numbers):
        for form, release in table.releases().items():
            page = Page(report([Subject("Run 1", release)]))
            check_numbers(page, table, form)
            check_levels(page, table)
            check_adversary(page, table, form)
            check_drawings(page, table, form)


@pytest.mark.slow
@pytest.mark.parametrize("numbers", SHAPES)
def test_what_is_said_to_hold(numbers):
    for place, table in enumerate(cases(numbers)):
        asked = Random(place).sample(ASKED, 3)
        try:
            release = Mondrian(requirements=asked).anonymize(table.data())
        except InfeasibleError:
            continue
        found = replace(table, group=release.partition.group.tolist())
        lines = Page(report([Subject("Run 1", release)])).lines("State", "What was asked")
        assert len(lines) >= len(asked)
        for requirement, (state, sentence, _) in zip(asked, lines, strict=False):
            level = definitions.REQUIREMENTS[requirement.name](requirement.model_dump())
            levels = [level(found, rows) for rows in found.groups()]
            worst = max(levels) if requirement.name in ("t-closeness", "recursive-diversity") else min(levels)
            (text,) = re.findall(r"(\S+)(?: different values? of '[^']+')? \(asked: ", sentence)
            assert state == "holds", sentence
            assert shows_four_digits(text, worst), (sentence, worst)


def check_difference(name: str, text: str, value: float, base: float) -> None:
    """What stands below a number: how far it is from the baseline, and whether that is better."""
    one = CRITERIA[name]
    if text == "equal":
        assert one.text(abs(value - base)) == one.text(0.0)
        return
    sign, difference, word = re.fullmatch(rf"([+{MINUS}])(\S+), (better|worse)", text).groups()
    assert sign == ("+" if value > base else MINUS)
    assert shows(difference, abs(value - base)), (name, text, value - base)
    assert word == ("better" if (value > base) == one.higher_is_better else "worse")


def check_side_by_side(page: Page, made: Sequence[Made]) -> None:
    for place, line in enumerate(page.lines("Release", "Table", "Rows", "Groups")):
        assert line[2:4] == [str(made[place][0].n_rows), str(len(made[place][0].groups()))]
    lines = page.lines("Number", *(f"Run {place}" for place in range(len(made))))
    assert set(definitions.CRITERIA) <= {TITLES[line[0]] for line in lines}
    for title, *cells in lines:
        expected = [criterion(TITLES[title], table, form) for table, form in made]
        for cell, value in zip(cells, expected, strict=True):
            if value is None:
                continue
            text, _, difference = cell.partition(" ")
            assert text != NOT_THERE, (title, cells)
            assert shows(text, value), (title, cells, expected)
            if difference and expected[0] is not None:
                check_difference(TITLES[title], difference, value, expected[0])
    assert not any(re.search(r"\bnan\b", told) for told in [*page.sentences, *page.labels])


@pytest.mark.slow
@pytest.mark.parametrize("numbers", SHAPES)
def test_several_releases_side_by_side(numbers):
    for table in cases(numbers):
        together = replace(table, group=[0] * table.n_rows)
        alone = replace(table, group=list(range(table.n_rows)))
        made: list[Made] = [(table, "generalized"), (together, "generalized"), (alone, "generalized")]
        made += [(table, "bucketized"), (together, "bucketized")]
        releases: list[Release] = [one.releases()[form] for one, form in made]
        for start in range(2):
            subjects = [Subject(f"Run {place}", one) for place, one in enumerate(releases[start:])]
            check_side_by_side(Page(report(subjects)), made[start:])
