"""Special uniques: against their definition, row by row, by hand, and on Adult."""

from __future__ import annotations

from itertools import combinations
from math import prod

import numpy as np
import pandas as pd
import pytest

from anoncore import DataError, Microdata, ParameterError, Release, attacks
from anoncore.algorithms import Mondrian, VerticalFragmentation
from anoncore.release.unchanged import unchanged
from anoncore.requirements import KAnonymity
from tests.attacks.test_foreground_control import adult_sample
from tests.many_tables import few_and_many
from tests.shared_data import require

KNOWN = ["age", "job", "sex", "town"]
FEW_AND_MANY = few_and_many(20)


def random_table(seed: int, unit: bool) -> Microdata:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 30))
    frame = pd.DataFrame({name: rng.integers(0, rng.integers(2, 5), n).astype(str) for name in KNOWN})
    frame["who"] = rng.integers(0, n, n).astype(str)
    return Microdata(
        frame, dict.fromkeys(KNOWN, "quasi-identifier") | {"who": "identifier"}, unit="who" if unit else None
    )


def minimal_sets(release: Release, row: int, size: int) -> list[tuple[str, ...]]:
    """The minimal sets of one row by the texts that are published, set by set and row by row."""
    data = release.data
    texts = {name: release.recoding(name).texts() for name in KNOWN}
    owner = data.given.frame["who"].tolist() if data.unit else list(range(data.n_rows))

    def is_alone(names: tuple[str, ...]) -> bool:
        alike = [other for other in range(data.n_rows) if all(texts[name][other] == texts[name][row] for name in names)]
        return len({owner[other] for other in alike}) == 1

    found: list[tuple[str, ...]] = []
    for n in range(1, size + 1):
        for names in combinations(KNOWN, n):
            if is_alone(names) and not any({*part} < {*names} for part in found):
                found.append(names)
    return sorted(found, key=lambda names: (len(names), names))


@pytest.mark.parametrize("seed", FEW_AND_MANY)
def test_sets_and_scores_are_those_of_the_definition(seed: int) -> None:
    data = random_table(seed, unit=seed % 3 == 0)
    size = 1 + seed % 4
    release = unchanged(data) if seed % 2 else Mondrian(requirements=[KAnonymity(k=1 + seed % 3)]).anonymize(data)
    found = attacks.special_uniques(release, size=size)
    n_alone = 0
    for row in range(data.n_rows):
        sets = minimal_sets(release, row, size)
        assert found.of_row(row) == sets
        assert found.smallest[row] == (len(sets[0]) if sets else 0)
        factors = [[4 - i for i in range(len(names), min(size, 3) + 1)] for names in sets]
        assert found.score[row] == sum(prod(one) for one in factors)
        n_alone += bool(sets)
    assert float(found.share) == pytest.approx(n_alone / data.n_rows)
    original = sum(bool(minimal_sets(unchanged(data), row, size)) for row in range(data.n_rows))
    assert found.share.baseline == pytest.approx(original / data.n_rows)


def test_by_hand() -> None:
    """With four attributes and sets of at most three, sets of 1, 2 and 3 attributes count 3 * 2 * 1, 2 * 1 and 1."""
    rows = [
        ["town", "young", "clerk", "f"],
        ["town", "young", "clerk", "m"],
        ["town", "young", "judge", "m"],
        ["town", "old", "clerk", "m"],
        ["land", "old", "clerk", "f"],
        ["land", "old", "clerk", "m"],
        ["land", "old", "clerk", "m"],
    ]
    frame = pd.DataFrame(rows, columns=["town", "age", "job", "sex"])
    found = attacks.special_uniques(unchanged(Microdata(frame, dict.fromkeys(KNOWN, "quasi-identifier"))))
    # The first person is the only woman in town, and the only young one; no third attribute is needed for either.
    assert found.of_row(0) == [("age", "sex"), ("town", "sex")]
    assert found.of_row(2) == [("job",)]
    assert found.of_row(5) == []
    assert found.score[[0, 2, 5]].tolist() == [4.0, 6.0, 0.0]


def test_fragments_are_looked_at_one_by_one() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({name: rng.integers(0, 5, 60).astype(str) for name in [*KNOWN, "ill"]})
    data = Microdata(frame, dict.fromkeys(KNOWN, "quasi-identifier") | {"ill": "sensitive"})
    release = VerticalFragmentation(k=3).anonymize(data)
    found = attacks.special_uniques(release)
    together = [{*fragment.attributes} for fragment in release.fragments]
    assert all(any({*names} <= one for one in together) for names in found.sets)


def test_what_cannot_be_asked_is_refused_in_a_sentence() -> None:
    data = random_table(0, unit=False)
    with pytest.raises(ParameterError, match="at least 1, not 0"):
        attacks.special_uniques(unchanged(data), size=0)
    bare = Microdata(pd.DataFrame({"ill": ["flu", "cold"]}), {"ill": "sensitive"})
    with pytest.raises(DataError):
        attacks.special_uniques(Release.from_published(pd.DataFrame({"ill": ["flu", "cold"]}), original=bare))


@pytest.mark.slow
def test_classes_of_ten_leave_nobody_alone_on_adult() -> None:
    require("adult.csv")
    data = adult_sample(45_222)
    found = attacks.special_uniques(Mondrian(requirements=[KAnonymity(k=10)]).anonymize(data))
    assert float(found.share) < (found.share.baseline or 0)
    original = attacks.special_uniques(unchanged(data))
    assert float(original.share) == original.share.baseline
    assert found.smallest.max() <= 3
