"""What the table on the board says of facts, without a page."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from anoncore.attacks.strongest import _ATTACKS
from dashboard.board.answer import answer
from dashboard.board.facts import SIZE_EDGES, Judged, Mark, Slow, histogram
from dashboard.board.grid import model
from dashboard.board.wording import DRAWN, MEANINGS, ROWS, Asked, Shown

KEPT = (Mark("k", "kept", "10", "Everybody hides among 9 others.", "10"),)
SAFE = {"given": Slow(exact={"learned": True, "value": 0.1, "control": 0.1})}
MISSED = (Mark("k", "missed", "3", "A group has 3 people.", "10"),)


def quick(lost=0.2, sizes=(0.0, 0.0, 1.0), largest=0.4, is_drawn=False):
    return {
        "groups": 1200,
        "word": "group",
        "smallest": 3,
        "median": 4,
        "sizes": list(sizes),
        "distance": {"largest": largest, "mean": 0.1, "curve": [0.0, largest], "ground": "equal"},
        "lost": {"value": lost, "names": ["age", "town"], "means": [lost, lost / 2]},
        "belief": {"largest": 0.5, "truth": 0.2, "guess": 0.1, "above": {"2": 0.0}},
        "is_drawn": is_drawn,
    }


def column(id="c1", marks=KEPT, status="ready", facts=None, slow=None, problem=""):
    return Shown(id, "Mondrian", 0, "generalization", status, problem, marks, facts or quick(), slow or {})


def asked(**changes):
    return Asked({"k": 10.0, "t": 0.3}, 2, "illness", "illness", **changes)


def cells(columns, row, **changes):
    found = model(columns, asked(**changes), True)
    return next(one for one in found["rows"] if one["id"] == row)


def test_every_row_has_one_scale_for_all_its_cells():
    columns = [column("c1", facts=quick(largest=0.9)), column("c2", facts=quick(largest=0.1, lost=0.6))]
    assert cells(columns, "distance")["axis"] == {"most": 0.9, "line": 0.3}
    assert cells(columns, "lost")["axis"]["most"] == 0.6
    wide = [column("c1", facts=quick(sizes=(0, 1.0))), column("c2", facts=quick(sizes=(0, 0, 0, 0, 0, 0.5, 0.5)))]
    axis = cells(wide, "hides")["axis"]
    # From groups of 2 (place 1) to groups of 50 and more (place 6), with k = 10 where its bin begins.
    assert (axis["first"], len(axis["bins"]), axis["line"]) == (1, 6, 4)


def test_where_nothing_can_be_predicted_the_cell_says_so_and_waits_for_nothing():
    for secret, way in (("illness", " Choose another attribute under 'Adversary and rows'."), (None, "")):
        row = next(
            one
            for one in model([column()], Asked({"k": 10.0}, 2, secret, None), True)["rows"]
            if one["id"] == "predictable"
        )
        why = f"Nothing can be predicted: no column that others know has 2 to 20 values.{way}"
        assert row["cells"] == [{"state": "failed", "why": why}]
        assert "None" not in row["help"] + row["meaning"]


def test_a_distance_has_the_digits_of_its_mark():
    """With t = 0.165 asked, 1/6 is missed, which two decimals would not say."""
    far = column(facts=quick(largest=1 / 6))
    assert cells([far], "distance")["cells"][0]["text"] == "0.17"
    narrow = model([far], replace(asked(), levels={"t": 0.165}), True)
    assert next(one for one in narrow["rows"] if one["id"] == "distance")["cells"][0]["text"] == "0.167"


def test_the_most_that_can_be_lost_is_told_as_such_and_is_no_price():
    bound = {"at_most": 0.12, "names": ["age", "town"], "means": [0.06, 0.12], "uncounted": []}
    bounded = column("c2", facts={**quick(), "lost": bound})
    (cell,) = cells([bounded], "lost")["cells"]
    assert (cell["state"], cell["text"]) == ("bound", "at most 12.0%")
    assert cell["alt"] == "at most 12.0% lost; most in town 12.0%, age 6.0%"
    assert cell["sub"] == "worst: town; the original is not here, and it may be less"
    assert (cell["names"], cell["bars"]) == (["town", "age"], [0.12, 0.06])
    unknown = {**bound, "uncounted": ["age", "town", "job", "pay"]}
    (cell,) = cells([column("c2", facts={**quick(), "lost": unknown})], "lost")["cells"]
    assert cell["sub"].endswith(
        "; cells of age, town, job and 1 more that may allow any number of values count as lost"
    )


def test_a_k_between_two_edges_is_drawn_between_them():
    assert SIZE_EDGES[4:6] == (10, 20)
    axis = cells([column()], "hides") and model([column()], Asked({"k": 15.0}, 2, "illness", "illness"), True)
    hides = next(row for row in axis["rows"] if row["id"] == "hides")
    assert hides["axis"]["line"] == pytest.approx(4.5)


def test_a_column_is_never_green_when_something_asked_is_missing():
    heads = model([column("c1", MISSED), column("c2", slow=SAFE), column("c3", ())], asked(), True)["columns"]
    assert [(head["tone"], head["badge"]) for head in heads] == [
        ("bad", "Misses k"),
        ("good", "Keeps all that is asked"),
        ("plain", "Nothing was asked"),
    ]
    unknown = column("c1", (Mark("t", "unknown", "", "It cannot be told.", "0.30"),))
    assert model([unknown], asked(), True)["columns"][0]["tone"] == "plain"


def test_how_a_promise_fares_is_said_with_what_is_reached_and_asked():
    met = (Mark("l", "met", "5", "It does not promise this.", "3"),)
    of_people = (Mark("l", "kept", "3", "Nobody is believed to be ill by more.", "3", of_people=True),)
    words = [
        cell["promises"][0]["words"]
        for cell in cells([column(marks=marks) for marks in (KEPT, MISSED, met, of_people)], "promise")["cells"]
    ]
    assert words == [
        "is 10",
        "is 3 (asked: 10)",
        "is 5 (3 is enough)",
        "is 3 for each person",
    ]
    # Whether its method promises it is no reason against a release: the head says the same.
    heads = model([column(marks=met), column()], asked(), True)["columns"]
    assert [head["badge"] for head in heads] == ["Keeps all that is asked"] * 2


def test_the_column_that_the_answer_names_is_marked_and_no_other():
    columns = [
        column("c1", MISSED, facts=quick(lost=0.0)),
        column("c2", facts=quick(lost=0.3), slow=SAFE),
        column("c3", facts=quick(lost=0.2), slow=SAFE),
    ]

    def marked(columns):
        heads = model(columns, asked(), True, best=answer(columns, asked()))["columns"]
        return [(head["isBest"], head["badge"]) for head in heads]

    others = [(False, "Misses k"), (False, "Keeps all that is asked")]
    assert marked(columns) == [*others, (True, "Keeps all that is asked, loses least")]
    # Alone it need not lose least, and where none is to be published none is marked.
    assert marked(columns[:2]) == [others[0], (True, "Keeps all that is asked")]
    given = {"given": Slow(exact={"learned": True, "value": 0.5, "control": 0.1})}
    assert not any(is_best for is_best, _ in marked([columns[0], replace(columns[1], slow=given)]))
    assert not any(head["isBest"] for head in model(columns, asked(), True)["columns"])


CHANCE = {"learned": True, "guess": 0.0, "control": 0.001, "excess": 0.09}
"""What stands beside every share of people given away."""


def test_an_estimate_is_marked_and_gives_way_to_the_exact_number():
    estimate = {"value": 0.094, "low": 0.088, "high": 0.1, **CHANCE, "how": "from 2,000 people"}
    first = cells([column(slow={"given": Slow(estimate=estimate)})], "given")["cells"][0]
    assert (first["state"], first["text"], first["interval"]) == ("estimate", "≈ 9.4% ± 0.6", [0.088, 0.1])
    assert (first["beside"], first["sub"]) == ("by chance 0.1%", "estimate from 2,000 people; the exact number follows")
    assert first["alt"] == "about 9.4%, with 95% confidence between 8.8% and 10.0%, estimated from 2,000 people"
    both = Slow(estimate=estimate, exact={"value": 0.0931, **CHANCE})
    then = cells([column(slow={"given": both})], "given")["cells"][0]
    assert (then["state"], then["text"], then["interval"]) == ("exact", "9.3%", None)
    assert (then["beside"], then["sub"]) == ("by chance 0.1%", "by foreground knowledge")
    assert (then["from"], then["value"]) == (0.001, 0.0931)


def test_a_table_too_small_to_learn_from_does_not_say_zero():
    nothing = Slow(exact={"learned": False, "guess": 0.0})
    cell = cells([column(slow={"given": nothing})], "given")["cells"][0]
    assert cell == {"state": "failed", "why": "Not measured: the table is too small for this certainty."}
    cell = cells([column(slow={"given": nothing, "strongest": Slow(exact=DEFINETTI)})], "given")["cells"][0]
    assert (cell["text"], cell["beside"], cell["sub"], cell["full"]) == (
        "at least 40.0%",
        "by chance 20.0%",
        "by deFinetti's attack, the strongest of 3 attacks tried; foreground knowledge: too small a table",
        "by chance 20.0%; by deFinetti's attack, the strongest of 3 attacks tried; foreground knowledge: the table is "
        "too small for this certainty",
    )


DEFINETTI = {"title": "deFinetti's attack", "value": 0.4, "control": 0.2, "is_foreground": False, "tried": 3}


def test_the_number_of_the_strongest_of_all_attacks_is_told():
    exact = Slow(exact={"value": 0.0931, **CHANCE})
    first = {**DEFINETTI, "is_estimate": True}
    strongest = "strongest of 3 attacks tried"
    by = f"by deFinetti's attack, the {strongest}; by foreground knowledge 9.3%, 0.1% by chance"
    by_foreground = {**DEFINETTI, "title": "foreground knowledge", "is_foreground": True}
    for best, text, named, chance, at_length, value in (
        (DEFINETTI, "40.0%", f"by deFinetti's attack, the {strongest}", "20.0%", f"; {by}", 0.4),
        (first, "about 40.0%", f"by deFinetti's attack, the {strongest}", "20.0%", f"; {by}", 0.4),
        (
            by_foreground,
            "9.3%",
            f"by foreground knowledge, the {strongest}",
            "0.1%",
            f"; this is the {strongest}",
            0.0931,
        ),
        ({}, "9.3%", "by foreground knowledge", "0.1%", "", 0.0931),
    ):
        slow = {"given": exact, "strongest": Slow(exact=best)}
        cell = cells([column(slow=slow)], "given")["cells"][0]
        assert (cell["text"], cell["sub"], cell["value"]) == (text, named, value)
        assert (cell["beside"], cell["full"]) == (f"by chance {chance}", f"by chance {chance}{at_length}")
    # It is drawn from what the same attack gets by chance, and the other draws are of the attack that is not told.
    slow = {"given": exact, "strongest": Slow(exact=DEFINETTI), "draws": Slow(exact={"given": [0.05, 0.2]})}
    drawn = cells([column(slow=slow, facts={**quick(), "is_drawn": True})], "given")["cells"][0]
    assert (drawn["from"], drawn["marks"][0][0], "draws" in drawn["sub"]) == (0.2, 0.2, False)


def test_the_scale_of_what_is_given_away_has_room_for_what_the_strongest_attack_gets():
    """Else a dot stands at the end of a scale that ends below its number."""
    given = {"given": Slow(exact={**CHANCE, "value": 0.015}), "strongest": Slow(exact=DEFINETTI)}
    assert cells([column(slow=given)], "given")["axis"]["most"] >= DEFINETTI["value"]
    alone = {"given": Slow(problem="It failed."), "strongest": Slow(exact=DEFINETTI)}
    assert cells([column(slow=alone)], "given")["axis"]["most"] >= DEFINETTI["value"]


def test_a_column_says_which_attack_on_another_one_was_not_made_on_it():
    """Else nobody would know why the strongest is one of four here and one of three there."""
    given = Slow(exact={"value": 0.0931, **CHANCE})
    three = ["foreground knowledge", "deFinetti's attack", "single groups"]

    def of(attacks, **changes):
        best = {**DEFINETTI, "tried": len(attacks), "attacks": attacks, **changes}
        return {"given": given, "strongest": Slow(exact=best)}

    columns = [
        column("c1", slow=of([*three, "knowing the method"])),
        column("c2", slow=of(three)),
        column("c3", slow=of(three, is_foreground=True)),
        column("c4", slow=of(three, is_estimate=True)),
        column("c5", slow=of(["deFinetti's attack"])),
        column("c6"),
    ]
    *subs, waiting = (cell.get("sub") for cell in cells(columns, "given")["cells"])
    assert [sub.partition("; ")[2] for sub in subs] == [
        "",
        "not tried: knowing the method",
        "not tried: knowing the method",
        "still to come: knowing the method",
        "not tried: single groups and knowing the method",
    ]
    assert waiting is None
    # Where none was made anywhere, there is nothing to say.
    assert [cell["sub"] for cell in cells(columns[1:3], "given")["cells"]] == [
        "by deFinetti's attack, the strongest of 3 attacks tried",
        "by foreground knowledge, the strongest of 3 attacks tried",
    ]


def test_nothing_found_by_one_attack_is_not_said_where_another_found_more():
    nothing = Slow(exact={"value": 0.0, **CHANCE, "sets": [120, 120], "too_costly": [0.05]})
    for best, told in ((DEFINETTI, "at least 40.0%"), ({}, "0% by what was tried")):
        slow = {"given": nothing, "strongest": Slow(exact=best)}
        assert cells([column(slow=slow)], "given")["cells"][0]["text"] == told
    # Where the attack that takes most knowledge could not be made, 0% of another one is no measure of safety either.
    none = {**DEFINETTI, "value": 0.0, "control": 0.0}
    for given in (Slow(problem="No groups are shared."), Slow(exact={"learned": False, "guess": 0.0})):
        for known in (Slow(exact=none), Slow(estimate={**none, "is_estimate": True})):
            cell = cells([column(slow={"given": given, "strongest": known})], "given")["cells"][0]
            assert cell["text"] == "0% by what was tried"


def test_the_strongest_attack_hides_no_larger_share_of_another_one():
    """It lies farthest above chance, and the other one may give away more people, most of them by chance."""
    larger = Slow(exact={"learned": True, "value": 0.5, "guess": 0.0, "control": 0.45, "excess": 0.05})
    cell = cells([column(slow={"given": larger, "strongest": Slow(exact=DEFINETTI)})], "given")["cells"][0]
    assert cell["text"] == "at least 40.0%"
    assert cell["sub"].endswith("; foreground knowledge 50.0%, by chance 45.0%")
    assert cell["full"].endswith("by foreground knowledge 50.0%, 45.0% by chance")
    # So may one of the others, beside whichever is told.
    larger = {"larger": {"title": "single groups", "value": 0.6, "control": 0.59}}
    told = "single groups 60.0%, by chance 59.0%"
    small = Slow(exact={"value": 0.0931, **CHANCE})
    by_foreground = {**DEFINETTI, "title": "foreground knowledge", "is_foreground": True}
    for best, text in ((DEFINETTI, "at least 40.0%"), (by_foreground, "at least 9.3%")):
        slow = {"given": small, "strongest": Slow(exact={**best, **larger})}
        cell = cells([column(slow=slow)], "given")["cells"][0]
        assert cell["text"] == text
        assert told in cell["sub"]
        assert told in cell["full"]


def test_an_estimate_is_told_as_what_can_be():
    """97% and 5 percentage points more would be more than everybody, and of 100% there is no more."""
    high = {"value": 0.97, "low": 0.92, "high": 1.0, **CHANCE, "how": "from 2,000 people"}
    limited = {"too_costly": [0.1]}
    for estimate, told in (
        (high, "92 to 100%"),
        (high | limited, "at least 92%"),
        (high | {"value": 0.1, "low": 0.0, "high": 0.3} | limited, "0 to 30% by what was tried"),
    ):
        cell = cells([column(slow={"given": Slow(estimate=estimate)})], "given")["cells"][0]
        assert cell["text"] == told


def test_chance_is_told_beside_nothing_only_where_it_gets_something():
    for chance, beside in ((0.0, None), (0.02, "by chance 2.0%")):
        best = {**DEFINETTI, "value": 0.0, "control": chance}
        slow = {"given": Slow(problem="No groups."), "strongest": Slow(exact=best)}
        assert cells([column(slow=slow)], "given")["cells"][0].get("beside") == beside


def test_where_the_attack_does_not_apply_the_strongest_that_does_is_told():
    single = {**DEFINETTI, "title": "single groups", "tried": 1}
    slow = {
        "given": Slow(problem="The fragments have partitions of their own."),
        "strongest": Slow(exact=single),
    }
    cell = cells([column(slow=slow)], "given")["cells"][0]
    assert (cell["text"], cell["sub"], cell["full"]) == (
        "at least 40.0%",
        "by single groups, the only attack that applies; foreground knowledge cannot be tried",
        "by chance 20.0%; by single groups, the only attack that applies; foreground knowledge: The fragments have "
        "partitions of their own",
    )


def test_an_attack_with_some_of_the_attribute_sets_says_at_least():
    exact = {"value": 0.0931, **CHANCE, "sets": [40, 120]}
    cell = cells([column(slow={"given": Slow(exact=exact)})], "given")["cells"][0]
    assert (cell["text"], cell["alt"]) == ("at least 9.3%", "at least 9.3%")
    assert cell["sub"] == "by foreground knowledge (in part)"
    assert cell["full"] == "by chance 0.1%; from 40 of 120 attribute sets"


@pytest.mark.parametrize(
    ("share", "told"), [(0.0002, "less than 0.1% by what was tried"), (0.99996, "more than 99.9%"), (1.0, "100%")]
)
def test_a_share_that_is_told_as_a_bound_gets_no_second_one(share: float, told: str) -> None:
    limited = Slow(exact={"value": share, **CHANCE, "sets": [40, 120]})
    another = Slow(exact={**DEFINETTI, "value": share, "control": 0.0})
    for slow in ({"given": limited}, {"given": Slow(problem="No groups."), "strongest": another}):
        assert cells([column(slow=slow)], "given")["cells"][0]["text"] == told


def test_an_attack_that_left_epsilons_out_says_from_which_on():
    exact = {"value": 0.0, **CHANCE, "sets": [120, 120], "too_costly": [0.05, 0.1, 0.2]}
    cell = cells([column(slow={"given": Slow(exact=exact)})], "given")["cells"][0]
    assert (cell["text"], cell["alt"]) == ("0% by what was tried",) * 2
    assert cell["sub"] == "by foreground knowledge (in part)"
    assert cell["full"] == "by chance 0.1%; stronger forms of it take too long here (epsilon from 0.05 on)"


def test_an_estimate_says_from_which_epsilon_on_nothing_will_be_tried():
    estimate = {"value": 0.094, "low": 0.088, "high": 0.1, **CHANCE, "how": "from 12 of 78 attribute sets"}
    slow = {"given": Slow(estimate=estimate | {"too_costly": [0.05, 0.1, 0.2]})}
    cell = cells([column(slow=slow)], "given")["cells"][0]
    assert cell["text"] == "at least ≈ 9.4% ± 0.6"
    assert cell["alt"].startswith("at least about 9.4%, with 95% confidence between")
    assert "stronger forms of it take too long here (epsilon from 0.05 on)" in cell["full"]


def test_a_number_of_a_method_that_draws_says_that_another_draw_gives_another():
    """What is given away of a drawn release is told of one draw; an estimate says first what it is from."""
    estimate = {"value": 0.094, "low": 0.088, "high": 0.1, **CHANCE, "how": "from 2,000 people"}
    exact = {"value": 0.0931, **CHANCE}
    drawn = quick(is_drawn=True)
    found = cells([column(facts=drawn, slow={"given": Slow(exact=exact)})], "given")["cells"][0]
    assert found["sub"] == f"by foreground knowledge; {DRAWN}"
    assert found["marks"] == [[0.001, "by chance 0.1%: the same attack on shuffled secrets"]]
    others = {"given": Slow(exact=exact), "draws": Slow(exact={"given": [0.0604, 0.1207]})}
    spread = cells([column(facts=drawn, slow=others)], "given")["cells"][0]
    assert (spread["sub"], spread["full"]) == (
        "by foreground knowledge; drawn at random: five releases give ≈ 6.0 to 12.1%",
        "by chance 0.1%; drawn at random: five releases give ≈ 6.0 to 12.1%",
    )
    # The number in the cell is one of the five, whichever way the others lie.
    others["draws"] = Slow(exact={"given": [0.12, 0.13]})
    assert cells([column(facts=drawn, slow=others)], "given")["cells"][0]["sub"].endswith(
        "drawn at random: five releases give ≈ 9.3 to 13.0%"
    )
    others["draws"] = Slow(exact={"given": [0.0929, 0.0931]})
    assert cells([column(facts=drawn, slow=others)], "given")["cells"][0]["sub"].endswith(
        "drawn at random: five releases give ≈ 9.3%"
    )
    assert cells([column(slow=others)], "given")["cells"][0]["full"] == "by chance 0.1%", "it draws nothing"
    early = cells([column(facts=drawn, slow={"given": Slow(estimate=estimate)})], "given")["cells"][0]
    assert early["full"] == "by chance 0.1%; estimate from 2,000 people; the exact number follows"


@pytest.mark.parametrize(
    ("value", "low", "high", "text"),
    [
        (0.07, 0.0, 0.165, "0 to 17%"),
        (0.094, 0.078, 0.11, "≈ 9% ± 2"),
        (0.094, 0.09, 0.098, "≈ 9.4% ± 0.4"),
        (0.06, 0.04, 0.105, "4 to 11%"),
        (0.0, 0.0, 0.002, "0.0 to 0.2%"),
        (0.7, 0.63, 0.77, "≈ 70% ± 7"),
        (1.0, 0.94, 1.0, "94 to 100%"),
    ],
)
def test_an_estimate_has_the_digits_that_its_interval_allows(value, low, high, text):
    estimate = {"value": value, "low": low, "high": high, **CHANCE, "how": "from 64 of 385 attribute sets"}
    assert cells([column(slow={"given": Slow(estimate=estimate)})], "given")["cells"][0]["text"] == text


@pytest.mark.parametrize(
    ("value", "low", "high", "text"), [(0.266, 0.253, 0.279, "≈ 0.27 ± 0.02"), (0.266, 0.26, 0.272, "≈ 0.266 ± 0.006")]
)
def test_an_estimated_score_has_them_too(value, low, high, text):
    scale = {"guess": 0.03, "original": 0.31}
    estimate = {"value": value, "low": low, "high": high, "how": "from 3 of 10 trainings", **scale}
    cell = cells([column(slow={"predictable": Slow(estimate=estimate)})], "predictable")["cells"][0]
    assert (cell["text"], cell["sub"]) == (text, "estimate from 3 of 10 trainings; the exact number follows")


@pytest.mark.parametrize(
    ("shares", "most", "end"),
    [
        ((), 1.0, "100%"),
        ((0.0, 0.004), 0.02, "2%"),
        ((0.141, 0.002), 0.2, "20%"),
        ((0.2, 0.1), 0.2, "20%"),
        ((0.95,), 1.0, "100%"),
    ],
)
def test_shares_of_people_have_a_scale_in_which_small_ones_differ(shares, most, end):
    columns = [
        column(f"c{place}", slow={"given": Slow(exact={**CHANCE, "value": share})})
        for place, share in enumerate(shares)
    ]
    assert cells(columns or [column()], "given")["axis"] == {"most": most, "low": "0", "high": end}


def test_the_scale_of_shares_has_room_for_the_interval_of_an_estimate():
    estimate = {"value": 0.19, "low": 0.17, "high": 0.21, **CHANCE, "how": "from 2,000 people"}
    assert cells([column(slow={"given": Slow(estimate=estimate)})], "given")["axis"]["most"] == 0.5


def test_what_is_not_there_yet_or_failed_says_so():
    assert cells([column()], "given")["cells"][0] == {"state": "pending", "why": "being attacked …"}
    failed = Slow(problem="There is no such attack.")
    assert cells([column(slow={"given": failed})], "given")["cells"][0]["why"] == "There is no such attack."
    refused = column(status="failed", problem="k = 90 is not possible.")
    assert cells([refused], "promise")["cells"][0] == {"state": "failed", "why": "k = 90 is not possible."}
    assert model([refused], asked(), True)["columns"][0]["badge"] == "No release"


def test_rows_can_be_folded_away_and_rows_about_secrets_need_one():
    shown = [row["id"] for row in model([column()], asked(hidden=("lost",)), True)["rows"]]
    assert shown == [name for name in ROWS if name != "lost"]
    none = model([column()], Asked({"k": 2.0}, 2, None, "age"), True)
    assert {"distance", "given"}.isdisjoint(row["id"] for row in none["rows"])


def test_buckets_hide_secrets_and_classes_hide_people():
    """A bucket publishes what is known of its people as it is, so nobody hides among its people."""
    columns = [column("c1"), column("c2", facts={**quick(), "word": "bucket"})]
    classes, buckets = cells(columns, "hides")["cells"]
    assert (classes["text"], classes["sub"]) == ("3 or more people", "half among 4 or more; 1,200 groups")
    assert (buckets["text"], buckets["sub"]) == (
        "3 or more secrets",
        "whose row is whose is seen, only the secret hides; 1,200 groups",
    )
    assert buckets["full"] == "whose row is whose is seen, only the secret hides; half among 4 or more; 1,200 groups"


def test_what_l_does_not_bound_is_said_where_an_l_is_asked_for():
    """It bounds what one group tells, and a reader combines all of them."""
    for levels, is_said in (({"k": 10.0, "l": 3.0}, True), ({"k": 10.0}, False)):
        rows = model([column()], Asked(levels, 2, "illness", "illness"), True)["rows"]
        help = next(row["help"] for row in rows if row["id"] == "given")
        assert "from all groups together" in help
        assert ("(l limits one group alone)" in help) is is_said


def test_sizes_are_counted_by_people():
    # Two people alone, four in groups of two, twelve in a group of twelve.
    sizes = np.array([1] * 2 + [2] * 4 + [12] * 12)
    assert histogram(sizes) == pytest.approx([2 / 18, 4 / 18, 0, 0, 12 / 18], abs=1e-6)


def judged(breaking="", not_asked=()):
    return Judged("The verdict in a sentence.", breaking, not_asked, is_good=not breaking and not not_asked)


def test_a_column_that_breaks_the_promise_stands_in_the_first_line_and_is_no_best():
    breaking = "'fnlwgt', published by decision, finds everybody: 9 of 9 rows lie in groups of fewer than k = 10"
    broken = replace(column("c1", facts=quick(lost=0.1)), judged=judged(breaking))
    head, good = model([broken, replace(column("c2"), judged=judged())], asked(), True)["columns"]
    assert (head["badge"], head["tone"]) == (f"Keeps all that is asked over what is known; {breaking}", "bad")
    assert head["verdict"] == "The verdict in a sentence."
    # It loses less than the other, but does not keep what is asked.
    assert good["badge"] == "Keeps all that is asked"
    missed = replace(column("c1", MISSED), judged=judged(breaking))
    assert model([missed], asked(), True)["columns"][0]["badge"] == f"Misses k; {breaking}"


def test_what_an_attack_gives_away_takes_the_green_away():
    """The answer does not name such a release, so its head is not green either; of one that misses k that is said.

    Where one person has several rows, these are what the attack gives shares of.
    """
    given = {"given": Slow(exact={"learned": True, "value": 0.5, "control": 0.1})}
    heads = model([column("c1", slow=given), column("c2", MISSED, slow=given)], asked(attacked="rows"), True)["columns"]
    words = "Keeps all that is asked, but 50.0% of the rows are given away by foreground knowledge"
    assert [(head["badge"], head["tone"]) for head in heads] == [(words, "warn"), ("Misses k", "bad")]
    few = {"given": Slow(exact={"learned": True, "value": 0.14, "control": 0.1})}
    assert model([column("c1", slow=few)], asked(), True)["columns"][0]["tone"] == "good"


def test_a_head_is_green_only_once_it_is_known_what_is_given_away():
    """The worse end of an estimate counts, not its middle, which is the same in both here."""

    def head(slow, secret="illness"):
        (found,) = model([column("c1", slow=slow)], replace(asked(), secret=secret), True)["columns"]
        return found["badge"], found["tone"]

    words = "Keeps all that is asked"
    estimate = {"learned": True, "value": 0.13, "control": 0.1, "how": "from 12 of 35"}
    assert head({}) == (words, "plain")
    assert head({}, secret=None) == (words, "good")
    narrow, wide = ({**estimate, "low": 0.13 - margin, "high": 0.13 + margin} for margin in (0.01, 0.04))
    assert head({"given": Slow(estimate=narrow)}) == (words, "good")
    assert head({"given": Slow(estimate=wide)}) == (
        f"{words}, but ≈ 13% ± 4 of the people may be given away by foreground knowledge",
        "plain",
    )


def test_a_head_is_not_green_while_only_rows_were_counted():
    """A group of ten rows may be one person's."""
    given = {"given": Slow(exact={"learned": True, "value": 0.1, "control": 0.1})}
    for people, expected in (
        ("people", ("Keeps all that is asked", "good")),
        ("rows", ("Keeps all that is asked, counted by rows only", "plain")),
    ):
        (head,) = model([column("c1", slow=given)], asked(people=people), True)["columns"]
        assert (head["badge"], head["tone"]) == expected


def test_what_nobody_asked_for_and_fails_badly_takes_the_green_away():
    found = replace(column("c1"), judged=judged(not_asked=("largest belief 100%",)))
    head, _ = model([found, column("c2", facts=quick(lost=0.6))], asked(), True)["columns"]
    words = "Keeps all that is asked; not asked for, and not protected: largest belief 100%"
    assert (head["badge"], head["tone"]) == (words, "warn")


def test_rows_are_called_people_only_where_they_are():
    for people, person in (("people", "person"), ("rows", "row")):
        mark = replace(KEPT[0], of_people=True)
        found = model([column("c1", (mark,))], asked(people=people, attacked=people), True)
        rows = {row["id"]: row for row in found["rows"]}
        assert found["people"] == people
        assert rows["promise"]["cells"][0]["promises"][0]["words"] == f"is 10 for each {person}"
        assert rows["hides"]["cells"][0]["text"] == f"3 or more {people}"
        assert rows["hides"]["cells"][0]["sub"] == "half among 4 or more; 1,200 groups"
        assert rows["hides"]["help"] == f"{people} by size of group; dashed: your k"
        assert rows["hides"]["meaning"].startswith(f"Bars: {people} by the size of their group")
        assert rows["given"]["meaning"].startswith(f"{people.capitalize()} whose true secret")


@pytest.mark.parametrize(("value", "is_said"), [(0.731, False), (0.752, True), (0.6, False)])
def test_a_release_that_teaches_more_than_the_original_says_why(value: float, is_said: bool) -> None:
    slow = {"predictable": Slow(exact={"value": value, "original": 0.7349, "guess": 0.38})}
    told = cells([column(slow=slow)], "predictable")["cells"][0]["sub"]
    assert told.startswith("original table 0.73, guessing 0.38")
    assert ("keep a tree from learning noise" in told) is is_said


def test_what_an_attack_does_is_told_on_hovering_over_its_name():
    """Readers do not know what foreground knowledge or deFinetti's attack is."""
    needs_more = {"both releases together", "inference", "reconstruction"}
    assert {one.title for one in _ATTACKS if one.aim == "attribute"} - needs_more == set(MEANINGS)
    (told,) = cells([column(slow=SAFE)], "given")["cells"]
    assert told["hover"].startswith("foreground knowledge: learns from all groups")
