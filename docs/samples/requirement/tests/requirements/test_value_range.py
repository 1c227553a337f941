"""The range of groups by hand, against plain Python, and what it refuses."""

import pytest
from hypothesis import given, settings

from anoncore.base.errors import DataError
from anoncore.requirements import RangeDiversity
from tests.requirements.tables import grouped, random_groups


def levels(table):
    (check,) = RangeDiversity(e=1).checks(table.data)
    return check.levels(table.partition).tolist()


def test_by_hand():
    table = grouped([10.0, 14.0, None, 7.0, None], [0, 0, 0, 1, 2], numeric=True)
    assert levels(table) == [4.0, 0.0, 0.0]


@settings(max_examples=50, deadline=None)
@given(random_groups((1.0, 2.5, 4.0, 1e9, None), numeric=True))
def test_against_plain_python(table):
    for group, level in enumerate(levels(table)):
        known = [value for value in table.members(group) if value is not None]
        assert level == (max(known) - min(known) if known else 0)


def test_categories_are_refused():
    with pytest.raises(DataError, match="no single numbers"):
        RangeDiversity(e=1).checks(grouped(["a", "b"], [0, 0]).data)
