"""The sentence above the board: which release to publish and why, or what stands in the way."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from anoncore.attacks.foreground.attack import TOO_SMALL
from anoncore.measures.promise_marks import Mark, upwards
from anoncore.measures.verdict import Mend
from dashboard.board.answer import answer
from dashboard.board.facts import Judged, Slow
from dashboard.board.wording import Asked, Shown

ASKED = Asked({"k": 10.0, "t": 0.3}, 2, "illness", "illness")
NO_OTHER = Slow(exact={})
GOOD = Judged("All that was asked for holds.", "", (), True)


def mark(symbol: str, state: str, reached: str = "10", asked: str = "10") -> Mark:
    return Mark(symbol, state, reached, "A sentence.", asked)


def column(
    id: str, title: str, lost: float, *marks: Mark, judged: Judged = GOOD, given: float = 0.3, **facts: Any
) -> Shown:
    quick = {
        "word": "group",
        "smallest": 11,
        "farthest": 0.2712,
        "lost": {"value": lost},
        **facts,
    }
    slow = {"given": Slow(exact={"learned": True, "value": given, "control": 0.3}), "strongest": NO_OTHER}
    said = marks or (mark("k", "kept"),)
    return Shown(id, title, 0, "generalization", "ready", marks=said, quick=quick, judged=judged, slow=slow)


def test_of_the_releases_that_keep_all_the_one_that_loses_least_is_to_be_published():
    columns = [
        column("c1", "Mondrian", 0.268),
        column("c2", "Anatomy", 0.01, mark("k", "missed", "1")),
        column("c3", "Stack & Deal", 0.21, mark("k", "kept"), mark("t", "met", "0.28", "0.30")),
    ]
    found = answer(columns, ASKED, ["income", "sex"])
    assert (found.tone, found.column) == ("good", "c3")
    # 0.2712 is told as 0.28: what is said to be the most is never rounded down.
    assert found.text == (
        "Publish Stack & Deal: of the releases that keep all that you ask, it loses least: counted by two columns, "
        "21.0% of the rows are in the wrong place (Mondrian: 26.8%). Everybody hides among 11 or more and no group "
        "is farther than 0.28 from the "
        "table."
    )
    assert found.more == (
        "Losing less, but not to be published: Anatomy (1.0%, misses k).",
        "Stack & Deal keeps t on this table, as was counted, but its method does not promise that.",
        "Not published, as nobody decided on them: 'income', 'sex'.",
    )


def test_what_loses_less_and_is_not_the_answer_is_told_with_the_reason():
    taught = column("c1", "Anatomy", 0.01, given=0.577)
    broken = Judged("It fails.", "'fnlwgt', published by decision, finds everybody", (), False)
    columns = [
        column("c3", "Mondrian", 0.3),
        taught,
        column("c2", "Slicing", 0.02, judged=broken),
        column("c4", "Mask", 0.001, mark("k", "missed", "1"), mark("t", "unknown", "")),
        column("c5", "Incognito", 0.4, mark("k", "missed", "1")),
    ]
    assert answer(columns, ASKED).more == (
        "Losing less, but not to be published: Mask (0.1%, misses k; t cannot be told), Anatomy (1.0%, 57.7% of the "
        "people are given away by foreground knowledge; chance alone gives 30.0%), Slicing (2.0%, 'fnlwgt', "
        "published by decision, finds everybody).",
    )
    # Two others do not keep all either, so that it alone does; one that is only given away keeps it, too.
    assert (
        ": it keeps all that you ask; counted by two columns, 30.0% of the rows are in the wrong place"
        in answer(columns, ASKED).text
    )
    assert (
        ": it alone keeps all that you ask; counted by two columns, 30.0% of the rows are in the wrong place"
        in answer([columns[0], *columns[2:]], ASKED).text
    )


def test_of_what_may_lose_less_than_is_told_nothing_is_said_to_lose_more():
    def bounded(at_most: float) -> Shown:
        made = column("c2", "Read", 0.0)
        return replace(made, quick={**(made.quick or {}), "lost": {"at_most": at_most}})

    exact = column("c1", "Mondrian", 0.2)
    found = answer([exact, bounded(0.3)], ASKED)
    assert (found.loses_least, found.column) == (False, "c1")
    assert ": it keeps all that you ask; counted by two columns, 20.0% of the rows are in the wrong place" in found.text
    assert " (Read: at most 30.0%). " in found.text
    # The most that one can lose is less than what the other loses.
    least = answer([exact, bounded(0.1)], ASKED)
    assert (least.loses_least, least.column) == (True, "c2")


def test_of_buckets_only_secrets_hide():
    bucket = column("c1", "Anatomy", 0.01, word="bucket", farthest=None)
    assert answer([bucket], ASKED).text.endswith(
        ": it keeps all that you ask; counted by two columns, 1.0% of the rows are in the wrong place. Every secret "
        "hides among 11 or more."
    )


def test_where_a_person_may_have_several_rows_nothing_is_said_to_be_published():
    """A group of ten rows may be one person's."""
    rows = replace(ASKED, people="rows")
    found = answer([column("c1", "Mondrian", 0.3)], rows)
    assert (found.tone, found.column) == ("plain", "c1")
    assert found.text == (
        "Not known yet: Mondrian keeps all that you ask, but only rows were counted, and a person may have several: "
        "say first whose row each is."
    )
    missed = answer([column("c1", "Mondrian", 0.3, mark("k", "missed", "1"))], rows)
    assert missed.text.startswith("None of these keeps all that you ask.")


def test_what_keeps_all_but_fails_badly_elsewhere_is_not_yet_to_be_published():
    bad = Judged("It fails.", "", ("largest belief 100%", "distance 0.90"), False)
    only = column("c1", "Mondrian", 0.1, judged=bad)
    found = answer([only], ASKED)
    assert (found.tone, found.column) == ("warn", "c1")
    assert found.text == (
        "Not yet: Mondrian keeps all that you ask, but not asked for, and not protected: "
        "largest belief 100% and distance 0.90."
    )
    # A method whose own promise fails, such as that of joins, has a verdict that is not good and names nothing else.
    failing = Judged("1 of 3 promises fails.", "", (), False)
    joined = answer([column("c1", "Vertical fragmentation", 0.1, judged=failing)], ASKED)
    assert (joined.tone, joined.text) == (
        "warn",
        "Not yet: Vertical fragmentation keeps all that you ask, but 1 of 3 promises fails.",
    )
    # One that loses more and has nothing against it goes before it.
    other = column("c2", "Stack & Deal", 0.4)
    assert answer([only, other], ASKED).begin + answer([only, other], ASKED).column == "Publishc2"


def test_what_teaches_readers_more_than_chance_is_not_yet_to_be_published():
    taught = column("c1", "Anatomy", 0.01, given=0.577)
    found = answer([taught], ASKED)
    assert (found.tone, found.text) == (
        "warn",
        "Not yet: Anatomy keeps all that you ask, but 57.7% of the people are given away by foreground knowledge; "
        "chance alone gives 30.0%.",
    )
    assert answer([taught, column("c2", "Mondrian", 0.3)], ASKED).column == "c2"
    # Of few it is no matter, as in the verdict.
    assert answer([column("c1", "Anatomy", 0.01, given=0.35)], ASKED).tone == "good"
    # The attack that lies farthest above chance speaks, whichever it is.
    best = {"title": "deFinetti's attack", "value": 0.6, "control": 0.1, "is_foreground": False, "tried": 3}
    slow = {**(taught.slow or {}), "strongest": Slow(exact=best)}
    assert answer([replace(taught, slow=slow)], ASKED).text.endswith(
        "60.0% of the people are given away by deFinetti's attack; chance alone gives 10.0%."
    )
    # Of two that lie as far above it, the sentence names the one that the cell names.
    equal = {**best, "title": "single groups", "value": 0.577, "control": 0.3}
    slow = {**(taught.slow or {}), "strongest": Slow(exact=equal)}
    assert "57.7% of the people are given away by single groups;" in answer([replace(taught, slow=slow)], ASKED).text
    # A first answer of that attack is no more than about right, and one by the attack of the cell is told by the cell.
    first = {**slow, "strongest": Slow(estimate={**best, "is_estimate": True})}
    assert "but about 60.0% of the people" in answer([replace(taught, slow=first)], ASKED).text
    same = {**slow, "strongest": Slow(estimate={**best, "is_foreground": True, "is_estimate": True})}
    assert "but 57.7% of the people" in answer([replace(taught, slow=same)], ASKED).text
    alone = replace(taught, slow={"given": Slow(problem="No shared groups."), "strongest": slow["strongest"]})
    assert answer([alone], ASKED).tone == "warn"
    # What other attacks found does not hide that this one could not be made.
    assert "Not all attacks could be made: No shared groups." in answer([alone], ASKED).more
    # What could not be measured is not 0: the answer says so, as the cell does.
    small = replace(taught, slow={"given": Slow(exact={"learned": False, "guess": 0.3})})
    assert f"What it gives away was not measured: {TOO_SMALL}." in answer([small], ASKED).more
    ended = replace(taught, slow={"given": Slow(problem="There is not enough memory.")})
    assert "What it gives away was not measured: There is not enough memory." in answer([ended], ASKED).more


def test_a_release_whose_attack_is_still_on_its_way_is_not_yet_to_be_published():
    unknown = replace(column("c1", "Anatomy", 0.01), slow={})
    found = answer([unknown], ASKED)
    assert (found.tone, found.column, found.text) == (
        "plain",
        "c1",
        "Not known yet: Anatomy keeps all that you ask, but what it gives away is still being measured.",
    )
    # One that was attacked goes before it, and what may lose less is told.
    beside = answer([unknown, column("c2", "Mondrian", 0.3)], ASKED)
    assert (beside.tone, beside.column) == ("good", "c2")
    assert beside.more == (
        "Losing less, but not known yet: Anatomy (1.0%, what it gives away is still being measured).",
    )
    # Where nothing is secret, nothing is given away, and an attack that cannot be made will say nothing more.
    assert answer([unknown], replace(ASKED, secret=None)).tone == "good"
    refused = replace(unknown, slow={"given": Slow(problem="No shared groups.")})
    assert answer([refused], ASKED).tone == "good"


def estimated(low: float, value: float, high: float, control: float = 0.3, lost: float = 0.1) -> Shown:
    estimate = {"learned": True, "value": value, "low": low, "high": high, "control": control, "how": "from 12 of 35"}
    slow = {"given": Slow(estimate=estimate), "strongest": NO_OTHER}
    return replace(column("c1", "Mondrian", lost), slow=slow)


def test_the_worse_end_of_an_estimate_decides():
    """Of 5% above chance nobody publishes; where the interval reaches to both sides, the middle says nothing."""
    below = estimated(0.3, 0.32, 0.34)
    assert (answer([below], ASKED).tone, answer([below], ASKED).column) == ("good", "c1")
    above = answer([estimated(0.4, 0.45, 0.5)], ASKED)
    assert (above.tone, above.begin) == ("warn", "Not yet:")
    for value in (0.33, 0.38):
        found = answer([estimated(0.3, value, 0.4)], ASKED)
        assert (found.tone, found.column) == ("plain", "c1")
        assert found.text == (
            "Not known yet: Mondrian keeps all that you ask, but 30 to 40% of the people may be given away by "
            "foreground knowledge, 30.0% by chance alone; the exact number decides, which has to be no more than 5.0% "
            "above chance."
        )
        beside = answer([estimated(0.3, value, 0.4), column("c2", "Slicing", 0.3)], ASKED)
        assert (beside.tone, beside.column) == ("good", "c2")
        assert beside.more[0].startswith("Losing less, but not known yet: Mondrian (10.0%, ")
        # The exact number decides.
        known = replace(estimated(0.3, value, 0.4), slow=column("c1", "Mondrian", 0.1, given=value).slow)
        assert answer([known], ASKED).tone == ("good" if value == 0.33 else "warn")


def test_of_several_attacks_one_that_surely_gives_away_too_many_speaks_first():
    best = {"title": "deFinetti's attack", "value": 0.4, "control": 0.3, "is_foreground": False, "tried": 3}
    both = estimated(0.3, 0.36, 0.7)
    both = replace(both, slow={**(both.slow or {}), "strongest": Slow(exact=best)})
    assert answer([both], ASKED).text.endswith(
        "40.0% of the people are given away by deFinetti's attack; chance alone gives 30.0%."
    )


def test_attacks_and_rules_that_are_still_to_come_are_told():
    first = {"title": "deFinetti's attack", "value": 0.3, "control": 0.3, "is_foreground": False, "tried": 3}
    told = "Other attacks on it are still being made."
    known = column("c1", "Mondrian", 0.1)
    for slow in ({}, {"strongest": Slow(estimate={**first, "is_estimate": True})}):
        found = answer([replace(known, slow={"given": (known.slow or {})["given"], **slow})], ASKED)
        assert (found.tone, found.more) == ("good", (told,))
    assert told not in answer([known], ASKED).more
    ruled = answer([known], replace(ASKED, policy="House rules"))
    assert (ruled.tone, ruled.text) == (
        "plain",
        "Not known yet: Mondrian keeps all that you ask, but not all rules of House rules are measured yet.",
    )


def test_where_none_keeps_all_the_nearest_one_and_the_hardest_wish_are_told():
    first = column("c1", "Anatomy", 0.01, mark("k", "missed", "1"), mark("t", "missed", "0.92", "0.30"))
    second = column("c2", "Slicing", 0.02, mark("k", "missed", "1"), mark("t", "kept", "0.30", "0.30"))
    found = answer([first, second], ASKED)
    assert (found.tone, found.column) == ("bad", "c2")
    assert found.text == "None of these keeps all that you ask. Nearest is Slicing: k is 1, you ask for 10."
    assert found.more == ("Hardest to keep here is k: none of 2 releases keeps it.",)


def test_a_published_column_that_breaks_the_promise_stands_in_the_way():
    broken = Judged("It fails.", "'fnlwgt', published by decision, finds everybody", (), False)
    found = answer([column("c1", "Mondrian", 0.1, judged=broken)], ASKED)
    assert (found.tone, found.title) == ("bad", "Mondrian")
    assert found.text.endswith(": 'fnlwgt', published by decision, finds everybody.")


def test_which_of_two_columns_of_one_method_is_meant_is_said():
    first, second = column("c1", "Stack & Deal", 0.1), column("c2", "Stack & Deal", 0.2)
    found = answer([replace(first, name="Stack & Deal (refine yes)"), second], ASKED)
    assert found.title == "Stack & Deal (refine yes)"


def test_what_is_not_known_is_not_recommended():
    unknown = column("c1", "Mask", 0.1, mark("t", "unknown", ""))
    assert answer([unknown], ASKED).text.endswith("Nearest is Mask: t cannot be told.")
    pending = replace(unknown, id="c2", title="Incognito", status="pending", quick=None)
    assert answer([pending], ASKED).text == "The releases are being made."
    beside = answer([column("c1", "Mondrian", 0.1), pending], ASKED)
    assert (beside.title, beside.more) == ("Mondrian", ("Still being made: Incognito.",))
    failed = replace(pending, status="failed")
    assert answer([failed], ASKED).text == "None of these releases can be made."
    assert answer([], ASKED).text.startswith("Add a release")
    assert answer([replace(unknown, marks=())], ASKED).text == "Nothing is asked yet: choose k, l or t."


@pytest.mark.parametrize(("value", "text"), [(0.3, "0.30"), (0.301, "0.31"), (0.1 + 0.2, "0.30"), (0.0, "0.00")])
def test_the_most_is_never_rounded_down(value: float, text: str):
    assert upwards(value) == text


def test_what_a_search_found_is_told_only_where_it_loses_less():
    columns = [column("c1", "Mondrian", 0.268)]
    told = "Found: Local suppression keeps all that you ask and loses 13.2%; on the board it will be attacked, too."
    assert answer(columns, ASKED, better=("Local suppression", 0.132)).better == told
    assert answer(columns, ASKED, better=("Local suppression", 0.268)).better == ""
    # Where no column can be published, anything that can is better.
    missed = [column("c1", "Anatomy", 0.01, mark("k", "missed", "1"))]
    assert answer(missed, ASKED, better=("Local suppression", 0.132)).better == told


def test_an_estimate_is_told_as_the_cell_tells_it():
    """A sentence that somebody may sign does not make 93.7% of what lies between 32% and 100%."""
    estimate = {"learned": True, "value": 0.937, "low": 0.32, "high": 1.0, "control": 0.001, "how": "from 12 of 35"}
    slow = {"given": Slow(estimate={**estimate, "too_costly": [0.1]})}
    told = replace(column("c1", "Mondrian", 0.6), slow=slow)
    assert answer([told], ASKED).text.endswith(
        "but at least 32% of the people are given away by foreground knowledge; chance alone gives 0.1%."
    )


def test_what_stands_in_the_way_comes_with_what_mends_it():
    broken = Judged("It fails.", "'fnlwgt', published by decision, finds everybody", (), False, Mend(("fnlwgt",)))
    found = answer([column("c1", "Mondrian", 0.1, judged=broken)], ASKED)
    assert (found.tone, found.mend.text) == ("bad", "leave out 'fnlwgt'")
    # What was read from files keeps the columns that it has.
    read = replace(column("c1", "Mondrian", 0.1, judged=broken), is_opened=True)
    assert answer([read], ASKED).mend.text == ""
    bad = Judged("It fails.", "", ("largest belief 100%", "distance 0.90"), False, Mend((), {"l": 2.0, "t": 0.3}))
    only = column("c1", "Mondrian", 0.1, judged=bad)
    assert answer([only], ASKED).mend.text == "ask for l = 2 and t = 0.3"
    # What is asked already is asked of every release, and the sentence about another matter offers no level.
    kept = replace(only, marks=(mark("k", "kept"), mark("t", "kept", "0.30", "0.30")))
    assert answer([kept], ASKED).mend.text == "ask for l = 2"
    assert answer([replace(only, slow=column("c1", "A", 0.1, given=0.6).slow)], ASKED).mend.text == ""
    assert answer([column("c1", "Mondrian", 0.1)], ASKED).mend.text == ""


def test_where_none_keeps_all_what_would_be_possible_is_told():
    def missed(id: str, title: str, lost: float, t: float | None, **facts: Any) -> Shown:
        return column(
            id, title, lost, mark("k", "kept"), replace(mark("t", "missed", "0.4", "0.30"), possible=t), **facts
        )

    columns = [missed("c1", "Anatomy", 0.1, None), missed("c2", "Slicing", 0.3, 0.42), missed("c3", "Mask", 0.2, 0.36)]
    found = answer(columns, ASKED)
    assert found.more[-1] == "Possible is t = 0.36 instead of 0.30: Mask keeps that and loses 20.0%."
    assert found.mend.levels == {"t": 0.36}
    # Nobody is told to ask for less where something else speaks against what would keep that.
    taught = [columns[0], columns[1], missed("c3", "Mask", 0.2, 0.36, given=0.6)]
    assert answer(taught, ASKED).mend.levels == {"t": 0.42}
    assert answer(columns[:1], ASKED).mend.text == ""


def test_where_no_release_can_be_made_one_says_why():
    failed = replace(column("c1", "Mondrian", 0.1), status="failed", quick=None, problem="k = 100 is not possible.")
    other = replace(failed, id="c2", title="Anatomy", problem="k = 100 is not possible for a table of 24 rows.")
    assert answer([other, failed], ASKED).text == (
        "None of these releases can be made. Mondrian: k = 100 is not possible."
    )
