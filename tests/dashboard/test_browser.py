"""The whole way in a real browser: from the built-in table to a downloaded release, then with a table of one's own."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tests.dashboard import browser
from tests.dashboard.browser import Visitor

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(bool(browser.missing()), reason=f"no browser test here: {browser.missing()}"),
]


def _people(n: int = 400) -> pd.DataFrame:
    rng = np.random.default_rng(3)
    return pd.DataFrame(
        {
            "patient id": [f"P-{number:05}" for number in range(n)],
            "age": rng.integers(18, 90, n),
            "sex": rng.choice(["female", "male"], n),
            "postcode": rng.choice(["10115", "20095", "50667", "80331"], n),
            "diagnosis": rng.choice(["flu", "asthma", "ulcer", "migraine", "gout"], n),
        }
    )


def _download(visitor: Visitor, key: str, folder: Path) -> Path:
    with visitor.page.expect_download() as event:
        visitor.page.locator(f".st-key-{key} button").first.click()
    target = folder / event.value.suggested_filename
    event.value.save_as(target)
    return target


def test_the_whole_way(browse: Any, tmp_path: Path) -> None:
    visitor = browse()
    visitor.open()
    visitor.see("Census-like table")

    visitor.go("Table")
    visitor.edit_cell("attribute-editor", column=1, row=10, left=180, option="Known to others", held="quasi-identifier")
    visitor.go("Learn")
    visitor.go("Table")
    visitor.wait_for_cell("attribute-editor", 1, 10, "quasi-identifier")

    visitor.go("Board")
    assert "8 known" in visitor.page.get_by_role("button", name="Census-like table").inner_text()
    visitor.ask(k=5, l=None, t=None)
    visitor.go("Groups")
    # Until the new release is there, the page shows that of the levels before, whose classes are others; when all are
    # there, it is drawn once more.
    visitor.show_release("Mondrian (k = 5)")
    visitor.rest()
    number = visitor.cell("class-list", 0, 3)
    visitor.choose_row("class-list", 3)
    visitor.see_heading(f"Group {number}")
    smallest = visitor.cell("class-list", 1, 0)
    assert smallest == "5"
    bar = visitor.page.locator("[class*='st-key-class-sizes'] .point path").nth(2)
    visitor.click_until_shown(bar, visitor.page.get_by_text("Show all sizes again"))
    # Cells of a grid with selectable rows come after that of the marker.
    visitor.wait_for_cell("class-list", 2, 0, str(int(smallest) + 2))

    visitor.go("Privacy")
    visitor.see("Everything that was asked holds.")
    visitor.go("Utility")
    visitor.see("Information loss")
    visitor.go("Publish")
    with zipfile.ZipFile(_download(visitor, "publish-csv", tmp_path)) as archive:
        proof, table = archive.namelist()
        release = pd.read_csv(archive.open(table))
    assert proof.endswith("-certificate.json")
    assert len(release) == 45_222
    assert "person-id" not in release
    assert "diagnosis" in release

    visitor.go("Table")
    visitor.upload("my patients.csv", _people().to_csv(index=False).encode())
    visitor.see_heading("my patients.csv")
    visitor.press("Use suggestions")
    visitor.wait_for_cell("attribute-editor", 1, 0, "identifier")
    visitor.go("Groups")
    visitor.show_release("Anatomy")
    visitor.see_heading("Group")
    visitor.see("As published: 2 tables that are not linked inside the group")
    visitor.go("Publish")
    visitor.see("Left out as identifiers: patient id.")
    assert _download(visitor, "publish-csv", tmp_path).suffix == ".zip"
    recipe = _download(visitor, "publish-recipe", tmp_path).read_text()
    assert 'path = "my patients.csv"' in recipe


def test_a_reload_keeps_everything_and_another_session_sees_nothing(browse: Any) -> None:
    visitor = browse()
    visitor.open()
    visitor.upload("mine.csv", _people(120).to_csv(index=False).encode())
    visitor.go("Table")
    visitor.press("Use suggestions")
    visitor.go("Groups")
    visitor.see("120 rows of mine.csv")
    visitor.reload()
    visitor.see_heading("Groups")
    visitor.see("120 rows of mine.csv")
    visitor.go("Table")
    visitor.wait_for_cell("attribute-editor", 1, 0, "identifier")

    other = browse(after=visitor)
    other.open("groups")
    other.see("rows of Census-like table")
    assert "mine.csv" not in other.text()
    other.go("Table")
    other.see("Census-like table")
    assert "mine.csv" not in other.text()


def _parquet(frame: pd.DataFrame) -> bytes:
    buffer = io.BytesIO()
    frame.to_parquet(buffer, index=False)
    return buffer.getvalue()


BAD_FILES = {
    "empty.csv": (b"", "empty"),
    "header.csv": (b"age,illness\n", "no rows"),
    "cut.parquet": (_parquet(_people())[:300], "cut.parquet"),
    "noise.xlsx": (b"PK\x03\x04 this is no workbook", "noise.xlsx"),
}


def test_bad_files_get_one_sentence_and_the_page_goes_on(browse: Any) -> None:
    visitor = browse()
    visitor.open()
    for name, (content, words) in BAD_FILES.items():
        visitor.upload(name, content)
        sentence = visitor.error()
        assert words in sentence
        assert "still the one from before" in sentence
        visitor.see("Census-like table")
    visitor.upload("good.csv", 'name,note,age\nAnn,"a, ""b""\nc",30\nBär,=1+1,31\n'.encode())
    visitor.see_heading("good.csv")
    assert visitor.page.get_by_test_id("stAlertContentError").count() == 0
