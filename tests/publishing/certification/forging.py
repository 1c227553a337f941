"""What an editor of certificates does: releases in a folder, their certificate as JSON, the command's verdict."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from anoncore.cli import main
from anoncore.publishing import publish
from anoncore.publishing.certification.digests import column_hashes, joined_hash, ordered_hash
from anoncore.publishing.certification.written_cells import distinct_cells, written_as
from anoncore.publishing.export import FileFormat, archive_bytes, write_tables
from anoncore.release.reading.published_table import PublishedTable
from anoncore.release.release import Release
from tests.publishing.certification.tables import KEY

Json = dict[str, Any]


class Forgery:
    """A release that was published into a folder, whose certificate and files an editor changes."""

    def __init__(self, release: Release, folder: Path, format: FileFormat = "csv", **asked: Any) -> None:
        self.folder = folder
        self.certificate, self.file = publish(release, folder, "people", KEY, format, **asked)
        self.claims: Json = json.loads(self.certificate.read_text(encoding="utf-8"))

    def hashed(self) -> None:
        """Make the certificate name the bytes that the file has now."""
        content = self.file.read_bytes()
        self.claims["files"] = [
            {"name": self.file.name, "bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
        ]

    def rewritten(self, tables: Mapping[str, pd.DataFrame], format: FileFormat = "csv") -> None:
        """Put other tables into the file."""
        content = io.BytesIO()
        write_tables(tables, content, format)
        self.file.write_bytes(content.getvalue())

    def repacked(self, change: Callable[[dict[str, bytes]], None]) -> None:
        """Change the members of the file, a zip."""
        with zipfile.ZipFile(self.file) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
        change(members)
        self.file.write_bytes(archive_bytes(members.items()))

    def judged(self, capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
        """The exit code of the command and all that it says."""
        self.certificate.write_text(json.dumps(self.claims, ensure_ascii=False), encoding="utf-8")
        return judged(capsys, str(self.certificate), *words)


def judged(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    """The exit code of `anoncore verify` and all that it says."""
    capsys.readouterr()
    code = main(["verify", *words, "--quiet"])
    said = capsys.readouterr()
    return code, said.out + said.err


def restated(claims: Json, tables: Mapping[str, pd.DataFrame], group: str | None = None) -> None:
    """Make a certificate describe other tables: columns, rows, groups and every hash, as one who knows the code would.

    The forger chooses the column that joins the tables; groups are those of that column, else of known columns.
    """
    role = {one["name"]: one["role"] for one in claims["attributes"]}
    shown = [PublishedTable.of(name, frame) for name, frame in tables.items()]
    exact = written_as(tables, distinct_cells(tables))
    claims["linked_by"] = group
    claims["sha256"] = joined_hash(shown, group)
    claims["tables"] = []
    for place, table in enumerate(shown):
        apart = [group] if group else [name for name in table.columns if role.get(name) == "quasi-identifier"]
        sizes = pd.Series(table.keys(apart)).value_counts().value_counts()
        claims["tables"].append(
            {
                "name": table.name,
                "columns": list(table.columns),
                "rows": table.n_rows,
                "groups": int(sizes.sum()),
                "group_sizes": {str(size): int(n) for size, n in sorted(sizes.items())},
                "sha256": joined_hash([table], group),
                "column_sha256": column_hashes(table, group),
                "written": {
                    format: {
                        "sha256": ordered_hash([cells[place]], group),
                        "column_sha256": column_hashes(cells[place], group),
                    }
                    for format, cells in exact.items()
                },
            }
        )
    if group is not None:
        claims["written"] = {format: ordered_hash(cells, group) for format, cells in exact.items()}
