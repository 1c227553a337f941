"""The page Reproduction: the shipped results, their verdicts, and the curves beside the papers' numbers."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from dashboard import reproduction
from dashboard.reproduction import (
    BY_HAND,
    DIFFERENT,
    FAILS,
    HOLDS,
    IN_MOST,
    NOT_APPLICABLE,
    NOT_REPRODUCED,
    REPRODUCED,
    TIMED,
    Curve,
    Entry,
    Mutant,
    Plot,
    Result,
    Statement,
    Study,
)
from dashboard.views import book
from dashboard.views import book as charts
from tests.dashboard.conftest import Visitor
from tests.dashboard.results import metrics

PAPERS = ("foreground-knowledge", "rothko", "slicing", "t-closeness", "vertical-fragmentation")


def statement(
    held: int, cases: int = 4, reading: str = "", cause: str = "chance", timed: bool = False, by_hand: bool = False
) -> Statement:
    return Statement("a holds", held, cases, "1.0", cause, reading, "the run", by_hand, timed)


def small() -> Result:
    return Result(
        name="small",
        title="Small",
        source="Nobody, 2001",
        command="python -m tests.papers --paper small",
        mode="full",
        date="2026-01-01",
        seconds=3.0,
        note="",
        entries=(Entry("figure 1", "lines", (statement(4),)), Entry("table 1", "symbols", reason="a list of symbols")),
        studies=(Study(("figure 1",), "10 rows", "0", None),),
        plots=(Plot("figure 1", "Lines", "k", "loss", (Curve("ours", (1.0, 2.0), (0.5, 0.25)),)),),
    )


@pytest.mark.parametrize(
    ("statements", "verdict"),
    [
        ((), NOT_APPLICABLE),
        ((statement(4), statement(1, 1)), REPRODUCED),
        ((statement(4), statement(3)), DIFFERENT),
        ((statement(4), replace(statement(3), tried="")), NOT_REPRODUCED),
        ((statement(4), replace(statement(3), cause="")), NOT_REPRODUCED),
        ((statement(3), statement(3)), DIFFERENT),
        ((*[statement(4)] * 9, statement(2)), NOT_REPRODUCED),
        ((statement(4), statement(4, timed=True)), TIMED),
        ((statement(4), statement(3, timed=True)), TIMED),
        ((statement(4), statement(0, timed=True)), NOT_REPRODUCED),
        ((statement(4), statement(0)), NOT_REPRODUCED),
        ((statement(0, by_hand=True),), BY_HAND),
        ((statement(4), statement(0, by_hand=True)), REPRODUCED),
        ((statement(4, reading="one"), statement(0, reading="other")), REPRODUCED),
        ((statement(0, reading="one"), statement(3, reading="other")), DIFFERENT),
        ((statement(4, reading="one"), statement(4, reading="other"), statement(3)), DIFFERENT),
        ((statement(4, reading="one"), statement(4, reading="other"), statement(0)), NOT_REPRODUCED),
    ],
)
def test_the_verdict_follows_from_the_statements_in_the_best_reading(statements, verdict):
    assert Entry("figure 1", "lines", statements).verdict == verdict


@pytest.mark.parametrize(
    ("held", "cases", "judgement", "judged"),
    [
        (4, 4, HOLDS, "holds"),
        (3, 4, IN_MOST, "holds in 3 of 4"),
        (2, 4, FAILS, "holds in 2 of 4"),
        (0, 4, FAILS, "does not hold in any of 4"),
        (0, 1, FAILS, "does not hold"),
        (0, 0, FAILS, "does not hold in any of 0"),
    ],
)
def test_a_statement_is_judged_by_its_own_cases(held: int, cases: int, judgement: str, judged: str):
    one = statement(held, cases)
    assert (one.judgement, one.judged) == (judgement, judged)


def test_a_statement_knows_the_broken_versions_under_which_it_falls():
    ours, other = statement(4, reading="one"), statement(4, reading="other")
    mutants = (
        Mutant("zeros", NOT_REPRODUCED, (("a holds", "one", FAILS),)),
        Mutant("random", DIFFERENT, (("a holds", "one", IN_MOST), ("a holds", "other", FAILS))),
    )
    entry = Entry("figure 1", "lines", (ours, other), mutants=mutants)
    assert entry.breakers(ours) == (("zeros", FAILS), ("random", IN_MOST))
    assert entry.breakers(other) == (("random", FAILS),)
    result = replace(small(), entries=(entry,))
    assert [line["Falls under"] for line in result.lines()] == [
        "zeros (does not hold); random (holds in most cases)",
        "random (does not hold)",
    ]
    assert book._stated(ours, entry.breakers(ours), False).endswith(
        "Falls under: zeros (does not hold); random (holds in most cases).]"
    )
    assert "No broken version" in book._stated(ours, (), False)
    assert "No broken version" in book._broken(replace(entry, mutants=()))


def test_causes_are_those_of_what_differs_each_once():
    lines = (statement(4, cause="never"), statement(1, cause="chance"), statement(0, cause="chance"))
    assert Entry("figure 1", "lines", lines).causes == ("chance",)


def test_a_result_is_read_as_it_was_written(tmp_path):
    result = small()
    assert Result.load(result.save(tmp_path)) == result
    assert result.counts == {REPRODUCED: 1, DIFFERENT: 0, NOT_REPRODUCED: 0, TIMED: 0, BY_HAND: 0, NOT_APPLICABLE: 1}


def test_five_papers_ship_with_full_runs_and_only_numbers_and_sentences():
    results = {one.name: one for one in reproduction.shipped()}
    assert tuple(sorted(results)) == PAPERS
    for path in reproduction.FOLDER.glob("*.json"):
        assert path.stat().st_size < 250_000
        assert "/work" not in path.read_text("utf-8")
        assert set(json.loads(path.read_text("utf-8"))) == set(Result.__dataclass_fields__)
    for result in results.values():
        assert result.mode == "full"
        assert result.command == f"python -m tests.papers --paper {result.name}"
        assert sum(result.counts.values()) == len(result.entries)
        for entry in result.entries:
            assert bool(entry.reason) == (entry.verdict == NOT_APPLICABLE)
            assert bool(entry.causes) or all(one.share == 1 for one in entry.statements), (result.name, entry.label)
    # Three of them were run beside other work on two processors; on a quiet machine all take less than an hour.
    assert sum(one.seconds for one in results.values()) < 4 * 60 * 60


def test_curves_of_the_paper_are_told_from_ours():
    plot = Plot(
        "figure 1", "Fake", "p", "fake tuples", (Curve("2", (1.0,), (2.0,)), Curve("paper", (1.0,), (3.0,), True))
    )
    ours, theirs = charts.drawn_curves(plot).data
    assert (ours.marker.symbol, theirs.marker.symbol) == ("circle", "star")
    assert ours.line.color != theirs.line.color


def test_no_two_curves_of_a_shipped_plot_look_alike():
    for result in reproduction.shipped():
        for plot in result.plots:
            looks = [
                (trace.line.color, trace.line.dash, trace.marker.symbol) for trace in charts.drawn_curves(plot).data
            ]
            assert len(set(looks)) == len(looks), plot.title
            paper = {look[0] for look, one in zip(looks, plot.curves, strict=True) if one.paper}
            assert not paper & {look[0] for look, one in zip(looks, plot.curves, strict=True) if not one.paper}


@pytest.mark.parametrize(("low", "mode"), [(0.1, "tozero"), (0.9, None)])
def test_values_that_lie_close_together_are_told_apart(low: float, mode: str | None):
    plot = Plot("figure 1", "Lines", "k", "accuracy", (Curve("a", (1.0,), (low,)), Curve("b", (1.0,), (1.0,))))
    assert charts.drawn_curves(plot).layout.yaxis.rangemode == mode


def test_the_bars_count_the_verdicts():
    figure = charts.verdicts_of_papers([small()])
    assert {bar.name: bar.x[0] for bar in figure.data} == small().counts


@pytest.mark.slow
@pytest.mark.parametrize("place", range(len(PAPERS)))
def test_each_paper_shows_its_counts_figures_and_command(place: int, visitor: Visitor):
    visitor.open("reproduction")
    box = next(item for item in visitor.at.selectbox if item.key == book.PAPER)
    box.set_value(place)
    visitor.run()
    result = reproduction.shipped()[place]
    shown = metrics(visitor)
    assert [shown[book.SHORT.get(what, what.capitalize())] for what in result.counts] == [
        str(number) for number in result.counts.values()
    ]
    table = visitor.at.dataframe[0].value
    assert table["Figure or table"].str.lower().tolist() == [entry.label.lower() for entry in result.entries]
    assert table["Figure or table"].str[0].str.isupper().all()
    assert table["Verdict"].tolist() == [entry.verdict for entry in result.entries]
    by_itself = next(item.value for item in visitor.at.dataframe if "Judgement" in item.value)
    assert by_itself.to_dict("records") == result.lines()
    stated = next(item.value for item in visitor.at.dataframe if "Judged in" in item.value)
    assert stated["It states"].tolist() == [one.text for one in result.stated]
    verdicts = {entry.label: entry.verdict for entry in result.entries}
    for one, shown_verdict in zip(result.stated, stated["Verdict"], strict=True):
        assert shown_verdict.split(", ") == list(dict.fromkeys(verdicts[label] for label in one.judged))
    assert any(result.command in item.value for item in visitor.at.caption)
    assert any(result.date in item.value for item in visitor.at.caption)
    assert len(visitor.at.get("plotly_chart")) == 2


def test_a_figure_shows_what_is_stated_what_is_found_and_why_it_differs(visitor: Visitor):
    visitor.open("reproduction")
    at = [one.name for one in reproduction.shipped()].index("t-closeness")
    next(item for item in visitor.at.selectbox if item.key == book.PAPER).set_value(at)
    visitor.run()
    box = next(item for item in visitor.at.selectbox if item.key == f"{book.FIGURE}-t-closeness")
    box.set_value(box.options.index("Table 3.4"))
    visitor.run()
    texts = visitor.texts()
    assert "Table 3.4" in texts
    assert "0.016889" in texts.replace("\\", "")
    assert "Cause: " in texts
    assert ":red-badge[does not hold]" in texts
    assert len(visitor.at.get("plotly_chart")) == 1


def test_without_results_the_page_says_how_to_make_them(visitor: Visitor, monkeypatch: pytest.MonkeyPatch):
    book._shipped.clear()
    monkeypatch.setattr(reproduction, "shipped", list)
    visitor.open("reproduction")
    assert any("python -m tests.papers" in item.value for item in visitor.at.info)
    book._shipped.clear()
