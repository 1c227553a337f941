"""delta-presence: shares by hand, a plain definition on random tables, files of recipes, and what cannot be judged."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from anoncore import (
    AnonymizationError,
    DataError,
    Hierarchy,
    InfeasibleError,
    Microdata,
    ParameterError,
    Partition,
    Recipe,
    ReleaseError,
    privacy,
)
from anoncore.algorithms import Anatomy, Incognito, LocalRecoding, Mondrian, OptimalRecoding, Slicing
from anoncore.requirements import CheckSet, DeltaPresence, KAnonymity
from anoncore.requirements.worth import protects
from tests.many_tables import few_and_many
from tests.privacy.releases import adult

TREE = Hierarchy.from_nested({"north": ["a", "b"], "south": ["c", "d"]})
ROLES = {"age": "quasi-identifier", "town": "quasi-identifier", "ill": "sensitive"}


def drawn(seed):
    """A population, and the rows of it that are the table."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(12, 60))
    people = pd.DataFrame({"age": rng.integers(20, 40, n), "town": rng.choice([*"abcd", None], n)})
    people["ill"] = rng.choice(["flu", "gout"], n)
    inside = rng.permutation(n)[: int(rng.integers(6, n))]
    return people, people.iloc[inside].reset_index(drop=True)


def table(frame, seed=0):
    return Microdata(
        frame, ROLES, kinds={"age": "numeric", "town": "nominal"}, hierarchies={"town": TREE} if seed % 2 else {}
    )


def of_cell(text, value):
    """Whether a value fits a published cell, as a person reads it."""
    members = {"north": "ab", "south": "cd"}.get(text)
    if text == "*":
        return True
    if pd.isna(value):
        return "(missing)" in text
    if members is not None:
        return value in members
    if isinstance(value, str):
        return value in text.strip("{}").split(", ")
    low, _, high = text.partition("-")
    return float(low) <= value <= float(high or low)


def plain_shares(release, frame, people):
    """For each group the share, counted over every person and every published cell."""
    published, shares = release.tables()["release"], []
    for age, town in sorted(set(zip(published["age"].astype(str), published["town"].astype(str), strict=True))):
        in_table, in_population = (
            sum(of_cell(age, a) and of_cell(town, t) for a, t in zip(one["age"], one["town"], strict=True))
            for one in (frame, people)
        )
        shares.append(in_table / in_population)
    return sorted(shares)


def test_shares_by_hand():
    # Of the five people in their twenties two are in the table, of the two older ones both.
    data = Microdata(pd.DataFrame({"age": [21, 28, 44, 46]}), {"age": "quasi-identifier"})
    town = pd.DataFrame({"age": [21, 22, 23, 27, 28, 44, 46]})
    release = Mondrian([KAnonymity(k=2)]).anonymize(data)
    wanted = DeltaPresence(at_most=0.5, population=town)
    (violation,) = privacy.check(release, [wanted])
    assert violation.level == 1.0
    assert (
        "has presence 1, but delta-presence (at_least = 0.0, at_most = 0.5) asks for at most 0.5." in violation.sentence
    )
    (least,) = privacy.check(release, [DeltaPresence(at_least=0.5, at_most=1, population=town)])
    assert least.level == np.inf
    assert "has presence below 0.5, the least that is asked for" in least.sentence
    assert privacy.check(release, [DeltaPresence(at_least=0.4, at_most=1, population=town)]) == ()


def test_classes_that_overlap_count_everybody_who_fits():
    # 21 and 30 make a class, and so do 25 and 26, who fit the range of the other one as well.
    data = Microdata(pd.DataFrame({"age": [21, 30, 25, 26]}), {"age": "quasi-identifier"})
    town = pd.DataFrame({"age": [21, 22, 23, 30, 25, 26]})
    (check,) = DeltaPresence(population=town).checks(data)
    assert check.levels(Partition([0, 0, 1, 1])).tolist() == [4 / 6, 1.0]


FEW_AND_MANY = few_and_many(30)


@pytest.mark.parametrize("seed", FEW_AND_MANY)
def test_it_is_the_plain_definition(seed):
    people, frame = drawn(seed)
    data = table(frame, seed)
    method = [Mondrian, LocalRecoding, Incognito][seed % 3] if seed % 2 else Mondrian
    release = method([KAnonymity(k=3)]).anonymize(data)
    (check,) = DeltaPresence(population=people).checks(data)
    levels = check.published_levels(release.fragments[0])
    np.testing.assert_allclose(sorted(set(levels)), sorted(set(plain_shares(release, frame, people))))
    for wanted in (0.3, 0.5, 0.8):
        fails = bool(privacy.check(release, [DeltaPresence(at_most=wanted, population=people)]))
        assert fails == any(share > wanted for share in plain_shares(release, frame, people))


@pytest.mark.parametrize("method", [Mondrian, LocalRecoding, Incognito, OptimalRecoding])
@pytest.mark.parametrize("seed", range(8))
def test_methods_join_classes_until_the_shares_are_kept(method, seed):
    people, frame = drawn(seed)
    overall, data = len(frame) / len(people), table(frame, 1)
    wanted = DeltaPresence(at_most=(1 + overall) / 2, population=people)
    try:
        release = method([KAnonymity(k=2), wanted]).anonymize(data)
    except InfeasibleError:
        assert method([KAnonymity(k=2)]).anonymize(data)
        return
    assert release.algorithm.requirements[1] == wanted
    assert max(plain_shares(release, frame, people)) <= wanted.at_most
    (_, found) = privacy.guarantees(release)
    assert found.holds
    assert found.requirement is wanted


def test_what_cannot_be_kept_is_said():
    people, frame = drawn(3)
    with pytest.raises(InfeasibleError, match="not even one group of all rows does"):
        Mondrian([KAnonymity(k=2), DeltaPresence(at_most=0.01, population=people)]).anonymize(table(frame))


def test_known_values_that_are_published_as_they_are_are_judged_too():
    frame = pd.DataFrame({"age": [20, 20, 30, 31], "town": list("aabb"), "ill": ["flu", "gout"] * 2})
    town = pd.concat([frame, frame.iloc[:3]])
    failing = privacy.check(Anatomy(l=2, seed=1).anonymize(table(frame)), [DeltaPresence(at_most=0.5, population=town)])
    assert {one.level for one in failing} == {1.0}


def test_tables_that_share_what_is_known_are_refused():
    data = table(drawn(1)[1])
    release = Slicing(l=1, columns=2, sensitive_column_size=1, attribute_columns=(("age",), ("town", "ill"))).anonymize(
        data
    )
    with pytest.raises(ReleaseError, match="choose a method that publishes what is known in one table"):
        privacy.check(release, [DeltaPresence()])


def test_searches_that_cannot_count_a_population_refuse_it():
    with pytest.raises(ParameterError, match="cannot be asked of groups while they are looked for"):
        CheckSet([DeltaPresence()], table(drawn(1)[1]))


def test_a_file_is_read_where_a_recipe_is_run(tmp_path):
    people, frame = drawn(5)
    (tmp_path / "data").mkdir()
    people.to_parquet(tmp_path / "data" / "everybody.parquet")
    frame.to_csv(tmp_path / "people.csv", index=False)
    (tmp_path / "recipe.toml").write_text(
        """
        format = 2
        source = {path = "people.csv"}
        roles = {age = "quasi-identifier", town = "quasi-identifier", ill = "sensitive"}
        measures = [{name = "privacy.check", requirements = [
            {name = "delta-presence", at_most = 0.1, population = "data/everybody.parquet"}
        ]}]
        [algorithm]
        name = "mondrian"
        requirements = [
            {name = "k-anonymity", k = 3},
            {name = "delta-presence", at_most = 0.95, population = "data/everybody.parquet"}
        ]
        """,
        encoding="utf-8",
    )
    recipe = Recipe.load(tmp_path / "recipe.toml")
    run = recipe.run()
    assert max(plain_shares(run.release, frame, people)) <= 0.95
    assert run.measures["privacy.check"]
    (tmp_path / "elsewhere").mkdir()
    recipe.save(tmp_path / "elsewhere" / "recipe.toml")
    moved = Recipe.load(tmp_path / "elsewhere" / "recipe.toml")
    assert moved.algorithm.requirements[1].population == "../data/everybody.parquet"
    assert moved.run().release.partition.n_groups == run.release.partition.n_groups


def test_a_path_is_not_read_where_no_recipe_names_it():
    with pytest.raises(DataError, match=r"'everybody\.csv', which is read where a recipe is run"):
        DeltaPresence(population="everybody.csv").checks(table(drawn(1)[1]))


def test_populations_that_do_not_fit_are_refused():
    data = table(drawn(1)[1])
    with pytest.raises(DataError, match="The population lacks the quasi-identifier 'town'"):
        privacy.check(
            Mondrian([KAnonymity(k=3)]).anonymize(data), [DeltaPresence(population=pd.DataFrame({"age": [1]}))]
        )
    with pytest.raises(ParameterError, match="population should be a file and no address"):
        DeltaPresence(population="postgresql://ann:secret@host/clinic")
    with pytest.raises(ParameterError, match="population should be a table of people"):
        DeltaPresence(population=3)
    visits = Microdata(pd.DataFrame({"age": [20, 21], "who": [1, 1]}), {"age": "quasi-identifier"}, unit="who")
    with pytest.raises(DataError, match="the table has several rows of one person"):
        DeltaPresence().checks(visits)
    with pytest.raises(DataError, match="the population has several rows of one person"):
        DeltaPresence(population=visits).checks(data)


def test_everybody_of_the_table_itself_is_in_it():
    data = table(drawn(1)[1])
    (check,) = DeltaPresence().checks(data)
    assert check.table_level(data.n_rows) == 1.0
    assert not protects(DeltaPresence(at_most=1))
    assert protects(DeltaPresence(at_most=0.9))


def test_what_was_given_in_python_is_told_and_not_written():
    wanted = DeltaPresence(population=drawn(1)[0])
    assert wanted == wanted.replace()
    assert wanted.to_dict()["population"].endswith("people, given in Python")
    with pytest.raises(AnonymizationError):
        DeltaPresence(**{name: one for name, one in wanted.to_dict().items() if name != "name"}).checks(
            table(drawn(1)[1])
        )


@pytest.mark.slow
@pytest.mark.parametrize("method", [Mondrian, LocalRecoding, OptimalRecoding])
def test_releases_of_adult_keep_the_plain_definition(method):
    people = adult(["age", "sex"], "occupation").frame
    is_old = people["age"].to_numpy() > 60
    inside = np.random.default_rng(0).random(len(people)) < np.where(is_old, 0.8, 0.3)
    frame = people[inside].reset_index(drop=True)
    data = Microdata(frame, {"age": "quasi-identifier", "sex": "quasi-identifier", "occupation": "sensitive"})
    release = method([KAnonymity(k=5), DeltaPresence(at_most=0.6, population=people)]).anonymize(data)
    counts = [one.groupby(["age", "sex"]).size() for one in (frame, people)]
    cells = release.tables()["release"][["age", "sex"]].astype(str).drop_duplicates()
    assert len(cells) > 3
    for age, sex in cells.itertuples(index=False):
        in_table, in_population = (
            sum(n for (a, s), n in one.items() if of_cell(age, a) and of_cell(sex, s)) for one in counts
        )
        assert in_table / in_population <= 0.6
