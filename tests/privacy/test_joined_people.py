"""Joined tables: two tables by hand, hundreds against plain counting, and what cannot be joined."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator

import numpy as np
import pandas as pd
import pytest

from anoncore import Microdata, Release, attacks, privacy
from anoncore.algorithms import Anatomy, Mondrian
from anoncore.base.errors import DataError, ParameterError, ReleaseError
from anoncore.requirements import DistinctDiversity, FrequencyDiversity, KAnonymity, TCloseness

PATIENTS = {"age": "quasi-identifier", "sex": "quasi-identifier"}
VISITS = {"year": "quasi-identifier", "ward": "quasi-identifier", "diagnosis": "sensitive"}


def release_of(rows: list[tuple[object, ...]], roles: dict[str, str]) -> Release:
    """Published rows that begin with whose they are."""
    return Release.from_published(pd.DataFrame(rows, columns=["id", *roles]), {"id": "identifier", **roles})


def hospital() -> dict[str, Release]:
    """Ann and Bob have the same visits, Cem has one of them twice, Dan has none; all are of one age and sex."""
    patients = [(name, "20-29", "*") for name in ("Ann", "Bob", "Cem", "Dan")]
    visits = [
        ("Ann", 2020, "A", "flu"),
        ("Ann", 2021, "B", "cold"),
        ("Bob", 2021, "B", "flu"),
        ("Bob", 2020, "A", "gout"),
        ("Cem", 2020, "A", "flu"),
        ("Cem", 2020, "A", "flu"),
    ]
    return {"patients": release_of(patients, PATIENTS), "visits": release_of(visits, VISITS)}


def test_two_tables_by_hand() -> None:
    joined = privacy.joined(hospital(), by="id")
    assert (joined.n_people, float(joined.k), joined.k_alone) == (4, 1.0, {"patients": 4, "visits": 2})
    assert joined.classes.tolist() == [0, 0, 1, 2]
    assert joined.frame()["rows in visits"].tolist() == [2, 2, 0]
    # Both of the first class have the flu somewhere: whoever finds one of them knows it.
    assert joined.l is not None
    assert (float(joined.l), joined.l.attribute, joined.l.fragment) == (1.0, "diagnosis", "visits")


def test_rows_of_a_class_that_show_the_same_are_judged_too() -> None:
    """All of a class were in ward A with flu and in ward B with something else: three values, and one in ward A."""
    visits = [(name, 2020, "A", "flu") for name in "abc"]
    visits += [(name, 2020, "B", other) for name, other in zip("abc", ("cold", "gout", "HIV"), strict=True)]
    releases = {
        "patients": release_of([(name, "20-29", "f") for name in "abc"], PATIENTS),
        "visits": release_of(visits, VISITS),
    }
    joined = privacy.joined(releases, by="id")
    (found,) = joined.guarantees({"visits": [DistinctDiversity(l=3)]})
    assert (found.reached, found.holds, found.fragment) == (1.0, False, "visits")
    assert privacy.profile(joined.releases["visits"]).score("distinct-l") == 3


def test_an_attack_on_the_joined_view_finds_whom_the_join_finds() -> None:
    visits = privacy.joined(hospital(), by="id").releases["visits"]
    risk = attacks.reidentification(visits).prosecutor
    assert float(risk.largest) == 1.0
    belief = attacks.sensitive_posterior(visits, "diagnosis")
    flu = visits.data.domain["diagnosis"].code_of("flu")
    alone = visits.data.given.column("id").tolist().index("Cem")
    assert belief[alone, flu] == 1.0


def people_with_several_rows(rng: np.random.Generator) -> dict[str, Release]:
    n = int(rng.integers(6, 60))
    patients = pd.DataFrame(
        {
            "id": rng.permutation(n) + 100,
            "age": rng.integers(20, 20 + int(rng.integers(2, 40)), n),
            "sex": rng.choice(["f", "m"], n),
        }
    )
    owners = np.repeat(patients["id"].to_numpy(), rng.integers(0, int(rng.integers(2, 5)), n))
    owners = rng.permutation(owners if len(owners) > 3 else patients["id"].to_numpy())
    visits = pd.DataFrame(
        {
            "id": [str(one) for one in owners],
            "year": rng.integers(2015, 2015 + int(rng.integers(1, 9)), len(owners)),
            "ward": rng.choice(list("ABC"), len(owners)),
            "diagnosis": rng.choice(["flu", "cold", "gout", "HIV"], len(owners)),
        }
    )
    k = int(rng.integers(1, 4))
    method = Mondrian(requirements=[KAnonymity(k=min(k, len(set(owners))))])
    return {
        "patients": method.anonymize(Microdata(patients, PATIENTS, unit="id")),
        "visits": method.anonymize(Microdata(visits, VISITS, unit="id")),
    }


def cells(release: Release, known: list[str]) -> Iterator[tuple[str, tuple[str, ...], str | None]]:
    """Whose each row is, what it shows of what is known, and its secret."""
    texts = {name: release.recoding(name).texts() for name in release.attributes}
    for row, person in enumerate(release.data.given.column("id").tolist()):
        secret = texts["diagnosis"][row] if "diagnosis" in texts else None
        yield str(person), tuple(texts[name][row] for name in known), secret


def counted_plainly(releases: dict[str, Release]) -> tuple[int, float, float]:
    """k, l and t (equal) of the join, by walking over people."""
    known = {"patients": ["age", "sex"], "visits": ["year", "ward"]}
    shows: dict[str, list[object]] = defaultdict(list)
    for name, release in releases.items():
        for person, shown, _ in cells(release, known[name]):
            shows[person].append((name, shown))
    classes = defaultdict(set)
    for person, rows in shows.items():
        classes[str(sorted(rows))].add(person)
    visits = list(cells(releases["visits"], known["visits"]))
    whole = Counter(secret for _, secret in {(person, secret) for person, _, secret in visits})
    least, farthest = float("inf"), 0.0
    for people in classes.values():
        own = [row for row in visits if row[0] in people]
        groups = [own] + [[row for row in own if row[1] == shown] for shown in {row[1] for row in own}]
        for number, group in enumerate(groups):
            pairs = {(person, secret) for person, _, secret in group}
            held = Counter(secret for _, secret in pairs)
            if held and number == 0:
                least = min(least, len(people) / max(held.values()))
            if held:
                apart = sum(abs(held[one] / len(pairs) - whole[one] / whole.total()) for one in whole) / 2
                farthest = max(farthest, apart)
    return min(map(len, classes.values())), least, farthest


@pytest.mark.parametrize("seed", range(80))
def test_against_counting_people_one_by_one(seed: int) -> None:
    releases = people_with_several_rows(np.random.default_rng(seed))
    joined = privacy.joined(releases, by="id")
    k, l, t = counted_plainly(releases)
    assert joined.k == k
    assert joined.k <= min(privacy.profile(one).k for one in releases.values())
    assert joined.l is not None
    assert joined.t is not None
    assert float(joined.l) == pytest.approx(l)
    assert float(joined.t) == pytest.approx(t)
    asked = {"visits": [KAnonymity(k=2), FrequencyDiversity(l=1.5), TCloseness(t=0.4)]}
    kept = {one.requirement.name: one.holds for one in joined.guarantees(asked)}
    # k of the visits is that of the classes of people who have one.
    assert kept["frequency-diversity"] == (l >= 1.5 - 1e-9)
    assert kept["t-closeness"] == (t <= 0.4 + 1e-9)
    assert kept["k-anonymity"] or k < 2


def test_whoever_knows_what_is_published_by_decision_is_counted_too() -> None:
    roles = {**VISITS, "bed": "insensitive"}
    visits = [(name, 2020, "A", "flu", bed) for name, bed in zip("abcd", (1, 2, 3, 4), strict=True)]
    patients = [(name, "20-29", "f") for name in "abcd"]
    joined = privacy.joined({"patients": release_of(patients, PATIENTS), "visits": release_of(visits, roles)}, by="id")
    assert (float(joined.k), joined.k_all) == (4.0, 1)
    assert "'bed' of 'visits', published by decision, has groups of at least 1" in joined.sentences[-1]


def test_tables_that_share_nobody_are_told() -> None:
    patients = [(f"P{number}", "20-29", "f") for number in range(3)]
    joined = privacy.joined({**hospital(), "patients": release_of(patients, PATIENTS)}, by="id")
    assert joined.n_people == 6
    assert joined.sentences[-1].startswith("Nobody has rows in two of the tables by 'id'")


def test_what_cannot_be_joined_is_refused() -> None:
    releases = hospital()
    with pytest.raises(ParameterError, match="needs at least two tables, not 1"):
        privacy.joined({"visits": releases["visits"]}, by="id")
    with pytest.raises(ParameterError, match="name the column that says so in every table"):
        privacy.joined(releases)
    with pytest.raises(DataError, match=r"'patients' has no column 'idd' .* Did you mean 'id'"):
        privacy.joined(releases, by="idd")
    with pytest.raises(ParameterError, match="There is no table 'ward'; there is 'patients', 'visits'"):
        privacy.joined(releases, by="id").guarantees({"ward": [KAnonymity(k=2)]})
    frame = pd.DataFrame({"id": list("abcd"), "year": [1, 2, 3, 4], "diagnosis": list("xyxy")})
    data = Microdata(frame, {"year": "quasi-identifier", "diagnosis": "sensitive"}, unit="id")
    with pytest.raises(ReleaseError, match=r"'visits' is published as .* make it by a method that publishes one table"):
        privacy.joined({**releases, "visits": Anatomy(l=2).anonymize(data)}, by="id")
