"""What adversaries of the three questions do, person by person and row by row, in plain Python."""

from __future__ import annotations

from math import comb, prod

import numpy as np

from anoncore import Exact
from anoncore.release.recoding import ColumnRegions


def allowed(recoding, row) -> set[int]:
    """The codes that a row's published cell allows."""
    if isinstance(recoding, Exact):
        return {int(recoding.codes[row])}
    if isinstance(recoding, ColumnRegions):
        recoding = recoding.classes
    return set(map(int, recoding.values(int(recoding.partition.group[row]))))


def chance_of(fragment, rows, values: dict[str, int]) -> float:
    """How likely somebody of these rows has exactly the values, where each value of a cell is as likely."""
    total = 0.0
    for row in rows:
        cells = [(allowed(fragment.recodings[name], row), code) for name, code in values.items()]
        if all(code in cell for cell, code in cells):
            total += 1 / prod(len(cell) for cell, _ in cells)
    return total / len(rows)


def belief(release, attribute, known: dict[str, int]) -> np.ndarray:
    """The secret by the cells that fit, for releases whose columns share groups and no attribute."""
    size = len(release.data.domain[attribute])
    found = np.zeros(size)
    shared = len(release.fragments) > 1
    groups = (
        [release.partition.rows(group) for group in range(release.partition.n_groups)]
        if shared
        else [np.arange(release.data.n_rows)]
    )
    for rows in groups:
        weight = float(len(rows))
        for fragment in release.fragments:
            values = {name: code for name, code in known.items() if name in fragment.recodings}
            if attribute not in fragment.recodings:
                weight *= chance_of(fragment, rows, values)
                continue
            own = np.zeros(size)
            for row in rows:
                here = chance_of(fragment, [row], values)
                secrets = allowed(fragment.recodings[attribute], row)
                for code in secrets:
                    own[code] += here / len(secrets) / len(rows)
        found += weight * own
    return found / found.sum() if found.sum() else found


def gower(release, names, cells, known) -> float:
    """The distance of a person, as {name: (codes, place)}, from a record, as {name: allowed codes}."""
    total = 0.0
    for name in names:
        domain, (codes, place) = release.data.domain[name], known[name]
        if domain.kind.value == "numeric":
            low, high = domain.shares[min(cells[name])], domain.shares[max(cells[name])]
            total += max(low - place, 0.0) + max(place - high, 0.0)
        else:
            total += not codes or not codes <= cells[name]
    return total


def chance_of_one(count: int, size: int, part: int) -> float:
    """How likely a random part of the people has exactly one of those of whom a predicate is true."""
    return count * comb(size - count, part - 1) / comb(size, part) if count else 0.0


def likely_together(release, one: dict[str, int], other: dict[str, int]) -> float:
    """P(both) / P(other) by the published rows: of one table, or of columns that share groups and no attribute.

    `one` and `other` are what two entries say. The rows of a group stand for anybody in it, column by column.
    """
    shared = len(release.fragments) > 1
    groups = (
        [release.partition.rows(group) for group in range(release.partition.n_groups)]
        if shared
        else [[row] for row in range(release.data.n_rows)]
    )
    both = alone = 0.0
    for rows in groups:
        of_both, of_other = float(len(rows)), float(len(rows))
        for fragment in release.fragments:
            known = {name: code for name, code in {**one, **other}.items() if name in fragment.recodings}
            of_both *= chance_of(fragment, rows, known)
            of_other *= chance_of(fragment, rows, {name: code for name, code in known.items() if name in other})
        both, alone = both + of_both, alone + of_other
    return both / alone if alone else 0.0
