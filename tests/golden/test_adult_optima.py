"""The least loss of full-domain generalization on Adult, found once by trying every combination of levels."""

from __future__ import annotations

import pytest

from anoncore.algorithms import OptimalRecoding
from anoncore.requirements import KAnonymity
from tests.algorithms.test_incognito import arx_adult, needs_data


@needs_data
@pytest.mark.parametrize(
    ("share", "levels", "loss", "suppressed"),
    [
        (0.9999, (0, 3, 0, 0, 1, 1, 0, 0), 0.175842, 2848),
        (0.04, (0, 3, 0, 1, 1, 1, 1, 0), 0.217407, 1178),
        (0.0, (0, 4, 1, 2, 3, 2, 0, 0), 0.625, 0),
    ],
)
def test_the_optima_on_adult(share, levels, loss, suppressed):
    """The first 30,162 rows with ARX's hierarchies, 4,320 combinations, k = 5."""
    names = ["sex", "age", "race", "marital-status", "education", "native-country", "workclass", "salary-class"]
    found = OptimalRecoding(requirements=(KAnonymity(k=5),), max_suppression=share).search(arx_adult(names))
    chosen = dict(zip(found.attributes, found.levels, strict=True))
    assert tuple(chosen[name] for name in names) == levels
    assert (found.suppressed, found.n_nodes) == (suppressed, 4320)
    assert found.loss == pytest.approx(loss, abs=5e-7)
    assert found.optimal
    assert found.n_checked < 1000
