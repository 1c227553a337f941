"""Pseudonyms: the published vectors of HMAC, one pseudonym per id whatever its type, and keys that stay secret."""

from __future__ import annotations

import base64
import os
from datetime import date
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anoncore import AnonymizationError
from anoncore.base.errors import DataError, ParameterError
from anoncore.table.pseudonyms import NOT_PUBLIC, Pseudonyms

KEY = bytes(range(32))


def one(value: object, key: bytes = KEY) -> str:
    return Pseudonyms(key).of(pd.Series([value], dtype=object))[0]


def test_vector_of_rfc_4231() -> None:
    """Test case 1: HMAC-SHA256 of 'Hi There' begins with b0344c61d8db38535ca8."""
    expected = base64.b32encode(bytes.fromhex("b0344c61d8db38535ca8")).decode()
    assert one("Hi There", b"\x0b" * 20) == expected == "WA2EYYOY3M4FGXFI"


def test_an_id_has_one_pseudonym_in_every_type() -> None:
    alike = [12, 12.0, "12", Decimal("12"), Decimal("12.0"), np.int8(12), np.float32(12)]
    assert len({one(value) for value in alike}) == 1
    assert len({one(value) for value in ["12", "012", "12.0", " 12", 120]}) == 5
    assert one(date(2024, 1, 2)) == one("2024-01-02")
    assert len(one(12)) == 16


def test_tables_agree_whatever_their_order_and_gaps() -> None:
    pseudonyms = Pseudonyms(KEY)
    whole = pseudonyms.of(pd.Series([3, 1, 1], index=[9, 9, 4], name="patient"))
    gaps = pseudonyms.of(pd.Series([1.0, None, 3.0]))
    category = pseudonyms.of(pd.Series(["1", "3"], dtype="category"))
    assert whole.name == "patient"
    assert whole.index.tolist() == [9, 9, 4]
    assert whole.tolist() == [gaps[2], gaps[0], gaps[0]] == [category[1], category[0], category[0]]
    assert gaps.isna().tolist() == [False, True, False]


def test_another_key_gives_other_pseudonyms() -> None:
    fresh, other = Pseudonyms.fresh(), Pseudonyms.fresh()
    assert len({fresh.key, other.key}) == 2
    assert len(fresh.key) == 32
    assert one(1, fresh.key) != one(1, other.key)


def test_no_two_of_100_000_ids_share_a_pseudonym() -> None:
    made = Pseudonyms(KEY).of(pd.Series(range(100_000)))
    assert made.nunique() == 100_000
    assert made.str.fullmatch("[A-Z2-7]{16}").all()


@given(st.lists(st.one_of(st.integers(), st.text()), max_size=20))
def test_equal_pseudonyms_mean_equal_ids(ids: list[object]) -> None:
    made = Pseudonyms(KEY).of(pd.Series(ids, dtype=object))
    assert made.nunique() == len({str(value) for value in ids})


def test_the_key_is_not_shown() -> None:
    assert KEY.hex() not in repr(Pseudonyms(KEY))
    assert repr(KEY) not in repr(Pseudonyms(KEY))


@pytest.mark.parametrize("value", [True, 1.5, float("inf"), 2.0**53, Decimal("1.5"), Decimal("Infinity"), 1j, [1]])
def test_values_that_are_no_ids_are_refused(value: object) -> None:
    with pytest.raises(DataError, match="'patient'"):
        Pseudonyms(KEY).of(pd.Series([value], name="patient", dtype=object))


def test_short_keys_are_refused() -> None:
    with pytest.raises(ParameterError, match="has 15 bytes, and 16 are the least"):
        Pseudonyms(b"x" * 15)


def test_a_key_file_is_read_back_and_is_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "patients.key"
    pseudonyms = Pseudonyms.fresh()
    pseudonyms.write(path, published=tmp_path / "out")
    assert Pseudonyms.read(path) == pseudonyms
    assert path.read_text().splitlines()[0] == NOT_PUBLIC
    if os.name == "posix":
        assert path.stat().st_mode & 0o777 == 0o600
        path.chmod(0o640)
        with pytest.raises(ParameterError, match="can be read by others"):
            Pseudonyms.read(path)


def test_a_key_is_never_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "patients.key"
    path.write_text("precious")
    with pytest.raises(ParameterError, match="exists, and a key is never overwritten"):
        Pseudonyms(KEY).write(path)
    assert path.read_text() == "precious"


@pytest.mark.parametrize("inside", ["patients.key", "deep/patients.key", "../out/patients.key"])
def test_a_key_does_not_lie_in_what_is_published(tmp_path: Path, inside: str) -> None:
    (tmp_path / "out" / "deep").mkdir(parents=True)
    with pytest.raises(ParameterError, match="which is published; name a file outside"):
        Pseudonyms(KEY).write(tmp_path / "out" / inside, published=tmp_path / "out")
    assert not list(tmp_path.rglob("*.key"))


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="cannot be written: no such file"):
        Pseudonyms(KEY).write(tmp_path / "none" / "patients.key")
    with pytest.raises(ParameterError, match="cannot be read: no such file"):
        Pseudonyms.read(tmp_path / "patients.key")


@pytest.mark.parametrize("content", [b"", KEY.hex().encode(), f"{NOT_PUBLIC}\nxyz\n".encode(), b"\xff\n", b"# a\n00\n"])
def test_files_that_hold_no_key(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "patients.key"
    path.write_bytes(content)
    path.chmod(0o600)
    with pytest.raises(AnonymizationError, match="holds no key of pseudonyms"):
        Pseudonyms.read(path)
