"""What a release tells about one person, against the release's own tables and the attack."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from anoncore import Microdata, ParameterError, attacks
from anoncore.algorithms import Anatomy, Mondrian, VerticalFragmentation
from anoncore.attacks.person import original_values, person_view
from anoncore.requirements import KAnonymity


def _data(n: int = 60) -> Microdata:
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 80, n),
            "town": rng.choice(list("ABC"), n),
            "illness": rng.choice(["flu", "cold", "ulcer", "gout"], n),
        }
    )
    return Microdata(frame, {"age": "quasi-identifier", "town": "quasi-identifier", "illness": "sensitive"})


@pytest.mark.parametrize("row", [0, 17, 59])
def test_the_published_cells_stand_in_the_published_table(row: int) -> None:
    data = _data()
    release = Mondrian(requirements=[KAnonymity(k=5)]).anonymize(data)
    view = person_view(release, row, "illness")
    table = release.tables()["release"].astype(str)
    alike = (table["age"] == view.published["age"]) & (table["town"] == view.published["town"])
    assert alike.sum() >= view.group_size >= 5
    assert view.belief == pytest.approx(attacks.sensitive_posterior(release, "illness")[row])
    assert view.true_code == data.codes["illness"][row]
    assert original_values(data, row) == {"age": str(data.frame["age"][row]), "town": data.frame["town"][row]}


def test_bucketization_keeps_the_cells_and_blurs_the_belief() -> None:
    data = _data()
    view = person_view(Anatomy(l=2, seed=0).anonymize(data), 3, "illness")
    assert view.published == original_values(data, 3)
    assert view.belief is not None
    assert view.belief.max() <= 0.5 + 1e-9


def test_fragments_count_the_smallest_group() -> None:
    data = _data()
    release = VerticalFragmentation(k=3, attribute_fragments=(("age",), ("town",)), seed=0).anonymize(data)
    view = person_view(release, 8, "illness")
    sizes = [part.partition.sizes[part.partition.group[8]] for part in release.fragments]
    assert view.group_size == min(sizes)


@pytest.mark.parametrize("row", [-1, 60])
def test_a_row_that_does_not_exist_is_refused(row: int) -> None:
    with pytest.raises(ParameterError, match=f"no row {row}"):
        person_view(Mondrian(requirements=[KAnonymity(k=5)]).anonymize(_data()), row)
