"""Names and texts with quotes of both kinds come back from SQL as they went in."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import duckdb
from hypothesis import given, settings
from hypothesis import strategies as st

from anoncore.base.sql import identifier, literal

TEXTS = st.text(st.sampled_from("ab\"'`;\\ -%"), min_size=1, max_size=8)


@settings(max_examples=25, deadline=None)
@given(name=TEXTS, text=TEXTS)
def test_what_was_quoted_comes_back(name: str, text: str) -> None:
    query = f"SELECT {literal(text)} AS {identifier(name)}"
    with closing(sqlite3.connect(":memory:")) as database:
        cursor = database.execute(query)
        assert (cursor.description[0][0], cursor.fetchall()) == (name, [(text,)])
    with closing(duckdb.connect()) as connection:
        relation = connection.sql(query)
        assert (relation.columns, relation.fetchall()) == ([name], [(text,)])
