"""What a table of a database is or carries beside its cells, in a PostgreSQL server that the tests start."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from anoncore import DataError, Microdata
from anoncore.algorithms import Anatomy, Mondrian
from anoncore.publishing import store, verify_stored
from anoncore.publishing.databases.storing import storing
from anoncore.requirements import KAnonymity
from tests.engines.large_tables import ROLES, people
from tests.properties.subjects import SEED
from tests.publishing.databases.test_stored import KEY, run, tables
from tests.sources.postgresql_server import Server, running_server

pytestmark = pytest.mark.slow
RENAMED = "ALTER TABLE people RENAME TO hidden"


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with running_server() as found:
        yield found


@pytest.fixture
def fresh(server: Server) -> str:
    """A database with nothing in it."""
    run(server.address(), "DROP SCHEMA public CASCADE", "CREATE SCHEMA public")
    return server.address()


@pytest.fixture(scope="module")
def data() -> Microdata:
    return Microdata(people(), ROLES)


def failing(address: str, name: str = "people") -> list[str]:
    return [one.sentence for one in verify_stored(address, name).of("fails")]


@pytest.mark.parametrize(
    ("statements", "sentence"),
    [
        (["COMMENT ON TABLE people IS 'Ann Lee: hiv'"], "'people' has the comment 'Ann Lee: hiv', which is"),
        (["COMMENT ON COLUMN people.note IS 'row 1 is Ann'"], "'note' of 'people' has the comment 'row 1 is Ann'"),
        (["COMMENT ON TABLE people_certificate IS 'Ann'"], "'people_certificate' has the comment 'Ann'"),
        (["ALTER TABLE people_certificate ADD raw text"], "'people_certificate' has 'raw', which"),
        (["ALTER TABLE people ALTER note SET DEFAULT 'Ann'"], "'note' of 'people' has a default or generated value"),
        (["ALTER TABLE people ADD CONSTRAINT ann CHECK (note <> 'Ann')"], "'people' has the condition 'ann'"),
        (["ALTER TABLE people ALTER note TYPE varchar"], "'note' of 'people' has the type 'character varying'"),
        ([RENAMED, "CREATE VIEW people AS SELECT * FROM hidden"], "'people' is a view, not an ordinary table"),
        (
            [RENAMED, "CREATE VIEW people AS SELECT * FROM hidden WHERE current_user = 'ann'"],
            "'people' is a view, not an ordinary table",
        ),
        ([RENAMED, "CREATE MATERIALIZED VIEW people AS SELECT * FROM hidden"], "'people' is a materialized view"),
        (
            [
                RENAMED,
                "CREATE TABLE people (LIKE hidden) PARTITION BY RANGE (age)",
                "CREATE TABLE part PARTITION OF people DEFAULT",
                "INSERT INTO people SELECT * FROM hidden",
            ],
            "'people' is a partitioned table",
        ),
        (["CREATE TABLE below () INHERITS (people)"], "Other tables inherit from 'people'"),
        (["ALTER TABLE people ENABLE ROW LEVEL SECURITY"], "'people' has row-level security"),
        (["CREATE POLICY own ON people USING (current_user = 'ann')"], "'people' has row-level security"),
    ],
)
def test_what_stands_beside_the_cells_is_named(fresh, data, statements, sentence):
    store(Mondrian(requirements=[KAnonymity(k=5)]).anonymize(data), fresh, "people", KEY)
    assert failing(fresh) == []
    run(fresh, *statements)
    assert any(sentence in one for one in failing(fresh))


def test_a_column_that_only_others_may_read_is_named(server, fresh, data):
    store(Mondrian(requirements=[KAnonymity(k=5)]).anonymize(data), fresh, "people", KEY)
    columns = ", ".join(f'"{name}"' for (name,) in run(
        fresh, "SELECT column_name::text FROM information_schema.columns WHERE table_name = 'people'"
    ))  # fmt: skip
    run(
        fresh,
        "DROP ROLE IF EXISTS bob",
        "CREATE ROLE bob LOGIN",
        "ALTER TABLE people ADD name text",
        f"GRANT SELECT ({columns}) ON people TO bob",
        "GRANT SELECT ON people_certificate TO bob",
        "GRANT USAGE ON SCHEMA public TO bob",
    )
    assert failing(server.address(user="bob")) == ["'people' has 'name', which you may not read and others may."]


def test_a_certificate_is_about_the_tables_of_its_name(fresh, data):
    store(Mondrian(requirements=[KAnonymity(k=5)]).anonymize(data), fresh, "good", KEY)
    run(fresh, "ALTER TABLE good_certificate RENAME TO people_certificate", "CREATE TABLE people (name text)")
    assert failing(fresh) == ["The certificate is about 'good', which is not all of 'people'."]
    run(fresh, "DROP TABLE people, people_certificate")
    store(Anatomy(l=2, seed=SEED).anonymize(data), fresh, "people", KEY)
    assert failing(fresh) == []
    run(fresh, "CREATE TABLE people (name text)")
    assert any("which is not all of 'people'" in one for one in failing(fresh))


def test_a_database_that_adds_to_every_table_gets_no_release(fresh, data):
    # Some providers switch row-level security on for every new table.
    run(
        fresh,
        "CREATE FUNCTION secure() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN IF to_regclass('people') IS NOT "
        "NULL THEN ALTER TABLE people ENABLE ROW LEVEL SECURITY; END IF; END $$",
        "CREATE EVENT TRIGGER secure ON ddl_command_end WHEN TAG IN ('CREATE TABLE') EXECUTE FUNCTION secure()",
    )
    try:
        with pytest.raises(DataError, match="nothing was kept: 'people' has row-level security"):
            store(Mondrian(requirements=[KAnonymity(k=5)]).anonymize(data), fresh, "people", KEY)
    finally:
        run(fresh, "DROP EVENT TRIGGER secure")
    assert tables(fresh) == []
    with storing(fresh, "people", ["release"], False) as free:
        assert [*free.unread(["people"])] == []
