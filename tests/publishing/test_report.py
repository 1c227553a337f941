"""Reports: whole, escaped, self-contained, and with the numbers of the measures."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pandas as pd
import pytest

from anoncore import DataError, Microdata, Release
from anoncore.algorithms import Anatomy, Mondrian, RothkoSampling, VerticalFragmentation
from anoncore.base.errors import CancelledError
from anoncore.measures.criteria import CRITERIA, value_of
from anoncore.publishing.report import Subject, report
from anoncore.publishing.report.drawing import Series, bars, curves, histogram
from anoncore.publishing.report.subject import parameter_text, treatments
from anoncore.requirements import DistinctDiversity, KAnonymity
from tests.privacy.releases import generalized
from tests.properties.subjects import subjects
from tests.publishing.certification.tables import people, released

NASTY = '<script>alert("x")</script>&amp;\'<img src=http://evil/ onerror=a>{{ 7 * 7 }}{% raw %}'
VOID = {"meta", "br"}


class Tags(HTMLParser):
    """Every element of a page; fails where one is closed that is not open."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()
        self.attributes: list[tuple[str, str | None]] = []
        self.words: list[str] = []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, name: str, attributes: list[tuple[str, str | None]]) -> None:
        self.seen.add(name)
        self.attributes += attributes
        if name not in VOID:
            self.open.append(name)

    def handle_endtag(self, name: str) -> None:
        assert self.open.pop() == name

    def handle_data(self, data: str) -> None:
        """Texts as a browser shows them: line breaks and indents of the file are a space, or nothing between tags."""
        if data.strip():
            self.words.append(" ".join(data.split()))


@pytest.mark.slow
@pytest.mark.parametrize(("name", "parameters"), subjects(turn=1))
def test_every_release_has_a_whole_report_that_asks_for_nothing(name: str, parameters: dict[str, Any]) -> None:
    release = released(name, tuple(parameters.items()))
    page = Tags(report([Subject("Run 1", release, "people.csv")]))
    assert {"html", "main", "svg", "table", "style"} <= page.seen
    assert not {"script", "img", "link", "iframe", "object", "embed"} & page.seen
    assert not [one for one in page.attributes if one[0] in ("src", "srcset", "xlink:href") or one[0].startswith("on")]
    assert all(value is not None and value.startswith("#") for key, value in page.attributes if key == "href")
    words = " ".join(page.words)
    for title in ("In short", "What holds", "Levels reached", "What an adversary gets", "What it costs"):
        assert title in words
    for title in ("What is published", "How it was made", "All numbers", "What was not checked", "Definitions"):
        assert title in words


def test_what_comes_from_a_table_is_text() -> None:
    frame = pd.DataFrame(
        {
            NASTY: [1, 1, 2, 2, 3, 3],
            "<b>city": [NASTY, "x", NASTY, "x", NASTY, "y"],
            "illness</td>": [NASTY, "flu", "cold", NASTY, "flu", "cold"],
        }
    )
    roles = {NASTY: "quasi-identifier", "<b>city": "quasi-identifier", "illness</td>": "sensitive"}
    data = Microdata(frame, roles=roles)
    releases = [Mondrian(requirements=[KAnonymity(k=2)]).anonymize(data), Anatomy(l=2, seed=4242).anonymize(data)]
    for text in (
        report([Subject(NASTY, releases[0], NASTY)]),
        report([Subject(NASTY, releases[1], NASTY)]),
        report([Subject(NASTY, one, NASTY) for one in releases]),
    ):
        page = Tags(text)
        assert not {"script", "img"} & page.seen
        assert not re.search(r"<(script|img)|<b>city", text)
        assert not [one for one in page.attributes if one[0] in ("src", "onerror")]
        assert NASTY in "".join(page.words)
        assert "4242" not in text


def test_characters_that_html_cannot_hold_are_replaced() -> None:
    frame = pd.DataFrame({"age": [1, 1, 2, 2], "illness\x00": ["a\x0bb", "flu", "a\x0bb", "flu"]})
    data = Microdata(frame, roles={"age": "quasi-identifier", "illness\x00": "sensitive"})
    text = report([Subject("Run \ud800", Anatomy(l=2).anonymize(data))])
    assert type(text) is str
    assert not re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff]", text)
    assert "<td>a\ufffdb</td>" in text
    assert "<title>Run \ufffd</title>" in text


def test_the_numbers_are_those_of_the_criteria() -> None:
    release = released("mondrian", ())
    words = " ".join(Tags(report([Subject("Run 1", release)])).words)
    for one in CRITERIA.values():
        if one.name in ("membership-belief",):
            assert f"{one.title}: Fake tuples exist only where" in words
        else:
            assert f"{one.title} {one.text(value_of(release, one.name))} " in words


def test_a_comparison_sets_differences_to_the_first() -> None:
    frame = pd.DataFrame({"age": range(8), "illness": list("abababab")})
    data = Microdata(frame, roles={"age": "quasi-identifier", "illness": "sensitive"})
    coarse, fine = generalized(data, [0] * 8), generalized(data, [0, 0, 1, 1, 2, 2, 3, 3])
    words = " ".join(Tags(report([Subject("Coarse", coarse), Subject("Fine", fine)])).words)
    assert "2 releases compared" in words
    assert "Smallest group 8 2 −6, worse" in words
    # A range of all eight ages loses everything, one of two neighbours 1/7 of the domain.
    assert "Information loss 100.0% 14.3% −85.7%, better" in words
    assert "Different values 2 2 equal" in words
    assert "Belief in membership of Coarse: Fake tuples" in words


def test_a_number_that_a_release_lacks_is_a_dash_also_for_who_does_not_see_the_drawing() -> None:
    frame = pd.DataFrame({"age": range(8), "illness": list("abababab")})
    data = Microdata(frame, roles={"age": "quasi-identifier", "illness": "sensitive"})
    releases = [generalized(data, [0] * 8), Anatomy(l=2, seed=0).anonymize(data)]
    page = Tags(report([Subject(f"Run {place}", one) for place, one in enumerate(releases)]))
    (alt,) = [
        told for name, told in page.attributes if name == "aria-label" and told and told.startswith("Run 0: 50.0%")
    ]
    assert "\N{EN DASH}" in alt
    assert "nan" not in alt


def test_values_changed_are_told_for_each_fragment() -> None:
    release = VerticalFragmentation(k=3).anonymize(people())
    changed = [part.recodings["illness"].n_changed for part in release.fragments]  # type: ignore[attr-defined]
    assert treatments(release, "illness") == "; ".join(
        f"fragment {place}: published row by row, with {number} values changed"
        for place, number in enumerate(changed, start=1)
    )


def test_a_method_inside_a_method_is_told_without_its_seed() -> None:
    inner = RothkoSampling(requirements=[KAnonymity(k=3)], seed=4242)
    assert parameter_text(inner) == "Rothko (sampling): requirements = k-anonymity (k = 3)"
    assert parameter_text(Anatomy(l=2, seed=4242)) == "Anatomy"


def test_progress_and_the_number_of_releases() -> None:
    release = released("mondrian", ())
    told: list[float] = []
    report([Subject("a", release), Subject("b", release)], progress=lambda share, _: told.append(share))
    assert told == sorted(told)
    assert told[-1] == 1.0
    for number in (0, 7):
        with pytest.raises(DataError, match=f"A report takes 1 to 6 releases, not {number}"):
            report([Subject("a", release)] * number)


def test_measures_are_taken_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def cache(name: str, function: Any, *arguments: Any) -> Any:
        asked.append(name)
        return function(release, *arguments)

    release: Release = released("anatomy", (("l", 2),))
    report([Subject("a", release, cache=cache)])
    assert "attacks.reidentification" in asked
    kept = Subject("b", release)
    first = kept.measure("x", lambda _release: object())
    assert kept.measure("x", lambda _release: object()) is first


def widths(drawing: str) -> list[float]:
    return [float(one) for one in re.findall(r'<rect[^>]* width="([0-9.]+)"', drawing)]


def test_bars_are_as_long_as_their_values() -> None:
    drawing = bars(
        ["a", "b"],
        [Series("x", np.array([1.0, 0.5])), Series("y", np.array([0.0, np.nan]), 1)],
        lambda value: f"{value:.1f}",
        "alt",
    )
    first, empty, half = widths(drawing)
    assert half == pytest.approx(first / 2, abs=0.1)
    assert empty == 0
    assert ">–</text>" in drawing


@pytest.mark.parametrize(
    "values", [[3.0], [5.0, 5.0], [0.25, 0.5, 0.5], list(range(200)), [1.0, 2.0, 2.0, 7.0], [1e-9, 2e-9]]
)
def test_a_histogram_counts_every_value(values: list[float]) -> None:
    drawing = histogram(np.array(values, dtype=float), "x", "y", str, "alt")
    heights = [float(one) for one in re.findall(r'<rect[^>]* height="([0-9.]+)"', drawing)]
    assert len(heights) <= 41
    assert max(heights) == pytest.approx(190, abs=0.1)
    # All bars together stand for all values, each as high as its share of the highest.
    shares = np.array(heights) / max(heights)
    top = max(round(len(values) / shares.sum()), 1)
    assert (shares * top).sum() == pytest.approx(len(values), rel=0.02)


def test_whole_numbers_are_named_where_they_are() -> None:
    drawing = histogram(np.array([3.0, 3.0, 4.0]), "rows", "groups", "{:.0f}".format, "alt")
    ticks = re.findall(r'<text x="([0-9.]+)" y="217.0" text-anchor="middle">([^<]+)<', drawing)
    bars_at = [
        float(x) + float(width) / 2 for x, width in re.findall(r'<rect x="([0-9.]+)"[^>]* width="([0-9.]+)"', drawing)
    ]
    assert [text for _, text in ticks] == ["3", "4"]
    assert [float(x) for x, _ in ticks] == pytest.approx(bars_at, abs=0.2)


def test_curves_climb_from_nothing_to_all() -> None:
    drawing = curves([Series("x", np.array([0.2, 0.4, 0.9]))], "x", "people", "{:.1f}".format, "alt")
    (points,) = re.findall(r'points="([^"]+)"', drawing)
    heights = [float(point.split(",")[1]) for point in points.split()]
    assert heights == sorted(heights, reverse=True)
    assert heights[0] == pytest.approx(200)
    assert heights[-1] == pytest.approx(10)


def test_texts_of_drawings_are_escaped() -> None:
    series = [Series(NASTY, np.array([0.5, 1.0]))]
    for drawing, texts in (
        (bars([NASTY, "b"], series, lambda _value: NASTY, NASTY), 3),
        (histogram(np.array([1.0, 2.0]), NASTY, NASTY, lambda _value: NASTY, NASTY), 3),
        (curves(series, NASTY, NASTY, lambda _value: NASTY, NASTY), 3),
    ):
        page = Tags(drawing)
        assert page.seen <= {"svg", "text", "title", "rect", "line", "polyline"}
        assert "".join(page.words).count(NASTY) >= texts
        assert ("aria-label", NASTY) in page.attributes


@pytest.mark.slow
def test_a_report_is_stopped_while_it_follows_what_the_method_refused() -> None:
    people = pd.DataFrame({"age": range(40), "illness": ["flu", "cold", "gout", "flu"] * 10})
    data = Microdata(people, {"age": "quasi-identifier", "illness": "sensitive"})
    release = Mondrian(requirements=[DistinctDiversity(l=3)]).anonymize(data)

    def stop(_share: float, text: str) -> None:
        if text == "Following the choices of the method":
            raise CancelledError

    with pytest.raises(CancelledError):
        report([Subject("a", release)], progress=stop)
