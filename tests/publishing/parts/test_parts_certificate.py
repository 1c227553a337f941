"""The certificate of a release in parts states what the one of the same release in memory states."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from anoncore import DataError, Hierarchy, Microdata, ReleaseError
from anoncore.algorithms import Mondrian, RothkoSampling, RothkoTree
from anoncore.base.texts import rows_for_people
from anoncore.publishing import certify
from anoncore.publishing.certification import published_rows as part_files
from anoncore.publishing.certification.certificate import CERTIFICATE_FILE, Certificate
from anoncore.requirements import (
    DistinctDiversity,
    EntropyDiversity,
    FrequencyDiversity,
    KAnonymity,
    RecursiveDiversity,
    TCloseness,
)
from tests.engines.large_tables import ROLES, people
from tests.properties.subjects import SEED
from tests.publishing.parts.folders import KEY, certified_run, verified

TOWNS = Hierarchy.from_nested({"South": ["Ulm", "it's"], "Rhine": ["Bonn", "Köln, Süd"]})
ILLNESSES = Hierarchy.from_nested({"viral": ["flu", "cold"], "other": ["gout", "asthma"]})

EVERY = (
    KAnonymity(k=4),
    DistinctDiversity(l=2),
    FrequencyDiversity(l=1.3),
    EntropyDiversity(l=1.5),
    RecursiveDiversity(c=4.0, l=2),
    TCloseness(t=0.6),
)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "people.parquet"
    people().to_parquet(path)
    return path


def statements(certificate: Certificate) -> dict[str, object]:
    """What a certificate states of a release with one table."""
    (table,) = certificate.tables
    return {
        "asked": [
            (one.requirement, one.label, one.attribute, one.asked, one.rechecked) for one in certificate.requirements
        ],
        "groups": (table.rows, table.groups, table.group_sizes, table.columns),
        "attributes": [
            (one.name, one.role, one.kind, one.type, one.form, one.hierarchy, one.protected)
            for one in certificate.attributes
        ],
        "values": {one.name: one.values for one in certificate.attributes if one.role == "sensitive"},
        # Whether values of an identifier repeat is looked at in memory alone: elsewhere rows are never called people.
        "not asked": [rows_for_people(one) for one in certificate.not_asked or ()],
        "rows": certificate.input.rows,
        "decided": certificate.decided,
        "over all": certificate.over_all,
        "breaking": rows_for_people(certificate.breaking or ""),
    }


def in_memory(data: Microdata, requirements: tuple, **fields: object) -> Certificate:
    release = Mondrian(requirements, strict=True, **fields).anonymize(data)
    return certify(release, KEY)


def same(one: Certificate, other: Certificate) -> None:
    assert statements(one) == statements(other)
    reached = [[asked.reached for asked in certificate.requirements] for certificate in (one, other)]
    np.testing.assert_allclose(reached[0], reached[1], rtol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("requirements", [(KAnonymity(k=5),), EVERY])
@pytest.mark.parametrize("recoding", ["rows", "regions"])
def test_a_folder_states_what_memory_states(source, tmp_path, requirements, recoding):
    algorithm = RothkoTree(requirements, memory_rows=50, recoding=recoding)
    run, found, _ = certified_run(source, algorithm, tmp_path / "out", hierarchies={"town": lambda _: TOWNS})
    data = Microdata(people(), ROLES, hierarchies={"town": TOWNS})
    same(found.certificate, in_memory(data, requirements, recoding=recoding))
    assert run.n_groups == found.certificate.tables[0].groups or recoding == "regions"
    assert not verified(tmp_path / "out").of("fails")
    assert Certificate.load(tmp_path / "out" / CERTIFICATE_FILE) == found.certificate


def test_groups_that_several_parts_have_are_one(tmp_path, monkeypatch):
    # Cut by a sample, parts divide a town's hierarchy where its cells are alike again: every row of both halves is
    # published as `*`, so a reader sees one group.
    monkeypatch.setattr(part_files, "UNIT_ROWS", 1)
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"town": rng.choice(list("abcdefgh"), 400), "ill": rng.choice(["flu", "gout"], 400)})
    frame.to_parquet(tmp_path / "in.parquet")
    towns = Hierarchy.from_nested({"odd": ["a", "c", "e", "g"], "even": ["b", "d", "f", "h"]})
    roles = {"town": "quasi-identifier", "ill": "sensitive"}
    requirements = (KAnonymity(k=30), TCloseness(t=0.5))
    tags = {"roles": roles, "hierarchies": {"town": lambda _: towns}, "orders": {"town": list("aecgbdfh")}}
    algorithm = RothkoTree(requirements, memory_rows=60, recoding="regions")
    _, found, _ = certified_run(tmp_path / "in.parquet", algorithm, tmp_path / "out", **tags)
    data = Microdata(frame, roles, hierarchies={"town": towns}, orders={"town": list("aecgbdfh")})
    release = Mondrian(requirements, strict=True, recoding="regions").anonymize(data)
    memory = certify(release, KEY)
    same(found.certificate, memory)
    assert not verified(tmp_path / "out").of("fails")


@pytest.mark.parametrize("unit_rows", [1, 40])
def test_classes_larger_than_what_is_read_at_a_time_are_whole(tmp_path, monkeypatch, unit_rows):
    monkeypatch.setattr(part_files, "UNIT_ROWS", unit_rows)
    frame = pd.DataFrame({"age": [30] * 300 + [40] * 20, "ill": ["gout", "flu", "cold"] * 106 + ["flu", "cold"]})
    frame.to_parquet(tmp_path / "in.parquet")
    roles = {"age": "quasi-identifier", "ill": "sensitive"}
    requirements = (KAnonymity(k=9), TCloseness(t=0.4))
    _, found, _ = certified_run(
        tmp_path / "in.parquet", RothkoTree(requirements, memory_rows=50), tmp_path / "out", roles=roles
    )
    release = Mondrian(requirements, strict=True).anonymize(Microdata(frame, roles))
    same(found.certificate, certify(release, KEY))
    assert not verified(tmp_path / "out").of("fails")


@pytest.mark.slow
def test_protected_values_orders_and_grounds_are_kept(source, tmp_path):
    requirements = (
        DistinctDiversity(l=2),
        TCloseness(t=0.7, ground="ordered"),
        TCloseness(t=0.7, ground="hierarchical"),
    )
    order = ["flu", "cold", "gout", "asthma"]
    tags = {"orders": {"ill": order}, "kinds": {"ill": "ordinal"}}
    _, found, _ = certified_run(
        source,
        RothkoTree(requirements, memory_rows=50),
        tmp_path / "out",
        hierarchies={"ill": lambda _: ILLNESSES},
        **tags,
    )
    data = Microdata(people(), ROLES, hierarchies={"ill": ILLNESSES}, **tags)
    same(found.certificate, in_memory(data, requirements))
    protected = (DistinctDiversity(l=3), FrequencyDiversity(l=1.5))
    _, found, _ = certified_run(
        source, RothkoTree(protected, memory_rows=50), tmp_path / "two", sensitive_values={"ill": ["gout"]}
    )
    data = Microdata(people(), ROLES, sensitive_values={"ill": {"gout"}})
    same(found.certificate, in_memory(data, protected))
    assert not verified(tmp_path / "two").of("fails")


def test_a_sensitive_number_is_one_value_however_it_is_written(tmp_path):
    frame = people()[["age", "debt", "weight"]]
    frame.to_parquet(tmp_path / "in.parquet")
    roles = {"age": "quasi-identifier", "debt": "quasi-identifier", "weight": "sensitive"}
    requirements = (TCloseness(t=0.5, ground="ordered"), DistinctDiversity(l=3))
    _, found, _ = certified_run(
        tmp_path / "in.parquet", RothkoTree(requirements, memory_rows=60), tmp_path / "out", roles=roles
    )
    release = Mondrian(requirements, strict=True).anonymize(Microdata(frame, roles))
    same(found.certificate, certify(release, KEY))


def test_what_nobody_asked_for_is_said(tmp_path):
    frame = pd.DataFrame({"age": [1, 1, 2, 2, 3, 3] * 5, "ill": ["a", "a", "b", "c", "d", "e"] * 5})
    frame.to_parquet(tmp_path / "in.parquet")
    roles = {"age": "quasi-identifier", "ill": "sensitive"}
    _, found, _ = certified_run(
        tmp_path / "in.parquet", RothkoTree((KAnonymity(k=2),), memory_rows=6), tmp_path / "out", roles=roles
    )
    memory = certify(Mondrian((KAnonymity(k=2),), strict=True).anonymize(Microdata(frame, roles)), KEY)
    assert found.certificate.not_asked == memory.not_asked
    assert [one.name for one in found.verdict.not_asked] == ["largest-belief", "t"]


@pytest.mark.slow
def test_the_sampling_is_certified_without_its_seed(source, tmp_path):
    algorithm = RothkoSampling((KAnonymity(k=4), DistinctDiversity(l=2)), memory_rows=80, sample_rows=60, seed=SEED)
    _, found, _ = certified_run(source, algorithm, tmp_path / "out")
    assert found.certificate.method is not None
    assert "seed" not in found.certificate.method.parameters
    assert not verified(tmp_path / "out").of("fails")


def test_missing_cells_beside_empty_texts_get_no_certificate_and_no_release(tmp_path):
    frame = pd.DataFrame({"age": range(12), "ill": ["flu", "", None] * 4})
    frame.to_parquet(tmp_path / "in.parquet")
    roles = {"age": "quasi-identifier", "ill": "sensitive"}
    with pytest.raises(DataError, match="missing cells and its empty texts alike"):
        certified_run(tmp_path / "in.parquet", RothkoTree((DistinctDiversity(l=2),)), tmp_path / "out", roles=roles)
    assert not (tmp_path / "out").exists()


def test_values_that_files_write_alike_are_not_counted_twice(tmp_path):
    # As texts 1.5 and 1.50 are two values of the table, and one of its readers'.
    frame = pd.DataFrame({"age": [1, 1, 2, 2], "ill": ["1.5", "1.50", "a", "b"]})
    frame.to_parquet(tmp_path / "in.parquet")
    roles = {"age": "quasi-identifier", "ill": "sensitive"}
    with pytest.raises(ReleaseError, match="There is no certificate for what does not hold"):
        certified_run(
            tmp_path / "in.parquet", RothkoTree((DistinctDiversity(l=2),), memory_rows=2), tmp_path / "out", roles=roles
        )
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("unit", ["us", "ns"])
@pytest.mark.parametrize("zone", [None, "Europe/Vienna"])
def test_points_in_time_are_counted_as_in_memory(tmp_path, unit, zone):
    # Half a year apart, so in summer and in winter, and some a few ticks apart, which no millisecond tells.
    moments = pd.Timestamp("2020-01-01 12:00").as_unit(unit) + pd.to_timedelta(np.arange(40) % 4 // 2 * 182, unit="D")
    moments = (moments + pd.to_timedelta(np.arange(40) % 3, unit=unit)).as_unit(unit)
    moments = moments if zone is None else moments.tz_localize(zone)
    frame = pd.DataFrame({"age": np.arange(40) % 7, "since": moments})
    frame.to_parquet(tmp_path / "in.parquet")
    roles = {"age": "quasi-identifier", "since": "sensitive"}
    requirements = (KAnonymity(k=4), TCloseness(t=0.9, ground="ordered"), DistinctDiversity(l=2))
    _, found, _ = certified_run(
        tmp_path / "in.parquet", RothkoTree(requirements, memory_rows=50), tmp_path / "out", roles=roles
    )
    same(found.certificate, certify(Mondrian(requirements, strict=True).anonymize(Microdata(frame, roles)), KEY))
    assert not verified(tmp_path / "out").of("fails")
