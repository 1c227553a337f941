"""Coarsened cells by hand: half of them, none of them, and where it is offered."""

import pandas as pd

from anoncore import Microdata, utility
from anoncore.algorithms import Anatomy, Mondrian
from anoncore.measures import value_of
from anoncore.requirements import KAnonymity

PEOPLE = pd.DataFrame({"age": [20, 22, 30, 30], "illness": ["flu", "gout", "flu", "gout"]})
DATA = Microdata(PEOPLE, {"age": "quasi-identifier", "illness": "sensitive"})


def test_half_of_the_cells_are_coarse():
    release = Mondrian(requirements=[KAnonymity(k=2)]).anonymize(DATA)
    assert utility.coarsened_cells(release) == 0.5
    assert value_of(release, "coarsened-cells") == 0.5


def test_anatomy_keeps_every_cell():
    assert utility.coarsened_cells(Anatomy(l=2, seed=1).anonymize(DATA)) == 0.0
