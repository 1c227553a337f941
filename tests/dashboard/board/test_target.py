"""Which attribute a release is asked to predict where nobody chose one."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from anoncore import Microdata
from dashboard.session.wishes import LEAST_TOLD, Wishes, best_predicted, tau


def plain_tau(given, target) -> float:
    """Expected errors of a guess in proportion to the shares, with and without the other attribute."""
    frame = pd.DataFrame({"given": given, "target": target})
    alone = 1 - (frame["target"].value_counts(normalize=True) ** 2).sum()
    inside = sum(
        len(part) / len(frame) * (1 - (part["target"].value_counts(normalize=True) ** 2).sum())
        for _, part in frame.groupby("given")
    )
    n, values = len(frame), frame["given"].nunique()
    return max(1 - inside / alone * (n - 1) / (n - values), 0.0)


def test_tau_is_the_share_of_wrong_guesses_that_is_saved():
    given, target = np.array([0, 0, 0, 1, 1, 1, 1, 1]), np.array([0, 0, 1, 1, 1, 1, 1, 0])
    # Alone 1 - (3/8)^2 - (5/8)^2 = 15/32 are wrong; inside 3/8 * 4/9 + 5/8 * 8/25 = 11/30.
    assert tau(given, target) == pytest.approx(1 - (11 / 30) / (15 / 32) * 7 / 6)
    draw = np.random.default_rng(1)
    for _ in range(20):
        one, other = draw.integers(0, 4, 200), draw.integers(0, 3, 200)
        assert tau(one, other) == pytest.approx(plain_tau(one, other))
    assert tau(given, given) == pytest.approx(1.0)
    assert tau(given, np.zeros(8, dtype=int)) == 0.0


def people(n=600) -> Microdata:
    draw = np.random.default_rng(3)
    job = draw.integers(0, 6, n)
    frame = pd.DataFrame(
        {
            "job": job,
            "job title": np.array(["a", "b", "c", "d", "e", "f"])[job],
            "income": np.where(draw.random(n) < 0.8, job // 3, draw.integers(0, 2, n)),
            "noise": draw.integers(0, 5, n),
            "number": draw.permutation(n),
            "illness": np.where(draw.random(n) < 0.95, job % 3, 0),
        }
    )
    roles = {name: "quasi-identifier" for name in frame.columns if name not in ("number", "illness")}
    return Microdata(frame, {**roles, "number": "insensitive", "illness": "sensitive"})


def test_the_best_predicted_is_no_secret_no_other_name_of_another_and_no_number_of_everybody():
    data = people()
    # The title says the job in other words, the illness follows it most closely but is secret.
    assert best_predicted(data) == "income"
    assert Wishes().target_of(data) == "income"
    assert Wishes(target="noise").target_of(data) == "noise"


def test_where_hardly_anything_is_told_the_best_predicted_known_attribute_stands_in_and_never_the_secret():
    draw = np.random.default_rng(5)
    frame = pd.DataFrame({name: draw.integers(0, 4, 500) for name in ("one", "two", "three", "four", "secret")})
    frame["three"] = np.where(draw.random(500) < 0.1, frame["two"], frame["three"])
    frame["secret"] = frame["three"]
    roles = {**dict.fromkeys(("one", "two", "three"), "quasi-identifier"), "four": "insensitive", "secret": "sensitive"}
    data = Microdata(frame, roles)
    found = {
        name: max(
            tau(data.codes[other], data.codes[name]) for other in ("one", "two", "three", "four") if other != name
        )
        for name in ("one", "two", "three")
    }
    assert max(found.values()) < LEAST_TOLD
    assert Wishes().target_of(data) == max(found, key=found.get)
    assert Wishes(target="secret").target_of(data) == "secret"


def test_where_all_that_others_know_has_too_many_values_nothing_is_predicted():
    frame = pd.DataFrame({"number": range(60), "same": 1, "secret": [0, 1, 1] * 20})
    roles = {"number": "quasi-identifier", "same": "quasi-identifier", "secret": "sensitive"}
    assert Wishes().target_of(Microdata(frame, roles)) is None
