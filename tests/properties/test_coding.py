"""Codes and domains of random columns."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anoncore import Microdata
from anoncore.base.texts import is_missing
from tests.properties.published import cell
from tests.properties.strategies import tables, tagged_tables


@pytest.mark.slow
@settings(max_examples=30)
@given(tables())
def test_codes_give_the_table_back(frame):
    data = Microdata(frame)
    for name in data.attributes:
        domain, codes, column = data.domain[name], data.codes[name], frame[name]
        assert codes.dtype == np.int32
        assert sorted(set(codes.tolist())) == list(range(len(domain)))
        decoded = pd.Series(domain.decoded.take(codes))
        assert list(map(cell, decoded)) == list(map(cell, column))
        if column.dtype != object and column.dtype != "category":
            assert decoded.dtype == column.dtype
        assert [is_missing(value) for value in column] == (codes == domain.missing_code).tolist()
        assert all(domain.code_of(value) == code for code, value in enumerate(domain))
        positions = domain.positions
        assert np.isfinite(positions).all()
        assert (np.diff(positions) >= 0).all()
        assert len(domain) == 1 or domain.span > 0


@pytest.mark.slow
@settings(max_examples=30)
@given(tagged_tables(), st.data())
def test_domains_do_not_depend_on_the_order_of_rows(table, data):
    rows = data.draw(st.permutations(range(len(table.frame))))
    one, other = table.microdata(), table.reordered(rows).microdata()
    for name in one.attributes:
        assert list(map(cell, one.domain[name])) == list(map(cell, other.domain[name]))
        assert one.codes[name][rows].tolist() == other.codes[name].tolist()
    names = [*one.quasi_identifiers, *one.sensitive, *one.insensitive]
    for name in names:
        in_order = one.codes[name][one.canonical_order]
        assert in_order.tolist() == other.codes[name][other.canonical_order].tolist()
