"""What became of every cell: by hand for each form of release, and by a plain reading of every method's releases."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings

from anoncore import AnonymizationError, Distorted, Exact, Fragment, Microdata, Partition, Release
from anoncore.release.cell_changes import CHANGES, cell_changes, main_fragment, publishing_fragment
from anoncore.release.recoding import ColumnRegions, Generalized, GroupValues
from tests.privacy.releases import fragment, generalized, sliced, value_sets
from tests.properties.strategies import tagged_tables
from tests.properties.subjects import build, subjects


def people(**columns: list[Any]) -> Microdata:
    roles = dict.fromkeys(columns, "quasi-identifier") | {"ill": "sensitive"}
    return Microdata(pd.DataFrame(columns), roles=roles)


def words(release: Release, attribute: str) -> list[str]:
    return [str(CHANGES[number]) for number in cell_changes(release, attribute)]


def test_generalized_cells_by_hand():
    data = people(age=[20, 22, 30, 40], ill=["flu", "flu", "cold", "cold"])
    release = generalized(data, [0, 0, 1, 1])
    assert words(release, "age") == ["generalized"] * 4
    assert words(release, "ill") == ["kept"] * 4
    assert words(generalized(data, [0, 0, 0, 0]), "age") == ["suppressed"] * 4
    assert words(generalized(data, [0, 1, 2, 3]), "age") == ["kept"] * 4


def test_changed_values_and_values_left_out_of_a_set_are_replaced():
    data = people(age=[20, 22, 30], ill=["flu", "flu", "cold"])
    partition, codes = Partition([0, 0, 1]), data.codes["ill"]
    wrong = np.array([codes[2], codes[1], codes[2]], dtype=np.int32)
    masked = Distorted(data.domain["ill"], partition, wrong, codes)
    release = Release(data, (Fragment("release", partition, {"ill": masked}),))
    assert words(release, "ill") == ["replaced", "kept", "kept"]
    only_cold = GroupValues(
        data.domain["ill"], Partition([0, 0, 0]), np.array([0, 1]), np.array([data.domain["ill"].code_of("cold")])
    )
    release = Release(data, (Fragment("release", only_cold.partition, {"ill": only_cold}),))
    assert words(release, "ill") == ["replaced", "replaced", "kept"]


def test_cells_of_another_table_are_unlinked_unless_the_whole_bucket_has_the_same():
    data = people(age=[20, 22, 30, 40], ill=["flu", "cold", "gout", "gout"])
    release = sliced(data, [0, 0, 1, 1], [["age"], ["ill"]])
    assert main_fragment(release).name == "age"
    assert publishing_fragment(release, "ill").name == "ill"
    assert words(release, "age") == ["kept"] * 4
    assert words(release, "ill") == ["unlinked", "unlinked", "kept", "kept"]


def test_fragments_with_groups_of_their_own_are_unlinked():
    data = people(age=[20, 22, 30, 40], town=["A", "A", "B", "B"], ill=["flu", "cold", "gout", "gout"])
    one, other = Partition([0, 0, 1, 1]), Partition([0, 1, 1, 0])
    first = fragment(data, "first", one, ["ill"], ["age"])
    second = Fragment(
        "second",
        other,
        {
            "town": Generalized.of_rows(data.domain["town"], other, data.codes["town"]),
            "ill": value_sets(data, "ill", other),
        },
    )
    release = Release(data, (first, second))
    assert words(release, "town") == ["unlinked"] * 4
    assert words(release, "ill") == ["kept"] * 4


def allowed(recoding: Any, row: int) -> set[int]:
    """The codes that a row's published cell allows."""
    if isinstance(recoding, ColumnRegions):
        return allowed(recoding.classes, row)
    if isinstance(recoding, Generalized | GroupValues):
        return set(recoding.values(int(recoding.partition.group[row])).tolist())
    assert isinstance(recoding, Exact)
    return {int(recoding.codes[row])}


def plain(release: Release, attribute: str, row: int) -> str:
    own = publishing_fragment(release, attribute)
    recoding, size = own.recodings[attribute], len(release.data.domain[attribute])
    if own is not main_fragment(release):
        fellows = np.flatnonzero(own.partition.group == own.partition.group[row])
        if not release.is_shared or any(allowed(recoding, one) != allowed(recoding, row) for one in fellows):
            return "unlinked"
    values = allowed(recoding, row)
    if int(release.data.codes[attribute][row]) not in values:
        return "replaced"
    if len(values) == 1:
        return "kept"
    return "suppressed" if len(values) == size else "generalized"


@pytest.mark.slow
@pytest.mark.parametrize(("name", "parameters"), subjects(turn=0))
@given(table=tagged_tables(max_rows=25))
@settings(max_examples=10)
def test_releases_of_every_method(name: str, parameters: dict[str, Any], table: Any) -> None:
    try:
        release = build(name, parameters).anonymize(table.microdata())
    except AnonymizationError:
        return
    for attribute in release.attributes:
        expected = [plain(release, attribute, row) for row in range(release.data.n_rows)]
        assert words(release, attribute) == expected, attribute
