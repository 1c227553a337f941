"""Tables of every kind: equal tables make equal codes and releases, and releases are of the kind that came in."""

from __future__ import annotations

import datetime as dt
import hashlib
import hmac
import pickle
from decimal import Decimal
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anoncore import AnonymizationError, DataError, Hierarchy, Kind, Microdata, attacks, datasets
from anoncore.algorithms import Anatomy, Mondrian
from anoncore.base.pandas_versions import TEXT
from anoncore.publishing import input_hash, write_tables
from anoncore.publishing.certification.digests import joined_hash
from anoncore.release.reading.published_table import PublishedTable
from anoncore.requirements import KAnonymity
from anoncore.table.suggestions import suggest
from tests.properties.strategies import AWKWARD_LABELS
from tests.properties.subjects import EVERYWHERE, build, subjects


def ordered_categories(table: pa.Table) -> dict[str, list[str]]:
    return {
        field.name: table.column(field.name).chunk(0).dictionary.to_pylist()
        for field in table.schema
        if pa.types.is_dictionary(field.type) and field.type.ordered
    }


def polars_of(table: pa.Table) -> pl.DataFrame:
    """The table in Polars, whose ordered categories are an Enum."""
    frame = pl.DataFrame(pl.from_arrow(table))
    ordered = ordered_categories(table).items()
    return frame.with_columns(pl.col(name).cast(pl.String).cast(pl.Enum(labels)) for name, labels in ordered)


def duckdb_of(table: pa.Table) -> duckdb.DuckDBPyRelation:
    """The table in DuckDB, whose ordered categories are an ENUM."""
    relation = duckdb.from_arrow(table)
    for name, labels in ordered_categories(table).items():
        relation = relation.project(f"* REPLACE ({name}::ENUM{tuple(labels)} AS {name})")
    return relation


KINDS = {
    "polars": polars_of,
    "lazy": lambda table: polars_of(table).lazy(),
    "arrow": lambda table: table,
    "chunks": lambda table: pa.concat_tables([table.slice(0, 2), table.slice(2)]),
    "duckdb": duckdb_of,
}
TYPES = {
    "polars": pl.DataFrame,
    "lazy": pl.LazyFrame,
    "arrow": pa.Table,
    "chunks": pa.Table,
    "duckdb": duckdb.DuckDBPyRelation,
}
EVERY_KIND = pytest.mark.parametrize("kind", KINDS)


def in_arrow(frame: pd.DataFrame) -> pa.Table:
    return pa.Table.from_pandas(frame, preserve_index=False)


def cells_of(table: Any) -> dict[str, list[str]]:
    """The cells of a published table of any kind as texts, by that kind's own means, sorted."""
    if isinstance(table, pl.LazyFrame):
        table = table.collect()
    if isinstance(table, pd.DataFrame):
        columns = {name: [None if pd.isna(cell) else cell for cell in table[name]] for name in table}
    elif isinstance(table, pl.DataFrame):
        columns = table.to_dict(as_series=False)
    else:
        columns = pa.table(table).to_pydict()
    return {name: sorted(map(str, cells)) for name, cells in columns.items()}


def assert_same_codes(one: Microdata, other: Microdata) -> None:
    assert one.attributes == other.attributes
    for name in one.attributes:
        assert other.codes[name].tolist() == one.codes[name].tolist(), name
        assert list(map(repr, other.domain[name])) == list(map(repr, one.domain[name])), name
        assert other.domain[name].kind is one.domain[name].kind, name
        assert other.domain[name].texts.tolist() == one.domain[name].texts.tolist(), name


TYPED = pd.DataFrame(
    {
        "age": pd.Series([31, 20, 31, 47, 22, 20], dtype="int16"),
        "children": pd.array([0, None, 2, 2**60 + 1, 1, 1], dtype="Int64"),
        "weight": [70.5, np.nan, 61.0, 61.0, 80.25, -0.0],
        "smokes": pd.array([True, None, False, True, False, True], dtype="boolean"),
        "town": ["Ulm", None, "Bonn", "Ulm", "größe", ""],
        "degree": pd.Categorical(["B", None, "A", "C", "A", "A"], categories=["C", "A", "B"], ordered=True),
        "colour": pd.Categorical(["red", "blue", None, "red", "blue", "blue"], categories=["blue", "red"]),
        "born": pd.Series(pd.to_datetime(["1980-01-02", None, "1990-05-06"] * 2)).astype("datetime64[us]"),
        "seen": pd.Series(pd.to_datetime(["2020-01-02 03:04", "2021-07-08 09:10", None] * 2)).dt.tz_localize(
            "Europe/Berlin"
        ),
        "price": pd.array(
            [Decimal("1.20"), None, Decimal("10.00"), Decimal("1.20"), Decimal("9.99"), Decimal("1.20")],
            dtype=pd.ArrowDtype(pa.decimal128(9, 2)),
        ),
    }
)
TYPED_ROLES = {"age": "quasi-identifier", "town": "quasi-identifier", "degree": "sensitive"}


@EVERY_KIND
def test_typed_columns_have_the_codes_that_they_have_in_pandas(kind):
    frame, data = TYPED, Microdata(KINDS[kind](in_arrow(TYPED)), {**TYPED_ROLES, "*": "insensitive"})
    if kind == "duckdb":
        # DuckDB keeps moments without a zone and shows them in that of its session.
        frame = TYPED.assign(seen=TYPED["seen"].dt.tz_convert(data.domain["seen"][0].tz))
    assert_same_codes(Microdata(frame, {**TYPED_ROLES, "*": "insensitive"}), data)


@EVERY_KIND
def test_published_values_keep_their_type(kind):
    table = KINDS[kind](in_arrow(TYPED))
    published = (
        Mondrian(requirements=[KAnonymity(k=2)])
        .anonymize(Microdata(table, {**TYPED_ROLES, "*": "insensitive"}))
        .tables()["release"]
    )
    assert isinstance(published, TYPES[kind])
    kept = [name for name in TYPED.columns if TYPED_ROLES.get(name) != "quasi-identifier"]
    if kind == "duckdb":
        before, after = (dict(zip(shown.columns, map(str, shown.types), strict=True)) for shown in (table, published))
    elif kind in ("arrow", "chunks"):
        before, after = ({name: shown.schema.field(name).type for name in kept} for shown in (table, published))
    else:
        before, after = table.lazy().collect_schema(), published.lazy().collect_schema()
    assert {name: after[name] for name in kept} == {name: before[name] for name in kept}


def test_a_relation_of_a_release_is_joined_where_the_given_one_is(tmp_path):
    connection = duckdb.connect(tmp_path / "people.db")
    connection.execute("CREATE TABLE people AS SELECT range % 4 AS age, 'd' || range % 3 AS disease FROM range(24)")
    connection.execute("CREATE TABLE names AS SELECT 'd' || range AS disease, 'name ' || range AS name FROM range(3)")
    roles = {"age": "quasi-identifier", "disease": "sensitive"}
    data = Microdata(connection.table("people"), roles)
    method = Mondrian(requirements=[KAnonymity(k=6)])
    published = method.anonymize(data).tables()["release"]
    assert published.join(connection.table("names"), "disease").aggregate("count(*)").fetchall() == [(24,)]
    # Where the connection is closed, the release is one of the default connection; a copy elsewhere has none.
    connection.close()
    for one in (data, pickle.loads(pickle.dumps(data))):
        assert method.anonymize(one).tables()["release"].aggregate("count(*)").fetchall() == [(24,)]


@EVERY_KIND
@pytest.mark.parametrize(
    "method", [Mondrian(requirements=[KAnonymity(k=2)]), Anatomy(l=2, seed=1)], ids=lambda m: m.name
)
def test_published_cells_are_those_of_pandas(kind, method):
    frame = TYPED[["age", "town", "degree", "born", "price", "children"]]
    plain = method.anonymize(Microdata(frame, TYPED_ROLES)).tables()
    tables = method.anonymize(Microdata(KINDS[kind](in_arrow(frame)), TYPED_ROLES)).tables()
    assert list(tables) == list(plain)
    for name, table in tables.items():
        shown, expected = cells_of(table), cells_of(plain[name])
        assert list(shown) == list(expected)
        assert {one: shown[one] for one in shown if one != "group"} == {
            one: expected[one] for one in expected if one != "group"
        }


@EVERY_KIND
def test_a_linking_is_of_the_kind_that_came_in(kind):
    data = Microdata(KINDS[kind](in_arrow(TYPED)), TYPED_ROLES)
    linked = Anatomy(l=2, seed=1).anonymize(data).linked(np.random.default_rng(1))
    assert isinstance(linked, TYPES[kind])
    assert cells_of(linked)["age"] == cells_of(TYPED)["age"]


CENSUS = datasets.table("census")


@pytest.mark.parametrize(("name", "parameters"), subjects(turn=0))
def test_every_method_makes_equal_releases_of_equal_tables(name, parameters):
    frame = CENSUS.load(n_rows=60, seed=5)[["name", "age", "sex", "education", "diagnosis"]]
    roles = {"name": "identifier", "diagnosis": "sensitive"} | dict.fromkeys(
        ["age", "sex", "education"], "quasi-identifier"
    )
    table, algorithm = in_arrow(frame), build(name, parameters)

    def released(given):
        try:
            release = algorithm.anonymize(Microdata(given, roles, kinds={"age": "numeric"}))
        except AnonymizationError as error:
            return str(error)
        # What is drawn anew at every call, the order of groups, is left out by comparing groups of original rows.
        return [fragment.partition.group.tolist() for fragment in release.fragments], {
            name: sorted(rows.astype(str).itertuples(index=False, name=None))
            for name, rows in (
                (key, part.drop(columns=[c for c in part.columns if c not in release.attributes]))
                for key, part in release.pandas_tables().items()
            )
        }

    plain = released(frame)
    # Codes are the same for every kind, as other tests hold. Each method is given two, and every kind to many methods.
    kinds, first = list(KINDS), EVERYWHERE.index(name)
    for kind in (kinds[(first + step) % len(kinds)] for step in range(2)):
        assert released(KINDS[kind](table)) == plain, kind


@st.composite
def typed_frames(draw):
    n_rows = draw(st.integers(3, 12))
    pools = {
        "Int64": st.integers(-3, 3) | st.sampled_from([2**53, 2**53 + 1]) | st.none(),
        "float64": st.sampled_from([-2.5, 0.0, -0.0, 0.5, 1e15, None]),
        "boolean": st.booleans() | st.none(),
        "str": st.sampled_from(AWKWARD_LABELS) | st.none(),
        "datetime64[us]": st.sampled_from([pd.Timestamp("2020-01-01"), pd.Timestamp("2020-01-01 01:02"), None]),
    }
    columns = {}
    for number in range(draw(st.integers(1, 4))):
        dtype = draw(st.sampled_from(sorted(pools)))
        columns[f"c{number}"] = pd.Series(draw(st.lists(pools[dtype], min_size=n_rows, max_size=n_rows)), dtype=dtype)
    return pd.DataFrame(columns)


@pytest.mark.slow
@settings(max_examples=20)
@given(typed_frames())
def test_equal_tables_have_equal_codes_and_equal_hashes(frame):
    plain = Microdata(frame)
    for make in KINDS.values():
        other = Microdata(make(in_arrow(frame)))
        assert_same_codes(plain, other)
        assert input_hash(other, "key", list(frame)) == input_hash(plain, "key", list(frame))


@settings(max_examples=20)
@given(typed_frames())
def test_the_hash_is_that_of_every_cell(frame):
    """Only different cells are looked at; texts that were coded as numbers are hashed as they stand."""
    frame = frame.assign(text=pd.Series([" 1", "007", "1.50", "1e3"] * len(frame))[: len(frame)].astype(TEXT))
    data = Microdata(frame, kinds={"text": "numeric"})
    content = joined_hash([PublishedTable.of("input", frame)])
    assert input_hash(data, "key", list(frame)) == hmac.new(b"key", content.encode(), hashlib.sha256).hexdigest()


def test_dates_of_days_are_numeric_and_stay_dates():
    days = [dt.date(2020, 1, 2), dt.date(2019, 5, 6), None, dt.date(2020, 1, 2)]
    data = Microdata(pl.DataFrame({"day": days, "age": [1, 2, 1, 2]}), {"age": "quasi-identifier", "*": "insensitive"})
    assert data.domain["day"].kind is Kind.NUMERIC
    assert data.domain["day"].texts.tolist() == ["2019-05-06", "2020-01-02", "(missing)"]
    published = Mondrian(requirements=[KAnonymity(k=2)]).anonymize(data).tables()["release"]
    assert published.schema["day"] == pl.Date
    assert sorted(map(str, published["day"])) == sorted(map(str, days))


def test_categories_of_polars_do_not_depend_on_what_was_read_before():
    pl.Series(["z", "b"], dtype=pl.Categorical)
    data = Microdata(pl.DataFrame({"x": ["b", "z", "a"]}, schema={"x": pl.Categorical}), {"*": "insensitive"})
    assert list(data.domain["x"]) == ["a", "b", "z"]


def test_categories_that_no_row_has_are_not_published():
    rows = pl.DataFrame({"x": ["a", "b"], "y": [1, 1]}, schema_overrides={"x": pl.Enum(["secret", "b", "a"])})
    release = Mondrian(requirements=[KAnonymity(k=2)]).anonymize(
        Microdata(rows, {"y": "quasi-identifier", "*": "insensitive"})
    )
    assert release.tables()["release"].schema["x"] == pl.Enum(["b", "a"])
    arrow = pa.table({"x": pa.DictionaryArray.from_arrays([2, 1], ["secret", "b", "a"]), "y": [1, 1]})
    release = Mondrian(requirements=[KAnonymity(k=2)]).anonymize(
        Microdata(arrow, {"y": "quasi-identifier", "*": "insensitive"})
    )
    assert release.tables()["release"].column("x").chunk(0).dictionary.to_pylist() == ["b", "a"]


def test_a_dictionary_that_repeats_a_value_or_lists_a_missing_one_is_read_by_its_values():
    repeating = pa.DictionaryArray.from_arrays([0, 1, 2, None], ["a", "b", "a"])
    assert Microdata(pa.table({"x": repeating}), {"*": "insensitive"}).codes["x"].tolist() == [0, 1, 0, 2]
    missing = pa.DictionaryArray.from_arrays([0, 1, None], ["a", None])
    assert Microdata(pa.table({"x": missing}), {"*": "insensitive"}).codes["x"].tolist() == [0, 1, 1]


def test_texts_that_are_tagged_numeric_are_published_as_numbers():
    data = Microdata(
        pl.DataFrame({"x": ["10", "9"], "y": [1, 1]}), {"y": "quasi-identifier", "*": "insensitive"}, {"x": "numeric"}
    )
    published = Mondrian(requirements=[KAnonymity(k=2)]).anonymize(data).tables()["release"]
    assert sorted(published["x"].to_list()) == [9, 10]


@EVERY_KIND
def test_units_identifiers_and_rows_are_read_from_every_kind(kind):
    visits = pd.DataFrame({"who": ["Ann", "Ann", "Bob", "Cem"], "age": [44, 45, 21, 22]})
    data = Microdata(KINDS[kind](in_arrow(visits)), {"age": "quasi-identifier"}, unit="who")
    assert (data.n_rows, data.n_people) == (4, 3)
    pd.testing.assert_frame_equal(data.frame, visits.astype({"who": data.frame["who"].dtype}))
    assert "name 'who' as the unit" in Microdata(KINDS[kind](in_arrow(visits)), {"who": "identifier"}).unit_note


@EVERY_KIND
def test_people_are_found_again_in_two_tables_of_any_kind(kind):
    people = pd.DataFrame({"who": ["Ann", "Bob", "Cem", "Dan"], "age": [44, 45, 21, 22], "ill": ["flu", "cold"] * 2})
    roles = {"age": "quasi-identifier", "ill": "sensitive", "who": "identifier"}
    method = Mondrian(requirements=[KAnonymity(k=2)])
    plain = method.anonymize(Microdata(people, roles))
    other = method.anonymize(Microdata(KINDS[kind](in_arrow(people[1:])), roles))
    assert attacks.composition([plain, other], "ill", by="who").belief.shape == (3, 2)


def test_a_frame_of_polars_that_is_changed_later_is_not_seen_to_change():
    frame = pl.DataFrame({"age": [1, 2, 3]})
    data = Microdata(frame)
    frame[0, "age"] = 99
    assert data.frame["age"].tolist() == [1, 2, 3]


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        ([1, 2], "given as a pandas or Polars DataFrame.*not as list"),
        ({"a": [1]}, "not as dict"),
        (pd.Series([1]), "not as Series"),
        (pl.Series([1]), "not as Series"),
        (None, "not as NoneType"),
        (pl.DataFrame, "not as type"),
        (pl.DataFrame(), "no columns"),
        (pl.DataFrame({"a": []}), "no rows"),
        (pa.table([[1], [2]], names=["a", "a"]), "share a name"),
        (pl.DataFrame({"a": [object()]}, schema={"a": pl.Object}), "holds Python objects"),
        (pl.DataFrame({"a": [1]}, schema={"a": pl.Int128}), "Arrow does not know"),
        (pl.LazyFrame({"a": [1]}).select("b"), "cannot be computed"),
        (pl.DataFrame({"a": [[1, 2]]}), "cannot be compared"),
    ],
)
def test_what_is_no_table_is_refused_with_a_sentence(table, sentence):
    with pytest.raises(DataError, match=sentence):
        Microdata(table, {"*": "insensitive"})


@EVERY_KIND
def test_proposals_and_hierarchies_are_made_of_every_kind(kind):
    frame = CENSUS.load(n_rows=50, seed=5)
    assert suggest(KINDS[kind](in_arrow(frame))) == suggest(frame)
    lines = pd.DataFrame({"value": ["Ulm", "Bonn"], "level 1": ["Germany", "Germany"]})
    assert Hierarchy.from_table(KINDS[kind](in_arrow(lines))).paths == Hierarchy.from_table(lines).paths


@EVERY_KIND
def test_tables_of_every_kind_are_written_alike(kind, tmp_path):
    frame = pd.DataFrame({"age": [1, 2], "town": ["Ulm", None]})
    for format in ("csv", "parquet", "excel"):
        write_tables({"t": frame}, tmp_path / "plain", format)
        write_tables({"t": KINDS[kind](in_arrow(frame))}, tmp_path / "other", format)
        assert (tmp_path / "plain").read_bytes() == (tmp_path / "other").read_bytes()
