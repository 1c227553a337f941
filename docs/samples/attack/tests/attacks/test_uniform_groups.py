"""The homogeneity attack by hand, and where no group can be uniform."""

import pandas as pd

from anoncore import Microdata, attacks
from anoncore.algorithms import Anatomy, Mondrian
from anoncore.requirements import KAnonymity

PEOPLE = pd.DataFrame({"age": [20, 22, 30, 31], "illness": ["flu", "flu", "gout", "cold"]})
DATA = Microdata(PEOPLE, {"age": "quasi-identifier", "illness": "sensitive"})


def test_one_of_two_groups_is_uniform():
    release = Mondrian(requirements=[KAnonymity(k=2)]).anonymize(DATA)
    found = attacks.homogeneity(release, "illness")
    assert found == 0.5
    assert found.baseline == 0.0


def test_anatomy_has_no_uniform_group():
    assert attacks.homogeneity(Anatomy(l=2, seed=1).anonymize(DATA), "illness") == 0.0
