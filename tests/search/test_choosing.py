"""Choosing k by privacy loss and information loss together."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from anoncore import CancelledError, InfeasibleError, Microdata, ParameterError, privacy
from anoncore.algorithms import Mondrian, RandomPartition, StackAndDeal
from anoncore.datasets import table
from anoncore.search.choosing import MOST_TRIED, Choice, choose_k, largest_distance, largest_k, tried_values
from anoncore.utility import information_loss


@pytest.fixture(scope="module")
def salaries() -> Microdata:
    entry = table("t-closeness-salaries")
    return Microdata(entry.load(), roles=entry.roles, kinds=entry.kinds)


def test_every_k_from_2_to_the_number_of_values_is_tried_and_the_least_cost_is_best(salaries):
    choice = choose_k(salaries, alpha=0.3, algorithm=StackAndDeal(seed=0))
    assert choice.k.tolist() == list(range(2, 11))
    for place, k in enumerate(choice.k.tolist()):
        release = StackAndDeal(k=k, seed=0).anonymize(salaries)
        assert choice.t[place] == pytest.approx(privacy.emd(release, "salary", ground="ordered").max())
        assert choice.information_loss[place] == pytest.approx(float(information_loss(release)))
        assert choice.n_classes[place] == 250 // k
    cost = 0.3 * choice.t + 0.7 * choice.information_loss
    assert choice.cost == pytest.approx(cost)
    assert choice.best == choice.k[np.argmin(cost)]


def test_weights_move_the_choice_from_small_to_large_classes():
    losses = Choice(
        0.5, np.array([2, 4, 8]), np.array([0.4, 0.2, 0.1]), np.array([0.1, 0.15, 0.4]), np.array([8, 4, 2])
    )
    assert losses.cost == pytest.approx([0.25, 0.175, 0.25])
    assert losses.best == 4
    assert losses.weighted(0.0).best == 2
    assert losses.weighted(1.0).best == 8
    with pytest.raises(ParameterError, match="alpha"):
        losses.weighted(1.5)


def test_privacy_loss_falls_as_k_grows_on_the_whole(salaries):
    choice = choose_k(salaries, ks=[2, 5, 10, 50], algorithm=StackAndDeal(seed=0))
    assert (np.diff(choice.t) < 0).all()
    assert (np.diff(choice.information_loss) > 0).all()


def test_other_methods_and_values_of_k_can_be_asked_for(salaries):
    choice = choose_k(salaries, ks=[9, 3, 3], algorithm=RandomPartition(seed=1))
    assert choice.k.tolist() == [3, 9]
    assert choice.n_classes.tolist() == [83, 27]


def test_many_values_are_tried_in_proportion():
    frame = pd.DataFrame({"q": range(400), "s": range(400)})
    data = Microdata(frame, roles={"q": "quasi-identifier", "s": "sensitive"})
    choice = choose_k(data, algorithm=StackAndDeal(locality=False, seed=0))
    assert choice.k[0] == 2
    assert choice.k[-1] == 400
    assert 20 <= len(choice.k) <= 30


def test_the_distance_is_the_largest_over_attributes_by_their_kind():
    frame = pd.DataFrame({"q": range(4), "x": [1, 2, 3, 4], "y": list("abcc")})
    data = Microdata(frame, roles={"q": "quasi-identifier", "x": "sensitive", "y": "sensitive"})
    release = StackAndDeal(k=1).anonymize(data)
    nominal = privacy.emd(release, "y", ground="equal").max()
    assert largest_distance(release) == pytest.approx(max(nominal, privacy.emd(release, "x", ground="ordered").max()))
    ordered = max(privacy.emd(release, name, ground="ordered").max() for name in ("x", "y"))
    assert largest_distance(release, "ordered") == pytest.approx(ordered)


def test_what_cannot_be_chosen_is_said(salaries):
    with pytest.raises(ParameterError, match="no k"):
        choose_k(salaries, algorithm=Mondrian())
    with pytest.raises(ParameterError, match="alpha"):
        choose_k(salaries, alpha=-0.1)
    for ks in ([], [0, 3]):
        with pytest.raises(ParameterError, match="ks"):
            choose_k(salaries, ks=ks)
    constant = Microdata(pd.DataFrame({"q": [1, 2], "s": [5, 5]}), roles={"q": "quasi-identifier", "s": "sensitive"})
    with pytest.raises(InfeasibleError, match="only one value"):
        choose_k(constant)


def test_a_range_of_k_is_tried_whole_or_spread(salaries):
    assert largest_k(salaries) == 10
    assert tried_values(4, 9) == [4, 5, 6, 7, 8, 9]
    assert tried_values(7, 7) == [7]
    assert tried_values(3, MOST_TRIED + 2) == list(range(3, MOST_TRIED + 3))
    spread = tried_values(2, 5_000)
    assert (spread[0], spread[-1]) == (2, 5_000)
    assert len(spread) <= MOST_TRIED
    for least, most in ((0, 5), (6, 5)):
        with pytest.raises(ParameterError, match="k should run"):
            tried_values(least, most)


def test_it_reports_progress_and_stops_when_asked(salaries):
    seen: list[tuple[float, str]] = []
    choose_k(salaries, ks=[2, 3], progress=lambda done, text: seen.append((done, text)))
    shares = [share for share, _ in seen]
    assert shares == sorted(shares)
    assert (shares[0], shares[-1]) == (0, 1)
    assert all(text.startswith("k = 2: " if share < 0.5 else "k = 3: ") for share, text in seen if share != 0.5)

    def stop(done: float, text: str) -> None:
        raise CancelledError("stop")

    with pytest.raises(CancelledError):
        choose_k(salaries, progress=stop)
