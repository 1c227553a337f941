"""Columns that hold the same values in every group of joined tables, and so say inside groups which rows are one's."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from anoncore import Microdata
from anoncore.algorithms import Anatomy
from anoncore.base.errors import DataError
from anoncore.publishing import Certificate
from tests.publishing.certification.forging import Forgery, restated

PEOPLE = pd.DataFrame(
    {
        "age": np.repeat([30, 40, 50, 60], 10),
        "zip": np.random.default_rng(0).permutation(np.arange(10_000, 10_040)),
        "disease": np.tile(["flu", "hiv", "cancer", "cold"], 10),
    }
)
ROLES = {"age": "quasi-identifier", "zip": "quasi-identifier", "disease": "sensitive"}


def forged(folder: Path, seats: pd.Series, places: pd.Series, name: str = "place") -> Forgery:
    """Anatomy with a number in either table, called a secret: rows come in the order of their groups."""
    forgery = Forgery(Anatomy(l=4).anonymize(Microdata(PEOPLE, ROLES)), folder)
    release = Anatomy(l=4).anonymize(Microdata(PEOPLE, ROLES)).tables()
    known, secret = (one.sort_values("group", ignore_index=True) for one in release.values())
    tables = {
        "quasi-identifiers": known.assign(seat=seats).sort_values(["group", "age", "zip", "seat"]),
        "sensitive": secret.assign(**{name: places}).sort_values(["group", "disease", name]),
    }
    for new in dict.fromkeys(("seat", name)):
        entry = {"name": new, "role": "sensitive", "kind": "numeric", "type": "number", "form": "exact"}
        forgery.claims["attributes"].append({**forgery.claims["attributes"][-1], **entry, "values": None})
    forgery.rewritten(tables)
    forgery.hashed()
    restated(forgery.claims, tables, "group")
    return forgery


SEATS = pd.Series(np.arange(40) % 4)


@pytest.mark.parametrize("name", ["place", "seat"])
def test_a_number_that_is_the_same_in_both_tables(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    code, said = forged(tmp_path, SEATS, SEATS, name).judged(capsys)
    assert code == 3, said
    assert f"by 'seat' of 'quasi-identifiers' and '{name}' of 'sensitive', which hold the same values there" in said
    assert "joined by them, frequency l-diversity (l = 4.0) on 'disease' fails in 40 of 40 groups" in said


def test_a_few_groups_with_other_numbers_hide_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    places = SEATS.where(SEATS.index >= 8, SEATS + 7)
    assert forged(tmp_path, SEATS, places).judged(capsys)[0] == 3


def test_numbers_that_have_nothing_to_do_with_each_other(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, said = forged(tmp_path, SEATS, SEATS + 10).judged(capsys)
    assert code == 0, said
    rng = np.random.default_rng(1)
    bits, others = (pd.Series(rng.integers(0, 2, 40)) for _ in range(2))
    code, said = forged(tmp_path / "bits", bits, others).judged(capsys)
    assert code == 0, said


def test_one_number_for_everybody_links_nobody(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, said = forged(tmp_path, SEATS * 0, SEATS * 0).judged(capsys)
    assert code == 0, said


def test_two_tables_of_one_name_are_refused(tmp_path: Path) -> None:
    forgery = forged(tmp_path, SEATS, SEATS)
    Certificate.loads(json.dumps(forgery.claims))
    forgery.claims["tables"][1]["name"] = forgery.claims["tables"][0]["name"]
    with pytest.raises(DataError, match="two tables have one name"):
        Certificate.loads(json.dumps(forgery.claims))
