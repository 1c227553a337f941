"""Forms come from the fields of whatever is registered; none is named in their code."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

import numpy as np
import pandas as pd
import pytest
from pydantic import Field
from streamlit.testing.v1 import AppTest

from anoncore import InfeasibleError, Microdata, ParameterError
from anoncore.algorithms import ALGORITHMS
from anoncore.base.model import Model
from anoncore.requirements import REQUIREMENTS, KAnonymity, RecursiveDiversity
from dashboard.board.fields import build_requirement, field_forms, first_requirement
from dashboard.elements import forms

MONDRIAN = ALGORITHMS["mondrian"]


class Invented(Model):
    """Has one field of every form."""

    name: ClassVar[str] = "invented"
    title: ClassVar[str] = "Invented"
    source: ClassVar[str] = "this test"

    count: Annotated[int, Field(gt=2, lt=9, title="Count", description="How many.")]
    share: Annotated[float, Field(ge=0, le=1)] = 0.25
    mode: Literal["slow", "fast"] = "fast"
    flag: bool = True
    seed: Annotated[int | None, Field(ge=0)] = None
    target: str | None = None
    columns: tuple[tuple[str, ...], ...] | None = None
    bounds: Annotated[dict[str, Annotated[float, Field(ge=0, le=2)]], Field(default_factory=dict)]
    shown: tuple[str, ...] | None = None
    ranges: Annotated[dict[str, tuple[float | str, ...]], Field(default_factory=dict)]


def _data() -> Microdata:
    frame = pd.DataFrame({"age": np.arange(20), "illness": ["flu", "cold", "ulcer", "flu"] * 5})
    return Microdata(frame, {"age": "quasi-identifier", "illness": "sensitive"})


def test_fields_tell_how_to_ask_for_them() -> None:
    fields = {field.name: field for field in field_forms(Invented)}
    assert {name: field.form for name, field in fields.items()} == {
        "count": "integer",
        "share": "number",
        "mode": "choice",
        "flag": "flag",
        "seed": "integer",
        "target": "attribute",
        "columns": "groups",
        "bounds": "numbers",
        "shown": "attributes",
        "ranges": "ends",
    }
    assert (fields["bounds"].low, fields["bounds"].high) == (0, 2)
    count = fields["count"]
    assert (count.title, count.help, count.low, count.high, count.default) == ("Count", "How many.", 3, 8, 3)
    assert fields["seed"].optional
    assert fields["seed"].default is None
    assert fields["mode"].options == ("slow", "fast")
    assert fields["share"].step == pytest.approx(0.05)


@pytest.mark.parametrize("kind", [*ALGORITHMS.values(), *REQUIREMENTS.values()], ids=lambda kind: kind.name)
def test_everything_registered_has_a_form_that_makes_it(kind: type[Model]) -> None:
    fields = field_forms(kind)
    assert all(field.title and field.help for field in fields), "every field says what it is"
    made = kind(**{field.name: field.default for field in fields})
    assert isinstance(made, kind)


def _page(name: str) -> None:
    import streamlit as st

    from anoncore.algorithms import ALGORITHMS
    from anoncore.requirements import REQUIREMENTS
    from dashboard.elements import forms

    kind = {**ALGORITHMS, **REQUIREMENTS}[name]
    values = st.session_state.setdefault("entered", {})
    names = forms.Names(("age", "illness", "town"), ("illness", "town"))
    st.session_state["made"] = kind(**forms.draw(kind, "p", values, names))


@pytest.mark.slow
@pytest.mark.parametrize("name", [*ALGORITHMS, *REQUIREMENTS])
def test_every_form_draws_and_starts_with_the_defaults(name: str) -> None:
    page = AppTest.from_function(_page, args=(name,), default_timeout=30).run()
    assert not page.exception
    kind = {**ALGORITHMS, **REQUIREMENTS}[name]
    assert page.session_state["made"] == kind(**{field.name: field.default for field in field_forms(kind)})


def test_what_is_entered_arrives_in_the_model() -> None:
    page = AppTest.from_function(_page, args=("t-closeness",), default_timeout=30).run()
    page.number_input(key="p.t").set_value(0.35)
    page.selectbox(key="p.ground").set_value("ordered")
    page.selectbox(key="p.attribute").set_value("town")
    page.run()
    made = page.session_state["made"]
    assert (made.t, made.ground, made.attribute) == (0.35, "ordered", "town")


def test_lists_start_with_a_requirement_that_fits_every_table() -> None:
    assert first_requirement() == KAnonymity()
    assert build_requirement({"name": "recursive-diversity", "l": 3}) == RecursiveDiversity(c=3.0, l=3)


def _infeasible(algorithm: Any, data: Microdata) -> InfeasibleError:
    with pytest.raises(InfeasibleError) as caught:
        algorithm.validate_data(data)
    return caught.value


def test_unknown_kinds_of_fields_are_written_as_json() -> None:
    columns = next(field for field in field_forms(Invented) if field.name == "columns")
    assert forms.json_value(columns, "") is None
    assert forms.json_value(columns, '[["age", "sex"]]') == [["age", "sex"]]
    with pytest.raises(ParameterError, match="Columns cannot be read"):
        forms.json_value(columns, "[age")


def _synthesis_page() -> None:
    import pandas as pd
    import streamlit as st

    from anoncore import Microdata
    from anoncore.algorithms import MarginalSynthesis
    from dashboard.elements import forms

    frame = pd.DataFrame(
        {
            "age": [20, 35, 61],
            "weight": [50.5, 70.25, 90.0],
            "seen": pd.to_datetime(["2020-01-01", "2020-06-01", "2020-12-31"]),
            "town": ["Ulm", "Bonn", "Kiel"],
        }
    )
    data = Microdata(
        frame, {"age": "quasi-identifier", "*": "insensitive"}, kinds={"weight": "numeric", "seen": "numeric"}
    )
    values = st.session_state.setdefault("entered", {})
    made = forms.draw(MarginalSynthesis, "p", values, forms.Names.of(data))
    st.session_state["made"] = MarginalSynthesis(**made)


def test_attributes_are_chosen_and_ends_of_ranges_entered_without_any_json() -> None:
    page = AppTest.from_function(_synthesis_page, default_timeout=30).run()
    assert not page.exception
    assert not page.text_area
    ends = {one.label: one for one in page.text_input}
    assert {name: one.placeholder for name, one in ends.items()} == {
        "age": "20, 61",
        "weight": "50.5, 90",
        "seen": "2020-01-01, 2020-12-31",
    }
    ends["age"].set_value(" 18, 40 ,99")
    ends["seen"].set_value("2019-01-01, 2021-12-31")
    page.multiselect(key="p.attributes").set_value(["town", "age"])
    page.run()
    made = page.session_state["made"]
    assert made.ranges == {"age": (18.0, 40.0, 99.0), "seen": ("2019-01-01", "2021-12-31")}
    assert set(made.attributes) == {"town", "age"}
    assert any(one.value == "Changed among these options: Public ranges." for one in page.caption)
    page.multiselect(key="p.attributes").set_value([])
    for one in page.text_input:
        one.set_value("")
    page.run()
    made = page.session_state["made"]
    assert (made.attributes, made.ranges) == (None, {})


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        ("", ()),
        (" , ", ()),
        ("0, 100", (0.0, 100.0)),
        ("-1.5,0,2e3", (-1.5, 0.0, 2000.0)),
        ("low, 9", ("low", 9.0)),
        ("inf, nan", ("inf", "nan")),
    ],
)
def test_ends_are_read_as_numbers_where_they_are_numbers(text: str, ends: tuple[Any, ...]) -> None:
    assert forms.read_ends(text) == ends
    assert forms.read_ends(forms.ends_text(ends)) == ends


def test_chosen_attributes_that_another_table_lacks_are_forgotten() -> None:
    page = AppTest.from_function(_synthesis_page, default_timeout=30)
    page.session_state["entered"] = {"attributes": ("town", "height")}
    page.run()
    assert not page.exception
    assert page.session_state["made"].attributes == ("town",)
