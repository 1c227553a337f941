"""`anoncore.anonymize`: every method, what is usually asked, the k of its releases, and what does not fit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import anoncore
from anoncore import AnonymizationError, Hierarchy, Microdata, Release, privacy
from anoncore.algorithms import ALGORITHMS
from anoncore.recipes.proposal import propose
from anoncore.recipes.source import Source
from anoncore.requirements import DistinctDiversity, EntropyDiversity, KAnonymity
from tests.many_tables import few_and_many
from tests.properties.subjects import EVERYWHERE
from tests.shared_data import require

FEW_AND_MANY = few_and_many(20)
BY_CLASSES = ("mondrian", "local-recoding", "stack-and-deal", "microaggregation", "random-partition", "incognito")
"""Methods that promise k over one table, whose rows a reader can count."""


def people(n: int = 60, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "name": [f"person {row}" for row in range(n)],
            "age": rng.integers(20, 80, n),
            "town": rng.choice(["Ulm", "Bonn", "Kiel"], n),
            "pay": rng.integers(1, 9, n) * 1000,
            "disease": np.resize(["flu", "gout", "cold", "HIV"], n),
            "ward": rng.choice(["A", "B"], n),
        }
    )


KNOWN = ["age", "town"]
LARGER = {"foreground-safe": {"tolerance": 0.1}, "attack-safe": {"at_most": 0.1}}
"""What the methods need that may find no release of sixty people."""


def test_by_hand() -> None:
    frame = pd.DataFrame({"age": [21, 22, 44, 45], "disease": ["flu", "cold"] * 2, "note": list("wxyz")})
    published = anoncore.anonymize(frame, known="age", secret="disease", k=2).tables()["release"]
    assert sorted(published.itertuples(index=False, name=None)) == [
        ("21-22", "cold"),
        ("21-22", "flu"),
        ("44-45", "cold"),
        ("44-45", "flu"),
    ]
    assert frame["note"].tolist() == list("wxyz")


@pytest.mark.parametrize("name", EVERYWHERE)
def test_every_method_works_with_its_defaults(name: str) -> None:
    release = anoncore.anonymize(people(), known=KNOWN, secret="disease", method=name, **LARGER.get(name, {}))
    assert isinstance(release, Release)
    assert type(release.algorithm) is ALGORITHMS[name]
    assert {"name", "pay", "ward"}.isdisjoint(column for one in release.tables().values() for column in one.columns)
    assert release.notes[-1].startswith("Nobody said otherwise, so the usual was asked for: k-anonymity (k = 6) and ")


def test_what_nobody_says_is_what_a_first_recipe_asks() -> None:
    frame = people(200).rename(columns={"disease": "diagnosis"})[["age", "town", "diagnosis"]]
    roles = propose(Source(path="people.csv"), frame).recipe
    release = anoncore.anonymize(frame, known=KNOWN, secret="diagnosis")
    assert roles.roles == {"age": "quasi-identifier", "town": "quasi-identifier", "diagnosis": "sensitive"}
    assert set(release.algorithm.requirements) == set(roles.algorithm.requirements)  # type: ignore[union-attr]
    assert [one.label() for one in release.algorithm.promises(release.data)] == [  # type: ignore[union-attr]
        "k-anonymity (k = 10)",
        "frequency l-diversity (l = 2.0)",
    ]


def test_what_is_said_takes_the_place_of_what_is_usual() -> None:
    frame = people()
    release = anoncore.anonymize(frame, known=KNOWN, secret="disease", k=3, l=3, split="loss")
    assert release.algorithm == ALGORITHMS["mondrian"](
        requirements=release.algorithm.requirements,  # type: ignore[union-attr]
        split="loss",
    )
    assert [one.threshold for one in release.algorithm.promises(release.data)] == [3, 3]  # type: ignore[union-attr]
    assert not any("Nobody said otherwise" in note for note in release.notes)
    entropy = anoncore.anonymize(frame, known=KNOWN, secret="disease", requirements=[EntropyDiversity(l=2)])
    assert "k-anonymity (k = 6)." in entropy.notes[-1]
    assert privacy.check(entropy, [EntropyDiversity(l=2), KAnonymity(k=6)]) == ()
    whole = anoncore.anonymize(
        frame, known=KNOWN, secret="disease", requirements=[KAnonymity(k=4), DistinctDiversity(l=2)]
    )
    assert not any("Nobody said otherwise" in note for note in whole.notes)


def test_the_distance_fits_the_kind_of_the_secret_unless_it_is_said() -> None:
    frame = people()
    by = {name: anoncore.anonymize(frame, KNOWN, name, method="sabre").algorithm for name in ("disease", "pay")}
    assert {name: (method.t, method.ground) for name, method in by.items()} == {  # type: ignore[union-attr]
        "disease": (0.3, "equal"),
        "pay": (0.3, "ordered"),
    }
    said = anoncore.anonymize(frame, KNOWN, "pay", method="sabre", t=0.25, ground="equal").algorithm
    assert (said.t, said.ground) == (0.25, "equal")  # type: ignore[union-attr]
    each = anoncore.anonymize(frame, KNOWN, "disease", method="sensitive-space-fragmentation", other_t=0.15).algorithm
    assert each.other_t == 0.15  # type: ignore[union-attr]


def test_columns_that_nobody_named_are_left_out_unless_it_is_decided() -> None:
    frame = people()
    asked: dict[str, Any] = {"known": KNOWN, "secret": "disease", "identifier": "name"}
    assert set(anoncore.anonymize(frame, **asked).attributes) == {"age", "town", "disease"}
    assert set(anoncore.anonymize(frame, **asked, insensitive="ward").attributes) == {"age", "town", "disease", "ward"}
    decided = anoncore.anonymize(frame, **asked, insensitive="*")
    assert set(decided.attributes) == {"age", "town", "disease", "pay", "ward"}
    assert decided.data.undecided == ()


def test_rows_of_one_person_count_once() -> None:
    visits = pd.concat([people(40), people(40)], ignore_index=True)
    release = anoncore.anonymize(visits, known=KNOWN, secret="disease", k=5, unit="name")
    assert release.data.n_people == 40
    assert int(release.people_per_group(release.fragments[0]).min()) >= 5


def test_what_is_usual_is_possible_where_people_are_counted() -> None:
    # Everybody had the flu at one of two visits: half of the rows, and all of the people.
    illnesses = ["cold", "gout", "HIV", "burn"]
    visits = pd.DataFrame(
        {
            "who": np.repeat(np.arange(24), 2),
            "age": np.repeat(np.arange(24) + 20, 2),
            "disease": [value for row in range(24) for value in ("flu", illnesses[row % 4])],
        }
    )
    by_rows = anoncore.anonymize(visits, known="age", secret="disease")
    assert by_rows.notes[-1].endswith("k-anonymity (k = 4) and frequency l-diversity (l = 2.0).")
    by_people = anoncore.anonymize(visits, known="age", secret="disease", unit="who")
    assert by_people.notes[-1].endswith("k-anonymity (k = 2) and t-closeness (t = 0.3, ground = equal).")


def test_columns_are_tagged_as_microdata_takes_it() -> None:
    frame = people().assign(town=["Ulm"] * 30 + ["Bonn", "Kiel"] * 15, zip=80331)
    release = anoncore.anonymize(
        frame,
        known=["town", "zip"],
        secret="disease",
        k=20,
        method="incognito",
        kinds={"zip": "nominal"},
        hierarchies={"town": Hierarchy.from_nested({"south": ["Ulm"], "north": ["Bonn", "Kiel"]})},
        sensitive_values={"disease": {"HIV"}},
    )
    # Bonn and Kiel have fifteen people each; the south has one town, which is published as such.
    assert set(release.tables()["release"]["town"]) == {"Ulm", "north"}
    assert release.data.domain["zip"].kind == "nominal"
    assert release.data.sensitive_values == {"disease": ("HIV",)}


@pytest.mark.parametrize(
    ("kind", "made"),
    [
        (lambda frame: frame, pd.DataFrame),
        (pl.DataFrame, pl.DataFrame),
        (lambda frame: pl.DataFrame(frame).lazy(), pl.LazyFrame),
        (pa.Table.from_pandas, pa.Table),
    ],
)
def test_tables_are_of_the_kind_that_was_given(kind: Any, made: type) -> None:
    release = anoncore.anonymize(kind(people()), known=KNOWN, secret="disease", k=5)
    assert isinstance(release.tables()["release"], made)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"method": "mondrain"}, "There is no algorithm 'mondrain'; did you mean 'mondrian'? There is "),
        ({"method": "StackAndDeal"}, "did you mean 'stack-and-deal'?"),
        ({"method": "magic"}, "There is no algorithm 'magic'; there is 'anatomy'"),
        ({"splitt": "loss"}, "There is no parameter of anonymize or field of Mondrian 'splitt'; did you mean 'split'?"),
        ({"identifiers": "name"}, "did you mean 'identifier'?"),
        ({"split": "lost"}, "Mondrian: split should be 'median', 'infogain', 'regression' or 'loss', not 'lost'"),
        ({"k": 0}, "k-anonymity: k should be greater than or equal to 1, not 0"),
        ({"k": "ten"}, "anonymize needs a whole number as k, not 'ten': give one such as 5"),
        ({"k": 500}, "k = 500 is not possible: the whole table as one group has size 60"),
        ({"l": 9}, "l = 9 is not possible: the whole table as one group has its commonest 'disease' in 1 of 4"),
        ({"t": 3}, "t-closeness: t should be less than or equal to 1, not 3"),
        (
            {"k": 5, "method": "anatomy"},
            "Anatomy does not promise k-anonymity (k = 5); leave k out, or choose a method",
        ),
        ({"k": 5, "method": "slicing"}, "Slicing does not promise k-anonymity (k = 5)"),
        ({"t": 0.2, "method": "stack-and-deal"}, "Stack & Deal does not promise t-closeness (t = 0.2"),
        ({"secret": (), "l": 2}, "l and t are about a secret column, and none is named; name it with secret"),
        ({"secret": (), "method": "anatomy"}, "No attribute is tagged as sensitive"),
        ({"known": "town", "secret": "illness"}, "secret: the table has no column 'illness'; it has 'name', 'age'"),
        ({"secret": "town"}, "The column 'town' stands under secret and under another option; keep one"),
        ({"insensitive": ["ward", "shoe"]}, "insensitive: the table has no column 'shoe'"),
        ({"insensitive": "age"}, "The column 'age' stands under insensitive and under another option"),
        ({"unit": "town"}, "The column 'town' says whose row it is; name it under unit alone"),
        ({"requirements": "k=5"}, "Mondrian: requirements"),
        ({"kinds": {"age": "number"}}, "The kind of 'age' is 'number'; use one of 'numeric', 'ordinal', 'nominal'"),
        ({"frame": Microdata(people(), {"age": "quasi-identifier"})}, "DuckDB relation, not as Microdata"),
    ],
)
def test_what_does_not_fit_is_said_with_what_to_do(changes: dict[str, Any], sentence: str) -> None:
    with pytest.raises(AnonymizationError) as caught:
        anoncore.anonymize(**{"frame": people(), "known": KNOWN, "secret": "disease", **changes})
    assert sentence in str(caught.value)


@pytest.mark.parametrize("seed", FEW_AND_MANY)
def test_nobody_stands_in_a_smaller_class_than_asked(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(8, 40)), int(rng.integers(2, 8))
    frame = people(n, seed).drop(columns=["name"])
    method = BY_CLASSES[seed % len(BY_CLASSES)]
    # A distance of 1 asks nothing of the secret, so that only k can make a release impossible.
    levels: dict[str, Any] = {} if method in ("stack-and-deal", "random-partition") else {"t": 1.0}
    release = anoncore.anonymize(frame, known=KNOWN, secret="disease", k=k, method=method, **levels)
    published = release.tables()["release"]
    assert published.groupby(KNOWN).size().min() >= k
    checked = anoncore.check(published, known=KNOWN, secret="disease", require=f"k={k}")
    assert checked.k == published.groupby(KNOWN).size().min()


@pytest.mark.slow
def test_on_adult() -> None:
    frame = pd.read_csv(require("adult.csv"), skipinitialspace=True)
    known = ["age", "education", "race", "sex"]
    release = anoncore.anonymize(pl.DataFrame(frame), known=known, secret="occupation", k=10, l=2, split="loss")
    published = release.tables()["release"].to_pandas()
    assert set(published) == {*known, "occupation"}
    sizes = published.groupby(known).agg(size=("occupation", "size"))
    assert sizes["size"].min() >= 10
    checked = anoncore.check(published, known=known, secret="occupation", require=["k=10", "l=2"])
    assert (checked.k, checked.k_all) == (sizes["size"].min(), sizes["size"].min())
