"""What the board says of the certificate of a release that was made elsewhere."""

from __future__ import annotations

import io
import zipfile

import pytest

from anoncore.algorithms import Mondrian
from anoncore.base.errors import DataError
from anoncore.publishing import new_key, release_archive, sign
from anoncore.publishing.export import archive_bytes
from anoncore.publishing.signing.signature import new_keys
from anoncore.publishing.signing.signers import changed_zip
from anoncore.requirements import KAnonymity
from dashboard.views.board_opened import certificate_told, certified, unpacked
from tests.fuzz.honest import ROLES, Microdata, people

NOBODY = "Nobody signed: whoever made the tables can have made this certificate."


@pytest.fixture(scope="module")
def archive():
    release = Mondrian(requirements=[KAnonymity(k=3)]).anonymize(Microdata(people(), roles=ROLES))
    return release_archive(release, "people", new_key())


def said(content, keys=()):
    ((name, own),) = certified([("people.zip", content)])
    return certificate_told(*unpacked(name, own), keys)


def test_an_unsigned_certificate_says_what_it_proves(archive):
    assert said(archive).startswith(f"{NOBODY} The certificate holds")


def test_whose_key_signed_is_told_by_the_keys_that_the_reader_gives(archive, tmp_path):
    pytest.importorskip("cryptography", reason="cryptography is not installed; the extra 'sign' has it")
    private, public = new_keys("Ann Lee")
    file = tmp_path / "ann"
    file.write_bytes(private)
    file.chmod(0o600)
    signed = changed_zip("people.zip", archive, lambda text: sign(text, file))
    keys = [("ann.pub", public.line.encode())]
    assert said(signed, keys).startswith("Signed by Ann Lee's key. The certificate holds")
    assert said(signed).startswith("Signed by a key that you don't trust (SHA256:")
    assert said(archive, keys).startswith(NOBODY)


def test_a_change_is_told(archive):
    with zipfile.ZipFile(io.BytesIO(archive)) as file:
        members = {name: file.read(name) for name in file.namelist()}
    members["people.csv"] = members["people.csv"].replace(b"flu", b"cold", 1)
    found = said(archive_bytes(members.items()))
    assert "The certificate does not hold" in found
    assert "values of 'illness' were changed" in found


def test_what_holds_no_certificate_is_passed_over(archive):
    assert certified([("people.csv", b"age\n1\n"), ("bad.zip", b"PK\x03\x04" + b"x" * 50)]) == []
    assert certified([("none.zip", archive_bytes([("people.csv", b"age\n1\n")]))]) == []
    broken = archive_bytes([("x-certificate.json", b"{}"), ("people.csv", b"age\n1\n")])
    with pytest.raises(DataError, match="This is no certificate"):
        said(broken)
