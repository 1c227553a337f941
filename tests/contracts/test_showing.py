"""How results and tables show themselves: in a few lines, without values of rows, escaped, as frames and pictures."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from functools import cache
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd
import pytest

import anoncore
from anoncore import AnonymizationError, Hierarchy, Microdata, Recipe, attacks, privacy, search, utility
from anoncore.algorithms import Anatomy, LocalRecoding, Mask, Mondrian, Slicing, VerticalFragmentation
from anoncore.base import Estimate, Score
from anoncore.base.pandas_versions import TEXT
from anoncore.base.showing import FRAME_COLUMNS, MOST_LINES, Result, Shown
from anoncore.measures import verdict
from anoncore.privacy.explain import explain
from anoncore.requirements import DistinctDiversity, KAnonymity
from anoncore.table.preparation import DateShift, prepared
from tests.hidden_packages import hide
from tests.properties.published import rows

ROOMS: tuple[ModuleType, ...] = (anoncore, privacy, attacks, utility, search)
MARK = "SECRET"
"""Every text of a row begins with it, and nothing else has it."""
HOSTILE = "<script>alert('x')</script>"
LONG = "long " * 60
NEWLINE = "two\nlines"


def is_class_of_results(value: Any) -> bool:
    return isinstance(value, type) and (dataclasses.is_dataclass(value) or issubclass(value, Score | Estimate))


CLASSES = {
    f"{room.__name__}.{name}": getattr(room, name)
    for room in ROOMS
    for name in room.__all__
    if is_class_of_results(getattr(room, name))
}
PLAIN = {
    "anoncore.JoinedRecipe": "a recipe is shown by its TOML",
    "anoncore.Recipe": "a recipe is shown by its TOML",
    "anoncore.search.Ranges": "what may be searched, given by the caller",
    "anoncore.search.Target": "a criterion and a limit, given by the caller",
}
"""Classes that keep the text of a dataclass, and why."""


@cache
def table() -> Microdata:
    rng = np.random.default_rng(3)
    n = 240
    frame = pd.DataFrame(
        {
            "who": [f"{MARK} person {row}" for row in range(n)],
            HOSTILE: rng.integers(20, 90, n),
            NEWLINE: [f"{MARK} town {town}" for town in rng.integers(0, 6, n)],
            "illness": [f"{MARK} illness {value}" for value in rng.integers(0, 5, n)],
            LONG: rng.normal(size=n).round(1),
        }
    )
    roles = {HOSTILE: "quasi-identifier", NEWLINE: "quasi-identifier", "illness": "sensitive", "who": "identifier"}
    roles[LONG] = "insensitive"
    tree = Hierarchy.from_nested({"part": [f"{MARK} town {town}" for town in range(6)]})
    return Microdata(frame, roles, hierarchies={NEWLINE: tree})


@cache
def shown() -> tuple[Any, ...]:
    """Objects of every kind that a user gets, of a table that tells everything if anything is told."""
    data = table()
    mondrian = Mondrian(requirements=[KAnonymity(k=4)]).anonymize(data)
    anatomy, slicing = Anatomy(l=2, seed=1).anonymize(data), Slicing(l=1.5).anonymize(data)
    vertical = VerticalFragmentation(k=2, l=2, seed=1).anonymize(data)
    masked = Mask(k=2, l=2, seed=1).anonymize(data)
    valued = VerticalFragmentation(k=2, enforce="selectivity", seed=1).anonymize(data)
    stays = data.frame[["who", NEWLINE]].assign(day=pd.date_range("2024-01-01", periods=data.n_rows))
    shifted = prepared(stays, {"day": DateShift(shift=5, by="who")}).microdata(
        roles=dict.fromkeys(["day", NEWLINE], "quasi-identifier")
    )
    fact = attacks.Fact(str(data.frame["illness"].iloc[0]), row=1, least=1.0)
    foreground = attacks.foreground_knowledge(anatomy, "illness", epsilon=0.5, facts=[fact])
    return (
        data,
        data.domain["illness"],
        data.sensitive_view("illness"),
        data.hierarchies[NEWLINE],
        *(mondrian, anatomy, slicing, vertical, masked, valued),
        *(*mondrian.fragments, *vertical.fragments),
        *(recoding for fragment in mondrian.fragments for recoding in fragment.recodings.values()),
        *(recoding for fragment in (*masked.fragments, *valued.fragments) for recoding in fragment.recodings.values()),
        mondrian.partition,
        (profile := privacy.profile(mondrian)),
        *profile.fragments,
        profile["illness"],
        profile.k,
        *privacy.check(mondrian, [DistinctDiversity(l=5)])[:1],
        *privacy.guarantees(mondrian),
        *privacy.personal_guarantees(slicing),
        privacy.transport(mondrian, "illness", 0, "equal"),
        *privacy.tag_leaks(mondrian)[:1],
        privacy.all_but_secrets(mondrian),
        (joins := privacy.joins(vertical, k=2)),
        privacy.joined({"first": mondrian, LONG: masked}, by="who"),
        privacy.linked_k(mondrian),
        attacks.shifted_dates(Mondrian(requirements=[KAnonymity(k=4)]).anonymize(shifted)),
        *joins.joins,
        privacy.worst_joins(vertical),
        explain(mondrian, [KAnonymity(k=4)]),
        (found := attacks.reidentification(mondrian)),
        found.prosecutor,
        attacks.attribute_disclosure(mondrian, "illness"),
        attacks.population_uniqueness(mondrian, fraction=0.5),
        attacks.individual_risk(mondrian, fraction=0.5),
        attacks.special_uniques(mondrian),
        attacks.singling_out(mondrian),
        attacks.linkability(mondrian),
        attacks.inference(mondrian, "illness"),
        attacks.memorization(mondrian, "illness"),
        attacks.definetti(mondrian, "illness", draws=1),
        (strongest := attacks.strongest(mondrian, "illness", draws=1)),
        strongest.attribute,
        foreground,
        *foreground.sets[:1],
        foreground.with_facts,
        fact,
        attacks.foreground_knowledge_estimate(anatomy, "illness"),
        foreground.group(anatomy, 0),
        attacks.possible_worlds([0.25, 0.75], 1),
        attacks.composition([mondrian, anatomy], "illness", by="who"),
        attacks.membership(slicing),
        attacks.region_membership(mondrian),
        attacks.join_likelihood(vertical),
        attacks.matching_buckets(slicing, "illness", 0),
        attacks.minimality(mondrian, "illness"),
        attacks.downcoding(mondrian),
        attacks.refinement(LocalRecoding(requirements=[KAnonymity(k=4)]).anonymize(data), "illness"),
        utility.information_loss(mondrian),
        utility.least_loss(data, k=4, seconds=0.2),
        utility.discernibility(mondrian),
        utility.average_group_size(mondrian),
        utility.conditional_entropy(mondrian, "illness"),
        utility.two_way_error(mondrian),
        utility.two_way_error_bound(mondrian),
        utility.association_error(mondrian),
        (learned := utility.classification(mondrian, "illness", folds=2)),
        learned.original,
        utility.classification_estimate(mondrian, "illness", folds=2),
        (answers := utility.query_error(mondrian, n_queries=20)),
        answers.workload,
        (point := search.sweep(data, [Mondrian(requirements=[KAnonymity(k=k)]) for k in (2, 4)], ["k"])[0]),
        search.search(data, [search.Target("k", 3)], "information-loss", [point.algorithm]),
        search.choose_k(data, ks=[2, 3]),
        verdict(mondrian),
        (checked := anoncore.check(data.frame, [HOSTILE, NEWLINE], "illness", identifier="who", require=["k=1"])),
        *checked.numbers,
        *checked.requirements,
        (judgement := anoncore.Policy.load("hospital").judge(mondrian)),
        *judgement.lines,
        (identifiers := privacy.identifiers(data.frame.assign(mail=[f"{MARK}{row}@b.de" for row in range(240)]))),
        *identifiers.findings,
        Recipe.loads(
            'source = {builtin = "census", rows = 60}\nalgorithm = {name = "mondrian"}\nmeasures = ["privacy.profile"]'
        ).run(),
    )


def test_every_class_that_users_get_shows_itself():
    plain = [name for name, found in CLASSES.items() if not issubclass(found, Shown) and name not in PLAIN]
    assert plain == [], "Derive these from Shown, or from Result where they are results."


@pytest.mark.slow
def test_every_class_of_results_is_among_those_that_are_tested():
    classes = {type(one) for one in shown()}
    missing = [
        name
        for name, found in CLASSES.items()
        if name not in PLAIN and not any(issubclass(one, found) for one in classes)
    ]
    assert missing == [], "Add one of each to `shown`."


@pytest.mark.slow
def test_texts_are_a_few_lines_and_tell_no_value_of_a_row():
    for one in shown():
        text = repr(one)
        assert MARK not in text, f"{type(one).__name__} tells values of rows: {text}"
        assert len(text.splitlines()) <= MOST_LINES + 2, type(one).__name__
        assert len(text) <= 2600, type(one).__name__
        assert text.count(" 0x") == 0, type(one).__name__


@pytest.mark.slow
def test_html_is_escaped_and_tells_no_value_of_a_row():
    for one in shown():
        html = one._repr_html_()
        assert "<script" not in html, type(one).__name__
        assert MARK not in html, type(one).__name__
        assert html.count("<div>") == html.count("</div>") == 1
    assert "&lt;script&gt;" in table()._repr_html_()


def results() -> Iterator[Result]:
    return (one for one in shown() if isinstance(one, Result))


OWN_COLUMNS = {"Profile", "JoinedTables", "Choice", "Search", "Strongest"}
"""Results with a line per group or class, k, candidate or attack."""


@pytest.mark.slow
def test_every_result_is_a_frame_with_the_same_columns():
    for one in results():
        frame = one.frame()
        assert isinstance(frame, pd.DataFrame)
        if type(one).__name__ not in OWN_COLUMNS:
            assert list(frame.columns) == FRAME_COLUMNS, type(one).__name__
            assert frame.dtypes.tolist() == [TEXT, np.dtype("float64"), np.dtype("float64"), TEXT]
            assert frame["name"].is_unique
        again = one.frame()
        assert rows(again) == rows(frame)


def test_a_frame_holds_the_scores_and_their_baselines():
    found = attacks.attribute_disclosure(Mondrian(requirements=[KAnonymity(k=4)]).anonymize(table()), "illness")
    line = found.frame().set_index("name").loc["largest"]
    assert line["value"] == float(found.largest)
    assert line["baseline"] == found.largest.baseline
    assert line["unit"] == found.largest.unit


def test_a_search_and_a_choice_have_a_line_per_candidate():
    candidates = [Mondrian(requirements=[KAnonymity(k=k)]) for k in (2, 5)]
    found = search.search(table(), [search.Target("k", 4)], "information-loss", candidates)
    frame = found.frame()
    assert frame["algorithm"].tolist() == ["mondrian (k-anonymity k = 2)", "mondrian (k-anonymity k = 5)"]
    assert frame["keeps"].tolist() == [False, True]
    chosen = search.choose_k(table(), ks=[2, 3])
    assert list(chosen.frame().columns) == ["k", "t", "information_loss", "cost", "n_classes"]


def test_a_score_still_reads_as_its_number():
    loss = utility.information_loss(Mondrian(requirements=[KAnonymity(k=4)]).anonymize(table()))
    assert repr(loss) == repr(float(loss)) == str(loss)
    assert "Information loss" in loss._repr_html_()


@pytest.mark.slow
def test_what_has_numbers_draws_itself():
    pytest.importorskip("plotly", reason="the extra `plot` is not installed")
    for one in shown():
        if isinstance(one, Result) and one.frame().empty:
            with pytest.raises(AnonymizationError, match="no number to draw"):
                one.plot()
        elif hasattr(one, "plot"):
            picture = one.plot()
            assert type(picture).__name__ == "Figure"
            assert "<script" not in (picture.layout.title.text or "")
            words = [picture.layout.xaxis.title.text, picture.layout.yaxis.title.text]
            words += [one.name for one in picture.data] if picture.layout.showlegend else []
            assert all(words), words
            assert PLOTLY_NAMES.isdisjoint(words), words
            assert not any("variable=" in one.hovertemplate or "_value" in one.hovertemplate for one in picture.data)


def test_groups_are_drawn_by_their_sizes():
    pytest.importorskip("plotly", reason="the extra `plot` is not installed")
    release = Mondrian(requirements=[KAnonymity(k=4)]).anonymize(table())
    for drawn in (release, release.partition, privacy.profile(release)):
        (trace,) = drawn.plot().data
        assert sorted(trace.x) == sorted(release.partition.sizes.tolist())
        assert drawn.plot().layout.yaxis.title.text == "number of groups"


def test_without_plotly_a_sentence_says_what_to_install(monkeypatch):
    hide(monkeypatch, "plotly")
    with pytest.raises(AnonymizationError, match=r"A picture needs Plotly; .* pip install 'anoncore\[plot\]'"):
        table_release().plot()


PLOTLY_NAMES = {"_value", "value", "variable", "index", "count", "information_loss"}
"""What Plotly or a column calls an axis that nobody gave words."""


def table_release():
    return Mondrian(requirements=[KAnonymity(k=4)]).anonymize(table())


def test_a_table_says_what_it_holds():
    text = repr(
        Microdata(
            pd.DataFrame({"age": [1, 2], "ill": ["a", None], "n": [1, 2]}),
            {"age": "quasi-identifier", "*": "insensitive"},
        )
    )
    assert text.splitlines() == [
        "Microdata: 2 rows, 3 columns",
        "  quasi-identifier  age: numeric, 2 values",
        "  insensitive       ill: nominal, 1 value, some cells missing",
        "  insensitive       n: numeric, 2 values",
    ]
