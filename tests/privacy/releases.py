"""Releases made by hand for tests: any columns, any groups, one partition or several."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from anoncore import Exact, Fragment, Generalized, GroupValues, Hierarchy, Microdata, Partition, Release
from anoncore.datasets import table
from tests.shared_data import require


def builtin(name: str, **changes: Any) -> Microdata:
    """A built-in table with its own roles, kinds, orders and hierarchies."""
    entry = table(name)
    tags: dict[str, Any] = {
        "roles": entry.roles,
        "kinds": entry.kinds,
        "orders": entry.orders,
        "hierarchies": {column: Hierarchy.from_nested(tree) for column, tree in entry.taxonomies.items()},
        "sensitive_values": entry.sensitive_values,
    }
    return Microdata(entry.load(), **(tags | changes))


def adult(quasi_identifiers: Sequence[str], sensitive: str) -> Microdata:
    """The Adult table with these roles; the test is skipped where the file is absent."""
    frame = pd.read_csv(require("adult.csv"))
    columns = [*quasi_identifiers, sensitive]
    roles = dict.fromkeys(quasi_identifiers, "quasi-identifier") | {sensitive: "sensitive"}
    return Microdata(frame[columns], roles=roles)


def fragment(data: Microdata, name: str, partition: Partition, exact: Sequence[str] = (), ranges: Sequence[str] = ()):
    recodings: dict[str, Any] = {
        one: Generalized.of_rows(data.domain[one], partition, data.codes[one]) for one in ranges
    }
    recodings |= {one: Exact(data.domain[one], partition, data.codes[one]) for one in exact}
    return Fragment(name, partition, recodings)


def generalized(data: Microdata, group: Sequence[int]) -> Release:
    """Quasi-identifiers by region, all else exact, in one fragment."""
    partition = Partition(np.array(group, dtype=np.int32))
    rest = [name for name in data.attributes if name not in data.quasi_identifiers]
    return Release(data, (fragment(data, "release", partition, rest, data.quasi_identifiers),))


def sliced(data: Microdata, group: Sequence[int], columns: Sequence[Sequence[str]]) -> Release:
    """Exact columns that share one partition."""
    partition = Partition(np.array(group, dtype=np.int32))
    return Release(data, tuple(fragment(data, "+".join(column), partition, column) for column in columns))


def value_sets(data: Microdata, attribute: str, partition: Partition) -> GroupValues:
    """Only which values occur in each group."""
    offsets, members = partition.value_sets(data.codes[attribute], len(data.domain[attribute]))
    return GroupValues(data.domain[attribute], partition, offsets, members)


def reordered(release: Release, order: np.ndarray) -> Release:
    """The same release of the same people, whose rows stand in another order in the table."""
    data = release.data
    kinds = {name: data.domain[name].kind for name in data.attributes}
    again = Microdata(data.frame.iloc[order], data.roles, kinds=kinds, hierarchies=data.hierarchies, unit=data.unit)
    partitions: dict[Partition, Partition] = {}

    def moved(partition: Partition) -> Partition:
        return partitions.setdefault(partition, Partition(partition.group[order]))

    def of_rows(recoding: Any) -> Any:
        fields: dict[str, Any] = {"partition": moved(recoding.partition)}
        for name in ("codes", "original"):
            if getattr(recoding, name, None) is not None:
                fields[name] = getattr(recoding, name)[order]
        if getattr(recoding, "classes", None) is not None:
            fields["classes"] = of_rows(recoding.classes)
        return replace(recoding, **fields)

    fragments = tuple(
        Fragment(one.name, moved(one.partition), {name: of_rows(cells) for name, cells in one.recodings.items()})
        for one in release.fragments
    )
    return replace(release, data=again, fragments=fragments)
