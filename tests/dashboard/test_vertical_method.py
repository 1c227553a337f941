"""The page Method shows how vertical fragmentation made a release, tab by tab."""

from __future__ import annotations

import time
from typing import Any

import pytest

from anoncore import attacks, privacy
from anoncore.algorithms import VerticalFragmentation
from anoncore.algorithms.vertical.changes import changes_by_strategy
from anoncore.base.texts import share_text
from anoncore.utility import information_loss
from dashboard.closer.vertical import compare, fragment_table, pair_means
from tests.dashboard.conftest import Visitor
from tests.dashboard.results import add_run, figure, metrics, table_of
from tests.privacy.test_join_pairs import rare_classes

ROLES = {**{f"q{i}": "quasi-identifier" for i in range(4)}, "c": "sensitive"}


def run_of(visitor: Visitor, **parameters: Any) -> Any:
    run = add_run(visitor, VerticalFragmentation(**{"k": 6, "seed": 1, **parameters}), rare_classes(3).frame, ROLES)
    visitor.open("method")
    return run


def tab(visitor: Visitor, name: str) -> Visitor:
    visitor.at.session_state["_vertical-method"] = name
    visitor.at.session_state["tabs-vertical-method"] = name
    return visitor.run()


def wait(visitor: Visitor, chart: str, seconds: float = 60) -> list[dict[str, Any]]:
    end = time.monotonic() + seconds
    while True:
        try:
            return figure(visitor, chart)
        except AssertionError:
            if time.monotonic() > end:
                raise
            time.sleep(0.1)
            visitor.run()


def test_fragments_and_their_map(visitor: Visitor) -> None:
    run = run_of(visitor)
    found = run.algorithm.resolve_fragments(run.data)
    numbers = metrics(visitor)
    assert numbers["Fragments"] == "2"
    assert numbers["FMRMR"] == f"{found.fmrmr:.3f} nats"
    inside, across = pair_means(found)
    assert numbers["Pairs in one fragment"] == f"{inside:.3f} nats"
    frame = table_of(visitor, "Fragment", "Attributes", "Of class")
    assert frame["Attributes"].sum() == 4
    assert (frame["Of class"] - frame["Of each other"]).sum() == pytest.approx(found.fmrmr, abs=0.003)
    for names in found.fragments:
        assert ", ".join(names) in visitor.texts()
    assert list(figure(visitor, "vertical-information")[0]["x"])[-1] == "c"
    pairs = [found.information.loc[one, other] for one in found.fragments[0] for other in found.fragments[1]]
    assert across == pytest.approx(sum(pairs) / len(pairs))
    assert fragment_table(found).equals(frame)


def test_classes_of_each_fragment(visitor: Visitor) -> None:
    run = run_of(visitor)
    tab(visitor, "Groups")
    frame = table_of(visitor, "Fragment", "Attributes", "Groups")
    assert frame["Groups"].tolist() == [fragment.partition.n_groups for fragment in run.release.fragments]
    losses = information_loss(run.release)
    assert frame["Loss"].iloc[0].endswith("%")
    mean = sum(float(text.rstrip("%")) for text in frame["Loss"]) / 200
    assert mean == pytest.approx(float(losses), abs=0.001)
    bars = figure(visitor, "vertical-sizes")[0]
    assert sum(bars["y"]) == run.release.fragments[0].partition.n_groups


@pytest.mark.parametrize("enforce", ["dependency", "selectivity"])
def test_joins_before_and_after(visitor: Visitor, enforce: str) -> None:
    run = run_of(visitor, enforce=enforce, delta=0.9)
    tab(visitor, "Joins")
    found = privacy.worst_joins(run.release)
    assert found.n_broken > 0
    numbers = metrics(visitor)
    assert numbers["Unsafe before"] == f"{found.n_broken:,}"
    assert numbers["Unsafe after"] == "0"
    before, after = (figure(visitor, f"vertical-joins-{when}")[0]["z"] for when in ("before", "after"))
    assert (before == 2).sum() == found.broken_before.sum()
    assert (after == 2).sum() == 0
    ranked = table_of(visitor, "Group of fragment 1", "Rows")
    assert len(ranked) == found.n_broken
    assert ranked.iloc[:, 5].is_monotonic_increasing
    pairs = privacy.unsafe_pairs(run.release, published=False)
    assert ranked["Group of fragment 1"].tolist() == (pairs["first class"] + 1).tolist()


def test_three_fragments_are_joined_two_by_two_and_all(visitor: Visitor) -> None:
    run_of(visitor, fragments=3)
    tab(visitor, "Joins")
    assert table_of(visitor, "Fragments", "Joins")["Fragments"].tolist() == ["1, 2", "1, 3", "2, 3", "1, 2, 3"]
    assert set(table_of(visitor, "Fragments", "Joins")["Unsafe"]) == {"0"}


def test_with_l_nothing_was_changed(visitor: Visitor) -> None:
    run_of(visitor, l=2, k=4)
    assert "rows are cut into segments" in visitor.texts()
    tab(visitor, "Joins")
    assert metrics(visitor)["Unsafe before"] == "0"
    assert "Here no class value is changed" in visitor.texts()
    assert "groups merged with others to make joins safe" in visitor.texts()
    tab(visitor, "Class values")
    wait(visitor, "vertical-changes")
    assert "This release changes no class value" in visitor.texts()


def test_a_release_that_needed_no_change_says_so(visitor: Visitor) -> None:
    run_of(visitor, k=60)
    tab(visitor, "Joins")
    assert "No join was unsafe to begin with" in visitor.texts()


def test_changes_of_all_strategies(visitor: Visitor) -> None:
    run = run_of(visitor)
    tab(visitor, "Class values")
    bars = wait(visitor, "vertical-changes")
    found = changes_by_strategy(run.release, 6)
    assert list(bars[0]["x"]) == pytest.approx([float(one) for one in found.values()])
    assert table_of(visitor, "Strategy", "Share")["Changed"].tolist() == [
        f"{one.number:,} of {one.total:,}" for one in found.values()
    ]


def test_likelihood_of_membership(visitor: Visitor) -> None:
    run = run_of(visitor)
    tab(visitor, "Membership")
    found = attacks.membership(run.release)
    numbers = metrics(visitor)
    assert numbers["Largest likelihood"] == share_text(found.largest)
    assert numbers["Mean likelihood"] == share_text(found.mean)
    assert numbers["Without a match"] == share_text(float(found.unmatched))
    assert sum(figure(visitor, "membership-likelihood")[0]["y"]) == pytest.approx(1 - float(found.unmatched))


def test_fragmented_beside_unfragmented(visitor: Visitor) -> None:
    run = run_of(visitor)
    tab(visitor, "Unfragmented")
    bars = wait(visitor, "vertical-f")
    steps: list[float] = []
    found = compare(run.release, "tree", lambda done, text: steps.append(done))
    assert steps == sorted(steps)
    expected = [found.learned.released, found.whole_learned.released, found.learned.original, found.learned.majority]
    assert list(bars[0]["x"]) == pytest.approx([one.weighted_f for one in expected])
    losses = list(figure(visitor, "vertical-loss")[0]["x"])
    assert losses == pytest.approx([float(information_loss(run.release)), float(found.whole_loss)])
    # All four quasi-identifiers at once, k rows in every class.
    assert "Against whole rows with the same requirements" in visitor.texts()
    assert found.whole_classes <= run.data.n_rows // 6
