import datetime as dt

import numpy as np
import pandas as pd
import pytest

from anoncore import DataError, Hierarchy, Kind, Microdata, Role
from anoncore.base.pandas_versions import TEXT
from anoncore.table.microdata import content_order, guess_kind

PEOPLE = pd.DataFrame(
    {
        "name": ["Ann", "Bob", "Cid"],
        "age": [31, 20, 31],
        "job": ["cook", None, "baker"],
        "disease": ["flu", "flu", "gout"],
    }
)
ROLES = {"name": "identifier", "age": "quasi-identifier", "job": Role.QUASI_IDENTIFIER, "disease": "sensitive"}


def one(values, dtype=None, **settings):
    named = {what: {"x": given} for what, given in settings.items()}
    return Microdata(pd.DataFrame({"x": pd.Series(values, dtype=dtype)}), **{"roles": {"x": "insensitive"}, **named})


def test_roles_and_codes():
    data = Microdata(PEOPLE, ROLES)
    assert data.n_rows == 3
    assert data.identifiers == ("name",)
    assert data.quasi_identifiers == ("age", "job")
    assert data.sensitive == ("disease",)
    assert data.insensitive == ()
    assert data.attributes == ("age", "job", "disease")
    assert data.codes["age"].tolist() == [1, 0, 1]
    assert data.codes["job"].tolist() == [1, 2, 0]
    assert data.codes["age"].dtype == np.int32
    assert "name" not in data.codes
    assert "name" not in data.domain
    assert Microdata(PEOPLE, {"*": "insensitive"}).insensitive == ("name", "age", "job", "disease")


def test_a_column_without_a_role_is_left_out():
    data = Microdata(PEOPLE, {"age": "quasi-identifier"}, kinds={"job": "nominal"}, orders={"disease": ["flu"]})
    assert data.left_out == ("name", "job", "disease")
    assert data.attributes == tuple(data.roles) == tuple(data.codes) == tuple(data.domain) == ("age",)
    assert data.insensitive == data.undecided == ()
    assert repr(data).splitlines()[0] == "Microdata: 3 rows, 4 columns, of which 3 left out"
    assert [line.split()[-1] for line in repr(data).splitlines()[2:]] == ["name", "job", "disease"]
    assert Microdata(PEOPLE).attributes == ()
    assert data.split(control=0.4)[0].left_out == data.with_same_tags(PEOPLE).left_out == data.left_out


def test_a_star_decides_for_all_other_columns():
    data = Microdata(PEOPLE, {"name": "identifier", "*": "insensitive", "age": "quasi-identifier"})
    assert data.roles == {
        "name": "identifier",
        "age": "quasi-identifier",
        "job": "insensitive",
        "disease": "insensitive",
    }
    assert list(data.roles) == list(PEOPLE)
    assert data.left_out == ()
    assert Microdata(PEOPLE, {"*": "sensitive"}).sensitive == tuple(PEOPLE)
    assert Microdata(PEOPLE, {"*": "quasi-identifier"}, unit="name").identifiers == ("name",)


def test_a_column_that_is_called_star_is_meant_by_its_name():
    starred = PEOPLE.rename(columns={"job": "*"})
    data = Microdata(starred, {"*": "insensitive", "age": "quasi-identifier"})
    assert data.insensitive == ("*",)
    assert data.left_out == ("name", "disease")


def test_a_release_made_elsewhere_may_publish_what_is_left_out_here():
    here = Microdata(PEOPLE, {"age": "quasi-identifier"}, orders={"job": ["cook", "baker"]})
    there = here.publishing(["job"])
    assert (there.insensitive, there.undecided, there.left_out) == (("job",), ("job",), ("name", "disease"))
    assert list(there.domain["job"].values) == ["cook", "baker"]
    assert there.codes["age"].tolist() == here.codes["age"].tolist()


def test_the_input_is_never_changed_and_later_changes_of_it_are_not_seen():
    frame, before = PEOPLE.copy(), PEOPLE.copy()
    data = Microdata(frame, ROLES)
    pd.testing.assert_frame_equal(frame, before)
    frame.loc[0, "age"] = 99
    assert data.frame["age"].tolist() == [31, 20, 31]


@pytest.mark.parametrize(
    "index", [[7, 7, 7], ["c", "a", "b"], [2, 1, 0], pd.MultiIndex.from_tuples([(1, 1), (0, 1), (0, 1)])]
)
def test_labels_of_the_index_mean_nothing(index):
    plain, labelled = Microdata(PEOPLE, ROLES), Microdata(PEOPLE.set_axis(index), ROLES)
    for name in plain.attributes:
        assert labelled.codes[name].tolist() == plain.codes[name].tolist()
        assert list(labelled.domain[name]) == list(plain.domain[name])


def test_columns_may_be_named_by_numbers():
    data = Microdata(
        pd.DataFrame({0: [1, 2], 1: ["a", "b"]}), roles={0: "sensitive", "*": "insensitive"}, kinds={"1": "ordinal"}
    )
    assert data.sensitive == ("0",)
    assert data.domain["1"].kind is Kind.ORDINAL


@pytest.mark.parametrize(
    ("values", "dtype", "kind"),
    [
        ([1, 2], "int64", "numeric"),
        ([1.5, None], "float64", "numeric"),
        ([1, None], "Int64", "numeric"),
        ([1, None], "int64[pyarrow]", "numeric"),
        (pd.to_datetime(["2020-01-01", None]), None, "numeric"),
        (pd.to_datetime(["2020-01-01"]).tz_localize("UTC"), None, "numeric"),
        ([None, None], "float64", "numeric"),
        ([dt.date(2020, 1, 1), None], "date32[pyarrow]", "numeric"),
        ([True, False], "bool", "nominal"),
        ([True, None], "boolean", "nominal"),
        (["a", None], TEXT, "nominal"),
        (["1", "2"], TEXT, "nominal"),
        ([1, "a"], "object", "nominal"),
        ([None, None], "object", "nominal"),
        ([1 + 2j, 3], None, "nominal"),
        (pd.to_timedelta(["1D", None]), None, "nominal"),
        (pd.period_range("2020", periods=2, freq="Y"), None, "nominal"),
        (pd.Categorical([1, 2]), None, "nominal"),
        (pd.Categorical(["a", "b"], ordered=True), None, "ordinal"),
    ],
)
def test_kinds_are_guessed_from_the_column(values, dtype, kind):
    column = pd.Series(values, dtype=dtype)
    assert guess_kind(column) == kind
    data = one(values, dtype)
    assert data.domain["x"].kind == kind
    assert sorted(set(data.codes["x"].tolist())) == list(range(len(data.domain["x"])))


def test_an_order_makes_an_attribute_ordinal_unless_its_kind_is_given():
    assert one(["b", "a"], orders=["b", "a"]).domain["x"].kind is Kind.ORDINAL
    assert one([1, 2], orders=[2, 1]).domain["x"].kind is Kind.ORDINAL
    assert one(["b", "a"], orders=["b", "a"], kinds="nominal").domain["x"].kind is Kind.NOMINAL


def test_missing_values_of_all_looks_are_one_value_with_the_last_code():
    data = one([None, np.nan, pd.NA, pd.NaT, "a"], "object")
    assert data.codes["x"].tolist() == [1, 1, 1, 1, 0]
    assert one([None, None], "object").codes["x"].tolist() == [0, 0]
    assert list(one([None, None], "object").domain["x"]) == [None]


def test_the_order_of_values():
    assert list(one(["b", "a", None]).domain["x"]) == ["a", "b", None]
    assert list(one([10, 9]).domain["x"]) == [9, 10]
    assert list(one(["10", "9"]).domain["x"]) == ["10", "9"]
    assert list(one(["b", "a", "c"], orders=["c", "z", "a", None, "b"]).domain["x"]) == ["c", "a", "b"]
    assert list(one(pd.Categorical(["x", "b"], categories=["x", "y", "b"])).domain["x"]) == ["x", "b"]
    assert list(one([2, "b", 1, "a"], "object").domain["x"]) == [1, 2, "a", "b"]
    assert list(one([True, False, None], "boolean").domain["x"]) == [False, True, None]
    nested = Hierarchy.from_nested({"Z": ["b"], "A": ["c", "a"]})
    assert list(one(["a", "b", "c"], hierarchies=nested).domain["x"]) == ["b", "c", "a"]


def test_equal_values_of_any_type_share_a_code():
    assert one([2**70, 1, 2**70 + 1], "object").codes["x"].tolist() == [1, 0, 2]
    assert one([0.0, -0.0]).codes["x"].tolist() == [0, 0]
    assert one(["1", 1, "1"], "object").codes["x"].tolist() == [1, 0, 1]


def test_numbers_written_as_text_become_numbers_when_tagged_so():
    data = one(["01", "1", " 20 ", None, "3.5"], kinds="numeric")
    assert list(data.domain["x"]) == [1, 3.5, 20, None]
    assert data.codes["x"].tolist() == [0, 0, 2, 3, 1]
    assert one(["1", "2"], kinds="numeric").domain["x"].decoded.dtype == "int64"
    assert list(one(pd.Categorical([3, 1]), kinds="numeric").domain["x"]) == [1, 3]
    assert list(one([True, False], kinds="numeric").domain["x"].positions) == [0, 1]


@pytest.mark.parametrize(
    ("values", "dtype", "message"),
    [
        (
            ["1", "x", "2020-01-01"],
            None,
            "'x' is tagged numeric but holds 'x', '2020-01-01'; tag it nominal or ordinal",
        ),
        (["", "1"], None, "is tagged numeric but holds ''"),
        ([1.0, float("inf")], None, "'x' holds an infinite value"),
        (["1", "-inf"], None, "'x' holds an infinite value"),
        ([1.0, 2e200], None, "beyond 1e\\+150; rescale the column"),
        (pd.to_timedelta(["1D", None]), None, "its type is timedelta64"),
        (pd.period_range("2020", periods=2, freq="Y"), None, "its type is period"),
        ([1 + 2j], None, "its type is complex128"),
        ([dt.date(2020, 1, 1)], "object", "holds '2020-01-01'"),
    ],
)
def test_columns_that_cannot_be_numbers(values, dtype, message):
    with pytest.raises(DataError, match=message):
        one(values, dtype, kinds="numeric")


def test_infinite_values_may_be_categories():
    assert one([1.0, float("inf")], kinds="nominal").domain["x"].texts.tolist() == ["1", "inf"]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Microdata([1, 2]), "given as a pandas or Polars DataFrame"),
        (lambda: Microdata(pd.DataFrame()), "no columns"),
        (lambda: Microdata(pd.DataFrame({"a": []})), "column names but no rows"),
        (lambda: Microdata(pd.DataFrame([[1, 2, 3]], columns=["a", "b", "a"])), "share a name: 'a'; give every"),
        (lambda: Microdata(pd.DataFrame([[1, 2]], columns=[1, "1"])), "share a name: '1'"),
        (lambda: Microdata(PEOPLE, {"agee": "sensitive"}), "roles names 'agee', which the table lacks; it has 'name'"),
        (lambda: Microdata(PEOPLE, {"age": "secret"}), "The role of 'age' is 'secret'; use one of 'identifier'"),
        (lambda: Microdata(PEOPLE, {"age": None}), "The role of 'age' is None"),
        (lambda: Microdata(PEOPLE, kinds={"age": "number"}), "The kind of 'age' is 'number'; use one of 'numeric'"),
        (
            lambda: Microdata(PEOPLE, {"*": "insensitive"}, orders={"age": [20, 31]}, kinds={"age": "numeric"}),
            "'age' is numeric, so its",
        ),
        (lambda: Microdata(PEOPLE, {"*": "insensitive"}, orders={"job": ["cook"]}), "The order of 'job' lacks 'baker'"),
        (
            lambda: Microdata(PEOPLE, {"*": "insensitive"}, orders={"job": ["cook", "baker", "cook"]}),
            "order of 'job' lists a value twice",
        ),
        (
            lambda: Microdata(pd.DataFrame({"a": [[1], [2]]}), {"*": "insensitive"}),
            "'a' holds values that cannot be compared",
        ),
        (lambda: Microdata(PEOPLE, ROLES, sensitive_values={"disease": {"HIV"}}), "names 'HIV', which do not occur"),
        (lambda: Microdata(PEOPLE, ROLES, sensitive_values={"disease": "flu"}), "must be a set of values"),
        (lambda: Microdata(PEOPLE, ROLES, sensitive_values={"disease": []}), "must be a set of values"),
        (
            lambda: Microdata(PEOPLE, sensitive_values={"job": {"cook"}}),
            "'job', which has no role and is left out; tag",
        ),
        (
            lambda: Microdata(PEOPLE, {"name": "identifier"}).require_sensitive("age"),
            "'age' has no role and is left out",
        ),
        (lambda: Microdata(PEOPLE, {"name": "identifier"}).require_domain("age"), "'age' has no role and is left out"),
        (lambda: Microdata(PEOPLE, {"*": "harmless"}), "The role of '\\*' is 'harmless'; use one of 'identifier'"),
        (lambda: Microdata(PEOPLE, ROLES, sensitive_values={"name": ["Ann"]}), "'name', which is an identifier"),
        (lambda: Microdata(PEOPLE).require_quasi_identifiers(), "No attribute is tagged as quasi-identifier"),
        (lambda: Microdata(PEOPLE).require_sensitive(), "No attribute is tagged as sensitive"),
        (
            lambda: Microdata(PEOPLE, {"*": "insensitive"}).require_sensitive("x"),
            "There is no attribute 'x' to protect; the table has 'name'",
        ),
    ],
)
def test_bad_tables_and_tags_get_one_sentence(make, message):
    with pytest.raises(DataError, match=message):
        make()


def test_the_sensitive_view_counts_every_value_by_default():
    view = Microdata(PEOPLE, ROLES).sensitive_view("disease")
    assert (view.codes.tolist(), view.size, view.unique, view.labels) == ([0, 0, 1], 2, -1, ("flu", "gout"))


def test_the_sensitive_view_joins_protected_values_into_one():
    frame = pd.DataFrame({"s": ["a", "b", None, "c", "b"]})
    view = Microdata(frame, {"s": "sensitive"}, sensitive_values={"s": {"b", "c"}}).sensitive_view("s")
    assert view.codes.tolist() == [1, 0, 1, 0, 0]
    assert (view.size, view.unique, view.labels) == (2, 1, ("{b, c}", "any other value"))
    everything = Microdata(frame, {"s": "sensitive"}, sensitive_values={"s": {"a", "b", "c", float("nan")}})
    assert everything.sensitive_values["s"] == ("a", "b", "c", None)
    assert everything.sensitive_view("s").codes.tolist() == [0] * 5
    other = Microdata(frame, {"s": "sensitive"}, sensitive_values={"s": ["a"]})
    assert other.sensitive_view("s", np.array([1, 0], dtype=np.int32)).codes.tolist() == [1, 0]


def test_canonical_order_sorts_quasi_identifiers_first_and_ignores_identifiers():
    data = Microdata(PEOPLE, {**ROLES, "age": "insensitive"})
    # By job (baker, cook, missing), then disease, then age.
    assert data.canonical_order.tolist() == [2, 0, 1]
    frame = pd.DataFrame({"id": ["b", "a"], "x": [1, 1]})
    assert Microdata(frame, {"id": "identifier", "x": "quasi-identifier"}).canonical_order.tolist() == [0, 1]


def test_content_order_equals_lexsort_however_many_columns_there_are():
    rng = np.random.default_rng(0)
    columns = [rng.integers(0, 1000, 200).astype(np.int32) % modulus for modulus in (3, 2, *[999] * 12)]
    expected = np.lexsort(columns[::-1])
    assert content_order(columns, [1000] * len(columns)).tolist() == expected.tolist()
    assert content_order(columns[:3], [1000] * 3).tolist() == np.lexsort(columns[2::-1]).tolist()


def test_one_row_one_column_one_value():
    data = one([5], roles="quasi-identifier")
    assert data.codes["x"].tolist() == [0]
    assert data.domain["x"].span == 0
    assert data.canonical_order.tolist() == [0]
