"""Verification of releases in parts: what was changed, is missing or was added is refused and named."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from anoncore import CancelledError
from anoncore.algorithms import RothkoTree
from anoncore.engines.input_digest import table_digest
from anoncore.publishing import verify
from anoncore.publishing.certification.certificate import CERTIFICATE_FILE, Certificate
from anoncore.requirements import DistinctDiversity, KAnonymity, TCloseness
from anoncore.sources.large_table import LargeTable
from anoncore.sources.parquet import coded_table, coded_writer, write_rows
from tests.engines.large_tables import people
from tests.publishing.parts.folders import KEY, certified_run, failures, verified

PART = "part-00003.parquet"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    people().to_parquet(folder / "people.parquet")
    requirements = (KAnonymity(k=5), DistinctDiversity(l=2), TCloseness(t=0.6))
    certified_run(folder / "people.parquet", RothkoTree(requirements, memory_rows=50), folder / "out")
    return folder / "out"


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    """A copy of the release in another place."""
    return Path(shutil.copytree(made, tmp_path / "copy"))


def rewritten(path: Path, change: Callable[[pa.Table], pa.Table]) -> None:
    table = change(pq.read_table(path))
    write_rows(path, table.schema, [table])


def with_cell(name: str, value: object) -> Callable[[pa.Table], pa.Table]:
    def change(table: pa.Table) -> pa.Table:
        column = table.column(name)
        cells = column.to_pylist()
        cells[1] = value
        place = table.schema.get_field_index(name)
        return table.set_column(place, name, pa.array(cells, column.type))

    return change


@pytest.mark.slow
def test_a_copy_elsewhere_holds_and_parts_have_no_other_names(folder):
    assert failures(verified(folder)) == []
    (folder / CERTIFICATE_FILE).rename(folder.parent / "certificate.json")
    certificate = Certificate.load(folder.parent / "certificate.json")
    assert failures(verified(folder, certificate)) == []
    (folder / PART).rename(folder / "Ann-is-ill.parquet")
    added, missing = failures(verified(folder, certificate))
    assert added == f"'Ann-is-ill.parquet' is no file that was certified: it is '{PART}' once more."
    assert missing.startswith(f"'{PART}', a part with ")


@pytest.mark.parametrize(
    ("name", "value"),
    [("age", "1-99"), ("town", "Ulm"), ("debt", "-5"), ("ill", "plague"), ("ill", None), ("note", "y"), ("note", "")],
)
def test_one_changed_cell_is_refused_and_its_part_and_column_are_named(folder, name, value):
    before = pq.read_table(folder / PART).column(name)[1].as_py()
    if before == value:
        value = "x"
    rewritten(folder / PART, with_cell(name, value))
    found = failures(verified(folder))
    assert found[0] == f"'{PART}' is not as certified: values or the order of '{name}' were changed."


def test_a_missing_part_is_refused_and_named(folder):
    rows = pq.read_metadata(folder / PART).num_rows
    (folder / PART).unlink()
    assert failures(verified(folder)) == [f"'{PART}', a part with {rows:,} rows, is missing."]


def test_an_added_part_is_refused_and_named_also_where_it_is_one_of_them_twice(folder):
    shutil.copy(folder / PART, folder / "part-99999.parquet")
    (sentence,) = failures(verified(folder))
    assert sentence == f"'part-99999.parquet' is no file that was certified: it is '{PART}' once more."
    rewritten(folder / "part-99999.parquet", with_cell("note", "z"))
    assert failures(verified(folder)) == ["'part-99999.parquet' is no file that was certified."]


def test_a_file_beside_the_parts_and_a_changed_summary_are_refused(folder):
    (folder / "readme.txt").write_text("hello")
    assert failures(verified(folder)) == ["'readme.txt' is no file that was certified."]
    (folder / "readme.txt").unlink()
    summary = folder / "_release.json"
    summary.write_text(summary.read_text().replace("400", "401"))
    assert failures(verified(folder)) == [
        "'_release.json' says something else than the certificate, or more.",
        "'_release.json' is not the file that was written: it has other bytes.",
    ]


def test_rows_in_another_order_or_fewer_of_them_are_refused(folder):
    rewritten(folder / PART, lambda table: table.slice(1))
    rows = pq.read_metadata(folder / PART).num_rows
    assert failures(verified(folder))[0] == f"'{PART}' has {rows} rows, but {rows + 1} were certified."


def test_rows_that_changed_places_are_refused(folder):
    order = list(range(pq.read_metadata(folder / PART).num_rows))
    order[0], order[-1] = order[-1], order[0]
    rewritten(folder / PART, lambda table: table.take(pa.array(order)))
    assert "values or the order of" in failures(verified(folder))[0]


def test_the_same_rows_in_another_file_are_refused_for_what_else_it_may_hold(folder):
    table = pq.read_table(folder / PART)
    with coded_writer(folder / PART, table.schema) as writer:
        writer.write_table(coded_table(table, table.schema))
        writer.add_key_value_metadata({"secret": "row 7 is Ann"})
    strict, other = failures(verified(folder))
    assert strict == f"'{PART}' holds metadata 'secret': 'row 7 is Ann'."
    assert other.startswith(f"'{PART}' has the certified rows, but is not the file that was written, byte by byte")
    assert failures(verified(folder, hashes=False)) == [strict]


def test_a_column_more_is_refused_and_a_broken_file_is_named(folder):
    rewritten(folder / PART, lambda table: table.append_column("more", pa.array([1] * table.num_rows)))
    assert failures(verified(folder))[0].startswith(
        f"'{PART}' has the columns 'age', 'weight', 'town', 'since', 'debt'"
    )
    (folder / PART).write_bytes((folder / PART).read_bytes()[:-9])
    with pytest.raises(Exception, match=f"'{PART}' is damaged or is no part of a release"):
        verified(folder)


def test_what_no_longer_holds_in_the_groups_is_said_without_hashes(folder):
    # One row alone in its group.
    rewritten(folder / PART, with_cell("age", "77"))
    found = failures(verified(folder, hashes=False))
    assert found[0].startswith("k-anonymity (k = 5) fails in ")
    assert "the worst published group has size 1" in found[0]


def test_a_certificate_that_promises_more_than_holds_is_refused(folder):
    content = json.loads((folder / CERTIFICATE_FILE).read_text())
    content["requirements"][0]["reached"] = 7.0
    assert any(
        "The certificate says 7." in one for one in failures(verified(folder, Certificate.loads(json.dumps(content))))
    )
    content["tables"][0]["group_sizes"] = {"400": 1}
    found = failures(verified(folder, Certificate.loads(json.dumps(content))))
    assert any("their sizes are not those" in one for one in found)
    content["parts"][0]["sha256"] = "0" * 64
    found = failures(verified(folder, Certificate.loads(json.dumps(content))))
    assert any("hash of the table is not that of its parts" in one for one in found)


@pytest.mark.slow
def test_the_original_table_is_known_by_its_key_in_any_order(folder, tmp_path):
    def digest_of(frame, key=KEY):
        frame.to_parquet(tmp_path / "in.parquet")
        table = LargeTable(tmp_path / "in.parquet", tmp_path)
        try:
            return verified(folder, input_digest=lambda names: table_digest(table, key, names)).findings[-1].outcome
        finally:
            table.close()

    frame = people()
    assert digest_of(frame) == "holds"
    assert digest_of(frame.sample(frac=1, random_state=4)) == "holds"
    assert digest_of(frame.assign(who="nobody")) == "holds"  # identifiers are not part of it
    assert digest_of(frame, "q" * 64) == "fails"
    assert digest_of(frame.iloc[1:]) == "fails"
    changed = frame.copy()
    changed.loc[7, "weight"] = 71.25
    assert digest_of(changed) == "fails"


def test_files_of_other_releases_are_told_apart(made, folder):
    with pytest.raises(Exception, match="a release in parts: check it with verify_folder"):
        verify(Certificate.load(made / CERTIFICATE_FILE), {})


def test_a_verification_can_be_stopped_and_counts_rows(folder):
    reports: list[tuple[float, str]] = []
    verified(folder, progress=lambda share, text: reports.append((share, text)))
    assert [share for share, _ in reports] == sorted(share for share, _ in reports)
    assert any("400 of 400 rows checked" in text for _, text in reports)

    def stop(share: float, text: str) -> None:
        if "rows checked" in text:
            raise CancelledError("stopped")

    with pytest.raises(CancelledError):
        verified(folder, progress=stop)
