"""Small random tables with quasi-identifiers of every kind and one or two sensitive attributes."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pandas as pd
from hypothesis import strategies as st

from anoncore import Hierarchy, Microdata, Release

QUASI = ("age", "town", "job")
JOBS = Hierarchy.from_nested({"low": ["u", "v"], "high": {"odd": ["w", "x"], "even": ["y"]}})
ILLNESSES = Hierarchy.from_nested({"lungs": ["flu", "cold"], "joints": {"big": ["gout"], "small": ["ache", "burn"]}})


@st.composite
def close_tables(draw: st.DrawFn, most: int = 40, sensitive: int | None = None) -> Microdata:
    """Up to `most` rows; sensitive are `pay` (numeric, may be missing) and, for two, `illness` (nominal)."""
    n = draw(st.integers(1, most))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    pay = draw(st.sampled_from(["few", "many", "distinct", "missing"]))
    frame = pd.DataFrame(
        {
            "age": rng.integers(0, draw(st.sampled_from([1, 5, 60])), n),
            "town": rng.choice(["a", "b", "c", None], n),
            "job": rng.choice(["u", "v", "w", "x", "y"], n),
            "illness": rng.choice(["flu", "cold", "gout", "ache", "burn"], n, p=[0.5, 0.2, 0.1, 0.1, 0.1]),
            "shoe": rng.integers(0, 2, n),
        }
    )
    numbers = {
        "few": rng.integers(0, 3, n),
        "many": rng.geometric(0.2, n),
        "distinct": rng.permutation(n) * 3,
        "missing": np.where(rng.random(n) < 0.2, np.nan, rng.integers(0, 4, n)),
    }
    frame["pay"] = numbers[pay]
    names = ("pay", "illness")[: sensitive if sensitive is not None else draw(st.integers(1, 2))]
    roles = {**dict.fromkeys(QUASI, "quasi-identifier"), **dict.fromkeys(names, "sensitive")}
    hierarchies = {"illness": ILLNESSES}
    if draw(st.booleans()):
        hierarchies["job"] = JOBS
    return Microdata(frame, roles=roles, kinds={"pay": "numeric"}, hierarchies=hierarchies)


def shuffled(data: Microdata, seed: int) -> Microdata:
    """The same table with its rows in another order and other index labels."""
    frame = data.frame.sample(frac=1, random_state=seed)
    frame.index = pd.Index(np.arange(len(frame)) * 7 + 3)
    kinds = {name: data.domain[name].kind for name in data.attributes}
    return Microdata(frame, roles=data.roles, kinds=kinds, hierarchies=data.hierarchies)


def contents(release: Release) -> Counter[tuple[tuple[int, ...], ...]]:
    """The classes as multisets of their rows' content."""
    data = release.data
    rows = list(zip(*(data.codes[name].tolist() for name in data.attributes), strict=True))
    partition = release.partition
    return Counter(tuple(sorted(rows[row] for row in partition.rows(g))) for g in range(partition.n_groups))


def plain_ordered(counts: np.ndarray, table: np.ndarray) -> float:
    """Ordered EMD by its definition."""
    m = len(table)
    if m == 1:
        return 0.0
    p, q = counts / counts.sum(), table / table.sum()
    return sum(abs(sum(p[: i + 1]) - sum(q[: i + 1])) for i in range(m - 1)) / (m - 1)
