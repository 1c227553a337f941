"""The page Table: built-in and own tables, and what they show."""

from __future__ import annotations

import io
import json
from typing import Any

import numpy as np
import pandas as pd
import pytest

from anoncore import DataError, datasets
from anoncore.table.suggestions import suggest
from anoncore.table.summary import summarize
from dashboard.charts.utility import table_distribution as distribution
from dashboard.session import loaded_table, session_file, state, tagging
from dashboard.session.loaded_table import Tags
from dashboard.tasks import reading
from dashboard.views import takeaway
from tests.dashboard.conftest import Visitor

PEOPLE = pd.DataFrame(
    {"age": [20, 30, None, 40] * 10, "town": ["Ulm", "Bonn", "Köln", "Ulm"] * 10, "when": ["2020-01-02"] * 40}
)
LOCAL = [name for name, entry in datasets.tables().items() if not entry.external]


def builtin(visitor: Visitor) -> Any:
    """The field for a built-in table."""
    return next(one for one in visitor.at.selectbox if one.label == "Built-in table")


def test_the_census_is_there_at_once(visitor: Visitor) -> None:
    assert "45,222 rows, 14 columns; no cell is empty; 9.6 MB of memory." in visitor.texts()


@pytest.mark.slow
@pytest.mark.parametrize("name", LOCAL)
def test_every_built_in_table_loads_tagged_and_can_run(visitor: Visitor, name: str) -> None:
    builtin(visitor).set_value(name)
    visitor.run()
    assert visitor.errors == []
    entry = datasets.table(name)
    assert visitor.at.subheader[0].value.replace("\\", "") == entry.title
    assert dict(state._workspaces.get(visitor.workspace).tags.roles) == dict(entry.protecting_roles)
    visitor.open("table")
    assert visitor.errors == []
    visitor.open("board")
    assert visitor.errors == [] or "quasi-identifier" in visitor.errors[0]


def test_a_generated_table_can_have_any_size(visitor: Visitor) -> None:
    next(one for one in visitor.at.number_input if one.label == "Rows to make up").set_value(500)
    visitor.run()
    assert "500 rows, " in visitor.texts()
    assert state._workspaces.get(visitor.workspace).tags.roles["diagnosis"] == "sensitive"


def _workbook() -> bytes:
    content = io.BytesIO()
    with pd.ExcelWriter(content) as book:
        PEOPLE.to_excel(book, sheet_name="people", index=False)
        PEOPLE.iloc[:7, :2].to_excel(book, sheet_name="few_people_!", index=False)
    return content.getvalue()


@pytest.mark.slow
def test_the_sheet_of_a_workbook_is_chosen(visitor: Visitor) -> None:
    visitor.upload("people.xlsx", _workbook())
    here = state._workspaces.get(visitor.workspace)
    assert here.table.builtin == "census", "nothing is read before a sheet is chosen"
    for sheet, rows in (("few_people_!", 7), ("people", 40)):
        if sheet == "people":
            visitor.upload("people.xlsx", _workbook())
        control = next(item for item in visitor.at.pills if "people" in item.options)
        control.set_value(sheet)
        visitor.run()
        assert visitor.errors == []
        assert f"{rows:,} rows, " in visitor.texts()
        assert here.table.sheet == sheet
        # The columns that are shown are those of this sheet, not of the one before.
        shown = next(item.value for item in visitor.at.dataframe if "Distribution" in item.value)
        assert len(shown) == len(here.table.frame.columns)
        assert sum(shown["Distribution"].iloc[1]) == rows


def test_a_workbook_whose_sheets_cannot_be_read_is_not_read_a_second_time(
    visitor: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_given: object, **_options: object) -> tuple[str, ...]:
        raise DataError("Reading it takes more than 10 seconds.")

    read: list[object] = []
    monkeypatch.setattr(reading, "sheets", refuse)
    monkeypatch.setattr(reading, "table", lambda *given, **_options: read.append(given))
    visitor.upload("people.xlsx", _workbook())
    assert visitor.errors == ["Reading it takes more than 10 seconds. The table below is still the one from before."]
    assert read == []


@pytest.mark.slow
def test_the_sheet_stands_in_recipes_and_saved_sessions(visitor: Visitor) -> None:
    visitor.upload("people.xlsx", _workbook())
    next(item for item in visitor.at.pills if "people" in item.options).set_value("few_people_!")
    visitor.run()
    here = state._workspaces.get(visitor.workspace)
    visitor.tag(age="quasi-identifier")
    (run,) = visitor.make(k=2).here.runs
    assert takeaway.recipe(run).source.sheet == "few_people_!"
    saved = session_file.read(session_file.save(here), loaded_table.builtin_table, state._microdata.get)
    assert saved.table.sheet == "few_people_!"


def test_an_upload_replaces_the_table_and_leaves_it_untagged(visitor: Visitor) -> None:
    visitor.upload("people.csv", PEOPLE.to_csv(index=False).encode())
    assert visitor.errors == []
    assert "40 rows, 3 columns; 8.3% of the cells are empty" in visitor.texts()
    assert builtin(visitor).value is None
    assert state._workspaces.get(visitor.workspace).tags.roles == {}
    assert "No attribute is tagged yet." in visitor.texts()
    assert not visitor.has_button("Go to the board")
    visitor.press("Use suggestions")
    assert visitor.has_button("Go to the board")


def test_a_table_that_cannot_be_had_leaves_the_one_before(visitor: Visitor, monkeypatch: pytest.MonkeyPatch) -> None:
    def offline(*arguments: object) -> None:
        raise DataError("The table 'musk' is not on this machine and cannot be downloaded.")

    monkeypatch.setattr(loaded_table, "_load_builtin", offline)
    builtin(visitor).set_value("musk")
    visitor.run()
    assert "cannot be downloaded" in visitor.errors[0]
    assert "45,222 rows" in visitor.texts()
    assert builtin(visitor).value == "census"


def test_the_profile_has_a_line_per_column() -> None:
    rare = PEOPLE.assign(town=[*PEOPLE["town"][:-1], "Hof"])
    summaries, tags = summarize(rare), Tags(kinds={"age": "numeric", "town": "nominal", "when": "nominal"})
    frame = tagging.editor_base(tags, summaries, suggest(rare, summaries))
    assert frame["Attribute"].tolist() == ["age", "town", "when"]
    assert frame["Role"].tolist() == [tagging.LEFT_OUT] * 3
    # The most frequent come first, and of equals the one that stands first in the table.
    assert frame["Examples"].tolist() == ["20, 30, 40", "Ulm, Bonn, Köln", "2020-01-02"]
    assert frame["Values"].tolist() == [3, 4, 1]
    assert frame["Missing"].tolist() == [25.0, 0.0, 0.0]
    assert frame["Distribution"].tolist() == [[10, 10, 10], [19, 10, 10, 1], [40]]
    assert frame["Unique"].tolist() == [0, 1, 0], "one row alone has the town Hof"


def test_the_chart_shows_all_rows_with_the_missing_ones() -> None:
    chart = distribution(summarize(PEOPLE)[0])
    assert chart.data[0].y.tolist() == [10, 10, 10, 10]
    assert chart.data[0].x[-1] == "(missing)"
    assert chart.data[0].customdata[-1] == pytest.approx(0.25)


def test_names_in_a_chart_are_never_markup() -> None:
    frame = pd.DataFrame({"<b>a</b>": ["<i>x</i>", "y"] * 5})
    drawn = json.loads(distribution(summarize(frame)[0]).to_json())
    assert "<b>" not in drawn["layout"]["xaxis"]["title"]["text"]
    assert all("<i>" not in text for text in drawn["data"][0]["x"])


def test_selecting_a_column_shows_its_values(visitor: Visitor) -> None:
    for name, told in (("native-country", "20 different values in 45,222 rows"), ("person-id", "The 20 most frequent")):
        visitor.at.selectbox(key="detail-attribute").set_value(name)
        visitor.run()
        assert told in visitor.texts()
    assert "This column is not published, so there is nothing to set" in visitor.texts()


def test_a_column_says_whom_it_singles_out_alone_and_with_what_others_know(visitor: Visitor) -> None:
    frame = state._workspaces.get(visitor.workspace).table.frame
    known = ["age", "workclass", "education", "marital-status", "occupation", "race", "sex"]
    visitor.at.selectbox(key="detail-attribute").set_value("diagnosis")
    visitor.run()
    without, with_it = (int((~frame.duplicated(names, keep=False)).sum()) for names in (known, [*known, "diagnosis"]))
    alone = "Alone it singles out 0 of 45,222 people"
    assert f"{alone}; what else others know, {without:,} without it and {with_it:,} with it." in visitor.texts()


def test_a_constant_and_an_empty_column_are_shown(visitor: Visitor) -> None:
    frame = pd.DataFrame({"nothing": [np.nan] * 5, "same": [1] * 5})
    visitor.upload("flat.csv", frame.to_csv(index=False).encode())
    assert visitor.errors == []
    assert "Every cell of this column is empty" in visitor.texts()


def test_of_a_wide_table_the_first_columns_are_shown_and_it_says_so(visit):
    names = [f"c{number}" for number in range(205)]
    visitor = visit().upload(
        "wide.csv", "\n".join([",".join(names), ",".join("1" * 205), ",".join("2" * 205)]).encode()
    )
    visitor.open("table")
    assert "The first 2 of 2 rows and 200 of 205 columns, as they were read." in visitor.texts()
    preview = next(one for one in visitor.at.dataframe if "c0" in one.value.columns)
    assert list(preview.value.columns) == names[:200]
