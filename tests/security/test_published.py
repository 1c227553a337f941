"""What is published of every form of release, in every format: no identifier, seed, row label or original order."""

from __future__ import annotations

import io
import random
import zipfile
from functools import cache

import numpy as np
import openpyxl
import pandas as pd
import pyarrow.parquet as pq
import pytest

from anoncore import AnonymizationError, Microdata, Release
from anoncore.publishing import certify, export
from anoncore.publishing.export import write_tables
from anoncore.publishing.report import Subject, report
from anoncore.release import release as release_module
from anoncore.release.mapping import value_mapping
from tests.properties.subjects import build, subjects

SEED = 918_273_645
MARKS = ("Ottilie", "rowlabel", str(SEED))
"""In every identifier, in every label of a row, and the seed; nothing else has any of them."""
N = 90
FORMATS = ("csv", "parquet", "excel")


@cache
def frame(order: int = 0) -> pd.DataFrame:
    """People under labels that tell, in one order or another; the index has a name and the frame attributes."""
    rng = np.random.default_rng(4)
    table = pd.DataFrame(
        {
            "name": [f"Ottilie {row}" for row in range(N)],
            "age": rng.integers(20, 60, N),
            "town": rng.choice(["Rome", "Bonn", "=Oslo", "Paris"], N),
            "illness": rng.permutation(np.tile(["flu", "cold", "gout", "angina", "none", "other"], N // 6)),
            "visits": rng.integers(0, 5, N),
        }
    )
    table.index = pd.Index([f"rowlabel {row}" for row in range(N)], name="Ottilie's index")
    table.attrs["owner"] = "Ottilie"
    rows = list(range(N))
    random.Random(order).shuffle(rows)
    return table if order == 0 else table.iloc[rows]


ROLES = {"name": "identifier", "age": "quasi-identifier", "town": "quasi-identifier", "illness": "sensitive"}


def made(name: str, parameters: dict[str, object], order: int = 0) -> Release:
    try:
        algorithm = build(name, parameters)
        if "seed" in type(algorithm).model_fields:
            algorithm = algorithm.replace(seed=SEED)
        return algorithm.anonymize(Microdata(frame(order), ROLES))
    except AnonymizationError as error:
        return pytest.skip(f"not possible on this table: {error}")


def written(tables: dict[str, pd.DataFrame], format: str) -> bytes:
    content = io.BytesIO()
    write_tables(tables, content, format)  # type: ignore[arg-type]
    return content.getvalue()


def everything(content: bytes) -> str:
    """All that a reader finds in a file: bytes, members of archives, cells and metadata of Parquet."""
    texts = [content.decode("latin-1")]
    if content.startswith(b"PK"):
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            texts += [everything(archive.read(member)) + member.filename for member in archive.infolist()]
            texts.append(str(archive.comment))
    if content.startswith(b"PAR1"):
        file = pq.ParquetFile(io.BytesIO(content))
        table = file.read()
        texts += [str(file.metadata.metadata), str(table.schema), str(table.schema.metadata), str(table.to_pydict())]
    return "\n".join(texts)


def leaks(content: bytes) -> list[str]:
    found = everything(content)
    return [mark for mark in MARKS if mark in found]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "parameters"), subjects(turn=0))
def test_nothing_of_a_person_a_row_or_the_seed_is_published(name, parameters):
    release = made(name, parameters)
    tables = release.tables()
    for format in FORMATS:
        assert leaks(written(tables, format)) == []
    files = {"r.csv": written(tables, "csv")}
    # The seed is one of the marks, so it was given, and the certificate has to be asked for by name.
    certificate = certify(release, "k" * 64, files, tables=tables, guessable_seed=True)
    assert leaks(certificate.dumps().encode()) == []
    assert leaks(report([Subject("run", release)]).encode()) == []
    assert leaks(written({"mapping": value_mapping(release).frame}, "csv")) == []


@pytest.mark.slow
@pytest.mark.parametrize(("name", "parameters"), subjects(turn=1))
def test_the_original_order_of_rows_does_not_show(name, parameters):
    """Files of the same rows in another order are the same, but for the numbers of groups, which are drawn anew."""
    files = []
    for order in (0, 1):
        release = made(name, parameters, order)
        tables = {
            table: cells.drop(columns=[column for column in cells.columns if column not in release.attributes])
            for table, cells in release.tables().items()
        }
        joined = any(cells.shape[1] > tables[table].shape[1] for table, cells in release.tables().items())
        files.append({table: sorted_rows(cells) if joined else rows(cells) for table, cells in tables.items()})
    assert files[0] == files[1]


def rows(table: pd.DataFrame) -> list[str]:
    return written({"t": table}, "csv").decode().splitlines()


def sorted_rows(table: pd.DataFrame) -> list[str]:
    return sorted(rows(table))


def test_rows_of_joined_tables_stand_by_the_drawn_numbers_of_their_groups():
    release = made("anatomy", {"l": 2})
    drawn = [release.tables() for _ in range(2)]
    for tables in drawn:
        for table in tables.values():
            assert table["group"].is_monotonic_increasing
    first, again = ([tuple(cells) for cells in one["sensitive"].itertuples(index=False)] for one in drawn)
    assert sorted(first) != sorted(again)


def test_files_say_nothing_of_the_machine_or_of_pandas():
    tables = made("mondrian", {}).tables()
    file = pq.ParquetFile(io.BytesIO(written(tables, "parquet")))
    assert file.read().schema.metadata is None
    assert set(file.metadata.metadata or {}) <= {b"ARROW:schema"}
    book = openpyxl.load_workbook(io.BytesIO(written(tables, "excel")))
    said = {name: value for name, value in vars(book.properties).items() if isinstance(value, str) and value}
    assert {name: value for name, value in said.items() if name != "version"} == {"creator": "anoncore"}
    zipped = zipfile.ZipFile(io.BytesIO(written({"a": frame()[["age"]], "b": frame()[["age"]]}, "csv")))
    assert {one.date_time for one in zipped.infolist()} == {export.ZIP_TIME}
    assert {one.extra + one.comment for one in zipped.infolist()} == {b""}


def test_labels_of_rows_are_left_out_of_every_format():
    """Also where the table that is written has them."""
    for format in FORMATS:
        assert leaks(written({"t": frame()[["age", "town"]]}, format)) == []


def test_each_of_these_would_be_seen(monkeypatch):
    table = frame()
    for column in ({"a": table["name"]}, {"a": table.index}, {"a": [SEED] * N}):
        for format in FORMATS:
            assert leaks(written({"t": pd.DataFrame(column).reset_index(drop=True)}, format)) != []
    kept = io.BytesIO()
    table[["age"]].to_parquet(kept)
    assert {"Ottilie", "rowlabel"} <= set(leaks(kept.getvalue()))
    monkeypatch.setattr(release_module, "content_order", lambda columns, _sizes: np.arange(len(columns[0])))
    unsorted = [rows(made("mondrian", {}, order).tables()["release"]) for order in (0, 1)]
    assert unsorted[0] != unsorted[1]
