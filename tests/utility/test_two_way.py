"""The two-way error by hand, against its plain definition on releases of every method, and where it has none."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings

from anoncore import AnonymizationError, Microdata, Partition, Release, ReleaseError, utility
from anoncore.algorithms import Anatomy, Mask, Mondrian, Slicing
from anoncore.release.recoding import ColumnRegions, Exact, Generalized, GroupValues
from anoncore.requirements import KAnonymity
from tests.privacy.releases import fragment
from tests.properties.strategies import tagged_tables
from tests.properties.subjects import build, subjects

Cell = tuple[int, ...]
Joint = dict[tuple[int, int], float]


def cells(recoding: Any) -> list[Cell]:
    """The codes that each row's published cell allows."""
    if isinstance(recoding, ColumnRegions):
        return cells(recoding.classes)
    if isinstance(recoding, Generalized | GroupValues):
        return [tuple(recoding.values(group).tolist()) for group in recoding.partition.group]
    assert isinstance(recoding, Exact)
    return [(int(code),) for code in recoding.codes]


def spread(joint: Joint, one: Cell, other: Cell, weight: float) -> None:
    """All values of a region are equally likely."""
    for first in one:
        for second in other:
            joint[first, second] += weight / len(one) / len(other)


def reconstructed(release: Release, first: str, second: str) -> Joint:
    joint: Joint = defaultdict(float)
    together = next((one for one in release.fragments if {first, second} <= set(one.attributes)), None)
    if together is not None:
        for one, other in zip(cells(together.recodings[first]), cells(together.recodings[second]), strict=True):
            spread(joint, one, other, 1.0)
        return joint
    a, b = release.fragment_of(first), release.fragment_of(second)
    if release.is_shared:
        mine, theirs, group = cells(a.recodings[first]), cells(b.recodings[second]), release.partition.group
        for row in range(release.data.n_rows):
            fellows = np.flatnonzero(group == group[row])
            for fellow in fellows:
                spread(joint, mine[row], theirs[fellow], 1 / len(fellows))
        return joint
    shared = next((name for name in a.attributes if name in b.attributes), None)
    tables = [totals(a, first, shared), totals(b, second, shared)]
    own, foreign = (
        {link: sum(rows for (_, code), rows in table.items() if code == link) for _, link in table} for table in tables
    )
    paired = {link: min(own[link], foreign[link]) for link in own if link in foreign}
    left: list[dict[int, float]] = [defaultdict(float), defaultdict(float)]
    for side, table, total in ((0, tables[0], own), (1, tables[1], foreign)):
        for (code, link), rows in table.items():
            left[side][code] += rows * (1 - paired.get(link, 0.0) / total[link])
    for (code, link), rows in tables[0].items():
        for (other_code, other_link), others in tables[1].items():
            if link == other_link:
                joint[code, other_code] += paired[link] * rows / own[link] * others / foreign[link]
    n_left = sum(left[0].values())
    for code, rows in left[0].items():
        for other_code, others in left[1].items():
            joint[code, other_code] += rows * others / n_left if n_left > 1e-9 else 0.0
    return joint


def totals(part: Any, name: str, shared: str | None) -> Joint:
    """Expected rows with each code of the attribute and of the linking one; one link for all where there is none."""
    table: Joint = defaultdict(float)
    links = cells(part.recodings[shared]) if shared else [(0,)] * part.partition.n_rows
    for cell, link in zip(cells(part.recodings[name]), links, strict=True):
        spread(table, cell, link, 1.0)
    return table


def plain(release: Release) -> dict[tuple[str, str], float]:
    data = release.data
    names = [name for name in release.attributes if name in {*data.quasi_identifiers, *data.sensitive}]
    distances = {}
    for first, second in combinations(names, 2):
        rows = zip(data.codes[first].tolist(), data.codes[second].tolist(), strict=True)
        table, expected = Counter(rows), reconstructed(release, first, second)
        moved = sum(abs(table[pair] - expected.get(pair, 0.0)) for pair in {*table, *expected})
        distances[first, second] = moved / 2 / data.n_rows
    return distances


def agrees(release: Release) -> bool:
    expected = plain(release)
    found = utility.two_way_error(release)
    for first, second in combinations(found.pairs.index, 2):
        assert sum(reconstructed(release, first, second).values()) == pytest.approx(release.data.n_rows)
    for (first, second), distance in expected.items():
        assert found.pairs.loc[first, second] == pytest.approx(distance, abs=1e-9), (first, second)
        assert found.pairs.loc[second, first] == found.pairs.loc[first, second]
    assert float(found) == pytest.approx(sum(expected.values()) / len(expected), abs=1e-9)
    return True


def people(n: int = 60) -> Microdata:
    rng = np.random.default_rng(4)
    frame = pd.DataFrame(
        {
            "age": rng.integers(20, 60, n),
            "pay": rng.normal(size=n).round(2),
            "town": rng.choice(list("ABC"), n),
            "ill": np.resize(list("uvwxyz"), n)[rng.permutation(n)],
            "note": rng.choice(list("pq"), n),
        }
    )
    known = dict.fromkeys(("age", "pay", "town"), "quasi-identifier")
    return Microdata(frame, roles={**known, "ill": "sensitive"})


def test_by_hand():
    frame = pd.DataFrame({"age": [20, 20, 60, 60], "sex": list("ffmm"), "ill": ["flu", "cold", "cold", "gout"]})
    data = Microdata(frame, roles={"age": "quasi-identifier", "sex": "quasi-identifier", "ill": "sensitive"})
    partition = Partition(np.array([0, 0, 1, 1], dtype=np.int32))
    buckets = Release(
        data, (fragment(data, "known", partition, ["age", "sex"]), fragment(data, "ill", partition, ["ill"]))
    )
    # Inside a bucket all have one age and one sex, so no link is lost.
    assert float(utility.two_way_error(buckets)) == 0.0
    mixed = Partition(np.array([0, 1, 0, 1], dtype=np.int32))
    buckets = Release(data, (fragment(data, "known", mixed, ["age", "sex"]), fragment(data, "ill", mixed, ["ill"])))
    # Age and illness: one row each of (20, flu), (20, cold), (60, cold), (60, gout); expected are (20 and 60) x
    # (flu, cold) with 1/2 each from the first bucket and (20 and 60) x (cold, gout) from the second. (20, flu) and
    # (60, gout) keep 1/2, (20, cold) and (60, cold) all: 1 of 4 rows lies in the wrong place. The same for the sex.
    assert utility.two_way_error(buckets).pairs.loc["age", "ill"] == pytest.approx(0.25)
    assert float(utility.two_way_error(buckets)) == pytest.approx((0.25 + 0.25 + 0) / 3)


def test_each_form_of_release():
    data = people()
    assert agrees(Mondrian(requirements=[KAnonymity(k=6)]).anonymize(data))
    assert agrees(Anatomy(l=3, seed=1).anonymize(data))
    assert agrees(Mask(k=4, l=2, seed=1).anonymize(data))
    sliced = Slicing(l=1.2, columns=3, sensitive_column_size=1, column_requirements=[KAnonymity(k=3)])
    assert agrees(sliced.anonymize(data))


def test_insensitive_attributes_do_not_count():
    found = utility.two_way_error(Mondrian(requirements=[KAnonymity(k=6)]).anonymize(people()))
    assert list(found.pairs.index) == ["age", "pay", "town", "ill"]


def test_one_attribute_has_no_pair():
    data = Microdata(pd.DataFrame({"age": [1, 2], "note": [1, 2]}), roles={"age": "quasi-identifier"})
    with pytest.raises(ReleaseError, match="fewer than two"):
        utility.two_way_error(Mondrian(requirements=[KAnonymity(k=2)]).anonymize(data))


@pytest.mark.parametrize("most", [1, 7])
def test_the_size_of_the_parts_does_not_matter(most, monkeypatch):
    monkeypatch.setattr("anoncore.utility.reconstruction.MOST_CELLS", most)
    monkeypatch.setattr("anoncore.kernels.grouping.DENSE", 0)
    monkeypatch.setattr("anoncore.kernels.grouping.SMALL", most)
    data = people()
    sliced = Slicing(l=1.2, columns=3, sensitive_column_size=1, column_requirements=[KAnonymity(k=3)])
    assert agrees(sliced.anonymize(data))
    vertical = build("vertical-fragmentation", {"k": 3, "enforce": "naive"})
    assert agrees(vertical.anonymize(data))


@pytest.mark.slow
@pytest.mark.parametrize(("name", "parameters"), subjects(turn=1))
@given(table=tagged_tables(max_rows=25))
@settings(max_examples=12)
def test_releases_of_every_method(name, parameters, table):
    try:
        release = build(name, parameters).anonymize(table.microdata())
        utility.two_way_error(release)
    except AnonymizationError:
        return
    assert agrees(release)
