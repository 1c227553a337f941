"""Every method that is asked for t keeps it on random tables, by a definition written down once more."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anoncore.algorithms import Incognito, Microaggregation, Mondrian, Sabre, SensitiveSpaceFragmentation
from anoncore.requirements import KAnonymity, TCloseness
from tests.algorithms.close_tables import close_tables, plain_ordered

METHODS = {
    "Mondrian": lambda t, k: Mondrian(requirements=(KAnonymity(k=k), TCloseness(t=t, ground="ordered"))),
    "Incognito": lambda t, k: Incognito(requirements=(KAnonymity(k=k), TCloseness(t=t, ground="ordered"))),
    "sensitive space": lambda t, k: SensitiveSpaceFragmentation(other_t=t, k=k, seed=0),
    "SABRE": lambda t, k: Sabre(t=t, k=k, seed=0),
    "merge": lambda t, k: Microaggregation(t=t, k=k, seed=0),
    "swap": lambda t, k: Microaggregation(t=t, k=k, variant="swap", seed=0),
    "t-first": lambda t, k: Microaggregation(t=t, k=k, variant="t-first", seed=0),
}


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
@settings(max_examples=25)
@given(data=close_tables(most=40, sensitive=1), t=st.sampled_from([0.5, 0.2, 0.05, 0.0]), k=st.integers(1, 5))
def test_no_class_is_farther_than_t_or_smaller_than_k(method, data, t, k):
    k = min(k, data.n_rows)
    release = METHODS[method](t, k).anonymize(data)
    size = len(data.domain["pay"])
    whole = np.bincount(data.codes["pay"], minlength=size)
    held = release.partition.histogram(data.codes["pay"], size)
    assert max(plain_ordered(row, whole) for row in held) <= t + 1e-9
    assert release.partition.sizes.min() >= k
