"""Uniqueness in the population, individual risk: against plain definitions, published figures, a real population."""

from __future__ import annotations

from math import log

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad

from anoncore import DataError, Microdata, ParameterError, Recipe, attacks
from anoncore.algorithms import Anatomy, Mondrian
from anoncore.attacks.individual_risk import benedetti_franconi
from anoncore.attacks.population_uniqueness import estimates
from anoncore.attacks.uniqueness_estimates import Classes, dankar, shlosser, slide_parameters
from anoncore.requirements import KAnonymity
from tests.attacks.naive_uniqueness import (
    chance_of_class,
    pitman_likelihood,
    pitman_uniques,
    plain_risk,
    plain_shlosser,
    plain_zayatz,
)
from tests.shared_data import require

some = settings(max_examples=30)


def sample(seed: int, n_people: int = 3_000, fraction: float = 0.2) -> tuple[np.ndarray, int]:
    """The classes of a sample of people of kinds as uneven as those of real tables, and the population's size."""
    rng = np.random.default_rng(seed)
    kind = (rng.pareto(0.7, n_people) * 20).astype(np.int64) % (n_people // 2)
    drawn = np.bincount(rng.permutation(kind)[: int(n_people * fraction)])
    return drawn[drawn > 0], n_people


@pytest.mark.parametrize("fraction", [0.05, 0.1, 0.3, 0.7])
@pytest.mark.parametrize("seed", range(3))
def test_zayatz_is_bayes_rule_with_whole_numbers(seed, fraction):
    sizes, people = sample(seed, fraction=fraction)
    assert estimates(Classes.of(sizes), people)["zayatz"] == pytest.approx(plain_zayatz(sizes, people), rel=1e-9)


@pytest.mark.parametrize("fraction", [0.05, 0.1, 0.3])
@pytest.mark.parametrize("seed", range(2))
def test_pitman_is_where_the_likelihood_is_largest(seed, fraction):
    sizes, people = sample(seed, n_people=1_000, fraction=fraction)
    assert estimates(Classes.of(sizes), people)["pitman"] == pytest.approx(pitman_uniques(sizes, people), rel=1e-6)


def test_the_likelihood_of_pitmans_formula_by_hand():
    # Classes of 2 and 1: (theta + alpha) * (1 - alpha) / ((theta + 1) (theta + 2)), but for what no parameter changes.
    theta, alpha = 2.0, 0.25
    assert pitman_likelihood(np.array([2, 1]), theta, alpha) == pytest.approx(log(2.25 * 0.75 / (3 * 4)))


@pytest.mark.parametrize("fraction", [0.05, 0.2, 0.5])
def test_the_slide_negative_binomial_model_says_the_classes_that_were_seen(fraction):
    sizes, people = sample(1, fraction=fraction)
    classes = Classes.of(sizes)
    number = plain_shlosser(sizes, fraction)
    assert shlosser(classes, fraction) == pytest.approx(number, rel=1e-9)
    found = slide_parameters(classes, number, fraction)
    assert found is not None
    alpha, beta = found
    for size in (1, 2):
        seen = int((sizes == size).sum())
        assert number * chance_of_class(size, alpha, beta, fraction) == pytest.approx(seen, rel=1e-7)
    assert estimates(classes, people)["snb"] == pytest.approx(number * beta**alpha, rel=1e-9)


def test_dankars_rule():
    assert dankar(0.1, 5.0, 9.0, 1.0) == "pitman"
    assert dankar(0.1, 5.0, float("nan"), 1.0) == "zayatz"
    assert dankar(0.11, 5.0, 9.0, 4.0) == "snb"
    assert dankar(0.11, 5.0, 9.0, 6.0) == "zayatz"
    assert dankar(0.11, 5.0, 9.0, float("nan")) == "zayatz"


@some
@given(st.lists(st.integers(1, 12), min_size=2, max_size=40), st.floats(0.01, 0.99))
def test_estimates_of_any_sample_are_numbers_or_not_there(sizes, fraction):
    classes = Classes.of(np.array(sizes))
    for name, estimate in estimates(classes, classes.people / fraction).items():
        assert np.isnan(estimate) or estimate >= 0, name
    assert np.isfinite(estimates(classes, classes.people / fraction)["zayatz"])


def test_a_sample_in_which_everybody_is_unique_or_nobody():
    alone = attacks.population_uniqueness(release_of([10, 20, 30, 40, 50]), fraction=0.05)
    assert np.isnan(alone.pitman)
    assert "Pitman's model has no solution" in " ".join(alone.notes)
    assert alone.method.startswith("Zayatz")
    crowd = attacks.population_uniqueness(release_of([10, 10, 30, 30]), fraction=0.05)
    assert crowd.share == 0 == crowd.share.baseline
    assert np.isnan(crowd.stays)


def release_of(ages, k=1, **more):
    data = Microdata(pd.DataFrame({"age": ages, **more}), roles={"age": "quasi-identifier"})
    return Mondrian(requirements=[KAnonymity(k=k)]).anonymize(data)


def test_a_population_is_counted():
    release = release_of([20, 20, 30, 40, 50])
    people = Microdata(pd.DataFrame({"age": [20, 20, 20, 30, 30, 40, 50, 60]}), roles={"age": "quasi-identifier"})
    found = attacks.population_uniqueness(release, population=people)
    # 30 has a twin in the population; 40 and 50 have not.
    assert found.counted == 2 / 5
    assert found.share.baseline == 3 / 5
    assert found.fraction == 5 / 8
    whole = attacks.population_uniqueness(release)
    assert whole.share == 3 / 5
    assert "taken for the population" in whole.notes[-1]


def test_the_fragment_that_tells_most_counts():
    frame = pd.DataFrame({"age": [20, 20, 30, 40], "sex": list("fmff"), "ill": list("abab")})
    data = Microdata(frame, roles={"age": "quasi-identifier", "sex": "quasi-identifier", "ill": "sensitive"})
    found = attacks.population_uniqueness(Anatomy(l=2, seed=0).anonymize(data))
    assert found.share == 1


def test_bad_input_is_named():
    release = release_of([20, 20, 30])
    with pytest.raises(ParameterError, match="not both"):
        attacks.population_uniqueness(release, fraction=0.5, population=release.data)
    for fraction in (0.0, 1.5, float("nan")):
        with pytest.raises(ParameterError, match="sampling fraction is the share"):
            attacks.population_uniqueness(release, fraction=fraction)
    few = Microdata(pd.DataFrame({"age": [20]}), roles={"age": "quasi-identifier"})
    with pytest.raises(DataError, match=r"population has 1 people and the table 3 rows"):
        attacks.population_uniqueness(release, population=few)
    with pytest.raises(DataError, match="lacks the quasi-identifier 'age'"):
        attacks.population_uniqueness(release, population=Microdata(pd.DataFrame({"sex": list("fmfm")})))


# The table francdat of sdcMicro: classes of its four keys, sampling weights, and the risks that its manual prints.
FRANCDAT = pd.DataFrame(
    {
        "Key1": [1, 1, 1, 3, 4, 4, 6, 1],
        "Key2": [2, 2, 2, 3, 3, 3, 2, 2],
        "Key3": [5, 1, 1, 1, 1, 1, 1, 5],
        "Key4": [1, 1, 1, 5, 4, 1, 5, 1],
        "w": [18, 45.5, 39, 17, 541, 8, 5, 92],
    }
)
PRINTED = [0.017, 0.022, 0.022, 0.177, 0.012, 0.297, 0.402, 0.017]


def test_individual_risk_is_that_of_sdcmicro_on_its_own_example():
    roles = dict.fromkeys(["Key1", "Key2", "Key3", "Key4"], "quasi-identifier")
    release = Mondrian(requirements=[KAnonymity(k=1)]).anonymize(Microdata(FRANCDAT, roles))
    found = attacks.individual_risk(release, weights="w")
    assert found.class_size.tolist() == [2, 2, 2, 1, 1, 1, 1, 2]
    assert found.population_size.tolist() == [110, 84.5, 84.5, 17, 541, 8, 5, 110]
    assert found.risk.round(3).tolist() == PRINTED
    assert found.links == pytest.approx(found.risk.sum())
    assert found.largest == found.risk.max()
    assert found.largest.baseline == 1


@some
@given(st.integers(1, 60), st.floats(0.02, 1.0))
def test_individual_risk_is_the_mean_of_one_over_the_class(records, probability):
    found = benedetti_franconi(np.array([float(records)]), np.array([records / probability]))[0]
    assert found == pytest.approx(plain_risk(records, probability), rel=1e-9)


@pytest.mark.parametrize("records", [1, 2, 5, 19, 20, 1_000, 50_000])
@pytest.mark.parametrize("probability", [1 - 1e-9, 0.5, 1e-3, 1e-7])
def test_individual_risk_of_large_classes_and_small_fractions(records, probability):
    rest = 1 - probability
    integral = quad(
        lambda u: probability * u ** (records - 1) / (probability + rest * u),
        *(0, 1),
        points=[min(0.5, probability), min(0.9, 10 * probability)],
        epsabs=0,
        epsrel=1e-11,
        limit=500,
    )[0]
    found = benedetti_franconi(np.array([float(records)]), np.array([records / probability]))[0]
    assert found == pytest.approx(integral, rel=1e-8)


def test_individual_risk_by_a_fraction_and_without_one():
    release = release_of([20, 20, 30])
    assert attacks.individual_risk(release).risk.tolist() == [0.5, 0.5, 1.0]
    found = attacks.individual_risk(release, fraction=0.1)
    assert found.population_size.tolist() == [20, 20, 10]
    assert found.risk[2] == pytest.approx(log(10) / 9)


def test_wrong_weights_are_named():
    release = release_of([20, 20, 30], w=[10.0, None, 3.0], name=["a", "b", "c"], small=[1, 0.5, 2])
    with pytest.raises(DataError, match=r"'w' says how many people .* row 1 \(counted from 0\)"):
        attacks.individual_risk(release, weights="w")
    with pytest.raises(DataError, match="row 0"):
        attacks.individual_risk(release, weights="name")
    with pytest.raises(DataError, match="row 1"):
        attacks.individual_risk(release, weights="small")
    with pytest.raises(DataError, match="no column 'weight'"):
        attacks.individual_risk(release, weights="weight")
    with pytest.raises(ParameterError, match="not both"):
        attacks.individual_risk(release, weights="w", fraction=0.5)


def test_a_recipe_names_a_population_and_takes_its_path_along(tmp_path):
    (tmp_path / "tables").mkdir()
    pd.DataFrame({"age": [20, 20, 30, 40, 50], "ill": list("aabab")}).to_csv(
        tmp_path / "tables/people.csv", index=False
    )
    pd.DataFrame({"age": [20, 20, 20, 30, 30, 40, 50, 60]}).to_csv(tmp_path / "tables/town.csv", index=False)
    recipe = Recipe.loads(
        """
        measures = [
            { name = "attacks.population_uniqueness", population = { path = "tables/town.csv" } },
            { name = "attacks.reidentification", population = { path = "tables/town.csv" } },
            { name = "attacks.individual_risk", fraction = 0.5 },
        ]
        source = { path = "tables/people.csv" }
        roles = { age = "quasi-identifier", ill = "sensitive" }
        algorithm = { name = "mondrian", requirements = [{ name = "k-anonymity", k = 1 }] }
        """,
        folder=tmp_path,
    )
    (tmp_path / "other").mkdir()
    recipe.save(tmp_path / "other/recipe.toml")
    for one in (recipe, Recipe.load(tmp_path / "other/recipe.toml")):
        found = one.run().measures
        assert found["attacks.population_uniqueness"].counted == 2 / 5
        assert found["attacks.reidentification"].journalist.largest == 1
        assert found["attacks.individual_risk"].population_size.tolist() == [4, 4, 2, 2, 2]
    assert Recipe.loads(recipe.dumps(), folder=tmp_path) == recipe


@pytest.mark.slow
@pytest.mark.parametrize("fraction", [0.01, 0.1, 0.5])
def test_the_share_of_a_real_population_is_near_what_is_estimated(fraction):
    """The American Community Survey as the population; benchmarks/uniqueness.py has the errors of 200 samples."""
    people = pd.read_csv(require("acs_national_2019.csv.gz"), dtype=str)[["AGEP", "SEX", "MSP", "RAC1P", "EDU"]]
    everybody = Microdata(people, dict.fromkeys(people.columns, "quasi-identifier"))
    drawn = np.random.default_rng(3).permutation(len(people))[: int(len(people) * fraction)]
    data = Microdata(people.iloc[drawn], dict.fromkeys(people.columns, "quasi-identifier"))
    release = Mondrian(requirements=[KAnonymity(k=1)]).anonymize(data)
    found = attacks.population_uniqueness(release, population=everybody)
    true = (people.value_counts() == 1).sum() / len(people)
    assert found.counted == pytest.approx(true, abs=4 * np.sqrt(true / len(drawn)))
    assert found.share == pytest.approx(true, rel=0.6)
