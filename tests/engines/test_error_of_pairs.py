"""The two-way error of a release in parts is that of the same release in memory."""

from __future__ import annotations

import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from anoncore import Hierarchy, Microdata, ReleaseError, utility
from anoncore.algorithms import Mondrian, RothkoSampling, RothkoTree
from anoncore.engines import error_of_pairs
from anoncore.engines.large_run import LargeRun, RunSettings, anonymize_table
from anoncore.engines.spool import Tags
from anoncore.requirements import DistinctDiversity, KAnonymity
from anoncore.sources import read_table
from anoncore.sources.large_table import LargeTable

from .large_tables import ROLES, people

TOWNS = Hierarchy.from_nested({"South": ["Ulm", "it's"], "Rhine": ["Bonn", "Köln, Süd"]})
CLOSE = 1e-9


def in_parts(path: Path, algorithm: Any, output: Path, **tags: Any) -> LargeRun:
    wanted = RunSettings(two_way=True)
    return anonymize_table(lambda folder: LargeTable(path, folder), Tags(**tags), algorithm, output, wanted)


def test_by_hand(tmp_path: Path) -> None:
    """One group of four hides that the young have the flu: two of four rows are in the wrong place."""
    path = tmp_path / "people.parquet"
    pd.DataFrame({"age": [20, 20, 60, 60], "ill": ["flu", "flu", "cold", "cold"]}).to_parquet(path)
    roles = {"age": "quasi-identifier", "ill": "sensitive"}
    kept = in_parts(path, RothkoTree((KAnonymity(k=2),)), tmp_path / "kept", roles=roles).two_way_error
    lost = in_parts(path, RothkoTree((KAnonymity(k=4),)), tmp_path / "lost", roles=roles).two_way_error
    assert kept is not None
    assert lost is not None
    assert (float(kept), float(lost)) == (0.0, 0.5)
    assert lost.pairs.loc["age", "ill"] == 0.5


@pytest.mark.slow
@pytest.mark.parametrize("recoding", ["rows", "regions"])
@pytest.mark.parametrize("hierarchies", [{}, {"town": TOWNS}], ids=["sets", "nodes"])
def test_it_is_that_of_mondrian(tmp_path: Path, recoding: str, hierarchies: dict[str, Hierarchy]) -> None:
    path = tmp_path / "people.parquet"
    people().to_parquet(path)
    fields = {"requirements": (KAnonymity(k=4), DistinctDiversity(l=2)), "recoding": recoding}
    release = Mondrian(**fields, strict=True).anonymize(Microdata(people(), ROLES, hierarchies=hierarchies))
    makers = {name: lambda _, one=one: one for name, one in hierarchies.items()}
    algorithm = RothkoTree(**fields, memory_rows=25, frontier_memory=0.01)
    found = in_parts(path, algorithm, tmp_path / "out", roles=ROLES, hierarchies=makers).two_way_error
    expected = utility.two_way_error(release)
    assert found is not None
    assert float(found) == pytest.approx(float(expected), abs=CLOSE)
    names = list(expected.pairs.columns)
    assert np.allclose(found.pairs.loc[names, names], expected.pairs, atol=CLOSE)


WORDS = st.sampled_from(["a", "b", "a - b", "10-20", "{a, b}", "*", "or missing", "2"])
CELLS = {
    "numbers": st.one_of(st.none(), st.integers(-3, 12)),
    "measured": st.one_of(st.none(), st.sampled_from([0.0, -0.0, 1.5, 2.25, 1e6, -7.5])),
    "words": st.one_of(st.none(), WORDS),
    "days": st.one_of(st.none(), st.dates(datetime.date(2020, 1, 1), datetime.date(2020, 1, 9))),
    "answers": st.one_of(st.none(), st.booleans()),
}
TYPES = {
    "numbers": pa.int64(),
    "measured": pa.float64(),
    "words": pa.string(),
    "days": pa.date32(),
    "answers": pa.bool_(),
}


@st.composite
def tables(draw: Any) -> tuple[pa.Table, int, int]:
    """A table of two to four awkward columns, the last one the secret, k and the rows that memory holds."""
    kinds = draw(st.lists(st.sampled_from(sorted(CELLS)), min_size=2, max_size=4))
    n = draw(st.integers(8, 40))
    columns = {
        f"{kind} {place}": pa.array(draw(st.lists(CELLS[kind], min_size=n, max_size=n)), TYPES[kind])
        for place, kind in enumerate(kinds)
    }
    return pa.table(columns), draw(st.integers(2, 4)), draw(st.integers(8, 40))


@pytest.mark.slow
@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(tables())
def test_it_is_that_of_memory_on_awkward_tables(drawn: tuple[pa.Table, int, int]) -> None:
    table, k, memory_rows = drawn
    *known, secret = table.column_names
    roles = {**dict.fromkeys(known, "quasi-identifier"), secret: "sensitive"}
    with TemporaryDirectory() as place:
        path = Path(place) / "awkward.parquet"
        pq.write_table(table, path)
        release = Mondrian((KAnonymity(k=k),), strict=True).anonymize(Microdata(read_table(path).frame, roles))
        run = in_parts(path, RothkoTree((KAnonymity(k=k),), memory_rows=memory_rows), Path(place) / "out", roles=roles)
    found = run.two_way_error
    if found is None:
        # The value {a, b} and the set of a and b are written alike.
        assert run.notes[-1].endswith("the text '{a, b}' stands for two different sets of values.")
        return
    assert float(found) == pytest.approx(float(utility.two_way_error(release)), abs=CLOSE)


def test_a_class_larger_than_memory_counts_as_well(tmp_path: Path) -> None:
    path = tmp_path / "people.parquet"
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"age": [1] * 60 + [5] * 60, "town": ["Ulm", "Bonn"] * 60, "ill": rng.choice(["x", "y"], 120)})
    frame.to_parquet(path)
    roles = {"age": "quasi-identifier", "town": "quasi-identifier", "ill": "sensitive"}
    found = in_parts(path, RothkoTree((KAnonymity(k=50),), memory_rows=55), tmp_path / "out", roles=roles)
    release = Mondrian((KAnonymity(k=50),), strict=True).anonymize(Microdata(frame, roles))
    assert found.two_way_error is not None
    assert float(found.two_way_error) == pytest.approx(float(utility.two_way_error(release)), abs=CLOSE)


def test_sampling_has_an_error_of_its_own(tmp_path: Path) -> None:
    """What its groups are is not what the tree's are, so the error is told of its own cells."""
    path = tmp_path / "people.parquet"
    people().to_parquet(path)
    found = in_parts(path, RothkoSampling((KAnonymity(k=5),), memory_rows=100, seed=1), tmp_path / "out", roles=ROLES)
    frames = [pq.read_table(part).to_pandas() for part in sorted((tmp_path / "out").glob("*.parquet"))]
    read = Microdata(people(), ROLES)
    assert found.two_way_error is not None
    assert 0 < float(found.two_way_error) < 1
    assert sum(map(len, frames)) == read.n_rows


@pytest.mark.parametrize(
    ("limit", "said"),
    [
        ("MOST_PAIRS", "'weight' and 'age' have more than 2 different pairs of values."),
        ("MOST_VALUES", "'ill' has more than 2 different values; "),
    ],
)
def test_what_cannot_be_counted_is_said_and_not_zero(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str, said: str
) -> None:
    """The release is made, and only the number is missing."""
    path = tmp_path / "people.parquet"
    people().to_parquet(path)
    monkeypatch.setattr(error_of_pairs, limit, 2)
    found = in_parts(path, RothkoTree((KAnonymity(k=5),)), tmp_path / "out", roles=ROLES)
    assert found.two_way_error is None
    assert found.notes[-1].startswith(f"The two-way error was not measured: {said}")
    assert found.n_rows == 400


def test_a_text_of_two_regions_is_refused() -> None:
    def cells(low: int, high: int) -> error_of_pairs.TextRegions:
        ends = np.array([low]), np.array([high])
        regions = error_of_pairs.Regions(np.array([0, 1]), *ends, np.array([high - low + 1]))
        return error_of_pairs.TextRegions(("1-2",), regions)

    joined = error_of_pairs._joined(["age"], [{"age": cells(0, 1)}, {"age": cells(0, 1)}])
    assert joined["age"].texts == ("1-2",)
    with pytest.raises(ReleaseError, match="In 'age' the text '1-2' stands for two different sets of values"):
        error_of_pairs._joined(["age"], [{"age": cells(0, 1)}, {"age": cells(0, 2)}])
