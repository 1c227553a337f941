"""The parameters of methods by name, and the labels that are made of them."""

from __future__ import annotations

import pytest

from anoncore.algorithms import ALGORITHMS, LocalSuppression, Mondrian, Slicing, Suppression
from anoncore.requirements import DistinctDiversity, FrequencyDiversity, KAnonymity
from anoncore.search.parameters import method_label, parameters, varying_parameters


def test_requirements_that_stand_twice_and_methods_inside_have_names_of_their_own():
    method = Suppression(
        method=Mondrian(
            requirements=[
                KAnonymity(k=4),
                FrequencyDiversity(l=2, attribute="a"),
                FrequencyDiversity(l=3, attribute="b"),
            ]
        )
    )
    inside = "suppression.method.mondrian"
    found = parameters(method)
    assert found["suppression.method"] == "mondrian"
    assert found[f"{inside}.split"] == "median"
    assert found[f"{inside}.k-anonymity.k"] == 4
    assert found[f"{inside}.frequency-diversity.attribute"] == "a"
    assert found[f"{inside}.frequency-diversity 2.l"] == 3.0
    assert "frequency-diversity 2 l = 3.0 attribute = b" in method_label(method)


def test_lists_and_tables_fit_into_a_cell_and_seeds_are_no_parameter():
    slicing = Slicing(l=2, attribute_columns=[["age", "sex"], ["disease"]])
    assert parameters(slicing)["slicing.attribute_columns"] == '[["age", "sex"], ["disease"]]'
    assert parameters(LocalSuppression(weights={"age": 2.0}))["local-suppression.weights"] == '{"age": 2.0}'
    assert parameters(LocalSuppression())["local-suppression.weights"] is None
    slicing = Slicing(l=2, column_requirements=[DistinctDiversity(l=2)])
    assert parameters(slicing)["slicing.column_requirements"] == '[{"name": "distinct-diversity", "l": 2}]'


@pytest.mark.parametrize("name", list(ALGORITHMS))
def test_every_field_but_seeds_is_a_parameter(name: str):
    kind = ALGORITHMS[name]
    found = parameters(kind())
    fields = [field for field in kind.model_fields if field not in ("seed", "requirements")]
    assert [
        one.removeprefix(f"{name}.") for one in found if one.startswith(f"{name}.") and one.count(".") == 1
    ] == fields
    assert not any(one.endswith(".seed") for one in found)


def test_what_varies_is_told_although_it_is_at_its_default():
    plain, strict = Mondrian(), Mondrian(strict=True)
    varying = varying_parameters([plain, strict])
    assert varying == ("mondrian.strict",)
    assert method_label(plain) == "mondrian (k-anonymity k = 5)"
    assert method_label(plain, varying) == "mondrian (strict = False, k-anonymity k = 5)"
