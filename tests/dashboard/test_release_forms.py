"""The result pages draw every form of release: own partitions, sets of values, changed values, missing values."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from anoncore import Distorted, Exact, Fragment, Generalized, GroupValues, Microdata, Partition, Release
from anoncore.algorithms import Anatomy, Mondrian
from anoncore.requirements import KAnonymity
from tests.dashboard.conftest import Visitor
from tests.dashboard.results import ROLES, add_run, metrics, people, table_of

PAGES = ("groups", "privacy", "utility", "publish")
TABS = ("Information loss", "Distributions", "Associations", "Count queries", "Predictions")


def _thirds(n: int) -> Partition:
    return Partition(np.arange(n, dtype=np.int32) // 3)


class Fragmented(Mondrian):
    """Two fragments with partitions of their own; the second only says which illnesses occur."""

    def anonymize(self, data: Microdata, progress: object = None) -> Release:
        first, second = _thirds(data.n_rows), Partition(np.arange(data.n_rows, dtype=np.int32) // 4)
        illness = data.domain["illness"]
        offsets, members = second.value_sets(data.codes["illness"], len(illness))
        return Release(
            data,
            (
                Fragment(
                    "first",
                    first,
                    {
                        "age": Generalized.of_rows(data.domain["age"], first, data.codes["age"]),
                        "illness": Exact(illness, first, data.codes["illness"]),
                    },
                ),
                Fragment(
                    "second",
                    second,
                    {
                        "town": Generalized.of_rows(data.domain["town"], second, data.codes["town"]),
                        "illness": GroupValues(illness, second, offsets, members),
                    },
                ),
            ),
            self,
        )


class Masked(Mondrian):
    """One fragment in which every tenth illness was changed."""

    def anonymize(self, data: Microdata, progress: object = None) -> Release:
        partition = _thirds(data.n_rows)
        codes = data.codes["illness"].copy()
        codes[::10] = (codes[::10] + 1) % len(data.domain["illness"])
        recodings = {
            name: Generalized.of_rows(data.domain[name], partition, data.codes[name]) for name in data.quasi_identifiers
        }
        masked = Distorted(data.domain["illness"], partition, codes, data.codes["illness"])
        return Release(data, (Fragment("release", partition, {**recodings, "illness": masked}),), self)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [Fragmented, Masked])
@pytest.mark.parametrize("page", PAGES)
def test_every_form_is_drawn_on_every_page(visitor: Visitor, kind: type[Mondrian], page: str) -> None:
    add_run(visitor, kind(requirements=()))
    visitor.open(page)
    assert visitor.faults == []


@pytest.mark.slow
@pytest.mark.parametrize("tab", TABS)
def test_fragments_of_their_own_have_every_tab(visitor: Visitor, tab: str) -> None:
    add_run(visitor, Fragmented(requirements=()))
    visitor.open("utility")
    visitor.at.session_state["_utility-tab"] = tab
    visitor.at.session_state["tabs-utility-tab"] = tab
    visitor.run()
    assert visitor.faults == []


def test_a_fragment_can_be_chosen(visitor: Visitor) -> None:
    add_run(visitor, Fragmented(requirements=()))
    visitor.open("groups")
    assert metrics(visitor)["Groups"] == "80"
    visitor.at.selectbox(key="class-fragment").set_value(1)
    visitor.run()
    assert metrics(visitor)["Groups"] == "60"
    assert table_of(visitor, ("town", "original")).columns.get_level_values(0).unique().tolist() == ["town", "illness"]


def test_changed_values_stand_beside_the_original(visitor: Visitor) -> None:
    add_run(visitor, Masked(requirements=()))
    visitor.open("groups")
    rows = table_of(visitor, ("age", "original"))
    assert (rows["illness", "original"] != rows["illness", "published"]).sum() == 1
    visitor.open("publish")
    assert "published row by row, with 24 values changed" in visitor.texts()


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize(
    "algorithm", [Mondrian(requirements=(KAnonymity(k=6),)), Anatomy(l=2)], ids=["general", "bucket"]
)
def test_missing_dates_truths_and_strange_names_are_drawn(visitor: Visitor, algorithm: Mondrian, page: str) -> None:
    frame = people()
    strange = "a [b](c) **d**\n$e$ :red[f]"
    frame["age"] = frame["age"].astype("Float64").mask(frame["visits"] < 5)
    frame["town"] = frame["town"].astype(object).where(frame["visits"] > 9, None)
    frame["born"] = pd.Timestamp("1950-01-01") + pd.to_timedelta(frame["visits"] * 97, unit="D")
    frame["smokes"] = frame["visits"] % 2 == 0
    frame[strange] = frame["illness"]
    roles = {
        **{name: role for name, role in ROLES.items() if name != "illness"},
        "born": "quasi-identifier",
        "smokes": "quasi-identifier",
        strange: "sensitive",
    }
    add_run(visitor, algorithm, frame, roles, "strange [file](x).csv")
    visitor.open(page)
    assert visitor.faults == []
