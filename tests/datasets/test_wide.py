"""The wide made-up table: correlated blocks and a diagnosis that depends on some of them."""

import numpy as np
import pytest

from anoncore import Microdata
from anoncore.algorithms.vertical.mutual_information import mutual_information
from anoncore.base.errors import DataError
from anoncore.datasets import table
from anoncore.datasets.wide import FEATURES, load_wide


def test_shape_and_values():
    frame = load_wide()
    assert frame.shape == (2_000, 62)
    assert list(frame.columns) == ["person-id", *FEATURES, "diagnosis"]
    assert sorted(frame["person-id"]) == list(range(1, 2_001))
    assert frame[list(FEATURES)].to_numpy().min() >= 0
    assert frame[list(FEATURES)].to_numpy().max() <= 200
    shares = frame["diagnosis"].value_counts(normalize=True)
    assert list(shares.index) == ["none", "anaemia", "gout", "goitre"]
    assert shares.iloc[-1] > 0.01


def test_blocks_of_three_correlate_and_nothing_else_does():
    correlation = load_wide(n_rows=5_000, seed=1)[list(FEATURES)].corr().to_numpy()
    block = np.arange(60) // 3
    same = (block[:, None] == block) & ~np.eye(60, dtype=bool)
    assert np.abs(correlation[same] - 0.8).max() < 0.05
    assert np.abs(correlation[block[:, None] != block]).max() < 0.1


def test_six_blocks_tell_about_the_diagnosis():
    entry = table("wide")
    data = Microdata(load_wide(n_rows=5_000), entry.roles, entry.kinds)
    about = mutual_information(data)["diagnosis"].drop("diagnosis")
    informative = {name for name in FEATURES if int(name[1:3]) <= 6}
    assert about[list(informative)].min() > 2 * about.drop(list(informative)).max()


def test_a_seed_gives_the_same_table_and_bad_numbers_are_refused():
    assert load_wide(50, seed=3).equals(load_wide(50, seed=3))
    assert not load_wide(50, seed=3).equals(load_wide(50, seed=4))
    with pytest.raises(DataError, match="at least 1"):
        load_wide(0)
