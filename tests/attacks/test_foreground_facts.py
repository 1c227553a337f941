"""Foreground knowledge with facts: by hand, against all worlds of small tables, and on Adult."""

from math import ceil, floor

import numpy as np
import pandas as pd
import pytest

from anoncore import DataError, Microdata
from anoncore.attacks.foreground.fact_learning import ToldTarget
from anoncore.attacks.foreground.fact_worlds import value_facts
from anoncore.attacks.foreground.facts import facts_of
from anoncore.attacks.foreground.mining import Target
from anoncore.attacks.foreground.sets import signatures_of
from anoncore.attacks.foreground.solver import FULL
from tests.attacks.naive_facts import Contradiction, PlainFact, one_step, worlds_by_value
from tests.privacy.releases import sliced

FEW_AND_MANY = [*range(20), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(20, 300))]
"""Seeds of 300 tables, the first 20 of which are always tried."""
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
        except Contradiction:
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
    told = ToldTarget(target, value_facts(release, "s", facts_of(texts)))
    labels = target.view.labels
    alike, minimum = told.random_worlds(), 1.1 + seed % 3
    for x, label in enumerate(labels):
        plain, has, lacks = worlds[label]
        own = np.array(secrets) == label
        assert alike[0][own] == pytest.approx(plain[:, own].mean(axis=0), abs=1e-6)
        check = plain.mean(axis=0)
        assert (alike[1][~own] >= check[~own] - 1e-6).all()
    for attributes in (("a",), ("b",), ("a", "b")):
        found = signatures_of(release.data, attributes, minimum)
        if found is None:
            continue
        leak, beliefs = told.attacked(found, 0.5, "fixed-point", FULL)
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
