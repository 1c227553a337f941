"""How results are written on the terminal."""

from __future__ import annotations

import numpy as np
import pandas as pd

from anoncore import Microdata, attacks, privacy, utility
from anoncore.algorithms import Mondrian
from anoncore.cli.text import result_lines
from anoncore.requirements import DistinctDiversity, KAnonymity


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


def test_results_without_a_score_tell_their_numbers_and_lists_their_entries():
    lines = list(result_lines("risk", attacks.reidentification(release())))
    # Three people in each class, six in the table.
    assert "risk: prosecutor.largest 33.33%, baseline 16.67%" in lines
    count, *found = result_lines("check", privacy.check(release(), [DistinctDiversity(l=2)]))
    assert count == "check: 1 entry"
    assert "asks for at least 2" in found[0]
    (line,) = result_lines("emd", np.array([0.25, 0.75, np.nan]))
    assert line == "emd: 3 values from 0.25 to 0.75, mean 0.5"
    assert list(result_lines("none", np.empty(0))) == ["none: 0 values"]


def test_attacks_tell_what_each_got_beside_its_control_and_why_others_were_not_tried():
    lines = list(result_lines("all", attacks.strongest(release(), "disease")))
    assert lines[0] == "all: Attacks on 'disease', the strongest of each aim first:"
    # Three people in each class, six in the table.
    assert lines[1] == (
        "all: identity, finding a record: 33.3% (share of records whose person is found); control: 16.7% (guessing "
        "without the release)"
    )
    assert "all: not tried, composition: No earlier release of these people was given." in lines
