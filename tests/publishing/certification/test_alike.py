"""Values that files write alike are not certified as different ones."""

from __future__ import annotations

import io
from typing import Any

import pandas as pd
import pytest

from anoncore import DataError, Microdata, ReleaseError
from anoncore.algorithms import Anatomy, Mondrian
from anoncore.publishing import certify, new_key, write_tables
from anoncore.requirements import DistinctDiversity, KAnonymity

KEY = new_key()


def _certified(first: Any, second: Any, algorithm: Any) -> None:
    frame = pd.DataFrame({"age": range(8), "secret": pd.Series([first, second] * 4, dtype=object)})
    release = algorithm.anonymize(Microdata(frame, {"age": "quasi-identifier", "secret": "sensitive"}))
    file = io.BytesIO()
    write_tables(release.tables(), file, "csv")
    certify(release, KEY, {"people.csv": file.getvalue()})


@pytest.mark.parametrize(
    "algorithm", [Mondrian(requirements=[DistinctDiversity(l=2)]), Anatomy(l=2)], ids=lambda a: a.name
)
@pytest.mark.parametrize(("first", "second"), [(1, "1"), (True, "True"), (2.5, "2.5"), (None, "")])
def test_values_that_readers_cannot_tell_apart(first: Any, second: Any, algorithm: Any) -> None:
    with pytest.raises(DataError, match=r"no certificate for 'secret'.*write its values .* and .* alike"):
        _certified(first, second, algorithm)


def test_numbers_that_a_workbook_writes_alike_are_not_counted_as_two() -> None:
    with pytest.raises(ReleaseError, match="what its readers count otherwise: distinct l-diversity"):
        _certified(0.3, 0.1 + 0.2, Mondrian(requirements=[DistinctDiversity(l=2)]))


@pytest.mark.parametrize(("first", "second"), [(1, "one"), ("=A", "A"), ("(missing)", None)])
def test_values_that_readers_can_tell_apart(first: Any, second: Any) -> None:
    _certified(first, second, Mondrian(requirements=[DistinctDiversity(l=2)]))


@pytest.mark.parametrize(
    ("first", "second", "said"),
    [
        ("", None, r"a missing cell and '' are counted as one value in files, but in the format 'parquet' they tell"),
        ("=A", "'=A", r"\"''=A\" and \"'=A\" are counted as one value in files, but in the format 'csv' they tell"),
    ],
)
def test_known_values_that_one_format_tells_apart_have_no_certificate(first: Any, second: Any, said: str) -> None:
    frame = pd.DataFrame({"town": [first, second, "a", "b"], "illness": ["flu", "cold", "flu", "cold"]})
    data = Microdata(frame, {"town": "quasi-identifier", "illness": "sensitive"})
    with pytest.raises(DataError, match=f"no certificate for 'town': {said}"):
        certify(Anatomy(l=2).anonymize(data), KEY)
    together = Mondrian(requirements=(KAnonymity(k=4),)).anonymize(data)
    assert certify(together, KEY).tables[0].group_sizes == {"4": 1}
