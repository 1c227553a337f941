"""The page Groups shows what pandas finds in the groups, and follows what is clicked."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from anoncore import privacy, utility
from anoncore.algorithms import Anatomy, Mondrian
from anoncore.base.texts import plural
from anoncore.requirements import KAnonymity
from dashboard.closer.class_detail import before_after, group_shares, plane_of, published_rows
from dashboard.closer.groups import ORDERS, levels, listed, shown
from tests.dashboard.conftest import Visitor
from tests.dashboard.results import ROLES, add_run, figure, grid, metrics, people, table_of

GENERALIZED = Mondrian(requirements=(KAnonymity(k=6),))


def _choose(visitor: Visitor, group: int, run_id: str, fragment: str = "release") -> Visitor:
    visitor.at.session_state[f"_class-{run_id}-{fragment}"] = group
    return visitor.run()


@pytest.mark.slow
def test_without_a_release_the_page_makes_those_of_the_board(visitor: Visitor) -> None:
    visitor.open("groups").until(lambda: visitor.here.runs)
    assert visitor.errors == []
    run = visitor.here.runs[0]
    assert run.column == "c1"
    assert run.label in visitor.texts()
    assert visitor.release_shown.value == run.id


def test_sizes_and_list_are_those_of_the_groups(visitor: Visitor) -> None:
    run = add_run(visitor, GENERALIZED)
    visitor.open("groups")
    group = pd.Series(run.release.partition.group)
    sizes = group.value_counts().sort_index()
    found = metrics(visitor)
    assert found["Groups"] == str(len(sizes))
    assert found["Smallest"] == f"{sizes.min()} rows"
    assert found["Largest"] == f"{sizes.max()} rows"
    table = grid(visitor, "class-list").set_index("group")
    assert table["size"].to_dict() == sizes.to_dict()
    illness = run.data.frame["illness"].groupby(group.to_numpy())
    assert table["distinct"].astype(int).to_dict() == illness.nunique().to_dict()
    top = illness.agg(lambda values: values.value_counts(normalize=True).max())
    assert table["max_share"].to_dict() == pytest.approx(top.to_dict())
    assert table["loss"].sort_index().to_numpy() == pytest.approx(utility.information_loss(run.release).per_class)
    assert table["size"].is_monotonic_increasing
    bars = figure(visitor, "class-sizes")[0]
    assert sum(bars["y"]) == len(sizes)


def test_a_chosen_class_is_shown_up_close(visitor: Visitor) -> None:
    run = add_run(visitor, GENERALIZED)
    visitor.open("groups")
    _choose(visitor, 3, run.id)
    assert visitor.at.subheader[0].value == "Group 3"
    rows = run.data.frame[run.release.partition.group == 3]
    table, group = figure(visitor, "class-shares")
    assert group["name"] == "group 3"
    share = rows["illness"].value_counts(normalize=True)
    assert dict(zip(group["customdata"], group["x"], strict=True)) == pytest.approx(
        {value: share.get(value, 0) for value in run.data.domain["illness"].values}
    )
    whole = run.data.frame["illness"].value_counts(normalize=True)
    assert dict(zip(table["customdata"], table["x"], strict=True)) == pytest.approx(whole.to_dict())
    shown_rows = table_of(visitor, ("age", "original"))
    assert len(shown_rows) == len(rows)
    assert sorted(shown_rows["age", "original"]) == sorted(rows["age"].astype(str))
    assert len(set(shown_rows["age", "published"])) == 1
    assert "name" not in shown_rows.columns.get_level_values(0)
    marks = figure(visitor, "class-map")[3]
    assert marks["customdata"].sum() == len(rows)


def test_a_clicked_bar_narrows_the_list_until_it_is_cleared(visitor: Visitor) -> None:
    run = add_run(visitor, GENERALIZED)
    visitor.open("groups")
    sizes = run.release.partition.sizes
    visitor.at.session_state[f"_class-bar-{run.id}"] = 1
    visitor.run()
    wanted = sizes.min() + 1
    assert len(grid(visitor, "class-list")) == (sizes == wanted).sum()
    assert visitor.has_button(f"Listed: {wanted} rows. Show all sizes again")
    visitor.press(f"Listed: {wanted} rows. Show all sizes again")
    assert len(grid(visitor, "class-list")) == len(sizes)


def test_the_list_follows_the_order(visitor: Visitor) -> None:
    add_run(visitor, GENERALIZED)
    visitor.open("groups")
    visitor.at.selectbox(key="class-order").set_value(ORDERS[5])
    visitor.run()
    losses = grid(visitor, "class-list")["loss"]
    assert losses.is_monotonic_decreasing
    visitor.open("privacy").open("groups")
    assert visitor.at.selectbox(key="class-order").value == ORDERS[5]


def test_buckets_are_two_tables_that_are_not_linked(visitor: Visitor) -> None:
    run = add_run(visitor, Anatomy(l=2))
    visitor.open("groups")
    _choose(visitor, 1, run.id, "quasi-identifiers")
    assert visitor.at.subheader[0].value == "Group 1"
    known, hidden = table_of(visitor, "age", "sex"), table_of(visitor, "illness")
    rows = run.data.frame[run.release.partition.group == 1]
    assert sorted(hidden["illness"]) == sorted(rows["illness"])
    assert list(hidden["illness"]) == sorted(hidden["illness"])
    assert "illness" not in known.columns
    assert len(figure(visitor, "class-map")[2]["x"]) == 0
    assert "Groups" in metrics(visitor)


def test_a_table_without_sensitive_attribute_has_a_list_and_a_map(visitor: Visitor) -> None:
    roles = {**ROLES, "illness": "insensitive"}
    add_run(visitor, GENERALIZED, roles=roles)
    visitor.open("groups")
    assert "distinct" not in grid(visitor, "class-list").columns
    figure(visitor, "class-map")


def test_one_quasi_identifier_has_no_map(visitor: Visitor) -> None:
    roles = {**ROLES, "sex": "insensitive", "town": "insensitive"}
    add_run(visitor, GENERALIZED, roles=roles)
    visitor.open("groups")
    assert "A map needs two quasi-identifiers" in visitor.texts()


def test_another_run_with_other_attributes_keeps_the_page_usable(visitor: Visitor) -> None:
    add_run(visitor, GENERALIZED)
    visitor.open("groups")
    visitor.at.selectbox(key="class-across").set_value("town")
    visitor.run()
    frame = people(60).rename(columns={"town": "city", "illness": "disease"})
    roles = {"name": "identifier", "age": "quasi-identifier", "city": "quasi-identifier", "disease": "sensitive"}
    add_run(visitor, Anatomy(l=2), frame, roles, "other.csv")
    visitor.run()
    assert visitor.at.selectbox(key="class-across").value == "age"


def test_only_so_many_groups_are_listed() -> None:
    frame = pd.DataFrame({"group": np.arange(5000), "size": np.arange(5000)[::-1]})
    few = shown(frame, ORDERS[0], most=10)
    assert few["group"].tolist() == list(range(4999, 4989, -1))
    assert len(listed(frame, (3, 5))) == 3


def test_details_of_a_group_by_hand(visitor: Visitor) -> None:
    frame = pd.DataFrame(
        {"age": [20, 30, 40, 50], "town": ["a", "a", "b", "b"], "illness": ["flu", "cold", "flu", "flu"]}
    )
    roles = {"age": "quasi-identifier", "town": "quasi-identifier", "illness": "sensitive"}
    run = add_run(visitor, Mondrian(requirements=(KAnonymity(k=2),)), frame, roles)
    fragment = run.release.fragments[0]
    group = int(run.release.partition.group[3])
    table = before_after(run.release, fragment, group)
    assert table["age", "original"].tolist() == ["40", "50"]
    assert table["age", "published"].tolist() == ["40-50", "40-50"]
    assert table["illness", ""].tolist() == ["flu", "flu"]
    shares = group_shares(run.release, fragment, group, "illness")
    assert dict(zip(shares.texts, shares.group, strict=True)) == {"cold": 0, "flu": 1}
    assert dict(zip(shares.texts, shares.table, strict=True)) == {"cold": 0.25, "flu": 0.75}
    plane = plane_of(run.release, fragment, group, "age", "town")
    assert plane.counts.sum() == 4
    assert [side.tolist() for side in plane.region] == [[1.5], [3.5], [0.5], [1.5]]
    assert [side.tolist() for side in plane.others] == [[-0.5], [1.5], [-0.5], [0.5]]
    assert published_rows(fragment, group)["age"].tolist() == ["40-50", "40-50"]
    frame_levels = levels(fragment, privacy.profile(run.release), None, "illness", "equal")
    assert frame_levels.loc[group, "distance"] == pytest.approx(0.25)


def test_only_what_differs_from_the_original_is_tinted(visitor: Visitor) -> None:
    """A missing cell, a day and a whole number beside missing ones are shown in the words of the release."""
    frame = pd.DataFrame(
        {
            "born": pd.to_datetime(["1950-09-20", "1950-09-20", "1967-06-19", "1967-06-19"]),
            "income": [9170.0, 9170.0, np.nan, np.nan],
            "town": ["a", "b", "c", "c"],
        }
    )
    run = add_run(visitor, Mondrian(requirements=(KAnonymity(k=2),)), frame, dict.fromkeys(frame, "quasi-identifier"))
    for row, born, income in ((0, "1950-09-20", "9170"), (2, "1967-06-19", "(missing)")):
        table = before_after(run.release, run.release.fragments[0], int(run.release.partition.group[row]))
        for name, text in (("born", born), ("income", income)):
            assert table[name, "original"].tolist() == table[name, "published"].tolist() == [text] * 2
    visitor.open("before and after")
    assert table_of(visitor, ("row", ""))["born", ""].tolist() == ["1950-09-20"] * 2 + ["1967-06-19"] * 2


def test_plurals() -> None:
    assert [plural("group"), plural("group", 1), plural("person")] == ["groups", "group", "people"]
