"""The three questions on releases of every form: against slow twins, by hand, and with people who are not in them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtri
from scipy.stats import binom, nbinom

from anoncore import (
    DataError,
    Distorted,
    Fragment,
    Microdata,
    ParameterError,
    Partition,
    Release,
    ReleaseError,
    attacks,
)
from anoncore.algorithms import (
    Anatomy,
    Incognito,
    Mask,
    Mondrian,
    RandomBuckets,
    StackAndDeal,
    VerticalFragmentation,
)
from anoncore.attacks.control_figures import newcombe, wilson
from anoncore.attacks.control_people import control_of, members_of
from anoncore.attacks.fitting_secrets import beliefs, evidence_of
from anoncore.attacks.linkability import _by_rules, _scores
from anoncore.attacks.linked_records import Records
from anoncore.attacks.singling_out import _success_among
from anoncore.attacks.success_among_more import SuccessAmongMore, _ends_of_bins
from anoncore.requirements import KAnonymity
from anoncore.table.hierarchy import Hierarchy
from anoncore.table.part import rows_of
from tests.attacks.naive_control import allowed, belief, chance_of_one, gower, likely_together
from tests.privacy.releases import reordered
from tests.shared_data import require

some = settings(max_examples=12)
KNOWN = ("age", "town", "sex")
TOWNS = {"north": ["Kiel", "Bonn"], "south": ["Ulm", "Linz"]}


def people(seed: int, n: int = 60, towns=("Kiel", "Bonn", "Ulm", "Linz")) -> Microdata:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.integers(20, 40, n),
            "town": rng.choice(towns, n),
            "sex": rng.choice(["f", "m"], n),
            "ill": rng.choice(["flu", "gout", "cold"], n),
        }
    )
    frame.loc[0, "age"] = np.nan
    return Microdata(frame, dict.fromkeys(KNOWN, "quasi-identifier") | {"ill": "sensitive"})


def coarse(data: Microdata) -> Release:
    """Towns at a node of their hierarchy."""
    trees = {"town": Hierarchy.from_nested(TOWNS)}
    data = Microdata(data.frame, data.roles, kinds={"age": "numeric"}, hierarchies=trees)
    return Incognito(requirements=[KAnonymity(k=5)], max_suppression=0.2).anonymize(data)


FORMS: dict[str, Callable[[Microdata], Release]] = {
    "raw": Mondrian(requirements=[KAnonymity(k=1)]).anonymize,
    "ranges and sets": Mondrian(requirements=[KAnonymity(k=5)]).anonymize,
    "nodes": coarse,
    "buckets": Anatomy(l=2, seed=1).anonymize,
    "sliced": RandomBuckets(size=6, attribute_columns=(("age", "ill"), ("town", "sex")), seed=1).anonymize,
    "fragments": VerticalFragmentation(k=3, class_attribute="ill", seed=1).anonymize,
    "distorted": Mask(k=3, l=2).anonymize,
    "dealt": StackAndDeal(k=4).anonymize,
}
"""What makes a release of every kind of cell."""
TOGETHER = tuple(form for form in FORMS if form != "fragments")


@pytest.mark.parametrize("form", TOGETHER)
@pytest.mark.parametrize("seed", [1, 2])
def test_beliefs_by_the_rules_are_those_row_by_row(form, seed):
    release = FORMS[form](people(seed))
    rng = np.random.default_rng(0)
    others = people(seed + 10, towns=("Kiel", "Ulm", "Rom"))
    for group in (members_of(release, KNOWN, 15, rng), control_of(release, others, KNOWN, 15, rng)):
        table = np.full(3, 1 / 3)
        found = np.zeros((len(group), 3))

        def use(numbers, some_beliefs, found=found):
            found[numbers] = some_beliefs

        beliefs(evidence_of(release, "ill", KNOWN), group, table, use)
        for person in range(len(group)):
            known = {
                name: int(group.below[person, axis])
                for axis, name in enumerate(KNOWN)
                if group.below[person, axis] == group.above[person, axis]
            }
            if len(known) < len(KNOWN):
                continue
            np.testing.assert_allclose(found[person], belief(release, "ill", known), atol=1e-12)


@pytest.mark.parametrize("form", FORMS)
def test_the_nearest_record_is_the_nearest_of_all_and_the_first_of_those(form):
    release = FORMS[form](people(3))
    rng = np.random.default_rng(0)
    records = Records.of(release, KNOWN, rng)
    others = people(13, towns=("Kiel", "Ulm", "Rom"))
    for group in (members_of(release, KNOWN, 20, rng), control_of(release, others, KNOWN, 20, rng)):
        record, distance = records.nearest(group)
        for person in range(len(group)):
            known = {
                name: (
                    set(range(group.below[person, axis], group.above[person, axis] + 1)) - {-1},
                    float(group.place[person, axis]),
                )
                for axis, name in enumerate(KNOWN)
            }
            columns = dict(zip(KNOWN, records.cells, strict=True))
            far = np.empty(release.data.n_rows)
            for one in range(len(far)):
                cells = {name: allowed(recoding, rows[one]) for name, (recoding, rows) in columns.items()}
                far[one] = gower(release, KNOWN, cells, known)
            assert distance[person] == pytest.approx(far.min(), abs=1e-9)
            nearest = np.flatnonzero(far <= far.min() + 1e-9)
            assert far[record[person]] == pytest.approx(far.min(), abs=1e-9)
            assert records.priority[record[person]] == records.priority[nearest].min()


@pytest.mark.parametrize("form", FORMS)
def test_drawn_values_lie_in_their_cells(form):
    release = FORMS[form](people(4))
    records = Records.of(release, KNOWN, np.random.default_rng(0))
    for axis, (recoding, rows) in enumerate(records.cells):
        assert all(int(code) in allowed(recoding, row) for code, row in zip(records.drawn[:, axis], rows, strict=True))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("attack", ["singling_out", "linkability", "inference"])
def test_every_attack_reads_every_form(form, attack):
    data, others = people(5, n=120).split(control=0.5, seed=2)
    release = FORMS[form](data)
    asked = ("ill",) if attack == "inference" else ()
    found = getattr(attacks, attack)(release, *asked, control=others, n_queries=50)
    again = getattr(attacks, attack)(release, *asked, control=others, n_queries=50)
    pd.testing.assert_frame_equal(found.adversaries, again.adversaries)
    low, high = found.members_interval
    assert low <= found.members <= high
    if found.adversaries["control_guesses"].max():
        assert found.difference_interval[0] <= found.difference <= found.difference_interval[1]
    assert 0 <= found.recall <= 1
    assert list(found.frame().columns) == ["name", "value", "baseline", "unit"]
    assert found.adversary in repr(found) or "adversary" in repr(found)
    alone = getattr(attacks, attack)(release, *asked, n_queries=50)
    assert np.isnan(alone.difference)
    assert "Without a control part" in " ".join(alone.notes)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("attack", ["singling_out", "linkability", "inference"])
def test_the_order_of_the_rows_changes_nothing(form, attack):
    data, others = people(7, n=100).split(control=0.5, seed=2)
    release = FORMS[form](data)
    asked = ("ill",) if attack == "inference" else ()
    found = getattr(attacks, attack)(release, *asked, control=others, n_queries=30)
    other = reordered(release, np.random.default_rng(0).permutation(data.n_rows))
    again = getattr(attacks, attack)(other, *asked, control=others, n_queries=30)
    pd.testing.assert_frame_equal(found.adversaries, again.adversaries, rtol=1e-12)


def test_all_predicates_of_a_raw_table_single_out_and_none_of_a_table_in_one_class():
    data, others = people(6, n=120).split(control=0.5, seed=2)
    raw = attacks.singling_out(FORMS["raw"](data), control=others)
    assert raw.members == 1
    assert raw.recall <= 1
    one = Mondrian(requirements=[KAnonymity(k=60)]).anonymize(
        Microdata(data.frame.assign(ill="flu"), data.roles, kinds={"age": "numeric"})
    )
    rules = attacks.singling_out(one).adversaries.loc["rules from the release"]
    assert rules["guesses"] == 0 == rules["recall"]


@pytest.mark.slow
def test_predicates_of_the_rules_by_hand():
    # Both 20-year-olds share a class; the man and the woman in it differ in what they have.
    frame = pd.DataFrame({"age": [20, 21, 30, 31], "ill": ["flu", "gout", "flu", "flu"]})
    data = Microdata(frame, {"age": "quasi-identifier", "ill": "sensitive"})
    release = Mondrian(requirements=[KAnonymity(k=2)]).anonymize(data)
    control = Microdata(pd.DataFrame({"age": [20, 21, 20, 35], "ill": ["flu", "flu", "gout", "flu"]}), data.roles)
    rules = attacks.singling_out(release, control=control).adversaries.loc["rules from the release"]
    # "20-21 with flu" and "20-21 with gout" are each true of one member; of two and of one in the control part.
    assert (rules["guesses"], rules["members"], rules["control"], rules["recall"]) == (2, 1.0, 0.5, 0.5)


@pytest.mark.parametrize("form", TOGETHER)
def test_links_by_the_rules_are_those_row_by_row(form):
    """Each column has attributes of one list only, or all of both, so that rows of a group tell nothing more."""
    release = FORMS[form](people(14))
    lists = (("age", "ill"), ("town", "sex")) if form == "sliced" else (("age", "sex"), ("town", "ill"))
    if form == "buckets":
        lists = (("age", "sex"), ("town",))
    group = members_of(release, (*lists[0], *lists[1]), 12, np.random.default_rng(0))
    one, other = group.of(lists[0]), group.of(lists[1])
    codes = [[dict(zip(part.names, map(int, line), strict=True)) for line in part.below] for part in (one, other)]
    slow = np.array([[likely_together(release, left, right) for right in codes[1]] for left in codes[0]])
    np.testing.assert_allclose(_scores(release, one, other), slow, atol=1e-12)
    links = _by_rules(release, *lists, group)
    best = slow >= slow.max(axis=1, keepdims=True) * (1 - 1e-9)
    best &= slow.max(axis=1, keepdims=True) > 0
    assert links.candidates.tolist() == best.sum(axis=1).tolist()
    assert links.has_own.tolist() == np.diagonal(best).tolist()


def test_linkability_by_hand():
    # Every pair of values is published once, so that each entry has one partner; shuffled pairs of others have none.
    frame = pd.DataFrame({"age": [20, 30, 40, 50], "zip": list("abcd")})
    data = Microdata(frame, dict.fromkeys(frame, "quasi-identifier"))
    release = Mondrian(requirements=[KAnonymity(k=1)]).anonymize(data)
    other = Microdata(pd.DataFrame({"age": [20, 30, 40, 50], "zip": list("badc")}), data.roles)
    found = attacks.linkability(release, known=(["age"], ["zip"]), control=other)
    for adversary in ("rules from the release", "nearest neighbour"):
        line = found.adversaries.loc[adversary]
        assert (line["members"], line["control"], line["precision"], line["recall"]) == (1.0, 0.0, 1.0, 1.0)
    assert found.members.baseline == 0.25
    # In one class each entry fits every partner.
    whole = Mondrian(requirements=[KAnonymity(k=4)]).anonymize(data)
    line = attacks.linkability(whole, known=(["age"], ["zip"])).adversaries.loc["rules from the release"]
    assert (line["members"], line["precision"], line["recall"]) == (0.25, 0.25, 1.0)


def test_inference_by_hand_and_a_number_that_is_near():
    frame = pd.DataFrame({"age": [20, 30, 40, 50], "pay": [100.0, 200.0, 300.0, 400.0]})
    data = Microdata(frame, {"age": "quasi-identifier", "pay": "sensitive"})
    release = Mondrian(requirements=[KAnonymity(k=1)]).anonymize(data)
    control = Microdata(pd.DataFrame({"age": [20, 30, 40, 50], "pay": [104.0, 190.0, 300.0, 500.0]}), data.roles)
    line = attacks.inference(release, "pay", control=control).adversaries.loc["rules from the release"]
    assert (line["members"], line["control"]) == (1.0, 0.75)
    strict = attacks.inference(release, "pay", control=control, tolerance=0.0).adversaries.loc["rules from the release"]
    assert strict["control"] == 0.25


def test_other_peoples_rows_have_an_interval_around_zero():
    published, rest = people(8, n=3_000).split(control=0.6, seed=1)
    # Rows of others are published; both groups are strangers to them.
    release = Mondrian(requirements=[KAnonymity(k=1)]).anonymize(published)
    strangers, more = rest.split(control=0.5, seed=3)
    for attack, asked in (("singling_out", ()), ("linkability", ()), ("inference", ("ill",))):
        one, other = (getattr(attacks, attack)(release, *asked, control=part).adversaries for part in (strangers, more))
        for adversary in one.index[one["control"].notna()]:
            line = one.loc[adversary]
            assert line["control_low"] <= other.loc[adversary, "control"] <= line["control_high"], (attack, adversary)


def test_intervals_are_those_of_wilson_and_newcombe():
    z = float(ndtri(0.975))
    # Newcombe 1998, table II, example (a): 56/70 and 48/80; Wilson's own interval of 15/148.
    assert wilson(15 / 148, 148, z) == pytest.approx((0.0624, 0.1605), abs=5e-5)
    first, second = wilson(56 / 70, 70, z), wilson(48 / 80, 80, z)
    assert newcombe(56 / 70, first, 48 / 80, second) == pytest.approx((0.0524, 0.3339), abs=5e-5)


@some
@given(st.lists(st.integers(0, 6), min_size=1, max_size=12), st.integers(1, 20))
def test_a_larger_control_part_is_thinned_out_exactly(counts, part):
    expected = np.mean([chance_of_one(count, 20, part) for count in counts])
    share, interval = _success_among(np.array(counts), 20, part)
    assert share == pytest.approx(expected, rel=1e-9, abs=1e-12)
    assert interval is None


SPREADS = {
    "alike": lambda rng: np.full(2_000, 0.6),
    "gamma": lambda rng: rng.gamma(0.7, 2.0, 2_000),
    "two kinds": lambda rng: rng.choice([0.05, 4.0], 2_000),
    "rare": lambda rng: rng.exponential(0.02, 2_000),
    "never": lambda rng: np.zeros(2_000),
    "often": lambda rng: rng.uniform(0, 300, 2_000),
}
"""How many of 1,000 people each predicate is expected to be true of."""


@pytest.mark.parametrize("spread", SPREADS)
@pytest.mark.parametrize(("more", "widest"), [(1.3, 0.2), (2, 0.18), (4, 0.27), (10, 0.36)])
def test_success_among_more_people_lies_in_the_interval_however_probabilities_are_spread(spread, more, widest):
    rng = np.random.default_rng(1)
    probability = SPREADS[spread](rng) / 1_000
    wanted = round(1_000 * more)
    truth = (wanted * probability * (1 - probability) ** (wanted - 1)).mean()
    share, interval = _success_among(rng.binomial(1_000, probability), 1_000, wanted)
    low, high = interval(2.5)
    assert low <= truth <= high
    assert low <= share <= high
    # Without any counts the interval would be from 0 to 0.37, as no predicate is true of one with a larger chance.
    assert high - low < widest


@pytest.mark.parametrize("more", [1.3, 2, 4])
@pytest.mark.parametrize("spread", ["alike", "gamma", "rare", "never"])
def test_the_estimate_among_more_people_is_near_where_probabilities_are_gamma_distributed(spread, more):
    rng = np.random.default_rng(2)
    probability = SPREADS[spread](rng) / 1_000
    wanted = round(1_000 * more)
    truth = (wanted * probability * (1 - probability) ** (wanted - 1)).mean()
    share, _ = _success_among(rng.binomial(1_000, probability), 1_000, wanted)
    assert share == pytest.approx(truth, abs=0.03)


@pytest.mark.parametrize("seed", range(4))
def test_the_estimate_is_that_of_the_likeliest_negative_binomial_distribution(seed):
    rng = np.random.default_rng(seed)
    counts = rng.poisson(rng.gamma(0.5 + seed, 1.0, 500))
    shapes = np.geomspace(0.05, 50, 4_000)[:, None]
    likelihood = nbinom.logpmf(counts, shapes, shapes / (shapes + counts.mean())).sum(axis=1)
    shape, mean = shapes[likelihood.argmax(), 0], 3 * counts.mean()
    # Among three times the people a predicate is true of one with the chance that such a count is 1.
    expected = nbinom.pmf(1, shape, shape / (shape + mean))
    assert SuccessAmongMore(counts, 1_000, 3_000).share == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize("more", [1.5, 4])
def test_no_probability_makes_a_larger_error_of_a_weighted_sum_than_is_allowed_for(more):
    counts = np.random.default_rng(0).poisson(np.random.default_rng(1).gamma(0.7, 2.0, 2_000))
    wanted = round(1_000 * more)
    found = SuccessAmongMore(counts, 1_000, wanted)
    # Also those between the probabilities that were looked at.
    probability = np.geomspace(1e-7, 1, 5_000)
    ends = _ends_of_bins(int(counts.max()))
    upto = binom.cdf(np.append(ends[:-1], 1_000)[:, None], 1_000, probability)
    chances = np.diff(upto, axis=0, prepend=0.0)
    truth = binom.pmf(1, wanted, probability)
    assert len(found._sums) > 1
    for weights, error in found._sums:
        assert np.abs(weights @ chances - truth).max() <= error * 1.01


def test_intervals_grow_with_what_has_to_be_estimated():
    rng = np.random.default_rng(0)
    counts = rng.binomial(1_000, rng.gamma(0.7, 2.0, 2_000) / 1_000)
    widths = [np.ptp(SuccessAmongMore(counts, 1_000, wanted).interval(2.5)) for wanted in (1_100, 1_500, 2_000, 3_000)]
    assert widths == sorted(widths)
    assert widths[0] < 0.1


def test_rows_of_others_are_not_given_away_beside_a_smaller_control_part():
    published, rest = people(8, n=6_000).split(control=0.7, seed=1)
    strangers, control = rest.split(control=0.25, seed=3)
    release = Release.from_published(published.frame, original=strangers, rows="synthetic")
    found = attacks.singling_out(release, control=control)
    assert any("is estimated" in note for note in found.notes)
    low, high = found.difference_interval
    assert low <= 0 <= high
    raw = Mondrian(requirements=[KAnonymity(k=1)]).anonymize(strangers)
    assert attacks.singling_out(raw, control=control).difference_interval[0] > 0.3


def test_bad_input_is_named():
    data, others = people(9).split(control=0.3)
    release = FORMS["raw"](data)
    with pytest.raises(ReleaseError, match="does not publish 'shoe'"):
        attacks.inference(release, "shoe")
    with pytest.raises(ReleaseError, match="does not publish 'shoe'"):
        attacks.inference(release, "ill", known=["shoe"])
    with pytest.raises(ParameterError, match="knows no published attribute"):
        attacks.inference(release, "ill", known=["ill"])
    with pytest.raises(ParameterError, match="is the released table itself"):
        attacks.singling_out(release, control=release.data)
    with pytest.raises(DataError, match="control part lacks 'ill'"):
        attacks.inference(release, "ill", control=Microdata(others.frame.drop(columns="ill"), {"*": "insensitive"}))
    with pytest.raises(ParameterError, match="Both lists have 'age'"):
        attacks.linkability(release, known=(["age"], ["age", "sex"]))
    with pytest.raises(ParameterError, match="two lists"):
        attacks.linkability(release, known=(["age"],))
    with pytest.raises(ParameterError, match="At least 1 query"):
        attacks.singling_out(release, n_queries=0)
    with pytest.raises(ParameterError, match="tolerance is a share"):
        attacks.inference(release, "ill", tolerance=1.0)
    with pytest.raises(DataError, match=r"share of 1 of 42 people cannot be held back"):
        data.split(control=1.0)


def test_splitting_keeps_people_together_and_values_apart():
    frame = pd.DataFrame({"who": list("aabbccdd"), "age": [1, 2, 3, 4, 5, 6, 7, 8], "ill": list("xyxyxyxz")})
    data = Microdata(
        frame, {"age": "quasi-identifier", "ill": "sensitive"}, unit="who", sensitive_values={"ill": ["x", "z"]}
    )
    for seed in range(4):
        first, second = data.split(control=0.5, seed=seed)
        assert set(first.frame["who"]).isdisjoint(second.frame["who"])
        assert first.n_people == second.n_people == 2
        assert sorted([*first.frame["age"], *second.frame["age"]]) == list(range(1, 9))
        assert set(first.domain["ill"]) == set(first.frame["ill"])
        assert all(value in set(first.frame["ill"]) for value in first.sensitive_values["ill"])


@pytest.mark.slow
def test_a_raw_copy_of_adult_is_given_away_and_rows_of_others_are_not():
    frame = pd.read_csv(require("adult.csv")).head(12_000)
    roles = dict.fromkeys(["age", "workclass", "education", "race", "sex"], "quasi-identifier")
    data = Microdata(frame, roles | {"occupation": "sensitive", "*": "insensitive"})
    members, rest = data.split(control=2 / 3, seed=1)
    control, others = rest.split(control=0.5, seed=1)
    raw = Mondrian(requirements=[KAnonymity(k=1)]).anonymize(members)
    assert attacks.singling_out(raw, control=control).members >= 0.95
    assert attacks.inference(raw, "occupation", control=control).members >= 0.95
    # A release whose rows are other people's: those who are called its members are as strange to it as the others.
    fake = as_if_of(members, others)
    for attack, asked in ((attacks.singling_out, ()), (attacks.linkability, ()), (attacks.inference, ("occupation",))):
        low, high = attack(fake, *asked, control=control).difference_interval
        assert low <= 0 <= high, attack.__name__


@pytest.mark.slow
def test_rows_of_other_people_of_adult_give_nobody_away_beside_a_quarter_as_many():
    data = Microdata(pd.read_csv(require("adult.csv")).head(12_000), {"*": "insensitive"})
    members, rest = data.split(control=1 / 3, seed=1)
    published, control = rest.split(control=0.5, seed=2)
    release = Release.from_published(published.frame, original=members, rows="synthetic")
    found = attacks.singling_out(release, control=control).adversaries
    assert (found["difference_low"] <= 0).all()
    assert (found["difference_high"] >= 0).all()
    # Nobody is told apart: the members' share is what was to be estimated.
    assert ((found["control_low"] <= found["members"]) & (found["members"] <= found["control_high"])).all()


def as_if_of(members: Microdata, others: Microdata) -> Release:
    """A release that says it is made of `members`, and publishes the rows of `others`."""
    n = min(members.n_rows, others.n_rows)
    frame = pd.concat([members.frame.iloc[:n], others.frame.iloc[:n]], ignore_index=True)
    both = Microdata(frame, members.roles, {name: members.domain[name].kind for name in members.attributes})
    whole = Partition(np.zeros(n, dtype=np.int32))
    codes = {name: (both.codes[name][n:], both.codes[name][:n]) for name in both.attributes}
    recodings = {name: Distorted(both.domain[name], whole, *of) for name, of in codes.items()}
    return Release(rows_of(both, np.arange(n)), (Fragment("release", whole, recodings),))
