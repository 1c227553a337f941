"""Columns that mix numbers, truths, texts and dates: the order of rows decides nothing, for any tags and method."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anoncore import AnonymizationError, DataError, Hierarchy, Microdata
from anoncore.algorithms import ALGORITHMS
from anoncore.base.texts import is_missing
from anoncore.base.typed_values import sorted_values, value_key
from anoncore.requirements import DistinctDiversity, KAnonymity, TCloseness
from tests.properties.published import content
from tests.properties.subjects import build, subjects

FORMS: list[list[Any]] = [
    [1, 1.0, Decimal(1), np.int16(1)],
    ["1"],
    [True, np.True_],
    ["True"],
    [0, 0.0, -0.0],
    [False],
    [0.5, Decimal("0.5"), Fraction(1, 2)],
    ["é"],
    ["e\u0301"],
    [pd.Timestamp("2020-02-01"), date(2020, 2, 1)],
    ["2020-02-01"],
    [10],
    [9],
    [""],
]
MISSING = [None, float("nan"), pd.NA, pd.NaT]
LABELS = ("first", "second", "third")


@dataclass(frozen=True)
class Mixed:
    """A table with two awkward columns, one of them sensitive, and its tags."""

    frame: pd.DataFrame
    tags: dict[str, Any] = field(default_factory=dict)

    def data(self, rows=None):
        frame = self.frame if rows is None else self.frame.iloc[rows].set_axis(np.zeros(len(rows), dtype=int))
        return Microdata(
            frame, {"age": "quasi-identifier", "known": "quasi-identifier", "secret": "sensitive"}, **self.tags
        )


@st.composite
def hierarchies(draw, values):
    """Every value under one of three groups; a value is named in one of its forms, or by a text that reads like it."""
    ordered = sorted_values(values)
    cuts = sorted(draw(st.lists(st.integers(0, len(ordered)), min_size=2, max_size=2)))
    return Hierarchy({value: [LABELS[sum(place >= cut for cut in cuts)]] for place, value in enumerate(ordered)})


@st.composite
def mixed_tables(draw):
    n_rows = draw(st.integers(4, 20))
    columns, tags = {"age": draw(st.lists(st.integers(0, 9), min_size=n_rows, max_size=n_rows))}, {}
    for name in ("known", "secret"):
        forms = draw(st.lists(st.sampled_from(FORMS), min_size=2, max_size=6, unique_by=repr))
        with_missing = [*forms, MISSING] if draw(st.booleans()) else forms
        cells = [draw(st.sampled_from(with_missing[row % len(with_missing)])) for row in range(n_rows)]
        columns[name] = pd.Series(draw(st.permutations(cells)), dtype=object)
        named = [draw(st.sampled_from(one)) for one in forms]
        tag = draw(st.sampled_from([None, "hierarchies", "orders", "sensitive_values"]))
        # The keys of a dict are Python's: True and 1 would be one line of the hierarchy.
        if tag == "hierarchies" and not any(isinstance(value, bool | np.bool_) for value in named):
            tags.setdefault(tag, {})[name] = draw(hierarchies(named))
        elif tag == "orders":
            tags.setdefault(tag, {})[name] = draw(st.permutations(named))
        elif tag == "sensitive_values" and name == "secret":
            present = [value for value in named if value_key(value) in set(map(value_key, cells))]
            if present:
                tags.setdefault(tag, {})[name] = present[:2]
    return Mixed(pd.DataFrame(columns), tags)


def released(algorithm, data):
    """What is published, or the sentence by which the table is refused."""
    try:
        return content(algorithm.anonymize(data))
    except AnonymizationError as error:
        return str(error)


@pytest.mark.slow
@settings(max_examples=50)
@given(mixed_tables(), st.data())
def test_codes_tell_values_apart_as_their_keys_do(table, data):
    one = table.data()
    again = table.data(rows := data.draw(st.permutations(range(len(table.frame)))))
    for name in ("known", "secret"):
        keys = [value_key(value) for value in table.frame[name]]
        codes, domain = one.codes[name].tolist(), one.domain[name]
        assert len(set(zip(keys, codes, strict=True))) == len(set(keys)) == len(set(codes))
        assert [value_key(domain[code]) for code in codes] == keys
        assert [domain.code_of(value) for value in table.frame[name]] == codes
        assert list(map(repr, domain)) == list(map(repr, again.domain[name]))
        assert again.codes[name].tolist() == [codes[row] for row in rows]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "parameters"), subjects(turn=0))
@settings(max_examples=5)
@given(table=mixed_tables(), data=st.data())
def test_no_method_sees_the_order_of_rows(name, parameters, table, data):
    algorithm = build(name, parameters)
    rows = data.draw(st.permutations(range(len(table.frame))))
    assert released(algorithm, table.data()) == released(algorithm, table.data(rows))


@pytest.mark.slow
@settings(max_examples=30)
@given(
    table=mixed_tables(),
    ground=st.sampled_from(["ordered", "equal", "hierarchical"]),
    method=st.sampled_from(["mondrian", "stack-and-deal", "microaggregation", "sabre"]),
    k=st.sampled_from([1, 2]),
    data=st.data(),
)
def test_no_ground_distance_sees_the_order_of_rows(table, ground, method, k, data):
    if method == "mondrian":
        fields = {"requirements": (KAnonymity(k=k), TCloseness(t=0.6, ground=ground))}
    else:
        fields = {"t": 0.6, "k": k, "ground": ground, "seed": 3}
        fields = {field: value for field, value in fields.items() if field in ALGORITHMS[method].model_fields}
    algorithm = ALGORITHMS[method](**fields)
    rows = data.draw(st.permutations(range(len(table.frame))))
    assert released(algorithm, table.data()) == released(algorithm, table.data(rows))


def test_a_number_and_its_text_under_one_line_of_a_hierarchy():
    """Both are looked up by the text "1"; which of them comes first does not depend on the rows."""
    cells = [1, "1", 2, "1", 1, 2]
    domains = []
    for order in ([0, 1, 2, 3, 4, 5], [1, 0, 5, 4, 3, 2]):
        frame = pd.DataFrame({"x": pd.Series([cells[row] for row in order], dtype=object)})
        hierarchy = Hierarchy({"2": ["high"], "1": ["low"]})
        domains.append(Microdata(frame, {"x": "quasi-identifier"}, hierarchies={"x": hierarchy}).domain["x"].values)
    assert domains[0] == domains[1] == (2, 1, "1")


def test_each_value_is_published_as_itself():
    cells = [1, True, 1.0, "1", True, 0, False, "True"]
    frame = pd.DataFrame({"x": pd.Series(cells, dtype=object), "y": range(8)})
    release = build("mondrian", {"requirements": (KAnonymity(k=1),)}).anonymize(
        Microdata(frame, {"y": "quasi-identifier", "x": "sensitive"})
    )
    published = [(type(value), value) for value in release.tables()["release"]["x"]]
    kinds = [bool, int, str]
    expected = Counter([(int, 1)] * 2 + [(bool, True)] * 2 + [(str, "1"), (int, 0), (bool, False), (str, "True")])
    assert Counter(published) == expected
    assert {kind for kind, _ in published} == set(kinds)
    (check,) = DistinctDiversity(l=6).checks(release.data)
    assert check.table_level(8) == 6


def test_sensitive_values_and_orders_name_one_value_in_any_form():
    frame = pd.DataFrame({"x": pd.Series([1, True, "1", 2.0], dtype=object)})
    roles = {"x": "sensitive"}
    for form in (1, 1.0, Decimal(1), np.int8(1)):
        assert Microdata(frame, roles, sensitive_values={"x": [form]}).sensitive_values["x"] == (1,)
    assert Microdata(frame, roles, sensitive_values={"x": [True]}).sensitive_view("x").codes.tolist() == [1, 0, 1, 1]
    data = Microdata(frame, roles, orders={"x": ["1", 2, True, 1.0]})
    assert list(map(repr, data.domain["x"])) == ["'1'", "2.0", "True", "1"]
    with pytest.raises(DataError, match="lists a value twice"):
        Microdata(frame, roles, orders={"x": ["1", 2, True, 1.0, 1]})
    with pytest.raises(DataError, match="lists the value '2020-01-01' twice"):
        Hierarchy({date(2020, 1, 1): ["a"], pd.Timestamp("2020-01-01"): ["b"]})


def test_missing_cells_of_all_kinds_are_one_value():
    frame = pd.DataFrame({"x": pd.Series([*MISSING, 1, "1"], dtype=object)})
    data = Microdata(frame, {"x": "sensitive"})
    assert data.codes["x"].tolist() == [2, 2, 2, 2, 0, 1]
    assert all(data.domain["x"].code_of(one) == 2 for one in MISSING)
    assert is_missing(data.domain["x"][2])
