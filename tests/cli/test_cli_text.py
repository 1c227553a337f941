"""How results are written on the terminal."""

from __future__ import annotations

import pandas as pd

from anoncore import Microdata, privacy, utility
from anoncore.algorithms import Mondrian
from anoncore.cli.text import result_lines
from anoncore.requirements import KAnonymity


def release():
    people = pd.DataFrame({"age": [21, 22, 23, 44, 45, 46], "disease": ["flu"] * 2 + ["cold"] * 4})
    data = Microdata(people, roles={"age": "quasi-identifier", "disease": "sensitive"})
    return Mondrian(requirements=[KAnonymity(k=3)]).anonymize(data)


def test_shares_are_told_in_percent_with_what_they_are_a_share_of():
    (line,) = result_lines("loss", utility.information_loss(release()))
    # Both classes span 2 of the 25 years: 21-23 and 44-46.
    assert line == "loss: Information loss 8% of the domain, baseline 0%, lower is better"


def test_levels_keep_their_unit_and_an_infinite_one_is_said_in_words():
    lines = list(result_lines("p", privacy.profile(release())))
    assert "p: Smallest group 3 rows, baseline 6, higher is better" in lines
    assert "p: Different values of 'disease' 1 value, baseline 2, higher is better" in lines
    assert "p: Largest share of 'disease' 100%, baseline 66.67%, lower is better" in lines
    assert "p: Recursive c of 'disease' infinite, baseline 2, lower is better" in lines
