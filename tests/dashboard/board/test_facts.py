"""What the board says of a release whether or not its method promises what is asked, on tables worked out by hand."""

from dataclasses import replace
from datetime import UTC, datetime
from uuid import uuid4

import pandas as pd
import pytest

from anoncore import Microdata, attacks, utility
from anoncore.algorithms import Anatomy, MarginalSynthesis, Mondrian, Slicing, StackAndDeal, Suppression
from anoncore.algorithms.synthesis import marginal_synthesis
from anoncore.base.progress import silent
from anoncore.requirements import KAnonymity
from dashboard.board import facts
from dashboard.board.grid import model
from dashboard.board.wording import Asked, Shown
from dashboard.session.loaded_table import Tags
from dashboard.session.workspace import Run

ROLES = {"age": "quasi-identifier", "illness": "sensitive"}


def run(algorithm, ages):
    frame = pd.DataFrame({"age": ages, "illness": [("flu", "cold")[place % 2] for place in range(len(ages))]})
    data = Microdata(frame, ROLES)
    release = algorithm.anonymize(data)
    # What is computed of a run is kept under its id.
    return Run(uuid4().hex, "r", algorithm, data, release, 0.0, datetime.now(UTC), 0, "t", Tags())


def k_of(made, k):
    (mark,) = facts.marks(made, [KAnonymity(k=k)])
    return mark


@pytest.mark.parametrize("algorithm", [Anatomy(l=2), Slicing(l=2), Slicing(l=2, requirements=[KAnonymity(k=2)])])
def test_buckets_do_not_hide_whose_row_it_is_where_known_values_are_published(algorithm):
    # Every age is one person's: who knows an age knows the row, however many rows are in its bucket.
    made = run(algorithm, [20, 30, 40, 50, 60, 70])
    assert made.release.fragments[0].partition.sizes.min() >= 2
    mark = k_of(made, 2)
    assert (mark.state, mark.reached) == ("missed", "1")
    assert mark.sentence == (
        f"{algorithm.title} publishes what others know as it is: at worst it fits 1 row, and k-anonymity asks for 2. "
        "The groups hide whose secret it is, not whose row."
    )


def test_the_least_number_of_rows_that_can_be_a_persons_is_told():
    # The ages 20 and 30 are shared by two and by four people.
    made = run(Anatomy(l=2), [20, 20, 30, 30, 30, 30])
    mark = k_of(made, 3)
    assert (mark.state, mark.reached) == ("missed", "2")
    assert "at worst it fits 2 rows" in mark.sentence
    assert k_of(made, 2).state == "met"


def test_generalized_classes_are_judged_by_their_size():
    made = run(Mondrian(requirements=[KAnonymity(k=3)]), [20, 30, 40, 50, 60, 70])
    mark = k_of(made, 3)
    assert (mark.state, mark.reached) == ("kept", "3")


@pytest.mark.parametrize(
    ("algorithm", "is_drawn"),
    [
        (Anatomy(l=2), True),
        (Slicing(l=2), False),
        (Mondrian(requirements=[KAnonymity(k=2)]), False),
        (Suppression(method=StackAndDeal(k=2)), True),
    ],
)
def test_a_method_that_draws_is_known_by_its_seed_or_that_of_the_method_inside(algorithm, is_drawn):
    made = run(algorithm, [20, 30, 40, 50, 60, 70])
    assert facts.quick(made, "illness")["is_drawn"] is is_drawn


def test_a_column_that_takes_long_says_what_it_is_at():
    asked = Asked({"k": 2.0}, 2, "illness", "illness")
    for doing, told in (("", "being made …"), ("Counting with noise", "Counting with noise …")):
        column = Shown("c1", "Marginal synthesis", 0, "synthesis", "pending", doing=doing)
        rows = model([column], asked, True)["rows"]
        assert next(row["cells"][0]["why"] for row in rows if row["id"] == "promise") == told


def test_an_epsilon_is_promised_and_never_called_kept(monkeypatch):
    monkeypatch.setattr(marginal_synthesis, "why_missing", lambda *needed: "")
    monkeypatch.setattr(marginal_synthesis, "generated", lambda cells, order, progress: cells[::-1])
    made = run(MarginalSynthesis(epsilon=0.5, delta=0.0), [20, 30, 40, 50, 60, 70])
    quick, marks = facts.quick(made, "illness"), facts.marks(made, [KAnonymity(k=2)])
    (told,) = quick["promised"]
    assert told["words"] == "epsilon = 0.5"
    assert "No table can show an epsilon" in told["sentence"]
    assert [mark.state for mark in marks] == ["unknown"]
    column = Shown("c1", made.title, 0, "synthesis", "ready", "", marks, quick, {})
    rows = model([column], Asked({"k": 2.0}, 2, "illness", "illness"), True)["rows"]
    (cell,) = next(row["cells"] for row in rows if row["id"] == "promise")
    assert [(one["symbol"], one["state"], one["words"]) for one in cell["promises"]] == [
        ("promised:", "promised", "epsilon = 0.5"),
        ("k", "unknown", "cannot be told"),
    ]
    # Where nothing is asked of groups, the promise stands alone.
    (alone,) = next(
        row["cells"]
        for row in model([replace(column, marks=())], Asked({}, 2, None, None), True)["rows"]
        if row["id"] == "promise"
    )
    assert len(alone["promises"]) == 1
    assert "sub" not in alone
    assert alone["text"] == ""


def test_attacks_that_were_tried_are_named():
    made = run(Anatomy(l=2, seed=7), list(range(20, 60)))
    found = facts.by_the_strongest(made.release, "illness", 2, progress=silent)
    assert {"deFinetti's attack", "single groups"} <= set(found["attacks"])
    assert "knowing the method" not in found["attacks"], "what Anatomy refused is not followed"
    assert len(found["attacks"]) == found["tried"]


def test_an_attack_that_gets_more_than_the_strongest_is_told_beside_it(monkeypatch):
    """Foreground knowledge has a number of its own, so that it is of no use here."""
    made = run(Anatomy(l=2, seed=7), list(range(20, 60)))
    found = attacks.strongest(made.release, "illness", aims=("attribute",), draws=1)
    best = found.attribute
    others = [replace(best, name=name, title=name, gain=0.0) for name in ("foreground_knowledge", "a", "b")]
    shares = zip(others, (best.share + 0.3, best.share + 0.2, best.share + 0.1), strict=True)
    tried = (best, *(replace(one, share=share, control=share) for one, share in shares))
    monkeypatch.setattr(attacks, "strongest", lambda *given, **named: replace(found, tried=tried))
    larger = facts.by_the_strongest(made.release, "illness", 2, progress=silent)["larger"]
    assert larger == {"title": "a", "value": best.share + 0.2, "control": best.share + 0.2}
    monkeypatch.setattr(attacks, "strongest", lambda *given, **named: replace(found, tried=tried[:2]))
    assert "larger" not in facts.by_the_strongest(made.release, "illness", 2, progress=silent)


def test_four_further_draws_are_other_releases_and_tell_between_which_numbers_they_lie(monkeypatch):
    made, drawn, given = run(Anatomy(l=2, seed=7), list(range(20, 60))), [], [0.3, 0.5, 0.1, 0.4]

    def about(release, secret, r, progress):
        drawn.append(release)
        return {"learned": True, "value": given[len(drawn) - 1]}

    monkeypatch.setattr(facts, "about_given_away", about)
    found = facts.of_other_draws(made.release, "illness", 2, None, progress=silent)
    assert found == {"given": [0.1, 0.5]}
    assert [release.algorithm.seed for release in drawn] == [8, 9, 10, 11]
    assert len({tuple(release.partition.group) for release in (made.release, *drawn)}) == 5
    # Where one of them could not be measured, they do not tell how far all lie apart.
    monkeypatch.setattr(
        facts, "about_given_away", lambda release, *_: {"learned": release.algorithm.seed != 9, "value": 0.2}
    )
    assert facts.of_other_draws(made.release, "illness", 2, None, progress=silent) == {}
    # A method that draws nothing at random has no other release.
    plain = run(Mondrian(requirements=[KAnonymity(k=3)]), [20, 30, 40, 50, 60, 70])
    assert facts.of_other_draws(plain.release, "illness", 2, None, progress=silent) == {}
    assert len(drawn) == 4


def test_the_least_that_can_be_lost_is_told_of_classes_and_worked_out_once_for_a_table(monkeypatch):
    counted = []
    real = utility.least_loss
    monkeypatch.setattr(utility, "least_loss", lambda *given: counted.append(given[1]) or real(*given))
    made = run(Mondrian(requirements=[KAnonymity(k=3)]), [20, 21, 22, 40, 41, 42])
    # Both classes span 2 of 22 years, and no three people span less.
    assert facts.least_lost(made.release, 3, silent) == {"bound": pytest.approx(2 / 22)}
    assert facts.quick(made, "illness")["lost"]["information"] == pytest.approx(2 / 22)
    again = Mondrian(requirements=[KAnonymity(k=6)]).anonymize(made.data)
    assert facts.least_lost(again, 3, silent) == {"bound": pytest.approx(2 / 22)}
    assert counted == [3]
    # It is about classes of so many rows that share their cells, and about nothing else.
    assert facts.least_lost(made.release, 4, silent) == {}
    buckets = run(Anatomy(l=2), [20, 30, 40, 50, 60, 70])
    assert facts.least_lost(buckets.release, 2, silent) == {}
    assert "information" not in facts.quick(buckets, "illness")["lost"]
