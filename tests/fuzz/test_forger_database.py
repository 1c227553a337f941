"""Forged certificates of tables in a PostgreSQL server that the tests start."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from anoncore import Microdata
from anoncore.algorithms import Anatomy, Mondrian
from anoncore.cli import main
from anoncore.publishing import new_key, store
from anoncore.publishing.signing.signers import stored_text
from anoncore.requirements import KAnonymity
from tests.fuzz.case import Case
from tests.fuzz.forged_people import EDITS, ON_FILES
from tests.fuzz.forger import SIZE, fault_of
from tests.fuzz.forgery import DoesNotFitError
from tests.fuzz.honest import CERTIFICATE, DECIDED, ROLES, Answer, Folder, answered, people
from tests.sources.postgresql_server import running_server

pytestmark = pytest.mark.slow
RELEASES = [
    (Mondrian(requirements=[KAnonymity(k=3)]), ROLES),
    (Mondrian(requirements=[KAnonymity(k=3)]), DECIDED),
    (Anatomy(l=2), ROLES),
]


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with running_server() as server:
        yield server.address()


def put(address: str, text: bytes) -> None:
    from adbc_driver_postgresql import dbapi

    with dbapi.connect(address) as connection, connection.cursor() as cursor:
        cursor.execute("UPDATE people_certificate SET certificate = $1", (text.decode(),))
        connection.commit()


def checked(address: str) -> Answer:
    return answered([address, "--table", "people"])


@pytest.mark.parametrize("number", range(len(RELEASES)))
def test_no_forged_certificate_of_stored_tables_is_believed(address, number):
    method, roles = RELEASES[number]
    release = method.anonymize(Microdata(people(), roles=roles))
    store(release, address, "people", new_key(), replace=True)
    genuine = stored_text(address, "people")
    assert not checked(address).refused
    tables = {f"{name}.csv": frame.to_csv(index=False).encode() for name, frame in release.tables().items()}
    folder = Folder(CERTIFICATE, {CERTIFICATE: genuine, **tables}, "in a database")
    edits = sorted(set(EDITS) - ON_FILES)
    told = []
    for turn in range(number, number + max(SIZE // 15, 1)):
        case = Case(f"database-{number}", 0, turn)
        name = edits[len(RELEASES) * turn % len(edits)]
        try:
            forged = EDITS[name](case, folder)
            put(address, forged.folder.text)
        except (DoesNotFitError, KeyError, ValueError, IndexError, UnicodeDecodeError):
            continue
        fault = fault_of(name, forged, checked(address))
        if fault:
            told.append(f"{case.name} {name} {forged.edits}: {fault}")
    put(address, genuine)
    assert not checked(address).refused
    assert not told, "\n".join(told)


def test_the_certificate_in_a_database_is_signed_there(address, tmp_path, capsys):
    pytest.importorskip("cryptography", reason="cryptography is not installed; the extra 'sign' has it")
    release = RELEASES[0][0].anonymize(Microdata(people(), roles=ROLES))
    store(release, address, "people", new_key(), replace=True)
    for name in ("Ann", "Bob"):
        assert main(["keygen", "--name", name, "--output", str(tmp_path / name), "--quiet"]) == 0
    ann, bob = (["--trusted-key", str(tmp_path / f"{name}.pub")] for name in ("Ann", "Bob"))
    place = [address, "--table", "people"]
    assert answered([*place, *ann]).code == 1
    assert main(["sign", *place, "--key", str(tmp_path / "Ann"), "--quiet"]) == 0
    assert "secret" not in capsys.readouterr().out  # the password of the address
    assert "holds: signed by Ann's key." in answered([*place, *ann]).text
    assert answered([*place, *ann]).code == 0
    assert answered([*place, *bob]).code == 1
    assert "signature: signed by a key that you don't trust (SHA256:" in answered(place).text
    put(address, stored_text(address, "people").replace(b'"made": "20', b'"made": "21', 1))
    assert answered(place).code == 1
    assert main(["sign", address, "--table", "none", "--key", str(tmp_path / "Ann")]) == 2
    assert "has no certificate of a release in a table 'none_certificate'" in capsys.readouterr().err
