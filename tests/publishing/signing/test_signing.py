"""Signatures: who signed is told by the reader's keys alone, and whatever is changed afterwards is noticed."""

from __future__ import annotations

import base64
import copy
import json
import os
import stat
import sys

import pandas as pd
import pytest

from anoncore import DataError, Microdata
from anoncore.algorithms import Mondrian
from anoncore.base.errors import ParameterError
from anoncore.base.extras import MissingPackageError
from anoncore.publishing import Certificate, certify, new_key, sign, signed_by
from anoncore.publishing.signing.signature import (
    FORM,
    clear_name,
    new_keys,
    read_private_key,
    read_public_key,
    trusted_keys,
)
from anoncore.requirements import KAnonymity

ed25519 = pytest.importorskip(
    "cryptography.hazmat.primitives.asymmetric.ed25519", reason="cryptography is not installed; the extra 'sign' has it"
)


@pytest.fixture(scope="module")
def certificate():
    people = pd.DataFrame({"age": [21, 22, 23, 44, 45, 46], "disease": ["flu", "grün"] + ["cold"] * 4})
    data = Microdata(people, roles={"age": "quasi-identifier", "disease": "sensitive"})
    return certify(Mondrian(requirements=[KAnonymity(k=3)]).anonymize(data), new_key()).dumps()


@pytest.fixture
def keys(tmp_path):
    def made(name, passphrase=None):
        private, public = new_keys(name, passphrase)
        file = tmp_path / f"{name}.key"
        file.write_bytes(private)
        file.chmod(0o600)
        (tmp_path / f"{name}.key.pub").write_text(public.line)
        return file

    return made


def public(file):
    return file.with_name(f"{file.name}.pub")


def test_who_signed_is_told_by_the_readers_own_keys(certificate, keys):
    ann, bob = keys("Ann"), keys("Bob")
    assert signed_by(certificate, [public(ann)]).sentence == (
        "nobody signed: whoever made the tables can have made this certificate"
    )
    signed = sign(certificate, ann)
    assert signed_by(signed, [public(ann)]).sentence == "signed by Ann's key"
    assert signed_by(signed, [public(bob)]).sentence.startswith("signed by a key that you don't trust (SHA256:")
    assert signed_by(signed).state == "untrusted"
    # What the reader calls a key counts, whatever its owner called it.
    public(ann).write_text(public(ann).read_text().replace("Ann", "The office in Ulm"))
    assert signed_by(signed, [public(ann)]).names == ("The office in Ulm",)


def test_several_people_sign(certificate, keys):
    ann, bob, eve = keys("Ann"), keys("Bob"), keys("Eve")
    signed = sign(sign(certificate, ann), bob)
    assert signed_by(signed, [public(ann), public(bob)]).sentence == "signed by Ann's and Bob's keys"
    more = sign(signed, eve)
    assert signed_by(more, [public(ann)]).sentence == "signed by Ann's key, and by 2 keys that you don't trust"
    assert signed_by(more).sentence == "signed by 3 keys that you don't trust"
    assert len(json.loads(sign(more, ann))["signatures"]) == 3


def test_the_form_that_is_signed_is_the_one_that_the_file_names(certificate, keys):
    signed = json.loads(sign(certificate, keys("Ann")))
    (entry,) = signed["signatures"]
    assert entry["form"] == FORM
    unsigned = {name: value for name, value in entry.items() if name != "value"}
    text = json.dumps({**signed, "signatures": [unsigned]}, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    key = ed25519.Ed25519PublicKey.from_public_bytes(base64.b64decode(entry["key"]))
    key.verify(base64.b64decode(entry["value"]), text.encode())


def test_spaces_and_the_order_of_keys_are_no_change(certificate, keys):
    ann = keys("Ann")
    signed = json.loads(sign(certificate, ann))
    backwards = dict(reversed(signed.items()))
    for text in (json.dumps(signed), json.dumps(backwards, indent=7, ensure_ascii=False)):
        assert signed_by(text, [public(ann)]).is_trusted
        assert Certificate.loads(text).signatures


def places(value, path=()):
    """Every single value in nested ones, by its place."""
    if isinstance(value, dict | list):
        for name, one in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(one, (*path, name))
    else:
        yield path


def test_every_change_is_noticed(certificate, keys):
    ann = keys("Ann")
    signed = json.loads(sign(certificate, ann))
    changed = [path for path in places(signed) if path[0] != "signatures" or path[-1] in ("made", "value")]
    assert len(changed) > 50
    for path in changed:
        other = copy.deepcopy(signed)
        target = other
        for name in path[:-1]:
            target = target[name]
        old = target[path[-1]]
        if path[-1] == "value":
            target["value"] = ("B" if old[0] == "A" else "A") + old[1:]
        elif path[-1] == "made" and path[0] == "signatures":
            target["made"] = "2020-01-01T00:00:00+00:00"
        else:
            target[path[-1]] = f"{old}x" if isinstance(old, str) else (old or 0) + 1
        assert signed_by(json.dumps(other), [public(ann)]).is_broken, path
    for name in [one for one in signed if one != "signatures"]:
        assert signed_by(json.dumps({one: value for one, value in signed.items() if one != name})).is_broken, name
    assert signed_by(json.dumps(signed | {"more": None})).is_broken
    # A whole number with a point is another text.
    rows = signed["tables"][0]["rows"]
    assert signed_by(json.dumps(signed).replace(f'"rows": {rows},', f'"rows": {rows}.0,', 1)).is_broken


def test_a_certificate_that_was_changed_is_not_signed_once_more(certificate, keys):
    signed = sign(certificate, keys("Ann")).replace('"rows": 6', '"rows": 7')
    with pytest.raises(DataError, match="was changed after it was signed"):
        sign(signed, keys("Bob"))


def test_another_entrys_signature_does_not_fit(certificate, keys):
    ann, bob = keys("Ann"), keys("Bob")
    signed = json.loads(sign(sign(certificate, ann), bob))
    first, second = signed["signatures"]
    first["value"], second["value"] = second["value"], first["value"]
    found = signed_by(json.dumps(signed), [public(ann)])
    assert found.sentence.startswith("the signature that names Ann's key does not fit")


def test_other_words_about_the_form_make_no_signature(certificate, keys):
    signed = json.loads(sign(certificate, keys("Ann")))
    signed["signatures"][0]["form"] = "whatever"
    assert signed_by(json.dumps(signed)).is_broken


def test_a_signed_certificate_does_not_say_that_it_is_unsigned(certificate, keys):
    assert "is not signed" in certificate
    assert "is not signed" not in sign(certificate, keys("Ann"))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[]", "no JSON object"),
        ("{", "Expecting property name"),
        (b"\xff{}", "can't decode"),
        ('{"a": 1, "a": 1}', "'a' stands twice"),
        ('{"x": {"\\u001b[2K": 1, "\\u001b[2K": 2}}', r"'\\x1b\[2K' stands twice"),
        ('{"a": NaN}', "NaN is no number"),
        ('{"a": 1e999}', "1e999 is too large"),
        ("[" * 100_000, "nested too deeply"),
        ('{"signatures": {}}', "no list"),
        ('{"signatures": [5]}', "is none"),
        ('{"signatures": [{"algorithm": "RSA"}]}', "is none"),
        (json.dumps({"signatures": [{}] * 101}), "at most 100"),
    ],
)
def test_what_can_be_read_in_two_ways_is_refused(text, says):
    with pytest.raises(DataError, match=says) as error:
        signed_by(text)
    assert str(error.value).isprintable()


def test_what_is_no_certificate_is_not_signed(keys):
    with pytest.raises(DataError, match="This is no certificate"):
        sign("{}", keys("Ann"))


# Keys.


def test_a_passphrase_protects_a_key(certificate, keys):
    file = keys("Ann", "correct horse")
    assert b"ENCRYPTED" in file.read_bytes()
    assert signed_by(sign(certificate, file, "correct horse"), [public(file)]).is_trusted
    with pytest.raises(ParameterError, match=r"'Ann.key' has a passphrase"):
        sign(certificate, file)
    with pytest.raises(ParameterError, match="has another passphrase"):
        sign(certificate, file, "wrong horse")
    with pytest.raises(ParameterError, match="has no passphrase; leave out"):
        sign(certificate, keys("Bob"), "correct horse")
    with pytest.raises(ParameterError, match="passphrase is empty"):
        new_keys("Ann", "")


@pytest.mark.skipif(os.name != "posix", reason="rights of files are those of POSIX")
@pytest.mark.parametrize("rights", [0o640, 0o604, 0o660, 0o644])
def test_a_key_that_others_can_read_signs_nothing(certificate, keys, rights):
    file = keys("Ann")
    file.chmod(rights)
    with pytest.raises(ParameterError, match=rf"its rights are {rights:o}.*chmod 600 Ann.key"):
        sign(certificate, file)
    assert stat.S_IMODE(file.stat().st_mode) == rights


def test_files_that_are_no_private_keys_say_what_they_are(certificate, keys, tmp_path):
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import x25519

    other = x25519.X25519PrivateKey.generate().private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    for content, says in (
        (public(keys("Ann")).read_bytes(), "is a public key; name the private one"),
        (b"hello", "holds no private key"),
        (b"", "holds no private key"),
        (b"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n", "holds no private key"),
        (other, "a key of another kind"),
        (b"x" * 200_000, "too large"),
    ):
        file = tmp_path / "one"
        file.write_bytes(content)
        file.chmod(0o600)
        with pytest.raises(ParameterError, match=says):
            read_private_key(file)
    with pytest.raises(ParameterError, match="cannot be read: no such file"):
        sign(certificate, tmp_path / "none")


def test_public_keys_are_lines_as_openssh_writes_them(keys, tmp_path):
    file = public(keys("Ann"))
    key = read_public_key(file)
    assert file.read_text().startswith("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5")
    from cryptography.hazmat.primitives.serialization import load_ssh_public_key

    assert load_ssh_public_key(file.read_bytes()).public_bytes_raw() == key.raw
    nameless = tmp_path / "office.pub"
    nameless.write_text("# of the office\n" + " ".join(key.line.split()[:2]) + "\n")
    assert read_public_key(nameless).name == "office"
    for content, says in (
        (key.line * 2, "holds no public key"),
        ("ssh-rsa AAAA x", "holds no public key"),
        ("ssh-ed25519 AAAA x", "holds no public key"),
        ("ssh-ed25519 !!!! x", "holds no public key"),
        ("", "holds no public key"),
        (key.line.replace("Ann", "A\x1b[2K"), "is no name"),
        (new_keys("Ann")[0].decode(), "is a private key, which is kept secret"),
    ):
        nameless.write_text(content)
        with pytest.raises(ParameterError, match=says) as error:
            read_public_key(nameless)
        assert str(error.value).isprintable()


def test_a_folder_of_keys_is_trusted_where_each_has_one_name(keys, tmp_path):
    keys("Ann"), keys("Bob")
    found = trusted_keys([tmp_path])
    assert sorted(key.name for key in found) == ["Ann", "Bob"]
    assert trusted_keys([tmp_path, tmp_path / "Ann.key.pub"]) == found
    ann = (tmp_path / "Ann.key.pub").read_text()
    (tmp_path / "z.pub").write_text(ann.replace("Ann", "Anne"))
    with pytest.raises(ParameterError, match="One trusted key has two names, 'Ann' and 'Anne'"):
        trusted_keys([tmp_path])
    (tmp_path / "z.pub").write_text(new_keys("Ann")[1].line)
    with pytest.raises(ParameterError, match="Two trusted keys have the name 'Ann'"):
        trusted_keys([tmp_path])
    (tmp_path / "empty").mkdir()
    with pytest.raises(ParameterError, match="'empty' has no public keys"):
        trusted_keys([tmp_path / "empty"])


def test_names_are_printable():
    assert clear_name("  Ann   Lee ") == "Ann Lee"
    for name in ("", " ", "x" * 101, "a\x00", "\u202eAnn"):
        with pytest.raises(ParameterError, match="is no name for the owner"):
            clear_name(name)


def test_a_missing_package_is_asked_for_by_name(certificate, keys, monkeypatch):
    ann = keys("Ann")
    signed = sign(certificate, ann)
    for name in [one for one in sys.modules if one.startswith("cryptography.hazmat.primitives.asymmetric")]:
        monkeypatch.setitem(sys.modules, name, None)
    asked = r"A signature needs cryptography; install it with: pip install 'anoncore\[sign\]'"
    for work in (lambda: sign(certificate, ann), lambda: new_keys("Eve"), lambda: signed_by(signed, [public(ann)])):
        with pytest.raises(MissingPackageError, match=asked):
            work()
    # Certificates are checked without it, and nothing is said of signatures that was not looked at.
    assert signed_by(certificate).state == "unsigned"
    assert signed_by(signed).state == "not checked"
    assert Certificate.loads(signed).signatures
