"""Forgeries by how values are written, and by what is asked about which attribute."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from anoncore import Microdata
from anoncore.algorithms import Mondrian
from anoncore.base.errors import DataError
from anoncore.cli.log import Log
from anoncore.publishing.certification.claims import as_read
from anoncore.publishing.certification.strict_reading import parquet_fault, read_strictly
from anoncore.release.reading.published_table import cell_text
from anoncore.requirements import DistinctDiversity, KAnonymity
from tests.publishing.certification.forging import Forgery, restated
from tests.security import bombs

PEOPLE = pd.DataFrame({"age": [30] * 5 + [40] * 5, "disease": ["flu", "cold", "gout", "HIV", "mumps"] * 2})
ROLES = {"age": "quasi-identifier", "disease": "sensitive"}


@pytest.fixture
def forgery(tmp_path: Path) -> Forgery:
    """An honest release with k = 5 and l = 5."""
    release = Mondrian(requirements=[KAnonymity(k=5), DistinctDiversity(l=5)]).anonymize(Microdata(PEOPLE, ROLES))
    return Forgery(release, tmp_path)


def replaced(forgery: Forgery, ages: list[Any], diseases: list[str] | None = None) -> None:
    """Publish other cells, described to the last hash."""
    table = pd.DataFrame({"age": pd.Series(ages, dtype=object), "disease": diseases or [*PEOPLE["disease"]]})
    forgery.rewritten({"release": table})
    forgery.hashed()
    restated(forgery.claims, {"release": table})


@pytest.mark.parametrize(
    "ages",
    [
        ["30", "30.0", "30.00", "3e1", "3.0E1"],
        [f"30.{'0' * 16}{digits}" for digits in range(10, 15)],
        ["2020-01-01", "2020-01-01 00:00", "2020-01-01T00:00:00", "2020-01-01 00:00:00.0", "2020-01-01 00:00:00.00"],
        ["-x", "'-x", "''-x", "'''-x", "''''-x"],
    ],
)
def test_one_value_in_several_spellings_tells_rows_apart(
    ages: list[str], forgery: Forgery, capsys: pytest.CaptureFixture[str]
) -> None:
    replaced(forgery, ages * 2)
    code, said = forgery.judged(capsys)
    assert code == 1
    assert "'age' writes one value in two ways" in said


def test_a_formula_without_its_guard_fails_whatever_the_hashes_say(
    forgery: Forgery, capsys: pytest.CaptureFixture[str]
) -> None:
    replaced(forgery, [30] * 10, ["=1+1", "cold", "gout", "HIV", "mumps"] * 2)
    forgery.file.write_bytes(forgery.file.read_bytes().replace(b"'=1+1", b"=1+1"))
    forgery.hashed()
    code, said = forgery.judged(capsys)
    assert code == 1
    assert "has no apostrophe, so a spreadsheet would run it" in said


def test_a_number_that_is_none_fails() -> None:
    content = pa.BufferOutputStream()
    pq.write_table(pa.table({"age": pa.array([1.5, float("nan")])}), content)
    assert "NaN" in parquet_fault(content.getvalue().to_pybytes())


def test_a_requirement_on_another_attribute_than_it_says_fails(
    forgery: Forgery, capsys: pytest.CaptureFixture[str]
) -> None:
    diversity = next(one for one in forgery.claims["requirements"] if one["attribute"] == "disease")
    diversity["requirement"]["attribute"] = "disease"
    diversity["label"] = "distinct l-diversity (l = 5) on 'disease'"
    diversity["attribute"] = "age"
    code, said = forgery.judged(capsys)
    assert code == 1
    assert "is about 'age', but describes 'disease'" in said


def test_values_that_read_alike_are_not_taken_for_several(forgery: Forgery, capsys: pytest.CaptureFixture[str]) -> None:
    replaced(forgery, [30] * 10, ["HIV", "hiv", "HIV ", "H\u200bIV", "\u0397IV"] * 2)
    code, said = forgery.judged(capsys)
    assert code in (1, 3)
    assert "read alike" in said


@pytest.mark.parametrize(
    ("one", "other", "is_alike"),
    [
        ("HIV", "hiv", True),
        ("HIV", "\u0397IV", True),
        ("HIV", "H\u0406V", True),
        ("Grippe A", "Grippe  a ", True),
        ("Grippe A", "Grippe B", False),
        ("é", "e", False),
    ],
)
def test_what_reads_alike(one: str, other: str, is_alike: bool) -> None:
    assert (as_read(one) == as_read(other)) == is_alike


@pytest.mark.parametrize(
    "requirement",
    [
        {"name": "t-closeness", "t": 0.99, "ground": "equal"},
        {"name": "recursive-diversity", "c": 1e9, "l": 1},
        {"name": "frequency-diversity", "l": 1.0000000000001},
    ],
)
def test_what_everybody_alone_would_have_is_nothing(
    requirement: dict[str, Any], forgery: Forgery, capsys: pytest.CaptureFixture[str]
) -> None:
    from anoncore.requirements import REQUIREMENTS

    built = REQUIREMENTS.build(requirement)
    asked = next(one for one in forgery.claims["requirements"] if one["attribute"] == "disease")
    asked |= {"requirement": requirement, "label": built.label(), "asked": built.threshold, "reached": None}
    asked["source"] = built.source
    forgery.claims["requirements"] = [asked]
    # Twenty diseases, so that everybody alone is nearly as far from the table as can be, and no farther than asked.
    diseases = [f"disease {row}" for row in range(20)]
    replaced(forgery, [*range(20)], diseases)
    next(one for one in forgery.claims["attributes"] if one["name"] == "disease")["values"] = diseases
    code, said = forgery.judged(capsys)
    assert code in (1, 3)
    assert "asks for nothing" in said


def test_an_order_that_the_certificate_chose_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from anoncore.requirements import TCloseness

    wanted = [KAnonymity(k=5), TCloseness(t=0.9, ground="ordered")]
    forgery = Forgery(Mondrian(requirements=wanted).anonymize(Microdata(PEOPLE, ROLES)), tmp_path)
    code, said = forgery.judged(capsys)
    assert code == 0
    assert "by the certificate's order: " in said


def test_the_version_of_a_program_is_no_place_for_people(forgery: Forgery, capsys: pytest.CaptureFixture[str]) -> None:
    forgery.claims["software"]["Anna Berg, 34"] = "HIV"
    code, said = forgery.judged(capsys)
    assert code == 2
    assert "no certificate of a release" in said


def test_words_of_the_certificate_are_never_part_of_the_verdict(
    forgery: Forgery, capsys: pytest.CaptureFixture[str]
) -> None:
    forgery.claims["breaking"] = "harmless. The certificate holds"
    code, said = forgery.judged(capsys)
    assert code == 3
    assert said.splitlines()[-1].startswith("What was counted holds, but 1 statement")
    assert "harmless" not in said.splitlines()[-1]


def test_progress_commands_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    log = Log("plain", "verify")
    log.tell_progress(0.5, "Reading 'x\x1b[2J'", 1.0)
    log.warn("a\x1b]0;title\x07b")
    assert "\x1b" not in capsys.readouterr().err


@pytest.mark.parametrize("number", [29.999999999999996, 3.0000000000000004, 0.1 + 0.2, 1e22, -0.0, 2.5, 1e-300])
def test_the_text_of_a_number_is_the_text_of_its_text(number: float) -> None:
    assert cell_text(cell_text(number)) == cell_text(number)


def test_a_workbook_with_a_number_of_seventeen_digits_verifies(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    people = pd.DataFrame({"age": [30] * 3, "pay": [29.999999999999996, 31.0, 35.5]})
    roles = {"age": "quasi-identifier", "pay": "sensitive"}
    release = Mondrian(requirements=[KAnonymity(k=3)]).anonymize(Microdata(people, roles))
    code, said = Forgery(release, tmp_path, "excel").judged(capsys)
    assert code == 0, said


def test_more_columns_or_sheets_than_any_release_has_are_refused() -> None:
    with pytest.raises(DataError, match="has 10,001 columns, and tables of at most 10,000 are read"):
        read_strictly("wide.csv", bombs.wide(10_001))
    sheets = "".join(f'<sheet name="s{number}" sheetId="{number}"/>' for number in range(1, 1_002))
    book = bombs.workbook(xl__workbook=f"<workbook {bombs.SPACE}><sheets>{sheets}</sheets></workbook>")
    assert "has 1,001 sheets" in read_strictly("book.xlsx", book)[1][-1]


def test_apostrophes_take_time_as_they_are_many() -> None:
    assert cell_text("'" * 200_000 + "=x") == "=x"
    assert cell_text("'" * 200_000 + "x") == "'" * 200_000 + "x"
