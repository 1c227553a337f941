"""The page Before and after shows every form of release beside the table, as pandas and plain loops count it."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pandas as pd
import pytest

from anoncore import Microdata, Release
from anoncore.algorithms import Anatomy, Mask, Mondrian, Suppression
from anoncore.front.contract import ROLES as MANY_ROLES
from anoncore.front.contract import people as many_people
from anoncore.release.cell_changes import CHANGES, Change, cell_changes
from anoncore.requirements import KAnonymity
from dashboard.closer.before_after import beside, changes_of, differences_of, sampled_order
from tests.dashboard.conftest import Visitor
from tests.dashboard.results import add_run, figure, people, table_of
from tests.dashboard.test_release_forms import Fragmented, Masked
from tests.properties.subjects import build, subjects

GENERALIZED = Mondrian(requirements=(KAnonymity(k=6),))


def shown_table(visitor: Visitor) -> pd.DataFrame:
    """The rows on the page."""
    return table_of(visitor, ("row", ""))


@pytest.mark.slow
def test_without_a_release_the_page_makes_those_of_the_board(visitor: Visitor) -> None:
    visitor.open("before and after").until(lambda: visitor.here.runs)
    assert visitor.errors == []
    run = visitor.here.runs[0]
    assert run.column == "c1"
    assert run.label in visitor.texts()


def test_fifty_rows_stand_beside_what_is_published_of_them(visitor: Visitor) -> None:
    run = add_run(visitor, GENERALIZED)
    visitor.open("before and after")
    table = shown_table(visitor)
    assert len(table) == 50
    rows = table["row", ""].to_numpy() - 1
    assert table["age", "original"].tolist() == people()["age"].iloc[rows].astype(str).tolist()
    assert table["age", "published"].tolist() == run.release.recoding("age").texts()[rows].tolist()
    assert table["illness", ""].tolist() == people()["illness"].iloc[rows].tolist()
    assert "name" not in table.columns.get_level_values(0)
    assert "Not published: name" in visitor.texts()


@pytest.mark.slow
def test_samples_are_always_the_same_and_no_row_comes_twice(visitor: Visitor) -> None:
    run = add_run(visitor, GENERALIZED)
    visitor.open("before and after")
    seen: list[int] = []
    for page in range(1, 6):
        visitor.at.number_input(key=f"before-after-page-{run.id}-0").set_value(page)
        visitor.run()
        seen += shown_table(visitor)["row", ""].tolist()
    assert sorted(seen) == list(range(1, 241))
    assert sampled_order(240)[:50].tolist() != list(range(50))
    assert sorted(sampled_order(240)[:50] + 1) == seen[:50]


def test_rows_with_one_kind_of_change_can_be_asked_for(visitor: Visitor) -> None:
    run = add_run(visitor, Masked(requirements=()))
    visitor.open("before and after")
    visitor.at.selectbox(key="before-after-rows").set_value("rows with a cell that is replaced")
    visitor.run()
    table = shown_table(visitor)
    replaced = np.flatnonzero(cell_changes(run.release, "illness") == CHANGES.index(Change.REPLACED))
    assert (table["row", ""] - 1).tolist() == replaced.tolist()
    assert (table["illness", "original"] != table["illness", "published"]).all()


def test_an_unlinked_cell_lists_what_its_bucket_has() -> None:
    frame = pd.DataFrame({"age": [20, 21, 22, 23, 24, 25], "ill": ["flu", "cold", "flu", "gout", "flu", "cold"]})
    data = Microdata(frame, roles={"age": "quasi-identifier", "ill": "sensitive"})
    release = Anatomy(l=2, seed=1).anonymize(data)
    table = beside(release, changes_of(release), np.arange(6))
    for row, text in enumerate(table["ill", "published"]):
        fellows = release.partition.rows(int(release.partition.group[row]))
        counts = Counter(frame["ill"].iloc[fellows])
        assert dict(one.rsplit(" ×", 1) for one in text.split(", ")) == {
            value: str(count) for value, count in counts.items()
        }
    assert table["age", ""].tolist() == frame["age"].tolist()


@pytest.mark.parametrize("algorithm", [GENERALIZED, Anatomy(l=2, seed=1), Mask(k=4, l=2, seed=1)])
def test_bars_count_the_cells(visitor: Visitor, algorithm: Any) -> None:
    run = add_run(visitor, algorithm)
    visitor.open("before and after")
    bars = figure(visitor, "before-after-changes")
    names = list(run.release.attributes)
    for bar in bars:
        number = [str(change) for change in CHANGES].index(bar["name"])
        expected = [(cell_changes(run.release, name) == number).mean() for name in names]
        assert list(bar["x"]) == pytest.approx(expected)
    assert sum(np.array(bar["x"]) for bar in bars) == pytest.approx(np.ones(len(names)))


def test_two_attributes_before_after_and_their_difference(visitor: Visitor) -> None:
    run = add_run(visitor, Anatomy(l=2, seed=1))
    visitor.open("before and after")
    visitor.at.selectbox(key="before-after-across").set_value("sex")
    visitor.run()
    before, after, difference = (
        figure(visitor, f"before-after-joint-{key}")[0] for key in ("before", "after", "difference")
    )
    counted = pd.crosstab(run.data.frame["illness"], run.data.frame["sex"], normalize="all")
    shares = counted.loc[list(run.data.domain["illness"].values), list(run.data.domain["sex"].values)].to_numpy()
    assert np.asarray(before["z"]) == pytest.approx(shares, abs=1e-6)
    assert np.asarray(after["z"]) == pytest.approx(_expected(run.release), abs=1e-6)
    assert np.asarray(difference["z"]) == pytest.approx(_expected(run.release) - shares, abs=1e-6)


def _expected(release: Release) -> np.ndarray:
    """Illness and sex, linked at random within each bucket."""
    data, group = release.data, release.partition.group
    table = np.zeros((len(data.domain["illness"]), len(data.domain["sex"])))
    for row in range(data.n_rows):
        fellows = np.flatnonzero(group == group[row])
        for fellow in fellows:
            table[data.codes["illness"][fellow], data.codes["sex"][row]] += 1 / len(fellows) / data.n_rows
    return table


@pytest.mark.slow
@pytest.mark.parametrize(("name", "parameters"), subjects(turn=0))
def test_releases_of_every_method_are_drawn(visitor: Visitor, name: str, parameters: dict[str, Any]) -> None:
    release = add_run(visitor, build(name, parameters), many_people(), MANY_ROLES).release
    visitor.open("before and after")
    assert visitor.errors == []
    # Where rows are left out, one more shows who they are.
    assert len(visitor.at.get("plotly_chart")) == 5 + bool(release.suppressed_rows.any())


@pytest.mark.slow
def test_fragments_with_groups_of_their_own_are_drawn(visitor: Visitor) -> None:
    add_run(visitor, Fragmented(requirements=()))
    visitor.open("before and after")
    assert visitor.errors == []
    table = shown_table(visitor)
    assert ("town", "published") in table.columns
    assert "which no reader can tell" in visitor.texts()


def test_who_is_left_out_is_told_beside_all_rows(visitor: Visitor) -> None:
    frame = people()
    frame.loc[:14, "age"] = np.arange(15) * 1_000
    method = Suppression(method=Mondrian(requirements=(KAnonymity(k=10),)), max_suppression=0.1)
    run = add_run(visitor, method, frame)
    left_out = run.release.suppressed_rows
    # Of the fifteen who are far from all others, ages 0, 1,000 and 3,000 are closest to them.
    assert np.flatnonzero(left_out).tolist() == [2, *range(4, 15)]
    visitor.open("before and after")
    assert f"{left_out.sum()} of 240 rows" in visitor.texts()
    first = differences_of(run.release)[0]
    assert first.axis.name == "age"
    codes = run.data.codes[first.axis.name]
    counted = np.bincount(first.axis.bin_of[codes[left_out]], minlength=first.axis.n_bins) / left_out.sum()
    assert first.left_out == pytest.approx(counted)
    assert first.distance == pytest.approx(np.abs(counted - first.axis.counts(codes) / 240).sum() / 2)
    assert f"{counted[first.bin]:.0%} have '{first.axis.name}'" in visitor.texts()
    assert figure(visitor, "left-out-distribution")


def test_nobody_left_out_is_nothing_to_tell(visitor: Visitor) -> None:
    run = add_run(visitor, GENERALIZED)
    visitor.open("before and after")
    assert differences_of(run.release) == ()
    assert "left out" not in visitor.texts()
