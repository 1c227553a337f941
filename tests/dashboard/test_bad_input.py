"""Every kind of bad input through the page: one clear sentence, and the page stays usable."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
import pytest

from anoncore import privacy
from anoncore.base.pandas_versions import TEXT
from dashboard.session import state
from tests.dashboard.conftest import Visitor

KNOWN, HIDDEN, NOTHING = "quasi-identifier", "sensitive", "insensitive"


def _csv(frame: pd.DataFrame) -> bytes:
    return frame.to_csv(index=False).encode()


def _people(n: int = 40, **columns: object) -> pd.DataFrame:
    rng = np.random.default_rng(1)
    table = {"age": rng.integers(20, 60, n), "illness": rng.choice(["flu", "cold", "ulcer"], n)}
    return pd.DataFrame({**table, **columns})


def _parquet(frame: pd.DataFrame) -> bytes:
    buffer = io.BytesIO()
    frame.to_parquet(buffer, index=False)
    return buffer.getvalue()


def _excel(frame: pd.DataFrame) -> bytes:
    buffer = io.BytesIO()
    frame.to_excel(buffer, index=False)
    return buffer.getvalue()


def _runs(visitor: Visitor, **roles: str) -> Visitor:
    """Go the whole way with the uploaded table: tag, run, look at the result."""
    visitor.open("table").tag(**roles)
    assert visitor.errors == []
    visitor.make()
    assert visitor.errors == []
    assert visitor.here.runs, visitor.texts()
    return visitor


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("empty.csv", b"", "empty"),
        ("header.csv", b"age,illness\n", "no rows"),
        ("blank.csv", b"\n\n\n", ""),
        ("cut.parquet", _parquet(_people())[:200], "cut.parquet"),
        ("cut.xlsx", _excel(_people())[:900], "cut.xlsx"),
        ("picture.csv", b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + bytes(range(256)), "picture.csv"),
        ("old.xls", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(512), "old Excel"),
    ],
)
def test_a_file_that_is_no_table_gives_one_sentence_and_keeps_the_table(
    visitor: Visitor, name: str, content: bytes, words: str
) -> None:
    visitor.upload(name, content)
    assert len(visitor.errors) == 1
    assert words in visitor.errors[0]
    assert "still the one from before" in visitor.errors[0]
    assert "\n" not in visitor.errors[0]
    assert "Census" in visitor.at.subheader[0].value
    visitor.upload("people.csv", _csv(_people()))
    assert visitor.errors == []
    assert visitor.at.subheader[0].value == "people\\.csv"


def test_a_file_above_the_limit_is_refused(visitor: Visitor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dashboard.serving.access.most_upload_bytes", lambda: 1_000)
    visitor.upload("big.csv", _csv(_people(500)))
    assert len(visitor.errors) == 1
    assert "larger than" in visitor.errors[0]


def test_column_names_that_occur_twice_are_named(visitor: Visitor) -> None:
    visitor.upload("twice.csv", b"age,age,illness\n20,30,flu\n21,31,cold\n")
    assert len(visitor.errors) == 1
    assert "more than one column named 'age'" in visitor.errors[0]


TABLES = {
    "mixed": _people(mixed=[1, "two", 3.5, ""] * 10),
    "all-missing": _people(nothing=[None] * 40),
    "odd-text": _people(town=['a, "b"', "line\nbreak", "Zürich 東京 🏔", "<b>$x$</b>"] * 10),
    "numbers-as-text": _people(zip=["01234", "00042", "1,234.50", "98765"] * 10),
    "dates": _people(born=pd.date_range("1980-01-01", periods=40, freq="73D")),
    "booleans": _people(member=[True, False] * 20),
    "formulas": _people(note=["=1+1", "+SUM(A1)", "@cmd", "-2+3"] * 10),
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "form"),
    [*((name, form) for name in TABLES for form in ("csv", "parquet")), ("mixed", "xlsx"), ("dates", "xlsx")],
)
def test_unusual_cells_go_the_whole_way(visitor: Visitor, name: str, form: str) -> None:
    table = TABLES[name]
    if form == "parquet" and name == "mixed":
        table = table.astype({"mixed": TEXT})
    content = {"csv": _csv, "parquet": _parquet, "xlsx": _excel}[form](table)
    visitor.upload(f"table.{form}", content)
    assert visitor.errors == []
    third = next(column for column in table.columns if column not in ("age", "illness"))
    _runs(visitor, age=KNOWN, illness=HIDDEN, **{third: KNOWN})


def test_a_wrong_encoding_is_read_or_told(visitor: Visitor) -> None:
    content = "name,age\n" + "\n".join(f"Jürgen {i},{20 + i % 5}" for i in range(30))
    visitor.upload("latin.csv", content.encode("latin-1"))
    assert visitor.errors == []
    assert "Windows-1252" in visitor.texts()
    _runs(visitor, age=KNOWN)


def test_infinities_are_read_as_missing_and_said_so(visitor: Visitor) -> None:
    visitor.upload("inf.parquet", _parquet(_people(debt=[np.inf, 1.0, 2.0, -np.inf] * 10)))
    assert visitor.errors == []
    assert "Infinite values were taken as missing in 'debt' (20 rows)" in visitor.texts()
    _runs(visitor, age=KNOWN, debt=KNOWN)


@pytest.mark.slow
def test_three_hundred_columns(visitor: Visitor) -> None:
    rng = np.random.default_rng(0)
    wide = pd.DataFrame(rng.integers(0, 9, (60, 300)), columns=[f"c{i}" for i in range(300)])
    visitor.upload("wide.csv", _csv(wide))
    assert visitor.errors == []
    _runs(visitor, c0=KNOWN, c1=KNOWN, c2=HIDDEN)


def test_one_row_cannot_hide(visitor: Visitor) -> None:
    visitor.upload("one.csv", _csv(_people(1)))
    assert visitor.errors == []
    visitor.open("table").tag(age=KNOWN, illness=HIDDEN)
    assert "k = 5 is not possible" in _refused(visitor.make())


def _refused(visitor: Visitor) -> str:
    """Why the column of the board has no release."""
    assert visitor.here.runs == ()
    (attempt,) = visitor.here.jobs["board"].attempts[-1:]
    assert attempt.problem.endswith(".")
    return attempt.problem


def test_k_above_the_rows_says_the_nearest_the_nearest_value(visitor: Visitor) -> None:
    visitor.upload("people.csv", _csv(_people()))
    visitor.open("table").tag(age=KNOWN)
    said = _refused(visitor.make(k=41))
    assert "k = 41 is not possible" in said
    assert "40" in said
    assert visitor.make(k=40).here.runs


def test_an_infeasible_l_says_the_nearest_value(visitor: Visitor) -> None:
    visitor.upload("people.csv", _csv(_people()))
    visitor.open("table").tag(age=KNOWN, illness=HIDDEN)
    said = _refused(visitor.make(l=12))
    assert "l = 12 is not possible" in said
    assert "choose l at most 2.857" in said


def test_the_strictest_t_leaves_one_group(visitor: Visitor) -> None:
    visitor.upload("people.csv", _csv(_people()))
    visitor.open("table").tag(age=KNOWN, illness=HIDDEN)
    visitor.make(t=0.0)
    (run,) = visitor.here.runs
    assert float(privacy.emd(run.release, "illness", "equal").max()) == 0.0


def test_no_quasi_identifier_says_what_to_do(visitor: Visitor) -> None:
    visitor.upload("people.csv", _csv(_people()))
    visitor.open("privacy")
    assert "No attribute is tagged as quasi-identifier" in visitor.errors[0]
    visitor.open("table")
    assert "Tag at least one attribute as known to others" in visitor.warnings[0]


def test_no_sensitive_attribute_says_what_to_do(visitor: Visitor) -> None:
    visitor.upload("people.csv", _csv(_people()))
    visitor.open("table").tag(age=KNOWN)
    assert "No attribute is tagged as sensitive" in _refused(visitor.make("anatomy", l=2))


def test_text_tagged_numeric_is_named(visitor: Visitor) -> None:
    visitor.upload("people.csv", _csv(_people()))
    visitor.open("table").tag(age=KNOWN)
    here = state._workspaces.get(visitor.workspace)
    here.set_tags(here.tags.changed("kinds", "illness", "numeric").changed("roles", "illness", "sensitive"))
    visitor.run()
    assert "'illness' is tagged numeric but holds" in visitor.errors[0]
    assert "Until then no method can run" in visitor.errors[0]
