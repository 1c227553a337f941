"""The registry of built-in tables: each is complete, fresh at every load and accepted by the library."""

from __future__ import annotations

import pandas as pd
import pytest

from anoncore import Microdata
from anoncore.base.errors import DataError
from anoncore.datasets import Table, table, tables
from anoncore.datasets.catalog import Taxonomy, taxonomy_values
from anoncore.table.hierarchy import Hierarchy

INTERNAL = [name for name, entry in tables().items() if not entry.external]


@pytest.fixture(scope="module")
def frames() -> dict[str, pd.DataFrame]:
    return {name: tables()[name].load() for name in INTERNAL}


def depths(taxonomy: Taxonomy) -> set[int]:
    return {
        1 + depth
        for below in taxonomy.values()
        for depth in (depths(below) if not isinstance(below, (list, tuple)) else {0})
    }


def node_names(taxonomy: Taxonomy) -> list[str]:
    names = list(taxonomy)
    for below in taxonomy.values():
        if not isinstance(below, (list, tuple)):
            names += node_names(below)
    return names


def test_the_census_comes_first_and_only_public_data_is_external():
    assert next(iter(tables())) == "census"
    assert {name for name, entry in tables().items() if entry.external} == {"adult", "heart", "musk"}
    assert {name for name, entry in tables().items() if entry.generated} == {"census", "rothko-synthetic", "wide"}


def test_an_unknown_table_is_refused_with_the_known_names():
    with pytest.raises(DataError, match=r"no built-in table 'census2'.*census, rothko-synthetic, wide, adult"):
        table("census2")


def test_the_registry_cannot_be_changed():
    with pytest.raises(TypeError):
        tables()["mine"] = table("census")  # type: ignore[index]


@pytest.mark.parametrize("name", list(tables()))
def test_every_table_says_what_it_is(name):
    entry = table(name)
    assert entry.name == name
    assert all(text.strip() for text in (entry.title, entry.description, entry.source))
    assert "quasi-identifier" in entry.roles.values()


@pytest.mark.parametrize("name", list(tables()))
def test_taxonomies_have_one_depth_and_unambiguous_names(name):
    entry = table(name)
    for column, taxonomy in entry.taxonomies.items():
        values = list(taxonomy_values(taxonomy))
        names = node_names(taxonomy)
        assert len(set(values)) == len(values), column
        assert len(set(names)) == len(names), column
        assert not set(names) & set(values), column
        assert len(depths(taxonomy)) == 1, column
        if column in entry.orders:
            assert values == list(entry.orders[column]), "a group of the taxonomy is an interval of the order"


@pytest.mark.parametrize("name", INTERNAL)
def test_taxonomies_and_orders_cover_exactly_the_values(name, frames):
    entry, frame = table(name), frames[name]
    for column, taxonomy in entry.taxonomies.items():
        assert set(taxonomy_values(taxonomy)) == set(frame[column].dropna()), column
    for column, order in entry.orders.items():
        assert set(order) == set(frame[column].dropna()), column
    for column, protected in entry.sensitive_values.items():
        assert set(protected) < set(frame[column])
        assert entry.roles[column] == "sensitive"


@pytest.mark.slow
@pytest.mark.parametrize("name", INTERNAL)
def test_roles_name_every_column_and_the_library_takes_the_table(name, frames):
    entry, frame = table(name), frames[name]
    assert set(entry.roles) == set(frame.columns)
    hierarchies = {column: Hierarchy.from_nested(taxonomy) for column, taxonomy in entry.taxonomies.items()}
    data = Microdata(
        frame,
        roles=entry.roles,
        kinds=entry.kinds,
        orders=entry.orders,
        hierarchies=hierarchies,
        sensitive_values=entry.sensitive_values,
    )
    assert data.n_rows == len(frame)
    assert data.quasi_identifiers == tuple(c for c in frame.columns if entry.roles[c] == "quasi-identifier")


@pytest.mark.parametrize("name", INTERNAL)
def test_a_loaded_table_is_fresh_and_repeatable(name, frames):
    loaded = table(name).load()
    pd.testing.assert_frame_equal(loaded, frames[name])
    loaded.iloc[0, loaded.columns.get_loc(next(iter(loaded.columns)))] = loaded.iloc[-1, 0]
    pd.testing.assert_frame_equal(table(name).load(), frames[name])


def test_a_table_shows_its_columns_by_role_and_where_it_is_from():
    shown = repr(table("census")).split("\n")
    assert shown[0] == "Table census: Census-like table (made up)"
    roles = ["identifier", "quasi-identifier", "insensitive", "sensitive"]
    assert [line.split()[0] for line in shown[1:]] == [*roles, "source"]
    assert shown[1].split(maxsplit=1)[1] == "'person-id', 'name'"


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"roles": {"age": "secret"}}, "'age' has the role 'secret'"),
        ({"kinds": {"age": "real"}}, "'age' has the kind 'real'"),
        ({"orders": {"size": [1, 2]}}, "'size' is described but has no role"),
        ({"taxonomies": {"size": {"a": [1]}}}, "'size' is described but has no role"),
    ],
)
def test_a_table_that_contradicts_itself_is_refused(fields, message):
    given = {"roles": {"age": "quasi-identifier"}} | fields
    with pytest.raises(DataError, match=message):
        Table(name="t", title="T", description="d", source="s", load=pd.DataFrame, **given)
