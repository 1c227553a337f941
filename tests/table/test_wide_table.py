"""One row per person: by hand, against walking over rows, and anonymized as any table."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from anoncore import Microdata, privacy
from anoncore.algorithms import Mondrian
from anoncore.base.errors import DataError, ParameterError
from anoncore.requirements import KAnonymity
from anoncore.table.wide_table import one_row_per_person

PATIENTS = pd.DataFrame({"id": [3, 1, 2], "age": [30, 10, 20]})
VISITS = pd.DataFrame({"id": ["1", "3", "1", "1"], "year": [2022, 2020, 2020, 2021], "ward": ["B", "A", "C", "A"]})


def test_rows_of_a_person_stand_side_by_side_in_the_order_of_their_content() -> None:
    wide = one_row_per_person({"patients": PATIENTS, "visits": VISITS}, by="id")
    first = wide.frame.set_index("id").loc["1"]
    assert first["patients age"] == 10
    assert [first[f"visits {number} ward"] for number in (1, 2, 3)] == ["C", "A", "B"]
    assert wide.frame["visits 1 year"].isna().tolist() == [False, True, False]
    assert (wide.n_left_out, wide.columns["visits ward"]) == (0, tuple(f"visits {number} ward" for number in (1, 2, 3)))


def test_whoever_has_too_many_rows_is_left_out_and_counted() -> None:
    wide = one_row_per_person({"patients": PATIENTS, "visits": VISITS}, by="id", most_rows=2)
    assert wide.frame["id"].tolist() == ["2", "3"]
    assert wide.n_left_out == 1
    assert "visits year" in wide.frame.columns


@pytest.mark.parametrize("seed", range(20))
def test_against_walking_over_rows(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 20))
    patients = pd.DataFrame({"id": rng.permutation(n), "age": rng.integers(20, 90, n)})
    owners = rng.integers(0, n, int(rng.integers(1, 3 * n)))
    visits = pd.DataFrame({"id": owners, "year": rng.integers(2000, 2005, len(owners))})
    wide = one_row_per_person({"patients": patients, "visits": visits}, by="id", most_rows=3)
    few = [person for person in range(n) if (owners == person).sum() <= 3]
    assert wide.n_left_out == n - len(few)
    for row in wide.frame.to_dict("records"):
        own = sorted(visits["year"][visits["id"] == int(row["id"])])
        assert [row[name] for name in wide.columns["visits year"] if not pd.isna(row[name])] == own


def test_values_without_an_order_are_sorted_by_their_texts() -> None:
    visits = pd.DataFrame({"id": [1, 1], "note": ["b", 3]})
    wide = one_row_per_person({"patients": PATIENTS, "visits": visits}, by="id")
    assert wide.frame[list(wide.columns["visits note"])].iloc[0].tolist() == [3, "b"]


def test_any_method_keeps_its_promise_of_what_a_reader_would_join() -> None:
    rng = np.random.default_rng(1)
    n = 120
    patients = pd.DataFrame({"id": range(n), "age": rng.integers(20, 80, n)})
    owners = np.repeat(np.arange(n), rng.integers(0, 3, n))
    visits = pd.DataFrame({"id": owners, "year": rng.integers(2015, 2025, len(owners))})
    wide = one_row_per_person({"patients": patients, "visits": visits}, by="id")
    roles = wide.by_column({"patients age": "quasi-identifier", "visits year": "quasi-identifier"})
    release = Mondrian(requirements=[KAnonymity(k=5)]).anonymize(Microdata(wide.frame, roles, unit="id"))
    assert privacy.profile(release).k >= 5


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ParameterError, match="most_rows is 0"):
        one_row_per_person({"patients": PATIENTS, "visits": VISITS}, by="id", most_rows=0)
    with pytest.raises(DataError, match="'visits' needs the column 'age' and another one; it has 'id', 'year', 'ward'"):
        one_row_per_person({"patients": PATIENTS, "visits": VISITS}, by="age")
    with pytest.raises(DataError, match="Everybody has more than 1 rows"):
        one_row_per_person(
            {"one": VISITS[VISITS["id"] == "1"], "two": VISITS[VISITS["id"] == "1"]}, by="id", most_rows=1
        )
    wide = one_row_per_person({"patients": PATIENTS, "visits": VISITS}, by="id")
    with pytest.raises(ParameterError, match="No table has the column 'age'; there is 'patients age'"):
        wide.by_column({"age": "quasi-identifier"})
