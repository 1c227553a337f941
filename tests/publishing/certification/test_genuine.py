"""No file that we write is refused: every method, every format, awkward values; also with an earlier certificate."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterable
from decimal import Decimal
from typing import Any, get_args

import numpy as np
import pandas as pd
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from anoncore import AnonymizationError, Microdata, Release
from anoncore.publishing.certification import Certificate, certify, verify
from anoncore.publishing.export import FileFormat, write_tables
from tests.properties.subjects import build, subjects
from tests.publishing.certification.smuggling import METHODS, released
from tests.publishing.certification.tables import KEY, untagged
from tests.publishing.certification.tables import certificate as made

FORMATS: tuple[FileFormat, ...] = get_args(FileFormat)
ROLES = {"number": "quasi-identifier", "kind": "quasi-identifier", "hidden": "sensitive", "extra": "insensitive"}
AWKWARD = (
    "", " ", "=1+1", "'=1", "-5", "+x", "@", "\t", "a\rb", "a\nb", '"', ",", "'", "_x0041_", "\u2028", "é", "0", "007",
    "1.50", "1e5", "True", "NaN", "None", "#N/A", "2020-01-01", "{a, b}", "<b>", "&amp;", "  x  ", "\x00", "😀", "—",
)  # fmt: skip
EXTRAS: tuple[tuple[Any, ...], ...] = (
    AWKWARD,
    (0.1 + 0.2, 1 / 3, -0.0, 0.0, 1e140, 5e-324, 2.0**60, np.nan),
    (1, 2**53 + 1, -(10**17), 0),
    (True, False),
    (True, 1, 1.0, "1", "True"),
    (pd.Timestamp("2020-01-01"), pd.Timestamp("1850-05-05"), pd.Timestamp("2020-01-01 10:11:12.123456"), pd.NaT),
    (10**20, 5, float("inf"), None),
    (Decimal("1.10"), Decimal("-2.250"), Decimal("3"), Decimal("0.10"), None),
    (Decimal("1.1234567890123456789"), Decimal("1.1234567890123456788"), Decimal("12345678901234567890"), Decimal("0")),
    (Decimal("1E+16"), Decimal("-2E+20"), Decimal("1E+2"), Decimal("7E+30"), None),
    (None,),
)


def small_table(seed: int) -> Microdata:
    """Few people, each column of one of the awkward kinds."""
    rng = np.random.default_rng(seed)
    rows = int(rng.integers(4, 14))

    def drawn(values: tuple[Any, ...]) -> list[Any]:
        return [values[place] for place in rng.integers(0, len(values), rows)]

    columns: dict[str, Any] = {
        "number": rng.integers(0, 6, rows) if rng.random() < 0.5 else rng.random(rows),
        "kind": pd.Series(drawn(AWKWARD[: int(rng.integers(2, 6))]), dtype=object),
        "hidden": pd.Series(drawn(("flu", "=cold", "gout", "")), dtype=object),
        "extra": pd.Series(drawn(EXTRAS[int(rng.integers(0, len(EXTRAS)))])),
    }
    return Microdata(pd.DataFrame(columns), roles=ROLES)


def earlier(certificate: Certificate) -> Certificate:
    """The certificate as it was written before it said how cells are written."""
    values = json.loads(certificate.dumps())
    values.pop("written", None)
    for table in values["tables"]:
        del table["written"]
    return Certificate.loads(json.dumps(values))


def failures(release: Release, format: FileFormat) -> list[str] | None:
    """What a verification of a release's own file finds wrong; None where the format cannot hold the release."""
    tables, content = release.tables(), io.BytesIO()
    try:
        write_tables(tables, content, format)
    except AnonymizationError:
        return None
    files = {"release": content.getvalue()}
    certificate = made(release, files=files, tables=tables)
    unnamed = certificate.model_copy(update={"files": []})
    again = io.BytesIO()
    write_tables(release.tables(), again, format)
    found = [
        *verify(certificate, files, data=release.data, key=KEY).findings,
        *verify(unnamed, {"again": again.getvalue()}).findings,
        *verify(earlier(unnamed), files).findings,
    ]
    return [one.sentence for one in found if one.outcome == "fails"]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "parameters"), subjects())
@settings(max_examples=12, deadline=None, phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(seed=st.integers(0, 10**9))
def test_every_small_release_is_certified_and_verifies_in_every_format(
    name: str, parameters: dict[str, Any], seed: int
) -> None:
    try:
        release = build(name, dict(parameters)).anonymize(small_table(seed))
    except AnonymizationError:  # the table allows none
        return
    for format in FORMATS:
        assert failures(release, format) in (None, []), format


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("format", FORMATS)
def test_what_is_written_verifies(method: str, format: FileFormat) -> None:
    assert failures(released(method), format) == []


@pytest.mark.parametrize("extra", EXTRAS, ids=str)
def test_awkward_values_verify(extra: tuple[Any, ...]) -> None:
    values = pd.Series(extra * 3)
    frame = pd.DataFrame(
        {"number": range(len(values)), "kind": "a", "hidden": list("xyz") * len(extra), "extra": values}
    )
    release = build("mondrian", {}).anonymize(Microdata(frame, roles=ROLES))
    held = [failures(release, format) for format in FORMATS]
    assert held[0] == held[2] == []
    assert held[1] in (None, [])


@pytest.mark.parametrize("method", METHODS)
def test_a_workbook_of_an_earlier_version_verifies(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It says when it was saved, and so do its members."""

    def as_saved(parts: Iterable[tuple[str, bytes]]) -> bytes:
        content = io.BytesIO()
        with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED, allowZip64=True) as archive:
            for name, part in parts:
                archive.writestr(name, part.replace(b"1980-01-01T00:00:00Z", b"2026-05-06T07:08:09Z"))
        return content.getvalue()

    release, content = released(method), io.BytesIO()
    tables = release.tables()
    certificate = certify(release, KEY, tables=tables, publish_untagged=untagged(release))
    with monkeypatch.context() as patched:
        patched.setattr("anoncore.publishing.export.archive_bytes", as_saved)
        write_tables(tables, content, "excel")
    assert b"2026" in zipfile.ZipFile(content).read("docProps/core.xml")
    found = verify(earlier(certificate), {"release.xlsx": content.getvalue()})
    assert [one.sentence for one in found.findings if one.outcome == "fails"] == []
    assert "this certificate of an earlier version does not say it" in " ".join(one.sentence for one in found.findings)


@pytest.mark.slow
def test_a_large_release_verifies() -> None:
    rng = np.random.default_rng(3)
    rows = 70_000  # more than one batch of the Parquet reader
    frame = pd.DataFrame(
        {"number": rng.integers(0, 90, rows), "kind": rng.choice(list("abc"), rows), "extra": rng.random(rows)}
    )
    data = Microdata(frame, roles={"number": "quasi-identifier", "kind": "quasi-identifier", "extra": "insensitive"})
    release = build("mondrian", {}).anonymize(data)
    for format in FORMATS[:2]:
        assert failures(release, format) == []
