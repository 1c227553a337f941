"""No text makes an expression of the code slow: a text twice as long takes about twice as many steps."""

from __future__ import annotations

import re

import pytest

from anoncore.base.errors import DataError
from anoncore.release.reading.region_texts import LONGEST_REGION, Masked, OneOf, Span, regions_in
from anoncore.sources.addresses import without_parameters
from anoncore.table.hierarchy_defaults import grid_hierarchy
from tests.contracts.source import ROOT
from tests.security.expressions import Counter, Expression, expressions, worst

MOST_GROWTH = 2.6
"""Steps of the longer of two texts, of which one is twice as long as the other: 2 where they grow alike, 4 where they
grow with the square."""


@pytest.mark.slow
def test_the_steps_of_every_expression_grow_with_its_text():
    found, unknown = expressions(ROOT, ("anoncore", "dashboard"))
    assert unknown == [], "an expression that only a run knows cannot be tried; write it where it is compiled"
    assert len(found) > 50
    slow = {}
    for expression in found:
        growth, text = worst(expression)
        if growth > MOST_GROWTH:
            slow[expression.place] = f"{expression.way} {expression.pattern!r}: {growth:.1f} times as many for {text}"
    assert slow == {}


@pytest.mark.parametrize(
    ("pattern", "way"),
    [
        (r"(.+?)\s*(?:\+|and over)", "fullmatch"),
        (r"(?:>|over)\s*(.+)", "fullmatch"),
        (r"\s*[(]?\s*\d+", "fullmatch"),
        (r"\d+(?:\.\d+)?\s*[,; ]\s*\d+", "fullmatch"),
        (r"(a|b|ab)*c", "match"),
        pytest.param(r"(x+x+)+y", "match", marks=pytest.mark.slow),
        (r"\w+@", "search"),
        (r"(?m)^\s*from", "search"),
        (r"a*?b*a*c", "match"),
    ],
)
def test_slow_expressions_are_found(pattern, way):
    assert worst(Expression("here", pattern, 0, way))[0] > 3.5


@pytest.mark.parametrize(
    ("pattern", "way"),
    [
        (r"\d+(?:\.\d+)?", "fullmatch"),
        (r"(?<!\w)'[^']*'(?!\w)", "search"),
        (r'"(?:[^"]++|"")*+"', "search"),
        (r"\s*+[,;]\s*+| \s*+", "match"),
        (r"\W+", "search"),
        (r"[ab]{1,3}c", "search"),
    ],
)
def test_others_are_not(pattern, way):
    assert worst(Expression("here", pattern, 0, way))[0] < MOST_GROWTH


@pytest.mark.parametrize(
    "pattern", [r"a*?(b|ab)(?=c)|x{2,3}+y", r"(?i)^q+(?<=q)\b.$", r"(?>a+)b|[^a]{2}", r"(?s)\Aa.?b\Z"]
)
def test_the_counting_matcher_finds_what_python_finds(pattern):
    counter = Counter(Expression("here", pattern, 0, "match"))
    for text in ("abc", "aabc", "xxy", "xxxy", "QqZ", "qq", "aab", "bb", "a\nb", "ab", "", "aaa", "b\n"):
        counter.text = text
        found = re.match(pattern, text)
        assert counter._whole(0, lambda place: place) == (None if found is None else found.end()), (pattern, text)


class TestRegions:
    """A cell of a published table is read as a range only where it is short; sets may be long."""

    @pytest.mark.parametrize("piece", ["-", "1-", " to ", "a..", ">", "*", "*a", "5 +", "[1,", "over ", "1:"])
    def test_a_long_cell_has_few_readings(self, piece):
        long = piece * 10_000
        for text in (long, f"[{long}]", f"({long})", f"{long} and over", f">= {long}", f"{long}\n+"):
            found = list(regions_in(text))
            assert len(found) < 12
            assert not any(isinstance(region, Span | Masked) for region in found)

    def test_what_was_read_still_is(self):
        assert list(regions_in("85 and over")) == [Span("85", None)]
        assert list(regions_in(">= 20")) == [Span("20", None), Span("= 20", None, low_open=True)]
        assert Span(None, "7") in list(regions_in("up to 7"))
        assert list(regions_in("<18")) == [Span(None, "18", high_open=True)]
        assert list(regions_in("90+")) == [Span("90", None)]
        assert list(regions_in("476**")) == [Masked("476**")]
        assert list(regions_in("+")) == list(regions_in(">")) == []

    def test_a_set_may_be_longer_than_a_range(self):
        names = [f"value {number}" for number in range(500)]
        text = "{" + ", ".join(names) + "}"
        assert len(text) > LONGEST_REGION
        assert next(iter(regions_in(text))) == OneOf(tuple(names))


def test_coordinates_are_read_as_before():
    for text in (
        "52.52, 13.40",
        "(52.52 13.40)",
        "[52.52;13.40]",
        " 52.52 , 13.40 ",
        "( 52.52,13.40 )",
        "+52.52,-13.40",
    ):
        assert len(grid_hierarchy([text]).paths) == 1
    for text in ("52.52", "1 2 3", "0" + " " * 32_000, "1" * 300 + ",2", "52.5213.40"):
        with pytest.raises(DataError, match="A grid needs numbers"):
            grid_hierarchy([text])


def test_parameters_of_a_server_are_left_out_of_sentences():
    assert (
        without_parameters("at sc://h:1/;token=x;a=b, 'SC://h/;t=1' and sc://h/")
        == "at sc://h:1/ 'SC://h/' and sc://h/"
    )
