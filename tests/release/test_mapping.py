"""What became what, counted by hand."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pandas as pd
import pytest

from anoncore import Microdata
from anoncore.algorithms import Anatomy, Mask, VerticalFragmentation
from anoncore.release.mapping import value_mapping
from tests.privacy.releases import generalized
from tests.properties.subjects import subjects
from tests.publishing.certification.tables import people, released


def test_a_generalized_attribute_is_mapped_value_by_value() -> None:
    frame = pd.DataFrame({"age": [20, 21, 20, 40, 40], "city": ["A", "B", "A", "B", "B"], "illness": list("xyzxy")})
    roles = {"age": "quasi-identifier", "city": "quasi-identifier", "illness": "sensitive"}
    found = value_mapping(generalized(Microdata(frame, roles=roles), [0, 0, 0, 1, 1]))
    assert found.frame.to_numpy().tolist() == [
        ["release", "age", "20", "20-21", 2, False],
        ["release", "age", "21", "20-21", 1, False],
        ["release", "age", "40", "40", 2, True],
        ["release", "city", "A", "{A, B}", 2, False],
        ["release", "city", "B", "{A, B}", 1, False],
        ["release", "city", "B", "B", 2, True],
    ]
    assert found.not_for_publication
    assert found.sentence.startswith("Not for publication: it tells which values stand behind the published cells of")
    assert "'age', 'city'" in found.sentence


def test_changed_values_are_mapped_and_none_is_shown() -> None:
    release = Mask(k=3, l=2).anonymize(people())
    frame = value_mapping(release).frame
    changed = frame[frame["attribute"] == "illness"]
    assert not changed["shown by the release"].any()
    moved = changed.loc[changed["original value"] != changed["published value"], "rows"].sum()
    assert moved == release.recoding("illness").n_changed  # type: ignore[attr-defined]


def test_nothing_is_mapped_where_every_value_is_published_as_it_was() -> None:
    found = value_mapping(Anatomy(l=2).anonymize(people()))
    assert len(found.frame) == 0
    assert not found.not_for_publication
    assert "only what belongs together" in found.sentence


def test_tables_with_sets_say_which_table() -> None:
    found = value_mapping(VerticalFragmentation(k=3, enforce="selectivity").anonymize(people())).frame
    sets = found[found["attribute"] == "illness"]
    assert sets["table"].nunique() == 2
    assert sets["published value"].str.startswith("{").all()


@pytest.mark.parametrize(("name", "parameters"), subjects(turn=1))
def test_the_first_rows_are_those_of_the_whole_tables(name: str, parameters: dict[str, object]) -> None:
    release = released(name, tuple(parameters.items()))
    several = len(release.fragments) > 1 and release.is_shared
    whole, first = release.pandas_tables(), release.pandas_tables(most=5)
    for table, frame in whole.items():
        assert frame.dtypes.equals(first[table].dtypes)
        assert len(first[table]) == min(5, len(frame))
        if not several:
            # Tables that are joined by their groups have these numbered anew at every call.
            pd.testing.assert_frame_equal(first[table], frame.head(5))


@pytest.mark.parametrize(("name", "parameters"), subjects(turn=1))
def test_every_row_is_counted_once_per_attribute(name: str, parameters: dict[str, object]) -> None:
    release = released(name, tuple(parameters.items()))
    frame = value_mapping(release).frame
    for fragment in release.fragments:
        for attribute, recoding in fragment.recodings.items():
            pairs = zip(
                release.data.domain[attribute].texts[release.data.codes[attribute]], recoding.texts(), strict=True
            )
            own = frame[(frame["table"] == fragment.name) & (frame["attribute"] == attribute)]
            counted = dict(
                zip(zip(own["original value"], own["published value"], strict=True), own["rows"], strict=True)
            )
            assert counted in ({}, Counter(pairs))
    assert set(frame.groupby(["table", "attribute"])["rows"].sum()) <= {release.data.n_rows}
    shown = frame[frame["shown by the release"].astype(bool)]
    assert np.array_equal(shown["original value"], shown["published value"].str.strip("{}"))
