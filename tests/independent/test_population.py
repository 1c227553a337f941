"""Re-identification risks equal the counting of who of the population fits each record, on random tables."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta
from random import Random
from typing import Any

import pandas as pd
import pytest

from anoncore import Hierarchy, Microdata, Release, attacks
from tests.privacy.releases import generalized, sliced

from . import population as plain
from .tables import NUMBERS, SHAPES, TOWNS, WORK, Table, tables

approx = pytest.approx
UNHEARD = ["Atlantis", "clerk "]
"""Values that neither a table nor a hierarchy has."""


def people(random: Random, table: Table, n: int) -> list[plain.Person]:
    """A population: some of the table's people as they are, the others with values of the table and of their own."""
    ages = [value for value in table.columns["age"] if value is not None] or [0.0]
    numbers = [*ages, min(ages) - 1, max(ages) + 1, sum(ages) / len(ages), ages[0] + 0.5, None]
    values = {
        "age": numbers,
        "town": [*table.columns["town"], random.choice(TOWNS), UNHEARD[0], None],
        "work": [*table.columns["work"], *WORK, UNHEARD[1], None],
    }
    rows = table.rows()
    return [
        {name: random.choice(rows)[name] for name in table.quasi}
        if random.random() < 0.2
        else {name: random.choice(values[name]) for name in table.quasi}
        for _ in range(n)
    ]


def day(number: float | None) -> pd.Timestamp | None:
    return None if number is None else pd.Timestamp(date(1970, 1, 1) + timedelta(days=int(number)))


def microdata(rows: list[plain.Person], dtype: str, kind: str) -> Microdata:
    """The population as the package takes it, its ages as numbers, texts or days, under a misleading index."""
    columns = {name: pd.Series([row[name] for row in rows], dtype=object) for name in Table.quasi}
    frame = pd.DataFrame(columns).astype({"age": dtype})
    frame.index = pd.Index([len(rows) - row for row in range(len(rows))])
    return Microdata(
        frame,
        roles=dict.fromkeys(Table.quasi, "quasi-identifier"),
        kinds={"age": kind, "town": "nominal", "work": "nominal"},
    )


def compare(release: Release, own: list[plain.Published], persons: list[plain.Person] | None, given: Any) -> None:
    n_rows, threshold = release.data.n_rows, 0.3
    expected = plain.risks(own, n_rows, persons)
    found = attacks.reidentification(release, given, threshold=threshold)
    assert found.class_size.tolist() == expected.records
    assert found.population_size.tolist() == expected.people
    assert found.prosecutor.largest == approx(1 / min(expected.records))
    assert found.prosecutor.mean == approx(expected.prosecutor)
    assert found.journalist.largest == found.marketer.largest == approx(1 / min(expected.people))
    assert found.journalist.mean == approx(expected.journalist)
    assert found.marketer.mean == approx(expected.marketer)
    chance = 1 / (n_rows if persons is None else len(persons))
    for risk, sizes in (
        (found.prosecutor, expected.records),
        (found.journalist, expected.people),
        (found.marketer, expected.people),
    ):
        assert risk.at_risk == approx(sum(1 / size > threshold for size in sizes) / n_rows)
        assert risk.mean.baseline == approx(1 / n_rows if risk is found.prosecutor else chance)
    for group, rows in enumerate(group_rows(release)):
        assert found.group_risk[group] == approx(max(1 / expected.records[row] for row in rows))


def group_rows(release: Release) -> list[list[int]]:
    group = release.fragments[0].partition.group.tolist()
    return [[row for row, g in enumerate(group) if g == number] for number in range(max(group) + 1)]


def cases(numbers: str) -> list[tuple[Random, Table]]:
    small = [table for table in tables(numbers) if table.n_rows < 10]
    return [(Random(f"population {numbers} {place}"), table) for place, table in enumerate(small)]


@pytest.mark.parametrize("numbers", SHAPES)
def test_who_fits_a_generalized_table(numbers):
    for random, table in cases(numbers):
        persons = people(random, table, random.choice([1, 5, 40]))
        release, own = table.releases()["generalized"], plain.generalized(table)
        compare(release, [own], None, None)
        compare(release, [own], persons, microdata(persons, "Float64", "numeric"))


@pytest.mark.slow
@pytest.mark.parametrize("numbers", NUMBERS)
def test_who_fits_buckets_and_columns(numbers):
    for random, table in cases(numbers):
        persons = people(random, table, random.choice([1, 5, 40]))
        given = microdata(persons, "Float64", "numeric")
        compare(table.releases()["bucketized"], [plain.exact(table, table.quasi)], persons, given)
        columns = [["work"], ["secret", "age"]]
        own = [plain.exact(table, ["work"]), plain.exact(table, ["age"])]
        compare(sliced(table.data(), table.group, columns), own, persons, given)
        compare(sliced(table.data(), table.group, columns), own, None, None)


@pytest.mark.slow
@pytest.mark.parametrize("numbers", ["few", "with-gaps", "all-unique", "none-known"])
def test_numbers_that_the_population_has_as_texts(numbers):
    for random, table in cases(numbers):
        persons = people(random, table, 30)
        texts = [person | {"age": plain.text(person["age"])} for person in persons]
        own = plain.generalized_for_texts(table)
        compare(table.releases()["generalized"], [own], texts, microdata(texts, "object", "nominal"))


@pytest.mark.slow
@pytest.mark.parametrize("numbers", ["few", "with-gaps", "all-unique"])
def test_texts_that_the_population_has_as_numbers(numbers):
    for random, table in cases(numbers):
        persons = people(random, table, 30)
        ages = [plain.text(value) for value in table.columns["age"]]
        written = replace(table, columns=table.columns | {"age": ages}, numeric=table.numeric - {"age"})
        texts = [person | {"age": plain.text(person["age"])} for person in persons]
        given = microdata(persons, "Float64", "numeric")
        compare(written.releases()["generalized"], [plain.generalized(written)], texts, given)


@pytest.mark.slow
@pytest.mark.parametrize("numbers", ["few", "all-unique", "one-known"])
def test_days_fit_ranges_of_days(numbers):
    for random, table in cases(numbers):
        persons = [
            person | {"age": None if person["age"] is None else float(int(person["age"]))}
            for person in people(random, table, 30)
        ]
        frame = table.data().frame.assign(age=[day(value) for value in table.columns["age"]])
        data = Microdata(
            frame.astype({"age": "datetime64[ns]"}),
            roles=dict.fromkeys(table.quasi, "quasi-identifier"),
            kinds={"age": "numeric", "town": "nominal", "work": "nominal"},
            hierarchies={"work": Hierarchy(WORK)},
        )
        days = [person | {"age": day(person["age"])} for person in persons]
        given = microdata(days, "datetime64[ns]", "numeric")
        compare(generalized(data, table.group), [plain.generalized(table)], persons, given)
