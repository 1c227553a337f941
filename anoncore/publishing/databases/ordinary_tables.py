"""Whether a table of a database is one that shows everybody the same rows, and nothing but these.

A certificate is about cells. A view may show another reader other rows, and a comment or a default value says what no
cell does, so the catalog of the database is asked for whatever a table is or carries beside its cells.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any

from anoncore.base.texts import listing, quoted
from anoncore.publishing.certification.finding import Finding, fails

Rows = Callable[..., Sequence[Sequence[Any]]]
"""Gives the rows that a query finds with some values."""
ORDINARY = "r"
KINDS = {
    "v": "a view", "m": "a materialized view", "f": "a foreign table, whose rows lie elsewhere",
    "p": "a partitioned table, whose rows lie in others", "S": "a sequence", "c": "a type", "i": "an index",
    "I": "an index",
}  # fmt: skip
"""What a name of the catalog may stand for beside an ordinary table."""
MOST_NAMED = 10
HELD_TYPES = (
    "boolean", "smallint", "integer", "bigint", "real", "double precision", "text", "date",
    "timestamp without time zone", "timestamp with time zone",
)  # fmt: skip
"""Types in which releases are stored. Others are read as text or rounded, which hides a part of what they hold."""
RELATION = (
    "SELECT c.oid::text, c.relkind::text, c.relrowsecurity, "
    "EXISTS (SELECT FROM pg_catalog.pg_policy p WHERE p.polrelid = c.oid), "
    "EXISTS (SELECT FROM pg_catalog.pg_inherits h WHERE h.inhparent = c.oid) "
    "FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace "
    "WHERE n.nspname = $1 AND c.relname = $2"
)
COLUMNS = (
    "SELECT attname::text, pg_catalog.format_type(atttypid, NULL), atthasdef FROM pg_catalog.pg_attribute "
    "WHERE attrelid = $1::oid AND attnum > 0 AND NOT attisdropped ORDER BY attnum"
)
CONDITIONS = "SELECT conname::text FROM pg_catalog.pg_constraint WHERE conrelid = $1::oid AND contype = 'c' ORDER BY 1"
COMMENTS = (
    "SELECT coalesce(a.attname::text, ''), d.description FROM pg_catalog.pg_description d "
    "LEFT JOIN pg_catalog.pg_attribute a ON a.attrelid = d.objoid AND a.attnum = d.objsubid AND d.objsubid > 0 "
    "WHERE d.objoid = $1::oid AND d.classoid = 'pg_catalog.pg_class'::regclass ORDER BY d.objsubid"
)


def unread_findings(rows: Rows, schema: str, names: Collection[str]) -> Iterator[Finding]:
    """What is called like a table and is none, or gives each reader other rows, so that reading it shows nothing."""
    for name in names:
        for _, kind, has_rules, has_policies, has_children in rows(RELATION, schema, name):
            if kind != ORDINARY:
                what = KINDS.get(kind, "something else")
                sentence = f"{quoted(name)} is {what}, not an ordinary table, and may show other readers other rows."
                yield fails(f"kind of {quoted(name)}", sentence)
            if has_rules or has_policies:
                sentence = f"{quoted(name)} has row-level security: it may show other readers other rows."
                yield fails(f"row-level security of {quoted(name)}", sentence)
            if has_children:
                sentence = f"Other tables inherit from {quoted(name)}, and their rows count as rows of it; detach them."
                yield fails(f"tables below {quoted(name)}", sentence)


def beside_findings(rows: Rows, schema: str, read: Collection[tuple[str, Sequence[str]]]) -> Iterator[Finding]:
    """What tables carry beside the cells that were read; each comes with its columns as they were read."""
    for name, seen in read:
        of_table = quoted(name)
        for table, *_ in rows(RELATION, schema, name):
            columns = rows(COLUMNS, table)
            hidden = [column for column, *_ in columns if column not in seen]
            if hidden:
                which = f"{of_table} has {listing(hidden, MOST_NAMED)}, which you may not read and others may."
                yield fails(f"columns of {of_table}", which)
            for column, kind, has_default in columns:
                if column in seen and kind not in HELD_TYPES:
                    sentence = (
                        f"{quoted(column)} of {of_table} has the type {quoted(kind)}, in which no release is stored."
                    )
                    yield fails(f"type of {quoted(column)}", sentence)
                if has_default:
                    sentence = (
                        f"{quoted(column)} of {of_table} has a default or generated value, which is not certified."
                    )
                    yield fails(f"default of {quoted(column)}", sentence)
            for (condition,) in rows(CONDITIONS, table):
                sentence = f"{of_table} has the condition {quoted(condition)} on its rows, which is not certified."
                yield fails(f"conditions of {of_table}", sentence)
            for column, comment in rows(COMMENTS, table):
                where = f"{quoted(column)} of {of_table}" if column else of_table
                sentence = f"{where} has the comment {quoted(comment)}, which is not certified."
                yield fails(f"comment on {quoted(column or name)}", sentence)
