"""Names and texts as they stand in SQL, so that nothing in them ends early: of DuckDB, SQLite and PostgreSQL alike."""


def identifier(name: str) -> str:
    """The name of a schema, table or column."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: object) -> str:
    """A text, or what a path or value reads."""
    return "'" + str(text).replace("'", "''") + "'"
