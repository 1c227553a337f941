"""Foreground knowledge with facts: by hand, against all worlds of small tables, and on Adult."""

from math import ceil, floor

import numpy as np
import pandas as pd
import pytest

from anoncore import DataError, Microdata, attacks
from anoncore.algorithms import Anatomy
from anoncore.attacks.foreground.fact_learning import ToldTarget
from anoncore.attacks.foreground.fact_worlds import value_facts
from anoncore.attacks.foreground.facts import facts_of
from anoncore.attacks.foreground.mining import Target
from anoncore.attacks.foreground.sets import signatures_of
from anoncore.attacks.foreground.solver import FULL
from anoncore.base.errors import ParameterError
from tests.attacks.naive_facts import ContradictionError, PlainFact, one_step, worlds_by_value
from tests.many_tables import few_and_many
from tests.privacy.releases import adult, sliced

FEW_AND_MANY = few_and_many(20)
FEW_ROWS = 0.6
"""With sigma 0.9 signatures of two rows are relied upon (J = 1.1)."""
STEPS = 150


def release_of(frame, group):
    data = Microdata(frame, roles=dict.fromkeys(frame.columns[:-1], "quasi-identifier") | {"s": "sensitive"})
    return sliced(data, group, [list(data.quasi_identifiers), ["s"]])


def random_release(seed):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 5, int(rng.integers(2, 5)))
    sizes = sizes[: np.searchsorted(sizes.cumsum(), 10, side="right")]
    n = int(sizes.sum())
    frame = pd.DataFrame({"a": rng.integers(1, 4, n), "b": rng.choice(["u", "v"], n), "s": rng.choice(list("xyz"), n)})
    return release_of(frame, rng.permutation(np.repeat(np.arange(len(sizes)), sizes)))


def random_facts(seed, frame):
    rng = np.random.default_rng(1_000 + seed)
    facts = []
    for _ in range(int(rng.integers(1, 4))):
        value = str(rng.choice(sorted(frame["s"].unique())))
        if rng.random() < 0.4:
            row = int(rng.integers(len(frame)))
            has = bool(frame["s"].iloc[row] == value) if rng.random() < 0.8 else bool(rng.random() < 0.5)
            text = f"row {row + 1} has {'' if has else 'not '}{value}"
            facts.append(PlainFact(text, {row}, value, int(has), int(has)))
            continue
        number, letter = int(frame["a"].iloc[rng.integers(len(frame))]), str(frame["b"].iloc[0])
        where, meant = [
            (f"a <= {number}", frame["a"] <= number),
            (f"a > {number - 1} and b = {letter}", (frame["a"] > number - 1) & (frame["b"] == letter)),
            (f"b = {letter}", frame["b"] == letter),
        ][rng.integers(3)]
        people = set(np.flatnonzero(meant).tolist())
        if not people:
            continue
        # Mostly what is true, so that worlds are left.
        true = round(float((frame["s"].iloc[sorted(people)] == value).mean()), 2)
        share = true if rng.random() < 0.8 else float(rng.choice([0.2, 0.25, 0.4, 0.5, 0.6, 0.75]))
        exact = floor(share * len(people) + 0.5)
        bound, least, most = [
            ("nobody", 0, 0),
            ("everybody", len(people), len(people)),
            (f"at least {share:.0%}", ceil(share * len(people) - 1e-9), len(people)),
            (f"at most {share:.0%}", 0, floor(share * len(people) + 1e-9)),
            (f"exactly {share:.0%}", exact, exact),
        ][rng.choice(5, p=[0.05 + 0.3 * (true == 0), 0.05, 0.4 - 0.3 * (true == 0), 0.25, 0.25])]
        facts.append(PlainFact(f"{bound} where {where} has {value}", people, value, least, most))
    return facts


def first_contradiction(groups, secrets, facts):
    """The first fact that leaves no world, or None."""
    for number in range(1, len(facts) + 1):
        try:
            worlds_by_value(groups, secrets, facts[:number])
        except ContradictionError:
            return facts[number - 1]
    return None


@pytest.mark.parametrize("seed", FEW_AND_MANY)
def test_facts_leave_the_worlds_of_the_definition(seed):
    release = random_release(seed)
    frame, group = release.data.frame, release.partition.group
    groups = [np.flatnonzero(group == one).tolist() for one in range(release.partition.n_groups)]
    secrets, facts = frame["s"].tolist(), random_facts(seed, frame)
    refused = first_contradiction(groups, secrets, facts)
    texts = [fact.text for fact in facts]
    if refused is not None:
        with pytest.raises(DataError, match="leaves no possible world") as caught:
            value_facts(release, "s", facts_of(texts))
        assert f"'{facts_of([refused.text])[0]}'" in str(caught.value)
        return
    worlds = worlds_by_value(groups, secrets, facts)
    unreliable = ["overall", "uniform", "group"][seed % 3]
    target = Target.of(release, "s", unreliable)
    told = ToldTarget.of(target, value_facts(release, "s", facts_of(texts)))
    labels = target.view.labels
    alike, minimum = told.random_worlds(), 1.1 + seed % 3
    for label in labels:
        probability, own = worlds[label][0].mean(axis=0), np.array(secrets) == label
        assert alike[0][own] == pytest.approx(probability[own], abs=1e-6)
        assert (alike[1][~own] >= probability[~own] - 1e-6).all()
    for attributes in (("a",), ("b",), ("a", "b")):
        found = signatures_of(release.data, attributes, minimum)
        if found is None:
            continue
        attack = told.attacked(found, 0.5, "fixed-point", FULL)
        leak, beliefs = attack.leak(), attack.beliefs
        own, other = np.zeros(len(secrets)), np.zeros(len(secrets))
        reliable = [tuple(one) for one in found.values.tolist()]
        signatures = list(zip(*(release.data.codes[name].tolist() for name in attributes), strict=True))
        for x, label in enumerate(labels):
            plain, has, lacks = worlds[label]
            fixed = fixed_shares(unreliable, groups, secrets, label, has, lacks)
            shares = dict(zip(reliable, leak.learned[:, x].tolist(), strict=True))
            again, p = one_step(plain, has, lacks, groups, signatures, shares, fixed)
            assert list(again.values()) == pytest.approx(list(shares.values()), abs=1e-5 if leak.converged else 1e-2)
            mine = np.array(secrets) == label
            own[mine], other[~mine] = p[mine], np.maximum(other, p)[~mine]
            if seed % 4 == 0:
                walked, change = dict.fromkeys(reliable, secrets.count(label) / len(secrets)), 1.0
                for _ in range(STEPS):
                    step = one_step(plain, has, lacks, groups, signatures, walked, fixed)[0]
                    change = max(abs(step[one] - walked[one]) for one in reliable)
                    walked = step
                if change < 1e-9:
                    assert list(shares.values()) == pytest.approx(list(walked.values()), abs=1e-5)
        by_row = np.argsort(target.partition.order)
        assert beliefs.own[by_row] == pytest.approx(own, abs=1e-5)
        assert beliefs.other[by_row] == pytest.approx(other, abs=1e-5)


def fixed_shares(unreliable, groups, secrets, label, has, lacks):
    """What each person has whose signature is rare."""
    if unreliable != "group":
        return [0.5 if unreliable == "uniform" else secrets.count(label) / len(secrets)] * len(secrets)
    fixed = [0.0] * len(secrets)
    for rows in groups:
        left = [row for row in rows if not has[row] and not lacks[row]]
        n = sum(secrets[row] == label for row in rows) - sum(has[row] for row in rows)
        for row in left:
            fixed[row] = n / len(left)
    return fixed


def by_hand():
    """Two buckets {flu, gout} and two {flu, cold}, each of a man and a woman."""
    frame = pd.DataFrame(
        {
            "sex": list("mwmwmwmw"),
            "age": [20, 30, 40, 50, 60, 70, 80, 90],
            "s": ["flu", "gout"] * 2 + ["flu", "cold"] * 2,
        }
    )
    return release_of(frame, [0, 0, 1, 1, 2, 2, 3, 3])


def told(*facts, release=None, **about):
    about = {"epsilon": FEW_ROWS, "draws": 0} | about
    found = attacks.foreground_knowledge(by_hand() if release is None else release, "s", facts=facts, **about)
    return found, found.with_facts


def test_who_lacks_one_of_two_values_has_the_other_one():
    found, with_facts = told("row 1 has not gout", epsilon=0.01)
    # Nobody is learned about with so small an epsilon: what remains is the bucket of two, in which nothing is open.
    assert not found.learned
    assert with_facts.breach_probability.tolist() == [1, 1] + [0.5] * 6
    assert (with_facts.n_more, with_facts.n_fewer) == (2, 0)
    assert with_facts.recall == 2 / 8
    assert np.isnan(with_facts.excess)
    assert with_facts.people().to_numpy().tolist() == [[1, 0.5, 1, 1], [2, 0.5, 1, 1]]


def test_facts_about_some_teach_about_others_like_them():
    # Three men are known to have the flu; so men have it with f = 1 or nearly, and the fourth one most likely too.
    found, with_facts = told("row 1 has flu", "row 3 has flu", "row 5 has flu", max_size=1)
    assert found.own_probability[6] == pytest.approx(0.5)
    assert with_facts.own_probability[6] == pytest.approx(1, abs=1e-6)
    assert with_facts.own_without_attack[6] == 0.5
    assert with_facts.more.all()


def test_a_count_leaves_the_worlds_in_which_it_holds():
    # In 5 of the 16 worlds three men have the flu or four: a man has it in 3 of the 4 former and in the latter.
    _, with_facts = told("at least 75% where sex = m has flu", epsilon=0.01)
    assert with_facts.own_without_attack[[0, 2, 4, 6]].tolist() == pytest.approx([16 / 20] * 4)
    # Counts of the flu say nothing of gout and cold by themselves.
    assert with_facts.own_without_attack[[1, 3, 5, 7]].tolist() == [0.5] * 4
    _, certain = told("everybody where sex = m has flu", epsilon=0.01)
    assert certain.breach_probability.tolist() == [1] * 8
    _, most = told("at least 87.5% where sex = m has flu", epsilon=0.01)
    assert most.breach_probability.tolist() == [1] * 8, "3.5 of 4 are 4"


def test_two_counts_that_each_could_hold_are_refused_together():
    with pytest.raises(DataError, match=r"'exactly 75% where sex = w has flu' leaves no possible world.*before it"):
        told("exactly 75% where sex = m has flu", "exactly 75% where sex = w has flu")


def test_facts_may_be_false():
    _, with_facts = told("row 1 has gout", "row 3 has flu", epsilon=0.01)
    assert with_facts.is_true == (False, True)
    assert with_facts.own_probability[:2].tolist() == [0, 0]
    assert with_facts.flagged == 2 / 8
    assert "Not true of the original table, so that it misleads the adversary: 'row 1 has gout'." in with_facts.notes


def test_protected_values_that_count_as_one():
    frame = pd.DataFrame({"q": list("aabb"), "s": ["flu", "cold", "gout", "cough"]})
    data = Microdata(frame, {"q": "quasi-identifier", "s": "sensitive"}, sensitive_values={"s": {"flu", "gout"}})
    release = sliced(data, [0, 0, 1, 1], [["q"], ["s"]])
    _, with_facts = told("row 1 has not cold", release=release, epsilon=0.01)
    assert with_facts.breach_probability.tolist() == [1, 0, 0.5, 0.5]
    _, harmless = told("row 2 has cough", "row 3 has gout", release=release_of(frame, [0, 0, 0, 0]), epsilon=0.01)
    assert harmless.own_probability[1] == 0
    with pytest.raises(DataError, match="counts a value that the attack does not tell apart"):
        told("at least 50% where q = a has flu", release=release)


@pytest.mark.slow
@pytest.mark.parametrize("unreliable", ["overall", "group"])
def test_weighed_odds_come_near_the_listed_worlds(unreliable, monkeypatch):
    rng = np.random.default_rng(5)
    n = 240
    sex = rng.choice(["m", "w"], n)
    secret = np.where(rng.random(n) < np.where(sex == "m", 0.5, 0.2), "flu", rng.choice(["gout", "cold"], n))
    release = release_of(pd.DataFrame({"sex": sex, "age": rng.integers(1, 9, n), "s": secret}), np.arange(n) // 3)
    facts = ("at least 60% where sex = m has flu", "at most 30% where age <= 3 has flu")
    monkeypatch.setattr("anoncore.attacks.foreground.counted_worlds.MOST_COUNTS", 1e9)
    exact = told(*facts, release=release, epsilon=0.1, unreliable=unreliable)[1]
    monkeypatch.setattr("anoncore.attacks.foreground.counted_worlds.MOST_WORLDS", 0)
    weighed = told(*facts, release=release, epsilon=0.1, unreliable=unreliable)[1]
    without = told(release=release, epsilon=0.1, unreliable=unreliable)[0]
    apart = np.abs(weighed.own_probability - exact.own_probability).max()
    assert 0 < apart < 0.01
    assert not any("too many to list" in note for note in exact.notes)
    assert any("hold on average and not in each world" in note for note in weighed.notes)
    assert np.abs(without.own_probability - exact.own_probability).max() > 10 * apart


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("row 12 has flu", attacks.Fact("flu", row=12, least=1)),
        ("Row 3  has no  flu ", attacks.Fact("flu", row=3, most=0)),
        ("row 3 has not s = flu", attacks.Fact("flu", row=3, most=0, attribute="s")),
        ("nobody where age < 30 has s = Armed-Forces", attacks.Fact("Armed-Forces", None, "age < 30", 0, 0, "s")),
        ("at most 2.5% where a = 1 and b >= 2 have flu", attacks.Fact("flu", None, "a = 1 and b >= 2", 0, 0.025)),
        ("exactly 0.1 where a = 1 has <=50K", attacks.Fact("<=50K", None, "a = 1", 0.1, 0.1)),
        ('at least 10 % where a = "b and c" has "has = d"', attacks.Fact("has = d", None, 'a = "b and c"', 0.1)),
    ],
)
def test_sentences_are_read_and_written(text, fact):
    assert attacks.Fact.parse(text) == fact
    assert attacks.Fact.parse(str(fact)) == fact


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("everyone is ill", "is not understood as a fact; write it like 'row 12"),
        ("at least where age < 30 has flu", "lacks the share behind 'at least'"),
        ("at least 120% where age < 30 has flu", "beyond 100%"),
        ("nobody 5% where age < 30 has flu", "has a share behind 'nobody'"),
        ("row 0 has flu", "counted from 1"),
        ("row 9 has flu", "a row that does not exist; there are 8"),
        ("row 1 has measles", "names no value of 's'; there is 'cold', 'flu', 'gout'"),
        ("row 1 has illness = flu", "about 'illness', and the attack is on 's'"),
        ("nobody where age < 10 has flu", "is about nobody"),
        ("nobody where s = flu has gout", "no quasi-identifier; those are 'sex', 'age'"),
        ("nobody where sex < m has flu", "whose values have none"),
        ("nobody where sex = x has flu", "names no value of 'sex'"),
        ("nobody where age < young has flu", "which is no value of its kind"),
        ("nobody where young has flu", "compares nothing"),
    ],
)
def test_what_is_no_fact_is_refused_in_a_sentence(text, said):
    with pytest.raises((DataError, ParameterError), match=said):
        told(text)


def test_conditions_compare_numbers_orders_and_texts():
    frame = pd.DataFrame(
        {"age": [20, 30, None, 40], "grade": ["low", "mid", "high", "mid"], "s": ["flu", "gout", "flu", "cold"]}
    )
    roles = {"age": "quasi-identifier", "grade": "quasi-identifier", "s": "sensitive"}
    data = Microdata(frame, roles, kinds={"grade": "ordinal"}, orders={"grade": ["low", "mid", "high"]})
    for where, rows in {
        "age < 30": [0],
        "age <= 30.0": [0, 1],
        "age ≥ 30 and grade ≠ low": [1, 3],
        "age > 25 and grade = mid": [1, 3],
        "age != 20": [1, 2, 3],
        "age = (missing)": [2],
        "grade >= mid": [1, 2, 3],
    }.items():
        assert np.flatnonzero(attacks.Fact("flu", where=where).people(data)).tolist() == rows, where


@pytest.mark.slow
def test_facts_on_adult():
    """What is known of one occupation of women, beside Anatomy's buckets; true, so that true values gain."""
    data = adult(["age", "workclass", "sex"], "occupation")
    release = Anatomy(l=4, seed=1).anonymize(data)
    is_female = data.frame["sex"] == "Female"
    share = float((data.frame["occupation"][is_female] == "Adm-clerical").mean())
    facts = (f"at least {np.floor(share * 100):.0f}% where sex = Female has Adm-clerical",)
    found = attacks.foreground_knowledge(release, "occupation", r=4, epsilon=0.02, draws=0, max_size=1, facts=facts)
    with_facts = found.with_facts
    assert with_facts.is_true == (True,)
    of_it = (is_female & (data.frame["occupation"] == "Adm-clerical")).to_numpy()
    assert with_facts.own_without_attack[of_it].mean() > found.own_without_attack[of_it].mean() + 0.05
    assert with_facts.own_without_attack[of_it].sum() < of_it.sum()
    wrong = ~of_it & is_female.to_numpy()
    assert (with_facts.own_without_attack[wrong] == found.own_without_attack[wrong]).all()
