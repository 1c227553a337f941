"""Sorted blocks: classes by hand, and their sizes for any table."""

import pandas as pd
import pytest

from anoncore import InfeasibleError, Microdata
from anoncore.algorithms import SortedBlocks


def table(ages):
    return Microdata(pd.DataFrame({"age": ages}), {"age": "quasi-identifier"})


def test_classes_by_hand():
    release = SortedBlocks(k=2).anonymize(table([50, 20, 41, 22, 40]))
    assert sorted(release.tables()["release"]["age"]) == ["20-40", "20-40", "20-40", "41-50", "41-50"]


@pytest.mark.parametrize("n_rows", [10, 11, 19, 23])
def test_sizes_are_k_or_little_more(n_rows):
    sizes = SortedBlocks(k=5).anonymize(table(range(n_rows))).partition.sizes
    assert sizes.min() >= 5
    assert sizes.max() - sizes.min() <= 1


def test_too_few_rows_are_refused():
    with pytest.raises(InfeasibleError, match="k = 5 is not possible"):
        SortedBlocks(k=5).anonymize(table([1, 2, 3]))
