"""Which of several releases to publish: worked by hand on a small table."""

from __future__ import annotations

import pandas as pd
import pytest

from anoncore import (
    Exact,
    Fragment,
    Generalized,
    Microdata,
    ParameterError,
    Partition,
    Release,
    attacks,
    privacy,
    utility,
)
from anoncore.algorithms import Anatomy, Mondrian
from anoncore.base.shared_work import kept_results
from anoncore.base.texts import share_text
from anoncore.measures import answer, verdict
from anoncore.measures.answer import farthest
from anoncore.measures.promise_marks import marks, unpromised
from anoncore.requirements import DistinctDiversity, FrequencyDiversity, KAnonymity, Requirement, TCloseness

ROLES = {"age": "quasi-identifier", "illness": "sensitive"}


def people(n: int = 24) -> Microdata:
    """People of as many ages; the older half has coughs where the younger has flus."""
    young, old = ("flu", "cold", "gout"), ("cough", "cold", "gout")
    illness = [(young if row < n / 2 else old)[row % 3] for row in range(n)]
    return Microdata(pd.DataFrame({"age": range(20, 20 + n), "illness": illness}), ROLES)


def mondrian(data: Microdata, k: int) -> Release:
    return Mondrian(requirements=[KAnonymity(k=k), DistinctDiversity(l=3)]).anonymize(data)


def test_of_the_releases_that_keep_all_the_one_that_loses_least_is_named_with_what_the_others_lose() -> None:
    data, asked = people(), [KAnonymity(k=3), DistinctDiversity(l=3)]
    releases = {"coarse": mondrian(data, 24), "fine": mondrian(data, 3)}
    fine, coarse = (float(utility.two_way_error(releases[name])) for name in ("fine", "coarse"))
    assert fine < coarse
    # Of flus and coughs the table has a sixth each, and a half has a third of one and none of the other.
    assert max(privacy.emd(releases["fine"], "illness", "equal")) == pytest.approx(1 / 6)
    found = answer(releases, asked)
    assert (found.tone, found.column, found.title) == ("good", "fine", "fine")
    assert found.text == (
        f"Publish fine: of the releases that keep all that you ask, it loses least: counted by two columns, "
        f"{share_text(fine)} of the rows are in the wrong place (coarse: {share_text(coarse)}). Everybody hides "
        "among 3 or more and no group is farther than 0.17 from the table."
    )
    # In a table of 24 people the attack can learn nothing, which says nothing of what the release gives away.
    assert found.more == ("How many people it gives away was not measured: 'illness'.",)


def test_a_level_is_never_rounded_to_the_other_side_of_what_is_asked_nor_that_to_another_number() -> None:
    release = mondrian(people(), 3)
    # A sixth, and of what is asked nothing is rounded away.
    (mark,) = marks(release, [TCloseness(t=0.001)], "Mondrian")
    assert (mark.state, mark.reached, mark.asked) == ("missed", "0.167", "0.001")
    found = answer([release], [TCloseness(t=0.001)], is_attacked=False)
    assert found.text.endswith("t is 0.167, you ask for 0.001.")
    (mark,) = marks(release, [TCloseness(t=0.3)], "Mondrian")
    assert (mark.state, mark.reached, mark.asked) == ("met", "0.17", "0.30")
    # 1,668 of 5,000 have one illness: l is 2.9976, which two decimals would make the 3 that is asked for.
    illness = ["flu"] * 1668 + ["cold", "gout"] * 1666
    data = Microdata(pd.DataFrame({"age": 20, "illness": illness}), ROLES)
    (mark,) = marks(Mondrian(requirements=[KAnonymity(k=3)]).anonymize(data), [FrequencyDiversity(l=3)], "Mondrian")
    assert (mark.state, mark.reached, mark.asked) == ("missed", "2.998", "3")


def test_of_several_secrets_each_is_named_and_the_answer_tells_the_farthest_group_of_all() -> None:
    """Half of each income moves by two of three steps, which is 1/3; a quarter of each half has another illness."""
    people_of_each = {"age": [20] * 4 + [60] * 4, "pay": [1, 1, 2, 2, 3, 3, 4, 4], "illness": list("aabcddbc")}
    frame = pd.concat([pd.DataFrame(people_of_each)] * 20)
    data = Microdata(frame, {"age": "quasi-identifier", "pay": "sensitive", "illness": "sensitive"})
    asked = [
        TCloseness(t=0.2, ground="ordered", attribute="pay"),
        TCloseness(t=0.2, ground="equal", attribute="illness"),
    ]
    halves = Mondrian(requirements=[KAnonymity(k=80)]).anonymize(data)
    assert [(one.name, one.state, one.reached) for one in marks(halves, asked, "Mondrian")] == [
        ("t of 'pay'", "missed", "0.34"),
        ("t of 'illness'", "missed", "0.25"),
    ]
    found = answer([halves], asked, is_attacked=False)
    assert "t of 'pay' is 0.34, you ask for 0.20; t of 'illness' is 0.25, you ask for 0.20" in found.text
    # One level for all secrets is possible where it is that of the farthest.
    assert dict(found.mend.levels) == {"t": 0.34}
    loose = [one.replace(t=0.6) for one in asked]
    assert "no group is farther than 0.34 from the table" in answer([halves], loose, is_attacked=False).text


def test_where_the_distance_of_a_secret_cannot_be_told_nothing_is_said_of_the_farthest_group() -> None:
    """Incomes are published as ranges: that of illnesses alone would say less than there is."""
    frame = pd.DataFrame({"age": [20] * 40 + [60] * 40, "pay": range(80), "illness": list("ab") * 40})
    data = Microdata(frame, {"age": "quasi-identifier", "pay": "sensitive", "illness": "sensitive"})
    halves = Partition([0] * 40 + [1] * 40)
    age, pay = (Generalized.of_rows(data.domain[name], halves, data.codes[name]) for name in ("age", "pay"))
    illness = Exact(data.domain["illness"], halves, data.codes["illness"])
    release = Release(data, (Fragment("table", halves, {"age": age, "pay": pay, "illness": illness}),))
    assert farthest(release, (), kept_results(release)) is None
    without_pay = Release(data, (Fragment("table", halves, {"age": age, "illness": illness}),))
    assert farthest(without_pay, (), kept_results(without_pay)) == 0.0


def test_without_the_attack_the_answer_says_that_it_was_not_measured() -> None:
    data = people()
    found = answer([mondrian(data, 3)], [KAnonymity(k=3)], is_attacked=False)
    assert (found.tone, found.column) == ("good", "Mondrian")
    assert found.more == ("How many people it gives away was not measured: 'illness'.",)


def test_where_a_person_may_have_several_rows_nothing_is_to_be_published() -> None:
    """Of the groups of three rows, one may be a single person's."""
    frame = people().frame.assign(name=[f"p{row // 3}" for row in range(24)])
    roles = {**ROLES, "name": "identifier"}
    asked = [KAnonymity(k=3)]
    found = answer([mondrian(Microdata(frame, roles), 3)], asked, is_attacked=False)
    assert (found.tone, found.column) == ("plain", "Mondrian")
    assert found.text == (
        "Not known yet: Mondrian keeps all that you ask, but only rows were counted, and a person may have several: "
        "say first whose row each is."
    )
    alone = people().frame.assign(name=[f"p{row}" for row in range(24)])
    assert answer([mondrian(Microdata(alone, roles), 3)], asked, is_attacked=False).tone == "good"


def test_an_attack_that_cannot_be_made_is_never_taken_for_one_that_found_nobody() -> None:
    # Between four people nothing can be learned, so that the attack has no excess.
    frame = pd.DataFrame({"age": [20, 21, 40, 41], "illness": ["flu", "cold", "flu", "cold"]})
    release = Mondrian(requirements=[KAnonymity(k=4)]).anonymize(Microdata(frame, ROLES))
    assert not attacks.foreground_knowledge(release, "illness").learned
    found = answer([release], [KAnonymity(k=4)])
    assert "How many people it gives away was not measured: 'illness'." in found.more


def test_where_none_keeps_it_the_nearest_is_named_with_what_it_misses() -> None:
    data, asked = people(), [KAnonymity(k=13), DistinctDiversity(l=3)]
    found = answer([mondrian(data, 12), mondrian(data, 3)], asked)
    assert (found.tone, found.title) == ("bad", "Mondrian")
    assert found.text == "None of these keeps all that you ask. Nearest is Mondrian: k is 12, you ask for 13."
    coarse = share_text(float(utility.two_way_error(mondrian(data, 12))))
    assert found.more == (
        "Hardest to keep here is k: none of 2 releases keeps it.",
        f"Possible is k = 12 instead of 13: Mondrian keeps that and loses {coarse}.",
    )
    assert found.mend.text == "ask for k = 12"
    assert answer([mondrian(data, 12)], [KAnonymity(k=12), DistinctDiversity(l=3)]).tone == "good"


def test_a_level_that_is_possible_is_kept_when_it_is_asked_for() -> None:
    """It is rounded to the side on which the release keeps it, and one that protects nobody is none."""
    release = mondrian(people(), 3)
    (missed,) = marks(release, [TCloseness(t=0.001)], "Mondrian")
    assert missed.possible == 0.17
    assert marks(release, [TCloseness(t=0.17)], "Mondrian")[0].state == "met"
    assert marks(release, [TCloseness(t=0.17)], "Mondrian")[0].possible is None
    illness = ["flu"] * 1668 + ["cold", "gout"] * 1666
    data = Microdata(pd.DataFrame({"age": 20, "illness": illness}), ROLES)
    diverse = Mondrian(requirements=[KAnonymity(k=3)]).anonymize(data)
    (missed,) = marks(diverse, [FrequencyDiversity(l=3)], "Mondrian")
    assert missed.possible == 2.99
    assert marks(Anatomy(l=3, seed=1).anonymize(people()), [KAnonymity(k=2)], "Anatomy")[0].possible is None


def test_buckets_that_hide_secrets_alone_keep_no_k() -> None:
    data = people()
    bucketized = Anatomy(l=3, seed=1).anonymize(data)
    assert (bucketized.fragments[0].partition.sizes >= 3).all()
    found = answer([bucketized], [KAnonymity(k=2)])
    assert found.tone == "bad"
    assert "k is 1, you ask for 2" in found.text
    # Larger buckets would not do: what is said of their size is no statement about k.
    (mark,) = marks(bucketized, [KAnonymity(k=2)], "Anatomy")
    assert (mark.state, mark.reached) == ("missed", "1")
    assert unpromised(bucketized, [KAnonymity(k=2)], "Anatomy") == ()


def test_what_nobody_asked_for_and_is_bad_speaks_against_a_release() -> None:
    frame = pd.DataFrame({"age": [21, 22, 23, 44, 45, 46], "illness": ["flu"] * 3 + ["cold"] * 3})
    release = Mondrian(requirements=[KAnonymity(k=3)]).anonymize(Microdata(frame, ROLES))
    found = answer([release], [KAnonymity(k=3)])
    assert (found.tone, found.begin) == ("warn", "Not yet:")
    assert not verdict(release, [KAnonymity(k=3)]).is_good
    assert "largest belief 100%" in found.text or "given away" in found.text
    # Half of the table has a flu, so that l = 2 is the most that can be kept.
    assert verdict(release, [KAnonymity(k=3)]).mend.text == "ask for l = 2 and t = 0.3"
    assert "To mend it: " in repr(answer([release], [KAnonymity(k=3)], is_attacked=False))


@pytest.mark.parametrize("asked", [[], [TCloseness(t=1.0)]])
def test_a_column_published_by_decision_breaks_the_answer(asked: list[Requirement]) -> None:
    frame = people().frame.assign(number=range(24))
    data = Microdata(frame, {**ROLES, "number": "insensitive"})
    found = answer([mondrian(data, 3)], [KAnonymity(k=3), *asked])
    assert found.tone == "bad"
    assert "'number', published by decision, finds everybody" in found.text
    assert found.mend.text == "leave out 'number'"


def test_nothing_asked_and_nothing_given() -> None:
    assert answer([mondrian(people(), 3)], []).text == "Nothing is asked yet: choose k, l or t."
    with pytest.raises(ParameterError, match="give at least one release"):
        answer([], [KAnonymity(k=2)])


def test_releases_of_one_method_are_told_apart() -> None:
    data = people()
    found = answer([mondrian(data, 24), mondrian(data, 3)], [KAnonymity(k=3)])
    assert found.title == "Mondrian (2)"
