"""Random tables and the forms of release that every measure of utility must take."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from hypothesis import strategies as st

from anoncore import Distorted, Exact, Fragment, Generalized, GroupValues, Hierarchy, Microdata, Partition, Release
from tests.privacy.releases import adult, fragment, generalized, sliced, value_sets

__all__ = ["adult", "fragment", "generalized", "linked_fragments", "random_data", "random_releases", "sliced"]

WORK = Hierarchy.from_nested({"paid": {"office": ["clerk", "boss"], "hand": ["smith"]}, "unpaid": ["none", "pupil"]})


@st.composite
def random_data(draw: st.DrawFn, min_rows: int = 1, max_rows: int = 14) -> Microdata:
    """A number with gaps and missing values, a category with and one without hierarchy, a sensitive value, a rest."""
    n = draw(st.integers(min_rows, max_rows))

    def column(values: Sequence[object]) -> list[object]:
        return draw(st.lists(st.sampled_from(values), min_size=n, max_size=n))

    frame = pd.DataFrame(
        {
            "age": pd.array(column([1, 2, 5, 20, 21, None]), dtype="Int64"),
            "work": column(["clerk", "boss", "smith", "none", "pupil"]),
            "town": column(["A", "B", "C", "D"]),
            "ill": column(["flu", "cold", "ulcer"]),
            "pay": column([10, 20, 30]),
        },
        index=draw(st.permutations(range(n))),
    )
    roles = {"age": "quasi-identifier", "work": "quasi-identifier", "town": "quasi-identifier", "ill": "sensitive"}
    return Microdata(frame, roles={**roles, "*": "insensitive"}, hierarchies={"work": WORK})


@st.composite
def random_groups(draw: st.DrawFn, n: int) -> Partition:
    ids = draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))
    return Partition(np.unique(ids, return_inverse=True)[1].astype(np.int32))


def linked_fragments(
    data: Microdata, first: Partition, second: Partition, form: str, exact_town: bool = False
) -> Release:
    """Two fragments with partitions of their own; `form` says how both publish the linking attribute `ill`."""
    fragments = []
    town = (["work"], ["town"]) if exact_town else (["work", "town"], [])
    for name, partition, ranges, exact in (("one", first, ["age"], ["pay"]), ("two", second, *town)):
        part = fragment(data, name, partition, exact, ranges)
        recodings = dict(part.recodings)
        domain, codes = data.domain["ill"], data.codes["ill"]
        if form == "exact":
            recodings["ill"] = Exact(domain, partition, codes)
        elif form == "distorted":
            changed = np.where(np.arange(data.n_rows) % 3 == 0, 0, codes).astype(np.int32)
            recodings["ill"] = Distorted(domain, partition, changed, codes)
        elif form == "values":
            recodings["ill"] = value_sets(data, "ill", partition)
        elif name == "one":
            recodings["ill"] = Exact(domain, partition, codes)
        fragments.append(Fragment(name, partition, recodings))
    return Release(data, tuple(fragments))


@st.composite
def random_releases(draw: st.DrawFn, own_partitions: bool = True, min_rows: int = 1) -> Release:
    """Generalization, bucketization, slicing with a generalized column, and (if asked for) vertical fragments."""
    data = draw(random_data(min_rows=min_rows))
    partition = draw(random_groups(data.n_rows))
    forms = ["generalized", "bucketized", "sliced", "intervals"]
    form = draw(st.sampled_from([*forms, "exact", "distorted", "values", "unlinked"] if own_partitions else forms))
    if form == "generalized":
        return generalized(data, partition.group.tolist())
    if form == "bucketized":
        return sliced(data, partition.group.tolist(), [["age", "work", "town", "pay"], ["ill"]])
    if form == "sliced":
        parts = (
            fragment(data, "a", partition, ["work", "pay"], ["age"]),
            fragment(data, "b", partition, ["ill"], ["town"]),
        )
        return Release(data, parts)
    if form == "intervals":
        release = generalized(data, partition.group.tolist())
        recodings = dict(release.fragments[0].recodings)
        low, high = partition.extent(data.codes["town"])
        recodings["town"] = Generalized(data.domain["town"], partition, "interval", low, high)
        recodings["ill"] = value_sets(data, "ill", partition)
        return Release(data, (Fragment("release", partition, recodings),))
    return linked_fragments(data, partition, draw(random_groups(data.n_rows)), form, draw(st.booleans()))


def published_values(release: Release, attribute: str, row: int, of: Fragment) -> list[int]:
    """Codes that a row's cell allows, the slow way: by group."""
    recoding = of.recodings[attribute]
    if isinstance(recoding, Generalized | GroupValues):
        return [int(code) for code in recoding.values(int(of.partition.group[row]))]
    return [int(recoding.bounds()[0][row])]
