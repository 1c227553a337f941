"""Numbers cut into intervals of equal width."""

from __future__ import annotations

import pandas as pd
import pytest

from anoncore import Microdata
from anoncore.utility.associations import cut


@pytest.mark.parametrize("unit", [1, 7, 1e3, 1e6, 1e9])
@pytest.mark.parametrize("decimals", [0, 6])
def test_a_number_where_an_interval_begins_lies_in_it_in_every_unit(unit, decimals):
    # From 0 to 70 in ten intervals of 7: the numbers 7, 14, ... are where intervals begin, 6 and 13 lie before them.
    numbers = [0, 6, 7, 13, 14, 21, 28, 35, 42, 49, 56, 62, 63, 70]
    wanted = [0, 0, 1, 1, 2, 3, 4, 5, 6, 7, 8, 8, 9, 9]
    told = [(number / 10**decimals + (1 if decimals else 0)) / unit for number in numbers]
    data = Microdata(pd.DataFrame({"x": told}), {"x": "quasi-identifier"}, {"x": "numeric"})
    assert cut(data, ["x"], 10).of_code["x"].tolist() == wanted
