"""From which level on a requirement protects anybody, and that nothing below it is ever offered."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anoncore import AnonymizationError, InfeasibleError, Microdata
from anoncore.algorithms import Mondrian
from anoncore.requirements import (
    DistinctDiversity,
    EntropyDiversity,
    FrequencyDiversity,
    KAnonymity,
    RecursiveDiversity,
    TCloseness,
    VarianceDiversity,
)
from anoncore.requirements.worth import NEAR_CERTAIN, protects
from tests.properties.subjects import build, subjects


@pytest.mark.parametrize(
    ("worthless", "worth"),
    [
        (KAnonymity(k=1), KAnonymity(k=2)),
        (DistinctDiversity(l=1), DistinctDiversity(l=2)),
        (FrequencyDiversity(l=1.1), FrequencyDiversity(l=1.12)),
        (EntropyDiversity(l=1.38), EntropyDiversity(l=1.39)),
        (RecursiveDiversity(c=9.5, l=2), RecursiveDiversity(c=8.5, l=2)),
        (TCloseness(t=1), TCloseness(t=0.99)),
        (VarianceDiversity(v=0), VarianceDiversity(v=0.1)),
    ],
    ids=lambda one: one.label(),
)
def test_where_protection_begins(worthless, worth):
    assert (protects(worthless), protects(worth)) == (False, True)


def test_the_bounds_are_those_of_a_value_with_nine_tenths():
    shares = np.array([NEAR_CERTAIN, 1 - NEAR_CERTAIN])
    assert not protects(FrequencyDiversity(l=1 / shares.max()))
    assert not protects(EntropyDiversity(l=float(np.exp(-(shares * np.log(shares)).sum()))))
    assert not protects(RecursiveDiversity(c=float(shares[0] / shares[1]), l=2))


def test_a_table_with_one_secret_is_offered_nothing():
    data = Microdata(
        pd.DataFrame({"age": range(20), "illness": ["flu"] * 20}), {"age": "quasi-identifier", "illness": "sensitive"}
    )
    for requirement in (DistinctDiversity(l=2), FrequencyDiversity(l=2), EntropyDiversity(l=2)):
        with pytest.raises(InfeasibleError) as refused:
            Mondrian(requirements=[requirement]).anonymize(data)
        assert refused.value.nearest is None
        assert "no l that protects anybody is possible" in str(refused.value)


@settings(max_examples=30)
@given(st.data())
def test_no_method_ever_offers_what_protects_nobody(data):
    n_rows = data.draw(st.integers(2, 12))
    secret = data.draw(st.lists(st.sampled_from("ab"), min_size=n_rows, max_size=n_rows))
    ages = data.draw(st.lists(st.integers(0, 3), min_size=n_rows, max_size=n_rows))
    table = Microdata(
        pd.DataFrame({"age": ages, "sex": ages[::-1], "illness": secret}),
        {"age": "quasi-identifier", "sex": "quasi-identifier", "illness": "sensitive"},
    )
    name, parameters = data.draw(st.sampled_from([one.values for one in subjects()]))
    offered = None
    try:
        build(name, dict(parameters)).anonymize(table)
    except InfeasibleError as error:
        offered = error.nearest
    except AnonymizationError:
        pass
    assert offered is None or (offered > 0 and offered != 1)
