"""Criteria are the numbers of the measures themselves, with their direction."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from anoncore import AnonymizationError, Microdata, ParameterError, ReleaseError, attacks, privacy, utility
from anoncore.algorithms import Mondrian, RandomBuckets, VerticalFragmentation
from anoncore.measures.criteria import CRITERIA, FAMILIES, evaluate
from anoncore.requirements import KAnonymity


def _data(n: int = 200) -> Microdata:
    rng = np.random.default_rng(11)
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 80, n),
            "sex": rng.choice(["f", "m"], n),
            "town": rng.choice(list("ABCD"), n),
            "illness": rng.choice(["flu", "cold", "ulcer", "gout"], n),
            "pay": rng.integers(1, 9, n),
        }
    )
    roles = dict.fromkeys(["age", "sex", "town"], "quasi-identifier") | {"illness": "sensitive", "pay": "sensitive"}
    return Microdata(frame, roles)


def test_numbers_are_those_of_the_measures() -> None:
    release = Mondrian(requirements=[KAnonymity(k=5)]).anonymize(_data())
    found = evaluate(release)
    profile = privacy.profile(release)
    disclosure = attacks.attribute_disclosure(release, "illness")
    risk = attacks.reidentification(release).prosecutor
    assert found["k"] == profile.k == release.partition.sizes.min()
    assert found["distinct-l"] == profile["illness"].distinct.min()
    assert found["max-share"] == pytest.approx(profile["illness"].max_share.max())
    assert found["t"] == pytest.approx(privacy.emd(release, "illness", ground="equal").max())
    assert found["largest-belief"] == pytest.approx(disclosure.belief.max())
    assert found["believed-above-half"] == pytest.approx((disclosure.belief > 0.5 + 1e-9).mean())
    assert found["reidentified-mean"] == pytest.approx(float(risk.mean))
    assert found["information-loss"] == pytest.approx(float(utility.information_loss(release)))
    queries = utility.query_error(release)
    assert found["query-error"] == pytest.approx(float(queries)) == pytest.approx(queries.mean)
    assert found["median-query-error"] == pytest.approx(float(queries.median))
    assert found["discernibility"] == (release.partition.sizes.astype(float) ** 2).sum()


def test_the_distance_is_the_one_that_fits_the_attribute() -> None:
    release = Mondrian(requirements=[KAnonymity(k=5)]).anonymize(_data())
    found = evaluate(release, ["t"], attribute="pay")
    assert found["t"] == pytest.approx(privacy.emd(release, "pay", ground="ordered").max())


def test_a_form_without_a_number_says_why() -> None:
    fragments = VerticalFragmentation(k=4, class_attribute="illness", seed=0).anonymize(_data())
    found = evaluate(fragments, ["foreground-excess", "membership-belief", "information-loss"])
    assert isinstance(found["foreground-excess"], ReleaseError)
    assert isinstance(found["membership-belief"], AnonymizationError)
    assert 0 < float(found["information-loss"]) <= 1  # type: ignore[arg-type]


def test_membership_is_a_number_of_permuted_columns_only() -> None:
    data = _data()
    columns = (("age", "sex", "pay"), ("town", "illness"))
    sliced = RandomBuckets(size=20, attribute_columns=columns, seed=0).anonymize(data)
    expected = attacks.membership(sliced).belief
    assert evaluate(sliced, ["membership-belief"])["membership-belief"] == pytest.approx(float(expected))
    whole = Mondrian(requirements=[KAnonymity(k=5)]).anonymize(data)
    assert isinstance(evaluate(whole, ["membership-belief"])["membership-belief"], ReleaseError)


def test_directions_and_texts() -> None:
    assert CRITERIA["k"].better(5, 4)
    assert CRITERIA["information-loss"].better(0.1, 0.2)
    assert CRITERIA["information-loss"].text(0.1234) == "12.3%"
    assert CRITERIA["k"].text(1234.0) == "1,234"
    assert {one.family for one in CRITERIA.values()} == set(FAMILIES)


def test_an_unknown_criterion_is_refused_by_name() -> None:
    release = Mondrian(requirements=[KAnonymity(k=5)]).anonymize(_data())
    with pytest.raises(ParameterError, match="beauty"):
        evaluate(release, ["beauty"])
