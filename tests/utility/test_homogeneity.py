"""Conditional entropy and RMSE: by hand, and against pandas."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings

from anoncore import DataError, Microdata, Release, ReleaseError
from anoncore.utility import conditional_entropy, rmse
from tests.utility.releases import fragment, generalized, random_releases, sliced


@pytest.fixture
def data() -> Microdata:
    frame = pd.DataFrame(
        {
            "age": [20.0, 30.0, 30.0, 50.0, 70.0, None],
            "class": ["a", "a", "b", "b", "b", "b"],
            "born": pd.to_datetime(["2000-01-01", "2000-01-03"] * 3),
        }
    )
    return Microdata(frame, roles={"age": "quasi-identifier", "class": "sensitive", "*": "insensitive"})


def test_conditional_entropy_by_hand(data: Microdata) -> None:
    # Groups {a, a}, {b, b}, {b, b} know the class; {a, a, b} does not: 3/6 (1/3 log 3 + 2/3 log 3/2).
    assert conditional_entropy(generalized(data, [0, 0, 1, 1, 2, 2]), "class") == 0
    mixed = conditional_entropy(generalized(data, [0, 0, 0, 1, 1, 1]), "class")
    assert float(mixed) == pytest.approx(0.5 * (math.log2(3) / 3 + math.log2(1.5) * 2 / 3))
    whole = conditional_entropy(generalized(data, [0] * 6), "class")
    assert float(whole) == pytest.approx(math.log2(3) / 3 + math.log2(1.5) * 2 / 3)
    assert whole.baseline == pytest.approx(float(whole))
    assert whole.unit == "bits"


def test_rmse_by_hand(data: Microdata) -> None:
    # Means 25, 40, 70 (missing left out): squared errors 25, 25, 100, 100, 0 over five known ages.
    error = rmse(generalized(data, [0, 0, 1, 1, 2, 2]), "age")
    assert float(error) == pytest.approx(math.sqrt(50))
    assert error.baseline == pytest.approx(np.std([20, 30, 30, 50, 70]))


def test_rmse_of_dates_is_in_days(data: Microdata) -> None:
    error = rmse(generalized(data, [0] * 6), "born")
    assert float(error) == pytest.approx(1.0)
    assert error.unit == "days"


def test_targets_that_do_not_fit(data: Microdata) -> None:
    release = generalized(data, [0] * 6)
    with pytest.raises(DataError, match="'class' holds no numbers"):
        rmse(release, "class")
    for measure in (rmse, conditional_entropy):
        with pytest.raises(ReleaseError, match="does not publish 'weight'"):
            measure(release, "weight")
    with pytest.raises(ReleaseError, match="does not publish 'age'"):
        rmse(Release(data, (fragment(data, "part", release.partition, ["class"]),)), "age")


@pytest.mark.slow
@given(random_releases())
@settings(max_examples=25)
def test_equal_pandas(release: Release) -> None:
    data = release.data
    entropies, errors = [], []
    for part in release.fragments:
        frame = data.frame.assign(group=part.partition.group)
        if "ill" in part.recodings:
            recoding = part.recodings["ill"]
            frame["ill"] = recoding.codes if hasattr(recoding, "codes") else data.codes["ill"]
            shares = frame.groupby("group")["ill"].value_counts(normalize=True)
            entropy = -(shares * np.log2(shares)).groupby(level=0).sum()
            entropies.append((entropy * frame.groupby("group").size()).sum() / data.n_rows)
        if "pay" in part.recodings:
            mean = frame.groupby("group")["pay"].transform("mean")
            errors.append(float(np.sqrt(((frame["pay"] - mean) ** 2).mean())))
    if release.is_shared:
        entropies, errors = entropies[:1], errors[:1]
    assert float(conditional_entropy(release, "ill")) == pytest.approx(np.mean(entropies), abs=1e-12)
    assert float(rmse(release, "pay")) == pytest.approx(np.mean(errors), abs=1e-12)


def test_buckets_of_different_values_have_the_entropy_of_their_size(data: Microdata) -> None:
    release = sliced(data, [0, 1, 0, 1, 2, 2], [["age"], ["class"]])
    assert float(conditional_entropy(release, "class")) == pytest.approx(4 / 6)
