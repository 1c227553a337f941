"""Ready-made hierarchies by hand, against plain definitions, and their laws: paths, nesting, order of rows, missing."""

from __future__ import annotations

from collections import Counter
from datetime import date, datetime
from fractions import Fraction
from itertools import pairwise
from math import floor

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anoncore import DataError, Microdata, ParameterError
from anoncore.table.hierarchy_defaults import (
    calendar_hierarchy,
    frequency_hierarchy,
    grid_hierarchy,
    letter_hierarchy,
    neighbour_hierarchy,
    prefix_hierarchy,
)
from anoncore.table.hierarchy_proposals import default_hierarchy, fitting_forms, usual_width

DATES = st.dates(date(1, 1, 1), date(9999, 12, 31))
CODES = st.text("0123AB *", min_size=1, max_size=5)
DEGREES = st.integers(-18_000, 18_000).map(lambda number: number / 100)
MAKERS = {
    "calendar": (calendar_hierarchy, DATES),
    "calendar of texts": (calendar_hierarchy, DATES.map(date.isoformat)),
    "prefix": (prefix_hierarchy, CODES),
    "prefix of numbers": (prefix_hierarchy, st.integers(0, 99_999)),
    "grid": (grid_hierarchy, DEGREES),
    "grid of pairs": (grid_hierarchy, st.tuples(DEGREES, DEGREES).map(lambda pair: f"{pair[0]}, {pair[1]}")),
    "frequency": (frequency_hierarchy, st.text("abc", max_size=2)),
    "letter": (letter_hierarchy, st.text(max_size=4)),
}


def test_dates_by_the_calendar():
    noon, morning, june = datetime(1987, 3, 1, 12), datetime(1987, 3, 1, 8), pd.Timestamp("1987-06-30")
    # The first day joins two moments. Months and quarters join no more than days do; the year joins all of them, and
    # so does the decade, which is left out.
    assert calendar_hierarchy([noon, None, june, morning]).paths == {
        morning: ("1987-03-01", "1987", "*"),
        noon: ("1987-03-01", "1987", "*"),
        june: ("1987-06-30", "1987", "*"),
    }
    years = calendar_hierarchy([date(1987, 3, 1), date(1989, 3, 1), date(1989, 5, 2)], ["decade", "year", "quarter"])
    assert years.path_of(date(1989, 3, 1)) == ("1989", "1980-1989", "*")
    assert years.path_of(date(1987, 3, 1)) == ("1987", "1980-1989", "*")
    assert calendar_hierarchy(["0987-12-31", "0987-10-01"], ["quarter"]).path_of("0987-12-31") == ("0987 Q4", "*")


@given(st.lists(DATES, min_size=1, max_size=20))
@settings(max_examples=30)
def test_two_dates_share_a_level_exactly_where_the_calendar_says_so(days):
    levels = {
        "month": lambda day: (day.year, day.month),
        "quarter": lambda day: (day.year, (day.month - 1) // 3),
        "year": lambda day: day.year,
        "decade": lambda day: day.year // 10,
    }
    for level, period in levels.items():
        paths = calendar_hierarchy(days, [level]).paths
        for one in days:
            for other in days:
                joined = paths[one][0] == paths[other][0]
                # Where the level joins nothing, it is left out and the top is all there is.
                assert joined == (period(one) == period(other)) or len({period(day) for day in days}) == len(set(days))


def test_codes_by_their_beginning():
    hierarchy = prefix_hierarchy(["80331", "80333", "80469", "20095", None])
    # Four characters join the first two, three join no more, two join three codes, and one joins no more than two.
    assert hierarchy.path_of("80331") == ("8033*", "80***", "*")
    assert hierarchy.path_of("80469") == ("8046*", "80***", "*")
    assert hierarchy.path_of("20095") == ("2009*", "20***", "*")
    assert set(hierarchy.paths) == {"20095", "80331", "80333", "80469"}


def test_a_postal_code_that_became_a_number_gets_its_zeros_back():
    hierarchy = prefix_hierarchy([1067, 1069, 80331], [3, 1])
    assert hierarchy.paths == {1067: ("010**", "*"), 1069: ("010**", "*"), 80331: ("803**", "*")}
    data = Microdata(
        pd.DataFrame({"zip": [1067.0, None, 80331.0, 1069.0]}), {"*": "insensitive"}, hierarchies={"zip": hierarchy}
    )
    assert data.domain["zip"].tree.labels[0] == "*"


def test_a_short_code_stays_by_itself_until_its_own_length():
    hierarchy = prefix_hierarchy(["12", "123", "124", "1345"])
    assert hierarchy.path_of("12") == ("12**", "1***", "*")
    assert hierarchy.path_of("123") == ("12**", "1***", "*")
    assert prefix_hierarchy(["12", "1234", "1235"], [3]).path_of("12") == ("12", "*")


def test_coordinates_by_a_grid():
    assert grid_hierarchy([52.52, 52.57, 58.14, -0.13], [0.1, 10]).paths == {
        -0.13: ("[-0.2, -0.1)", "[-10, 0)", "*"),
        52.52: ("[52.5, 52.6)", "[50, 60)", "*"),
        52.57: ("[52.5, 52.6)", "[50, 60)", "*"),
        58.14: ("[58.1, 58.2)", "[50, 60)", "*"),
    }
    pairs = grid_hierarchy(["52.52, 13.40", "(52.57 13.44)", "52.02;13.49", "52.52;14.40"], [0.1, 1])
    assert pairs.path_of("(52.57 13.44)") == ("[52.5, 52.6) × [13.4, 13.5)", "[52, 53) × [13, 14)", "*")
    assert pairs.path_of("52.02;13.49") == ("[52, 52.1) × [13.4, 13.5)", "[52, 53) × [13, 14)", "*")
    assert pairs.path_of("52.52;14.40") == ("[52.5, 52.6) × [14.4, 14.5)", "[52, 53) × [14, 15)", "*")


@given(st.lists(DEGREES, min_size=2, max_size=20), st.sampled_from([0.1, 0.5, 1, 10]))
@settings(max_examples=30)
def test_two_coordinates_share_a_cell_exactly_where_they_have_the_same_multiple(numbers, width):
    paths = grid_hierarchy(numbers, [width]).paths
    cell = {number: floor(Fraction(str(number)) / Fraction(str(width))) for number in numbers}
    if len(set(cell.values())) == len(paths):
        assert set(paths.values()) == {("*",)}
    else:
        assert len({(cell[number], paths[number][0]) for number in paths}) == len(set(cell.values()))


def test_rare_values_are_joined():
    rows = ["a"] * 900 + ["b"] * 60 + ["c"] * 25 + ["d"] * 9 + ["e"] * 6 + [None] * 500
    hierarchy = frequency_hierarchy(rows)
    # Of the 1,000 rows with a value, d and e have below 1 % each and 1.5 % together; c joins at 5 %: 4 % together are
    # rare still, so b joins as well, as it does at 20 %, where a is the only other one.
    assert hierarchy.path_of("e") == ("other", "other", "*")
    assert hierarchy.path_of("c") == ("c", "other", "*")
    assert hierarchy.path_of("b") == ("b", "other", "*")
    assert hierarchy.path_of("a") == ("a", "a", "*")
    assert frequency_hierarchy([1, 1.0, np.int64(1), True, 2, 3], [0.5]).path_of(3) == ("other", "*")


@given(st.lists(st.sampled_from("abcdefg"), min_size=1, max_size=60), st.floats(0.01, 0.9))
@settings(max_examples=50)
def test_whatever_stays_is_not_rare(rows, share):
    paths, counts = frequency_hierarchy(rows, [share]).paths, Counter(rows)
    if len(next(iter(paths.values()))) == 1:
        return
    joined = [value for value in paths if paths[value][0] == "other"]
    assert len(joined) >= 2
    assert all(counts[value] >= share * len(rows) for value in paths if value not in joined)
    # Without its most frequent member the group would be rare itself, or a single value.
    rest = sorted(counts[value] for value in joined)[:-1]
    most = max(counts[value] for value in joined)
    assert most < share * len(rows) or sum(rest) < share * len(rows) or len(rest) < 2


def test_texts_by_their_first_letter():
    hierarchy = letter_hierarchy(["Ärzte", "arm", "Bonn", "7 Zwerge", "…", None])
    assert [hierarchy.path_of(text)[0] for text in ("Ärzte", "arm", "Bonn", "7 Zwerge", "…")] == [
        *("A", "A", "B", "0-9", "other")
    ]


def test_neighbours_of_an_order():
    levels = neighbour_hierarchy(["none", None, "low", "medium", "high", "worst"], fanout=2).paths
    assert levels == {
        "none": ("none to low", "none to high", "*"),
        "low": ("none to low", "none to high", "*"),
        "medium": ("medium to high", "none to high", "*"),
        "high": ("medium to high", "none to high", "*"),
        "worst": ("worst", "worst", "*"),
    }


@pytest.mark.slow
@pytest.mark.parametrize("name", MAKERS)
@given(data=st.data())
@settings(max_examples=20)
def test_every_value_has_a_path_whatever_the_order_of_rows_and_missing_ones_join_at_the_top(name, data):
    make, values = MAKERS[name]
    rows = data.draw(st.lists(values, min_size=1, max_size=25))
    hierarchy = make(rows)
    assert make(data.draw(st.permutations([*rows, None, np.nan]))).paths == hierarchy.paths
    assert {hierarchy.path_of(value)[-1] for value in rows} == {"*"}
    # Every level joins more than the one below it.
    levels = zip(*hierarchy.paths.values(), strict=True)
    counts = [len(hierarchy.paths), *(len(set(labels)) for labels in levels)]
    assert all(lower > upper for lower, upper in pairwise(counts[:-1]))
    column = pd.Series([*rows, None], dtype=object)
    kind = "nominal" if name not in ("grid", "prefix of numbers") else "numeric"
    table = Microdata(pd.DataFrame({"x": column}), {"x": "quasi-identifier"}, {"x": kind}, hierarchies={"x": hierarchy})
    tree = table.domain["x"].tree
    for node in range(1, len(tree.labels)):
        above = tree.parent[node]
        assert tree.first[above] <= tree.first[node] <= tree.last[node] <= tree.last[above]
    missing = tree.leaf[table.domain["x"].missing_code]
    assert tree.parent[missing] == 0


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: calendar_hierarchy([]), "at least one value"),
        (lambda: calendar_hierarchy([None]), "at least one value"),
        (lambda: calendar_hierarchy(["1.3.1987"]), "needs dates, such as 1987-03-01, not '1.3.1987'"),
        (lambda: calendar_hierarchy([1987]), "not '1987'"),
        (lambda: calendar_hierarchy(["1987-03-01"], ["week"]), "are 'day', 'month', .* not 'week'"),
        (lambda: calendar_hierarchy(["1987-03-01"], []), "at least one of them"),
        (lambda: calendar_hierarchy([[1]]), "cannot be compared"),
        (lambda: prefix_hierarchy([1.5]), "whole number from 0, not of '1.5'"),
        (lambda: prefix_hierarchy([-1]), "not of '-1'"),
        (lambda: prefix_hierarchy([True]), "not of 'True'"),
        (lambda: prefix_hierarchy(["1"], [0]), "1 character or more of a code, not 0"),
        (lambda: prefix_hierarchy(["1"], []), "name at least one"),
        (lambda: prefix_hierarchy(["1"], [1, "x"]), "not 'x'"),
        (lambda: grid_hierarchy(["Bonn"]), "two numbers such as '52.52, 13.40', not 'Bonn'"),
        (lambda: grid_hierarchy([1.0], [0]), "widths above 0, not 0"),
        (lambda: grid_hierarchy([1.0], [0.1, 0.25]), "cells of width 0.25 cut through those of width 0.1"),
        (lambda: grid_hierarchy([1.0], [float("nan")]), "widths above 0, not nan"),
        (lambda: grid_hierarchy([1.0], [0.1, "x"]), "widths above 0, not 'x'"),
        (lambda: grid_hierarchy([1j, 2.0], [0.1]), "finite numbers, not '1j'"),
        (lambda: grid_hierarchy([pd.Timestamp("2020-01-01"), pd.Timestamp("2020-01-01", tz="UTC")]), "not '2020-01-01"),
        (lambda: frequency_hierarchy(["a"], [1]), "above 0 and below 1, not 1"),
        (lambda: frequency_hierarchy(["a"], []), "above 0 and below 1; name at least one"),
        (lambda: frequency_hierarchy(["a"], [0.5, "x"]), "not 'x'"),
        (lambda: neighbour_hierarchy([[1], [2]]), "cannot be compared"),
        (lambda: neighbour_hierarchy(["a"], 1), "at least 2 groups of the level below, not 1"),
        (lambda: neighbour_hierarchy([]), "at least one value"),
    ],
)
def test_what_does_not_fit_gets_one_sentence(make, message):
    with pytest.raises(DataError, match=message) as caught:
        make()
    assert "\n" not in str(caught.value)


PEOPLE = pd.DataFrame(
    {
        "born": pd.date_range("1950-01-01", periods=60, freq="200D"),
        "visit": [f"2020-{1 + row % 12:02}-0{1 + row % 9}" for row in range(60)],
        "zip": [f"{10_000 + 317 * row:05}" for row in range(60)],
        "postCode": [1_067 + 317 * row for row in range(60)],
        "latitude": [47 + row / 7 for row in range(60)],
        "place": [f"{47 + row / 7:.2f}, {7 + row / 9:.2f}" for row in range(60)],
        "age": [row % 50 for row in range(60)],
        "icd": [f"{'ABCD'[row % 4]}{row % 20:02}" for row in range(60)],
        "town": [f"{chr(65 + row % 26)}town{row % 40}" for row in range(60)],
        "sex": ["f", "m"] * 30,
        "pain": ["low", "medium", "high"] * 20,
        "all": ["same"] * 60,
    }
)


def test_forms_are_told_by_names_and_values():
    data = Microdata(
        PEOPLE, {"*": "insensitive"}, kinds={"pain": "ordinal"}, orders={"pain": ["low", "medium", "high"]}
    )
    assert {name: [form.value for form in fitting_forms(data.domain[name])] for name in data.attributes} == {
        "born": ["calendar", "quantiles"],
        "visit": ["calendar"],
        "zip": ["prefix"],
        "postCode": ["prefix", "width", "quantiles"],
        "latitude": ["grid", "width", "quantiles"],
        "place": ["grid"],
        "age": ["width", "quantiles"],
        "icd": ["prefix"],
        "town": ["frequency", "letter"],
        "sex": [],
        "pain": ["neighbours"],
        "all": [],
    }
    # Numbers that are only labels, by their name.
    labels = Microdata(
        PEOPLE[["postCode", "age"]], {"*": "insensitive"}, kinds={"postCode": "nominal", "age": "nominal"}
    )
    assert [form.value for form in fitting_forms(labels.domain["postCode"])] == ["prefix"]
    assert [form.value for form in fitting_forms(labels.domain["age"])] == ["frequency"]


def test_every_form_that_fits_makes_a_hierarchy_that_the_table_takes():
    orders = {"pain": ["low", "medium", "high"]}
    for frame in (PEOPLE, PEOPLE.mask(np.arange(60)[:, None] % 11 == np.arange(12))):
        data = Microdata(frame, {"*": "insensitive"}, orders=orders)
        for name in data.attributes:
            for form in fitting_forms(data.domain[name]):
                hierarchy = default_hierarchy(data, name, form)
                assert hierarchy.height >= 2, (name, form)
                assert (
                    Microdata(frame, {"*": "insensitive"}, orders=orders, hierarchies={name: hierarchy})
                    .domain[name]
                    .tree
                    is not None
                )
    shuffled = Microdata(PEOPLE.sample(frac=1, random_state=3), {"*": "insensitive"})
    for name, form in (("age", "quantiles"), ("town", "frequency"), ("zip", "prefix")):
        plain = Microdata(PEOPLE, {"*": "insensitive"})
        assert default_hierarchy(shuffled, name, form).paths == default_hierarchy(plain, name, form).paths


def test_what_a_table_has_no_ready_made_hierarchy_for_gets_one_sentence():
    mixed = pd.Series([1, "a", pd.Timestamp("2020-01-01"), 10**400], dtype=object)
    data = Microdata(pd.DataFrame({"x": mixed, "town": ["a", "b", "c", "d"]}), {"*": "insensitive"})
    with pytest.raises(DataError, match="no attribute 'shoe'; the table has 'x', 'town'"):
        default_hierarchy(data, "shoe", "letter")
    with pytest.raises(ParameterError, match="no ready-made hierarchy 'bogus'; there is 'calendar', 'prefix'"):
        default_hierarchy(data, "x", "bogus")
    with pytest.raises(DataError, match="Intervals need values of one kind that have an order"):
        default_hierarchy(data, "x", "quantiles")


def test_places_outside_of_the_globe_are_no_coordinates():
    far = Microdata(pd.DataFrame({"x": ["52.5, 13.4", "1,99999999999"]}), {"*": "insensitive"})
    assert fitting_forms(far.domain["x"]) == ()
    on_the_edge = Microdata(pd.DataFrame({"x": ["-90, 360", "90,-180"]}), {"*": "insensitive"})
    assert fitting_forms(on_the_edge.domain["x"]) == ("grid",)


def test_usual_widths_are_round():
    def width(*numbers: float) -> float:
        return usual_width(Microdata(pd.DataFrame({"x": numbers}), {"*": "insensitive"}).domain["x"])

    assert [width(17, 90), width(0, 1), width(0.0, 0.5), width(5, 5), width(0, 4_000_000)] == [10, 1, 0.05, 1, 500_000]
    with pytest.raises(DataError, match="'town' has no numbers"):
        usual_width(Microdata(PEOPLE, {"*": "insensitive"}).domain["town"])
