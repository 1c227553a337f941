"""Columns on the page Table: edits become tags, suggestions are offered, and details of an attribute are set."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from anoncore import DataError, Domain, Kind, Microdata
from anoncore.table.hierarchy_draft import HierarchyDraft
from anoncore.table.hierarchy_files import hierarchy_text, read_hierarchy
from anoncore.table.hierarchy_proposals import usual_width
from anoncore.table.suggestions import suggest
from anoncore.table.summary import summarize
from dashboard.charts.utility import hierarchy_levels
from dashboard.session import state, tagging
from dashboard.session.loaded_table import untagged
from dashboard.session.workspace import Workspace
from dashboard.table import hierarchy_editor as editor
from tests.dashboard.conftest import Visitor

FRAME = pd.DataFrame(
    {
        "name": [f"Person {i}" for i in range(40)],
        "age": [20 + i % 20 for i in range(40)],
        "size": ["S", "M", "L", "XL"] * 10,
        "diagnosis": ["flu", "cold", "ulcer", "flu"] * 10,
    }
)
CSV = FRAME.to_csv(index=False).encode()


def _base() -> pd.DataFrame:
    summaries = summarize(FRAME)
    return tagging.editor_base(untagged(FRAME), summaries, suggest(FRAME, summaries))


def _here(visitor: Visitor) -> Workspace:
    return state._workspaces.get(visitor.workspace)


def _domain(*values: object, kind: Kind = Kind.NOMINAL) -> Domain:
    return Domain("size", kind, values)


def test_edits_are_folded_onto_the_base() -> None:
    tags, base = untagged(FRAME), _base()
    first = tagging.fold(tags, base, {0: {"Role": "identifier"}})
    second = tagging.fold(first, base, {0: {"Role": "identifier"}, 1: {"Role": "quasi-identifier", "Kind": "ordinal"}})
    # On the others nobody decided.
    assert second.roles == {"name": "identifier", "age": "quasi-identifier"}
    decided = tagging.fold(second, base, {2: {"Role": "insensitive"}})
    assert decided.roles == {"size": "insensitive"}
    assert second.kinds["age"] == "ordinal"


def test_a_cell_set_back_to_its_base_value_counts() -> None:
    tags, base = untagged(FRAME), _base()
    changed = tagging.fold(tags, base, {"1": {"Role": "sensitive"}})
    assert changed.roles["age"] == "sensitive"
    assert "age" not in tagging.fold(changed, base, {}).roles
    assert "age" not in tagging.fold(changed, base, {1: {"Role": None}}).roles, "an emptied cell is no role"
    assert "age" not in tagging.fold(changed, base, {1: {"Role": tagging.LEFT_OUT}}).roles


def test_an_attribute_that_becomes_numeric_loses_its_order() -> None:
    tags = untagged(FRAME).changed("kinds", "age", "ordinal").changed("orders", "age", tuple(range(20, 40)))
    base = _base().assign(Kind=["nominal", "ordinal", "nominal", "nominal"])
    assert "age" in tagging.fold(tags, base, {}).orders
    assert "age" not in tagging.fold(tags, base, {1: {"Kind": "numeric"}}).orders


def test_several_columns_get_one_role_in_one_step(visitor: Visitor, monkeypatch: pytest.MonkeyPatch) -> None:
    base = _base()
    ticked = {
        0: {tagging.CHOSEN: True},
        "2": {tagging.CHOSEN: True},
        1: {"Role": "sensitive"},
        3: {tagging.CHOSEN: False},
    }
    assert tagging.chosen_names(base, ticked) == ("name", "size")
    assert tagging.fold(untagged(FRAME), base, ticked).roles == {"age": "sensitive"}, "a box says nothing of a role"
    visitor.upload("people.csv", CSV).open("table")
    assert not visitor.has_button("Known to others")
    # The editor is a picture, in which only a browser ticks.
    monkeypatch.setattr(tagging, "chosen_names", lambda *_: ("age", "size"))
    visitor.run()
    assert "2 columns ticked:" in visitor.texts()
    visitor.press("Known to others")
    assert _here(visitor).tags.roles == dict.fromkeys(("age", "size"), "quasi-identifier")
    visitor.press("Left out")
    assert _here(visitor).tags.roles == {}


def test_suggestions_are_offered_and_never_applied_by_themselves(visitor: Visitor) -> None:
    visitor.upload("people.csv", CSV).open("table")
    assert _here(visitor).tags.roles == {}
    assert "suggest: Known to others (1), Secret (1), Names the person (1)." in visitor.texts()
    visitor.press("Use suggestions")
    assert _here(visitor).tags.roles == {
        "name": "identifier",
        "age": "quasi-identifier",
        "diagnosis": "sensitive",
    }, "that nothing speaks for a role of the size is no decision to publish it"
    assert "rows are unique in this attribute" in visitor.texts()
    assert not visitor.has_button("Use suggestions")
    visitor.press("Reset")
    assert _here(visitor).tags.roles == {}


@pytest.mark.slow
def test_the_editor_has_a_stable_base_until_the_page_is_left(visitor: Visitor) -> None:
    visitor.open("table")
    key = visitor.at.session_state["_attributes-editor"].key
    visitor.run()
    assert visitor.at.session_state["_attributes-editor"].key == key
    here = _here(visitor)
    here.set_tags(here.tags.changed("roles", "race", "sensitive"))
    visitor.open("groups").open("table")
    fresh = visitor.at.session_state["_attributes-editor"]
    assert fresh.key != key
    assert fresh.base.set_index("Attribute").loc["race", "Role"] == "sensitive"


def test_uniqueness_of_the_quasi_identifiers_is_told(visitor: Visitor) -> None:
    visitor.open("table")
    here = _here(visitor)
    names = [name for name, role in here.tags.roles.items() if role == "quasi-identifier"]
    alone = ~here.table.frame.duplicated(names, keep=False)
    assert f"{alone.sum():,} of 45,222 rows are unique in these 7 attributes" in visitor.texts()


@pytest.fixture
def sized(visitor: Visitor) -> Visitor:
    """A visitor at the details of the attribute size, of kind ordinal."""
    visitor.upload("people.csv", CSV).open("table").tag(age="quasi-identifier", size="quasi-identifier")
    here = _here(visitor)
    here.set_tags(here.tags.changed("kinds", "size", "ordinal"))
    visitor.run()
    visitor.at.selectbox(key="detail-attribute").set_value("size")
    return visitor.run()


@pytest.mark.slow
def test_the_order_of_values_is_set_line_by_line(sized: Visitor) -> None:
    area = sized.at.text_area[0]
    assert area.value == "L\nM\nS\nXL"
    area.set_value("S\nM\nL\nXL\n")
    sized.run()
    assert _here(sized).tags.orders["size"] == ("S", "M", "L", "XL")
    assert sized.at.text_area[0].value == "S\nM\nL\nXL"
    sized.press("Reverse")
    assert _here(sized).tags.orders["size"] == ("XL", "L", "M", "S")


@pytest.mark.slow
def test_a_wrong_order_is_refused_in_words(sized: Visitor) -> None:
    sized.at.text_area[0].set_value("S\nM\nHuge")
    sized.run()
    assert "'size' has no value 'Huge'" in sized.errors[0]
    assert "Nothing was changed" in sized.errors[0]
    assert "size" not in _here(sized).tags.orders
    sized.at.text_area[0].set_value("S\nM\nL")
    sized.run()
    assert "lacks 'XL'" in sized.errors[0]
    sized.at.text_area[0].set_value("S\nM\nL\nXL")
    sized.run()
    assert sized.errors == []


def test_orders_are_parsed_whatever_the_values_hold() -> None:
    domain = _domain("a, b", "line\nbreak", " x ", "")
    text = tagging.order_text(domain)
    assert text.split("\n") == ["a, b", "line⏎break", " x ", ""]
    assert tagging.parse_order(text, domain) == domain.values
    with pytest.raises(DataError, match="more than once"):
        tagging.parse_order("a, b\na, b", domain)
    with pytest.raises(DataError, match="more than once"):
        # Counted one by one, so many lines would take hours.
        tagging.parse_order("a, b\n" * 300_000, domain)


def test_the_natural_order_goes_by_numbers_where_there_are_some() -> None:
    assert tagging.natural_order(_domain("10th", "2nd", "1st")) == ("1st", "2nd", "10th")
    assert tagging.natural_order(_domain("b", "A", "c")) == ("A", "b", "c")


def _source(visitor: Visitor, source: str) -> Visitor:
    control = next(item for item in visitor.at.pills if "from a file" in item.options)
    control.set_value([source] if isinstance(control.value, list) else source)
    return visitor.run()


@pytest.mark.slow
def test_a_hierarchy_from_a_file_is_checked_and_shown(sized: Visitor) -> None:
    _source(sized, "from a file")
    place = sized.at.file_uploader[1]
    place.set_value(("size.csv", b"S;small;*\nM;small;*\nL;large;*\n", "text/csv"))
    sized.run()
    assert "lacks 'XL'" in sized.errors[0]
    assert "size" not in _here(sized).tags.hierarchies
    sized.at.file_uploader[1].set_value(("size.csv", b"S;small;*\nM;small;*\nL;large;*\nXL;large;*\n", "text/csv"))
    sized.run()
    assert sized.errors == []
    levels = next(item.value for item in sized.at.dataframe if "Level" in item.value)
    assert levels["Groups"].tolist() == [4, 2, 1]
    _source(sized, "none")
    assert "size" not in _here(sized).tags.hierarchies


@pytest.mark.slow
def test_intervals_of_a_number_come_with_a_usual_width(sized: Visitor) -> None:
    sized.at.selectbox(key="detail-attribute").set_value("age")
    sized.run()
    _source(sized, "equal width")
    hierarchy = _here(sized).tags.hierarchies["age"]
    assert hierarchy.path_of(20)[0] == "20-21"
    width = next(item for item in sized.at.number_input if item.label == "Width")
    assert width.value == 2
    width.set_value(5.0)
    sized.run()
    assert _here(sized).tags.hierarchies["age"].path_of(21)[0] == "20-24"
    _source(sized, "equal number of rows")
    next(item for item in sized.at.number_input if item.label == "Intervals").set_value(4)
    sized.run()
    assert len({path[0] for path in _here(sized).tags.hierarchies["age"].paths.values()}) == 4
    assert sized.errors == []


def test_the_taxonomy_of_a_built_in_table_can_be_left_and_taken_again(visitor: Visitor) -> None:
    visitor.open("table")
    visitor.at.selectbox(key="detail-attribute").set_value("education")
    visitor.run()
    own = _here(visitor).tags.hierarchies["education"]
    _source(visitor, "none")
    assert "education" not in _here(visitor).tags.hierarchies
    _source(visitor, "came with the table")
    assert _here(visitor).tags.hierarchies["education"] is own


def test_an_order_that_tears_a_group_apart_is_refused(visitor: Visitor) -> None:
    visitor.open("table")
    visitor.at.selectbox(key="detail-attribute").set_value("education")
    visitor.run()
    lines = visitor.at.text_area[0].value.split("\n")
    visitor.at.text_area[0].set_value("\n".join([lines[-1], *lines[:-1]]))
    visitor.run()
    assert "apart" in visitor.errors[0]
    assert _here(visitor).tags.orders["education"][-1] == lines[-1]


def test_only_chosen_values_need_protection(visitor: Visitor) -> None:
    visitor.open("table")
    visitor.at.selectbox(key="detail-attribute").set_value("diagnosis")
    visitor.run()
    data = state._microdata.get(_here(visitor).table, _here(visitor).tags)
    visitor.at.multiselect[0].set_value([0, 3])
    visitor.run()
    chosen = (data.domain["diagnosis"][0], data.domain["diagnosis"][3])
    assert _here(visitor).tags.sensitive_values["diagnosis"] == chosen
    visitor.at.multiselect[0].set_value([])
    visitor.run()
    assert "diagnosis" not in _here(visitor).tags.sensitive_values


def test_widths_that_make_too_many_intervals_are_refused() -> None:
    data = Microdata(pd.DataFrame({"pay": [0.0, 1e6, 5e5]}), {"pay": "quasi-identifier"})
    domain = data.domain["pay"]
    assert usual_width(domain) == 100_000
    with pytest.raises(DataError, match="more than 10,000 intervals"):
        tagging.intervals_by_width(domain, 1.0, 2)


def test_intervals_of_equal_rows_leave_missing_out() -> None:
    frame = pd.DataFrame({"pay": [1.0, 2.0, np.nan, 3.0, 4.0]})
    data = Microdata(frame, {"pay": "quasi-identifier"})
    hierarchy = tagging.intervals_by_quantile(data, "pay", 2, 2)
    levels = hierarchy_levels(hierarchy, data.domain["pay"])
    assert levels["Groups"].tolist() == [4, 2, 1]
    assert levels["Called"][1] == "1-2, 3-4"


def _group(visitor: Visitor, values: list[int], name: str) -> Visitor:
    next(item for item in visitor.at.multiselect if "belong together" in item.label).set_value(values)
    next(item for item in visitor.at.text_input if item.label == "Name of the group").set_value(name)
    return visitor.press("Group them")


def _levels(visitor: Visitor) -> pd.DataFrame:
    return next(item.value for item in visitor.at.dataframe if "Groups" in item.value)


def _nominal(visitor: Visitor) -> Visitor:
    here = _here(visitor)
    here.set_tags(here.tags.changed("kinds", "size", "nominal"))
    return visitor.run()


@pytest.mark.slow
def test_values_are_grouped_by_hand_level_by_level(sized: Visitor) -> None:
    _source(_nominal(sized), "by hand")
    assert "Nothing is grouped yet" in sized.texts()
    _group(sized, [0, 3], "large")  # L and XL, of L, M, S, XL
    hierarchy = _here(sized).tags.hierarchies["size"]
    assert hierarchy.paths == {"L": ("large", "*"), "M": ("M", "*"), "S": ("S", "*"), "XL": ("large", "*")}
    assert sized.errors == []
    # The order follows the groups, and what each level does stands beside them.
    levels = _levels(sized)
    assert levels["Groups"].tolist() == [4, 3, 1]
    assert levels["Fewest alike"].tolist() == [2, 2, 2]
    assert levels["Below 5"].tolist() == [100, 100, 100]
    sized.press("Add a level")
    control = next(item for item in sized.at.segmented_control if item.label == "Level to group on")
    control.set_value([2] if isinstance(control.value, list) else 2)
    sized.run()
    _group(sized, [1, 2], "usual")
    assert _here(sized).tags.hierarchies["size"].path_of("S") == ("S", "usual", "*")
    sized.press("Remove the top level")
    assert _here(sized).tags.hierarchies["size"].path_of("S") == ("S", "*")
    sized.press("Remove all groups")
    assert "size" not in _here(sized).tags.hierarchies


def test_a_group_without_a_name_is_refused_and_the_choice_stays(sized: Visitor) -> None:
    _source(_nominal(sized), "by hand")
    _group(sized, [0, 1], " ")
    assert sized.errors == ["The group has no name; type what its values have in common."]
    assert next(item for item in sized.at.multiselect if "belong together" in item.label).value == [0, 1]
    _group(sized, [0, 1], "big")
    assert sized.errors == []
    assert next(item for item in sized.at.multiselect if "belong together" in item.label).value == []


def test_groups_that_the_order_tears_apart_are_kept_until_they_fit(sized: Visitor) -> None:
    here = _here(sized)
    here.set_tags(here.tags.changed("orders", "size", ("S", "M", "L", "XL")))
    sized.run()
    _source(sized, "by hand")
    _group(sized, [0, 2], "ends")
    assert "tears the group 'ends' of its hierarchy apart at 'L': on level 1" in sized.errors[0]
    assert "What you typed stays here" in sized.errors[0]
    assert "size" not in _here(sized).tags.hierarchies
    sized.open("table").open("table")
    assert "What you typed stays here" in sized.errors[0], "also after another page"
    _group(sized, [1], "ends")
    assert sized.errors == []
    assert _here(sized).tags.hierarchies["size"].path_of("M") == ("ends", "*")


def test_cells_are_folded_onto_the_draft_that_the_table_started_from() -> None:
    base = HierarchyDraft.of(("a", "b", "c")).raised()
    changed = editor.fold(base, {"0": {"Level 1": " x "}, 2: {"Level 1": "x", "Level 2": "y"}, 7: {"Level 1": "gone"}})
    assert changed.cells == (("x", ""), ("", ""), ("x", "y"))
    assert editor.fold(base, {0: {"Level 1": None}}).cells == base.cells
    frame = editor.editor_base(changed, _domain("a", "two\nlines", "c"), [1, 2, 3])
    assert frame.columns.tolist() == ["Value", "Rows", "Level 1", "Level 2"]
    assert frame["Value"].tolist() == ["a", "two⏎lines", "c"]
    assert frame["Level 1"].tolist() == ["x", "", "x"]


@pytest.mark.slow
def test_an_imported_hierarchy_is_edited_and_comes_back_as_a_file(sized: Visitor) -> None:
    _source(_nominal(sized), "from a file")
    sized.at.file_uploader[1].set_value(("size.csv", b"S;small;*\nM;small;*\nL;large;*\nXL;large;*\n", "text/csv"))
    sized.run()
    texts = next(item for item in sized.at.multiselect if "belong together" in item.label).options
    assert sorted(texts) == ["L", "M", "S", "XL"]
    _group(sized, [texts.index("M")], "large")
    hierarchy = _here(sized).tags.hierarchies["size"]
    assert hierarchy.path_of("M") == ("large", "*")
    assert hierarchy.path_of("S") == ("small", "*")
    assert read_hierarchy(hierarchy_text(hierarchy).encode()).paths == hierarchy.paths
    assert "Download as file" in [button.proto.label for button in sized.at.download_button]
    # Another source begins anew.
    _source(sized, "rare values together")
    assert set(_here(sized).tags.hierarchies["size"].paths["L"]) <= {"L", "other", "*"}


@pytest.mark.slow
def test_usual_hierarchies_are_one_choice_away(visitor: Visitor) -> None:
    frame = pd.DataFrame(
        {
            "born": pd.date_range("1950-01-01", periods=60, freq="200D"),
            "zip": [f"{10_000 + 317 * row:05}" for row in range(60)],
            "latitude": [47 + row / 7 for row in range(60)],
            "work": ["cook", "nurse", "pilot", "cook", "nurse", "smith"] * 10,
        }
    )
    visitor.upload("people.csv", frame.to_csv(index=False).encode()).open("table")
    visitor.tag(**dict.fromkeys(frame.columns, "quasi-identifier"))
    for name, source, parameters in (
        ("born", "calendar", ["year", "decade"]),
        ("zip", "first characters", [2, 1]),
        ("latitude", "grid", [1.0]),
        ("work", "rare values together", [0.2]),
    ):
        visitor.at.selectbox(key="detail-attribute").set_value(name)
        visitor.run()
        _source(visitor, source)
        assert visitor.errors == []
        usual = _here(visitor).tags.hierarchies[name]
        assert _levels(visitor)["Groups"].is_monotonic_decreasing
        pills = next(item for item in visitor.at.pills if "from a file" not in item.options)
        pills.set_value(parameters)
        visitor.run()
        assert visitor.errors == []
        changed = _here(visitor).tags.hierarchies[name]
        assert changed.height <= min(usual.height, len(parameters) + 1)
    next(item for item in visitor.at.pills if "from a file" not in item.options).set_value([])
    visitor.run()
    assert "Nothing was changed" in visitor.errors[0]
    assert _here(visitor).tags.hierarchies["work"] is changed


def test_the_order_of_a_category_without_rank_gives_way_to_its_groups(sized: Visitor) -> None:
    here = _here(_nominal(sized))
    here.set_tags(here.tags.changed("orders", "size", ("S", "M", "L", "XL")))
    sized.run()
    _source(sized, "by hand")
    _group(sized, [0, 2], "mixed")
    assert sized.errors == []
    assert "size" not in here.tags.orders
    assert here.tags.hierarchies["size"].path_of("S") == ("mixed", "*")
