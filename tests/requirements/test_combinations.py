"""What all requirements share: merging, several at once, several attributes, and the same answer inside kernels."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anoncore import Hierarchy, Microdata, Partition
from anoncore.base.errors import DataError
from anoncore.kernels.checking import all_hold
from anoncore.kernels.compiler import kernel
from anoncore.requirements import (
    REQUIREMENTS,
    BetaLikeness,
    CheckSet,
    DistinctDiversity,
    EntropyDiversity,
    FrequencyDiversity,
    KAnonymity,
    RecursiveDiversity,
    TCloseness,
    VarianceDiversity,
)
from tests.requirements.tables import misleading_index

few = settings(max_examples=30)

DISEASES = ("flu", "cold", "ulcer", "cancer")
TREE = Hierarchy.from_nested({"short": ["flu", "cold"], "long": {"stomach": ["ulcer"], "other": ["cancer"]}})


@st.composite
def hospitals(draw):
    """A numeric and a nominal sensitive attribute with missing values, some tables with a protected set."""
    n_rows = draw(st.integers(2, 16))

    def of(values):
        return draw(st.lists(st.sampled_from(values), min_size=n_rows, max_size=n_rows))

    salary = of([10.0, 20.0, 40.0, None])
    salary[0] = 10.0
    frame = pd.DataFrame({"salary": pd.Series(salary, dtype="float64"), "disease": pd.Series(of((*DISEASES, None)))})
    frame.index = pd.Index(misleading_index(n_rows))
    protected = {"disease": {"ulcer"}} if draw(st.booleans()) and (frame["disease"] == "ulcer").any() else None
    data = Microdata(
        frame,
        roles={"salary": "sensitive", "disease": "sensitive"},
        kinds={"salary": "numeric", "disease": "nominal"},
        hierarchies={"disease": TREE},
        sensitive_values=protected,
    )
    group = np.unique(of([0, 1, 2]), return_inverse=True)[1]
    return data, Partition(group.astype(np.int32))


requirements = st.one_of(
    st.integers(1, 6).map(lambda k: KAnonymity(k=k)),
    st.integers(1, 4).map(lambda l: DistinctDiversity(l=l)),
    st.sampled_from([1.0, 1.5, 2.0, 3.0]).map(lambda l: FrequencyDiversity(l=l)),
    st.sampled_from([1.0, 1.7, 2.0, 3.0]).map(lambda l: EntropyDiversity(l=l)),
    st.tuples(st.sampled_from([0.5, 1.0, 2.0]), st.integers(1, 4)).map(lambda p: RecursiveDiversity(c=p[0], l=p[1])),
    st.sampled_from([0.0, 0.4, 1.0, 3.0]).map(lambda beta: BetaLikeness(beta=beta)),
    st.tuples(st.sampled_from([0.1, 0.25, 0.5]), st.sampled_from(["ordered", "equal"])).map(
        lambda p: TCloseness(t=p[0], ground=p[1])
    ),
    st.just(TCloseness(t=0.25, ground="hierarchical", attribute="disease")),
    st.sampled_from([0.0, 25.0, 100.0]).map(lambda v: VarianceDiversity(v=v, attribute="salary")),
)


@few
@given(hospitals(), requirements)
def test_the_union_of_two_groups_is_no_worse_than_the_worse_of_them(hospital, requirement):
    data, partition = hospital
    assert requirement.monotone_under_merging
    if partition.n_groups < 2:
        return
    merged = Partition(np.maximum(partition.group - 1, 0))
    for check in requirement.checks(data):
        before, after = check.levels(partition), check.levels(merged)
        if requirement.comparison == 0:
            assert after[0] >= min(before[:2]) - 1e-9
        else:
            assert after[0] <= max(before[:2]) + 1e-9
        assert check.holds(after)[0] or not check.holds(before)[:2].all()


@kernel
def kernel_answer(checks, counts, size):
    """`all_hold` as a search kernel calls it."""
    return all_hold(checks, counts, size)


@few
@given(hospitals(), st.lists(requirements, max_size=4))
def test_kernels_get_the_same_answer_as_the_final_check(hospital, chosen):
    data, partition = hospital
    checks = CheckSet(chosen, data)
    for group in range(partition.n_groups):
        rows = partition.rows(group)
        counts = [np.bincount(view.codes[rows], minlength=view.size) for view in checks.views]
        inside = kernel_answer(checks.kernel, np.concatenate([*counts, np.zeros(0)]).astype(np.int64), len(rows))
        outside = all(check.holds(check.levels(partition))[group] for check in checks.checks)
        assert inside == outside


@few
@given(hospitals(), requirements)
def test_no_group_of_fewer_than_the_minimum_rows_satisfies_a_requirement(hospital, requirement):
    data, partition = hospital
    for check in requirement.checks(data):
        holding = partition.sizes[check.holds(check.levels(partition))]
        assert (holding >= requirement.minimum_rows()).all()


@few
@given(hospitals(), requirements, st.randoms(use_true_random=False))
def test_row_order_and_labels_do_not_matter(hospital, requirement, random):
    data, partition = hospital
    order = list(range(data.n_rows))
    random.shuffle(order)
    frame = data.frame.iloc[order].reset_index(drop=True)
    other = Microdata(
        frame,
        roles=data.roles,
        kinds={name: data.domain[name].kind for name in data.attributes},
        hierarchies=data.hierarchies,
        sensitive_values=data.sensitive_values,
    )
    for one, two in zip(requirement.checks(data), requirement.checks(other), strict=True):
        np.testing.assert_allclose(two.levels(Partition(partition.group[order])), one.levels(partition), atol=1e-12)


def test_a_requirement_without_an_attribute_covers_every_sensitive_one():
    frame = pd.DataFrame({"a": ["x", "y"], "b": ["u", "u"], "c": [1, 2]})
    data = Microdata(frame, roles={"a": "sensitive", "b": "sensitive"})
    assert [check.attribute for check in DistinctDiversity(l=2).checks(data)] == ["a", "b"]
    assert [check.attribute for check in DistinctDiversity(l=2, attribute="b").checks(data)] == ["b"]
    assert [check.attribute for check in KAnonymity(k=2).checks(data)] == [None]


def test_no_sensitive_attribute_is_said():
    with pytest.raises(DataError, match="tag the one that must not be learned"):
        DistinctDiversity(l=2).checks(Microdata(pd.DataFrame({"a": ["x"]})))


@pytest.mark.parametrize("name", list(REQUIREMENTS))
def test_every_requirement_survives_its_serialization(name):
    one = VarianceDiversity(v=2) if name == "variance-diversity" else REQUIREMENTS[name]()
    assert REQUIREMENTS.build(one.to_dict()) == one
    assert one.title in one.label()
