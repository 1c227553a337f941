"""Requirements and measures equal their plain definitions on random tables, and everything registered has one."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from anoncore import privacy, utility
from anoncore.measures.criteria import CRITERIA, value_of
from anoncore.measures.evaluation import MEASURES
from anoncore.privacy.levels import LEVELS, grounds
from anoncore.requirements import (
    REQUIREMENTS,
    BetaLikeness,
    DeltaPresence,
    DistinctDiversity,
    EntropyDiversity,
    FrequencyDiversity,
    KAnonymity,
    RecursiveDiversity,
    Requirement,
    TCloseness,
    VarianceDiversity,
)

from . import definitions
from .tables import NUMBERS, Table, tables

TESTS = Path(__file__).parents[1]
ELSEWHERE = {
    "foreground-excess": "attacks/test_foreground.py",
    "strongest-attribute": "attacks/test_strongest.py",
    "attacks.definetti": "attacks/test_definetti.py",
    "attacks.strongest": "attacks/test_strongest.py",
    "attacks.memorization": "attacks/test_memorizing.py",
    "membership-belief": "independent/test_membership.py",
    "median-query-error": "utility/test_queries.py",
    "query-error": "utility/test_queries.py",
    "association-error": "utility/test_associations.py",
    "attacks.foreground_knowledge": "attacks/test_foreground.py",
    "attacks.foreground_knowledge_estimate": "attacks/test_foreground_sets.py",
    "attacks.join_likelihood": "independent/test_membership.py",
    "attacks.matching_buckets": "independent/test_membership.py",
    "attacks.membership": "independent/test_membership.py",
    "attacks.downcoding": "attacks/test_downcoding.py",
    "attacks.refinement": "attacks/test_refinement.py",
    "attacks.individual_risk": "attacks/test_uniqueness.py",
    "attacks.inference": "attacks/test_control.py",
    "attacks.linkability": "attacks/test_control.py",
    "attacks.population_uniqueness": "attacks/test_uniqueness.py",
    "attacks.singling_out": "attacks/test_control.py",
    "attacks.shifted_dates": "attacks/test_shifted_dates.py",
    "attacks.special_uniques": "attacks/test_special_uniques.py",
    "privacy.linked_k": "privacy/test_linked_rows.py",
    "attacks.minimality": "attacks/test_minimality.py",
    "attacks.posterior_emd": "algorithms/test_slicing.py",
    "attacks.reidentification": "independent/test_population.py",
    "attacks.region_membership": "independent/test_membership.py",
    "privacy.closeness": "privacy/test_emd.py",
    "privacy.guarantees": "privacy/test_guarantees.py",
    "privacy.joins": "independent/test_joins.py",
    "privacy.pair_levels": "independent/test_joins.py",
    "privacy.personal_guarantees": "algorithms/test_attribute_proposal.py",
    "privacy.require_safe_joins": "independent/test_joins.py",
    "privacy.all_but_secrets": "privacy/test_tag_leaks.py",
    "privacy.tag_leaks": "privacy/test_tag_leaks.py",
    "privacy.transport": "privacy/test_transport.py",
    "privacy.unsafe_pairs": "independent/test_joins.py",
    "privacy.worst_joins": "independent/test_joins.py",
    "utility.association_error": "utility/test_associations.py",
    "utility.classification": "utility/test_learning.py",
    "utility.classification_estimate": "utility/test_learning_estimate.py",
    "utility.query_error": "utility/test_queries.py",
    "two-way-error": "utility/test_two_way.py",
    "utility.two_way_error": "utility/test_two_way.py",
    "utility.two_way_error_bound": "utility/test_two_way_bound.py",
}
"""What has its second definition in a file of its own, or beside its other tests."""

HERE = {
    "attacks.attribute_disclosure",
    "attacks.sensitive_posterior",
    "privacy.check",
    "privacy.emd",
    "privacy.profile",
    "utility.average_group_size",
    "utility.conditional_entropy",
    "utility.discernibility",
    "utility.information_loss",
    "utility.rmse",
}
"""Measures that are compared in this file, alone or as the criterion that is read from them."""


def close(found: float, expected: float) -> bool:
    return bool(np.isclose(found, expected, rtol=1e-9, atol=1e-9)) or found == expected


def requirements_of(table: Table) -> list[Requirement]:
    data = table.data()
    found: list[Requirement] = [
        KAnonymity(k=3),
        DistinctDiversity(l=2),
        FrequencyDiversity(l=1.5),
        EntropyDiversity(l=1.5),
        RecursiveDiversity(c=1.3, l=2),
        BetaLikeness(beta=0.4),
        DeltaPresence(at_most=0.9),
        TCloseness(t=0.3, ground="equal"),
        TCloseness(t=0.3, ground="ordered"),
    ]
    if table.secret in table.paths:
        # On a table of one order only: ranks of a hierarchy's leaves have no plain counterpart here.
        found[-1] = TCloseness(t=0.3, ground="hierarchical")
    elif table.secret in table.numeric:
        if data.domain[table.secret].values:
            found += [VarianceDiversity(v=0.5), TCloseness(t=0.3, ground="interval")]
    else:
        found.pop()
    return found


@pytest.mark.slow
@pytest.mark.parametrize("numbers", NUMBERS)
def test_levels_and_verdicts_of_every_requirement(numbers):
    for table in tables(numbers):
        release = table.releases()["generalized"]
        for requirement in requirements_of(table):
            level = definitions.REQUIREMENTS[requirement.name](requirement.model_dump())
            expected = [level(table, rows) for rows in table.groups()]
            (check,) = requirement.checks(release.data)
            found = check.levels(release.partition)
            assert all(map(close, found, expected)), (requirement, table)
            failing = [group for group, holds in enumerate(check.holds(np.array(expected))) if not holds]
            assert [one.group for one in privacy.check(release, [requirement])] == failing


@pytest.mark.slow
@pytest.mark.parametrize("numbers", NUMBERS)
def test_every_level_of_a_profile(numbers):
    for table in tables(numbers):
        for release in table.releases().values():
            profile = privacy.profile(release, l=2)
            for name, level in definitions.LEVELS.items():
                ground = name.removeprefix("t-")
                if name.startswith("t-") and ground not in grounds(release, table.secret):
                    continue
                expected = [level(table, rows) for rows in table.groups()]
                assert all(map(close, profile[table.secret].levels[name], expected)), (name, table)
                if name.startswith("t-"):
                    assert all(map(close, privacy.emd(release, table.secret, ground=ground), expected)), (name, table)


@pytest.mark.slow
@pytest.mark.parametrize("numbers", NUMBERS)
def test_every_criterion(numbers):
    for table in tables(numbers):
        for form, release in table.releases().items():
            for name, definition in definitions.CRITERIA.items():
                found = value_of(release, name)
                assert close(found, definition(table, form)), (name, form, table)


@pytest.mark.parametrize("numbers", NUMBERS)
def test_homogeneity_of_a_target(numbers):
    for table in tables(numbers):
        for release in table.releases().values():
            found = utility.conditional_entropy(release, table.secret)
            assert close(found, definitions.conditional_entropy(table)), table
            known = [value for value in table.columns[table.secret] if value is not None]
            if table.secret in table.numeric and known:
                found = utility.rmse(release, table.secret)
                assert found == pytest.approx(definitions.rmse(table), rel=1e-7, abs=1e-7), table


def test_everything_registered_has_a_second_definition():
    advice = "define it in tests/independent/definitions.py, or name the test with its plain twin in ELSEWHERE"
    assert set(REQUIREMENTS) == set(definitions.REQUIREMENTS), advice
    assert set(LEVELS) == set(definitions.LEVELS), advice
    assert set(CRITERIA) <= {*definitions.CRITERIA, *ELSEWHERE}, advice
    assert set(MEASURES) <= HERE | set(ELSEWHERE), advice
    assert set(definitions.CRITERIA) <= set(CRITERIA)
    assert set(ELSEWHERE) <= {*CRITERIA, *MEASURES}


@pytest.mark.parametrize("name", ELSEWHERE)
def test_what_is_defined_elsewhere_is_tested_there(name):
    text = (TESTS / ELSEWHERE[name]).read_text(encoding="utf-8")
    sources = {
        "foreground-excess": "foreground_knowledge",
        "strongest-attribute": "strongest",
        "median-query-error": "query_error",
        "membership-belief": "membership",
    }
    source = sources.get(name, name)
    word = source.rpartition(".")[2].replace("-", "_")
    assert re.search(rf"\b{word}\(", text), f"{ELSEWHERE[name]} does not call {word}"
