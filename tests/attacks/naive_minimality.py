"""The minimality attack by its definition: every world of a small table is anonymized anew, by the method itself."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations, product

import numpy as np

from anoncore import Microdata, Partition, Release
from anoncore.kernels.arrays import Codes, Floats, Int64
from anoncore.privacy.refusals import Refusals
from anoncore.requirements import Requirement


def worlds(release: Release, attribute: str) -> Iterator[Codes]:
    """Every way to deal the published values of each class to its people, each different one once."""
    codes, partition = release.data.codes[attribute], release.partition
    groups = [partition.rows(group) for group in range(partition.n_groups)]
    for deal in product(*(sorted(set(permutations(codes[rows].tolist()))) for rows in groups)):
        world = np.empty_like(codes)
        for rows, values in zip(groups, deal, strict=True):
            world[rows] = values
        yield world


def with_values(data: Microdata, attribute: str, codes: Codes) -> Microdata:
    """The table in which people have other values of the attribute."""
    frame = data.frame.copy()
    frame[attribute] = np.asarray(data.domain[attribute].decoded)[codes]
    return Microdata(
        frame,
        roles=dict(data.roles),
        kinds={name: data.domain[name].kind for name in data.attributes},
        hierarchies=data.hierarchies,
        sensitive_values=data.sensitive_values,
    )


def groups_of(release: Release) -> list[tuple[int, ...]]:
    """The classes as sets of rows."""
    partition = release.partition
    return sorted(tuple(sorted(partition.rows(group).tolist())) for group in range(partition.n_groups))


def kept_worlds(release: Release, attribute: str) -> list[Codes]:
    """The worlds of which the method publishes the same classes with the same texts."""
    method, kept = release.algorithm, []
    for world in worlds(release, attribute):
        again = method.anonymize(with_values(release.data, attribute, world))
        same = groups_of(again) == groups_of(release) and all(
            again.recoding(name).texts().tolist() == release.recoding(name).texts().tolist()
            for name in release.data.quasi_identifiers
        )
        if same and again.notes == release.notes:
            kept.append(world)
    return kept


def belief(kept: list[Codes], n_values: int) -> Floats:
    """Share of the kept worlds in which each person has each value, float (n_rows, m)."""
    return np.array([np.bincount(column, minlength=n_values) for column in np.array(kept).T]) / len(kept)


def keep(requirements: tuple[Requirement, ...], data: Microdata, rows: Int64) -> bool:
    """Whether these rows as one group satisfy all requirements in the table itself."""
    together = Partition(np.zeros(len(rows), dtype=np.int32))
    checks = [check for requirement in requirements for check in requirement.checks(data)]
    return all(bool(check.holds(check.levels(together, rows=rows))[0]) for check in checks)


def refused_wrongly(refusals: Refusals, data: Microdata) -> list[list[list[int]]]:
    """The refusals of which no group breaks a requirement in the table itself, as lists of rows."""
    wrong = []
    for refusal in range(len(refusals)):
        numbers = range(refusals.refusal_start[refusal], refusals.refusal_start[refusal + 1])
        groups = [refusals.rows[refusals.group_start[one] : refusals.group_start[one + 1]] for one in numbers]
        if all(keep(refusals.requirements, data, rows) for rows in groups):
            wrong.append([rows.tolist() for rows in groups])
    return wrong
