"""Six people in two classes: every figure is derived here by hand."""

from math import log2, sqrt

import numpy as np
import pandas as pd
import pytest

from anoncore import Exact, Fragment, Hierarchy, Microdata, Partition, Release, privacy, utility
from anoncore.algorithms import Mondrian
from anoncore.algorithms.base import generalized_release
from anoncore.base.pandas_versions import TEXT
from anoncore.requirements import DistinctDiversity, KAnonymity, TCloseness

PEOPLE = pd.DataFrame(
    [
        ("Ann", 20, "Ulm", "flu", 1000),
        ("Bob", 25, "Bonn", "flu", 2000),
        ("Cid", 30, "Ulm", "gout", 3000),
        ("Dan", 50, "Bonn", "flu", 4000),
        ("Eve", 60, "Bonn", "gout", 5000),
        ("Fay", 70, "Bonn", "cough", 6000),
    ],
    columns=["name", "age", "town", "illness", "pay"],
)
ROLES = {
    "name": "identifier",
    "age": "quasi-identifier",
    "town": "quasi-identifier",
    "illness": "sensitive",
    "pay": "sensitive",
}


@pytest.fixture(scope="module")
def release():
    """The three young people are class 0, the three old ones class 1."""
    data = Microdata(PEOPLE, ROLES)
    made = generalized_release(Mondrian(), data, Partition(np.array([0, 0, 0, 1, 1, 1])))
    return Release(made.data, made.fragments)


def test_published_table(release):
    # Within a class by illness (cough, flu, gout), then pay.
    expected = pd.DataFrame(
        [
            ("20-30", "{Bonn, Ulm}", "flu", 1000),
            ("20-30", "{Bonn, Ulm}", "flu", 2000),
            ("20-30", "{Bonn, Ulm}", "gout", 3000),
            ("50-70", "Bonn", "cough", 6000),
            ("50-70", "Bonn", "flu", 4000),
            ("50-70", "Bonn", "gout", 5000),
        ],
        columns=["age", "town", "illness", "pay"],
    )
    pd.testing.assert_frame_equal(release.tables()["release"], expected.astype({"age": TEXT, "town": TEXT}))


def test_mondrian_finds_the_two_classes(release):
    # Known by age alone: the median cut between 30 and 50 leaves three and three rows, which k = 3 lets no one cut.
    data = Microdata(PEOPLE, {**ROLES, "town": "insensitive"})
    for split in ("median", "loss"):
        found = Mondrian(requirements=[KAnonymity(k=3)], split=split).anonymize(data)
        assert found.recoding("age").texts().tolist() == ["20-30"] * 3 + ["50-70"] * 3


def test_information_loss(release):
    # Ages span 20 to 70: (30 - 20) / 50 and (70 - 50) / 50. Two towns: (2 - 1) / (2 - 1) and 0.
    assert release.recoding("age").loss() == pytest.approx([0.2, 0.4])
    assert release.recoding("town").loss() == pytest.approx([1, 0])
    loss = utility.information_loss(release)
    # Age (3 * 0.2 + 3 * 0.4) / 6, town 3 / 6, both (0.3 + 0.5) / 2.
    assert loss.per_attribute == pytest.approx({"age": 0.3, "town": 0.5})
    assert loss.per_class == pytest.approx([0.6, 0.2])
    assert loss == pytest.approx(0.4)


def test_group_sizes(release):
    assert utility.discernibility(release) == 3**2 + 3**2
    assert utility.average_group_size(release) == 3


def test_distances_from_the_table(release):
    # Illness (cough, flu, gout): table 1/6 3/6 2/6; classes 0 2/3 1/3 and 1/3 1/3 1/3.
    # Equal: half the sum of differences, (1/6 + 1/6 + 0) / 2 in both.
    assert privacy.emd(release, "illness", ground="equal") == pytest.approx([1 / 6, 1 / 6])
    # Ordered: |0 - 1/6| + |2/3 - 4/6| and |1/3 - 1/6| + |2/3 - 4/6|, over m - 1 = 2.
    assert privacy.emd(release, "illness", ground="ordered") == pytest.approx([1 / 12, 1 / 12])
    # Pay, six values of 1/6; class 0 has 1/3 on the lowest three: 1/6 + 2/6 + 3/6 + 2/6 + 1/6 = 9/6, over 5.
    assert privacy.emd(release, "pay", ground="ordered") == pytest.approx([0.3, 0.3])


def test_levels_of_diversity(release):
    levels = privacy.profile(release).fragments[0].attributes["illness"]
    assert levels.distinct.tolist() == [2, 3]
    # exp(entropy) of 2/3, 1/3 is 3 / 2^(2/3).
    assert levels.entropy == pytest.approx([3 / 2 ** (2 / 3), 3])
    assert levels.frequency == pytest.approx([3 / 2, 3])


def test_what_is_left_to_predict(release):
    # Entropy in bits of 2/3, 1/3 is log2(3) - 2/3, of thirds log2(3); half of the rows each.
    assert utility.conditional_entropy(release, "illness") == pytest.approx(log2(3) - 1 / 3)
    # Pay in steps of 1000 around the class mean: variance 1000^2 * 2/3 in both classes.
    assert utility.rmse(release, "pay") == pytest.approx(1000 * sqrt(2 / 3))


def test_violations(release):
    assert privacy.check(release, [KAnonymity(k=3), TCloseness(t=0.3, ground="ordered", attribute="pay")]) == ()
    broken = privacy.check(release, [DistinctDiversity(l=3, attribute="illness")])
    assert [(one.group, one.size, one.level) for one in broken] == [(0, 3, 2)]
    assert [one.group for one in privacy.check(release, [TCloseness(t=0.29, ground="ordered", attribute="pay")])] == [
        0,
        1,
    ]


def test_hierarchical_distance():
    # Values a a | b c in two classes; a and b are siblings (distance 1/2), c joins at the top (1). Table 1/2 1/4 1/4.
    # Class 0 has 1 0 0: 1/4 to b and 1/4 to c, 1/8 + 1/4. Class 1 has 0 1/2 1/2: the same way back.
    data = Microdata(
        pd.DataFrame({"s": ["a", "a", "b", "c"]}),
        {"s": "sensitive"},
        hierarchies={"s": Hierarchy.from_nested({"ab": ["a", "b"], "only c": ["c"]})},
    )
    partition = Partition(np.array([0, 0, 1, 1]))
    fragment = Fragment("release", partition, {"s": Exact(data.domain["s"], partition, data.codes["s"])})
    distance = privacy.emd(Release(data, (fragment,)), "s", ground="hierarchical")
    assert distance == pytest.approx([0.375, 0.375])
