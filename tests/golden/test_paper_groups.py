"""Algorithms on worked examples whose published groups are known."""

from collections import Counter

import numpy as np
import pandas as pd
import pytest

from anoncore import Hierarchy, Microdata, Partition
from anoncore.algorithms import Anatomy, Mondrian
from anoncore.algorithms.base import generalized_release
from anoncore.datasets import published_groups, table
from anoncore.requirements import KAnonymity


def microdata(name):
    entry = table(name)
    hierarchies = {attribute: Hierarchy.from_nested(taxonomy) for attribute, taxonomy in entry.taxonomies.items()}
    return Microdata(
        entry.load(), entry.roles, entry.kinds, entry.orders, hierarchies, sensitive_values=entry.sensitive_values
    )


def test_the_boxes_of_rothkos_figure_2():
    # Age and nationality are equally wide; 5 | 6 and 6 | 5 rows are equally balanced, and the median 40 goes left.
    release = Mondrian(requirements=[KAnonymity(k=3)], strict=True).anonymize(microdata("rothko-figure-2"))
    assert release.partition.group.tolist() == list(published_groups("rothko-figure-2"))
    texts = Counter(zip(*(release.recoding(name).texts().tolist() for name in ("age", "nationality")), strict=True))
    # 22 to 38 and 25 to 40 overlap in age but not in nationality; the older five come from everywhere.
    assert texts == {("22-38", "Asian"): 3, ("25-40", "European"): 3, ("45-70", "*"): 5}


def test_the_generalized_table_of_the_slicing_paper():
    # Table 1(b): age 22-52 and 54-64, sex *, zipcode 4790* and 4730*.
    data = microdata("slicing-table-1")
    groups = Partition(np.array(published_groups("slicing-table-1")))
    published = generalized_release(Mondrian(), data, groups).tables()["release"]
    assert published["age"].tolist() == ["22-52"] * 4 + ["54-64"] * 4
    assert published["zipcode"].tolist() == ["4790*"] * 4 + ["4730*"] * 4
    assert Counter(zip(published["zipcode"], published["disease"], strict=True)) == {
        ("4790*", "dyspepsia"): 1,
        ("4790*", "flu"): 2,
        ("4790*", "bronchitis"): 1,
        ("4730*", "flu"): 1,
        ("4730*", "dyspepsia"): 2,
        ("4730*", "gastritis"): 1,
    }
    assert set(published["sex"]) == {"{F, M}"}


def test_anatomy_on_the_introduction_of_the_foreground_paper():
    # Two people have the flu, all other diseases occur once: 6 rows in 2-diverse buckets of two.
    release = Anatomy(l=2, seed=0).anonymize(microdata("foreground-table-1"))
    tables = release.tables()
    assert release.partition.sizes.tolist() == [2, 2, 2]
    joined = tables["quasi-identifiers"].merge(tables["sensitive"], on="group")
    assert len(joined) == 3 * 2 * 2
    assert tables["sensitive"].groupby("group")["disease"].nunique().tolist() == [2, 2, 2]
    assert sorted(tables["sensitive"]["disease"]) == sorted(table("foreground-table-1").load()["disease"])


@pytest.mark.parametrize(("name", "l", "n_buckets"), [("foreground-table-8", 3, 2), ("foreground-table-5", 2, 2)])
def test_anatomy_counts_only_the_sensitive_set(name, l, n_buckets):
    # Two rows have x; every other row counts as a value of its own, so that buckets of n / 2 rows hold x once.
    release = Anatomy(l=l, seed=0).anonymize(microdata(name))
    assert release.partition.n_groups == n_buckets
    frame = pd.DataFrame({"group": release.partition.group, "x": release.data.frame["X"] == "x"})
    assert frame.groupby("group")["x"].sum().tolist() == [1] * n_buckets
