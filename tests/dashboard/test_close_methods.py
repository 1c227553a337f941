"""The page Method walks through Stack & Deal and shows the boxes of sensitive-space fragmentation."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from anoncore import privacy
from anoncore.algorithms import SensitiveSpaceFragmentation, StackAndDeal
from anoncore.base.texts import share_text
from anoncore.utility import information_loss
from dashboard.closer.dealing import stops
from tests.dashboard.conftest import Visitor
from tests.dashboard.results import ROLES, add_run, figure, grid, metrics, people

VISITS = {**ROLES, "illness": "insensitive", "visits": "sensitive"}
BOTH = {**ROLES, "visits": "sensitive"}


def to_step(visitor: Visitor, run_id: str, step: int) -> Visitor:
    visitor.at.session_state[f"_step-deal-{run_id}"] = step
    return visitor.run()


def test_the_rounds_at_which_the_deal_stops() -> None:
    assert stops(1) == [1]
    assert stops(4) == [1, 2, 3, 4]
    assert stops(50) == [1, 2, 3, 25, 50]


def test_stack_and_deal_step_by_step(visitor: Visitor) -> None:
    run = add_run(visitor, StackAndDeal(k=24, seed=0), people(), VISITS)
    visitor.open("method")
    counted = figure(visitor, "deal-counts")[0]
    assert 0 < np.sum(counted["x"], dtype=int) <= 240
    visitor.press("Next")
    assert "Step 2 of 9: Stack the cards" in visitor.texts()
    on_stack, gone, _ = figure(visitor, "deal-cards")
    assert np.sum(on_stack["x"], dtype=int) == 240
    assert np.sum(gone["x"], dtype=int) == 0
    visitor.press("Next").press("Next")
    on_stack, gone, _ = figure(visitor, "deal-cards")
    assert np.sum(gone["x"], dtype=int) == 20
    assert "20 of 240 cards so far" in visitor.texts()
    visitor.press("Back")
    assert "Step 3 of 9: Deal up to round 1" in visitor.texts()
    to_step(visitor, run.id, 7)
    assert "differ by more than 1" in visitor.texts()
    assert metrics(visitor)["Largest EMD"] == f"{privacy.emd(run.release, 'visits', 'ordered').max():.4f}"


@pytest.mark.parametrize("locality", [True, False])
def test_locality_is_shown_before_and_after(visitor: Visitor, locality: bool) -> None:
    run = add_run(visitor, StackAndDeal(k=24, seed=0, locality=locality), people(), VISITS)
    visitor.open("method")
    to_step(visitor, run.id, 8)
    found = metrics(visitor)
    losses = [information_loss(StackAndDeal(k=24, seed=0, locality=near).anonymize(run.data)) for near in (False, True)]
    assert found["Loss by chance"] == share_text(losses[0])
    assert found["Loss with neighbours"] == share_text(losses[1])
    assert found["EMD by chance"] == found["EMD with neighbours"]
    chance, near = figure(visitor, "deal-losses")
    assert np.mean(chance["x"]) == pytest.approx(float(losses[0]))
    assert np.mean(near["x"]) == pytest.approx(float(losses[1]))


def test_two_attributes_have_boxes_over_their_counts(visitor: Visitor) -> None:
    model = SensitiveSpaceFragmentation(t={"illness": 0.3, "visits": 0.15}, seed=0)
    run = add_run(visitor, model, people(), BOTH)
    visitor.open("method")
    parts = model.fragmentation_of(run.release)
    found = metrics(visitor)
    assert found["Boxes"] == str(parts.n_fragments)
    assert found["Bound of visits"] == f"{parts.bounds[1]:.4f}"
    true = privacy.emd(run.release, "visits", "ordered").max()
    assert [one.delta for one in visitor.at.metric if one.label == "Bound of visits"] == [f"true {true:.4f}, t = 0.15"]
    listed = grid(visitor, "list-space")
    assert len(listed) == parts.n_fragments
    assert listed["rows"].sum() == 240
    assert listed[["bound 0", "bound 1"]].sum().to_numpy() == pytest.approx(parts.bounds)
    cells = figure(visitor, "space-map")[0]
    assert np.nansum(np.expm1(np.asarray(cells["z"], dtype=float))) == pytest.approx(240)


def test_the_chosen_box_stays_chosen(visitor: Visitor) -> None:
    run = add_run(visitor, SensitiveSpaceFragmentation(t={"illness": 0.3, "visits": 0.15}, seed=0), people(), BOTH)
    visitor.open("method")
    second = int(np.argsort(-run.algorithm.fragmentation_of(run.release).box_bounds.sum(axis=1), kind="stable")[1])
    boxes = run.algorithm.fragmentation_of(run.release).boxes
    visitor.at.session_state[f"_space-{run.id}"] = second
    visitor.run().open("privacy").open("method")
    filled = figure(visitor, "space-map")[2]
    assert filled["x"][:2] == pytest.approx([boxes[second, 0, 0] - 0.5, boxes[second, 0, 1] + 0.5])


def test_one_attribute_has_intervals_and_three_can_be_chosen_from(visitor: Visitor) -> None:
    add_run(visitor, SensitiveSpaceFragmentation(other_t=0.1, seed=0), people(), VISITS, "one.csv")
    visitor.open("method")
    assert np.sum(figure(visitor, "space-intervals")[0]["y"]) == 240
    three = {**BOTH, "sex": "sensitive"}
    frame = people()[[*three]]
    add_run(visitor, SensitiveSpaceFragmentation(other_t=0.4, seed=0), frame, three, "three.csv")
    visitor.run()
    assert "more than two sensitive attributes" in visitor.texts()
    before = figure(visitor, "space-map")[0]["z"]
    key = next(box.key for box in visitor.at.selectbox if str(box.key).startswith("space-up"))
    visitor.at.selectbox(key=key).set_value("visits")
    visitor.run()
    assert np.shape(figure(visitor, "space-map")[0]["z"]) != np.shape(before)


def test_exact_sizing_is_shown_too(visitor: Visitor) -> None:
    frame = pd.DataFrame({"age": np.arange(80) % 7, "x": np.repeat([1, 2, 3, 4], 20), "y": np.tile([1, 2], 40)})
    roles = {"age": "quasi-identifier", "x": "sensitive", "y": "sensitive"}
    add_run(visitor, SensitiveSpaceFragmentation(other_t=0.0, sizing="exact", seed=0), frame, roles, "exact.csv")
    visitor.open("method")
    assert metrics(visitor)["Boxes"] == "8"
