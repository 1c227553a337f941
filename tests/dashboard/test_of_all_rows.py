"""A column of the board whose release was made of all rows of a table of which the board has a sample."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from anoncore.algorithms import Anatomy, RothkoSampling, RothkoTree
from anoncore.algorithms.mondrian import Mondrian
from anoncore.base.texts import share_text
from anoncore.measures.promise_marks import upwards
from anoncore.requirements import KAnonymity
from dashboard.board import grid
from dashboard.board.wording import OfAllRows
from dashboard.table import large_runs
from tests.dashboard.conftest import Visitor
from tests.dashboard.large_visits import finish, job_of, people, tagged


def test_a_method_of_the_board_has_one_for_all_rows() -> None:
    tree, sampling, asked = RothkoTree(), RothkoSampling(), (KAnonymity(k=7),)
    assert large_runs.kind_for_all_rows(Mondrian()) is RothkoTree
    assert large_runs.kind_for_all_rows(tree) is RothkoTree
    assert large_runs.kind_for_all_rows(sampling) is RothkoSampling
    for other in (None, Anatomy(l=2), Mondrian(refine=True)):
        assert large_runs.kind_for_all_rows(other) is None
    assert large_runs.taken_over(RothkoTree, Mondrian(requirements=asked)).requirements == asked


def test_what_was_not_measured_of_all_rows_is_not_told() -> None:
    found = OfAllRows(5_000_000, {"k": 10.0, "two-way-error": 0.271})
    assert found.text("hides") == "all 5,000,000 rows: 10 or more rows"
    assert found.text("lost") == f"all 5,000,000 rows: {share_text(0.271)}"
    assert found.text("distance") == ""


@pytest.mark.slow
def test_a_column_leads_to_the_release_of_all_rows_and_tells_its_numbers_until_something_else_is_asked(
    visitor: Visitor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[dict[str, Any]] = []
    monkeypatch.setattr(grid, "draw", lambda model, on_event: drawn.append(model))
    source = tmp_path / "people.parquet"
    people().to_parquet(source, index=False)
    tagged(visitor, source).make("mondrian", k=20)
    history = visitor.here.history
    assert history is not None
    (column,) = history.now.wishes.columns

    def told(row: str) -> str:
        (cell,) = next(one for one in drawn[-1]["rows"] if one["id"] == row)["cells"]
        return str(cell["sub"])

    assert "all 3,000 rows" not in told("hides")
    visitor.at.session_state["_board_dialog"] = ("method", column.id)
    visitor.run().press("Make it of all 3,000 rows …")
    visitor.open("table")
    assert visitor.at.selectbox(key="large-method").value == RothkoTree.name
    assert [item.value for item in visitor.at.number_input if str(item.key).endswith(".k")] == [20]
    visitor.press("Start")
    finish(visitor)
    numbers = job_of(visitor, "large-run").numbers

    visitor.open("board")
    assert told("hides").startswith(f"all 3,000 rows: {numbers['k']:.0f} or more rows; ")
    assert told("distance").startswith(f"all 3,000 rows: {upwards(numbers['t'])}; ")
    assert told("lost").startswith(f"all 3,000 rows: {share_text(numbers['two-way-error'])}; ")
    assert numbers["k"] >= 20
    # The table has an identifier, whose values may repeat in it even where they do not in the sample.
    assert "rows are counted, not people" in visitor.texts()

    # Of other tags, of what is asked anew, and where a published column breaks it, the numbers are no longer those.
    visitor.tag(town="insensitive").make("mondrian", k=20)
    assert "all 3,000 rows" not in told("hides")
    visitor.tag(town="quasi-identifier").make("mondrian", k=20)
    assert told("hides").startswith("all 3,000 rows: ")
    job_of(visitor, "large-run").breaking = "'pay' breaks it"
    assert "all 3,000 rows" not in (visitor.run(), told("hides"))[1]
    job_of(visitor, "large-run").breaking = ""
    visitor.make("mondrian", k=21)
    assert "all 3,000 rows" not in told("hides")
