"""What a release says of itself and what its published tables say once they are read back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import count
from typing import Any

import numpy as np

from anoncore import (
    DataError,
    Exact,
    Fragment,
    Generalized,
    GroupValues,
    InfeasibleError,
    Kind,
    Microdata,
    Partition,
    Release,
    attacks,
    privacy,
    utility,
)
from anoncore.base.errors import AnonymizationError
from tests.fuzz.case import Case
from tests.fuzz.tables import small_table
from tests.properties.subjects import build

FEWEST_ROWS = 6


@cache
def awkward_table(number: int) -> Microdata:
    """One of the awkward tables, whose published texts can be told apart."""
    for attempt in count():
        try:
            data = small_table(Case("reading", number, attempt))
        except DataError:  # some of these tables cannot be coded, and say so
            continue
        usable = data.quasi_identifiers and data.sensitive and data.n_rows >= FEWEST_ROWS
        if usable and all(can_be_told_apart(data, name) for name in data.attributes):
            return data
    raise AssertionError


def can_be_told_apart(data: Microdata, name: str) -> bool:
    """Whether no two values of an attribute are published as the same text, such as 1 and "1"."""
    texts = data.domain[name].texts.tolist()
    return len(set(texts)) == len(texts)


def released(name: str, parameters: dict[str, Any], data: Microdata) -> Release | None:
    """The release, or None where the table does not allow one."""
    try:
        return build(name, parameters).anonymize(data)
    except (InfeasibleError, DataError):
        return None


def as_readers_see_it(release: Release) -> Release:
    """The release with groups joined that nobody can tell apart, as they publish the same; joined tables stay."""
    if len(release.fragments) > 1 and release.is_shared:
        return release
    fragments = []
    for fragment in release.fragments:
        shown = [
            recoding.texts().tolist()
            for name, recoding in fragment.recodings.items()
            if name in release.data.quasi_identifiers or isinstance(recoding, GroupValues)
        ]
        number: dict[Any, int] = {}
        rows = zip(*shown, strict=True) if shown else [()] * release.data.n_rows
        group = [number.setdefault(cells, len(number)) for cells in rows]
        if len(number) == fragment.partition.n_groups:
            fragments.append(fragment)
            continue
        partition = Partition(np.array(group))
        if fragments and partition.n_groups > 1 and np.array_equal(partition.group, fragments[0].partition.group):
            partition = Partition((partition.group + 1) % partition.n_groups)
        into = np.zeros(fragment.partition.n_groups, dtype=np.int32)
        into[fragment.partition.group] = partition.group
        recodings = {}
        for name, recoding in fragment.recodings.items():
            if isinstance(recoding, Generalized):
                recodings[name] = recoding.joined(partition, into)
            elif isinstance(recoding, GroupValues):
                first = fragment.partition.group[
                    [partition.group.tolist().index(one) for one in range(partition.n_groups)]
                ]
                lists = [recoding.values(int(one)) for one in first]
                offsets = np.cumsum([0, *map(len, lists)])
                recodings[name] = replace(
                    recoding, partition=partition, offsets=offsets, members=np.concatenate(lists).astype(np.int32)
                )
            else:
                assert isinstance(recoding, Exact)
                recodings[name] = replace(recoding, partition=partition)
        fragments.append(Fragment(fragment.name, partition, recodings))
    return replace(release, fragments=tuple(fragments))


def numbers(release: Release, with_costs: bool = True) -> Iterator[tuple[str, Any]]:
    """Everything that is compared, by name; the error's class where a measure has no answer."""
    for score in privacy.profile(release).scores:
        yield f"{score.name} {score.attribute}", float(score)
    if with_costs:
        yield "information loss", _said(lambda: float(utility.information_loss(release)))
        yield "two-way error", _said(lambda: float(utility.two_way_error(release)))
        yield "two-way bound", _said(lambda: float(utility.two_way_error_bound(release)))
    for name in release.data.sensitive:
        yield f"belief about {name}", _said(lambda name=name: beliefs(release, name))


def beliefs(release: Release, name: str) -> list[tuple[float, ...]]:
    """What is believed of everybody, whoever they are."""
    return sorted(tuple(row) for row in attacks.sensitive_posterior(release, name).round(9).tolist())


def _said(measure: Any) -> Any:
    try:
        return measure()
    except AnonymizationError as error:
        return type(error).__name__


def differences(one: dict[str, Any], other: dict[str, Any]) -> list[str]:
    """The names under which two releases say something else."""
    assert one.keys() == other.keys(), (one.keys(), other.keys())
    return [name for name in one if not _same(one[name], other[name])]


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, str) or isinstance(other, str):
        return bool(one == other)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(np.allclose(a, b, atol=1e-7) for a, b in zip(one, other, strict=True))
    return bool(np.isclose(one, other, rtol=1e-9, atol=1e-9))


def alone(release: Release, with_values: bool = False) -> Release:
    """The published tables read back without the original, with what is known of the attributes, and maybe with all
    values that the original has.
    """
    data = release.data
    published = release.attributes
    values = {
        name: [*data.domain[name].values, *([None] if data.domain[name].has_missing else [])] for name in published
    }
    return Release.from_published(
        release.tables(),
        {name: data.roles[name] for name in published},
        kinds={name: data.domain[name].kind for name in published},
        orders={name: data.domain[name].values for name in published if data.domain[name].kind is not Kind.NUMERIC},
        hierarchies={name: data.hierarchies[name] for name in published if name in data.hierarchies},
        sensitive_values={name: values for name, values in data.sensitive_values.items() if name in published},
        values=values if with_values else None,
        missing="value",
    )
